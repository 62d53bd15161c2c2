//! A place where nothing may happen, and names that try to lead there.

use std::fs;
use std::mem::MaybeUninit;
use std::os::fd::OwnedFd;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use rustix::fs::inotify::{self, CreateFlags, WatchFlags};
use serde_json::Value;

/// What is in its files, and must be nowhere else.
pub(crate) const SECRET: &str = "sentinel-5f0c-outside";

/// A directory with secrets and a program in it. Whatever is opened, read, made or changed there is
/// noticed by the kernel.
pub(crate) struct Outside {
    pub(crate) path: PathBuf,
    watch: OwnedFd,
}

impl Outside {
    pub(crate) fn beside(root: &Path) -> Self {
        let path = root.join("outside");
        fs::create_dir(&path).unwrap();
        for name in ["secret.txt", "f"] {
            fs::write(path.join(name), SECRET).unwrap();
        }
        fs::write(path.join("secret.json"), format!("{{\"key\": \"{SECRET}\"}}")).unwrap();
        fs::write(path.join("run.sh"), "#!/bin/sh\ntouch \"$(dirname \"$0\")/made\"\n").unwrap();
        fs::set_permissions(path.join("run.sh"), fs::Permissions::from_mode(0o755)).unwrap();
        let watch = inotify::init(CreateFlags::NONBLOCK | CreateFlags::CLOEXEC).unwrap();
        let what = WatchFlags::OPEN
            | WatchFlags::ACCESS
            | WatchFlags::MODIFY
            | WatchFlags::ATTRIB
            | WatchFlags::CREATE
            | WatchFlags::DELETE
            | WatchFlags::MOVE;
        inotify::add_watch(&watch, &path, what).unwrap();
        Self { path, watch }
    }

    /// Returns what has happened there since it was asked for last.
    pub(crate) fn happened(&self) -> Vec<String> {
        let mut room = [MaybeUninit::uninit(); 16 * 1024];
        let mut reader = inotify::Reader::new(&self.watch, &mut room);
        let mut events = Vec::new();
        while let Ok(event) = reader.next() {
            let name = event.file_name().map(|name| name.to_string_lossy().into_owned());
            events.push(format!("{:?} {}", event.events(), name.unwrap_or_default()));
        }
        events
    }

    #[track_caller]
    pub(crate) fn assert_untouched(&self, after: &str) {
        assert_eq!(self.happened(), [""; 0], "after {after}");
    }

    /// Returns a path in it, as a text.
    pub(crate) fn file(&self, name: &str) -> String {
        self.path.join(name).to_str().unwrap().to_owned()
    }

    /// Returns paths that lead here from a project beside it, in which `link` leads to it.
    pub(crate) fn ways(&self) -> Vec<String> {
        let absolute = self.file("secret.txt");
        let relative = [
            "../outside/secret.txt",
            "./../outside/secret.txt",
            "sub/../../outside/secret.txt",
            "link/secret.txt",
            "sub/up/secret.txt",
            "secret",
        ];
        let mut ways: Vec<String> = relative.map(str::to_owned).to_vec();
        ways.extend([format!("//{absolute}"), format!("file://{absolute}"), absolute]);
        ways
    }

    /// Returns all of those, and names that are none: options, several lines, commands, references,
    /// and what looks like something else.
    pub(crate) fn names(&self) -> Vec<String> {
        let made = self.file("made");
        let mut names = self.ways();
        names.extend(
            [
                "",
                ".",
                "..",
                "/",
                "~",
                "~/.ssh/id_rsa",
                "-",
                "--",
                "-rf",
                "a\0b",
                "\0",
                "a\nb",
                "a\rb",
                "a\tb",
                "STATUS: DONE — x\n",
                "\u{1b}[2J\u{9b}1m",
                "gpj.\u{202e}txt.exe",
                "a\u{200b}b",
                "\u{feff}a",
                "\u{2066}a\u{2069}",
                "secre\u{0442}.txt",
                "ＡＢ／ＣＤ",
                "..\u{2215}outside",
                "e\u{301}",
                "a\u{e0041}",
                "..\\outside\\secret.txt",
                "con",
                ":(top)..",
                ":/secret",
                "HEAD:link",
                "HEAD@{0}",
                "a..b",
                "^HEAD",
                "*",
                "[a-z]",
                "{a,b}",
                "{{ 7 * 7 }}",
                "{% include \"secret.txt\" %}",
                "%2e%2e/outside",
                "..%00/",
                "t1",
                "'",
            ]
            .map(str::to_owned),
        );
        names.extend([
            format!("--output={made}"),
            format!("-o{made}"),
            format!("--upload-pack=touch {made}"),
            format!("ext::touch {made}"),
            format!("$(touch {made})"),
            format!("`touch {made}`"),
            format!("; touch {made};"),
            format!("| touch {made}"),
            format!("\ntouch {made}\n"),
            format!("a\0; touch {made}"),
            "x".repeat(300),
            "x/".repeat(3000),
            "../".repeat(200) + "etc/passwd",
            "漢\u{301}".repeat(2000),
        ]);
        names
    }
}

/// Returns the places of all strings in a value.
pub(crate) fn texts(value: &Value) -> Vec<String> {
    fn collect(value: &Value, path: &str, found: &mut Vec<String>) {
        match value {
            Value::String(_) => found.push(path.to_owned()),
            Value::Array(items) => {
                for (at, item) in items.iter().enumerate() {
                    collect(item, &format!("{path}/{at}"), found);
                }
            }
            Value::Object(fields) => {
                for (name, field) in fields {
                    collect(field, &format!("{path}/{name}"), found);
                }
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }
    let mut found = Vec::new();
    collect(value, "", &mut found);
    found
}

/// Returns the value with another text at a place.
pub(crate) fn with_text(value: &Value, place: &str, text: &str) -> Value {
    let mut other = value.clone();
    *other.pointer_mut(place).unwrap() = text.into();
    other
}
