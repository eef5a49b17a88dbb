//! A loader for the schemas that many WSDLs import by URL, or use without importing. It has condensed copies of them.

use super::{LoadError, Loader, Source};

/// Has schemas for well-known namespaces, by namespace and by the URLs from which they are usually imported.
#[derive(Clone, Copy, Debug, Default)]
pub struct WellKnown;

struct WellKnownSchema {
    namespace: &'static str,
    locations: &'static [&'static str],
    text: &'static str,
}

const WELL_KNOWN_SCHEMAS: &[WellKnownSchema] = &[
    WellKnownSchema {
        namespace: "http://www.w3.org/XML/1998/namespace",
        locations: &[
            "www.w3.org/2001/xml.xsd",
            "www.w3.org/2001/03/xml.xsd",
            "www.w3.org/2005/08/xml.xsd",
            "www.w3.org/2009/01/xml.xsd",
        ],
        text: include_str!("wellknown/xml.xsd"),
    },
    WellKnownSchema {
        namespace: "http://www.w3.org/2001/XMLSchema",
        locations: &["www.w3.org/2001/XMLSchema.xsd", "www.w3.org/2001/XMLSchema"],
        text: include_str!("wellknown/schema.xsd"),
    },
    WellKnownSchema {
        namespace: "http://schemas.xmlsoap.org/soap/encoding/",
        locations: &["schemas.xmlsoap.org/soap/encoding"],
        text: include_str!("wellknown/encoding11.xsd"),
    },
    WellKnownSchema {
        namespace: "http://www.w3.org/2003/05/soap-encoding",
        locations: &["www.w3.org/2003/05/soap-encoding"],
        text: include_str!("wellknown/encoding12.xsd"),
    },
    WellKnownSchema {
        namespace: "http://schemas.xmlsoap.org/soap/envelope/",
        locations: &["schemas.xmlsoap.org/soap/envelope"],
        text: include_str!("wellknown/envelope11.xsd"),
    },
    WellKnownSchema {
        namespace: "http://www.w3.org/2003/05/soap-envelope",
        locations: &["www.w3.org/2003/05/soap-envelope"],
        text: include_str!("wellknown/envelope12.xsd"),
    },
    WellKnownSchema {
        namespace: "http://www.w3.org/2003/05/soap-rpc",
        locations: &["www.w3.org/2003/05/soap-rpc"],
        text: include_str!("wellknown/rpc12.xsd"),
    },
    WellKnownSchema {
        namespace: "http://schemas.xmlsoap.org/ws/2004/08/addressing",
        locations: &["schemas.xmlsoap.org/ws/2004/08/addressing"],
        text: include_str!("wellknown/addressing200408.xsd"),
    },
    WellKnownSchema {
        namespace: "http://www.w3.org/2005/08/addressing",
        locations: &[
            "www.w3.org/2005/08/addressing/ws-addr.xsd",
            "www.w3.org/2006/03/addressing/ws-addr.xsd",
            "www.w3.org/2005/08/addressing",
        ],
        text: include_str!("wellknown/addressing200508.xsd"),
    },
    WellKnownSchema {
        namespace: "http://www.w3.org/2005/05/xmlmime",
        locations: &["www.w3.org/2005/05/xmlmime"],
        text: include_str!("wellknown/xmlmime.xsd"),
    },
    WellKnownSchema {
        namespace: "http://www.w3.org/2004/11/xmlmime",
        locations: &["www.w3.org/2004/11/xmlmime"],
        text: include_str!("wellknown/xmlmime2004.xsd"),
    },
    WellKnownSchema {
        namespace: "http://www.w3.org/2004/08/xop/include",
        locations: &["www.w3.org/2004/08/xop/include"],
        text: include_str!("wellknown/xop.xsd"),
    },
    WellKnownSchema {
        namespace: "http://ws-i.org/profiles/basic/1.1/xsd",
        locations: &[
            "ws-i.org/profiles/basic/1.1/swaref.xsd",
            "ws-i.org/profiles/basic/1.1/xsd",
        ],
        text: include_str!("wellknown/swaref.xsd"),
    },
    WellKnownSchema {
        namespace: "http://www.w3.org/2000/09/xmldsig#",
        locations: &[
            "www.w3.org/TR/2002/REC-xmldsig-core-20020212/xmldsig-core-schema.xsd",
            "www.w3.org/TR/xmldsig-core/xmldsig-core-schema.xsd",
            "www.w3.org/2000/09/xmldsig",
        ],
        text: include_str!("wellknown/xmldsig.xsd"),
    },
    WellKnownSchema {
        namespace: "http://docs.oasis-open.org/wss/2004/01/oasis-200401-wss-wssecurity-utility-1.0.xsd",
        locations: &["docs.oasis-open.org/wss/2004/01/oasis-200401-wss-wssecurity-utility-1.0.xsd"],
        text: include_str!("wellknown/wsu.xsd"),
    },
    WellKnownSchema {
        namespace: "http://docs.oasis-open.org/wss/2004/01/oasis-200401-wss-wssecurity-secext-1.0.xsd",
        locations: &["docs.oasis-open.org/wss/2004/01/oasis-200401-wss-wssecurity-secext-1.0.xsd"],
        text: include_str!("wellknown/wsse.xsd"),
    },
    WellKnownSchema {
        namespace: "http://schemas.xmlsoap.org/wsdl/",
        locations: &[
            "schemas.xmlsoap.org/wsdl",
            "schemas.xmlsoap.org/wsdl/2003-02-11.xsd",
        ],
        text: include_str!("wellknown/wsdl.xsd"),
    },
    WellKnownSchema {
        namespace: "http://schemas.xmlsoap.org/wsdl/soap/",
        locations: &["schemas.xmlsoap.org/wsdl/soap"],
        text: include_str!("wellknown/binding.xsd"),
    },
    WellKnownSchema {
        namespace: "http://schemas.xmlsoap.org/wsdl/soap12/",
        locations: &["schemas.xmlsoap.org/wsdl/soap12"],
        text: include_str!("wellknown/binding12.xsd"),
    },
];

impl WellKnownSchema {
    fn source(&self) -> Source {
        Source {
            location: self.namespace.to_owned(),
            bytes: self.text.as_bytes().to_vec(),
        }
    }
}

impl Loader for WellKnown {
    fn load(&self, location: &str) -> Result<Source, LoadError> {
        let rest = location
            .strip_prefix("http://")
            .or_else(|| location.strip_prefix("https://"))
            .ok_or(LoadError::NotHere)?;
        let rest = rest.trim_end_matches(['/', '#']);
        let entry = WELL_KNOWN_SCHEMAS
            .iter()
            .find(|entry| entry.locations.contains(&rest));
        entry.map(WellKnownSchema::source).ok_or(LoadError::NotHere)
    }

    fn load_namespace(&self, namespace: &str) -> Option<Source> {
        WELL_KNOWN_SCHEMAS
            .iter()
            .find(|entry| entry.namespace == namespace)
            .map(WellKnownSchema::source)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Document, LoadLimits};

    #[test]
    fn every_schema_is_well_formed_and_of_its_namespace() {
        for entry in WELL_KNOWN_SCHEMAS {
            let document = Document::new(entry.namespace, entry.text.as_bytes()).unwrap();
            let tree = document.parse(&LoadLimits::default()).unwrap();
            assert_eq!(
                tree.root_element().attribute("targetNamespace"),
                Some(entry.namespace)
            );
            for location in entry.locations {
                assert_eq!(
                    WellKnown
                        .load(&format!("http://{location}"))
                        .unwrap()
                        .location,
                    entry.namespace
                );
            }
        }
    }
}
