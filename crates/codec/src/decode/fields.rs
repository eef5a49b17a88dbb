//! The single values of a sequence: read in a row, by instructions that need no table.
//!
//! ```text
//! <order> <id>│7│</id> <name>│…│</name>     <due>│…│</due> <customer>…
//!         open  value  close                 └ open         └ no single value: for the others
//!                           └ <note>, which may be left out, does not stand here
//! ```
//!
//! Once the tags of a sequence's children are known, each child is an instruction: compare the start tag, write what
//! precedes the value, read the value, compare the end tag. What may be left out and is not there costs one compare. The
//! state behind a child is that which the road tag by tag leaves behind it.

use bsoap_xml::{ScopeId, State};

use super::sink::Sink;
use crate::plan::{ParticleId, Plan, Term};

use super::builder::Builder;
use super::fast::InScope;
use super::frame::{Frame, Last};
use super::learned::{Learned, What};
use super::options::DecodeOptions;
use super::piece::Piece;
use super::rows::{self, Field};
use super::run::Run;
use super::spelling::Spelling;

/// More children are left to the road tag by tag.
const MOST: usize = 128;

/// Longer tags, too: what is learned has a bound.
const LONGEST: usize = 128;

/// A sequence in which so much was in vain is not tried any more.
const TRIES: u32 = 32;

/// What is known of a sequence's children.
#[derive(Debug, Default)]
pub(super) struct Sequence {
    fields: Option<Box<Fields>>,
    /// How often it ended at a child that is a single value: one in every power of two is a reason to look again at what
    /// has been learned.
    stops: u32,
    /// The same, less what went well.
    misses: u32,
}

/// The children of a sequence, as they are spelled in a scope.
#[derive(Debug)]
pub(super) struct Fields {
    scope: ScopeId,
    children: Box<[Child]>,
}

/// A child of a sequence.
#[derive(Debug)]
struct Child {
    /// If it is a single value, and its tags are known: its start tag, and what is between that and the end tag.
    value: Option<(Spelling, Field)>,
    /// If it may be left out: the slots that it has then.
    absent: Option<u64>,
    /// Whether it is a single value.
    is_single: bool,
}

impl Sequence {
    /// Whether it is not worth a try.
    #[inline]
    fn is_vain(&self) -> bool {
        self.misses >= TRIES
    }

    pub(super) fn learn(&mut self, fields: Option<Fields>) {
        if fields.is_none() {
            // Where there is no single value, there never will be.
            self.misses = TRIES;
        }
        self.fields = fields.map(Box::new);
    }

    /// All values were read that could be.
    #[inline]
    fn went_well(&mut self) {
        self.misses /= 2;
    }

    /// A child that is a single value was not recognised. Whether it is time to look again at what has been learned.
    fn stopped(&mut self, is_known: bool) -> bool {
        self.stops = self.stops.saturating_add(1);
        self.misses = self.misses.saturating_add(u32::from(is_known));
        let is_time =
            self.stops.is_power_of_two() || (self.stops < 64 && self.stops.is_multiple_of(4));
        is_time && !self.is_vain()
    }

    /// About how many bytes it holds.
    pub(super) fn memory(&self) -> usize {
        let each = size_of::<Child>() + 4 * LONGEST;
        let fields = self.fields.as_ref();
        fields.map_or(0, |fields| fields.children.len() * each)
    }
}

/// How a row of children came to its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum End {
    /// No other single value could follow.
    Well,
    /// Before one whose tags are not known,
    Unknown,
    /// or that is spelled otherwise.
    Otherwise,
}

impl<S: Sink> Run<'_, S> {
    /// The single values that come next in a sequence, as far as their tags are known: where they end, if there was one.
    #[inline]
    pub(super) fn fast_fields(&mut self, window: &Piece<'_>, at: usize) -> Option<usize> {
        let Some(Frame::Group(group)) = self.builder.machine.frames.last() else {
            return None;
        };
        let particle = group.particle;
        let known = self.learned.sequence(particle);
        if known.is_some_and(Sequence::is_vain) {
            return None;
        }
        let fields = known.and_then(|known| known.fields.as_deref());
        let Some(fields) = fields.filter(|fields| fields.scope == self.reader.scope()) else {
            self.learn_fields(particle, End::Unknown);
            return None;
        };
        if self.reader.depth() + 2 > self.builder.options.limits.depth {
            return None;
        }
        let bindings = InScope(self.scopes, fields.scope);
        let (to, end) = values(
            &mut self.builder,
            self.reader,
            fields,
            window,
            at,
            &bindings,
        );
        match end {
            End::Well => self.learned.sequence_mut(particle).went_well(),
            _ => self.learn_fields(particle, end),
        }
        (to > at).then_some(to)
    }

    #[cold]
    #[inline(never)]
    fn learn_fields(&mut self, sequence: ParticleId, end: End) {
        let known = self.learned.sequence_mut(sequence);
        if !known.stopped(end == End::Otherwise) {
            return;
        }
        let Some(parent) = self.builder.innermost().map(|frame| frame.particle) else {
            return;
        };
        let (plan, options) = (self.builder.plan, self.builder.options);
        let scope = self.reader.scope();
        let fields = Fields::new(plan, options, self.learned, (parent, sequence), scope);
        self.learned.learn_sequence(sequence, fields);
    }
}

