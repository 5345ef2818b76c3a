//! `library lift`: what each skill, and the library as a whole, changes.

use std::path::Path;

use journeyman::{
    Result,
    stations::proof::{
        Amount, Arm, Effect, Interval, Lift, LiftOf, LiftPolicy, LiftVerdict, Lifts,
    },
};
use serde_json::{Value, json};

use crate::{
    arguments::LiftArguments,
    library::read,
    output::{Answer, table},
};

/// Cells of a picture of an interval from -100 to +100 points.
const CELLS: usize = 21;

pub(crate) async fn lift(root: &Path, arguments: &LiftArguments) -> Result<Answer> {
    let library = read(root).await?.library;
    let LiftArguments {
        error,
        false_discoveries,
        most_steps,
        most_tokens,
    } = *arguments;
    let mut policy = LiftPolicy::default();
    policy.error = error;
    policy.false_discoveries = false_discoveries;
    policy.most_steps = most_steps;
    policy.most_tokens = most_tokens;
    let lifts = Lifts::of(&library, policy)?;
    let tasks = library.assignments().count();
    Ok(Answer {
        json: json!({
            "tasks": tasks,
            "error": error,
            "false_discoveries": false_discoveries,
            "lifts": lifts.lifts.iter().map(|lift| as_json(lift, error)).collect::<Vec<_>>(),
        }),
        text: as_text(&lifts, tasks),
        ..Answer::default()
    })
}

fn as_text(lifts: &Lifts, tasks: usize) -> String {
    if lifts.lifts.is_empty() {
        return "nothing was withheld yet, so that nobody can tell what a skill brings: learn with `set = { \"select.withhold\" = { share = 0.1 } }` in a \
                run file\n"
            .to_owned();
    }
    let error = lifts.policy.error;
    let rows: Vec<Vec<String>> = lifts.lifts.iter().map(|lift| row(lift, error)).collect();
    let titles = [
        "WHAT",
        "WITH",
        "WITHOUT",
        "POINTS",
        "-100    0    +100",
        "STEPS",
        "TOKENS",
        "VERDICT",
    ];
    let sure = 100.0 * (1.0 - error);
    let wrong = 100.0 * lifts.policy.false_discoveries;
    format!(
        "{}\nPOINTS: the share of tasks done with the skill, less the one without it, times 100, with its range. STEPS, TOKENS: with less without, \
         for a task.\n{tasks} tasks of which chance decided what their attempts were given. Ranges hold at every look with {sure:.0}%, each by itself; of \
         the verdicts at most {wrong:.0}% are wrong in the mean.\n",
        table(&titles, &rows)
    )
}

fn row(lift: &Lift, error: f64) -> Vec<String> {
    let mut what = match (&lift.of, &lift.name) {
        (LiftOf::Library, _) => "the library".to_owned(),
        (LiftOf::Skill(skill), Some(name)) => format!("{name}, version {}", skill.version),
        (LiftOf::Skill(skill), None) => format!("{skill} (gone)"),
    };
    if let Some(category) = &lift.category {
        what.push_str(&format!(", {category}"));
    }
    if let Some(model) = &lift.model {
        what.push_str(&format!(", {model}"));
    }
    let done = |arm: &Arm| match arm.mean() {
        Some(mean) => format!("{:.0}% of {}", mean * 100.0, arm.count),
        None => "none".to_owned(),
    };
    let success = &lift.success;
    let amount = |amount: &Amount| {
        amount
            .estimate()
            .map_or("-".to_owned(), |one| format!("{one:+.1}"))
    };
    vec![
        what,
        done(&success.given),
        done(&success.withheld),
        points(success, error).unwrap_or("not known".to_owned()),
        picture(success.estimate(), success.interval(error)),
        amount(&lift.steps),
        amount(&lift.tokens),
        verdict_on(lift),
    ]
}

/// The difference in points, with its range; `None` while it is not known.
pub(crate) fn points(success: &Effect, error: f64) -> Option<String> {
    let estimate = success.estimate()?;
    let Interval { low, high } = success.interval(error);
    let [estimate, low, high] = [estimate, low, high].map(in_points);
    Some(format!("{estimate} ({low} to {high})"))
}

/// A difference of shares in points, with its sign.
pub(crate) fn in_points(share: f64) -> String {
    format!("{:+.0}", share * 100.0)
}

/// A range as JSON.
pub(crate) fn range(Interval { low, high }: Interval) -> Value {
    json!([low, high])
}

pub(crate) fn verdict(verdict: Option<LiftVerdict>) -> String {
    match verdict {
        None => String::new(),
        Some(LiftVerdict::Helps) => "helps".to_owned(),
        Some(LiftVerdict::Harms) => "harms".to_owned(),
        Some(LiftVerdict::NotYet { more: Some(more) }) => {
            format!("not known yet (about {more} more)")
        }
        Some(_) => "not known yet".to_owned(),
    }
}

/// The verdict, and whether tasks take longer.
fn verdict_on(lift: &Lift) -> String {
    let longer = lift.longer.then(|| "takes longer".to_owned());
    let parts = [verdict(lift.verdict)].into_iter().chain(longer);
    let parts: Vec<String> = parts.filter(|one| !one.is_empty()).collect();
    parts.join(", ")
}

/// An interval of a difference in [-1, 1] on a line, with 0 in its middle.
fn picture(estimate: Option<f64>, Interval { low, high }: Interval) -> String {
    let cell = |value: f64| ((value + 1.0) / 2.0 * (CELLS - 1) as f64).round() as usize;
    let mut cells = ['.'; CELLS];
    cells[CELLS / 2] = '|';
    for one in &mut cells[cell(low)..=cell(high)] {
        *one = if *one == '|' { '+' } else { '=' };
    }
    if let Some(estimate) = estimate {
        cells[cell(estimate)] = 'o';
    }
    cells.iter().collect()
}

fn as_json(lift: &Lift, error: f64) -> Value {
    let arm = |arm: &Arm| json!({"tasks": arm.count, "mean": arm.mean()});
    let effect = |effect: &Effect| {
        json!({
            "given": arm(&effect.given),
            "withheld": arm(&effect.withheld),
            "difference": effect.estimate(),
            "interval": range(effect.interval(error)),
        })
    };
    let amount = |amount: &Amount| {
        json!({
            "difference": amount.estimate(),
            "interval": range(amount.interval(error)),
            "most": amount.most,
        })
    };
    let skill = match &lift.of {
        LiftOf::Skill(skill) => Some(skill),
        LiftOf::Library => None,
    };
    json!({
        "skill": skill,
        "name": lift.name,
        "model": lift.model,
        "category": lift.category,
        "success": effect(&lift.success),
        "score": effect(&lift.score),
        "steps": amount(&lift.steps),
        "tokens": amount(&lift.tokens),
        "verdict": lift.verdict,
        "longer": lift.longer,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_picture_shows_the_estimate_the_interval_and_zero() {
        let shown = |estimate, low, high| picture(estimate, Interval { low, high });
        assert_eq!(shown(None, -1.0, 1.0), "==========+==========");
        assert_eq!(shown(Some(0.5), 0.3, 0.8), "..........|..==o===..");
        assert_eq!(shown(Some(0.1), -0.2, 0.3), "........==+o==.......");
        assert_eq!(shown(Some(0.0), 0.0, 0.0), "..........o..........");
    }
}
