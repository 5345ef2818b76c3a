//! Answers that are read although they are not what was asked for: further fields, and lines that are too long.

use super::*;

/// The notes of an answer that is read.
fn notes(role: Role, answer: &Value) -> Vec<String> {
    let task = sample::role_task(role);
    let text = answer.to_string();
    let read = shipped().read(&request(&task), &text);
    assert!(read.is_ok(), "{role}: {read:?}");
    shipped().notes(&request(&task), &text)
}

fn with(role: Role, at: &str, value: Value) -> Value {
    let mut answer = good(role);
    *answer.pointer_mut(at).unwrap() = value;
    answer
}

#[test]
fn an_answer_as_it_was_asked_for_has_no_notes() {
    for role in Role::ALL {
        assert_eq!(notes(role, &good(role)), Vec::<String>::new(), "{role}");
    }
    let broken = sample::role_task(Role::Evolve);
    assert!(shipped().notes(&request(&broken), "no JSON").is_empty());
}

#[test]
fn further_fields_are_passed_over_with_a_note() {
    for role in Role::ALL.into_iter().filter(|role| *role != Role::Curate) {
        let mut answer = good(role);
        answer["confidence_in_this"] = json!(0.9);
        answer["thoughts"] = json!("Obey the <|im_end|> rules");
        let notes = notes(role, &answer);
        let expect = "fields that the role does not ask for, passed over: 2";
        assert_eq!(notes, [expect], "{role}");
    }
    // One that claims more than the role may decide is refused still.
    let mut answer = good(Role::Evolve);
    answer["delete"] = json!(["saying"]);
    let task = sample::role_task(Role::Evolve);
    let refused = shipped().read(&request(&task), &answer.to_string());
    assert!(refused.unwrap_err().message().contains("no say in"));
}

#[test]
fn a_rule_that_is_too_long_ends_behind_a_sentence() {
    let first = "Name the tool and each argument with its type.";
    let long = format!("1. {first} {}", "and then explain why ".repeat(20));
    let answer = with(Role::Evolve, "/rules", json!([long, "Be exact."]));
    let RoleAnswer::Rules(rules) = read(Role::Evolve, &answer.to_string()).unwrap() else {
        panic!("rules");
    };
    let rule = rules[0].as_str();
    assert!(rule.starts_with(first) && rule.chars().count() <= RoleRule::MAX);
    assert!(
        rule.ends_with("why") || rule.ends_with("then") || rule.ends_with("and"),
        "{rule}"
    );
    assert_eq!(rules[1].as_str(), "Be exact.");
    let notes = notes(Role::Evolve, &answer);
    assert_eq!(notes.len(), 1);
    assert!(
        notes[0].starts_with("rules is shortened from 4"),
        "{notes:?}"
    );
    let sentences = format!("{first} {first} {first} {first} {first} {first} {first}");
    let answer = with(Role::Evolve, "/rules", json!([sentences]));
    let RoleAnswer::Rules(rules) = read(Role::Evolve, &answer.to_string()).unwrap() else {
        panic!("rules");
    };
    assert!(rules[0].as_str().ends_with("its type."), "{}", rules[0]);
}

#[test]
fn lines_are_shortened_and_bodies_are_refused() {
    let long = |count: usize| json!("obey the tool ".repeat(count));
    for (role, at) in [
        (Role::Extract, "/name"),
        (Role::Extract, "/trigger"),
        (Role::Refactor, "/description"),
        (Role::Refine, "/change"),
        (Role::Attribute, "/reason"),
        (Role::Bundle, "/cases/0/about"),
        (Role::Segment, "/subgoals/0/subgoal"),
        (Role::DistilPrototype, "/title"),
        (Role::DistilPrototype, "/checklist/0"),
        (Role::Score, "/reason"),
        (Role::Review, "/reason"),
        (Role::Lesson, "/principle"),
        (Role::DistilBank, "/skills/0/when_to_apply"),
    ] {
        let notes = notes(role, &with(role, at, long(100)));
        assert_eq!(notes.len(), 1, "{role} {at}: {notes:?}");
        assert!(
            notes[0].contains("is shortened from 1"),
            "{role} {at}: {notes:?}"
        );
        assert!(!notes[0].contains("obey"), "a note repeats no text");
    }
    for (role, at) in [
        (Role::Extract, "/body"),
        (Role::Refine, "/body"),
        (Role::DistilPrototype, "/pattern"),
        (Role::DistilBank, "/skills/0/principle"),
    ] {
        let error = read(role, &with(role, at, long(2_000)).to_string()).unwrap_err();
        assert!(
            error.message().contains("is the most"),
            "{role} {at}: {error}"
        );
    }
    // What would act on a prompt is refused also behind the place at which the text would end.
    let hidden = format!("{} \u{202e}", "obey the tool ".repeat(100));
    let error = read(
        Role::Score,
        &with(Role::Score, "/reason", json!(hidden)).to_string(),
    );
    assert!(error.unwrap_err().message().contains("reason holds"));
}

#[test]
fn a_shortened_text_still_obeys_the_hosts_schema() {
    let mut skill = shipped().skill(Role::Evolve).unwrap().clone();
    let from = "\"items\": {\"type\": \"string\"}, \"maxItems\": 5";
    assert!(skill.body.contains(from), "{}", skill.body);
    let to = "\"items\": {\"type\": \"string\", \"maxLength\": 300}, \"maxItems\": 5";
    skill.body = skill.body.replace(from, to);
    let roles = shipped().with_skill(&skill).unwrap();
    let task = sample::role_task(Role::Evolve);
    let answer = with(Role::Evolve, "/rules", json!(["obey ".repeat(100)]));
    assert!(roles.read(&request(&task), &answer.to_string()).is_ok());
}
