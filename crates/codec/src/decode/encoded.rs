//! What the slow path does for encoded messages: references to simple values, and arrays with omitted items. (SOAP 1.1 §5)
//!
//! A reference to a struct or an array is kept in the Record, and views resolve it. A column of numbers has no place for a
//! reference, so one to a simple value is replaced by the value when the message ends:
//!
//! ```text
//! <a href="#1"/> … <multiRef id="1" xsi:type="xsd:int">5</multiRef>
//! slot of a: 0, pending "1"    values: "1" → "5"                       at the end: slot of a = 5
//! ```
//!
//! An omitted item of an array (by `offset` or `position`) is nil; in an array of numbers it is 0, or NaN for floats and doubles.
//!
//! Such slots depend on other parts of the text. So nothing is learned from the tags around them, and the Record is
//! [linked](crate::Record::is_linked): a differential reader does not keep the message.

use std::collections::HashMap;
use std::ops::Range;

use bsoap_datatypes::qname::{self, NoNamespaces};
use bsoap_datatypes::trim;
use bsoap_xml::Tag;

use super::builder::{Builder, Lexical};
use super::error::{Error, ErrorKind, bounded};
use super::frame::{Frame, Machine};
use super::links::{Links, OpenArray, Pending, Run};
use super::sink::Sink;
use crate::plan::{
    ArraySize, Content, Element, ElementId, Encoded, LeafId, LeafKind, ParticleId, Plan, Term,
    TypeId,
};
use crate::record::marker;

/// Items that follow one another, and where they belong.
struct Moved {
    slots: Range<usize>,
    position: u64,
    count: u64,
}

/// What an element of an encoded message is.
pub(super) enum Opened {
    /// A value.
    Value,
    /// A reference, which the Record keeps.
    Reference,
    /// A reference to this simple value.
    Simple(String),
}

impl Machine {
    /// Whether the values that come next are read by the slow path: their place or their text has to be noted.
    #[inline]
    pub(super) fn is_noting(&self) -> bool {
        let links = self.links.as_ref();
        links.is_some_and(|links| links.current.is_some() || !links.arrays.is_empty())
    }
}

/// The type of an array in an element of any type, which states only the type of its items: `xsi:type="soapenc:Array"`.
pub(super) fn array_type(
    plan: &Plan,
    (any, actual): (TypeId, TypeId),
    tag: &Tag<'_>,
) -> Option<TypeId> {
    let name = plan.ty(actual).name.map(|name| plan.vocabulary.local(name));
    if plan.ty(any).content != Content::Any || actual != any && name != Some("Array") {
        return None;
    }
    for &ty in &plan.ty(any).alternatives {
        let mut attributes = plan.ty(ty).attribute_ids();
        let Some(array) = attributes.find(|&id| plan.is_array_size(id)) else {
            continue;
        };
        // All arrays have the same attributes.
        let array = plan.attribute(array);
        let stated = tag.attribute(match array.array.as_ref().and_then(|it| it.item_type) {
            Some(item_type) => item_type,
            None => array.name,
        })?;
        let value = stated.value();
        let (item, sizes) = value.split_at(value.find('[').unwrap_or(value.len()));
        let (prefix, local) = qname::split(trim(item))?;
        let item = plan.vocabulary.lookup(tag.resolve(prefix)?.uri, local)?;
        return plan.array_of(any, item, sizes.matches('[').count().max(1));
    }
    None
}

