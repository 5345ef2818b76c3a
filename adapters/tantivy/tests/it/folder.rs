//! An index in a folder: kept, shared, damaged, deleted.

use std::{
    fs,
    path::{Path, PathBuf},
    sync::Arc,
};

use futures::executor::block_on;
use journeyman::testing::Edited as _;
use journeyman::{
    ErrorKind, Result, Seed, SkillId,
    contract::Retriever,
    domain::{
        Candidate, Cause, CommitKey, Committed, IndexUpdate, LibraryChange, Query, Revision, Skill,
    },
    library::SkillLibrary,
    testing::{conformance, sample},
};
use journeyman_tantivy::{Bm25Retriever, Config};
use tempfile::{TempDir, tempdir};

const WORDS: [&str; 14] = [
    "open", "jar", "seal", "brew", "fetch", "token", "login", "order", "the", "a", "list", "menu",
    "page", "sum",
];

fn text(seed: Seed, words: u64) -> String {
    let word = |i| {
        // Products make some words common and some rare.
        let at = seed.derive("word", i).unit() * seed.derive("again", i).unit();
        WORDS[(at * WORDS.len() as f64) as usize]
    };
    (0..words).map(word).collect::<Vec<_>>().join(" ")
}

fn skill(id: u64, version: u64, seed: Seed) -> Skill {
    let mut skill = sample::skill(&format!("skill-{id}"))
        .with_id(SkillId::new(format!("s{id}")))
        .with_version(version)
        // Few words, so that there are ties.
        .with_description(text(seed.derive("d", 0), 2))
        .with_body(text(seed.derive("b", 0), 1 + id % 9));
    skill.trigger = id.is_multiple_of(3).then(|| text(seed.derive("t", 0), 2));
    skill
}

/// A library of this many skills, all in one commit.
fn library(key: &str, skills: u64) -> SkillLibrary {
    let mut library = SkillLibrary::new();
    let adds = (0..skills).map(|id| LibraryChange::Add(Box::new(skill(id, 1, Seed(id)))));
    grow(&mut library, key, adds.collect());
    library
}

fn grow(library: &mut SkillLibrary, key: &str, changes: Vec<LibraryChange>) {
    let committed = Committed::new(
        library.revision().next(),
        CommitKey::new(key),
        Cause::new("a test"),
        changes,
    );
    library.apply(&committed).unwrap();
}

fn revise(library: &mut SkillLibrary, id: u64, seed: u64) {
    let entry = library.get(&SkillId::new(format!("s{id}"))).unwrap();
    let mut next = skill(id, entry.skill.version.0 + 1, Seed(seed));
    next.name = entry.skill.name.clone();
    grow(
        library,
        &format!("revise-{seed}"),
        vec![LibraryChange::Revise(Box::new(next))],
    );
}

fn open(folder: &Path) -> Bm25Retriever {
    Bm25Retriever::open(folder, Config::default()).unwrap()
}

fn filled(folder: &Path, library: &SkillLibrary) -> Bm25Retriever {
    let index = open(folder);
    block_on(library.refresh(&index)).unwrap();
    index
}

fn watermark(index: &Bm25Retriever) -> u64 {
    block_on(index.watermark()).unwrap().0
}

/// What many queries find, scores and ties included.
fn answers(index: &Bm25Retriever) -> Vec<Vec<Candidate>> {
    let query = |seed: u64| {
        let ids = || (0..400).filter(|id| id % 3 == seed % 3);
        let among = || {
            ids()
                .map(|id| SkillId::new(format!("s{id}")))
                .collect::<Vec<_>>()
        };
        let limit = [1, 5, 20, 1_000][seed as usize % 4];
        Query::new(text(Seed(9_000 + seed), 1 + seed % 6), limit)
            .with_among(seed.is_multiple_of(5).then(among))
    };
    (0..80)
        .map(|seed| block_on(index.search(&query(seed))).unwrap())
        .collect()
}

fn in_memory(library: &SkillLibrary) -> Bm25Retriever {
    let index = Bm25Retriever::new(Config::default()).unwrap();
    block_on(library.refresh(&index)).unwrap();
    index
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap().map(|one| one.unwrap().path());
    let mut files: Vec<_> = entries.filter(|path| path.is_file()).collect();
    files.sort();
    files
}

#[test]
fn conformance_in_a_folder() -> Result<()> {
    let folder = tempdir().unwrap();
    let count = std::cell::Cell::new(0);
    let fresh = async || {
        count.set(count.get() + 1);
        let index = open(&folder.path().join(count.get().to_string()));
        Ok(Arc::new(index) as Arc<dyn Retriever>)
    };
    let report = block_on(conformance::retriever::check(fresh)).into_result()?;
    assert_eq!(report.skipped().count(), 0, "{report}");
    Ok(())
}

