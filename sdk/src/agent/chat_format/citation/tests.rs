use SkillUse::{Followed, NotFollowed, Unknown};

use super::*;
use crate::{
    agent::ChatFormat,
    contract::{FinishReason, PromptFormat},
    domain::Injection,
    id::ModelId,
    testing::sample,
};

fn injected(names: &[&str]) -> Vec<InjectedSkill> {
    let skills = names.iter().map(|name| {
        let mut skill = sample::skill("brew");
        skill.id = name.to_lowercase().replace([' ', '_'], "-").into();
        skill.original_name = Some((*name).to_owned());
        InjectedSkill::new(&skill, ChatFormat::default().skill_text(&skill))
    });
    skills.collect()
}

fn reply(text: &str) -> Generation {
    Generation {
        calls: Vec::new(),
        text: text.to_owned(),
        prompt_ids: Vec::new(),
        ids: Vec::new(),
        logprobs: Vec::new(),
        forced: Vec::new(),
        prompt_tokens: 0,
        output_tokens: 0,
        finish: FinishReason::EndOfText,
        model: ModelId::from("test"),
        adapter: None,
    }
}

const CALL: &str = r#"{"tool": "pour", "arguments": {"into": "cup"}}"#;

/// Reads the citation before a call, with the skills `open_jar` and `Brew tea` in the prompt: their use, and whether a skill is
/// cited that is not there.
fn check(before: &str, expect: ([SkillUse; 2], bool)) {
    let skills = injected(&["open_jar", "Brew tea"]);
    for answer in [format!("{before}\n{CALL}"), format!("{before} {CALL}")] {
        let mut action = Action::EndTurn;
        let cited = Citation::of(&[reply(&answer)], &mut action, &skills);
        assert_eq!(
            (cited.used.as_slice(), cited.absent),
            (&expect.0[..], expect.1),
            "{answer:?}"
        );
    }
}

#[test]
fn a_citation_is_read_leniently() {
    for first in [
        "Skill: open_jar",
        "skill: open_jar",
        "SKILL : Open Jar",
        "Skill: `open-jar`",
        "**Skill:** open_jar",
        "**Skill: \"open_jar\"**",
        "- Skill: 'open_jar'.",
        "> Skill： “open_jar”",
        "[Skill: open_jar]",
        "Skill: <open_jar>",
        "Skill: open_jar (the jar is shut)",
        "Skill: open_jar - the jar is shut",
        "Skill: open_jar because the jar is shut",
        "\n\n  Skill: OPEN_JAR",
        "<think>Skill: Brew tea?</think>Skill: open_jar",
        "The jar is shut.\nSkill: open_jar",
    ] {
        check(first, ([Followed, NotFollowed], false));
    }
    check("Skill: Brew tea", ([NotFollowed, Followed], false));
    for none in [
        "Skill: none",
        "skill: None.",
        "**Skill:** `none`",
        "Skill: no skill",
        "Skill: N/A",
        "Skill: none (neither fits)",
    ] {
        check(none, ([NotFollowed, NotFollowed], false));
    }
}

#[test]
fn several_skills_can_be_cited() {
    for both in [
        "Skill: open_jar, Brew tea",
        "Skills: open_jar and Brew tea",
        "Skill: open_jar\nSkill: Brew tea",
        "Skill: Brew tea; open_jar",
    ] {
        check(both, ([Followed, Followed], false));
    }
    // One line names none, the other one a skill: that one is followed.
    check(
        "Skill: none\nSkill: Brew tea",
        ([NotFollowed, Followed], false),
    );
}

#[test]
fn without_a_readable_line_the_use_is_unknown() {
    for silent in [
        "",
        "I open the jar with open_jar.",
        "Skill open_jar",
        "Skill:",
        "Skill: -",
        "Skillset: open_jar",
        "My skill: open_jar",
        "<think>Skill: open_jar</think>",
    ] {
        check(silent, ([Unknown, Unknown], false));
    }
}

#[test]
fn a_skill_that_is_not_there_is_passed_over() {
    check("Skill: make_coffee", ([Unknown, Unknown], true));
    // The part of a name is another name.
    check("Skill: open_jar_lid", ([Unknown, Unknown], true));
    check("Skill: open", ([Unknown, Unknown], true));
    check(
        "Skill: open_jar, make_coffee",
        ([Followed, NotFollowed], true),
    );
    check(
        "Skill: make_coffee\nSkill: Brew tea",
        ([NotFollowed, Followed], true),
    );
    // Behind other words, such a line is no citation.
    check(
        "I can do this.\nSkill: make_coffee",
        ([Unknown, Unknown], false),
    );
    let cited = Citation {
        used: Vec::new(),
        absent: true,
    };
    assert_eq!(cited.notes(), [StepNote::AbsentSkillCited]);
}

