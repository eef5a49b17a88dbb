//! What is accepted of messages that do not follow their schema exactly: the table of deviations, and the modes that accept them.
//!
//! A deviation that is accepted leaves a [`Warning`](super::Warning) in the Record. Only the slow path accepts deviations: the fast path stops in
//! front of one, and nothing is learned from markup that has one, so each message gets the same warnings however it is read.

use std::fmt;

/// A mode of reading messages: which [deviations](Deviation) from the schema are accepted. An accepted deviation gives a
/// [`Warning`](super::Warning), a refused one an error that names the mode that would accept it.
///
/// ```
/// use bsoap_codec::decode::{Deviation, Tolerance};
///
/// assert!(!Tolerance::Strict.accepts(Deviation::SpecialFloat));
/// assert!(Tolerance::Default.accepts(Deviation::SpecialFloat));
/// assert!(!Tolerance::Default.accepts(Deviation::UnknownElement));
/// assert!(Tolerance::Lenient.accepts(Deviation::UnknownElement));
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Tolerance {
    /// No deviation is accepted.
    Strict,
    /// Deviations of common peers are accepted whose meaning is certain.
    #[default]
    Default,
    /// All deviations are accepted.
    Lenient,
}

impl Tolerance {
    /// Whether this mode accepts a deviation.
    pub fn accepts(self, deviation: Deviation) -> bool {
        self >= deviation.mode()
    }

    /// The name of the mode: `strict`, `default` or `lenient`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Strict => "strict",
            Self::Default => "default",
            Self::Lenient => "lenient",
        }
    }
}

impl fmt::Display for Tolerance {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The table: each deviation, its name, the strictest mode that accepts it, and what such a mode does with it.
macro_rules! deviations {
    ($($(#[$doc:meta])* $deviation:ident, $name:literal, $mode:ident, $does:literal, $done:literal;)*) => {
        /// A way in which a message does not follow its schema, and can still be read.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        pub enum Deviation {
            $($(#[$doc])* $deviation,)*
        }

        impl Deviation {
            /// All of them.
            pub const ALL: &'static [Self] = &[$(Self::$deviation),*];

            /// Its name, such as `special-float`.
            pub fn name(self) -> &'static str {
                match self {
                    $(Self::$deviation => $name,)*
                }
            }

            /// The strictest mode that accepts it.
            pub fn mode(self) -> Tolerance {
                match self {
                    $(Self::$deviation => Tolerance::$mode,)*
                }
            }

            /// What a mode does that accepts it.
            fn does(self) -> &'static str {
                match self {
                    $(Self::$deviation => $does,)*
                }
            }

            /// What was done with it.
            pub(super) fn done(self) -> &'static str {
                match self {
                    $(Self::$deviation => $done,)*
                }
            }
        }
    };
}

deviations! {
    /// A float or double that is written as `inf`, `Infinity` or `nan`, in any case and with or without a sign, instead of
    /// `INF`, `-INF` or `NaN`.
    SpecialFloat, "special-float", Default, "reads it as that number", "read as that number";
    /// A value that the enumeration of its type does not list.
    UnlistedValue, "unlisted-value", Default, "keeps it", "kept";
    /// An attribute of a foreign namespace that the schema does not have there. Those of SOAP and of XML itself are no deviations.
    ForeignAttribute, "foreign-attribute", Default, "skips it", "skipped";
    /// An element that the schema does not have there.
    UnknownElement, "unknown-element", Lenient, "skips it", "skipped";
    /// An attribute that the schema does not have there.
    UnknownAttribute, "unknown-attribute", Lenient, "skips it", "skipped";
    /// An element without text, or with white space alone, whose type needs a text: `<id/>` of an `xs:int`. It counts as absent
    /// if it is optional, as nil if it is nillable, and is an error otherwise. This applies to elements that occur at most once
    /// and have no attributes: an absent value in an array would shift the others.
    EmptyValue, "empty-value", Lenient, "reads it as absent or nil", "read as absent or nil";
    /// An element that the schema has at another place among its siblings.
    MisplacedElement, "misplaced-element", Lenient, "moves it to its place", "moved to its place";
    /// An element with the local name that the schema has there, but with another namespace: most often qualified where it should
    /// not be, or the other way round.
    OtherNamespace, "other-namespace", Lenient, "reads it as that element", "read as that element";
    /// An element of another name in an array, whose type has one child alone, which repeats: `<xsd:int>` for `<item>`.
    OtherItemName, "other-item-name", Lenient, "reads it as an item", "read as an item";
    /// A required element that is not there, and that may be nil or empty.
    MissingElement, "missing-element", Lenient, "reads it as nil or empty", "read as nil or empty";
    /// `xsi:nil` on an element that is not nillable, but optional or possibly empty.
    NilValue, "nil-value", Lenient, "reads it as absent or empty", "read as absent or empty";
    /// An `xsi:type` that the schema does not have, or that is not derived from the declared type. Peers without a WSDL name types of
    /// their own, or take a decimal for a float. Not if the text of its values has a form of its own, as in `xs:base64Binary`.
    OtherType, "other-type", Lenient, "reads it as the declared type", "read as the declared type";
    /// An Envelope of the other version of SOAP. Only clients accept it: a service answers in the version of the request.
    OtherVersion, "other-version", Lenient, "reads it as the version of the binding", "read as the version of the binding";
    /// The first element in the Body of a reply is not the answer of the operation, but has at least one child of the answer, or is a
    /// child of it: an rpc wrapper that was left out. Only clients accept it: to a service the name says which operation is called.
    OtherAnswer, "other-answer", Lenient, "reads it as the answer if it has children of the answer, or is one", "read as the answer of the operation";
    /// A reply that is the answer of the operation without Envelope and Body. Only clients accept it.
    MissingEnvelope, "missing-envelope", Lenient, "reads it as the content of an Envelope", "read as the content of an Envelope";
}

impl Deviation {
    /// For an error: which mode would accept it.
    pub(super) fn advice(self) -> String {
        format!("{} mode {}", self.mode(), self.does())
    }
}

impl fmt::Display for Deviation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A set of deviations that are accepted: those of a [mode](Tolerance), or others.
///
/// ```
/// use bsoap_codec::decode::{Deviation, Deviations, Tolerance};
///
/// let accepted = Deviations::from(Tolerance::Strict).with(Deviation::UnknownElement);
/// assert!(accepted.contains(Deviation::UnknownElement) && !accepted.contains(Deviation::SpecialFloat));
/// ```
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Deviations(u32);

impl Deviations {
    /// Whether a deviation is in the set.
    #[inline]
    pub fn contains(self, deviation: Deviation) -> bool {
        self.0 & (1 << deviation as u32) != 0
    }

    /// The set and another deviation.
    #[must_use]
    pub fn with(self, deviation: Deviation) -> Self {
        Self(self.0 | 1 << deviation as u32)
    }

    /// The set without a deviation.
    #[must_use]
    pub fn without(self, deviation: Deviation) -> Self {
        Self(self.0 & !(1 << deviation as u32))
    }
}

impl From<Tolerance> for Deviations {
    fn from(tolerance: Tolerance) -> Self {
        let accepted = Deviation::ALL.iter().filter(|it| tolerance.accepts(**it));
        accepted.fold(Self(0), |set, &deviation| set.with(deviation))
    }
}

impl Default for Deviations {
    /// Those of [`Tolerance::Default`].
    fn default() -> Self {
        Tolerance::Default.into()
    }
}

impl fmt::Debug for Deviations {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let all = Deviation::ALL.iter();
        f.debug_set()
            .entries(all.filter(|it| self.contains(**it)))
            .finish()
    }
}
