//! How a turn's prompt is made to fit the model's context: what of the steps, the observation and the tools is left out first.
//!
//! The steps are shortened, and not the prompt's text: so every prompt format writes a prompt in its own form. In this order, each
//! only as far as it is needed:
//!
//! 1. the results of the oldest steps become one line each, then nothing but the fact that there was one; the newest
//!    [`RECENT`] steps are spared;
//! 2. descriptions of tools and arguments are shortened;
//! 3. the oldest steps are left out, with a note of what was done in them; the newest [`RECENT`] are spared;
//! 4. the newest steps but the last lose as much as the older ones;
//! 5. descriptions of arguments are left out, and then optional arguments;
//! 6. the newest result and what was seen at first are shortened, their beginnings and ends stay;
//! 7. a user's words of earlier turns are shortened, and at last left out.
//!
//! Never left out are the task, the skills, the last step and its result, the names of the tools and their required arguments.

use crate::{
    domain::{Compaction, Observation, ObservationKind, Step, ToolDefinition},
    stations::inject::{ToolDetail, brief_tools},
    text::{actions_in_brief, brief, clipped},
};

/// The number of newest steps that are spared at first.
const RECENT: usize = 4;
/// The length of a result that became one line, in characters.
const LINE: usize = 100;
/// The lengths to which the newest result is shortened one after the other, in characters.
const NEWEST: [usize; 5] = [4_000, 2_000, 1_000, 500, 250];
/// The length to which a user's words of earlier turns are shortened, in characters.
const WORDS: usize = 200;
/// What stands for a result that is left out.
const NO_RESULT: &str = "[left out]";
/// About how many characters an action takes in a prompt.
const ACTION: usize = 60;

/// What the prompts of an attempt leave out. It only grows, so that the beginning of later prompts stays the same.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Compactor {
    /// Number of oldest steps whose results are one line.
    shortened: usize,
    /// Number of oldest steps of which only the action is shown.
    actions_only: usize,
    /// Number of oldest steps that are left out, those with a user's words excepted.
    dropped: usize,
    tools: ToolDetail,
    /// The greatest length of the newest result and observation.
    newest: Option<usize>,
    /// Number of oldest steps whose user's words are shortened.
    words: usize,
    /// Number of oldest steps that are left out with a user's words.
    turns: usize,
}

/// What a prompt is made of beside the skills.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Seen<'a> {
    /// The task's instruction.
    pub(crate) instruction: &'a str,
    pub(crate) steps: &'a [Step],
    pub(crate) observation: &'a Observation,
}

/// Steps and observation as a prompt shows them.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Compacted {
    pub(crate) steps: Vec<Step>,
    pub(crate) observation: Observation,
    /// What was left out.
    pub(crate) left_out: Compaction,
}

/// A part of the policy, in its order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Rung {
    Shorten { spare: usize },
    ActionsOnly { spare: usize },
    Tools(ToolDetail),
    Drop { spare: usize },
    Newest,
    Words,
    Turns,
}

const LADDER: [Rung; 12] = [
    Rung::Shorten { spare: RECENT },
    Rung::ActionsOnly { spare: RECENT },
    Rung::Tools(ToolDetail::Brief),
    Rung::Drop { spare: RECENT },
    Rung::Shorten { spare: 1 },
    Rung::ActionsOnly { spare: 1 },
    Rung::Drop { spare: 1 },
    Rung::Tools(ToolDetail::Bare),
    Rung::Tools(ToolDetail::Required),
    Rung::Newest,
    Rung::Words,
    Rung::Turns,
];

/// How a prompt shows a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Shown {
    Whole,
    /// The result on one line.
    Line,
    /// The action alone.
    Action,
    /// The result at this length.
    Clipped(usize),
    Nothing,
}

impl Compactor {
    /// Leaves out about `need` characters more, and `spare` characters beyond that where only steps are shortened, so that not
    /// every turn has to. `false` where nothing more can be left out.
    pub(crate) fn cut(&mut self, seen: Seen<'_>, (need, spare): (usize, usize)) -> bool {
        let sizes = Sizes::of(seen);
        let before = self.size(&sizes);
        // Tools that take more than half of the prompt are shortened before the steps are.
        let tools_first = 2 * sizes.tools[self.tools as usize] > before;
        let first = tools_first.then_some(Rung::Tools(ToolDetail::Brief));
        let mut any = false;
        for rung in first.into_iter().chain(LADDER) {
            let beyond = match rung {
                Rung::Shorten { .. } | Rung::ActionsOnly { .. } | Rung::Drop { .. } => spare,
                _ => 0,
            };
            while !any || before.saturating_sub(self.size(&sizes)) < need + beyond {
                if !self.next(rung, &sizes) {
                    break;
                }
                any = true;
            }
            if any && before.saturating_sub(self.size(&sizes)) >= need {
                break;
            }
        }
        any
    }

