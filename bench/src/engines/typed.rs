//! What a generator could write: a decoder of one type and no other, against the one that follows a Plan.
//!
//! Every tag is a literal whose length the compiler knows; there is no table, no state and no frame, and errors are not
//! described: a message with other prefixes, white space, comments, CDATA or references is given up, since a generated
//! decoder would pass it to the one that follows the Plan. Values are read by the same functions, checked as much, and
//! stored as in a [`Record`], so both do the same work.

use std::sync::Arc;

use bsoap_codec::{Decoder, Record};
use bsoap_datatypes::datetime::is_plain_date_time;
use bsoap_datatypes::{binary, double, integer};

use crate::definition::Task;
use crate::job::{Engine, Job, Local};
use crate::order::{Peers, Spelling};
use crate::shape::Values;
use crate::workload::{Answer, Workload};

/// The decoders of `small` and `order`.
pub(crate) struct Typed;

/// Values, as a Record has them.
#[derive(Default)]
struct Laid {
    slots: Vec<u64>,
    heap: Vec<u8>,
}

type Read = for<'a, 't> fn(&'a mut Text<'t>) -> Option<()>;

impl Engine for Typed {
    fn job(&mut self, work: &Arc<Workload>) -> Result<Option<Box<dyn Job>>, String> {
        let read: Read = match (&work.values, work.task) {
            (Values::Readings(_), Task::Decode) => |text| text.reading(),
            (Values::Orders(_), Task::Decode) => |text| text.order(),
            _ => return Ok(None),
        };
        let (timed, answered) = (Arc::clone(work), Arc::clone(work));
        let step = move |laid: &mut Laid| {
            let mut each = timed.messages.iter();
            each.try_for_each(|message| decode(message, laid, read))
                .ok_or_else(|| "a message is spelled otherwise".to_owned())
        };
        let answer = move |laid: &mut Laid| {
            let mut decoder = Decoder::new(answered.terms.plan.clone(), answered.terms.options);
            for message in &answered.messages {
                decode(message, laid, read).ok_or("a message is spelled otherwise")?;
                let record = decoder
                    .decode(answered.terms.root, message)
                    .map_err(|error| error.to_string())?;
                if !is_in(laid, &record) {
                    return Ok(Answer::Verdict(false));
                }
            }
            Ok(Answer::Verdict(true))
        };
        Ok(Local::new(Laid::default(), step, answer).boxed())
    }
}

fn decode(message: &[u8], laid: &mut Laid, read: Read) -> Option<()> {
    // As the decoder does: nothing but UTF-8 goes on.
    let text = bsoap_xml::decode_str(message).ok()?;
    laid.slots.clear();
    laid.heap.clear();
    let mut text = Text {
        rest: text.as_bytes(),
        laid,
    };
    read(&mut text)?;
    text.rest.is_empty().then_some(())
}

/// The slot of a string.
fn place(from: usize, length: usize) -> u64 {
    from as u64 | (length as u64) << 32
}

/// Whether a Record has these values, in the midst of what it has of the Envelope.
fn is_in(laid: &Laid, record: &Record) -> bool {
    let mut places = record.slots().windows(laid.slots.len());
    laid.heap == record.heap() && places.any(|place| place == laid.slots)
}

/// What is still to be read, and what was.
struct Text<'t> {
    rest: &'t [u8],
    laid: &'t mut Laid,
}

impl<'t> Text<'t> {
    #[inline(always)]
    fn tag(&mut self, literal: &str) -> Option<&mut Self> {
        self.rest = self.rest.strip_prefix(literal.as_bytes())?;
        Some(self)
    }

    /// Whether an optional element begins here; its marker.
    #[inline(always)]
    fn has(&mut self, literal: &str) -> bool {
        let rest = self.rest.strip_prefix(literal.as_bytes());
        self.laid.slots.push(u64::from(rest.is_some()));
        self.rest = rest.unwrap_or(self.rest);
        rest.is_some()
    }

