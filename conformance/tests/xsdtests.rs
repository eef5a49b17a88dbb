//! The W3C XML Schema test suite.

use bsoap_conformance::{corpus, xsdtests};

#[test]
fn xsdtests_schemas_and_instances_are_judged_as_the_suite_judges_them() {
    let Some(folder) = corpus::folder("xsdtests") else {
        return;
    };
    for score in xsdtests::run(&folder) {
        score.settle();
    }
}
