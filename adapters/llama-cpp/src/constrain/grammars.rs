//! Token masks from JSON Schemas, and from texts that lead to JSON of one of several schemas, with llguidance.

use std::{
    fmt,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{Arc, OnceLock},
};

use super::Alternative;
use journeyman::{Error, ErrorKind, Result, text::JsonSchema};
use llama_cpp_2::{model::LlamaModel, token::LlamaToken};
use llguidance::{Matcher, ParserFactory, api::TopLevelGrammar, toktrie};
use serde_json::{Value, json};
use toktrie::{ApproximateTokEnv, TokEnv, TokRxInfo, TokTrie};

/// Maximum states of a grammar's lexer, about 2 kB each.
const MAX_STATES: usize = 50_000;
/// The allowed white space between two parts of the JSON: without a limit a model could write it endlessly.
const SPACE: &str = r"[ ]{1,2}|\n[ \t]{0,32}";
/// The bytes of the longest token that a constrained output may have: llguidance's tree has room for 1,024, and whole sentences
/// of prompts, which the bundled model has as tokens, stand in no JSON.
const LONGEST: usize = 512;
/// The key under which llguidance reads options in a schema.
const OPTIONS: &str = "x-guidance";
/// Maximum length of llguidance's message in an error, in characters.
const MAX_WORDS: usize = 200;

/// The data that grammars need about a vocabulary, computed at the first schema (0.7 s for 150,000 tokens).
#[derive(Default)]
pub(crate) struct Grammars(OnceLock<Result<ParserFactory>>);

/// The constraint of one output.
pub(crate) struct Constraint {
    operation: &'static str,
    matcher: Matcher,
}

impl Grammars {
    /// The constraint of an output to one of these alternatives.
    ///
    /// # Errors
    /// `Invalid` for a schema that is invalid or too large, `Unsupported` for one that no grammar can express.
    pub(crate) fn constraint(
        &self,
        operation: &'static str,
        model: &LlamaModel,
        alternatives: &[Alternative],
    ) -> Result<Constraint> {
        let factory = self.0.get_or_init(|| {
            let (words, ends) = vocabulary(model);
            factory(operation, &words, &ends)
        });
        let factory = factory.as_ref().map_err(Clone::clone)?;
        Constraint::new(operation, factory, alternatives)
    }
}

impl Constraint {
    pub(super) fn new(
        operation: &'static str,
        factory: &ParserFactory,
        alternatives: &[Alternative],
    ) -> Result<Self> {
        let grammar = grammar(alternatives)?;
        let matcher = catch_panics(|| {
            let parser = factory.create_parser(grammar);
            let matcher = Matcher::new(parser);
            match matcher.get_error() {
                None => Ok(matcher),
                Some(error) => Err(error),
            }
        });
        let matcher = matcher.map_err(|words| {
            Error::unsupported(operation, "the output cannot be constrained to this JSON Schema")
                .with("detail", words)
                .hint(
                    "remove keywords that a grammar cannot express, such as `not`, `if` and `oneOf`; or use \
                        agent::role::Structured, which lets the model write freely and validates",
                )
        })?;
        Ok(Self { operation, matcher })
    }

    /// Sets the logits of all tokens that may not come next to minus infinity. Where the JSON is complete, only end
    /// tokens are left.
    ///
    /// # Errors
    /// `Model` where no token may come next, or finding the allowed ones is too expensive.
    pub(crate) fn mask(&mut self, logits: &mut [f32]) -> Result<()> {
        let allowed =
            catch_panics(|| self.matcher.compute_mask_or_eos()).map_err(|w| self.failed(w))?;
        let mut left = 0_usize;
        for (token, logit) in logits.iter_mut().enumerate() {
            if token < allowed.len() && allowed.get(token) {
                left += 1;
            } else {
                *logit = f32::NEG_INFINITY;
            }
        }
        match left {
            0 => Err(self.failed("no token may come next".to_owned())),
            _ => Ok(()),
        }
    }

    /// Advances past a drawn token; not for end tokens.
    ///
    /// # Errors
    /// `Model` for a token that may not come next.
    pub(crate) fn accept(&mut self, token: i32) -> Result<()> {
        let token = u32::try_from(token).unwrap_or(u32::MAX);
        catch_panics(|| self.matcher.consume_token(token)).map_err(|words| self.failed(words))
    }

