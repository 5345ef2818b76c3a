use std::collections::{BTreeMap, HashSet};

use super::judging::credit_of;
use super::rules::{draw, reasoned_answer};
use super::writing::{corrected, written};
use super::*;
use crate::policy::Policy;
use crate::scene::Scene;
use crate::script::Script;
use crate::seed::Draws;
use crate::simulate::Simulation;
use crate::tool::{
    DEFAULT_SLOT, Demand, RESULT_SLOT, Service, Setting, SkillText, TASK_SLOT, Tool, ToolName,
};
use crate::vocabulary::Vocabulary;
use crate::world::{World, WorldSpec};
use crate::writer::ANSWER_TOKENS;

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
        // A demand that the service always had and the skill lacks does not contradict the skill.
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
        twists: Vec::new(),
    };
    let under_rules = |answer: &str| Case {
        twists: vec![Twist::Rules],
        ..case(answer)
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
    // Under rules only the conclusion counts: the skill, or `none`.
    let ruled = under_rules(
        "fold map carried zone\n cut rope: lift bell; fold map; cut rope zone @\n good",
    );
    assert!(ruled.is_right("#\n cut rope: fold map; lift bell; cut rope zone @\n good good"));
    assert!(!ruled.is_right("#\n cut rope: lift bell; fold map; cut rope zone @\n bad"));
    assert!(!ruled.is_right("fold map carried zone\n cut rope: fold map; cut rope zone @\n good"));
    let none = under_rules("#\n cut rope: cut rope\n bad good");
    assert!(none.is_right("none") && none.is_right("#\n cut rope: lift bell; cut rope\n bad"));
    assert!(!none.is_right("#\n cut rope: cut rope\n good good"));
    // Without rules, three lines are not an answer.
    assert!(!case("cut rope: cut rope").is_right("#\n cut rope: cut rope\n good"));
}

#[test]
fn documents_fit_a_training_row() {
    // Training rows have 192 tokens and one more to predict; longer documents are only learned from rows of 1,024
    // tokens.
    let vocabulary = Vocabulary::new();
    for role in Role::ALL {
        let length = |case: Case| {
            let prompt = case.prompt.clone().encode(&vocabulary).len();
            let whole = case.document().encode(&vocabulary).len();
            assert!(
                whole - prompt <= ANSWER_TOKENS,
                "{role:?}: {}",
                whole - prompt
            );
            whole
        };
        let lengths: Vec<usize> = cases(role, 300).map(length).collect();
        let long = lengths.iter().filter(|length| **length > 193).count();
        let longest = lengths.iter().max();
        assert!(longest <= Some(&256), "{role:?}: {longest:?} tokens");
        assert!(long * 50 <= lengths.len(), "{role:?}: {long} are too long");
    }
}

fn skill(text: &str) -> SkillText {
    SkillText::parse(text).unwrap()
}

const BOTH: &str = "cut rope: lift bell; fold map; cut rope zone @ tone off power $ depth #";

#[test]
fn a_rule_is_read_as_it_is_written_and_nothing_else_is() {
    for rule in Feature::ALL.into_iter().flat_map(Rule::about) {
        assert_eq!(Rule::parse(&rule.to_string()), Some(rule));
        assert_eq!(Rule::parse(&format!(" {rule}\n")), Some(rule));
    }
    for other in [
        "",
        "none",
        "avoid",
        "avoid ",
        "avoid  first",
        "first avoid",
        "Avoid first",
        "avoid first steps",
    ] {
        assert_eq!(Rule::parse(other), None, "{other:?}");
    }
}

#[test]
fn features_are_read_off_the_step_list() {
    use Feature::{Carried, First, Fixed, Given, Long};
    for (text, expected) in [
        ("cut rope: cut rope", vec![]),
        ("cut rope: cut rope zone #", vec![]),
        ("cut rope: lift bell; cut rope zone #", vec![First]),
        ("cut rope: lift bell; cut rope zone @", vec![Carried]),
        ("cut rope: cut rope zone 7 tone off", vec![Fixed]),
        ("cut rope: cut rope zone $", vec![Given]),
        (
            "cut rope: lift bell; fold map; cut rope zone @",
            vec![First, Carried, Long],
        ),
        ("cut rope: lift bell; fold map; cut rope", vec![First, Long]),
        (BOTH, Feature::ALL.to_vec()),
    ] {
        assert_eq!(Feature::of(&skill(text)), expected, "{text}");
        for feature in Feature::ALL {
            assert_eq!(feature.is_in(&skill(text)), expected.contains(&feature));
            for rule in Rule::about(feature) {
                assert_eq!(
                    rule.allows(&skill(text)),
                    rule.fits(&expected),
                    "{rule}: {text}"
                );
            }
        }
    }
}

