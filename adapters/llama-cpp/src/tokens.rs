//! Texts into tokens, on a stack that no text overflows.

use std::{io, thread};

use llama_cpp_2::{model::LlamaModel, token::LlamaToken};

/// Kinds of vocabularies that split no text before they merge, by `tokenizer.ggml.model`.
const UNSPLIT: [&str; 4] = ["llama", "bert", "t5", "rwkv"];
/// Ways to split a text that llama.cpp has loops for, by `tokenizer.ggml.pre`. For the others it takes `std::regex`,
/// which calls itself for each character of a match.
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
/// So many characters need no stack of their own.
const SHORT: usize = 1000;
/// How many characters are tokenised in one piece, where that takes stack. A longer text is cut there, which may part a
/// word.
const PIECE: usize = 1 << 18;
/// Bytes of stack for a character. Of fifteen patterns the most demanding took 600, with what it keeps elsewhere.
const PER_CHARACTER: usize = 2048;
/// Bytes of stack beside.
const BASE: usize = 1 << 20;

/// How a vocabulary's texts are split into words.
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

    /// The tokens of a text, with special parsing or not.
    pub(crate) fn tokens(&self, model: &LlamaModel, text: &str, special: bool) -> Vec<LlamaToken> {
        let mut tokens = Vec::new();
        let mut rest = text;
        while !rest.is_empty() {
            let (piece, behind) = self.piece(rest);
            tokens.extend(self.of_piece(model, piece, false, special));
            rest = behind;
        }
        tokens
    }

    /// The tokens of a text's first piece as data, with those that the vocabulary wants around it.
    pub(crate) fn enclosed(&self, model: &LlamaModel, text: &str) -> Vec<LlamaToken> {
        self.of_piece(model, self.piece(text).0, true, false)
    }

    fn piece<'t>(&self, text: &'t str) -> (&'t str, &'t str) {
        match self.recursive {
            true => split_at_character(text, PIECE),
            false => (text, ""),
        }
    }

    fn of_piece(
        &self,
        model: &LlamaModel,
        text: &str,
        around: bool,
        special: bool,
    ) -> Vec<LlamaToken> {
        let tokenize = |text: &str| model.vocab().tokenize(text.as_bytes(), around, special);
        if !self.recursive || text.len() <= SHORT {
            return tokenize(text);
        }
        let stack = BASE + text.chars().count() * PER_CHARACTER;
        with_stack(stack, || tokenize(text)).unwrap_or_else(|_| {
            // The system has no room for the stack: the words at the borders are parted.
            let mut tokens = Vec::new();
            let mut rest = text;
            while !rest.is_empty() {
                let (short, behind) = split_at_character(rest, SHORT);
                tokens.extend(tokenize(short));
                rest = behind;
            }
            tokens
        })
    }
}

fn split_at_character(text: &str, characters: usize) -> (&str, &str) {
    let end = text.char_indices().nth(characters);
    text.split_at(end.map_or(text.len(), |(at, _)| at))
}

/// Does it on a thread of its own with so much stack, and waits.
fn with_stack<T: Send>(stack: usize, work: impl FnOnce() -> T + Send) -> io::Result<T> {
    thread::scope(|scope| {
        let thread = thread::Builder::new()
            .name("tokenizer".to_owned())
            .stack_size(stack)
            .spawn_scoped(scope, work)?;
        thread.join().map_err(|_| io::Error::other("a panic"))
    })
}
