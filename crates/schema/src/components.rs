//! The components of schemas as their documents declare them: names are not resolved and derivations not computed.
//! Definitions are stored in arrays and referred to by number, so types can be anonymous and recursive.
//! (XML Schema Part 1 §2.2)

use std::ops::Deref;
use std::sync::Arc;

use bsoap_codec::plan::{NamespaceConstraint, ProcessContents};
use bsoap_datatypes::{NamespaceContext, qname};
use foldhash::HashMap;

use crate::work::Work;
use crate::{Documents, Error, ErrorKind, ExpandedName, Position, Result, Sort};

/// The number of a type definition in its [`SchemaSet`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct TypeNumber(pub u32);

/// The number of an element declaration in its [`SchemaSet`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ElementNumber(pub u32);

/// The number of a model group or attribute group definition in its [`SchemaSet`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct GroupNumber(pub u32);

/// The components of all loaded schemas, by number and by name.
#[derive(Debug, Default)]
pub struct SchemaSet {
    pub(crate) types: Vec<TypeDefinition>,
    pub(crate) elements: Vec<ElementDeclaration>,
    pub(crate) groups: Vec<GroupDefinition>,
    pub(crate) attribute_groups: Vec<AttributeGroupDefinition>,
    pub(crate) named_types: HashMap<ExpandedName, TypeNumber>,
    pub(crate) named_elements: HashMap<ExpandedName, ElementNumber>,
    pub(crate) named_groups: HashMap<ExpandedName, GroupNumber>,
    pub(crate) named_attribute_groups: HashMap<ExpandedName, GroupNumber>,
    pub(crate) attributes: HashMap<ExpandedName, AttributeDeclaration>,
    pub(crate) notations: HashMap<ExpandedName, Position>,
    pub(crate) identity_constraints: HashMap<ExpandedName, IdentityConstraint>,
    /// The global elements that can replace the head of a substitution group, in document order. The key is the head.
    pub(crate) substitutes: HashMap<ExpandedName, Vec<ElementNumber>>,
    /// Pairs of a redefined group that does not refer to the original group, and the original group.
    pub(crate) redefined_groups: Vec<(GroupNumber, GroupNumber)>,
    /// Pairs of a redefined attribute group that does not refer to the original one, and the original attribute group.
    pub(crate) redefined_attribute_groups: Vec<(GroupNumber, GroupNumber)>,
    /// Namespaces, each with the first prefix that documents declare for it.
    pub(crate) prefixes: Vec<(Arc<str>, String)>,
    /// The errors of documents that could not be loaded, by namespace.
    pub(crate) unloaded: HashMap<Arc<str>, String>,
    pub(crate) documents: Documents,
    pub(crate) strictness: Strictness,
    pub(crate) limits: crate::LoadLimits,
    /// The work that is left for reading and compiling.
    pub(crate) work: Work,
    /// The errors that were tolerated.
    pub(crate) warnings: Vec<Error>,
}

/// The rules of the schema language that are enforced.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Strictness {
    /// Only the rules needed to read and write messages: many published schemas break other rules.
    #[default]
    Lenient,
    /// Every rule, also for components that no message uses.
    Strict,
}

/// A name that refers to a component, and the position of the reference.
#[derive(Clone, Debug)]
pub struct Reference {
    /// The name of the component.
    pub name: ExpandedName,
    /// The location of the reference.
    pub place: Position,
}

/// A type that a component uses: a name, or an anonymous definition.
#[derive(Clone, Debug)]
pub enum TypeUse {
    /// A reference by name.
    Named(Reference),
    /// The number of an anonymous definition.
    Defined(TypeNumber),
}

/// A simple or complex type definition.
#[derive(Clone, Debug)]
pub struct TypeDefinition {
    /// The name of the type. `None` for an anonymous type.
    pub name: Option<ExpandedName>,
    /// The position of the definition.
    pub place: Position,
    /// The text of its `documentation` elements.
    pub documentation: Option<Box<str>>,
    /// The media types that its binary values may have (`xmime:expectedContentTypes`).
    pub media_types: Option<Box<str>>,
    /// The definition as a simple or complex type.
    pub kind: TypeKind,
    /// The forbidden derivations (`final`).
    pub is_final: DerivationSet,
}

