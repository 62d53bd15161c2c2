//! Shows the rules by which a cli's screen is read, in the order in which they are tried.

use std::io::Write;
use std::sync::Arc;

use serde_json::{Value, json};

use super::super::context::Context;
use super::super::failure::Hinted;
use crate::config::{Cli, Settings, plain, plain_json};
use crate::detect::Rules;
use crate::model::Manifest;

/// Means a program of which nothing is known.
pub(super) const ANY: &str = "any";
/// The cli whose keys and prompts hold for any program.
const ANY_PROGRAM: &str = "shell";

/// Returns the compiled rules of a cli.
pub(super) fn rules_of(context: &Context, name: &str) -> anyhow::Result<Arc<Rules>> {
    let settings = Settings::load(&context.paths)?.settings;
    if name == ANY && settings.cli(ANY).is_none() {
        let manifest = find(&settings, ANY_PROGRAM)?.manifest.clone().general();
        return Ok(Arc::new(Rules::new(ANY, &manifest)?));
    }
    let cli = find(&settings, name)?;
    Ok(Arc::new(Rules::new(name, &cli.manifest)?))
}

/// Prints the rules, titles, blocks and keys of a cli.
pub(in super::super) fn show(context: &mut Context, name: &str, json: bool) -> anyhow::Result<()> {
    let settings = Settings::load(&context.paths)?.settings;
    let manifest = &find(&settings, name)?.manifest;
    let out = &mut context.out;
    if json {
        writeln!(out, "{}", plain_json(&as_json(name, manifest).to_string()))?;
        return Ok(());
    }
    for rule in &manifest.rules {
        let kind = rule.kind.map(|kind| format!(" ({kind})")).unwrap_or_default();
        let pattern = rule.pattern.replace('\n', "\\n");
        writeln!(out, "{}.{}: {}{kind} if {} has", name, rule.name, rule.state, rule.region)?;
        writeln!(out, "    {}", plain(&pattern))?;
        if let Some(unless) = &rule.unless {
            writeln!(out, "  unless\n    {}", plain(unless))?;
        }
    }
    for title in &manifest.titles {
        writeln!(out, "title: {} if it has {}", title.state, plain(&title.pattern))?;
    }
    for block in &manifest.blocks {
        writeln!(
            out,
            "block {}: {} if a row has {}",
            block.name,
            block.kind,
            plain(&block.pattern)
        )?;
    }
    let keys = &manifest.keys;
    for (action, keys) in [
        ("approve", &keys.approve),
        ("deny", &keys.deny),
        ("interrupt", &keys.interrupt),
        ("clear", &keys.clear),
        ("exit", &keys.exit),
    ] {
        writeln!(out, "{action}: {}", plain(&keys.join(" ")))?;
    }
    Ok(())
}

fn find<'s>(settings: &'s Settings, name: &str) -> anyhow::Result<&'s Cli> {
    settings.cli(name).ok_or_else(|| {
        let known: Vec<String> = settings.clis().map(|(name, _)| format!("`{name}`")).collect();
        let message = format!("Unknown cli `{}`", plain(name));
        Hinted::error(message, format!("Use one of {}", known.join(", ")))
    })
}

fn as_json(name: &str, manifest: &Manifest) -> Value {
    let rules = manifest.rules.iter().map(|rule| {
        json!({
            "name": rule.name,
            "state": rule.state,
            "kind": rule.kind,
            "region": rule.region.to_string(),
            "match": rule.pattern,
            "unless": rule.unless,
        })
    });
    let titles =
        manifest.titles.iter().map(|title| json!({ "state": title.state, "match": title.pattern }));
    let blocks = manifest.blocks.iter().map(|block| {
        json!({ "name": block.name, "kind": block.kind.to_string(), "match": block.pattern })
    });
    json!({
        "cli": name,
        "rules": rules.collect::<Vec<_>>(),
        "titles": titles.collect::<Vec<_>>(),
        "blocks": blocks.collect::<Vec<_>>(),
        "composer": manifest.screen.composer,
        "keys": {
            "approve": manifest.keys.approve,
            "deny": manifest.keys.deny,
            "interrupt": manifest.keys.interrupt,
            "clear": manifest.keys.clear,
            "exit": manifest.keys.exit,
        },
    })
}
