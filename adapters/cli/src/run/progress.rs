//! A run's progress on standard error, and why nothing came of it where nothing did.

use std::{
    cell::Cell,
    cmp::Reverse,
    collections::{BTreeMap, BTreeSet},
};

use futures::{
    StreamExt,
    future::{Either, select},
};
use journeyman::{
    Result, SkillId,
    domain::{Decision, Selection},
    run::{
        GateInForce, Journeyman, ThresholdBy,
        report::{Event, EventKind, RunReport, TaskReport},
    },
};

use super::trace::Trace;
use crate::{calibrated::Calibrated, progress::Progress};

/// How many reasons are listed.
const LISTED: usize = 3;

/// Prints a run's progress on standard error while it goes on.
pub(super) async fn follow(
    journeyman: &Journeyman,
    run: impl Future<Output = Result<RunReport>>,
    total: usize,
    (trace, gate): (&Trace, &GateSaid),
) -> Result<(RunReport, Reasons)> {
    trace.forget();
    let mut events = journeyman.events();
    let mut run = std::pin::pin!(run);
    let library = journeyman.library().await?;
    let named = library
        .entries()
        .map(|one| (one.skill.id.clone(), one.skill.name.to_string()));
    let mut shown = Shown {
        bar: Progress::counted("the first task", total),
        total,
        ended: 0,
        attempts: 0,
        names: named.collect(),
        reasons: Reasons::default(),
        gate,
    };
    let report = loop {
        match select(events.next(), run.as_mut()).await {
            Either::Left((Some(event), _)) => shown.event(trace, &event),
            Either::Left((None, _)) => {}
            Either::Right((report, _)) => break report,
        }
        if gate.is_due() {
            // The run goes on meanwhile: it may hold what the answer waits for.
            let asked = std::pin::pin!(journeyman.gate());
            match select(asked, run.as_mut()).await {
                Either::Left((asked, _)) => shown.gate(asked),
                Either::Right((report, asked)) => {
                    shown.gate(asked.await);
                    break report;
                }
            }
        }
    };
    while let Some(event) = events.try_next() {
        shown.event(trace, &event);
    }
    if gate.is_due() {
        shown.gate(journeyman.gate().await);
    }
    Ok((report?, shown.reasons))
}

/// What was said of the gate so far: each threshold is said once, in all parts of a run together.
#[derive(Debug, Default)]
pub(super) struct GateSaid {
    said: Cell<Said>,
    /// What the calibration that the run's file names says of its threshold.
    calibrated: Option<Calibrated>,
}

#[derive(Clone, Copy, Debug, Default)]
enum Said {
    #[default]
    Nothing,
    /// A decision was made by a threshold that nobody fitted in this session: it is to be said.
    Due,
    /// Such a threshold was said.
    Known,
    /// A fitted one.
    Fitted(f64),
}

impl GateSaid {
    /// Nothing yet, of a gate with this calibration or none.
    pub(super) fn with(calibrated: Option<Calibrated>) -> Self {
        Self {
            calibrated,
            ..Self::default()
        }
    }

    /// What is to be said at a decision by a threshold that the session fitted. Of any other one the session is asked.
    fn at(&self, selection: &Selection) -> Option<String> {
        match (&selection.fitted, self.said.get()) {
            (Some(fitted), Said::Fitted(known)) if known == fitted.threshold => None,
            (Some(fitted), _) => {
                self.said.set(Said::Fitted(fitted.threshold));
                Some(fitted.to_string())
            }
            (None, Said::Nothing) if selection.score.is_some() => {
                self.said.set(Said::Due);
                None
            }
            (None, _) => None,
        }
    }

    fn is_due(&self) -> bool {
        matches!(self.said.get(), Said::Due)
    }

    /// What the session says of its gate; a gate that is not known is among its findings.
    fn of_session(&self, gate: Result<Option<GateInForce>>) -> Option<String> {
        self.said.set(Said::Known);
        let gate = gate.ok().flatten()?;
        let is_by_it = gate.by == ThresholdBy::Calibration;
        Some(match self.calibrated.filter(|_| is_by_it) {
            Some(calibrated) => format!("{gate}; {calibrated}"),
            None => gate.to_string(),
        })
    }
}

/// Why skills were not written, and why none was given to the agent.
#[derive(Debug, Default)]
pub(super) struct Reasons {
    written: usize,
    not_written: Counts,
    /// Why drafts and other changes of skills were refused: the library has the skill already, for one.
    refused: Counts,
    /// Attempts with a skill in their prompts.
    given: usize,
    /// How often skills were chosen, for whole groups of attempts or for one.
    chosen: usize,
    not_given: Counts,
    /// Why answers of roles were of no use.
    roles: Counts,
}

