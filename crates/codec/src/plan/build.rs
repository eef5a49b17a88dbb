//! Building a Plan. Only the schema compiler does this.
//!
//! Definitions may refer to types that are defined later (types are recursive), so a type is first reserved, then defined.
//! [`PlanBuilder::finish`] checks that all types are defined and derives what encoding and decoding use: strides, first
//! sets, tag bytes.
//!
//! The definitions are exhaustive: who compiles a schema must decide each of their fields.

use std::ops::Range;
use std::sync::Arc;

use bsoap_datatypes::{Datatype, SimpleType, Variety, WhiteSpace};
use bsoap_xml::{NameId, VocabularyBuilder};
use foldhash::{HashMap, HashSet, HashSetExt as _};

use super::bounds::Bounds;
use super::{
    ArraySize, Attribute, Content, Counts, Element, ElementId, Encoded, FirstSet, Leaf, LeafId,
    LeafKind, NamespaceConstraint, Particle, ParticleId, Plan, Role, StatedType, Term, Type,
    TypeId, Wildcard,
};
use crate::expanded::XSI;

/// The largest stride. Types may contain one another, so without this limit a small schema could have a row of 2⁴⁰ slots.
const MAX_STRIDE: u32 = 4096;

/// What can have a stride.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum StridePart {
    Type(TypeId),
    Element(ElementId),
    Particle(ParticleId),
}

/// Collects definitions; [`finish`](Self::finish) makes the [`Plan`].
#[derive(Debug, Default)]
pub struct PlanBuilder {
    names: VocabularyBuilder,
    namespaces: Vec<(String, Option<String>)>,
    /// The namespace and local name of each `NameId`, for the bytes of tags.
    spelled: HashMap<NameId, (String, String)>,
    elements: Vec<ElementDef>,
    globals: Vec<ElementId>,
    undeclared: Option<ElementId>,
    types: Vec<Option<TypeDef>>,
    particles: Vec<ParticleDef>,
    leaves: Vec<Leaf>,
    leaf_of: HashMap<*const SimpleType, LeafId>,
    encoded: HashMap<ElementId, Encoded>,
    sizes: HashMap<TypeId, ArraySize>,
    counts: HashMap<ParticleId, Counts>,
    /// The groups that join runs.
    joining: Vec<ParticleId>,
    /// The children whose runs they join.
    runs: Vec<ParticleId>,
}

/// The definition of an element.
#[derive(Clone, Debug)]
pub struct ElementDef {
    /// Its expanded name.
    pub name: NameId,
    /// Its type, reserved or defined.
    pub ty: TypeId,
    /// `nillable`
    pub nillable: bool,
    /// `abstract`
    pub is_abstract: bool,
    /// `default`; names and lists of names as `{namespace}local`, since prefixes belong to documents.
    pub default: Option<String>,
    /// `fixed`, likewise.
    pub fixed: Option<String>,
    /// Its role in SOAP.
    pub role: Role,
}

/// The definition of a type.
#[derive(Clone, Debug)]
pub struct TypeDef {
    /// Its expanded name, if it has one.
    pub name: Option<NameId>,
    /// Attribute uses, inherited ones first.
    pub attributes: Vec<AttributeDef>,
    /// `anyAttribute`
    pub any_attribute: Option<Wildcard>,
    /// The content. (For `Mixed`, leave `elements` empty: it is derived.)
    pub content: Content,
    /// What `xsi:type` may name instead, itself included (unless abstract); empty for no choice.
    pub alternatives: Vec<TypeId>,
    /// The type it is derived from.
    pub base: Option<TypeId>,
    /// `abstract`
    pub is_abstract: bool,
}

/// The definition of an attribute use.
#[derive(Clone, Debug)]
pub struct AttributeDef {
    /// Its expanded name.
    pub name: NameId,
    /// Its simple type, as a leaf.
    pub leaf: LeafId,
    /// `use="required"`
    pub required: bool,
    /// `default`, as that of an element.
    pub default: Option<String>,
    /// `fixed`, likewise.
    pub fixed: Option<String>,
}

/// The definition of a particle.
#[derive(Clone, Debug)]
pub struct ParticleDef {
    /// `minOccurs`
    pub min: u32,
    /// `maxOccurs`, [`UNBOUNDED`](super::UNBOUNDED) for no bound.
    pub max: u32,
    /// What occurs.
    pub term: TermDef,
}

