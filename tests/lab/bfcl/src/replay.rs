//! Plays given calls.

use journeyman::{
    Error, Result, Seed,
    contract::Environment,
    domain::{Action, Outcome, Task, ToolCall},
};

/// One turn as it was played.
#[derive(Clone, Debug, PartialEq)]
pub struct PlayedTurn {
    /// The environment's text after each call.
    pub outputs: Vec<String>,
    /// The digest of the services' state after the turn, where the environment shows it.
    pub state: Option<String>,
}

/// A task as it was played.
#[derive(Clone, Debug, PartialEq)]
pub struct Played {
    /// In order.
    pub turns: Vec<PlayedTurn>,
    /// The official checker's judgement.
    pub outcome: Outcome,
}

impl Played {
    /// Whether calls that were to do the same as `self` had another effect: another state after a turn, or an output that
    /// the turn needs and that came neither in it nor before. Turns of `self` without calls need nothing.
    pub fn differs(&self, other: &Self) -> bool {
        let mut outputs: Vec<&str> = Vec::new();
        self.turns.iter().zip(&other.turns).any(|(due, turn)| {
            outputs.extend(turn.outputs.iter().map(String::as_str));
            let mut left = outputs.clone();
            let lacks = due.outputs.iter().any(|output| {
                let place = left.iter().position(|found| found == output);
                place.map(|place| left.swap_remove(place)).is_none()
            });
            !due.outputs.is_empty() && (lacks || due.state != turn.state)
        })
    }
}

/// Plays the calls of each turn, one a step, and ends the turn.
///
/// # Errors
/// The environment's, and `Invalid` where the task has another number of turns.
pub async fn replay(
    world: &dyn Environment,
    task: &Task,
    turns: &[Vec<ToolCall>],
) -> Result<Played> {
    let mut episode = world.reset(task, Seed(0)).await?;
    let mut played = Vec::new();
    let mut outcome = None;
    for turn in turns {
        let mut outputs = Vec::new();
        for call in turn {
            let called = episode.step(&Action::Call(vec![call.clone()])).await?;
            outputs.push(called.observation.text);
        }
        let ended = episode.step(&Action::EndTurn).await?;
        let state = ended.observation.text.strip_prefix("state ");
        let state = state
            .and_then(|text| text.lines().next())
            .map(str::to_owned);
        played.push(PlayedTurn { outputs, state });
        outcome = ended.outcome;
    }
    episode.close().await?;
    let outcome = outcome.ok_or_else(|| {
        Error::invalid("bfcl::replay", "the task has more turns than the calls")
            .with("task", &task.id)
            .hint("give calls for every turn; an empty list where there is none")
    })?;
    Ok(Played {
        turns: played,
        outcome,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn played(turns: &[(&[&str], &str)]) -> Played {
        let turns = turns.iter().map(|(outputs, state)| PlayedTurn {
            outputs: outputs.iter().map(|&output| output.to_owned()).collect(),
            state: Some((*state).to_owned()),
        });
        Played {
            turns: turns.collect(),
            outcome: Outcome::success(),
        }
    }

    #[test]
    fn an_effect_is_another_state_or_a_missing_output() {
        let due = played(&[(&["a"], "1"), (&["b", "a"], "2"), (&[], "3")]);
        let check = |turns: &[(&[&str], &str)], expect| {
            assert_eq!(due.differs(&played(turns)), expect, "{turns:?}")
        };
        check(&[(&["a"], "1"), (&["b", "a"], "2"), (&[], "3")], false);
        // More outputs, in another order and in an earlier turn.
        check(
            &[(&["x", "a", "a"], "1"), (&["b"], "2"), (&["c"], "9")],
            false,
        );
        check(&[(&["a"], "1"), (&["b", "a"], "9"), (&[], "3")], true);
        // An output that is due twice came once.
        check(&[(&["a"], "1"), (&["b"], "2"), (&[], "3")], false);
        check(&[(&[], "1"), (&["b", "a"], "2"), (&[], "3")], true);
    }
}
