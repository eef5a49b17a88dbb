//! Reads a `schema` element to components.
//!
//! Reading is tolerant: violations of the grammar are ignored (in strict loading, `grammar.rs` reports them). Only
//! exceeded limits stop it.

use std::collections::hash_map::Entry;
use std::sync::Arc;

use foldhash::{HashMap, HashSet};
use roxmltree::Node;

use crate::components::{
    AttributeGroupDefinition, DerivationSet, ElementNumber, GroupDefinition, GroupNumber,
    IdentityConstraint, Reference, Strictness, TypeDefinition, TypeNumber, TypeUse,
};
use crate::document::{Position, place_of, place_of_value};
use crate::limits::MAX_PREFIXES;
use crate::name::{
    XSD_NAMESPACE, declared_namespace, draft_of, is_schema, is_schema_namespace, name_since_draft,
};
use crate::{Error, ErrorKind, ExpandedName, Result, Sort};

use super::load::SchemaSetBuilder;

/// The namespaces of `expectedContentTypes`.
const XMIME_NAMESPACES: [&str; 2] = [
    "http://www.w3.org/2005/05/xmlmime",
    "http://www.w3.org/2004/11/xmlmime",
];

mod attributes;
mod elements;
mod particles;
mod redefine;
mod types;

pub(super) use redefine::Redefinition;

/// Reads one schema element into the set.
pub(super) struct SchemaReader<'b, 'l> {
    builder: &'b mut SchemaSetBuilder<'l>,
    document: u32,
    target: Arc<str>,
    /// The document has no target namespace and is included by a schema with one, which applies to unqualified references.
    is_chameleon: bool,
    elements_qualified: bool,
    attributes_qualified: bool,
    block_default: String,
    final_default: String,
    /// The imported namespaces, for strict loading.
    imports: HashSet<String>,
    /// The nesting depth of the element being read.
    depth: usize,
}

const EXTENSION_RESTRICTION: DerivationSet =
    DerivationSet::EXTENSION.with(DerivationSet::RESTRICTION);

impl<'b, 'l> SchemaReader<'b, 'l> {
    pub(super) fn new(
        builder: &'b mut SchemaSetBuilder<'l>,
        document: u32,
        schema: Node<'_, '_>,
        target: Arc<str>,
        is_chameleon: bool,
    ) -> Self {
        let qualified = |attribute| {
            schema
                .attribute(attribute)
                .is_some_and(|form| form.trim() == "qualified")
        };
        let text = |attribute| schema.attribute(attribute).unwrap_or("").to_owned();
        let imports = children(schema, "import")
            .map(|import| import.attribute("namespace").unwrap_or("").to_owned())
            .collect();
        Self {
            builder,
            document,
            target,
            is_chameleon,
            elements_qualified: qualified("elementFormDefault"),
            attributes_qualified: qualified("attributeFormDefault"),
            block_default: text("blockDefault"),
            final_default: text("finalDefault"),
            imports,
            depth: 0,
        }
    }

    pub(super) fn read(mut self, schema: Node<'_, '_>) -> Result<()> {
        self.remember_prefixes(schema);
        for node in elements(schema) {
            match node.tag_name().name() {
                "redefine" => self.redefine(node)?,
                _ => self.global(node)?,
            }
        }
        self.builder.charge_names(place_of(self.document, schema))
    }

    fn global(&mut self, node: Node<'_, '_>) -> Result<()> {
        match node.tag_name().name() {
            "simpleType" => self.global_type(node, |reader| reader.simple_type(node)),
            "complexType" => self.global_type(node, |reader| reader.complex_type(node)),
            "element" => self.global_element(node),
            "attribute" => self.global_attribute(node),
            "group" => self.global_group(node),
            "attributeGroup" => self.global_attribute_group(node),
            "notation" => {
                let name = self.own_name(node)?;
                let place = place_of(self.document, node);
                if self
                    .builder
                    .set
                    .notations
                    .insert(name.clone(), place)
                    .is_some()
                {
                    self.duplicate(Sort::Notation, name, place);
                }
                Ok(())
            }
            _ => Ok(()),
        }
    }

