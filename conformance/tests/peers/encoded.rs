//! rpc/encoded messages with peers, both ways: shared values, cycles, nil, decimals, dates, long arrays, faults with a detail.

use std::path::PathBuf;

use bsoap::{Client, ClientBuilder, Fault, Message, Service, ServiceBuilder, Value, blocking};

use crate::calls::detail;
use crate::here;
use crate::values::{bits, hard_doubles, items, under};

/// The WSDL of the service.
pub(crate) fn inventory_wsdl() -> PathBuf {
    here("testdata/inventory.wsdl")
}

/// Our inventory, which peers call.
pub(crate) fn inventory() -> ServiceBuilder {
    let echo = |name: &'static str| {
        move |message: Message| async move { under("return", message.value()[name].clone()) }
    };
    let refuse = |message: Message| async move {
        let reason = message.value()["reason"]
            .as_str()
            .unwrap_or_default()
            .to_owned();
        let problem = "<p:problem xmlns:p=\"urn:problems\"><p:code>7</p:code></p:problem>";
        let detail = under("#any", Value::Array(vec![problem.into()]));
        Err::<Value, _>(Fault::sender(reason).with_detail(detail))
    };
    Service::builder(inventory_wsdl().as_path())
        .handle("echoItem", echo("item"))
        .handle("echoItems", echo("items"))
        .handle("echoDoubles", echo("values"))
        .handle("refuse", refuse)
}

pub(crate) fn builder(port: u16) -> ClientBuilder {
    let builder = Client::builder(inventory_wsdl().as_path());
    builder.endpoint(format!("http://127.0.0.1:{port}/"))
}

/// What a peer makes of a value that is shared.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Shared {
    Kept,
    Copied,
}

/// Two items that refer to each other; without the way back if the peer copies what is shared.
fn bolt(shared: Shared) -> Value {
    let reference = match shared {
        Shared::Kept => r##", "related": {"@href": "#bolt"}"##,
        Shared::Copied => r#", "related": null"#,
    };
    let text = format!(
        r#"{{"@id": "bolt", "name": "bolt Łódź & <co>", "count": -7, "price": "12345678901234567890.125",
            "made": "2023-11-14T22:13:20Z", "note": null, "related":
            {{"name": "nut", "count": 2147483647, "price": "0.1", "made": "2024-02-29T00:00:00Z", "note": ""{reference}}}}}"#
    );
    Value::from_json_str(&text).expect("JSON")
}

/// Calls every operation and checks the answers.
pub(crate) fn check(client: &blocking::Client, shared: Shared) {
    let call = |operation: &str, arguments: Value| {
        let answer = client.call(operation, &arguments);
        let answer = answer.unwrap_or_else(|error| panic!("{operation}: {}", error.report()));
        answer["return"].clone()
    };
    let item = bolt(shared);
    let found = call("echoItem", under("item", item.clone()));
    for name in ["name", "count", "price", "made", "note"] {
        assert_eq!(found[name], item[name], "echoItem {name}");
    }
    for name in ["name", "count", "price", "made", "note"] {
        assert_eq!(
            found["related"][name], item["related"][name],
            "echoItem related {name}"
        );
    }
    if shared == Shared::Kept {
        let (id, back) = (&found["@id"], &found["related"]["related"]["@href"]);
        let (id, back) = (
            id.as_str().unwrap_or_default(),
            back.as_str().unwrap_or_default(),
        );
        assert!(
            !id.is_empty() && back == format!("#{id}"),
            "{}",
            found.to_json()
        );
        let twice = r##"[{"@id": "x", "name": "nut", "count": 1, "price": "1", "made": "2024-02-29T00:00:00Z", "note": null, "related": null},
            {"@href": "#x"}]"##;
        let twice = Value::from_json_str(twice).expect("JSON");
        let found = call("echoItems", under("items", items(twice)));
        let list = found["item"]
            .as_array()
            .unwrap_or_else(|| panic!("{}", found.to_json()));
        let names =
            ["@id", "@href"].map(|name| list.iter().filter(|it| !it[name].is_nil()).count());
        assert_eq!((list.len(), names), (2, [1, 1]), "{}", found.to_json());
    }
    for count in [0, 1, 100_000] {
        let doubles = hard_doubles(count);
        let found = call("echoDoubles", under("values", items(doubles.clone())));
        let found = found["item"].as_doubles().unwrap_or_default();
        assert_eq!(bits(found), bits(&doubles), "{count}");
    }
    let error = client.call("refuse", &under("reason", "no ü"));
    let error = error.expect_err("a fault");
    let detail = detail(&error).to_json();
    assert!(detail.contains('7'), "{detail}");
}
