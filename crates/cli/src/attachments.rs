//! Attachments on the command line: files that are sent, and files that received ones are saved in.
//!
//! In JSON, an attachment is an object: `{"@attachment": "photo.png", "@mediaType": "image/png"}`. Its name is that of a file only in what
//! was written on the command line itself. JSON from files and from standard input may be the answer of a peer, so there it has to be
//! `cid:NAME`, of a file that `--attach` names.
//!
//! Where the WSDL declares an attribute `attachment`, `@attachment` is that attribute, as `@type` is. `@bsoap:attachment`, which no
//! attribute is called, is an attachment for every WSDL.

use std::fs::{self, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};

use bsoap::attachments::{Attachment, Attachments};
use bsoap::{ClientBuilder, Object, Value};
use bsoap_codec::Plan;
use bsoap_schema::Operation;

use crate::error::Failure;
use crate::message_limits::PackageLimitArguments;

/// The members of an attachment in JSON.
const ATTACHMENT: &str = "@attachment";
const LONG_ATTACHMENT: &str = "@bsoap:attachment";
const MEDIA_TYPE: &str = "@mediaType";
const LENGTH: &str = "@length";
const CONTENT_ID: &str = "@contentId";

/// The member of an answer with the attachments that no value refers to.
const OTHERS: &str = "@attachments";

/// The scheme of a reference to an attachment.
const CID: &str = "cid:";

/// The member that names an attachment in the JSON of a WSDL.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Spelling {
    /// Whether the short name is that of an attribute.
    is_attribute: bool,
}

impl Spelling {
    /// That of the WSDL with this Plan.
    pub(crate) fn of(plan: &Plan) -> Self {
        Self {
            is_attribute: plan.has_attribute_key(ATTACHMENT),
        }
    }

    /// The member in what is printed.
    fn key(self) -> &'static str {
        match self.is_attribute {
            true => LONG_ATTACHMENT,
            false => ATTACHMENT,
        }
    }

    /// Whether a member names an attachment.
    fn is_key(self, key: &str) -> bool {
        key == LONG_ATTACHMENT || (key == ATTACHMENT && !self.is_attribute)
    }

    /// The name of an attachment, if an object is one: it has no other members.
    fn name_of(self, object: &Object) -> Option<&str> {
        let is_own = |key: &str| self.is_key(key) || [MEDIA_TYPE, LENGTH].contains(&key);
        let (_, name) = object.iter().find(|(key, _)| self.is_key(key))?;
        object.keys().all(is_own).then_some(name.as_str()?)
    }
}

/// The options of a command that sends attachments and receives them.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Attachments")]
pub(crate) struct AttachmentArguments {
    /// Send files, and binary values of at least 4 KiB, beside the message (MTOM); the default if the WSDL requires it. A file is
    /// the value KEY with KEY.@attachment=FILE
    #[arg(long)]
    mtom: bool,
    /// Send a file beside the message: as the part NAME of the WSDL, or for an element with the value cid:NAME; may be given several
    /// times
    #[arg(long, value_name = "NAME=FILE[;type=TYPE]", value_parser = named)]
    attach: Vec<Named>,
    /// Write received attachments to new files of this folder: 1.png, 2.pdf and so on
    #[arg(long, value_name = "DIR")]
    save_attachments: Option<PathBuf>,
    #[command(flatten)]
    limits: PackageLimitArguments,
}

/// A file with a name.
#[derive(Clone, Debug)]
struct Named {
    name: String,
    file: PathBuf,
    media_type: Option<String>,
}

/// `NAME=FILE`, or `NAME=FILE;type=TYPE`.
fn named(given: &str) -> Result<Named, String> {
    let parts = given.split_once('=');
    let Some((name, rest)) = parts.filter(|(name, rest)| !name.is_empty() && !rest.is_empty())
    else {
        return Err("expected NAME=FILE".to_owned());
    };
    let (file, media_type) = match rest.rsplit_once(";type=") {
        Some((file, media_type)) => (file, Some(media_type.to_owned())),
        None => (rest, None),
    };
    Ok(Named {
        name: name.to_owned(),
        file: file.into(),
        media_type,
    })
}

/// The attachments of a request that `--attach` names.
#[derive(Debug)]
pub(crate) struct NamedAttachments {
    /// By name, and whether a binary value refers to it.
    known: Vec<(String, Attachment, bool)>,
    spelling: Spelling,
}

impl AttachmentArguments {
    /// A client with these options.
    pub(crate) fn applied(&self, builder: ClientBuilder) -> ClientBuilder {
        let attachments = match self.mtom {
            true => Attachments::mtom(),
            false => Attachments::new(),
        };
        builder.attachments(self.limits.applied(attachments))
    }

