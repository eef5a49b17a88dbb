//! The types and elements of encoded messages: variants of those that the schemas declare. (SOAP 1.1 §5; SOAP 1.2 Part 2 §3)
//!
//! | declared | encoded |
//! |---|---|
//! | sequence of elements | accessors by name, in any order; an omitted one is nil |
//! | element of a complex type | may be nil, or a reference to the value; its start tag states the type |
//! | complex type | has an `id` |
//! | array by restriction of `soapenc:Array` | `item*`, items have any name; `arrayType` is an attribute |
//! | array of numbers | the same; its items are not nil, so that they are a contiguous column |
//!
//! Behind the wrapper in the Body, independent elements follow (`multiRef*`), which have any name.
//!
//! Variants are made when all declared types are known, from a queue, as types can contain themselves.

use std::sync::Arc;

use bsoap_codec::plan::{
    ArraySize, AttributeDef, Content, ElementDef, ElementId, Encoded, EncodingRules, LeafId,
    LeafKind, ParticleDef, ParticleId, PlanBuilder, Role, StatedType, TermDef, TypeDef, TypeId,
    UNBOUNDED,
};
use bsoap_datatypes::qname::NoNamespaces;
use bsoap_datatypes::{Datatype, Facet, FacetName, SimpleType};
use bsoap_xml::NameId;
use foldhash::{HashMap, HashMapExt as _};

use super::array::ArrayInfo;
use super::envelope::{element_def, type_def};
use crate::definitions::SoapVersion;
use crate::name::{ENCODING_NAMESPACE, ENCODING12_NAMESPACE, XSD_NAMESPACE, XSI_NAMESPACE};

/// The types that the encoding needs.
#[derive(Clone, Copy, Debug)]
pub(crate) struct EncodingTypes {
    pub(crate) any: TypeId,
    pub(crate) string: TypeId,
}

/// The variants made for one version of the encoding.
#[derive(Debug)]
pub(crate) struct EncodedVariants {
    types_used: EncodingTypes,
    version: SoapVersion,
    rules: Arc<EncodingRules>,
    /// `arrayType`, or `arraySize`.
    size: NameId,
    /// The type of its value.
    size_leaf: LeafId,
    /// `itemType`; SOAP 1.1 has none.
    item_type: Option<NameId>,
    /// `encodingStyle` of the Envelope's namespace.
    style: NameId,
    types: HashMap<TypeId, TypeId>,
    elements: HashMap<(ElementId, Place), ElementId>,
    particles: HashMap<ParticleId, ParticleId>,
    /// Arrays of arrays, by the type of the innermost items and the number of levels.
    nested: HashMap<(TypeId, usize), TypeId>,
    /// The declared types whose variants are reserved, but not defined yet.
    waiting: Vec<TypeId>,
    independent: Option<ElementId>,
}

/// Where an element is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Place {
    /// In a struct, or as an argument.
    Accessor,
    /// In an array.
    Item,
    /// In the Body, or in the detail of a fault, or as a header block.
    Root,
}

impl EncodedVariants {
    pub(crate) fn new(
        builder: &mut PlanBuilder,
        version: SoapVersion,
        types_used: EncodingTypes,
    ) -> Self {
        builder.prefix(XSI_NAMESPACE, "xsi");
        builder.prefix(XSD_NAMESPACE, "xsd");
        builder.name(XSI_NAMESPACE, "type");
        let is_11 = version == SoapVersion::Soap11;
        let namespace = encoding(version);
        let size_type = match is_11 {
            true => SimpleType::builtin(Datatype::String),
            false => sizes(),
        };
        builder.prefix(namespace, if is_11 { "soapenc" } else { "enc" });
        let (reference, id) = match is_11 {
            true => (builder.name("", "href"), builder.name("", "id")),
            false => (
                builder.name(namespace, "ref"),
                builder.name(namespace, "id"),
            ),
        };
        let text = attribute(builder, reference, types_used.string, true);
        let ty = builder.reserve_type();
        let def = TypeDef {
            attributes: text.into_iter().collect(),
            ..type_def(Content::Empty)
        };
        builder.define_type(ty, def);
        let mut optional = |local| is_11.then(|| builder.name(namespace, local));
        let (offset, position) = (optional("offset"), optional("position"));
        let rules = EncodingRules {
            reference: ty,
            id,
            offset,
            position,
        };
        Self {
            types_used,
            version,
            rules: Arc::new(rules),
            size: builder.name(namespace, if is_11 { "arrayType" } else { "arraySize" }),
            size_leaf: builder.leaf(&size_type),
            item_type: (!is_11).then(|| builder.name(namespace, "itemType")),
            style: builder.name(version.envelope_namespace(), "encodingStyle"),
            types: HashMap::new(),
            elements: HashMap::new(),
            particles: HashMap::new(),
            nested: HashMap::new(),
            waiting: Vec::new(),
            independent: None,
        }
    }

