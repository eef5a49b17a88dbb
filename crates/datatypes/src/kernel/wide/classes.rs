//! Registers of 32 text bytes: what each byte is, and comparison with a separator.

use super::super::separator::Separator;
use super::registers::{Bytes, agree, difference, digits, equal, exponents, load, mask};
use std::arch::asm;

/// 32 bytes of text and masks of what they are, one bit per byte.
#[derive(Clone, Copy)]
pub(super) struct Classes {
    bytes: Bytes,
    /// The bytes that end a value.
    pub(super) ends: u32,
    /// The bytes that are not digits.
    pub(super) others: u32,
    pub(super) dots: u32,
}

impl Classes {
    /// # Safety
    /// The instructions; 32 bytes can be read.
    #[inline(always)]
    pub(super) unsafe fn new(text: *const u8, end: u8) -> Self {
        // SAFETY: the caller guarantees the instructions and 32 readable bytes; the load is unaligned.
        unsafe {
            let bytes = load(text);
            Self {
                bytes,
                ends: mask(equal(bytes, end)),
                others: !mask(digits(bytes)),
                dots: mask(equal(bytes, b'.')),
            }
        }
    }

    /// The bytes that are `e` or `E`.
    ///
    /// # Safety
    /// The instructions.
    #[inline(always)]
    pub(super) unsafe fn exponents(&self) -> u32 {
        // SAFETY: the caller guarantees the instructions; only registers are used.
        unsafe { mask(exponents(self.bytes)) }
    }
}

/// The bytes of 64 that are `end`.
///
/// # Safety
/// The instructions; 64 bytes can be read.
#[inline(always)]
pub(super) unsafe fn ends_of_64(text: *const u8, end: u8) -> u64 {
    // SAFETY: the caller guarantees the instructions and 64 readable bytes; the loads are unaligned.
    unsafe {
        let low = mask(equal(load(text), end));
        let high = mask(equal(load(text.add(32)), end));
        u64::from(low) | u64::from(high) << 32
    }
}

/// A separator in registers: its first 32 bytes.
#[derive(Clone, Copy)]
pub(crate) struct LoadedSeparator {
    head: Bytes,
    mask: Bytes,
}

impl LoadedSeparator {
    /// # Safety
    /// The instructions.
    #[inline(always)]
    pub(crate) unsafe fn new(separator: &Separator) -> Self {
        // SAFETY: the caller guarantees the instructions; both arrays have 32 bytes.
        unsafe {
            Self {
                head: load(separator.head.as_ptr()),
                mask: load(separator.mask.as_ptr()),
            }
        }
    }

    /// Up to 32 of these bytes.
    ///
    /// # Safety
    /// The instructions.
    #[inline(always)]
    pub(crate) unsafe fn of(bytes: &[u8]) -> Self {
        // SAFETY: the caller guarantees the instructions.
        unsafe { Self::new(&Separator::head_of(bytes)) }
    }

    /// The bits that differ from the text.
    ///
    /// # Safety
    /// The instructions; 32 bytes can be read.
    #[inline(always)]
    pub(crate) unsafe fn difference(&self, text: *const u8) -> Bytes {
        // SAFETY: the caller guarantees the instructions and 32 readable bytes; the load is unaligned.
        unsafe { difference(load(text), self.head, self.mask) }
    }

    /// # Safety
    /// The instructions; 32 bytes can be read.
    #[inline(always)]
    pub(super) unsafe fn matches_at(&self, text: *const u8) -> bool {
        // SAFETY: the caller guarantees the instructions and 32 readable bytes; the load is unaligned.
        unsafe { agree(load(text), self.head, self.mask) }
    }
}

/// Makes the compiler compute a value here, and not later where it is used.
#[inline(always)]
pub(super) fn compute_now(mut value: u64) -> u64 {
    // SAFETY: the assembly is empty and only names the register.
    unsafe { asm!("/* {0} */", inout(reg) value, options(nomem, nostack, preserves_flags)) };
    value
}
