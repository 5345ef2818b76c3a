//! Splitting names of code, such as `parseHTTPResponse2`, into the words that they are made of.

/// With more changes between letters and digits a name is probably a hash.
const MAX_CHANGES: usize = 3;

/// The parts of a run of letters and digits, between which the case changes, and the letters and the numbers of these parts;
/// none where there is one part only. Single letters say too little to be searched for.
pub(crate) fn parts(run: &str) -> Vec<&str> {
    let mut parts = Vec::new();
    let by_case = split(run, case_changes);
    let is_split = by_case.len() > 1;
    for part in by_case {
        if is_split && part.chars().nth(1).is_some() {
            parts.push(part);
        }
        let by_digits = split(part, digits_change);
        let has_words = by_digits
            .iter()
            .all(|one| is_digit(one) || one.chars().nth(1).is_some());
        if by_digits.len() > 1 && by_digits.len() <= MAX_CHANGES + 1 && has_words {
            parts.extend(by_digits);
        }
    }
    parts
}

/// Splits where `changes` says so of the character before, the one at the place, and the text from there on.
fn split(run: &str, changes: fn(char, char, &str) -> bool) -> Vec<&str> {
    let mut parts = Vec::new();
    let (mut start, mut before) = (0, None);
    for (at, c) in run.char_indices() {
        if before.is_some_and(|before| changes(before, c, &run[at..])) {
            parts.push(&run[start..at]);
            start = at;
        }
        before = Some(c);
    }
    parts.push(&run[start..]);
    parts
}

fn case_changes(before: char, c: char, from: &str) -> bool {
    if !c.is_uppercase() {
        return false;
    }
    let mut behind = from.chars().skip(1);
    let (next, after) = (behind.next(), behind.next());
    let begins_word = next.is_some_and(char::is_lowercase);
    // The plural of an acronym: URLs.
    let is_plural = next == Some('s') && !after.is_some_and(char::is_lowercase);
    let is_inner = before.is_uppercase() || before.is_numeric();
    before.is_lowercase() || (is_inner && begins_word && !is_plural)
}

fn digits_change(before: char, c: char, _: &str) -> bool {
    before.is_numeric() != c.is_numeric()
}

fn is_digit(part: &str) -> bool {
    part.starts_with(char::is_numeric)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(run: &str, expect: &[&str]) {
        assert_eq!(parts(run), expect, "{run}");
    }

    #[test]
    fn names_are_split_at_case_and_digits() {
        check("refreshToken", &["refresh", "Token"]);
        check("RefreshToken", &["Refresh", "Token"]);
        check("parseHTTPResponse", &["parse", "HTTP", "Response"]);
        check("iPhone", &["Phone"]);
        check("iPhone15", &["Phone15", "Phone", "15"]);
        check("sha256", &["sha", "256"]);
        check("parseUTF8", &["parse", "UTF8", "UTF", "8"]);
        check("EC2Instance", &["EC2", "EC", "2", "Instance"]);
        check("parseURLsFast", &["parse", "URLs", "Fast"]);
        check("ПолучитьТокен", &["Получить", "Токен"]);
    }

    #[test]
    fn what_is_one_word_is_not_split() {
        for run in [
            "token",
            "Token",
            "HTTP",
            "APIs",
            "v1",
            "2D",
            "H2O",
            "3f",
            "3fa9c2b1d4",
            "été",
            "",
        ] {
            check(run, &[]);
        }
    }
}