/// The definition of a simple or a complex type.
#[derive(Clone, Debug)]
pub enum TypeKind {
    /// A simple type.
    Simple(SimpleDefinition),
    /// A complex type.
    Complex(ComplexDefinition),
}

/// A simple type definition.
#[derive(Clone, Debug)]
pub enum SimpleDefinition {
    /// A restriction of another type.
    Restriction {
        /// The base type.
        base: TypeUse,
        /// The facets, in document order.
        facets: Vec<FacetDefinition>,
    },
    /// A list whose items have this type.
    List(TypeUse),
    /// A union of these types.
    Union(Vec<TypeUse>),
}

/// A facet as written in the schema.
#[derive(Clone, Debug)]
pub struct FacetDefinition {
    /// The element's local name: `maxLength`, `pattern` …
    pub name: Box<str>,
    /// The attribute `value`.
    pub value: Box<str>,
    /// The attribute `fixed`.
    pub fixed: bool,
    /// Its location in the document.
    pub place: Position,
    /// For enumerations: the value as an expanded name, in case the type is QName.
    pub expanded: Option<ExpandedName>,
}

/// A complex type.
#[derive(Clone, Debug)]
pub struct ComplexDefinition {
    /// The attribute `abstract`.
    pub is_abstract: bool,
    /// The attribute `mixed` of the type or of its content.
    pub mixed: bool,
    /// The derivation methods (`block`) by which a type must not be derived to replace this one.
    pub block: DerivationSet,
    /// Its content and derivation.
    pub content: ComplexContent,
    /// Its own attributes.
    pub attributes: AttributeUses,
}

/// How a type is derived from its base.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Derivation {
    /// By extension.
    Extension,
    /// By restriction.
    Restriction,
}

/// The content and derivation of a complex type.
#[derive(Clone, Debug)]
pub enum ComplexContent {
    /// The element `simpleContent`.
    Simple {
        /// The base: a simple type, or a complex one with simple content.
        base: TypeUse,
        /// The derivation method.
        derivation: Derivation,
        /// A simple type that restricts the base's content.
        simple: Option<TypeUse>,
        /// Facets on the content.
        facets: Vec<FacetDefinition>,
    },
    /// The element `complexContent`, or content directly under `complexType` (the shorthand).
    Complex {
        /// The base type. `None` for the shorthand, which is a restriction of `anyType`.
        base: Option<TypeUse>,
        /// The derivation method.
        derivation: Derivation,
        /// The content's particle.
        particle: Option<ParticleDeclaration>,
    },
}

/// The attributes that a type or attribute group itself declares.
#[derive(Clone, Debug, Default)]
pub struct AttributeUses {
    /// The attribute uses and references to groups, in document order.
    pub items: Vec<AttributeItem>,
    /// The element `anyAttribute`.
    pub wildcard: Option<WildcardDeclaration>,
}

/// One item of [`AttributeUses`].
#[derive(Clone, Debug)]
pub enum AttributeItem {
    /// An attribute.
    Use(AttributeUse),
    /// A reference to an attribute group.
    Group(Reference),
    /// An attribute group by number: the original group in a redefinition.
    Resolved(GroupNumber),
}

/// An attribute and how it is used.
#[derive(Clone, Debug)]
pub struct AttributeUse {
    /// The declaration of the attribute, or a reference to it.
    pub attribute: AttributeTerm,
    /// The attribute `use`.
    pub usage: Usage,
    /// The attribute `default`.
    pub default: Option<Box<DeclaredValue>>,
    /// The attribute `fixed`.
    pub fixed: Option<Box<DeclaredValue>>,
    /// The attribute `wsdl:arrayType`, on references to `soapenc:arrayType`.
    pub array_type: Option<ArrayType>,
    /// Its location in the document.
    pub place: Position,
}

/// `wsdl:arrayType`: the item type and its dimensions, such as `[]` or `[,]`.
#[derive(Clone, Debug)]
pub struct ArrayType {
    /// The item type's name.
    pub item: Reference,
    /// The brackets with their commas.
    pub dimensions: Box<str>,
}

