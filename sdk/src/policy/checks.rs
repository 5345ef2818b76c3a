//! Rules for the decisions of policies, ours and a host's own. Runs check them, and so do the conformance suites.

use std::collections::{BTreeMap, BTreeSet};

use crate::{
    domain::{Candidate, LibraryChange, Role, Selection, SkillRef, Trace},
    error::{Error, Result},
    policy::{Assessed, GroupAttempt, SkillCredit, View, Written, view::Selected},
};

/// Checks that a selector looked at offered skills alone, at each once, by finite scores, and made as many selections as it may.
///
/// # Errors
/// `Invalid`, with the skill or the number.
pub(crate) fn selected(selected: &Selected, view: &View) -> Result<()> {
    let chosen = selected.selections.iter().flat_map(Selection::skills);
    let looked_at = selected.candidates.iter().map(|one| &one.skill);
    offered(chosen.chain(looked_at), view)?;
    sound_candidates(&selected.candidates)?;
    counted_selections(selected, view)
}

/// Checks that the score of each candidate is finite, and that no skill is among them twice.
///
/// # Errors
/// `Invalid`, with the skill.
pub(crate) fn sound_candidates(candidates: &[Candidate]) -> Result<()> {
    let refused = |one: &Candidate, message: &'static str| {
        Err(Error::invalid("SelectProgram::select", message).with("skill", &one.skill.id))
    };
    let mut known = BTreeSet::new();
    for one in candidates {
        if !one.score.is_finite() {
            return refused(one, "the score of a candidate is not finite");
        }
        if !known.insert(&one.skill) {
            return refused(one, "a skill is among the candidates twice");
        }
    }
    Ok(())
}

/// Checks that there is one selection, or one for each attempt at the task.
///
/// # Errors
/// `Invalid`, with the number.
pub(crate) fn counted_selections(selected: &Selected, view: &View) -> Result<()> {
    let (made, attempts) = (selected.selections.len(), view.context().group);
    if made == 1 || u32::try_from(made).is_ok_and(|made| made == attempts) {
        return Ok(());
    }
    let message = "it makes one selection, or one for each attempt";
    Err(Error::invalid("SelectProgram::select", message)
        .with("selections", made)
        .with("attempts", attempts))
}

/// Checks that skills are offered.
///
/// # Errors
/// `Invalid`, with the skill.
pub(crate) fn offered<'a>(
    skills: impl IntoIterator<Item = &'a SkillRef>,
    view: &View,
) -> Result<()> {
    let context = view.context();
    let is_offered = |skill: &SkillRef| {
        let entry = context.library.get(&skill.id);
        entry.is_some_and(|entry| entry.skill.version == skill.version && context.offers(entry))
    };
    match skills.into_iter().find(|&skill| !is_offered(skill)) {
        None => Ok(()),
        Some(other) => Err(Error::invalid(
            "SelectProgram::select",
            "it chose a skill that is not offered",
        )
        .with("skill", &other.id)
        .with("version", other.version)
        .hint("choose among `View::offered`")),
    }
}

/// Checks that a writer hands on the answer of one curation at most: the report of a task has one.
///
/// # Errors
/// `Invalid`, with the number.
pub(crate) fn one_curation(written: &Written) -> Result<()> {
    let replies = written.replies().iter();
    let curations = replies.filter(|one| one.task.role() == Role::Curate);
    match curations.count() {
        0 | 1 => Ok(()),
        several => {
            let message = "it hands on the answers of more than one curation";
            Err(Error::invalid("WriteProgram::write", message)
                .with("curations", several)
                .hint("ask the curator once for a task"))
        }
    }
}

