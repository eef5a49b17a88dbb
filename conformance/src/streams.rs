//! Streams of messages, each of which is read as what differs from the one before: whatever the way,
//! it must give what a fresh decoder gives, the values or the error.
//!
//! | suite | streams |
//! |---|---|
//! | recorded-polling | a session's requests, and its answers, in the order in which they were recorded |
//! | waterml | answers to queries for time series; most by our own description in `testdata/` |
//! | php-soap | all requests that a WSDL's client sends, and all answers of its server |
//! | node-soap | by each WSDL, its own messages, each followed by one of another service, which is an error |

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use bsoap_codec::decode::{DecodeOptions, Error, Tolerance};
use bsoap_codec::plan::ElementId;
use bsoap_codec::{Decoder, Plan, Record};
use bsoap_differential::receive::{Policy, Portioning, Received, Sameness, Stream, Way};
use bsoap_protocol::{Peek, peek};
use bsoap_schema::{Definitions, SoapVersion};
use bsoap_xml::DoctypePolicy;
use bytes::Bytes;

use crate::known::Score;
use crate::message;

/// The ways to receive, by name. Who adds one lists it here.
pub fn ways() -> Vec<(&'static str, Way)> {
    let mut often = Policy::default();
    // Never bypassed, and with a checkpoint as often as possible.
    often.may_bypass = false;
    often.spacing = Some(16);
    let portions = |way: Portioning, sameness| {
        let mut way = way;
        way.may_bypass = false;
        way.interrupt = 64;
        way.sameness = sameness;
        Way::Portions(way)
    };
    vec![
        ("exact", Way::default()),
        ("exact, forced", Way::Exact(often)),
        ("full", portions(Portioning::full(), Sameness::Text)),
        (
            "differential",
            portions(Portioning::differential(), Sameness::Text),
        ),
        (
            "lightweight",
            portions(Portioning::lightweight(), Sameness::Text),
        ),
        (
            "lightweight, keyed",
            portions(Portioning::lightweight(), Sameness::Keyed),
        ),
        ("hashed", Way::Portions(Portioning::hashed())),
        ("off", Way::Off),
    ]
}

/// Messages that one peer sends, one after the other.
struct Session {
    name: String,
    plan: Arc<Plan>,
    options: DecodeOptions,
    messages: Vec<Sample>,
}

struct Sample {
    name: String,
    root: ElementId,
    text: Bytes,
}

/// The sessions of a suite, by its folder.
type Suite = fn(&Path) -> Result<Vec<Session>, String>;

/// Reads every session of the suites that are there.
pub fn run(root: &Path) -> Score {
    let mut score = Score::new("streams");
    let suites: [(&str, Suite); 4] = [
        ("recorded-polling", polling),
        ("waterml", waterml),
        ("php-soap", php_soap),
        ("node-soap", node_soap),
    ];
    let (mut pairs, mut compared) = (0, 0);
    for (suite, sessions) in suites {
        match sessions(&root.join(suite)) {
            Err(problem) => score.record(suite, Err(problem)),
            Ok(sessions) => {
                for session in sessions {
                    pairs += session.messages.len().saturating_sub(1);
                    let result = session.judge().map(|count| compared += count);
                    score.record(&format!("{suite}: {}", session.name), result);
                }
            }
        }
    }
    crate::corpus::say(&format!(
        "streams: {pairs} pairs of messages, {} ways; {compared} messages were read as changes",
        ways().len()
    ));
    score
}

impl Session {
    /// Reads all messages in every way. Gives how often one was compared with the one before.
    fn judge(&self) -> Result<usize, String> {
        let fresh: Vec<_> = self
            .messages
            .iter()
            .map(|sample| self.decoder().decode(sample.root, &sample.text))
            .collect();
        let mut compared = 0;
        for (name, way) in ways() {
            let at = |sample: &Sample, how: String| format!("{}, {name}: {how}", sample.name);
            let mut stream = Stream::new(way, Arc::clone(&self.plan), self.options);
            let mut before: Option<Arc<Record>> = None;
            for (sample, fresh) in self.messages.iter().zip(&fresh) {
                let received = stream.receive(sample.root, sample.text.clone());
                let old = before.take();
                before = same(received, fresh, old.as_deref())
                    .map_err(|how| at(sample, how))?
                    .map(|received| {
                        compared += usize::from(!received.changes.is_all());
                        received.record
                    });
            }
        }
        Ok(compared)
    }

    fn decoder(&self) -> Decoder {
        Decoder::new(Arc::clone(&self.plan), self.options)
    }
}

