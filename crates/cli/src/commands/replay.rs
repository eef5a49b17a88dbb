//! `bsoap replay`: measures what differential serialization or deserialization saves on recorded messages.

use bsoap_differential::receive::{Portioning, Way};
use bsoap_differential::send::Policy;

use crate::error::Failure;
use crate::input::WsdlArguments;
use crate::message::MessageKind;
use crate::message_limits::LimitArguments;
use crate::output::Output;
use crate::progress;
use crate::tolerance::ToleranceArguments;
use crate::violation;

mod files;
mod receiving;
mod recorded;
mod report;
mod sending;
mod sum;

use recorded::RecordingReader;

/// Measure what differential reading or sending saves on recorded messages
///
/// Messages are read in the order given. Each is read by an endpoint that has read those before it,
/// and once more in full: both must give the same values. Messages of one operation and direction
/// are a stream.
///
///   bsoap replay weather.wsdl recorded/
///   bsoap replay weather.wsdl recorded/ --way hashed
///   bsoap replay weather.wsdl 'recorded/*-response.xml' --sending --stuffing maximum
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct Arguments {
    #[command(flatten)]
    wsdl: WsdlArguments,
    /// The messages: files, folders of *.xml, or patterns such as 'session/*-response.xml'; folders and patterns in the order
    /// of file names
    #[arg(value_name = "MESSAGE", required = true)]
    messages: Vec<String>,
    /// How a message is compared with the one before
    #[arg(long, value_enum, value_name = "WAY", default_value_t)]
    way: WayOption,
    /// Measure sending what was read, instead of reading
    #[arg(long, conflicts_with = "way")]
    sending: bool,
    /// How many bytes a template reserves for each value
    #[arg(
        long,
        value_enum,
        value_name = "STUFFING",
        default_value_t,
        requires = "sending"
    )]
    stuffing: StuffingOption,
    /// Repeat everything, each time without saved messages; times are medians
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..))]
    repeat: u32,
    /// Read an element that is both a request and a response as a response
    #[arg(long)]
    response: bool,
    #[command(flatten)]
    tolerance: ToleranceArguments,
    #[command(flatten)]
    limits: LimitArguments,
    /// A line of JSON for each message, and one for the summary
    #[arg(long)]
    json: bool,
}

/// The ways to receive.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
enum WayOption {
    /// Keep the text of the message before and compare it byte by byte
    #[default]
    Exact,
    /// Compare portions of the text; keep the decoder's whole state at the beginning of each (FCP)
    Full,
    /// The same, but keep of each state only what differs from the one before (DCP)
    Differential,
    /// The same, at places where few numbers describe the state (LCP)
    Lightweight,
    /// As lightweight, but keep keyed digests instead of the text: needs the least memory
    Hashed,
    /// Read each message in full
    Off,
}

impl WayOption {
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

/// The width of values in a template.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
enum StuffingOption {
    /// The length of the value: messages are byte for byte the same as without templates
    #[default]
    None,
    /// The length of the first value; shorter ones are padded with white space
    Exact,
    /// Three quarters of the length of the longest value of the type
    Intermediate,
    /// The length of the longest value of the type
    Maximum,
}

impl StuffingOption {
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
    let options = arguments.limits.decoding(arguments.tolerance.options());
    let prefer = arguments.response.then_some(MessageKind::Response);
    let reader = RecordingReader {
        definitions: &definitions,
        options,
        prefer,
    };
    let recorded = files
        .iter()
        .map(|file| reader.read(file))
        .collect::<Result<Vec<_>, _>>()?;
    for message in &recorded {
        message.print_warnings(&output);
    }
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
        };
        let received = receiving::replay(&recorded, arguments.repeat, plan, &choice, &bar);
        bar.finish_and_clear();
        receiving::report(&recorded, &received?, &choice, &mut output)?;
    }
    let invalid = recorded
        .iter()
        .filter(|message| message.outcome.is_err())
        .count();
    violation::result(invalid, recorded.len())
}
