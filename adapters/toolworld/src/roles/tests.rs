use std::collections::{BTreeMap, HashSet};

use super::judging::credit_of;
use super::writing::{corrected, written};
use super::*;
use crate::policy::Policy;
use crate::scene::Scene;
use crate::simulate::Simulation;
use crate::tool::{RESULT_SLOT, TASK_SLOT, ToolName};
use crate::vocabulary::Vocabulary;
use crate::world::World;

/// Draws scenes of a kind in wide worlds.
fn scenes(
    kind: fn(&WorldSpec, &mut Draws) -> Option<Scene>,
    label: &str,
) -> impl Iterator<Item = Scene> {
    let draws = (0..120).map(|number| Draws::new(label, &[number]));
    draws.filter_map(move |mut draws| kind(&WorldSpec::wide(&mut draws), &mut draws))
}

fn cases(role: Role, count: u64) -> impl Iterator<Item = Case> {
    (0..count).map(move |number| {
        let mut draws = Draws::new("cases", &[number]);
        role.case(&WorldSpec::wide(&mut draws), &mut draws)
    })
}

/// Whether a policy that follows the skill does a task of its contract at the first attempt.
fn does(world: &World, skill: &SkillText) -> bool {
    let mut simulation = Simulation::start(world.clone(), 9);
    Policy::follower(world, skill)
        .unwrap()
        .run(&mut simulation, 8);
    simulation.is_first_attempt()
}

#[test]
fn a_written_and_a_repaired_skill_do_the_next_task_and_the_stale_one_does_not() {
    for scene in scenes(Scene::alone, "written") {
        let next = scene
            .world
            .again(&WorldSpec::default(), &mut Draws::new("next", &[]))
            .unwrap();
        let skill = written(&scene).unwrap();
        assert!(does(&next, &skill), "{skill}");
    }
    for scene in scenes(Scene::failing, "repaired") {
        let stale = scene.advice.get(scene.used.unwrap()).unwrap();
        let repaired = corrected(&scene, stale).unwrap();
        assert!(does(&scene.world, &repaired), "{repaired}");
        let old = SkillText::parse(&stale.text).unwrap();
        assert!(!does(&scene.world, &old), "{old}");
    }
}

#[test]
fn credit_is_what_came_of_a_skill() {
    let credits = |kind, label| -> HashSet<Credit> {
        let used = scenes(kind, label).filter(|scene| scene.used.is_some());
        used.map(|scene| credit_of(&scene, scene.used.unwrap()).unwrap())
            .collect()
    };
    use Credit::{Harmful, Helpful, Neutral, Uncertain};
    assert_eq!(
        credits(Scene::right, "right"),
        HashSet::from([Helpful, Neutral])
    );
    assert_eq!(credits(Scene::misled, "misled"), HashSet::from([Harmful]));
    assert_eq!(credits(Scene::too_broad, "broad"), HashSet::from([Harmful]));
    assert_eq!(credits(Scene::cut_off, "cut"), HashSet::from([Uncertain]));
    assert_eq!(
        credits(Scene::stopped, "stopped"),
        HashSet::from([Harmful, Uncertain, Neutral])
    );
    for scene in scenes(Scene::right, "right") {
        let expect = if scene.world.is_hidden() {
            Helpful
        } else {
            Neutral
        };
        assert_eq!(credit_of(&scene, 0), Some(expect));
    }
    for scene in scenes(Scene::irrelevant, "irrelevant") {
        assert_eq!(credit_of(&scene, 0), Some(Neutral));
    }
    for scene in scenes(Scene::failing, "failing") {
        // What the service demanded all along and the skill did not say contradicts nothing.
        let stale = &scene.advice.get(scene.used.unwrap()).unwrap().service;
        let contract = &scene.world.target().unwrap().contract;
        let outdated = stale
            .contract
            .iter()
            .any(|demand| !contract.contains(demand));
        let harmful = credit_of(&scene, scene.used.unwrap()) == Some(Harmful);
        assert_eq!(harmful, outdated, "{}", scene.script.readable());
    }
}

