//! Events alone, nothing converted: quick-xml's, which checks that end tags match, those of our reader, which also resolves
//! namespaces and checks names and characters, and simdxml's index of all tags, which checks neither.

use std::any::Any;
use std::hint::black_box;
use std::sync::Arc;

use bsoap_xml::{Options, Scopes, State};
use quick_xml::Reader;
use quick_xml::events::Event;
use simdxml::index::TagType;

use crate::definition::Task;
use crate::job::{Engine, Job, Local};
use crate::leaves;
use crate::workload::{Answer, Workload};

/// Whose events.
#[derive(Clone, Copy)]
pub(crate) enum Events {
    QuickXml,
    Bsoap,
    Simdxml,
}

impl Engine for Events {
    fn job(&mut self, work: &Arc<Workload>) -> Result<Option<Box<dyn Job>>, String> {
        if work.task != Task::Decode {
            return Ok(None);
        }
        let read = match self {
            Self::QuickXml => quick_xml,
            Self::Bsoap => bsoap,
            Self::Simdxml => simdxml,
        };
        let (timed, answered, fresh) = (Arc::clone(work), Arc::clone(work), Arc::clone(work));
        let answer = move |_: &mut ()| {
            if read(&answered)? != quick_xml(&answered)? {
                return Ok(Answer::Verdict(false));
            }
            let mut found = Vec::new();
            answered
                .messages
                .iter()
                .try_for_each(|message| leaves::collect(message, &mut found))?;
            Ok(Answer::Leaves(found))
        };
        Ok(Local::new(
            (),
            move |()| read(&timed).map(|count| _ = black_box(count)),
            answer,
        )
        .with_fresh(Box::new(move || {
            read(&fresh).map(|_| Box::new(()) as Box<dyn Any>)
        }))
        .boxed())
    }
}

/// Reads all messages; how many elements they have.
fn quick_xml(work: &Workload) -> Result<usize, String> {
    let mut elements = 0;
    for message in &work.messages {
        let mut reader = Reader::from_reader(message.as_slice());
        loop {
            match reader.read_event().map_err(|error| error.to_string())? {
                Event::Eof => break,
                event => {
                    elements += usize::from(matches!(
                        black_box(event),
                        Event::Start(_) | Event::Empty(_)
                    ));
                }
            }
        }
    }
    Ok(elements)
}

/// The same, by the index.
fn simdxml(work: &Workload) -> Result<usize, String> {
    let is_element = |tag| matches!(tag, TagType::Open | TagType::SelfClose);
    let mut elements = 0;
    for message in &work.messages {
        let index = simdxml::parse(message).map_err(|error| error.to_string())?;
        let tags = 0..index.tag_count();
        elements += tags.filter(|&tag| is_element(index.tag_type(tag))).count();
        black_box(&index);
    }
    Ok(elements)
}

/// The same, with a state that is kept from message to message.
fn bsoap(work: &Workload) -> Result<usize, String> {
    let (vocabulary, mut scopes) = (work.terms.plan.vocabulary(), Scopes::new());
    let mut state = State::new(&Options::default());
    let mut elements = 0;
    for message in &work.messages {
        let text = bsoap_xml::decode_str(message).map_err(|error| error.to_string())?;
        state.restart();
        loop {
            let rest = &text[state.offset() as usize..];
            let event = state.next(vocabulary, &mut scopes, rest, true);
            match event.map_err(|error| error.to_string())? {
                None | Some(bsoap_xml::Event::EndOfDocument) => break,
                Some(event) => {
                    elements += usize::from(matches!(black_box(event), bsoap_xml::Event::Start(_)));
                }
            }
        }
    }
    Ok(elements)
}
