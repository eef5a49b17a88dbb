//! Turns lexical forms into slots.

use std::borrow::Cow;

use bsoap_datatypes::{
    Datatype, LexicalError, NamespaceContext, ValidityError, Variety, WhiteSpace, binary, boolean,
    double, float, qname, qname::NoNamespaces, trim,
};

use super::sink::Sink;
use crate::attachment::reference;
use crate::expanded::{Prefixed, is_names};
use crate::plan::{Leaf, LeafId, LeafKind};

use super::builder::{Builder, FormLocation, Lexical};
use super::error::{ErrorKind, bounded};
use super::options::Validation;
use super::plain::{Plain, number};
use super::skeleton::LoggedForm;
use super::tolerance::Deviation;
use super::trace::Site;

/// What is wrong with a value. Boxed, since most values are right and results stay small.
pub(crate) type Wrong = Box<ErrorKind>;

impl From<LexicalError> for ErrorKind {
    #[cold]
    fn from(error: LexicalError) -> Self {
        Self::Lexical {
            datatype: error.datatype(),
            found: error.found().into(),
        }
    }
}

impl From<LexicalError> for Wrong {
    #[cold]
    fn from(error: LexicalError) -> Self {
        Self::new(error.into())
    }
}

impl<S: Sink> Builder<'_, S> {
    /// Appends the slots of a simple value. A wrong value gets a slot, too, so that decoding can go on.
    pub(super) fn push_leaf(
        &mut self,
        id: LeafId,
        lexical: Lexical<'_>,
        bindings: &dyn NamespaceContext,
    ) -> Result<(), Wrong> {
        let leaf = self.plan.leaf(id);
        let slot = self.record.slots.len();
        let is_checked = self.options.validation == Validation::Full && leaf.has_facets;
        if let LeafKind::List(item) = leaf.kind {
            // The list is reported before its items, since slots are reported in order.
            self.report_location(slot, &lexical, Site::NONE);
            if is_checked {
                self.check_facets(leaf, lexical.text, bindings)?;
            }
            return self.push_list(leaf, item, lexical, bindings);
        }
        let pushed = match Sure::of(leaf, lexical.text, is_checked) {
            Some(sure) => self.push_sure(sure, lexical.text),
            None => {
                if is_checked {
                    self.check_facets(leaf, lexical.text, bindings)?;
                }
                self.push_atom(leaf, lexical.text, bindings)
            }
        };
        if pushed.is_ok() {
            // A value with a warning is not read again without the message around it.
            let is_alone = !is_checked && leaf.is_read_alone() && self.deviations.is_empty();
            let site = match lexical.location {
                FormLocation::Content if is_alone => Site::content(id),
                FormLocation::Attribute if is_alone => Site::attribute(id),
                _ => Site::NONE,
            };
            self.report_location(slot, &lexical, site);
        } else if self.record.slots.len() == slot {
            self.record.push(0);
        }
        pushed
    }

    /// Appends the slots of a default or fixed value.
    pub(super) fn push_given(
        &mut self,
        id: LeafId,
        value: &str,
        at: u64,
        bindings: &dyn NamespaceContext,
    ) -> Result<(), Wrong> {
        if is_names(&self.plan.leaf(id).simple) {
            let names = Prefixed::new(value);
            return self.push_leaf(id, Lexical::of_schema(&names.text, at), &names);
        }
        self.push_leaf(id, Lexical::of_schema(value, at), bindings)
    }

    /// Reports the location of a value that was written. A wrong value may have been removed again; it has no location
    /// then.
    #[inline(always)]
    pub(super) fn report_location(&mut self, slot: usize, lexical: &Lexical<'_>, site: Site) {
        if lexical.location == FormLocation::Nowhere {
            return;
        }
        let from = lexical.from;
        if self.log.is_on {
            self.log.push_found(LoggedForm { slot, from, site });
        }
        self.sink.found(slot, from, site);
    }

    #[cold]
    fn check_facets(
        &self,
        leaf: &Leaf,
        text: &str,
        bindings: &dyn NamespaceContext,
    ) -> Result<(), Wrong> {
        // The octets are beside the message: their length is not known here.
        if leaf.kind == LeafKind::Base64
            && reference::index_in_text(trim(text).as_bytes()).is_some()
        {
            return Ok(());
        }
        let checked = leaf.simple.check(text, bindings);
        checked.map_err(|problem| wrong_value(&problem))
    }

    /// Appends a list: its count, then its items.
    fn push_list(
        &mut self,
        list: &Leaf,
        item: LeafId,
        lexical: Lexical<'_>,
        bindings: &dyn NamespaceContext,
    ) -> Result<(), Wrong> {
        let count = self.record.slots.len();
        self.record.push(0);
        let leaf = self.plan.leaf(item);
        if list.is_listed {
            self.check_listed(list, lexical.text, bindings)?;
        }
        // The items' locations can be reported only if no reference or line end was replaced.
        let is_literal = lexical.location != FormLocation::Nowhere
            && lexical.to - lexical.from == lexical.text.len() as u64;
        let start = lexical.text.as_ptr() as usize;
        let mut items = 0;
        for text in lexical
            .text
            .split([' ', '\t', '\n', '\r'])
            .filter(|text| !text.is_empty())
        {
            if S::LISTENS && is_literal {
                let from = lexical.from + (text.as_ptr() as usize - start) as u64;
                self.sink.found(self.record.slots.len(), from, Site::NONE);
            }
            self.push_atom(leaf, text, bindings)?;
            // A name is stored with its namespace, which may be much longer.
            let checked = self.space.check_heap(self.options, self.record);
            checked.map_err(Wrong::new)?;
            items += 1;
        }
        self.record.slots[count] = items;
        self.is_long_list = self.is_over_pause(0, self.record.heap.len());
        Ok(())
    }

    /// Appends a value that has one slot.
    #[inline]
    pub(super) fn push_atom(
        &mut self,
        leaf: &Leaf,
        text: &str,
        bindings: &dyn NamespaceContext,
    ) -> Result<(), Wrong> {
        if leaf.is_listed && leaf.kind != LeafKind::Text {
            self.check_listed(leaf, trim(text), bindings)?;
        }
        let slot = match leaf.kind {
            LeafKind::Text => return self.push_checked_text(leaf, text, bindings),
            LeafKind::Base64 => return self.push_binary(text, binary::parse_base64),
            LeafKind::Hex => return self.push_binary(text, binary::parse_hex),
            LeafKind::Name => return self.push_name(leaf, text, bindings),
            LeafKind::List(_) => {
                return Err(Wrong::new(ErrorKind::Value {
                    problem: "a list in a list".into(),
                }));
            }
            kind => match scalar(kind, trim(text).as_bytes(), leaf) {
                Ok(slot) => slot,
                Err(wrong) => self.foreign_special(kind, text, wrong)?,
            },
        };
        self.record.push(slot);
        Ok(())
    }

    /// The slot of a special float that is written in a foreign way.
    #[cold]
    fn foreign_special(&mut self, kind: LeafKind, text: &str, wrong: Wrong) -> Result<u64, Wrong> {
        let Some(value) = double::foreign_special(trim(text).as_bytes()) else {
            return Err(wrong);
        };
        let slot = match kind {
            LeafKind::Double => value.to_bits(),
            LeafKind::Float => u64::from((value as f32).to_bits()),
            _ => return Err(wrong),
        };
        self.accept(Deviation::SpecialFloat, *wrong)?;
        Ok(slot)
    }

    /// Accepts a value that its enumeration does not list, if the options do.
    #[cold]
    fn accept_unlisted(&mut self, problem: &ValidityError) -> Result<(), Wrong> {
        let problem = bounded(&problem.to_string(), 300);
        self.accept(Deviation::UnlistedValue, ErrorKind::Unlisted { problem })
    }

    /// Checks that a value is listed by its enumeration. Whether it is a lexical form at all is checked elsewhere.
    fn check_listed(
        &mut self,
        leaf: &Leaf,
        text: &str,
        bindings: &dyn NamespaceContext,
    ) -> Result<(), Wrong> {
        match leaf.simple.check_listed(text, bindings) {
            Err(problem) if problem.is_unlisted() => self.accept_unlisted(&problem),
            _ => Ok(()),
        }
    }

    /// Appends a value that has been found valid without a full check.
    #[inline]
    fn push_sure(&mut self, sure: Sure, text: &str) -> Result<(), Wrong> {
        match sure {
            Sure::Number(slot) => {
                self.record.push(slot);
                Ok(())
            }
            Sure::Text => {
                let start = self.record.heap.len();
                self.record.heap.extend_from_slice(text.as_bytes());
                self.push_heap_slot(start)
            }
        }
    }

    fn push_checked_text(
        &mut self,
        leaf: &Leaf,
        text: &str,
        bindings: &dyn NamespaceContext,
    ) -> Result<(), Wrong> {
        let start = self.record.heap.len();
        let white_space = match leaf.simple.variety() {
            Variety::Atomic(_) => leaf.simple.white_space(),
            // In a union, or a list of unions, the member type that accepts the text decides about white space.
            Variety::Union(members) => {
                let member = members
                    .iter()
                    .find(|member| member.check(text, bindings).is_ok());
                let unlisted = match member {
                    None => leaf.simple.unlisted_member(text),
                    Some(_) => None,
                };
                match leaf.simple.check(text, bindings) {
                    Err(problem) if unlisted.is_some() || problem.is_unlisted() => {
                        self.accept_unlisted(&problem)?;
                    }
                    checked => checked.map_err(|problem| wrong_value(&problem))?,
                }
                let member = member.or(unlisted);
                member.map_or(WhiteSpace::Preserve, |member| member.white_space())
            }
            Variety::List(_) => {
                self.check_facets(leaf, text, bindings)?;
                WhiteSpace::Collapse
            }
        };
        let processed = match white_space {
            WhiteSpace::Preserve => Cow::Borrowed(text),
            _ => white_space.apply(text),
        };
        if let Variety::Atomic(datatype) = leaf.simple.variety() {
            if white_space != WhiteSpace::Preserve {
                datatype.check(&processed)?;
            }
            if leaf.is_listed {
                self.check_listed(leaf, &processed, bindings)?;
            }
        }
        self.record.heap.extend_from_slice(processed.as_bytes());
        self.push_heap_slot(start)
    }

    fn push_binary(
        &mut self,
        text: &str,
        parse: impl Fn(&[u8], &mut Vec<u8>) -> Result<(), LexicalError>,
    ) -> Result<(), Wrong> {
        let start = self.record.heap.len();
        if let Err(error) = parse(trim(text).as_bytes(), &mut self.record.heap) {
            self.record.heap.truncate(start);
            return Err(error.into());
        }
        self.push_heap_slot(start)
    }

    fn push_name(
        &mut self,
        leaf: &Leaf,
        text: &str,
        bindings: &dyn NamespaceContext,
    ) -> Result<(), Wrong> {
        let text = trim(text);
        let datatype = atomic(leaf);
        let (prefix, _) = qname::split(text).ok_or_else(|| LexicalError::new(datatype, text))?;
        let name = qname::resolve(text, bindings)
            .ok_or_else(|| Wrong::new(ErrorKind::UnboundPrefix(bounded(prefix, 100))))?;
        let start = self.record.heap.len();
        if let Some(namespace) = name.namespace() {
            self.record.heap.push(b'{');
            self.record.heap.extend_from_slice(namespace.as_bytes());
            self.record.heap.push(b'}');
        }
        self.record.heap.extend_from_slice(name.local().as_bytes());
        self.push_heap_slot(start)
    }
}

