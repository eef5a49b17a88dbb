//! WS-Addressing: whatever the header blocks say, reading them ends, and what was read is what writing it again says.

use bsoap_protocol::SoapVersion;
use bsoap_protocol::addressing::MessageAddressing;
use proptest::prelude::*;

const VERSIONS: [&str; 2] = [
    "http://www.w3.org/2005/08/addressing",
    "http://schemas.xmlsoap.org/ws/2004/08/addressing",
];

fn message(soap: SoapVersion, addressing: &str, blocks: &str) -> String {
    let envelope = soap.envelope_namespace();
    format!(
        "<s:Envelope xmlns:s='{envelope}' xmlns:a='{addressing}'><s:Header>{blocks}</s:Header><s:Body/></s:Envelope>"
    )
}

/// What header blocks are made of, right and wrong.
fn piece() -> impl Strategy<Value = String> {
    let name = prop::sample::select(vec![
        "To",
        "Action",
        "MessageID",
        "RelatesTo",
        "From",
        "ReplyTo",
        "FaultTo",
        "Other",
    ]);
    let text = prop_oneof![
        Just("urn:uuid:1".to_owned()),
        Just(" http://a.example/b?c#d ".to_owned()),
        Just("<a:Address>urn:x</a:Address>".to_owned()),
        Just("<a:Address>urn:x</a:Address><a:Address>urn:y</a:Address>".to_owned()),
        Just("<a:Address>urn:x</a:Address><a:ReferenceParameters><p xmlns='urn:p'>&lt;<![CDATA[&]]></p><s:q/></a:ReferenceParameters>".to_owned()),
        Just("<a:ReferenceProperties><p:p xmlns:p='urn:p' p:k='&quot;'/></a:ReferenceProperties><a:Address>urn:x</a:Address>".to_owned()),
        Just("<!-- c --><a:Address/>".to_owned()),
        "[a-z:/&;<> é\\r\\n]{0,12}",
    ];
    let attributes = prop::sample::select(vec![
        "",
        " s:role='urn:other'",
        " s:mustUnderstand='1'",
        " RelationshipType='urn:r'",
        " RelationshipType='a:Reply'",
        " xmlns:a='urn:z'",
    ]);
    (name, attributes, text)
        .prop_map(|(name, attributes, text)| format!("<a:{name}{attributes}>{text}</a:{name}>"))
}

/// Without the texts of reference parameters, which get the namespace declarations around them.
fn without_texts(mut addressing: MessageAddressing) -> MessageAddressing {
    let endpoints = [
        &mut addressing.from,
        &mut addressing.reply_to,
        &mut addressing.fault_to,
    ];
    for endpoint in endpoints.into_iter().flatten() {
        endpoint
            .reference_parameters
            .iter_mut()
            .for_each(String::clear);
    }
    addressing
}

proptest! {
    #[test]
    fn what_was_read_is_read_again_after_it_was_written(
        pieces in prop::collection::vec(piece(), 0..6),
        addressing in prop::sample::select(VERSIONS.to_vec()),
        soap in prop::sample::select(vec![SoapVersion::Soap11, SoapVersion::Soap12]),
        cut in any::<prop::sample::Index>(),
        flip in any::<u8>(),
    ) {
        let text = message(soap, addressing, &pieces.concat());
        if let Ok(Some(read)) = MessageAddressing::read(text.as_bytes())
            && let Ok(blocks) = read.header_blocks(soap, false)
        {
            let again = message(soap, "urn:none", &blocks.concat());
            let again = MessageAddressing::read(again.as_bytes());
            let again = again.map(|it| it.map(without_texts));
            prop_assert_eq!(again, Ok(Some(without_texts(read))));
        }
        // Any byte may be another one, and the message may end anywhere.
        let mut bytes = text.into_bytes();
        let at = cut.index(bytes.len());
        let _ = MessageAddressing::read(&bytes[..at]);
        bytes[at] = flip;
        let _ = MessageAddressing::read(&bytes);
    }
}
