//! Tables of Arrow: arrays of messages as columns, and the Arrow C data interface for pandas, polars, pyarrow and others.

use std::ffi::CStr;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::ffi::{FFI_ArrowArray, FFI_ArrowSchema, to_ffi};
use arrow_array::ffi_stream::FFI_ArrowArrayStream;
use arrow_array::types::{
    Date32Type, Decimal128Type, DurationMicrosecondType, Float32Type, Float64Type, Int64Type,
    Time64MicrosecondType, TimestampMicrosecondType, UInt64Type,
};
use arrow_array::{
    Array, ArrayRef, Float64Array, Int64Array, RecordBatch, RecordBatchIterator, StructArray,
};
use arrow_buffer::{Buffer, ScalarBuffer};
use arrow_schema::{ArrowError, DataType, Field, Schema, SchemaRef};
use bsoap::Record;
use bsoap::codec::View;
use bsoap::codec::plan::{Content, ElementId, LeafKind};
use bytes::Bytes;
use pyo3::buffer::PyBuffer;
use pyo3::exceptions::{PyIndexError, PyKeyError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyBytes, PyCapsule, PyList, PyString, PyTuple};

use crate::binary::Binary;
use crate::bridge::Bridge;
use crate::collect::{ColumnSpec, Kind, Meaning, RawBatch, Refused, RowCollector, finish};
use crate::layout::{Found, Layout, Path};
use crate::plan::PythonPlan;

const STREAM: &CStr = c"arrow_array_stream";
const SCHEMA: &CStr = c"arrow_schema";
const ARRAY: &CStr = c"arrow_array";

/// Rows in batches, by columns.
#[pyclass(frozen, module = "bsoap._bsoap")]
pub(crate) struct Table {
    schema: SchemaRef,
    batches: Vec<RecordBatch>,
    notes: Vec<String>,
}

/// A column of a table, in one piece.
#[pyclass(frozen, module = "bsoap._bsoap")]
pub(crate) struct Series {
    field: Arc<Field>,
    array: ArrayRef,
}

fn arrow_error(error: ArrowError) -> PyErr {
    PyValueError::new_err(error.to_string())
}

impl Table {
    pub(crate) fn new(schema: SchemaRef, batches: Vec<RecordBatch>, notes: Vec<String>) -> Self {
        Self {
            schema,
            batches,
            notes,
        }
    }

    pub(crate) fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    /// Columns and batches of them as a table.
    pub(crate) fn finish(
        specs: &[ColumnSpec],
        batches: Vec<RawBatch>,
        notes: Vec<String>,
        fixed: Option<&SchemaRef>,
    ) -> Result<Self, ArrowError> {
        let (schema, batches) = finish(specs, batches, fixed)?;
        Ok(Self::new(schema, batches, notes))
    }

    fn series(&self, index: usize) -> PyResult<Series> {
        let field = Arc::clone(&self.schema.fields()[index]);
        let arrays: Vec<&dyn Array> = self
            .batches
            .iter()
            .map(|batch| batch.column(index).as_ref())
            .collect();
        let array = match &arrays[..] {
            [] => arrow_array::new_empty_array(field.data_type()),
            [_] => Arc::clone(self.batches[0].column(index)),
            arrays => arrow_select::concat::concat(arrays).map_err(arrow_error)?,
        };
        Ok(Series { field, array })
    }
}

/// The elements of a message that a path leads to, as a table; without a path those in the Body. What came beside the message is
/// octets in it, within the limit of `binary`.
pub(crate) fn table_of<'py>(
    py: Python<'py>,
    plan: &Arc<PythonPlan>,
    record: &Arc<Record>,
    binary: Binary,
    path: Option<&str>,
) -> PyResult<Bound<'py, PyAny>> {
    public(py, py.detach(|| read_table(plan, record, binary, path))?)
}

