//! The columns of a table while its rows are added, and their Arrow arrays.
//!
//! Dates and decimals are collected as texts. Only when all rows are there is it known whether all dates have a zone, or how many
//! digits the decimals need: [`finish`] decides the type of each column and converts all of its batches.

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;

use arrow_array::builder::{
    BinaryBuilder, BooleanBuilder, Float32Builder, Float64Builder, Int64Builder, StringBuilder,
    UInt64Builder,
};
use arrow_array::cast::AsArray;
use arrow_array::types::Int64Type;
use arrow_array::{
    Array, ArrayRef, Date32Array, Decimal128Array, DurationMicrosecondArray, Int64Array, ListArray,
    PrimitiveArray, RecordBatch, RecordBatchOptions, StringArray, Time64MicrosecondArray,
    TimestampMicrosecondArray,
};
use arrow_buffer::{OffsetBuffer, ScalarBuffer};
use arrow_schema::{ArrowError, DataType, Field, Schema, SchemaRef, TimeUnit};
use bsoap::codec::plan::LeafKind;
use bsoap::codec::{LeafView, Scalar};
use bsoap::datatypes::{Calendar, Datatype, Duration};
use bsoap::{Attachment, Record};

use crate::beside::{Budget, Problem};
use crate::binary::Binary;

/// What a column holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Double,
    Float,
    Int,
    UInt,
    Bool,
    Binary,
    Text(Meaning),
}

/// What the texts of a column mean.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Meaning {
    Text,
    DateTime,
    Date,
    Time,
    Duration,
    /// With the number of digits after the point, if the schema limits it.
    Decimal(Option<i8>),
    Integer,
}

/// A column: its name, what it holds, and whether each row has a list of it.
#[derive(Clone, Debug)]
pub(crate) struct ColumnSpec {
    pub(crate) name: String,
    pub(crate) kind: Kind,
    pub(crate) is_list: bool,
}

/// The digits of the decimals of Arrow.
const DECIMAL_DIGITS: u8 = 38;

/// A batch ends when a column has this many bytes of text or items: the offsets of Arrow's texts and lists have 31 bits.
pub(crate) const BATCH_BYTES: usize = 1 << 29;

enum Store {
    Double(Float64Builder),
    Float(Float32Builder),
    Int(Int64Builder),
    UInt(UInt64Builder),
    Bool(BooleanBuilder),
    Binary(BinaryBuilder),
    Text(StringBuilder),
}

/// A column that rows are added to.
pub(crate) struct Collected {
    items: Store,
    /// Where the list of each row ends; `None` if rows have single values.
    ends: Option<Vec<i32>>,
    attached: Rc<RefCell<Attached>>,
}

/// The attachments in all columns of a table.
struct Attached {
    budget: Budget,
    /// The first attachment that is not in the table, and why. Nothing is read after it.
    refused: Option<Refused>,
}

/// An attachment whose octets are not in a table.
pub(crate) struct Refused {
    pub(crate) attachment: Attachment,
    pub(crate) problem: Problem,
}

impl Collected {
    fn new(spec: &ColumnSpec, attached: &Rc<RefCell<Attached>>) -> Self {
        let items = match spec.kind {
            Kind::Double => Store::Double(Float64Builder::new()),
            Kind::Float => Store::Float(Float32Builder::new()),
            Kind::Int => Store::Int(Int64Builder::new()),
            Kind::UInt => Store::UInt(UInt64Builder::new()),
            Kind::Bool => Store::Bool(BooleanBuilder::new()),
            Kind::Binary => Store::Binary(BinaryBuilder::new()),
            Kind::Text(_) => Store::Text(StringBuilder::new()),
        };
        Self {
            items,
            ends: spec.is_list.then(|| vec![0]),
            attached: Rc::clone(attached),
        }
    }

    fn items_len(&self) -> usize {
        use arrow_array::builder::ArrayBuilder;
        match &self.items {
            Store::Double(items) => items.len(),
            Store::Float(items) => items.len(),
            Store::Int(items) => items.len(),
            Store::UInt(items) => items.len(),
            Store::Bool(items) => items.len(),
            Store::Binary(items) => items.len(),
            Store::Text(items) => items.len(),
        }
    }

