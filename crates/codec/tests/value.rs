//! Values, views and Rust types against Records.

use std::sync::Arc;

use bsoap_codec::plan::{AttributeDef, Content, ElementId, TypeDef, TypeId};
use bsoap_codec::{
    DecodeOptions, Decoder, Item, MAX_DEPTH, Octets, Pack, PackError, Packer, Plan, Unpack,
    Unpacker, Value, View, build, encode, pack,
};
use bsoap_datatypes::Datatype;
use bsoap_testkit::schema::{MANY, ONCE, OPTIONAL, Schema};

/// `node = { label?, node? }`
fn tree() -> (Arc<Plan>, ElementId) {
    let mut schema = Schema::new();
    let ty = schema.builder.reserve_type();
    let label = schema.field("label", Datatype::String, OPTIONAL);
    let inner = schema.child("node", ty, OPTIONAL);
    let content = schema.sequence(ONCE, vec![label, inner]);
    schema
        .builder
        .define_type(ty, Schema::plain(Content::Particle(content)));
    let root = schema.element("node", ty);
    (schema.finish(), root)
}

fn nested(depth: usize) -> Value {
    let mut value = Value::object([("label", Value::from("leaf"))]);
    for _ in 1..depth {
        value = Value::object([("node", value)]);
    }
    value
}

/// On a stack as small as those of worker threads.
fn on_a_small_stack(work: impl FnOnce() + Send + 'static) {
    std::thread::Builder::new()
        .stack_size(2 << 20)
        .spawn(work)
        .unwrap()
        .join()
        .unwrap();
}

#[test]
fn values_nest_as_deep_as_the_limit_says_and_no_deeper() {
    on_a_small_stack(|| {
        let (plan, root) = tree();
        let record = build(&plan, root, &nested(MAX_DEPTH)).unwrap();
        let view = View::of(&record);
        let json = view.to_json().unwrap();
        assert_eq!(view.to_value().unwrap().to_json(), json);
        let error = build(&plan, root, &nested(MAX_DEPTH + 1)).unwrap_err();
        assert!(
            error
                .to_string()
                .starts_with("values nest deeper than the limit of 256 at /node/node"),
            "{error}"
        );
    });
}

#[test]
fn messages_deeper_than_values_can_be_read_and_written_but_not_shown() {
    on_a_small_stack(|| {
        let (plan, root) = tree();
        let depth = 1000;
        let text = format!("{}{}", "<node>".repeat(depth), "</node>".repeat(depth));
        // By default they cannot even be read.
        let mut options = DecodeOptions::default();
        assert!(
            Decoder::new(plan.clone(), options)
                .decode(root, text.as_bytes())
                .is_err()
        );
        options.limits.depth = depth;
        let mut decoder = Decoder::new(plan.clone(), options);
        let record = decoder.decode(root, text.as_bytes()).unwrap();
        let mut out = Vec::new();
        encode(&record, &mut out).unwrap();
        assert!(String::from_utf8(out).unwrap().ends_with(&text));
        assert!(
            record == record.clone() && record == decoder.decode(root, text.as_bytes()).unwrap()
        );
        let view = View::of(&record);
        assert_eq!(
            view.to_value().unwrap_err().to_string(),
            "elements nest deeper than 256 (limit `MAX_DEPTH`)"
        );
        assert!(
            view.to_json()
                .unwrap_err()
                .to_string()
                .contains("elements nest deeper than 256")
        );
        assert_eq!(view.child("node").unwrap().children().count(), 1);
    });
}

/// The groups of a hostile schema count, too: each element of this one is inside of 100 groups.
#[test]
fn groups_that_nest_deep_in_elements_that_nest_deep_meet_the_limit() {
    on_a_small_stack(|| {
        let mut schema = Schema::new();
        let ty = schema.builder.reserve_type();
        let mut content = schema.child("node", ty, OPTIONAL);
        for level in 0..100 {
            let other = schema.field(&format!("f{level}"), Datatype::String, OPTIONAL);
            content = match level % 2 {
                0 => schema.sequence(ONCE, vec![other, content]),
                _ => schema.choice(ONCE, vec![content, other]),
            };
        }
        schema
            .builder
            .define_type(ty, Schema::plain(Content::Particle(content)));
        let root = schema.element("node", ty);
        let plan = schema.finish();
        let message = |depth: usize| {
            let text = format!("{}{}", "<node>".repeat(depth), "</node>".repeat(depth));
            let mut options = DecodeOptions::default();
            options.limits.depth = depth;
            let decoded = Decoder::new(plan.clone(), options).decode(root, text.as_bytes());
            decoded.unwrap_or_else(|error| panic!("{error}"))
        };
        let deep = message(MAX_DEPTH);
        let error = View::of(&deep).to_value().unwrap_err().to_string();
        assert!(error.contains("elements nest deeper than"), "{error}");
        assert!(View::of(&deep).to_json().is_err());
        let usual = message(5);
        let value = View::of(&usual).to_value().unwrap();
        assert!(build(&plan, root, &value).unwrap() == usual);
        let error = build(&plan, root, &nested(MAX_DEPTH)).unwrap_err();
        assert!(error.to_string().contains("nest deeper than"), "{error}");
    });
}

