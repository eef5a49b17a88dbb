//! WSDLs of many origins: those that zeep loads load here too and offer the same, so do those of toolkits that zeep does not
//! load, and what is broken is refused.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use bsoap_schema::{
    CatalogueLoader, Chain, Definitions, Document, Error, ErrorKind, FileLoader, LoadLimits,
    LoadOptions, Loader, Strictness, WellKnown, load,
};
use bsoap_xml::{Options, Reader};

use crate::known::{Outcome, Score};

/// A line of `wsdl_index.tsv`: a WSDL and what zeep makes of it.
#[derive(Debug)]
struct Entry {
    file: String,
    zeep_loads: bool,
    services: usize,
    operations: usize,
}

/// The corpus and how its documents refer to one another.
#[derive(Debug)]
pub struct Wsdls {
    root: PathBuf,
    urls: Vec<(String, PathBuf)>,
    entries: Vec<Entry>,
    not_well_formed: HashSet<String>,
}

impl Wsdls {
    /// Reads the lists of the corpus.
    ///
    /// # Panics
    /// If one is missing: the corpus has them.
    pub fn new(root: &Path) -> Self {
        let text = |name: &str| {
            std::fs::read_to_string(root.join(name)).expect("the corpus has its lists")
        };
        let map: HashMap<String, String> =
            serde_json::from_str(&text("wellknown-schemas/map.json")).expect("the map is JSON");
        let file = |name: String| root.join("wellknown-schemas").join(name);
        let entry = |line: &str| {
            let mut cells = line.split('\t');
            let mut next = || cells.next().unwrap_or_default();
            let (file, _bytes, load) = (next().to_owned(), next(), next());
            let number = |cell: &str| cell.parse().unwrap_or(0);
            Entry {
                file,
                zeep_loads: load == "ok",
                services: number(next()),
                operations: number(next()),
            }
        };
        let broken = text("NOT_WELL_FORMED.tsv");
        Self {
            root: root.to_owned(),
            urls: map
                .into_iter()
                .map(|(url, name)| (url, file(name)))
                .collect(),
            entries: text("wsdl_index.tsv").lines().skip(1).map(entry).collect(),
            not_well_formed: broken
                .lines()
                .filter(|line| !line.starts_with('#'))
                .filter_map(|line| line.split('\t').next())
                .map(str::to_owned)
                .collect(),
        }
    }

    fn loader(&self) -> impl Loader {
        Chain::new()
            .then(CatalogueLoader::new(self.urls.clone()))
            .then(FileLoader::anywhere())
            .then(WellKnown)
    }

    /// Loads a file of the corpus.
    ///
    /// # Errors
    /// As [`load`].
    pub fn load(&self, file: &str, strictness: Strictness) -> Result<Definitions, Error> {
        let mut options = LoadOptions::default();
        options.strictness = strictness;
        load(
            &self.root.join(file).to_string_lossy(),
            &self.loader(),
            &options,
        )
    }

    /// All WSDLs that load, each with its file.
    pub fn all(&self) -> impl Iterator<Item = (&str, Definitions)> {
        self.entries.iter().filter_map(|entry| {
            let loaded = self.load(&entry.file, Strictness::Lenient);
            Some((entry.file.as_str(), loaded.ok()?))
        })
    }

    /// What zeep loads, loads, with as many services and operations.
    pub fn like_zeep(&self) -> Score {
        let mut score = Score::new("wsdl-index");
        for entry in self.entries.iter().filter(|entry| entry.zeep_loads) {
            let outcome = match self.load(&entry.file, Strictness::Lenient) {
                Ok(definitions) => self.compare(entry, &definitions),
                Err(error) => Outcome::Fail(self.shortened(&error)),
            };
            score.record(&entry.file, outcome);
        }
        score
    }

    /// What toolkits have as their tests and examples loads, also where zeep refuses it.
    pub fn of_toolkits(&self) -> Score {
        let mut score = Score::new("wsdl-toolkits");
        for entry in self.entries.iter().filter(|entry| !entry.zeep_loads) {
            let outcome = if self.not_well_formed.contains(&entry.file) {
                Outcome::Skip("not well-formed")
            } else {
                match self.load(&entry.file, Strictness::Lenient) {
                    Ok(_) => Outcome::Pass,
                    Err(error) if is_missing_document(&error) => {
                        Outcome::Skip("needs a document that is not in the corpus")
                    }
                    Err(error) => Outcome::Fail(self.shortened(&error)),
                }
            };
            score.record(&entry.file, outcome);
        }
        score
    }

