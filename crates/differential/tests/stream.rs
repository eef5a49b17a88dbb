//! A stream of messages gives the same values and errors, whichever way it is received.

use std::sync::Arc;

use bsoap_codec::decode::{DecodeOptions, Error};
use bsoap_codec::plan::ElementId;
use bsoap_codec::{Plan, Record};
use bsoap_datatypes::Datatype;
use bsoap_differential::receive::{Mode, Policy, Stream, Way};
use bsoap_testkit::schema::{MANY, Schema};
use bytes::Bytes;

fn plan() -> (Arc<Plan>, ElementId) {
    let mut schema = Schema::new();
    let children = vec![schema.field("v", Datatype::Double, MANY)];
    schema.rooted("values", children)
}

const MESSAGES: [&str; 6] = [
    "<values><v>1</v><v>2</v></values>",
    "<values><v>1</v><v>2.5</v></values>",
    "<values><v>1</v><v>not a number</v></values>",
    "<values><v>1</v><v>2.5</v></values>",
    "<values><v>1</v><v>2.5</v><v>3</v></values>",
    "<values><v>1</v><v>2.5</v>",
];

fn whole(stream: &mut Stream, root: ElementId) -> Vec<Result<Record, Error>> {
    let read = |text: &&str| {
        let received = stream.receive(root, Bytes::copy_from_slice(text.as_bytes()));
        received.map(|it| (*it.record).clone())
    };
    MESSAGES.iter().map(read).collect()
}

#[test]
fn every_way_gives_the_same() {
    let (plan, root) = plan();
    let stream = |way| Stream::new(way, plan.clone(), DecodeOptions::default());
    let expected = whole(&mut stream(Way::Off), root);
    assert_eq!(expected.iter().filter(|it| it.is_ok()).count(), 4);
    for way in [Way::default(), Way::Exact(Policy::default()), Way::Off] {
        let mut first = stream(way);
        assert_eq!(whole(&mut first, root), expected);
        assert_eq!(first.counts().messages(), 6);
    }
}

#[test]
fn off_compares_nothing_and_keeps_nothing() {
    let (plan, root) = plan();
    let mut stream = Stream::new(Way::Off, plan, DecodeOptions::default());
    let message = Bytes::from_static(MESSAGES[0].as_bytes());
    for _ in 0..3 {
        let received = stream.receive(root, message.clone()).expect("a message");
        assert_eq!(received.mode, Mode::Bypassed);
        assert!(received.changes.is_all());
    }
    let counts = stream.counts();
    assert_eq!((counts.reads.fast, counts.bypassed), (0, 3));
}

#[test]
fn a_weak_reference_to_the_record_before_hides_no_message() {
    let (plan, root) = plan();
    let mut stream = Stream::new(Way::Off, plan.clone(), DecodeOptions::default());
    let mut weak = Vec::new();
    for text in MESSAGES {
        let mut fresh = Stream::new(Way::Off, plan.clone(), DecodeOptions::default());
        let message = Bytes::from_static(text.as_bytes());
        let expected = fresh.receive(root, message.clone());
        let received = stream.receive(root, message);
        match (received, expected) {
            (Ok(received), Ok(expected)) => {
                assert_eq!(received.record, expected.record);
                weak.push(Arc::downgrade(&received.record));
            }
            (received, expected) => assert_eq!(received.is_ok(), expected.is_ok()),
        }
    }
    assert!(weak.len() > 2);
}
