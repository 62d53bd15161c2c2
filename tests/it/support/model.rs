//! A scripted model on this machine, against which real agent CLIs complete turns.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use serde_json::Value;

/// The server: what it answers is written in the prompts, see `tests/model/fakemodel.py`.
pub(crate) struct Model {
    server: Child,
    pub(crate) url: String,
    dump: PathBuf,
}

impl Model {
    /// Starts it on a free port; what it was asked goes into a file in the directory.
    pub(crate) fn start(directory: &Path) -> Self {
        Self::start_with(directory, &[])
    }

    /// Starts one that answers prompts with certain words by certain directives.
    pub(crate) fn start_with(directory: &Path, script: &[(&str, &str)]) -> Self {
        let dump = directory.join("requests.jsonl");
        let answers = directory.join("script.json");
        std::fs::write(&answers, serde_json::to_string(script).unwrap()).unwrap();
        let mut server = Command::new("python3")
            .args(["tests/model/fakemodel.py", "--dump"])
            .arg(&dump)
            .arg("--script")
            .arg(&answers)
            .stdout(Stdio::piped())
            .stdin(Stdio::null())
            .spawn()
            .unwrap();
        let mut url = String::new();
        BufReader::new(server.stdout.take().unwrap()).read_line(&mut url).unwrap();
        Self { server, url: url.trim().to_owned(), dump }
    }

    /// Returns the prompts of all requests, in order, each from its beginning, and when it came.
    pub(crate) fn asked(&self) -> Vec<(Value, String)> {
        let requests = self.events().into_iter().filter(|event| event["ev"] == "request");
        let beginning =
            |event: &Value| event["prompt"].as_str().unwrap_or_default().chars().take(60).collect();
        requests.map(|event| (event["t"].clone(), beginning(&event))).collect()
    }

    /// Returns how many turns began with a prompt that holds this text.
    pub(crate) fn turns(&self, text: &str) -> usize {
        let is_turn = |event: &&Value| {
            event["ev"] == "request"
                && event["helper"] == false
                && event["pos"] == 0
                && event["prompt"].as_str().unwrap().contains(text)
        };
        self.events().iter().filter(is_turn).count()
    }

    /// Says whether a request came with exactly this text in it.
    pub(crate) fn got(&self, text: &str) -> bool {
        self.got_together(&[text])
    }

    /// The same for a text in which the program was kept from reading commands: by characters of no width.
    pub(crate) fn got_words(&self, text: &str) -> bool {
        let requests = std::fs::read_to_string(&self.dump).unwrap_or_default();
        let requests = requests.replace("\\u2060", "").replace('\u{2060}', "");
        let bodies = requests.lines().filter_map(|line| serde_json::from_str(line).ok());
        bodies.into_iter().any(|body: Value| holds(&body, text))
    }

    /// Says whether one request came with all of these texts in it.
    pub(crate) fn got_together(&self, texts: &[&str]) -> bool {
        let requests = std::fs::read_to_string(&self.dump).unwrap_or_default();
        let bodies = requests.lines().filter_map(|line| serde_json::from_str(line).ok());
        bodies.into_iter().any(|body: Value| texts.iter().all(|text| holds(&body, text)))
    }

    /// Lets answers go on that were held by `[[gate:NAME]]`.
    pub(crate) fn open(&self, gate: &str) {
        assert_eq!(self.get(&format!("__open/{gate}"))["ok"], true);
    }

    fn events(&self) -> Vec<Value> {
        serde_json::from_value(self.get("__events")).unwrap()
    }

    fn get(&self, path: &str) -> Value {
        let address = self.url.trim_start_matches("http://");
        let mut stream = TcpStream::connect(address).unwrap();
        let request = format!("GET /{path} HTTP/1.1\r\nhost: model\r\nconnection: close\r\n\r\n");
        stream.write_all(request.as_bytes()).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        let (_, body) = answer.split_once("\r\n\r\n").unwrap();
        serde_json::from_str(body).unwrap()
    }
}

impl Drop for Model {
    fn drop(&mut self) {
        let _ = self.server.kill();
        let _ = self.server.wait();
    }
}

/// Says whether a text anywhere in the value has this one in it.
fn holds(value: &Value, text: &str) -> bool {
    match value {
        Value::String(found) => found.contains(text),
        Value::Array(values) => values.iter().any(|value| holds(value, text)),
        Value::Object(values) => values.values().any(|value| holds(value, text)),
        Value::Null | Value::Bool(_) | Value::Number(_) => false,
    }
}
