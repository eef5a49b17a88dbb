//! Differential deserialization of recorded messages.

use bsoap_conformance::{corpus, streams};

#[test]
fn a_message_read_as_what_differs_is_the_message_that_a_fresh_decoder_reads() {
    let suites = ["recorded-polling", "waterml", "php-soap", "node-soap"];
    if suites.map(corpus::folder).iter().all(Option::is_some) {
        streams::run(&corpus::root()).settle();
    }
}