    pub(crate) fn is_list(&self) -> bool {
        self.ends.is_some()
    }

    /// Makes the next value one of row `row`: the rows before it that have none get null or an empty list. Whether the row can still get
    /// a value. Columns that few rows have cost nothing in the others.
    pub(crate) fn begin_row(&mut self, row: usize) -> bool {
        let count = self.items_len();
        match &mut self.ends {
            Some(ends) => {
                let end = i32::try_from(count).unwrap_or(i32::MAX);
                ends.resize((row + 1).max(ends.len()), end);
                true
            }
            None if count < row => {
                self.push_nulls(row - count);
                true
            }
            None => count == row,
        }
    }

    /// Whether the batch should end.
    pub(crate) fn is_full(&self) -> bool {
        match &self.items {
            Store::Text(items) => items.values_slice().len() > BATCH_BYTES,
            Store::Binary(items) => items.values_slice().len() > BATCH_BYTES,
            _ => self.items_len() > BATCH_BYTES,
        }
    }

    /// Whether the offsets of the column allow this number of further bytes. Only one row of more than a gigabyte can exceed them; what
    /// does not fit of it is null, and the table is not made if that is an attachment.
    fn can_hold(&self, bytes: usize) -> bool {
        let used = match &self.items {
            Store::Text(items) => items.values_slice().len(),
            Store::Binary(items) => items.values_slice().len(),
            _ => self.items_len(),
        };
        i32::try_from(used.saturating_add(bytes)).is_ok()
    }

    pub(crate) fn push_null(&mut self) {
        match &mut self.items {
            Store::Double(items) => items.append_null(),
            Store::Float(items) => items.append_null(),
            Store::Int(items) => items.append_null(),
            Store::UInt(items) => items.append_null(),
            Store::Bool(items) => items.append_null(),
            Store::Binary(items) => items.append_null(),
            Store::Text(items) => items.append_null(),
        }
    }

    fn push_nulls(&mut self, count: usize) {
        match &mut self.items {
            Store::Double(items) => items.append_nulls(count),
            Store::Float(items) => items.append_nulls(count),
            Store::Int(items) => items.append_nulls(count),
            Store::UInt(items) => items.append_nulls(count),
            Store::Bool(items) => items.append_nulls(count),
            Store::Binary(items) => (0..count).for_each(|_| items.append_null()),
            Store::Text(items) => (0..count).for_each(|_| items.append_null()),
        }
    }

    /// Adds a simple value of a message.
    pub(crate) fn push(&mut self, leaf: LeafView<'_>) {
        match &mut self.items {
            Store::Double(items) => items.append_option(leaf.as_f64()),
            Store::Float(items) => items.append_option(leaf.as_f64().map(|value| value as f32)),
            Store::Int(items) => items.append_option(leaf.as_i64()),
            Store::UInt(items) => items.append_option(leaf.as_u64()),
            Store::Bool(items) => items.append_option(leaf.as_bool()),
            Store::Binary(_) => match (leaf.attachment(), leaf.octets()) {
                (Some(attachment), _) => self.push_attachment(attachment),
                (None, Some(octets)) => self.push_octets(octets),
                (None, None) => self.push_null(),
            },
            Store::Text(_) => self.push_text(&leaf.text()),
        }
    }

    pub(crate) fn push_text(&mut self, text: &str) {
        let can_hold = self.can_hold(text.len());
        match &mut self.items {
            Store::Text(items) if can_hold => items.append_value(text),
            Store::Bool(items) => items.append_value(text == "true"),
            _ => self.push_null(),
        }
    }

    pub(crate) fn push_octets(&mut self, octets: &[u8]) {
        let can_hold = self.can_hold(octets.len());
        match &mut self.items {
            Store::Binary(items) if can_hold => items.append_value(octets),
            _ => self.push_null(),
        }
    }

    /// Adds the octets of an attachment. If they are too many or cannot be read, the table is not made.
    fn push_attachment(&mut self, attachment: &Attachment) {
        let attached = Rc::clone(&self.attached);
        let mut attached = attached.borrow_mut();
        if attached.refused.is_some() {
            return self.push_null();
        }
        if let Err(problem) = self.add_attachment(&mut attached.budget, attachment) {
            self.push_null();
            attached.refused = Some(Refused {
                attachment: attachment.clone(),
                problem,
            });
        }
    }