/// Reads the values of a sequence's children that stand here: where they end, and why there.
#[inline]
fn values<S: Sink>(
    builder: &mut Builder<'_, S>,
    reader: &State,
    fields: &Fields,
    window: &Piece<'_>,
    mut at: usize,
    bindings: &InScope<'_>,
) -> (usize, End) {
    let bytes = window.text.as_bytes();
    let Some(Frame::Group(group)) = builder.machine.frames.last() else {
        return (at, End::Well);
    };
    let mut next = group.at as usize;
    loop {
        let (index, absent, open, field) = match fields.here(next, bytes, at) {
            Ok(found) => found,
            Err(end) => return (at, end),
        };
        if builder.check_room(0).is_err() || builder.is_there() {
            return (at, End::Well);
        }
        builder.note(reader, window.base + at as u64);
        let (slots, heap) = (builder.record.slots.len(), builder.record.heap.len());
        builder.absent(absent, false);
        if let Some(marker) = field.marker {
            builder.record.push(marker);
        }
        let from = at + open.len();
        let (leaf, close) = (field.leaf, &field.close);
        let Some(to) = builder.value_before(window, leaf, from, close, field.has_default, bindings)
        else {
            builder.record.slots.truncate(slots);
            builder.record.heap.truncate(heap);
            return (at, End::Otherwise);
        };
        at = to + close.len();
        next = index + 1;
        if let Some(Frame::Group(group)) = builder.machine.frames.last_mut() {
            group.at = next as u32;
        }
        builder.machine.last = Last::closed(field.particle);
        builder.machine.tag_end = window.base + at as u64;
    }
}

impl Fields {
    /// The children of a sequence of an element that came through `parent`; `None` if there is no single value among them.
    #[cold]
    pub(super) fn new(
        plan: &Plan,
        options: &DecodeOptions,
        learned: &Learned,
        (parent, sequence): (ParticleId, ParticleId),
        scope: ScopeId,
    ) -> Option<Self> {
        let Term::Sequence(children) = &plan.particle(sequence).term else {
            return None;
        };
        let children = plan.group(children);
        if children.len() > MOST {
            return None;
        }
        let child = |(index, &id): (usize, &ParticleId)| {
            let particle = plan.particle(id);
            let is_plain = particle.is_emptiable && particle.first.wildcards().next().is_none();
            let field = rows::field(plan, options, id);
            Child {
                is_single: field.is_some(),
                absent: is_plain.then_some(u64::from(particle.absent)),
                value: field.and_then(|field| {
                    spelled(plan, learned, (parent, &children[..index]), field, scope)
                }),
            }
        };
        let children: Box<[Child]> = children.iter().enumerate().map(child).collect();
        let has_some = children.iter().any(|child| child.is_single);
        has_some.then_some(Self { scope, children })
    }

    /// The child that stands at a place, the slots of those left out before it, its start tag and what it is.
    #[inline(always)]
    fn here(
        &self,
        next: usize,
        bytes: &[u8],
        at: usize,
    ) -> Result<(usize, u64, &Spelling, &Field), End> {
        let (mut absent, mut end) = (0, End::Well);
        for (index, child) in self.children.iter().enumerate().skip(next) {
            match &child.value {
                Some((open, field)) if open.stands_at(bytes, at) => {
                    return Ok((index, absent, open, field));
                }
                Some(_) if end == End::Well => end = End::Otherwise,
                None if child.is_single => end = End::Unknown,
                _ => {}
            }
            match child.absent {
                Some(slots) => absent += slots,
                None if child.is_single => return Err(end),
                None => break,
            }
        }
        // What may be left out, and could be told if it were there, is left out.
        Err(match end {
            End::Unknown => end,
            _ => End::Well,
        })
    }
}

/// A field with its tags, as they have been met behind one of those that may stand before it.
fn spelled(
    plan: &Plan,
    learned: &Learned,
    (parent, before): (ParticleId, &[ParticleId]),
    mut field: Field,
    scope: ScopeId,
) -> Option<(Spelling, Field)> {
    let element = plan.element(field.element);
    // The first child of a name takes it.
    if before
        .iter()
        .any(|&id| plan.particle(id).first.named(element.name).is_some())
    {
        return None;
    }
    let closed = before.iter().rev().map(|&id| Last::closed(id));
    let known = closed
        .chain([Last::opened(parent)])
        .flat_map(|last| learned.after(last))
        .filter_map(|&id| learned.tag(id));
    for known in known {
        if let What::Start(start) = &known.what
            && start.name == element.name
            && start.is_plain((field.element, element.ty))
            && start.inner == scope
            && known.scope == scope
            && known.spelling.len().max(start.close.len()) <= LONGEST
        {
            field.close = start.close.clone();
            return Some((known.spelling.clone(), field));
        }
    }
    None
}
