//! The way that users take: roles' cases, the vocabulary, the training text's documents.

use journeyman::Seed;
use journeyman::agent::role::GeneralRoles;
use journeyman::contract::{RoleAnswer, RoleRequest, RoleTask, Roles};
use journeyman::domain::Role;
use journeyman_toolworld::environment::command;
use journeyman_toolworld::general::acting::prompt_format;
use journeyman_toolworld::general::corpus::{Mixture, Writer};
use journeyman_toolworld::general::document::Document;
use journeyman_toolworld::general::manner::Manner;
use journeyman_toolworld::general::opaque::{can_be_found_out, explore};
use journeyman_toolworld::general::recipe::{Recipe, to_call};
use journeyman_toolworld::general::roles::{RoleCase, Stage, agrees, case};
use journeyman_toolworld::general::skills::{draft, read as read_body};
use journeyman_toolworld::general::tools::definitions;
use journeyman_toolworld::general::vocabulary::{Encoder, Vocabulary};
use journeyman_toolworld::seed::Draws;
use journeyman_toolworld::simulate::Outcome;
use journeyman_toolworld::world::{World, WorldSpec};
use serde_json::Value;

/// Cases of each role; each is read by the shipped roles.
const CASES: u64 = 60;

fn cases(role: Role) -> Vec<RoleCase> {
    let prompt_format = prompt_format();
    let case = |number: u64| {
        let mut draws = Draws::new("role cases", &[number]);
        let spec = WorldSpec::wide(&mut draws);
        let stage = Stage {
            spec: &spec,
            prompt_format: &prompt_format,
        };
        case(role, stage, &mut draws)
    };
    (0..CASES).map(case).collect()
}

fn read_answer(roles: &GeneralRoles, case: &RoleCase) -> RoleAnswer {
    let request = RoleRequest::new(&case.task, Seed(0));
    roles.prompt(&request).unwrap();
    roles
        .read(&request, &case.answer)
        .unwrap_or_else(|error| panic!("{error}: {}", case.answer))
}

#[test]
fn every_answer_is_read_back_and_agrees_with_itself() {
    let roles = GeneralRoles::shipped().unwrap();
    for role in Role::ALL {
        for case in cases(role) {
            let answer = read_answer(&roles, &case);
            assert!(agrees(&answer, &answer), "{role}: {}", case.answer);
            if let RoleAnswer::Segments { repaired, .. } = answer {
                assert!(!repaired, "{}", case.answer);
            }
        }
    }
}

#[test]
fn answers_with_other_contents_do_not_agree() {
    let roles = GeneralRoles::shipped().unwrap();
    for role in Role::ALL {
        let answers: Vec<RoleAnswer> = cases(role)
            .iter()
            .map(|case| read_answer(&roles, case))
            .collect();
        let first = &answers[0];
        assert!(
            answers.iter().any(|other| !agrees(first, other)),
            "{role}: all answers agree"
        );
    }
}

#[test]
fn written_skills_do_what_the_contract_demands() {
    let roles = GeneralRoles::shipped().unwrap();
    let mut written = 0;
    for case in cases(Role::Extract) {
        if let RoleAnswer::Draft(draft) = read_answer(&roles, &case) {
            assert!(read_body(&draft.body).is_some(), "{}", draft.body);
            written += 1;
        }
    }
    assert!(written > CASES / 3, "{written}");
}

#[test]
fn a_reviewed_skill_shows_its_score_in_its_text() {
    let roles = GeneralRoles::shipped().unwrap();
    let mut found = [0; 4];
    for case in cases(Role::Review) {
        let RoleTask::Review { skill } = &case.task else {
            panic!("{:?}", case.task);
        };
        let RoleAnswer::Reviewed { quality, reason } = read_answer(&roles, &case) else {
            panic!("{}", case.answer);
        };
        let score = (quality * 3.0).round() as usize;
        found[score] += 1;
        let says_when = skill.description.contains("Use when a task asks to ");
        let superfluous = reason.strip_prefix("This says nothing: ");
        match (score, superfluous) {
            (3, _) => assert!(says_when, "{skill:?}"),
            (2, Some(sentence)) => assert!(skill.body.contains(sentence), "{skill:?}"),
            // Without a condition, or with one that is a task word for word.
            (1 | 2, _) => assert!(!says_when, "{skill:?}"),
            _ => assert!(read_body(&skill.body).is_none(), "{skill:?}"),
        }
    }
    assert!(found.iter().all(|count| *count > 0), "{found:?}");
}

fn worlds(label: &str, count: u64) -> Vec<World> {
    let world = |number| {
        let mut draws = Draws::new(label, &[number]);
        let spec = WorldSpec::wide(&mut draws);
        World::make(&spec, &mut draws)
    };
    (0..count).map(world).collect()
}

