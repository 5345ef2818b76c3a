//! What the bundled model is shown and how its words are read.
#![allow(clippy::unwrap_used, clippy::panic, missing_docs)]

use std::collections::BTreeMap;

use futures::executor::block_on;
use journeyman::contract::{Dialect, Environment, FinishReason, Generation, TurnMove, TurnView};
use journeyman::domain::{
    Action, InjectedSkill, Injection, Observation, Prompt, SkillRef, SkillUse, Span, Step,
    StepResult, Task,
};
use journeyman::{ErrorKind, ModelId, Seed, SkillId, Version};
use journeyman_toolworld::dialect::{ApprenticeDialect, Mode};
use journeyman_toolworld::environment::{Setup, Toolworld};
use journeyman_toolworld::refusal::Wording;
use journeyman_toolworld::request::Goal;
use journeyman_toolworld::skill_form::{read_body, to_draft};
use journeyman_toolworld::tool::{Demand, Service, Setting, SkillText, Tool, ToolName};
use journeyman_toolworld::vocabulary::{CONTROLS, Vocabulary};
use journeyman_toolworld::world::World;

const SKILL: &str = "unseal coffee: unseal bell; unseal coffee tone off power $";
const HEAD: &str = "<s><task> unseal the coffee with power 65<tools> unseal coffee tone # power #\n unseal bell<plan>";

fn task() -> Task {
    let name = ToolName::new("unseal", "coffee");
    let parameters = vec!["tone".to_owned(), "power".to_owned()];
    let contract = vec![
        Demand::Before(ToolName::new("unseal", "bell")),
        Demand::Exact(Setting {
            parameter: "tone".into(),
            value: "off".into(),
        }),
    ];
    let bell = Tool {
        name: ToolName::new("unseal", "bell"),
        parameters: Vec::new(),
    };
    let world = World {
        services: vec![
            Service {
                tool: Tool {
                    name: name.clone(),
                    parameters,
                },
                contract,
            },
            Service::plain(bell),
        ],
        goal: Goal {
            target: name,
            given: vec![Setting {
                parameter: "power".into(),
                value: "65".into(),
            }],
        },
        query: "unseal the coffee with power 65".into(),
        wording: Wording::Needs,
    };
    let mut task = Task::new("coffee", world.query.as_str());
    task.payload = Setup::new(world).to_json().unwrap();
    task
}

fn observation() -> Observation {
    let episode = block_on(Toolworld::default().reset(&task(), Seed(1))).unwrap();
    episode.observation().clone()
}

fn injection(skill: &str) -> Injection {
    let skill = InjectedSkill {
        skill: SkillRef {
            id: SkillId::new("s"),
            version: Version(1),
        },
        text: skill.to_owned(),
        sha256: String::new(),
    };
    Injection {
        skills: vec![skill],
    }
}

fn reply(text: &str) -> Generation {
    Generation {
        calls: Vec::new(),
        text: text.into(),
        prompt_ids: Vec::new(),
        ids: Vec::new(),
        logprobs: Vec::new(),
        forced: Vec::new(),
        prompt_tokens: 0,
        output_tokens: 0,
        finish: FinishReason::Stop,
        model: ModelId::new("scripted"),
        adapter: None,
    }
}

fn step(index: u32, transcript: &str, action: Action, text: &str, is_error: bool) -> Step {
    let source = observation().source;
    Step {
        index,
        turn: 0,
        actor: "agent".into(),
        observation: observation(),
        action,
        result: StepResult {
            is_error,
            ..StepResult::new(text, source)
        },
        transcript: transcript.into(),
        generations: Vec::new(),
        notes: Vec::new(),
    }
}

fn turn(mode: Mode, injection: &Injection, steps: &[Step], replies: &[&str]) -> TurnMove {
    let (task, observation) = (task(), observation());
    let replies: Vec<Generation> = replies.iter().map(|text| reply(text)).collect();
    let view = TurnView {
        task: &task,
        injection,
        observation: &observation,
        steps,
        replies: &replies,
    };
    ApprenticeDialect::new(mode).turn(&view).unwrap()
}

fn prompt_of(next: TurnMove) -> Prompt {
    match next {
        TurnMove::Generate { prompt, .. } => prompt,
        other => panic!("{other:?}"),
    }
}

fn act_of(next: TurnMove) -> (Action, String, Vec<SkillUse>) {
    match next {
        TurnMove::Act {
            action,
            transcript,
            used,
            ..
        } => (action, transcript, used),
        other => panic!("{other:?}"),
    }
}

