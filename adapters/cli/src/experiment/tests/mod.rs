//! Tests without a model: the experiment's file, and the skills that a library starts with.
#![allow(clippy::unwrap_used)]

mod former_world;
mod jobs;
mod own_world;
mod planned;
mod started;

use journeyman::Result;
use tempfile::TempDir;

use super::plan::PlanFile;
use crate::tests::{faults, is_published, root};

/// A file of this text, read for a run, with a file of a hundred tasks beside it.
fn planned(text: &str) -> Result<PlanFile> {
    read(text, false)
}

fn read(text: &str, report_only: bool) -> Result<PlanFile> {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("experiment.toml");
    std::fs::write(&path, text).unwrap();
    std::fs::write(folder.path().join("tasks.jsonl"), tasks(100, "")).unwrap();
    PlanFile::read(&path, report_only)
}

/// A file of this many tasks, each with these fields more.
fn tasks(count: usize, more: &str) -> String {
    let line = |n| format!("{{\"id\": \"t{n}\", \"instruction\": \"Do {n}.\"{more}}}\n");
    (0..count).map(line).collect()
}

#[test]
fn the_published_schema_is_that_of_the_files_form() {
    let schema = schemars::schema_for!(super::form::Form);
    is_published(&schema, "experiment.schema.json");
    let mut shipped = Vec::new();
    for file in std::fs::read_dir(root().join("examples/experiments")).unwrap() {
        let text = std::fs::read_to_string(file.unwrap().path()).unwrap();
        assert_eq!(faults(&schema, &text), Vec::<String>::new(), "{text}");
        shipped.push(text);
    }
    assert!(shipped.len() > 3);
    for (from, to) in [
        ("name =", "nome ="),
        ("seeds = ", "seeds = true # "),
        ("[[arm]]", "[[arm]]\nlearned = true"),
        ("[[arm]]", "[[arm]]\nlearn = 3"),
    ] {
        let text = shipped[0].replacen(from, to, 1);
        assert_ne!(text, shipped[0]);
        assert!(planned(&text).is_err(), "{text}");
        assert!(!faults(&schema, &text).is_empty(), "{text}");
    }
}
