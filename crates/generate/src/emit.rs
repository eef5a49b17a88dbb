//! Rust types as tokens: definitions, and their conversions to and from a record.
//!
//! A type's `Pack` and `Unpack` follow `docs/design/record-layout.md` for the content of its element; the markers before the content
//! (presence, state, count) are written where the type is used.

use proc_macro2::{Ident, Literal, TokenStream};
use quote::{format_ident, quote};

use crate::model::{
    Alternative, FieldSlot, ItemId, ItemKind, ItemLayout, Marker, Occurs, StructField, Ty,
    TypeItem, Variant,
};

/// Emits items. It knows which items refer to themselves, directly or through others.
#[derive(Debug)]
pub(crate) struct ItemEmitter<'i> {
    items: &'i [TypeItem],
    /// A number for each item: two items have the same number if each contains the other, directly or through others.
    cycles: Vec<usize>,
    has_default: Vec<bool>,
}

impl<'i> ItemEmitter<'i> {
    pub(crate) fn new(items: &'i [TypeItem]) -> Self {
        let mut this = Self {
            items,
            cycles: cycles(items),
            has_default: vec![true; items.len()],
        };
        this.find_defaults();
        this
    }

    /// Definitions and conversions of all items.
    pub(crate) fn tokens(&self) -> TokenStream {
        (0..self.items.len()).map(|id| self.item(id)).collect()
    }

    /// A type has a default if all it must hold has one.
    fn find_defaults(&mut self) {
        loop {
            let mut changed = false;
            for id in 0..self.items.len() {
                let has_default = match &self.items[id].kind {
                    ItemKind::Struct { fields, .. } => fields
                        .iter()
                        .all(|field| self.slot_has_default(id, &field.place)),
                    _ => false,
                };
                changed |= std::mem::replace(&mut self.has_default[id], has_default) != has_default;
            }
            if !changed {
                return;
            }
        }
    }

    fn slot_has_default(&self, owner: ItemId, slot: &FieldSlot) -> bool {
        match (&slot.ty, slot.occurs) {
            (_, Occurs::Optional | Occurs::Many) => true,
            _ if slot.nillable.is_some() => true,
            // A type that always contains itself has no default.
            (Ty::Item(item), _) => {
                self.has_default[*item] && self.cycles[*item] != self.cycles[owner]
            }
            _ => true,
        }
    }

