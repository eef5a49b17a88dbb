//! Hints for messages that our own sender has not written, and a reader that uses a cache of skeletons as services do.

use std::ops::Range;
use std::sync::Arc;

use bsoap_codec::decode::{Decoder, Error, Trace};
use bsoap_codec::plan::ElementId;
use bsoap_codec::{DecodeOptions, Plan, Record};
use bsoap_differential::hint::{HintCounts, SkeletonCache, SkeletonCachePolicy};

/// The values of a traced text that can be read again alone: the slot of each, and where its lexical form is.
pub fn values<'t>(
    trace: &'t Trace,
    text: &'t [u8],
) -> impl Iterator<Item = (usize, Range<usize>)> + 't {
    let slots = trace.starts.iter().zip(&trace.sites).enumerate();
    slots.filter_map(|(slot, (&start, site))| {
        site.leaf()?;
        let start = start as usize;
        let end = match site.is_attribute() {
            true => *text.get(start.checked_sub(1)?)?,
            false => b'<',
        };
        let rest = text.get(start..)?;
        let length = rest.iter().position(|&byte| byte == end)?;
        Some((slot, start..start + length))
    })
}

/// A structure key and the `at` of a hint for a text that was traced: the lengths of the values that can be read alone.
pub fn key_and_lengths(text: &str, trace: &Trace) -> (u64, String) {
    let (mut key, mut at, mut end) = (7_u64, String::new(), 0);
    for (_, place) in values(trace, text.as_bytes()) {
        // Items of a list are in the text of the list.
        let Some(piece) = text.get(end..place.start) else {
            continue;
        };
        for byte in piece.bytes() {
            key = (key ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        }
        match place.len() {
            length @ 0..=61 => at.push(char::from(b'@' + length as u8)),
            length => at.push_str(&format!("~{length:x};")),
        }
        end = place.end;
    }
    (key, at)
}

/// Where a header block goes in a text whose Envelope has no prefix, and whether it has a Header. `None` if there is no
/// Envelope.
pub fn place_for_block(text: &str) -> Option<(usize, bool)> {
    if let Some(at) = text.find("<Header>") {
        return Some((at + "<Header>".len(), true));
    }
    let root = text.find("<Envelope")?;
    Some((root + text[root..].find('>')? + 1, false))
}

/// Reads the messages of a stream by the hints in them, if they have any.
#[derive(Debug)]
pub struct HintReader {
    plan: Arc<Plan>,
    options: DecodeOptions,
    decoder: Option<Box<Decoder>>,
    cache: SkeletonCache,
    counts: HintCounts,
}

impl HintReader {
    /// For messages that are read by this Plan.
    pub fn new(plan: Arc<Plan>, options: DecodeOptions, policy: SkeletonCachePolicy) -> Self {
        Self {
            plan,
            options,
            decoder: None,
            cache: SkeletonCache::new(policy),
            counts: HintCounts::default(),
        }
    }

    /// Reads a whole message, whose root element must be `root`.
    ///
    /// # Errors
    /// As [`Decoder::decode`].
    pub fn receive(&mut self, root: ElementId, message: &[u8]) -> Result<Arc<Record>, Error> {
        let new = || Decoder::new(self.plan.clone(), self.options);
        let Some(mut checkout) = self.cache.check_out(root, message) else {
            let decoder = self.decoder.get_or_insert_with(|| Box::new(new()));
            let result = decoder.decode(root, message);
            self.counts.errors += u64::from(result.is_err());
            self.counts.plain += u64::from(result.is_ok());
            return result.map(Arc::new);
        };
        let (result, counts) = checkout.read(root, message, &mut self.decoder, &new);
        self.counts.add(&counts);
        self.counts.evicted += self.cache.check_in(checkout);
        result
    }

    /// What has been done so far.
    pub fn counts(&self) -> &HintCounts {
        &self.counts
    }

    /// The skeletons kept.
    pub fn cache(&self) -> &SkeletonCache {
        &self.cache
    }
}
