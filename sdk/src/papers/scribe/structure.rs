//! Structural metrics: how reliably subgoals are completed, and whether plans that work are preferred (SCRIBE 6.1, appendix E;
//! row C8).

use std::num::{NonZeroU32, NonZeroUsize};

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};

/// How structural metrics are measured. The default has the paper's numbers (SCRIBE, appendix E).
///
/// ```
/// use journeyman::papers::scribe::StructureOptions;
///
/// let mut options = StructureOptions::default();
/// options.validate()?;
/// assert_eq!((options.rollouts.get(), options.trials.get(), options.plans.get()), (64, 5, 5));
/// options.viable = 0.0;
/// assert!(options.validate().is_err());
/// # Ok::<(), journeyman::Error>(())
/// ```
#[non_exhaustive]
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct StructureOptions {
    /// R: number of rollouts of a subgoal.
    pub rollouts: NonZeroU32,
    /// T: number of trials of a plan.
    pub trials: NonZeroU32,
    /// K: greatest number of candidate plans of a task.
    pub plans: NonZeroUsize,
    /// A plan with at least this rate of success is viable, in (0, 1].
    pub viable: f64,
    /// A plan with at most this rate of success is not viable, in [0, 1), less than `viable`. Plans between the two are
    /// discarded.
    pub non_viable: f64,
}

impl Default for StructureOptions {
    fn default() -> Self {
        Self {
            rollouts: const { NonZeroU32::new(64).expect("not 0") },
            trials: const { NonZeroU32::new(5).expect("not 0") },
            plans: const { NonZeroUsize::new(5).expect("not 0") },
            viable: 0.5,
            non_viable: 0.0,
        }
    }
}

impl StructureOptions {
    /// Checks the thresholds.
    ///
    /// # Errors
    /// `Invalid`, where they are not `0 <= non_viable < viable <= 1`.
    pub fn validate(&self) -> Result<()> {
        let (low, high) = (self.non_viable, self.viable);
        if 0.0 <= low && low < high && high <= 1.0 {
            return Ok(());
        }
        Err(Error::invalid(
            "StructureOptions::validate",
            "the thresholds must be 0 <= non_viable < viable <= 1",
        )
        .with("non_viable", low)
        .with("viable", high))
    }

    /// What a rate of success makes of a plan (appendix E, plan viability labeling).
    pub fn viability(&self, rate: f64) -> Viability {
        if rate >= self.viable {
            Viability::Viable
        } else if rate <= self.non_viable {
            Viability::NonViable
        } else {
            Viability::Between
        }
    }
}

/// Whether a plan works.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Viability {
    /// It does.
    Viable,
    /// It does not.
    NonViable,
    /// It is neither, and is discarded.
    Between,
}

/// Repeated trials: how many there were, at least one, and how many of them succeeded.
///
/// ```
/// use journeyman::papers::scribe::Trials;
///
/// let trials = Trials::of([true, false, true, true]).expect("there are four");
/// assert_eq!((trials.rate(), trials.uncertainty()), (0.75, 0.1875));
/// assert_eq!(Trials::of([]), None);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "[u32; 2]", into = "[u32; 2]")]
pub struct Trials {
    successes: u32,
    trials: NonZeroU32,
}

impl Trials {
    /// So many successes in so many trials.
    ///
    /// # Errors
    /// `Invalid` for more successes than trials.
    pub fn new(successes: u32, trials: NonZeroU32) -> Result<Self> {
        match successes <= trials.get() {
            true => Ok(Self { successes, trials }),
            false => Err(
                Error::invalid("Trials::new", "there are more successes than trials")
                    .with("successes", successes)
                    .with("trials", trials),
            ),
        }
    }

    /// The trials with these outcomes; `None` for no trial.
    pub fn of(outcomes: impl IntoIterator<Item = bool>) -> Option<Self> {
        let (mut successes, mut trials) = (0_u32, 0_u32);
        for success in outcomes {
            successes += u32::from(success);
            trials += 1;
        }
        let trials = NonZeroU32::new(trials)?;
        Some(Self { successes, trials })
    }