#[test]
fn a_skill_under_rules_leaves_out_what_they_avoid_or_is_none() {
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
    let service = Service {
        tool: Tool {
            name: ToolName::new("cut", "rope"),
            parameters: ["zone", "tone", "power", "depth"]
                .map(str::to_owned)
                .to_vec(),
        },
        contract: demands.to_vec(),
    };
    let plain = Service {
        contract: Vec::new(),
        ..service.clone()
    };
    let under = |rules: &[&str]| {
        let rules: Vec<Rule> = rules
            .iter()
            .map(|rule| Rule::parse(rule).unwrap())
            .collect();
        let text = reasoned_answer(&rules, &service, &["power".to_owned()]);
        let skill = Some(conclusion(&text)).filter(|skill| *skill != NOTHING);
        (skill.map(str::to_owned), text)
    };
    for (rules, expected) in [
        (&["prefer first", "prefer long"][..], Some(BOTH)),
        (
            &["avoid first"],
            Some("cut rope: fold map; cut rope zone @ tone off power $ depth #"),
        ),
        (
            &["avoid carried"],
            Some("cut rope: lift bell; cut rope zone # tone off power $ depth #"),
        ),
        (
            &["avoid fixed"],
            Some("cut rope: lift bell; fold map; cut rope zone @ tone # power $ depth #"),
        ),
        (
            &["avoid given"],
            Some("cut rope: lift bell; fold map; cut rope zone @ tone off power # depth #"),
        ),
        (&["avoid long"], None),
        (
            &["avoid long", "avoid first"],
            Some("cut rope: fold map; cut rope zone @ tone off power $ depth #"),
        ),
        (&["prefer long", "avoid first"], None),
        (&["prefer first", "avoid first"], None),
    ] {
        assert_eq!(under(rules).0.as_deref(), expected, "{rules:?}");
    }
    let (_, text) = under(&["avoid first", "prefer long"]);
    let lines = [
        "lift bell first; fold map carried zone; tone fixed; power given",
        "cut rope: fold map; cut rope zone @ tone off power $ depth #",
        "good bad",
    ];
    assert_eq!(text, lines.join("\n "));
    let text = reasoned_answer(&[Rule::parse("avoid first").unwrap()], &plain, &[]);
    let lines = [
        "#",
        "cut rope: cut rope zone # tone # power # depth #",
        "good",
    ];
    assert_eq!(text, lines.join("\n "));
    // An answer that does not have three lines is taken as it is.
    for text in [
        "none",
        "cut rope: cut rope",
        "a\n b",
        "a\n b\n c",
        "a\n b\n good\n d",
    ] {
        assert_eq!(conclusion(text), text);
    }
}

