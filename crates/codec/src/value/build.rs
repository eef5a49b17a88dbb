//! Building: makes a Record of a dynamic value, by a Plan.
//!
//! The convention is that of `docs/design/between-crates.md`. Values are converted where that is possible (text to numbers
//! and numbers to text, one value to an array of one). Structure is checked strictly: an unknown key and a missing required
//! value are errors.
//!
//! `place` finds the place of each child in the content model, `direct` where its name says it; `leaf` turns values into slots.

mod direct;
mod encoded;
mod error;
pub(crate) mod leaf;
mod mixed;
pub(crate) mod place;

pub use error::{BuildError, BuildErrorKind};

use std::collections::{HashMap, HashSet};
use std::ops::Range;
use std::sync::Arc;

use crate::decode::Validation;
use crate::expanded::{self, XSI};
use crate::limits::{FEW_KEYS, MAX_FILLED_BYTES};
use crate::plan::shape::{Shapes, type_name};
use crate::plan::{
    AttributeId, Content, ElementId, LeafId, LeafKind, ParticleId, Plan, Term, TypeId,
};
use crate::record::kept;
use crate::record::{HeapFull, Record, Unchecked, marker};
use crate::value::object::Cursor;
use crate::value::pack::{Pack, Packer, into_record, write_into};
use crate::value::{MAX_DEPTH, MAX_GROUPS, Object, Value};

use direct::DirectPlacer;
use place::{GivenChildren, Placer, Presence};

/// How values are converted and checked.
#[derive(Clone, Copy, Debug, Default)]
#[non_exhaustive]
pub struct BuildOptions {
    /// Whether facets are checked as well as lexical forms.
    pub validation: Validation,
}

/// Makes a Record of a value.
///
/// # Errors
/// If the value does not fit the element. The error has the path and what was expected there.
pub fn build(plan: &Arc<Plan>, root: ElementId, value: &Value) -> Result<Record, BuildError> {
    build_with(plan, root, value, &BuildOptions::default())
}

/// As [`build`], with options.
///
/// # Errors
/// As [`build`].
pub fn build_with(
    plan: &Arc<Plan>,
    root: ElementId,
    value: &Value,
    options: &BuildOptions,
) -> Result<Record, BuildError> {
    let mut assembly = Assembly::new(plan, root);
    assembly.builder.options = *options;
    assembly.element(root, value)?;
    Ok(assembly.finish())
}

/// A Record made of several values: of Rust values and dynamic ones, for elements whose parents' slots the caller knows.
/// That spares an Envelope made of dynamic values.
///
/// ```
/// use bsoap_codec::{Assembly, Value, View};
/// # use bsoap_codec::plan::*;
/// # use bsoap_codec::Plan;
/// # fn example(plan: &std::sync::Arc<Plan>, envelope: ElementId, order: ElementId, value: &Value) -> Result<(), bsoap_codec::BuildError> {
/// let mut assembly = Assembly::new(plan, envelope);
/// assembly.parent(|packer| packer.text(""))?; // an Envelope without attributes
/// assembly.is_present(false); // no Header
/// assembly.parent(|packer| {
///     packer.text("");
///     packer.branch(2); // the branch of the Body
/// })?;
/// assembly.element(order, value)?;
/// let record = assembly.finish();
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct Assembly<'p> {
    builder: Builder<'p>,
    /// The Rust values in it, whose texts have not been checked.
    unchecked: Unchecked,
}

impl<'p> Assembly<'p> {
    /// An empty Record, to be filled in document order.
    pub fn new(plan: &'p Arc<Plan>, root: ElementId) -> Self {
        let mut record = Record::new(plan.clone(), root);
        record.slots.reserve(SLOTS);
        record.heap.reserve(HEAP);
        Self::of(plan, record)
    }

    /// A Record of this Plan to be continued.
    fn of(plan: &'p Plan, record: Record) -> Self {
        Self {
            builder: Builder {
                plan,
                shapes: plan.shapes(),
                record,
                options: BuildOptions::default(),
                depth: 0,
                groups: 0,
                filled: 0,
                branch: None,
            },
            unchecked: Unchecked::None,
        }
    }

