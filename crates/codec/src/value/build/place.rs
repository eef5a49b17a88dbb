//! Finds the place of each child in a content model.
//!
//! Children are given by name, each name with a queue of values. The content model is walked once, and each particle takes
//! values from the queues of its names. Where this does not decide the order (repeated choices and groups, `all`), it is
//! schema order, unless `#order` gives another one. Where it matters how values are split over the occurrences of a group,
//! their order is found before ([`split`]), and the group is placed in this order.
//!
//! The same walk without values finds the order that children would get ([`canonical`]), so that `#order` is shown only
//! where it is needed.

use std::cell::Cell;
use std::collections::HashMap;

use smallvec::{SmallVec, smallvec};

use crate::plan::{ElementId, ParticleId, Plan, Term, TypeId, UNBOUNDED};
use crate::record::marker;

mod given;
mod split;

pub(crate) use given::{GivenChildren, Head, Order};

use given::Queue;

use super::{BuildErrorKind, Builder, Result, error};

/// Whether an element has a presence marker.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Presence {
    /// It has none: it is required, or another marker has named it.
    Named,
    /// It has one: it is optional.
    Optional,
}

/// The occurrences of an open group that joins runs: the fewest and the most that the children placed in it so far can be.
#[derive(Clone, Copy, Debug)]
struct Joined {
    is_sequence: bool,
    /// The most occurrences that it may have.
    limit: u32,
    fewest: u32,
    most: u32,
}

impl Joined {
    fn add_occurrence(&mut self) {
        self.fewest = self.fewest.saturating_add(1);
        self.most = self.most.saturating_add(1);
    }

    /// How many occurrences a run of a child may be that begins now.
    fn left(&self) -> u32 {
        let begun = u32::from(self.is_sequence);
        (self.limit - self.fewest.min(self.limit)).saturating_add(begun)
    }

    /// Adds a run of a child. In a sequence, the first of its occurrences has been added already.
    fn add_run(&mut self, (fewest, most): (u32, u32)) {
        let first = u32::from(self.is_sequence);
        self.fewest = self.fewest.saturating_add(fewest.saturating_sub(first));
        self.most = self.most.saturating_add(most.saturating_sub(first));
    }
}

/// Walks a content model and takes the children given.
pub(super) struct Placer<'a, 'p, 'v> {
    plan: &'p Plan,
    /// Receives the values; `None` if only their order is wanted.
    out: Option<&'a mut Builder<'p>>,
    pub(super) source: GivenChildren<'v>,
    /// Without a builder, the element and wildcard particles that took values.
    took: Vec<ParticleId>,
    /// The open groups that join runs, outermost first.
    joined: Vec<Joined>,
    /// The groups that join runs and could take no more occurrences, while children for them were left.
    full: Vec<ParticleId>,
    /// Whether a group that repeats is open.
    is_in_repeat: bool,
}

impl<'a, 'p, 'v> Placer<'a, 'p, 'v> {
    /// An error if a value was not taken.
    pub(super) fn finish(&self) -> Result<()> {
        let finished = self.source.finish();
        let could_take = |id: &&ParticleId| self.source.enters(self.plan, **id);
        match self.full.iter().find(could_take) {
            Some(&id) if finished.is_err() => Err(error::too_many(self.plan, id)),
            _ => finished,
        }
    }

    pub(super) fn new(out: &'a mut Builder<'p>, source: GivenChildren<'v>) -> Self {
        Self {
            plan: out.plan,
            out: Some(out),
            source,
            took: Vec::new(),
            joined: Vec::new(),
            full: Vec::new(),
            is_in_repeat: false,
        }
    }

    fn without_values(plan: &'p Plan, source: GivenChildren<'v>) -> Self {
        Self {
            plan,
            out: None,
            source,
            took: Vec::new(),
            joined: Vec::new(),
            full: Vec::new(),
            is_in_repeat: false,
        }
    }

    fn push(&mut self, slot: u64) {
        if let Some(out) = &mut self.out {
            out.record.push(slot);
        }
    }

    /// Appends a slot that is set later, and returns its index.
    fn reserve(&mut self) -> usize {
        self.push(0);
        let slots = self.out.as_ref().map_or(0, |out| out.record.slots.len());
        slots.saturating_sub(1)
    }

    fn set(&mut self, at: usize, slot: u64) {
        if let Some(out) = &mut self.out
            && let Some(place) = out.record.slots.get_mut(at)
        {
            *place = slot;
        }
    }

