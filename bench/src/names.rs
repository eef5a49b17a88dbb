//! The names that tables of names are measured with: by `bsoap-bench trie`, and by the example `names_speed` of `bsoap-xml`, which
//! includes this file.

/// Element names that a service of some size knows; those of the mesh are among them.
pub(crate) const NAMES: [&str; 28] = [
    "Envelope",
    "Header",
    "Body",
    "Fault",
    "faultcode",
    "faultstring",
    "detail",
    "item",
    "x",
    "y",
    "value",
    "values",
    "mesh",
    "doubles",
    "ints",
    "strings",
    "order",
    "orderLine",
    "customer",
    "address",
    "street",
    "city",
    "quantity",
    "price",
    "currency",
    "reading",
    "station",
    "temperature",
];
