//! The access log: a line for each answered request, in a file that is never waited for.

use std::fmt::Write as _;
use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};
use std::sync::{Arc, Mutex, Weak};
use std::time::SystemTime;

use bsoap::http::{Answered, HeaderMap, header};
use bsoap::service::Called;
use bsoap::types::DateTime;
use serde_json::json;

use super::log::Log;
use crate::error::Failure;
use crate::limits::{MAX_QUEUED_LINES, WRITE_OUT_TIME};

/// The form of the lines.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub(super) enum AccessFormat {
    /// The combined format of Apache
    #[default]
    Combined,
    /// A JSON object, also with operation, fault, duration and bytes received
    Json,
}

/// A bounded queue of lines, and the thread that writes them. Lines that do not fit, or cannot be written, are dropped and
/// counted.
pub(super) struct AccessLog {
    format: AccessFormat,
    queue: SyncSender<Entry>,
    state: Arc<State>,
    /// Receives a message when all lines have been written.
    written: Mutex<Receiver<()>>,
}

enum Entry {
    Line(String),
    /// Nothing to write, but the file is to be opened again.
    Wake,
}

#[derive(Default)]
struct State {
    dropped: AtomicU64,
    /// Whether the file is to be opened again before the next line.
    must_reopen: AtomicBool,
}

impl AccessLog {
    /// Starts the thread that writes to a file; `-` is standard output.
    ///
    /// # Errors
    /// If the file cannot be opened.
    pub(super) fn new(path: &Path, format: AccessFormat, log: &Arc<Log>) -> Result<Self, Failure> {
        let target = Target::open(path).map_err(|error| {
            let text = format!("cannot open {} (--access-log)", path.display());
            Failure::input(text).because(error)
        })?;
        let (queue, entries) = sync_channel(MAX_QUEUED_LINES);
        let (ended, written) = sync_channel(1);
        let state = Arc::new(State::default());
        let writer = Writer {
            target,
            state: Arc::clone(&state),
            log: Arc::downgrade(log),
            has_failed: false,
            reported: 0,
        };
        std::thread::spawn(move || {
            writer.run(&entries);
            let _ = ended.send(());
        });
        Ok(Self {
            format,
            queue,
            state,
            written: Mutex::new(written),
        })
    }

