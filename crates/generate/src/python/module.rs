//! The module as text.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use bsoap_schema::Definitions;

use super::layout::{alias, call, docstring, quoted};
use super::model::{
    Class, ClassId, Enumeration, Field, Interface, Member, Method, Occurs, Payload, Ty, Union,
};
use super::types::Types;
use super::{Options, embed};

pub(super) fn module(
    definitions: &Definitions,
    options: &Options,
    types: &Types<'_>,
    interfaces: &[Interface],
) -> String {
    let mut writer = Writer {
        types,
        options,
        out: String::new(),
        imports: BTreeSet::new(),
        aliases: BTreeMap::new(),
        shadowing: HashSet::new(),
    };
    writer.types();
    if options.client {
        interfaces.iter().for_each(|interface| {
            writer.client(interface, Kind::Sync);
            writer.client(interface, Kind::Async);
        });
    }
    if options.service {
        interfaces
            .iter()
            .for_each(|interface| writer.service(interface));
    }
    if options.embed {
        writer.wsdl(definitions);
    }
    writer.descriptions();
    if options.client || options.service {
        interfaces
            .iter()
            .for_each(|interface| writer.operations(interface));
    }
    writer.finish(definitions)
}

/// What a client is for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Sync,
    Async,
}

/// Writes a module.
struct Writer<'t> {
    types: &'t Types<'t>,
    options: &'t Options,
    out: String,
    /// What the module uses of the standard library and of the package.
    imports: BTreeSet<&'static str>,
    /// Other names of classes, for annotations in classes that have a field or a method of the name.
    aliases: BTreeMap<String, String>,
    /// The names of the fields or methods of the class that is being written.
    shadowing: HashSet<String>,
}

