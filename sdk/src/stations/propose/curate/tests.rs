use serde_json::{Value, json};

use super::*;
use crate::{
    domain::{LibraryChange, Skill},
    testing::sample,
};

fn call(tool: &str, arguments: Value) -> ToolCall {
    ToolCall {
        tool: tool.to_owned(),
        arguments: arguments.as_object().unwrap().clone(),
    }
}

fn insert(name: &str) -> ToolCall {
    let arguments = json!({"name": name, "description": "How to.", "body": "Do it."});
    call("insert_skill", arguments)
}

/// A library with the skills `one` (active), `two` (on trial), `held` (in quarantine), `off` (disabled) and `away` (archived).
fn library() -> SkillLibrary {
    let states = [
        ("one", State::Active),
        ("two", State::Trial),
        ("held", State::Quarantined),
        ("off", State::Disabled),
        ("away", State::Archived),
    ];
    let add = |(name, state): (&str, State)| {
        let skill = sample::skill(name);
        LibraryChange::Add(Box::new(Skill { state, ..skill }))
    };
    let changes = states.into_iter().map(add).collect();
    SkillLibrary::replay(&[sample::committed(1, changes)]).unwrap()
}

fn refusal(call: &ToolCall) -> Option<CallRefusal> {
    let checked = CurateCall::read(call).and_then(|call| call.check(&library()));
    checked.err()
}

#[test]
fn a_call_fits_its_schema_or_is_refused_with_what_is_wrong() {
    let check = |tool: &str, arguments: Value, words: &str| match refusal(&call(tool, arguments)) {
        Some(CallRefusal::Arguments(why)) => assert!(why.contains(words), "{why}"),
        other => panic!("{tool}: {other:?}"),
    };
    check("insert_skill", json!({}), "missing field `name`");
    check(
        "insert_skill",
        json!({"name": "n", "body": "b"}),
        "`description`",
    );
    check(
        "insert_skill",
        json!({"name": 1, "description": "d", "body": "b"}),
        "string",
    );
    let more = json!({"name": "n", "description": "d", "body": "b", "path": "../x"});
    check("insert_skill", more, "unknown field `path`");
    check("update_skill", json!({"body": "b"}), "`skill`");
    check("update_skill", json!({"skill": "one"}), "neither");
    check(
        "update_skill",
        json!({"skill": "one", "body": ["b"]}),
        "string",
    );
    check("delete_skill", json!({"skill": "one"}), "`reason`");
    check(
        "delete_skill",
        json!({"skill": null, "reason": "r"}),
        "string",
    );
    let long = json!({"x".repeat(5_000): 1});
    let Some(CallRefusal::Arguments(why)) = refusal(&call("delete_skill", long)) else {
        panic!("it is refused")
    };
    assert_eq!(why.chars().count(), 200);
    for unknown in ["", "insert", "INSERT_SKILL", "drop"] {
        assert_eq!(
            refusal(&call(unknown, json!({}))),
            Some(CallRefusal::UnknownTool)
        );
    }
}

#[test]
fn a_name_must_be_one_and_be_free() {
    let check = |name: &str, expect: Option<CallRefusal>| {
        assert_eq!(refusal(&insert(name)), expect, "{name:?}");
    };
    check("three", None);
    check("Clean the mug!", None);
    check("clean_object_workflow.md", None);
    for none in ["", "!?", " ", ".md", "-"] {
        check(none, Some(CallRefusal::NotAName));
    }
    for taken in ["one", "One", "one.md", "two", "held"] {
        check(taken, Some(CallRefusal::NameTaken));
    }
    // The curator does not see what is out of use.
    check("off", None);
    check("away", None);
}

#[test]
fn a_skill_is_changed_only_if_it_is_there_and_in_use() {
    let check = |skill: &str, expect: Option<CallRefusal>| {
        let update = call("update_skill", json!({"skill": skill, "body": "other"}));
        assert_eq!(refusal(&update), expect, "update {skill:?}");
        let delete = call("delete_skill", json!({"skill": skill, "reason": ""}));
        assert_eq!(refusal(&delete), expect, "delete {skill:?}");
    };
    check("one", None);
    check("one.md", None);
    check("two", None);
    for absent in ["three", "", "!?"] {
        check(absent, Some(CallRefusal::NotFound));
    }
    for unused in ["held", "off", "away"] {
        check(unused, Some(CallRefusal::NotOffered));
    }
}

#[test]
fn an_update_must_change_something() {
    let skill = sample::skill("one");
    let check = |description: Option<&str>, body: Option<&str>, expect| {
        let arguments = json!({"skill": "one", "description": description, "body": body});
        let update = CurateCall::read(&call("update_skill", arguments)).unwrap();
        assert_eq!(update.check(&library()).err(), expect);
    };
    let (old, body) = (skill.description.as_str(), skill.body.as_str());
    check(Some(old), None, Some(CallRefusal::Unchanged));
    check(None, Some(body), Some(CallRefusal::Unchanged));
    check(Some(old), Some(body), Some(CallRefusal::Unchanged));
    check(Some("new"), Some(body), None);
    check(None, Some("new"), None);
}

#[test]
fn a_skill_is_found_by_its_name_first_and_by_its_id_else() {
    let mut named = sample::skill("one");
    named.id = "sk-1".into();
    let mut other = sample::skill("two");
    other.id = "one".into();
    let changes = [named, other].map(|skill| LibraryChange::Add(Box::new(skill)));
    let library = SkillLibrary::replay(&[sample::committed(1, changes.to_vec())]).unwrap();
    let found = |text: &str| offered(&library, text).map(|entry| entry.skill.id.to_string());
    assert_eq!(found("one").as_deref(), Ok("sk-1"));
    assert_eq!(found("sk-1").as_deref(), Ok("sk-1"));
    assert_eq!(found("two").as_deref(), Ok("one"));
}

#[test]
fn the_last_skill_in_use_may_be_deleted_and_one_out_of_use_may_not() {
    let mut changes = vec![LibraryChange::Add(Box::new(sample::skill("one")))];
    changes.push(LibraryChange::Add(Box::new(sample::skill("gone"))));
    changes.push(LibraryChange::SetState {
        skill: "gone".into(),
        state: State::Archived,
        reason: String::new(),
    });
    let library = SkillLibrary::replay(&[sample::committed(1, changes)]).unwrap();
    let check = |name: &str| {
        let delete = call("delete_skill", json!({"skill": name, "reason": "r"}));
        CurateCall::read(&delete).unwrap().check(&library)
    };
    assert_eq!(check("one"), Ok(()));
    assert_eq!(check("gone"), Err(CallRefusal::NotOffered));
}

#[test]
fn what_a_report_says_of_a_call_is_short() {
    let check = |call: &ToolCall, expect: &str| assert_eq!(about(call), expect);
    check(&insert("clean"), "clean");
    check(&call("update_skill", json!({"skill": "one"})), "one");
    check(&call("delete_skill", json!({"skill": 7})), "");
    check(&call("drop", json!({"name": "x"})), "drop");
    assert_eq!(about(&insert(&"ü".repeat(500))).chars().count(), 64);
    assert_eq!(about(&call(&"t".repeat(500), json!({}))).len(), 64);
}
