//! Findings that show only over several attempts: a model that cannot do its job, a recipe that never writes, a skill that is never
//! credited, scores that drift.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use crate::{
    contract::Components,
    domain::{EndReason, NothingReason, Role, ScoreKind, Selection, SkillName},
    id::{Seed, SkillId, TaskId},
    run::{
        host::checks::FIT,
        report::{Event, EventKind, Finding, FindingKind, Observed, RoleCounts},
    },
    stations::select::{GatePolicy, ScoreDrift, SelectorGate, check_fitted_for},
};

/// Number of attempts, or of a role's calls, after which a model is judged by how much of what it wrote could be read.
const FEW: u64 = 4;

/// Number of tasks in a row from which nothing was written because the agent does too well, or has nothing to learn.
const MANY: u64 = 12;

/// Number of attempts with a skill after which one of them should have credited it.
const OFTEN: u64 = 20;

/// The probability that a session ever says in vain that scores have drifted, where these are drawn as those of the fit were: in evaluations
/// of tasks that no skill was made with. In learning there are further candidates, such as skills on trial and those of the task.
const FALSE_ALARM: f64 = 0.01;

/// Number of tasks that a session remembers to have seen, the latest: another decision about one of them says nothing new.
const REMEMBERED: usize = 4_096;

const ABOVE: &str = "above the recipe's bound";
const FLAWLESS: &str = "nothing to learn";
const AGENT: &str = "the agent";

const CANNOT: &str = "hold the model to the form of an answer (the feature `llguidance` of `journeyman-llama-cpp`, on unless it was \
    switched off), give it the format that it was trained on (docs/reference/prompts.md), give its answers more tokens if it thinks \
    (`ChatFormat::max_tokens`), or take a larger model";

/// What the events of a session showed so far.
#[derive(Debug, Default)]
pub(crate) struct Watch {
    attempts: u64,
    unread: u64,
    roles: BTreeMap<Role, RoleCounts>,
    /// What each role's model wrote last, where it could not be read.
    wrote: BTreeMap<Role, String>,
    /// Number of tasks in a row at which the agent did too well for a skill to be written.
    above: u64,
    /// Of these the latest in a row that left nothing to learn.
    flawless: u64,
    /// Whether an attempt of the session had a skill.
    skilled: bool,
    /// Whether the session has to fit the gate's threshold.
    fits: bool,
    skills: BTreeMap<SkillId, Given>,
    /// `None` without a calibration that holds here and keeps scores.
    drift: Option<DriftWatch>,
}

/// What learning showed of a skill so far.
#[derive(Debug, Default)]
struct Given {
    /// Its name when it was chosen last.
    name: Option<SkillName>,
    /// Number of attempts that had it.
    attempts: u64,
    /// Whether one of them credited it, or a role judged what it did to one.
    credited: bool,
}

impl Watch {
    /// Nothing yet, in a session with this gate and these parts.
    pub(crate) fn of(gate: Option<SelectorGate<'_>>, components: &Components, seed: Seed) -> Self {
        let fits = gate.is_some_and(|gate| gate.policy.to_fit().is_some());
        let calibrated = gate.map(|gate| gate.policy).filter(|gate| {
            let fitted = gate.fitted_for.as_ref();
            fitted.is_some_and(|fitted| check_fitted_for(fitted, components).is_ok())
        });
        Self {
            fits,
            drift: calibrated.and_then(|gate| DriftWatch::of(gate, seed)),
            ..Self::default()
        }
    }

    /// Whether the scores of decisions are compared with those of the fit.
    pub(crate) fn watches_drift(&self) -> bool {
        self.drift.is_some()
    }

