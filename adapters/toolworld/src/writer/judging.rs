//! Reads answers that judge a skill, or cut an attempt into cases.

use journeyman::Result;
use journeyman::contract::{CaseDraft, RoleAnswer};
use journeyman::domain::{CaseKind, Judgement, SkillUse, Step, Trace};

use super::unusable::{clip, unusable};
use crate::roles::Credit;

/// The names of an attempt's subgoals.
const SUBGOALS: [&str; 5] = ["probe", "prepare", "collect", "stray", "finish"];

pub(super) fn credit(attempt: &Trace, skill: usize, text: &str) -> Result<RoleAnswer> {
    let mut all = Credit::ALL.into_iter();
    let Some(credit) = all.find(|credit| credit.word() == text.trim()) else {
        let message = "the answer is none of helpful, harmful, neutral and uncertain";
        return Err(unusable(message, text));
    };
    let steps = attempt.trajectory.steps.iter();
    let refused: Vec<&Step> = steps.filter(|step| step.result.is_error).collect();
    let scope = match (credit, refused.as_slice()) {
        // With a single refusal, the harmful step is certain.
        (Credit::Harmful, [step]) => format!("step {}", step.index + 1),
        _ => String::new(),
    };
    Ok(RoleAnswer::Credit {
        judgement: match credit {
            Credit::Helpful => Judgement::Helpful,
            Credit::Harmful => Judgement::Harmful,
            Credit::Neutral => Judgement::Neutral,
            Credit::Uncertain => Judgement::Uncertain,
        },
        scope,
        reason: reason(attempt, skill, &refused),
    })
}

/// The reason, taken from the attempt: the model gives none.
fn reason(attempt: &Trace, skill: usize, refused: &[&Step]) -> String {
    let asked = attempt.trajectory.injection.skills.get(skill);
    let mut exposures = attempt.trajectory.exposures.iter();
    let seen = exposures.find(|seen| asked.is_some_and(|it| it.skill == seen.skill));
    let followed = match seen.map_or(SkillUse::NotFollowed, |seen| seen.used) {
        SkillUse::Followed => "followed",
        SkillUse::NotFollowed => "not followed",
        SkillUse::Unknown => "not known whether followed",
    };
    let refused = match refused {
        [] => "no call was refused".to_owned(),
        [first, ..] => format!(
            "{} of {} calls refused, first step {}: {}",
            refused.len(),
            attempt.trajectory.steps.len(),
            first.index + 1,
            clip(&first.result.text)
        ),
    };
    let judged = attempt
        .verdict
        .as_ref()
        .and_then(|verdict| verdict.success());
    let outcome = attempt.trajectory.outcome.as_ref();
    let done = match judged.or(outcome.map(|outcome| outcome.success)) {
        Some(true) => "the task was done",
        Some(false) => "the task was not done",
        None => "nobody could tell whether the task was done",
    };
    format!("{followed}; {refused}; {done}")
}

/// Two cases: the part that finishes the task, and the whole task.
pub(super) fn cases(attempt: &Trace, text: &str) -> Result<RoleAnswer> {
    let steps = attempt.trajectory.steps.len();
    let Some(spans) = spans(text, steps) else {
        let message = format!(
            "the answer does not cut the {steps} steps into probe, prepare, collect, stray and finish"
        );
        return Err(unusable(message, text));
    };
    let finish = spans.iter().find(|(subgoal, _)| *subgoal == "finish");
    let unit = finish.map(|(_, from)| CaseDraft {
        kind: CaseKind::Unit,
        from: *from,
        about: format!(
            "finishes the task from step {} on, once what came before and was accepted is done",
            from + 1
        ),
    });
    let whole = CaseDraft {
        kind: CaseKind::Integration,
        from: 0,
        about: "does the whole task".to_owned(),
    };
    Ok(RoleAnswer::Cases(unit.into_iter().chain([whole]).collect()))
}

/// Each subgoal with its first step, from 0; `None` unless together they cover all steps in order.
fn spans(text: &str, steps: usize) -> Option<Vec<(&str, usize)>> {
    let mut spans = Vec::new();
    let mut next = 1;
    for span in text.trim().split("; ") {
        let mut words = span.split(' ');
        let subgoal = words.next().filter(|word| SUBGOALS.contains(word))?;
        let first: usize = words.next()?.parse().ok()?;
        let last: usize = words.next()?.parse().ok()?;
        if words.next().is_some() || first != next || !(first..=steps).contains(&last) {
            return None;
        }
        spans.push((subgoal, first - 1));
        next = last + 1;
    }
    (next == steps + 1).then_some(spans)
}