/// A table as the public class `bsoap.Table`.
pub(crate) fn public(py: Python<'_>, table: Table) -> PyResult<Bound<'_, PyAny>> {
    let class = py.import("bsoap._table")?.getattr("Table")?;
    class.call1((table,))
}

fn read_table(
    plan: &Arc<PythonPlan>,
    record: &Arc<Record>,
    binary: Binary,
    path: Option<&str>,
) -> PyResult<Table> {
    let body = View::of(record).child("Body");
    let root = body.and_then(|body| body.children().next());
    let root = root.ok_or_else(|| PyValueError::new_err("the Body of the message is empty"))?;
    let path = path.map(Path::parse).transpose();
    let path = path.map_err(PyValueError::new_err)?;
    let element = match &path {
        Some(path) => {
            let element = path.element(plan, root.element_id());
            element.map_err(PyValueError::new_err)?
        }
        None => root.element_id(),
    };
    let mut found = Vec::new();
    match &path {
        Some(path) => path.visit(root, &mut |part| found.push(part)),
        None => found.push(Found::Row(root)),
    }
    if let [Found::Rows(rows)] = &found[..]
        && let Some(table) = numbers(plan, record, element, rows.slots())
    {
        return Ok(table);
    }
    let layout = Layout::new(plan, element);
    let mut rows = RowCollector::new(&layout.columns, binary);
    for part in found {
        match part {
            Found::Rows(found) => layout.add_rows(&found, &mut rows, 0),
            Found::Children(view, name) => layout.add_all(&view, &name, &mut rows, 0, |_| {}),
            Found::Row(view) => layout.add(&view, &mut rows, 0),
        }
    }
    if let Some(refused) = rows.refused() {
        let Refused {
            attachment,
            problem,
        } = refused;
        let advice = "max_response=… accepts more";
        let raised = Python::attach(|py| problem.raise(py, record, &attachment, advice));
        return Err(raised);
    }
    let (columns, notes) = (&layout.columns, layout.notes.clone());
    Table::finish(columns, rows.finish(), notes, None).map_err(arrow_error)
}

/// Numbers of 64 bits as a table of one column that shares the slots of the Record; `None` if they are something else.
fn numbers(
    plan: &PythonPlan,
    record: &Arc<Record>,
    element: ElementId,
    slots: std::ops::Range<usize>,
) -> Option<Table> {
    let plan = plan.plan();
    let declared = plan.element(element);
    let Content::Simple(leaf) = plan.ty(declared.ty).content else {
        return None;
    };
    if declared.stride != Some(1) || slots.is_empty() {
        return None;
    }
    let count = slots.len();
    let owner = Bytes::from_owner(Slots {
        record: Arc::clone(record),
        slots,
    });
    let buffer = Buffer::from(owner);
    let array: ArrayRef = match plan.leaf(leaf).kind {
        LeafKind::Double => Arc::new(Float64Array::new(ScalarBuffer::new(buffer, 0, count), None)),
        LeafKind::Unsigned { max } if i64::try_from(max).is_err() => return None,
        LeafKind::Signed { .. } | LeafKind::Unsigned { .. } => {
            Arc::new(Int64Array::new(ScalarBuffer::new(buffer, 0, count), None))
        }
        _ => return None,
    };
    let name = plan.vocabulary().local(declared.name);
    let field = Field::new(name, array.data_type().clone(), true);
    let schema = Arc::new(Schema::new(vec![field]));
    let batch = RecordBatch::try_new(Arc::clone(&schema), vec![array]).ok()?;
    Some(Table::new(schema, vec![batch], Vec::new()))
}

/// Slots of a Record as bytes, which they keep alive.
struct Slots {
    record: Arc<Record>,
    slots: std::ops::Range<usize>,
}

impl AsRef<[u8]> for Slots {
    fn as_ref(&self) -> &[u8] {
        let slots = self.record.slots().get(self.slots.clone());
        bytemuck::cast_slice(slots.unwrap_or_default())
    }
}

#[pymethods]
impl Table {
    /// A table of columns: `(name, kind, values)`, where the values are a buffer of numbers or a list.
    #[staticmethod]
    fn of_columns(
        columns: Vec<(String, String, Bound<'_, PyAny>)>,
        notes: Vec<String>,
    ) -> PyResult<Self> {
        let mut specs = Vec::new();
        let mut arrays: Vec<ArrayRef> = Vec::new();
        for (name, kind, values) in columns {
            let spec = spec(name, &kind)?;
            arrays.push(values_array(&spec, &values)?);
            specs.push(spec);
        }
        let rows = arrays.first().map_or(0, |array| array.len());
        if arrays.iter().any(|array| array.len() != rows) {
            return Err(PyValueError::new_err("the columns differ in their lengths"));
        }
        let batches = match rows {
            0 => Vec::new(),
            rows => vec![RawBatch { arrays, rows }],
        };
        Self::finish(&specs, batches, notes, None).map_err(arrow_error)
    }

    #[getter]
    fn names(&self) -> Vec<&str> {
        let fields = self.schema.fields().iter();
        fields.map(|field| field.name().as_str()).collect()
    }

    #[getter]
    fn types(&self) -> Vec<String> {
        let fields = self.schema.fields().iter();
        fields.map(|field| type_name(field.data_type())).collect()
    }

    #[getter]
    fn notes(&self) -> Vec<String> {
        self.notes.clone()
    }

    #[getter]
    fn nbytes(&self) -> usize {
        let batches = self.batches.iter();
        batches.map(RecordBatch::get_array_memory_size).sum()
    }

    #[getter]
    fn num_batches(&self) -> usize {
        self.batches.len()
    }

    fn __len__(&self) -> usize {
        self.batches.iter().map(RecordBatch::num_rows).sum()
    }

    fn column(&self, name: &str) -> PyResult<Series> {
        match self.schema.index_of(name) {
            Ok(index) => self.series(index),
            Err(_) => Err(PyKeyError::new_err(name.to_owned())),
        }
    }

    /// The rows from `offset` on, at most `length`, without a copy.
    fn slice(&self, offset: usize, length: usize) -> Self {
        let (mut skip, mut left) = (offset, length);
        let mut batches = Vec::new();
        for batch in &self.batches {
            let first = skip.min(batch.num_rows());
            let count = left.min(batch.num_rows() - first);
            skip -= first;
            left -= count;
            if count > 0 {
                batches.push(batch.slice(first, count));
            }
        }
        Self::new(Arc::clone(&self.schema), batches, self.notes.clone())
    }

    fn __arrow_c_schema__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        let schema = FFI_ArrowSchema::try_from(self.schema.as_ref()).map_err(arrow_error)?;
        PyCapsule::new_with_value(py, schema, SCHEMA)
    }

    #[pyo3(signature = (requested_schema = None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        // The interface allows a producer to leave the request out of account.
        drop(requested_schema);
        let batches = self.batches.clone().into_iter().map(Ok);
        let reader = RecordBatchIterator::new(batches, Arc::clone(&self.schema));
        PyCapsule::new_with_value(py, FFI_ArrowArrayStream::new(Box::new(reader)), STREAM)
    }

    #[pyo3(signature = (requested_schema = None))]
    fn __arrow_c_array__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyTuple>> {
        drop(requested_schema);
        let batch = match &self.batches[..] {
            [] => RecordBatch::new_empty(Arc::clone(&self.schema)),
            [batch] => batch.clone(),
            batches => {
                arrow_select::concat::concat_batches(&self.schema, batches).map_err(arrow_error)?
            }
        };
        array_capsules(py, &StructArray::from(batch))
    }
}

