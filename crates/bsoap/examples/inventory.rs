//! Asks many cameras what they are, many at a time: `cargo run --example inventory [CAMERAS [AT_A_TIME]]`.
//!
//! The cameras are in this program, each at an address of its own. They ask for a user name in a WS-Security header block, as
//! ONVIF cameras do. One knows another user, and one is switched off.

#![allow(clippy::print_stdout)]

use std::sync::Arc;
use std::time::Duration;

use bsoap::security::UsernameToken;
use bsoap::{Client, Error, Fault, Fetch, Message, Service, Value, Wsdl};
use tokio::sync::Semaphore;
use tokio::task::JoinSet;

const WSDL: &str = include_str!("../../../examples/camera/camera.wsdl");
const WSSE: &str =
    "http://docs.oasis-open.org/wss/2004/01/oasis-200401-wss-wssecurity-secext-1.0.xsd";

/// What is known of a camera, or why nothing is.
struct Entry {
    address: String,
    found: Result<Device, Error>,
}

struct Device {
    model: String,
    serial: String,
}

#[tokio::main]
async fn main() -> Result<(), Error> {
    let mut numbers = std::env::args().skip(1).map(|number| number.parse().ok());
    let cameras = numbers.next().flatten().unwrap_or(200);
    let at_a_time = numbers.next().flatten().unwrap_or(50);
    for Entry { address, found } in inventory(install(cameras).await?, at_a_time).await? {
        match found {
            Ok(device) => println!("{address}  {} {}", device.model, device.serial),
            Err(error) if error.is_connect() => println!("{address}  is switched off"),
            Err(error) => println!("{address}  {}", error.report()),
        }
    }
    Ok(())
}

/// Asks all cameras, with at most `at_a_time` calls at a time.
async fn inventory(addresses: Vec<String>, at_a_time: usize) -> Result<Vec<Entry>, Error> {
    let client = Client::builder(WSDL)
        .username_token(UsernameToken::digest("admin", "secret"))
        .timeout(Duration::from_secs(10))
        .build()?;
    let permits = Arc::new(Semaphore::new(at_a_time));
    let mut asking = JoinSet::new();
    for address in addresses {
        let (client, permits) = (client.clone(), Arc::clone(&permits));
        asking.spawn(async move {
            let _permit = permits.acquire_owned().await;
            let found = ask(&client, &address).await;
            Entry { address, found }
        });
    }
    let mut entries = asking.join_all().await;
    entries.sort_by(|a, b| a.address.cmp(&b.address));
    Ok(entries)
}

async fn ask(client: &Client, address: &str) -> Result<Device, Error> {
    let camera = client.at(address)?;
    let answer = camera.call("GetDeviceInformation", &Value::Nil).await?;
    let text = |name: &str| answer[name].as_str().unwrap_or_default().to_owned();
    Ok(Device {
        model: text("Model"),
        serial: text("SerialNumber"),
    })
}

/// Starts this many cameras on free ports of the loopback and returns their addresses. The last address is that of a camera
/// that is switched off.
async fn install(cameras: usize) -> Result<Vec<String>, Error> {
    let definitions = Wsdl::from(WSDL).load(Fetch::default())?;
    let mut addresses = Vec::with_capacity(cameras);
    for number in 1..cameras {
        let user = if number == 1 { "root" } else { "admin" };
        let camera = Service::builder(&definitions)
            .understanding(WSSE, "Security")
            .handle("GetDeviceInformation", move |message: Message| async move {
                information(&message, number, user)
            });
        let bound = camera.build()?.bind("127.0.0.1:0").await?;
        addresses.extend(bound.urls());
        tokio::spawn(bound.run(std::future::pending()));
    }
    addresses.push("http://127.0.0.1:9/device_service".into());
    Ok(addresses)
}

/// A camera's answer. A real one would also compare the digest and remember the nonce.
fn information(message: &Message, number: usize, user: &str) -> Result<Value, Fault> {
    let headers = message.headers();
    let security = headers.get("#any").map(|blocks| &blocks[0]);
    let named = format!("Username>{user}</");
    let security = security.and_then(Value::as_str).unwrap_or_default();
    if !security.contains(&named) || !security.contains("#PasswordDigest") {
        return Err(Fault::sender("the sender is not authorized"));
    }
    Ok(Value::object([
        ("Manufacturer", Value::from("Example")),
        ("Model", Value::from("C-100")),
        ("FirmwareVersion", Value::from("1.0")),
        ("SerialNumber", Value::from(format!("{number:06}"))),
    ]))
}

#[cfg(test)]
mod tests {
    #[tokio::test(flavor = "multi_thread")]
    async fn every_camera_is_asked_and_failures_say_what_they_are() {
        let addresses = super::install(200).await.expect("cameras");
        let entries = super::inventory(addresses, 50).await.expect("an inventory");
        let (mut serials, mut faults, mut unconnected) = (Vec::new(), 0, 0);
        for entry in entries {
            match entry.found {
                Ok(device) => serials.push(device.serial),
                Err(error) if error.is_connect() => unconnected += 1,
                Err(error) => faults += usize::from(error.fault().is_some()),
            }
        }
        serials.sort();
        let expected: Vec<_> = (2..200).map(|number| format!("{number:06}")).collect();
        assert_eq!((serials, faults, unconnected), (expected, 1, 1));
    }
}
