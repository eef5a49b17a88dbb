//! KDSoap's WSDL and messages with WS-Addressing.

use bsoap_conformance::{corpus, kdsoap};

#[test]
fn the_addressing_of_kdsoap_is_read() {
    if let Some(folder) = corpus::folder("kdsoap/ws_addressing_support") {
        kdsoap::run(&folder).settle();
    }
}
