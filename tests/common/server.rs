//! A running `prospect serve`, and a client that sends exactly what it is told.

#![allow(dead_code, reason = "each test binary uses a part")]

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use serde_json::Value;

/// A server, ended when it is dropped.
pub struct Server {
    child: Child,
    /// `127.0.0.1:PORT`.
    pub address: String,
    /// What a plan is written with, where that is allowed.
    pub token: String,
}

/// An answer.
pub struct Answer {
    /// Status code.
    pub status: u16,
    /// Head, in lower case.
    pub head: String,
    /// Body.
    pub body: String,
}

impl Answer {
    /// The body as JSON.
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_else(|_| panic!("{}", self.body))
    }
}

/// Makes a store of the small built-in site, with an open plan.
pub fn demo(store: &Path) {
    let made =
        prospect().args(["demo", "--tiny", "--quiet", "--store"]).arg(store).output().unwrap();
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
}

/// The command.
pub fn prospect() -> Command {
    Command::new(env!("CARGO_BIN_EXE_prospect"))
}

impl Server {
    /// Serves a store on a port that is free.
    pub fn start(store: &Path, more: &[&str]) -> Self {
        let mut child = prospect()
            .args(["serve", "--quiet", "--listen", "127.0.0.1:0", "--store"])
            .arg(store)
            .args(more)
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let address = line.trim().strip_prefix("listening on http://").unwrap_or_default();
        let (address, token) = address.split_once("/#token=").unwrap_or((address, ""));
        let address = address.trim_end_matches('/').to_owned();
        assert!(!address.is_empty(), "{line}");
        Self { child, address, token: token.to_owned() }
    }

    /// Sends a request of one's own making.
    pub fn send(&self, head: &str, body: &str) -> Answer {
        let mut stream = TcpStream::connect(&self.address).unwrap();
        stream.set_read_timeout(Some(Duration::from_mins(2))).unwrap();
        let length = body.len();
        let request =
            format!("{head}\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n{body}");
        stream.write_all(request.as_bytes()).unwrap();
        let mut bytes = Vec::new();
        // A refused body may end the connection before all of it was sent.
        let _ = stream.read_to_end(&mut bytes);
        let text = String::from_utf8_lossy(&bytes).into_owned();
        let (head, body) = text.split_once("\r\n\r\n").unwrap_or((&text, ""));
        let status = head.split(' ').nth(1).and_then(|code| code.parse().ok()).unwrap_or(0);
        Answer { status, head: head.to_lowercase(), body: body.to_owned() }
    }

    /// GET.
    pub fn get(&self, path: &str) -> Answer {
        self.send(&format!("GET {path} HTTP/1.1\r\nHost: {}", self.address), "")
    }

    /// POST of JSON.
    pub fn post(&self, path: &str, body: &Value) -> Answer {
        let head = format!(
            "POST {path} HTTP/1.1\r\nHost: {}\r\nContent-Type: application/json\r\nX-Prospect-Token: {}",
            self.address, self.token
        );
        self.send(&head, &body.to_string())
    }

    /// Resident memory in MiB; 0 where the system does not tell.
    pub fn memory_mib(&self) -> f64 {
        let path = format!("/proc/{}/status", self.child.id());
        let status = std::fs::read_to_string(path).unwrap_or_default();
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
        let number = line.and_then(|line| line.trim().trim_end_matches(" kB").parse::<f64>().ok());
        number.unwrap_or(0.0) / 1024.0
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