    /// Takes the score of a task's first decision. Gives the alarm, once.
    pub(crate) fn drifts(&mut self, event: &Event) -> Option<EventKind> {
        let EventKind::Selected { selection, .. } = &event.kind else {
            return None;
        };
        let watch = self.drift.as_mut()?;
        // Those of other attempts at a task, and at its later turns, are alike.
        if watch.drift.is_raised() || !watch.is_new(event.task.as_ref()?) {
            return None;
        }
        let best = selection.best()?;
        if selection.score != Some(watch.score) || !watch.drift.add(best.value) {
            return None;
        }
        Some(EventKind::ScoresDrifted {
            decisions: watch.drift.added(),
            evidence: watch.drift.evidence(),
        })
    }

    /// Counts an event, and notes or forgets the findings that follow.
    pub(crate) fn see(&mut self, event: &EventKind, observed: &Observed) {
        match event {
            EventKind::Attempted { report, .. } if report.end.is_some() => {
                self.attempts += 1;
                self.unread += u64::from(report.end == Some(EndReason::Unreadable));
                let wrote = report.unread.as_deref();
                self.judge(observed, AGENT, (self.attempts, self.unread), wrote);
            }
            EventKind::FellBack { role, wrote, .. } => {
                self.wrote.insert(*role, wrote.clone());
            }
            EventKind::RoleFailed { role, reason } => {
                self.wrote.insert(*role, reason.clone());
            }
            EventKind::Selected { selection, .. } if self.fits => see_fit(selection, observed),
            EventKind::NotDue {
                above: true,
                flawless,
                ..
            } => self.not_due(*flawless, observed),
            EventKind::NotDue { above: false, .. } => (self.above, self.flawless) = (0, 0),
            EventKind::Admitted { .. } | EventKind::Refused { .. } => {
                (self.above, self.flawless) = (0, 0);
                observed.forget(FindingKind::NeverWrites, ABOVE);
                observed.forget(FindingKind::NeverWrites, FLAWLESS);
            }
            EventKind::TaskFinished { report } => {
                if report.attempts.iter().any(|one| !one.injected.is_empty()) {
                    self.skilled = true;
                    observed.forget(FindingKind::NeverWrites, FLAWLESS);
                }
                for (role, counts) in report.roles.iter() {
                    let all = self.roles.entry(role).or_default();
                    all.asked += counts.asked - counts.failed.min(counts.asked);
                    all.unreadable += counts.unreadable;
                    let so_far = (all.asked, all.unreadable);
                    let wrote = self.wrote.get(&role).map(String::as_str);
                    self.judge(observed, role.name(), so_far, wrote);
                }
            }
            _ => {}
        }
    }

    /// Counts an event of a learning run, and notes or forgets which skills no attempt credits.
    pub(crate) fn learned(&mut self, event: &EventKind, observed: &Observed) {
        match event {
            EventKind::Selected {
                selection, names, ..
            } => {
                for (skill, name) in selection.skills().iter().zip(names) {
                    let given = self.skills.entry(skill.id.clone()).or_default();
                    given.name = Some(name.clone());
                }
            }
            EventKind::Credited { skill, .. } | EventKind::Attributed { skill, .. } => {
                let given = self.skills.entry(skill.id.clone()).or_default();
                given.credited = true;
                observed.forget(FindingKind::NeverCredited, skill.id.as_str());
            }
            EventKind::StateChanged { skill, state, .. } if !state.is_offered() => {
                observed.forget(FindingKind::NeverCredited, skill.as_str());
            }
            EventKind::TaskFinished { report } => {
                let injected = report.attempts.iter().flat_map(|one| &one.injected);
                for skill in injected {
                    let given = self.skills.entry(skill.id.clone()).or_default();
                    given.attempts += 1;
                    if given.attempts >= OFTEN && !given.credited {
                        observed.note(never_credited(&skill.id, given));
                    }
                }
            }
            _ => {}
        }
    }

    /// Counts a task from which nothing was written because the agent does too well, and notes what many of them in a row say.
    fn not_due(&mut self, flawless: bool, observed: &Observed) {
        self.above += 1;
        self.flawless = if flawless { self.flawless + 1 } else { 0 };
        if self.flawless >= MANY {
            observed.forget(FindingKind::NeverWrites, ABOVE);
            // An agent that was given a skill has learned; one that never was may lack what it could learn from.
            if !self.skilled {
                observed.note(nothing_to_learn(self.flawless));
            }
        } else if self.above >= MANY {
            observed.forget(FindingKind::NeverWrites, FLAWLESS);
            observed.note(never_due(self.above));
        }
    }

