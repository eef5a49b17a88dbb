//! The errors of WSDLs and schemas, with their positions.

use std::fmt;

use crate::ExpandedName;
use crate::loader::without_credentials;
use crate::name::XSD_NAMESPACE;

/// The result type of this crate's functions.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// An error in a document, with its position.
#[derive(Clone, PartialEq, Eq)]
pub struct Error(Box<Inner>);

#[derive(Clone, PartialEq, Eq)]
struct Inner {
    kind: ErrorKind,
    place: Option<TextPosition>,
}

/// A position in a document, as line and column.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct TextPosition {
    /// The location (path or URL) of the document.
    pub location: String,
    /// The number of the line, counted from 1.
    pub line: u32,
    /// The number of the character in the line, counted from 1.
    pub column: u32,
}

/// A sort of component, named as in the specification.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Sort {
    /// A simple or complex type definition.
    Type,
    /// An element declaration.
    Element,
    /// An attribute declaration.
    Attribute,
    /// A model group definition.
    Group,
    /// An attribute group definition.
    AttributeGroup,
    /// A notation declaration.
    Notation,
    /// An identity constraint.
    IdentityConstraint,
    /// A WSDL message.
    Message,
    /// A WSDL part of a message.
    Part,
    /// A WSDL port type.
    PortType,
    /// A WSDL binding.
    Binding,
    /// A WSDL operation.
    Operation,
    /// A WSDL service.
    Service,
}

/// The kind of an [`Error`] and its facts.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ErrorKind {
    /// A document cannot be loaded.
    Load {
        /// The location of the document.
        location: String,
        /// The reason.
        reason: String,
    },
    /// A document is not well-formed XML.
    Malformed {
        /// The message of the XML parser.
        reason: String,
    },
    /// A document does not have the expected root element.
    Root {
        /// The expected root element.
        expected: &'static str,
        /// The root element of the document.
        found: String,
    },
    /// A limit of [`LoadLimits`](crate::LoadLimits) was exceeded.
    Limit {
        /// The name of the limit.
        name: &'static str,
        /// The value of the limit.
        limit: u64,
    },
    /// A referenced name is not defined.
    Undefined {
        /// The expected sort of component.
        sort: Sort,
        /// The undefined name.
        name: ExpandedName,
        /// The name as written in the document. `None` if that is unknown.
        spelled: Option<String>,
        /// Why a document that may define the name could not be loaded, as text. `None` if all documents were loaded.
        cause: Option<String>,
    },
    /// A qualified name has a prefix that is not declared.
    UndeclaredPrefix {
        /// The prefix.
        prefix: String,
        /// The name as written in the document.
        name: String,
    },
    /// A schema is in the namespace of a draft of XML Schema. It is read as XML Schema 1.0 unless loading is strict.
    Draft {
        /// The draft's namespace.
        draft: &'static str,
    },
    /// Two components of one sort have the same name.
    Duplicate {
        /// The sort of component.
        sort: Sort,
        /// The name of both components.
        name: ExpandedName,
    },
    /// A component refers to itself, directly or through others, where that is not allowed.
    Circular {
        /// The sort of component.
        sort: Sort,
        /// The name of the component.
        name: String,
    },
    /// An attribute has an invalid value.
    Value {
        /// The name of the attribute.
        attribute: String,
        /// The invalid value.
        found: String,
        /// The expected values.
        expected: String,
    },
    /// A rule of the schema language is broken.
    Rule {
        /// The rule's name in the specification (`ct-props-correct.4`), or the element it is about.
        rule: &'static str,
        /// A description of the problem.
        problem: String,
    },
    /// A construct that a Plan cannot express.
    Unsupported(String),
}

impl Error {
    /// Creates an error without a position. Credentials in a location are removed.
    #[cold]
    pub fn new(mut kind: ErrorKind) -> Self {
        if let ErrorKind::Load { location, .. } = &mut kind {
            *location = without_credentials(location).into_owned();
        }
        Error(Box::new(Inner { kind, place: None }))
    }

    /// Sets the position of the error, unless it has one already.
    #[cold]
    #[must_use]
    pub fn at(mut self, place: Option<TextPosition>) -> Self {
        if self.0.place.is_none() {
            self.0.place = place;
        }
        self
    }

    /// The kind of the error.
    pub fn kind(&self) -> &ErrorKind {
        &self.0.kind
    }

    /// The position of the error. `None` if it is unknown.
    pub fn place(&self) -> Option<&TextPosition> {
        self.0.place.as_ref()
    }
}

impl From<ErrorKind> for Error {
    fn from(kind: ErrorKind) -> Self {
        Error::new(kind)
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Error")
            .field("kind", &self.0.kind)
            .field("place", &self.0.place)
            .finish()
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0.kind)?;
        match (&self.0.place, &self.0.kind) {
            (None, _) => Ok(()),
            (Some(place), ErrorKind::Undefined { cause, .. }) => {
                write!(f, ", referenced at {place}")?;
                cause
                    .as_ref()
                    .map_or(Ok(()), |cause| write!(f, " ({cause})"))
            }
            (Some(place), _) => write!(f, " at {place}"),
        }
    }
}

impl std::error::Error for Error {}

impl fmt::Display for TextPosition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}:{}", self.location, self.line, self.column)
    }
}

impl fmt::Display for Sort {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Sort::Type => "type",
            Sort::Element => "element",
            Sort::Attribute => "attribute",
            Sort::Group => "group",
            Sort::AttributeGroup => "attribute group",
            Sort::Notation => "notation",
            Sort::IdentityConstraint => "identity constraint",
            Sort::Message => "message",
            Sort::Part => "part",
            Sort::PortType => "port type",
            Sort::Binding => "binding",
            Sort::Operation => "operation",
            Sort::Service => "service",
        })
    }
}

impl fmt::Display for ErrorKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ErrorKind::Load { location, reason } => write!(f, "cannot load {location:?}: {reason}"),
            ErrorKind::Malformed { reason } => {
                write!(f, "the document is not well-formed XML: {reason}")
            }
            ErrorKind::Root { expected, found } => {
                write!(f, "the root element is {found}, expected {expected}")
            }
            ErrorKind::Limit { name, limit } => {
                write!(
                    f,
                    "the load limit `{name}` ({limit}) is exceeded (`Wsdl::limits`, `--load-limit {name}=N`)"
                )
            }
            ErrorKind::Undefined {
                sort,
                name,
                spelled,
                ..
            } => match spelled {
                Some(spelled) => write!(f, "{sort} \"{spelled}\" is not defined"),
                None => write!(f, "{sort} \"{name}\" is not defined"),
            },
            ErrorKind::UndeclaredPrefix { prefix, name } => {
                write!(f, "the prefix {prefix:?} of {name:?} is not declared")
            }
            ErrorKind::Draft { draft } => write!(
                f,
                "the schema is in the draft namespace {draft}; it is read as XML Schema 1.0 ({XSD_NAMESPACE})"
            ),
            ErrorKind::Duplicate { sort, name } => write!(f, "{sort} \"{name}\" is defined twice"),
            ErrorKind::Circular { sort, name } => {
                write!(f, "{sort} \"{name}\" refers to itself")
            }
            ErrorKind::Value {
                attribute,
                found,
                expected,
            } => {
                write!(
                    f,
                    "the attribute {attribute} is {found:?}, expected {expected}"
                )
            }
            ErrorKind::Rule { rule, problem } => write!(f, "{problem} ({rule})"),
            ErrorKind::Unsupported(what) => write!(f, "not supported: {what}"),
        }
    }
}
