//! How much memory and time rewriting a message takes. The one test here has the process for itself.

#![cfg(target_os = "linux")]

use std::time::{Duration, Instant};

use bsoap_codec::decode::{DecodeOptions, Decoder, Tolerance};
use bsoap_codec::plan::{Content, ElementId};
use bsoap_codec::repair::Repair;
use bsoap_codec::{Plan, Record};
use bsoap_datatypes::Datatype;
use bsoap_testkit::schema::{MANY, ONCE, OPTIONAL, Schema};
use std::sync::Arc;

type Root = (Arc<Plan>, ElementId);

/// `<q>` with any number of `<r>`, which has required nillable children in this namespace and any number of `<r>`.
fn rows(namespace: &str, fields: usize) -> Root {
    let mut schema = Schema::new();
    let row = schema.structure(Vec::new());
    let mut children = Vec::new();
    for number in 0..fields {
        let ty = schema.builtin(Datatype::Int);
        let name = format!("requiredElementNumber{number}");
        let field = schema.element_with(namespace, &name, ty, |it| it.nillable = true);
        children.push(schema.of(ONCE, field));
    }
    children.push(schema.field("o", Datatype::String, OPTIONAL));
    children.push(schema.child("r", row, MANY));
    let group = schema.sequence(ONCE, children);
    schema.define(row, Content::Particle(group));
    let rows = vec![schema.child("r", row, MANY)];
    schema.rooted("q", rows)
}

/// Reads a message. Returns the Record, if it has one, the time, and the bytes that were needed at once.
fn read((plan, root): &Root, text: &str) -> (Option<Record>, Duration, usize) {
    let mut options = DecodeOptions::default();
    options.accepted = Tolerance::Lenient.into();
    let mut decoder = Decoder::new(plan.clone(), options);
    std::fs::write("/proc/self/clear_refs", "5").expect("the peak is reset");
    let (before, begun) = (memory("VmRSS:"), Instant::now());
    let record = Repair::default().decode(&mut decoder, *root, text.as_bytes());
    let time = begun.elapsed();
    (record.ok(), time, memory("VmHWM:").saturating_sub(before))
}

fn memory(name: &str) -> usize {
    let status = std::fs::read_to_string("/proc/self/status").expect("/proc is there");
    let line = status.lines().find_map(|line| line.strip_prefix(name));
    let kilobytes = line.and_then(|line| line.trim().strip_suffix(" kB")?.trim().parse().ok());
    kilobytes.map_or(0, |it: usize| it * 1024)
}

#[test]
fn rewriting_takes_no_more_than_it_says() {
    const ROWS: usize = 100_000;
    let names = |count: usize| "urn:example:some:service:types:".repeat(count);
    let flat = |row: &str| format!("<q>{}</q>", row.repeat(ROWS));
    // Elements that each get the declaration of the default namespace that the one around them loses.
    let below = format!(
        "<q><x:r xmlns:x='urn:x' xmlns='{}'>{}</x:r></q>",
        names(64),
        "<u/>".repeat(ROWS)
    );
    for (case, root, text, is_read) in [
        ("missing", rows(&names(1), 2), flat("<r/>"), true),
        ("too many missing", rows(&names(1), 4), flat("<r/>"), false),
        (
            "of another namespace",
            rows("urn:n", 0),
            flat("<n:r xmlns:n='urn:x'/>"),
            true,
        ),
        ("below a renamed one", rows("urn:n", 0), below, false),
    ] {
        let (record, time, used) = read(&root, &text);
        let said = Repair::memory(text.as_bytes());
        eprintln!("{case}: {} bytes, {used} of {said}, {time:?}", text.len());
        assert_eq!(record.is_some(), is_read, "{case}");
        let record = record.map_or(0, |it| it.memory());
        assert!(
            used <= said + record,
            "{case}: {used} of {said}, Record {record}"
        );
    }

    // Paths are made only for the warnings that are kept.
    let root = rows("urn:n", 2);
    let time = |depth: usize| {
        let (start, end) = ("<r>".repeat(depth), "</r>".repeat(depth));
        let (record, time, _) = read(
            &root,
            &format!("<q>{start}{}{end}</q>", "<r/>".repeat(ROWS)),
        );
        assert!(record.is_some());
        time
    };
    let (flat, deep) = (time(1), time(200));
    eprintln!("depth 1: {flat:?}, depth 200: {deep:?}");
    assert!(deep < flat * 3, "{flat:?}, {deep:?}");
}
