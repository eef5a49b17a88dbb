//! Benchmark definitions: which workloads, for which engines, and what they show. Data, kept under
//! `bench/definitions/` and built into the binary.

use serde::Deserialize;

use super::shape::Shape;

/// The definitions, as they stand in the repository.
const SOURCES: &[(&str, &str)] = &[
    (
        "decode.toml",
        include_str!("../../../../bench/definitions/decode.toml"),
    ),
    (
        "encode.toml",
        include_str!("../../../../bench/definitions/encode.toml"),
    ),
    (
        "numbers.toml",
        include_str!("../../../../bench/definitions/numbers.toml"),
    ),
    (
        "memory.toml",
        include_str!("../../../../bench/definitions/memory.toml"),
    ),
];

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
    pub(crate) engines: Vec<String>,
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
}

impl Task {
    /// As it is called in definitions and towards external engines.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Decode => "decode",
            Self::Encode => "encode",
            Self::Numbers => "numbers",
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
}

/// One case of a benchmark.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Case {
    pub(crate) shape: Shape,
    pub(crate) values: usize,
    pub(crate) scenario: Option<String>,
}

impl Case {
    /// `shape/N[/scenario]`
    pub(crate) fn name(&self) -> String {
        let Self {
            shape,
            values,
            scenario,
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
                toml::from_str(text).map_err(|error| format!("bench/definitions/{file}: {error}"))
            })
            .collect()
    }

    /// Its cases; only the small ones for a quick run.
    pub(crate) fn cases(&self, quick: bool) -> Vec<Case> {
        let mut all = Vec::new();
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
