//! Blanking comments and literals.

/// The text with comments and the insides of literals replaced by spaces; lines stay where they are, so what is
/// found in it is code.
pub fn mask(text: &str) -> String {
    let mut masking = Masking {
        chars: text.chars().collect(),
        at: 0,
        out: String::with_capacity(text.len()),
    };
    while masking.at < masking.chars.len() {
        masking.next();
    }
    masking.out
}

struct Masking {
    chars: Vec<char>,
    at: usize,
    out: String,
}

impl Masking {
    fn peek(&self, ahead: usize) -> Option<char> {
        self.chars.get(self.at + ahead).copied()
    }

    fn keep(&mut self, count: usize) {
        let end = (self.at + count).min(self.chars.len());
        self.out.extend(&self.chars[self.at..end]);
        self.at = end;
    }

    fn blank(&mut self, count: usize) {
        let end = (self.at + count).min(self.chars.len());
        let blanked = self.chars[self.at..end]
            .iter()
            .map(|&c| if c == '\n' { '\n' } else { ' ' });
        self.out.extend(blanked);
        self.at = end;
    }

    fn next(&mut self) {
        match (self.peek(0), self.peek(1)) {
            (Some('/'), Some('/')) => self.line_comment(),
            (Some('/'), Some('*')) => self.block_comment(),
            (Some('"'), _) => self.string(),
            (Some('\''), _) => self.quote(),
            (Some('r'), Some('"' | '#')) if !self.within_word() => self.raw_string(),
            _ => self.keep(1),
        }
    }

    /// Whether the place is inside an identifier; `b` and `c` are the prefixes of literals.
    fn within_word(&self) -> bool {
        let mut before = self.chars[..self.at].iter().rev();
        match before.next() {
            Some('b' | 'c') => before.next().is_some_and(|&c| is_word(c)),
            Some(&c) => is_word(c),
            None => false,
        }
    }

    fn line_comment(&mut self) {
        while self.peek(0).is_some_and(|c| c != '\n') {
            self.blank(1);
        }
    }

    fn block_comment(&mut self) {
        let mut depth = 0;
        loop {
            match (self.peek(0), self.peek(1)) {
                (Some('/'), Some('*')) => {
                    depth += 1;
                    self.blank(2);
                }
                (Some('*'), Some('/')) => {
                    depth -= 1;
                    self.blank(2);
                }
                (Some(_), _) => self.blank(1),
                (None, _) => return,
            }
            if depth == 0 {
                return;
            }
        }
    }

    fn string(&mut self) {
        self.keep(1);
        while let Some(c) = self.peek(0) {
            match c {
                '\\' => self.blank(2),
                '"' => return self.keep(1),
                _ => self.blank(1),
            }
        }
    }

    fn raw_string(&mut self) {
        let hashes = self.chars[self.at + 1..]
            .iter()
            .take_while(|&&c| c == '#')
            .count();
        if self.peek(1 + hashes) != Some('"') {
            return self.keep(1); // a raw identifier
        }
        self.keep(2 + hashes);
        while let Some(c) = self.peek(0) {
            if c == '"' && (1..=hashes).all(|ahead| self.peek(ahead) == Some('#')) {
                return self.keep(1 + hashes);
            }
            self.blank(1);
        }
    }

    /// A character, or a lifetime.
    fn quote(&mut self) {
        if self.peek(1) == Some('\\') {
            self.keep(1);
            self.blank(2);
            while self.peek(0).is_some_and(|c| c != '\'') {
                self.blank(1);
            }
            self.keep(1);
        } else if self.peek(2) == Some('\'') {
            self.keep(1);
            self.blank(1);
            self.keep(1);
        } else {
            self.keep(1);
        }
    }
}

pub(super) fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expect: &str) {
        assert_eq!(mask(text), expect, "{text}");
    }

    #[test]
    fn comments_and_literals_are_blanked() {
        check("a // b\nc", "a     \nc");
        check("a /* b /* c */ d\n */ e", "a               \n    e");
        check(r#"f("a\"b", 'x')"#, r#"f("    ", ' ')"#);
        check("r#\"a\"b\"# + c", "r#\"   \"# + c");
        check("br\"a\" + r#type + for\"x\"", "br\" \" + r#type + for\" \"");
        check("'\\'' 'a 'b: '\"'", "'  ' 'a 'b: ' '");
        check("'\\u{7f}'", "'      '");
        check("\"a\n// b\"", "\" \n    \"");
        check("\"unended", "\"       ");
    }
}
