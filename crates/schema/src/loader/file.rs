//! A loader for files, by path or `file:` URL. Only regular files: opening a pipe can block, and a device can be endless.
//!
//! A document can name any file in its imports: by an absolute path, by `..`, by a `file:` URL, or by a symbolic link. So a
//! loader is confined to folders. Paths are compared after all links are resolved, and the resolved path is the one opened.

use std::fs::{File, FileType};
use std::io::Read as _;
use std::path::{Path, PathBuf};

use super::{LoadError, Loader, Source, scheme_of};

/// Why a file in another folder is not read.
const OUTSIDE: &str = "it is outside of the folder of the WSDL, and imports from elsewhere are off (`allow_imports_from`, `--allow-imports-from DIR`)";

/// Reads documents from files.
///
/// ```
/// use bsoap_schema::{FileLoader, Loader};
///
/// let loader = FileLoader::beside("src/service.wsdl");
/// let error = loader.load("src/../Cargo.toml").unwrap_err();
/// assert_eq!(
///     error.to_string(),
///     "it is outside of the folder of the WSDL, and imports from elsewhere are off \
///      (`allow_imports_from`, `--allow-imports-from DIR`)"
/// );
/// assert!(loader.allow_imports_from(".").load("src/../Cargo.toml").is_ok());
/// ```
#[derive(Clone, Debug)]
pub struct FileLoader {
    /// Longer files are an error.
    limit: u64,
    /// What may be read. `None`: every file.
    folders: Option<Vec<PathBuf>>,
}

impl FileLoader {
    /// The default limit of a loader: 64 MiB.
    pub const DEFAULT_LIMIT: u64 = 64 << 20;

    /// A loader for the document at a location and all files in its folder and in the folders below that.
    pub fn beside(location: &str) -> Self {
        let Ok(path) = path_of(location) else {
            return Self::nowhere();
        };
        // The document may be a link: then its folder is that of the link, and that of the file.
        let folder = |path: &Path| Some(path.parent()?.to_owned());
        let file = path.canonicalize().ok();
        let folders = [folder(&path), file.as_deref().and_then(folder)];
        let loader = folders.into_iter().flatten();
        let loader = loader.fold(Self::nowhere(), Self::allow_imports_from);
        loader.allow(file)
    }

    /// A loader for no files, to which folders can be added.
    pub fn nowhere() -> Self {
        Self {
            folders: Some(Vec::new()),
            ..Self::anywhere()
        }
    }

    /// A loader for all regular files that the process can read: for documents that are trusted.
    pub fn anywhere() -> Self {
        Self {
            limit: Self::DEFAULT_LIMIT,
            folders: None,
        }
    }

    /// Also permits the files in this folder and in the folders below it.
    #[must_use]
    pub fn allow_imports_from(self, folder: impl AsRef<Path>) -> Self {
        let folder = match folder.as_ref() {
            empty if empty.as_os_str().is_empty() => Path::new("."),
            folder => folder,
        };
        // A folder that does not exist has no files.
        self.allow(folder.canonicalize().ok())
    }

    /// Also permits this path, which has no links, and what is below it.
    fn allow(mut self, path: Option<PathBuf>) -> Self {
        if let Some(folders) = &mut self.folders {
            folders.extend(path);
        }
        self
    }

    /// The path without links, if it may be read.
    fn permitted(&self, path: PathBuf) -> Result<PathBuf, LoadError> {
        let Some(folders) = &self.folders else {
            return Ok(path);
        };
        let file = path
            .canonicalize()
            .map_err(|error| LoadError::Failed(error.to_string()))?;
        match folders.iter().any(|folder| file.starts_with(folder)) {
            true => Ok(file),
            false => Err(LoadError::Failed(OUTSIDE.to_owned())),
        }
    }

    /// Sets the maximum length of a file in bytes.
    #[must_use]
    pub fn with_limit(self, bytes: u64) -> Self {
        Self {
            limit: bytes,
            ..self
        }
    }

