//! Rust types as tokens: definitions, and a line beside each that describes how it is stored in a record.
//!
//! The descriptors (`typed::record!` and others in `bsoap::typed`) implement `Pack` and `Unpack`, which follow
//! `docs/design/record-layout.md`. A value's Rust type says which markers come before it, except where [`how`] adds it.

use proc_macro2::{Ident, Literal, TokenStream};
use quote::{format_ident, quote};

use crate::model::{FieldSlot, ItemId, ItemKind, ItemLayout, Occurs, StructField, Ty, TypeItem};
use crate::serde::{self, SerdeTraits};

/// Emits items. It knows which items refer to themselves, directly or through others.
pub(crate) struct ItemEmitter<'i> {
    pub(crate) items: &'i [TypeItem],
    /// Derives of all types besides the usual ones.
    derives: &'i [syn::Path],
    /// Those of serde among them.
    pub(crate) serde: SerdeTraits,
    /// A number for each item: two items have the same number if each contains the other, directly or through others.
    cycles: Vec<usize>,
    has_default: Vec<bool>,
}

impl<'i> ItemEmitter<'i> {
    pub(crate) fn new(items: &'i [TypeItem], derives: &'i [syn::Path]) -> Self {
        let mut this = Self {
            items,
            derives,
            serde: SerdeTraits::among(derives),
            cycles: cycles(items),
            has_default: vec![true; items.len()],
        };
        this.find_defaults();
        this
    }