/// Over a random history, reopened now and then: the same bits as in memory, made at once.
#[test]
fn on_disk_as_in_memory() {
    let folder = tempdir().unwrap();
    let mut library = library("first", 60);
    let mut index = filled(folder.path(), &library);
    for round in 0..60_u64 {
        let seed = Seed(round);
        let id = seed.derive("id", 0).index(60).unwrap() as u64;
        revise(&mut library, id, 500 + round);
        if seed.derive("reopen", 0).unit() < 0.2 {
            index = open(folder.path());
            assert!(watermark(&index) > 0);
        }
        if seed.derive("refresh", 0).unit() < 0.7 {
            block_on(library.refresh(&index)).unwrap();
        }
    }
    block_on(library.refresh(&index)).unwrap();
    assert_eq!(watermark(&index), library.revision().0);
    let due = answers(&in_memory(&library));
    assert_eq!(answers(&index), due);
    drop(index);
    let again = open(folder.path());
    assert_eq!(watermark(&again), library.revision().0);
    assert_eq!(answers(&again), due);
    let ties = due.iter().flatten().collect::<Vec<_>>();
    assert!(ties.windows(2).any(|pair| pair[0].score == pair[1].score));
}

/// F9.
#[test]
fn a_deleted_index_is_made_anew() {
    let folder = tempdir().unwrap();
    let path = folder.path().join("index");
    let mut library = library("first", 300);
    let index = filled(&path, &library);
    let before = answers(&index);
    drop(index);
    fs::remove_dir_all(&path).unwrap();
    let index = filled(&path, &library);
    assert_eq!(answers(&index), before, "between runs");
    // While it runs: searches go on, and the next refresh makes it anew.
    fs::remove_dir_all(&path).unwrap();
    assert_eq!(answers(&index), before, "after it was deleted");
    revise(&mut library, 7, 1_000);
    block_on(library.refresh(&index)).unwrap();
    let after = answers(&in_memory(&library));
    assert_eq!(answers(&index), after);
    assert_eq!(answers(&open(&path)), after);
    assert_ne!(after, before);
}

/// F3: any file cut or changed, or gone, is found on opening, kept aside, and what is searched is right.
#[test]
fn damage_is_found_and_mended() {
    let mut library = library("first", 40);
    let origin = tempdir().unwrap();
    let index = filled(origin.path(), &library);
    revise(&mut library, 3, 700);
    block_on(library.refresh(&index)).unwrap();
    let due = answers(&index);
    drop(index);
    let mut mended = 0;
    for (number, file) in (0..).zip(files(origin.path())) {
        for round in 0..5_u64 {
            let folder = copy(origin.path());
            let target = folder.path().join(file.file_name().unwrap());
            let is_lock = target.extension().is_some_and(|end| end == "lock");
            let seed = Seed(round).derive("file", number);
            match round {
                0 => fs::remove_file(&target).unwrap(),
                _ => fs::write(&target, damaged(fs::read(&target).unwrap(), seed)).unwrap(),
            }
            let index = open(folder.path());
            let at = watermark(&index);
            assert!([0, 2].contains(&at), "{target:?} {round}: {at}");
            if at == 0 {
                mended += 1;
                assert!(!is_lock, "{target:?}");
                let aside = files(&folder.path().join("damaged"));
                let is_aside = aside.iter().any(|one| one.file_name() == file.file_name());
                assert!(is_aside || round == 0, "{target:?}: {aside:?}");
            }
            block_on(library.refresh(&index)).unwrap();
            assert_eq!(answers(&index), due, "{target:?} {round}");
        }
    }
    assert!(mended > 30, "only {mended}");
}

fn damaged(mut bytes: Vec<u8>, seed: Seed) -> Vec<u8> {
    let Some(at) = seed.derive("at", 0).index(bytes.len()) else {
        return vec![1];
    };
    if seed.derive("cut", 0).unit() < 0.3 {
        bytes.truncate(at);
    } else {
        bytes[at] ^= 1 << seed.derive("bit", 0).index(8).unwrap();
    }
    bytes
}

fn copy(from: &Path) -> TempDir {
    let to = tempdir().unwrap();
    for file in files(from) {
        fs::copy(&file, to.path().join(file.file_name().unwrap())).unwrap();
    }
    to
}

