//! Credit over a stream (HiSME, Figure 2): how often the skills that its tasks were given were judged helpful and harmful.

use journeyman::{domain::Judgement, library::SkillLibrary};
use journeyman_toolworld::stream::StreamTask;
use serde::{Deserialize, Serialize};

use crate::figures::{Bound, Figures};

/// Judgements of the stream's first tasks, of the next as many, and so on: helpful, harmful, neutral, uncertain.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct Judged(Vec<[u32; 4]>);

impl Judged {
    /// Those that a library has, by parts of so many tasks. Skills that were deleted count too.
    pub(super) fn of(stream: &[StreamTask], part: usize, library: &SkillLibrary) -> Self {
        let mut parts = vec![[0; 4]; stream.len().div_ceil(part)];
        for entry in library.entries().chain(library.deleted()) {
            for judged in &entry.life.judged {
                let told = &judged.attribution;
                let place = stream.iter().position(|task| task.id == told.task.as_str());
                let counts = place.and_then(|place| parts.get_mut(place / part));
                let kind = match told.judgement {
                    Judgement::Helpful => 0,
                    Judgement::Harmful => 1,
                    Judgement::Neutral => 2,
                    _ => 3,
                };
                if let Some(count) = counts.and_then(|counts| counts.get_mut(kind)) {
                    *count += 1;
                }
            }
        }
        Self(parts)
    }

    /// Those of several streams.
    pub(super) fn sum<'a>(all: impl Iterator<Item = &'a Self>) -> Self {
        let mut sum: Vec<[u32; 4]> = Vec::new();
        for Self(parts) in all {
            sum.resize(sum.len().max(parts.len()), [0; 4]);
            for (sum, counts) in sum.iter_mut().zip(parts) {
                for (sum, count) in sum.iter_mut().zip(counts) {
                    *sum += count;
                }
            }
        }
        Self(sum)
    }

    /// The shares of helpful and harmful ones, part by part; none for a part without judgements.
    fn shares(&self) -> Vec<Option<[f64; 2]>> {
        let share = |counts: &[u32; 4]| {
            let all = f64::from(counts.iter().sum::<u32>());
            let [helpful, harmful, ..] = counts.map(f64::from);
            (all > 0.0).then(|| [helpful / all, harmful / all])
        };
        self.0.iter().map(share).collect()
    }

    /// Records the shares in each part, and by how much the helpful ones rise and the harmful ones fall from the first part
    /// that has judgements to the last. That harmful ones fall is asked of a stream that begins with skills that do harm.
    pub(super) fn record(
        &self,
        figures: &mut Figures<'_>,
        name: &str,
        part: usize,
        harmful_fall: Bound,
    ) {
        let shares = self.shares();
        for (number, share) in (1..).zip(&shares) {
            let Some(share) = share else { continue };
            for (what, value) in ["helpful", "harmful"].into_iter().zip(share) {
                let (from, to) = ((number - 1) * part + 1, number * part);
                let name = format!("{name}, tasks {from} to {to}.judged {what}");
                figures.record(&name, *value, Bound::None);
            }
        }
        let mut known = shares.iter().flatten();
        if let (Some([helpful, harmful]), Some([more, less])) = (known.next(), known.next_back()) {
            let risen = format!("{name}.rise of helpful judgements");
            figures.record(&risen, more - helpful, Bound::Above(0.0));
            let fallen = format!("{name}.fall of harmful judgements");
            figures.record(&fallen, harmful - less, harmful_fall);
        }
    }
}
