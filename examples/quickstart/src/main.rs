//! An agent that learns skills on real local inference: before, the stream, after.

mod output;
mod screen;
mod show;
mod story;
mod tell;

use std::{
    io::Write,
    num::NonZeroU32,
    path::{Path, PathBuf},
    process::ExitCode,
    sync::Arc,
};

use clap::Parser;
use futures::{
    StreamExt,
    future::{Either, select},
};
use futures_timer::Delay;
use journeyman::{
    Error, Result, Seed,
    agent::MemoryStore,
    contract::{Journal, SkillStore},
    domain::Task,
    recipe::Recipe,
    run::{Journeyman, report::RunReport},
};
use journeyman_llama_cpp::{Pulse, find_model, print_warnings};
use journeyman_toolworld::trade::Trade;
use output::unwritable;
use quickstart::{
    Choice, Parts, Split, Summaries, Tasks, default_model, defaults, standard, write_folders,
};
use screen::Screen;
use story::{Better, Evaluated, Ungated};
use tell::Known;

/// Shows an agent learning skills on real local inference, offline.
#[derive(Debug, Parser)]
#[command(name = "quickstart")]
struct Arguments {
    /// What all randomness follows from; with --deterministic the same seed gives the same output on the same machine and build.
    #[arg(long, default_value_t = 7)]
    seed: u64,
    /// Number of tasks in the stream that is learned from.
    #[arg(long, default_value_t = defaults::STREAM)]
    tasks: usize,
    /// Number of held-out tasks, attempted before and after; if left out, twice as many as are learned from.
    #[arg(long)]
    held_out: Option<usize>,
    /// Number of attempts at each task of the stream.
    #[arg(long, default_value_t = defaults::GROUP)]
    group: NonZeroU32,
    /// Greatest number of steps of an attempt.
    #[arg(long, default_value_t = defaults::STEPS)]
    steps: usize,
    /// The model: the GGUF file of an instruct model with a chat template, or the name of a public model, which is fetched at its
    /// first use (smollm2).
    #[arg(long, default_value_os_t = default_model())]
    model: PathBuf,
    /// Where the skill folders and the journal go.
    #[arg(long, default_value = "out/quickstart")]
    out: PathBuf,
    /// End with one JSON object on standard output; what people read goes to standard error.
    #[arg(long)]
    json: bool,
    /// Compute one request at a time in batches of a fixed shape, so that a seed gives the same bytes again.
    #[arg(long)]
    deterministic: bool,
    /// Inject the best candidate whatever its score.
    #[arg(long)]
    no_gate: bool,
    /// How a skill is chosen.
    #[arg(long, value_enum, default_value_t = defaults::CHOICE)]
    select: Choice,
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    print_warnings(|line| told(&format!("warning: {line}")));
    let mut out = Screen::new(arguments.json);
    match futures::executor::block_on(run(&arguments, &mut out)) {
        Ok(json) => {
            let shown = match arguments.json {
                true => writeln!(std::io::stdout(), "{json}"),
                false => Ok(()),
            };
            if shown.is_ok() {
                ExitCode::SUCCESS
            } else {
                ExitCode::FAILURE
            }
        }
        Err(error) => {
            // The exit code says it, too.
            told(&format!("error: {}", show::in_words(&error)));
            ExitCode::FAILURE
        }
    }
}

/// Prints a line on standard error, which may be closed.
fn told(line: &str) {
    let _ = writeln!(std::io::stderr(), "{line}");
}

fn load(arguments: &Arguments, out: &mut Screen) -> Result<Parts> {
    let mut said = Ok(());
    let model = find_model(&arguments.model, Path::new(""), &mut |line| {
        said = writeln!(out, "{line}").and_then(|()| out.flush());
    })?;
    said.map_err(unwritable)?;
    writeln!(out, "loading {}", model.display())
        .and_then(|()| out.flush())
        .map_err(unwritable)?;
    let _pulse = Pulse::new("loading the model", told);
    match arguments.deterministic {
        true => Parts::deterministic(&model, arguments.steps),
        false => Parts::load(&model, arguments.steps),
    }
}

/// The tasks that the arguments ask for.
fn tasks(arguments: &Arguments) -> Result<Tasks> {
    let mut split = Split::of(arguments.tasks);
    split.held_out = arguments.held_out.unwrap_or(split.held_out);
    let tasks = Tasks::of_trade(Trade::travel()?, Seed(arguments.seed), split)?;
    if tasks.stream.is_empty() {
        return Err(Error::invalid("quickstart", "the task stream is empty")
            .hint("give --tasks at least 1"));
    }
    if tasks.held_out.is_empty() {
        return Err(Error::invalid("quickstart", "there are no held-out tasks")
            .hint("give --held-out at least 1"));
    }
    Ok(tasks)
}

/// What the quickstart's sessions share.
struct Sessions<'a> {
    arguments: &'a Arguments,
    parts: Parts,
    store: Arc<MemoryStore>,
    journal: Arc<dyn Journal>,
}

impl Sessions<'_> {
    async fn open(&self, recipe: Recipe, session: &str) -> Result<Journeyman> {
        let store: Arc<dyn SkillStore> = self.store.clone();
        let journal = Some(self.journal.clone());
        let seed = Seed(self.arguments.seed);
        self.parts.open(recipe, session, seed, store, journal).await
    }

    fn recipe(&self, gated: bool) -> Recipe {
        let mut recipe = standard(self.arguments.select, gated);
        recipe.attempts.group = self.arguments.group;
        recipe
    }
}