    fn add_attachment(
        &mut self,
        budget: &mut Budget,
        attachment: &Attachment,
    ) -> Result<(), Problem> {
        budget.take(attachment)?;
        let length = attachment.len().unwrap_or(u64::MAX);
        let length = usize::try_from(length).unwrap_or(usize::MAX);
        if !self.can_hold(length) {
            return Err(Problem::TooLongForColumn);
        }
        if let Some(octets) = attachment.content().as_bytes() {
            self.push_octets(octets);
            return Ok(());
        }
        let mut octets = vec![0; length];
        let opened = attachment.open();
        let read = opened.and_then(|mut reader| reader.read_exact(&mut octets));
        read.map_err(Problem::Unreadable)?;
        self.push_octets(&octets);
        Ok(())
    }

    pub(crate) fn push_double(&mut self, value: f64) {
        match &mut self.items {
            Store::Double(items) => items.append_value(value),
            Store::Float(items) => items.append_value(value as f32),
            _ => self.push_null(),
        }
    }

    pub(crate) fn push_int(&mut self, value: i128) {
        match &mut self.items {
            Store::Int(items) => items.append_option(i64::try_from(value).ok()),
            Store::UInt(items) => items.append_option(u64::try_from(value).ok()),
            Store::Bool(items) => items.append_value(value != 0),
            Store::Double(items) => items.append_value(value as f64),
            Store::Float(items) => items.append_value(value as f32),
            _ => self.push_null(),
        }
    }

    /// Adds the values in these slots of a Record, whose kind is that of the column and whose heap is smaller than [`BATCH_BYTES`].
    pub(crate) fn extend(&mut self, record: &Record, slots: impl Iterator<Item = u64>) {
        match &mut self.items {
            Store::Double(items) => slots.for_each(|slot| items.append_value(f64::from_bits(slot))),
            Store::Float(items) => slots.for_each(|slot| items.append_value(f32::from_slot(slot))),
            Store::Int(items) => slots.for_each(|slot| items.append_value(slot as i64)),
            Store::UInt(items) => slots.for_each(|slot| items.append_value(slot)),
            Store::Bool(items) => slots.for_each(|slot| items.append_value(slot != 0)),
            Store::Binary(_) => {
                for slot in slots {
                    match record.attachment(record.octets(slot)) {
                        Some(attachment) => self.push_attachment(attachment),
                        None => self.push_octets(record.octets(slot)),
                    }
                }
            }
            Store::Text(items) => slots.for_each(|slot| items.append_value(record.text(slot))),
        }
    }

    /// The values of all rows, of which there are so many.
    fn take(&mut self, rows: usize) -> ArrayRef {
        self.begin_row(rows);
        let items: ArrayRef = match &mut self.items {
            Store::Double(items) => Arc::new(items.finish()),
            Store::Float(items) => Arc::new(items.finish()),
            Store::Int(items) => Arc::new(items.finish()),
            Store::UInt(items) => Arc::new(items.finish()),
            Store::Bool(items) => Arc::new(items.finish()),
            Store::Binary(items) => Arc::new(items.finish()),
            Store::Text(items) => Arc::new(items.finish()),
        };
        match &mut self.ends {
            Some(ends) => {
                let ends = std::mem::replace(ends, vec![0]);
                Arc::new(list_of(items, OffsetBuffer::new(ScalarBuffer::from(ends))))
            }
            None => items,
        }
    }
}

/// Lists of these items.
fn list_of(items: ArrayRef, offsets: OffsetBuffer<i32>) -> ListArray {
    let field = Arc::new(Field::new("item", items.data_type().clone(), true));
    ListArray::new(field, offsets, items, None)
}

/// How a simple type of a WSDL is stored in a column.
pub(crate) fn kind_of(kind: LeafKind, meaning: Meaning) -> Kind {
    match kind {
        LeafKind::Double => Kind::Double,
        LeafKind::Float => Kind::Float,
        LeafKind::Unsigned { max } if i64::try_from(max).is_err() => Kind::UInt,
        LeafKind::Signed { .. } | LeafKind::Unsigned { .. } => Kind::Int,
        LeafKind::Boolean => Kind::Bool,
        LeafKind::Base64 | LeafKind::Hex => Kind::Binary,
        LeafKind::Text => Kind::Text(meaning),
        LeafKind::Name | LeafKind::List(_) => Kind::Text(Meaning::Text),
    }
}

