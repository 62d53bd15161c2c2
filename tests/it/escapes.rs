//! Names and paths that agents hand to the hub: whichever way one takes, it leads nowhere but where it
//! belongs.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::fs;
use std::io::Write as _;
use std::os::unix::fs::symlink;

use serde_json::{Value, json};
use wheelhouse::api::{
    Ask, Fault, FromHub, LockRequest, NewAgent, Request, Response, SCHEMA, Speaker, TaskRequest,
    WantedPosting, encode_frame,
};
use wheelhouse::model::{Against, AgentName, Environment, Reach, Role};
use wheelhouse::protocol::ReportKind;

use super::support::clock::wait_for;
use super::support::outside::{Outside, SECRET, texts, with_text};
use super::support::plots;
use super::support::samples::samples;
use super::support::visitor::Visitor;
use super::support::world::{World, files};

/// Obeys nothing that is typed into it.
const DEAF: &str = r#"["sh", "-c", "stty -echo; exec cat > /dev/null"]"#;

const ROLES: [(&str, Role); 4] = [
    ("work", Role::Worker),
    ("lead", Role::Lead),
    ("top", Role::Orchestrator),
    ("check", Role::Verifier),
];

/// Returns a world whose project is a repository with links that lead outside, and a team with an
/// agent of each role that may start others.
fn world() -> (World, Outside) {
    let world = World::new();
    let outside = Outside::beside(&world.root);
    let project = &world.project;
    fs::create_dir(project.join("sub")).unwrap();
    fs::write(project.join("ok.json"), "{}").unwrap();
    fs::write(project.join("sub/f"), "inside").unwrap();
    symlink(&outside.path, project.join("link")).unwrap();
    symlink("../../outside", project.join("sub/up")).unwrap();
    symlink("../outside/secret.txt", project.join("secret")).unwrap();
    plots::git(project, &["init", "-q", "-b", "main"]);
    plots::git(project, &["add", "--all"]);
    plots::git(project, &["commit", "-q", "-m", "first"]);
    let mut config = format!(
        "[stop]\ngrace_seconds = 1\n[workspace]\ndefault = \"shared\"\n[cli.deaf]\ncommand = {DEAF}\n[team.crew.spawn]\n\
         clis = [\"deaf\"]\nagents_max = 60\nper_hour_max = 200\n"
    );
    for (name, role) in ROLES {
        let workspace = "workspace = \"shared\"";
        writeln!(
            config,
            "[[team.crew.agents]]\nname = \"{name}\"\ncli = \"deaf\"\nrole = \"{role}\"\n{workspace}"
        )
        .unwrap();
    }
    world.write_config(&config);
    world.trust();
    world.ok(&["up", "crew"]);
    outside.happened();
    (world, outside)
}

/// Asserts that no secret got into anything that the hub keeps.
fn assert_kept_out(world: &World) {
    for part in ["state", "run", "project"] {
        for file in files(&world.path(part)).into_iter().filter(|path| path.is_file()) {
            if file.is_symlink() {
                continue;
            }
            let text = fs::read(&file).unwrap_or_default();
            let is_in = text.windows(SECRET.len()).any(|part| part == SECRET.as_bytes());
            assert!(!is_in, "{}", file.display());
        }
    }
}

/// Sends values as requests, then asks who one is, and returns all that was answered until then;
/// whether the connection is still there afterwards, too.
fn tried(visitor: &mut Visitor, values: &[Value]) -> (String, bool) {
    let mut frames: Vec<u8> =
        values.iter().flat_map(|value| encode_frame(value).unwrap()).collect();
    frames.extend(encode_frame(&Ask { id: 2, key: None, request: Request::Me }).unwrap());
    let mut said = String::new();
    // Whoever breaks the protocol is told so, and cut off.
    if visitor.stream.write_all(&frames).is_err() {
        return (said, false);
    }
    loop {
        let Some(frame) = visitor.next() else { return (said, false) };
        write!(said, "{}", serde_json::to_string(&frame).unwrap()).unwrap();
        if matches!(frame, FromHub::Answer { id: 2, .. }) {
            return (said, true);
        }
    }
}

