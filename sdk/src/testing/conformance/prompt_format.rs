//! The conformance suite of [`PromptFormat`].

use super::report::{Report, Shortfall, Tried, require, skip};
use crate::{
    contract::{FinishReason, FitQuestion, Generation, PromptFormat, TurnMove, TurnView},
    domain::{InjectedSkill, Injection, Observation, Skill, SkillUse, Task},
    error::ErrorKind,
    id::ModelId,
};

/// Maximum number of moves in one turn.
const MOVES: usize = 8;

/// The inputs for checking a prompt format.
#[non_exhaustive]
#[derive(Clone, Debug)]
pub struct PromptFormatFixture {
    /// A task.
    pub task: Task,
    /// The first observation, with tools that the prompt format can write.
    pub observation: Observation,
    /// Skills that the prompt format can write; with none, the rule of skill texts is skipped.
    pub skills: Vec<Skill>,
    /// Plausible model outputs for one turn; the suite adds malformed ones.
    pub replies: Vec<String>,
    /// Model outputs that say something of the skills, and, if the prompt format knows such, outputs that say nothing; with none, the rule
    /// of use is skipped.
    pub uses: Vec<UseSample>,
}

impl PromptFormatFixture {
    /// A task and its first observation, without skills and model outputs.
    pub fn new(task: Task, observation: Observation) -> Self {
        Self {
            task,
            observation,
            skills: Vec::new(),
            replies: Vec::new(),
            uses: Vec::new(),
        }
    }

    /// The same with skills.
    #[must_use]
    pub fn with_skills(mut self, skills: Vec<Skill>) -> Self {
        self.skills = skills;
        self
    }

    /// The same with plausible model outputs.
    #[must_use]
    pub fn with_replies(mut self, replies: Vec<String>) -> Self {
        self.replies = replies;
        self
    }

    /// The same with model outputs that say something of the skills.
    #[must_use]
    pub fn with_uses(mut self, uses: Vec<UseSample>) -> Self {
        self.uses = uses;
        self
    }
}

/// A model output, and what it says of the skills in the prompt.
#[non_exhaustive]
#[derive(Clone, Debug)]
pub struct UseSample {
    /// The outputs of one turn, in order; together they make an action.
    pub replies: Vec<String>,
    /// The use of each of the fixture's skills.
    pub used: Vec<SkillUse>,
}

impl UseSample {
    /// The outputs of one turn, and the use of each skill.
    pub fn new(replies: Vec<String>, used: Vec<SkillUse>) -> Self {
        Self { replies, used }
    }
}

/// Checks a prompt format.
pub async fn check(prompt_format: &dyn PromptFormat, fixture: &PromptFormatFixture) -> Report {
    let mut report = Report::new("PromptFormat");
    report.case("ends", ends(prompt_format, fixture));
    report.case("pure", pure(prompt_format, fixture));
    report.case("used", used(prompt_format, fixture));
    report.case("skill text", skill_text(prompt_format, fixture));
    report.case("empty query", empty_query(prompt_format));
    report.case("fit question", fit_question(prompt_format, fixture));
    report
}

fn generation(text: &str, finish: FinishReason) -> Generation {
    Generation {
        calls: Vec::new(),
        text: text.to_owned(),
        prompt_ids: Vec::new(),
        ids: Vec::new(),
        logprobs: Vec::new(),
        forced: Vec::new(),
        prompt_tokens: 1,
        output_tokens: 1,
        finish,
        model: ModelId::new("conformance"),
        adapter: None,
    }
}

fn garbage() -> Vec<String> {
    let fixed = [
        "",
        " ",
        "\n\n\n",
        "\0\u{1}\u{202e}",
        "{\"unclosed\": [",
        "call call call",
        "(((((",
        "\"\"\"",
        "<|im_end|></skill>",
        "\u{65e5}\u{672c}\u{8a9e}\u{1f469}\u{200d}\u{1f680}",
    ];
    let long = "word ".repeat(20_000);
    fixed.into_iter().map(str::to_owned).chain([long]).collect()
}

