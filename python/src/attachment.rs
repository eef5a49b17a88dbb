//! Attachments in Python: what is sent beside a message, and what came beside one.

use std::io::{self, BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread::{self, ThreadId};

use bsoap::attachments::Attachment as Inner;
use pyo3::exceptions::{PyOSError, PyRuntimeError, PyTypeError, PyValueError};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyByteArray, PyBytes, PyList, PyMemoryView, PySlice, PyString, PyTuple};

use crate::python_file::{PythonFile, READ_STEP};

/// The error number of an argument that is not valid.
const EINVAL: i32 = 22;

/// Octets beside a message, with their media type and content id: a binary file that is read, as `io.BufferedIOBase` says.
///
/// `content` is bytes, a `pathlib.Path`, a file that is open in binary mode, or another attachment. Files are read while the message is
/// sent. As a value of `xs:base64Binary` it is sent beside the message with MTOM, and as base64 text without it.
#[pyclass(frozen, module = "bsoap")]
pub(crate) struct Attachment {
    inner: Inner,
    /// One thread reads at a time. It is locked only where the interpreter's lock is not held, since a file of Python needs that.
    turn: Mutex<()>,
    /// Locked for moments, in which nothing is read and nothing of Python is dropped.
    position: Mutex<Position>,
}

/// How far an attachment has been read.
#[derive(Default)]
struct Position {
    at: u64,
    /// What reads on from there; `None` before the first read, at the end, and while a thread reads.
    reader: Option<Reader>,
    /// True if there are no more octets, so that no file is open.
    is_at_end: bool,
    is_closed: bool,
    /// The thread that reads or seeks.
    user: Option<ThreadId>,
}

/// That no other thread reads.
struct Turn<'a> {
    attachment: &'a Attachment,
    _lock: MutexGuard<'a, ()>,
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        self.attachment.position().user = None;
    }
}

type Reader = BufReader<Box<dyn Read + Send>>;

/// Lets Python know that an `Attachment` is a binary file: `isinstance(…, io.BufferedIOBase)`.
pub(crate) fn register(py: Python<'_>) -> PyResult<()> {
    let base = py.import("io")?.getattr("BufferedIOBase")?;
    base.call_method1("register", (py.get_type::<Attachment>(),))?;
    Ok(())
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
        let path = value.extract::<PathBuf>()?;
        let inner = Inner::from_path(&path).map_err(|error| no_file(&path, error));
        return inner.map(Some);
    }
    let read = ty.getattr_opt(intern!(py, "read"))?;
    if read.is_some_and(|read| read.is_callable()) {
        return Ok(Some(Inner::new(PythonFile::new(value)?)));
    }
    Ok(None)
}

/// The exception that a path names no file that can be read; with the path, as those of `open`.
fn no_file(path: &Path, error: io::Error) -> PyErr {
    match error.raw_os_error() {
        Some(number) => {
            let message = error.to_string();
            let (reason, _) = message.split_once(" (os error").unwrap_or((&message, ""));
            PyOSError::new_err((number, reason.to_owned(), path.as_os_str().to_owned()))
        }
        None => error.into(),
    }
}

impl Attachment {
    /// The Python object of an attachment, at its beginning.
    pub(crate) fn new(inner: &Inner) -> Self {
        Self {
            inner: inner.clone(),
            turn: Mutex::default(),
            position: Mutex::default(),
        }
    }

    pub(crate) fn inner(&self) -> &Inner {
        &self.inner
    }

