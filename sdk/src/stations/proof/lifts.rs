//! The ledger of lifts: what each skill, and the library as a whole, changes.

use std::{collections::BTreeMap, fmt};

use serde::{Deserialize, Serialize};

use super::{
    Effect, Interval, check, discoveries,
    lengths::{Length, Lengths},
};
use crate::{
    domain::{Assignment, SkillName, SkillRef},
    error::Result,
    id::{Category, ModelId},
    library::SkillLibrary,
    run::report::LiftReport,
};

/// How sure the ledger has to be, and up to what costs are counted.
///
/// ```
/// use journeyman::stations::proof::LiftPolicy;
///
/// let mut policy = LiftPolicy::default();
/// policy.error = 0.01; // a range that holds with 99%
/// policy.validate()?;
/// policy.error = 0.0;
/// assert!(policy.validate().is_err());
/// # Ok::<(), journeyman::Error>(())
/// ```
#[non_exhaustive]
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LiftPolicy {
    /// The probability, above 0 and below 1, that an interval ever leaves out the true difference; each interval by itself.
    pub error: f64,
    /// The share, above 0 and below 1, of the verdicts over all skills that may be false in the mean. It is proven for versions that were
    /// there whatever came of others; a host that writes new ones until one is said to help finds more false ones.
    pub false_discoveries: f64,
    /// Steps of an attempt above this count as this many; above 0. An interval needs an end to what may come.
    pub most_steps: f64,
    /// Tokens of an attempt above this count as this many; above 0.
    pub most_tokens: f64,
}

impl Default for LiftPolicy {
    /// Intervals of 95%, 5% of the verdicts, 64 steps, 16,384 tokens.
    fn default() -> Self {
        Self {
            error: 0.05,
            false_discoveries: 0.05,
            most_steps: 64.0,
            most_tokens: 16_384.0,
        }
    }
}

impl LiftPolicy {
    /// Checks the ranges.
    ///
    /// # Errors
    /// `Invalid`, naming the field, its value and its range.
    pub fn validate(&self) -> Result<()> {
        let check = |holds, field, range| check("LiftPolicy::validate", holds, field, range);
        for field in [
            ("error", self.error),
            ("false_discoveries", self.false_discoveries),
        ] {
            let sound = field.1 > 0.0 && field.1 < 1.0;
            check(sound, field, "above 0 and below 1")?;
        }
        for field in [
            ("most_steps", self.most_steps),
            ("most_tokens", self.most_tokens),
        ] {
            let sound = field.1 > 0.0 && field.1.is_finite();
            check(sound, field, "above 0 and finite")?;
        }
        Ok(())
    }
}

/// What is given or withheld.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LiftOf {
    /// All skills that are chosen for an attempt.
    Library,
    /// A version of a skill.
    Skill(SkillRef),
}

/// An effect on what an attempt costs, in its own unit.
#[non_exhaustive]
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Amount {
    /// As a share of `most`.
    pub share: Effect,
    /// The greatest value that counts.
    pub most: f64,
}

impl Amount {
    /// The difference of the means; `None` while one of them is not known.
    pub fn estimate(&self) -> Option<f64> {
        self.share.estimate().map(|share| share * self.most)
    }

    /// The interval of the difference, as [`Effect::interval`].
    pub fn interval(&self, error: f64) -> Interval {
        let Interval { low, high } = self.share.interval(error);
        Interval {
            low: low * self.most,
            high: high * self.most,
        }
    }

    fn add(&mut self, given: bool, share: f64, value: f64) {
        self.share.add(given, share, value / self.most);
    }
}

/// Whether a skill helps, in tasks that are done.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LiftVerdict {
    /// More tasks are done with it.
    Helps,
    /// Fewer tasks are done with it.
    Harms,
    /// It is not known yet.
    NotYet {
        /// About how many more tasks would tell, should they go on as so far; `None` where they point nowhere.
        more: Option<u64>,
    },
}

