//! Draws figures as one SVG, without scripts and outside references, for light and dark backgrounds.

use std::fmt::Write;

/// One figure.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Panel {
    pub(crate) title: String,
    /// The labels of the axes.
    pub(crate) x: &'static str,
    pub(crate) y: &'static str,
    pub(crate) drawing: Drawing,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Drawing {
    /// One line per series, with its spread as a band.
    Lines(Vec<Series>),
    /// One value with its interval per row, on an axis that includes zero.
    Rows(Vec<Row>),
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Series {
    /// Its index in the legend.
    pub(crate) at: usize,
    pub(crate) points: Vec<Mark>,
}

/// A value with its label and interval.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Row {
    /// Its index in the legend.
    pub(crate) at: usize,
    pub(crate) label: String,
    pub(crate) value: f64,
    pub(crate) low: f64,
    pub(crate) high: f64,
}

/// A value with its spread.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Mark {
    pub(crate) x: f64,
    pub(crate) value: f64,
    pub(crate) low: f64,
    pub(crate) high: f64,
}

const WIDTH: f64 = 980.0;
const HEIGHT: f64 = 280.0;
const GAP: f64 = 20.0;
/// The mean width of a letter.
const LETTER: f64 = 6.6;
const LINE: f64 = 20.0;
const COLORS: usize = 8;
const DASHES: [&str; 3] = ["none", "7 3", "2 3"];

