//! Any header blocks of WS-Addressing: reading them ends, and what was read is what writing it again says.
#![cfg_attr(feature = "libfuzzer", no_main)]

use bsoap_fuzz::fuzz_target;
use bsoap_protocol::SoapVersion;
use bsoap_protocol::addressing::MessageAddressing;

fuzz_target!(|data: &[u8]| {
    // The first byte chooses the versions.
    if let Some((&choice, header)) = data.split_first() {
        check(choice, &String::from_utf8_lossy(header));
    }
});

fn check(choice: u8, header: &str) {
    let soap = match choice & 1 {
        0 => SoapVersion::Soap11,
        _ => SoapVersion::Soap12,
    };
    let addressing = match choice & 2 {
        0 => "http://www.w3.org/2005/08/addressing",
        _ => "http://schemas.xmlsoap.org/ws/2004/08/addressing",
    };
    let message = |blocks: &str| {
        let envelope = soap.envelope_namespace();
        format!(
            "<s:Envelope xmlns:s='{envelope}' xmlns:a='{addressing}'><s:Header>{blocks}</s:Header><s:Body/></s:Envelope>"
        )
    };
    let Ok(Some(read)) = MessageAddressing::read(message(header).as_bytes()) else {
        return;
    };
    if let Ok(blocks) = read.header_blocks(soap, choice & 4 != 0) {
        let again = MessageAddressing::read(message(&blocks.concat()).as_bytes());
        let again = again.map(|it| it.map(without_texts));
        assert_eq!(again, Ok(Some(without_texts(read))));
    }
}

/// Without the texts of reference parameters, which get the namespace declarations around them.
fn without_texts(mut addressing: MessageAddressing) -> MessageAddressing {
    let endpoints = [
        &mut addressing.from,
        &mut addressing.reply_to,
        &mut addressing.fault_to,
    ];
    for endpoint in endpoints.into_iter().flatten() {
        endpoint.reference_parameters.iter_mut().for_each(String::clear);
    }
    addressing
}
