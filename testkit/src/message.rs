//! Random messages of a plan, in all the lexical forms that XML allows.

use bsoap_codec::decode::Tolerance;
use bsoap_codec::plan::{Content, ElementId, LeafId, LeafKind, ParticleId, Term, TypeId};
use bsoap_codec::{DecodeOptions, Plan};
use bsoap_datatypes::{Datatype, Variety};

use crate::plan::WILD;
use crate::random::Random;

/// How a random message is written.
#[derive(Clone, Copy, Debug)]
pub struct Style {
    /// White space between elements.
    pub gap: &'static str,
    /// How often, in percent, something unusual is used: a comment, CDATA, a reference, another prefix.
    pub noise: usize,
    /// About how many elements it may have.
    pub size: usize,
}

/// A message of the plan. Most messages are valid.
pub fn message(plan: &Plan, root: ElementId, random: &mut Random, style: Style) -> String {
    let mut writer = Writer {
        plan,
        random,
        style,
        text: String::new(),
        left: style.size,
        depth: 0,
    };
    writer.element(root, true);
    writer.text
}

struct Writer<'a> {
    plan: &'a Plan,
    random: &'a mut Random,
    style: Style,
    text: String,
    left: usize,
    depth: usize,
}

const DECLARATIONS: &str = " xmlns:a=\"urn:a\" xmlns:b=\"urn:b\" xmlns:w=\"urn:wild\" xmlns:x=\"urn:a\" \
     xmlns:xsi=\"http://www.w3.org/2001/XMLSchema-instance\" xmlns:xsd=\"http://www.w3.org/2001/XMLSchema\"";

