//! Attachments in Python: what is sent beside a message, and what came beside one.

use std::any::Any;
use std::io::{self, BufReader, Read};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bsoap::attachments::{Attachment as Inner, Content};
use pyo3::exceptions::{PyOSError, PyTypeError, PyValueError};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::sync::MutexExt;
use pyo3::types::{PyByteArray, PyBytes, PyString};

/// This many bytes of a file of Python are read at once.
const READ_STEP: usize = 256 << 10;

/// The error number of an argument that is not valid.
const EINVAL: i32 = 22;

/// Octets beside a message, with their media type and content id; it is read like a file.
///
/// `content` is bytes, a `pathlib.Path`, a file that is open in binary mode, or another attachment. Files are read while the message is
/// sent. As a value of `xs:base64Binary` it is sent beside the message with MTOM, and as base64 text without it.
#[pyclass(frozen, module = "bsoap")]
pub(crate) struct Attachment {
    inner: Inner,
    position: Mutex<Position>,
}

/// How far an attachment has been read.
#[derive(Default)]
struct Position {
    at: u64,
    /// What reads on from there; `None` before the first read, at the end, and while a thread reads.
    reader: Option<Box<dyn Read + Send>>,
    /// True if there are no more octets, so that no file is open.
    is_at_end: bool,
}

/// The attachment of a Python object that is sent: an `Attachment`, a path or a file. `None` if it is none of these.
pub(crate) fn of(value: &Bound<'_, PyAny>) -> PyResult<Option<Inner>> {
    let py = value.py();
    if let Ok(attachment) = value.cast::<Attachment>() {
        return Ok(Some(attachment.get().inner.clone()));
    }
    // What the type has: a member of a value may have any name.
    let ty = value.get_type();
    if ty.hasattr(intern!(py, "__fspath__"))? {
        return Ok(Some(Inner::from_path(value.extract::<PathBuf>()?)?));
    }
    let read = ty.getattr_opt(intern!(py, "read"))?;
    if read.is_some_and(|read| read.is_callable()) {
        return Ok(Some(Inner::new(PythonFile::new(value)?)));
    }
    Ok(None)
}

impl Attachment {
    /// The Python object of an attachment, at its beginning.
    pub(crate) fn new(inner: &Inner) -> Self {
        Self {
            inner: inner.clone(),
            position: Mutex::default(),
        }
    }

    pub(crate) fn inner(&self) -> &Inner {
        &self.inner
    }

    fn position(&self) -> MutexGuard<'_, Position> {
        self.position.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes the reader out, at its position; a reader of Python calls back, so that no lock is held while it reads.
    fn take(&self) -> io::Result<Position> {
        let (at, reader, is_at_end) = {
            let mut position = self.position();
            (position.at, position.reader.take(), position.is_at_end)
        };
        let reader = match reader {
            None if !is_at_end => Some(skipped(self.inner.open()?, at)?),
            reader => reader,
        };
        Ok(Position {
            at,
            reader,
            is_at_end,
        })
    }

    /// The next octets: at most `size`, or all that are left.
    fn next(&self, size: Option<u64>) -> io::Result<Vec<u8>> {
        let mut taken = self.take()?;
        let mut octets = Vec::new();
        if let Some(reader) = &mut taken.reader {
            match size {
                Some(size) => reader.take(size).read_to_end(&mut octets)?,
                None => reader.read_to_end(&mut octets)?,
            };
        }
        let count = octets.len() as u64;
        taken.at += count;
        if size.is_none_or(|size| count < size) {
            taken.is_at_end = true;
            drop(taken.reader.take());
        }
        *self.position() = taken;
        Ok(octets)
    }
}

/// A reader without its first octets.
fn skipped(mut reader: Box<dyn Read + Send>, count: u64) -> io::Result<Box<dyn Read + Send>> {
    io::copy(&mut reader.by_ref().take(count), &mut io::sink())?;
    Ok(reader)
}

