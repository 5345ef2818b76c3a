//! The adapter keeps the contracts, on a tiny random model.

use std::{sync::Arc, time::Duration};

use futures::executor::block_on;
use journeyman::{
    agent::SystemClock,
    contract::{GenerateRequest, LanguageModel, Scorer, Tokenizer},
    testing::conformance::{
        Report, embedder,
        language_model::{self, LanguageModelFixture},
        scorer::{self, ScorerFixture},
        tokenizer,
    },
};
use journeyman_llama_cpp::{EmbedderConfig, IsolatedEmbedder, LlamaConfig, LlamaEmbedder};

use crate::support::{Tiny, gpu_layers, isolated, prompt};

/// All cases pass, and none is skipped.
fn assert_kept(report: Report) {
    println!("{report}");
    assert_eq!(report.skipped().count(), 0, "{report}");
    report.into_result().unwrap();
}

/// With a chat template and without one.
fn models() -> [Tiny; 2] {
    let template = "{% for message in messages %}{{'<|im_start|>' + message['role'] + message['content'] + \
                    '<|im_end|>'}}{% endfor %}";
    let templated = Tiny {
        template: Some(template),
        add_bos: true,
        ..Tiny::default()
    };
    [Tiny::default(), templated]
}

/// Loaded in process, and in a process of its own with the file that this reads.
macro_rules! on_both {
    ($tiny:expr, $change:expr, $check:expr) => {{
        let tiny: &Tiny = $tiny;
        $check(&*tiny.load_with($change));
        let (isolated, _file) = tiny.isolate_with(|config| $change(&mut config.model));
        $check(&*isolated);
    }};
}

#[test]
fn it_writes() {
    for tiny in models() {
        // A long context, so that a request can take longer than it may.
        let tiny = Tiny {
            context: 16_384,
            ..tiny
        };
        let mut slow = GenerateRequest::greedy(prompt("go on"), 16_000);
        slow.time_limit = Duration::from_millis(30);
        let fixture = LanguageModelFixture::new(prompt("turn on the lamp"))
            .with_slow(slow)
            .with_clock(Arc::new(SystemClock::default()));
        on_both!(
            &tiny,
            |config: &mut LlamaConfig| {
                config.n_ctx = Some(16_384);
                // Random weights fall into a loop, and the slow request has to last.
                config.most_repeated = None;
            },
            |model: &dyn LanguageModel| assert_kept(block_on(language_model::check(
                model, &fixture
            )))
        );
    }
}

#[test]
fn it_scores() {
    for tiny in models() {
        let continuations = ["unseal bell; unseal coffee", "the other one", "x y", "row"];
        let fixture = ScorerFixture::new(
            prompt("find the coffee by the mast"),
            continuations.map(str::to_owned).to_vec(),
        )
        .with_special("<call>")
        .with_context(tiny.context as usize);
        on_both!(&tiny, |_: &mut LlamaConfig| (), |model: &dyn Scorer| {
            assert_kept(block_on(scorer::check(model, &fixture)))
        });
    }
}

#[test]
fn it_counts() {
    for tiny in models() {
        on_both!(&tiny, |_: &mut LlamaConfig| (), |model: &dyn Tokenizer| {
            assert_kept(block_on(tokenizer::check(model)))
        });
    }
}

#[test]
fn it_embeds() {
    for pooling in 1..=3 {
        let tiny = Tiny {
            pooling: Some(pooling),
            ..Tiny::default()
        };
        let file = tiny.file();
        let mut config = EmbedderConfig::new(&file.0);
        config.gpu_layers = gpu_layers();
        let model = LlamaEmbedder::load(config.clone()).unwrap();
        assert_kept(block_on(embedder::check(&*model)));
        let model = IsolatedEmbedder::load(isolated(config)).unwrap();
        assert_kept(block_on(embedder::check(&*model)));
    }
}