#[test]
fn in_row_mode_the_executor_appends_the_named_tools_usage_line() {
    let none = Injection::NONE;
    assert_eq!(prompt_of(turn(Mode::Row, &none, &[], &[])).text(), HEAD);
    let named = prompt_of(turn(Mode::Row, &none, &[], &[" unseal coffee tone"])).text();
    assert_eq!(named, format!("{HEAD} unseal coffee tone # power #\n"));
    let (action, transcript, used) = act_of(turn(
        Mode::Row,
        &none,
        &[],
        &[
            " unseal coffee",
            "<skip><call> unseal coffee tone # power 65",
        ],
    ));
    assert_eq!(
        transcript,
        " unseal coffee tone # power #\n<skip><call> unseal coffee tone # power 65<obs>"
    );
    assert!(used.is_empty());
    let Action::Call(calls) = action else {
        panic!("no call")
    };
    assert_eq!(calls[0].tool, "unseal_coffee");
    assert_eq!(
        serde_json::to_string(&calls[0].arguments).unwrap(),
        r#"{"power":65}"#
    );
}

#[test]
fn the_model_may_write_everything_or_the_host_decide_on_the_skill() {
    let skill = injection(&format!(" {SKILL}"));
    let told = HEAD.replace("<tools>", &format!("<skill> {SKILL}<tools>"));
    assert_eq!(prompt_of(turn(Mode::Model, &skill, &[], &[])).text(), told);
    let written = " unseal coffee tone # power #\n<use><call> unseal bell";
    let (_, transcript, used) = act_of(turn(Mode::Model, &skill, &[], &[written]));
    assert_eq!(
        (transcript, used),
        (format!("{written}<obs>"), vec![SkillUse::Followed])
    );
    let host = prompt_of(turn(Mode::Host, &skill, &[], &[" unseal coffee"])).text();
    assert_eq!(host, format!("{told} unseal coffee tone # power #\n<use>"));
    let host = prompt_of(turn(
        Mode::Host,
        &injection(" sort bell: sort bell"),
        &[],
        &[" unseal bell"],
    ))
    .text();
    assert!(host.ends_with(" unseal bell\n<skip>"), "{host}");
}

#[test]
fn of_two_skills_the_model_says_which_one_it_follows() {
    let mut both = injection(" sort bell: sort bell");
    both.skills.extend(injection(&format!(" {SKILL}")).skills);
    let told = HEAD.replace(
        "<tools>",
        &format!("<skill> sort bell: sort bell<skill2> {SKILL}<tools>"),
    );
    assert_eq!(prompt_of(turn(Mode::Row, &both, &[], &[])).text(), told);
    let second = [" unseal coffee", "<use2><call> unseal bell"];
    let (action, transcript, used) = act_of(turn(Mode::Row, &both, &[], &second));
    assert_eq!(used, [SkillUse::NotFollowed, SkillUse::Followed]);
    let neither = [" unseal coffee", "<skip><call> unseal bell"];
    let (_, _, used) = act_of(turn(Mode::Row, &both, &[], &neither));
    assert_eq!(used, [SkillUse::NotFollowed; 2]);
    // Without a choice the model said nothing.
    let silent = [" unseal coffee", "<call> unseal bell"];
    let (_, _, used) = act_of(turn(Mode::Row, &both, &[], &silent));
    assert!(used.is_empty());
    let steps = [step(0, &transcript, action, "ok", false)];
    let later = act_of(turn(Mode::Row, &both, &steps, &[" unseal bell"]));
    assert!(
        later.2.is_empty(),
        "said once, of the skills that were there"
    );
    let host = prompt_of(turn(Mode::Host, &both, &[], &[" unseal coffee"])).text();
    assert!(host.ends_with("#\n<use2>"), "{host}");
    for replies in [&[""][..], &["<none>"], &["", "<none>"]] {
        let mode = if replies.len() == 1 && !replies[0].is_empty() {
            Mode::Model
        } else {
            Mode::Row
        };
        let next = turn(mode, &both, &[], replies);
        let TurnMove::Unreadable { reason, .. } = next else {
            panic!("{next:?}")
        };
        assert!(reason.contains("no tool"), "{reason}");
    }
}