#[derive(Debug, PartialEq)]
struct Reading {
    id: u32,
    unit: Option<String>,
    samples: Vec<f64>,
    raw: Octets,
    next: Option<Box<Reading>>,
    choice: Choice,
}

#[derive(Debug, PartialEq)]
enum Choice {
    Nothing,
    Count(i64),
    Note(String),
}

impl Pack for Reading {
    fn pack(&self, packer: &mut Packer<'_>) {
        packer.value(&self.id);
        packer.value(&self.unit);
        packer.array(&self.samples);
        packer.value(&self.raw);
        packer.value(&self.next);
        match &self.choice {
            Choice::Nothing => packer.no_branch(),
            Choice::Count(count) => {
                packer.branch(0);
                packer.value(count);
            }
            Choice::Note(note) => {
                packer.branch(1);
                packer.value(note);
            }
        }
    }
}

impl Unpack for Reading {
    fn unpack(from: &mut Unpacker<'_>) -> Result<Self, PackError> {
        Ok(Self {
            id: from.value()?,
            unit: from.value()?,
            samples: from.array()?,
            raw: from.value()?,
            next: from.value()?,
            choice: match from.branch()? {
                None => Choice::Nothing,
                Some(0) => Choice::Count(from.value()?),
                _ => Choice::Note(from.value()?),
            },
        })
    }
}

fn readings(samples: Datatype) -> (Arc<Plan>, ElementId) {
    let mut schema = Schema::new();
    let ty: TypeId = schema.builder.reserve_type();
    let attributes = vec![
        AttributeDef {
            required: true,
            ..schema.attribute("id", Datatype::UnsignedInt)
        },
        schema.attribute("unit", Datatype::String),
    ];
    let count = schema.field("count", Datatype::Long, ONCE);
    let note = schema.field("note", Datatype::String, ONCE);
    let choice = schema.choice(OPTIONAL, vec![count, note]);
    let children = vec![
        schema.field("sample", samples, MANY),
        schema.field("raw", Datatype::Base64Binary, ONCE),
        schema.child("next", ty, OPTIONAL),
        choice,
    ];
    let content = schema.sequence(ONCE, children);
    schema.builder.define_type(
        ty,
        TypeDef {
            attributes,
            ..Schema::plain(Content::Particle(content))
        },
    );
    let root = schema.element_in("urn:r", "reading", ty);
    (schema.finish(), root)
}

fn reading() -> Reading {
    let next = Reading {
        id: 8,
        unit: Some("K".into()),
        samples: vec![],
        raw: Octets(vec![]),
        next: None,
        choice: Choice::Note("n".into()),
    };
    Reading {
        id: 7,
        unit: None,
        samples: vec![0.5, f64::INFINITY],
        raw: Octets(vec![1, 2]),
        next: Some(Box::new(next)),
        choice: Choice::Count(-3),
    }
}

#[test]
fn rust_types_lie_in_a_record_as_values_do() {
    let (plan, root) = readings(Datatype::Double);
    let record = pack(&plan, root, &reading()).unwrap();
    let json = r#"{"@id":7,"sample":[0.5,"INF"],"raw":"AQI=","next":{"@id":8,"@unit":"K","raw":"","note":"n"},"count":-3}"#;
    assert_eq!(serde_json::to_string(&View::of(&record)).unwrap(), json);
    assert!(record == build(&plan, root, &Value::from_json_str(json).unwrap()).unwrap());
    assert_eq!(View::of(&record).unpack::<Reading>().unwrap(), reading());
    assert_eq!(
        View::of(&record)
            .child("next")
            .unwrap()
            .attribute("unit")
            .unwrap()
            .as_str(),
        Some("K")
    );
}

