//! Connections: how many there are, and how long they may take.

use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use tokio::net::TcpListener;
use tokio::sync::Semaphore;

/// Connections at a time.
const CONNECTIONS: usize = 256;
/// Longest wait for the head of a request, and so for the next one on a connection.
const HEAD: Duration = Duration::from_secs(10);
/// Bytes of a head.
const HEAD_BYTES: usize = 32 * 1024;
/// Wait after the system could not accept a connection, for example for want of file handles.
const PAUSE: Duration = Duration::from_millis(50);

/// Accepts connections until the process is interrupted.
pub(super) async fn accept(listener: TcpListener, router: Router) {
    let places = Arc::new(Semaphore::new(CONNECTIONS));
    let serving = async {
        loop {
            let Ok(place) = Arc::clone(&places).acquire_owned().await else { return };
            let Ok((stream, _)) = listener.accept().await else {
                tokio::time::sleep(PAUSE).await;
                continue;
            };
            let service = TowerToHyperService::new(router.clone());
            tokio::spawn(async move {
                // A connection that breaks is the client's affair.
                let _ = http1::Builder::new()
                    .timer(TokioTimer::new())
                    .header_read_timeout(HEAD)
                    .max_buf_size(HEAD_BYTES)
                    .serve_connection(TokioIo::new(stream), service)
                    .await;
                drop(place);
            });
        }
    };
    tokio::select! {
        () = serving => {}
        _ = tokio::signal::ctrl_c() => {}
    }
}
