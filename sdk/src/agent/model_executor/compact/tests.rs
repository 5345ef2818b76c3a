use serde_json::json;

use super::*;
use crate::domain::{Action, Source, StepResult, ToolDefinition};

fn source() -> Source {
    Source::trusted("world")
}

fn observation(text: &str, tools: usize) -> Observation {
    let tools = (0..tools).map(|number| ToolDefinition {
        name: format!("tool_{number}"),
        description: "Does something that takes a while to explain. ".repeat(10),
        input_schema: json!({"type": "object", "properties": {}}),
    });
    Observation::new(text, source()).with_tools(tools.collect())
}

/// Steps of calls with results of so many characters; each sees the result of the one before.
fn steps(count: usize, chars: usize) -> Vec<Step> {
    let mut seen = "the task".to_owned();
    let step = |number: usize| {
        let text = format!("{number:.>chars$}");
        let action = Action::call("open", json!({"door": number}));
        let mut step = Step::new(action, StepResult::new(text.clone(), source()));
        step.transcript = "Let me think about which door it is. ".repeat(3);
        step.observation.text = std::mem::replace(&mut seen, text);
        step
    };
    (0..count).map(step).collect()
}

fn last(steps: &[Step]) -> Observation {
    observation(steps.last().map_or("the task", |step| &step.result.text), 0)
}

fn seen<'a>(steps: &'a [Step], observation: &'a Observation) -> Seen<'a> {
    Seen {
        instruction: "the task",
        steps,
        observation,
    }
}

fn texts(compacted: &Compacted) -> Vec<usize> {
    let lengths = compacted.steps.iter().map(|step| step.result.text.len());
    lengths.collect()
}

#[test]
fn nothing_is_left_out_before_it_is_needed() {
    let steps = steps(6, 1_000);
    let whole = Compactor::default().apply(seen(&steps, &last(&steps)));
    assert_eq!(whole.left_out, Compaction::NONE);
    let results = |steps: &[Step]| -> Vec<String> {
        steps.iter().map(|step| step.result.text.clone()).collect()
    };
    assert_eq!(results(&whole.steps), results(&steps));
}

#[test]
fn the_oldest_results_go_first_and_the_newest_steps_are_spared() {
    let steps = steps(10, 1_000);
    let mut compactor = Compactor::default();
    assert!(compactor.cut(seen(&steps, &last(&steps)), (1_500, 0)));
    let cut = compactor.apply(seen(&steps, &last(&steps)));
    assert_eq!(
        cut.left_out.to_string(),
        "in 1 prompts: results of 2 steps shortened"
    );
    let lengths = texts(&cut);
    assert!(
        lengths[..2].iter().all(|length| *length < 150),
        "{lengths:?}"
    );
    assert!(
        lengths[2..].iter().all(|length| *length == 1_000),
        "{lengths:?}"
    );
    assert!(cut.steps[0].result.text.ends_with("more characters]"));
    // Where there is room, more is cut at once than is needed, but only of steps.
    assert!(compactor.cut(seen(&steps, &last(&steps)), (1, 2_000)));
    assert_eq!(
        compactor
            .apply(seen(&steps, &last(&steps)))
            .left_out
            .shortened,
        5
    );
    assert!(compactor.cut(seen(&steps, &last(&steps)), (1_100, 0)));
    let cut = compactor.apply(seen(&steps, &last(&steps))).left_out;
    assert_eq!((cut.shortened, cut.actions_only, cut.dropped), (4, 2, 0));
}

#[test]
fn what_was_seen_stays_what_came_back() {
    let steps = steps(40, 500);
    let mut compactor = Compactor::default();
    compactor.cut(seen(&steps, &last(&steps)), (21_200, 0));
    let cut = compactor.apply(seen(&steps, &last(&steps)));
    assert!(cut.left_out.dropped > 20, "{}", cut.left_out);
    for (before, after) in cut.steps.iter().zip(&cut.steps[1..]) {
        assert_eq!(before.result.text, after.observation.text);
    }
    assert_eq!(cut.steps.last().unwrap().result.text, cut.observation.text);
    let dropped = cut.left_out.dropped;
    let note = format!("[{dropped} earlier steps left out: open x{dropped}]\n");
    assert!(
        cut.steps[0].result.text.starts_with(&note),
        "{}",
        cut.steps[0].result.text
    );
    let noted = cut
        .steps
        .iter()
        .filter(|step| step.result.text.contains("earlier steps"));
    assert_eq!(noted.count(), 1);
    assert!(
        cut.steps[0].transcript.is_empty(),
        "thoughts go with the results"
    );
}

