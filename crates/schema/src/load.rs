//! Loads a WSDL with all its imports, compiles its schemas and resolves its bindings.
//!
//! ```text
//! documents to read ─► WSDL components ──┐
//!   (a queue; each is read once)         ├─► types, then bindings ─► Plan + Definitions
//!   └► schemas ─► schema components ─────┘
//! ```

use std::collections::VecDeque;
use std::sync::Arc;

use bsoap_codec::plan::ElementId;
use foldhash::{HashMap, HashSet, HashSetExt as _};
use indexmap::IndexMap;

use crate::compile::Offers;
use crate::compile::binding::{BoundBindings, bind_all};
use crate::components::{SchemaSet, Strictness};
use crate::definitions::{Binding, Definitions, Note, OtherPort, Port, Service};
use crate::document::{LoadLimits, Position};
use crate::loader::{Loader, may_refer, resolve_location};
use crate::name::{WSDL_NAMESPACE, WSDL2_NAMESPACE, is_schema};
use crate::wsdl::{self, BindingKind, DocumentHead, Imports, RawPort, Wsdl};
use crate::xsd::SchemaSetBuilder;
use crate::{Error, ErrorKind, ExpandedName, Result, Sort};

/// Options of loading a WSDL.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct LoadOptions {
    /// Limits on the number and size of documents and components.
    pub limits: LoadLimits,
    /// The rules of the schema language that are enforced.
    pub strictness: Strictness,
    /// The types that `xsi:type` may replace. With [`Offers::All`], wildcards are also expanded to the declared elements and
    /// attributes.
    pub offers: Offers,
}

/// Loads and compiles a WSDL with all its imports. It also loads a schema document; then there are no services.
///
/// ```
/// use bsoap_schema::{LoadOptions, MemoryLoader, load};
///
/// let mut loader = MemoryLoader::default();
/// loader.add("calculator.wsdl", include_str!("../tests/testdata/calculator.wsdl"));
/// let definitions = load("calculator.wsdl", &loader, &LoadOptions::default())?;
/// let port = &definitions.services()[0].ports[0];
/// let add = port.binding.operation("Add").unwrap();
/// assert_eq!(definitions.signature(add), "Add(a: xsd:int, b: xsd:int) -> result: xsd:int");
/// # Ok::<(), bsoap_schema::Error>(())
/// ```
///
/// # Errors
/// If a document cannot be loaded or read, or its definitions are not consistent. The error has the position.
pub fn load(location: &str, loader: &dyn Loader, options: &LoadOptions) -> Result<Definitions> {
    let mut reading = WsdlLoad {
        schemas: SchemaSetBuilder::new(loader, options.limits.clone(), options.strictness),
        wsdl: Wsdl {
            is_strict: options.strictness == Strictness::Strict,
            ..Wsdl::default()
        },
        queue: VecDeque::new(),
        seen: HashSet::new(),
    };
    let head = reading.run(location)?;
    let WsdlLoad {
        schemas, mut wsdl, ..
    } = reading;
    wsdl.prefer_services_of_the_first_document();
    let schemas = schemas.finish()?;
    wsdl.complete(&schemas)?;
    compile(head, &mut wsdl, &schemas, options.offers)
}

impl Definitions {
    /// Loads a WSDL with default options; see [`load`].
    ///
    /// # Errors
    /// The errors of [`load`].
    pub fn load(location: &str, loader: &dyn Loader) -> Result<Self> {
        load(location, loader, &LoadOptions::default())
    }

    /// Compiles the same documents with other options. No document is loaded again.
    ///
    /// # Errors
    /// The errors of [`load`].
    pub fn reload(&self, options: &LoadOptions) -> Result<Self> {
        let first = self.documents().first();
        let location = first.map_or("", |document| document.location());
        load(location, &self.documents, options)
    }
}

