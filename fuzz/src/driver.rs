//! Runs a target for some time with random inputs and with mutations of what its corpus has, without coverage guidance.
//!
//! The arguments are those of libFuzzer, as far as they are known here: `-max_total_time=SECONDS`, `-max_len=BYTES`,
//! `-timeout=SECONDS` for one input, `-seed=NUMBER`, `-dict=FILE`, and folders of inputs to begin with. The same seed makes the
//! same inputs. An input that panics or takes too long is written to `artifacts/`, and the program fails.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use bsoap_testkit::random::Random;

/// The number of recent inputs that are mutated again.
const POOL: usize = 256;
/// The most mutations of an input at once.
const MUTATIONS: usize = 4;

struct Options {
    time: Duration,
    timeout: Duration,
    longest: usize,
    seed: u64,
    tokens: Vec<Vec<u8>>,
    corpus: Vec<Vec<u8>>,
}

/// The input that is being run, and since when.
type Running = Arc<Mutex<(Vec<u8>, Instant)>>;

/// Runs the target until the time is up. Fails if it panics.
pub fn run(target: impl Fn(&[u8])) {
    let options = Options::of(std::env::args().skip(1));
    let running: Running = Arc::new(Mutex::new((Vec::new(), Instant::now())));
    keep_what_panics(Arc::clone(&running));
    watch(Arc::clone(&running), options.timeout);
    let mut inputs = Inputs::new(&options);
    let end = Instant::now() + options.time;
    let mut count = 0_u64;
    for input in &options.corpus {
        run_one(&target, &running, input);
    }
    while Instant::now() < end {
        let input = inputs.next();
        run_one(&target, &running, &input);
        inputs.keep(input);
        count += 1;
    }
    println!(
        "{}: {count} inputs and {} of the corpus in {} s, seed {}",
        name(),
        options.corpus.len(),
        options.time.as_secs(),
        options.seed
    );
}

fn run_one(target: &impl Fn(&[u8]), running: &Running, input: &[u8]) {
    {
        let mut running = running.lock().unwrap_or_else(PoisonError::into_inner);
        running.0.clear();
        running.0.extend_from_slice(input);
        running.1 = Instant::now();
    }
    target(input);
}

impl Options {
    fn of(arguments: impl Iterator<Item = String>) -> Self {
        let mut options = Self {
            time: Duration::from_secs(10),
            timeout: Duration::from_secs(60),
            longest: 4096,
            seed: 1,
            tokens: Vec::new(),
            corpus: Vec::new(),
        };
        for argument in arguments {
            let known = argument
                .strip_prefix('-')
                .and_then(|option| option.split_once('='));
            match known {
                Some(("dict", file)) => options.tokens = tokens(Path::new(file)),
                Some((name, value)) => options.set(name, value.parse().unwrap_or(0)),
                None => options.corpus.extend(files(Path::new(&argument))),
            }
        }
        options
    }

    fn set(&mut self, name: &str, value: u64) {
        match name {
            "max_total_time" => self.time = Duration::from_secs(value),
            "timeout" => self.timeout = Duration::from_secs(value),
            "max_len" => self.longest = value as usize,
            "seed" => self.seed = value,
            // An option of libFuzzer that has no meaning here.
            _ => {}
        }
    }
}

/// The contents of the files of a folder, in the order of their names.
fn files(folder: &Path) -> Vec<Vec<u8>> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
    files.sort();
    files
        .iter()
        .filter_map(|file| fs::read(file).ok())
        .collect()
}

/// The tokens of a dictionary of libFuzzer: a line `"token"` for each.
fn tokens(file: &Path) -> Vec<Vec<u8>> {
    let text = fs::read_to_string(file).unwrap_or_default();
    let token = |line: &str| {
        let inside = line.strip_prefix('"')?.strip_suffix('"')?;
        Some(inside.replace("\\\"", "\"").into_bytes())
    };
    text.lines().filter_map(token).collect()
}

/// Makes inputs.
struct Inputs<'o> {
    random: Random,
    options: &'o Options,
    pool: Vec<Vec<u8>>,
}

