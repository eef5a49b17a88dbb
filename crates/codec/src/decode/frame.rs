//! The state of decoding a message: an explicit stack, stored as data.
//!
//! ```text
//! /Envelope/Body/order          Element order     entered its content model
//!                               Group   sequence  at child 4
//!                               Group   item*     3 so far
//!         /item[3]              Element item
//!                               Group   sequence  at child 1
//!         /quantity             Element quantity  a leaf, "12" so far
//! ```

use std::ops::Deref;

use bsoap_xml::State;

use crate::plan::{ElementId, LeafId, Particle, ParticleId, Plan, Term, TypeId};
use crate::record::Record;

use super::fragment::Fragment;
use super::links::Links;

/// No particle: the root element has none.
pub(super) const NO_PARTICLE: ParticleId = ParticleId(u32::MAX);

/// What a decoder remembers between two events, beside the reader's own state.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Machine {
    /// The element the message must be.
    pub(super) root: ElementId,
    /// The elements open and where in their content models they are.
    pub(super) frames: Frames,
    /// Which children of the open `all` groups have occurred, a bit each. Each group knows where its words begin.
    pub(super) seen: Vec<u64>,
    /// The character data of the innermost element so far.
    pub(super) text: Gathered,
    /// The XML that is being copied, if the innermost element belongs to a wildcard or `anyType`.
    pub(super) fragment: Option<Box<Fragment>>,
    /// What checks the XML that is being copied.
    pub(super) check: Option<Box<Check>>,
    /// The number of open elements that are skipped.
    pub(super) skipping: u32,
    /// What is remembered of an encoded message until it ends.
    pub(super) links: Option<Box<Links>>,
    /// Where the last tag ended.
    pub(super) tag_end: u64,
    /// Whether the root element has ended.
    pub(super) done: bool,
}

/// The reading of an element that is kept as XML, to check it.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Check {
    pub(super) machine: Machine,
    pub(super) record: Record,
    /// The names of the undeclared elements that are open, and maybe of some that were, outermost first.
    pub(super) names: Vec<UndeclaredName>,
}

/// The name of an undeclared element.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct UndeclaredName {
    /// How many levels are open around it.
    pub(super) level: usize,
    pub(super) local: Box<str>,
}

impl Check {
    fn memory(&self) -> usize {
        let names = self.names.iter().map(|name| name.local.len());
        size_of::<Self>()
            + self.machine.memory()
            + self.record.memory()
            + self.names.capacity() * size_of::<UndeclaredName>()
            + names.sum::<usize>()
    }
}

impl Machine {
    /// The state before the first byte of a message.
    pub(super) fn new(root: ElementId) -> Self {
        Self {
            root,
            frames: Frames::default(),
            seen: Vec::new(),
            text: Gathered::default(),
            fragment: None,
            check: None,
            skipping: 0,
            links: None,
            tag_end: 0,
            done: false,
        }
    }

    /// About how many bytes it holds beyond its own size.
    pub(super) fn memory(&self) -> usize {
        self.frames.memory()
            + self.seen.capacity() * size_of::<u64>()
            + self.text.value.capacity()
            + self.fragment.as_ref().map_or(0, |it| it.memory())
            + self.check.as_ref().map_or(0, |it| it.memory())
    }

    /// The kind of content of the innermost level; `None` if that is no element.
    #[inline]
    pub(super) fn inside(&self) -> Option<Inside> {
        match self.frames.last() {
            Some(Frame::Element(frame)) => Some(frame.inside),
            _ => None,
        }
    }

    /// Sets this state to that of a copy, with its levels changed by `change`. The copy was made where no text and no
    /// fragment had begun.
    pub(super) fn restore(&mut self, copy: &Self, mut change: impl FnMut(&mut Frame)) {
        self.frames.replace(copy.frames.iter().map(|frame| {
            let mut frame = *frame;
            change(&mut frame);
            frame
        }));
        self.seen.clear();
        self.seen.extend_from_slice(&copy.seen);
        self.text.clear();
        self.links.clone_from(&copy.links);
        (self.fragment, self.check) = (None, None);
        (self.skipping, self.done) = (0, copy.done);
    }

