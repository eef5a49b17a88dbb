//! rpc/encoded exchanges: over one connection, with hostile peers, and with PHP and Perl where they are installed.

mod common;

use std::process::Command;

use bsoap::{Client, Message, Service, SoapVersion, Value};
use common::{BOTH, Running, post, start, under};

const WSDL: &str = include_str!("../../protocol/tests/testdata/encoded.wsdl");

const OPERATIONS: [&str; 8] = [
    "echoPerson",
    "echoDoubles",
    "echoInts",
    "echoStrings",
    "echoGrid",
    "echoRagged",
    "echoPeople",
    "echoAny",
];

async fn echo(message: Message) -> Value {
    under("out", message.value()["in"].clone())
}

async fn service() -> Running {
    let builder = Service::builder(WSDL);
    let add = |builder: bsoap::ServiceBuilder, name: &&str| builder.handle(*name, echo);
    start(OPERATIONS.iter().fold(builder, add)).await
}

fn json(text: &str) -> Value {
    Value::from_json_str(text).expect("JSON")
}

#[tokio::test]
async fn messages_that_resemble_one_another_arrive_as_they_are() {
    let running = service().await;
    for version in BOTH {
        let url = &running.urls[usize::from(version == SoapVersion::Soap12)];
        let client = Client::builder(WSDL).version(version).endpoint(url);
        let client = client.build().expect("a client");
        let reference = match version {
            SoapVersion::Soap11 => r##"{"@href": "#a"}"##,
            SoapVersion::Soap12 => r##"{"@ref": "#a"}"##,
        };
        for round in 0..40_i64 {
            // The length of the array changes, and then only its values.
            let length = 50 + round / 4 * 3 % 20;
            let numbers: Vec<f64> = (0..length)
                .map(|item| (item * round) as f64 / 8.0)
                .collect();
            let array = under("item", numbers);
            let answer = client
                .call("echoDoubles", &under("in", array.clone()))
                .await;
            assert_eq!(answer.expect("an answer")["out"], array, "round {round}");
            let person = json(&format!(
                r##"{{"@id": "a", "name": "Ada {round}", "age": {round}, "friend": {{"name": "Bob", "friend": {reference}}}}}"##
            ));
            let answer = client
                .call("echoPerson", &under("in", person.clone()))
                .await;
            assert_eq!(answer.expect("an answer")["out"], person, "round {round}");
        }
    }
    running.stop().await;
}

fn envelope(body: &str) -> String {
    format!(
        r#"<S:Envelope xmlns:S="http://schemas.xmlsoap.org/soap/envelope/" xmlns:E="http://schemas.xmlsoap.org/soap/encoding/"
 xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" xmlns:xsd="http://www.w3.org/2001/XMLSchema" xmlns:t="urn:t"><S:Body>{body}</S:Body></S:Envelope>"#
    )
}

async fn ask(running: &Running, body: &str) -> (u16, String) {
    let path = running.urls[0].rsplit_once(&running.address.to_string());
    let path = path.map_or("/", |(_, path)| path);
    post(running.address, path, "text/xml", "", &envelope(body)).await
}

#[tokio::test]
async fn values_that_depend_on_other_parts_of_the_text_are_read_again() {
    let running = service().await;
    for value in ["5", "6", "6", "70000", "7"] {
        let body = format!(
            r##"<t:echoInts><in E:arrayType="xsd:int[3]"><i href="#1"/><i>2</i><i href="#1"/></in></t:echoInts><m id="1" xsi:type="xsd:int">{value}</m>"##
        );
        let (status, answer) = ask(&running, &body).await;
        assert_eq!(status, 200, "{answer}");
        let item = format!("<item>{value}</item>");
        assert_eq!(answer.matches(&item).count(), 2, "{answer}");
    }
    for position in [1, 2, 1] {
        let body = format!(
            r#"<t:echoInts><in E:arrayType="xsd:int[3]"><i E:position="[{position}]">9</i></in></t:echoInts>"#
        );
        let (_, answer) = ask(&running, &body).await;
        let zeros = answer.matches(">0</item>").count();
        assert_eq!(zeros, position, "{answer}");
    }
    running.stop().await;
}

