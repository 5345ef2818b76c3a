//! The page on parts prints what runs here.

/// The code of a file from a line on that begins so, without the file's own documentation.
fn code(file: &str, from: &str) -> String {
    let start = file.find(from).expect("the file has the code");
    file[start..].trim().to_owned()
}

#[test]
fn the_page_prints_the_two_ways_in() {
    let page = include_str!("../../../../docs/how-to/choose-the-parts.md");
    let hand_over = code(include_str!("../../src/hand_over.rs"), "use std");
    assert!(
        page.contains(&hand_over),
        "print src/hand_over.rs in docs/how-to/choose-the-parts.md"
    );
    let own_loop = code(include_str!("../../src/own_loop.rs"), "/// Opens a session");
    assert!(
        page.contains(&own_loop),
        "print src/own_loop.rs in docs/how-to/choose-the-parts.md"
    );
}

#[test]
fn every_file_is_under_a_hundred_lines() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/src");
    for entry in std::fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("a file").path();
        let lines = std::fs::read_to_string(&path)
            .expect("text")
            .lines()
            .count();
        assert!(lines < 100, "{} has {lines} lines", path.display());
    }
}
