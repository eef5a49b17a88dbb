//! Attachments: octets that travel beside a message instead of in it.
//!
//! A value of `xs:base64Binary` that is attached has a [reference](mod@reference) in the Record instead of its octets: 24 octets that
//! name an entry of [`Record::attachments`](crate::Record::attachments). So templates, histories and hints treat it as any other
//! short binary value; only the code that packs and unpacks MIME packages knows more. See `docs/design/attachments.md`.

use std::any::Any;
use std::fmt;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

pub mod reference;

/// Where the octets of an [`Attachment`] come from.
pub trait Content: Send + Sync + 'static {
    /// The number of octets. `None` if it is known only at the end.
    fn length(&self) -> Option<u64>;

    /// Starts to read the octets. The reader may block.
    ///
    /// # Errors
    /// If the octets cannot be read (again).
    fn open(&self) -> io::Result<Box<dyn Read + Send>>;

    /// Starts to read the octets at an offset, or at their end if there are fewer.
    ///
    /// # Errors
    /// As for [`open`](Self::open).
    fn open_at(&self, offset: u64) -> io::Result<Box<dyn Read + Send>> {
        let mut reader = self.open()?;
        io::copy(&mut reader.by_ref().take(offset), &mut io::sink())?;
        Ok(reader)
    }

    /// The octets, if they are in memory in one piece.
    fn as_bytes(&self) -> Option<&[u8]> {
        None
    }

    /// The file that has exactly these octets, if there is one.
    fn path(&self) -> Option<&Path> {
        None
    }

    /// The content as its own type, for the code that made it.
    fn as_any(&self) -> &dyn Any;
}

/// Octets that travel beside a message, with their media type and content id. Cloning shares the octets.
///
/// As a value of `xs:base64Binary`, an attachment takes the place of [`Value::Bytes`](crate::Value::Bytes). It is sent as a
/// part of a MIME package where both sides use MTOM, and as base64 text everywhere else. Received attachments that are long are in
/// temporary files without a name, which are deleted with the last clone.
///
/// ```
/// use bsoap_codec::{Attachment, Value};
///
/// let picture = Attachment::from_bytes(b"\x89PNG".to_vec()).with_media_type("image/png");
/// assert_eq!((picture.len(), picture.media_type()), (Some(4), Some("image/png")));
/// assert_eq!(picture.read()?, b"\x89PNG");
/// let arguments = Value::object([("picture", Value::from(picture))]);
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Clone)]
pub struct Attachment(Arc<Inner>);

#[derive(Clone)]
struct Inner {
    content: Arc<dyn Content>,
    content_id: Option<String>,
    media_type: Option<String>,
}

impl Attachment {
    /// An attachment with this content.
    pub fn new(content: impl Content) -> Self {
        Self(Arc::new(Inner {
            content: Arc::new(content),
            content_id: None,
            media_type: None,
        }))
    }

    /// An attachment of octets in memory.
    pub fn from_bytes(octets: impl Into<Vec<u8>>) -> Self {
        let octets: Vec<u8> = octets.into();
        let range = 0..octets.len();
        Self::new(Shared {
            octets: Arc::new(octets),
            range,
        })
    }

    /// An attachment of the octets in a file, which is read when the attachment is sent. It must not change until then.
    ///
    /// # Errors
    /// If there is no such file.
    pub fn from_path(path: impl Into<PathBuf>) -> io::Result<Self> {
        let path = path.into();
        let metadata = path.metadata()?;
        if !metadata.is_file() {
            let problem = format!("{} is not a file", path.display());
            return Err(io::Error::new(io::ErrorKind::InvalidInput, problem));
        }
        let length = metadata.len();
        Ok(Self::new(InFile { path, length }))
    }

    /// Sets the content id, without `<` and `>`. It must be unique in the message. By default there is one when the message is sent.
    #[must_use]
    pub fn with_content_id(mut self, id: impl Into<String>) -> Self {
        Arc::make_mut(&mut self.0).content_id = Some(id.into());
        self
    }

    /// Sets the media type, such as `image/png`. By default it is `application/octet-stream`.
    #[must_use]
    pub fn with_media_type(mut self, media_type: impl Into<String>) -> Self {
        Arc::make_mut(&mut self.0).media_type = Some(media_type.into());
        self
    }

    /// The content id, without `<` and `>`. `None` if it is assigned when the message is sent.
    pub fn content_id(&self) -> Option<&str> {
        self.0.content_id.as_deref()
    }

    /// The media type, with its parameters.
    pub fn media_type(&self) -> Option<&str> {
        self.0.media_type.as_deref()
    }

    /// The number of octets. `None` if it is known only at the end.
    pub fn len(&self) -> Option<u64> {
        self.0.content.length()
    }

    /// True if it is known that there are no octets.
    pub fn is_empty(&self) -> bool {
        self.len() == Some(0)
    }

    /// Where its octets come from.
    pub fn content(&self) -> &dyn Content {
        &*self.0.content
    }

    /// Starts to read the octets. The reader may block: use it on a blocking thread.
    ///
    /// # Errors
    /// If the octets cannot be read.
    pub fn open(&self) -> io::Result<Box<dyn Read + Send>> {
        self.0.content.open()
    }