    /// What is not well-formed is refused; so is what its origin calls bad.
    pub fn refused(&self) -> Score {
        let mut score = Score::new("wsdl-refused");
        for file in &self.not_well_formed {
            let is_schema = Path::new(file)
                .extension()
                .is_some_and(|extension| extension == "wsdl" || extension == "xsd");
            let refused = if is_schema {
                self.is_refused_schema(file)
            } else {
                self.is_refused_message(file)
            };
            score.record(file, must(refused));
        }
        let bad = "node-soap/wsdl/bad2.txt";
        score.record(bad, must(self.load(bad, Strictness::Lenient).is_err()));
        for file in CXF_REFUSES {
            let file = format!("cxf/tools/validator/src/test/resources/validator_wsdl/{file}.wsdl");
            score.record(&file, must(self.load(&file, Strictness::Strict).is_err()));
        }
        score
    }

    fn is_refused_schema(&self, file: &str) -> bool {
        let Ok(bytes) = std::fs::read(self.root.join(file)) else {
            return false;
        };
        Document::new(file, &bytes).is_err_and(|_| true)
            || Document::new(file, &bytes)
                .is_ok_and(|document| document.parse(&LoadLimits::default()).is_err())
    }

    fn is_refused_message(&self, file: &str) -> bool {
        let Ok(bytes) = std::fs::read(self.root.join(file)) else {
            return false;
        };
        let mut reader = Reader::new(Options::default(), Arc::default());
        if reader.feed(&bytes).and_then(|()| reader.finish()).is_err() {
            return true;
        }
        loop {
            match reader.next() {
                Ok(Some(_)) => {}
                Ok(None) => return false,
                Err(_) => return true,
            }
        }
    }

    fn compare(&self, entry: &Entry, definitions: &Definitions) -> Outcome {
        // zeep counts the operations of plain HTTP ports too, none of JMS ports, and an overloaded name once.
        let http = if entry_has_http(&self.root.join(&entry.file)) {
            1
        } else {
            0
        };
        let mut operations = 0;
        for (_, port) in definitions
            .ports()
            .filter(|(_, port)| is_http(&port.binding.transport))
        {
            let callable = port
                .binding
                .operations
                .iter()
                .map(|operation| &operation.name);
            let listed = port
                .binding
                .uncallable
                .iter()
                .map(|operation| &operation.name);
            operations += callable.chain(listed).collect::<BTreeSet<_>>().len();
        }
        let services = definitions.services().len();
        let same_operations =
            operations == entry.operations || (http > 0 && operations < entry.operations);
        if services != entry.services || !same_operations {
            return Outcome::Fail(format!(
                "{services} services with {operations} operations, zeep finds {} with {}",
                entry.services, entry.operations
            ));
        }
        Outcome::Pass
    }

    fn shortened(&self, error: &Error) -> String {
        error.to_string().replace(&*self.root.to_string_lossy(), "")
    }
}

/// What CXF's validator refuses, of what is here.
const CXF_REFUSES: [&str; 10] = [
    "bp2717",
    "doc_lit_bare",
    "header_rpc_lit_2203_in",
    "header_rpc_lit_2203_out",
    "hello_world_doc_lit_type",
    "hello_world_error_attribute",
    "hello_world_error_reference",
    "hello_world_mixed_style",
    "jms_test2",
    "soapheader",
];

fn must(refused: bool) -> Outcome {
    if refused {
        Outcome::Pass
    } else {
        Outcome::Fail("accepted".to_owned())
    }
}

fn is_missing_document(error: &Error) -> bool {
    match error.kind() {
        ErrorKind::Load { .. } => true,
        ErrorKind::Undefined { cause, .. } => cause.is_some(),
        _ => false,
    }
}

/// Any name under which HTTP is known as a transport of SOAP.
fn is_http(transport: &str) -> bool {
    HTTP_TRANSPORTS.contains(&transport)
}

const HTTP_TRANSPORTS: [&str; 3] = [
    "http://schemas.xmlsoap.org/soap/http",
    "http://www.w3.org/2003/05/soap/bindings/HTTP/",
    "http://schemas.xmlsoap.org/soap/http/",
];

fn entry_has_http(file: &Path) -> bool {
    std::fs::read_to_string(file)
        .is_ok_and(|text| text.contains("http://schemas.xmlsoap.org/wsdl/http/"))
}