    /// Makes an element the wrapper of an encoded message.
    pub(crate) fn wrapper(&self, builder: &mut PlanBuilder, element: ElementId) {
        let encoded = Encoded {
            may_refer: false,
            style: Some(self.style()),
            ..self.encoded()
        };
        builder.encode(element, encoded);
    }

    /// The variant of an element that is an argument or a result.
    pub(crate) fn part(
        &mut self,
        builder: &mut PlanBuilder,
        arrays: &HashMap<TypeId, ArrayInfo>,
        element: ElementId,
    ) -> ElementId {
        let part = self.element(builder, element, Place::Accessor);
        self.define(builder, arrays);
        part
    }

    /// The variant of an element that is the whole content of a Body, a detail or a header block. Its name stays as declared.
    pub(crate) fn root(
        &mut self,
        builder: &mut PlanBuilder,
        arrays: &HashMap<TypeId, ArrayInfo>,
        element: ElementId,
    ) -> ElementId {
        let root = self.element(builder, element, Place::Root);
        self.define(builder, arrays);
        root
    }

    /// The element of independent values, which follow the wrapper.
    pub(crate) fn independent(
        &mut self,
        builder: &mut PlanBuilder,
        arrays: &HashMap<TypeId, ArrayInfo>,
    ) -> ElementId {
        if let Some(element) = self.independent {
            return element;
        }
        let any = self.ty(builder, self.types_used.any);
        self.define(builder, arrays);
        // Simple values are kept as text, and filled in where they are referred to.
        let def = builder.type_def(any).cloned();
        let mut def = def.unwrap_or_else(|| type_def(Content::Any));
        let is_simple = |ty: &TypeId| {
            let def = builder.type_def(*ty);
            def.is_some_and(|def| matches!(def.content, Content::Simple(_)))
        };
        def.alternatives.retain(|ty| !is_simple(ty));
        let ty = builder.reserve_type();
        for alternative in &mut def.alternatives {
            if *alternative == any {
                *alternative = ty;
            }
        }
        builder.define_type(ty, def);
        let name = builder.name("", "multiRef");
        let element = builder.element(element_def(name, ty, Role::Application));
        let encoded = Encoded {
            has_any_name: true,
            may_refer: false,
            style: Some(self.style()),
            ..self.encoded()
        };
        builder.encode(element, encoded);
        self.independent = Some(element);
        element
    }

    /// The attribute `encodingStyle`, and its value.
    fn style(&self) -> (NameId, String) {
        (self.style, encoding(self.version).to_owned())
    }

    fn encoded(&self) -> Encoded {
        Encoded {
            rules: Arc::clone(&self.rules),
            stated_type: StatedType::Actual,
            alias: None,
            has_any_name: false,
            may_refer: true,
            style: None,
        }
    }

    /// Defines the variants that are reserved, and those that their definitions need.
    fn define(&mut self, builder: &mut PlanBuilder, arrays: &HashMap<TypeId, ArrayInfo>) {
        while let Some(declared) = self.waiting.pop() {
            let Some(def) = builder.type_def(declared).cloned() else {
                continue;
            };
            let variant = self.types[&declared];
            let def = match (&def.content, arrays.get(&declared)) {
                (Content::Simple(_), Some(_)) => def,
                (content, Some(info)) => {
                    let declared = match content {
                        Content::Particle(particle) => only_element(builder, *particle),
                        _ => None,
                    };
                    let declared = declared.map(|element| builder.element_def(element));
                    let (name, ty) = declared.map(|def| (def.name, def.ty)).unzip();
                    let item = info.item.or(ty).unwrap_or(self.types_used.any);
                    let name = name.unwrap_or_else(|| builder.name("", "item"));
                    self.array(builder, (variant, def), name, (item, info.levels))
                }
                (Content::Simple(_), _) => self.simple(builder, def),
                _ => self.complex(builder, def),
            };
            builder.define_type(variant, def);
        }
    }

