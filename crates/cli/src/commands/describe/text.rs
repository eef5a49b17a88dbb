//! The description of a WSDL as text, in lines of a given width.

use anstyle::Style;
use bsoap_schema::{
    Attached, Definitions, FaultMessage, Message, Operation, OtherPort, Outline, Policy, Port,
    ResponseEndpoints, Service, without_credentials,
};

use super::Wanted;
use crate::style::{DIM, KIND, STRONG, paint};
use crate::terminal::{NO_BREAK, in_one_line, wrapped};

/// How much the lines of a long entry are indented after the first one.
const HANGING: usize = 4;

/// A page that is being written.
pub(super) struct Page<'d> {
    definitions: &'d Definitions,
    width: usize,
    /// Whether documentation is printed in full, that of elements and types too.
    is_verbose: bool,
    text: String,
}

impl<'d> Page<'d> {
    pub(super) fn new(definitions: &'d Definitions, width: usize, is_verbose: bool) -> Self {
        Self {
            definitions,
            width,
            is_verbose,
            text: String::new(),
        }
    }

    /// The page about these operations. If they were selected, their messages are expanded.
    pub(super) fn text(mut self, wanted: &Wanted<'_>) -> String {
        self.documentation(0, self.definitions.documentation());
        for service in self.definitions.services() {
            self.service(service, wanted);
        }
        for note in self.definitions.notes() {
            self.wrapped(0, DIM, &format!("note: {note}"));
        }
        self.text
    }

    fn service(&mut self, service: &Service, wanted: &Wanted<'_>) {
        self.heading(
            0,
            &[
                (DIM, "service"),
                (STRONG, &service.name),
                (DIM, &service.namespace),
            ],
        );
        self.documentation(2, service.documentation.as_deref());
        let mut shown: Vec<&Port> = Vec::new();
        for port in &service.ports {
            self.text.push('\n');
            self.port(port);
            let is_twin = |twin: &&&Port| has_same_operations(self.definitions, twin, port);
            if let Some(twin) = shown.iter().find(is_twin) {
                let same = format!("the operations of port {}", twin.name);
                self.wrapped(4, DIM, &same);
                continue;
            }
            self.operations(port, wanted);
            shown.push(port);
        }
        for port in &service.other_ports {
            self.text.push('\n');
            self.other_port(port);
        }
        self.text.push('\n');
    }

    fn port(&mut self, port: &Port) {
        let address = port.address.as_deref().unwrap_or("no address");
        self.heading(
            2,
            &[
                (DIM, "port"),
                (STRONG, &port.name),
                (KIND, &port.binding.version.to_string()),
                (Style::new(), &without_credentials(address)),
            ],
        );
        self.documentation(4, port.documentation.as_deref());
        if !port.is_http() {
            let transport = &port.binding.transport;
            let why = format!("not callable: the transport is {transport:?}, not HTTP");
            self.wrapped(4, DIM, &why);
        }
        self.addressing(port);
        self.policies(4, port.policies.iter().chain(&port.binding.policies));
        if let Some(mtom) = port.mtom {
            let how = match mtom.is_required {
                true => "MTOM: required by a policy",
                false => "MTOM: possible, says a policy",
            };
            self.wrapped(4, DIM, how);
        }
    }

    /// Whether a port uses WS-Addressing.
    fn addressing(&mut self, port: &Port) {
        let Some(using) = port.addressing else {
            return;
        };
        let how = if using.is_required {
            "required"
        } else {
            "used"
        };
        let answers = match using.responses {
            ResponseEndpoints::Any => "",
            ResponseEndpoints::Anonymous => ", answers on the connection of the request only",
            ResponseEndpoints::NonAnonymous => ", answers to other endpoints only",
        };
        self.wrapped(4, DIM, &format!("{} is {how}{answers}", using.version));
    }

    /// The WS-Addressing actions of the messages of an operation.
    fn actions(&mut self, operation: &Operation) {
        let mut actions = vec![format!("action {}", operation.input.action)];
        if let Some(answer) = &operation.output {
            actions.push(format!("answer action {}", answer.action));
        }
        for fault in &operation.faults {
            actions.push(format!("action of fault {} {}", fault.name, fault.action));
        }
        for action in actions {
            self.wrapped(8, DIM, &action);
        }
    }