#[test]
fn code_that_does_not_fit_its_schema_is_an_error() {
    struct Other(Reading, u64);
    impl Pack for Other {
        fn pack(&self, packer: &mut Packer<'_>) {
            self.0.pack(packer);
        }
        fn fingerprint(&self) -> Option<u64> {
            Some(self.1)
        }
    }
    let (plan, root) = readings(Datatype::Double);
    let (other, other_root) = readings(Datatype::Float);
    assert_eq!(
        plan.fingerprint(root),
        readings(Datatype::Double).0.fingerprint(root)
    );
    assert_ne!(plan.fingerprint(root), other.fingerprint(other_root));
    let fingerprint = plan.type_fingerprint(plan.element(root).ty);
    assert!(pack(&plan, root, &Other(reading(), fingerprint)).is_ok());
    assert_eq!(
        pack(&other, other_root, &Other(reading(), fingerprint)).unwrap_err(),
        PackError::OtherSchema
    );
    let (tree, node) = tree();
    assert_eq!(
        pack(&tree, node, &reading()).unwrap_err(),
        PackError::Mismatch
    );
    let record = build(&tree, node, &nested(3)).unwrap();
    assert_eq!(
        View::of(&record).unpack::<Reading>().unwrap_err(),
        PackError::Mismatch
    );
}

#[test]
fn mixed_content_is_seen_in_order() {
    let mut schema = Schema::new();
    let bold = schema.field("b", Datatype::String, MANY);
    let content = Content::Mixed {
        particle: schema.sequence(ONCE, vec![bold]),
        elements: 0..0,
    };
    let ty = schema.ty(content);
    let root = schema.element("p", ty);
    let plan = schema.finish();
    let value = Value::from_json_str(r##"{"#mixed":["some ",{"b":"bold"}," text"]}"##).unwrap();
    let record = build(&plan, root, &value).unwrap();
    let seen: Vec<String> = View::of(&record)
        .items()
        .map(|item| match item {
            Item::Text(text) => text.to_owned(),
            Item::Element(view) => format!("<{}>{}", view.name(), view.text().unwrap()),
            Item::Xml(xml) => xml.to_owned(),
            other => panic!("{other:?}"),
        })
        .collect();
    assert_eq!(seen, ["some ", "<b>bold", " text"]);
    let mut out = Vec::new();
    encode(&record, &mut out).unwrap();
    assert!(out.ends_with(b"<p>some <b>bold</b> text</p>"));
}

/// Shows values as texts.
struct Shown;

impl<'r> bsoap_codec::Maker<'r> for Shown {
    type Value = String;
    type Object = String;

    fn leaf(&mut self, leaf: bsoap_codec::LeafView<'r>) -> String {
        leaf.text().into_owned()
    }
    fn text(&mut self, text: &str) -> String {
        text.to_owned()
    }
    fn boolean(&mut self, value: bool) -> String {
        value.to_string()
    }
    fn nil(&mut self) -> String {
        "nil".to_owned()
    }
    fn array(&mut self, values: Vec<String>) -> String {
        format!("{values:?}")
    }
    fn begin(&mut self, _: &'r bsoap_codec::Record, _: Option<TypeId>, _: usize) -> String {
        String::new()
    }
    fn push(&mut self, object: &mut String, key: bsoap_codec::Key<'_>, value: String) {
        *object += &format!("{}={value};", key.as_str());
    }
    fn append(&mut self, object: &mut String, key: bsoap_codec::Key<'_>, value: String) {
        *object += &format!("{}+{value};", key.as_str());
    }
    fn end(&mut self, object: String) -> String {
        format!("({object})")
    }
}

#[test]
fn children_made_together_are_those_made_one_by_one() {
    let mut schema = Schema::new();
    let label = schema.field("label", Datatype::String, OPTIONAL);
    let number = schema.field("number", Datatype::Int, MANY);
    let content = schema.sequence(ONCE, vec![label, number]);
    let row = schema.ty(Content::Particle(content));
    let rows = schema.child("row", row, MANY);
    let last = schema.child("row", row, OPTIONAL);
    let title = schema.field("title", Datatype::String, ONCE);
    let content = schema.sequence(ONCE, vec![rows, title, last]);
    let root = schema.ty(Content::Particle(content));
    let root = schema.element("root", root);
    let plan = schema.finish();
    let text = "<root><row/><row><label>a</label><number>1</number><number>2</number></row><title>t</title><row><number>3</number></row></root>";
    let record = Decoder::new(plan, DecodeOptions::default())
        .decode(root, text.as_bytes())
        .unwrap();
    let view = View::of(&record);
    for name in ["row", "title", "none"] {
        let mut together = Vec::new();
        view.make_all(name, &mut Shown, |value| together.push(value))
            .unwrap();
        let single: Vec<String> = view
            .all(name)
            .map(|child| child.make(&mut Shown).unwrap())
            .collect();
        assert_eq!(together, single);
    }
    assert_eq!(view.all("row").count(), 3);
}
