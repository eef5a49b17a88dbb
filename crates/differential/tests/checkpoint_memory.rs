//! What checkpoints take in memory: lightweight ones (LCP) against differential (DCP) and full ones (FCP), on arrays and on
//! structures that are deep.

use std::fmt::Write;
use std::sync::Arc;

use bsoap_codec::Plan;
use bsoap_codec::decode::DecodeOptions;
use bsoap_codec::plan::{Content, ElementId, TermDef};
use bsoap_datatypes::Datatype;
use bsoap_differential::receive::{Portioning, Stream, Way};
use bsoap_testkit::schema::{MANY, ONCE, OPTIONAL, Schema};
use bytes::Bytes;

const INTERRUPTS: [usize; 6] = [32, 64, 128, 256, 512, 1024];

/// Checkpoints and the bytes they take.
#[derive(Clone, Copy, Debug)]
struct Taken {
    count: usize,
    bytes: usize,
    /// With digests and all.
    history: usize,
}

/// FCP, DCP, LCP, and LCP with digests.
fn taken((plan, root): &(Arc<Plan>, ElementId), text: &Bytes, interrupt: usize) -> [Taken; 4] {
    let ways = [
        Portioning::full(),
        Portioning::differential(),
        Portioning::lightweight(),
        Portioning::hashed(),
    ];
    ways.map(|mut way| {
        way.interrupt = interrupt;
        let mut portioned = Stream::new(Way::Portions(way), plan.clone(), DecodeOptions::default());
        portioned.receive(*root, text.clone()).expect("valid");
        let (count, bytes) = portioned.checkpoints();
        let history = portioned.history_memory();
        Taken {
            count,
            bytes,
            history,
        }
    })
}

/// Shows what a structure takes with each way, and gives it.
fn shown(name: &str, structure: &(Arc<Plan>, ElementId), text: &Bytes) -> Vec<[Taken; 4]> {
    let all = INTERRUPTS.map(|interrupt| {
        let all = taken(structure, text, interrupt);
        let each = all.map(|it| it.bytes as f64 / it.count as f64);
        eprintln!(
            "{name}, {} bytes, N = {interrupt}: {:?} checkpoints; bytes of each: FCP {:.0}, DCP {:.0}, LCP {:.1}; LCP is {:.1} % of DCP, {:.1} % of FCP",
            text.len(),
            all.map(|it| it.count),
            each[0],
            each[1],
            each[2],
            all[2].bytes as f64 * 100.0 / all[1].bytes as f64,
            all[2].bytes as f64 * 100.0 / all[0].bytes as f64,
        );
        all
    });
    all.into()
}

/// A tenth of DCP, 3 % of FCP, 24 bytes a checkpoint; and what there is one of.
fn is_small([full, differential, lightweight, _]: &[Taken; 4]) {
    assert!(
        lightweight.bytes * 10 <= differential.bytes + 40_000,
        "a tenth of DCP"
    );
    assert!(lightweight.bytes * 100 <= full.bytes * 3, "3 % of FCP");
    assert!(lightweight.bytes <= lightweight.count * 24 + 4096);
}

/// Values in an order without lines.
fn values(text: &mut String, count: usize) {
    for index in 0..count {
        write!(text, "<v>{}.{index:06}5</v>", index % 10).expect("a string");
    }
}

/// Nested elements, this many levels; in the innermost, arrays of doubles.
fn wrapped(levels: usize, arrays: usize, length: usize) -> ((Arc<Plan>, ElementId), Bytes) {
    let mut schema = Schema::new();
    let doubles = schema.field("v", Datatype::Double, MANY);
    let mut ty = schema.structure(vec![doubles]);
    let array = schema.element("array", ty);
    let arrays_of = schema.of(MANY, array);
    ty = schema.structure(vec![arrays_of]);
    for level in 1..levels {
        let before = schema.field("number", Datatype::Int, ONCE);
        let element = schema.element(&format!("level{level}"), ty);
        let inner = schema.of(ONCE, element);
        ty = schema.structure(vec![before, inner]);
    }
    let inner = schema.element("inner", ty);
    let inner = schema.of(ONCE, inner);
    let (mut head, mut tail) = ("<all><inner>".to_owned(), "</inner></all>".to_owned());
    for level in (1..levels).rev() {
        write!(head, "<number>{level}</number><level{level}>").expect("a string");
        tail.insert_str(0, &format!("</level{level}>"));
    }
    for _ in 0..arrays {
        head.push_str("<array>");
        values(&mut head, length);
        head.push_str("</array>");
    }
    (schema.rooted("all", vec![inner]), (head + &tail).into())
}