fn turn(
    prompt_format: &dyn PromptFormat,
    fixture: &PromptFormatFixture,
    injection: &Injection,
    replies: &[Generation],
) -> crate::error::Result<TurnMove> {
    prompt_format.turn(&TurnView {
        task: &fixture.task,
        injection,
        observation: &fixture.observation,
        steps: &[],
        replies,
    })
}

/// The injection of the fixture's skills, as the prompt format writes them.
fn injected(prompt_format: &dyn PromptFormat, fixture: &PromptFormatFixture) -> Injection {
    Injection {
        skills: (fixture.skills.iter())
            .map(|skill| InjectedSkill::new(skill, prompt_format.skill_text(skill)))
            .collect(),
    }
}

/// The moves of a turn in which the model gives the same output each time.
fn moves(
    prompt_format: &dyn PromptFormat,
    fixture: &PromptFormatFixture,
    injection: &Injection,
    reply: &Generation,
) -> Tried<Vec<TurnMove>> {
    let (mut replies, mut moves) = (Vec::new(), Vec::new());
    for _ in 0..MOVES {
        let next = turn(prompt_format, fixture, injection, &replies)?;
        let writes = matches!(next, TurnMove::Generate { .. });
        moves.push(next);
        if !writes {
            return Ok(moves);
        }
        replies.push(reply.clone());
    }
    let shown: String = reply.text.chars().take(20).collect();
    Err(Shortfall::Failed(format!(
        "expected a turn to end within {MOVES} moves, found another `Generate` for a model that always writes {shown:?}"
    )))
}

fn every_turn(
    prompt_format: &dyn PromptFormat,
    fixture: &PromptFormatFixture,
) -> Tried<Vec<Vec<TurnMove>>> {
    let mut all = Vec::new();
    for injection in [Injection::NONE, injected(prompt_format, fixture)] {
        for text in fixture.replies.iter().chain(&garbage()) {
            for finish in [
                FinishReason::Stop,
                FinishReason::EndOfText,
                FinishReason::Length,
                FinishReason::Repeats,
            ] {
                let reply = generation(text, finish);
                all.push(moves(prompt_format, fixture, &injection, &reply)?);
            }
        }
    }
    Ok(all)
}

fn ends(prompt_format: &dyn PromptFormat, fixture: &PromptFormatFixture) -> Tried {
    every_turn(prompt_format, fixture).map(drop)
}

fn pure(prompt_format: &dyn PromptFormat, fixture: &PromptFormatFixture) -> Tried {
    let first = every_turn(prompt_format, fixture)?;
    let second = every_turn(prompt_format, fixture)?;
    require(first == second, || {
        "expected equal moves for equal views, found different ones".to_owned()
    })?;
    for skill in &fixture.skills {
        require(
            prompt_format.skill_text(skill) == prompt_format.skill_text(skill),
            || {
                format!(
                    "expected `skill_text` to be deterministic, found two texts for skill {}",
                    skill.name
                )
            },
        )?;
    }
    Ok(())
}

fn used(prompt_format: &dyn PromptFormat, fixture: &PromptFormatFixture) -> Tried {
    if fixture.uses.is_empty() {
        return skip("the fixture has no outputs that say something of skills");
    }
    let injection = injected(prompt_format, fixture);
    let of = |injection: &Injection, texts: &[String]| {
        let replies: Vec<Generation> = (texts.iter())
            .map(|text| generation(text, FinishReason::EndOfText))
            .collect();
        match turn(prompt_format, fixture, injection, &replies)? {
            TurnMove::Act { used, .. } => Ok(used),
            other => Err(Shortfall::Failed(format!(
                "expected an action of the outputs {texts:?}, found {other:?}"
            ))),
        }
    };
    for sample in &fixture.uses {
        let mut said = of(&injection, &sample.replies)?;
        said.resize(fixture.skills.len(), SkillUse::Unknown);
        require(said == sample.used, || {
            format!(
                "expected the outputs {:?} to say {:?} of the skills, found {said:?}",
                sample.replies, sample.used
            )
        })?;
        let said = of(&Injection::NONE, &sample.replies)?;
        require(said.is_empty(), || {
            format!("expected nothing to be said of skills that are not there, found {said:?}")
        })?;
    }
    Ok(())
}

