//! `wheelhouse template render NAME --var K=V`: the prompt that a template makes.

use std::collections::BTreeMap;
use std::io::Write;

use serde_json::json;

use super::super::args::Format;
use super::super::context::Context;
use crate::config::{Settings, plain};
use crate::template::{Prompt, TAG, TAG_UNKNOWN};

/// Prints the prompt. The tag may be given as a variable; when a prompt is sent it is drawn.
pub(in super::super) fn render(
    context: &mut Context,
    name: &str,
    mut vars: BTreeMap<String, String>,
    format: Format,
) -> anyhow::Result<()> {
    let settings = Settings::load(&context.paths)?.settings;
    let tag = vars.remove(TAG).unwrap_or_else(|| TAG_UNKNOWN.to_owned());
    let prompt =
        settings.templates.render(&Prompt::Template { name: name.to_owned(), vars }, &tag)?;
    if format.json {
        return context.print_json(&json!({ "template": name, "tag": tag, "prompt": prompt }));
    }
    for line in prompt.lines() {
        writeln!(context.out, "{}", plain(line))?;
    }
    Ok(())
}
