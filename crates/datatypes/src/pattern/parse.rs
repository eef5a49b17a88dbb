//! From the text of a pattern to the HIR of regex-syntax. Open parentheses are kept on a stack of
//! our own: no recursion on what a schema's author nests.

use regex_syntax::hir::{Class, ClassUnicode, ClassUnicodeRange, Hir, Look, Repetition};

use super::class;
use super::{MAX_AUTOMATON, MAX_DEPTH, PatternError, PatternErrorKind as Kind};

/// How many ranges the character classes of one pattern may have together: 8 MB of them.
const MAX_RANGES: usize = 1 << 20;

/// Parses a pattern; the HIR is anchored at both ends.
pub(super) fn parse(source: &str) -> Result<Hir, PatternError> {
    let mut parser = Parser {
        source,
        at: 0,
        outer: Vec::new(),
        group: Group::default(),
        ranges: 0,
    };
    while let Some(c) = parser.next() {
        parser.step(c)?;
    }
    if !parser.outer.is_empty() {
        return Err(parser.end(")"));
    }
    Ok(Hir::concat(vec![
        Hir::look(Look::Start),
        parser.group.finish(),
        Hir::look(Look::End),
    ]))
}

/// A regExp of the grammar while it is read: branches behind it, the pieces of the current one.
#[derive(Default)]
struct Group {
    branches: Vec<Hir>,
    pieces: Vec<Hir>,
}

impl Group {
    fn end_branch(&mut self) {
        let pieces = std::mem::take(&mut self.pieces);
        self.branches.push(Hir::concat(pieces));
    }

    fn finish(mut self) -> Hir {
        self.end_branch();
        Hir::alternation(self.branches)
    }
}

struct Parser<'a> {
    source: &'a str,
    /// The byte behind the last character taken.
    at: usize,
    /// The groups around the current one.
    outer: Vec<Group>,
    group: Group,
    /// How many ranges have been spent of `MAX_RANGES`.
    ranges: usize,
}

