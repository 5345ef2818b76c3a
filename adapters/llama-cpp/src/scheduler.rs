//! The scheduler: chooses the tokens of the next batch. Many requests share one context, and none waits for another to
//! end.
//!
//! Each step decodes one batch. Texts that are being generated come first, with one row each; the rest is shared
//! equally by prompts and continuations, so that a long prompt delays neither a short one nor the texts. Requests begin
//! in the order of arrival, as soon as memory has room for them. When memory runs out, cached prefixes are evicted,
//! least recently used first, and then the youngest request returns its memory and is restarted later; so the oldest
//! one always advances. All rows of a batch use the same adapter; adapters take turns.

mod admission;

use std::{
    collections::VecDeque,
    panic::{AssertUnwindSafe, catch_unwind},
};

use journeyman::{Error, ErrorKind, ModelId, contract::FinishReason};

use crate::{
    context::Context,
    convert::{for_one_request, is_not_finite, worker_failed},
    job::{Job, Plan, Planned, Progress},
    prefix_cache::PrefixCache,
    queue::Request,
    render::Renderer,
    sampling::{Logits, Sampler},
    stats::EngineStats,
};

/// Minimum rows for prompts in a batch with generating requests.
const BESIDE: usize = 64;

/// Number of steps of an adapter's turn.
const STEPS_OF_AN_ADAPTER: u64 = 8;

/// The order of service: the job that was not served for the longest time, then the order of arrival.
fn turn(job: &Job) -> (u64, u64) {
    (job.served, job.number)
}

/// The waiting and active requests of one model.
pub(crate) struct Scheduler<'r> {
    renderer: &'r Renderer,
    model: &'r ModelId,
    waiting: VecDeque<Job>,
    active: Vec<Job>,
    /// Finished jobs, which are answered once they are counted.
    outbox: Vec<(Job, Result<FinishReason, Error>)>,
    pub(crate) cache: PrefixCache,
    sampler: Sampler,
    /// The adapter that the context uses.
    pub(crate) adapter: Option<String>,
    /// The step in which it was switched to.
    switched: u64,
    /// Whether new requests must not begin.
    pub(crate) closing: bool,
    pub(crate) stats: EngineStats,
    arrived: u64,
    step: u64,
    /// Whether memory may hold non-finite numbers.
    suspect: bool,
}

impl<'r> Scheduler<'r> {
    pub(crate) fn new(renderer: &'r Renderer, model: &'r ModelId) -> Self {
        Self {
            renderer,
            model,
            waiting: VecDeque::new(),
            active: Vec::new(),
            outbox: Vec::new(),
            cache: PrefixCache::default(),
            sampler: Sampler::default(),
            adapter: None,
            switched: 0,
            closing: false,
            stats: EngineStats::default(),
            arrived: 0,
            step: 0,
            suspect: false,
        }
    }

    pub(crate) fn is_idle(&self) -> bool {
        self.waiting.is_empty() && self.active.is_empty()
    }

    /// Whether no request is active.
    pub(crate) fn has_no_active(&self) -> bool {
        self.active.is_empty()
    }

    pub(crate) fn submit(&mut self, request: Request) {
        self.arrived += 1;
        self.waiting.push_back(Job::new(request, self.arrived));
    }

    /// Ends requests that nobody waits for, admits waiting ones, and plans a batch. An empty result means that nothing
    /// has to be decoded.
    pub(crate) fn plan(&mut self, context: &mut Context<'_>, known: &[&str]) -> Vec<Planned> {
        self.expire(context);
        self.admit(context, known);
        loop {
            let rows = self.fill(context);
            if !rows.is_empty() || self.active.is_empty() {
                return rows;
            }
            // No job got a cell or a sequence: the youngest gives up its memory.
            self.preempt(context);
        }
    }

    /// Plans a batch of the active jobs of one adapter.
    fn fill(&mut self, context: &mut Context<'_>) -> Vec<Planned> {
        self.step += 1;
        for adapter in self.adapters_in_turn() {
            let rows = self.fill_for(context, adapter.as_deref());
            if rows.is_empty() {
                continue;
            }
            if adapter != self.adapter {
                (self.adapter, self.switched) = (adapter, self.step);
            }
            for planned in &rows {
                self.active[planned.job].served = self.step;
            }
            return rows;
        }
        Vec::new()
    }

