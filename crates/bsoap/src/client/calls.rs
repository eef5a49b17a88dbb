//! Calls with values, with Rust values and with Records.

use std::sync::Arc;

use bsoap_codec::{Object, Pack, Record, Unpack, Value};
use bsoap_protocol::{Contents, Reply, Request, Target};
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::Client;
use super::exchange::Outgoing;
use super::options::add_xml;
use crate::offload::{convert, weight_of_record};
use crate::{Error, Streamed, insertion};

impl Client {
    /// Calls an operation and returns its result. Arguments and result are objects with the children of the wrapper element,
    /// or with the parts by name if there is no wrapper. Header blocks are under `@headers`. The result of a one-way
    /// operation is nil.
    ///
    /// # Errors
    /// [`Error::Fault`] if the peer answers with a fault, others if there is no usable answer.
    pub async fn call(&self, operation: &str, arguments: &Value) -> Result<Value, Error> {
        let reply = self.exchange(self.request(operation, arguments)?).await?;
        let weight = match &reply {
            Reply::Answer(answer) => weight_of_record(answer.record()),
            _ => 0,
        };
        let value = convert(weight, || reply.into_value()).await;
        value.map_err(Error::Fault)
    }

    /// Calls an operation with Rust values: types generated from the WSDL, or others that implement [`Pack`] and [`Unpack`].
    /// `arguments` and `R` are the contents of the wrapper element, or of the only part if there is no wrapper.
    ///
    /// The arguments are written to a message at once, so the returned future does not borrow them. It can be moved to
    /// another thread.
    ///
    /// # Errors
    /// The errors of [`call`](Self::call). Also if a type was generated for another WSDL.
    pub fn call_typed<R: Unpack>(
        &self,
        operation: &str,
        arguments: &dyn Pack,
    ) -> impl Future<Output = Result<R, Error>> + Send + use<'_, R> {
        let request = self.request(operation, Contents::packed(arguments));
        async move {
            let request = request?;
            let target = request.target().clone();
            match self.exchange(request).await? {
                Reply::Answer(answer) => Ok(answer.unpack()?),
                // The message was sent and may have run.
                Reply::Accepted => Err(target.one_way().into()),
                Reply::Fault(fault) => Err(Error::Fault(fault)),
            }
        }
    }

    /// Sends a one-way message whose arguments are a Rust value.
    ///
    /// # Errors
    /// The errors of [`call_typed`](Self::call_typed).
    pub fn notify_typed(
        &self,
        operation: &str,
        arguments: &dyn Pack,
    ) -> impl Future<Output = Result<(), Error>> + Send + use<'_> {
        let request = self.request(operation, Contents::packed(arguments));
        async move {
            match self.exchange(request?).await? {
                Reply::Answer(_) | Reply::Accepted => Ok(()),
                Reply::Fault(fault) => Err(Error::Fault(fault)),
            }
        }
    }

    /// Calls an operation with types of the program: the arguments implement `serde::Serialize`, the result implements
    /// `serde::Deserialize`. Fields are named as in JSON: `@name` is an attribute, `#text` is the value of an element with
    /// attributes, a sequence is a repeated element.
    ///
    /// ```no_run
    /// use serde::{Deserialize, Serialize};
    ///
    /// #[derive(Serialize)]
    /// struct Sum { values: Items }
    /// #[derive(Serialize)]
    /// struct Items { item: Vec<f64> }
    /// #[derive(Deserialize)]
    /// struct Answer { sum: f64 }
    ///
    /// # async fn example(client: bsoap::Client) -> Result<(), bsoap::Error> {
    /// let arguments = Sum { values: Items { item: vec![1.5, 2.5] } };
    /// let answer: Answer = client.call_serde("sumDoubles", &arguments).await?;
    /// assert_eq!(answer.sum, 4.0);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// The errors of [`call`](Self::call). Also if the result does not have what `R` wants; the error names the path.
    pub fn call_serde<R: DeserializeOwned, A: Serialize + ?Sized>(
        &self,
        operation: &str,
        arguments: &A,
    ) -> impl Future<Output = Result<R, Error>> + Send + use<'_, R, A> {
        let request = Value::from_serialize(arguments)
            .map_err(Error::from)
            .and_then(|arguments| self.request(operation, arguments));
        async move {
            match self.exchange(request?).await? {
                Reply::Answer(answer) => Ok(answer.deserialize()?),
                Reply::Accepted => Ok(Value::Nil.deserialize_as::<R>()?),
                Reply::Fault(fault) => Err(Error::Fault(fault)),
            }
        }
    }

    /// Creates the request that [`call`](Self::call) would send.
    ///
    /// # Errors
    /// If the WSDL has no such operation, or the arguments do not match it.
    pub fn request<'c>(
        &self,
        operation: &str,
        contents: impl Into<Contents<'c>>,
    ) -> Result<Request, Error> {
        let target = self.target(operation)?;
        let contents = contents.into().with_more_headers(&self.inner.headers);
        Ok(self.inner.meter.converting(|| target.request(contents))?)
    }

    /// Sends a request and waits for the reply. A fault is a reply, not an error. A reply has the [`Record`] of the
    /// response.
    ///
    /// # Errors
    /// If the request cannot be encoded or sent, if it was made for another WSDL or port, or if the reply cannot be used.
    pub async fn exchange(&self, request: Request) -> Result<Reply, Error> {
        Ok(self.exchange_as(request, None).await?.reply)
    }

    /// Sends the Record of a request Envelope and returns the Record of the response Envelope, or `None` for a one-way
    /// operation. The returned Record is never modified and may be kept.
    ///
    /// # Errors
    /// The errors of [`call`](Self::call).
    pub async fn call_record(
        &self,
        operation: &str,
        envelope: Record,
    ) -> Result<Option<Arc<Record>>, Error> {
        let target = self.target(operation)?;
        let request = target.request_of(target.completed(envelope)?);
        match self.exchange(request).await? {
            Reply::Answer(answer) => Ok(Some(Arc::clone(answer.shared_record()))),
            Reply::Accepted => Ok(None),
            Reply::Fault(fault) => Err(Error::Fault(fault)),
        }
    }

    /// Calls an operation with an array that is encoded while it is sent: the memory used does not grow with the array. The
    /// other arguments are as for [`call`](Self::call).
    ///
    /// ```no_run
    /// use bsoap::{Streamed, Value};
    ///
    /// # async fn example(client: bsoap::Client) -> Result<(), bsoap::Error> {
    /// let readings = (0..10_000_000).map(|number: i32| f64::from(number) / 7.0);
    /// let arguments = Value::object([("values", Value::object([("item", Value::Array(vec![]))]))]);
    /// let answer = client.call_streamed("sumDoubles", &arguments, Streamed::new("values.item", readings)).await?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// The errors of [`call`](Self::call). Also if the rows do not have the type of the array's elements.
    pub async fn call_streamed(
        &self,
        operation: &str,
        arguments: &Value,
        rows: Streamed,
    ) -> Result<Value, Error> {
        // The text has no place yet where a block could be inserted later.
        let target = self.target(operation)?;
        // Those of the program are kept, as in other messages.
        let given = arguments["@headers"].as_object();
        let mut given = given.into_iter().chain([&self.inner.headers]);
        let is_own = given.any(|headers| has_addressing(headers, &target));
        let addressed = match is_own {
            true => None,
            false => self.addressed(&target, None)?,
        };
        let mut blocks = self.security()?;
        if let Some(addressed) = &addressed {
            for block in &addressed.blocks {
                add_xml(&mut blocks, block.clone());
            }
        }
        let contents = Contents::from(arguments).with_more_headers(&blocks);
        let request = self.request(operation, contents)?;
        if !request.record().attachments().is_empty() {
            return Err(Error::Setup(
                "a message with an array that is streamed cannot have attachments: give the binary values as octets".into(),
            ));
        }
        let checked = request.record().check_with(self.inner.scope.validation());
        checked.map_err(|error| request.target().unwritable(error))?;
        let body = rows.body(request.record())?;
        let (_, headers, mut awaiting) = request.start();
        if let Some(addressed) = addressed {
            awaiting = awaiting.with_addressing(addressed.sent);
        }
        let outgoing = Outgoing {
            headers,
            body,
            attachments: Vec::new(),
        };
        let exchanged = self.deliver(outgoing, awaiting, None).await?;
        exchanged.reply.into_value().map_err(Error::Fault)
    }
}

/// True if header blocks, declared ones or such that are given as XML, are of WS-Addressing.
fn has_addressing(headers: &Object, target: &Target) -> bool {
    let undeclared = headers.get("#any").and_then(Value::as_array);
    let undeclared = undeclared.unwrap_or_default().iter();
    let mut undeclared = undeclared.filter_map(Value::as_str);
    let mut names = headers
        .keys()
        .filter_map(|key| target.request_header_part(key).ok());
    let is_declared = |name: &str| {
        let mut parts = target.operation().input.headers.iter();
        let part = parts.find(|part| part.name == name);
        part.is_some_and(|part| {
            let plan = target.plan();
            let name = plan.element(part.element).name;
            insertion::names_addressing(plan.vocabulary().namespace(name).as_bytes())
        })
    };
    undeclared.any(|xml| insertion::names_addressing(xml.as_bytes())) || names.any(is_declared)
}
