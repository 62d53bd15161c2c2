//! The templates that the program brings along.

/// The texts, as they lie in `assets/templates/`, by name.
pub(super) const EMBEDDED: &[(&str, &str)] = &[
    ("backend", include_str!("../../../assets/templates/backend.md")),
    ("browser-operator", include_str!("../../../assets/templates/browser-operator.md")),
    ("builder", include_str!("../../../assets/templates/builder.md")),
    ("conflict-resolution", include_str!("../../../assets/templates/conflict-resolution.md")),
    ("context-recovery", include_str!("../../../assets/templates/context-recovery.md")),
    ("data-analyst", include_str!("../../../assets/templates/data-analyst.md")),
    ("debugger", include_str!("../../../assets/templates/debugger.md")),
    ("deployer", include_str!("../../../assets/templates/deployer.md")),
    ("documenter", include_str!("../../../assets/templates/documenter.md")),
    ("editor", include_str!("../../../assets/templates/editor.md")),
    ("evidence-request", include_str!("../../../assets/templates/evidence-request.md")),
    ("frontend", include_str!("../../../assets/templates/frontend.md")),
    ("hand-over", include_str!("../../../assets/templates/hand-over.md")),
    ("lead", include_str!("../../../assets/templates/lead.md")),
    ("marketer", include_str!("../../../assets/templates/marketer.md")),
    ("meta-orchestrator", include_str!("../../../assets/templates/meta-orchestrator.md")),
    ("orchestrator", include_str!("../../../assets/templates/orchestrator.md")),
    ("planner", include_str!("../../../assets/templates/planner.md")),
    ("re-dispatch", include_str!("../../../assets/templates/re-dispatch.md")),
    ("refactorer", include_str!("../../../assets/templates/refactorer.md")),
    ("researcher", include_str!("../../../assets/templates/researcher.md")),
    ("retrospective", include_str!("../../../assets/templates/retrospective.md")),
    ("reviewer", include_str!("../../../assets/templates/reviewer.md")),
    ("security-reviewer", include_str!("../../../assets/templates/security-reviewer.md")),
    ("stub-request", include_str!("../../../assets/templates/stub-request.md")),
    ("tester", include_str!("../../../assets/templates/tester.md")),
    ("verifier", include_str!("../../../assets/templates/verifier.md")),
    ("worker", include_str!("../../../assets/templates/worker.md")),
    ("writer", include_str!("../../../assets/templates/writer.md")),
];

#[cfg(test)]
mod tests {
    use std::fs;

    use super::super::built_in_templates;
    use super::*;
    use crate::protocol::{first_line_like_a_report, parse};
    use crate::template::{Prompt, Template, Templates};

    /// The longest body: an agent should read all of it.
    const BODY_LINES_MAX: usize = 45;

    /// Returns the prompt of a template with every variable filled, or only those that must be.
    fn rendered(template: &Template, templates: &Templates, is_full: bool) -> String {
        let needed =
            template.variables.iter().filter(|(_, variable)| is_full || variable.default.is_none());
        let vars = needed.map(|(name, _)| (name.clone(), format!("some words for {name}")));
        let prompt = Prompt::Template { name: template.name.clone(), vars: vars.collect() };
        templates.render(&prompt, "k7f3").unwrap()
    }

    #[test]
    fn every_template_of_the_assets_is_embedded_short_and_teaches_the_protocol() {
        let templates = built_in_templates();
        for entry in fs::read_dir("assets/templates").unwrap() {
            let path = entry.unwrap().path();
            let name = path.file_stem().unwrap().to_str().unwrap().to_owned();
            let template = templates.get(&name).unwrap_or_else(|_| panic!("embed {name}"));
            let lines = template.body.lines().count();
            assert!((15..=BODY_LINES_MAX).contains(&lines), "{name}: {lines} lines");
            for is_full in [false, true] {
                let prompt = rendered(template, &templates, is_full);
                assert!(prompt.ends_with(&crate::protocol::brief("k7f3")), "{name}");
                assert!(!prompt.contains("\n\n\n\n"), "{name} has a hole:\n{prompt}");
            }
        }
        assert!(EMBEDDED.len() >= 29);
    }

    #[test]
    fn no_prompt_reads_as_a_report_however_wide_the_terminal_is() {
        let templates = built_in_templates();
        for template in templates.iter() {
            for is_full in [false, true] {
                let prompt = rendered(template, &templates, is_full);
                for width in 40..=200 {
                    let words = wrapped(&prompt, width, true);
                    assert_eq!(
                        first_line_like_a_report(&words),
                        None,
                        "{} at {width}",
                        template.name
                    );
                    if is_full {
                        let letters = wrapped(&prompt, width, false);
                        assert_eq!(
                            first_line_like_a_report(&letters),
                            None,
                            "{} at {width}",
                            template.name
                        );
                    }
                }
            }
        }
    }

    #[test]
    fn no_end_of_a_prompt_reads_as_a_report_when_its_lines_are_joined() {
        let templates = built_in_templates();
        for template in templates.iter() {
            let prompt = rendered(template, &templates, true).replace('\n', " ");
            for (at, _) in prompt.match_indices(' ') {
                let end = prompt[at..].trim_start();
                assert_eq!(parse(end), None, "{}: {end:.60}", template.name);
            }
        }
    }

    /// Returns the text as a terminal of that width shows it, broken between words or anywhere.
    fn wrapped(text: &str, width: usize, between_words: bool) -> String {
        let mut shown = String::with_capacity(text.len() * 2);
        for line in text.lines() {
            let mut column = 0;
            let pieces = line.split_inclusive(|c| !between_words || c == ' ');
            for piece in pieces {
                let length = piece.chars().count();
                if column > 0 && column + length > width {
                    shown.push('\n');
                    column = 0;
                }
                shown.push_str(piece);
                column += length;
            }
            shown.push('\n');
        }
        shown
    }
}
