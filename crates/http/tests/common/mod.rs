//! A server on a free port of the loopback, and raw access to it.
#![allow(dead_code)]

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use bsoap_http::{Address, Request, Response, Routes, Server, ServerOptions};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

/// A server that runs until it is stopped.
pub(crate) struct Running {
    pub(crate) address: SocketAddr,
    stop: oneshot::Sender<()>,
    task: JoinHandle<()>,
}

impl Running {
    pub(crate) fn at(&self, path: &str) -> Address {
        format!("http://{}{path}", self.address)
            .parse()
            .expect("an address")
    }

    /// Stops the server and waits until it has ended.
    pub(crate) async fn stop(self) {
        drop(self.stop);
        self.task.await.expect("the server ends without panic");
    }

    /// Stops the server.
    pub(crate) fn stopping(self) -> JoinHandle<()> {
        drop(self.stop);
        self.task
    }
}

pub(crate) async fn start(routes: Routes, options: ServerOptions) -> Running {
    let server = Server::bind("127.0.0.1:0", routes, options)
        .await
        .expect("a free port");
    let address = server.address();
    let (stop, stopped) = oneshot::channel::<()>();
    let task = tokio::spawn(server.run(async move { drop(stopped.await) }));
    Running {
        address,
        stop,
        task,
    }
}

/// Answers with what it was sent.
pub(crate) fn echo() -> Routes {
    Routes::new().at("/echo", async |request: Request| {
        Response::new(200, "text/xml", request.body)
    })
}

/// Sends raw bytes and reads until the server closes or is silent.
pub(crate) async fn raw(address: SocketAddr, request: &[u8]) -> String {
    let mut stream = TcpStream::connect(address).await.expect("connected");
    let _ = stream.write_all(request).await;
    let mut answer = Vec::new();
    let reading = async {
        let mut buffer = [0; 4096];
        while let Ok(length @ 1..) = stream.read(&mut buffer).await {
            answer.extend_from_slice(&buffer[..length]);
        }
    };
    let _ = tokio::time::timeout(Duration::from_secs(3), reading).await;
    String::from_utf8_lossy(&answer).into_owned()
}

/// A proxy-less listener that counts connections and answers each request with fixed bytes.
pub(crate) async fn canned(answer: impl Into<Vec<u8>>) -> (SocketAddr, Arc<AtomicUsize>) {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0")
        .await
        .expect("a free port");
    let address = listener.local_addr().expect("bound");
    let count = Arc::new(AtomicUsize::new(0));
    let (counter, answer) = (Arc::clone(&count), Arc::<[u8]>::from(answer.into()));
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            counter.fetch_add(1, Ordering::SeqCst);
            let answer = Arc::clone(&answer);
            tokio::spawn(async move {
                let mut buffer = [0; 65536];
                let _ = stream.read(&mut buffer).await;
                let _ = stream.write_all(&answer).await;
            });
        }
    });
    (address, count)
}
