//! Generated code, as it is committed under `generated/` and in `bench/`: it is what the generator writes today, and it goes round.
//!
//! `BSOAP_BLESS=1 cargo test -p bsoap-generate` writes it again.

use std::path::Path;

use bsoap::protocol::{Code, Name};
use bsoap::typed::Declared;
use bsoap::{Client, Error, Fault, Message, Nillable, Octets, Service};
use bsoap_generate::{Options, generate};
use bsoap_schema::{Definitions, FileLoader};

mod calculator {
    include!("generated/calculator.rs");
}

mod kitchen {
    include!("generated/kitchen.rs");
}

use kitchen::*;

const KITCHEN: &str = include_str!("testdata/kitchen.wsdl");
const CALCULATOR: &str = include_str!("testdata/calculator.wsdl");

#[test]
fn the_committed_code_is_what_is_generated() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let pairs = [
        (
            "crates/generate/tests/testdata/calculator.wsdl",
            "crates/generate/tests/generated/calculator.rs",
        ),
        (
            "crates/generate/tests/testdata/kitchen.wsdl",
            "crates/generate/tests/generated/kitchen.rs",
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
    for (wsdl, name) in pairs {
        let wsdl = root.join(wsdl);
        let definitions = Definitions::load(&wsdl.to_string_lossy(), &FileLoader::new()).unwrap();
        let code = generate(&definitions, &Options::default()).unwrap();
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
        heat: Heat::Other("very".to_owned()),
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
            from: "10:00:00".to_owned(),
            to: Some("11:00:00".to_owned()),
        }),
        choice2: vec![
            RecipeChoice2::Add("salt".to_owned()),
            RecipeChoice2::Wait(60),
            RecipeChoice2::Add("oil".to_owned()),
        ],
        group: Some(RecipeGroup {
            oven: true,
            degrees: "180.5".to_owned(),
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
            choice: RecipeChoice::Until("2024-01-01T00:00:00Z".to_owned()),
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