impl Writer<'_> {
    fn types(&mut self) {
        let types = self.types;
        for enumeration in &types.enumerations {
            self.enumeration(enumeration);
        }
        for id in self.order() {
            self.class(&types.classes[id]);
        }
        if !types.unions.is_empty() {
            self.line("");
        }
        for union in &types.unions {
            self.union(union);
        }
        for fault in &types.faults {
            self.shadowing = HashSet::from(["detail".to_owned()]);
            let about = fault.documentation.clone();
            let about = about.unwrap_or_else(|| format!("The fault `{}`.", fault.name));
            let detail = self.optional(&fault.ty, fault.nillable);
            self.uses("import bsoap");
            self.line("");
            self.line("");
            self.line(&format!("class {}(bsoap.Fault):", fault.exception));
            self.out += &docstring(4, &about);
            self.line("");
            self.line(&format!("    detail: {detail}"));
            self.line("");
            let arguments = [
                "self".to_owned(),
                "reason: str".to_owned(),
                format!("detail: {detail}"),
                "*".to_owned(),
                "code: str = \"Receiver\"".to_owned(),
            ];
            self.out += &call(4, "def __init__", &arguments, " -> None:");
            self.line("        super().__init__(reason, code=code, detail=detail)");
        }
    }

    fn line(&mut self, line: &str) {
        self.out += line;
        self.out.push('\n');
    }

    fn uses(&mut self, import: &'static str) {
        self.imports.insert(import);
    }

    fn enumeration(&mut self, enumeration: &Enumeration) {
        self.uses("import enum");
        self.line("");
        self.line("");
        self.line(&format!("class {}(enum.StrEnum):", enumeration.name));
        let about = enumeration.documentation.as_deref().unwrap_or_default();
        self.out += &docstring(
            4,
            match about.trim() {
                "" => "The values that the schema lists.",
                about => about,
            },
        );
        if !enumeration.values.is_empty() {
            self.line("");
        }
        for (name, value) in &enumeration.values {
            self.line(&format!("    {name} = {}", quoted(value)));
        }
    }

    /// The classes, each behind the one that it is derived from.
    fn order(&self) -> Vec<ClassId> {
        let classes = &self.types.classes;
        let mut order = Vec::with_capacity(classes.len());
        let mut is_there = vec![false; classes.len()];
        for id in 0..classes.len() {
            let bases = std::iter::successors(Some(id), |&id| classes[id].base);
            let mut chain: Vec<ClassId> = bases.take_while(|&id| !is_there[id]).collect();
            chain.reverse();
            chain.iter().for_each(|&id| is_there[id] = true);
            order.extend(chain);
        }
        order
    }

    fn class(&mut self, class: &Class) {
        self.uses("from dataclasses import dataclass");
        let base = match class.base {
            Some(base) => &self.types.classes[base].name,
            None => "typed.Struct",
        };
        self.line("");
        self.line("");
        self.line("@dataclass(kw_only=True, eq=False, repr=False, slots=True)");
        self.line(&format!("class {}({base}):", class.name));
        let about = class.documentation.clone();
        let about = about.filter(|text| !text.trim().is_empty());
        let about = about.unwrap_or_else(|| match &class.type_name {
            Some(name) => format!("`{name}`"),
            None => format!("`{}`", class.name),
        });
        let about = match class.is_abstract {
            true => {
                format!("{about}\n\nAbstract: a message has one of the classes derived from it.")
            }
            false => about,
        };
        self.out += &docstring(4, &about);
        let own = &class.fields[class.inherited..];
        self.shadowing = own.iter().map(|field| field.name.clone()).collect();
        if !own.is_empty() {
            self.line("");
        }
        for field in own {
            self.field(field);
        }
    }

    fn field(&mut self, field: &Field) {
        let annotation = self.annotation(&field.member);
        let default = match (field.member.occurs, field.member.nillable) {
            (Occurs::Once, false) => "",
            (Occurs::Many, _) => {
                self.uses("from dataclasses import field");
                " = field(default_factory=list)"
            }
            _ => " = None",
        };
        self.line(&format!("    {}: {annotation}{default}", field.name));
        let documentation = field.documentation.as_deref().unwrap_or_default().trim();
        if !documentation.is_empty() {
            self.out += &docstring(4, documentation);
        }
    }

    fn union(&mut self, union: &Union) {
        self.uses("from typing import TypeAlias");
        let classes = union.declared.into_iter();
        let classes = classes.chain(union.derived.iter().map(|(.., class)| *class));
        let names: Vec<String> = classes
            .map(|class| self.types.classes[class].name.clone())
            .collect();
        self.line("");
        self.out += &alias(&union.name, &names);
        let about = union.documentation.as_deref().unwrap_or_default().trim();
        if !about.is_empty() {
            self.out += &docstring(0, about);
        }
    }

    // --- annotations ---

    /// The name of a class in an annotation of the class that is being written.
    fn named(&mut self, name: &str) -> String {
        if !self.shadowing.contains(name) {
            return name.to_owned();
        }
        let alias = format!("_{name}Type");
        self.aliases.insert(alias.clone(), name.to_owned());
        alias
    }

    fn ty(&mut self, ty: &Ty) -> String {
        let types = self.types;
        match ty {
            Ty::Plain(name) | Ty::Number { one: name, .. } => {
                for (start, import) in [
                    ("datetime.", "import datetime"),
                    ("decimal.", "import decimal"),
                    ("bsoap.", "import bsoap"),
                ] {
                    if name.contains(start) {
                        self.uses(import);
                    }
                }
                (*name).to_owned()
            }
            Ty::List(item) => self.many(item, false),
            Ty::Class(id) => self.named(&types.classes[*id].name),
            Ty::Union(id) => self.named(&types.unions[*id].name),
            Ty::Enumeration(id) => {
                let name = self.named(&types.enumerations[*id].name);
                match self.options.closed_enumerations {
                    true => name,
                    false => format!("{name} | str"),
                }
            }
            Ty::Any => {
                self.uses("from typing import Any");
                "Any".to_owned()
            }
        }
    }

    fn many(&mut self, ty: &Ty, nillable: bool) -> String {
        match ty {
            Ty::Number { many, .. } if !nillable => (*many).to_owned(),
            _ => format!("list[{}]", self.optional(ty, nillable)),
        }
    }

    fn optional(&mut self, ty: &Ty, is_optional: bool) -> String {
        let one = self.ty(ty);
        match is_optional && *ty != Ty::Any {
            true => format!("{one} | None"),
            false => one,
        }
    }

    fn annotation(&mut self, member: &Member) -> String {
        match (member.occurs, member.nillable) {
            (Occurs::Many, nillable) => self.many(&member.ty, nillable),
            (Occurs::Optional, true) if member.ty != Ty::Any => {
                format!("{} | typed.Nil | None", self.ty(&member.ty))
            }
            (Occurs::Once, nillable) => self.optional(&member.ty, nillable),
            (Occurs::Optional, _) => self.optional(&member.ty, true),
        }
    }

    fn payload(&mut self, payload: Option<&Payload>) -> String {
        match payload {
            None | Some(Payload::Nothing) => "None".to_owned(),
            Some(Payload::Whole(ty)) => self.ty(ty),
            Some(Payload::Part(member)) => self.annotation(member),
        }
    }

    // --- descriptions ---

    /// What the runtime has to know of a type; `None` if its values stay as they are.
    fn target(&self, ty: &Ty) -> Option<String> {
        let types = self.types;
        match ty {
            Ty::Class(id) => Some(types.classes[*id].name.clone()),
            Ty::Union(id) => Some(format!("_{}", types.unions[*id].name)),
            Ty::Enumeration(id) => {
                let name = &types.enumerations[*id].name;
                Some(match self.options.closed_enumerations {
                    true => format!("typed.closed({name})"),
                    false => name.clone(),
                })
            }
            Ty::List(item) => self
                .target(item)
                .map(|target| format!("typed.items({target})")),
            Ty::Any => Some("typed.anything".to_owned()),
            Ty::Plain(_) | Ty::Number { .. } => None,
        }
    }

    fn member(&self, member: &Member) -> String {
        let function = match member.occurs {
            Occurs::Many => "typed.values",
            _ => "typed.value",
        };
        let mut arguments = vec![quoted(&member.key)];
        arguments.extend(self.target(&member.ty));
        if member.occurs == Occurs::Optional {
            arguments.push("optional=True".to_owned());
        }
        if member.nillable {
            arguments.push("nillable=True".to_owned());
        }
        format!("{function}({})", arguments.join(", "))
    }

    fn descriptions(&mut self) {
        let types = self.types;
        if types.classes.is_empty() {
            return;
        }
        self.line("");
        self.line("");
        self.line("# The members of messages that fields are.");
        self.line("");
        for union in &types.unions {
            let declared = union.declared.map(|id| types.classes[id].name.clone());
            let mut arguments = vec![declared.unwrap_or_else(|| "None".to_owned())];
            let derived = union.derived.iter().map(|(key, name, class)| {
                let class = &types.classes[*class].name;
                format!("({}, {}, {class})", quoted(key), quoted(name))
            });
            arguments.extend(derived);
            let head = format!("_{} = typed.Alternatives", union.name);
            self.out += &call(0, &head, &arguments, "");
        }
        for id in self.order() {
            let class = &types.classes[id];
            let own = &class.fields[class.inherited..];
            let mut arguments = vec![class.name.clone()];
            let members = own
                .iter()
                .map(|field| format!("{}={}", field.name, self.member(&field.member)));
            arguments.extend(members);
            self.out += &call(0, "typed.describe", &arguments, "");
        }
        for class in &types.classes {
            if let Some(name) = &class.type_name {
                let line = format!("{}.__bsoap_type__ = {}", class.name, quoted(name));
                self.line(&line);
            }
        }
        for fault in &types.faults {
            let keys = fault.keys.iter().map(|key| quoted(key));
            let keys = keys.collect::<Vec<_>>().join(", ");
            let mut arguments = vec![fault.exception.clone(), format!("({keys})")];
            arguments.extend(self.target(&fault.ty));
            let head = format!("_{} = typed.Fault", fault.exception);
            self.out += &call(0, &head, &arguments, "");
        }
    }

    fn message(&self, payload: Option<&Payload>) -> Option<String> {
        match payload {
            None | Some(Payload::Nothing) => None,
            Some(Payload::Whole(ty)) => Some(
                self.target(ty)
                    .unwrap_or_else(|| "typed.anything".to_owned()),
            ),
            Some(Payload::Part(member)) => Some(self.member(member)),
        }
    }

    fn operations(&mut self, interface: &Interface) {
        self.line("");
        self.shadowing.clear();
        let types = self.types;
        for method in &interface.methods {
            let (request, answer) = (
                self.payload(Some(&method.input)),
                self.payload(method.output.as_ref()),
            );
            let mut arguments = vec![quoted(&method.operation)];
            let input = self.message(Some(&method.input));
            arguments.extend(input.map(|one| format!("request={one}")));
            let output = self.message(method.output.as_ref());
            arguments.extend(output.map(|one| format!("answer={one}")));
            let class = |id: ClassId| &types.classes[id].name;
            arguments.extend(method.headers.map(|id| format!("headers={}", class(id))));
            let answer_headers = method.answer_headers;
            arguments.extend(answer_headers.map(|id| format!("answer_headers={}", class(id))));
            if !method.faults.is_empty() {
                let names = method.faults.iter();
                let names = names.map(|&id| format!("_{},", types.faults[id].exception));
                let names = names.collect::<Vec<_>>().join(" ");
                let names = match method.faults.len() {
                    1 => names,
                    _ => names.trim_end_matches(',').to_owned(),
                };
                arguments.push(format!("faults=({names})"));
            }
            let head = format!(
                "{}: typed.Operation[{request}, {answer}] = typed.Operation",
                method.constant
            );
            self.out += &call(0, &head, &arguments, "");
        }
    }

    // --- clients and services ---

    fn client(&mut self, interface: &Interface, kind: Kind) {
        let methods = interface.methods.iter();
        let own = methods.flat_map(|one| [Some(one.name.clone()), one.with_headers.clone()]);
        self.shadowing = own.flatten().collect();
        let (name, base, inner) = match kind {
            Kind::Sync => (&interface.client, "typed.TypedClient", "bsoap.Client"),
            Kind::Async => (
                &interface.async_client,
                "typed.TypedAsyncClient",
                "bsoap.AsyncClient",
            ),
        };
        self.line("");
        self.line("");
        self.line(&format!("class {name}({base}):"));
        let what = match kind {
            Kind::Sync => "A client",
            Kind::Async => "A client for asyncio",
        };
        let about = format!("{what} of `{}`.", interface.port_type);
        let documentation = interface.documentation.as_deref().unwrap_or_default();
        self.out += &docstring(4, &format!("{about}\n\n{documentation}"));
        if let Some(port) = &interface.port {
            self.line("");
            self.line(&format!("    _port = {}", quoted(port)));
        }
        if self.options.embed {
            self.uses("import bsoap");
            self.uses("from typing import Any");
            self.line("");
            let arguments = [
                "self".to_owned(),
                format!("source: {inner} | bsoap.Wsdl | str | None = None"),
                "/".to_owned(),
                "**options: Any".to_owned(),
            ];
            self.out += &call(4, "def __init__", &arguments, " -> None:");
            let about = format!(
                "A client of the embedded WSDL, or of another one, with the options of `{inner}`; or over such a client."
            );
            self.out += &docstring(8, &about);
            self.line("        super().__init__(wsdl() if source is None else source, **options)");
        }
        for method in &interface.methods {
            self.client_method(method, kind, false);
            if method.with_headers.is_some() {
                self.client_method(method, kind, true);
            }
        }
    }

    fn client_method(&mut self, method: &Method, kind: Kind, returns_headers: bool) {
        let types = self.types;
        let mut arguments = vec!["self".to_owned()];
        let has_request = !matches!(method.input, Payload::Nothing);
        if has_request {
            let request = self.payload(Some(&method.input));
            arguments.push(format!("request: {request}"));
        }
        if let Some(id) = method.headers {
            let headers = self.named(&types.classes[id].name);
            arguments.push("*".to_owned());
            arguments.push(format!("headers: {headers} | None = None"));
        }
        let mut answer = self.payload(method.output.as_ref());
        let answer_headers = method.answer_headers.filter(|_| returns_headers);
        let headers = answer_headers.map(|id| self.named(&types.classes[id].name));
        if let Some(headers) = &headers {
            answer = format!("tuple[{answer}, {headers}]");
        }
        let (def, wait) = match kind {
            Kind::Sync => ("def", ""),
            Kind::Async => ("async def", "await "),
        };
        let name = match (&method.with_headers, returns_headers) {
            (Some(name), true) => name,
            _ => &method.name,
        };
        self.line("");
        self.out += &call(
            4,
            &format!("{def} {name}"),
            &arguments,
            &format!(" -> {answer}:"),
        );
        let mut about = self.about(method);
        if returns_headers {
            about += "\n\nReturns the answer and its header blocks.";
        }
        if !method.faults.is_empty() {
            let names = method.faults.iter().map(|&id| &*types.faults[id].exception);
            about += &format!("\n\nRaises {}.", names.collect::<Vec<_>>().join(", "));
        }
        self.out += &docstring(8, &about);
        let mut given = vec![method.constant.clone()];
        given.push(if has_request { "request" } else { "None" }.to_owned());
        if method.headers.is_some() {
            given.push("headers".to_owned());
        } else if headers.is_some() {
            given.push("None".to_owned());
        }
        // The method runs in the module, where the class has its own name.
        given.extend(answer_headers.map(|id| types.classes[id].name.clone()));
        let function = match headers {
            Some(_) => "self._call_with_headers",
            None => "self._call",
        };
        let start = if answer == "None" { "" } else { "return " };
        self.out += &call(8, &format!("{start}{wait}{function}"), &given, "");
    }

    fn about(&self, method: &Method) -> String {
        let about = method.documentation.as_deref().unwrap_or_default().trim();
        match about {
            "" => format!("`{}`", method.operation),
            about => about.to_owned(),
        }
    }

    fn service(&mut self, interface: &Interface) {
        let types = self.types;
        let methods = interface.methods.iter();
        self.shadowing = methods.map(|method| method.name.clone()).collect();
        self.line("");
        self.line("");
        self.line(&format!("class {}:", interface.service));
        let about = match interface
            .documentation
            .as_deref()
            .unwrap_or_default()
            .trim()
        {
            "" => format!("A service of `{}`.", interface.port_type),
            about => about.to_owned(),
        };
        let about = format!(
            "{about}\n\nA service is a class derived from this one; its methods may be `async`. Operations without a method are answered with a fault."
        );
        self.out += &docstring(4, &about);
        for method in &interface.methods {
            let mut arguments = vec!["self".to_owned()];
            if !matches!(method.input, Payload::Nothing) {
                let request = self.payload(Some(&method.input));
                arguments.push(format!("request: {request}"));
            }
            if let Some(id) = method.headers {
                let headers = self.named(&types.classes[id].name);
                arguments.push(format!("headers: {headers}"));
            }
            let mut answer = self.payload(method.output.as_ref());
            if let Some(id) = method.answer_headers {
                let headers = self.named(&types.classes[id].name);
                answer = format!("{answer} | tuple[{answer}, {headers}]");
            }
            self.line("");
            let head = format!("def {}", method.name);
            let tail = format!(" -> typed.Answer[{answer}]:");
            self.out += &call(4, &head, &arguments, &tail);
            self.out += &docstring(8, &self.about(method));
            self.line("        raise NotImplementedError");
        }
        self.uses("import bsoap");
        self.line("");
        self.line("");
        let name = &interface.service;
        let arguments = [
            format!("implementation: {name}"),
            "service: bsoap.Service".to_owned(),
        ];
        let head = format!("def {}", interface.register);
        self.out += &call(0, &head, &arguments, " -> bsoap.Service:");
        self.out += &docstring(
            4,
            "Registers the methods of an implementation on a service.",
        );
        self.line("    return typed.serve(");
        self.line("        service,");
        self.line("        implementation,");
        self.line(&format!("        {name},"));
        self.line("        {");
        for method in &interface.methods {
            let line = format!("            {}: {},", quoted(&method.name), method.constant);
            self.line(&line);
        }
        self.line("        },");
        self.line("    )");
    }

    fn wsdl(&mut self, definitions: &Definitions) {
        self.uses("import bsoap");
        let (entry, lines) = embed::documents(definitions);
        self.line("");
        self.line("");
        self.line("def wsdl() -> bsoap.Wsdl:");
        let about = "The WSDL that this module was generated from, with all documents it refers to: nothing is read when it is loaded.";
        self.out += &docstring(4, about);
        self.line(&format!(
            "    return bsoap.Wsdl.from_documents({}, typed.unpack(_DOCUMENTS))",
            quoted(&entry)
        ));
        self.line("");
        self.line("");
        self.line("_DOCUMENTS = (");
        for line in lines {
            self.line(&format!("    \"{line}\""));
        }
        self.line(")");
    }

    /// The module with its head.
    fn finish(self, definitions: &Definitions) -> String {
        let location = definitions
            .documents()
            .first()
            .map_or("a WSDL", |document| document.location());
        let file = location.rsplit(['/', '\\']).next().unwrap_or(location);
        let about = format!(
            "Generated by `bsoap generate` from {file}. What is changed here is lost when it is generated again."
        );
        let mut head = docstring(0, &about);
        if self.out.lines().any(is_ambiguous) {
            head += "# ruff: noqa: E741\n";
        }
        head += "\nfrom __future__ import annotations\n";
        let (own, others): (Vec<&str>, Vec<&str>) =
            (self.imports.iter()).partition(|import| import.contains("bsoap"));
        let mut standard: Vec<String> = Vec::new();
        for import in others {
            // Names of one module are on one line, behind those that are imported whole.
            match (import.rsplit_once(' '), standard.last_mut()) {
                (Some((start, name)), Some(last))
                    if start.starts_with("from") && last.starts_with(start) =>
                {
                    *last += &format!(", {name}");
                }
                _ => standard.push(import.to_owned()),
            }
        }
        standard.sort_by_key(|line| line.starts_with("from"));
        let mut own: Vec<String> = own.into_iter().map(str::to_owned).collect();
        own.push("from bsoap import typed".to_owned());
        for group in [standard, own] {
            if !group.is_empty() {
                head += &format!("\n{}\n", group.join("\n"));
            }
        }
        let mut aliases = String::new();
        if !self.aliases.is_empty() {
            aliases += "\n# Classes by other names, for classes with a field or a method of the same name.\n";
            for (alias, name) in &self.aliases {
                aliases += &format!("{alias} = {name}\n");
            }
        }
        head + &self.out + &aliases
    }
}

/// Whether a line is a field that ruff takes for a mistyped digit.
fn is_ambiguous(line: &str) -> bool {
    ["    l: ", "    O: ", "    I: "]
        .iter()
        .any(|start| line.starts_with(start))
}