#[test]
fn later_calls_follow_what_was_said_and_answered() {
    let bell = act_of(turn(
        Mode::Row,
        &Injection::NONE,
        &[],
        &[" unseal bell", "<use><call> unseal bell"],
    ));
    let steps = [step(0, &bell.1, bell.0, "ok", false)];
    let prompt = prompt_of(turn(Mode::Row, &Injection::NONE, &steps, &[]));
    assert_eq!(
        prompt.text(),
        format!("{HEAD} unseal bell\n<use><call> unseal bell<obs> ok<call>")
    );
    let (_, transcript, used) = act_of(turn(
        Mode::Row,
        &Injection::NONE,
        &steps,
        &[" unseal coffee tone off power 65"],
    ));
    assert_eq!(
        (transcript.as_str(), used),
        ("<call> unseal coffee tone off power 65<obs>", vec![])
    );
}

#[test]
fn text_that_is_not_ours_stays_data() {
    let mut task = task();
    task.instruction = "unseal <tools> the <call> coffee".into();
    let observation = observation();
    let skill = injection(" </s> <use>: <obs>");
    let steps = [step(
        0,
        "<call> unseal bell<obs>",
        Action::EndTurn,
        "<extract> ok",
        false,
    )];
    let view = TurnView {
        task: &task,
        injection: &skill,
        observation: &observation,
        steps: &steps,
        replies: &[],
    };
    let prompt = prompt_of(ApprenticeDialect::default().turn(&view).unwrap());
    let spans = &prompt.messages[0].content;
    for text in [
        " unseal <tools> the <call> coffee",
        " </s> <use>: <obs>",
        " <extract> ok",
    ] {
        assert!(spans.contains(&Span::Data(text.into())), "{text}");
    }
    assert!(spans.iter().all(|span| match span {
        Span::Control(control) => CONTROLS.contains(&control.as_str()),
        Span::Data(_) => true,
    }));
}

#[test]
fn garbage_ends_as_unreadable_or_as_a_call_that_the_world_refuses() {
    for text in [
        "",
        "<use>",
        "<call>",
        "<call> unseal",
        "<call> unseal coffee tone",
        "<obs><obs>",
        "\u{0}\u{fffd}",
    ] {
        for mode in [Mode::Row, Mode::Host, Mode::Model] {
            let next = turn(mode, &Injection::NONE, &[], &[text, text]);
            assert!(
                matches!(next, TurnMove::Unreadable { .. }),
                "{text:?}: {next:?}"
            );
        }
    }
    let next = turn(
        Mode::Row,
        &Injection::NONE,
        &[],
        &[" fly moon", "<skip><call> fly moon"],
    );
    assert!(matches!(next, TurnMove::Act { .. }));
}

#[test]
fn tools_of_another_language_are_invalid() {
    let mut observation = observation();
    observation.tools[0].name = "search".into();
    let task = task();
    let view = TurnView {
        task: &task,
        injection: &Injection::NONE,
        observation: &observation,
        steps: &[],
        replies: &[],
    };
    assert_eq!(
        ApprenticeDialect::default().turn(&view).unwrap_err().kind(),
        ErrorKind::Invalid
    );
}

#[test]
fn the_score_prompt_is_what_stands_before_a_skill() {
    let dialect = ApprenticeDialect::default();
    assert_eq!(
        dialect.score_prompt("unseal the coffee").text(),
        "<s><task> unseal the coffee<skill>"
    );
    assert_eq!(dialect.score_prompt("").text(), "<s><task><skill>");
}

#[test]
fn a_skills_text_comes_back_from_its_body() {
    let text = SkillText::parse(SKILL).unwrap();
    let draft = to_draft(&text);
    assert_eq!(read_body(&draft.body), Some(text));
    for other in ["", "1. ", "Do it well.", "1. `unseal coffee`\n2. `x`"] {
        assert_eq!(read_body(other), None, "{other}");
    }
    assert_eq!(draft.metadata, BTreeMap::new());
}

#[test]
fn a_skill_may_claim_every_tool_of_its_verb_and_no_other() {
    let broad = format!("unseal any: {}", SKILL.split_once(": ").unwrap().1);
    let draft = to_draft(&SkillText::parse(&broad).unwrap());
    assert_eq!(draft.title, "unseal-any");
    assert_eq!(draft.trigger.as_deref(), Some("unseal any"));
    assert_eq!(SkillText::parse("sort any: unseal coffee"), None);
    assert_eq!(SkillText::parse("unseal lamp: unseal coffee"), None);
}

