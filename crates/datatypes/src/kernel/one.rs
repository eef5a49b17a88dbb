//! One double or float of a message, between tags.

use super::{Kernel, Number};

impl Kernel {
    /// The slot of the double or float at `text[at..]`, which ends before an `end`, and its length. `None` if the slow path
    /// must decide, if it is too near to either end of the text, or if this machine has no faster way than
    /// [`parse_prefix`](crate::double::parse_prefix): call that then.
    ///
    /// ```
    /// use bsoap_datatypes::kernel::{Kernel, Number};
    ///
    /// let text = format!("{:40}<a>-1.5</a>{:80}", "", "");
    /// if let Some(found) = Kernel::best().read_real(Number::Double, (text.as_bytes(), 43), b'<') {
    ///     assert_eq!(found, ((-1.5_f64).to_bits(), 4));
    /// }
    /// ```
    #[inline]
    pub fn read_real(
        self,
        number: Number,
        (text, at): (&[u8], usize),
        end: u8,
    ) -> Option<(u64, usize)> {
        #[cfg(all(any(target_arch = "x86_64", target_arch = "aarch64"), not(miri)))]
        if self != Self::PORTABLE {
            return super::wide::read_real(number, (text, at), end);
        }
        let _ = (number, text, at, end);
        None
    }
}
