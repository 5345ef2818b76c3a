//! `journeyman run`: learns from the tasks of a user's own environment, and measures held-out tasks before and after; [`evals`] measures
//! one skill there. `docs/reference/run-file.md` describes the file.

mod against;
mod alone;
pub(crate) mod calibrate;
pub(crate) mod certify;
mod compare;
mod earlier;
mod eval_tasks;
pub(crate) mod evals;
mod form;
mod learned;
mod lifts;
mod model_form;
mod opened;
mod paired;
mod parts;
mod progress;
mod skills;
mod tasks;
mod trace;

#[cfg(test)]
mod tests;

use std::path::Path;

use journeyman::{
    Error, Result,
    contract::LanguageModel,
    domain::{EndReason, State, Task},
    library::SkillLibrary,
    recipe::Recipe,
    run::{
        Journeyman,
        report::{Finding, RunReport},
    },
    stations::proof::{LiftPolicy, ProvenRelease},
};
use journeyman_disk::DiskStore;
use serde_json::json;

use self::{
    compare::Comparison,
    form::RUN,
    lifts::Known,
    opened::Opening,
    progress::{GateSaid, Reasons, follow},
    skills::in_library,
    trace::Trace,
};
use crate::{
    arguments::Run,
    calibrated::drift_check,
    library::{count, load},
    output::{Answer, Exit, tell},
    words::of_the_command,
    world::approve,
};

/// `library` is the folder that the arguments name, which comes before the file's.
pub(crate) async fn run(library: Option<&Path>, command: &Run) -> Result<Answer> {
    if let Some(other) = &command.compare {
        return against::compare(library, command, other.as_deref()).await;
    }
    let opening = Opening {
        library,
        seed: command.seed,
        learns: !command.only_measure,
        trace: command.trace.as_deref(),
        ..Opening::of(&command.file)
    };
    let file = opening.read()?;
    if command.approve_tools {
        return approve(RUN, Some(file.form.world(&file.source, &file.folder)?)).await;
    }
    let withholds = file.recipe.select.withhold.is_some();
    let lifts = lift_policy(&file.recipe);
    let drift = file.recipe.gate().as_ref().and_then(drift_check);
    let keeps_scores = (file.recipe.gate()).is_some_and(|gate| gate.fitted_on.is_some());
    let run = file.open().await?;
    // Evaluations of this session are not compared.
    let watches = run.journeyman.watches_drift() && !command.only_measure;
    if let Some(drift) = drift.filter(|_| watches || !keeps_scores) {
        tell(&format!("drift: {drift}"));
    }
    let gate = GateSaid::with(run.calibrated);
    let session = Session {
        journeyman: &run.journeyman,
        stream: &run.stream,
        held_out: &run.held_out,
        said: (&*run.trace, &gate),
    };
    let measured = match command.only_measure {
        true => session.measure_alone().await?,
        false => {
            let resettable = run.world.environment.capabilities().resettable;
            session.learn(resettable, &run.store, &run.library).await?
        }
    };
    run.world.close().await;
    let compared = Comparison::of(measured.before.as_ref(), measured.after.as_ref());
    let skills = load(&run.store).await?;
    let mut answer = told(&compared, &skills, &run.library, run.seed.0);
    if let Some((report, _)) = &measured.learning {
        answer.text.push_str(&learned::text(report));
        answer.json["learning"] = learned::json(report);
    }
    let agent = run.agent.as_deref();
    if withholds {
        let lifts = run.journeyman.lift(lifts)?;
        let model = agent.map(|agent| &agent.capabilities().model);
        let known = Known::of(&lifts, &skills, model);
        answer.text.push_str(&known.text());
        answer.json["lift"] = known.json();
    }
    let mut remarks = remarks(&measured, &compared, &skills, &run.trace);
    remarks.extend(found_since(&run.journeyman, &run.found));
    remarks.extend(agent.and_then(shorter_context));
    for remark in &remarks {
        answer.text.push_str(&format!("{remark}\n"));
    }
    answer.json["remarks"] = remarks.into();
    Ok(answer)
}

/// How sure the ledger of lifts has to be: as sure as the recipe's program of proofs, by which the events of the run say verdicts.
fn lift_policy(recipe: &Recipe) -> LiftPolicy {
    let mut policy = LiftPolicy::default();
    if let Some(proven) = recipe.maintenance.get::<ProvenRelease>() {
        policy.error = proven.compare.error;
        policy.false_discoveries = proven.compare.error;
    }
    policy
}

/// What a run measured and learned.
#[derive(Debug, Default)]
struct Measured {
    before: Option<RunReport>,
    learning: Option<(RunReport, Reasons)>,
    after: Option<RunReport>,
    /// Why no skill was given to the agent in the latest measurement, where none was.
    given: Reasons,
}

/// A run under way.
#[derive(Clone, Copy, Debug)]
struct Session<'a> {
    journeyman: &'a Journeyman,
    stream: &'a [Task],
    held_out: &'a [Task],
    /// The trace that the run writes, and what it has printed of its gate.
    said: (&'a Trace, &'a GateSaid),
}

