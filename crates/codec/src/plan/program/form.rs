//! How the values at one place of a Plan are written: their lexical form, and what contains them.

use bsoap_datatypes::{Datatype, Variety};

use crate::plan::{LeafId, LeafKind, Plan};

use super::Form;

/// The number of a [`LeafForm`] of a Plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct LeafRef(pub u32);

impl LeafRef {
    /// The number for QNames, which have no leaf form: their prefix depends on where they are.
    pub(crate) const NONE: Self = Self(u32::MAX);
}

/// Where the padding of a value is written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PadPlace {
    /// Behind the value, inside its element: `<x>1  </x>`. The type collapses white space, so the value is the same.
    #[default]
    Inside,
    /// Behind the end tag: `<x>1</x>  `. The element is in element-only content, where white space has no meaning.
    AfterTag,
}

/// What contains a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Holder {
    /// The content of an element.
    Element {
        /// The length of its end tag; 0 if that differs from element to element.
        close: usize,
    },
    /// The quotes of an attribute.
    Attribute,
    /// A list in an element: the value is one of its items.
    List,
    /// A list in an attribute: the value is one of its items.
    AttributeList,
    /// Nothing: it is XML kept unchanged.
    Xml,
}

/// How the values of one place in a Plan are written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LeafForm {
    pub(crate) form: Form,
    holder: Holder,
    leaf: Option<LeafId>,
    widest: Option<usize>,
    collapses: bool,
    /// Whether what contains the element has elements only.
    element_only: bool,
}

impl LeafForm {
    /// The form of the values of a leaf, or of the items of a list.
    pub(super) fn new(plan: &Plan, leaf: LeafId, holder: Holder, element_only: bool) -> Self {
        let kind = plan.leaf(leaf).kind;
        if let LeafKind::List(item) = kind {
            let holder = match holder {
                Holder::Attribute => Holder::AttributeList,
                _ => Holder::List,
            };
            return Self {
                holder,
                ..Self::of_atom(plan, item)
            };
        }
        Self {
            holder,
            element_only,
            ..Self::of_atom(plan, leaf)
        }
    }

    fn of_atom(plan: &Plan, leaf: LeafId) -> Self {
        let kind = plan.leaf(leaf).kind;
        let simple = &plan.leaf(leaf).simple;
        let datatype = match simple.variety() {
            Variety::Union(_) => None,
            _ => simple.datatype(),
        };
        let collapses = match kind {
            LeafKind::Text => datatype.is_some_and(|datatype| {
                // Readers may keep the white space of strings.
                !datatype.is_derived_from(Datatype::String)
                    && !matches!(datatype, Datatype::AnyUri | Datatype::AnySimpleType)
            }),
            LeafKind::Name | LeafKind::List(_) => false,
            _ => true,
        };
        Self {
            form: Form::of(kind),
            holder: Holder::Xml,
            leaf: Some(leaf),
            widest: match kind {
                LeafKind::Text => datatype.and_then(|datatype| datatype.width().bytes()),
                kind => kind.max_width(),
            },
            collapses,
            element_only: false,
        }
    }

    /// The form of text in mixed content.
    pub(super) fn mixed_text() -> Self {
        Self {
            form: Form::Text,
            holder: Holder::Element { close: 0 },
            ..Self::xml()
        }
    }

    /// The form of XML kept unchanged.
    pub(super) fn xml() -> Self {
        Self {
            form: Form::Text,
            holder: Holder::Xml,
            leaf: None,
            widest: None,
            collapses: false,
            element_only: false,
        }
    }

    /// What contains the value.
    pub fn holder(&self) -> Holder {
        self.holder
    }

    /// The leaf of the values; `None` for text in mixed content and XML kept unchanged.
    pub fn leaf(&self) -> Option<LeafId> {
        self.leaf
    }

    /// The length of the longest lexical form in bytes; `None` if there is no limit.
    pub fn widest(&self) -> Option<usize> {
        self.widest
    }

    /// Whether the value is a number or a boolean: in its slot, and at most 24 bytes as text.
    pub fn is_number(&self) -> bool {
        self.form.is_number()
    }

    /// Whether the value is a QName.
    pub(super) fn is_name(&self) -> bool {
        self.form == Form::Name
    }

    /// Whether the value is in the heap.
    pub fn is_in_heap(&self) -> bool {
        !self.is_number()
    }

    /// Whether the value may be padded at this place: white space there has no meaning.
    #[inline]
    pub fn may_pad(&self, place: PadPlace) -> bool {
        match (place, self.holder) {
            (PadPlace::Inside, Holder::Element { .. }) => self.collapses,
            (PadPlace::AfterTag, Holder::Element { close }) => {
                close > 0 && self.element_only && self.collapses
            }
            _ => false,
        }
    }

    /// The length of the end tag, if the value is the content of an element whose end tag is always the same; otherwise 0.
    #[inline]
    pub(crate) fn close(&self) -> usize {
        match self.holder {
            Holder::Element { close } => close,
            _ => 0,
        }
    }
}

impl Plan {
    /// The leaf form with a number that an encoder reported.
    #[inline]
    pub fn leaf_form(&self, leaf: LeafRef) -> Option<&LeafForm> {
        self.program().form(leaf)
    }
}
