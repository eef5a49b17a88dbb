//! serde for generated types, by the convention of JSON: attributes for the derives of structs, and implementations for enums,
//! whose derives would not follow it.

use proc_macro2::{Ident, TokenStream};
use quote::{ToTokens as _, quote};

use crate::emit::ItemEmitter;
use crate::model::{
    Alternative, FieldSlot, ItemKind, JsonKey, Occurs, StructField, Ty, TypeItem, Variant,
};

/// Which of serde's traits the types implement.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct SerdeTraits {
    pub(crate) serialize: bool,
    pub(crate) deserialize: bool,
}

impl SerdeTraits {
    /// Those among the derives.
    pub(crate) fn among(derives: &[syn::Path]) -> Self {
        let has = |name| derives.iter().any(|path| is_called(path, name));
        Self {
            serialize: has("Serialize"),
            deserialize: has("Deserialize"),
        }
    }

    pub(crate) fn is_none(self) -> bool {
        !self.serialize && !self.deserialize
    }
}

/// Whether a derive is one of serde's.
pub(crate) fn is_of_serde(path: &syn::Path) -> bool {
    is_called(path, "Serialize") || is_called(path, "Deserialize")
}

fn is_called(path: &syn::Path, name: &str) -> bool {
    path.segments.last().is_some_and(|last| last.ident == name)
}

