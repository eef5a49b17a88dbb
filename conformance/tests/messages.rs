//! Recorded messages and samples of several toolkits.

use bsoap_conformance::{corpus, messages};

#[test]
fn what_a_wsdl_describes_is_read_by_it() {
    if corpus::folder("recorded-polling").is_some() {
        messages::run(&corpus::root()).settle();
    }
}
