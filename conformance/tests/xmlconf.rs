//! The W3C XML conformance test suite.

use bsoap_conformance::{corpus, xmlconf};

#[test]
fn what_is_not_well_formed_is_refused_and_all_else_is_read() {
    if let Some(folder) = corpus::folder("xmlconf") {
        xmlconf::run(&folder).settle();
    }
}
