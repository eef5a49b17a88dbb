//! The macro [`wsdl!`](macro@wsdl) of `bsoap`, which has it behind the feature `macros`.

#![forbid(unsafe_code)]

mod expand;
mod input;

use std::path::PathBuf;

use proc_macro::TokenStream;

/// Generates types, a client and a service trait from a WSDL, as `bsoap generate` does. The path is relative to the folder of
/// the crate's `Cargo.toml`.
///
/// ```ignore
/// mod calculator {
///     bsoap::wsdl!("calculator.wsdl");
/// }
/// let client = calculator::CalculatorClient::embedded()?;
/// ```
///
/// The WSDL and the documents it refers to are embedded: nothing is read when the program runs. The crate is compiled again
/// when one of them changes. Errors of the WSDL are errors of the compiler.
///
/// Options are those of `bsoap_generate::Options`:
///
/// ```ignore
/// bsoap::wsdl!(
///     "calculator.wsdl",
///     operations = ["Add"],                               // only these
///     derives = [serde::Serialize, serde::Deserialize],   // besides Clone, Debug, PartialEq
///     dates = jiff,                                       // or bsoap, chrono, time, strings
///     decimals = rust_decimal,                            // or bsoap, strings
///     client = true,
///     service = false,
///     closed_enumerations = false,
///     embed = true,
///     allow_imports_from = ["../schemas"],                // besides the folders of the WSDL and of the crate
///     map = [("http://shop.example/types", "../types")],  // URLs that are read from files and folders
/// );
/// ```
#[proc_macro]
pub fn wsdl(input: TokenStream) -> TokenStream {
    let folder = std::env::var_os("CARGO_MANIFEST_DIR").map_or_else(PathBuf::new, PathBuf::from);
    let expanded = input::parse(input.into()).and_then(|input| expand::expand(&input, &folder));
    expanded
        .unwrap_or_else(syn::Error::into_compile_error)
        .into()
}