fn skill_text(prompt_format: &dyn PromptFormat, fixture: &PromptFormatFixture) -> Tried {
    if fixture.skills.is_empty() {
        return skip("the fixture has no skills");
    }
    let injection = injected(prompt_format, fixture);
    for skill in &injection.skills {
        require(!skill.text.trim().is_empty(), || {
            format!(
                "expected a text for skill {}, found only white space",
                skill.skill.id
            )
        })?;
    }
    let mut replies = Vec::new();
    for _ in 0..MOVES {
        let TurnMove::Generate { prompt, .. } = turn(prompt_format, fixture, &injection, &replies)?
        else {
            break;
        };
        let written = prompt.text();
        if injection
            .skills
            .iter()
            .all(|skill| written.contains(&skill.text))
        {
            return Ok(());
        }
        replies.push(generation("", FinishReason::EndOfText));
    }
    require(false, || {
        "expected a prompt of the turn to contain every injected skill's `skill_text`, found none"
            .to_owned()
    })
}

fn empty_query(prompt_format: &dyn PromptFormat) -> Tried {
    let query = "zqx a telling query zqx";
    let (full, empty) = (
        prompt_format.score_prompt(query),
        prompt_format.score_prompt(""),
    );
    require(full.text().contains(query), || {
        format!(
            "expected the score prompt to contain the query {query:?}, found {:?}",
            full.text()
        )
    })?;
    let without = full.text().replacen(query, "", 1);
    // White space may separate a query from the rest, and an empty query needs none.
    let bare = |text: &str| text.split_whitespace().collect::<String>();
    require(bare(&without) == bare(&empty.text()), || {
        format!(
            "expected the prompt of an empty query to be {without:?} (the prompt of a query, without the query), found {:?}",
            empty.text()
        )
    })?;
    require(full.open == empty.open, || {
        format!(
            "expected the model's turn to begin with {:?} for an empty query too, found {:?}",
            full.open, empty.open
        )
    })
}

fn fit_question(prompt_format: &dyn PromptFormat, fixture: &PromptFormatFixture) -> Tried {
    let query = "zqx a telling query zqx";
    let skills = fixture
        .skills
        .iter()
        .map(|skill| prompt_format.skill_text(skill));
    let texts: Vec<String> = std::iter::once(String::new()).chain(skills).collect();
    let mut asked = Vec::new();
    for text in &texts {
        match prompt_format.fit_question(query, text) {
            Ok(question) => asked.push((text, question)),
            Err(error) if error.kind() == ErrorKind::Unsupported => {}
            Err(error) => return Err(error.into()),
        }
    }
    require(asked.is_empty() || asked.len() == texts.len(), || {
        format!(
            "expected `fit_question` to succeed for all skills or for none, found {} of {}",
            asked.len(),
            texts.len()
        )
    })?;
    let Some((_, first)) = asked.first() else {
        return Ok(());
    };
    let answers = |question: &FitQuestion| (question.fits.clone(), question.does_not.clone());
    let (fits, does_not) = answers(first);
    require(
        fits != does_not && !fits.is_empty() && !does_not.is_empty(),
        || format!("expected two different answers, found {fits:?} and {does_not:?}"),
    )?;
    for (text, question) in &asked {
        let prompt = question.prompt.text();
        require(
            prompt.contains(query) && prompt.contains(text.trim()),
            || {
                format!(
                    "expected the prompt to contain the query and the skill's text, found {prompt:?}"
                )
            },
        )?;
        require(answers(question) == answers(first), || {
            format!(
                "expected the same answers for every skill, found {:?} beside {:?}",
                answers(question),
                answers(first)
            )
        })?;
    }
    Ok(())
}
