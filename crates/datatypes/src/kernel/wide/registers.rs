//! Registers of 32 bytes and the operations on them, as this machine has them.

#[cfg(target_arch = "x86_64")]
pub(crate) use super::avx2::*;
#[cfg(target_arch = "aarch64")]
pub(super) use super::neon::*;
