//! The scripts of the demo, inside the program, so that it needs no files beside it.

/// The agents of the demo, by name, each with its script.
pub const DEMO: &[(&str, &str)] = &[
    ("backend", include_str!("../../assets/sim/backend.sim")),
    ("frontend", include_str!("../../assets/sim/frontend.sim")),
    ("tests", include_str!("../../assets/sim/tests.sim")),
    ("docs", include_str!("../../assets/sim/docs.sim")),
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sim::Script;

    #[test]
    fn every_script_of_the_demo_can_be_read_and_starts_by_itself() {
        for (name, text) in DEMO {
            let script = Script::parse(text).unwrap_or_else(|error| panic!("{name}: {error}"));
            assert!(!script.start.is_empty(), "{name}");
        }
    }
}