/// A tree, each node with a few numbers of its own.
fn tree(levels: usize) -> ((Arc<Plan>, ElementId), Bytes) {
    let mut schema = Schema::new();
    let ty = schema.builder.reserve_type();
    let node = schema.element("node", ty);
    let own = [
        schema.field("key", Datatype::Int, ONCE),
        schema.field("weight", Datatype::Double, ONCE),
    ];
    let inner = schema.of(MANY, node);
    let all = vec![own[0], own[1], inner];
    let sequence = schema.particle(ONCE, TermDef::Sequence(all));
    schema.define(ty, Content::Particle(sequence));
    let top = schema.of(ONCE, node);
    let mut text = "<tree>".to_owned();
    fn write_node(text: &mut String, levels: usize) {
        write!(
            text,
            "<node><key>{levels}</key><weight>{levels}.25</weight>"
        )
        .expect("a string");
        for _ in 0..if levels == 0 { 0 } else { 2 } {
            write_node(text, levels - 1);
        }
        text.push_str("</node>");
    }
    write_node(&mut text, levels);
    (schema.rooted("tree", vec![top]), (text + "</tree>").into())
}

/// Rows with a few fields, some of them optional or arrays, inside some levels.
fn lines(count: usize) -> ((Arc<Plan>, ElementId), Bytes) {
    let mut schema = Schema::new();
    let fields = vec![
        schema.field("sku", Datatype::String, ONCE),
        schema.field("weight", Datatype::Double, OPTIONAL),
        schema.field("tag", Datatype::String, MANY),
    ];
    let ty = schema.structure(fields);
    let line = schema.element("line", ty);
    let lines = schema.of(MANY, line);
    let ty = schema.structure(vec![lines]);
    let order = schema.element("order", ty);
    let order = schema.of(ONCE, order);
    let mut text = "<orders><order>".to_owned();
    for index in 0..count {
        write!(text, "<line><sku>S{index}</sku>").expect("a string");
        if index % 3 == 0 {
            write!(text, "<weight>{index}.5</weight>").expect("a string");
        }
        for tag in 0..index % 4 {
            write!(text, "<tag>tag {tag}</tag>").expect("a string");
        }
        text.push_str("</line>");
    }
    (
        schema.rooted("orders", vec![order]),
        (text + "</order></orders>").into(),
    )
}

#[test]
fn lightweight_checkpoints_of_an_array_are_a_small_part_of_the_others() {
    let (structure, text) = wrapped(1, 1, 100_000);
    for all in shown("an array", &structure, &text) {
        is_small(&all);
        // Of N = 1024: 6 % of the text, digests and all.
        let hashed = all[3];
        assert!(hashed.count > text.len() / 1000 || hashed.history * 100 <= text.len() * 6);
    }
}

#[test]
fn lightweight_checkpoints_of_arrays_deep_inside_are_a_small_part_of_the_others() {
    let (structure, text) = wrapped(16, 4, 25_000);
    for all in shown("four arrays, 16 levels deep", &structure, &text) {
        is_small(&all);
    }
}

#[test]
fn lightweight_checkpoints_of_small_structures_are_a_small_part_of_the_others() {
    let some = [
        ("300 arrays of 100, 8 levels deep", wrapped(8, 300, 100)),
        ("a tree of 8191 nodes, 13 levels deep", tree(12)),
        ("5000 lines", lines(5000)),
    ];
    for (name, (structure, text)) in some {
        for [full, differential, lightweight, _] in shown(name, &structure, &text) {
            // What there is one of, the states that groups have in common, weighs more where there are few checkpoints.
            assert!(lightweight.bytes * 10 <= differential.bytes + 40_000);
            assert!(lightweight.bytes * 100 <= full.bytes * 3 + 100_000);
            assert!(lightweight.bytes <= lightweight.count * 34 + (40 << 10));
        }
    }
}
