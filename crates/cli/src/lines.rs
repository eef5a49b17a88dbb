//! Lines of output that never block who writes them: a thread of its own writes them to the streams of the process.

use std::io::Write as _;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};
use std::sync::{Arc, Mutex};

use crate::limits::{MAX_QUEUED_LINES, WRITE_OUT_TIME};

/// A bounded queue of lines. Lines that do not fit are dropped and counted.
#[derive(Debug)]
pub(crate) struct Lines {
    queue: SyncSender<Line>,
    dropped: Arc<AtomicU64>,
    /// Receives a message when all lines have been written.
    written: Mutex<Receiver<()>>,
}

/// A line, and the stream that it goes to.
#[derive(Debug, PartialEq, Eq)]
enum Line {
    /// Standard output.
    Out(String),
    /// Standard error.
    Note(String),
}

impl Lines {
    /// Starts the thread.
    pub(crate) fn new() -> Self {
        Self::writing_with(|line| match line {
            Line::Out(line) => drop(writeln!(anstream::stdout().lock(), "{line}")),
            Line::Note(line) => drop(writeln!(anstream::stderr().lock(), "{line}")),
        })
    }

    fn writing_with(write: impl Fn(Line) + Send + 'static) -> Self {
        let (queue, lines) = sync_channel(MAX_QUEUED_LINES);
        let (ended, written) = sync_channel(1);
        let dropped = Arc::new(AtomicU64::new(0));
        let lost = Arc::clone(&dropped);
        std::thread::spawn(move || {
            let mut reported = 0;
            for line in lines {
                write(line);
                let lost = lost.load(Ordering::Relaxed);
                if lost > reported {
                    let missing = lost - reported;
                    write(Line::Note(format!(
                        "{missing} lines were dropped: standard output or standard error is not read fast enough"
                    )));
                    reported = lost;
                }
            }
            let _ = ended.send(());
        });
        Self {
            queue,
            dropped,
            written: Mutex::new(written),
        }
    }

    /// A line on standard output.
    pub(crate) fn out(&self, line: String) {
        self.send(Line::Out(line));
    }

    /// A line on standard error.
    pub(crate) fn note(&self, line: String) {
        self.send(Line::Note(line));
    }

    fn send(&self, line: Line) {
        if let Err(TrySendError::Full(_)) = self.queue.try_send(line) {
            self.dropped.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// How many lines were dropped so far.
    pub(crate) fn dropped(&self) -> u64 {
        self.dropped.load(Ordering::Relaxed)
    }

    /// Waits until all lines have been written, but not for a stalled reader.
    pub(crate) fn finish(self) {
        drop(self.queue);
        if let Ok(written) = self.written.into_inner() {
            let _ = written.recv_timeout(WRITE_OUT_TIME);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::channel;
    use std::time::{Duration, Instant};

    use super::*;

    #[test]
    fn lines_are_written_in_order() {
        let (sender, written) = channel();
        let lines = Lines::writing_with(move |line| sender.send(line).unwrap());
        lines.out("one".to_owned());
        lines.note("two".to_owned());
        lines.finish();
        let all: Vec<Line> = written.iter().collect();
        let expected = [Line::Out("one".to_owned()), Line::Note("two".to_owned())];
        assert_eq!(all, expected);
    }

    #[test]
    fn a_stalled_reader_blocks_nobody_and_lost_lines_are_counted() {
        let (release, stalled) = channel::<()>();
        let lines = Lines::writing_with(move |_| {
            let _ = stalled.recv();
        });
        let begun = Instant::now();
        for number in 0..2 * MAX_QUEUED_LINES {
            lines.out(number.to_string());
        }
        let lost = lines.dropped();
        assert!(lost as usize >= MAX_QUEUED_LINES - 1, "{lost}");
        lines.finish();
        assert!(begun.elapsed() < WRITE_OUT_TIME + Duration::from_secs(5));
        drop(release);
    }
}
