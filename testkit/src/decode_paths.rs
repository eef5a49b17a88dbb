//! Decodes each message of a stream in every way that the decoder has, and compares the results.

use std::borrow::Cow;
use std::sync::Arc;

use bsoap_codec::decode::{DecodeOptions, Decoder, Error, ErrorKind, Fast, Piece, Trace, Warning};
use bsoap_codec::plan::ElementId;
use bsoap_codec::{Plan, Record};

use crate::random::Random;

type Outcome = Result<(Record, Trace), Error>;

fn decode(decoder: &mut Decoder, plan: &Arc<Plan>, root: ElementId, text: &[u8]) -> Outcome {
    let (mut record, mut trace) = (Record::new(plan.clone(), root), Trace::default());
    // As the decoder itself finds the encoding: `<` and a zero byte are valid UTF-8, but taken for UTF-16.
    let Ok(Cow::Borrowed(piece)) = bsoap_xml::decode_str(text) else {
        decoder.decode_into(root, text, &mut record)?;
        return Ok((record, trace));
    };
    decoder.start(root);
    let piece = Piece {
        text: piece,
        base: 0,
        last: true,
        beyond: 0,
    };
    decoder.read(piece, &mut record, Some(&mut trace))?;
    trace.fit(record.slots().len(), text.len() as u32);
    Ok((record, trace))
}

/// The same message fed in random pieces.
fn feed(
    decoder: &mut Decoder,
    root: ElementId,
    text: &[u8],
    random: &mut Random,
) -> Result<Record, Error> {
    decoder.begin(root);
    let largest = [1, 3, 20, 200][random.below(4)];
    let mut rest = text;
    while !rest.is_empty() {
        let (piece, after) = rest.split_at((1 + random.below(largest)).min(rest.len()));
        decoder.feed(piece)?;
        rest = after;
    }
    decoder.finish()
}

/// True if the outcomes are equal, their warnings included. Errors of well-formedness may differ: their text depends on how much input was there.
fn same(one: &Result<Record, Error>, other: &Result<Record, Error>) -> bool {
    let is_xml = |error: &Error| matches!(error.kind(), ErrorKind::Xml(_));
    match (one, other) {
        (Err(one), Err(other)) => one == other || is_xml(one) || is_xml(other),
        (Ok(found), Ok(expected)) => found == expected && found.warnings() == expected.warnings(),
        _ => false,
    }
}

/// The slots and the warnings.
fn described(outcome: &Result<Record, Error>) -> String {
    match outcome {
        Ok(record) => format!("{:?} {:?}", record.slots(), record.warnings()),
        Err(error) => error.to_string(),
    }
}

fn warnings(outcome: &Outcome) -> &[Warning] {
    match outcome {
        Ok((record, _)) => record.warnings(),
        Err(_) => &[],
    }
}

/// One decoder per way: fast path, slow path, and input in pieces.
pub struct DecodePaths {
    plan: Arc<Plan>,
    root: ElementId,
    fast: Decoder,
    slow: Decoder,
    chunked: Decoder,
}

impl DecodePaths {
    /// Decoders for the messages of one stream.
    pub fn new(plan: &Arc<Plan>, root: ElementId, options: DecodeOptions) -> Self {
        let mut slow = options;
        slow.fast = Fast::Off;
        Self {
            plan: plan.clone(),
            root,
            fast: Decoder::new(plan.clone(), options),
            slow: Decoder::new(plan.clone(), slow),
            chunked: Decoder::new(plan.clone(), options),
        }
    }

    /// Decodes the next message of the stream in every way: true if it is valid, and what differs as an error.
    pub fn agree(&mut self, message: &[u8], random: &mut Random) -> Result<bool, String> {
        let shown = String::from_utf8_lossy(message);
        let expected = decode(&mut self.slow, &self.plan, self.root, message);
        let found = decode(&mut self.fast, &self.plan, self.root, message);
        if found != expected || warnings(&found) != warnings(&expected) {
            let [found, expected] = [found, expected].map(|it| it.map(|(record, _)| record));
            return Err(format!(
                "fast path {}\nslow path {}\n{shown}",
                described(&found),
                described(&expected)
            ));
        }
        let expected = expected.map(|(record, _)| record);
        let plain = self.fast.decode(self.root, message);
        if !same(&plain, &expected) {
            return Err(format!(
                "without trace {}\nwith {}\n{shown}",
                described(&plain),
                described(&expected)
            ));
        }
        let fed = feed(&mut self.chunked, self.root, message, random);
        if !same(&fed, &expected) {
            return Err(format!(
                "in pieces {}\nin one {}\n{shown}",
                described(&fed),
                described(&expected)
            ));
        }
        // Validation reports the same first error as decoding.
        let violations = self.slow.validate(self.root, message);
        if violations.first() != expected.as_ref().err() {
            return Err(format!(
                "validating {violations:?}\ndecoding {expected:?}\n{shown}"
            ));
        }
        Ok(expected.is_ok())
    }
}
