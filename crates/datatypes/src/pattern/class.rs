//! The named sets of characters in patterns: `.`, `\s`, `\d`, `\w`, `\i`, `\c`, categories, blocks.

use regex_syntax::hir::{Class, ClassUnicode, ClassUnicodeRange, Hir, HirKind, Literal};

use super::blocks::BLOCKS;
use crate::name::{NAME_MORE, NAME_START};

/// Any character but line feed and carriage return.
pub(super) fn dot() -> ClassUnicode {
    let mut class = of(&[('\n', '\n'), ('\r', '\r')]);
    class.negate();
    class
}

/// The set of a lower-case multi-character escape.
pub(super) fn multi(escape: char) -> ClassUnicode {
    match escape {
        's' => of(&[('\t', '\n'), ('\r', '\r'), (' ', ' ')]),
        'd' => unicode(r"\p{Nd}"),
        'w' => unicode(r"[^\p{P}\p{Z}\p{C}]"),
        'i' => name_start(),
        _ => {
            let mut class = name_start();
            class.union(&of(NAME_MORE));
            class.union(&of(&[('0', '9'), ('-', '.')]));
            class
        }
    }
}

fn name_start() -> ClassUnicode {
    let mut class = of(NAME_START);
    class.union(&of(&[('a', 'z'), ('A', 'Z'), ('_', '_'), (':', ':')]));
    class
}

/// The general category or, behind `Is`, the block of this name.
pub(super) fn property(name: &str) -> Option<ClassUnicode> {
    if let Some(block) = name.strip_prefix("Is") {
        let ranges = BLOCKS.iter().filter(|(known, _)| *known == block);
        let class = ClassUnicode::new(
            ranges.map(|(_, (first, last))| ClassUnicodeRange::new(*first, *last)),
        );
        return (!class.ranges().is_empty()).then_some(class);
    }
    #[rustfmt::skip]
    const CATEGORIES: [&str; 36] = [
        "L", "Lu", "Ll", "Lt", "Lm", "Lo", "M", "Mn", "Mc", "Me", "N", "Nd", "Nl", "No", "P", "Pc", "Pd", "Ps", "Pe",
        "Pi", "Pf", "Po", "Z", "Zs", "Zl", "Zp", "S", "Sm", "Sc", "Sk", "So", "C", "Cc", "Cf", "Co", "Cn",
    ];
    CATEGORIES
        .contains(&name)
        .then(|| unicode(&format!(r"\p{{{name}}}")))
}

fn of(ranges: &[(char, char)]) -> ClassUnicode {
    ClassUnicode::new(
        ranges
            .iter()
            .map(|(first, last)| ClassUnicodeRange::new(*first, *last)),
    )
}

/// The set that a class of the regex-syntax crate denotes: its tables are those of Unicode.
fn unicode(class: &str) -> ClassUnicode {
    match regex_syntax::parse(class).map(Hir::into_kind) {
        Ok(HirKind::Class(Class::Unicode(class))) => class,
        // A class of one character has become that character.
        Ok(HirKind::Literal(Literal(utf8))) => {
            let text = String::from_utf8_lossy(&utf8);
            ClassUnicode::new(text.chars().map(|c| ClassUnicodeRange::new(c, c)))
        }
        _ => ClassUnicode::empty(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_category_has_members() {
        for name in ["L", "Lu", "Cn", "Co", "C", "Sk", "Zl"] {
            assert!(!property(name).unwrap().ranges().is_empty(), "{name}");
        }
        assert!(!multi('w').ranges().is_empty() && !multi('d').ranges().is_empty());
    }
}
