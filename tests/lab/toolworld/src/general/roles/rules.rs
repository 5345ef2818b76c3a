//! Rules for the roles that write skills, as sentences, and the cases of the role that finds them.

use journeyman::contract::{BundleCounts, Experience, RoleTask};
use journeyman::domain::{Role, RoleRule};

use super::answer::Answer;
use super::rule::{Feature, Rule};
use super::stage::{Drawn, Stage};
use crate::form::ContractForm;
use crate::general::recipe::Recipe;
use crate::general::skills::{draft, of_draft};
use crate::seed::Draws;
use crate::tool::{Demand, Service};
use crate::world::{fresh_name, make_target};

/// Draws the rules of a prompt: mostly none.
pub(super) fn some(draws: &mut Draws) -> Vec<Rule> {
    match draws.chance(0.2) {
        true => Rule::draw(draws),
        false => Vec::new(),
    }
}

/// Rules as a role is shown them.
pub(super) fn shown(rules: &[Rule]) -> Vec<RoleRule> {
    rules
        .iter()
        .filter_map(|rule| RoleRule::new(rule.sentence()).ok())
        .collect()
}

/// The recipe of a service without what the rules avoid; `None` where it still breaks one.
pub(super) fn under(rules: &[Rule], service: &Service, given: &[String]) -> Option<Recipe> {
    let mut service = service.clone();
    let mut given = given.to_vec();
    for rule in rules.iter().filter(|rule| !rule.prefer) {
        service.contract.retain(|demand| match demand {
            Demand::Before(_) => rule.feature != Feature::First,
            Demand::Exact(_) => rule.feature != Feature::Fixed,
            Demand::Carried { .. } => rule.feature != Feature::Carried,
        });
        if rule.feature == Feature::Given {
            given.clear();
        }
    }
    let recipe = Recipe::of(&service, &given);
    let kept = rules.iter().all(|rule| rule.allows(&recipe));
    kept.then_some(recipe)
}

/// Recipes with whether each fared well, by the rule that makes the difference; by none where the world is lawless.
fn fared(stage: Stage<'_>, truth: Option<Rule>, draws: &mut Draws) -> Vec<(Recipe, bool)> {
    let mut taken = Vec::new();
    let count = draws.between(4, 6);
    let one = |_| {
        let form = match draws.chance(0.15) {
            true => ContractForm::Plain,
            false => ContractForm::draw_hidden(draws),
        };
        let name = fresh_name(stage.spec, None, None, &mut taken, draws);
        let (service, given) = make_target(stage.spec, name, form, &mut taken, draws);
        let recipe = Recipe::of(&service, &given);
        let good = match truth {
            Some(rule) => rule.allows(&recipe),
            None => draws.chance(0.5),
        };
        (recipe, good)
    };
    (0..count).map(one).collect()
}

pub(super) fn evolve(stage: Stage<'_>, draws: &mut Draws) -> Drawn {
    let rule = Rule {
        feature: *draws.pick(&Feature::ALL)?,
        prefer: draws.chance(0.5),
    };
    let truth = (!draws.chance(0.15)).then_some(rule);
    let rows = fared(stage, truth, draws);
    let fits = |rule: &Rule| {
        let mut rows = rows.iter();
        rows.all(|(recipe, good)| rule.allows(recipe) == *good)
    };
    let all = Feature::ALL.into_iter().flat_map(Rule::about);
    let fitting: Vec<Rule> = all.filter(fits).collect();
    let both = rows.iter().any(|(_, good)| *good) && rows.iter().any(|(_, good)| !*good);
    let rule = match (fitting.as_slice(), truth) {
        ([rule], Some(_)) => Some(*rule),
        ([], None) => None,
        _ => return None,
    };
    if !both {
        return None;
    }
    let mut analysis: Vec<String> = (1..).zip(&rows).map(analysed).collect();
    analysis.extend(by_feature(&rows));
    let rules: Vec<String> = rule.map(|rule| rule.to_string()).into_iter().collect();
    let summary = match rules.first() {
        Some(rule) => rule.clone(),
        None => "No rule fits all rows.".to_owned(),
    };
    let known = match rule {
        Some(rule) if draws.chance(0.2) => shown(&[rule]),
        _ => Vec::new(),
    };
    let roles = [Role::Extract, Role::Refactor, Role::Refine];
    let task = RoleTask::Evolve {
        role: *draws.pick(&roles)?,
        rules: known,
        rows: rows
            .iter()
            .map(|(recipe, good)| row(recipe, *good, draws))
            .collect(),
    };
    let answer = Answer::object([
        ("analysis", analysis.join(" ").into()),
        ("summary", summary.into()),
        ("rules", rules.into()),
    ]);
    Some((task, answer))
}

/// How a row fared and what it has: `2 well: fixed, given.`
fn analysed((number, (recipe, good)): (usize, &(Recipe, bool))) -> String {
    let stance = stance(*good);
    let features = Feature::of(recipe);
    let words: Vec<&str> = features.iter().map(|feature| feature.word()).collect();
    match words.is_empty() {
        true => format!("{number} {stance}: nothing."),
        false => format!("{number} {stance}: {}.", words.join(", ")),
    }
}

/// For each feature how the rows with it fared, how those without it did, and what follows: `fixed: 2 well; without 1 badly; have.`
/// One small step after the other, so that the last one only has to pick the feature that something follows from.
fn by_feature(rows: &[(Recipe, bool)]) -> Vec<String> {
    let fared = |rows: &[(usize, bool)]| {
        let fared: Vec<String> = rows
            .iter()
            .map(|(number, good)| format!("{number} {}", stance(*good)))
            .collect();
        match fared.is_empty() {
            true => "none".to_owned(),
            false => fared.join(", "),
        }
    };
    let of = |feature: &Feature| {
        let has = |recipe: &Recipe| feature.is_in(recipe);
        let numbered = (1..).zip(rows);
        let numbered = numbered.map(|(number, (recipe, good))| (has(recipe), (number, *good)));
        let (with, without): (Vec<_>, Vec<_>) = numbered.partition(|(has, _)| *has);
        let rows = |part: Vec<(bool, (usize, bool))>| -> Vec<(usize, bool)> {
            part.into_iter().map(|(_, row)| row).collect()
        };
        let (with, without) = (rows(with), rows(without));
        let all = |good| {
            let one = with.iter().all(|row| row.1 == good);
            one && without.iter().all(|row| row.1 != good)
        };
        let follows = match (all(true), all(false)) {
            (true, _) => "have",
            (_, true) => "leave out",
            _ => "no",
        };
        let word = feature.word();
        format!(
            "{word}: {}; without {}; {follows}.",
            fared(&with),
            fared(&without)
        )
    };
    Feature::ALL.iter().map(of).collect()
}

fn stance(good: bool) -> &'static str {
    if good { "well" } else { "badly" }
}

fn row(recipe: &Recipe, good: bool, draws: &mut Draws) -> Experience {
    let (many, few) = (draws.between(3, 9) as u32, draws.below(2) as u32);
    let cases = draws.between(1, 3) as u32;
    let (helpful, harmful, passed, fate) = match good {
        true => (many, few, cases, "active"),
        false => (few, many, 0, "disabled"),
    };
    let mut row = Experience::new(of_draft(&draft(recipe)), fate.to_owned());
    (row.helpful, row.harmful) = (helpful, harmful);
    row.other = draws.below(3) as u32;
    let is_tested = draws.chance(0.7);
    row.bundle = is_tested.then(|| BundleCounts::from((passed, cases)));
    row
}
