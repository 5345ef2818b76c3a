//! The conformance suite of [`Tokenizer`].

use super::report::{Report, Tried, require};
use crate::contract::Tokenizer;

/// Texts of several scripts, white space, markers and joined characters.
const TEXTS: [&str; 8] = [
    "one",
    "To open the vault, first call unseal and then open.",
    "  two  spaces\n\nand lines\n",
    "na\u{ef}ve caf\u{e9} \u{2014} \u{201c}quoted\u{201d}",
    "\u{65e5}\u{672c}\u{8a9e}\u{306e}\u{6587}\u{7ae0}",
    "\u{645}\u{631}\u{62d}\u{628}\u{627}",
    "\u{1f469}\u{200d}\u{1f680} and \u{1f600}\u{1f600}",
    "<|im_end|>",
];

/// Checks a tokenizer.
pub async fn check(tokenizer: &dyn Tokenizer) -> Report {
    let mut report = Report::new("Tokenizer");
    report.case("empty", empty(tokenizer));
    report.case("truncate", truncate(tokenizer));
    report.case("whole", whole(tokenizer));
    report
}

fn empty(tokenizer: &dyn Tokenizer) -> Tried {
    let tokens = tokenizer.count("").tokens;
    require(tokens == 0, || {
        format!("expected 0 tokens for the empty text, found {tokens}")
    })
}

fn truncate(tokenizer: &dyn Tokenizer) -> Tried {
    for text in TEXTS {
        for limit in 0..=tokenizer.count(text).tokens {
            let cut = tokenizer.truncate(text, limit);
            require(text.starts_with(&cut), || {
                format!("expected a prefix of {text:?} from `truncate`, found {cut:?}")
            })?;
            let tokens = tokenizer.count(&cut).tokens;
            require(tokens <= limit, || {
                format!("expected at most {limit} tokens of {text:?}, found {tokens}: {cut:?}")
            })?;
        }
    }
    Ok(())
}

fn whole(tokenizer: &dyn Tokenizer) -> Tried {
    for text in TEXTS {
        let tokens = tokenizer.count(text).tokens;
        for limit in [tokens, tokens + 1, usize::MAX] {
            let kept = tokenizer.truncate(text, limit);
            require(kept == text, || {
                format!(
                    "expected {text:?}, of {tokens} tokens, unchanged with a limit of {limit}, found {kept:?}"
                )
            })?;
        }
    }
    Ok(())
}
