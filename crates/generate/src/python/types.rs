//! Plan → Python types: which fields each class has.
//!
//! | in the Plan | in Python |
//! |---|---|
//! | simple type | `int`, `float`, `bool`, `str`, `bytes`, `decimal.Decimal`, `datetime.*`, `datetime.timedelta \| bsoap.Duration`; an enumeration of strings `enum.StrEnum` |
//! | complex type | dataclass: the members of its object |
//! | type with derived ones | a union of their classes |
//! | `minOccurs="0"` | `T \| None`; nillable besides: `T \| typed.Nil \| None` |
//! | `maxOccurs` above 1, list types | `list[T]`; of numbers `typed.Doubles`, `Floats`, `Ints`, `Bools` |
//! | choice, group | the fields of its members, optional |
//! | `anyType` | `Any` |
//!
//! Types are processed from a queue, so that they may be recursive.

use std::collections::{HashMap, HashSet, VecDeque};
use std::sync::Arc;

use bsoap_codec::plan::{Content, ElementId, LeafId, LeafKind, Plan, TypeId};
use bsoap_datatypes::{Datatype, SimpleType, Variety};
use bsoap_schema::{Definitions, SoapVersion};
use bsoap_xml::NameId;

use super::Options;
use super::model::{
    Class, ClassId, DeclaredFault, Enumeration, EnumerationId, Field, Member, Occurs, Ty, Union,
    UnionId, Waiting,
};
use super::names::PythonScope;
use crate::Error;

/// Determines types on demand.
#[derive(Debug)]
pub(super) struct Types<'d> {
    pub(super) definitions: &'d Definitions,
    pub(super) plan: &'d Plan,
    options: &'d Options,
    pub(super) scope: PythonScope,
    pub(super) classes: Vec<Class>,
    pub(super) unions: Vec<Union>,
    pub(super) enumerations: Vec<Enumeration>,
    pub(super) faults: Vec<DeclaredFault>,
    /// The Python type of each type of the Plan, without its derived types.
    exact: HashMap<TypeId, Ty>,
    union_of: HashMap<TypeId, Ty>,
    enumeration_of: HashMap<*const SimpleType, EnumerationId>,
    filled: HashSet<ClassId>,
    queue: VecDeque<Waiting>,
    waiting_unions: VecDeque<(UnionId, TypeId)>,
    /// The number of fields, values and derived types so far.
    members: usize,
}

impl<'d> Types<'d> {
    pub(super) fn new(definitions: &'d Definitions, options: &'d Options) -> Self {
        Self {
            definitions,
            plan: definitions.plan(),
            options,
            scope: PythonScope::default(),
            classes: Vec::new(),
            unions: Vec::new(),
            enumerations: Vec::new(),
            faults: Vec::new(),
            exact: HashMap::new(),
            union_of: HashMap::new(),
            enumeration_of: HashMap::new(),
            filled: HashSet::new(),
            queue: VecDeque::new(),
            waiting_unions: VecDeque::new(),
            members: 0,
        }
    }

    /// Processes the queues.
    ///
    /// # Errors
    /// If the classes have too many fields.
    pub(super) fn finish(&mut self) -> Result<(), Error> {
        self.charge(self.classes.iter().map(|class| class.fields.len()).sum())?;
        loop {
            if let Some(Waiting { class, ty }) = self.queue.pop_front() {
                self.fill(class, ty)?;
            } else if let Some((union, ty)) = self.waiting_unions.pop_front() {
                self.charge(self.plan.ty(ty).alternatives.len())?;
                self.fill_union(union, ty);
            } else {
                return Ok(());
            }
        }
    }

    /// Counts members of classes and unions. Values of enumerations are counted when these are added.
    fn charge(&mut self, members: usize) -> Result<(), Error> {
        self.members += members;
        match self.members > self.options.max_members {
            true => Err(Error::TooLarge(self.options.max_members)),
            false => Ok(()),
        }
    }

