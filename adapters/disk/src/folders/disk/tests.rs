#![allow(clippy::unwrap_used)]

use super::*;

#[test]
fn an_area_that_cannot_be_put_aside_leaves_the_other_one_in_place() {
    let folder = tempfile::tempdir().unwrap();
    let mut disk = Disk::open(folder.path()).unwrap();
    std::fs::write(folder.path().join("skills/note"), "a person's").unwrap();
    // A path that is occupied cannot be created, and nothing can be moved there either.
    let aside = format!("{REPLACED}/{}-1/held/note", disk.token);
    std::fs::create_dir_all(folder.path().join(aside)).unwrap();
    disk.put_aside().unwrap_err();
    let note = std::fs::read(folder.path().join("skills/note")).unwrap();
    assert_eq!(note, b"a person's");
}

#[test]
fn a_file_system_that_cannot_refuse_to_replace_replaces_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let mut disk = Disk::open(folder.path()).unwrap();
    disk.lock().unwrap().unwrap();
    let content = SkillFolder {
        text: b"ours".to_vec(),
        files: std::collections::BTreeMap::new(),
    };
    let prepared = disk.prepare(&content, false).unwrap();
    let theirs = folder.path().join("skills/theirs");
    std::fs::create_dir(&theirs).unwrap();
    assert!(!disk.put_if_free(&prepared, "skills/theirs").unwrap());
    std::os::unix::fs::symlink("nowhere", folder.path().join("skills/link")).unwrap();
    assert!(!disk.put_if_free(&prepared, "skills/link").unwrap());
    assert!(disk.put_if_free(&prepared, "skills/ours").unwrap());
    let text = std::fs::read(folder.path().join("skills/ours/SKILL.md")).unwrap();
    assert_eq!(text, b"ours");
}
