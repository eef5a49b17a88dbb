//! A model of the Python module to be generated.

use bsoap_codec::plan::TypeId;

pub(super) use crate::model::Occurs;

/// The number of a [`Class`].
pub(super) type ClassId = usize;
/// The number of a [`Union`].
pub(super) type UnionId = usize;
/// The number of an [`Enumeration`].
pub(super) type EnumerationId = usize;

/// A dataclass.
#[derive(Debug)]
pub(super) struct Class {
    pub(super) name: String,
    pub(super) documentation: Option<String>,
    /// The class whose fields it has before its own.
    pub(super) base: Option<ClassId>,
    /// All its fields, those of its base first.
    pub(super) fields: Vec<Field>,
    /// The number of fields that it inherits.
    pub(super) inherited: usize,
    /// The name of the schema type, as `{namespace}local`.
    pub(super) type_name: Option<String>,
    pub(super) is_abstract: bool,
}

/// A field of a dataclass.
#[derive(Clone, Debug)]
pub(super) struct Field {
    pub(super) name: String,
    pub(super) documentation: Option<String>,
    pub(super) member: Member,
}

/// A member of an object: its key, and what is there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Member {
    pub(super) key: String,
    pub(super) ty: Ty,
    pub(super) occurs: Occurs,
    pub(super) nillable: bool,
}

/// The type of one value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Ty {
    /// A type of Python's or of the runtime's: `int`, `decimal.Decimal`.
    Plain(&'static str),
    /// A number or a boolean, of which several are an array of this name.
    Number {
        one: &'static str,
        many: &'static str,
    },
    /// A list type: its items.
    List(Box<Ty>),
    Class(ClassId),
    Union(UnionId),
    Enumeration(EnumerationId),
    /// Anything.
    Any,
}

/// A declared type and those derived from it.
#[derive(Debug)]
pub(super) struct Union {
    /// The alias of all of them.
    pub(super) name: String,
    pub(super) documentation: Option<String>,
    /// The class of the declared type, unless that is abstract.
    pub(super) declared: Option<ClassId>,
    /// The key and the name by which objects name a derived type, and its class.
    pub(super) derived: Vec<(&'static str, String, ClassId)>,
}

/// An enumeration of strings.
#[derive(Debug)]
pub(super) struct Enumeration {
    pub(super) name: String,
    pub(super) documentation: Option<String>,
    /// Names and values.
    pub(super) values: Vec<(String, String)>,
}

/// A port type.
#[derive(Debug)]
pub(super) struct Interface {
    /// Its name in the WSDL.
    pub(super) port_type: String,
    pub(super) documentation: Option<String>,
    /// The port that clients call, if there are ports of other port types.
    pub(super) port: Option<String>,
    pub(super) client: String,
    pub(super) async_client: String,
    pub(super) service: String,
    /// The function that registers a service.
    pub(super) register: String,
    pub(super) methods: Vec<Method>,
}

/// An operation.
#[derive(Debug)]
pub(super) struct Method {
    pub(super) name: String,
    /// The method that also returns the header blocks of the answer, if any are declared.
    pub(super) with_headers: Option<String>,
    /// The constant that describes it.
    pub(super) constant: String,
    pub(super) operation: String,
    pub(super) documentation: Option<String>,
    pub(super) input: Payload,
    pub(super) headers: Option<ClassId>,
    /// `None` if it is one-way.
    pub(super) output: Option<Payload>,
    pub(super) answer_headers: Option<ClassId>,
    /// The numbers of the faults that it declares.
    pub(super) faults: Vec<usize>,
}

/// What a message carries.
#[derive(Debug)]
pub(super) enum Payload {
    Nothing,
    /// The value of the wrapper, whose members are those of the message.
    Whole(Ty),
    /// The only part, which goes by its name.
    Part(Member),
}

/// A declared fault.
#[derive(Debug)]
pub(super) struct DeclaredFault {
    /// The name of the exception.
    pub(super) exception: String,
    /// Its name in the WSDL.
    pub(super) name: String,
    pub(super) documentation: Option<String>,
    /// The keys that its element may have in the detail.
    pub(super) keys: [String; 2],
    pub(super) ty: Ty,
    pub(super) nillable: bool,
}

/// A class whose fields are still to be determined.
#[derive(Clone, Copy, Debug)]
pub(super) struct Waiting {
    pub(super) class: ClassId,
    pub(super) ty: TypeId,
}
