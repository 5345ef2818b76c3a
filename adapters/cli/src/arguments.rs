//! The command line: its commands, arguments and help texts.

use std::{num::NonZero, path::PathBuf, time::SystemTime};

use clap::{Args, Parser, Subcommand, ValueEnum};
use clap_complete::Shell;

use crate::{model::arguments::ModelCommand, stemming::Language};

const EXIT_CODES: &str = "\
Exit codes:
  0  done; nothing is wrong
  1  refused, or faults were found
  2  the arguments are not understood
  3  not found
  4  the library, an archive or a model's file is damaged
  5  busy, read-only, a full disk or the like: another try may help

Names and texts of skills are printed without control characters.";

/// Skill libraries: inspect, compare, validate, import, export, roll back, check and repair; local models; experiments.
#[derive(Debug, Parser)]
#[command(name = "journeyman", version, about, after_help = EXIT_CODES)]
pub(crate) struct Arguments {
    /// The library's folder, which holds `library.db` [default: the current folder; for `run`, `library certify`, `library calibrate` and `skill evals`, what the run's file names]
    #[arg(long, global = true, value_name = "PATH")]
    pub(crate) library: Option<PathBuf>,
    /// Answer with one JSON document
    #[arg(long, global = true)]
    pub(crate) json: bool,
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Commands about single skills
    #[command(subcommand)]
    Skill(SkillCommand),
    /// Commands about the whole library
    #[command(subcommand)]
    Library(LibraryCommand),
    /// Commands about local GGUF models, run by llama.cpp
    #[command(subcommand)]
    Model(ModelCommand),
    /// Compare recipes, ablations and sweeps over seeds, in your own environment; finished cells are kept
    Experiment(Experiment),
    /// Learn from the tasks of your own environment, and measure before and after; a file names all parts
    Run(Run),
    /// Serve the library to other programs
    #[command(subcommand)]
    Serve(ServeCommand),
    /// Print a completion script for a shell
    Completions {
        /// The shell
        shell: Shell,
    },
}

#[derive(Debug, Args)]
pub(crate) struct Experiment {
    /// The experiment's file, in TOML
    pub(crate) file: PathBuf,
    /// The folder for cells and report; `out/NAME`, by the experiment's name, if left out
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    /// Cells that run at once; as many as the cores can compute if left out
    #[arg(long, value_name = "N")]
    pub(crate) jobs: Option<NonZero<usize>>,
    /// Run nothing, and report the finished cells
    #[arg(long)]
    pub(crate) report: bool,
    /// Keep cells that another build of the command made
    #[arg(long)]
    pub(crate) any_build: bool,
    /// Show the tools of the file's MCP server, approve them all as they are now, and run nothing
    #[arg(long, conflicts_with = "report")]
    pub(crate) approve_tools: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Run {
    /// The run's file, in TOML
    pub(crate) file: PathBuf,
    /// The seed of all randomness; the file's, or 1, if left out
    #[arg(long, value_name = "N")]
    pub(crate) seed: Option<u64>,
    /// Learn nothing: measure the held-out tasks with the library as it is
    #[arg(long)]
    pub(crate) only_measure: bool,
    /// Learn nothing: compare this other run's file with the first on the held-out tasks that both have, until it is clear which is better.
    /// Without a file, compare the two arms of the first
    #[arg(long, value_name = "FILE", conflicts_with_all = ["only_measure", "approve_tools", "trace"])]
    pub(crate) compare: Option<Option<PathBuf>>,
    /// How often a comparison may end with a wrong conclusion
    #[arg(
        long,
        value_name = "SHARE",
        default_value = "0.05",
        requires = "compare"
    )]
    pub(crate) error: f64,
    /// A difference of scores up to this does not matter; with 0 only "better" and "worse" are concluded
    #[arg(long, value_name = "SHARE", default_value = "0", requires = "compare")]
    pub(crate) margin: f64,
    /// Write what the agent saw and did in each attempt, and what was decided, to this file as text; an older trace is replaced
    #[arg(long, value_name = "FILE", conflicts_with = "approve_tools")]
    pub(crate) trace: Option<PathBuf>,
    /// Show the tools of the file's MCP server, approve them all as they are now, and run nothing
    #[arg(long, conflicts_with = "only_measure")]
    pub(crate) approve_tools: bool,
}

#[derive(Debug, Subcommand)]
pub(crate) enum ServeCommand {
    /// Serve the library over MCP: its skills by the Skills extension, a search, and reports of outcomes that earn credit
    Mcp(ServeMcp),
}