#[test]
fn a_folder_given_to_another_library_is_made_anew() {
    let folder = tempdir().unwrap();
    let (mut one, mut other) = (library("one", 50), library("other", 20));
    revise(&mut one, 1, 800);
    revise(&mut one, 2, 801);
    let index = filled(folder.path(), &one);
    let stray = other.update_since(Revision(1)).unwrap();
    let refused = block_on(index.refresh(&stray)).unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::Invalid);
    // Fewer commits, as many, and more.
    for round in [810, 820, 830] {
        block_on(one.refresh(&index)).unwrap();
        block_on(other.refresh(&index)).unwrap();
        assert_eq!(answers(&index), answers(&in_memory(&other)));
        assert_eq!(answers(&open(folder.path())), answers(&index));
        revise(&mut other, 4, round);
        revise(&mut other, 5, round + 1);
    }
}

/// Two retrievers over one folder, as two processes have them.
#[test]
fn one_refreshes_and_the_other_takes_it_in() {
    let folder = tempdir().unwrap();
    let mut library = library("first", 50);
    let (one, two) = (filled(folder.path(), &library), open(folder.path()));
    let before = answers(&two);
    revise(&mut library, 9, 900);
    block_on(library.refresh(&one)).unwrap();
    assert_eq!(answers(&two), before);
    assert_eq!(watermark(&two), 2);
    assert_eq!(answers(&two), answers(&one));
    // One that knows less of the library changes nothing.
    let behind = self::library("first", 50);
    block_on(behind.refresh(&two)).unwrap();
    assert_eq!(watermark(&two), 2);
    let started = std::sync::Barrier::new(3);
    std::thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| {
                let index = open(folder.path());
                let mut library = library.clone();
                started.wait();
                for round in 0..5 {
                    revise(&mut library, round, 910 + round);
                    // Where the others took too long, it says so and takes in the same the next time.
                    while let Err(error) = block_on(library.refresh(&index)) {
                        assert_eq!(error.kind(), ErrorKind::Unavailable, "{error}");
                    }
                }
                assert_eq!(watermark(&index), 7);
            });
        }
    });
    (0..5).for_each(|round| revise(&mut library, round, 910 + round));
    assert_eq!(watermark(&one), 7);
    assert_eq!(answers(&one), answers(&in_memory(&library)));
}

#[test]
fn a_library_that_was_put_back_is_indexed_anew() {
    // Refreshed before it is as far again as the index was, when it is, after, and long after; filled step by step, and
    // at once, of few commits and of many.
    let cases = [(3, 1), (3, 3), (3, 7), (3, 3_000), (400, 1), (400, 400)];
    for (before, further) in cases {
        let folder = tempdir().unwrap();
        let mut library = library("first", 20);
        let backup = library.clone();
        let index = filled(folder.path(), &library);
        for n in 1..=before {
            revise(&mut library, n % 20, 100 + n);
            if before < 10 {
                block_on(library.refresh(&index)).unwrap();
            }
        }
        block_on(library.refresh(&index)).unwrap();
        let mut library = backup;
        for n in 1..=further {
            revise(&mut library, n % 7, 10_000 + n);
        }
        block_on(library.refresh(&index)).unwrap();
        let other = tempdir().unwrap();
        let anew = filled(other.path(), &library);
        assert_eq!(answers(&index), answers(&anew), "{before}, {further}");
        assert_eq!(watermark(&index), library.revision().0);
    }
}

#[test]
fn what_a_person_keeps_there_is_left_alone() {
    let folder = tempdir().unwrap();
    fs::write(folder.path().join("notes.txt"), "mine").unwrap();
    let library = library("first", 5);
    drop(filled(folder.path(), &library));
    fs::write(folder.path().join("meta.json"), "{").unwrap();
    assert_eq!(watermark(&open(folder.path())), 0);
    let notes = fs::read_to_string(folder.path().join("notes.txt")).unwrap();
    assert_eq!(notes, "mine");
    let file = folder.path().join("notes.txt");
    let refused = Bm25Retriever::open(&file, Config::default()).unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::Unavailable);
    assert!(refused.to_string().contains("hint"), "{refused}");
}

#[test]
fn an_update_without_skills_moves_the_watermark() {
    let folder = tempdir().unwrap();
    let library = library("first", 5);
    let index = filled(folder.path(), &library);
    let update = IndexUpdate::new(Revision(1), Revision(9))
        .edited(|it| it.library = library.origin().cloned());
    block_on(index.refresh(&update)).unwrap();
    assert_eq!(watermark(&index), 9);
    // It is not worth a write: opened again, the index asks once more.
    assert_eq!(watermark(&open(folder.path())), 1);
}
