//! Adapters (LoRA): loaded, chosen by request, unloaded, refused.

use std::{
    sync::{Arc, mpsc},
    thread,
};

use futures::{
    executor::block_on,
    future::{join, join_all},
};
use journeyman::{
    ErrorKind,
    contract::{GenerateRequest, Generation, LanguageModel, ScoreRequest, Scorer, TokenSink},
};
use journeyman_llama_cpp::LlamaCpp;

use crate::support::{Lora, Noise, TestFile, Tiny, load, prompt};

fn ask(adapter: Option<&str>) -> GenerateRequest {
    let mut request = GenerateRequest::greedy(prompt("turn on the lamp"), 20);
    request.adapter = adapter.map(str::to_owned);
    request
}

fn write(model: &LlamaCpp, adapter: Option<&str>) -> Generation {
    block_on(model.generate(&ask(adapter))).unwrap()
}

fn file(lora: &Lora) -> TestFile {
    TestFile::new("lora.gguf", &lora.bytes())
}

#[test]
fn an_adapter_is_switched_by_request() {
    let base = Tiny::default().file();
    let model = load(&base, |config| config.deterministic = true);
    let (one, two) = (
        file(&Lora::default()),
        file(&Lora {
            seed: 5,
            ..Lora::default()
        }),
    );
    let plain = write(&model, None);
    block_on(model.load_adapter("one", &one.0)).unwrap();
    block_on(model.load_adapter("two", &two.0)).unwrap();
    let with_one = write(&model, Some("one"));
    let with_two = write(&model, Some("two"));
    assert_ne!(with_one.logprobs, plain.logprobs);
    assert_ne!(with_one.logprobs, with_two.logprobs);
    assert_eq!(write(&model, None), plain);
    assert_eq!(write(&model, Some("one")), with_one);

    block_on(model.unload_adapter("one")).unwrap();
    let error = block_on(model.generate(&ask(Some("one")))).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::NotFound);
    assert!(error.hint_text().unwrap().contains("two"), "{error}");
    assert_eq!(write(&model, Some("two")), with_two);
    assert_eq!(write(&model, None), plain);
    let error = block_on(model.unload_adapter("one")).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::NotFound);
    block_on(model.load_adapter("two", &one.0)).unwrap();
    assert_eq!(write(&model, Some("two")), with_one);
}

#[test]
fn an_adapter_of_zeros_changes_nothing() {
    let base = Tiny::default().file();
    let model = load(&base, |_| ());
    let zeros = file(&Lora {
        scale: 0.0,
        ..Lora::default()
    });
    block_on(model.load_adapter("zeros", &zeros.0)).unwrap();
    let (plain, zeroed) = (write(&model, None), write(&model, Some("zeros")));
    for (a, b) in plain.logprobs.iter().zip(&zeroed.logprobs) {
        assert!((a - b).abs() < 1e-4, "{a} against {b}");
    }
}

#[test]
fn requests_with_and_without_run_side_by_side() {
    let base = Tiny::default().file();
    let model = load(&base, |_| ());
    let lora = file(&Lora::default());
    block_on(model.load_adapter("one", &lora.0)).unwrap();
    let (plain, with_one) = (write(&model, None), write(&model, Some("one")));
    let requests: Vec<_> = (0..8).map(|n| ask((n % 2 == 0).then_some("one"))).collect();
    let got = block_on(join_all(
        requests.iter().map(|request| model.generate(request)),
    ));
    for (request, got) in requests.iter().zip(got) {
        let want = if request.adapter.is_some() {
            &with_one
        } else {
            &plain
        };
        let got = got.unwrap();
        // No prefix of the one is taken for the other, and no step of the one is made with the other. What shares a
        // batch may decide a near tie otherwise; from there on the texts are others.
        let same = got.ids.iter().zip(&want.ids).take_while(|(a, b)| a == b);
        let same = same.count();
        assert!(same >= 4, "{:?} against {:?}", got.ids, want.ids);
        for (a, b) in got.logprobs.iter().zip(&want.logprobs).take(same) {
            assert!((a - b).abs() < 1e-3, "{a} against {b}");
        }
    }
    let score = |adapter: Option<&str>| {
        let mut request =
            ScoreRequest::new(prompt("turn on the lamp"), vec!["the lamp".to_owned()])
                .with_max_continuation_tokens(8)
                .with_time_limit(std::time::Duration::from_secs(60));
        request.adapter = adapter.map(str::to_owned);
        block_on(model.score(&request))
    };
    assert_ne!(score(None).unwrap(), score(Some("one")).unwrap());
    assert_eq!(score(Some("none")).unwrap_err().kind(), ErrorKind::NotFound);
}

#[test]
fn numbers_that_are_none_cost_nobody_else_an_answer() {
    let base = Tiny::default().file();
    let model = load(&base, |_| ());
    let broken = file(&Lora {
        scale: f32::NAN,
        ..Lora::default()
    });
    block_on(model.load_adapter("broken", &broken.0)).unwrap();
    let plain = write(&model, None);
    let requests: Vec<_> = (0..8)
        .map(|n| ask((n % 2 == 0).then_some("broken")))
        .collect();
    let got = block_on(join_all(
        requests.iter().map(|request| model.generate(request)),
    ));
    for (request, got) in requests.iter().zip(got) {
        if request.adapter.is_some() {
            assert_eq!(got.unwrap_err().kind(), ErrorKind::Model);
        } else {
            assert_eq!(got.unwrap().ids[0], plain.ids[0]);
        }
    }
    assert_eq!(write(&model, None).ids[0], plain.ids[0]);
}