    /// The text up to a tag or the end of an attribute.
    #[inline(always)]
    fn upto(&mut self, end: u8) -> Option<&'t [u8]> {
        let length = memchr::memchr2(end, b'&', self.rest)?;
        let (text, rest) = self.rest.split_at(length);
        self.rest = rest;
        (rest.first() == Some(&end)).then_some(text)
    }

    #[inline(always)]
    fn lay(&mut self, text: &[u8]) {
        let from = self.laid.heap.len();
        self.laid.heap.extend_from_slice(text);
        self.laid.slots.push(place(from, text.len()));
    }

    #[inline(always)]
    fn string(&mut self) -> Option<&mut Self> {
        self.string_upto(b'<')
    }

    #[inline(always)]
    fn string_upto(&mut self, end: u8) -> Option<&mut Self> {
        let text = self.upto(end)?;
        // No character that XML has not, and none that would be another one.
        if text.iter().any(|&byte| byte < b' ' || byte == 0xEF) {
            return None;
        }
        self.lay(text);
        Some(self)
    }

    #[inline(always)]
    fn integer(&mut self, min: i64, max: i64) -> Option<&mut Self> {
        let (value, length) = integer::parse_prefix_i64(self.rest)?;
        self.rest = &self.rest[length..];
        self.laid.slots.push(value as u64);
        (min..=max).contains(&value).then_some(self)
    }

    #[inline(always)]
    fn int(&mut self) -> Option<&mut Self> {
        self.integer(i32::MIN.into(), i32::MAX.into())
    }

    #[inline(always)]
    fn long(&mut self) -> Option<&mut Self> {
        self.integer(i64::MIN, i64::MAX)
    }

    #[inline(always)]
    fn double(&mut self) -> Option<&mut Self> {
        let (value, length) = double::parse_prefix(self.rest)?;
        self.rest = &self.rest[length..];
        self.laid.slots.push(value.to_bits());
        Some(self)
    }

    #[inline(always)]
    fn boolean(&mut self) -> Option<&mut Self> {
        let value = match self.upto(b'<')? {
            b"true" | b"1" => 1,
            b"false" | b"0" => 0,
            _ => return None,
        };
        self.laid.slots.push(value);
        Some(self)
    }

    #[inline(always)]
    fn date_time(&mut self) -> Option<&mut Self> {
        let text = self.upto(b'<')?;
        self.lay(text);
        is_plain_date_time(text).then_some(self)
    }

    #[inline(always)]
    fn date(&mut self) -> Option<&mut Self> {
        let text = self.upto(b'<')?;
        let mut whole = *b"0000-00-00T00:00:00";
        *whole.first_chunk_mut::<10>()? = text.try_into().ok()?;
        self.lay(text);
        is_plain_date_time(&whole).then_some(self)
    }

    #[inline(always)]
    fn decimal(&mut self) -> Option<&mut Self> {
        let text = self.upto(b'<')?;
        let digits = text.strip_prefix(b"-").unwrap_or(text);
        let points = digits.iter().filter(|&&byte| byte == b'.').count();
        let numbers = digits.iter().filter(|byte| byte.is_ascii_digit()).count();
        self.lay(text);
        (points <= 1 && numbers > 0 && points + numbers == digits.len()).then_some(self)
    }

    #[inline(always)]
    fn base64(&mut self) -> Option<&mut Self> {
        let text = self.upto(b'<')?;
        let from = self.laid.heap.len();
        binary::parse_base64(text, &mut self.laid.heap).ok()?;
        let length = self.laid.heap.len() - from;
        self.laid.slots.push(place(from, length));
        Some(self)
    }

    #[inline(always)]
    fn optional_string(&mut self, open: &str, close: &str) -> Option<&mut Self> {
        match self.has(open) {
            true => self.string()?.tag(close),
            false => Some(self.nothing()),
        }
    }

    #[inline(always)]
    fn optional_double(&mut self, open: &str, close: &str) -> Option<&mut Self> {
        match self.has(open) {
            true => self.double()?.tag(close),
            false => Some(self.nothing()),
        }
    }

    /// The slot of a value that is not there.
    #[inline(always)]
    fn nothing(&mut self) -> &mut Self {
        self.laid.slots.push(0);
        self
    }

    fn reading(&mut self) -> Option<()> {
        self.tag(Peers::READING)?.tag("<station>")?.string()?;
        self.tag("</station><sensor>")?.string()?;
        self.tag("</sensor><time>")?.date_time()?;
        self.tag("</time><sequence>")?.long()?;
        self.tag("</sequence><latitude>")?.double()?;
        self.tag("</latitude><longitude>")?.double()?;
        self.tag("</longitude><altitude>")?.double()?;
        self.tag("</altitude><value>")?.double()?;
        self.tag("</value><unit>")?.string()?;
        self.tag("</unit><quality>")?.int()?;
        self.tag("</quality>")?.tag(Peers::READING_END)?;
        Some(())
    }

    fn order(&mut self) -> Option<()> {
        self.tag(Peers::ORDER)?.tag(" id=\"")?.long()?;
        self.tag("\" currency=\"")?.string_upto(b'"')?;
        self.tag("\"><number>")?.string()?;
        self.tag("</number><placed>")?.date_time()?;
        self.tag("</placed><priority>")?.int()?;
        self.tag("</priority><express>")?.boolean()?;
        self.tag("</express>")?
            .optional_string("<note>", "</note>")?;
        self.tag("<customer><number>")?.long()?;
        self.tag("</number><name>")?.string()?.tag("</name>")?;
        self.optional_string("<email>", "</email>")?
            .optional_string("<vat>", "</vat>")?;
        self.tag("</customer><billing>")?.address()?;
        self.tag("</billing>")?;
        if self.has("<shipping>") {
            self.address()?.tag("</shipping>")?;
        }
        let count = self.laid.slots.len();
        self.laid.slots.push(0);
        while let Some(rest) = self.rest.strip_prefix(b"<line number=\"") {
            self.rest = rest;
            self.line()?;
            self.laid.slots[count] += 1;
        }
        self.tag("<totals><net>")?.decimal()?;
        self.tag("</net><tax>")?.decimal()?;
        self.tag("</tax><gross>")?.decimal()?;
        self.tag("</gross><weight>")?.double()?;
        self.tag("</weight><parcels>")?
            .integer(0, u32::MAX.into())?;
        self.tag("</parcels>")?
            .optional_double("<discount>", "</discount>")?;
        self.tag("</totals><payment><method>")?.string()?;
        self.tag("</method>")?
            .optional_string("<reference>", "</reference>")?;
        self.tag("<due>")?.date()?;
        self.tag("</due><signature>")?.base64()?;
        self.tag("</signature></payment>")?.tag(Peers::ORDER_END)?;
        Some(())
    }

    #[inline(always)]
    fn address(&mut self) -> Option<&mut Self> {
        self.tag("<name>")?.string()?;
        self.tag("</name><street>")?.string()?;
        self.tag("</street><house>")?.int()?;
        self.tag("</house><city>")?.string()?;
        self.tag("</city><postcode>")?.string()?;
        self.tag("</postcode><country>")?.string()?;
        self.tag("</country>")?
            .optional_double("<latitude>", "</latitude>")?
            .optional_double("<longitude>", "</longitude>")
    }

    #[inline(always)]
    fn line(&mut self) -> Option<()> {
        self.int()?.tag("\"><sku>")?.string()?;
        self.tag("</sku><description>")?.string()?;
        self.tag("</description><quantity>")?.int()?;
        self.tag("</quantity><price>")?.decimal()?;
        self.tag("</price><weight>")?.double()?;
        self.tag("</weight>")?
            .optional_double("<discount>", "</discount>")?;
        self.tag("<taxRate>")?.double()?;
        self.tag("</taxRate><inStock>")?.boolean()?;
        self.tag("</inStock>")?;
        match self.has("<due>") {
            true => self.date()?.tag("</due></line>")?,
            false => self.nothing().tag("</line>")?,
        };
        Some(())
    }
}
