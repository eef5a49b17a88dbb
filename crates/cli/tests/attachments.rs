//! Attachments on the command line: `call` against `serve`, and what `describe` says.

mod common;

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Child, Stdio};

use common::{Ran, bsoap, run, run_with};
use serde_json::{Value, json};

const PHOTOS: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/../../examples/photos/photos.wsdl"
);
const PARTS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/testdata/parts.wsdl");

/// A service that ends with the test.
struct Served {
    child: Child,
    url: String,
}

impl Served {
    fn new(arguments: &[&str]) -> Self {
        let mut child = bsoap()
            .args(["serve", PHOTOS, "--listen", "127.0.0.1:0", "--json"])
            .args(arguments)
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("the service starts");
        let mut log = BufReader::new(child.stdout.take().expect("its output is a pipe"));
        let mut line = String::new();
        log.read_line(&mut line).expect("it says where it serves");
        // What it logs is not read.
        std::thread::spawn(move || std::io::copy(&mut log, &mut std::io::sink()));
        let start: Value = serde_json::from_str(&line).expect("in JSON");
        let url = start["urls"][0].as_str().expect("a URL").to_owned();
        Self { child, url }
    }

    fn call(&self, arguments: &[&str]) -> Ran {
        run(&[&["call", PHOTOS, "--endpoint", &self.url], arguments].concat())
    }

    fn call_with(&self, arguments: &[&str], input: &str) -> Ran {
        run_with(
            &[&["call", PHOTOS, "--endpoint", &self.url], arguments].concat(),
            input,
        )
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        // It may have ended.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn octets(length: usize) -> Vec<u8> {
    (0..length).map(|at| (at * 7 + at / 251) as u8).collect()
}

fn text(path: &Path) -> &str {
    path.to_str().expect("UTF-8")
}

#[test]
fn files_are_sent_beside_the_message_and_saved() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("photo");
    fs::write(&file, octets(300_000)).expect("a file");
    let saved = folder.path().join("saved");
    let served = Served::new(&["--echo"]);
    let name = format!("photo[0].@attachment={}", text(&file));
    let arguments = [
        "echo",
        "--mtom",
        "--json",
        &name,
        "photo[0].@mediaType=image/png",
        "photo[1]=AQID",
    ];
    let answer = served.call(&arguments).json();
    let echoed = &answer["photo"];
    assert_eq!(
        (
            &echoed[0]["@mediaType"],
            &echoed[0]["@length"],
            &echoed[1],
            &answer["@attachments"]
        ),
        (
            &json!("image/png"),
            &json!(300_000),
            &json!("AQID"),
            &Value::Null
        )
    );
    for number in [1, 2] {
        let save = ["--save-attachments", text(&saved)];
        let answer = served.call(&[&arguments[..], &save].concat()).json();
        let path = saved.join(format!("{number}.png"));
        assert_eq!(answer["photo"][0]["@attachment"], json!(text(&path)));
        assert_eq!(fs::read(path).expect("it was saved"), octets(300_000));
    }
    // Without MTOM, it is base64 text.
    let answer = served.call(&["echo", "--json", &name]).json();
    assert_eq!(
        answer["photo"][0].as_str().expect("text").len(),
        300_000 / 3 * 4
    );
}

#[test]
fn limits_of_packages_are_set_by_their_names() {
    let served = Served::new(&["--echo", "--attachment-limit", "parts=2"]);
    let call = [
        "echo",
        "--mtom",
        "--json",
        "photo[0].@attachment=Cargo.toml",
    ];
    assert_eq!(served.call(&call).code, 0);
    let two = [&call[..], &["photo[1].@attachment=Cargo.toml"]].concat();
    let ran = served.call(&two);
    assert!(
        ran.code != 0 && ran.err.contains("the limit `parts` (2 parts)"),
        "{ran:?}"
    );
    let one = [&call[..], &["--attachment-limit", "parts=1"]].concat();
    let ran = served.call(&one);
    assert!(
        ran.code != 0
            && ran
                .err
                .contains("help: --attachment-limit parts=N accepts more"),
        "{ran:?}"
    );
}

#[test]
fn documents_are_named_by_their_uri() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("document");
    fs::write(&file, "text").expect("a file");
    let served = Served::new(&["--echo"]);
    let attach = format!("report={};type=text/plain", text(&file));
    let answer = served.call(&[
        "send",
        "document=cid:report",
        "--json",
        "--attach",
        &attach,
        "--save-attachments",
        text(folder.path()),
    ]);
    let path = folder.path().join("1.txt");
    assert_eq!(
        answer.json(),
        json!({"document": "cid:report", "@attachments": [
            {"@attachment": text(&path), "@contentId": "report", "@mediaType": "text/plain", "@length": 4}
        ]})
    );
    assert_eq!(fs::read(path).expect("it was saved"), b"text");
}

