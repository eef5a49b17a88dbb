//! Any WSDL: it loads or is refused, its samples are made or refused, and code is generated or refused, all in bounded
//! time and memory. The limits are low, so that what is used beyond them exceeds the memory limit of the run.
#![cfg_attr(feature = "libfuzzer", no_main)]

use bsoap_codec::{BuildOptions, build_with, samples};
use bsoap_fuzz::fuzz_target;
use bsoap_generate::{Options, generate};
use bsoap_schema::{
    Body, Chain, Definitions, LoadOptions, MemoryLoader, Message, Offers, Strictness, WellKnown,
    load,
};

fuzz_target!(|data: &[u8]| {
    // The first byte chooses: how strictly it is read, and what a plan offers.
    if let Some((&choice, document)) = data.split_first() {
        check(choice, document);
    }
});

fn check(choice: u8, document: &[u8]) {
    let mut options = LoadOptions::default();
    options.limits.bytes = 1 << 20;
    options.limits.entity_expansion = 1 << 16;
    options.limits.work = 300_000;
    if choice & 1 != 0 {
        options.strictness = Strictness::Strict;
    }
    if choice & 2 != 0 {
        options.offers = Offers::All;
    }
    let mut memory = MemoryLoader::default();
    memory.add("fuzz.wsdl", document);
    let loader = Chain::new().then(memory).then(WellKnown);
    let Ok(definitions) = load("fuzz.wsdl", &loader, &options) else {
        return;
    };
    for (_, port) in definitions.ports() {
        for operation in port.binding.operations.iter().take(8) {
            sample(&definitions, &operation.input);
            operation
                .output
                .iter()
                .for_each(|output| sample(&definitions, output));
        }
    }
    let mut options = Options::default();
    options.max_members = 5_000;
    let _ = generate(&definitions, &options);
}

/// Makes samples of the parts of a message, and Records of them.
fn sample(definitions: &Definitions, message: &Message) {
    let elements: Vec<_> = match &message.body {
        Body::Wrapped { wrapper } | Body::Rpc { wrapper, .. } => vec![*wrapper],
        body => body.parts().iter().map(|part| part.element).collect(),
    };
    let plan = definitions.plan();
    if let Ok(values) = samples(plan, elements.iter().copied()) {
        for (&element, value) in elements.iter().zip(&values) {
            let _ = build_with(plan, element, value, &BuildOptions::default());
        }
    }
}
