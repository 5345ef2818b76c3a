//! Skills for no task of the data: plain chores of other trades, in sentences as people write them.

use std::error::Error;

use journeyman::{
    Seed,
    domain::{Skill, SkillName},
    library::format::SkillMd,
};
use rand_chacha::rand_core::Rng;

/// What is done: a verb, and what is said of it in a step.
const DOES: [(&str, &str); 24] = [
    (
        "check",
        "Go through it line by line and mark what does not add up.",
    ),
    (
        "summarize",
        "Write at most one page, with the figure that matters in the first line.",
    ),
    (
        "compare",
        "Put the two side by side and say where they differ, and by how much.",
    ),
    (
        "plan",
        "Start from the last date that cannot move and count backwards.",
    ),
    (
        "archive",
        "Keep one copy in each of two places, and note where.",
    ),
    ("translate", "Keep names, numbers and units as they are."),
    ("estimate", "Give a range, and say what it rests on."),
    (
        "negotiate",
        "Know the price at which you would walk away before you begin.",
    ),
    (
        "label",
        "Use the words that the people use who look for it later.",
    ),
    ("repair", "Find out first since when it has been broken."),
    (
        "order",
        "Ask three suppliers, in writing, with the same list.",
    ),
    (
        "measure",
        "Measure twice, with two instruments where you can.",
    ),
    (
        "document",
        "Write for somebody who comes in two years and can ask nobody.",
    ),
    (
        "publish",
        "Have a second person read it before anybody else does.",
    ),
    (
        "migrate",
        "Run the old and the new side by side for a week.",
    ),
    (
        "monitor",
        "Raise an alarm only where somebody has to do something.",
    ),
    (
        "forecast",
        "Take the last three years, and leave out the one with the strike.",
    ),
    ("clean", "Keep what was there before, under another name."),
    ("rehearse", "Do it once with everything but the audience."),
    ("inspect", "Look at the places that nobody likes to reach."),
    ("price", "Add what it costs to be wrong."),
    ("schedule", "Leave a fifth of each day empty."),
    (
        "merge",
        "Decide first which of the two is right where they disagree.",
    ),
    (
        "report",
        "Say what happened, what it means, and what you ask for.",
    ),
];

/// To what: things, and what is said of them.
const THINGS: [(&str, &str); 24] = [
    (
        "invoices",
        "The number, the date and the tax have to be on each.",
    ),
    (
        "floor plans",
        "Doors open inwards unless it is said otherwise.",
    ),
    ("recipes", "Weights are in grams, and for four people."),
    ("server logs", "Times are in UTC; one line is one event."),
    (
        "sales figures",
        "Returns are counted in the month in which they come back.",
    ),
    ("patient letters", "Names stay out of the subject line."),
    (
        "bus timetables",
        "A night service belongs to the day on which it began.",
    ),
    (
        "rental contracts",
        "The notice runs from the end of the month.",
    ),
    (
        "soil samples",
        "The depth stands on the label, in centimeters.",
    ),
    ("photographs", "The original is never written over."),
    ("translations", "Each has its source beside it."),
    ("sheet music", "Bar numbers are at the start of each line."),
    ("spare parts", "The drawing number counts, not the name."),
    ("questionnaires", "An answer left blank is not a no."),
    (
        "web pages",
        "The address stays, whatever the title becomes.",
    ),
    ("energy bills", "Meters are read on the first, at noon."),
    ("job adverts", "The pay stands in the first paragraph."),
    ("weather records", "Rain is given for the day before."),
    ("podcasts", "The loudness is the same from one to the next."),
    (
        "test results",
        "A test that was not run is not one that passed.",
    ),
    ("travel expenses", "Receipts below ten are kept for a year."),
    (
        "museum catalogs",
        "The year of making, not that of finding.",
    ),
    ("board games", "Every card is counted back into its box."),
    ("maps", "North is up, and the scale is drawn, not written."),
];

/// For whom.
const PLACES: [&str; 20] = [
    "a hotel",
    "a school",
    "a small bakery",
    "a city library",
    "a hospital ward",
    "a law office",
    "a shipyard",
    "a vineyard",
    "a football club",
    "a theater",
    "a power plant",
    "a housing cooperative",
    "a radio station",
    "a bicycle shop",
    "a university chair",
    "an airline",
    "a zoo",
    "a charity",
    "a print shop",
    "a ministry",
];

const ENDS: [&str; 6] = [
    "Stop and ask where two sources say different things.",
    "Put the result where the last one was, and keep the last one.",
    "If nothing was found, say so; an empty page looks like a mistake.",
    "Tell the person who asked when it is done, and what is left.",
    "Do not guess a missing value.",
    "Write down what you assumed.",
];

/// Skills, each other than the rest; the first of a longer list are those of a shorter one.
///
/// Each has three lines that stand somewhere in the skills of others, so that words of their trade occur in wrong skills too.
///
/// # Errors
/// Where a made text is no skill.
pub(super) fn distractors(
    count: usize,
    others: &[Skill],
    seed: Seed,
) -> Result<Vec<Skill>, Box<dyn Error + Send + Sync>> {
    let lines: Vec<&str> = (others.iter())
        .flat_map(|skill| skill.body.lines())
        .map(str::trim)
        .filter(|line| line.len() > 30 && line.split(' ').count() > 4)
        .collect();
    let mut all: Vec<(usize, usize, usize)> = Vec::new();
    for does in 0..DOES.len() {
        for thing in 0..THINGS.len() {
            all.extend((0..PLACES.len()).map(|place| (does, thing, place)));
        }
    }
    if count > all.len() {
        return Err(format!("at most {} skills can be made", all.len()).into());
    }
    let mut rng = seed.derive("distractors", 0).rng();
    let mut below = |most: usize| (rng.next_u64() % most.max(1) as u64) as usize;
    for at in 0..count {
        let other = at + below(all.len() - at);
        all.swap(at, other);
    }
    let skill = |&(does, thing, place): &(usize, usize, usize)| {
        let ((verb, does), (thing, of), place) = (DOES[does], THINGS[thing], PLACES[place]);
        let name = format!("{verb} {thing} {place}").replace(' ', "-");
        let mut body = format!(
            "# How to {verb} {thing}\n\nIn {place}. {of} {does}\n\n## Steps\n\n1. Get the latest {thing}.\n2. {does}\n3. {}\n\n## Notes\n",
            ENDS[below(ENDS.len())]
        );
        for _ in 0..3 {
            let line = lines.get(below(lines.len())).copied().unwrap_or_default();
            body = format!(
                "{body}\n- {}",
                line.trim_start_matches(['-', '*', '#', ' '])
            );
        }
        let text = format!(
            "---\nname: {name}\ndescription: How to {verb} {thing} in {place}. Use it whenever somebody there asks for it.\n---\n\n{body}\n"
        );
        let mut skill = SkillMd::read(&text, Some(&name))?.0.skill()?;
        (skill.id, skill.name) = (name.as_str().into(), SkillName::new(&name)?);
        Ok(skill)
    };
    all[..count].iter().map(skill).collect()
}
