//! memcpy of the finished text: what moving the bytes alone costs.

use std::sync::Arc;

use crate::bench::definition::Task;
use crate::bench::job::{Engine, Job, Local};
use crate::bench::workload::{Answer, Workload};

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
