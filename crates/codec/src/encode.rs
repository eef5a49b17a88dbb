//! Encoding: turns a Record into text.
//!
//! The Plan is compiled once to a list of small instructions (`plan::program`); an interpreter with a stack of its own runs
//! them over the slots (`interpreter`). The start tag of the root declares the namespaces that its type needs. Namespaces
//! that only a value needs (a derived type, a QName, an attribute of a wildcard) are declared at the element that needs
//! them. Header blocks, bodies and details declare their own namespaces, so that a message does not declare those of all
//! other operations of its service.

mod control;
mod error;
mod interpreter;
mod leaf;
mod piece;
mod places;
mod rows;
mod scope;
mod slow;
mod state;

pub use crate::escape::forbidden_character;
pub use crate::plan::program::{Holder, LeafForm, LeafRef, PadPlace};
pub use error::{Error, ErrorKind};
pub use piece::{PieceEncoder, Stop};
pub use places::{Places, Rows, Stuffing};
pub use state::{Loop, State};

use crate::escape;
use crate::record::Record;

use interpreter::Interpreter;

const DECLARATION: &[u8] = b"<?xml version=\"1.0\" encoding=\"UTF-8\"?>";

/// Appends text as the content of an element, with `&`, `<` and other special characters escaped.
///
/// # Errors
/// [`ErrorKind::Character`], if XML cannot carry one of its characters; `out` holds what precedes it.
pub fn escape_content(text: &[u8], out: &mut Vec<u8>) -> Result<(), ErrorKind> {
    escape::text(text, out).map_err(Into::into)
}

/// Appends text as the value of an attribute, escaped for double quotes.
///
/// # Errors
/// As [`escape_content`].
pub fn escape_attribute(text: &[u8], out: &mut Vec<u8>) -> Result<(), ErrorKind> {
    escape::value(text, out).map_err(Into::into)
}

/// How messages are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct EncodeOptions {
    /// Whether the text begins with `<?xml version="1.0" encoding="UTF-8"?>`.
    pub declaration: bool,
    /// How deep elements may nest, not counting elements of flat types.
    pub depth: usize,
}

impl Default for EncodeOptions {
    /// With an XML declaration; a depth of 1024, as readers allow.
    fn default() -> Self {
        Self {
            declaration: true,
            depth: 1024,
        }
    }
}

impl EncodeOptions {
    /// The defaults without the XML declaration.
    pub fn without_declaration() -> Self {
        Self {
            declaration: false,
            ..Self::default()
        }
    }
}

/// Appends the text of a Record, with an XML declaration. The Record is [checked](Record::check) first; an [`Encoder`] does not
/// check it.
///
/// # Errors
/// If a text is not a lexical form of its type or has a character that XML does not allow, an enumeration does not list a value,
/// or the slots do not fit the Plan.
pub fn encode(record: &Record, out: &mut Vec<u8>) -> Result<(), Error> {
    record.check()?;
    Encoder::default().encode(record, out)
}

/// Writes Records as text.
#[derive(Clone, Copy, Debug, Default)]
pub struct Encoder {
    options: EncodeOptions,
}

impl Encoder {
    /// An encoder with these options.
    pub fn new(options: EncodeOptions) -> Self {
        Self { options }
    }

    /// Appends the text of a Record.
    ///
    /// # Errors
    /// If a text has a character that XML does not allow, or the slots do not fit the Plan. `out` is then as it was before.
    pub fn encode(&self, record: &Record, out: &mut Vec<u8>) -> Result<(), Error> {
        self.encode_with(record, out, ())
    }

    /// As [`encode`](Self::encode), and reports the locations of values to `places`.
    ///
    /// # Errors
    /// As [`encode`](Self::encode). The locations reported by then are of no use.
    pub fn encode_with<P: Places>(
        &self,
        record: &Record,
        out: &mut Vec<u8>,
        places: P,
    ) -> Result<(), Error> {
        let start = out.len();
        // An estimate of the length, so that the buffer seldom has to grow.
        out.reserve(256 + record.slots.len() * 16 + record.heap.len());
        let mut interpreter = Interpreter::new(record, out, (), places, self.options.depth);
        match whole(&mut interpreter, record, self.options) {
            Ok(()) => Ok(()),
            Err(kind) => {
                let slot = interpreter.at.saturating_sub(1);
                out.truncate(start);
                Err(Error::new(
                    kind,
                    slot,
                    crate::record::path::of_slot(record, slot),
                ))
            }
        }
    }
}

/// Writes a whole message.
fn whole<P: Places>(
    interpreter: &mut Interpreter<'_, '_, (), P>,
    record: &Record,
    options: EncodeOptions,
) -> Result<(), ErrorKind> {
    if options.declaration {
        interpreter.out.extend_from_slice(DECLARATION);
    }
    if let Some(pc) = interpreter.start(record.root)? {
        interpreter.run(pc)?;
    }
    interpreter.end(record.root)
}

#[cfg(test)]
mod tests {
    //! Records that no Plan made: whole or in pieces, they give an error or the same text, and none panics.

