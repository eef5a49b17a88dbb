//! What a loaded WSDL offers.

use bsoap_codec::plan::{Content, ElementId, Plan, Role, Term};
use bsoap_schema::{
    Binding, Body, Definitions, LoadOptions, MemoryLoader, Operation, SoapVersion, Strictness,
    Style, TransmissionKind, load,
};

fn loader() -> MemoryLoader {
    let mut loader = MemoryLoader::default();
    loader.add("calculator.wsdl", include_str!("testdata/calculator.wsdl"));
    loader.add("styles.wsdl", include_str!("testdata/styles.wsdl"));
    loader.add("headers.wsdl", include_str!("testdata/headers.wsdl"));
    loader
}

fn definitions(location: &str) -> Definitions {
    Definitions::load(location, &loader()).unwrap()
}

fn binding(definitions: &Definitions) -> &Binding {
    &definitions.services()[0].ports[0].binding
}

/// A WSDL around these children of `definitions`.
fn wsdl(children: &str) -> String {
    format!(
        r#"<definitions targetNamespace="urn:t" xmlns="http://schemas.xmlsoap.org/wsdl/" xmlns:t="urn:t"
        xmlns:xsd="http://www.w3.org/2001/XMLSchema" xmlns:soap="http://schemas.xmlsoap.org/wsdl/soap/">
{children}
</definitions>"#
    )
}

fn error_of(children: &str, strictness: Strictness) -> String {
    let mut loader = MemoryLoader::default();
    loader.add("t.wsdl", wsdl(children));
    let mut options = LoadOptions::default();
    options.strictness = strictness;
    load("t.wsdl", &loader, &options).unwrap_err().to_string()
}

/// `{namespace}local` of the children of an element, in order, choices and groups opened; `any` for a wildcard.
fn children(plan: &Plan, element: ElementId) -> Vec<String> {
    let Content::Particle(particle) = plan.ty(plan.element(element).ty).content else {
        return Vec::new();
    };
    let mut waiting = vec![particle];
    let mut names = Vec::new();
    while let Some(particle) = waiting.pop() {
        match &plan.particle(particle).term {
            Term::Element(element) => names.push(name(plan, *element)),
            Term::Any(_) => names.push("any".to_owned()),
            _ => waiting.extend(plan.children_of(particle).iter().rev()),
        }
    }
    names
}

fn child(plan: &Plan, element: ElementId, local: &str) -> ElementId {
    let Content::Particle(particle) = plan.ty(plan.element(element).ty).content else {
        panic!("no children")
    };
    let mut waiting = vec![particle];
    while let Some(particle) = waiting.pop() {
        match plan.particle(particle).term {
            Term::Element(element)
                if plan.vocabulary().local(plan.element(element).name) == local =>
            {
                return element;
            }
            _ => waiting.extend(plan.children_of(particle)),
        }
    }
    panic!("no child {local}");
}

fn name(plan: &Plan, element: ElementId) -> String {
    let (vocabulary, name) = (plan.vocabulary(), plan.element(element).name);
    match vocabulary.namespace(name) {
        "" => vocabulary.local(name).to_owned(),
        namespace => format!("{{{namespace}}}{}", vocabulary.local(name)),
    }
}

fn part_names(operation: &Operation) -> Vec<&str> {
    operation
        .input
        .body
        .parts()
        .iter()
        .map(|part| part.name.as_str())
        .collect()
}

#[test]
fn a_service_has_its_ports_with_addresses_and_documentation() {
    let definitions = definitions("calculator.wsdl");
    assert_eq!(definitions.name(), Some("Calculator"));
    assert_eq!(definitions.target_namespace(), "urn:bsoap:calculator");
    assert_eq!(
        definitions.documentation(),
        Some("Adds and divides whole numbers.")
    );
    let service = definitions.service("Calculator").unwrap();
    assert_eq!(service.documentation.as_deref(), Some("At your service."));
    let ports: Vec<_> = service
        .ports
        .iter()
        .map(|port| {
            (
                port.name.as_str(),
                port.address.as_deref().unwrap(),
                port.binding.version,
            )
        })
        .collect();
    assert_eq!(
        ports,
        [
            (
                "CalculatorSoap",
                "http://localhost:8080/calculator",
                SoapVersion::Soap11
            ),
            (
                "CalculatorSoap12",
                "http://localhost:8080/calculator12",
                SoapVersion::Soap12
            )
        ]
    );
    let add = service.ports[0].binding.operation("Add").unwrap();
    assert_eq!(add.soap_action.as_deref(), Some("urn:bsoap:calculator#Add"));
    assert_eq!(
        add.documentation.as_deref(),
        Some("The sum of two numbers.")
    );
    assert_eq!(definitions.documents().len(), 1);
    assert!(definitions.notes().is_empty(), "{:?}", definitions.notes());
}