    /// Notes that most answers cannot be read, or forgets it.
    fn judge(
        &self,
        observed: &Observed,
        who: &str,
        (all, unread): (u64, u64),
        wrote: Option<&str>,
    ) {
        if all < FEW || unread * 2 <= all {
            observed.forget(FindingKind::Unreadable, who);
            return;
        }
        let consequence = match who {
            AGENT => {
                "most attempts end because what the agent's model wrote is no action".to_owned()
            }
            role => format!("most of what the model of the role {role} wrote was of no use"),
        };
        // A finding is one line.
        let one_line = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
        let last = wrote.map_or_else(String::new, |text| {
            format!("; the last was: \"{}\"", one_line(text))
        });
        let reason = format!("{unread} of its first {all} answers could not be read{last}");
        observed
            .note(Finding::new(FindingKind::Unreadable, consequence, reason, CANNOT).about(who));
    }
}

/// The scores of decisions beside those that the gate's threshold was fitted on.
#[derive(Debug)]
struct DriftWatch {
    score: ScoreKind,
    drift: ScoreDrift,
    /// The latest tasks about which something was decided, in their order.
    order: VecDeque<TaskId>,
    seen: BTreeSet<TaskId>,
}

impl DriftWatch {
    /// `None` where too few scores are kept to tell.
    fn of(gate: &GatePolicy, seed: Seed) -> Option<Self> {
        let fitted = gate.fitted_on.as_ref()?;
        let values = fitted.values.iter().copied();
        Some(Self {
            score: gate.score,
            drift: ScoreDrift::new(values, FALSE_ALARM, seed).ok()?,
            order: VecDeque::new(),
            seen: BTreeSet::new(),
        })
    }

    /// Whether this is the first decision about the task, as far as that is remembered.
    fn is_new(&mut self, task: &TaskId) -> bool {
        if !self.seen.insert(task.clone()) {
            return false;
        }
        self.order.push_back(task.clone());
        if self.order.len() > REMEMBERED
            && let Some(oldest) = self.order.pop_front()
        {
            self.seen.remove(&oldest);
        }
        true
    }
}

/// Notes that the session could not fit the gate's threshold, or forgets it.
fn see_fit(selection: &Selection, observed: &Observed) {
    match selection.fault() {
        Some(NothingReason::Uncalibrated(why)) => observed.note(not_fitted(why)),
        // Skills were scored, and decided about.
        None if !selection.candidates.is_empty() => {
            observed.forget(FindingKind::Uncalibrated, FIT);
        }
        _ => {}
    }
}

fn not_fitted(why: &str) -> Finding {
    Finding::new(
        FindingKind::Uncalibrated,
        "the gate injects nothing",
        format!("the session could not fit the gate's threshold to this model ({why})"),
        "remove the cause, or fit once with `journeyman model calibrate` and give the result to `Recipe::calibrate` (`calibration` in a run's \
         file)",
    )
    .about(FIT)
}

fn nothing_to_learn(tasks: u64) -> Finding {
    Finding::new(
        FindingKind::NeverWrites,
        format!("no skill was written from the latest {tasks} tasks, and none was needed"),
        "every attempt was done with the full score and without a refusal, so that nothing was to be learned",
        "nothing, if that is so; if your world does refuse actions, record that (`StepResult::refused` in your own loop, \
         `Transition::refused` in an environment)",
    )
    .about(FLAWLESS)
}

fn never_due(tasks: u64) -> Finding {
    Finding::new(
        FindingKind::NeverWrites,
        format!("no skill was written from the latest {tasks} tasks"),
        "at each the agent did better than the bound below which the recipe writes (the events `NotDue` have the scores)",
        "nothing, if the agent does its tasks as you wish; else say what your world refuses (`StepResult::refused`), let the \
         judge give lower scores, or raise the bound (`WritePolicy::when` of the recipe)",
    )
    .about(ABOVE)
}

