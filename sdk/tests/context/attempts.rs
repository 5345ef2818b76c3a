//! An agent's prompts: a long attempt is compacted, tools are shortened, and want of context is an outcome of its own.

use std::{collections::BTreeSet, sync::Arc, time::Duration};

use futures::executor::block_on;
use journeyman::{
    Seed,
    agent::{ChatFormat, EnvironmentJudge, ModelExecutor, ModelExecutorOptions},
    contract::{Attempt, Components, Environment, Executor, FixedGuidance, LanguageModel},
    domain::{
        Compaction, EndReason, Observation, Outcome, Source, Task, ToolDefinition, Trajectory,
        Transition,
    },
    recipe,
    run::{Journeyman, Options},
    testing::{Play, ScriptedEnvironment, sample},
};
use serde_json::{Map, Value, json};

use crate::model::FourBytes;

fn tool(name: &str, arguments: usize, required: usize) -> ToolDefinition {
    let name_of = |number: usize| format!("argument_{number}");
    let properties: Map<String, Value> = (0..arguments)
        .map(|number| {
            let about = format!(
                "Says what number {number} is about. {}",
                "More of it. ".repeat(6)
            );
            (
                name_of(number),
                json!({"type": "string", "description": about}),
            )
        })
        .collect();
    let required: Vec<String> = (0..required).map(name_of).collect();
    let schema = json!({"type": "object", "properties": properties, "required": required});
    ToolDefinition::new(name, "Opens a door.", schema)
}

/// A world that is done after so many calls, each with a result of about so many characters.
fn corridor(calls: usize, chars: usize, tools: Vec<ToolDefinition>) -> ScriptedEnvironment {
    let seen = move |text: String, tools: &[ToolDefinition]| {
        Observation::new(text, Source::trusted("corridor")).with_tools(tools.to_vec())
    };
    let at_first = tools.clone();
    ScriptedEnvironment::by(move |_, _, actions| {
        let made = actions.len();
        let text = format!(
            "door {made} is open. {}",
            "There is more. ".repeat(chars / 15)
        );
        let observation = seen(text, &tools);
        Play::Give(match made >= calls {
            true => Transition::end(observation, Outcome::success()),
            false => Transition::next(observation),
        })
    })
    .beginning(move |task, _| Play::Give(seen(task.instruction.clone(), &at_first)))
}

