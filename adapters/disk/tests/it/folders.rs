//! The skills as folders, and what people do in them.

use std::{fs, io::Write as _, path::Path};

use futures::executor::block_on;
use journeyman::{
    ErrorKind,
    contract::{SkillFiles, SkillStore, SkillStoreExt},
    domain::{Cause, Commit, FilePath, LibraryChange, Origin, Skill, SkillName, State},
    library::{SkillLibrary, format::SkillMd},
    testing::sample,
};
use journeyman_disk::{DiskOptions, DiskStore, FolderReport};
use tempfile::{TempDir, tempdir};

struct Library {
    root: TempDir,
    store: DiskStore,
}

impl Library {
    fn new() -> Self {
        let root = tempdir().unwrap();
        let store = DiskStore::open(root.path(), &DiskOptions::default()).unwrap();
        Self { root, store }
    }

    fn commit(&self, key: &str, change: LibraryChange) {
        let commit = Commit::new(
            block_on(self.store.load()).unwrap().revision,
            key,
            Cause::new("a test"),
            vec![change],
        );
        block_on(self.store.commit_rebased(&commit, 20)).unwrap();
    }

    fn add(&self, skill: &Skill) {
        let key = format!("add {} {}", skill.id, skill.version);
        self.commit(&key, LibraryChange::Add(Box::new(skill.clone())));
    }

    fn state(&self, id: &str, state: State) {
        let change = LibraryChange::SetState {
            skill: id.into(),
            state,
            reason: "a test".into(),
        };
        let at = block_on(self.store.load()).unwrap().revision;
        self.commit(&format!("{id} {state:?} {at}"), change);
    }

    fn sync(&self) -> FolderReport {
        block_on(self.store.sync_folders()).unwrap()
    }

    fn library(&self) -> SkillLibrary {
        SkillLibrary::replay(&block_on(self.store.load()).unwrap().committed).unwrap()
    }

    fn current(&self, id: &str) -> Skill {
        self.library().get(&id.into()).unwrap().skill.clone()
    }

    fn path(&self, place: &str) -> std::path::PathBuf {
        self.root.path().join(place)
    }

    fn text(&self, place: &str) -> String {
        fs::read_to_string(self.path(place).join("SKILL.md")).unwrap()
    }

    fn edit(&self, place: &str, from: &str, to: &str) {
        let text = self.text(place);
        assert!(text.contains(from), "{text}");
        fs::write(self.path(place).join("SKILL.md"), text.replace(from, to)).unwrap();
    }

    fn reopen(self) -> Self {
        let Self { root, store } = self;
        drop(store);
        let store = DiskStore::open(root.path(), &DiskOptions::default()).unwrap();
        block_on(store.sync_folders()).unwrap();
        Self { root, store }
    }
}

