//! Test code, functions and names in masked sources.

use super::mask::is_word;

/// A function of a source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Function {
    /// Its name.
    pub name: String,
    /// The line of its `fn`, from 1.
    pub line: usize,
    /// How many lines it has, from its `fn` to its closing brace.
    pub lines: usize,
}

/// A masked source with every item under `#[cfg(test)]` replaced by blanks, lines kept; and how many lines those
/// items have.
pub fn blank_tests(masked: &str) -> (String, usize) {
    let chars: Vec<char> = masked.chars().collect();
    let mut out = chars.clone();
    let mut lines = 0;
    let mut at = 0;
    while let Some(start) = find(&chars, at, "#[") {
        let Some(end) = closing(&chars, start + 1) else {
            break;
        };
        at = end;
        if !is_test(&chars[start..end]) {
            continue;
        }
        at = item_end(&chars, end);
        lines += 1 + chars[start..at].iter().filter(|&&c| c == '\n').count();
        for c in &mut out[start..at] {
            if *c != '\n' {
                *c = ' ';
            }
        }
    }
    (out.into_iter().collect(), lines)
}

/// The functions that have a body, in order.
pub fn functions(masked: &str) -> Vec<Function> {
    let chars: Vec<char> = masked.chars().collect();
    let line_of = |at: usize| 1 + chars[..at].iter().filter(|&&c| c == '\n').count();
    words(&chars)
        .filter(|&(start, end)| chars[start..end] == ['f', 'n'])
        .filter_map(|(start, end)| {
            let name = name_after(&chars, end)?;
            let open = (end..chars.len()).scan(0_i32, |depth, at| {
                match chars[at] {
                    '(' | '[' => *depth += 1,
                    ')' | ']' => *depth -= 1,
                    _ => {}
                }
                Some((at, *depth))
            });
            let (open, _) = open
                .into_iter()
                .find(|&(at, depth)| depth == 0 && matches!(chars[at], '{' | ';'))?;
            let close = (chars[open] == '{').then(|| closing(&chars, open))??;
            let line = line_of(start);
            Some(Function {
                name,
                line,
                lines: line_of(close - 1) - line + 1,
            })
        })
        .collect()
}

/// The names that these keywords introduce (`mod`, `struct`, …), with their lines.
pub fn names(masked: &str, keywords: &[&str]) -> Vec<(usize, String)> {
    let chars: Vec<char> = masked.chars().collect();
    words(&chars)
        .filter(|&(start, end)| {
            let word: String = chars[start..end].iter().collect();
            keywords.contains(&word.as_str())
        })
        .filter_map(|(start, end)| {
            let line = 1 + chars[..start].iter().filter(|&&c| c == '\n').count();
            Some((line, name_after(&chars, end)?))
        })
        .collect()
}

fn is_test(attribute: &[char]) -> bool {
    let text: String = attribute.iter().filter(|c| !c.is_whitespace()).collect();
    text == "#[cfg(test)]" || text.starts_with("#[cfg(all(test,")
}

/// Where the item ends that begins after an attribute: after its block or its semicolon.
fn item_end(chars: &[char], after: usize) -> usize {
    let mut at = after;
    let mut is_use = false;
    let mut first = true;
    while at < chars.len() {
        match chars[at] {
            '#' if chars.get(at + 1) == Some(&'[') => {
                at = closing(chars, at + 1).unwrap_or(chars.len());
                continue;
            }
            ';' => return at + 1,
            '{' if !is_use => return closing(chars, at).unwrap_or(chars.len()),
            '(' | '[' => {
                at = closing(chars, at).unwrap_or(chars.len());
                continue;
            }
            c if first && is_word(c) => {
                let word: String = chars[at..].iter().take_while(|&&c| is_word(c)).collect();
                is_use = word == "use";
                first = word == "pub";
                at += word.chars().count();
                continue;
            }
            _ => {}
        }
        at += 1;
    }
    chars.len()
}

/// The place after the bracket that closes the one here.
fn closing(chars: &[char], open: usize) -> Option<usize> {
    let mut depth = 0_usize;
    for (at, c) in chars.iter().enumerate().skip(open) {
        match c {
            '(' | '[' | '{' => depth += 1,
            ')' | ']' | '}' => {
                depth = depth.checked_sub(1)?;
                if depth == 0 {
                    return Some(at + 1);
                }
            }
            _ => {}
        }
    }
    None
}

fn find(chars: &[char], from: usize, text: &str) -> Option<usize> {
    let text: Vec<char> = text.chars().collect();
    (from..chars.len()).find(|&at| chars[at..].starts_with(&text))
}

fn words(chars: &[char]) -> impl Iterator<Item = (usize, usize)> + '_ {
    let mut at = 0;
    std::iter::from_fn(move || {
        while at < chars.len() && !is_word(chars[at]) {
            at += 1;
        }
        let start = at;
        while at < chars.len() && is_word(chars[at]) {
            at += 1;
        }
        (start < at).then_some((start, at))
    })
}

/// The name that stands after a keyword; `None` for a function pointer and the like.
fn name_after(chars: &[char], end: usize) -> Option<String> {
    let spaces = chars[end..]
        .iter()
        .take_while(|c| c.is_whitespace())
        .count();
    let name: String = chars[end + spaces..]
        .iter()
        .take_while(|&&c| is_word(c) || c == '$')
        .collect();
    (spaces > 0 && !name.is_empty()).then_some(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tests_are_blanked() {
        let source =
            "fn a() {}\n#[cfg(test)]\n#[allow(x)]\nmod tests {\n fn b() { c[0] }\n}\nfn d() {}\n";
        let (code, lines) = blank_tests(source);
        assert_eq!(lines, 5);
        assert_eq!(names(&code, &["fn"]), [(1, "a".into()), (7, "d".into())]);

        let (code, _) = blank_tests("#[cfg(test)]\nuse a::{b, c};\nfn d() {}");
        assert_eq!(names(&code, &["fn"]), [(3, "d".into())]);
        let (code, _) = blank_tests("#[cfg(test)]\npub(crate) fn a(x: [u8; 3]) {}\nmod b;");
        assert_eq!(code.trim(), "mod b;");
        let (code, _) = blank_tests("#[cfg(not(test))]\nfn a() {}");
        assert!(code.contains("fn a"));
    }

    #[test]
    fn functions_are_measured() {
        let source = "fn a(f: fn(u8) -> u8) -> [u8; 2]\nwhere\n    T: X,\n{\n    b\n}\ntrait T { fn c(&self); }\nfn d() {}\n";
        let found: Vec<_> = functions(source)
            .into_iter()
            .map(|f| (f.name, f.line, f.lines))
            .collect();
        assert_eq!(found, [("a".into(), 1, 6), ("d".into(), 8, 1)]);
    }
}