#[test]
fn an_envelope_has_the_operations_as_branches_of_its_body() {
    let definitions = definitions("calculator.wsdl");
    let plan = definitions.plan();
    for (_, port) in definitions.ports() {
        let binding = &port.binding;
        let soap = binding.version.envelope_namespace();
        assert_eq!(name(plan, binding.request), format!("{{{soap}}}Envelope"));
        assert_eq!(plan.element(binding.request).role, Role::Soap);
        assert_eq!(
            children(plan, binding.request),
            [format!("{{{soap}}}Header"), format!("{{{soap}}}Body")]
        );
        assert_eq!(
            children(plan, child(plan, binding.request, "Header")),
            ["any"]
        );
        let body = child(plan, binding.request, "Body");
        assert_eq!(
            children(plan, body),
            ["{urn:bsoap:calculator}Add", "{urn:bsoap:calculator}Divide"]
        );
        let body = child(plan, binding.response, "Body");
        let fault = format!("{{{soap}}}Fault");
        assert_eq!(
            children(plan, body),
            [
                "{urn:bsoap:calculator}AddResponse",
                "{urn:bsoap:calculator}DivideResponse",
                &fault
            ]
        );
        let divide = binding.operation("Divide").unwrap();
        assert_eq!(
            (divide.input.branch, divide.output.as_ref().unwrap().branch),
            (Some(1), Some(1))
        );
        assert_eq!(
            binding
                .requested_by(Some(1))
                .map(|operation| operation.name.as_str())
                .collect::<Vec<_>>(),
            ["Divide"]
        );
    }
}

#[test]
fn a_fault_lists_the_declared_details() {
    let definitions = definitions("calculator.wsdl");
    let plan = definitions.plan();
    let detail = ["{urn:bsoap:calculator}DivisionFault", "any"];
    let [soap11, soap12] = &definitions.services()[0].ports[..] else {
        panic!("two ports")
    };
    let fault = child(plan, child(plan, soap11.binding.response, "Body"), "Fault");
    assert_eq!(
        children(plan, fault),
        ["faultcode", "faultstring", "faultactor", "detail"]
    );
    assert_eq!(children(plan, child(plan, fault, "detail")), detail);
    let fault = child(plan, child(plan, soap12.binding.response, "Body"), "Fault");
    let locals = ["Code", "Reason", "Node", "Role", "Detail"]
        .map(|local| format!("{{http://www.w3.org/2003/05/soap-envelope}}{local}"));
    assert_eq!(children(plan, fault), locals);
    assert_eq!(children(plan, child(plan, fault, "Detail")), detail);
    let divide = soap11.binding.operation("Divide").unwrap();
    assert_eq!(divide.faults[0].name, "DivisionFault");
    assert_eq!(name(plan, divide.faults[0].detail.unwrap()), detail[0]);
}

