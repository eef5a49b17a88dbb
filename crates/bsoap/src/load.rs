//! Where a WSDL comes from: a file, a URL, text, or definitions loaded before.

use std::fmt;
use std::sync::Arc;

use bsoap_http::{Address, Client, ClientOptions};
use bsoap_schema::{
    Chain, Definitions, FileLoader, LoadError, LoadOptions, Loader, MemoryLoader, Source,
    WellKnown, load, without_credentials,
};

use crate::Error;
use crate::error::report;

/// A WSDL to load: a location (a path or a URL), the text itself, or [`Definitions`] loaded before.
///
/// A text is told from a location by its first character, `<`.
#[derive(Clone)]
pub enum Wsdl {
    /// A path, or a `file:`, `http:` or `https:` URL.
    Location(String),
    /// The document itself.
    Text(String),
    /// Loaded before.
    Loaded(Arc<Definitions>),
}

/// Shows neither the credentials in a location nor a whole document.
impl fmt::Debug for Wsdl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Location(location) => f
                .debug_tuple("Location")
                .field(&without_credentials(location))
                .finish(),
            Self::Text(text) => write!(f, "Text({} bytes)", text.len()),
            Self::Loaded(_) => f.write_str("Loaded"),
        }
    }
}

/// What may be fetched from the network while a WSDL is loaded.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Fetch {
    /// Nothing, unless the WSDL itself was asked for by URL; then whatever the documents refer to.
    #[default]
    AsAsked,
    /// Whatever the documents refer to.
    Anything,
}

impl Wsdl {
    /// Loads it with all it imports, and compiles it. This may take a while: files, or the network, are waited for.
    ///
    /// # Errors
    /// [`Error::Wsdl`].
    pub fn load(self, fetch: Fetch, transport: &ClientOptions) -> Result<Arc<Definitions>, Error> {
        const TEXT: &str = "service.wsdl";
        let (mut location, text) = match self {
            Self::Loaded(definitions) => return Ok(definitions),
            Self::Location(location) => (location, None),
            Self::Text(text) => (TEXT.to_owned(), Some(text)),
        };
        let mut chain = Chain::new();
        if let Some(text) = text {
            let mut memory = MemoryLoader::default();
            memory.add(TEXT, text);
            chain = chain.then(memory);
        }
        chain = chain.then(WellKnown).then(FileLoader::new());
        if fetch == Fetch::Anything || is_remote(&location) {
            let home = location.parse().ok();
            // Whoever says where a document came from says so without them.
            location = without_credentials(&location).into_owned();
            chain = chain.then(HttpLoader {
                options: transport.clone(),
                home,
            });
        }
        Ok(Arc::new(load(&location, &chain, &LoadOptions::default())?))
    }
}

fn is_remote(location: &str) -> bool {
    let scheme = location
        .split_once(':')
        .map(|(scheme, _)| scheme)
        .unwrap_or_default();
    scheme.eq_ignore_ascii_case("http") || scheme.eq_ignore_ascii_case("https")
}

impl From<&str> for Wsdl {
    fn from(text: &str) -> Self {
        text.to_owned().into()
    }
}

impl From<String> for Wsdl {
    fn from(text: String) -> Self {
        if text
            .trim_start_matches('\u{feff}')
            .trim_start()
            .starts_with('<')
        {
            Self::Text(text)
        } else {
            Self::Location(text)
        }
    }
}

impl From<&std::path::Path> for Wsdl {
    fn from(path: &std::path::Path) -> Self {
        Self::Location(path.to_string_lossy().into_owned())
    }
}

impl From<Arc<Definitions>> for Wsdl {
    fn from(definitions: Arc<Definitions>) -> Self {
        Self::Loaded(definitions)
    }
}

impl From<&Arc<Definitions>> for Wsdl {
    fn from(definitions: &Arc<Definitions>) -> Self {
        Self::Loaded(Arc::clone(definitions))
    }
}

/// Fetches documents over HTTP.
struct HttpLoader {
    options: ClientOptions,
    /// Where the WSDL itself came from. Only that origin gets the caller's credentials and headers.
    home: Option<Address>,
}

impl Loader for HttpLoader {
    fn load(&self, location: &str) -> Result<Source, LoadError> {
        if !is_remote(location) {
            return Err(LoadError::NotHere);
        }
        let failed = |error: &dyn std::error::Error| LoadError::Failed(report(error));
        let address: Address = location
            .parse()
            .map_err(|error: bsoap_http::Error| failed(&error))?;
        // Descriptions may lie behind a redirect; credentials do not follow it.
        let mut options = ClientOptions {
            redirects: self.options.redirects.max(5),
            ..self.options.clone()
        };
        match &self.home {
            // The documents it refers to may need the credentials that stood in its address.
            Some(home) if home.is_same_origin(&address) => {
                options.credentials = home.credentials().cloned().or(options.credentials);
            }
            _ => {
                options.credentials = None;
                options.headers.clear();
            }
        }
        // A thread of its own, because the caller may be inside a runtime, where waiting is not allowed.
        let fetched = std::thread::scope(|scope| {
            let fetching = scope.spawn(|| {
                let runtime = tokio::runtime::Builder::new_current_thread()
                    .enable_all()
                    .build();
                let runtime = runtime.map_err(|error| failed(&error))?;
                let client = Client::new(options).map_err(|error| failed(&error))?;
                runtime
                    .block_on(client.get(&address))
                    .map_err(|error| failed(&error))
            });
            fetching
                .join()
                .unwrap_or_else(|_| Err(LoadError::Failed("fetching it failed".into())))
        })?;
        if !fetched.status.is_success() {
            return Err(LoadError::Failed(format!(
                "the server answered {}",
                fetched.status
            )));
        }
        // Relative references are meant from where redirects led. (RFC 3986 §5.1.3)
        let is_here = fetched.address.as_str() == address.as_str();
        Ok(Source {
            location: if is_here {
                location.to_owned()
            } else {
                fetched.address.to_string()
            },
            bytes: fetched.body.to_vec(),
        })
    }
}
