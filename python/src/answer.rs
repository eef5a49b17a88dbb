//! The answer to a call, with what came with it.

use std::sync::Arc;

use bsoap::Record;
use bsoap::codec::plan::ElementId;
use bsoap::codec::{Region, View};
use bsoap::protocol::Target;
use bsoap::schema::{Body, Message};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyList};

use crate::addressing;
use crate::attachment::Attachment;
use crate::binary::Binary;
use crate::bridge::Bridge;
use crate::exception::plain;
use crate::make::{Source, text_alone};
use crate::plan::PythonPlan;

/// The answer to a call: the value, header blocks, HTTP status and headers, changes.
#[pyclass(frozen, module = "bsoap", name = "Answer")]
pub(crate) struct Answer {
    answer: bsoap::Answer,
    plan: Arc<PythonPlan>,
    binary: Binary,
}

impl Answer {
    pub(crate) fn new(answer: bsoap::Answer, plan: &Arc<PythonPlan>, binary: Binary) -> Self {
        Self {
            answer,
            plan: Arc::clone(plan),
            binary,
        }
    }

    fn source<'a>(&'a self, record: &'a Arc<Record>) -> Source<'a> {
        Source {
            plan: &self.plan,
            record,
            binary: self.binary,
        }
    }
}

#[pymethods]
impl Answer {
    /// The result: the object of the wrapper element, or of the only part. None for a one-way operation.
    #[getter]
    pub(crate) fn value<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        match (
            self.answer.record(),
            &self.answer.target().operation().output,
        ) {
            (Some(record), Some(output)) => body(py, &self.source(record), output),
            _ => Ok(py.None().into_bound(py)),
        }
    }

    /// The SOAP header blocks: declared ones by the names of their parts, others as XML under `#any`.
    #[getter]
    fn headers<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let source = self.answer.record().map(|record| self.source(record));
        let blocks = self.answer.soap_headers();
        headers(py, self.answer.target(), source.as_ref(), &blocks)
    }

    /// The names and SOAP attributes of the header blocks, each a dictionary; those for other nodes with their XML.
    #[getter]
    fn blocks<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        blocks(py, &self.answer.blocks())
    }

    /// The HTTP status.
    #[getter]
    fn http_status(&self) -> u16 {
        self.answer.status()
    }

    /// The HTTP headers by their names in lower case; those sent several times are joined by commas.
    #[getter]
    fn http_headers<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        http_headers(py, self.answer.http_headers())
    }

    /// The text of the request, if it was kept.
    #[getter]
    fn sent<'py>(&self, py: Python<'py>) -> Option<Bound<'py, PyBytes>> {
        self.answer.sent().map(|text| PyBytes::new(py, text))
    }

    /// The text of the answer, if it was kept.
    #[getter]
    fn received<'py>(&self, py: Python<'py>) -> Option<Bound<'py, PyBytes>> {
        self.answer.received().map(|text| PyBytes::new(py, text))
    }

    /// What came beside the answer: what binary values refer to, and all others.
    #[getter]
    fn attachments(&self) -> Vec<Attachment> {
        let attachments = self.answer.attachments().iter();
        attachments.map(Attachment::new).collect()
    }

    /// The attachment with a content id, that a `cid:` URI names, or that is the part of this name. None if there is none.
    fn attachment(&self, id: &str) -> Option<Attachment> {
        self.answer.attachment(id).map(Attachment::new)
    }

    /// The deviations from the WSDL that were accepted.
    #[getter]
    fn warnings(&self) -> Vec<String> {
        let warnings = self.answer.warnings().iter();
        warnings.map(ToString::to_string).collect()
    }

    /// The header blocks of WS-Addressing. None if the answer has none, or if it is not used.
    #[getter]
    fn addressing<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        addressing::of_message(py, self.answer.addressing())
    }

    /// The `MessageID` of the request. None if it has none.
    #[getter]
    fn message_id(&self) -> Option<&str> {
        self.answer.message_id()
    }

    /// What is wrong with the identifiers (`xs:ID`) and references (`xs:IDREF`) of the answer: `(path, problem)`, the first `most` ones.
    #[pyo3(signature = (most = 100))]
    fn wrong_identities(&self, py: Python<'_>, most: usize) -> Vec<(String, String)> {
        let record = self.answer.record();
        record.map_or_else(Vec::new, |record| wrong_identities(py, record, most))
    }

    /// The places that changed since the last similar answer: `(path, first, end)`, where a path is such as `values.item`, and the
    /// last two are the indexes of an array's items, or None. None if all is new.
    fn changes<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyList>>> {
        changes(py, self.answer.changes())
    }

    /// The elements that a path such as `series.values.value` leads to, as a `bsoap.Table`; without a path the whole answer as one row.
    #[pyo3(signature = (path = None))]
    fn table<'py>(&self, py: Python<'py>, path: Option<&str>) -> PyResult<Bound<'py, PyAny>> {
        match self.answer.record() {
            Some(record) => crate::table::table_of(py, &self.plan, record, self.binary, path),
            None => Err(PyValueError::new_err("the answer is empty")),
        }
    }

    /// The number of bytes of memory that the values take.
    fn __sizeof__(&self) -> usize {
        self.answer.record().map_or(0, |record| record.memory())
    }

    fn __repr__(&self) -> String {
        format!(
            "<bsoap.Answer to {}, HTTP status {}>",
            self.answer.target().operation().name,
            self.answer.status()
        )
    }
}

