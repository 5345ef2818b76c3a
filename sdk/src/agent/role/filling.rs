//! The filling of the slots of a role's prompt.

use crate::{
    agent::role::{shown, visible::Extent},
    contract::RoleTask,
    domain::{Role, RoleRule},
    id::Category,
    library::format::AriseSchema,
    text::fenced,
};

/// A prototype among those to choose from may have this fraction of the length of a task, one in so many.
const PROTOTYPE_PART: usize = 5;

/// The filling of a slot.
pub(super) fn fill(extent: Extent, arise: &AriseSchema, task: &RoleTask, slot: &str) -> String {
    let filled = of_any_role(extent, task, slot)
        .or_else(|| of_writing(extent, task, slot))
        .or_else(|| of_assessing(extent, task, slot))
        .or_else(|| of_curating(extent, task, slot));
    filled.unwrap_or_else(|| limit(arise, slot))
}

/// Tasks, attempts, and the skills that an attempt had.
fn of_any_role(extent: Extent, task: &RoleTask, slot: &str) -> Option<String> {
    let most = extent.chars;
    let first = task.attempts().first();
    match (slot, task) {
        ("task", RoleTask::Tag { task }) => Some(shown::task("task", task, extent.task)),
        ("task", _) => first.map(|trace| shown::task("task", &trace.task, extent.task)),
        // Who cuts an attempt or curates after it is told nothing of the verdict (SCRIBE D; SkillOS, architecture).
        ("attempt", RoleTask::Segment { attempt, .. } | RoleTask::Curate { attempt, .. }) => {
            let all = 0..attempt.trajectory.steps.len();
            Some(shown::steps("attempt", attempt, all, most))
        }
        ("attempt", _) => first.map(|trace| shown::attempt("attempt", trace, most)),
        ("attempts", _) => {
            // The attempts of a summary are all at one task.
            let with_tasks = task.role() != Role::Summarize;
            Some(shown::attempts(task.attempts(), with_tasks, extent))
        }
        ("given", _) => {
            let asked = match task {
                RoleTask::Attribute { skill, .. } => Some(*skill),
                _ => None,
            };
            let given = first
                .into_iter()
                .flat_map(|trace| &trace.trajectory.injection.skills);
            let others = given.enumerate().filter(|(index, _)| Some(*index) != asked);
            let others: Vec<&str> = others.map(|(_, skill)| skill.text.as_str()).collect();
            Some(shown::skills(&others, extent.skills, most))
        }
        _ => None,
    }
}

/// Roles that write skills, judge them or find rules.
fn of_writing(extent: Extent, task: &RoleTask, slot: &str) -> Option<String> {
    Some(match (slot, task) {
        (
            "rules",
            RoleTask::Extract { rules, .. }
            | RoleTask::Refactor { rules, .. }
            | RoleTask::Refine { rules, .. }
            | RoleTask::Evolve { rules, .. },
        ) => shown::rules(rules),
        (
            "skill",
            RoleTask::Refine { skill, .. }
            | RoleTask::Bundle { skill, .. }
            | RoleTask::Review { skill },
        ) => fenced("skill", &shown::skill(skill)),
        ("skill", RoleTask::Attribute { attempt, skill }) => {
            let asked = attempt.trajectory.injection.skills.get(*skill);
            fenced("skill", asked.map_or("", |asked| &asked.text))
        }
        (
            "interface",
            RoleTask::Refine {
                skill, attempts, ..
            },
        ) => shown::interface(skill, attempts),
        ("skills", RoleTask::Refactor { skills, .. }) => {
            let texts: Vec<String> = skills.iter().map(shown::skill).collect();
            let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
            shown::skills(&texts, extent.skills, extent.chars)
        }
        ("reason", RoleTask::Refactor { reason, .. }) => fenced("reason", reason),
        ("failures", RoleTask::Refine { failures, .. }) => {
            shown::list("failures", failures.iter().map(String::as_str))
        }
        ("role", RoleTask::Evolve { role, .. }) => shown::part(*role).to_owned(),
        ("rows", RoleTask::Evolve { rows, .. }) => shown::rows(rows, extent),
        ("most_rules", _) => RoleRule::MOST.to_string(),
        ("rule_chars", _) => RoleRule::MAX.to_string(),
        _ => return None,
    })
}

