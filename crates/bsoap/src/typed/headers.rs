//! Declared header blocks as Rust values.

use bsoap_codec::plan::{Content, ElementId, Plan, Term};
use bsoap_codec::{
    Item, Nillable, Pack, PackError, PackNillable, Packer, Record, Unpack, Unpacker, View,
};

use super::schema::Schema;

/// The declared header blocks of a message, as the descriptor `headers!` of generated code implements it.
pub trait Headers: Sized {
    /// The bindings that the type was generated for.
    fn schemas() -> &'static [Schema];

    /// Reads the blocks.
    ///
    /// # Errors
    /// If a block does not match the type of its field.
    fn read(blocks: &Blocks<'_>) -> Result<Self, PackError>;
}

/// The header blocks of a received message.
#[derive(Clone, Copy, Debug)]
pub struct Blocks<'r> {
    record: &'r Record,
    header: Option<View<'r>>,
}

impl<'r> Blocks<'r> {
    /// Those of an Envelope.
    pub fn of(record: &'r Record) -> Self {
        Self {
            record,
            header: View::of(record).child("Header"),
        }
    }

    /// All declared blocks as one Rust value.
    ///
    /// # Errors
    /// If its type was generated for another WSDL.
    pub fn read<T: Headers>(&self) -> Result<T, PackError> {
        let fingerprint = self.record.plan().fingerprint(self.record.root());
        let is_own = |schema: &Schema| [schema.request, schema.response].contains(&fingerprint);
        match T::schemas().iter().any(is_own) {
            true => T::read(self),
            false => Err(PackError::OtherSchema),
        }
    }

    /// The first block that is the branch of this number of the Header.
    ///
    /// # Errors
    /// If it does not match the type.
    pub fn get<T: BlockField>(&self, branch: usize, ty: u32) -> Result<T, PackError> {
        let Some(header) = &self.header else {
            return Ok(T::absent());
        };
        let element = branch_element(self.record.plan(), header, branch)?;
        let mut items = header.items();
        let block = items.find_map(|item| match item {
            Item::Element(view) if view.element_id() == element => Some(view),
            _ => None,
        });
        block.map_or(Ok(T::absent()), |view| {
            T::unpack_block(&mut Unpacker::at_state(&view), ty)
        })
    }
}

/// The element of a branch of a Header.
fn branch_element(plan: &Plan, header: &View<'_>, branch: usize) -> Result<ElementId, PackError> {
    let Content::Particle(content) = plan.ty(header.type_id()).content else {
        return Err(PackError::Mismatch);
    };
    let branch = plan.children_of(content).get(branch);
    match branch.map(|&branch| &plan.particle(branch).term) {
        Some(&Term::Element(element)) => Ok(element),
        _ => Err(PackError::Mismatch),
    }
}

/// A field for a header block, which may be absent.
pub trait BlockField: Sized {
    /// No block.
    fn absent() -> Self;

    /// Whether there is a block.
    fn is_there(&self) -> bool;

    /// Packs the block, which is there; `ty` is its type if it may be nil.
    fn pack_block(&self, packer: &mut Packer<'_>, ty: u32);

    /// Reads a block.
    ///
    /// # Errors
    /// If it does not match the type.
    fn unpack_block(from: &mut Unpacker<'_>, ty: u32) -> Result<Self, PackError>;
}

impl<T: Pack + Unpack> BlockField for Option<T> {
    fn absent() -> Self {
        None
    }

    fn is_there(&self) -> bool {
        self.is_some()
    }

    fn pack_block(&self, packer: &mut Packer<'_>, _: u32) {
        if let Some(value) = self {
            packer.value(value);
        }
    }

    fn unpack_block(from: &mut Unpacker<'_>, _: u32) -> Result<Self, PackError> {
        from.value().map(Some)
    }
}

impl<T: Pack + Unpack> BlockField for Nillable<T> {
    fn absent() -> Self {
        Self::Absent
    }

    fn is_there(&self) -> bool {
        !self.is_absent()
    }

    fn pack_block(&self, packer: &mut Packer<'_>, ty: u32) {
        self.pack_nillable(bsoap_codec::plan::TypeId(ty), packer);
    }

    fn unpack_block(from: &mut Unpacker<'_>, ty: u32) -> Result<Self, PackError> {
        from.nillable(ty).value()
    }
}