/// The attribute that an attribute use refers to.
#[derive(Clone, Debug)]
pub enum AttributeTerm {
    /// A local declaration.
    Local(AttributeDeclaration),
    /// A reference to a global declaration.
    Global(Reference),
}

/// The values of the attribute `use`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Usage {
    /// `optional`
    Optional,
    /// `required`
    Required,
    /// `prohibited`
    Prohibited,
}

/// An attribute declaration.
#[derive(Clone, Debug)]
pub struct AttributeDeclaration {
    /// Its name.
    pub name: ExpandedName,
    /// The type. `None` means `anySimpleType`.
    pub ty: Option<TypeUse>,
    /// The attribute `default`.
    pub default: Option<Box<DeclaredValue>>,
    /// The attribute `fixed`.
    pub fixed: Option<Box<DeclaredValue>>,
    /// Its location in the document.
    pub place: Position,
    /// Its documentation.
    pub documentation: Option<Box<str>>,
}

/// A default or fixed value. It may be a name, or have names, whose prefixes the document declares.
#[derive(Clone, Debug)]
pub struct DeclaredValue {
    /// The lexical form.
    pub text: Box<str>,
    /// The prefixes in it, sorted, each with its namespace; the empty prefix is the default namespace.
    pub namespaces: Box<[(Box<str>, Arc<str>)]>,
}

impl Deref for DeclaredValue {
    type Target = str;

    fn deref(&self) -> &str {
        &self.text
    }
}

impl NamespaceContext for DeclaredValue {
    fn resolve(&self, prefix: &str) -> Option<&str> {
        let found = self
            .namespaces
            .binary_search_by(|(known, _)| (**known).cmp(prefix));
        Some(&*self.namespaces[found.ok()?].1)
    }
}

impl DeclaredValue {
    /// The number of bytes of the namespaces of the names in it: a short text can refer to a long one often.
    pub fn length_of_namespaces(&self) -> usize {
        let names = self.text.split_ascii_whitespace().filter_map(qname::split);
        let namespaces = names.filter_map(|(prefix, _)| self.resolve(prefix));
        namespaces.map(str::len).sum()
    }

    /// Names as `{namespace}local`; `None` if one of them is no name or has an undeclared prefix.
    pub fn expanded(&self) -> Option<String> {
        let names = self.text.split_ascii_whitespace();
        let names: Option<Vec<String>> = names
            .map(|name| Some(qname::resolve(name, self)?.to_string()))
            .collect();
        Some(names?.join(" "))
    }
}

/// An element declaration.
#[derive(Clone, Debug)]
pub struct ElementDeclaration {
    /// Its name.
    pub name: ExpandedName,
    /// True if the element is global.
    pub is_global: bool,
    /// The type. `None` means the type of the head of the substitution group, or `anyType` without such a group.
    pub ty: Option<TypeUse>,
    /// The attribute `nillable`.
    pub nillable: bool,
    /// The attribute `abstract`.
    pub is_abstract: bool,
    /// The attribute `default`.
    pub default: Option<Box<DeclaredValue>>,
    /// The attribute `fixed`.
    pub fixed: Option<Box<DeclaredValue>>,
    /// The head of the substitution group that the element belongs to.
    pub substitutes: Option<Reference>,
    /// The forbidden substitutions (`block`).
    pub block: DerivationSet,
    /// The derivations that the types of elements replacing this one must not have (`final`).
    pub is_final: DerivationSet,
    /// Its location in the document.
    pub place: Position,
    /// Its documentation.
    pub documentation: Option<Box<str>>,
    /// The media types that its binary value may have (`xmime:expectedContentTypes`).
    pub media_types: Option<Box<str>>,
}

/// A model group definition.
#[derive(Clone, Debug)]
pub(crate) struct GroupDefinition {
    /// Its name.
    pub name: ExpandedName,
    /// Its content.
    pub particle: Option<ParticleDeclaration>,
    /// Its location in the document.
    pub place: Position,
}

