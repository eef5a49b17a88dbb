//! Runs long conversions on blocking threads: a thread of the runtime that decodes 50 MB would delay all other requests.

use std::pin::Pin;
use std::sync::LazyLock;

use bsoap_codec::Record;
#[cfg(any(feature = "server", test))]
use bsoap_codec::Value;
use tokio::sync::Semaphore;

use crate::limits::MAX_INLINE_BYTES;

/// Permits for conversions on blocking threads: one for each processor. More would slow down each other and short
/// conversions.
static PERMITS: LazyLock<Semaphore> = LazyLock::new(|| {
    Semaphore::new(std::thread::available_parallelism().map_or(1, std::num::NonZero::get))
});

/// Runs a conversion of about this many bytes of text: in the calling task, or on a blocking thread if the text is long.
pub(crate) async fn convert<T: Send + 'static>(
    bytes: usize,
    work: impl FnOnce() -> T + Send + 'static,
) -> T {
    match is_short(bytes) {
        true => work(),
        false => offload(work).await,
    }
}

/// True if a text of this many bytes is converted in the calling task.
pub(crate) fn is_short(bytes: usize) -> bool {
    bytes < MAX_INLINE_BYTES
}

/// Runs a long conversion on a blocking thread. The future is boxed: those of short conversions are moved for each message.
pub(crate) fn offload<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> Pin<Box<dyn Future<Output = T> + Send>> {
    Box::pin(on_blocking_thread(work))
}

async fn on_blocking_thread<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> T {
    let permit = PERMITS
        .acquire()
        .await
        .expect("the semaphore is never closed");
    let span = tracing::Span::current();
    // The conversion continues even if the caller is dropped, so the closure holds the permit.
    let working = tokio::task::spawn_blocking(move || {
        let result = span.in_scope(work);
        drop(permit);
        result
    });
    match working
        .await
        .map_err(tokio::task::JoinError::try_into_panic)
    {
        Ok(result) => result,
        Err(Ok(panic)) => std::panic::resume_unwind(panic),
        // The runtime is shutting down, and will drop this task, too.
        Err(Err(_)) => std::future::pending().await,
    }
}

/// The approximate length in bytes of the text that a Record is encoded to.
pub(crate) fn weight_of_record(record: &Record) -> usize {
    record.slots().len() * 16 + record.heap().len()
}

/// The approximate length in bytes of the text that a value is encoded to. For long texts, it is any number that is at
/// least [`MAX_INLINE_BYTES`].
#[cfg(any(feature = "server", test))]
pub(crate) fn weight_of_value(value: &Value) -> usize {
    /// The approximate length of a start tag and an end tag.
    const TAGS: usize = 16;

    let mut weight = 0;
    let mut rest = vec![value];
    while let Some(value) = rest.pop() {
        weight += TAGS
            + match value {
                Value::Text(text) => text.len(),
                Value::Bytes(octets) => octets.len() / 3 * 4,
                Value::Hex(octets) => octets.len() * 2,
                Value::Doubles(values) => values.len() * (TAGS + 12),
                Value::Floats(values) => values.len() * (TAGS + 8),
                Value::Ints(values) => values.len() * (TAGS + 4),
                Value::Array(values) => {
                    // This many elements alone make the text long: there is no need to count more.
                    rest.extend(values.iter().take(MAX_INLINE_BYTES / TAGS));
                    0
                }
                Value::Object(members) => {
                    rest.extend(members.iter().map(|(_, value)| value));
                    0
                }
                _ => 4,
            };
        if weight >= MAX_INLINE_BYTES {
            break;
        }
    }
    weight
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_values_are_recognised_without_reading_all_of_them() {
        let short = Value::object([("a", Value::from("b")), ("c", Value::from(vec![1.5; 1000]))]);
        assert!((1000..100_000).contains(&weight_of_value(&short)));
        for long in [
            Value::from("x".repeat(MAX_INLINE_BYTES)),
            Value::from(vec![1.5; MAX_INLINE_BYTES / 20]),
            Value::from(vec![Value::Nil; MAX_INLINE_BYTES / 16]),
            Value::Array(vec![short; 1000]),
        ] {
            assert!(weight_of_value(&Value::object([("a", long)])) >= MAX_INLINE_BYTES);
        }
    }

    #[tokio::test]
    async fn long_work_runs_on_another_thread_and_may_panic() {
        let here = std::thread::current().id();
        let thread = || std::thread::current().id();
        assert_eq!(convert(MAX_INLINE_BYTES - 1, thread).await, here);
        assert_ne!(convert(MAX_INLINE_BYTES, thread).await, here);
        // A panic is passed on to the caller, and returns its permit.
        for _ in 0..100 {
            let panicking = tokio::spawn(convert(MAX_INLINE_BYTES, || panic!("on purpose")));
            assert!(panicking.await.expect_err("a panic").is_panic());
        }
        assert_ne!(convert(MAX_INLINE_BYTES, thread).await, here);
    }
}
