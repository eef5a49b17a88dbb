//! WSDLs of many origins.

use bsoap_conformance::{corpus, wsdl_index::Wsdls};

fn wsdls() -> Option<Wsdls> {
    corpus::folder("wellknown-schemas")?;
    Some(Wsdls::new(&corpus::root()))
}

#[test]
fn what_zeep_loads_offers_the_same_here() {
    if let Some(wsdls) = wsdls() {
        wsdls.like_zeep().settle();
    }
}

#[test]
fn what_toolkits_have_as_examples_loads() {
    if let Some(wsdls) = wsdls() {
        wsdls.of_toolkits().settle();
    }
}

#[test]
fn what_is_broken_is_refused() {
    if let Some(wsdls) = wsdls() {
        wsdls.refused().settle();
    }
}
