//! Operations as generated code describes them, and how their messages are made and read.

use std::borrow::Cow;
use std::sync::Arc;

use bsoap_codec::plan::{ElementId, Plan, TypeId};
use bsoap_codec::{
    Pack, PackError, PackNillable, Packer, Record, Unpack, UnpackNillable, Unpacker, View, graph,
    pack,
};

use crate::Error;

/// The content of a Body: which of the branches of the Envelope's Body it is, and how it is written and read.
///
/// ```
/// use bsoap::typed::Body;
///
/// // The fourth branch of the Body, whose element contains one number.
/// const SUM: Body<f64> = Body::new(3);
/// // A Body without content.
/// const NOTHING: Body<()> = Body::empty(None);
/// ```
#[derive(Debug)]
pub struct Body<T> {
    branch: Option<u32>,
    ty: TypeId,
    /// Whether independent values may follow the element.
    is_encoded: bool,
    write: fn(&T, TypeId, &mut Packer<'_>),
    read: fn(TypeId, &mut Unpacker<'_>) -> Result<T, PackError>,
}

impl<T> Clone for Body<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Body<T> {}

impl<T: Pack + Unpack> Body<T> {
    /// The branch of this number.
    pub const fn new(branch: u32) -> Self {
        Self {
            branch: Some(branch),
            ty: TypeId(0),
            is_encoded: false,
            write: |value, _, packer| value.pack(packer),
            read: |_, from| T::unpack(from),
        }
    }
}

impl<T: PackNillable + UnpackNillable> Body<T> {
    /// The branch of this number, an element of type `ty` that may be nil.
    pub const fn nillable(branch: u32, ty: u32) -> Self {
        Self {
            branch: Some(branch),
            ty: TypeId(ty),
            is_encoded: false,
            write: |value, ty, packer| value.pack_nillable(ty, packer),
            read: |ty, from| T::unpack_nillable(ty, from),
        }
    }
}

impl<T> Body<T> {
    /// The same of an rpc/encoded message: a received one is expanded to a tree.
    ///
    /// ```
    /// const SUM: bsoap::typed::Body<f64> = bsoap::typed::Body::new(3).encoded();
    /// ```
    pub const fn encoded(self) -> Self {
        Self {
            branch: self.branch,
            ty: self.ty,
            is_encoded: true,
            write: self.write,
            read: self.read,
        }
    }
}

impl Body<()> {
    /// A Body without content, or whose element has none: the branch of this number.
    pub const fn empty(branch: Option<u32>) -> Self {
        Self {
            branch,
            ty: TypeId(0),
            is_encoded: false,
            write: |(), _, _| {},
            read: |_, _| Ok(()),
        }
    }
}

/// An operation: its name, what it takes and what it answers.
///
/// ```
/// use bsoap::typed::{Body, Operation};
///
/// const SUM: Operation<Vec<f64>, f64> = Operation::new("sumDoubles", Body::new(3), Body::new(3));
/// const RESET: Operation<(), ()> = Operation::one_way("reset", Body::empty(Some(4)));
/// assert_eq!((SUM.name(), RESET.name()), ("sumDoubles", "reset"));
/// ```
#[derive(Debug)]
pub struct Operation<Q, A> {
    pub(super) name: &'static str,
    pub(super) request: Body<Q>,
    pub(super) answer: ResponseBody<A>,
}

/// What answers an operation.
#[derive(Debug)]
pub(super) enum ResponseBody<A> {
    Body(Body<A>),
    #[cfg_attr(not(feature = "client"), allow(dead_code))]
    OneWay(fn() -> A),
}

impl<Q, A> Clone for Operation<Q, A> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<Q, A> Copy for Operation<Q, A> {}

impl<A> Clone for ResponseBody<A> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<A> Copy for ResponseBody<A> {}

impl<Q, A> Operation<Q, A> {
    /// An operation with an answer.
    pub const fn new(name: &'static str, request: Body<Q>, answer: Body<A>) -> Self {
        Self {
            name,
            request,
            answer: ResponseBody::Body(answer),
        }
    }

    /// Its name in the WSDL.
    pub const fn name(&self) -> &'static str {
        self.name
    }
}

impl<Q> Operation<Q, ()> {
    /// An operation without an answer.
    pub const fn one_way(name: &'static str, request: Body<Q>) -> Self {
        Self {
            name,
            request,
            answer: ResponseBody::OneWay(|| ()),
        }
    }
}

/// A message to encode: the branch number of its Body, and the functions that write its header blocks and its Body.
struct Envelope<'w> {
    fingerprint: u64,
    branch: Option<u32>,
    headers: Option<&'w dyn Pack>,
    body: &'w dyn Fn(&mut Packer<'_>),
}

