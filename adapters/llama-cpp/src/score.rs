//! Scoring: the log-probabilities of given continuations.

use journeyman::{
    Error, Result,
    contract::{ScoreRequest, TokenScores},
};
use llama_cpp_2::token::LlamaToken;

use crate::{
    context::{Context, Row, Sequence},
    convert::{ids, too_long},
    render::{Opening, Renderer},
    sampling::Logits,
};

pub(crate) const SCORE: &str = "LlamaCpp::score";

/// A continuation that is being decoded after the prompt.
pub(crate) struct Branch {
    of: usize,
    sequence: Sequence,
    /// Number of its tokens in memory.
    read: usize,
}

/// The state of a scoring request.
pub(crate) struct Scoring {
    prompt: Vec<LlamaToken>,
    texts: Vec<Vec<LlamaToken>>,
    scores: Vec<TokenScores>,
    /// Index of the first text without a branch so far.
    next: usize,
    branches: Vec<Branch>,
}

impl Scoring {
    pub(crate) fn new(renderer: &Renderer, request: &ScoreRequest) -> Result<Self> {
        let prompt = renderer
            .prompt(SCORE, &request.prompt, &[], Opening::Answer)?
            .tokens;
        let mut texts = Vec::with_capacity(request.continuations.len());
        let mut scores = Vec::with_capacity(request.continuations.len());
        for continuation in &request.continuations {
            let (tokens, truncated) = renderer.first(continuation, request.max_continuation_tokens);
            scores.push(
                TokenScores::new(ids(&tokens), Vec::with_capacity(tokens.len()))
                    .with_truncated(truncated),
            );
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

    /// Processes the logits after the prompt, which predict each text's first token.
    pub(crate) fn head(&mut self, logits: &Logits<'_>) -> Result<()> {
        let log_sum = logits.sum(SCORE)?;
        for (text, score) in self.texts.iter().zip(&mut self.scores) {
            score.logprobs.clear();
            if let Some(first) = text.first() {
                let logprob = log_sum.logprob(SCORE, logits.all, first.0)?;
                score.logprobs.push(logprob);
            }
        }
        Ok(())
    }

    /// Number of open branches.
    pub(crate) fn branches(&self) -> usize {
        self.branches.len()
    }

    /// Whether another text has rows to decode: one of more than one token.
    pub(crate) fn has_unopened(&mut self) -> bool {
        while self.texts.get(self.next).is_some_and(|text| text.len() < 2) {
            self.next += 1;
        }
        self.next < self.texts.len()
    }

    /// Number of rows that a branch still needs.
    pub(crate) fn unread(&self, branch: usize) -> usize {
        let Branch { of, read, .. } = &self.branches[branch];
        self.texts[*of].len() - 1 - read
    }

    /// Opens a branch for the next text; false where there is none, or no sequence is free.
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

    /// At most `most` of the rows that a branch still needs. A text's last token is only predicted, so it has no row.
    pub(crate) fn rows(&self, branch: usize, most: usize) -> impl Iterator<Item = Row> {
        let Branch { of, read, sequence } = &self.branches[branch];
        let text = &self.texts[*of];
        let unread = text[*read..text.len() - 1].iter().take(most);
        unread
            .enumerate()
            .map(|(ahead, &token)| sequence.row(ahead, token, true))
    }

    /// Processes the logits of a decoded row, which predict the next token.
    pub(crate) fn read(
        &mut self,
        context: &Context<'_>,
        branch: usize,
        logits: &Logits<'_>,
    ) -> Result<()> {
        let branch = &mut self.branches[branch];
        let text = &self.texts[branch.of];
        let next = text[branch.read + 1];
        let logprob = logits.logprob(SCORE, next.0)?;
        self.scores[branch.of].logprobs.push(logprob);
        context.extend(&mut branch.sequence, text[branch.read]);
        branch.read += 1;
        Ok(())
    }

    /// Returns the sequences of finished branches.
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

    /// Whether all texts are scored.
    pub(crate) fn is_done(&self) -> bool {
        let behind = &self.texts[self.next..];
        self.branches.is_empty() && behind.iter().all(|text| text.len() < 2)
    }

    /// Returns all branches; scoring can begin again.
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

/// Refuses texts that do not fit the context; only the request's own limit cuts a text.
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
