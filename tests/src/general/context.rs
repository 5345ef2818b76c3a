//! A context of 2,048 tokens: attempts of 200 steps, and every role with 24 of what it works on: rows, attempts, findings, or steps of
//! its one attempt. A review is of one skill.

mod much;

use std::{
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use futures::executor::block_on;
use journeyman::{
    Error, ErrorKind, Result, Seed,
    agent::{ChatFormat, ModelExecutor, ModelExecutorOptions, role::GeneralRoles},
    async_trait,
    contract::{
        Attempt, Components, Environment as _, Executor as _, FinishReason, FixedGuidance,
        GenerateRequest, Generation, LanguageModel, ModelCapabilities, TokenCount,
    },
    domain::{
        Injection, NativeCall, Observation, Outcome as Ended, Role, Source, Task, ToolCall,
        Transition,
    },
    policy::Answer,
    recipe,
    run::{Effect, Performer},
    testing::{Play, ScriptedEnvironment},
};
use journeyman_llama_cpp::{LlamaConfig, LlamaCpp};
use journeyman_toolworld::{
    form::ContractForm,
    general::{manner::Manner, tools::definitions},
    lexicon::foreign_words,
    seed::Draws,
    world::{World, WorldSpec},
};
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::figures::{Bound, Figures, Outcome};

/// Tokens of the context, for prompt and answer together.
const CONTEXT: u32 = 2_048;
/// Steps of an attempt.
const STEPS: usize = 200;
/// Attempts a seed.
const ATTEMPTS: u64 = 2;
/// Words that stand behind each result and each text, as the output of real tools is long.
const WORDS: usize = 30;

/// What came of it.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct InContext {
    /// Attempts that did not come to their 200th step, and roles that could not be asked; each with its reason.
    errors: Vec<String>,
    /// Of the prompts of all attempts, those that left something out.
    shortened_prompts: usize,
    prompts: usize,
    /// Answers of the model without a call that can be read, for which one stood in.
    stood_in: usize,
    /// The greatest number of steps that a prompt left out.
    dropped: u32,
    /// Roles whose prompt was shortened.
    shortened_roles: usize,
    /// Roles whose answer, of a prompt that was sent, could not be read; also where a fallback stands in.
    unreadable: usize,
    /// What a run's report would say of each, in words.
    left_out: Vec<String>,
}

/// Measures and records.
pub(super) fn record(figures: &mut Figures<'_>, path: &Path, seed: Seed) -> Outcome {
    let mut config = LlamaConfig::new(path);
    config.n_ctx = Some(CONTEXT);
    let model: Arc<dyn LanguageModel> = LlamaCpp::load(config)?;
    let key = format!("a context of 2,048, {}", model.capabilities().model);
    let found: InContext = figures.once(&key, || Ok(measure(&model, seed)?))?;
    for line in found.errors.iter().chain(&found.left_out) {
        figures.progress(format_args!("{line}"));
    }
    let value = |of: fn(&InContext) -> usize| of(&found) as f64;
    let none = Bound::AtMost(0.0);
    // Where nothing had to be left out, nothing was shown.
    let some = Bound::AtLeast(1.0);
    let rows: [(&str, f64, Bound); 7] = [
        ("errors", value(|one| one.errors.len()), none),
        ("prompts of attempts", value(|one| one.prompts), Bound::None),
        (
            "prompts of attempts that left something out",
            value(|one| one.shortened_prompts),
            some,
        ),
        (
            "answers without a call, for which one stood in",
            value(|one| one.stood_in),
            Bound::None,
        ),
        (
            "most steps that a prompt left out",
            value(|one| one.dropped as usize),
            some,
        ),
        (
            "roles whose prompt left something out",
            value(|one| one.shortened_roles),
            some,
        ),
        (
            "roles whose answer could not be read",
            value(|one| one.unreadable),
            Bound::None,
        ),
    ];
    for (name, value, bound) in rows {
        let name = format!("200 steps in a context of 2,048, each role with 24 rows: {name}");
        figures.record(&name, value, bound);
    }
    Ok(())
}

fn measure(model: &Arc<dyn LanguageModel>, seed: Seed) -> Result<InContext> {
    let mut found = InContext::default();
    for number in 0..ATTEMPTS {
        let mut draws = Draws::new("a long attempt", &[seed.0, number]);
        attempt(model, &mut draws, &mut found)?;
    }
    let roles = GeneralRoles::shipped()?;
    let components = Components::own_loop()
        .with_model(model.clone())
        .with_roles(Arc::new(roles));
    let performer = Performer::new(Arc::new(components), recipe::standard().limits);
    for role in Role::ALL {
        let mut draws = Draws::new("a role with much", &[seed.0]);
        play(&performer, role, &mut draws, &mut found)?;
    }
    Ok(found)
}

