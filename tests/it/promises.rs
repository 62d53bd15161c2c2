//! Holds docs/promises.md to its word: each promise names tests, and each test that is named exists.

use std::fs;

/// Returns the promises: each number, and what stands below it.
fn rows(page: &str) -> Vec<(u32, String)> {
    let mut rows: Vec<(u32, String)> = Vec::new();
    for line in page.lines() {
        let number = line.split_once(". ").and_then(|(number, _)| number.parse().ok());
        match (number, rows.last_mut()) {
            (Some(number), _) => rows.push((number, line.to_owned())),
            (None, Some((_, row))) => row.push_str(line),
            (None, None) => {}
        }
    }
    rows
}

/// Returns the tests that a row names.
fn tests(row: &str) -> Vec<&str> {
    row.split('`').skip(1).step_by(2).filter(|word| word.contains("::")).collect()
}

/// Says whether there is a test of this name: `tests/it/` is where it is looked for, or `src/`.
fn exists(test: &str) -> bool {
    let Some((module, name)) = test.split_once("::") else { return false };
    let folder = if module.starts_with("src/") { "" } else { "tests/it/" };
    let place = format!("{folder}{module}.rs");
    let code = fs::read_to_string(place).unwrap_or_default();
    // A test is marked as one in a row or two before it.
    let is_marked = |at| code[..at].lines().rev().take(6).any(|line| line.trim() == "#[test]");
    code.find(&format!("fn {name}(")).is_some_and(is_marked)
}

#[test]
fn every_promise_names_tests_that_exist() {
    let page = fs::read_to_string("docs/promises.md").unwrap();
    let rows = rows(&page);
    assert!(rows.len() >= 36, "only {} promises", rows.len());
    for (at, (number, row)) in rows.iter().enumerate() {
        assert_eq!(*number as usize, at + 1, "the promises are numbered");
        let tests = tests(row);
        assert!(!tests.is_empty(), "promise {number} has no test");
        for test in tests {
            assert!(exists(test), "promise {number} names `{test}`, which is no test");
        }
    }
}

#[test]
fn a_test_that_is_none_is_noticed() {
    assert!(exists("promises::a_test_that_is_none_is_noticed"));
    assert!(!exists("promises::rows"), "a function is no test");
    assert!(!exists("promises::there_is_no_such_test"));
    assert!(!exists("no_such_file::a_test_that_is_none_is_noticed"));
}
