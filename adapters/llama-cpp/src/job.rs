//! Jobs: requests while they are computed.

use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    time::Instant,
};

use journeyman::{Error, ModelId, Result, contract::FinishReason};
use llama_cpp_2::token::LlamaToken;

use crate::{
    context::{Context, Row, Sequence},
    convert::worker_failed,
    prefix_cache::PrefixCache,
    queue::{Request, Ticket, Work},
    render::Renderer,
    sampling::{Logits, Sampler},
};

/// The sequence of a job that a row belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Part {
    Trunk,
    Branch(usize),
}

/// A row of the next batch, with its job.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Planned {
    pub(crate) row: Row,
    /// The index of the job among the active ones.
    pub(crate) job: usize,
    pub(crate) part: Part,
}

/// The next batch while it is being filled.
pub(crate) struct Plan<'p, 'm> {
    pub(crate) context: &'p mut Context<'m>,
    pub(crate) cache: &'p mut PrefixCache,
    pub(crate) rows: Vec<Planned>,
    logits: usize,
    pub(crate) evicted: u64,
}

impl<'p, 'm> Plan<'p, 'm> {
    pub(crate) fn new(context: &'p mut Context<'m>, cache: &'p mut PrefixCache) -> Self {
        Self {
            rows: Vec::with_capacity(context.limits.batch),
            context,
            cache,
            logits: 0,
            evicted: 0,
        }
    }

    /// Number of rows that still fit into the batch.
    pub(crate) fn left(&self) -> usize {
        self.context.limits.batch - self.rows.len()
    }

    /// How many of the `wanted` rows fit, after cached prefixes were evicted for them.
    fn room(&mut self, wanted: usize) -> usize {
        let wanted = wanted.min(self.left());
        loop {
            let free = self.context.free_cells().saturating_sub(self.rows.len());
            if free >= wanted || !self.evict() {
                return free.min(wanted);
            }
        }
    }

    /// Maximum rows of a batch.
    pub(crate) fn batch(&self) -> usize {
        self.context.limits.batch
    }

    fn logits_left(&self) -> usize {
        self.context.scored_rows() - self.logits
    }

    fn evict(&mut self) -> bool {
        let evicted = self.cache.evict(self.context);
        self.evicted += u64::from(evicted);
        evicted
    }

    fn push(&mut self, job: usize, part: Part, row: Row) {
        self.logits += usize::from(row.logits);
        self.rows.push(Planned { row, job, part });
    }
}

/// The state of a job after a batch.
#[derive(Debug)]
pub(crate) enum Progress {
    Going,
    Done(FinishReason),
    Failed(Error),
}

/// A request with its part of the memory.
pub(crate) struct Job {
    work: Work,
    pub(crate) adapter: Option<String>,
    /// The job's number in order of arrival.
    pub(crate) number: u64,
    /// The last step in which it had rows in a batch.
    pub(crate) served: u64,
    /// Its tokens in memory; `None` while it waits.
    pub(crate) trunk: Option<Sequence>,
    /// Whether it runs alone, as its request says. A job with non-finite logits is repeated alone, to find out whether it caused them.
    pub(crate) alone: bool,
    /// Its place in the queue; `None` once it has begun.
    ticket: Option<Ticket>,
}

impl Job {
    pub(crate) fn new(request: Request, number: u64) -> Self {
        Self {
            work: request.work,
            adapter: request.adapter,
            number,
            served: 0,
            trunk: None,
            alone: request.alone,
            ticket: Some(request.ticket),
        }
    }

    pub(crate) fn wanted(&self, now: Instant) -> Result<()> {
        match &self.work {
            Work::Write(_, answer) => answer.wanted(now),
            Work::Score(_, answer) => answer.wanted(now),
        }
    }

    /// The tokens of the trunk: the prompt, followed by generated tokens.
    pub(crate) fn tokens(&self) -> &[LlamaToken] {
        match &self.work {
            Work::Write(writing, _) => writing.tokens(),
            Work::Score(scoring, _) => scoring.prompt(),
        }
    }

    /// Number of these tokens that are not in memory.
    pub(crate) fn pending(&self) -> usize {
        let held = self.trunk.as_ref().map_or(0, Sequence::len);
        self.tokens().len() - held
    }

    /// Whether it needs only one row per step.
    pub(crate) fn is_writing(&self) -> bool {
        matches!(self.work, Work::Write(..)) && self.pending() == 1
    }

    /// Number of cells that it will need soon.
    pub(crate) fn soon(&self) -> usize {
        const AHEAD: usize = 64;
        match &self.work {
            Work::Write(writing, _) => self.pending() + writing.left().min(AHEAD),
            Work::Score(..) => self.pending() + AHEAD,
        }
    }

    /// Number of tokens of the prompt.
    pub(crate) fn prompt_len(&self) -> usize {
        match &self.work {
            Work::Write(writing, _) => writing.prompt_len(),
            Work::Score(scoring, _) => scoring.prompt().len(),
        }
    }

    /// Whether nothing has to be computed for it.
    pub(crate) fn is_empty(&self) -> bool {
        match &self.work {
            Work::Write(writing, _) => writing.left() == 0,
            Work::Score(scoring, _) => scoring.is_empty(),
        }
    }

