//! Rollouts of the bundled model for a trainer: exported, validated, and their log-probabilities asked again.
#![allow(clippy::expect_used, clippy::unwrap_used)]

use std::{
    num::NonZeroU32,
    path::Path,
    sync::{Arc, Mutex},
};

use futures::executor::block_on;
use journeyman::{
    Result, Seed, async_trait,
    builtin::{MemoryJournal, MemoryStore, ModelExecutor, ModelExecutorOptions},
    contract::{
        GenerateRequest, Generation, Journal, LanguageModel, ModelCapabilities, ScoreRequest,
        Scorer,
    },
    domain::{Prompt, Span, Task},
    interchange::rollouts::{self, ExportedRollouts, Rollout, RolloutEnd, Segment, Validator},
    recipe,
    report::RunReport,
    run::{Journeyman, Options},
};
use journeyman_llama_cpp::LlamaCpp;
use journeyman_toolworld::{
    dialect::{ApprenticeDialect, Mode, TOKENS},
    stream::{StreamTask, Universe, UniverseSpec},
};
use quickstart::Parts;

/// The greatest difference between a recorded log-probability and the scorer's, in nats.
const TOLERANCE: f64 = 2e-3;
const GROUP: NonZeroU32 = NonZeroU32::new(4).expect("not 0");
const TASKS: usize = 8;

/// A model that keeps what it was asked and what it wrote.
#[derive(Debug)]
struct Kept {
    inner: Arc<LlamaCpp>,
    calls: Mutex<Vec<(Prompt, Generation)>>,
}

#[async_trait]
impl LanguageModel for Kept {
    fn capabilities(&self) -> &ModelCapabilities {
        self.inner.capabilities()
    }

    async fn generate(&self, request: &GenerateRequest) -> Result<Generation> {
        let written = self.inner.generate(request).await?;
        let call = (request.prompt.clone(), written.clone());
        self.calls.lock().unwrap().push(call);
        Ok(written)
    }
}

struct Exported {
    model: Arc<Kept>,
    report: RunReport,
    exported: ExportedRollouts,
}

fn export(seed: u64) -> Exported {
    let model = "../examples/apprentice/apprentice.gguf";
    let model = Path::new(env!("CARGO_MANIFEST_DIR")).join(model);
    let parts = Parts::exact(&model, 8).expect("the bundled model");
    let spec = UniverseSpec {
        hidden: 6,
        plain: 1,
        ..UniverseSpec::default()
    };
    let universe = Universe::make(spec, seed).expect("a universe");
    let stream = universe.stream(TASKS);
    let tasks: Result<Vec<Task>> = stream.iter().map(StreamTask::task).collect();
    let journal = Arc::new(MemoryJournal::new());
    let store = Arc::new(MemoryStore::new());
    let mut backends = parts
        .backends(store, Some(journal.clone()))
        .expect("the parts");
    let kept = Arc::new(Kept {
        inner: parts.model.clone(),
        calls: Mutex::default(),
    });
    let record = ModelExecutorOptions {
        record: true,
        ..ModelExecutorOptions::default()
    };
    let dialect = Arc::new(ApprenticeDialect::new(Mode::Row));
    let agent = ModelExecutor::new(kept.clone(), dialect, record).expect("an agent");
    backends.executor = Some(Arc::new(agent));
    let mut recipe = recipe::standard();
    recipe.attempts.group = GROUP;
    recipe.attempts.temperature = 1.0;
    block_on(async {
        let options = Options::new("export", Seed(seed));
        let journeyman = Journeyman::open(backends, recipe, options)
            .await
            .expect("it opens");
        let report = journeyman
            .learn(tasks.expect("they are tasks"))
            .await
            .expect("it learns");
        let entries = journal.read(&report.run).await.expect("entries");
        let exported = rollouts::of_journal(&entries).expect("it is exported");
        Exported {
            model: kept,
            report,
            exported,
        }
    })
}

