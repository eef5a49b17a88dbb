//! The time that counts claim to be saved is about the time that is saved.

use std::sync::Arc;
use std::time::{Duration, Instant};

use bsoap_codec::plan::ElementId;
use bsoap_codec::{Decoder, Encoder, Plan, Record, Value, build, decode::DecodeOptions};
use bsoap_datatypes::Datatype;
use bsoap_differential::receive::{HistoryCache, HistoryCachePolicy};
use bsoap_differential::send::{Sent, StreamKey, TemplateCache, TemplateCachePolicy};
use bsoap_testkit::schema::{MANY, Schema};
use bytes::Bytes;

/// The number of messages of a stream.
const MESSAGES: usize = 64;

fn plan() -> (Arc<Plan>, ElementId) {
    let mut schema = Schema::new();
    let children = vec![schema.field("v", Datatype::Double, MANY)];
    schema.rooted("values", children)
}

/// A stream of arrays of which one value in `nth` changes with each message.
fn stream(plan: &Arc<Plan>, root: ElementId, length: usize, nth: usize) -> Vec<Record> {
    let mut values: Vec<f64> = (0..length).map(|item| 1.0 / (item as f64 + 3.0)).collect();
    let record = |message: usize| {
        let changed = values.iter_mut().skip(message).step_by(nth);
        changed.for_each(|value| *value += 1.0);
        let value = Value::object([("v", Value::from(values.clone()))]);
        build(plan, root, &value).expect("it fits")
    };
    (0..MESSAGES).map(record).collect()
}

/// The time that a stream took with nothing saved, the time that it took, and the time that is said to be saved.
#[derive(Debug)]
struct Times {
    without: Duration,
    with: Duration,
    claimed: Duration,
}

impl Times {
    fn are_right(&self) -> bool {
        let saved = self.without.saturating_sub(self.with);
        let noise = self.without / 10;
        self.claimed <= saved * 5 / 4 + noise && self.claimed + noise >= saved / 3
    }
}

fn time<T>(times: &mut Vec<Duration>, convert: impl FnOnce() -> T) -> T {
    let start = Instant::now();
    let result = convert();
    times.push(start.elapsed());
    result
}

/// The total of these times if none was disturbed.
fn total(mut times: Vec<Duration>) -> Duration {
    times.sort();
    times[times.len() / 2] * times.len() as u32
}

fn send(records: &[Record]) -> Times {
    let (mut without, mut with) = (Vec::new(), Vec::new());
    let mut claimed = Duration::ZERO;
    let mut cache = TemplateCache::new(TemplateCachePolicy::default());
    for record in records {
        let plain = time(&mut without, || Sent::plain(record));
        drop(plain.expect("a message"));
        let mut record = record.clone();
        let key = StreamKey {
            endpoint: 0,
            root: record.root(),
            operation: 0,
        };
        let sent = time(&mut with, || {
            let mut checkout = cache.check_out(key, &record);
            let sent = checkout.send(&mut record);
            cache.check_in(checkout);
            sent
        });
        claimed += sent.expect("a message").counts.saved;
    }
    Times {
        without: total(without),
        with: total(with),
        claimed,
    }
}

fn receive(records: &[Record]) -> Times {
    let (mut without, mut with) = (Vec::new(), Vec::new());
    let mut claimed = Duration::ZERO;
    let mut cache = HistoryCache::new(HistoryCachePolicy::default());
    let (plan, root) = (records[0].plan(), records[0].root());
    let new = || Decoder::new(plan.clone(), DecodeOptions::default());
    let (mut plain, mut decoder) = (new(), None);
    for record in records {
        let mut text = Vec::new();
        let written = Encoder::default().encode(record, &mut text);
        written.expect("a message");
        let text = Bytes::from(text);
        let read = time(&mut without, || plain.decode(root, &text));
        drop(read.expect("a message"));
        let (read, counts) = time(&mut with, || {
            let mut checkout = cache.check_out(root, &text);
            let read = checkout.receive(root, &text, &mut decoder, new);
            cache.check_in(checkout);
            read
        });
        drop(read.expect("a message"));
        claimed += counts.saved;
    }
    Times {
        without: total(without),
        with: total(with),
        claimed,
    }
}

/// On a busy machine, a few times are far from the others.
fn check(times: impl Fn() -> Times) {
    let found: Vec<Times> = (0..5).map(|_| times()).collect();
    let right = found.iter().filter(|times| times.are_right()).count();
    assert!(right >= 2, "{found:?}");
}

#[test]
fn the_time_said_to_be_saved_is_about_the_time_saved() {
    let (plan, root) = plan();
    for nth in [100, 10_000] {
        let records = stream(&plan, root, 20_000, nth);
        check(|| send(&records));
        check(|| receive(&records));
    }
}
