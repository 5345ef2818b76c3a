//! What must hold for every parsed answer.

use crate::{
    contract::{RoleAnswer, RoleTask},
    domain::{Role, RoleRule, Segmentation, SkillDraft},
    testing::conformance::report::{Tried, require},
};

/// Checks the rules of the contract for every parsed answer.
pub(super) fn sound(task: &RoleTask, answer: &RoleAnswer) -> Tried {
    let role = task.role();
    require(is_of(task, answer), || {
        format!("expected an answer to this task of the role {role}, found {answer:?}")
    })?;
    match (answer, task) {
        (RoleAnswer::Draft(draft) | RoleAnswer::Revision { draft, .. }, _) => whole(role, draft),
        (RoleAnswer::Cases(cases), RoleTask::Bundle { attempt, .. }) => {
            let steps = attempt.trajectory.steps.len();
            let late = cases.iter().find(|case| case.from >= steps);
            require(late.is_none(), || {
                format!(
                    "{role}: expected cases that begin before step {steps}, the end, found {late:?}"
                )
            })
        }
        (RoleAnswer::Rules(rules), _) => few_and_short(role, rules),
        (RoleAnswer::Segments { segmentation, .. }, RoleTask::Segment { attempt, .. }) => {
            let steps = attempt.trajectory.steps.len();
            let covers = Segmentation::new(segmentation.subgoals().to_vec(), steps);
            require(covers.is_ok(), || {
                let spans = segmentation.subgoals().iter();
                let found: Vec<_> = spans.map(|one| (one.first, one.last)).collect();
                format!(
                    "{role}: expected subgoals that have each of the {steps} steps once, found {found:?}"
                )
            })
        }
        (RoleAnswer::Rubric(rubric), _) => require(!rubric.checklist.is_empty(), || {
            format!("{role}: expected a checklist of at least one line, found none")
        }),
        (
            RoleAnswer::Routed {
                prototype,
                confidence: sure,
            },
            RoleTask::Route { prototypes, .. },
        ) => {
            let count = prototypes.len();
            require(prototype.is_none_or(|index| index < count), || {
                format!("{role}: expected one of {count} prototypes, found {prototype:?}")
            })?;
            require((0.0..=1.0).contains(sure), || {
                format!("{role}: expected a confidence from 0 to 1, found {sure}")
            })
        }
        (RoleAnswer::Lesson(lesson), RoleTask::Lesson { attempt }) => {
            let (step, steps) = (lesson.step, attempt.trajectory.steps.len());
            require(step < steps, || {
                format!("{role}: expected one of the {steps} steps of the attempt, found {step}")
            })
        }
        (RoleAnswer::Bank(drafts), RoleTask::DistilBank { skills, .. }) => {
            let count = skills.len();
            drafts.iter().try_for_each(|one| {
                require(one.refines.is_none_or(|index| index < count), || {
                    let refines = one.refines;
                    format!("{role}: expected one of {count} skills to refine, found {refines:?}")
                })?;
                whole(role, &one.draft)
            })
        }
        (RoleAnswer::Reviewed { quality, .. }, _) => require((0.0..=1.0).contains(quality), || {
            format!("{role}: expected a quality from 0 to 1, found {quality}")
        }),
        _ => Ok(()),
    }
}

/// Whether an answer is one to this task.
fn is_of(task: &RoleTask, answer: &RoleAnswer) -> bool {
    let role = task.role();
    match answer {
        RoleAnswer::Draft(_) | RoleAnswer::Nothing(_) => matches!(
            role,
            Role::Summarize | Role::Extract | Role::Refactor | Role::Refine
        ),
        RoleAnswer::Revision { .. } | RoleAnswer::Archive(_) => {
            matches!(task, RoleTask::Refine { whole: true, .. })
        }
        RoleAnswer::Credit { .. } => role == Role::Attribute,
        RoleAnswer::Cases(_) => role == Role::Bundle,
        RoleAnswer::Rules(_) => role == Role::Evolve,
        RoleAnswer::Segments { .. } => role == Role::Segment,
        RoleAnswer::Rubric(_) => role == Role::DistilPrototype,
        RoleAnswer::Routed { .. } => role == Role::Route,
        RoleAnswer::Scored { .. } => role == Role::Score,
        RoleAnswer::Calls(_) => role == Role::Curate,
        RoleAnswer::Tags(_) => role == Role::Tag,
        RoleAnswer::Lesson(_) => role == Role::Lesson,
        RoleAnswer::Bank(_) => role == Role::DistilBank,
        RoleAnswer::Reviewed { .. } => role == Role::Review,
    }
}

/// A draft with a description and a body.
fn whole(role: Role, draft: &SkillDraft) -> Tried {
    let length = draft.description.chars().count();
    require((1..=1_024).contains(&length), || {
        format!("{role}: expected a description of 1 to 1024 characters, found {length}")
    })?;
    require(!draft.body.trim().is_empty(), || {
        format!("{role}: expected a body, found only white space")
    })
}

fn few_and_short(role: Role, rules: &[RoleRule]) -> Tried {
    require(rules.len() <= RoleRule::MOST, || {
        format!(
            "{role}: expected at most {} rules, found {}",
            RoleRule::MOST,
            rules.len()
        )
    })?;
    let short = |rule: &RoleRule| rule.as_str().chars().count() <= RoleRule::MAX;
    require(rules.iter().all(short), || {
        let longest = rules.iter().map(|rule| rule.as_str().chars().count()).max();
        format!(
            "{role}: expected rules of at most {} characters, found one of {}",
            RoleRule::MAX,
            longest.unwrap_or_default()
        )
    })
}