fn opens(call: usize) -> String {
    format!(r#"{{"tool": "open", "arguments": {{"argument_0": "door {call}"}}}}"#)
}

fn attempt(model: &Arc<FourBytes>, world: &ScriptedEnvironment, task: &Task) -> Trajectory {
    let mut options = ModelExecutorOptions::default();
    options.max_steps = 300;
    let prompt_format = Arc::new(ChatFormat::default());
    let model: Arc<dyn LanguageModel> = model.clone();
    let executor = ModelExecutor::new(model, prompt_format, options).unwrap();
    let injection = sample::injection(&[sample::skill("saying")]);
    let fixed = FixedGuidance::new(injection.clone());
    block_on(async {
        let mut episode = world.reset(task, Seed(1)).await.unwrap();
        let mut attempt = Attempt::new("a", task, Seed(7), &injection, &fixed);
        attempt.time_limit = Duration::from_secs(600);
        executor.execute(attempt, episode.as_mut()).await.unwrap()
    })
}

fn task() -> Task {
    Task::new("t", "Open the doors until you are outside.")
}

#[test]
fn an_attempt_of_200_steps_fits_a_context_of_2048() {
    let model = Arc::new(FourBytes::new(2_048, opens));
    let world = corridor(200, 600, vec![tool("open", 1, 1)]);
    let made = attempt(&model, &world, &task());
    assert_eq!(made.end, EndReason::Finished);
    assert_eq!(made.steps.len(), 200);
    // The trajectory is whole; only prompts are shorter.
    assert!(made.steps.iter().all(|step| step.result.text.len() > 500));
    let Compaction {
        prompts,
        shortened,
        actions_only,
        dropped,
        ..
    } = made.compaction;
    assert!(prompts > 180 && prompts < 200, "{}", made.compaction);
    assert!(
        shortened > 0 && actions_only > 0 && dropped > 100,
        "{}",
        made.compaction
    );
    for (call, request) in model.answered().iter().enumerate() {
        let tokens = FourBytes::tokens(request);
        assert!(
            tokens <= 1_536 && request.max_tokens == 512,
            "{call}: {tokens}"
        );
        let text = request.prompt.text();
        assert!(text.contains("Open the doors until you are outside."));
        assert!(text.contains("SKILL:") && text.contains("argument_0"));
        if call > 0 {
            let last = format!("door {call} is open. {}", "There is more. ".repeat(40));
            assert!(
                text.contains(last.trim_end()),
                "{call}: the last result is whole:\n{text}"
            );
        }
    }
    let last = model.answered().pop().unwrap().prompt.text();
    assert!(last.contains("earlier steps left out: open x1"), "{last}");
    assert_eq!(last.matches("earlier steps left out").count(), 1);
}

#[test]
fn what_is_left_out_stays_so_that_prompts_begin_alike() {
    let model = Arc::new(FourBytes::new(4_096, opens));
    let world = corridor(60, 600, vec![tool("open", 1, 1)]);
    attempt(&model, &world, &task());
    let prompts: Vec<String> = model
        .answered()
        .iter()
        .map(|ask| ask.prompt.text())
        .collect();
    let grows = prompts.windows(2).filter(|pair| {
        let same = pair[0]
            .bytes()
            .zip(pair[1].bytes())
            .take_while(|(a, b)| a == b);
        10 * same.count() > 8 * pair[0].len()
    });
    let grows = grows.count();
    assert!(
        grows > 40,
        "only {grows} of 59 prompts begin as the one before"
    );
}

#[test]
fn an_attempt_that_fits_is_shown_whole() {
    let model = Arc::new(FourBytes::new(8_192, opens));
    let made = attempt(&model, &corridor(6, 600, vec![tool("open", 3, 1)]), &task());
    assert_eq!(
        (made.end, made.compaction),
        (EndReason::Finished, Compaction::NONE)
    );
}

#[test]
fn a_context_of_512_is_enough_for_a_small_tool() {
    let model = Arc::new(FourBytes::new(512, opens));
    let made = attempt(
        &model,
        &corridor(20, 900, vec![tool("open", 1, 1)]),
        &task(),
    );
    assert_eq!(made.end, EndReason::Finished, "{}", made.compaction);
    assert!(
        made.compaction.newest && made.compaction.dropped > 10,
        "{}",
        made.compaction
    );
    assert!(
        model
            .answered()
            .iter()
            .all(|ask| FourBytes::tokens(ask) <= 384)
    );
}

#[test]
fn a_tool_of_60_parameters_is_shortened() {
    let world = |required| corridor(5, 60, vec![tool("open", 60, required)]);
    let model = Arc::new(FourBytes::new(2_048, opens));
    let made = attempt(&model, &world(1), &task());
    assert_eq!(made.end, EndReason::Finished);
    assert!(
        made.compaction.tools && !made.compaction.arguments,
        "{}",
        made.compaction
    );
    assert_eq!(
        made.compaction.dropped, 0,
        "tools that fill a prompt go before steps"
    );
    let shown = model.answered().remove(0).prompt.text();
    assert!(shown.contains("argument_0") && shown.contains("argument_59"));
    // In a shorter context only what is required stays, and where all is required the attempt ends.
    let model = Arc::new(FourBytes::new(512, opens));
    let made = attempt(&model, &world(1), &task());
    assert_eq!(made.end, EndReason::Finished, "{}", made.compaction);
    assert!(made.compaction.arguments, "{}", made.compaction);
    let shown = model.answered().remove(0).prompt.text();
    assert!(
        shown.contains("[59 optional arguments left out]"),
        "{shown}"
    );
    let model = Arc::new(FourBytes::new(512, opens));
    let made = attempt(&model, &world(60), &task());
    let EndReason::ContextLength { prompt, context } = made.end else {
        panic!("{:?}", made.end);
    };
    assert!(prompt > 384 && context == 512, "{prompt}");
    assert!(made.lacks_context() && !made.is_evidence() && made.steps.is_empty());
    assert_eq!(
        model.answered().len(),
        0,
        "nothing is sent that does not fit"
    );
}

#[test]
fn a_result_that_is_longer_than_the_context_is_shortened() {
    let model = Arc::new(FourBytes::new(1_024, opens));
    let made = attempt(
        &model,
        &corridor(3, 100_000, vec![tool("open", 1, 1)]),
        &task(),
    );
    assert_eq!(made.end, EndReason::Finished);
    assert!(made.compaction.newest, "{}", made.compaction);
}

/// The attempt gets through forty steps, whose observations together are longer than the context.
fn walks_a_long_corridor(model: &Arc<FourBytes>) {
    let corridor = corridor(40, 600, vec![tool("open", 1, 1)]);
    let made = attempt(model, &corridor, &task());
    assert_eq!((made.end, made.steps.len()), (EndReason::Finished, 40));
}

#[test]
fn a_bad_estimate_is_corrected_by_the_models_own_count() {
    let mut model = FourBytes::new(2_048, opens);
    model.guesses = true;
    let model = Arc::new(model);
    walks_a_long_corridor(&model);
    assert!(
        model
            .answered()
            .iter()
            .all(|ask| FourBytes::tokens(ask) <= 2_048)
    );
}

#[test]
fn a_context_that_refusals_do_not_name_is_found_out() {
    let mut model = FourBytes::new(8_192, opens);
    model.unnamed = Some((2_048, true));
    let model = Arc::new(model);
    walks_a_long_corridor(&model);
    let refused = model.unnamed_refused.lock().unwrap();
    let different: BTreeSet<_> = refused.iter().collect();
    assert_eq!(different.len(), refused.len(), "none is sent again");
    assert!((1..10).contains(&refused.len()), "{}", refused.len());
}

#[test]
fn a_refused_request_is_not_sent_again() {
    // Nothing is learned, so that the next request would be the same.
    let mut model = FourBytes::new(8_192, opens);
    model.unnamed = Some((256, false));
    let model = Arc::new(model);
    let made = attempt(&model, &corridor(5, 60, vec![tool("open", 1, 1)]), &task());
    assert!(made.lacks_context(), "{:?}", made.end);
    assert_eq!(model.unnamed_refused.lock().unwrap().len(), 1);
}

#[test]
fn an_answer_that_the_context_cuts_off_is_want_of_context() {
    let endless = |_| "I think about it. ".repeat(2_000);
    let model = Arc::new(FourBytes::new(512, endless));
    let made = attempt(&model, &corridor(5, 60, vec![tool("open", 1, 1)]), &task());
    assert!(made.lacks_context(), "{:?}", made.end);
    // Where the answer had all of its tokens, it is the agent that wrote too much.
    let model = Arc::new(FourBytes::new(8_192, endless));
    let made = attempt(&model, &corridor(5, 60, vec![tool("open", 1, 1)]), &task());
    assert_eq!(made.end, EndReason::Unreadable);
}

#[test]
fn want_of_context_is_counted_apart_and_earns_no_credit() {
    let model = Arc::new(FourBytes::new(512, opens));
    let prompt_format = Arc::new(ChatFormat::default());
    let own: Arc<dyn LanguageModel> = model;
    let agent = ModelExecutor::new(own, prompt_format, ModelExecutorOptions::default()).unwrap();
    let world = corridor(2, 60, vec![tool("open", 1, 1)]);
    let components = Components::new(Arc::new(agent), Arc::new(world), Arc::new(EnvironmentJudge));
    let long = Task::new("long", "Open every one of the doors. ".repeat(400));
    let (report, library) = block_on(async {
        let options = Options::new("session", Seed(7));
        let journeyman = Journeyman::open(components, recipe::standard(), options)
            .await
            .unwrap();
        let report = journeyman.learn(vec![task(), long]).await.unwrap();
        (report, journeyman.library().await.unwrap())
    });
    let all = report.attempts().count();
    let ended: Vec<_> = report.out_of_context().collect();
    assert!(
        !ended.is_empty() && 2 * ended.len() == all,
        "{} of {all}",
        ended.len()
    );
    for one in ended {
        assert_eq!((one.success, one.reward, &one.error), (None, None, &None));
        assert!(one.attempt.as_str().contains("/1/"), "of the long task");
    }
    assert_eq!(report.success_rate(), Some(1.0), "of the judged ones");
    let line = format!(
        "ended for want of context, and not judged: {} attempts",
        all / 2
    );
    assert!(report.to_string().contains(&line), "{report}");
    assert_eq!(
        library
            .traces()
            .filter(|trace| trace.task.id.as_str() == "long")
            .count(),
        0
    );
}
