//! The signals of `bsoap serve`, and what the service manager gets to know.

use std::sync::Arc;

use bsoap::http::Certificates;
use bsoap::service::Bound;

use super::access::AccessLog;
use super::log::Log;
use super::options::TlsArguments;

/// Serves until `stopped` completes. systemd is notified of start and stop, if it wants to be.
pub(super) async fn serve(bound: Bound, stopped: impl Future<Output = ()> + Send) {
    notify(&[sd_notify::NotifyState::Ready]);
    let stop = async {
        stopped.await;
        notify(&[sd_notify::NotifyState::Stopping]);
    };
    bound.run(stop).await;
}

fn notify(states: &[sd_notify::NotifyState<'_>]) {
    // It fails where there is no systemd.
    let _ = sd_notify::notify(false, states);
}

/// Reads the certificates again at each SIGHUP, and opens the access log again.
#[cfg(unix)]
pub(super) fn reload(
    tls: &TlsArguments,
    certificates: Option<Certificates>,
    access: Option<&Arc<AccessLog>>,
    log: &Arc<Log>,
) {
    use tokio::signal::unix::{SignalKind, signal};

    let Ok(mut hangups) = signal(SignalKind::hangup()) else {
        return;
    };
    let (tls, access, log) = (tls.clone(), access.cloned(), Arc::clone(log));
    tokio::spawn(async move {
        while hangups.recv().await.is_some() {
            if let Some(access) = &access {
                access.reopen();
            }
            match certificates.as_ref().map(|known| tls.reload(known)) {
                Some(Ok(())) => log.note("the certificates were read again"),
                Some(Err(failure)) => log.note(&format!(
                    "{}\nthe old certificates remain in use",
                    failure.report()
                )),
                None if access.is_some() => {}
                None => log.note("SIGHUP: there are no certificates to read again"),
            }
        }
    });
}

/// There is no SIGHUP.
#[cfg(not(unix))]
pub(super) fn reload(
    _: &TlsArguments,
    _: Option<Certificates>,
    _: Option<&Arc<AccessLog>>,
    _: &Arc<Log>,
) {
}
