//! `wheelhouse template list`: which templates there are, and what each is for.

use serde_json::json;

use super::super::args::Format;
use super::super::context::Context;
use super::super::table::Table;
use super::show::origin;
use crate::config::Settings;

pub(in super::super) fn list(context: &mut Context, format: Format) -> anyhow::Result<()> {
    let settings = Settings::load(&context.paths)?.settings;
    let templates = settings.templates.iter();
    if format.json {
        let listed = templates.map(|template| {
            json!({
                "name": template.name,
                "role": template.role,
                "purpose": template.purpose,
                "origin": origin(template, &settings).to_string(),
            })
        });
        return context.print_json(&listed.collect::<Vec<_>>());
    }
    let mut table = Table::new(["TEMPLATE", "ROLE", "ORIGIN", "PURPOSE"]);
    for template in templates {
        let (name, purpose) = (template.name.clone(), template.purpose.clone());
        let (role, origin) = (template.role.to_string(), origin(template, &settings).to_string());
        table.push([name, role, origin, purpose]);
    }
    table.print(&mut context.out)?;
    Ok(())
}
