//! The WSDL and all documents it refers to, as a part of the code.

use bsoap_schema::Definitions;
use proc_macro2::{Literal, TokenStream};
use quote::quote;

pub(crate) fn documents(definitions: &Definitions) -> TokenStream {
    let documents = definitions.bundle();
    let count = Literal::usize_unsuffixed(documents.len());
    let pairs = documents
        .iter()
        .map(|(location, text)| quote! { (#location, #text) });
    quote! {
        #[doc = " The WSDL that this code was generated from, with all documents it refers to: nothing is read when it is loaded."]
        pub fn wsdl() -> bsoap::Wsdl {
            bsoap::Wsdl::bundle(DOCUMENTS)
        }

        const DOCUMENTS: [(&str, &str); #count] = [#(#pairs),*];
    }
}
