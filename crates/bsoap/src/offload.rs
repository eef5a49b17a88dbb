//! Long conversions, where they hold nobody up: a thread of the runtime that reads 50 MB serves nobody else meanwhile.

use std::sync::LazyLock;

use bsoap_codec::{Record, Value};
use tokio::sync::Semaphore;

/// Conversions of about so many bytes of text take a millisecond or two; longer ones go to another thread.
pub(crate) const LONG: usize = 2 << 20;

/// As many at a time as there are processors: more would only slow down each other, and those who do short work.
static ROOM: LazyLock<Semaphore> = LazyLock::new(|| {
    Semaphore::new(std::thread::available_parallelism().map_or(1, std::num::NonZero::get))
});

/// Does some work on about so many bytes of text: here, or on a thread for such work if it takes long.
pub(crate) async fn convert<T: Send + 'static>(
    bytes: usize,
    work: impl FnOnce() -> T + Send + 'static,
) -> T {
    if bytes < LONG {
        return work();
    }
    let place = ROOM.acquire().await.expect("the semaphore is never closed");
    // The work goes on even if nobody waits for it any more, so it keeps its place.
    let working = tokio::task::spawn_blocking(move || {
        let result = work();
        drop(place);
        result
    });
    match working
        .await
        .map_err(tokio::task::JoinError::try_into_panic)
    {
        Ok(result) => result,
        Err(Ok(panic)) => std::panic::resume_unwind(panic),
        // The runtime is ending, and whoever waits here with it.
        Err(Err(_)) => std::future::pending().await,
    }
}

/// About how many bytes of text a Record makes.
pub(crate) fn weight_of_record(record: &Record) -> usize {
    record.slots().len() * 16 + record.heap().len()
}

/// About how many bytes of text a value makes, or at least [`LONG`].
pub(crate) fn weight_of_value(value: &Value) -> usize {
    /// A pair of tags.
    const TAGS: usize = 16;

    let mut weight = 0;
    let mut rest = vec![value];
    while let Some(value) = rest.pop() {
        weight += TAGS
            + match value {
                Value::Text(text) => text.len(),
                Value::Bytes(octets) => octets.len() / 3 * 4,
                Value::Doubles(values) => values.len() * (TAGS + 12),
                Value::Floats(values) => values.len() * (TAGS + 8),
                Value::Ints(values) => values.len() * (TAGS + 4),
                Value::Array(values) => {
                    // Not all of a long one has to be looked at.
                    rest.extend(values.iter().take(LONG / TAGS));
                    0
                }
                Value::Object(members) => {
                    rest.extend(members.iter().map(|(_, value)| value));
                    0
                }
                _ => 4,
            };
        if weight >= LONG {
            break;
        }
    }
    weight
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_long_is_seen_without_looking_at_all_of_it() {
        let short = Value::object([("a", Value::from("b")), ("c", Value::from(vec![1.5; 1000]))]);
        assert!((1000..100_000).contains(&weight_of_value(&short)));
        for long in [
            Value::from("x".repeat(LONG)),
            Value::from(vec![1.5; LONG / 20]),
            Value::from(vec![Value::Nil; LONG / 16]),
            Value::Array(vec![short; 1000]),
        ] {
            assert!(weight_of_value(&Value::object([("a", long)])) >= LONG);
        }
    }

    #[tokio::test]
    async fn long_work_is_done_on_another_thread_and_may_panic() {
        let here = std::thread::current().id();
        let thread = || std::thread::current().id();
        assert_eq!(convert(LONG - 1, thread).await, here);
        assert_ne!(convert(LONG, thread).await, here);
        // A panic is passed on, and gives its place back.
        for _ in 0..100 {
            let panicking = tokio::spawn(convert(LONG, || panic!("on purpose")));
            assert!(panicking.await.expect_err("a panic").is_panic());
        }
        assert_ne!(convert(LONG, thread).await, here);
    }
}
