//! What a host's configuration, its budget, and a server's abilities refuse.

use std::{
    num::NonZeroU32,
    sync::atomic::{AtomicUsize, Ordering},
    time::Duration,
};

use futures::executor::block_on;
use journeyman::{
    ErrorKind, Retry,
    contract::{Embedder, GenerateRequest, LanguageModel, ScoreRequest, Scorer},
};
use journeyman_openai::{ApiKey, Config, OpenAi, OpenAiEmbedder, Route, Scoring, ScoringForm};
use serde_json::json;

use super::{CHAT, KEY, ask, end, failing, failing_with, text};
use crate::support::{
    self, Seen, Server, answer, done, event, events_head, prompt,
    toy::{Like, Toy},
};

#[test]
fn the_budget_refuses_what_it_does_not_cover() {
    let counted =
        event(&json!({"choices": [], "usage": {"prompt_tokens": 3, "completion_tokens": 2}}));
    let script = vec![events_head(), text("well"), end(), counted, done()];
    // The probe counts too.
    let (server, model) = failing_with(vec![script.clone()], |_| {});
    let before = model.used_tokens();
    ask(&model, Duration::from_secs(20)).0.unwrap();
    assert_eq!(model.used_tokens(), before + 5);
    assert_eq!(server.count(CHAT), 1);

    let (server, model) = failing_with(vec![script], |config| {
        config.budget.tokens = std::num::NonZeroU64::new(before + 60);
    });
    let mut large = GenerateRequest::greedy(prompt("go"), 400);
    large.time_limit = Duration::from_secs(20);
    let error = block_on(model.generate(&large)).unwrap_err();
    assert_eq!(
        (error.kind(), error.retry()),
        (ErrorKind::RateLimited, Retry::Permanent),
        "{error}"
    );
    assert!(error.message().contains("budget"), "{error}");
    assert_eq!(server.count(CHAT), 0, "it was never sent");
}

#[test]
fn a_key_is_never_shown() {
    let said = format!(
        "{{\"error\":{{\"message\":\"wrong key {KEY} {}\"}}}}",
        "long ".repeat(500)
    );
    let (server, model) = failing(vec![answer(401, "", &said)]);
    let error = ask(&model, Duration::from_secs(20)).0.unwrap_err();
    let sources = format!("{error} {error:?} {:?}", std::error::Error::source(&error));
    assert!(server.last(CHAT).head.contains(KEY), "the key was sent");
    assert!(!sources.contains(KEY), "{sources}");
    assert!(error.hint_text().unwrap().contains("key"), "{error}");
    assert!(error.message().chars().count() < 600, "{error}");
    assert!(!format!("{model:?}").contains(KEY));
    let stream = vec![
        events_head(),
        event(&json!({"error": {"message": KEY, "code": 400}})),
    ];
    let (_server, model) = failing(vec![stream]);
    let error = ask(&model, Duration::from_secs(20)).0.unwrap_err();
    assert!(!format!("{error} {error:?}").contains(KEY), "{error:?}");
    let mut config = Config::new("http://ada:hunter22@127.0.0.1:9/v1", "toy");
    config.proxy = Some("http://ada:hunter22@127.0.0.1:3128".to_owned());
    assert!(!format!("{config:?}").contains("hunter22"), "{config:?}");
    assert!(ApiKey::new("short").is_err());
    let error = ApiKey::new("with-a\nline-break").unwrap_err();
    assert!(!error.to_string().contains("line-break"), "{error}");
}

#[test]
fn a_configuration_out_of_range_is_refused() {
    let refused = |change: &dyn Fn(&mut Config)| {
        let mut config = Config::new("http://127.0.0.1:9/v1", "toy");
        config.retries.attempts = NonZeroU32::MIN;
        change(&mut config);
        block_on(OpenAi::connect(config)).unwrap_err()
    };
    for address in [
        "",
        "127.0.0.1",
        "ftp://host/v1",
        "http://ada:hunter22@127.0.0.1/v1",
        "http://127.0.0.1/v1?key=hunter22",
    ] {
        let error = refused(&|config| config.base_url = address.to_owned());
        assert_eq!(
            (error.kind(), error.fact("field")),
            (ErrorKind::Invalid, Some("base_url")),
            "{error}"
        );
        assert!(!format!("{error:?}").contains("hunter22"), "{error:?}");
    }
    let error = refused(&|config| config.deadlines.idle = Duration::ZERO);
    assert_eq!(error.fact("field"), Some("deadlines.idle"));
    let error = refused(&|config| config.model = String::new());
    assert_eq!(error.fact("field"), Some("model"));
    // Nothing listens there.
    let error = refused(&|_| {});
    assert_eq!(
        (error.kind(), error.retry()),
        (ErrorKind::Unavailable, Retry::Temporary),
        "{error}"
    );
    assert_eq!(
        error.fact("endpoint"),
        Some("http://127.0.0.1:9/v1/"),
        "{error}"
    );
}

#[test]
fn a_model_that_the_server_lacks_is_named_with_those_that_are_there() {
    let toy = Toy::new(Like::Vllm);
    let server = toy.start();
    let mut config = toy.config(&server, Route::Chat);
    config.model = "toyy".to_owned();
    let error = block_on(OpenAi::connect(config)).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::NotFound);
    assert!(error.message().contains("toy, toy-lora, other"), "{error}");
}

#[test]
fn a_score_is_declined_with_what_was_tried() {
    let off = |like| Toy {
        is_off_by_one: true,
        ..Toy::new(like)
    };
    for (toy, reason) in [
        (off(Like::LlamaCppPython), "belong to other tokens"),
        (off(Like::LlamaServer), "belong to other tokens"),
        (Toy::new(Like::OpenAi), "scores no given texts"),
    ] {
        let server = toy.start();
        let model = block_on(OpenAi::connect(toy.config(&server, Route::Completions))).unwrap();
        assert!(!model.capabilities().score);
        let request = ScoreRequest::new(prompt("find"), vec!["it".to_owned()])
            .with_max_continuation_tokens(8)
            .with_time_limit(Duration::from_secs(20));
        let error = block_on(model.score(&request)).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Unsupported);
        assert!(error.message().contains(reason), "{error}");
        assert!(
            model.support().to_string().contains("declined: score"),
            "{}",
            model.support()
        );

        // A host that insists is told at once.
        if toy.is_off_by_one {
            let mut config = toy.config(&server, Route::Completions);
            config.scoring = Scoring::Form(match toy.like {
                Like::LlamaServer => ScoringForm::Forced,
                _ => ScoringForm::EchoText,
            });
            assert_eq!(
                block_on(OpenAi::connect(config)).unwrap_err().kind(),
                ErrorKind::Model
            );
        }
    }
}

#[test]
fn an_embedder_whose_dimensions_change_is_refused() {
    let toy = Toy::new(Like::OpenAi);
    let count = AtomicUsize::new(0);
    let server = Server::start(move |seen: &Seen| {
        let first = seen.path != "/v1/embeddings" || count.fetch_add(1, Ordering::SeqCst) == 0;
        match first {
            true => toy.answer(seen),
            false => support::json(&json!({"data": [{"index": 0, "embedding": [0.6, 0.8]}]})),
        }
    });
    let model = block_on(OpenAiEmbedder::connect(toy.config(&server, Route::Chat))).unwrap();
    assert_eq!(model.space().dimensions, 8);
    let error = block_on(model.embed(&["x"])).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Model);
    assert!(
        error.message().contains("2 dimensions, and the space 8"),
        "{error}"
    );
    assert_eq!(
        error.hint_text(),
        Some("the server's embedding model changed: connect again and rebuild the index")
    );
}
