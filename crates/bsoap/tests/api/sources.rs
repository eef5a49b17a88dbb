//! The public API of a crate as text, a line an item, made from its source. (Of what rustdoc knows, a stable toolchain gives
//! nothing but HTML.)
//!
//! Modules are read from `src/lib.rs` on. Names are resolved through `use`, so that an item is listed where users find it;
//! single items that are re-exported from another crate of the workspace are followed into it, whole crates are a line.
//! Features count as enabled. Not listed: what is hidden from the documentation, and items that macros with
//! arguments make.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use proc_macro2::{Delimiter, Group, TokenStream, TokenTree};
use quote::ToTokens;
use syn::punctuated::Punctuated;
use syn::{
    Attribute, Fields, ImplItem, Item, ItemImpl, ItemTrait, TraitItem, Type, UseTree, Visibility,
};

/// How many `use` declarations a name may go through.
const MOST_HOPS: usize = 20;

/// The crates of a workspace, by the name that code has for them.
#[derive(Default)]
pub(crate) struct Sources {
    crates: BTreeMap<String, CrateSource>,
}

/// The modules of a crate, by path: `[]` is its root.
type CrateSource = BTreeMap<Vec<String>, Vec<Item>>;

/// An item: the crate, the module and the name.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Place {
    krate: String,
    module: Vec<String>,
    name: String,
}

/// What a path leads to.
enum Found {
    Item(Place),
    Module(String, Vec<String>),
    Elsewhere,
}

impl Sources {
    /// Reads a crate: `folder` has its `src/lib.rs`.
    ///
    /// # Panics
    /// If a file cannot be read or is not Rust: this is for tests.
    pub(crate) fn add(&mut self, name: &str, folder: &Path) {
        let mut modules = CrateSource::new();
        let mut files = vec![(Vec::new(), folder.join("src/lib.rs"))];
        while let Some((module, file)) = files.pop() {
            let text =
                fs::read_to_string(&file).unwrap_or_else(|error| panic!("{file:?}: {error}"));
            let parsed = syn::parse_file(&text).unwrap_or_else(|error| panic!("{file:?}: {error}"));
            let is_root = file.ends_with("lib.rs") || file.ends_with("mod.rs");
            let inside = if is_root {
                file.parent().map(Path::to_owned).unwrap_or_default()
            } else {
                file.with_extension("")
            };
            read_module(&mut modules, &mut files, module, parsed.items, &inside);
        }
        self.crates.insert(name.to_owned(), modules);
    }

    /// The public items of a crate.
    pub(crate) fn public_items(&self, krate: &str) -> String {
        let mut lister = Lister {
            sources: self,
            lines: Vec::new(),
        };
        lister.module(krate, &[], krate);
        lister.lines.sort();
        lister.lines.dedup();
        lister.lines.join("\n") + "\n"
    }

    fn items(&self, krate: &str, module: &[String]) -> &[Item] {
        let modules = self.crates.get(krate);
        modules
            .and_then(|modules| modules.get(module))
            .map_or(&[], Vec::as_slice)
    }

    /// What a path means in a module.
    fn resolve(&self, krate: &str, module: &[String], path: &[String], hops: usize) -> Found {
        let Some((first, rest)) = path.split_first().filter(|_| hops < MOST_HOPS) else {
            return Found::Elsewhere;
        };
        let (krate, mut module, rest) = match first.as_str() {
            "crate" => (krate, Vec::new(), rest),
            "self" => (krate, module.to_owned(), rest),
            "super" => (
                krate,
                module[..module.len().saturating_sub(1)].to_owned(),
                rest,
            ),
            name if self.is_child(krate, module, name) => (krate, inside_of(module, name), rest),
            name if self.crates.contains_key(name) => (name, Vec::new(), rest),
            _ => (krate, module.to_owned(), path),
        };
        for (index, name) in rest.iter().enumerate() {
            let child = inside_of(&module, name);
            if name == "super" {
                module.pop();
            } else if self.crates[krate].contains_key(&child) {
                module = child;
            } else if index + 1 == rest.len() {
                return self.item(krate, &module, name, hops);
            } else {
                return Found::Elsewhere;
            }
        }
        Found::Module(krate.to_owned(), module)
    }

