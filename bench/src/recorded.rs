//! A recorded session: what a real client asked a real server, and what it answered, from the corpus that tests use too.

use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use bsoap_codec::DecodeOptions;
use bsoap_codec::decode::Tolerance;
use bsoap_schema::{Chain, Definitions, FileLoader, LoadOptions, WellKnown, load};

use crate::scenario::Recorded;
use crate::terms::Terms;

/// In it a client polls for an answer nine times.
const SESSION: &str = "6.2.314.3321/ask_manual_question_complex_query1";

/// The folder of recorded sessions, in the folder `BSOAP_CORPUS` or in `../shared/corpus`.
///
/// # Errors
/// It is not there.
pub(crate) fn folder() -> Result<PathBuf, String> {
    let corpus = std::env::var_os("BSOAP_CORPUS").unwrap_or_else(|| "../shared/corpus".into());
    let folder = Path::new(&corpus).join("recorded-polling");
    if folder.is_dir() {
        return Ok(folder);
    }
    Err(format!(
        "there is no folder {} (set BSOAP_CORPUS)",
        folder.display()
    ))
}

/// The messages of a session, in order.
///
/// # Errors
/// They cannot be read.
pub(super) fn messages(which: Recorded) -> Result<Vec<Vec<u8>>, String> {
    let session = folder()?.join(SESSION);
    let (requests, answers) = (
        texts(&session, "-request.xml")?,
        texts(&session, "-response.xml")?,
    );
    let messages = match which {
        Recorded::Requests => requests,
        Recorded::Answers => answers,
        Recorded::Polls => {
            let commands: Vec<_> = requests.iter().map(|request| command(request)).collect();
            let run = longest_run(&commands);
            answers.get(run).map(<[_]>::to_vec).unwrap_or_default()
        }
    };
    if messages.is_empty() {
        return Err(format!("{} has no messages", session.display()));
    }
    Ok(messages)
}

fn texts(session: &Path, ending: &str) -> Result<Vec<Vec<u8>>, String> {
    let failed = |error: std::io::Error| format!("{}: {error}", session.display());
    let mut files: Vec<PathBuf> = std::fs::read_dir(session)
        .map_err(failed)?
        .flatten()
        .map(|entry| entry.path())
        .filter(|path| path.to_string_lossy().ends_with(ending))
        .collect();
    files.sort();
    files
        .iter()
        .map(|file| std::fs::read(file).map_err(failed))
        .collect()
}

/// What a request asks for.
fn command(request: &[u8]) -> Option<&[u8]> {
    const TAG: &[u8] = b"<command>";
    let start = memchr::memmem::find(request, TAG)? + TAG.len();
    let end = memchr::memchr(b'<', &request[start..])?;
    Some(&request[start..start + end])
}

/// The longest run of equal neighbours.
fn longest_run<T: PartialEq>(all: &[T]) -> std::ops::Range<usize> {
    let (mut longest, mut start) = (0..0, 0);
    for at in 0..all.len() {
        if all[start] != all[at] {
            start = at;
        }
        if at + 1 - start > longest.len() {
            longest = start..at + 1;
        }
    }
    longest
}

/// By what these messages are read.
///
/// # Errors
/// The WSDL does not load.
pub(super) fn terms(which: Recorded) -> Result<Terms, String> {
    static DEFINITIONS: OnceLock<Result<Definitions, String>> = OnceLock::new();
    let open = || {
        let wsdl = folder()?.join("console.wsdl");
        let loader = Chain::new().then(FileLoader::anywhere()).then(WellKnown);
        load(&wsdl.to_string_lossy(), &loader, &LoadOptions::default())
            .map_err(|error| format!("{}: {error}", wsdl.display()))
    };
    let definitions = DEFINITIONS
        .get_or_init(open)
        .as_ref()
        .map_err(Clone::clone)?;
    let (_, port) = definitions.ports().next().ok_or("the WSDL has no port")?;
    // The server writes empty elements for integers that it does not have, and some that its WSDL does not have.
    let mut options = DecodeOptions::default();
    options.accepted = Tolerance::Lenient.into();
    Ok(Terms {
        plan: definitions.plan().clone(),
        root: match which {
            Recorded::Requests => port.binding.request,
            Recorded::Answers | Recorded::Polls => port.binding.response,
        },
        options,
        binding: Arc::clone(&port.binding),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longest_run_of_a_command_is_found() {
        assert_eq!(longest_run(&["a", "b", "b", "c"]), 1..3);
        assert_eq!(longest_run(&["a", "a", "b"]), 0..2);
        assert_eq!(longest_run::<u8>(&[]), 0..0);
        assert_eq!(command(b"<x><command>Get</command>"), Some(&b"Get"[..]));
        assert_eq!(command(b"<x/>"), None);
    }
}
