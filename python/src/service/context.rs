//! What a handler gets to know of a request besides its arguments.

use std::net::SocketAddr;
use std::sync::Arc;

use bsoap::{Message, Principal};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};

use crate::addressing;
use crate::answer;
use crate::attachment::Attachment;
use crate::binary::Binary;
use crate::exception::error;
use crate::make::Source;
use crate::plan::PythonPlan;
use crate::take::take_answer_header;

/// The client of a request of another server, if that says who it is.
#[derive(Clone, Copy)]
pub(super) struct Peer(pub(super) SocketAddr);

/// A request besides its arguments: header blocks, HTTP headers, what changed, who sent it; and the header blocks of its answer.
#[pyclass(frozen, module = "bsoap")]
pub(crate) struct Context {
    pub(super) message: Message,
    pub(super) plan: Arc<PythonPlan>,
    pub(super) binary: Binary,
}

#[pymethods]
impl Context {
    /// The name of the operation.
    #[getter]
    fn operation(&self) -> &str {
        self.message.operation()
    }

    /// The SOAP header blocks: declared ones by the names of their parts, others as XML under `#any`.
    #[getter]
    fn headers<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let source = Source {
            plan: &self.plan,
            record: self.message.shared_record(),
            binary: self.binary,
        };
        let blocks = self.message.headers();
        answer::headers(py, self.message.target(), Some(&source), &blocks)
    }

    /// The names and SOAP attributes of the header blocks, each a dictionary; those for other nodes with their XML.
    #[getter]
    fn blocks<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        answer::blocks(py, self.message.blocks())
    }

    /// The header blocks of WS-Addressing. None if the request has none, or if it is not used.
    #[getter]
    fn addressing<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        addressing::of_message(py, self.message.addressing())
    }

    /// What is wrong with the identifiers (`xs:ID`) and references (`xs:IDREF`) of the request: `(path, problem)`, the first `most` ones.
    #[pyo3(signature = (most = 100))]
    fn wrong_identities(&self, py: Python<'_>, most: usize) -> Vec<(String, String)> {
        answer::wrong_identities(py, self.message.record(), most)
    }

    /// The HTTP headers by their names in lower case; those sent several times are joined by commas.
    #[getter]
    fn http_headers<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        answer::http_headers(py, self.message.http_headers())
    }

    /// The address and the port of the client. None if the server around the service does not say it.
    #[getter]
    fn peer(&self) -> Option<(String, u16)> {
        let known = self.message.extensions().get::<Peer>();
        let peer = known.map_or(self.message.peer(), |peer| peer.0);
        (!peer.ip().is_unspecified()).then(|| (peer.ip().to_string(), peer.port()))
    }

    /// Who sent the request, as the function `principal` of the service says.
    #[getter]
    fn principal(&self) -> Option<String> {
        let principal = self.message.extensions().get::<Principal>()?;
        Some(String::from_utf8_lossy(principal.name()).into_owned())
    }

    /// What came beside the request: what binary values refer to, and all others.
    #[getter]
    fn attachments(&self) -> Vec<Attachment> {
        let attachments = self.message.attachments().iter();
        attachments.map(Attachment::new).collect()
    }

    /// The attachment with a content id, that a `cid:` URI names, or that is the part of this name. None if there is none.
    fn attachment(&self, id: &str) -> Option<Attachment> {
        self.message.attachment(id).map(Attachment::new)
    }

    /// Sends an attachment beside the answer that no binary value of it refers to.
    fn attach(&self, attachment: &Attachment) {
        self.message
            .add_answer_attachment(attachment.inner().clone());
    }

    /// The deviations from the WSDL that were accepted.
    #[getter]
    fn warnings(&self) -> Vec<String> {
        let warnings = self.message.warnings().iter();
        warnings.map(ToString::to_string).collect()
    }

    /// What changed since the last similar request of the same client: `(path, first, end)`, where a path is such as `values.item`,
    /// and the last two are the indexes of an array's items, or None. None if all is new.
    fn changes<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyList>>> {
        answer::changes(py, Some(self.message.changes()))
    }

    /// Sets a header block of the answer that the WSDL declares, by the name of its part.
    fn set_header(&self, py: Python<'_>, name: &str, value: &Bound<'_, PyAny>) -> PyResult<()> {
        let block = take_answer_header(self.message.target(), name, value)?;
        let set = self.message.set_answer_header(name, block);
        set.map_err(|fault| error(py, "EncodeError", fault.reason()))
    }

    /// Adds a header block to the answer that the WSDL does not declare, as XML.
    fn add_header(&self, py: Python<'_>, xml: &str) -> PyResult<()> {
        let added = self.message.add_answer_header_xml(xml);
        added.map_err(|fault| error(py, "EncodeError", fault.reason()))
    }

    fn __repr__(&self) -> String {
        format!("<bsoap.Context of {}>", self.message.operation())
    }
}
