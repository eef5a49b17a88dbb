//! `--lenient` and `--strict`, and the warnings about what was accepted.

use bsoap_codec::DecodeOptions;
use bsoap_codec::decode::{Deviation, Deviations, Tolerance, Warning};
use serde_json::{Value, json};

use crate::input::line_and_column;
use crate::output::Output;
use crate::style::{STRONG, paint};

/// Which messages are accepted that do not follow the WSDL.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct ToleranceArguments {
    /// Accept all that can be read: skip elements and attributes that the WSDL does not have, and read an empty element as absent
    /// where its type, such as xs:int, does not allow empty text
    #[arg(long, conflicts_with = "strict")]
    lenient: bool,
    /// Accept only what the WSDL allows: no `nan` or `inf` for NaN or INF, no values that an enumeration does not list
    #[arg(long)]
    strict: bool,
    /// Accept this deviation besides those of the mode, by the name that warnings have in JSON, such as unknown-element; may be given
    /// several times
    #[arg(long, value_name = "DEVIATION", value_parser = deviation)]
    accept: Vec<Deviation>,
    /// Do not accept this deviation, whatever the mode is; may be given several times
    #[arg(long, value_name = "DEVIATION", value_parser = deviation)]
    refuse: Vec<Deviation>,
}

impl ToleranceArguments {
    /// The deviations that are accepted.
    pub(crate) fn accepted(&self) -> Deviations {
        let mode = match (self.lenient, self.strict) {
            (true, _) => Tolerance::Lenient,
            (_, true) => Tolerance::Strict,
            _ => Tolerance::Default,
        };
        let accepted = self.accept.iter().copied();
        let accepted = accepted.fold(Deviations::from(mode), Deviations::with);
        self.refuse
            .iter()
            .copied()
            .fold(accepted, Deviations::without)
    }

    /// How messages are decoded.
    pub(crate) fn options(&self) -> DecodeOptions {
        let mut options = DecodeOptions::default();
        options.accepted = self.accepted();
        options
    }
}

/// The deviation of this name.
fn deviation(given: &str) -> Result<Deviation, String> {
    let all = Deviation::ALL.iter();
    let found = all.clone().find(|one| one.name() == given);
    found.copied().ok_or_else(|| {
        let names: Vec<&str> = all.map(|one| one.name()).collect();
        format!("expected one of {}", names.join(", "))
    })
}

/// The warnings of a message as JSON.
pub(crate) fn json(warnings: &[Warning]) -> Value {
    let one = |warning: &Warning| {
        json!({
            "warning": warning.deviation().name(), "path": warning.path(), "byte": warning.offset(),
            "message": warning.kind().to_string(),
        })
    };
    warnings.iter().map(one).collect()
}

/// Prints the warnings of a message on standard error: as JSON if results are.
pub(crate) fn print(warnings: &[Warning], output: &Output) {
    if warnings.is_empty() {
        return;
    }
    if output.is_json() {
        return output.note(&json!({"warnings": json(warnings)}).to_string());
    }
    for warning in warnings {
        output.note(&format!("{} {warning}", paint(STRONG, "warning:")));
    }
}

/// Prints the warnings of a message called `name` on standard error, each with its line and column.
pub(crate) fn print_at(warnings: &[Warning], name: &str, text: &[u8], output: &Output) {
    for warning in warnings {
        let (line, column) = line_and_column(text, warning.offset());
        let location = format!("{name}:{line}:{column}:");
        output.note(&format!("{} warning: {warning}", paint(STRONG, &location)));
    }
}
