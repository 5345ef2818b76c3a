//! Spoils expected calls.

use std::fmt;

use journeyman::domain::ToolCall;
use serde_json::Value;

/// A kind of damage.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Damage {
    /// A call is left out.
    Dropped,
    /// One argument has another value.
    OtherValue,
    /// Two calls that follow each other in a turn change places.
    Swapped,
    /// A call is made twice.
    Repeated,
    /// The last call of a turn is made in the next turn.
    Late,
}

impl Damage {
    /// All kinds.
    pub const ALL: [Self; 5] = [
        Self::Dropped,
        Self::OtherValue,
        Self::Swapped,
        Self::Repeated,
        Self::Late,
    ];
}

impl fmt::Display for Damage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Dropped => "a call left out",
            Self::OtherValue => "another argument value",
            Self::Swapped => "two calls swapped",
            Self::Repeated => "a call made twice",
            Self::Late => "a call one turn late",
        })
    }
}

/// All ways of one kind to damage the calls of a task, at every place where there is one. Many have no effect: a call that
/// only reads may be left out where nothing needs its output. [`Played::differs`](crate::Played::differs) tells.
pub fn damaged(turns: &[Vec<ToolCall>], damage: Damage) -> Vec<Vec<Vec<ToolCall>>> {
    let mut all = Vec::new();
    for (at, turn) in turns.iter().enumerate() {
        for place in 0..turn.len() {
            let mut changed = turns.to_vec();
            if change(&mut changed, at, place, damage).is_some() {
                all.push(changed);
            }
        }
    }
    all
}

/// `None` where there is nothing to damage.
fn change(turns: &mut [Vec<ToolCall>], at: usize, place: usize, damage: Damage) -> Option<()> {
    let turn = turns.get_mut(at)?;
    match damage {
        Damage::Dropped => {
            turn.remove(place);
        }
        Damage::OtherValue => {
            let argument = turn.get_mut(place)?.arguments.values_mut().next()?;
            *argument = other(argument)?;
        }
        Damage::Swapped => {
            let next = place + 1;
            if turn.get(place)? == turn.get(next)? {
                return None;
            }
            turn.swap(place, next);
        }
        Damage::Repeated => {
            let call = turn.get(place)?.clone();
            turn.insert(place, call);
        }
        Damage::Late => {
            if place + 1 != turn.len() || at + 1 == turns.len() {
                return None;
            }
            let call = turns.get_mut(at)?.pop()?;
            turns.get_mut(at + 1)?.insert(0, call);
        }
    }
    Some(())
}

/// Another value of the same type.
fn other(value: &Value) -> Option<Value> {
    match value {
        Value::String(text) => Some(Value::from(format!("{text}x"))),
        Value::Bool(is) => Some(Value::from(!is)),
        Value::Number(number) => match number.as_i64() {
            Some(whole) => whole.checked_add(1).map(Value::from),
            None => number.as_f64().map(|real| Value::from(real + 1.0)),
        },
        Value::Array(parts) => {
            let mut parts = parts.clone();
            let first = parts.first_mut()?;
            *first = other(first)?;
            Some(Value::Array(parts))
        }
        Value::Null | Value::Object(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn each_kind_changes_what_its_name_says() {
        let call = |tool: &str| ToolCall::new(tool, json!({"n": 1}));
        let turns = [vec![call("a"), call("b")], vec![], vec![call("c")]];
        let check = |damage, expect: &[&str]| {
            let made = damaged(&turns, damage);
            let shown = made.iter().map(|turns| {
                let turns = turns.iter().map(|turn| {
                    let calls = turn
                        .iter()
                        .map(|call| format!("{}{}", call.tool, call.arguments["n"]));
                    calls.collect::<String>()
                });
                turns.collect::<Vec<_>>().join("|")
            });
            assert_eq!(shown.collect::<Vec<_>>(), expect, "{damage}");
        };
        check(Damage::Dropped, &["b1||c1", "a1||c1", "a1b1||"]);
        check(Damage::OtherValue, &["a2b1||c1", "a1b2||c1", "a1b1||c2"]);
        check(Damage::Swapped, &["b1a1||c1"]);
        check(
            Damage::Repeated,
            &["a1a1b1||c1", "a1b1b1||c1", "a1b1||c1c1"],
        );
        check(Damage::Late, &["a1|b1|c1"]);
    }
}