#[test]
fn parts_become_a_body_as_the_style_says() {
    let definitions = definitions("styles.wsdl");
    let plan = definitions.plan();
    let binding = binding(&definitions);
    let operation = |name: &str| binding.operation(name).unwrap();
    let first = |name: &str| operation(name).input.body.first_element();

    assert!(
        matches!(operation("Wrapped").input.body, Body::Wrapped { wrapper } if name(plan, wrapper).ends_with("}point"))
    );
    assert!(
        matches!(
            operation("Wrapped").output.as_ref().unwrap().body,
            Body::Wrapped { .. }
        ),
        "no children are children too"
    );
    assert!(matches!(operation("Bare").input.body, Body::Bare { .. }));
    assert_eq!(part_names(operation("Bare")), ["text"]);
    assert_eq!(part_names(operation("TwoParts")), ["text", "point"]);
    assert_eq!(
        operation("TwoParts").output.as_ref().unwrap().body,
        Body::Empty
    );
    assert_eq!(operation("TwoParts").output.as_ref().unwrap().branch, None);
    assert_eq!(name(plan, first("ByType").unwrap()), "count");
    assert_eq!(operation("Empty").input.body, Body::Empty);
    assert!(operation("Empty").output.is_none());
    assert_eq!(operation("Empty").soap_action.as_deref(), Some(""));
    assert_eq!(operation("Bare").soap_action, None);

    let encoded = operation("Encoded");
    assert!(encoded.encoded && encoded.style == Style::Rpc);
    assert_eq!(
        name(plan, first("Encoded").unwrap()),
        "{urn:bsoap:styles}Encoded"
    );
    assert!(plan.element(encoded.input.body.parts()[0].element).nillable);
    assert_eq!(
        name(
            plan,
            encoded
                .output
                .as_ref()
                .unwrap()
                .body
                .first_element()
                .unwrap()
        ),
        "{urn:bsoap:styles}EncodedResponse"
    );
}

#[test]
fn operations_that_share_a_first_element_share_a_branch() {
    let definitions = definitions("styles.wsdl");
    let plan = definitions.plan();
    let binding = binding(&definitions);
    let (bare, two) = (
        binding.operation("Bare").unwrap(),
        binding.operation("TwoParts").unwrap(),
    );
    assert_eq!(bare.input.branch, two.input.branch);
    assert_eq!(binding.requested_by(bare.input.branch).count(), 2);

    let overloaded: Vec<_> = binding.operations_named("Add").collect();
    assert_eq!(
        overloaded
            .iter()
            .map(|one| part_names(one))
            .collect::<Vec<_>>(),
        [vec!["a", "b"], vec!["first", "b"]]
    );
    let wrappers: Vec<_> = overloaded
        .iter()
        .map(|one| one.input.body.first_element().unwrap())
        .collect();
    assert_eq!(wrappers[0], wrappers[1]);
    assert_eq!(name(plan, wrappers[0]), "{urn:bsoap:rpc}Add");
    assert_eq!(children(plan, wrappers[0]), ["a", "b", "first"]);
}

#[test]
fn what_only_the_service_can_start_is_listed_apart() {
    let definitions = definitions("styles.wsdl");
    let kinds: Vec<_> = binding(&definitions)
        .uncallable
        .iter()
        .map(|one| (one.name.as_str(), one.kind))
        .collect();
    assert_eq!(
        kinds,
        [
            ("Notify", TransmissionKind::Notification),
            ("Solicit", TransmissionKind::SolicitResponse)
        ]
    );
}

#[test]
fn what_is_passed_over_is_noted() {
    let definitions = definitions("styles.wsdl");
    assert!(binding(&definitions).operation("Broken").is_none());
    let notes: Vec<String> = definitions
        .notes()
        .iter()
        .map(ToString::to_string)
        .collect();
    for expected in [
        "styles.wsdl:11:3: the extension \"{urn:bsoap:unknown}policy\" is marked as required but not supported; it is ignored",
        "operation \"Broken\" is ignored: element \"types:missing\" is not defined",
        "port \"Get\" is ignored: its binding is not SOAP (extension namespace \"http://schemas.xmlsoap.org/wsdl/http/\")",
    ] {
        assert!(
            notes.iter().any(|note| note.contains(expected)),
            "{expected} is not in {notes:#?}"
        );
    }
    let strict = {
        let mut options = LoadOptions::default();
        options.strictness = Strictness::Strict;
        options
    };
    let error = load("styles.wsdl", &loader(), &strict)
        .unwrap_err()
        .to_string();
    assert_eq!(
        error,
        "element \"types:missing\" is not defined, referenced at styles.wsdl:49:54"
    );
}

#[test]
fn ports_of_one_binding_share_it() {
    let definitions = definitions("styles.wsdl");
    let ports: Vec<_> = definitions.ports().collect();
    assert_eq!(ports.len(), 2);
    assert!(std::sync::Arc::ptr_eq(
        &ports[0].1.binding,
        &ports[1].1.binding
    ));
}

