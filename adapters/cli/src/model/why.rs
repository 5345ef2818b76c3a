//! `skill why`: what retrieval finds for a task, how the model's gate scores it, and what is decided.

use std::{path::Path, sync::Arc};

use futures::StreamExt;
use journeyman::{
    Error, ErrorKind, Result, Seed,
    agent::FrozenStore,
    domain::{Candidate, FoundWeight, ScoreKind, Selection, SkillRef, Task},
    library::SkillLibrary,
    recipe,
    run::{Events, GateInForce, Journeyman, Options, ThresholdBy, report::EventKind},
};
use serde::Serialize;
use serde_json::json;

use super::{arguments::Why, load::Model};
use crate::{
    calibrated::{self, Calibrated, drift_check},
    library::read,
    output::{Answer, NATS, table},
    progress::Progress,
    stemming::retriever,
};

const WHY: &str = "skill why";

pub(crate) async fn why(root: &Path, command: &Why) -> Result<Answer> {
    let opened = read(root).await?;
    let snapshot = opened.store.load().await?;
    // Nothing is committed; scores are kept beside the library, so that the next question is answered faster.
    let store = FrozenStore::new(snapshot).with_scores_of(opened.store);
    let retriever = retriever(None)?;
    opened.library.refresh(&retriever).await?;
    let (mut recipe, mut calibrated) = (recipe::standard(), None);
    if let Some(file) = &command.calibration {
        let calibration = calibrated::read(WHY, file)?;
        recipe.calibrate(&calibration)?;
        calibrated = Some(Calibrated::of(&calibration));
    }
    let drift = recipe.gate().as_ref().and_then(drift_check);
    let model = Model::load(&command.load)?;
    recipe.limits.score = model.time_limit;
    let components = model
        .own_loop()
        .with_store(Arc::new(store))
        .with_retriever(Arc::new(retriever));
    let journeyman = Journeyman::open(components, recipe, Options::new("why", Seed(1))).await?;
    let progress = Progress::of("scoring; the first time with a model takes longer");
    let gate = journeyman.gate().await;
    let events = journeyman.events();
    let attempt = journeyman.begin(Task::new("why", &*command.task)).await?;
    drop(attempt);
    drop(journeyman);
    drop(progress);
    let (found, selection) = decided(events).await?;
    let weight = gate.as_ref().ok().and_then(Option::as_ref);
    let weight = weight.and_then(|gate| gate.found);
    let scores = scores((&found, &selection), weight, &command.task);
    let explained = Explained {
        library: &opened.library,
        found: &found,
        scores: &scores,
        selection: &selection,
        gate: gate.as_ref().map(Option::as_ref),
        calibrated,
    };
    let mut text = explained.text();
    if let Some(drift) = explained.calibrated().and(drift) {
        text.push_str(&format!("drift: {drift}\n"));
    }
    Ok(Answer {
        text,
        json: json!({
            "task": command.task,
            "gate": explained.gate(),
            "threshold": selection.fitted,
            "held_out": explained.calibrated().and_then(Calibrated::held_out),
            "outcomes": explained.calibrated().and_then(Calibrated::outcomes),
            "retrieved": found,
            "scores": scores,
            "selection": selection,
            "decision": selection.to_string(),
        }),
        ..Answer::default()
    })
}

/// What was found for the task, and what was decided.
async fn decided(mut events: Events) -> Result<(Vec<Candidate>, Selection)> {
    let mut found = Vec::new();
    while let Some(event) = events.next().await {
        match event.kind {
            EventKind::Retrieved { candidates } => found = candidates,
            EventKind::Selected { selection, .. } => return Ok((found, selection)),
            _ => {}
        }
    }
    Err(Error::new(ErrorKind::Internal, WHY, "nothing was decided")
        .hint("this is a fault of the command: please report it"))
}

/// The score of a skill in its parts.
#[derive(Debug, PartialEq, Serialize)]
struct Score {
    skill: SkillRef,
    /// The model's.
    model: f64,
    /// What the search's score counts beside it, nats; `None` where the model's decides alone.
    search: Option<f64>,
    /// Both together: what is compared with the threshold.
    value: f64,
}

