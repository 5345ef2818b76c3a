//! Seeds repeat, contracts hide and hint, and a task takes what its contract says.

use futures::executor::block_on;
use journeyman::{
    Seed,
    contract::Environment,
    domain::{Observation, Task},
};
use journeyman_toolworld::environment::{Setup, Toolworld};
use journeyman_toolworld::form::ContractForm;
use journeyman_toolworld::general::recipe::Recipe;
use journeyman_toolworld::lexicon;
use journeyman_toolworld::policy::{Exchange, Policy};
use journeyman_toolworld::refusal::{Refusal, Wording};
use journeyman_toolworld::request::Goal;
use journeyman_toolworld::seed::Draws;
use journeyman_toolworld::simulate::{Outcome, Simulation};
use journeyman_toolworld::stream::Universe;
use journeyman_toolworld::tool::{Demand, Service, Setting, SkillText, Tool, ToolName};
use journeyman_toolworld::trade::Trade;
use journeyman_toolworld::world::{World, WorldSpec};

fn worlds(count: u64) -> impl Iterator<Item = World> {
    let spec = WorldSpec {
        invented_nouns: 0.2,
        most_tools: 8,
        ..WorldSpec::default()
    };
    (0..count).map(move |number| World::make(&spec, &mut Draws::new("test", &[number])))
}

fn skill(world: &World) -> SkillText {
    SkillText::of(world.target().unwrap(), &world.given_names())
}

#[test]
fn the_same_seed_gives_the_same_world() {
    let again: Vec<World> = worlds(50).collect();
    assert_eq!(worlds(50).collect::<Vec<_>>(), again);
    assert_ne!(again[0], again[1]);
}

#[test]
fn a_policy_that_knows_the_contract_succeeds_at_once() {
    for (number, world) in worlds(1000).enumerate() {
        let mut simulation = Simulation::start(world.clone(), number as u64);
        let _trace = Policy::follower(&world, &skill(&world))
            .unwrap()
            .run(&mut simulation, 8);
        assert!(simulation.is_first_attempt(), "{world:?}");
    }
}

#[test]
fn without_the_contract_hidden_tools_refuse_once_for_each_demand_and_plain_ones_never() {
    for (number, world) in worlds(1000).enumerate() {
        let mut simulation = Simulation::start(world.clone(), number as u64);
        let _trace = Policy::novice(&world).unwrap().run(&mut simulation, 8);
        assert!(simulation.is_done(), "{world:?}");
        assert_eq!(
            simulation.refusals(),
            world.target().unwrap().contract.len(),
            "{world:?}"
        );
        assert_eq!(simulation.is_first_attempt(), !world.is_hidden());
    }
}

#[test]
fn every_form_of_contract_comes_up() {
    let mut seen: Vec<(bool, bool, bool)> = Vec::new();
    for world in worlds(300) {
        let contract = &world.target().unwrap().contract;
        let holds = |test: fn(&Demand) -> bool| contract.iter().any(test);
        seen.push((
            holds(|demand| matches!(demand, Demand::Before(_))),
            holds(|demand| matches!(demand, Demand::Exact(_))),
            holds(|demand| matches!(demand, Demand::Carried { .. })),
        ));
    }
    let forms = ContractForm::HIDDEN.iter().map(|(form, _)| form.parts());
    for form in forms.chain([ContractForm::Plain.parts()]) {
        assert!(seen.contains(&form), "{form:?}");
    }
}

/// What an agent sees before it acts: the task's text and the tools.
fn seen(world: &World) -> Observation {
    let mut task = Task::new("t", world.query.clone());
    task.payload = Setup::new(world.clone()).to_json().unwrap();
    let episode = block_on(Toolworld::default().reset(&task, Seed(1))).unwrap();
    episode.observation().clone()
}

