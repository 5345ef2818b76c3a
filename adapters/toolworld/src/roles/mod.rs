//! The roles that the bundled model knows beside acting, as cases with the answer that the worlds' truth gives. Training
//! text is made of cases from the training side of the split, the evaluation of cases from the held-out side. Rules name
//! no tools and have no sides: there, the evaluation only draws anew.

mod judging;
mod rules;
mod writing;

use serde::{Deserialize, Serialize};

use crate::script::{Script, choice};
use crate::seed::Draws;
use crate::tool::SkillText;
use crate::world::WorldSpec;

pub use rules::{Feature, Rule};
pub(crate) use rules::{MOST_RULES, concluded, fared, noted};

/// What a role writes where there is nothing to write.
pub(crate) const NOTHING: &str = "none";

/// A role beside acting. Those that write skills from attempts (extract, compare, repair) keep to rules that stand
/// before their opening, each in a note of its own ([`Rule`]), and say behind the skill which of them it breaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// Writes a skill from a success: `unseal coffee: unseal bell; unseal coffee tone off power $`.
    Extract,
    /// Turns a failure into a lesson: the step where it failed and what was called there; what should have been
    /// called; the principle. `1: unseal coffee tone # power $; unseal bell; unseal coffee needs unseal bell`.
    Lesson,
    /// Writes the skill that several traces share, or `none`.
    Compare,
    /// Mends a skill that is out of date, or claims too much, from an attempt that followed it.
    Repair,
    /// Says what a skill in the context did to an attempt ([`Credit`]).
    Credit,
    /// Cuts an attempt into subgoals, each with its first and last step: `probe 1 1; prepare 2 2; finish 3 3`.
    Segment,
    /// Tags a task with its tool and the parameters that it gives: `unseal coffee; power`.
    Tag,
    /// Scores the last call against a checklist, 0 to 3, and says first how each item stands: whether the call that
    /// has to come `first` was made, then each parameter. `first good pitch bad dose good 2`; `other 0` for the call of
    /// another tool; no less than 1 for the tool that the checklist is about.
    Score,
    /// Decides what an attempt means for the library: `insert SKILL`, `update N SKILL`, `delete N` or `keep`.
    Curate,
    /// Finds the rule that outcomes of earlier skills follow: `avoid FEATURE`, `prefer FEATURE` or `none`.
    Rule,
}

/// What a skill did to an attempt.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Credit {
    /// The agent followed it, no refusal contradicted it, and the task got done.
    Helpful,
    /// The agent followed it, and a refusal named another call, value or source than it says, or a tool that it calls is
    /// no more; or it is about another tool. That another part of it may have helped does not count.
    Harmful,
    /// The agent did not follow it, or it says nothing that the task and the tools do not say.
    Neutral,
    /// The agent followed it, the task did not get done, and no refusal contradicted it.
    Uncertain,
}

impl Credit {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Helpful, Self::Harmful, Self::Neutral, Self::Uncertain];

    /// The word for it.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Helpful => "helpful",
            Self::Harmful => "harmful",
            Self::Neutral => "neutral",
            Self::Uncertain => "uncertain",
        }
    }
}

/// What a role is shown and what it should write.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Case {
    /// The role.
    pub role: Role,
    /// What it is shown, its opening token last.
    pub prompt: Script,
    /// What it should write, without the token that ends it.
    pub answer: String,
    /// What sets it apart from the plain cases of its role.
    pub twists: Vec<Twist>,
}

/// What sets a case apart from the plain ones of its role.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Twist {
    /// Of those that write skills: rules are noted.
    Rules,
    /// Of comparing: a service demanded something of one attempt alone.
    Disagreement,
    /// Of crediting and repairing: the skill calls a tool that is no more.
    Outlived,
}

impl Role {
    /// All of them.
    pub const ALL: [Self; 10] = [
        Self::Extract,
        Self::Lesson,
        Self::Compare,
        Self::Repair,
        Self::Credit,
        Self::Segment,
        Self::Tag,
        Self::Score,
        Self::Curate,
        Self::Rule,
    ];

    /// The control token that opens it.
    #[must_use]
    pub fn opening(self) -> &'static str {
        match self {
            Self::Extract => "<extract>",
            Self::Lesson => "<lesson>",
            Self::Compare => "<compare>",
            Self::Repair => "<repair>",
            Self::Credit => "<credit>",
            Self::Segment => "<segment>",
            Self::Tag => "<tag>",
            Self::Score => "<score>",
            Self::Curate => "<curate>",
            Self::Rule => "<rule>",
        }
    }

    /// Draws a case in worlds of this kind.
    #[must_use]
    pub fn case(self, spec: &WorldSpec, draws: &mut Draws) -> Case {
        loop {
            let drawn = match self {
                Self::Extract => writing::extract(spec, draws),
                Self::Lesson => writing::lesson(spec, draws),
                Self::Compare => writing::compare(spec, draws),
                Self::Repair => writing::repair(spec, draws),
                Self::Credit => judging::credit(spec, draws),
                Self::Segment => judging::segment(spec, draws),
                Self::Tag => Some(judging::tag(spec, draws)),
                Self::Score => judging::score(spec, draws),
                Self::Curate => writing::curate(spec, draws),
                Self::Rule => judging::rule(draws),
            };
            if let Some(told) = drawn {
                let prompt = told.script.control(self.opening(), false);
                let prompt = match told.asked {
                    Some(number) => prompt.control(choice(Some(number)), false),
                    None => prompt,
                };
                return Case {
                    role: self,
                    prompt,
                    answer: told.answer,
                    twists: told.twists,
                };
            }
        }
    }
}

impl Case {
    /// The case as training text.
    #[must_use]
    pub fn document(self) -> Script {
        self.prompt.answer(&self.answer)
    }

    /// Whether what was written comes to the same as the answer: of three lines under rules, the skill or that there is none.
    /// The calls that come before a skill's last may stand in any order.
    #[must_use]
    pub fn is_right(&self, written: &str) -> bool {
        let (answer, written) = (self.answer.trim(), written.trim());
        match self.twists.contains(&Twist::Rules) {
            true => same(concluded(answer), concluded(written)),
            false => same(answer, written),
        }
    }
}

fn same(answer: &str, written: &str) -> bool {
    let skill = |text: &str| {
        let at = text.split(' ').take_while(|word| {
            ["insert", "update"].contains(word) || word.bytes().all(|byte| byte.is_ascii_digit())
        });
        let head: Vec<&str> = at.collect();
        let length = head.iter().map(|word| word.len() + 1).sum::<usize>();
        Some((head.join(" "), SkillText::parse(text.get(length..)?)?))
    };
    let says_the_same = match (skill(answer), skill(written)) {
        (Some((head, answer)), Some((other, written))) => {
            head == other && answer.says_the_same(&written)
        }
        _ => false,
    };
    answer == written || says_the_same
}

/// What was shown, which skill the role is asked about, and the answer.
#[derive(Debug)]
struct Told {
    script: Script,
    asked: Option<usize>,
    answer: String,
    twists: Vec<Twist>,
}

impl Told {
    fn of(script: Script, answer: String) -> Self {
        Self {
            script,
            asked: None,
            answer,
            twists: Vec::new(),
        }
    }

    fn about(mut self, skill: usize) -> Self {
        self.asked = Some(skill);
        self
    }

    fn with(mut self, twist: Option<Twist>) -> Self {
        self.twists.extend(twist);
        self
    }
}

/// None where the draws gave no case of the role.
type Drawn = Option<Told>;

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests;