/// The rows of a table, of which complete batches are kept.
pub(crate) struct RowCollector {
    pub(crate) columns: Vec<Collected>,
    rows: usize,
    /// Whether the batch ends with this row.
    pub(crate) is_full: bool,
    batches: Vec<RawBatch>,
    attached: Rc<RefCell<Attached>>,
}

/// Rows as arrays, in which dates and decimals are texts.
#[derive(Clone)]
pub(crate) struct RawBatch {
    pub(crate) arrays: Vec<ArrayRef>,
    pub(crate) rows: usize,
}

impl RowCollector {
    /// `binary` says how much of what came beside a message may be in the table.
    pub(crate) fn new(specs: &[ColumnSpec], binary: Binary) -> Self {
        let attached = Rc::new(RefCell::new(Attached {
            budget: binary.budget(),
            refused: None,
        }));
        let columns = specs.iter().map(|spec| Collected::new(spec, &attached));
        Self {
            columns: columns.collect(),
            rows: 0,
            is_full: false,
            batches: Vec::new(),
            attached,
        }
    }

    /// A column, to which a value of the row is added; `None` if the row has its value.
    pub(crate) fn next(&mut self, index: usize) -> Option<&mut Collected> {
        let column = self.columns.get_mut(index)?;
        self.is_full |= column.is_full();
        column.begin_row(self.rows).then_some(column)
    }

    /// The first attachment that is not in the table.
    pub(crate) fn refused(&mut self) -> Option<Refused> {
        self.attached.borrow_mut().refused.take()
    }

    pub(crate) fn end_row(&mut self) {
        self.end_rows(1);
    }

    /// Counts rows whose values were added.
    pub(crate) fn end_rows(&mut self, count: usize) {
        self.rows += count;
        if self.is_full {
            self.end_batch();
        }
    }

    /// The rows since the last batch.
    pub(crate) fn take_arrays(&mut self) -> Vec<ArrayRef> {
        let rows = std::mem::take(&mut self.rows);
        let columns = self.columns.iter_mut();
        columns.map(|column| column.take(rows)).collect()
    }

    fn end_batch(&mut self) {
        let rows = self.rows;
        let arrays = self.take_arrays();
        self.is_full = false;
        self.batches.push(RawBatch { arrays, rows });
    }

    pub(crate) fn finish(mut self) -> Vec<RawBatch> {
        if self.rows > 0 {
            self.end_batch();
        }
        self.batches
    }
}

/// The batches of a table with the types that suit all of them; or with those of `fixed`, the schema of the batches before.
pub(crate) fn finish(
    specs: &[ColumnSpec],
    batches: Vec<RawBatch>,
    fixed: Option<&SchemaRef>,
) -> Result<(SchemaRef, Vec<RecordBatch>), ArrowError> {
    let rows: Vec<usize> = batches.iter().map(|batch| batch.rows).collect();
    let mut columns = vec![Vec::new(); specs.len()];
    for batch in batches {
        for (column, array) in columns.iter_mut().zip(batch.arrays) {
            column.push(array);
        }
    }
    let mut fields = Vec::new();
    let mut finished = Vec::new();
    for (index, (spec, arrays)) in specs.iter().zip(columns).enumerate() {
        let known = fixed.map(|schema| schema.field(index).data_type());
        let (ty, arrays) = finish_column(spec, arrays, known)?;
        fields.push(Field::new(&spec.name, ty, true));
        finished.push(arrays.into_iter());
    }
    let schema = Arc::new(Schema::new(fields));
    let batches = rows.into_iter().map(|rows| {
        let arrays = finished.iter_mut().filter_map(Iterator::next).collect();
        let options = RecordBatchOptions::new().with_row_count(Some(rows));
        RecordBatch::try_new_with_options(Arc::clone(&schema), arrays, &options)
    });
    let batches = batches.collect::<Result<_, _>>()?;
    Ok((schema, batches))
}