/// Where a text tells this demand: the parameter that it fixes, its value, or the tool that has to be called first. A
/// text may have a helper's verb or noun alone, which other tools and bystanders have too.
fn tells(text: &str, demand: &Demand, target: &ToolName) -> bool {
    let has = |word: &str| text.split_whitespace().any(|other| other == word);
    match demand {
        Demand::Exact(Setting { parameter, value }) => has(parameter) || has(value),
        Demand::Before(helper) => {
            has(&helper.noun) && has(&helper.verb) && helper.verb != target.verb
        }
        Demand::Carried { parameter, source } => {
            has(parameter) || has(&source.noun) && has(&source.verb) && source.verb != target.verb
        }
    }
}

#[test]
fn neither_the_task_nor_the_tools_tell_a_hidden_demand() {
    // Demands of each kind, helpers and other tools without parameters, helpers shown before and after their target.
    let mut kinds = [0; 3];
    let mut bare = [0; 2];
    let mut order = [0; 2];
    for world in worlds(500) {
        let target = world.target().unwrap();
        for demand in &target.contract {
            kinds[match demand {
                Demand::Exact(_) => 0,
                Demand::Before(_) => 1,
                Demand::Carried { .. } => 2,
            }] += 1;
            assert!(!tells(&world.query, demand, &target.tool.name), "{world:?}");
        }
        // The tools are those of a world whose services demand nothing.
        let mut plain = world.clone();
        for service in &mut plain.services {
            service.contract.clear();
        }
        assert_eq!(seen(&world), seen(&plain));
        assert_eq!(seen(&world).text, world.query);
        let helpers: Vec<&ToolName> = target.contract.iter().filter_map(Demand::helper).collect();
        let at = |name: &ToolName| {
            let mut tools = world.services.iter();
            tools
                .position(|service| service.tool.name == *name)
                .unwrap()
        };
        for service in &world.services {
            // A usage line is the name and open slots; what a parameter has to be is not in it.
            let tool = &service.tool;
            let slots = tool.parameters.iter().map(|one| format!(" {one} #"));
            assert_eq!(
                tool.usage(),
                format!("{}{}", tool.name, slots.collect::<String>())
            );
            // Helpers have no parameters, as others that are shown.
            let is_helper = helpers.contains(&&tool.name);
            assert!(!is_helper || tool.parameters.is_empty(), "{world:?}");
            if tool.parameters.is_empty() && *tool != target.tool {
                bare[usize::from(is_helper)] += 1;
            }
            if is_helper {
                order[usize::from(at(&tool.name) > at(&target.tool.name))] += 1;
            }
        }
    }
    assert!(kinds.iter().all(|count| *count >= 100), "{kinds:?}");
    assert!(bare.iter().all(|count| *count >= 100), "{bare:?}");
    let [before, after] = order.map(f64::from);
    let share = before / (before + after);
    assert!((0.4..0.6).contains(&share), "{order:?}");
}

#[test]
fn worlds_show_as_many_tools_as_asked_and_no_name_twice() {
    for fewest in 3..=8 {
        let spec = WorldSpec {
            fewest_tools: fewest,
            most_tools: fewest,
            ..WorldSpec::default()
        };
        for number in 0..50 {
            let world = World::make(&spec, &mut Draws::new("count", &[number]));
            let mut names: Vec<_> = world
                .services
                .iter()
                .map(|service| &service.tool.name)
                .collect();
            names.sort();
            names.dedup();
            assert_eq!(names.len(), fewest, "{world:?}");
        }
    }
}

