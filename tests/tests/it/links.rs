//! What a page links to is there: files, folders, and headings by their anchors. So is a page that another file names.

use std::collections::BTreeMap;

use journeyman_tests::source::Sources;

/// How a link's target begins, and what ends it.
const TARGETS: [(&str, char); 3] = [("](", ')'), ("href=\"", '"'), ("src=\"", '"')];

/// Texts that name a page that need not be there: (path, page, why).
const EXCEPTIONS: [(&str, &str, &str); 1] = [(
    "sdk/src/domain/file.rs",
    "docs/SKILL.md",
    "a path within a skill's folder",
)];

/// The files of a checkout, and the texts of its pages by their paths.
struct Checkout<'a> {
    files: &'a [String],
    pages: BTreeMap<&'a str, String>,
}

impl Checkout<'_> {
    fn has(&self, path: &str) -> bool {
        let folder = format!("{path}/");
        let is_there = |file: &String| file == path || file.starts_with(&folder);
        path.is_empty() || self.files.iter().any(is_there)
    }

    /// The relative links of a page that lead nowhere, as they are written.
    fn broken(&self, path: &str) -> Vec<String> {
        let page = self.pages.get(path).map_or("", String::as_str);
        let mut links = links(page);
        links.retain(|link| is_relative(link) && !self.leads_somewhere(path, link));
        links
    }

    fn leads_somewhere(&self, from: &str, link: &str) -> bool {
        let (to, anchor) = link.split_once('#').unwrap_or((link, ""));
        let Some(to) = joined(from, to) else {
            return false;
        };
        let page = self.pages.get(to.as_str());
        let has_anchor = page.is_none_or(|page| anchors(page).iter().any(|one| one == anchor));
        self.has(&to) && (anchor.is_empty() || has_anchor)
    }
}

fn is_relative(link: &str) -> bool {
    !link.contains("://") && !link.starts_with("mailto:")
}

/// A path from a file's folder, without `.` and `..`, or that of the file itself for none; `None` where it leaves the checkout.
fn joined(from: &str, to: &str) -> Option<String> {
    if to.is_empty() {
        return Some(from.to_owned());
    }
    let mut parts: Vec<&str> = from.split('/').collect();
    parts.pop();
    for part in to.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop()?;
            }
            part => parts.push(part),
        }
    }
    Some(parts.join("/"))
}

/// A page whose fenced blocks of code are empty lines.
fn without_blocks(page: &str) -> String {
    let mut text = String::new();
    let mut fence: Option<&str> = None;
    for line in page.lines() {
        let trimmed = line.trim();
        let mark = trimmed.chars().next().filter(|c| "`~".contains(*c));
        let marks = mark.map_or(0, |mark| trimmed.chars().take_while(|c| *c == mark).count());
        match fence {
            None if marks >= 3 => fence = Some(&trimmed[..marks]),
            None => text.push_str(line),
            Some(open) if trimmed.starts_with(open) && trimmed.len() == marks => fence = None,
            Some(_) => {}
        }
        text.push('\n');
    }
    text
}

/// A paragraph without its code: what stands between two equally long runs of backticks.
fn without_code(paragraph: &str) -> String {
    let mut text = String::new();
    let mut rest = paragraph;
    while let Some(at) = rest.find('`') {
        let length = rest[at..].chars().take_while(|c| *c == '`').count();
        let (before, after) = (&rest[..at], &rest[at + length..]);
        text.push_str(before);
        rest = end_of_code(after, length).map_or(after, |end| &after[end..]);
    }
    text.push_str(rest);
    text
}

/// Where a text goes on behind the first run of so many backticks.
fn end_of_code(text: &str, length: usize) -> Option<usize> {
    let mut at = 0;
    while let Some(next) = text[at..].find('`') {
        let begin = at + next;
        let run = text[begin..].chars().take_while(|c| *c == '`').count();
        at = begin + run;
        if run == length {
            return Some(at);
        }
    }
    None
}

/// The targets of a page's links and pictures, as they are written. Code has none.
fn links(page: &str) -> Vec<String> {
    let mut links = Vec::new();
    let blocks = without_blocks(page);
    for paragraph in blocks.split("\n\n").map(without_code) {
        for (begin, end) in TARGETS {
            let targets = paragraph.split(begin).skip(1);
            links.extend(targets.filter_map(|target| target.split(end).next().map(written)));
        }
        let references = paragraph.lines().filter(|line| line.starts_with('['));
        let targets = references.filter_map(|line| line.split_once("]:"));
        links.extend(targets.map(|(_, target)| written(target)));
    }
    links.retain(|link| !link.is_empty());
    links
}

/// A target without its title and angle brackets.
fn written(target: &str) -> String {
    let target = target.split_whitespace().next().unwrap_or_default();
    target.trim_matches(['<', '>']).to_owned()
}

/// The anchors that GitHub gives a page's headings: letters and digits in lower case, hyphens for spaces, a number for a further
/// heading of the same words.
fn anchors(page: &str) -> Vec<String> {
    let mut anchors = Vec::new();
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    for line in without_blocks(page).lines() {
        let title = line.trim_start_matches('#');
        let level = line.len() - title.len();
        if !(1..=6).contains(&level) || !title.starts_with(' ') {
            continue;
        }
        let title = without_targets(title.trim().trim_end_matches([' ', '#'])).to_lowercase();
        let kept = title
            .chars()
            .filter(|c| c.is_alphanumeric() || " -_".contains(*c));
        let anchor: String = kept.map(|c| if c == ' ' { '-' } else { c }).collect();
        let count = counts.entry(anchor.clone()).or_default();
        anchors.push(match *count {
            0 => anchor,
            further => format!("{anchor}-{further}"),
        });
        *count += 1;
    }
    anchors
}

