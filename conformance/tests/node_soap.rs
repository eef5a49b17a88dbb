//! node-soap's samples of requests and responses.

use bsoap_conformance::{corpus, node_soap};

#[test]
fn requests_are_written_as_node_soap_writes_them() {
    if let Some(folder) = corpus::folder("node-soap") {
        node_soap::requests(&folder).settle();
    }
}

#[test]
fn responses_are_read_as_node_soap_reads_them() {
    if let Some(folder) = corpus::folder("node-soap") {
        for score in node_soap::responses(&folder) {
            score.settle();
        }
    }
}
