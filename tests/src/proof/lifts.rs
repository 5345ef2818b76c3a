//! One skill that chance withholds: coverage of its interval at every look, false verdicts, and power.

use journeyman::{
    Seed,
    stations::proof::{Effect, EvidenceAbove, Interval},
};

use super::{
    ERROR, RUNS, percent,
    streams::{Draws, Kind, Stream},
};
use crate::figures::{Bound, Figures, Outcome, stats};

/// Tasks of a stream.
const ATTEMPTS: usize = 1_000;
/// Of so many runs one has its interval computed.
const WIDTHS: usize = 20;
/// Tasks after which a gate by the point score decides.
const POINT: usize = 40;

const STREAMS: [Stream; 9] = [
    stream("no effect, half done, a tenth withheld", 0.5, 0.0, 0.1),
    stream(
        "no effect, nearly all done, a tenth withheld",
        0.95,
        0.0,
        0.1,
    ),
    stream("no effect, few done, half withheld", 0.1, 0.0, 0.5),
    stream("a gain of 10 points, a tenth withheld", 0.5, 0.1, 0.1),
    stream("a gain of 30 points, a tenth withheld", 0.5, 0.3, 0.1),
    stream("a harm of 30 points, three tenths withheld", 0.8, -0.3, 0.3),
    Stream {
        kind: Kind::Halves,
        ..stream(
            "a gain of 10 points of a score, three tenths withheld",
            0.5,
            0.1,
            0.3,
        )
    },
    Stream {
        kind: Kind::Group,
        ..stream(
            "four attempts a task, which the skill helps or harms, half withheld",
            0.5,
            0.0,
            0.5,
        )
    },
    Stream {
        without: (0.2, 0.8),
        ..stream(
            "a gain of 10 points while all get better, a tenth withheld",
            0.0,
            0.1,
            0.1,
        )
    },
];

const fn stream(name: &'static str, without: f64, effect: f64, share: f64) -> Stream {
    Stream {
        name,
        kind: Kind::Coin,
        without: (without, without),
        effect,
        share,
    }
}

/// What a run came to.
#[derive(Default)]
struct Came {
    /// Whether the interval left the truth out at any look.
    missed: bool,
    /// The attempt after which it was said that it helps, and that it harms.
    helps: Option<usize>,
    harms: Option<usize>,
    /// Whether the mean with it was greater after a few attempts.
    point: bool,
    /// What a test for one look at the end says: more is done with it.
    fixed: bool,
    /// Of the interval after all tasks, in some runs.
    width: Option<f64>,
}

pub(super) fn run(figures: &mut Figures<'_>) -> Outcome {
    let seed = figures.options().seed;
    for stream in STREAMS {
        figures.progress(format_args!("one skill: {}", stream.name));
        let came: Vec<Came> = (0..RUNS).map(|run| one(&stream, seed, run)).collect();
        let share =
            |is: &dyn Fn(&Came) -> bool| percent(came.iter().filter(|one| is(one)).count(), RUNS);
        let name = |what: &str| format!("{}: {what}", stream.name);
        figures.record(
            &name("the interval ever leaves out the truth, % of runs"),
            share(&|one| one.missed),
            Bound::AtMost(100.0 * ERROR),
        );
        let widths: Vec<f64> = came.iter().filter_map(|one| one.width).collect();
        figures.record(
            &name("width of the interval after 1,000 tasks, points"),
            100.0 * stats::mean(&widths),
            Bound::None,
        );
        let (helps, harms) = (
            share(&|one| one.helps.is_some()),
            share(&|one| one.harms.is_some()),
        );
        let wrong = Bound::AtMost(100.0 * ERROR);
        let (of_gain, of_harm) = match stream.effect {
            effect if effect > 0.0 => (Bound::None, wrong),
            effect if effect < 0.0 => (wrong, Bound::None),
            _ => (wrong, wrong),
        };
        figures.record(&name("ever said that it helps, %"), helps, of_gain);
        figures.record(&name("ever said that it harms, %"), harms, of_harm);
        figures.record(
            &name("a gate by the point score after 40 tasks lets it in, %"),
            share(&|one| one.point),
            Bound::None,
        );
        figures.record(
            &name("a test for one look after 1,000 tasks says that it helps, %"),
            share(&|one| one.fixed),
            Bound::None,
        );
        if stream.effect > 0.0 {
            let mut after: Vec<usize> = came.iter().filter_map(|one| one.helps).collect();
            after.sort_unstable();
            let name = name("said after so many tasks, median");
            match after.get(RUNS / 2) {
                Some(median) => figures.record(&name, *median as f64, Bound::None),
                None => figures.skip(&name, "in fewer than half of the runs"),
            }
        }
        if stream.effect >= 0.3 {
            figures.record(
                &name("found within 1,000 tasks, %"),
                helps,
                Bound::AtLeast(90.0),
            );
        }
    }
    Ok(())
}

fn one(stream: &Stream, seed: Seed, run: usize) -> Came {
    let mut draws = Draws::of(seed, stream.name, run);
    let (mut effect, mut came) = (Effect::default(), Came::default());
    let above = |bound: f64| EvidenceAbove::new(bound);
    let [mut gain, mut harm] = [above(0.0), above(0.0)];
    // The interval leaves out what one of its ends has twice as much evidence against.
    let [mut over, mut under] = [above(stream.effect), above(-stream.effect)];
    let enough = 1.0 / ERROR;
    for number in 0..ATTEMPTS {
        let time = number as f64 / ATTEMPTS as f64;
        let (given, outcome) = stream.task(time, &mut draws);
        effect.add(given, stream.share, outcome);
        for evidence in [&mut gain, &mut over] {
            evidence.add(given, stream.share, outcome);
        }
        for evidence in [&mut harm, &mut under] {
            evidence.add(given, stream.share, 1.0 - outcome);
        }
        came.missed |= over.value().max(under.value()) >= 2.0 * enough;
        let said = |evidence: &EvidenceAbove| (evidence.value() >= enough).then_some(number + 1);
        came.helps = came.helps.or(said(&gain));
        came.harms = came.harms.or(said(&harm));
        if number + 1 == POINT {
            came.point = effect.estimate().is_some_and(|estimate| estimate > 0.0);
        }
    }
    if run.is_multiple_of(WIDTHS) {
        let Interval { low, high } = effect.interval(ERROR);
        came.width = Some(high - low);
    }
    came.fixed = is_significant(&effect);
    came
}

/// A one-sided test of two shares at 5%, for a single look.
fn is_significant(effect: &Effect) -> bool {
    let (given, withheld) = (effect.given, effect.withheld);
    let (n, m) = (given.count as f64, withheld.count as f64);
    let pooled = (given.sum + withheld.sum) / (n + m);
    let deviation = (pooled * (1.0 - pooled) * (1.0 / n + 1.0 / m)).sqrt();
    effect
        .estimate()
        .is_some_and(|estimate| estimate > 1.645 * deviation)
}