/// The definition of a term.
#[derive(Clone, Debug)]
pub enum TermDef {
    /// An element.
    Element(ElementId),
    /// One after the other.
    Sequence(Vec<ParticleId>),
    /// One of them.
    Choice(Vec<ParticleId>),
    /// In any order.
    All(Vec<ParticleId>),
    /// A wildcard.
    Any(Wildcard),
}

/// Why a Plan could not be finished: a mistake of the compiler that built it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum PlanError {
    /// A type was reserved and never defined.
    UndefinedType(TypeId),
    /// More entries than a Plan can number.
    TooLarge,
}

impl std::fmt::Display for PlanError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::UndefinedType(id) => write!(f, "type {} is reserved but not defined", id.0),
            Self::TooLarge => {
                f.write_str("the schema is too large: a plan has more than 2^32 entries")
            }
        }
    }
}

impl std::error::Error for PlanError {}

impl PlanBuilder {
    /// An empty builder.
    pub fn new() -> Self {
        Self::default()
    }

    /// The number of an expanded name; the same name gives the same number.
    pub fn name(&mut self, namespace: &str, local: &str) -> NameId {
        let id = self.names.name(namespace, local);
        self.spelled
            .entry(id)
            .or_insert_with(|| (namespace.to_owned(), local.to_owned()));
        id
    }

    /// The name in no namespace with the same local name.
    pub fn unqualified(&mut self, name: NameId) -> NameId {
        match self.spelled.get(&name).cloned() {
            Some((namespace, local)) if !namespace.is_empty() => self.name("", &local),
            _ => name,
        }
    }

    /// Proposes the prefix to write for a namespace; the first proposal that is free is taken, otherwise `nsN`.
    pub fn prefix(&mut self, namespace: &str, prefix: &str) {
        match self
            .namespaces
            .iter_mut()
            .find(|known| known.0 == namespace)
        {
            Some(known) => {
                known.1.get_or_insert_with(|| prefix.to_owned());
            }
            None => self
                .namespaces
                .push((namespace.to_owned(), Some(prefix.to_owned()))),
        }
    }

    /// Adds an element declaration.
    pub fn element(&mut self, def: ElementDef) -> ElementId {
        self.elements.push(def);
        ElementId(self.elements.len() as u32 - 1)
    }

    /// Says that an element is global, so that a sample has it where a wildcard allows it.
    pub fn global(&mut self, id: ElementId) {
        self.globals.push(id);
    }

    /// Has the content of wildcards checked, unless they skip it: elements that no particle beside the wildcard names are
    /// checked as this one, whatever their names. Its type is `anyType`, with all types as alternatives. At a strict wildcard
    /// such an element needs an `xsi:type`.
    pub fn check_undeclared(&mut self, id: ElementId) {
        self.undeclared = Some(id);
    }

    /// The definition given for an element.
    pub fn element_def(&self, id: ElementId) -> &ElementDef {
        &self.elements[id.index()]
    }

    /// Makes an element one of encoded messages.
    pub fn encode(&mut self, id: ElementId, encoded: Encoded) {
        self.encoded.insert(id, encoded);
    }

    /// What an element of an encoded message has beyond its declaration.
    pub fn encoded(&self, id: ElementId) -> Option<&Encoded> {
        self.encoded.get(&id)
    }

    /// The attribute with the size of an array of an encoded message.
    pub fn size_of_array(&self, id: TypeId) -> Option<&ArraySize> {
        self.sizes.get(&id)
    }

    /// Gives an element of encoded messages another name, unless it has one.
    pub fn alias(&mut self, id: ElementId, namespace: &str) {
        let def = &self.elements[id.index()];
        let local = self.spelled.get(&def.name).map(|(_, local)| local.clone());
        let name = local.map(|local| self.name(namespace, &local));
        if let Some(encoded) = self.encoded.get_mut(&id) {
            encoded.alias = encoded.alias.or(name);
        }
    }

    /// The namespace of a name.
    pub fn namespace(&self, name: NameId) -> &str {
        self.spelled
            .get(&name)
            .map_or("", |(namespace, _)| namespace)
    }

    /// Makes an attribute of a type the size of an array.
    pub fn array_size(&mut self, id: TypeId, size: ArraySize) {
        self.sizes.insert(id, size);
    }

    /// The definition given for a particle.
    pub fn particle_def(&self, id: ParticleId) -> &ParticleDef {
        &self.particles[id.index()]
    }