    /// Appends the slots of an element that contains what follows, up to its first child. Whether they are those that the
    /// Plan expects is up to the caller.
    ///
    /// # Errors
    /// [`BuildErrorKind::Packed`] past 4 GiB of text.
    pub fn parent(&mut self, write: impl FnOnce(&mut Packer<'_>)) -> Result<(), BuildError> {
        self.builder.depth += 1;
        write_into(&mut self.builder.record, write)
            .map_err(|problem| BuildErrorKind::Packed(problem).into())
    }

    /// Appends the marker of an optional element.
    pub fn is_present(&mut self, is_present: bool) {
        self.builder.record.push(match is_present {
            true => marker::PRESENT,
            false => marker::ABSENT,
        });
    }

    /// Appends the slots of what is absent.
    pub fn absent(&mut self, slots: u32) {
        let length = self.builder.record.slots.len() + slots as usize;
        self.builder.record.slots.resize(length, 0);
    }

    /// Appends a required element with this value.
    ///
    /// # Errors
    /// If the value does not fit the element. The path of the error begins with the element's local name.
    pub fn element(&mut self, id: ElementId, value: &Value) -> Result<(), BuildError> {
        let built = self.builder.element(id, value, Presence::Named);
        built.map_err(|error| error.inside(self.local(id)))
    }

    /// Appends a required element whose content is a choice, with this value in the branch of this number. Without the number
    /// the names of the children decide, and two branches may have the same names.
    ///
    /// # Errors
    /// As [`element`](Self::element).
    pub fn element_in_branch(
        &mut self,
        id: ElementId,
        branch: u32,
        value: &Value,
    ) -> Result<(), BuildError> {
        self.builder.branch = Some(branch);
        self.element(id, value)
    }

    /// Appends a required element with this Rust value, which packs its attributes and content.
    ///
    /// # Errors
    /// [`BuildErrorKind::Packed`] if the code of the value was not made for this element.
    pub fn packed(&mut self, id: ElementId, value: &dyn Pack) -> Result<(), BuildError> {
        let plan = self.builder.plan;
        let ty = plan.element(id).ty;
        self.builder.present(id, ty, Presence::Named);
        if plan.checks(Validation::Lexical).ty(ty) {
            let content = Unchecked::Content(ty, self.builder.record.slots.len());
            self.unchecked = match self.unchecked {
                Unchecked::None => content,
                _ => Unchecked::All,
            };
        }
        let packed = into_record(&mut self.builder.record, id, value);
        packed.map_err(|problem| {
            BuildError::from(BuildErrorKind::Packed(problem)).inside(self.local(id))
        })
    }

    fn local(&self, id: ElementId) -> &'p str {
        let plan = self.builder.plan;
        plan.vocabulary.local(plan.element(id).name)
    }

    /// The Record.
    pub fn finish(mut self) -> Record {
        self.builder.record.leave_unchecked(self.unchecked);
        self.builder.record
    }
}

/// Replaces an optional element of a Record, whose marker and slots are in a range, by one of this value.
///
/// # Errors
/// If the value does not fit the element. The path of the error begins with the element's local name.
pub fn replace_optional(
    mut record: Record,
    slots: Range<usize>,
    id: ElementId,
    value: &Value,
) -> Result<Record, BuildError> {
    let plan = Arc::clone(record.plan());
    let rest = record.slots.split_off(slots.end.min(record.slots.len()));
    record.slots.truncate(slots.start);
    // The texts of the replaced element remain in the heap, where no slot refers to them.
    let mut assembly = Assembly::of(&plan, record);
    assembly.is_present(true);
    assembly.element(id, value)?;
    let mut record = assembly.finish();
    record.slots.extend(rest);
    Ok(record)
}

/// The numbers of slots and bytes that a Record made of values has space for at first.
const SLOTS: usize = 128;
const HEAP: usize = 1024;

