//! savon's answers.

use bsoap_conformance::{corpus, savon};

#[test]
fn answers_of_savon_are_read_as_another_parser_reads_them() {
    if let Some(folder) = corpus::folder("ruby-savon-wasabi-nori") {
        savon::run(&folder).settle();
    }
}
