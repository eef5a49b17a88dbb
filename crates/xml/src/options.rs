//! What a reader permits: limits, and what to do about a document type declaration.

/// How a [`Reader`](crate::Reader) treats a document.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Options {
    /// What a hostile document cannot pass.
    pub limits: Limits,
    /// Whether a document type declaration is an error.
    pub doctype: DoctypePolicy,
}

impl Options {
    /// The defaults with other limits.
    pub fn with_limits(limits: Limits) -> Self {
        Options {
            limits,
            ..Options::default()
        }
    }

    /// The same options with another policy for document type declarations.
    pub fn doctype(mut self, policy: DoctypePolicy) -> Self {
        self.doctype = policy;
        self
    }
}

/// What to do about `<!DOCTYPE …>`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum DoctypePolicy {
    /// It is an error, as SOAP demands (SOAP 1.1 §3, SOAP 1.2 part 1 §5).
    #[default]
    Refuse,
    /// Its internal subset is checked, and internal entities and attribute defaults declared there are applied. Nothing
    /// external is ever read: an external entity expands to nothing.
    Skip,
}

/// Bounds of a document. Passing one is an [`ErrorKind::Limit`](crate::ErrorKind::Limit) that says which.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Limits {
    /// Elements open at once. Default 1024: real messages stay below 50.
    pub depth: usize,
    /// Attributes of a tag, namespace declarations among them. Default 1024.
    pub attributes: usize,
    /// Bytes of a name with its prefix. Default 4096.
    pub name_length: usize,
    /// Bytes of character data between two tags, and of an attribute value. Default 1 GiB: an attachment in base64 is one
    /// such text. It bounds what is read, not what is kept: text is handed out in pieces.
    pub text_length: usize,
    /// Bytes of a tag, comment, processing instruction or document type declaration, which must be in memory as a whole.
    /// Default 16 MiB.
    pub markup_length: usize,
    /// Bytes of the document, as UTF-8. Default 4 GiB; set less when reading from a network.
    pub total_size: u64,
    /// Namespace declarations in scope at once, hidden ones among them. Default 1024.
    pub namespaces: usize,
    /// Bytes that entities declared in the document may expand to. Default 1 MiB; matters only with
    /// [`DoctypePolicy::Skip`].
    pub entity_expansion: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Limits {
            depth: 1024,
            attributes: 1024,
            name_length: 4096,
            text_length: 1 << 30,
            markup_length: 16 << 20,
            total_size: 4 << 30,
            namespaces: 1024,
            entity_expansion: 1 << 20,
        }
    }
}
