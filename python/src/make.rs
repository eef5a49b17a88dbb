//! Makes Python objects of a Record.
//!
//! In an rpc/encoded message, a value that is referred to several times is one object: the object is known by its id as soon as
//! it is begun, so a reference from inside it closes a cycle. References that come before their value are replaced when all is made.

use std::collections::{HashMap, HashSet};
use std::ops::Range;
use std::slice;
use std::sync::Arc;

use bsoap::Record;
use bsoap::codec::plan::{LeafKind, TypeId};
use bsoap::codec::{Key, LeafView, Maker, Rows, Scalar, View};
use pyo3::exceptions::PyValueError;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyFloat, PyInt, PyList, PyString};

use crate::binary::{Binaries, Binary};
use crate::bridge::{Bridge, Numpy};
use crate::column::Column;
use crate::plan::{EncodingAttribute, Form, PythonPlan, TypeInfo};

/// A message of which objects are made.
#[derive(Clone, Copy)]
pub(crate) struct Source<'a> {
    pub(crate) plan: &'a PythonPlan,
    pub(crate) record: &'a Arc<Record>,
    pub(crate) binary: Binary,
}

impl Source<'_> {
    /// The Python object of an element of the message.
    pub(crate) fn make<'py>(
        &self,
        py: Python<'py>,
        view: &View<'_>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let mut made = self.make_all(py, slice::from_ref(view), &[])?;
        made.pop()
            .ok_or_else(|| PyValueError::new_err("there is no element"))
    }

    /// The Python objects of elements of the message. Values that they share are one object; those of encoded messages may also be
    /// in the elements `beside` them.
    pub(crate) fn make_all<'py>(
        &self,
        py: Python<'py>,
        views: &[View<'_>],
        beside: &[View<'_>],
    ) -> PyResult<Vec<Bound<'py, PyAny>>> {
        let mut maker = PythonMaker {
            py,
            plan: self.plan,
            record: self.record,
            bridge: Bridge::get(py)?,
            binaries: Binaries::new(self.binary),
            problem: None,
            named: HashMap::new(),
            early: HashMap::new(),
        };
        let mut made = Vec::with_capacity(views.len());
        for view in views {
            made.push(maker.element(view)?);
        }
        if maker.misses_values() {
            for view in beside {
                maker.element(view)?;
            }
        }
        maker.resolve(made)
    }
}

/// The text of a header block of a simple type whose attributes, which are those of SOAP, are absent; others as they are.
pub(crate) fn text_alone(block: Bound<'_, PyAny>) -> PyResult<Bound<'_, PyAny>> {
    let py = block.py();
    if block.is_instance(Bridge::get(py)?.object_type.bind(py))? && block.len()? == 1 {
        let text = block.call_method1("get", ("#text",))?;
        if !text.is_none() {
            return Ok(text);
        }
    }
    Ok(block)
}

struct PythonMaker<'a, 'py> {
    py: Python<'py>,
    plan: &'a PythonPlan,
    /// The Record that is read, for columns, which keep it.
    record: &'a Arc<Record>,
    bridge: &'static Bridge,
    binaries: Binaries,
    /// The first exception of Python.
    problem: Option<PyErr>,
    /// The values of an encoded message that have an id.
    named: HashMap<String, Bound<'py, PyAny>>,
    /// The references that came before their values, by their addresses: themselves, and the id.
    early: HashMap<usize, (Bound<'py, PyAny>, String)>,
}

/// An object whose members are being added.
struct Making<'a, 'py> {
    /// Its dictionary.
    members: Bound<'py, PyDict>,
    /// Its type and itself; `None` for a plain dictionary.
    instance: Option<(&'a TypeInfo, Bound<'py, PyAny>)>,
    /// Whether it is a reference of an encoded message.
    is_reference: bool,
    /// The key of the size of an array, if it is one of several dimensions.
    size: Option<Bound<'py, PyString>>,
}

impl<'a, 'py> Making<'a, 'py> {
    fn plain(py: Python<'py>) -> Self {
        Self {
            members: PyDict::new(py),
            instance: None,
            is_reference: false,
            size: None,
        }
    }

    fn ty(&self) -> Option<&'a TypeInfo> {
        self.instance.as_ref().map(|instance| instance.0)
    }

    fn value(&self) -> Bound<'py, PyAny> {
        match &self.instance {
            Some((_, instance)) => instance.clone(),
            None => self.members.clone().into_any(),
        }
    }

    /// Gives an array of several dimensions its shape, which replaces the member with its size. Arrays that are no array of
    /// numpy, or have no item for each place, keep that.
    fn reshape(&self, size: &Bound<'py, PyString>) -> PyResult<()> {
        let mut members = self.members.iter().filter(|(key, _)| !key.is(size));
        let (Some((key, items)), None) = (members.next(), members.next()) else {
            return Ok(());
        };
        let Some(text) = self.members.get_item(size)? else {
            return Ok(());
        };
        let shape = shape_of(text.cast::<PyString>()?.to_str()?);
        let Some(shape) = shape.filter(|_| items.hasattr("reshape").unwrap_or(false)) else {
            return Ok(());
        };
        let count = shape
            .iter()
            .try_fold(1_usize, |all, one| all.checked_mul(*one));
        if count == Some(items.len()?) {
            let items = items.call_method1("reshape", (shape,))?;
            self.members.set_item(key, items)?;
            self.members.del_item(size)?;
        }
        Ok(())
    }
}

