//! What finished requests decoded, kept for the next one that begins with the same tokens.

use llama_cpp_2::token::LlamaToken;

use crate::context::{Context, Sequence};

/// A sequence that no request uses.
#[derive(Debug)]
pub(crate) struct Idle {
    pub(crate) sequence: Sequence,
    /// Which adapter computed it.
    pub(crate) adapter: Option<String>,
    /// When it was last used; greater is later.
    used: u64,
}

/// Idle sequences, none of which is the beginning of another one of the same adapter.
#[derive(Debug, Default)]
pub(crate) struct PrefixCache {
    idle: Vec<Idle>,
    now: u64,
}

/// The number of tokens that two texts begin with in common.
pub(crate) fn common(a: &[LlamaToken], b: &[LlamaToken]) -> usize {
    a.iter().zip(b).take_while(|(a, b)| a == b).count()
}

impl PrefixCache {
    /// Where the longest usable beginning of `tokens` lies, and its length, at most `most`.
    pub(crate) fn longest(
        &self,
        tokens: &[LlamaToken],
        adapter: Option<&str>,
        divisible: bool,
        most: usize,
    ) -> Option<(usize, usize)> {
        let of_adapter = self.idle.iter().enumerate();
        let of_adapter = of_adapter.filter(|(_, idle)| idle.adapter.as_deref() == adapter);
        of_adapter
            .map(|(at, idle)| (at, common(idle.sequence.tokens(), tokens).min(most)))
            .filter(|&(at, len)| len > 0 && (divisible || len == self.idle[at].sequence.len()))
            .max_by_key(|&(_, len)| len)
    }

    /// A sequence that begins with the first `len` tokens of an idle one; the idle one itself where that is all of it. It
    /// counts as used where half of it is.
    pub(crate) fn take(
        &mut self,
        context: &mut Context<'_>,
        at: usize,
        len: usize,
    ) -> journeyman::Result<Option<Sequence>> {
        self.now += 1;
        // A few markers that all texts begin with are no use of this one.
        if 2 * len >= self.idle[at].sequence.len() {
            self.idle[at].used = self.now;
        }
        if self.idle[at].sequence.len() == len {
            return Ok(Some(self.idle.swap_remove(at).sequence));
        }
        context.fork(&self.idle[at].sequence, len)
    }

    /// Keeps a sequence, unless it is the beginning of another one; those that are a beginning of it go.
    pub(crate) fn put(
        &mut self,
        context: &mut Context<'_>,
        sequence: Sequence,
        adapter: Option<String>,
    ) {
        self.now += 1;
        let tokens = sequence.tokens();
        let covers = |idle: &Idle, length: usize| {
            idle.adapter == adapter && common(idle.sequence.tokens(), tokens) == length
        };
        let longer = self.idle.iter_mut().find(|idle| covers(idle, tokens.len()));
        if let Some(longer) = longer {
            longer.used = self.now;
            context.close(sequence);
            return;
        }
        let mut at = 0;
        while at < self.idle.len() {
            if covers(&self.idle[at], self.idle[at].sequence.len()) {
                context.close(self.idle.swap_remove(at).sequence);
            } else {
                at += 1;
            }
        }
        self.idle.push(Idle {
            sequence,
            adapter,
            used: self.now,
        });
    }

    /// Lets the one that was not used for the longest time go; false if there is none.
    pub(crate) fn evict(&mut self, context: &mut Context<'_>) -> bool {
        let oldest = self
            .idle
            .iter()
            .enumerate()
            .min_by_key(|(_, idle)| idle.used);
        let Some((at, _)) = oldest else {
            return false;
        };
        context.close(self.idle.swap_remove(at).sequence);
        true
    }

    /// Forgets all of them, without giving them back: memory was reset.
    pub(crate) fn clear(&mut self) {
        self.idle.clear();
    }

    /// The sequences, the least recently used first.
    pub(crate) fn by_age(&self) -> Vec<&Idle> {
        let mut idle: Vec<&Idle> = self.idle.iter().collect();
        idle.sort_by_key(|idle| idle.used);
        idle
    }

    /// How many sequences are kept.
    pub(crate) fn len(&self) -> usize {
        self.idle.len()
    }

    /// How many tokens are kept.
    pub(crate) fn tokens(&self) -> usize {
        self.idle.iter().map(|idle| idle.sequence.len()).sum()
    }
}
