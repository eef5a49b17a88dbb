//! A message on its way in: what every way to receive pieces does with them, whatever it does with the text.

use std::sync::Arc;

use bsoap_codec::decode::{Decoder, Error};
use bsoap_codec::plan::ElementId;
use bsoap_xml::Input;

use super::change::Changes;
use super::received::{Mode, Received};

/// A message on its way in.
#[derive(Debug)]
pub(super) struct Arriving<R> {
    pub(super) root: ElementId,
    /// Its text so far.
    pub(super) input: Input,
    /// What is done with it.
    pub(super) reading: R,
    /// Said again from then on.
    failed: Option<Error>,
}

impl<R> Arriving<R> {
    /// Nothing of it is there. `input` may bring memory along.
    pub(super) fn new(root: ElementId, input: Input, reading: R) -> Self {
        Self {
            root,
            input,
            reading,
            failed: None,
        }
    }
}

/// Reads messages that arrive in pieces.
pub(super) trait Receiver {
    /// What is done with a message.
    type Reading;

    fn decoder(&mut self) -> &mut Decoder;

    fn arriving(&mut self) -> &mut Option<Arriving<Self::Reading>>;

    /// Reads what has come. `stepped`: what the input says of its encoding; `last`: no more comes.
    fn read_on(
        &mut self,
        arriving: &mut Arriving<Self::Reading>,
        stepped: bsoap_xml::Result<()>,
        last: bool,
    ) -> Result<(), Error>;

    /// All has been read.
    fn end(&mut self, arriving: Arriving<Self::Reading>) -> Result<Received, Error>;

    /// Goes on with more bytes, or with none behind.
    fn step(
        &mut self,
        step: impl FnOnce(&mut Input) -> bsoap_xml::Result<()>,
        last: bool,
    ) -> Result<(), Error> {
        let Some(mut arriving) = self.arriving().take() else {
            return match last {
                true => Ok(()),
                false => self.decoder().feed(&[]),
            };
        };
        let result = match arriving.failed.clone() {
            Some(error) => Err(error),
            None => {
                let stepped = step(&mut arriving.input);
                self.read_on(&mut arriving, stepped, last)
            }
        };
        if let Err(error) = &result {
            arriving.failed = Some(error.clone());
        }
        *self.arriving() = Some(arriving);
        result
    }

    /// The message has come to its end.
    fn last_step(&mut self) -> Result<Received, Error> {
        let stepped = self.step(Input::finish, true);
        let Some(arriving) = self.arriving().take() else {
            // Nothing was begun: a decoder says so.
            return self.decoder().finish().map(|record| Received {
                record: Arc::new(record),
                changes: Changes::all(),
                mode: Mode::Aside,
            });
        };
        stepped?;
        self.end(arriving)
    }
}
