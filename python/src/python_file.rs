//! Files of Python as the content of attachments.

use std::any::Any;
use std::io::{self, BufReader, Read};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use bsoap::attachments::Content;
use pyo3::exceptions::PyTypeError;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::sync::MutexExt;
use pyo3::types::PyString;

/// This many bytes are read at once.
pub(crate) const READ_STEP: usize = 256 << 10;

/// An object of Python that has a method `read`. If it can seek, it is sent from its position, as often as is needed.
pub(crate) struct PythonFile {
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
    pub(crate) fn new(file: &Bound<'_, PyAny>) -> PyResult<Self> {
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
        self.open_at(0)
    }

    fn open_at(&self, skipped: u64) -> io::Result<Box<dyn Read + Send>> {
        if self.start.is_none() && self.is_used.swap(true, Ordering::Relaxed) {
            return Err(io::Error::other(
                "the file of an attachment cannot seek, so it is read only once",
            ));
        }
        let file = Python::try_attach(|py| self.file.clone_ref(py)).ok_or_else(ended)?;
        let reader = PythonReader {
            file,
            at: self.start.map(|start| start.saturating_add(skipped)),
            moving: Arc::clone(&self.moving),
        };
        let mut reader = BufReader::with_capacity(READ_STEP, reader);
        if self.start.is_none() {
            io::copy(&mut reader.by_ref().take(skipped), &mut io::sink())?;
        }
        Ok(Box::new(reader))
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
