//! `bsoap replay`: recorded messages, read or sent as what differs from those before, to see what that would save.

use std::path::Path;
use std::sync::Arc;

use bsoap_codec::{DecodeOptions, Decoder, Plan, Record};
use bsoap_differential::receive::{Portioning, Way};
use bsoap_differential::send::Policy;
use bsoap_schema::Definitions;
use bytes::Bytes;

use crate::error::Failure;
use crate::input::{self, WsdlArguments};
use crate::message::{self, Direction, Found};
use crate::output::Output;
use crate::progress;

mod files;
mod receiving;
mod report;
mod sending;
mod sum;

/// Read or send recorded messages again, as what differs from those before, and tell what that saves
///
/// Messages are read in the order given, each as an endpoint reads it that has seen those before
/// it, and once more as if it were the only one: both must give the same values. Messages of one
/// operation and direction are a stream.
///
///   bsoap replay weather.wsdl recorded/
///   bsoap replay weather.wsdl recorded/ --way hashed --feed 1400
///   bsoap replay weather.wsdl 'recorded/*-response.xml' --sending --stuffing maximum
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct Arguments {
    #[command(flatten)]
    wsdl: WsdlArguments,
    /// The messages: files, folders of *.xml, or patterns such as 'session/*-response.xml'; the last two in the order of
    /// their names
    #[arg(value_name = "MESSAGE", required = true)]
    messages: Vec<String>,
    /// How messages are compared with those before
    #[arg(long, value_enum, value_name = "WAY", default_value_t)]
    way: Named,
    /// Send what was read, instead of reading it again
    #[arg(long, conflicts_with_all = ["way", "feed"])]
    sending: bool,
    /// How much room values get in what is kept of a message sent
    #[arg(
        long,
        value_enum,
        value_name = "STUFFING",
        default_value_t,
        requires = "sending"
    )]
    stuffing: Stuffing,
    /// Let messages arrive in pieces of so many bytes
    #[arg(long, value_name = "BYTES", value_parser = clap::value_parser!(u32).range(1..))]
    feed: Option<u32>,
    /// Do everything so many times, each time from nothing; times are medians
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..))]
    repeat: u32,
    /// Take messages as answers, should they also be requests
    #[arg(long)]
    response: bool,
    /// Pass over elements and attributes that the WSDL does not have, and take an empty element for an absent one where its
    /// type, such as xs:int, needs a text
    #[arg(long)]
    lenient: bool,
    /// A line of JSON for each message, and one that sums them up
    #[arg(long)]
    json: bool,
}

/// The ways to receive, by name.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
enum Named {
    /// The text of the message before is kept and compared byte by byte
    #[default]
    Exact,
    /// Portions of the text are compared; all of the decoder's state is kept where each begins
    Full,
    /// The same, and of each state what differs from one before
    Differential,
    /// The same, at places that few numbers tell
    Lightweight,
    /// As lightweight, with keyed digests instead of the text: for small memory
    Hashed,
    /// Each message is read as if it were the only one
    Off,
}

impl Named {
    fn way(self) -> Way {
        match self {
            Self::Exact => Way::default(),
            Self::Full => Way::Portions(Portioning::full()),
            Self::Differential => Way::Portions(Portioning::differential()),
            Self::Lightweight => Way::Portions(Portioning::lightweight()),
            Self::Hashed => Way::Portions(Portioning::hashed()),
            Self::Off => Way::Off,
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::Exact => "exact",
            Self::Full => "full",
            Self::Differential => "differential",
            Self::Lightweight => "lightweight",
            Self::Hashed => "hashed",
            Self::Off => "off",
        }
    }
}

/// How much room values get in a template.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
enum Stuffing {
    /// What they take: each message is, byte for byte, what it would be otherwise
    #[default]
    None,
    /// What they took at first, white space behind those that have become shorter
    Exact,
    /// Three quarters of what the longest value of the type takes
    Intermediate,
    /// What the longest value of the type takes
    Maximum,
}

impl Stuffing {
    fn policy(self) -> Policy {
        match self {
            Self::None => Policy::IDENTICAL,
            Self::Exact => Policy::EXACT,
            Self::Intermediate => Policy::INTERMEDIATE,
            Self::Maximum => Policy::MAXIMUM,
        }
    }
}

