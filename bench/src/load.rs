//! `load`: the time until a WSDL with all that it imports is read, compiled and ready for calls. The documents are in memory:
//! no disk is measured. The times are those of the processor: loading uses one thread.

use std::path::{Path, PathBuf};

use bsoap_schema::{Chain, Definitions, FileLoader, MemoryLoader, WellKnown};
use bsoap_testkit::giant;
use serde_json::json;

use crate::clock::Watch;
use crate::measure::quantile;
use crate::report;
use crate::run::Failure;

/// The name on the command line.
pub(crate) const NAME: &str = "load";

/// What is loaded: the WSDLs, and how many operations they must have together.
struct Case {
    name: &'static str,
    wsdls: Vec<String>,
    loader: MemoryLoader,
    operations: usize,
}

/// Loads each WSDL whose case matches again and again, and reports the median.
///
/// # Errors
/// If the corpus cannot be read, or what was loaded lacks an operation.
pub(crate) fn run(cases: &glob::Pattern, quick: bool, is_json: bool) -> Result<(), Failure> {
    let runs = if quick { 3 } else { 21 };
    for case in all()?.iter().filter(|case| cases.matches(case.name)) {
        let operations = case.load()?;
        if operations != case.operations {
            let expected = case.operations;
            let problem = format!(
                "{}: {operations} operations, expected {expected}",
                case.name
            );
            return Err(Failure::Engine(problem));
        }
        let mut times = Vec::with_capacity(runs);
        for _ in 0..runs {
            let watch = Watch::start();
            case.load()?;
            times.push(watch.taken().cpu.as_nanos() as f64);
        }
        report::line(&line(case, &times, is_json))?;
    }
    Ok(())
}

fn line(case: &Case, times: &[f64], is_json: bool) -> String {
    let at = |share| quantile(times.to_vec(), share);
    let (median, spread) = (at(0.5), (at(0.9) - at(0.1)) / at(0.5));
    if is_json {
        return json!({
            "bench": NAME, "case": case.name, "engine": "bsoap", "ns": median.round(), "operations": case.operations,
            "runs": times.len(), "spread": (spread * 1e3).round() / 1e3, "checked": true,
        })
        .to_string();
    }
    let milliseconds = median / 1e6;
    format!(
        "{milliseconds:>9.2} ms  {:<16} {} runs, spread {spread:.2}",
        case.name,
        times.len()
    )
}

fn all() -> Result<Vec<Case>, Failure> {
    let onvif = |name, wsdls: &[&str], operations| {
        let folder = corpus().join("onvif");
        let files = FileLoader::anywhere();
        let wsdls: Vec<String> = wsdls
            .iter()
            .map(|wsdl| folder.join(wsdl).to_string_lossy().into_owned())
            .collect();
        let mut loader = MemoryLoader::default();
        for wsdl in &wsdls {
            let from = Chain::new().then(files.clone()).then(WellKnown);
            let definitions = Definitions::load(wsdl, &from);
            let definitions = definitions.map_err(|error| Failure::Input(error.to_string()))?;
            for document in definitions.documents() {
                loader.add(document.location(), document.text());
            }
        }
        Ok::<_, Failure>(Case {
            name,
            wsdls,
            loader,
            operations,
        })
    };
    let mut loader = MemoryLoader::default();
    loader.add("giant.wsdl", giant::wsdl());
    let set = [
        "devicemgmt.wsdl",
        "media.wsdl",
        "events.wsdl",
        "imaging.wsdl",
    ];
    let mut all = vec![Case {
        name: "giant",
        wsdls: vec!["giant.wsdl".to_owned()],
        loader,
        operations: giant::OPERATIONS,
    }];
    match corpus().is_dir() {
        true => all.extend([
            onvif("onvif/device", &set[..1], 82)?,
            onvif("onvif/set", &set, 82 + 79 + 6 + 8)?,
        ]),
        false => report::note("the WSDLs of ONVIF are left out: there is no corpus (BSOAP_CORPUS)"),
    }
    Ok(all)
}

impl Case {
    /// Loads the WSDLs. Returns how many operations they have.
    fn load(&self) -> Result<usize, Failure> {
        let mut operations = 0;
        for wsdl in &self.wsdls {
            let definitions = Definitions::load(wsdl, &self.loader);
            let definitions = definitions.map_err(|error| Failure::Engine(error.to_string()))?;
            let ports = definitions.ports();
            operations += ports
                .map(|(_, port)| port.binding.operations.len())
                .sum::<usize>();
        }
        Ok(operations)
    }
}

fn corpus() -> PathBuf {
    match std::env::var_os("BSOAP_CORPUS") {
        Some(root) => root.into(),
        None => Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/corpus"),
    }
}
