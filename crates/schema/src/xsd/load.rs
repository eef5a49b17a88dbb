//! Finds and reads the documents of a set of schemas: those requested and all that they include, import or
//! redefine. (XML Schema Part 1 §4.2)
//!
//! References to documents wait in a queue, so circular references are no problem. A document without a target
//! namespace takes that of the including schema, so it is read once for each such namespace.

use std::collections::VecDeque;
use std::sync::Arc;

use foldhash::{HashSet, HashSetExt as _};
use roxmltree::Node;

use crate::components::{SchemaSet, Strictness};
use crate::document::{Document, Documents, LoadLimits, Position, place_of, place_of_value};
use crate::loader::{LoadError, Loader, Source, may_refer, resolve_location};
use crate::name::{
    WSDL_NAMESPACE, XML_NAMESPACE, XSD_NAMESPACE, draft_of, is_schema, is_schema_namespace,
};
use crate::names::Names;
use crate::work::Work;
use crate::{Error, ErrorKind, Result};

use super::read::{Redefinition, SchemaReader};

/// Reads schema documents and all they refer to; [`finish`](Self::finish) returns the [`SchemaSet`].
///
/// ```
/// use bsoap_schema::{LoadLimits, MemoryLoader, SchemaSetBuilder, Strictness};
///
/// let mut loader = MemoryLoader::default();
/// loader.add("a.xsd", r#"<schema xmlns="http://www.w3.org/2001/XMLSchema"><element name="n" type="int"/></schema>"#);
/// let mut builder = SchemaSetBuilder::new(&loader, LoadLimits::default(), Strictness::Lenient);
/// builder.add_location("a.xsd")?;
/// let schemas = builder.finish()?;
/// assert_eq!(schemas.global_elements().count(), 1);
/// # Ok::<(), bsoap_schema::Error>(())
/// ```
pub struct SchemaSetBuilder<'l> {
    loader: &'l dyn Loader,
    pub(super) set: SchemaSet,
    pub(super) names: Names,
    queue: VecDeque<DocumentRequest>,
    /// The schema elements read: document, byte offset, and the target namespace for which it was read.
    read: HashSet<(u32, usize, Arc<str>)>,
    /// The references to documents that were followed: a document that many refer to in one way is parsed once.
    followed: HashSet<(u32, Relation)>,
    bytes: usize,
    pub(super) redefinitions: Vec<Redefinition>,
    /// The target namespaces of the schemas read.
    targets: HashSet<Arc<str>>,
    /// The namespaces of references.
    pub(super) mentioned: HashSet<Arc<str>>,
    pub(super) errors: Vec<Error>,
}

/// The elements that XSD 1.1 adds. (XML Schema 1.1 Part 1 §G)
const NEW_IN_1_1: [&str; 6] = [
    "alternative",
    "assert",
    "assertion",
    "defaultOpenContent",
    "openContent",
    "override",
];

/// The units of work of reading a node of a schema: a component takes some hundred bytes.
const WORK_OF_NODE: usize = 3;

/// The most prefixes of a document that are declared for it: each takes another parse.
const MAX_UNDECLARED_PREFIXES: usize = 8;

/// A reference to a document.
struct DocumentRequest {
    location: String,
    relation: Relation,
    place: Position,
}

/// How a document refers to another.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Relation {
    /// `include` or `redefine`: the document has the same namespace, or none and then gets this one.
    Include(Arc<str>),
    /// `import` of another namespace.
    Import(Arc<str>),
}

impl<'l> SchemaSetBuilder<'l> {
    /// A builder without schemas.
    pub fn new(loader: &'l dyn Loader, limits: LoadLimits, strictness: Strictness) -> Self {
        Self {
            loader,
            set: SchemaSet {
                work: Work::new(limits.work),
                limits,
                strictness,
                ..SchemaSet::default()
            },
            names: Names::default(),
            queue: VecDeque::new(),
            read: HashSet::new(),
            followed: HashSet::new(),
            bytes: 0,
            redefinitions: Vec::new(),
            targets: HashSet::new(),
            mentioned: HashSet::new(),
            errors: Vec::new(),
        }
    }