    fn other_port(&mut self, port: &OtherPort) {
        let address = port.address.as_deref().unwrap_or("no address");
        let address = without_credentials(address);
        self.heading(
            2,
            &[
                (DIM, "port"),
                (STRONG, &port.name),
                (Style::new(), &address),
            ],
        );
        self.documentation(4, port.documentation.as_deref());
        let why = match &port.protocol {
            Some(protocol) => format!("not callable: its binding is not SOAP ({protocol})"),
            None => "not callable: its binding is ignored, see the notes".to_owned(),
        };
        self.wrapped(4, DIM, &why);
    }

    /// The names of policies, of which only some have an effect.
    fn policies<'p>(&mut self, indent: usize, all: impl IntoIterator<Item = &'p Policy>) {
        let names = all.into_iter().map(|policy| policy.reference.as_deref());
        let names: Vec<&str> = names.map(|name| name.unwrap_or("inline")).collect();
        if !names.is_empty() {
            let line = format!(
                "policies (only WS-Addressing and MTOM are applied): {}",
                names.join(", ")
            );
            self.wrapped(indent, DIM, &line);
        }
    }

    fn operations(&mut self, port: &Port, wanted: &Wanted<'_>) {
        let operations = port.binding.operations.iter();
        for operation in operations.filter(|operation| wanted.has(operation)) {
            self.signature(operation);
            self.documentation(8, operation.documentation.as_deref());
            if port.addressing.is_some() || !wanted.are_all() {
                self.actions(operation);
            }
            self.policies(8, &operation.policies);
            match wanted.are_all() {
                true => self.names(port, operation),
                false => self.messages(operation),
            }
        }
        let uncallable = port.binding.uncallable.iter();
        for operation in uncallable.filter(|_| wanted.are_all()) {
            let why = format!(
                "{} (not callable: only the service can start it)",
                operation.name
            );
            self.wrapped(4, DIM, &why);
        }
    }

    fn signature(&mut self, operation: &Operation) {
        let mut signature = self.definitions.signature(operation);
        // A name stays with its type.
        for (spaced, kept) in [(": ", ":_"), ("-> ", "->_"), (" | nil", "_|_nil")] {
            signature = signature.replace(spaced, &kept.replace('_', &NO_BREAK.to_string()));
        }
        let mut lines = wrapped(&signature, 4, HANGING, self.width);
        if let Some(first) = lines.first_mut() {
            let name = paint(STRONG, &operation.name);
            *first = first.replacen(&operation.name, &name, 1);
        }
        if operation.output.is_none()
            && let Some(last) = lines.last_mut()
        {
            match last.chars().count() + 9 > self.width {
                true => lines.push(format!("        {}", paint(DIM, "one-way"))),
                false => last.push_str(&paint(DIM, "  one-way")),
            }
        }
        self.lines(&lines);
    }

    /// The names of the header blocks, attachments and faults of an operation.
    fn names(&mut self, port: &Port, operation: &Operation) {
        let headers = operation.input.headers.iter().map(|header| &*header.name);
        let answered = operation.output.iter().flat_map(|answer| &answer.headers);
        let answered = answered.map(|header| &*header.name);
        let faults = operation.faults.iter().map(|fault| &*fault.name);
        let attached = self.attachments(port, Some(&operation.input));
        let received = self.attachments(port, operation.output.as_ref());
        let lists = [
            ("headers", headers.collect::<Vec<_>>()),
            ("attachments", attached.iter().map(|it| &**it).collect()),
            ("answer headers", answered.collect()),
            (
                "answer attachments",
                received.iter().map(|it| &**it).collect(),
            ),
            ("faults", faults.collect()),
        ];
        let given = lists.iter().filter(|(_, names)| !names.is_empty());
        let given: Vec<String> = given
            .map(|(what, names)| format!("{what} {}", names.join(", ")))
            .collect();
        if !given.is_empty() {
            self.wrapped(8, DIM, &given.join("; "));
        }
    }

    /// The attachments of a message with their media types: parts, elements that refer to one, and binary elements of which the WSDL
    /// says so.
    fn attachments(&self, port: &Port, message: Option<&Message>) -> Vec<String> {
        let Some(message) = message else {
            return Vec::new();
        };
        let parts = message.attachments.iter();
        let parts = parts.map(|part| with_types(&part.name, &part.media_types.join(", ")));
        let outline = self.definitions.outline(message);
        let elements = outline.attached().into_iter();
        let elements = elements.filter(|(_, member)| {
            let is_declared = member.media_types.is_some() || port.mtom.is_some();
            is_declared || member.attached == Some(Attached::Reference)
        });
        let elements = elements.map(|(path, member)| {
            with_types(&path, member.media_types.as_deref().unwrap_or_default())
        });
        parts.chain(elements).collect()
    }

    /// All that the messages of an operation carry.
    fn messages(&mut self, operation: &Operation) {
        let answer = operation.output.as_ref();
        let messages = [("request", Some(&operation.input)), ("answer", answer)];
        for (name, message) in messages {
            if let Some(message) = message {
                self.wrapped(8, DIM, name);
                self.policies(10, &message.policies);
                self.outline(&self.definitions.outline(message));
                for part in &message.attachments {
                    let types = part.media_types.join(", ");
                    let line = format!("attachment {}", with_types(&part.name, &types));
                    self.wrapped(10, Style::new(), &line);
                }
            }
        }
        for fault in &operation.faults {
            self.fault(fault);
        }
    }

    fn fault(&mut self, fault: &FaultMessage) {
        self.heading(8, &[(DIM, "fault"), (Style::new(), &fault.name)]);
        self.documentation(10, fault.documentation.as_deref());
        self.policies(10, &fault.policies);
        if let Some(detail) = fault.detail {
            self.outline(&self.definitions.outline_of(detail));
        }
    }

    fn outline(&mut self, outline: &Outline) {
        for line in outline.lines() {
            let indent = 10 + line.depth * 2;
            self.wrapped(indent, Style::new(), &line.text);
            if self.is_verbose {
                self.documentation(indent + 2, line.documentation);
            }
        }
    }

    /// Documentation: shortened to a line, or line by line.
    fn documentation(&mut self, indent: usize, documentation: Option<&str>) {
        let documentation = documentation.unwrap_or_default().trim();
        if documentation.is_empty() {
            return;
        }
        if !self.is_verbose {
            let line = in_one_line(documentation, self.width.saturating_sub(indent));
            self.lines(&[format!("{:indent$}{}", "", paint(DIM, &line))]);
            return;
        }
        for line in documentation.lines().filter(|line| !line.trim().is_empty()) {
            let lines = wrapped(line, indent, 0, self.width);
            self.lines(
                &lines
                    .iter()
                    .map(|line| paint(DIM, line))
                    .collect::<Vec<_>>(),
            );
        }
    }

    /// Words in one line; those that do not fit begin a new one.
    fn heading(&mut self, indent: usize, words: &[(Style, &str)]) {
        let mut length = indent;
        let mut text = " ".repeat(indent);
        for (index, (style, word)) in words.iter().enumerate() {
            let (gap, own) = (index.min(2), word.chars().count());
            if length > indent && length + gap + own > self.width {
                length = indent + HANGING;
                text.push('\n');
                text.push_str(&" ".repeat(length));
            } else {
                length += gap;
                text.push_str(&" ".repeat(gap));
            }
            length += own;
            text.push_str(&paint(*style, word));
        }
        self.lines(&[text]);
    }

    fn wrapped(&mut self, indent: usize, style: Style, text: &str) {
        let lines = wrapped(text, indent, HANGING, self.width);
        let lines: Vec<String> = lines.iter().map(|line| paint(style, line)).collect();
        self.lines(&lines);
    }

    fn lines(&mut self, lines: &[String]) {
        for line in lines {
            self.text.push_str(line);
            self.text.push('\n');
        }
    }
}

/// A name with the media types that are expected, if any are.
fn with_types(name: &str, types: &str) -> String {
    match types {
        "" => name.to_owned(),
        types => format!("{name} ({types})"),
    }
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
