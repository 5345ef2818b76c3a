//! What skills brought to a task: it is attempted again with some of them (Shapley 1953).

use std::{collections::BTreeMap, num::NonZeroU32};

use super::{LiftPolicy, Lifts, NOT_REPEATED};
use crate::{
    domain::{BundleCase, Skill, SkillRef},
    error::{Error, Result},
    policy::{Ask, Case, PlayedCase, View},
    stations::maintain::outcomes::is_temporary,
};

/// With more skills than this in an attempt, what each brought is not measured.
const MOST_SKILLS: usize = 16;
/// Up to so many skills all orders are looked at.
const ALL_ORDERS: usize = 3;

/// What each of the skills that were injected together brought to a task; none of those of which it is not known.
///
/// # Errors
/// The reason why it is not known of any.
pub(crate) async fn contributions(
    ask: &mut Ask,
    view: &View,
    orders: NonZeroU32,
    (case, skills): (&BundleCase, &[Skill]),
) -> Result<Vec<(SkillRef, f64)>> {
    if !view.replays() {
        return by_lift(view, skills);
    }
    if skills.len() > MOST_SKILLS {
        let message = format!(
            "{} skills were injected together, and {MOST_SKILLS} can be told apart",
            skills.len()
        );
        return Err(unknown(message));
    }
    let orders = orders_of(skills.len(), view, orders);
    let mut sets: BTreeMap<u32, f64> = BTreeMap::new();
    for order in &orders {
        let mut set = 0;
        sets.insert(set, 0.0);
        for place in order {
            set |= 1 << place;
            sets.insert(set, 0.0);
        }
    }
    // The whole set once more at the end.
    let whole = (1_u32 << skills.len()) - 1;
    let played = sets.keys().copied().chain([whole]);
    let cases = played.map(|set| with(case, skills, set)).collect();
    let mut scores = Vec::new();
    let runs = ask.play(cases).await;
    // Where the task as it was attempted cannot be made again, or judged, nothing is known of its parts.
    if let Some(played) = runs.last() {
        decided(played)?;
    }
    for run in &runs {
        scores.push(score(run)?);
    }
    let again = scores.pop().unwrap_or_default();
    for (value, score) in sets.values_mut().zip(scores) {
        *value = score;
    }
    let of = |set: u32| sets.get(&set).copied().unwrap_or_default();
    if of(whole) != again {
        return Err(unknown(NOT_REPEATED.to_owned()));
    }
    let mut brought = vec![0.0; skills.len()];
    for order in &orders {
        let mut set = 0;
        for place in order {
            let before = of(set);
            set |= 1 << place;
            if let Some(sum) = brought.get_mut(*place) {
                *sum += (of(set) - before) / orders.len() as f64;
            }
        }
    }
    let references = skills.iter().map(Skill::reference);
    Ok(references.zip(brought).collect())
}

/// The case with some of the skills, in their order.
fn with(case: &BundleCase, skills: &[Skill], set: u32) -> Case {
    let places = (0..).zip(skills);
    let mut chosen = places
        .filter(|(place, _): &(u32, _)| set & (1 << place) != 0)
        .map(|(_, skill)| skill.clone());
    Case {
        skill: chosen.next().map(Box::new),
        beside: chosen.collect(),
        case: Box::new(case.clone()),
    }
}

/// # Errors
/// The reason why an attempt's score is not known.
fn decided(played: &PlayedCase) -> Result<()> {
    let run = played.run.as_ref().map_err(Clone::clone)?;
    match run.verdict.success() {
        Some(_) => Ok(()),
        None => Err(unknown(
            "the judge could not decide about the attempt when it was made again".to_owned(),
        )),
    }
}

/// The score of an attempt. One that cannot be made did not do the task.
///
/// # Errors
/// The error of one that could be made later.
fn score(played: &PlayedCase) -> Result<f64> {
    match &played.run {
        Ok(run) if run.verdict.success().is_some() => Ok(run.verdict.score()),
        Err(error) if is_temporary(error) => Err(error.clone()),
        Ok(_) | Err(_) => Ok(0.0),
    }
}

/// The orders in which skills are added: all of them, or some that are drawn.
fn orders_of(count: usize, view: &View, drawn: NonZeroU32) -> Vec<Vec<usize>> {
    if count <= ALL_ORDERS {
        return all_orders(count);
    }
    let numbers = 0..u64::from(drawn.get());
    let draw = |number| {
        let seed = view.seed().derive("order", number);
        let mut left: Vec<usize> = (0..count).collect();
        let mut order = Vec::with_capacity(count);
        while !left.is_empty() {
            let place = seed.derive("next", order.len() as u64).index(left.len());
            order.push(left.swap_remove(place.unwrap_or_default()));
        }
        order
    };
    numbers.map(draw).collect()
}

fn all_orders(count: usize) -> Vec<Vec<usize>> {
    let mut orders = vec![Vec::new()];
    for next in 0..count {
        // The next one at every place of each order of those before it.
        let longer = orders.iter().flat_map(|order: &Vec<usize>| {
            (0..=order.len()).map(|place| {
                let mut order = order.clone();
                order.insert(place, next);
                order
            })
        });
        orders = longer.collect();
    }
    orders
}

/// What the ledger says that each skill brings with this model.
fn by_lift(view: &View, skills: &[Skill]) -> Result<Vec<(SkillRef, f64)>> {
    let lifts = Lifts::of(view.library(), LiftPolicy::default())?;
    let known = skills.iter().filter_map(|skill| {
        let skill = skill.reference();
        let lift = lifts.skill(&skill, view.model())?.score.estimate()?;
        Some((skill, lift))
    });
    Ok(known.collect())
}

fn unknown(message: String) -> Error {
    Error::unsupported("ByContribution", message)
        .hint("credit by `step`, or give it a world whose attempts can be made again alike")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_orders_of_three_are_looked_at_once() {
        let mut orders = all_orders(3);
        orders.sort();
        orders.dedup();
        assert_eq!(orders.len(), 6);
        assert_eq!(all_orders(0), [Vec::<usize>::new()]);
    }
}