/// What a skill, or the library, changes with a model.
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Lift {
    /// What was given or withheld.
    pub of: LiftOf,
    /// The skill's name; `None` for the library, and for a skill that the library no longer has.
    pub name: Option<SkillName>,
    /// The model that acted, with its adapter; `None` where the agent does not say.
    pub model: Option<ModelId>,
    /// The host's own grouping of the tasks; `None` for all tasks together.
    pub category: Option<Category>,
    /// On the share of tasks that are done.
    pub success: Effect,
    /// On the verdict's score, in [0, 1].
    pub score: Effect,
    /// On the number of steps.
    pub steps: Amount,
    /// On the number of tokens.
    pub tokens: Amount,
    /// On the place of a task among those before it that were drawn over the same with the same model, of its category alone: 0 for the
    /// shortest, 1 for the longest. A task that fails more often is longer, and of those that fail as often the one with more steps.
    #[serde(default)]
    pub place: Effect,
    /// Over all tasks; `None` for one category, which has its interval alone.
    pub verdict: Option<LiftVerdict>,
    /// Whether tasks are known to take longer with the skill: they take more steps, or more of them fail. Of the lifts of a ledger for
    /// which it is true, those of a category included, the share that is wrong is at most [`LiftPolicy::false_discoveries`] in the mean.
    /// It is false where [`steps`](Self::steps) has no greater mean; a task counts [`LiftPolicy::most_steps`] steps there at most.
    #[serde(default)]
    pub longer: bool,
}

impl Lift {
    /// Number of tasks that went with it, and by chance without it.
    pub fn tasks(&self) -> (u64, u64) {
        (self.score.given.count, self.score.withheld.count)
    }
}

type Key = (LiftOf, Option<ModelId>, Option<Category>);

/// The ledger of lifts.
///
/// ```
/// use journeyman::{library::SkillLibrary, stations::proof::{LiftPolicy, Lifts}};
///
/// let library = SkillLibrary::new();
/// let lifts = Lifts::of(&library, LiftPolicy::default())?;
/// assert!(lifts.lifts.is_empty());
/// assert!(lifts.to_string().contains("nothing was withheld yet"));
/// # Ok::<(), journeyman::Error>(())
/// ```
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Lifts {
    /// How sure it is.
    pub policy: LiftPolicy,
    /// The library before its skills; of these those with the greater difference in tasks done first, and all tasks before their
    /// categories.
    pub lifts: Vec<Lift>,
}

impl Lifts {
    /// Reads a library's ledger ([`SkillLibrary::assignments`]).
    ///
    /// # Errors
    /// `Invalid` for a policy out of its ranges.
    pub fn of(library: &SkillLibrary, policy: LiftPolicy) -> Result<Self> {
        policy.validate()?;
        Ok(Self::read(library, policy))
    }

    /// What the ledger says over all tasks of each of these, by a policy within its ranges.
    pub(super) fn reports(
        library: &SkillLibrary,
        asked: &[(LiftOf, Option<ModelId>)],
        policy: LiftPolicy,
    ) -> Vec<LiftReport> {
        if asked.is_empty() {
            return Vec::new();
        }
        let lifts = Self::read(library, policy);
        let report = |(of, model): &(LiftOf, Option<ModelId>)| {
            match lifts.over_all_tasks(|one| one == of, model.as_ref()) {
                Some(lift) => lift.report(policy.error),
                // Its tasks were all taken back.
                None => {
                    let of = (of.clone(), model.clone(), None);
                    empty(library, &policy, &of).report(policy.error)
                }
            }
        };
        asked.iter().map(report).collect()
    }

    fn read(library: &SkillLibrary, policy: LiftPolicy) -> Self {
        let mut counted: BTreeMap<Key, Lift> = BTreeMap::new();
        let mut lengths: BTreeMap<Key, Lengths> = BTreeMap::new();
        for assignment in library.assignments() {
            let length = Length::of(assignment.success, assignment.steps);
            for (of, given) in drawn(assignment) {
                let (model, category) = (&assignment.model, &assignment.category);
                let like = (of.clone(), model.clone(), category.clone());
                let place = lengths.entry(like).or_default().place(length);
                // Over all tasks, and over those of its category.
                let own = assignment.category.clone().map(Some);
                for category in [None].into_iter().chain(own) {
                    let key = (of.clone(), assignment.model.clone(), category);
                    let lift = counted
                        .entry(key)
                        .or_insert_with_key(|key| empty(library, &policy, key));
                    lift.count(assignment, given, place);
                }
            }
        }
        let mut lifts: Vec<Lift> = counted.into_values().collect();
        judge(&mut lifts, policy.false_discoveries);
        find_longer(&mut lifts, policy.false_discoveries);
        lifts.sort_by(|a, b| {
            let is_skill = |lift: &Lift| lift.of != LiftOf::Library;
            let estimate = |lift: &Lift| lift.success.estimate().unwrap_or(f64::NEG_INFINITY);
            let order = is_skill(a).cmp(&is_skill(b));
            let order = order.then(a.category.is_some().cmp(&b.category.is_some()));
            order.then(estimate(b).total_cmp(&estimate(a)))
        });
        Self { policy, lifts }
    }

