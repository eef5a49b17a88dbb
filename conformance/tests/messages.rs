//! Recorded messages and samples of several toolkits.

use bsoap_conformance::{corpus, messages};

#[test]
fn what_a_wsdl_describes_is_read_by_it() {
    if corpus::folder("recorded-polling").is_some() {
        corpus::say(
            "messages: in the recorded polling empty <ID/> and <ContextID/>, which its WSDL does not allow, are taken for absent",
        );
        messages::run(&corpus::root()).settle();
    }
}
