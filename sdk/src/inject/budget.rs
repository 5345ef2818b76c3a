//! The token budget of injected skills.

use crate::{
    contract::Tokenizer,
    domain::{Injection, LeftOut},
};

/// Splits an injection at a budget of `most` tokens. Skills are taken in order, each whole, while they fit into the room
/// that is left; the others are returned with their size and with the room that was left, both in tokens. Tokens that a
/// prompt format or a chat template adds around a text are not counted.
///
/// ```
/// use journeyman::{
///     inject::fit,
///     testing::{WordTokenizer, sample},
/// };
///
/// let mut long = sample::skill("brew");
/// long.body = "word ".repeat(50);
/// let injection = sample::injection(&[long, sample::skill("grind")]);
/// let (fits, left_out) = fit(injection, &WordTokenizer, 20);
/// assert_eq!(fits.skills[0].skill.id.as_str(), "grind");
/// assert_eq!(left_out[0].skill.id.as_str(), "brew");
/// assert_eq!(left_out[0].room, 20);
/// ```
pub fn fit(
    injection: Injection,
    tokenizer: &dyn Tokenizer,
    most: usize,
) -> (Injection, Vec<LeftOut>) {
    let mut room = most;
    let mut left_out = Vec::new();
    let mut skills = Vec::new();
    for injected in injection.skills {
        let tokens = tokenizer.count(&injected.text).tokens;
        if tokens <= room {
            room -= tokens;
            skills.push(injected);
        } else {
            left_out.push(LeftOut {
                skill: injected.skill,
                tokens,
                room,
            });
        }
    }
    (Injection { skills }, left_out)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{WordTokenizer, sample};

    fn check(sizes: &[usize], most: usize, fits: &[usize], rooms: &[usize]) {
        let skills = sizes.iter().enumerate().map(|(at, words)| {
            let mut skill = sample::skill(&format!("s{at}"));
            skill.body = "word ".repeat(*words);
            skill
        });
        let all = sample::injection(&skills.collect::<Vec<_>>());
        let (given, left_out) = fit(all.clone(), &WordTokenizer, most);
        let due: Vec<_> = fits.iter().map(|at| all.skills[*at].clone()).collect();
        assert_eq!(given.skills, due, "{sizes:?} in {most}");
        let found: Vec<_> = left_out.iter().map(|one| one.room).collect();
        assert_eq!(found, rooms, "{sizes:?} in {most}");
        assert_eq!(given.skills.len() + left_out.len(), sizes.len());
    }

    #[test]
    fn what_does_not_fit_is_left_out_whole() {
        check(&[], 5, &[], &[]);
        check(&[3, 4, 2], 9, &[0, 1, 2], &[]);
        check(&[3, 4, 2], 5, &[0, 2], &[2]);
        check(&[6], 5, &[], &[5]);
        check(&[1], 0, &[], &[0]);
        check(&[5_000; 10_000], 12_000, &[0, 1], &[2_000; 9_998]);
    }
}