    /// What a version of a skill changes over all tasks, with this model.
    pub fn skill(&self, skill: &SkillRef, model: Option<&ModelId>) -> Option<&Lift> {
        let is_it = |of: &LiftOf| matches!(of, LiftOf::Skill(of) if of == skill);
        self.over_all_tasks(is_it, model)
    }

    fn over_all_tasks(
        &self,
        is_it: impl Fn(&LiftOf) -> bool,
        model: Option<&ModelId>,
    ) -> Option<&Lift> {
        let mut lifts = self.lifts.iter();
        lifts
            .find(|lift| is_it(&lift.of) && lift.category.is_none() && lift.model.as_ref() == model)
    }
}

/// What chance gave a task or withheld from it, and whether it gave it.
pub(super) fn drawn(assignment: &Assignment) -> impl Iterator<Item = (LiftOf, bool)> {
    let skills = assignment.tells_of().iter();
    let skills = skills.map(|one| (LiftOf::Skill(one.skill.clone()), one.given));
    [(LiftOf::Library, !assignment.without)]
        .into_iter()
        .chain(skills)
}

fn empty(library: &SkillLibrary, policy: &LiftPolicy, (of, model, category): &Key) -> Lift {
    let name = match of {
        LiftOf::Library => None,
        LiftOf::Skill(skill) => library.get(&skill.id).map(|entry| entry.skill.name.clone()),
    };
    let amount = |most| Amount {
        most,
        ..Amount::default()
    };
    Lift {
        of: of.clone(),
        name,
        model: model.clone(),
        category: category.clone(),
        success: Effect::default(),
        score: Effect::default(),
        steps: amount(policy.most_steps),
        tokens: amount(policy.most_tokens),
        place: Effect::default(),
        verdict: None,
        longer: false,
    }
}

impl Lift {
    fn count(&mut self, assignment: &Assignment, given: bool, place: Option<f64>) {
        let share = assignment.share;
        self.success.add(given, share, assignment.success);
        self.score.add(given, share, assignment.score);
        self.steps.add(given, share, assignment.steps);
        self.tokens.add(given, share, assignment.tokens);
        if let Some(place) = place {
            self.place.add(given, share, place);
        }
    }

    fn report(&self, error: f64) -> LiftReport {
        let Interval { low, high } = self.success.interval(error);
        let (given, withheld) = self.tasks();
        LiftReport {
            skill: match &self.of {
                LiftOf::Library => None,
                LiftOf::Skill(skill) => Some(skill.clone()),
            },
            name: self.name.clone(),
            model: self.model.clone(),
            helps: match self.verdict {
                Some(LiftVerdict::Helps) => Some(true),
                Some(LiftVerdict::Harms) => Some(false),
                Some(LiftVerdict::NotYet { .. }) | None => None,
            },
            difference: self.success.estimate(),
            low,
            high,
            given,
            withheld,
        }
    }
}

/// Gives verdicts over all tasks: of the library by itself, of the skills together, each asked whether it helps and whether it harms.
fn judge(lifts: &mut [Lift], rate: f64) {
    for skills in [false, true] {
        let is_asked =
            |lift: &Lift| lift.category.is_none() && (lift.of != LiftOf::Library) == skills;
        let asked = lifts.iter_mut().filter(|lift| is_asked(lift));
        let asked: Vec<&mut Lift> = asked.collect();
        let evidence = asked.iter().map(|lift| {
            let success = &lift.success;
            [success.evidence_of_gain(), success.evidence_of_harm()]
        });
        let evidence: Vec<[f64; 2]> = evidence.collect();
        let enough = ((2 * evidence.len()) as f64 / rate).ln();
        for (lift, helps) in asked.into_iter().zip(verdicts(&evidence, rate)) {
            lift.verdict = Some(match helps {
                Some(true) => LiftVerdict::Helps,
                Some(false) => LiftVerdict::Harms,
                None => LiftVerdict::NotYet {
                    more: more(&lift.success, enough),
                },
            });
        }
    }
}