/// Makes a Record of one simple value, which is its first slot. The value is checked as in a message.
///
/// # Errors
/// If the value is not one of the leaf's type.
pub fn build_leaf(plan: &Arc<Plan>, leaf: LeafId, value: &Value) -> Result<Record, BuildError> {
    let mut builder = Builder {
        plan,
        shapes: plan.shapes(),
        record: Record::new(plan.clone(), ElementId(0)),
        options: BuildOptions::default(),
        depth: 0,
        groups: 0,
        filled: 0,
        branch: None,
    };
    builder.leaf(leaf, value)?;
    Ok(builder.record)
}

/// The size of a value that is filled in, without its text: a marker and a slot.
const BYTES_OF_FILLED: usize = 16;

type Result<T, E = BuildError> = std::result::Result<T, E>;

impl From<HeapFull> for BuildError {
    fn from(_: HeapFull) -> Self {
        BuildErrorKind::TooLarge.into()
    }
}

/// A Record being filled.
#[derive(Debug)]
struct Builder<'p> {
    plan: &'p Plan,
    shapes: &'p Shapes,
    record: Record,
    options: BuildOptions,
    depth: usize,
    /// The number of open groups of content models.
    groups: usize,
    /// The size of the values that were filled in from defaults, in bytes.
    filled: usize,
    /// The branch of the choice that is the content of the next element with children, if it is given.
    branch: Option<u32>,
}

