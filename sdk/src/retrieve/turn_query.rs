//! What is asked for at a turn.

use crate::domain::{Action, Observation, Step, Task};

/// How many of the latest refusals stand in a query.
const ERRORS: usize = 2;
/// How much of each text stands in a query, in characters.
const TEXT_CHARS: usize = 600;

/// A turn's query: its text, and the tools in force.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TurnQuery {
    /// The current request, then what was refused lately, then what the agent said last.
    pub text: String,
    /// The names of the tools in force.
    pub tools: Vec<String>,
}

/// The query of a turn: from the current request, the dialogue so far, recent tool errors and the previous reply (HiSME
/// B). `observation` is what the agent sees where it is to act.
pub fn turn_query(task: &Task, observation: &Observation, steps: &[Step]) -> TurnQuery {
    let turn = steps.last().map_or(0, |step| step.turn);
    let of_turn = || steps.iter().filter(move |step| step.turn == turn);
    // In the first turn the request is the task's; in a later one what the user said when it began.
    let begun = of_turn().next().map(|step| step.observation.text.as_str());
    let request = match turn {
        0 => task.instruction.as_str(),
        _ => begun.unwrap_or(&observation.text),
    };
    let errors = of_turn().filter(|step| step.result.is_error);
    let errors: Vec<&str> = errors.map(|step| step.result.text.as_str()).collect();
    let recent = errors.iter().rev().take(ERRORS).copied();
    let said = steps.iter().rev().find_map(|step| match &step.action {
        Action::Message(text) => Some(text.as_str()),
        _ => None,
    });
    let parts = std::iter::once(request).chain(recent).chain(said);
    let clipped = parts.map(|part| part.chars().take(TEXT_CHARS).collect::<String>());
    TurnQuery {
        text: clipped.collect::<Vec<_>>().join("\n"),
        tools: observation
            .tools
            .iter()
            .map(|tool| tool.name.clone())
            .collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::sample;

    #[test]
    fn a_query_is_the_request_what_was_refused_and_what_was_said() {
        let task = sample::task("t", &["brew"]);
        let observation = sample::observation("go on");
        assert_eq!(turn_query(&task, &observation, &[]).text, "say brew");
        let mut steps = sample::trajectory("a", &task, &["one", "two", "three"], false).steps;
        steps[0].result.is_error = true;
        steps[0].result.text = "not one".to_owned();
        steps[1].result.is_error = true;
        steps[1].result.text = "x".repeat(1_000);
        let query = turn_query(&task, &observation, &steps);
        let lines: Vec<&str> = query.text.lines().collect();
        assert_eq!(
            (lines[0], lines[2], lines[3]),
            ("say brew", "not one", "three")
        );
        assert_eq!(lines[1].len(), 600, "the latest refusal first, clipped");
        // In a later turn the request is what the user said when it began, and earlier refusals are past.
        steps[2].turn = 1;
        steps[2].observation.text = "and now sell".to_owned();
        let query = turn_query(&task, &observation, &steps);
        assert_eq!(query.text, "and now sell\nthree");
    }

    #[test]
    fn a_view_is_short_and_names_what_decides() {
        let mut skill = sample::skill("brew");
        skill.trigger = Some("brew coffee".to_owned());
        skill.allowed_tools = vec!["kettle".to_owned()];
        skill.body = "y".repeat(5_000);
        let text = crate::retrieve::view_text(&skill);
        assert!(text.contains("brew coffee\nkettle\n"));
        assert!(text.len() < 600);
    }
}
