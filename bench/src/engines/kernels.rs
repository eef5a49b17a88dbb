//! The number kernels of bsoap-datatypes: whole arrays at once, in a message or a number a line.

use std::sync::Arc;

use bsoap_datatypes::kernel::{Column, Kernel, Number, Separator};
use bsoap_datatypes::{double, integer};

use super::bare::{BETWEEN, MESH, Markup, numbers_in};
use crate::definition::Task;
use crate::job::{Engine, Job, Local};
use crate::shape::Values;
use crate::workload::{Answer, Workload};

/// A kernel.
pub(crate) struct Kernels(Kernel);

impl Kernels {
    /// The best that this machine has.
    pub(crate) fn best() -> Self {
        Self(Kernel::best())
    }

    /// That of AVX2.
    ///
    /// # Errors
    /// The machine does not have it.
    pub(crate) fn avx2() -> Result<Self, String> {
        let kernel = Kernel::avx2().ok_or("this machine has no AVX2")?;
        Ok(Self(kernel))
    }

    /// That of all machines.
    pub(crate) fn portable() -> Self {
        Self(Kernel::PORTABLE)
    }
}

const INT: Number = Number::Signed {
    min: i32::MIN as i64,
    max: i32::MAX as i64,
};

impl Engine for Kernels {
    fn job(&mut self, work: &Arc<Workload>) -> Result<Option<Box<dyn Job>>, String> {
        let column = |number, between: &str| Column {
            number,
            marker: None,
            separator: Separator::new(between.as_bytes()),
        };
        let between = if work.in_message() { BETWEEN } else { "\n" };
        let columns = match &work.values {
            Values::Doubles(_) => vec![column(Number::Double, between)],
            Values::Ints(_) => vec![column(INT, between)],
            Values::Mesh(_) if work.in_message() => [INT, INT, Number::Double]
                .into_iter()
                .zip(MESH)
                .map(|(number, between)| column(number, between))
                .collect(),
            _ => return Ok(None),
        };
        if work.task != Task::Numbers {
            return Ok(None);
        }
        let work = Arc::clone(work);
        Ok(if work.is_read() {
            read(self.0, work, columns)
        } else {
            write(self.0, work, columns)
        })
    }
}

fn read(kernel: Kernel, work: Arc<Workload>, columns: Vec<Column>) -> Option<Box<dyn Job>> {
    let slots = Vec::with_capacity((work.case.values + 1) * columns.len());
    let step = move |slots: &mut Vec<u64>| {
        slots.clear();
        let (text, first) = (work.text(), work.first);
        let at = match columns.as_slice() {
            [
                Column {
                    number, separator, ..
                },
            ] => kernel.read_array(
                (text, first),
                *number,
                separator,
                usize::MAX,
                slots,
                |_, _| {},
            ),
            columns => {
                kernel
                    .read_rows(text, first, columns, usize::MAX, slots, |_, _, _| {})
                    .at
            }
        };
        // Behind the last of a message, there is no other.
        if slots.len() < work.case.values * columns.len() {
            slots.push(last(
                columns.last().map(|column| column.number),
                &text[at..],
            )?);
        }
        Ok(())
    };
    Local::new(slots, step, |slots| Ok(Answer::Slots(slots.clone()))).boxed()
}

fn last(number: Option<Number>, text: &[u8]) -> Result<u64, String> {
    let slot = match number {
        Some(Number::Double) => double::parse_prefix(text).map(|(value, _)| value.to_bits()),
        _ => integer::parse_prefix_i64(text).map(|(value, _)| value as u64),
    };
    slot.ok_or_else(|| "a value is no number".to_owned())
}

fn write(kernel: Kernel, work: Arc<Workload>, columns: Vec<Column>) -> Option<Box<dyn Job>> {
    let markup = Markup::new(&work);
    let capacity = work.bytes() + 32 * work.case.values + 1024;
    let state = (Vec::<u8>::with_capacity(capacity), work.slots());
    let is_message = work.in_message();
    let step = move |(out, slots): &mut (Vec<u8>, Vec<u64>)| {
        out.clear();
        if is_message {
            out.extend_from_slice(markup.head.as_bytes());
        }
        kernel.write_rows(slots, &columns, out, |_, _| {});
        out.extend_from_slice(if is_message {
            markup.tail.as_bytes()
        } else {
            b"\n"
        });
        Ok(())
    };
    let answer = move |(out, _): &mut (Vec<u8>, Vec<u64>)| {
        if is_message {
            Ok(Answer::Messages(vec![out.clone()]))
        } else {
            numbers_in(out, &work)
        }
    };
    Local::new(state, step, answer).boxed()
}