#[pymethods]
impl Attachment {
    /// `content` is bytes, a `pathlib.Path`, or a file that is open in binary mode.
    #[new]
    #[pyo3(signature = (content, content_type = None, content_id = None))]
    fn make(
        content: &Bound<'_, PyAny>,
        content_type: Option<String>,
        content_id: Option<String>,
    ) -> PyResult<Self> {
        let mut inner = match octets(content)? {
            Some(octets) => Inner::from_bytes(octets),
            None => of(content)?.ok_or_else(|| no_content(content))?,
        };
        if let Some(content_type) = content_type {
            inner = inner.with_media_type(content_type);
        }
        if let Some(id) = content_id {
            inner = inner.with_content_id(id);
        }
        Ok(Self::new(&inner))
    }

    /// The media type, such as `image/png`.
    #[getter]
    fn content_type(&self) -> Option<&str> {
        self.inner.media_type()
    }

    /// The content id, without `<` and `>`; a value of type `swaRef` is `cid:` and this. None if it is made when the message is sent.
    #[getter]
    fn content_id(&self) -> Option<&str> {
        self.inner.content_id()
    }

    /// The number of octets. None if that is known only at the end.
    #[getter]
    fn size(&self) -> Option<u64> {
        self.inner.len()
    }

    /// The next `size` octets, or all that are left; fewer at the end.
    #[pyo3(signature = (size = None))]
    fn read<'py>(&self, py: Python<'py>, size: Option<i64>) -> PyResult<Bound<'py, PyBytes>> {
        let size = size.and_then(|size| u64::try_from(size).ok());
        let octets = py.detach(|| self.next(size))?;
        Ok(PyBytes::new(py, &octets))
    }

    /// Where the next octet is read.
    fn tell(&self) -> u64 {
        self.position().at
    }

    /// Sets where the next octet is read: from the beginning, or as `whence` says for files. Octets before it are read again.
    #[pyo3(signature = (offset, whence = 0))]
    fn seek(&self, py: Python<'_>, offset: i64, whence: u8) -> PyResult<u64> {
        let now = self.tell();
        let from = match (whence, self.inner.len()) {
            (0, _) => 0,
            (1, _) => now,
            (2, Some(length)) => length,
            (2, None) => return Err(PyValueError::new_err("the length is not known")),
            _ => {
                return Err(PyValueError::new_err(format!(
                    "whence is 0, 1 or 2, not {whence}"
                )));
            }
        };
        let at = from.checked_add_signed(offset);
        let at = at.ok_or_else(|| PyOSError::new_err((EINVAL, "the position is negative")))?;
        // Not dropped while the lock is held: it may be a file of Python.
        let old = py.detach(|| {
            let mut position = self.position();
            let reader = position.reader.take_if(|_| at != now);
            position.is_at_end &= at == now;
            position.at = at;
            reader
        });
        drop(old);
        Ok(at)
    }

    fn readable(&self) -> bool {
        true
    }

    fn seekable(&self) -> bool {
        true
    }

    /// Writes all octets to a file, which is replaced if it exists. Returns their number.
    fn save(&self, py: Python<'_>, path: PathBuf) -> PyResult<u64> {
        Ok(py.detach(|| self.inner.save_to(path))?)
    }

    fn __bytes__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let octets = py.detach(|| self.inner.read())?;
        Ok(PyBytes::new(py, &octets))
    }

    fn __copy__(slf: Py<Self>) -> Py<Self> {
        slf
    }

    fn __deepcopy__(slf: Py<Self>, _memo: &Bound<'_, PyAny>) -> Py<Self> {
        slf
    }

    fn __repr__(&self) -> String {
        let mut shown = String::from("<bsoap.Attachment");
        if let Some(id) = self.content_id() {
            shown.push_str(&format!(" {id:?}"));
        }
        if let Some(content_type) = self.content_type() {
            shown.push_str(&format!(", {content_type}"));
        }
        if let Some(size) = self.size() {
            shown.push_str(&format!(", {size} bytes"));
        }
        shown + ">"
    }
}

/// The octets of bytes and of arrays of bytes; `None` for other objects.
fn octets(content: &Bound<'_, PyAny>) -> PyResult<Option<Vec<u8>>> {
    if let Ok(octets) = content.cast::<PyBytes>() {
        return Ok(Some(octets.as_bytes().to_vec()));
    }
    if let Ok(octets) = content.cast::<PyByteArray>() {
        return Ok(Some(octets.to_vec()));
    }
    match crate::take::buffer(content)? {
        Some(bsoap::Value::Bytes(octets)) => Ok(Some(octets)),
        _ => Ok(None),
    }
}

