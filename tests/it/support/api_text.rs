//! The schema of the socket as a text for people: `docs/api.md`.

use std::fmt::Write as _;

use serde_json::{Map, Value};

const HEAD: &str = "\
# The API

This page is made from `wheelhouse api schema`; do not edit it. Write it anew with
`WHEELHOUSE_WRITE=1 cargo test --lib api::schema && WHEELHOUSE_WRITE=1 cargo test --test it api::`.

The dashboard, the commands, hooks and scripts all speak to a project's hub in the same way, over a unix socket that
belongs to you alone: `$XDG_RUNTIME_DIR/wheelhouse/<session>/hub.sock` (`wheelhouse status --json` names the session, and an agent
finds the socket in `WHEELHOUSE_SOCKET`).

**Frames.** A frame is a length (four bytes, big-endian, at most 4 MiB) and that many bytes of JSON. You send requests, each with an `id` of
your own, from 1 on; the hub sends answers with the same `id`, in whatever order they become known, and notices.
An answer with the `id` 0 says why the hub ends the connection: what came was no request, or too many clients are connected.

**Hello first.** The first request says which version of the protocol you speak; the hub answers with its own, and answers nothing else to
one that speaks another. With the token of an agent (`WHEELHOUSE_TOKEN`) a connection speaks for that agent, and may
ask only what an agent may. A connection that does not greet within ten seconds is ended, and so is one that leaves a frame half
sent for thirty.

**Once.** A request that changes something may carry a `key` beside its `id`: a word of your own, of up to 128 letters, digits and `-_.:`. Under
one key it is done once. Made again, because its answer was lost say, it is answered with the same ids as they stand now, also by a
hub that came after a crash; another request under the same key is refused. Each speaker has keys of its own, and the last 256 of
them are known. The `idempotency_key` of a prompt counts as such a key, and may be any text. What was refused is not kept.

**What stays.** Fields and requests are added; none is renamed or removed while the version stays the same. Ignore fields that you do
not know. `tests/wire/` holds frames of every kind that each later version must understand.
";

/// Requests that hold another, which is told beside them.
const NESTED: [(&str, &str); 4] = [
    ("TaskRequest", "task"),
    ("RunRequest", "run"),
    ("LockRequest", "lock"),
    ("WorkspaceRequest", "workspace"),
];

/// Returns the heading under which a type is told that is none of those at the end.
fn heading_of(name: &str) -> Option<String> {
    let nested = NESTED.iter().find(|(nested, _)| *nested == name);
    match name {
        "Response" => Some("answers".into()),
        "Notice" => Some("notices".into()),
        _ => nested.map(|(_, about)| format!("ask-of-{about}")),
    }
}

/// Returns the page.
pub(crate) fn page(schema: &Value) -> String {
    let (ask, from_hub) = (&schema["ask"], &schema["from_hub"]);
    let mut page = HEAD.to_owned();
    let _ = writeln!(page, "\nThe version of the protocol is {}.", schema["protocol"]);
    let _ = writeln!(
        page,
        "\n## Requests\n\nEach is an object with `id`, `request`, a `key` if you like, and:"
    );
    for branch in ask["oneOf"].as_array().unwrap() {
        tagged(&mut page, "###", branch, "request", &schema["requests"]);
    }
    for (name, about) in NESTED {
        let _ = writeln!(page, "\n### `ask` of `{about}`\n\nEach is an object with `about` and:");
        let rows = schema["requests"].as_object().unwrap();
        let inner = |(request, row): (&String, &Value)| {
            let request = request.strip_prefix(about)?.strip_prefix('.')?;
            Some((request.to_owned(), row.clone()))
        };
        let within = Value::Object(rows.iter().filter_map(inner).collect());
        for branch in ask["$defs"][name]["oneOf"].as_array().unwrap() {
            tagged(&mut page, "####", branch, "about", &within);
        }
    }
    let _ = writeln!(
        page,
        "\n## Answers\n\n`{{\"answer\": {{\"id\": 1, \"outcome\": {{\"Ok\": …}}}}}}`, with one of the following, or \
         `{{\"Err\": …}}` with a `Fault`."
    );
    variants(&mut page, &from_hub["$defs"]["Response"]);
    let _ = writeln!(page, "\n## Notices\n\n`{{\"notice\": …}}`, with one of:");
    variants(&mut page, &from_hub["$defs"]["Notice"]);
    let _ = writeln!(
        page,
        "\n## The feed\n\n`wheelhouse events --follow --json` prints one object a line, oldest first, and goes on over the end of \
         one hub and the beginning of the next. Numbers rise, none comes twice, and none is missing unless you left some out \
         (`--agent`, `--task`, `--kind`). Keep the last one, and go on with `--after NUMBER`."
    );
    fields(&mut page, &schema["event"]);
    let mut types: Map<String, Value> = ask["$defs"].as_object().cloned().unwrap_or_default();
    types.extend(from_hub["$defs"].as_object().cloned().unwrap_or_default());
    let _ = writeln!(page, "\n## Types");
    for (name, definition) in types.iter().filter(|(name, _)| heading_of(name).is_none()) {
        let _ = writeln!(page, "\n### Type {name}\n\n{}", words(definition));
        if definition["oneOf"].is_array() {
            variants(&mut page, definition);
        } else if definition["properties"].is_object() {
            fields(&mut page, definition);
        } else {
            let _ = writeln!(page, "\n{}", kind(definition));
        }
    }
    while page.contains("\n\n\n") {
        page = page.replace("\n\n\n", "\n\n");
    }
    page
}

