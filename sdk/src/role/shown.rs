//! Formats tasks, attempts, skills and rules for the prompt of a role. All of it is data, in blocks that it cannot close
//! (S3, S4).

use std::ops::Range;

use super::{extent::Extent, shown_steps::step_lines};
use crate::{
    contract::{BundleCounts, Experience, Finding, Refinable, Taught},
    domain::{EndReason, Kind, Lesson, Role, RoleRule, Scope, Skill, Task, Trace},
    text::{clipped, fenced},
};

/// The greatest length of a judge's evidence in a prompt, in characters.
const EVIDENCE_CHARS: usize = 600;
/// The greatest length of an item of a list in a prompt, in characters.
const ITEM_CHARS: usize = 500;

/// The scope that holds everywhere.
pub(super) const GENERAL: &str = "general";
/// What stands before the category of a scope.
pub(super) const CATEGORY: &str = "category:";

/// A text on one line.
pub(super) fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The task in a block, at most `most` characters of it.
pub(super) fn task(label: &str, task: &Task, most: usize) -> String {
    fenced(label, &clipped(&task.instruction, most))
}

/// The steps of an attempt in a block of this label, without its task and without what was judged of it.
pub(super) fn steps(label: &str, trace: &Trace, steps: Range<usize>, most: usize) -> String {
    fenced(label, &step_lines(trace, steps, most))
}

/// An attempt in a block of this label, without its task.
pub(super) fn attempt(label: &str, trace: &Trace, most: usize) -> String {
    let all = 0..trace.trajectory.steps.len();
    let mut text = format!("{}\n{}", outcome(trace), steps(label, trace, all, most));
    let evidence = trace.verdict.iter().flat_map(|verdict| verdict.evidence());
    let evidence: Vec<&str> = evidence.map(String::as_str).collect();
    if !evidence.is_empty() {
        let evidence = clipped(&evidence.join("\n"), EVIDENCE_CHARS.min(most * 3 / 2));
        text.push_str(&format!(
            "\nWhat the judgement rests on:\n{}",
            fenced("evidence", &evidence)
        ));
    }
    text
}

/// The attempts, numbered from 1, the first the most useful, each with its task where `with_tasks` is set.
pub(super) fn attempts(traces: &[Trace], with_tasks: bool, extent: Extent) -> String {
    let numbered = (1..).zip(traces.iter().take(extent.count));
    let shown = numbered.map(|(number, trace)| {
        let task = match with_tasks {
            true => task(&format!("task-{number}"), &trace.task, extent.task) + "\n",
            false => String::new(),
        };
        let attempt = attempt(&format!("attempt-{number}"), trace, extent.chars);
        format!("Attempt {number}\n{task}{attempt}")
    });
    noted(shown.collect(), traces.len(), "\n\n")
}

/// Items of a list, with a note of how many of `all` are left out.
pub(super) fn noted(mut shown: Vec<String>, all: usize, between: &str) -> String {
    let left_out = all.saturating_sub(shown.len());
    if left_out > 0 {
        shown.push(format!("[{left_out} more are left out]"));
    }
    shown.join(between)
}

/// The outcome of an attempt, in fixed words, so that no text of the block can pass for the outcome.
pub(super) fn outcome(trace: &Trace) -> String {
    let success = trace.verdict.as_ref().and_then(|verdict| verdict.success());
    let done = match success {
        Some(true) => "The task was done",
        Some(false) => "The task was not done",
        None => "Nobody could tell whether the task was done",
    };
    let score = trace
        .verdict
        .as_ref()
        .map(|verdict| format!(" (score {:.2})", verdict.score()));
    let end = match &trace.trajectory.end {
        EndReason::Finished => "",
        EndReason::GaveUp => " The agent gave up.",
        EndReason::StepBudget => " The agent used up its steps.",
        EndReason::Deadline => " The agent used up its time.",
        EndReason::Unreadable => " What the agent wrote last could not be read.",
        EndReason::ContextLength { .. } => " The agent's context was used up.",
        EndReason::Failed(_) => " A part of the system failed.",
    };
    format!("{done}{}.{end}", score.unwrap_or_default())
}

/// The name of a skill in a prompt.
pub(super) fn name(skill: &Skill) -> &str {
    (skill.original_name.as_deref()).unwrap_or(skill.name.as_str())
}

/// A whole skill, since a skill that is to be refined or judged must not be cut.
pub(super) fn skill(skill: &Skill) -> String {
    skill_as(name(skill), skill)
}

/// A whole skill under the library's name, by which a call finds it: two skills may have the same original name.
pub(super) fn skill_of_library(skill: &Skill) -> String {
    skill_as(skill.name.as_str(), skill)
}

fn skill_as(name: &str, skill: &Skill) -> String {
    let trigger = match &skill.trigger {
        Some(trigger) => format!("\ntrigger: {trigger}"),
        None => String::new(),
    };
    let Skill {
        description, body, ..
    } = skill;
    format!("name: {name}\ndescription: {description}{trigger}\n\n{body}")
}

/// A scope as a prompt names it.
pub(super) fn scope(scope: &Scope) -> String {
    match scope {
        Scope::General => GENERAL.to_owned(),
        Scope::Category(category) => format!("{CATEGORY}{}", one_line(category.as_str())),
    }
}

