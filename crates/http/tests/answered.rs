//! What the function of `Routes::on_answer` gets to know.

mod common;

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use bsoap_http::{
    Answered, Body, Client, ClientOptions, HeaderMap, PageRequest, Request, Response, RouteService,
    Routes, ServerOptions, http,
};
use common::{echo, raw, start};
use tower_service::Service;

/// What is attached to a response.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Note(&'static str);

/// What was reported of a request.
#[derive(Clone, Debug)]
struct Reported {
    line: String,
    agent: Option<String>,
    bytes: (u64, u64),
    duration: Duration,
    note: Option<Note>,
}

type Reports = Arc<Mutex<Vec<Reported>>>;

/// Routes whose answers are kept.
fn observed(routes: Routes) -> (Routes, Reports) {
    let reports = Reports::default();
    let kept = Arc::clone(&reports);
    let routes = routes.on_answer(Arc::new(move |answered: &Answered<'_>| {
        let agent = answered.headers.get("user-agent");
        let reported = Reported {
            line: format!(
                "{} {} {:?} {}",
                answered.method,
                answered.uri,
                answered.version,
                answered.status.as_u16()
            ),
            agent: agent.and_then(|agent| agent.to_str().ok().map(str::to_owned)),
            bytes: (answered.received, answered.sent),
            duration: answered.duration,
            note: answered.extensions.get().cloned(),
        };
        let mut kept = kept.lock().unwrap_or_else(PoisonError::into_inner);
        kept.push(reported);
    }));
    (routes, reports)
}

/// The reports, as soon as there are so many.
async fn wait_for(reports: &Reports, count: usize) -> Vec<Reported> {
    for _ in 0..500 {
        let known = reports.lock().expect("no panic").clone();
        if known.len() >= count {
            return known;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    panic!("{count} reports expected: {reports:?}");
}

#[tokio::test]
async fn every_answer_is_reported_with_its_bytes() {
    let slow = async |request: Request| {
        assert!(request.is_observed());
        tokio::time::sleep(Duration::from_millis(30)).await;
        let mut response = Response::new(200, "text/xml", request.body);
        response.extensions.insert(Note("slow"));
        response
    };
    let page = |_: &PageRequest<'_>| Response::new(200, "text/plain", "page");
    let (routes, reports) = observed(echo().at("/slow", slow).page("/page", page));
    let mut options = ServerOptions::default();
    options.max_body = 5000;
    let server = start(routes, options).await;
    let mut options = ClientOptions::default();
    options.gzip_requests = true;
    options.accept_gzip = true;
    let client = Client::new(options).expect("a client");
    for (path, length) in [("/slow?a=b", 100), ("/echo", 4000), ("/nowhere", 10)] {
        let body = Body::from(vec![b' '; length]);
        let sent = client.post(&server.at(path), HeaderMap::new(), body).await;
        sent.expect("answered");
    }
    let head = "GET /echo HTTP/1.1\r\nHost: h\r\nUser-Agent: \"me\"\r\nConnection: close\r\n\r\n"
        .as_bytes();
    raw(server.address, head).await;
    let page = "GET /page HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n".as_bytes();
    assert!(raw(server.address, page).await.ends_with("page"));
    let known = wait_for(&reports, 5).await;
    let lines: Vec<&str> = known.iter().map(|report| &*report.line).collect();
    let expected = [
        "POST /slow?a=b HTTP/1.1 200",
        "POST /echo HTTP/1.1 200",
        "POST /nowhere HTTP/1.1 404",
        "GET /echo HTTP/1.1 405",
        "GET /page HTTP/1.1 200",
    ];
    assert_eq!(lines, expected);
    assert_eq!(known[0].note, Some(Note("slow")));
    assert!(known[0].duration >= Duration::from_millis(30));
    assert!(
        known[1].bytes.0 > 0 && known[1].bytes.0 < 1000,
        "compressed: {known:?}"
    );
    assert!(
        known[1].bytes.1 > 0 && known[1].bytes.1 < 1000,
        "compressed: {known:?}"
    );
    assert_eq!(known[3].agent.as_deref(), Some("\"me\""));
    assert_eq!(known[3].bytes, (0, "send messages by POST\n".len() as u64));
    server.stop().await;
}

#[tokio::test]
async fn refused_bodies_and_limits_are_reported() {
    let (routes, reports) = observed(echo());
    let mut options = ServerOptions::default();
    options.max_body = 10;
    options.max_requests_per_second = Some(1);
    let server = start(routes, options).await;
    let too_long = "POST /echo HTTP/1.1\r\nHost: h\r\nContent-Length: 11\r\n\r\n12345678901";
    raw(server.address, too_long.as_bytes()).await;
    raw(server.address, too_long.as_bytes()).await;
    let known = wait_for(&reports, 2).await;
    let statuses: Vec<&str> = known
        .iter()
        .filter_map(|report| report.line.rsplit(' ').next())
        .collect();
    assert_eq!(statuses, ["413", "429"], "{known:?}");
    server.stop().await;
}

#[tokio::test]
async fn requests_under_another_server_are_reported() {
    let (routes, reports) = observed(echo());
    let mut service = RouteService::new(routes, ServerOptions::default());
    let request = http::Request::post("/echo").body(Body::from("<a/>"));
    let answered = service.call(request.expect("a request")).await;
    assert!(answered.is_ok_and(|response| response.extensions().is_empty()));
    let known = wait_for(&reports, 1).await;
    assert_eq!(known[0].bytes, (4, 4));
}

#[tokio::test]
async fn nothing_is_observed_without_a_function() {
    let routes = Routes::new().at("/", async |request: Request| {
        assert!(!request.is_observed());
        Response::empty(202)
    });
    let server = start(routes, ServerOptions::default()).await;
    let head = "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";
    let answer = raw(server.address, head.as_bytes()).await;
    assert!(answer.starts_with("HTTP/1.1 202"), "{answer}");
    server.stop().await;
}
