//! What is imported from Python, once: classes and functions of the standard library, of numpy and of `bsoap` itself.

use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyDict, PyType};

/// The classes and functions that conversion needs.
pub(crate) struct Bridge {
    pub(crate) decimal: Py<PyAny>,
    pub(crate) decimal_type: Py<PyType>,
    pub(crate) datetime_type: Py<PyAny>,
    pub(crate) date_type: Py<PyAny>,
    /// `datetime.datetime.fromisoformat`, and those of dates and times.
    pub(crate) datetime_of: Py<PyAny>,
    pub(crate) date_of: Py<PyAny>,
    pub(crate) time_of: Py<PyAny>,
    /// The functions of `bsoap._values`.
    pub(crate) exact_datetime: Py<PyAny>,
    pub(crate) exact_date: Py<PyAny>,
    pub(crate) duration: Py<PyAny>,
    pub(crate) plain: Py<PyAny>,
    pub(crate) object_type: Py<PyType>,
    /// An array of structs by columns.
    pub(crate) columns_type: Py<PyType>,
    pub(crate) make_class: Py<PyAny>,
    pub(crate) nil: Py<PyAny>,
    /// `object.__new__`.
    pub(crate) new: Py<PyAny>,
}

impl Bridge {
    pub(crate) fn get(py: Python<'_>) -> PyResult<&'static Self> {
        static BRIDGE: PyOnceLock<Bridge> = PyOnceLock::new();
        BRIDGE.get_or_try_init(py, || Self::import(py))
    }

    fn import(py: Python<'_>) -> PyResult<Self> {
        let datetime = py.import("datetime")?;
        let decimal = py.import("decimal")?.getattr("Decimal")?;
        let values = py.import("bsoap._values")?;
        let iso =
            |name: &str| PyResult::Ok(datetime.getattr(name)?.getattr("fromisoformat")?.unbind());
        let function = |name: &str| PyResult::Ok(values.getattr(name)?.unbind());
        Ok(Self {
            decimal_type: decimal.cast::<PyType>()?.clone().unbind(),
            decimal: decimal.unbind(),
            datetime_type: datetime.getattr("datetime")?.unbind(),
            date_type: datetime.getattr("date")?.unbind(),
            datetime_of: iso("datetime")?,
            date_of: iso("date")?,
            time_of: iso("time")?,
            exact_datetime: function("exact_datetime")?,
            exact_date: function("exact_date")?,
            duration: function("parse_duration")?,
            plain: function("plain")?,
            object_type: values.getattr("Object")?.cast_into::<PyType>()?.unbind(),
            columns_type: values.getattr("Columns")?.cast_into::<PyType>()?.unbind(),
            make_class: function("make_class")?,
            nil: function("NIL")?,
            new: py
                .import("builtins")?
                .getattr("object")?
                .getattr("__new__")?
                .unbind(),
        })
    }
}

/// What is needed of numpy.
pub(crate) struct Numpy {
    pub(crate) frombuffer: Py<PyAny>,
    pub(crate) ndarray: Py<PyAny>,
    pub(crate) dtype: Py<PyAny>,
    pub(crate) float64: Py<PyAny>,
    pub(crate) float32: Py<PyAny>,
    pub(crate) int64: Py<PyAny>,
    pub(crate) uint64: Py<PyAny>,
    pub(crate) bool_: Py<PyAny>,
    /// `(8,)`: the distance of the items of a column whose items are smaller than a slot.
    pub(crate) strides: Py<PyAny>,
}

impl Numpy {
    /// numpy, imported when the first array of numbers is met; `None` if it is not installed.
    pub(crate) fn get(py: Python<'_>) -> PyResult<Option<&'static Self>> {
        static NUMPY: PyOnceLock<Option<Numpy>> = PyOnceLock::new();
        let numpy = NUMPY.get_or_try_init(py, || match py.import("numpy") {
            Ok(numpy) => Self::import(py, &numpy).map(Some),
            Err(error) if error.is_instance_of::<pyo3::exceptions::PyImportError>(py) => Ok(None),
            Err(error) => Err(error),
        });
        Ok(numpy?.as_ref())
    }

    fn import(py: Python<'_>, numpy: &Bound<'_, PyModule>) -> PyResult<Self> {
        let dtype = numpy.getattr("dtype")?;
        let of = |format: &str| PyResult::Ok(dtype.call1((format,))?.unbind());
        Ok(Self {
            frombuffer: numpy.getattr("frombuffer")?.unbind(),
            ndarray: numpy.getattr("ndarray")?.unbind(),
            float64: of("<f8")?,
            float32: of("<f4")?,
            int64: of("<i8")?,
            uint64: of("<u8")?,
            bool_: of("?")?,
            strides: (8,).into_pyobject(py)?.into_any().unbind(),
            dtype: dtype.unbind(),
        })
    }

    /// The dtype of rows: fields at their slots, hidden slots between them left out.
    pub(crate) fn row_dtype(
        &self,
        py: Python<'_>,
        fields: &[(&str, &str, usize)],
        stride: usize,
    ) -> PyResult<Py<PyAny>> {
        let description = PyDict::new(py);
        let names: Vec<_> = fields.iter().map(|field| field.0).collect();
        let formats: Vec<_> = fields.iter().map(|field| field.1).collect();
        let offsets: Vec<_> = fields.iter().map(|field| field.2 * 8).collect();
        description.set_item("names", names)?;
        description.set_item("formats", formats)?;
        description.set_item("offsets", offsets)?;
        description.set_item("itemsize", stride * 8)?;
        self.dtype.call1(py, (description,))
    }
}
