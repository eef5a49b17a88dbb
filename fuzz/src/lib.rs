//! What all fuzz targets share: the macro that makes a target a program.
//!
//! With the feature `libfuzzer` (the default) it is that of libFuzzer, which needs a C++ compiler and, to be guided by
//! coverage, instrumented code. Without it, [`driver`] feeds the target: that needs nothing but a stable compiler.

#[cfg(not(feature = "libfuzzer"))]
pub mod driver;

#[cfg(feature = "libfuzzer")]
pub use libfuzzer_sys::fuzz_target;

/// Makes a closure that takes an input a program.
#[cfg(not(feature = "libfuzzer"))]
#[macro_export]
macro_rules! fuzz_target {
    (|$input:ident: &[u8]| $body:expr) => {
        fn main() {
            $crate::driver::run(|$input: &[u8]| {
                let _ = $body;
            });
        }
    };
}
