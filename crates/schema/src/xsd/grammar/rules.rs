//! The rules of `rules.txt`: attributes and children of each element of a schema document.

use std::sync::LazyLock;

use foldhash::{HashMap, HashMapExt as _};

use super::values::ValueKind;

/// The attributes and children that an element may have.
#[derive(Debug, Default)]
pub(super) struct Rule {
    pub(super) name: &'static str,
    pub(super) attributes: Vec<(&'static str, &'static ValueKind)>,
    pub(super) required: Vec<&'static str>,
    /// The groups in their order; `None`: any content.
    pub(super) children: Option<Vec<ChildGroup>>,
}

/// A group of children that may occur in any order.
#[derive(Debug)]
pub(super) struct ChildGroup {
    /// Indexes into [`RULES`].
    pub(super) rules: Vec<usize>,
    pub(super) max: usize,
    pub(super) is_required: bool,
}

/// All rules, that of `schema` first.
pub(super) static RULES: LazyLock<Vec<Rule>> = LazyLock::new(|| {
    parse(include_str!("rules.txt")).expect("rules.txt is correct: a test reads it")
});

/// Parses a grammar in the notation of `rules.txt`. The error is the wrong word.
fn parse(grammar: &'static str) -> Result<Vec<Rule>, &'static str> {
    let (mut texts, mut lines) = (HashMap::new(), Vec::new());
    for line in grammar
        .lines()
        .filter(|line| !line.is_empty() && !line.starts_with('#'))
    {
        let (name, text) = line.split_once(' ').ok_or(line)?;
        match text.trim_start().strip_prefix("= ") {
            Some(text) => drop(texts.insert(name, text)),
            None => lines.push((name, text)),
        }
    }
    let index = |name| lines.iter().position(|line| line.0 == name).ok_or(name);
    let rule = |&(name, text): &(&'static str, _)| {
        let mut words = Vec::new();
        expand(text, &texts, &mut words)?;
        let mut words = words.into_iter();
        let mut rule = Rule {
            name: name.split('.').next().unwrap_or(name),
            ..Rule::default()
        };
        for word in words.by_ref().skip(1).take_while(|&word| word != "]") {
            let (attribute, kind) = word.split_once(':').ok_or(word)?;
            if kind.ends_with('!') {
                rule.required.push(attribute);
            }
            let kind = kind.trim_end_matches('!');
            rule.attributes
                .push((attribute, ValueKind::named(kind).ok_or(kind)?));
        }
        if words.as_slice() != ["…"] {
            rule.attributes
                .push(("id", ValueKind::named("Id").ok_or("Id")?));
            rule.children = Some(groups(words, index)?);
        }
        Ok(rule)
    };
    lines.iter().map(rule).collect()
}

/// Appends the words of a text, with `$names` replaced by their texts. Brackets are words.
fn expand(
    text: &'static str,
    texts: &HashMap<&str, &'static str>,
    words: &mut Vec<&'static str>,
) -> Result<(), &'static str> {
    for word in text.split_ascii_whitespace() {
        let (open, word) = word.split_at(usize::from(word.starts_with(['[', '('])));
        let (word, close) = word.split_at(word.find([']', ')']).unwrap_or(word.len()));
        words.extend((!open.is_empty()).then_some(open));
        match word.starts_with('$') {
            true => expand(texts.get(word).ok_or(word)?, texts, words)?,
            false => words.extend((!word.is_empty()).then_some(word)),
        }
        words.extend((!close.is_empty()).then_some(close));
    }
    Ok(())
}

/// The groups `(a b)*` of a rule.
fn groups(
    words: impl Iterator<Item = &'static str>,
    index: impl Fn(&'static str) -> Result<usize, &'static str>,
) -> Result<Vec<ChildGroup>, &'static str> {
    let (mut groups, mut rules) = (Vec::new(), Vec::new());
    for word in words {
        let (max, is_required) = match word {
            "(" => continue,
            ")?" => (1, false),
            ")*" => (usize::MAX, false),
            ")" => (1, true),
            ")+" => (usize::MAX, true),
            name => {
                rules.push(index(name)?);
                continue;
            }
        };
        groups.push(ChildGroup {
            rules: std::mem::take(&mut rules),
            max,
            is_required,
        });
    }
    Ok(groups)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_grammar_is_read_whole() {
        let rules = parse(include_str!("rules.txt")).unwrap();
        let facet = rules.iter().find(|rule| rule.name == "minLength").unwrap();
        assert_eq!(rules.len(), 55);
        assert_eq!(rules[0].name, "schema");
        assert_eq!(facet.required, ["value"]);
        assert_eq!(facet.attributes.len(), 3);
        assert_eq!(
            rules[facet.children.as_ref().unwrap()[0].rules[0]].name,
            "annotation"
        );
    }

    #[test]
    fn an_error_names_the_word_that_is_wrong() {
        assert_eq!(parse("a [] (b)?").unwrap_err(), "b");
        assert_eq!(parse("a [x:Nothing] …").unwrap_err(), "Nothing");
        assert_eq!(parse("a [$x] …").unwrap_err(), "$x");
    }
}
