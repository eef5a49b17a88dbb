//! Generated code, as it is committed under `generated/` and in `bench/`: it is what the generator writes today, and it goes round.
//!
//! `BSOAP_BLESS=1 cargo test -p bsoap-generate` writes it again.

use std::path::Path;

use bsoap::protocol::{Code, Name};
use bsoap::typed::Declared;
use bsoap::{CallOptions, Client, Error, Fault, HexOctets, Message, Nillable, Octets, Service};
use bsoap_generate::{Dates, Decimals, Options, generate};
use bsoap_schema::{Chain, Definitions, FileLoader, WellKnown};

mod calculator {
    include!("generated/calculator.rs");
}

mod encoded {
    include!("generated/encoded.rs");
}

mod kitchen {
    include!("generated/kitchen.rs");
}

use kitchen::*;

const ENCODED: &str = include_str!("../../protocol/tests/testdata/encoded.wsdl");
const KITCHEN: &str = include_str!("testdata/kitchen.wsdl");
const CALCULATOR: &str = include_str!("testdata/calculator.wsdl");

#[test]
fn the_committed_code_is_what_is_generated() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut serde = Options::default();
    serde.derives = vec!["serde::Serialize".into(), "serde::Deserialize".into()];
    serde.service = false;
    serde.dates = Dates::Chrono;
    serde.decimals = Decimals::RustDecimal;
    serde.embed = true;
    let with_serde = (
        "crates/generate/tests/testdata/kitchen.wsdl",
        "crates/generate/tests/generated/kitchen_serde.rs",
    );
    let pairs = [
        (
            "crates/generate/tests/testdata/calculator.wsdl",
            "crates/generate/tests/generated/calculator.rs",
        ),
        (
            "crates/generate/tests/testdata/kitchen.wsdl",
            "crates/generate/tests/generated/kitchen.rs",
        ),
        (
            "crates/protocol/tests/testdata/encoded.wsdl",
            "crates/generate/tests/generated/encoded.rs",
        ),
        ("bench/bench.wsdl", "bench/src/generated.rs"),
        (
            "examples/mesh/mesh.wsdl",
            "crates/bsoap/examples/typed/mesh.rs",
        ),
        (
            "examples/telemetry/telemetry.wsdl",
            "crates/bsoap/examples/telemetry/telemetry.rs",
        ),
    ];
    let pairs = pairs.map(|pair| (pair, Options::default()));
    for ((wsdl, name), options) in pairs.into_iter().chain([(with_serde, serde)]) {
        let wsdl = root.join(wsdl);
        let loader = Chain::new().then(FileLoader::anywhere()).then(WellKnown);
        let definitions = Definitions::load(&wsdl.to_string_lossy(), &loader).unwrap();
        let code = generate(&definitions, &options).unwrap();
        let file = root.join(name);
        if std::env::var_os("BSOAP_BLESS").is_some() {
            std::fs::write(&file, &code).unwrap();
        }
        assert!(
            std::fs::read_to_string(&file).unwrap() == code,
            "{name} is stale: BSOAP_BLESS=1 writes it again"
        );
    }
}

struct Adder;

impl calculator::Calculator for Adder {
    async fn add(
        &self,
        request: calculator::Add,
        _: Message,
    ) -> Result<calculator::AddResponse, Fault> {
        Ok(calculator::AddResponse {
            result: request.a + request.b,
        })
    }

    async fn divide(
        &self,
        request: calculator::Divide,
        _: Message,
    ) -> Result<calculator::DivideResponse, calculator::DivideError<Fault>> {
        let divisor = request.divisor.unwrap_or(1);
        if divisor == 0 {
            let detail = calculator::DivisionFault {
                dividend: request.dividend,
            };
            let fault =
                Fault::sender("the divisor is zero").with_subcode(Name::new("urn:c", "Zero"));
            return Err(Declared::new(fault, detail).into());
        }
        Ok(calculator::DivideResponse {
            quotient: request.dividend / divisor,
            remainder: request.dividend % divisor,
        })
    }
}

/// Serves, and gives a client of the port of this number.
async fn client_of(wsdl: &'static str, builder: bsoap::ServiceBuilder, port: usize) -> Client {
    let service = builder.build().unwrap().bind("127.0.0.1:0").await.unwrap();
    let definitions = Client::from_wsdl(wsdl).unwrap().definitions().clone();
    let name = definitions.services()[0].ports[port].name.clone();
    let client = Client::builder(wsdl)
        .port(name)
        .endpoint(&service.urls()[port])
        .build()
        .unwrap();
    tokio::spawn(service.run(std::future::pending()));
    client
}

