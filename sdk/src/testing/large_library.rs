//! A large library with the parts for learning on it, for tests and benches of how the cost of a run grows.

use std::sync::Arc;

use super::{
    Play, ScriptedEnvironment, ScriptedExecutor, ScriptedJudge, ScriptedModel, ScriptedRetriever,
    ScriptedRoles, sample,
};
use crate::{
    contract::{Attempt, Components, GenerateRequest},
    domain::{Action, Skill, SkillName, Step, Task, Verdict},
    id::{Seed, SkillId},
};

/// The number of words beside those of the families; the n-th is n times rarer than the first (Zipf).
const VOCABULARY: usize = 20_000;

/// The number of families with tasks.
const FAMILIES_WITH_TASKS: usize = 4;

/// A library of many varied skills, with the parts and tasks for learning on it.
///
/// Descriptions have 10 to 20 words and bodies 30 to 80, drawn from one vocabulary with Zipf's weights. Skills come in
/// families of a few: each skill of a family keeps most words of the family's text, so that some of them overlap. Tasks
/// are about a few families, each time in another wording.
///
/// The caller opens a `Journeyman` with [`components`](Self::components), adds [`skills`](Self::skills), learns from the
/// [`tasks`](Self::tasks) of one round after the other, and reads its own clock.
///
/// ```
/// use journeyman::{
///     Seed,
///     recipe,
///     run::{Journeyman, Options},
///     testing::LargeLibrary,
/// };
///
/// let library = LargeLibrary::new(50, Seed(1));
/// let mut recipe = recipe::hisme_robust();
/// recipe.tiers.cache = 1_000;
/// futures::executor::block_on(async {
///     let options = Options::new("growth", Seed(1));
///     let journeyman = Journeyman::open(library.components(), recipe, options).await?;
///     journeyman.add(library.skills(), "a large library").await?;
///     for round in 0..2 {
///         let report = journeyman.learn(library.tasks(round)).await?;
///         assert_eq!(report.tasks.len(), LargeLibrary::TASKS);
///     }
///     assert!(journeyman.library().await?.entries().count() >= 50);
///     journeyman::Result::<()>::Ok(())
/// })?;
/// # Ok::<(), journeyman::Error>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct LargeLibrary {
    skills: usize,
    family: usize,
    seed: Seed,
}

impl LargeLibrary {
    /// The tasks of one round: as many as a batch of HiSME has, so that each round ends in one maintenance.
    pub const TASKS: usize = 5;

    /// A library of this many skills, in families of five.
    pub fn new(skills: usize, seed: Seed) -> Self {
        Self {
            skills,
            family: 5,
            seed,
        }
    }

    /// A library with families of this many skills, at least 1. All skills of a family overlap, so the number of edges is
    /// proportional to the number of skills times the size of a family.
    #[must_use]
    pub fn with_families_of(mut self, skills: usize) -> Self {
        self.family = skills.max(1);
        self
    }

    /// The skills.
    pub fn skills(&self) -> Vec<Skill> {
        (0..self.skills).map(|number| self.skill(number)).collect()
    }

    /// The tasks of a round.
    pub fn tasks(&self, round: usize) -> Vec<Task> {
        (0..Self::TASKS)
            .map(|place| self.task(round * Self::TASKS + place))
            .collect()
    }

    /// An agent that follows its first skill, an environment of words, a retriever, and a model that plays all roles.
    /// There is no embedder, no journal and no store.
    pub fn components(&self) -> Components {
        let judge = ScriptedJudge::by(|request, _| {
            let outcome = request.trajectory.outcome.as_ref();
            Play::Give(Verdict::binary(outcome.is_some_and(|one| one.success)))
        });
        let mut components = Components::new(
            Arc::new(ScriptedExecutor::acting(act)),
            Arc::new(ScriptedEnvironment::words()),
            Arc::new(judge),
        );
        components.retriever = Some(Arc::new(ScriptedRetriever::new()));
        components.model = Some(Arc::new(ScriptedModel::by(|request, _| {
            Play::Give(answer(request))
        })));
        components.roles = Some(Arc::new(ScriptedRoles::default()));
        components
    }

    fn skill(&self, number: usize) -> Skill {
        let family = number / self.family;
        let mut draws = Draws::new(self.seed, "skill", number);
        let mut of_family = Draws::new(self.seed, "family", family);
        let (description, body) = (of_family.between(10, 20), of_family.between(30, 80));
        let mut text = of_family.words(description + body);
        // One word of ten is the skill's own.
        for word in &mut text {
            if draws.below(10) == 0 {
                *word = draws.word();
            }
        }
        let (description, body) = text.split_at(description.min(text.len()));
        let name = format!("{} {}", spelled(family, "family"), spelled(number, "skill"));
        Skill {
            id: SkillId::new(format!("large-{number:06}")),
            name: SkillName::slug(&name).unwrap_or_default(),
            description: description.join(" "),
            body: format!("say: {}\n{}", self.said(family).join(" "), body.join(" ")),
            ..sample::skill("large")
        }
    }

