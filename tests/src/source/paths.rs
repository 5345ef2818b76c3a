//! Paths in masked sources.

use super::mask::is_word;

/// The paths behind a root: `crate::a::b` and `use crate::{c::d, e::{f, g}};` give `a::b`, `c::d`, `e::f` and `e::g` for the root
/// `crate`, each as its segments, with its line. The root may have several segments: `super::super`.
pub fn paths_behind(masked: &str, root: &str) -> Vec<(usize, Vec<String>)> {
    let mut found = Vec::new();
    let start = format!("{root}::");
    for (at, _) in masked.match_indices(&start) {
        let before = &masked[..at];
        if before.ends_with(is_word) || before.ends_with("::") {
            continue;
        }
        let line = 1 + before.matches('\n').count();
        follow(&masked[at + start.len()..], line, &[], &mut found);
    }
    found
}

/// A path, or a group of paths, behind these segments.
fn follow(rest: &str, mut line: usize, before: &[String], found: &mut Vec<(usize, Vec<String>)>) {
    let trimmed = rest.trim_start();
    line += rest[..rest.len() - trimmed.len()].matches('\n').count();
    let Some(group) = trimmed.strip_prefix('{') else {
        let end = trimmed.find(|c| !is_word(c)).unwrap_or(trimmed.len());
        let (segment, rest) = trimmed.split_at(end);
        let mut path = before.to_vec();
        if !segment.is_empty() {
            path.push(segment.to_owned());
        }
        match rest.strip_prefix("::") {
            Some(rest) if !segment.is_empty() => follow(rest, line, &path, found),
            _ if !path.is_empty() => found.push((line, path)),
            _ => {}
        }
        return;
    };
    let (mut depth, mut expecting) = (0_usize, true);
    for (at, c) in group.char_indices() {
        match c {
            '}' if depth == 0 => return,
            '\n' => line += 1,
            '{' => depth += 1,
            '}' => depth -= 1,
            ',' if depth == 0 => expecting = true,
            c if expecting && is_word(c) => {
                expecting = false;
                follow(&group[at..], line, before, found);
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, root: &str, expect: &[(usize, &str)]) {
        let found = paths_behind(text, root);
        let found: Vec<_> = found
            .iter()
            .map(|(line, path)| (*line, path.join("::")))
            .collect();
        let found: Vec<_> = found
            .iter()
            .map(|(line, path)| (*line, path.as_str()))
            .collect();
        assert_eq!(found, expect, "{text}");
    }

    #[test]
    fn paths_are_followed() {
        check(
            "use crate::a::b;\nlet x = crate::c();",
            "crate",
            &[(1, "a::b"), (2, "c")],
        );
        check(
            "use crate::{\n    a::{b, c},\n    d,\n    Error,\n};",
            "crate",
            &[(2, "a::b"), (2, "a::c"), (3, "d"), (4, "Error")],
        );
        check("my_crate::a; x::crate::b; $crate::c", "crate", &[(1, "c")]);
        check(
            "use std::{fs, io::{self, Read}};",
            "std",
            &[(1, "fs"), (1, "io::self"), (1, "io::Read")],
        );
        check("super::a; super::super::b", "super::super", &[(1, "b")]);
    }
}
