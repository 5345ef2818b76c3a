//! The command: a group for one seed, a summary over seeds, the list.

use std::{
    collections::BTreeMap,
    io::{self, Write},
};

use super::{
    Figures, Group, Options, Wanted, options::USAGE, recorder::rounded, saved::Saved, stats,
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

/// A line for each figure: name, seeds, mean, sample standard deviation, least, greatest, and how many are short.
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
    let mut figures: BTreeMap<&str, (Vec<f64>, usize)> = BTreeMap::new();
    for (name, figure) in runs.iter().flat_map(|run| &run.figures) {
        let (values, short) = figures.entry(name).or_default();
        values.extend(figure.value);
        *short += usize::from(figure.result == "short");
    }
    writeln!(out, "figure, seeds, mean, sd, least, greatest, short")?;
    for (name, (values, short)) in &figures {
        let least = values.iter().copied().fold(f64::INFINITY, f64::min);
        let greatest = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let numbers = [
            stats::mean(values),
            stats::sample_sd(values),
            least,
            greatest,
        ];
        let numbers = numbers.map(|number| {
            if number.is_finite() {
                rounded(number)
            } else {
                "-".to_owned()
            }
        });
        writeln!(
            out,
            "{name}, {}, {}, {short}",
            values.len(),
            numbers.join(", ")
        )?;
    }
    Ok(figures.values().map(|(_, short)| short).sum())
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
            run: counted,
        },
        Group {
            name: "short",
            about: "b",
            listed: true,
            run: short,
        },
        Group {
            name: "failing",
            about: "c",
            listed: false,
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
        let summary = "figure, seeds, mean, sd, least, greatest, short\nvalue, 2, 0.2500, 0, 0.2500, 0.2500, 0\n";
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
        std::fs::write(out.join("figures/counted-1.json"), "{").unwrap();
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