#[derive(Debug, Args)]
pub(crate) struct ServeMcp {
    /// Serve HTTP on loopback, at this port (0 for a free one), and not one client on standard streams. The bearer token is
    /// the variable JOURNEYMAN_MCP_TOKEN
    #[arg(long, value_name = "PORT")]
    pub(crate) http: Option<u16>,
    /// Find inflected words of this language by their stems, too
    #[arg(long, value_enum, value_name = "LANGUAGE")]
    pub(crate) stems: Option<Language>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum SkillCommand {
    /// List the skills by name
    List(List),
    /// Find skills for a query as a run would, and show the share of each word in the score
    Search(Search),
    /// Say which skills a task would find, how a model's gate scores them, and what it decides
    Why(crate::model::arguments::Why),
    /// Show a skill: its SKILL.md and the library's facts about it
    Show {
        /// Its name or id
        name: String,
        /// The version; the current one if left out
        #[arg(long, value_name = "N")]
        version: Option<u64>,
    },
    /// Show the differences between two versions of a skill
    Diff {
        /// The skill's name or id
        name: String,
        /// The first version
        #[arg(value_name = "A")]
        from: u64,
        /// The second version
        #[arg(value_name = "B")]
        to: u64,
    },
    /// List the commits, latest first
    Log {
        /// Only commits about this skill
        name: Option<String>,
        /// At most this many commits
        #[arg(long, value_name = "N")]
        limit: Option<usize>,
    },
    /// Check skills strictly against the Agent Skills specification and the safety rules
    Validate {
        /// A skill's folder, a folder of skills' folders, or a SKILL.md
        #[arg(required = true, value_name = "PATH")]
        paths: Vec<PathBuf>,
    },
    /// Restore an earlier version of a skill as a new version
    Rollback {
        /// The skill's name or id
        name: String,
        /// The version to restore
        version: u64,
        #[command(flatten)]
        how: How,
    },
    /// Import skills; each starts quarantined
    Import(Import),
    /// Export skills
    Export(Export),
    /// Attempt a skill's evals (evals/evals.json) with the skill and without any, until it is clear whether it helps; learns nothing
    Evals(Evals),
    /// Quarantine a skill: it is not offered until it is released
    Quarantine {
        /// Its name or id
        name: String,
        #[command(flatten)]
        how: How,
    },
    /// Make a skill active
    Release {
        /// Its name or id
        name: String,
        /// The reason, for the log
        #[arg(long, value_name = "TEXT")]
        reason: String,
        /// Show what would be done, and do nothing
        #[arg(long)]
        dry_run: bool,
    },
    /// Undo runs: their credits, the states that they set, and every version that came from them. Shows what it would do; with
    /// --yes it does it
    Retire(Retire),
}

/// Which runs are undone: those for which everything holds that is given.
#[derive(Debug, Args)]
#[command(group = clap::ArgGroup::new("which").required(true).multiple(true)
    .args(["run", "session", "task", "skill", "since"]))]
pub(crate) struct Retire {
    /// The run of this id
    #[arg(long, value_name = "ID")]
    pub(crate) run: Option<String>,
    /// The runs of this session
    #[arg(long, value_name = "NAME")]
    pub(crate) session: Option<String>,
    /// The runs with a commit about this task
    #[arg(long, value_name = "ID")]
    pub(crate) task: Option<String>,
    /// The runs that wrote this skill or set its state
    #[arg(long, value_name = "NAME")]
    pub(crate) skill: Option<String>,
    /// The runs with a commit since then: a time such as 2026-11-26T08:00:00Z, a day such as 2026-11-26 (UTC), or a span such
    /// as 8h
    #[arg(long, value_name = "TIME", value_parser = time)]
    pub(crate) since: Option<SystemTime>,
    /// Undo them
    #[arg(long)]
    pub(crate) yes: bool,
    /// The reason, for the log
    #[arg(
        long,
        value_name = "TEXT",
        default_value = "retired from the command line"
    )]
    pub(crate) reason: String,
}

/// Reads a time, a day or how long ago.
fn time(text: &str) -> Result<SystemTime, String> {
    let day = format!("{text} 00:00:00");
    let at = humantime::parse_rfc3339_weak(text).or_else(|_| humantime::parse_rfc3339_weak(&day));
    let ago = || humantime::parse_duration(text).ok();
    let at = at.ok().or_else(|| SystemTime::now().checked_sub(ago()?));
    at.ok_or_else(|| "give 2026-11-26T08:00:00Z, 2026-11-26, or a span such as 8h".to_owned())
}