    /// Reads all octets into memory.
    ///
    /// # Errors
    /// If the octets cannot be read.
    pub fn read(&self) -> io::Result<Vec<u8>> {
        if let Some(octets) = self.0.content.as_bytes() {
            return Ok(octets.to_vec());
        }
        let mut octets = Vec::new();
        self.open()?.read_to_end(&mut octets)?;
        Ok(octets)
    }

    /// Writes all octets to a file, which is replaced when all are written. Returns their number. If the octets cannot be read, a
    /// file that was there before is unchanged; it may be the one that the octets are read from.
    ///
    /// # Errors
    /// If the octets cannot be read, or the file cannot be written.
    pub fn save_to(&self, path: impl AsRef<Path>) -> io::Result<u64> {
        // A link remains one.
        let path = path.as_ref();
        let path = path.canonicalize().unwrap_or_else(|_| path.to_owned());
        if path.metadata().is_ok_and(|metadata| !metadata.is_file()) {
            // A pipe, a device.
            return io::copy(&mut self.open()?, &mut File::create(path)?);
        }
        let (mut file, part) = beside(&path)?;
        let written = self
            .open()
            .and_then(|mut octets| io::copy(&mut octets, &mut file))
            .and_then(|count| std::fs::rename(&part, &path).map(|()| count));
        written.inspect_err(|_| {
            // The other error says more.
            let _ = std::fs::remove_file(&part);
        })
    }

    /// True if both are clones of one attachment.
    pub fn is_same(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }

    /// Octets of a heap that several attachments share.
    pub(crate) fn of_heap(octets: &Arc<Vec<u8>>, range: Range<usize>) -> Self {
        Self::new(Shared {
            octets: Arc::clone(octets),
            range,
        })
    }
}

/// A new file beside another one.
fn beside(path: &Path) -> io::Result<(File, PathBuf)> {
    static NUMBER: AtomicUsize = AtomicUsize::new(0);
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    loop {
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let part = path.with_file_name(format!(".{name}.{}-{number}.part", std::process::id()));
        match File::create_new(&part) {
            Ok(file) => return Ok((file, part)),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error),
        }
    }
}

/// Two attachments are equal if they are clones, or have the same content id, media type and octets in memory.
impl PartialEq for Attachment {
    fn eq(&self, other: &Self) -> bool {
        let same_octets = || match (self.content().as_bytes(), other.content().as_bytes()) {
            (Some(own), Some(others)) => own == others,
            _ => false,
        };
        self.is_same(other)
            || self.0.content_id == other.0.content_id
                && self.0.media_type == other.0.media_type
                && same_octets()
    }
}

impl fmt::Debug for Attachment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Attachment")
            .field("content_id", &self.content_id())
            .field("media_type", &self.media_type())
            .field("len", &self.len())
            .finish_non_exhaustive()
    }
}

/// Octets in memory, or a part of them.
struct Shared {
    octets: Arc<Vec<u8>>,
    range: Range<usize>,
}

impl Shared {
    fn octets(&self) -> &[u8] {
        self.octets.get(self.range.clone()).unwrap_or_default()
    }
}

impl Content for Shared {
    fn length(&self) -> Option<u64> {
        Some(self.octets().len() as u64)
    }

    fn open(&self) -> io::Result<Box<dyn Read + Send>> {
        struct Reading(Shared);

        impl Read for Reading {
            fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
                let count = self.0.octets().read(buffer)?;
                self.0.range.start += count;
                Ok(count)
            }
        }

        Ok(Box::new(Reading(Self {
            octets: Arc::clone(&self.octets),
            range: self.range.clone(),
        })))
    }

    fn as_bytes(&self) -> Option<&[u8]> {
        Some(self.octets())
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

/// The octets of a file of the program.
struct InFile {
    path: PathBuf,
    length: u64,
}

impl Content for InFile {
    fn length(&self) -> Option<u64> {
        Some(self.length)
    }

    fn open(&self) -> io::Result<Box<dyn Read + Send>> {
        Ok(Box::new(File::open(&self.path)?))
    }

    fn open_at(&self, offset: u64) -> io::Result<Box<dyn Read + Send>> {
        let mut file = File::open(&self.path)?;
        file.seek(SeekFrom::Start(offset))?;
        Ok(Box::new(file))
    }

    fn path(&self) -> Option<&Path> {
        Some(&self.path)
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn octets_in_memory_are_read_several_times() -> io::Result<()> {
        let attachment = Attachment::from_bytes(*b"abcdef");
        let mut half = [0; 3];
        attachment.open()?.read_exact(&mut half)?;
        assert_eq!((&half, attachment.read()?), (b"abc", b"abcdef".to_vec()));
        assert!(!attachment.is_empty());
        Ok(())
    }

    #[test]
    fn octets_are_read_from_an_offset_on() -> io::Result<()> {
        let mut file = tempfile::NamedTempFile::new()?;
        io::Write::write_all(&mut file, b"abcdef")?;
        let in_file = Attachment::from_path(file.path())?;
        for attachment in [Attachment::from_bytes(*b"abcdef"), in_file] {
            for (offset, expected) in [(0, "abcdef"), (4, "ef"), (6, ""), (9, "")] {
                let mut read = String::new();
                let mut reader = attachment.content().open_at(offset)?;
                reader.read_to_string(&mut read)?;
                assert_eq!(read, expected);
            }
        }
        Ok(())
    }

    #[test]
    fn a_directory_is_not_an_attachment() {
        assert!(Attachment::from_path(".").is_err());
    }
}
