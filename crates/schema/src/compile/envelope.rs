//! The Envelopes of a binding: adds elements for messages, parts, headers and faults of a WSDL to the Plan.
//!
//! ```text
//! Envelope ─┬─ Header? ── (block₁ | block₂ | … | any)*      block: the declared element + mustUnderstand, actor …
//!           └─ Body ───── (branch₁ | branch₂ | … | Fault)?  branch: the first body element of one or more operations
//! ```
//!
//! A binding has two Envelopes, one for requests and one for responses. The style decides what a branch contains:
//! the part's element (document), the sequence of the parts (document with several parts), or an element named
//! after the operation with the parts as children (rpc).

use bsoap_codec::plan::{
    AttributeDef, Content, ElementDef, ElementId, Encoded, LeafId, NamespaceConstraint,
    ParticleDef, ParticleId, PlanBuilder, ProcessContents, Role, TermDef, TypeDef, TypeId,
    UNBOUNDED, Wildcard,
};
use foldhash::{HashMap, HashMapExt as _};

use bsoap_xml::NameId;

use crate::definitions::SoapVersion;
use crate::name::XML_NAMESPACE;

/// The built-in types that the elements of SOAP use.
#[derive(Clone, Copy, Debug)]
pub(crate) struct BuiltIns {
    pub(crate) boolean: TypeId,
    pub(crate) name: TypeId,
    pub(crate) string: TypeId,
    pub(crate) uri: TypeId,
}

/// Creates the elements of SOAP, and variants of declared elements for use as header blocks.
#[derive(Debug)]
pub(crate) struct Envelopes {
    built_ins: BuiltIns,
    /// Variants of types with the attributes of a header block added, by SOAP version and declared type.
    block_types: HashMap<(SoapVersion, TypeId), TypeId>,
    blocks: HashMap<(SoapVersion, ElementId), ElementId>,
}

/// The contents of Header and Body in one direction of a binding.
#[derive(Debug, Default)]
pub(crate) struct Traffic {
    /// The branches of the Body. Each is a sequence of elements; the `bool` is true if the element is required.
    branches: Vec<Branch>,
    /// The header blocks, as variants of the declared elements.
    headers: Vec<ElementId>,
}

/// A branch of the Body.
#[derive(Debug)]
struct Branch {
    elements: Vec<(ElementId, bool)>,
    /// The element of the independent values of encoded messages, any number of which may follow.
    independent: Option<ElementId>,
}

/// Whether a Body may contain a Fault.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Faults<'a> {
    /// No Fault: the Body of a request.
    None,
    /// A Fault is allowed. These elements are declared for its detail.
    ///
    /// If one is encoded, independent values may follow the Fault.
    Declared(&'a [ElementId], Option<ElementId>),
}

impl Traffic {
    /// The number of the branch for a Body with this sequence of elements. `None` for an empty Body.
    ///
    /// Bodies with the same first element share a branch, because the first element selects the branch. In a shared
    /// branch, elements that only some of the Bodies have are optional.
    pub(crate) fn branch(
        &mut self,
        builder: &PlanBuilder,
        elements: &[ElementId],
        independent: Option<ElementId>,
    ) -> Option<u32> {
        let &first = elements.first()?;
        let begins = |branch: &Branch| {
            let elements = &branch.elements;
            elements
                .first()
                .is_some_and(|&(known, _)| same_name(builder, known, first))
        };
        let Some(index) = self.branches.iter().position(begins) else {
            self.branches.push(Branch {
                elements: elements.iter().map(|&element| (element, true)).collect(),
                independent,
            });
            return Some(self.branches.len() as u32 - 1);
        };
        let branch = &mut self.branches[index];
        merge(builder, &mut branch.elements, elements);
        branch.independent = branch.independent.or(independent);
        Some(index as u32)
    }

    /// The number of the branch for a header block.
    pub(crate) fn header(&mut self, block: ElementId) -> u32 {
        let known = self.headers.iter().position(|&known| known == block);
        known.unwrap_or_else(|| {
            self.headers.push(block);
            self.headers.len() - 1
        }) as u32
    }
}

