//! Slots of a Record as memory that Python can read: the buffer protocol.

use std::ffi::{c_int, c_void};
use std::ops::Range;
use std::ptr;
use std::sync::Arc;

use bsoap::Record;
use bsoap::codec::plan::LeafKind;
use pyo3::exceptions::{PyBufferError, PyIndexError};
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::PyList;

use crate::make::number;

/// Numbers of a message, read-only and without a copy. It is what `numpy.frombuffer` reads, and a sequence where there is no numpy.
#[pyclass(frozen, module = "bsoap._bsoap", sequence)]
pub(crate) struct Column {
    record: Arc<Record>,
    slots: Range<usize>,
    /// The slots of each item: one for numbers.
    stride: usize,
    kind: LeafKind,
}

impl Column {
    /// The range lies within the slots of the Record.
    pub(crate) fn new(
        record: &Arc<Record>,
        slots: Range<usize>,
        stride: usize,
        kind: LeafKind,
    ) -> Self {
        Self {
            record: Arc::clone(record),
            slots,
            stride: stride.max(1),
            kind,
        }
    }

    fn slots(&self) -> &[u64] {
        self.record
            .slots()
            .get(self.slots.clone())
            .unwrap_or_default()
    }

    fn item(&self, py: Python<'_>, index: usize) -> Option<Py<PyAny>> {
        let slot = *self.slots().get(index.checked_mul(self.stride)?)?;
        number(py, self.kind, slot)
    }
}

#[pymethods]
impl Column {
    fn __len__(&self) -> usize {
        self.slots().len() / self.stride
    }

    fn __getitem__(&self, py: Python<'_>, index: isize) -> PyResult<Py<PyAny>> {
        let index = match index {
            0.. => Some(index.unsigned_abs()),
            _ => self.__len__().checked_sub(index.unsigned_abs()),
        };
        let item = index.and_then(|index| self.item(py, index));
        item.ok_or_else(|| PyIndexError::new_err("index out of range"))
    }

    /// The numbers as a list.
    fn tolist<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        PyList::new(
            py,
            (0..self.__len__()).filter_map(|index| self.item(py, index)),
        )
    }

    fn __eq__(&self, py: Python<'_>, other: &Bound<'_, PyAny>) -> PyResult<bool> {
        let mine = self.tolist(py)?;
        match other.cast::<Self>() {
            Ok(other) => mine.eq(other.get().tolist(py)?),
            Err(_) => mine.eq(other),
        }
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        Ok(self.tolist(py)?.repr()?.to_string())
    }

    /// The slots as read-only memory: 8-byte items of the format of the numbers, or bytes if a row has several.
    #[allow(unsafe_code)]
    unsafe fn __getbuffer__(
        slf: Bound<'_, Self>,
        view: *mut ffi::Py_buffer,
        flags: c_int,
    ) -> PyResult<()> {
        if view.is_null() {
            return Err(PyBufferError::new_err("no buffer to fill"));
        }
        if flags & ffi::PyBUF_WRITABLE == ffi::PyBUF_WRITABLE {
            return Err(PyBufferError::new_err(
                "the numbers of a message are read-only: copy them",
            ));
        }
        let slots = slf.get().slots();
        let data = slots.as_ptr().cast_mut().cast::<c_void>();
        let bytes = size_of_val(slots) as ffi::Py_ssize_t;
        // SAFETY: `view` is not null and, by the buffer protocol, points to a Py_buffer that this function fills. `data` points to
        // `bytes` bytes that are never written: a Record behind an Arc is not changed, `Column` is frozen and keeps the Arc, and the
        // view keeps the Column by `obj` (the reference that `into_ptr` gives away). The view has one dimension of bytes, whose
        // shape and stride are fields of the view itself.
        unsafe {
            (*view).obj = slf.clone().into_any().into_ptr();
            (*view).buf = data;
            (*view).len = bytes;
            (*view).readonly = 1;
            (*view).itemsize = 1;
            (*view).format = ptr::null_mut();
            (*view).ndim = 1;
            (*view).shape = match flags & ffi::PyBUF_ND == ffi::PyBUF_ND {
                true => &raw mut (*view).len,
                false => ptr::null_mut(),
            };
            (*view).strides = match flags & ffi::PyBUF_STRIDES == ffi::PyBUF_STRIDES {
                true => &raw mut (*view).itemsize,
                false => ptr::null_mut(),
            };
            (*view).suboffsets = ptr::null_mut();
            (*view).internal = ptr::null_mut();
        }
        Ok(())
    }
}
