//! Counting tokens.

use std::fmt;

/// A number of tokens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TokenCount {
    /// The number.
    pub tokens: usize,
    /// Whether it is an estimate.
    pub estimated: bool,
}

/// A model's tokenizer, or an estimate of one.
///
/// ```
/// use journeyman::contract::{TokenCount, Tokenizer};
///
/// /// An estimate: four characters a token.
/// #[derive(Debug)]
/// struct FourCharacters;
///
/// impl Tokenizer for FourCharacters {
///     fn count(&self, text: &str) -> TokenCount {
///         TokenCount { tokens: text.chars().count().div_ceil(4), estimated: true }
///     }
///
///     fn truncate(&self, text: &str, tokens: usize) -> String {
///         text.chars().take(tokens.saturating_mul(4)).collect()
///     }
/// }
///
/// assert_eq!(FourCharacters.count("unseal the tin").tokens, 4);
/// assert_eq!(FourCharacters.truncate("unseal the tin", 2), "unseal t");
/// ```
///
/// # Behavior
/// - *empty*: the empty text has 0 tokens.
/// - *truncate*: `truncate(text, n)` is a prefix of `text` and has at most `n` tokens.
/// - *whole*: a text of at most `n` tokens comes back unchanged.
pub trait Tokenizer: fmt::Debug + Send + Sync {
    /// How many tokens a text has, as data.
    fn count(&self, text: &str) -> TokenCount;

    /// The longest prefix, cut at a character, of at most `tokens` tokens.
    fn truncate(&self, text: &str, tokens: usize) -> String;
}
