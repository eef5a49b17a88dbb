//! Loads the WSDL and generates the code.

use std::error::Error as _;
use std::path::Path;

use bsoap_generate::build::Config;
use proc_macro2::TokenStream;
use quote::quote;
use syn::{Error, Result};

use crate::input::Input;

/// The code for the WSDL at a path relative to a folder.
pub(crate) fn expand(input: &Input, folder: &Path) -> Result<TokenStream> {
    let path = input.path.value();
    let wsdl = match input.map.iter().any(|(url, _)| path.starts_with(url)) {
        true => path.into(),
        false => folder.join(path),
    };
    let config = Config::new(wsdl.to_string_lossy()).options(input.options.clone());
    let config = input.map.iter().fold(config, |config, (url, path)| {
        config.map(url, folder.join(path))
    });
    let config = input.folders.iter().fold(config, |config, allowed| {
        config.allow_imports_from(folder.join(allowed))
    });
    let generated = config
        .generate()
        .map_err(|error| Error::new(input.path.span(), report(&error)))?;
    let (code, files) = (
        generated.code,
        generated
            .files
            .iter()
            .map(|file| file.to_string_lossy().into_owned()),
    );
    Ok(quote! {
        #code
        // The compiler notes these files, so that cargo knows when to compile this again.
        #(const _: &[u8] = include_bytes!(#files);)*
    })
}

/// An error with all its causes.
fn report(error: &bsoap_generate::build::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        text = format!("{text}: {error}");
        cause = error.source();
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::input::parse;

    const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../generate/tests/testdata");

    fn expanded(tokens: TokenStream) -> std::result::Result<String, String> {
        let expanded = parse(tokens).and_then(|input| expand(&input, Path::new(FOLDER)));
        expanded
            .map(|code| code.to_string())
            .map_err(|error| error.to_string())
    }

    #[test]
    fn errors_of_the_wsdl_are_errors_of_the_compiler() {
        let error = expanded(quote! { "missing.wsdl" }).unwrap_err();
        assert!(
            error.starts_with("the WSDL cannot be loaded: cannot load "),
            "{error}"
        );
        let error = expanded(quote! { "calculator.wsdl", operations = ["Ad"] }).unwrap_err();
        assert_eq!(
            error,
            "no code can be generated: the WSDL has no operation \"Ad\"; it has Add, Divide"
        );
    }

    #[test]
    fn errors_of_options_say_what_is_known() {
        let error = expanded(quote! { "calculator.wsdl", embedded = true }).unwrap_err();
        assert!(
            error.starts_with("no such option, expected one of operations, "),
            "{error}"
        );
        let error = expanded(quote! { "calculator.wsdl", dates = joda }).unwrap_err();
        assert_eq!(error, "expected one of bsoap, jiff, chrono, time, strings");
        assert!(
            expanded(quote! {}).is_err()
                && expanded(quote! { "calculator.wsdl" derives = [] }).is_err()
        );
    }

    #[test]
    fn urls_are_read_from_the_files_and_folders_that_they_are_mapped_to() {
        let code = expanded(quote! {
            "http://shop.example/wsdl/calculator.wsdl", map = [("http://shop.example/wsdl", ".")], service = false
        });
        let code = code.unwrap();
        assert!(
            code.contains("struct CalculatorClient") && code.contains("testdata/./calculator.wsdl"),
            "{code}"
        );
        let error = expanded(quote! { "calculator.wsdl", map = [("http://a", ".", "b")] });
        assert_eq!(error.unwrap_err(), "expected a URL and a file or folder");
    }

    #[test]
    fn the_code_depends_on_the_files_and_contains_them_unless_it_is_told_not_to() {
        let code = expanded(quote! { "calculator.wsdl", service = false, }).unwrap();
        assert!(code.contains("include_bytes ! (") && code.contains("calculator.wsdl"));
        assert!(code.contains("fn embedded") && !code.contains("trait Calculator"));
        let code =
            expanded(quote! { "calculator.wsdl", embed = false, operations = ["Add"] }).unwrap();
        assert!(
            !code.contains("fn embedded")
                && !code.contains("Divide")
                && code.contains("include_bytes")
        );
    }
}
