//! One double or float of a message, which stands between tags.

use super::{Kernel, Number};

impl Kernel {
    /// The slot of the double or float at `text[at..]`, which ends before an `end`, and its length. Nothing, if it is in any
    /// doubt or too near the ends of the text, or if this machine reads one number as fast by
    /// [`parse_prefix`](crate::double::parse_prefix): that is then to say what it is.
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
        #[cfg(all(target_arch = "x86_64", not(miri)))]
        if self != Self::PORTABLE {
            let is_wide = self.0 == super::Level::Avx512;
            return super::x86::read_real(is_wide, number, (text, at), end);
        }
        let _ = (number, text, at, end);
        None
    }
}
