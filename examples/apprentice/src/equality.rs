//! Whether llama.cpp reads and writes what the trainer does.

use std::collections::BTreeSet;
use std::path::Path;
use std::time::Duration;

use futures::executor::block_on;
use journeyman::Result;
use journeyman::contract::{GenerateRequest, LanguageModel, ScoreRequest, Scorer};
use journeyman::domain::{Message, Prompt, Span, Speaker};
use journeyman_toolworld::corpus::{Mixture, document};
use journeyman_toolworld::lexicon::foreign_words;
use journeyman_toolworld::script::Part;
use journeyman_toolworld::seed::Draws;
use journeyman_toolworld::vocabulary::Vocabulary;
use serde::{Deserialize, Serialize};

/// Texts beside those of training: what users may write.
const OTHERS: [&str; 8] = [
    " unseal the coffee-maker, please!",
    "<tools> is text here",
    "caf\u{e9} \u{2013} \u{6771}\u{4eac} \u{1f980}",
    "  two  blanks\t and\n\n lines ",
    "it's 12345 + 6.7 = ?",
    "Unseal THE Coffee",
    " zuvoka rimetu",
    "a\u{0}b",
];

/// Where two tokens lead by less than this many nats, either may come first: the order of sums differs between the two.
const TIE: f64 = 0.02;

/// How many of `count` distinct texts, half of them in random letters, get the same token ids from llama.cpp as from the tokenizer that wrote the training
/// text, and the first that does not.
///
/// # Errors
/// What the scorer gives.
pub fn tokens(scorer: &dyn Scorer, count: usize) -> Result<(usize, Option<String>)> {
    let vocabulary = Vocabulary::new();
    let mut texts: BTreeSet<String> = OTHERS.map(str::to_owned).into();
    let mut number = 0;
    while texts.len() < count {
        let mut draws = Draws::new("equality", &[number]);
        texts.insert(foreign_words(5, &mut draws));
        let script = document(&Mixture::LATE, &mut draws);
        let parts = script.parts().iter().filter_map(|(part, _)| match part {
            Part::Text(text) => Some(text.clone()),
            Part::Control(_) => None,
        });
        texts.extend(parts.max_by_key(String::len));
        number += 1;
    }
    let mut equal = 0;
    let mut first = None;
    for text in texts.into_iter().take(count) {
        let request = ScoreRequest {
            prompt: Prompt {
                messages: Vec::new(),
                open: vec![Span::Control("<s>".into())],
            },
            continuations: vec![text.clone()],
            max_continuation_tokens: 512,
            time_limit: Duration::from_secs(60),
            adapter: None,
            repeatable: false,
        };
        let scores = block_on(scorer.score(&request))?;
        let ids = scores
            .first()
            .map(|scores| scores.ids.clone())
            .unwrap_or_default();
        if ids
            .iter()
            .copied()
            .eq(vocabulary.encode(&text).into_iter().map(i32::from))
        {
            equal += 1;
        } else if first.is_none() {
            first = Some(text);
        }
    }
    Ok((equal, first))
}

/// What torch wrote to a prompt, as the export left it.
#[derive(Debug, Deserialize)]
struct Record {
    parts: Vec<Piece>,
    ids: Vec<i32>,
    written: Vec<i32>,
    /// By how much each written token led the next best, in nats.
    margins: Vec<f64>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Piece {
    Control(String),
    Text(String),
}

/// How llama.cpp's greedy outputs compare with torch's.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Greedy {
    /// The same tokens.
    pub equal: usize,
    /// They part where two tokens were nearly tied.
    pub tied: usize,
    /// They part elsewhere, or the prompt's tokens differ.
    pub different: usize,
}

/// Compares greedy outputs with those that the trainer's export left in a file.
///
/// # Errors
/// When the file cannot be read, and what the model gives.
pub fn greedy(
    model: &dyn LanguageModel,
    file: &Path,
) -> std::result::Result<Greedy, Box<dyn std::error::Error + Send + Sync>> {
    let mut found = Greedy::default();
    for line in std::fs::read_to_string(file)?.lines() {
        let record: Record = serde_json::from_str(line)?;
        let span = |piece: &Piece| match piece {
            Piece::Control(control) => Span::Control(control.clone()),
            Piece::Text(text) => Span::Data(text.clone()),
        };
        let prompt = Prompt {
            messages: vec![Message::new(
                Speaker::User,
                record.parts.iter().map(span).collect(),
            )],
            open: Vec::new(),
        };
        let mut request = GenerateRequest::greedy(prompt, record.written.len());
        request.stop = vec!["<end>".to_owned(), "<obs>".to_owned()];
        let generation = block_on(model.generate(&request))?;
        let mut pairs = generation.ids.iter().zip(&record.written);
        let parting = pairs.position(|(ours, theirs)| ours != theirs);
        let margin = parting.and_then(|at| record.margins.get(at));
        if generation.prompt_ids != record.ids {
            found.different += 1;
        } else if generation.ids == record.written {
            found.equal += 1;
        } else if margin.is_some_and(|margin| *margin < TIE) {
            found.tied += 1;
        } else {
            found.different += 1;
        }
    }
    Ok(found)
}
