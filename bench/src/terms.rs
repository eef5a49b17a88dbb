//! What messages are read by: a plan, the root element, and the decoder's options.

use std::sync::{Arc, OnceLock};

use bsoap_codec::plan::ElementId;
use bsoap_codec::{DecodeOptions, Plan};
use bsoap_schema::{Binding, Chain, Definitions, MemoryLoader, WellKnown};

use crate::shape::Shape;

pub(crate) const WSDL: &str = include_str!("../bench.wsdl");

/// Those of rpc/encoded messages.
const ENCODED: &str = include_str!("../encoded.wsdl");

/// The same messages with facets on nearly every value.
const FACETS: &str = include_str!("../validate.wsdl");

/// What messages are read by.
#[derive(Clone, Debug)]
pub(crate) struct Terms {
    pub(crate) plan: Arc<Plan>,
    pub(crate) root: ElementId,
    pub(crate) options: DecodeOptions,
    pub(crate) binding: Arc<Binding>,
}

impl Terms {
    /// Those of the messages of a shape.
    ///
    /// # Errors
    /// The WSDL does not load.
    pub(crate) fn of(shape: Shape) -> Result<Self, String> {
        static ENCODED_TERMS: OnceLock<Result<Terms, String>> = OnceLock::new();
        match shape.is_encoded() {
            true => ENCODED_TERMS
                .get_or_init(|| Self::load("encoded.wsdl", ENCODED))
                .clone(),
            false => Self::own(),
        }
    }

    /// Those of the messages that this program generates.
    ///
    /// # Errors
    /// The WSDL does not load.
    pub(crate) fn own() -> Result<Self, String> {
        static OWN: OnceLock<Result<Terms, String>> = OnceLock::new();
        OWN.get_or_init(|| Self::load("bench.wsdl", WSDL)).clone()
    }

    /// Those of the same messages by a schema that has facets.
    ///
    /// # Errors
    /// The WSDL does not load.
    pub(crate) fn with_facets() -> Result<Self, String> {
        Self::load("validate.wsdl", FACETS)
    }

    fn load(name: &str, wsdl: &str) -> Result<Self, String> {
        let mut loader = MemoryLoader::default();
        loader.add(name, wsdl);
        let loader = Chain::new().then(loader).then(WellKnown);
        let definitions =
            Definitions::load(name, &loader).map_err(|error| format!("bench/{name}: {error}"))?;
        let port = definitions.ports().next();
        let (_, port) = port.ok_or_else(|| format!("bench/{name} has no port"))?;
        Ok(Self {
            plan: Arc::clone(definitions.plan()),
            root: port.binding.request,
            options: DecodeOptions::default(),
            binding: Arc::clone(&port.binding),
        })
    }
}
