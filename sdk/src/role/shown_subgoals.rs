//! Formats subgoals, prototypes and rubrics for the prompt of a role (SCRIBE). All of it is data, in blocks that it cannot
//! close (S3, S4).

use super::{
    extent::Extent,
    shown::{noted, one_line, outcome, steps, task},
};
use crate::{
    contract::{SegmentPrompt, SubgoalInAttempt},
    domain::{Prototype, Rubric},
    text::{clipped, fenced},
};

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