/// Merges a sequence of elements with another. Elements that only one of them has become optional.
pub(crate) fn merge(
    builder: &PlanBuilder,
    sequence: &mut Vec<(ElementId, bool)>,
    other: &[ElementId],
) {
    for (known, always) in &mut *sequence {
        *always &= other
            .iter()
            .any(|&element| same_name(builder, element, *known));
    }
    for &element in other {
        if !sequence
            .iter()
            .any(|&(known, _)| same_name(builder, known, element))
        {
            sequence.push((element, false));
        }
    }
}

fn same_name(builder: &PlanBuilder, a: ElementId, b: ElementId) -> bool {
    builder.element_def(a).name == builder.element_def(b).name
}

impl Envelopes {
    pub(crate) fn new(built_ins: BuiltIns) -> Self {
        Self {
            built_ins,
            block_types: HashMap::new(),
            blocks: HashMap::new(),
        }
    }

    /// The variant of a declared element for use as a header block, with the attributes of header blocks added.
    /// All types must be defined already.
    pub(crate) fn header_block(
        &mut self,
        builder: &mut PlanBuilder,
        version: SoapVersion,
        element: ElementId,
    ) -> ElementId {
        if let Some(&block) = self.blocks.get(&(version, element)) {
            return block;
        }
        let mut def = builder.element_def(element).clone();
        def.ty = self.block_type(builder, version, def.ty);
        def.role = Role::HeaderBlock;
        let block = builder.element(def);
        if let Some(encoded) = builder.encoded(element).cloned() {
            // A block has the attribute `encodingStyle` as a value.
            let encoded = Encoded {
                may_refer: false,
                style: None,
                ..encoded
            };
            builder.encode(block, encoded);
        }
        self.blocks.insert((version, element), block);
        block
    }

    /// A variant of a type with the attributes of header blocks added, also to the types that may replace it.
    fn block_type(
        &mut self,
        builder: &mut PlanBuilder,
        version: SoapVersion,
        ty: TypeId,
    ) -> TypeId {
        let mut waiting = vec![ty];
        while let Some(original) = waiting.pop() {
            if self.block_types.contains_key(&(version, original)) {
                continue;
            }
            let variant = builder.reserve_type();
            self.block_types.insert((version, original), variant);
            waiting.extend(
                builder
                    .type_mut(original)
                    .into_iter()
                    .flat_map(|def| def.alternatives.iter()),
            );
        }
        // Every alternative has a reserved variant now, so the definitions can refer to each other.
        let mut waiting = vec![ty];
        while let Some(original) = waiting.pop() {
            let variant = self.block_types[&(version, original)];
            let Some(mut def) = builder.type_mut(original).cloned() else {
                continue;
            };
            if builder.type_mut(variant).is_some() {
                continue;
            }
            for attribute in self.block_attributes(builder, version) {
                if !def
                    .attributes
                    .iter()
                    .any(|known| known.name == attribute.name)
                {
                    def.attributes.push(attribute);
                }
            }
            waiting.extend(&def.alternatives);
            for alternative in &mut def.alternatives {
                *alternative = self.block_types[&(version, *alternative)];
            }
            builder.define_type(variant, def);
            if let Some(size) = builder.size_of_array(original).cloned() {
                builder.array_size(variant, size);
            }
        }
        self.block_types[&(version, ty)]
    }

    /// The attributes of a header block. (SOAP 1.1 §4.2.2, §4.2.3; SOAP 1.2 Part 1 §5.2)
    fn block_attributes(
        &self,
        builder: &mut PlanBuilder,
        version: SoapVersion,
    ) -> Vec<AttributeDef> {
        // SOAP 1.1 allows only "1" and "0" for `mustUnderstand`, so its lexical form is stored.
        let names = match version {
            SoapVersion::Soap11 => [
                ("mustUnderstand", self.built_ins.string),
                ("actor", self.built_ins.uri),
                ("encodingStyle", self.built_ins.uri),
            ]
            .to_vec(),
            SoapVersion::Soap12 => [
                ("mustUnderstand", self.built_ins.boolean),
                ("role", self.built_ins.uri),
                ("relay", self.built_ins.boolean),
                ("encodingStyle", self.built_ins.uri),
            ]
            .to_vec(),
        };
        let mut attributes = Vec::new();
        for (local, ty) in names {
            if let Some(leaf) = leaf_of(builder, ty) {
                attributes.push(optional_attribute(
                    builder.name(version.envelope_namespace(), local),
                    leaf,
                ));
            }
        }
        attributes
    }

