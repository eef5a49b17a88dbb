//! The pages of the guide with commands: their examples are run, and print what the page says.
//!
//! In blocks ```` ```console ````, lines that begin with `$ ` are commands, and the lines behind them what they print; a command that
//! ends with `&` runs until the end of the page. In ```` ```console times ````, numbers are not compared, in ```` ```console sample ````
//! nothing is. Commands in ```` ```sh ```` print nothing that matters and must succeed. With the environment variable `BSOAP_UPDATE`
//! set, the test writes what the commands print today: review the difference.

#![cfg(unix)]

use std::io::{BufRead as _, BufReader, Write as _};
use std::net::TcpListener;
use std::path::Path;
use std::process::{Child, Command, Stdio};

const GUIDE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/guide");
const EXAMPLES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples");

/// The port in the page. The test uses a free one.
const PORT: &str = "8080";
/// What `serve` prints last when it has started.
const SERVING: &str = "press Ctrl-C to stop";

/// Runs commands in a folder.
struct Shell<'f> {
    folder: &'f Path,
    port: String,
    services: Vec<Child>,
}

impl Drop for Shell<'_> {
    fn drop(&mut self) {
        for service in &mut self.services {
            let _ = service.kill();
            let _ = service.wait();
        }
    }
}

impl Shell<'_> {
    fn command(&self, line: &str) -> Command {
        let program = Path::new(env!("CARGO_BIN_EXE_bsoap"));
        let folder = program.parent().expect("it is in a folder").display();
        let path = std::env::var("PATH").unwrap_or_default();
        let mut command = Command::new("sh");
        command
            .args(["-c", &line.replace(PORT, &self.port)])
            .current_dir(self.folder)
            .env("PATH", format!("{folder}:{path}"))
            .env_remove("BSOAP_LOG")
            .stdin(Stdio::null());
        command
    }

    /// What a command prints, standard error last.
    fn run(&mut self, line: &str) -> String {
        let printed = match line.strip_suffix('&') {
            Some(service) => self.serve(service),
            None => {
                let output = self.command(line).output().expect("the shell starts");
                let printed = [output.stdout, output.stderr].concat();
                String::from_utf8(printed).expect("output is UTF-8")
            }
        };
        let printed = printed.replace(&self.port, PORT);
        printed
            .lines()
            .map(|line| format!("{}\n", line.trim_end()))
            .collect()
    }

    /// Starts a service and returns what it prints until it serves.
    fn serve(&mut self, line: &str) -> String {
        let mut command = self.command(&format!("exec {line}"));
        let mut service = command
            .stdout(Stdio::piped())
            .spawn()
            .expect("the shell starts");
        let output = service.stdout.take().expect("it is a pipe");
        self.services.push(service);
        let mut printed = String::new();
        for line in BufReader::new(output).lines() {
            let line = line.expect("output is UTF-8");
            printed += &format!("{line}\n");
            if line == SERVING {
                break;
            }
        }
        printed
    }
}

/// A text whose numbers, and the spaces that align them, do not matter.
fn without_numbers(text: &str) -> String {
    let mut out = String::new();
    for c in text.chars() {
        match c {
            '0'..='9' | '.' if out.ends_with('#') => {}
            '0'..='9' => out.push('#'),
            ' ' if out.ends_with(' ') => {}
            c => out.push(c),
        }
    }
    out
}

/// The page with the output of today.
fn rewritten(page: &str, shell: &mut Shell<'_>) -> String {
    let mut out = String::new();
    let mut block = None;
    for line in page.lines() {
        let is_fence = line.starts_with("```");
        match (block, line.strip_prefix("$ ")) {
            (Some("console" | "console times" | "console sample"), Some(command)) => {
                out += &format!("{line}\n{}", shell.run(command));
            }
            (Some("console" | "console times" | "console sample"), None) if !is_fence => {}
            (Some("sh"), None) if !is_fence => {
                let output = shell.command(line).output().expect("the shell starts");
                assert!(output.status.success(), "{line}: {output:?}");
                out += &format!("{line}\n");
            }
            _ => out += &format!("{line}\n"),
        }
        if is_fence {
            block = match block {
                None => Some(&line[3..]),
                Some(_) => None,
            };
        }
    }
    out
}

/// Runs the examples of a page of the guide.
fn check(name: &str) {
    let folder = tempfile::tempdir().expect("a folder");
    std::os::unix::fs::symlink(EXAMPLES, folder.path().join("examples")).expect("a link");
    let free = TcpListener::bind("127.0.0.1:0").and_then(|free| free.local_addr());
    let mut shell = Shell {
        folder: folder.path(),
        port: free.expect("a free port").port().to_string(),
        services: Vec::new(),
    };
    let file = Path::new(GUIDE).join(name);
    let page = std::fs::read_to_string(&file).expect("it is UTF-8");
    let today = rewritten(&page, &mut shell);
    if std::env::var_os("BSOAP_UPDATE").is_some() {
        let mut file = std::fs::File::create(&file).expect("it can be written");
        file.write_all(today.as_bytes()).expect("it can be written");
        return;
    }
    let blocks = |text: &str| -> Vec<String> { text.split("```").map(str::to_owned).collect() };
    for (today, page) in blocks(&today).into_iter().zip(blocks(&page)) {
        if page.starts_with("console times") {
            assert_eq!(without_numbers(&today), without_numbers(&page));
        } else if !page.starts_with("console sample") {
            assert_eq!(today, page);
        }
    }
}

#[test]
fn the_examples_of_the_guide_to_the_command_print_what_it_says() {
    check("command.md");
}

#[test]
fn the_examples_of_the_guide_to_addressing_print_what_it_says() {
    check("addressing.md");
}

#[test]
fn the_examples_of_the_guide_to_transports_print_what_it_says() {
    check("transports.md");
}
