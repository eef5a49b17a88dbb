//! The engines that benchmarks compare: ours, bare loops over the best crates, and peers.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use bsoap_codec::decode::Validation;
use bsoap_differential::send::{Chunks, Layout, Pad, Policy};

use crate::definition::Task;
use crate::job::{Engine, Job};
use crate::workload::Workload;

mod api;
mod bare;
mod bsoap;
mod calls;
mod dispatch;
mod encoded;
mod events;
mod external;
mod hints;
mod kernels;
mod libc;
mod memory;
mod numbers;
mod octets;
mod receive;
mod send;
mod served;
mod servers;
mod typed;
mod zeep;

#[cfg(unix)]
pub(crate) use calls::Connection;

fn by_template(policy: Policy) -> Box<dyn Engine> {
    Box::new(send::Sending::Template(policy))
}

fn chunks(size: usize) -> Policy {
    Policy::default().with_chunks(Chunks::of(size))
}

/// An engine by name.
///
/// # Errors
/// Why it cannot take part here, as a sentence.
pub(crate) fn engine(name: &str) -> Result<Box<dyn Engine>, String> {
    let mut by_task = ByTask {
        receives: receive::Receiving::named(name),
        other: None,
    };
    match other_engine(name) {
        Err(error) if by_task.receives.is_none() => return Err(error),
        other => by_task.other = other.ok(),
    }
    Ok(Box::new(by_task))
}

/// One of the engines of `rpc` by name: a server that is called, or a client.
///
/// # Errors
/// Why it cannot take part here, as a sentence.
pub(crate) fn caller(name: &str) -> Result<Box<dyn Engine>, String> {
    Ok(match name {
        "zeep" => Box::new(zeep::Zeep::find()?),
        _ => Box::new(servers::Server::named(name)?),
    })
}

/// What is done under one name where messages are received, and otherwise.
struct ByTask {
    receives: Option<receive::Receiving>,
    other: Option<Box<dyn Engine>>,
}

impl Engine for ByTask {
    fn job(&mut self, work: &Arc<Workload>) -> Result<Option<Box<dyn Job>>, String> {
        fn of(
            engine: Option<&mut dyn Engine>,
            work: &Arc<Workload>,
        ) -> Result<Option<Box<dyn Job>>, String> {
            engine.map_or(Ok(None), |engine| engine.job(work))
        }
        match work.task {
            Task::Receive if self.receives.is_some() => {
                of(self.receives.as_mut().map(|it| it as _), work)
            }
            _ => match &mut self.other {
                Some(other) => other.job(work),
                None => Ok(None),
            },
        }
    }
}

fn other_engine(name: &str) -> Result<Box<dyn Engine>, String> {
    Ok(match name {
        "bsoap" => Box::new(bsoap::Bsoap::new()?),
        "bsoap:general" => Box::new(bsoap::Bsoap::general()?),
        "bsoap:lexical" => Box::new(bsoap::Bsoap::with_facets(Validation::Lexical)?),
        "bsoap:validate" => Box::new(bsoap::Bsoap::with_facets(Validation::Full)?),
        "bsoap:literal" => Box::new(encoded::Literal::new()?),
        "bsoap:shared" => Box::new(encoded::Graphs::Shared),
        "bsoap:expanded" => Box::new(encoded::Graphs::Expanded),
        "baseline" => Box::new(bare::Bare::<bare::Baseline>::default()),
        "bsoap:value" => Box::new(api::Api::Value),
        "bsoap:struct" => Box::new(api::Api::Struct),
        "bsoap:json" => Box::new(api::Api::Json),
        "serde_json" => Box::new(api::Api::SerdeJson),
        "typed" => Box::new(typed::Typed),
        "bsoap:avx2" => Box::new(kernels::Kernels::avx2()?),
        "bsoap:portable" => Box::new(kernels::Kernels::portable()),
        "bsoap:single" => Box::new(bare::Bare::<bsoap::Single>::default()),
        "fast-float2" => Box::new(bare::Bare::<numbers::FastFloat>::default()),
        "zmij" => Box::new(bare::Bare::<numbers::Zmij>::default()),
        "itoa" => Box::new(bare::Bare::<numbers::Itoa>::default()),
        "ryu" => Box::new(bare::Bare::<numbers::Ryu>::default()),
        "lexical" => Box::new(bare::Bare::<numbers::Lexical>::default()),
        "std" => Box::new(bare::Bare::<numbers::Std>::default()),
        "libc" => Box::new(bare::Bare::<libc::Libc>::default()),
        "base64-simd/hex-simd" => Box::new(octets::Octets::Crates),
        "name-table" => Box::new(dispatch::Dispatch::<bsoap_xml::NameTable>::default()),
        "hash-map" => Box::new(dispatch::Dispatch::<dispatch::Mapped<HashMap<_, _>>>::default()),
        "btree-map" => Box::new(dispatch::Dispatch::<dispatch::Mapped<BTreeMap<_, _>>>::default()),
        "perfect-hash" => Box::new(dispatch::Dispatch::<dispatch::Perfect>::default()),
        "simdxml" => Box::new(events::Events::Simdxml),
        "quick-xml" => Box::new(events::Events::QuickXml),
        "bsoap:events" => Box::new(events::Events::Bsoap),
        "bsoap:hints" => Box::new(hints::Hints::Lengths),
        "bsoap:keys" => Box::new(hints::Hints::Keys),
        "copy" => Box::new(hints::Hints::Copy),
        "served:discarded" => Box::new(served::Served::Discarded),
        "served:hints" => Box::new(served::Served::Hints),
        "served:decoded" => Box::new(served::Served::Decoded),
        "roxmltree" => Box::new(hints::Hints::Roxmltree),
        "bsoap:explicit" => Box::new(send::Sending::Explicit),
        "bsoap:stuff-max" => by_template(Policy::MAXIMUM),
        "bsoap:stuff-tag" => by_template(Policy::MAXIMUM.with_pad(Pad::AfterTag)),
        "bsoap:stuff-mid" => by_template(Policy::INTERMEDIATE),
        "bsoap:chunk8k" => by_template(chunks(8 << 10)),
        "bsoap:chunk32k" => by_template(chunks(32 << 10)),
        "bsoap:no-shift" => Box::new(send::Sending::NoShift),
        "bsoap:store" => Box::new(send::Sending::Store),
        "bsoap:plain" => Box::new(send::Sending::Plain),
        "bsoap:stream" => Box::new(send::Sending::Stream),
        "bsoap:off" => Box::new(send::Sending::Off),
        "bsoap:overlay" => Box::new(send::Sending::Overlay(Layout::Plain)),
        "bsoap:overlay-max" => Box::new(send::Sending::Overlay(Layout::Stuffed)),
        "baseline:in-place" => Box::new(send::Sending::InPlace),
        "read+writev" => Box::new(send::Sending::Seen),
        "writev" => Box::new(send::Sending::Writev),
        "memcmp" => Box::new(memory::Memcmp),
        "memcpy" => Box::new(memory::Memcpy),
        "gsoap" | "gsoap:best" | "libxml2" | "libxml2:dom" | "libxml2:reader" | "expat"
        | "woodstox" | "aalto" => Box::new(external::External::build(name)?),
        other => return Err(format!("there is no engine of the name {other}")),
    })
}
