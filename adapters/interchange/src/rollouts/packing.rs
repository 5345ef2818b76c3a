//! Packing the segments of a rollout into sequences.

use journeyman::domain::TokenId;

use super::{
    rollout::Rollout,
    segment::{Segment, shared},
};

/// Tokens that one pass of a trainer's model reads.
#[non_exhaustive]
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Sequence {
    /// All tokens: prompts, and what was written after them.
    pub ids: Vec<TokenId>,
    /// For each of them whether the model chose it: these are trained on.
    pub mask: Vec<bool>,
    /// For each of them its log-probability when it was chosen; 0 where the model did not choose it.
    pub logprobs: Vec<f32>,
}

impl Rollout {
    /// The segments in as few sequences as they need. A segment that continues the one before it is in the same sequence: the
    /// tokens before each chosen token, and so its log-probability, are the same as in its own segment. A segment whose prompt was
    /// written anew begins another sequence.
    ///
    /// ```
    /// use journeyman_interchange::rollouts;
    ///
    /// let lines = include_str!("example.jsonl");
    /// let rollout = &rollouts::read(lines)?[0];
    /// let [first, second] = rollout.segments.as_slice() else { panic!("two turns") };
    /// assert_eq!(second.shared, first.prompt_ids.len() + first.ids.len());
    ///
    /// let sequences = rollout.sequences();
    /// assert_eq!(sequences.len(), 1);
    /// assert_eq!(sequences[0].ids, [&second.prompt_ids[..], &second.ids].concat());
    /// let chosen = sequences[0].mask.iter().filter(|chosen| **chosen).count();
    /// assert_eq!(chosen, rollout.chosen());
    /// # Ok::<(), journeyman::Error>(())
    /// ```
    pub fn sequences(&self) -> Vec<Sequence> {
        let mut sequences: Vec<Sequence> = Vec::new();
        let mut before: Option<&Segment> = None;
        for segment in &self.segments {
            let continues = before.is_some_and(|before| continues(before, segment));
            if !continues {
                sequences.push(Sequence::default());
            }
            if let Some(sequence) = sequences.last_mut() {
                sequence.add(segment);
            }
            before = Some(segment);
        }
        sequences
    }
}

impl Sequence {
    /// Adds the part of a segment's prompt that is not there yet, and its tokens.
    fn add(&mut self, segment: &Segment) {
        let context = segment.prompt_ids.iter().skip(self.ids.len());
        for id in context {
            self.push(*id, false, 0.0);
        }
        let tokens = segment.ids.iter().zip(&segment.mask).zip(&segment.logprobs);
        for ((id, chosen), logprob) in tokens {
            self.push(*id, *chosen, if *chosen { *logprob } else { 0.0 });
        }
    }

    fn push(&mut self, id: TokenId, chosen: bool, logprob: f32) {
        self.ids.push(id);
        self.mask.push(chosen);
        self.logprobs.push(logprob);
    }
}

/// Whether a segment's prompt begins with the whole segment before it.
fn continues(before: &Segment, segment: &Segment) -> bool {
    shared(before, &segment.prompt_ids) == before.prompt_ids.len() + before.ids.len()
}