    fn task(&self, number: usize) -> Task {
        let families = self.skills.div_ceil(self.family).max(1);
        let mut draws = Draws::new(self.seed, "task", number);
        let at = draws.below(FAMILIES_WITH_TASKS.min(families));
        let family = at * families / FAMILIES_WITH_TASKS.min(families);
        let mut said = self.said(family);
        // Half of the tasks want something more.
        if draws.below(2) == 0 {
            said.push(draws.word());
        }
        let said: Vec<&str> = said.iter().map(String::as_str).collect();
        sample::task(&format!("large-task-{number}"), &said)
    }

    /// The words that the tasks of a family ask for.
    fn said(&self, family: usize) -> Vec<String> {
        Draws::new(self.seed, "said", family).words(4)
    }
}

/// Says the words of the first skill. Without a skill, at its end, or after a refusal, says the word that is due.
fn act(attempt: &Attempt<'_>, steps: &[Step]) -> Play<Option<Action>> {
    let due = attempt.task.payload.as_array().cloned().unwrap_or_default();
    let refused = steps.iter().filter(|step| step.result.is_error).count();
    let said = steps.len() - refused;
    let told = attempt.injection.skills.first().and_then(|skill| {
        let (_, words) = skill.text.split_once("say: ")?;
        words.lines().next()?.split(' ').nth(said)
    });
    let word = match told {
        Some(word) if refused == 0 => Some(word.to_owned()),
        None if steps.is_empty() => Some("hm".to_owned()),
        _ => due
            .get(said)
            .and_then(|word| Some(word.as_str()?.to_owned())),
    };
    Play::Give(word.map(Action::Message))
}

/// The answer of the model that plays the roles.
fn answer(request: &GenerateRequest) -> String {
    let text = request.prompt.text();
    let field = |name: &str| {
        let line = text.lines().find_map(|line| line.strip_prefix(name));
        line.unwrap_or_default().to_owned()
    };
    let words = field("task: ")
        .replace("say ", "")
        .replace(" and then ", " ");
    match field("role: ").as_str() {
        "extract" if field("candidate: ") == "0" => {
            format!("skill {words}: How to say {words}.\nsay: {words}")
        }
        "refactor" => {
            let shared: Vec<&str> = words.split(' ').take(4).collect();
            let shared = shared.join(" ");
            format!("shared {shared}: What attempts at {shared} share.\nsay: {shared}")
        }
        "attribute" => "helpful: it was followed".to_owned(),
        "bundle" => "integration 0 the whole of it".to_owned(),
        "evolve" => "Leave out what nobody asked for.".to_owned(),
        _ => "none: it is as it should be".to_owned(),
    }
}

/// A number as a word of letters.
fn spelled(mut number: usize, kind: &str) -> String {
    let mut word = kind.to_owned();
    loop {
        word.push(char::from(b'a' + (number % 26) as u8));
        number /= 26;
        if number == 0 {
            return word;
        }
    }
}

/// A sequence of draws that follows from a seed, a name and a number.
struct Draws {
    seed: Seed,
    drawn: u64,
}

impl Draws {
    fn new(seed: Seed, of: &str, number: usize) -> Self {
        Self {
            seed: seed.derive(of, number as u64),
            drawn: 0,
        }
    }

    fn next(&mut self) -> u64 {
        self.drawn += 1;
        // SplitMix64.
        let mut z = (self.seed.0).wrapping_add(self.drawn.wrapping_mul(0x9E37_79B9_7F4A_7C15));
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    fn below(&mut self, n: usize) -> usize {
        (self.next() % n.max(1) as u64) as usize
    }

    fn between(&mut self, least: usize, most: usize) -> usize {
        least + self.below(most + 1 - least)
    }

    /// A word of the vocabulary, by Zipf's weights: the logarithm of its rank is even.
    fn word(&mut self) -> String {
        let part = (self.next() >> 11) as f64 / (1_u64 << 53) as f64;
        let rank = (VOCABULARY as f64).powf(part) as usize;
        spelled(rank, "w")
    }

    fn words(&mut self, count: usize) -> Vec<String> {
        (0..count).map(|_| self.word()).collect()
    }
}