    fn read(&self, path: &Path) -> Result<Vec<u8>, LoadError> {
        let failed = |error: std::io::Error| LoadError::Failed(error.to_string());
        let kind = std::fs::metadata(path).map_err(failed)?.file_type();
        if !kind.is_file() {
            return Err(LoadError::Failed(format!(
                "{} is not a regular file",
                describe(kind)
            )));
        }
        // The length in the metadata is not reliable: a file can grow, and files in /proc have length 0.
        let mut bytes = Vec::new();
        File::open(path)
            .and_then(|file| {
                file.take(self.limit.saturating_add(1))
                    .read_to_end(&mut bytes)
            })
            .map_err(failed)?;
        if bytes.len() as u64 > self.limit {
            return Err(LoadError::Failed(format!(
                "the file is longer than {} bytes (the limit of `FileLoader`)",
                self.limit
            )));
        }
        Ok(bytes)
    }
}

impl Loader for FileLoader {
    fn load(&self, location: &str) -> Result<Source, LoadError> {
        let bytes = self.read(&self.permitted(path_of(location)?)?)?;
        Ok(Source {
            location: location.to_owned(),
            bytes,
        })
    }
}

fn path_of(location: &str) -> Result<PathBuf, LoadError> {
    match scheme_of(location) {
        None => Ok(PathBuf::from(location)),
        Some(scheme) if scheme.eq_ignore_ascii_case("file") => {
            file_path(&location[scheme.len() + 1..]).ok_or_else(|| {
                LoadError::Failed("the file: URL has no path of this system".to_owned())
            })
        }
        Some(_) => Err(LoadError::NotHere),
    }
}

/// The path in a `file:` URL without its scheme: `///x/y`, `//localhost/x/y` or `/x/y`, percent-encoded. (RFC 8089)
fn file_path(url: &str) -> Option<PathBuf> {
    let path = match url.strip_prefix("//") {
        Some(rest) => {
            let (host, _) = rest.split_once('/')?;
            let is_here = host.is_empty() || host.eq_ignore_ascii_case("localhost");
            is_here.then(|| &rest[host.len()..])?
        }
        None => url,
    };
    let path = path.split(['?', '#']).next()?;
    // A path of Windows begins with the letter of a drive.
    let path = match cfg!(windows) {
        true => path.strip_prefix('/')?,
        false => path,
    };
    let path = percent_decoded(path)?;
    Path::new(&path).is_absolute().then(|| path.into())
}

/// The text that a percent-encoded one stands for. `None` if it is not UTF-8 or contains a zero, which no path has.
fn percent_decoded(text: &str) -> Option<String> {
    let mut decoded = Vec::with_capacity(text.len());
    let mut parts = text.split('%');
    decoded.extend_from_slice(parts.next()?.as_bytes());
    for part in parts {
        let digits = part.get(..2).filter(|digits| !digits.starts_with('+'))?;
        let octet = u8::from_str_radix(digits, 16).ok()?;
        decoded.push(octet);
        decoded.extend_from_slice(&part.as_bytes()[2..]);
    }
    String::from_utf8(decoded)
        .ok()
        .filter(|text| !text.contains('\0'))
}

