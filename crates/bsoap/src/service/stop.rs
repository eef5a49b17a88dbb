//! The signals that stop a service.

/// Completes when the process is asked to stop: by SIGTERM or SIGINT (Ctrl-C), or where there are no such signals, by Ctrl-C. From
/// then on, another such signal ends the process at once.
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
pub async fn stop_signal() {
    next().await;
    tokio::spawn(async {
        next().await;
        // As a shell reports a process that SIGINT has ended.
        std::process::exit(130);
    });
}

#[cfg(unix)]
async fn next() {
    use std::future::poll_fn;
    use std::task::Poll;

    use tokio::signal::unix::{SignalKind, signal};

    let listen = |kind| signal(kind).ok();
    let mut signals = [
        listen(SignalKind::terminate()),
        listen(SignalKind::interrupt()),
    ];
    poll_fn(|context| {
        let mut signals = signals.iter_mut().flatten();
        match signals.any(|signal| signal.poll_recv(context).is_ready()) {
            true => Poll::Ready(()),
            false => Poll::Pending,
        }
    })
    .await;
}

#[cfg(not(unix))]
async fn next() {
    drop(tokio::signal::ctrl_c().await);
}
