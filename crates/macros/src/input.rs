//! What is written between the parentheses: a path, then options.

use bsoap_generate::{Dates, Decimals, Options};
use proc_macro2::TokenStream;
use quote::ToTokens as _;
use syn::parse::{Parse, ParseStream, Parser as _};
use syn::punctuated::Punctuated;
use syn::{Error, Ident, LitBool, LitStr, Path, Result, Token, bracketed, parenthesized};

/// The path of a WSDL, and what is generated from it.
pub(crate) struct Input {
    pub(crate) path: LitStr,
    pub(crate) options: Options,
    /// More folders from which files may be imported.
    pub(crate) folders: Vec<String>,
    /// URLs, and the files and folders that they are read from.
    pub(crate) map: Vec<(String, String)>,
}

/// Parses the input of the macro.
pub(crate) fn parse(tokens: TokenStream) -> Result<Input> {
    input.parse2(tokens)
}

fn input(from: ParseStream<'_>) -> Result<Input> {
    let path = from.parse()?;
    let mut input = Input {
        path,
        options: Options::default(),
        folders: Vec::new(),
        map: Vec::new(),
    };
    input.options.embed = true;
    while !from.is_empty() {
        from.parse::<Token![,]>()?;
        if !from.is_empty() {
            option(from, &mut input)?;
        }
    }
    Ok(input)
}

fn option(from: ParseStream<'_>, input: &mut Input) -> Result<()> {
    let name: Ident = from.parse()?;
    from.parse::<Token![=]>()?;
    let options = &mut input.options;
    match &*name.to_string() {
        "allow_imports_from" => input.folders = texts(from)?,
        "map" => {
            let pairs = list::<Pair>(from)?;
            input.map = pairs.into_iter().map(|pair| (pair.0, pair.1)).collect();
        }
        "operations" => options.operations = texts(from)?,
        "derives" => {
            let path = |path: &Path| path.to_token_stream().to_string().replace(' ', "");
            options.derives = list::<Path>(from)?.iter().map(path).collect();
        }
        "dates" => {
            options.dates = one_of(
                from,
                &[
                    ("bsoap", Dates::Bsoap),
                    ("jiff", Dates::Jiff),
                    ("chrono", Dates::Chrono),
                    ("time", Dates::Time),
                    ("strings", Dates::Strings),
                ],
            )?;
        }
        "decimals" => {
            options.decimals = one_of(
                from,
                &[
                    ("bsoap", Decimals::Bsoap),
                    ("rust_decimal", Decimals::RustDecimal),
                    ("strings", Decimals::Strings),
                ],
            )?;
        }
        "client" => options.client = flag(from)?,
        "service" => options.service = flag(from)?,
        "closed_enumerations" => options.closed_enumerations = flag(from)?,
        "embed" => options.embed = flag(from)?,
        _ => {
            let known = "operations, derives, dates, decimals, client, service, closed_enumerations, embed, allow_imports_from, map";
            return Err(Error::new(
                name.span(),
                format!("no such option, expected one of {known}"),
            ));
        }
    }
    Ok(())
}

/// `("http://shop.example/types", "xsd")`
struct Pair(String, String);

impl Parse for Pair {
    fn parse(from: ParseStream<'_>) -> Result<Self> {
        let inside;
        parenthesized!(inside in from);
        let url: LitStr = inside.parse()?;
        inside.parse::<Token![,]>()?;
        let path: LitStr = inside.parse()?;
        inside.parse::<Option<Token![,]>>()?;
        match inside.is_empty() {
            true => Ok(Self(url.value(), path.value())),
            false => Err(inside.error("expected a URL and a file or folder")),
        }
    }
}

fn texts(from: ParseStream<'_>) -> Result<Vec<String>> {
    Ok(list::<LitStr>(from)?.iter().map(LitStr::value).collect())
}

fn flag(from: ParseStream<'_>) -> Result<bool> {
    Ok(from.parse::<LitBool>()?.value)
}

fn list<T: Parse>(from: ParseStream<'_>) -> Result<Vec<T>> {
    let inside;
    bracketed!(inside in from);
    let items = Punctuated::<T, Token![,]>::parse_terminated(&inside)?;
    Ok(items.into_iter().collect())
}

fn one_of<T: Copy>(from: ParseStream<'_>, known: &[(&str, T)]) -> Result<T> {
    let name: Ident = from.parse()?;
    let found = known.iter().find(|(text, _)| name == text);
    found.map(|&(_, value)| value).ok_or_else(|| {
        let known: Vec<&str> = known.iter().map(|(text, _)| *text).collect();
        Error::new(name.span(), format!("expected one of {}", known.join(", ")))
    })
}