/// An attribute group definition.
#[derive(Clone, Debug)]
pub(crate) struct AttributeGroupDefinition {
    /// Its name.
    pub name: ExpandedName,
    /// Its content.
    pub attributes: AttributeUses,
    /// Its location in the document.
    pub place: Position,
}

/// A particle: a term, and how often it may occur.
#[derive(Clone, Debug)]
pub struct ParticleDeclaration {
    /// The attribute `minOccurs`.
    pub min: u32,
    /// The attribute `maxOccurs`. `unbounded` is [`UNBOUNDED`](bsoap_codec::plan::UNBOUNDED).
    pub max: u32,
    /// The term.
    pub term: TermDeclaration,
    /// Its location in the document.
    pub place: Position,
}

/// The term of a particle.
#[derive(Clone, Debug)]
pub enum TermDeclaration {
    /// A local element.
    Element(ElementNumber),
    /// A reference to a global element.
    ElementRef(Reference),
    /// A reference to a group.
    Group(Reference),
    /// A group by number: the original group in a redefinition.
    Resolved(GroupNumber),
    /// `sequence`
    Sequence(Vec<ParticleDeclaration>),
    /// `choice`
    Choice(Vec<ParticleDeclaration>),
    /// `all`
    All(Vec<ParticleDeclaration>),
    /// `any`
    Any(WildcardDeclaration),
}

/// A wildcard: the element `any` or `anyAttribute`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WildcardDeclaration {
    /// The allowed namespaces.
    pub namespaces: NamespaceConstraint,
    /// The attribute `processContents`.
    pub process: ProcessContents,
    /// Its location in the document.
    pub place: Position,
}

/// `key`, `keyref` or `unique`. Only references between them are checked.
#[derive(Clone, Debug)]
pub(crate) struct IdentityConstraint {
    /// The number of fields.
    pub fields: usize,
    /// True if a `keyref` may refer to the constraint.
    pub is_key: bool,
    /// The key that this constraint refers to, if it is a `keyref`.
    pub refer: Option<Reference>,
    /// Its location in the document.
    pub place: Position,
}

/// A set of derivation methods and substitution, as in `final` and `block`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct DerivationSet(u8);

impl DerivationSet {
    /// The empty set.
    pub const NONE: Self = Self(0);
    /// `extension`
    pub const EXTENSION: Self = Self(1);
    /// `restriction`
    pub const RESTRICTION: Self = Self(2);
    /// `substitution`
    pub const SUBSTITUTION: Self = Self(4);
    /// `list`
    pub const LIST: Self = Self(8);
    /// `union`
    pub const UNION: Self = Self(16);

    /// Parses a `final` or `block` attribute. Members that are not in `allowed` are ignored.
    pub fn parse(text: &str, allowed: Self) -> Self {
        let one = |token| match token {
            "#all" => Self(31),
            "extension" => Self::EXTENSION,
            "restriction" => Self::RESTRICTION,
            "substitution" => Self::SUBSTITUTION,
            "list" => Self::LIST,
            "union" => Self::UNION,
            _ => Self::NONE,
        };
        Self(
            text.split_ascii_whitespace()
                .fold(0, |all, token| all | one(token).0)
                & allowed.0,
        )
    }

    /// The union of both sets.
    #[must_use]
    pub const fn with(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// The members `extension` and `restriction` of the set.
    #[must_use]
    pub const fn derivations(self) -> Self {
        Self(self.0 & 3)
    }

    /// True if the sets have a common member.
    pub const fn meets(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }
}

impl From<Derivation> for DerivationSet {
    fn from(derivation: Derivation) -> Self {
        match derivation {
            Derivation::Extension => Self::EXTENSION,
            Derivation::Restriction => Self::RESTRICTION,
        }
    }
}

impl SchemaSet {
    /// The documents that declare the components.
    pub fn documents(&self) -> &Documents {
        &self.documents
    }

    /// The errors that were tolerated.
    pub fn warnings(&self) -> &[Error] {
        &self.warnings
    }

    /// True if an element has identity constraints. They are read, but messages are not checked against them.
    pub fn has_identity_constraints(&self) -> bool {
        !self.identity_constraints.is_empty()
    }