impl<S: Sink> Builder<'_, S> {
    /// Reads what the attributes of an element's start tag say about references and positions. The element is the innermost
    /// frame already.
    pub(super) fn open_encoded(
        &mut self,
        (element, ty): (&Element, TypeId),
        encoded: &Encoded,
        particle: ParticleId,
        tag: &Tag<'_>,
    ) -> Result<Opened, Error> {
        let rules = &encoded.rules;
        if let Some(position) = rules.position.and_then(|name| tag.attribute(name)) {
            self.note_position(particle, &position.value(), tag.offset)?;
        }
        self.note_offset(encoded, tag)?;
        let reference = self.plan.ty(rules.reference).attribute_ids().next();
        let reference = reference.and_then(|id| tag.attribute(self.plan.attribute(id).name));
        if let Some(reference) = reference {
            if encoded.may_refer {
                return Ok(Opened::Reference);
            }
            if element.is_scalar {
                self.link(tag.offset)?;
                let value = reference.value();
                return Ok(Opened::Simple(fragment_of(&value).to_owned()));
            }
        }
        let content = &self.plan.ty(ty).content;
        let is_simple = matches!(content, Content::Any | Content::Simple(_));
        if let (Some(id), true) = (tag.attribute(rules.id), is_simple) {
            // Its value is noted at its end tag, which the fast path would not see.
            self.log.is_void = true;
            self.links().current = Some(fragment_of(&id.value()).to_owned());
        }
        Ok(Opened::Value)
    }

    fn links(&mut self) -> &mut Links {
        self.machine.links.get_or_insert_default()
    }

    /// Says that slots depend on other parts of the text. It is an error if only a part of the message is read.
    fn link(&mut self, offset: u64) -> Result<(), Error> {
        if !self.options.is_whole {
            return Err(Error::new(ErrorKind::UnexpectedEnd, self.path(), offset));
        }
        self.log.is_void = true;
        self.record.is_linked = true;
        Ok(())
    }

    /// Writes the slot of a reference to a simple value, which is filled in when the message ends.
    pub(super) fn push_pending(&mut self, leaf: LeafId, id: String, offset: u64) {
        let (slot, path) = (self.record.slots.len(), self.path());
        self.record.push(0);
        self.links().pending.push(Pending {
            slot,
            leaf,
            id,
            path,
            offset,
        });
    }

    /// Notes the text of a simple value, if it has an id.
    #[inline]
    pub(super) fn note_simple(&mut self, text: &str) {
        if let Some(links) = &mut self.machine.links
            && let Some(id) = links.current.take()
        {
            links.values.entry(id).or_insert_with(|| text.to_owned());
        }
    }

    /// Forgets the id of the open element: its value is not simple.
    pub(super) fn forget_id(&mut self) {
        if let Some(links) = &mut self.machine.links {
            links.current = None;
        }
    }

    /// Fills in the references to simple values, at the end of the message.
    ///
    /// # Errors
    /// If no simple value has the id, or it is not of the type of the reference.
    pub(super) fn resolve_links(&mut self) -> Result<(), Error> {
        let Some(links) = self.machine.links.take() else {
            return Ok(());
        };
        let mut known: HashMap<(&str, LeafId), u64> = HashMap::new();
        let mut expanded = 0usize;
        for it in &links.pending {
            let fail = |kind| Error::new(kind, it.path.clone(), it.offset);
            let Some(text) = links.values.get(&it.id) else {
                return Err(fail(ErrorKind::DanglingReference(bounded(&it.id, 100))));
            };
            expanded = expanded.saturating_add(text.len());
            if expanded > self.options.reference_expansion {
                let limit = self.options.reference_expansion as u64;
                return Err(fail(ErrorKind::Limit {
                    name: "reference_expansion",
                    limit,
                }));
            }
            let slot = match known.get(&(&*it.id, it.leaf)) {
                Some(&slot) => slot,
                None => {
                    let lexical = Lexical::of_schema(text, it.offset);
                    self.push_leaf(it.leaf, lexical, &NoNamespaces)
                        .map_err(|kind| fail(*kind))?;
                    let slot = self.record.slots.pop().unwrap_or_default();
                    known.insert((&it.id, it.leaf), slot);
                    slot
                }
            };
            self.fill(it.slot as u32, slot);
        }
        Ok(())
    }

    /// Notes the offset of an array.
    fn note_offset(&mut self, encoded: &Encoded, tag: &Tag<'_>) -> Result<(), Error> {
        let offset = encoded.rules.offset.and_then(|name| tag.attribute(name));
        let Some(offset) = offset else {
            return Ok(());
        };
        self.link(tag.offset)?;
        let sizes = self.array_size(tag).map(|size| numbers(&size));
        let sizes = sizes.flatten().unwrap_or_default();
        let offset = self.index(&sizes, &offset.value(), tag.offset)?;
        self.open_array(self.machine.frames.len()).offset = offset;
        Ok(())
    }

    /// The size of an array in its start tag.
    fn array_size(&self, tag: &Tag<'_>) -> Option<String> {
        let Some(Frame::Element(frame)) = self.machine.frames.last() else {
            return None;
        };
        let ty = self.plan.ty(self.plan.element(frame.element).ty);
        let mut attributes = ty.attribute_ids();
        let size = attributes.find(|&id| self.plan.is_array_size(id))?;
        let size = self.plan.attribute(size);
        let stated = tag.attribute(size.name)?;
        Some(size_in(&stated.value(), size.array.as_deref()?).to_owned())
    }

    /// The open array at a level.
    fn open_array(&mut self, level: usize) -> &mut OpenArray {
        let arrays = &mut self.links().arrays;
        arrays.retain(|array| array.level <= level);
        if arrays.last().is_none_or(|array| array.level != level) {
            arrays.push(OpenArray {
                level,
                offset: 0,
                runs: Vec::new(),
            });
        }
        let last = arrays.len() - 1;
        &mut arrays[last]
    }

    /// The number of the item that an index such as `[1,2]` names.
    fn index(&self, sizes: &[u64], text: &str, at: u64) -> Result<u64, Error> {
        let wrong = || {
            let kind = ErrorKind::ArrayIndex {
                found: bounded(text, 60),
                expected: "an index within the size of the array",
            };
            Error::new(kind, self.path(), at)
        };
        let indices = numbers(trim(text)).ok_or_else(wrong)?;
        if indices.len() == 1 && sizes.len() < 2 {
            return Ok(indices[0]);
        }
        if indices.len() != sizes.len() {
            return Err(wrong());
        }
        let item = indices
            .iter()
            .zip(sizes)
            .try_fold(0u64, |item, (&index, &size)| {
                (index < size).then_some(())?;
                item.checked_mul(size)?.checked_add(index)
            });
        item.ok_or_else(wrong)
    }

    /// Notes the position of an item. Its element is the innermost frame.
    fn note_position(&mut self, particle: ParticleId, text: &str, at: u64) -> Result<(), Error> {
        // The array's element, its items, the item.
        let level = self.machine.frames.len().saturating_sub(2);
        let Some(Frame::Group(group)) = self.machine.frames.get(level).copied() else {
            return Ok(());
        };
        if group.particle != particle {
            return Ok(());
        }
        self.link(at)?;
        // The size is the last attribute of an array, so it is in front of the count.
        let size = (group.marker as usize).checked_sub(1);
        let size = size.and_then(|slot| self.record.slots.get(slot));
        let sizes = size.and_then(|&size| numbers(self.record.text(size)));
        let run = Run {
            slot: self.record.slots.len(),
            item: group.count - 1,
            position: self.index(&sizes.unwrap_or_default(), text, at)?,
        };
        self.open_array(level).runs.push(run);
        Ok(())
    }

    /// Puts the items of an array that ends where they belong, and fills in those that are omitted.
    pub(super) fn place_items(&mut self, at: u64) -> Result<(), Error> {
        let Some(Frame::Group(mut group)) = self.machine.frames.last().copied() else {
            return Ok(());
        };
        let level = self.machine.frames.len() - 1;
        let arrays = self.machine.links.as_mut().map(|links| &mut links.arrays);
        let Some(mut array) = arrays.and_then(|arrays| arrays.pop_if(|it| it.level == level))
        else {
            return Ok(());
        };
        let Term::Element(id) = self.plan.particle(group.particle).term else {
            return Ok(());
        };
        let first = group.marker as usize + 1;
        if array.runs.first().is_none_or(|run| run.item > 0) {
            let (slot, position) = (first, array.offset);
            array.runs.insert(
                0,
                Run {
                    slot,
                    item: 0,
                    position,
                },
            );
        }
        let moved = self.moved(&array.runs, group.count, at)?;
        let total = moved.last().map_or(0, |it| it.position + it.count);
        let missing = total - u64::from(group.count);
        let limit = self.options.omitted_items;
        let omitted = &mut self.links().omitted;
        if missing > (limit as u64).saturating_sub(*omitted as u64) {
            let limit = limit as u64;
            let kind = ErrorKind::Limit {
                name: "omitted_items",
                limit,
            };
            return Err(Error::new(kind, self.path(), at));
        }
        *omitted += missing as usize;
        self.rebuild(id, first, &moved);
        group.count = total as u32;
        if let Some(frame) = self.machine.frames.last_mut() {
            *frame = Frame::Group(group);
        }
        self.check_space(at)
    }

    /// The runs in the order of their positions.
    fn moved(&self, runs: &[Run], count: u32, at: u64) -> Result<Vec<Moved>, Error> {
        let slots = self.record.slots.len();
        let ends = runs.iter().skip(1).map(|run| (run.slot, run.item));
        let ends = ends.chain([(slots, count)]);
        let mut moved: Vec<Moved> = runs
            .iter()
            .zip(ends)
            .map(|(run, (end, item))| Moved {
                slots: run.slot..end,
                position: run.position,
                count: u64::from(item - run.item),
            })
            .collect();
        moved.sort_by_key(|it| it.position);
        let overlap = moved
            .windows(2)
            .find(|it| it[0].position.saturating_add(it[0].count) > it[1].position);
        let end = moved
            .last()
            .map_or(0, |it| it.position.saturating_add(it.count));
        let found = match overlap {
            Some(pair) => pair[1].position,
            None if end > u64::from(u32::MAX) => {
                let limit = self.options.omitted_items as u64;
                let kind = ErrorKind::Limit {
                    name: "omitted_items",
                    limit,
                };
                return Err(Error::new(kind, self.path(), at));
            }
            None => return Ok(moved),
        };
        let kind = ErrorKind::ArrayIndex {
            found: format!("[{found}]").into(),
            expected: "another position for each item",
        };
        Err(Error::new(kind, self.path(), at))
    }

    /// Writes the slots of an array's items, from `first` on, again.
    fn rebuild(&mut self, item: ElementId, first: usize, moved: &[Moved]) {
        let element = self.plan.element(item);
        let mut nothing = Vec::new();
        if element.has_state {
            nothing.push(marker::state(marker::NIL, element.ty));
        }
        if element.is_scalar {
            nothing.push(match self.plan.ty(element.ty).content {
                Content::Simple(leaf) if !element.has_state => omitted(self.plan.leaf(leaf).kind),
                _ => 0,
            });
        }
        let mut slots = Vec::new();
        let mut next = 0;
        let mut shifts = Vec::new();
        for it in moved {
            (next..it.position).for_each(|_| slots.extend_from_slice(&nothing));
            shifts.push((it.slots.clone(), first + slots.len()));
            slots.extend_from_slice(&self.record.slots[it.slots.clone()]);
            next = it.position + it.count;
        }
        self.record.slots.truncate(first);
        self.record.slots.extend(slots);
        self.move_pending(first, shifts);
    }

    /// Moves the references to simple values from a slot on along with their slots: each range now begins at the other slot.
    fn move_pending(&mut self, first: usize, mut shifts: Vec<(Range<usize>, usize)>) {
        // Items without slots come before the one that begins where they are.
        shifts.sort_unstable_by_key(|(from, _)| (from.start, from.end));
        let pending = &mut self.links().pending;
        // They are in the order of their slots, before and after.
        let inside = pending.partition_point(|it| it.slot < first);
        let inside = &mut pending[inside..];
        for it in inside.iter_mut() {
            let after = shifts.partition_point(|(from, _)| from.start <= it.slot);
            if let Some((from, to)) = after.checked_sub(1).map(|at| &shifts[at]) {
                it.slot = it.slot - from.start + to;
            }
        }
        inside.sort_unstable_by_key(|it| it.slot);
    }
}

