//! Makes text of models and other systems safe to print on a terminal (security requirement S17).

use std::borrow::Cow;

/// The text without escape sequences, other control characters and characters that change the direction of writing. Line
/// feeds and tabs stay.
///
/// ```
/// use journeyman::text::plain_terminal;
///
/// assert_eq!(plain_terminal("\u{1B}[31mred\u{1B}[0m\u{1B}]0;title\u{7}, \tplain"), "red, \tplain");
/// assert_eq!(plain_terminal("日本語"), "日本語");
/// ```
pub fn plain_terminal(text: &str) -> Cow<'_, str> {
    if !text.chars().any(is_unfit) {
        return Cow::Borrowed(text);
    }
    let mut plain = String::with_capacity(text.len());
    let mut rest = text.chars();
    while let Some(c) = rest.next() {
        match c {
            '\u{1B}' => skip_escape(&mut rest),
            '\u{9B}' => skip_control_sequence(&mut rest),
            '\u{90}' | '\u{98}' | '\u{9D}' | '\u{9E}' | '\u{9F}' => skip_string(&mut rest),
            c if is_unfit(c) => {}
            c => plain.push(c),
        }
    }
    Cow::Owned(plain)
}

fn is_unfit(c: char) -> bool {
    (c.is_control() && c != '\n' && c != '\t')
        || matches!(c, '\u{202A}'..='\u{202E}' | '\u{2066}'..='\u{2069}')
}

/// Skips the rest of an escape after ESC: a control sequence, a control string, or a few characters (ECMA-48).
fn skip_escape(rest: &mut std::str::Chars<'_>) {
    let after = rest.clone().next();
    match after {
        Some('[') => {
            rest.next();
            skip_control_sequence(rest);
        }
        Some('P' | 'X' | ']' | '^' | '_') => {
            rest.next();
            skip_string(rest);
        }
        _ => {
            while skip_if(rest, |c| matches!(c, ' '..='/')) {}
            skip_if(rest, |c| matches!(c, '0'..='~'));
        }
    }
}

/// Skips the parameters of a control sequence and its final character.
fn skip_control_sequence(rest: &mut std::str::Chars<'_>) {
    while skip_if(rest, |c| matches!(c, ' '..='?')) {}
    skip_if(rest, |c| matches!(c, '@'..='~'));
}

/// Skips a control string to its end. A string without an end on its line is no control string; its text stays.
fn skip_string(rest: &mut std::str::Chars<'_>) {
    let mut ahead = rest.clone();
    while let Some(c) = ahead.next() {
        let ends = match c {
            '\u{7}' | '\u{9C}' => true,
            '\u{1B}' => skip_if(&mut ahead, |c| c == '\\'),
            '\n' => return,
            _ => false,
        };
        if ends {
            *rest = ahead;
            return;
        }
    }
}

fn skip_if(rest: &mut std::str::Chars<'_>, is: fn(char) -> bool) -> bool {
    let mut ahead = rest.clone();
    let skips = ahead.next().is_some_and(is);
    if skips {
        *rest = ahead;
    }
    skips
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Seed;

    fn check(text: &str, expect: &str) {
        assert_eq!(plain_terminal(text), expect, "{}", text.escape_debug());
    }

    #[test]
    fn sequences_go_and_text_stays() {
        check("a\u{1B}[2J\u{1B}[1;31mb\u{1B}[0m", "ab");
        check(
            "\u{1B}]8;;https://a.example\u{1B}\\link\u{1B}]8;;\u{1B}\\",
            "link",
        );
        check("\u{1B}]0;title\u{7}x\u{1B}P1$r\u{1B}\\y", "xy");
        check("\u{9B}31mred\u{9D}0;t\u{9C}x", "redx");
        check("\u{1B}(0x\u{1B}7y\u{1B}cz", "xyz");
        check("one\rtwo\u{8}\u{7}\0", "onetwo");
        check("\u{1B}]0;never ends\nnext", "0;never ends\nnext");
        check("\u{1B}", "");
        check("a\u{202E}b\u{2066}c", "abc");
        check("日本\t語\n", "日本\t語\n");
    }

    #[test]
    fn nothing_that_a_terminal_obeys_is_left() {
        let bits = [
            "\u{1B}", "[", "]", "P", "\\", "0;", "31m", "\u{7}", "\u{9B}", "\u{9C}", "\u{9D}", "a",
            "é", "\n", "\r", "(",
        ];
        for round in 0..2000 {
            let seed = Seed(5).derive("terminal", round);
            let text: String = (0..12)
                .filter_map(|i| seed.derive("bit", i).index(bits.len()).map(|i| bits[i]))
                .collect();
            let plain = plain_terminal(&text);
            assert!(!plain.chars().any(is_unfit), "{}", text.escape_debug());
            assert_eq!(plain_terminal(&plain), plain);
        }
    }
}
