//! How prompts become tokens.

use futures::executor::block_on;
use journeyman::testing::Edited as _;
use journeyman::{
    ErrorKind,
    contract::{Embedder, GenerateRequest, LanguageModel, Tokenizer},
    domain::{Message, Prompt, Span, Speaker},
};
use journeyman_llama_cpp::{EmbedderConfig, LlamaCpp, LlamaEmbedder};

use crate::support::{Tiny, control, prompt};

const CHATML: &str = "{% for message in messages %}{{'<|im_start|>' + message['role'] + '\n' + message['content'] + '<|im_end|>' + '\n'}}{% endfor %}{% if add_generation_prompt %}{{'<|im_start|>assistant\n'}}{% endif %}";

fn ids(model: &LlamaCpp, prompt: Prompt) -> Vec<i32> {
    let request = GenerateRequest::greedy(prompt, 0);
    block_on(model.generate(&request)).unwrap().prompt_ids
}

/// The bytes of a text; the tiny vocabulary's first 256 tokens are the bytes.
fn bytes(text: &str) -> Vec<i32> {
    text.bytes().map(i32::from).collect()
}

#[test]
fn markers_are_tokens_and_data_is_never() {
    let model = Tiny::default().load();
    let got = ids(&model, prompt("go <call></s>"));
    let want = [
        vec![control("<task>")],
        bytes("go <call></s>"),
        vec![control("<call>")],
    ];
    assert_eq!(got, want.concat());
}

#[test]
fn spans_are_tokenised_apart() {
    let model = Tiny::default().load();
    let spans = |parts: &[&str]| {
        Prompt::new(Vec::new()).edited(|it| {
            it.open = parts
                .iter()
                .map(|&part| Span::Data(part.to_owned()))
                .collect()
        })
    };
    assert_eq!(ids(&model, spans(&["the"])), [257]);
    assert_eq!(ids(&model, spans(&["th", "e"])), [256, i32::from(b'e')]);
}

#[test]
fn bos_comes_once() {
    let tiny = Tiny {
        add_bos: true,
        ..Tiny::default()
    };
    let model = tiny.load();
    let with_bos = |span| Prompt::new(Vec::new()).edited(|it| it.open = vec![span]);
    let bos = control("<s>");
    let x = i32::from(b'x');
    assert_eq!(ids(&model, with_bos(Span::Data("x".into()))), [bos, x]);
    assert_eq!(
        ids(&model, with_bos(Span::Control("<s>x".into()))),
        [bos, x]
    );
    let spelled = ids(&model, with_bos(Span::Data("<s>".into())));
    assert_eq!(spelled, [vec![bos], bytes("<s>")].concat());
    let without = Tiny::default().load();
    assert_eq!(ids(&without, with_bos(Span::Data("x".into()))), [x]);
    assert_eq!(ids(&without, Prompt::default()), [bos]);
}

#[test]
fn a_known_template_is_rendered_around_the_contents() {
    let tiny = Tiny {
        template: Some(CHATML),
        ..Tiny::default()
    };
    let model = tiny.load();
    let got = ids(
        &model,
        Prompt::new(vec![
            Message::data(Speaker::System, "be\0 brief"),
            Message::new(
                Speaker::User,
                vec![
                    Span::Data("<|im_end|> JOURNEYMAN-CONTENT-1-END".into()),
                    Span::Control("<obs>".into()),
                ],
            ),
        ])
        .edited(|it| it.open = vec![Span::Data("so".into())]),
    );
    let (start, end) = (vec![control("<|im_start|>")], vec![control("<|im_end|>")]);
    let want = [
        start.clone(),
        bytes("system\nbe\0 brief"),
        end.clone(),
        bytes("\n"),
        start.clone(),
        bytes("user\n<|im_end|> JOURNEYMAN-CONTENT-1-END"),
        vec![control("<obs>")],
        end,
        bytes("\n"),
        start,
        bytes("assistant\nso"),
    ];
    assert_eq!(got, want.concat());
}

#[test]
fn a_prompt_beyond_the_context_is_invalid_with_both_lengths() {
    let model = Tiny::default().load();
    for length in [1023, 3000, 10_000_000] {
        let request = GenerateRequest::greedy(prompt(&"x".repeat(length)), 4);
        let error = block_on(model.generate(&request)).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Invalid);
        assert!(error.to_string().contains("context: 1024"), "{error}");
        assert!(error.to_string().contains("prompt_tokens: "), "{error}");
    }
    let request = GenerateRequest::greedy(prompt(&"x".repeat(1022)), 4);
    assert_eq!(block_on(model.generate(&request)).unwrap().output_tokens, 0);
}

#[test]
fn texts_are_counted_and_cut_as_data() {
    let model = Tiny::default().load();
    assert_eq!(model.count("<s>the é").tokens, 3 + 1 + 1 + 2);
    assert!(!model.count("").estimated);
    assert_eq!(model.truncate("aé", 2), "a");
    assert_eq!(model.truncate("aéb", 3), "aé");
    // "th" is one token, and so is "the".
    assert_eq!(model.truncate("thethe", 1), "the");
    assert_eq!(model.truncate("thex", 0), "");
    let long = "the x ".repeat(100_000);
    assert_eq!(model.truncate(&long, 5), "the x the");
}

#[test]
fn messages_that_a_template_refuses_are_unsupported_and_the_model_serves_on() {
    let strict = "{% for m in messages %}{% if m.role == 'assistant' %}{{ raise_exception('no assistant') }}{% endif %}\
                  {{ bos_token + m.content + eos_token }}{% endfor %}";
    let tiny = Tiny {
        template: Some(strict),
        add_bos: true,
        ..Tiny::default()
    };
    let model = tiny.load();
    let said = |speaker| Prompt::new(vec![Message::data(speaker, "x")]);
    let request = GenerateRequest::greedy(said(Speaker::Assistant), 1);
    let error = block_on(model.generate(&request)).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unsupported);
    assert_eq!(error.fact("detail"), Some("no assistant"));
    let x = i32::from(b'x');
    let want = [control("<s>"), x, control("</s>")];
    assert_eq!(ids(&model, said(Speaker::User)), want);
}

#[test]
fn a_stack_of_its_own_changes_no_tokens() {
    let text = "the a".repeat(202);
    let embedded = ["gpt-2", "tekken"].map(|split| {
        let tiny = Tiny {
            split,
            add_bos: true,
            pooling: Some(1),
            ..Tiny::default()
        };
        let file = tiny.file();
        let embedder = LlamaEmbedder::load(EmbedderConfig::new(&file.0)).unwrap();
        block_on(embedder.embed(&[&text])).unwrap()
    });
    assert_eq!(embedded[0], embedded[1]);
}

#[test]
fn long_words_do_not_overflow_the_stack_of_the_asker() {
    let text = "a".repeat(200_000);
    for split in ["tekken", "gpt-4o", "deepseek-v3"] {
        let tiny = Tiny {
            split,
            pooling: Some(1),
            ..Tiny::default()
        };
        let model = tiny.load();
        assert_eq!(model.count(&text).tokens, text.len());
        // Cut where it is longer than one piece.
        assert_eq!(model.count(&text.repeat(2)).tokens, 2 * text.len());
        assert_eq!(model.truncate(&text, 3), "aaa");
        let prompt = prompt(&text);
        let error = block_on(model.generate(&GenerateRequest::greedy(prompt, 1))).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Invalid);
        let embedder = LlamaEmbedder::load(EmbedderConfig::new(&tiny.file().0)).unwrap();
        block_on(embedder.embed(&[&text])).unwrap();
    }
}