impl Parser<'_> {
    fn next(&mut self) -> Option<char> {
        let c = self.peek()?;
        self.at += c.len_utf8();
        Some(c)
    }

    fn peek(&self) -> Option<char> {
        self.source[self.at..].chars().next()
    }

    fn eat(&mut self, text: &str) -> bool {
        let found = self.source[self.at..].starts_with(text);
        self.at += if found { text.len() } else { 0 };
        found
    }

    fn end(&self, expected: &'static str) -> PatternError {
        PatternError::new(self.at, Kind::End { expected })
    }

    /// An error about the character `c`, which was the last taken.
    fn error(&self, c: char, kind: Kind) -> PatternError {
        PatternError::new(self.at - c.len_utf8(), kind)
    }

    fn too_large(&self) -> PatternError {
        PatternError::new(
            self.at,
            Kind::TooLarge {
                limit: MAX_AUTOMATON,
            },
        )
    }

    /// Goes on with `c`, which is taken already.
    fn step(&mut self, c: char) -> Result<(), PatternError> {
        let atom = match c {
            '|' => {
                self.group.end_branch();
                return Ok(());
            }
            '(' => {
                if self.outer.len() == MAX_DEPTH {
                    return Err(self.error(c, Kind::TooDeep { limit: MAX_DEPTH }));
                }
                self.outer.push(std::mem::take(&mut self.group));
                return Ok(());
            }
            ')' => {
                let outer = self
                    .outer
                    .pop()
                    .ok_or_else(|| self.error(c, Kind::Unexpected(c)))?;
                std::mem::replace(&mut self.group, outer).finish()
            }
            '?' | '*' | '+' | '{' => return Err(self.error(c, Kind::NothingToRepeat)),
            ']' | '}' => return Err(self.error(c, Kind::Unexpected(c))),
            '.' => self.class_atom(class::dot())?,
            '[' => {
                let class = self.class()?;
                self.class_atom(class)?
            }
            '\\' => match self.escape()? {
                Escape::Char(c) => literal(c),
                Escape::Class(class) => self.class_atom(class)?,
            },
            _ => literal(c),
        };
        let piece = self.quantified(atom)?;
        self.group.pieces.push(piece);
        Ok(())
    }

    fn class_atom(&mut self, class: ClassUnicode) -> Result<Hir, PatternError> {
        self.ranges += class.ranges().len();
        if self.ranges > MAX_RANGES {
            return Err(self.too_large());
        }
        Ok(Hir::class(Class::Unicode(class)))
    }

    /// The atom with the quantifier that follows it, if one does.
    fn quantified(&mut self, atom: Hir) -> Result<Hir, PatternError> {
        let (min, max) = match self.peek() {
            Some('?') => (0, Some(1)),
            Some('*') => (0, None),
            Some('+') => (1, None),
            Some('{') => {
                self.at += 1;
                let (min, max) = self.quantity()?;
                return Ok(repeat(atom, min, max));
            }
            _ => return Ok(atom),
        };
        self.at += 1;
        Ok(repeat(atom, min, max))
    }

    /// `n}`, `n,}` or `n,m}`
    fn quantity(&mut self) -> Result<(u32, Option<u32>), PatternError> {
        let wrong = PatternError::new(self.at, Kind::Quantity);
        let (text, _) = self.source[self.at..]
            .split_once('}')
            .ok_or_else(|| wrong.clone())?;
        let number = |digits: &str| {
            if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
                return Err(wrong.clone());
            }
            digits.parse::<u32>().map_err(|_| self.too_large())
        };
        let (min, max) = match text.split_once(',') {
            None => (number(text)?, Some(number(text)?)),
            Some((min, "")) => (number(min)?, None),
            Some((min, max)) => (number(min)?, Some(number(max)?)),
        };
        if max.is_some_and(|max| max < min) {
            return Err(wrong);
        }
        self.at += text.len() + 1;
        Ok((min, max))
    }

    /// What follows a backslash.
    fn escape(&mut self) -> Result<Escape, PatternError> {
        let c = self.next().ok_or_else(|| self.end("an escape"))?;
        Ok(match c {
            'n' => Escape::Char('\n'),
            'r' => Escape::Char('\r'),
            't' => Escape::Char('\t'),
            '\\' | '|' | '.' | '?' | '*' | '+' | '(' | ')' | '{' | '}' | '-' | '[' | ']' | '^' => {
                Escape::Char(c)
            }
            's' | 'd' | 'w' | 'i' | 'c' => Escape::Class(class::multi(c)),
            'S' | 'D' | 'W' | 'I' | 'C' => {
                Escape::Class(negated(class::multi(c.to_ascii_lowercase())))
            }
            'p' => Escape::Class(self.property(c)?),
            'P' => Escape::Class(negated(self.property(c)?)),
            _ => return Err(self.error(c, Kind::Escape(c))),
        })
    }

    /// The `{Lu}` or `{IsGreek}` behind `\p`.
    fn property(&mut self, c: char) -> Result<ClassUnicode, PatternError> {
        if !self.eat("{") {
            return Err(self.error(c, Kind::Escape(c)));
        }
        let (name, _) = self.source[self.at..]
            .split_once('}')
            .ok_or_else(|| self.end("}"))?;
        let class = class::property(name).ok_or_else(|| {
            PatternError::new(self.at, Kind::Property(crate::error::bounded(name)))
        })?;
        self.at += name.len() + 1;
        Ok(class)
    }

    /// A character class expression whose `[` is taken, with the subtractions inside it:
    /// `a-z-[b-y-[m]]]` is read from the left, and then taken from one another from the right.
    fn class(&mut self) -> Result<ClassUnicode, PatternError> {
        let mut minuends = vec![self.char_group()?];
        while self.eat("-[") {
            if minuends.len() > MAX_DEPTH {
                return Err(PatternError::new(
                    self.at,
                    Kind::TooDeep { limit: MAX_DEPTH },
                ));
            }
            minuends.push(self.char_group()?);
        }
        let mut class = ClassUnicode::empty();
        while let Some(mut minuend) = minuends.pop() {
            match self.next() {
                Some(']') => {}
                Some(c) => return Err(self.error(c, Kind::Unexpected(c))),
                None => return Err(self.end("]")),
            }
            minuend.difference(&class);
            class = minuend;
        }
        Ok(class)
    }

    /// Characters, ranges and escapes up to `]` or `-[`, which are left where they are.
    fn char_group(&mut self) -> Result<ClassUnicode, PatternError> {
        let negative = self.eat("^");
        let mut group = ClassUnicode::empty();
        let start = self.at;
        loop {
            let rest = &self.source[self.at..];
            if rest.starts_with(']') || rest.starts_with("-[") {
                break;
            }
            match self.class_char()? {
                Escape::Class(class) => {
                    self.ranges += class.ranges().len();
                    if self.ranges > MAX_RANGES {
                        return Err(self.too_large());
                    }
                    group.union(&class);
                }
                Escape::Char(first) => group.push(self.range(first)?),
            }
        }
        if self.at == start {
            return Err(PatternError::new(self.at, Kind::EmptyClass));
        }
        Ok(if negative { negated(group) } else { group })
    }

    /// One character of a class, or an escape for several.
    fn class_char(&mut self) -> Result<Escape, PatternError> {
        match self.next() {
            None => Err(self.end("]")),
            Some('\\') => self.escape(),
            Some(c @ ('[' | ']')) => Err(self.error(c, Kind::Unexpected(c))),
            Some(c) => Ok(Escape::Char(c)),
        }
    }

    /// The range that starts with `first`, which is taken; or `first` alone. A hyphen that neither
    /// makes a range nor subtracts is literal.
    fn range(&mut self, first: char) -> Result<ClassUnicodeRange, PatternError> {
        let rest = &self.source[self.at..];
        let is_range = rest.starts_with('-') && !rest.starts_with("-]") && !rest.starts_with("-[");
        let is_hyphen = first == '-' && !self.source[..self.at].ends_with("\\-");
        if !is_range || is_hyphen {
            return Ok(ClassUnicodeRange::new(first, first));
        }
        self.at += 1;
        let at = self.at;
        let last = match self.class_char()? {
            Escape::Char(last) => last,
            Escape::Class(_) => {
                let c = self.source[at + 1..].chars().next().unwrap_or('\\');
                return Err(PatternError::new(at, Kind::Escape(c)));
            }
        };
        if last < first {
            return Err(PatternError::new(at, Kind::Range { first, last }));
        }
        Ok(ClassUnicodeRange::new(first, last))
    }
}

/// What an escape, or a member of a class, denotes.
enum Escape {
    Char(char),
    Class(ClassUnicode),
}

fn literal(c: char) -> Hir {
    let mut utf8 = [0; 4];
    Hir::literal(c.encode_utf8(&mut utf8).as_bytes())
}

fn repeat(atom: Hir, min: u32, max: Option<u32>) -> Hir {
    Hir::repetition(Repetition {
        min,
        max,
        greedy: true,
        sub: Box::new(atom),
    })
}

fn negated(mut class: ClassUnicode) -> ClassUnicode {
    class.negate();
    class
}
