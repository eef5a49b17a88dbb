//! What the command says about typical mistakes. `testdata/errors.txt` has a line `$ bsoap …` for each, then the exit code, standard
//! output and standard error as they are expected; `testdata/errors/` has the files that the commands read. With the environment
//! variable `BSOAP_UPDATE` set, the test writes what the command says today: review the difference.

mod common;

use std::fmt::Write as _;
use std::io::{Read as _, Write as _};
use std::net::TcpListener;
use std::path::Path;

use common::{Ran, bsoap, mesh};

const EXPECTED: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/testdata/errors.txt");
const FILES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/testdata/errors");

/// The servers that commands name as `http://<name>/`.
const SERVERS: [(&str, &str); 5] = [
    (
        "http://locked/",
        "HTTP/1.1 401 Unauthorized\r\ncontent-type: text/html\r\ncontent-length: 11\r\nconnection: close\r\n\r\n<h1>No</h1>",
    ),
    // The answer never comes.
    ("http://slow/", ""),
    (
        "http://page/",
        "HTTP/1.1 404 Not Found\r\ncontent-type: text/html\r\ncontent-length: 13\r\nconnection: close\r\n\r\n<h1>None</h1>",
    ),
    (
        "http://fault/",
        "HTTP/1.1 500 Internal Server Error\r\ncontent-type: text/xml\r\ncontent-length: 252\r\nconnection: close\r\n\r\n\
         <e:Envelope xmlns:e=\"http://schemas.xmlsoap.org/soap/envelope/\"><e:Body><e:Fault><faultcode>e:Client.Quota</faultcode>\
         <faultstring>the sum is too large</faultstring><detail><d:limit xmlns:d=\"urn:d\">100</d:limit></detail></e:Fault></e:Body></e:Envelope>",
    ),
    (
        "http://report/",
        "HTTP/1.1 200 OK\r\ncontent-type: text/xml\r\ncontent-length: 221\r\nconnection: close\r\n\r\n\
         <e:Envelope xmlns:e=\"http://schemas.xmlsoap.org/soap/envelope/\"><e:Body><r:reportResponse xmlns:r=\"urn:report\">\
         <at>2024-02-29T12:00:00Z</at><colour>green</colour><level>NAN</level></r:reportResponse></e:Body></e:Envelope>",
    ),
];

/// Answers every request with the same bytes, as long as the test runs. Returns its address.
fn serve(answer: &'static str) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let address = listener.local_addr().expect("it is bound");
    std::thread::spawn(move || {
        for mut connection in listener.incoming().flatten() {
            let mut request = Vec::new();
            let mut block = [0; 4096];
            while !request.ends_with(b"Envelope>") && !request.starts_with(b"GET ") {
                match connection.read(&mut block) {
                    Ok(length @ 1..) => request.extend_from_slice(&block[..length]),
                    _ => break,
                }
            }
            if answer.is_empty() {
                std::mem::forget(connection);
                continue;
            }
            let _ = connection.write_all(answer.as_bytes());
        }
    });
    format!("http://{address}/")
}

/// Runs a command in `folder`; the addresses of servers are replaced by their names in its output.
fn run(command: &str, folder: &Path, servers: &[(&str, String)]) -> String {
    let address = |word: &str| {
        let server = servers.iter().find(|(name, _)| *name == word);
        server.map_or(word.to_owned(), |(_, address)| address.clone())
    };
    let output = bsoap()
        .args(command.split_whitespace().skip(2).map(address))
        .current_dir(folder)
        .stdin(std::process::Stdio::null())
        .output()
        .expect("the command starts");
    let Ran { code, out, err } = output.into();
    let mut text = format!("{command}\nexit {code}\n{out}{err}");
    for (name, address) in servers {
        text = text.replace(address.as_str(), name);
    }
    let lines: Vec<&str> = text.lines().map(str::trim_end).collect();
    lines.join("\n")
}

#[test]
fn typical_mistakes_are_explained() {
    let folder = tempfile::tempdir().expect("a folder for the files");
    for file in std::fs::read_dir(FILES).expect("the folder exists") {
        let file = file.expect("it can be listed");
        std::fs::copy(file.path(), folder.path().join(file.file_name())).expect("it can be copied");
    }
    std::fs::copy(mesh(), folder.path().join("mesh.wsdl")).expect("it can be copied");
    let servers = SERVERS.map(|(name, answer)| (name, serve(answer)));
    let expected = std::fs::read_to_string(EXPECTED).expect("it is UTF-8");
    let mut found = String::new();
    for command in expected.lines().filter(|line| line.starts_with("$ ")) {
        let _ = writeln!(found, "{}\n", run(command, folder.path(), &servers));
    }
    if std::env::var_os("BSOAP_UPDATE").is_some() {
        std::fs::write(EXPECTED, &found).expect("it can be written");
    } else {
        assert_eq!(found, expected);
    }
}