    /// The variant of a type. A simple type without attributes has none: it stays as it is.
    fn ty(&mut self, builder: &mut PlanBuilder, declared: TypeId) -> TypeId {
        if let Some(&variant) = self.types.get(&declared) {
            return variant;
        }
        let is_plain = builder.type_def(declared).is_some_and(|def| {
            matches!(def.content, Content::Simple(_))
                && def.attributes.is_empty()
                && def.any_attribute.is_none()
        });
        let variant = match is_plain {
            true => declared,
            false => {
                self.waiting.push(declared);
                builder.reserve_type()
            }
        };
        self.types.insert(declared, variant);
        variant
    }

    /// The variant of a complex type that is not an array.
    fn complex(&mut self, builder: &mut PlanBuilder, def: TypeDef) -> TypeDef {
        let content = match def.content {
            Content::Particle(particle) => {
                let particle = match accessors(builder, particle) {
                    Some(elements) => {
                        let namespace = def.name.map(|name| builder.namespace(name).to_owned());
                        self.accessors(builder, &elements, &namespace.unwrap_or_default())
                    }
                    None => self.particle(builder, particle),
                };
                Content::Particle(particle)
            }
            Content::Mixed { particle, .. } => Content::Mixed {
                particle: self.particle(builder, particle),
                elements: 0..0,
            },
            other => other,
        };
        let alternatives = def.alternatives.iter();
        let alternatives = alternatives.map(|&ty| self.ty(builder, ty)).collect();
        let mut attributes = def.attributes;
        attributes.retain(|attribute| !self.is_of_encoding(builder, attribute.name));
        if def.any_attribute.is_none() {
            self.add_id(builder, &mut attributes);
        }
        TypeDef {
            content,
            alternatives,
            attributes,
            base: def.base.map(|base| self.ty(builder, base)),
            ..def
        }
    }

    /// The variant of a simple type with attributes. Those of the encoding's own types name and refer to values, which every
    /// element may do.
    fn simple(&self, builder: &mut PlanBuilder, mut def: TypeDef) -> TypeDef {
        let attributes = &mut def.attributes;
        attributes.retain(|attribute| !self.is_of_encoding(builder, attribute.name));
        let is_own = attributes.is_empty();
        TypeDef {
            any_attribute: def.any_attribute.filter(|_| !is_own),
            base: None,
            ..def
        }
    }

    fn add_id(&self, builder: &mut PlanBuilder, attributes: &mut Vec<AttributeDef>) {
        if !attributes.iter().any(|it| it.name == self.rules.id) {
            attributes.extend(attribute(
                builder,
                self.rules.id,
                self.types_used.string,
                false,
            ));
        }
    }

    /// Whether an attribute belongs to the encoding, so that a type cannot use it otherwise.
    fn is_of_encoding(&self, builder: &mut PlanBuilder, name: NameId) -> bool {
        let locals = [
            "arrayType",
            "offset",
            "position",
            "root",
            "id",
            "ref",
            "itemType",
            "arraySize",
        ];
        let own = locals.map(|local| builder.name(encoding(self.version), local));
        own.contains(&name) || name == self.rules.id || name == builder.name("", "href")
    }

