//! Whether two answers of a role come to the same.

use std::collections::BTreeSet;

use journeyman::contract::RoleAnswer;
use journeyman::domain::{SkillDraft, ToolCall};
use serde_json::Value;

use crate::general::skills::read;

/// Whether an answer comes to the same as the true one: the same calls and values in a skill, the same judgement, the same
/// spans, the same choice. Words that only explain may differ.
#[must_use]
pub fn agrees(truth: &RoleAnswer, answer: &RoleAnswer) -> bool {
    match (truth, answer) {
        (RoleAnswer::Draft(truth), RoleAnswer::Draft(draft)) => same_skill(truth, draft),
        (RoleAnswer::Nothing(_), RoleAnswer::Nothing(_)) => true,
        (
            RoleAnswer::Credit { judgement: one, .. },
            RoleAnswer::Credit {
                judgement: other, ..
            },
        ) => one == other,
        (RoleAnswer::Cases(one), RoleAnswer::Cases(other)) => {
            same_set(one, other, |case| (format!("{:?}", case.kind), case.from))
        }
        (RoleAnswer::Rules(one), RoleAnswer::Rules(other)) => one == other,
        (
            RoleAnswer::Segments {
                segmentation: one, ..
            },
            RoleAnswer::Segments {
                segmentation: other,
                repaired,
            },
        ) => {
            let spans = |all: &journeyman::domain::Segmentation| {
                let spans = all.subgoals().iter();
                let spans = spans.map(|one| (one.first, one.last, one.skill.clone()));
                spans.collect::<Vec<_>>()
            };
            !repaired && spans(one) == spans(other)
        }
        (RoleAnswer::Rubric(one), RoleAnswer::Rubric(other)) => {
            one.title == other.title && one.checklist == other.checklist
        }
        (
            RoleAnswer::Routed { prototype: one, .. },
            RoleAnswer::Routed {
                prototype: other, ..
            },
        ) => one == other,
        (RoleAnswer::Scored { score: one, .. }, RoleAnswer::Scored { score: other, .. }) => {
            one == other
        }
        (RoleAnswer::Calls(one), RoleAnswer::Calls(other)) => {
            one.len() == other.len()
                && one
                    .iter()
                    .zip(other)
                    .all(|(one, other)| same_call(one, other))
        }
        (RoleAnswer::Tags(one), RoleAnswer::Tags(other)) => same_set(one, other, String::clone),
        (RoleAnswer::Lesson(one), RoleAnswer::Lesson(other)) => {
            one.step == other.step && one.principle == other.principle
        }
        (
            RoleAnswer::Reviewed { quality: one, .. },
            RoleAnswer::Reviewed { quality: other, .. },
        ) => one == other,
        (RoleAnswer::Bank(one), RoleAnswer::Bank(other)) => {
            same_set(one, other, |one| (one.refines, one.draft.body.clone()))
        }
        _ => false,
    }
}

/// Whether what matters of both lists is the same, in any order.
fn same_set<T, K: Ord>(one: &[T], other: &[T], key: impl Fn(&T) -> K) -> bool {
    let set = |list: &[T]| list.iter().map(&key).collect::<BTreeSet<K>>();
    set(one) == set(other)
}

/// Skills of numbered calls are compared by what they do, others by their bodies.
fn same_skill(truth: &SkillDraft, draft: &SkillDraft) -> bool {
    match (read(&truth.body), read(&draft.body)) {
        (Some(one), Some(other)) => one.does_the_same(&other),
        (None, None) => truth.body == draft.body,
        _ => false,
    }
}

fn same_call(one: &ToolCall, other: &ToolCall) -> bool {
    let text = |call: &ToolCall, key: &str| {
        let value = call.arguments.get(key).and_then(Value::as_str);
        value.map(str::to_owned)
    };
    let recipe = |call: &ToolCall| text(call, "body").and_then(|body| read(&body));
    one.tool == other.tool
        && text(one, "skill") == text(other, "skill")
        && match (recipe(one), recipe(other)) {
            (Some(one), Some(other)) => one.does_the_same(&other),
            (None, None) => true,
            _ => false,
        }
}
