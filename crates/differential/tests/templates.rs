//! Which messages have templates, and when none is kept.

use std::sync::Arc;

use bsoap_codec::plan::ElementId;
use bsoap_codec::{Encoder, Plan, Record, Value, build};
use bsoap_datatypes::Datatype;
use bsoap_differential::send::{SendCounts, StreamKey, TemplateCache, TemplateCachePolicy};
use bsoap_testkit::random::Random;
use bsoap_testkit::schema::{MANY, ONCE, OPTIONAL, Schema};

/// `{name, note?, tag?, rows: {sku, count}*, item: double*}`
struct World {
    plan: Arc<Plan>,
    root: ElementId,
}

#[derive(Clone)]
struct Message {
    name: String,
    note: Option<String>,
    tag: Option<String>,
    rows: Vec<(String, i64)>,
    items: Vec<f64>,
}

impl Message {
    fn small() -> Self {
        Self {
            name: "a reading".into(),
            note: None,
            tag: None,
            rows: (0..8).map(|n| (format!("sku {n}"), n)).collect(),
            items: vec![1.5, 2.25],
        }
    }

    fn large(items: usize) -> Self {
        Self {
            items: (0..items).map(|item| item as f64 / 7.0).collect(),
            ..Self::small()
        }
    }

    /// Another one of the same structure, with nothing in common.
    fn other(&self, random: &mut Random) -> Self {
        let mut word = |known: &Option<String>| known.as_ref().map(|_| random.word());
        let (note, tag) = (word(&self.note), word(&self.tag));
        Self {
            name: random.word(),
            note,
            tag,
            rows: self
                .rows
                .iter()
                .map(|_| (random.word(), (random.next() as i32).into()))
                .collect(),
            items: self
                .items
                .iter()
                .map(|_| random.next() as f64 / 1e9)
                .collect(),
        }
    }
}

impl World {
    fn new() -> Self {
        let mut schema = Schema::new();
        let row = vec![
            schema.field("sku", Datatype::String, ONCE),
            schema.field("count", Datatype::Int, ONCE),
        ];
        let row = schema.structure(row);
        let fields = vec![
            schema.field("name", Datatype::String, ONCE),
            schema.field("note", Datatype::String, OPTIONAL),
            schema.field("tag", Datatype::String, OPTIONAL),
            schema.child("rows", row, MANY),
            schema.field("item", Datatype::Double, MANY),
        ];
        let (plan, root) = schema.rooted_in_mesh("reading", fields);
        Self { plan, root }
    }

    fn record(&self, message: &Message) -> Record {
        let rows = message.rows.iter().map(|(sku, count)| {
            Value::object([
                ("sku", Value::from(sku.as_str())),
                ("count", (*count).into()),
            ])
        });
        let mut members = vec![("name", Value::from(message.name.as_str()))];
        for (name, text) in [("note", &message.note), ("tag", &message.tag)] {
            if let Some(text) = text {
                members.push((name, Value::from(text.as_str())));
            }
        }
        members.push(("rows", Value::Array(rows.collect())));
        members.push(("item", Value::from(message.items.clone())));
        build(&self.plan, self.root, &Value::object(members)).expect("it fits")
    }

    fn stream(&self, endpoint: u32, operation: u32) -> StreamKey {
        StreamKey {
            endpoint,
            root: self.root,
            operation,
        }
    }
}

/// Sends by a store, checks the text, and counts.
struct Sender {
    world: World,
    store: TemplateCache,
    counts: SendCounts,
}

impl Sender {
    fn new(change: impl FnOnce(&mut TemplateCachePolicy)) -> Self {
        let mut policy = TemplateCachePolicy::default();
        change(&mut policy);
        Self {
            world: World::new(),
            store: TemplateCache::new(policy),
            counts: SendCounts::default(),
        }
    }

    fn send_to(&mut self, endpoint: u32, operation: u32, message: &Message) -> SendCounts {
        let mut record = self.world.record(message);
        let mut fresh = Vec::new();
        Encoder::default()
            .encode(&record, &mut fresh)
            .expect("a message");
        let stream = self.world.stream(endpoint, operation);
        let mut checkout = self.store.check_out(stream, &record);
        let sent = checkout.send(&mut record);
        let evicted = self.store.check_in(checkout);
        let mut sent = sent.expect("a message");
        sent.counts.evicted += evicted;
        assert!(sent.outgoing.chunks.concat() == fresh, "another text");
        assert_eq!(sent.outgoing.length, fresh.len() as u64);
        assert_eq!(sent.counts.messages(), 1);
        self.counts.add(&sent.counts);
        sent.counts
    }

    fn send(&mut self, message: &Message) -> SendCounts {
        self.send_to(0, 0, message)
    }
}

