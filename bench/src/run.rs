//! One run of the program: which benchmarks and engines were asked for, case after case.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use glob::Pattern;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::arguments::Arguments;
use crate::definition::{Case, Definition, Task};
use crate::job::Engine;
use crate::measure::{Contestant, Effort, contest};
#[cfg(unix)]
use crate::scale;
use crate::workload::Workload;
use crate::{
    attachments, engines, load, machine, never_slower, recorded, report, served, shape, sink,
};

/// Why a run ends early or ends badly.
#[derive(Debug)]
pub(crate) enum Failure {
    /// The command line names something that does not exist.
    Usage(String),
    /// An engine gave a wrong answer or failed.
    Engine(String),
    /// A definition, the corpus or the output cannot be read or written.
    Input(String),
}

impl Failure {
    /// What the process returns.
    pub(crate) fn exit_code(&self) -> u8 {
        match self {
            Self::Engine(_) => 1,
            Self::Usage(_) => 2,
            Self::Input(_) => 3,
        }
    }
}

impl std::fmt::Display for Failure {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (Self::Usage(message) | Self::Engine(message) | Self::Input(message)) = self;
        write!(f, "error: {message}")
    }
}

impl From<std::io::Error> for Failure {
    fn from(error: std::io::Error) -> Self {
        Self::Input(error.to_string())
    }
}

/// Runs the benchmarks.
pub(crate) fn run(arguments: &Arguments) -> Result<(), Failure> {
    if let Some(core) = arguments.sink {
        return Ok(sink::run(core)?);
    }
    #[cfg(unix)]
    if let Some(engine) = arguments.serve.as_deref()
        && scale::worker::is_one(engine)
    {
        return scale::worker::run(engine).map_err(Failure::Engine);
    }
    if let (Some(engine), Some(core)) = (&arguments.serve, arguments.core) {
        return served::run(engine, core).map_err(Failure::Engine);
    }
    if arguments.names == [never_slower::NAME] {
        report::note(&format!("{}; {}", machine::describe(), machine::pin()));
        let cases = pattern(&arguments.case)?;
        return never_slower::run(&cases, arguments.quick, arguments.json);
    }
    if arguments.names == [load::NAME] {
        report::note(&format!("{}; {}", machine::describe(), machine::pin()));
        let cases = pattern(&arguments.case)?;
        return load::run(&cases, arguments.quick, arguments.json);
    }
    if arguments.names == [attachments::NAME] {
        report::note(&machine::describe());
        let cases = pattern(&arguments.case)?;
        return attachments::run(&cases, arguments.quick, arguments.json);
    }
    #[cfg(unix)]
    if run_scale(arguments)? {
        return Ok(());
    }
    let definitions = chosen(&patterns(&arguments.names)?)?;
    if arguments.list {
        return Ok(definitions
            .iter()
            .try_for_each(|one| report::definition(one, arguments.json))?);
    }
    let effort = if arguments.quick {
        Effort::QUICK
    } else {
        Effort::FULL
    };
    let cases = pattern(&arguments.case)?;
    let mut engines = Engines::new(patterns(&arguments.engine)?);
    let machine = machine::describe();
    // Engines in other processes inherit the core.
    let core = machine::pin();
    report::note(&format!("{machine}; {core}"));
    for definition in &definitions {
        if !arguments.json {
            report::line(&report::heading(definition))?;
        }
        let cases: Vec<Case> = definition
            .cases(arguments.quick)
            .into_iter()
            .filter(|case| cases.matches(&case.name()))
            .collect();
        let bar = progress(cases.len(), &definition.name);
        for case in cases {
            bar.set_message(case.name());
            run_case(definition, case, &mut engines, effort, arguments.json, &bar)?;
            bar.inc(1);
        }
        bar.finish_and_clear();
    }
    for (name, reason) in &engines.missing {
        report::note(&format!("{name} took no part: {reason}"));
    }
    engines
        .failures
        .into_iter()
        .next()
        .map_or(Ok(()), |failure| Err(Failure::Engine(failure)))
}

/// Runs or lists `scale`, if it is asked for alone or all are. Whether that is all. It comes first: its processes are not
/// pinned to a core.
#[cfg(unix)]
fn run_scale(arguments: &Arguments) -> Result<bool, Failure> {
    let is_alone = arguments.names == [scale::NAME];
    let is_all = arguments.names.is_empty() && arguments.case == "*" && arguments.engine == ["*"];
    if !is_alone && !is_all {
        return Ok(false);
    }
    if arguments.list {
        scale::list(arguments.json)?;
        return Ok(is_alone);
    }
    if is_alone {
        report::note(&machine::describe());
    }
    scale::run(&pattern(&arguments.case)?, arguments.quick, arguments.json)?;
    Ok(is_alone)
}

