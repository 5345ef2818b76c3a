//! The adapter keeps the contracts, on a toy model behind the interfaces of several servers.

use std::{sync::Arc, time::Duration};

use futures::executor::block_on;
use journeyman::{
    agent::SystemClock,
    contract::{GenerateRequest, LanguageModel},
    testing::conformance::{
        Report, embedder,
        language_model::{self, LanguageModelFixture},
        scorer::{self, ScorerFixture},
    },
};
use journeyman_openai::{OpenAi, OpenAiEmbedder, Route};

use crate::support::{
    Server, prompt,
    toy::{CONTEXT, Like, Toy},
};

/// All cases pass, and only these are skipped.
fn assert_kept(report: Report, skipped: usize) {
    println!("{report}");
    assert_eq!(report.skipped().count(), skipped, "{report}");
    report.into_result().unwrap();
}

fn connect(toy: Toy, route: Route) -> (Server, OpenAi) {
    let server = toy.start();
    let model = block_on(OpenAi::connect(toy.config(&server, route))).unwrap();
    println!("{:?} {route:?}\n{}", toy.like, model.support());
    (server, model)
}

#[test]
fn it_writes() {
    for (like, route, records) in [
        (Like::Vllm, Route::Chat, true),
        (Like::Vllm, Route::Completions, true),
        (Like::Sglang, Route::Chat, false),
        (Like::Sglang, Route::Completions, false),
        (Like::LlamaServer, Route::Chat, false),
        (Like::LlamaServer, Route::Completions, true),
        (Like::LlamaCppPython, Route::Chat, false),
        (Like::LlamaCppPython, Route::Completions, false),
        (Like::OpenAi, Route::Chat, false),
    ] {
        let toy = Toy {
            pause: Duration::from_millis(2),
            ..Toy::new(like)
        };
        let (_server, model) = connect(toy, route);
        assert_eq!(
            model.capabilities().token_records,
            records,
            "{like:?} {route:?}"
        );
        let mut slow = GenerateRequest::greedy(prompt("go on"), 400);
        slow.time_limit = Duration::from_millis(100);
        let fixture = LanguageModelFixture::new(prompt("turn on the lamp"))
            .with_slow(slow)
            .with_clock(Arc::new(SystemClock::default()));
        let report = block_on(language_model::check(&model, &fixture));
        let tools = route == Route::Chat && like != Like::LlamaCppPython;
        assert_eq!(model.capabilities().tools, tools, "{like:?} {route:?}");
        assert_kept(report, usize::from(!records));
    }
}

#[test]
fn it_scores() {
    for (like, route) in [
        (Like::Vllm, Route::Chat),
        (Like::Vllm, Route::Completions),
        (Like::Sglang, Route::Completions),
        (Like::LlamaServer, Route::Chat),
        (Like::LlamaServer, Route::Completions),
        (Like::LlamaCppPython, Route::Completions),
    ] {
        let toy = Toy::new(like);
        let server = toy.start();
        let mut config = toy.config(&server, route);
        config.marks = vec!["<call>".to_owned()];
        let model = block_on(OpenAi::connect(config)).unwrap();
        println!("{like:?} {route:?}\n{}", model.support());
        let continuations = ["unseal bell; unseal coffee", "the other one", "x y", "row"];
        let fixture = ScorerFixture::new(
            prompt("find the coffee by the mast"),
            continuations.map(str::to_owned).to_vec(),
        )
        .with_special("<call>")
        .with_context(CONTEXT);
        assert_kept(block_on(scorer::check(&model, &fixture)), 0);
    }
}

#[test]
fn it_embeds() {
    let toy = Toy::new(Like::OpenAi);
    let server = toy.start();
    let model = block_on(OpenAiEmbedder::connect(toy.config(&server, Route::Chat))).unwrap();
    assert_kept(block_on(embedder::check(&model)), 0);
}
