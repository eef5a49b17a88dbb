//! The fixed limits of the commands, in one table.

/// The greatest index of a `name[index]=value` plus one: an index makes an array of that length.
pub(crate) const MAX_ELEMENTS: usize = 100_000;

/// Up to this number, an error lists all operations.
pub(crate) const MAX_LISTED_OPERATIONS: usize = 8;

/// `replay`: a smaller ratio of times is noise.
pub(crate) const MIN_GAIN: f64 = 1.05;

/// `replay`: how many tags ahead the end of a difference is searched.
pub(crate) const MAX_TAGS_AHEAD: usize = 32;

/// The characters in a line of `describe` where standard output is no terminal.
pub(crate) const WIDTH: usize = 100;

/// `describe` breaks no line earlier, however narrow the terminal is.
pub(crate) const MIN_WIDTH: usize = 40;

/// Of messages with fewer bytes, summaries say that there is little to save.
pub(crate) const SMALL_MESSAGE: u64 = 1024;

/// `serve`: the lines that wait to be written; more are dropped.
pub(crate) const MAX_QUEUED_LINES: usize = 10_000;

/// `serve`: how long it waits at its end for its lines to be written.
pub(crate) const WRITE_OUT_TIME: std::time::Duration = std::time::Duration::from_secs(1);
