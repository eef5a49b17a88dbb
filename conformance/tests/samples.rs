//! Samples of the messages of WSDLs of many origins.

use bsoap_conformance::{corpus, samples, wsdl_index::Wsdls};

#[test]
fn samples_of_all_operations_are_valid() {
    if corpus::folder("wellknown-schemas").is_some() {
        samples::run(&Wsdls::new(&corpus::root())).settle();
    }
}
