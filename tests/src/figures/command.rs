//! The command: a group for one seed, a summary over seeds, the list.

use std::{
    collections::{BTreeMap, BTreeSet},
    io::{self, Write},
};

use super::{
    Figures, Group, Options, Wanted, code,
    options::USAGE,
    recorder::rounded,
    saved::{Figure, Saved},
    stats,
};

type Failure = Box<dyn std::error::Error + Send + Sync>;

/// Runs the command with these arguments and groups. The exit status: 0, or 1 when a figure is short, 2 when it could
/// not be measured, 64 for a wrong call.
pub fn run(
    groups: &[Group],
    wanted: Result<Wanted, String>,
    out: &mut dyn Write,
    progress: &mut dyn Write,
) -> u8 {
    let done = match wanted {
        Err(wrong) => return say(progress, &format!("{wrong}\n{USAGE}"), 64),
        Ok(Wanted::List) => list(groups, out),
        Ok(Wanted::Group(name, options)) => match groups.iter().find(|group| group.name == name) {
            Some(group) if options.model.is_some() && !group.takes_model => {
                let words = format!("{name} measures the bundled model: leave --model out");
                return say(progress, &words, 64);
            }
            Some(group) => measure(group, options, out, progress),
            None => {
                let known: Vec<_> = groups
                    .iter()
                    .filter(|group| group.listed)
                    .map(|group| group.name)
                    .collect();
                return say(
                    progress,
                    &format!("{name}: no such group; there are: {}", known.join(", ")),
                    64,
                );
            }
        },
        Ok(Wanted::Summary(name, options)) => summary(&name, &options, out),
    };
    match done {
        Ok(0) => 0,
        Ok(short) => say(progress, &format!("{short} short"), 1),
        Err(failure) => say(progress, &format!("could not measure: {failure}"), 2),
    }
}

fn say(progress: &mut dyn Write, what: &str, status: u8) -> u8 {
    // Where the error stream is gone, the status is all that is left to say it.
    let _ = writeln!(progress, "{what}");
    status
}

fn list(groups: &[Group], out: &mut dyn Write) -> Result<usize, Failure> {
    for group in groups.iter().filter(|group| group.listed) {
        writeln!(out, "{}: {}", group.name, group.about)?;
    }
    Ok(0)
}

fn measure(
    group: &Group,
    options: Options,
    out: &mut dyn Write,
    progress: &mut dyn Write,
) -> Result<usize, Failure> {
    Figures::new(group.name, options, out, progress)?.finish(group.run)
}

/// A table for documents: a row for each figure, in the order in which they are recorded.
fn summary(group: &str, options: &Options, out: &mut dyn Write) -> Result<usize, Failure> {
    let runs = Saved::finished(&options.out, group)?;
    if runs.is_empty() {
        let folder = Saved::folder(&options.out);
        return Err(io::Error::other(format!(
            "no finished run of {group} in {}",
            folder.display()
        ))
        .into());
    }
    of_one_code(&runs)?;
    let seeds: Vec<_> = runs.iter().map(|run| run.seed.to_string()).collect();
    let mut subjects: BTreeSet<&str> = BTreeSet::new();
    subjects.extend(
        runs.iter()
            .flat_map(|run| run.subjects.values().map(String::as_str)),
    );
    let subjects: Vec<_> = subjects.into_iter().collect();
    writeln!(
        out,
        "{group}, seeds {}; {}\n",
        seeds.join(", "),
        subjects.join(", ")
    )?;
    let mut names: Vec<&str> = Vec::new();
    let mut rows: BTreeMap<&str, Vec<&Figure>> = BTreeMap::new();
    for figure in runs.iter().flat_map(|run| &run.figures) {
        let row = rows.entry(&figure.name).or_default();
        if row.is_empty() {
            names.push(&figure.name);
        }
        row.push(figure);
    }
    writeln!(
        out,
        "| figure | mean ± sd | least | greatest | bound | short on |"
    )?;
    writeln!(out, "| --- | --- | --- | --- | --- | --- |")?;
    let mut all_short = 0;
    for name in names {
        let figures = rows.get(name).map_or(&[][..], Vec::as_slice);
        let short = figures
            .iter()
            .filter(|figure| figure.result == "short")
            .count();
        all_short += short;
        let bound = figures
            .first()
            .map_or("none", |figure| figure.bound.as_str());
        writeln!(
            out,
            "| {name} | {} | {bound} | {short} of {} |",
            spread(figures),
            figures.len()
        )?;
    }
    Ok(all_short)
}

