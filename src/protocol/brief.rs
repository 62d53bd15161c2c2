//! Writes the brief that teaches an agent the protocol.

/// Returns the text that goes before a task.
///
/// An agent's terminal echoes it, so none of its words may ever read as a report, however they
/// are wrapped: where the tag belongs stands `(…)`, which is no tag, and the tag itself stands
/// apart.
pub fn brief(tag: &str) -> String {
    format!(
        "Report in single lines of plain text, each on a line of its own, outside of code blocks.\n\
         For this task the tag is {tag}: put it where the dots are.\n\
         - when all is finished and checked: STATUS(…): DONE — what was accomplished + evidence \
         (counts, paths, commits, commands and their results)\n\
         - when you cannot go on: STATUS(…): BLOCKED — exactly what you need\n\
         - when it failed for good: STATUS(…): ERROR — what failed, what you tried, a suggested fix\n\
         - every two minutes of work: PROGRESS(…): [step/steps] — what was just completed; \
         next: what comes next\n\
         - after every build: BUILD(…): PASS, or BUILD(…): FAIL — the error in a few words; never \
         go on past a failed build\n\
         - when you need something that another agent owns: NEED(…): path or thing from agent — why\n\
         - when others will build on an interface of yours: CONTRACT(…): title, then its lines, \
         then END CONTRACT\n\
         - for a file that this task hands on: ARTIFACT(…): path — kind\n\
         Say DONE only once, at the very end, and only what you have checked yourself."
    )
}

#[cfg(test)]
mod tests {
    use super::super::{parse, read};
    use super::*;

    #[test]
    fn its_echo_never_reads_as_a_report_however_it_is_wrapped() {
        let brief = brief("k7f3");
        assert!(brief.contains("k7f3") && read(&brief).is_empty());
        let chars: Vec<char> = brief.chars().collect();
        for start in 0..chars.len() {
            let rest: String = chars[start..].iter().collect();
            let line = rest.lines().next().unwrap_or_default();
            assert_eq!(parse(line), None, "{line}");
            let joined = rest.replace('\n', " ");
            assert_eq!(parse(&joined), None, "{joined}");
        }
    }
}
