//! memcpy of the finished text: what moving the bytes alone costs. And memcmp: what it costs to see that they are the same.

use std::hint::black_box;
use std::sync::Arc;

use super::send::Sending;
use crate::definition::Task;
use crate::job::{Engine, Job, Local};
use crate::workload::{Answer, Workload};

/// Copies the text.
pub(crate) struct Memcpy;

impl Engine for Memcpy {
    fn job(&mut self, work: &Arc<Workload>) -> Result<Option<Box<dyn Job>>, String> {
        if work.task == Task::Numbers || work.stream.is_some() {
            return Ok(None);
        }
        let work = Arc::clone(work);
        let copies: Vec<Vec<u8>> = work
            .messages
            .iter()
            .map(|message| vec![0; message.len()])
            .collect();
        let step = move |copies: &mut Vec<Vec<u8>>| {
            copies
                .iter_mut()
                .zip(&work.messages)
                .for_each(|(copy, message)| copy.copy_from_slice(message));
            Ok(())
        };
        Ok(Local::new(copies, step, |copies| Ok(Answer::Messages(copies.clone()))).boxed())
    }
}

/// Compares: the text with that of the message before, which was the same, where messages are read; a Record with a copy of
/// it, where they are sent.
pub(crate) struct Memcmp;

impl Engine for Memcmp {
    fn job(&mut self, work: &Arc<Workload>) -> Result<Option<Box<dyn Job>>, String> {
        if work.stream.is_some() {
            return Sending::Memcmp.job(work);
        }
        if work.task != Task::Decode {
            return Ok(None);
        }
        let work = Arc::clone(work);
        let before = work.messages.clone();
        let step = move |before: &mut Vec<Vec<u8>>| {
            let same = before
                .iter()
                .zip(&work.messages)
                .all(|(before, message)| black_box(before.as_slice() == message.as_slice()));
            if same {
                Ok(())
            } else {
                Err("a message has changed".into())
            }
        };
        Ok(Local::new(before, step, |before| Ok(Answer::Messages(before.clone()))).boxed())
    }
}
