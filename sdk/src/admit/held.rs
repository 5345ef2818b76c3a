//! Held updates: where a recipe tests skills before their release, a curator's update of a skill in use is a draft beside it
//! until it has passed (HiSME Eq. 13; row H6).

use crate::{
    domain::{LibraryChange, Origin, Skill, State},
    format::SkillMd,
    id::{SkillId, Version},
    library::{Entry, SkillLibrary},
    text::brief,
};

/// Characters of the reason that a refused draft is kept with.
const REASON: usize = 500;

/// The id of the entry that holds the draft of a skill's next version. A skill has at most one: a later update takes the place
/// of one that waits.
fn draft_id(skill: &SkillId) -> SkillId {
    SkillId::new(format!("{skill}-draft"))
}

/// The change that keeps the next version of a skill as a draft; `None` where another skill has the draft's id, or somebody
/// took the draft into use.
pub(crate) fn hold(library: &SkillLibrary, next: Skill) -> Option<LibraryChange> {
    let id = draft_id(&next.id);
    let before = library.get(&id);
    let is_of = |before: &Entry| {
        let parent = before.skill.parents.first();
        let is_out = matches!(before.skill.state, State::Draft | State::Archived);
        is_out && parent.is_some_and(|parent| parent.id == next.id)
    };
    if before.is_some_and(|before| !is_of(before)) {
        return None;
    }
    let draft = Box::new(Skill {
        version: before.map_or(Version(1), |before| before.skill.version.next()),
        id,
        state: State::Draft,
        ..next
    });
    Some(match before {
        Some(_) => LibraryChange::Revise(draft),
        None => LibraryChange::Add(draft),
    })
}

/// The change that keeps a next version that was refused, with the reason; `None` where a draft waits that was not tested yet, or another
/// skill has the draft's id.
pub(crate) fn refused_draft(
    library: &SkillLibrary,
    next: &Skill,
    reason: &str,
) -> Option<LibraryChange> {
    let before = library.get(&draft_id(&next.id));
    let waits = |before: &Entry| {
        held_for(library, before).is_some() && !library.is_handled(&fingerprint(&before.skill))
    };
    if before.is_some_and(waits) {
        return None;
    }
    let mut next = next.clone();
    let key = SkillMd::REFUSED.to_owned();
    // A host's error may be part of the reason: it is made one line that a SKILL.md can hold.
    let visible: String = reason.chars().filter(|char| !char.is_control()).collect();
    next.metadata.insert(key, brief(&visible, REASON));
    SkillMd::from(&next).write().ok()?;
    hold(library, next)
}

/// The fingerprint of a draft's test.
pub(crate) fn fingerprint(draft: &Skill) -> String {
    format!("draft/{}/{}", draft.id, draft.version)
}

/// The skill in use whose next version an entry holds; `None` for an entry that is no such draft, and where the skill is not
/// in use any more.
pub(crate) fn held_for<'a>(library: &'a SkillLibrary, draft: &Entry) -> Option<&'a Entry> {
    let Skill {
        id,
        state,
        provenance,
        parents,
        ..
    } = &draft.skill;
    let parent = &parents.first()?.id;
    let is_draft =
        *state == State::Draft && provenance.origin == Origin::Curated && *id == draft_id(parent);
    let known = is_draft.then(|| library.get(parent)).flatten()?;
    (known.skill.state == State::Active).then_some(known)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{domain::HandledMark, testing::sample};

    fn library(skills: Vec<Skill>, more: Vec<LibraryChange>) -> SkillLibrary {
        let added = skills
            .into_iter()
            .map(|skill| LibraryChange::Add(Box::new(skill)));
        let changes = added.chain(more).collect();
        SkillLibrary::replay(&[sample::committed(1, changes)]).unwrap()
    }

    fn next() -> Skill {
        Skill {
            version: Version(2),
            parents: vec![sample::skill("report").reference()],
            ..sample::skill("report")
        }
    }

    /// The draft that a curator wrote of the skill.
    fn draft() -> Skill {
        let mut draft = Skill {
            id: "report-draft".into(),
            version: Version(1),
            state: State::Draft,
            ..next()
        };
        draft.provenance.origin = Origin::Curated;
        draft
    }

    #[test]
    fn a_refused_version_is_kept_with_its_reason_and_takes_no_other_skills_place() {
        let kept = |library: &SkillLibrary| refused_draft(library, &next(), "a case fails");
        let report = sample::skill("report");
        let Some(LibraryChange::Add(added)) = kept(&library(vec![report.clone()], Vec::new()))
        else {
            panic!("it is added")
        };
        assert_eq!(
            (added.state, added.id.as_str()),
            (State::Draft, "report-draft")
        );
        assert_eq!(added.metadata[SkillMd::REFUSED], "a case fails");
        // A host's own skill of that id, and a draft that somebody took into use.
        let own = sample::skill("report-draft");
        assert_eq!(kept(&library(vec![report.clone(), own], Vec::new())), None);
        let used = Skill {
            state: State::Active,
            ..draft()
        };
        assert_eq!(kept(&library(vec![report.clone(), used], Vec::new())), None);
        // A curator's draft waits for its test, and gives way behind it.
        let waiting = library(vec![report.clone(), draft()], Vec::new());
        assert_eq!(kept(&waiting), None);
        let handled = LibraryChange::Handled {
            fingerprint: HandledMark::done(fingerprint(&draft())),
        };
        let tested = library(vec![report, draft()], vec![handled]);
        assert!(matches!(kept(&tested), Some(LibraryChange::Revise(_))));
    }
}
