//! Finds addresses whose host reads like another one: letters of two scripts in one label, or the ASCII form of letters that a
//! reader does not see.

use std::sync::LazyLock;

use regex::Regex;

use super::look_alike::looks_alike;

/// An address with a scheme, up to the end of its host. The pattern compiles: a test finds hosts by it.
static ADDRESS: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r#"(?i)\b[a-z][a-z0-9+.-]{1,20}://(?:[^\s/@"'<>]{0,200}@)?([^\s/:?\#"'<>()\[\]{}`,;|\\]{1,255})"#).ok()
});

/// Names with a dot and an ASCII ending, such as a host without a scheme.
static NAME: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"[\p{L}\p{N}-]{1,63}(?:\.[\p{L}\p{N}-]{1,63})*\.[A-Za-z]{2,24}(?-u:\b)").ok()
});

/// Cyrillic letters that no reader tells from a Latin one.
const SAME: &str = "асеорхуіјѕһԁԛԝӏ";

/// The places of hosts that read like others.
pub(super) fn misleading(text: &str) -> Vec<usize> {
    let mut found = Vec::new();
    if let Some(address) = ADDRESS.as_ref() {
        let hosts = address.captures_iter(text).filter_map(|found| found.get(1));
        found.extend(
            hosts
                .filter(|host| is_misleading(host.as_str()))
                .map(|host| host.start()),
        );
    }
    if !text.is_ascii()
        && let Some(name) = NAME.as_ref()
    {
        let parts = |name: &str| name.split(['.', '-']).any(looks_alike);
        let names = name.find_iter(text).filter(|name| parts(name.as_str()));
        found.extend(names.map(|name| name.start()));
    }
    found.sort_unstable();
    found.dedup();
    found
}

fn is_misleading(host: &str) -> bool {
    let host = host.to_lowercase();
    let ending = host.rsplit('.').next().unwrap_or_default();
    let labels = || host.split('.');
    // A whole word of letters that look Latin, before an ending that is.
    let poses = |label: &str| {
        label.chars().any(|c| SAME.contains(c))
            && label
                .chars()
                .all(|c| !c.is_alphabetic() || SAME.contains(c))
    };
    labels().any(|label| label.starts_with("xn--") || looks_alike(label))
        || (ending.is_ascii() && labels().any(poses))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_of_one_script_pass_and_others_are_found() {
        for (text, found) in [
            ("see https://g\u{456}thub.com/a/b", 1),
            ("see https://\u{440}\u{430}ypal.example", 1),
            ("see https://www.\u{441}\u{43e}\u{441}\u{430}.com/x", 1),
            ("see https://xn--80ak6aa92e.com/", 1),
            ("git clone git@g\u{456}thub.com:a/b", 1),
            ("ssh://user@g\u{456}thub.com and g\u{456}thub.com again", 2),
            ("https://\u{3b1}pple.com", 1),
            ("https://пример.рф/путь https://правительство.рф", 0),
            ("https://пример.example/ and https://магазин.com", 0),
            (
                "https://例え.jp https://münchen.de https://παράδειγμα.gr",
                0,
            ),
            ("https://example.com/страница?q=слово", 0),
            (
                "Файл README.md, JSON-файл.txt, конфиг.yaml, SKILL.md-файлы",
                0,
            ),
            ("https://user:pw@host.example:8080/x", 0),
        ] {
            let hosts = misleading(text);
            assert_eq!(hosts.len(), found, "{text}: {hosts:?}");
        }
    }
}
