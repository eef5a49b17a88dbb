//! A WSDL of the shape of VMware vSphere's, the largest that is in wide use, whose licence keeps it out of the corpus.
//!
//! Like that one it has 615 operations, 3 400 complex types with 21 000 fields, 1 000 enumerations, families of types derived
//! from one another (data, faults, events), an array type for many of them, and documentation: about 4 MB. It is the same
//! text each time.
//!
//! ```
//! let wsdl = bsoap_testkit::giant::wsdl();
//! assert_eq!(wsdl.matches("<wsdl:operation ").count(), 2 * bsoap_testkit::giant::OPERATIONS);
//! ```

use std::fmt::Write as _;

use crate::random::Random;

/// Operations; each has an input and an output message and one to three faults.
pub const OPERATIONS: usize = 615;
/// Complex types with a name.
pub const COMPLEX_TYPES: usize = 3_400;
/// Elements and attributes that these types declare.
pub const FIELDS: usize = 21_000;
/// Enumerations.
pub const ENUMERATIONS: usize = 1_000;

/// Types besides data objects: the reference, the two bases, and what derives from them.
const FAULTS: usize = 700;
const EVENTS: usize = 450;
const ARRAYS: usize = 600;
const DATA: usize = COMPLEX_TYPES - OPERATIONS - FAULTS - EVENTS - ARRAYS - 4;

/// Fields of a data object that others derive from.
const BASE_FIELDS: usize = 3;

const SUBJECTS: [&str; 24] = [
    "Host",
    "VirtualMachine",
    "Datastore",
    "Network",
    "Cluster",
    "ResourcePool",
    "Folder",
    "Task",
    "Alarm",
    "Session",
    "License",
    "Storage",
    "Snapshot",
    "Disk",
    "Port",
    "Switch",
    "Guest",
    "Profile",
    "Performance",
    "Customization",
    "Authorization",
    "Firewall",
    "Certificate",
    "Scheduler",
];
const ASPECTS: [&str; 20] = [
    "Config",
    "Summary",
    "Info",
    "Spec",
    "Runtime",
    "Capability",
    "Policy",
    "Option",
    "Backing",
    "Connection",
    "Device",
    "Filter",
    "Limits",
    "Mapping",
    "Partition",
    "Quota",
    "Result",
    "State",
    "Statistics",
    "Target",
];
const VERBS: [&str; 15] = [
    "Create",
    "Destroy",
    "Query",
    "Update",
    "Reconfigure",
    "Rename",
    "Mount",
    "Unmount",
    "Enable",
    "Disable",
    "Refresh",
    "Validate",
    "Migrate",
    "Reset",
    "Retrieve",
];
const NOUNS: [&str; 32] = [
    "name",
    "key",
    "label",
    "enabled",
    "capacity",
    "version",
    "entity",
    "owner",
    "created",
    "modified",
    "limit",
    "share",
    "reservation",
    "address",
    "path",
    "status",
    "count",
    "size",
    "level",
    "mode",
    "parent",
    "child",
    "uuid",
    "vendor",
    "model",
    "speed",
    "usage",
    "threshold",
    "interval",
    "summary",
    "reason",
    "index",
];

/// The WSDL, with its schema inside.
pub fn wsdl() -> String {
    let mut writer = Writer {
        out: String::with_capacity(4 << 20),
        random: Random::new(0x5eed),
    };
    writer.definitions();
    writer.out
}

struct Writer {
    out: String,
    random: Random,
}

/// The name of the data object of this number. One in six is the base of those that follow it.
fn data(number: usize) -> String {
    let (subject, aspect) = (
        number % SUBJECTS.len(),
        number / SUBJECTS.len() % ASPECTS.len(),
    );
    let round = number / (SUBJECTS.len() * ASPECTS.len());
    let round = ["", "Ex", "Detail", "Entry"][round];
    format!("{}{}{round}", SUBJECTS[subject], ASPECTS[aspect])
}

fn enumeration(number: usize) -> String {
    format!("{}Kind", data(number))
}

fn fault(number: usize) -> String {
    format!("{}Fault", data(number))
}

