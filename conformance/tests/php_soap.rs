//! PHP's tests of its SOAP extension.

use bsoap_conformance::known::Score;
use bsoap_conformance::{corpus, php_soap};

#[test]
fn messages_are_written_and_read_as_php_does() {
    if let Some(folder) = corpus::folder("php-soap") {
        php_soap::run(&folder).iter().for_each(Score::settle);
    }
}