    /// Definitions and conversions of all items.
    pub(crate) fn tokens(&self) -> TokenStream {
        (0..self.items.len())
            .map(|id| {
                let (item, serde) = (self.item(id), self.serde(id));
                quote! { #item #serde }
            })
            .collect()
    }

    /// The implementations of serde's traits that are not derived.
    fn serde(&self, id: ItemId) -> TokenStream {
        match &self.items[id].kind {
            ItemKind::Struct { fields, .. } if !serde::is_xml(fields) => TokenStream::new(),
            _ => serde::implementations(self, &self.items[id]),
        }
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
            (Ty::Foreign { has_default, .. }, _) => *has_default,
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
            ItemKind::Struct {
                fields,
                layout,
                id_at,
            } => {
                let definition = self.struct_definition(id, fields);
                let descriptor = match (layout, id_at) {
                    (ItemLayout::Sequence, None) => struct_descriptor(item, fields),
                    _ => written_conversions(item, fields, *layout, *id_at),
                };
                let of_items = id_at.and_then(|_| self.array_of_items(id, fields));
                quote! { #documentation #definition #descriptor #of_items }
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
                let described = variants.iter().enumerate().map(|(index, variant)| {
                    let (name, index) = (&variant.name, Literal::usize_unsuffixed(index));
                    let how = how(&variant.place);
                    quote! { #index = #name #how }
                });
                let form = if is_mixed {
                    quote!(mixed)
                } else {
                    quote!(choice)
                };
                let derive = self.derive_without_serde(&["Clone", "Debug", "PartialEq"]);
                quote! {
                    #documentation
                    #derive
                    pub enum #name { #text #(#definitions)* }
                    typed::#form!(#name; #(#described),*);
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
                let described = alternatives.iter().map(|alternative| {
                    let (name, ty) = (&alternative.name, type_number(alternative.ty));
                    quote! { #ty = #name }
                });
                let derive = self.derive_without_serde(&["Clone", "Debug", "PartialEq"]);
                quote! {
                    #documentation
                    #derive
                    pub enum #name { #(#variants)* }
                    typed::alternatives!(#name; #(#described),*);
                }
            }
            ItemKind::Enumeration { values, other } => {
                let definition = self.enumeration(name, values, other.as_ref());
                quote! { #documentation #definition }
            }
        }
    }

    /// These derives, and those that were asked for.
    pub(crate) fn derive(&self, own: &[&str]) -> TokenStream {
        let own = own.iter().map(|name| format_ident!("{name}"));
        let more = self.derives;
        quote! { #[derive(#(#own,)* #(#more),*)] }
    }

    /// The same for types that implement serde's traits by other means.
    fn derive_without_serde(&self, own: &[&str]) -> TokenStream {
        let own = own.iter().map(|name| format_ident!("{name}"));
        let more = self.derives.iter().filter(|path| !serde::is_of_serde(path));
        quote! { #[derive(#(#own,)* #(#more),*)] }
    }

    fn struct_definition(&self, id: ItemId, fields: &[StructField]) -> TokenStream {
        let name = &self.items[id].name;
        let own: &[&str] = match self.has_default[id] {
            true => &["Clone", "Debug", "Default", "PartialEq"],
            false => &["Clone", "Debug", "PartialEq"],
        };
        let has_derives = !self.serde.is_none() && !serde::is_xml(fields);
        let derive = match has_derives {
            true => self.derive(own),
            false => self.derive_without_serde(own),
        };
        let fields = fields.iter().map(|field| {
            let documentation = documentation(field.documentation.as_deref());
            let serde = has_derives.then(|| serde::field_attribute(field));
            let (name, ty) = (&field.name, self.slot_type(id, &field.place));
            quote! { #documentation #serde pub #name: #ty, }
        });
        quote! {
            #derive
            pub struct #name { #(#fields)* }
        }
    }

    /// An array of an encoded message is made of its items alone.
    fn array_of_items(&self, id: ItemId, fields: &[StructField]) -> Option<TokenStream> {
        let (size, items) = size_and_items(fields)?;
        let name = &self.items[id].name;
        let (size, item, ty) = (&size.name, &items.name, self.slot_type(id, &items.place));
        Some(quote! {
            impl From<#ty> for #name {
                fn from(#item: #ty) -> Self { Self { #size: None, #item } }
            }
        })
    }

    /// An enum of strings. Other strings are kept, since a sender may use a newer schema, unless the enum is to be closed.
    fn enumeration(
        &self,
        name: &Ident,
        values: &[(Ident, String)],
        other: Option<&Ident>,
    ) -> TokenStream {
        let names = values.iter().map(|(name, text)| {
            // The name mostly says it.
            let documentation = (!name.to_string().eq_ignore_ascii_case(text))
                .then(|| documentation(Some(&format!("`{}`", text.replace('`', "'")))));
            quote! { #documentation #name, }
        });
        let (variants, texts): (Vec<&Ident>, Vec<&String>) =
            values.iter().map(|(name, text)| (name, text)).unzip();
        let derive = match other {
            Some(_) => self.derive_without_serde(&["Clone", "Debug", "PartialEq", "Eq", "Hash"]),
            None => {
                self.derive_without_serde(&["Clone", "Copy", "Debug", "PartialEq", "Eq", "Hash"])
            }
        };
        let kept = other.map(|other| {
            quote! { #[doc = " A value that the schema does not list."] #other(String), }
        });
        let other = other.map(|other| quote!(; #other));
        quote! {
            #derive
            pub enum #name { #(#names)* #kept }
            typed::enumeration!(#name; #(#variants = #texts),* #other);
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
            Ty::Plain(path) | Ty::Foreign { path, .. } => path.parse().unwrap_or_default(),
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
    match (slot.occurs, slot.nillable) {
        (Occurs::Once, None) => inner.clone(),
        (Occurs::Optional, _) if slot.is_nillable() => quote!(bsoap::Nillable<#inner>),
        (Occurs::Once, Some(_)) | (Occurs::Optional, _) => quote!(Option<#inner>),
        (Occurs::Many, None) => quote!(Vec<#inner>),
        (Occurs::Many, Some(_)) => quote!(Vec<Option<#inner>>),
    }
}

/// Lines as doc comments. A fence would make a doctest of what is inside it.
pub(crate) fn documentation(text: Option<&str>) -> TokenStream {
    let lines = text.unwrap_or_default().lines().map(|line| {
        let line = line.replace("```", "``").replace("~~~", "~~");
        let line = format!(" {}", line.trim());
        let line = line.trim_end();
        quote! { #[doc = #line] }
    });
    quote! { #(#lines)* }
}

/// How a field or a variant is stored, if its Rust type does not say it.
pub(crate) fn how(slot: &FieldSlot) -> TokenStream {
    let method = method(slot);
    method.map_or_else(TokenStream::new, |method| quote!(= #method))
}

/// The same before `.value(…)`.
fn through(slot: &FieldSlot) -> TokenStream {
    let method = method(slot);
    method.map_or_else(TokenStream::new, |method| quote!(.#method))
}

/// The method of a `Packer` and an `Unpacker` for values whose Rust type does not say how they are stored.
fn method(slot: &FieldSlot) -> Option<TokenStream> {
    if let Some(ty) = slot.nillable {
        let ty = type_number(ty);
        return Some(quote!(nillable(#ty)));
    }
    let is_list = matches!(slot.ty, Ty::List(_));
    (is_list && slot.is_attribute && slot.occurs == Occurs::Optional)
        .then(|| quote!(attribute_list()))
}

pub(crate) fn type_number(ty: bsoap_codec::plan::TypeId) -> Literal {
    Literal::u32_unsuffixed(ty.0)
}

/// How a struct is stored.
fn struct_descriptor(item: &TypeItem, fields: &[StructField]) -> TokenStream {
    let name = &item.name;
    let fingerprint = item.fingerprint.map(|fingerprint| {
        let fingerprint = crate::methods::hex(fingerprint);
        quote!(: #fingerprint)
    });
    let fields = fields.iter().map(|field| {
        let (name, how) = (&field.name, how(&field.place));
        quote! { #name #how }
    });
    quote! { typed::record!(#name #fingerprint; #(#fields),*); }
}

/// The conversions of a struct with an `xs:all`, whose children may be in any order, or with an `id` that is no field: they are
/// rare, and written out.
fn written_conversions(
    item: &TypeItem,
    fields: &[StructField],
    layout: ItemLayout,
    id_at: Option<usize>,
) -> TokenStream {
    let name = &item.name;
    let (ordered, any_order) = match layout {
        ItemLayout::Sequence => (fields, None),
        ItemLayout::AllFrom(first) => {
            let (ordered, any_order) = fields.split_at(first);
            (ordered, Some(any_order))
        }
    };
    let mut packs: Vec<TokenStream> = ordered
        .iter()
        .map(|field| {
            let (name, through) = (&field.name, through(&field.place));
            quote! { packer #through.value(&self.#name); }
        })
        .collect();
    let mut unpacks: Vec<TokenStream> = ordered
        .iter()
        .map(|field| {
            let (name, through) = (&field.name, through(&field.place));
            let is_many = field.place.occurs == Occurs::Many;
            let ty = is_many.then(|| quote!(: Vec<_>));
            quote! { let #name #ty = from #through.value()?; }
        })
        .collect();
    if let Some(id_at) = id_at {
        if let Some((size, items)) = size_and_items(ordered) {
            let (size, items) = (&size.name, &items.name);
            unpacks.push(quote! { let #size = typed::array_size(#size, #items.len()); });
        }
        packs.insert(id_at, quote! { packer.value(&None::<String>); });
        unpacks.insert(id_at, quote! { from.value::<Option<String>>()?; });
    }
    let names = ordered.iter().map(|field| &field.name);
    let (pack_children, (read_children, children)) = match any_order {
        None => Default::default(),
        Some(fields) => {
            let children = fields.iter().enumerate();
            let children = children.map(|(index, field)| (&field.name, index as u32, &field.place));
            (pack_children(children), unpack_children(fields))
        }
    };
    let (own, of_type) = match item.fingerprint.map(crate::methods::hex) {
        Some(literal) => (
            quote! { fn fingerprint(&self) -> Option<u64> { Some(#literal) } },
            quote! { fn fingerprint() -> Option<u64> { Some(#literal) } },
        ),
        None => Default::default(),
    };
    quote! {
        impl typed::Pack for #name {
            fn pack(&self, packer: &mut typed::Packer<'_>) { #(#packs)* #pack_children }
            #own
        }
        impl typed::Unpack for #name {
            fn unpack(from: &mut typed::Unpacker<'_>) -> Result<Self, typed::PackError> {
                #(#unpacks)*
                #read_children
                Ok(Self { #(#names,)* #children })
            }
            #of_type
        }
    }
}

/// The fields of an array of an encoded message: its size and its items.
fn size_and_items(fields: &[StructField]) -> Option<(&StructField, &StructField)> {
    let [size, items] = fields else { return None };
    let is_array = size.place.is_attribute && items.place.occurs == Occurs::Many;
    is_array.then_some((size, items))
}

/// The code that packs children of which each is there at most once, in any order: how many there are, then each behind its
/// number.
fn pack_children<'f>(
    children: impl Iterator<Item = (&'f Ident, u32, &'f FieldSlot)> + Clone,
) -> TokenStream {
    let is_there = |name: &Ident, slot: &FieldSlot| match slot.is_nillable() {
        true => quote!(!self.#name.is_absent()),
        false => quote!(self.#name.is_some()),
    };
    let is_optional = |slot: &FieldSlot| slot.occurs == Occurs::Optional;
    let required = children.clone().filter(|(.., slot)| !is_optional(slot));
    let required = Literal::usize_unsuffixed(required.count());
    let optional = children.clone().filter(|(.., slot)| is_optional(slot));
    let optional = optional.map(|(name, _, slot)| {
        let is_there = is_there(name, slot);
        quote!(usize::from(#is_there))
    });
    let all = std::iter::once(quote!(#required)).chain(optional);
    let count = quote! { packer.count(#(#all)+*); };
    let packs = children.map(|(name, number, slot)| {
        let (number, through) = (Literal::u32_unsuffixed(number), through(slot));
        match (slot.occurs, slot.nillable) {
            (Occurs::Optional, None) => quote! {
                if let Some(value) = &self.#name { packer.branch(#number); packer.value(value); }
            },
            (Occurs::Optional, Some(_)) => {
                let is_there = is_there(name, slot);
                quote! { if #is_there { packer.branch(#number); packer #through.value(&self.#name); } }
            }
            _ => quote! { packer.branch(#number); packer #through.value(&self.#name); },
        }
    });
    quote! { #count #(#packs)* }
}

/// Reads the children of an `all` into variables; then the fields they make.
fn unpack_children(fields: &[StructField]) -> (TokenStream, TokenStream) {
    let names: Vec<&Ident> = fields.iter().map(|field| &field.name).collect();
    let arms = fields.iter().enumerate().map(|(index, field)| {
        let (name, index) = (&field.name, Literal::u32_unsuffixed(index as u32));
        let through = through(&field.place);
        quote! { Some(#index) => #name = Some(from #through.value()?), }
    });
    let made = fields.iter().map(|field| {
        let name = &field.name;
        match (field.place.occurs, field.place.nillable) {
            (Occurs::Optional, None) => quote! { #name, },
            (Occurs::Optional, Some(_)) => quote! { #name: #name.unwrap_or_default(), },
            _ => quote! { #name: #name.ok_or(typed::PackError::Mismatch)?, },
        }
    });
    let read = quote! {
        #(let mut #names = None;)*
        for _ in 0..from.count()? {
            match from.branch()? { #(#arms)* _ => return Err(typed::PackError::Mismatch) }
        }
    };
    (read, quote! { #(#made)* })
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
        ItemKind::Pending | ItemKind::Enumeration { .. } => Vec::new(),
    }
}