    use std::sync::Arc;

    use bsoap_datatypes::{Datatype, SimpleType};

    use crate::plan::{
        Content, ElementDef, ElementId, NamespaceConstraint, ParticleDef, ParticleId, PlanBuilder,
        ProcessContents, Role, TermDef, TypeDef, TypeId, UNBOUNDED, Wildcard,
    };
    use crate::record::Record;
    use crate::{Plan, Value, build, encode};

    use super::{EncodeOptions, Encoder, PieceEncoder, State, Stop};

    struct Schema(PlanBuilder);

    impl Schema {
        fn ty(&mut self, content: Content) -> TypeId {
            let ty = self.0.reserve_type();
            let def = TypeDef {
                name: None,
                attributes: Vec::new(),
                any_attribute: None,
                content,
                alternatives: Vec::new(),
                base: None,
                is_abstract: false,
            };
            self.0.define_type(ty, def);
            ty
        }

        fn element(&mut self, name: &str, ty: TypeId, nillable: bool) -> ElementId {
            let name = self.0.name("urn:h", name);
            self.0.element(ElementDef {
                name,
                ty,
                nillable,
                is_abstract: false,
                default: None,
                fixed: None,
                role: Role::Application,
            })
        }

        fn particle(&mut self, (min, max): (u32, u32), term: TermDef) -> ParticleId {
            self.0.particle(ParticleDef { min, max, term })
        }

        fn field(&mut self, name: &str, datatype: Datatype, occurs: (u32, u32)) -> ParticleId {
            let leaf = self.0.leaf(&SimpleType::builtin(datatype));
            let ty = self.ty(Content::Simple(leaf));
            let element = self.element(name, ty, name.starts_with("nil"));
            self.particle(occurs, TermDef::Element(element))
        }

        fn sequence(&mut self, children: Vec<ParticleId>) -> TypeId {
            let sequence = self.particle((1, 1), TermDef::Sequence(children));
            self.ty(Content::Particle(sequence))
        }
    }

    const MANY: (u32, u32) = (0, UNBOUNDED);

    /// One of each kind of instruction.
    fn plan() -> (Arc<Plan>, ElementId) {
        let mut schema = Schema(PlanBuilder::new());
        let node = schema.0.reserve_type();
        let cells = vec![
            schema.field("x", Datatype::Int, (1, 1)),
            schema.field("y", Datatype::Double, (1, 1)),
        ];
        let row = schema.sequence(cells);
        let row = schema.element("row", row, false);
        let child = schema.element("node", node, false);
        let branches = vec![
            schema.field("a", Datatype::String, (1, 1)),
            schema.field("b", Datatype::Base64Binary, MANY),
        ];
        let tokens = SimpleType::list_of(&SimpleType::builtin(Datatype::Token)).expect("a list");
        let tokens = schema.0.leaf(&tokens);
        let tokens = schema.ty(Content::Simple(tokens));
        let tokens = schema.element("tokens", tokens, false);
        let wildcard = Wildcard {
            namespaces: NamespaceConstraint::Any,
            process: ProcessContents::Skip,
        };
        let children = vec![
            schema.field("text", Datatype::String, (0, 1)),
            schema.field("nilly", Datatype::Int, (0, 1)),
            schema.field("name", Datatype::QName, (0, 1)),
            schema.particle((1, 1), TermDef::Element(tokens)),
            schema.particle(MANY, TermDef::Element(row)),
            schema.field("double", Datatype::Double, MANY),
            schema.particle((0, 1), TermDef::Choice(branches)),
            schema.particle(MANY, TermDef::Element(child)),
            schema.particle((0, 1), TermDef::Any(wildcard)),
        ];
        let sequence = schema.particle((1, 1), TermDef::Sequence(children));
        schema.0.define_type(
            node,
            TypeDef {
                name: None,
                attributes: Vec::new(),
                any_attribute: None,
                content: Content::Particle(sequence),
                alternatives: Vec::new(),
                base: None,
                is_abstract: false,
            },
        );
        let root = schema.element("root", node, false);
        (Arc::new(schema.0.finish().expect("all is defined")), root)
    }

    fn node(depth: usize) -> Value {
        let row = |x: i64| Value::object([("x", Value::from(x)), ("y", Value::from(0.25))]);
        let mut fields = vec![
            ("text", Value::from("a < \"b\"")),
            ("nilly", Value::Nil),
            ("name", Value::from("{urn:n}n")),
            (
                "tokens",
                Value::Array(vec![Value::from("t"), Value::from("u")]),
            ),
            ("row", Value::Array((0..5).map(row).collect())),
            ("double", Value::Array(vec![Value::from(1.5); 4])),
            ("a", Value::from("chosen")),
        ];
        if depth > 0 {
            fields.push(("node", Value::Array(vec![node(depth - 1), node(0)])));
        }
        Value::object(fields)
    }

