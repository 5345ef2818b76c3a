//! Formats tasks, attempts, skills and rules for the prompt of a role. All of it is data, in blocks that it cannot close
//! (S3, S4).

use std::ops::Range;

use crate::{
    agent::role::visible::Extent,
    contract::{
        BundleCounts, Experience, Finding, Refinable, SegmentPrompt, SubgoalInAttempt, Taught,
    },
    domain::{
        Action, EndReason, Kind, Lesson, ObservationKind, Prototype, Role, RoleRule, Rubric, Scope,
        Skill, Step, StepResult, Task, Trace,
    },
    text::{actions_in_brief, brief, clipped, fenced},
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

// Formats the steps of an attempt for the prompt of a role. A long attempt is compacted and not cut off: first the results of
// its oldest steps are shortened, then its oldest steps lose their results, then steps behind the first ones are left out,
// with a note. Numbers of steps stay as they are. What came back is a line behind its step: `=> ` for a result, `user: ` for words
// of the dialogue's user, `event: ` for something that happened without the agent.

/// The least length that a tool's result may have in an attempt, in characters.
const LEAST_RESULT: usize = 80;
/// A tool's result may have this fraction of the length of its attempt, one in so many, or the least length if that is more.
const RESULT_PART: usize = 5;
/// The length of a step's action in a compacted attempt, in characters.
const ACTION_CHARS: usize = 160;
/// The number of first steps that are left out last.
const FIRST: usize = 3;

/// How much of a step is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Detail {
    Nothing,
    Action,
    Short,
    Whole,
}

/// These steps of an attempt, each with its number from 0 and its result, in about `most` characters. Further lines of a text
/// are indented, so that none can pass for a step.
pub(super) fn step_lines(trace: &Trace, range: Range<usize>, most: usize) -> String {
    let result_chars = (most / RESULT_PART).max(LEAST_RESULT);
    let beginning = beginning(trace, &range, result_chars);
    let all = trace.trajectory.steps.iter().enumerate();
    let steps: Vec<(usize, &Step)> = all.filter(|(number, _)| range.contains(number)).collect();
    let room = most.saturating_sub(beginning.chars().count());
    let details = fitted(&steps, room, result_chars);
    let mut text = beginning;
    let mut gap: Vec<(usize, &Step)> = Vec::new();
    for ((number, step), detail) in steps.iter().zip(details) {
        if detail == Detail::Nothing {
            gap.push((*number, step));
            continue;
        }
        text.push_str(&gap_line(&std::mem::take(&mut gap)));
        text.push_str(&line(*number, step, detail, result_chars));
    }
    text.push_str(&gap_line(&gap));
    match text.is_empty() {
        true => "no step was taken".to_owned(),
        // The newest step alone can be too long.
        false => clipped(&text, most),
    }
}

/// What was seen before the first step, where the task does not say it.
fn beginning(trace: &Trace, range: &Range<usize>, result_chars: usize) -> String {
    let first = trace.trajectory.steps.first();
    let seen = first.map_or("", |step| step.observation.text.trim());
    match range.start == 0 && !seen.is_empty() && seen != trace.task.instruction.trim() {
        true => format!(
            "seen at first: {}\n",
            indented(&clipped(seen, result_chars))
        ),
        false => String::new(),
    }
}

/// The greatest detail of each step with which all fit, the oldest losing theirs first.
fn fitted(steps: &[(usize, &Step)], room: usize, result_chars: usize) -> Vec<Detail> {
    let size = |place: usize, detail: Detail| {
        let step = steps.get(place);
        step.map_or(0, |(number, step)| {
            line(*number, step, detail, result_chars).chars().count()
        })
    };
    let mut details = vec![Detail::Whole; steps.len()];
    let mut total: usize = (0..steps.len())
        .map(|place| size(place, Detail::Whole))
        .sum();
    let older = 0..steps.len().saturating_sub(1);
    let behind_the_first = older.clone().skip(FIRST).chain(older.clone().take(FIRST));
    let cuts = (older.clone().map(|place| (place, Detail::Short)))
        .chain(older.map(|place| (place, Detail::Action)))
        .chain(behind_the_first.map(|place| (place, Detail::Nothing)));
    for (place, detail) in cuts {
        if total <= room {
            break;
        }
        if let Some(current) = details.get_mut(place)
            && detail < *current
        {
            total = (total + size(place, detail)).saturating_sub(size(place, *current));
            *current = detail;
        }
    }
    details
}