    /// Closes the elements and groups deeper than `levels`, here and in the reader. The state is then that at `offset`,
    /// right behind an end tag.
    pub(super) fn cut_to(&mut self, reader: &mut State, plan: &Plan, levels: usize, offset: u64) {
        for frame in self.frames.get(levels..).unwrap_or_default().iter().rev() {
            match frame {
                Frame::Element(_) => reader.close(0),
                Frame::Group(group)
                    if matches!(plan.particle(group.particle).term, Term::All(_)) =>
                {
                    self.seen.truncate(group.seen as usize);
                }
                Frame::Group(_) => {}
            }
        }
        reader.skip(0);
        reader.move_by(offset.wrapping_sub(reader.offset()));
        self.frames.truncate(levels);
        self.tag_end = offset;
    }

    /// Sets it to the state before the first byte of a message; keeps the memory.
    pub(super) fn restart(&mut self, root: ElementId) {
        self.root = root;
        self.frames.clear();
        self.seen.clear();
        self.text.clear();
        (self.fragment, self.check) = (None, None);
        self.links = None;
        (self.skipping, self.tag_end, self.done) = (0, 0, false);
    }
}

/// The levels of the stack. It knows how many of the lowest levels have not been touched since [`watch`](Self::watch) was
/// called: these are the same as in a copy made then (the *tracking pointer* of the papers).
#[derive(Clone, Debug, Default)]
pub(super) struct Frames {
    levels: Vec<Frame>,
    same: usize,
}

impl PartialEq for Frames {
    fn eq(&self, other: &Self) -> bool {
        self.levels == other.levels
    }
}

impl Deref for Frames {
    type Target = [Frame];

    #[inline(always)]
    fn deref(&self) -> &[Frame] {
        &self.levels
    }
}

impl Frames {
    #[inline]
    pub(super) fn push(&mut self, frame: Frame) {
        self.levels.push(frame);
    }

    #[inline]
    pub(super) fn pop(&mut self) -> Option<Frame> {
        let top = self.levels.pop();
        self.touch(self.levels.len());
        top
    }

    #[inline]
    pub(super) fn last_mut(&mut self) -> Option<&mut Frame> {
        self.touch(self.levels.len().saturating_sub(1));
        self.levels.last_mut()
    }

    #[inline]
    pub(super) fn get_mut(&mut self, level: usize) -> Option<&mut Frame> {
        self.touch(level);
        self.levels.get_mut(level)
    }

    /// The innermost `levels` levels; an empty slice if there are fewer.
    pub(super) fn top_mut(&mut self, levels: usize) -> &mut [Frame] {
        match self.levels.len().checked_sub(levels) {
            Some(from) => {
                self.touch(from);
                &mut self.levels[from..]
            }
            None => &mut [],
        }
    }

    /// The innermost element open.
    pub(super) fn innermost_mut(&mut self) -> Option<&mut ElementFrame> {
        let is_element = |frame: &Frame| matches!(frame, Frame::Element(_));
        let level = self.levels.iter().rposition(is_element)?;
        match self.get_mut(level) {
            Some(Frame::Element(frame)) => Some(frame),
            _ => None,
        }
    }

    /// Replaces all levels. Levels that stay the same count as not touched.
    pub(super) fn replace(&mut self, frames: impl Iterator<Item = Frame>) {
        let mut level = 0;
        for frame in frames {
            match self.levels.get_mut(level) {
                Some(own) if *own == frame => {}
                Some(own) => {
                    *own = frame;
                    self.same = self.same.min(level);
                }
                None => self.levels.push(frame),
            }
            level += 1;
        }
        self.truncate(level);
    }

    pub(super) fn all_mut(&mut self) -> &mut [Frame] {
        self.same = 0;
        &mut self.levels
    }

    pub(super) fn extend_from_slice(&mut self, frames: &[Frame]) {
        self.levels.extend_from_slice(frames);
    }

    pub(super) fn clear(&mut self) {
        self.same = 0;
        self.levels.clear();
    }

    pub(super) fn truncate(&mut self, levels: usize) {
        self.levels.truncate(levels);
        self.touch(levels);
    }

    #[inline]
    fn touch(&mut self, level: usize) {
        self.same = self.same.min(level);
    }

    /// Starts tracking: from now on all levels count as not touched.
    pub(super) fn watch(&mut self) {
        self.same = self.levels.len();
    }

    /// The number of lowest levels that have not been touched since tracking started.
    #[inline]
    pub(super) fn same(&self) -> usize {
        self.same
    }