/// Replays messages.
pub(crate) fn run(arguments: &Arguments) -> Result<(), Failure> {
    let mut output = Output::new(arguments.json);
    let definitions = arguments.wsdl.load()?;
    let files = files::expand(&arguments.messages)?;
    let options = message::options(arguments.lenient);
    let prefer = arguments.response.then_some(Direction::Response);
    let reader = Reader {
        definitions: &definitions,
        options,
        prefer,
    };
    let recorded = files
        .iter()
        .map(|file| reader.read(file))
        .collect::<Result<Vec<_>, _>>()?;
    let rounds = u64::from(arguments.repeat);
    let bar = progress::counter(recorded.len() as u64 * rounds, "replay");
    let plan = definitions.plan();
    if arguments.sending {
        let choice = sending::Choice {
            policy: arguments.stuffing.policy(),
            options,
        };
        let sent = sending::replay(&recorded, arguments.repeat, plan, &choice, &bar);
        bar.finish_and_clear();
        sending::report(&recorded, &sent?, &mut output)?;
    } else {
        let choice = receiving::Choice {
            way: arguments.way.way(),
            name: arguments.way.name(),
            options,
            feed: arguments.feed.map(|bytes| bytes as usize),
        };
        let received = receiving::replay(&recorded, arguments.repeat, plan, &choice, &bar);
        bar.finish_and_clear();
        receiving::report(&recorded, &received?, &choice, &mut output)?;
    }
    let invalid = recorded
        .iter()
        .filter(|message| message.outcome.is_err())
        .count();
    match (invalid, recorded.len()) {
        (0, _) => Ok(()),
        (_, 1) => Err(Failure::violation("the message is not valid")),
        (invalid, all) => Err(Failure::violation(format!(
            "{invalid} of {all} messages are not valid"
        ))),
    }
}

/// A message that was recorded.
struct Recorded {
    file: String,
    text: Bytes,
    /// What it says, to a fresh decoder.
    outcome: Result<Valid, Invalid>,
}

/// A message that can be read.
struct Valid {
    found: Found,
    record: Record,
}

impl Valid {
    /// Messages of one kind are a stream.
    fn kind(&self) -> Kind {
        Kind {
            root: self.found.root.0,
            operation: self.operation().map(str::to_owned),
        }
    }

    fn operation(&self) -> Option<&str> {
        let target = self.found.target.as_ref()?;
        Some(target.operation().name.as_str())
    }
}

/// What messages of one stream have in common.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Kind {
    root: u32,
    operation: Option<String>,
}

/// A message that cannot be read.
struct Invalid {
    line: usize,
    column: usize,
    offset: u64,
    path: String,
    message: String,
    /// What it was read as, if an operation has such a message.
    found: Option<Found>,
}

/// Reads messages as a fresh decoder does.
struct Reader<'d> {
    definitions: &'d Definitions,
    options: DecodeOptions,
    prefer: Option<Direction>,
}

impl Reader<'_> {
    fn read(&self, file: &Path) -> Result<Recorded, Failure> {
        let name = file.to_string_lossy().into_owned();
        let text = input::bytes(&name)?;
        let outcome = self.decode(&text, self.prefer).or_else(|first| {
            // An element may be both a request and an answer: whichever it can be read as.
            let is_request = first
                .found
                .as_ref()
                .is_some_and(|found| found.direction == Direction::Request);
            match is_request && self.prefer.is_none() {
                true => self
                    .decode(&text, Some(Direction::Response))
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

    fn decode(&self, text: &[u8], prefer: Option<Direction>) -> Result<Valid, Invalid> {
        let found = message::find(self.definitions, text, prefer).map_err(|none| {
            let (line, column) = input::line_and_column(text, none.offset);
            Invalid {
                line,
                column,
                offset: none.offset,
                path: String::new(),
                message: none.problem,
                found: None,
            }
        })?;
        let plan: &Arc<Plan> = self.definitions.plan();
        match Decoder::new(plan.clone(), self.options).decode(found.root, text) {
            Ok(record) => Ok(Valid { found, record }),
            Err(error) => {
                let (line, column) = input::line_and_column(text, error.offset());
                Err(Invalid {
                    line,
                    column,
                    offset: error.offset(),
                    path: error.path().to_owned(),
                    message: error.kind().to_string(),
                    found: Some(found),
                })
            }
        }
    }
}
