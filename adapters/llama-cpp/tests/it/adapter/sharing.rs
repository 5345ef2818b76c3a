//! Many requests in one context: batches, prefixes, memory, the queue.

use std::{
    sync::{Arc, Mutex},
    time::Duration,
};

use futures::{
    executor::block_on,
    future::{join, join_all},
};
use journeyman::testing::Edited as _;
use journeyman::{
    ErrorKind, Seed,
    contract::{GenerateRequest, Generation, LanguageModel, ScoreRequest, Scorer, TokenSink},
    domain::Sampling,
};

use crate::support::{Noise, TestFile, Tiny, load, prompt};

/// Texts of one request are the same, or part where two tokens are nearly tied.
fn assert_same(got: &Generation, want: &Generation) {
    if got.ids == want.ids {
        for (a, b) in got.logprobs.iter().zip(&want.logprobs) {
            assert!((a - b).abs() < 1e-3, "{a} against {b}");
        }
        return;
    }
    let pairs = got.ids.iter().zip(&want.ids);
    let at = pairs.take_while(|(a, b)| a == b).count();
    let (a, b) = (got.logprobs[at], want.logprobs[at]);
    assert!((a - b).abs() < 1e-3, "{at}: {a} against {b}");
}

pub(crate) fn greedy(text: &str, tokens: usize) -> GenerateRequest {
    GenerateRequest::greedy(prompt(text), tokens)
}

pub(crate) fn text(seed: u64, length: usize) -> String {
    let mut noise = Noise(seed);
    (0..length)
        .map(|_| char::from(b'a' + (noise.next() % 26) as u8))
        .collect()
}

fn alone(request: &GenerateRequest) -> Generation {
    let model = Tiny::default().load_with(|config| config.deterministic = true);
    block_on(model.generate(request)).unwrap()
}

#[test]
fn requests_share_batches() {
    let model = Tiny::default().load();
    let requests: Vec<_> = (0..12).map(|n| greedy(&text(n, 20), 30)).collect();
    let before = model.stats();
    let together = block_on(join_all(
        requests.iter().map(|request| model.generate(request)),
    ));
    let after = model.stats();
    assert_eq!((after.answered - before.answered, after.failed), (12, 0));
    // Twelve texts of 30 tokens would be 360 batches one by one.
    assert!(after.batches - before.batches < 120, "{after:?}");
    for (request, got) in requests.iter().zip(together) {
        assert_same(&got.unwrap(), &alone(request));
    }
}

#[test]
fn a_common_opening_is_decoded_once() {
    let model = Tiny::default().load();
    let opening = text(1, 800);
    let ask = |end: &str| {
        let request = greedy(&format!("{opening}{end}"), 8);
        block_on(model.generate(&request)).unwrap()
    };
    let first = ask(" one");
    let before = model.stats();
    let second = ask(" two, and more");
    let after = model.stats();
    let pairs = first.prompt_ids.iter().zip(&second.prompt_ids);
    let common = pairs.take_while(|(a, b)| a == b).count() as u64;
    assert!(common >= 780, "{common}");
    assert_eq!(after.reused_tokens - before.reused_tokens, common);
    let decoded = after.decoded_tokens - before.decoded_tokens;
    // What is new of the prompt, and each token that was written but the last, which is never read.
    assert_eq!(decoded, second.prompt_tokens - common + 7);
    assert_same(&first, &alone(&greedy(&format!("{opening} one"), 8)));
    assert_same(
        &second,
        &alone(&greedy(&format!("{opening} two, and more"), 8)),
    );
}

#[test]
fn those_who_come_together_decode_their_opening_once() {
    let model = Tiny::default().load_with(|config| config.shared_cells = Some(4096));
    let opening = text(2, 600);
    let requests: Vec<_> = (0..8)
        .map(|n| greedy(&format!("{opening} number {n}"), 5))
        .collect();
    block_on(join_all(
        requests.iter().map(|request| model.generate(request)),
    ));
    let stats = model.stats();
    assert!(stats.decoded_tokens < 600 + 8 * 30, "{stats:?}");
    assert!(stats.reused_tokens >= 7 * 600, "{stats:?}");
}

#[test]
fn scoring_finds_the_prompt_of_a_text() {
    let model = Tiny::default().load();
    let opening = text(3, 400);
    block_on(model.generate(&greedy(&opening, 4))).unwrap();
    let before = model.stats();
    let request = ScoreRequest::new(prompt(&opening), vec![text(4, 20), text(5, 20)]);
    let scores = block_on(model.score(&request)).unwrap();
    let after = model.stats();
    // The last token of the prompt, for its logits, and of each text all but the last.
    assert_eq!(after.decoded_tokens - before.decoded_tokens, 1 + 2 * 19);
    let fresh = Tiny::default().load_with(|config| config.deterministic = true);
    let want = block_on(fresh.score(&request)).unwrap();
    for (got, want) in scores.iter().zip(&want) {
        assert!((got.sum() - want.sum()).abs() < 1e-3 * got.ids.len() as f64);
    }
}