#[tokio::test]
async fn hostile_graphs_are_refused_and_the_service_goes_on() {
    let running = service().await;
    // Each text is referred to by many others, so its size would grow with the square of the message.
    let long = "x".repeat(100_000);
    let references = "<s href=\"#1\"/>".repeat(10_000);
    let bomb = format!(
        r#"<t:echoStrings><in>{references}</in></t:echoStrings><m id="1" xsi:type="xsd:string">{long}</m>"#
    );
    let deep: String = (0..20_000)
        .map(|at| {
            format!(
                r##"<m id="{at}" xsi:type="t:Person"><friend href="#{}"/></m>"##,
                at + 1
            )
        })
        .collect();
    let deep = format!(
        r##"<t:echoPerson><in href="#0"/></t:echoPerson>{deep}<m id="20000" xsi:type="t:Person"/>"##
    );
    let far = r#"<t:echoInts><in E:arrayType="xsd:int[2000000000]"><i E:position="[1999999999]">1</i></in></t:echoInts>"#;
    let dangling = r##"<t:echoPerson><in href="#nowhere"/></t:echoPerson>"##;
    for (body, problem) in [
        (bomb.as_str(), "reference_expansion"),
        (&deep, "MAX_DEPTH"),
        (far, "omitted_items"),
        (dangling, "names no value of the message"),
    ] {
        let begin = std::time::Instant::now();
        let (status, answer) = ask(&running, body).await;
        assert!(status >= 400 && answer.contains(problem), "{answer}");
        assert!(begin.elapsed().as_secs() < 5, "{problem}");
        let cycle = r##"<t:echoPerson><in href="#1"/></t:echoPerson><m id="1" xsi:type="t:Person"><friend href="#1"/></m>"##;
        let (status, answer) = ask(&running, cycle).await;
        assert!(status == 200 && answer.contains("href=\"#1\""), "{answer}");
    }
    running.stop().await;
}

/// What a program prints. `None` if it cannot do SOAP here.
async fn run(program: &'static str, arguments: Vec<String>) -> Option<String> {
    let run = move || Command::new(program).args(arguments).output();
    let output = tokio::task::spawn_blocking(run)
        .await
        .expect("no panic")
        .ok()?;
    let (text, error) = (
        String::from_utf8_lossy(&output.stdout).into_owned(),
        String::from_utf8_lossy(&output.stderr).into_owned(),
    );
    if text.starts_with("missing") || error.contains("Can't locate SOAP/Lite.pm") {
        return None;
    }
    assert!(output.status.success(), "{program}: {text}{error}");
    Some(text)
}

#[tokio::test]
async fn php_exchanges_shared_values_cycles_and_arrays() {
    let running = service().await;
    let script = r#"
if (!class_exists('SoapClient')) { echo 'missing'; exit; }
$client = new SoapClient($argv[1] . '?wsdl', ['cache_wsdl' => WSDL_CACHE_NONE, 'soap_version' => SOAP_1_1, 'features' => SOAP_SINGLE_ELEMENT_ARRAYS]);
$ada = (object)['name' => 'Ada', 'age' => 36, 'scores' => [1.5]];
$bob = (object)['name' => 'Bob', 'age' => 3, 'friend' => $ada, 'scores' => []];
$ada->friend = $bob;
$found = $client->echoPerson($ada);
assert($found->friend->friend === $found);
$people = $client->echoPeople([$bob, $bob]);
assert($people[0] === $people[1]);
echo json_encode([$found->name, $found->friend->name, $client->echoDoubles([1.5, 2.5]), $client->echoStrings(['a', 'ü']),
  $client->echoInts([]), $client->echoRagged([[1, 2], [3]])]);
"#;
    let arguments = [
        "-d",
        "zend.assertions=1",
        "-r",
        script,
        "--",
        &running.urls[0],
    ];
    let arguments = arguments.map(str::to_owned).to_vec();
    let Some(found) = run("php", arguments).await else {
        return;
    };
    let expected = r#"["Ada","Bob",[1.5,2.5],["a","\u00fc"],[],[[1,2],[3]]]"#;
    assert_eq!(found, expected);
    running.stop().await;
}

#[tokio::test]
async fn soap_lite_is_answered() {
    let running = service().await;
    let script = r#"
use SOAP::Lite;
my $client = SOAP::Lite->uri('urn:t')->proxy($ARGV[0])->on_action(sub { 'urn:' . $_[1] });
my $person = SOAP::Data->name(in => \SOAP::Data->value(SOAP::Data->name(name => 'Ada')->type('string'), SOAP::Data->name(age => 36)))->type('t:Person')->attr({'xmlns:t' => 'urn:t'});
my $answer = $client->call('echoPerson', $person);
die $answer->faultstring if $answer->fault;
print $answer->result->{name}, ' ', $answer->result->{age};
my $ints = $client->call('echoInts', SOAP::Data->name(in => [1, 2, 3]));
die $ints->faultstring if $ints->fault;
print ' ', join(',', @{$ints->result});
"#;
    let arguments = ["-e", script, &running.urls[0]].map(str::to_owned).to_vec();
    let Some(found) = run("perl", arguments).await else {
        return;
    };
    assert_eq!(found, "Ada 36 1,2,3");
    running.stop().await;
}
