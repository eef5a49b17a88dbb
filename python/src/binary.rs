//! Values of `xs:base64Binary` as Python objects. What they are is decided by the program: a peer may send any of them in the message
//! or beside it (MTOM), and a program must work with both.

use std::io::Read;

use bsoap::Record;
use bsoap::attachments::Attachment as Inner;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::arguments::refuse;
use crate::attachment::Attachment;
use crate::beside::{Budget, Problem};

/// What the values of `xs:base64Binary` are in Python.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Binary {
    form: BinaryForm,
    /// The bytes of a message that may become `bytes` of those that came beside it.
    most: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum BinaryForm {
    Bytes,
    /// `bsoap.Attachment`, which is read like a file.
    File,
}

impl Binary {
    /// For messages that nothing comes beside.
    pub(crate) const INLINE: Self = Self::bytes(0);

    /// `bytes`. What came beside a message counts against `most`, which is the limit for its body: all of it is in memory.
    pub(crate) const fn bytes(most: u64) -> Self {
        Self {
            form: BinaryForm::Bytes,
            most,
        }
    }

    /// The same, unless the option `binary` says something else.
    pub(crate) fn or(self, option: Option<&Bound<'_, PyAny>>) -> PyResult<Self> {
        let Some(option) = option else {
            return Ok(self);
        };
        let allowed = "\"bytes\" or \"file\"";
        let name = option.extract::<String>();
        let form = match &*name.map_err(|_| refuse(option, "binary", allowed))? {
            "bytes" => BinaryForm::Bytes,
            "file" => BinaryForm::File,
            other => {
                return Err(PyValueError::new_err(format!(
                    "binary is {allowed}, not {other:?}"
                )));
            }
        };
        Ok(Self { form, ..self })
    }

    /// How much of what came beside a message may be in memory, of values or of a table.
    pub(crate) const fn budget(self) -> Budget {
        Budget::new(self.most)
    }
}

/// The binary values of a message, while they become objects.
pub(crate) struct Binaries {
    form: BinaryForm,
    budget: Budget,
}

impl Binaries {
    pub(crate) fn new(binary: Binary) -> Self {
        Self {
            form: binary.form,
            budget: binary.budget(),
        }
    }

    /// The object of octets that came in the message.
    pub(crate) fn inline<'py>(
        &self,
        py: Python<'py>,
        octets: &[u8],
    ) -> PyResult<Bound<'py, PyAny>> {
        match self.form {
            BinaryForm::Bytes => Ok(PyBytes::new(py, octets).into_any()),
            BinaryForm::File => file(py, &Inner::from_bytes(octets)),
        }
    }

    /// The object of octets that came beside the message.
    pub(crate) fn beside<'py>(
        &mut self,
        py: Python<'py>,
        record: &Record,
        attachment: &Inner,
    ) -> PyResult<Bound<'py, PyAny>> {
        if self.form == BinaryForm::File {
            return file(py, attachment);
        }
        let advice = "binary=\"file\" gives such values as files";
        let raise = |problem: Problem| problem.raise(py, record, attachment, advice);
        self.budget.take(attachment).map_err(raise)?;
        octets(py, attachment, raise)
    }
}

fn file<'py>(py: Python<'py>, attachment: &Inner) -> PyResult<Bound<'py, PyAny>> {
    Ok(Bound::new(py, Attachment::new(attachment))?.into_any())
}

/// All octets of an attachment, which are read into their place. The interpreter's lock is released meanwhile.
fn octets<'py>(
    py: Python<'py>,
    attachment: &Inner,
    raise: impl Fn(Problem) -> PyErr,
) -> PyResult<Bound<'py, PyAny>> {
    if let Some(octets) = attachment.content().as_bytes() {
        return Ok(PyBytes::new(py, octets).into_any());
    }
    let length = attachment.len().unwrap_or_default();
    let length = usize::try_from(length).unwrap_or(usize::MAX);
    let read = PyBytes::new_with(py, length, |place| {
        let read = py.detach(|| attachment.open()?.read_exact(place));
        read.map_err(|error| raise(Problem::Unreadable(error)))
    });
    Ok(read?.into_any())
}
