//! Prompts and answers of the role that finds rules in the outcomes of earlier skills.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use journeyman::Result;
use journeyman::contract::{Experience, RoleAnswer};
use journeyman::domain::RoleRule;

use super::unusable::unusable;
use crate::roles::{Feature, NOTHING, Rule, outcomes_script};
use crate::script::Script;
use crate::skill_form::read_body;

/// The numbers of rows that the model was trained on.
const ROWS: std::ops::RangeInclusive<usize> = 5..=8;

/// A skill's features, and whether its outcome was good.
type Row = (Vec<Feature>, bool);

/// The prompt: at most eight rows, those that the most experiences support, good and bad ones in turn. Fewer than five
/// are repeated up to five: the model knows no shorter lists.
pub(super) fn script(experiences: &[Experience]) -> Script {
    let rows = merged(&informative_rows(experiences));
    let count = rows.len().clamp(*ROWS.start(), *ROWS.end());
    let rows: Vec<Row> = rows.into_iter().cycle().take(count).collect();
    outcomes_script(&rows)
}

/// Reads a rule. It is added where the experiences support it and no present rule is about the same feature; present
/// rules that the experiences contradict are dropped. Rules in words that this model cannot read are kept.
pub(super) fn read(rules: &[RoleRule], rows: &[Experience], text: &str) -> Result<RoleAnswer> {
    let new = match (text.trim(), Rule::parse(text)) {
        (_, Some(rule)) => Some(rule),
        (NOTHING, None) => None,
        _ => {
            let message = "the answer is not `avoid FEATURE`, `prefer FEATURE` or `none`";
            return Err(unusable(message, text));
        }
    };
    let rows = informative_rows(rows);
    let stays = |rule: &&RoleRule| {
        let read = Rule::parse(rule.as_str());
        read.is_none_or(|rule| !RuleCounts::of(rule, &rows).is_contradicted())
    };
    let mut kept: Vec<RoleRule> = rules.iter().filter(stays).cloned().collect();
    if let Some(rule) = new {
        let about = |kept: &RoleRule| Rule::parse(kept.as_str()).map(|rule| rule.feature);
        let known = kept.iter().any(|kept| about(kept) == Some(rule.feature));
        if !known && is_supported(rule, &rows) {
            kept.push(RoleRule::new(rule.to_string())?);
        }
    }
    kept.truncate(RoleRule::MOST);
    Ok(RoleAnswer::Rules(kept))
}

/// The informative experiences, as rows: those whose skill is a step list with more good than harm, or with harm and no
/// more good. Versions with the same body are one row, because an unchanged skill is no further evidence.
fn informative_rows(experiences: &[Experience]) -> Vec<Row> {
    let mut outcomes: BTreeMap<&str, (u32, u32)> = BTreeMap::new();
    for experience in experiences {
        let (helpful, harmful) = outcomes.entry(&experience.skill.body).or_default();
        *helpful += experience.helpful;
        *harmful += experience.harmful;
    }
    let row = |(body, (helpful, harmful)): (&str, (u32, u32))| {
        let good = helpful > harmful;
        let tells = good || harmful > 0;
        let skill = read_body(body).filter(|_| tells)?;
        Some((Feature::of(&skill), good))
    };
    outcomes.into_iter().filter_map(row).collect()
}

/// One row for each set of features, with the majority outcome of its experiences, those with the largest majorities
/// first; ties are left out. A row is left out if no rule fits it and all rows before it: an outcome may be due to a
/// passing demand, and the model knows only lists that a rule fits.
fn merged(rows: &[Row]) -> Vec<Row> {
    let mut sums: BTreeMap<&[Feature], i64> = BTreeMap::new();
    for (features, good) in rows {
        *sums.entry(features).or_default() += if *good { 1 } else { -1 };
    }
    let mut sums: Vec<(&[Feature], i64)> = sums.into_iter().filter(|(_, sum)| *sum != 0).collect();
    sums.sort_by_key(|(_, sum)| Reverse(sum.abs()));
    let mut fitting: Vec<Rule> = Feature::ALL.into_iter().flat_map(Rule::about).collect();
    sums.retain(|(features, sum)| {
        let fits = |rule: &Rule| rule.fits(features) == (*sum > 0);
        let some = fitting.iter().any(fits);
        if some {
            fitting.retain(fits);
        }
        some
    });
    let (good, bad): (Vec<_>, Vec<_>) = sums.into_iter().partition(|(_, sum)| *sum > 0);
    let most = good.len().max(bad.len());
    let turns = (0..most).flat_map(|turn| [good.get(turn), bad.get(turn)]);
    let row = |(features, sum): &(&[Feature], i64)| (features.to_vec(), *sum > 0);
    turns.flatten().map(row).collect()
}

/// Counts of the skills that a rule would have let in and kept out.
#[derive(Debug, Default)]
struct RuleCounts {
    good_in: usize,
    good_out: usize,
    bad_in: usize,
    bad_out: usize,
}

impl RuleCounts {
    fn of(rule: Rule, rows: &[Row]) -> Self {
        let mut weighed = Self::default();
        for (features, good) in rows {
            match (rule.fits(features), good) {
                (true, true) => weighed.good_in += 1,
                (false, true) => weighed.good_out += 1,
                (false, false) => weighed.bad_out += 1,
                (true, false) => weighed.bad_in += 1,
            }
        }
        weighed
    }

    /// Whether the rule would have kept out good skills, and at least as many as bad ones. Bad skills that it lets in
    /// may have another fault.
    fn is_contradicted(&self) -> bool {
        self.good_out > 0 && self.good_out >= self.bad_out
    }

    /// Number of rows that it classifies correctly.
    fn right(&self) -> usize {
        self.good_in + self.bad_out
    }

    /// The probability that it keeps out so many bad ones, or more, if its feature had no effect: Fisher's exact test,
    /// one-sided, from 0 to 1.
    fn chance(&self) -> f64 {
        let (good, bad) = (self.good_in + self.good_out, self.bad_in + self.bad_out);
        let out = self.good_out + self.bad_out;
        let likely = |bad_out: usize| ways(bad, bad_out) * ways(good, out - bad_out);
        let as_many = (self.bad_out..=out.min(bad)).map(likely);
        as_many.sum::<f64>() / ways(good + bad, out)
    }
}

/// The binomial coefficient: ways to take `taken` of `all`.
fn ways(all: usize, taken: usize) -> f64 {
    let all = all as f64;
    let factors = (0..taken).map(|number| number as f64);
    factors.fold(1.0, |ways, number| ways * (all - number) / (number + 1.0))
}

/// Maximum probability that a rule fits by chance.
const CHANCE: f64 = 0.05;

/// Whether a rule would have kept out more bad skills than good ones, beyond chance, and no rule about another feature
/// classifies as many rows correctly. A rule that fits by chance would keep good skills out from then on, and with them
/// the evidence against it.
fn is_supported(rule: Rule, rows: &[Row]) -> bool {
    let weighed = RuleCounts::of(rule, rows);
    let others = Feature::ALL.into_iter().filter(|it| *it != rule.feature);
    let best = others.flat_map(Rule::about);
    let best = best.map(|other| RuleCounts::of(other, rows).right()).max();
    weighed.bad_out > weighed.good_out
        && weighed.chance() <= CHANCE
        && best.is_none_or(|best| best < weighed.right())
}