/// A text that certainly satisfies the facets of its leaf.
enum Sure {
    /// A number, by its slot.
    Number(u64),
    /// A valid text whose white space need not be processed.
    Text,
}

impl Sure {
    #[inline]
    fn of(leaf: &Leaf, text: &str, is_checked: bool) -> Option<Self> {
        if !is_checked {
            return None;
        }
        if leaf.bounds.is_none() {
            let is_text = leaf.kind == LeafKind::Text;
            return (is_text && leaf.simple.surely_takes(text)).then_some(Self::Text);
        }
        let plain = Plain::of(leaf, Validation::Full)?;
        let (slot, length) = number(plain.kind, text.as_bytes())?;
        let is_in = length == text.len() && plain.has(slot);
        is_in.then_some(Self::Number(slot))
    }
}

/// The slot of a number or truth value.
#[inline]
pub(crate) fn scalar(kind: LeafKind, text: &[u8], leaf: &Leaf) -> Result<u64, Wrong> {
    if let Some((slot, length)) = number(kind, text)
        && length == text.len()
    {
        return Ok(slot);
    }
    // Rarer forms, such as `INF`.
    let slot = match kind {
        LeafKind::Double => double::parse(text).ok().map(f64::to_bits),
        LeafKind::Float => float::parse(text).ok().map(|it| it.to_bits().into()),
        LeafKind::Boolean => boolean::parse(text).ok().map(u64::from),
        _ => None,
    };
    slot.ok_or_else(|| LexicalError::new(atomic(leaf), text).into())
}

