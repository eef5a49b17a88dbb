//! Makes a [`Value`] of Python objects.
//!
//! For an rpc/encoded message, an object that is met again is a reference to where it was met first: see `sharing.rs`.

use bsoap::codec::plan::{ElementId, Plan};
use bsoap::{Object, Target, Value};
use pyo3::buffer::{ElementType, PyUntypedBuffer};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{
    PyBool, PyByteArray, PyBytes, PyDict, PyFloat, PyInt, PyList, PyMapping, PyString, PyTuple,
};

use crate::attachment;
use crate::bridge::Bridge;
use crate::declared::header_element;
use crate::exception::error;
use crate::rows::rows_of;
use crate::sharing::{ID, Met, Sharing};

/// As deep as values may nest.
const MAX_DEPTH: usize = bsoap::codec::MAX_DEPTH + 1;

/// The value of a Python object.
pub(crate) fn take(value: &Bound<'_, PyAny>) -> PyResult<Value> {
    taken(value, Attachments::Beside)
}

fn taken(value: &Bound<'_, PyAny>, attachments: Attachments) -> PyResult<Value> {
    let root = Root {
        value: value.clone(),
        is_encoded: false,
        is_block: false,
    };
    let mut taken = taken_all(&[root], None, attachments)?;
    Ok(taken.pop().unwrap_or_default())
}

/// A value that a part of a message is made of.
pub(crate) struct Root<'py> {
    value: Bound<'py, PyAny>,
    is_encoded: bool,
    /// Whether it is a header block: references neither stand for it nor name it, since its type has the attributes of header blocks.
    is_block: bool,
}

impl<'py> Root<'py> {
    /// The value of an element, which says whether it is encoded.
    pub(crate) fn new(plan: &Plan, element: Option<ElementId>, value: Bound<'py, PyAny>) -> Self {
        let encoded = element.and_then(|element| plan.encoded(element));
        Self {
            value,
            is_encoded: encoded.is_some(),
            is_block: false,
        }
    }

    /// The same for a header block.
    pub(crate) fn block(plan: &Plan, element: Option<ElementId>, value: Bound<'py, PyAny>) -> Self {
        Self {
            is_block: true,
            ..Self::new(plan, element, value)
        }
    }
}