/// The two capsules of an array.
fn array_capsules<'py>(py: Python<'py>, array: &dyn Array) -> PyResult<Bound<'py, PyTuple>> {
    let (array, schema): (FFI_ArrowArray, FFI_ArrowSchema) =
        to_ffi(&array.to_data()).map_err(arrow_error)?;
    let schema = PyCapsule::new_with_value(py, schema, SCHEMA)?;
    let array = PyCapsule::new_with_value(py, array, ARRAY)?;
    PyTuple::new(py, [schema, array])
}

#[pymethods]
impl Series {
    #[getter]
    fn name(&self) -> &str {
        self.field.name()
    }

    #[getter]
    fn r#type(&self) -> String {
        type_name(self.field.data_type())
    }

    #[getter]
    fn null_count(&self) -> usize {
        self.array.null_count()
    }

    fn __len__(&self) -> usize {
        self.array.len()
    }

    fn __getitem__<'py>(&self, py: Python<'py>, index: isize) -> PyResult<Bound<'py, PyAny>> {
        let index = match index {
            0.. => Some(index.unsigned_abs()),
            _ => self.array.len().checked_sub(index.unsigned_abs()),
        };
        match index.filter(|&index| index < self.array.len()) {
            Some(index) => item(py, self.array.as_ref(), index),
            None => Err(PyIndexError::new_err("index out of range")),
        }
    }

    /// The values as Python objects, null as None.
    fn to_list<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        list(py, self.array.as_ref())
    }

    /// The bytes of the values, their format of numpy, and the indexes of nulls; None if numpy has no such type.
    fn memory<'py>(
        &self,
        py: Python<'py>,
    ) -> Option<(Bound<'py, PyBytes>, &'static str, Vec<usize>)> {
        let format = match self.array.data_type() {
            DataType::Float64 => "<f8",
            DataType::Float32 => "<f4",
            DataType::Int64 => "<i8",
            DataType::UInt64 => "<u8",
            DataType::Timestamp(..) => "<M8[us]",
            DataType::Duration(_) => "<m8[us]",
            DataType::Date32 => "<i4",
            _ => return None,
        };
        let width = self.array.data_type().primitive_width()?;
        let data = self.array.to_data();
        let first = data.offset() * width;
        let bytes = data
            .buffers()
            .first()?
            .get(first..first + data.len() * width)?;
        let nulls = (0..self.array.len()).filter(|&index| self.array.is_null(index));
        Some((PyBytes::new(py, bytes), format, nulls.collect()))
    }

    fn __arrow_c_schema__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        let schema = FFI_ArrowSchema::try_from(self.field.as_ref()).map_err(arrow_error)?;
        PyCapsule::new_with_value(py, schema, SCHEMA)
    }

    #[pyo3(signature = (requested_schema = None))]
    fn __arrow_c_array__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyTuple>> {
        drop(requested_schema);
        array_capsules(py, self.array.as_ref())
    }
}