#[test]
fn small_messages_with_nothing_in_common_get_no_template_and_are_soon_not_looked_at() {
    let mut sender = Sender::new(|_| {});
    let mut random = Random::new(1);
    let mut message = Message::small();
    for _ in 0..1000 {
        message = message.other(&mut random);
        sender.send(&message);
    }
    let counts = sender.counts;
    assert_eq!((counts.messages(), counts.matches.messages()), (1000, 0));
    assert!(counts.plain <= 20, "{counts:?}");
    assert!(sender.store.is_empty());
}

#[test]
fn large_ones_are_tried_with_less_than_one_in_a_hundred() {
    let mut sender = Sender::new(|_| {});
    let mut random = Random::new(2);
    let mut message = Message::large(2000);
    for _ in 0..1000 {
        message = message.other(&mut random);
        sender.send(&message);
    }
    let counts = sender.counts;
    assert!(counts.matches.messages() <= 6, "{counts:?}");
    assert_eq!(counts.messages(), 1000);
}

#[test]
fn a_stream_that_comes_to_repeat_itself_is_found_out() {
    let mut sender = Sender::new(|_| {});
    let mut random = Random::new(3);
    let mut message = Message::small();
    for _ in 0..100 {
        message = message.other(&mut random);
        sender.send(&message);
    }
    assert_eq!(sender.counts.matches.messages(), 0);
    for _ in 0..300 {
        sender.send(&message);
    }
    assert!(sender.counts.matches.content > 100, "{:?}", sender.counts);
    // And one that ceases to.
    let before = sender.counts.matches.messages();
    for _ in 0..1000 {
        message = message.other(&mut random);
        sender.send(&message);
    }
    let tried = sender.counts.matches.messages() - before;
    assert!(tried <= 3, "{tried}");
}

#[test]
fn optional_elements_that_come_and_go_have_a_template_for_each_structure() {
    let mut sender = Sender::new(|_| {});
    let bare = Message::small();
    let with_note = Message {
        note: Some("fragile".into()),
        ..bare.clone()
    };
    // As many slots, another structure.
    let with_tag = Message {
        tag: Some("fragile".into()),
        ..bare.clone()
    };
    for _ in 0..20 {
        for message in [&bare, &with_note, &bare] {
            sender.send(message);
        }
    }
    let counts = sender.counts;
    assert_eq!(
        (counts.plain, counts.matches.first_time),
        (2, 2),
        "{counts:?}"
    );
    assert_eq!(counts.matches.content, 56, "{counts:?}");
    assert_eq!(counts.matches.encoded_chunks, 0, "{counts:?}");
    for round in 0..200 {
        sender.send(if round % 2 == 0 {
            &with_tag
        } else {
            &with_note
        });
    }
    let counts = sender.counts;
    assert!(counts.matches.encoded_chunks < 10, "{counts:?}");
}

#[test]
fn a_few_changes_in_a_small_message_are_worth_a_template() {
    let mut sender = Sender::new(|_| {});
    let mut random = Random::new(4);
    let mut message = Message::small();
    for _ in 0..100 {
        let row = random.next() as usize % message.rows.len();
        message.rows[row].0 = random.word();
        message.items[0] += 1.0;
        sender.send(&message);
    }
    let counts = sender.counts;
    assert_eq!(
        (counts.plain, counts.matches.first_time),
        (1, 1),
        "{counts:?}"
    );
    assert_eq!(counts.matches.messages(), 99, "{counts:?}");
}

#[test]
fn the_template_used_longest_ago_goes_and_is_counted() {
    let mut sender = Sender::new(|policy| policy.templates = 2);
    let messages = [10, 40, 160].map(Message::large);
    // Two of them twice: they have templates.
    for message in [0, 1, 0, 1] {
        sender.send(&messages[message]);
    }
    assert_eq!(sender.store.len(), 2);
    sender.send(&messages[0]);
    assert_eq!(sender.counts.evicted, 0);
    // The third takes the place of the second, which is not for lack of memory.
    sender.send(&messages[2]);
    sender.send(&messages[2]);
    assert_eq!(sender.counts.evicted, 0);
    assert_eq!(sender.store.len(), 2);
    let rest: u64 = (0..40)
        .map(|_| sender.send(&messages[0]).matches.content)
        .sum();
    assert!(rest >= 32, "all but those bypassed: {rest}");
}

#[test]
fn no_more_bytes_are_held_than_allowed_and_what_is_given_up_is_counted() {
    let bytes = 60 << 10;
    let mut sender = Sender::new(|policy| policy.bytes = bytes);
    for _ in 0..4 {
        for (operation, items) in [(0, 300), (1, 400), (2, 500), (3, 600)] {
            sender.send_to(0, operation, &Message::large(items));
            assert!(sender.store.memory() < bytes + (8 << 10));
        }
    }
    assert!(sender.counts.evicted > 0, "{:?}", sender.counts);
    let evicted = sender.counts.evicted;
    let held = sender.store.len() as u64;
    assert_eq!(sender.counts.matches.first_time, evicted + held);
    // One that exceeds the whole limit is not made again and again.
    let before = sender.counts.matches.first_time;
    for _ in 0..100 {
        sender.send_to(0, 9, &Message::large(5000));
    }
    assert_eq!(sender.counts.matches.first_time, before + 1);
}