/// The scores of the skills that the model was asked about.
fn scores(
    (found, selection): (&[Candidate], &Selection),
    weight: Option<FoundWeight>,
    task: &str,
) -> Vec<Score> {
    let score = |skill: &SkillRef, value: f64| {
        let found = found.iter().find(|one| one.skill == *skill);
        let search = weight.zip(found);
        let search = search.map(|(weight, found)| weight.counts(found.score, task));
        Score {
            skill: skill.clone(),
            model: value - search.unwrap_or_default(),
            search,
            value,
        }
    };
    let scored = selection.candidates.iter();
    scored.map(|one| score(&one.skill, one.value)).collect()
}

/// A decision, with all that it was made by.
struct Explained<'a> {
    library: &'a SkillLibrary,
    /// What the search found, the best first.
    found: &'a [Candidate],
    scores: &'a [Score],
    selection: &'a Selection,
    /// `None` for a recipe without one; the error where a threshold could not be fitted.
    gate: std::result::Result<Option<&'a GateInForce>, &'a Error>,
    /// What the calibration that was named says of its threshold.
    calibrated: Option<Calibrated>,
}

impl Explained<'_> {
    /// The gate, in words.
    fn gate(&self) -> String {
        match self.gate {
            Ok(Some(gate)) => gate.to_string(),
            Ok(None) => String::new(),
            Err(error) => format!("not known: {}", error.message()),
        }
    }

    /// What is known of the threshold, where it is the calibration's.
    fn calibrated(&self) -> Option<Calibrated> {
        let gate = self.gate.ok().flatten();
        let is_by_it = gate.is_some_and(|gate| gate.by == ThresholdBy::Calibration);
        self.calibrated.filter(|_| is_by_it)
    }

    fn text(&self) -> String {
        let score = self.score_name();
        let mut columns = vec!["SKILL", "BM25", &score];
        if self.has_search() {
            columns.extend(["SEARCH", "TOTAL"]);
        }
        columns.push("");
        let mut text = table(&columns, &self.rows());
        text.push_str(&format!(
            "BM25: how well a search for the task's words finds the skill. {score}: the model's score, {}; empty where the model was \
             not asked.",
            match self.gate {
                Ok(Some(gate)) if gate.score == ScoreKind::Mean => "nats a token",
                _ => "nats",
            }
        ));
        if self.has_search() {
            text.push_str(" SEARCH: what the search's score counts beside it, nats. TOTAL: both.");
        }
        text.push_str(&format!(" {NATS}"));
        text.push_str(&format!("\ngate: {}\n", self.gate()));
        if let Ok(Some(gate)) = self.gate {
            text.push_str(&format!("threshold: {}\n", threshold(gate)));
            let line = self.calibrated().map(|calibrated| match calibrated {
                Calibrated::HeldOut(rates) => format!("held out: {rates}\n"),
                Calibrated::Outcomes(outcomes) => format!("outcomes: {outcomes}\n"),
            });
            text.push_str(&line.unwrap_or_default());
            let zero = zero(gate.score).map(|zero| format!("zero: {zero}\n"));
            text.push_str(&zero.unwrap_or_default());
        }
        text.push_str(&format!("decision: {}\n", self.selection));
        text
    }

    /// A row for each skill that was found: those that were scored first, the best first.
    fn rows(&self) -> Vec<Vec<String>> {
        let scored = |one: &Candidate| self.scores.iter().find(|score| score.skill == one.skill);
        let mut found: Vec<(&Candidate, Option<&Score>)> =
            self.found.iter().map(|one| (one, scored(one))).collect();
        let value = |score: Option<&Score>| score.map_or(f64::NEG_INFINITY, |one| one.value);
        found.sort_by(|one, other| value(other.1).total_cmp(&value(one.1)));
        let row = |(one, score): (&Candidate, Option<&Score>)| {
            let entry = self.library.get(&one.skill.id);
            let number = |number: Option<f64>| number.map_or_else(String::new, two_digits);
            let mut row = vec![
                entry.map_or_else(
                    || one.skill.to_string(),
                    |entry| entry.skill.name.to_string(),
                ),
                two_digits(one.score),
                number(score.map(|score| score.model)),
            ];
            if self.has_search() {
                row.push(number(score.and_then(|score| score.search)));
                row.push(number(score.map(|score| score.value)));
            }
            let is_chosen = self.selection.skills().contains(&one.skill);
            row.push(if is_chosen { "injected" } else { "" }.to_owned());
            row
        };
        found.into_iter().map(row).collect()
    }

    /// Whether the search's score counts beside the model's.
    fn has_search(&self) -> bool {
        self.scores.iter().any(|score| score.search.is_some())
    }

    /// The model's score, as a column's name.
    fn score_name(&self) -> String {
        match (self.selection.score, self.gate) {
            (Some(score), _) => column(score),
            (None, Ok(Some(gate))) => column(gate.score),
            _ => "SCORE".to_owned(),
        }
    }
}