#[test]
fn no_text_of_any_request_leads_outside() {
    let (world, outside) = world();
    let schema: Value = serde_json::from_str(SCHEMA).unwrap();
    let mut seen = BTreeSet::new();
    let mut visitors = ROLES.map(|(name, role)| (name, role, Visitor::speaking(&world, name)));
    for mut sample in samples(&schema["ask"]) {
        let Ok(ask) = serde_json::from_value::<Ask>(sample.clone()) else { continue };
        let right = ask.request.kind().right();
        let may = |role: Role| right.of(Speaker::Agent(role));
        // Whoever may most, so that it is not the role alone that stands in the way.
        let most = visitors.iter_mut().max_by_key(|(_, role, _)| may(*role)).unwrap();
        let (name, role, visitor) = most;
        if may(*role) == Reach::Never {
            continue;
        }
        sample["id"] = json!(1);
        for place in texts(&sample) {
            if place == "/request" || !seen.insert((right.request, place.clone())) {
                continue;
            }
            let odd: Vec<Value> =
                outside.names().iter().map(|text| with_text(&sample, &place, text)).collect();
            let (mut said, mut goes_on) = tried(visitor, &odd);
            if !goes_on {
                // A text that is not even read ends the connection: then each has one of its own.
                for one in &odd {
                    if !goes_on {
                        *visitor = Visitor::speaking(&world, name);
                    }
                    let answer = tried(visitor, std::slice::from_ref(one));
                    goes_on = answer.1;
                    said += &answer.0;
                }
                *visitor = Visitor::speaking(&world, name);
            }
            assert!(!said.contains(SECRET), "{name} {} {place}: {said}", right.request);
            outside.assert_untouched(&format!("{} {place}", right.request));
        }
    }
    assert!(seen.len() > 50, "{seen:?}");
    assert_eq!(world.status().agents.len(), ROLES.len(), "no one was started");
    assert_kept_out(&world);
}

#[test]
fn no_text_of_any_tool_leads_outside() {
    let (world, outside) = world();
    let mut seen = BTreeSet::new();
    // Those who may most come first: what they were offered need not be tried by the others again.
    for name in ["top", "lead", "work", "check"] {
        let client = world.mcp(Some(name));
        for tool in client.tools() {
            let schema = Value::Object((*tool.input_schema).clone());
            for mut sample in samples(&schema) {
                if sample.get("timeout_seconds").is_some() {
                    sample["timeout_seconds"] = json!(1);
                }
                for place in texts(&sample) {
                    if !seen.insert((tool.name.to_string(), place.clone())) {
                        continue;
                    }
                    for text in outside.names() {
                        let said = match client.call(&tool.name, with_text(&sample, &place, &text))
                        {
                            Ok(answer) => answer.to_string(),
                            Err(words) => words,
                        };
                        assert!(!said.contains(SECRET), "{name} {} {place} {text:?}", tool.name);
                    }
                    outside.assert_untouched(&format!("{} {place}", tool.name));
                }
            }
        }
        assert!(client.close().success());
    }
    assert_eq!(world.status().agents.len(), ROLES.len(), "no one was started");
    assert_kept_out(&world);
}

/// A request, made with a name.
type With = Box<dyn Fn(&str) -> Request>;

fn added(name: &str, cwd: Option<&str>) -> Request {
    let agent = NewAgent {
        name: name.to_owned(),
        cli: "deaf".into(),
        role: Role::Worker,
        team: None,
        cwd: cwd.map(Into::into),
        env: Environment::default(),
        command: Vec::new(),
        posting: WantedPosting::default(),
    };
    Request::Add { agent, environment: Environment::default() }
}

