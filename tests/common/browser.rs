//! A headless Chromium for tests of pages, over its debugging pipe: no driver, no port, no crate.
//!
//! `PROSPECT_CHROMIUM` names the browser; without it the usual names are looked up in `PATH`. Where
//! there is none a test says that it is skipped.

#![allow(dead_code, reason = "each test binary uses a part")]

#[path = "program.rs"]
mod program;

use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tempfile::TempDir;

/// Longest wait for an answer; a loaded machine starts a browser in some seconds.
const PATIENCE: Duration = Duration::from_mins(1);
const NAMES: &[&str] = &["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"];

/// A browser with one page.
pub struct Browser {
    child: Child,
    commands: ChildStdin,
    messages: Receiver<Value>,
    session: Option<String>,
    last_id: u64,
    /// How addresses of the page begin.
    origin: String,
    /// What the page reported, oldest first.
    pub events: Vec<Value>,
    _profile: TempDir,
}

/// The browser of this machine. One that is named must be there.
pub fn find() -> Option<PathBuf> {
    program::find("PROSPECT_CHROMIUM", NAMES)
}

/// A browser with a page open that is complete in its file, and the folder that holds the file.
pub fn opened(page: &str) -> Option<(Browser, TempDir)> {
    let Some(program) = find() else {
        eprintln!("skipped: no Chromium in PATH, and PROSPECT_CHROMIUM is not set");
        return None;
    };
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("page.html");
    std::fs::write(&file, page).unwrap();
    let mut browser = Browser::start(&program);
    browser.open(&file);
    browser.wait_until("document.documentElement.classList.contains('scripted')");
    Some((browser, folder))
}

/// Opens another page in it, in the place of the one of [`opened`].
pub fn open_anew(browser: &mut Browser, folder: &TempDir, page: &str) {
    let file = folder.path().join("page.html");
    std::fs::write(&file, page).unwrap();
    browser.value("document.documentElement.classList.remove('scripted')");
    browser.open(&file);
    browser.wait_until("document.documentElement.classList.contains('scripted')");
}

/// Nothing went wrong on a page that is complete in its file.
#[track_caller]
pub fn assert_quiet(browser: &Browser) {
    assert_eq!(browser.complaints(), Vec::<String>::new());
    assert_eq!(browser.files(), 1, "the page asks for itself and nothing else");
}

