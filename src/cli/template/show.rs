//! `wheelhouse template show NAME`: a template as it is written.

use std::io::Write;

use serde_json::{Map, json};

use super::super::args::Format;
use super::super::context::Context;
use crate::config::{Origin, Settings, plain};
use crate::template::Template;

pub(in super::super) fn show(
    context: &mut Context,
    name: &str,
    format: Format,
) -> anyhow::Result<()> {
    let settings = Settings::load(&context.paths)?.settings;
    let template = settings.templates.get(name)?;
    let origin = origin(template, &settings);
    if format.json {
        let variables = template.variables.iter().map(|(name, variable)| {
            let default = &variable.default;
            let shown =
                json!({ "what": variable.what, "required": default.is_none(), "default": default });
            (name.clone(), shown)
        });
        return context.print_json(&json!({
            "name": template.name,
            "role": template.role,
            "purpose": template.purpose,
            "origin": origin.to_string(),
            "variables": variables.collect::<Map<_, _>>(),
            "text": template.body,
        }));
    }
    let out = &mut context.out;
    writeln!(out, "{} ({origin}), for a {}", template.name, template.role)?;
    writeln!(out, "{}\n", plain(&template.purpose))?;
    for (name, variable) in &template.variables {
        let need = match &variable.default {
            None => "required".to_owned(),
            Some(default) => format!("default {default:?}"),
        };
        writeln!(out, "{name}: {} ({})", plain(&variable.what), plain(&need))?;
    }
    writeln!(out)?;
    for line in template.body.lines() {
        writeln!(out, "{}", plain(line))?;
    }
    Ok(())
}

/// Returns which file the template is from.
pub(super) fn origin(template: &Template, settings: &Settings) -> Origin {
    settings.origin(&format!("template.{}", template.name))
}
