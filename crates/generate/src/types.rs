//! Plan → Rust types: which type each element gets.
//!
//! | in the Plan | in Rust |
//! |---|---|
//! | simple type | number, `bool`, `String`, `Octets`, `HexOctets`; an enumeration of strings an enum |
//! | date, time, duration, decimal, unbounded integer | by the options, see `scalars.rs` |
//! | complex type | struct: attributes, then children |
//! | `minOccurs="0"` or `nillable` | `Option`; both: `Nillable` |
//! | `maxOccurs` above 1 | `Vec` |
//! | choice, mixed content, type with derived ones | enum |
//!
//! Types are processed from a queue, so that they may be recursive. Only the groups of one content model are processed
//! recursively; the schema loader limits their depth.

use std::collections::{HashMap, HashSet, VecDeque};

use bsoap_codec::plan::{
    AttributeId, Content, ElementId, LeafId, LeafKind, Particle, ParticleId, Plan, Term, TypeId,
};
use bsoap_datatypes::{Datatype, SimpleType, Variety};
use bsoap_schema::Definitions;

use crate::model::{
    Alternative, FieldSlot, ItemId, ItemKind, ItemLayout, JsonKey, Occurs, StructField, Ty,
    TypeItem, Variant,
};
use crate::names::NameScope;
use crate::scalars::scalar;
use crate::{Error, Options};

const XSD_NAMESPACE: &str = "http://www.w3.org/2001/XMLSchema";

/// Determines types on demand.
#[derive(Debug)]
pub(crate) struct Types<'d> {
    definitions: &'d Definitions,
    options: &'d Options,
    pub(crate) plan: &'d Plan,
    pub(crate) items: Vec<TypeItem>,
    pub(crate) scope: NameScope,
    /// The Rust type of each type of the plan, without its derived types.
    exact: HashMap<TypeId, Ty>,
    /// The enum of each type that has derived types.
    alternatives: HashMap<TypeId, ItemId>,
    enumerations: HashMap<*const SimpleType, ItemId>,
    /// The types of groups: derived types share those of their base.
    groups: HashMap<ParticleId, ItemId>,
    /// The attributes by which values of encoded messages are referred to.
    ids: HashSet<AttributeId>,
    /// The type whose content is being determined, whose object has the members.
    owner: Option<TypeId>,
    queue: VecDeque<(ItemId, Task)>,
}

/// A type that is still to be determined.
#[derive(Debug)]
enum Task {
    Complex(TypeId),
    Alternatives(TypeId),
}

/// What is said of the size of an array.
const SIZE: &str = "The size of an array of several dimensions, such as `[2,3]`, whose items come row after row. `None` says that it is the number of items.";

/// The attributes that name values of encoded messages.
fn ids_of_encoding(plan: &Plan) -> HashSet<AttributeId> {
    let mut ids = HashSet::new();
    let mut seen = HashSet::new();
    for element in (0..plan.element_count()).map(|index| ElementId(index as u32)) {
        let Some(encoded) = plan.encoded(element) else {
            continue;
        };
        let declared = plan.element(element).ty;
        let types = plan.ty(declared).alternatives.iter().chain([&declared]);
        for &ty in types.filter(|ty| seen.insert(**ty)) {
            let attributes = plan.ty(ty).attribute_ids();
            ids.extend(attributes.filter(|&id| plan.attribute(id).name == encoded.rules.id));
        }
    }
    ids
}

impl<'d> Types<'d> {
    pub(crate) fn new(definitions: &'d Definitions, options: &'d Options) -> Self {
        Self {
            definitions,
            options,
            plan: definitions.plan(),
            items: Vec::new(),
            scope: NameScope::of_types(),
            exact: HashMap::new(),
            alternatives: HashMap::new(),
            enumerations: HashMap::new(),
            groups: HashMap::new(),
            ids: ids_of_encoding(definitions.plan()),
            owner: None,
            queue: VecDeque::new(),
        }
    }

    /// Processes the queue.
    ///
    /// # Errors
    /// If the types have too many members.
    pub(crate) fn finish(&mut self) -> Result<(), Error> {
        let mut counted = 0;
        let mut members = 0;
        while let Some((item, task)) = self.queue.pop_front() {
            self.items[item].kind = match task {
                Task::Complex(ty) => {
                    self.items[item].fingerprint = Some(self.plan.type_fingerprint(ty));
                    self.owner = Some(ty);
                    self.complex(item, ty)
                }
                Task::Alternatives(ty) => self.alternatives_of(ty),
            };
            members += self.items[item].kind.members();
            // Those that are complete already have been added with their members.
            let added = self.items[counted..].iter();
            members += added.map(|item| 1 + item.kind.members()).sum::<usize>();
            counted = self.items.len();
            if members > self.options.max_members {
                return Err(Error::TooLarge(self.options.max_members));
            }
        }
        Ok(())
    }

