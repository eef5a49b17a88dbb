//! Names of schemas as Rust names: in the right case, escaped, unique in their scope. Other languages share the scopes and
//! how names are split into words.

use std::collections::HashSet;

use heck::{ToShoutySnakeCase, ToSnakeCase, ToUpperCamelCase};
use proc_macro2::{Ident, Span};

/// Names that generated code uses itself.
const TAKEN_TYPES: [&str; 27] = [
    "Box",
    "Clone",
    "Copy",
    "Debug",
    "Default",
    "Eq",
    "Future",
    "Err",
    "From",
    "Hash",
    "Into",
    "None",
    "Ok",
    "Option",
    "PartialEq",
    "Result",
    "S",
    "SCHEMAS",
    "Self",
    "Send",
    "Service",
    "Client",
    "Some",
    "String",
    "Sync",
    "ToString",
    "Vec",
];

/// The names given in one scope.
#[derive(Debug, Default)]
pub(crate) struct NameScope {
    given: HashSet<String>,
}

impl NameScope {
    /// A scope for types, in which the names that generated code uses are taken.
    pub(crate) fn of_types() -> Self {
        Self {
            given: TAKEN_TYPES.iter().map(|&name| name.to_owned()).collect(),
        }
    }

    /// A type's name: `orderItem` becomes `OrderItem`, the second of that name `OrderItem2`.
    pub(crate) fn ty(&mut self, name: &str) -> Ident {
        let cased = start_with_letter(words(name).to_upper_camel_case(), "T");
        Ident::new(&self.unique(cased), Span::call_site())
    }

    /// A variant's name.
    pub(crate) fn variant(&mut self, name: &str) -> Ident {
        let cased = start_with_letter(words(name).to_upper_camel_case(), "V");
        let cased = if cased == "Self" {
            "SelfValue".to_owned()
        } else {
            cased
        };
        Ident::new(&self.unique(cased), Span::call_site())
    }

    /// A field's or method's name: `orderItem` becomes `order_item`, `type` becomes `r#type`.
    pub(crate) fn field(&mut self, name: &str) -> Ident {
        let cased = start_with_letter(words(name).to_snake_case(), "f");
        ident(&self.unique(cased))
    }

    /// A constant's name: `orderItem` becomes `ORDER_ITEM`.
    pub(crate) fn constant(&mut self, name: &str) -> Ident {
        let cased = start_with_letter(words(name).to_shouty_snake_case(), "C");
        Ident::new(&self.unique(cased), Span::call_site())
    }

    /// Whether there is a field of this name.
    pub(crate) fn has_field(&self, name: &str) -> bool {
        self.given
            .contains(&start_with_letter(words(name).to_snake_case(), "f"))
    }

    /// A name in its final form, with a number if it is taken.
    pub(crate) fn unique(&mut self, name: String) -> String {
        let mut candidate = name.clone();
        let mut number = 2;
        while !self.given.insert(candidate.clone()) {
            let separator = if name.ends_with(|c: char| c.is_ascii_digit()) {
                "_"
            } else {
                ""
            };
            candidate = format!("{name}{separator}{number}");
            number += 1;
        }
        candidate
    }
}

/// Makes one word of an acronym and the small letter of its plural or version: `echoMIOs` becomes `echoMios`, which is
/// `echo_mios` and not `echo_mi_os`; `getIPv4` becomes `getIpv4`.
pub(crate) fn words(name: &str) -> String {
    let letters: Vec<char> = name.chars().collect();
    let mut words = String::with_capacity(name.len());
    let mut at = 0;
    while at < letters.len() {
        let capitals = letters[at..]
            .iter()
            .take_while(|c| c.is_uppercase())
            .count();
        let end = at + capitals;
        let is_joined = match letters.get(end) {
            Some('s') => !letters.get(end + 1).is_some_and(|c| c.is_lowercase()),
            Some('v') => letters.get(end + 1).is_some_and(char::is_ascii_digit),
            _ => false,
        };
        match letters[at..end].split_first() {
            Some((first, rest)) if is_joined && !rest.is_empty() => {
                words.push(*first);
                words.extend(rest.iter().flat_map(|c| c.to_lowercase()));
            }
            _ => words.extend(&letters[at..end]),
        }
        if let Some(&next) = letters.get(end) {
            words.push(next);
        }
        at = end + 1;
    }
    words
}

/// Case conversion drops characters that a Rust name cannot have; the result must still begin like a name.
fn start_with_letter(name: String, letter: &str) -> String {
    let name: String = name
        .chars()
        .filter(|&c| c == '_' || unicode_continue(c))
        .collect();
    match name.chars().next() {
        Some(first) if first == '_' || first.is_alphabetic() => name,
        _ => format!("{letter}{name}"),
    }
}

fn unicode_continue(c: char) -> bool {
    c.is_alphanumeric()
}

/// An identifier, raw if it is a keyword.
fn ident(name: &str) -> Ident {
    match name {
        "self" | "super" | "crate" | "_" => Ident::new(&format!("{name}_"), Span::call_site()),
        _ if syn::parse_str::<Ident>(name).is_ok() => Ident::new(name, Span::call_site()),
        _ if syn::parse_str::<Ident>(&format!("r#{name}")).is_ok() => {
            Ident::new_raw(name, Span::call_site())
        }
        _ => Ident::new("field", Span::call_site()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_cased_escaped_and_made_distinct() {
        let mut scope = NameScope::default();
        let fields = ["orderItem", "type", "order-item", "self", "3d", "é"]
            .map(|name| scope.field(name).to_string());
        assert_eq!(
            fields,
            ["order_item", "r#type", "order_item2", "self_", "f3d", "é"]
        );
        let mut scope = NameScope::default();
        let methods = [
            "echoMIOs",
            "GetIPv4Address",
            "getDNS",
            "listVMs",
            "isOK",
            "HTTPServer",
        ]
        .map(|name| scope.field(name).to_string());
        assert_eq!(
            methods,
            [
                "echo_mios",
                "get_ipv4_address",
                "get_dns",
                "list_vms",
                "is_ok",
                "http_server"
            ]
        );
        assert_eq!(scope.constant("echoMIOs"), "ECHO_MIOS");
        let mut scope = NameScope::of_types();
        let types =
            ["order", "Order", "string", "x2", "X2", "..."].map(|name| scope.ty(name).to_string());
        assert_eq!(types, ["Order", "Order2", "String2", "X2", "X2_2", "T"]);
    }
}
