//! The check of a Record that is to be sent: that its texts are lexical forms, listed by their enumerations.
//!
//! A sequence is a list of [segments](Segment): how many slots to pass over, and what to check between them.

use bsoap_datatypes::qname::NoNamespaces;
use bsoap_datatypes::{Datatype, Decimal, Variety, datetime};

use crate::decode::Validation;
use crate::encode::{Error, ErrorKind};
use crate::plan::{
    Checks, Content, ElementId, Leaf, LeafId, LeafKind, ParticleId, Plan, Segment, Term, TypeId,
};
use crate::record::walk::{Event, Mismatch, Walk, named};
use crate::record::{Record, Unchecked, marker, path};
use crate::value::view::LeafView;

/// A value that must not be sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct WrongValue {
    pub(crate) slot: usize,
    /// What is wrong with it.
    pub(crate) problem: String,
}

impl Record {
    /// Checks the texts of a message that is to be sent: each must be a lexical form of its type, and a value of its enumeration
    /// if it has one. Numbers always have a lexical form. A Record that was built of a [`Value`](crate::Value) or decoded
    /// without [warnings](Self::warnings), and not changed since, is not looked at again.
    ///
    /// # Errors
    /// [`encode::ErrorKind::Value`](crate::encode::ErrorKind::Value) for the first text that is wrong, with its path.
    #[inline]
    pub fn check(&self) -> Result<(), Error> {
        match self.unchecked {
            Unchecked::None => Ok(()),
            unchecked => check(self, unchecked, Validation::Lexical),
        }
    }

    /// As [`check`](Self::check); with full validation, also that each value has all facets of its type. Then the Record is
    /// always looked at.
    ///
    /// # Errors
    /// As [`check`](Self::check).
    #[inline]
    pub fn check_with(&self, validation: Validation) -> Result<(), Error> {
        match validation {
            Validation::Lexical => self.check(),
            Validation::Full => check(self, Unchecked::All, validation),
        }
    }
}

/// Checks all texts of a Record. One that does not fit its Plan is left to the encoder, which reports it.
#[inline(never)]
fn check(record: &Record, unchecked: Unchecked, validation: Validation) -> Result<(), Error> {
    match find(record, unchecked, validation) {
        Ok(()) | Err(Stop::Mismatch | Stop::Deep) => Ok(()),
        Err(Stop::Wrong(WrongValue { slot, problem })) => {
            let path = path::of_slot(record, slot);
            Err(Error::new(ErrorKind::Value(problem), slot, path))
        }
    }
}

/// The first wrong value.
fn find(record: &Record, unchecked: Unchecked, validation: Validation) -> Result<(), Stop> {
    let plan = &*record.plan;
    if record.root.index() >= plan.elements.len() {
        return Err(Stop::Mismatch);
    }
    let mut checker = Checker {
        record,
        plan,
        checks: plan.checks(validation),
        validation,
        at: 0,
        depth: 0,
    };
    let checked = match unchecked {
        Unchecked::None => return Ok(()),
        Unchecked::Content(ty, at) => {
            checker.at = at;
            checker.ty(ty)
        }
        Unchecked::All if !checker.checks.element(plan, record.root) => return Ok(()),
        Unchecked::All => checker.element(record.root),
    };
    match checked {
        Err(Stop::Deep) => checker.walk(Walk::new(record)?.0),
        checked => checked,
    }
}

/// Why a check ended early.
enum Stop {
    /// The slots do not fit the Plan.
    Mismatch,
    /// Elements or groups nest too deep for the recursion.
    Deep,
    Wrong(WrongValue),
}

impl From<Mismatch> for Stop {
    fn from(_: Mismatch) -> Self {
        Self::Mismatch
    }
}

impl From<WrongValue> for Stop {
    fn from(wrong: WrongValue) -> Self {
        Self::Wrong(wrong)
    }
}

/// Elements and groups nest no deeper in the recursion; a walk has a stack of its own.
const MAX_RECURSION: usize = 128;

/// Checks the values of a Record in order. A [walk](Walk) visits every slot, which takes three times as long as encoding an
/// order (benchmark `api-out`); this passes over those that need no check.
struct Checker<'r> {
    record: &'r Record,
    plan: &'r Plan,
    checks: &'r Checks,
    validation: Validation,
    at: usize,
    depth: usize,
}