/// A table is of one code.
///
/// # Errors
/// When the runs are of several, naming the seeds of each.
fn of_one_code(runs: &[Saved]) -> io::Result<()> {
    let mut seeds: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for run in runs {
        let of = seeds.entry(code::short(&run.code)).or_default();
        of.push(run.seed.to_string());
    }
    if seeds.len() < 2 {
        return Ok(());
    }
    let each = seeds.into_iter();
    let each = each.map(|(code, seeds)| format!("{code}: {}", seeds.join(", ")));
    let each = each.collect::<Vec<_>>().join("; ");
    Err(io::Error::other(format!(
        "the seeds are of different code ({each}); measure them with one"
    )))
}

/// Mean and sample standard deviation, least and greatest.
fn spread(figures: &[&Figure]) -> String {
    let values: Vec<f64> = figures.iter().filter_map(|figure| figure.value).collect();
    let shown = |number: f64| match number.is_finite() {
        true => rounded(number),
        false => "-".to_owned(),
    };
    let least = values.iter().copied().fold(f64::INFINITY, f64::min);
    let greatest = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let (mean, sd) = (stats::mean(&values), stats::sample_sd(&values));
    let [mean, sd, least, greatest] = [mean, sd, least, greatest].map(shown);
    format!("{mean} ± {sd} | {least} | {greatest}")
}

#[cfg(test)]
mod tests {
    use std::{
        path::{Path, PathBuf},
        sync::atomic::{AtomicUsize, Ordering},
    };

    use super::*;
    use crate::figures::{Bound, Outcome, groups};

    static COMPUTED: AtomicUsize = AtomicUsize::new(0);

    fn counted(figures: &mut Figures<'_>) -> Outcome {
        let value: f64 = figures.once("value", || {
            COMPUTED.fetch_add(1, Ordering::SeqCst);
            Ok(0.25)
        })?;
        figures.record("value", value, Bound::AtLeast(0.2));
        Ok(())
    }

    fn short(figures: &mut Figures<'_>) -> Outcome {
        figures.record("a", 1.0, Bound::Above(1.0));
        figures.record("b", f64::NAN, Bound::None);
        Ok(())
    }

    fn failing(figures: &mut Figures<'_>) -> Outcome {
        figures.record("a", 1.0, Bound::None);
        figures.record("a", 2.0, Bound::None);
        Ok(())
    }

    const GROUPS: [Group; 3] = [
        Group {
            name: "counted",
            about: "a",
            listed: true,
            takes_model: false,
            run: counted,
        },
        Group {
            name: "short",
            about: "b",
            listed: true,
            takes_model: false,
            run: short,
        },
        Group {
            name: "failing",
            about: "c",
            listed: false,
            takes_model: false,
            run: failing,
        },
    ];

    fn check(groups: &[Group], out: &Path, line: &str, status: u8, expect: &str, said: &str) {
        let arguments = line.split_whitespace().map(str::to_owned);
        let wanted = Wanted::parse(arguments, Some(out.display().to_string()));
        let (mut lines, mut progress) = (Vec::new(), Vec::new());
        let found = run(groups, wanted, &mut lines, &mut progress);
        let progress = String::from_utf8(progress).unwrap();
        assert_eq!(
            String::from_utf8(lines).unwrap(),
            expect,
            "{line}: {progress}"
        );
        assert_eq!(found, status, "{line}: {progress}");
        assert!(progress.contains(said), "{line}: {progress}");
    }

