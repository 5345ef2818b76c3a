//! Skills that a host ships, read from folders.

use std::fs;

use futures::executor::block_on;
use journeyman::{ErrorKind, contract::SkillFiles};
use journeyman_disk::{DiskOptions, DiskStore, read_skills};

fn skill_md(name: &str) -> String {
    format!("---\nname: {name}\ndescription: How to {name}.\n---\nDo {name}.\n")
}

#[test]
fn every_folder_with_a_skill_is_read_in_order_with_its_files() {
    let folder = tempfile::tempdir().unwrap();
    let shipped = folder.path().join("shipped");
    for name in ["verify-first", "ask-back"] {
        fs::create_dir_all(shipped.join(name).join("references")).unwrap();
        fs::write(shipped.join(name).join("SKILL.md"), skill_md(name)).unwrap();
    }
    fs::write(shipped.join("verify-first/references/forms.md"), "A form.").unwrap();
    fs::create_dir(shipped.join("no-skill")).unwrap();
    let store = DiskStore::open(folder.path().join("library"), &DiskOptions::default()).unwrap();
    let skills = block_on(read_skills(&shipped, &store)).unwrap();
    let names: Vec<_> = skills.iter().map(|skill| skill.name.as_str()).collect();
    assert_eq!(names, ["ask-back", "verify-first"]);
    assert!(skills[0].files.is_empty());
    let (path, file) = skills[1].files.iter().next().unwrap();
    assert_eq!(path.as_str(), "references/forms.md");
    let bytes = block_on(store.get(&file.sha256)).unwrap();
    assert_eq!(bytes.as_deref(), Some(b"A form.".as_slice()));
}

#[test]
fn one_that_cannot_be_read_refuses_all_and_is_named() {
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in [
        ("good", skill_md("good")),
        ("worse", "no front matter".to_owned()),
    ] {
        fs::create_dir(folder.path().join(name)).unwrap();
        fs::write(folder.path().join(name).join("SKILL.md"), text).unwrap();
    }
    let store = DiskStore::open(folder.path().join("library"), &DiskOptions::default()).unwrap();
    let refused = block_on(read_skills(folder.path(), &store)).unwrap_err();
    assert!(refused.to_string().contains("worse"), "{refused}");
    let missing = block_on(read_skills(folder.path().join("nowhere"), &store)).unwrap_err();
    assert_eq!(missing.kind(), ErrorKind::NotFound);
}

#[test]
fn one_by_another_name_refuses_all_and_says_its_name() {
    let folder = tempfile::tempdir().unwrap();
    for (name, file) in [("good", "SKILL.md"), ("lower", "skill.md")] {
        fs::create_dir(folder.path().join(name)).unwrap();
        fs::write(folder.path().join(name).join(file), skill_md(name)).unwrap();
    }
    let store = DiskStore::open(folder.path().join("library"), &DiskOptions::default()).unwrap();
    let refused = block_on(read_skills(folder.path(), &store)).unwrap_err();
    assert_eq!(refused.fact("path"), Some("skill.md"));
    assert!(refused.hint_text().unwrap().contains("rename the file"));
}