#[derive(Debug, Subcommand)]
pub(crate) enum LibraryCommand {
    /// Make an empty library
    Create,
    /// Check every commit, journal entry, file and folder; changes nothing
    Check,
    /// Copy the library's folder aside, recover what is readable of a damaged database, and rewrite the skills' folders
    Repair {
        /// The path of the copy; beside the library if left out
        #[arg(long, value_name = "PATH")]
        aside: Option<PathBuf>,
    },
    /// Show counts and sizes
    Stats,
    /// Show what each skill changes, from the tasks in learning that went without it by chance
    Lift(LiftArguments),
    /// Compare each skill that is in use or on trial with doing without it, at tasks of kept attempts, until it is clear whether it helps
    /// with a model; the pairs and the proofs are kept, and a skill on trial is released or taken back
    Certify(Certify),
    /// Fit the threshold of the gate on outcomes: tasks of kept attempts are drawn, and attempted with the best skill and without any, so that few
    /// tasks go worse for an injection
    Calibrate(Calibrate),
    /// Copy the library with its history and journal, to a folder or to one file
    #[command(group = clap::ArgGroup::new("to").required(true).args(["target", "archive"]))]
    Copy {
        /// The new folder
        target: Option<PathBuf>,
        /// A new archive file, for `library restore`
        #[arg(long, value_name = "FILE")]
        archive: Option<PathBuf>,
    },
    /// Make the library from an archive of your own; for anyone else's, use `skill import`
    Restore {
        /// A file that `library copy --archive` wrote
        archive: PathBuf,
    },
    /// Import the skills that another library offers; each starts quarantined
    Merge(Merge),
}

/// The options of the ledger of lifts.
#[derive(Debug, Args)]
pub(crate) struct LiftArguments {
    /// How often a range may ever leave out the true difference
    #[arg(long, value_name = "SHARE", default_value = "0.05")]
    pub(crate) error: f64,
    /// The share of the verdicts over all skills that may be wrong in the mean
    #[arg(long, value_name = "SHARE", default_value = "0.05")]
    pub(crate) false_discoveries: f64,
    /// Steps above this count as this many
    #[arg(long, value_name = "N", default_value = "64")]
    pub(crate) most_steps: f64,
    /// Tokens above this count as this many
    #[arg(long, value_name = "N", default_value = "16384")]
    pub(crate) most_tokens: f64,
}

/// The options of a certificate.
#[derive(Debug, Args)]
pub(crate) struct Certify {
    /// A run's file, in TOML: its model, its world and its library
    pub(crate) file: PathBuf,
    /// Another model that acts: a GGUF file or the name of a public model, or where the file names a server, the name of a model there
    #[arg(long, value_name = "MODEL")]
    pub(crate) model: Option<String>,
    /// How often a skill may be said to help that does not, or to harm that does not
    #[arg(long, value_name = "SHARE", default_value = "0.05")]
    pub(crate) error: f64,
    /// A difference of scores up to this does not matter; with 0 only "helps" and "harms" are concluded
    #[arg(long, value_name = "SHARE", default_value = "0")]
    pub(crate) margin: f64,
    /// Greatest number of tasks that each skill is compared at
    #[arg(long, value_name = "N", default_value = "200")]
    pub(crate) most: NonZero<u64>,
}

/// The options of a calibration on outcomes.
#[derive(Debug, Args)]
pub(crate) struct Calibrate {
    /// A run's file, in TOML: its model, its world and its library
    pub(crate) file: PathBuf,
    /// Greatest number of tasks that are drawn, by the file's seed; each is attempted twice
    #[arg(long, value_name = "N")]
    pub(crate) outcomes: NonZero<u64>,
    /// Greatest share of tasks that may go worse for an injection; if left out, 0.05
    #[arg(long, value_name = "SHARE")]
    pub(crate) most_harmed: Option<f64>,
    /// How often that share may be larger after all; if left out, 0.1
    #[arg(long, value_name = "SHARE")]
    pub(crate) error: Option<f64>,
    /// Another seed than the file's
    #[arg(long, value_name = "N")]
    pub(crate) seed: Option<u64>,
    /// Write the calibration to this file, which runs read; it must not be there yet
    #[arg(long, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,
}