impl Reasons {
    /// The reasons why no skill was written, where none was; else what was refused.
    pub(super) fn of_writing(&self) -> Option<String> {
        let (said, reasons) = match self.written {
            0 => ("No skill was written", &self.not_written),
            _ => ("Refused beside what was written", &self.refused),
        };
        (!reasons.is_empty()).then(|| format!("{said}: {}.", reasons.listed()))
    }

    /// The reasons why no skill was given to the agent, where none was.
    pub(super) fn none_given(&self) -> Option<String> {
        if self.given > 0 {
            return None;
        }
        if self.chosen > 0 {
            return Some(format!(
                "No skill was given to the agent: skills were chosen {} times, and none fitted into the prompt. Give them more \
                 room with `select.skill_tokens` in `set`.",
                self.chosen
            ));
        }
        let listed = self.not_given.listed();
        (!self.not_given.is_empty()).then(|| format!("No skill was given to the agent: {listed}."))
    }

    /// Why answers of roles were of no use, where some were not.
    pub(super) fn of_roles(&self) -> Option<String> {
        let listed = self.roles.listed();
        (!self.roles.is_empty()).then(|| format!("Why roles gave no answer: {listed}."))
    }

    fn note(&mut self, event: &EventKind) {
        if let EventKind::FellBack { role, reason, .. } | EventKind::RoleFailed { role, reason } =
            event
        {
            self.roles.note(format!("{role}: {reason}"));
        }
        match event {
            EventKind::Admitted { .. } => self.written += 1,
            EventKind::NotDue { reason, .. } => self.not_written.note(reason.clone()),
            EventKind::Refused { reason } => {
                self.not_written.note(reason.clone());
                self.refused.note(reason.clone());
            }
            EventKind::CallRefused { .. }
            | EventKind::RoleFailed { .. }
            | EventKind::TaskFailed { .. }
            | EventKind::OverBudget { .. }
            | EventKind::MaintenanceFailed { .. } => self.not_written.note(event.to_string()),
            EventKind::Selected { selection, .. } => match &selection.decision {
                Decision::Nothing(reason) => self.not_given.note(reason.to_string()),
                _ => self.chosen += 1,
            },
            EventKind::Attempted { report, .. } => {
                self.given += usize::from(!report.injected.is_empty());
            }
            _ => {}
        }
    }
}

/// How often each reason was said. Those that differ in their numbers alone are one.
#[derive(Debug, Default)]
struct Counts(BTreeMap<String, Counted>);

/// A reason as it was first said.
#[derive(Debug)]
struct Counted {
    first: String,
    count: usize,
    /// Whether it was also said with other numbers.
    varies: bool,
}

impl Counts {
    fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    fn note(&mut self, reason: String) {
        let said = self.0.entry(without_numbers(&reason));
        let said = said.or_insert_with(|| Counted {
            first: reason.clone(),
            count: 0,
            varies: false,
        });
        said.count += 1;
        said.varies |= said.first != reason;
    }

    /// The reasons that were said most often.
    fn listed(&self) -> String {
        let mut said: Vec<&Counted> = self.0.values().collect();
        said.sort_by_key(|one| Reverse(one.count));
        let shown = said.iter().take(LISTED).map(|one| {
            let times = match one.count {
                1 => "once".to_owned(),
                count => format!("{count} times"),
            };
            let varies = if one.varies {
                ", with these or other numbers"
            } else {
                ""
            };
            format!("{} ({times}{varies})", one.first)
        });
        let mut listed: Vec<String> = shown.collect();
        if said.len() > LISTED {
            listed.push(format!("and {} more reasons", said.len() - LISTED));
        }
        listed.join("; ")
    }
}

/// A text with a mark in the place of each number. Digits of a name, such as those of `brew-2`, are no number.
fn without_numbers(text: &str) -> String {
    let words = text.split_inclusive(|c: char| c.is_whitespace() || "(),:;".contains(c));
    let words = words.map(|word| {
        let number = word.trim_end_matches(|c: char| !c.is_ascii_digit());
        match number.parse::<f64>() {
            Ok(_) => format!("#{}", &word[number.len()..]),
            Err(_) => word.to_owned(),
        }
    });
    words.collect()
}

/// What was seen of a run.
#[derive(Debug)]
struct Shown<'a> {
    bar: Progress,
    total: usize,
    ended: usize,
    /// Attempts at the present task.
    attempts: usize,
    /// The names of the skills that are known.
    names: BTreeMap<SkillId, String>,
    reasons: Reasons,
    gate: &'a GateSaid,
}

