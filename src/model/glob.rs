//! Whether two path patterns can mean the same file.

/// Says whether some path lies in both.
///
/// `**` stands for any folders, `*` and `?` for letters of a name. A path without either stands for
/// all below it, too. What is in `[]` or `{}` counts as any name: rather one question too many.
pub fn overlap(one: &str, other: &str) -> bool {
    let parts = |glob: &str| -> Vec<String> {
        glob.split('/').filter(|part| !matches!(*part, "" | ".")).map(simple).collect()
    };
    let (one, other) = (parts(one), parts(other));
    // A name without wildcards may be a folder, and then all below it counts.
    let is_folder = |parts: &[String]| parts.last().is_some_and(|part| !part.contains(['*', '?']));
    let folders = (is_folder(&one), is_folder(&other));
    meet(&one, &other, |part| part == "**", |a, b| names_meet(a, b), folders)
}

fn names_meet(one: &str, other: &str) -> bool {
    let letters = |text: &str| text.chars().collect::<Vec<char>>();
    let same = |a: &char, b: &char| a == b || *a == '?' || *b == '?';
    meet(&letters(one), &letters(other), |letter| *letter == '*', same, (false, false))
}

/// Returns the name with classes and alternatives as `*`.
fn simple(name: &str) -> String {
    if name.contains(['[', '{']) { "*".to_owned() } else { name.to_owned() }
}

/// Says whether two sequences with wildcards can be the same, or the one begin with the other where
/// that is a folder.
fn meet<T>(
    one: &[T],
    other: &[T],
    is_any: impl Fn(&T) -> bool,
    same: impl Fn(&T, &T) -> bool,
    (one_is_folder, other_is_folder): (bool, bool),
) -> bool {
    // `row[j]` tells of `one[i..]` and `other[j..]`, from the ends backwards.
    let mut row = vec![false; other.len() + 1];
    for i in (0..=one.len()).rev() {
        let below = row.clone();
        for j in (0..=other.len()).rev() {
            row[j] = match (one.get(i), other.get(j)) {
                (None, None) => true,
                (None, Some(_)) if one_is_folder => true,
                (Some(_), None) if other_is_folder => true,
                (Some(a), _) if is_any(a) => below[j] || (j < other.len() && row[j + 1]),
                (_, Some(b)) if is_any(b) => row[j + 1] || (i < one.len() && below[j]),
                (Some(a), Some(b)) => same(a, b) && below[j + 1],
                (None, Some(_)) | (Some(_), None) => false,
            };
        }
    }
    row[0]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_overlap_if_one_file_lies_in_both() {
        for (one, other) in [
            ("src/**", "src/api/mod.rs"),
            ("src/api", "src/api/mod.rs"),
            ("**/*.md", "docs/**"),
            ("src/*.rs", "src/a?.rs"),
            ("src/{a,b}/x", "src/c/x"),
            ("**", "x"),
            ("a/**/z", "a/z"),
        ] {
            assert!(overlap(one, other) && overlap(other, one), "{one} {other}");
        }
        for (one, other) in [
            ("src/api/**", "src/web/**"),
            ("**/*.md", "src/*.rs"),
            ("src/*.rs", "src/a.md"),
            ("a/**/z", "a/b/*.y"),
            ("web/**", "website/**"),
        ] {
            assert!(!overlap(one, other) && !overlap(other, one), "{one} {other}");
        }
    }
}
