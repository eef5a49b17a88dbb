//! Digest, bearer tokens, cookies and retries: what a client sends, and how often.

#![cfg(all(feature = "digest", feature = "cookies", feature = "retry"))]

mod common;

use std::collections::VecDeque;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use bsoap::http::http::{Request, Response};
use bsoap::http::{AnyError, Body, Bytes, ErrorKind};
use bsoap::transport::{Retries, Token, Transport, Transporting};
use bsoap::{Client, ClientBuilder, Error, Streamed, Value};
use common::{MESH, under};

fn numbers() -> Value {
    under("values", under("item", vec![1.5, 2.5]))
}

const ANSWER: &str = "<s:Envelope xmlns:s='http://schemas.xmlsoap.org/soap/envelope/'><s:Body>\
    <m:sumDoublesResponse xmlns:m='urn:bsoap:mesh'><sum>4</sum></m:sumDoublesResponse></s:Body></s:Envelope>";

/// A request as the peer sees it.
#[derive(Clone)]
struct Seen {
    url: String,
    authorization: Option<String>,
    cookie: Option<String>,
    length: usize,
}

type Respond = dyn Fn(&Seen) -> Result<Response<Bytes>, AnyError> + Send + Sync;

/// A peer that answers by a function and remembers all requests.
#[derive(Clone)]
struct Peer {
    seen: Arc<Mutex<Vec<Seen>>>,
    respond: Arc<Respond>,
}

impl Peer {
    fn new(
        respond: impl Fn(&Seen) -> Result<Response<Bytes>, AnyError> + Send + Sync + 'static,
    ) -> Self {
        Self {
            seen: Arc::default(),
            respond: Arc::new(respond),
        }
    }

    /// A peer that gives these answers, one after the other, and then good ones.
    fn giving(answers: impl IntoIterator<Item = Result<Response<Bytes>, AnyError>>) -> Self {
        let answers: Mutex<VecDeque<_>> = Mutex::new(answers.into_iter().collect());
        Self::new(move |_| {
            let next = answers.lock().expect("not poisoned").pop_front();
            next.unwrap_or_else(|| Ok(ok()))
        })
    }

    fn seen(&self) -> Vec<Seen> {
        self.seen.lock().expect("not poisoned").clone()
    }

    fn client(&self, configure: impl FnOnce(ClientBuilder) -> ClientBuilder) -> Client {
        let builder = Client::builder(MESH).endpoint("http://peer.invalid/mesh");
        let builder = configure(builder.transport(self.clone()));
        builder.build().expect("a client")
    }
}

impl Transport for Peer {
    fn send(&self, request: Request<Body>) -> Transporting {
        let peer = self.clone();
        Box::pin(async move {
            let header = |name: &str| {
                let value = request.headers().get(name)?;
                Some(value.to_str().expect("text").to_owned())
            };
            let mut seen = Seen {
                url: request.uri().to_string(),
                authorization: header("authorization"),
                cookie: header("cookie"),
                length: 0,
            };
            seen.length = request.into_body().collect().await?.len();
            peer.seen.lock().expect("not poisoned").push(seen.clone());
            (peer.respond)(&seen)
        })
    }
}

fn ok() -> Response<Bytes> {
    let response = Response::builder().header("content-type", "text/xml");
    response.body(Bytes::from(ANSWER)).expect("a response")
}

fn status(status: u16, headers: &[(&str, &str)]) -> Response<Bytes> {
    let response = Response::builder().status(status);
    let response = headers.iter().fold(response, |response, (name, value)| {
        response.header(*name, *value)
    });
    response.body(Bytes::new()).expect("a response")
}

fn challenge(algorithm: &str, nonce: &str, stale: bool) -> String {
    format!(
        "Digest realm=\"r\", qop=\"auth,auth-int\", algorithm={algorithm}, nonce=\"{nonce}\", stale={stale}"
    )
}