impl Builder<'_> {
    fn fragment(&mut self, value: &Value, wildcard: ParticleId) -> Result<()> {
        let Some(xml) = value.as_str() else {
            return Err(BuildErrorKind::mismatch("an element as XML", value).into());
        };
        let namespace = leaf::check_fragment(xml, leaf::Wellformed::OneElement)?;
        if let Term::Any(wildcard) = &self.plan.particle(wildcard).term
            && !wildcard.namespaces.admits(&namespace)
        {
            return Err(BuildErrorKind::Namespace(namespace).into());
        }
        Ok(self.record.push_octets(xml.as_bytes())?)
    }

    /// Builds a required element that was not given, from its default; an error if it has none.
    fn missing(&mut self, id: ElementId, presence: Presence) -> Result<()> {
        let element = self.plan.element(id);
        let given = element.default.as_deref().or(element.fixed.as_deref());
        let Some(text) = given else {
            return Err(self.is_missing(id));
        };
        self.fill(id, text.len())?;
        self.element(id, &Value::from(text), presence)
    }

    /// Charges a value that is filled in. A schema may require a billion of them.
    fn fill(&mut self, id: ElementId, length: usize) -> Result<()> {
        self.filled += BYTES_OF_FILLED + length;
        if self.filled <= MAX_FILLED_BYTES {
            return Ok(());
        }
        let name = self.plan.vocabulary.local(self.plan.element(id).name);
        Err(BuildErrorKind::Filled {
            name: name.to_owned(),
            limit: MAX_FILLED_BYTES,
        }
        .into())
    }

    fn is_missing(&self, id: ElementId) -> BuildError {
        let element = self.plan.element(id);
        let name = self.plan.vocabulary.local(element.name).to_owned();
        BuildErrorKind::Missing {
            name,
            ty: error::type_label(self.plan, element.ty),
        }
        .into()
    }

    /// Builds an element with its markers.
    fn element(&mut self, id: ElementId, value: &Value, presence: Presence) -> Result<()> {
        if self.depth >= MAX_DEPTH && value.as_object().is_some() {
            return Err(BuildErrorKind::Depth(MAX_DEPTH).into());
        }
        let element = self.plan.element(id);
        if let Some(leaf) = self.shapes.of(element.ty).plain
            && element.default.is_none()
            && element.fixed.is_none()
            && value.is_single()
        {
            self.present(id, element.ty, presence);
            return self.leaf(leaf, value);
        }
        if self.plan.is_encoded_array(element.ty)
            && let Some(array) = encoded::array(self.plan, element.ty, value)
        {
            return self.element(id, &array, presence);
        }
        if value.is_array() && !self.is_list(element.ty) {
            return Err(
                BuildErrorKind::mismatch(error::type_label(self.plan, element.ty), value).into(),
            );
        }
        let ty = match self.reference(id, value) {
            Some(reference) => reference,
            None => self.actual_type(element.ty, value)?,
        };
        if self.is_nil(ty, value) {
            if !element.nillable {
                return Err(BuildErrorKind::NotNillable.into());
            }
            self.record.push(marker::state(marker::NIL, ty));
            if element.is_scalar {
                self.record.push(0);
            }
            return Ok(());
        }
        self.present(id, ty, presence);
        self.depth += 1;
        let default = element.default.as_deref().or(element.fixed.as_deref());
        let result = self.inside(ty, element.ty, value, default);
        self.depth -= 1;
        result
    }

    /// The type of a reference, if the value is one: an object with the reference as its attribute.
    fn reference(&self, id: ElementId, value: &Value) -> Option<TypeId> {
        let object = value.as_object()?;
        let reference = self.plan.reference_of(id)?;
        let attribute = self.plan.ty(reference).attribute_ids().next()?;
        object.get(self.shapes.attribute_key(attribute))?;
        Some(reference)
    }

    /// Whether a value of this type is an array itself.
    fn is_list(&self, ty: TypeId) -> bool {
        matches!(self.plan.ty(ty).content, Content::Simple(leaf) if matches!(self.plan.leaf(leaf).kind, LeafKind::List(_)))
    }

    fn present(&mut self, id: ElementId, ty: TypeId, presence: Presence) {
        if self.plan.element(id).has_state {
            self.record.push(marker::state(marker::PRESENT, ty));
        } else if presence == Presence::Optional {
            self.record.push(marker::PRESENT);
        }
    }

    fn is_nil(&self, ty: TypeId, value: &Value) -> bool {
        let Value::Object(object) = value else {
            return value.is_nil();
        };
        let key = self.shapes.of(ty).nil_key();
        ["@xsi:nil", key]
            .iter()
            .any(|key| match object.get_control(key) {
                Some(Value::Bool(value)) => *value,
                Some(Value::Text(text)) => text == "true",
                _ => false,
            })
    }

    /// The type that `@type` names, or the declared type. It is an error if that type is not allowed here.
    fn actual_type(&self, declared: TypeId, value: &Value) -> Result<TypeId> {
        let ty = self.plan.ty(declared);
        let Some(name) = self.given_type(declared, value)? else {
            if !ty.is_abstract {
                return Ok(declared);
            }
            let ty = error::type_label(self.plan, declared);
            return Err(BuildErrorKind::Abstract {
                ty,
                possible: self.possible_types(declared),
            }
            .into());
        };
        let matches = |&&candidate: &&TypeId| {
            let Some(id) = self.plan.ty(candidate).name else {
                return false;
            };
            expanded::is_called(&self.plan.vocabulary, id, name)
        };
        match ty.alternatives.iter().chain([&declared]).find(matches) {
            Some(&found) => Ok(found),
            None => Err(BuildErrorKind::UnknownType {
                name: name.to_owned(),
                possible: self.possible_types(declared),
            }
            .into()),
        }
    }

    /// The name of a type given in an object. Where no other type is allowed, `@type` is an attribute; `@xsi:type` never is
    /// one.
    fn given_type<'v>(&self, declared: TypeId, value: &'v Value) -> Result<Option<&'v str>> {
        let Some(object) = value.as_object() else {
            return Ok(None);
        };
        let may_vary = !self.plan.ty(declared).alternatives.is_empty();
        let short = may_vary.then(|| self.shapes.of(declared).type_key());
        let given = ["@xsi:type"].into_iter().chain(short).find_map(|key| {
            Some((
                key,
                object.get_control(key).filter(|given| !given.is_nil())?,
            ))
        });
        match given {
            None => Ok(None),
            Some((_, Value::Text(name))) => Ok(Some(name)),
            Some((key, other)) => {
                let error = BuildError::from(BuildErrorKind::mismatch("the name of a type", other));
                Err(error.inside(key))
            }
        }
    }

    fn possible_types(&self, declared: TypeId) -> Vec<String> {
        let alternatives = self.plan.ty(declared).alternatives.iter();
        alternatives
            .filter_map(|&ty| type_name(self.plan, declared, ty))
            .take(error::SHOWN)
            .collect()
    }

    /// Builds attributes and content.
    fn inside(
        &mut self,
        id: TypeId,
        declared: TypeId,
        value: &Value,
        default: Option<&str>,
    ) -> Result<()> {
        let shape = self.shapes.of(id);
        let mut keys = Keys {
            object: value.as_object(),
            used: 0,
        };
        if !self.plan.ty(declared).alternatives.is_empty() {
            // If `@xsi:type` is given, `@type` is an attribute.
            if keys.control("@xsi:type").is_none() && shape.type_key() == "@type" {
                keys.control("@type");
            }
        }
        keys.control("@xsi:nil"); // false: true was dealt with
        if shape.nil_key() == "@nil" {
            keys.control("@nil");
        }
        let result = self
            .attributes(id, &mut keys)
            .and_then(|()| self.content(id, value, default, &mut keys));
        match result {
            Ok(()) if keys.all_used() => Ok(()),
            Ok(()) => self.unknown(id, &keys),
            // A misspelled key is reported before the missing key that it explains.
            Err(error) if error.is_missing_here() => {
                Err(self.unknown(id, &keys).err().unwrap_or(error))
            }
            Err(error) => Err(error),
        }
    }

    fn attributes(&mut self, id: TypeId, keys: &mut Keys<'_>) -> Result<()> {
        let ty = self.plan.ty(id);
        for attribute in ty.attribute_ids() {
            let given = keys.take(self.shapes.attribute_key(attribute));
            self.attribute(attribute, given)?;
        }
        if ty.any_attribute.is_some() {
            let given = keys.take("@any");
            self.any_attribute(id, given)
                .map_err(|error| error.inside("@any"))?;
        }
        Ok(())
    }

    fn content(
        &mut self,
        id: TypeId,
        value: &Value,
        default: Option<&str>,
        keys: &mut Keys<'_>,
    ) -> Result<()> {
        let is_object = value.as_object().is_some();
        match &self.plan.ty(id).content {
            Content::Empty => self.nothing(value),
            Content::Simple(leaf) => {
                let text = if is_object {
                    keys.take("#text")
                } else {
                    Some(value)
                };
                self.simple(*leaf, text, default)
            }
            Content::Particle(particle) => match value {
                Value::Object(object) => self.children(id, *particle, object, keys),
                Value::Text(text) if text.is_empty() => {
                    self.children(id, *particle, &Object::new(), keys)
                }
                other => Err(BuildErrorKind::mismatch("an object", other).into()),
            },
            Content::Mixed { particle, elements } => {
                let elements = self.plan.group(elements);
                self.mixed(id, *particle, elements, value, keys)
            }
            Content::Any => {
                let inner = if is_object {
                    keys.take("#any")
                } else {
                    Some(value)
                };
                self.inner(inner, is_object)
            }
        }
    }

    fn attribute(&mut self, id: AttributeId, given: Option<&Value>) -> Result<()> {
        let attribute = self.plan.attribute(id);
        let default = attribute.default.as_deref().or(attribute.fixed.as_deref());
        let key = || self.shapes.attribute_key(id).to_string();
        match (given, default) {
            (Some(value), _) if !value.is_nil() => {
                if !attribute.required {
                    self.record.push(marker::PRESENT);
                }
                self.leaf(attribute.leaf, value)
                    .map_err(|error| error.inside(key()))
            }
            (_, Some(text)) => {
                if !attribute.required {
                    self.record.push(marker::DEFAULTED);
                }
                self.leaf(attribute.leaf, &Value::from(text))
                    .map_err(|error| error.inside(key()))
            }
            (_, None) if attribute.required => {
                let ty = error::leaf_label(self.plan.leaf(attribute.leaf));
                Err(BuildErrorKind::Missing { name: key(), ty }.into())
            }
            (_, None) => {
                self.record.push(marker::ABSENT);
                self.record.push(0);
                Ok(())
            }
        }
    }

    /// Builds `@any`, an object with texts by `{namespace}local`.
    fn any_attribute(&mut self, id: TypeId, given: Option<&Value>) -> Result<()> {
        let mut attributes = Vec::new();
        let mut seen = HashSet::new();
        match given {
            None | Some(Value::Nil) => {}
            Some(Value::Object(object)) => {
                for (key, value) in object.iter() {
                    let name = expanded::split(key).unwrap_or(("", key));
                    let is_free = self.is_free(id, name) && seen.insert(name);
                    let text = value.as_str().filter(|_| is_free);
                    let text = text.ok_or_else(|| {
                        BuildError::from(BuildErrorKind::mismatch(
                            "text by {namespace}local",
                            value,
                        ))
                    })?;
                    attributes.push((name.0, name.1, text));
                }
            }
            Some(other) => {
                return Err(BuildErrorKind::mismatch(
                    "an object of {namespace}local to text",
                    other,
                )
                .into());
            }
        }
        let xml = kept::write(attributes.into_iter())
            .map_err(|problem| BuildErrorKind::Xml(problem.to_string()))?;
        Ok(self.record.push_octets(xml.as_bytes())?)
    }

    /// Whether an attribute of this name is allowed beside those that the type declares.
    fn is_free(&self, id: TypeId, (namespace, local): (&str, &str)) -> bool {
        // Namespace declarations are no attributes: they would change the names of the children.
        if (namespace, local) == ("", "xmlns") || namespace == "http://www.w3.org/2000/xmlns/" {
            return false;
        }
        let ty = self.plan.ty(id);
        // `xsi:type` and `xsi:nil` have keys of their own; only the `xsi:type` of an `anyType` is kept here.
        if namespace == XSI && !(local == "type" && ty.content == Content::Any) {
            return false;
        }
        let name = self.plan.vocabulary.lookup(namespace, local);
        let is_declared = name.is_some_and(|name| {
            ty.attribute_ids()
                .any(|id| self.plan.attribute(id).name == name)
        });
        bsoap_xml::is_ncname(local) && !is_declared
    }

    fn nothing(&self, value: &Value) -> Result<()> {
        match value {
            Value::Object(_) | Value::Nil => Ok(()),
            Value::Text(text) if text.is_empty() => Ok(()),
            other => Err(BuildErrorKind::mismatch("an empty object", other).into()),
        }
    }

    fn simple(&mut self, leaf: LeafId, given: Option<&Value>, default: Option<&str>) -> Result<()> {
        match (given, default) {
            (Some(value), None) => self.leaf(leaf, value),
            (Some(value), Some(default)) if is_empty(value) => {
                self.leaf(leaf, &Value::from(default))
            }
            (Some(value), Some(_)) => self.leaf(leaf, value),
            (None, Some(default)) => self.leaf(leaf, &Value::from(default)),
            // An object with attributes only is valid if the type allows an empty text.
            (None, None) => match self.plan.leaf(leaf).kind {
                LeafKind::Text | LeafKind::Base64 | LeafKind::Hex | LeafKind::List(_) => {
                    self.leaf(leaf, &Value::from(""))
                }
                _ => Err(BuildErrorKind::Missing {
                    name: "#text".to_owned(),
                    ty: error::leaf_label(self.plan.leaf(leaf)),
                }
                .into()),
            },
        }
    }

    /// Builds children that are given by name.
    fn children(
        &mut self,
        ty: TypeId,
        particle: ParticleId,
        object: &Object,
        keys: &mut Keys<'_>,
    ) -> Result<()> {
        let shape = self.shapes.of(ty);
        let order = keys.control("#order");
        let branch = self.branch.take();
        if shape.is_direct && order.is_none() && branch.is_none() {
            let mut placer = DirectPlacer::new(self, shape, object);
            placer.content(particle)?;
            keys.used += placer.used;
            return Ok(());
        }
        let mut cursor = Cursor::default();
        let mut source = GivenChildren::new(shape, |key| {
            let value = object.get_next(key, &mut cursor)?;
            keys.used += 1;
            Some(value)
        });
        if let Some(order) = order {
            source.order = Some(self.order(ty, order)?);
        }
        let mut placer = Placer::new(self, source);
        match branch {
            Some(branch) => placer.branch(particle, branch)?,
            None => placer.particle(particle)?,
        }
        placer.finish()
    }

    /// Counts an open group.
    fn enter_group(&mut self) -> Result<()> {
        if self.groups >= MAX_GROUPS {
            return Err(BuildErrorKind::Depth(MAX_DEPTH).into());
        }
        self.groups += 1;
        Ok(())
    }

    fn order(&self, ty: TypeId, order: &Value) -> Result<place::Order> {
        let wrong = || {
            BuildError::from(BuildErrorKind::mismatch(
                "an array of names of children",
                order,
            ))
            .inside("#order")
        };
        let shape = self.shapes.of(ty);
        let names = order.as_array().ok_or_else(wrong)?;
        let children = shape.children.iter().enumerate();
        let places: HashMap<&str, usize> = children
            .rev()
            .map(|(place, child)| (&*child.key, place))
            .collect();
        let head = |name: &Value| match name.as_str()? {
            "#any" => Some(place::Head::Any),
            key => places.get(key).copied().map(place::Head::Child),
        };
        let heads: Option<Vec<_>> = names.iter().map(head).collect();
        Ok(place::Order::new(heads.ok_or_else(wrong)?))
    }

    /// An error if an object has a member that its type does not have.
    fn unknown(&self, id: TypeId, keys: &Keys<'_>) -> Result<()> {
        let Some(object) = keys.object else {
            return Ok(());
        };
        let (ty, shape) = (self.plan.ty(id), self.shapes.of(id));
        let known = self.known_keys(id);
        // A set costs more than a search of a few names.
        let set: Option<HashSet<&str>> =
            (known.len() > FEW_KEYS).then(|| known.iter().copied().collect());
        let is_known = |key: &str| match key {
            "@xsi:type" | "@xsi:nil" | "@nil" => true,
            "@any" => ty.any_attribute.is_some(),
            "#order" => matches!(ty.content, Content::Particle(_)),
            "#any" => shape.has_any || matches!(ty.content, Content::Any),
            key => match &set {
                Some(set) => set.contains(key),
                None => known.contains(&key),
            },
        };
        match object.keys().find(|key| !is_known(key)) {
            Some(key) => Err(self.unknown_key(id, key)),
            None => Ok(()),
        }
    }

    fn known_keys(&self, id: TypeId) -> Vec<&str> {
        let ty = self.plan.ty(id);
        let attributes = ty
            .attribute_ids()
            .map(|id| &**self.shapes.attribute_key(id));
        let children = self.shapes.of(id).children.iter().map(|child| &*child.key);
        let special = match ty.content {
            Content::Simple(_) => Some("#text"),
            Content::Mixed { .. } => Some("#mixed"),
            _ => None,
        };
        children.chain(attributes).chain(special).collect()
    }

    fn unknown_key(&self, ty: TypeId, key: &str) -> BuildError {
        let known = self.known_keys(ty);
        let listed = known.iter().take(error::LISTED);
        BuildErrorKind::UnknownKey {
            key: key.to_owned(),
            nearest: crate::nearest(key, &known),
            known: listed.map(|&name| name.to_owned()).collect(),
            more: known.len().saturating_sub(error::LISTED),
        }
        .into()
    }
}

/// Whether the text of a simple value would be empty.
fn is_empty(value: &Value) -> bool {
    match value {
        Value::Text(text) => text.is_empty(),
        Value::Bytes(octets) | Value::Hex(octets) => octets.is_empty(),
        other => other.is_empty(),
    }
}

/// The members of an object, with those that have been used.
struct Keys<'v> {
    object: Option<&'v Object>,
    used: usize,
}

impl<'v> Keys<'v> {
    /// As [`take`](Self::take), by a key that is no attribute's.
    #[inline]
    fn control(&mut self, key: &str) -> Option<&'v Value> {
        let value = self.object?.get_control(key)?;
        self.used += 1;
        Some(value)
    }

    fn take(&mut self, key: &str) -> Option<&'v Value> {
        let value = self.object?.get(key)?;
        self.used += 1;
        Some(value)
    }

    fn all_used(&self) -> bool {
        self.object.is_none_or(|object| self.used >= object.len())
    }
}
