//! The state of the search for the end of unfinished markup, so that a long tag fed byte by byte is scanned once.

use memchr::{memchr, memchr3, memmem};

/// Markup that was begun and did not end in the text at hand.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Partial {
    what: What,
    /// The quote whose end is looked for; 0 outside of quotes.
    quote: u8,
    /// Bytes that need not be looked at again.
    seen: usize,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum What {
    #[default]
    Nothing,
    /// Until `>` outside of quotes.
    Tag,
    /// Until `-->`.
    Comment,
    /// Until `?>`.
    Instruction,
    /// A document type declaration: brackets, and in them all of the above.
    Doctype(Within),
}

/// Where in a document type declaration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Within {
    /// Outside of the internal subset.
    Outside,
    /// In the internal subset or a declaration in it.
    Subset,
    /// In a comment of it.
    Comment,
    /// In a processing instruction of it.
    Instruction,
}

impl Partial {
    /// Begins to search: `bytes` are markup that has no end yet.
    #[cold]
    pub(crate) fn begin(&mut self, bytes: &[u8]) {
        let (what, seen) = match bytes {
            [b'<', b'!', b'-', b'-', ..] => (What::Comment, 4),
            [b'<', b'?', ..] => (What::Instruction, 2),
            [b'<', b'!', b'D', ..] => (What::Doctype(Within::Outside), 2),
            // What begins with `<!` may still become any of these.
            [b'<', b'!', ..] | [b'<'] => (What::Nothing, 0),
            [b'<', ..] => (What::Tag, 1),
            _ => (What::Nothing, 0),
        };
        *self = Partial {
            what,
            quote: 0,
            seen,
        };
    }

    /// Whether the markup that `bytes` begin with may have come to its end. Remembers how far it looked.
    #[inline]
    pub(crate) fn may_end(&mut self, bytes: &[u8]) -> bool {
        self.what == What::Nothing || self.search(bytes)
    }

    #[cold]
    fn search(&mut self, bytes: &[u8]) -> bool {
        if bytes.len() < self.seen {
            // Less of it than the last time: a quote that was open at the end of that need not be open here.
            self.begin(bytes);
        }
        let ends = match self.what {
            What::Nothing => true,
            What::Tag => self.search_tag(bytes),
            What::Comment => self.search_for(bytes, b"-->"),
            What::Instruction => self.search_for(bytes, b"?>"),
            What::Doctype(within) => self.search_doctype(bytes, within),
        };
        if ends {
            *self = Partial::default();
        }
        ends
    }

    fn search_tag(&mut self, bytes: &[u8]) -> bool {
        while let Some(rest) = bytes.get(self.seen..) {
            let found = match self.quote {
                0 => memchr3(b'>', b'"', b'\'', rest),
                quote => memchr(quote, rest),
            };
            let Some(found) = found else { break };
            self.seen += found + 1;
            match (self.quote, rest[found]) {
                (0, b'>') => return true,
                (0, quote) => self.quote = quote,
                _ => self.quote = 0,
            }
        }
        self.seen = bytes.len();
        false
    }

    /// Looks for a delimiter of several bytes, the first of which may have been seen already.
    fn search_for(&mut self, bytes: &[u8], delimiter: &[u8]) -> bool {
        match memmem::find(bytes.get(self.seen..).unwrap_or_default(), delimiter) {
            Some(found) => {
                self.seen += found + delimiter.len();
                true
            }
            None => {
                self.seen = self
                    .seen
                    .max((bytes.len() + 1).saturating_sub(delimiter.len()));
                false
            }
        }
    }

    fn search_doctype(&mut self, bytes: &[u8], mut within: Within) -> bool {
        loop {
            within = match within {
                Within::Comment if self.search_for(bytes, b"-->") => Within::Subset,
                Within::Instruction if self.search_for(bytes, b"?>") => Within::Subset,
                Within::Outside | Within::Subset => match self.search_subset(bytes, within) {
                    Some(Ok(next)) => next,
                    Some(Err(())) => return true,
                    None => break,
                },
                Within::Comment | Within::Instruction => break,
            };
        }
        // `search_subset` may have stopped somewhere else than it began.
        if let What::Doctype(at) = &mut self.what {
            *at = within;
        }
        false
    }

    /// Goes on to where something else begins; `Err` if that is the end of all.
    fn search_subset(&mut self, bytes: &[u8], within: Within) -> Option<Result<Within, ()>> {
        loop {
            let rest = bytes.get(self.seen..)?;
            let found = match self.quote {
                0 => rest
                    .iter()
                    .position(|byte| matches!(byte, b'"' | b'\'' | b'[' | b']' | b'<' | b'>'))?,
                quote => memchr(quote, rest)?,
            };
            let at = self.seen + found;
            if self.quote != 0 {
                self.quote = 0;
                self.seen = at + 1;
                continue;
            }
            let next = match (bytes[at], within) {
                (b'"' | b'\'', _) => {
                    self.quote = bytes[at];
                    None
                }
                (b'[', Within::Outside) => Some(Ok(Within::Subset)),
                (b']', Within::Subset) => Some(Ok(Within::Outside)),
                (b'>', Within::Outside) => Some(Err(())),
                (b'<', Within::Subset) => match bytes.get(at + 1..at + 4) {
                    Some([b'!', b'-', b'-']) => {
                        self.seen = at + 4;
                        return Some(Ok(Within::Comment));
                    }
                    Some([b'?', ..]) => {
                        self.seen = at + 2;
                        return Some(Ok(Within::Instruction));
                    }
                    Some(_) => None,
                    None => {
                        self.seen = at;
                        return None;
                    }
                },
                _ => None,
            };
            self.seen = at + 1;
            if next.is_some() {
                return next;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ends_at(markup: &str) -> usize {
        let bytes = markup.as_bytes();
        let mut partial = Partial::default();
        let begun = if bytes.starts_with(b"<!-") {
            4
        } else {
            3.min(bytes.len())
        };
        partial.begin(&bytes[..begun]);
        assert_ne!(partial.what, What::Nothing, "{markup}");
        (begun..=bytes.len())
            .find(|&length| partial.may_end(&bytes[..length]))
            .unwrap_or(usize::MAX)
    }

    #[test]
    fn less_of_the_markup_than_before_is_searched_again() {
        let markup = b"<a b='>' c=\"'>\" d='>'>";
        for seen in 3..markup.len() {
            for now in 3..markup.len() {
                let mut partial = Partial::default();
                partial.begin(&markup[..3]);
                assert!(!partial.may_end(&markup[..seen]) && !partial.may_end(&markup[..now]));
                assert!(partial.may_end(markup), "{seen}, then {now}");
            }
        }
    }

    #[test]
    fn unfinished_markup_ends_where_it_ends_in_one_piece() {
        for (markup, rest) in [
            ("<a b='>' c=\"'>\" >", "x"),
            ("<!-- > -- ->-->", "x"),
            ("<?pi > ? ?>", "x"),
            ("<!DOCTYPE a>", "x"),
            ("<!DOCTYPE a SYSTEM '[>' >", "x"),
            (
                "<!DOCTYPE a [<!ENTITY b ']>'> <!-- ' ]> --> <?pi \" ]> ?> %p; ] >",
                "x",
            ),
        ] {
            assert_eq!(
                ends_at(&format!("{markup}{rest}")),
                markup.len(),
                "{markup}"
            );
        }
    }
}