fn finish_column(
    spec: &ColumnSpec,
    arrays: Vec<ArrayRef>,
    known: Option<&DataType>,
) -> Result<(DataType, Vec<ArrayRef>), ArrowError> {
    let known = known.map(|ty| match ty {
        DataType::List(item) if spec.is_list => item.data_type(),
        ty => ty,
    });
    let Kind::Text(meaning) = spec.kind else {
        return Ok((full_type(spec, primitive(spec.kind)), arrays));
    };
    let texts: Vec<&StringArray> = arrays
        .iter()
        .map(|array| match spec.is_list {
            true => array.as_list::<i32>().values().as_string(),
            false => array.as_string(),
        })
        .collect();
    let ty = match known {
        Some(ty) => ty.clone(),
        None => decide(meaning, &texts),
    };
    if ty == DataType::Utf8 {
        return Ok((full_type(spec, ty), arrays));
    }
    let converted = arrays.iter().zip(texts).map(|(array, texts)| {
        let items = convert(texts, &ty).map_err(|text| {
            ArrowError::CastError(format!(
                "{text:?} does not fit column {:?}, whose type {ty} was chosen by the batches before",
                spec.name
            ))
        })?;
        Ok(match spec.is_list {
            true => Arc::new(list_of(items, array.as_list::<i32>().offsets().clone())),
            false => items,
        })
    });
    let converted = converted.collect::<Result<_, ArrowError>>()?;
    Ok((full_type(spec, ty), converted))
}

fn full_type(spec: &ColumnSpec, ty: DataType) -> DataType {
    match spec.is_list {
        true => DataType::List(Arc::new(Field::new("item", ty, true))),
        false => ty,
    }
}

fn primitive(kind: Kind) -> DataType {
    match kind {
        Kind::Double => DataType::Float64,
        Kind::Float => DataType::Float32,
        Kind::Int => DataType::Int64,
        Kind::UInt => DataType::UInt64,
        Kind::Bool => DataType::Boolean,
        Kind::Binary => DataType::Binary,
        Kind::Text(_) => DataType::Utf8,
    }
}

/// The type that holds all of these texts without a loss of value: text if no other does.
fn decide(meaning: Meaning, texts: &[&StringArray]) -> DataType {
    let mut all = texts.iter().flat_map(|texts| texts.iter().flatten());
    let chosen = match meaning {
        Meaning::Text => None,
        Meaning::DateTime => {
            let (mut zoned, mut count) = (0, 0);
            let is_held = all.all(|text| match microseconds(text) {
                Some((_, is_zoned)) => {
                    zoned += usize::from(is_zoned);
                    count += 1;
                    true
                }
                None => false,
            });
            let zone = (zoned > 0 && zoned == count).then(|| "UTC".into());
            is_held.then_some(DataType::Timestamp(TimeUnit::Microsecond, zone))
        }
        Meaning::Date => all
            .all(|text| days(text).is_some())
            .then_some(DataType::Date32),
        Meaning::Time => all
            .all(|text| of_day(text).is_some())
            .then_some(DataType::Time64(TimeUnit::Microsecond)),
        Meaning::Duration => all
            .all(|text| span(text).is_some())
            .then_some(DataType::Duration(TimeUnit::Microsecond)),
        Meaning::Decimal(scale) => decimal_type(all, scale),
        Meaning::Integer => match all.clone().all(|text| integer(text).is_some()) {
            true => Some(DataType::Int64),
            false => decimal_type(all, Some(0)),
        },
    };
    chosen.unwrap_or(DataType::Utf8)
}

fn decimal_type<'a>(
    texts: impl Iterator<Item = &'a str>,
    declared: Option<i8>,
) -> Option<DataType> {
    let (mut digits, mut scale) = (0, declared.unwrap_or(0));
    for text in texts {
        let (value, fraction) = decimal(text)?;
        scale = scale.max(fraction);
        let length = value
            .unsigned_abs()
            .checked_ilog10()
            .map_or(1, |log| log + 1) as i32;
        digits = digits.max(length - i32::from(fraction));
    }
    let fits = digits + i32::from(scale) <= i32::from(DECIMAL_DIGITS);
    fits.then_some(DataType::Decimal128(DECIMAL_DIGITS, scale))
}

