//! Rollouts of the bundled model for a trainer: exported, validated, and their log-probabilities asked again.

use std::{num::NonZeroU32, ops::Range, sync::Arc};

use futures::executor::block_on;
use journeyman::testing::Edited as _;
use journeyman::{
    Seed,
    agent::{MemoryJournal, MemoryStore, ModelExecutor, ModelExecutorOptions},
    contract::{GenerateRequest, Journal, LanguageModel, ScoreRequest, Scorer},
    domain::{Prompt, Span, TokenId},
    recipe,
    run::{Journeyman, Options, report::RunReport},
};
use journeyman_interchange::rollouts::{
    self, ExportedRollouts, Rollout, RolloutEnd, Segment, Validator,
};
use journeyman_llama_cpp::{LlamaConfig, LlamaCpp, Template, backend};
use journeyman_tests::source::bundled_model;
use journeyman_toolworld::stream::{Universe, UniverseSpec};
use llama_cpp_2::{
    model::{LlamaModel, params::LlamaModelParams},
    token::LlamaToken,
};
use quickstart::{Parts, spoken};

/// The greatest difference between a recorded log-probability and the scorer's, in nats: with weights in half precision those of
/// unlikely tokens move with the shape of a batch.
const TOLERANCE: f64 = 6e-3;
/// The same of a token that is less likely than e to the -6, for each of its nats. ggml's code for AVX2 moves them more than the
/// one for AVX-512: by 0.007 at 14 nats.
const TOLERANCE_PER_NAT: f64 = 1e-3;
const GROUP: NonZeroU32 = NonZeroU32::new(4).expect("not 0");
const TASKS: usize = 6;
/// Steps of an attempt: few, so that of the attempts of a group some do their task and others do not.
const STEPS: usize = 4;

struct Exported {
    parts: Parts,
    report: RunReport,
    exported: ExportedRollouts,
}

fn export(seed: u64) -> Exported {
    // In full precision, in which scoring a text and writing it differ little.
    let parts =
        Parts::with(LlamaConfig::new(bundled_model()).exact(), STEPS).expect("the bundled model");
    let universe = Universe::make(UniverseSpec::of(4, 1), seed).expect("a universe");
    let tasks = spoken::tasks(&universe.stream(TASKS), Seed(seed));
    let journal = Arc::new(MemoryJournal::new());
    let store = Arc::new(MemoryStore::new());
    let mut components = parts
        .components(store, Some(journal.clone()))
        .expect("the parts");
    let mut options = ModelExecutorOptions::default();
    options.record = true;
    let agent = ModelExecutor::new(parts.model.clone(), parts.prompt_format(), options);
    components.executor = Some(Arc::new(agent.expect("an agent")));
    let mut recipe = recipe::standard();
    recipe.attempts.group = GROUP;
    // At 1 all attempts of a group end alike.
    recipe.attempts.temperature = 2.0;
    block_on(async {
        let options = Options::new("export", Seed(seed));
        let journeyman = Journeyman::open(components, recipe, options)
            .await
            .expect("it opens");
        let report = journeyman
            .learn(tasks.expect("they are tasks"))
            .await
            .expect("it learns");
        let entries = journal.read(&report.run).await.expect("entries");
        let exported = rollouts::of_journal(&entries).expect("it is exported");
        Exported {
            parts,
            report,
            exported,
        }
    })
}

/// The model without its chat template, and its vocabulary. A scorer takes no tools, and the template writes them: so the scorer is
/// given the recorded prompts token by token.
struct Bare {
    model: Arc<LlamaCpp>,
    vocabulary: LlamaModel,
}

impl Bare {
    fn load() -> Self {
        let mut config = LlamaConfig::new(bundled_model()).exact();
        config.template = Template::None;
        let only = LlamaModelParams::default()
            .with_n_gpu_layers(0)
            .with_vocab_only(true);
        let backend = backend().expect("llama.cpp");
        let vocabulary = LlamaModel::load_from_file(backend, bundled_model(), &only);
        Self {
            model: LlamaCpp::load(config).expect("the bundled model"),
            vocabulary: vocabulary.expect("its vocabulary"),
        }
    }