fn operation(number: usize) -> String {
    let (subject, verb) = (
        number % SUBJECTS.len(),
        number / SUBJECTS.len() % VERBS.len(),
    );
    let round = ["", "Ex"][number / (SUBJECTS.len() * VERBS.len())];
    format!("{}{}{round}_Task", VERBS[verb], SUBJECTS[subject])
}

impl Writer {
    fn line(&mut self, line: std::fmt::Arguments<'_>) {
        let _ = self.out.write_fmt(line);
        self.out.push('\n');
    }

    fn documented(&mut self, text: &str) {
        self.line(format_args!(
            "<xsd:annotation><xsd:documentation>{text}</xsd:documentation></xsd:annotation>"
        ));
    }

    fn definitions(&mut self) {
        self.line(format_args!(
            r#"<?xml version="1.0" encoding="UTF-8"?>
<wsdl:definitions name="Giant" targetNamespace="urn:bsoap:giant" xmlns:tns="urn:bsoap:giant"
    xmlns:wsdl="http://schemas.xmlsoap.org/wsdl/" xmlns:soap="http://schemas.xmlsoap.org/wsdl/soap/"
    xmlns:xsd="http://www.w3.org/2001/XMLSchema">
<wsdl:types><xsd:schema targetNamespace="urn:bsoap:giant" elementFormDefault="qualified">"#
        ));
        self.types();
        self.line(format_args!("</xsd:schema></wsdl:types>"));
        self.messages();
        self.interface();
        self.line(format_args!("</wsdl:definitions>"));
    }

    fn types(&mut self) {
        for number in 0..ENUMERATIONS {
            self.enumeration(number);
        }
        self.line(format_args!(
            r#"<xsd:complexType name="ManagedObjectReference"><xsd:simpleContent><xsd:extension base="xsd:string"><xsd:attribute name="type" type="xsd:string"/></xsd:extension></xsd:simpleContent></xsd:complexType>
<xsd:complexType name="DynamicData"><xsd:sequence/></xsd:complexType>
<xsd:complexType name="MethodFault"><xsd:sequence><xsd:element name="faultMessage" type="xsd:string" minOccurs="0"/></xsd:sequence></xsd:complexType>
<xsd:complexType name="Event"><xsd:complexContent><xsd:extension base="tns:DynamicData"><xsd:sequence><xsd:element name="eventKey" type="xsd:int"/><xsd:element name="eventTime" type="xsd:dateTime"/></xsd:sequence></xsd:extension></xsd:complexContent></xsd:complexType>"#
        ));
        // Four fields are above.
        let small = 2 * FAULTS + 3 * EVENTS + 4 * OPERATIONS + ARRAYS + 4;
        let bases = DATA.div_ceil(6);
        let (derived, left) = (DATA - bases, FIELDS - small - BASE_FIELDS * bases);
        let mut derived_before = 0;
        for number in 0..DATA {
            let base = match number % 6 {
                0 => "DynamicData".to_owned(),
                at => data(number - at),
            };
            let fields = match number % 6 {
                0 => BASE_FIELDS,
                _ => {
                    derived_before += 1;
                    left / derived + usize::from(derived_before <= left % derived)
                }
            };
            // Objects contain objects of lower numbers, so that they do not contain each other without end.
            self.derived(&data(number), &base, fields, number / 3 + 1);
        }
        for number in 0..FAULTS {
            let base = match number % 10 {
                0 => "MethodFault".to_owned(),
                at => fault(number - at),
            };
            self.derived(&fault(number), &base, 2, DATA);
        }
        for number in 0..EVENTS {
            self.derived(&format!("{}Event", data(number)), "Event", 3, DATA);
        }
        for number in 0..ARRAYS {
            let name = data(number);
            self.line(format_args!(
                r#"<xsd:complexType name="ArrayOf{name}"><xsd:sequence><xsd:element name="{name}" type="tns:{name}" minOccurs="0" maxOccurs="unbounded"/></xsd:sequence></xsd:complexType>"#
            ));
        }
        for number in 0..OPERATIONS {
            self.operation_types(number);
        }
        for number in 0..FAULTS {
            let name = fault(number);
            self.line(format_args!(
                r#"<xsd:element name="{name}Element" type="tns:{name}"/>"#
            ));
        }
    }

