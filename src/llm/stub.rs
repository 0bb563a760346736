//! An endpoint on this machine that plays a script, one connection for each act.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

/// What happens on a connection once the request is there.
pub(super) enum Act {
    /// A status with headers and a body.
    Reply(&'static str, String),
    /// These bytes, then the end.
    Bytes(String),
    /// Nothing, until the client goes.
    Silence,
    /// A reply that gets a byte every now and then, until the client goes.
    Drip,
    /// A body without end, until the client goes.
    Flood,
}

/// The endpoint, and what it has been sent.
pub(super) struct Stub {
    pub(super) url: String,
    requests: Arc<Mutex<Vec<String>>>,
    flooded: Arc<Mutex<usize>>,
}

/// Bytes after which a flood is given up.
const FLOOD: usize = 64 << 20;

impl Stub {
    /// Plays a script; connections after its end are refused.
    pub(super) fn play(script: Vec<Act>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}/v1", listener.local_addr().unwrap());
        let stub = Self { url, requests: Arc::default(), flooded: Arc::default() };
        let (requests, flooded) = (Arc::clone(&stub.requests), Arc::clone(&stub.flooded));
        thread::spawn(move || {
            for act in script {
                let Ok((mut stream, _)) = listener.accept() else { return };
                requests.lock().unwrap().push(request(&mut stream));
                let written = perform(&act, &mut stream);
                *flooded.lock().unwrap() += written;
            }
        });
        stub
    }

    /// The requests so far: head and body.
    pub(super) fn requests(&self) -> Vec<String> {
        self.requests.lock().unwrap().clone()
    }

    /// Bytes that the client let a flood write; waits for its end.
    pub(super) fn flooded(&self) -> usize {
        loop {
            let flooded = *self.flooded.lock().unwrap();
            if flooded > 0 {
                return flooded;
            }
            thread::sleep(Duration::from_millis(1));
        }
    }
}

/// A chat completion with this text.
pub(super) fn completion(content: &str) -> Act {
    Act::Reply("200 OK", completion_body(content))
}

/// The body of a chat completion with this text.
pub(super) fn completion_body(content: &str) -> String {
    let message = serde_json::json!({ "role": "assistant", "content": content });
    let choice = serde_json::json!({ "index": 0, "message": message, "finish_reason": "stop" });
    serde_json::json!({ "id": "1", "choices": [choice], "usage": { "total_tokens": 7 } })
        .to_string()
}

fn request(stream: &mut TcpStream) -> String {
    let mut request = Vec::new();
    let mut block = [0; 4096];
    loop {
        let read = stream.read(&mut block).unwrap_or(0);
        request.extend_from_slice(&block[..read]);
        let text = String::from_utf8_lossy(&request).into_owned();
        let whole = text.split_once("\r\n\r\n").is_some_and(|(head, body)| {
            let length = head.lines().find_map(|line| {
                line.to_ascii_lowercase().strip_prefix("content-length: ")?.parse().ok()
            });
            body.len() >= length.unwrap_or(0)
        });
        if whole || read == 0 {
            return text;
        }
    }
}

/// Gives the bytes that were written of a flood.
fn perform(act: &Act, stream: &mut TcpStream) -> usize {
    match act {
        Act::Reply(status, body) => {
            let length = body.len();
            let head = format!(
                "HTTP/1.1 {status}\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n"
            );
            let _ = stream.write_all((head + body).as_bytes());
            0
        }
        Act::Bytes(bytes) => {
            let _ = stream.write_all(bytes.as_bytes());
            0
        }
        Act::Silence => {
            let _ = stream.read(&mut [0; 1]);
            0
        }
        Act::Drip => {
            let _ = stream.write_all(b"HTTP/1.1 200 OK\r\n\r\n");
            while stream.write_all(b" ").is_ok() {
                thread::sleep(Duration::from_millis(20));
            }
            0
        }
        Act::Flood => flood(stream),
    }
}

fn flood(stream: &mut TcpStream) -> usize {
    let _ = stream.write_all(b"HTTP/1.1 200 OK\r\n\r\n");
    let block = [b' '; 1 << 12];
    let mut written = 0;
    while written < FLOOD && stream.write_all(&block).is_ok() {
        written += block.len();
    }
    written.max(1)
}
