//! Thoughts: bounded, left out of scores, and switched off.

use futures::executor::block_on;
use journeyman::contract::{LanguageModel, ScoreRequest, Scorer};
use journeyman_llama_cpp::{LlamaConfig, Template, Thinking};

use super::tools::ask;
use crate::support::{TestFile, Tiny, load, scripted, spelled};

/// Opens thoughts for the model, as templates of the first reasoning models do.
const OPENS: &str = include_str!("../../templates/own/opens_thoughts.jinja");
const QWEN3: &str = include_str!("../../templates/Qwen-Qwen3-0.6B.jinja");
/// Ends thoughts that were too long.
const END: &str = "\n</think>\n\n";
/// One token for each byte, but for `th`.
const END_TOKENS: usize = END.len() - 1;

fn thinking(is: Thinking) -> impl Fn(&mut LlamaConfig) {
    move |config| config.thinking = is
}

#[test]
fn thoughts_without_end_leave_room_for_an_answer() {
    let mut request = ask("Is there a sail?");
    request.max_tokens = 60;
    let endless = "hm ".repeat(40);
    for (is, most) in [(Thinking::Template, 30), (Thinking::Budget(7), 7)] {
        let answer = scripted::answer(OPENS, thinking(is), &request, &endless).unwrap();
        assert_eq!(
            answer.text,
            format!(
                "<think>{}{END}{}",
                &endless[..most],
                &endless[most + END_TOKENS..60]
            )
        );
        let forced: Vec<usize> = (most..most + END_TOKENS).collect();
        assert_eq!(answer.forced, forced);
        // A trainer learns from the model's own tokens alone.
        let record = answer.record(&request).unwrap();
        let masked: Vec<bool> = (0..60).map(|place| !forced.contains(&place)).collect();
        assert_eq!(record.mask, masked);
        assert_eq!(answer.output_tokens, 60);
    }
}

#[test]
fn thoughts_that_end_are_left_alone() {
    let text = "A sail?\n</think>\n\nYes.";
    let request = ask("Is there a sail?");
    let answer = scripted::answer(OPENS, |_| (), &request, text).unwrap();
    assert_eq!(answer.text, format!("<think>{text}"));
    assert!(answer.forced.is_empty());
}

#[test]
fn thoughts_can_be_switched_off() {
    let mut request = ask("Is there a sail?");
    request.max_tokens = 40;
    let prompt = |template, is| {
        let answer = scripted::answer(template, thinking(is), &request, "Yes.").unwrap();
        assert!(answer.text.ends_with("Yes."));
        (spelled(&answer.prompt_ids), answer.text)
    };
    let (open, text) = prompt(OPENS, Thinking::Template);
    assert!(open.ends_with("<think>\n"), "{open}");
    assert_eq!(text, "<think>Yes.");
    let (closed, text) = prompt(OPENS, Thinking::Off);
    assert_eq!(closed, format!("{open}{END}"));
    assert_eq!(text, "Yes.");
    let (open, _) = prompt(QWEN3, Thinking::Template);
    assert!(open.ends_with("<|im_start|>assistant\n"), "{open}");
    let (closed, _) = prompt(QWEN3, Thinking::Off);
    assert_eq!(closed, format!("{open}<think>\n\n</think>\n\n"));
    let (switched, _) = prompt(QWEN3, Thinking::Budget(100));
    assert_eq!(switched, open);
}

/// The scored text stands behind thoughts that are closed, also where the template opens them.
#[test]
fn a_score_has_no_thoughts() {
    let open = Tiny {
        template: Some(OPENS),
        ..Tiny::default()
    };
    let request = ask("Is there a sail?");
    let count = block_on(open.load().count_prompt(&request)).unwrap().tokens;
    let at = count + END_TOKENS - 1;
    let file = TestFile::new("scripted.gguf", &scripted::bytes(OPENS, "Yes.", at));
    let model = load(&file, |config| config.template = Template::Auto);
    let scores = block_on(
        model.score(
            &ScoreRequest::new(request.prompt, vec!["Yes.".to_owned(), "No.".to_owned()])
                .with_max_continuation_tokens(8)
                .with_time_limit(request.time_limit),
        ),
    )
    .unwrap();
    // The model writes it there with near certainty, and nowhere else.
    assert!(scores[0].sum() > -1e-3, "{}", scores[0].sum());
    assert!(scores[1].sum() < -5.0, "{}", scores[1].sum());
}