async fn run(arguments: &Arguments, out: &mut Screen) -> Result<serde_json::Value> {
    let parts = load(arguments, out)?;
    let tasks = tasks(arguments)?;
    let sessions = Sessions {
        arguments,
        parts,
        store: Arc::new(MemoryStore::new()),
        journal: Arc::new(output::begin(&arguments.out)?),
    };
    let recipe = sessions.recipe(!arguments.no_gate);
    let journeyman = sessions.open(recipe.clone(), output::SESSION).await?;

    show::opening(out, arguments.seed, &sessions.parts, &tasks, &recipe).map_err(unwritable)?;
    let held_out = &tasks.held_out;
    let before = evaluate(&journeyman, held_out, "before: no skills", out).await?;
    let before = Evaluated::of(before, sessions.journal.as_ref()).await?;
    let learned = learn(&journeyman, &tasks, out).await?;
    let title = "after: the learned library, frozen";
    let after = evaluate(&journeyman, held_out, title, out).await?;
    let after = Evaluated::of(after, sessions.journal.as_ref()).await?;
    let ungated = without_gate(&sessions, &tasks, &after, out).await?;

    let library = journeyman.library().await?;
    let folder = output::skills(&arguments.out);
    write_folders(&library, &folder)?;
    let sums = [&before, &after].map(|one| Summaries::of(&one.report));
    show::table(out, &sums[0], &sums[1]).map_err(unwritable)?;
    show::gate(out, &after.report, &learned).map_err(unwritable)?;
    let known = Known {
        tasks: &tasks,
        library: &library,
    };
    let story = story(out, (&before, &after), ungated.as_ref(), known).map_err(unwritable)?;
    let reports = [
        ("before", &before.report),
        ("in the stream", &learned),
        ("after", &after.report),
    ];
    show::errors(out, reports).map_err(unwritable)?;
    let journal = output::journal(&arguments.out);
    show::closing(out, &library, &folder, &journal).map_err(unwritable)?;
    let (seed, [before, after]) = (arguments.seed, &sums);
    Ok(show::object(
        seed, &tasks, before, after, &library, &folder, story,
    ))
}

/// Attempts a few tasks at which the gate refused a skill once more without the gate; `None` where the gate refused nothing for its score.
async fn without_gate(
    sessions: &Sessions<'_>,
    tasks: &Tasks,
    after: &Evaluated,
    out: &mut Screen,
) -> Result<Option<Evaluated>> {
    let refusals = story::refusals(&after.report);
    let refused = refusals.iter().take(story::MOST_WITHOUT_GATE);
    let again: Vec<Task> = refused
        .filter_map(|refused| {
            let mut held_out = tasks.held_out.iter();
            held_out.find(|task| task.id == refused.task.task).cloned()
        })
        .collect();
    if again.is_empty() {
        return Ok(None);
    }
    let journeyman = sessions
        .open(sessions.recipe(false), output::WITHOUT_GATE)
        .await?;
    let title = "on purpose: tasks where the gate refused a skill, without the gate";
    let report = evaluate(&journeyman, &again, title, out).await?;
    Evaluated::of(report, sessions.journal.as_ref())
        .await
        .map(Some)
}

/// Tells the story, and gives it for programs.
fn story(
    out: &mut Screen,
    (before, after): (&Evaluated, &Evaluated),
    ungated: Option<&Evaluated>,
    known: Known<'_>,
) -> std::io::Result<serde_json::Value> {
    let better = Better::find(before, after);
    if let Some(better) = &better {
        tell::better(out, better, known)?;
    }
    let refusals = story::refusals(&after.report);
    if let Some(refused) = refusals.first() {
        tell::refusal(out, refused, known)?;
    }
    let ungated = ungated.map_or_else(Vec::new, |ungated| Ungated::all(after, ungated));
    if !ungated.is_empty() {
        tell::ungated(out, (&ungated, refusals.len()), known)?;
    }
    Ok(story::object(better.as_ref(), &refusals, &ungated))
}

async fn evaluate(
    journeyman: &Journeyman,
    tasks: &[Task],
    title: &str,
    out: &mut Screen,
) -> Result<RunReport> {
    show::title(out, title).map_err(unwritable)?;
    follow(
        journeyman,
        journeyman.evaluate(tasks.to_vec()),
        tasks.len(),
        false,
        out,
    )
    .await
}

async fn learn(journeyman: &Journeyman, tasks: &Tasks, out: &mut Screen) -> Result<RunReport> {
    show::title(out, "the stream: the agent learns").map_err(unwritable)?;
    follow(
        journeyman,
        journeyman.learn(tasks.stream.clone()),
        tasks.stream.len(),
        true,
        out,
    )
    .await
}

/// Shows a run's events as they come.
async fn follow(
    journeyman: &Journeyman,
    run: impl Future<Output = Result<RunReport>>,
    total: usize,
    in_full: bool,
    out: &mut Screen,
) -> Result<RunReport> {
    let mut events = journeyman.events();
    let mut run = std::pin::pin!(run);
    let mut progress = show::Progress::new(total, in_full);
    loop {
        let silence = Delay::new(progress.until_line());
        match select(select(events.next(), silence), run.as_mut()).await {
            Either::Left((Either::Left((Some(event), _)), _)) => {
                progress.event(out, &event).map_err(unwritable)?;
                progress.alive(out).map_err(unwritable)?;
            }
            Either::Left((Either::Left((None, _)), _)) => {}
            Either::Left((Either::Right(_), _)) => progress.alive(out).map_err(unwritable)?,
            Either::Right((report, _)) => {
                while let Some(event) = events.try_next() {
                    progress.event(out, &event).map_err(unwritable)?;
                }
                return report;
            }
        }
    }
}