    /// Tokens as a prompt has them, each by itself, so that none is joined with its neighbour.
    fn spans(&self, ids: &[TokenId]) -> Vec<Span> {
        let vocabulary = self.vocabulary.vocab();
        let span = |id: &TokenId| {
            let token = LlamaToken(*id);
            let text = vocabulary.token_to_piece(token, true, None);
            let text = String::from_utf8_lossy(&text).into_owned();
            match vocabulary.is_control(token) {
                true => Span::Control(text),
                false => Span::Data(text),
            }
        };
        ids.iter().map(span).collect()
    }

    /// Of the tokens of a segment, those that the scorer gave a log-probability too.
    ///
    /// The scorer takes text and not tokens, and takes it as data. So the runs of plain tokens that the model wrote are scored, each
    /// after the prompt with the tokens before it, where they give the recorded tokens again. A control token that the model wrote,
    /// such as the one that ended its turn, cannot be scored.
    async fn rescored(&self, segment: &Segment) -> usize {
        let mut before = self.spans(&segment.prompt_ids);
        let written = self.spans(&segment.ids);
        let (mut done, mut compared) = (0, 0);
        let are_plain =
            |one: &Span, next: &Span| matches!((one, next), (Span::Data(_), Span::Data(_)));
        for run in written.chunk_by(are_plain) {
            let range = done..done + run.len();
            done = range.end;
            if let [Span::Data(_), ..] = run {
                let text: String = run.iter().map(Span::text).collect();
                compared += self.compared(&before, text, segment, range).await;
            }
            before.extend_from_slice(run);
        }
        compared
    }

    /// Scores a run of a segment behind what came before it, and compares the log-probabilities. How many were compared: all of the
    /// run or none.
    async fn compared(
        &self,
        before: &[Span],
        text: String,
        segment: &Segment,
        run: Range<usize>,
    ) -> usize {
        let prompt = Prompt::new(Vec::new()).edited(|it| it.open = before.to_vec());
        let given = GenerateRequest::greedy(prompt.clone(), 0);
        let given = self.model.generate(&given).await;
        let given = given.expect("the prompt's tokens").prompt_ids;
        let recorded = [&segment.prompt_ids[..], &segment.ids[..run.start]].concat();
        if given != recorded {
            return 0;
        }
        let request =
            ScoreRequest::new(prompt, vec![text.clone()]).with_max_continuation_tokens(512);
        let scores = self.model.score(&request).await;
        let scores = scores.expect("it scores").remove(0);
        if scores.ids != segment.ids[run.clone()] {
            return 0;
        }
        for (scored, recorded) in scores.logprobs.iter().zip(&segment.logprobs[run]) {
            let difference = (scored - f64::from(*recorded)).abs();
            assert!(
                difference < TOLERANCE.max(scored.abs() * TOLERANCE_PER_NAT),
                "{scored} against {recorded} in {text:?}"
            );
        }
        scores.logprobs.len()
    }
}

#[test]
fn groups_of_the_bundled_model_are_valid_and_their_log_probabilities_are_the_scorers() {
    let Exported {
        parts,
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
        assert_eq!(rollout.model, parts.model.capabilities().model);
    }
    let bare = Bare::load();
    let (mut compared, mut chosen) = (0, 0);
    for rollout in rollouts {
        chosen += rollout.chosen();
        for segment in &rollout.segments {
            compared += block_on(bare.rescored(segment));
        }
    }
    println!("{compared} of {chosen} tokens were scored again");
    assert!(2 * compared >= chosen, "{compared} of {chosen}");

    // A later prompt repeats the tokens before it, or was written anew; both are told apart.
    let continues = |rollout: &&Rollout| rollout.sequences().len() < rollout.segments.len();
    println!(
        "{} of {} rollouts are packed",
        rollouts.iter().filter(continues).count(),
        rollouts.len()
    );
}