impl Writer<'_> {
    fn noisy(&mut self) -> bool {
        self.random.chance(self.style.noise)
    }

    fn gap(&mut self) {
        self.text.push_str(self.style.gap);
        if self.noisy() {
            self.text.push_str(
                ["\r\n", " ", "<!-- a comment -->", "\t<?pi of a kind?>"][self.random.below(4)],
            );
        }
    }

    fn qname(&mut self, namespace: &str, local: &str) -> String {
        match namespace {
            "" => local.to_owned(),
            "urn:a" if self.noisy() => format!("x:{local}"),
            "urn:a" => format!("a:{local}"),
            "urn:b" => format!("b:{local}"),
            _ => format!("w:{local}"),
        }
    }

    fn element(&mut self, id: ElementId, is_root: bool) {
        let plan = self.plan;
        let element = plan.element(id);
        let (namespace, local) = (
            plan.vocabulary().namespace(element.name),
            plan.vocabulary().local(element.name),
        );
        let qname = self.qname(namespace, local);
        self.left = self.left.saturating_sub(1);
        self.depth += 1;
        self.text.push_str(&format!("<{qname}"));
        if is_root {
            self.text.push_str(DECLARATIONS);
        } else if self.noisy() {
            self.text.push_str(" xmlns:b='urn:b'");
        }
        let ty = self.actual_type(element.ty);
        let nil = element.nillable && self.random.chance(40);
        if !nil {
            self.attributes(ty);
        }
        if self.noisy() {
            self.text.push(' ');
        }
        let start = self.text.len();
        if nil {
            self.text.push_str(" xsi:nil='true'>");
        } else {
            self.text.push('>');
            self.content(ty);
        }
        if self.text.ends_with('>')
            && self.text.len() <= start + 16
            && (nil || self.random.chance(50))
            && self.text[start..].matches('>').count() == 1
        {
            self.text.pop();
            self.text.push_str("/>");
        } else {
            let space = if self.noisy() { " " } else { "" };
            self.text.push_str(&format!("</{qname}{space}>"));
        }
        self.depth -= 1;
    }

    fn actual_type(&mut self, declared: TypeId) -> TypeId {
        let alternatives = &self.plan.ty(declared).alternatives;
        if alternatives.is_empty() {
            return declared;
        }
        let ty = *self.random.pick(alternatives);
        if let Some(name) = self.plan.ty(ty).name
            && (ty != declared || self.random.chance(50))
        {
            self.text.push_str(&format!(
                " xsi:type=\"a:{}\"",
                self.plan.vocabulary().local(name)
            ));
        }
        ty
    }

    fn attributes(&mut self, ty: TypeId) {
        let plan = self.plan;
        for id in plan.ty(ty).attribute_ids() {
            let attribute = plan.attribute(id);
            if !attribute.required && self.random.chance(40) {
                continue;
            }
            let qname = match plan.vocabulary().namespace(attribute.name) {
                "" => plan.vocabulary().local(attribute.name).to_owned(),
                _ => format!("b:{}", plan.vocabulary().local(attribute.name)),
            };
            let value = self.value(attribute.leaf);
            self.text
                .push_str(&format!(" {qname}=\"{}\"", escape(&value)));
        }
        if plan.ty(ty).any_attribute.is_some() && self.random.chance(60) {
            self.text.push_str(" w:extra=\"a:more &amp; 'more'\"");
        }
    }

    fn content(&mut self, ty: TypeId) {
        let plan = self.plan;
        match &plan.ty(ty).content {
            Content::Empty => {}
            Content::Simple(leaf) => {
                let value = self.value(*leaf);
                self.character_data(&value);
            }
            Content::Particle(particle) => {
                self.particle(*particle, false);
                self.gap();
            }
            Content::Mixed { particle, .. } => {
                self.particle(*particle, true);
                self.words(true);
            }
            Content::Any => {
                self.words(true);
                self.wild();
                self.words(true);
            }
        }
    }

    /// Text, if the content is mixed; otherwise white space.
    fn words(&mut self, mixed: bool) {
        if !mixed {
            return self.gap();
        }
        if self.random.chance(60) {
            let words = *self.random.pick(&[
                "some words",
                "a:name",
                " ",
                "x &amp; y",
                "<![CDATA[<raw>]]>",
                "né",
                "\r\n",
            ]);
            self.text.push_str(words);
        }
    }

    fn particle(&mut self, id: ParticleId, mixed: bool) {
        let particle = self.plan.particle(id);
        let most = if self.left == 0 || self.depth > 12 {
            particle.min
        } else {
            particle.max.min(particle.min + 4)
        };
        let mut count = particle.min + self.random.below((most - particle.min) as usize + 1) as u32;
        // Here and there a wrong number.
        if self.random.below(2000) == 0 {
            count = self.random.below(3) as u32;
        }
        for _ in 0..count {
            self.term(id, mixed);
        }
    }

    fn term(&mut self, id: ParticleId, mixed: bool) {
        let plan = self.plan;
        let children = plan.children_of(id);
        match &plan.particle(id).term {
            Term::Element(element) => {
                self.words(mixed);
                self.element(*element, false);
            }
            Term::Any(_) => {
                self.words(mixed);
                self.wild();
            }
            Term::Sequence(_) => children
                .iter()
                .for_each(|&child| self.particle(child, mixed)),
            Term::Choice(_) => {
                let child = *self.random.pick(children);
                self.particle(child, mixed);
            }
            Term::All(_) => {
                let mut order: Vec<ParticleId> = children.to_vec();
                for at in (1..order.len()).rev() {
                    order.swap(at, self.random.below(at + 1));
                }
                order
                    .into_iter()
                    .for_each(|child| self.particle(child, mixed));
            }
        }
    }

    /// An element for a wildcard.
    fn wild(&mut self) {
        let forms = [
            "<w:any/>",
            "<w:any a:b='c'>text<inner xmlns='urn:inner'/></w:any>",
            "<w:any xsi:type=\"xsd:string\">a:qname</w:any>",
            "<any xmlns=\"urn:wild\"><b:deep><deeper x:q='a:r'/></b:deep><!-- gone --> &lt; <![CDATA[ ]]></any>",
        ];
        let form = *self.random.pick(&forms);
        debug_assert!(form.contains("w:any") || form.contains(WILD));
        self.text.push_str(form);
    }

    /// A lexical form of a leaf; now and then a wrong one, or one that is accepted with a warning.
    fn value(&mut self, id: LeafId) -> String {
        let leaf = self.plan.leaf(id);
        match (self.random.below(1000), leaf.kind) {
            (0, _) => return "(wrong)".into(),
            (1..5, LeafKind::Double | LeafKind::Float) => return "-inf".into(),
            (1..30, LeafKind::Text) if leaf.is_listed => return "blue".into(),
            _ => {}
        }
        if let LeafKind::List(item) = leaf.kind {
            let items: Vec<String> = (0..self.random.below(5))
                .map(|_| self.value(item))
                .collect();
            return items.join(if self.noisy() { " \n " } else { " " });
        }
        let value = match leaf.simple.variety() {
            Variety::Atomic(Datatype::Token) if leaf.has_facets => {
                (*self.random.pick(&["red", "green"])).to_owned()
            }
            Variety::Atomic(datatype) => self.atom(*datatype, leaf.has_facets),
            _ => (*self.random.pick(&["12", "2024-02-29"])).to_owned(),
        };
        let may_pad = leaf.kind != LeafKind::Text && self.noisy();
        if may_pad {
            format!("\n {value} ")
        } else {
            value
        }
    }

    fn atom(&mut self, datatype: Datatype, small: bool) -> String {
        let bits = self.random.next();
        match datatype {
            Datatype::Int if small => format!("{}", bits as i8),
            Datatype::Int => format!("{}", bits as i32),
            Datatype::Long => format!("{}", bits as i64),
            Datatype::Byte => format!("{}", bits as i8),
            Datatype::UnsignedLong => bits.to_string(),
            Datatype::UnsignedByte => (bits as u8).to_string(),
            Datatype::Double => match self.random.below(6) {
                0 => (*self
                    .random
                    .pick(&["INF", "-INF", "-0", "1e-320", "+.5", "5."]))
                .to_owned(),
                1 => format!("{}", (bits % 1000) as f64 / 8.0),
                _ => format!("{:e}", f64::from_bits(bits >> 2)),
            },
            Datatype::Float => format!("{:e}", f32::from_bits((bits >> 33) as u32 >> 1)),
            Datatype::Boolean => (*self.random.pick(&["true", "false", "1", "0"])).to_owned(),
            Datatype::Decimal => format!("{}.{}", bits as i64, bits % 97),
            Datatype::Date => format!("20{:02}-0{}-1{}", bits % 100, 1 + bits % 9, bits % 10),
            Datatype::DateTime => format!(
                "20{:02}-0{}-1{}T12:34:5{}Z",
                bits % 100,
                1 + bits % 9,
                bits % 10,
                bits % 10
            ),
            Datatype::Base64Binary => (*self.random.pick(&["", "AAECAw==", "Zm9v"])).to_owned(),
            Datatype::HexBinary => (*self.random.pick(&["", "00ff", "CAFE"])).to_owned(),
            Datatype::QName => {
                (*self.random.pick(&["a:name", "name", "xsd:int", "xml:lang"])).to_owned()
            }
            Datatype::AnyUri => "http://example.org/a?b=c&d".to_owned(),
            _ => (*self.random.pick(&[
                "",
                "word",
                "two words",
                "a<b&c",
                "é𝄞",
                "]] >",
                "a rather long text that goes on for a while",
            ]))
            .to_owned(),
        }
    }

    fn character_data(&mut self, value: &str) {
        let escaped = escape(value);
        if !self.noisy() {
            self.text.push_str(&escaped);
            return;
        }
        match self.random.below(4) {
            0 if !value.contains("]]>") => self.text.push_str(&format!("<![CDATA[{value}]]>")),
            1 => self.text.push_str(&format!("<!--before-->{escaped}")),
            2 => self.text.push_str(&format!("{escaped}<!--after-->")),
            _ => {
                let middle = value
                    .char_indices()
                    .nth(value.chars().count() / 2)
                    .map_or(0, |(at, _)| at);
                let (front, back) = value.split_at(middle);
                let back: String = back
                    .chars()
                    .map(|c| format!("&#x{:X};", c as u32))
                    .collect();
                self.text
                    .push_str(&format!("{}<!-- - -->{back}", escape(front)));
            }
        }
    }
}

fn escape(value: &str) -> String {
    value
        .replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace("]]>", "]]&gt;")
        .replace('"', "&quot;")
        .replace('\n', "&#10;")
}

/// Options of a decoder that reads nothing that could not be sent again, such as values that an enumeration does not list.
pub fn strict() -> DecodeOptions {
    let mut options = DecodeOptions::default();
    options.accepted = Tolerance::Strict.into();
    options
}