    /// Places the children of a particle, with its markers.
    pub(super) fn particle(&mut self, id: ParticleId) -> Result<()> {
        let plan = self.plan;
        let particle = plan.particle(id);
        if particle.repeats() {
            return self.repeated(id);
        }
        if particle.min > 0 {
            return self.occurrence(id, Presence::Named);
        }
        let is_scalar = match &particle.term {
            Term::Choice(_) => return self.occurrence(id, Presence::Named),
            Term::Element(element) => plan.element(*element).is_scalar,
            Term::Any(_) => true,
            _ => false,
        };
        let is_element = matches!(particle.term, Term::Element(_));
        if self.source.enters(plan, id) {
            if !is_element {
                self.push(marker::PRESENT);
            }
            return self.occurrence(id, Presence::Optional);
        }
        self.push(marker::ABSENT);
        if is_scalar {
            self.push(0);
        }
        Ok(())
    }

    /// Places the children of this branch of a choice that does not repeat.
    pub(super) fn branch(&mut self, choice: ParticleId, branch: u32) -> Result<()> {
        let children = self.plan.children_of(choice);
        let Some(&child) = children.get(branch as usize) else {
            return self.nothing_chosen(choice);
        };
        self.push(1 + u64::from(branch));
        self.particle(child)
    }

    /// Places the children of a particle that repeats. For the outermost group that does, they get an order if it matters which occurrence
    /// they are in. If they do not fit, each occurrence takes all it can, so that the error names what is missing or left.
    fn repeated(&mut self, id: ParticleId) -> Result<()> {
        let is_group = matches!(
            self.plan.particle(id).term,
            Term::Sequence(_) | Term::Choice(_)
        );
        if self.is_in_repeat || !is_group {
            return self.occurrences(id);
        }
        let is_split = self.source.order.is_none() && split::is_needed(self.plan, id);
        let heads = is_split.then(|| split::split(self.plan, id, &self.source));
        if let Some(heads) = heads.flatten() {
            self.source.order = Some(Order::new(heads));
            let result = self.occurrences(id);
            self.source.order = None;
            return result;
        }
        self.is_in_repeat = true;
        let result = self.occurrences(id);
        self.is_in_repeat = false;
        result
    }

    /// Places the occurrences of a particle that repeats, and their number.
    fn occurrences(&mut self, id: ParticleId) -> Result<()> {
        let particle = self.plan.particle(id);
        let min = match particle.joins_runs {
            // One occurrence in the Record may be several.
            true => u64::from(particle.min.min(1)),
            false => particle.min.into(),
        };
        let max = self.most(id);
        let is_emptiable = particle.is_emptiable;
        if particle.joins_runs {
            self.joined.push(Joined {
                is_sequence: matches!(particle.term, Term::Sequence(_)),
                limit: u32::try_from(max).unwrap_or(UNBOUNDED),
                fewest: 0,
                most: 0,
            });
        }
        let count_slot = self.reserve();
        let mut count = self.column(id, max)?;
        if let (Term::Choice(children), None) = (&self.plan.particle(id).term, &self.source.order) {
            // All occurrences of the first branch, then all of the second, and so on.
            for (index, &child) in self.plan.group(children).iter().enumerate() {
                while self.may_repeat(id, count, max) && self.source.enters(self.plan, child) {
                    let left = self.source.left();
                    self.chosen(id, index, child)?;
                    count += 1;
                    if self.source.left() == left {
                        break;
                    }
                }
            }
        }
        while self.may_repeat(id, count, max) && self.source.enters(self.plan, id) {
            let left = self.source.left();
            self.occurrence(id, Presence::Named)?;
            count += 1;
            if self.source.left() == left {
                break;
            }
        }
        // A missing occurrence is an error, unless it has a default.
        while count < min && !is_emptiable {
            self.occurrence(id, Presence::Named)
                .map_err(|error| error::or_too_few(error, self.plan, id, count))?;
            count += 1;
        }
        error::check_count(self.plan, id, count)?;
        self.end_run(id, count)?;
        self.set(count_slot, count);
        Ok(())
    }

    /// Whether a particle that has occurred so often in a row may occur once more.
    fn may_repeat(&self, id: ParticleId, count: u64, max: u64) -> bool {
        match self.joined.last() {
            Some(joined) if self.plan.particle(id).joins_runs => joined.fewest < joined.limit,
            _ => count < max,
        }
    }

    /// The most occurrences of a particle in a row.
    fn most(&self, id: ParticleId) -> u64 {
        let particle = self.plan.particle(id);
        let mut most = particle.max;
        let counts = particle.counts.as_deref().filter(|_| particle.is_run);
        if let (Some(counts), Some(&around)) = (counts, self.joined.last()) {
            let most_of_one = counts.most_of_one();
            most = most.min(around.left().saturating_mul(most_of_one));
        }
        match most {
            UNBOUNDED => u64::MAX,
            most => most.into(),
        }
    }