#[test]
fn a_header_block_is_its_element_with_the_attributes_of_one() {
    let definitions = definitions("headers.wsdl");
    let plan = definitions.plan();
    let binding = binding(&definitions);
    let upload = binding.operation("Upload").unwrap();
    let headers: Vec<_> = upload
        .input
        .headers
        .iter()
        .map(|header| {
            (
                header.name.as_str(),
                name(plan, header.element),
                header.branch,
            )
        })
        .collect();
    assert_eq!(
        headers,
        [
            ("ticket", "{urn:bsoap:headers}Ticket".to_owned(), 0),
            ("session", "{urn:bsoap:headers}Session".to_owned(), 1)
        ]
    );
    let block = plan.element(upload.input.headers[1].element);
    assert_eq!(block.role, Role::HeaderBlock);
    let attributes = |ty| {
        plan.ty(ty)
            .attribute_ids()
            .map(|id| plan.vocabulary().local(plan.attribute(id).name))
            .collect::<Vec<_>>()
    };
    assert_eq!(
        attributes(block.ty),
        ["user", "mustUnderstand", "actor", "encodingStyle"]
    );
    let alternatives = &plan.ty(block.ty).alternatives;
    assert_eq!(alternatives.len(), 2);
    assert!(
        alternatives
            .iter()
            .all(|&ty| attributes(ty).contains(&"mustUnderstand")),
        "also where xsi:type is used"
    );

    let declared = definitions.element("urn:bsoap:headers", "Session").unwrap();
    assert_ne!(declared, upload.input.headers[1].element);
    assert_eq!(attributes(plan.element(declared).ty), ["user"]);
    assert_eq!(
        children(plan, child(plan, binding.response, "Header")),
        ["{urn:bsoap:headers}Expired", "any"]
    );
}

#[test]
fn header_parts_and_attachments_are_not_in_the_body() {
    let definitions = definitions("headers.wsdl");
    let upload = binding(&definitions).operation("Upload").unwrap();
    assert!(
        matches!(upload.input.body, Body::Wrapped { wrapper } if name(definitions.plan(), wrapper).ends_with("}Upload"))
    );
}

