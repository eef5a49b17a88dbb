//! The answer to a call, with what came with it.

use std::sync::Arc;

use bsoap::Record;
use bsoap::codec::{Region, View};
use bsoap::protocol::Target;
use bsoap::schema::{Body, Message};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyList};

use crate::addressing;
use crate::attachment::Attachment;
use crate::bridge::Bridge;
use crate::errors::plain;
use crate::make::make;
use crate::plan::PythonPlan;

/// The answer to a call: the value, header blocks, HTTP status and headers, changes.
#[pyclass(frozen, module = "bsoap", name = "Answer")]
pub(crate) struct Answer {
    answer: bsoap::Answer,
    plan: Arc<PythonPlan>,
}

impl Answer {
    pub(crate) fn new(answer: bsoap::Answer, plan: &Arc<PythonPlan>) -> Self {
        Self {
            answer,
            plan: Arc::clone(plan),
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
            (Some(record), Some(output)) => body(py, &self.plan, record, output),
            _ => Ok(py.None().into_bound(py)),
        }
    }

    /// The SOAP header blocks: declared ones by the names of their parts, others as XML under `#any`.
    #[getter]
    fn headers<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let target = self.answer.target();
        headers(
            py,
            &self.plan,
            target,
            self.answer.record(),
            &self.answer.soap_headers(),
        )
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
    fn wrong_identities(&self, most: usize) -> Vec<(String, String)> {
        let record = self.answer.record();
        record.map_or_else(Vec::new, |record| wrong_identities(record, most))
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
            Some(record) => {
                // A table has their octets: what cannot be read is reported now.
                let mut attachments = self.answer.attachments().iter();
                attachments.try_for_each(|one| one.open().map(drop))?;
                crate::table::table_of(py, &self.plan, record, path)
            }
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

/// The wrong identifiers and references of a message: their paths, and what is wrong.
pub(crate) fn wrong_identities(record: &Record, most: usize) -> Vec<(String, String)> {
    let wrong = record.wrong_identities(most).into_iter();
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
    plan: &PythonPlan,
    record: &Arc<Record>,
    message: &Message,
) -> PyResult<Bound<'py, PyAny>> {
    let envelope = View::of(record);
    let mut children = envelope
        .child("Body")
        .into_iter()
        .flat_map(|body| body.children());
    match &message.body {
        Body::Empty => Ok(py.None().into_bound(py)),
        Body::Bare { parts } if parts.len() > 1 => {
            let members = PyDict::new(py);
            for child in children {
                let part = parts.iter().find(|part| part.element == child.element_id());
                let name = part.map_or(child.name(), |part| &part.name);
                members.set_item(name, make(py, plan, record, &child)?)?;
            }
            Bridge::get(py)?.object_type.bind(py).call1((members,))
        }
        _ => match children.next() {
            Some(child) => make(py, plan, record, &child),
            None => Ok(py.None().into_bound(py)),
        },
    }
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

/// The header blocks of a message.
pub(crate) fn headers<'py>(
    py: Python<'py>,
    plan: &PythonPlan,
    target: &Target,
    record: Option<&Arc<Record>>,
    blocks: &bsoap::Object,
) -> PyResult<Bound<'py, PyAny>> {
    let members = PyDict::new(py);
    let view = record.map(|record| (record, View::of(record)));
    let header = view.and_then(|(record, view)| Some((record, view.child("Header")?)));
    for (key, value) in blocks.iter() {
        let parts = target
            .operation()
            .output
            .iter()
            .chain([&target.operation().input]);
        let element = parts
            .flat_map(|message| &message.headers)
            .find(|part| part.name == *key)
            .map(|part| part.element);
        let block = header.and_then(|(record, header)| {
            let block = header
                .children()
                .find(|block| Some(block.element_id()) == element)?;
            Some((record, block))
        });
        let made = match (block, value) {
            (Some((record, block)), value) if !value.is_array() => {
                text_alone(make(py, plan, record, &block)?)?
            }
            (_, value) => plain(py, value)?,
        };
        members.set_item(key, made)?;
    }
    Bridge::get(py)?.object_type.bind(py).call1((members,))
}

/// The text of a header block of a simple type whose attributes, which are those of SOAP, are absent; others as they are.
fn text_alone(block: Bound<'_, PyAny>) -> PyResult<Bound<'_, PyAny>> {
    let py = block.py();
    if block.is_instance(Bridge::get(py)?.object_type.bind(py))? && block.len()? == 1 {
        let text = block.call_method1("get", ("#text",))?;
        if !text.is_none() {
            return Ok(text);
        }
    }
    Ok(block)
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