    /// The type definition with this number.
    pub fn type_definition(&self, number: TypeNumber) -> &TypeDefinition {
        &self.types[number.0 as usize]
    }

    /// The element declaration with this number.
    pub fn element_declaration(&self, number: ElementNumber) -> &ElementDeclaration {
        &self.elements[number.0 as usize]
    }

    /// The number of the type definition with this name. `None` for built-in types and undefined names.
    pub fn named_type(&self, name: &ExpandedName) -> Option<TypeNumber> {
        self.named_types.get(name).copied()
    }

    /// The number of the global element declaration with this name.
    pub fn named_element(&self, name: &ExpandedName) -> Option<ElementNumber> {
        self.named_elements.get(name).copied()
    }

    /// The global element declaration with this name.
    pub fn element(&self, name: &ExpandedName) -> Option<&ElementDeclaration> {
        self.named_element(name)
            .map(|number| self.element_declaration(number))
    }

    /// The type definition with this name.
    pub fn ty(&self, name: &ExpandedName) -> Option<&TypeDefinition> {
        self.named_type(name)
            .map(|number| self.type_definition(number))
    }

    /// The global elements, in the order in which they were read.
    pub fn global_elements(&self) -> impl Iterator<Item = &ElementDeclaration> {
        self.elements.iter().filter(|element| element.is_global)
    }

    /// The error for an undefined reference.
    #[cold]
    pub(crate) fn undefined(&self, sort: Sort, reference: &Reference) -> Error {
        let name = &reference.name;
        let spelled = spelled_at(self.documents.text_at(reference.place), &name.local);
        let kind = match (undeclared_prefix(name, spelled.as_deref()), spelled) {
            (Some(undeclared), _) => undeclared,
            (None, spelled) => ErrorKind::Undefined {
                sort,
                name: name.clone(),
                spelled,
                cause: self.unloaded.get(&name.namespace).cloned(),
            },
        };
        Error::new(kind).at(self.documents.spell(reference.place))
    }

    /// The error for a broken rule.
    #[cold]
    pub(crate) fn broken(
        &self,
        rule: &'static str,
        problem: impl Into<String>,
        place: Position,
    ) -> Error {
        Error::new(ErrorKind::Rule {
            rule,
            problem: problem.into(),
        })
        .at(self.documents.spell(place))
    }

    /// The error for a component that refers to itself.
    #[cold]
    pub(crate) fn circular(&self, sort: Sort, name: impl ToString, place: Position) -> Error {
        Error::new(ErrorKind::Circular {
            sort,
            name: name.to_string(),
        })
        .at(self.documents.spell(place))
    }

    /// Takes work from the budget for a component.
    ///
    /// # Errors
    /// If the budget is used up.
    pub(crate) fn charge(&self, units: usize, place: Position) -> Result<()> {
        let charged = self.work.charge(units as u64);
        charged.map_err(|error| error.at(self.documents.spell(place)))
    }

    /// The error for an exceeded limit.
    #[cold]
    pub(crate) fn too_many(&self, name: &'static str, limit: usize, place: Position) -> Error {
        Error::new(ErrorKind::Limit {
            name,
            limit: limit as u64,
        })
        .at(self.documents.spell(place))
    }
}

/// The error for an undefined name if that is because its prefix is not declared: then it has no namespace. `spelled` is the name
/// as written.
pub(crate) fn undeclared_prefix(name: &ExpandedName, spelled: Option<&str>) -> Option<ErrorKind> {
    let (prefix, _) = spelled?.split_once(':')?;
    name.namespace
        .is_empty()
        .then(|| ErrorKind::UndeclaredPrefix {
            prefix: prefix.to_owned(),
            name: spelled.unwrap_or_default().to_owned(),
        })
}

/// The qualified name at the start of a text. `None` if its local name is not `local`.
pub(crate) fn spelled_at(text: &str, local: &str) -> Option<String> {
    let end =
        text.find(|c: char| c.is_whitespace() || matches!(c, '"' | '\'' | '<' | '>' | '[' | '&'))?;
    let spelled = &text[..end];
    let (_, found) = spelled.rsplit_once(':').unwrap_or(("", spelled));
    (found == local).then(|| spelled.to_owned())
}
