//! A byte-level BPE vocabulary in which a text has about as many tokens as bytes.

/// The merges, and the tokens that they make.
pub(crate) const MERGES: [&str; 2] = ["t h", "th e"];
const MERGED: [&str; 2] = ["th", "the"];
/// The last tokens: what a text cannot spell.
pub(crate) const CONTROL: [&str; 8] = [
    "<s>",
    "</s>",
    "<task>",
    "<call>",
    "<obs>",
    "<|im_start|>",
    "<|im_end|>",
    "<|pad|>",
];

/// So many tokens: 256 bytes, the merged ones, words that no merge leads to and that no text is therefore tokenised
/// to, and the control tokens.
pub(crate) fn tokens(size: u32) -> impl Iterator<Item = String> {
    let words = size as usize - 256 - MERGED.len() - CONTROL.len();
    bytes()
        .chain(MERGED.map(str::to_owned))
        .chain((0..words).map(word))
        .chain(CONTROL.map(str::to_owned))
}

/// As GPT-2 has it: bytes that cannot be printed are written as characters from U+0100 on.
fn bytes() -> impl Iterator<Item = String> {
    let mut shifted = 0x100_u32;
    (0..=255_u8).map(move |byte| {
        let code = if matches!(byte, 33..=126 | 161..=172 | 174..=255) {
            u32::from(byte)
        } else {
            shifted += 1;
            shifted - 1
        };
        char::from_u32(code).unwrap_or_default().to_string()
    })
}

/// A space and four letters.
fn word(number: usize) -> String {
    let mut word = "\u{120}".to_owned();
    for place in [26 * 26 * 26, 26 * 26, 26, 1] {
        word.push(char::from(b'a' + (number / place % 26) as u8));
    }
    word
}

/// The number of a control token in a vocabulary of this size.
pub(crate) fn control(size: u32, text: &str) -> u32 {
    let from_end = CONTROL.iter().rev().position(|&control| control == text);
    size - 1 - from_end.unwrap_or_default() as u32
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn it_has_its_size_and_no_token_twice() {
        let size = 151_936;
        let tokens: Vec<String> = tokens(size).collect();
        assert_eq!(tokens.len(), size as usize);
        assert_eq!(tokens.iter().collect::<HashSet<_>>().len(), tokens.len());
        assert_eq!(tokens[control(size, "<|im_end|>") as usize], "<|im_end|>");
    }
}
