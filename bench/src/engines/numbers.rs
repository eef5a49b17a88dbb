//! Number crates behind one trait, so that one bare loop serves them all.

use std::io::Write as _;

/// A number crate. What it does not do it does not override; see [`Does`].
pub(crate) trait Numbers: 'static {
    /// What it does.
    const DOES: Does;

    /// For formatters that want scratch space.
    type Scratch: Default + 'static;

    /// The double at the start of `text` and the length of its lexical form.
    fn parse_double(_text: &[u8]) -> (f64, usize) {
        (f64::NAN, 0)
    }

    /// The integer at the start of `text` and the length of its lexical form.
    fn parse_int(_text: &[u8]) -> (i32, usize) {
        (0, 0)
    }

    /// Appends the lexical form of a finite double.
    fn format_double(_value: f64, _scratch: &mut Self::Scratch, _out: &mut Vec<u8>) {}

    /// Appends the lexical form of an integer.
    fn format_int(_value: i32, _scratch: &mut Self::Scratch, _out: &mut Vec<u8>) {}
}

/// Which of the four conversions a crate does.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Does {
    pub(crate) parse_double: bool,
    pub(crate) parse_int: bool,
    pub(crate) format_double: bool,
    pub(crate) format_int: bool,
}

/// None of the four.
pub(crate) const NOTHING: Does = Does {
    parse_double: false,
    parse_int: false,
    format_double: false,
    format_int: false,
};

/// All of the four.
pub(crate) const EVERYTHING: Does = Does {
    parse_double: true,
    parse_int: true,
    format_double: true,
    format_int: true,
};

/// fast-float2: text to double.
pub(crate) struct FastFloat;

impl Numbers for FastFloat {
    const DOES: Does = Does {
        parse_double: true,
        ..NOTHING
    };
    type Scratch = ();

    #[inline]
    fn parse_double(text: &[u8]) -> (f64, usize) {
        fast_float2::parse_partial(text).unwrap_or((f64::NAN, 0))
    }
}

/// zmij: double to shortest text.
pub(crate) struct Zmij;

impl Numbers for Zmij {
    const DOES: Does = Does {
        format_double: true,
        ..NOTHING
    };
    type Scratch = Option<zmij::Buffer>;

    #[inline]
    fn format_double(value: f64, scratch: &mut Self::Scratch, out: &mut Vec<u8>) {
        out.extend_from_slice(
            scratch
                .get_or_insert_with(zmij::Buffer::new)
                .format_finite(value)
                .as_bytes(),
        );
    }
}

/// ryu: double to shortest text.
pub(crate) struct Ryu;

impl Numbers for Ryu {
    const DOES: Does = Does {
        format_double: true,
        ..NOTHING
    };
    type Scratch = Option<ryu::Buffer>;

    #[inline]
    fn format_double(value: f64, scratch: &mut Self::Scratch, out: &mut Vec<u8>) {
        out.extend_from_slice(
            scratch
                .get_or_insert_with(ryu::Buffer::new)
                .format_finite(value)
                .as_bytes(),
        );
    }
}

/// itoa: integer to text.
pub(crate) struct Itoa;

impl Numbers for Itoa {
    const DOES: Does = Does {
        format_int: true,
        ..NOTHING
    };
    type Scratch = Option<itoa::Buffer>;

    #[inline]
    fn format_int(value: i32, scratch: &mut Self::Scratch, out: &mut Vec<u8>) {
        out.extend_from_slice(
            scratch
                .get_or_insert_with(itoa::Buffer::new)
                .format(value)
                .as_bytes(),
        );
    }
}

/// lexical-core: both, both ways.
pub(crate) struct Lexical;

/// Space for the longest number that lexical-core writes.
pub(crate) struct LexicalBuffer([u8; lexical_core::BUFFER_SIZE]);

impl Default for LexicalBuffer {
    fn default() -> Self {
        Self([0; lexical_core::BUFFER_SIZE])
    }
}

impl Numbers for Lexical {
    const DOES: Does = EVERYTHING;
    type Scratch = LexicalBuffer;

    #[inline]
    fn parse_double(text: &[u8]) -> (f64, usize) {
        lexical_core::parse_partial(text).unwrap_or((f64::NAN, 0))
    }

    #[inline]
    fn parse_int(text: &[u8]) -> (i32, usize) {
        lexical_core::parse_partial(text).unwrap_or((0, 0))
    }

    #[inline]
    fn format_double(value: f64, scratch: &mut Self::Scratch, out: &mut Vec<u8>) {
        out.extend_from_slice(lexical_core::write(value, &mut scratch.0));
    }

    #[inline]
    fn format_int(value: i32, scratch: &mut Self::Scratch, out: &mut Vec<u8>) {
        out.extend_from_slice(lexical_core::write(value, &mut scratch.0));
    }
}

/// Rust's standard library.
pub(crate) struct Std;

/// The text up to the next tag or line end.
#[inline]
fn lexical_form(text: &[u8]) -> &str {
    let end = memchr::memchr2(b'<', b'\n', text).unwrap_or(text.len());
    std::str::from_utf8(&text[..end]).unwrap_or_default()
}

impl Numbers for Std {
    const DOES: Does = EVERYTHING;
    type Scratch = ();

    #[inline]
    fn parse_double(text: &[u8]) -> (f64, usize) {
        let form = lexical_form(text);
        (form.parse().unwrap_or(f64::NAN), form.len())
    }

    #[inline]
    fn parse_int(text: &[u8]) -> (i32, usize) {
        let form = lexical_form(text);
        (form.parse().unwrap_or(0), form.len())
    }

    #[inline]
    fn format_double(value: f64, _: &mut (), out: &mut Vec<u8>) {
        // Debug, not Display: that one writes 1e300 with 301 digits.
        let _ = write!(out, "{value:?}");
    }

    #[inline]
    fn format_int(value: i32, _: &mut (), out: &mut Vec<u8>) {
        let _ = write!(out, "{value}");
    }
}
