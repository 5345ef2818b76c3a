//! [`Tokenizer`] for [`LlamaCpp`].

use journeyman::contract::{TokenCount, Tokenizer};

use crate::loaded::LlamaCpp;

/// llama.cpp counts bytes in 32 bits: longer text is counted in parts, which is an estimate.
const PART: usize = 1 << 28;
/// Number of characters beyond the first guess up to which prefixes are tried.
const AHEAD: usize = 8;

impl Tokenizer for LlamaCpp {
    fn count(&self, text: &str) -> TokenCount {
        let mut rest = text;
        let mut tokens = 0;
        loop {
            let (part, behind) = rest.split_at(rest.floor_char_boundary(PART));
            tokens += self.renderer.data(part).len();
            if behind.is_empty() {
                break;
            }
            rest = behind;
        }
        TokenCount {
            tokens,
            estimated: text.len() > PART,
        }
    }

    /// The longest prefix with at most `tokens` tokens, among the prefixes that end near the end of the first `tokens`
    /// tokens.
    fn truncate(&self, text: &str, tokens: usize) -> String {
        // Text behind `head` cannot be within the first `tokens` tokens.
        let head = self.renderer.head(text, tokens);
        let head = &head[..head.floor_char_boundary(PART)];
        let all = self.renderer.data(head);
        if all.len() <= tokens {
            return head.to_owned();
        }
        let bytes: usize = all[..tokens]
            .iter()
            .map(|&token| self.renderer.piece(token).len())
            .sum();
        let fits = |end: usize| self.renderer.data(&head[..end]).len() <= tokens;
        let guess = head.floor_char_boundary(bytes.min(head.len()));
        let longer = head[guess..].char_indices().take(AHEAD);
        let longer: Vec<usize> = longer
            .map(|(at, character)| guess + at + character.len_utf8())
            .collect();
        let shorter = head[..guess].char_indices().rev().map(|(at, _)| at);
        let ends = longer.into_iter().rev().chain([guess]).chain(shorter);
        let end = ends.into_iter().find(|&end| fits(end)).unwrap_or(0);
        head[..end].to_owned()
    }
}