    /// The documents loaded so far.
    pub fn documents(&self) -> &Documents {
        &self.set.documents
    }

    /// The components read so far, and the names of all documents.
    pub(crate) fn set_and_names(&mut self) -> (&SchemaSet, &mut Names) {
        (&self.set, &mut self.names)
    }

    /// The limits of this load.
    pub fn limits(&self) -> &LoadLimits {
        &self.set.limits
    }

    /// Parses a loaded document within the limits and the budget of this load.
    ///
    /// # Errors
    /// As [`Document::parse`].
    pub(crate) fn parse<'d>(&self, document: &'d Document) -> Result<roxmltree::Document<'d>> {
        document.parse_within(&self.set.limits, &self.set.work)
    }

    /// Replaces a document that uses prefixes without declaring them by one that declares them, with a warning for each, unless
    /// loading is strict. What has such a prefix is then in no known namespace, and so ignored, but for elements of XML Schema.
    ///
    /// # Errors
    /// The given error if it is another one, or what else is wrong.
    pub(crate) fn declare_prefixes(
        &mut self,
        number: u32,
        mut error: Error,
    ) -> Result<Arc<Document>> {
        for _ in 0..MAX_UNDECLARED_PREFIXES {
            let ErrorKind::UndeclaredPrefix { prefix, .. } = error.kind() else {
                break;
            };
            let document = self.set.documents.document(number);
            let declaring = document.and_then(|document| document.declaring(prefix));
            let Some(declaring) = declaring.filter(|_| !self.is_strict()).map(Arc::new) else {
                break;
            };
            let parsed = self.parse(&declaring).map(drop);
            self.set.documents.replace(number, Arc::clone(&declaring));
            self.set.warnings.push(error);
            match parsed {
                Ok(()) => return Ok(declaring),
                Err(next) => error = next,
            }
        }
        Err(error)
    }

    /// Loads the document at a resolved location, unless it is loaded already, and returns its number. The document
    /// is not read as a schema; WSDL documents are loaded in this way too.
    ///
    /// # Errors
    /// If it cannot be loaded, or a limit is exceeded.
    pub fn load_document(&mut self, location: &str) -> Result<u32> {
        // `a/../b.xsd` and `b.xsd` are the same document.
        let location = resolve_location("", location);
        let location = location.as_str();
        if let Some(number) = self.set.documents.at_location(location) {
            return Ok(number);
        }
        let source = self
            .loader
            .load(location)
            .map_err(|error| load_error(location, &error))?;
        self.adopt(location, source)
    }

    /// Reads the schema document at a location and all it refers to.
    ///
    /// # Errors
    /// If it cannot be loaded or read.
    pub fn add_location(&mut self, location: &str) -> Result<()> {
        let number = self.load_document(location)?;
        self.read_document(number, None)?;
        self.drain()
    }

    /// Reads a schema element of a loaded document (a WSDL) and all documents it refers to.
    ///
    /// # Errors
    /// If a limit is exceeded or, in strict loading, a rule is broken.
    pub fn add_schema(&mut self, document: u32, schema: Node<'_, '_>) -> Result<()> {
        self.read_schema(document, schema, None)?;
        self.drain()
    }

    /// The components of all schemas read, with redefinitions applied.
    ///
    /// # Errors
    /// If a limit is exceeded, or, in strict loading, the first error.
    pub fn finish(mut self) -> Result<SchemaSet> {
        self.load_mentioned()?;
        self.redefine();
        super::depth::check(&self.set)?;
        if self.is_strict() && self.errors.is_empty() {
            self.errors = super::check::check(&self.set);
        }
        if self.set.strictness == Strictness::Strict && !self.errors.is_empty() {
            return Err(self.errors.swap_remove(0));
        }
        self.set.warnings.append(&mut self.errors);
        Ok(self.set)
    }

    fn adopt(&mut self, location: &str, source: Source) -> Result<u32> {
        let limits = &self.set.limits;
        let documents = &mut self.set.documents;
        if let Some(number) = documents.at_location(&source.location) {
            documents.answer_location(location.to_owned(), number);
            return Ok(number);
        }
        self.bytes = self.bytes.saturating_add(source.bytes.len());
        if self.bytes > limits.bytes {
            return Err(ErrorKind::Limit {
                name: "bytes",
                limit: limits.bytes as u64,
            }
            .into());
        }
        if self.set.documents.iter().len() >= limits.documents {
            return Err(ErrorKind::Limit {
                name: "documents",
                limit: limits.documents as u64,
            }
            .into());
        }
        let document = Document::new(source.location.clone(), &source.bytes)?;
        let documents = &mut self.set.documents;
        let number = documents.add(Arc::new(document));
        documents.answer_location(location.to_owned(), number);
        documents.answer_location(source.location, number);
        Ok(number)
    }

    /// Adds the document that the loader returned for a namespace.
    fn adopt_for(&mut self, namespace: &str, location: &str, source: Source) -> Result<u32> {
        let number = self.adopt(location, source)?;
        let documents = &mut self.set.documents;
        documents.answer_namespace(namespace.to_owned(), number);
        Ok(number)
    }

    fn drain(&mut self) -> Result<()> {
        while let Some(request) = self.queue.pop_front() {
            self.follow(request)?;
        }
        Ok(())
    }

    /// Reads a document that another refers to. If it cannot be loaded, that is a warning; undefined components will be errors.
    fn follow(&mut self, request: DocumentRequest) -> Result<()> {
        let error = match self.obtain(&request) {
            Ok(number) => {
                let is_new = self.followed.insert((number, request.relation.clone()));
                return match is_new {
                    true => self.read_document(number, Some((&request.relation, request.place))),
                    false => Ok(()),
                };
            }
            Err(error) => error,
        };
        let place = self.set.documents.spell(request.place);
        if is_limit(&error) {
            return Err(error.at(place));
        }
        let (Relation::Import(namespace) | Relation::Include(namespace)) = request.relation;
        if let ErrorKind::Load { .. } = error.kind() {
            self.set
                .unloaded
                .entry(namespace)
                .or_insert_with(|| error.kind().to_string());
        }
        self.set.warnings.push(error.at(place));
        Ok(())
    }

    fn obtain(&mut self, request: &DocumentRequest) -> Result<u32> {
        let error = match self.load_document(&request.location) {
            Err(error) if !is_limit(&error) => error,
            done => return done,
        };
        let Relation::Import(namespace) = &request.relation else {
            return Err(error);
        };
        match self.loader.load_namespace(namespace) {
            Some(source) => self.adopt_for(namespace, &request.location, source),
            None => Err(error),
        }
    }

    fn read_document(
        &mut self,
        number: u32,
        relation: Option<(&Relation, Position)>,
    ) -> Result<()> {
        let Some(document) = self.set.documents.document(number).cloned() else {
            return Ok(());
        };
        let declaring;
        let parsed = match self.parse(&document) {
            Ok(tree) => Ok(tree),
            Err(error) => match self.declare_prefixes(number, error) {
                Ok(document) => {
                    declaring = document;
                    self.parse(&declaring)
                }
                Err(error) => Err(error),
            },
        };
        let tree = match parsed {
            Ok(tree) => tree,
            Err(error) if is_limit(&error) || relation.is_none() || self.is_strict() => {
                return Err(error);
            }
            Err(error) => {
                self.set.warnings.push(error);
                return Ok(());
            }
        };
        let root = tree.root_element();
        if is_schema(root) {
            return self.read_schema(number, root, relation);
        }
        if root.has_tag_name((WSDL_NAMESPACE, "definitions"))
            && relation.is_some()
            && !self.is_strict()
        {
            for schema in root.descendants().filter(|node| is_schema(*node)) {
                self.read_schema(number, schema, None)?;
            }
            return Ok(());
        }
        let found = format!("<{}>", root.tag_name().name());
        let error = Error::new(ErrorKind::Root {
            expected: "<schema> of XML Schema",
            found,
        })
        .at(self.set.documents.spell(place_of(number, root)));
        if relation.is_none() || self.is_strict() {
            return Err(error);
        }
        self.set.warnings.push(error);
        Ok(())
    }

    fn is_strict(&self) -> bool {
        self.set.strictness == Strictness::Strict
    }

    fn read_schema(
        &mut self,
        document: u32,
        schema: Node<'_, '_>,
        relation: Option<(&Relation, Position)>,
    ) -> Result<()> {
        let own = schema.attribute("targetNamespace").map(str::trim);
        let target = match relation {
            Some((Relation::Include(namespace), _)) if own.is_none() => namespace.clone(),
            _ => self.names.intern(own.unwrap_or("")),
        };
        if let Some((relation, place)) = relation {
            self.check_target(relation, own, place);
        }
        if !self
            .read
            .insert((document, schema.range().start, target.clone()))
        {
            return Ok(());
        }
        self.targets.insert(target.clone());
        let place = place_of(document, schema);
        let nodes = schema.descendants().count();
        self.set.charge(WORK_OF_NODE * nodes, place)?;
        if let Some(draft) = schema.tag_name().namespace().and_then(draft_of) {
            let error = Error::new(ErrorKind::Draft { draft });
            self.errors.push(error.at(self.set.documents.spell(place)));
        }
        self.report_unsupported(document, schema);
        self.report_without_namespace(document, schema);
        let is_chameleon = own.is_none() && !target.is_empty();
        self.follow_references(document, schema, &target)?;
        if self.is_strict() {
            let errors = super::grammar::check(&self.set.documents, document, schema);
            self.errors.extend(errors);
        }
        SchemaReader::new(self, document, schema, target, is_chameleon).read(schema)
    }

    /// Reports the first component of a schema that is in no namespace.
    fn report_without_namespace(&mut self, document: u32, schema: Node<'_, '_>) {
        let mut components = schema.children().filter(Node::is_element);
        let Some(node) = components.find(|it| it.tag_name().namespace().is_none()) else {
            return;
        };
        let problem = format!(
            "<{}> is in no namespace; it is read as an element of XML Schema",
            node.tag_name().name()
        );
        let kind = ErrorKind::Rule {
            rule: "XML Schema Part 1 §3.15",
            problem,
        };
        let place = self.set.documents.spell(place_of(document, node));
        self.errors.push(Error::new(kind).at(place));
    }

    /// Names the constructs of XSD 1.1 in a schema. They have no effect.
    fn report_unsupported(&mut self, document: u32, schema: Node<'_, '_>) {
        for node in schema.descendants().filter(Node::is_element) {
            let name = node.tag_name().name();
            if node.tag_name().namespace() != Some(XSD_NAMESPACE) || !NEW_IN_1_1.contains(&name) {
                continue;
            }
            let problem = format!(
                "xs:{name} is a construct of XSD 1.1, only XSD 1.0 is known; it is ignored"
            );
            let place = self.set.documents.spell(place_of(document, node));
            self.errors
                .push(Error::new(ErrorKind::Unsupported(problem)).at(place));
        }
    }

    /// An included document must have the same namespace or none, an imported document the namespace of the import.
    /// (src-include.2, src-import.3)
    fn check_target(&mut self, relation: &Relation, own: Option<&str>, place: Position) {
        let (rule, problem) = match relation {
            Relation::Include(namespace) if own.is_some_and(|own| own != &**namespace) => (
                "src-include.2",
                format!(
                    "the included document has the target namespace {:?}, expected {namespace:?}",
                    own.unwrap_or("")
                ),
            ),
            Relation::Import(namespace) if own.unwrap_or("") != &**namespace => (
                "src-import.3",
                format!(
                    "the imported document has the target namespace {:?}, expected {namespace:?}",
                    own.unwrap_or("")
                ),
            ),
            _ => return,
        };
        let error = self.set.broken(rule, problem, place);
        self.errors.push(error);
    }

    /// Queues the documents that the schema includes, imports and redefines.
    ///
    /// # Errors
    /// If the budget of loading is used up: each reference is found by its namespace, which may be long.
    fn follow_references(
        &mut self,
        document: u32,
        schema: Node<'_, '_>,
        target: &Arc<str>,
    ) -> Result<()> {
        let base = self
            .set
            .documents
            .document(document)
            .map(|document| document.location().to_owned())
            .unwrap_or_default();
        for node in schema.children().filter(Node::is_element) {
            if !node.tag_name().namespace().is_some_and(is_schema_namespace) {
                continue;
            }
            let place = place_of_value(document, node, "schemaLocation");
            let relation = match node.tag_name().name() {
                "include" | "redefine" => Relation::Include(self.names.intern(target)),
                "import" => Relation::Import(
                    self.names
                        .intern(node.attribute("namespace").unwrap_or("").trim()),
                ),
                _ => continue,
            };
            self.charge_names(place)?;
            let Some(location) = node.attribute("schemaLocation") else {
                if let Relation::Import(namespace) = relation {
                    self.mentioned.insert(namespace);
                }
                continue;
            };
            if matches!(&relation, Relation::Import(namespace) if is_schema_namespace(namespace)) {
                self.mentioned.insert(XSD_NAMESPACE.into());
                continue;
            }
            let location = resolve_location(&base, location);
            if !may_refer(&base, &location) {
                let reason =
                    "a document from the network must not refer to a local file".to_owned();
                let error = Error::new(ErrorKind::Load { location, reason })
                    .at(self.set.documents.spell(place));
                self.set.warnings.push(error);
                continue;
            }
            self.queue.push_back(DocumentRequest {
                location,
                relation,
                place,
            });
        }
        Ok(())
    }

    /// Charges the look-ups of long names to the budget of loading.
    ///
    /// # Errors
    /// If it is used up.
    pub(super) fn charge_names(&mut self, place: Position) -> Result<()> {
        match self.names.take_work() {
            0 => Ok(()),
            units => self.set.charge(units, place),
        }
    }

    /// Loads schemas for namespaces that are used, or imported without a location.
    fn load_mentioned(&mut self) -> Result<()> {
        loop {
            let mut missing: Vec<Arc<str>> =
                self.mentioned.difference(&self.targets).cloned().collect();
            missing.retain(|namespace| !namespace.is_empty());
            if missing.is_empty() {
                return Ok(());
            }
            missing.sort();
            for namespace in missing {
                self.targets.insert(namespace.clone());
                let Some(source) = self.loader.load_namespace(&namespace) else {
                    continue;
                };
                let location = source.location.clone();
                let number = self.adopt_for(&namespace, &location, source)?;
                self.read_document(number, None)?;
                self.drain()?;
            }
        }
    }

    /// Records that a reference needs a schema for this namespace, unless it is that of XML Schema.
    pub(crate) fn mention(&mut self, namespace: &Arc<str>) {
        if &**namespace != XSD_NAMESPACE && !self.mentioned.contains(namespace) {
            self.mentioned.insert(namespace.clone());
        }
    }

    /// The same for references to elements: XML Schema's own namespace has one (`xs:schema`).
    pub(super) fn mention_component(&mut self, namespace: &Arc<str>) {
        self.mentioned.insert(namespace.clone());
    }

    /// Whether a document may refer to a namespace without importing it.
    pub(super) fn needs_no_import(namespace: &str) -> bool {
        matches!(namespace, XSD_NAMESPACE | XML_NAMESPACE)
    }
}

impl std::fmt::Debug for SchemaSetBuilder<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SchemaSetBuilder")
            .field("documents", &self.documents().iter().len())
            .finish_non_exhaustive()
    }
}

fn is_limit(error: &Error) -> bool {
    matches!(error.kind(), ErrorKind::Limit { .. })
}

fn load_error(location: &str, error: &LoadError) -> Error {
    ErrorKind::Load {
        location: location.to_owned(),
        reason: error.to_string(),
    }
    .into()
}
