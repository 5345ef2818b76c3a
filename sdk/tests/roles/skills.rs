//! What a role's skill must have.

use journeyman::{
    ErrorKind,
    agent::role::GeneralRoles,
    contract::{RoleAnswer, Roles},
    domain::{Role, SkillName},
    library::format::SkillMd,
    testing::sample,
};

use super::{good, read, request, shipped};

fn changed(role: Role, change: impl FnOnce(&mut SkillMd)) -> SkillMd {
    let mut skill = shipped().skill(role).unwrap().clone();
    change(&mut skill);
    skill
}

/// What the error about a flawed skill says, with its facts.
fn check(change: impl FnOnce(&mut SkillMd), facts: &[(&str, &str)], message: &str) {
    let error = GeneralRoles::from_skills(&[changed(Role::Extract, change)]).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Invalid);
    assert_eq!(error.message(), message);
    assert_eq!(error.facts().collect::<Vec<_>>(), facts, "{error}");
    assert!(error.hint_text().is_some_and(|hint| !hint.is_empty()));
}

#[test]
fn a_flawed_skill_is_refused_with_what_is_missing() {
    let role = ("role", "extract");
    check(
        |skill| skill.name = SkillName::new("role-judge").unwrap(),
        &[("skill", "role-judge")],
        "the skill is named for no role",
    );
    check(
        |skill| skill.body = skill.body.replace("{{attempt}}", ""),
        &[role, ("slot", "attempt")],
        "the prompt lacks a slot that the role needs",
    );
    check(
        |skill| skill.body.push_str("\n{{skills}}"),
        &[role, ("slot", "skills")],
        "the prompt has a slot that the role does not know",
    );
    check(
        |skill| skill.body = skill.body.replace("```json", "```"),
        &[role],
        "there is no schema of the answer",
    );
    check(
        |skill| {
            skill.body = skill
                .body
                .replace("\"anyOf\": [", "\"anyOf\": ["[1..].trim())
        },
        &[role, ("line", "2"), ("column", "3")],
        "the schema of the answer is not JSON",
    );
    check(
        |skill| {
            skill.body = skill
                .body
                .replace("\"anyOf\": [", "\"type\": \"number\", \"anyOf\": [")
        },
        &[role, ("at", "/type")],
        "the schema cannot be used: neither an object nor an array fits it",
    );
    check(
        |skill| {
            skill.body = skill
                .body
                .replace("\"anyOf\": [", "\"type\": \"array\", \"anyOf\": [")
        },
        &[role],
        "no object fits the schema of the answer",
    );
    check(
        |skill| drop(skill.metadata.remove("max-tokens")),
        &[role, ("key", "max-tokens")],
        "a number is missing",
    );
    for (key, value) in [
        ("temperature", "hot"),
        ("temperature", "NaN"),
        ("top-p", "0"),
        ("shown", "-1"),
        ("shown-chars", "0"),
    ] {
        check(
            |skill| drop(skill.metadata.insert(key.to_owned(), value.to_owned())),
            &[role, ("key", key)],
            "a number cannot be used",
        );
    }
    let one = shipped().skill(Role::Refine).unwrap().clone();
    let error = GeneralRoles::from_skills(&[one.clone(), one]).unwrap_err();
    assert_eq!(error.message(), "two skills are of one role");
}

#[test]
fn each_role_has_its_shipped_skill() {
    let roles = Role::ALL.map(|role| format!("role-{role}"));
    let whole = "role-refine-whole".to_owned();
    let names: Vec<String> = roles.into_iter().chain([whole]).collect();
    let shipped_names = journeyman_skills::ROLES.iter().map(|skill| skill.name);
    assert_eq!(shipped_names.collect::<Vec<_>>(), names);
    for skill in journeyman_skills::ROLES {
        let read = SkillMd::read_strict(skill.text, Some(skill.name)).unwrap();
        assert_eq!(shipped().skill_named(skill.name), Some(&read));
    }
}

#[test]
fn braces_that_are_no_slot_stay() {
    let skill = changed(Role::Extract, |skill| {
        skill
            .body
            .push_str("\n{{Name}} {{ {{a b}} {{}} {{attempt}} {{task");
    });
    let roles = shipped().with_skill(&skill).unwrap();
    let task = sample::role_task(Role::Extract);
    let text = roles.prompt(&request(&task)).unwrap().prompt.text();
    assert!(text.contains("\n{{Name}} {{ {{a b}} {{}} The task was done"));
    assert!(text.ends_with("</attempt> {{task"), "{text}");
}

#[test]
fn a_hosts_narrower_schema_counts() {
    let skill = changed(Role::Attribute, |skill| {
        let from = "\"reason\": {\"type\": \"string\"}";
        let to = "\"reason\": {\"type\": \"string\", \"maxLength\": 5}";
        assert!(skill.body.contains(from));
        skill.body = skill.body.replace(from, to);
        skill
            .metadata
            .insert("temperature".to_owned(), "0.5".to_owned());
    });
    let roles = shipped().with_skill(&skill).unwrap();
    let task = sample::role_task(Role::Attribute);
    assert_eq!(
        roles.prompt(&request(&task)).unwrap().sampling.temperature,
        0.5
    );
    let answer = good(Role::Attribute).to_string();
    assert!(matches!(
        read(Role::Attribute, &answer),
        Ok(RoleAnswer::Credit { .. })
    ));
    let error = roles.read(&request(&task), &answer).unwrap_err();
    assert_eq!(
        error.message(),
        "the JSON breaks the schema; at /reason: it is longer than 5 characters"
    );
}