    /// The files of `--attach`. The content ids of parts begin with their names. (WS-I Attachments Profile 1.0 §3.8)
    pub(crate) fn named(
        &self,
        operation: &Operation,
        spelling: Spelling,
    ) -> Result<NamedAttachments, Failure> {
        let parts = &operation.input.attachments;
        let mut known = Vec::new();
        for Named {
            name,
            file,
            media_type,
        } in &self.attach
        {
            let part = parts.iter().find(|part| part.name == *name);
            let id = match part {
                Some(_) => format!("{name}={}@bsoap", known.len() + 1),
                None => name.clone(),
            };
            let declared = part.and_then(|part| part.media_types.first());
            let declared = declared.filter(|it| !it.contains('*'));
            let attachment = of_file(file, media_type.as_ref().or(declared))?;
            known.push((name.clone(), attachment.with_content_id(id), false));
        }
        Ok(NamedAttachments { known, spelling })
    }

    /// Saves the attachments of an answer, if that is wanted. Their files, in the same order.
    pub(crate) fn save(&self, attachments: &[Attachment]) -> Result<Vec<PathBuf>, Failure> {
        let Some(folder) = &self.save_attachments else {
            return Ok(Vec::new());
        };
        let failed = |error: io::Error| {
            let what = format!("cannot save attachments in {}", folder.display());
            Failure::input(what).because(error)
        };
        fs::create_dir_all(folder).map_err(failed)?;
        let mut number = 0;
        let saved = attachments.iter().map(|one| save(folder, &mut number, one));
        saved.collect::<io::Result<_>>().map_err(failed)
    }
}

impl NamedAttachments {
    /// A value whose objects with `@attachment` have become attachments.
    pub(crate) fn resolve(&mut self, value: Value) -> Result<Value, Failure> {
        map(value, self.spelling, &mut |name, media_type| {
            let Some(id) = name.strip_prefix(CID) else {
                return of_file(Path::new(name), media_type).map(Value::Attachment);
            };
            let known = self.known.iter_mut().find(|(name, ..)| name == id);
            let Some((_, attachment, is_value)) = known else {
                return Err(Failure::usage(format!(
                    "no file is called {name}: name one with --attach {id}=FILE"
                )));
            };
            *is_value = true;
            Ok(Value::Attachment(attachment.clone()))
        })
    }

    /// Those that no binary value refers to.
    pub(crate) fn others(&self) -> impl Iterator<Item = &Attachment> {
        let others = self.known.iter().filter(|(_, _, is_value)| !is_value);
        others.map(|(_, attachment, _)| attachment)
    }
}

/// A value whose objects with `@attachment` have become the octets of the files that they name, for messages that are not sent.
pub(crate) fn inline(value: Value, spelling: Spelling) -> Result<Value, Failure> {
    map(value, spelling, &mut |name, _| {
        if let Some(id) = name.strip_prefix(CID) {
            return Err(Failure::usage(format!(
                "{name} is an attachment, but this message is written without any: give the file with KEY.{}=FILE to have its \
                 octets in the message, or see the whole package with call --dry-run --attach {id}=FILE",
                spelling.key()
            )));
        }
        let octets = fs::read(name);
        let octets = octets.map_err(|error| unreadable(Path::new(name), error))?;
        Ok(Value::Bytes(octets))
    })
}

/// A value whose objects with `@attachment` have become the files of a folder that they name.
pub(crate) fn of_folder(value: Value, spelling: Spelling, folder: &Path) -> Result<Value, Failure> {
    map(value, spelling, &mut |name, media_type| {
        let is_plain =
            |part: std::path::Component<'_>| matches!(part, std::path::Component::Normal(_));
        if !Path::new(name).components().all(is_plain) {
            return Err(Failure::input(format!(
                "the attachment {name:?} is not a file of the folder: give its path from there"
            )));
        }
        of_file(&folder.join(name), media_type).map(Value::Attachment)
    })
}

/// Replaces the objects that are attachments; `make` gets their name and media type. (JSON bounds the depth.)
fn map(
    value: Value,
    spelling: Spelling,
    make: &mut impl FnMut(&str, Option<&String>) -> Result<Value, Failure>,
) -> Result<Value, Failure> {
    match value {
        Value::Object(object) => {
            if let Some(name) = spelling.name_of(&object) {
                let media_type = object.get(MEDIA_TYPE).and_then(Value::as_str);
                return make(name, media_type.map(str::to_owned).as_ref());
            }
            let members = object.into_iter();
            let members = members.map(|(key, value)| Ok((key, map(value, spelling, make)?)));
            members.collect::<Result<Object, _>>().map(Value::Object)
        }
        Value::Array(values) => {
            let values = values.into_iter().map(|value| map(value, spelling, make));
            values.collect::<Result<_, _>>().map(Value::Array)
        }
        value => Ok(value),
    }
}

