//! Types generated with serde's derives: their JSON is that of the messages.

use bsoap::codec::{View, build, pack};
use bsoap::types::chrono::{DateTime, NaiveDate, NaiveTime};
use bsoap::{Client, Fetch, HexOctets, Nillable, Octets, Value};

mod kitchen {
    include!("generated/kitchen_serde.rs");
}

use kitchen::*;

fn recipe() -> Recipe {
    let knife = Knife {
        name: "K".to_owned(),
        length: 0.25,
    };
    let inside = vec![AnyTool::Knife(knife.clone())];
    Recipe {
        id: "r1".to_owned(),
        title_attribute: Some("T & t".to_owned()),
        title: "soup".to_owned(),
        r#type: Some("<type>".to_owned()),
        heat: Heat::MediumHigh,
        portions: None,
        note: Nillable::Nil,
        rating: vec![Some(1), None, Some(-3)],
        weights: vec![1.5, 2.25],
        more_weights: None,
        base: None,
        variation: Vec::new(),
        choice: RecipeChoice::Until(
            DateTime::parse_from_rfc3339("2024-02-29T12:00:00.5+01:00").unwrap(),
        ),
        choice2: Vec::new(),
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
            value: "urn:book".to_owned(),
            page: Some(3),
            value_attribute: "v".to_owned(),
            weights: Some(vec![2.0]),
            any_attribute: "<a xmlns:a0=\"urn:b\" a0:c=\"d\"/>".to_owned(),
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
                RecipeTextContent::Text2(9),
            ],
        }),
        empty: RecipeEmpty {},
        any: Some("<x xmlns=\"urn:x\">y</x>".to_owned()),
    }
}

fn recipes() -> Vec<Recipe> {
    let time = |text: &str| text.parse::<NaiveTime>().unwrap();
    let (from, to) = (time("10:00:00"), Some(time("11:00:00")));
    vec![
        recipe(),
        Recipe {
            choice: RecipeChoice::Minutes(5),
            note: Nillable::Absent,
            group: None,
            base: Some(Box::new(recipe())),
            variation: vec![recipe()],
            any: None,
            ..recipe()
        },
        Recipe {
            choice: RecipeChoice::Group(RecipeChoiceGroup { from, to }),
            heat: Heat::V3,
            note: Nillable::Value("n".to_owned()),
            portions: Some(4),
            ..recipe()
        },
        Recipe {
            choice: RecipeChoice::Like(Box::new(recipe())),
            ..recipe()
        },
    ]
}

fn label() -> Label {
    Label {
        printed: NaiveDate::from_ymd_opt(2024, 2, 29),
        packed: DateTime::parse_from_rfc3339("2024-02-29T12:00:00-05:00").unwrap(),
        best_before: None,
        opens: Nillable::Value(NaiveTime::MIN),
        seen: vec![DateTime::default()],
        keeps: "P1Y2M".parse().unwrap(),
        vintage: "1999".parse().unwrap(),
        season: None,
        feast: Some("--02-29".parse().unwrap()),
        payday: None,
        month: None,
        price: "2.50".parse().unwrap(),
        discounts: Some(vec!["0.1".parse().unwrap()]),
        count: 7.into(),
        seal: HexOctets(vec![0xDE, 0xAD]),
    }
}

/// The member of the wrapper element of a request, as the engine converts its Record.
fn of_record(operation: &str, member: &str, packed: &dyn bsoap::typed::Pack) -> Value {
    let client = Client::from_wsdl(wsdl()).unwrap();
    let target = client.target(operation).unwrap();
    let wrapper = target.operation().input.body.first_element().unwrap();
    let record = pack(target.plan(), wrapper, packed).unwrap();
    let value = View::of(&record).to_value().unwrap();
    // What serde writes can be sent.
    let built = build(target.plan(), wrapper, &value).unwrap();
    assert_eq!(View::of(&built).to_value().unwrap(), value);
    value[member].clone()
}