#[test]
fn a_repeatable_answer_is_the_same_whatever_runs_beside() {
    let model = Tiny::default().load();
    let asked = |repeatable: bool| {
        ScoreRequest::new(prompt(&text(7, 200)), vec![text(8, 40), text(9, 30)])
            .edited(|it| it.repeatable = repeatable)
    };
    let repeatable = asked(true);
    let quiet = block_on(model.score(&repeatable)).unwrap();
    // Its prompt is in memory from another request, and ten others run at once.
    block_on(model.score(&asked(false))).unwrap();
    let others: Vec<_> = (0..10).map(|n| greedy(&text(n, 60), 30)).collect();
    let writing = join_all(others.iter().map(|other| model.generate(other)));
    let scoring = join_all([&repeatable; 3].map(|request| model.score(request)));
    let (written, scored) = block_on(join(writing, scoring));
    assert!(written.iter().all(Result::is_ok), "nobody waits in vain");
    for beside in scored {
        assert_eq!(beside.unwrap(), quiet);
    }
}

#[test]
fn prefixes_that_no_request_uses_are_dropped_and_used_ones_stay() {
    let model = Tiny::default().load_with(|config| {
        config.n_ctx = Some(256);
        config.shared_cells = Some(6_000);
    });
    let used = greedy(&text(1_000, 100), 2);
    for n in 0..150 {
        block_on(model.generate(&greedy(&text(n, 20), 2))).unwrap();
        if n % 10 == 0 {
            block_on(model.generate(&used)).unwrap();
        }
    }
    let stats = model.stats();
    // The memory has room for all of them; of 167 requests the last 64 count.
    assert!((50..=66).contains(&stats.cached_prefixes), "{stats:?}");
    let before = stats.reused_tokens;
    block_on(model.generate(&used)).unwrap();
    assert!(model.stats().reused_tokens - before > 90);
}

#[test]
fn prefixes_hold_a_bounded_part_of_a_large_memory() {
    let model = Tiny::default().load_with(|config| {
        config.n_ctx = Some(1_024);
        // Prefixes may hold so many of the 3,524 cells.
        config.shared_cells = Some(2_500);
    });
    for n in 0..40 {
        block_on(model.generate(&greedy(&text(n, 120), 2))).unwrap();
    }
    let stats = model.stats();
    assert!((2_300..=2_500).contains(&stats.cached_tokens), "{stats:?}");
    // Prefixes that share their beginning hold its cells once.
    let model = Tiny::default().load_with(|config| {
        config.n_ctx = Some(1_024);
        config.shared_cells = Some(2_500);
    });
    for n in 0..20 {
        let shared = format!("{} {}", text(1_000, 300), text(n, 20));
        block_on(model.generate(&greedy(&shared, 2))).unwrap();
    }
    let stats = model.stats();
    assert!(stats.cached_tokens > 5_000, "{stats:?}");
    assert_eq!(stats.evicted, 0, "{stats:?}");
}

#[test]
fn the_cache_stays_within_its_cells() {
    let model = Tiny::default().load_with(|config| {
        config.n_ctx = Some(256);
        config.shared_cells = Some(128);
    });
    for n in 0..40 {
        let request = greedy(&text(n, 100), 10);
        assert_same(
            &block_on(model.generate(&request)).unwrap(),
            &alone(&request),
        );
        let stats = model.stats();
        assert!(stats.used_cells <= 384, "{stats:?}");
    }
    let stats = model.stats();
    assert!(
        stats.evicted >= 30 && stats.cached_prefixes >= 1,
        "{stats:?}"
    );
    assert_eq!(
        block_on(model.forget_prefixes()).unwrap(),
        stats.cached_tokens
    );
    block_on(model.generate(&greedy("x", 0))).unwrap();
    assert_eq!(model.stats().used_cells, 0);
}