/// Unseal the coffee: first the bell, tone off, and the code that the oar gives.
fn coffee(wording: Wording) -> World {
    let name = ToolName::new("unseal", "coffee");
    let parameters = ["tone", "power", "code"].map(str::to_owned).to_vec();
    let helper = |verb: &str, noun: &str| {
        Service::plain(Tool {
            name: ToolName::new(verb, noun),
            parameters: Vec::new(),
        })
    };
    let contract = vec![
        Demand::Before(ToolName::new("unseal", "bell")),
        Demand::Exact(Setting {
            parameter: "tone".into(),
            value: "off".into(),
        }),
        Demand::Carried {
            parameter: "code".into(),
            source: ToolName::new("scan", "oar"),
        },
    ];
    World {
        services: vec![
            Service {
                tool: Tool {
                    name: name.clone(),
                    parameters,
                },
                contract,
            },
            helper("unseal", "bell"),
            helper("scan", "oar"),
        ],
        goal: Goal {
            target: name,
            given: vec![Setting {
                parameter: "power".into(),
                value: "65".into(),
            }],
        },
        query: "unseal the coffee with power 65".into(),
        wording,
    }
}

fn told(world: World, lines: &[&str]) -> Vec<String> {
    let mut simulation = Simulation::start(world, 3);
    lines
        .iter()
        .map(|line| simulation.call(line).text)
        .collect()
}

#[test]
fn refusals_name_what_is_missing_in_words_to_copy() {
    let lines = [
        "unseal coffee power 65",
        "unseal bell",
        "unseal coffee power 65",
        "unseal coffee power 65 tone off",
    ];
    assert_eq!(
        told(coffee(Wording::Needs), &lines),
        [
            "error needs unseal bell",
            "ok",
            "error needs tone off",
            "error needs code from scan oar"
        ]
    );
    assert_eq!(
        told(coffee(Wording::Must), &lines),
        [
            "refused first unseal bell",
            "ok",
            "refused tone must be off",
            "refused code comes from scan oar"
        ]
    );
    assert_eq!(
        told(coffee(Wording::Without), &lines),
        [
            "failed without unseal bell",
            "ok",
            "failed without tone off",
            "failed without code from scan oar"
        ]
    );
}

#[test]
fn calls_that_no_service_understands_are_refused() {
    let check = |line: &str, expect: &str| {
        assert_eq!(told(coffee(Wording::Needs), &[line]), [expect], "{line}")
    };
    check("", "error bad call");
    check("unseal", "error bad call");
    check("unseal coffee power", "error bad call");
    check("unseal mast", "error no tool unseal mast");
    check("unseal coffee depth 3", "error unseal coffee has no depth");
    check("unseal coffee power off", "error power takes a number");
    check("unseal coffee power 100", "error power takes a number");
    check("unseal coffee tone 5", "error tone takes a word");
    check("<tools> unseal <call>", "error bad call");
}

#[test]
fn a_value_that_the_task_gives_must_be_that_value() {
    let mut world = coffee(Wording::Needs);
    world.services[0].contract.clear();
    assert_eq!(
        told(
            world,
            &[
                "unseal coffee power 64",
                "unseal coffee tone #",
                "unseal coffee power 65"
            ]
        ),
        ["error wrong power", "error wrong power", "done"]
    );
}

#[test]
fn a_carried_value_comes_from_its_source_and_changes_with_the_run() {
    let value = |seed| {
        let mut simulation = Simulation::start(coffee(Wording::Needs), seed);
        match simulation.call("scan oar").outcome {
            Outcome::Accepted(Some(setting)) => setting.value,
            other => panic!("{other:?}"),
        }
    };
    assert_eq!(value(5), value(5));
    assert!((0..20).any(|seed| value(seed) != value(5)));
    let guess = format!("unseal coffee tone off power 65 code {}", value(5));
    let mut simulation = Simulation::start(coffee(Wording::Needs), 5);
    let _ok = simulation.call("unseal bell");
    let refused = simulation.call(&guess).outcome;
    assert!(
        matches!(refused, Outcome::Refused(Refusal::NeedsResult { .. })),
        "a lucky guess must not pass"
    );
}

#[test]
fn the_skill_of_a_contract_has_its_calls_and_values() {
    let text = skill(&coffee(Wording::Needs));
    assert_eq!(text.title, ToolName::new("unseal", "coffee"));
    let steps = [
        "unseal bell",
        "scan oar",
        "unseal coffee tone off power $ code @",
    ];
    assert_eq!(text.steps, steps);
}

