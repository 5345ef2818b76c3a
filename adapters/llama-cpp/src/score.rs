//! The log-probability of given texts.

use journeyman::{
    Error, Result,
    contract::{ScoreRequest, TokenScores},
};
use llama_cpp_2::token::LlamaToken;

use crate::{
    context::{Context, Row, Sequence},
    convert::{ids, too_long},
    render::Renderer,
    sampling::LogSum,
};

pub(crate) const SCORE: &str = "LlamaCpp::score";

/// A continuation that is being read behind the prompt.
pub(crate) struct Branch {
    of: usize,
    sequence: Sequence,
    /// How many of its tokens are in memory.
    read: usize,
}

/// Scores on their way.
pub(crate) struct Scoring {
    prompt: Vec<LlamaToken>,
    texts: Vec<Vec<LlamaToken>>,
    scores: Vec<TokenScores>,
    /// The first text that no branch was opened for.
    next: usize,
    branches: Vec<Branch>,
}

impl Scoring {
    pub(crate) fn new(renderer: &Renderer, request: &ScoreRequest) -> Result<Self> {
        let prompt = renderer.prompt(SCORE, &request.prompt)?;
        let mut texts = Vec::with_capacity(request.continuations.len());
        let mut scores = Vec::with_capacity(request.continuations.len());
        for continuation in &request.continuations {
            let (tokens, truncated) = renderer.first(continuation, request.max_continuation_tokens);
            scores.push(TokenScores {
                ids: ids(&tokens),
                logprobs: Vec::with_capacity(tokens.len()),
                truncated,
            });
            texts.push(tokens);
        }
        check_room(renderer.context, prompt.len(), &texts)?;
        Ok(Self {
            prompt,
            texts,
            scores,
            next: 0,
            branches: Vec::new(),
        })
    }

    pub(crate) fn prompt(&self) -> &[LlamaToken] {
        &self.prompt
    }

    /// Whether nothing has to be computed.
    pub(crate) fn is_empty(&self) -> bool {
        self.texts.iter().all(Vec::is_empty)
    }

    /// Takes the logits behind the prompt: they predict each text's first token.
    pub(crate) fn head(&mut self, logits: &[f32]) -> Result<()> {
        let log_sum = LogSum::of(SCORE, logits)?;
        for (text, score) in self.texts.iter().zip(&mut self.scores) {
            score.logprobs.clear();
            if let Some(first) = text.first() {
                let logprob = log_sum.logprob(SCORE, logits, first.0)?;
                score.logprobs.push(logprob);
            }
        }
        Ok(())
    }

    /// How many branches are open.
    pub(crate) fn branches(&self) -> usize {
        self.branches.len()
    }

    /// Whether there is a further text with rows to read: one of more than one token.
    pub(crate) fn has_unopened(&mut self) -> bool {
        while self.texts.get(self.next).is_some_and(|text| text.len() < 2) {
            self.next += 1;
        }
        self.next < self.texts.len()
    }

    /// How many rows a branch still needs.
    pub(crate) fn unread(&self, branch: usize) -> usize {
        let Branch { of, read, .. } = &self.branches[branch];
        self.texts[*of].len() - 1 - read
    }

    /// Opens a branch for the next text; false where there is none or no room.
    pub(crate) fn open(&mut self, context: &mut Context<'_>, trunk: &Sequence) -> Result<bool> {
        if !self.has_unopened() {
            return Ok(false);
        }
        let Some(sequence) = context.fork(trunk, trunk.len())? else {
            return Ok(false);
        };
        self.branches.push(Branch {
            of: self.next,
            sequence,
            read: 0,
        });
        self.next += 1;
        Ok(true)
    }

    /// The rows that a branch still needs, at most `most`. A text's last token is predicted, never read.
    pub(crate) fn rows(&self, branch: usize, most: usize) -> impl Iterator<Item = Row> {
        let Branch { of, read, sequence } = &self.branches[branch];
        let text = &self.texts[*of];
        let unread = text[*read..text.len() - 1].iter().take(most);
        unread
            .enumerate()
            .map(|(ahead, &token)| sequence.row(ahead, token, true))
    }

    /// Takes the logits of a row that was decoded: they predict the token behind it.
    pub(crate) fn read(
        &mut self,
        context: &Context<'_>,
        branch: usize,
        logits: &[f32],
    ) -> Result<()> {
        let branch = &mut self.branches[branch];
        let text = &self.texts[branch.of];
        let next = text[branch.read + 1];
        let logprob = LogSum::of(SCORE, logits)?.logprob(SCORE, logits, next.0)?;
        self.scores[branch.of].logprobs.push(logprob);
        context.extend(&mut branch.sequence, text[branch.read]);
        branch.read += 1;
        Ok(())
    }

    /// Gives back the branches that are read.
    pub(crate) fn close_read(&mut self, context: &mut Context<'_>) {
        let mut at = 0;
        while at < self.branches.len() {
            let Branch { of, read, .. } = self.branches[at];
            if read + 1 == self.texts[of].len() {
                context.close(self.branches.remove(at).sequence);
            } else {
                at += 1;
            }
        }
    }

    /// Whether all is scored.
    pub(crate) fn is_done(&self) -> bool {
        let behind = &self.texts[self.next..];
        self.branches.is_empty() && behind.iter().all(|text| text.len() < 2)
    }

    /// Gives the branches back. It can begin anew.
    pub(crate) fn restart(&mut self, context: &mut Context<'_>) {
        self.next = 0;
        for score in &mut self.scores {
            score.logprobs.clear();
        }
        for branch in self.branches.drain(..) {
            context.close(branch.sequence);
        }
    }

    pub(crate) fn finish(self) -> Vec<TokenScores> {
        self.scores
    }
}

/// Refuses what would not fit the context; nothing is cut that the request did not say to cut.
fn check_room(context: usize, prompt: usize, texts: &[Vec<LlamaToken>]) -> Result<()> {
    let longest = texts.iter().map(Vec::len).max().unwrap_or(0);
    if prompt >= context {
        return Err(too_long(SCORE, prompt, context));
    }
    if prompt + longest > context {
        return Err(Error::invalid(
            SCORE,
            format!("the prompt has {prompt} tokens, the longest continuation {longest} and the context {context}"),
        )
        .with("prompt_tokens", prompt)
        .with("continuation_tokens", longest)
        .with("context", context)
        .hint("shorten the prompt, lower max_continuation_tokens, or load the model with a larger n_ctx"));
    }
    Ok(())
}