/// The values of parts of one message. What is shared in Python is shared in those that are encoded; ids begin with `prefix`.
pub(crate) fn take_roots(
    target: &Target,
    roots: &[Root<'_>],
    prefix: &str,
    attachments: Attachments,
) -> PyResult<Vec<Value>> {
    let is_encoded = roots.iter().any(|root| root.is_encoded);
    let sharing = is_encoded.then(|| Sharing::new(target.version(), prefix));
    taken_all(roots, sharing, attachments)
}

fn taken_all<'py>(
    roots: &[Root<'py>],
    sharing: Option<Sharing<'py>>,
    attachments: Attachments,
) -> PyResult<Vec<Value>> {
    let Some(first) = roots.first() else {
        return Ok(Vec::new());
    };
    let mut taker = Taker {
        bridge: Bridge::get(first.value.py())?,
        depth: 0,
        sharing,
        is_encoded: false,
        is_block: false,
        attachments,
    };
    let taken = taker.roots(roots)?;
    match &mut taker.sharing {
        Some(sharing) if sharing.is_needed() => sharing.name(),
        _ => return Ok(taken),
    }
    taker.roots(roots)
}

/// The arguments and the header blocks of a request.
pub(crate) fn take_request(
    target: &Target,
    arguments: &Bound<'_, PyAny>,
    blocks: Option<&Bound<'_, PyAny>>,
    attachments: Attachments,
) -> PyResult<(Value, Object)> {
    let (plan, input) = (target.plan(), &target.operation().input);
    let mut roots = vec![Root::new(
        plan,
        input.body.first_element(),
        arguments.clone(),
    )];
    let blocks = blocks.map_or_else(|| Ok(Vec::new()), members_of)?;
    for (name, block) in &blocks {
        let element = header_element(plan, &input.headers, name);
        if element.is_none() && !name.starts_with('#') {
            return Err(undeclared(arguments.py(), target, name));
        }
        roots.push(Root::block(plan, element, block.clone()));
    }
    let mut taken = take_roots(target, &roots, "id", attachments)?.into_iter();
    let arguments = taken.next().unwrap_or_default();
    let names = blocks.into_iter().map(|(name, _)| name);
    Ok((arguments, names.zip(taken).collect()))
}

/// The error that an operation declares no header block of this name.
fn undeclared(py: Python<'_>, target: &Target, name: &str) -> PyErr {
    let operation = target.operation();
    let parts = operation.input.headers.iter();
    let known: Vec<_> = parts.map(|part| part.name.as_str()).collect();
    let known = match known.is_empty() {
        true => "none".to_owned(),
        false => known.join(", "),
    };
    let operation = &operation.name;
    error(
        py,
        "EncodeError",
        &format!(
            "the WSDL declares no header block {name:?} for operation {operation}, but {known}: give other blocks as XML"
        ),
    )
}

/// The answer of an operation.
pub(crate) fn take_answer(target: &Target, value: &Bound<'_, PyAny>) -> PyResult<Value> {
    let output = target.operation().output.as_ref();
    let element = output.and_then(|output| output.body.first_element());
    let root = Root::new(target.plan(), element, value.clone());
    let mut taken = take_roots(target, &[root], "id", Attachments::Beside)?;
    Ok(taken.pop().unwrap_or_default())
}

/// A header block of an answer. Its ids are its own: it is taken before the answer is there.
pub(crate) fn take_answer_header(
    target: &Target,
    name: &str,
    value: &Bound<'_, PyAny>,
) -> PyResult<Value> {
    let output = target.operation().output.as_ref();
    let parts = output.map_or(&[][..], |output| &output.headers);
    let element = header_element(target.plan(), parts, name);
    let root = Root::block(target.plan(), element, value.clone());
    let local = name.rsplit('}').next().unwrap_or_default();
    let prefix = format!("{local}-id");
    let mut taken = take_roots(target, &[root], &prefix, Attachments::Beside)?;
    Ok(taken.pop().unwrap_or_default())
}

/// The members of a mapping or an object.
pub(crate) fn members_of<'py>(
    value: &Bound<'py, PyAny>,
) -> PyResult<Vec<(String, Bound<'py, PyAny>)>> {
    let py = value.py();
    let value = match value.is_instance(Bridge::get(py)?.object_type.bind(py))? {
        true => value.getattr(intern!(py, "__dict__"))?,
        false => value.clone(),
    };
    let members = value
        .cast::<PyMapping>()
        .map_err(|_| PyTypeError::new_err("a mapping is needed"))?;
    let items = members.items()?;
    items
        .iter()
        .map(|item| {
            let (name, member): (Bound<'py, PyAny>, _) = item.extract()?;
            let name = name.extract::<String>().map_err(|_| no_name())?;
            Ok((name, member))
        })
        .collect()
}

/// What becomes of attachments.
#[derive(Clone, Copy)]
pub(crate) enum Attachments {
    /// They are sent beside the message, or in it as the client or the service says.
    Beside,
    /// The message has nothing beside it: they are octets in it.
    Octets,
}

struct Taker<'py> {
    bridge: &'static Bridge,
    depth: usize,
    /// For encoded messages.
    sharing: Option<Sharing<'py>>,
    /// Whether the part that is taken now is encoded, and whether it is a header block.
    is_encoded: bool,
    is_block: bool,
    attachments: Attachments,
}

