//! Demands that pass: what a service wants once, over what it always wants.

use journeyman::ErrorKind;
use journeyman_toolworld::form::ContractForm;
use journeyman_toolworld::passing::{Passing, PassingKind};
use journeyman_toolworld::policy::Policy;
use journeyman_toolworld::seed::Draws;
use journeyman_toolworld::simulate::Simulation;
use journeyman_toolworld::stream::{StreamTask, Universe, UniverseSpec};
use journeyman_toolworld::tool::{Demand, Service, SkillText};
use journeyman_toolworld::world::{World, WorldSpec};
use sha2::{Digest as _, Sha256};

/// Worlds of every form, each with the same world on a day when more is demanded.
fn days(kind: Option<PassingKind>) -> impl Iterator<Item = (World, World)> {
    let hidden = ContractForm::HIDDEN.iter().map(|(form, _)| *form);
    let forms: Vec<ContractForm> = hidden.chain([ContractForm::Plain]).collect();
    (0..140).map(move |number| {
        let mut draws = Draws::new("days", &[number as u64]);
        let spec = WorldSpec::wide(&mut draws);
        let world = World::with_form(&spec, forms[number % forms.len()], &mut draws);
        let met = world.with_passing(&spec, kind, &mut draws).unwrap();
        (world, met)
    })
}

/// What is demanded on the second day and not on the first.
fn extra(world: &World, met: &World) -> Demand {
    let lasting = &world.target().unwrap().contract;
    let mut now = met.target().unwrap().contract.clone();
    let at = now.iter().position(|demand| !lasting.contains(demand));
    let extra = now.remove(at.unwrap());
    assert_eq!(now, *lasting, "the lasting demands stand as they stood");
    extra
}

#[test]
fn one_demand_comes_on_top_and_its_tool_is_visible() {
    for (world, met) in days(None) {
        let extra = extra(&world, &met);
        let helper = extra.helper().unwrap();
        assert_eq!(world.service(helper), None, "a tool that was not there");
        let shown = met.service(helper).unwrap();
        assert!(!shown.is_hidden() && shown.tool.parameters.is_empty());
        assert_eq!(
            (&met.goal, &met.query, met.wording),
            (&world.goal, &world.query, world.wording)
        );
        assert_eq!(met.services.len(), world.services.len() + 1);
        let others = |service: &&Service| service.tool.name != world.goal.target;
        for service in world.services.iter().filter(others) {
            assert_eq!(met.service(&service.tool.name), Some(service));
        }
    }
}

#[test]
fn who_knows_the_lasting_contract_alone_is_refused_once() {
    let mut kinds = [0, 0];
    for (world, met) in days(None) {
        let skill = SkillText::of(world.target().unwrap(), &world.given_names());
        let run = |world: &World| {
            let mut simulation = Simulation::start(world.clone(), 3);
            let policy = Policy::follower(world, &skill).unwrap();
            policy.run(&mut simulation, 8);
            (simulation.is_done(), simulation.refusals())
        };
        assert_eq!(run(&world), (true, 0));
        assert_eq!(run(&met), (true, 1), "{:?}", met.target());
        kinds[usize::from(matches!(extra(&world, &met), Demand::Before(_)))] += 1;
    }
    assert!(kinds.iter().all(|count| *count > 8), "{kinds:?}");
}

#[test]
fn a_novice_finds_out_within_the_step_budget() {
    for (_, met) in days(None) {
        let mut simulation = Simulation::start(met.clone(), 3);
        Policy::novice(&met).unwrap().run(&mut simulation, 8);
        assert!(simulation.is_done(), "{:?}", met.target());
    }
}

#[test]
fn a_call_may_be_asked_for_alone_and_no_world_without_its_target_demands_anything() {
    for (world, met) in days(Some(PassingKind::Call)) {
        assert!(matches!(extra(&world, &met), Demand::Before(_)));
    }
    let (mut world, _) = days(None).next().unwrap();
    world.services.clear();
    let mut draws = Draws::new("empty", &[]);
    assert_eq!(
        world.with_passing(&WorldSpec::default(), None, &mut draws),
        None
    );
}

fn universe(share: f64, kind: Option<PassingKind>, seed: u64) -> Universe {
    let spec = UniverseSpec {
        passing: Some(Passing { share, kind }),
        ..UniverseSpec::default()
    };
    Universe::make(spec, seed).unwrap()
}