/// The state of loading.
struct WsdlLoad<'l> {
    schemas: SchemaSetBuilder<'l>,
    wsdl: Wsdl,
    /// The WSDL documents still to read: their location and the position of the import.
    queue: VecDeque<(String, Option<Position>)>,
    seen: HashSet<u32>,
}

impl WsdlLoad<'_> {
    /// Reads the document at `location` and all its imports. Returns the head of the first document.
    fn run(&mut self, location: &str) -> Result<DocumentHead> {
        self.queue.push_back((location.to_owned(), None));
        let mut first = None;
        while let Some((location, place)) = self.queue.pop_front() {
            let text_place = place.and_then(|place| self.schemas.documents().spell(place));
            let head = self
                .document(&location)
                .map_err(|error| error.at(text_place))?;
            first = first.or(head);
        }
        for namespace in self.wsdl.type_namespaces() {
            self.schemas.mention(namespace);
        }
        Ok(first.unwrap_or_default())
    }

    /// Reads one document. Returns `None` if it was read already.
    fn document(&mut self, location: &str) -> Result<Option<DocumentHead>> {
        let number = self.schemas.load_document(location)?;
        if !self.seen.insert(number) {
            return Ok(None);
        }
        let Some(document) = self.schemas.documents().document(number).cloned() else {
            return Ok(None);
        };
        let declaring;
        let (document, tree) = match self.schemas.parse(&document) {
            Ok(tree) => (&document, tree),
            Err(error) => {
                declaring = self.schemas.declare_prefixes(number, error)?;
                (&declaring, self.schemas.parse(&declaring)?)
            }
        };
        let root = tree.root_element();
        if is_schema(root) {
            self.schemas.add_location(location)?;
            let target_namespace = root.attribute("targetNamespace").unwrap_or("").to_owned();
            return Ok(Some(DocumentHead {
                target_namespace,
                is_schema: true,
                ..DocumentHead::default()
            }));
        }
        let is_wsdl = root.has_tag_name((WSDL_NAMESPACE, "definitions"))
            || root.has_tag_name((WSDL2_NAMESPACE, "description"));
        if !is_wsdl {
            let name = root.tag_name();
            let namespace = name.namespace().map_or(String::new(), |namespace| {
                format!(" of namespace {namespace:?}")
            });
            let found = format!("<{}>{namespace}", name.name());
            let kind = ErrorKind::Root {
                expected: "<definitions> of WSDL 1.1 or <description> of WSDL 2.0",
                found,
            };
            return Err(Error::new(kind).at(Some(document.place(root.range().start))));
        }
        let (set, names) = self.schemas.set_and_names();
        let (head, Imports { documents, schemas }) =
            wsdl::read(&mut self.wsdl, number, root, set, names)?;
        for schema in schemas {
            self.schemas.add_schema(number, schema)?;
        }
        for (_, imported, place) in documents {
            let resolved = resolve_location(document.location(), &imported);
            if !may_refer(document.location(), &resolved) {
                let reason =
                    "a document from the network must not refer to a local file".to_owned();
                let error = Error::new(ErrorKind::Load {
                    location: resolved,
                    reason,
                });
                return Err(error.at(self.schemas.documents().spell(place)));
            }
            self.queue.push_back((resolved, Some(place)));
        }
        Ok(Some(head))
    }
}