/// Checks that an assessment is one of the attempt that was given, and that the library can keep it; and the process score.
///
/// # Errors
/// `Invalid`, with what is wrong.
pub(crate) fn assessed(assessed: &Assessed, attempt: &Trace) -> Result<()> {
    let invalid = |message: &'static str| Error::invalid("AssessProgram::assess", message);
    let Assessed {
        assessment,
        process,
    } = assessed;
    let given = (&attempt.trajectory.attempt, &attempt.task.id);
    if (&assessment.attempt, &assessment.task) != given {
        return Err(invalid("the assessment is of another attempt")
            .with("attempt", &assessment.attempt)
            .with("task", &assessment.task)
            .hint("take both from the attempt that the assessor is given"));
    }
    LibraryChange::Assess(Box::new(assessment.clone())).validate()?;
    match process.filter(|process| !(0.0..=1.0).contains(process)) {
        None => Ok(()),
        Some(wrong) => Err(invalid("the process score is not in [0, 1]").with("process", wrong)),
    }
}

/// Checks that a reward is finite.
///
/// # Errors
/// `Invalid`.
pub(crate) fn finite_reward(reward: f64) -> Result<()> {
    match reward.is_finite() {
        true => Ok(()),
        false => Err(Error::invalid(
            "RewardRule::reward",
            "the reward is not finite",
        )),
    }
}

/// Checks that credits are finite.
///
/// # Errors
/// `Invalid`, with the skill and the attempt.
pub(crate) fn finite_credits(credits: &[SkillCredit]) -> Result<()> {
    let infinite = credits.iter().find(|credit| !credit.reward.is_finite());
    infinite.map_or(Ok(()), |credit| refused(credit, "the credit is not finite"))
}

/// Checks that each credit is for a skill that the attempt was given, or names the group's first attempt for a skill that one of
/// the group was given, and that none is given twice.
///
/// # Errors
/// `Invalid`, with the skill and the attempt.
pub(crate) fn exposed(credits: &[SkillCredit], group: &[GroupAttempt]) -> Result<()> {
    let first = group.first().map(|one| &one.report.attempt);
    let mut known = BTreeSet::new();
    for credit in credits {
        let of_group = first == Some(&credit.attempt);
        let mut given = given(&credit.skill, group);
        if !given.any(|one| of_group || one.report.attempt == credit.attempt) {
            return refused(credit, "the attempt was not given this skill");
        }
        if !known.insert((&credit.skill, &credit.attempt)) {
            return refused(credit, "the skill is credited twice for this attempt");
        }
    }
    Ok(())
}

/// Checks the number of attempts that each credit is for, where the skill was given: at least one; more than one only for a credit
/// that names the group's first attempt; and all credits of a skill together for no more attempts than get credit for it. A credit
/// that is given twice counts once here ([`exposed`] refuses it).
///
/// # Errors
/// `Invalid`, with the skill and the attempt.
pub(crate) fn counted(credits: &[SkillCredit], group: &[GroupAttempt]) -> Result<()> {
    let first = group.first().map(|one| &one.report.attempt);
    let (mut known, mut uses) = (BTreeSet::new(), BTreeMap::<&SkillRef, u64>::new());
    for credit in credits {
        let is_given = given(&credit.skill, group).next().is_some();
        if !is_given || !known.insert((&credit.skill, &credit.attempt)) {
            continue;
        }
        if credit.uses == 0 {
            return refused(credit, "the credit is for no attempt");
        }
        if credit.uses > 1 && first != Some(&credit.attempt) {
            let message = "a credit for several attempts names the first of the group";
            return refused(credit, message);
        }
        let total = uses.entry(&credit.skill).or_default();
        *total = total.saturating_add(credit.uses);
        let credited = group.iter();
        let credited = credited.filter(|one| one.credited.contains(&credit.skill));
        if *total > credited.count() as u64 {
            let message = "the credits are for more attempts than get credit for the skill";
            return refused(credit, message);
        }
    }
    Ok(())
}

/// The attempts of a group that were given a skill.
fn given<'a>(
    skill: &'a SkillRef,
    group: &'a [GroupAttempt],
) -> impl Iterator<Item = &'a GroupAttempt> {
    let group = group.iter();
    group.filter(move |one| one.report.injected.contains(skill))
}