#[test]
fn drawn_rules_leave_some_skills_be_change_some_and_forbid_some() {
    let [mut same, mut changed, mut none] = [0, 0, 0];
    for (number, scene) in scenes(Scene::alone, "ruled").enumerate() {
        let target = scene.world.target().unwrap();
        let given = scene.world.given_names();
        for again in 0..3 {
            let rules = draw(&mut Draws::new("rules", &[number as u64, again]));
            assert!((1..=3).contains(&rules.len()));
            let answer = reasoned_answer(&rules, target, &given);
            match SkillText::parse(conclusion(&answer)) {
                None => none += 1,
                Some(skill) if skill == SkillText::of(target, &given) => same += 1,
                Some(skill) => {
                    assert!(rules.iter().all(|rule| rule.allows(&skill)));
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

#[test]
fn written_skills_are_in_words_of_what_is_shown() {
    for role in [Role::Extract, Role::Compare, Role::Repair] {
        for case in cases(role, 300) {
            let shown = case.prompt.readable();
            let shown: HashSet<&str> = shown.split([' ', '<', '>', ';', ':', '\n']).collect();
            let answer = (case.answer.split([' ', ';', ':', '\n'])).filter(|word| !word.is_empty());
            let ours = [DEFAULT_SLOT, TASK_SLOT, RESULT_SLOT, NOTHING, "good", "bad"];
            let kinds = Feature::ALL.map(Feature::word);
            for word in answer {
                let ours = ours.contains(&word) || kinds.contains(&word);
                assert!(ours || shown.contains(word), "{word} in {}", case.answer);
            }
        }
    }
}

/// The skill that compared attempts share, from their text alone.
fn shared(prompt: &str) -> String {
    let attempts: Vec<(&str, Vec<(&str, &str)>)> = (prompt.split("<task> ").skip(1))
        .map(|attempt| {
            let attempt = attempt
                .split("<note>")
                .next()
                .unwrap()
                .trim_end_matches("<compare>");
            let (query, calls) = attempt.split_once("<call> ").unwrap();
            let calls = calls
                .split("<call> ")
                .map(|call| call.split_once("<obs> ").unwrap());
            (query, calls.collect())
        })
        .collect();
    let settings =
        |line: &str| -> Vec<String> { line.split(' ').skip(2).map(str::to_owned).collect() };
    let name = |line: &str| ToolName::parse(line).unwrap();
    let (_, first) = &attempts[0];
    let target = name(first.last().unwrap().0);
    let same = |(_, calls): &(&str, Vec<(&str, &str)>)| name(calls.last().unwrap().0) == target;
    if !attempts.iter().all(same) {
        return NOTHING.to_owned();
    }
    let answered = |calls: &[(&str, &str)], line: &str| -> Option<String> {
        let found = calls
            .iter()
            .find(|(call, reply)| *call == line && reply.starts_with("ok"));
        found.map(|(_, reply)| (*reply).to_owned())
    };
    let mut helpers: Vec<&str> = Vec::new();
    for (line, reply) in first {
        let everywhere = attempts
            .iter()
            .all(|(_, calls)| answered(calls, line).is_some());
        if reply.starts_with("ok") && everywhere && !helpers.contains(line) {
            helpers.push(line);
        }
    }
    let mut call = target.to_string();
    let names = settings(first.last().unwrap().0);
    for (at, parameter) in names.iter().enumerate().step_by(2) {
        let value = |calls: &[(&str, &str)]| settings(calls.last().unwrap().0)[at + 1].clone();
        let given = |(query, calls): &(&str, Vec<(&str, &str)>)| {
            format!(" {query} ").contains(&format!(" {parameter} {} ", value(calls)))
        };
        let carried = |helper: &&str| {
            attempts.iter().all(|(_, calls)| {
                answered(calls, helper) == Some(format!("ok {parameter} {}", value(calls)))
            })
        };
        let slot = if attempts.iter().all(given) {
            TASK_SLOT.to_owned()
        } else if helpers.iter().any(carried) {
            RESULT_SLOT.to_owned()
        } else if attempts
            .iter()
            .all(|(_, calls)| value(calls) == value(first))
        {
            value(first)
        } else {
            DEFAULT_SLOT.to_owned()
        };
        call.push_str(&format!(" {parameter} {slot}"));
    }
    let steps: Vec<&str> = helpers.into_iter().chain([call.as_str()]).collect();
    format!("{target}: {}", steps.join("; "))
}

#[test]
fn what_compared_attempts_share_can_be_told_from_their_text() {
    let mut disagreeing = 0;
    for case in cases(Role::Compare, 400) {
        if case.twists.contains(&Twist::Rules) {
            continue;
        }
        let prompt = case.prompt.readable();
        assert!(case.is_right(&shared(&prompt)), "{prompt} {}", case.answer);
        disagreeing += usize::from(case.twists.contains(&Twist::Disagreement));
    }
    assert!(disagreeing > 100, "{disagreeing}");
}

#[test]
fn a_skill_that_outlived_a_demand_is_harmful_and_its_repair_drops_the_call() {
    let outlived = |case: &Case| case.twists.contains(&Twist::Outlived);
    let mut seen = 0;
    for case in cases(Role::Credit, 1_500).filter(outlived) {
        assert_eq!(case.answer, Credit::Harmful.word());
        assert!(case.prompt.readable().contains("error no tool"));
        seen += 1;
    }
    assert!(seen > 30, "{seen}");
    let (mut seen, mut carried) = (0, 0);
    let plain = |case: &Case| case.twists == [Twist::Outlived];
    for case in cases(Role::Repair, 1_000).filter(plain) {
        let prompt = case.prompt.readable();
        let opening = if prompt.ends_with("<use>") {
            "<skill> "
        } else {
            "<skill2> "
        };
        let (_, told) = prompt.split_once(opening).unwrap();
        let mut skill = SkillText::parse(told.split('<').next().unwrap()).unwrap();
        let (_, gone) = prompt.split_once("error no tool ").unwrap();
        let gone = gone.split('<').next().unwrap().to_owned();
        skill.steps.retain(|step| *step != gone);
        let last = skill.steps.last_mut().unwrap();
        // A value from an earlier result must be one that a call returned.
        if last.contains(RESULT_SLOT) && !prompt.contains("<obs> ok ") {
            *last = last.replace(RESULT_SLOT, DEFAULT_SLOT);
            carried += 1;
        }
        assert!(
            case.is_right(&skill.to_string()),
            "{prompt} {}",
            case.answer
        );
        seen += 1;
    }
    assert!(seen > 60 && carried > 8, "{seen} {carried}");
}

#[test]
fn a_repaired_skill_that_outlived_a_demand_does_the_task() {
    let mut seen = 0;
    for scene in scenes(Scene::failing, "outlived") {
        let stale = scene.advice.get(scene.used.unwrap()).unwrap();
        if scene.outlived(stale) {
            assert_eq!(
                credit_of(&scene, scene.used.unwrap()),
                Some(Credit::Harmful)
            );
            assert!(does(&scene.world, &corrected(&scene, stale).unwrap()));
            seen += 1;
        }
    }
    assert!(seen > 8, "{seen}");
}
