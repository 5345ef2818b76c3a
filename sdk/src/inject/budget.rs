//! How much of a prompt skills may take.

use crate::{
    contract::Tokenizer,
    domain::{Injection, LeftOut},
};

/// The skills whose texts fit together into so many tokens, in their order, each whole; and those that do not. What a
/// dialect or a chat template puts around a text is not counted.
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