/// The fingerprint of the type of an Envelope.
fn envelope_type(plan: &Plan, root: ElementId) -> u64 {
    plan.type_fingerprint(plan.element(root).ty)
}

impl Pack for Envelope<'_> {
    fn pack(&self, packer: &mut Packer<'_>) {
        // Envelope, Header and Body allow any attributes; here they have no attributes, which is an empty string each.
        packer.text("");
        match self.headers {
            Some(headers) => {
                packer.present();
                packer.text("");
                headers.pack(packer);
            }
            None => packer.absent(),
        }
        packer.text("");
        match self.branch {
            Some(branch) => {
                packer.branch(branch);
                (self.body)(packer);
            }
            None => packer.no_branch(),
        }
    }

    fn fingerprint(&self) -> Option<u64> {
        Some(self.fingerprint)
    }
}

pub(super) fn envelope<T>(
    plan: &Arc<Plan>,
    root: ElementId,
    body: &Body<T>,
    value: &T,
    headers: Option<&(dyn Pack + Sync)>,
) -> Result<Record, Error> {
    let envelope = Envelope {
        fingerprint: envelope_type(plan, root),
        branch: body.branch,
        headers: headers.map(|headers| headers as &dyn Pack),
        body: &|packer| {
            (body.write)(value, body.ty, packer);
            if body.is_encoded {
                // No independent values.
                packer.count(0);
            }
        },
    };
    let mut record = pack(plan, root, &envelope).map_err(wrong_type)?;
    if body.is_encoded {
        graph::complete(&mut record).map_err(|error| Error::Type(error.into()))?;
    }
    Ok(record)
}

pub(super) fn read<T>(record: &Record, body: &Body<T>) -> Result<T, Error> {
    let tree = match body.is_encoded {
        true => graph::expand(record, graph::REFERENCE_EXPANSION)
            .map_err(|error| Error::Type(error.into()))?,
        false => Cow::Borrowed(record),
    };
    contents(&tree)
        .and_then(|mut from| content(&mut from, body))
        .map_err(wrong_type)
}

/// The size of an array of an encoded message. `None` if it says no more than the number of items.
///
/// ```
/// use bsoap::typed::array_size;
///
/// assert_eq!(array_size(Some("[3]".into()), 3), None);
/// assert_eq!(array_size(Some("[1,3]".into()), 3).as_deref(), Some("[1,3]"));
/// ```
pub fn array_size(stated: Option<String>, count: usize) -> Option<String> {
    let is_count = |size: &String| {
        let size = size.trim().trim_start_matches('[').trim_end_matches(']');
        size.is_empty() || size == "*" || size.parse() == Ok(count)
    };
    stated.filter(|size| !is_count(size))
}

/// The slots of a Body, by what [`Envelope`] writes: without a Header, it is known where they begin.
fn contents(record: &Record) -> Result<Unpacker<'_>, PackError> {
    let mut from = Unpacker::of(record);
    from.text()?;
    if !from.is_present()? {
        return Ok(from);
    }
    let body = View::of(record).child("Body");
    Ok(Unpacker::within(&body.ok_or(PackError::Mismatch)?))
}

fn content<T>(from: &mut Unpacker<'_>, body: &Body<T>) -> Result<T, PackError> {
    // The attributes of the Body.
    from.text()?;
    if from.branch()? != body.branch {
        return Err(PackError::Mismatch);
    }
    (body.read)(body.ty, from)
}

pub(super) fn wrong_type(error: PackError) -> Error {
    Error::Type(Box::new(error))
}
