//! What the senders of a stream have in common.

use crate::wire::Wire;

/// How one engine makes messages ready and writes them.
pub(crate) trait Sender {
    /// Whether it wants its values given before each message.
    const IS_FILLED: bool = false;

    /// Takes the values of a message, as a program makes them: of the next one, or of one after that. Not timed.
    fn fill(&mut self, _message: usize) {}

    /// Forgets all that was sent, and has sent this message. Not timed.
    fn begin(&mut self, _message: usize) -> Result<(), String> {
        Ok(())
    }

    /// Makes a message ready to be written.
    fn prepare(&mut self, message: usize) -> Result<(), String>;

    /// Writes the message that was made ready.
    fn write(&mut self, wire: &mut Wire) -> Result<(), String>;
}
