//! Our services, which peers call.

use bsoap::service::Bound;
use bsoap::{Fault, Message, Service, ServiceBuilder, Value};
use tokio::runtime::Runtime;
use tokio::sync::oneshot;

use crate::mesh_wsdl;
use crate::values::{items, jacobi, under};

async fn echo(message: Message) -> Value {
    message.value()
}

async fn sum_doubles(message: Message) -> Value {
    let arguments = message.value();
    let numbers = arguments["values"]["item"].as_doubles();
    under("sum", numbers.unwrap_or_default().iter().sum::<f64>())
}

async fn sum_ints(message: Message) -> Value {
    let arguments = message.value();
    let numbers = arguments["values"]["item"].as_ints();
    under("sum", numbers.unwrap_or_default().iter().sum::<i64>())
}

async fn jacobi_step(message: Message) -> Result<Value, Fault> {
    let arguments = message.value();
    let field = arguments["field"]["item"].as_doubles().unwrap_or_default();
    let side = |name: &str| arguments[name].as_u64().unwrap_or(0) as usize;
    let (rows, columns) = (side("rows"), side("columns"));
    if rows * columns != field.len() {
        let shape = Value::object([
            ("expected", Value::from((rows * columns) as u64)),
            ("found", Value::from(field.len() as u64)),
        ]);
        let fault = Fault::sender("the field has another shape");
        return Err(fault.with_detail(under("badShape", shape)));
    }
    let (field, residual) = jacobi(rows, columns, field);
    Ok(Value::object([
        ("field", items(field)),
        ("residual", Value::from(residual)),
    ]))
}

/// Our mesh service, which peers call.
pub(crate) fn mesh() -> ServiceBuilder {
    Service::builder(mesh_wsdl().as_path())
        .handle("echoDoubles", echo)
        .handle("echoInts", echo)
        .handle("echoMesh", echo)
        .handle("sumDoubles", sum_doubles)
        .handle("sumInts", sum_ints)
        .handle("jacobiStep", jacobi_step)
}

/// A service of ours on a free port.
pub(crate) struct Running {
    pub(crate) urls: Vec<String>,
    runtime: Runtime,
    stop: oneshot::Sender<()>,
    done: oneshot::Receiver<()>,
}

impl Running {
    pub(crate) fn start(service: ServiceBuilder) -> Self {
        let runtime = Runtime::new().expect("a runtime");
        let service = service.build();
        let service = service.unwrap_or_else(|error| panic!("{}", error.report()));
        let bound: Bound = runtime
            .block_on(service.bind("127.0.0.1:0"))
            .expect("a free port");
        let urls = bound.urls();
        let (stop, stopped) = oneshot::channel::<()>();
        let (finished, done) = oneshot::channel::<()>();
        runtime.spawn(async move {
            bound.run(async { drop(stopped.await) }).await;
            let _ = finished.send(()); // if nobody waits, nobody need know
        });
        Self {
            urls,
            runtime,
            stop,
            done,
        }
    }

    pub(crate) fn stop(self) {
        drop(self.stop);
        let ended = self.runtime.block_on(self.done);
        ended.expect("the service ends without panic");
    }
}
