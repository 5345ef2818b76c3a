//! Admission of waiting requests: expiry, and the tokens in memory that a request begins with.

use std::time::Instant;

use journeyman::contract::FinishReason;

use super::Scheduler;
use crate::{context::Context, convert::no_adapter, job::Job, prefix_cache::common_prefix};

/// A request waits for a prefix that another request is about to decode if it is longer, by this many tokens, than the
/// one in memory.
const WORTH_WAITING: usize = 16;

/// The source of a job's first tokens.
#[derive(Clone, Copy, Debug)]
enum Source {
    Nothing,
    /// The kept blocks, of which so many tokens are used.
    Blocks,
    Cached(usize),
    Active(usize),
}

impl Scheduler<'_> {
    /// Ends requests that were cancelled or timed out.
    pub(super) fn expire(&mut self, context: &mut Context<'_>) {
        let now = Instant::now();
        let mut at = 0;
        while at < self.active.len() {
            match self.active[at].wanted(now) {
                Ok(()) => at += 1,
                Err(error) => {
                    let mut job = self.active.remove(at);
                    // Its decoded tokens may serve another request.
                    self.keep(context, &mut job);
                    self.fail(context, job, error);
                }
            }
        }
        for _ in 0..self.waiting.len() {
            if let Some(job) = self.waiting.pop_front() {
                match job.wanted(now) {
                    Ok(()) => self.waiting.push_back(job),
                    Err(error) => self.fail(context, job, error),
                }
            }
        }
    }

    /// Admits waiting requests.
    pub(super) fn admit(&mut self, context: &mut Context<'_>, known: &[&str]) {
        let mut at = 0;
        while at < self.waiting.len() && !self.closing {
            let alone = context.limits.deterministic || self.waiting[at].alone;
            if (alone || self.active.iter().any(|job| job.alone)) && !self.active.is_empty() {
                return;
            }
            let unknown = self.waiting[at].adapter.as_deref();
            if let Some(name) = unknown.filter(|name| !known.contains(name)) {
                let error = no_adapter("LlamaCpp", name, known);
                if let Some(job) = self.waiting.remove(at) {
                    self.fail(context, job, error);
                }
                continue;
            }
            if self.waiting[at].is_empty() {
                if let Some(job) = self.waiting.remove(at) {
                    self.done(job, FinishReason::Length);
                }
                continue;
            }
            if alone {
                if !matches!(self.source(context, &self.waiting[at]), (Source::Blocks, _)) {
                    self.reset(context);
                }
            } else if self.is_worth_waiting(context, at) {
                at += 1;
                continue;
            }
            if !self.begin(context, at) {
                return;
            }
        }
    }

    /// Keeps the whole blocks of a prompt for a request that begins with them. What is behind them was read in other shapes, which may
    /// differ in the last digits.
    pub(super) fn keep_blocks(&mut self, context: &mut Context<'_>, job: &mut Job) {
        let Some(mut trunk) = job.trunk.take() else {
            return;
        };
        let read = job.prompt_len().min(trunk.len());
        let len = read - read % context.limits.block;
        if len == 0 || !context.divisible {
            context.close(trunk);
            return;
        }
        context.truncate(&mut trunk, len);
        self.cache.put_blocks(trunk, job.adapter.clone());
    }

    /// The source with the longest prefix of a job's tokens. At least one token is left to decode, for its logits.
    fn source(&self, context: &Context<'_>, job: &Job) -> (Source, usize) {
        let tokens = job.tokens();
        let most = tokens.len() - 1;
        let adapter = job.adapter.as_deref();
        let divisible = context.divisible;
        if context.limits.deterministic {
            let block = context.limits.block;
            return match self.cache.common_blocks(tokens, adapter, block, most) {
                len if len > 0 && divisible => (Source::Blocks, len),
                _ => (Source::Nothing, 0),
            };
        }
        let cached = self.cache.longest(tokens, adapter, divisible, most);
        let cached = cached.map(|(at, len)| (Source::Cached(at), len));
        let active = self.active.iter().enumerate();
        let active = active.filter(|(_, other)| other.adapter == job.adapter);
        let active = active.filter_map(|(at, other)| {
            let held = other.trunk.as_ref()?;
            let len = common_prefix(held.tokens(), tokens).min(most);
            (len > 0 && (divisible || len == held.len())).then_some((Source::Active(at), len))
        });
        let best = active.chain(cached).max_by_key(|&(_, len)| len);
        best.unwrap_or((Source::Nothing, 0))
    }

    /// Whether an active request will soon hold a much longer prefix of this one's tokens than memory does now.
    fn is_worth_waiting(&self, context: &Context<'_>, at: usize) -> bool {
        let job = &self.waiting[at];
        let others = self.active.iter();
        let others = others.filter(|other| context.divisible && other.adapter == job.adapter);
        let soon = others
            .map(|other| common_prefix(other.tokens(), job.tokens()))
            .max();
        soon.is_some_and(|soon| soon >= self.source(context, job).1 + WORTH_WAITING)
    }

    /// Starts a waiting request with the prefix that memory holds; false where there is no room.
    fn begin(&mut self, context: &mut Context<'_>, at: usize) -> bool {
        let room = context.free_cells() + self.cache.tokens();
        let soon: usize = self.active.iter().map(Job::soon).sum();
        let job = &self.waiting[at];
        let need = job.soon() - self.source(context, job).1;
        if !self.active.is_empty() && soon + need > room {
            return false;
        }
        while context.free_sequences() == 0
            && !context.limits.deterministic
            && self.cache.evict(context)
        {
            self.stats.evicted += 1;
        }
        let trunk = match self.source(context, &self.waiting[at]) {
            (Source::Nothing, _) => Ok(context.open()),
            (Source::Blocks, len) => Ok(self.cache.take_blocks().map(|mut blocks| {
                context.truncate(&mut blocks, len);
                blocks
            })),
            (Source::Cached(cached), len) => self.cache.take(context, cached, len),
            (Source::Active(other), len) => match &self.active[other].trunk {
                Some(trunk) => context.fork(trunk, len),
                None => Ok(None),
            },
        };
        match trunk {
            Ok(None) => return false,
            Ok(Some(trunk)) => {
                if let Some(mut job) = self.waiting.remove(at) {
                    self.stats.reused_tokens += trunk.len() as u64;
                    job.begin(trunk);
                    self.active.push(job);
                }
            }
            Err(error) => {
                if let Some(job) = self.waiting.remove(at) {
                    self.fail(context, job, error);
                }
            }
        }
        true
    }
}