fn task(terms: &Value) -> Request {
    let mut spec = json!({ "title": "x", "prompt": "x" });
    spec.as_object_mut().unwrap().extend(terms.as_object().unwrap().clone());
    let specs = vec![serde_json::from_value(spec).unwrap()];
    Request::Task { ask: TaskRequest::Add { specs } }
}

fn artifact(path: &str, schema: Option<&str>) -> Request {
    Request::Report {
        call: format!("{path}{schema:?}"),
        kind: ReportKind::Artifact,
        text: format!("{path} — report"),
        schema: schema.map(str::to_owned),
        tag: None,
    }
}

/// Everything that names a file, and what is said to a path that leads outside.
fn path_doors() -> Vec<(&'static str, &'static str, With)> {
    let gated = |form: &'static str| -> With {
        Box::new(move |path| task(&json!({ "gates": [form.replace("PATH", path)] })))
    };
    vec![
        ("artifact", "The artifact is refused: ", Box::new(|path| artifact(path, None))),
        (
            "schema",
            "The artifact is refused: the schema",
            Box::new(|path| artifact("ok.json", Some(path))),
        ),
        ("owns", "about files outside the project", {
            Box::new(|path| task(&json!({ "owns": [path] })))
        }),
        ("cwd", "project", Box::new(|path| added("fresh", Some(path)))),
        ("file", "is not a gate", gated("file:PATH")),
        ("json", "is not a gate", gated("json:PATH")),
        ("toml", "is not a gate", gated("toml:PATH")),
        ("yaml", "is not a gate", gated("yaml:PATH")),
        ("csv", "is not a gate", gated("csv:PATH")),
        ("regex", "is not a gate", gated("regex:PATH:x")),
        ("schema of a gate", "is not a gate", gated("schema:ok.json:PATH")),
        ("file of a schema", "is not a gate", gated("schema:PATH:{}")),
    ]
}

#[test]
fn a_path_that_leads_outside_is_refused_with_the_reason() {
    let (world, outside) = world();
    let mut top = Visitor::speaking(&world, "top");
    for (what, words, request) in path_doors() {
        for path in outside.ways() {
            // What is behind a link is seen when the file is opened: a gate then fails.
            let by_link = ["link/", "sub/up/"].iter().any(|link| path.starts_with(link));
            let is_late = by_link || path == "secret" || path.starts_with("file:");
            let answer = top.answer(request(&path));
            if is_late && !matches!(what, "artifact" | "schema" | "cwd") {
                continue;
            }
            let fault = answer.expect_err(&format!("{what} {path}"));
            assert!(fault.message.contains(words), "{what} {path}: {fault:?}");
            assert!(fault.hint.is_some(), "{what} {path}: {fault:?}");
        }
        outside.assert_untouched(what);
    }
    for path in outside.names() {
        let fault = top.answer(artifact(&path, None)).expect_err(&path);
        assert!(!fault.message.contains(['\0', '\u{1b}', '\u{202e}']), "{fault:?}");
    }
    outside.assert_untouched("artifacts");
    assert_kept_out(&world);
}

/// Everything that names something else.
fn name_doors() -> Vec<(&'static str, &'static str, With)> {
    let diff = |against: Against| Request::Diff { agent: "work".into(), against, paths: vec![] };
    vec![
        ("agent", "is not a name", Box::new(|name| added(name, None))),
        (
            "lock",
            "lock",
            Box::new(|name| {
                let (name, limit_ms) = (name.to_owned(), None);
                Request::Lock { ask: LockRequest::Take { name, limit_ms } }
            }),
        ),
        (
            "template",
            "template",
            Box::new(|name| Request::DispatchTemplate {
                agents: vec!["work".into()],
                template: name.to_owned(),
                vars: [("x".to_owned(), name.to_owned())].into(),
                idempotency_key: None,
                anyway: false,
                no_queue: false,
            }),
        ),
        ("commit", "is no commit", Box::new(move |name| diff(Against::Rev(name.to_owned())))),
        (
            "pane",
            "has no permission for",
            Box::new(|name| Request::Read {
                agent: name.to_owned(),
                lines: None,
                scrollback: true,
            }),
        ),
        (
            "task",
            "has no permission for",
            Box::new(|name| Request::Task { ask: TaskRequest::Show { task: name.to_owned() } }),
        ),
    ]
}