    pub(super) fn local(&self, element: ElementId) -> &'d str {
        self.name_of(self.plan.element(element).name)
    }

    fn name_of(&self, name: NameId) -> &'d str {
        self.plan.vocabulary().local(name)
    }

    fn type_name(&self, ty: TypeId) -> Option<&'d str> {
        self.plan.ty(ty).name.map(|name| self.name_of(name))
    }

    /// The type of an element's value. An anonymous type is named after its element and the class around it.
    pub(super) fn element(&mut self, element: ElementId, around: &str) -> Ty {
        let ty = self.plan.element(element).ty;
        let owner = match around {
            "" => self.local(element).to_owned(),
            _ => format!("{around}_{}", self.local(element)),
        };
        if self.plan.ty(ty).alternatives.is_empty() {
            return self.exact(ty, &owner);
        }
        self.union(ty, &owner)
    }

    /// An element as a header block, whose type has the attributes of header blocks besides.
    pub(super) fn block(&mut self, element: ElementId) -> Ty {
        let ty = self.plan.element(element).ty;
        if self.plan.ty(ty).alternatives.is_empty() && !self.exact.contains_key(&ty) {
            let name = format!("{}_Block", self.local(element));
            let class = self.class_of(ty, &name);
            if let Ty::Class(class) = class {
                // It is a variant of the type that has this name.
                self.classes[class].type_name = None;
            }
            return class;
        }
        self.element(element, "")
    }

    fn union(&mut self, ty: TypeId, owner: &str) -> Ty {
        if let Some(known) = self.union_of.get(&ty) {
            return known.clone();
        }
        let mut alternatives = self.plan.ty(ty).alternatives.iter();
        let made = match self.is_dataclass(ty) && alternatives.all(|&one| self.is_dataclass(one)) {
            false => Ty::Any,
            true => {
                let name = format!("Any_{}", self.type_name(ty).unwrap_or(owner));
                self.unions.push(Union {
                    name: self.scope.class(&name),
                    documentation: self.definitions.type_documentation(ty).map(str::to_owned),
                    declared: None,
                    derived: Vec::new(),
                });
                let union = self.unions.len() - 1;
                self.waiting_unions.push_back((union, ty));
                Ty::Union(union)
            }
        };
        self.union_of.insert(ty, made.clone());
        made
    }

    fn fill_union(&mut self, union: UnionId, ty: TypeId) {
        let plan = self.plan;
        for &alternative in &plan.ty(ty).alternatives {
            let name = self.type_name(alternative).unwrap_or("Value").to_owned();
            let Ty::Class(class) = self.exact(alternative, &name) else {
                continue;
            };
            if alternative == ty {
                self.unions[union].declared = Some(class);
            } else if let Some((key, name)) = plan.derived_key(ty, alternative) {
                self.unions[union].derived.push((key, name, class));
            }
        }
    }

    /// Whether values of exactly this type are objects.
    fn is_dataclass(&self, ty: TypeId) -> bool {
        let def = self.plan.ty(ty);
        match def.content {
            Content::Simple(_) => !def.attributes.is_empty() || def.any_attribute.is_some(),
            Content::Any => false,
            _ => true,
        }
    }

    /// The type of values of exactly this type.
    fn exact(&mut self, ty: TypeId, owner: &str) -> Ty {
        if let Some(known) = self.exact.get(&ty) {
            return known.clone();
        }
        let made = match self.plan.ty(ty).content {
            _ if self.is_dataclass(ty) => {
                let name = self.type_name(ty).unwrap_or(owner).to_owned();
                return self.class_of(ty, &name);
            }
            Content::Simple(leaf) => self.leaf(leaf, owner),
            _ => Ty::Any,
        };
        if let (Ty::Enumeration(id), Some(text)) = (&made, self.definitions.type_documentation(ty))
        {
            self.enumerations[*id].documentation = Some(text.to_owned());
        }
        self.exact.insert(ty, made.clone());
        made
    }

    fn class_of(&mut self, ty: TypeId, name: &str) -> Ty {
        let vocabulary = self.plan.vocabulary();
        let type_name = self.plan.ty(ty).name.map(|name| {
            let (namespace, local) = (vocabulary.namespace(name), vocabulary.local(name));
            match namespace {
                "" => local.to_owned(),
                _ => format!("{{{namespace}}}{local}"),
            }
        });
        let class = self.class(Class {
            name: name.to_owned(),
            documentation: self.definitions.type_documentation(ty).map(str::to_owned),
            base: None,
            fields: Vec::new(),
            inherited: 0,
            type_name,
            is_abstract: self.plan.ty(ty).is_abstract,
        });
        self.exact.insert(ty, Ty::Class(class));
        self.queue.push_back(Waiting { class, ty });
        Ty::Class(class)
    }

    /// Adds a class, with a number if its name is taken.
    pub(super) fn class(&mut self, class: Class) -> ClassId {
        let name = self.scope.class(&class.name);
        self.classes.push(Class { name, ..class });
        self.classes.len() - 1
    }

    /// A class of the parts of a message, or of header blocks.
    pub(super) fn parts(&mut self, name: &str, documentation: &str, parts: Vec<Member>) -> ClassId {
        let mut scope = PythonScope::default();
        let fields = parts.into_iter().map(|member| Field {
            name: scope.field(&member.key, self.options.names),
            documentation: None,
            member,
        });
        let fields = fields.collect();
        self.class(Class {
            name: name.to_owned(),
            documentation: Some(documentation.to_owned()),
            base: None,
            fields,
            inherited: 0,
            type_name: None,
            is_abstract: false,
        })
    }

    /// The number of the class of an exception for a fault, which operations share.
    pub(super) fn fault(&mut self, fault: DeclaredFault) -> usize {
        let is_same = |known: &DeclaredFault| {
            known.name == fault.name && known.keys == fault.keys && known.ty == fault.ty
        };
        if let Some(known) = self.faults.iter().position(is_same) {
            return known;
        }
        let stem = fault.name.trim_end_matches("Exception");
        let stem = stem.trim_end_matches("Fault").trim_end_matches("Error");
        let stem = if stem.is_empty() { &fault.name } else { stem };
        let exception = self.scope.class(&format!("{stem}_Error"));
        self.faults.push(DeclaredFault { exception, ..fault });
        self.faults.len() - 1
    }

    /// Determines the fields of a class, and of those it is derived from before.
    fn fill(&mut self, class: ClassId, ty: TypeId) -> Result<(), Error> {
        let mut chain = vec![(class, ty)];
        let mut base = self.plan.ty(ty).base;
        while let Some(ty) = base
            && self.is_dataclass(ty)
        {
            let name = self.type_name(ty).unwrap_or("Base").to_owned();
            let Ty::Class(class) = self.exact(ty, &name) else {
                break;
            };
            if self.filled.contains(&class) {
                chain.push((class, ty));
                break;
            }
            chain.push((class, ty));
            base = self.plan.ty(ty).base;
        }
        let mut before: Option<ClassId> = None;
        for (class, ty) in chain.into_iter().rev() {
            if self.filled.insert(class) {
                self.fill_one(class, ty, before);
                self.charge(1 + self.classes[class].fields.len())?;
            }
            before = Some(class);
        }
        Ok(())
    }

    fn fill_one(&mut self, class: ClassId, ty: TypeId, base: Option<ClassId>) {
        let around = self.classes[class].name.clone();
        let members = self.members(ty, &around);
        // A class can only inherit fields that are the same.
        let by_key: HashMap<&str, &Member> = members
            .iter()
            .map(|(_, _, one)| (one.key.as_str(), one))
            .collect();
        let has = |field: &Field| by_key.get(field.member.key.as_str()) == Some(&&field.member);
        let base = base.filter(|&base| self.classes[base].fields.iter().all(has));
        let mut fields = base.map_or_else(Vec::new, |base| self.classes[base].fields.clone());
        let inherited = fields.len();
        let mut scope = PythonScope::default();
        let mut known = HashSet::new();
        for field in &fields {
            scope.field(&field.name, super::Names::Wire);
            known.insert(field.member.key.clone());
        }
        for (name, documentation, member) in members {
            if known.contains(&member.key) {
                continue;
            }
            fields.push(Field {
                name: scope.field(&name, self.options.names),
                documentation,
                member,
            });
        }
        let class = &mut self.classes[class];
        (class.base, class.fields, class.inherited) = (base, fields, inherited);
    }

    /// The members of an object of a type, with a name and the documentation of each: children, then attributes. Children get
    /// their names first.
    fn members(&mut self, ty: TypeId, around: &str) -> Vec<(String, Option<String>, Member)> {
        let plan = self.plan;
        let def = plan.ty(ty);
        let mut members = Vec::new();
        match &def.content {
            Content::Simple(leaf) => {
                let ty = self.leaf(*leaf, around);
                members.push(("value".to_owned(), None, Member::once("#text", ty)));
            }
            Content::Particle(_) => self.children(ty, around, &mut members),
            Content::Mixed { .. } => {
                let about = "Texts, and elements as objects with one member.";
                members.push(special("content", about, "#mixed", Ty::Any, Occurs::Many));
            }
            Content::Empty | Content::Any => {}
        }
        let children: HashSet<String> = members
            .iter()
            .map(|(name, ..)| name.to_lowercase())
            .collect();
        for id in def.attribute_ids() {
            let attribute = plan.attribute(id);
            let local = self.name_of(attribute.name);
            let ty = self.leaf(attribute.leaf, &format!("{around}_{local}"));
            let occurs = match attribute.required {
                true => Occurs::Once,
                false => Occurs::Optional,
            };
            let key = plan.attribute_key(id).to_owned();
            let name = match children.contains(&local.to_lowercase()) {
                true => format!("{local}_attribute"),
                false => local.to_owned(),
            };
            let about = is_soap(plan, attribute.name).then(|| "An attribute of SOAP.".to_owned());
            let member = Member {
                key,
                ty,
                occurs,
                nillable: false,
            };
            members.push((name, about, member));
        }
        if def.any_attribute.is_some() {
            let about = "Other attributes by name: `{namespace}local`, or the local name.";
            let ty = Ty::Plain("dict[str, str]");
            let member = special("any_attribute", about, "@any", ty, Occurs::Optional);
            members.push(member);
        }
        members
    }

    fn children(
        &mut self,
        ty: TypeId,
        around: &str,
        members: &mut Vec<(String, Option<String>, Member)>,
    ) {
        let plan = self.plan;
        for child in plan.child_members(ty) {
            let def = plan.element(child.element);
            let around = match plan.ty(def.ty).name {
                Some(_) => "",
                None => around,
            };
            let member = Member {
                key: child.key.to_owned(),
                ty: self.element(child.element, around),
                occurs: match (child.repeats, child.is_optional) {
                    (true, _) => Occurs::Many,
                    (false, false) => Occurs::Once,
                    (false, true) => Occurs::Optional,
                },
                nillable: child.nillable,
            };
            let documentation = self.definitions.element_documentation(child.element);
            let name = self.local(child.element).to_owned();
            members.push((name, documentation.map(str::to_owned), member));
        }
        if plan.has_wildcard(ty) {
            let about = "Other elements, as XML.";
            members.push(special(
                "any",
                about,
                "#any",
                Ty::Plain("str"),
                Occurs::Many,
            ));
        }
        if plan.may_have_order(ty) {
            let about =
                "The keys of the children in the order of the message, if it is not the usual one.";
            let ty = Ty::Plain("list[str]");
            members.push(special("order", about, "#order", ty, Occurs::Optional));
        }
    }

    fn leaf(&mut self, leaf: LeafId, owner: &str) -> Ty {
        let leaf = self.plan.leaf(leaf);
        match leaf.kind {
            LeafKind::Boolean => Ty::Number {
                one: "bool",
                many: "typed.Bools",
            },
            LeafKind::Signed { .. } | LeafKind::Unsigned { .. } => Ty::Number {
                one: "int",
                many: "typed.Ints",
            },
            LeafKind::Float => Ty::Number {
                one: "float",
                many: "typed.Floats",
            },
            LeafKind::Double => Ty::Number {
                one: "float",
                many: "typed.Doubles",
            },
            LeafKind::Base64 | LeafKind::Hex => Ty::Plain("bytes"),
            LeafKind::Name => Ty::Plain("str"),
            LeafKind::Text => self.text(&leaf.simple, owner),
            LeafKind::List(item) => Ty::List(Box::new(self.leaf(item, owner))),
        }
    }

    fn text(&mut self, simple: &Arc<SimpleType>, owner: &str) -> Ty {
        let Variety::Atomic(datatype) = *simple.variety() else {
            return Ty::Plain("str");
        };
        let is_string = datatype.is_derived_from(Datatype::String);
        let Some(listed) = simple.facets().enumeration().filter(|_| is_string) else {
            return Ty::Plain(scalar(datatype));
        };
        let key = Arc::as_ptr(simple);
        if let Some(&known) = self.enumeration_of.get(&key) {
            return Ty::Enumeration(known);
        }
        let mut scope = PythonScope::default();
        let mut seen = HashSet::new();
        let values = listed.lexical_forms().filter(|&value| seen.insert(value));
        let values = values
            .map(|value| (scope.constant(value), value.to_owned()))
            .collect::<Vec<_>>();
        self.members += 1 + values.len();
        let name = simple.name().map_or(owner, |name| name.local());
        self.enumerations.push(Enumeration {
            name: self.scope.class(name),
            documentation: None,
            values,
        });
        let id = self.enumerations.len() - 1;
        self.enumeration_of.insert(key, id);
        Ty::Enumeration(id)
    }
}

