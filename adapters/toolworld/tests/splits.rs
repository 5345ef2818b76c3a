//! Held-out worlds and held-out tasks stay out, by construction.
#![allow(clippy::unwrap_used, missing_docs)]

use std::collections::HashSet;

use journeyman::ErrorKind;
use journeyman_toolworld::corpus::{Mixture, document};
use journeyman_toolworld::lexicon::{NOUNS, VERBS};
use journeyman_toolworld::roles::Role;
use journeyman_toolworld::script::{Part, Script};
use journeyman_toolworld::seed::Draws;
use journeyman_toolworld::split::Split;
use journeyman_toolworld::stream::{StreamTask, Universe, UniverseSpec};
use journeyman_toolworld::tool::{SkillText, ToolName};
use journeyman_toolworld::world::{World, WorldSpec};

const DOCUMENTS: u64 = 3_000;

fn training_text() -> impl Iterator<Item = Script> {
    (0..DOCUMENTS).flat_map(|number| {
        [Mixture::EARLY, Mixture::LATE, Mixture::LAST]
            .map(|mixture| document(&mixture, &mut Draws::new("splits", &[number])))
    })
}

fn universe(seed: u64) -> (Universe, Vec<StreamTask>, Vec<StreamTask>) {
    let universe = Universe::make(UniverseSpec::default(), seed).unwrap();
    let stream = universe.stream(96);
    let held_out = universe.held_out(&stream, 300);
    (universe, stream, held_out)
}

/// Every tool that a training text names: rows, plans, calls, skills and what refusals send to.
fn tools_of(script: &Script) -> Vec<ToolName> {
    let mut tools = Vec::new();
    let mut opened = "";
    for (part, _) in script.parts() {
        match part {
            Part::Control(control) => opened = control,
            Part::Text(_) if opened == "<task>" => {}
            Part::Text(text) => {
                let words: Vec<&str> = text
                    .split([' ', '\n', ';', ':'])
                    .filter(|word| !word.is_empty())
                    .collect();
                let pairs = words
                    .windows(2)
                    .filter_map(|pair| Some(ToolName::new(pair.first()?, pair.get(1)?)));
                // A skill that claims every tool of its verb names none.
                let named =
                    |name: &ToolName| VERBS.contains(&name.verb.as_str()) && name.noun != "any";
                tools.extend(pairs.filter(named));
            }
        }
    }
    tools
}

#[test]
fn about_one_pair_in_five_is_held_out() {
    let pairs = VERBS.len() * NOUNS.len();
    let held_out = VERBS
        .iter()
        .flat_map(|verb| NOUNS.iter().map(move |noun| Split::of(verb, noun)))
        .filter(|split| *split == Split::HeldOut)
        .count();
    assert!(
        (pairs * 18 / 100..pairs * 22 / 100).contains(&held_out),
        "{held_out} of {pairs}"
    );
}

#[test]
fn training_text_names_no_held_out_tool() {
    let mut seen = 0;
    for script in training_text() {
        for name in tools_of(&script) {
            assert_eq!(
                Split::of(&name.verb, &name.noun),
                Split::Training,
                "{name} in {}",
                script.readable()
            );
            seen += 1;
        }
    }
    assert!(seen > DOCUMENTS, "the test found only {seen} tools");
}

#[test]
fn universes_use_held_out_tools_alone() {
    let (_, stream, held_out) = universe(7);
    for task in stream.iter().chain(&held_out) {
        for service in &task.world.services {
            let name = &service.tool.name;
            assert_eq!(Split::of(&name.verb, &name.noun), Split::HeldOut, "{name}");
        }
    }
}

/// What a universe tells of itself: its tasks' texts, its skills, and its tools' demands as sentences; each apart from the
/// blanks around it.
fn told_by(universe: &Universe, tasks: &[StreamTask]) -> HashSet<String> {
    let mut texts: HashSet<String> = tasks.iter().map(|task| task.world.query.clone()).collect();
    for member in universe.members() {
        let tool = &member.service.tool.name;
        let skill = member.skill();
        // A title alone is the name of a tool, and a first step may be.
        let steps = skill
            .steps
            .iter()
            .filter(|step| step.split(' ').count() > 2);
        texts.extend(steps.cloned());
        texts.insert(skill.to_string());
        let demands = member.service.contract.iter();
        texts.extend(demands.map(|demand| demand.note(tool)));
    }
    texts
}

/// The texts that occur in a script, be it within a longer text.
fn occurring<'a>(script: &Script, texts: &'a HashSet<String>) -> Vec<&'a String> {
    let all = script.readable();
    texts.iter().filter(|text| all.contains(*text)).collect()
}

