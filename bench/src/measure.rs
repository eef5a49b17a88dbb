//! Taking times: answers checked first, engines interleaved, medians, spread.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::allocator::{self, Memory};
use crate::definition::Task;
use crate::job::{Calls, Engine, Job};
use crate::random::Random;
use crate::workload::Workload;

/// How long and how often.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Effort {
    /// Rounds, in each of which every engine runs once.
    pub(crate) rounds: usize,
    /// Rounds at most, while the machine is restless: figures of the first engine spread by more than [`CALM`].
    pub(crate) most: usize,
    /// A run repeats its workload until it takes about this long.
    pub(crate) run: Duration,
    /// Every engine warms up for at least this long.
    pub(crate) warm_up: Duration,
    /// When a case has taken this long, [`FEWEST`] rounds must do.
    pub(crate) patience: Duration,
}

/// Fewer rounds than this are no measurement.
const FEWEST: usize = 11;

/// Of the order in which the engines take their turns, another in each round: were it always the same, one would always come
/// behind a slow engine that leaves it cold caches and a sleeping sink.
const SEED: u64 = 1;

/// Below this spread, more rounds would say nothing new.
const CALM: f64 = 0.08;

impl Effort {
    /// For figures to be quoted.
    pub(crate) const FULL: Self = Self {
        rounds: 15,
        most: 45,
        run: Duration::from_millis(3),
        warm_up: Duration::from_millis(12),
        patience: Duration::from_secs(3),
    };
    /// Of calls between processes: long enough for a 99th percentile, and for what a server does only now and then.
    const CALLS: Self = Self {
        run: Duration::from_millis(100),
        warm_up: Duration::from_millis(300),
        ..Self::FULL
    };
    /// To see that all works.
    pub(crate) const QUICK: Self = Self {
        rounds: 3,
        most: 3,
        run: Duration::ZERO,
        warm_up: Duration::ZERO,
        patience: Duration::ZERO,
    };

    /// The same effort for this task.
    pub(crate) fn of(self, task: Task) -> Self {
        match task {
            Task::Call if !self.run.is_zero() => Self::CALLS,
            _ => self,
        }
    }
}

/// An engine taking part in a case.
pub(crate) struct Contestant {
    pub(crate) name: String,
    job: Box<dyn Job>,
    times: u64,
    /// Nanoseconds for one workload, a figure for each round.
    samples: Vec<f64>,
    /// The same, of time on a processor.
    cpu: Vec<f64>,
    resident: Option<u64>,
}

/// What was found out about one engine in one case.
#[derive(Clone, Debug)]
pub(crate) struct Figures {
    pub(crate) engine: String,
    /// Median nanoseconds for one workload.
    pub(crate) ns: f64,
    /// The same, of time on a processor: less if the work waits, or other programs disturb.
    pub(crate) cpu_ns: f64,
    /// (p90 − p10) / median
    pub(crate) spread: f64,
    pub(crate) runs: usize,
    pub(crate) memory: Option<Memory>,
    /// By how many bytes resident memory grew.
    pub(crate) resident: Option<u64>,
    /// Of calls.
    pub(crate) calls: Option<Calls>,
    /// This engine's time by another's: the median of the rounds' ratios.
    pub(crate) vs: BTreeMap<String, f64>,
}

impl Contestant {
    /// An engine's job for a workload, its answer checked. `None` if it does not do such work.
    pub(crate) fn enter(
        name: &str,
        engine: &mut dyn Engine,
        work: &Arc<Workload>,
    ) -> Result<Option<Self>, String> {
        let Some(mut job) = engine.job(work)? else {
            return Ok(None);
        };
        // Before anything else of its size was done in this process.
        let resident = job.resident().transpose()?;
        let answer = job.answer()?;
        work.check(&answer)
            .map_err(|error| format!("a wrong answer: {error}"))?;
        Ok(Some(Self {
            name: name.to_owned(),
            job,
            times: 1,
            samples: Vec::new(),
            cpu: Vec::new(),
            resident,
        }))
    }

