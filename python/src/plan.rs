//! The Python side of a Plan: a class for each type, keys as interned strings, the Python form of each simple type. All of it is made
//! when it is first needed.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use bsoap::codec::Plan;
use bsoap::codec::plan::{AttributeId, Content, ElementId, LeafId, LeafKind, TypeId};
use bsoap::datatypes::Datatype;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyDict, PyList, PyString, PyType};

use crate::bridge::{Bridge, Numpy};

/// A Plan with its Python classes.
pub(crate) struct PythonPlan {
    plan: Arc<Plan>,
    types: Box<[PyOnceLock<TypeInfo>]>,
    attributes: Box<[PyOnceLock<Py<PyString>>]>,
    /// The form of each simple type.
    leaves: Box<[Form]>,
    encoding: Encoding,
}

/// What the encoding of rpc/encoded messages uses.
#[derive(Default)]
struct Encoding {
    /// The types of references.
    references: HashSet<TypeId>,
    attributes: HashMap<AttributeId, EncodingAttribute>,
}

/// An attribute that an encoded value has beyond those of its type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum EncodingAttribute {
    /// The name by which references name it.
    Id,
    /// The size of an array.
    Size,
}

impl Encoding {
    fn of(plan: &Plan) -> Self {
        let mut encoding = Self::default();
        let mut seen = HashSet::new();
        for element in (0..plan.element_count()).map(|index| ElementId(index as u32)) {
            let Some(encoded) = plan.encoded(element) else {
                continue;
            };
            encoding.references.insert(encoded.rules.reference);
            let declared = plan.element(element).ty;
            let types = plan.ty(declared).alternatives.iter().chain([&declared]);
            for &ty in types.filter(|ty| seen.insert(**ty)) {
                for attribute in plan.ty(ty).attribute_ids() {
                    let role = if plan.is_array_size(attribute) {
                        EncodingAttribute::Size
                    } else if plan.attribute(attribute).name == encoded.rules.id {
                        EncodingAttribute::Id
                    } else {
                        continue;
                    };
                    encoding.attributes.insert(attribute, role);
                }
            }
        }
        encoding
    }
}

/// The Python side of a type.
pub(crate) struct TypeInfo {
    /// A subclass of `bsoap.Object`.
    pub(crate) class: Py<PyType>,
    /// The keys of the children, by index.
    pub(crate) keys: Vec<Py<PyString>>,
    /// The dtype of arrays of it, if all that is in it are numbers and booleans, and there is numpy.
    pub(crate) rows: Option<Py<PyAny>>,
}

/// How a simple value is shown in Python.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    Text,
    Decimal,
    Integer,
    DateTime,
    Date,
    Time,
    Duration,
    /// By its kind.
    Kind,
}

impl Form {
    fn of(plan: &Plan, id: LeafId) -> Self {
        let leaf = plan.leaf(id);
        if leaf.kind != LeafKind::Text {
            return Self::Kind;
        }
        match leaf.simple.datatype() {
            Some(Datatype::Decimal) => Self::Decimal,
            Some(
                Datatype::Integer
                | Datatype::NonPositiveInteger
                | Datatype::NegativeInteger
                | Datatype::NonNegativeInteger
                | Datatype::PositiveInteger,
            ) => Self::Integer,
            Some(Datatype::DateTime) => Self::DateTime,
            Some(Datatype::Date) => Self::Date,
            Some(Datatype::Time) => Self::Time,
            Some(Datatype::Duration) => Self::Duration,
            _ => Self::Text,
        }
    }
}

impl PythonPlan {
    pub(crate) fn new(plan: &Arc<Plan>) -> Self {
        let forms = (0..plan.leaf_count()).map(|index| Form::of(plan, LeafId(index as u32)));
        Self {
            types: (0..plan.type_count()).map(|_| PyOnceLock::new()).collect(),
            attributes: (0..plan.attribute_count())
                .map(|_| PyOnceLock::new())
                .collect(),
            leaves: forms.collect(),
            encoding: Encoding::of(plan),
            plan: Arc::clone(plan),
        }
    }

    pub(crate) fn plan(&self) -> &Arc<Plan> {
        &self.plan
    }

    pub(crate) fn form(&self, leaf: LeafId) -> Form {
        self.leaves.get(leaf.index()).copied().unwrap_or(Form::Text)
    }

    /// Whether a type is that of references of encoded messages.
    pub(crate) fn is_reference(&self, ty: TypeId) -> bool {
        self.encoding.references.contains(&ty)
    }

    /// What an attribute is to the encoding; `None` for those that a type declares.
    pub(crate) fn encoding(&self, attribute: AttributeId) -> Option<EncodingAttribute> {
        self.encoding.attributes.get(&attribute).copied()
    }

    /// The key of an attribute.
    pub(crate) fn attribute(&self, py: Python<'_>, id: AttributeId) -> &Py<PyString> {
        self.attributes[id.index()].get_or_init(py, || {
            PyString::intern(py, self.plan.attribute_key(id)).unbind()
        })
    }

    /// The Python side of a type.
    pub(crate) fn ty(&self, py: Python<'_>, id: TypeId) -> PyResult<&TypeInfo> {
        self.types[id.index()].get_or_try_init(py, || self.make(py, id))
    }