#[test]
fn recipes_do_the_same_in_any_order_of_the_calls_before_the_last() {
    let text = skill(&coffee(Wording::Needs));
    let recipe = |text: &SkillText| Recipe::of_steps(text).unwrap();
    let with = |steps: [&str; 3]| {
        recipe(&SkillText {
            steps: steps.map(str::to_owned).to_vec(),
            ..text.clone()
        })
    };
    let known = recipe(&text);
    let last = "unseal coffee tone off power $ code @";
    let other_order = Recipe {
        // A step list does not say which call gives a value.
        arguments: known.arguments.clone(),
        ..with(["scan oar", "unseal bell", last])
    };
    assert!(known.does_the_same(&other_order));
    for other in [
        ["unseal bell", "scan mast", last],
        [
            "unseal bell",
            "scan oar",
            "unseal coffee tone off power $ code #",
        ],
        [last, "unseal bell", "scan oar"],
    ] {
        assert!(!known.does_the_same(&with(other)), "{other:?}");
    }
}

#[test]
fn a_trace_needs_no_more_calls_than_its_demands_explain() {
    for world in worlds(200) {
        let mut simulation = Simulation::start(world.clone(), 0);
        let trace: Vec<Exchange> = Policy::novice(&world).unwrap().run(&mut simulation, 20);
        let contract = &world.target().unwrap().contract;
        let helpers = contract
            .iter()
            .filter(|demand| demand.helper().is_some())
            .count();
        assert_eq!(trace.len(), 1 + contract.len() + helpers);
    }
}

#[test]
fn services_of_a_trade_repeat_by_seed_show_what_they_demand_and_can_be_done() {
    let universe = |seed| Universe::of_trade(Trade::travel().unwrap(), 16, 8, seed).unwrap();
    for seed in 0..5 {
        let stream = universe(seed).stream(48);
        assert_eq!(stream, universe(seed).stream(48));
        let held_out = universe(seed).held_out(&stream, 96);
        for task in &held_out {
            let mut seen = stream.iter();
            assert!(seen.all(|seen| seen.world.query != task.world.query));
        }
        for task in stream.iter().chain(&held_out) {
            let world = &task.world;
            assert!((3..=5).contains(&world.services.len()));
            let names: Vec<&ToolName> = world.services.iter().map(|one| &one.tool.name).collect();
            assert!((1..names.len()).all(|at| !names[at..].contains(&names[at - 1])));
            let mut simulation = Simulation::start(world.clone(), seed);
            Policy::novice(world).unwrap().run(&mut simulation, 20);
            assert!(simulation.is_done(), "{}", world.query);
        }
    }
    assert_ne!(universe(1).members(), universe(2).members());
    let many = Universe::of_trade(Trade::travel().unwrap(), 500, 0, 7).unwrap_err();
    assert!(many.message().contains("fewer tools"), "{many}");
}

#[test]
fn the_bundled_models_page_lists_the_words() {
    let page = include_str!("../../../apprentice/README.md");
    let (_, words) = page.split_once("## Its words").unwrap();
    let (words, _) = words.split_once("\n## ").unwrap();
    let blocks: Vec<&str> = words.split("```").skip(1).step_by(2).collect();
    let parameters = [lexicon::NUMBER_PARAMETERS, lexicon::WORD_PARAMETERS].concat();
    let lists: [&[&str]; 4] = [lexicon::VERBS, lexicon::NOUNS, &parameters, lexicon::VALUES];
    assert_eq!(blocks.len(), lists.len());
    for (block, list) in blocks.into_iter().zip(lists) {
        let (language, block) = block.split_once('\n').unwrap();
        assert_eq!(language, "text");
        assert_eq!(block.split_whitespace().collect::<Vec<_>>(), list);
    }
}
