//! Writes the text that teaches an agent this tool, by its role.

use crate::model::Role;

/// Returns what an agent of this role should know of us.
///
/// Teams put it into briefs, and an agent's terminal echoes it, so none of its lines reads as a
/// report.
pub fn skill(role: Role) -> &'static str {
    match role {
        Role::Worker => include_str!("../../assets/skill/worker.md"),
        Role::Lead => include_str!("../../assets/skill/lead.md"),
        Role::Orchestrator => include_str!("../../assets/skill/orchestrator.md"),
        Role::Verifier => include_str!("../../assets/skill/verifier.md"),
    }
}

#[cfg(test)]
mod tests {
    use super::super::{parse, read};
    use super::*;

    #[test]
    fn no_line_of_it_reads_as_a_report_however_it_is_cut() {
        for role in Role::ALL {
            let text = skill(role);
            assert!(read(text).is_empty() && text.len() < 4000, "{role}");
            for line in text.lines() {
                for (at, _) in line.char_indices() {
                    assert_eq!(parse(&line[at..]), None, "{role}: {}", &line[at..]);
                }
            }
        }
    }
}
