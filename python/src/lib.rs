//! The binary module of the Python package `bsoap`; `python/bsoap` is what programs see of it.
//!
//! ```text
//! Python objects ──take──► Value ──► Record ──► text
//! Python objects ◄──make── Record ◄── text
//! ```
//!
//! `plan.rs` knows the Python classes of a Plan's types; `make.rs` and `take.rs` convert; `column.rs` shows the slots of a Record
//! as memory, for numpy. The interpreter's lock is released in all conversion and I/O.

mod addressing;
mod answer;
mod arguments;
mod attachment;
mod beside;
mod binary;
mod bridge;
mod bulk;
mod client;
mod codec;
mod collect;
mod column;
mod declared;
mod definitions;
mod errors;
mod exception;
mod layout;
mod limits;
mod logs;
mod make;
mod options;
mod plan;
mod python_file;
mod rows;
mod runtime;
mod service;
mod sharing;
mod table;
mod take;

use pyo3::prelude::*;

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// The private module `bsoap._bsoap`.
#[pymodule(gil_used = false)]
fn _bsoap(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<answer::Answer>()?;
    module.add_class::<attachment::Attachment>()?;
    attachment::register(module.py())?;
    module.add_class::<bulk::Bulk>()?;
    module.add_class::<bulk::Rows>()?;
    module.add_class::<client::Client>()?;
    module.add_class::<codec::Decoded>()?;
    module.add_class::<codec::Decoder>()?;
    module.add_class::<codec::Template>()?;
    module.add_class::<column::Column>()?;
    module.add_class::<definitions::Definitions>()?;
    module.add_class::<service::Running>()?;
    module.add_class::<service::Reply>()?;
    module.add_class::<service::Service>()?;
    module.add_class::<service::context::Context>()?;
    module.add_function(wrap_pyfunction!(run_command, module)?)?;
    module.add_class::<table::Series>()?;
    module.add_class::<table::Table>()?;
    module.add("__version__", env!("CARGO_PKG_VERSION"))
}

/// Runs the command `bsoap` with these arguments, the first of which is its name, and returns the exit code.
#[pyfunction]
fn run_command(py: Python<'_>, arguments: Vec<std::ffi::OsString>) -> u8 {
    py.detach(|| bsoap_cli::run(arguments))
}