impl<'o> Inputs<'o> {
    fn new(options: &'o Options) -> Self {
        Self {
            random: Random::new(options.seed),
            options,
            pool: options.corpus.clone(),
        }
    }

    fn below(&mut self, end: usize) -> usize {
        self.random.below(end)
    }

    fn byte(&mut self) -> u8 {
        self.random.next() as u8
    }

    fn next(&mut self) -> Vec<u8> {
        if self.pool.is_empty() || self.options.corpus.is_empty() && self.below(4) == 0 {
            let length = self.below(self.options.longest + 1);
            return (0..length).map(|_| self.byte()).collect();
        }
        // A text that was mutated often is soon no document at all, so most begin with the corpus.
        let first = self.options.corpus.len();
        let choices = match first {
            0 => self.pool.len(),
            _ if self.below(4) > 0 => first,
            _ => self.pool.len(),
        };
        let at = self.below(choices);
        let mut input = self.pool[at].clone();
        for _ in 0..=self.below(MUTATIONS) {
            self.mutate(&mut input);
        }
        input.truncate(self.options.longest);
        input
    }

    fn mutate(&mut self, input: &mut Vec<u8>) {
        let at = self.below(input.len() + 1);
        let end = (at + 1 + self.below(32)).min(input.len());
        match self.below(7) {
            0 => {
                let new = self.byte();
                if let Some(byte) = input.get_mut(at) {
                    *byte = new;
                }
            }
            1 => {
                let bit = 1 << self.below(8);
                if let Some(byte) = input.get_mut(at) {
                    *byte ^= bit;
                }
            }
            2 => drop(input.drain(at.min(end)..end)),
            3 => {
                let again = input[at.min(end)..end].to_vec();
                input.splice(at..at, again);
            }
            4 => {
                let other = self.below(self.pool.len());
                let from = self.below(self.pool[other].len() + 1);
                let rest = self.pool[other][from..].to_vec();
                input.truncate(at);
                input.extend(rest);
            }
            _ if !self.options.tokens.is_empty() => {
                let token = self.below(self.options.tokens.len());
                let end = if self.below(2) == 0 { at } else { end };
                let token = self.options.tokens[token].iter().copied();
                input.splice(at..end.max(at), token);
            }
            _ => {
                let bytes: Vec<u8> = (0..8).map(|_| self.byte()).collect();
                input.splice(at..at, bytes);
            }
        }
    }

    /// Keeps an input for more mutations, at the place of an older one. The corpus stays.
    fn keep(&mut self, input: Vec<u8>) {
        let first = self.options.corpus.len();
        if self.pool.len() < first + POOL {
            return self.pool.push(input);
        }
        let at = first + self.below(POOL);
        self.pool[at] = input;
    }
}

fn keep_what_panics(running: Running) {
    let print = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        print(panic);
        let input = running.lock().unwrap_or_else(PoisonError::into_inner);
        keep("crash", &input.0);
    }));
}

/// Ends the program if one input takes longer than `timeout`.
fn watch(running: Running, timeout: Duration) {
    std::thread::spawn(move || {
        loop {
            std::thread::sleep(Duration::from_millis(500));
            let input = running.lock().unwrap_or_else(PoisonError::into_inner);
            if input.1.elapsed() > timeout {
                eprintln!("{}: an input takes longer than {timeout:?}", name());
                keep("timeout", &input.0);
                std::process::exit(1);
            }
        }
    });
}

fn keep(what: &str, input: &[u8]) {
    let sum = input.iter().fold(0xcbf2_9ce4_8422_2325_u64, |sum, &byte| {
        (sum ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3)
    });
    let folder = Path::new("artifacts").join(name());
    let file = folder.join(format!("{what}-{sum:016x}"));
    let written = fs::create_dir_all(&folder).and_then(|()| fs::write(&file, input));
    match written {
        Ok(()) => eprintln!("the input is in {}", file.display()),
        Err(error) => eprintln!("the input cannot be written to {}: {error}", file.display()),
    }
}

fn name() -> String {
    let program = std::env::args().next().unwrap_or_default();
    let stem = Path::new(&program).file_stem();
    stem.map_or_else(String::new, |name| name.to_string_lossy().into_owned())
}