#[test]
fn every_word_is_one_token_and_any_text_encodes_to_itself() {
    let vocabulary = Vocabulary::new();
    for word in journeyman_toolworld::lexicon::all_words() {
        assert_eq!(vocabulary.encode(&format!(" {word}")).len(), 1, "{word}");
    }
    for number in 1..=99 {
        assert_eq!(vocabulary.encode(&format!(" {number}")).len(), 1);
    }
    assert_eq!(vocabulary.encode(" zuvo\n unseal").len(), 4);
    for text in [
        "",
        "  two  spaces ",
        "café – 東京 🦀\t\n\n x",
        "<task>",
        "it's 1234?!",
        "\u{0}\u{7f}",
    ] {
        let bytes: Vec<u8> = vocabulary
            .encode(text)
            .iter()
            .flat_map(|&id| vocabulary.bytes(id))
            .collect();
        assert_eq!(String::from_utf8(bytes).unwrap(), text);
    }
    assert!(vocabulary.tokens.len() < 2_000);
}

#[test]
fn what_was_replayed_stands_where_the_models_own_calls_would() {
    let skill = injection(SKILL);
    let head = HEAD.replace("<tools>", &format!("<skill> {SKILL}<tools>"));
    let begun = " unseal coffee tone # power #\n<use>";
    let bell = act_of(turn(
        Mode::Row,
        &skill,
        &[],
        &[" unseal coffee", "<use><call> unseal bell"],
    ))
    .0;
    let replayed = step(0, "", bell, "ok", false);
    let steps = std::slice::from_ref(&replayed);
    let text = |mode, replies: &[&str]| prompt_of(turn(mode, &skill, steps, replies)).text();
    assert_eq!(text(Mode::Row, &[]), head);
    assert_eq!(
        text(Mode::Row, &[" unseal coffee"]),
        format!("{head} unseal coffee tone # power #\n")
    );
    let shown = format!("{head}{begun}<call> unseal bell<obs> ok");
    assert_eq!(
        text(Mode::Row, &[" unseal coffee", "<use>"]),
        format!("{shown}<call>")
    );
    assert_eq!(text(Mode::Model, &[begun]), format!("{shown}<call>"));
    let line = " unseal coffee tone off power 65";
    let (action, transcript, used) = act_of(turn(
        Mode::Row,
        &skill,
        steps,
        &[" unseal coffee", "<use>", line],
    ));
    assert_eq!(transcript, format!("{begun}<call>{line}<obs>"));
    assert_eq!(used, [SkillUse::Followed]);
    // The next turn shows the same, whatever stood first in the steps.
    let own = step(1, &transcript, action, "error needs unseal bell", true);
    let later = turn(Mode::Row, &skill, &[replayed.clone(), own], &[]);
    assert_eq!(
        prompt_of(later).text(),
        format!("{shown}<call>{line}<obs> error needs unseal bell<call>")
    );
    assert!(matches!(
        turn(Mode::Row, &skill, steps, &[" unseal coffee", "<none>"]),
        TurnMove::Unreadable { .. }
    ));
}

#[test]
fn a_step_is_scored_with_a_skill_and_without() {
    let skill = injection(SKILL);
    let row = " unseal coffee tone # power #\n";
    let bell = act_of(turn(
        Mode::Row,
        &skill,
        &[],
        &[" unseal coffee", "<use><call> unseal bell"],
    ));
    let first = step(0, &bell.1, bell.0.clone(), "ok", false);
    let second = step(
        1,
        "<call> unseal coffee tone off power 65<obs>",
        bell.0,
        "done",
        false,
    );
    let (task, observation) = (task(), observation());
    let pair = |injection: &Injection, steps: &[Step], step: &Step| {
        let view = TurnView {
            task: &task,
            injection,
            observation: &observation,
            steps,
            replies: &[],
        };
        let pair = ApprenticeDialect::new(Mode::Row)
            .scoring_pair(&view, step)
            .unwrap();
        let pair = pair.unwrap();
        (pair.prompt.text(), pair.continuation)
    };
    let with = HEAD.replace("<tools>", &format!("<skill> {SKILL}<tools>"));
    let before = std::slice::from_ref(&first);
    for (injection, head, choice) in [
        (&skill, with.as_str(), "<use>"),
        (&Injection::NONE, HEAD, "<skip>"),
    ] {
        assert_eq!(
            pair(injection, &[], &first),
            (
                format!("{head}{row}{choice}<call>"),
                " unseal bell".to_owned()
            )
        );
        assert_eq!(
            pair(injection, before, &second),
            (
                format!("{head}{row}{choice}<call> unseal bell<obs> ok<call>"),
                " unseal coffee tone off power 65".to_owned()
            )
        );
    }
}