    /// A group of accessors. Some peers qualify them by the namespace of the type.
    fn accessors(
        &mut self,
        builder: &mut PlanBuilder,
        elements: &[ElementId],
        namespace: &str,
    ) -> ParticleId {
        let accessors: Vec<ParticleId> = elements
            .iter()
            .map(|&element| {
                let element = self.element(builder, element, Place::Accessor);
                if !namespace.is_empty() {
                    builder.alias(element, namespace);
                }
                let term = TermDef::Element(element);
                builder.particle(ParticleDef {
                    min: 0,
                    max: 1,
                    term,
                })
            })
            .collect();
        let term = match accessors.len() {
            2.. => TermDef::All(accessors),
            _ => TermDef::Sequence(accessors),
        };
        builder.particle(ParticleDef {
            min: 1,
            max: 1,
            term,
        })
    }

    /// The variant of any other content model: the same, of variants of its elements. (Groups nest no deeper than a schema
    /// document does.)
    fn particle(&mut self, builder: &mut PlanBuilder, declared: ParticleId) -> ParticleId {
        if let Some(&variant) = self.particles.get(&declared) {
            return variant;
        }
        let mut def = builder.particle_def(declared).clone();
        match &mut def.term {
            TermDef::Element(element) => {
                *element = self.element(builder, *element, Place::Accessor);
            }
            TermDef::Sequence(children) | TermDef::Choice(children) | TermDef::All(children) => {
                for child in children {
                    *child = self.particle(builder, *child);
                }
            }
            TermDef::Any(_) => {}
        }
        let variant = builder.particle(def);
        self.particles.insert(declared, variant);
        variant
    }

    /// The variant of an element.
    fn element(
        &mut self,
        builder: &mut PlanBuilder,
        declared: ElementId,
        place: Place,
    ) -> ElementId {
        if let Some(&variant) = self.elements.get(&(declared, place)) {
            return variant;
        }
        let def = builder.element_def(declared).clone();
        let ty = self.ty(builder, def.ty);
        let variant = self.element_of(builder, def.name, ty, def.ty, place);
        self.elements.insert((declared, place), variant);
        variant
    }

    /// An element of this variant of a declared type.
    fn element_of(
        &mut self,
        builder: &mut PlanBuilder,
        name: NameId,
        ty: TypeId,
        declared: TypeId,
        place: Place,
    ) -> ElementId {
        let simple = builder
            .type_def(declared)
            .and_then(|def| match def.content {
                Content::Simple(leaf) => Some((leaf, def.name, def.alternatives.is_empty())),
                _ => None,
            });
        let is_number =
            simple.is_some_and(|(leaf, ..)| is_number(builder.leaf_kind(leaf))) && ty == declared;
        let unqualified = match place {
            Place::Root => name,
            // Accessors are unqualified. (SOAP 1.1 §5.1)
            Place::Accessor | Place::Item => builder.unqualified(name),
        };
        let element = builder.element(ElementDef {
            nillable: place != Place::Item || !is_number,
            ..element_def(unqualified, ty, Role::Application)
        });
        let fixed = simple.and_then(|(_, name, is_fixed)| name.filter(|_| is_fixed));
        let stated_type = match (fixed, place) {
            (Some(_), Place::Item) => StatedType::ByArray,
            (Some(name), _) => StatedType::Constant(name),
            (None, _) => StatedType::Actual,
        };
        let encoded = Encoded {
            alias: Some(name).filter(|_| name != unqualified),
            stated_type,
            has_any_name: place == Place::Item,
            may_refer: simple.is_none(),
            style: (place == Place::Root).then(|| self.style()),
            ..self.encoded()
        };
        builder.encode(element, encoded);
        element
    }

    /// The definition of an array whose innermost items have a declared type.
    fn array(
        &mut self,
        builder: &mut PlanBuilder,
        (variant, def): (TypeId, TypeDef),
        name: NameId,
        (item, levels): (TypeId, usize),
    ) -> TypeDef {
        let item_name = builder.type_def(item).and_then(|def| def.name);
        let any = builder.name(XSD_NAMESPACE, "anyType");
        let element = match levels {
            0 | 1 => {
                let ty = self.ty(builder, item);
                self.element_of(builder, name, ty, item, Place::Item)
            }
            _ => {
                let ty = self.nested(builder, item, levels - 1);
                self.element_of(builder, name, ty, ty, Place::Item)
            }
        };
        let items = builder.particle(ParticleDef {
            min: 0,
            max: UNBOUNDED,
            term: TermDef::Element(element),
        });
        let mut attributes = Vec::new();
        self.add_id(builder, &mut attributes);
        let size = ArraySize {
            attribute: attributes.len(),
            item: item_name.unwrap_or(any),
            levels: levels.max(1),
            item_type: self.item_type,
        };
        attributes.push(AttributeDef {
            name: self.size,
            leaf: self.size_leaf,
            required: false,
            default: None,
            fixed: None,
        });
        builder.array_size(variant, size);
        let alternatives = def.alternatives.iter();
        TypeDef {
            content: Content::Particle(items),
            alternatives: alternatives.map(|&ty| self.ty(builder, ty)).collect(),
            attributes,
            any_attribute: None,
            base: None,
            ..def
        }
    }

