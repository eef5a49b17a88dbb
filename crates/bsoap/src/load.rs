//! The source of a WSDL: a file, a URL, a text, documents in memory, or definitions loaded before.

use std::borrow::Cow;
use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

#[cfg(feature = "client")]
use bsoap_http::ClientOptions;
use bsoap_schema::{
    Chain, Definitions, FileLoader, LoadLimits, LoadOptions, Loader, MappedLoader, MemoryLoader,
    WellKnown, load, without_credentials,
};

use crate::Error;
#[cfg(feature = "client")]
use remote::HttpLoader;

#[cfg(feature = "client")]
mod remote;

/// A WSDL to load: a location (a path or a URL), the text itself, or [`Definitions`] loaded before.
///
/// A string that begins with `<` is the text of a WSDL, any other string is a location.
///
/// ```
/// use bsoap::{Fetch, Wsdl};
///
/// let text = include_str!("../../../examples/mesh/mesh.wsdl");
/// assert!(matches!(Wsdl::from(text), Wsdl::Text(_)));
/// assert!(matches!(Wsdl::from("https://mesh.local/service?wsdl"), Wsdl::Location(_)));
///
/// // Loaded once for several clients and services.
/// let definitions = Wsdl::from(text).load(Fetch::AsAsked)?;
/// assert!(definitions.element("urn:bsoap:mesh", "sumDoubles").is_some());
/// assert!(matches!(Wsdl::from(&definitions), Wsdl::Loaded(_)));
/// # Ok::<(), bsoap::Error>(())
/// ```
#[derive(Clone)]
#[non_exhaustive]
pub enum Wsdl {
    /// A path, or a `file:`, `http:` or `https:` URL.
    Location(String),
    /// The text of the WSDL.
    Text(String),
    /// The WSDL with all documents it refers to, each with its location; the WSDL is the first.
    Bundle(Vec<(Cow<'static, str>, Cow<'static, str>)>),
    /// Definitions that were loaded before.
    Loaded(Arc<Definitions>),
    /// A WSDL with options of loading it.
    Configured {
        /// The WSDL.
        wsdl: Box<Wsdl>,
        /// The folders that it may import files from besides its own.
        folders: Vec<PathBuf>,
        /// The limits of loading, if they are not the default ones.
        limits: Option<LoadLimits>,
        /// The URLs that are read from files instead, by their prefix.
        map: Vec<(String, PathBuf)>,
    },
}

/// Shows neither the credentials in a location nor the text of a WSDL.
impl fmt::Debug for Wsdl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Location(location) => f
                .debug_tuple("Location")
                .field(&without_credentials(location))
                .finish(),
            Self::Text(text) => write!(f, "Text({} bytes)", text.len()),
            Self::Bundle(documents) => write!(f, "Bundle({} documents)", documents.len()),
            Self::Loaded(_) => f.write_str("Loaded"),
            Self::Configured {
                wsdl,
                folders,
                limits,
                map,
            } => f
                .debug_struct("Configured")
                .field("wsdl", wsdl)
                .field("folders", folders)
                .field("limits", limits)
                .field("map", map)
                .finish(),
        }
    }
}

/// The documents that may be fetched from the network while a WSDL is loaded.
///
/// ```
/// use bsoap::{Fetch, Wsdl};
///
/// let wsdl = r#"<definitions xmlns="http://schemas.xmlsoap.org/wsdl/">
///   <import namespace="urn:shop" location="http://shop.example/types.wsdl"/>
/// </definitions>"#;
/// // A text does not lead to the network, unless that is allowed with `Fetch::Anything`.
/// assert!(Wsdl::from(wsdl).load(Fetch::AsAsked).is_err());
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Fetch {
    /// No document if the WSDL itself is a file or a text; all documents that it refers to if its location is a URL.
    #[default]
    AsAsked,
    /// All documents that the WSDL refers to.
    Anything,
}

/// The options of loading a WSDL.
#[derive(Default)]
struct Configuration {
    /// The folders that it may import from besides its own.
    folders: Vec<PathBuf>,
    limits: Option<LoadLimits>,
    map: Vec<(String, PathBuf)>,
}

impl Wsdl {
    /// A WSDL with all documents it refers to, each with its location, by which they refer to one another; the WSDL is the
    /// first. No files are read, and nothing is fetched. Code generated with embedded documents has a function that returns it.
    ///
    /// ```
    /// use bsoap::{Fetch, Wsdl};
    ///
    /// let wsdl = Wsdl::bundle([("mesh.wsdl", include_str!("../../../examples/mesh/mesh.wsdl"))]);
    /// let definitions = wsdl.load(Fetch::AsAsked)?;
    /// assert_eq!(definitions.documents()[0].location(), "mesh.wsdl");
    /// # Ok::<(), bsoap::Error>(())
    /// ```
    pub fn bundle<L, T>(documents: impl IntoIterator<Item = (L, T)>) -> Self
    where
        L: Into<Cow<'static, str>>,
        T: Into<Cow<'static, str>>,
    {
        let documents = documents.into_iter();
        Self::Bundle(
            documents
                .map(|(location, text)| (location.into(), text.into()))
                .collect(),
        )
    }