fn type_name(ty: &DataType) -> String {
    match ty {
        DataType::Float64 => "double".into(),
        DataType::Float32 => "float".into(),
        DataType::Utf8 => "text".into(),
        DataType::Boolean => "bool".into(),
        DataType::Timestamp(_, None) => "timestamp[us]".into(),
        DataType::Timestamp(_, Some(zone)) => format!("timestamp[us, {zone}]"),
        DataType::Date32 => "date".into(),
        DataType::Time64(_) => "time[us]".into(),
        DataType::Duration(_) => "duration[us]".into(),
        DataType::Decimal128(_, scale) => format!("decimal[{scale}]"),
        DataType::List(item) => format!("list[{}]", type_name(item.data_type())),
        ty => ty.to_string().to_lowercase(),
    }
}

fn list<'py>(py: Python<'py>, array: &dyn Array) -> PyResult<Bound<'py, PyList>> {
    let items = (0..array.len()).map(|index| item(py, array, index));
    PyList::new(py, items.collect::<PyResult<Vec<_>>>()?)
}

/// A value of an array as a Python object.
fn item<'py>(py: Python<'py>, array: &dyn Array, index: usize) -> PyResult<Bound<'py, PyAny>> {
    if array.is_null(index) {
        return Ok(py.None().into_bound(py));
    }
    macro_rules! number {
        ($ty:ty) => {
            array.as_primitive::<$ty>().value(index)
        };
    }
    Ok(match array.data_type() {
        DataType::Float64 => number!(Float64Type).into_pyobject(py)?.into_any(),
        DataType::Float32 => number!(Float32Type).into_pyobject(py)?.into_any(),
        DataType::Int64 => number!(Int64Type).into_pyobject(py)?.into_any(),
        DataType::UInt64 => number!(UInt64Type).into_pyobject(py)?.into_any(),
        DataType::Boolean => {
            let value = array.as_boolean().value(index);
            PyBool::new(py, value).to_owned().into_any()
        }
        DataType::Utf8 => PyString::new(py, array.as_string::<i32>().value(index)).into_any(),
        DataType::Binary => PyBytes::new(py, array.as_binary::<i32>().value(index)).into_any(),
        DataType::List(_) => list(py, array.as_list::<i32>().value(index).as_ref())?.into_any(),
        DataType::Decimal128(..) => {
            let text = array
                .as_primitive::<Decimal128Type>()
                .value_as_string(index);
            Bridge::get(py)?.decimal.bind(py).call1((text,))?
        }
        DataType::Timestamp(_, zone) => {
            let module = py.import("datetime")?;
            let zone = match zone {
                Some(_) => module.getattr("timezone")?.getattr("utc")?,
                None => py.None().into_bound(py),
            };
            let epoch = module
                .getattr("datetime")?
                .call1((1970, 1, 1, 0, 0, 0, 0, zone))?;
            epoch.add(since(py, 0, number!(TimestampMicrosecondType))?)?
        }
        DataType::Date32 => {
            let class = py.import("datetime")?.getattr("date")?;
            let epoch = class.call1((1970, 1, 1))?;
            epoch.add(since(py, i64::from(number!(Date32Type)), 0)?)?
        }
        DataType::Time64(_) => {
            let class = py.import("datetime")?.getattr("datetime")?;
            let epoch = class.call1((1970, 1, 1))?;
            let moment = epoch.add(since(py, 0, number!(Time64MicrosecondType))?)?;
            moment.call_method0("time")?
        }
        DataType::Duration(_) => since(py, 0, number!(DurationMicrosecondType))?,
        ty => {
            let message = format!("values of type {ty} have no Python form");
            return Err(PyTypeError::new_err(message));
        }
    })
}