    /// The adapters of the active jobs, that of the longest waiting job first. The present one keeps its turn for some
    /// steps, because llama.cpp rebuilds its graphs for another.
    fn adapters_in_turn(&self) -> Vec<Option<String>> {
        let mut jobs: Vec<&Job> = self.active.iter().collect();
        jobs.sort_by_key(|job| turn(job));
        let mut adapters: Vec<Option<String>> = Vec::new();
        for job in jobs {
            if !adapters.contains(&job.adapter) {
                adapters.push(job.adapter.clone());
            }
        }
        let present = adapters.iter().position(|one| *one == self.adapter);
        if let Some(at) = present
            && self.step < self.switched + STEPS_OF_AN_ADAPTER
        {
            adapters[..=at].rotate_right(1);
        }
        adapters
    }

    fn fill_for(&mut self, context: &mut Context<'_>, adapter: Option<&str>) -> Vec<Planned> {
        let jobs = self.active.iter().enumerate();
        let mut jobs: Vec<usize> = jobs
            .filter(|(_, job)| job.adapter.as_deref() == adapter)
            .map(|(at, _)| at)
            .collect();
        jobs.sort_by_key(|&at| turn(&self.active[at]));
        let (mut writing, reading): (Vec<usize>, Vec<usize>) = jobs
            .into_iter()
            .partition(|&at| self.active[at].is_writing());

        let mut plan = Plan::new(context, &mut self.cache);
        let beside = BESIDE.max(plan.batch() / 4).min(plan.batch() / 2);
        if !reading.is_empty() {
            // If generating requests would leave no room for prompts, they take turns.
            writing.truncate(plan.batch() - beside);
        }
        let mut failed = None;
        for &at in &writing {
            if let Err(error) = self.active[at].plan(at, &mut plan, 1) {
                failed = Some((at, error));
            }
        }
        let mut left = plan.left();
        if !writing.is_empty() {
            left = left.min(beside);
        }
        for (behind, &at) in reading.iter().enumerate() {
            let share = left.div_ceil(reading.len() - behind);
            let before = plan.rows.len();
            if let Err(error) = self.active[at].plan(at, &mut plan, share) {
                failed = Some((at, error));
            }
            left -= plan.rows.len() - before;
        }
        let rows = plan.rows;
        self.stats.evicted += plan.evicted;
        match failed {
            None => rows,
            Some((at, error)) => {
                let job = self.active.remove(at);
                self.fail(context, job, error);
                self.fill_for(context, adapter)
            }
        }
    }

    /// Processes the results of a batch.
    pub(crate) fn take(&mut self, context: &mut Context<'_>, rows: &[Planned]) {
        self.stats.batches += 1;
        self.stats.decoded_tokens += rows.len() as u64;
        let mut ended: Vec<Option<Progress>> = Vec::new();
        ended.resize_with(self.active.len(), || None);
        let logits = rows.iter().enumerate();
        let logits =
            logits.map(|(index, planned)| planned.row.logits.then(|| context.logits(index)));
        let logits = Logits::of_batch(logits.collect(), context.limits.threads);
        for (planned, logits) in rows.iter().zip(&logits) {
            if ended[planned.job].is_some() {
                continue;
            }
            let job = &mut self.active[planned.job];
            let sampler = &mut self.sampler;
            match job.take(context, self.renderer, sampler, planned, logits.as_ref()) {
                Progress::Going => {}
                end => ended[planned.job] = Some(end),
            }
        }
        let mut at = 0;
        for end in ended {
            let read = self.active[at].close_branches(context);
            match end {
                Some(Progress::Failed(error)) => {
                    let mut job = self.active.remove(at);
                    if is_not_finite(&error) && !job.alone {
                        // Another request may have caused non-finite logits, through masked attention.
                        self.suspect = true;
                        job.alone = true;
                        job.restart(context);
                        self.waiting.push_front(job);
                    } else {
                        self.suspect |= is_not_finite(&error);
                        self.fail(context, job, error);
                    }
                }
                Some(Progress::Done(finish)) => self.end(context, at, finish),
                _ if read => self.end(context, at, FinishReason::EndOfText),
                _ => at += 1,
            }
        }
        if self.suspect {
            self.restart_all(context);
            self.suspect = false;
        }
    }