/// A skill's kind, scope and tools, and the scopes and tools that a refiner may give it.
pub(super) fn interface(skill: &Skill, attempts: &[Trace]) -> String {
    let refinable = Refinable::of(skill, attempts);
    let kind = match skill.kind {
        Kind::Function => "function",
        Kind::Workflow => "workflow",
        Kind::Knowledge => "knowledge",
    };
    let scopes = refinable.categories.into_iter();
    let scopes = scopes.map(|category| Scope::Category(category.clone()));
    let scopes = [Scope::General].into_iter().chain(scopes);
    let own = skill.allowed_tools.iter().map(|tool| one_line(tool));
    let tools = refinable.tools.into_iter().map(one_line);
    let lines = [
        format!("kind: {kind}"),
        format!("scope: {}", scope(&skill.scope)),
        format!("tools: {}", listed(own)),
        format!(
            "scopes that it may have: {}",
            listed(scopes.map(|one| scope(&one)))
        ),
        format!("tools that it may have: {}", listed(tools)),
    ];
    fenced("interface", &lines.join("\n"))
}

fn listed(names: impl Iterator<Item = String>) -> String {
    let names: Vec<String> = names.collect();
    match names.is_empty() {
        true => "none".to_owned(),
        false => names.join(", "),
    }
}

/// Texts of skills, each clipped and in its own block.
pub(super) fn skills(texts: &[&str], count: usize, most: usize) -> String {
    let blocks = (1..).zip(texts.iter().take(count));
    let blocks =
        blocks.map(|(number, text)| fenced(&format!("skill-{number}"), &clipped(text, most)));
    match texts.is_empty() {
        true => "There are none.".to_owned(),
        false => noted(blocks.collect(), texts.len(), "\n"),
    }
}

/// Lines of a list, in a block.
pub(super) fn list<'a>(label: &str, items: impl Iterator<Item = &'a str>) -> String {
    let item = |item: &str| {
        let line = one_line(item);
        let line: String = line.chars().take(ITEM_CHARS).collect();
        format!("- {line}")
    };
    let items: Vec<String> = items.map(item).collect();
    match items.is_empty() {
        true => "There are none.".to_owned(),
        false => fenced(label, &items.join("\n")),
    }
}

/// Rules, as a list.
pub(super) fn rules(rules: &[RoleRule]) -> String {
    list("rules", rules.iter().map(|rule| rule.as_str()))
}

/// A role, in words.
pub(super) fn part(role: Role) -> &'static str {
    match role {
        Role::Summarize => "summarize: writes one skill from the successful attempts at a task",
        Role::Extract => "extract: writes a skill from a single attempt",
        Role::Refactor => "refactor: writes the skill that attempts at several tasks share",
        Role::Refine => "refine: mends a skill from what attempts with it showed",
        Role::Attribute => "attribute: says what a skill did to an attempt",
        Role::Bundle => "bundle: cuts an attempt into the test cases of a skill",
        Role::Evolve => "evolve: finds rules for another part",
        Role::Segment => "segment: cuts an attempt into subgoals",
        Role::DistilPrototype => {
            "distil-prototype: says what the subgoals of a cluster have in common"
        }
        Role::Route => "route: finds the prototype that a subgoal belongs to",
        Role::Score => "score: scores a subgoal from 0 to 3",
        Role::Curate => "curate: decides on changes of the library after an attempt",
        Role::Tag => "tag: names the skills that a task needs",
        Role::Lesson => "lesson: says what a failed attempt teaches",
        Role::DistilBank => "distil-bank: writes the skills of a bank from patterns and lessons",
        Role::Review => "review: judges the text of a skill from 0 to 3",
    }
}

/// The versions that a role made, with the results of each: the newest ones, the oldest of them first.
pub(super) fn rows(rows: &[Experience], extent: Extent) -> String {
    let newest = rows.get(rows.len().saturating_sub(extent.count)..);
    let newest = newest.unwrap_or_default();
    let shown = (1..).zip(newest).map(|(number, row)| {
        let bundle = match row.bundle {
            Some(BundleCounts { passed, cases }) => {
                format!("passes {passed} of {cases} test cases")
            }
            None => "never tested".to_owned(),
        };
        let before = row.before.map_or_else(String::new, |before| {
            let (helpful, harmful) = (before.helpful, before.harmful);
            format!("; the version before it: helpful {helpful}, harmful {harmful}")
        });
        format!(
            "Row {number}: helpful {}, harmful {}, neither {}; {bundle}{before}; now {}\n{}",
            row.helpful,
            row.harmful,
            row.other,
            one_line(&row.fate),
            fenced(
                &format!("skill-{number}"),
                &clipped(&skill(&row.skill), extent.chars)
            ),
        )
    });
    match rows.is_empty() {
        true => "There is nothing yet.".to_owned(),
        false => noted(shown.collect(), rows.len(), "\n\n"),
    }
}

/// A skill of a bank, in the bank's words (SkillRL 3.2).
pub(super) fn bank_skill(skill: &Skill) -> String {
    let title = name(skill);
    let Skill {
        description, body, ..
    } = skill;
    format!("title: {title}\nwhen_to_apply: {description}\nprinciple: {body}")
}

/// Patterns and lessons, numbered from 1.
pub(super) fn findings(findings: &[Finding], extent: Extent) -> String {
    let numbered = (1..).zip(findings.iter().take(extent.count));
    let shown = numbered.map(|(number, one)| {
        let task = one_line(&one.task);
        let (kind, text) = match &one.taught {
            Taught::Pattern(pattern) => (
                "the pattern of a success",
                format!("task: {task}\npattern: {pattern}"),
            ),
            Taught::Lesson(Lesson {
                step,
                flawed,
                should,
                principle,
            }) => (
                "the lesson of a failure",
                format!(
                    "task: {task}\nfailed at step: {step}\nflawed: {flawed}\nshould: {should}\nprinciple: {principle}"
                ),
            ),
        };
        let block = fenced(&format!("finding-{number}"), &clipped(&text, extent.chars));
        format!("Finding {number}, {kind}:\n{block}")
    });
    noted(shown.collect(), findings.len(), "\n\n")
}
