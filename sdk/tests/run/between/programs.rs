//! The programs of tasks and of maintenance: saved in the middle, answered in any order, changed behind the run's back.

use journeyman::run::{EffectId, Performer, RunMachine, RunPlan, Station};
use journeyman::testing::Edited as _;
use serde_json::Value;

use super::*;

/// What the roles say so that every program has much to ask.
fn busy() -> Script {
    Script {
        attribute: "harmful: it was refused",
        refine: "skill better: How to do it better.\nsay: one two",
        refactor: "shared: Says one two.\nsay: one two",
        ..Script::default()
    }
}

fn machine() -> RunMachine {
    machine_of(hisme().with_program(n64(9), GainsPolicy::default()))
}

fn machine_of(recipe: Recipe) -> RunMachine {
    let plan = RunPlan::new(RunId::new("run"), Seed(7), recipe, tasks(9));
    RunMachine::new(plan.edited(|it| it.replays = true)).expect("a machine")
}

fn performer() -> Performer {
    let (components, _) = parts(busy());
    Performer::new(Arc::new(components), hisme().limits)
}

/// Answers one of the open effects, which `pick` names among so many; its id.
fn step(
    machine: &mut RunMachine,
    performer: &Performer,
    pick: impl FnOnce(usize) -> usize,
) -> EffectId {
    let mut effects = machine.effects();
    assert!(!effects.is_empty(), "an unfinished run needs something");
    let (id, effect) = effects.swap_remove(pick(effects.len()));
    let answer = block_on(performer.perform(effect)).expect("it is performed");
    machine.answer(id.clone(), answer).expect("it fits");
    id
}

/// Runs to the end; the library, the events as lines, and how many needs each station had.
fn run(
    shuffle: Option<Seed>,
    saves: bool,
) -> (
    String,
    Vec<String>,
    std::collections::BTreeMap<Station, usize>,
) {
    let (mut machine, performer) = (machine(), performer());
    let (mut round, mut events) = (0, Vec::new());
    let mut stations = std::collections::BTreeMap::new();
    while !machine.is_finished() {
        let pick = |count: usize| {
            let picked = shuffle.map(|seed| seed.derive("pick", round).index(count));
            picked.flatten().unwrap_or(0)
        };
        let id = step(&mut machine, &performer, pick);
        *stations.entry(id.station).or_default() += 1;
        round += 1;
        if saves {
            let json = machine.save().expect("it saves");
            let resumed = RunMachine::resume(&json, &journeyman::policy::Policies::new())
                .expect("it resumes");
            assert_eq!(resumed, machine, "after {id}");
            machine = resumed;
        }
        events.extend(machine.take_events().iter().map(ToString::to_string));
    }
    (bytes(machine.library()), events, stations)
}

#[test]
fn a_run_that_is_saved_after_every_answer_ends_the_same() {
    let (library, events, stations) = run(None, false);
    assert!(stations[&Station::Maintain] > 30, "{stations:?}");
    assert!(stations[&Station::Keep] >= 4, "{stations:?}");
    for kind in ["revised skill", "overlap"] {
        assert!(
            events.iter().any(|event| event.contains(kind)),
            "{kind}: {events:#?}"
        );
    }
    let (saved, told, _) = run(None, true);
    assert_eq!(saved, library);
    assert_eq!(told, events);
}

#[test]
fn the_order_of_answers_to_programs_does_not_matter() {
    let (library, events, stations) = run(None, false);
    for seed in 0..12 {
        let (other, told, asked) = run(Some(Seed(seed)), seed % 4 == 0);
        assert_eq!(other, library, "{seed}");
        assert_eq!(told, events, "{seed}");
        assert_eq!(asked, stations, "{seed}");
    }
}

/// Runs until maintenance has an answer and an open question.
fn in_maintenance() -> (RunMachine, Performer) {
    let (mut machine, performer) = (machine(), performer());
    let mut answered = false;
    loop {
        let id = step(&mut machine, &performer, |_| 0);
        answered |= id.station == Station::Maintain;
        let open = machine.effects();
        if answered && open.iter().any(|(id, _)| id.station == Station::Maintain) {
            machine.take_events();
            return (machine, performer);
        }
    }
}

/// Gives every answer of a program another question.
fn alter(value: &mut Value) {
    match value {
        Value::Array(values) => values.iter_mut().for_each(alter),
        Value::Object(fields) => {
            if fields.contains_key("answer")
                && let Some(digest) = fields.get_mut("to")
            {
                *digest = "of another question".into();
            }
            fields.values_mut().for_each(alter);
        }
        _ => {}
    }
}

#[test]
fn a_program_that_asks_otherwise_when_it_is_resumed_fails_alone() {
    let (machine, performer) = in_maintenance();
    let library = bytes(machine.library());
    let mut json: Value = serde_json::from_str(&machine.save().expect("it saves")).expect("JSON");
    alter(&mut json["maintaining"]);
    let mut resumed = RunMachine::resume(&json.to_string(), &journeyman::policy::Policies::new())
        .expect("it resumes");
    assert_eq!(bytes(resumed.library()), library, "nothing learned is lost");
    let events = resumed.take_events();
    let failed = events.iter().find_map(|event| match &event.kind {
        EventKind::MaintenanceFailed { part, reason } => Some((part.as_str(), reason)),
        _ => None,
    });
    let (part, reason) = failed.expect("it is told");
    assert_eq!(part, "micro");
    assert!(reason.contains("asks something else"), "{reason}");
    assert!(reason.contains("place: 0"), "{reason}");
    while !resumed.is_finished() {
        step(&mut resumed, &performer, |_| 0);
    }
    assert_eq!(
        resumed.report().tasks.len(),
        9,
        "the other tasks are learned from"
    );
}