    fn item(&self, id: ItemId) -> TokenStream {
        let item = &self.items[id];
        let documentation = documentation(item.documentation.as_deref());
        let name = &item.name;
        match &item.kind {
            ItemKind::Pending => TokenStream::new(),
            ItemKind::Struct { fields, layout } => {
                let definition = self.struct_definition(id, fields);
                let conversion = self.struct_conversion(item, fields, *layout);
                quote! { #documentation #definition #conversion }
            }
            ItemKind::Choice(variants) | ItemKind::Mixed(variants) => {
                let is_mixed = matches!(item.kind, ItemKind::Mixed(_));
                let text =
                    is_mixed.then(|| quote! { #[doc = " Text between elements."] Text(String), });
                let definitions = variants.iter().map(|variant| {
                    let documentation = self::documentation(variant.documentation.as_deref());
                    let (name, ty) = (&variant.name, self.slot_type(id, &variant.place));
                    quote! { #documentation #name(#ty), }
                });
                let conversion = self.choice_conversion(name, variants, is_mixed);
                quote! {
                    #documentation
                    #[derive(Clone, Debug, PartialEq)]
                    pub enum #name { #text #(#definitions)* }
                    #conversion
                }
            }
            ItemKind::Alternatives(alternatives) => {
                let documentation = item.documentation.as_deref().map_or_else(
                    || self::documentation(Some("A type, or one derived from it.")),
                    |text| self::documentation(Some(text)),
                );
                let variants = alternatives.iter().map(|alternative| {
                    let (name, ty) = (&alternative.name, self.boxed(id, &alternative.value));
                    quote! { #name(#ty), }
                });
                let conversion = alternatives_conversion(name, alternatives);
                quote! {
                    #documentation
                    #[derive(Clone, Debug, PartialEq)]
                    pub enum #name { #(#variants)* }
                    #conversion
                }
            }
            ItemKind::Enumeration(values) => {
                let conversion = enumeration(name, values);
                quote! { #documentation #conversion }
            }
        }
    }

    fn struct_definition(&self, id: ItemId, fields: &[StructField]) -> TokenStream {
        let name = &self.items[id].name;
        let default = self.has_default[id].then(|| quote! { Default, });
        let fields = fields.iter().map(|field| {
            let documentation = documentation(field.documentation.as_deref());
            let (name, ty) = (&field.name, self.slot_type(id, &field.place));
            quote! { #documentation pub #name: #ty, }
        });
        quote! {
            #[derive(Clone, Debug, #default PartialEq)]
            pub struct #name { #(#fields)* }
        }
    }

    fn struct_conversion(
        &self,
        item: &TypeItem,
        fields: &[StructField],
        layout: ItemLayout,
    ) -> TokenStream {
        let ordered = match layout {
            ItemLayout::Sequence => fields.len(),
            ItemLayout::AllFrom(first) => first,
        };
        let (ordered, any_order) = fields.split_at(ordered);
        let packs = ordered.iter().map(|field| {
            let name = &field.name;
            pack(&field.place, &quote!(&self.#name))
        });
        let unpacks = ordered
            .iter()
            .map(|field| (&field.name, unpack(&field.place)));
        let is_all = layout != ItemLayout::Sequence;
        let pack_all = is_all.then(|| pack_all(any_order));
        let (read_all, all_fields) = if is_all {
            unpack_all(any_order)
        } else {
            Default::default()
        };
        let packer = if fields.is_empty() && !is_all {
            quote!(_packer)
        } else {
            quote!(packer)
        };
        let from = if fields.is_empty() && !is_all {
            quote!(_from)
        } else {
            quote!(from)
        };
        // Fields are read in the order of the text, which struct expressions keep; but an `all` is read as a whole.
        let body = if is_all {
            let lets = unpacks
                .clone()
                .map(|(name, read)| quote! { let #name = #read; });
            let names = ordered.iter().map(|field| &field.name);
            quote! { #(#lets)* #read_all Ok(Self { #(#names,)* #all_fields }) }
        } else {
            let fields = unpacks.map(|(name, read)| quote! { #name: #read, });
            quote! { Ok(Self { #(#fields)* }) }
        };
        conversions(
            &item.name,
            item.fingerprint,
            (&packer, &quote! { #(#packs)* #pack_all }),
            (&from, &body),
        )
    }

    fn choice_conversion(&self, name: &Ident, variants: &[Variant], is_mixed: bool) -> TokenStream {
        let text_pack = is_mixed
            .then(|| quote! { Self::Text(text) => { packer.no_branch(); packer.text(text); } });
        let packs = variants.iter().enumerate().map(|(index, variant)| {
            let (name, index) = (&variant.name, Literal::u32_unsuffixed(index as u32));
            let pack = pack(&variant.place, &quote!(value));
            quote! { Self::#name(value) => { packer.branch(#index); #pack } }
        });
        let text_unpack = is_mixed.then(|| quote! { None => Ok(Self::Text(from.value()?)), });
        let unpacks = variants.iter().enumerate().map(|(index, variant)| {
            let (name, index) = (&variant.name, Literal::u32_unsuffixed(index as u32));
            let read = unpack(&variant.place);
            quote! { Some(#index) => Ok(Self::#name(#read)), }
        });
        if is_mixed {
            let pack = quote! { match self { #text_pack #(#packs)* } };
            let body = quote! { match from.branch()? { #text_unpack #(#unpacks)* _ => Err(PackError::Mismatch) } };
            return conversions(name, None, (&quote!(packer), &pack), (&quote!(from), &body));
        }
        // An enum without variants has no values.
        let this = if variants.is_empty() {
            quote!(*self)
        } else {
            quote!(self)
        };
        let pack = quote! { match #this { #(#packs)* } };
        let body = quote! { let branch = from.branch()?; Self::from_branch(branch, from) };
        let conversion = conversions(name, None, (&quote!(packer), &pack), (&quote!(from), &body));
        quote! {
            impl FromBranch for #name {
                fn from_branch(branch: Option<u32>, from: &mut Unpacker<'_>) -> Result<Self, PackError> {
                    match branch { #(#unpacks)* _ => Err(PackError::Mismatch) }
                }
            }
            #conversion
        }
    }

    /// The Rust type of a field.
    pub(crate) fn slot_type(&self, owner: ItemId, slot: &FieldSlot) -> TokenStream {
        let inner = match slot.occurs {
            Occurs::Many => self.ty(&slot.ty),
            _ => self.boxed(owner, &slot.ty),
        };
        wrapped(slot, &inner)
    }

    /// The Rust type of a value that is not in an item.
    pub(crate) fn free_type(&self, slot: &FieldSlot) -> TokenStream {
        wrapped(slot, &self.ty(&slot.ty))
    }

    /// The type of a field of `owner`: in a box, if the type contains `owner` in turn. If an enum is in between, its variant has the box.
    fn boxed(&self, owner: ItemId, ty: &Ty) -> TokenStream {
        let plain = self.ty(ty);
        let is_enum = |item: ItemId| !matches!(self.items[item].kind, ItemKind::Struct { .. });
        match ty {
            Ty::Item(item)
                if self.cycles[*item] == self.cycles[owner]
                    && (is_enum(owner) || !is_enum(*item)) =>
            {
                quote!(Box<#plain>)
            }
            _ => plain,
        }
    }

    pub(crate) fn ty(&self, ty: &Ty) -> TokenStream {
        match ty {
            Ty::Plain(name) => {
                let name = format_ident!("{name}");
                quote!(#name)
            }
            Ty::List(item) => {
                let item = self.ty(item);
                quote!(Vec<#item>)
            }
            Ty::Item(item) => {
                let name = &self.items[*item].name;
                quote!(#name)
            }
        }
    }
}

fn wrapped(slot: &FieldSlot, inner: &TokenStream) -> TokenStream {
    let inner = if slot.nillable.is_some() {
        quote!(Option<#inner>)
    } else {
        inner.clone()
    };
    match slot.occurs {
        Occurs::Once => inner,
        Occurs::Optional => quote!(Option<#inner>),
        Occurs::Many => quote!(Vec<#inner>),
    }
}

/// Lines as doc comments.
pub(crate) fn documentation(text: Option<&str>) -> TokenStream {
    let lines = text.unwrap_or_default().lines().map(|line| {
        let line = format!(" {}", line.trim());
        let line = line.trim_end();
        quote! { #[doc = #line] }
    });
    quote! { #(#lines)* }
}

/// The implementations of `Pack` and `Unpack`: the name of the argument and the body of each method.
fn conversions(
    name: &Ident,
    fingerprint: Option<u64>,
    (packer, pack): (&TokenStream, &TokenStream),
    (from, unpack): (&TokenStream, &TokenStream),
) -> TokenStream {
    let (own, of_type) = match fingerprint {
        Some(fingerprint) => {
            let literal = crate::methods::hex(fingerprint);
            (
                quote! { fn fingerprint(&self) -> Option<u64> { Some(#literal) } },
                quote! { fn fingerprint() -> Option<u64> { Some(#literal) } },
            )
        }
        None => Default::default(),
    };
    quote! {
        impl Pack for #name {
            fn pack(&self, #packer: &mut Packer<'_>) { #pack }
            #own
        }
        impl Unpack for #name {
            fn unpack(#from: &mut Unpacker<'_>) -> Result<Self, PackError> { #unpack }
            #of_type
        }
    }
}

/// Writes a value and the markers before it; `value` is a reference to it.
pub(crate) fn pack(slot: &FieldSlot, value: &TokenStream) -> TokenStream {
    let zero = slot.is_scalar.then(|| quote! { packer.zero(); });
    match slot.occurs {
        Occurs::Once => pack_once(slot, value),
        Occurs::Many if is_simple(slot) => quote! { packer.array(#value); },
        Occurs::Many => {
            let once = pack_once(slot, &quote!(value));
            quote! { packer.count(Vec::len(#value)); for value in #value { #once } }
        }
        Occurs::Optional if slot.marker == Marker::Branch => {
            quote! { match #value { Some(value) => packer.value(value), None => packer.no_branch() } }
        }
        Occurs::Optional if is_simple(slot) && slot.is_scalar => {
            quote! { packer.optional_value(#value); }
        }
        Occurs::Optional if is_simple(slot) => quote! { packer.optional(#value); },
        Occurs::Optional => {
            let present = (slot.marker != Marker::State).then(|| quote! { packer.present(); });
            let once = pack_once(slot, &quote!(value));
            quote! { match #value { Some(value) => { #present #once } None => { packer.absent(); #zero } } }
        }
    }
}

/// Whether nothing but a presence marker or a count comes before the value, and the value is not a list.
fn is_simple(slot: &FieldSlot) -> bool {
    slot.marker != Marker::State && slot.nillable.is_none() && !matches!(slot.ty, Ty::List(_))
}

/// True if no marker comes before the value: it is always present, never nil, and no list.
pub(crate) fn is_plain(slot: &FieldSlot) -> bool {
    slot.occurs == Occurs::Once && slot.nillable.is_none() && !matches!(slot.ty, Ty::List(_))
}

fn pack_once(slot: &FieldSlot, value: &TokenStream) -> TokenStream {
    let is_list = matches!(slot.ty, Ty::List(_));
    let plain = |value: &TokenStream| {
        if is_list {
            quote! { packer.array(#value); }
        } else {
            quote! { packer.value(#value); }
        }
    };
    let Some(ty) = slot.nillable else {
        return plain(value);
    };
    let ty = type_id(ty);
    if is_list || has_own_state(slot) {
        // The value of a type with alternatives writes its state itself.
        let state = is_list.then(|| quote! { packer.state(#ty); });
        let inner = plain(&quote!(value));
        return quote! { match #value { Some(value) => { #state #inner } None => packer.nil(#ty) } };
    }
    if slot.is_scalar {
        quote! { packer.nillable_value(#value, #ty); }
    } else {
        quote! { packer.nillable(#value, #ty); }
    }
}

fn type_id(ty: bsoap_codec::plan::TypeId) -> TokenStream {
    let number = Literal::u32_unsuffixed(ty.0);
    quote!(TypeId(#number))
}

/// Whether the Rust type of the value is an enum of alternatives, which reads and writes the state.
fn has_own_state(slot: &FieldSlot) -> bool {
    slot.marker == Marker::State && slot.has_alternatives
}

/// Reads a value and the markers before it.
pub(crate) fn unpack(slot: &FieldSlot) -> TokenStream {
    match slot.occurs {
        Occurs::Once => unpack_once(slot),
        Occurs::Many if is_simple(slot) => quote!(from.array()?),
        Occurs::Many => {
            let once = unpack_once(slot);
            quote! {{
                let mut values = Vec::new();
                for _ in 0..from.count()? { values.push(#once); }
                values
            }}
        }
        Occurs::Optional => unpack_optional(slot),
    }
}

fn unpack_optional(slot: &FieldSlot) -> TokenStream {
    let zero = slot.is_scalar.then(|| quote! { from.zero()?; });
    let is_list = matches!(slot.ty, Ty::List(_));
    match slot.marker {
        Marker::Branch => {
            quote! { match from.branch()? { None => None, branch => Some(FromBranch::from_branch(branch, from)?) } }
        }
        Marker::Attribute if is_list => quote! {
            match from.count()? { 0 => { from.zero()?; None } _ => Some(from.array()?) }
        },
        Marker::Attribute => quote!(from.optional_attribute()?),
        Marker::Presence if is_list => {
            quote! { if from.is_present()? { Some(from.array()?) } else { None } }
        }
        Marker::Presence if slot.is_scalar => quote!(from.optional_value()?),
        Marker::Presence => quote!(from.optional()?),
        Marker::State => {
            let read = unpack_state(slot);
            quote! { match from.state()? { ElementState::Absent => { #zero None } state => Some(#read) } }
        }
    }
}

fn unpack_once(slot: &FieldSlot) -> TokenStream {
    let is_list = matches!(slot.ty, Ty::List(_));
    match (slot.nillable, is_list) {
        (None, true) => quote!(from.array()?),
        (None, false) => quote!(from.value()?),
        (Some(_), false) if !has_own_state(slot) && slot.is_scalar => {
            quote!(from.nillable_value()?)
        }
        (Some(_), false) if !has_own_state(slot) => quote!(from.nillable()?),
        (Some(_), _) => {
            let read = unpack_state(slot);
            quote! {{ let state = from.state()?; #read }}
        }
    }
}

/// Reads a value whose state has been read and is not `Absent`.
fn unpack_state(slot: &FieldSlot) -> TokenStream {
    let zero = slot.is_scalar.then(|| quote! { from.zero()?; });
    let is_list = matches!(slot.ty, Ty::List(_));
    match (slot.nillable.is_some(), has_own_state(slot)) {
        (false, _) => quote!(FromState::from_state(state, from)?),
        (true, true) => {
            quote! { match state { ElementState::Nil(_) => None, state => Some(FromState::from_state(state, from)?) } }
        }
        (true, false) => {
            let read = if is_list {
                quote!(from.array()?)
            } else {
                quote!(from.value()?)
            };
            quote! { match state { ElementState::Present(_) => Some(#read), _ => { #zero None } } }
        }
    }
}

/// The code that packs the children of an `xs:all`: the number of children that are present, then each child behind its
/// index in the `all`.
fn pack_all(fields: &[StructField]) -> TokenStream {
    let required = fields
        .iter()
        .filter(|field| field.place.occurs != Occurs::Optional)
        .count();
    let optional = fields
        .iter()
        .filter(|field| field.place.occurs == Occurs::Optional)
        .map(|field| {
            let name = &field.name;
            quote! { + usize::from(self.#name.is_some()) }
        });
    let required = Literal::usize_unsuffixed(required);
    let packs = fields.iter().enumerate().map(|(index, field)| {
        let (name, index) = (&field.name, Literal::u32_unsuffixed(index as u32));
        if field.place.occurs == Occurs::Optional {
            let once = pack_once(&field.place, &quote!(value));
            quote! { if let Some(value) = &self.#name { packer.branch(#index); #once } }
        } else {
            let pack = pack(&field.place, &quote!(&self.#name));
            quote! { packer.branch(#index); #pack }
        }
    });
    quote! { packer.count(#required #(#optional)*); #(#packs)* }
}

/// Reads the children of an `all` into variables; then the fields they make.
fn unpack_all(fields: &[StructField]) -> (TokenStream, TokenStream) {
    let names: Vec<&Ident> = fields.iter().map(|field| &field.name).collect();
    let arms = fields.iter().enumerate().map(|(index, field)| {
        let (name, index) = (&field.name, Literal::u32_unsuffixed(index as u32));
        let read = match field.place.occurs {
            Occurs::Many => unpack(&field.place),
            _ => unpack_once(&field.place),
        };
        quote! { Some(#index) => #name = Some(#read), }
    });
    let made = fields.iter().map(|field| {
        let name = &field.name;
        match field.place.occurs {
            Occurs::Optional => quote! { #name, },
            _ => quote! { #name: #name.ok_or(PackError::Mismatch)?, },
        }
    });
    let read = quote! {
        #(let mut #names = None;)*
        for _ in 0..from.count()? {
            match from.branch()? { #(#arms)* _ => return Err(PackError::Mismatch) }
        }
    };
    (read, quote! { #(#made)* })
}

fn alternatives_conversion(name: &Ident, alternatives: &[Alternative]) -> TokenStream {
    let packs = alternatives.iter().map(|alternative| {
        let (name, ty) = (&alternative.name, type_id(alternative.ty));
        let pack = pack_once(&FieldSlot::once(alternative.value.clone()), &quote!(value));
        quote! { Self::#name(value) => { packer.state(#ty); #pack } }
    });
    let unpacks = alternatives.iter().map(|alternative| {
        let (name, ty) = (&alternative.name, type_id(alternative.ty));
        let read = unpack_once(&FieldSlot::once(alternative.value.clone()));
        quote! { ElementState::Present(#ty) => Ok(Self::#name(#read)), }
    });
    let pack = quote! { match self { #(#packs)* } };
    let body = quote! { let state = from.state()?; Self::from_state(state, from) };
    let conversion = conversions(name, None, (&quote!(packer), &pack), (&quote!(from), &body));
    quote! {
        impl FromState for #name {
            fn from_state(state: ElementState, from: &mut Unpacker<'_>) -> Result<Self, PackError> {
                match state { #(#unpacks)* _ => Err(PackError::Mismatch) }
            }
        }
        #conversion
    }
}

/// An enum of strings. Other strings are kept, since a sender may use a newer schema.
fn enumeration(name: &Ident, values: &[(Ident, String)]) -> TokenStream {
    let Some(((other, _), known)) = values.split_last() else {
        return TokenStream::new();
    };
    let names: Vec<&Ident> = known.iter().map(|(name, _)| name).collect();
    let texts: Vec<&String> = known.iter().map(|(_, text)| text).collect();
    let documents = texts
        .iter()
        .map(|text| documentation(Some(&format!("`{text}`"))));
    quote! {
        #[derive(Clone, Debug, PartialEq, Eq, Hash)]
        pub enum #name {
            #(#documents #names,)*
            #[doc = " A value that the schema does not list."]
            #other(String),
        }
        impl #name {
            #[doc = " The value as it is written."]
            pub fn as_str(&self) -> &str {
                match self { #(Self::#names => #texts,)* Self::#other(text) => text }
            }
        }
        impl From<&str> for #name {
            fn from(text: &str) -> Self {
                match text { #(#texts => Self::#names,)* text => Self::#other(text.to_owned()) }
            }
        }
        impl Pack for #name {
            fn pack(&self, packer: &mut Packer<'_>) { packer.text(self.as_str()); }
        }
        impl Unpack for #name {
            fn unpack(from: &mut Unpacker<'_>) -> Result<Self, PackError> { from.text().map(Self::from) }
        }
    }
}

/// Which items contain each other in a cycle (a `Vec` breaks a cycle): equal numbers for the items of one cycle, different numbers
/// for all others. (Strongly connected components by Kosaraju's algorithm, without recursion.)
fn cycles(items: &[TypeItem]) -> Vec<usize> {
    let held: Vec<Vec<ItemId>> = items.iter().map(|item| held_by(&item.kind)).collect();
    let mut holders = vec![Vec::new(); items.len()];
    for (owner, items) in held.iter().enumerate() {
        for &item in items {
            holders[item].push(owner);
        }
    }
    let mut order = Vec::with_capacity(items.len());
    let mut seen = vec![false; items.len()];
    for start in 0..items.len() {
        let mut stack = vec![(start, false)];
        while let Some((item, done)) = stack.pop() {
            if done {
                order.push(item);
            } else if !std::mem::replace(&mut seen[item], true) {
                stack.push((item, true));
                stack.extend(held[item].iter().map(|&next| (next, false)));
            }
        }
    }
    let mut cycle = vec![usize::MAX; items.len()];
    let mut is_cyclic = vec![false; items.len()];
    for &start in order.iter().rev() {
        let mut stack = vec![start];
        while let Some(item) = stack.pop() {
            if cycle[item] == usize::MAX {
                cycle[item] = start;
                is_cyclic[start] |= item != start || held[item].contains(&item);
                stack.extend(
                    holders[item]
                        .iter()
                        .filter(|&&holder| cycle[holder] == usize::MAX),
                );
            }
        }
    }
    // A component of one item is no cycle: it gets a number that nothing containing it has.
    (0..items.len())
        .map(|item| {
            if is_cyclic[cycle[item]] {
                cycle[item]
            } else {
                items.len() + item
            }
        })
        .collect()
}

fn held_by(kind: &ItemKind) -> Vec<ItemId> {
    match kind {
        ItemKind::Struct { fields, .. } => fields
            .iter()
            .filter_map(|field| field.place.held_item())
            .collect(),
        ItemKind::Choice(variants) | ItemKind::Mixed(variants) => variants
            .iter()
            .filter_map(|variant| variant.place.held_item())
            .collect(),
        ItemKind::Alternatives(alternatives) => {
            let items = alternatives
                .iter()
                .filter_map(|alternative| FieldSlot::once(alternative.value.clone()).held_item());
            items.collect()
        }
        ItemKind::Pending | ItemKind::Enumeration(_) => Vec::new(),
    }
}
