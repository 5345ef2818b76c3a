//! Cases: a role's prompt with the answer that the world's truth gives.

use super::{judging, parts::Twist, role::Role, rules::conclusion, writing};
use crate::script::{Script, choice};
use crate::seed::Draws;
use crate::tool::SkillText;
use crate::world::WorldSpec;

/// A case: a role's prompt and the true answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Case {
    /// The role.
    pub role: Role,
    /// The prompt, with the role's opening token last.
    pub prompt: Script,
    /// The true answer, without the end token.
    pub answer: String,
    /// Its special properties.
    pub twists: Vec<Twist>,
}

impl Role {
    /// Draws a case in worlds of this spec.
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
            if let Some(parts) = drawn {
                let prompt = parts.script.control(self.opening(), false);
                let prompt = match parts.asked {
                    Some(number) => prompt.control(choice(Some(number)), false),
                    None => prompt,
                };
                return Case {
                    role: self,
                    prompt,
                    answer: parts.answer,
                    twists: parts.twists,
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

    /// Whether an answer is equivalent to the true one. Under rules, only the conclusion of the three lines counts: the
    /// skill, or `none`. The calls before a skill's last may be in any order.
    #[must_use]
    pub fn is_right(&self, written: &str) -> bool {
        let (answer, written) = (self.answer.trim(), written.trim());
        match self.twists.contains(&Twist::Rules) {
            true => same(conclusion(answer), conclusion(written)),
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
