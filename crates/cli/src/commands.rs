//! The commands, a file each.

pub(crate) mod call;
pub(crate) mod completions;
pub(crate) mod decode;
pub(crate) mod demo;
pub(crate) mod describe;
pub(crate) mod encode;
pub(crate) mod generate;
pub(crate) mod replay;
pub(crate) mod serve;
pub(crate) mod validate;
