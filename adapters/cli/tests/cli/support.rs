//! A small library, and the command run on it.

use std::{
    fs,
    path::{Path, PathBuf},
    process::{Command, Output},
};

use futures::executor::block_on;
use journeyman::{
    RunId, Version,
    contract::{Journal, JournalEntry, SkillFiles, SkillStore},
    domain::{AttemptId, FilePath, LibraryChange, Origin, Skill},
    library::SkillLibrary,
    testing::sample,
};
use journeyman_disk::{DiskOptions, DiskStore};
use serde_json::Value;
use tempfile::{TempDir, tempdir};

pub(crate) const RUN: &str = "run-1";

/// What a run of the command gave.
pub(crate) struct Ran {
    pub(crate) code: i32,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl Ran {
    #[track_caller]
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.out).unwrap()
    }

    #[track_caller]
    pub(crate) fn done(self) -> Self {
        assert_eq!(self.code, 0, "{}{}", self.out, self.err);
        self
    }

    /// An error of this exit code that says this.
    #[track_caller]
    pub(crate) fn failed(self, code: i32, message: &str) -> Self {
        assert_eq!(self.code, code, "{}{}", self.out, self.err);
        assert!(self.err.contains(message), "{}", self.err);
        // A warning of the engine may come before it.
        let mut lines = self.err.lines();
        let first = lines.find(|line| !line.starts_with("warning: "));
        let is_error = first.is_some_and(|line| line.starts_with("error: "));
        assert!(is_error, "{}", self.err);
        assert!(self.err.contains("\n  hint: "), "{}", self.err);
        self
    }
}

pub(crate) struct Place {
    pub(crate) folder: TempDir,
}

impl Place {
    /// Nothing yet.
    pub(crate) fn empty() -> Self {
        Self {
            folder: tempdir().unwrap(),
        }
    }

    /// `brew` in two versions, by a person, with a file; `grind`, made and credited by a run.
    pub(crate) fn with_library() -> Self {
        let place = Self::empty();
        let store = DiskStore::open(place.root(), &DiskOptions::default()).unwrap();
        let mut brew = sample::skill("brew");
        let file = block_on(store.put(b"echo brew\n")).unwrap();
        brew.files
            .insert(FilePath::new("scripts/brew.sh").unwrap(), file);
        let mut later = brew.clone();
        later.version = Version(2);
        later.body = "Say brew twice.".to_owned();
        let mut grind = sample::skill("grind");
        grind.provenance.origin = Origin::Summary;
        grind.provenance.runs = vec![RunId::new(RUN)];
        let credit = LibraryChange::Credit {
            skill: grind.reference(),
            attempt: AttemptId::new("attempt"),
            reward: 1.0,
            uses: 1,
        };
        let changes = [
            vec![add(brew), add(grind)],
            vec![LibraryChange::Revise(Box::new(later))],
            vec![credit],
        ];
        for (base, changes) in (0..).zip(changes) {
            let mut commit = sample::commit(base, &format!("key {base}"), changes);
            commit.cause.run = (base == 2).then(|| RunId::new(RUN));
            block_on(store.commit(&commit)).unwrap();
        }
        let entry = JournalEntry::new(RunId::new(RUN), 0, "begun");
        block_on(store.append(&[entry])).unwrap();
        place
    }

    /// These skills alone.
    pub(crate) fn with_skills(skills: Vec<Skill>) -> Self {
        let place = Self::empty();
        let store = DiskStore::open(place.root(), &DiskOptions::default()).unwrap();
        let commit = sample::commit(0, "start", skills.into_iter().map(add).collect());
        block_on(store.commit(&commit)).unwrap();
        place
    }

    pub(crate) fn root(&self) -> PathBuf {
        self.path("library")
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Runs the command on the library.
    pub(crate) fn run(&self, arguments: &[&str]) -> Ran {
        ran(&self.command(arguments).output().unwrap())
    }

    pub(crate) fn json(&self, arguments: &[&str]) -> Ran {
        self.run(&[arguments, &["--json"]].concat())
    }

    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_journeyman"));
        command
            .current_dir(self.folder.path())
            .args(["--library", "library"])
            .args(arguments);
        command
    }

    pub(crate) fn library(&self) -> SkillLibrary {
        library(&self.root())
    }

    /// A skill's folder with this SKILL.md.
    pub(crate) fn skill_folder(&self, name: &str, text: &str) -> PathBuf {
        let path = self.path(name);
        fs::create_dir_all(&path).unwrap();
        fs::write(path.join("SKILL.md"), text).unwrap();
        path
    }
}

/// Every field of an answer, of its objects too, stands in the row of `docs/reference/json-answers.md` for the answers of `of`.
#[track_caller]
pub(crate) fn documented(of: &str, answer: &Value) {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/reference/json-answers.md");
    let page = fs::read_to_string(page).unwrap();
    let (_, answers) = page.split_once("| answer of | fields |").unwrap();
    let begin = format!("| {of} |");
    let row = answers.lines().find(|line| line.starts_with(&begin));
    assert!(row.is_some(), "no row for the answer of {of}");
    let row = row.unwrap();
    match answer {
        Value::Object(fields) => {
            for (field, value) in fields {
                assert!(
                    row.contains(&format!("`{field}`")),
                    "{field} is not in: {row}"
                );
                documented(of, value);
            }
        }
        Value::Array(items) => items.iter().for_each(|item| documented(of, item)),
        _ => {}
    }
}

pub(crate) fn ran(output: &Output) -> Ran {
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
    Ran {
        code: output.status.code().unwrap(),
        out: text(&output.stdout),
        err: text(&output.stderr),
    }
}

pub(crate) fn add(skill: Skill) -> LibraryChange {
    LibraryChange::Add(Box::new(skill))
}

pub(crate) fn library(root: &Path) -> SkillLibrary {
    let mut options = DiskOptions::default();
    options.create = false;
    let store = DiskStore::open(root, &options).unwrap();
    SkillLibrary::replay(&block_on(store.load()).unwrap().committed).unwrap()
}

/// A SKILL.md that keeps to the specification.
pub(crate) fn sound(name: &str) -> String {
    format!("---\nname: {name}\ndescription: Does {name}. Use for {name}.\n---\n\nSay {name}.\n")
}

/// The names of an object's fields.
pub(crate) fn fields(value: &Value) -> Vec<&str> {
    let mut names: Vec<&str> = value
        .as_object()
        .unwrap()
        .keys()
        .map(String::as_str)
        .collect();
    names.sort_unstable();
    names
}