impl Shown<'_> {
    fn event(&mut self, trace: &Trace, event: &Event) {
        trace.event(event);
        self.show(event);
    }

    fn gate(&self, gate: Result<Option<GateInForce>>) {
        self.note_gate(self.gate.of_session(gate));
    }

    fn note_gate(&self, said: Option<String>) {
        if let Some(said) = said {
            self.bar.note(&format!("  gate: {said}"));
        }
    }

    fn show(&mut self, event: &Event) {
        self.reasons.note(&event.kind);
        match &event.kind {
            EventKind::Admitted { skill, revised, .. } => {
                let how = if *revised { "revised" } else { "learned" };
                self.bar
                    .note(&format!("    {how} {}: {}", skill.name, skill.description));
                self.names.insert(skill.id.clone(), skill.name.to_string());
            }
            EventKind::Proven { .. }
            | EventKind::LiftChanged { .. }
            | EventKind::ScoresDrifted { .. } => {
                self.bar.note(&format!("    {}", event.kind));
            }
            EventKind::Selected { selection, .. } => {
                self.note_gate(self.gate.at(selection));
            }
            EventKind::TaskFinished { report, .. } => {
                self.ended += 1;
                let line = self.line(report);
                self.bar
                    .note(&format!("  [{}/{}] {line}", self.ended, self.total));
                self.bar.advance();
                self.attempts = 0;
                self.bar.step("the next task");
            }
            EventKind::Attempted { .. } => {
                self.attempts += 1;
                self.bar.step(&match self.attempts {
                    1 => "one attempt at this task is made".to_owned(),
                    made => format!("{made} attempts at this task are made"),
                });
            }
            _ => {}
        }
    }

    fn line(&self, report: &TaskReport) -> String {
        let all = report.attempts.len();
        let done = report
            .attempts
            .iter()
            .filter(|one| one.success == Some(true));
        let mut line = format!("{}: done {} of {all}", report.task, done.count());
        let injected = report.attempts.iter().flat_map(|one| &one.injected);
        let skills: BTreeSet<&SkillId> = injected.map(|skill| &skill.id).collect();
        if !skills.is_empty() {
            let name = |id: &SkillId| self.names.get(id).cloned().unwrap_or(id.to_string());
            let names: Vec<String> = skills.into_iter().map(name).collect();
            line.push_str(&format!(", with {}", names.join(", ")));
        }
        let fault = report.attempts.iter().find_map(|one| one.error.as_ref());
        if let Some(fault) = fault.or(report.failed.as_ref()) {
            line.push_str(&format!("; fault: {}", fault.message()));
        }
        line
    }
}

#[cfg(test)]
mod tests {
    use journeyman::testing::Edited as _;
    use journeyman::{
        Error, ModelId,
        domain::{FittedThreshold, NothingReason, ScoreKind},
        stations::select::{GateRates, HarmBound, OutcomeFit, OutcomeRates, Share},
    };

    use super::*;

    fn listed(reasons: &[&str]) -> String {
        let mut counts = Counts::default();
        reasons
            .iter()
            .for_each(|one| counts.note((*one).to_owned()));
        counts.listed()
    }

    #[test]
    fn refusals_are_told_where_skills_were_written_too() {
        let mut reasons = Reasons::default();
        assert_eq!(reasons.of_writing(), None);
        let not_due = EventKind::NotDue {
            reason: "all went well".to_owned(),
            above: false,
            flawless: false,
        };
        reasons.note(&not_due);
        let known = "the library has this skill already: `brew`, active";
        let refused = EventKind::Refused {
            reason: known.to_owned(),
        };
        reasons.note(&refused);
        reasons.note(&refused);
        let none = format!("No skill was written: {known} (2 times); all went well (once).");
        assert_eq!(reasons.of_writing(), Some(none));
        reasons.written = 1;
        let some = format!("Refused beside what was written: {known} (2 times).");
        assert_eq!(reasons.of_writing(), Some(some));
    }

    /// A decision by scores.
    fn scored(fitted: Option<f64>) -> Selection {
        let fitted = fitted.map(|threshold| {
            FittedThreshold::new(ScoreKind::CardPmi, threshold, "m").edited(|it| {
                it.most_wrong = 0.02;
                it.tasks = 24;
            })
        });
        let mut selection = Selection::nothing(NothingReason::NoCandidates);
        selection.score = Some(ScoreKind::CardPmi);
        selection.fitted = fitted;
        selection
    }