    fn folder(name: &str) -> PathBuf {
        let folder = std::env::temp_dir().join(format!("journeyman-{name}-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&folder);
        folder
    }

    #[test]
    fn figures_are_recorded_resumed_and_summed_up() {
        let out = folder("figures");
        check(&GROUPS, &out, "counted --summary", 2, "", "no finished run");
        check(
            &GROUPS,
            &out,
            "counted",
            0,
            "value, 0.2500, >= 0.2, ok\n",
            "value …",
        );
        check(
            &GROUPS,
            &out,
            "counted --resume",
            0,
            "value, 0.2500, >= 0.2, ok\n",
            "from the run before",
        );
        assert_eq!(COMPUTED.load(Ordering::SeqCst), 1);
        check(
            &GROUPS,
            &out,
            "counted --seed 2",
            0,
            "value, 0.2500, >= 0.2, ok\n",
            "",
        );
        assert_eq!(COMPUTED.load(Ordering::SeqCst), 2);
        let summary = "counted, seeds 1, 2; \n\n\
             | figure | mean ± sd | least | greatest | bound | short on |\n\
             | --- | --- | --- | --- | --- | --- |\n\
             | value | 0.2500 ± 0 | 0.2500 | 0.2500 | >= 0.2 | 0 of 2 |\n";
        check(&GROUPS, &out, "counted --summary", 0, summary, "");
        let data = format!("counted --resume --data {}", out.display());
        check(
            &GROUPS,
            &out,
            &data,
            2,
            "",
            "it is of another --data; run without --resume",
        );
        // Results of other code are made anew, and seeds of other code are in no table.
        let path = out.join("figures/counted-1.json");
        let text = std::fs::read_to_string(&path).unwrap();
        let this = code::of_this_program().unwrap();
        assert!(text.contains(&this));
        std::fs::write(&path, text.replace(&this, "0123456789abcdef")).unwrap();
        let said = "the seeds are of different code (0123456789ab: 1; ";
        check(&GROUPS, &out, "counted --summary", 2, "", said);
        let said = "1 saved results are of other code (0123456789ab) and are made anew";
        let line = "value, 0.2500, >= 0.2, ok\n";
        check(&GROUPS, &out, "counted --resume", 0, line, said);
        assert_eq!(COMPUTED.load(Ordering::SeqCst), 3);
        check(&GROUPS, &out, "counted --summary", 0, summary, "");
        std::fs::write(&path, "{").unwrap();
        check(
            &GROUPS,
            &out,
            "counted --resume",
            2,
            "",
            "run without --resume",
        );
        std::fs::remove_dir_all(&out).unwrap();
    }

    #[test]
    fn short_figures_and_wrong_calls_have_a_status() {
        let out = folder("short");
        check(
            &GROUPS,
            &out,
            "short",
            1,
            "a, 1, > 1, short\nb, NaN, none, short\n",
            "2 short",
        );
        let lines = "a, 1, none, ok\na, 2, none, ok\n";
        check(&GROUPS, &out, "failing", 2, lines, "recorded twice");
        check(&GROUPS, &out, "absent", 64, "", "there are: counted, short");
        check(&GROUPS, &out, "--list", 0, "counted: a\nshort: b\n", "");
        check(
            &GROUPS,
            &out,
            "--what",
            64,
            "",
            "usage: bash tests/figures.sh",
        );
        std::fs::remove_dir_all(&out).unwrap();
    }

    #[test]
    fn the_self_test_passes_and_says_what_it_skipped() {
        let out = folder("self");
        let arguments = ["self-test".to_owned()];
        let wanted = Wanted::parse(arguments, Some(out.display().to_string()));
        let (mut lines, mut progress) = (Vec::new(), Vec::new());
        assert_eq!(run(groups(), wanted, &mut lines, &mut progress), 0);
        let lines = String::from_utf8(lines).unwrap();
        assert!(
            lines.ends_with("real heads, -, none, skipped: needs --data DIR with coins.csv\n"),
            "{lines}"
        );
        std::fs::remove_dir_all(&out).unwrap();
    }
}