/// The dimensions in the size of an array: `[2,3]`, or `2 3`.
fn shape_of(size: &str) -> Option<Vec<usize>> {
    let inner = size.trim().trim_start_matches('[').trim_end_matches(']');
    let numbers = inner.split([',', ' ']).filter(|number| !number.is_empty());
    numbers.map(|number| number.trim().parse().ok()).collect()
}

impl<'a, 'py> PythonMaker<'a, 'py> {
    fn element(&mut self, view: &View<'_>) -> PyResult<Bound<'py, PyAny>> {
        let made = view.make(self);
        match self.problem.take() {
            Some(problem) => Err(problem),
            None => made.map_err(|error| PyValueError::new_err(error.to_string())),
        }
    }

    /// Whether references came whose values did not.
    fn misses_values(&self) -> bool {
        let mut early = self.early.values();
        early.any(|(_, id)| !self.named.contains_key(id))
    }

    /// The value, or None with the exception kept.
    fn keep(&mut self, made: PyResult<Bound<'py, PyAny>>) -> Bound<'py, PyAny> {
        made.unwrap_or_else(|error| {
            self.problem.get_or_insert(error);
            self.py.None().into_bound(self.py)
        })
    }

    fn check(&mut self, done: PyResult<()>) {
        if let Err(error) = done {
            self.problem.get_or_insert(error);
        }
    }

    fn lexical(&self, form: Form, text: &str) -> PyResult<Bound<'py, PyAny>> {
        let py = self.py;
        let parse = match form {
            Form::Decimal => &self.bridge.decimal,
            Form::DateTime if is_plain_datetime(text) => &self.bridge.datetime_of,
            Form::DateTime => &self.bridge.exact_datetime,
            Form::Date if text.len() == 10 => &self.bridge.date_of,
            Form::Date => &self.bridge.exact_date,
            Form::Time => &self.bridge.time_of,
            Form::Duration => &self.bridge.duration,
            Form::Integer => return py.get_type::<PyInt>().call1((text,)),
            Form::Text | Form::Kind => return Ok(PyString::new(py, text).into_any()),
        };
        let text = PyString::new(py, text);
        match parse.bind(py).call1((&text,)) {
            Ok(value) => Ok(value),
            // Dates that Python cannot hold, such as those before the year 1, and texts that are no dates.
            Err(error) if error.is_instance_of::<PyValueError>(py) => Ok(text.into_any()),
            Err(error) if error.is_instance_of::<pyo3::exceptions::PyArithmeticError>(py) => {
                Ok(text.into_any())
            }
            Err(error) => Err(error),
        }
    }

    fn simple(&mut self, leaf: LeafView<'_>) -> PyResult<Bound<'py, PyAny>> {
        let py = self.py;
        match leaf.kind() {
            LeafKind::Text => {
                let text = leaf.as_str().unwrap_or_default();
                match self.plan.form(leaf.leaf_id()) {
                    Form::Text => Ok(PyString::new(py, text).into_any()),
                    form => self.lexical(form, text),
                }
            }
            LeafKind::Name => Ok(PyString::new(py, leaf.as_str().unwrap_or_default()).into_any()),
            LeafKind::Hex => Ok(PyBytes::new(py, leaf.octets().unwrap_or_default()).into_any()),
            LeafKind::Base64 => {
                let octets = leaf.octets().unwrap_or_default();
                match self.record.attachment(octets) {
                    Some(attachment) => self.binaries.beside(py, self.record, attachment),
                    None => self.binaries.inline(py, octets),
                }
            }
            LeafKind::List(item) => {
                let items = leaf.items();
                let kind = self.plan.plan().leaf(item).kind;
                let first = leaf.slot() + 1;
                let slots = first..first + items.len();
                if let Some(array) = self.array_of_numbers(kind, slots)? {
                    return Ok(array);
                }
                let list = PyList::empty(py);
                for item in leaf.items() {
                    list.append(self.simple(item)?)?;
                }
                Ok(list.into_any())
            }
            kind => {
                let slot = self.record.slots().get(leaf.slot()).copied();
                let made = number(py, kind, slot.unwrap_or_default());
                Ok(made.unwrap_or_else(|| py.None()).into_bound(py))
            }
        }
    }

    /// Consecutive slots as an array of numpy, or as a Column where there is none. `None` if they are no numbers.
    fn array_of_numbers(
        &self,
        kind: LeafKind,
        slots: Range<usize>,
    ) -> PyResult<Option<Bound<'py, PyAny>>> {
        let py = self.py;
        if crate::plan::array_of(kind).is_none() {
            return Ok(None);
        }
        let count = slots.len();
        let column = Bound::new(py, Column::new(self.record, slots, 1, kind))?.into_any();
        let Some(numpy) = Numpy::get(py)? else {
            return Ok(Some(column));
        };
        let whole = match kind {
            LeafKind::Double => &numpy.float64,
            LeafKind::Unsigned { max } if i64::try_from(max).is_err() => &numpy.uint64,
            LeafKind::Signed { .. } | LeafKind::Unsigned { .. } => &numpy.int64,
            LeafKind::Float | LeafKind::Boolean => {
                let dtype = match kind {
                    LeafKind::Float => &numpy.float32,
                    _ => &numpy.bool_,
                };
                let arguments = ((count,), dtype, column, 0, &numpy.strides);
                return numpy.ndarray.bind(py).call1(arguments).map(Some);
            }
            _ => return Ok(None),
        };
        if count == 0 {
            return numpy.ndarray.bind(py).call1(((0,), whole)).map(Some);
        }
        numpy.frombuffer.bind(py).call1((column, whole)).map(Some)
    }

    fn structs(&self, rows: &Rows<'_>) -> PyResult<Option<Bound<'py, PyAny>>> {
        let py = self.py;
        let plan = self.plan.plan();
        let element = plan.element(rows.element_id());
        if element.has_state {
            return Ok(None);
        }
        let info = self.plan.ty(py, element.ty)?;
        let (Some(dtype), Some(numpy)) = (&info.rows, Numpy::get(py)?) else {
            return Ok(None);
        };
        let column = Column::new(self.record, rows.slots(), rows.stride(), LeafKind::Double);
        let column = Bound::new(py, column)?;
        numpy.frombuffer.bind(py).call1((column, dtype)).map(Some)
    }

    fn key<'k>(&self, ty: Option<&'k TypeInfo>, key: Key<'_>) -> Bound<'py, PyString>
    where
        'a: 'k,
    {
        let py = self.py;
        match (key, ty) {
            (Key::Child(index, _), Some(ty)) => ty.keys[index].bind(py).clone(),
            (Key::Attribute(id, _), _) => self.plan.attribute(py, id).bind(py).clone(),
            (key, _) => PyString::intern(py, key.as_str()),
        }
    }

    /// The value that a reference names, or the reference if it is not known yet.
    fn referred(&mut self, object: &Making<'_, 'py>) -> PyResult<Bound<'py, PyAny>> {
        let reference = object.members.values().get_item(0)?;
        let id = reference.cast::<PyString>()?.to_str()?;
        let id = id.strip_prefix('#').unwrap_or(id);
        if let Some(value) = self.named.get(id) {
            return Ok(value.clone());
        }
        let value = object.value();
        let address = value.as_ptr() as usize;
        self.early.insert(address, (value.clone(), id.to_owned()));
        Ok(value)
    }

    /// Replaces the references that came before their values.
    fn resolve(&self, made: Vec<Bound<'py, PyAny>>) -> PyResult<Vec<Bound<'py, PyAny>>> {
        let value_of = |reference: &Bound<'py, PyAny>| {
            let (_, id) = self.early.get(&(reference.as_ptr() as usize))?;
            self.named.get(id).cloned()
        };
        if self.early.is_empty() {
            return Ok(made);
        }
        let made = made.into_iter();
        let made: Vec<_> = made.map(|one| value_of(&one).unwrap_or(one)).collect();
        let (mut open, mut seen) = (made.clone(), HashSet::new());
        while let Some(value) = open.pop() {
            if !seen.insert(value.as_ptr() as usize) {
                continue;
            }
            if let Ok(items) = value.cast::<PyList>() {
                for (index, item) in items.iter().enumerate() {
                    let value = value_of(&item);
                    if let Some(value) = &value {
                        items.set_item(index, value)?;
                    }
                    open.push(value.unwrap_or(item));
                }
                continue;
            }
            let members = match value.cast::<PyDict>() {
                Ok(members) => members.clone(),
                Err(_) if value.is_instance(self.bridge.object_type.bind(self.py))? => {
                    value.getattr(intern!(self.py, "__dict__"))?.cast_into()?
                }
                Err(_) => continue,
            };
            for (key, member) in members.items().iter().filter_map(|it| it.extract().ok()) {
                let (key, member): (Bound<'py, PyAny>, Bound<'py, PyAny>) = (key, member);
                let value = value_of(&member);
                if let Some(value) = &value {
                    members.set_item(key, value)?;
                }
                open.push(value.unwrap_or(member));
            }
        }
        Ok(made)
    }

    /// A new object of a type without members, or a plain dictionary.
    fn start(&self, ty: Option<TypeId>) -> PyResult<Making<'a, 'py>> {
        let py = self.py;
        let Some(ty) = ty else {
            return Ok(Making::plain(py));
        };
        let info = self.plan.ty(py, ty)?;
        let instance = self.bridge.new.bind(py).call1((&info.class,))?;
        let members = instance.getattr(intern!(py, "__dict__"))?;
        Ok(Making {
            members: members.cast_into()?,
            instance: Some((info, instance)),
            is_reference: self.plan.is_reference(ty),
            size: None,
        })
    }

    fn append_to(
        &self,
        object: &Making<'a, 'py>,
        key: Key<'_>,
        value: Bound<'py, PyAny>,
    ) -> PyResult<()> {
        let key = self.key(object.ty(), key);
        let Some(known) = object.members.get_item(&key)? else {
            return object.members.set_item(key, PyList::new(self.py, [value])?);
        };
        match known.cast::<PyList>() {
            Ok(list) => list.append(value),
            // An array of numbers that came before in one piece.
            Err(_) => {
                let list = known.call_method0(intern!(self.py, "tolist"))?;
                list.call_method1(intern!(self.py, "append"), (value,))?;
                object.members.set_item(key, list)
            }
        }
    }
}

/// A number or boolean; `None` for other kinds.
pub(crate) fn number(py: Python<'_>, kind: LeafKind, slot: u64) -> Option<Py<PyAny>> {
    Some(match kind {
        LeafKind::Boolean => (slot != 0)
            .into_pyobject(py)
            .ok()?
            .to_owned()
            .into_any()
            .unbind(),
        LeafKind::Signed { .. } => (slot as i64).into_pyobject(py).ok()?.into_any().unbind(),
        LeafKind::Unsigned { .. } => slot.into_pyobject(py).ok()?.into_any().unbind(),
        LeafKind::Double => PyFloat::new(py, f64::from_bits(slot)).into_any().unbind(),
        LeafKind::Float => {
            // The double with the same shortest text, not the widened one: 1.1, not 1.10000002384.
            let value = f32::from_slot(slot);
            let near = value.to_string().parse().unwrap_or(f64::from(value));
            PyFloat::new(py, near).into_any().unbind()
        }
        _ => return None,
    })
}

/// Whether `datetime.fromisoformat` reads a text without a loss: 1 to 6 digits of a second's fraction, four of the year.
fn is_plain_datetime(text: &str) -> bool {
    let bytes = text.as_bytes();
    let Some(rest) = bytes.get(19..) else {
        return false;
    };
    let digits = match rest.strip_prefix(b".") {
        Some(fraction) => fraction
            .iter()
            .take_while(|byte| byte.is_ascii_digit())
            .count(),
        None => 0,
    };
    bytes[4] == b'-' && bytes[10] == b'T' && digits <= 6 && &bytes[11..13] != b"24"
}

impl<'a, 'py, 'r> Maker<'r> for PythonMaker<'a, 'py> {
    type Value = Bound<'py, PyAny>;
    type Object = Making<'a, 'py>;