/// Roles of SCRIBE.
fn of_assessing(extent: Extent, task: &RoleTask, slot: &str) -> Option<String> {
    let most = extent.chars;
    Some(match (slot, task) {
        ("wording", RoleTask::Segment { prompt, .. }) => shown::wording(*prompt).to_owned(),
        ("members", RoleTask::DistilPrototype { members }) => shown::members(members, extent),
        ("subgoal", RoleTask::Route { subgoal, .. } | RoleTask::Score { subgoal, .. }) => {
            shown::subgoal("", subgoal, most)
        }
        ("before", RoleTask::Route { subgoal, .. } | RoleTask::Score { subgoal, .. }) => {
            shown::before(subgoal, most)
        }
        ("prototypes", RoleTask::Route { prototypes, .. }) => {
            shown::prototypes(prototypes, extent.task / PROTOTYPE_PART)
        }
        ("rubric", RoleTask::Score { rubric, .. }) => shown::rubric(rubric.as_deref()),
        _ => return None,
    })
}

/// Roles of SkillOS and SkillRL.
fn of_curating(extent: Extent, task: &RoleTask, slot: &str) -> Option<String> {
    // What replaces a text of a skill must be written in view of all of it.
    let whole = |texts: Vec<String>| {
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        shown::skills(&texts, extent.skills, usize::MAX)
    };
    Some(match (slot, task) {
        ("correct", RoleTask::Curate { correct, .. }) => judgement(*correct).to_owned(),
        ("skills", RoleTask::Curate { skills, .. }) => {
            whole(skills.iter().map(shown::skill_of_library).collect())
        }
        ("category", RoleTask::DistilBank { category, .. }) => kind_of_bank(category.as_ref()),
        ("findings", RoleTask::DistilBank { findings, .. }) => shown::findings(findings, extent),
        ("skills", RoleTask::DistilBank { skills, .. }) => {
            whole(skills.iter().map(shown::bank_skill).collect())
        }
        _ => return None,
    })
}

/// Whether an attempt did its task, in fixed words.
fn judgement(correct: Option<bool>) -> &'static str {
    match correct {
        Some(true) => "It is judged to be done.",
        Some(false) => "It is judged not to be done.",
        None => "That is not known.",
    }
}

/// Which skills of a bank are written (SkillRL 3.2).
fn kind_of_bank(category: Option<&Category>) -> String {
    match category {
        None => "General skills: strategies that hold at every kind of task in this environment. They are about how to explore, \
                 how to keep track of a state and of what must hold before an action, how to keep to the goal and to know that \
                 it is reached. What holds for one kind of task alone is none."
            .to_owned(),
        Some(category) => format!(
            "Skills for one kind of task alone:\n{}\nThey say what belongs to this kind: the order of actions, what must hold \
             beforehand, its own mistakes and shortcuts. What holds at every kind of task is none of them.",
            fenced("category", category.as_str())
        ),
    }
}

/// The filling of the slots with a summary's types and lengths.
fn limit(arise: &AriseSchema, slot: &str) -> String {
    let limits = &arise.limits;
    match slot {
        "problem_types" => arise.problem_types.names().join(", "),
        "total_chars" => limits.total.to_string(),
        "name_chars" => limits.name.to_string(),
        "insight_chars" => limits.insight.to_string(),
        "step_chars" => limits.step.to_string(),
        "check_chars" => limits.check.to_string(),
        "steps" => format!("{} to {}", limits.steps.start(), limits.steps.end()),
        _ => String::new(),
    }
}
