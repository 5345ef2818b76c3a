//! Finds files that a text fetches on one line and runs, or installs, on another.

/// For how many lines after it was fetched a file's name is looked for.
const WITHIN: usize = 30;

const FETCHERS: [&str; 4] = ["curl", "wget", "iwr", "invoke-webrequest"];
const INTERPRETERS: [&str; 15] = [
    "sh",
    "bash",
    "zsh",
    "dash",
    "ksh",
    "source",
    ".",
    "python",
    "python3",
    "perl",
    "ruby",
    "node",
    "pwsh",
    "powershell",
    "powershell.exe",
];
const INSTALLERS: [&str; 16] = [
    "dpkg",
    "rpm",
    "apt",
    "apt-get",
    "dnf",
    "yum",
    "apk",
    "installer",
    "msiexec",
    "pip",
    "pip3",
    "pipx",
    "npm",
    "pnpm",
    "yarn",
    "gem",
];
/// Words and prompts before a command.
const BEFORE: [&str; 25] = [
    "$", "#", "%", ">", "-", "*", "+", "sudo", "doas", "env", "exec", "nohup", "time", "then",
    "do", "run", "execute", "and", "next", "now", "finally", "first", "to", "call", "start",
];

/// A file that was fetched.
struct Fetched<'a> {
    name: &'a str,
    /// From 1.
    line: usize,
    /// Whether it was given leave to run; a fetched file has none.
    may_run: bool,
}

/// The greatest number of fetched files that are kept in mind; the latest count. It bounds the work on hostile text.
const MOST: usize = 64;

/// The lines, from 1, that run or install a file that an earlier command fetched.
pub(super) fn lines_that_run_fetched(text: &str) -> Vec<usize> {
    let mut fetched: Vec<Fetched<'_>> = Vec::new();
    let mut found = Vec::new();
    for (number, line) in (1..).zip(text.lines()) {
        for command in line.split(['`', ';', '|', '&']) {
            let words = words(command);
            fetched.retain(|file| number - file.line <= WITHIN);
            if found.last() != Some(&number) && fetched.iter().any(|file| file.is_used(&words)) {
                found.push(number);
            }
            let is_chmod = words
                .first()
                .is_some_and(|program| base(program) == "chmod");
            for file in fetched.iter_mut().filter(|_| is_chmod) {
                file.may_run |= words.iter().any(|word| file.is(word));
            }
            if let Some(name) = fetches(&words) {
                let (line, may_run) = (number, false);
                fetched.retain(|file| file.name != name);
                if fetched.len() == MOST {
                    fetched.remove(0);
                }
                fetched.push(Fetched {
                    name,
                    line,
                    may_run,
                });
            }
        }
    }
    found
}

/// A command's words, without quotes and without what stands before its program.
fn words(command: &str) -> Vec<&str> {
    let words = command.split_whitespace();
    let words = words.map(|word| word.trim_matches(['"', '\'', '(', ')', ',']));
    let before = |word: &&str| {
        let number = word.strip_suffix(['.', ')']);
        let is_number =
            number.is_some_and(|n| n.bytes().all(|b| b.is_ascii_digit()) && !n.is_empty());
        let sets = word
            .split_once('=')
            .is_some_and(|(name, _)| !name.contains(['/', ':', '-']));
        word.is_empty() || is_number || sets || BEFORE.contains(&word.to_ascii_lowercase().as_str())
    };
    words.skip_while(before).collect()
}

/// The name under which a command keeps what it fetches.
fn fetches<'a>(words: &[&'a str]) -> Option<&'a str> {
    let program = base(words.first()?).to_ascii_lowercase();
    if !FETCHERS.contains(&program.as_str()) {
        return None;
    }
    let is_short = |word: &str| word.starts_with('-') && !word.starts_with("--");
    // curl names the file by -o, wget by -O; other letters may stand before it (`-fsSLo`).
    let letter = if program == "wget" { 'O' } else { 'o' };
    let names = |word: &str| {
        matches!(word, "--output" | "--output-document" | ">")
            || word.eq_ignore_ascii_case("-outfile")
            || (is_short(word) && word.ends_with(letter))
    };
    let named = words.iter().position(|word| names(word));
    let named = named.and_then(|at| words.get(at + 1));
    let glued = || {
        let long = ["--output=", "--output-document="];
        let rest = |word: &&'a str| long.iter().find_map(|long| word.strip_prefix(*long));
        words.iter().find_map(rest)
    };
    let remote = || {
        let keeps =
            |word: &&str| *word == "--remote-name" || (is_short(word) && word.contains('O'));
        let url = words.iter().find(|word| word.contains("://"))?;
        let is_kept = program == "wget" || words.iter().any(keeps);
        is_kept.then(|| url.split(['?', '#']).next().unwrap_or(url))
    };
    let name = base(named.copied().or_else(glued).or_else(remote)?);
    (!matches!(name, "" | "-" | "null")).then_some(name)
}

impl Fetched<'_> {
    fn is(&self, word: &str) -> bool {
        base(word.trim_end_matches('.')) == self.name
    }

    /// Whether a command runs or installs the file.
    fn is_used(&self, words: &[&str]) -> bool {
        let Some((program, arguments)) = words.split_first() else {
            return false;
        };
        if self.is(program) && program.contains('/') && self.may_run {
            return true;
        }
        let program = base(program).to_ascii_lowercase();
        let mut plain = arguments.iter().filter(|word| !word.starts_with('-'));
        if INTERPRETERS.contains(&program.as_str()) {
            return plain.next().is_some_and(|word| self.is(word));
        }
        INSTALLERS.contains(&program.as_str()) && plain.any(|word| self.is(word))
    }
}

/// The last part of a path.
fn base(path: &str) -> &str {
    path.rsplit(['/', '\\']).next().unwrap_or(path)
}
