//! Checks that a type name stands for one type: a word that means two things makes every reader ask which.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

/// Names that stand for several types today, and for how many. This list may only shrink.
///
/// A dozen plain words may stay, since their rooms never meet: `Clock`, `Condition`, `Connection`, `Decoder`,
/// `Dialog`, `Frame`, `Journal`, `Pane`, `Signal`, `Stream`, `Terminal`, `Usage`.
const SHARED: &[(&str, usize)] = &[
    ("Agent", 2),
    ("Artifact", 2),
    ("AskRule", 2),
    ("Call", 3),
    ("Cards", 2),
    ("Cast", 2),
    ("Changed", 2),
    ("Claim", 2),
    ("Clock", 2),
    ("Condition", 2),
    ("Connection", 2),
    ("Context", 2),
    ("Decoder", 2),
    ("Dialog", 2),
    ("DialogKind", 2),
    ("Difference", 2),
    ("Dispatch", 2),
    ("Ended", 2),
    ("Ending", 2),
    ("Evidence", 2),
    ("Explanation", 2),
    ("Extent", 2),
    ("Failure", 3),
    ("Fault", 4),
    ("Finding", 3),
    ("Findings", 2),
    ("Format", 3),
    ("Frame", 2),
    ("FrameError", 2),
    ("Holder", 2),
    ("Hub", 2),
    ("Identity", 2),
    ("Ink", 4),
    ("Journal", 2),
    ("Known", 3),
    ("Layout", 2),
    ("Line", 2),
    ("Names", 2),
    ("OnFailure", 2),
    ("Options", 2),
    ("Order", 2),
    ("Origin", 3),
    ("Outcome", 5),
    ("Page", 3),
    ("Pane", 2),
    ("PaneReading", 2),
    ("Part", 4),
    ("Passing", 2),
    ("Past", 2),
    ("Place", 4),
    ("Plan", 2),
    ("Player", 2),
    ("Progress", 2),
    ("Random", 2),
    ("Reading", 3),
    ("Record", 3),
    ("Recorded", 2),
    ("Region", 2),
    ("Report", 2),
    ("Row", 2),
    ("Rule", 3),
    ("Rules", 2),
    ("Ruling", 2),
    ("Seen", 2),
    ("Settings", 2),
    ("Shape", 2),
    ("Sight", 2),
    ("Signal", 2),
    ("Signals", 2),
    ("Site", 2),
    ("Spot", 2),
    ("Stage", 4),
    ("Status", 2),
    ("Step", 2),
    ("Stream", 2),
    ("Table", 2),
    ("Task", 2),
    ("Terminal", 2),
    ("Testimony", 2),
    ("Told", 3),
    ("Turn", 3),
    ("Usage", 2),
    ("Value", 2),
    ("Verdict", 2),
    ("Way", 2),
    ("Words", 2),
    ("Work", 2),
];

/// What Rust programs call such types everywhere.
const HABITS: &[&str] = &["Error", "Args", "Kind"];

#[test]
fn a_type_name_stands_for_one_type() {
    let mut found: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for file in super::architecture::rust_files(Path::new("src")) {
        let text = fs::read_to_string(&file).unwrap();
        let code = text.split("#[cfg(test)]\nmod").next().unwrap_or_default();
        for name in code.lines().filter_map(declared) {
            found.entry(name.to_owned()).or_default().push(file.display().to_string());
        }
    }
    assert!(found.len() > 500, "types are found by their declarations: {}", found.len());
    let known: BTreeMap<&str, usize> = SHARED.iter().copied().collect();
    let mut faults = Vec::new();
    for (name, files) in found {
        let most = known.get(name.as_str()).copied().unwrap_or(1);
        if files.len() > most && !HABITS.contains(&name.as_str()) {
            faults.push(format!(
                "{name} has {} types, at most {most}: {}",
                files.len(),
                files.join(", ")
            ));
        }
    }
    assert!(faults.is_empty(), "give these names of their own:\n{}", faults.join("\n"));
}

/// Returns the name of a type that other files can name, if the line declares one.
fn declared(line: &str) -> Option<&str> {
    let rest = line.strip_prefix("pub")?;
    let rest = rest
        .strip_prefix('(')
        .map_or(rest, |scoped| scoped.split_once(')').map_or("", |(_, rest)| rest));
    let (kind, name) = rest.trim_start().split_once(' ')?;
    let name = name.split(|c: char| !c.is_alphanumeric() && c != '_').next()?;
    let is_type = matches!(kind, "struct" | "enum" | "trait" | "type");
    (is_type && name.starts_with(char::is_uppercase)).then_some(name)
}