fn names(path: &Path) -> Vec<String> {
    let entries = fs::read_dir(path).unwrap();
    let mut names: Vec<String> = entries
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

#[test]
fn skills_lie_where_their_state_says_with_their_files() {
    let library = Library::new();
    let file = block_on(library.store.put(b"echo brewing\n")).unwrap();
    let mut skill = sample::skill("brew");
    let script = FilePath::new("scripts/deep/brew.sh").unwrap();
    skill.files.insert(script, file);
    library.add(&skill);
    library.add(&sample::skill("pour"));
    let report = library.sync();
    assert!(
        report.faults.is_empty() && report.taken_in.is_empty(),
        "{report:?}"
    );
    assert_eq!(names(&library.path("skills")), ["brew", "pour"]);
    let brew = library.path("skills/brew");
    assert_eq!(
        fs::read(brew.join("scripts/deep/brew.sh")).unwrap(),
        b"echo brewing\n"
    );
    let text = library.text("skills/brew");
    assert_eq!(
        SkillMd::read_strict(&text, Some("brew")).unwrap(),
        SkillMd::from(&skill)
    );

    library.state("brew", State::Disabled);
    assert_eq!(library.sync().faults.len(), 0);
    assert_eq!(names(&library.path("skills")), ["pour"]);
    assert_eq!(names(&library.path("held")), ["brew"]);
    assert!(library.path("held/brew/scripts/deep/brew.sh").exists());
    library.state("brew", State::Active);
    let library = library.reopen();
    assert_eq!(names(&library.path("skills")), ["brew", "pour"]);
    assert!(names(&library.path("held")).is_empty());
    assert_eq!(library.library().revision().0, 4);
}

#[test]
fn an_edit_is_a_persons_version_and_its_bytes_stay() {
    let library = Library::new();
    library.add(&sample::skill("brew"));
    library.sync();
    library.edit("skills/brew", "say brew.", "say please brew.");
    let mine = library.text("skills/brew");
    let report = library.sync();
    assert_eq!(report.taken_in, ["skills/brew"]);
    assert_eq!((report.written, report.faults.len()), (0, 0));
    let skill = library.current("brew");
    assert_eq!(
        (skill.version.0, skill.provenance.origin),
        (2, Origin::Human)
    );
    assert!(skill.body.contains("say please brew."));
    assert_eq!(library.text("skills/brew"), mine);
    // Neither a touched file nor opening again is another edit.
    let file = library.path("skills/brew/SKILL.md");
    fs::write(&file, &mine).unwrap();
    assert!(library.sync().taken_in.is_empty());
    let library = library.reopen();
    assert_eq!(library.current("brew").version.0, 2);
    assert!(library.sync().taken_in.is_empty());
}

#[test]
fn an_edit_wins_over_what_the_library_wants_to_write() {
    let library = Library::new();
    library.add(&sample::skill("brew"));
    library.sync();
    library.edit("skills/brew", "say brew.", "say please brew.");
    let mut revised = sample::skill("brew");
    revised.version = journeyman::Version(2);
    revised.body = "To do brew, whistle.".into();
    library.commit("whistle", LibraryChange::Revise(Box::new(revised)));
    let library = library.reopen();
    let folded = library.library();
    let entry = folded.get(&"brew".into()).unwrap();
    assert!(entry.skill.body.contains("please"), "{:?}", entry.skill);
    assert_eq!(entry.skill.version.0, 3);
    assert!(
        entry
            .history
            .iter()
            .any(|version| version.body.contains("whistle"))
    );
    assert!(library.text("skills/brew").contains("please"));
}

#[test]
fn what_an_editor_writes_into_a_replaced_file_is_not_lost() {
    let library = Library::new();
    library.add(&sample::skill("brew"));
    library.sync();
    let path = library.path("skills/brew/SKILL.md");
    let text = library
        .text("skills/brew")
        .replace("say brew.", "say please brew.");
    let mut open = fs::OpenOptions::new().write(true).open(&path).unwrap();
    let mut revised = sample::skill("brew");
    revised.version = journeyman::Version(2);
    revised.body = "To do brew, whistle.".into();
    library.commit("whistle", LibraryChange::Revise(Box::new(revised)));
    library.sync();
    assert!(library.text("skills/brew").contains("whistle"));
    open.set_len(0).unwrap();
    open.write_all(text.as_bytes()).unwrap();
    let report = library.sync();
    assert_eq!(report.taken_in, ["skills/brew"], "{report:?}");
    assert!(library.current("brew").body.contains("please"));
    assert!(library.text("skills/brew").contains("please"));
    let again = library.sync();
    assert!(
        again.taken_in.is_empty() && again.faults.is_empty(),
        "{again:?}"
    );
}

#[test]
fn new_folders_are_new_skills() {
    let library = Library::new();
    for (place, name) in [("skills/wash-up", "wash-up"), ("held/dry-up", "dry-up")] {
        let folder = library.path(place);
        fs::create_dir_all(folder.join("references")).unwrap();
        let text = format!("---\nname: {name}\ndescription: How to do it.\n---\n\nDo it.\n");
        fs::write(folder.join("SKILL.md"), text).unwrap();
        fs::write(folder.join("references/soap.md"), "Use soap.").unwrap();
    }
    let report = library.sync();
    assert_eq!(report.taken_in.len(), 2, "{report:?}");
    let folded = library.library();
    let state = |name: &str| {
        let entry = folded.by_name(&SkillName::new(name).unwrap()).unwrap();
        assert_eq!(entry.skill.files.len(), 1);
        assert_eq!(entry.skill.provenance.origin, Origin::Human);
        entry.skill.state
    };
    assert_eq!(
        (state("wash-up"), state("dry-up")),
        (State::Active, State::Draft)
    );
    assert!(library.text("skills/wash-up").contains("journeyman-id"));
    // A copy is a skill of its own.
    let copy = library.path("skills/rinse");
    fs::create_dir(&copy).unwrap();
    fs::copy(
        library.path("skills/wash-up/SKILL.md"),
        copy.join("SKILL.md"),
    )
    .unwrap();
    assert_eq!(library.sync().taken_in, ["skills/rinse"]);
    assert_eq!(library.library().entries().count(), 3);
    assert!(library.sync().taken_in.is_empty());
}

#[test]
fn moved_renamed_and_removed_folders_say_what_a_person_wants() {
    let library = Library::new();
    for name in ["brew", "pour", "stir", "keep"] {
        library.add(&sample::skill(name));
    }
    library.state("pour", State::Quarantined);
    library.sync();
    fs::rename(library.path("skills/brew"), library.path("skills/brew-tea")).unwrap();
    fs::rename(library.path("held/pour"), library.path("skills/pour")).unwrap();
    fs::remove_dir_all(library.path("skills/stir")).unwrap();
    let report = library.sync();
    assert_eq!(report.faults.len(), 0, "{report:?}");
    assert_eq!(library.current("brew").name.as_str(), "brew-tea");
    assert_eq!(library.current("pour").state, State::Active);
    assert_eq!(library.current("stir").state, State::Archived);
    assert_eq!(names(&library.path("skills")), ["brew-tea", "keep", "pour"]);
    assert_eq!(names(&library.path("held")), ["stir"]);
    // Removed for good: it stays in the library, without a folder.
    fs::remove_dir_all(library.path("held/stir")).unwrap();
    library.sync();
    library.sync();
    assert!(names(&library.path("held")).is_empty());
    assert_eq!(library.current("stir").state, State::Archived);
    library.state("stir", State::Active);
    let library = library.reopen();
    assert_eq!(
        names(&library.path("skills")),
        ["brew-tea", "keep", "pour", "stir"]
    );
}

#[test]
fn the_loss_of_all_folders_is_made_good() {
    let library = Library::new();
    for name in ["brew", "pour", "stir"] {
        library.add(&sample::skill(name));
    }
    library.sync();
    fs::remove_dir_all(library.path("skills")).unwrap();
    let library = library.reopen();
    assert_eq!(names(&library.path("skills")), ["brew", "pour", "stir"]);
    assert_eq!(library.library().revision().0, 3);
    fs::remove_dir_all(library.path(".journeyman")).unwrap();
    let library = library.reopen();
    assert!(library.sync().faults.is_empty());
}

#[test]
fn what_cannot_be_read_is_left_as_it_is_and_the_rest_goes_on() {
    let library = Library::new();
    library.add(&sample::skill("brew"));
    library.add(&sample::skill("pour"));
    library.sync();
    let broken = "---\nname: brew\ndescription: [\n---\nDo it.\n";
    fs::write(library.path("skills/brew/SKILL.md"), broken).unwrap();
    fs::create_dir(library.path("skills/empty")).unwrap();
    fs::create_dir(library.path("skills/Loud Name")).unwrap();
    fs::write(library.path("skills/Loud Name/SKILL.md"), "x").unwrap();
    fs::create_dir(library.path("skills/linked")).unwrap();
    std::os::unix::fs::symlink("/etc/passwd", library.path("skills/linked/SKILL.md")).unwrap();
    std::os::unix::fs::symlink("/etc", library.path("skills/out")).unwrap();
    fs::write(library.path("skills/README.txt"), "not a skill").unwrap();
    library.edit("skills/pour", "say pour.", "say please pour.");
    library.state("brew", State::Disabled);
    let report = library.sync();
    assert_eq!(report.taken_in, ["skills/pour"]);
    let mut faults: Vec<&str> = report.faults.iter().map(|f| f.folder.as_str()).collect();
    faults.sort_unstable();
    faults.dedup();
    let expected = [
        "skills/Loud Name",
        "skills/brew",
        "skills/empty",
        "skills/linked",
        "skills/out",
    ];
    assert_eq!(faults, expected);
    for fault in &report.faults {
        assert!(
            !fault.error.to_string().contains("root:"),
            "{}",
            fault.error
        );
    }
    let no_text = report
        .faults
        .iter()
        .find(|fault| fault.folder == "skills/empty");
    assert_eq!(no_text.unwrap().error.kind(), ErrorKind::NotFound);
    assert_eq!(
        fs::read_to_string(library.path("skills/brew/SKILL.md")).unwrap(),
        broken
    );
    // Put right, it is an edit like any other, and the state takes effect.
    let text = broken.replace("[", "How to brew.");
    fs::write(library.path("skills/brew/SKILL.md"), text).unwrap();
    let report = library.sync();
    assert!(
        report.taken_in.contains(&"skills/brew".to_owned()),
        "{report:?}"
    );
    let brew = library.current("brew");
    assert_eq!(brew.description, "How to brew.");
    // An edit where the library had not moved the folder from yet releases nothing.
    assert_eq!(brew.state, State::Disabled);
    assert_eq!(names(&library.path("held")), ["brew"]);
}

#[test]
fn a_folder_whose_name_is_a_secret_holds_up_no_other() {
    let library = Library::new();
    library.add(&sample::skill("brew"));
    library.sync();
    let secret = "skills/sk-proj-a1b2c3d4e5f6a7b8c9d0e1f2";
    fs::create_dir(library.path(secret)).unwrap();
    let text = "---\nname: x\ndescription: How to.\n---\n\nDo it.\n";
    fs::write(library.path(secret).join("SKILL.md"), text).unwrap();
    library.edit("skills/brew", "say brew.", "say please brew.");
    let report = library.sync();
    assert_eq!(report.taken_in, ["skills/brew"]);
    assert_eq!(report.faults.len(), 1, "{report:?}");
    assert_eq!(report.faults[0].error.kind(), ErrorKind::Invalid);
    assert_eq!(library.library().entries().count(), 1);
}

#[test]
fn a_crash_after_a_new_folder_was_taken_in_does_not_double_it() {
    let library = Library::new();
    fs::create_dir_all(library.path("skills/wash")).unwrap();
    let text = "---\nname: wash\ndescription: How to wash.\n---\n\nWash.\n";
    fs::write(library.path("skills/wash/SKILL.md"), text).unwrap();
    library.sync();
    let Library { root, store } = library;
    drop(store);
    // As a crash between the commit and the row leaves it.
    fs::write(root.path().join("skills/wash/SKILL.md"), text).unwrap();
    let raw = rusqlite::Connection::open(root.path().join("library.db")).unwrap();
    assert_eq!(raw.execute("DELETE FROM folders", []).unwrap(), 1);
    drop(raw);
    let store = DiskStore::open(root.path(), &DiskOptions::default()).unwrap();
    let library = Library { root, store };
    library.sync();
    assert_eq!(library.library().entries().count(), 1);
    assert_eq!(names(&library.path("skills")), ["wash"]);
}

#[test]
fn two_skills_may_trade_names() {
    let library = Library::new();
    library.add(&sample::skill("brew"));
    library.add(&sample::skill("pour"));
    library.sync();
    for (id, name, version) in [("brew", "x", 2), ("pour", "brew", 2), ("brew", "pour", 3)] {
        let mut skill = sample::skill(id);
        skill.name = SkillName::new(name).unwrap();
        skill.version = journeyman::Version(version);
        library.commit(
            &format!("{id} {name}"),
            LibraryChange::Revise(Box::new(skill)),
        );
    }
    let report = library.sync();
    assert!(
        report.faults.is_empty() && report.taken_in.is_empty(),
        "{report:?}"
    );
    assert!(library.text("skills/brew").contains("journeyman-id: pour"));
    assert!(library.text("skills/pour").contains("journeyman-id: brew"));
    assert_eq!(library.library().revision().0, 5);
}

#[test]
fn several_stores_of_one_library_write_its_folders_together() {
    let library = Library::new();
    let others: Vec<DiskStore> = (0..3)
        .map(|_| DiskStore::open(library.root.path(), &DiskOptions::default()).unwrap())
        .collect();
    std::thread::scope(|scope| {
        for (at, store) in others.iter().enumerate() {
            scope.spawn(move || {
                for n in 0..15 {
                    let skill = sample::skill(&format!("skill-{at}-{n}"));
                    let commit = Commit::new(
                        block_on(store.load()).unwrap().revision,
                        format!("{at} {n}").as_str(),
                        Cause::new("a test"),
                        vec![LibraryChange::Add(Box::new(skill))],
                    );
                    block_on(store.commit_rebased(&commit, 1000)).unwrap();
                }
            });
        }
    });
    drop(others);
    // Whoever is at the folders writes what the others leave.
    let report = library.sync();
    assert!(
        report.taken_in.is_empty() && report.faults.is_empty(),
        "{report:?}"
    );
    assert_eq!(names(&library.path("skills")).len(), 45);
    assert_eq!(library.library().revision().0, 45);
}

#[test]
fn without_folders_there_are_none() {
    let root = tempdir().unwrap();
    let mut options = DiskOptions::default();
    options.folders = false;
    let store = DiskStore::open(root.path(), &options).unwrap();
    let library = Library { root, store };
    library.add(&sample::skill("brew"));
    let error = block_on(library.store.sync_folders()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unsupported);
    assert!(!library.path("skills").exists());
    let library = library.reopen();
    assert_eq!(names(&library.path("skills")), ["brew"]);
}

#[test]
fn what_is_lost_while_the_library_is_open_is_made_good_too() {
    let library = Library::new();
    for name in ["brew", "pour", "stir"] {
        library.add(&sample::skill(name));
    }
    library.sync();
    fs::remove_dir_all(library.path(".journeyman")).unwrap();
    assert!(library.sync().faults.is_empty());
    // A folder that is then written does not make the others look as if a person had taken them away.
    for name in names(&library.path("skills")) {
        fs::remove_dir_all(library.path("skills").join(name)).unwrap();
    }
    let mut revised = sample::skill("brew");
    revised.version = journeyman::Version(2);
    library.commit("whistle", LibraryChange::Revise(Box::new(revised)));
    // Until then the worker has done what it does when nothing is asked of it.
    std::iter::repeat_with(|| names(&library.path("skills")).len())
        .take_while(|count| *count == 0)
        .for_each(|_| std::thread::yield_now());
    library.sync();
    assert_eq!(names(&library.path("skills")), ["brew", "pour", "stir"]);
    assert_eq!(library.library().revision().0, 4);
}

#[test]
fn a_crash_before_an_exchange_is_no_edit_later() {
    let library = Library::new();
    library.add(&sample::skill("brew"));
    library.sync();
    // What is there after it: the new content, under the name of the old.
    let aside = library.path(".journeyman/previous/0123.1-1");
    fs::create_dir(&aside).unwrap();
    fs::copy(library.path("skills/brew/SKILL.md"), aside.join("SKILL.md")).unwrap();
    library.sync();
    let mut revised = sample::skill("brew");
    revised.version = journeyman::Version(2);
    revised.body = "To do brew, whistle.".into();
    library.commit("whistle", LibraryChange::Revise(Box::new(revised)));
    let report = library.sync();
    assert!(report.taken_in.is_empty(), "{report:?}");
    assert!(library.current("brew").body.contains("whistle"));
}

#[test]
fn a_crash_while_a_folder_moved_leaves_it_in_one_place() {
    let library = Library::new();
    library.add(&sample::skill("brew"));
    library.sync();
    let Library { root, store } = library;
    drop(store);
    // What is there after it: the new folder is in place, the old one came back, and nothing more was noted.
    let connection = rusqlite::Connection::open(root.path().join("library.db")).unwrap();
    let moved = "UPDATE folders SET place = 'skills/a-brew', going_place = place, going = written";
    assert_eq!(connection.execute(moved, []).unwrap(), 1);
    drop(connection);
    let old = root.path().join("skills/a-brew");
    fs::create_dir(&old).unwrap();
    fs::copy(
        root.path().join("skills/brew/SKILL.md"),
        old.join("SKILL.md"),
    )
    .unwrap();
    let store = DiskStore::open(root.path(), &DiskOptions::default()).unwrap();
    let library = Library { root, store };
    assert!(library.sync().taken_in.is_empty());
    assert_eq!(names(&library.path("skills")), ["brew"]);
    assert_eq!(library.library().revision().0, 1);
}

#[test]
fn a_look_at_the_folders_is_not_misled_by_who_commits_meanwhile() {
    let library = Library::new();
    std::thread::scope(|scope| {
        let writer = scope.spawn(|| {
            let mut options = DiskOptions::default();
            options.folders = false;
            let store = DiskStore::open(library.root.path(), &options).unwrap();
            for base in 0..1000 {
                let unknown = LibraryChange::SetState {
                    skill: "nobody".into(),
                    state: State::Active,
                    reason: "a test".into(),
                };
                let commit = sample::commit(base, &format!("{base}"), vec![unknown]);
                block_on(store.commit(&commit)).unwrap();
            }
        });
        while !writer.is_finished() {
            block_on(library.store.sync_folders()).unwrap();
        }
    });
}

/// A name has several spellings in Unicode, and the file system keeps the one that it was given.
#[test]
fn a_folder_of_another_script_and_spelling_is_taken_in() {
    let library = Library::new();
    for (folder, name) in [("возврат", "возврат"), ("cafe\u{301}", "caf\u{e9}")] {
        let place = library.path("skills").join(folder);
        fs::create_dir_all(&place).unwrap();
        let text = format!("---\nname: {folder}\ndescription: Helps. Use often.\n---\n\nBody.\n");
        fs::write(place.join("SKILL.md"), text).unwrap();
        let report = library.sync();
        assert!(report.faults.is_empty(), "{report:?}");
        let name = SkillName::new(name).unwrap();
        let entry = library.library().by_name(&name).unwrap().clone();
        assert_eq!(entry.skill.state, State::Active);
        // The folder has the library's spelling, once.
        let place = format!("skills/{name}");
        assert!(library.text(&place).contains(name.as_str()));
        library.edit(&place, "Body.", "Another body.");
        assert!(library.sync().faults.is_empty());
        assert_eq!(
            library.current(entry.skill.id.as_str()).body,
            "Another body."
        );
    }
    let folders = fs::read_dir(library.path("skills")).unwrap().count();
    assert_eq!(folders, 2);
    // Two names that are one folder on some file systems.
    let mut one = sample::skill("one");
    one.name = SkillName::new("οδος").unwrap();
    let mut other = sample::skill("other");
    other.name = SkillName::new("οδοσ").unwrap();
    library.add(&one);
    library.add(&other);
    assert_eq!(library.current("one").name.as_str(), "οδος");
    assert_eq!(library.current("other").name.as_str(), "οδοσ-2");
}