/// The options of a change.
#[derive(Debug, Args)]
pub(crate) struct How {
    /// The reason, for the log
    #[arg(long, value_name = "TEXT")]
    pub(crate) reason: Option<String>,
    /// Show what would be done, and do nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
}

#[derive(Debug, Args)]
pub(crate) struct List {
    /// Only skills in this state; can be repeated
    #[arg(long, value_enum)]
    pub(crate) state: Vec<OfState>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum OfState {
    Draft,
    Quarantined,
    Trial,
    Active,
    Disabled,
    Archived,
}

#[derive(Debug, Args)]
pub(crate) struct Search {
    /// The query, in words
    pub(crate) query: String,
    /// At most this many skills
    #[arg(long, value_name = "N", default_value = "10")]
    pub(crate) limit: usize,
    /// Find inflected words of this language by their stems, too
    #[arg(long, value_enum, value_name = "LANGUAGE")]
    pub(crate) stems: Option<Language>,
    /// Search also skills that are not offered: drafts, those in quarantine, disabled and archived ones
    #[arg(long)]
    pub(crate) all: bool,
}

/// The options of an import.
#[derive(Debug, Args)]
pub(crate) struct Elsewhere {
    /// The source's name; the last part of the path if left out
    #[arg(long, value_name = "NAME")]
    pub(crate) source: Option<String>,
    /// Trust the source: its skills are not tainted, but they still start quarantined
    #[arg(long)]
    pub(crate) trust: bool,
    /// Import the rest where some paths or skills are refused
    #[arg(long)]
    pub(crate) keep_going: bool,
    #[command(flatten)]
    pub(crate) how: How,
}

#[derive(Debug, Args)]
pub(crate) struct Import {
    /// Skills' folders, folders of skills' folders, SkillRL banks, ARISE documents or archives
    #[arg(required = true, value_name = "PATH")]
    pub(crate) paths: Vec<PathBuf>,
    /// The format of every path; recognized by its content if left out
    #[arg(long, value_enum)]
    pub(crate) format: Option<Format>,
    /// Make the library if there is none
    #[arg(long)]
    pub(crate) create: bool,
    #[command(flatten)]
    pub(crate) from: Elsewhere,
}

#[derive(Debug, Args)]
pub(crate) struct Merge {
    /// The other library's folder, or an archive of it
    pub(crate) other: PathBuf,
    #[command(flatten)]
    pub(crate) from: Elsewhere,
}

#[derive(Debug, Args)]
#[command(group = clap::ArgGroup::new("which").required(true).args(["names", "all", "set"]))]
pub(crate) struct Export {
    /// The skills' names or ids
    #[arg(value_name = "NAME")]
    pub(crate) names: Vec<String>,
    /// Every skill
    #[arg(long)]
    pub(crate) all: bool,
    /// The skills that came from this SkillRL bank or ARISE document, by the source's name
    #[arg(long, value_name = "SOURCE")]
    pub(crate) set: Option<String>,
    /// The format to write
    #[arg(long, value_enum)]
    pub(crate) format: Format,
    /// With `skill-folder`: write evals/evals.json, too, made of each skill's test bundle
    #[arg(long)]
    pub(crate) evals: bool,
    /// A new file; with `skill-folder`, a folder that holds none of these skills yet
    #[arg(long, value_name = "PATH")]
    pub(crate) output: PathBuf,
}

#[derive(Debug, Args)]
pub(crate) struct Evals {
    /// The skill's name or id
    pub(crate) name: String,
    /// The run's file, in TOML: its model, and its world, in which the evals are attempted
    #[arg(long, value_name = "FILE")]
    pub(crate) run: PathBuf,
    /// The seed of all randomness; the file's, or 1, if left out
    #[arg(long, value_name = "N")]
    pub(crate) seed: Option<u64>,
    /// How often a comparison may end with a wrong conclusion
    #[arg(long, value_name = "SHARE", default_value = "0.05")]
    pub(crate) error: f64,
    /// A difference of scores up to this does not matter; with 0 only "better" and "worse" are concluded
    #[arg(long, value_name = "SHARE", default_value = "0")]
    pub(crate) margin: f64,
    /// Attempt at most this many evals
    #[arg(long, value_name = "N")]
    pub(crate) most: Option<NonZero<usize>>,
}

/// A format of imports and exports.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// Folders with a SKILL.md
    SkillFolder,
    /// A SkillRL bank
    Skillrl,
    /// ARISE documents
    Arise,
    /// A library in one file
    Archive,
}