#[tokio::test]
async fn a_generated_client_calls_a_generated_service_over_either_soap() {
    for port in [0, 1] {
        let builder = calculator::serve_calculator(Adder, Service::builder(CALCULATOR));
        let client =
            calculator::CalculatorClient::new(client_of(CALCULATOR, builder, port).await).unwrap();
        let answer = client.add(&calculator::Add { a: 2, b: 40 }).await.unwrap();
        assert_eq!(answer.result, 42);
        let request = calculator::Divide {
            dividend: 7,
            divisor: Some(2),
        };
        let answer = client.divide(&request).await.unwrap();
        assert_eq!(
            answer,
            calculator::DivideResponse {
                quotient: 3,
                remainder: 1
            }
        );
        let request = calculator::Divide {
            dividend: 7,
            divisor: Some(0),
        };
        let error = client.divide(&request).await.unwrap_err();
        let source = std::error::Error::source(&error).expect("the fault");
        assert_eq!(source.to_string(), "Sender/Zero: the divisor is zero");
        match error {
            calculator::DivideError::DivisionFault(declared) => {
                assert_eq!(declared.dividend, 7);
                let fault = declared.fault();
                assert_eq!(
                    (&fault.code, fault.reason()),
                    (&Code::Sender, "the divisor is zero")
                );
            }
            calculator::DivideError::Other(error) => panic!("{}", error.report()),
        }
    }
}

#[test]
fn enumerations_are_read_and_shown_as_they_are_written() {
    let listed: Vec<String> = Heat::LISTED.iter().map(Heat::to_string).collect();
    assert_eq!(listed, ["low", "medium-high", "3"]);
    assert_eq!("medium-high".parse(), Ok(Heat::MediumHigh));
    assert_eq!(Heat::from("very"), Heat::Other("very".to_owned()));
    assert_eq!(format!("{:>5}", Heat::Low), "  low");
}

#[test]
fn code_for_another_wsdl_is_refused() {
    let client = Client::from_wsdl(KITCHEN).unwrap();
    let error = calculator::CalculatorClient::new(client).unwrap_err();
    assert!(
        error
            .report()
            .contains("the code was generated for another schema"),
        "{}",
        error.report()
    );
}

struct Cook1;

impl Kitchen for Cook1 {
    async fn cook(
        &self,
        request: Cook,
        message: Message,
    ) -> Result<CookResponse, CookError<Fault>> {
        match request.recipe.title.as_str() {
            "burnt" => Err(Burnt { minutes: 7 }.into()),
            "gone" => Err(CookError::Gone("for ever".to_owned().into())),
            // A handler may end with any fault.
            "ticket" => Err(Fault::sender(format!("{:?}", message.headers())))?,
            _ => Ok(CookResponse {
                recipe: request.recipe,
            }),
        }
    }

    async fn sharpen(&self, request: AnyTool, _: Message) -> Result<AnyTool, Fault> {
        Ok(request)
    }

    async fn maybe(&self, request: Option<i32>, _: Message) -> Result<Option<i32>, Fault> {
        Ok(request)
    }

    async fn both(&self, request: BothRequest, _: Message) -> Result<String, Fault> {
        Ok(format!("{} {:?}", request.words, request.maybe))
    }

    async fn sum(&self, request: Sum, _: Message) -> Result<SumResponse, Fault> {
        Ok(SumResponse {
            sum: f64::from(request.a) + request.r#match.iter().sum::<f64>(),
        })
    }

    async fn r#loop(&self, _: Message) -> Result<(), Fault> {
        Ok(())
    }

    async fn clean(&self, _: Message) -> Result<(), Fault> {
        Ok(())
    }

    async fn print(&self, request: Print, message: Message) -> Result<PrintResponse, Fault> {
        let headers: PrintHeaders = message.unpack_headers()?;
        let number = headers.ticket.map_or(0, |ticket| ticket.number);
        let receipt = ReceiptBlock {
            at: bsoap::types::DateTime::from_timestamp(number.into(), 0).unwrap(),
            ..ReceiptBlock::default()
        };
        message.set_answer_header_typed("receipt", &receipt)?;
        if headers.queue.is_nil() {
            message.set_answer_header("queue", bsoap::Value::Nil)?;
        }
        Ok(PrintResponse {
            label: request.label,
        })
    }
}