    fn make(&self, py: Python<'_>, id: TypeId) -> PyResult<TypeInfo> {
        let plan = &self.plan;
        let ty = plan.ty(id);
        let children: Vec<_> = plan.child_members(id).collect();
        let keys = children
            .iter()
            .map(|child| PyString::intern(py, child.key).unbind());
        let fields = PyList::empty(py);
        for child in &children {
            let element = plan.element(child.element);
            let kind = match plan.ty(element.ty).content {
                Content::Simple(leaf) if plan.ty(element.ty).attributes.is_empty() => {
                    array_of(plan.leaf(leaf).kind)
                }
                _ => None,
            };
            let label = self.label(child.element);
            fields.append((
                child.key,
                label,
                child.repeats,
                child.is_optional,
                child.nillable,
                kind,
            ))?;
        }
        let attributes = PyList::empty(py);
        for attribute in ty.attribute_ids() {
            let key = plan.attribute_key(attribute);
            let declared = plan.attribute(attribute);
            attributes.append((key, self.leaf_label(declared.leaf), declared.required))?;
        }
        let (namespace, name) = match ty.name {
            Some(name) => {
                let vocabulary = plan.vocabulary();
                (vocabulary.namespace(name), vocabulary.local(name))
            }
            None => ("", self.element_name(id)),
        };
        let keywords = PyDict::new(py);
        keywords.set_item("namespace", namespace)?;
        keywords.set_item("fields", fields)?;
        keywords.set_item("attributes", attributes)?;
        keywords.set_item(
            "text",
            match ty.content {
                Content::Simple(leaf) => Some(self.leaf_label(leaf)),
                _ => None,
            },
        )?;
        let class = Bridge::get(py)?
            .make_class
            .bind(py)
            .call((name,), Some(&keywords))?;
        Ok(TypeInfo {
            class: class.cast_into::<PyType>()?.unbind(),
            keys: keys.collect(),
            rows: self.row_dtype(py, id)?,
        })
    }

    /// The name of the first element of an anonymous type.
    fn element_name(&self, ty: TypeId) -> &str {
        let plan = &self.plan;
        let ids = (0..plan.element_count()).map(|index| ElementId(index as u32));
        let mut elements = ids.map(|id| plan.element(id));
        let element = elements.find(|element| element.ty == ty);
        element.map_or("", |element| plan.vocabulary().local(element.name))
    }

    /// The dtype of an array of flat structs that are nothing but numbers and booleans.
    fn row_dtype(&self, py: Python<'_>, id: TypeId) -> PyResult<Option<Py<PyAny>>> {
        let plan = &self.plan;
        let (fields, is_all) = plan.fields(id);
        if !is_all || fields.len() < 2 {
            return Ok(None);
        }
        let mut described = Vec::new();
        for field in &fields {
            match array_of(plan.leaf(field.leaf).kind) {
                Some(format) => described.push((field.key, format, field.slot)),
                None => return Ok(None),
            }
        }
        let last = fields.last().map_or(0, |field| field.slot);
        match Numpy::get(py)? {
            Some(numpy) => numpy.row_dtype(py, &described, last + 1).map(Some),
            None => Ok(None),
        }
    }

    /// What the value of an element is called in signatures.
    pub(crate) fn label(&self, element: ElementId) -> String {
        let plan = &self.plan;
        let ty = plan.ty(plan.element(element).ty);
        match ty.content {
            Content::Simple(leaf) if ty.attributes.is_empty() => self.leaf_label(leaf),
            _ => match ty.name {
                Some(name) => plan.vocabulary().local(name).to_owned(),
                None => plan
                    .vocabulary()
                    .local(plan.element(element).name)
                    .to_owned(),
            },
        }
    }

    /// What a simple value is called in signatures.
    pub(crate) fn leaf_label(&self, leaf: LeafId) -> String {
        let name = match (self.form(leaf), self.plan.leaf(leaf).kind) {
            (Form::Decimal, _) => "Decimal",
            (Form::Integer, _) | (_, LeafKind::Signed { .. } | LeafKind::Unsigned { .. }) => "int",
            (Form::DateTime, _) => "datetime",
            (Form::Date, _) => "date",
            (Form::Time, _) => "time",
            (Form::Duration, _) => "timedelta",
            (_, LeafKind::Boolean) => "bool",
            (_, LeafKind::Float | LeafKind::Double) => "float",
            (_, LeafKind::Base64 | LeafKind::Hex) => "bytes",
            (_, LeafKind::List(item)) => return format!("list[{}]", self.leaf_label(item)),
            _ => "str",
        };
        name.to_owned()
    }
}

/// The format of numpy for arrays of a kind of value; `None` if it is no number.
pub(crate) fn array_of(kind: LeafKind) -> Option<&'static str> {
    Some(match kind {
        LeafKind::Double => "<f8",
        LeafKind::Float => "<f4",
        LeafKind::Signed { .. } => "<i8",
        LeafKind::Unsigned { max } if i64::try_from(max).is_err() => "<u8",
        LeafKind::Unsigned { .. } => "<i8",
        LeafKind::Boolean => "?",
        _ => return None,
    })
}
