//! `scale`: workers behind HAProxy. Throughput and savings by the number of workers, and what affinity is worth: the shipped
//! configuration, which hashes clients, against round robin. `definitions/scale.toml` says what the figures are.

use std::time::Duration;

use bsoap_testkit::haproxy;
use serde::Deserialize;
use serde_json::json;

use crate::report;
use crate::run::Failure;

mod clients;
mod cluster;
pub(crate) mod worker;

use clients::Clients;
use cluster::{Balance, Cluster, Counts};

/// The name on the command line.
pub(crate) const NAME: &str = "scale";

const SOURCE: &str = include_str!("../definitions/scale.toml");

/// The definition: data, as those of the other benchmarks, with fields of its own.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Definition {
    name: String,
    about: String,
    workers: Vec<usize>,
    balance: Vec<Balance>,
    /// How many there are, each with one connection.
    clients: usize,
    streams: Vec<Stream>,
}

/// A client's stream of messages.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Stream {
    /// Values of a message.
    values: usize,
    /// Those that change from one message to the next.
    changed: usize,
}

impl Stream {
    /// `doubles/VALUES/changedN/WORKERS`
    fn case(self, workers: usize) -> String {
        let Self { values, changed } = self;
        format!("doubles/{values}/changed{changed}/{workers}")
    }
}

/// How long and how often.
#[derive(Clone, Copy, Debug)]
struct Effort {
    rounds: usize,
    round: Duration,
}

const FULL: Effort = Effort {
    rounds: 9,
    round: Duration::from_millis(500),
};

const QUICK: Effort = Effort {
    rounds: 1,
    round: Duration::from_millis(20),
};

/// What one cluster did in one round.
#[derive(Clone, Copy, Debug)]
struct Round {
    calls: f64,
    seconds: f64,
    counts: Counts,
}

/// A cluster in the comparison, and its rounds.
struct Contestant {
    balance: Balance,
    cluster: Cluster,
    clients: Clients,
    rounds: Vec<Round>,
}

impl Definition {
    fn shipped() -> Result<Self, Failure> {
        toml::from_str(SOURCE)
            .map_err(|error| Failure::Input(format!("bench/definitions/scale.toml: {error}")))
    }

    /// The same for a quick run.
    fn quick(mut self) -> Self {
        self.workers.truncate(2);
        self.streams.truncate(1);
        self.clients = 4;
        self
    }
}

/// Writes what `--list` shows.
///
/// # Errors
/// The output cannot be written.
pub(crate) fn list(is_json: bool) -> Result<(), Failure> {
    let definition = Definition::shipped()?;
    let about = definition.about.trim();
    let line = match is_json {
        true => json!({"bench": definition.name, "about": about}).to_string(),
        false => format!("{}\n{about}\n", definition.name),
    };
    Ok(report::line(&line)?)
}

/// Runs the benchmark, those cases that match. A note says so if HAProxy is not installed.
///
/// # Errors
/// A process does not start, a call fails, or an answer is wrong.
pub(crate) fn run(cases: &glob::Pattern, quick: bool, is_json: bool) -> Result<(), Failure> {
    if !haproxy::is_installed() {
        report::note(
            "scale took no part: HAProxy is not installed (Debian: apt-get install haproxy)",
        );
        return Ok(());
    }
    let mut definition = Definition::shipped()?;
    let mut effort = FULL;
    if quick {
        (definition, effort) = (definition.quick(), QUICK);
    }
    if !is_json {
        report::line(&format!("{}\n{}", definition.name, definition.about.trim()))?;
    }
    for stream in &definition.streams {
        for &workers in &definition.workers {
            if !cases.matches(&stream.case(workers)) {
                continue;
            }
            let compared =
                compare(&definition, *stream, workers, effort).map_err(Failure::Engine)?;
            let first = compared.first().map_or(f64::NAN, Contestant::server_ns);
            for one in &compared {
                report::line(&line(one, *stream, workers, first, is_json))?;
            }
        }
    }
    Ok(())
}

