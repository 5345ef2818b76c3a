//! Whether llama.cpp reads the training text as the trainer does, renders the chat template as our writer does, and writes what
//! torch writes.

use std::collections::BTreeSet;
use std::path::Path;

use futures::executor::block_on;
use journeyman::contract::{GenerateRequest, LanguageModel, ScoreRequest};
use journeyman::domain::{Message, Prompt, Span, Speaker};
use journeyman_toolworld::general::acting::{self, Kind};
use journeyman_toolworld::general::corpus::{Mixture, Writer};
use journeyman_toolworld::general::document::Piece;
use journeyman_toolworld::general::vocabulary::{Encoder, Vocabulary};
use journeyman_toolworld::lexicon::foreign_words;
use journeyman_toolworld::seed::Draws;
use journeyman_toolworld::world::WorldSpec;
use serde::{Deserialize, Serialize};

use crate::arena::Arena;

/// Where two tokens lead by less than this many nats, either may come first: the file's weights are rounded.
const TIE: f64 = 0.05;
/// Texts beside those of training: what users may write.
const OTHERS: [&str; 8] = [
    "Please unseal the coffee-maker!",
    "<tools> and <tool_call> are text here, <|im_end|> too",
    "caf\u{e9} \u{2013} \u{6771}\u{4eac} \u{1f980}",
    "  two  blanks\t and\n\n lines ",
    "it's 12345 + 6.7 = ? 'student's",
    r#"{"name": "x", "description": "", "n": [1, 2.5, null]}"#,
    r"a \n b \\n c",
    "a\u{0}b",
];

/// How llama.cpp compares with the trainer.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Same {
    /// Texts with the same token ids.
    pub texts: usize,
    /// Prompts of turns, rendered by the template, with other token ids than the training text has.
    pub other_prompts: usize,
    /// The first text or prompt that differs.
    pub first: Option<String>,
    /// Greedy outputs that equal torch's.
    pub equal: usize,
    /// They part where two tokens were nearly tied.
    pub tied: usize,
    /// They part elsewhere.
    pub different: usize,
}

/// What torch wrote to a prompt, as the export left it.
#[derive(Debug, Deserialize)]
struct Record {
    pieces: Vec<Piece>,
    ids: Vec<i32>,
    written: Vec<i32>,
    /// By how much each written token led the next best, in nats.
    margins: Vec<f64>,
}

impl Same {
    /// Compares `count` texts, a tenth as many prompts, and the greedy outputs that the export left in `folder`. `bare` is the
    /// model without its template.
    ///
    /// # Errors
    /// When a file of the folder cannot be read, and what the model gives.
    pub fn measure(
        arena: &Arena,
        bare: &dyn LanguageModel,
        folder: &Path,
        count: usize,
    ) -> std::result::Result<Self, Box<dyn std::error::Error + Send + Sync>> {
        let vocabulary = std::fs::read_to_string(folder.join("vocabulary.json"))?;
        let vocabulary: Vocabulary = serde_json::from_str(&vocabulary)?;
        let mut encoder = Encoder::new(&vocabulary);
        let mut same = Self::default();
        same.compare_texts(arena, &mut encoder, count)?;
        same.compare_prompts(arena, &mut encoder, count as u64 / 10)?;
        let greedy = std::fs::read_to_string(folder.join("greedy.jsonl"))?;
        for line in greedy.lines() {
            same.compare_greedy(bare, &serde_json::from_str(line)?)?;
        }
        Ok(same)
    }

    fn compare_texts(
        &mut self,
        arena: &Arena,
        encoder: &mut Encoder,
        count: usize,
    ) -> journeyman::Result<()> {
        let writer = Writer::new()?;
        let mut texts: BTreeSet<String> = OTHERS.map(str::to_owned).into();
        let mut number = 0;
        while texts.len() < count {
            let mut draws = Draws::new("general equality", &[number]);
            texts.insert(foreign_words(5, &mut draws));
            let document = writer.document(&Mixture::LATE, &mut draws);
            let data = document.pieces.into_iter().filter(|piece| !piece.control);
            texts.extend(data.map(|piece| piece.text).max_by_key(String::len));
            number += 1;
        }
        for text in texts.into_iter().take(count) {
            let request = ScoreRequest::new(
                Prompt::new(vec![Message::data(Speaker::User, "text")]),
                vec![text.clone()],
            )
            .with_max_continuation_tokens(3_000);
            let scores = block_on(arena.scorer.score(&request))?;
            let ids = scores.first().map(|scores| scores.ids.clone());
            let ours = encoder.encode(&text, false).into_iter().map(i32::from);
            match ids.unwrap_or_default().into_iter().eq(ours) {
                true => self.texts += 1,
                false => self.differs(&text),
            }
        }
        Ok(())
    }

    fn compare_prompts(
        &mut self,
        arena: &Arena,
        encoder: &mut Encoder,
        count: u64,
    ) -> journeyman::Result<()> {
        let kinds = [Kind::Alone, Kind::Right, Kind::Both, Kind::Opaque];
        for number in 0..count {
            let mut draws = Draws::new("general equality of prompts", &[number]);
            let spec = WorldSpec::wide(&mut draws);
            let kind = kinds[draws.below(kinds.len())];
            let Some((prompt, tools, document)) = acting::turn(kind, &spec, &mut draws) else {
                continue;
            };
            let mut request = GenerateRequest::greedy(prompt, 1);
            request.tools = tools;
            let generation = block_on(arena.model.generate(&request))?;
            let ours = encoder.document(&document);
            let ours = ours.into_iter().map(|(id, _)| i32::from(id));
            if !generation.prompt_ids.into_iter().eq(ours) {
                self.other_prompts += 1;
                self.differs(&document.text());
            }
        }
        Ok(())
    }

    fn compare_greedy(
        &mut self,
        bare: &dyn LanguageModel,
        record: &Record,
    ) -> journeyman::Result<()> {
        let span = |piece: &Piece| match piece.control {
            true => Span::Control(piece.text.clone()),
            false => Span::Data(piece.text.clone()),
        };
        let mut prompt = Prompt::new(Vec::new());
        prompt.open = record.pieces.iter().map(span).collect();
        let request = GenerateRequest::greedy(prompt, record.written.len());
        let generation = block_on(bare.generate(&request))?;
        let mut pairs = generation.ids.iter().zip(&record.written);
        let parting = pairs.position(|(ours, theirs)| ours != theirs);
        let margin = parting.and_then(|at| record.margins.get(at));
        if generation.prompt_ids != record.ids {
            self.different += 1;
        } else if parting.is_none() {
            self.equal += 1;
        } else if margin.is_some_and(|margin| *margin < TIE) {
            self.tied += 1;
        } else {
            self.different += 1;
        }
        Ok(())
    }

    fn differs(&mut self, text: &str) {
        self.first.get_or_insert_with(|| text.to_owned());
    }
}
