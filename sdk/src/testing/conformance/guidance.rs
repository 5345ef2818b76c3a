//! The conformance suite of [`Guidance`].

use super::report::{Report, Tried, require};
use crate::{
    contract::{Guidance, TurnContext},
    domain::{Observation, SkillRef, SkillUse, Step},
    id::{SkillId, Version},
};

/// The inputs for checking guidance.
#[non_exhaustive]
#[derive(Clone, Debug)]
pub struct GuidanceFixture {
    /// The observation of every turn.
    pub observation: Observation,
    /// The steps before the last turn; may be empty.
    pub steps: Vec<Step>,
}

impl GuidanceFixture {
    /// An observation, and the steps before the last turn.
    pub fn new(observation: Observation, steps: Vec<Step>) -> Self {
        Self { observation, steps }
    }
}

/// Checks guidance.
pub async fn check(guidance: &dyn Guidance, fixture: &GuidanceFixture) -> Report {
    let mut report = Report::new("Guidance");
    report.case("any turn", any_turn(guidance, fixture).await);
    report.case("used", used(guidance, fixture).await);
    report
}

fn context(fixture: &GuidanceFixture, turn: usize) -> TurnContext<'_> {
    TurnContext {
        turn: turn as u32,
        observation: &fixture.observation,
        steps: &fixture.steps[..turn.min(fixture.steps.len())],
    }
}

async fn any_turn(guidance: &dyn Guidance, fixture: &GuidanceFixture) -> Tried {
    for turn in [0, 2, 1, 0, 7, 7] {
        if let Err(error) = guidance.for_turn(&context(fixture, turn)).await {
            require(false, || {
                format!("expected an injection for turn {turn}, found the error: {error}")
            })?;
        }
    }
    Ok(())
}

async fn used(guidance: &dyn Guidance, fixture: &GuidanceFixture) -> Tried {
    let before = guidance.for_turn(&context(fixture, 0)).await?;
    let never = SkillRef {
        id: SkillId::new("never injected, by anybody"),
        version: Version(7),
    };
    for used in [SkillUse::Followed, SkillUse::NotFollowed, SkillUse::Unknown] {
        guidance.used(&never, used);
    }
    let after = guidance.for_turn(&context(fixture, 0)).await?;
    require(before == after, || {
        "expected `used` with a skill that was not injected to change nothing, found another injection"
            .to_owned()
    })
}
