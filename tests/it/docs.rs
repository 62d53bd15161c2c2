//! Holds what people read to its form: a short README, and links that lead somewhere.

use std::fs;
use std::path::{Path, PathBuf};

const README_LINES_MAX: usize = 100;
const README_COLUMNS_MAX: usize = 120;

fn pages() -> Vec<PathBuf> {
    let mut pages = vec!["README.md".into(), "CONTRIBUTING.md".into()];
    for folder in ["docs", "docs/decisions"] {
        pages.extend(fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()));
    }
    pages.retain(|page| page.extension().is_some_and(|extension| extension == "md"));
    pages.sort();
    pages
}

/// Returns the links to other files, with what they lead to in there.
fn links(text: &str) -> impl Iterator<Item = (&str, Option<&str>)> {
    let targets = text.split("](").skip(1).filter_map(|rest| rest.split_once(')'));
    let own = targets.map(|(target, _)| target).filter(|target| !target.contains("://"));
    own.map(|target| match target.split_once('#') {
        Some((file, heading)) => (file, Some(heading)),
        None => (target, None),
    })
}

/// Returns the names by which the headings of a page can be linked to.
fn headings(text: &str) -> Vec<String> {
    let titles = text.lines().filter(|line| line.starts_with('#'));
    let name = |title: &str| {
        let kept = |c: &char| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_');
        title.trim_start_matches('#').trim().to_lowercase().chars().filter(kept).collect()
    };
    titles.map(|title| -> String { name(title) }).map(|name| name.replace(' ', "-")).collect()
}

#[test]
fn the_readme_is_short() {
    let text = fs::read_to_string("README.md").unwrap();
    assert!(text.lines().count() <= README_LINES_MAX, "{} lines", text.lines().count());
    let wide: Vec<&str> =
        text.lines().filter(|line| line.chars().count() > README_COLUMNS_MAX).collect();
    assert!(wide.is_empty(), "{wide:#?}");
}

#[test]
fn every_link_leads_somewhere() {
    let mut count = 0;
    for page in pages() {
        let text = fs::read_to_string(&page).unwrap();
        for (file, heading) in links(&text) {
            let folder = page.parent().unwrap_or(Path::new(""));
            let target = if file.is_empty() { page.clone() } else { folder.join(file) };
            assert!(target.exists(), "{} links to {file}, which is not there", page.display());
            if let Some(heading) = heading {
                let there = headings(&fs::read_to_string(&target).unwrap());
                let is_there = there.iter().any(|known| known == heading);
                assert!(is_there, "{} links to {file}#{heading}: {there:?}", page.display());
            }
            count += 1;
        }
    }
    assert!(count > 50, "only {count} links were found");
}
