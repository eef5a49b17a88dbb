//! A loaded WSDL.

use std::path::PathBuf;
use std::sync::Arc;

use bsoap::codec::plan::{Content, ElementId};
use bsoap::schema::{Body, Message, Operation, Port};
use bsoap::{Fetch, SoapVersion, Wsdl};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyType};

use crate::bridge::Bridge;
use crate::errors;
use crate::exception;
use crate::limits;
use crate::plan::PythonPlan;

/// The services, operations and types of a WSDL, loaded once for any number of clients and services.
#[pyclass(frozen, module = "bsoap._bsoap")]
pub(crate) struct Definitions {
    pub(crate) definitions: Arc<bsoap::schema::Definitions>,
    pub(crate) plan: Arc<PythonPlan>,
}

/// Where a WSDL is.
#[derive(FromPyObject)]
pub(crate) enum Source {
    /// A path or a URL.
    #[pyo3(transparent)]
    Path(PathBuf),
    /// Its text.
    #[pyo3(transparent)]
    Text(Vec<u8>),
    /// The documents by location, the WSDL first.
    #[pyo3(transparent)]
    Documents(Vec<(String, String)>),
}

#[pymethods]
impl Definitions {
    /// Loads a WSDL: a path, a URL, the text as bytes, or documents with their locations.
    #[new]
    #[pyo3(signature = (source, *, fetch = false, allow_imports_from = vec![], map = vec![], load_limits = None, options = None))]
    fn new(
        py: Python<'_>,
        source: Source,
        fetch: bool,
        allow_imports_from: Vec<PathBuf>,
        map: Vec<(String, PathBuf)>,
        load_limits: Option<&Bound<'_, PyAny>>,
        options: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Self> {
        let mut wsdl = match source {
            Source::Path(path) => Wsdl::Location(path.to_string_lossy().into_owned()),
            Source::Text(text) => Wsdl::Text(String::from_utf8(text).map_err(|_| {
                exception::error(
                    py,
                    "SchemaError",
                    "the text of the WSDL is not UTF-8: give its path",
                )
            })?),
            Source::Documents(documents) => Wsdl::bundle(documents),
        };
        for folder in allow_imports_from {
            wsdl = wsdl.allow_imports_from(folder);
        }
        for (url_prefix, file_or_folder) in map {
            wsdl = wsdl.map(url_prefix, file_or_folder);
        }
        if let Some(limits) = load_limits {
            wsdl = wsdl.limits(limits::of_loading(limits)?);
        }
        let fetch = match fetch {
            true => Fetch::Anything,
            false => Fetch::AsAsked,
        };
        let http = crate::options::http(options)?;
        let loaded = py.detach(|| wsdl.load_with(fetch, &http));
        let definitions = loaded.map_err(|error| errors::raise(py, error, None))?;
        let plan = Arc::new(PythonPlan::new(definitions.plan()));
        Ok(Self { definitions, plan })
    }

    /// The services: `(name, documentation, ports)`; ports: `(name, version, address, binding, operations)`.
    fn services<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let services = PyList::empty(py);
        for service in self.definitions.services() {
            let ports = PyList::empty(py);
            for port in &service.ports {
                let operations = port.binding.operations.iter();
                let names = PyList::new(py, operations.map(|operation| &operation.name))?;
                let version = version_name(port.binding.version);
                ports.append((
                    &port.name,
                    version,
                    port.address.as_deref(),
                    &port.binding.name,
                    names,
                ))?;
            }
            services.append((&service.name, service.documentation.as_deref(), ports))?;
        }
        Ok(services)
    }

    /// What is tolerated in the WSDL, and what it has that cannot be called.
    fn notes(&self) -> Vec<String> {
        let notes = self.definitions.notes().iter();
        notes
            .map(|note| match note.place.as_str() {
                "" => note.message.clone(),
                place => format!("{place}: {}", note.message),
            })
            .collect()
    }

    /// An operation of a port: a dictionary with its documentation, parameters, results, headers and faults. None if there is none.
    fn operation<'py>(
        &self,
        py: Python<'py>,
        port: &str,
        name: &str,
    ) -> PyResult<Option<Bound<'py, PyDict>>> {
        let Some(operation) = self
            .port(port)
            .and_then(|port| port.binding.operation(name))
        else {
            return Ok(None);
        };
        self.described(py, operation).map(Some)
    }

    /// The class of a type: `name` is local or `{namespace}local`. None if there is none.
    fn get_type(&self, py: Python<'_>, name: &str) -> PyResult<Option<Py<PyType>>> {
        let plan = self.plan.plan();
        let vocabulary = plan.vocabulary();
        for index in 0..plan.type_count() {
            let id = bsoap::codec::plan::TypeId(index as u32);
            let Some(known) = plan.ty(id).name else {
                continue;
            };
            let (namespace, local) = (vocabulary.namespace(known), vocabulary.local(known));
            if local == name || name == format!("{{{namespace}}}{local}") {
                return Ok(Some(self.plan.ty(py, id)?.class.clone_ref(py)));
            }
        }
        Ok(None)
    }

    /// The class of the type of a global element. None if there is no such element.
    fn get_element(
        &self,
        py: Python<'_>,
        namespace: &str,
        name: &str,
    ) -> PyResult<Option<Py<PyType>>> {
        match self.definitions.element(namespace, name) {
            Some(id) => {
                let ty = self.plan.plan().element(id).ty;
                Ok(Some(self.plan.ty(py, ty)?.class.clone_ref(py)))
            }
            None => Ok(None),
        }
    }

    /// The named types: `(namespace, name)`.
    fn types(&self) -> Vec<(String, String)> {
        let plan = self.plan.plan();
        let ids = (0..plan.type_count()).map(|index| bsoap::codec::plan::TypeId(index as u32));
        let named = ids.filter_map(|id| {
            let name = plan.ty(id).name?;
            let vocabulary = plan.vocabulary();
            Some((
                vocabulary.namespace(name).to_owned(),
                vocabulary.local(name).to_owned(),
            ))
        });
        let mut named: Vec<_> = named.collect();
        named.sort_unstable();
        named.dedup();
        named
    }

    /// The global elements: `(namespace, name)`.
    fn elements(&self) -> Vec<(String, String)> {
        let elements = self.definitions.elements();
        elements
            .map(|(namespace, name, _)| (namespace.to_owned(), name.to_owned()))
            .collect()
    }

    /// The documents that were read: `(location, text)`, the WSDL first.
    fn documents(&self) -> Vec<(String, String)> {
        self.definitions.bundle()
    }
}