#[test]
fn a_task_whose_program_asks_otherwise_when_it_is_resumed_fails_alone() {
    let (mut machine, performer) = (machine(), performer());
    while machine
        .effects()
        .iter()
        .all(|(id, _)| id.station != Station::Judge)
    {
        step(&mut machine, &performer, |_| 0);
    }
    let mut json: Value = serde_json::from_str(&machine.save().expect("it saves")).expect("JSON");
    alter(&mut json["active"]);
    let mut resumed = RunMachine::resume(&json.to_string(), &journeyman::policy::Policies::new())
        .expect("it resumes");
    let mut failed = 0;
    loop {
        let events = resumed.take_events();
        let failures = events.iter();
        failed += failures
            .filter(|event| matches!(event.kind, EventKind::TaskFailed { .. }))
            .count();
        if resumed.is_finished() {
            break;
        }
        step(&mut resumed, &performer, |_| 0);
    }
    assert!(
        (1..=3).contains(&failed),
        "of the first batch alone: {failed}"
    );
    assert_eq!(resumed.report().tasks.len(), 9);
    assert!(
        resumed.library().tasks_learned() >= 6,
        "the others are learned from"
    );
}

#[test]
fn answers_and_commits_of_an_earlier_step_change_nothing() {
    let (mut machine, performer) = (machine(), performer());
    let mut before = Vec::new();
    while !machine.is_finished() {
        let (id, effect) = machine.effects().swap_remove(0);
        let answer = block_on(performer.perform(effect)).expect("it is performed");
        machine.answer(id.clone(), answer.clone()).expect("it fits");
        if machine.is_finished() {
            break;
        }
        if matches!(id.station, Station::Maintain | Station::Keep) {
            before.push((id, answer));
            let saved = machine.save().expect("it saves");
            for (id, answer) in &before {
                machine
                    .answer(id.clone(), answer.clone())
                    .expect("it is passed over");
                assert_eq!(machine.save().expect("it saves"), saved, "{id}");
            }
        }
    }
    let (library, ..) = run(None, false);
    assert_eq!(bytes(machine.library()), library);
}

/// A task's questions to roles: the role, the place and the seed of each, by its number.
type Asked = std::collections::BTreeMap<u32, (Role, Vec<u32>, Seed)>;

#[test]
fn a_task_asks_about_its_skills_first_and_the_writer_s_questions_have_the_numbers_after_them() {
    let mut recipe = hisme();
    recipe.credit.attribute = Attribute::Always;
    recipe.write.when = WriteWhen::Always;
    let mut extract = Extract::new(n32(3));
    extract.failures = true;
    recipe.write.by = extract.into();
    let (mut machine, performer) = (machine_of(recipe), performer());
    let mut tasks = std::collections::BTreeMap::<u64, Asked>::new();
    let mut round = 0;
    while !machine.is_finished() {
        for (id, effect) in machine.effects() {
            let (Station::Role, Effect::Role { ask, seed }) = (id.station, effect) else {
                continue;
            };
            let path = id.place.path().to_vec();
            let number = *path.last().expect("a number");
            let question = (ask.role(), path, seed);
            let asked = tasks.entry(id.step).or_default();
            let before = asked.insert(number, question.clone());
            assert!(before.is_none_or(|before| before == question), "{id}");
        }
        let pick = |count| Seed(3).derive("pick", round).index(count).unwrap_or(0);
        step(&mut machine, &performer, pick);
        round += 1;
        let saved = machine.save().expect("it saves");
        let resumed = RunMachine::resume(&saved, &journeyman::policy::Policies::new());
        machine = resumed.expect("it resumes");
    }
    assert_eq!(tasks.len(), 9);
    let attributions = |asked: &Asked| {
        let mut roles = asked.values();
        roles.position(|(role, ..)| *role != Role::Attribute)
    };
    assert!(tasks.values().any(|asked| attributions(asked) > Some(0)));
    for (step, asked) in &tasks {
        let about_skills = attributions(asked).expect("it writes");
        let roles: Vec<Role> = asked.values().map(|(role, ..)| *role).collect();
        let writer = [Role::Extract; 3];
        assert_eq!(roles[about_skills..], writer, "task {step}");
        let scope = asked.values().next().map(|(_, path, _)| path.clone());
        let scope = scope.expect("it asks");
        let scope = scope.split_last().expect("a number").1;
        assert!(scope.iter().skip(1).all(|number| *number == 0), "{scope:?}");
        for (place, (number, (role, path, seed))) in (0..).zip(asked) {
            assert_eq!(*number, place, "task {step}");
            assert_eq!(path.split_last(), Some((number, scope)));
            let of_step = Seed(7).derive("step", *step);
            assert_eq!(*seed, of_step.derive(role.name(), u64::from(*number)));
        }
    }
}