    /// How values of a leaf are stored.
    pub fn leaf_kind(&self, id: LeafId) -> LeafKind {
        self.leaves[id.index()].kind
    }

    /// Reserves a number for a type, so that others can refer to it before it is defined.
    pub fn reserve_type(&mut self) -> TypeId {
        self.types.push(None);
        TypeId(self.types.len() as u32 - 1)
    }

    /// Defines a reserved type.
    pub fn define_type(&mut self, id: TypeId, def: TypeDef) {
        self.types[id.index()] = Some(def);
    }

    /// The definition given for a type, if it was given yet.
    pub fn type_def(&self, id: TypeId) -> Option<&TypeDef> {
        self.types[id.index()].as_ref()
    }

    /// The definition given for a type so far, to be amended (alternatives are known last).
    pub fn type_mut(&mut self, id: TypeId) -> Option<&mut TypeDef> {
        self.types[id.index()].as_mut()
    }

    /// Adds a particle.
    pub fn particle(&mut self, def: ParticleDef) -> ParticleId {
        self.particles.push(def);
        ParticleId(self.particles.len() as u32 - 1)
    }

    /// Limits the numbers of occurrences of a particle, between its least and its most.
    pub fn limit_counts(&mut self, particle: ParticleId, counts: Counts) {
        self.counts.insert(particle, counts);
    }

    /// Has a choice or a sequence that repeats join the runs of [some children](Self::join_run): consecutive occurrences that a run
    /// goes on through are one occurrence in a Record.
    pub fn join_runs(&mut self, group: ParticleId) {
        self.joining.push(group);
    }

    /// Joins the runs of a child of such a group, or of a branch of a child that is a choice and occurs at most once. The particle repeats
    /// and has [counts](Self::limit_counts), of which the outermost are occurrences of the group.
    pub fn join_run(&mut self, child: ParticleId) {
        self.runs.push(child);
    }

    /// The leaf of a simple type; one type has one leaf.
    pub fn leaf(&mut self, simple: &Arc<SimpleType>) -> LeafId {
        if let Some(&id) = self.leaf_of.get(&Arc::as_ptr(simple)) {
            return id;
        }
        let (kind, asks_more) = match simple.variety() {
            Variety::Atomic(datatype) => (kind_of(*datatype), false),
            Variety::List(item) if matches!(item.variety(), Variety::List(_)) => {
                (LeafKind::Text, true)
            }
            Variety::List(item) => {
                let item = self.leaf(&item.clone());
                (LeafKind::List(item), self.leaves[item.index()].has_facets)
            }
            Variety::Union(_) => (LeafKind::Text, true),
        };
        let has_facets = asks_more || simple.has_facets();
        let is_verbatim = kind == LeafKind::Text
            && simple.white_space() == WhiteSpace::Preserve
            && matches!(simple.variety(), Variety::Atomic(_));
        let is_listed = simple.is_listed();
        let is_checked = match kind {
            _ if is_listed => true,
            LeafKind::Text => !super::checks::takes_any_text(simple),
            LeafKind::List(item) => self.leaves[item.index()].is_checked,
            _ => false,
        };
        self.leaves.push(Leaf {
            kind,
            simple: simple.clone(),
            has_facets,
            bounds: Bounds::of(kind, simple),
            is_verbatim,
            sure: simple.sure_length().filter(|_| is_verbatim),
            is_listed,
            is_checked,
        });
        let id = LeafId(self.leaves.len() as u32 - 1);
        // The leaf keeps the type alive, so no other type gets its address.
        self.leaf_of.insert(Arc::as_ptr(simple), id);
        id
    }