/// The value of a parameter of a Digest answer.
fn parameter<'a>(authorization: &'a str, name: &str) -> &'a str {
    let parameters = authorization.strip_prefix("Digest ").expect("Digest");
    let mut parameters = parameters
        .split(',')
        .filter_map(|it| it.trim().split_once('='));
    let found = parameters.find(|it| it.0 == name);
    found.expect("the parameter").1.trim_matches('"')
}

/// Whether an answer proves the password `secret` of `jo`, by the formulas of RFC 7616 §3.4.
fn is_correct(authorization: &str) -> bool {
    let get = |name| parameter(authorization, name);
    let hash = |text: String| match get("algorithm") {
        "MD5" => hex(&md5::Md5::digest(text.as_bytes())),
        "SHA-256" => hex(&sha2::Sha256::digest(text.as_bytes())),
        other => panic!("{other}"),
    };
    use sha2::Digest;
    let a1 = hash(format!("jo:{}:secret", get("realm")));
    let a2 = hash(format!("POST:{}", get("uri")));
    let (nonce, nc, cnonce, qop) = (get("nonce"), get("nc"), get("cnonce"), get("qop"));
    hash(format!("{a1}:{nonce}:{nc}:{cnonce}:{qop}:{a2}")) == get("response")
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[tokio::test]
async fn digest_asks_once_and_counts_its_nonce() {
    for algorithm in ["MD5", "SHA-256"] {
        let peer = Peer::new(move |seen| match &seen.authorization {
            Some(answer) if is_correct(answer) => Ok(ok()),
            _ => Ok(status(
                401,
                &[("www-authenticate", &challenge(algorithm, "n1", false))],
            )),
        });
        let client = peer.client(|builder| builder.digest_auth("jo", "secret"));
        for _ in 0..3 {
            let answer = client.call("sumDoubles", &numbers()).await;
            assert_eq!(answer.expect("an answer")["sum"].as_f64(), Some(4.0));
        }
        let seen = peer.seen();
        assert_eq!(seen[0].authorization, None);
        let counts: Vec<&str> = seen[1..]
            .iter()
            .map(|seen| parameter(seen.authorization.as_deref().expect("an answer"), "nc"))
            .collect();
        assert_eq!(counts, ["00000001", "00000002", "00000003"]);
        let answer = seen[1].authorization.as_deref().expect("an answer");
        assert_eq!(parameter(answer, "qop"), "auth");
        assert_eq!(parameter(answer, "uri"), "/mesh");
    }
}

#[tokio::test]
async fn digest_answers_a_new_nonce_and_gives_up_if_the_password_is_refused() {
    // The nonce changes after two uses.
    let uses = AtomicU32::new(0);
    let peer = Peer::new(move |seen| {
        let nonce = format!("n{}", uses.load(Ordering::Relaxed) / 2);
        match &seen.authorization {
            Some(answer) if parameter(answer, "nonce") == nonce => {
                uses.fetch_add(1, Ordering::Relaxed);
                Ok(ok())
            }
            answer => {
                let challenge = challenge("SHA-256", &nonce, answer.is_some());
                Ok(status(401, &[("www-authenticate", &challenge)]))
            }
        }
    });
    let client = peer.client(|builder| builder.digest_auth("jo", "secret"));
    for _ in 0..4 {
        client
            .call("sumDoubles", &numbers())
            .await
            .expect("an answer");
    }
    assert_eq!(peer.seen().len(), 6);

    let peer = Peer::new(|_| {
        let challenge = challenge("MD5", "n", false);
        Ok(status(401, &[("www-authenticate", &challenge)]))
    });
    let client = peer.client(|builder| builder.digest_auth("jo", "wrong"));
    let error = client
        .call("sumDoubles", &numbers())
        .await
        .expect_err("refused");
    assert_eq!((error.http_status(), peer.seen().len()), (Some(401), 2));
    assert!(
        error
            .report()
            .contains("Digest (`digest_auth`, `--digest`)"),
        "{}",
        error.report()
    );
}

#[tokio::test]
async fn a_streamed_call_asks_for_the_challenge_with_an_empty_message() {
    let peer = Peer::new(|seen| match &seen.authorization {
        Some(_) => Ok(ok()),
        None => Ok(status(
            401,
            &[("www-authenticate", &challenge("MD5", "n", false))],
        )),
    });
    let client = peer.client(|builder| builder.digest_auth("jo", "secret"));
    let empty = under("values", under("item", Value::Array(vec![])));
    for _ in 0..2 {
        let rows = Streamed::new("values.item", (0..100).map(f64::from));
        let called = client.call_streamed("sumDoubles", &empty, rows).await;
        called.expect("an answer");
    }
    let seen = peer.seen();
    assert_eq!((seen.len(), seen[0].length), (3, 0));
    assert!(seen[1].length > 1000 && seen[1].length == seen[2].length);
}

#[tokio::test]
async fn credentials_of_a_call_replace_those_of_the_client() {
    let peer = Peer::giving([]);
    let client = peer.client(|builder| builder.bearer_token("mine"));
    let call = client.operation("sumDoubles");
    let call = call
        .http_header("Authorization", "Bearer other")
        .call(numbers());
    call.await.expect("an answer");
    client
        .call("sumDoubles", &numbers())
        .await
        .expect("an answer");
    let seen = peer.seen();
    assert_eq!(seen[0].authorization.as_deref(), Some("Bearer other"));
    assert_eq!(seen[1].authorization.as_deref(), Some("Bearer mine"));
}

/// A source of tokens 1, 2, …
fn tokens(
    valid_for: Option<Duration>,
    obtained: &Arc<AtomicU32>,
) -> impl Fn() -> std::pin::Pin<Box<dyn Future<Output = Result<Token, AnyError>> + Send>> + use<> {
    let obtained = Arc::clone(obtained);
    move || {
        let number = obtained.fetch_add(1, Ordering::Relaxed) + 1;
        Box::pin(async move {
            tokio::time::sleep(Duration::from_millis(20)).await;
            let token = Token::new(number.to_string());
            Ok(valid_for.map_or(token.clone(), |time| token.valid_for(time)))
        })
    }
}

#[tokio::test]
async fn a_bearer_token_is_kept_until_it_is_refused_or_expires() {
    let peer = Peer::new(|seen| match seen.authorization.as_deref() {
        Some("Bearer 1") => Ok(status(
            401,
            &[("www-authenticate", "Bearer error=\"invalid_token\"")],
        )),
        _ => Ok(ok()),
    });
    let obtained = Arc::default();
    let client = peer.client(|builder| builder.bearer_auth(tokens(None, &obtained)));
    let (numbers, called) = (numbers(), async |_| {
        client.call("sumDoubles", &numbers()).await
    });
    let (first, second) = tokio::join!(called(1), called(2));
    first.and(second).expect("answers");
    client
        .call("sumDoubles", &numbers)
        .await
        .expect("an answer");
    // Both calls got the first token, both were refused, both got the second.
    assert_eq!(obtained.load(Ordering::Relaxed), 2);
    assert_eq!(peer.seen().len(), 5);

    // It expires within the margin, so each call needs a new one.
    let (peer, obtained) = (Peer::giving([]), Arc::default());
    let short = tokens(Some(Duration::from_secs(1)), &obtained);
    let client = peer.client(|builder| builder.bearer_auth(short));
    for _ in 0..2 {
        client
            .call("sumDoubles", &numbers)
            .await
            .expect("an answer");
    }
    assert_eq!(obtained.load(Ordering::Relaxed), 2);
}

#[tokio::test]
async fn a_token_is_refreshed_only_once_and_a_source_that_fails_is_named() {
    let peer = Peer::new(|_| Ok(status(401, &[("www-authenticate", "Bearer")])));
    let obtained = Arc::default();
    let client = peer.client(|builder| builder.bearer_auth(tokens(None, &obtained)));
    let error = client
        .call("sumDoubles", &numbers())
        .await
        .expect_err("refused");
    assert_eq!((error.http_status(), peer.seen().len()), (Some(401), 2));

    let peer = Peer::giving([]);
    let failing = || async { Err("the authorization server is down".into()) };
    let client = peer.client(|builder| builder.bearer_auth(failing));
    let error = client
        .call("sumDoubles", &numbers())
        .await
        .expect_err("no token");
    assert!(error.was_not_sent() && peer.seen().is_empty());
    assert!(
        error.report().ends_with("the authorization server is down"),
        "{}",
        error.report()
    );
}

#[tokio::test]
async fn cookies_go_back_to_their_host_and_to_no_other_principal() {
    let peer = Peer::new(|seen| {
        let mut response = ok();
        let cookies = match seen.url.contains("peer.invalid") {
            true => vec![
                "session=7; Path=/; HttpOnly",
                "safe=1; Secure",
                "all=1; Domain=invalid",
            ],
            false => vec!["other=1"],
        };
        for cookie in cookies {
            response.headers_mut().append("set-cookie", cookie.parse()?);
        }
        Ok(response)
    });
    let client = peer.client(|builder| builder.cookies().bearer_token("mine"));
    let elsewhere = client.at("http://other.invalid/mesh").expect("a client");
    let another = client
        .at("http://bob:secret@peer.invalid/mesh")
        .expect("a client");
    let numbers = numbers();
    for client in [&client, &client, &elsewhere, &another] {
        client
            .call("sumDoubles", &numbers)
            .await
            .expect("an answer");
    }
    let foreign = client
        .operation("sumDoubles")
        .http_header("Authorization", "Bearer other");
    foreign.call(&numbers).await.expect("an answer");
    let cookies: Vec<Option<String>> = peer.seen().into_iter().map(|seen| seen.cookie).collect();
    assert_eq!(cookies[0], None);
    let mut sent: Vec<&str> = cookies[1]
        .as_deref()
        .expect("cookies")
        .split("; ")
        .collect();
    sent.sort_unstable();
    // A secure cookie is not taken from plain HTTP.
    assert_eq!(sent, ["all=1", "session=7"]);
    assert_eq!(cookies[2..], [None, None, None]);
    // Another client has a jar of its own.
    let second = peer.client(ClientBuilder::cookies);
    second
        .call("sumDoubles", &numbers)
        .await
        .expect("an answer");
    assert_eq!(
        peer.seen().last().and_then(|seen| seen.cookie.clone()),
        None
    );
}

fn broken() -> AnyError {
    bsoap::http::Error::new(ErrorKind::Broken, "http://peer.invalid/mesh").into()
}

fn unreachable() -> AnyError {
    bsoap::http::Error::new(ErrorKind::Connect, "http://peer.invalid/mesh").into()
}

fn quick(max: usize) -> Retries {
    Retries::new(max).first_delay(Duration::from_millis(5))
}

#[tokio::test]
async fn only_calls_that_may_run_twice_are_repeated_after_they_were_sent() {
    let bad = || [Err(broken()), Ok(status(503, &[])), Ok(status(429, &[]))];
    let peer = Peer::giving(bad());
    let client = peer.client(|builder| builder.retries(quick(3)));
    let error = client
        .call("sumDoubles", &numbers())
        .await
        .expect_err("broken");
    assert!(matches!(error, Error::Transport(_)) && peer.seen().len() == 1);

    let peer = Peer::giving(bad());
    let client = peer.client(|builder| builder.retries(quick(3)));
    let call = client.operation("sumDoubles").idempotent().call(numbers());
    call.await.expect("an answer");
    assert_eq!(peer.seen().len(), 4);

    let peer = Peer::giving(bad());
    let client = peer.client(|builder| builder.retries(quick(3).operations(["sumDoubles"])));
    client
        .call("sumDoubles", &numbers())
        .await
        .expect("an answer");
    assert_eq!(peer.seen().len(), 4);

    // What was not sent may be sent again in any case.
    let peer = Peer::giving([Err(unreachable()), Err(unreachable())]);
    let client = peer.client(|builder| builder.retries(quick(3)));
    client
        .call("sumDoubles", &numbers())
        .await
        .expect("an answer");
    assert_eq!(peer.seen().len(), 3);
}

#[tokio::test]
async fn an_operation_that_the_wsdl_calls_safe_is_repeated() {
    let safe = MESH.replacen(
        "<wsdl:operation name=\"sumDoubles\">",
        "<wsdl:operation name=\"sumDoubles\" x:safe=\"true\" xmlns:x=\"http://www.w3.org/ns/wsdl-extensions\">",
        1,
    );
    assert_ne!(safe, MESH);
    let peer = Peer::giving([Ok(status(502, &[]))]);
    let builder = Client::builder(safe)
        .endpoint("http://peer.invalid/mesh")
        .transport(peer.clone());
    let client = builder.retries(quick(1)).build().expect("a client");
    assert!(client.operations().iter().any(|it| it.is_safe));
    client
        .call("sumDoubles", &numbers())
        .await
        .expect("an answer");
    assert_eq!(peer.seen().len(), 2);
}

#[tokio::test]
async fn errors_say_how_often_a_call_was_attempted() {
    let peer = Peer::new(|_| Err(unreachable()));
    let client = peer.client(|builder| builder.retries(quick(2)));
    let error = client
        .call("sumDoubles", &numbers())
        .await
        .expect_err("no connection");
    assert!(error.is_connect());
    assert!(
        error.report().ends_with("(after 3 attempts)"),
        "{}",
        error.report()
    );

    let peer = Peer::new(|_| Ok(status(503, &[])));
    let client = peer.client(|builder| builder.retries(quick(2)));
    let call = client.operation("sumDoubles").idempotent().call(numbers());
    let error = call.await.expect_err("unavailable");
    assert_eq!(error.http_status(), Some(503));
    assert!(
        error.report().ends_with("(after 3 attempts)"),
        "{}",
        error.report()
    );
}

#[tokio::test]
async fn delays_follow_retry_after_within_the_time_of_the_call() {
    let peer = Peer::giving([Ok(status(503, &[("retry-after", "1")]))]);
    let client = peer.client(|builder| builder.retries(quick(3)));
    let begun = Instant::now();
    let call = client.operation("sumDoubles").idempotent().call(numbers());
    call.await.expect("an answer");
    assert!(begun.elapsed() >= Duration::from_secs(1));

    // There is no time for what the peer asks for.
    let peer = Peer::giving([Ok(status(503, &[("retry-after", "3600")]))]);
    let client = peer.client(|builder| builder.retries(quick(3)));
    let call = client.operation("sumDoubles").idempotent().call(numbers());
    let error = call.await.expect_err("unavailable");
    assert_eq!((error.http_status(), peer.seen().len()), (Some(503), 1));
}

#[tokio::test]
async fn an_attempt_that_hangs_is_given_up_for_another() {
    let attempts = Arc::new(AtomicU32::new(0));
    let counted = Arc::clone(&attempts);
    let transport = move |_: Request<Body>| {
        let number = counted.fetch_add(1, Ordering::Relaxed);
        async move {
            if number == 0 {
                std::future::pending::<()>().await;
            }
            Ok::<_, AnyError>(ok())
        }
    };
    let retries = quick(1).attempt_timeout(Duration::from_millis(50));
    let client = Client::builder(MESH)
        .endpoint("http://peer.invalid/mesh")
        .transport(transport)
        .retries(retries.operations(["sumDoubles"]))
        .build()
        .expect("a client");
    client
        .call("sumDoubles", &numbers())
        .await
        .expect("an answer");
    assert_eq!(attempts.load(Ordering::Relaxed), 2);
}
