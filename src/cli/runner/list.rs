//! `wheelhouse runner list`: where agents can run.

use serde_json::json;

use super::super::args::Format;
use super::super::context::Context;
use super::super::table::Table;
use crate::config::{Origin, Settings};
use crate::model::Runner;

pub(in super::super) fn list(context: &mut Context, format: Format) -> anyhow::Result<()> {
    let settings = Settings::load(&context.paths)?.settings;
    let origin = |runner: &Runner| settings.origin(&format!("runner.{}", runner.name));
    if format.json {
        let here =
            json!({ "name": "local", "kind": "local", "origin": Origin::BuiltIn.to_string() });
        let others = settings.runners().map(|runner| {
            json!({
                "name": runner.name,
                "kind": runner.place.kind(),
                "target": runner.place.target(),
                "directory": runner.directory,
                "program": runner.program,
                "arguments": runner.arguments,
                "pass_env": runner.pass_env,
                "origin": origin(runner).to_string(),
            })
        });
        return context.print_json(&std::iter::once(here).chain(others).collect::<Vec<_>>());
    }
    let mut table = Table::new(["RUNNER", "KIND", "WHERE", "DIRECTORY", "ORIGIN"]);
    table.push(["local", "local", "this machine", ".", "built-in"].map(str::to_owned));
    for runner in settings.runners() {
        table.push([
            runner.name.clone(),
            runner.place.kind().to_owned(),
            runner.place.target().to_owned(),
            runner.directory.clone().unwrap_or_else(|| "~".to_owned()),
            origin(runner).to_string(),
        ]);
    }
    table.print(&mut context.out)?;
    Ok(())
}
