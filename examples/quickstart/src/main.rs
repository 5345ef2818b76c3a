//! An agent that learns skills on real local inference: before, the stream, after.

mod output;
mod show;

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
    run::{Journeyman, report::RunReport},
};
use journeyman_llama_cpp::{Pulse, find_model, print_warnings};
use output::unwritable;
use quickstart::{Choice, Parts, Split, Summaries, Tasks, default_model, standard, write_folders};

/// Shows an agent learning skills on real local inference, offline.
#[derive(Debug, Parser)]
#[command(name = "quickstart")]
struct Arguments {
    /// What all randomness follows from; with --deterministic the same seed gives the same output on the same machine and build.
    #[arg(long, default_value_t = 7)]
    seed: u64,
    /// Number of tasks in the stream that is learned from.
    #[arg(long, default_value_t = 48)]
    tasks: usize,
    /// Number of held-out tasks, attempted before and after; if left out, twice as many as are learned from.
    #[arg(long)]
    held_out: Option<usize>,
    /// Number of attempts at each task of the stream.
    #[arg(long, default_value = "4")]
    group: NonZeroU32,
    /// Greatest number of steps of an attempt.
    #[arg(long, default_value_t = 8)]
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
    #[arg(long, value_enum, default_value_t = Choice::Pmi)]
    select: Choice,
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    print_warnings(|line| told(&format!("warning: {line}")));
    let mut out: Box<dyn Write> = if arguments.json {
        Box::new(std::io::stderr())
    } else {
        Box::new(std::io::stdout())
    };
    match futures::executor::block_on(run(&arguments, out.as_mut())) {
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

fn load(arguments: &Arguments, out: &mut dyn Write) -> Result<Parts> {
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

async fn run(arguments: &Arguments, out: &mut dyn Write) -> Result<serde_json::Value> {
    let seed = Seed(arguments.seed);
    let parts = load(arguments, out)?;
    let tasks = Tasks::of(
        seed,
        Split {
            stream: arguments.tasks,
            held_out: arguments.held_out.unwrap_or(2 * arguments.tasks),
        },
    )?;
    if tasks.stream.is_empty() {
        return Err(Error::invalid("quickstart", "the task stream is empty")
            .hint("give --tasks at least 1"));
    }
    if tasks.held_out.is_empty() {
        return Err(Error::invalid("quickstart", "there are no held-out tasks")
            .hint("give --held-out at least 1"));
    }
    let mut recipe = standard(arguments.select, !arguments.no_gate);
    recipe.attempts.group = arguments.group;
    let journal = output::begin(&arguments.out)?;
    let store = Arc::new(MemoryStore::new());
    let journeyman = parts
        .open(
            recipe.clone(),
            output::SESSION,
            seed,
            store,
            Some(Arc::new(journal)),
        )
        .await?;

    show::opening(out, arguments.seed, &parts, &tasks, &recipe).map_err(unwritable)?;
    let before = evaluate(&journeyman, &tasks, "before: no skills", out).await?;
    let learned = learn(&journeyman, &tasks, out).await?;
    let after = evaluate(
        &journeyman,
        &tasks,
        "after: the learned library, frozen",
        out,
    )
    .await?;

    let library = journeyman.library().await?;
    let folder = output::skills(&arguments.out);
    let written = write_folders(&library, &folder)?;
    let reports = [
        ("before", &before),
        ("in the stream", &learned),
        ("after", &after),
    ];
    let (before, after_sums) = (Summaries::of(&before), Summaries::of(&after));
    show::table(out, &before, &after_sums).map_err(unwritable)?;
    show::gate(out, &after, &learned).map_err(unwritable)?;
    show::errors(out, reports).map_err(unwritable)?;
    show::closing(out, written, &folder, &output::journal(&arguments.out)).map_err(unwritable)?;
    Ok(show::object(
        arguments.seed,
        &tasks,
        &before,
        &after_sums,
        &library,
        &folder,
    ))
}

async fn evaluate(
    journeyman: &Journeyman,
    tasks: &Tasks,
    title: &str,
    out: &mut dyn Write,
) -> Result<RunReport> {
    show::title(out, title).map_err(unwritable)?;
    follow(
        journeyman,
        journeyman.evaluate(tasks.held_out.clone()),
        tasks.held_out.len(),
        false,
        out,
    )
    .await
}

async fn learn(journeyman: &Journeyman, tasks: &Tasks, out: &mut dyn Write) -> Result<RunReport> {
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
    out: &mut dyn Write,
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
