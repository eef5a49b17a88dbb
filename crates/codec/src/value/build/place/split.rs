//! Splits the values of each name over the occurrences of a group that repeats.
//!
//! Given `sequence{a{3,4}, b{0,2}}` and nine `a`, taking as many as possible each time leads nowhere: `4+4+1`. Which numbers are
//! possible is known without a search if each name has one place in the group:
//!
//! 1. *Upwards.* The possible numbers of occurrences of each particle are an interval. That of an element is the number of its
//!    values. If `lo..=hi` occurrences of a term are split over `n` occurrences of what is around it, with `c..=d` in each, then
//!    `n·c ≤ hi` and `n·d ≥ lo`: `n` is between `lo/d`, rounded up, and `hi/c`, rounded down. The occurrences of a sequence are
//!    in the intervals of all its children; those of a choice are a sum of one number from each.
//! 2. *Downwards.* Each particle gets the least number that is possible within that of the group around it.
//! 3. *In schema order*, each occurrence takes as many as it can, but leaves at least `c` for each occurrence behind it.
//!
//! No step depends on the numbers but the last, which takes time linear in the values (and in the children of each occurrence).

use crate::plan::{ParticleId, Plan, Term, UNBOUNDED};

use super::given::{GivenChildren, Head};

/// No upper bound.
const MANY: u64 = u64::MAX;

/// The order of the children that are left for a group, if each of its names has one place in it and all of them fit into it.
pub(super) fn split(
    plan: &Plan,
    group: ParticleId,
    source: &GivenChildren<'_>,
) -> Option<Vec<Head>> {
    let mut measure = Measure {
        plan,
        source,
        is_placed: vec![false; source.queues.len() + 1],
    };
    let mut root = measure.part(group, Outermost::Own)?;
    if !(root.units.0..=root.units.1).contains(&1) {
        return None;
    }
    root.assign(1);
    let mut heads = Vec::new();
    root.emit(1, &mut heads);
    Some(heads)
}

/// Whether it matters how the children of a group are split over its occurrences: if each takes all it can, another may get too few.
pub(super) fn is_needed(plan: &Plan, group: ParticleId) -> bool {
    let particle = plan.particle(group);
    particle.joins_runs
        || particle.counts.is_some()
        || plan.children_of(group).iter().any(|&child| {
            let particle = plan.particle(child);
            particle.repeats() && !particle.is_emptiable || is_needed(plan, child)
        })
}

/// The children of a particle, and how they are split.
struct Part {
    term: PartTerm,
    /// The numbers of occurrences of the term that are possible.
    terms: (u64, u64),
    /// How the term is repeated, innermost first.
    levels: Vec<Level>,
    /// The numbers of occurrences of the group around it over which the term can be split.
    units: (u64, u64),
    /// Over how many of them nothing has been split so far.
    left: u64,
}

enum PartTerm {
    Child(Head),
    Sequence {
        children: Vec<Part>,
        joins_runs: bool,
        spread: Spread,
    },
    Choice(Vec<Part>),
}

/// Which occurrences of a sequence that joins runs have other children than its longest run: the first ones, and the last. So
/// the run is in one piece where it can be.
#[derive(Clone, Copy, Default)]
struct Spread {
    /// The child with the longest run.
    run: usize,
    /// In how many occurrences the other children are.
    others: u64,
    /// The occurrences so far, and all of them.
    done: u64,
    all: u64,
}

/// A repeat: from `least` to `most` times what is in it, in each occurrence of what is around it.
struct Level {
    least: u64,
    most: u64,
    /// The possible numbers of occurrences of what is in it.
    possible: (u64, u64),
    /// How many of them are left.
    left: u64,
    /// How many occurrences of what is around it are left.
    units: u64,
}

/// Whether the outermost level of the counts of a particle is its own, or the group's in which its runs are joined.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Outermost {
    Own,
    Group,
}

/// Finds what numbers of occurrences are possible.
struct Measure<'a, 'v> {
    plan: &'a Plan,
    source: &'a GivenChildren<'v>,
    /// The queues that have a place; the last is that of the wildcards.
    is_placed: Vec<bool>,
}