    /// The Envelope element for one direction of a binding.
    pub(crate) fn envelope(
        &self,
        builder: &mut PlanBuilder,
        version: SoapVersion,
        traffic: &Traffic,
        faults: Faults<'_>,
    ) -> ElementId {
        let namespace = version.envelope_namespace();
        let blocks: Vec<ParticleId> = traffic
            .headers
            .iter()
            .map(|&block| once(builder, block))
            .collect();
        // Each header block must be in a namespace. (SOAP 1.1 §4.2; SOAP 1.2 Part 1 §5.2.1)
        let content = open_choice(builder, blocks, NamespaceConstraint::Not(String::new()));
        let attributes = AllowedAttributes::of_section(version);
        let ty = complex_type(builder, content, attributes);
        let header = element(builder, namespace, "Header", ty);

        let mut branches: Vec<ParticleId> = traffic
            .branches
            .iter()
            .map(|branch| branch_particle(builder, branch))
            .collect();
        if let Faults::Declared(details, independent) = faults {
            let fault = match version {
                SoapVersion::Soap11 => self.fault_11(builder, details),
                SoapVersion::Soap12 => self.fault_12(builder, details),
            };
            let branch = Branch {
                elements: vec![(fault, true)],
                independent,
            };
            branches.push(branch_particle(builder, &branch));
        }
        let content = builder.particle(ParticleDef {
            min: 0,
            max: 1,
            term: TermDef::Choice(branches),
        });
        let ty = complex_type(builder, content, attributes);
        let body = element(builder, namespace, "Body", ty);

        let children = vec![optional(builder, header), once(builder, body)];
        let content = sequence(builder, children);
        let ty = complex_type(builder, content, attributes);
        element(builder, namespace, "Envelope", ty)
    }

    /// The `Fault` element of SOAP 1.1. Its children are unqualified and in any order. (SOAP 1.1 §4.4)
    fn fault_11(&self, builder: &mut PlanBuilder, details: &[ElementId]) -> ElementId {
        let namespace = SoapVersion::Soap11.envelope_namespace();
        let code = element(builder, "", "faultcode", self.built_ins.name);
        let string = element(builder, "", "faultstring", self.built_ins.string);
        let actor = element(builder, "", "faultactor", self.built_ins.uri);
        let content = detail_content(builder, details);
        let ty = complex_type(builder, content, AllowedAttributes::Any);
        let detail = element(builder, "", "detail", ty);
        let children = vec![
            once(builder, code),
            once(builder, string),
            optional(builder, actor),
            optional(builder, detail),
        ];
        let content = group(builder, TermDef::All(children));
        let ty = complex_type(builder, content, AllowedAttributes::None);
        element(builder, namespace, "Fault", ty)
    }

    /// The `Fault` element of SOAP 1.2. (SOAP 1.2 Part 1 §5.4)
    fn fault_12(&self, builder: &mut PlanBuilder, details: &[ElementId]) -> ElementId {
        let namespace = SoapVersion::Soap12.envelope_namespace();
        let value = element(builder, namespace, "Value", self.built_ins.name);
        // A subcode may have a subcode.
        let subcode_type = builder.reserve_type();
        let subcode = element(builder, namespace, "Subcode", subcode_type);
        let children = vec![once(builder, value), optional(builder, subcode)];
        let content = sequence(builder, children);
        builder.define_type(
            subcode_type,
            complex(Content::Particle(content), AllowedAttributes::None),
        );
        let code = element(builder, namespace, "Code", subcode_type);

        let text = self.reason_text(builder);
        let texts = builder.particle(ParticleDef {
            min: 1,
            max: UNBOUNDED,
            term: TermDef::Element(text),
        });
        let ty = complex_type(builder, texts, AllowedAttributes::None);
        let reason = element(builder, namespace, "Reason", ty);

        let node = element(builder, namespace, "Node", self.built_ins.uri);
        let role = element(builder, namespace, "Role", self.built_ins.uri);
        let content = detail_content(builder, details);
        let ty = complex_type(builder, content, AllowedAttributes::Any);
        let detail = element(builder, namespace, "Detail", ty);
        let children = vec![
            once(builder, code),
            once(builder, reason),
            optional(builder, node),
            optional(builder, role),
            optional(builder, detail),
        ];
        let content = sequence(builder, children);
        let ty = complex_type(builder, content, AllowedAttributes::None);
        element(builder, namespace, "Fault", ty)
    }