    /// Number of successes.
    pub fn successes(self) -> u32 {
        self.successes
    }

    /// Number of trials.
    pub fn trials(self) -> NonZeroU32 {
        self.trials
    }

    /// p: the rate of success, in [0, 1] (Eq. 2 for a subgoal, Eq. 4 for a plan).
    pub fn rate(self) -> f64 {
        f64::from(self.successes) / f64::from(self.trials.get())
    }

    /// p (1 - p), in [0, 0.25] (Eq. 3).
    pub fn uncertainty(self) -> f64 {
        self.rate() * (1.0 - self.rate())
    }
}

impl TryFrom<[u32; 2]> for Trials {
    type Error = Error;

    fn try_from([successes, trials]: [u32; 2]) -> Result<Self> {
        let trials = NonZeroU32::new(trials)
            .ok_or_else(|| Error::invalid("Trials::try_from", "there is no trial"))?;
        Self::new(successes, trials)
    }
}

impl From<Trials> for [u32; 2] {
    fn from(Trials { successes, trials }: Trials) -> Self {
        [successes, trials.get()]
    }
}

/// Success and uncertainty over subgoals: each subgoal counts once, whatever its number of rollouts (MidSucc and MidUnc, Eq. 2
/// and 3).
///
/// ```
/// use journeyman::papers::scribe::{MidLevel, Trials};
///
/// let subgoals = [Trials::of([true, true]), Trials::of([true, false, false, false])];
/// let mid = MidLevel::of(&subgoals.map(|one| one.expect("trials"))).expect("two subgoals");
/// assert_eq!(mid.success, (1.0 + 0.25) / 2.0);
/// assert_eq!(mid.uncertainty, (0.0 + 0.25 * 0.75) / 2.0);
/// ```
#[non_exhaustive]
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct MidLevel {
    /// Number of subgoals.
    pub subgoals: usize,
    /// The mean rate of success, in [0, 1].
    pub success: f64,
    /// The mean of p (1 - p), in [0, 0.25].
    pub uncertainty: f64,
}

impl MidLevel {
    /// The means over subgoals; `None` for no subgoal.
    pub fn of(subgoals: &[Trials]) -> Option<Self> {
        let success = mean(subgoals.iter().map(|one| one.rate()))?;
        let uncertainty = mean(subgoals.iter().map(|one| one.uncertainty()))?;
        Some(Self {
            subgoals: subgoals.len(),
            success,
            uncertainty,
        })
    }
}

/// A candidate plan that was executed.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct ExecutedPlan {
    /// r: the model's log-probability of the plan given the task, divided by the plan's number of tokens, in nats (Eq. 1).
    pub preference: f64,
    /// Its executions.
    pub trials: Trials,
}

impl ExecutedPlan {
    /// A plan by the model's preference for it, and how its trials went.
    pub fn new(preference: f64, trials: Trials) -> Self {
        Self { preference, trials }
    }
}

/// Whether plans that work are preferred, and how far they are from those that do not (HighLvl and PlanSep, Eq. 5 and 6). Only
/// tasks with plans of both kinds count.
///
/// ```
/// use journeyman::papers::scribe::{ExecutedPlan, HighLevel, StructureOptions, Trials};
///
/// let plan = |preference, outcomes: &[bool]| {
///     ExecutedPlan::new(preference, Trials::of(outcomes.iter().copied()).expect("trials"))
/// };
/// let task = [plan(-0.5, &[true, true]), plan(-1.0, &[true, false]), plan(-0.7, &[false, false])];
/// let high = HighLevel::of([&task[..]], &StructureOptions::default())?;
/// // Of the two viable plans one is preferred to the plan that is not viable.
/// assert_eq!((high.tasks, high.selection, high.separation), (1, Some(0.5), Some(0.75)));
/// # Ok::<(), journeyman::Error>(())
/// ```
#[non_exhaustive]
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct HighLevel {
    /// Number of tasks with plans of both kinds.
    pub tasks: usize,
    /// Number of the other tasks.
    pub left_out: usize,
    /// HighLvl: the mean share of pairs in which the viable plan has the greater preference, in [0, 1]. As in Eq. 5 a tie is
    /// no preference.
    pub selection: Option<f64>,
    /// PlanSep: the mean difference between the mean rates of success of viable plans and of the others, in [0, 1].
    pub separation: Option<f64>,
}