#[test]
fn the_json_of_a_type_is_that_of_its_messages() {
    for recipe in recipes() {
        let expected = of_record(
            "Cook",
            "recipe",
            &Cook {
                recipe: recipe.clone(),
            },
        );
        // Octets are texts in JSON.
        let expected_json = parsed(&expected.to_json());
        let value = Value::from_serialize(&recipe).unwrap();
        assert_eq!(parsed(&value.to_json()), expected_json);
        assert_eq!(expected.deserialize_as::<Recipe>().unwrap(), recipe);
        let json = serde_json::to_string(&recipe).unwrap();
        assert_eq!(parsed(&json), expected_json);
        assert_eq!(serde_json::from_str::<Recipe>(&json).unwrap(), recipe);
    }
    let value = Value::from_serialize(&label()).unwrap();
    let expected = of_record("Print", "label", &Print { label: label() });
    assert_eq!(value.to_json(), expected.to_json());
    assert_eq!(expected.deserialize_as::<Label>().unwrap(), label());
    let json = r##""packed":"2024-02-29T12:00:00-05:00","opens":"00:00:00","seen":["1970-01-01T00:00:00Z"],"keeps":"P1Y2M","vintage":"1999","feast":"--02-29","price":"2.5","discounts":["0.1"],"count":"7","seal":"DEAD"}"##;
    assert_eq!(
        value.to_json(),
        format!("{{\"@printed\":\"2024-02-29\",{json}")
    );
}

fn parsed(json: &str) -> Value {
    sorted(&Value::from_json_str(json).unwrap())
}

/// Members in the order of their keys, which the members of groups may have elsewhere.
fn sorted(value: &Value) -> Value {
    match value {
        Value::Object(members) => {
            let mut members: Vec<(String, Value)> = members
                .iter()
                .map(|(key, value)| (key.to_owned(), sorted(value)))
                .collect();
            members.sort_by(|(a, _), (b, _)| a.cmp(b));
            Value::object(members)
        }
        Value::Array(items) => Value::Array(items.iter().map(sorted).collect()),
        other => other.clone(),
    }
}

/// The members of an object would not tell the order of its branches.
#[test]
fn a_repeated_choice_is_an_array_of_its_own() {
    let recipe = Recipe {
        choice2: vec![
            RecipeChoice2::Add("salt".to_owned()),
            RecipeChoice2::Wait(60),
            RecipeChoice2::Add("oil".to_owned()),
        ],
        ..recipe()
    };
    let json = serde_json::to_string(&recipe).unwrap();
    assert!(
        json.contains(r#""choice2":[{"add":"salt"},{"wait":60},{"add":"oil"}]"#),
        "{json}"
    );
    assert_eq!(serde_json::from_str::<Recipe>(&json).unwrap(), recipe);
}

#[test]
fn errors_say_what_is_wrong() {
    let mut value = Value::from_serialize(&label()).unwrap();
    let Value::Object(members) = &mut value else {
        panic!("no object")
    };
    members.insert("packed", "2024-02-29T12:00:00");
    let error = value.deserialize_as::<Label>().unwrap_err().to_string();
    assert_eq!(
        error,
        "packed: \"2024-02-29T12:00:00\" cannot be a chrono::DateTime: it has no time zone"
    );
    let error = serde_json::from_str::<AnyTool>(r#"{"name":"K"}"#)
        .unwrap_err()
        .to_string();
    assert!(error.starts_with("no member belongs to AnyTool"), "{error}");
}

#[test]
fn the_embedded_wsdl_is_loaded_without_files() {
    let definitions = wsdl().load(Fetch::AsAsked).unwrap();
    assert_eq!(definitions.documents()[0].location(), "kitchen.wsdl");
    assert!(KitchenClient::embedded().is_ok());
}

#[test]
fn values_that_the_other_type_does_not_have_are_errors_of_the_message() {
    let client = KitchenClient::embedded().unwrap();
    let target = client.inner().target("Print").unwrap();
    let wrapper = target.operation().input.body.first_element().unwrap();
    let mut value = Value::from_serialize(&Print { label: label() }).unwrap();
    let Some(Value::Object(label)) = (match &mut value {
        Value::Object(members) => members.get_mut("label"),
        _ => None,
    }) else {
        panic!("no label")
    };
    label.insert("packed", "2024-02-29T12:00:00");
    let record = build(target.plan(), wrapper, &value).unwrap();
    let error = View::of(&record).unpack::<Print>().unwrap_err();
    assert_eq!(
        error.to_string(),
        "\"2024-02-29T12:00:00\" cannot be a chrono::DateTime: it has no time zone"
    );
    // The other way: XML Schema has no leap seconds.
    let mut label = self::label();
    label.opens = NaiveTime::from_hms_nano_opt(23, 59, 59, 1_500_000_000).into();
    let error = pack(target.plan(), wrapper, &Print { label }).unwrap_err();
    assert!(
        error
            .to_string()
            .ends_with("it is a leap second, which XML Schema does not have"),
        "{error}"
    );
}