impl Checker<'_> {
    #[inline]
    fn read(&mut self) -> Result<u64, Stop> {
        let slot = *self.record.slots.get(self.at).ok_or(Stop::Mismatch)?;
        self.at += 1;
        Ok(slot)
    }

    #[inline]
    fn skip(&mut self, slots: usize) -> Result<(), Stop> {
        let at = self.at.checked_add(slots).ok_or(Stop::Mismatch)?;
        if at > self.record.slots.len() {
            return Err(Stop::Mismatch);
        }
        self.at = at;
        Ok(())
    }

    fn deeper(&mut self) -> Result<(), Stop> {
        self.depth += 1;
        match self.depth > MAX_RECURSION {
            true => Err(Stop::Deep),
            false => Ok(()),
        }
    }

    /// Checks the attributes and the content of an element.
    fn ty(&mut self, id: TypeId) -> Result<(), Stop> {
        let plan = self.plan;
        let ty = plan.ty(id);
        if let (false, Some(stride)) = (self.checks.ty(id), ty.stride) {
            return self.skip(stride as usize);
        }
        self.deeper()?;
        for attribute in ty.attribute_ids() {
            let attribute = plan.attribute(attribute);
            let is_absent = !attribute.required && self.read()? == marker::ABSENT;
            self.leaf(attribute.leaf, !is_absent)?;
        }
        if ty.any_attribute.is_some() {
            self.skip(1)?;
        }
        match &ty.content {
            Content::Empty => {}
            Content::Simple(leaf) => self.leaf(*leaf, true)?,
            Content::Particle(particle) => self.particle(*particle)?,
            Content::Mixed { elements, .. } => {
                let elements = plan.group(elements);
                for _ in 0..self.read()? {
                    match self.read()? {
                        0 => self.skip(1)?,
                        marker => self.occurrence(named(elements, marker)?)?,
                    }
                }
            }
            Content::Any => self.skip(1)?,
        }
        self.depth -= 1;
        Ok(())
    }

    /// Checks the value of a leaf, if it is present.
    fn leaf(&mut self, id: LeafId, is_present: bool) -> Result<(), Stop> {
        let at = self.at;
        self.skip(1)?;
        if let LeafKind::List(_) = self.plan.leaf(id).kind {
            let items = usize::try_from(self.record.slots[at]).map_err(|_| Stop::Mismatch)?;
            self.skip(items)?;
        }
        match is_present && self.checks.leaf(id) {
            true => self.value(id, at),
            false => Ok(()),
        }
    }

    #[inline]
    fn value(&self, id: LeafId, at: usize) -> Result<(), Stop> {
        let leaf = self.plan.leaf(id);
        if is_surely_right(leaf, self.record, at) && !(leaf.has_facets && self.is_full()) {
            return Ok(());
        }
        self.any_value(id, at)
    }

    fn is_full(&self) -> bool {
        self.validation == Validation::Full
    }

    #[inline(never)]
    fn any_value(&self, id: LeafId, at: usize) -> Result<(), Stop> {
        // The octets of an attachment are not looked at.
        if LeafView::new(self.record, id, at).attachment().is_some() {
            return Ok(());
        }
        check_leaf(self.record, id, at)?;
        match self.validation {
            Validation::Lexical => Ok(()),
            Validation::Full => Ok(check_facets(self.record, id, at)?),
        }
    }

    /// Checks a particle with its markers.
    fn particle(&mut self, id: ParticleId) -> Result<(), Stop> {
        let particle = self.plan.particle(id);
        if let (false, Some(stride)) = (self.checks.particle(id), particle.stride) {
            return self.skip(stride as usize);
        }
        if particle.repeats() {
            return self.repeated(id);
        }
        let has_state = match particle.term {
            Term::Element(element) => self.plan.element(element).has_state,
            _ => false,
        };
        if particle.min > 0 || has_state || matches!(particle.term, Term::Choice(_)) {
            return self.occurrence(id);
        }
        match (self.read()?, &particle.term) {
            (marker::PRESENT, _) => self.occurrence(id),
            (marker::ABSENT, Term::Any(_)) => self.skip(1),
            (marker::ABSENT, Term::Element(element)) => {
                self.skip(usize::from(self.plan.element(*element).is_scalar))
            }
            (marker::ABSENT, _) => Ok(()),
            _ => Err(Stop::Mismatch),
        }
    }

    fn repeated(&mut self, id: ParticleId) -> Result<(), Stop> {
        let (plan, count) = (self.plan, self.read()?);
        if let Term::Element(element) = plan.particle(id).term
            && let Some(stride) = plan.element(element).stride
            && !self.checks.particle(id)
        {
            let slots = count.checked_mul(stride.into());
            let slots = slots.and_then(|slots| usize::try_from(slots).ok());
            return self.skip(slots.ok_or(Stop::Mismatch)?);
        }
        for _ in 0..count {
            let before = self.at;
            self.occurrence(id)?;
            // Items without slots have nothing to check, however many there are.
            if self.at == before {
                break;
            }
        }
        Ok(())
    }

    /// Checks a term without the markers of its particle.
    fn occurrence(&mut self, id: ParticleId) -> Result<(), Stop> {
        let plan = self.plan;
        self.deeper()?;
        let checked = match &plan.particle(id).term {
            Term::Element(element) => self.element(*element),
            Term::Any(_) => self.skip(1),
            Term::Sequence(children) => match self.checks.segments(id) {
                Some(segments) => self.segments(segments),
                None => {
                    let mut children = plan.group(children).iter();
                    children.try_for_each(|&child| self.particle(child))
                }
            },
            Term::Choice(children) => match self.read()? {
                0 => Ok(()),
                marker => self.particle(named(plan.group(children), marker)?),
            },
            Term::All(children) => {
                let children = plan.group(children);
                for _ in 0..self.read()? {
                    let child = named(children, self.read()?)?;
                    match plan.particle(child).repeats() {
                        true => self.particle(child)?,
                        false => self.occurrence(child)?,
                    }
                }
                Ok(())
            }
        };
        self.depth -= 1;
        checked
    }

    fn segments(&mut self, segments: &[Segment]) -> Result<(), Stop> {
        for segment in segments {
            match *segment {
                Segment::Skip(slots) => self.skip(slots as usize)?,
                Segment::Value(leaf) => {
                    self.skip(1)?;
                    self.value(leaf, self.at - 1)?;
                }
                Segment::OptionalValue(leaf) => {
                    self.skip(2)?;
                    if self.record.slots[self.at - 2] != marker::ABSENT {
                        self.value(leaf, self.at - 1)?;
                    }
                }
                Segment::Particle(particle) => self.particle(particle)?,
            }
        }
        Ok(())
    }

    /// Checks an element with its state.
    fn element(&mut self, id: ElementId) -> Result<(), Stop> {
        let element = self.plan.element(id);
        if !element.has_state {
            return self.ty(element.ty);
        }
        let state = self.read()?;
        let ty = marker::actual_type(state);
        match marker::presence(state) {
            marker::PRESENT if ty.index() < self.plan.types.len() => self.ty(ty),
            marker::NIL | marker::ABSENT => self.skip(usize::from(element.is_scalar)),
            _ => Err(Stop::Mismatch),
        }
    }

    /// Checks all values of a walk.
    #[cold]
    fn walk(&self, mut walk: Walk<'_>) -> Result<(), Stop> {
        while let Some(event) = walk.next()? {
            let (leaf, at) = match event {
                Event::Leaf { leaf, at } => (leaf, at),
                Event::Attribute { id, presence, at } if presence != marker::ABSENT => {
                    (self.plan.attribute(id).leaf, at)
                }
                _ => continue,
            };
            if self.checks.leaf(leaf) {
                self.value(leaf, at)?;
            }
        }
        Ok(())
    }
}