/// Refuses JSON of a file, or of standard input, that names files.
pub(crate) fn refuse_files(
    value: &serde_json::Value,
    spelling: Spelling,
    source: &str,
) -> Result<(), Failure> {
    use serde_json::Value;

    match value {
        Value::Object(members) => {
            let named = members.iter().filter(|(key, _)| spelling.is_key(key));
            let mut names = named.filter_map(|(_, name)| name.as_str());
            if let Some(name) = names.find(|name| !name.starts_with(CID)) {
                let key = spelling.key();
                return Err(Failure::input(format!(
                    "{source} has the attachment {name:?}, but only the command line may name files: write \
                     {{\"{key}\": \"cid:NAME\"}} there, and --attach NAME=FILE"
                )));
            }
            members
                .values()
                .try_for_each(|it| refuse_files(it, spelling, source))
        }
        Value::Array(values) => values
            .iter()
            .try_for_each(|it| refuse_files(it, spelling, source)),
        _ => Ok(()),
    }
}

fn of_file(file: &Path, media_type: Option<&String>) -> Result<Attachment, Failure> {
    let attachment = Attachment::from_path(file).map_err(|error| unreadable(file, error))?;
    Ok(match media_type {
        Some(media_type) => attachment.with_media_type(media_type),
        None => attachment,
    })
}

fn unreadable(file: &Path, error: io::Error) -> Failure {
    Failure::input(format!("cannot read {}", file.display())).because(error)
}

/// Writes an attachment to the next file that is not there. Its name has nothing that the peer sent.
fn save(folder: &Path, number: &mut u32, attachment: &Attachment) -> io::Result<PathBuf> {
    let extension = extension(attachment.media_type().unwrap_or_default());
    loop {
        *number += 1;
        let path = folder.join(format!("{number}.{extension}"));
        match OpenOptions::new().write(true).create_new(true).open(&path) {
            Ok(mut file) => {
                io::copy(&mut attachment.open()?, &mut file)?;
                return Ok(path);
            }
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error),
        }
    }
}

/// How names of files with a media type end.
fn extension(media_type: &str) -> &'static str {
    let essence = media_type.split(';').next().unwrap_or_default().trim();
    match essence.to_ascii_lowercase().as_str() {
        "image/png" => "png",
        "image/jpeg" => "jpg",
        "image/gif" => "gif",
        "image/svg+xml" => "svg",
        "image/tiff" => "tif",
        "application/pdf" => "pdf",
        "application/zip" => "zip",
        "application/gzip" => "gz",
        "application/json" => "json",
        "application/xml" | "text/xml" => "xml",
        "text/plain" => "txt",
        "text/html" => "html",
        "text/csv" => "csv",
        _ => "bin",
    }
}

/// An answer for JSON: attachments that were saved have the names of their files, and those that no value refers to are listed.
pub(crate) fn shown(
    answer: Value,
    spelling: Spelling,
    attachments: &[Attachment],
    saved: &[PathBuf],
) -> Value {
    let object = |attachment: &Attachment, file| object(spelling, attachment, file);
    if attachments.is_empty() {
        return answer;
    }
    let mut is_value = vec![false; attachments.len()];
    let answer = replaced(answer, &mut |attachment| {
        let at = attachments.iter().position(|one| one.is_same(attachment));
        if let Some(is_value) = at.and_then(|at| is_value.get_mut(at)) {
            *is_value = true;
        }
        object(attachment, at.and_then(|at| saved.get(at)))
    });
    let others = attachments.iter().zip(&is_value).enumerate();
    let others = others.filter(|(_, (_, is_value))| !**is_value);
    let others: Vec<Value> = others
        .map(|(at, (attachment, _))| object(attachment, saved.get(at)))
        .collect();
    match answer {
        Value::Object(mut members) if !others.is_empty() => {
            members.insert(OTHERS, Value::Array(others));
            Value::Object(members)
        }
        answer => answer,
    }
}

fn replaced(value: Value, make: &mut impl FnMut(&Attachment) -> Value) -> Value {
    match value {
        Value::Attachment(attachment) => make(&attachment),
        Value::Object(object) => {
            let members = object.into_iter();
            let members = members.map(|(key, value)| (key, replaced(value, make)));
            Value::Object(members.collect())
        }
        Value::Array(values) => {
            let values = values.into_iter().map(|value| replaced(value, make));
            Value::Array(values.collect())
        }
        value => value,
    }
}

/// An attachment as JSON: with the name of its file, or else with its content id.
fn object(spelling: Spelling, attachment: &Attachment, file: Option<&PathBuf>) -> Value {
    let key = spelling.key();
    let id = attachment.content_id().unwrap_or_default();
    let mut members = Object::new();
    match file {
        Some(file) => {
            members.insert(key, Value::from(file.display().to_string()));
            members.insert(CONTENT_ID, Value::from(id));
        }
        None => drop(members.insert(key, Value::from(id))),
    }
    if let Some(media_type) = attachment.media_type() {
        members.insert(MEDIA_TYPE, Value::from(media_type));
    }
    if let Some(length) = attachment.len() {
        members.insert(LENGTH, Value::from(length));
    }
    Value::Object(members)
}
