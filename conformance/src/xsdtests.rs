//! The W3C XML Schema test suite, and the XSD cases of the xmlschema and xsdata projects: is a schema valid, is an instance?
//!
//! Schemas are loaded strictly. An instance is judged by the decoder's validation of a Plan whose root is the global element
//! that the instance's root element names.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use bsoap_codec::decode::{DecodeOptions, Decoder, Tolerance, Validation};
use bsoap_codec::plan::Role;
use bsoap_schema::{
    Chain, Compiler, Document, Error, ErrorKind, ExpandedName, FileLoader, LoadLimits, Offers,
    SchemaSet, SchemaSetBuilder, Strictness, WellKnown, XSI_NAMESPACE, resolve_location,
};
use serde::Deserialize;

use crate::known::{Outcome, Score};

/// A line of `groups.jsonl`.
#[derive(Debug, Deserialize)]
struct Group {
    set: String,
    group: String,
    version: String,
    schema: Vec<SchemaTest>,
    instances: Vec<InstanceTest>,
}

#[derive(Debug, Deserialize)]
struct SchemaTest {
    docs: Vec<String>,
    version: String,
    expected: BTreeMap<String, String>,
}

#[derive(Debug, Deserialize)]
struct InstanceTest {
    name: String,
    file: String,
    version: String,
    expected: BTreeMap<String, String>,
}

/// What the suite demands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Expected {
    Valid,
    Invalid,
}

fn expected(expected: &BTreeMap<String, String>) -> Option<Expected> {
    let verdict = expected.get("1.0").or_else(|| expected.get("any"))?;
    match verdict.as_str() {
        "valid" => Some(Expected::Valid),
        "invalid" => Some(Expected::Invalid),
        _ => None,
    }
}

/// The scores of schemas and of instances.
///
/// # Panics
/// If the folder's list of groups cannot be read.
pub fn run(folder: &Path) -> [Score; 2] {
    let list = std::fs::read_to_string(folder.join("groups.jsonl"))
        .expect("the suite has its list of groups");
    let files = folder.join("files");
    let mut schemas = Score::new("xsdtests-schemas");
    let mut instances = Score::new("xsdtests-instances");
    for line in list.lines() {
        let group: Group = serde_json::from_str(line).expect("a group is one line of JSON");
        let name = format!("{}/{}", group.set, group.group);
        let mut docs = None;
        for test in &group.schema {
            let paths: Vec<PathBuf> = test.docs.iter().map(|doc| files.join(doc)).collect();
            schemas.record(&name, judge_schema(&group, test, &paths));
            docs = Some(paths);
        }
        for test in &group.instances {
            let outcome = judge_instance(&group, test, docs.as_deref(), &files);
            instances.record(&format!("{name}/{}", test.name), outcome);
        }
    }
    [schemas, instances]
}

/// Instances of the xmlschema and xsdata projects whose names, or words in them, state their verdict; and the schema, where
/// they do not name it themselves.
const PROJECTS: [(&str, &str, Expected); 8] = [
    (
        "xmlschema/examples/vehicles/vehicles.xml",
        "",
        Expected::Valid,
    ),
    (
        "xmlschema/examples/vehicles/vehicles-ns-mix.xml",
        "",
        Expected::Valid,
    ),
    (
        "xmlschema/examples/vehicles/vehicles-1_error.xml",
        "",
        Expected::Invalid,
    ),
    (
        "xmlschema/examples/vehicles/vehicles-2_errors.xml",
        "",
        Expected::Invalid,
    ),
    (
        "xmlschema/examples/vehicles/vehicles-3_errors.xml",
        "",
        Expected::Invalid,
    ),
    (
        "xmlschema/features/substitutions/words1.xml",
        "",
        Expected::Valid,
    ),
    (
        "xmlschema/features/substitutions/words2.xml",
        "",
        Expected::Valid,
    ),
    (
        "xsdata/wrapper/sample.xml",
        "xsdata/wrapper/schema.xsd",
        Expected::Valid,
    ),
];

/// The score of these; `root` has the folders of both projects.
pub fn projects(root: &Path) -> Score {
    let mut score = Score::new("xsd-projects");
    for (instance, schema, expected) in PROJECTS {
        let schema: Vec<PathBuf> = match schema {
            "" => Vec::new(),
            schema => vec![root.join(schema)],
        };
        score.record(
            instance,
            judge_file(expected, &root.join(instance), &schema),
        );
    }
    score
}

fn judge_schema(group: &Group, test: &SchemaTest, docs: &[PathBuf]) -> Outcome {
    if !group.version.contains("1.0") && group.version != "any" || test.version == "1.1" {
        return Outcome::Skip("for XSD 1.1");
    }
    match (expected(&test.expected), load(docs)) {
        (None, _) => Outcome::Skip("without a verdict for XSD 1.0"),
        (Some(Expected::Valid), Err(error)) => {
            Outcome::Fail(format!("a valid schema is refused: {error}"))
        }
        (Some(Expected::Invalid), Ok(_)) if test.docs.iter().any(|doc| is_excused(doc)) => {
            Outcome::Skip("about identity constraints")
        }
        (Some(Expected::Invalid), Ok(_)) => Outcome::Fail("an invalid schema is taken".to_owned()),
        _ => Outcome::Pass,
    }
}

/// Identity constraints are read, not obeyed.
fn is_excused(doc: &str) -> bool {
    [
        "/identityConstraint/",
        "/IdConstrDefs/",
        "/combined/identity/",
    ]
    .iter()
    .any(|part| doc.contains(part))
}

