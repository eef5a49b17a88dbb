//! `bsoap describe`: what a WSDL offers, on one readable page.

use std::fmt::Write as _;

use bsoap_schema::{Definitions, Operation, Port, without_credentials};
use serde_json::{Value, json};

use crate::error::Failure;
use crate::input::WsdlArguments;
use crate::output::Output;
use crate::style::{DIM, KIND, STRONG, paint};

/// Services, ports and operations of a WSDL with their signatures
///
/// In a signature, `name?` may be missing, `type[]` may repeat, `@name` is an attribute, `(a | b)` is one of them,
/// and `type*` has derived types that may be used instead.
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    #[command(flatten)]
    wsdl: WsdlArguments,
    /// Only these operations, with all that their messages carry
    #[arg(value_name = "OPERATION")]
    operations: Vec<String>,
    /// One JSON object
    #[arg(long)]
    json: bool,
}

/// Describes a WSDL.
pub(crate) fn run(arguments: &Arguments) -> Result<(), Failure> {
    let mut output = Output::new(arguments.json);
    let definitions = arguments.wsdl.load()?;
    for name in &arguments.operations {
        if definitions
            .ports()
            .all(|(_, port)| port.binding.operation(name).is_none())
        {
            let known = known(&definitions);
            return Err(Failure::no_operation(&arguments.wsdl.wsdl, name, &known));
        }
    }
    let wanted = |operation: &Operation| {
        arguments.operations.is_empty() || arguments.operations.contains(&operation.name)
    };
    if output.is_json() {
        return output.json(&as_json(&definitions, &wanted));
    }
    output.text(&as_text(
        &definitions,
        &wanted,
        !arguments.operations.is_empty(),
    ))
}

/// The names of all operations, each once.
pub(crate) fn known(definitions: &Definitions) -> Vec<&str> {
    let mut names: Vec<&str> = Vec::new();
    for (_, port) in definitions.ports() {
        for operation in &port.binding.operations {
            if !names.contains(&operation.name.as_str()) {
                names.push(&operation.name);
            }
        }
    }
    names
}

fn as_text(definitions: &Definitions, wanted: &dyn Fn(&Operation) -> bool, expand: bool) -> String {
    let mut text = String::new();
    documentation(&mut text, "", definitions.documentation());
    for service in definitions.services() {
        let _ = writeln!(
            text,
            "{} {}  {}",
            paint(DIM, "service"),
            paint(STRONG, &service.name),
            paint(DIM, &service.namespace)
        );
        documentation(&mut text, "  ", service.documentation.as_deref());
        let mut shown: Vec<&Port> = Vec::new();
        for port in &service.ports {
            let address = port.address.as_deref().unwrap_or("no address");
            let address = without_credentials(address);
            let version = port.binding.version.to_string();
            let _ = writeln!(
                text,
                "\n  {} {}  {}  {}",
                paint(DIM, "port"),
                paint(STRONG, &port.name),
                paint(KIND, &version),
                address
            );
            documentation(&mut text, "    ", port.documentation.as_deref());
            if let Some(twin) = shown
                .iter()
                .find(|twin| has_same_operations(definitions, twin, port))
            {
                let _ = writeln!(
                    text,
                    "    {}",
                    paint(DIM, &format!("the operations of port {}", twin.name))
                );
                continue;
            }
            for operation in port
                .binding
                .operations
                .iter()
                .filter(|operation| wanted(operation))
            {
                let _ = writeln!(text, "    {}", signature(definitions, operation));
                documentation(&mut text, "        ", operation.documentation.as_deref());
                if expand {
                    expanded(&mut text, definitions, operation);
                }
            }
            for operation in &port.binding.uncallable {
                let _ = writeln!(
                    text,
                    "    {}",
                    paint(
                        DIM,
                        &format!(
                            "{} (not callable: only the service can start it)",
                            operation.name
                        )
                    )
                );
            }
            shown.push(port);
        }
        text.push('\n');
    }
    if definitions.services().is_empty() {
        let _ = writeln!(text, "no service with a SOAP port");
    }
    for note in definitions.notes() {
        let _ = writeln!(text, "{}", paint(DIM, &format!("note: {note}")));
    }
    text
}

/// Ports that differ in the version of SOAP or the address only are described once.
fn has_same_operations(definitions: &Definitions, one: &Port, other: &Port) -> bool {
    let signatures = |port: &Port| -> Vec<String> {
        port.binding
            .operations
            .iter()
            .map(|operation| definitions.signature(operation))
            .collect()
    };
    one.binding.port_type == other.binding.port_type && signatures(one) == signatures(other)
}

fn signature(definitions: &Definitions, operation: &Operation) -> String {
    let signature = definitions.signature(operation);
    let rest = signature
        .strip_prefix(&operation.name)
        .unwrap_or(&signature);
    let way = if operation.output.is_none() {
        paint(DIM, "  one-way")
    } else {
        String::new()
    };
    format!("{}{rest}{way}", paint(STRONG, &operation.name))
}

fn expanded(text: &mut String, definitions: &Definitions, operation: &Operation) {
    let messages = [
        ("request", Some(&operation.input)),
        ("answer", operation.output.as_ref()),
    ];
    for (name, message) in messages
        .into_iter()
        .filter_map(|(name, message)| Some((name, message?)))
    {
        let _ = writeln!(text, "        {}", paint(DIM, name));
        for line in definitions.expanded(message).lines() {
            let _ = writeln!(text, "          {line}");
        }
    }
    for fault in &operation.faults {
        let _ = writeln!(text, "        {} {}", paint(DIM, "fault"), fault.name);
        documentation(text, "          ", fault.documentation.as_deref());
    }
}

/// Documentation, with its lines broken again.
fn documentation(text: &mut String, indent: &str, documentation: Option<&str>) {
    for line in documentation
        .unwrap_or_default()
        .lines()
        .map(str::trim)
        .filter(|line| !line.is_empty())
    {
        let _ = writeln!(text, "{indent}{}", paint(DIM, line));
    }
}

fn as_json(definitions: &Definitions, wanted: &dyn Fn(&Operation) -> bool) -> Value {
    let operation = |operation: &Operation| {
        json!({
            "name": operation.name,
            "signature": definitions.signature(operation),
            "soapAction": operation.soap_action,
            "oneWay": operation.output.is_none(),
            "documentation": operation.documentation,
            "faults": operation.faults.iter().map(|fault| &fault.name).collect::<Vec<_>>(),
        })
    };
    let port = |port: &Port| {
        let operations: Vec<Value> = port
            .binding
            .operations
            .iter()
            .filter(|one| wanted(one))
            .map(operation)
            .collect();
        json!({
            "name": port.name,
            "address": port.address.as_deref().map(without_credentials),
            "soap": port.binding.version.to_string(),
            "documentation": port.documentation,
            "operations": operations,
        })
    };
    let services = definitions.services().iter().map(|service| {
        json!({
            "name": service.name,
            "namespace": service.namespace,
            "documentation": service.documentation,
            "ports": service.ports.iter().map(port).collect::<Vec<_>>(),
        })
    });
    json!({
        "targetNamespace": definitions.target_namespace(),
        "documentation": definitions.documentation(),
        "services": services.collect::<Vec<_>>(),
        "notes": definitions.notes().iter().map(ToString::to_string).collect::<Vec<_>>(),
    })
}
