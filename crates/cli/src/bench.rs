//! `bsoap bench`: what bsoap costs, beside what the machine can do and what peers do, in one run.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::error::Failure;
use crate::output::Output;
use crate::progress;

mod allocator;
mod clock;
mod definition;
mod engines;
mod job;
mod leaves;
mod machine;
mod measure;
mod names;
mod order;
mod random;
mod recorded;
mod report;
mod scenario;
mod shape;
mod sink;
mod stream;
mod wire;
mod workload;

use definition::{Case, Definition};
use job::Engine;
pub(crate) use measure::quantile;
use measure::{Contestant, Effort, contest};
use workload::Workload;

/// Measure bsoap against bare loops and peers.
///
/// Answers are compared before any time is taken; engines run in turns; figures are medians. Engines whose
/// programs or libraries are not installed are named and left out.
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// Benchmarks to run, such as 'encode' or 'ds-fig*'; all if none is named (see --list)
    #[arg(value_name = "NAME")]
    names: Vec<String>,
    /// Only cases that match, such as 'dhard/*' or '*/100000'
    #[arg(long, value_name = "GLOB", default_value = "*")]
    case: String,
    /// Only engines that match, such as 'bsoap*'; may be given several times
    #[arg(long, value_name = "GLOB", default_value = "*")]
    engine: Vec<String>,
    /// A few values, a few rounds: shows that all works, not how fast
    #[arg(long)]
    quick: bool,
    /// List the benchmarks and what they show
    #[arg(long)]
    list: bool,
    /// A line of JSON for each case and engine
    #[arg(long)]
    json: bool,
    /// Be the process that reads and discards what the others send, on this core
    #[arg(long, value_name = "CORE", hide = true)]
    sink: Option<usize>,
}

/// Runs the benchmarks.
pub(crate) fn run(arguments: &Arguments) -> Result<(), Failure> {
    if let Some(core) = arguments.sink {
        return sink::run(core).map_err(|error| Failure::input(error.to_string()));
    }
    let output = &mut Output::new(arguments.json);
    let definitions = chosen(&arguments.names)?;
    if arguments.list {
        return list(&definitions, output);
    }
    let effort = if arguments.quick {
        Effort::QUICK
    } else {
        Effort::FULL
    };
    let mut engines = Engines::new(&arguments.engine);
    let machine = machine::describe();
    // Engines in other processes inherit the core.
    let core = machine::pin();
    output.note(&format!("{machine}; {core}"));
    for definition in &definitions {
        if !output.is_json() {
            output.line(&report::heading(definition))?;
        }
        let cases: Vec<Case> = definition
            .cases(arguments.quick)
            .into_iter()
            .filter(|case| matches(&arguments.case, &case.name()))
            .collect();
        let bar = progress::counter(cases.len() as u64, &definition.name);
        for case in cases {
            bar.set_message(case.name());
            run_case(definition, case, &mut engines, effort, output, &bar)?;
            bar.inc(1);
        }
        bar.finish_and_clear();
    }
    for (name, reason) in &engines.missing {
        output.note(&format!("{name} took no part: {reason}"));
    }
    engines
        .failures
        .into_iter()
        .next()
        .map_or(Ok(()), |failure| Err(Failure::violation(failure)))
}

fn chosen(names: &[String]) -> Result<Vec<Definition>, Failure> {
    let all = Definition::all().map_err(Failure::input)?;
    if let Some(unknown) = names
        .iter()
        .find(|name| !all.iter().any(|one| matches(name, &one.name)))
    {
        let known: Vec<_> = all.iter().map(|one| one.name.as_str()).collect();
        return Err(Failure::usage(format!(
            "there is no benchmark {unknown}; there are {}",
            known.join(", ")
        )));
    }
    Ok(all
        .into_iter()
        .filter(|one| names.is_empty() || names.iter().any(|name| matches(name, &one.name)))
        .collect())
}

fn list(definitions: &[Definition], output: &mut Output) -> Result<(), Failure> {
    for definition in definitions {
        let cases: Vec<_> = definition.cases(false).iter().map(Case::name).collect();
        if output.is_json() {
            output.json(&serde_json::json!({"bench": definition.name, "about": definition.about.trim(), "engines": definition.engines(), "cases": cases}))?;
        } else {
            output.line(&report::heading(definition))?;
            output.line(&format!("{}\n", cases.join(" ")))?;
        }
    }
    Ok(())
}

