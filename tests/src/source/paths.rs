//! Paths in masked sources.

use super::mask::is_word;

/// What follows a root in each path: `crate::a::b` and `use crate::{c::d, e};` give `a`, `c` and `e` for the root
/// `crate`, with their lines. The root may have several segments: `super::super`.
pub fn first_segments(masked: &str, root: &str) -> Vec<(usize, String)> {
    let mut found = Vec::new();
    let start = format!("{root}::");
    for (at, _) in masked.match_indices(&start) {
        let before = &masked[..at];
        if before.ends_with(is_word) || before.ends_with("::") {
            continue;
        }
        let line = 1 + before.matches('\n').count();
        segments(&masked[at + start.len()..], line, &mut found);
    }
    found
}

/// The first segments of a path or of a group of paths.
fn segments(rest: &str, line: usize, found: &mut Vec<(usize, String)>) {
    let Some(group) = rest.trim_start().strip_prefix('{') else {
        let segment: String = rest
            .trim_start()
            .chars()
            .take_while(|&c| is_word(c))
            .collect();
        if !segment.is_empty() {
            found.push((line, segment));
        }
        return;
    };
    let mut line = line;
    let mut depth = 0_usize;
    let mut expecting = true;
    for (at, c) in group.char_indices() {
        match c {
            '}' if depth == 0 => return,
            '\n' => line += 1,
            '{' => depth += 1,
            '}' => depth -= 1,
            ',' if depth == 0 => expecting = true,
            c if expecting && is_word(c) => {
                expecting = false;
                segments(&group[at..], line, found);
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, root: &str, expect: &[(usize, &str)]) {
        let found = first_segments(text, root);
        let found: Vec<_> = found
            .iter()
            .map(|(line, name)| (*line, name.as_str()))
            .collect();
        assert_eq!(found, expect, "{text}");
    }

    #[test]
    fn paths_are_followed() {
        check(
            "use crate::a::b;\nlet x = crate::c();",
            "crate",
            &[(1, "a"), (2, "c")],
        );
        check(
            "use crate::{\n    a::{b, c},\n    d,\n    Error,\n};",
            "crate",
            &[(2, "a"), (3, "d"), (4, "Error")],
        );
        check("my_crate::a; x::crate::b; $crate::c", "crate", &[(1, "c")]);
        check(
            "use std::{fs, io::{self, Read}};",
            "std",
            &[(1, "fs"), (1, "io")],
        );
        check("super::a; super::super::b", "super::super", &[(1, "b")]);
    }
}
