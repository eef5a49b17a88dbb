//! The W3C SOAP 1.2 test collection.

use bsoap_conformance::{corpus, soap12};

#[test]
fn requests_are_answered_as_the_collection_demands() {
    if let Some(folder) = corpus::folder("php-soap") {
        soap12::run(&folder).settle();
    }
}