    /// The `Text` element of a reason: a string in a language.
    fn reason_text(&self, builder: &mut PlanBuilder) -> ElementId {
        let namespace = SoapVersion::Soap12.envelope_namespace();
        let Some(leaf) = leaf_of(builder, self.built_ins.string) else {
            return element(builder, namespace, "Text", self.built_ins.string);
        };
        let language = optional_attribute(builder.name(XML_NAMESPACE, "lang"), leaf);
        let mut def = complex(Content::Simple(leaf), AllowedAttributes::None);
        def.attributes.push(language);
        let ty = builder.reserve_type();
        builder.define_type(ty, def);
        element(builder, namespace, "Text", ty)
    }
}

/// The attributes that a type of SOAP allows.
#[derive(Clone, Copy)]
enum AllowedAttributes {
    None,
    Any,
    /// Those of any namespace.
    Qualified,
}

impl AllowedAttributes {
    /// Those of an Envelope, a Header and a Body. (SOAP 1.2 Part 1 §5.1 - §5.3; SOAP 1.1 demands the same of Envelopes alone, and
    /// its peers do not follow it)
    fn of_section(version: SoapVersion) -> Self {
        match version {
            SoapVersion::Soap11 => Self::Any,
            SoapVersion::Soap12 => Self::Qualified,
        }
    }

    fn wildcard(self) -> Option<Wildcard> {
        let namespaces = match self {
            Self::None => return None,
            Self::Any => NamespaceConstraint::Any,
            Self::Qualified => NamespaceConstraint::Not(String::new()),
        };
        let process = ProcessContents::Skip;
        Some(Wildcard {
            namespaces,
            process,
        })
    }
}

/// The content of a fault's detail: the declared elements and any other element.
fn detail_content(builder: &mut PlanBuilder, details: &[ElementId]) -> ParticleId {
    let declared = details
        .iter()
        .map(|&detail| once(builder, detail))
        .collect();
    open_choice(builder, declared, NamespaceConstraint::Any)
}

/// A repeated choice of these branches and any other element of some namespaces.
fn open_choice(
    builder: &mut PlanBuilder,
    mut branches: Vec<ParticleId>,
    namespaces: NamespaceConstraint,
) -> ParticleId {
    let other = Wildcard {
        namespaces,
        process: ProcessContents::Skip,
    };
    branches.push(group(builder, TermDef::Any(other)));
    builder.particle(ParticleDef {
        min: 0,
        max: UNBOUNDED,
        term: TermDef::Choice(branches),
    })
}

/// A wildcard that allows every namespace.
pub(super) fn any(process: ProcessContents) -> Wildcard {
    Wildcard {
        namespaces: NamespaceConstraint::Any,
        process,
    }
}

/// The particle of a branch: a sequence, or a single element.
fn branch_particle(builder: &mut PlanBuilder, branch: &Branch) -> ParticleId {
    let mut children: Vec<ParticleId> = branch
        .elements
        .iter()
        .map(|&(element, required)| required_if(builder, required, element))
        .collect();
    children.extend(branch.independent.map(|element| {
        builder.particle(ParticleDef {
            min: 0,
            max: UNBOUNDED,
            term: TermDef::Element(element),
        })
    }));
    match children[..] {
        [single] => single,
        _ => sequence(builder, children),
    }
}

/// A particle that occurs once.
fn group(builder: &mut PlanBuilder, term: TermDef) -> ParticleId {
    builder.particle(ParticleDef {
        min: 1,
        max: 1,
        term,
    })
}