/// The texts as a type; the text that does not fit it, if there is one.
fn convert<'a>(texts: &'a StringArray, ty: &DataType) -> Result<ArrayRef, &'a str> {
    fn each<T: arrow_array::ArrowPrimitiveType>(
        texts: &StringArray,
        value: impl Fn(&str) -> Option<T::Native>,
    ) -> Result<PrimitiveArray<T>, &str> {
        let mut values = PrimitiveArray::<T>::builder(texts.len());
        for text in texts {
            match text {
                Some(text) => values.append_value(value(text).ok_or(text)?),
                None => values.append_null(),
            }
        }
        Ok(values.finish())
    }
    Ok(match ty {
        DataType::Timestamp(_, zone) => {
            let needs_zone = zone.is_some();
            let array: TimestampMicrosecondArray = each(texts, |text| {
                let (value, is_zoned) = microseconds(text)?;
                (is_zoned || !needs_zone).then_some(value)
            })?;
            Arc::new(array.with_timezone_opt(zone.clone()))
        }
        DataType::Date32 => {
            let array: Date32Array = each(texts, days)?;
            Arc::new(array)
        }
        DataType::Time64(_) => {
            let array: Time64MicrosecondArray = each(texts, of_day)?;
            Arc::new(array)
        }
        DataType::Duration(_) => {
            let array: DurationMicrosecondArray = each(texts, span)?;
            Arc::new(array)
        }
        DataType::Decimal128(digits, scale) => {
            let array: Decimal128Array = each(texts, |text| scaled(text, *scale))?;
            let array = array.with_precision_and_scale(*digits, *scale);
            Arc::new(array.map_err(|_| "")?)
        }
        DataType::Int64 => {
            let array: Int64Array = each::<Int64Type>(texts, integer)?;
            Arc::new(array)
        }
        _ => Arc::new(texts.clone()),
    })
}

const MICROSECONDS: i128 = 1_000_000;

/// Microseconds since 1970, and whether the text has a zone; without one, as if it were UTC. Digits behind them are cut off.
fn microseconds(text: &str) -> Option<(i64, bool)> {
    if let Some(value) = common_microseconds(text.as_bytes()) {
        return Some(value);
    }
    let calendar = Calendar::parse(Datatype::DateTime, text).ok()?;
    let moment = calendar.moment();
    let day = i128::from(day_number(moment.year, moment.month, moment.day)?);
    let zone = moment.zone.map_or(0, |zone| i128::from(zone.minutes()));
    let minutes = i128::from(moment.hour) * 60 + i128::from(moment.minute) - zone;
    let seconds = day * 86_400 + minutes * 60 + i128::from(moment.second);
    let value = seconds * MICROSECONDS + fraction(&moment.fraction);
    Some((i64::try_from(value).ok()?, moment.zone.is_some()))
}

/// As [`microseconds`], for the form that most dates have: `2024-05-01T12:30:00` with at most a fraction and a zone. `None` for others.
fn common_microseconds(text: &[u8]) -> Option<(i64, bool)> {
    let (fixed, rest) = text.split_at_checked(19)?;
    let number = |at: usize, length: usize| {
        let digits = &fixed[at..at + length];
        digits.iter().try_fold(0_i64, |value, digit| {
            digit
                .is_ascii_digit()
                .then(|| value * 10 + i64::from(digit - b'0'))
        })
    };
    let (year, month, day) = (number(0, 4)?, number(5, 2)?, number(8, 2)?);
    let (hour, minute, second) = (number(11, 2)?, number(14, 2)?, number(17, 2)?);
    let signs = [fixed[4], fixed[7], fixed[10], fixed[13], fixed[16]];
    let is_common = signs == *b"--T::"
        && year > 0
        && (1..=12).contains(&month)
        && (1..=28).contains(&day)
        && hour < 24
        && minute < 60
        && second < 60;
    if !is_common {
        return None;
    }
    let (mut micros, mut rest) = (0, rest);
    if let Some(fraction) = rest.strip_prefix(b".") {
        let count = fraction
            .iter()
            .take_while(|byte| byte.is_ascii_digit())
            .count();
        if count == 0 {
            return None;
        }
        let digits = fraction[..count].iter().chain(std::iter::repeat(&b'0'));
        micros = digits
            .take(6)
            .fold(0, |value, digit| value * 10 + i64::from(digit - b'0'));
        rest = &fraction[count..];
    }
    let is_zoned = match rest {
        b"" => false,
        b"Z" => true,
        _ => return None,
    };
    let day = day_number(year, month as u8, day as u8)?;
    let seconds = day * 86_400 + (hour * 60 + minute) * 60 + second;
    Some((seconds * 1_000_000 + micros, is_zoned))
}