    #[test]
    fn a_fitted_gate_is_said_once_and_again_where_it_is_fitted_again() {
        let said = GateSaid::default();
        assert_eq!(said.at(&Selection::nothing(NothingReason::WarmUp)), None);
        for (threshold, expect) in [(8.5, true), (8.5, false), (9.5, true), (9.5, false)] {
            let line = said.at(&scored(Some(threshold)));
            assert_eq!(line.is_some(), expect, "{line:?}");
            let value = format!("above {threshold:.2} nats");
            assert!(line.is_none_or(|line| line.contains(&value)));
            assert!(!said.is_due());
        }
    }

    fn in_force(by: ThresholdBy) -> GateInForce {
        GateInForce::new(ScoreKind::Pmi, by).edited(|it| {
            it.model = Some(ModelId::new("m"));
            it.threshold = Some(5.0);
        })
    }

    fn share(count: u32, of: u32, low: f64, high: f64) -> Share {
        Share {
            count,
            of,
            low,
            high,
        }
    }

    #[test]
    fn a_calibration_by_outcomes_says_its_bound_and_what_it_does() {
        let rates = OutcomeRates::new(share(1, 60, 0.003, 0.089), share(30, 60, 0.377, 0.623));
        let outcomes = OutcomeFit::new(HarmBound::default(), rates, rates);
        let said = GateSaid::with(Some(Calibrated::Outcomes(outcomes)));
        let line = said.of_session(Ok(Some(in_force(ThresholdBy::Calibration))));
        let line = line.unwrap();
        for part in [
            "; by outcomes at most 5.0% of the tasks go worse",
            "held out, of 60 tasks an injection harms 1.7% (0.3 to 8.9)",
        ] {
            assert!(line.contains(part), "{line}");
        }
    }

    #[test]
    fn a_calibration_in_force_says_what_it_does_on_held_out_tasks() {
        // Without labels nothing is known to be right.
        let rates = GateRates::new(share(0, 0, 0.0, 1.0), share(1, 24, 0.007, 0.202));
        let rates_said = "; on held-out tasks a skill that was not written from the task is injected at 4.2% (0.7 to 20.2) of 24 tasks";
        let other = ThresholdBy::OtherModel(Error::invalid("test", "fitted for n"));
        for (by, expect) in [
            (ThresholdBy::Calibration, true),
            (ThresholdBy::Recipe, false),
            (other, false),
        ] {
            let said = GateSaid::with(Some(Calibrated::HeldOut(rates)));
            let line = said.of_session(Ok(Some(in_force(by)))).unwrap();
            assert_eq!(line.ends_with(rates_said), expect, "{line}");
        }
    }

    #[test]
    fn a_gate_of_the_recipe_or_of_a_calibration_is_said_once() {
        for (by, from) in [
            (ThresholdBy::Recipe, "as the recipe says"),
            (ThresholdBy::Calibration, "calibrated for it"),
        ] {
            let said = GateSaid::default();
            // Nothing was scored yet, as with an empty library.
            assert_eq!(
                said.at(&Selection::nothing(NothingReason::NoCandidates)),
                None
            );
            assert!(!said.is_due());
            assert_eq!(said.at(&scored(None)), None);
            assert!(said.is_due());
            let line = said.of_session(Ok(Some(in_force(by))));
            let expect = format!("pmi above 5.00 nats with m, {from}");
            assert_eq!(line, Some(expect));
            assert_eq!(said.at(&scored(None)), None);
            assert!(!said.is_due());
        }
    }

    #[test]
    fn reasons_that_differ_in_their_numbers_are_one() {
        let nats =
            ["0.123", "-1.5", "1e-5", "4"].map(|n| format!("the score, {n} nats, is not above 5"));
        let mut reasons: Vec<&str> = nats.iter().map(String::as_str).collect();
        reasons.push("no candidate was found");
        assert_eq!(
            listed(&reasons),
            "the score, 0.123 nats, is not above 5 (4 times, with these or other numbers); no candidate was found (once)"
        );
    }

    #[test]
    fn reasons_about_other_names_are_others_and_those_that_are_not_listed_are_counted() {
        let names = ["brew", "brew-2", "brew-12", "t1", "t2"];
        let reasons = names.map(|name| format!("{name} is taken"));
        let reasons: Vec<&str> = reasons.iter().map(String::as_str).collect();
        let listed = listed(&reasons);
        assert_eq!(listed.matches("(once)").count(), 3, "{listed}");
        assert!(listed.ends_with("; and 2 more reasons"), "{listed}");
    }
}
