//! Generating in a build script.
//!
//! ```no_run
//! // build.rs
//! fn main() -> Result<(), bsoap_generate::build::Error> {
//!     bsoap_generate::build::Config::new("calculator.wsdl").write()
//! }
//! ```
//!
//! and in the crate:
//!
//! ```ignore
//! pub mod calculator {
//!     include!(concat!(env!("OUT_DIR"), "/calculator.rs"));
//! }
//! ```

use std::fmt;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use bsoap_schema::{Chain, Definitions, FileLoader, LoadOptions, MappedLoader, WellKnown, load};
use proc_macro2::TokenStream;

use crate::{Options, generate, tokens};

/// What a build script generates, from which WSDL, and where to.
#[derive(Clone, Debug)]
pub struct Config {
    wsdl: String,
    options: Options,
    target: Option<PathBuf>,
    folders: Vec<PathBuf>,
    map: MappedLoader,
}

/// Code as tokens, and what it was generated from.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Generated {
    /// The code.
    pub code: TokenStream,
    /// The WSDL and the files that it refers to.
    pub files: Vec<PathBuf>,
}

/// Why a build script could not generate.
#[derive(Debug)]
#[non_exhaustive]
pub enum Error {
    /// The WSDL cannot be loaded.
    Wsdl(bsoap_schema::Error),
    /// Code cannot be generated.
    Generate(crate::Error),
    /// The code cannot be written.
    Write(PathBuf, std::io::Error),
    /// Not run by Cargo, which says where to write: there is no `OUT_DIR`.
    NoOutDir,
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Wsdl(_) => f.write_str("the WSDL cannot be loaded"),
            Self::Generate(_) => f.write_str("no code can be generated"),
            Self::Write(path, _) => write!(f, "cannot write {}", path.display()),
            Self::NoOutDir => f.write_str("there is no OUT_DIR: this runs in a build script"),
        }
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Wsdl(error) => Some(error),
            Self::Generate(error) => Some(error),
            Self::Write(_, error) => Some(error),
            Self::NoOutDir => None,
        }
    }
}

impl Config {
    /// From the WSDL at this path.
    pub fn new(wsdl: impl Into<String>) -> Self {
        Self {
            wsdl: wsdl.into(),
            options: Options::default(),
            target: None,
            folders: std::env::var_os("CARGO_MANIFEST_DIR")
                .map(PathBuf::from)
                .into_iter()
                .collect(),
            map: MappedLoader::default(),
        }
    }

    /// Also permits imports of files from this folder and those below it. Without it, the WSDL may import files from its own
    /// folder and from that of the crate.
    #[must_use]
    pub fn allow_imports_from(mut self, folder: impl Into<PathBuf>) -> Self {
        self.folders.push(folder.into());
        self
    }

    /// Reads a URL from this file, or all URLs that begin with it from this folder and those below it, as `--map` of the command
    /// does. The WSDL and the documents that it refers to may be such URLs. Of several prefixes that fit, the longest decides.
    ///
    /// ```
    /// use bsoap_generate::build::Config;
    ///
    /// # let folder = std::env::temp_dir().join(format!("bsoap-config-{}", std::process::id()));
    /// # std::fs::create_dir_all(&folder)?;
    /// # std::fs::copy("../../examples/mesh/mesh.wsdl", folder.join("mesh.wsdl"))?;
    /// let config = Config::new("http://mesh.example/wsdl/mesh.wsdl");
    /// let generated = config.map("http://mesh.example/wsdl", &folder).generate()?; // the folder has mesh.wsdl
    /// assert_eq!(generated.files, [folder.join("mesh.wsdl")]);
    /// # std::fs::remove_dir_all(folder)?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn map(
        mut self,
        url_prefix: impl Into<String>,
        file_or_folder: impl Into<PathBuf>,
    ) -> Self {
        self.map.add(url_prefix, file_or_folder);
        self
    }

    /// With these options. `embed` makes the WSDL a part of the program, which then reads no files.
    #[must_use]
    pub fn options(mut self, options: Options) -> Self {
        self.options = options;
        self
    }

    /// Writes this file instead of `OUT_DIR/<name of the WSDL>.rs`.
    #[must_use]
    pub fn target(mut self, file: impl Into<PathBuf>) -> Self {
        self.target = Some(file.into());
        self
    }

    /// Generates the code without writing it.
    ///
    /// # Errors
    /// If the WSDL cannot be loaded or code cannot be generated.
    pub fn generate(&self) -> Result<Generated, Error> {
        let definitions = self.load()?;
        let code = tokens(&definitions, &self.options).map_err(Error::Generate)?;
        let files = self.files(&definitions);
        Ok(Generated { code, files })
    }

    fn load(&self) -> Result<Definitions, Error> {
        let own = FileLoader::beside(&self.wsdl);
        let files = self
            .folders
            .iter()
            .fold(own, FileLoader::allow_imports_from);
        let loader = Chain::new()
            .then(self.map.clone())
            .then(WellKnown)
            .then(files);
        load(&self.wsdl, &loader, &LoadOptions::default()).map_err(Error::Wsdl)
    }

    /// The files of the documents.
    fn files(&self, definitions: &Definitions) -> Vec<PathBuf> {
        let locations = definitions.documents().iter().map(|it| it.location());
        let paths = locations.map(|location| {
            let mapped = self.map.file_of(location);
            mapped.unwrap_or_else(|| PathBuf::from(location))
        });
        paths.filter(|path| path.exists()).collect()
    }

    /// Writes the code, and makes Cargo run the build script again when a document changes.
    ///
    /// # Errors
    /// If the WSDL cannot be loaded or the file cannot be written.
    pub fn write(self) -> Result<(), Error> {
        let target = match &self.target {
            Some(target) => target.clone(),
            None => out_file(&self.wsdl)?,
        };
        let definitions = self.load()?;
        let mut out = std::io::stdout().lock();
        for file in self.files(&definitions) {
            // Cargo reads these lines; outside of a build script they do not matter.
            let _ = writeln!(out, "cargo:rerun-if-changed={}", file.display());
        }
        let code = generate(&definitions, &self.options).map_err(Error::Generate)?;
        std::fs::write(&target, code).map_err(|error| Error::Write(target, error))
    }
}

fn out_file(wsdl: &str) -> Result<PathBuf, Error> {
    let folder = std::env::var_os("OUT_DIR").ok_or(Error::NoOutDir)?;
    let stem = Path::new(wsdl).file_stem().map_or_else(
        || "service".into(),
        |stem| stem.to_string_lossy().into_owned(),
    );
    Ok(Path::new(&folder).join(format!("{stem}.rs")))
}
