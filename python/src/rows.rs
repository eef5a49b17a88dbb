//! Rows of structs that are given by columns.

use bsoap::codec::Text;
use bsoap::{Object, Value};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

/// A column of rows, or those of a nested struct.
enum RowColumn {
    Values(Value),
    Struct(Vec<(Text, RowColumn)>),
}

impl RowColumn {
    /// The value in a row, which is taken out.
    fn take(&mut self, row: usize) -> Value {
        match self {
            Self::Values(Value::Doubles(values)) => Value::Double(values[row]),
            Self::Values(Value::Floats(values)) => Value::Float(values[row]),
            Self::Values(Value::Ints(values)) => Value::Int(values[row]),
            Self::Values(Value::Array(values)) => std::mem::take(&mut values[row]),
            Self::Values(_) => Value::Nil,
            Self::Struct(members) => {
                let object: Object = take_row(members, row);
                // A struct of which nothing is there is absent.
                let is_absent = object.iter().all(|(_, value)| value.is_nil());
                if is_absent {
                    Value::Nil
                } else {
                    Value::Object(object)
                }
            }
        }
    }
}

fn take_row(members: &mut [(Text, RowColumn)], row: usize) -> Object {
    // Of derived types each has only some of the members.
    let is_derived = members
        .iter()
        .any(|(key, _)| matches!(key.as_str(), "@type" | "@xsi:type"));
    let members = members.iter_mut();
    members
        .map(|(key, column)| (key, column.take(row)))
        // Attributes are never nil.
        .filter(|(key, value)| !value.is_nil() || !(is_derived || key.starts_with(['@', '#'])))
        .map(|(key, value)| (key.clone(), value))
        .collect()
}

/// The rows of columns of the same length; a dot in a name begins a member of a nested struct.
pub(crate) fn rows_of(columns: Vec<(String, Value)>) -> PyResult<Value> {
    let count = columns.first().map_or(0, |(_, values)| values.len());
    let mut members = Vec::new();
    for (name, values) in columns {
        if !values.is_array() || values.len() != count {
            return Err(PyValueError::new_err(format!(
                "column {name:?} does not have {count} values"
            )));
        }
        insert(&mut members, &name, values);
    }
    let rows = (0..count).map(|row| Value::Object(take_row(&mut members, row)));
    Ok(Value::Array(rows.collect()))
}

fn insert(members: &mut Vec<(Text, RowColumn)>, name: &str, values: Value) {
    let Some((first, rest)) = name.split_once('.') else {
        members.push((Text::from(name), RowColumn::Values(values)));
        return;
    };
    if let Some((_, RowColumn::Struct(inner))) = members.iter_mut().find(|(key, _)| key == first) {
        return insert(inner, rest, values);
    }
    let mut inner = Vec::new();
    insert(&mut inner, rest, values);
    members.push((Text::from(first), RowColumn::Struct(inner)));
}
