//! A service and a client of types generated from the WSDL: `cargo run --example typed`.
//!
//! `mesh.rs` beside this is what `bsoap generate examples/mesh/mesh.wsdl --lang rust` writes. A project of one's own would
//! generate it in a `build.rs` with `bsoap-generate` and `include!` it from there.

use bsoap::{Client, Fault, Message, Service};

mod mesh {
    include!("mesh.rs");
}

use mesh::{
    ArrayOfDouble, BadShape, EchoDoubles, EchoDoublesResponse, EchoInts, EchoIntsResponse,
    EchoMesh, EchoMeshResponse, JacobiStep, JacobiStepError, JacobiStepResponse, Mesh, MeshClient,
    SumDoubles, SumDoublesResponse, SumInts, SumIntsResponse, serve_mesh,
};

struct Solver;

impl Mesh for Solver {
    async fn echo_doubles(
        &self,
        request: EchoDoubles,
        _: Message,
    ) -> Result<EchoDoublesResponse, Fault> {
        Ok(EchoDoublesResponse {
            values: request.values,
        })
    }

    async fn echo_ints(&self, request: EchoInts, _: Message) -> Result<EchoIntsResponse, Fault> {
        Ok(EchoIntsResponse {
            values: request.values,
        })
    }

    async fn echo_mesh(&self, request: EchoMesh, _: Message) -> Result<EchoMeshResponse, Fault> {
        Ok(EchoMeshResponse {
            objects: request.objects,
        })
    }

    async fn sum_doubles(
        &self,
        request: SumDoubles,
        _: Message,
    ) -> Result<SumDoublesResponse, Fault> {
        Ok(SumDoublesResponse {
            sum: request.values.item.iter().sum(),
        })
    }

    async fn sum_ints(&self, request: SumInts, _: Message) -> Result<SumIntsResponse, Fault> {
        Ok(SumIntsResponse {
            sum: request
                .values
                .item
                .iter()
                .map(|&value| i64::from(value))
                .sum(),
        })
    }

    async fn jacobi_step(
        &self,
        request: JacobiStep,
        _: Message,
    ) -> Result<JacobiStepResponse, JacobiStepError<Fault>> {
        let old = request.field.item;
        let (expected, found) = (
            i64::from(request.rows) * i64::from(request.columns),
            old.len() as i64,
        );
        if expected != found || request.rows < 0 {
            return Err(BadShape { expected, found }.into());
        }
        let (rows, columns) = (request.rows as usize, request.columns as usize);
        let (mut new, mut residual) = (old.clone(), 0.0_f64);
        for row in 1..rows.saturating_sub(1) {
            for place in row * columns + 1..(row + 1) * columns - 1 {
                new[place] =
                    (old[place - columns] + old[place + columns] + old[place - 1] + old[place + 1])
                        / 4.0;
                residual = residual.max((new[place] - old[place]).abs());
            }
        }
        Ok(JacobiStepResponse {
            field: ArrayOfDouble { item: new },
            residual,
        })
    }
}

#[tokio::main]
async fn main() -> Result<(), bsoap::Error> {
    let wsdl = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/mesh/mesh.wsdl");
    let service = serve_mesh(Solver, Service::builder(wsdl))
        .build()?
        .bind("127.0.0.1:0")
        .await?;
    let client = MeshClient::new(Client::builder(wsdl).endpoint(&service.urls()[0]).build()?)?;
    tokio::spawn(service.run(std::future::pending()));

    let field = ArrayOfDouble {
        item: (0..25)
            .map(|place| if place < 5 { 100.0 } else { 0.0 })
            .collect(),
    };
    let mut step = JacobiStep {
        rows: 5,
        columns: 5,
        field,
    };
    for round in 1..=5 {
        match client.jacobi_step(&step).await {
            Ok(answer) => {
                eprintln!("round {round}: residual {}", answer.residual);
                step.field = answer.field;
            }
            Err(error) => eprintln!("round {round}: {error}"),
        }
    }
    step.rows = 7;
    match client.jacobi_step(&step).await {
        Err(JacobiStepError::BadShape(shape)) => {
            eprintln!(
                "as it should be: expected {} values, found {}",
                shape.expected, shape.found
            );
        }
        other => eprintln!("unexpected: {other:?}"),
    }
    Ok(())
}
