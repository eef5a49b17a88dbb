//! The command line.

/// Measure bsoap against bare loops and peers
///
/// Answers are compared before any time is taken; engines run in turns; figures are medians. Engines whose
/// programs or libraries are not installed are named and left out.
#[derive(Debug, clap::Parser)]
#[command(name = "bsoap-bench", version)]
pub(crate) struct Arguments {
    /// Benchmarks to run, such as 'encode' or 'ds-fig*'; all if none is named (see --list). 'never-slower' alone compares every
    /// stream with and without differential conversion, and lists the worst first; 'scale' alone runs workers behind HAProxy;
    /// 'load' alone loads WSDLs; 'attachments' alone sends 100 MB
    #[arg(value_name = "NAME")]
    pub(crate) names: Vec<String>,
    /// Only cases that match, such as 'dhard/*' or '*/100000'
    #[arg(long, value_name = "GLOB", default_value = "*")]
    pub(crate) case: String,
    /// Only engines that match, such as 'bsoap*'; may be given several times
    #[arg(long, value_name = "GLOB", default_value = "*")]
    pub(crate) engine: Vec<String>,
    /// Few values and few rounds: shows that everything works, not how fast it is
    #[arg(long)]
    pub(crate) quick: bool,
    /// List the benchmarks and what they show
    #[arg(long)]
    pub(crate) list: bool,
    /// A line of JSON for each case and engine
    #[arg(long)]
    pub(crate) json: bool,
    /// Be the process that reads and discards what the others send, on this core
    #[arg(long, value_name = "CORE", hide = true)]
    pub(crate) sink: Option<usize>,
    /// Be the server of an engine that is called, on the core that --core names
    #[arg(long, value_name = "ENGINE", hide = true, requires = "core")]
    pub(crate) serve: Option<String>,
    #[arg(long, value_name = "CORE", hide = true)]
    pub(crate) core: Option<usize>,
}