    fn is_child(&self, krate: &str, module: &[String], name: &str) -> bool {
        let child = inside_of(module, name);
        self.crates[krate].contains_key(&child)
    }

    /// The item of this name in a module, or that a `use` there names so.
    fn item(&self, krate: &str, module: &[String], name: &str, hops: usize) -> Found {
        for item in self.items(krate, module) {
            if name_of(item).is_some_and(|own| own == name) {
                return Found::Item(Place {
                    krate: krate.to_owned(),
                    module: module.to_owned(),
                    name: name.to_owned(),
                });
            }
        }
        for (path, alias) in self.uses(krate, module) {
            if alias == name {
                return self.resolve(krate, module, &path, hops + 1);
            }
        }
        Found::Elsewhere
    }

    /// All `use` declarations of a module: path and name.
    fn uses(&self, krate: &str, module: &[String]) -> Vec<(Vec<String>, String)> {
        let mut all = Vec::new();
        for item in self.items(krate, module) {
            if let Item::Use(item) = item {
                flatten(&item.tree, Vec::new(), &mut all);
            }
        }
        all
    }

    /// The implementations for a type, wherever they are in its crate.
    fn impls<'s>(&'s self, place: &'s Place) -> impl Iterator<Item = &'s ItemImpl> {
        let modules = self.crates[&place.krate].iter();
        modules.flat_map(move |(module, items)| {
            items.iter().filter_map(move |item| match item {
                Item::Impl(item) if is_listed(&item.attrs) => {
                    let path = path_of(&item.self_ty)?;
                    let found = self.resolve(&place.krate, module, &path, 0);
                    matches!(found, Found::Item(found) if found == *place).then_some(item)
                }
                _ => None,
            })
        })
    }
}