/// The control tokens and the plain texts between them.
fn pieces(text: &str) -> Vec<Span> {
    let mut pieces = Vec::new();
    let mut rest = text;
    while !rest.is_empty() {
        let next = TOKENS
            .iter()
            .filter_map(|token| Some((rest.find(token)?, *token)));
        let (at, token) = next.min().unwrap_or((rest.len(), ""));
        let (plain, after) = rest.split_at(at);
        if !plain.is_empty() {
            pieces.push(Span::Data(plain.to_owned()));
        }
        if !token.is_empty() {
            pieces.push(Span::Control(token.to_owned()));
        }
        rest = after.get(token.len()..).unwrap_or_default();
    }
    pieces
}

/// Of the tokens of a segment, those that the scorer gave a log-probability too.
///
/// The scorer takes text and not tokens, and takes it as data. So the plain pieces of what the model wrote are scored, each after the
/// prompt with the pieces before it, where they give the recorded tokens again. A control token that the model wrote, such as the one
/// that ended its text, cannot be scored.
async fn rescored(model: &Kept, segment: &Segment) -> usize {
    let call = {
        let calls = model.calls.lock().unwrap();
        let mut calls = calls.iter();
        let of = |(_, written): &&(Prompt, Generation)| {
            written.prompt_ids == segment.prompt_ids && written.ids == segment.ids
        };
        calls.find(of).cloned().expect("it was recorded")
    };
    let (mut prompt, written) = call;
    let mut compared = 0;
    for piece in pieces(&written.text) {
        let before = model
            .inner
            .generate(&GenerateRequest::greedy(prompt.clone(), 0))
            .await
            .expect("the prompt's tokens")
            .prompt_ids;
        if let Span::Data(text) = &piece
            && let Some(done) = before.len().checked_sub(segment.prompt_ids.len())
        {
            let request = ScoreRequest {
                prompt: prompt.clone(),
                continuations: vec![text.clone()],
                max_continuation_tokens: 128,
                time_limit: std::time::Duration::from_secs(60),
                adapter: None,
                repeatable: false,
            };
            let scores = model
                .inner
                .score(&request)
                .await
                .expect("it scores")
                .remove(0);
            let range = done..done + scores.ids.len();
            if segment.ids.get(range.clone()) == Some(&scores.ids[..]) {
                for (scored, recorded) in scores.logprobs.iter().zip(&segment.logprobs[range]) {
                    let difference = (scored - f64::from(*recorded)).abs();
                    assert!(
                        difference < TOLERANCE,
                        "{scored} against {recorded} in {text:?}"
                    );
                    compared += 1;
                }
            }
        }
        prompt.open.push(piece);
    }
    compared
}

#[test]
fn groups_of_the_bundled_model_are_valid_and_their_log_probabilities_are_the_scorers() {
    let Exported {
        model,
        report,
        exported,
    } = export(21);
    let lines = rollouts::write(&exported.rollouts).expect("they are valid");
    let mut validator = Validator::of_size(GROUP);
    for line in lines.lines() {
        validator.line(line).expect("a valid line");
    }
    let summary = validator.finish().expect("valid groups");
    assert!(exported.refused.is_empty(), "{:?}", exported.refused);
    assert_eq!(summary.groups.get(&GROUP.get()), Some(&TASKS));
    // Some groups have both kinds of outcome.
    assert!(summary.without_advantage < TASKS, "{summary:?}");

    let rollouts = &exported.rollouts;
    for (attempt, rollout) in report.attempts().zip(rollouts) {
        assert_eq!(
            (&attempt.attempt, attempt.reward),
            (&rollout.attempt, Some(rollout.reward))
        );
        let ended = rollout.segments.last().map(|last| last.step);
        let unread = rollout.end == RolloutEnd::Unreadable;
        assert_eq!(ended, Some(rollout.steps - u32::from(!unread)));
        assert_eq!(rollout.model, model.inner.capabilities().model);
    }
    let (mut compared, mut chosen) = (0, 0);
    for rollout in rollouts {
        chosen += rollout.chosen();
        for segment in &rollout.segments {
            compared += block_on(rescored(&model, segment));
        }
    }
    println!("{compared} of {chosen} tokens were scored again");
    assert!(2 * compared >= chosen, "{compared} of {chosen}");

    // In this dialect a later prompt repeats the tokens before it, or was written anew; both are told apart.
    let continues = |rollout: &&Rollout| rollout.sequences().len() < rollout.segments.len();
    println!(
        "{} of {} rollouts are packed",
        rollouts.iter().filter(continues).count(),
        rollouts.len()
    );
}