/// The engines met so far, built at most once.
struct Engines {
    globs: Vec<String>,
    ready: BTreeMap<String, Box<dyn Engine>>,
    missing: BTreeMap<String, String>,
    failures: BTreeSet<String>,
}

impl Engines {
    fn new(globs: &[String]) -> Self {
        Self {
            globs: globs.to_vec(),
            ready: BTreeMap::new(),
            missing: BTreeMap::new(),
            failures: BTreeSet::new(),
        }
    }

    /// The engine of that name, if it is asked for and installed.
    fn find(&mut self, name: &str) -> Option<&mut Box<dyn Engine>> {
        if self.missing.contains_key(name) || !self.globs.iter().any(|glob| matches(glob, name)) {
            return None;
        }
        if !self.ready.contains_key(name) {
            match engines::engine(name) {
                Ok(engine) => drop(self.ready.insert(name.to_owned(), engine)),
                Err(reason) => drop(self.missing.insert(name.to_owned(), reason)),
            }
        }
        self.ready.get_mut(name)
    }
}

fn run_case(
    definition: &Definition,
    case: Case,
    engines: &mut Engines,
    effort: Effort,
    output: &mut Output,
    bar: &indicatif::ProgressBar,
) -> Result<(), Failure> {
    if case.shape == shape::Shape::Polling
        && let Err(reason) = recorded::folder()
    {
        engines.missing.insert(case.name(), reason);
        return Ok(());
    }
    let work = Workload::new(definition.does, case).map_err(Failure::input)?;
    let work = Arc::new(work);
    let mut contestants = Vec::new();
    for name in &work.case.engines {
        let Some(engine) = engines.find(name) else {
            continue;
        };
        match Contestant::enter(name, engine.as_mut(), &work) {
            Ok(contestant) => contestants.extend(contestant),
            // A wrong answer has no time; the run goes on and ends with a failure.
            Err(error) => {
                let failure = format!("{} {} {name}: {error}", definition.name, work.case.name());
                bar.suspend(|| output.note(&failure));
                engines.failures.insert(failure);
            }
        }
    }
    let share = work.stream.as_ref().and_then(|stream| stream.share);
    let figures = contest(&mut contestants, effort, share).map_err(Failure::violation)?;
    bar.suspend(|| {
        if output.is_json() {
            return figures
                .iter()
                .try_for_each(|one| output.json(&report::json_line(&definition.name, &work, one)));
        }
        output.text(&report::table(&work, &figures))
    })
}

/// Whether a name matches a glob, in which `*` stands for anything and `?` for one character.
pub(crate) fn matches(glob: &str, name: &str) -> bool {
    let (glob, name): (Vec<char>, Vec<char>) = (glob.chars().collect(), name.chars().collect());
    let (mut g, mut n) = (0, 0);
    // Where to go on after the last star, should what follows it not match here.
    let mut star: Option<(usize, usize)> = None;
    while n < name.len() {
        match (glob.get(g), star) {
            (Some('*'), _) => {
                star = Some((g, n));
                g += 1;
            }
            (Some(&c), _) if c == '?' || c == name[n] => (g, n) = (g + 1, n + 1),
            (_, Some((at, from))) => {
                star = Some((at, from + 1));
                (g, n) = (at + 1, from + 1);
            }
            _ => return false,
        }
    }
    glob[g..].iter().all(|&c| c == '*')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn globs_match_as_in_a_shell() {
        for (glob, name) in [
            ("*", "dhard/1"),
            ("dhard/*", "dhard/100"),
            ("*/1", "int/1"),
            ("*/1*0", "int/1000"),
            ("?nt/1", "int/1"),
            ("a**b", "ab"),
        ] {
            assert!(matches(glob, name), "{glob} {name}");
        }
        for (glob, name) in [
            ("dhard", "dhard/1"),
            ("*/1", "int/100"),
            ("?int", "int"),
            ("", "x"),
        ] {
            assert!(!matches(glob, name), "{glob} {name}");
        }
    }
}
