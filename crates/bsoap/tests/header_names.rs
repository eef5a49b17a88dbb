//! Header blocks by the names of their parts and elements, where these differ, and where two operations use one name.

mod common;

use bsoap::protocol::header::BlockAttributes;
use bsoap::{Client, Fault, Message, Service, Value};
use common::{Running, start, under};

const BLOCKS: &str = include_str!("common/blocks.wsdl");
const NEXT: &str = "http://schemas.xmlsoap.org/soap/actor/next";

fn client(running: &Running) -> Client {
    let client = Client::builder(BLOCKS);
    let client = client.endpoint(format!("http://{}/blocks", running.address));
    client.build().expect("a client")
}

#[tokio::test]
async fn blocks_of_faults_are_those_of_the_called_operation() {
    let service = Service::builder(BLOCKS)
        .handle("first", |_: Message| async {
            Err::<Value, _>(Fault::sender("1").with_header("problem", 7))
        })
        .handle("second", |_: Message| async {
            Err::<Value, _>(Fault::sender("2").with_header("problem", "no number"))
        });
    let running = start(service).await;
    let client = client(&running);
    for (operation, expected) in [
        ("first", Value::from(7)),
        ("second", Value::from("no number")),
    ] {
        let error = client.call(operation, &under("value", "x")).await;
        let error = error.expect_err("a fault");
        let fault = error.fault().expect("a fault");
        assert_eq!(fault.headers.get("problem"), Some(&expected), "{fault:?}");
    }
    let target = client.target("second").expect("an operation");
    let unknown = target.unpack_fault_header::<i32>(&Fault::sender("x"), "other");
    let unknown = unknown.expect_err("no such block").to_string();
    assert_eq!(unknown.matches("problem").count(), 1, "{unknown}");
    running.stop().await;
}

/// Answers with the attributes of the block that came, and with a list in a block that has attributes.
async fn seen(message: Message) -> Result<Value, Fault> {
    let [block] = message.blocks() else {
        return Err(Fault::sender("one block is expected"));
    };
    let role = block.role.as_deref().unwrap_or_default();
    let value = message.header_value("head")?.unwrap_or_default();
    let attributes = BlockAttributes::new().role(NEXT);
    message.set_answer_header("numbers", vec![7_i64, 8])?;
    message.set_answer_header_attributes("{urn:blocks}numbers", &attributes)?;
    message.set_answer_header_attributes("tail", &attributes)?;
    let missing = message.set_answer_header_attributes("head", &attributes);
    assert!(missing.is_err(), "the answer declares no such block");
    Ok(under("value", format!("{role} {}", value.to_json())))
}

#[tokio::test]
async fn attributes_are_set_by_the_name_of_the_part_or_of_its_element() {
    let running = start(Service::builder(BLOCKS).handle("first", seen)).await;
    let client = client(&running);
    let names = ["head", "token", "{urn:blocks}token"];
    for set in names {
        for attributed in names {
            let call = client.operation("first").soap_header(set, "abc");
            let attributes = BlockAttributes::new().role(NEXT).must_understand();
            let call = call.soap_header_attributes(attributed, attributes);
            let answer = call.call(under("value", "x")).await.expect("an answer");
            let text = answer.value()["value"].to_json();
            assert!(text.contains(NEXT) && text.contains("abc"), "{text}");
            let headers = Value::from(answer.soap_headers());
            assert_eq!(headers["tail"]["#text"].to_json(), "[7,8]");
            assert_eq!(headers["tail"]["@actor"].as_str(), Some(NEXT));
        }
    }
    running.stop().await;
}

/// Two parts whose elements have each other's name.
#[tokio::test]
async fn the_name_of_a_part_comes_before_that_of_an_element() {
    let wsdl = BLOCKS
        .replacen(
            "<wsdl:part name=\"head\" element=\"t:token\"/>",
            "<wsdl:part name=\"token\" element=\"t:numbers\"/><wsdl:part name=\"numbers\" element=\"t:token\"/>",
            1,
        )
        .replacen(
            "<soap:header message=\"t:first\" part=\"head\" use=\"literal\">",
            "<soap:header message=\"t:first\" part=\"numbers\" use=\"literal\"/><soap:header message=\"t:first\" part=\"token\" use=\"literal\">",
            1,
        );
    let seen = |message: Message| async move {
        let token = message.header_value("token")?.unwrap_or_default();
        let numbers = message.header_value("numbers")?.unwrap_or_default();
        let both = format!("{} {}", token.to_json(), numbers.to_json());
        Ok::<_, Fault>(under("value", both))
    };
    let running = start(Service::builder(&*wsdl).handle("first", seen)).await;
    let endpoint = format!("http://{}/blocks", running.address);
    let client = Client::builder(&*wsdl)
        .endpoint(endpoint)
        .build()
        .expect("a client");
    let call = client.operation("first").soap_header("numbers", "abc");
    let call = call.soap_header("token", vec![7_i64]);
    let answer = call.call(under("value", "x")).await.expect("an answer");
    assert_eq!(
        answer.value()["value"].as_str(),
        Some("{\"#text\":[7]} {\"#text\":\"abc\"}")
    );
    running.stop().await;
}

#[tokio::test]
async fn a_block_that_is_nil_is_not_given_attributes() {
    let running = start(Service::builder(BLOCKS).handle("first", seen)).await;
    let call = client(&running).operation("first");
    let call = call.soap_header("token", Value::Nil);
    let call = call.soap_header_attributes("token", BlockAttributes::new().role(NEXT));
    let error = call.call(under("value", "x")).await.expect_err("refused");
    assert!(error.to_string().contains("token is nil"), "{error}");
    running.stop().await;
}

#[test]
fn header_blocks_are_kept_of_a_fault_that_cannot_be_decoded_and_of_those_for_other_nodes() {
    let client = Client::builder(BLOCKS).endpoint("http://localhost:1/blocks");
    let client = client.build().expect("a client");
    let proper = "<s:Fault><faultcode>s:Client</faultcode><faultstring>no</faultstring></s:Fault>";
    let broken = "<s:Fault><faultstring>no</faultstring><other/></s:Fault>";
    for fault in [proper, broken] {
        let text = format!(
            "<s:Envelope xmlns:s='http://schemas.xmlsoap.org/soap/envelope/' xmlns:t='urn:blocks'><s:Header>\
             <t:secondProblem>declared</t:secondProblem><x:a xmlns:x='urn:x'>undeclared</x:a>\
             <x:b xmlns:x='urn:x' s:actor='urn:audit'>elsewhere</x:b></s:Header><s:Body>{fault}</s:Body></s:Envelope>"
        );
        let answer = client.read_answer("second", Some("text/xml"), text);
        let error = answer.expect_err("a fault");
        let found = error
            .fault()
            .unwrap_or_else(|| panic!("{}", error.report()));
        assert_eq!(found.reason(), "no");
        let problem = found.headers.get("problem").and_then(Value::as_str);
        assert_eq!(problem, Some("declared"), "{fault}");
        let others = found
            .headers
            .get("#any")
            .map(Value::to_json)
            .unwrap_or_default();
        for expected in ["undeclared", "elsewhere", "urn:audit"] {
            assert!(others.contains(expected), "{fault}: {others}");
        }
    }
}
