//! Files and configurations, good and bad.

use futures::executor::block_on;
use journeyman::{
    ErrorKind,
    contract::{FinishReason, GenerateRequest, LanguageModel},
};
use journeyman_llama_cpp::{LlamaConfig, LlamaCpp, Template};

use crate::support::{Noise, TestFile, Tiny, load, prompt};

fn refusal(bytes: &[u8]) -> journeyman::Error {
    let file = TestFile::new("bad.gguf", bytes);
    LlamaCpp::load(LlamaConfig::new(&file.0)).unwrap_err()
}

#[test]
fn a_model_is_named_by_its_header_and_its_digest() {
    let model = Tiny::default().load();
    let id = model.capabilities().model.as_str();
    let (name, digits) = id.split_once('@').unwrap();
    assert_eq!((name, digits.len()), ("tiny", 12));
    assert_eq!(model.capabilities().context, 1024);
    let other = Tiny {
        seed: 2,
        ..Tiny::default()
    };
    assert_ne!(other.load().capabilities().model.as_str(), id);
}

#[test]
fn the_speed_is_measured_and_leaves_nothing_behind() {
    let model = Tiny::default().load();
    let speed = model.capabilities().speed.expect("it is measured");
    assert!(speed.reads_per_second() > 0.0 && speed.writes_per_second() > 0.0);
    assert!(speed.limit(512, 512) > std::time::Duration::ZERO);
    let stats = model.stats();
    assert_eq!((stats.decoded_tokens, stats.used_cells), (0, 0));
    // A context without room for it is not measured, and works.
    let file = TestFile::new("narrow.gguf", &Tiny::default().bytes());
    let mut config = LlamaConfig::new(&file.0);
    config.template = Template::None;
    (config.n_ctx, config.shared_cells) = (Some(16), Some(0));
    let narrow = LlamaCpp::load(config).unwrap();
    block_on(narrow.generate(&GenerateRequest::greedy(prompt("go on"), 2))).unwrap();
}

#[test]
fn no_file_is_not_found() {
    let error = LlamaCpp::load(LlamaConfig::new("/no/such/model.gguf")).unwrap_err();
    assert_eq!(
        error.to_string(),
        "NotFound at LlamaCpp::load { path: /no/such/model.gguf }: there is no such file; \
         hint: check the path; a model is one .gguf file"
    );
}

#[test]
fn a_folder_and_a_text_are_invalid() {
    let error = LlamaCpp::load(LlamaConfig::new(env!("CARGO_TARGET_TMPDIR"))).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Invalid);
    let error = refusal(b"<html>404</html>");
    assert_eq!(error.kind(), ErrorKind::Invalid);
    assert!(error.hint_text().unwrap().contains("convert"), "{error}");
}

#[test]
fn a_file_cut_anywhere_is_refused() {
    let bytes = Tiny::default().bytes();
    for part in 1..40 {
        let error = refusal(&bytes[..bytes.len() * part / 40]);
        assert_eq!(error.kind(), ErrorKind::Corrupt, "{error}");
        assert!(error.hint_text().is_some());
    }
    assert_eq!(
        refusal(&bytes[..bytes.len() - 4]).kind(),
        ErrorKind::Corrupt
    );
}

#[test]
fn damaged_bytes_never_take_the_process_down() {
    let bytes = Tiny::default().bytes();
    let mut noise = Noise(7);
    let flips = std::env::var("JOURNEYMAN_FLIPS").ok();
    let flips = flips.and_then(|n| n.parse().ok()).unwrap_or(150);
    let mut refused = 0;
    for flip in 0..flips {
        let mut damaged = bytes.clone();
        // The header is the first 8 kB or so; one flip in eight is anywhere.
        let reach = if flip % 8 == 0 { bytes.len() } else { 8000 };
        let at = noise.next() as usize % reach;
        damaged[at] ^= 1 << (noise.next() % 8);
        let file = TestFile::new("flipped.gguf", &damaged);
        let mut config = LlamaConfig::new(&file.0);
        config.template = Template::None;
        match LlamaCpp::load(config) {
            Err(error) => {
                assert!(error.hint_text().is_some(), "{error}");
                refused += 1;
            }
            // Nobody can tell every flip: then it may write anything, or say that it cannot.
            Ok(model) => {
                let request = GenerateRequest::greedy(prompt("go on"), 3);
                let _ = block_on(model.generate(&request));
            }
        }
    }
    assert!(refused > 0);
}

