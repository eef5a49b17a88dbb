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

#[test]
fn instances_of_the_xmlschema_and_xsdata_projects_are_judged_as_they_are_named() {
    let folders = ["xmlschema", "xsdata"].map(corpus::folder);
    if folders.iter().all(Option::is_some) {
        xsdtests::projects(&corpus::root()).settle();
    }
}