    /// Checks the definitions and makes the Plan.
    ///
    /// # Errors
    /// When a reserved type was never defined, or a table is too large to number.
    pub fn finish(mut self) -> Result<Plan, PlanError> {
        if let Some(missing) = self.types.iter().position(Option::is_none) {
            return Err(PlanError::UndefinedType(TypeId(missing as u32)));
        }
        if self.particles.len() > u32::MAX as usize / 2
            || self.elements.len() > u32::MAX as usize / 2
        {
            return Err(PlanError::TooLarge);
        }
        let vocabulary = Arc::new(self.names.build());
        let prefixes = assign_prefixes(&vocabulary, &self.namespaces);
        let mut plan = Plan {
            vocabulary,
            elements: Vec::with_capacity(self.elements.len()),
            types: Vec::with_capacity(self.types.len()),
            particles: Vec::with_capacity(self.particles.len()),
            children: Vec::new(),
            attributes: Vec::new(),
            leaves: self.leaves,
            globals: self.globals,
            undeclared: self.undeclared,
            prefixes,
            derived: Default::default(),
        };
        for (number, def) in self.types.into_iter().flatten().enumerate() {
            plan.add_type(def, self.sizes.get(&TypeId(number as u32)));
        }
        let (counts, joining, runs) = (self.counts, self.joining, self.runs);
        for (number, def) in self.elements.into_iter().enumerate() {
            plan.add_element(def, self.encoded.remove(&ElementId(number as u32)));
        }
        for def in self.particles {
            plan.add_particle(def);
        }
        for (id, counts) in counts {
            plan.particles[id.index()].counts = Some(Box::new(counts));
        }
        for id in joining {
            plan.particles[id.index()].joins_runs = true;
        }
        for id in runs {
            plan.particles[id.index()].is_run = true;
        }
        plan.derive();
        Ok(plan)
    }
}

fn kind_of(datatype: Datatype) -> LeafKind {
    let signed = |bits: u32| LeafKind::Signed {
        min: i64::MIN >> (64 - bits),
        max: i64::MAX >> (64 - bits),
    };
    let unsigned = |bits: u32| LeafKind::Unsigned {
        max: u64::MAX >> (64 - bits),
    };
    match datatype {
        Datatype::Boolean => LeafKind::Boolean,
        Datatype::Long => signed(64),
        Datatype::Int => signed(32),
        Datatype::Short => signed(16),
        Datatype::Byte => signed(8),
        Datatype::UnsignedLong => unsigned(64),
        Datatype::UnsignedInt => unsigned(32),
        Datatype::UnsignedShort => unsigned(16),
        Datatype::UnsignedByte => unsigned(8),
        Datatype::Float => LeafKind::Float,
        Datatype::Double => LeafKind::Double,
        Datatype::Base64Binary => LeafKind::Base64,
        Datatype::HexBinary => LeafKind::Hex,
        Datatype::QName | Datatype::Notation => LeafKind::Name,
        _ => LeafKind::Text,
    }
}

/// Gives each namespace of the vocabulary a different prefix; the empty string for no namespace.
fn assign_prefixes(
    vocabulary: &bsoap_xml::Vocabulary,
    proposed: &[(String, Option<String>)],
) -> Vec<String> {
    let wishes: HashMap<&str, &str> = proposed
        .iter()
        .filter_map(|(namespace, prefix)| Some((namespace.as_str(), prefix.as_deref()?)))
        .collect();
    let mut taken: HashSet<String> = HashSet::from_iter([String::new(), "xmlns".to_owned()]);
    let mut numbers = (1..).map(|n: u32| format!("ns{n}"));
    let mut prefixes: Vec<String> = Vec::new();
    for (id, namespace) in vocabulary.namespaces() {
        debug_assert_eq!(id.0 as usize, prefixes.len());
        let wish = wishes.get(namespace).map(|&wish| wish.to_owned());
        let prefix = match namespace {
            "" => String::new(),
            "http://www.w3.org/XML/1998/namespace" => "xml".to_owned(),
            _ => wish
                .filter(|wish| !taken.contains(wish))
                .or_else(|| numbers.find(|number| !taken.contains(number)))
                .expect("there are more numbers than namespaces"),
        };
        taken.insert(prefix.clone());
        prefixes.push(prefix);
    }
    prefixes
}

impl Plan {
    fn spelled(&self, name: NameId) -> String {
        let prefix = self.prefix(self.vocabulary.namespace_of(name));
        let local = self.vocabulary.local(name);
        if prefix.is_empty() {
            local.to_owned()
        } else {
            format!("{prefix}:{local}")
        }
    }

    fn add_type(&mut self, def: TypeDef, size: Option<&ArraySize>) {
        let start = self.attributes.len() as u32;
        for (index, attribute) in def.attributes.into_iter().enumerate() {
            let size = size.filter(|size| size.attribute == index);
            let open = self.opened(attribute.name, size).into_bytes().into();
            self.attributes.push(Attribute {
                name: attribute.name,
                leaf: attribute.leaf,
                required: attribute.required,
                default: attribute.default.map(Into::into),
                fixed: attribute.fixed.map(Into::into),
                open,
                array: size.cloned().map(Box::new),
            });
        }
        self.types.push(Type {
            name: def.name,
            attributes: start..self.attributes.len() as u32,
            any_attribute: def.any_attribute,
            content: def.content,
            alternatives: def.alternatives.into(),
            base: def.base,
            is_abstract: def.is_abstract,
            stride: None,
        });
    }