#[test]
fn segments_are_contiguous_and_leave_nothing_out() {
    for case in cases(Role::Segment, 200) {
        let calls = case.prompt.readable().matches("<call>").count();
        let mut next = 1;
        let mut kinds = Vec::new();
        for span in case.answer.split("; ") {
            let words: Vec<&str> = span.split(' ').collect();
            assert_eq!(words[1].parse::<usize>().unwrap(), next, "{span}");
            next = words[2].parse::<usize>().unwrap() + 1;
            assert_ne!(kinds.last(), Some(&words[0]));
            kinds.push(words[0]);
        }
        assert_eq!(next, calls + 1);
        assert_eq!(kinds.last(), Some(&"finish"));
    }
}

#[test]
fn lessons_name_the_step_and_a_principle_in_words_of_the_attempt() {
    for case in cases(Role::Lesson, 200) {
        let shown = case.prompt.readable();
        let parts: Vec<&str> = case.answer.split("; ").collect();
        let (number, flawed) = parts[0].split_once(": ").unwrap();
        assert_eq!(
            number.parse::<usize>().unwrap(),
            shown.matches("<call>").count()
        );
        let name = ToolName::parse(flawed).unwrap().to_string();
        assert!(
            parts[2].starts_with(&format!("{name} needs ")),
            "{}",
            case.answer
        );
        for word in case
            .answer
            .split([' ', ';', ':'])
            .filter(|word| !word.is_empty())
        {
            let ours = ["needs", "from", TASK_SLOT, RESULT_SLOT, number].contains(&word);
            assert!(ours || shown.contains(word), "{word} in {}", case.answer);
        }
    }
}

#[test]
fn answers_of_choices_are_spread_over_them() {
    let spread = |role| {
        let mut counts: BTreeMap<String, usize> = BTreeMap::new();
        for case in cases(role, 400) {
            let mut words = case.answer.split(' ');
            let word = if role == Role::Score {
                words.next_back()
            } else {
                words.next()
            };
            let first = word.unwrap().to_owned();
            *counts.entry(first).or_default() += 1;
        }
        counts
    };
    for (role, choices) in [
        (
            Role::Credit,
            vec!["harmful", "helpful", "neutral", "uncertain"],
        ),
        (Role::Score, vec!["0", "1", "2", "3"]),
        (Role::Curate, vec!["delete", "insert", "keep", "update"]),
        (Role::Rule, vec!["avoid", "none", "prefer"]),
    ] {
        let counts = spread(role);
        assert_eq!(
            counts.keys().collect::<Vec<_>>(),
            choices.iter().collect::<Vec<_>>()
        );
        assert!(counts.values().all(|&count| count >= 20), "{counts:?}");
    }
}

#[test]
fn an_answer_is_right_when_it_says_the_same() {
    let case = |answer: &str| Case {
        role: Role::Curate,
        prompt: Script::default(),
        answer: answer.to_owned(),
    };
    let two = case("update 2 cut rope: lift bell; fold map; cut rope zone @");
    assert!(two.is_right(" update 2 cut rope: fold map; lift bell; cut rope zone @"));
    for other in [
        "update 1 cut rope: lift bell; fold map; cut rope zone @",
        "insert cut rope: lift bell; fold map; cut rope zone @",
        "update 2 cut rope: lift bell; fold map; cut rope zone $",
        "update 2 cut rope: lift bell; cut rope zone @",
        "",
    ] {
        assert!(!two.is_right(other), "{other}");
    }
    assert!(case("delete 1").is_right(" delete 1"));
    assert!(!case("delete 1").is_right("delete 2"));
    assert!(!case("keep").is_right(""));
}

#[test]
fn documents_fit_a_training_row() {
    let vocabulary = Vocabulary::new();
    for role in Role::ALL {
        for case in cases(role, 60) {
            let length = case.document().encode(&vocabulary).len();
            assert!(length <= 256, "{role:?}: {length} tokens");
        }
    }
}