impl HighLevel {
    /// The means over tasks, each given by its executed plans.
    ///
    /// # Errors
    /// `Invalid` as [`StructureOptions::validate`], and for a preference that is not finite.
    pub fn of<'a>(
        tasks: impl IntoIterator<Item = &'a [ExecutedPlan]>,
        options: &StructureOptions,
    ) -> Result<Self> {
        options.validate()?;
        let (mut selections, mut separations, mut left_out) = (Vec::new(), Vec::new(), 0);
        for plans in tasks {
            if let Some(plan) = plans.iter().find(|plan| !plan.preference.is_finite()) {
                let rule = "the preference of a plan must be finite";
                return Err(Error::invalid("HighLevel::of", rule)
                    .with("preference", plan.preference)
                    .hint("leave out a plan that could not be scored"));
            }
            let of = |kind| {
                let of_kind =
                    move |plan: &&ExecutedPlan| options.viability(plan.trials.rate()) == kind;
                plans.iter().filter(of_kind)
            };
            let rate = |kind| mean(of(kind).map(|plan| plan.trials.rate()));
            let (Some(good), Some(bad)) = (rate(Viability::Viable), rate(Viability::NonViable))
            else {
                left_out += 1;
                continue;
            };
            let pairs = of(Viability::Viable).flat_map(|good| {
                of(Viability::NonViable)
                    .map(|bad| f64::from(u8::from(good.preference > bad.preference)))
            });
            selections.extend(mean(pairs));
            separations.push(good - bad);
        }
        Ok(Self {
            tasks: separations.len(),
            left_out,
            selection: mean(selections.into_iter()),
            separation: mean(separations.into_iter()),
        })
    }
}