    fn position(&self) -> MutexGuard<'_, Position> {
        self.position.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The position, unless the attachment is closed.
    fn open_position(&self) -> PyResult<MutexGuard<'_, Position>> {
        let position = self.position();
        match position.is_closed {
            false => Ok(position),
            true => Err(PyValueError::new_err(
                "I/O operation on a closed attachment: only bytes(…), save and sending it again are possible",
            )),
        }
    }

    /// Waits until no other thread reads. The interpreter's lock is not held.
    fn turn(&self) -> PyResult<Turn<'_>> {
        let user = thread::current().id();
        // A file of Python, or a signal handler meanwhile, which would wait for itself.
        if self.position().user == Some(user) {
            return Err(PyRuntimeError::new_err(
                "the attachment is read while it is being read by the same thread",
            ));
        }
        let lock = self.turn.lock().unwrap_or_else(PoisonError::into_inner);
        self.position().user = Some(user);
        Ok(Turn {
            attachment: self,
            _lock: lock,
        })
    }

    /// Takes the reader out, which is at the position. `None` at the end.
    fn take(&self) -> PyResult<Option<Reader>> {
        let (at, reader, is_at_end) = {
            let mut position = self.open_position()?;
            (position.at, position.reader.take(), position.is_at_end)
        };
        match reader {
            None if !is_at_end => Ok(Some(BufReader::new(open_at(&self.inner, at)?))),
            reader => Ok(reader),
        }
    }

    /// The next octets: those that `read` appends, which returns whether they are the last ones.
    fn advance(
        &self,
        py: Python<'_>,
        read: impl FnOnce(&mut Reader, &mut Vec<u8>) -> io::Result<bool> + Send,
    ) -> PyResult<Vec<u8>> {
        py.detach(|| {
            let _turn = self.turn()?;
            let mut octets = Vec::new();
            let Some(mut reader) = self.take()? else {
                return Ok(octets);
            };
            let is_at_end = read(&mut reader, &mut octets)?;
            let mut position = self.position();
            position.at += octets.len() as u64;
            position.is_at_end = is_at_end;
            // It may have been closed meanwhile.
            let done = match is_at_end || position.is_closed {
                true => Some(reader),
                false => position.reader.replace(reader),
            };
            drop(position);
            // Not dropped while the position is locked: it may be a file of Python.
            drop(done);
            Ok(octets)
        })
    }

    /// At most this many octets, or all that are left.
    fn next(&self, py: Python<'_>, most: Option<u64>) -> PyResult<Vec<u8>> {
        self.advance(py, |reader, octets| match most {
            Some(most) => {
                let count = reader.take(most).read_to_end(octets)?;
                Ok((count as u64) < most)
            }
            None => reader.read_to_end(octets).map(|_| true),
        })
    }

    /// The rest of the line, or at most this many octets of it.
    fn next_line(&self, py: Python<'_>, most: Option<u64>) -> PyResult<Vec<u8>> {
        let most = most.unwrap_or(u64::MAX);
        self.advance(py, |reader, octets| {
            let count = reader.take(most).read_until(b'\n', octets)?;
            Ok((count as u64) < most && !octets.ends_with(b"\n"))
        })
    }

    /// Reads into the memory of an object, which is written to; the number of octets.
    fn fill(&self, target: &Bound<'_, PyAny>) -> PyResult<usize> {
        let py = target.py();
        let place = PyMemoryView::from(target)?.call_method1(intern!(py, "cast"), ("B",))?;
        if place.getattr(intern!(py, "readonly"))?.is_truthy()? {
            return Err(PyTypeError::new_err(
                "readinto needs memory that can be written to, such as a bytearray",
            ));
        }
        let octets = self.next(py, Some(place.len()? as u64))?;
        let count = octets.len();
        let filled = PySlice::new(py, 0, isize::try_from(count)?, 1);
        place.set_item(filled, PyBytes::new(py, &octets))?;
        Ok(count)
    }
}

/// What reads an attachment on from a position.
fn open_at(inner: &Inner, at: u64) -> io::Result<Box<dyn Read + Send>> {
    inner.content().open_at(at)
}

/// A number of octets; a negative one is all.
fn most(size: Option<i64>) -> Option<u64> {
    size.and_then(|size| u64::try_from(size).ok())
}

