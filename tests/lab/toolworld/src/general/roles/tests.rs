use std::collections::{BTreeSet, HashSet};

use journeyman::domain::Trace;
use journeyman::{ErrorKind, Seed};
use serde_json::Value;

use super::credit::{Credit, credit_of};
use super::rules::under;
use super::writing::{corrected_service, shown};
use super::*;
use crate::cut::kind_of_step;
use crate::environment::Setup;
use crate::general::acting::prompt_format;
use crate::general::attempt::Attempt;
use crate::general::manner::Manner;
use crate::general::recipe::Recipe;
use crate::policy::{Exchange, Policy};
use crate::scene::Scene;
use crate::seed::Draws;
use crate::simulate::Simulation;
use crate::tool::{Demand, Service, Setting, SkillText, Tool, ToolName};
use crate::world::{World, WorldSpec};

/// Draws scenes of a kind in wide worlds.
fn scenes(
    kind: fn(&WorldSpec, &mut Draws) -> Option<Scene>,
    label: &str,
) -> impl Iterator<Item = Scene> {
    let draws = (0..120).map(|number| Draws::new(label, &[number]));
    draws.filter_map(move |mut draws| kind(&WorldSpec::wide(&mut draws), &mut draws))
}

/// Whether a policy that follows the skill does a task of its contract without refused or unnecessary calls.
fn does(world: &World, skill: &SkillText) -> bool {
    let mut simulation = Simulation::start(world.clone(), 9);
    Policy::follower(world, skill)
        .unwrap()
        .run(&mut simulation, 8);
    simulation.is_first_attempt()
}

#[test]
fn a_written_and_a_repaired_skill_do_the_next_task_and_the_stale_one_does_not() {
    for scene in scenes(Scene::alone, "written").chain(scenes(Scene::passing, "written")) {
        let next = scene
            .world
            .again(&WorldSpec::default(), &mut Draws::new("next", &[]))
            .unwrap();
        let (service, given) = shown(&scene).unwrap();
        let skill = SkillText::of(&service, &given);
        assert!(does(&next, &skill), "{skill:?}");
    }
    let mut outlived = 0;
    for scene in scenes(Scene::failing, "repaired").chain(scenes(Scene::failing, "outlived")) {
        let stale = scene.advice.get(scene.used.unwrap()).unwrap();
        let given = scene.world.given_names();
        let now = corrected_service(&scene, stale).unwrap();
        let repaired = SkillText::of(&now, &given);
        assert!(does(&scene.world, &repaired), "{repaired:?}");
        let old = SkillText::of(&stale.service, &given);
        assert!(!does(&scene.world, &old), "{old:?}");
        // A skill that calls a tool that does not exist any more.
        let mut helpers = stale.service.contract.iter().filter_map(Demand::helper);
        if helpers.any(|name| scene.world.service(name).is_none()) {
            let credit = credit_of(&scene, scene.used.unwrap());
            assert_eq!(credit, Some(Credit::Harmful));
            outlived += 1;
        }
    }
    assert!(outlived > 8, "{outlived}");
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
        // A demand that the service always had and the skill lacks does not contradict the skill.
        let stale = &scene.advice.get(scene.used.unwrap()).unwrap().service;
        let contract = &scene.world.target().unwrap().contract;
        let outdated = stale
            .contract
            .iter()
            .any(|demand| !contract.contains(demand));
        let harmful = credit_of(&scene, scene.used.unwrap()) == Some(Harmful);
        assert_eq!(harmful, outdated, "{scene:?}");
    }
}

#[test]
fn a_rule_is_read_as_it_is_written_and_nothing_else_is() {
    for rule in Feature::ALL.into_iter().flat_map(Rule::about) {
        assert_eq!(Rule::parse(&rule.to_string()), Some(rule));
        assert_eq!(Rule::parse(&format!(" {rule}\n")), Some(rule));
    }
    for other in [
        "",
        "none",
        "Leave out",
        "Leave out values that the task gives",
        "leave out values that the task gives.",
        "Have three calls or more. Have three calls or more.",
    ] {
        assert_eq!(Rule::parse(other), None, "{other:?}");
    }
}

/// Cut the rope: first the bell, the zone that the map gives, tone off.
fn rope() -> (Service, Vec<String>) {
    let demands = [
        Demand::Before(ToolName::new("lift", "bell")),
        Demand::Carried {
            parameter: "zone".into(),
            source: ToolName::new("fold", "map"),
        },
        Demand::Exact(Setting {
            parameter: "tone".into(),
            value: "off".into(),
        }),
    ];
    let parameters = ["zone", "tone", "power", "depth"].map(str::to_owned);
    let service = Service {
        tool: Tool {
            name: ToolName::new("cut", "rope"),
            parameters: parameters.to_vec(),
        },
        contract: demands.to_vec(),
    };
    (service, vec!["power".to_owned()])
}

/// The recipe of the rope with these of its demands, by their place, and with the value of the task or without it.
fn recipe(demands: &[usize], is_given: bool) -> Recipe {
    let (mut service, mut given) = rope();
    let all = std::mem::take(&mut service.contract);
    service.contract = demands.iter().map(|at| all[*at].clone()).collect();
    if !is_given {
        given.clear();
    }
    Recipe::of(&service, &given)
}