async fn kitchen() -> KitchenClient {
    let builder = serve_kitchen(Cook1, Service::builder(KITCHEN));
    KitchenClient::new(client_of(KITCHEN, builder, 0).await).unwrap()
}

fn plain() -> Recipe {
    Recipe {
        id: "r1".to_owned(),
        title_attribute: None,
        title: "soup".to_owned(),
        r#type: None,
        heat: Heat::MediumHigh,
        portions: None,
        note: Nillable::Absent,
        rating: Vec::new(),
        weights: Vec::new(),
        more_weights: None,
        base: None,
        variation: Vec::new(),
        choice: RecipeChoice::Minutes(5),
        choice2: Vec::new(),
        group: None,
        tool: None,
        knife: Nillable::Absent,
        photo: None,
        source: RecipeSource {
            value: "urn:book".to_owned(),
            page: None,
            value_attribute: "v".to_owned(),
            weights: None,
            any_attribute: String::new(),
        },
        size: None,
        text: None,
        empty: RecipeEmpty {},
        any: None,
    }
}

fn full() -> Recipe {
    let knife = Knife {
        name: "K".to_owned(),
        length: 0.25,
    };
    let inside = vec![
        AnyTool::Knife(knife.clone()),
        AnyTool::Box(Box2 {
            name: "b".to_owned(),
            inside: Vec::new(),
        }),
    ];
    Recipe {
        title_attribute: Some("T & t".to_owned()),
        r#type: Some("<type>".to_owned()),
        heat: Heat::V3,
        portions: Some(4),
        note: Nillable::Nil,
        rating: vec![Some(1), None, Some(-3)],
        weights: vec![1.5, f64::INFINITY],
        more_weights: Some(Vec::new()),
        base: Some(Box::new(plain())),
        variation: vec![
            plain(),
            Recipe {
                choice: RecipeChoice::Like(Box::new(plain())),
                ..plain()
            },
        ],
        choice: RecipeChoice::Group(RecipeChoiceGroup {
            from: "10:00:00+01:00".parse().unwrap(),
            to: Some("11:00:00".parse().unwrap()),
        }),
        choice2: vec![
            RecipeChoice2::Add("salt".to_owned()),
            RecipeChoice2::Wait(60),
            RecipeChoice2::Add("oil".to_owned()),
        ],
        group: Some(RecipeGroup {
            oven: true,
            degrees: "180.5".parse().unwrap(),
        }),
        tool: Some(AnyTool::Box(Box2 {
            name: "box".to_owned(),
            inside,
        })),
        knife: Nillable::Value(AnyTool::Knife(knife)),
        photo: Some(Octets(vec![0, 1, 255])),
        source: RecipeSource {
            page: Some(3),
            weights: Some(vec![2.0]),
            ..plain().source
        },
        size: Some(RecipeSize {
            width: 1.0,
            height: None,
            depth: None,
        }),
        text: Some(RecipeText {
            content: vec![
                RecipeTextContent::Text("a ".to_owned()),
                RecipeTextContent::B("bold".to_owned()),
                RecipeTextContent::Text(" c".to_owned()),
                RecipeTextContent::Text2(9),
            ],
        }),
        any: Some("<x xmlns=\"urn:x\">y</x>".to_owned()),
        ..plain()
    }
}

#[tokio::test]
async fn every_kind_of_type_goes_round() {
    let client = kitchen().await;
    let headers = CookHeaders::default();
    let nil_knife = Recipe {
        knife: Nillable::Nil,
        note: Nillable::Value("n".to_owned()),
        ..plain()
    };
    for recipe in [
        plain(),
        full(),
        nil_knife,
        Recipe {
            choice: RecipeChoice::Until("2024-01-01T00:00:00Z".parse().unwrap()),
            ..full()
        },
    ] {
        let answer = client
            .cook(
                &Cook {
                    recipe: recipe.clone(),
                },
                &headers,
            )
            .await;
        assert_eq!(answer.map_err(report), Ok(CookResponse { recipe }));
    }
}

#[tokio::test]
async fn values_that_the_schema_does_not_list_are_not_sent() {
    let heat = Heat::Other("very".to_owned());
    let recipe = Recipe { heat, ..plain() };
    let sent = kitchen()
        .await
        .cook(&Cook { recipe }, &CookHeaders::default());
    let error = report(sent.await.unwrap_err());
    assert!(
        error.contains("\"very\" is not one of low, medium-high, 3 at "),
        "{error}"
    );
}

