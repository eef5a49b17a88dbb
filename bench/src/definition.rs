//! Benchmark definitions: which workloads, for which engines, and what they show. Data, kept under
//! `bench/definitions/` and built into the binary.

use serde::Deserialize;

use crate::shape::Shape;

macro_rules! sources {
    ($($name:literal)*) => {
        &[$(($name, include_str!(concat!("../definitions/", $name, ".toml")))),*]
    };
}

/// The definitions, as they are in the repository.
const SOURCES: &[(&str, &str)] = sources!(
    "decode" "encode" "encoded-in" "encoded-out" "encoded-received" "encoded-sent" "api-in" "api-out" "json-in" "json-out" "rpc" "numbers" "arrays" "validate" "trie" "memory" "send" "ready" "receive" "window" "window-sent" "hints" "hints-given" "hints-served"
    "ds-fig01" "ds-fig02" "ds-fig03" "ds-fig04" "ds-fig05" "ds-fig06"
    "ds-fig07" "ds-fig08" "ds-fig09" "ds-fig10" "ds-fig11" "ds-fig12"
    "dds-fig2" "dds-fig3" "dds-fig4" "dds-fig5" "dds-table1"
);

/// The most values a case has in a quick run.
const QUICK: usize = 100;

/// One benchmark.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Definition {
    /// What it is called on the command line and in results.
    pub(crate) name: String,
    /// What an engine is asked to do.
    pub(crate) does: Task,
    /// What it shows.
    pub(crate) about: String,
    /// The engines that take part, where they are installed and can do it.
    #[serde(default)]
    engines: Vec<String>,
    /// Further engines, which take part only in a full run: they take long to build or to start.
    #[serde(default)]
    peers: Vec<String>,
    cases: Vec<Cases>,
}

/// What an engine is asked to do.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Task {
    /// Text into values.
    Decode,
    /// Values into text.
    Encode,
    /// Number kernels alone.
    Numbers,
    /// A stream of values, each message made ready and written to a connection.
    Send,
    /// The same, until a message is ready to be written.
    Ready,
    /// A stream of messages as text, each read into values.
    Receive,
    /// Calls to a server in another process.
    Call,
}

impl Task {
    /// As it is called in definitions and towards external engines.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Decode => "decode",
            Self::Encode => "encode",
            Self::Numbers => "numbers",
            Self::Send => "send",
            Self::Ready => "ready",
            Self::Receive => "receive",
            Self::Call => "call",
        }
    }
}

/// Shapes × numbers of values × scenarios.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Cases {
    shapes: Vec<Shape>,
    values: Vec<usize>,
    #[serde(default)]
    scenarios: Vec<String>,
    /// Instead of those of the definition.
    #[serde(default)]
    engines: Vec<String>,
}

/// One case of a benchmark.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Case {
    pub(crate) shape: Shape,
    pub(crate) values: usize,
    pub(crate) scenario: Option<String>,
    /// The engines that take part, where they are installed and can do it.
    pub(crate) engines: Vec<String>,
}

impl Case {
    /// `shape/N[/scenario]`
    pub(crate) fn name(&self) -> String {
        let Self {
            shape,
            values,
            scenario,
            ..
        } = self;
        match scenario {
            Some(scenario) => format!("{}/{values}/{scenario}", shape.name()),
            None => format!("{}/{values}", shape.name()),
        }
    }
}

impl Definition {
    /// All definitions, in the order in which they run.
    pub(crate) fn all() -> Result<Vec<Self>, String> {
        SOURCES
            .iter()
            .map(|(file, text)| {
                toml::from_str(text)
                    .map_err(|error| format!("bench/definitions/{file}.toml: {error}"))
            })
            .collect()
    }

    /// All engines that take part in some case.
    pub(crate) fn engines(&self) -> Vec<&str> {
        let named = self.cases.iter().flat_map(|cases| &cases.engines);
        let mut all: Vec<&str> = Vec::new();
        for name in self.engines.iter().chain(&self.peers).chain(named) {
            if !all.contains(&name.as_str()) {
                all.push(name);
            }
        }
        all
    }

    /// Its cases; only the small ones for a quick run.
    pub(crate) fn cases(&self, quick: bool) -> Vec<Case> {
        let mut all = Vec::new();
        let peers: &[String] = if quick { &[] } else { &self.peers };
        let usual = [&self.engines, peers].concat();
        for cases in &self.cases {
            let most = if quick { QUICK } else { usize::MAX };
            for &shape in &cases.shapes {
                for values in cases.values.iter().map(|&values| values.min(most)) {
                    let scenarios = if cases.scenarios.is_empty() {
                        vec![None]
                    } else {
                        cases.scenarios.iter().cloned().map(Some).collect()
                    };
                    for scenario in scenarios {
                        let case = Case {
                            shape,
                            values,
                            scenario,
                            engines: if cases.engines.is_empty() {
                                usual.clone()
                            } else {
                                cases.engines.clone()
                            },
                        };
                        if !all.contains(&case) {
                            all.push(case);
                        }
                    }
                }
            }
        }
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_definition_can_be_read_and_says_what_it_shows() {
        let all = Definition::all().unwrap();
        assert_eq!(all.len(), SOURCES.len());
        for definition in all {
            assert!(
                definition.about.len() > 200,
                "{} says too little",
                definition.name
            );
            assert!(!definition.cases(false).is_empty());
        }
    }

    #[test]
    fn a_quick_run_has_small_cases_of_every_shape() {
        for definition in Definition::all().unwrap() {
            let shapes = |quick| {
                let mut shapes: Vec<_> = definition
                    .cases(quick)
                    .iter()
                    .map(|case| case.shape)
                    .collect();
                shapes.dedup();
                shapes
            };
            assert_eq!(shapes(true), shapes(false));
            assert!(
                definition
                    .cases(true)
                    .iter()
                    .all(|case| case.values <= QUICK)
            );
        }
    }
}