fn never_credited(id: &SkillId, given: &Given) -> Finding {
    let name = given.name.as_ref().map_or(id.as_str(), SkillName::as_str);
    Finding::new(
        FindingKind::NeverCredited,
        format!("what the skill {name} is worth is not learned: its utility stays as it is"),
        format!(
            "{} attempts of this session's learning had it, and none credited it or judged what it did",
            given.attempts
        ),
        "see why in the events: attempts that no judge decides about, a rule of credit that cannot tell (`Refused`), or an agent that never \
         says that it followed the skill (its answers have no line `Skill: …`; docs/explanation/credit.md): then let `CreditPolicy::used_when` count attempts of which that is not known",
    )
    .about(id.as_str())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        domain::{Decision, State},
        testing::sample,
    };

    fn attempted(unread: Option<&str>) -> EventKind {
        let mut report = sample::attempt_report("a", &[], false);
        report.unread = unread.map(str::to_owned);
        report.end = Some(unread.map_or(EndReason::Finished, |_| EndReason::Unreadable));
        EventKind::Attempted {
            rollout: 0,
            report: Box::new(report),
        }
    }

    fn finished(role: Role, unreadable: u64) -> EventKind {
        let mut report = sample::task_report("t");
        let counts = RoleCounts {
            asked: 1,
            unreadable,
            ..RoleCounts::default()
        };
        report.roles.count(role, counts);
        EventKind::TaskFinished {
            report: Box::new(report),
        }
    }

    fn not_due(above: bool, flawless: bool) -> EventKind {
        EventKind::NotDue {
            reason: "0.9".to_owned(),
            above,
            flawless,
        }
    }

    /// The findings after these events, each as text.
    fn seen(events: &[EventKind]) -> Vec<String> {
        let (mut watch, observed) = (Watch::default(), Observed::default());
        for event in events {
            watch.see(event, &observed);
        }
        observed.all().iter().map(ToString::to_string).collect()
    }

    #[test]
    fn an_agent_whose_model_cannot_is_told_after_four_attempts() {
        let cannot = attempted(Some("I would be happy to help!"));
        assert_eq!(
            seen(&[cannot.clone(), cannot.clone(), cannot.clone()]),
            [""; 0]
        );
        let one_can = [
            cannot.clone(),
            cannot.clone(),
            attempted(None),
            cannot.clone(),
        ];
        let told = seen(&one_can).join("\n");
        for part in [
            "3 of its first 4 answers",
            "I would be happy",
            "llguidance",
            "larger model",
        ] {
            assert!(told.contains(part), "{part:?} in {told}");
        }
        // It is taken back once most can be read.
        let can = vec![attempted(None); 4];
        assert_eq!(seen(&[&one_can[..], &can[..]].concat()), [""; 0]);
    }

    #[test]
    fn a_role_whose_model_cannot_is_told_with_what_it_wrote() {
        let fell = EventKind::FellBack {
            role: Role::Summarize,
            reason: "no JSON".to_owned(),
            wrote: "Sure! Here is".to_owned(),
        };
        let bad = finished(Role::Summarize, 1);
        let events: Vec<EventKind> = (0..4).flat_map(|_| [fell.clone(), bad.clone()]).collect();
        let told = seen(&events).join("\n");
        for part in ["role summarize", "4 of its first 4", "Sure! Here is"] {
            assert!(told.contains(part), "{part:?} in {told}");
        }
        assert_eq!(seen(&vec![finished(Role::Summarize, 0); 9]), [""; 0]);
    }

    #[test]
    fn a_recipe_that_never_writes_is_told_until_it_does() {
        let above = not_due(true, false);
        let other = not_due(false, false);
        assert_eq!(seen(&vec![above.clone(); 11]), [""; 0]);
        assert_eq!(seen(&vec![other; 20]), [""; 0]);
        let mut events = vec![above; 12];
        let told = seen(&events).join("\n");
        assert!(told.contains("from the latest 12 tasks"), "{told}");
        assert!(told.contains("StepResult::refused"), "{told}");
        events.push(EventKind::Refused {
            reason: "no".to_owned(),
        });
        assert_eq!(seen(&events), [""; 0], "a role was asked");
    }

    #[test]
    fn where_nothing_was_to_be_learned_that_is_said_and_only_without_a_skill() {
        let flawless = not_due(true, true);
        assert_eq!(seen(&vec![flawless.clone(); 11]), [""; 0]);
        let reasons = seen(&vec![flawless.clone(); 30]).join("\n");
        assert!(reasons.contains("nothing was to be learned"), "{reasons}");
        assert!(reasons.contains("StepResult::refused"), "{reasons}");
        assert!(!reasons.contains("bound"), "{reasons}");
        // A task that had a refusal is none of these, until many others came after it.
        let refused = not_due(true, false);
        let mut events = vec![flawless.clone(); 12];
        events.push(refused);
        let reasons = seen(&events).join("\n");
        assert!(reasons.contains("better than the bound"), "{reasons}");
        assert!(!reasons.contains("nothing was to be learned"), "{reasons}");
        events.extend(vec![flawless.clone(); 12]);
        let reasons = seen(&events).join("\n");
        assert!(!reasons.contains("better than the bound"), "{reasons}");
        // An agent that has a skill did learn.
        let mut report = sample::task_report("t");
        report.attempts = vec![sample::attempt_report("a", &[sample::skill("brew")], true)];
        let skilled = EventKind::TaskFinished {
            report: Box::new(report),
        };
        let many = vec![flawless; 12];
        for order in [[many.clone(), vec![skilled.clone()]], [vec![skilled], many]] {
            assert_eq!(seen(&order.concat()), [""; 0]);
        }
    }

    #[test]
    fn a_skill_that_many_attempts_had_and_none_credited_is_told_until_one_does() {
        let skill = sample::skill("brew");
        let chosen = EventKind::Selected {
            rollout: 0,
            selection: Selection::unscored(Decision::Inject {
                skills: vec![skill.reference()],
                explored: false,
            }),
            names: vec![SkillName::slug("Brew tea").expect("a name")],
        };
        let mut report = sample::task_report("t");
        let attempt = sample::attempt_report("a", std::slice::from_ref(&skill), true);
        report.attempts = vec![attempt; 2];
        let finished = EventKind::TaskFinished {
            report: Box::new(report),
        };
        let credited = EventKind::Credited {
            skill: skill.reference(),
            name: skill.name.clone(),
            attempt: "a".into(),
            reward: 0.0,
            utility: 0.0,
        };
        let tasks = |count: usize| vec![[chosen.clone(), finished.clone()]; count].concat();
        let learned = |events: &[EventKind]| -> Vec<String> {
            let (mut watch, observed) = (Watch::default(), Observed::default());
            for event in events {
                watch.learned(event, &observed);
            }
            observed.all().iter().map(ToString::to_string).collect()
        };
        assert_eq!(learned(&tasks(9)), [""; 0], "eighteen attempts");
        let told = learned(&tasks(12)).join("\n");
        for part in [
            "the skill brew-tea is worth",
            "20 attempts",
            "`Skill: …`",
            "used_when",
        ] {
            assert!(told.contains(part), "{part:?} in {told}");
        }
        // A credit of 0 is one, before and behind.
        let credit = vec![credited];
        for order in [[tasks(12), credit.clone()], [credit, tasks(12)]] {
            assert_eq!(learned(&order.concat()), [""; 0]);
        }
        let out = EventKind::StateChanged {
            skill: skill.id.clone(),
            name: skill.name.clone(),
            state: State::Disabled,
            reason: "it is of no use".to_owned(),
        };
        assert_eq!(learned(&[tasks(12), vec![out]].concat()), [""; 0]);
    }
}