fn report(error: CookError<Error>) -> String {
    match error {
        CookError::Other(error) => error.report(),
        declared => declared.to_string(),
    }
}

#[tokio::test]
async fn every_style_of_body_goes_round() {
    let client = kitchen().await;
    let knife = AnyTool::Knife(Knife {
        name: "K".to_owned(),
        length: 1.0,
    });
    assert_eq!(client.sharpen(&knife).await.unwrap(), knife);
    assert_eq!(client.maybe(&Some(3)).await.unwrap(), Some(3));
    assert_eq!(client.maybe(&None).await.unwrap(), None);
    let both = BothRequest {
        words: "w".to_owned(),
        maybe: Some(1),
    };
    assert_eq!(client.both(&both).await.unwrap(), "w Some(1)");
    assert_eq!(
        client
            .sum(&Sum {
                a: 1,
                r#match: vec![0.5, 2.0]
            })
            .await
            .unwrap()
            .sum,
        3.5
    );
    client.r#loop().await.unwrap();
    client.clean().await.unwrap();
}

#[tokio::test]
async fn declared_faults_come_as_their_types_and_headers_arrive() {
    let client = kitchen().await;
    let ask = async |title: &str| {
        let headers = CookHeaders {
            ticket: Some(TicketBlock {
                number: 5,
                ..TicketBlock::default()
            }),
        };
        let recipe = Recipe {
            title: title.to_owned(),
            ..plain()
        };
        client.cook(&Cook { recipe }, &headers).await.unwrap_err()
    };
    let CookError::Burnt(burnt) = ask("burnt").await else {
        panic!("another fault");
    };
    // A detail alone is a fault of the receiver with the name of the fault as its reason.
    assert_eq!(burnt.minutes, 7);
    assert_eq!(burnt.fault().code, Code::Receiver);
    assert!(!burnt.fault().reason().is_empty());
    assert!(matches!(ask("gone").await, CookError::Gone(text) if *text == "for ever"));
    match ask("ticket").await {
        CookError::Other(Error::Fault(fault)) => assert!(
            fault.reason().contains("\"number\": Int(5)"),
            "{}",
            fault.reason()
        ),
        other => panic!("{other}"),
    }
}

fn label() -> Label {
    Label {
        printed: Some("2024-02-29+01:00".parse().unwrap()),
        packed: "2024-02-29T12:00:00.1234567890123-05:00".parse().unwrap(),
        best_before: Some("2024-12-31".parse().unwrap()),
        opens: Nillable::Nil,
        seen: ["-0044-03-15T12:00:00", "12024-01-01T00:00:00Z"]
            .map(|text| text.parse().unwrap())
            .into(),
        keeps: "P1Y2M3DT4H5M6.7S".parse().unwrap(),
        vintage: "1999".parse().unwrap(),
        season: Some("1999-05".parse().unwrap()),
        feast: Some("--02-29".parse().unwrap()),
        payday: Some("---31".parse().unwrap()),
        month: Some("--10Z".parse().unwrap()),
        price: "123456789012345678901234567890.25".parse().unwrap(),
        discounts: Some(["0.1", "-20"].map(|text| text.parse().unwrap()).into()),
        count: "123456789012345678901234567890".parse().unwrap(),
        seal: HexOctets(vec![0xDE, 0xAD]),
    }
}

#[tokio::test]
async fn dates_and_numbers_lose_nothing() {
    let request = Print { label: label() };
    let answer = kitchen()
        .await
        .print(&request, &PrintHeaders::default())
        .await
        .unwrap();
    assert_eq!(answer.label, request.label);
    // Equality goes by the instant: the texts must be the same, too.
    assert_eq!(
        format!("{:?}", answer.label),
        format!("{:?}", request.label)
    );
}

