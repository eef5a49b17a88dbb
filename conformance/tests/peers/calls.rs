//! What our client asks of a peer, and the answers that it expects.

use bsoap::protocol::Code;
use bsoap::{SoapVersion, Value, blocking};

use crate::values::{bits, hard_doubles, items, jacobi, object, step, under};

/// Calls every operation and checks the answers.
pub(crate) fn check(client: &blocking::Client, version: SoapVersion) {
    let call = |operation: &str, arguments: Value| {
        let answer = client.call(operation, &arguments);
        answer.unwrap_or_else(|error| panic!("{version} {operation}: {}", error.report()))
    };
    let doubles = hard_doubles(500);
    let answer = call("echoDoubles", under("values", items(doubles.clone())));
    let echoed = answer["values"]["item"].as_doubles().expect("doubles");
    assert_eq!(bits(echoed), bits(&doubles), "{version}");

    let ints: Vec<i64> = [0, 1, -1, i32::MAX.into(), i32::MIN.into()]
        .into_iter()
        .chain((-300..300).step_by(7))
        .collect();
    let answer = call("echoInts", under("values", items(ints.clone())));
    assert_eq!(answer["values"]["item"].as_ints(), Some(&ints[..]));
    let answer = call("sumInts", under("values", items(ints.clone())));
    assert_eq!(answer["sum"].as_i64(), Some(ints.iter().sum()));

    let objects: Vec<Value> = doubles.iter().take(50).zip(0i64..).map(object).collect();
    let answer = call("echoMesh", under("objects", items(objects.clone())));
    let echoed = answer["objects"]["item"].as_array().expect("objects");
    assert_eq!(echoed.len(), objects.len());
    for (ours, theirs) in objects.iter().zip(echoed) {
        assert_eq!((&ours["x"], &ours["y"]), (&theirs["x"], &theirs["y"]));
        let value = |object: &Value| object["value"].as_f64().map(f64::to_bits);
        assert_eq!(value(ours), value(theirs), "{version}");
    }

    let answer = call("sumDoubles", under("values", items(vec![1.5, 2.25, -0.75])));
    assert_eq!(answer["sum"].as_f64(), Some(3.0));

    let mut field = vec![0.0; 20];
    field[..5].fill(1.0);
    let answer = call("jacobiStep", step(4, 5, &field));
    let (expected, residual) = jacobi(4, 5, &field);
    assert_eq!(answer["field"]["item"].as_doubles(), Some(&expected[..]));
    assert_eq!(answer["residual"].as_f64(), Some(residual));

    let error = client.call("jacobiStep", &step(3, 3, &[1.0]));
    let error = error.expect_err("a field of the wrong shape");
    let fault = error
        .fault()
        .unwrap_or_else(|| panic!("{version}: {}", error.report()));
    let detail = fault.detail.as_ref().expect("a detail");
    assert_eq!(
        detail["badShape"]["expected"].as_i64(),
        Some(9),
        "{}",
        detail.to_json()
    );
    assert_eq!(detail["badShape"]["found"].as_i64(), Some(1), "{version}");
    assert!(
        matches!(fault.code, Code::Sender | Code::Receiver),
        "{fault}"
    );
}

/// The same for the service of spyne, which has a WSDL of its own. It has no declared fault.
pub(crate) fn check_spyne(client: &blocking::Client) {
    let call = |operation: &str, arguments: Value| {
        let answer = client.call(operation, &arguments);
        let answer = answer.unwrap_or_else(|error| panic!("{operation}: {}", error.report()));
        answer[&*format!("{operation}Result")].clone()
    };
    let doubles = hard_doubles(500);
    let array = |values: &[f64]| under("double", values.to_vec());
    let answer = call("echoDoubles", under("values", array(&doubles)));
    assert_eq!(bits(&nillable_doubles(&answer["double"])), bits(&doubles));
    let ints = vec![0_i64, 1, -1, i32::MAX.into(), i32::MIN.into()];
    let answer = call("sumInts", under("values", under("int", ints.clone())));
    assert_eq!(answer.as_i64(), Some(ints.iter().sum()));
    let objects: Vec<Value> = doubles.iter().take(50).zip(0_i64..).map(object).collect();
    let objects = under("MeshInterfaceObject", objects);
    assert_eq!(call("echoMesh", under("objects", objects.clone())), objects);

    let field = [&[1.0; 5][..], &[0.0; 15]].concat();
    let step = |rows: &str, field: &[f64]| {
        // An unbounded integer is a text.
        let columns = Value::from("5");
        Value::object([
            ("rows", Value::from(rows)),
            ("columns", columns),
            ("field", array(field)),
        ])
    };
    let answer = call("jacobiStep", step("4", &field));
    let (expected, residual) = jacobi(4, 5, &field);
    assert_eq!(nillable_doubles(&answer["field"]["double"]), expected);
    assert_eq!(answer["residual"].as_f64(), Some(residual));
    let error = client.call("jacobiStep", &step("3", &[1.0]));
    let error = error.expect_err("a field of the wrong shape");
    let fault = error
        .fault()
        .unwrap_or_else(|| panic!("{}", error.report()));
    assert_eq!(fault.code, Code::Sender, "{fault}");
}

/// An array of nillable numbers is one of values.
fn nillable_doubles(array: &Value) -> Vec<f64> {
    let items = array.as_array().expect("an array of values");
    items.iter().filter_map(Value::as_f64).collect()
}

/// The detail of the fault with which a peer refuses what it was asked to, for the reason `no ü`.
pub(crate) fn detail(error: &bsoap::Error) -> &Value {
    let fault = error
        .fault()
        .unwrap_or_else(|| panic!("{}", error.report()));
    assert_eq!(fault.reason(), "no ü");
    fault.detail.as_ref().expect("a detail")
}