/// Whether what was received is what a fresh decoder reads, and differs from the message before in no more than it says.
fn same(
    received: Result<Received, Error>,
    fresh: &Result<Record, Error>,
    before: Option<&Record>,
) -> Result<Option<Received>, String> {
    let describe = |error: &Error| format!("{} (byte {})", message::report(error), error.offset());
    match (received, fresh) {
        (Ok(received), Ok(record)) => {
            if *received.record != *record {
                return Err("its values are others than those of a fresh decoder".into());
            }
            if let Some(before) = before
                && received.changes.keeps_places()
            {
                let named: usize = received.changes.spans().map(|span| span.now.len()).sum();
                if before.slots().len() != record.slots().len() {
                    return Err("values come or go, which it does not say".into());
                }
                if named == 0 && *before != *record {
                    return Err("something changed, which it does not say".into());
                }
            }
            Ok(Some(received))
        }
        (Err(error), Err(fresh)) if describe(&error) == describe(fresh) => Ok(None),
        (Err(error), Err(fresh)) => {
            let (own, fresh) = (describe(&error), describe(fresh));
            Err(format!(
                "the error is {own}, and to a fresh decoder {fresh}"
            ))
        }
        (Ok(_), Err(fresh)) => Err(format!(
            "it is read, and to a fresh decoder {}",
            describe(fresh)
        )),
        (Err(error), Ok(_)) => Err(format!("it is an error only here: {}", describe(&error))),
    }
}

/// As lenient as can be: the sessions are to be read, not judged.
fn lenient() -> DecodeOptions {
    let mut options = DecodeOptions::default();
    options.accepted = Tolerance::Lenient.into();
    options
}

fn polling(folder: &Path) -> Result<Vec<Session>, String> {
    let definitions = message::definitions(&folder.join("console.wsdl"))?;
    let mut sessions: BTreeMap<PathBuf, [Vec<PathBuf>; 2]> = BTreeMap::new();
    for file in files(folder) {
        let is_answer = file.to_string_lossy().ends_with("-response.xml");
        let session = file.parent().unwrap_or(folder).to_owned();
        sessions.entry(session).or_default()[usize::from(is_answer)].push(file);
    }
    let mut all = Vec::new();
    for (session, [requests, answers]) in sessions {
        let name = session.strip_prefix(folder).unwrap_or(&session).display();
        for (what, is_answer, files) in [("requests", false, requests), ("answers", true, answers)]
        {
            all.push(Session {
                name: format!("{name}, {what}"),
                plan: Arc::clone(definitions.plan()),
                options: lenient(),
                messages: envelopes(&definitions, &files, is_answer)?,
            });
        }
    }
    Ok(all)
}

/// Messages of a service, by the binding for their version of SOAP.
fn envelopes(
    definitions: &Definitions,
    files: &[PathBuf],
    is_answer: bool,
) -> Result<Vec<Sample>, String> {
    let mut samples = Vec::new();
    for file in files {
        let text = std::fs::read(file).map_err(|error| format!("{}: {error}", file.display()))?;
        let version = match peek(&text, DoctypePolicy::Refuse) {
            Peek::Envelope(version) => version,
            _ => SoapVersion::Soap11,
        };
        let mut bindings = definitions.bindings().iter();
        let binding = bindings.find(|binding| binding.version == version);
        if let Some(binding) = binding.or(definitions.bindings().first()) {
            samples.push(Sample {
                name: file.display().to_string(),
                root: match is_answer {
                    true => binding.response,
                    false => binding.request,
                },
                text: text.into(),
            });
        }
    }
    Ok(samples)
}

/// Elements by themselves.
fn elements(
    definitions: &Definitions,
    name: (&str, &str),
    files: &[PathBuf],
) -> Result<Vec<Sample>, String> {
    let root = definitions
        .element(name.0, name.1)
        .ok_or_else(|| format!("the schemas have no element {}", name.1))?;
    let sample = |file: &PathBuf| {
        let text = std::fs::read(file).map_err(|error| format!("{}: {error}", file.display()))?;
        Ok(Sample {
            name: file.display().to_string(),
            root,
            text: text.into(),
        })
    };
    files.iter().map(sample).collect()
}

const WATERML: &str = "http://www.cuahsi.org/waterML/1.1/";

