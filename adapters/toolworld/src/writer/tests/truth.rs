//! The true cut of attempts.

use super::*;
use journeyman::domain::Segmentation;

use crate::environment::Setup;
use crate::policy::Policy;
use crate::simulate::Simulation;
use crate::world::World;
use crate::writer::true_cut;

/// A novice's attempt in a world, with what the world answered.
fn played(number: u64) -> Option<(Trace, Vec<Exchange>, World)> {
    let mut draws = Draws::new("cut", &[number]);
    let world = World::make(&WorldSpec::wide(&mut draws), &mut draws);
    let mut simulation = Simulation::start(world.clone(), number);
    let exchanges = Policy::novice(&world)?.run(&mut simulation, 8);
    let observation = Observation::new(world.query.clone(), Source::trusted("toolworld"));
    let steps = exchanges.iter().enumerate();
    let steps = steps.map(|(index, exchange)| step_of(&observation, index, exchange));
    let mut attempt = trace_of(&scenes(Scene::alone, 9).next()?);
    attempt.task.payload = Setup::new(world.clone()).to_json().unwrap();
    attempt.world_seed = Seed(number);
    attempt.trajectory.steps = steps.collect();
    Some((attempt, exchanges, world))
}

#[test]
fn an_attempt_is_cut_by_what_its_world_demands() {
    let (mut purposes, mut skills) = (BTreeSet::new(), BTreeSet::new());
    let mut joined = 0;
    for (attempt, exchanges, world) in (0..200).filter_map(played) {
        let contract = &world.target().unwrap().contract;
        let kinds: Vec<&str> = (exchanges.iter())
            .map(|exchange| crate::roles::subgoal(contract, exchange))
            .collect();
        let cut = true_cut(&attempt).unwrap();
        // In the words of the general roles the spans are the same.
        let spans = |cut: &Segmentation| -> Vec<(usize, usize)> {
            let subgoals = cut.subgoals().iter();
            subgoals.map(|one| (one.first, one.last)).collect()
        };
        let general = crate::general::roles::true_cut(&attempt).unwrap();
        assert_eq!(spans(&general), spans(&cut));
        skills.extend(general.subgoals().iter().map(|one| one.skill.clone()));
        // The answer that the role is trained to give is read as the same cut.
        let mut number = 0;
        let spans = kinds.chunk_by(|one, next| one == next).map(|span| {
            let first = number + 1;
            number += span.len();
            joined += usize::from(span.len() > 1);
            format!("{} {first} {number}", span[0])
        });
        let answer = spans.collect::<Vec<_>>().join("; ");
        let task = RoleTask::Segment {
            attempt: Box::new(attempt),
            prompt: Default::default(),
        };
        let expect = RoleAnswer::Segments {
            segmentation: cut,
            repaired: false,
        };
        assert_eq!(read(&task, &answer).unwrap(), expect);
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