    /// Writes the line of a request.
    pub(super) fn write(&self, answered: &Answered<'_>) {
        let now = DateTime::from(SystemTime::now());
        let line = match self.format {
            AccessFormat::Combined => combined(answered, &now),
            AccessFormat::Json => json_line(answered, &now),
        };
        if let Err(TrySendError::Full(_)) = self.queue.try_send(Entry::Line(line)) {
            self.state.dropped.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Opens the file again, which may have been renamed.
    pub(super) fn reopen(&self) {
        self.state.must_reopen.store(true, Ordering::Relaxed);
        // A full queue wakes the thread anyway.
        let _ = self.queue.try_send(Entry::Wake);
    }

    /// Waits until all lines have been written, but not for a stalled reader. Returns how many lines were dropped.
    pub(super) fn finish(self) -> u64 {
        drop(self.queue);
        if let Ok(written) = self.written.into_inner() {
            let _ = written.recv_timeout(WRITE_OUT_TIME);
        }
        self.state.dropped.load(Ordering::Relaxed)
    }
}

/// Where the lines go.
enum Target {
    Output,
    File(PathBuf, Option<File>),
}

impl Target {
    fn open(path: &Path) -> io::Result<Self> {
        if path == Path::new("-") {
            return Ok(Self::Output);
        }
        // Opening a pipe waits for its reader, which the service must not do: the thread that writes opens it.
        let file = match is_pipe(path) {
            true => None,
            false => Some(append_to(path)?),
        };
        Ok(Self::File(path.to_owned(), file))
    }

    fn write(&mut self, line: &str) -> io::Result<()> {
        match self {
            Self::Output => {
                let mut output = io::stdout().lock();
                output.write_all(line.as_bytes())?;
                output.flush()
            }
            Self::File(path, file) => {
                let file = match file {
                    Some(file) => file,
                    None => file.insert(append_to(path)?),
                };
                file.write_all(line.as_bytes())
            }
        }
    }

    fn reopen(&mut self) -> io::Result<()> {
        if let Self::File(path, file) = self {
            *file = None;
            *file = Some(append_to(path)?);
        }
        Ok(())
    }
}

fn append_to(path: &Path) -> io::Result<File> {
    OpenOptions::new().create(true).append(true).open(path)
}

#[cfg(unix)]
fn is_pipe(path: &Path) -> bool {
    use std::os::unix::fs::FileTypeExt as _;
    path.metadata()
        .is_ok_and(|metadata| metadata.file_type().is_fifo())
}

#[cfg(not(unix))]
fn is_pipe(_: &Path) -> bool {
    false
}

/// The thread that writes.
struct Writer {
    target: Target,
    state: Arc<State>,
    /// Weak, since the thread may wait for a reader until the process ends.
    log: Weak<Log>,
    /// True if the last line could not be written: that is reported once.
    has_failed: bool,
    reported: u64,
}

impl Writer {
    fn run(mut self, entries: &Receiver<Entry>) {
        for entry in entries {
            if self.state.must_reopen.swap(false, Ordering::Relaxed) {
                let reopened = self.target.reopen();
                self.check(reopened);
            }
            if let Entry::Line(line) = entry {
                let written = self.target.write(&line);
                if !self.check(written) {
                    self.state.dropped.fetch_add(1, Ordering::Relaxed);
                }
                self.report_dropped();
            }
        }
    }

    fn note(&self, text: &str) {
        if let Some(log) = self.log.upgrade() {
            log.note(text);
        }
    }

    /// Whether it succeeded. The first of several failures is reported.
    fn check(&mut self, result: io::Result<()>) -> bool {
        let has_failed = result.is_err();
        if let (Err(error), false) = (result, self.has_failed) {
            self.note(&format!("the access log cannot be written: {error}"));
        }
        self.has_failed = has_failed;
        !has_failed
    }

    /// Reports dropped lines as soon as others can be written again.
    fn report_dropped(&mut self) {
        let dropped = self.state.dropped.load(Ordering::Relaxed);
        if dropped > self.reported && !self.has_failed {
            let missing = dropped - self.reported;
            self.note(&format!("{missing} lines of the access log were dropped"));
            self.reported = dropped;
        }
    }
}

/// A line in the combined format of Apache. The user is `-`: nothing here verifies passwords.
fn combined(answered: &Answered<'_>, now: &DateTime) -> String {
    let mut line = format!("{} - - [", answered.peer.ip());
    let month = MONTHS[usize::from(now.month() - 1) % MONTHS.len()];
    let _ = write!(
        line,
        "{:02}/{month}/{:04}:{:02}:{:02}:{:02} +0000] \"",
        now.day(),
        now.year(),
        now.hour(),
        now.minute(),
        now.second(),
    );
    quote(&mut line, answered.method.as_str().as_bytes());
    line.push(' ');
    quote(&mut line, target(answered).as_bytes());
    let _ = write!(
        line,
        " {:?}\" {} ",
        answered.version,
        answered.status.as_u16()
    );
    match answered.sent {
        0 => line.push('-'),
        sent => drop(write!(line, "{sent}")),
    }
    for name in [header::REFERER, header::USER_AGENT] {
        line.push_str(" \"");
        let value = answered.headers.get(name);
        quote(&mut line, value.map_or(b"-", |value| value.as_bytes()));
        line.push('"');
    }
    line.push('\n');
    line
}

const MONTHS: [&str; 12] = [
    "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
];

/// The path and the query as the client sent them.
fn target<'r>(answered: &Answered<'r>) -> &'r str {
    let both = answered.uri.path_and_query();
    both.map_or("/", |both| both.as_str())
}

/// Appends a text of the client so that it neither ends the quotes nor the line.
fn quote(line: &mut String, text: &[u8]) {
    for byte in text {
        match byte {
            b'"' | b'\\' => line.extend(['\\', char::from(*byte)]),
            b' '..=b'~' => line.push(char::from(*byte)),
            other => drop(write!(line, "\\x{other:02x}")),
        }
    }
}

/// A line of JSON.
fn json_line(answered: &Answered<'_>, now: &DateTime) -> String {
    let called = Called::of(answered);
    let fault = called.and_then(Called::fault);
    let line = json!({
        "time": now.to_string(),
        "peer": answered.peer.to_string(),
        "method": answered.method.as_str(),
        "target": target(answered),
        "version": format!("{:?}", answered.version),
        "status": answered.status.as_u16(),
        "service": called.and_then(Called::port_type),
        "operation": called.and_then(Called::operation),
        "fault": fault.map(ToString::to_string),
        "duration_seconds": answered.duration.as_secs_f64(),
        "received": answered.received,
        "sent": answered.sent,
        "referer": text(answered.headers, &header::REFERER),
        "user_agent": text(answered.headers, &header::USER_AGENT),
    });
    format!("{line}\n")
}

fn text(headers: &HeaderMap, name: &header::HeaderName) -> Option<String> {
    let value = headers.get(name)?;
    Some(String::from_utf8_lossy(value.as_bytes()).into_owned())
}

#[cfg(test)]
mod tests {
    use super::quote;

    #[test]
    fn a_text_of_a_client_ends_neither_quotes_nor_line() {
        let mut line = String::new();
        quote(&mut line, b"a\"b\\c\nd\xff");
        assert_eq!(line, r#"a\"b\\c\x0ad\xff"#);
    }
}
