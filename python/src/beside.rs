//! The octets that came beside a message and are read into memory: no more of them than the program accepts.

use std::io;

use bsoap::Record;
use bsoap::attachments::Attachment;
use pyo3::prelude::*;

use crate::exception::error;

/// How many octets from beside a message may become copies in memory.
pub(crate) struct Budget {
    most: u64,
    total: u64,
}

impl Budget {
    pub(crate) const fn new(most: u64) -> Self {
        Self { most, total: 0 }
    }

    /// Counts an attachment before it is read. Each reference to one attachment is a copy of it.
    pub(crate) fn take(&mut self, attachment: &Attachment) -> Result<(), Problem> {
        let length = attachment.len().unwrap_or(u64::MAX);
        self.total = self.total.saturating_add(length);
        match self.total > self.most {
            true => Err(Problem::TooMany {
                found: self.total,
                most: self.most,
            }),
            false => Ok(()),
        }
    }
}

/// Why the octets of an attachment are not in memory.
pub(crate) enum Problem {
    TooMany { found: u64, most: u64 },
    TooLongForColumn,
    Unreadable(io::Error),
}

impl Problem {
    /// The exception, with the element whose value the attachment is. `advice` is what accepts more.
    pub(crate) fn raise(
        self,
        py: Python<'_>,
        record: &Record,
        attachment: &Attachment,
        advice: &str,
    ) -> PyErr {
        let path = path(record, attachment);
        match self {
            Self::TooMany { found, most } => error(
                py,
                "LimitError",
                &format!(
                    "with the value of {path}, {found} bytes came beside the message, more than the {most} that are read into \
                     memory (limit `binary`): {advice}"
                ),
            ),
            Self::TooLongForColumn => error(
                py,
                "LimitError",
                &format!(
                    "with the value of {path}, a batch of rows has more than {} bytes in one column, the most of a table of Arrow: \
                     binary=\"file\" gives such values as files, outside of tables",
                    i32::MAX
                ),
            ),
            Self::Unreadable(error) => io::Error::new(
                error.kind(),
                format!("the attachment that is the value of {path} cannot be read: {error}"),
            )
            .into(),
        }
    }
}

/// The element whose value is an attachment.
fn path(record: &Record, attachment: &Attachment) -> String {
    let mut slots = record.slots().iter();
    let slot = slots.position(|slot| {
        let found = record.attachment(record.octets(*slot));
        found.is_some_and(|found| found.is_same(attachment))
    });
    let slots = slot.map(|slot| slot..slot + 1);
    let regions = bsoap::codec::regions(record, slots.as_slice());
    regions
        .first()
        .map_or_else(|| "an element".to_owned(), ToString::to_string)
}
