//! Where people read: colors and bars on a terminal, plain lines elsewhere.

use std::{
    env,
    io::{self, IsTerminal, Write},
};

/// Cells of a whole bar.
const CELLS: usize = 20;

/// How a text looks on a terminal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Tone {
    /// As other text.
    Plain,
    /// A heading.
    Heading,
    /// What went well.
    Good,
    /// What was refused, or went wrong.
    Bad,
    /// What matters less.
    Faint,
}

/// A stream that people read.
pub(crate) struct Screen {
    out: Box<dyn Write>,
    /// Whether it has colors and bars.
    is_styled: bool,
}

impl Screen {
    /// Standard output; standard error where programs read standard output. Without colors where `NO_COLOR` is set, as
    /// <https://no-color.org> says.
    pub(crate) fn new(programs_read_output: bool) -> Self {
        let (out, is_terminal): (Box<dyn Write>, bool) = match programs_read_output {
            true => (Box::new(io::stderr()), io::stderr().is_terminal()),
            false => (Box::new(io::stdout()), io::stdout().is_terminal()),
        };
        let is_set = |name: &str| env::var_os(name).is_some_and(|value| !value.is_empty());
        let is_dumb = env::var_os("TERM").is_some_and(|value| value == "dumb");
        Self::of(out, is_terminal && !is_dumb && !is_set("NO_COLOR"))
    }

    /// A stream, with colors and bars or without.
    fn of(out: Box<dyn Write>, is_styled: bool) -> Self {
        Self { out, is_styled }
    }

    /// A text in its tone.
    pub(crate) fn painted(&self, text: &str, tone: Tone) -> String {
        let code = match tone {
            Tone::Plain => return text.to_owned(),
            Tone::Heading => "1",
            Tone::Good => "32",
            Tone::Bad => "31",
            Tone::Faint => "2",
        };
        match self.is_styled {
            true => format!("\x1b[{code}m{text}\x1b[0m"),
            false => text.to_owned(),
        }
    }

    /// A share in [0, 1] as a bar, with a blank behind it; nothing where there are no colors.
    pub(crate) fn bar(&self, share: f64, tone: Tone) -> String {
        if !self.is_styled {
            return String::new();
        }
        let full = (share.clamp(0.0, 1.0) * CELLS as f64).round() as usize;
        let full = full.min(CELLS);
        let (done, rest) = ("█".repeat(full), "░".repeat(CELLS - full));
        format!(
            "{}{} ",
            self.painted(&done, tone),
            self.painted(&rest, Tone::Faint)
        )
    }
}

impl Write for Screen {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.out.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colors_and_bars_are_there_where_they_are_wanted_alone() {
        let screen = |is_styled| Screen::of(Box::new(io::sink()), is_styled);
        let (plain, styled) = (screen(false), screen(true));
        assert_eq!(plain.painted("done", Tone::Good), "done");
        assert_eq!(plain.bar(0.5, Tone::Good), "");
        assert_eq!(styled.painted("done", Tone::Good), "\x1b[32mdone\x1b[0m");
        assert_eq!(styled.painted("done", Tone::Plain), "done");
        for (share, full) in [(-1.0, 0), (0.5, CELLS / 2), (2.0, CELLS)] {
            let bar = styled.bar(share, Tone::Good);
            assert_eq!(bar.matches('█').count(), full, "{bar}");
            assert_eq!(bar.matches('░').count(), CELLS - full, "{bar}");
        }
    }
}