/// The model, with a call where it writes none that can be read: how well it acts is another figure's matter, and each prompt is
/// still counted, read and answered by it.
#[derive(Debug)]
struct Calling {
    model: Arc<dyn LanguageModel>,
    call: ToolCall,
    stood_in: AtomicUsize,
}

#[async_trait]
impl LanguageModel for Calling {
    fn capabilities(&self) -> &ModelCapabilities {
        self.model.capabilities()
    }

    async fn generate(&self, request: &GenerateRequest) -> Result<Generation> {
        let mut generation = self.model.generate(request).await?;
        if generation.calls.is_empty() {
            self.stood_in.fetch_add(1, Ordering::Relaxed);
            generation.text.clear();
            generation.calls = vec![NativeCall::new("call00001", self.call.clone())];
            generation.finish = FinishReason::Stop;
        }
        Ok(generation)
    }

    async fn count_prompt(&self, request: &GenerateRequest) -> Result<TokenCount> {
        self.model.count_prompt(request).await
    }
}

/// An attempt in a world that accepts every call, with a long result, and is content with the 200th.
fn attempt(model: &Arc<dyn LanguageModel>, draws: &mut Draws, found: &mut InContext) -> Result<()> {
    let spec = WorldSpec::wide(draws);
    let world = World::with_form(&spec, ContractForm::Plain, draws);
    let tools = definitions(&world, &Manner::named(draws));
    let tool = tools
        .first()
        .map(|tool| tool.name.clone())
        .unwrap_or_default();
    let results: Vec<String> = (0..STEPS)
        .map(|_| format!("ok {}", foreign_words(WORDS, draws)))
        .collect();
    let source = || Source::trusted("jobs");
    let at_first = Observation::new(world.query.clone(), source()).with_tools(tools.clone());
    let environment = ScriptedEnvironment::by(move |_, _, actions| {
        let made = actions.len();
        let text = results.get(made.saturating_sub(1)).cloned();
        let result = Observation::new(text.unwrap_or_default(), source()).with_tools(tools.clone());
        Play::Give(match made >= STEPS {
            true => Transition::end(result, Ended::success()),
            false => Transition::next(result),
        })
    })
    .beginning(move |_, _| Play::Give(at_first.clone()));
    let mut options = ModelExecutorOptions::default();
    options.max_steps = STEPS as u32 + 1;
    let prompt_format = Arc::new(ChatFormat::of(model.capabilities()));
    let calling = Arc::new(Calling {
        model: model.clone(),
        call: ToolCall::new(tool, json!({})),
        stood_in: AtomicUsize::new(0),
    });
    let executor = ModelExecutor::new(calling.clone(), prompt_format, options)?;
    let task = Task::new("jobs", world.query.clone());
    let injection = Injection::default();
    let guidance = FixedGuidance::new(injection.clone());
    let made = block_on(async {
        let mut episode = environment.reset(&task, Seed(1)).await?;
        let mut attempt = Attempt::new("jobs", &task, Seed(1), &injection, &guidance);
        attempt.time_limit = Duration::from_secs(600);
        executor.execute(attempt, episode.as_mut()).await
    })?;
    if made.steps.len() != STEPS || made.outcome.is_none() {
        let steps = made.steps.len();
        found
            .errors
            .push(format!("an attempt ended at step {steps}: {}", made.end));
    }
    found.stood_in += calling.stood_in.load(Ordering::Relaxed);
    found.prompts += made.steps.len();
    found.shortened_prompts += made.compaction.prompts as usize;
    found.dropped = found.dropped.max(made.compaction.dropped);
    found
        .left_out
        .push(format!("an attempt's prompts: {}", made.compaction));
    Ok(())
}

/// Asks a role as a run does, with 24 of what it works on.
fn play(performer: &Performer, role: Role, draws: &mut Draws, found: &mut InContext) -> Result<()> {
    let ask = Box::new(much::question(role, draws));
    let effect = Effect::Role { ask, seed: Seed(1) };
    let (shortened, error) = match block_on(performer.perform(effect))? {
        Answer::Played(Ok(Some(played))) => {
            found.unreadable += usize::from(played.fallback);
            (played.shortened, None)
        }
        Answer::Played(Err(failed)) => (failed.shortened, Some(failed.error)),
        other => {
            let reason = format!("no answer of a role: {other:?}");
            return Err(Error::new(ErrorKind::Internal, "context::play", reason));
        }
    };
    match error {
        // What this model cannot write is another figure's matter.
        Some(error) if error.kind() == ErrorKind::Model => found.unreadable += 1,
        Some(error) => found.errors.push(format!("{role}: {error}")),
        None => {}
    }
    if let Some(prompt) = shortened {
        found.shortened_roles += 1;
        found.left_out.push(format!(
            "{role}: {} to {} tokens; {}",
            prompt.whole, prompt.sent, prompt.left_out
        ));
    }
    Ok(())
}