#[test]
fn wsdls_may_import_one_another_and_schemas() {
    let mut loader = MemoryLoader::default();
    loader.add(
        "service.wsdl",
        wsdl(r#"<import namespace="urn:t" location="parts/messages.wsdl"/>
        <binding name="B" type="t:P"><soap:binding transport="http://schemas.xmlsoap.org/soap/http"/>
          <operation name="O"><input><soap:body use="literal"/></input></operation></binding>
        <service name="S"><port name="P" binding="B"><soap:address location="http://localhost/"/></port></service>"#),
    );
    loader.add(
        "parts/messages.wsdl",
        wsdl(r#"<import namespace="urn:t" location="../service.wsdl"/><import namespace="urn:x" location="types.xsd"/>
        <message name="M"><part name="p" xmlns:x="urn:x" element="x:e"/></message>
        <portType name="P"><operation name="O"><input message="M"/></operation></portType>"#),
    );
    loader.add(
        "parts/types.xsd",
        r#"<schema xmlns="http://www.w3.org/2001/XMLSchema" targetNamespace="urn:x"><element name="e" type="int"/></schema>"#,
    );
    let definitions = Definitions::load("service.wsdl", &loader).unwrap();
    let operation = definitions.services()[0].ports[0]
        .binding
        .operation("O")
        .unwrap();
    assert_eq!(definitions.signature(operation), "O(p: xsd:int)");
    let locations: Vec<_> = definitions
        .documents()
        .iter()
        .map(|document| document.location().to_owned())
        .collect();
    assert_eq!(
        locations,
        ["service.wsdl", "parts/messages.wsdl", "parts/types.xsd"]
    );
}

#[test]
fn signatures_fit_on_a_line() {
    let definitions = definitions("styles.wsdl");
    let binding = binding(&definitions);
    let signature = |name: &str| definitions.signature(binding.operation(name).unwrap());
    assert_eq!(
        signature("Wrapped"),
        "Wrapped(x: xsd:double, y: xsd:double, unit?: more:Unit) -> ()"
    );
    assert_eq!(
        signature("TwoParts"),
        "TwoParts(text: xsd:string, point: types:Point) -> ()"
    );
    assert_eq!(signature("Empty"), "Empty()");
    assert_eq!(
        signature("Encoded"),
        "Encoded(a: xsd:int | nil, b: xsd:int | nil) -> sum: xsd:int | nil"
    );
}

#[test]
fn an_outline_has_a_line_for_each_member() {
    let definitions = definitions("styles.wsdl");
    let two = binding(&definitions).operation("TwoParts").unwrap();
    let expected = "text: xsd:string\npoint: types:Point {\n  x: xsd:double\n  y: xsd:double\n  unit?: more:Unit (\"m\" | \"ft\")\n}\n";
    assert_eq!(definitions.outline(&two.input).to_string(), expected);
}

#[test]
fn an_outline_has_header_blocks_by_their_parts_and_derived_types() {
    let definitions = definitions("headers.wsdl");
    let upload = binding(&definitions).operation("Upload").unwrap();
    let outline = definitions.outline(&upload.input);
    let expected = "header ticket: xsd:string\nheader session: tns:Session* (or tns:LongSession) {\n  @user?: xsd:string\n  id: xsd:long\n}\n\
        name: xsd:string\ntype tns:LongSession (derived from tns:Session) {\n  @user?: xsd:string\n  id: xsd:long\n  until: xsd:dateTime\n}\n";
    assert_eq!(outline.to_string(), expected);
    assert_eq!(
        (outline.headers[1].derived.as_slice(), outline.is_cut),
        (&["tns:LongSession".to_owned()][..], false)
    );
}

/// The outline of an element `e` of a schema with these components.
fn outline_of(components: &str) -> String {
    let mut loader = MemoryLoader::default();
    let schema = format!(
        "<schema xmlns='http://www.w3.org/2001/XMLSchema' targetNamespace='urn:x' xmlns:x='urn:x'>{components}</schema>"
    );
    loader.add("a.xsd", schema);
    let definitions = Definitions::load("a.xsd", &loader).unwrap();
    let element = definitions.element("urn:x", "e").unwrap();
    definitions.outline_of(element).to_string()
}

#[test]
fn an_outline_has_the_values_of_enumerations() {
    let listed = |values: std::ops::Range<usize>| -> String {
        values
            .map(|number| format!("<enumeration value='v{number}'/>"))
            .collect()
    };
    let restricted = |base: &str, values: &str| {
        format!("<simpleType><restriction base='{base}'>{values}</restriction></simpleType>")
    };
    let (few, numbers) = (
        restricted("string", &listed(0..2)),
        restricted("int", "<enumeration value='7'/>"),
    );
    for (simple, expected) in [
        (few.clone(), "e: xsd:string (\"v0\" | \"v1\")\n"),
        (
            format!("<simpleType><list>{few}</list></simpleType>"),
            "e: list of xsd:string (\"v0\" | \"v1\")\n",
        ),
        (
            format!("<simpleType><union>{few}{numbers}</union></simpleType>"),
            "e: xsd:anySimpleType (\"v0\" | \"v1\" | \"7\")\n",
        ),
        (
            format!(
                "<simpleType><union memberTypes='xs:int' xmlns:xs='http://www.w3.org/2001/XMLSchema'>{few}</union></simpleType>"
            ),
            "e: xsd:anySimpleType\n",
        ),
    ] {
        assert_eq!(
            outline_of(&format!("<element name='e'>{simple}</element>")),
            expected
        );
    }
    let many = outline_of(&format!(
        "<element name='e'>{}</element>",
        restricted("string", &listed(0..40))
    ));
    assert!(many.ends_with("\"v31\" | … 8 more)\n"), "{many}");
}

#[test]
fn an_outline_ends_where_a_type_contains_itself_or_is_too_large() {
    let recursive = "<complexType name='T'><sequence><element name='t' type='x:T' minOccurs='0'/></sequence></complexType><element name='e' type='x:T'/>";
    assert_eq!(outline_of(recursive), "e: x:T {\n  t?: x:T {…}\n}\n");
    let children: String = (0..500)
        .map(|number| format!("<element name='c{number}' type='int'/>"))
        .collect();
    let large = outline_of(&format!(
        "<element name='e'><complexType><sequence>{children}</sequence></complexType></element>"
    ));
    assert!(
        large.ends_with("}\n…\n") && large.lines().count() == 402,
        "{large}"
    );
}

#[test]
fn an_undeclared_prefix_is_reported_once_as_what_it_is() {
    let schema = "<types><xsd:schema targetNamespace='urn:t'><xsd:element name='r' type='x:T'/></xsd:schema></types>";
    let used = format!(
        "{schema}<message name='M'><part name='p' element='t:r'/></message><portType name='P'><operation name='O'><input message='t:M'/></operation></portType>\
         <binding name='B' type='t:P'><soap:binding/><operation name='O'><input><soap:body use='literal'/></input></operation></binding>\
         <service name='S'><port name='P' binding='t:B'/></service>"
    );
    assert_eq!(
        error_of(&used, Strictness::Lenient),
        "the prefix \"x\" of \"x:T\" is not declared at t.wsdl:3:72"
    );
    let mut loader = MemoryLoader::default();
    loader.add("t.wsdl", wsdl(schema));
    let definitions = Definitions::load("t.wsdl", &loader).unwrap();
    let notes: Vec<String> = definitions
        .notes()
        .iter()
        .map(ToString::to_string)
        .collect();
    assert_eq!(
        notes,
        ["t.wsdl:3:72: the prefix \"x\" of \"x:T\" is not declared"]
    );
}

#[test]
fn errors_say_what_was_looked_for_and_where() {
    let port = r#"<service name="S"><port name="P" binding="t:B"/></service>"#;
    let binding = r#"<binding name="B" type="t:P"><soap:binding/><operation name="O"/></binding>"#;
    let strict = |children: String| error_of(&children, Strictness::Strict);
    for (error, expected) in [
        (
            strict(port.to_owned()),
            "binding \"{urn:t}B\" is not defined, referenced at t.wsdl:3:43",
        ),
        (
            strict(format!("{binding}\n{port}")),
            "port type \"{urn:t}P\" is not defined, referenced at t.wsdl:3:25",
        ),
        (
            strict(format!("<portType name='P'/>{binding}{port}")),
            "port type \"{urn:t}P\" has no operation \"O\" (WSDL 1.1 §2.5) at t.wsdl:3:65",
        ),
        (
            strict("<message name='M'/><message name='M'/>".to_owned()),
            "message \"{urn:t}M\" is defined twice at t.wsdl:3:20",
        ),
        (
            strict("<import location='no.wsdl' namespace='urn:n'/>".to_owned()),
            "cannot load \"no.wsdl\": it is not known here, and fetching from the network is off (`Fetch::Anything`, `--fetch`) at t.wsdl:3:19",
        ),
        (
            error_of(
                "<service name='S'><port name='P' binding='x:B'/></service>",
                Strictness::Strict,
            ),
            "the attribute binding is \"x:B\", expected a name with a declared prefix (\"x\" is not declared) at t.wsdl:3:43",
        ),
        (
            error_of("<message/>", Strictness::Strict),
            "wsdl:message has no attribute name (WSDL 1.1 §2.1) at t.wsdl:3:1",
        ),
    ] {
        assert_eq!(error, expected);
    }
}

#[test]
fn a_document_that_is_no_wsdl_is_refused_by_name() {
    let mut loader = MemoryLoader::default();
    loader.add("page.html", "<html xmlns='http://www.w3.org/1999/xhtml'/>");
    let error = Definitions::load("page.html", &loader)
        .unwrap_err()
        .to_string();
    assert_eq!(
        error,
        "the root element is <html> of namespace \"http://www.w3.org/1999/xhtml\", expected <definitions> of WSDL 1.1 or <description> of WSDL 2.0 at page.html:1:1"
    );
}

#[test]
fn a_schema_alone_is_a_plan_without_services() {
    let mut loader = MemoryLoader::default();
    loader.add("a.xsd", r#"<schema xmlns="http://www.w3.org/2001/XMLSchema"><element name="e" type="int"/></schema>"#);
    let definitions = Definitions::load("a.xsd", &loader).unwrap();
    assert!(definitions.services().is_empty() && definitions.is_schema());
    assert!(definitions.element("", "e").is_some());
    assert!(!self::definitions("styles.wsdl").is_schema());
}

#[test]
fn a_strict_load_keeps_the_rules_of_the_basic_profile() {
    let wsdl = |style: &str, parts: &str| {
        format!(
            r#"<types><xsd:schema targetNamespace="urn:t"><xsd:element name="e" type="xsd:int"/></xsd:schema></types>
            <message name="M">{parts}</message>
            <portType name="P"><operation name="A"><input message="t:M"/></operation><operation name="B"><input message="t:M"/></operation></portType>
            <binding name="B" type="t:P"><soap:binding style="{style}" transport="http://schemas.xmlsoap.org/soap/http"/>
              <operation name="A"><input><soap:body use="literal"/></input></operation>
              <operation name="B"><input><soap:body use="literal"/></input></operation></binding>
            <service name="S"><port name="P" binding="t:B"/></service>"#
        )
    };
    for (style, parts, rule) in [
        ("document", r#"<part name="p" type="xsd:int"/>"#, "R2204"),
        ("rpc", r#"<part name="p" element="t:e"/>"#, "R2203"),
        ("document", r#"<part name="p" element="t:e"/>"#, "R2710"),
        (
            "document",
            r#"<part name="p" element="t:e"/><part name="q" element="t:e"/>"#,
            "R2210",
        ),
        (
            "document",
            r#"<part name="p" element="t:e" test="1"/>"#,
            "WSDL 1.1 §2.3",
        ),
    ] {
        let error = error_of(&wsdl(style, parts), Strictness::Strict);
        assert!(error.contains(rule), "{error}");
    }
}

#[test]
fn documents_loaded_once_are_compiled_again_with_other_options() {
    use bsoap_schema::{Loader, Offers, Source};
    /// Answers each location once, and one namespace once; what it answers lies elsewhere.
    struct Once(std::cell::RefCell<MemoryLoader>);
    impl Loader for Once {
        fn load(&self, location: &str) -> Result<Source, bsoap_schema::LoadError> {
            let source = self.0.borrow().load(location)?;
            self.0.borrow_mut().add(location, "gone");
            Ok(Source {
                location: format!("moved/{location}"),
                ..source
            })
        }
        fn load_namespace(&self, namespace: &str) -> Option<Source> {
            (namespace == "urn:n").then(|| self.load("n.xsd").unwrap())
        }
    }
    let mut memory = MemoryLoader::default();
    memory.add(
        "t.wsdl",
        wsdl(
            "<types><xsd:schema targetNamespace='urn:t' xmlns:n='urn:n'><xsd:import namespace='urn:n'/>
        <xsd:include schemaLocation='a.xsd'/>
        <xsd:element name='r'><xsd:complexType><xsd:sequence><xsd:element name='s' type='xsd:string'/><xsd:any/>
        <xsd:element ref='n:n'/></xsd:sequence></xsd:complexType></xsd:element></xsd:schema></types>",
        ),
    );
    memory.add(
        "moved/a.xsd",
        "<schema xmlns='http://www.w3.org/2001/XMLSchema' targetNamespace='urn:t'><simpleType name='word'>
        <restriction base='string'/></simpleType></schema>",
    );
    memory.add(
        "n.xsd",
        b"<?xml version='1.0' encoding='ISO-8859-1'?><schema xmlns='http://www.w3.org/2001/XMLSchema'
        targetNamespace='urn:n'><element name='n' type='int'/><!-- \xE4 --></schema>"
            .as_slice(),
    );
    let loader = Once(memory.into());
    let plain = load("t.wsdl", &loader, &LoadOptions::default()).unwrap();
    assert!(Definitions::load("t.wsdl", &loader).is_err());
    let mut options = LoadOptions::default();
    options.offers = Offers::All;
    let all = plain.reload(&options).unwrap();
    let text = |definitions: &Definitions| -> Vec<String> {
        let documents = definitions.documents().iter();
        documents.map(|one| one.text().to_owned()).collect()
    };
    assert_eq!(text(&all), text(&plain));
    assert_eq!(all.documents().len(), 3);
    assert_eq!(
        [&plain, &all].map(|definitions| {
            let root = definitions.element("urn:t", "r").unwrap();
            let plan = definitions.plan();
            let types = plan.ty(plan.element(child(plan, root, "s")).ty);
            (
                children(plan, root).contains(&name(plan, root)),
                types.alternatives.is_empty(),
            )
        }),
        [(false, true), (true, false)]
    );
}
