//! SkillRL's published memories: read as values, and made a bank of without a model.

use journeyman::domain::{Scope, Source, Trust};
use journeyman_interchange::{
    memories::{self, BankOptions, Memory},
    skillrl,
};
use serde_json::{Value, json};

fn success(id: &str, category: &str, pattern: &str) -> Value {
    json!({
        "memory_id": id,
        "contextual_description": format!("AlfWorld task classified as '{category}' to do it."),
        "tags": {"environment": "Alfworld", "outcome": "Success"},
        "content": {
            "task_meta": {"original_goal": format!("do {id}.")},
            "refined_trajectory": {"refined_trajectory": [{
                "step_index": 0,
                "action": "go to shelf",
                "critical_observation": "a cup",
                "reasoning": "search",
            }]},
            "strategic_guidelines": {"planning_pattern": pattern, "mistakes_to_avoid": []},
        },
        "origin_env_id": "env001",
    })
}

fn failure(id: &str, category: &str, mistakes: &[(&str, &str)]) -> Value {
    let mistakes = mistakes
        .iter()
        .map(|(when, bad)| json!({"trigger_condition": when, "bad_action": bad}));
    let mut memory = success(id, category, "");
    memory["tags"]["outcome"] = json!("Failure");
    memory["content"]["refined_trajectory"] = Value::Null;
    memory["content"]["strategic_guidelines"] =
        json!({"planning_pattern": null, "mistakes_to_avoid": mistakes.collect::<Vec<_>>()});
    memory
}

fn read(memories: &[Value]) -> Vec<Memory> {
    memories::read(&Value::from(memories).to_string()).expect("memories")
}

fn source() -> Source {
    Source::new("memories", Trust::Trusted)
}

#[test]
fn a_memory_is_a_value() {
    let mistakes = [("the cup is seen", "walk on")];
    let all = read(&[
        success("m1", "tea", "Search -> Take"),
        failure("m2", "tea", &mistakes),
    ]);
    let [done, failed] = all.as_slice() else {
        panic!("{all:?}")
    };
    assert_eq!(
        (done.id.as_str(), done.task.as_str(), done.success),
        ("m1", "do m1.", true)
    );
    assert_eq!(done.category.as_ref().map(|one| one.as_str()), Some("tea"));
    assert_eq!(done.planning_pattern.as_deref(), Some("Search -> Take"));
    assert_eq!(done.steps[0].action, "go to shelf");
    assert_eq!((failed.success, failed.steps.len()), (false, 0));
    assert_eq!(failed.mistakes_to_avoid[0].bad_action, "walk on");
    let mut unclassified = success("m3", "tea", "Search");
    unclassified["contextual_description"] = json!("A task, classified as it is.");
    assert_eq!(read(&[unclassified])[0].category, None);
    assert!(read(&[]).is_empty());
}

#[test]
fn a_malformed_file_is_refused_whole_and_names_the_place() {
    let check = |change: fn(&mut Value), place: &str| {
        let mut list = vec![
            success("m1", "tea", "Search"),
            failure("m2", "tea", &[("a", "b")]),
        ];
        change(&mut list[1]);
        let error = memories::read(&Value::from(list).to_string()).expect_err(place);
        assert_eq!(error.kind(), journeyman::ErrorKind::Invalid);
        assert_eq!(error.fact("place"), Some(place), "{error}");
    };
    check(|memory| *memory = json!("text"), "memories/1");
    check(|memory| memory["memory_id"] = json!(""), "1/memory_id");
    check(|memory| memory["memory_id"] = json!("m1"), "1/memory_id");
    check(
        |memory| memory["contextual_description"] = json!(3),
        "1/contextual_description",
    );
    check(|memory| memory["tags"] = Value::Null, "1/tags");
    check(
        |memory| memory["tags"]["outcome"] = json!("Maybe"),
        "1/tags/outcome",
    );
    check(|memory| memory["content"] = json!([]), "1/content");
    check(
        |memory| memory["content"]["task_meta"] = json!({}),
        "1/content/task_meta/original_goal",
    );
    check(
        |memory| memory["content"]["refined_trajectory"] = json!("steps"),
        "1/content/refined_trajectory",
    );
    check(
        |memory| {
            memory["content"]["refined_trajectory"] =
                json!({"refined_trajectory": [{"action": "go"}]})
        },
        "1/content/refined_trajectory/refined_trajectory/0/critical_observation",
    );
    check(
        |memory| memory["content"]["strategic_guidelines"]["planning_pattern"] = json!(7),
        "1/content/strategic_guidelines/planning_pattern",
    );
    check(
        |memory| {
            memory["content"]["strategic_guidelines"]["mistakes_to_avoid"][0]["bad_action"] =
                json!(" ")
        },
        "1/content/strategic_guidelines/mistakes_to_avoid/0/bad_action",
    );
    for (text, says) in [
        ("{}", "these are no memories"),
        ("[{\"memory_id\": ", "not JSON"),
        ("[{\"memory_id\": \"a\u{202E}\"}]", "hidden character"),
    ] {
        let error = memories::read(text).expect_err(says);
        assert!(error.to_string().contains(says), "{error}");
    }
}

