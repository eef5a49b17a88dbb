//! The engines that benchmarks compare: ours, bare loops over the best crates, and peers.

use super::job::Engine;

mod bare;
mod bsoap;
mod external;
mod libc;
mod memory;
mod numbers;
mod quick_xml;

/// An engine by name.
///
/// # Errors
/// Why it cannot take part here, as a sentence.
pub(crate) fn engine(name: &str) -> Result<Box<dyn Engine>, String> {
    Ok(match name {
        "bsoap" => Box::new(bsoap::Bsoap::new()?),
        "floor" => Box::new(bare::Bare::<bare::Floor>::default()),
        "fast-float2" => Box::new(bare::Bare::<numbers::FastFloat>::default()),
        "zmij" => Box::new(bare::Bare::<numbers::Zmij>::default()),
        "itoa" => Box::new(bare::Bare::<numbers::Itoa>::default()),
        "ryu" => Box::new(bare::Bare::<numbers::Ryu>::default()),
        "lexical" => Box::new(bare::Bare::<numbers::Lexical>::default()),
        "std" => Box::new(bare::Bare::<numbers::Std>::default()),
        "libc" => Box::new(bare::Bare::<libc::Libc>::default()),
        "quick-xml" => Box::new(quick_xml::QuickXml),
        "memcpy" => Box::new(memory::Memcpy),
        "gsoap" | "gsoap:best" | "libxml2" => Box::new(external::External::build(name)?),
        other => return Err(format!("there is no engine of the name {other}")),
    })
}