/// The exception of what files may do and this one does not.
fn unsupported(py: Python<'_>, operation: &str) -> PyErr {
    let raised = py
        .import("io")
        .and_then(|io| io.getattr("UnsupportedOperation"))
        .and_then(|class| class.call1((operation,)));
    raised.map_or_else(|error| error, PyErr::from_value)
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
    #[pyo3(signature = (size = None, /))]
    fn read<'py>(&self, py: Python<'py>, size: Option<i64>) -> PyResult<Bound<'py, PyBytes>> {
        Ok(PyBytes::new(py, &self.next(py, most(size))?))
    }

    /// The same as `read`; without a size, some octets.
    #[pyo3(signature = (size = -1, /))]
    fn read1<'py>(&self, py: Python<'py>, size: i64) -> PyResult<Bound<'py, PyBytes>> {
        let most = most(Some(size)).unwrap_or(READ_STEP as u64);
        Ok(PyBytes::new(py, &self.next(py, Some(most))?))
    }

    /// Reads into a bytearray, or another object whose memory can be written to. Returns the number of octets; fewer at the end.
    #[pyo3(signature = (buffer, /))]
    fn readinto(&self, buffer: &Bound<'_, PyAny>) -> PyResult<usize> {
        self.fill(buffer)
    }

    /// The same as `readinto`.
    #[pyo3(signature = (buffer, /))]
    fn readinto1(&self, buffer: &Bound<'_, PyAny>) -> PyResult<usize> {
        self.fill(buffer)
    }

    /// The octets up to the end of the line, with it; at most `size`.
    #[pyo3(signature = (size = -1, /))]
    fn readline<'py>(&self, py: Python<'py>, size: Option<i64>) -> PyResult<Bound<'py, PyBytes>> {
        Ok(PyBytes::new(py, &self.next_line(py, most(size))?))
    }

    /// The lines that are left; no more after `hint` octets.
    #[pyo3(signature = (hint = -1, /))]
    fn readlines<'py>(&self, py: Python<'py>, hint: Option<i64>) -> PyResult<Bound<'py, PyList>> {
        let most = most(hint).filter(|most| *most > 0).unwrap_or(u64::MAX);
        let (lines, mut total) = (PyList::empty(py), 0);
        while total < most {
            let line = self.next_line(py, None)?;
            if line.is_empty() {
                break;
            }
            total += line.len() as u64;
            lines.append(PyBytes::new(py, &line))?;
        }
        Ok(lines)
    }

    fn __iter__(slf: PyRef<'_, Self>) -> PyResult<PyRef<'_, Self>> {
        drop(slf.open_position()?);
        Ok(slf)
    }

    fn __next__<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyBytes>>> {
        let line = self.next_line(py, None)?;
        Ok((!line.is_empty()).then(|| PyBytes::new(py, &line)))
    }

    /// Where the next octet is read.
    fn tell(&self) -> PyResult<u64> {
        Ok(self.open_position()?.at)
    }

    /// Sets where the next octet is read: from the beginning, or as `whence` says for files. Octets before it are read again.
    #[pyo3(signature = (offset, whence = 0, /))]
    fn seek(&self, py: Python<'_>, offset: i64, whence: u8) -> PyResult<u64> {
        drop(self.open_position()?);
        let length = match (whence, self.inner.len()) {
            (0 | 1, _) => 0,
            (2, Some(length)) => length,
            (2, None) => {
                return Err(unsupported(
                    py,
                    "seek from the end: the length is not known",
                ));
            }
            _ => {
                return Err(PyValueError::new_err(format!(
                    "whence is 0, 1 or 2, not {whence}"
                )));
            }
        };
        let (at, old) = py.detach(|| {
            let _turn = self.turn()?;
            let mut position = self.open_position()?;
            let from = match whence {
                1 => position.at,
                _ => length,
            };
            let at = from.checked_add_signed(offset);
            let at = at.ok_or_else(|| PyOSError::new_err((EINVAL, "the position is negative")))?;
            let is_other = at != position.at;
            position.at = at;
            position.is_at_end &= !is_other;
            Ok::<_, PyErr>((at, position.reader.take_if(|_| is_other)))
        })?;
        // Not dropped while the position is locked: it may be a file of Python.
        drop(old);
        Ok(at)
    }

    fn readable(&self) -> PyResult<bool> {
        self.open_position().map(|_| true)
    }

    fn seekable(&self) -> PyResult<bool> {
        self.open_position().map(|_| true)
    }

    fn writable(&self) -> PyResult<bool> {
        self.open_position().map(|_| false)
    }

    fn isatty(&self) -> PyResult<bool> {
        self.open_position().map(|_| false)
    }

    /// Ends reading: a file that is open for it is closed. The octets stay: `bytes(…)`, `save` and sending are possible.
    fn close(&self) {
        let old = {
            let mut position = self.position();
            position.is_closed = true;
            position.reader.take()
        };
        drop(old);
    }

    /// Whether it was closed.
    #[getter]
    fn closed(&self) -> bool {
        self.position().is_closed
    }

    fn flush(&self) -> PyResult<()> {
        self.open_position().map(drop)
    }

    #[pyo3(signature = (_buffer, /))]
    fn write(&self, py: Python<'_>, _buffer: &Bound<'_, PyAny>) -> PyResult<u64> {
        Err(unsupported(py, "write: an attachment is only read"))
    }

    #[pyo3(signature = (_lines, /))]
    fn writelines(&self, py: Python<'_>, _lines: &Bound<'_, PyAny>) -> PyResult<()> {
        Err(unsupported(py, "write: an attachment is only read"))
    }

    #[pyo3(signature = (_size = None, /))]
    fn truncate(&self, py: Python<'_>, _size: Option<u64>) -> PyResult<u64> {
        Err(unsupported(py, "truncate: an attachment is only read"))
    }

    fn fileno(&self, py: Python<'_>) -> PyResult<i32> {
        Err(unsupported(
            py,
            "fileno: an attachment need not be a file of the system; save makes one",
        ))
    }

    fn detach(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        Err(unsupported(
            py,
            "detach: an attachment has no other file below it",
        ))
    }

    fn __enter__(slf: PyRef<'_, Self>) -> PyResult<PyRef<'_, Self>> {
        drop(slf.open_position()?);
        Ok(slf)
    }

    #[pyo3(signature = (*_exception))]
    fn __exit__(&self, _exception: &Bound<'_, PyTuple>) {
        self.close();
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