fn pattern(glob: &str) -> Result<Pattern, Failure> {
    Pattern::new(glob).map_err(|error| Failure::Usage(format!("{glob} is not a pattern: {error}")))
}

fn patterns(globs: &[String]) -> Result<Vec<Pattern>, Failure> {
    globs.iter().map(|glob| pattern(glob)).collect()
}

/// The definitions that match, all if there are no patterns.
fn chosen(names: &[Pattern]) -> Result<Vec<Definition>, Failure> {
    let all = Definition::all().map_err(Failure::Input)?;
    if let Some(unknown) = names
        .iter()
        .find(|name| !all.iter().any(|one| name.matches(&one.name)))
    {
        let known: Vec<_> = all.iter().map(|one| one.name.as_str()).collect();
        return Err(Failure::Usage(format!(
            "there is no benchmark {unknown}; there are {}",
            known.join(", ")
        )));
    }
    let is_chosen =
        |one: &Definition| names.is_empty() || names.iter().any(|name| name.matches(&one.name));
    Ok(all.into_iter().filter(is_chosen).collect())
}

/// A progress bar on standard error, if that is a terminal.
fn progress(cases: usize, benchmark: &str) -> ProgressBar {
    let target = ProgressDrawTarget::stderr_with_hz(10);
    let bar = ProgressBar::with_draw_target(Some(cases as u64), target);
    if let Ok(style) = ProgressStyle::with_template("{prefix:.bold} {pos}/{len} {msg} {eta:.dim}") {
        bar.set_style(style);
    }
    bar.set_prefix(benchmark.to_owned());
    bar.enable_steady_tick(Duration::from_millis(200));
    bar
}

/// The engines that were asked for, each built when it first takes part.
struct Engines {
    asked: Vec<Pattern>,
    ready: BTreeMap<String, Box<dyn Engine>>,
    missing: BTreeMap<String, String>,
    failures: BTreeSet<String>,
}

impl Engines {
    fn new(asked: Vec<Pattern>) -> Self {
        Self {
            asked,
            ready: BTreeMap::new(),
            missing: BTreeMap::new(),
            failures: BTreeSet::new(),
        }
    }

    /// The engine of that name, if it is asked for and installed.
    fn find(&mut self, name: &str, task: Task) -> Option<&mut Box<dyn Engine>> {
        // A program that is called is another one than that which converts messages in this process.
        let (key, find): (_, fn(&str) -> _) = match task {
            Task::Call => (format!("{name} (over HTTP)"), engines::caller),
            _ => (name.to_owned(), engines::engine),
        };
        let is_asked = self.asked.iter().any(|glob| glob.matches(name));
        if !is_asked || self.missing.contains_key(&key) {
            return None;
        }
        if !self.ready.contains_key(&key) {
            match find(name) {
                Ok(engine) => drop(self.ready.insert(key.clone(), engine)),
                Err(reason) => drop(self.missing.insert(key.clone(), reason)),
            }
        }
        self.ready.get_mut(&key)
    }
}

fn run_case(
    definition: &Definition,
    case: Case,
    engines: &mut Engines,
    effort: Effort,
    json: bool,
    bar: &ProgressBar,
) -> Result<(), Failure> {
    if case.shape == shape::Shape::Polling
        && let Err(reason) = recorded::folder()
    {
        engines.missing.insert(case.name(), reason);
        return Ok(());
    }
    let work = Workload::new(definition.does, case).map_err(Failure::Input)?;
    let work = Arc::new(work);
    let mut contestants = Vec::new();
    let mut names: Vec<&String> = work.case.engines.iter().collect();
    if work.task == Task::Call {
        // The last is called for half a minute before it is timed. Other servers would close connections that long unused.
        names.reverse();
    }
    for name in names {
        let Some(engine) = engines.find(name, work.task) else {
            continue;
        };
        match Contestant::enter(name, engine.as_mut(), &work) {
            Ok(contestant) => contestants.extend(contestant),
            // A wrong answer has no time; the run goes on and ends with a failure.
            Err(error) => {
                let failure = format!("{} {} {name}: {error}", definition.name, work.case.name());
                bar.suspend(|| report::note(&failure));
                engines.failures.insert(failure);
            }
        }
    }
    if work.task == Task::Call {
        contestants.reverse();
    }
    let share = work.stream.as_ref().and_then(|stream| stream.share);
    let effort = effort.of(work.task);
    let figures = contest(&mut contestants, effort, share).map_err(Failure::Engine)?;
    bar.suspend(|| {
        if json {
            return figures.iter().try_for_each(|one| {
                report::line(&report::json_line(&definition.name, &work, one).to_string())
            });
        }
        report::text(&report::table(&work, &figures))
    })?;
    Ok(())
}