#[test]
fn a_name_that_is_none_is_refused_with_the_reason() {
    let (world, outside) = world();
    let mut top = Visitor::speaking(&world, "top");
    for (what, words, request) in name_doors() {
        for name in outside.names() {
            // A word is good enough for a lock, and these do name the last commit.
            let is_lock = |c: char| c.is_ascii_alphanumeric() || "-_./".contains(c);
            let is_word = !name.is_empty() && name.len() <= 64 && name.chars().all(is_lock);
            let is_good = match what {
                "lock" => is_word,
                "commit" => name == "HEAD@{0}",
                "agent" => name.parse::<AgentName>().is_ok(),
                _ => false,
            };
            if is_good {
                continue;
            }
            let fault: Fault = match top.answer(request(&name)) {
                Err(fault) => fault,
                Ok(answer) => panic!("{what} {name:?}: {answer:?}"),
            };
            assert!(fault.message.contains(words), "{what} {name:?}: {fault:?}");
            assert!(fault.message.len() < 1000, "{what}: {} bytes", fault.message.len());
            let is_bad = |c: char| c.is_control() && c != '\n';
            assert!(!fault.message.contains(is_bad), "{what} {name:?}: {fault:?}");
        }
        outside.assert_untouched(what);
    }
    for path in outside.names() {
        let request = Request::Diff {
            agent: "work".into(),
            against: Against::Head,
            paths: vec![path.clone()],
        };
        if let Ok(Response::Hunks(told)) = top.answer(request) {
            assert!(told.files.iter().all(|file| file.hunks.is_empty()), "{path:?}: {told:?}");
        }
    }
    outside.assert_untouched("diffs");
    assert_kept_out(&world);
}

#[test]
fn a_line_on_the_screen_leads_nowhere_either() {
    let world = World::new();
    let outside = Outside::beside(&world.root);
    symlink(&outside.path, world.project.join("link")).unwrap();
    let mut script = "speed 0\non prompt\n".to_owned();
    for path in outside.ways() {
        for line in ["ARTIFACT: PATH — report", "NEED: PATH — it is mine"] {
            writeln!(script, "  say {:?}", line.replace("PATH", &path)).unwrap();
        }
    }
    script += "  contract \"users\"\n";
    for path in outside.ways() {
        writeln!(script, "    file: {path}").unwrap();
    }
    writeln!(script, "  status done \"wrote 3 files, 3 tests pass\"").unwrap();
    fs::write(world.path("a.sim"), script).unwrap();
    let program = super::support::world::PROGRAM;
    let command = json!([program, "sim", world.path("a.sim")]);
    world.write_config(&format!(
        "[cli.hands]\nlike = \"sim\"\ncommand = {command}\n\
         [[team.crew.agents]]\nname = \"one\"\ncli = \"hands\"\n"
    ));
    world.trust();
    world.ok(&["up", "crew"]);
    outside.happened();
    let add = ["task", "add", "--title", "x", "--prompt", "Go", "--agent", "one"];
    let gates = ["--gate", "contract:users", "--gate", "file:link/secret.txt"];
    let id = world.json(&[&add[..], &gates].concat())["id"].as_str().unwrap().to_owned();
    let events = || world.ok(&["events", "--task", &id]);
    wait_for("gates that fail", || events().matches("gate.failed").count() >= 2);
    let shown = world.json(&["task", "show", &id]);
    let artifacts = shown["attempts"][0]["artifacts"].as_array().unwrap();
    assert!(artifacts.len() > 3 && artifacts.iter().all(|one| one["hash"].is_null()), "{shown}");
    outside.assert_untouched("lines");
    world.ok(&["down", "--force"]);
}