/// Takes its time over each token, and tells of it.
struct Slow(mpsc::Sender<()>);

impl TokenSink for Slow {
    fn token(&self, _: &str) {
        let _ = self.0.send(());
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
}

#[test]
fn what_is_being_written_ends_with_the_adapter_that_it_began_with() {
    let base = Tiny::default().file();
    let model = load(&base, |config| config.deterministic = true);
    let (one, two) = (
        file(&Lora::default()),
        file(&Lora {
            seed: 5,
            ..Lora::default()
        }),
    );
    block_on(model.load_adapter("one", &one.0)).unwrap();
    let want = write(&model, Some("one"));
    let mut slow = ask(Some("one"));
    let (told, begun) = mpsc::channel();
    slow.sink = Some(Arc::new(Slow(told)));
    let (written, after) = thread::scope(|scope| {
        let writing = scope.spawn(|| block_on(model.generate(&slow)));
        begun.recv().unwrap();
        // While it writes, "one" is replaced.
        let loading = async { model.load_adapter("one", &two.0).await };
        let after = async { model.generate(&ask(Some("one"))).await };
        let (loaded, after) = block_on(join(loading, after));
        loaded.unwrap();
        (writing.join().unwrap(), after)
    });
    assert_eq!(written.unwrap(), want);
    let replaced = write(&model, Some("one"));
    assert_ne!(replaced.logprobs, want.logprobs);
    assert_eq!(after.unwrap(), replaced);
}

#[test]
fn a_file_that_changed_meanwhile_is_not_taken_for_what_was_loaded() {
    let base = Tiny::default().file();
    let model = load(&base, |config| config.deterministic = true);
    let (one, two) = (file(&Lora::default()), file(&Lora::default()));
    block_on(model.load_adapter("one", &one.0)).unwrap();
    block_on(model.load_adapter("two", &two.0)).unwrap();
    let with_one = write(&model, Some("one"));
    let whole = std::fs::read(&one.0).unwrap();
    let other = Lora {
        seed: 8,
        ..Lora::default()
    };
    std::fs::write(&one.0, other.bytes()).unwrap();
    let error = block_on(model.unload_adapter("two")).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Corrupt, "{error}");
    std::fs::remove_file(&one.0).unwrap();
    let error = block_on(model.unload_adapter("two")).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::NotFound, "{error}");
    assert_eq!(write(&model, Some("one")), with_one);
    std::fs::write(&one.0, whole).unwrap();
    block_on(model.unload_adapter("two")).unwrap();
    assert_eq!(write(&model, Some("one")), with_one);
}

#[test]
fn damaged_adapters_never_take_the_process_down() {
    let base = Tiny::default().file();
    let model = load(&base, |_| ());
    let bytes = Lora::default().bytes();
    let mut noise = Noise(11);
    let mut refused = 0;
    for _ in 0..150 {
        let mut damaged = bytes.clone();
        // The header is the first 400 bytes or so.
        let at = noise.next() as usize % 420;
        damaged[at] ^= 1 << (noise.next() % 8);
        let file = TestFile::new("flipped.gguf", &damaged);
        match block_on(model.load_adapter("flipped", &file.0)) {
            Err(error) => {
                assert!(error.hint_text().is_some(), "{error}");
                refused += 1;
            }
            // Nobody can tell every flip: then it may write anything, or say that it cannot.
            Ok(()) => {
                let _ = block_on(model.generate(&ask(Some("flipped"))));
                block_on(model.unload_adapter("flipped")).unwrap();
            }
        }
    }
    assert!(refused > 0);
}

#[test]
fn what_is_no_adapter_of_this_model_is_refused() {
    let base = Tiny::default().file();
    let model = load(&base, |_| ());
    let before = write(&model, None);
    let load = |file: &TestFile| block_on(model.load_adapter("one", &file.0)).unwrap_err();
    let check = |file: &TestFile, kind: ErrorKind| {
        let error = load(file);
        assert_eq!(error.kind(), kind, "{error}");
        assert!(error.hint_text().is_some(), "{error}");
    };
    check(&base, ErrorKind::Invalid);
    check(&TestFile::new("x", b"<html>"), ErrorKind::Invalid);
    check(
        &file(&Lora {
            architecture: "qwen2",
            ..Lora::default()
        }),
        ErrorKind::Unsupported,
    );
    check(
        &file(&Lora {
            width: 64,
            ..Lora::default()
        }),
        ErrorKind::Unsupported,
    );
    let whole = Lora::default().bytes();
    for part in 1..20 {
        let cut = TestFile::new("cut.gguf", &whole[..whole.len() * part / 20]);
        let kind = load(&cut).kind();
        assert!(
            [ErrorKind::Corrupt, ErrorKind::Unsupported].contains(&kind),
            "{kind:?}"
        );
    }
    let missing = block_on(model.load_adapter("one", "/no/such/lora.gguf")).unwrap_err();
    assert_eq!(missing.kind(), ErrorKind::NotFound);
    let unnamed = block_on(model.load_adapter(" ", &base.0)).unwrap_err();
    assert_eq!(unnamed.kind(), ErrorKind::Invalid);
    assert_eq!(write(&model, None).ids[0], before.ids[0]);
}