/// Colors that people with any color vision can distinguish (Okabe and Ito's), brighter on a dark background.
const STYLE: &str = "\
text{font:12px system-ui,sans-serif;fill:#222}.t{font-weight:600;font-size:13px}.m{fill:#666}
.p{fill:#fff}.a{stroke:#888}.g{stroke:#ddd}.l{fill:none;stroke-width:2}.b{stroke:none;opacity:.16}
.c0{stroke:#0072b2;fill:#0072b2}.c1{stroke:#d55e00;fill:#d55e00}.c2{stroke:#009e73;fill:#009e73}
.c3{stroke:#b65c93;fill:#b65c93}.c4{stroke:#b87f00;fill:#b87f00}.c5{stroke:#2b93cf;fill:#2b93cf}
.c6{stroke:#6f6f6f;fill:#6f6f6f}.c7{stroke:#8c564b;fill:#8c564b}.l{fill:none}.b{stroke:none}
@media(prefers-color-scheme:dark){text{fill:#e6e6e6}.m{fill:#a8a8a8}.p{fill:#14161a}.g{stroke:#33373d}
.c0{stroke:#4aa8e0;fill:#4aa8e0}.c1{stroke:#ff8a4c;fill:#ff8a4c}.c2{stroke:#2fd0a0;fill:#2fd0a0}
.c3{stroke:#e59cc4;fill:#e59cc4}.c4{stroke:#f5bf4a;fill:#f5bf4a}.c5{stroke:#8fd0f5;fill:#8fd0f5}
.c6{stroke:#b8b8b8;fill:#b8b8b8}.c7{stroke:#c49a8f;fill:#c49a8f}.l{fill:none}.b{stroke:none}}";

/// Draws panels below a legend of `names`: rows over the whole width, lines in two columns.
pub(crate) fn draw(title: &str, names: &[String], panels: &[Panel]) -> String {
    let mut page = Page::default();
    page.text(GAP, 24.0, "t", "start", title);
    let mut top = page.legend(names, 44.0);
    let mut column = 0;
    for panel in panels {
        let wide = matches!(panel.drawing, Drawing::Rows(_));
        if wide && column > 0 {
            (column, top) = (0, top + HEIGHT + GAP);
        }
        let width = if wide {
            WIDTH - 2.0 * GAP
        } else {
            (WIDTH - 3.0 * GAP) / 2.0
        };
        let left = GAP + f64::from(column) * (width + GAP);
        let frame = Frame { left, top, width };
        match &panel.drawing {
            Drawing::Rows(rows) => {
                top += page.rows(&frame, panel, rows) + GAP;
            }
            Drawing::Lines(lines) => {
                page.lines(&frame, panel, lines);
                column += 1;
            }
        }
        if column == 2 {
            (column, top) = (0, top + HEIGHT + GAP);
        }
    }
    if column > 0 {
        top += HEIGHT + GAP;
    }
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {top}\" width=\"{WIDTH}\" height=\"{top}\" role=\"img\"><title>{}</title><style>{STYLE}</style><rect class=\"p\" width=\"{WIDTH}\" height=\"{top}\"/>\n{}</svg>\n",
        escaped(title),
        page.0
    )
}

/// A panel's position.
struct Frame {
    left: f64,
    top: f64,
    width: f64,
}

/// An axis with round numbers at its ticks.
struct Axis {
    ticks: Vec<f64>,
    /// The values at its ends.
    least: f64,
    most: f64,
    /// The positions of its ends on the page.
    from: f64,
    to: f64,
}

impl Axis {
    /// An axis between two round numbers that enclose all values; none where no value is finite.
    fn around(values: impl Iterator<Item = f64>, from: f64, to: f64) -> Option<Self> {
        let (least, most) = values.filter(|value| value.is_finite()).fold(
            (f64::INFINITY, f64::NEG_INFINITY),
            |(least, most), value| (least.min(value), most.max(value)),
        );
        if least > most {
            return None;
        }
        let room = (most - least).max(1e-9 * most.abs()).max(1e-6);
        let rough = room / 4.0;
        let power = 10_f64.powf(rough.log10().floor());
        let steps = [1.0, 2.0, 5.0, 10.0].map(|factor| factor * power);
        let step = steps.into_iter().find(|step| *step >= rough);
        let step = step.unwrap_or(rough);
        let first = (least / step).floor();
        let last = (most / step).ceil().max(first + 1.0);
        let count = (last - first) as usize;
        // Adding 0 makes a negative zero positive.
        let ticks = (0..=count).map(|at| (first + at as f64) * step + 0.0);
        Some(Self {
            ticks: ticks.collect(),
            least: first * step,
            most: last * step,
            from,
            to,
        })
    }

    /// The axis cut at `most`.
    fn cut(mut self, most: f64) -> Self {
        if most > self.least {
            self.most = most;
            self.ticks.retain(|tick| *tick <= most);
        }
        self
    }

    fn place(&self, value: f64) -> f64 {
        let share = (value - self.least) / (self.most - self.least);
        self.from + share * (self.to - self.from)
    }
}

#[derive(Default)]
struct Page(String);

impl Page {
    fn add(&mut self, element: std::fmt::Arguments<'_>) {
        // Writing to a String does not fail.
        let _ = writeln!(self.0, "{element}");
    }

    fn text(&mut self, x: f64, y: f64, class: &str, anchor: &str, text: &str) {
        let text = escaped(text);
        self.add(format_args!(
            "<text x=\"{x:.1}\" y=\"{y:.1}\" class=\"{class}\" text-anchor=\"{anchor}\">{text}</text>"
        ));
    }

    fn line(&mut self, class: &str, (x1, y1): (f64, f64), (x2, y2): (f64, f64)) {
        self.add(format_args!(
            "<line class=\"{class}\" x1=\"{x1:.1}\" y1=\"{y1:.1}\" x2=\"{x2:.1}\" y2=\"{y2:.1}\"/>"
        ));
    }

    /// Draws the legend, and gives the position below it.
    fn legend(&mut self, names: &[String], top: f64) -> f64 {
        let (mut x, mut y) = (GAP, top);
        for (at, name) in names.iter().enumerate() {
            let width = 40.0 + LETTER * name.chars().count() as f64;
            if x > GAP && x + width > WIDTH - GAP {
                (x, y) = (GAP, y + LINE);
            }
            let (class, dash) = look(at);
            self.add(format_args!(
                "<line class=\"l {class}\" stroke-dasharray=\"{dash}\" x1=\"{x:.1}\" y1=\"{y:.1}\" x2=\"{:.1}\" y2=\"{y:.1}\"/>",
                x + 24.0
            ));
            self.text(x + 30.0, y + 4.0, "", "start", name);
            x += width;
        }
        y + LINE
    }

    /// Draws the panel's title and the label of its vertical axis.
    fn head(&mut self, frame: &Frame, panel: &Panel) {
        self.text(frame.left, frame.top + 14.0, "t", "start", &panel.title);
        self.text(frame.left, frame.top + 30.0, "m", "start", panel.y);
    }

    fn nothing(&mut self, frame: &Frame) {
        let (x, y) = (frame.left + 20.0, frame.top + 60.0);
        self.text(x, y, "m", "start", "no cells are done that this needs");
    }

    fn lines(&mut self, frame: &Frame, panel: &Panel, lines: &[Series]) {
        self.head(frame, panel);
        let marks = || lines.iter().flat_map(|line| &line.points);
        let (left, right) = (frame.left + 44.0, frame.left + frame.width - 8.0);
        let (top, bottom) = (frame.top + 42.0, frame.top + HEIGHT - 40.0);
        let most = marks().map(|mark| mark.x).fold(0.0, f64::max);
        let x = Axis::around(marks().map(|mark| mark.x), left, right).map(|x| x.cut(most));
        let heights = marks().flat_map(|mark| [mark.low, mark.high, mark.value]);
        let (Some(x), Some(y)) = (x, Axis::around(heights, bottom, top)) else {
            return self.nothing(frame);
        };
        for tick in &y.ticks {
            let at = y.place(*tick);
            self.line("g", (left, at), (right, at));
            self.text(left - 6.0, at + 4.0, "m", "end", &number(*tick));
        }
        for tick in &x.ticks {
            let at = x.place(*tick);
            self.line("a", (at, bottom), (at, bottom + 4.0));
            self.text(at, bottom + 17.0, "m", "middle", &number(*tick));
        }
        self.line("a", (left, bottom), (right, bottom));
        self.text((left + right) / 2.0, bottom + 33.0, "m", "middle", panel.x);
        for line in lines {
            let place =
                |mark: &Mark, value: f64| format!("{:.1},{:.1}", x.place(mark.x), y.place(value));
            let (class, dash) = look(line.at);
            let middle: Vec<String> = line.points.iter().map(|m| place(m, m.value)).collect();
            let above = line.points.iter().map(|mark| place(mark, mark.high));
            let below = line.points.iter().rev().map(|mark| place(mark, mark.low));
            let band: Vec<String> = above.chain(below).collect();
            self.add(format_args!(
                "<polygon class=\"{class} b\" points=\"{}\"/>",
                band.join(" ")
            ));
            self.add(format_args!(
                "<polyline class=\"{class} l\" stroke-dasharray=\"{dash}\" points=\"{}\"/>",
                middle.join(" ")
            ));
        }
    }

    /// Draws the rows, and gives the panel's height.
    fn rows(&mut self, frame: &Frame, panel: &Panel, rows: &[Row]) -> f64 {
        self.head(frame, panel);
        let lengths = rows.iter().map(|row| row.label.chars().count());
        let longest = lengths.max().unwrap_or(0);
        let left = frame.left + (LETTER * longest as f64 + 16.0).min(frame.width / 2.0);
        let right = frame.left + frame.width - 8.0;
        // The axis includes zero, the baseline.
        let values = rows
            .iter()
            .flat_map(|row| [row.low, row.high, row.value, 0.0]);
        let axis = Axis::around(values, left, right);
        let Some(axis) = axis else {
            self.nothing(frame);
            return 80.0;
        };
        let top = frame.top + 44.0;
        let bottom = top + LINE * rows.len() as f64;
        for tick in &axis.ticks {
            let (at, class) = (axis.place(*tick), if *tick == 0.0 { "a" } else { "g" });
            self.line(class, (at, top), (at, bottom));
            self.text(at, bottom + 15.0, "m", "middle", &number(*tick));
        }
        for (at, row) in rows.iter().enumerate() {
            let y = top + LINE * (at as f64 + 0.5);
            self.text(left - 8.0, y + 4.0, "", "end", &row.label);
            let (class, _) = look(row.at);
            let ends = (axis.place(row.low), axis.place(row.high));
            self.line(&format!("l {class}"), (ends.0, y), (ends.1, y));
            let x = axis.place(row.value);
            self.add(format_args!(
                "<circle class=\"{class}\" cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"4\"/>"
            ));
        }
        self.text((left + right) / 2.0, bottom + 31.0, "m", "middle", panel.x);
        bottom + 36.0 - frame.top
    }
}

/// A series' class and dashes.
fn look(at: usize) -> (String, &'static str) {
    let dash = DASHES.get(at / COLORS % DASHES.len()).copied();
    (format!("c{}", at % COLORS), dash.unwrap_or("none"))
}

fn number(value: f64) -> String {
    let text = format!("{value:.3}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// Escapes untrusted text for SVG (S17).
fn escaped(text: &str) -> String {
    let mut escaped = String::new();
    for c in text.chars() {
        match c {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&#39;"),
            // XML allows none of these characters.
            c if c.is_control() || c == '\u{fffe}' || c == '\u{ffff}' => escaped.push(' '),
            c => escaped.push(c),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[test]
    fn axes_have_round_ticks_around_all_values() {
        let ticks = |values: &[f64]| {
            Axis::around(values.iter().copied(), 0.0, 100.0)
                .unwrap()
                .ticks
        };
        assert_eq!(ticks(&[3.0, 41.0]), [0.0, 10.0, 20.0, 30.0, 40.0, 50.0]);
        assert_eq!(
            ticks(&[-0.1, 0.3]),
            [-0.1, 0.0, 0.1, 0.2, 0.30000000000000004]
        );
        assert_eq!(ticks(&[0.0, 48.0]), [0.0, 20.0, 40.0, 60.0]);
        let cut = Axis::around([0.0, 24.0].into_iter(), 0.0, 120.0).map(|axis| axis.cut(24.0));
        let cut = cut.unwrap();
        assert_eq!(
            (cut.ticks.as_slice(), cut.place(24.0)),
            (&[0.0, 10.0, 20.0][..], 120.0)
        );
        // An axis around a single value.
        let one = Axis::around([5.0].into_iter(), 0.0, 100.0).unwrap();
        assert!((0.0..=100.0).contains(&one.place(5.0)));
        assert!(Axis::around([f64::NAN].into_iter(), 0.0, 1.0).is_none());
    }

    #[test]
    fn text_of_others_stays_text() {
        let name = "<script>alert('x')</script> & \"more\" \u{1b}[31m";
        let panel = Panel {
            title: name.to_owned(),
            x: "",
            y: "",
            drawing: Drawing::Lines(Vec::new()),
        };
        let svg = draw(name, &[name.to_owned()], &[panel]);
        assert!(!svg.contains("<script") && !svg.contains('\u{1b}'), "{svg}");
        assert_eq!(svg.matches("&lt;script&gt;").count(), 4);
        assert!(svg.contains("no cells are done that this needs"));
    }
}