    /// The same WSDL, which may also import files from this folder and those below it.
    ///
    /// Without it, a WSDL from a file may import the files in its own folder and below; a WSDL given as text may import none.
    /// So a WSDL from elsewhere leads to no other file of this machine, by `..`, by an absolute path or by a symbolic link.
    ///
    /// ```
    /// use bsoap::{Fetch, Wsdl};
    ///
    /// # let root = std::env::temp_dir().join(format!("bsoap-allow-{}", std::process::id()));
    /// # for folder in ["wsdl", "xsd"] { std::fs::create_dir_all(root.join(folder))?; }
    /// # std::fs::write(root.join("xsd/types.xsd"), r#"<schema xmlns="http://www.w3.org/2001/XMLSchema" targetNamespace="urn:t"/>"#)?;
    /// # std::fs::write(root.join("wsdl/shop.wsdl"), r#"<definitions xmlns="http://schemas.xmlsoap.org/wsdl/">
    /// #   <import namespace="urn:t" location="../xsd/types.xsd"/></definitions>"#)?;
    /// let wsdl = Wsdl::from(&*root.join("wsdl/shop.wsdl")); // imports ../xsd/types.xsd
    /// assert!(wsdl.clone().load(Fetch::AsAsked).is_err());
    /// assert!(wsdl.allow_imports_from(root.join("xsd")).load(Fetch::AsAsked).is_ok());
    /// # std::fs::remove_dir_all(root)?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn allow_imports_from(self, folder: impl Into<PathBuf>) -> Self {
        self.configured(|options| options.folders.push(folder.into()))
    }

    /// The same WSDL, for which a URL is read from this file, or all URLs that begin with it from this folder and those below
    /// it. It applies to the WSDL and to all documents it refers to, also if nothing is fetched from the network. Of several
    /// prefixes that fit, the longest decides. It has no effect on [`Loaded`](Self::Loaded) definitions and on bundles.
    ///
    /// ```
    /// use bsoap::{Fetch, Wsdl};
    ///
    /// # let folder = std::env::temp_dir().join(format!("bsoap-map-{}", std::process::id()));
    /// # std::fs::create_dir_all(&folder)?;
    /// # std::fs::write(folder.join("types.xsd"), r#"<schema xmlns="http://www.w3.org/2001/XMLSchema" targetNamespace="urn:t"/>"#)?;
    /// let text = r#"<definitions xmlns="http://schemas.xmlsoap.org/wsdl/">
    ///   <import namespace="urn:t" location="http://shop.example/schemas/types.xsd"/></definitions>"#;
    /// assert!(Wsdl::from(text).load(Fetch::AsAsked).is_err());
    /// let mapped = Wsdl::from(text).map("http://shop.example/schemas", &folder); // has types.xsd
    /// assert_eq!(mapped.load(Fetch::AsAsked)?.documents().len(), 2);
    /// # std::fs::remove_dir_all(folder)?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn map(self, url_prefix: impl Into<String>, file_or_folder: impl Into<PathBuf>) -> Self {
        let entry = (url_prefix.into(), file_or_folder.into());
        self.configured(|options| options.map.push(entry))
    }

    /// The same WSDL, loaded with these limits instead of the default ones. They have no effect on [`Loaded`](Self::Loaded)
    /// definitions.
    ///
    /// ```
    /// use bsoap::schema::LoadLimits;
    /// use bsoap::{Client, Wsdl};
    ///
    /// let mut limits = LoadLimits::default();
    /// limits.bytes = 1_000;
    /// let wsdl = Wsdl::from(include_str!("../../../examples/mesh/mesh.wsdl")).limits(limits);
    /// let error = Client::builder(wsdl).build().unwrap_err();
    /// assert!(error.report().contains("the load limit `bytes` (1000) is exceeded"));
    /// ```
    #[must_use]
    pub fn limits(self, limits: LoadLimits) -> Self {
        self.configured(|options| options.limits = Some(limits))
    }

    /// The same WSDL with changed options.
    fn configured(self, change: impl FnOnce(&mut Configuration)) -> Self {
        let (wsdl, mut options) = self.split();
        change(&mut options);
        let Configuration {
            folders,
            limits,
            map,
        } = options;
        Self::Configured {
            wsdl: Box::new(wsdl),
            folders,
            limits,
            map,
        }
    }

    /// The WSDL itself and the options of loading it.
    fn split(self) -> (Self, Configuration) {
        match self {
            Self::Configured {
                wsdl,
                folders,
                limits,
                map,
            } => {
                let (wsdl, mut inner) = wsdl.split();
                inner.folders.extend(folders);
                inner.limits = limits.or(inner.limits);
                inner.map.extend(map);
                (wsdl, inner)
            }
            wsdl => (wsdl, Configuration::default()),
        }
    }

    /// The location, if it has one.
    #[cfg(not(feature = "client"))]
    fn location(&self) -> Option<&str> {
        match self {
            Self::Location(location) => Some(location),
            Self::Configured { wsdl, .. } => wsdl.location(),
            _ => None,
        }
    }

    /// Loads the WSDL with its imports, and compiles it. It reads files or the network, and blocks until this is done.
    ///
    /// # Errors
    /// [`Error::Wsdl`] if the WSDL cannot be loaded, [`Error::Setup`] if loading it needs the feature `client`.
    pub fn load(self, fetch: Fetch) -> Result<Arc<Definitions>, Error> {
        #[cfg(feature = "client")]
        return self.load_with(fetch, &ClientOptions::default());
        #[cfg(not(feature = "client"))]
        match self.location() {
            Some(location) if is_remote(location) => Err(Error::Setup(format!(
                "cannot fetch {}: this build leaves out the feature `client`",
                without_credentials(location)
            ))),
            _ if fetch == Fetch::Anything => Err(Error::Setup(
                "cannot fetch from the network: this build leaves out the feature `client`".into(),
            )),
            _ => self.load_from(|_| None::<WellKnown>),
        }
    }

    /// Loads the WSDL as [`load`](Self::load) does, with these options for HTTP.
    ///
    /// ```no_run
    /// use bsoap::http::{ClientOptions, Roots};
    /// use bsoap::{Fetch, Wsdl};
    ///
    /// let mut options = ClientOptions::default();
    /// options.roots = Roots::SystemAnd(std::fs::read("camera.pem")?);
    /// let definitions = Wsdl::from("https://camera.local/service?wsdl").load_with(Fetch::AsAsked, &options)?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// As [`load`](Self::load).
    #[cfg(feature = "client")]
    pub fn load_with(
        self,
        fetch: Fetch,
        transport: &ClientOptions,
    ) -> Result<Arc<Definitions>, Error> {
        self.load_from(|location| {
            let may_fetch = fetch == Fetch::Anything || is_remote(location);
            may_fetch.then(|| HttpLoader {
                options: transport.clone(),
                home: location.parse().ok(),
            })
        })
    }

    /// Loads the WSDL. `remote` loads the documents that are neither files nor built in.
    fn load_from<L: Loader + 'static>(
        self,
        remote: impl FnOnce(&str) -> Option<L>,
    ) -> Result<Arc<Definitions>, Error> {
        const TEXT: &str = "service.wsdl";
        let (wsdl, configuration) = self.split();
        let mut options = LoadOptions::default();
        options.limits = configuration.limits.unwrap_or_default();
        let mut mapped = MappedLoader::default();
        for (prefix, path) in configuration.map {
            mapped.add(prefix, path);
        }
        let mut chain = Chain::new().then(mapped);
        let (mut location, files) = match wsdl {
            Self::Loaded(definitions) => return Ok(definitions),
            Self::Bundle(documents) => return load_bundle(&documents, &options),
            Self::Location(location) => {
                let files = FileLoader::beside(&location);
                (location, files)
            }
            Self::Text(text) => {
                let mut memory = MemoryLoader::default();
                memory.add(TEXT, text);
                chain = chain.then(memory);
                (TEXT.to_owned(), FileLoader::nowhere())
            }
            // It was split.
            Self::Configured { .. } => return Err(Error::Setup("there is no WSDL".into())),
        };
        let folders = configuration.folders.iter();
        let files = folders.fold(files, FileLoader::allow_imports_from);
        chain = chain.then(WellKnown).then(files);
        if let Some(remote) = remote(&location) {
            // Error messages and published documents contain the location: they must not show credentials.
            location = without_credentials(&location).into_owned();
            chain = chain.then(remote);
        }
        Ok(Arc::new(load(&location, &chain, &options)?))
    }
}

/// Loads documents in memory, and nothing else.
fn load_bundle(
    documents: &[(Cow<'static, str>, Cow<'static, str>)],
    options: &LoadOptions,
) -> Result<Arc<Definitions>, Error> {
    let mut memory = MemoryLoader::default();
    for (location, text) in documents {
        memory.add_text(&**location, text);
    }
    let Some((location, _)) = documents.first() else {
        return Err(Error::Setup(
            "there is no WSDL: the bundle has no documents".into(),
        ));
    };
    let loader = Chain::new().then(memory).then(WellKnown);
    Ok(Arc::new(load(location, &loader, options)?))
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
