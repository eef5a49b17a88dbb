//! Strings that are full of references, or sections, and change in the middle.

use std::sync::Arc;

use bsoap_codec::Plan;
use bsoap_codec::plan::ElementId;
use bsoap_datatypes::Datatype;

use bsoap_testkit::random::Random;
use bsoap_testkit::schema::{ONCE, OPTIONAL, Schema};

/// Pieces of a text that is full of what is replaced.
const PIECES: [&str; 18] = [
    "a",
    "some words ",
    "&lt;",
    "&gt;",
    "&amp;",
    "&apos;",
    "&quot;",
    "&#65;",
    "&#x1F600;",
    ";",
    "\r",
    "\n",
    "\r\n",
    "]",
    "é",
    "\u{FFFD}",
    "\t",
    "]]&gt;",
];

/// Those that no text can hold.
const WRONG: [&str; 7] = ["&other;", "&", "]]>", "\u{FFFE}", "&#0;", "&lt", "\u{1}"];

/// What is around a text in its element.
const AROUND: [(&str, &str); 5] = [
    ("", ""),
    ("<![CDATA[", "]]>"),
    ("<!-- front -->", ""),
    ("", "<!-- behind -->"),
    ("<![CDATA[", "]]>and"),
];

const NAMES: [&str; 3] = ["text", "text", "token"];

/// Three strings.
pub(crate) struct Strings {
    texts: [Vec<&'static str>; 3],
    around: [(&'static str, &'static str); 3],
}

impl Strings {
    pub(crate) fn plan() -> (Arc<Plan>, ElementId) {
        let mut schema = Schema::new();
        let children = vec![
            schema.field("before", Datatype::Int, ONCE),
            schema.field("text", Datatype::String, (1, 3)),
            schema.field("token", Datatype::Token, OPTIONAL),
        ];
        schema.rooted("strings", children)
    }

    pub(crate) fn new(random: &mut Random) -> Self {
        let text = |_: &str| (0..random.below(60)).map(|_| piece(random)).collect();
        let texts = NAMES.map(text);
        Self {
            texts,
            around: [(); 3].map(|()| around(random)),
        }
    }

    pub(crate) fn text(&self) -> String {
        let mut message = String::from("<strings><before>7</before>");
        for ((text, (open, close)), name) in self.texts.iter().zip(&self.around).zip(NAMES) {
            let text = text.concat();
            message.push_str(&format!("<{name}>{open}{text}{close}</{name}>"));
        }
        message + "</strings>"
    }

    /// Another piece, one more, or one less.
    pub(crate) fn change(&mut self, random: &mut Random) {
        if random.chance(5) {
            self.around[random.below(3)] = around(random);
        }
        let text = &mut self.texts[random.below(3)];
        let at = random.below(text.len() + 1);
        match random.below(3) {
            0 => text.insert(at, piece(random)),
            1 if at < text.len() => drop(text.remove(at)),
            _ if at < text.len() => text[at] = piece(random),
            _ => {}
        }
    }

    /// Takes out what is wrong.
    pub(crate) fn correct(&mut self) {
        for text in &mut self.texts {
            text.retain(|piece| !WRONG.contains(piece));
        }
    }
}

fn piece(random: &mut Random) -> &'static str {
    match random.chance(1) {
        true => WRONG[random.below(WRONG.len())],
        false => PIECES[random.below(PIECES.len())],
    }
}

fn around(random: &mut Random) -> (&'static str, &'static str) {
    // Most often nothing.
    AROUND[random.below(8).saturating_sub(3)]
}
