//! Calls the mesh service of the `service` example: `cargo run --example client [URL]`.

use bsoap::{Client, Value};

#[tokio::main]
async fn main() -> Result<(), bsoap::Error> {
    let url = std::env::args()
        .nth(1)
        .unwrap_or_else(|| "http://127.0.0.1:8080/mesh".into());
    let wsdl = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/mesh/mesh.wsdl");
    let client = Client::builder(wsdl).endpoint(url).build()?;
    eprintln!(
        "{} speaks {} at {}",
        client.service(),
        client.version(),
        client.endpoint()
    );

    let field: Vec<f64> = (0..16)
        .map(|place| if place < 4 { 100.0 } else { 0.0 })
        .collect();
    let arguments = Value::object([
        ("rows", Value::from(4)),
        ("columns", Value::from(4)),
        ("field", Value::object([("item", Value::from(field))])),
    ]);
    let answer = client.call("jacobiStep", &arguments).await?;
    eprintln!(
        "residual {:?}, field {:?}",
        answer["residual"].as_f64(),
        answer["field"]["item"].as_doubles()
    );

    let wrong = Value::object([
        ("rows", 5.into()),
        ("columns", 5.into()),
        ("field", Value::object([("item", Value::from(vec![1.0]))])),
    ]);
    if let Err(error) = client.call("jacobiStep", &wrong).await {
        eprintln!("{}", error.report());
        if let Some(detail) = error.fault().and_then(|fault| fault.detail.as_ref()) {
            eprintln!("the detail says {}", detail.to_json());
        }
    }
    Ok(())
}