/// The attribute of a struct's field.
pub(crate) fn field_attribute(field: &StructField) -> TokenStream {
    let slot = &field.place;
    let mut parts = Vec::new();
    match &field.json {
        JsonKey::Member(key) if field.name.to_string().trim_start_matches("r#") == key => {}
        JsonKey::Member(key) => parts.push(quote!(rename = #key)),
        JsonKey::Flat => parts.push(quote!(flatten)),
        JsonKey::Any => parts.push(quote!(rename = "#any", with = "typed::any")),
        JsonKey::AnyAttribute => parts.push(quote!(
            rename = "@any",
            with = "typed::any_attribute",
            default,
            skip_serializing_if = "String::is_empty"
        )),
    }
    if is_foreign(&slot.ty) {
        parts.push(quote!(with = "typed::as_text"));
    }
    let is_flat = matches!(field.json, JsonKey::Flat);
    match (slot.occurs, slot.nillable) {
        _ if is_flat => {}
        (Occurs::Once, _) => {}
        (Occurs::Optional, _) if slot.is_nillable() => parts.push(quote!(
            default,
            skip_serializing_if = "bsoap::Nillable::is_absent"
        )),
        (Occurs::Optional, _) => {
            parts.push(quote!(default, skip_serializing_if = "Option::is_none"));
        }
        (Occurs::Many, _) => parts.push(quote!(default, skip_serializing_if = "Vec::is_empty")),
    }
    match parts.is_empty() {
        true => TokenStream::new(),
        false => quote! { #[serde(#(#parts),*)] },
    }
}

fn is_foreign(ty: &Ty) -> bool {
    match ty {
        Ty::Foreign { .. } => true,
        Ty::List(item) => is_foreign(item),
        _ => false,
    }
}

/// The implementations for an enum, or for the struct of an `anyType`.
pub(crate) fn implementations(items: &ItemEmitter<'_>, item: &TypeItem) -> TokenStream {
    let (name, traits) = (&item.name, items.serde);
    if traits.is_none() {
        return TokenStream::new();
    }
    let (write, read) = match &item.kind {
        ItemKind::Enumeration { .. } => (
            quote! { serializer.serialize_str(self.as_str()) },
            quote! { typed::deserialize_parsed(deserializer) },
        ),
        ItemKind::Choice(variants) => (
            choice_writer(variants),
            choice_reader(items, name, variants),
        ),
        ItemKind::Mixed(variants) => (mixed_writer(variants), mixed_reader(items, name, variants)),
        ItemKind::Alternatives(alternatives) => (
            alternatives_writer(alternatives),
            alternatives_reader(name, alternatives),
        ),
        ItemKind::Struct { fields, .. } => xml(fields),
        ItemKind::Pending => return TokenStream::new(),
    };
    let write = traits.serialize.then(|| quote! {
        impl typed::serde::Serialize for #name {
            fn serialize<S: typed::serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> { #write }
        }
    });
    let read = traits.deserialize.then(|| quote! {
        impl<'de> typed::serde::Deserialize<'de> for #name {
            fn deserialize<D: typed::serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> { #read }
        }
    });
    quote! { #write #read }
}

/// Whether a struct is the `anyType`: attributes and inner XML.
pub(crate) fn is_xml(fields: &[StructField]) -> bool {
    matches!(fields, [.., last] if last.name == "xml" && matches!(last.json, JsonKey::Any))
        && fields
            .iter()
            .all(|field| matches!(field.json, JsonKey::Any | JsonKey::AnyAttribute))
}

fn xml(fields: &[StructField]) -> (TokenStream, TokenStream) {
    match fields {
        [_] => (
            quote! { typed::serialize_xml("", &self.xml, serializer) },
            quote! { typed::deserialize_xml(deserializer).map(|(_, xml)| Self { xml }) },
        ),
        _ => (
            quote! { typed::serialize_xml(&self.any_attribute, &self.xml, serializer) },
            quote! {
                let (any_attribute, xml) = typed::deserialize_xml(deserializer)?;
                Ok(Self { any_attribute, xml })
            },
        ),
    }
}

/// `value` as something that serde serializes.
fn written(slot: &FieldSlot) -> TokenStream {
    match is_foreign(&slot.ty) {
        true => quote!(&typed::Text(value)),
        false => quote!(value),
    }
}

fn writer_arms<'v>(variants: &'v [Variant]) -> impl Iterator<Item = TokenStream> + 'v {
    variants.iter().map(|variant| {
        let (name, value) = (&variant.name, written(&variant.place));
        let write = match &variant.json {
            JsonKey::Member(key) => quote! { typed::serialize_member(#key, #value, serializer) },
            JsonKey::Any => {
                quote! { typed::serialize_member("#any", &typed::Any(value), serializer) }
            }
            JsonKey::Flat | JsonKey::AnyAttribute => {
                quote! { typed::serde::Serialize::serialize(value, serializer) }
            }
        };
        quote! { Self::#name(value) => #write, }
    })
}

fn choice_writer(variants: &[Variant]) -> TokenStream {
    let arms = writer_arms(variants);
    // An enum without variants has no value.
    match variants.is_empty() {
        true => quote! { match *self {} },
        false => quote! { match self { #(#arms)* } },
    }
}

fn mixed_writer(variants: &[Variant]) -> TokenStream {
    let arms = writer_arms(variants);
    quote! { match self { Self::Text(text) => serializer.serialize_str(text), #(#arms)* } }
}

/// Reads the branch whose members are there.
fn choice_reader(items: &ItemEmitter<'_>, name: &Ident, variants: &[Variant]) -> TokenStream {
    let branches = variants.iter().map(|variant| branch_reader(items, variant));
    let name = name.to_string();
    quote! {
        let members = typed::members(deserializer)?;
        #(#branches)*
        Err(typed::no_branch(#name))
    }
}

fn branch_reader(items: &ItemEmitter<'_>, variant: &Variant) -> TokenStream {
    let name = &variant.name;
    let read = |key: &str, take: TokenStream| {
        quote! { if let Some(value) = members.get(#key) { return #take; } }
    };
    match &variant.json {
        JsonKey::Member(key) if is_foreign(&variant.place.ty) => read(
            key,
            quote! { typed::from_value(value).map(|typed::Text(value)| Self::#name(value)) },
        ),
        JsonKey::Member(key) => read(key, quote! { typed::from_value(value).map(Self::#name) }),
        JsonKey::Any => read(
            "#any",
            quote! { typed::from_value(value).map(|typed::Any(value)| Self::#name(value)) },
        ),
        JsonKey::Flat | JsonKey::AnyAttribute => {
            let keys = keys_of(items, &variant.place.ty);
            quote! {
                if typed::has_any(&members, &[#(#keys),*]) {
                    return typed::from_value(&members.into()).map(Self::#name);
                }
            }
        }
    }
}

/// The keys of the members that a group may have.
fn keys_of(items: &ItemEmitter<'_>, ty: &Ty) -> Vec<String> {
    let Ty::Item(item) = ty else {
        return Vec::new();
    };
    let keys: Vec<(&JsonKey, &Ty)> = match &items.items[*item].kind {
        ItemKind::Struct { fields, .. } => fields
            .iter()
            .map(|field| (&field.json, &field.place.ty))
            .collect(),
        ItemKind::Choice(variants) => variants
            .iter()
            .map(|variant| (&variant.json, &variant.place.ty))
            .collect(),
        _ => Vec::new(),
    };
    let keys = keys.into_iter().flat_map(|(json, ty)| match json {
        JsonKey::Member(key) => vec![key.clone()],
        JsonKey::Any => vec!["#any".to_owned()],
        JsonKey::AnyAttribute => vec!["@any".to_owned()],
        JsonKey::Flat => keys_of(items, ty),
    });
    keys.collect()
}

fn mixed_reader(items: &ItemEmitter<'_>, name: &Ident, variants: &[Variant]) -> TokenStream {
    let branches = variants.iter().map(|variant| branch_reader(items, variant));
    let name = name.to_string();
    quote! {
        let members = match typed::text_or_members(deserializer)? {
            Ok(text) => return Ok(Self::Text(text)),
            Err(members) => members,
        };
        #(#branches)*
        Err(typed::no_branch(#name))
    }
}

fn alternatives_writer(alternatives: &[Alternative]) -> TokenStream {
    let arms = alternatives.iter().map(|alternative| {
        let name = &alternative.name;
        let value = written(&FieldSlot::once(alternative.value.clone()));
        match &alternative.tag {
            Some((key, ty)) if !alternative.is_declared => {
                quote! { Self::#name(value) => typed::serialize_derived((#key, #ty), #value, serializer), }
            }
            _ => quote! { Self::#name(value) => typed::serde::Serialize::serialize(#value, serializer), },
        }
    });
    quote! { match self { #(#arms)* } }
}

fn alternatives_reader(name: &Ident, alternatives: &[Alternative]) -> TokenStream {
    let take = |alternative: &Alternative| {
        let name = &alternative.name;
        match is_foreign(&alternative.value) {
            true => {
                quote! { typed::from_members(&value).map(|typed::Text(value)| Self::#name(value)) }
            }
            false => quote! { typed::from_members(&value).map(Self::#name) },
        }
    };
    let tags = alternatives.iter().filter_map(|one| one.tag.as_ref());
    let tags = tags.map(|(key, ty)| quote! { (#key, #ty) });
    let arms = alternatives.iter().filter_map(|one| {
        let ((_, ty), take) = (one.tag.as_ref()?, take(one));
        Some(quote! { Some(#ty) => #take, })
    });
    let name = name.to_token_stream().to_string();
    let declared = alternatives.iter().find(|one| one.is_declared);
    let declared = declared.map_or_else(|| quote! { Err(typed::no_branch(#name)) }, take);
    quote! {
        let value = typed::serde::Deserialize::deserialize(deserializer)?;
        let (ty, value) = typed::take_type(value, &[#(#tags),*]);
        match ty { #(#arms)* _ => #declared }
    }
}