    /// Ends the occurrences of a particle: checks the number of those that have runs, and adds a run to the group around it.
    fn end_run(&mut self, id: ParticleId, count: u64) -> Result<()> {
        let particle = self.plan.particle(id);
        let count = u32::try_from(count).unwrap_or(u32::MAX);
        let (mut fewest, mut most) = (count, count);
        if particle.joins_runs
            && let Some(joined) = self.joined.pop()
        {
            (fewest, most) = (joined.fewest, joined.most);
            error::check_runs(self.plan, id, (fewest, most))?;
            let is_full = fewest >= joined.limit && self.source.enters(self.plan, id);
            if is_full && !self.full.contains(&id) {
                self.full.push(id);
            }
        }
        if count > 0
            && let Some(run) = particle.run_of(fewest, most)
            && let Some(around) = self.joined.last_mut()
        {
            around.add_run(run);
        }
        Ok(())
    }

    /// Places the children of a branch of a choice.
    fn chosen(&mut self, choice: ParticleId, index: usize, branch: ParticleId) -> Result<()> {
        let plan = self.plan;
        if plan.particle(choice).joins_runs
            && !plan.particle(branch).is_run
            && let Some(joined) = self.joined.last_mut()
        {
            joined.add_occurrence();
        }
        self.push(1 + index as u64);
        self.particle(branch)
    }

    /// Places all values of an array at once, if possible. Returns how many.
    fn column(&mut self, id: ParticleId, max: u64) -> Result<u64> {
        let plan = self.plan;
        let Term::Element(element) = plan.particle(id).term else {
            return Ok(0);
        };
        let Some(index) = self.source.index(plan, element) else {
            return Ok(0);
        };
        let queue = self.source.queues[index];
        if self.source.order.is_some()
            || self.source.log.is_some()
            || queue.next > 0
            || queue.length as u64 > max
        {
            return Ok(0);
        }
        let Some(values) = queue.value else {
            return Ok(0);
        };
        let Some(out) = &mut self.out else {
            return Ok(0);
        };
        let key = &self.source.shape.children[index].key;
        let taken = out.numbers(element, values);
        if !taken.map_err(|error| error.inside(&**key))? {
            return Ok(0);
        }
        self.source.queues[index].next = queue.length;
        Ok(queue.length as u64)
    }

    /// Places the children of a term, without the markers of its particle.
    fn occurrence(&mut self, id: ParticleId, presence: Presence) -> Result<()> {
        let plan = self.plan;
        match &plan.particle(id).term {
            Term::Element(element) => {
                self.took(id);
                self.element(*element, presence)
            }
            Term::Any(_) if self.source.has(Head::Any) => match self.source.take(Head::Any) {
                Some((value, nth)) => {
                    self.took(id);
                    let done = self.out.as_mut().map(|out| out.fragment(&value, id));
                    done.unwrap_or(Ok(()))
                        .map_err(|error| error.inside(format!("#any[{nth}]")))
                }
                None => Ok(()),
            },
            Term::Any(_) => Err(BuildErrorKind::Missing {
                name: "#any".to_owned(),
                ty: "an element as XML".to_owned(),
            }
            .into()),
            group => {
                self.out.as_mut().map_or(Ok(()), |out| out.enter_group())?;
                let result = self.group(id, group);
                if let Some(out) = &mut self.out {
                    out.groups -= 1;
                }
                result
            }
        }
    }

    /// Places the children of a group.
    fn group(&mut self, id: ParticleId, term: &Term) -> Result<()> {
        let plan = self.plan;
        match term {
            Term::Sequence(children) => {
                if plan.particle(id).joins_runs
                    && let Some(joined) = self.joined.last_mut()
                {
                    joined.add_occurrence();
                }
                let mut children = plan.group(children).iter();
                children.try_for_each(|&child| self.particle(child))
            }
            Term::Choice(children) => {
                let children = plan.group(children);
                let found = self.source.branch(plan, children);
                match found.map(|index| (index, children[index])) {
                    Some((index, child)) => self.chosen(id, index, child),
                    None => self.nothing_chosen(id),
                }
            }
            Term::All(children) => self.all(plan.group(children)),
            Term::Element(_) | Term::Any(_) => Ok(()),
        }
    }

    fn took(&mut self, id: ParticleId) {
        if self.out.is_none() {
            self.took.push(id);
        }
    }

    fn nothing_chosen(&mut self, id: ParticleId) -> Result<()> {
        let plan = self.plan;
        if plan.particle(id).is_emptiable {
            self.push(0);
            return Ok(());
        }
        Err(error::missing_choice(plan, id))
    }