#[tokio::test]
async fn a_call_has_options_and_its_answer_has_headers() {
    let client = kitchen().await;
    let request = Print { label: label() };
    let headers = PrintHeaders {
        ticket: Some(TicketBlock {
            number: 86_400,
            ..TicketBlock::default()
        }),
        queue: Nillable::Nil,
    };
    let call = client
        .print(&request, &headers)
        .keep_envelopes()
        .http_header("X-Id", "7");
    let answer = call
        .soap_header_xml("<t:trace xmlns:t=\"urn:trace\">7</t:trace>")
        .answer()
        .await
        .unwrap();
    assert_eq!(answer.body().label, request.label);
    assert_eq!(answer.status(), 200);
    let sent = String::from_utf8_lossy(answer.sent().unwrap()).into_owned();
    assert!(
        sent.contains("urn:trace") && sent.contains("<") && sent.contains("86400"),
        "{sent}"
    );
    let blocks: PrintAnswerHeaders = answer.unpack_headers().unwrap();
    assert_eq!(
        blocks.receipt.unwrap().at.to_string(),
        "1970-01-02T00:00:00Z"
    );
    assert_eq!(blocks.queue, Nillable::Nil);
    let receipt: ReceiptBlock = answer.header("receipt").unwrap().unwrap();
    assert_eq!(receipt.at.to_string(), "1970-01-02T00:00:00Z");
    assert_eq!(answer.header::<ReceiptBlock>("another").unwrap(), None);
    assert!(answer.header_value("receipt").unwrap().is_some());
    assert!(
        answer.unpack_headers::<CookHeaders>().is_ok(),
        "it is of the same binding"
    );
    // Without options the headers that are declared are sent alone.
    let answer = client
        .print(&request, &PrintHeaders::default())
        .answer()
        .await
        .unwrap();
    let blocks: PrintAnswerHeaders = answer.unpack_headers().unwrap();
    assert_eq!(blocks.queue, Nillable::Absent);
}

#[tokio::test]
async fn default_headers_of_the_client_are_sent_by_generated_code() {
    let builder = serve_kitchen(Cook1, Service::builder(KITCHEN));
    let service = builder.build().unwrap().bind("127.0.0.1:0").await.unwrap();
    let ticket = TicketBlock {
        number: 7,
        ..TicketBlock::default()
    };
    let client = Client::builder(KITCHEN).endpoint(&service.urls()[0]);
    let client = client.soap_header_typed("ticket", ticket).build().unwrap();
    tokio::spawn(service.run(std::future::pending()));
    let client = KitchenClient::new(client).unwrap();
    let request = Print { label: label() };
    let stamp = async |client: &KitchenClient, headers: &PrintHeaders| {
        let answer = client.print(&request, headers).answer().await.unwrap();
        let blocks: PrintAnswerHeaders = answer.unpack_headers().unwrap();
        blocks.receipt.unwrap().at.timestamp().unwrap()
    };
    assert_eq!(stamp(&client, &PrintHeaders::default()).await, 7);
    // Options replace defaults, and the headers of the method replace both.
    let block = |number| TicketBlock {
        number,
        ..TicketBlock::default()
    };
    let with = client.with(CallOptions::new().soap_header_typed("ticket", block(8)));
    assert_eq!(stamp(&with, &PrintHeaders::default()).await, 8);
    let headers = PrintHeaders {
        ticket: Some(block(9)),
        ..PrintHeaders::default()
    };
    assert_eq!(stamp(&with, &headers).await, 9);
    // An operation that does not declare the header is not called.
    let error = with.maybe(&None).await.unwrap_err();
    assert!(error.report().contains("ticket"), "{}", error.report());
    let error = Client::builder(KITCHEN)
        .soap_header_typed("tickets", block(1))
        .build()
        .unwrap_err();
    assert!(
        error
            .report()
            .contains("declares a header block \"tickets\""),
        "{}",
        error.report()
    );
}

#[tokio::test]
async fn a_call_has_a_time_limit_and_an_address_of_its_own() {
    let client = kitchen().await;
    let error = client
        .maybe(&Some(1))
        .endpoint("http://127.0.0.1:1/")
        .await
        .unwrap_err();
    assert!(error.is_connect(), "{}", error.report());
    assert_eq!(
        client
            .maybe(&Some(1))
            .timeout(std::time::Duration::from_secs(60))
            .await
            .unwrap(),
        Some(1)
    );
    let wrong = CallOptions::new().http_header("no name", "");
    let error = client.with(wrong).maybe(&Some(1)).await.unwrap_err();
    assert!(
        error.report().contains("\"no name\" is not valid"),
        "{}",
        error.report()
    );
    // A call is a future that can be moved to another thread.
    let call = client.maybe(&Some(2));
    assert_eq!(tokio::spawn(call).await.unwrap().unwrap(), Some(2));
}

struct Echo;

