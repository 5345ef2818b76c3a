//! Rules, from how earlier skills fared.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use journeyman::Result;
use journeyman::contract::{Experience, RoleAnswer};
use journeyman::domain::RoleRule;

use super::unusable;
use crate::roles::{Feature, NOTHING, Rule, fared};
use crate::script::Script;
use crate::skill_form::read_body;

/// How many rows the model was trained on.
const ROWS: std::ops::RangeInclusive<usize> = 5..=8;

/// A skill's features and whether it fared well.
type Row = (Vec<Feature>, bool);

/// Shows at most eight rows, those that most experiences bear out, good and bad ones by turns. Fewer than five are
/// repeated until there are five: the model knows no shorter lists.
pub(super) fn script(experiences: &[Experience]) -> Script {
    let rows = merged(&told(experiences));
    let count = rows.len().clamp(*ROWS.start(), *ROWS.end());
    let rows: Vec<Row> = rows.into_iter().cycle().take(count).collect();
    fared(&rows)
}

/// Reads a rule. It joins those so far where the experiences bear it out and none of them is about the same; those so far
/// that the experiences speak against are dropped. Rules in words that this model does not read stay.
pub(super) fn read(rules: &[RoleRule], rows: &[Experience], text: &str) -> Result<RoleAnswer> {
    let new = match (text.trim(), Rule::parse(text)) {
        (_, Some(rule)) => Some(rule),
        (NOTHING, None) => None,
        _ => {
            let message = "the answer is not `avoid FEATURE`, `prefer FEATURE` or `none`";
            return Err(unusable(message, text));
        }
    };
    let rows = told(rows);
    let stays = |rule: &&RoleRule| {
        let read = Rule::parse(&rule.0);
        read.is_none_or(|rule| !Weighed::of(rule, &rows).is_contradicted())
    };
    let mut kept: Vec<RoleRule> = rules.iter().filter(stays).cloned().collect();
    if let Some(rule) = new {
        let about = |kept: &RoleRule| Rule::parse(&kept.0).map(|rule| rule.feature);
        let known = kept.iter().any(|kept| about(kept) == Some(rule.feature));
        if !known && is_singled_out(rule, &rows) {
            kept.push(RoleRule(rule.to_string()));
        }
    }
    kept.truncate(RoleRule::MOST);
    Ok(RoleAnswer::Rules(kept))
}

/// The experiences that tell something, as rows: those whose skill is a step list and did more good than harm, or harm
/// and no more good. Versions that say the same are one: what came back unchanged is no further witness.
fn told(experiences: &[Experience]) -> Vec<Row> {
    let mut fared: BTreeMap<&str, (u32, u32)> = BTreeMap::new();
    for experience in experiences {
        let (helpful, harmful) = fared.entry(&experience.skill.body).or_default();
        *helpful += experience.helpful;
        *harmful += experience.harmful;
    }
    let row = |(body, (helpful, harmful)): (&str, (u32, u32))| {
        let good = helpful > harmful;
        let tells = good || harmful > 0;
        let skill = read_body(body).filter(|_| tells)?;
        Some((Feature::of(&skill), good))
    };
    fared.into_iter().filter_map(row).collect()
}

/// One row for each set of features, as most of its experiences say, those that most bear out first; none where they are even.
/// One that leaves no rule that all rows before it keep to is left out: a skill may have fared so for the day's sake, and the
/// model knows lists alone that one rule fits.
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

/// What a rule would have let through and kept out.
#[derive(Debug, Default)]
struct Weighed {
    good_in: usize,
    good_out: usize,
    bad_in: usize,
    bad_out: usize,
}

impl Weighed {
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

    /// Whether it would have kept out good ones, and no fewer than bad ones. Bad ones that it lets through may have
    /// another fault.
    fn is_contradicted(&self) -> bool {
        self.good_out > 0 && self.good_out >= self.bad_out
    }

    /// How many rows it tells rightly.
    fn right(&self) -> usize {
        self.good_in + self.bad_out
    }

    /// How likely it would keep out so many bad ones, or more, if its feature told nothing: Fisher's exact test,
    /// one-sided, from 0 to 1.
    fn chance(&self) -> f64 {
        let (good, bad) = (self.good_in + self.good_out, self.bad_in + self.bad_out);
        let out = self.good_out + self.bad_out;
        let likely = |bad_out: usize| ways(bad, bad_out) * ways(good, out - bad_out);
        let as_many = (self.bad_out..=out.min(bad)).map(likely);
        as_many.sum::<f64>() / ways(good + bad, out)
    }
}

/// In how many ways so many of `all` can be taken.
fn ways(all: usize, taken: usize) -> f64 {
    let all = all as f64;
    let factors = (0..taken).map(|number| number as f64);
    factors.fold(1.0, |ways, number| ways * (all - number) / (number + 1.0))
}

/// How likely, at most, a rule may fit by chance.
const CHANCE: f64 = 0.05;

/// Whether a rule would have kept out more bad ones than good ones, more than chance does, and no rule about something
/// else tells as many rows rightly: what fits by chance would keep good skills out from then on, and with them the evidence
/// against it.
fn is_singled_out(rule: Rule, rows: &[Row]) -> bool {
    let weighed = Weighed::of(rule, rows);
    let others = Feature::ALL.into_iter().filter(|it| *it != rule.feature);
    let best = others.flat_map(Rule::about);
    let best = best.map(|other| Weighed::of(other, rows).right()).max();
    weighed.bad_out > weighed.good_out
        && weighed.chance() <= CHANCE
        && best.is_none_or(|best| best < weighed.right())
}