    fn element(&mut self, id: ElementId, presence: Presence) -> Result<()> {
        let index = self
            .source
            .index(self.plan, id)
            .filter(|&index| self.source.has(Head::Child(index)));
        let Some(index) = index else {
            return match &mut self.out {
                Some(out) => out.missing(id, presence),
                None => {
                    let name = self.plan.element(id).name;
                    let name = self.plan.vocabulary.local(name).to_owned();
                    let ty = String::new();
                    Err(BuildErrorKind::Missing { name, ty }.into())
                }
            };
        };
        let Some((value, nth)) = self.source.take(Head::Child(index)) else {
            return Ok(());
        };
        let Some(out) = &mut self.out else {
            return Ok(());
        };
        let child = &self.source.shape.children[index];
        out.element(id, &value, presence).map_err(|error| {
            error.inside(if child.repeats {
                format!("{}[{nth}]", child.key)
            } else {
                child.key.to_string()
            })
        })
    }

    fn all(&mut self, children: &[ParticleId]) -> Result<()> {
        let count_slot = self.reserve();
        let mut seen = vec![false; children.len()];
        let mut count = match self.source.order {
            Some(_) => self.all_in_order(children, &mut seen)?,
            None => self.all_given(children, &mut seen)?,
        };
        for (index, &child) in children.iter().enumerate() {
            if !seen[index] && !self.plan.particle(child).is_emptiable {
                self.all_child(index, child)?;
                count += 1;
            }
        }
        self.set(count_slot, count);
        Ok(())
    }

    /// Places the children of an `all` that are given, in schema order. Returns how many.
    fn all_given(&mut self, children: &[ParticleId], seen: &mut [bool]) -> Result<u64> {
        let mut count = 0;
        for (index, &child) in children.iter().enumerate() {
            if self.source.enters(self.plan, child) {
                seen[index] = true;
                self.all_child(index, child)?;
                count += 1;
            }
        }
        Ok(count)
    }

    /// Places the children of an `all` in the order given. Returns how many.
    fn all_in_order(&mut self, children: &[ParticleId], seen: &mut [bool]) -> Result<u64> {
        let elements = self.all_elements(children);
        let mut count = 0;
        loop {
            let is_next =
                |&index: &usize| !seen[index] && self.source.enters(self.plan, children[index]);
            let element = self
                .source
                .next_child()
                .and_then(|child| elements.get(&child));
            let found = element.copied().filter(is_next);
            // Only what is no element, or the end, is searched for.
            let Some(index) = found.or_else(|| (0..children.len()).find(is_next)) else {
                return Ok(count);
            };
            seen[index] = true;
            self.all_child(index, children[index])?;
            count += 1;
        }
    }

    /// The elements among the children of an `all`, by their index in the shape.
    fn all_elements(&self, children: &[ParticleId]) -> HashMap<usize, usize> {
        let elements = children.iter().enumerate().filter_map(|(index, &child)| {
            let Term::Element(element) = self.plan.particle(child).term else {
                return None;
            };
            Some((self.source.index(self.plan, element)?, index))
        });
        elements.collect()
    }

    fn all_child(&mut self, index: usize, child: ParticleId) -> Result<()> {
        self.push(1 + index as u64);
        if self.plan.particle(child).repeats() {
            self.repeated(child)
        } else {
            self.occurrence(child, Presence::Named)
        }
    }
}

/// The order that children get without `#order`, given the number of children of each name; `None` if they do not fit the
/// content model.
pub(crate) fn canonical(
    plan: &Plan,
    ty: TypeId,
    particle: ParticleId,
    children: &[usize],
    any: usize,
) -> Option<Vec<Head>> {
    let shape = plan.shapes().of(ty);
    let queue = |&length: &usize| Queue {
        length,
        ..Queue::default()
    };
    let queues = children.iter().map(queue).collect();
    let source = GivenChildren {
        shape,
        queues,
        near: Cell::new(0),
        any: queue(&any),
        order: None,
        log: Some(Vec::new()),
    };
    let mut placer = Placer::without_values(plan, source);
    placer.particle(particle).ok()?;
    if placer.source.left() > 0 {
        None
    } else {
        placer.source.log
    }
}

/// The particles that take these children, in this order. An error if they do not fit the content model.
pub(crate) fn check(
    plan: &Plan,
    ty: TypeId,
    particle: ParticleId,
    heads: Vec<Head>,
) -> Result<Vec<ParticleId>> {
    let shape = plan.shapes().of(ty);
    let mut queues: SmallVec<[Queue<'_>; 12]> = smallvec![Queue::default(); shape.children.len()];
    let mut any = Queue::default();
    for head in &heads {
        match head {
            Head::Child(index) => queues[*index].length += 1,
            Head::Any => any.length += 1,
        }
    }
    let source = GivenChildren {
        shape,
        queues,
        near: Cell::new(0),
        any,
        order: Some(Order::new(heads)),
        log: None,
    };
    let mut placer = Placer::without_values(plan, source);
    placer.particle(particle)?;
    placer.finish()?;
    Ok(placer.took)
}