fn line(number: usize, step: &Step, detail: Detail, result_chars: usize) -> String {
    let mark = mark(&step.result);
    let result = step.result.text.as_str();
    match detail {
        Detail::Nothing => String::new(),
        Detail::Action => {
            let did = brief(&action(step), ACTION_CHARS);
            let failed = if step.result.is_error {
                "=> error\n"
            } else {
                ""
            };
            format!("{number}. {did}\n{failed}")
        }
        Detail::Short => {
            let (did, result) = (
                brief(&action(step), ACTION_CHARS),
                brief(result, LEAST_RESULT),
            );
            format!("{number}. {did}\n{mark}{result}\n")
        }
        Detail::Whole => {
            let did = indented(&did(step));
            let result = indented(&clipped(result, result_chars));
            format!("{number}. {did}\n{mark}{result}\n")
        }
    }
}

/// What stands before what came back. Whose words they are is not for the words to say.
fn mark(result: &StepResult) -> &'static str {
    match result.kind {
        ObservationKind::User => "user: ",
        ObservationKind::Event => "event: ",
        _ if result.is_error => "=> error: ",
        _ => "=> ",
    }
}

/// The note in place of steps that are left out.
fn gap_line(gap: &[(usize, &Step)]) -> String {
    let (Some((first, _)), Some((last, _))) = (gap.first(), gap.last()) else {
        return String::new();
    };
    let did = actions_in_brief(gap.iter().map(|(_, step)| *step));
    format!("[steps {first} to {last} left out: {did}]\n")
}

fn indented(text: &str) -> String {
    let lines: Vec<&str> = text.trim().lines().collect();
    lines.join("\n    ")
}

/// The action of a step, in the words of the agent's transcript where it has one.
fn did(step: &Step) -> String {
    match step.transcript.trim() {
        "" => action(step),
        transcript => transcript.to_owned(),
    }
}

/// The action of a step alone.
fn action(step: &Step) -> String {
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

// Formats subgoals, prototypes and rubrics for the prompt of a role (SCRIBE). All of it is data, in blocks that it cannot
// close (S3, S4).

/// What a request to cut an attempt into subgoals asks for, in its wording (SCRIBE A.1, D).
pub(super) fn wording(prompt: SegmentPrompt) -> &'static str {
    match prompt {
        SegmentPrompt::Main => {
            "The agent worked with tools, perhaps over several turns, and came to its end by one subgoal after the other. \
             Find all subgoals that it worked on. One is a piece of a plan or of reasoning, and it may go over several \
             turns. Where the task was done in part or not at all, taking the request apart, seeing that something cannot \
             be done, and falling back on something else are subgoals as well."
        }
        SegmentPrompt::Reasoning => {
            "The attempt solves a problem by reasoning. Break the solution into subgoals that are sufficient to solve the \
             whole problem when they are completed in this order. Name for each the main skill that is required, as in \
             \"maximize an expression under a constraint\" with the skill \"constrained optimization\"."
        }
        SegmentPrompt::Narrative => {
            "Identify the key intermediate subgoals that are required to reach the final answer: for each the objective \
             that is achieved and the primary reasoning skill. Take meaningful stages of the reasoning, not its single \
             low-level steps. In their order they are sufficient to solve the problem."
        }
        SegmentPrompt::Coverage => {
            "Segment the entire solution so that every part of it belongs to exactly one subgoal. Each subgoal is one \
             coherent objective of the reasoning, with the dominant skill that it applies. There is no overlap between \
             subgoals and no omission."
        }
        SegmentPrompt::Intent => {
            "Identify the sequence of subgoals that the agent completes to satisfy the user's request. Each is a concrete \
             intent or an intermediate objective, with the primary capability that achieves it. A subgoal may go over \
             several turns. It is a stage of the plan and not a surface action."
        }
        SegmentPrompt::FailureAware => {
            "Segment the whole interaction into subgoals. Where something failed in part, was corrected, or was replaced \
             by a fallback, each of these is a subgoal of its own. Name for each subgoal the dominant skill of tool use or \
             of reasoning."
        }
    }
}