    /// The start of an attribute, up to its value.
    fn opened(&self, name: NameId, size: Option<&ArraySize>) -> String {
        let own = self.spelled(name);
        match size {
            None => format!(" {own}=\""),
            Some(size) => {
                let item = self.spelled(size.item);
                match size.item_type {
                    None => {
                        let inner = "[]".repeat(size.levels.saturating_sub(1));
                        format!(" {own}=\"{item}{inner}")
                    }
                    Some(item_type) => {
                        format!(" {}=\"{item}\" {own}=\"", self.spelled(item_type))
                    }
                }
            }
        }
    }

    /// The attributes that the start tag of an encoded element always has.
    fn constant_attributes(&self, encoded: &Encoded) -> String {
        let mut attributes = String::new();
        if let Some((name, value)) = &encoded.style {
            attributes += &format!(" {}=\"{value}\"", self.spelled(*name));
        }
        if let StatedType::Constant(name) = encoded.stated_type {
            let (name, xsi) = (self.spelled(name), self.prefix_of(XSI));
            attributes += &format!(" {xsi}:type=\"{name}\"");
        }
        attributes
    }

    /// The prefix of a namespace of the vocabulary.
    fn prefix_of(&self, namespace: &str) -> &str {
        let mut known = self.vocabulary.namespaces();
        let id = known.find(|(_, known)| *known == namespace);
        id.map_or("", |(id, _)| self.prefix(id))
    }

    fn add_element(&mut self, def: ElementDef, encoded: Option<Encoded>) {
        let spelled = self.spelled(def.name);
        let constant = encoded.as_ref().map(|it| self.constant_attributes(it));
        let ty = &self.types[def.ty.index()];
        let has_alternatives = !ty.alternatives.is_empty();
        let plain = ty.attributes.is_empty() && ty.any_attribute.is_none() && !has_alternatives;
        let single = match ty.content {
            Content::Simple(leaf) => !matches!(self.leaves[leaf.index()].kind, LeafKind::List(_)),
            _ => false,
        };
        self.elements.push(Element {
            name: def.name,
            ty: def.ty,
            nillable: def.nillable,
            is_abstract: def.is_abstract,
            default: def.default.map(Into::into),
            fixed: def.fixed.map(Into::into),
            open_tag: format!("<{spelled}{}", constant.unwrap_or_default())
                .into_bytes()
                .into(),
            close_tag: format!("</{spelled}>").into_bytes().into(),
            has_state: def.nillable || has_alternatives,
            is_scalar: plain && single,
            stride: None,
            role: def.role,
            encoded: encoded.map(Box::new),
        });
    }

    fn add_particle(&mut self, def: ParticleDef) {
        let mut range = |children: Vec<ParticleId>| -> Range<u32> {
            let start = self.children.len() as u32;
            self.children.extend(children);
            start..self.children.len() as u32
        };
        let term = match def.term {
            TermDef::Element(element) => Term::Element(element),
            TermDef::Sequence(children) => Term::Sequence(range(children)),
            TermDef::Choice(children) => Term::Choice(range(children)),
            TermDef::All(children) => Term::All(range(children)),
            TermDef::Any(wildcard) => Term::Any(wildcard),
        };
        self.particles.push(Particle {
            min: def.min,
            max: def.max,
            term,
            is_emptiable: def.min == 0,
            absent: 0,
            first: FirstSet::default(),
            stride: None,
            counts: None,
            joins_runs: false,
            is_run: false,
        });
    }

    /// Derives all that follows from the definitions.
    fn derive(&mut self) {
        for particle in self.bottom_up() {
            self.derive_particle(particle);
        }
        self.derive_mixed();
        self.derive_strides();
    }

    /// All particles, each after its children. (Groups cannot contain themselves: XML Schema Part 1 §3.8.6. Types can, but
    /// a particle refers to an element, not to its content.)
    fn bottom_up(&self) -> Vec<ParticleId> {
        let mut order = Vec::with_capacity(self.particles.len());
        let mut seen = vec![false; self.particles.len()];
        let mut stack = Vec::new();
        for start in 0..self.particles.len() as u32 {
            stack.push((ParticleId(start), false));
            while let Some((id, children_done)) = stack.pop() {
                if children_done {
                    order.push(id);
                } else if !std::mem::replace(&mut seen[id.index()], true) {
                    stack.push((id, true));
                    stack.extend(self.children_of(id).iter().map(|&child| (child, false)));
                }
            }
        }
        order
    }