    fn leaf(&mut self, leaf: LeafView<'r>) -> Self::Value {
        let made = self.simple(leaf);
        self.keep(made)
    }

    fn text(&mut self, text: &str) -> Self::Value {
        PyString::new(self.py, text).into_any()
    }

    fn boolean(&mut self, value: bool) -> Self::Value {
        let made = value.into_pyobject(self.py);
        made.map_or_else(
            |_| self.py.None().into_bound(self.py),
            |made| made.to_owned().into_any(),
        )
    }

    fn nil(&mut self) -> Self::Value {
        self.py.None().into_bound(self.py)
    }

    fn array(&mut self, values: Vec<Self::Value>) -> Self::Value {
        let made = PyList::new(self.py, values).map(Bound::into_any);
        self.keep(made)
    }

    fn column(
        &mut self,
        _: &'r Record,
        kind: LeafKind,
        slots: Range<usize>,
    ) -> Option<Self::Value> {
        match self.array_of_numbers(kind, slots) {
            Ok(array) => array,
            Err(error) => Some(self.keep(Err(error))),
        }
    }

    fn rows(&mut self, rows: Rows<'r>) -> Option<Self::Value> {
        match self.structs(&rows) {
            Ok(array) => array,
            Err(error) => Some(self.keep(Err(error))),
        }
    }