impl Sources {
    /// The members of an implementation that are made by macros without arguments, as an implementation of their own.
    fn made_by_macros(&self, krate: &str, block: &ItemImpl) -> Vec<ItemImpl> {
        let calls = block.items.iter().filter_map(|member| match member {
            ImplItem::Macro(call) if call.mac.tokens.is_empty() => call.mac.path.get_ident(),
            _ => None,
        });
        let modules = &self.crates[krate];
        let body = |name: &syn::Ident| {
            let items = modules.values().flatten();
            let named = items.filter(|item| name_of(item).is_some_and(|own| name == &own));
            named.filter_map(macro_body).next()
        };
        let (head, ty) = (&block.generics, &block.self_ty);
        let blocks = calls.filter_map(body);
        blocks
            .filter_map(|body| syn::parse2(quote::quote!(impl #head #ty { #body })).ok())
            .collect()
    }
}

/// What a macro `() => { … }` makes.
fn macro_body(item: &Item) -> Option<TokenStream> {
    let Item::Macro(item) = item else {
        return None;
    };
    let tokens = item.mac.tokens.clone().into_iter();
    let body = tokens.filter_map(|token| match token {
        TokenTree::Group(group) if group.delimiter() == Delimiter::Brace => Some(group.stream()),
        _ => None,
    });
    body.map(without_dollars).next()
}

/// Tokens with `crate` for `$crate`.
fn without_dollars(tokens: TokenStream) -> TokenStream {
    let is_kept =
        |token: &TokenTree| !matches!(token, TokenTree::Punct(punct) if punct.as_char() == '$');
    let kept = tokens.into_iter().filter(is_kept).map(|token| match token {
        TokenTree::Group(group) => TokenTree::Group(Group::new(
            group.delimiter(),
            without_dollars(group.stream()),
        )),
        other => other,
    });
    kept.collect()
}

fn read_module(
    modules: &mut CrateSource,
    files: &mut Vec<(Vec<String>, PathBuf)>,
    module: Vec<String>,
    items: Vec<Item>,
    folder: &Path,
) {
    for item in &items {
        let Item::Mod(child) = item else { continue };
        if !is_listed(&child.attrs) {
            continue;
        }
        let name = child.ident.to_string();
        let path = inside_of(&module, &name);
        match &child.content {
            Some((_, inner)) => {
                read_module(modules, files, path, inner.clone(), &folder.join(&name));
            }
            None => {
                let given = child.attrs.iter().find_map(given_file);
                let plain = folder.join(given.unwrap_or_else(|| format!("{name}.rs")));
                let file = if plain.exists() {
                    plain
                } else {
                    folder.join(&name).join("mod.rs")
                };
                files.push((path, file));
            }
        }
    }
    modules.insert(module, items);
}

/// The path of a module in another.
fn inside_of(module: &[String], name: &str) -> Vec<String> {
    [module, &[name.to_owned()]].concat()
}

/// The file of a module that `#[path = "…"]` names.
fn given_file(attribute: &Attribute) -> Option<String> {
    let syn::Meta::NameValue(meta) = &attribute.meta else {
        return None;
    };
    match &meta.value {
        syn::Expr::Lit(value) if meta.path.is_ident("path") => match &value.lit {
            syn::Lit::Str(file) => Some(file.value()),
            _ => None,
        },
        _ => None,
    }
}

struct Lister<'s> {
    sources: &'s Sources,
    lines: Vec<String>,
}

impl Lister<'_> {
    /// Lists the public items of a module under a path.
    fn module(&mut self, krate: &str, module: &[String], under: &str) {
        for item in self.sources.items(krate, module) {
            let Some((visibility, attributes)) = head_of(item) else {
                continue;
            };
            let is_macro = matches!(item, Item::Macro(_)) && is_exported(attributes);
            if !is_listed(attributes) || !(matches!(visibility, Visibility::Public(_)) || is_macro)
            {
                continue;
            }
            match item {
                Item::Mod(child) => {
                    let name = child.ident.to_string();
                    let path = inside_of(module, &name);
                    let under = format!("{under}::{name}");
                    self.lines.push(format!("mod {under}"));
                    self.module(krate, &path, &under);
                }
                Item::Use(item) => {
                    let mut all = Vec::new();
                    flatten(&item.tree, Vec::new(), &mut all);
                    for (path, alias) in all {
                        self.used(krate, module, &path, &alias, under);
                    }
                }
                item => {
                    let name = name_of(item).unwrap_or_default();
                    let place = Place {
                        krate: krate.to_owned(),
                        module: module.to_owned(),
                        name,
                    };
                    self.item(item, &place, under, &place.name);
                }
            }
        }
    }

    /// Lists what a public `use` names.
    fn used(&mut self, krate: &str, module: &[String], path: &[String], alias: &str, under: &str) {
        match self.sources.resolve(krate, module, path, 0) {
            Found::Module(other, inner) if other == krate => {
                let under = if alias == "*" {
                    under.to_owned()
                } else {
                    format!("{under}::{alias}")
                };
                self.module(krate, &inner, &under);
            }
            Found::Item(place) => {
                let items = self.sources.items(&place.krate, &place.module);
                let item = items
                    .iter()
                    .find(|item| name_of(item).is_some_and(|name| name == place.name));
                if let Some(item) = item {
                    self.item(item, &place, under, alias);
                }
            }
            Found::Module(..) | Found::Elsewhere => {
                let path = path.join("::");
                self.lines.push(format!("use {path} as {under}::{alias}"));
            }
        }
    }

    /// Lists an item with its methods and implementations.
    fn item(&mut self, item: &Item, place: &Place, under: &str, alias: &str) {
        let path = format!("{under}::{alias}");
        let text = match item {
            Item::Trait(item) => {
                self.trait_items(item, &path);
                let mut head = item.clone();
                head.items.clear();
                shown(&head.attrs, head.clone().into_token_stream())
            }
            item => shown(attributes_of(item), bare(item)),
        };
        self.lines.push(format!("{path}: {text}"));
        if matches!(
            item,
            Item::Struct(_) | Item::Enum(_) | Item::Union(_) | Item::Type(_)
        ) {
            for block in self.sources.impls(place) {
                self.block(block, &path);
                for made in self.sources.made_by_macros(&place.krate, block) {
                    self.block(&made, &path);
                }
            }
        }
    }

    fn trait_items(&mut self, item: &ItemTrait, path: &str) {
        for member in &item.items {
            let mut member = member.clone();
            let (kind, attributes) = match &mut member {
                TraitItem::Fn(member) => {
                    let is_provided = member.default.replace(syn::parse_quote!({})).is_some();
                    let kind = if is_provided { "provides" } else { "requires" };
                    (kind, std::mem::take(&mut member.attrs))
                }
                TraitItem::Type(member) => ("requires", std::mem::take(&mut member.attrs)),
                TraitItem::Const(member) => ("requires", std::mem::take(&mut member.attrs)),
                _ => continue,
            };
            if is_listed(&attributes) {
                let text = shown(&[], member.into_token_stream());
                self.lines.push(format!("{path} {kind} {text}"));
            }
        }
    }

    /// Lists the public members of an implementation, or that the trait is implemented.
    fn block(&mut self, block: &ItemImpl, path: &str) {
        let mut head = block.clone();
        head.items.clear();
        head.attrs.clear();
        let head = shown(&[], head.into_token_stream());
        let head = head.strip_suffix(" {}").unwrap_or(&head).to_owned();
        if block.trait_.is_some() {
            self.lines.push(format!("{path} {head}"));
            return;
        }
        for member in &block.items {
            let (visibility, attributes, tokens) = match member {
                ImplItem::Fn(member) => {
                    let (visibility, signature) = (&member.vis, &member.sig);
                    (
                        visibility,
                        &member.attrs,
                        quote::quote!(#visibility #signature {}),
                    )
                }
                ImplItem::Const(member) => {
                    let (name, ty) = (&member.ident, &member.ty);
                    (
                        &member.vis,
                        &member.attrs,
                        quote::quote!(pub const #name: #ty = 0;),
                    )
                }
                _ => continue,
            };
            if matches!(visibility, Visibility::Public(_)) && is_listed(attributes) {
                self.lines
                    .push(format!("{path} {head} {}", shown(&[], tokens)));
            }
        }
    }
}

/// The path and the name of each item that a `use` names; a glob is called `*`.
fn flatten(tree: &UseTree, mut path: Vec<String>, all: &mut Vec<(Vec<String>, String)>) {
    match tree {
        UseTree::Path(tree) => {
            path.push(tree.ident.to_string());
            flatten(&tree.tree, path, all);
        }
        UseTree::Name(tree) if tree.ident == "self" => {
            let alias = path.last().cloned().unwrap_or_default();
            all.push((path, alias));
        }
        UseTree::Name(tree) => {
            path.push(tree.ident.to_string());
            all.push((path, tree.ident.to_string()));
        }
        UseTree::Rename(tree) => {
            path.push(tree.ident.to_string());
            all.push((path, tree.rename.to_string()));
        }
        UseTree::Glob(_) => all.push((path, "*".to_owned())),
        UseTree::Group(tree) => {
            for tree in &tree.items {
                flatten(tree, path.clone(), all);
            }
        }
    }
}

/// The path of the type that is implemented.
fn path_of(ty: &Type) -> Option<Vec<String>> {
    match ty {
        Type::Path(ty) => Some(
            ty.path
                .segments
                .iter()
                .map(|part| part.ident.to_string())
                .collect(),
        ),
        Type::Reference(ty) => path_of(&ty.elem),
        _ => None,
    }
}

fn head_of(item: &Item) -> Option<(&Visibility, &[Attribute])> {
    Some(match item {
        Item::Const(item) => (&item.vis, &item.attrs),
        Item::Enum(item) => (&item.vis, &item.attrs),
        Item::Fn(item) => (&item.vis, &item.attrs),
        Item::Macro(item) => (&Visibility::Inherited, &item.attrs),
        Item::Mod(item) => (&item.vis, &item.attrs),
        Item::Static(item) => (&item.vis, &item.attrs),
        Item::Struct(item) => (&item.vis, &item.attrs),
        Item::Trait(item) => (&item.vis, &item.attrs),
        Item::Type(item) => (&item.vis, &item.attrs),
        Item::Union(item) => (&item.vis, &item.attrs),
        Item::Use(item) => (&item.vis, &item.attrs),
        _ => return None,
    })
}

fn attributes_of(item: &Item) -> &[Attribute] {
    head_of(item).map_or(&[], |(_, attributes)| attributes)
}

fn name_of(item: &Item) -> Option<String> {
    Some(match item {
        Item::Const(item) => item.ident.to_string(),
        Item::Enum(item) => item.ident.to_string(),
        Item::Fn(item) => item.sig.ident.to_string(),
        Item::Macro(item) => item.ident.as_ref()?.to_string(),
        Item::Static(item) => item.ident.to_string(),
        Item::Struct(item) => item.ident.to_string(),
        Item::Trait(item) => item.ident.to_string(),
        Item::Type(item) => item.ident.to_string(),
        Item::Union(item) => item.ident.to_string(),
        _ => return None,
    })
}

/// Not for tests only, not hidden, and not what stands in for a feature that is off.
fn is_listed(attributes: &[Attribute]) -> bool {
    !attributes.iter().any(|attribute| {
        let text = attribute.to_token_stream().to_string().replace(' ', "");
        text.starts_with("#[doc(hidden")
            || text.starts_with("#[cfg(test")
            || text.starts_with("#[cfg(not(feature")
            || text.starts_with("#[cfg(all(doctest")
    })
}

fn is_exported(attributes: &[Attribute]) -> bool {
    attributes
        .iter()
        .any(|attribute| attribute.path().is_ident("macro_export"))
}

/// An item without its body, its private fields and its documentation.
fn bare(item: &Item) -> TokenStream {
    let mut item = item.clone();
    match &mut item {
        Item::Fn(item) => *item.block = syn::parse_quote!({}),
        Item::Const(item) => *item.expr = syn::parse_quote!(0),
        Item::Static(item) => *item.expr = syn::parse_quote!(0),
        Item::Struct(item) => visible(&mut item.fields),
        Item::Enum(item) => {
            for variant in &mut item.variants {
                variant.attrs.retain(is_kept);
                for field in &mut variant.fields {
                    field.attrs.clear();
                }
            }
        }
        Item::Macro(item) => {
            let name = &item.ident;
            return quote::quote!(macro_rules! #name {});
        }
        _ => {}
    }
    item.into_token_stream()
}

/// Leaves public fields only. A tuple with private ones is shown as private.
fn visible(fields: &mut Fields) {
    let is_public = |field: &syn::Field| matches!(field.vis, Visibility::Public(_));
    if let Fields::Named(named) = fields {
        let kept = named.named.iter().filter(|field| is_public(field)).cloned();
        named.named = kept.collect::<Punctuated<_, _>>();
    } else if !fields.iter().all(is_public) {
        *fields = Fields::Unit;
    }
    for field in fields {
        field.attrs.clear();
    }
}

fn is_kept(attribute: &Attribute) -> bool {
    ["non_exhaustive", "derive", "must_use", "default"]
        .iter()
        .any(|kept| attribute.path().is_ident(kept))
}

/// Tokens on one line, laid out as rustfmt does, behind those of their attributes that matter.
fn shown(attributes: &[Attribute], tokens: TokenStream) -> String {
    let kept = attributes.iter().filter(|attribute| is_kept(attribute));
    let tidy = |text: String| text.replace(' ', "").replace(',', ", ");
    let mut lines: Vec<String> = kept
        .map(|attribute| match attribute.meta {
            // A text has spaces that count.
            syn::Meta::NameValue(_) => format!("#[{}]", attribute.path().to_token_stream()),
            _ => tidy(attribute.to_token_stream().to_string()),
        })
        .collect();
    let item = syn::parse2::<Item>(tokens.clone()).ok();
    // What is no item by itself, such as an associated type, is not laid out.
    let item = item.filter(|item| !matches!(item, Item::Verbatim(_)));
    let text = item.map(|mut item| {
        clear_attributes(&mut item);
        let file = syn::File {
            shebang: None,
            attrs: Vec::new(),
            items: vec![item],
        };
        prettyplease::unparse(&file)
    });
    let text = text.unwrap_or_else(|| tokens.to_string());
    let text: Vec<&str> = text.split_whitespace().collect();
    lines.push(text.join(" ").trim_end_matches(" {}").to_owned());
    lines.join(" ")
}

fn clear_attributes(item: &mut Item) {
    match item {
        Item::Const(item) => item.attrs.clear(),
        Item::Enum(item) => item.attrs.clear(),
        Item::Fn(item) => item.attrs.clear(),
        Item::Impl(item) => item.attrs.clear(),
        Item::Static(item) => item.attrs.clear(),
        Item::Struct(item) => item.attrs.clear(),
        Item::Trait(item) => item.attrs.clear(),
        Item::Type(item) => item.attrs.clear(),
        _ => {}
    }
}
