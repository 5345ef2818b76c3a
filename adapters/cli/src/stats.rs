//! `library stats`: counts and sizes.

use std::{collections::BTreeMap, fs, io, path::Path};

use journeyman::{Result, domain::Skill, library::Entry};
use serde_json::json;

use crate::{
    library::open,
    output::{Answer, table, word},
    progress::Progress,
};

pub(crate) async fn stats(root: &Path) -> Result<Answer> {
    let progress = Progress::of("reading the library");
    let opened = open(root, false).await?;
    // An archive written to nowhere counts journal entries and files, which the fold does not hold.
    let (_, archived) = opened.store.write_archive(io::sink(), true).await?;
    drop(progress);
    let library = &opened.library;
    let count = |of: &dyn Fn(&Entry) -> String| {
        let mut counts = BTreeMap::new();
        for entry in library.entries() {
            *counts.entry(of(entry)).or_insert(0_u64) += 1;
        }
        counts
    };
    let states = count(&|entry| word(&entry.skill.state));
    let tiers = count(&|entry| word(&entry.tier));
    let origins = count(&|entry| word(&entry.skill.provenance.origin));
    let size = |name: &str| fs::metadata(root.join(name)).map_or(0, |data| data.len());
    let text_bytes = |skill: &Skill| (skill.body.len() + skill.description.len()) as u64;
    let totals = [
        ("revision", archived.revision.0),
        ("tasks_learned", library.tasks_learned()),
        ("skills", library.entries().count() as u64),
        ("deleted", library.deleted().count() as u64),
        (
            "versions",
            library.entries().map(|e| e.versions().count() as u64).sum(),
        ),
        ("journal_entries", archived.entries),
        ("files", archived.files),
        (
            "text_bytes",
            library.entries().map(|e| text_bytes(&e.skill)).sum(),
        ),
        (
            "database_bytes",
            size("library.db") + size("library.db-wal"),
        ),
    ];
    let mut rows: Vec<Vec<String>> = Vec::new();
    let mut add = |name: String, count: u64| rows.push(vec![name, count.to_string()]);
    for (name, count) in totals {
        add(name.replace('_', " "), count);
    }
    for (what, counts) in [("state", &states), ("tier", &tiers), ("origin", &origins)] {
        for (name, count) in counts {
            add(format!("{what} {name}"), *count);
        }
    }
    let mut json = json!({ "states": states, "tiers": tiers, "origins": origins });
    for (name, count) in totals {
        json[name] = count.into();
    }
    Ok(Answer {
        json,
        text: table(&["WHAT", "COUNT"], &rows),
        ..Answer::default()
    })
}
