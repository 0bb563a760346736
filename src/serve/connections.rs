//! Connections: how many there are, how long they may take, and which is closed where one more comes.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use axum::{Extension, Router};
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio::task::AbortHandle;

/// Connections at a time.
const CONNECTIONS: usize = 256;
/// Longest wait for the head of a request, and so for the next one on a connection.
const HEAD: Duration = Duration::from_secs(10);
/// Bytes of a head.
const HEAD_BYTES: usize = 32 * 1024;
/// Wait after the system could not accept a connection, for example for want of file handles.
const PAUSE: Duration = Duration::from_millis(50);

/// Whether a connection waits for its client. One for which an answer is computed does not.
#[derive(Clone, Debug)]
pub(super) struct Waits(Arc<AtomicBool>);

impl Waits {
    /// Until this is dropped, an answer is computed.
    pub(super) fn working(&self) -> Working<'_> {
        self.0.store(false, Ordering::Relaxed);
        Working(self)
    }
}

/// See [`Waits::working`].
pub(super) struct Working<'a>(&'a Waits);

impl Drop for Working<'_> {
    fn drop(&mut self) {
        self.0.0.store(true, Ordering::Relaxed);
    }
}

/// The open connections by number, the oldest first.
#[derive(Default)]
struct Open(Mutex<BTreeMap<u64, (Waits, AbortHandle)>>);

impl Open {
    /// Closes the connection that has waited longest for its client, so that whoever sends slowly keeps nobody out.
    fn make_room(&self) {
        let mut open = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let mut waiting = open.iter().filter(|(_, (waits, _))| waits.0.load(Ordering::Relaxed));
        // It is closed once: its place may be free before it counts as finished.
        let oldest = waiting.find(|(_, (_, handle))| !handle.is_finished()).map(|(at, _)| *at);
        if let Some((_, handle)) = oldest.and_then(|number| open.remove(&number)) {
            handle.abort();
        }
    }

    fn add(&self, number: u64, waits: Waits, handle: AbortHandle) {
        let mut open = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        open.retain(|_, (_, handle)| !handle.is_finished());
        open.insert(number, (waits, handle));
    }
}

/// Accepts connections until the process is interrupted.
pub(super) async fn accept(listener: TcpListener, router: Router) {
    let places = Arc::new(Semaphore::new(CONNECTIONS));
    let open = Open::default();
    let serving = async {
        let mut number = 0;
        loop {
            let Ok((stream, _)) = listener.accept().await else {
                tokio::time::sleep(PAUSE).await;
                continue;
            };
            if places.available_permits() == 0 {
                open.make_room();
            }
            let Ok(place) = Arc::clone(&places).acquire_owned().await else { return };
            let waits = Waits(Arc::new(AtomicBool::new(true)));
            let router = router.clone().layer(Extension(waits.clone()));
            let task = tokio::spawn(async move {
                serve(stream, router).await;
                drop(place);
            });
            number += 1;
            open.add(number, waits, task.abort_handle());
        }
    };
    tokio::select! {
        () = serving => {}
        _ = tokio::signal::ctrl_c() => {}
    }
}

/// Serves one connection to its end.
async fn serve(stream: TcpStream, router: Router) {
    let service = TowerToHyperService::new(router);
    // A connection that breaks is the client's affair.
    let _ = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEAD)
        .max_buf_size(HEAD_BYTES)
        .serve_connection(TokioIo::new(stream), service)
        .await;
}
