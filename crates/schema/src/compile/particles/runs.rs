//! Groups that repeat and have children that repeat: which numbers of occurrences are possible.
//!
//! A run of a child, its occurrences in a row, may go on through several occurrences of the group. It is compiled as one
//! occurrence of the group, and the number of occurrences that it covers is counted: see "Group counts" in `docs/design/schema.md`.

use std::sync::Arc;

use bsoap_codec::plan::UNBOUNDED;

use super::{Compiled, CompiledTerm, flattened};
use crate::Result;
use crate::compile::Compiler;
use crate::document::Position;

/// How a sequence repeats.
#[derive(Clone, Copy, Debug)]
struct Outer {
    range: (u32, u32),
    /// Whether not all numbers in the range are possible.
    is_counted: bool,
}

impl Outer {
    /// Whether it matters to which occurrences the occurrences of a child belong: if as many of them as possible are given to each, the
    /// last may get too few, or there may be too few of the sequence.
    fn is_sensitive(self, child: &Compiled) -> bool {
        let needs_many = self.range.0 > 1 || self.is_counted;
        let is_divisible = child.max > 1 || child.has_runs;
        child.has_fewest()
            || child.is_sensitive_term
            || needs_many && is_divisible && child.least() > 0
    }
}

impl Compiler<'_> {
    /// A sequence of these children that occurs so often. `levels`: how it is repeated, if not all numbers are possible.
    pub(super) fn sequence_of(
        &mut self,
        mut children: Vec<Compiled>,
        (min, max): (u32, u32),
        levels: Option<Vec<(u32, u32)>>,
        place: Position,
    ) -> Result<Compiled> {
        let outer = Outer {
            range: (min, max),
            is_counted: levels.is_some(),
        };
        let required = children.iter().filter(|child| !child.is_emptiable());
        let mut joins_runs = false;
        if max > 1 && required.count() <= 1 {
            let is_single = children.iter().any(|child| !child.is_emptiable());
            for child in &mut children {
                // A run goes on behind the end of an occurrence if nothing else is required there.
                if !is_single || !child.is_emptiable() {
                    joins_runs |= self.join_child(child, outer, place)?;
                }
            }
        }
        let term = CompiledTerm::Sequence(children.into());
        let sequence = match levels {
            Some(levels) => self.add_counted((min, max), term, levels, place)?,
            None => self.add(min, max, term, place)?,
        };
        if joins_runs {
            self.builder.join_runs(sequence.id);
        }
        Ok(sequence)
    }

    /// Joins the runs of a child of a sequence that repeats, where its occurrences alone do not say which groups are possible. Returns
    /// whether the sequence has to count them.
    fn join_child(&mut self, child: &mut Compiled, outer: Outer, place: Position) -> Result<bool> {
        let term = child.term.clone();
        if let (CompiledTerm::Choice(branches), 1) = (&term, child.max) {
            return self.join_branches(child, branches, outer, place);
        }
        if !outer.is_sensitive(child) {
            return Ok(false);
        }
        let (fewest, most, max) = (child.least(), child.max, outer.range.1);
        let is_free = max == UNBOUNDED && !outer.is_counted && child.levels.is_none();
        let unlimited = match (outer.range.0, fewest) {
            (0 | 1, 2..) if most == UNBOUNDED => Some((fewest, UNBOUNDED)),
            (0 | 1, 1) => Some((1, UNBOUNDED)),
            (_, 0) => Some((0, UNBOUNDED)),
            // Each may be an occurrence of its own, so that there are enough of them.
            (2.., 1) if !child.has_runs => Some((1, 1)),
            _ => None,
        };
        let unjoined = Arc::new(child.clone());
        match unlimited.filter(|_| is_free) {
            Some(range) => *child = self.occurring(term, range, None, place)?,
            None => {
                let mut levels = child.levels();
                levels.push((1, max));
                let most = match (most, max) {
                    (UNBOUNDED, _) | (_, UNBOUNDED) => UNBOUNDED,
                    (most, max) => most.saturating_mul(max),
                };
                *child = self.occurring(term, (fewest, most), Some(levels), place)?;
                self.builder.join_run(child.id);
            }
        }
        child.unjoined = Some(unjoined);
        Ok(unlimited.filter(|_| is_free).is_none())
    }

    /// The same for the branches of a choice that occurs at most once.
    fn join_branches(
        &mut self,
        child: &mut Compiled,
        branches: &[Compiled],
        outer: Outer,
        place: Position,
    ) -> Result<bool> {
        let mut branches = branches.to_vec();
        let mut joins_runs = false;
        for branch in &mut branches {
            joins_runs |= self.join_child(branch, outer, place)?;
        }
        if branches.iter().any(|branch| branch.unjoined.is_some()) {
            let term = CompiledTerm::Choice(branches.into());
            let joined = self.add(child.min, child.max, term, place)?;
            let unjoined = std::mem::replace(child, joined);
            child.unjoined = Some(Arc::new(unjoined));
        }
        Ok(joins_runs)
    }

    /// A choice of these branches. `levels`: how it is repeated, if not all numbers from the least to the most are possible.
    pub(super) fn choice_of(
        &mut self,
        branches: Vec<Compiled>,
        (min, max): (u32, u32),
        levels: Option<Vec<(u32, u32)>>,
        place: Position,
    ) -> Result<Compiled> {
        let mut branches = match (max, &levels) {
            (UNBOUNDED, None) => self.joined_branches(min, branches, place)?,
            _ => branches,
        };
        let needs_many = min > 1 || levels.is_some();
        let is_run = |branch: &Compiled| {
            let has_runs = branch.max > 1 || needs_many && branch.has_runs;
            branch.is_sensitive_term || !branch.is_emptiable_term && has_runs
        };
        let is_counted = max != UNBOUNDED || min > 1 || levels.is_some();
        let joins_runs = max > 1 && is_counted && branches.iter().any(is_run);
        for branch in &mut branches {
            // What is joined to runs of any length needs no count, but where lengths have gaps.
            let has_gaps = branch.levels.is_some()
                || branch.min > 1 && 2 * u64::from(branch.min) > u64::from(branch.max) + 1;
            let is_joined = joins_runs || max == UNBOUNDED && has_gaps;
            if max == 1 || !is_run(branch) || !is_joined {
                continue;
            }
            let mut levels = branch.levels();
            let least = branch.least();
            let most = match (branch.max, max) {
                (UNBOUNDED, _) | (_, UNBOUNDED) => UNBOUNDED,
                (most, times) => most.saturating_mul(times),
            };
            levels.push((1, max));
            let term = branch.term.clone();
            let joined = self.occurring(term, (least, most), Some(levels), place)?;
            let unjoined = std::mem::replace(branch, joined);
            branch.unjoined = Some(Arc::new(unjoined));
            // Else its runs would be counted as those of a group around the choice.
            if joins_runs {
                self.builder.join_run(branch.id);
            }
        }
        let term = CompiledTerm::Choice(branches.into());
        let choice = match levels {
            Some(levels) => self.add_counted((min, max), term, levels, place)?,
            None => self.add(min, max, term, place)?,
        };
        if joins_runs {
            self.builder.join_runs(choice.id);
        }
        Ok(choice)
    }

    /// The branches of a choice that repeats without bound, where a branch that repeats has other occurrences if the language
    /// stays the same: consecutive occurrences of the choice may take the same branch, and only their sum is seen.
    fn joined_branches(
        &mut self,
        min: u32,
        mut branches: Vec<Compiled>,
        place: Position,
    ) -> Result<Vec<Compiled>> {
        if min > 1 {
            // Each occurrence of a choice in it may be an occurrence of its own.
            branches = flattened(&branches, |it| match &it.term {
                CompiledTerm::Choice(inner) if it.min == 1 && it.levels.is_none() => Some(inner),
                _ => None,
            });
            for branch in &mut branches {
                if let Some(unjoined) = branch.unjoined.take() {
                    *branch = (*unjoined).clone();
                }
            }
        }
        for branch in branches.iter_mut().filter(|branch| branch.levels.is_none()) {
            let (fewest, most) = (branch.least(), branch.max);
            let is_choice = matches!(branch.term, CompiledTerm::Choice(_));
            let is_sensitive = branch.is_sensitive_term;
            let joined = match (min, fewest) {
                // Twice the fewest is at most one more than the most: sums have no gaps.
                (0 | 1, 2..)
                    if most != UNBOUNDED && 2 * u64::from(fewest) <= u64::from(most) + 1 =>
                {
                    (fewest, UNBOUNDED)
                }
                // The branches of a choice in it join runs over its occurrences.
                (0 | 1, 1) if is_choice && most > 1 || is_sensitive => (1, UNBOUNDED),
                (_, 0) if is_sensitive => (0, UNBOUNDED),
                // Each child may be an occurrence of its own, so that there are enough of them.
                (2.., 1) if most > 1 && !is_sensitive => (1, 1),
                _ => continue,
            };
            *branch = self.occurring(branch.term.clone(), joined, None, place)?;
        }
        Ok(branches)
    }
}

/// Whether a run of a child for which `is_run` may go on through several occurrences of a group: of the branch of a choice, or of a
/// child of a sequence beside which nothing is required.
pub(super) fn has_run(term: &CompiledTerm, is_run: impl Fn(&Compiled) -> bool) -> bool {
    let is_run = |child: &Compiled| is_run(child.unjoined.as_deref().unwrap_or(child));
    match term {
        CompiledTerm::Choice(branches) => branches.iter().any(is_run),
        CompiledTerm::Sequence(children) => {
            let mut required = children.iter().filter(|child| !child.is_emptiable());
            match (required.next(), required.next()) {
                (None, _) => children.iter().any(is_run),
                (Some(single), None) => is_run(single),
                (Some(_), Some(_)) => false,
            }
        }
        CompiledTerm::Element(_) | CompiledTerm::Any(_) | CompiledTerm::All(_) => false,
    }
}