/// All ways to balance for one number of workers, in turns. Answers are checked first.
fn compare(
    definition: &Definition,
    stream: Stream,
    workers: usize,
    effort: Effort,
) -> Result<Vec<Contestant>, String> {
    let enter = |&balance: &Balance| {
        let cluster = Cluster::start(balance, workers)?;
        let mut clients = Clients::connect(cluster.address(), definition.clients, stream)?;
        clients
            .check()
            .map_err(|error| format!("{}: {error}", balance.name()))?;
        Ok::<_, String>(Contestant {
            balance,
            cluster,
            clients,
            rounds: Vec::new(),
        })
    };
    let mut all = definition
        .balance
        .iter()
        .map(enter)
        .collect::<Result<Vec<_>, _>>()?;
    for _ in 0..effort.rounds {
        for one in &mut all {
            let round = one.round(effort.round)?;
            one.rounds.push(round);
        }
    }
    Ok(all)
}

impl Contestant {
    fn round(&mut self, duration: Duration) -> Result<Round, String> {
        let before = self.cluster.counts()?;
        let (calls, taken) = self.clients.call_for(duration)?;
        Ok(Round {
            calls: calls as f64,
            seconds: taken.as_secs_f64(),
            counts: self.cluster.counts()?.since(&before),
        })
    }

    fn median(&self, figure: impl Fn(&Round) -> f64) -> f64 {
        let mut figures: Vec<f64> = self.rounds.iter().map(figure).collect();
        figures.sort_unstable_by(f64::total_cmp);
        figures.get(figures.len() / 2).copied().unwrap_or(f64::NAN)
    }

    fn server_ns(&self) -> f64 {
        self.median(|round| round.counts.server_ns / round.calls)
    }
}

fn line(one: &Contestant, stream: Stream, workers: usize, first: f64, is_json: bool) -> String {
    let (case, values) = (stream.case(workers), stream.values);
    let rate = one.median(|round| round.calls / round.seconds);
    let (server, proxy) = (
        one.server_ns(),
        one.median(|round| round.counts.proxy_ns / round.calls),
    );
    let unread = one.median(|round| round.counts.unread / round.calls);
    let unwritten = one.median(|round| {
        let Counts {
            patched, written, ..
        } = round.counts;
        (patched - written / values as f64) / round.calls
    });
    let memory = one.median(|round| round.counts.saved_memory);
    let balance = one.balance.name();
    if is_json {
        let places = |value: f64| (value * 1e4).round() / 1e4;
        return json!({
            "bench": NAME, "case": case, "engine": balance, "workers": workers, "clients": one.clients.count(),
            "requests_per_s": rate.round() as u64, "server_ns": server.round() as u64, "proxy_ns": proxy.round() as u64,
            "unread": places(unread), "unwritten": places(unwritten), "saved_bytes": memory as u64,
            "vs": {"hash": places(server / first)}, "runs": one.rounds.len(), "checked": true,
        })
        .to_string();
    }
    format!(
        "{case:<28} {balance:<12} {rate:>8.0} calls/s  workers {:>6.1} µs CPU ({:>4.2} of hash), HAProxy {:>5.1}  unread {:>5.1} %  unwritten {:>5.1} %  {:>6.1} MiB saved",
        server / 1e3,
        server / first,
        proxy / 1e3,
        unread * 100.0,
        unwritten * 100.0,
        memory / 1_048_576.0
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_definition_begins_with_what_is_shipped() {
        let definition = Definition::shipped().unwrap();
        assert_eq!(definition.name, NAME);
        assert_eq!(definition.balance.first(), Some(&Balance::Hash));
        assert!(definition.about.len() > 200 && !definition.streams.is_empty());
        assert!(
            definition
                .workers
                .iter()
                .all(|count| (1..=4).contains(count))
        );
    }
}
