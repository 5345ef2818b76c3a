use std::{fs, path::Path};

use futures::executor::block_on;
use journeyman::{
    ErrorKind,
    contract::SkillStore,
    domain::{LibraryChange, Skill, State, Taint},
    testing::sample,
};
use journeyman_disk::{DiskOptions, DiskStore};
use tempfile::tempdir;

use crate::experiment::{arm::Start, start::skills};

fn of(path: &Path) -> journeyman::Result<Vec<Skill>> {
    skills(&Start::Folder(path.to_owned()))
}

fn names(skills: &[Skill]) -> Vec<&str> {
    let offered = skills.iter().filter(|skill| skill.state.is_offered());
    offered.map(|skill| skill.name.as_str()).collect()
}

#[test]
fn nothing_and_the_seeds() {
    assert!(skills(&Start::Empty).unwrap().is_empty());
    let seeds = skills(&Start::Seeds).unwrap();
    assert_eq!(names(&seeds).len(), 5);
    assert!(names(&seeds).contains(&"equation-setup"));
}

#[test]
fn one_folder_or_several() {
    let folder = tempdir().unwrap();
    let refused = of(folder.path()).unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::NotFound, "{refused}");
    for name in ["brew", "grind"] {
        let text = format!("---\nname: {name}\ndescription: Does {name}.\n---\n\nSay {name}.\n");
        fs::create_dir(folder.path().join(name)).unwrap();
        fs::write(folder.path().join(name).join("SKILL.md"), text).unwrap();
    }
    assert_eq!(names(&of(folder.path()).unwrap()), ["brew", "grind"]);
    assert_eq!(names(&of(&folder.path().join("grind")).unwrap()), ["grind"]);
    let missing = of(&folder.path().join("pour")).unwrap_err();
    assert_eq!(missing.kind(), ErrorKind::NotFound);
    fs::write(folder.path().join("brew/SKILL.md"), "no skill").unwrap();
    let broken = of(folder.path()).unwrap_err();
    assert!(broken.fact("skill").unwrap().ends_with("brew"), "{broken}");
}

#[test]
fn what_a_library_offers() {
    let folder = tempdir().unwrap();
    let commit = |skill: Skill| {
        let store = DiskStore::open(folder.path(), &DiskOptions::default()).unwrap();
        let base = block_on(store.load()).unwrap().revision.0;
        let added = LibraryChange::Add(Box::new(skill));
        let commit = sample::commit(base, &format!("key {base}"), vec![added]);
        block_on(store.commit(&commit)).unwrap();
    };
    let mut held = sample::skill("brew");
    held.state = State::Quarantined;
    commit(held);
    let refused = of(folder.path()).unwrap_err();
    assert!(
        refused.message().contains("no skill is offered"),
        "{refused}"
    );
    let mut tried = sample::skill("grind");
    tried.state = State::Trial;
    tried.taint = Taint::Tainted;
    commit(tried);
    let found = of(folder.path()).unwrap();
    assert_eq!(names(&found), ["grind"]);
    assert_eq!(
        (found[0].state, found[0].taint),
        (State::Trial, Taint::Clean)
    );
}
