//! The messages of an operation outside an exchange: for tools that write and read them without sending.

use bsoap_codec::{Record, Value, View, build};

use super::{Target, value_of};
use crate::arguments::Sections;
use crate::{Error, ErrorKind};

impl Target {
    /// The Record of the response Envelope with this result: the children of the wrapper, otherwise the parts by name;
    /// header blocks under `@headers`.
    ///
    /// # Errors
    /// [`ErrorKind::Arguments`] if it is none of the operation's; [`ErrorKind::OneWay`] if the operation has no answer.
    pub fn response(&self, result: Value) -> Result<Record, Error> {
        let operation = self.operation().name.clone();
        let Some(output) = &self.operation().output else {
            return Err(Error::new(ErrorKind::OneWay { operation }));
        };
        let envelope = Sections::of(&self.plan, self.binding.response).wrap(output, result);
        build(&self.plan, self.binding.response, &envelope)
            .map_err(|source| Error::new(ErrorKind::Arguments { operation }).because(source))
    }

    /// The arguments in a request Envelope of this operation.
    pub fn request_value(&self, envelope: &Record) -> Value {
        Sections::of(&self.plan, self.binding.request)
            .unwrap(&self.operation().input, value_of(&View::of(envelope)))
    }

    /// The result in a response Envelope of this operation; nil if it has no answer.
    pub fn response_value(&self, envelope: &Record) -> Value {
        let Some(output) = &self.operation().output else {
            return Value::Nil;
        };
        Sections::of(&self.plan, self.binding.response)
            .unwrap(output, value_of(&View::of(envelope)))
    }
}
