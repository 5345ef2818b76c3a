//! The prefix cache: decoded sequences of finished requests, kept for requests that begin with the same tokens.

use std::collections::HashSet;

use llama_cpp_2::token::LlamaToken;

use crate::context::{Context, Sequence};

/// A cached sequence that no request uses.
#[derive(Debug)]
pub(crate) struct Idle {
    pub(crate) sequence: Sequence,
    /// The adapter that computed it.
    pub(crate) adapter: Option<String>,
    /// The number of requests that had ended at its last use.
    used: u64,
}

/// Cached sequences, none of which is a prefix of another one of the same adapter.
#[derive(Debug, Default)]
pub(crate) struct PrefixCache {
    idle: Vec<Idle>,
    /// Where requests run one at a time: the whole blocks of the last one's prompt, which lie where a cleared memory begins.
    blocks: Option<Idle>,
    /// Requests that have ended.
    now: u64,
}

/// The length of the common prefix of two texts, in tokens.
pub(crate) fn common_prefix(a: &[LlamaToken], b: &[LlamaToken]) -> usize {
    a.iter().zip(b).take_while(|(a, b)| a == b).count()
}

impl PrefixCache {
    /// The index of the cached sequence with the longest usable prefix of `tokens`, and the prefix's length, at most
    /// `most`.
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
            .map(|(at, idle)| (at, common_prefix(idle.sequence.tokens(), tokens).min(most)))
            .filter(|&(at, len)| len > 0 && (divisible || len == self.idle[at].sequence.len()))
            .max_by_key(|&(_, len)| len)
    }

    /// A sequence with the first `len` tokens of a cached one; the cached one itself where `len` is its whole length.
    /// The cached one counts as used where at least half of it is.
    pub(crate) fn take(
        &mut self,
        context: &mut Context<'_>,
        at: usize,
        len: usize,
    ) -> journeyman::Result<Option<Sequence>> {
        // A few markers that begin all texts do not count as a use.
        if 2 * len >= self.idle[at].sequence.len() {
            self.idle[at].used = self.now;
        }
        if self.idle[at].sequence.len() == len {
            return Ok(Some(self.idle.swap_remove(at).sequence));
        }
        context.fork(&self.idle[at].sequence, len)
    }

    /// Caches a sequence, unless it is a prefix of a cached one; cached prefixes of it are dropped.
    pub(crate) fn put(
        &mut self,
        context: &mut Context<'_>,
        sequence: Sequence,
        adapter: Option<String>,
    ) {
        self.now += 1;
        let tokens = sequence.tokens();
        let covers = |idle: &Idle, length: usize| {
            idle.adapter == adapter && common_prefix(idle.sequence.tokens(), tokens) == length
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

    /// The number of tokens in whole blocks that these begin with, as the kept blocks do, at most `most`.
    pub(crate) fn common_blocks(
        &self,
        tokens: &[LlamaToken],
        adapter: Option<&str>,
        block: usize,
        most: usize,
    ) -> usize {
        let kept = self.blocks.as_ref();
        kept.filter(|kept| kept.adapter.as_deref() == adapter)
            .map_or(0, |kept| {
                let common = common_prefix(kept.sequence.tokens(), tokens).min(most);
                common - common % block
            })
    }

    /// The kept blocks, if there are any.
    pub(crate) fn take_blocks(&mut self) -> Option<Sequence> {
        Some(self.blocks.take()?.sequence)
    }

    /// Keeps the blocks of a request that has ended.
    pub(crate) fn put_blocks(&mut self, sequence: Sequence, adapter: Option<String>) {
        self.now += 1;
        self.blocks = Some(Idle {
            sequence,
            adapter,
            used: self.now,
        });
    }

    /// Drops sequences that the last `unused` requests did not use, and the least recently used ones while all together hold more than
    /// `most` cells, but for the last; returns how many. Each step looks at all of these cells.
    pub(crate) fn trim(&mut self, context: &mut Context<'_>, most: usize, unused: u64) -> u64 {
        let mut dropped = 0;
        while self.idle.len() > 1 {
            let oldest = self.idle.iter().map(|idle| idle.used).min();
            let is_old = oldest.is_some_and(|used| used + unused < self.now);
            if !is_old && (self.tokens() <= most || self.cells() <= most) {
                break;
            }
            self.evict(context);
            dropped += 1;
        }
        dropped
    }

    /// The cells that the sequences hold, each counted once.
    fn cells(&self) -> usize {
        let cells = self.idle.iter().flat_map(|idle| idle.sequence.cells());
        cells.collect::<HashSet<_>>().len()
    }

    /// Drops the least recently used sequence; false if there is none.
    pub(crate) fn evict(&mut self, context: &mut Context<'_>) -> bool {
        let oldest = self
            .idle
            .iter()
            .enumerate()
            .min_by_key(|(_, idle)| idle.used);
        let evicted = match oldest {
            Some((at, _)) => Some(self.idle.swap_remove(at).sequence),
            None => self.take_blocks(),
        };
        let Some(evicted) = evicted else {
            return false;
        };
        context.close(evicted);
        true
    }

    /// Drops all sequences without returning them, after memory was reset.
    pub(crate) fn clear(&mut self) {
        self.idle.clear();
        self.blocks = None;
    }

    /// The sequences, least recently used first.
    pub(crate) fn by_age(&self) -> Vec<&Idle> {
        let mut idle: Vec<&Idle> = self.idle.iter().collect();
        idle.sort_by_key(|idle| idle.used);
        idle
    }

    /// Number of cached sequences.
    pub(crate) fn len(&self) -> usize {
        self.idle.len() + usize::from(self.blocks.is_some())
    }

    /// Number of cached tokens.
    pub(crate) fn tokens(&self) -> usize {
        let all = self.idle.iter().chain(&self.blocks);
        all.map(|idle| idle.sequence.len()).sum()
    }
}