/// The mean; `None` for no values.
fn mean(values: impl Iterator<Item = f64>) -> Option<f64> {
    let (mut sum, mut count) = (0.0, 0_u64);
    for value in values {
        sum += value;
        count += 1;
    }
    (count > 0).then(|| sum / count as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn trials(successes: u32, of: u32) -> Trials {
        Trials::new(successes, NonZeroU32::new(of).unwrap()).unwrap()
    }

    fn plan(preference: f64, successes: u32) -> ExecutedPlan {
        ExecutedPlan {
            preference,
            trials: trials(successes, 5),
        }
    }

    #[test]
    fn eq_2_and_3_count_each_subgoal_once() {
        let check = |subgoals: &[(u32, u32)], success: f64, uncertainty: f64| {
            let subgoals: Vec<Trials> = subgoals.iter().map(|(s, of)| trials(*s, *of)).collect();
            let mid = MidLevel::of(&subgoals).unwrap();
            assert_eq!(mid.subgoals, subgoals.len());
            assert!((mid.success - success).abs() < 1e-12, "{mid:?}");
            assert!((mid.uncertainty - uncertainty).abs() < 1e-12, "{mid:?}");
        };
        check(&[(32, 64)], 0.5, 0.25);
        check(&[(64, 64), (0, 64)], 0.5, 0.0);
        // The macro average: 64 rollouts of one weigh as much as 2 of another.
        check(&[(64, 64), (0, 2)], 0.5, 0.0);
        check(&[(16, 64), (48, 64)], 0.5, 0.1875);
        assert_eq!(MidLevel::of(&[]), None);
    }

    #[test]
    fn plans_are_viable_from_one_half_on_and_not_viable_at_none() {
        let options = StructureOptions::default();
        let check = |successes, of, expect| {
            assert_eq!(options.viability(trials(successes, of).rate()), expect);
        };
        check(5, 5, Viability::Viable);
        check(3, 5, Viability::Viable);
        check(1, 2, Viability::Viable);
        check(2, 5, Viability::Between);
        check(1, 5, Viability::Between);
        check(0, 5, Viability::NonViable);
        let wide = StructureOptions {
            viable: 1.0,
            non_viable: 0.2,
            ..options
        };
        assert_eq!(wide.viability(0.2), Viability::NonViable);
        assert_eq!(wide.viability(0.8), Viability::Between);
    }

    #[test]
    fn eq_5_and_6_in_closed_form() {
        let check = |tasks: &[&[ExecutedPlan]], selection: f64, separation: f64| {
            let high = HighLevel::of(tasks.iter().copied(), &StructureOptions::default()).unwrap();
            assert!(
                (high.selection.unwrap() - selection).abs() < 1e-12,
                "{high:?}"
            );
            assert!(
                (high.separation.unwrap() - separation).abs() < 1e-12,
                "{high:?}"
            );
        };
        // Two viable, two not: three of the four pairs are in order.
        let one = [plan(-0.1, 5), plan(-0.3, 3), plan(-0.2, 0), plan(-0.4, 0)];
        check(&[&one], 0.75, 0.8);
        // A plan between the two changes nothing, whatever its preference.
        let with_middle = [&one[..], &[plan(0.0, 2)]].concat();
        check(&[&with_middle], 0.75, 0.8);
        // Each task counts once: one pair of one task weighs as much as four of another.
        let other = [plan(-2.0, 5), plan(-1.0, 0)];
        check(&[&one, &other], 0.375, 0.9);
        // A tie is no preference.
        check(&[&[plan(-1.0, 5), plan(-1.0, 0)]], 0.0, 1.0);
    }

    #[test]
    fn tasks_without_both_kinds_do_not_count_and_are_told() {
        let both = [plan(-1.0, 5), plan(-2.0, 0)];
        let tasks = [
            &both[..],
            &[plan(-1.0, 5), plan(-2.0, 4)],
            &[plan(-1.0, 0)],
            &[plan(-1.0, 2), plan(-1.0, 0)],
            &[],
        ];
        let high = HighLevel::of(tasks, &StructureOptions::default()).unwrap();
        assert_eq!((high.tasks, high.left_out), (1, 4));
        assert_eq!((high.selection, high.separation), (Some(1.0), Some(1.0)));
        let none = HighLevel::of([tasks[2]], &StructureOptions::default()).unwrap();
        assert_eq!((none.tasks, none.left_out), (0, 1));
        assert_eq!((none.selection, none.separation), (None, None));
    }

    #[test]
    fn what_is_out_of_range_is_refused() {
        let options = |viable, non_viable| StructureOptions {
            viable,
            non_viable,
            ..StructureOptions::default()
        };
        for (viable, non_viable) in [(0.5, 0.5), (1.1, 0.0), (0.5, -0.1), (f64::NAN, 0.0)] {
            let options = options(viable, non_viable);
            assert!(options.validate().is_err(), "{viable} {non_viable}");
            assert!(HighLevel::of([], &options).is_err());
        }
        let plans = [plan(f64::NEG_INFINITY, 5)];
        let error = HighLevel::of([&plans[..]], &StructureOptions::default()).unwrap_err();
        assert_eq!(error.fact("preference"), Some("-inf"));
        assert!(Trials::new(3, NonZeroU32::new(2).unwrap()).is_err());
        assert!(serde_json::from_str::<Trials>("[1,0]").is_err());
        let json = serde_json::to_string(&trials(3, 5)).unwrap();
        assert_eq!(serde_json::from_str::<Trials>(&json).unwrap(), trials(3, 5));
    }
}