/// A `timedelta`.
fn since(py: Python<'_>, days: i64, microseconds: i64) -> PyResult<Bound<'_, PyAny>> {
    let class = py.import("datetime")?.getattr("timedelta")?;
    class.call1((days, 0, microseconds))
}

/// A column by the name of its kind: `f8`, `f4`, `i8`, `u8`, `?`, `binary`, `text`, `datetime`, `date`, `time`, `duration`, `decimal`,
/// `integer`; those of lists begin with `list:`.
fn spec(name: String, kind: &str) -> PyResult<ColumnSpec> {
    let (kind, is_list) = match kind.strip_prefix("list:") {
        Some(kind) => (kind, true),
        None => (kind, false),
    };
    let kind = match kind {
        "f8" => Kind::Double,
        "f4" => Kind::Float,
        "i8" => Kind::Int,
        "u8" => Kind::UInt,
        "?" => Kind::Bool,
        "binary" => Kind::Binary,
        "text" => Kind::Text(Meaning::Text),
        "datetime" => Kind::Text(Meaning::DateTime),
        "date" => Kind::Text(Meaning::Date),
        "time" => Kind::Text(Meaning::Time),
        "duration" => Kind::Text(Meaning::Duration),
        "decimal" => Kind::Text(Meaning::Decimal(None)),
        "integer" => Kind::Text(Meaning::Integer),
        _ => {
            return Err(PyValueError::new_err(format!(
                "no kind of column: {kind:?}"
            )));
        }
    };
    Ok(ColumnSpec {
        name,
        kind,
        is_list,
    })
}

/// The values of a column as an array.
fn values_array(spec: &ColumnSpec, values: &Bound<'_, PyAny>) -> PyResult<ArrayRef> {
    let py = values.py();
    if !spec.is_list && values.cast::<PyList>().is_err() {
        match spec.kind {
            Kind::Double => {
                let numbers = PyBuffer::<f64>::get(values)?.to_vec(py)?;
                return Ok(Arc::new(Float64Array::from(numbers)));
            }
            Kind::Int => {
                let numbers = PyBuffer::<i64>::get(values)?.to_vec(py)?;
                return Ok(Arc::new(Int64Array::from(numbers)));
            }
            _ => {}
        }
    }
    let mut rows = RowCollector::new(std::slice::from_ref(spec), Binary::INLINE);
    for value in values.try_iter()? {
        let value = value?;
        let Some(column) = rows.next(0) else {
            continue;
        };
        match spec.is_list {
            true if value.is_none() => {}
            true => {
                for value in value.try_iter()? {
                    add(column, spec.kind, &value?)?;
                }
            }
            false => add(column, spec.kind, &value)?,
        }
        rows.end_row();
    }
    let batches = rows.finish();
    match &batches[..] {
        [] => {
            let mut empty = RowCollector::new(std::slice::from_ref(spec), Binary::INLINE);
            Ok(empty.take_arrays().remove(0))
        }
        [batch] => Ok(Arc::clone(&batch.arrays[0])),
        _ => Err(PyValueError::new_err(format!(
            "column {:?} is too large",
            spec.name
        ))),
    }
}

fn add(
    column: &mut crate::collect::Collected,
    kind: Kind,
    value: &Bound<'_, PyAny>,
) -> PyResult<()> {
    if value.is_none() {
        column.push_null();
        return Ok(());
    }
    match kind {
        Kind::Double | Kind::Float => column.push_double(value.extract()?),
        Kind::Int => column.push_int(i128::from(value.extract::<i64>()?)),
        Kind::UInt => column.push_int(i128::from(value.extract::<u64>()?)),
        Kind::Bool => column.push_int(i128::from(value.is_truthy()?)),
        Kind::Binary => column.push_octets(value.cast::<PyBytes>()?.as_bytes()),
        Kind::Text(_) => column.push_text(value.cast::<PyString>()?.to_str()?),
    }
    Ok(())
}