impl<'py> Taker<'py> {
    fn roots(&mut self, roots: &[Root<'py>]) -> PyResult<Vec<Value>> {
        if let Some(sharing) = &mut self.sharing {
            let named = roots
                .iter()
                .filter(|root| root.is_encoded && !root.is_block);
            named.for_each(|root| sharing.add_root(&root.value));
        }
        let mut taken = Vec::with_capacity(roots.len());
        for root in roots {
            self.is_encoded = root.is_encoded;
            self.is_block = root.is_block;
            taken.push(self.value(&root.value)?);
        }
        Ok(taken)
    }

    fn value(&mut self, value: &Bound<'py, PyAny>) -> PyResult<Value> {
        // The common kinds first, by their exact type.
        if let Ok(text) = value.cast_exact::<PyString>() {
            return Ok(Value::from(text.to_str()?));
        }
        if let Ok(number) = value.cast_exact::<PyFloat>() {
            return Ok(Value::Double(number.value()));
        }
        if let Ok(boolean) = value.cast_exact::<PyBool>() {
            return Ok(Value::Bool(boolean.is_true()));
        }
        if let Ok(number) = value.cast_exact::<PyInt>() {
            return integer(number);
        }
        if value.is_none() {
            return Ok(Value::Nil);
        }
        if let Ok(members) = value.cast_exact::<PyDict>() {
            return self.nested(|this| this.object(value, members));
        }
        if let Ok(items) = value.cast_exact::<PyList>() {
            return self.nested(|this| this.list(items));
        }
        if let Ok(octets) = value.cast_exact::<PyBytes>() {
            return Ok(Value::Bytes(octets.as_bytes().to_vec()));
        }
        let py = value.py();
        if value.is_instance(self.bridge.object_type.bind(py))? {
            let members = value.getattr(intern!(py, "__dict__"))?;
            let members = members.cast_into::<PyDict>()?;
            return self.nested(|this| this.object(value, &members));
        }
        if value.is(&self.bridge.nil) {
            return Ok(Value::object([("@xsi:nil", Value::Bool(true))]));
        }
        let ty = value.get_type();
        if ty.is(&self.bridge.datetime_type) || ty.is(&self.bridge.date_type) {
            let text = value.call_method0(intern!(py, "isoformat"))?;
            let text = text.cast::<PyString>()?.to_str()?;
            return Ok(match text.strip_suffix("+00:00") {
                Some(utc) => Value::from(format!("{utc}Z")),
                None => Value::from(text),
            });
        }
        if ty.is(&self.bridge.decimal_type) {
            return decimal(value);
        }
        self.other(value)
    }

    fn nested(&mut self, take: impl FnOnce(&mut Self) -> PyResult<Value>) -> PyResult<Value> {
        if self.depth >= MAX_DEPTH {
            return Err(PyValueError::new_err(format!(
                "values nest deeper than {MAX_DEPTH}, or contain themselves"
            )));
        }
        self.depth += 1;
        let taken = take(self);
        self.depth -= 1;
        taken
    }

    /// An object with these members, or a reference to it.
    fn object(
        &mut self,
        whole: &Bound<'py, PyAny>,
        members: &Bound<'py, PyDict>,
    ) -> PyResult<Value> {
        let Some(sharing) = self.sharing.as_mut().filter(|_| self.is_encoded) else {
            return self.members(members, None);
        };
        // Header blocks and simple values are never shared, and references are written as they are.
        let is_block = self.is_block && self.depth == 1;
        if is_block || members.contains("#text")? || members.contains(sharing.key())? {
            return self.members(members, None);
        }
        let own: Option<String> = match members.get_item(ID)? {
            Some(id) => Some(id.extract()?),
            None => None,
        };
        match sharing.meet(whole, own, self.depth == 1) {
            Met::First { id } => self.members(members, id),
            Met::Again { reference } => Ok(reference),
        }
    }

    fn members(&mut self, members: &Bound<'py, PyDict>, id: Option<String>) -> PyResult<Value> {
        let mut object = Object::new();
        if let Some(id) = id {
            object.insert(ID, Value::from(id));
        }
        for (key, value) in members {
            let key = key.cast::<PyString>().map_err(|_| no_name())?;
            object.insert(key.to_str()?, self.value(&value)?);
        }
        Ok(Value::Object(object))
    }

    fn list(&mut self, items: &Bound<'py, PyList>) -> PyResult<Value> {
        // Numbers have an array of their own.
        if let Some(first) = items.iter().next() {
            if first.is_exact_instance_of::<PyFloat>()
                && let Some(numbers) = all(items, |item| {
                    item.cast_exact::<PyFloat>()
                        .ok()
                        .map(|number| number.value())
                })
            {
                return Ok(Value::Doubles(numbers));
            }
            if first.is_exact_instance_of::<PyInt>()
                && let Some(numbers) = all(items, |item| {
                    let number = item.cast_exact::<PyInt>().ok()?;
                    number.extract::<i64>().ok()
                })
            {
                return Ok(Value::Ints(numbers));
            }
        }
        let values = items.iter().map(|item| self.value(&item));
        Ok(Value::Array(values.collect::<PyResult<_>>()?))
    }

    /// The rows of an array of structs that is given by columns.
    fn rows(&mut self, columns: &Bound<'py, PyDict>) -> PyResult<Value> {
        let mut taken = Vec::new();
        for (key, values) in columns {
            let key = key.cast::<PyString>().map_err(|_| no_name())?;
            taken.push((key.to_str()?.to_owned(), self.value(&values)?));
        }
        rows_of(taken)
    }

    /// Subclasses, mappings, arrays, and what `bsoap._values.plain` knows.
    fn other(&mut self, value: &Bound<'py, PyAny>) -> PyResult<Value> {
        let py = value.py();
        if let Some(array) = self.dimensions(value)? {
            return Ok(array);
        }
        if let Ok(items) = value.cast::<PyTuple>() {
            return self.nested(|this| this.list(&items.to_list()));
        }
        if let Ok(octets) = value.cast::<PyByteArray>() {
            return Ok(Value::Bytes(octets.to_vec()));
        }
        if value.is_instance(self.bridge.decimal_type.bind(py))? {
            return decimal(value);
        }
        if let Some(numbers) = buffer(value)? {
            return Ok(numbers);
        }
        if let Some(attachment) = self.attached(value)? {
            return Ok(attachment);
        }
        let plain = self.plain(value)?;
        if plain.is_instance(self.bridge.columns_type.bind(py))? {
            let columns = plain.cast::<PyDict>()?.clone();
            return self.nested(|this| this.rows(&columns));
        }
        if plain.is(value) {
            if let Ok(members) = value.cast::<PyMapping>() {
                let dict = PyDict::new(py);
                for key in members.keys()? {
                    dict.set_item(&key, members.get_item(&key)?)?;
                }
                return self.nested(|this| this.object(value, &dict));
            }
            let name = value.get_type().name()?;
            return Err(PyTypeError::new_err(format!(
                "a value of type {name} cannot be sent: give a text, a number, a date, bytes, a path or file, a mapping, a sequence or an array"
            )));
        }
        // The members of a dataclass.
        if let Ok(members) = plain.cast_exact::<PyDict>() {
            return self.nested(|this| this.object(value, members));
        }
        self.nested(|this| this.value(&plain))
    }

    /// What is attached, or its octets. `None` if it is no attachment, path or file.
    fn attached(&mut self, value: &Bound<'py, PyAny>) -> PyResult<Option<Value>> {
        let known = self.sharing.as_ref();
        if let Some(taken) = known.and_then(|sharing| sharing.attached(value)) {
            return Ok(Some(taken));
        }
        let Some(attachment) = attachment::of(value)? else {
            return Ok(None);
        };
        let taken = match self.attachments {
            Attachments::Beside => Value::Attachment(attachment),
            Attachments::Octets => Value::Bytes(attachment.read()?),
        };
        if let Some(sharing) = &mut self.sharing {
            sharing.keep_attached(value, &taken);
        }
        Ok(Some(taken))
    }

    /// A simpler object: a text, a number, a dictionary, a list. The object itself if there is none.
    fn plain(&mut self, value: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        let known = self.sharing.as_ref();
        if let Some(plain) = known.and_then(|sharing| sharing.plain(value)) {
            return Ok(plain);
        }
        let plain = self.bridge.plain.bind(value.py()).call1((value,))?;
        if let Some(sharing) = &mut self.sharing {
            sharing.keep_plain(value, &plain);
        }
        Ok(plain)
    }

    /// An array of several dimensions in an encoded message: its items, row after row, and its size.
    fn dimensions(&mut self, value: &Bound<'py, PyAny>) -> PyResult<Option<Value>> {
        let Some(sharing) = self.sharing.as_ref().filter(|_| self.is_encoded) else {
            return Ok(None);
        };
        let py = value.py();
        let Ok(shape) = value.getattr(intern!(py, "shape")) else {
            return Ok(None);
        };
        let Ok(shape) = shape.extract::<Vec<usize>>() else {
            return Ok(None);
        };
        if shape.len() < 2 || !value.hasattr(intern!(py, "ravel"))? {
            return Ok(None);
        }
        let size = sharing.size(&shape);
        let items = value.call_method0(intern!(py, "ravel"))?;
        let items = self.nested(|this| this.value(&items))?;
        Ok(Some(Value::object([size, ("item", items)])))
    }
}

/// A decimal without an exponent.
fn decimal(value: &Bound<'_, PyAny>) -> PyResult<Value> {
    let text = value.str()?;
    let text = text.to_str()?;
    if !text.contains('E') {
        return Ok(Value::from(text));
    }
    let plain = value.call_method1(intern!(value.py(), "__format__"), ("f",))?;
    Ok(Value::from(plain.cast::<PyString>()?.to_str()?))
}

fn no_name() -> PyErr {
    PyTypeError::new_err("the keys of a mapping are the names of elements: texts")
}

fn all<T>(
    items: &Bound<'_, PyList>,
    number: impl Fn(&Bound<'_, PyAny>) -> Option<T>,
) -> Option<Vec<T>> {
    let mut numbers = Vec::with_capacity(items.len());
    for item in items {
        numbers.push(number(&item)?);
    }
    Some(numbers)
}

fn integer(number: &Bound<'_, PyInt>) -> PyResult<Value> {
    if let Ok(number) = number.extract::<i64>() {
        return Ok(Value::Int(number));
    }
    if let Ok(number) = number.extract::<u64>() {
        return Ok(Value::UInt(number));
    }
    Ok(Value::from(number.str()?.to_str()?))
}

/// The numbers of an object that shows its memory: an array of numpy, of the standard library, a memoryview. `None` if it shows none,
/// or none that is a list of numbers.
pub(crate) fn buffer(value: &Bound<'_, PyAny>) -> PyResult<Option<Value>> {
    // Some values of it may be missing.
    if value.get_type().name()? == "MaskedArray" {
        return Ok(None);
    }
    let Ok(buffer) = PyUntypedBuffer::get(value) else {
        return Ok(None);
    };
    if buffer.dimensions() != 1 {
        return match buffer.dimensions() {
            0 => Ok(None),
            dimensions => Err(PyValueError::new_err(format!(
                "an array of {dimensions} dimensions has no form in XML: give one of one dimension, or nested lists"
            ))),
        };
    }
    let py = value.py();
    macro_rules! numbers {
        ($ty:ty) => {{ buffer.as_typed::<$ty>()?.to_vec(py)? }};
    }
    let format = buffer.format();
    // The other byte order: `plain` makes a list.
    let is_foreign = match cfg!(target_endian = "little") {
        true => format.to_bytes().starts_with(b">") || format.to_bytes().starts_with(b"!"),
        false => format.to_bytes().starts_with(b"<"),
    };
    if is_foreign && buffer.item_size() > 1 {
        return Ok(None);
    }
    if format.to_bytes() == b"?" {
        let items = value
            .call_method0(intern!(py, "tolist"))?
            .extract::<Vec<bool>>()?;
        return Ok(Some(Value::Array(
            items.into_iter().map(Value::Bool).collect(),
        )));
    }
    let size = buffer.item_size();
    Ok(Some(match ElementType::from_format(format) {
        ElementType::Float { bytes: 8 } => Value::Doubles(numbers!(f64)),
        ElementType::Float { bytes: 4 } => Value::Floats(numbers!(f32)),
        ElementType::SignedInteger { bytes: 8 } => Value::Ints(numbers!(i64)),
        ElementType::SignedInteger { bytes: 4 } => {
            Value::Ints(numbers!(i32).into_iter().map(i64::from).collect())
        }
        ElementType::SignedInteger { bytes: 2 } => {
            Value::Ints(numbers!(i16).into_iter().map(i64::from).collect())
        }
        ElementType::SignedInteger { bytes: 1 } if size == 1 => {
            Value::Ints(numbers!(i8).into_iter().map(i64::from).collect())
        }
        ElementType::UnsignedInteger { bytes: 8 } => {
            let numbers = numbers!(u64);
            Value::Array(numbers.into_iter().map(Value::UInt).collect())
        }
        ElementType::UnsignedInteger { bytes: 4 } => {
            Value::Ints(numbers!(u32).into_iter().map(i64::from).collect())
        }
        ElementType::UnsignedInteger { bytes: 2 } => {
            Value::Ints(numbers!(u16).into_iter().map(i64::from).collect())
        }
        // `memoryview(b"…")` and arrays of bytes are octets.
        ElementType::UnsignedInteger { bytes: 1 } => Value::Bytes(numbers!(u8)),
        _ => return Ok(None),
    }))
}
