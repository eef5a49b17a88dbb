//! Names of schemas as Python names: in the case of PEP 8 or as they are, escaped, unique in their scope.

use heck::{ToShoutySnakeCase, ToSnakeCase, ToUpperCamelCase};

use super::Names;
use crate::names::{NameScope, words};

/// Names of the language, and those that generated code uses at the level of the module or in annotations of a class. (A field
/// `str` would be what `str` means in the annotations of that class.)
const TAKEN: [&str; 61] = [
    "Any",
    "ClassVar",
    "Exception",
    "False",
    "Final",
    "None",
    "NotImplementedError",
    "Self",
    "True",
    "TypeAlias",
    "Warning",
    "and",
    "as",
    "assert",
    "async",
    "await",
    "bool",
    "break",
    "bsoap",
    "bytes",
    "class",
    "cls",
    "continue",
    "dataclass",
    "datetime",
    "decimal",
    "def",
    "del",
    "dict",
    "elif",
    "else",
    "enum",
    "except",
    "field",
    "finally",
    "float",
    "for",
    "from",
    "global",
    "if",
    "import",
    "in",
    "int",
    "is",
    "lambda",
    "list",
    "nonlocal",
    "not",
    "object",
    "or",
    "pass",
    "raise",
    "return",
    "self",
    "str",
    "try",
    "tuple",
    "typed",
    "while",
    "with",
    "yield",
];

/// The names given in one scope.
#[derive(Debug, Default)]
pub(super) struct PythonScope {
    given: NameScope,
}

impl PythonScope {
    /// A class's name: `orderItem` becomes `OrderItem`.
    pub(super) fn class(&mut self, name: &str) -> String {
        self.add(words(name).to_upper_camel_case(), "T")
    }

    /// A field's, method's or function's name.
    pub(super) fn field(&mut self, name: &str, names: Names) -> String {
        match names {
            Names::Snake => self.add(words(name).to_snake_case(), "f_"),
            // A class makes another name of one that begins with two underscores.
            Names::Wire if name.starts_with("__") => self.add(format!("f{name}"), "f_"),
            Names::Wire => self.add(name.to_owned(), "f_"),
        }
    }

    /// A member of an enumeration, or a constant: `orderItem` becomes `ORDER_ITEM`.
    pub(super) fn constant(&mut self, name: &str) -> String {
        let name = match name.trim() {
            "" => "EMPTY".to_owned(),
            name => words(name).to_shouty_snake_case(),
        };
        self.add(name, "V_")
    }

    fn add(&mut self, name: String, prefix: &str) -> String {
        let name: String = name
            .chars()
            .map(|c| if is_continue(c) { c } else { '_' })
            .collect();
        let name = match name.chars().next() {
            Some(first) if first == '_' || is_start(first) => name,
            _ => format!("{prefix}{name}"),
        };
        let is_taken = TAKEN.binary_search(&name.as_str()).is_ok();
        self.given.unique(match is_taken {
            true => format!("{name}_"),
            false => name,
        })
    }
}

fn is_start(c: char) -> bool {
    unicode_ident::is_xid_start(c)
}

fn is_continue(c: char) -> bool {
    unicode_ident::is_xid_continue(c)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn taken_names_are_sorted() {
        assert!(TAKEN.is_sorted());
    }

    #[test]
    fn names_are_cased_escaped_and_made_distinct() {
        let mut scope = PythonScope::default();
        let fields = ["orderItem", "class", "order-item", "3d", "é", "str", "type"]
            .map(|name| scope.field(name, Names::Snake));
        let expected = [
            "order_item",
            "class_",
            "order_item2",
            "f_3d",
            "é",
            "str_",
            "type",
        ];
        assert_eq!(fields, expected);
        let mut scope = PythonScope::default();
        let fields =
            ["OrderItem", "order-item", "None", "__x"].map(|name| scope.field(name, Names::Wire));
        assert_eq!(fields, ["OrderItem", "order_item", "None_", "f__x"]);
        let mut scope = PythonScope::default();
        let members = ["medium-high", "3", "", "-", "Low"].map(|name| scope.constant(name));
        assert_eq!(members, ["MEDIUM_HIGH", "V_3", "EMPTY", "V_", "LOW"]);
        let mut scope = PythonScope::default();
        let classes = ["order", "Order", "any", "x-y"].map(|name| scope.class(name));
        assert_eq!(classes, ["Order", "Order2", "Any_", "XY"]);
    }
}
