//! The signals that stop a service.

/// Completes when the process is asked to stop: by SIGTERM or SIGINT (Ctrl-C), or where there are no such signals, by Ctrl-C. From
/// then on, another such signal ends the process at once.
///
/// The signals are caught from the call on, not only when the future is first polled. It is called within a runtime of tokio.
///
/// ```no_run
/// use bsoap::Service;
/// use bsoap::service::stop_signal;
///
/// # async fn example(service: Service) -> Result<(), bsoap::Error> {
/// service.bind("0.0.0.0:8080").await?.run(stop_signal()).await;
/// # Ok(())
/// # }
/// ```
pub fn stop_signal() -> impl Future<Output = ()> + Send + use<> {
    let mut signals = Signals::listen();
    async move {
        signals.next().await;
        tokio::spawn(async move {
            let code = signals.next().await;
            std::process::exit(code);
        });
    }
}

/// The signals that ask for an end, each with the exit code that a shell reports for a process that it has ended.
#[cfg(unix)]
struct Signals(Vec<(tokio::signal::unix::Signal, i32)>);

#[cfg(unix)]
impl Signals {
    fn listen() -> Self {
        use tokio::signal::unix::{SignalKind, signal};

        let kinds = [SignalKind::terminate(), SignalKind::interrupt()].into_iter();
        let listened = kinds.filter_map(|kind| {
            let code = 128 + kind.as_raw_value();
            Some((signal(kind).ok()?, code))
        });
        Self(listened.collect())
    }

    /// Waits for a signal. Returns its exit code.
    async fn next(&mut self) -> i32 {
        use std::future::poll_fn;
        use std::task::Poll;

        poll_fn(|context| {
            let caught = self
                .0
                .iter_mut()
                .find_map(|(signal, code)| signal.poll_recv(context).is_ready().then_some(*code));
            caught.map_or(Poll::Pending, Poll::Ready)
        })
        .await
    }
}

#[cfg(not(unix))]
struct Signals;

#[cfg(not(unix))]
impl Signals {
    fn listen() -> Self {
        Self
    }

    async fn next(&mut self) -> i32 {
        drop(tokio::signal::ctrl_c().await);
        130
    }
}