/// Says with which of all of them tasks take longer. Chance alone decided which task is given it, so that the place of a task, which follows
/// from it and from those before, is compared as any outcome.
fn find_longer(lifts: &mut [Lift], rate: f64) {
    let evidence = lifts.iter().map(|lift| {
        // Evidence that is set to 0 is less than there is: the bound on the false-discovery rate holds.
        let more = lift.steps.estimate().is_some_and(|steps| steps > 0.0);
        if more {
            lift.place.evidence_of_gain()
        } else {
            0.0
        }
    });
    let found = discoveries(&evidence.collect::<Vec<_>>(), rate);
    for (lift, found) in lifts.iter_mut().zip(found) {
        lift.longer = found;
    }
}

/// Whether each of some that are asked about together helps, by the evidence that it helps and that it harms; `None` where neither is known.
pub(super) fn verdicts(evidence: &[[f64; 2]], rate: f64) -> Vec<Option<bool>> {
    let found = discoveries(evidence.as_flattened(), rate);
    let verdict = |found: &[bool]| match found {
        [true, _] => Some(true),
        [_, true] => Some(false),
        _ => None,
    };
    found.chunks(2).map(verdict).collect()
}

/// The number of tasks that are missing, should the evidence grow on as it did.
fn more(success: &Effect, enough: f64) -> Option<u64> {
    let evidence = success
        .evidence_of_gain()
        .max(success.evidence_of_harm())
        .ln();
    let tasks = success.given.count + success.withheld.count;
    let missing = tasks as f64 * (enough / evidence - 1.0);
    (success.estimate().is_some() && evidence > 0.0).then(|| missing.max(1.0).ceil() as u64)
}

/// A line for each, for people.
impl fmt::Display for Lifts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.lifts.is_empty() {
            return f.write_str(
                "nothing was withheld yet, so that nobody can tell what a skill brings: set `SelectPolicy::withhold`",
            );
        }
        for (number, lift) in self.lifts.iter().enumerate() {
            if number > 0 {
                writeln!(f)?;
            }
            lift.line(f, self.policy.error)?;
        }
        Ok(())
    }
}

impl Lift {
    fn line(&self, f: &mut fmt::Formatter<'_>, error: f64) -> fmt::Result {
        match (&self.of, &self.name) {
            (LiftOf::Library, _) => f.write_str("the library")?,
            (LiftOf::Skill(skill), Some(name)) => write!(f, "{name} ({})", skill.version)?,
            (LiftOf::Skill(skill), None) => write!(f, "{skill}, which is gone")?,
        }
        if let Some(category) = &self.category {
            write!(f, ", at tasks of `{category}`")?;
        }
        if let Some(model) = &self.model {
            write!(f, ", with {model}")?;
        }
        let (given, withheld) = self.tasks();
        write!(f, ": {given} tasks with it, {withheld} without; ")?;
        match self.success.estimate() {
            None => f.write_str("the difference is not known")?,
            Some(estimate) => {
                let Interval { low, high } = self.success.interval(error);
                let points = |share: f64| share * 100.0;
                write!(
                    f,
                    "{:+.1} points of tasks done (from {:+.1} to {:+.1})",
                    points(estimate),
                    points(low),
                    points(high)
                )?;
            }
        }
        match self.verdict {
            None => {}
            Some(LiftVerdict::Helps) => f.write_str("; it helps")?,
            Some(LiftVerdict::Harms) => f.write_str("; it harms")?,
            Some(LiftVerdict::NotYet { more: Some(more) }) => {
                write!(f, "; not known yet: about {more} more tasks would tell")?;
            }
            Some(LiftVerdict::NotYet { more: None }) => f.write_str("; not known yet")?,
        }
        match self.steps.estimate().filter(|_| self.longer) {
            Some(more) => write!(f, "; tasks take longer with it: {more:+.1} steps"),
            None => Ok(()),
        }
    }
}
