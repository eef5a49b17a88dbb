//! A client and a service of the mesh WSDL that meet at a queue: `cargo run -- amqp://localhost`.

use bsoap::{Client, Message, Service, Value};
use bsoap_amqp::{AmqpTransport, serve};

const MESH: &str = include_str!("../../mesh/mesh.wsdl");

#[tokio::main]
async fn main() -> Result<(), bsoap::http::AnyError> {
    let broker = std::env::args().nth(1).unwrap_or_else(|| "amqp://localhost".to_owned());
    let sum = |message: Message| async move {
        let arguments = message.value();
        let numbers = arguments["values"]["item"].as_doubles().unwrap_or_default();
        Value::object([("sum", Value::from(numbers.iter().sum::<f64>()))])
    };
    let service = Service::builder(MESH).handle("sumDoubles", sum).build()?;
    let address = broker.clone();
    let serving = tokio::spawn(async move { serve(&address, "soap.mesh", service).await });

    let transport = AmqpTransport::connect(&broker, "soap.mesh").await?;
    let client = Client::builder(MESH).transport(transport).build()?;
    let numbers = Value::object([("values", Value::object([("item", Value::from(vec![1.5, 2.5]))]))]);
    println!("{}", client.call("sumDoubles", &numbers).await?);
    serving.abort();
    Ok(())
}
