//! A program that contains its WSDL: the macro `wsdl!` generates types, a client and a service trait where it is written, and
//! nothing is read when the program runs.
//!
//! ```sh
//! cargo run -p bsoap --features macros --example embedded
//! ```

#![allow(clippy::print_stdout)]

use bsoap::{Client, Fault, Message, Service};

mod mesh {
    bsoap::wsdl!("../../examples/mesh/mesh.wsdl", operations = ["sumDoubles"]);
}

use mesh::{ArrayOfDouble, Mesh, MeshClient, SumDoubles, SumDoublesResponse};

struct Sums;

impl Mesh for Sums {
    async fn sum_doubles(
        &self,
        request: SumDoubles,
        _: Message,
    ) -> Result<SumDoublesResponse, Fault> {
        Ok(SumDoublesResponse {
            sum: request.values.item.iter().sum(),
        })
    }
}

#[allow(clippy::print_stdout)] // it is a program
#[tokio::main]
async fn main() -> Result<(), bsoap::Error> {
    println!("the sum is {}", sum(vec![1.5, 2.5, 3.0]).await?);
    Ok(())
}

/// Serves and calls the embedded WSDL.
async fn sum(item: Vec<f64>) -> Result<f64, bsoap::Error> {
    let service = mesh::serve_mesh(Sums, Service::builder(mesh::wsdl())).build()?;
    let service = service.bind("127.0.0.1:0").await?;
    let client = Client::builder(mesh::wsdl())
        .endpoint(&service.urls()[0])
        .build()?;
    tokio::spawn(service.run(std::future::pending()));
    let request = SumDoubles {
        values: ArrayOfDouble { item },
    };
    Ok(MeshClient::new(client)?.sum_doubles(&request).await?.sum)
}

#[tokio::test]
async fn the_embedded_wsdl_is_served_and_called() {
    assert_eq!(sum(vec![1.5, 2.5, 3.0]).await.unwrap(), 7.0);
}