    pub(crate) fn begin(&mut self, trunk: Sequence) {
        self.trunk = Some(trunk);
        self.ticket = None;
    }

    /// Adds at most `most` rows to the batch.
    pub(crate) fn plan(&mut self, job: usize, plan: &mut Plan<'_, '_>, most: usize) -> Result<()> {
        let pending = self.pending();
        let Some(trunk) = &self.trunk else {
            return Ok(());
        };
        if pending > 0 {
            let limits = plan.context.limits;
            let most = match limits.deterministic {
                // To the end of a block, so that a block has the same shape wherever reading begins.
                true => most.min(limits.block - trunk.len() % limits.block),
                false => most,
            };
            let mut rows = plan.room(pending.min(most));
            if rows == pending && plan.logits_left() == 0 {
                rows -= 1;
            }
            let tokens = &self.tokens()[trunk.len()..][..rows];
            for (ahead, &token) in tokens.iter().enumerate() {
                let last = ahead + 1 == pending;
                plan.push(job, Part::Trunk, trunk.row(ahead, token, last));
            }
            return Ok(());
        }
        let Work::Score(scoring, _) = &mut self.work else {
            return Ok(());
        };
        let mut left = most;
        let mut branch = 0;
        loop {
            let most = left.min(plan.logits_left());
            if most == 0 || plan.room(1) == 0 {
                return Ok(());
            }
            if branch == scoring.branches() {
                if !scoring.has_unopened() {
                    return Ok(());
                }
                if plan.context.free_sequences() == 0 && !plan.evict() {
                    return Ok(());
                }
                if !scoring.open(plan.context, trunk)? {
                    return Ok(());
                }
            }
            let room = plan.room(most.min(scoring.unread(branch)));
            for row in scoring.rows(branch, room) {
                plan.push(job, Part::Branch(branch), row);
                left -= 1;
            }
            branch += 1;
        }
    }

    /// Processes a decoded row, and its logits where it has some. A panic, such as a token sink's, becomes this job's
    /// error.
    pub(crate) fn take(
        &mut self,
        context: &Context<'_>,
        renderer: &Renderer,
        sampler: &mut Sampler,
        planned: &Planned,
        logits: Option<&Logits<'_>>,
    ) -> Progress {
        let operation = self.operation();
        let taken = catch_unwind(AssertUnwindSafe(|| {
            self.take_row(context, renderer, sampler, planned, logits)
        }));
        let taken = taken.unwrap_or_else(|_| {
            Err(worker_failed(
                operation,
                "the worker panicked on this request",
            ))
        });
        taken.unwrap_or_else(Progress::Failed)
    }

    fn take_row(
        &mut self,
        context: &Context<'_>,
        renderer: &Renderer,
        sampler: &mut Sampler,
        planned: &Planned,
        logits: Option<&Logits<'_>>,
    ) -> Result<Progress> {
        if planned.part == Part::Trunk
            && let Some(trunk) = &mut self.trunk
        {
            context.extend(trunk, planned.row.token);
        }
        let Some(logits) = logits else {
            return Ok(Progress::Going);
        };
        match (&mut self.work, planned.part) {
            (Work::Write(writing, _), _) => {
                let finish = writing.next(renderer, sampler, logits)?;
                Ok(finish.map_or(Progress::Going, Progress::Done))
            }
            (Work::Score(scoring, _), Part::Trunk) => {
                scoring.head(logits)?;
                Ok(if scoring.is_done() {
                    Progress::Done(FinishReason::EndOfText)
                } else {
                    Progress::Going
                })
            }
            (Work::Score(scoring, _), Part::Branch(branch)) => {
                scoring.read(context, branch, logits)?;
                Ok(Progress::Going)
            }
        }
    }

    /// Returns the branches that are finished; true when all are.
    pub(crate) fn close_branches(&mut self, context: &mut Context<'_>) -> bool {
        let pending = self.pending();
        let Work::Score(scoring, _) = &mut self.work else {
            return false;
        };
        scoring.close_read(context);
        pending == 0 && scoring.is_done()
    }

    /// Returns the branches and the trunk; the job can begin again.
    pub(crate) fn restart(&mut self, context: &mut Context<'_>) {
        if let Work::Score(scoring, _) = &mut self.work {
            scoring.restart(context);
        }
        if let Some(trunk) = self.trunk.take() {
            context.close(trunk);
        }
    }

    fn operation(&self) -> &'static str {
        match &self.work {
            Work::Write(_, answer) => answer.operation(),
            Work::Score(_, answer) => answer.operation(),
        }
    }

    /// Sends the answer. The job's memory was returned before.
    pub(crate) fn finish(self, model: &ModelId, finish: FinishReason) {
        let operation = self.operation();
        match self.work {
            Work::Write(writing, answer) => {
                // The end of the text may go to a sink, which can panic.
                let done = catch_unwind(AssertUnwindSafe(|| writing.finish(model, finish)));
                let panicked = "the worker panicked on this request";
                answer.send(done.unwrap_or_else(|_| Err(worker_failed(operation, panicked))));
            }
            Work::Score(scoring, answer) => answer.send(Ok(scoring.finish())),
        }
    }

    pub(crate) fn fail(self, error: Error) {
        match self.work {
            Work::Write(_, answer) => answer.send(Err(error)),
            Work::Score(_, answer) => answer.send(Err(error)),
        }
    }
}
