//! The curator and the tagger.

use super::*;
use crate::scene::Advice;

/// The skill of a piece of advice, a step list or sentences.
fn advised(at: usize, advice: &Advice) -> Skill {
    let id = format!("skill-{at}");
    if SkillText::parse(&advice.text).is_some() {
        return skill_of(&id, &advice.text);
    }
    let (title, words) = advice.text.split_once(": ").unwrap();
    let mut skill = skill_of(&id, &format!("{title}: {title}"));
    skill.body = words.to_owned();
    skill
}

fn skills(scene: &Scene) -> Vec<Skill> {
    let advice = scene.advice.iter().enumerate();
    advice.map(|(at, advice)| advised(at, advice)).collect()
}

fn curate(attempt: &Trace, skills: Vec<Skill>) -> RoleTask {
    RoleTask::Curate {
        attempt: Box::new(attempt.clone()),
        correct: Some(true),
        skills,
    }
}

fn called(task: &RoleTask, text: &str) -> Vec<(String, Value)> {
    match read(task, text).unwrap() {
        RoleAnswer::Calls(calls) => calls
            .into_iter()
            .map(|call| (call.tool, Value::Object(call.arguments)))
            .collect(),
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_curator_is_asked_as_it_was_trained() {
    let mut seen = [0; 3];
    let kinds = [
        Scene::alone,
        Scene::irrelevant,
        Scene::stale,
        Scene::rivals,
        Scene::right,
        Scene::both,
    ];
    for kind in kinds {
        for scene in scenes(kind, 40) {
            let (attempt, shown) = (trace_of(&scene), scene.script.readable());
            let retrieved = skills(&scene);
            seen[retrieved.len()] += 1;
            let expect = format!("{shown}<curate>");
            assert_eq!(prompt(&curate(&attempt, retrieved.clone())), expect);
            // A third one is left out.
            let mut more = retrieved;
            more.resize(2, skill_of("skill-8", "cut rope: cut rope"));
            let two = prompt(&curate(&attempt, more.clone()));
            more.push(skill_of("skill-9", "cut rope: cut rope"));
            assert_eq!(prompt(&curate(&attempt, more)), two);
        }
    }
    assert!(seen.iter().all(|count| *count > 20), "{seen:?}");
}

#[test]
fn retrieved_skills_are_in_the_prompt_whatever_was_injected() {
    // Found, and not injected: the agent followed none.
    for scene in scenes(Scene::alone, 20) {
        let attempt = trace_of(&scene);
        let found = vec![skill_of("s", "cut rope: lift bell; cut rope zone 7")];
        let shown = prompt(&curate(&attempt, found));
        let (head, tail) = shown.split_once("<tools>").unwrap();
        assert!(
            head.ends_with("<skill> cut rope: lift bell; cut rope zone 7"),
            "{head}"
        );
        assert!(tail.contains("<skip><call>"), "{tail}");
    }
    // Injected in another order, or not found: the choice is about the skills that are shown.
    let mut turned = 0;
    for scene in scenes(Scene::both, 40) {
        let attempt = trace_of(&scene);
        let mut retrieved = skills(&scene);
        retrieved.reverse();
        let choice = |shown: &str| {
            let (_, said) = shown.split_once("<plan>").unwrap();
            let (opening, _) = said.split_once("<call>").unwrap();
            opening.rsplit_once('\n').unwrap().1.to_owned()
        };
        let other = ["<use2>", "<use>"][scene.used.unwrap()];
        assert_eq!(choice(&prompt(&curate(&attempt, retrieved.clone()))), other);
        let elsewhere = vec![skill_of("elsewhere", "cut rope: cut rope")];
        assert_eq!(choice(&prompt(&curate(&attempt, elsewhere))), "<skip>");
        turned += 1;
    }
    assert!(turned > 10);
}

#[test]
fn its_answers_become_calls_and_what_is_no_answer_is_refused() {
    let (scene, attempt) = done();
    let target = scene.world.goal.target.clone();
    let right = SkillText::of(scene.world.target().unwrap(), &scene.world.given_names());
    let stale = skill_of("old", &format!("{target}: {target}"));
    let other = skill_of("other", "cut rope: cut rope");
    let task = curate(&attempt, vec![other.clone(), stale.clone()]);
    let draft = to_draft(&right);

    assert_eq!(called(&task, "keep"), []);
    assert_eq!(called(&task, " keep\n"), []);
    let insert = serde_json::json!({
        "name": draft.title, "description": draft.description, "body": draft.body,
    });
    let nothing_like_it = curate(&attempt, vec![other.clone()]);
    assert_eq!(
        called(&nothing_like_it, &format!("insert {right}")),
        [("insert_skill".to_owned(), insert)]
    );
    let update = serde_json::json!({"skill": stale.name, "body": draft.body});
    assert_eq!(
        called(&task, &format!(" update 2 {right}\n")),
        [("update_skill".to_owned(), update)]
    );
    // A skill about this tool is there, and was not followed.
    let inserted = called(&task, &format!("insert {right}"));
    assert_eq!(inserted, called(&task, &format!("update 2 {right}")));
    let rivals = curate(&attempt, vec![stale.clone(), stale.clone()]);
    assert_eq!(
        called(&rivals, &format!("insert {right}"))[0].0,
        "insert_skill"
    );
    let deleted = called(&task, "delete 1");
    assert_eq!(deleted[0].0, "delete_skill");
    assert_eq!(deleted[0].1["skill"], serde_json::json!(other.name));
    assert!(deleted[0].1["reason"].is_string());

    for garbage in [
        "",
        "none",
        "keep it",
        "remove 1",
        "INSERT",
        "I would keep everything.",
    ] {
        check_unusable(&task, garbage, "the answer is not `insert SKILL`");
    }
    for garbage in [
        "insert",
        "insert cut",
        "insert cut moon",
        "update 1",
        "update 2 cut",
    ] {
        check_unusable(&task, garbage, "verb noun: step; step");
    }
    for absent in [
        "delete",
        "delete 0",
        "delete 3",
        "delete two",
        "update 3 a b: a b",
        "delete 1 2",
    ] {
        check_unusable(&task, absent, "no skill that was shown");
    }
    check_unusable(&task, "insert lift moon: lift moon", "did not have");
    check_unusable(
        &task,
        &format!("insert {target}: {target} wire 3"),
        "does not have",
    );
    // Skill 1 is about cutting ropes.
    check_unusable(&task, &format!("update 1 {right}"), "another tool");
    check_unusable(
        &curate(&attempt, Vec::new()),
        "delete 1",
        "no skill that was shown",
    );
}

#[test]
fn a_task_is_tagged_by_its_words_alone() {
    let task = RoleTask::Tag {
        task: Box::new(Task::new("t", "go and unseal the coffee with power 65")),
    };
    let expect = "<s><task> go and unseal the coffee with power 65<tag>";
    assert_eq!(prompt(&task), expect);
    let tags = |text: &str| match read(&task, text).unwrap() {
        RoleAnswer::Tags(tags) => tags,
        other => panic!("{other:?}"),
    };
    assert_eq!(tags(" unseal coffee; power\n"), ["unseal coffee", "power"]);
    assert_eq!(tags("unseal coffee"), ["unseal coffee"]);
    for garbage in [
        "",
        "none",
        "unseal",
        "unseal the coffee",
        "unseal coffee;",
        "unseal coffee; the power",
        "; power",
    ] {
        check_unusable(&task, garbage, "verb noun; parameter");
    }
}

#[test]
fn it_says_which_roles_it_plays() {
    assert!(ApprenticeRoles.plays(Part::Curate) && ApprenticeRoles.plays(Part::Tag));
    for role in [Part::Route, Part::DistilBank, Part::Review] {
        assert!(!ApprenticeRoles.plays(role), "{role}");
    }
}