/// The wrong identifiers and references of a message: their paths, and what is wrong. The message may be long: the interpreter's lock
/// is released meanwhile.
pub(crate) fn wrong_identities(
    py: Python<'_>,
    record: &Record,
    most: usize,
) -> Vec<(String, String)> {
    let wrong = py.detach(|| record.wrong_identities(most)).into_iter();
    wrong.map(|wrong| (wrong.path, wrong.problem)).collect()
}

/// What changed in a message.
pub(crate) fn changes<'py>(
    py: Python<'py>,
    changes: Option<&bsoap::Changes>,
) -> PyResult<Option<Bound<'py, PyList>>> {
    match changes.filter(|changes| !changes.is_all()) {
        Some(changes) => regions(py, changes.regions()).map(Some),
        None => Ok(None),
    }
}

/// Places in a message: `(path, first, end)`; the last two are None unless items of an array are meant.
pub(crate) fn regions(py: Python<'_>, regions: Vec<Region>) -> PyResult<Bound<'_, PyList>> {
    let list = PyList::empty(py);
    for mut region in regions {
        let items = region.items.clone();
        if let Some(items) = &items {
            region.items = Some(items.start..items.start + 1);
        }
        let path = region.argument_path().unwrap_or_else(|| region.to_string());
        match items {
            Some(items) => {
                let array = path.rfind('[').map_or(&*path, |end| &path[..end]);
                list.append((array, items.start, items.end))?;
            }
            None => list.append((path, py.None(), py.None()))?,
        }
    }
    Ok(list)
}

/// The Python object of the Body of a message.
pub(crate) fn body<'py>(
    py: Python<'py>,
    source: &Source<'_>,
    message: &Message,
) -> PyResult<Bound<'py, PyAny>> {
    let envelope = View::of(source.record);
    let header = children(&envelope, "Header");
    let mut children = children(&envelope, "Body");
    match &message.body {
        Body::Empty => return Ok(py.None().into_bound(py)),
        Body::Bare { parts } if parts.len() > 1 => {
            let members = PyDict::new(py);
            let made = source.make_all(py, &children, &header)?;
            for (child, made) in children.iter().zip(made) {
                let part = parts.iter().find(|part| part.element == child.element_id());
                members.set_item(part.map_or(child.name(), |part| &part.name), made)?;
            }
            return Bridge::get(py)?.object_type.bind(py).call1((members,));
        }
        _ => children.truncate(1),
    }
    let made = source.make_all(py, &children, &header)?.pop();
    Ok(made.unwrap_or_else(|| py.None().into_bound(py)))
}

/// The children of a child of the Envelope.
fn children<'r>(envelope: &View<'r>, name: &str) -> Vec<View<'r>> {
    let section = envelope.child(name).into_iter();
    section.flat_map(|section| section.children()).collect()
}

/// The names and SOAP attributes of header blocks.
pub(crate) fn blocks<'py>(
    py: Python<'py>,
    blocks: &[bsoap::protocol::HeaderBlock],
) -> PyResult<Bound<'py, PyList>> {
    let list = PyList::empty(py);
    for block in blocks {
        let described = PyDict::new(py);
        described.set_item("name", block.name.to_string())?;
        described.set_item("role", block.role.as_deref())?;
        described.set_item("must_understand", block.must_understand)?;
        described.set_item("relay", block.relay)?;
        described.set_item("xml", block.raw.as_deref())?;
        list.append(described)?;
    }
    Ok(list)
}

/// The header blocks of a message. `source` has those that are declared; it is `None` if there is no message.
pub(crate) fn headers<'py>(
    py: Python<'py>,
    target: &Target,
    source: Option<&Source<'_>>,
    blocks: &bsoap::Object,
) -> PyResult<Bound<'py, PyAny>> {
    let envelope = source.map(|source| View::of(source.record));
    let section = |name| envelope.map_or_else(Vec::new, |envelope| children(&envelope, name));
    let header = section("Header");
    let view = |key: &str| {
        let element = declared(target, key)?;
        header.iter().find(|block| block.element_id() == element)
    };
    // An array is what came several times.
    let declared: Vec<_> = blocks
        .iter()
        .filter(|(_, value)| !value.is_array())
        .filter_map(|(key, _)| Some((key, *view(key)?)))
        .collect();
    let views: Vec<_> = declared.iter().map(|(_, view)| *view).collect();
    let made = match source {
        Some(source) => source.make_all(py, &views, &section("Body"))?,
        None => Vec::new(),
    };
    let mut made = declared.iter().map(|(key, _)| *key).zip(made).peekable();
    let members = PyDict::new(py);
    for (key, value) in blocks.iter() {
        let block = match made.next_if(|(next, _)| *next == key) {
            Some((_, block)) => text_alone(block)?,
            None => plain(py, value)?,
        };
        members.set_item(key, block)?;
    }
    Bridge::get(py)?.object_type.bind(py).call1((members,))
}

/// The element of a declared header block.
fn declared(target: &Target, name: &str) -> Option<ElementId> {
    let operation = target.operation();
    let messages = operation.output.iter().chain([&operation.input]);
    let mut parts = messages.flat_map(|message| &message.headers);
    let part = parts.find(|part| part.name == *name)?;
    Some(part.element)
}

pub(crate) fn http_headers<'py>(
    py: Python<'py>,
    headers: &bsoap::http::HeaderMap,
) -> PyResult<Bound<'py, PyDict>> {
    let found = PyDict::new(py);
    for name in headers.keys() {
        let values = headers.get_all(name).iter();
        let values: Vec<_> = values
            .map(|value| String::from_utf8_lossy(value.as_bytes()))
            .collect();
        found.set_item(name.as_str(), values.join(", "))?;
    }
    Ok(found)
}
