//! Answers that were damaged at random: every one is an action, a question to the model, or a typed end.

use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    time::Instant,
};

use journeyman::{
    Seed,
    agent::ChatFormat,
    contract::{Generation, PromptFormat, TurnMove, TurnView},
    domain::{Injection, Observation, Prompt, Source, Task},
};
use journeyman_toolworld::seed::Draws;
use serde::{Deserialize, Serialize};

use super::families::{FAMILIES, set_level};

/// What is put into answers: marks of calls, brackets, quotes, letters of several bytes.
const PIECES: [&str; 24] = [
    "<tool_call>",
    "</tool_call>",
    "[TOOL_CALLS]",
    "[ARGS]",
    "<|channel|>",
    "<|message|>",
    "<function=",
    "<parameter=",
    "</think>",
    "<think>",
    "{",
    "}",
    "[",
    "]",
    "\"",
    "'",
    "\\",
    "\n",
    "<｜tool▁sep｜>",
    "é",
    "日本",
    "\u{0}",
    "<|",
    "```json",
];

/// What became of damaged answers.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub struct Outcome {
    /// Answers.
    pub answers: u64,
    /// Answers at which a part panicked.
    pub panics: u64,
    /// Answers at which the prompt format gave an error.
    pub faults: u64,
    /// The share that was read as an action, in percent.
    pub acted: f64,
    /// The share that the model was asked for again, in percent.
    pub asked: f64,
    /// The longest time that one answer took, in milliseconds.
    pub slowest: f64,
}

/// Reads so many damaged answers, half of them as those of a model with an interface for tools. A third answer in a row that cannot
/// be used has to end the turn, in a way that is no fault.
pub fn read_damaged(seed: Seed, count: u64) -> Outcome {
    let mut found = Outcome::default();
    let (mut acted, mut asked) = (0_u64, 0_u64);
    for number in 0..count {
        let text = damaged(seed, number);
        let mut prompt_format = ChatFormat::default();
        prompt_format.native_tools = number % 2 == 0;
        let began = Instant::now();
        let read = catch_unwind(AssertUnwindSafe(|| {
            let once = turn(&prompt_format, &text, 1);
            let last = turn(&prompt_format, &text, prompt_format.asks + 1);
            (once, last)
        }));
        found.slowest = found.slowest.max(began.elapsed().as_secs_f64() * 1_000.0);
        found.answers += 1;
        match read {
            Err(_) => found.panics += 1,
            Ok((Ok(TurnMove::Act { .. }), Ok(TurnMove::Act { .. }))) => acted += 1,
            Ok((
                Ok(TurnMove::Generate { .. }),
                Ok(TurnMove::Act { .. } | TurnMove::Unreadable { .. }),
            )) => asked += 1,
            Ok(_) => found.faults += 1,
        }
    }
    let share = |part: u64| 100.0 * part as f64 / count.max(1) as f64;
    (found.acted, found.asked) = (share(acted), share(asked));
    found
}

/// The prompt format's move behind so many equal answers.
fn turn(prompt_format: &ChatFormat, text: &str, times: usize) -> journeyman::Result<TurnMove> {
    let seen = Observation::new("", Source::trusted("dial")).with_tools(vec![set_level()]);
    let replies = vec![Generation::new("test", &Prompt::default(), text); times];
    let task = Task::new("t", "Set the dial to level 8.");
    let none = Injection::NONE;
    let mut view = TurnView::new(&task, &none, &seen);
    view.replies = &replies;
    prompt_format.turn(&view)
}

/// A family's answer with one to four faults.
fn damaged(seed: Seed, number: u64) -> String {
    let mut draws = Draws::new("damaged", &[seed.0, number]);
    let family = draws.below(FAMILIES.len());
    let mut text: Vec<char> = FAMILIES[family].answer.chars().collect();
    for _ in 0..=draws.below(3) {
        let at = draws.below(text.len() + 1);
        let length = draws.below(12);
        let end = (at + length).min(text.len());
        match draws.below(5) {
            0 => text.truncate(at),
            1 => drop(text.drain(at..end)),
            2 => {
                let again = text[at..end].to_vec();
                text.splice(at..at, again);
            }
            3 => {
                let piece = PIECES[draws.below(PIECES.len())];
                text.splice(at..at, piece.chars());
            }
            _ => text[at..end].reverse(),
        }
    }
    text.into_iter().collect()
}