fn two_digits(number: f64) -> String {
    format!("{number:.2}")
}

fn column(score: ScoreKind) -> String {
    match score {
        ScoreKind::Pmi | ScoreKind::CardPmi => "PMI".to_owned(),
        other => other.name().to_uppercase(),
    }
}

/// The value to exceed, and where it comes from.
fn threshold(gate: &GateInForce) -> String {
    let Some(threshold) = gate.threshold else {
        return "none: the candidates are compared with each other".to_owned();
    };
    let from = match &gate.by {
        ThresholdBy::Fitted(fitted) => format!(
            "fitted to this model by the session, without labels, by {} tasks that no skill is for",
            fitted.tasks
        ),
        ThresholdBy::Calibration => "from a calibration for this model".to_owned(),
        ThresholdBy::OtherModel(error) => format!(
            "from a calibration that does not hold here: {}",
            error.message()
        ),
        _ => "as the recipe says".to_owned(),
    };
    format!("{threshold:.2} nats, {from}")
}

/// The zero of a score, where it has one. It is the same for all skills.
fn zero(score: ScoreKind) -> Option<&'static str> {
    match score {
        ScoreKind::Pmi | ScoreKind::CardPmi => Some(
            "0 nats of PMI for each skill: the model holds it for as likely with the task as without it",
        ),
        ScoreKind::Fits => Some(
            "0 nats for each skill: the model holds it for as likely that it fits as that it does not",
        ),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use journeyman::testing::Edited as _;
    use journeyman::{
        ModelId, Version,
        domain::{Decision, FittedThreshold, NothingReason, Scored},
        stations::select::{GateRates, HarmBound, OutcomeFit, OutcomeRates, Share},
    };

    use super::*;

    const TASK: &str = "brew coffee";
    /// Two different words: a score is divided by 2.
    const WEIGHT: FoundWeight = FoundWeight::new(3.0, 1.0, 9.0);

    fn skill(id: &str) -> SkillRef {
        SkillRef {
            id: id.into(),
            version: Version(1),
        }
    }

    fn candidate(id: &str, score: f64) -> Candidate {
        Candidate::new(skill(id), score)
    }

    fn gate(found: Option<FoundWeight>, by: ThresholdBy) -> GateInForce {
        GateInForce::new(ScoreKind::CardPmi, by).edited(|it| {
            it.model = Some(ModelId::new("m"));
            it.threshold = Some(5.25);
            it.found = found;
        })
    }

    fn fitted() -> FittedThreshold {
        FittedThreshold::new(ScoreKind::CardPmi, 5.25, "m").edited(|it| {
            it.found = Some(WEIGHT);
            it.most_wrong = 0.02;
            it.tasks = 24;
        })
    }

    /// A decision about the first of two skills, and what is said of it.
    fn said(gate: &GateInForce) -> (Vec<Score>, String) {
        let found = [candidate("brew", 4.0), candidate("grind", 1.0)];
        let inject = Decision::Inject {
            skills: vec![skill("brew")],
            explored: false,
        };
        let mut selection = Selection::unscored(inject);
        selection.score = Some(gate.score);
        selection.candidates = vec![Scored::new(skill("brew"), 10.0, 1.0)];
        let scores = scores((&found, &selection), gate.found, TASK);
        let text = Explained {
            library: &SkillLibrary::new(),
            found: &found,
            scores: &scores,
            selection: &selection,
            gate: Ok(Some(gate)),
            calibrated: None,
        }
        .text();
        (scores, text)
    }

    /// The words of the line that begins so.
    fn line<'a>(text: &'a str, start: &str) -> Vec<&'a str> {
        let line = text.lines().find(|line| line.starts_with(start));
        line.unwrap_or_default().split_whitespace().collect()
    }

    #[test]
    fn each_part_of_a_score_and_the_threshold_are_said() {
        for (by, from) in [
            (ThresholdBy::Fitted(fitted()), "by 24 tasks"),
            // Nothing is fitted then, and the search counts by the calibration.
            (
                ThresholdBy::Calibration,
                "from a calibration for this model",
            ),
            (
                ThresholdBy::OtherModel(Error::invalid("test", "fitted for n")),
                "from a calibration that does not hold here: fitted for n",
            ),
        ] {
            let (scores, text) = said(&gate(Some(WEIGHT), by));
            let expect = Score {
                skill: skill("brew"),
                model: 4.0,
                search: Some(6.0),
                value: 10.0,
            };
            assert_eq!(scores, [expect]);
            assert_eq!(
                line(&text, "SKILL"),
                ["SKILL", "BM25", "PMI", "SEARCH", "TOTAL"]
            );
            let row = line(&text, &skill("brew").to_string());
            assert_eq!(row[1..], ["4.00", "4.00", "6.00", "10.00", "injected"]);
            let row = line(&text, &skill("grind").to_string());
            assert_eq!(row[1..], ["1.00"]);
            let threshold = line(&text, "threshold: ").join(" ");
            assert!(threshold.starts_with("threshold: 5.25 nats"), "{text}");
            assert!(threshold.contains(from), "{text}");
            assert!(text.contains("\nzero: 0 nats of PMI"), "{text}");
        }
    }

    #[test]
    fn a_score_of_the_model_alone_has_one_part() {
        let (scores, text) = said(&gate(None, ThresholdBy::Recipe));
        assert_eq!((scores[0].model, scores[0].search), (10.0, None));
        assert_eq!(line(&text, "SKILL"), ["SKILL", "BM25", "PMI"]);
        let row = line(&text, &skill("brew").to_string());
        assert_eq!(row[1..], ["4.00", "10.00", "injected"]);
        assert!(text.contains("as the recipe says\nzero: "), "{text}");

        let mut mean = gate(None, ThresholdBy::Recipe).edited(|it| it.score = ScoreKind::Mean);
        mean.threshold = None;
        let (_, text) = said(&mean);
        assert!(text.contains("\nthreshold: none: "), "{text}");
        assert!(text.contains("nats a token"), "{text}");
        assert!(!text.contains("\nzero: "), "{text}");
    }

    #[test]
    fn a_calibration_in_force_says_what_it_does_on_held_out_tasks() {
        let share = |count, low, high| Share {
            count,
            of: 20,
            low,
            high,
        };
        let rates = GateRates::new(share(18, 0.699, 0.972), share(1, 0.009, 0.236));
        let other = ThresholdBy::OtherModel(Error::invalid("test", "fitted for n"));
        for (by, expect) in [(ThresholdBy::Calibration, true), (other, false)] {
            let text = Explained {
                library: &SkillLibrary::new(),
                found: &[],
                scores: &[],
                selection: &Selection::nothing(NothingReason::NoCandidates),
                gate: Ok(Some(&gate(None, by))),
                calibrated: Some(Calibrated::HeldOut(rates)),
            }
            .text();
            let line = "\nheld out: a right skill is injected at 90.0% (69.9 to 97.2) of 20 tasks, and a wrong skill is injected at 5.0% (0.9 to 23.6) of 20 ";
            assert_eq!(text.contains(line), expect, "{text}");
        }
    }

    #[test]
    fn a_calibration_by_outcomes_says_its_bound() {
        let none = Share {
            count: 0,
            of: 0,
            low: 0.0,
            high: 1.0,
        };
        let rates = OutcomeRates::new(none, none);
        let outcomes = OutcomeFit::new(HarmBound::default(), rates, rates);
        let text = Explained {
            library: &SkillLibrary::new(),
            found: &[],
            scores: &[],
            selection: &Selection::nothing(NothingReason::NoCandidates),
            gate: Ok(Some(&gate(None, ThresholdBy::Calibration))),
            calibrated: Some(Calibrated::Outcomes(outcomes)),
        }
        .text();
        let line = "\noutcomes: at most 5.0% of the tasks go worse for an injection";
        assert!(text.contains(line) && !text.contains("held out:"), "{text}");
    }

    #[test]
    fn a_gate_that_could_not_be_fitted_says_why() {
        let error = Error::invalid("test", "too slow");
        let reason = NothingReason::Uncalibrated("too slow".to_owned());
        let text = Explained {
            library: &SkillLibrary::new(),
            found: &[candidate("brew", 4.0)],
            scores: &[],
            selection: &Selection::nothing(reason),
            gate: Err(&error),
            calibrated: None,
        }
        .text();
        assert!(text.contains("\ngate: not known: "), "{text}");
        assert!(text.contains("\ndecision: inject nothing"), "{text}");
        assert!(!text.contains("threshold: 5"), "{text}");
    }
}