#[test]
fn the_last_step_and_the_names_of_tools_always_stay() {
    let steps = steps(200, 20_000);
    let now = Observation {
        tools: observation("", 60).tools,
        ..last(&steps)
    };
    let mut compactor = Compactor::default();
    compactor.cut_all(seen(&steps, &now));
    let cut = compactor.apply(seen(&steps, &now));
    assert_eq!(cut.left_out.dropped, 199);
    assert!(cut.left_out.newest && cut.left_out.tools && cut.left_out.arguments);
    assert_eq!(cut.steps.len(), 1);
    assert_eq!(cut.steps[0].action, steps[199].action);
    let result = &cut.steps[0].result.text;
    assert!(result.len() < 400 && result.ends_with("199"), "{result}");
    let names: Vec<&str> = cut
        .observation
        .tools
        .iter()
        .map(|tool| tool.name.as_str())
        .collect();
    assert_eq!(
        (names.len(), names[0], names[59]),
        (60, "tool_0", "tool_59")
    );
    assert!(
        !compactor.cut(seen(&steps, &now), (1, 0)),
        "nothing more can go"
    );
    let mut empty = Compactor::default();
    empty.cut_all(seen(&[], &observation("", 0)));
    assert_eq!(
        empty.apply(seen(&[], &observation("", 0))).left_out,
        Compaction::NONE
    );
}

#[test]
fn tools_that_fill_the_prompt_are_shortened_first() {
    let steps = steps(8, 400);
    let now = Observation {
        tools: observation("", 40).tools,
        ..last(&steps)
    };
    let mut compactor = Compactor::default();
    assert!(compactor.cut(seen(&steps, &now), (500, 100)));
    let cut = compactor.apply(seen(&steps, &now)).left_out;
    assert!(cut.tools && !cut.arguments && cut.shortened == 0, "{cut}");
}

#[test]
fn a_users_words_go_last() {
    let mut steps = steps(30, 300);
    steps[4].action = Action::Message("Which door?".to_owned());
    steps[4].result.text = format!("The blue one. {}", "Please hurry. ".repeat(40));
    let said = steps[4].result.text.clone();
    let mut compactor = Compactor::default();
    compactor.cut(seen(&steps, &last(&steps)), (10_000, 0));
    let cut = compactor.apply(seen(&steps, &last(&steps)));
    assert!(cut.left_out.dropped > 10, "{}", cut.left_out);
    let kept = cut
        .steps
        .iter()
        .find(|step| step.result.text.contains("The blue one."));
    assert!(kept.unwrap().result.text.ends_with(&said));
    compactor.cut_all(seen(&steps, &last(&steps)));
    assert_eq!(compactor.apply(seen(&steps, &last(&steps))).steps.len(), 1);
}

#[test]
fn what_was_seen_at_first_stays_beside_the_task_and_is_shortened_last() {
    let mut steps = steps(20, 500);
    steps[0].observation.text = format!("You stand in a hall. {}", "There is a door. ".repeat(300));
    let now = last(&steps);
    let mut compactor = Compactor::default();
    compactor.cut(seen(&steps, &now), (9_300, 0));
    let cut = compactor.apply(seen(&steps, &now));
    assert!(cut.left_out.dropped > 5, "{}", cut.left_out);
    assert_eq!(cut.steps[0].observation.text, steps[0].observation.text);
    compactor.cut_all(seen(&steps, &now));
    let text = compactor.apply(seen(&steps, &now)).steps[0]
        .observation
        .text
        .clone();
    assert!(
        text.starts_with("You stand in a hall.") && text.len() < 300,
        "{text}"
    );
    // Where it is the task, no prompt format shows it twice.
    let mut first = steps;
    first[0].observation.text = "the task ".repeat(200);
    let shown = Seen {
        instruction: &"the task ".repeat(200),
        steps: &first,
        observation: &now,
    };
    assert_eq!(
        compactor.apply(shown).steps[0].observation.text,
        first[0].observation.text
    );
}

/// Whatever is left out, a tool's text never becomes a user's, and the user's words of the latest turn stay whole.
#[test]
fn what_is_left_out_changes_no_ones_words() {
    let mut steps = steps(12, 1_000);
    for place in [3, 7] {
        steps[place].action = Action::Message("What next?".to_owned());
        steps[place].result = StepResult::new(format!("user {place}"), source()).by_user();
        let said = steps[place].result.text.clone();
        steps[place + 1].observation = Observation::new(said, source()).by_user();
    }
    let now = last(&steps);
    let mut compactor = Compactor::default();
    while compactor.cut(seen(&steps, &now), (500, 0)) {
        let cut = compactor.apply(seen(&steps, &now));
        let observed = cut
            .steps
            .iter()
            .map(|step| &step.observation)
            .chain([&cut.observation]);
        for one in observed {
            let is_users = one.text.starts_with("user ");
            assert_eq!(one.kind == ObservationKind::User, is_users, "{one:?}");
        }
        for step in &cut.steps {
            let is_users = step.result.kind == ObservationKind::User;
            assert_eq!(is_users, step.result.text.starts_with("user "), "{step:?}");
        }
    }
}
