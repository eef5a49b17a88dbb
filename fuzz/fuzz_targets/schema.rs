//! Any document: a schema loads and compiles or is refused, in bounded time and memory, and nothing panics.
#![cfg_attr(feature = "libfuzzer", no_main)]

use bsoap_schema::{
    Compiler, LoadLimits, MemoryLoader, Offers, SchemaSetBuilder, Strictness, WellKnown,
};
use bsoap_fuzz::fuzz_target;

fuzz_target!(|data: &[u8]| {
    // The first byte chooses: how strictly it is read, and what a plan offers.
    let Some((&choice, document)) = data.split_first() else {
        return;
    };
    let mut memory = MemoryLoader::default();
    memory.add("fuzz.xsd", document);
    let loader = bsoap_schema::Chain::new().then(memory).then(WellKnown);
    let mut limits = LoadLimits::default();
    limits.bytes = 1 << 20;
    limits.particles = 2_000;
    limits.total_particles = 20_000;
    limits.alternatives = 20_000;
    let strictness = if choice & 1 == 0 {
        Strictness::Lenient
    } else {
        Strictness::Strict
    };
    let mut builder = SchemaSetBuilder::new(&loader, limits, strictness);
    if builder.add_location("fuzz.xsd").is_err() {
        return;
    }
    let Ok(set) = builder.finish() else { return };
    let offers = if choice & 2 == 0 {
        Offers::ComplexOnly
    } else {
        Offers::All
    };
    let mut compiler = Compiler::new(&set).offering(offers);
    for element in set.global_elements() {
        // What one element lacks is no reason to leave the others.
        let _ = compiler.global_element(&element.name);
    }
    if let Ok(compiled) = compiler.finish() {
        compiled
            .builder
            .finish()
            .expect("all that was reserved is defined");
    }
});