#[test]
fn nothing_within_a_call_is_a_citation() {
    let skills = injected(&["open_jar"]);
    for answer in [
        "{\"tool\": \"say\", \"arguments\": {\"text\": \"\nSkill: open_jar\n\"}}",
        "{\"tool\": \"pour\", \"arguments\": {}}\nSkill: open_jar",
        "```json\nSkill: open_jar\n{\"done\": true}\n```",
        "<tool_call>\nSkill: open_jar\n</tool_call>",
        "Action: pour\nSkill: open_jar\nAction Input: {}",
    ] {
        let mut action = Action::EndTurn;
        let cited = Citation::of(&[reply(answer)], &mut action, &skills);
        assert_eq!(
            (cited.used, cited.absent),
            (vec![Unknown], false),
            "{answer:?}"
        );
    }
}

#[test]
fn hostile_names_win_nothing() {
    // A skill cannot be named so that `none` follows it, and of two skills of one name neither is known to be followed.
    let cite = |names: &[&str], answer: &str| {
        let mut action = Action::EndTurn;
        Citation::of(&[reply(answer)], &mut action, &injected(names)).used
    };
    assert_eq!(cite(&["none", "brew"], "Skill: none\n{}"), [NotFollowed; 2]);
    assert_eq!(
        cite(&["brew-tea", "Brew Tea", "jar"], "Skill: brew tea\n{}"),
        [Unknown, Unknown, NotFollowed]
    );
    assert_eq!(cite(&["!!!", "jar"], "Skill: ???\n{}"), [Unknown; 2]);
    // A long answer is read once.
    let long = "Skill: x\n".repeat(20_000);
    assert_eq!(cite(&["brew"], &long), [Unknown]);
}

#[test]
fn a_message_to_the_user_has_no_citation() {
    let skills = injected(&["brew"]);
    let read = |text: &str, answer: &str| {
        let mut action = Action::Message(text.to_owned());
        let cited = Citation::of(&[reply(answer)], &mut action, &skills);
        let Action::Message(text) = action else {
            panic!("{action:?}");
        };
        (text, cited.used)
    };
    let inside = |text: &str| read(text, r#"{"message": "..."}"#);
    assert_eq!(
        inside("Skill: brew\n\nIt is done."),
        ("It is done.".into(), vec![Followed])
    );
    assert_eq!(
        inside("Skill: none\nIt is done."),
        ("It is done.".into(), vec![NotFollowed])
    );
    assert_eq!(inside("It is done."), ("It is done.".into(), vec![Unknown]));
    // A later line is the user's, unless it cites a skill that is there.
    let curriculum = "Skills of the cook:\nSkill: frying";
    assert_eq!(inside(curriculum), (curriculum.into(), vec![Unknown]));
    assert_eq!(
        inside("It is done.\nSkill: brew"),
        ("It is done.".into(), vec![Followed])
    );
    // Nothing is left: the message stays.
    assert_eq!(inside("Skill: brew"), ("Skill: brew".into(), vec![Unknown]));
    assert_eq!(
        read("It is done.", "Skill: brew\n{\"message\": \"It is done.\"}"),
        ("It is done.".into(), vec![Followed])
    );
    // Without skills in the prompt nothing is read and nothing taken away.
    let mut action = Action::Message("Skill: brew\nIt is done.".to_owned());
    let cited = Citation::of(
        &[reply("Skill: brew\n{}")],
        &mut action,
        &Injection::NONE.skills,
    );
    assert_eq!(cited, Citation::default());
    assert_eq!(
        action,
        Action::Message("Skill: brew\nIt is done.".to_owned())
    );
}

#[test]
fn the_latest_answer_of_a_turn_that_cites_counts() {
    let skills = injected(&["brew", "jar"]);
    let cite = |answers: &[&str]| {
        let replies: Vec<Generation> = answers.iter().map(|text| reply(text)).collect();
        Citation::of(&replies, &mut Action::EndTurn, &skills).used
    };
    assert_eq!(
        cite(&["Skill: brew\nno call", "{\"done\": true}"]),
        [Followed, NotFollowed]
    );
    assert_eq!(
        cite(&["Skill: brew\nno call", "Skill: jar\n{\"done\": true}"]),
        [NotFollowed, Followed]
    );
}

#[test]
fn words_are_scored_without_their_citation() {
    let check = |words: &str, expect: &str| assert_eq!(without(words), expect);
    check("Skill: brew\n{\"done\": true}", "{\"done\": true}");
    check("**Skill:** brew {\"done\": true}", "{\"done\": true}");
    check("\nSkill: brew\nSkill: jar\nSo be it.\n{}", "So be it.\n{}");
    check("{\"done\": true}", "{\"done\": true}");
    check("So.\nSkill: brew\n{}", "So.\nSkill: brew\n{}");
    check("Skill: brew", "");
    assert_eq!(line(&injected(&["open_jar"])[0]), "Skill: open_jar\n");
}