impl encoded::P for Echo {
    async fn echo_person(
        &self,
        request: encoded::EchoPerson,
        _: Message,
    ) -> Result<encoded::EchoPersonResponse, Fault> {
        Ok(encoded::EchoPersonResponse { out: request.r#in })
    }

    async fn echo_doubles(
        &self,
        request: encoded::EchoDoubles,
        _: Message,
    ) -> Result<encoded::EchoDoublesResponse, Fault> {
        Ok(encoded::EchoDoublesResponse { out: request.r#in })
    }

    async fn echo_ints(
        &self,
        request: encoded::EchoInts,
        _: Message,
    ) -> Result<encoded::EchoIntsResponse, Fault> {
        Ok(encoded::EchoIntsResponse { out: request.r#in })
    }

    async fn echo_strings(
        &self,
        request: encoded::EchoStrings,
        _: Message,
    ) -> Result<encoded::EchoStringsResponse, Fault> {
        Ok(encoded::EchoStringsResponse { out: request.r#in })
    }

    async fn echo_grid(
        &self,
        request: encoded::EchoGrid,
        _: Message,
    ) -> Result<encoded::EchoGridResponse, Fault> {
        Ok(encoded::EchoGridResponse { out: request.r#in })
    }

    async fn echo_ragged(
        &self,
        request: encoded::EchoRagged,
        _: Message,
    ) -> Result<encoded::EchoRaggedResponse, Fault> {
        Ok(encoded::EchoRaggedResponse { out: request.r#in })
    }

    async fn echo_people(
        &self,
        request: encoded::EchoPeople,
        _: Message,
    ) -> Result<encoded::EchoPeopleResponse, Fault> {
        Ok(encoded::EchoPeopleResponse { out: request.r#in })
    }

    async fn echo_any(
        &self,
        request: encoded::EchoAny,
        _: Message,
    ) -> Result<encoded::EchoAnyResponse, Fault> {
        Ok(encoded::EchoAnyResponse { out: request.r#in })
    }
}

fn named(name: &str, friend: Option<encoded::AnyPerson>) -> encoded::AnyPerson {
    encoded::AnyPerson::Person(Box::new(encoded::Person {
        name: Some(name.into()),
        friend,
        scores: Some(vec![1.5, 2.5].into()),
        ..Default::default()
    }))
}

#[tokio::test]
async fn encoded_messages_go_round_as_trees() {
    let client = client_of(
        ENCODED,
        encoded::serve_p(Echo, Service::builder(ENCODED)),
        0,
    )
    .await;
    let typed = encoded::PClient::new(client.clone()).unwrap();
    let person = named("Ada", Some(named("Bob", None)));
    let request = encoded::EchoPerson {
        r#in: Some(person.clone()),
    };
    let answer = typed.echo_person(&request).await.unwrap();
    assert_eq!(answer.out, Some(person));
    let numbers: encoded::ArrayOfDouble = vec![0.5, -1.0, f64::INFINITY].into();
    let request = encoded::EchoDoubles {
        r#in: Some(numbers.clone()),
    };
    let answer = typed.echo_doubles(&request).await.unwrap().out.unwrap();
    // The size is stated.
    assert_eq!(answer.item, numbers.item);
    let grid = encoded::Grid {
        array_type: Some("[2,2]".into()),
        item: vec![1.0, 2.0, 3.0, 4.0],
    };
    let request = encoded::EchoGrid {
        r#in: Some(grid.clone()),
    };
    assert_eq!(typed.echo_grid(&request).await.unwrap().out, Some(grid));
    // A shared value is a copy for each reference to it, for the service and for a client.
    let shared = bsoap::Value::from_json_str(
        r##"{"in": [{"@id": "a", "name": "Ada"}, {"name": "Bob", "friend": {"@href": "#a"}}, {"@href": "#a"}]}"##,
    );
    let answer = client.call("echoPeople", &shared.unwrap()).await.unwrap();
    let people = answer["out"]["item"].as_array().unwrap();
    assert_eq!(people[2]["name"].as_str(), Some("Ada"));
    assert_eq!(people[1]["friend"]["name"].as_str(), Some("Ada"));
    // No Rust struct contains itself.
    let cyclic = bsoap::Value::from_json_str(
        r##"{"in": {"@id": "a", "name": "Ada", "friend": {"@href": "#a"}}}"##,
    );
    let error = client
        .call("echoPerson", &cyclic.unwrap())
        .await
        .unwrap_err();
    assert!(
        error.report().contains("contains itself"),
        "{}",
        error.report()
    );
}