fn once(builder: &mut PlanBuilder, element: ElementId) -> ParticleId {
    group(builder, TermDef::Element(element))
}

fn optional(builder: &mut PlanBuilder, element: ElementId) -> ParticleId {
    builder.particle(ParticleDef {
        min: 0,
        max: 1,
        term: TermDef::Element(element),
    })
}

/// A particle with an element that is required if `required` is true, and otherwise optional.
fn required_if(builder: &mut PlanBuilder, required: bool, element: ElementId) -> ParticleId {
    match required {
        true => once(builder, element),
        false => optional(builder, element),
    }
}

fn sequence(builder: &mut PlanBuilder, children: Vec<ParticleId>) -> ParticleId {
    group(builder, TermDef::Sequence(children))
}

fn complex(content: Content, attributes: AllowedAttributes) -> TypeDef {
    TypeDef {
        any_attribute: attributes.wildcard(),
        ..type_def(content)
    }
}

/// A type with this content, but without name, attributes and base type.
pub(super) fn type_def(content: Content) -> TypeDef {
    TypeDef {
        name: None,
        attributes: Vec::new(),
        any_attribute: None,
        content,
        alternatives: Vec::new(),
        base: None,
        is_abstract: false,
    }
}

fn complex_type(
    builder: &mut PlanBuilder,
    content: ParticleId,
    attributes: AllowedAttributes,
) -> TypeId {
    let ty = builder.reserve_type();
    builder.define_type(ty, complex(Content::Particle(content), attributes));
    ty
}

/// An element that SOAP defines.
fn element(builder: &mut PlanBuilder, namespace: &str, local: &str, ty: TypeId) -> ElementId {
    let name = builder.name(namespace, local);
    builder.element(element_def(name, ty, Role::Soap))
}

/// An element that is not nillable, not abstract and without a default or fixed value.
pub(super) fn element_def(name: NameId, ty: TypeId, role: Role) -> ElementDef {
    ElementDef {
        name,
        ty,
        nillable: false,
        is_abstract: false,
        default: None,
        fixed: None,
        role,
    }
}

/// The order of the parts in an rpc wrapper.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Accessors {
    /// Literal messages: a sequence in the order of the message. All parts are required.
    InOrder,
    /// Encoded messages: parts are identified by name and in any order. Nil parts may be omitted. (SOAP 1.1 §5.1)
    Named(SoapVersion),
}

/// The wrapper of an rpc message: an element whose children are the parts. A part is `(element, is required)`.
pub(crate) fn rpc_wrapper(
    builder: &mut PlanBuilder,
    namespace: &str,
    local: &str,
    accessors: Accessors,
    parts: &[(ElementId, bool)],
) -> ElementId {
    let is_ordered = accessors == Accessors::InOrder;
    let children: Vec<ParticleId> = parts
        .iter()
        .map(|&(part, required)| required_if(builder, required && is_ordered, part))
        .collect();
    let content = match (accessors, children.len()) {
        (Accessors::Named(_), 2..) => group(builder, TermDef::All(children)),
        _ => sequence(builder, children),
    };
    let ty = complex_type(builder, content, AllowedAttributes::None);
    part_element(builder, namespace, local, ty, false)
}

/// The element for a part that has a type. It has the name of the part.
pub(crate) fn part_element(
    builder: &mut PlanBuilder,
    namespace: &str,
    local: &str,
    ty: TypeId,
    nillable: bool,
) -> ElementId {
    let name = builder.name(namespace, local);
    builder.element(ElementDef {
        nillable,
        ..element_def(name, ty, Role::Application)
    })
}

fn optional_attribute(name: NameId, leaf: LeafId) -> AttributeDef {
    AttributeDef {
        name,
        leaf,
        required: false,
        default: None,
        fixed: None,
    }
}

/// The leaf of a simple type. `None` for a complex type.
fn leaf_of(builder: &mut PlanBuilder, ty: TypeId) -> Option<LeafId> {
    match builder.type_mut(ty)?.content {
        Content::Simple(leaf) => Some(leaf),
        _ => None,
    }
}