    fn begin(&mut self, _: &'r Record, ty: Option<TypeId>, _: usize) -> Self::Object {
        self.start(ty).unwrap_or_else(|error| {
            self.problem.get_or_insert(error);
            Making::plain(self.py)
        })
    }

    fn push(&mut self, object: &mut Self::Object, key: Key<'_>, value: Self::Value) {
        let role = match key {
            Key::Attribute(id, _) => self.plan.encoding(id),
            _ => None,
        };
        if let (Some(EncodingAttribute::Id), Ok(id)) = (role, value.extract::<String>()) {
            self.named.insert(id, object.value());
            return;
        }
        let key = self.key(object.ty(), key);
        if role == Some(EncodingAttribute::Size) {
            object.size = Some(key.clone());
        }
        let done = object.members.set_item(key, value);
        self.check(done);
    }

    fn append(&mut self, object: &mut Self::Object, key: Key<'_>, value: Self::Value) {
        let done = self.append_to(object, key, value);
        self.check(done);
    }

    fn end(&mut self, object: Self::Object) -> Self::Value {
        if object.is_reference {
            let referred = self.referred(&object);
            return self.keep(referred);
        }
        if let Some(size) = &object.size {
            let done = object.reshape(size);
            self.check(done);
        }
        object.value()
    }
}
