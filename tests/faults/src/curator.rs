//! F8's other side: a process that writes to the skills that a person edits.

use std::{
    io::{self, Read as _, Write as _},
    sync::atomic::{AtomicBool, Ordering},
    time::Duration,
};

use futures::executor::block_on;
use journeyman::{
    Result, Seed, SkillId,
    contract::{SkillStore, SkillStoreExt},
    domain::{Cause, Commit, LibraryChange, Origin, SkillName, State},
    library::SkillLibrary,
};
use journeyman_disk::{DiskOptions, DiskStore};

use crate::report::Outcome;

/// Skills that the curator and the person both write.
pub(crate) const SKILLS: u64 = 5;

/// The skill that a seed draws.
pub(crate) fn id_of(seed: Seed) -> SkillId {
    let which = seed.derive("skill", 0).index(SKILLS as usize).unwrap_or(0);
    SkillId::new(format!("s{which}"))
}

/// Commits one change, on whatever others have written meanwhile.
///
/// # Errors
/// Those of the store; other writers are none.
pub(crate) fn commit(store: &DiskStore, key: &str, change: LibraryChange) -> Result<()> {
    let commit = Commit::new(
        block_on(store.load())?.revision,
        key,
        Cause::new("a curator's"),
        vec![change],
    );
    block_on(store.commit_rebased(&commit, u32::MAX)).map(drop)
}

/// A process that revises, renames and moves the skills until its input ends: `curator ROOT SEED`. It says each revision
/// that was acknowledged.
///
/// # Errors
/// A wrong call, and those of the store.
pub(crate) fn curate(arguments: &[String]) -> Outcome {
    static ENDED: AtomicBool = AtomicBool::new(false);
    let [root, seed] = arguments else {
        return Err("curator ROOT SEED".into());
    };
    let seed = Seed(seed.parse()?);
    std::thread::spawn(|| {
        let _ = io::stdin().read_to_end(&mut Vec::new());
        ENDED.store(true, Ordering::SeqCst);
    });
    let store = DiskStore::open(root, &DiskOptions::default())?;
    let mut seen = SkillLibrary::new();
    let mut number = 0;
    while !ENDED.load(Ordering::SeqCst) {
        let seed = seed.derive("write", number);
        for committed in block_on(store.since(seen.revision()))? {
            seen.apply(&committed)?;
        }
        let id = id_of(seed);
        let current = &seen.get(&id).ok_or("no such skill")?.skill;
        // What was decided on the library as it was is committed some time after.
        std::thread::sleep(Duration::from_millis((seed.unit() * 40.0) as u64));
        let key = format!("curator/{number}");
        if seed.derive("state", 0).unit() < 0.3 {
            let state = match seed.derive("which", 0).index(4) {
                Some(0) => State::Disabled,
                Some(1) => State::Quarantined,
                _ => State::Active,
            };
            let reason = "a curator's".to_owned();
            let skill = id;
            commit(
                &store,
                &key,
                LibraryChange::SetState {
                    skill,
                    state,
                    reason,
                },
            )?;
        } else {
            let mut revised = current.clone();
            revised.version = current.version.next();
            revised.body = format!("Machine's {number}.");
            revised.provenance.origin = Origin::Summary;
            revised.parents = vec![current.reference()];
            if seed.derive("name", 0).unit() < 0.2 {
                revised.name = SkillName::slug(&format!("{id} {number}")).unwrap_or_default();
            }
            let version = revised.version;
            commit(&store, &key, LibraryChange::Revise(Box::new(revised)))?;
            writeln!(io::stdout(), "kept {key} {id} {version}")?;
        }
        number += 1;
    }
    Ok(())
}