#[test]
fn no_text_or_skill_of_a_universe_occurs_in_training_text() {
    let (universe, stream, held_out) = universe(7);
    let texts = told_by(&universe, &[stream.clone(), held_out].concat());
    assert!(texts.len() > 350, "{}", texts.len());
    // The search finds a text and a skill, also within others.
    let query = &stream[0].world.query;
    let skill = universe.members()[0].skill().to_string();
    let longer = format!("today {query} soon");
    let script = Script::task(&longer).skills([(skill.as_str(), false)]);
    let found = occurring(&script, &texts);
    assert!(
        found.contains(&query) && found.contains(&&skill),
        "{found:?}"
    );
    for script in training_text() {
        let found = occurring(&script, &texts);
        assert!(found.is_empty(), "{found:?} in {}", script.readable());
    }
}

/// What the evaluation of the bundled model reads: the prompts of its roles, and the texts, contracts and rows of its
/// worlds.
#[test]
fn nothing_of_the_evaluation_occurs_in_training_text() {
    let mut texts = HashSet::new();
    for number in 0..300 {
        let mut draws = Draws::new("evaluation", &[1, number]);
        let spec = WorldSpec {
            split: Split::HeldOut,
            ..WorldSpec::wide(&mut draws)
        };
        let world = World::make(&spec, &mut draws);
        let target = world.target().unwrap();
        texts.insert(world.query.clone());
        texts.insert(SkillText::of(target, &world.given_names()).to_string());
        texts.extend(target.notes());
        for role in Role::ALL.into_iter().filter(|role| *role != Role::Rule) {
            let case = role.case(&spec, &mut draws);
            let longest = case
                .prompt
                .parts()
                .iter()
                .filter_map(|(part, _)| match part {
                    Part::Text(text) => Some(text.trim().to_owned()),
                    Part::Control(_) => None,
                });
            texts.extend(longest.max_by_key(String::len));
        }
    }
    assert!(texts.len() > 2_000, "{}", texts.len());
    for script in training_text() {
        for (part, _) in script.parts() {
            if let Part::Text(text) = part {
                assert!(!texts.contains(text.trim()), "{text}");
            }
        }
    }
}

#[test]
fn held_out_tasks_are_about_contracts_of_the_stream_in_other_words_and_values() {
    let (_, stream, held_out) = universe(11);
    assert_eq!(held_out.len(), 300);
    for task in &held_out {
        let target = task.world.target().unwrap();
        let kin: Vec<_> = stream
            .iter()
            .filter(|seen| seen.world.target() == Some(target))
            .collect();
        assert!(!kin.is_empty(), "{} is not in the stream", target.tool.name);
        assert!(
            stream
                .iter()
                .all(|seen| seen.world.query != task.world.query && seen.id != task.id)
        );
        for seen in kin {
            assert!(
                task.world.goal.given.is_empty() || seen.world.goal.given != task.world.goal.given
            );
        }
    }
}

#[test]
fn contracts_recur_with_other_words_and_the_same_seed_gives_the_same_stream() {
    let (made, stream, held_out) = universe(3);
    assert_eq!((stream.clone(), held_out), (universe(3).1, universe(3).2));
    assert_ne!(stream, universe(4).1);
    let hidden = made
        .members()
        .iter()
        .filter(|member| member.service.is_hidden())
        .count();
    assert_eq!((hidden, made.members().len()), (16, 24));
    for member in made.members() {
        let tasks: Vec<_> = stream
            .iter()
            .filter(|task| task.world.target() == Some(&member.service))
            .collect();
        assert_eq!(tasks.len(), 4);
        let texts: HashSet<&str> = tasks.iter().map(|task| task.world.query.as_str()).collect();
        assert!(texts.len() > 1, "{texts:?}");
    }
}

#[test]
fn skills_of_a_universe_are_hard_to_tell_apart() {
    let (made, _, _) = universe(5);
    let names: Vec<&ToolName> = made
        .members()
        .iter()
        .map(|member| &member.service.tool.name)
        .collect();
    let near = |name: &&&ToolName| {
        names
            .iter()
            .any(|other| other != *name && (other.verb == name.verb || other.noun == name.noun))
    };
    assert!(
        names.iter().filter(near).count() * 10 >= names.len() * 8,
        "{names:?}"
    );
}

#[test]
fn empty_universes_and_streams() {
    let nothing = UniverseSpec {
        hidden: 0,
        plain: 0,
        ..UniverseSpec::default()
    };
    assert_eq!(
        Universe::make(nothing, 1).unwrap_err().kind(),
        ErrorKind::Invalid
    );
    let made = Universe::make(UniverseSpec::default(), 1).unwrap();
    assert!(made.stream(0).is_empty());
    assert!(
        made.held_out(&[], 10).is_empty(),
        "no contract occurs in an empty stream"
    );
}