#[test]
fn the_stream_shows_them_at_their_share_and_held_out_tasks_never() {
    for (share, most) in [(0.0, 0), (0.3, 160), (1.0, 400)] {
        let universe = universe(share, None, 5);
        let stream = universe.stream(400);
        let passing = stream.iter().filter(|task| task.passing).count();
        assert!(
            passing <= most && passing as f64 >= share * 320.0,
            "{passing}"
        );
        for task in &stream {
            let tags = task.task().unwrap().tags;
            assert_eq!(tags.contains(&"passing".to_owned()), task.passing);
            let mut members = universe.members().iter();
            let member = members.find(|it| it.service.tool.name == task.world.goal.target);
            let lasting = &member.unwrap().service.contract;
            let met = &task.world.target().unwrap().contract;
            assert_eq!(met.len(), lasting.len() + usize::from(task.passing));
        }
        let held_out = universe.held_out(&stream, 200);
        assert_eq!(held_out.len(), 200);
        for task in &held_out {
            let mut members = universe.members().iter();
            let target = task.world.target().unwrap();
            assert!(!task.passing && members.any(|member| member.service == *target));
        }
    }
}

#[test]
fn the_tasks_are_those_of_the_same_universe_without_them() {
    let plain = Universe::make(UniverseSpec::default(), 8).unwrap();
    let stream = universe(0.4, None, 8).stream(60);
    let without = plain.stream(60);
    for (task, without) in stream.iter().zip(&without) {
        assert_eq!(
            (&task.id, &task.world.query),
            (&without.id, &without.world.query)
        );
        assert!(task.passing || task == without);
    }
    assert_eq!(stream, universe(0.4, None, 8).stream(60));
}

#[test]
fn where_they_are_of_one_kind_no_lasting_demand_is() {
    for kind in [PassingKind::Call, PassingKind::Value] {
        let is_it = |demand: &Demand| match demand {
            Demand::Before(_) => kind == PassingKind::Call,
            Demand::Carried { .. } => kind == PassingKind::Value,
            Demand::Exact(_) => false,
        };
        for seed in 0..6 {
            let universe = universe(0.5, Some(kind), seed);
            let mut hidden = 0;
            for member in universe.members() {
                assert!(!member.service.contract.iter().any(is_it));
                hidden += usize::from(member.service.is_hidden());
            }
            assert_eq!(hidden, 16);
            for task in universe.stream(96) {
                let contract = &task.world.target().unwrap().contract;
                let count = contract.iter().filter(|demand| is_it(demand)).count();
                assert_eq!(count, usize::from(task.passing), "{contract:?}");
            }
        }
    }
}

#[test]
fn a_share_that_is_none_is_refused() {
    for share in [-0.1, 1.1, f64::NAN, f64::INFINITY] {
        let spec = UniverseSpec {
            passing: Some(Passing { share, kind: None }),
            ..UniverseSpec::default()
        };
        let error = Universe::make(spec, 1).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Invalid);
        assert!(error.to_string().contains("outside 0 to 1"), "{error}");
    }
}

/// Without them, streams are what they were when measured figures were taken.
#[test]
fn streams_without_them_stay_byte_for_byte() {
    let digest = |tasks: &[StreamTask]| {
        let mut hash = Sha256::new();
        for task in tasks {
            hash.update(task.id.as_bytes());
            hash.update(serde_json::to_vec(&task.world).unwrap());
        }
        let bytes: Vec<u8> = hash.finalize().to_vec();
        bytes
            .iter()
            .take(8)
            .map(|byte| format!("{byte:02x}"))
            .collect::<String>()
    };
    for (seed, expected) in [
        (1, ["8d148d14743243cb", "79f9b0440946fc1c"]),
        (7, ["2360e40f35febc85", "409f3a88135a8919"]),
        (0x5eed, ["471bcd935feabea6", "448a5f4e66422086"]),
    ] {
        let universe = Universe::make(UniverseSpec::default(), seed).unwrap();
        let stream = universe.stream(120);
        let held_out = universe.held_out(&stream, 100);
        assert_eq!(
            [digest(&stream), digest(&held_out)],
            expected,
            "seed {seed}"
        );
    }
}
