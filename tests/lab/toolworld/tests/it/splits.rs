//! Held-out worlds and held-out tasks stay out, by construction.

use std::collections::{HashMap, HashSet};

use journeyman::ErrorKind;
use journeyman::domain::Role;
use journeyman_toolworld::general::acting::prompt_format;
use journeyman_toolworld::general::corpus::{Mixture, Writer};
use journeyman_toolworld::general::document::Document;
use journeyman_toolworld::general::recipe::Recipe;
use journeyman_toolworld::general::roles::{Stage, case};
use journeyman_toolworld::general::skills::draft;
use journeyman_toolworld::lexicon::{NOUNS, VERBS};
use journeyman_toolworld::seed::Draws;
use journeyman_toolworld::split::Split;
use journeyman_toolworld::stream::{StreamTask, Universe, UniverseSpec};
use journeyman_toolworld::tool::ToolName;
use journeyman_toolworld::world::{World, WorldSpec};

const DOCUMENTS: u64 = 1_500;

fn training_text() -> impl Iterator<Item = Document> {
    let writer = Writer::new().unwrap();
    (0..DOCUMENTS).flat_map(move |number| {
        let document = |mixture| writer.document(&mixture, &mut Draws::new("splits", &[number]));
        [Mixture::EARLY, Mixture::LATE].map(document)
    })
}

fn universe(seed: u64) -> (Universe, Vec<StreamTask>, Vec<StreamTask>) {
    let universe = Universe::make(UniverseSpec::default(), seed).unwrap();
    let stream = universe.stream(96);
    let held_out = universe.held_out(&stream, 300);
    (universe, stream, held_out)
}

/// Every tool that a training text names as definitions and calls do.
fn tools_of(document: &Document) -> Vec<ToolName> {
    let text = document.text();
    let words = text.split(|sign: char| !sign.is_ascii_lowercase() && sign != '_');
    let names = words.filter_map(|word| {
        let (verb, noun) = word.split_once('_')?;
        Some(ToolName::new(verb, noun))
    });
    // A skill may be called `unseal_the_coffee`.
    let is_tool = |name: &ToolName| {
        let is_noun = !name.noun.is_empty() && !name.noun.contains('_');
        is_noun && VERBS.contains(&name.verb.as_str())
    };
    names.filter(is_tool).collect()
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

/// Whether a document asks if a skill fits a task that it does not fit.
fn asks_about_a_rival(document: &Document) -> bool {
    let learned = document.pieces.iter().filter(|piece| piece.learned);
    let learned: String = learned.map(|piece| piece.text.as_str()).collect();
    document.text().contains("\n<skill>\n") && learned.trim_end() == "no<|im_end|>"
}

#[test]
fn training_text_names_no_held_out_tool_but_as_one_that_a_task_does_not_ask_for() {
    let mut seen = 0;
    for document in training_text() {
        let names = tools_of(&document);
        seen += names.len() as u64;
        let held_out = |name: &&ToolName| Split::of(&name.verb, &name.noun) == Split::HeldOut;
        if let Some(name) = names.iter().find(held_out) {
            let text = document.text();
            assert!(asks_about_a_rival(&document), "{name} in {text}");
            assert!(!text.contains("<tools>"), "{text}");
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

/// What a universe tells of itself: its tasks' texts and its skills, whole and call by call.
fn told_by(universe: &Universe, tasks: &[StreamTask]) -> HashSet<String> {
    let mut texts: HashSet<String> = tasks.iter().map(|task| task.world.query.clone()).collect();
    for member in universe.members() {
        let body = draft(&Recipe::of(&member.service, &member.given)).body;
        // A call without values is the name of a tool.
        let calls = body.lines().filter(|line| line.contains(" with "));
        texts.extend(calls.map(|line| line.trim().to_owned()));
        texts.insert(body.trim().to_owned());
    }
    texts
}

/// The texts that occur in a training text, be it within a longer one.
fn occurring<'a>(text: &str, texts: &'a HashSet<String>) -> Vec<&'a String> {
    texts.iter().filter(|one| text.contains(*one)).collect()
}

#[test]
fn no_text_or_skill_of_a_universe_occurs_in_training_text() {
    let (universe, stream, held_out) = universe(7);
    let texts = told_by(&universe, &[stream.clone(), held_out].concat());
    assert!(texts.len() > 350, "{}", texts.len());
    // The search finds a text and a skill, also within others.
    let query = &stream[0].world.query;
    let member = &universe.members()[0];
    let skill = draft(&Recipe::of(&member.service, &member.given)).body;
    let found = occurring(&format!("today {query} soon\n{skill}"), &texts);
    assert!(
        found.contains(&query) && found.contains(&&skill.trim().to_owned()),
        "{found:?}"
    );
    for document in training_text() {
        let found = occurring(&document.text(), &texts);
        assert!(found.is_empty(), "{found:?} in {}", document.text());
    }
}

/// What the evaluation of the bundled model reads: the prompts of its roles, and the texts and skills of its worlds. What
/// several of its prompts have in common is of the role and not of a world.
#[test]
fn nothing_of_the_evaluation_occurs_in_training_text() {
    let writer = Writer::new().unwrap();
    let prompt_format = prompt_format();
    let mut texts: HashMap<String, usize> = HashMap::new();
    for number in 0..60 {
        let mut draws = Draws::new("evaluation", &[1, number]);
        let spec = WorldSpec {
            split: Split::HeldOut,
            ..WorldSpec::wide(&mut draws)
        };
        let world = World::make(&spec, &mut draws);
        let recipe = Recipe::of_target(&world).unwrap();
        let mut read = HashSet::from([world.query.clone(), draft(&recipe).body.trim().to_owned()]);
        let stage = Stage {
            spec: &spec,
            prompt_format: &prompt_format,
        };
        for role in Role::ALL {
            let case = case(role, stage, &mut draws);
            let document = writer.case(&case, None).unwrap();
            let data = document.pieces.iter().filter(|piece| !piece.control);
            let longest = data.map(|piece| piece.text.trim().to_owned());
            read.extend(longest.max_by_key(String::len));
        }
        for text in read {
            *texts.entry(text).or_default() += 1;
        }
    }
    texts.retain(|_, count| *count == 1);
    assert!(texts.len() > 900, "{}", texts.len());
    for document in training_text() {
        for piece in &document.pieces {
            let text = piece.text.trim();
            assert!(!texts.contains_key(text), "{text}");
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
    assert_eq!(
        Universe::make(UniverseSpec::of(0, 0), 1)
            .unwrap_err()
            .kind(),
        ErrorKind::Invalid
    );
    let made = Universe::make(UniverseSpec::default(), 1).unwrap();
    assert!(made.stream(0).is_empty());
    assert!(
        made.held_out(&[], 10).is_empty(),
        "no contract occurs in an empty stream"
    );
}