#[test]
fn features_are_read_off_the_recipe() {
    use Feature::{Carried, First, Fixed, Given, Long};
    for (demands, is_given, expected) in [
        (&[][..], false, vec![]),
        (&[0], false, vec![First]),
        (&[1], false, vec![Carried]),
        (&[2], false, vec![Fixed]),
        (&[], true, vec![Given]),
        (&[0, 1], false, vec![First, Carried, Long]),
        (&[0, 0], false, vec![First, Long]),
        (&[0, 1, 2], true, Feature::ALL.to_vec()),
    ] {
        let recipe = recipe(demands, is_given);
        assert_eq!(Feature::of(&recipe), expected, "{recipe:?}");
        for feature in Feature::ALL {
            let has = expected.contains(&feature);
            assert_eq!(feature.is_in(&recipe), has);
            let [prefer, avoid] = Rule::about(feature).map(|rule| rule.allows(&recipe));
            assert_eq!((prefer, avoid), (has, !has), "{feature:?}: {recipe:?}");
        }
    }
}

#[test]
fn a_skill_under_rules_leaves_out_what_they_avoid_or_is_none() {
    use Feature::{Carried, First, Fixed, Given, Long};
    let rule = |prefer| move |feature| Rule { feature, prefer };
    let (prefer, avoid) = (rule(true), rule(false));
    let (service, given) = rope();
    for (rules, expected) in [
        (
            &[prefer(First), prefer(Long)][..],
            Some(recipe(&[0, 1, 2], true)),
        ),
        (&[avoid(First)], Some(recipe(&[1, 2], true))),
        (&[avoid(Carried)], Some(recipe(&[0, 2], true))),
        (&[avoid(Fixed)], Some(recipe(&[0, 1], true))),
        (&[avoid(Given)], Some(recipe(&[0, 1, 2], false))),
        (&[avoid(Long)], None),
        (&[avoid(Long), avoid(First)], Some(recipe(&[1, 2], true))),
        (&[prefer(Long), avoid(First)], None),
        (&[prefer(First), avoid(First)], None),
    ] {
        assert_eq!(under(rules, &service, &given), expected, "{rules:?}");
    }
}

#[test]
fn drawn_rules_leave_some_skills_be_change_some_and_forbid_some() {
    let [mut same, mut changed, mut none] = [0, 0, 0];
    for (number, scene) in scenes(Scene::alone, "ruled").enumerate() {
        let target = scene.world.target().unwrap();
        let given = scene.world.given_names();
        for again in 0..3 {
            let rules = Rule::draw(&mut Draws::new("rules", &[number as u64, again]));
            assert!((1..=3).contains(&rules.len()));
            match under(&rules, target, &given) {
                None => none += 1,
                Some(recipe) if recipe == Recipe::of(target, &given) => same += 1,
                Some(recipe) => {
                    assert!(rules.iter().all(|rule| rule.allows(&recipe)));
                    changed += 1;
                }
            }
        }
    }
    let counts = [same, changed, none];
    assert!(
        counts
            .iter()
            .all(|count| *count * 6 > same + changed + none),
        "{counts:?}"
    );
}

/// A novice's attempt in a world, with what the world answered.
fn played(number: u64) -> Option<(Trace, Vec<Exchange>, World)> {
    let mut draws = Draws::new("cut", &[number]);
    let world = World::make(&WorldSpec::wide(&mut draws), &mut draws);
    let mut simulation = Simulation::start(world.clone(), number);
    let exchanges = Policy::novice(&world)?.run(&mut simulation, 8);
    let manner = Manner::named(&mut draws);
    let learned = vec![true; exchanges.len()];
    let attempt = Attempt::acted(
        &world,
        manner.clone(),
        (Vec::new(), None),
        None,
        (&exchanges, &learned),
        &prompt_format(),
    );
    let mut attempt = attempt.trace();
    let setup = Setup::new(world.clone()).with_manner(manner);
    attempt.task.payload = setup.to_json().unwrap();
    attempt.world_seed = Seed(number);
    Some((attempt, exchanges, world))
}

#[test]
fn an_attempt_is_cut_by_what_its_world_demands() {
    let (mut purposes, mut skills) = (BTreeSet::new(), BTreeSet::new());
    let mut joined = 0;
    for (attempt, exchanges, world) in (0..200).filter_map(played) {
        let contract = &world.target().unwrap().contract;
        let kinds: Vec<&str> = (exchanges.iter())
            .map(|exchange| kind_of_step(contract, exchange))
            .collect();
        let mut number = 0;
        let spans = kinds.chunk_by(|one, next| one == next).map(|span| {
            let first = number;
            number += span.len();
            joined += usize::from(span.len() > 1);
            (first, number - 1)
        });
        let spans: Vec<(usize, usize)> = spans.collect();
        let cut = true_cut(&attempt).unwrap();
        let subgoals = cut.subgoals().iter();
        let said: Vec<(usize, usize)> = subgoals.map(|one| (one.first, one.last)).collect();
        assert_eq!(said, spans);
        skills.extend(cut.subgoals().iter().map(|one| one.skill.clone()));
        purposes.extend(kinds);
    }
    let purposes: Vec<&str> = purposes.into_iter().collect();
    assert_eq!(purposes, ["collect", "finish", "prepare", "probe"]);
    let in_words = [
        "calling the tool of the task",
        "finding out what a tool needs",
        "getting a value from a result",
        "making a call that must come first",
    ];
    assert!(skills.iter().eq(in_words), "{skills:?}");
    assert!(joined > 20, "{joined}");
}

#[test]
fn an_attempt_that_its_world_answers_otherwise_is_refused() {
    let (mut attempt, _, _) = (0..).find_map(played).unwrap();
    attempt.trajectory.steps[0].result.is_error ^= true;
    let error = true_cut(&attempt).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Invalid);
    assert!(error.to_string().contains("answers otherwise"), "{error}");
    attempt.task.payload = Value::Null;
    let error = true_cut(&attempt).unwrap_err();
    assert!(error.to_string().contains("not a world"), "{error}");
    let (mut empty, _, _) = (0..).find_map(played).unwrap();
    empty.trajectory.steps.clear();
    assert_eq!(true_cut(&empty).unwrap_err().kind(), ErrorKind::Invalid);
}
