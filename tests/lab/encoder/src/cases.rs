//! Pairs of a task and the skill that it calls for.

use journeyman::{Result, domain::SkillDraft};
use journeyman_toolworld::{
    lexicon::{NOUNS, VERBS},
    request::{Goal, Request, TEMPLATES},
    seed::Draws,
    skill_form::to_draft,
    split::Split,
    tool::{SkillText, ToolName},
    world::{World, WorldSpec},
};

use crate::OtherWords;

/// The number of verbs and nouns of a [`Grid`].
const GRID: (usize, usize) = (32, 40);

/// A part of the tools, by their pair of verb and noun.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// Tools that the encoder is trained on.
    Training,
    /// One in five of the tools of toolworld's training side: what is chosen is chosen on these.
    Development,
    /// The tools of toolworld's held-out side.
    HeldOut,
}

impl Part {
    /// The part of a tool.
    #[must_use]
    pub fn of(name: &ToolName) -> Self {
        match Split::of(&name.verb, &name.noun) {
            Split::HeldOut => Self::HeldOut,
            // The same function of the words in the other order is independent of the first split.
            Split::Training if Split::of(&name.noun, &name.verb) == Split::Training => {
                Self::Training
            }
            Split::Training => Self::Development,
        }
    }

    /// Training tasks and the others use different halves of toolworld's sentences.
    fn template(self, draws: &mut Draws) -> usize {
        draws.below(TEMPLATES / 2) * 2 + usize::from(self != Self::Training)
    }
}

/// The verbs and nouns of one library: few, so that skills share their words and are hard to tell apart.
#[derive(Clone, Debug)]
pub struct Grid {
    verbs: Vec<&'static str>,
    nouns: Vec<&'static str>,
}

impl Grid {
    /// All verbs and nouns.
    #[must_use]
    pub fn whole() -> Self {
        let (verbs, nouns) = (VERBS.to_vec(), NOUNS.to_vec());
        Self { verbs, nouns }
    }

    /// 32 verbs and 40 nouns.
    #[must_use]
    pub fn draw(draws: &mut Draws) -> Self {
        let mut grid = Self::whole();
        draws.shuffle(&mut grid.verbs);
        draws.shuffle(&mut grid.nouns);
        grid.verbs.truncate(GRID.0);
        grid.nouns.truncate(GRID.1);
        grid
    }

    fn has(&self, name: &ToolName) -> bool {
        self.verbs.contains(&name.verb.as_str()) && self.nouns.contains(&name.noun.as_str())
    }
}

/// A tool's skill, and a task about the tool in two wordings.
#[derive(Clone, Debug)]
pub struct Case {
    /// The tool.
    pub tool: ToolName,
    /// The skill that its contract calls for.
    pub skill: SkillDraft,
    /// The task in the skill's own words.
    pub own_words: String,
    /// The task in other words.
    pub other_words: String,
}

/// `count` cases about tools of a part and a grid; the same seed gives the same ones. A tool may occur again, with the
/// contract of that time: whoever makes a library of them takes the first.
///
/// # Errors
/// `Corrupt` where the table of words cannot be read.
pub fn cases(part: Part, grid: &Grid, count: usize, seed: u64) -> Result<Vec<Case>> {
    let words = OtherWords::read()?;
    let mut draws = Draws::new("encoder", &[seed, part as u64]);
    let spec = WorldSpec {
        split: match part {
            Part::HeldOut => Split::HeldOut,
            Part::Training | Part::Development => Split::Training,
        },
        invented_nouns: 0.0,
        hidden: 0.7,
        ..WorldSpec::default()
    };
    let mut found = Vec::with_capacity(count);
    while found.len() < count {
        let world = World::make(&spec, &mut draws);
        let name = &world.goal.target;
        if grid.has(name)
            && Part::of(name) == part
            && let Some(case) = case(part, &world, &words, &mut draws)
        {
            found.push(case);
        }
    }
    Ok(found)
}

fn case(part: Part, world: &World, words: &OtherWords, draws: &mut Draws) -> Option<Case> {
    let tool = &world.goal.target;
    let skill = to_draft(&SkillText::of(world.target()?, &world.given_names()));
    let template = part.template(draws);
    let own_words = Request::of(&world.goal).write(template, draws);
    let goal = Goal {
        target: words.draw(tool, draws)?,
        given: world.goal.given.clone(),
    };
    let names = |text: &str| text.split(' ').any(|word| word == tool.noun);
    let other_words = loop {
        // The thing that a task mentions beside its tool's may be any noun, so also the tool's own.
        let text = Request::of(&goal).write(template, draws);
        if !names(&text) {
            break text;
        }
    };
    Some(Case {
        tool: tool.clone(),
        skill,
        own_words,
        other_words,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cases_are_of_their_part_and_other_words_name_no_word_of_the_tool() {
        for part in [Part::Training, Part::Development, Part::HeldOut] {
            let found = cases(part, &Grid::whole(), 200, 7).unwrap();
            for case in &found {
                assert_eq!(Part::of(&case.tool), part);
                let says = |text: &str, word: &str| text.split(' ').any(|one| one == word);
                let Case {
                    own_words,
                    other_words,
                    ..
                } = case;
                assert!(says(own_words, &case.tool.verb) && says(own_words, &case.tool.noun));
                assert!(!says(other_words, &case.tool.noun), "{other_words}");
                assert!(!says(other_words, &case.tool.verb), "{other_words}");
            }
            let again = cases(part, &Grid::whole(), 200, 7).unwrap();
            assert_eq!(again[199].other_words, found[199].other_words);
        }
    }

    #[test]
    fn one_in_five_of_the_training_side_is_for_development() {
        let mut counts = [0_usize; 3];
        for (verb, noun) in VERBS
            .iter()
            .flat_map(|verb| NOUNS.iter().map(move |n| (verb, n)))
        {
            counts[Part::of(&ToolName::new(verb, noun)) as usize] += 1;
        }
        let all: usize = counts.iter().sum();
        for (count, share) in counts.iter().zip([0.64, 0.16, 0.2]) {
            assert!(
                (*count as f64 / all as f64 - share).abs() < 0.02,
                "{counts:?}"
            );
        }
    }
}
