//! Formats tasks, attempts, skills and rules for the prompt of a role. All of it is data, in blocks that it cannot close
//! (S3, S4).

use std::ops::Range;

use crate::{
    contract::{BundleCounts, Experience, Finding, Taught},
    domain::{Action, EndReason, Lesson, Role, RoleRule, Skill, Step, Task, Trace},
    text::fenced,
};

/// The least length that a tool's result may have in an attempt, in characters.
const LEAST_RESULT: usize = 80;
/// A tool's result may have this fraction of the length of its attempt, one in so many, or the least length if that is more.
const RESULT_PART: usize = 5;
/// The greatest length of a task in a prompt, in characters.
const TASK_CHARS: usize = 4_000;
/// The greatest length of a judge's evidence in a prompt, in characters.
const EVIDENCE_CHARS: usize = 600;
/// The greatest length of an item of a list in a prompt, in characters.
const ITEM_CHARS: usize = 500;

/// A text of at most about `most` characters: of a longer one the first two thirds and the last third of that length, since
/// errors are often at the end.
pub(super) fn clipped(text: &str, most: usize) -> String {
    let count = text.chars().count();
    if count <= most {
        return text.to_owned();
    }
    let tail = most / 3;
    let head: String = text.chars().take(most - tail).collect();
    let end: String = text.chars().skip(count - tail).collect();
    format!("{head}\n[{} more characters]\n{end}", count - most)
}

/// A text on one line.
pub(super) fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The task in a block.
pub(super) fn task(label: &str, task: &Task) -> String {
    fenced(label, &clipped(&task.instruction, TASK_CHARS))
}

/// The steps of an attempt in a block of this label, without its task and without what was judged of it.
pub(super) fn steps(label: &str, trace: &Trace, steps: Range<usize>, most: usize) -> String {
    fenced(label, &clipped(&step_lines(trace, steps, most), most))
}

/// An attempt in a block of this label, without its task.
pub(super) fn attempt(label: &str, trace: &Trace, most: usize) -> String {
    let all = 0..trace.trajectory.steps.len();
    let mut text = format!("{}\n{}", outcome(trace), steps(label, trace, all, most));
    let evidence = trace.verdict.iter().flat_map(|verdict| verdict.evidence());
    let evidence: Vec<&str> = evidence.map(String::as_str).collect();
    if !evidence.is_empty() {
        let evidence = clipped(&evidence.join("\n"), EVIDENCE_CHARS);
        text.push_str(&format!(
            "\nWhat the judgement rests on:\n{}",
            fenced("evidence", &evidence)
        ));
    }
    text
}

/// The attempts, numbered from 1, each with its task where `with_tasks` is set.
pub(super) fn attempts(traces: &[Trace], with_tasks: bool, count: usize, most: usize) -> String {
    let shown = (1..).zip(traces.iter().take(count)).map(|(number, trace)| {
        let task = match with_tasks {
            true => task(&format!("task-{number}"), &trace.task) + "\n",
            false => String::new(),
        };
        let attempt = attempt(&format!("attempt-{number}"), trace, most);
        format!("Attempt {number}\n{task}{attempt}")
    });
    shown.collect::<Vec<_>>().join("\n\n")
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
        EndReason::Failed(_) => " A part of the system failed.",
    };
    format!("{done}{}.{end}", score.unwrap_or_default())
}

/// Each of these steps with its number from 0 and its result. Further lines of a text are indented, so that none can pass for
/// a step.
fn step_lines(trace: &Trace, range: Range<usize>, most: usize) -> String {
    let result_chars = (most / RESULT_PART).max(LEAST_RESULT);
    let indented = |text: &str| {
        let lines: Vec<&str> = text.trim().lines().collect();
        lines.join("\n    ")
    };
    let mut text = String::new();
    let first = trace.trajectory.steps.first();
    let seen = first.map_or("", |step| step.observation.text.trim());
    let from_the_beginning = range.start == 0;
    if from_the_beginning && !seen.is_empty() && seen != trace.task.instruction.trim() {
        text.push_str(&format!(
            "seen at first: {}\n",
            indented(&clipped(seen, result_chars))
        ));
    }
    let steps = trace.trajectory.steps.iter().enumerate();
    for (number, step) in steps.filter(|(number, _)| range.contains(number)) {
        let mark = if step.result.is_error { "error: " } else { "" };
        let did = indented(&did(step));
        let result = indented(&clipped(&step.result.text, result_chars));
        text.push_str(&format!("{number}. {did}\n=> {mark}{result}\n"));
    }
    match text.is_empty() {
        true => "no step was taken".to_owned(),
        false => text,
    }
}

/// The action of a step, in the words of the agent's transcript where it has one.
fn did(step: &Step) -> String {
    if !step.transcript.trim().is_empty() {
        return step.transcript.trim().to_owned();
    }
    match &step.action {
        Action::Call(calls) => {
            let calls = calls.iter().map(|call| {
                let arguments = serde_json::Value::from(call.arguments.clone());
                format!("{} {arguments}", call.tool)
            });
            calls.collect::<Vec<_>>().join("; ")
        }
        Action::Message(text) => text.clone(),
        Action::EndTurn => "end the turn".to_owned(),
    }
}

/// The name of a skill in a prompt.
pub(super) fn name(skill: &Skill) -> &str {
    (skill.original_name.as_deref()).unwrap_or(skill.name.as_str())
}

/// A whole skill, since a skill that is to be refined must not be cut.
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

/// Texts of skills, each clipped and in its own block.
pub(super) fn skills<'a>(texts: impl Iterator<Item = &'a str>, most: usize) -> String {
    let blocks = (1..).zip(texts);
    let blocks: Vec<String> = blocks
        .map(|(number, text)| fenced(&format!("skill-{number}"), &clipped(text, most)))
        .collect();
    match blocks.is_empty() {
        true => "There are none.".to_owned(),
        false => blocks.join("\n"),
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
    }
}

/// The versions that a role made, with the results of each.
pub(super) fn rows(rows: &[Experience], count: usize, most: usize) -> String {
    let shown = (1..).zip(rows.iter().take(count)).map(|(number, row)| {
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
                &clipped(&skill(&row.skill), most)
            ),
        )
    });
    let shown: Vec<String> = shown.collect();
    match shown.is_empty() {
        true => "There is nothing yet.".to_owned(),
        false => shown.join("\n\n"),
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
pub(super) fn findings(findings: &[Finding], count: usize, most: usize) -> String {
    let shown = (1..).zip(findings.iter().take(count)).map(|(number, one)| {
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
        let block = fenced(&format!("finding-{number}"), &clipped(&text, most));
        format!("Finding {number}, {kind}:\n{block}")
    });
    shown.collect::<Vec<_>>().join("\n\n")
}