#[cold]
fn wrong_value(problem: &ValidityError) -> Wrong {
    Wrong::new(ErrorKind::Value {
        problem: bounded(&problem.to_string(), 300),
    })
}

/// The error for a text that is no lexical form of a leaf.
#[cold]
pub(super) fn not_lexical(leaf: &Leaf, text: &str) -> ErrorKind {
    LexicalError::new(atomic(leaf), text).into()
}

/// The built-in datatype of a leaf that is atomic.
fn atomic(leaf: &Leaf) -> Datatype {
    match leaf.simple.variety() {
        Variety::Atomic(datatype) => *datatype,
        _ => Datatype::AnySimpleType,
    }
}

/// Checks that a value is the fixed one. They are compared by value: names by namespace and local name, those of a list item by
/// item, those of a union as values of its members, where names are compared as texts.
#[cold]
pub(super) fn check_fixed(
    leaf: &Leaf,
    fixed: &str,
    found: &str,
    bindings: &dyn NamespaceContext,
) -> Result<(), Wrong> {
    let differs = || {
        Wrong::new(ErrorKind::Fixed {
            expected: bounded(fixed, 100),
            found: bounded(found, 100),
        })
    };
    if is_names(&leaf.simple) {
        let own = Prefixed::new(fixed);
        let expected = leaf.simple.validate(&own.text, &own);
        if let (Ok(expected), Ok(found)) = (expected, leaf.simple.validate(found, bindings)) {
            return (expected == found).then_some(()).ok_or_else(differs);
        }
    }
    let white_space = leaf.simple.white_space();
    let (expected, processed) = (white_space.apply(fixed), white_space.apply(found));
    if expected == processed {
        return Ok(());
    }
    let is_scalar = !leaf.kind.is_in_heap() && !matches!(leaf.kind, LeafKind::List(_));
    if is_scalar
        && let (Ok(expected), Ok(found)) = (
            scalar(leaf.kind, expected.as_bytes(), leaf),
            scalar(leaf.kind, processed.as_bytes(), leaf),
        )
        && expected == found
    {
        return Ok(());
    }
    let value = |text: &str| leaf.simple.validate(text, &NoNamespaces).ok();
    if !is_scalar
        && let (Some(expected), Some(found)) = (value(&expected), value(&processed))
        && expected == found
    {
        return Ok(());
    }
    Err(differs())
}