/// Writes one variant of an enum whose tag is a field.
fn tagged(page: &mut String, heading: &str, branch: &Value, tag: &str, rows: &Value) {
    let name = branch["properties"][tag]["const"].as_str().unwrap();
    let _ = writeln!(page, "\n{heading} {name}\n\n{}", words(branch));
    if let Some(answers) = rows[name]["answers"].as_array() {
        let answers: Vec<String> =
            answers.iter().map(|one| format!("`{}`", one.as_str().unwrap())).collect();
        let _ = writeln!(page, "\nAnswered by {}.", answers.join(" or "));
    }
    let mut rest = branch.clone();
    rest["properties"].as_object_mut().unwrap().remove(tag);
    fields(page, &rest);
}

/// Writes the variants of an enum, each as it looks on the wire.
fn variants(page: &mut String, definition: &Value) {
    let branches = definition["oneOf"].as_array().unwrap();
    let _ = writeln!(page, "\n| form | what |\n| --- | --- |");
    for branch in branches {
        let words = words(branch).replace('\n', " ");
        for form in forms(branch) {
            let _ = writeln!(page, "| {form} | {words} |");
        }
    }
}

fn forms(branch: &Value) -> Vec<String> {
    if let Some(listed) = branch["enum"].as_array() {
        return listed.iter().map(|one| format!("`{one}`")).collect();
    }
    if let Some(only) = branch.get("const") {
        return vec![format!("`{only}`")];
    }
    let Some(properties) = branch["properties"].as_object() else { return vec![kind(branch)] };
    let field = |(name, field): (&String, &Value)| format!("`{name}`: {}", kind(field));
    vec![properties.iter().map(field).collect::<Vec<_>>().join(", ")]
}

fn fields(page: &mut String, object: &Value) {
    let Some(properties) = object["properties"].as_object().filter(|fields| !fields.is_empty())
    else {
        return;
    };
    let required = object["required"].as_array().cloned().unwrap_or_default();
    let _ = writeln!(page, "\n| field | type | what |\n| --- | --- | --- |");
    for (name, field) in properties {
        let may = if required.iter().any(|one| one == name) { "" } else { ", may be left out" };
        let words = words(field).replace('\n', " ");
        let _ = writeln!(page, "| `{name}` | {}{may} | {words} |", kind(field));
    }
}

fn words(schema: &Value) -> String {
    schema["description"].as_str().unwrap_or_default().to_owned()
}

/// Returns a type as a person would name it.
fn kind(schema: &Value) -> String {
    if let Some(name) = schema["$ref"].as_str() {
        let name = name.rsplit('/').next().unwrap();
        let heading = heading_of(name).unwrap_or_else(|| format!("type-{}", name.to_lowercase()));
        return format!("[{name}](#{heading})");
    }
    if let Some(only) = schema.get("const") {
        return format!("`{only}`");
    }
    for key in ["anyOf", "oneOf"] {
        if let Some(branches) = schema[key].as_array() {
            return branches.iter().map(kind).collect::<Vec<_>>().join(" or ");
        }
    }
    if let Some(types) = schema["type"].as_array() {
        let one = |one: &Value| kind(&serde_json::json!({"type": one, "items": schema["items"]}));
        return types.iter().map(one).collect::<Vec<_>>().join(" or ");
    }
    match schema["type"].as_str() {
        Some("array") => match schema["prefixItems"].as_array() {
            Some(parts) => format!("({})", parts.iter().map(kind).collect::<Vec<_>>().join(", ")),
            None => format!("list of {}", kind(&schema["items"])),
        },
        Some("object") => match schema["properties"].as_object() {
            Some(fields) => {
                let field = |(name, field): (&String, &Value)| format!("`{name}`: {}", kind(field));
                format!("{{{}}}", fields.iter().map(field).collect::<Vec<_>>().join(", "))
            }
            None => "object".to_owned(),
        },
        Some(plain) => plain.to_owned(),
        None => "anything".to_owned(),
    }
}