    /// Fills caches and finds out how often the workload fits into a run.
    fn warm_up(&mut self, effort: Effort) -> Result<(), String> {
        let mut spent = Duration::ZERO;
        loop {
            let taken = self.job.run(self.times)?.wall;
            spent += taken;
            if taken < effort.run / 2 {
                let fits = effort.run.as_nanos() / taken.as_nanos().max(1);
                self.times =
                    (self.times * u64::try_from(fits).unwrap_or(1).clamp(2, 64)).min(1 << 24);
            } else if spent >= effort.warm_up {
                return Ok(());
            }
        }
    }

    fn memory(&mut self) -> Result<Option<Memory>, String> {
        let (kept, memory) = allocator::measure(|| self.job.fresh());
        match kept {
            None => Ok(None),
            Some(Err(error)) => Err(error),
            Some(Ok(_)) => Ok(Some(memory)),
        }
    }
}

/// One engine's time by another's.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Duel {
    /// The geometric mean over the pairs of runs.
    pub(crate) ratio: f64,
    /// The bounds of its 95 % interval.
    pub(crate) low: f64,
    pub(crate) high: f64,
    /// The number of pairs.
    pub(crate) runs: usize,
}

/// Pairs of runs at least and at most; the interval decides when it is narrow enough.
const PAIRS: std::ops::RangeInclusive<usize> = 24..=600;

/// The half width of an interval that is narrow enough.
const NARROW: f64 = 0.01;

/// Runs two contestants in turns, until their ratio is known well enough.
///
/// # Errors
/// An engine that fails.
pub(crate) fn duel(
    own: &mut Contestant,
    other: &mut Contestant,
    quick: bool,
) -> Result<Duel, String> {
    let effort = if quick { Effort::QUICK } else { Effort::FULL };
    own.warm_up(effort)?;
    other.warm_up(effort)?;
    let mut logarithms: Vec<f64> = Vec::new();
    loop {
        let time = |one: &mut Contestant| -> Result<f64, String> {
            let taken = one.job.run(one.times)?;
            Ok(taken.wall.as_nanos() as f64 / one.times as f64)
        };
        // Neither is always the one behind the other.
        let (first, second) = match logarithms.len() % 2 {
            0 => (time(own)?, time(other)?),
            _ => {
                let second = time(other)?;
                (time(own)?, second)
            }
        };
        logarithms.push((first / second.max(0.1)).ln());
        let runs = logarithms.len();
        if runs < *PAIRS.start() && !quick {
            continue;
        }
        // Runs that something else disturbed count for nothing: the middle half is averaged.
        let quarter = runs / 4;
        let mut sorted = logarithms.clone();
        sorted.sort_by(f64::total_cmp);
        let middle = &sorted[quarter..runs - quarter];
        let count = middle.len() as f64;
        let mean = middle.iter().sum::<f64>() / count;
        let variance = middle.iter().map(|it| (it - mean).powi(2)).sum::<f64>() / count;
        // The spread of the middle half of a normal distribution is 0.38 of that of all.
        let half = 1.96 * (variance.sqrt() / 0.378) / (runs as f64).sqrt();
        if half <= NARROW || runs >= *PAIRS.end() || (quick && runs >= effort.most) {
            return Ok(Duel {
                ratio: mean.exp(),
                low: (mean - half).exp(),
                high: (mean + half).exp(),
                runs,
            });
        }
    }
}