    /// Adds a type of this name, with a number if the name is taken.
    pub(crate) fn item(
        &mut self,
        name: &str,
        documentation: Option<&str>,
        kind: ItemKind,
    ) -> ItemId {
        let name = self.scope.ty(name);
        self.items.push(TypeItem {
            name,
            documentation: documentation.map(str::to_owned),
            fingerprint: None,
            kind,
        });
        self.items.len() - 1
    }

    fn local(&self, element: ElementId) -> &'d str {
        self.plan
            .vocabulary()
            .local(self.plan.element(element).name)
    }

    /// An element that is there once: a body, a header block, the detail of a fault.
    pub(crate) fn element(&mut self, element: ElementId) -> FieldSlot {
        let def = self.plan.element(element);
        FieldSlot {
            ty: self.element_type(element),
            occurs: Occurs::Once,
            is_attribute: false,
            nillable: def.nillable.then(|| self.instance_of(def.ty)),
            nil_is_absent: self.plan.encoded(element).is_some(),
        }
    }

    /// The type that a nil element says it is of: not an abstract one. (XML Schema Part 1 §3.3.4, cvc-elt.4 and cvc-type.2)
    fn instance_of(&self, ty: TypeId) -> TypeId {
        let def = self.plan.ty(ty);
        let first = def.alternatives.first().copied();
        first.filter(|_| def.is_abstract).unwrap_or(ty)
    }

    /// An element as a header block. Its type has attributes that the declared type lacks, so it becomes a type of its own.
    pub(crate) fn block(&mut self, element: ElementId) -> FieldSlot {
        let ty = self.plan.element(element).ty;
        if self.plan.ty(ty).alternatives.is_empty() && !self.exact.contains_key(&ty) {
            let name = format!("{}_Block", self.local(element));
            let item = self.item(
                &name,
                self.definitions.type_documentation(ty),
                ItemKind::Pending,
            );
            self.queue.push_back((item, Task::Complex(ty)));
            self.exact.insert(ty, Ty::Item(item));
        }
        self.element(element)
    }

    /// The type of an element's value: an enum if derived types are allowed.
    fn element_type(&mut self, element: ElementId) -> Ty {
        let ty = self.plan.element(element).ty;
        if self.plan.ty(ty).alternatives.is_empty() {
            return self.exact(ty, self.local(element));
        }
        if let Some(&item) = self.alternatives.get(&ty) {
            return Ty::Item(item);
        }
        let name = match self.type_name(ty) {
            Some("anyType") => "AnyType".to_owned(),
            Some(name) => format!("Any_{name}"),
            None => format!("Any_{}", self.local(element)),
        };
        let item = self.item(
            &name,
            self.definitions.type_documentation(ty),
            ItemKind::Pending,
        );
        self.alternatives.insert(ty, item);
        self.queue.push_back((item, Task::Alternatives(ty)));
        Ty::Item(item)
    }

    fn type_name(&self, ty: TypeId) -> Option<&'d str> {
        self.plan
            .ty(ty)
            .name
            .map(|name| self.plan.vocabulary().local(name))
    }

    /// The Rust type of exactly this type. An anonymous type is named after its element.
    fn exact(&mut self, ty: TypeId, owner: &str) -> Ty {
        if let Some(known) = self.exact.get(&ty) {
            return known.clone();
        }
        let def = self.plan.ty(ty);
        let made = match def.content {
            Content::Simple(leaf) if def.attributes.is_empty() && def.any_attribute.is_none() => {
                self.leaf(leaf, owner)
            }
            _ => {
                let name = match (self.type_name(ty), def.name) {
                    (Some("anyType"), Some(name))
                        if self.plan.vocabulary().namespace(name) == XSD_NAMESPACE =>
                    {
                        "Xml"
                    }
                    (Some(name), _) => name,
                    (None, _) => owner,
                };
                let item = self.item(
                    name,
                    self.definitions.type_documentation(ty),
                    ItemKind::Pending,
                );
                self.queue.push_back((item, Task::Complex(ty)));
                Ty::Item(item)
            }
        };
        self.exact.insert(ty, made.clone());
        made
    }

    fn leaf(&mut self, leaf: LeafId, owner: &str) -> Ty {
        let leaf = self.plan.leaf(leaf);
        let plain = match leaf.kind {
            LeafKind::Boolean => "bool",
            LeafKind::Signed { min, .. } if min >= i8::MIN.into() => "i8",
            LeafKind::Signed { min, .. } if min >= i16::MIN.into() => "i16",
            LeafKind::Signed { min, .. } if min >= i32::MIN.into() => "i32",
            LeafKind::Signed { .. } => "i64",
            LeafKind::Unsigned { max } if max <= u8::MAX.into() => "u8",
            LeafKind::Unsigned { max } if max <= u16::MAX.into() => "u16",
            LeafKind::Unsigned { max } if max <= u32::MAX.into() => "u32",
            LeafKind::Unsigned { .. } => "u64",
            LeafKind::Float => "f32",
            LeafKind::Double => "f64",
            LeafKind::Base64 => "bsoap::Octets",
            LeafKind::Hex => "bsoap::HexOctets",
            LeafKind::Name => "String",
            LeafKind::Text => return self.text(&leaf.simple, owner),
            LeafKind::List(item) => return Ty::List(Box::new(self.leaf(item, owner))),
        };
        Ty::Plain(plain)
    }

    /// Text: an enum if the type is a string and lists its values.
    fn text(&mut self, simple: &std::sync::Arc<SimpleType>, owner: &str) -> Ty {
        let Variety::Atomic(datatype) = *simple.variety() else {
            return Ty::Plain("String");
        };
        let is_string = datatype.is_derived_from(Datatype::String);
        let Some(enumeration) = simple.facets().enumeration().filter(|_| is_string) else {
            return scalar(datatype, self.options);
        };
        let key = std::sync::Arc::as_ptr(simple);
        if let Some(&item) = self.enumerations.get(&key) {
            return Ty::Item(item);
        }
        let mut scope = NameScope::default();
        let other = (!self.options.closed_enumerations).then(|| scope.variant("Other"));
        let values: Vec<_> = enumeration
            .lexical_forms()
            .map(|value| (scope.variant(value), value.to_owned()))
            .collect();
        let name = simple.name().map_or(owner, |name| name.local());
        let item = self.item(name, None, ItemKind::Enumeration { values, other });
        self.enumerations.insert(key, item);
        Ty::Item(item)
    }

    fn alternatives_of(&mut self, ty: TypeId) -> ItemKind {
        let mut scope = NameScope::default();
        let alternatives = self.plan.ty(ty).alternatives.iter().map(|&alternative| {
            let name = self.type_name(alternative).unwrap_or("Value");
            Alternative {
                name: scope.variant(name),
                ty: alternative,
                value: self.exact(alternative, name),
                is_declared: alternative == ty,
                tag: self.plan.derived_key(ty, alternative),
            }
        });
        ItemKind::Alternatives(alternatives.collect())
    }

    fn complex(&mut self, item: ItemId, ty: TypeId) -> ItemKind {
        let owner = self.items[item].name.to_string();
        let def = self.plan.ty(ty);
        let mut fields = Fields {
            scope: NameScope::default(),
            fields: Vec::new(),
        };
        // Children first: where an attribute has the name of a child, it is the attribute that is renamed.
        let mut children = Fields {
            scope: NameScope::default(),
            fields: Vec::new(),
        };
        let mut layout = ItemLayout::Sequence;
        match &def.content {
            Content::Empty => {}
            Content::Simple(leaf) => {
                let value = FieldSlot::once(self.leaf(*leaf, &owner));
                children.push(
                    "value",
                    None,
                    value,
                    Some(JsonKey::Member("#text".to_owned())),
                );
            }
            Content::Particle(particle) => layout = self.content(&mut children, &owner, *particle),
            Content::Mixed { elements, .. } => {
                let variants = self.mixed(&owner, elements);
                let choice =
                    self.item(&format!("{owner}_Content"), None, ItemKind::Mixed(variants));
                let occurs = Occurs::Many;
                children.push(
                    "content",
                    None,
                    FieldSlot {
                        occurs,
                        ..FieldSlot::once(Ty::Item(choice))
                    },
                    Some(JsonKey::Member("#mixed".to_owned())),
                );
            }
            Content::Any => children.push(
                "xml",
                Some("The inner XML, with all namespaces it uses declared."),
                FieldSlot::once(Ty::Plain("String")),
                Some(JsonKey::Any),
            ),
        }
        fields.scope = children.scope;
        let mut id_at = None;
        for id in def.attribute_ids() {
            match self.ids.contains(&id) {
                true => id_at = Some(fields.fields.len()),
                false => self.attribute(&mut fields, &owner, id),
            }
        }
        if def.any_attribute.is_some() {
            let documentation = "Other attributes, as an empty element `<a …/>` that carries them; empty if there are none.";
            fields.push(
                "any_attribute",
                Some(documentation),
                FieldSlot::once(Ty::Plain("String")),
                Some(JsonKey::AnyAttribute),
            );
        }
        if let ItemLayout::AllFrom(first) = &mut layout {
            *first += fields.fields.len();
        }
        fields.fields.append(&mut children.fields);
        ItemKind::Struct {
            fields: fields.fields,
            layout,
            id_at,
        }
    }

    fn attribute(&mut self, fields: &mut Fields, owner: &str, id: AttributeId) {
        let attribute = self.plan.attribute(id);
        let name = self.plan.vocabulary().local(attribute.name);
        let ty = self.leaf(attribute.leaf, &format!("{owner}_{name}"));
        let occurs = if attribute.required {
            Occurs::Once
        } else {
            Occurs::Optional
        };
        let place = FieldSlot {
            occurs,
            is_attribute: true,
            ..FieldSlot::once(ty)
        };
        let name = match fields.scope.has_field(name) {
            true => format!("{name}_attribute"),
            false => name.to_owned(),
        };
        let key = self.plan.attribute_key(id).to_owned();
        let documentation = self.plan.is_array_size(id).then_some(SIZE);
        fields.push(&name, documentation, place, Some(JsonKey::Member(key)));
    }

    /// The fields of a content model: those of its sequence, or one for the whole.
    fn content(&mut self, fields: &mut Fields, owner: &str, id: ParticleId) -> ItemLayout {
        let particle = self.plan.particle(id);
        match &particle.term {
            Term::Sequence(_) if particle.is_required_once() => {
                for &child in self.plan.children_of(id) {
                    self.particle(fields, owner, child);
                }
                ItemLayout::Sequence
            }
            Term::All(_) if particle.is_required_once() => {
                let first = fields.fields.len();
                for &child in self.plan.children_of(id) {
                    self.particle(fields, owner, child);
                }
                ItemLayout::AllFrom(first)
            }
            _ => {
                self.particle(fields, owner, id);
                ItemLayout::Sequence
            }
        }
    }

    /// The field of a particle.
    fn particle(&mut self, fields: &mut Fields, owner: &str, id: ParticleId) {
        let name = match &self.plan.particle(id).term {
            Term::Element(element) => self.local(*element),
            Term::Any(_) => "any",
            Term::Choice(_) => "choice",
            Term::Sequence(_) => "group",
            Term::All(_) => "all",
        };
        let documentation = match &self.plan.particle(id).term {
            Term::Element(element) => self.definitions.element_documentation(*element),
            Term::Any(_) => Some("Any other element, as XML."),
            _ => None,
        };
        let slot = self.place(owner, id);
        let json = self.json_key(id, slot.occurs);
        fields.push(name, documentation, slot, json);
    }

    /// Where a particle is in the object of the type that is being determined. `None` for repeated groups: their field has
    /// a member of its own, since the members of the object would not tell their order.
    fn json_key(&self, id: ParticleId, occurs: Occurs) -> Option<JsonKey> {
        Some(match &self.plan.particle(id).term {
            Term::Element(element) => JsonKey::Member(match self.owner {
                Some(owner) => self.plan.key(owner, *element).to_owned(),
                None => self.local(*element).to_owned(),
            }),
            Term::Any(_) => JsonKey::Any,
            _ if occurs == Occurs::Many => return None,
            _ => JsonKey::Flat,
        })
    }

    /// A particle as a field.
    pub(crate) fn place(&mut self, owner: &str, id: ParticleId) -> FieldSlot {
        let particle = self.plan.particle(id);
        let occurs = occurrence(particle);
        match &particle.term {
            Term::Element(element) => {
                let slot = match self.plan.ty(self.plan.element(*element).ty).name {
                    Some(_) => self.element(*element),
                    // An anonymous type is named after its element and the type around it.
                    None => self.nested(owner, *element),
                };
                FieldSlot { occurs, ..slot }
            }
            Term::Any(_) => FieldSlot {
                occurs,
                ..FieldSlot::once(Ty::Plain("String"))
            },
            Term::Choice(_) => {
                let item = self.group(owner, id);
                let occurs = if occurs == Occurs::Once && particle.is_emptiable {
                    Occurs::Optional
                } else {
                    occurs
                };
                FieldSlot {
                    occurs,
                    ..FieldSlot::once(Ty::Item(item))
                }
            }
            Term::Sequence(_) | Term::All(_) => {
                let item = self.group(owner, id);
                FieldSlot {
                    occurs,
                    ..FieldSlot::once(Ty::Item(item))
                }
            }
        }
    }

    /// The parts of a message that has several, as a struct of this name.
    pub(crate) fn parts(&mut self, name: &str, id: ParticleId) -> FieldSlot {
        FieldSlot::once(Ty::Item(self.group_named(name, id)))
    }

    /// The type of a choice, or of a sequence or `all` that is not simply there once.
    fn group(&mut self, owner: &str, id: ParticleId) -> ItemId {
        let is_choice = matches!(self.plan.particle(id).term, Term::Choice(_));
        let what = if is_choice { "Choice" } else { "Group" };
        self.group_named(&format!("{owner}_{what}"), id)
    }

    fn group_named(&mut self, name: &str, id: ParticleId) -> ItemId {
        if let Some(&known) = self.groups.get(&id) {
            return known;
        }
        let layout = match self.plan.particle(id).term {
            Term::Choice(_) => None,
            Term::All(_) => Some(ItemLayout::AllFrom(0)),
            _ => Some(ItemLayout::Sequence),
        };
        let item = self.item(name, None, ItemKind::Pending);
        self.groups.insert(id, item);
        let inner = self.items[item].name.to_string();
        self.items[item].kind = match layout {
            None => ItemKind::Choice(self.variants(
                &inner,
                NameScope::default(),
                self.plan.children_of(id),
            )),
            Some(layout) => {
                let mut fields = Fields {
                    scope: NameScope::default(),
                    fields: Vec::new(),
                };
                for &child in self.plan.children_of(id) {
                    self.particle(&mut fields, &inner, child);
                }
                ItemKind::Struct {
                    fields: fields.fields,
                    layout,
                    id_at: None,
                }
            }
        };
        item
    }

    fn nested(&mut self, owner: &str, element: ElementId) -> FieldSlot {
        let ty = self.plan.element(element).ty;
        if self.plan.ty(ty).alternatives.is_empty() {
            self.exact(ty, &format!("{owner}_{}", self.local(element)));
        }
        self.element(element)
    }

    fn variants(
        &mut self,
        owner: &str,
        mut scope: NameScope,
        children: &[ParticleId],
    ) -> Vec<Variant> {
        let mut variants = Vec::new();
        for &child in children {
            let (name, documentation) = match &self.plan.particle(child).term {
                Term::Element(element) => (
                    self.local(*element),
                    self.definitions.element_documentation(*element),
                ),
                Term::Any(_) => ("Any", Some("Any other element, as XML.")),
                Term::Choice(_) => ("Choice", None),
                Term::Sequence(_) | Term::All(_) => ("Group", None),
            };
            let name = scope.variant(name);
            let place = self.place(owner, child);
            let json = self.json_key(child, place.occurs);
            let json = json.unwrap_or_else(|| JsonKey::Member(name.to_string()));
            variants.push(Variant {
                name,
                documentation: documentation.map(str::to_owned),
                place,
                json,
            });
        }
        variants
    }

    /// The items of mixed content: text, or an element.
    fn mixed(&mut self, owner: &str, elements: &std::ops::Range<u32>) -> Vec<Variant> {
        let mut scope = NameScope::default();
        scope.variant("Text");
        let mut variants = self.variants(owner, scope, self.plan.group(elements));
        for variant in &mut variants {
            variant.place.occurs = Occurs::Once;
        }
        variants
    }
}

/// The fields of a struct that is being built.
struct Fields {
    scope: NameScope,
    fields: Vec<StructField>,
}

impl Fields {
    /// Adds a field. Without a key, or if another field has it, its member is called as the field.
    fn push(
        &mut self,
        name: &str,
        documentation: Option<&str>,
        place: FieldSlot,
        json: Option<JsonKey>,
    ) {
        let name = self.scope.field(name);
        let is_taken = |json: &JsonKey| {
            *json != JsonKey::Flat && self.fields.iter().any(|field| field.json == *json)
        };
        let json = json.filter(|json| !is_taken(json)).unwrap_or_else(|| {
            JsonKey::Member(name.to_string().trim_start_matches("r#").to_owned())
        });
        self.fields.push(StructField {
            name,
            documentation: documentation.map(str::to_owned),
            place,
            json,
        });
    }
}

fn occurrence(particle: &Particle) -> Occurs {
    match (particle.repeats(), particle.min) {
        (true, _) => Occurs::Many,
        (false, 0) => Occurs::Optional,
        (false, _) => Occurs::Once,
    }
}