/// The kind of a file that is not regular, for messages.
fn describe(kind: FileType) -> &'static str {
    if kind.is_dir() {
        return "a directory";
    }
    #[cfg(unix)]
    {
        use std::os::unix::fs::FileTypeExt as _;
        if kind.is_fifo() {
            return "a pipe";
        }
        if kind.is_char_device() || kind.is_block_device() {
            return "a device";
        }
        if kind.is_socket() {
            return "a socket";
        }
    }
    "a special file"
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error_of(loader: &FileLoader, location: &str) -> String {
        loader.load(location).unwrap_err().to_string()
    }

    #[test]
    #[cfg(unix)]
    fn the_path_of_a_file_url_is_decoded_and_must_be_of_this_machine() {
        for (url, path) in [
            ("file:///a%20b/c.wsdl", Some("/a b/c.wsdl")),
            ("FILE://localhost/a/%C3%BC", Some("/a/ü")),
            ("file:/a", Some("/a")),
            ("file://elsewhere/a", None),
            ("file:a", None),
            ("file://", None),
            ("file:///a%00b", None),
            ("file:///a%ffb", None),
            ("file:///a%2", None),
            ("file:///a%+1", None),
        ] {
            assert_eq!(path_of(url).ok(), path.map(PathBuf::from), "{url}");
        }
    }

    #[test]
    fn files_outside_of_the_folder_of_the_document_are_refused() {
        let root = tempfile::tempdir().unwrap();
        let at = |path: &str| root.path().join(path).to_string_lossy().into_owned();
        for folder in ["service/types", "service-2", "shared"] {
            std::fs::create_dir_all(at(folder)).unwrap();
        }
        for file in [
            "service/a.wsdl",
            "service/types/a.xsd",
            "service-2/a.xsd",
            "shared/a.xsd",
            "a.xsd",
        ] {
            std::fs::write(at(file), file).unwrap();
        }
        let loader = FileLoader::beside(&at("service/a.wsdl"));
        let url = |path: &str| format!("file://{}", at(path));
        for (location, is_permitted) in [
            (at("service/a.wsdl"), true),
            (at("service/types/a.xsd"), true),
            (at("service/types/../types/a.xsd"), true),
            (at("a.xsd"), false),
            (at("service/../a.xsd"), false),
            (at("service/types/../../shared/a.xsd"), false),
            // The name of the folder begins with that of the other one.
            (at("service-2/a.xsd"), false),
            (url("shared/a.xsd"), false),
            (url("service/%2e%2e/a.xsd"), false),
        ] {
            let found = loader.load(&location).map_err(|error| error.to_string());
            match is_permitted {
                true => assert!(found.is_ok(), "{location}: {found:?}"),
                false => assert_eq!(found.unwrap_err(), OUTSIDE, "{location}"),
            }
        }
        let allowing = loader.allow_imports_from(at("shared"));
        assert!(allowing.load(&at("shared/a.xsd")).is_ok());
        assert_eq!(error_of(&allowing, &at("a.xsd")), OUTSIDE);
        assert_eq!(error_of(&FileLoader::nowhere(), &at("a.xsd")), OUTSIDE);
        assert!(FileLoader::anywhere().load(&at("a.xsd")).is_ok());
    }

    #[test]
    #[cfg(unix)]
    fn a_link_leads_no_further_than_a_path() {
        use std::os::unix::fs::symlink;
        let root = tempfile::tempdir().unwrap();
        let at = |path: &str| root.path().join(path).to_string_lossy().into_owned();
        for folder in ["service", "real", "other"] {
            std::fs::create_dir(at(folder)).unwrap();
        }
        for file in ["real/a.wsdl", "real/a.xsd", "other/a.xsd", "service/b.xsd"] {
            std::fs::write(at(file), file).unwrap();
        }
        symlink(at("real/a.wsdl"), at("service/a.wsdl")).unwrap();
        symlink(at("other/a.xsd"), at("service/c.xsd")).unwrap();
        symlink(at("other"), at("service/types")).unwrap();
        let loader = FileLoader::beside(&at("service/a.wsdl"));
        for (file, is_permitted) in [
            ("service/a.wsdl", true),
            ("service/b.xsd", true),
            // Where the file of the WSDL is.
            ("real/a.xsd", true),
            ("service/c.xsd", false),
            ("service/types/a.xsd", false),
        ] {
            assert_eq!(loader.load(&at(file)).is_ok(), is_permitted, "{file}");
        }
    }

    #[test]
    fn a_file_longer_than_the_limit_is_refused_by_name_and_one_as_long_is_not() {
        let location = concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml");
        let length = std::fs::metadata(location).unwrap().len();
        let loader = FileLoader::anywhere();
        assert!(loader.clone().with_limit(length).load(location).is_ok());
        let error = error_of(&loader.with_limit(length - 1), location);
        assert_eq!(
            error,
            format!(
                "the file is longer than {} bytes (the limit of `FileLoader`)",
                length - 1
            )
        );
    }

    #[test]
    #[cfg(unix)]
    fn what_is_no_regular_file_is_refused_and_not_waited_for() {
        let loader = FileLoader::anywhere();
        let folder = std::env::temp_dir();
        assert!(error_of(&loader, &folder.to_string_lossy()).contains("a directory"));
        assert!(error_of(&loader, "/dev/zero").contains("a device"));
        assert!(error_of(&loader, "file:///dev/null").contains("a device"));
        let pipe = folder.join(format!("bsoap-pipe-{}", std::process::id()));
        let made = std::process::Command::new("mkfifo").arg(&pipe).status();
        if made.is_ok_and(|status| status.success()) {
            let error = error_of(&loader, &pipe.to_string_lossy());
            std::fs::remove_file(&pipe).unwrap();
            assert!(error.contains("a pipe"), "{error}");
        }
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn a_file_that_claims_no_length_is_held_to_the_limit_too() {
        let error = error_of(&FileLoader::anywhere().with_limit(1), "/proc/self/status");
        assert!(error.contains("longer than 1 bytes"), "{error}");
    }
}
