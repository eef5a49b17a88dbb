//! What parsing a document to a tree costs beyond the length of its text, computed before it is parsed.
//!
//! The parser of the trees (`roxmltree`) is safe against entities that nest, but not against a long entity that is referred to
//! often; it compares every attribute of a tag with every other, and copies the namespaces in scope for each element that
//! declares one. So the text is scanned first. The scan knows no context: what it finds in comments, CDATA sections and
//! literals counts too. Nothing can be hidden from it by a difference in how two parsers read a document type declaration,
//! and its result is an upper bound.

use foldhash::{HashMap, HashMapExt as _, HashSet, HashSetExt as _};
use memchr::{memchr_iter, memmem};

use crate::work::STEPS_PER_UNIT;

/// The units of work of parsing a tag.
const WORK_OF_TAG: usize = 3;

/// The greatest depth of entities that refer to entities. The parser refuses more.
const MAX_ENTITY_DEPTH: usize = 10;

/// So many namespace declarations in scope are searched at no charge: this is what documents have.
const FREE_NAMESPACES: usize = 512;

/// The shortest element that declares a namespace: `<a xmlns="b"/>`. What entities expand to cannot have more of them.
const MIN_DECLARING_ELEMENT: usize = 14;

/// Upper bounds on what parsing a text creates and compares.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Cost {
    /// The bytes that references to entities expand to.
    pub(crate) expansion: usize,
    /// The number of tags, comments and other markup.
    pub(crate) tags: usize,
    /// The number of comparisons of names, and of copies of namespaces.
    pub(crate) steps: usize,
}

impl Cost {
    /// The cost of parsing a text.
    pub(crate) fn of(text: &str) -> Self {
        let expansion = expansion(text);
        let markup = Markup::of(text);
        let replicated = expansion
            .saturating_mul(markup.prefixes / MIN_DECLARING_ELEMENT + markup.most_attributes);
        Self {
            expansion,
            tags: markup.tags.saturating_add(expansion / 4),
            steps: markup.steps.saturating_add(replicated),
        }
    }

    /// The cost in units of [`Work`](crate::work::Work).
    pub(crate) fn work(&self) -> u64 {
        (self.tags.saturating_mul(WORK_OF_TAG)).saturating_add(self.steps / STEPS_PER_UNIT) as u64
    }
}

/// Counts of the tags of a text.
#[derive(Debug, Default)]
struct Markup {
    tags: usize,
    steps: usize,
    /// The number of different prefixes that are declared; more cannot be in scope at once.
    prefixes: usize,
    most_attributes: usize,
}

impl Markup {
    fn of(text: &str) -> Self {
        let mut markup = Self::default();
        let mut prefixes: HashSet<&str> = HashSet::new();
        let xmlns = memmem::Finder::new("xmlns");
        // An attribute value cannot contain `<`, so all attributes of a tag are between two of them.
        for tag in text.split('<').skip(1) {
            let declarations = declared_prefixes(tag, &xmlns, &mut prefixes);
            let attributes = attributes(tag);
            let in_scope = prefixes.len();
            markup.tags += 1;
            markup.most_attributes = markup.most_attributes.max(attributes);
            let compared = attributes.saturating_mul(attributes) / 2;
            let copied = match declarations {
                0 => 0,
                _ => in_scope.saturating_mul(1 + declarations),
            };
            let searched = (1 + attributes) * in_scope.saturating_sub(FREE_NAMESPACES);
            markup.steps = markup
                .steps
                .saturating_add(compared)
                .saturating_add(copied)
                .saturating_add(searched);
        }
        markup.prefixes = prefixes.len();
        markup
    }
}

/// The number of attributes: of `=` before a quotation mark.
fn attributes(tag: &str) -> usize {
    let bytes = tag.as_bytes();
    let is_before_quote = |&at: &usize| {
        let next = bytes[at + 1..]
            .iter()
            .find(|byte| !byte.is_ascii_whitespace());
        matches!(next, Some(b'"' | b'\''))
    };
    memchr_iter(b'=', bytes).filter(is_before_quote).count()
}

/// Adds the prefixes that a tag declares; the number of declarations.
fn declared_prefixes<'t>(
    tag: &'t str,
    xmlns: &memmem::Finder<'_>,
    prefixes: &mut HashSet<&'t str>,
) -> usize {
    let (mut count, mut rest) = (0, tag);
    while let Some(at) = xmlns.find(rest.as_bytes()) {
        rest = &rest[at..];
        let end = rest.find(|c: char| c == '=' || c.is_ascii_whitespace());
        let (name, behind) = rest.split_at(end.unwrap_or(rest.len()));
        prefixes.insert(name);
        rest = behind;
        count += 1;
    }
    count
}