/// Compiles the components to a Plan and Definitions.
fn compile(
    head: DocumentHead,
    wsdl: &mut Wsdl,
    schemas: &SchemaSet,
    offers: Offers,
) -> Result<Definitions> {
    let BoundBindings {
        compiled,
        bindings,
        notes,
    } = bind_all(wsdl, schemas, offers)?;
    wsdl.notes.extend(notes);
    let services = services(wsdl, schemas, &bindings)?;
    let mut notes = wsdl.spell_notes(schemas.documents());
    // An undeclared prefix was reported when the schema was read.
    let is_new = |error: &&Error| !matches!(error.kind(), ErrorKind::UndeclaredPrefix { .. });
    let compiling = compiled.warnings.iter().filter(is_new);
    for warning in schemas.warnings().iter().chain(compiling) {
        notes.push(Note::of_error(warning));
    }
    let elements: HashMap<(String, String), ElementId> = compiled
        .elements
        .iter()
        .map(|(name, &id)| ((name.namespace.to_string(), name.local.to_string()), id))
        .collect();
    let plan = compiled
        .builder
        .finish()
        .map_err(|error| Error::new(ErrorKind::Unsupported(error.to_string())))?;
    Ok(Definitions {
        plan: Arc::new(plan),
        name: head.name,
        target_namespace: head.target_namespace,
        is_schema: head.is_schema,
        documentation: head.documentation,
        services,
        bindings: bindings.into_values().collect(),
        documents: schemas.documents().clone(),
        elements,
        element_documentation: compiled.element_documentation,
        element_media_types: compiled.element_media_types,
        type_media_types: compiled.type_media_types,
        type_documentation: compiled.type_documentation,
        notes,
    })
}

fn services(
    wsdl: &mut Wsdl,
    schemas: &SchemaSet,
    bindings: &IndexMap<ExpandedName, Arc<Binding>>,
) -> Result<Vec<Service>> {
    let mut notes = Vec::new();
    let mut services = Vec::new();
    for (name, raw) in &wsdl.services {
        let (mut ports, mut other_ports) = (Vec::new(), Vec::new());
        for port in &raw.ports {
            match bound_port(wsdl, schemas, bindings, port)? {
                Ok(port) => ports.push(port),
                Err(NotBound { protocol, why }) => {
                    let note = format!("port \"{}\" is ignored{why}", port.name);
                    notes.push((Some(port.binding.place), note));
                    other_ports.push(OtherPort {
                        name: port.name.clone(),
                        address: port.address.clone(),
                        binding: port.binding.name.local.to_string(),
                        protocol,
                        documentation: port.documentation.clone(),
                    });
                }
            }
        }
        services.push(Service {
            name: name.local.to_string(),
            namespace: name.namespace.to_string(),
            documentation: raw.documentation.clone(),
            ports,
            other_ports,
        });
    }
    wsdl.notes.extend(notes);
    Ok(services)
}

/// Why a port has no SOAP binding, and the namespace of what it has instead.
struct NotBound {
    protocol: Option<String>,
    why: String,
}

/// A port with its binding, or why it has none.
///
/// # Errors
/// If the WSDL names a binding that it cannot have.
fn bound_port(
    wsdl: &Wsdl,
    schemas: &SchemaSet,
    bindings: &IndexMap<ExpandedName, Arc<Binding>>,
    port: &RawPort,
) -> Result<std::result::Result<Port, NotBound>> {
    let not_bound = |protocol, why| Ok(Err(NotBound { protocol, why }));
    let documents = schemas.documents();
    let found = wsdl::resolve(&wsdl.bindings, &port.binding, Sort::Binding, documents);
    let (name, binding) = match found {
        Ok(found) => found,
        // If no document has the namespace, the WSDL is wrong. An undefined name in a known namespace is tolerated.
        Err(error)
            if wsdl.is_strict || !wsdl.namespaces.contains(&*port.binding.name.namespace) =>
        {
            return Err(error);
        }
        Err(error) => return not_bound(None, format!(": {}", error.kind())),
    };
    match (bindings.get(name), &binding.kind) {
        (Some(bound), _) => Ok(Ok(Port {
            name: port.name.clone(),
            address: port.address.clone(),
            binding: bound.clone(),
            policies: port.policies.clone(),
            addressing: port.addressing.or(bound.addressing),
            mtom: port.mtom.or(bound.mtom),
            documentation: port.documentation.clone(),
        })),
        (None, BindingKind::Other(namespace)) => {
            let why = format!(": its binding is not SOAP (extension namespace {namespace:?})");
            not_bound(Some(namespace.clone()), why)
        }
        (None, BindingKind::Soap { .. }) => {
            not_bound(None, " because its binding is ignored".to_owned())
        }
    }
}