fn waterml(folder: &Path) -> Result<Vec<Session>, String> {
    let described = Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata/waterml-1.1.wsdl");
    let (own, theirs) = (
        message::definitions(&described)?,
        message::definitions(&folder.join("cuahsi/wof/usgs_wsdl.xml"))?,
    );
    // Two polls of one query, and again; then others of the same kind.
    let usgs = [
        "RI_daily",
        "RI_daily_update",
        "RI_daily",
        "RI_daily_update",
        "RI_daily_update",
        "site_08068500_daily",
        "RI_instantaneous",
        "site_07335390_instantaneous",
        "sites_kwarg_agencyCD",
    ];
    let mut usgs: Vec<PathBuf> = usgs
        .iter()
        .map(|name| folder.join(format!("usgs/nwis/{name}.xml")))
        .collect();
    usgs.push(folder.join("cuahsi/wof/get_values_1_1_ipswich_MMB_ipswich_Temp.xml"));
    let of = |name: &str| folder.join("cuahsi/wof").join(name);
    let variables = [
        of("get_variable_info_1_1_ipswich_Temp.xml"),
        of("get_variable_info_1_1_ipswich_all.xml"),
        of("get_variable_info_1_1_ipswich_Temp.xml"),
    ];
    let values = of("get_values_1_0_MuddyRiver_MuddyRiver_14_MR_MuddyRiver_ACID.xml");
    // The other ones are messages of another version: errors between two that are none.
    let mixed = [
        values.clone(),
        values.clone(),
        usgs[1].clone(),
        values.clone(),
        values,
    ];
    let session = |name: &str, definitions: &Definitions, messages| Session {
        name: name.to_owned(),
        plan: Arc::clone(definitions.plan()),
        options: lenient(),
        messages,
    };
    Ok(vec![
        session(
            "time series",
            &own,
            elements(&own, (WATERML, "timeSeriesResponse"), &usgs)?,
        ),
        session(
            "variables",
            &own,
            elements(&own, (WATERML, "variablesResponse"), &variables)?,
        ),
        session(
            "version 1.0",
            &theirs,
            elements(
                &theirs,
                ("http://www.cuahsi.org/waterML/1.0/", "timeSeriesResponse"),
                &mixed,
            )?,
        ),
    ])
}

fn php_soap(folder: &Path) -> Result<Vec<Session>, String> {
    let mut by_wsdl: BTreeMap<PathBuf, Vec<PathBuf>> = BTreeMap::new();
    for file in files(&folder.join("cases/interop")) {
        let case = file.parent().unwrap_or(folder);
        let text = std::fs::read_to_string(case.join("case.json")).unwrap_or_default();
        let json: serde_json::Value = serde_json::from_str(&text).unwrap_or_default();
        if let Some(wsdl) = json["wsdl"].as_str() {
            by_wsdl
                .entry(folder.join("wsdl").join(wsdl))
                .or_default()
                .push(file);
        }
    }
    let mut all = Vec::new();
    for (wsdl, files) in by_wsdl {
        let Ok(definitions) = message::definitions(&wsdl) else {
            // Which WSDLs must load is tested elsewhere.
            continue;
        };
        for (ending, is_answer) in [("request.xml", false), ("response.xml", true)] {
            let files: Vec<_> = files
                .iter()
                .filter(|file| file.ends_with(ending))
                .cloned()
                .collect();
            all.push(Session {
                name: format!(
                    "{}, {ending}",
                    wsdl.file_name().unwrap_or_default().display()
                ),
                plan: Arc::clone(definitions.plan()),
                options: DecodeOptions::default(),
                messages: envelopes(&definitions, &files, is_answer)?,
            });
        }
    }
    Ok(all)
}

fn node_soap(folder: &Path) -> Result<Vec<Session>, String> {
    let samples = folder.join("request-response-samples");
    let all: Vec<PathBuf> = files(&samples);
    let mut sessions = Vec::new();
    for case in samples.read_dir().into_iter().flatten().flatten() {
        let case = case.path();
        let Ok(definitions) = message::definitions(&case.join("soap.wsdl")) else {
            continue;
        };
        for (name, is_answer) in [("request.xml", false), ("response.xml", true)] {
            let own = case.join(name);
            if !own.is_file() {
                continue;
            }
            // Its own twice, then one of another service, then its own again.
            let other = all.iter().find(|file| file.ends_with(name) && **file > own);
            let mut files = vec![own.clone(), own.clone()];
            files.extend(other.cloned());
            files.extend([own.clone(), own]);
            sessions.push(Session {
                name: format!("{}, {name}", case.file_name().unwrap_or_default().display()),
                plan: Arc::clone(definitions.plan()),
                options: DecodeOptions::default(),
                messages: envelopes(&definitions, &files, is_answer)?,
            });
        }
    }
    sessions.sort_by(|one, two| one.name.cmp(&two.name));
    Ok(sessions)
}

/// The XML files of a folder, in order.
fn files(root: &Path) -> Vec<PathBuf> {
    let (mut found, mut paths) = (Vec::new(), vec![root.to_owned()]);
    while let Some(path) = paths.pop() {
        if path.is_dir() {
            let entries = std::fs::read_dir(path).into_iter().flatten().flatten();
            paths.extend(entries.map(|entry| entry.path()));
        } else if path.extension().is_some_and(|extension| extension == "xml") {
            found.push(path);
        }
    }
    found.sort();
    found
}