impl Measure<'_, '_> {
    /// A particle. `None` if the children do not fit, or a name has a second place. (Groups nest no deeper than a schema
    /// document does.)
    fn part(&mut self, id: ParticleId, outermost: Outermost) -> Option<Part> {
        let particle = self.plan.particle(id);
        let (term, terms) = match &particle.term {
            Term::Element(element) => {
                let index = self.source.index(self.plan, *element)?;
                self.child(index, Head::Child(index), self.source.queues[index].left())?
            }
            // Elements for several wildcards have one queue.
            Term::Any(_) if self.source.shape.has_wildcards => return None,
            Term::Any(_) => {
                let index = self.source.queues.len();
                self.child(index, Head::Any, self.source.any.left())?
            }
            Term::Sequence(_) => self.sequence(id)?,
            Term::Choice(_) => self.choice(id)?,
            Term::All(_) => return None,
        };
        let (mut levels, mut units) = (Vec::new(), terms);
        for (least, most) in ranges(self.plan, id, outermost) {
            let level = Level::new(least, most, units);
            units = level.units_possible()?;
            levels.push(level);
        }
        Some(Part {
            term,
            terms,
            levels,
            units,
            left: 0,
        })
    }

    fn children(&mut self, group: ParticleId) -> Option<Vec<Part>> {
        let children = self.plan.children_of(group).iter();
        let children = children.map(|&child| {
            let outermost = match self.plan.particle(child).is_run {
                true => Outermost::Group,
                false => Outermost::Own,
            };
            self.part(child, outermost)
        });
        children.collect()
    }

    fn child(&mut self, index: usize, head: Head, left: usize) -> Option<(PartTerm, (u64, u64))> {
        let was_placed = std::mem::replace(&mut self.is_placed[index], true);
        let left = left as u64;
        (!was_placed).then_some((PartTerm::Child(head), (left, left)))
    }

    fn sequence(&mut self, id: ParticleId) -> Option<(PartTerm, (u64, u64))> {
        let children = self.children(id)?;
        let units = children.iter().map(|child| child.units);
        let both = |a: (u64, u64), b: (u64, u64)| (a.0.max(b.0), a.1.min(b.1));
        let terms = units.fold((0, MANY), both);
        let term = PartTerm::Sequence {
            children,
            joins_runs: self.plan.particle(id).joins_runs,
            spread: Spread::default(),
        };
        (terms.0 <= terms.1).then_some((term, terms))
    }

    fn choice(&mut self, id: ParticleId) -> Option<(PartTerm, (u64, u64))> {
        let branches = self.children(id)?;
        let units = branches.iter().map(|branch| branch.units);
        let sum = |a: (u64, u64), b: (u64, u64)| (a.0.saturating_add(b.0), a.1.saturating_add(b.1));
        let terms = units.fold((0, 0), sum);
        Some((PartTerm::Choice(branches), terms))
    }
}

/// How often a term occurs in each occurrence of the group around it: in each occurrence of the next repeat, innermost first.
fn ranges(plan: &Plan, id: ParticleId, outermost: Outermost) -> Vec<(u32, u32)> {
    let particle = plan.particle(id);
    match particle.counts.as_deref() {
        Some(counts) => {
            let own = (outermost == Outermost::Own).then(|| counts.outermost());
            counts.levels().iter().copied().chain(own).collect()
        }
        // Where it may be absent or empty, fewer than the least are enough.
        None if particle.is_emptiable => vec![(0, particle.max)],
        None => vec![(particle.min, particle.max)],
    }
}

impl Level {
    fn new(least: u32, most: u32, possible: (u64, u64)) -> Self {
        Self {
            least: least.into(),
            most: match most {
                UNBOUNDED => MANY,
                most => most.into(),
            },
            possible,
            left: 0,
            units: 0,
        }
    }