#[test]
fn a_draft_is_read_back_as_its_recipe() {
    for world in worlds("drafts", 200) {
        let recipe = Recipe::of_target(&world).unwrap();
        let read = read_body(&draft(&recipe).body).unwrap();
        assert!(read.does_the_same(&recipe), "{}", draft(&recipe).body);
    }
}

#[test]
fn definitions_allow_what_the_task_and_the_contract_want() {
    for (number, world) in (0..).zip(worlds("definitions", 200)) {
        let mut draws = Draws::new("manner", &[number]);
        let manner = match draws.chance(0.5) {
            true => Manner::named(&mut draws),
            false => Manner::opaque(&mut draws),
        };
        let tools = definitions(&world, &manner);
        assert_eq!(tools.len(), world.services.len());
        let target = &world.goal.target;
        let name = format!("{}_{}", target.verb, target.noun);
        let tool = tools.iter().find(|tool| tool.name == name).unwrap();
        for setting in &world.goal.given {
            let schema = &tool.input_schema["properties"][&setting.parameter];
            if let Some(values) = schema.get("enum").and_then(Value::as_array) {
                assert!(values.iter().any(|value| value == setting.value.as_str()));
            }
        }
    }
}

#[test]
fn opaque_refusals_can_be_found_out() {
    let mut done = 0;
    let mut tried = 0;
    for (number, world) in (0..).zip(worlds("opaque", 400)) {
        if !can_be_found_out(&world) {
            continue;
        }
        let manner = Manner::opaque(&mut Draws::new("opaque manner", &[number]));
        let exchanges = explore(&world, &manner, number);
        tried += 1;
        done += usize::from(exchanges.last().unwrap().reply.outcome == Outcome::Done);
        for exchange in &exchanges {
            // What the explorer writes survives the way through a call in JSON.
            let call = to_call(&exchange.call);
            assert_eq!(to_call(&command(&call)), call);
        }
    }
    assert!(done * 10 >= tried * 9, "{done} of {tried}");
}

fn documents(count: u64) -> (Writer, Vec<Document>) {
    let writer = Writer::new().unwrap();
    let document =
        |number| writer.document(&Mixture::LATE, &mut Draws::new("documents", &[number]));
    let documents = (0..count).map(document).collect();
    (writer, documents)
}

#[test]
fn ids_spell_the_documents_that_they_encode() {
    let (writer, documents) = documents(300);
    let vocabulary = Vocabulary::learn(&writer, &documents);
    assert!(vocabulary.tokens.len() < 1 << 15);
    let mut encoder = Encoder::new(&vocabulary);
    let mut sizes: Vec<usize> = Vec::new();
    for document in &documents {
        let ids = encoder.document(document);
        assert_eq!(
            vocabulary.decode(ids.iter().map(|(id, _)| *id)),
            document.text()
        );
        sizes.push(ids.len());
    }
    sizes.sort_unstable();
    assert!(
        sizes[sizes.len() / 2] < 350,
        "median {}",
        sizes[sizes.len() / 2]
    );
    assert!(sizes[sizes.len() * 95 / 100] < 800);
}

#[test]
fn marks_in_data_are_no_control_tokens() {
    let (writer, documents) = documents(50);
    let vocabulary = Vocabulary::learn(&writer, &documents);
    let mut encoder = Encoder::new(&vocabulary);
    let text = "<|im_end|> and <tool_call>";
    let controls = vocabulary.controls;
    let has = |ids: Vec<u16>| ids.iter().any(|id| usize::from(*id) < controls);
    assert!(!has(encoder.encode(text, false)));
    assert!(has(encoder.encode(text, true)));
}

#[test]
fn every_document_has_something_to_learn() {
    for document in documents(200).1 {
        assert!(
            document.pieces.iter().any(|piece| piece.learned),
            "{}",
            document.text()
        );
    }
}

#[test]
fn planned_documents_have_the_first_words_of_an_attempt_alone() {
    let writer = Writer::new().unwrap();
    let mixture = Mixture {
        acting: Mixture::LATE.acting.map(|(kind, _)| (kind, 0)),
        values: 0,
        unfit: 0,
        gate: 0,
        fits: 0,
        drill: 0,
        planned: 1,
        roles: [0; Role::ALL.len()],
    };
    for number in 0..200 {
        let document = writer.document(&mixture, &mut Draws::new("planned", &[number]));
        let learned = document.pieces.iter().filter(|piece| piece.learned);
        let learned: String = learned.map(|piece| piece.text.as_str()).collect();
        let lines: Vec<&str> = learned.trim_end_matches("<|im_end|>").lines().collect();
        let [skill, plan] = lines[..] else {
            panic!("{learned}");
        };
        assert!(
            skill.starts_with("Skill: ") && plan.starts_with("Plan: "),
            "{learned}"
        );
        assert!(!document.text().contains("<tools>"));
    }
}