#[test]
fn templates_given_up_with_their_stream_or_with_all_are_counted_with_the_next_message() {
    let mut sender = Sender::new(|policy| policy.streams = 2);
    for operation in [0, 1] {
        for _ in 0..3 {
            sender.send_to(0, operation, &Message::small());
        }
    }
    assert_eq!((sender.store.len(), sender.counts.evicted), (2, 0));
    assert_eq!(sender.send_to(0, 2, &Message::small()).evicted, 1);
    sender.send_to(0, 2, &Message::small());
    assert_eq!(sender.store.len(), 2);
    sender.store.pause();
    assert_eq!(sender.store.len(), 0);
    while sender.send_to(0, 2, &Message::small()).no_memory > 0 {}
    assert_eq!(sender.counts.evicted, 3);
}

#[test]
fn another_endpoint_begins_with_a_copy_where_the_message_is_the_same() {
    let mut sender = Sender::new(|_| {});
    for message in [Message::small(), Message::large(3000)] {
        let operation = u32::from(message.items.len() > 2);
        for _ in 0..3 {
            sender.send_to(0, operation, &message);
        }
        let counts = sender.send_to(1, operation, &message);
        assert_eq!(counts.matches.content, 1, "{counts:?}");
        // An operation of another kind has none.
        assert_eq!(sender.send_to(1, 7 + operation, &message).plain, 1);
    }
}

#[test]
fn messages_written_at_the_same_time_have_templates_of_their_own() {
    let world = World::new();
    let mut store = TemplateCache::new(TemplateCachePolicy::default());
    let record = world.record(&Message::small());
    let mut counts = SendCounts::default();
    for _ in 0..10 {
        let checkouts: Vec<_> = (0..6)
            .map(|_| store.check_out(world.stream(0, 0), &record))
            .collect();
        let sent: Vec<_> = checkouts
            .into_iter()
            .map(|mut checkout| (checkout.send(&mut record.clone()), checkout))
            .collect();
        for (sent, checkout) in sent {
            let evicted = store.check_in(checkout);
            let mut sent = sent.expect("a message").counts;
            sent.evicted += evicted;
            counts.add(&sent);
        }
        assert!(store.len() <= 4);
    }
    assert_eq!(counts.messages(), 60);
    assert!(counts.matches.content > 0, "{counts:?}");
    // More were made than are kept; none was evicted for lack of memory.
    assert!(
        counts.matches.first_time >= store.len() as u64,
        "{counts:?}"
    );
    assert_eq!(counts.evicted, 0, "{counts:?}");
}

#[test]
fn a_message_that_cannot_be_written_takes_its_template_along() {
    let mut sender = Sender::new(|_| {});
    let message = Message::small();
    for _ in 0..3 {
        sender.send(&message);
    }
    assert_eq!(sender.store.len(), 1);
    let bad = Message {
        name: "\u{1} reading".into(),
        ..message.clone()
    };
    let mut record = sender.world.record(&bad);
    let stream = sender.world.stream(0, 0);
    let mut checkout = sender.store.check_out(stream, &record);
    let sent = checkout.send(&mut record);
    let _ = sender.store.check_in(checkout);
    sent.expect_err("a control character");
    assert!(sender.store.is_empty());
    assert!(
        (0..2)
            .map(|_| sender.send(&message))
            .any(|sent| sent.matches.first_time == 1)
    );
}

#[test]
fn what_is_held_is_given_back_whatever_the_stream() {
    let mut sender = Sender::new(|policy| {
        policy.bytes = 100 << 10;
        policy.templates = 3;
        policy.streams = 5;
    });
    let mut random = Random::new(5);
    let mut message = Message::small();
    for _ in 0..3000 {
        match random.next() % 12 {
            0 => message = message.other(&mut random),
            1 => message.items = Message::large(random.next() as usize % 1500).items,
            2 => message.note = message.note.is_none().then(|| random.word()),
            3 => message.rows.truncate(random.next() as usize % 9),
            4 => message.rows.push((random.word(), 7)),
            5 => message.name = random.word(),
            _ => {}
        }
        let (endpoint, operation) = (random.next() % 2, random.next() % 4);
        sender.send_to(endpoint as u32, operation as u32, &message);
        if random.next().is_multiple_of(200) {
            sender.store.pause();
        }
    }
    let counts = sender.counts;
    assert!(counts.matches.messages() > 300, "{counts:?}");
    sender.store.pause();
    assert!(sender.store.is_empty());
    assert!(
        sender.store.memory() < 64 << 10,
        "{}",
        sender.store.memory()
    );
}