/// The bytes that all references to entities of a text expand to, with those in the entities themselves.
fn expansion(text: &str) -> usize {
    let entities = Entities::of(text);
    if entities.literals.is_empty() {
        return 0;
    }
    let mut sizes = HashMap::new();
    references(text).fold(0, |sum: usize, name| {
        sum.saturating_add(entities.size(name, 0, &mut sizes))
    })
}

/// The entities that are declared, each with all its literals: which of them applies does not matter for an upper bound.
struct Entities<'t> {
    literals: HashMap<&'t str, Vec<&'t str>>,
    /// The number of declarations. The parser searches all of them for each reference.
    declarations: usize,
}

impl<'t> Entities<'t> {
    fn of(text: &'t str) -> Self {
        let mut found = Self {
            literals: HashMap::new(),
            declarations: 0,
        };
        for at in memmem::find_iter(text.as_bytes(), b"<!ENTITY") {
            found.declarations += 1;
            if let Some((name, literal)) = declaration(&text[at + "<!ENTITY".len()..]) {
                found.literals.entry(name).or_default().push(literal);
            }
        }
        found
    }

    /// What a reference to an entity expands to at most, in bytes. The maximum for one that refers to itself.
    fn size(&self, name: &'t str, depth: usize, sizes: &mut HashMap<&'t str, usize>) -> usize {
        if let Some(&known) = sizes.get(name) {
            return known;
        }
        let Some(literals) = self.literals.get(name) else {
            return 0;
        };
        if depth >= MAX_ENTITY_DEPTH {
            return usize::MAX;
        }
        let mut largest = 0;
        for literal in literals {
            let own = literal.len() + self.declarations / 16 + 1;
            let size = references(literal).fold(own, |sum, inner| {
                sum.saturating_add(self.size(inner, depth + 1, sizes))
            });
            largest = largest.max(size);
        }
        sizes.insert(name, largest);
        largest
    }
}

/// The name and the literal of an entity declaration, from behind its keyword; `None` for an external entity.
fn declaration(text: &str) -> Option<(&str, &str)> {
    let text = text.trim_ascii_start();
    let text = text.strip_prefix('%').unwrap_or(text).trim_ascii_start();
    let (name, rest) = text.split_at(text.find(|c: char| c == '<' || c.is_ascii_whitespace())?);
    let rest = rest.trim_ascii_start();
    let quote = rest.chars().next().filter(|c| matches!(c, '"' | '\''))?;
    let literal = &rest[1..];
    Some((name, &literal[..literal.find(quote)?]))
}

/// The names of the entities that a text refers to, except references to characters.
fn references(text: &str) -> impl Iterator<Item = &str> {
    memchr_iter(b'&', text.as_bytes()).filter_map(|at| {
        let rest = &text[at + 1..];
        let end = rest
            .find(|c: char| matches!(c, ';' | '&' | '<' | '"' | '\'') || c.is_ascii_whitespace())?;
        let name = &rest[..end];
        (!name.starts_with('#')).then_some(name)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_expansion_of_entities_is_computed_without_expanding_them() {
        let long = "x".repeat(1000);
        for (document, expected) in [
            ("<a>&amp;&lt;&#65;</a>".to_owned(), 0..=0),
            (format!("<!DOCTYPE a [<!ENTITY e '{long}'>]><a/>"), 0..=0),
            (
                format!("<!DOCTYPE a [<!ENTITY e '{long}'>]><a b='&e;'>&e;&e;</a>"),
                3000..=3010,
            ),
            (
                format!(
                    "<!DOCTYPE a [<!ENTITY e '{long}'><!ENTITY f '&e;&e;'><!ENTITY g \"&f;&f;\">]><a>&g;</a>"
                ),
                4000..=15_000,
            ),
            // Two parsers may differ in which of the declarations they see.
            (
                format!(
                    "<!DOCTYPE a [<!ENTITY % e '{long}'><!ENTITY e ''><!ATTLIST a b CDATA \"><!ENTITY f '{long}'>\">]><a>&e;&f;</a>"
                ),
                2000..=2010,
            ),
        ] {
            let found = expansion(&document);
            assert!(expected.contains(&found), "{found}: {document:.200}");
        }
        let circular = "<!DOCTYPE a [<!ENTITY e '&f;'><!ENTITY f '&e;'>]><a>&e;</a>";
        assert_eq!(expansion(circular), usize::MAX);
    }

    #[test]
    fn attributes_and_namespaces_cost_what_they_multiply_to() {
        let few = "<a b='1' c='2'><d xmlns:p='q' e = \"3\"/></a>";
        let cost = Cost::of(few);
        assert_eq!(cost.tags, 3);
        assert!(cost.steps < 20, "{cost:?}");
        let many: String = (0..10_000).map(|n| format!(" a{n}='>'")).collect();
        assert!(Cost::of(&format!("<a{many}/>")).steps > 40_000_000);
        let nested: String = (0..5_000).map(|n| format!("<a xmlns:p{n}='u'>")).collect();
        assert!(Cost::of(&nested).steps > 12_000_000);
    }
}
