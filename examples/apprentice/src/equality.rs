//! Whether llama.cpp reads and writes what the trainer does.

use std::path::Path;
use std::time::Duration;

use futures::executor::block_on;
use journeyman::Result;
use journeyman::contract::{ScoreRequest, Scorer};
use journeyman::domain::Prompt;
use journeyman_toolworld::corpus::{Mixture, document};
use journeyman_toolworld::script::Part;
use journeyman_toolworld::seed::Draws;
use journeyman_toolworld::tool::SkillText;
use journeyman_toolworld::vocabulary::Vocabulary;
use journeyman_toolworld::world::{World, WorldSpec};
use serde_json::json;

use crate::arena::Arena;

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

/// How many of `count` texts get the same token ids from llama.cpp as from the tokenizer that wrote the training
/// text, and the first that does not.
pub fn tokens(scorer: &dyn Scorer, count: usize) -> Result<(usize, Option<String>)> {
    let vocabulary = Vocabulary::new();
    let mut texts: Vec<String> = OTHERS.map(str::to_owned).to_vec();
    let mut number = 0;
    while texts.len() < count {
        let script = document(&Mixture::LATE, &mut Draws::new("equality", &[number]));
        texts.extend(script.parts().iter().filter_map(|(part, _)| match part {
            Part::Text(text) => Some(text.clone()),
            Part::Control(_) => None,
        }));
        number += 1;
    }
    texts.truncate(count);
    let mut equal = 0;
    let mut first = None;
    for text in texts {
        let request = ScoreRequest {
            prompt: Prompt {
                messages: Vec::new(),
                open: vec![journeyman::domain::Span::Control("<s>".into())],
            },
            continuations: vec![text.clone()],
            max_continuation_tokens: 512,
            time_limit: Duration::from_secs(60),
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

/// Writes what llama.cpp was given and wrote in `count` attempts, for `check.py` to write again with torch.
pub fn records(
    arena: &Arena,
    spec: &WorldSpec,
    seed: u64,
    count: usize,
    out: &Path,
) -> std::result::Result<usize, Box<dyn std::error::Error>> {
    let mut lines = Vec::new();
    for number in 0..count as u64 {
        let world = World::make(spec, &mut Draws::new("records", &[seed, number]));
        let skill = world
            .target()
            .map(|target| SkillText::of(target, &world.given_names()));
        let skills: Vec<&SkillText> = skill.iter().filter(|_| number % 2 == 0).collect();
        let tried = arena.attempt(&world, &skills, number)?;
        for record in tried
            .trajectory
            .steps
            .iter()
            .flat_map(|step| &step.generations)
        {
            lines.push(json!({"prompt": record.prompt_ids, "written": record.ids}).to_string());
        }
    }
    std::fs::write(out, lines.join("\n") + "\n")?;
    Ok(lines.len())
}