    fn failed(&self, words: String) -> Error {
        Error::new(
            ErrorKind::Model,
            self.operation,
            "the output cannot be constrained to its JSON Schema any further",
        )
        .with("detail", words)
        .hint(
            "simplify the schema, above all its patterns and alternatives; or use agent::role::Structured",
        )
    }
}

/// The grammar of a text that is one of these alternatives.
fn grammar(alternatives: &[Alternative]) -> Result<TopLevelGrammar> {
    if let [Alternative { begin, schema }] = alternatives
        && begin.is_empty()
    {
        return Ok(TopLevelGrammar::from_json_schema(checked(schema)?));
    }
    let one = |Alternative { begin, schema }: &Alternative| {
        // A text in Lark's grammar is escaped as in JSON.
        let begin = Value::from(begin.as_str());
        Ok(format!("{begin} %json {}", checked(schema)?))
    };
    let all: Vec<String> = alternatives.iter().map(one).collect::<Result<_>>()?;
    let lark = format!("start: {}\n", all.join("\n    | "));
    Ok(TopLevelGrammar::from_lark(lark))
}

/// A schema with our limit of white space. The SDK's validator checks it first: its limits apply here too, and its errors are clearer.
fn checked(schema: &Value) -> Result<Value> {
    let mut schema = JsonSchema::new(schema.clone())?.as_value().clone();
    if let Value::Object(fields) = &mut schema {
        fields.insert(OPTIONS.to_owned(), json!({"whitespace_pattern": SPACE}));
    }
    Ok(schema)
}

/// The bytes of each token, and the end tokens. A special token is spelled after a mark that no text contains.
fn vocabulary(model: &LlamaModel) -> (Vec<Vec<u8>>, Vec<u32>) {
    let vocab = model.vocab();
    let spelled = |id: i32| {
        let text = vocab.token_to_piece(LlamaToken(id), false, None);
        if text.len() > LONGEST {
            return Vec::new();
        }
        if !text.is_empty() {
            return text;
        }
        let special = vocab.token_to_piece(LlamaToken(id), true, None);
        match special.is_empty() {
            true => special,
            false => [&[TokTrie::SPECIAL_TOKEN_MARKER], special.as_slice()].concat(),
        }
    };
    let ids = 0..vocab.n_tokens();
    let ends = ids.clone().filter(|&id| vocab.is_eog(LlamaToken(id)));
    let ends = ends.map(i32::unsigned_abs).collect();
    (ids.map(spelled).collect(), ends)
}

pub(super) fn factory(
    operation: &'static str,
    words: &[Vec<u8>],
    ends: &[u32],
) -> Result<ParserFactory> {
    let unfit = |words: String| {
        Error::unsupported(operation, "no grammar can be made for this vocabulary")
            .with("detail", words)
            .hint("send the request without json_schema: agent::role::Structured lets the model write freely and validates")
    };
    let first = *ends
        .first()
        .ok_or_else(|| unfit("no token ends the text".to_owned()))?;
    let made = catch_panics(|| {
        let info = TokRxInfo::new(words.len() as u32, first);
        let trie = TokTrie::from(&info, words).with_eos_tokens(ends);
        let environment: TokEnv = Arc::new(ApproximateTokEnv::new(trie));
        ParserFactory::new_simple(&environment)
    });
    let mut factory = made.map_err(unfit)?;
    factory.quiet();
    let limits = factory.limits_mut();
    limits.max_lexer_states = MAX_STATES;
    limits.verbose_errors = false;
    Ok(factory)
}

/// Runs llguidance; a panic or an error becomes a message of bounded length.
fn catch_panics<T, E: fmt::Display>(work: impl FnOnce() -> Result<T, E>) -> Result<T, String> {
    let plain = |words: String| {
        let words = words.chars().map(|c| if c.is_control() { ' ' } else { c });
        words.take(MAX_WORDS).collect()
    };
    match catch_unwind(AssertUnwindSafe(work)) {
        Ok(done) => done.map_err(|error| plain(error.to_string())),
        Err(_) => Err("llguidance panicked".to_owned()),
    }
}