#[test]
fn what_is_alike_is_one_skill_of_its_category() {
    let all = read(&[
        success(
            "m1",
            "tea",
            "Search the shelf -> Take the cup -> Heat the cup",
        ),
        success(
            "m2",
            "tea",
            "Search the shelf -> Take the cup -> Heat the cup -> Place",
        ),
        success("m3", "tea", "Ask -> Wait"),
        success(
            "m4",
            "cake",
            "Search the shelf -> Take the cup -> Heat the cup",
        ),
        failure(
            "m5",
            "tea",
            &[
                ("the cup is seen", "walk past the cup"),
                ("it is hot", "touch it"),
            ],
        ),
        failure("m6", "tea", &[("the cup is seen now", "walk past the cup")]),
    ]);
    let made = memories::bank(&all, &BankOptions::default()).expect("a bank");
    let groups: Vec<(Option<&str>, usize, String)> = (made.groups.iter())
        .map(|one| {
            let category = one.category.as_ref().map(|category| category.as_str());
            (category, one.members, one.memories.join(" "))
        })
        .collect();
    let expect = [
        (Some("cake"), 1, "m4"),
        (Some("tea"), 2, "m1 m2"),
        (Some("tea"), 1, "m3"),
        (Some("tea"), 2, "m5 m6"),
        (Some("tea"), 1, "m5"),
    ];
    let expect = expect.map(|(category, members, ids)| (category, members, ids.to_owned()));
    assert_eq!(groups, expect);
    assert_eq!(made.left_out, 0);

    let skills = skillrl::read(&made.json, &source()).expect("it is a bank");
    let of = |scope: &Scope| skills.iter().filter(|skill| skill.scope == *scope).count();
    assert_eq!(
        (of(&Scope::Category("tea".into())), of(&Scope::General)),
        (4, 0)
    );
    let avoid = skills
        .iter()
        .find(|skill| skill.body.contains("touch it"))
        .expect("a mistake");
    assert_eq!(
        (avoid.body.as_str(), avoid.description.as_str()),
        ("Avoid this: touch it", "it is hot")
    );
    let plan = skills
        .iter()
        .find(|skill| skill.body.starts_with("Ask"))
        .expect("a plan");
    assert_eq!(plan.name.as_str(), "ask-wait");
}

#[test]
fn what_is_alike_in_many_categories_is_general_and_a_category_is_bounded() {
    let pattern = "Search the shelf -> Take the cup";
    let mut all: Vec<Value> = ["tea", "cake", "soup"]
        .iter()
        .map(|category| success(category, category, pattern))
        .collect();
    for number in 0..9 {
        let words = [
            "ask", "look", "wait", "turn", "open", "read", "push", "pull", "sing",
        ];
        all.push(success(&format!("m{number}"), "tea", words[number]));
    }
    let made = memories::bank(&read(&all), &BankOptions::default()).expect("a bank");
    let general: Vec<&str> = made
        .groups
        .iter()
        .filter(|one| one.category.is_none())
        .map(|one| one.text.as_str())
        .collect();
    assert_eq!(general, [pattern]);
    assert_eq!((made.groups.len(), made.left_out), (1 + 6, 3));
    let mut whole = BankOptions::default();
    whole.most = None;
    let made = memories::bank(&read(&all), &whole).expect("a bank");
    assert_eq!((made.groups.len(), made.left_out), (1 + 9, 0));
    // The same memories give the same bank.
    assert_eq!(memories::bank(&read(&all), &whole).expect("a bank"), made);
}

#[test]
fn a_bank_needs_patterns_or_mistakes_and_a_sound_similarity() {
    let none = [failure("m1", "tea", &[])];
    let error = memories::bank(&read(&none), &BankOptions::default()).expect_err("nothing in it");
    assert!(
        error
            .to_string()
            .contains("no memory has a pattern or a mistake"),
        "{error}"
    );
    for near in [0.0, 1.5, f64::NAN] {
        let options = BankOptions::default().with_near(near);
        assert!(memories::bank(&read(&[success("m", "tea", "Ask")]), &options).is_err());
    }
}

/// `JOURNEYMAN_DATA=DIR cargo test -p journeyman-interchange --test it -- --ignored --nocapture memories::`
#[test]
#[ignore = "needs JOURNEYMAN_DATA, a folder with skillrl/"]
fn a_bank_of_the_published_memories() {
    let data = std::env::var("JOURNEYMAN_DATA").expect("JOURNEYMAN_DATA names a folder");
    let path = format!("{data}/skillrl/alfworld.generated_memories_alfworld_total.json");
    let text = std::fs::read_to_string(path).expect("the memories");
    let all = memories::read(&text).expect("they are read");
    let done = all.iter().filter(|memory| memory.success).count();
    assert_eq!((all.len(), done), (223, 113));
    assert!(all.iter().all(|memory| memory.category.is_some()));

    for most in [BankOptions::default().most, None] {
        let options = BankOptions::default().with_most(most);
        let made = memories::bank(&all, &options).expect("a bank");
        let skills = skillrl::read(&made.json, &source()).expect("it is a bank");
        assert_eq!(skills.len(), made.groups.len());
        let written: Value =
            serde_json::from_str(&skillrl::write(&skills).expect("written")).expect("JSON");
        let bank: Value = serde_json::from_str(&made.json).expect("JSON");
        assert_eq!(written, bank);
        let general = skills.iter().filter(|skill| skill.scope == Scope::General);
        let found = (general.count(), skills.len());
        let expect = if most.is_some() { (4, 48) } else { (4, 466) };
        assert_eq!(found, expect, "at most {most:?} of a kind");
    }
}
