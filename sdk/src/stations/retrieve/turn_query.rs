//! The retrieval query of one turn.

use crate::domain::{Action, Observation, Step, Task, TurnQuery};

/// The greatest number of tool errors in a query, the latest first.
const ERRORS: usize = 2;
/// The greatest number of tools of earlier turns in a query, the latest first.
const DONE: usize = 4;
/// The greatest length of each text of a query, in characters.
const TEXT_CHARS: usize = 600;

/// Builds the query of a turn from the current request, recent tool errors, the previous reply and the dialogue's state (HiSME B): the
/// tools that earlier turns called without a refusal. With it are the names of the tools in force and the task's category. `observation` is the one that the agent acts on next. Each text is redacted by `redact`
/// before it is cut to 600 characters, since half a secret cannot be recognized.
///
/// ```
/// use journeyman::{stations::retrieve::turn_query, testing::sample, text::Redactor};
///
/// let task = sample::task("t", &["brew"]);
/// let redactor = Redactor::default();
/// let redact = |text: &str| redactor.redact(text).into_owned();
/// let query = turn_query(&task, &sample::observation("say brew"), &[], redact);
/// assert_eq!(query.text, task.instruction);
/// ```
pub fn turn_query(
    task: &Task,
    observation: &Observation,
    steps: &[Step],
    redact: impl Fn(&str) -> String,
) -> TurnQuery {
    let turn = steps.last().map_or(0, |step| step.turn);
    // After the end of a turn the observation is the next request.
    let ended = steps.last().is_some_and(Step::ends_turn);
    let of_turn = steps.iter().filter(|step| step.turn == turn);
    let begun = of_turn.clone().next();
    let begun = begun.map(|step| step.observation.text.as_str());
    let request = match turn {
        _ if ended => &observation.text,
        0 => task.instruction.as_str(),
        _ => begun.unwrap_or(&observation.text),
    };
    let recent = if ended { 1 } else { steps.len() };
    let errors = of_turn
        .rev()
        .take(recent)
        .filter(|step| step.result.is_error);
    let errors = errors.take(ERRORS).map(|step| step.result.text.as_str());
    let said = steps.iter().rev().find_map(|step| match &step.action {
        Action::Message(text) => Some(text.as_str()),
        _ => None,
    });
    let mut done: Vec<&str> = Vec::new();
    let earlier = steps.iter().rev().filter(|step| ended || step.turn != turn);
    for step in earlier.filter(|step| !step.result.is_error) {
        if let Action::Call(calls) = &step.action {
            let tools = calls.iter().rev().map(|call| call.tool.as_str());
            for tool in tools {
                if done.len() < DONE && !done.contains(&tool) {
                    done.push(tool);
                }
            }
        }
    }
    let done = done.join(" ");
    let parts = std::iter::once(request).chain(errors).chain(said);
    let parts = parts.chain(Some(done.as_str()).filter(|done| !done.is_empty()));
    let clipped = parts.map(|part| redact(part).chars().take(TEXT_CHARS).collect::<String>());
    TurnQuery {
        text: clipped.collect::<Vec<_>>().join("\n"),
        tools: observation
            .tools
            .iter()
            .map(|tool| tool.name.clone())
            .collect(),
        category: task.category.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{domain::ObservationKind, testing::sample};

    /// The text of the query after these steps, with `seen` as the observation.
    fn asked(seen: &str, steps: &[Step]) -> String {
        let task = sample::task("t", &["brew"]);
        turn_query(&task, &sample::observation(seen), steps, str::to_owned).text
    }

    fn steps(calls: usize) -> Vec<Step> {
        let task = sample::task("t", &["brew"]);
        let words = vec!["x"; calls];
        let mut steps = sample::trajectory("a", &task, &words, false).steps;
        for step in &mut steps {
            step.action = Action::Call(Vec::new());
        }
        steps
    }

    #[test]
    fn a_query_is_the_request_what_was_refused_and_what_was_said() {
        assert_eq!(asked("say brew", &[]), "say brew");
        let mut steps = steps(3);
        steps[0].result.is_error = true;
        steps[0].result.text = "not one".to_owned();
        steps[1].result.is_error = true;
        steps[1].result.text = "x".repeat(1_000);
        let query = asked("go on", &steps);
        let lines: Vec<&str> = query.lines().collect();
        assert_eq!((lines[0], lines[2]), ("say brew", "not one"));
        assert_eq!(lines[1].len(), 600, "the latest refusal first, clipped");
    }

    #[test]
    fn a_message_ends_the_turn_and_what_is_seen_then_is_the_request() {
        let mut steps = steps(4);
        steps[0].result.is_error = true;
        steps[1].action = Action::Message("done".to_owned());
        // The user has answered, and the agent has done nothing yet.
        assert_eq!(asked("and now sell", &steps[..2]), "and now sell\ndone");
        for step in &mut steps[2..] {
            step.turn = 1;
        }
        steps[2].observation.text = "and now sell".to_owned();
        assert_eq!(asked("sold one", &steps), "and now sell\ndone");
        // A message that was refused says so.
        steps[1].result.is_error = true;
        steps[1].result.text = "not that".to_owned();
        assert_eq!(asked("again", &steps[..2]), "again\nnot that\ndone");
    }

    #[test]
    fn what_earlier_turns_did_is_part_of_the_query() {
        let mut steps = steps(4);
        let call = |tool: &str| Action::call(tool, serde_json::json!({}));
        let tools = ["list", "remove", "buy", "sell"];
        for (step, tool) in steps.iter_mut().zip(tools) {
            step.action = call(tool);
        }
        steps[1].result.is_error = true;
        steps[3].turn = 1;
        steps[3].observation.text = "now sell".to_owned();
        // Of its own turn a query has what was refused alone.
        assert_eq!(asked("sold", &steps), "now sell\nbuy list");
        assert_eq!(asked("bought", &steps[..1]), "say brew");
        steps[2].action = call("list");
        assert_eq!(asked("sold", &steps), "now sell\nlist");
    }

    #[test]
    fn a_user_who_speaks_after_a_call_begins_a_turn() {
        let mut steps = steps(2);
        steps[1].result.kind = ObservationKind::User;
        assert_eq!(asked("and now sell", &steps), "and now sell");
    }

    #[test]
    fn a_secret_is_redacted_before_the_text_is_cut() {
        let task = sample::task("t", &["brew"]);
        let secret = format!("{}{}", "x".repeat(590), "sixteen-and-more");
        let hide = |text: &str| text.replace("sixteen-and-more", "[hidden]");
        let mut message = steps(1);
        message[0].action = Action::EndTurn;
        let query = turn_query(&task, &sample::observation(&secret), &message, hide);
        assert!(query.text.ends_with("[hidden]"), "{}", query.text);
    }

    #[test]
    fn a_view_is_short_and_names_what_decides() {
        let mut skill = sample::skill("brew");
        skill.trigger = Some("brew coffee".to_owned());
        skill.allowed_tools = vec!["kettle".to_owned()];
        skill.body = "y".repeat(5_000);
        let text = crate::stations::retrieve::view_text(&skill);
        assert!(text.contains("brew coffee\nkettle\n"));
        assert!(text.len() < 600);
    }
}