    fn global_type(
        &mut self,
        node: Node<'_, '_>,
        read: impl FnOnce(&mut Self) -> Result<TypeDefinition>,
    ) -> Result<()> {
        let mut definition = read(self)?;
        let name = self.own_name(node)?;
        definition.name = Some(name.clone());
        let place = definition.place;
        let number = self.add_type(definition);
        if !register(&mut self.builder.set.named_types, &name, number) {
            self.builder.set.types[number.0 as usize].name = None;
            self.duplicate(Sort::Type, name, place);
        }
        Ok(())
    }

    fn global_group(&mut self, node: Node<'_, '_>) -> Result<()> {
        let definition = self.group_definition(node)?;
        let (name, place) = (definition.name.clone(), definition.place);
        let number = self.add_group(definition);
        if !register(&mut self.builder.set.named_groups, &name, number) {
            self.duplicate(Sort::Group, name, place);
        }
        Ok(())
    }

    fn group_definition(&mut self, node: Node<'_, '_>) -> Result<GroupDefinition> {
        let model = elements(node)
            .find(|child| matches!(child.tag_name().name(), "sequence" | "choice" | "all"));
        let particle = match model {
            Some(model) => self.particle(model)?,
            None => None,
        };
        Ok(GroupDefinition {
            name: self.own_name(node)?,
            particle,
            place: place_of(self.document, node),
        })
    }

    fn global_attribute_group(&mut self, node: Node<'_, '_>) -> Result<()> {
        let definition = self.attribute_group_definition(node)?;
        let (name, place) = (definition.name.clone(), definition.place);
        let number = self.add_attribute_group(definition);
        if !register(&mut self.builder.set.named_attribute_groups, &name, number) {
            self.duplicate(Sort::AttributeGroup, name, place);
        }
        Ok(())
    }

    fn attribute_group_definition(
        &mut self,
        node: Node<'_, '_>,
    ) -> Result<AttributeGroupDefinition> {
        let attributes = self.attribute_uses(node)?;
        Ok(AttributeGroupDefinition {
            name: self.own_name(node)?,
            attributes,
            place: place_of(self.document, node),
        })
    }

    /// Reads `key`, `unique` and `keyref`.
    fn identity_constraints(&mut self, element: Node<'_, '_>) -> Result<()> {
        for node in elements(element)
            .filter(|node| matches!(node.tag_name().name(), "key" | "unique" | "keyref"))
        {
            let name = self.own_name(node)?;
            let refer = self.reference(node, "refer")?;
            let place = place_of(self.document, node);
            let constraint = IdentityConstraint {
                fields: children(node, "field").count(),
                is_key: node.tag_name().name() != "keyref",
                refer,
                place,
            };
            if self
                .builder
                .set
                .identity_constraints
                .insert(name.clone(), constraint)
                .is_some()
            {
                self.duplicate(Sort::IdentityConstraint, name, place);
            }
        }
        Ok(())
    }

    // Adding components.

    fn add_type(&mut self, definition: TypeDefinition) -> TypeNumber {
        let types = &mut self.builder.set.types;
        types.push(definition);
        TypeNumber(types.len() as u32 - 1)
    }

    fn add_element(&mut self, declaration: crate::components::ElementDeclaration) -> ElementNumber {
        let elements = &mut self.builder.set.elements;
        elements.push(declaration);
        ElementNumber(elements.len() as u32 - 1)
    }

    fn add_group(&mut self, definition: GroupDefinition) -> GroupNumber {
        let groups = &mut self.builder.set.groups;
        groups.push(definition);
        GroupNumber(groups.len() as u32 - 1)
    }

    fn add_attribute_group(&mut self, definition: AttributeGroupDefinition) -> GroupNumber {
        let groups = &mut self.builder.set.attribute_groups;
        groups.push(definition);
        GroupNumber(groups.len() as u32 - 1)
    }

    // Names.

    // Each is charged where it is looked up: one node may have a list of thousands of names of a long namespace.

    /// The name that a global component declares.
    fn own_name(&mut self, node: Node<'_, '_>) -> Result<ExpandedName> {
        let local = node.attribute("name").unwrap_or("").trim();
        let name = self.builder.names.expanded(&self.target, local);
        self.builder.charge_names(place_of(self.document, node))?;
        Ok(name)
    }