/// A subgoal and its steps, in blocks whose labels end with `suffix`.
pub(super) fn subgoal(suffix: &str, one: &SubgoalInAttempt, most: usize) -> String {
    let SubgoalInAttempt { attempt, subgoal } = one;
    let mut words = format!("subgoal: {}", one_line(&subgoal.subgoal));
    // A step that is judged as a subgoal of its own has none.
    if !subgoal.skill.trim().is_empty() {
        words.push_str(&format!("\nskill: {}", one_line(&subgoal.skill)));
    }
    let (first, last) = (subgoal.first, subgoal.last);
    format!(
        "{}\nIts steps, {first} to {last}, of an attempt with {} steps, numbered from 0:\n{}",
        fenced(&format!("subgoal{suffix}"), &words),
        attempt.trajectory.steps.len(),
        steps(&format!("steps{suffix}"), attempt, first..last + 1, most),
    )
}

/// The steps before a subgoal.
pub(super) fn before(one: &SubgoalInAttempt, most: usize) -> String {
    match one.subgoal.first {
        0 => "Nothing: the attempt begins with this subgoal.".to_owned(),
        first => steps("before", &one.attempt, 0..first, most),
    }
}

/// The subgoals of a cluster, numbered from 1, each with its task and what became of the task.
pub(super) fn members(members: &[SubgoalInAttempt], extent: Extent) -> String {
    let numbered = (1..).zip(members.iter().take(extent.count));
    let shown = numbered.map(|(number, one)| {
        let suffix = format!("-{number}");
        format!(
            "Subgoal {number}\n{}\n{}\n{}",
            task(&format!("task{suffix}"), &one.attempt.task, extent.task),
            subgoal(&suffix, one, extent.chars),
            outcome(&one.attempt),
        )
    });
    noted(shown.collect(), members.len(), "\n\n")
}

/// The prototypes that a subgoal may be routed to, numbered from 1: all of them, each without what a judge needs, in at
/// most `most` characters.
pub(super) fn prototypes(prototypes: &[Prototype], most: usize) -> String {
    let shown = (1..).zip(prototypes).map(|(number, prototype)| {
        let Rubric {
            title,
            use_context,
            objectives,
            ..
        } = &prototype.rubric;
        let text = format!(
            "title: {}\nused when: {}\n{}",
            one_line(title),
            one_line(use_context),
            lines("objectives", objectives.iter().map(String::as_str)),
        );
        fenced(
            &format!("prototype-{number}"),
            &clipped(text.trim_end(), most),
        )
    });
    shown.collect::<Vec<_>>().join("\n")
}

/// What a score is bound to: a whole rubric, or nothing but the judge's own sense.
pub(super) fn rubric(rubric: Option<&Rubric>) -> String {
    let Some(rubric) = rubric else {
        return "There is no rubric for this subgoal. Judge how well the subgoal was reached by what it asks for, and by what \
                an expert would do here."
            .to_owned();
    };
    let traps = rubric.traps.iter().map(|trap| {
        let (text, score) = (one_line(&trap.trap), trap.score.get());
        format!("{text} (score {score})")
    });
    let traps: Vec<String> = traps.collect();
    let text = [
        format!("skill: {}", one_line(&rubric.title)),
        format!("used when: {}", one_line(&rubric.use_context)),
        lines("objectives", rubric.objectives.iter().map(String::as_str)),
        format!("how it is done: {}", rubric.pattern),
        lines("checklist", rubric.checklist.iter().map(String::as_str)),
        lines("traps", traps.iter().map(String::as_str)),
    ];
    let text = text.iter().map(|part| part.trim_end());
    let text: Vec<&str> = text.filter(|part| !part.is_empty()).collect();
    format!(
        "The rubric for subgoals of this kind. Verify each line of its checklist by the steps: the score is 3 only where all \
         of them hold. Where one of its traps was fallen into, the score is the one that stands with the trap; of several \
         traps the lowest counts.\n{}",
        fenced("rubric", &text.join("\n"))
    )
}

/// A heading and lines below it; nothing where there are no lines.
fn lines<'a>(heading: &str, items: impl Iterator<Item = &'a str>) -> String {
    let items: Vec<String> = items
        .map(|item| format!("- {}\n", one_line(item)))
        .collect();
    match items.is_empty() {
        true => String::new(),
        false => format!("{heading}:\n{}", items.concat()),
    }
}