/// Days since 1970. A zone is left out.
fn days(text: &str) -> Option<i32> {
    let calendar = Calendar::parse(Datatype::Date, text).ok()?;
    let moment = calendar.moment();
    i32::try_from(day_number(moment.year, moment.month, moment.day)?).ok()
}

/// Microseconds since midnight; `None` if the time has a zone.
fn of_day(text: &str) -> Option<i64> {
    let calendar = Calendar::parse(Datatype::Time, text).ok()?;
    let moment = calendar.moment();
    if moment.zone.is_some() || moment.hour > 23 {
        return None;
    }
    let seconds =
        (i128::from(moment.hour) * 60 + i128::from(moment.minute)) * 60 + i128::from(moment.second);
    i64::try_from(seconds * MICROSECONDS + fraction(&moment.fraction)).ok()
}

/// Microseconds; `None` if there are years or months, whose length depends on the date.
fn span(text: &str) -> Option<i64> {
    let duration = Duration::parse(text).ok()?;
    if duration.months() != 0 {
        return None;
    }
    let sign = if duration.is_negative() { -1 } else { 1 };
    let value = duration.seconds() * MICROSECONDS + sign * fraction(duration.fraction());
    i64::try_from(value).ok()
}

/// Days since 1970-01-01 of a date of the proleptic Gregorian calendar, in which year -1 comes before year 1.
fn day_number(year: i64, month: u8, day: u8) -> Option<i64> {
    let year = if year < 0 { year.checked_add(1)? } else { year };
    let (month, day) = (i64::from(month), i64::from(day));
    // Years that begin in March, so that the day that leap years add is their last.
    let year = if month <= 2 {
        year.checked_sub(1)?
    } else {
        year
    };
    let era = year.div_euclid(400);
    let of_era = year.rem_euclid(400);
    let of_year = (153 * (month + if month > 2 { -3 } else { 9 }) + 2) / 5 + day - 1;
    let of_era = of_era * 365 + of_era / 4 - of_era / 100 + of_year;
    era.checked_mul(146_097)?.checked_add(of_era - 719_468)
}

/// Microseconds of the digits after the point.
fn fraction(digits: &str) -> i128 {
    let digits = digits.bytes().chain(std::iter::repeat(b'0')).take(6);
    digits.fold(0, |value, digit| value * 10 + i128::from(digit - b'0'))
}

fn integer(text: &str) -> Option<i64> {
    text.trim().parse().ok()
}

/// The digits of a decimal as a number, and how many of them are after the point.
fn decimal(text: &str) -> Option<(i128, i8)> {
    let text = text.trim();
    let (is_negative, text) = match text.as_bytes().first()? {
        b'-' => (true, &text[1..]),
        b'+' => (false, &text[1..]),
        _ => (false, text),
    };
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    let mut value: i128 = 0;
    for digit in whole.bytes().chain(fraction.bytes()) {
        if !digit.is_ascii_digit() {
            return None;
        }
        value = value
            .checked_mul(10)?
            .checked_add(i128::from(digit - b'0'))?;
    }
    let is_empty = whole.is_empty() && fraction.is_empty();
    let scale = i8::try_from(fraction.len()).ok().filter(|_| !is_empty)?;
    Some((if is_negative { -value } else { value }, scale))
}

/// A decimal as a multiple of 10^-scale, if it has no more digits than that.
fn scaled(text: &str, scale: i8) -> Option<i128> {
    let (value, digits) = decimal(text)?;
    let value = match u32::try_from(scale - digits) {
        Ok(missing) => value.checked_mul(10_i128.checked_pow(missing)?)?,
        Err(_) => {
            let divisor = 10_i128.checked_pow(u32::try_from(digits - scale).ok()?)?;
            (value % divisor == 0).then_some(value / divisor)?
        }
    };
    (value.unsigned_abs() < 10_u128.pow(u32::from(DECIMAL_DIGITS))).then_some(value)
}