    fn in_pieces(record: &Record, options: EncodeOptions) -> Result<Vec<u8>, super::Error> {
        let mut encoder = PieceEncoder::new(record, options);
        let mut text = Vec::new();
        while encoder.run(&mut text, 20, None, &(), &mut ())? != Stop::End {}
        Ok(text)
    }

    struct Random(u64);

    impl Random {
        fn below(&mut self, bound: usize) -> usize {
            self.0 = self
                .0
                .wrapping_mul(0x5851_f42d_4c95_7f2d)
                .wrapping_add(0x1405_7b7e_f767_814f);
            (self.0 >> 33) as usize % bound
        }
    }

    #[test]
    fn slots_of_any_kind_give_the_same_text_or_error_whole_and_in_pieces() {
        let (plan, root) = plan();
        let sound = build(&plan, root, &node(2)).expect("it fits");
        let random = &mut Random(1);
        let (mut fine, mut wrong) = (0, 0);
        for _ in 0..20_000 {
            let mut record = sound.clone();
            for _ in 0..1 + random.below(2) {
                let at = random.below(record.slots.len());
                let values = [0, 1, 2, 3, 7, u64::MAX, 1 << 40, random.0];
                match random.below(12) {
                    0 => record.slots.truncate(at + 1),
                    1 => record.slots.push(1),
                    2 => drop(record.slots.remove(at)),
                    _ => record.slots[at] = values[random.below(values.len())],
                }
            }
            let mut text = Vec::new();
            let whole = encode(&record, &mut text).map(|()| text);
            let pieces = in_pieces(&record, EncodeOptions::default());
            assert_eq!(pieces, whole);
            match whole {
                Ok(_) => fine += 1,
                Err(_) => wrong += 1,
            }
        }
        assert!(fine > 1000 && wrong > 1000, "{fine} {wrong}");
    }

    #[test]
    fn depth_has_a_limit_whole_and_in_pieces() {
        let (plan, root) = plan();
        let deep = (0..200).fold(node(0), |inner, _| {
            let tokens = Value::Array(Vec::new());
            Value::object([("tokens", tokens), ("node", Value::Array(vec![inner]))])
        });
        let record = build(&plan, root, &deep).expect("it fits");
        for (depth, fits) in [(1024, true), (200, true), (199, false), (1, false)] {
            let options = EncodeOptions {
                depth,
                ..EncodeOptions::default()
            };
            let encoder = Encoder::new(options);
            let mut text = Vec::new();
            let whole = encoder.encode(&record, &mut text).map(|()| text);
            assert_eq!(whole.is_ok(), fits, "{depth}");
            assert_eq!(in_pieces(&record, options), whole);
        }
    }

    #[test]
    fn a_state_that_the_record_cannot_be_in_is_refused() {
        let (plan, root) = plan();
        let record = build(&plan, root, &node(1)).expect("it fits");
        let mut encoder = PieceEncoder::new(&record, EncodeOptions::default());
        let mut text = Vec::new();
        let mut states: Vec<State> = Vec::new();
        while encoder.run(&mut text, 1, None, &(), &mut ()) != Ok(Stop::End) {
            states.push(encoder.state().clone());
        }
        let empty = Value::object([("tokens", Value::Array(Vec::new()))]);
        let other = build(&plan, root, &empty).expect("it fits");
        let refused = states.iter().filter(|state| {
            let state = (*state).clone();
            PieceEncoder::resume(&other, state, EncodeOptions::default()).is_err()
        });
        assert!(refused.count() > 20);
        // All but the occurrences that are there are done: there is none left.
        let mut fewer = record.clone();
        let in_rows = states
            .iter()
            .find(|state| state.loops().count() > 0)
            .expect("a loop");
        let the_loop = in_rows.loops().next().expect("a loop");
        fewer.slots[the_loop.count] = the_loop.done;
        assert!(PieceEncoder::resume(&fewer, in_rows.clone(), EncodeOptions::default()).is_err());
    }

    /// Sixteen of the type before in each type, seven types deep, hundreds of times: copied into one another, these would be
    /// millions of instructions.
    #[test]
    fn a_program_grows_with_its_plan_and_not_with_what_is_nested() {
        let mut schema = Schema(PlanBuilder::new());
        let name = |index: usize| format!("{}{index}", "n".repeat(40));
        let leaf = schema.field("leaf", Datatype::Int, (1, 1));
        let mut ty = schema.sequence(vec![leaf]);
        for _ in 0..7 {
            let children: Vec<_> = (0..16)
                .map(|index| {
                    let element = schema.element(&name(index), ty, false);
                    schema.particle((1, 1), TermDef::Element(element))
                })
                .collect();
            ty = schema.sequence(children);
        }
        let children = (0..300)
            .map(|index| {
                let element = schema.element(&name(index), ty, false);
                schema.particle((0, 1), TermDef::Element(element))
            })
            .collect();
        schema.sequence(children);
        let plan = schema.0.finish().expect("all is defined");
        let program = plan.program();
        assert!(program.ops.len() < 30_000, "{}", program.ops.len());
    }
}