#[test]
fn a_model_that_does_not_write_is_unsupported() {
    let bytes = Tiny::default().bytes();
    let at = bytes.windows(5).position(|word| word == b"llama").unwrap();
    let mut encoder = bytes;
    encoder[at..at + 5].copy_from_slice(b"tbert");
    assert_eq!(refusal(&encoder).kind(), ErrorKind::Unsupported);
}

#[test]
fn values_out_of_range_are_invalid() {
    let file = TestFile::new("tiny.gguf", &Tiny::default().bytes());
    let check = |change: fn(&mut LlamaConfig)| {
        let mut config = LlamaConfig::new(&file.0);
        change(&mut config);
        let error = LlamaCpp::load(config).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Invalid, "{error}");
        assert!(error.hint_text().is_some());
    };
    check(|config| config.n_ctx = Some(8));
    check(|config| config.n_batch = 0);
    check(|config| config.threads = Some(0));
    check(|config| config.n_seq_max = 1);
    check(|config| config.n_seq_max = 257);
    check(|config| config.shared_cells = Some(1 << 25));
    check(|config| config.max_waiting = 0);
    check(|config| config.template = Template::Named("no such template".to_owned()));
}

#[test]
fn a_missing_template_and_one_without_contents_are_unsupported() {
    let tiny = Tiny {
        template: Some("{{ messages | length }}"),
        ..Tiny::default()
    };
    for bytes in [tiny.bytes(), Tiny::default().bytes()] {
        let error = refusal(&bytes);
        assert_eq!(error.kind(), ErrorKind::Unsupported);
        assert!(error.fact("path").is_some(), "{error}");
        assert!(error.hint_text().unwrap().contains("Template::Named"));
    }
    tiny.load_with(|config| config.template = Template::None);
    tiny.load_with(|config| config.template = Template::Named("chatml".to_owned()));
}

#[test]
fn fewer_cells_than_sequences_are_enough() {
    let model = Tiny::default().load_with(|config| {
        config.n_ctx = Some(32);
        config.shared_cells = Some(0);
    });
    let request = GenerateRequest::greedy(prompt("go"), 20);
    assert_eq!(block_on(model.generate(&request)).unwrap().ids.len(), 20);
}

#[test]
fn several_models_live_in_one_process() {
    let models: Vec<_> = (0..3)
        .map(|seed| {
            let tiny = Tiny {
                seed,
                ..Tiny::default()
            };
            tiny.load()
        })
        .collect();
    assert_eq!(models.len(), 3);
}

#[test]
fn a_model_that_names_no_end_token_writes_to_its_limit() {
    let mut bytes = Tiny::default().bytes();
    let at = |bytes: &[u8], what: &[u8]| bytes.windows(what.len()).position(|part| part == what);
    let key = b"tokenizer.ggml.eos_token_id";
    let value = at(&bytes, key).unwrap() + key.len() + 4;
    bytes[value..value + 4].copy_from_slice(&u32::MAX.to_le_bytes());
    // llama.cpp takes this one for an end by its name.
    let name = at(&bytes, b"<|im_end|>").unwrap();
    bytes[name..name + 10].copy_from_slice(b"<|im_and|>");
    let model = load(&TestFile::new("endless", &bytes), |_| ());
    let answer = block_on(model.generate(&GenerateRequest::greedy(prompt("x"), 40))).unwrap();
    assert_eq!(
        (answer.output_tokens, answer.finish),
        (40, FinishReason::Length)
    );
    if cfg!(not(feature = "llguidance")) {
        return;
    }
    let mut held = GenerateRequest::greedy(prompt("x"), 40);
    held.json_schema = Some(serde_json::json!({"enum": ["yes", "no"]}));
    // llama.cpp takes a token of its own choice for the end, and here only the end may follow.
    let answer = block_on(model.generate(&held)).unwrap();
    assert!(
        ["\"yes\"", "\"no\""].contains(&answer.text.trim()),
        "{answer:?}"
    );
}
