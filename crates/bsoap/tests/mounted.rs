//! Services as tower services: under axum beside other routes, and several on one listener.

mod common;

use std::sync::{Arc, Mutex};

use axum::Router;
use axum::extract::{ConnectInfo, Request};
use axum::middleware::{Next, from_fn};
use axum::routing::get;
use bsoap::http::Connection;
use bsoap::{Client, Message, Service, Value};
use common::{MESH, TOUR, mesh, raw, under};
use std::net::SocketAddr;
use tower::ServiceExt;

/// What a layer found out about a user.
#[derive(Clone)]
struct User(&'static str);

/// Axum on a free port.
async fn under_axum(router: Router) -> SocketAddr {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0")
        .await
        .expect("a free port");
    let address = listener.local_addr().expect("an address");
    let service = router.into_make_service_with_connect_info::<SocketAddr>();
    tokio::spawn(async move { axum::serve(listener, service).await });
    address
}

fn client(address: SocketAddr, path: &str) -> Client {
    Client::builder(MESH)
        .endpoint(format!("http://{address}{path}"))
        .build()
        .expect("a client")
}

fn ints() -> Value {
    under("values", under("item", vec![1_i64, 2, 3]))
}

#[tokio::test]
async fn a_service_answers_under_axum_beside_other_routes() {
    let service = mesh().build().expect("a service");
    let router = Router::new()
        .route("/health", get(async || "well"))
        .route_service("/mesh", service.clone())
        .nest_service("/soap", service);
    let address = under_axum(router).await;
    for path in ["/mesh", "/soap/mesh"] {
        for _ in 0..3 {
            let answer = client(address, path).call("sumInts", &ints()).await;
            assert_eq!(answer.expect("an answer")["sum"].as_i64(), Some(6));
        }
    }
    let health = raw(
        address,
        b"GET /health HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n",
    )
    .await;
    assert!(health.ends_with("well"), "{health}");
    let request =
        format!("GET /mesh?wsdl HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n");
    let wsdl = raw(address, request.as_bytes()).await;
    assert!(
        wsdl.contains(&format!("location=\"http://{address}/mesh\"")),
        "{wsdl}"
    );
}

#[tokio::test]
async fn long_messages_and_limits_are_those_of_the_options_under_axum() {
    let mut options = bsoap::http::ServerOptions::default();
    options.max_body = 100_000;
    let service = mesh().options(options).build().expect("a service");
    let address = under_axum(Router::new().fallback_service(service)).await;
    let client = client(address, "/mesh");
    let call = async |count: usize| {
        let numbers = under("values", under("item", vec![1.5; count]));
        client.call("sumDoubles", &numbers).await
    };
    let answer = call(1000).await.expect("an answer");
    assert_eq!(answer["sum"].as_f64(), Some(1500.0));
    let error = call(100_000).await.expect_err("too long").report();
    assert!(error.contains("413"), "{error}");
}

#[tokio::test]
async fn handlers_see_the_extensions_of_layers_and_the_connection_they_name() {
    let seen: Arc<Mutex<Vec<(SocketAddr, &str)>>> = Arc::default();
    let log = Arc::clone(&seen);
    let service = Service::builder(MESH)
        .handle("sumInts", move |message: Message| {
            let user = message.extensions().get::<User>().expect("a user").0;
            log.lock()
                .expect("not poisoned")
                .push((message.peer(), user));
            async { under("sum", 1) }
        })
        .build()
        .expect("a service");
    let layer = from_fn(
        |ConnectInfo(peer): ConnectInfo<SocketAddr>, mut request: Request, next: Next| {
            request.extensions_mut().insert(User("ada"));
            request.extensions_mut().insert(Connection::new(peer, None));
            next.run(request)
        },
    );
    let router = Router::new().route_service("/mesh", service).layer(layer);
    let address = under_axum(router).await;
    client(address, "/mesh")
        .call("sumInts", &ints())
        .await
        .expect("an answer");
    let seen = seen.lock().expect("not poisoned");
    assert_eq!((seen[0].0.ip(), seen[0].1), (address.ip(), "ada"));
    assert_ne!(seen[0].0.port(), 0);
}

#[tokio::test]
async fn a_service_is_called_without_any_server() {
    let service = mesh().build().expect("a service");
    let request = http::Request::post("/mesh")
        .header("content-type", "text/xml")
        .body(axum::body::Body::from("<nonsense/>"))
        .expect("a request");
    let response = service.oneshot(request).await.expect("it cannot fail");
    assert_eq!(response.status(), 500);
    let body = response.into_body().into_bytes();
    let text = String::from_utf8_lossy(&body);
    assert!(text.contains("nonsense"), "{text}");
}

#[tokio::test]
async fn several_services_share_a_listener_and_a_path_belongs_to_one() {
    let tour = || {
        Service::builder(TOUR)
            .handle("ping", async |_: Message| under("value", "pong"))
            .build()
            .expect("a service")
    };
    let service = mesh().build().expect("a service");
    let both = service.merge(tour()).expect("other paths");
    let error = both.clone().merge(tour()).expect_err("the same paths");
    assert!(error.to_string().contains("/tour"), "{error}");
    let bound = both.bind("127.0.0.1:0").await.expect("a free port");
    let (address, urls) = (bound.address(), bound.urls());
    assert_eq!(urls.len(), 4, "{urls:?}");
    let (stop, stopped) = tokio::sync::oneshot::channel::<()>();
    let running = tokio::spawn(bound.run(async { drop(stopped.await) }));
    let answer = client(address, "/mesh").call("sumInts", &ints()).await;
    assert_eq!(answer.expect("an answer")["sum"].as_i64(), Some(6));
    let tour = Client::builder(TOUR)
        .endpoint(format!("http://{address}/tour"))
        .build()
        .expect("a client");
    let pong = tour.call("ping", &Value::Nil).await.expect("an answer");
    assert_eq!(pong, under("value", "pong"));
    let get = async |path: &str| {
        let request =
            format!("GET {path} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n");
        raw(address, request.as_bytes()).await
    };
    let page = get("/").await;
    assert!(page.contains("/mesh") && page.contains("/tour"), "{page}");
    assert!(get("/tour?wsdl").await.contains("urn:tour"));
    assert!(get("/mesh?wsdl").await.contains("urn:bsoap:mesh"));
    drop(stop);
    running.await.expect("no panic");
}

#[tokio::test]
async fn one_way_handlers_under_another_server_can_be_waited_for() {
    let (sender, receiver) = std::sync::mpsc::channel();
    let service = Service::builder(TOUR)
        .handle("notify", move |_: Message| {
            let sender = sender.clone();
            async move {
                tokio::time::sleep(std::time::Duration::from_millis(100)).await;
                sender.send(()).expect("the test waits");
            }
        })
        .build()
        .expect("a service");
    let address = under_axum(Router::new().fallback_service(service.clone())).await;
    let client = Client::builder(TOUR)
        .endpoint(format!("http://{address}/tour"))
        .build()
        .expect("a client");
    client
        .call("notify", &under("value", "x"))
        .await
        .expect("taken");
    service.finish().await;
    receiver.try_recv().expect("the handler has ended");
}
