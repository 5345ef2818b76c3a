//! Tokenizing texts on a stack that no text can overflow.

use std::{io, thread};

use llama_cpp_2::{model::LlamaModel, token::LlamaToken};

/// Kinds of vocabularies that do not split a text before merging, by `tokenizer.ggml.model`.
const UNSPLIT: [&str; 4] = ["llama", "bert", "t5", "rwkv"];
/// Splitting rules that llama.cpp implements with loops, by `tokenizer.ggml.pre`. For all others it uses `std::regex`,
/// which recurses for each character of a match.
const LOOPS: [&str; 19] = [
    "gpt-2",
    "phi-2",
    "mpt",
    "olmo",
    "llama3",
    "llama-v3",
    "llama-bpe",
    "falcon3",
    "lfm2",
    "pixtral",
    "qwen2",
    "deepseek-r1-qwen",
    "qwen35",
    "stablelm2",
    "dbrx",
    "glm4",
    "starcoder",
    "smollm",
    "kimi-k2",
];
/// Maximum length, in characters, that needs no stack of its own.
const SHORT: usize = 1000;
/// Maximum length of a piece, in characters, where tokenizing is recursive. A longer text is cut into pieces, which may
/// split a word.
const PIECE: usize = 1 << 18;
/// Bytes of stack per character. The most demanding of fifteen patterns took 600, including its other data.
const PER_CHARACTER: usize = 2048;
/// Base size of the stack in bytes.
const BASE: usize = 1 << 20;

/// The way a vocabulary splits texts into words.
pub(crate) struct Splitting {
    recursive: bool,
}

impl Splitting {
    pub(crate) fn of(model: &LlamaModel) -> Self {
        let says = |key: &str, known: &[&str]| {
            let value = model.meta_val_str(key);
            value.is_ok_and(|value| known.contains(&value.as_str()))
        };
        Self {
            recursive: !says("tokenizer.ggml.model", &UNSPLIT)
                && !says("tokenizer.ggml.pre", &LOOPS),
        }
    }

    /// The tokens of a text, with special parsing where `special` is true.
    pub(crate) fn tokens(&self, model: &LlamaModel, text: &str, special: bool) -> Vec<LlamaToken> {
        let tokenize = |text: &str| model.vocab().tokenize(text.as_bytes(), false, special);
        if !self.takes_stack(text) {
            return tokenize(text);
        }
        let mut tokens = Vec::new();
        for piece in pieces(text, PIECE) {
            let stack = BASE + piece.chars().count() * PER_CHARACTER;
            match with_stack(stack, || tokenize(piece)) {
                Ok(some) => tokens.extend(some),
                // The system has no memory for the stack: smaller pieces are used, which may split words.
                Err(_) => tokens.extend(pieces(piece, SHORT).flat_map(tokenize)),
            }
        }
        tokens
    }

    /// The tokens of a text as data, with the special tokens that the vocabulary wants around it.
    pub(crate) fn enclosed(&self, model: &LlamaModel, text: &str) -> Vec<LlamaToken> {
        let vocab = model.vocab();
        if !self.takes_stack(text) {
            return vocab.tokenize(text.as_bytes(), true, false);
        }
        let around = vocab.tokenize(b"", true, false);
        let before = around.len().min(vocab.should_add_bos().into());
        let (before, behind) = around.split_at(before);
        let within = self.tokens(model, text, false);
        [before, &within, behind].concat()
    }

    fn takes_stack(&self, text: &str) -> bool {
        self.recursive && text.len() > SHORT
    }
}

/// The pieces of a text, each of `characters` characters, the last one of fewer.
fn pieces(text: &str, characters: usize) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let end = rest.char_indices().nth(characters);
        let (piece, behind) = rest.split_at(end.map_or(rest.len(), |(at, _)| at));
        rest = behind;
        (!piece.is_empty()).then_some(piece)
    })
}

/// Runs work on a thread with this stack size, and waits.
fn with_stack<T: Send>(stack: usize, work: impl FnOnce() -> T + Send) -> io::Result<T> {
    thread::scope(|scope| {
        let thread = thread::Builder::new()
            .name("tokenizer".to_owned())
            .stack_size(stack)
            .spawn_scoped(scope, work)?;
        thread.join().map_err(|_| io::Error::other("a panic"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_are_the_text() {
        let parts: Vec<_> = pieces("éaéaé", 2).collect();
        assert_eq!(parts, ["éa", "éa", "é"]);
        assert_eq!(pieces("", 2).count(), 0);
    }

    #[test]
    fn what_no_stack_is_there_for_is_an_error() {
        assert_eq!(with_stack(BASE, || 1).unwrap(), 1);
        assert!(with_stack(usize::MAX / 4, || 1).is_err());
        assert!(with_stack(BASE, || panic!("to be caught")).is_err());
    }
}
