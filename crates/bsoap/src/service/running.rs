//! Runs handlers.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::task::Poll;
use std::time::Duration;

use bsoap_protocol::{Fault, Target};
use tokio::task::JoinSet;
use tracing::Instrument;

use super::handler::{Message, Operation, Payload};

/// Runs a handler as a task, so that no other request is affected if it panics or takes too long. If the client disconnects,
/// the task is aborted at its next `await`. A handler that has always answered at once gets a task only when it waits.
pub(super) async fn run(
    operation: Operation,
    message: Message,
    target: Target,
    limit: Option<Duration>,
) -> Result<Payload, Fault> {
    let quickness = operation.quickness();
    let is_quick = quickness.is_quick();
    let mut answering = quickness.watch(operation.call(message));
    if is_quick {
        let first = std::future::poll_fn(|context| {
            let poll = || Pin::new(&mut answering).poll(context);
            Poll::Ready(catch_unwind(AssertUnwindSafe(poll)))
        });
        match first.await {
            Ok(Poll::Ready(answer)) => return answer,
            Ok(Poll::Pending) => {}
            Err(_) => {
                let operation = &target.operation().name;
                tracing::error!(operation, "a handler panicked");
                return Err(failed());
            }
        }
    }
    // Boxed because a quick handler's future is moved for each request.
    Box::pin(run_as_task(answering, target, limit)).await
}

/// Runs the rest of a handler as a task.
async fn run_as_task(
    answering: impl Future<Output = Result<Payload, Fault>> + Send + 'static,
    target: Target,
    limit: Option<Duration>,
) -> Result<Payload, Fault> {
    // Dropping the set aborts the task.
    let mut tasks = JoinSet::new();
    tasks.spawn(answering.in_current_span());
    let ended = async { tasks.join_next().await.expect("it has one task") };
    let ended = match limit {
        Some(limit) => tokio::time::timeout(limit, ended).await.map_err(|_| limit),
        None => Ok(ended.await),
    };
    let operation = &target.operation().name;
    match ended {
        Ok(Ok(answer)) => answer,
        Ok(Err(error)) => {
            // The message of the panic is logged, but not shown to the client.
            tracing::error!(operation, %error, "a handler panicked or was aborted");
            Err(failed())
        }
        Err(limit) => {
            tracing::warn!(operation, ?limit, "a handler took too long");
            Err(Fault::receiver(format!(
                "operation {operation} took longer than the handler_timeout of {limit:?}"
            )))
        }
    }
}

/// The fault for a handler that did not answer.
pub(super) fn failed() -> Fault {
    Fault::receiver("the service failed while processing the request")
}