fn refused(credit: &SkillCredit, message: &'static str) -> Result<()> {
    Err(Error::invalid("CreditRule::credits", message)
        .with("skill", &credit.skill.id)
        .with("attempt", &credit.attempt))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{domain::Skill, id::Version, testing::sample};

    /// Three attempts: the first was given no skill, the second both, the third one.
    fn group() -> (Vec<GroupAttempt>, [SkillRef; 2]) {
        let skills = [sample::skill("one"), sample::skill("two")];
        let given: [&[Skill]; 3] = [&[], &skills, &skills[..1]];
        let attempts = (0..).zip(given).map(|(number, given): (u32, _)| {
            GroupAttempt::new(sample::attempt_report(&format!("a{number}"), given, true))
        });
        let attempts: Vec<GroupAttempt> = attempts.collect();
        (attempts, skills.map(|skill| skill.reference()))
    }

    fn credit(skill: &SkillRef, attempt: &str, uses: u64) -> SkillCredit {
        SkillCredit {
            skill: skill.clone(),
            attempt: attempt.into(),
            reward: 1.0,
            uses,
        }
    }

    #[test]
    fn all_credits_of_a_skill_are_for_no_more_attempts_than_get_credit_for_it() {
        let (mut group, [one, two]) = group();
        let check = |group: &[GroupAttempt], credits: &[SkillCredit], refusal: Option<&str>| {
            let counted = counted(credits, group).err();
            let message = counted.as_ref().map(Error::message);
            assert_eq!(message, refusal, "{credits:?}");
        };
        check(
            &group,
            &[credit(&one, "a0", 2), credit(&two, "a0", 1)],
            None,
        );
        let each = [credit(&one, "a1", 1), credit(&one, "a2", 1)];
        check(&group, &each, None);
        check(
            &group,
            &[credit(&one, "a1", 0)],
            Some("the credit is for no attempt"),
        );
        check(
            &group,
            &[credit(&one, "a1", 2)],
            Some("a credit for several attempts names the first of the group"),
        );
        let many = Some("the credits are for more attempts than get credit for the skill");
        check(&group, &[credit(&one, "a0", 3)], many);
        check(&group, &[credit(&two, "a0", 2)], many);
        let twice = [credit(&one, "a0", 2), credit(&one, "a1", 1)];
        check(&group, &twice, many);
        let huge = [credit(&one, "a0", u64::MAX), credit(&one, "a1", 1)];
        check(&group, &huge, many);
        // An attempt that did not use the skill gets no credit for it.
        group[2].credited.clear();
        check(&group, &[credit(&one, "a0", 1)], None);
        check(&group, &each, many);
        // A skill that was not given is the matter of another check.
        let elsewhere = SkillRef {
            id: "elsewhere".into(),
            version: Version(1),
        };
        check(&group, &[credit(&elsewhere, "a1", 9)], None);
        assert!(exposed(&[credit(&elsewhere, "a1", 9)], &group).is_err());
    }

    #[test]
    fn candidates_have_finite_scores_and_are_there_once() {
        let candidate = |name: &str, score| Candidate {
            skill: sample::skill(name).reference(),
            score,
        };
        let check = |candidates: &[Candidate], refusal: Option<&str>| {
            let sound = sound_candidates(candidates).err();
            assert_eq!(sound.as_ref().map(Error::message), refusal);
        };
        check(&[candidate("one", 1.0), candidate("two", 1.0)], None);
        for score in [f64::NAN, f64::INFINITY] {
            check(
                &[candidate("one", 1.0), candidate("two", score)],
                Some("the score of a candidate is not finite"),
            );
        }
        check(
            &[candidate("one", 1.0), candidate("one", 0.5)],
            Some("a skill is among the candidates twice"),
        );
    }
}