impl Member {
    /// A member that is always there.
    pub(super) fn once(key: &str, ty: Ty) -> Self {
        Self {
            key: key.to_owned(),
            ty,
            occurs: Occurs::Once,
            nillable: false,
        }
    }
}

/// A member that is no child and no declared attribute.
fn special(
    name: &str,
    documentation: &str,
    key: &str,
    ty: Ty,
    occurs: Occurs,
) -> (String, Option<String>, Member) {
    let member = Member {
        occurs,
        ..Member::once(key, ty)
    };
    (name.to_owned(), Some(documentation.to_owned()), member)
}

fn is_soap(plan: &Plan, name: NameId) -> bool {
    let namespace = plan.vocabulary().namespace(name);
    [SoapVersion::Soap11, SoapVersion::Soap12]
        .iter()
        .any(|version| version.envelope_namespace() == namespace)
}

/// The type of an atomic datatype that is stored as its lexical form.
fn scalar(datatype: Datatype) -> &'static str {
    match datatype.primitive() {
        Datatype::DateTime => "datetime.datetime",
        Datatype::Date => "datetime.date",
        Datatype::Time => "datetime.time",
        Datatype::Duration => "datetime.timedelta | bsoap.Duration",
        Datatype::Decimal if datatype.is_derived_from(Datatype::Integer) => "int",
        Datatype::Decimal => "decimal.Decimal",
        _ => "str",
    }
}