pub(crate) fn version_name(version: SoapVersion) -> &'static str {
    match version {
        SoapVersion::Soap11 => "1.1",
        SoapVersion::Soap12 => "1.2",
    }
}

impl Definitions {
    /// The port of a name: its own, or `service/port` where several services have ports of one name.
    pub(crate) fn port(&self, name: &str) -> Option<&Port> {
        let (service, name) = match name.split_once('/') {
            Some((service, name)) => (Some(service), name),
            None => (None, name),
        };
        let mut ports = self.definitions.ports();
        let found = ports.find(|(found, port)| {
            port.name == name && service.is_none_or(|service| found.name == service)
        });
        found.map(|(_, port)| port)
    }

    fn described<'py>(
        &self,
        py: Python<'py>,
        operation: &Operation,
    ) -> PyResult<Bound<'py, PyDict>> {
        let described = PyDict::new(py);
        described.set_item("name", &operation.name)?;
        described.set_item("documentation", operation.documentation.as_deref())?;
        described.set_item("action", operation.soap_action.as_deref())?;
        described.set_item("encoded", operation.encoded)?;
        described.set_item("input", self.message(py, &operation.input)?)?;
        let output = operation.output.as_ref();
        described.set_item(
            "output",
            output.map(|output| self.message(py, output)).transpose()?,
        )?;
        let faults = PyList::empty(py);
        for fault in &operation.faults {
            let label = fault.detail.map(|id| self.plan.label(id));
            faults.append((&fault.name, label, fault.documentation.as_deref()))?;
        }
        described.set_item("faults", faults)?;
        Ok(described)
    }

    /// A message: `members` are `(key, label, repeats, optional, nillable, documentation)`.
    fn message<'py>(&self, py: Python<'py>, message: &Message) -> PyResult<Bound<'py, PyDict>> {
        let described = PyDict::new(py);
        let members = PyList::empty(py);
        let plan = self.plan.plan();
        let mut class = None;
        let mut is_wrapped = true;
        let single = match &message.body {
            Body::Wrapped { wrapper } | Body::Rpc { wrapper, .. } => Some(*wrapper),
            Body::Bare { parts } if parts.len() == 1 => {
                is_wrapped = false;
                Some(parts[0].element)
            }
            Body::Bare { parts } => {
                is_wrapped = false;
                for part in parts {
                    let label = self.plan.label(part.element);
                    members.append((
                        &part.name,
                        label,
                        false,
                        false,
                        false,
                        self.documentation(part.element),
                    ))?;
                }
                None
            }
            Body::Empty => None,
        };
        if let Some(element) = single {
            let ty = plan.element(element).ty;
            let is_simple = matches!(plan.ty(ty).content, Content::Simple(_))
                && plan.ty(ty).attributes.is_empty();
            described.set_item("is_simple", is_simple)?;
            described.set_item("label", self.plan.label(element))?;
            if is_simple {
                let part = message.body.parts().first();
                let name = part.map_or("value", |part| &part.name);
                members.append((
                    name,
                    self.plan.label(element),
                    false,
                    false,
                    false,
                    None::<&str>,
                ))?;
            } else {
                class = Some(self.plan.ty(py, ty)?.class.clone_ref(py));
            }
            for child in plan.child_members(ty) {
                let documentation = self.documentation(child.element);
                let label = self.plan.label(child.element);
                members.append((
                    child.key,
                    label,
                    child.repeats,
                    child.is_optional,
                    child.nillable,
                    documentation,
                ))?;
            }
        }
        described.set_item("members", members)?;
        described.set_item("class", class)?;
        described.set_item("is_wrapped", is_wrapped)?;
        let headers = PyList::empty(py);
        for part in &message.headers {
            let ty = plan.element(part.element).ty;
            let class = self.plan.ty(py, ty)?.class.clone_ref(py);
            headers.append((&part.name, class))?;
        }
        described.set_item("headers", headers)?;
        described.set_item("name", &message.name)?;
        Ok(described)
    }

    fn documentation(&self, element: ElementId) -> Option<&str> {
        self.definitions.element_documentation(element)
    }
}

/// Makes sure that the classes of values can be imported, before the first message.
pub(crate) fn prepare(py: Python<'_>) -> PyResult<()> {
    Bridge::get(py).map(drop)
}
