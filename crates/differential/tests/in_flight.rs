//! A send that is under way keeps the message that it began with, in every form in which it is sent; and a relay writes
//! what was reported as changed, and nothing else.

use std::io::Read;
use std::sync::Arc;

use bsoap_codec::plan::ElementId;
use bsoap_codec::{DecodeOptions, EncodeOptions, Encoder, Plan, Record, Value, build};
use bsoap_datatypes::Datatype;
use bsoap_differential::receive::{self, Way};
use bsoap_differential::send::{Chunks, GzipCache, Outgoing, Pad, Part, Policy, Template};
use bsoap_testkit::random::Random;
use bsoap_testkit::schema::{MANY, OPTIONAL, Schema};
use bsoap_testkit::template::assert_consistent;
use bytes::Bytes;
use flate2::read::GzDecoder;

const COUNT: usize = 5000;

/// A title and many numbers.
fn plan() -> (Arc<Plan>, ElementId) {
    let mut schema = Schema::new();
    let children = vec![
        schema.field("title", Datatype::String, OPTIONAL),
        schema.field("v", Datatype::Double, MANY),
    ];
    schema.rooted("values", children)
}

struct Stream {
    plan: Arc<Plan>,
    root: ElementId,
    random: Random,
    title: String,
    values: Vec<f64>,
}

impl Stream {
    fn new(seed: u64) -> Self {
        let (plan, root) = plan();
        Self {
            plan,
            root,
            random: Random::new(seed),
            title: "first".to_owned(),
            values: (0..COUNT).map(|number| number as f64).collect(),
        }
    }

    /// The next message, in which some numbers, and sometimes the title, are others.
    fn next(&mut self) -> Record {
        for _ in 0..self.random.below(30) {
            let at = self.random.below(self.values.len());
            self.values[at] = match self.random.below(3) {
                0 => self.random.below(10) as f64,
                1 => self.random.below(1_000_000_000) as f64 / 1024.0,
                _ => -1.0 / (1.0 + self.random.below(1_000_000) as f64),
            };
        }
        if self.random.chance(20) {
            self.title = "t".repeat(self.random.below(40));
        }
        let value = Value::object([
            ("title", Value::from(self.title.as_str())),
            ("v", Value::from(self.values.clone())),
        ]);
        build(&self.plan, self.root, &value).expect("numbers")
    }
}

fn fresh(record: &Record) -> Vec<u8> {
    let mut text = Vec::new();
    let encoded = Encoder::default().encode(record, &mut text);
    encoded.expect("it can be encoded");
    text
}

fn policies() -> Vec<Policy> {
    let sizes = [500, 8 << 10, 64 << 10];
    let of = |policy: Policy| sizes.map(|size| policy.with_chunks(Chunks::of(size)));
    let mut all = vec![Policy::IDENTICAL];
    all.extend(of(Policy::IDENTICAL));
    all.extend(of(Policy::EXACT));
    all.extend(of(Policy::INTERMEDIATE));
    all.extend(of(Policy::MAXIMUM));
    all.extend(of(Policy::MAXIMUM.with_pad(Pad::AfterTag)));
    all
}

/// What a message was when its sending began.
struct Sent {
    outgoing: Outgoing,
    compressed: Vec<Bytes>,
    text: Vec<u8>,
}

impl Sent {
    fn is_as_it_was(&self) -> bool {
        let mut decompressed = Vec::new();
        let stream = self.compressed.concat();
        let read = GzDecoder::new(&stream[..]).read_to_end(&mut decompressed);
        read.expect("a gzip stream");
        self.outgoing.chunks.concat() == self.text && decompressed == self.text
    }
}

#[test]
fn sends_in_flight_plain_or_gzip_never_see_a_later_patch() {
    for (seed, policy) in (1..).zip(policies()) {
        let mut stream = Stream::new(seed);
        let first = stream.next();
        let mut template = Template::first(policy, EncodeOptions::default(), first);
        let template = template.as_mut().expect("it can be encoded");
        let mut cache = GzipCache::default();
        let mut in_flight: Vec<Sent> = Vec::new();
        for round in 0..20 {
            let outgoing = template.outgoing();
            let compressed = cache.compress(&outgoing.chunks).chunks;
            let text = template.text();
            in_flight.push(Sent {
                outgoing,
                compressed,
                text,
            });
            if round % 2 == 0 {
                template.update(&mut stream.next()).expect("a message");
            } else {
                let slot = template.record().map_or(0, |record| record.slots().len());
                for _ in 0..10 {
                    let slot = slot - 1 - stream.random.below(COUNT);
                    template.set(slot, 0.125).expect("a number");
                }
                template.commit().expect("a message");
            }
            assert_consistent(template);
            assert!(in_flight.iter().all(Sent::is_as_it_was), "{policy:?}");
            if in_flight.len() > 4 {
                // It has left.
                in_flight.remove(stream.random.below(4));
            }
        }
    }
}

#[test]
fn a_relay_writes_what_it_received_as_changed() {
    for (seed, policy) in (200..).zip(policies()) {
        let mut stream = Stream::new(seed);
        let mut receiver = receive::Stream::new(
            Way::default(),
            Arc::clone(&stream.plan),
            DecodeOptions::default(),
        );
        let mut template = Template::new(policy, EncodeOptions::default());
        let mut by_changes = 0;
        for round in 0..30 {
            if round % 10 == 9 {
                stream.values.insert(17, 0.5);
            }
            let message = Bytes::from(fresh(&stream.next()));
            let received = receiver.receive(stream.root, message.clone());
            let received = received.expect("a message");
            let record = received.record;
            let changes = received.changes;
            let slots = record.slots().len();
            let part = Part {
                own: 0..slots,
                from: 0..slots,
            };
            let changed = changes.spans().map(|span| span.now);
            let is_taken = changes.keeps_places()
                && !template.is_empty()
                && template.take_changed(&part, &record, changed).is_some();
            if is_taken {
                template.commit().expect("written");
                by_changes += 1;
            } else {
                let mut record = Record::clone(&record);
                template.update(&mut record).expect("written");
            }
            assert_consistent(&template);
            if policy.stuffing == Policy::IDENTICAL.stuffing {
                assert!(template.text() == message, "{policy:?} {round}");
            }
            let again = template.record().map(fresh);
            assert!(again.as_deref() == Some(&*message), "{policy:?} {round}");
        }
        assert!(by_changes > 10, "{by_changes}");
    }
}