    /// Bytes held.
    pub(super) fn memory(&self) -> usize {
        self.levels.capacity() * size_of::<Frame>()
    }
}

/// Character data that may come in pieces.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Gathered {
    /// The characters so far.
    pub(super) value: String,
    /// Where the first piece began; meaningful if `begun`.
    pub(super) from: u64,
    /// Where the last piece ended.
    pub(super) to: u64,
    /// Whether there was a piece, even an empty one.
    pub(super) begun: bool,
}

impl Gathered {
    /// Adds a piece that is at `from..to` in the message.
    pub(super) fn add(&mut self, piece: &str, from: u64, to: u64) {
        if !self.begun {
            (self.from, self.begun) = (from, true);
        }
        self.to = to;
        self.value.push_str(piece);
    }

    pub(super) fn clear(&mut self) {
        self.value.clear();
        self.begun = false;
        (self.from, self.to) = (0, 0);
    }
}

/// A level of the stack.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Frame {
    /// An element is open.
    Element(ElementFrame),
    /// A group, or an element that repeats, has begun and may go on.
    Group(GroupFrame),
}

/// An open element.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ElementFrame {
    pub(super) element: ElementId,
    /// The particle that it belongs to; [`NO_PARTICLE`] for the root.
    pub(super) particle: ParticleId,
    /// Its actual type.
    pub(super) ty: TypeId,
    /// What is between its tags.
    pub(super) inside: Inside,
}

/// What is between the tags of an open element.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Inside {
    /// Nothing.
    Empty,
    /// A simple value.
    Leaf(LeafId),
    /// Elements. `entered`: whether there has been one.
    Model { particle: ParticleId, entered: bool },
    /// Elements and text. It has the slot of the count of items, and the count so far.
    Mixed {
        particle: ParticleId,
        entered: bool,
        marker: u32,
        items: u32,
    },
    /// Anything, copied.
    Any,
}

/// A group that has begun.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct GroupFrame {
    pub(super) particle: ParticleId,
    /// The number of occurrences begun.
    pub(super) count: u32,
    /// The slot of this number, if the particle repeats.
    pub(super) marker: u32,
    /// Of a sequence: the index of the next child. Of an `all`: the number of children so far.
    pub(super) at: u32,
    /// Of an `all`: the slot of the count of children. Of a group that joins runs: the fewest occurrences that it can have so far.
    pub(super) children: u32,
    /// Of an `all`: where its words in `seen` begin. Of a group that joins runs: the most occurrences that it can have so far.
    pub(super) seen: u32,
    /// Whether it is in mixed content, where items have markers and groups have none.
    pub(super) silent: bool,
}

impl GroupFrame {
    /// A sequence that occurs exactly once, at its beginning. It has no marker.
    pub(super) fn once(particle: ParticleId) -> Self {
        Self {
            particle,
            count: 1,
            marker: 0,
            at: 0,
            children: 0,
            seen: 0,
            silent: false,
        }
    }

    /// The fewest and the most occurrences so far. `run`: those that an open run of a child is.
    #[inline]
    pub(super) fn occurrences(&self, particle: &Particle, run: Option<(u32, u32)>) -> (u32, u32) {
        match particle.joins_runs {
            true => {
                let mut group = *self;
                if let Some(run) = run {
                    group.add_run(particle, run);
                }
                (group.children, group.seen)
            }
            false => (self.count, self.count),
        }
    }

    /// Adds an occurrence to a group that joins runs.
    pub(super) fn add_occurrence(&mut self) {
        self.children = self.children.saturating_add(1);
        self.seen = self.seen.saturating_add(1);
    }

    /// Adds a run of a child to a group that joins runs: the fewest and the most occurrences that it can be. In a sequence, the
    /// first of them has been added already.
    pub(super) fn add_run(&mut self, particle: &Particle, run: (u32, u32)) {
        let first = u32::from(matches!(particle.term, Term::Sequence(_)));
        self.children = self.children.saturating_add(run.0.saturating_sub(first));
        self.seen = self.seen.saturating_add(run.1.saturating_sub(first));
    }
}

/// Where an element belongs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Target {
    /// It belongs to an element particle. If `optional`, a marker says that it is present.
    Element {
        element: ElementId,
        particle: ParticleId,
        optional: bool,
    },
    /// It belongs to a wildcard, whose markers have been written.
    Any { particle: ParticleId },
}