/// Runs the contestants against one another. Of a stream of which each message has another `share` of its values, `vs` also
/// has the [bound].
///
/// # Errors
/// An engine that fails, by name.
pub(crate) fn contest(
    contestants: &mut [Contestant],
    effort: Effort,
    share: Option<f64>,
) -> Result<Vec<Figures>, String> {
    let named = |name: &str| {
        let name = name.to_owned();
        move |error: String| format!("{name}: {error}")
    };
    let mut memory = Vec::new();
    for one in contestants.iter_mut() {
        one.warm_up(effort).map_err(named(&one.name))?;
        memory.push(one.memory().map_err(named(&one.name))?);
    }
    let start = Instant::now();
    let mut random = Random::new(SEED);
    let mut turns: Vec<usize> = (0..contestants.len()).collect();
    for round in 0..effort.most {
        if round >= FEWEST.min(effort.rounds) && start.elapsed() > effort.patience {
            break;
        }
        if round >= effort.rounds
            && contestants
                .first()
                .is_none_or(|first| spread(&first.samples) < CALM)
        {
            break;
        }
        random.shuffle(&mut turns);
        for &turn in &turns {
            let one = &mut contestants[turn];
            let taken = one.job.run(one.times).map_err(named(&one.name))?;
            one.samples
                .push(taken.wall.as_nanos() as f64 / one.times as f64);
            one.cpu.push(taken.cpu.as_nanos() as f64 / one.times as f64);
        }
    }
    let calls: Vec<_> = contestants.iter_mut().map(|one| one.job.calls()).collect();
    let figures = |((one, memory), calls): ((&Contestant, Option<Memory>), Option<Calls>)| {
        let others = contestants.iter().filter(|other| other.name != one.name);
        let ratio = |other: &Contestant| {
            quantile(
                one.samples
                    .iter()
                    .zip(&other.samples)
                    .map(|(own, other)| own / other.max(0.1))
                    .collect(),
                0.5,
            )
        };
        let ns = quantile(one.samples.clone(), 0.5);
        Figures {
            engine: one.name.clone(),
            ns,
            cpu_ns: quantile(one.cpu.clone(), 0.5),
            spread: (quantile(one.samples.clone(), 0.9) - quantile(one.samples.clone(), 0.1))
                / ns.max(0.1),
            runs: one.samples.len(),
            memory,
            resident: one.resident,
            calls,
            vs: others
                .map(|other| (other.name.clone(), ratio(other)))
                .chain(bound(one, contestants, share).map(|ratio| ("bound".to_owned(), ratio)))
                .collect(),
        }
    };
    let all = contestants.iter().zip(memory).zip(calls);
    Ok(all.map(figures).collect())
}

/// An engine's time by what it should cost to read a message of which a share is new: that share of a full reading
/// (`bsoap:off`), and one compare of the text (`memcmp`). The median of the rounds.
fn bound(one: &Contestant, all: &[Contestant], share: Option<f64>) -> Option<f64> {
    let samples = |name: &str| Some(&all.iter().find(|one| one.name == name)?.samples);
    let (share, full, compare) = (share?, samples("bsoap:off")?, samples("memcmp")?);
    let bounds = full
        .iter()
        .zip(compare)
        .map(|(full, compare)| share * full + compare);
    let ratios = one.samples.iter().zip(bounds);
    Some(quantile(
        ratios.map(|(own, bound)| own / bound.max(0.1)).collect(),
        0.5,
    ))
}

/// (p90 − p10) / median
fn spread(samples: &[f64]) -> f64 {
    let [low, median, high] = [0.1, 0.5, 0.9].map(|share| quantile(samples.to_vec(), share));
    (high - low) / median.max(0.1)
}

/// The value below which this share of the samples lies (nearest rank).
pub(crate) fn quantile(mut samples: Vec<f64>, share: f64) -> f64 {
    samples.sort_by(f64::total_cmp);
    let rank = (share * (samples.len().saturating_sub(1)) as f64).round() as usize;
    samples.get(rank).copied().unwrap_or(0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_samples() {
        let samples = vec![5.0, 1.0, 3.0, 2.0, 4.0];
        assert_eq!(
            [0.0, 0.5, 1.0].map(|share| quantile(samples.clone(), share)),
            [1.0, 3.0, 5.0]
        );
        assert_eq!(quantile(Vec::new(), 0.5), 0.0);
    }
}