    /// After a failed decode: the jobs of the batch fail, and the others restart with cleared memory.
    pub(crate) fn batch_failed(
        &mut self,
        context: &mut Context<'_>,
        rows: &[Planned],
        error: &Error,
    ) {
        let mut jobs: Vec<usize> = rows.iter().map(|planned| planned.job).collect();
        jobs.sort_unstable();
        jobs.dedup();
        for at in jobs.into_iter().rev() {
            let job = self.active.remove(at);
            self.fail(context, job, for_one_request(error));
        }
        self.restart_all(context);
    }

    /// All active requests fail.
    pub(crate) fn abandon(&mut self, context: &mut Context<'_>) {
        while let Some(job) = self.active.pop() {
            let error = worker_failed("LlamaCpp", "the worker panicked");
            self.fail(context, job, error);
        }
        self.restart_all(context);
    }

    /// All active requests return their memory and wait again, in order of arrival; memory is wiped.
    pub(crate) fn restart_all(&mut self, context: &mut Context<'_>) {
        self.active.sort_by_key(|job| job.number);
        while let Some(mut job) = self.active.pop() {
            job.restart(context);
            self.waiting.push_front(job);
        }
        self.cache.clear();
        context.reset(true);
    }

    /// Restarts the youngest of several active requests later; a single one fails.
    fn preempt(&mut self, context: &mut Context<'_>) {
        let youngest = self
            .active
            .iter()
            .enumerate()
            .max_by_key(|(_, job)| job.number);
        let Some((at, _)) = youngest else {
            return;
        };
        let mut job = self.active.remove(at);
        if self.active.is_empty() {
            let error = Error::new(
                ErrorKind::Internal,
                "LlamaCpp",
                "memory has no room for one request",
            );
            self.fail(context, job, error);
            return;
        }
        self.stats.preempted += 1;
        job.restart(context);
        self.waiting.push_front(job);
    }

    fn reset(&mut self, context: &mut Context<'_>) {
        self.cache.clear();
        context.reset(false);
    }

    /// Ends a finished request and caches its tokens.
    fn end(&mut self, context: &mut Context<'_>, at: usize, finish: FinishReason) {
        let mut job = self.active.remove(at);
        self.keep(context, &mut job);
        if let Some(trunk) = job.trunk.take() {
            context.close(trunk);
        }
        self.done(job, finish);
    }

    /// Caches a job's decoded tokens for requests that begin with them.
    fn keep(&mut self, context: &mut Context<'_>, job: &mut Job) {
        if context.limits.deterministic {
            self.keep_blocks(context, job);
            return;
        }
        if job.alone {
            return;
        }
        if let Some(trunk) = job.trunk.take() {
            self.cache.put(context, trunk, job.adapter.clone());
        }
        let (most, unused) = (context.limits.cached, context.limits.sequences as u64);
        self.stats.evicted += self.cache.trim(context, most, unused);
    }

    fn done(&mut self, job: Job, finish: FinishReason) {
        self.stats.answered += 1;
        self.outbox.push((job, Ok(finish)));
    }

    /// Sends the answers that are ready.
    pub(crate) fn deliver(&mut self) {
        for (job, end) in self.outbox.drain(..) {
            // Dropping the job drops the host's objects, such as a sink, which runs the host's code.
            let told = catch_unwind(AssertUnwindSafe(|| match end {
                Ok(finish) => job.finish(self.model, finish),
                Err(error) => job.fail(error),
            }));
            if told.is_err() {
                tracing::warn!("a request ended in a panic");
            }
        }
    }

    fn fail(&mut self, context: &mut Context<'_>, mut job: Job, error: Error) {
        job.restart(context);
        self.stats.failed += 1;
        self.outbox.push((job, Err(error)));
    }

    /// All waiting requests fail.
    pub(crate) fn refuse(&mut self, error: &Error) {
        for job in self.waiting.drain(..) {
            self.stats.failed += 1;
            self.outbox.push((job, Err(for_one_request(error))));
        }
    }

    /// The counters and the present state.
    pub(crate) fn stats(&self, used_cells: usize) -> EngineStats {
        EngineStats {
            active: self.active.len(),
            waiting: self.waiting.len(),
            cached_prefixes: self.cache.len(),
            cached_tokens: self.cache.tokens(),
            used_cells,
            ..self.stats
        }
    }
}