/// The value of a number that is omitted.
fn omitted(kind: LeafKind) -> u64 {
    match kind {
        LeafKind::Double => f64::NAN.to_bits(),
        LeafKind::Float => f32::NAN.to_bits().into(),
        _ => 0,
    }
}

/// The id that a reference names: `#id`, or `id` in SOAP 1.2.
pub(crate) fn fragment_of(reference: &str) -> &str {
    let reference = trim(reference);
    reference.strip_prefix('#').unwrap_or(reference)
}

/// The part of an array's type that is its size: `[2,3]` of `xsd:int[2,3]`, and `[]` if there is none. The sizes of SOAP 1.2, where
/// another attribute has the type, are `2 3`.
pub(crate) fn size_in<'v>(value: &'v str, size: &ArraySize) -> &'v str {
    let value = trim(value);
    match value.rfind('[') {
        _ if size.item_type.is_some() => value,
        Some(at) => &value[at..],
        None => "[]",
    }
}

/// Whether a text is the size of an array as it is mostly written: `[2,3]`. So it needs no trimming, and no part of it belongs to the
/// type. (Sizes of SOAP 1.2 are read by the slow path.)
pub(super) fn is_plain_size(text: &str) -> bool {
    let inner = text
        .strip_prefix('[')
        .and_then(|text| text.strip_suffix(']'));
    inner.is_some_and(|inner| {
        let mut bytes = inner.bytes();
        bytes.all(|byte| byte.is_ascii_digit() || byte == b',')
    })
}

/// The numbers of `[2,3]` or `2 3`. `None` if some are not numbers.
pub(crate) fn numbers(text: &str) -> Option<Vec<u64>> {
    let inner = text
        .strip_prefix('[')
        .and_then(|text| text.strip_suffix(']'));
    let parse = |number: &str| trim(number).parse().ok();
    match inner {
        Some(inner) => inner.split(',').map(parse).collect(),
        None => text.split_whitespace().map(parse).collect(),
    }
}