/// The words of a title whose links lose their targets.
fn without_targets(title: &str) -> String {
    let mut parts = title.split("](");
    let first = parts.next().unwrap_or_default();
    let further = parts.map(|part| part.split_once(')').map_or("", |(_, rest)| rest));
    std::iter::once(first).chain(further).collect()
}

/// The pages that a text names from the repository's root, such as in a hint, and that are not there.
fn missing_pages<'a>(text: &'a str, files: &[String]) -> Vec<&'a str> {
    let is_in_path = |c: char| c.is_alphanumeric() || "_-/.".contains(c);
    let named = text.match_indices("docs/").filter_map(|(at, _)| {
        let end = text[at..]
            .find(|c| !is_in_path(c))
            .map_or(text.len(), |end| at + end);
        let word = text[at..end].trim_end_matches('.');
        (!text[..at].ends_with(is_in_path) && word.ends_with(".md")).then_some(word)
    });
    named
        .filter(|word| !files.iter().any(|file| file == word))
        .collect()
}

#[test]
fn every_link_of_a_page_leads_somewhere() {
    let sources = Sources::list().unwrap();
    let paths = sources.paths.iter().filter(|path| path.ends_with(".md"));
    let pages = paths.map(|path| {
        let page = String::from_utf8(sources.read(path).unwrap()).unwrap();
        (path.as_str(), page)
    });
    let checkout = Checkout {
        files: &sources.paths,
        pages: pages.collect(),
    };
    let mut faults = Vec::new();
    for path in checkout.pages.keys() {
        let broken = checkout.broken(path);
        faults.extend(broken.iter().map(|link| format!("{path}: {link}")));
    }
    assert!(faults.is_empty(), "\n{}\n", faults.join("\n"));
    assert!(checkout.pages.len() > 50, "{}", checkout.pages.len());
}

#[test]
fn the_pages_that_files_name_are_there() {
    // The change log names the pages of each version, and these tests name pages that are nowhere.
    let dated = ["docs/CHANGELOG.md", "tests/tests/it/"];
    let sources = Sources::list().unwrap();
    let mut faults = Vec::new();
    for path in &sources.paths {
        let bytes = sources.read(path).unwrap();
        let text = std::str::from_utf8(&bytes).unwrap_or_default();
        if !dated.iter().any(|start| path.starts_with(start)) {
            let missing = missing_pages(text, &sources.paths);
            faults.extend(
                missing
                    .iter()
                    .map(|page| (path.clone(), (*page).to_owned())),
            );
        }
    }
    for (path, page, why) in EXCEPTIONS {
        let count = faults.len();
        faults.retain(|fault| (fault.0.as_str(), fault.1.as_str()) != (path, page));
        assert!(faults.len() < count, "not needed any more: {path}, {why}");
    }
    let lines: Vec<_> = faults
        .iter()
        .map(|(path, page)| format!("{path}: {page}"))
        .collect();
    assert!(lines.is_empty(), "\n{}\n", lines.join("\n"));
}

/// Each rule on a sample that keeps it, and on one that breaks it.
#[test]
fn a_link_that_leads_nowhere_is_found() {
    let files = ["a/b.md", "a/c.svg", "d.md", "e/f/g.rs"].map(str::to_owned);
    let other = "# H\n\n## `I_j`, k: [l](../d.md) & m!\n\n### H\n\n```sh\n# N\n```\n\n    # O\n";
    let check = |page: &str, expect: &[&str]| {
        let checkout = Checkout {
            files: &files,
            pages: [("a/b.md", other.to_owned()), ("d.md", page.to_owned())].into(),
        };
        assert!(checkout.broken("a/b.md").is_empty());
        assert_eq!(checkout.broken("d.md"), expect, "{page}");
    };
    check(
        "# P q #\n\n[1](a/b.md) [2](a/b.md#h) [3](a/b.md#h-1) [4](a/b.md#i_j-k-l--m) [5](#p-q)\n![6](./a/c.svg \"7\") [8](e) [9](e/f/g.rs#L1)\n\
         [10](https://r.s/t) [`11`](mailto:u@v)\n\n[12]: <a/b.md>\n<img src=\"a/c.svg\">\n",
        &[],
    );
    check(
        "`[1](w.md)` ``[2](w.md)` [3](w.md)``\n\n````text\n```\n[4](w.md)\n````\n\n~~~\n[5](w.md)\n~~~\n",
        &[],
    );
    check(
        "[1](w.md) ![2](a/w.svg) [`3`](../d.md) [4](a/b.md#n) [5](a/b.md#o) [6](a/b.md#h-2) [7](#w) [8](a/b) ` [9](w)\n\n[10]: w/x.md\n",
        &[
            "w.md",
            "a/w.svg",
            "../d.md",
            "a/b.md#n",
            "a/b.md#o",
            "a/b.md#h-2",
            "#w",
            "a/b",
            "w",
            "w/x.md",
        ],
    );
    check("<a href=\"w.md\">1</a>", &["w.md"]);

    let files = ["docs/a.md".to_owned()];
    let text = "see docs/a.md, `docs/b/c.md`. Also b/docs/d.md, docs/e.rs and docs/f.md.";
    assert_eq!(missing_pages(text, &files), ["docs/b/c.md", "docs/f.md"]);
}