    /// Over how many occurrences of what is around it a possible number can be split. `None` if over none.
    fn units_possible(&self) -> Option<(u64, u64)> {
        let (fewest, most) = self.possible;
        let fewest = match self.most {
            0 if fewest > 0 => return None,
            most => fewest.div_ceil(most.max(1)),
        };
        let most = match (self.least, most) {
            (0, _) | (_, MANY) => MANY,
            (least, most) => most / least,
        };
        (fewest <= most).then_some((fewest, most))
    }

    /// Takes the least number that can be split over these occurrences of what is around it. Returns it.
    fn assign(&mut self, units: u64) -> u64 {
        self.units = units;
        self.left = self.possible.0.max(units.saturating_mul(self.least));
        self.left
    }

    /// Takes as many as the next occurrences of what is around it can have, but leaves enough for those behind them.
    fn take(&mut self, units: u64) -> u64 {
        self.units -= units;
        let kept = self.units.saturating_mul(self.least);
        let taken = (self.left - kept).min(units.saturating_mul(self.most));
        self.left -= taken;
        taken
    }
}

impl Part {
    /// Decides how many occurrences of each particle there are in this number of occurrences of the group around this one.
    fn assign(&mut self, units: u64) {
        self.left = units;
        let levels = self.levels.iter_mut().rev();
        let terms = levels.fold(units, |units, level| level.assign(units));
        match &mut self.term {
            PartTerm::Child(_) => {}
            PartTerm::Sequence {
                children,
                joins_runs,
                spread,
            } => {
                *spread = match joins_runs {
                    true => Spread::of_run(children, terms),
                    false => Spread::even(terms),
                };
                for (at, child) in children.iter_mut().enumerate() {
                    let is_run = at == spread.run;
                    child.assign(if is_run { terms } else { spread.others });
                }
            }
            PartTerm::Choice(branches) => {
                let fewest = self.terms.0;
                let mut more = terms - fewest;
                for branch in branches {
                    let added = more.min(branch.units.1 - branch.units.0);
                    branch.assign(branch.units.0 + added);
                    more -= added;
                }
            }
        }
    }

    /// Appends the children that come into the next occurrences of the group around it.
    fn emit(&mut self, units: u64, heads: &mut Vec<Head>) {
        self.left -= units;
        let levels = self.levels.iter_mut().rev();
        let mut terms = levels.fold(units, |units, level| level.take(units));
        match &mut self.term {
            PartTerm::Child(head) => heads.extend((0..terms).map(|_| *head)),
            PartTerm::Sequence {
                children, spread, ..
            } => {
                for _ in 0..terms {
                    let has_others = spread.next();
                    let children = children.iter_mut().enumerate();
                    for (_, child) in children.filter(|(at, _)| has_others || *at == spread.run) {
                        child.emit(1, heads);
                    }
                }
            }
            PartTerm::Choice(branches) => {
                for branch in branches {
                    let taken = terms.min(branch.left);
                    branch.emit(taken, heads);
                    terms -= taken;
                }
            }
        }
    }
}

impl Spread {
    /// All children are in all occurrences.
    fn even(all: u64) -> Self {
        Self {
            others: all,
            all,
            ..Self::default()
        }
    }

    /// Chooses the run of a sequence that occurs so often: the child that is required, or else the one that needs the most occurrences.
    /// All others may be absent, so that they need no more occurrences than their fewest.
    fn of_run(children: &[Part], all: u64) -> Self {
        let order = |part: &Part| (part.units.1 < MANY, part.units.0);
        let run = (0..children.len())
            .rev()
            .max_by_key(|&at| order(&children[at]));
        let run = run.unwrap_or_default();
        let others = children.iter().enumerate().filter(|(at, _)| *at != run);
        let others = others.map(|(_, part)| part.units.0).max();
        Self {
            run,
            others: others.unwrap_or_default().max(1).min(all),
            done: 0,
            all,
        }
    }

    /// Whether the other children are in the next occurrence too.
    fn next(&mut self) -> bool {
        self.done += 1;
        self.done < self.others || self.done == self.all
    }
}