#[test]
fn too_little_memory_for_all_is_enough_for_each() {
    let model = Tiny::default().load_with(|config| {
        config.n_ctx = Some(300);
        config.shared_cells = Some(100);
        config.n_seq_max = 8;
    });
    let writes: Vec<_> = (0..6).map(|n| greedy(&text(n, 20), 250)).collect();
    let scores: Vec<_> = (0..6)
        .map(|n| {
            ScoreRequest::new(
                prompt(&text(100 + n, 60)),
                (0..12).map(|m| text(n * 20 + m, 60)).collect(),
            )
        })
        .collect();
    let (written, scored) = block_on(join(
        join_all(writes.iter().map(|request| model.generate(request))),
        join_all(scores.iter().map(|request| model.score(request))),
    ));
    for (request, got) in writes.iter().zip(written) {
        let got = got.unwrap();
        assert_eq!(got.ids.len(), 250);
        assert_same(&got, &alone(request));
    }
    let fresh = Tiny::default().load_with(|config| config.deterministic = true);
    for (request, got) in scores.iter().zip(scored) {
        let want = block_on(fresh.score(request)).unwrap();
        for (got, want) in got.unwrap().iter().zip(&want) {
            assert_eq!(got.ids, want.ids);
            assert_eq!(got.logprobs.len(), got.ids.len());
            for (a, b) in got.logprobs.iter().zip(&want.logprobs) {
                assert!((a - b).abs() < 1e-3, "{a} against {b}");
            }
        }
    }
    assert!(model.stats().preempted > 0, "{:?}", model.stats());
}

/// Notes who writes.
struct Turns(u32, Arc<Mutex<Vec<u32>>>);

impl TokenSink for Turns {
    fn token(&self, _: &str) {
        self.1.lock().unwrap().push(self.0);
    }
}

#[test]
fn a_long_prompt_does_not_stop_those_who_write() {
    let model = Tiny {
        context: 8192,
        ..Tiny::default()
    }
    .load_with(|config| {
        config.n_ctx = Some(8192);
        config.n_batch = 64;
    });
    let turns = Arc::new(Mutex::new(Vec::new()));
    let ask = |who: u32, text: &str, tokens| {
        let mut request = greedy(text, tokens);
        request.sink = Some(Arc::new(Turns(who, turns.clone())));
        request
    };
    let (short, long) = (ask(1, "go", 200), ask(2, &text(9, 6000), 3));
    let (a, b) = block_on(join(model.generate(&short), model.generate(&long)));
    assert!(a.is_ok() && b.is_ok());
    let turns = turns.lock().unwrap();
    let first_of_long = turns.iter().position(|&who| who == 2).unwrap();
    // Some 100 batches for the long prompt, in each of which the other one wrote a token.
    assert!(first_of_long > 60, "{first_of_long}");
}

#[test]
fn many_writers_let_a_prompt_get_on() {
    let model = Tiny::default().load_with(|config| config.n_batch = 4);
    let turns = Arc::new(Mutex::new(Vec::new()));
    let requests: Vec<_> = (0..13)
        .map(|who: u32| {
            let (length, tokens) = if who == 12 { (100, 2) } else { (2, 150) };
            let mut request = greedy(&text(u64::from(who), length), tokens);
            request.sink = Some(Arc::new(Turns(who, turns.clone())));
            request
        })
        .collect();
    let all = requests.iter().map(|request| model.generate(request));
    for got in block_on(join_all(all)) {
        got.unwrap();
    }
    let turns = turns.lock().unwrap();
    let prompt = turns.iter().position(|&who| who == 12).unwrap();
    // The others have 1,800 tokens to write.
    assert!(prompt < 900, "{prompt}");
}

#[test]
fn a_request_that_is_taken_back_leaves_its_prefix() {
    let model = Tiny::default().load();
    let opening = text(8, 500);
    block_on(model.generate(&greedy(&opening, 2))).unwrap();
    let mut late = greedy(&format!("{opening} and"), 400);
    late.time_limit = Duration::from_millis(20);
    late.sink = Some(Arc::new(Slow));
    let error = block_on(model.generate(&late)).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Timeout);
    let before = model.stats().reused_tokens;
    block_on(model.generate(&greedy(&opening, 2))).unwrap();
    assert!(model.stats().reused_tokens - before > 450);
}

/// Takes its time over each token.
struct Slow;

impl TokenSink for Slow {
    fn token(&self, _: &str) {
        std::thread::sleep(Duration::from_millis(5));
    }
}

#[test]
fn a_full_queue_says_so() {
    let model = Tiny::default().load_with(|config| {
        config.max_waiting = 3;
        config.deterministic = true;
    });
    let requests: Vec<_> = (0..10).map(|n| greedy(&text(n, 10), 200)).collect();
    let got = block_on(join_all(
        requests.iter().map(|request| model.generate(request)),
    ));
    let refused: Vec<_> = got.iter().filter_map(|got| got.as_ref().err()).collect();
    // One or more may have begun before the others came, on a machine that is busy.
    assert!((1..=7).contains(&refused.len()), "{}", refused.len());
    for error in &refused {
        assert_eq!(error.kind(), ErrorKind::RateLimited);
        assert!(error.hint_text().unwrap().contains("max_waiting"));
    }
    assert_eq!(model.stats().refused, refused.len() as u64);
    assert!(block_on(model.generate(&greedy("go", 3))).is_ok());
}

