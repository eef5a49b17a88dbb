//! base64Binary and hexBinary: ours, and the crates that do them with SIMD, which take neither white space nor schemas'
//! limits into account.

use std::sync::Arc;

use bsoap_datatypes::binary;

use crate::definition::Task;
use crate::job::{Engine, Job, Local};
use crate::shape::{Shape, Values};
use crate::workload::{Answer, Workload};

/// By whom octets are read and written.
#[derive(Clone, Copy)]
pub(crate) enum Octets {
    Own,
    /// base64-simd and hex-simd.
    Crates,
}

type Convert = fn(&[u8], &mut Vec<u8>) -> Result<(), String>;

impl Octets {
    fn convert(self, shape: Shape, is_read: bool) -> Option<Convert> {
        Some(match (self, shape, is_read) {
            (Self::Own, Shape::Base64, true) => {
                |text, out| binary::parse_base64(text, out).map_err(|error| error.to_string())
            }
            (Self::Own, Shape::Hex, true) => {
                |text, out| binary::parse_hex(text, out).map_err(|error| error.to_string())
            }
            (Self::Own, Shape::Base64, false) => |octets, out| {
                binary::write_base64(octets, out);
                Ok(())
            },
            (Self::Own, Shape::Hex, false) => |octets, out| {
                binary::write_hex(octets, out);
                Ok(())
            },
            (Self::Crates, Shape::Base64, true) => |text, out| {
                let read = base64_simd::STANDARD.decode_append(text, out);
                read.map_err(|error| error.to_string())
            },
            (Self::Crates, Shape::Hex, true) => {
                |text, out| hex_simd::decode_append(text, out).map_err(|error| error.to_string())
            }
            (Self::Crates, Shape::Base64, false) => |octets, out| {
                base64_simd::STANDARD.encode_append(octets, out);
                Ok(())
            },
            (Self::Crates, Shape::Hex, false) => |octets, out| {
                hex_simd::encode_append(octets, out, hex_simd::AsciiCase::Upper);
                Ok(())
            },
            _ => return None,
        })
    }
}

impl Engine for Octets {
    fn job(&mut self, work: &Arc<Workload>) -> Result<Option<Box<dyn Job>>, String> {
        let Values::Octets(octets) = &work.values else {
            return Ok(None);
        };
        let is_read = work.is_read();
        let Some(convert) = self.convert(work.case.shape, is_read) else {
            return Ok(None);
        };
        if work.task != Task::Numbers {
            return Ok(None);
        }
        let from = match is_read {
            true => work.text().trim_ascii_end().to_vec(),
            false => octets.clone(),
        };
        let step = move |out: &mut Vec<u8>| {
            out.clear();
            convert(&from, out)
        };
        let answer = |out: &mut Vec<u8>| Ok(Answer::Octets(out.clone()));
        Ok(Local::new(Vec::with_capacity(3 * octets.len() + 64), step, answer).boxed())
    }
}