impl Browser {
    /// Starts `program` with an empty profile.
    pub fn start(program: &Path) -> Self {
        let profile = tempfile::tempdir().unwrap();
        // The pipe is file descriptors 3 and 4, which a shell makes of the usual ones.
        let mut child = Command::new("sh")
            .args(["-c", "exec \"$@\" 3<&0 4>&1 0</dev/null 1>&2", "sh"])
            .arg(program)
            .args(["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic"])
            .args(["--no-first-run", "--disable-background-networking", "--disable-sync"])
            .args(["--disable-component-update", "--disable-dev-shm-usage"])
            .arg(format!("--user-data-dir={}", profile.path().display()))
            .args(["--remote-debugging-pipe", "about:blank"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("the browser starts");
        let commands = child.stdin.take().unwrap();
        let mut answers = BufReader::new(child.stdout.take().unwrap());
        let (send, messages) = channel();
        std::thread::spawn(move || {
            let mut message = Vec::new();
            while answers.read_until(0, &mut message).is_ok_and(|length| length > 0) {
                let Ok(value) = serde_json::from_slice(&message[..message.len() - 1]) else {
                    break;
                };
                if send.send(value).is_err() {
                    break;
                }
                message.clear();
            }
        });
        let (session, events) = (None, Vec::new());
        let (last_id, origin) = (0, "file://".to_owned());
        let mut browser =
            Self { child, commands, messages, session, last_id, origin, events, _profile: profile };
        browser.attach();
        browser
    }

    fn attach(&mut self) {
        let page = self.send("Target.createTarget", &json!({ "url": "about:blank" }));
        let of_page = json!({ "targetId": page["targetId"], "flatten": true });
        let attached = self.send("Target.attachToTarget", &of_page);
        self.session = Some(attached["sessionId"].as_str().unwrap().to_owned());
        for domain in ["Page", "Runtime", "Log", "Network"] {
            self.send(&format!("{domain}.enable"), &json!({}));
        }
        self.size(1366, 768);
    }

    /// Sends a command and waits for its result.
    #[track_caller]
    pub fn send(&mut self, method: &str, parameters: &Value) -> Value {
        let answered = self.ask(method, parameters);
        answered.unwrap_or_else(|error| panic!("{method}: {error}"))
    }

    /// Sends a command and waits for its result, or what the browser says is wrong.
    fn ask(&mut self, method: &str, parameters: &Value) -> Result<Value, Value> {
        self.last_id += 1;
        let id = self.last_id;
        let mut command = json!({ "id": id, "method": method, "params": parameters });
        if let Some(session) = &self.session {
            command["sessionId"] = session.as_str().into();
        }
        self.commands.write_all(format!("{command}\0").as_bytes()).expect("the browser listens");
        loop {
            let message = self.messages.recv_timeout(PATIENCE);
            let message = message.unwrap_or_else(|error| panic!("{method}: no answer: {error}"));
            if message["id"] == id {
                let error = &message["error"];
                return if error.is_null() {
                    Ok(message["result"].clone())
                } else {
                    Err(error.clone())
                };
            }
            self.events.push(message);
        }
    }

    /// Size of the window.
    pub fn size(&mut self, width: u32, height: u32) {
        let size =
            json!({ "width": width, "height": height, "deviceScaleFactor": 1, "mobile": false });
        self.send("Emulation.setDeviceMetricsOverride", &size);
    }

    /// Opens a file and waits until its script is through; events of before are forgotten.
    pub fn open(&mut self, file: &Path) {
        self.navigate("file://", &file.display().to_string());
    }

    /// Opens a page of a server, `http://127.0.0.1:PORT/`, as [`Browser::open`] does a file.
    pub fn open_served(&mut self, address: &str) {
        self.navigate(address, "");
    }

    fn navigate(&mut self, origin: &str, path: &str) {
        self.events.clear();
        origin.clone_into(&mut self.origin);
        self.send("Page.navigate", &json!({ "url": format!("{origin}{path}") }));
        self.wait_until(&format!(
            "document.readyState === 'complete' && location.href.startsWith('{origin}')"
        ));
    }

    /// Presses every button that shows a chart as a table, or a table as its chart.
    pub fn press_table_buttons(&mut self) {
        self.value("document.querySelectorAll('.as-table').forEach((button) => button.click())");
    }

    /// The value of a JavaScript expression.
    #[track_caller]
    pub fn value(&mut self, expression: &str) -> Value {
        let value = self.evaluated(expression);
        value.unwrap_or_else(|error| panic!("{expression}: {error}"))
    }

    /// The value of a JavaScript expression, or what the browser says is wrong.
    fn evaluated(&mut self, expression: &str) -> Result<Value, Value> {
        let question = json!({ "expression": expression, "returnByValue": true });
        let answer = self.ask("Runtime.evaluate", &question)?;
        if answer["exceptionDetails"].is_null() {
            Ok(answer["result"]["value"].clone())
        } else {
            Err(answer)
        }
    }

    /// Waits until an expression is true; while one page gives way to another, nothing is.
    #[track_caller]
    pub fn wait_until(&mut self, expression: &str) {
        let start = Instant::now();
        loop {
            match self.evaluated(expression) {
                Ok(value) if value == true => return,
                Err(error) if !error["message"].to_string().contains("navigated") => {
                    panic!("{expression}: {error}")
                }
                _ => {}
            }
            assert!(start.elapsed() < PATIENCE, "never true: {expression}");
            std::thread::sleep(Duration::from_millis(50));
        }
    }

    /// Presses and lets go of a key.
    pub fn press(&mut self, key: &str) {
        // What the browser does of itself, such as closing a dialog, goes by the number of the key.
        let number = match key {
            "Enter" => 13,
            "Escape" => 27,
            _ => 0,
        };
        let text = if key == "Enter" { "\r" } else { "" };
        for kind in ["keyDown", "keyUp"] {
            let event = json!({
                "type": kind, "key": key, "code": key, "windowsVirtualKeyCode": number, "text": text,
            });
            self.send("Input.dispatchKeyEvent", &event);
        }
    }

    /// Types over what a field holds.
    pub fn fill(&mut self, field: &str, text: &str) {
        self.value(&format!(
            "(() => {{ const field = {field}; field.focus(); field.select(); }})()"
        ));
        self.send("Input.insertText", &json!({ "text": text }));
    }

    /// Errors of the page, dialogs, and addresses that it asked for besides itself.
    pub fn complaints(&self) -> Vec<String> {
        let bad = |event: &&Value| match event["method"].as_str().unwrap_or_default() {
            "Runtime.exceptionThrown" | "Page.javascriptDialogOpening" | "Log.entryAdded" => true,
            "Runtime.consoleAPICalled" => event["params"]["type"] != "log",
            "Network.requestWillBeSent" => {
                let url = event["params"]["request"]["url"].as_str().unwrap_or_default();
                !url.starts_with(&self.origin) && !url.starts_with("data:")
            }
            _ => false,
        };
        self.events.iter().filter(bad).map(ToString::to_string).collect()
    }

    /// Addresses of files that were asked for.
    pub fn files(&self) -> usize {
        let asked = |event: &&Value| {
            let url = event["params"]["request"]["url"].as_str().unwrap_or_default();
            event["method"] == "Network.requestWillBeSent" && url.starts_with("file://")
        };
        self.events.iter().filter(asked).count()
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        let close = json!({ "id": self.last_id + 1, "method": "Browser.close" });
        let _ = self.commands.write_all(format!("{close}\0").as_bytes());
        for _ in 0..100 {
            if matches!(self.child.try_wait(), Ok(Some(_))) {
                return;
            }
            std::thread::sleep(Duration::from_millis(50));
        }
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
