//! CXF's messages of SOAP encoding.

use bsoap_conformance::{corpus, cxf};

#[test]
fn encoded_messages_of_cxf_are_read_or_refused() {
    let folder = "cxf/rt/databinding/aegis/src/test/java/org/apache/cxf/aegis/type/encoded";
    if let Some(folder) = corpus::folder(folder) {
        cxf::run(&folder).settle();
    }
}
