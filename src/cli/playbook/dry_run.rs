//! `wheelhouse run PLAYBOOK --dry-run`: checks a playbook and tells its plan.

use std::collections::BTreeMap;

use super::super::args::{Format, StandIn};
use super::super::context::Context;
use super::super::failure::Hinted;
use super::describe::write_plan;
use crate::config::{LoadedPlaybook, Settings, load_playbook};
use crate::playbook::Plan;
use crate::sim::Script;

pub(in super::super) fn dry_run(
    context: &mut Context,
    asked: &str,
    vars: &BTreeMap<String, String>,
    with: Option<StandIn>,
    format: Format,
) -> anyhow::Result<()> {
    let settings = Settings::load(&context.paths)?.settings;
    let directory = std::env::current_dir()?;
    let loaded = load_playbook(asked, &directory, vars, &settings, with.is_some())?;
    let LoadedPlaybook { playbook, vars, script, .. } = &loaded;
    let plan = Plan::of(playbook, vars.clone(), &settings.templates)?;
    let plan = match with {
        Some(StandIn::Sim) => {
            check_script(script.as_deref())?;
            plan.with_sim(playbook, script.as_deref())
        }
        None => plan,
    };
    if format.json {
        return context.print_json(&plan);
    }
    write_plan(&plan, &mut context.out)
}

/// Refuses a script beside the playbook that no scripted agent could play.
pub(super) fn check_script(script: Option<&str>) -> anyhow::Result<()> {
    let Some(Err(error)) = script.map(Script::parse) else { return Ok(()) };
    let message = format!("The script beside the playbook is wrong. {error}");
    Err(Hinted::error(message, error.hint()))
}
