//! The messages of Axis 1's interoperability tests.

use bsoap_conformance::{axis1, corpus};

#[test]
fn requests_are_answered_as_they_were_at_white_mesa() {
    if let Some(folder) = corpus::folder("axis1-interop-mock") {
        axis1::run(&folder).settle();
    }
}