    /// The reference in an attribute of `node`.
    fn reference(&mut self, node: Node<'_, '_>, attribute: &str) -> Result<Option<Reference>> {
        let Some(text) = node.attribute(attribute) else {
            return Ok(None);
        };
        let place = place_of_value(self.document, node, attribute);
        self.reference_to(node, text, place).map(Some)
    }

    fn reference_to(
        &mut self,
        node: Node<'_, '_>,
        text: &str,
        place: Position,
    ) -> Result<Reference> {
        let text = text.trim();
        let (prefix, local) = match text.split_once(':') {
            Some((prefix, local)) => (Some(prefix), local),
            None => (None, text),
        };
        let mut local = local;
        let namespace = match (declared_namespace(node, prefix), prefix) {
            (Some(draft), _) if draft_of(draft).is_some() => {
                local = name_since_draft(local);
                self.builder.names.intern(XSD_NAMESPACE)
            }
            (Some(namespace), _) if !namespace.is_empty() => self.builder.names.intern(namespace),
            (None, Some("xml")) => self.builder.names.intern(crate::XML_NAMESPACE),
            (_, None) if self.is_chameleon => self.target.clone(),
            (_, None) => self.builder.names.intern(""),
            (_, Some(prefix)) => {
                let kind = ErrorKind::UndeclaredPrefix {
                    prefix: prefix.to_owned(),
                    name: text.to_owned(),
                };
                let place = self.builder.documents().spell(place);
                self.builder.errors.push(Error::new(kind).at(place));
                self.builder.names.intern("")
            }
        };
        self.builder.charge_names(place)?;
        self.check_import(&namespace, place);
        self.builder.mention(&namespace);
        Ok(Reference {
            name: ExpandedName {
                namespace,
                local: self.builder.names.intern(local),
            },
            place,
        })
    }

    /// A document may refer to its own namespace and to those it imports. (src-resolve.4)
    fn check_import(&mut self, namespace: &str, place: Position) {
        if !self.is_strict()
            || SchemaSetBuilder::needs_no_import(namespace) && self.imports.is_empty()
        {
            return;
        }
        let known = namespace == &*self.target
            || namespace == XSD_NAMESPACE
            || self.imports.contains(namespace);
        if !known {
            let problem = format!("the namespace {namespace:?} is not imported in this document");
            self.broken("src-resolve.4", problem, place);
        }
    }

    fn type_use(&mut self, node: Node<'_, '_>, attribute: &str) -> Result<Option<TypeUse>> {
        if let Some(reference) = self.reference(node, attribute)? {
            return Ok(Some(TypeUse::Named(reference)));
        }
        self.anonymous_type(node)
    }

    /// The type defined inside `node`.
    fn anonymous_type(&mut self, node: Node<'_, '_>) -> Result<Option<TypeUse>> {
        let definition = match elements(node)
            .find(|child| matches!(child.tag_name().name(), "simpleType" | "complexType"))
        {
            None => return Ok(None),
            Some(child) if child.tag_name().name() == "simpleType" => self.simple_type(child)?,
            Some(child) => self.complex_type(child)?,
        };
        Ok(Some(TypeUse::Defined(self.add_type(definition))))
    }

    // Limits and errors.

    /// Runs `inner` one level deeper.
    ///
    /// # Errors
    /// If that is too deep.
    fn deeper<T>(
        &mut self,
        node: Node<'_, '_>,
        inner: impl FnOnce(&mut Self) -> Result<T>,
    ) -> Result<T> {
        let limit = self.builder.set.limits.depth;
        if self.depth >= limit {
            return Err(self
                .builder
                .set
                .too_many("depth", limit, place_of(self.document, node)));
        }
        self.depth += 1;
        let result = inner(self);
        self.depth -= 1;
        result
    }

    fn is_strict(&self) -> bool {
        self.builder.set.strictness == Strictness::Strict
    }

    #[cold]
    fn broken(&mut self, rule: &'static str, problem: impl Into<String>, place: Position) {
        let error = self.builder.set.broken(rule, problem, place);
        self.builder.errors.push(error);
    }