    /// The children of a group particle; none for an element or a wildcard.
    pub fn children_of(&self, id: ParticleId) -> &[ParticleId] {
        match &self.particle(id).term {
            Term::Sequence(children) | Term::Choice(children) | Term::All(children) => {
                self.group(children)
            }
            Term::Element(_) | Term::Any(_) => &[],
        }
    }

    fn derive_particle(&mut self, id: ParticleId) {
        let (mut names, mut wildcards) = (Vec::new(), Vec::new());
        let mut add = |child: &Particle, index: u32| {
            names.extend(child.first.names().map(|(name, _)| (name, index)));
            wildcards.extend(
                child
                    .first
                    .wildcards()
                    .map(|(admitted, _)| (admitted.clone(), index)),
            );
        };
        let particle = self.particle(id);
        let emptiable_term = match &particle.term {
            Term::Element(element) => {
                names.push((self.element(*element).name, 0));
                let encoded = self.encoded(*element);
                names.extend(encoded.and_then(|it| it.alias).map(|name| (name, 0)));
                if encoded.is_some_and(|it| it.has_any_name) {
                    wildcards.push((NamespaceConstraint::Any, 0));
                }
                false
            }
            Term::Any(wildcard) => {
                wildcards.push((wildcard.namespaces.clone(), 0));
                false
            }
            Term::Sequence(children) => {
                let children = self.group(children);
                let mut open = true;
                for (index, &child) in children.iter().enumerate() {
                    let child = self.particle(child);
                    if open {
                        add(child, index as u32);
                    }
                    open &= child.is_emptiable;
                }
                open
            }
            Term::Choice(children) | Term::All(children) => {
                let is_all = matches!(particle.term, Term::All(_));
                let children = self.group(children);
                for (index, &child) in children.iter().enumerate() {
                    add(self.particle(child), index as u32);
                }
                let mut emptiable = children
                    .iter()
                    .map(|&child| self.particle(child).is_emptiable);
                if is_all {
                    emptiable.all(|one| one)
                } else {
                    children.is_empty() || emptiable.any(|one| one)
                }
            }
        };
        let absent = self.absent_slots(id);
        let particle = &mut self.particles[id.index()];
        particle.absent = absent;
        particle.is_emptiable = particle.min == 0 || emptiable_term;
        particle.first = FirstSet::new(names, wildcards);
    }

    /// The number of slots of an absent particle; its children have been derived before.
    fn absent_slots(&self, id: ParticleId) -> u32 {
        let particle = self.particle(id);
        if particle.repeats() {
            return 1;
        }
        match &particle.term {
            Term::Element(element) => 1 + u32::from(self.element(*element).is_scalar),
            Term::Any(_) => 2,
            Term::Sequence(children) if particle.min > 0 => {
                let children = self.group(children).iter();
                children.fold(0, |sum: u32, &child| {
                    sum.saturating_add(self.particle(child).absent)
                })
            }
            Term::Sequence(_) | Term::Choice(_) | Term::All(_) => 1,
        }
    }

    /// Lists the elements and wildcards of each mixed content model, so that items can name them.
    fn derive_mixed(&mut self) {
        for index in 0..self.types.len() {
            let Content::Mixed { particle, .. } = self.types[index].content else {
                continue;
            };
            let mut stack = vec![particle];
            let mut leaves = Vec::new();
            while let Some(id) = stack.pop() {
                match &self.particle(id).term {
                    Term::Element(_) | Term::Any(_) => leaves.push(id),
                    _ => stack.extend(self.children_of(id).iter().rev()),
                }
            }
            let start = self.children.len() as u32;
            self.children.extend(leaves);
            let elements = start..self.children.len() as u32;
            self.types[index].content = Content::Mixed { particle, elements };
        }
    }

    /// Derives strides, each after those that it depends on, and repeats until nothing changes: twice. (In the order of
    /// definition, a chain of n nested types would need n rounds.) A recursive type never gets one.
    fn derive_strides(&mut self) {
        let order = self.stride_order();
        loop {
            let mut changed = false;
            for &part in &order {
                changed |= self.derive_stride(part);
            }
            if !changed {
                return;
            }
        }
    }

