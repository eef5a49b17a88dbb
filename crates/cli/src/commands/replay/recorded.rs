//! Recorded messages, read once by a fresh decoder: what replaying them must give as well.

use std::path::Path;
use std::sync::Arc;

use bsoap_codec::repair::Repair;
use bsoap_codec::{DecodeOptions, Decoder, Plan, Record};
use bsoap_schema::Definitions;
use bsoap_xml::DoctypePolicy;
use bytes::Bytes;

use crate::error::Failure;
use crate::input;
use crate::message::{self, FoundRoot, MessageKind};
use crate::output::Output;
use crate::tolerance;
use crate::violation::Violation;

/// A recorded message.
pub(super) struct Recorded {
    pub(super) file: String,
    pub(super) text: Bytes,
    /// The result of a fresh decoder.
    pub(super) outcome: Result<Valid, Invalid>,
}

impl Recorded {
    /// Prints the first warning of the message, and how many there are. In JSON, the line of the message has them.
    pub(super) fn print_warnings(&self, output: &Output) {
        let Ok(Valid { record, .. }) = &self.outcome else {
            return;
        };
        let warnings = record.warnings();
        if warnings.is_empty() || output.is_json() {
            return;
        }
        tolerance::print_at(&warnings[..1], &self.file, &self.text, output);
        if warnings.len() > 1 {
            output.note(&format!(
                "{}: {} more warnings",
                self.file,
                warnings.len() - 1
            ));
        }
    }
}

/// A message that was decoded.
pub(super) struct Valid {
    pub(super) found: FoundRoot,
    pub(super) record: Record,
}

impl Valid {
    /// Which stream the message belongs to.
    pub(super) fn stream(&self) -> RecordedStream {
        RecordedStream {
            root: self.found.root.0,
            operation: self.operation().map(str::to_owned),
        }
    }

    pub(super) fn operation(&self) -> Option<&str> {
        let target = self.found.target.as_ref()?;
        Some(target.operation().name.as_str())
    }
}

/// What the messages of one stream have in common: the root element, which gives the direction, and the operation.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct RecordedStream {
    pub(super) root: u32,
    pub(super) operation: Option<String>,
}

/// A message that is not valid.
pub(super) struct Invalid {
    pub(super) violation: Violation,
    /// The operation and direction it was decoded as, if any has such a message.
    pub(super) found: Option<FoundRoot>,
}

/// Reads recorded messages, each with a fresh decoder.
pub(super) struct RecordingReader<'d> {
    pub(super) definitions: &'d Definitions,
    pub(super) options: DecodeOptions,
    /// The direction of elements that are both requests and responses.
    pub(super) prefer: Option<MessageKind>,
}

impl RecordingReader<'_> {
    pub(super) fn read(&self, file: &Path) -> Result<Recorded, Failure> {
        let name = file.to_string_lossy().into_owned();
        let text = input::bytes(&name)?;
        let outcome = self.decode(&text, self.prefer).or_else(|first| {
            // An element may be both a request and a response: the message is whichever it can be decoded as.
            let is_request = first
                .found
                .as_ref()
                .is_some_and(|found| found.direction == MessageKind::Request);
            match is_request && self.prefer.is_none() {
                true => self
                    .decode(&text, Some(MessageKind::Response))
                    .map_err(|_| first),
                false => Err(first),
            }
        });
        Ok(Recorded {
            file: name,
            text: text.into(),
            outcome,
        })
    }

    fn decode(&self, text: &[u8], prefer: Option<MessageKind>) -> Result<Valid, Invalid> {
        let found = message::find(self.definitions, text, DoctypePolicy::Refuse, prefer).map_err(
            |violation| Invalid {
                violation,
                found: None,
            },
        )?;
        let plan: &Arc<Plan> = self.definitions.plan();
        let mut decoder = Decoder::new(plan.clone(), self.options);
        match Repair::default().decode(&mut decoder, found.root, text) {
            Ok(record) => Ok(Valid { found, record }),
            Err(error) => {
                let mut violation = Violation::of(text, &error);
                if let Some(advice) = error.advice() {
                    violation.problem = format!("{}; {advice}", violation.problem);
                }
                Err(Invalid {
                    violation,
                    found: Some(found),
                })
            }
        }
    }
}
