//! A small learning run for the suites of programs. The program is watched: its calls and decisions are noted in the run, in
//! the replay of its journal, and in a second run.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use super::report::{Shortfall, Tried, require, skip};
use crate::{
    agent::MemoryJournal,
    contract::{Components, Journal, JournalEntry},
    domain::{Skill, Task},
    error::Result,
    id::Seed,
    policy::Policies,
    recipe::Recipe,
    run::{
        Journeyman, Options, replay,
        report::{FindingKind, RunReport},
    },
};

/// The inputs for checking a program: a small learning run that calls it.
#[non_exhaustive]
#[derive(Clone, Debug)]
pub struct LearningFixture {
    /// The recipe; it names the program.
    pub recipe: Recipe,
    /// The host's own policies, the program among them.
    pub policies: Policies,
    /// Skills that the library begins with, such as those that a selector chooses from.
    pub skills: Vec<Skill>,
    /// The tasks to learn from, at least one. Each should be one that the host's parts can attempt.
    pub tasks: Vec<Task>,
    /// The seed of the run.
    pub seed: Seed,
    /// Whether a part draws samples, so that a second run may differ; then only the replay is compared.
    pub samples: bool,
}

impl LearningFixture {
    /// A run over tasks, from an empty library, no part of which samples.
    pub fn new(recipe: Recipe, tasks: Vec<Task>, seed: Seed) -> Self {
        Self {
            recipe,
            policies: Policies::new(),
            skills: Vec::new(),
            tasks,
            seed,
            samples: false,
        }
    }

    /// The same with the host's own policies.
    #[must_use]
    pub fn with_policies(mut self, policies: Policies) -> Self {
        self.policies = policies;
        self
    }

    /// The same with skills that the library begins with.
    #[must_use]
    pub fn with_skills(mut self, skills: Vec<Skill>) -> Self {
        self.skills = skills;
        self
    }

    /// Sets whether a part samples.
    #[must_use]
    pub fn with_samples(mut self, samples: bool) -> Self {
        self.samples = samples;
        self
    }
}

impl LearningFixture {
    /// The host's policies with ours beside them. A registry that is refused stays as it is: opening a session refuses it.
    pub(super) fn known(&self) -> Policies {
        let known = self.policies.with_ours();
        known.unwrap_or_else(|_| self.policies.clone())
    }
}

/// What a program did in one run.
#[derive(Clone, Debug, Default)]
struct Noted {
    called: BTreeSet<String>,
    /// The decisions, by the place of the call.
    decided: BTreeMap<String, BTreeSet<String>>,
    /// The first error that a call ended with.
    error: Option<String>,
    /// How many parts of decisions each rule was held against.
    held: BTreeMap<&'static str, usize>,
    broken: Vec<(&'static str, String)>,
}

/// Takes notes of what a program does.
#[derive(Clone, Debug, Default)]
pub(super) struct Notes(Arc<Mutex<Noted>>);

impl Notes {
    fn lock(&self) -> MutexGuard<'_, Noted> {
        // The lists stay whole whatever panicked while it held the lock.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The program was called.
    pub(super) fn called(&self, place: &str) {
        self.lock().called.insert(place.to_owned());
    }

    /// A call ended.
    pub(super) fn decided(&self, place: String, decision: &Result<impl fmt::Debug>) {
        let mut noted = self.lock();
        let text = match decision {
            Ok(decision) => format!("{decision:?}"),
            Err(error) => error.to_string(),
        };
        if decision.is_err() {
            noted.error.get_or_insert_with(|| text.clone());
        }
        noted.decided.entry(place).or_default().insert(text);
    }