#[test]
fn only_the_command_line_names_files() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("secret");
    fs::write(&file, "a secret").expect("a file");
    let served = Served::new(&["--echo"]);
    let photos = json!({"photo": [{"@attachment": text(&file)}]}).to_string();
    let input = folder.path().join("input.json");
    fs::write(&input, &photos).expect("a file");
    let of_file = format!("--json=@{}", text(&input));
    let of_pair = format!("photo=@{}", text(&input));
    for refused in [
        served.call_with(&["echo", "--json=-"], &photos),
        served.call(&["echo", &of_file]),
        served.call(&["echo", &of_pair]),
        run(&["encode", PHOTOS, "echo", &of_file]),
    ] {
        assert_eq!(refused.code, 3, "{refused:?}");
        assert!(
            refused.err.contains("only the command line may name"),
            "{refused:?}"
        );
    }
    // On the command line it may, and elsewhere a file that it names.
    let given = format!("--json={photos}");
    assert_eq!(
        served.call(&["echo", &given]).json(),
        json!({"photo": ["YSBzZWNyZXQ="]})
    );
    let named = json!({"photo": [{"@attachment": "cid:mine"}]}).to_string();
    let attach = format!("mine={}", text(&file));
    let answer = served.call_with(&["echo", "--json=-", "--attach", &attach], &named);
    assert_eq!(answer.json(), json!({"photo": ["YSBzZWNyZXQ="]}));
    let unknown = served.call_with(&["echo", "--json=-"], &named);
    assert!(unknown.err.contains("--attach mine=FILE"), "{unknown:?}");
    let encoded = run(&["encode", PHOTOS, "echo", &given]);
    assert!(encoded.out.contains(">YSBzZWNyZXQ=<"), "{encoded:?}");
}

#[test]
fn files_of_answers_are_of_their_folder() {
    let folder = tempfile::tempdir().expect("a folder");
    let answers = folder.path().join("answers");
    fs::create_dir(&answers).expect("a folder");
    fs::write(folder.path().join("secret"), "a secret").expect("a file");
    fs::write(answers.join("photo.png"), octets(10_000)).expect("a file");
    let write = |name: &str| {
        let answer = json!({"photo": [{"@attachment": name, "@mediaType": "image/png"}]});
        fs::write(answers.join("echo.json"), answer.to_string()).expect("a file");
    };
    let served = Served::new(&["--mtom", "--answers", text(&answers)]);
    write("photo.png");
    let answer = served.call(&["echo", "--json", "photo=AAAA"]).json();
    assert_eq!(answer["photo"][0]["@length"], json!(10_000), "{answer}");
    for outside in ["../secret", text(&folder.path().join("secret"))] {
        write(outside);
        let refused = served.call(&["echo", "--json", "photo=AAAA"]);
        assert_eq!(refused.code, 1, "{refused:?}");
        assert!(
            refused.out.contains("not a file of the folder"),
            "{refused:?}"
        );
    }
}

#[test]
fn a_description_says_which_operations_have_attachments() {
    let page = run(&["describe", PHOTOS]).out;
    assert!(page.contains("attachments photo (image/*)\n"), "{page}");
    assert!(
        page.contains("attachments document; answer attachments document\n"),
        "{page}"
    );
    let page = run(&["describe", PARTS]).out;
    assert!(page.contains("MTOM: required by a policy"), "{page}");
    assert!(
        page.contains("attachments report (application/pdf, text/plain), data (application/gzip)"),
        "{page}"
    );
    let described = run(&["describe", PARTS, "--json"]).json();
    let port = &described["services"][0]["ports"][0];
    assert_eq!(port["mtom"], json!("required"));
    let request = &port["operations"][0]["request"];
    assert_eq!(
        request["attachments"],
        json!([{"part": "report", "mediaTypes": ["application/pdf", "text/plain"]}])
    );
    assert_eq!(
        (
            &request["members"][0]["attachment"],
            &request["members"][0]["mediaTypes"]
        ),
        (&json!("binary"), &json!("application/gzip"))
    );
}

const LETTERS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/testdata/letters.wsdl");

#[test]
fn a_declared_attribute_called_attachment_is_no_attachment() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("photo");
    fs::write(&file, "octets").expect("a file");
    let photo = format!("letter.photo.@bsoap:attachment={}", text(&file));
    let ran = run(&["encode", LETTERS, "send", "letter.@attachment=plan", &photo]);
    assert!(ran.out.contains(r#"attachment="plan""#), "{ran:?}");
    assert!(ran.out.contains("b2N0ZXRz"), "{ran:?}");
    // JSON of others can say so, too, but not name files.
    let given = json!({"letter": {"@attachment": "plan"}}).to_string();
    let ran = run_with(&["encode", LETTERS, "send", "--json=-"], &given);
    assert!(ran.out.contains(r#"attachment=\"plan\""#), "{ran:?}");
    let given = json!({"letter": {"photo": {"@bsoap:attachment": text(&file)}}}).to_string();
    let ran = run_with(&["encode", LETTERS, "send", "--json=-"], &given);
    assert!(
        ran.code != 0 && ran.err.contains("only the command line"),
        "{ran:?}"
    );
}

#[test]
fn a_message_that_is_not_sent_has_no_attachments_to_refer_to() {
    let given = json!({"name": "a", "photo": {"@attachment": "cid:mine"}}).to_string();
    let ran = run_with(&["encode", PHOTOS, "store", "--json=-"], &given);
    assert!(
        ran.code != 0 && ran.err.contains("--attach mine=FILE"),
        "{ran:?}"
    );
}

#[test]
fn where_answers_go_must_be_a_url() {
    for (given, expected) in [
        ("localhost:9000", "has no scheme"),
        ("answers", "not a URL"),
        ("http://a b/", "not a URL"),
        ("http://:x/", "expected where"),
    ] {
        for option in ["--reply-to", "--fault-to"] {
            let ran = run(&["call", PHOTOS, "store", option, given, "--dry-run"]);
            assert!(ran.code == 2 && ran.err.contains(expected), "{ran:?}");
        }
    }
    let call = ["call", PHOTOS, "store", "name=a", "photo=AAAA", "--dry-run"];
    for given in ["http://host:1/x", "https://host/", "jms:queue:answers"] {
        let ran = run(&[&call[..], &["--reply-to", given]].concat());
        assert!(ran.code == 0 && ran.out.contains(given), "{ran:?}");
    }
}
