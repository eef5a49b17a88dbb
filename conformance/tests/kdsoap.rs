//! KDSoap's WSDLs, each written for a feature.

use bsoap_conformance::{corpus, kdsoap, kdsoap_addressing};

#[test]
fn features_of_kdsoap_are_written_and_read() {
    if let Some(folder) = corpus::folder("kdsoap") {
        kdsoap::run(&folder).settle();
    }
}

#[test]
fn addressing_of_kdsoap_is_read() {
    if let Some(folder) = corpus::folder("kdsoap/ws_addressing_support") {
        kdsoap_addressing::run(&folder).settle();
    }
}