    /// A rule was held against so many parts of a decision; the first fault, if there is one.
    pub(super) fn held(&self, rule: &'static str, parts: usize, broken: Option<String>) {
        let mut noted = self.lock();
        *noted.held.entry(rule).or_default() += parts;
        noted.broken.extend(broken.map(|how| (rule, how)));
    }
}

/// A program that is watched.
#[derive(Debug)]
pub(super) struct Watched<T: ?Sized> {
    pub(super) program: Arc<T>,
    /// The name of the program in the places of its calls.
    pub(super) name: String,
    pub(super) notes: Notes,
}

/// The end of one run.
#[derive(Clone, Debug)]
struct Ended {
    noted: Noted,
    report: RunReport,
    library: String,
}

/// A run, its replay, and a second run.
#[derive(Clone, Debug)]
pub(super) struct Learned {
    run: Ended,
    replayed: Result<Ended>,
    again: Option<Ended>,
    /// Why the first task or program failed, if one did.
    failed: Option<String>,
}

/// Learns with a program that `watch` puts in the place of the host's own; `None` where the recipe names none.
pub(super) async fn learned(
    fresh: &impl AsyncFn() -> Result<Components>,
    fixture: &LearningFixture,
    watch: impl Fn(&LearningFixture, &Notes) -> Option<Policies>,
) -> Tried<Learned> {
    let watched = || {
        let notes = Notes::default();
        watch(fixture, &notes).map(|policies| (policies, notes))
    };
    let (Some(first), Some(second), Some(third)) = (watched(), watched(), watched()) else {
        return skip("the recipe names no such program of the host's own");
    };
    let (mut run, entries) = learn(fresh, fixture, first).await?;
    let failed = first_failure(&run.report);
    // Findings are about the host's parts, and a replay has none.
    run.report.findings.clear();
    let replayed = replayed(&entries, second);
    let again = match fixture.samples {
        true => None,
        false => {
            let (mut again, _) = learn(fresh, fixture, third).await?;
            again.report.findings.clear();
            Some(again)
        }
    };
    Ok(Learned {
        run,
        replayed,
        again,
        failed,
    })
}

/// Why the first task or program of the host's own failed, if one did.
fn first_failure(report: &RunReport) -> Option<String> {
    let mut tasks = report.tasks.iter();
    let task = tasks.find_map(|task| task.failed.as_ref().map(ToString::to_string));
    let mut findings = report.findings.iter();
    let program = findings.find(|finding| finding.kind == FindingKind::PolicyFailed);
    task.or_else(|| program.map(ToString::to_string))
}

async fn learn(
    fresh: &impl AsyncFn() -> Result<Components>,
    fixture: &LearningFixture,
    (policies, notes): (Policies, Notes),
) -> Result<(Ended, Vec<JournalEntry>)> {
    let journal = Arc::new(MemoryJournal::new());
    let components = fresh().await?.with_journal(Arc::clone(&journal) as _);
    let options = Options::new("conformance", fixture.seed).with_policies(policies);
    let journeyman = Journeyman::open(components, fixture.recipe.clone(), options).await?;
    if !fixture.skills.is_empty() {
        let reason = "the fixture's skills";
        journeyman.add(fixture.skills.clone(), reason).await?;
    }
    let report = journeyman.learn(fixture.tasks.clone()).await?;
    let entries = journal.read(&report.run).await?;
    let library = journeyman.library().await?.to_json()?;
    let noted = notes.lock().clone();
    let ended = Ended {
        noted,
        report,
        library,
    };
    Ok((ended, entries))
}

fn replayed(entries: &[JournalEntry], (policies, notes): (Policies, Notes)) -> Result<Ended> {
    let machine = replay(entries, &policies)?;
    let noted = notes.lock().clone();
    Ok(Ended {
        noted,
        report: machine.report(),
        library: machine.library().to_json()?,
    })
}

impl Learned {
    /// # Errors
    /// Skips the case of a program that was never called.
    fn called(&self) -> Tried<&Noted> {
        match self.run.noted.called.is_empty() {
            true => skip("the run did not call the program"),
            false => Ok(&self.run.noted),
        }
    }

    /// The rule *repeats*: the replay and the second run decide the same and come to the same.
    pub(super) fn repeats(&self) -> Tried {
        self.called()?;
        match &self.replayed {
            Ok(replayed) => same(&self.run, replayed, "replayed from its journal")?,
            Err(error) => {
                let how = format!("the run cannot be replayed from its journal: {error}");
                return Err(Shortfall::Failed(how));
            }
        }
        let again = self.again.as_ref();
        again.map_or(Ok(()), |again| same(&self.run, again, "made a second time"))
    }

    /// The rule *ends*: every call came to a decision or an error.
    pub(super) fn ends(&self) -> Tried {
        let noted = self.called()?;
        let mut called = noted.called.iter();
        let open = called.find(|place| !noted.decided.contains_key(*place));
        open.map_or(Ok(()), |place| {
            let why = self.failed.as_deref().unwrap_or("no reason is known");
            Err(Shortfall::Failed(format!("{place}: no decision; {why}")))
        })
    }

    /// A rule that the decisions were held against; `parts` names their parts.
    pub(super) fn kept(&self, rule: &'static str, parts: &str) -> Tried {
        let noted = self.called()?;
        let mut broken = noted.broken.iter();
        if let Some((_, how)) = broken.find(|(broken, _)| *broken == rule) {
            return Err(Shortfall::Failed(how.clone()));
        }
        if noted.held.get(rule).is_some_and(|held| *held > 0) {
            return Ok(());
        }
        let error = noted.error.as_deref();
        let error = error.map_or_else(String::new, |error| format!("; a call failed: {error}"));
        skip(&format!("the program decided on no {parts}{error}"))
    }
}

/// Fails the case unless two ends of a run are the same.
fn same(first: &Ended, other: &Ended, when: &str) -> Tried {
    let places = first.noted.decided.keys().chain(other.noted.decided.keys());
    for place in places {
        let of = |ended: &Ended| ended.noted.decided.get(place).cloned().unwrap_or_default();
        let (was, is) = (of(first), of(other));
        require(was == is, || {
            let new = |these: &BTreeSet<String>, those: &BTreeSet<String>| {
                let new: String = these.difference(those).cloned().collect();
                new.chars().take(SHOWN).collect::<String>()
            };
            let (was, is) = (new(&was, &is), new(&is, &was));
            format!("{place}: it decided [{was}], and when the run was {when} [{is}]")
        })?;
    }
    require(first.report == other.report, || {
        format!("when the run was {when}, its report was another one")
    })?;
    require(first.library == other.library, || {
        format!("when the run was {when}, its library was another one")
    })
}

/// Maximum number of characters of a decision in a message.
const SHOWN: usize = 300;
