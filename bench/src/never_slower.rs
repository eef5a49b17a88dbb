//! `never-slower`: whether the differential machinery ever costs more than it saves. Each stream of `ready`, `receive` and the
//! windows is converted with default settings, through the cache that clients and services use, and with the machinery off, in turns.

use std::sync::Arc;

use serde_json::json;

use crate::definition::{Case, Definition, Task};
use crate::engines;
use crate::measure::{Contestant, Duel, duel};
use crate::report;
use crate::run::Failure;
use crate::workload::Workload;

/// The name on the command line.
pub(crate) const NAME: &str = "never-slower";

/// The benchmarks whose streams are compared.
const STREAMS: [&str; 4] = ["ready", "receive", "window", "window-sent"];

/// With default settings.
const OURS: &str = "bsoap:store";

/// What clients and services do if nothing is saved.
const OFF: &str = "bsoap:plain";

/// Messages below this many bytes may cost a little more.
const SHORT: usize = 2048;

/// A stream and what was found.
struct Row {
    case: String,
    limit: f64,
    duel: Duel,
}

impl Row {
    fn is_slower(&self) -> bool {
        self.duel.low > self.limit
    }
}

/// Compares all streams whose names match, and lists them, worst first.
///
/// # Errors
/// An engine fails, or a stream is slower than allowed in two separate runs.
pub(crate) fn run(cases: &glob::Pattern, quick: bool, is_json: bool) -> Result<(), Failure> {
    let mut rows = Vec::new();
    for definition in Definition::all().map_err(Failure::Input)? {
        if !STREAMS.contains(&definition.name.as_str()) {
            continue;
        }
        for case in definition.cases(quick) {
            let name = format!("{}={}", definition.name, case.name());
            if !cases.matches(&case.name()) && !cases.matches(&name) {
                continue;
            }
            // Where a template is made anew before each message, there is no stream.
            let is_stream = |engine: &String| engine == OURS;
            if definition.does == Task::Ready && !case.engines.iter().any(is_stream) {
                continue;
            }
            let failed = |error| Failure::Engine(format!("{name}: {error}"));
            let Some((mut duel, bytes)) = compare(&definition, &case, quick).map_err(failed)?
            else {
                continue;
            };
            let limit = if bytes < SHORT { 1.05 } else { 1.02 };
            if duel.low > limit
                && !quick
                && let Some((again, _)) = compare(&definition, &case, quick).map_err(failed)?
                && again.low < duel.low
            {
                duel = again;
            }
            rows.push(Row {
                case: name,
                limit,
                duel,
            });
        }
    }
    rows.sort_by(|a, b| b.duel.ratio.total_cmp(&a.duel.ratio));
    for row in &rows {
        report::line(&line(row, is_json))?;
    }
    let slower = rows.iter().filter(|row| row.is_slower()).count();
    match slower {
        0 => Ok(()),
        _ if quick => Ok(()),
        count => Err(Failure::Engine(format!(
            "{count} of {} streams cost more with differential conversion than without it",
            rows.len()
        ))),
    }
}

fn line(row: &Row, is_json: bool) -> String {
    let Duel {
        ratio,
        low,
        high,
        runs,
    } = row.duel;
    if is_json {
        let places = |value: f64| (value * 1e4).round() / 1e4;
        return json!({
            "bench": NAME, "case": row.case, "engine": OURS, "vs": {OFF: places(ratio)},
            "interval": [places(low), places(high)], "limit": row.limit, "runs": runs, "checked": true,
        })
        .to_string();
    }
    let verdict = if row.is_slower() && runs > 3 {
        "  slower than allowed"
    } else {
        ""
    };
    format!(
        "{ratio:>8.3}  [{low:.3}, {high:.3}]  {:<44} {runs} pairs{verdict}",
        row.case
    )
}

/// The times of both engines for one case, and the bytes of a message. `None` if one of them does not do it.
fn compare(
    definition: &Definition,
    case: &Case,
    quick: bool,
) -> Result<Option<(Duel, usize)>, String> {
    let work = match Workload::new(definition.does, case.clone()) {
        Ok(work) => Arc::new(work),
        // Without the recorded sessions, the others are compared.
        Err(_) if matches!(definition.does, Task::Receive) => return Ok(None),
        Err(error) => return Err(error),
    };
    let enter = |name: &str| Contestant::enter(name, engines::engine(name)?.as_mut(), &work);
    let (Some(mut own), Some(mut off)) = (enter(OURS)?, enter(OFF)?) else {
        return Ok(None);
    };
    Ok(Some((duel(&mut own, &mut off, quick)?, work.bytes())))
}
