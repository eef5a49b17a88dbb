//! A violation in a message: what `decode`, `validate` and `replay` report.

use bsoap::ExceededLimit;
use bsoap_codec::decode::Error;

use crate::error::Failure;
use crate::input::line_and_column;
use crate::message_limits::option_for;
use crate::output::Output;
use crate::style::{BAD, DIM, STRONG, paint};

/// A violation and its location.
#[derive(Debug)]
pub(crate) struct Violation {
    pub(crate) line: usize,
    pub(crate) column: usize,
    /// The offset in bytes.
    pub(crate) offset: u64,
    /// The path of the element; empty if the message was not decoded.
    pub(crate) path: String,
    pub(crate) problem: String,
}

impl Violation {
    pub(crate) fn new(text: &[u8], offset: u64, problem: String) -> Self {
        let (line, column) = line_and_column(text, offset);
        Self {
            line,
            column,
            offset,
            path: String::new(),
            problem,
        }
    }

    pub(crate) fn of(text: &[u8], error: &Error) -> Self {
        let mut problem = error.kind().to_string();
        if let Some(option) = ExceededLimit::of(error).and_then(option_for) {
            problem = format!("{problem} (`{option}`)");
        }
        Self {
            path: error.path().to_owned(),
            ..Self::new(text, error.offset(), problem)
        }
    }

    /// The location in the message called `name`.
    pub(crate) fn location(&self, name: &str) -> String {
        format!("{name}:{}:{}", self.line, self.column)
    }

    /// Prints it as text.
    pub(crate) fn print(&self, name: &str, output: &mut Output) -> Result<(), Failure> {
        let path = match self.path.as_str() {
            "" => String::new(),
            path => paint(DIM, &format!(" at {path}")),
        };
        output.line(&format!(
            "{}: {}{path}",
            paint(STRONG, &self.location(name)),
            paint(BAD, &self.problem),
        ))
    }
}

/// The result of checking messages, whose violations were printed.
pub(crate) fn result(invalid: usize, all: usize) -> Result<(), Failure> {
    match (invalid, all) {
        (0, _) => Ok(()),
        (_, 1) => Err(Failure::violation("the message is not valid (see above)")),
        (invalid, all) => Err(Failure::violation(format!(
            "{invalid} of {all} messages are not valid (see above)"
        ))),
    }
}