impl Session<'_> {
    async fn measure_alone(self) -> Result<Measured> {
        let (before, given) = self.measure("measuring held-out tasks").await?;
        Ok(Measured {
            before: Some(before),
            given,
            ..Measured::default()
        })
    }

    /// Measures, where the world can be set up again; learns; measures again.
    async fn learn(self, resettable: bool, store: &DiskStore, library: &Path) -> Result<Measured> {
        let mut measured = Measured::default();
        if resettable {
            measured = self.measure_alone().await?;
        } else {
            tell(
                "the world cannot be set up again: the held-out tasks are attempted once, after learning",
            );
        }
        tell("learning");
        let stream = self.journeyman.learn(self.stream.to_vec());
        let count = self.stream.len();
        let learned = follow(self.journeyman, stream, count, self.said).await?;
        let again = self.measure("measuring held-out tasks again").await;
        if again.is_err() {
            tell_kept(&learned.0, store, library).await;
        }
        let (after, given) = again?;
        (measured.after, measured.given) = (Some(after), given);
        measured.learning = Some(learned);
        Ok(measured)
    }

    async fn measure(self, what: &str) -> Result<(RunReport, Reasons)> {
        tell(what);
        let run = self.journeyman.evaluate(self.held_out.to_vec());
        let count = self.held_out.len();
        let (report, reasons) = follow(self.journeyman, run, count, self.said).await?;
        refuse_short_context(&report)?;
        // At once: what comes later may fail.
        let (done, judged) = Comparison::of(Some(&report), None).done();
        if judged > 0 {
            tell(&format!("{done} of {judged} held-out tasks are done"));
        }
        Ok((report, reasons))
    }
}

/// What the session finds to be wrong, and did not when it was opened.
fn found_since(journeyman: &Journeyman, opening: &[Finding]) -> impl Iterator<Item = String> {
    let found = journeyman.findings().into_iter();
    let since = found.filter(move |finding| !opening.contains(finding));
    since.map(|finding| format!("Note: {}.", of_the_command(&finding.to_string())))
}

/// What a server said of its context by refusing longer prompts.
fn shorter_context(model: &dyn LanguageModel) -> Option<String> {
    let (context, taken) = (model.context(), model.capabilities().context);
    (context < taken).then(|| {
        format!(
            "The server refused prompts of the agent as longer than its context, which was taken for {taken} tokens and counts as \
             about {context} from then on: prompts leave out what does not fit. Start the server with a longer one.",
        )
    })
}

/// Why a run did or learned less than it could.
fn remarks(
    measured: &Measured,
    compared: &Comparison,
    skills: &SkillLibrary,
    trace: &Trace,
) -> Vec<String> {
    let mut remarks = Vec::new();
    let learned = measured.learning.as_ref().map(|(report, _)| report);
    let before = match learned {
        Some(_) => "Before learning nothing was measured",
        None => "Nothing was measured",
    };
    for (what, report) in [
        (before, measured.before.as_ref()),
        ("Learning was not as the recipe says", learned),
        (
            "After learning nothing was measured",
            measured.after.as_ref(),
        ),
    ] {
        let why = report.and_then(RunReport::not_measured);
        remarks.extend(why.map(|why| format!("{what}: {why}.")));
    }
    if let Some((_, reasons)) = &measured.learning {
        remarks.extend(reasons.of_writing());
        remarks.extend(reasons.of_roles());
    }
    if skills.cache().next().is_some() {
        remarks.extend(measured.given.none_given());
    }
    let (done, judged) = compared.done();
    let undone = judged - done;
    if undone > 0 {
        remarks.extend(trace.failed().map(|failed| {
            let more = if trace.has_file() { "" } else { "`--trace FILE` writes all attempts." };
            let text = format!("Of {judged} held-out tasks {undone} were not done. The end of the latest such attempt:\n{failed}{more}");
            text.trim_end().to_owned()
        }));
    }
    remarks
}

/// Refuses a measurement in which no attempt was judged, since the prompts of some do not fit the model's context.
fn refuse_short_context(report: &RunReport) -> Result<()> {
    let short = report.out_of_context().find_map(|one| match one.end {
        Some(EndReason::ContextLength { prompt, context }) => Some((prompt, context)),
        _ => None,
    });
    match (report.success_rate(), short) {
        (None, Some((prompt, context))) => Err(Error::invalid(
            RUN,
            "no attempt could be judged: the prompts do not fit the model's context",
        )
        .with("prompt", prompt)
        .with("context", context)
        .hint("give it a longer context (`context` in [model] for a GGUF file; for a server, where it is started), take another model, or shorten the descriptions of the tools")),
        _ => Ok(()),
    }
}

/// Where the measurement after the learning fails, its error comes last: what the learning left is said before it.
async fn tell_kept(learned: &RunReport, store: &DiskStore, library: &Path) {
    if let Ok(skills) = load(store).await {
        let kept = in_library(&skills, library);
        let text = format!("{}What was learned is kept. {kept}", learned::text(learned));
        tell(text.trim_end());
    }
}

/// The figures, and what is in the library.
fn told(compared: &Comparison, skills: &SkillLibrary, library: &Path, seed: u64) -> Answer {
    let text = format!(
        "{}{}Seed {seed}.\n",
        compared.text(),
        in_library(skills, library)
    );
    let (active, on_trial) = (count(skills, State::Active), count(skills, State::Trial));
    let mut json = compared.json();
    json["learning"] = json!(null);
    json["lift"] = json!(null);
    json["seed"] = seed.into();
    json["library"] = json!(library.display().to_string());
    json["skills"] = json!({
        "all": skills.entries().count(),
        "offered": active + on_trial,
        "active": active,
        "on_trial": on_trial,
    });
    Answer {
        json,
        text,
        exit: Exit::Done,
    }
}