    /// Leaves out everything that can be.
    pub(crate) fn cut_all(&mut self, seen: Seen<'_>) {
        let sizes = Sizes::of(seen);
        for rung in LADDER {
            while self.next(rung, &sizes) {}
        }
    }

    /// Takes one more step of a rung; `false` at its end.
    fn next(&mut self, rung: Rung, sizes: &Sizes) -> bool {
        let all = sizes.steps.len();
        let advance = |count: &mut usize, spare: usize| {
            let is_less = *count < all.saturating_sub(spare);
            *count += usize::from(is_less);
            is_less
        };
        match rung {
            Rung::Shorten { spare } => advance(&mut self.shortened, spare),
            Rung::ActionsOnly { spare } => advance(&mut self.actions_only, spare),
            Rung::Drop { spare } => advance(&mut self.dropped, spare),
            Rung::Words => advance(&mut self.words, 1),
            Rung::Turns => {
                self.dropped = self.dropped.max(self.turns + 1).min(all.saturating_sub(1));
                advance(&mut self.turns, 1)
            }
            Rung::Tools(detail) => {
                let is_less = self.tools < detail && sizes.tools[0] > 0;
                self.tools = if is_less { detail } else { self.tools };
                is_less
            }
            Rung::Newest => {
                let last = sizes.steps.last().map_or(0, |last| last.result);
                let current = self.newest.unwrap_or(usize::MAX);
                let longest = sizes.observation.max(last).max(sizes.beginning);
                let current = current.min(longest);
                let next = NEWEST.into_iter().find(|&most| most < current);
                self.newest = next.or(self.newest);
                next.is_some()
            }
        }
    }

    /// How a step of so many is shown.
    fn shown(&self, place: usize, all: usize, ends_turn: bool) -> Shown {
        match (place + 1 == all, ends_turn) {
            (true, _) => self.newest.map_or(Shown::Whole, Shown::Clipped),
            (_, true) if place < self.dropped.min(self.turns) => Shown::Nothing,
            (_, true) if place < self.words => Shown::Clipped(WORDS),
            (_, true) => Shown::Whole,
            _ if place < self.dropped => Shown::Nothing,
            _ if place < self.actions_only => Shown::Action,
            _ if place < self.shortened => Shown::Line,
            _ => Shown::Whole,
        }
    }

    /// About how many characters steps, observation and tools take in a prompt.
    fn size(&self, sizes: &Sizes) -> usize {
        let all = sizes.steps.len();
        let steps = sizes.steps.iter().enumerate();
        let steps: usize = steps
            .map(|(place, step)| step.shown(self.shown(place, all, step.ends_turn)))
            .sum();
        let most = self.newest.unwrap_or(usize::MAX);
        let seen = sizes.observation.min(most) + sizes.beginning.min(most);
        steps + seen + sizes.tools[self.tools as usize]
    }

    /// What a prompt shows of the steps and of the observation.
    pub(crate) fn apply(&self, seen: Seen<'_>) -> Compacted {
        let steps = seen.steps;
        let all = steps.len();
        let shown = |place: usize, step: &Step| self.shown(place, all, step.ends_turn());
        let numbered = || steps.iter().enumerate();
        let dropped: Vec<&Step> = numbered()
            .filter(|(place, step)| shown(*place, step) == Shown::Nothing)
            .map(|(_, step)| step)
            .collect();
        let mut left_out = Compaction {
            dropped: u32::try_from(dropped.len()).unwrap_or(u32::MAX),
            ..Compaction::NONE
        };
        let mut kept: Vec<Step> = Vec::new();
        let mut before: Option<&Step> = None;
        let mut note = (!dropped.is_empty()).then(|| note(&dropped));
        let mut is_behind_gap = false;
        for (place, step) in numbered() {
            let how = shown(place, step);
            if how == Shown::Nothing {
                before = Some(step);
                continue;
            }
            let mut one = lean(step, how);
            match kept.last() {
                // A prompt format shows what was seen at first beside the task.
                None => {
                    let first = steps.first().map(|first| first.observation.kind);
                    one.observation.text = self.beginning(seen);
                    one.observation.kind = first.unwrap_or_default();
                }
                // It would take another text than the last result for something else that was seen.
                Some(last)
                    if before.is_some_and(|one| one.result.text == step.observation.text) =>
                {
                    one.observation.text = last.result.text.clone();
                    one.observation.kind = last.result.kind;
                }
                Some(_) => {}
            }
            let is_shorter = one.result.text != step.result.text;
            left_out.actions_only += u32::from(how == Shown::Action);
            left_out.shortened += u32::from(is_shorter && how != Shown::Action && place + 1 < all);
            left_out.newest |= is_shorter && place + 1 == all;
            is_behind_gap |=
                before.is_some_and(|before| dropped.iter().any(|one| std::ptr::eq(*one, before)));
            // The note stands behind the first gap, but not among a user's words where there is another place.
            let is_place = one.result.kind != ObservationKind::User || place + 1 == all;
            if is_behind_gap
                && is_place
                && let Some(note) = note.take()
            {
                one.result.text = format!("{note}\n{}", one.result.text);
            }
            before = Some(step);
            kept.push(one);
        }
        let observation = self.seen(seen, kept.last(), &mut left_out);
        left_out.prompts = u32::from(!left_out.is_none());
        Compacted {
            steps: kept,
            observation,
            left_out,
        }
    }

