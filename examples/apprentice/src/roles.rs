//! How the model does in its roles beside acting.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use futures::executor::block_on;
use journeyman::Result;
use journeyman::contract::GenerateRequest;
use journeyman_toolworld::corpus::without_its_tool;
use journeyman_toolworld::lexicon::foreign_words;
use journeyman_toolworld::rivals::irrelevant_skill;
use journeyman_toolworld::roles::{Case, Credit, Role, Twist};
use journeyman_toolworld::script::Script;
use journeyman_toolworld::seed::Draws;
use journeyman_toolworld::split::Split;
use journeyman_toolworld::tool::SkillText;
use journeyman_toolworld::world::{World, WorldSpec};
use serde::{Deserialize, Serialize};

use crate::arena::Arena;
use crate::share::Share;

/// The most tokens of an answer.
const TOKENS: usize = 96;

/// Cases that are harder than most of their role: the role, what sets them apart, and both in words.
pub const TWISTED: [(Role, Twist, &str); 6] = [
    (Role::Extract, Twist::Rules, "`<extract>` under rules"),
    (Role::Compare, Twist::Rules, "`<compare>` under rules"),
    (Role::Repair, Twist::Rules, "`<repair>` under rules"),
    (
        Role::Compare,
        Twist::Disagreement,
        "`<compare>` where one attempt alone met a demand",
    ),
    (
        Role::Repair,
        Twist::Outlived,
        "`<repair>` of a skill that outlived a demand",
    ),
    (
        Role::Credit,
        Twist::Outlived,
        "`<credit>` to a skill that outlived a demand",
    ),
];

/// Cases of each role, in wide held-out worlds: what policies did, and what the worlds' truth answers.
#[derive(Debug, Default, Serialize, Deserialize)]
pub struct Roles {
    /// Answered right, by role.
    pub right: BTreeMap<Role, Share>,
    /// Credits given right, by what is true.
    pub credit: BTreeMap<Credit, Share>,
    /// Answered right, of as many cases of each of [`TWISTED`], in its order.
    pub twisted: [Share; TWISTED.len()],
    /// Says that no tool fits where the task's tool is not visible; half of the times with an irrelevant skill.
    pub absent: Share,
    /// The same for a task in words of random letters.
    pub gibberish: Share,
    /// A task that begins with such words, with the right skill: done at the first attempt.
    pub foreign: Share,
}

impl Roles {
    /// Measures `count` cases of each role.
    ///
    /// # Errors
    /// What the model gives.
    pub fn measure(arena: &Arena, seed: u64, count: usize) -> Result<Self> {
        let mut roles = Self::default();
        for role in Role::ALL {
            let label = format!("evaluation-{}", role.opening());
            for number in 0..count as u64 {
                let mut draws = Draws::new(&label, &[seed, number]);
                let spec = held_out(&mut draws);
                let case = role.case(&spec, &mut draws);
                let right = case.is_right(&arena.answer(&case)?);
                roles.right.entry(role).or_default().add(right);
                let truth = Credit::ALL
                    .into_iter()
                    .find(|credit| role == Role::Credit && credit.word() == case.answer);
                if let Some(truth) = truth {
                    roles.credit.entry(truth).or_default().add(right);
                }
            }
        }
        for ((role, twist, label), share) in TWISTED.iter().zip(&mut roles.twisted) {
            for case in twisted(*role, *twist, label, seed).take(count) {
                share.add(case.is_right(&arena.answer(&case)?));
            }
        }
        for number in 0..count as u64 {
            let mut draws = Draws::new("evaluation-unfit", &[seed, number]);
            let spec = held_out(&mut draws);
            let mut world = World::make(&spec, &mut draws);
            let skill = irrelevant_skill(&spec, &mut world, &mut draws).to_string();
            let skills = if draws.chance(0.5) {
                vec![skill]
            } else {
                Vec::new()
            };
            let absent = without_its_tool(&world);
            roles.absent.add(arena.refuses(&absent, &skills)?);
            let mut strange = world.clone();
            strange.query = foreign_words(draws.between(2, 7), &mut draws);
            roles.gibberish.add(arena.refuses(&strange, &skills)?);
            let words = foreign_words(draws.between(1, 3), &mut draws);
            strange.query = format!("{words} {}", world.query);
            let target = world.target();
            let skill = target.map(|target| SkillText::of(target, &world.given_names()));
            let skills: Vec<&SkillText> = skill.iter().collect();
            let tried = arena.attempt(&strange, &skills, number)?;
            roles.foreign.add(tried.first);
        }
        Ok(roles)
    }

    /// The mean share of right credits over helpful, harmful and neutral.
    #[must_use]
    pub fn balanced_credit(&self) -> f64 {
        let asked = [Credit::Helpful, Credit::Harmful, Credit::Neutral];
        let shares = asked.map(|credit| self.credit.get(&credit).map_or(f64::NAN, Share::value));
        shares.iter().sum::<f64>() / shares.len() as f64
    }

    /// The table of the card.
    #[must_use]
    pub fn tables(&self) -> String {
        let mut out = String::from("| role | right |\n|---|---|\n");
        for (role, share) in &self.right {
            let _ = writeln!(out, "| `{}` | {share} |", role.opening());
        }
        for ((_, _, label), share) in TWISTED.iter().zip(&self.twisted) {
            let _ = writeln!(out, "| {label} | {share} |");
        }
        for (credit, share) in &self.credit {
            let _ = writeln!(
                out,
                "| `<credit>` where the truth is {} | {share} |",
                credit.word()
            );
        }
        let _ = write!(
            out,
            "| `<credit>`, balanced over helpful, harmful and neutral | {:.1} |\n\
             | `<none>` where the task's tool is not visible | {} |\n\
             | `<none>` for a task of random letters | {} |\n\
             | a task that begins with random letters, right skill, first attempt | {} |\n",
            100.0 * self.balanced_credit(),
            self.absent,
            self.gibberish,
            self.foreign
        );
        out
    }
}

/// The cases of a role, drawn anew, that are of this kind.
fn twisted(role: Role, twist: Twist, label: &str, seed: u64) -> impl Iterator<Item = Case> {
    let drawn = (0..).map(move |number| {
        let mut draws = Draws::new(label, &[seed, number]);
        role.case(&held_out(&mut draws), &mut draws)
    });
    drawn.filter(move |case| case.twists.contains(&twist))
}

/// The worlds of the evaluation: 3 to 8 tools, a quarter of the nouns invented, all wordings of refusals.
pub fn held_out(draws: &mut Draws) -> WorldSpec {
    WorldSpec {
        split: Split::HeldOut,
        ..WorldSpec::wide(draws)
    }
}

impl Arena {
    /// What the model answers to a case.
    fn answer(&self, case: &Case) -> Result<String> {
        self.continued(&case.prompt)
    }

    /// Whether the model says that no visible tool does the task.
    fn refuses(&self, world: &World, skills: &[String]) -> Result<bool> {
        let tools = world.services.iter().map(|service| &service.tool);
        let script = Script::task(&world.query)
            .skills(skills.iter().map(|skill| (skill.as_str(), false)))
            .tools(tools)
            .plan();
        Ok(self.continued(&script)?.starts_with("<none>"))
    }

    fn continued(&self, script: &Script) -> Result<String> {
        let mut request = GenerateRequest::greedy(script.prompt(), TOKENS);
        request.stop = vec!["<end>".to_owned(), "<call>".to_owned()];
        Ok(block_on(self.model.generate(&request))?.text)
    }
}