fn load(docs: &[PathBuf]) -> Result<SchemaSet, Error> {
    let loader = Chain::new().then(FileLoader::anywhere()).then(WellKnown);
    let mut builder = SchemaSetBuilder::new(&loader, LoadLimits::default(), Strictness::Strict);
    for doc in docs {
        builder.add_location(&doc.to_string_lossy())?;
    }
    builder.finish()
}

fn judge_instance(
    group: &Group,
    test: &InstanceTest,
    schema: Option<&[PathBuf]>,
    files: &Path,
) -> Outcome {
    if !group.version.contains("1.0") && group.version != "any" || test.version == "1.1" {
        return Outcome::Skip("for XSD 1.1");
    }
    match expected(&test.expected) {
        Some(expected) => judge_file(
            expected,
            &files.join(&test.file),
            schema.unwrap_or_default(),
        ),
        None => Outcome::Skip("without a verdict for XSD 1.0"),
    }
}

fn judge_file(expected: Expected, file: &Path, schema: &[PathBuf]) -> Outcome {
    let Ok(bytes) = std::fs::read(file) else {
        return Outcome::Fail("the instance cannot be read".to_owned());
    };
    let document = match Document::new(file.to_string_lossy(), &bytes) {
        Ok(document) => document,
        Err(error) => return refused(expected, error.to_string()),
    };
    if document.text().contains("<!DOCTYPE") {
        return Outcome::Skip("with a document type declaration");
    }
    let set = match load_hinted(&document, schema) {
        Ok(set) => set,
        Err(error) if is_missing(&error) => {
            return Outcome::Skip("whose schema is not in the corpus");
        }
        Err(error) => return refused(expected, format!("no schema: {error}")),
    };
    if expected == Expected::Invalid && set.has_identity_constraints() {
        return Outcome::Skip("about identity constraints");
    }
    match (expected, first_violation(&set, &document)) {
        (Expected::Valid, Err(reason)) => {
            Outcome::Fail(format!("a valid instance is refused: {reason}"))
        }
        (Expected::Invalid, Ok(())) => Outcome::Fail("an invalid instance is taken".to_owned()),
        _ => Outcome::Pass,
    }
}

fn refused(expected: Expected, reason: String) -> Outcome {
    match expected {
        Expected::Invalid => Outcome::Pass,
        Expected::Valid => Outcome::Fail(format!("a valid instance is refused: {reason}")),
    }
}

fn is_missing(error: &Error) -> bool {
    matches!(error.kind(), ErrorKind::Load { .. })
}

/// The group's schemas and those that an instance itself points at; these need not be there.
fn load_hinted(instance: &Document, docs: &[PathBuf]) -> Result<SchemaSet, Error> {
    let tree = instance.parse(&LoadLimits::default())?;
    let root = tree.root_element();
    let pairs = root
        .attribute((XSI_NAMESPACE, "schemaLocation"))
        .unwrap_or("");
    let hints = pairs
        .split_ascii_whitespace()
        .skip(1)
        .step_by(2)
        .chain(root.attribute((XSI_NAMESPACE, "noNamespaceSchemaLocation")));
    let loader = Chain::new().then(FileLoader::anywhere()).then(WellKnown);
    let mut builder = SchemaSetBuilder::new(&loader, LoadLimits::default(), Strictness::Lenient);
    for doc in docs {
        builder.add_location(&doc.to_string_lossy())?;
    }
    for hint in hints {
        match builder.add_location(&resolve_location(instance.location(), hint)) {
            Err(error) if !docs.is_empty() && is_missing(&error) => {}
            other => other?,
        }
    }
    builder.finish()
}

fn first_violation(set: &SchemaSet, instance: &Document) -> Result<(), String> {
    let tree = instance
        .parse(&LoadLimits::default())
        .map_err(|error| error.to_string())?;
    let element = tree.root_element();
    let name = ExpandedName::new(
        element.tag_name().namespace().unwrap_or(""),
        element.tag_name().name(),
    );
    let mut compiler = Compiler::new(set).offering(Offers::All);
    let root = match (compiler.global_element(&name), stated_type(element)) {
        (Ok(root), _) => root,
        // Who names a type need not declare the element.
        (Err(_), Some(ty)) => {
            let ty = compiler
                .type_named(&ty)
                .map_err(|error| error.to_string())?;
            compiler.element_of_type(&name, ty, false, Role::Application)
        }
        (Err(error), None) => return Err(error.to_string()),
    };
    let compiled = compiler.finish().map_err(|error| error.to_string())?;
    let plan = compiled
        .builder
        .finish()
        .map_err(|error| error.to_string())?;
    let mut options = DecodeOptions::default();
    options.validation = Validation::Full;
    options.accepted = Tolerance::Strict.into();
    let mut decoder = Decoder::new(Arc::new(plan), options);
    let text = instance.text().as_bytes();
    if let Some(violation) = decoder.validate(root, text).first() {
        return Err(violation.to_string());
    }
    let record = decoder
        .decode(root, text)
        .map_err(|error| error.to_string())?;
    match record.wrong_identities(1).first() {
        Some(wrong) => Err(format!("{} at {}", wrong.problem, wrong.path)),
        None => Ok(()),
    }
}

/// The type that `xsi:type` names.
fn stated_type(element: roxmltree::Node<'_, '_>) -> Option<ExpandedName> {
    let stated = element.attribute((XSI_NAMESPACE, "type"))?.trim();
    let (prefix, local) = match stated.split_once(':') {
        Some((prefix, local)) => (Some(prefix), local),
        None => (None, stated),
    };
    Some(ExpandedName::new(
        element.lookup_namespace_uri(prefix).unwrap_or(""),
        local,
    ))
}