    /// What was seen before the first step.
    fn beginning(&self, seen: Seen<'_>) -> String {
        let first = seen.steps.first();
        let text = first.map_or(seen.observation.text.as_str(), |step| {
            &step.observation.text
        });
        match self.newest {
            Some(most) if text.trim() != seen.instruction.trim() => clipped(text, most),
            _ => text.to_owned(),
        }
    }

    /// The observation with its tools: the same text as the last result, where it was that.
    fn seen(&self, seen: Seen<'_>, last: Option<&Step>, left_out: &mut Compaction) -> Observation {
        let mut shown = seen.observation.clone();
        let is_result =
            (seen.steps.last()).is_some_and(|step| step.result.text == seen.observation.text);
        shown.text = match (last, self.newest) {
            (Some(last), _) if is_result => last.result.text.clone(),
            (None, _) => self.beginning(seen),
            (_, Some(most)) => clipped(&seen.observation.text, most),
            _ => shown.text,
        };
        left_out.newest |= !is_result && shown.text != seen.observation.text;
        shown.tools = brief_tools(&seen.observation.tools, self.tools);
        let any = !shown.tools.is_empty();
        left_out.tools = any && self.tools >= ToolDetail::Brief;
        left_out.arguments = any && self.tools == ToolDetail::Required;
        shown
    }
}

/// Lengths of what a prompt shows, in characters.
struct Sizes {
    steps: Vec<StepSize>,
    observation: usize,
    /// What was seen at first and is not the task.
    beginning: usize,
    /// By detail.
    tools: [usize; 4],
}

struct StepSize {
    action: usize,
    result: usize,
    ends_turn: bool,
}

impl Sizes {
    fn of(
        Seen {
            instruction,
            steps,
            observation,
        }: Seen<'_>,
    ) -> Self {
        let first = steps.first().map(|step| step.observation.text.as_str());
        let beginning = first.filter(|text| text.trim() != instruction.trim());
        let details = [
            ToolDetail::Whole,
            ToolDetail::Brief,
            ToolDetail::Bare,
            ToolDetail::Required,
        ];
        let steps = steps.iter().map(|step| StepSize {
            action: ACTION.max(step.transcript.chars().count()),
            result: step.result.text.chars().count(),
            ends_turn: step.ends_turn(),
        });
        Self {
            steps: steps.collect(),
            observation: observation.text.chars().count(),
            beginning: beginning.map_or(0, |text| text.chars().count()),
            tools: details.map(|detail| tools_size(&brief_tools(&observation.tools, detail))),
        }
    }
}

impl StepSize {
    fn shown(&self, how: Shown) -> usize {
        match how {
            Shown::Nothing => 0,
            Shown::Whole => self.action + self.result,
            Shown::Line => self.action + self.result.min(LINE),
            Shown::Action => ACTION + self.result.min(NO_RESULT.len()),
            Shown::Clipped(most) => self.action + self.result.min(most),
        }
    }
}

fn tools_size(tools: &[ToolDefinition]) -> usize {
    let size = |tool: &ToolDefinition| {
        tool.name.len() + tool.description.len() + tool.input_schema.to_string().len()
    };
    tools.iter().map(size).sum()
}

/// A step as a prompt shows it, without what no prompt shows.
fn lean(step: &Step, how: Shown) -> Step {
    let text = step.result.text.as_str();
    let is_longer = |most: usize| text.chars().nth(most).is_some();
    let mut lean = Step {
        generations: Vec::new(),
        ..step.clone()
    };
    lean.observation.tools = Vec::new();
    match how {
        Shown::Line if is_longer(LINE) => lean.result.text = brief(text, LINE),
        Shown::Clipped(most) if is_longer(most) => lean.result.text = clipped(text, most),
        Shown::Action => {
            lean.transcript = String::new();
            if is_longer(NO_RESULT.len()) {
                lean.result.text = NO_RESULT.to_owned();
            }
        }
        _ => {}
    }
    lean
}

/// The note of what was done in steps that are left out.
fn note(steps: &[&Step]) -> String {
    let did = actions_in_brief(steps.iter().copied());
    format!("[{} earlier steps left out: {did}]", steps.len())
}

#[cfg(test)]
mod tests;