    fn enumeration(&mut self, number: usize) {
        let name = enumeration(number);
        self.line(format_args!(r#"<xsd:simpleType name="{name}">"#));
        self.documented(&format!(
            "Which {name} it is, as far as the server can tell."
        ));
        self.line(format_args!(r#"<xsd:restriction base="xsd:string">"#));
        for value in 0..3 + self.random.below(9) {
            let noun = NOUNS[(number + value) % NOUNS.len()];
            self.line(format_args!(
                r#"<xsd:enumeration value="{noun}Only{value}"/>"#
            ));
        }
        self.line(format_args!("</xsd:restriction></xsd:simpleType>"));
    }

    /// A type that adds fields to its base; some of them are of the first `objects` data objects.
    fn derived(&mut self, name: &str, base: &str, fields: usize, objects: usize) {
        self.line(format_args!(r#"<xsd:complexType name="{name}">"#));
        self.documented(&format!(
            "The data object {name} describes one aspect of a managed object at the time of the request."
        ));
        self.line(format_args!(
            r#"<xsd:complexContent><xsd:extension base="tns:{base}"><xsd:sequence>"#
        ));
        // The fields of the base have other names.
        let own = name.bytes().fold(0_u32, |sum, byte| {
            sum.wrapping_mul(31).wrapping_add(byte.into())
        });
        for at in 0..fields {
            let (noun, aspect) = (NOUNS[at % NOUNS.len()], ASPECTS[own as usize % 20]);
            let name = format!("{noun}{aspect}{}", own % 97 + at as u32);
            self.field(&name, objects);
        }
        self.line(format_args!(
            "</xsd:sequence></xsd:extension></xsd:complexContent></xsd:complexType>"
        ));
    }

    fn field(&mut self, name: &str, objects: usize) {
        let number = self.random.below(objects);
        let (ty, can_be_required) = match self.random.below(100) {
            0..28 => ("xsd:string".to_owned(), true),
            28..42 => ("xsd:int".to_owned(), true),
            42..54 => ("xsd:boolean".to_owned(), true),
            54..60 => ("xsd:long".to_owned(), true),
            60..63 => ("xsd:dateTime".to_owned(), true),
            63..65 => ("xsd:double".to_owned(), true),
            65..67 => ("xsd:short".to_owned(), true),
            67..77 => (
                format!("tns:{}", enumeration(self.random.below(ENUMERATIONS))),
                true,
            ),
            77..85 => ("tns:ManagedObjectReference".to_owned(), true),
            85..88 => ("tns:MethodFault".to_owned(), false),
            88..90 => (format!("tns:ArrayOf{}", data(number % ARRAYS)), false),
            _ => (format!("tns:{}", data(number)), false),
        };
        let occurs = match self.random.below(100) {
            0..20 => r#" minOccurs="0" maxOccurs="unbounded""#,
            20..65 => r#" minOccurs="0""#,
            // A required field of its own type could never end.
            _ if can_be_required => "",
            _ => r#" minOccurs="0""#,
        };
        if self.random.chance(88) {
            self.line(format_args!(
                r#"<xsd:element name="{name}" type="{ty}"{occurs}/>"#
            ));
        } else {
            self.line(format_args!(
                r#"<xsd:element name="{name}" type="{ty}"{occurs}>"#
            ));
            self.documented(&format!(
                "The {name}; unset if the server does not know it."
            ));
            self.line(format_args!("</xsd:element>"));
        }
    }

    fn operation_types(&mut self, number: usize) {
        let name = operation(number);
        self.line(format_args!(
            r#"<xsd:complexType name="{name}RequestType"><xsd:sequence><xsd:element name="_this" type="tns:ManagedObjectReference"/>"#
        ));
        for at in 0..3 {
            self.field(&format!("{}{at}", NOUNS[(number + at) % NOUNS.len()]), DATA);
        }
        self.line(format_args!("</xsd:sequence></xsd:complexType>"));
        self.line(format_args!(
            r#"<xsd:element name="{name}" type="tns:{name}RequestType"/>"#
        ));
        let answer = match number % 3 {
            0 => String::new(),
            1 if number % 300 == 1 => {
                r#"<xsd:element name="returnval" type="tns:Event" minOccurs="0" maxOccurs="unbounded"/>"#.to_owned()
            }
            1 => r#"<xsd:element name="returnval" type="tns:ManagedObjectReference"/>"#.to_owned(),
            _ => format!(
                r#"<xsd:element name="returnval" type="tns:{}" minOccurs="0" maxOccurs="unbounded"/>"#,
                data(number % DATA)
            ),
        };
        self.line(format_args!(
            r#"<xsd:element name="{name}Response"><xsd:complexType><xsd:sequence>{answer}</xsd:sequence></xsd:complexType></xsd:element>"#
        ));
    }

    fn messages(&mut self) {
        for number in 0..FAULTS {
            let name = fault(number);
            self.line(format_args!(
                r#"<wsdl:message name="{name}"><wsdl:part name="fault" element="tns:{name}Element"/></wsdl:message>"#
            ));
        }
        for number in 0..OPERATIONS {
            let name = operation(number);
            self.line(format_args!(
                r#"<wsdl:message name="{name}Request"><wsdl:part name="parameters" element="tns:{name}"/></wsdl:message>
<wsdl:message name="{name}Response"><wsdl:part name="parameters" element="tns:{name}Response"/></wsdl:message>"#
            ));
        }
    }

    /// The faults of an operation: one that all declare, and up to two of its own.
    fn faults(number: usize) -> Vec<String> {
        (0..1 + number % 3)
            .map(|at| fault(if at == 0 { 0 } else { (number + at) % FAULTS }))
            .collect()
    }

    fn interface(&mut self) {
        self.line(format_args!(r#"<wsdl:portType name="GiantPortType">"#));
        for number in 0..OPERATIONS {
            let name = operation(number);
            self.line(format_args!(
                r#"<wsdl:operation name="{name}"><wsdl:documentation>Starts {name} and returns when the server has accepted or refused it.</wsdl:documentation>
<wsdl:input message="tns:{name}Request"/><wsdl:output message="tns:{name}Response"/>"#
            ));
            for fault in Self::faults(number) {
                self.line(format_args!(
                    r#"<wsdl:fault name="{fault}" message="tns:{fault}"/>"#
                ));
            }
            self.line(format_args!("</wsdl:operation>"));
        }
        self.line(format_args!(
            r#"</wsdl:portType>
<wsdl:binding name="GiantBinding" type="tns:GiantPortType"><soap:binding transport="http://schemas.xmlsoap.org/soap/http"/>"#
        ));
        for number in 0..OPERATIONS {
            let name = operation(number);
            self.line(format_args!(
                r#"<wsdl:operation name="{name}"><soap:operation soapAction="urn:giant/8.0"/><wsdl:input><soap:body use="literal"/></wsdl:input><wsdl:output><soap:body use="literal"/></wsdl:output>"#
            ));
            for fault in Self::faults(number) {
                self.line(format_args!(
                    r#"<wsdl:fault name="{fault}"><soap:fault name="{fault}" use="literal"/></wsdl:fault>"#
                ));
            }
            self.line(format_args!("</wsdl:operation>"));
        }
        self.line(format_args!(
            r#"</wsdl:binding>
<wsdl:service name="GiantService"><wsdl:port name="GiantPort" binding="tns:GiantBinding"><soap:address location="http://localhost/sdk"/></wsdl:port></wsdl:service>"#
        ));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_wsdl_has_the_numbers_it_promises() {
        let wsdl = wsdl();
        let count = |text: &str| wsdl.matches(text).count();
        assert_eq!(count("<xsd:complexType name="), COMPLEX_TYPES);
        assert_eq!(count("<xsd:simpleType name="), ENUMERATIONS);
        let (global, answers) = (FAULTS + 2 * OPERATIONS, count("\"returnval\""));
        let fields = count("<xsd:element ") + count("<xsd:attribute ") - global - answers;
        assert_eq!(fields, FIELDS);
        assert!(
            (3_800_000..4_500_000).contains(&wsdl.len()),
            "{}",
            wsdl.len()
        );
    }
}