    #[cold]
    fn duplicate(&mut self, sort: Sort, name: ExpandedName, place: Position) {
        let error = Error::new(ErrorKind::Duplicate { sort, name }).at(self
            .builder
            .set
            .documents
            .spell(place));
        self.builder.errors.push(error);
    }

    #[cold]
    fn bad_value(&mut self, node: Node<'_, '_>, attribute: &str, expected: &str) {
        let found = node.attribute(attribute).unwrap_or("").to_owned();
        let kind = ErrorKind::Value {
            attribute: attribute.to_owned(),
            found,
            expected: expected.to_owned(),
        };
        let place = place_of_value(self.document, node, attribute);
        let error = Error::new(kind).at(self.builder.set.documents.spell(place));
        self.builder.errors.push(error);
    }

    fn remember_prefixes(&mut self, schema: Node<'_, '_>) {
        for declared in schema.namespaces() {
            let (Some(prefix), uri) = (declared.name(), declared.uri()) else {
                continue;
            };
            let prefixes = &mut self.builder.set.prefixes;
            if prefixes.len() >= MAX_PREFIXES {
                return;
            }
            let uri = self.builder.names.intern(uri);
            if !prefixes.iter().any(|(known, _)| *known == uri) {
                prefixes.push((uri, prefix.to_owned()));
            }
        }
    }

    fn derivation_set(
        &self,
        node: Node<'_, '_>,
        attribute: &str,
        default: &str,
        allowed: DerivationSet,
    ) -> DerivationSet {
        DerivationSet::parse(node.attribute(attribute).unwrap_or(default), allowed)
    }

    fn flag(&mut self, node: Node<'_, '_>, attribute: &str) -> bool {
        match node.attribute(attribute).map(str::trim) {
            Some("true" | "1") => true,
            None | Some("false" | "0") => false,
            Some(_) => {
                self.bad_value(node, attribute, "true or false");
                false
            }
        }
    }
}

/// Adds a component by name. Returns false if the name is defined already.
fn register<T>(
    components: &mut HashMap<ExpandedName, T>,
    name: &ExpandedName,
    component: T,
) -> bool {
    match components.entry(name.clone()) {
        Entry::Occupied(_) => false,
        Entry::Vacant(vacant) => {
            vacant.insert(component);
            true
        }
    }
}

/// Child elements in the namespace of XML Schema. Those of a schema may be in no namespace, and then theirs too: strict loading
/// refuses them before.
fn elements<'a, 'i>(node: Node<'a, 'i>) -> impl Iterator<Item = Node<'a, 'i>> {
    let is_loose = node.tag_name().namespace().is_none() || is_schema(node);
    node.children().filter(move |child| {
        let namespace = child.tag_name().namespace();
        child.is_element() && namespace.map_or(is_loose, is_schema_namespace)
    })
}

/// Child elements of this local name in the namespace of XML Schema.
fn children<'a, 'i>(node: Node<'a, 'i>, name: &'static str) -> impl Iterator<Item = Node<'a, 'i>> {
    elements(node).filter(move |child| child.tag_name().name() == name)
}

/// The media types of a binary value. (Describing Media Content of Binary Data in XML §2.2)
fn media_types(node: Node<'_, '_>) -> Option<Box<str>> {
    let mut found = XMIME_NAMESPACES
        .iter()
        .filter_map(|&namespace| node.attribute((namespace, "expectedContentTypes")));
    let types = found.next()?.split_whitespace();
    Some(types.collect::<Vec<_>>().join(" ").into())
}

/// The text of a node's documentation.
fn documentation(node: Node<'_, '_>) -> Option<Box<str>> {
    let mut all = String::new();
    for documentation in
        children(node, "annotation").flat_map(|annotation| children(annotation, "documentation"))
    {
        let mut text = String::new();
        documentation
            .descendants()
            .filter(Node::is_text)
            .for_each(|part| text.push_str(part.text().unwrap_or("")));
        if !all.is_empty() && !text.trim().is_empty() {
            all.push_str("\n\n");
        }
        all.push_str(text.trim());
    }
    (!all.is_empty()).then(|| all.into())
}