    /// Derives one stride; whether it changed.
    fn derive_stride(&mut self, part: StridePart) -> bool {
        let (known, stride) = match part {
            StridePart::Type(id) => {
                let stride = self.type_stride(self.ty(id));
                (&mut self.types[id.index()].stride, stride)
            }
            StridePart::Element(id) => {
                let stride = self.element_stride(self.element(id));
                (&mut self.elements[id.index()].stride, stride)
            }
            StridePart::Particle(id) => {
                let stride = self.particle_stride(self.particle(id));
                (&mut self.particles[id.index()].stride, stride)
            }
        };
        std::mem::replace(known, stride) != stride
    }

    /// Types, elements and particles, each after those that it contains, unless it contains itself.
    fn stride_order(&self) -> Vec<StridePart> {
        let types = (0..self.types.len() as u32).map(|number| StridePart::Type(TypeId(number)));
        let elements = (0..self.elements.len() as u32).map(ElementId);
        let particles = (0..self.particles.len() as u32).map(ParticleId);
        let starts = types
            .chain(elements.map(StridePart::Element))
            .chain(particles.map(StridePart::Particle));
        let (mut order, mut seen, mut stack) = (Vec::new(), HashSet::new(), Vec::new());
        for start in starts {
            stack.push((start, false));
            while let Some((part, contents_done)) = stack.pop() {
                if contents_done {
                    order.push(part);
                } else if seen.insert(part) {
                    stack.push((part, true));
                    self.push_contents(part, &mut stack);
                }
            }
        }
        order
    }

    /// Adds what a part contains directly.
    fn push_contents(&self, part: StridePart, stack: &mut Vec<(StridePart, bool)>) {
        match part {
            StridePart::Type(id) => {
                if let Content::Particle(model) = self.ty(id).content {
                    stack.push((StridePart::Particle(model), false));
                }
            }
            StridePart::Element(id) => stack.push((StridePart::Type(self.element(id).ty), false)),
            StridePart::Particle(id) => {
                if let Term::Element(element) = self.particle(id).term {
                    stack.push((StridePart::Element(element), false));
                }
                let children = self.children_of(id).iter();
                stack.extend(children.map(|&child| (StridePart::Particle(child), false)));
            }
        }
    }

    fn type_stride(&self, ty: &Type) -> Option<u32> {
        if !ty.alternatives.is_empty() {
            return None;
        }
        let mut slots = u32::from(ty.any_attribute.is_some());
        for id in ty.attribute_ids() {
            let attribute = self.attribute(id);
            if matches!(self.leaf(attribute.leaf).kind, LeafKind::List(_)) {
                return None;
            }
            slots += 1 + u32::from(!attribute.required);
        }
        let content = match &ty.content {
            Content::Empty => 0,
            Content::Simple(leaf) if matches!(self.leaf(*leaf).kind, LeafKind::List(_)) => {
                return None;
            }
            Content::Simple(_) | Content::Any => 1,
            Content::Particle(particle) => self.particle(*particle).stride?,
            Content::Mixed { .. } => return None,
        };
        slots
            .checked_add(content)
            .filter(|&slots| slots <= MAX_STRIDE)
    }

    fn element_stride(&self, element: &Element) -> Option<u32> {
        let value = self.ty(element.ty).stride?;
        match (element.has_state, element.is_scalar) {
            (false, _) => Some(value),
            (true, true) => Some(2),
            (true, false) => None,
        }
    }

    fn particle_stride(&self, particle: &Particle) -> Option<u32> {
        if particle.repeats() {
            return None;
        }
        let optional = particle.min == 0;
        match &particle.term {
            Term::Element(id) => {
                let element = self.element(*id);
                match (optional, element.is_scalar) {
                    (false, _) => element.stride,
                    (true, true) => Some(2),
                    (true, false) => None,
                }
            }
            Term::Any(_) => Some(1 + u32::from(optional)),
            Term::Sequence(children) if !optional => {
                let mut strides = self
                    .group(children)
                    .iter()
                    .map(|&child| self.particle(child).stride);
                strides.try_fold(0, |sum: u32, stride| {
                    sum.checked_add(stride?).filter(|&sum| sum <= MAX_STRIDE)
                })
            }
            Term::Sequence(_) | Term::Choice(_) | Term::All(_) => None,
        }
    }
}