fn no_content(content: &Bound<'_, PyAny>) -> PyErr {
    let what = "the content of an attachment is bytes, a pathlib.Path, or a file that is open in binary mode";
    let hint = match content.is_instance_of::<PyString>() {
        true => ": for the file of this name write pathlib.Path(…)",
        false => "",
    };
    match content.get_type().name() {
        Ok(name) => PyTypeError::new_err(format!("{what}, not {name}{hint}")),
        Err(error) => error,
    }
}

/// An object of Python that has a method `read`. If it can seek, it is sent from its position, as often as is needed.
struct PythonFile {
    file: Py<PyAny>,
    /// Where it begins; `None` if it cannot seek.
    start: Option<u64>,
    length: Option<u64>,
    /// Locked while it is sought and read.
    moving: Arc<Mutex<()>>,
    /// Whether a file that cannot seek has been opened.
    is_used: AtomicBool,
}

impl PythonFile {
    fn new(file: &Bound<'_, PyAny>) -> PyResult<Self> {
        let py = file.py();
        let probe = file.call_method1(intern!(py, "read"), (0,))?;
        if probe.is_instance_of::<PyString>() {
            return Err(PyTypeError::new_err(
                "the file of an attachment gives text: open it in binary mode",
            ));
        }
        // What cannot say where it is cannot seek.
        let range = range(file).ok().flatten();
        Ok(Self {
            file: file.clone().unbind(),
            start: range.map(|range| range.0),
            length: range.map(|(start, end)| end.saturating_sub(start)),
            moving: Arc::default(),
            is_used: AtomicBool::new(false),
        })
    }
}

/// Where a file is, and its end.
fn range(file: &Bound<'_, PyAny>) -> PyResult<Option<(u64, u64)>> {
    let py = file.py();
    if !file.call_method0(intern!(py, "seekable"))?.is_truthy()? {
        return Ok(None);
    }
    let start: u64 = file.call_method0(intern!(py, "tell"))?.extract()?;
    file.call_method1(intern!(py, "seek"), (0, 2))?;
    let end: u64 = file.call_method0(intern!(py, "tell"))?.extract()?;
    file.call_method1(intern!(py, "seek"), (start,))?;
    Ok(Some((start, end)))
}

impl Content for PythonFile {
    fn length(&self) -> Option<u64> {
        self.length
    }

    fn open(&self) -> io::Result<Box<dyn Read + Send>> {
        if self.start.is_none() && self.is_used.swap(true, Ordering::Relaxed) {
            return Err(io::Error::other(
                "the file of an attachment cannot seek, so it is read only once",
            ));
        }
        let file = Python::try_attach(|py| self.file.clone_ref(py)).ok_or_else(ended)?;
        let reader = PythonReader {
            file,
            at: self.start,
            moving: Arc::clone(&self.moving),
        };
        Ok(Box::new(BufReader::with_capacity(READ_STEP, reader)))
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

struct PythonReader {
    file: Py<PyAny>,
    /// Where the next octets are. A file that can seek is sought to it each time: an earlier attempt to send it may have moved it.
    at: Option<u64>,
    /// Locked from seeking to reading: the file may be sent by several threads.
    moving: Arc<Mutex<()>>,
}

impl PythonReader {
    fn next(&self, py: Python<'_>, size: usize) -> PyResult<PyBackedBytes> {
        let file = self.file.bind(py);
        let _moving = self.moving.lock_py_attached(py);
        if let Some(at) = self.at {
            file.call_method1(intern!(py, "seek"), (at,))?;
        }
        let octets = file.call_method1(intern!(py, "read"), (size,))?;
        octets.extract().map_err(PyErr::from)
    }
}

impl Read for PythonReader {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = Python::try_attach(|py| {
            let octets = self.next(py, buffer.len());
            octets.map_err(|error| io::Error::other(error.to_string()))
        });
        let octets = read.ok_or_else(ended)??;
        let Some(place) = buffer.get_mut(..octets.len()) else {
            return Err(io::Error::other(
                "the file of an attachment gave more octets than were asked for",
            ));
        };
        place.copy_from_slice(&octets);
        if let Some(at) = &mut self.at {
            *at += octets.len() as u64;
        }
        Ok(octets.len())
    }
}

fn ended() -> io::Error {
    io::Error::other("the interpreter has ended")
}