    /// The type of an array of arrays that no schema declares.
    fn nested(&mut self, builder: &mut PlanBuilder, item: TypeId, levels: usize) -> TypeId {
        if let Some(&known) = self.nested.get(&(item, levels)) {
            return known;
        }
        let ty = builder.reserve_type();
        self.nested.insert((item, levels), ty);
        let name = builder.name(encoding(self.version), "Array");
        let def = TypeDef {
            name: Some(name),
            ..type_def(Content::Empty)
        };
        let name = builder.name("", "item");
        let def = self.array(builder, (ty, def), name, (item, levels));
        builder.define_type(ty, def);
        ty
    }
}

/// The namespace of the encoding of a SOAP version.
fn encoding(version: SoapVersion) -> &'static str {
    match version {
        SoapVersion::Soap11 => ENCODING_NAMESPACE,
        SoapVersion::Soap12 => ENCODING12_NAMESPACE,
    }
}

fn is_number(kind: LeafKind) -> bool {
    matches!(
        kind,
        LeafKind::Boolean
            | LeafKind::Signed { .. }
            | LeafKind::Unsigned { .. }
            | LeafKind::Float
            | LeafKind::Double
    )
}

/// An attribute of a simple type.
fn attribute(
    builder: &mut PlanBuilder,
    name: NameId,
    ty: TypeId,
    required: bool,
) -> Option<AttributeDef> {
    let Content::Simple(leaf) = builder.type_def(ty)?.content else {
        return None;
    };
    Some(AttributeDef {
        name,
        leaf,
        required,
        default: None,
        fixed: None,
    })
}

/// The type of `arraySize`: numbers, the first of which may be `*`. (SOAP 1.2 Part 2 §3.1.6)
fn sizes() -> Arc<SimpleType> {
    let token = SimpleType::builtin(Datatype::Token);
    let pattern = Facet::new(FacetName::Pattern, r"(\*|[0-9]+)( [0-9]+)*");
    let restricted = SimpleType::restrict(&token, &[pattern], &NoNamespaces);
    restricted.unwrap_or(token)
}

/// The elements of a content model that is one group of elements with different names, each at most once. `None` for all
/// other models.
fn accessors(builder: &PlanBuilder, particle: ParticleId) -> Option<Vec<ElementId>> {
    let def = builder.particle_def(particle);
    let children = match &def.term {
        TermDef::Element(element) if def.max == 1 => return Some(vec![*element]),
        TermDef::Sequence(children) | TermDef::All(children) if def.max == 1 => children,
        _ => return None,
    };
    let mut names = std::collections::HashSet::new();
    let mut elements = Vec::with_capacity(children.len());
    for &child in children {
        let child = builder.particle_def(child);
        let TermDef::Element(element) = child.term else {
            return None;
        };
        if child.max > 1 || !names.insert(builder.element_def(element).name) {
            return None;
        }
        elements.push(element);
    }
    Some(elements)
}

/// The element that is all that a content model has.
fn only_element(builder: &PlanBuilder, particle: ParticleId) -> Option<ElementId> {
    match &builder.particle_def(particle).term {
        TermDef::Element(element) => Some(*element),
        TermDef::Sequence(children) | TermDef::All(children) => match children[..] {
            [only] => match builder.particle_def(only).term {
                TermDef::Element(element) => Some(element),
                _ => None,
            },
            _ => None,
        },
        _ => None,
    }
}