/// Whether the value of a leaf is certainly a lexical form, and listed by its enumeration: found out quickly for the most common
/// types.
#[inline]
fn is_surely_right(leaf: &Leaf, record: &Record, at: usize) -> bool {
    if leaf.kind != LeafKind::Text {
        return false;
    }
    let octets = record.octets(record.slots[at]);
    match leaf.simple.variety() {
        _ if leaf.is_listed => {
            std::str::from_utf8(octets).is_ok_and(|text| leaf.simple.surely_takes(text))
        }
        Variety::Atomic(Datatype::DateTime) => datetime::is_plain_date_time(octets),
        Variety::Atomic(Datatype::Date) => datetime::is_plain_date(octets),
        Variety::Atomic(Datatype::Decimal) => Decimal::is_form(octets),
        _ => false,
    }
}

/// Checks the value of a leaf that begins at a slot.
pub(crate) fn check_leaf(record: &Record, id: LeafId, at: usize) -> Result<(), WrongValue> {
    let (leaf, view) = (record.plan.leaf(id), LeafView::new(record, id, at));
    if !leaf.is_checked {
        return Ok(());
    }
    let LeafKind::List(item) = leaf.kind else {
        return check_atom(leaf, &view);
    };
    let item = record.plan.leaf(item);
    if item.is_checked {
        let mut items = view.items();
        items.try_for_each(|view| check_atom(item, &view))?;
    }
    match leaf.is_listed {
        true => leaf
            .check_listed(&view.text())
            .map_err(|problem| WrongValue { slot: at, problem }),
        false => Ok(()),
    }
}

/// Checks all facets of a value. Of a name only the enumeration is known, which has been checked.
fn check_facets(record: &Record, id: LeafId, at: usize) -> Result<(), WrongValue> {
    let leaf = record.plan.leaf(id);
    let view = LeafView::new(record, id, at);
    if !leaf.has_facets || leaf.kind == LeafKind::Name {
        return Ok(());
    }
    let checked = leaf.simple.check(&view.text(), &NoNamespaces);
    checked.map_err(|problem| WrongValue {
        slot: at,
        problem: problem.to_string(),
    })
}

/// Checks a value of one slot.
fn check_atom(leaf: &Leaf, view: &LeafView<'_>) -> Result<(), WrongValue> {
    let checked = match leaf.kind {
        LeafKind::Text => leaf.check_text(view.as_str().unwrap_or_default()),
        LeafKind::Name => leaf.check_listed_name(view.as_str().unwrap_or_default()),
        _ => leaf.check_listed(&view.text()),
    };
    let slot = view.slot();
    checked.map_err(|problem| WrongValue { slot, problem })
}