#[test]
fn numbers_that_are_none_fail_every_request_and_nothing_hangs() {
    let broken = Tiny {
        not_a_number: true,
        ..Tiny::default()
    };
    let model = broken.load();
    let requests: Vec<_> = (0..5).map(|n| greedy(&text(n, 30), 5)).collect();
    for got in block_on(join_all(
        requests.iter().map(|request| model.generate(request)),
    )) {
        assert_eq!(got.unwrap_err().kind(), ErrorKind::Model);
    }
}

#[test]
fn drawn_texts_share_batches_too() {
    let model = Tiny::default().load();
    let ask = |n: u64| {
        let mut request = greedy(&text(n, 25), 25);
        request.sampling = Sampling::new(0.9, 0.9, Seed(n));
        request
    };
    let requests: Vec<_> = (0..8).map(ask).collect();
    let got = block_on(join_all(
        requests.iter().map(|request| model.generate(request)),
    ));
    for (request, got) in requests.iter().zip(got) {
        let got = got.unwrap();
        let want = alone(request);
        let same = got
            .ids
            .iter()
            .zip(&want.ids)
            .take_while(|(a, b)| a == b)
            .count();
        for (a, b) in got.logprobs[..same].iter().zip(&want.logprobs) {
            assert!((a - b).abs() < 1e-3, "{a} against {b}");
        }
        // A draw on the border of two tokens is as rare as a tie.
        assert!(same > 5, "{same}");
    }
}

#[test]
fn prefixes_outlive_the_process() {
    let tiny = Tiny::default();
    let file = tiny.file();
    let load = |file: &TestFile| load(file, |_| ());
    let folder = file.0.with_extension("prefixes");
    let (long, other) = (text(6, 500), text(7, 300));
    let model = load(&file);
    let first = block_on(model.generate(&greedy(&long, 10))).unwrap();
    block_on(model.generate(&greedy(&other, 10))).unwrap();
    let saved = block_on(model.save_prefixes(&folder)).unwrap();
    assert_eq!(saved, model.stats().cached_tokens);
    drop(model);

    let model = load(&file);
    assert_eq!(block_on(model.restore_prefixes(&folder)).unwrap(), saved);
    let again = block_on(model.generate(&greedy(&long, 10))).unwrap();
    assert_same(&again, &first);
    assert_eq!(model.stats().reused_tokens, again.prompt_tokens - 1);

    let strange = Tiny {
        seed: 9,
        ..Tiny::default()
    };
    let error = block_on(strange.load().restore_prefixes(&folder)).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unsupported);
    let error = block_on(model.restore_prefixes(folder.join("none"))).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::NotFound);
    let mut noise = Noise(4);
    for name in ["0.prefix", "1.prefix", "prefixes.json"] {
        let path = folder.join(name);
        let whole = std::fs::read(&path).unwrap();
        for _ in 0..5 {
            let mut damaged = whole.clone();
            let at = noise.next() as usize % damaged.len();
            damaged[at] ^= 0x55;
            std::fs::write(&path, &damaged).unwrap();
            let fresh = load(&file);
            let error = block_on(fresh.restore_prefixes(&folder)).unwrap_err();
            let kinds = [
                ErrorKind::Corrupt,
                ErrorKind::Unsupported,
                ErrorKind::Unavailable,
            ];
            assert!(kinds.contains(&error.kind()), "{error}");
            assert!(block_on(fresh.generate(&greedy(&long, 3))).is_ok());
        }
        std::fs::write(&path, &whole).unwrap();
    }
    let refused = |whole: &[u8], damaged: Option<&[u8]>| {
        let path = folder.join("0.prefix");
        match damaged {
            Some(part) => std::fs::write(&path, part).unwrap(),
            None => std::fs::remove_file(&path).unwrap(),
        }
        let fresh = load(&file);
        let error = block_on(fresh.restore_prefixes(&folder)).unwrap_err();
        assert!(error.hint_text().is_some(), "{error}");
        assert!(block_on(fresh.generate(&greedy(&long, 3))).is_ok());
        std::fs::write(&path, whole).unwrap();
    };
    let whole = std::fs::read(folder.join("0.prefix")).unwrap();
    refused(&whole, Some(&whole[..whole.len() / 2]));
    refused(&whole, Some(b""));
    refused(&whole, None);

    // What is not its own stays when it saves anew, and what cannot be written is said.
    let own = [folder.join("notes.prefix"), folder.join("notes.txt")];
    for path in &own {
        std::fs::write(path, "mine").unwrap();
    }
    block_on(model.forget_prefixes()).unwrap();
    assert_eq!(block_on(model.save_prefixes(&folder)).unwrap(), 0);
    assert!(!folder.join("0.prefix").exists());
    assert!(own.iter().all(|path| path.exists()));
    let error = block_on(model.save_prefixes(own[1].join("in-a-file"))).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unavailable);
    std::fs::remove_dir_all(&folder).unwrap();
}
