//! The guides print the files that run here.

use std::collections::BTreeMap;

use journeyman_lint::lint;

const README: &str = include_str!("../../../../README.md");
const OWN_LOOP: &str = include_str!("../../../../docs/tutorial/own-loop.md");
const HAND_OVER: &str = include_str!("../../../../docs/tutorial/hand-over-tasks.md");
const SHIPPING: &str = include_str!("../../../../docs/tutorial/ship-skills.md");
const ENVIRONMENTS: &str = include_str!("../../../../docs/how-to/environments.md");
const NEW_PAPER: &str = include_str!("../../../../docs/how-to/new-paper.md");

/// Each page with a file that it prints from its first line to its last, and the file's path.
const PRINTED: [(&str, &str, &str); 5] = [
    (
        README,
        include_str!("../../src/bin/first.rs"),
        "examples/embed/src/bin/first.rs",
    ),
    (
        HAND_OVER,
        include_str!("../../src/bin/shortest.rs"),
        "examples/embed/src/bin/shortest.rs",
    ),
    (
        HAND_OVER,
        include_str!("../../src/bin/hand_over.rs"),
        "examples/embed/src/bin/hand_over.rs",
    ),
    (
        OWN_LOOP,
        include_str!("../../src/bin/own_loop.rs"),
        "examples/embed/src/bin/own_loop.rs",
    ),
    (
        ENVIRONMENTS,
        include_str!("../../python/parcels.py"),
        "examples/embed/python/parcels.py",
    ),
];

/// Whether a page has a file as one fenced block.
fn prints(page: &str, file: &str) -> bool {
    page.split("```")
        .skip(1)
        .step_by(2)
        .filter_map(|block| block.split_once('\n'))
        .any(|(_, code)| code == file)
}

#[test]
fn the_pages_print_the_files_whole() {
    for (page, file, path) in PRINTED {
        assert!(prints(page, file), "print {path} in its page");
    }
}

/// Blank lines and the file's own documentation do not count.
#[test]
fn the_readme_has_a_program_of_at_most_25_lines() {
    let (_, program, _) = PRINTED[0];
    let code = program.lines().filter(|line| !line.starts_with("//!"));
    let lines = code.filter(|line| !line.trim().is_empty()).count();
    assert!(lines <= 25, "{lines} lines");
}

#[test]
fn a_changed_line_is_found() {
    let page = "Text.\n```rust\none\ntwo\n```\nMore.\n";
    assert!(prints(page, "one\ntwo\n"));
    assert!(!prints(page, "one\n2\n"));
    assert!(!prints(page, "one\n"));
}

/// The SKILL.md that the page on shipping prints keeps to the specification.
#[test]
fn the_printed_skill_is_valid() {
    let (_, rest) = SHIPPING.split_once("```markdown\n").unwrap();
    let (text, _) = rest.split_once("```").unwrap();
    let faults = |folder| lint(text.as_bytes(), Some(folder), &BTreeMap::new()).findings;
    assert_eq!(faults("verify-first"), []);
    assert_ne!(faults("another-name"), []);
}

/// The block is a documentation test of `journeyman-tests`. Its hidden lines count too.
#[test]
fn the_sixth_paper_is_one_block_of_under_200_lines() {
    let blocks: Vec<&str> = NEW_PAPER.split("```rust\n").skip(1).collect();
    let [block] = blocks.as_slice() else {
        unreachable!("the page has {} blocks", blocks.len());
    };
    let (code, _) = block.split_once("```").unwrap();
    let lines = code.lines().count();
    assert!(lines < 200, "{lines} lines");
}
