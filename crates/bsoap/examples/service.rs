//! The mesh service: `cargo run --example service [ADDRESS]`, then `cargo run --example client`.

use bsoap::{Fault, Message, Service, Value};

fn under(name: &str, value: impl Into<Value>) -> Value {
    Value::object([(name, value.into())])
}

fn doubles(value: &Value) -> Result<&[f64], Fault> {
    match &value["item"] {
        Value::Nil => Ok(&[]),
        items => items
            .as_doubles()
            .ok_or_else(|| Fault::sender("expected doubles")),
    }
}

async fn echo(message: Message) -> Value {
    message.value()
}

async fn sum_doubles(message: Message) -> Result<Value, Fault> {
    let sum: f64 = doubles(&message.value()["values"])?.iter().sum();
    Ok(under("sum", sum))
}

async fn sum_ints(message: Message) -> Value {
    let sum: i64 = message.value()["values"]["item"]
        .as_ints()
        .unwrap_or_default()
        .iter()
        .sum();
    under("sum", sum)
}

/// Every inner point becomes the mean of its four neighbours.
async fn jacobi_step(message: Message) -> Result<Value, Fault> {
    let arguments = message.value();
    let old = doubles(&arguments["field"])?;
    let (rows, columns) = (
        arguments["rows"].as_i64().unwrap_or(0),
        arguments["columns"].as_i64().unwrap_or(0),
    );
    if rows < 0 || columns < 0 || rows * columns != old.len() as i64 {
        let shape = Value::object([
            ("expected", Value::from(rows * columns)),
            ("found", Value::from(old.len() as i64)),
        ]);
        return Err(
            Fault::sender("the field has another shape").with_detail(under("badShape", shape))
        );
    }
    let (rows, columns) = (rows as usize, columns as usize);
    let (mut new, mut residual) = (old.to_vec(), 0.0_f64);
    for row in 1..rows.saturating_sub(1) {
        for place in row * columns + 1..(row + 1) * columns - 1 {
            let around =
                old[place - columns] + old[place + columns] + old[place - 1] + old[place + 1];
            new[place] = around / 4.0;
            residual = residual.max((new[place] - old[place]).abs());
        }
    }
    Ok(Value::object([
        ("field", under("item", new)),
        ("residual", Value::from(residual)),
    ]))
}

#[tokio::main]
async fn main() -> Result<(), bsoap::Error> {
    let address = std::env::args()
        .nth(1)
        .unwrap_or_else(|| "127.0.0.1:8080".into());
    let wsdl = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/mesh/mesh.wsdl");
    let service = Service::builder(wsdl)
        .handle("echoDoubles", echo)
        .handle("echoInts", echo)
        .handle("echoMesh", echo)
        .handle("sumDoubles", sum_doubles)
        .handle("sumInts", sum_ints)
        .handle("jacobiStep", jacobi_step)
        .build()?
        .bind(&address)
        .await?;
    for url in service.urls() {
        eprintln!("serving {url}");
    }
    service
        .run(async { drop(tokio::signal::ctrl_c().await) })
        .await;
    Ok(())
}
