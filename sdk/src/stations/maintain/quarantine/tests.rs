//! The harm that ends a trial in quarantine, and words of a release.

use super::*;
use crate::{
    domain::{Attribution, Origin, Skill, SkillRef},
    library::SkillLibrary,
    testing::sample,
};

fn skill() -> Skill {
    let mut skill = sample::skill("one");
    skill.provenance.origin = Origin::Summary;
    skill.taint = Taint::Tainted;
    skill
}

/// An exposure of a version to an attempt, with its outcome.
fn exposed(version: u64, attempt: &str, used: SkillUse, success: bool) -> LibraryChange {
    LibraryChange::Expose {
        skill: SkillRef {
            version: version.into(),
            ..skill().reference()
        },
        attempt: attempt.into(),
        injected: true,
        used,
        outcome: Some(ExposureOutcome {
            task: attempt.into(),
            success,
            refused: 0,
        }),
    }
}

fn judged(version: u64, attempt: &str, judgement: Judgement) -> LibraryChange {
    LibraryChange::Attribute(Attribution {
        skill: SkillRef {
            version: version.into(),
            ..skill().reference()
        },
        attempt: attempt.into(),
        task: attempt.into(),
        judgement,
        scope: String::new(),
        reason: "a test".to_owned(),
    })
}

/// The harm of evidence that the library has, and of evidence that comes.
fn check(known: Vec<LibraryChange>, coming: &[LibraryChange], expect: Option<&str>) {
    let mut changes = vec![LibraryChange::Add(Box::new(skill()))];
    changes.extend(known);
    let committed = sample::committed(1, changes);
    let library = SkillLibrary::replay(&[committed]).expect("it folds");
    let entry = library.get(&skill().id).expect("it is there");
    assert!(entry.awaits_evidence());
    assert_eq!(harm(entry, coming).as_deref(), expect);
}

#[test]
fn what_the_library_knows_and_what_comes_count_together() {
    use SkillUse::{Followed, NotFollowed, Unknown};
    let done = |attempt| exposed(1, attempt, Followed, true);
    let failed = |attempt| exposed(1, attempt, Followed, false);
    check(Vec::new(), &[], None);
    let once = "with it 1 attempts failed and 0 succeeded";
    check(Vec::new(), &[failed("a")], Some(once));
    check(vec![failed("a")], &[], Some(once));
    check(vec![done("a")], &[failed("b")], None);
    let twice = "with it 2 attempts failed and 1 succeeded";
    check(vec![done("a"), failed("b")], &[failed("c")], Some(twice));
    check(vec![failed("a")], &[done("b")], None);
    // What is unknown may have followed it, unless a role says that it did nothing.
    check(Vec::new(), &[exposed(1, "a", Unknown, false)], Some(once));
    check(Vec::new(), &[exposed(1, "a", NotFollowed, false)], None);
    // Of another version it says nothing.
    check(Vec::new(), &[exposed(2, "a", Followed, false)], None);
}

#[test]
fn one_harmful_judgement_suffices() {
    let harmful = || judged(1, "a", Judgement::Harmful);
    let why = "an attempt with it was judged harmful";
    check(vec![harmful()], &[], Some(why));
    check(Vec::new(), &[harmful()], Some(why));
    let helpful = |attempt| judged(1, attempt, Judgement::Helpful);
    check(vec![helpful("b"), helpful("c")], &[harmful()], Some(why));
    check(vec![helpful("b")], &[helpful("c")], None);
    check(Vec::new(), &[judged(2, "a", Judgement::Harmful)], None);
}

#[test]
fn a_release_says_why_it_was_held() {
    let reason = |skill: Skill| {
        let add = vec![LibraryChange::Add(Box::new(skill.clone()))];
        let library = SkillLibrary::replay(&[sample::committed(1, add)]).expect("it folds");
        let entry = library.get(&skill.id).expect("it is there");
        match release(entry, "it went well".to_owned()) {
            LibraryChange::Release { reason, .. } => reason,
            other => panic!("{other:?}"),
        }
    };
    let imported = Origin::Imported;
    let mut clean = sample::skill("one");
    clean.provenance.origin = imported;
    assert_eq!(
        reason(clean),
        "it went well; it was in quarantine, since it was imported"
    );
    assert_eq!(
        reason(skill()),
        "it went well; it was in quarantine, since it is tainted"
    );
    let on_trial = Skill {
        state: State::Trial,
        ..skill()
    };
    assert_eq!(reason(on_trial), "it went well");
}
