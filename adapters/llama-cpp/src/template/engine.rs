//! Jinja within bounds of steps, time, output and stack.

use std::{
    io,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
        mpsc::{self, RecvTimeoutError},
    },
    thread,
    time::Duration,
};

use journeyman::Result;
use minijinja::{
    Environment, Error as JinjaError, ErrorKind as JinjaKind, Value, syntax::SyntaxConfig,
    value::Kwargs,
};
use minijinja_contrib::pycompat::unknown_method_callback;

use super::{
    fault::{TOO_SLOW, failed, too_slow, unfit},
    json::to_json,
};
use crate::convert::worker_failed;

const NAME: &str = "chat";
/// Maximum length of a template, in bytes. The longest that come with models have about 30 KiB.
const MAX_SOURCE: usize = 64 * 1024;
/// Maximum length of a rendering without contents, in bytes.
const MAX_OUTPUT: usize = 4 * 1024 * 1024;
/// Maximum steps of a rendering. The templates of known families take up to 60 steps per message. A step takes at most
/// some microseconds where texts are short.
const FUEL: u64 = 200_000;
/// Maximum time of a rendering.
pub(super) const LIMIT: Duration = Duration::from_secs(10);
/// Stack size for compiling and rendering templates, in bytes. It holds the deepest nesting within the bounds above; a
/// hostile template would overflow an ordinary thread's stack and end the process.
const STACK: usize = 256 * 1024 * 1024;
/// The parts of the date that `strftime_now` returns: the date that Llama's templates fall back to. A rendering depends
/// on nothing but its messages.
const DATE: [(&str, &str); 7] = [
    ("%Y", "2024"),
    ("%m", "07"),
    ("%d", "26"),
    ("%B", "July"),
    ("%b", "Jul"),
    ("%A", "Friday"),
    ("%a", "Fri"),
];

/// A compiled template.
pub(super) struct Engine {
    jinja: Arc<Environment<'static>>,
    /// Whether a rendering took too long: then no second thread is left behind.
    stuck: AtomicBool,
    pub(super) limit: Duration,
}

impl Engine {
    pub(super) fn compile(operation: &'static str, source: String) -> Result<Self> {
        if source.len() > MAX_SOURCE {
            return Err(unfit(operation, "the chat template is longer than 64 KiB"));
        }
        let mut jinja: Environment<'static> = Environment::new();
        let syntax = SyntaxConfig::builder()
            .trim_blocks(true)
            .lstrip_blocks(true)
            .build()
            .map_err(|error| failed(operation, &error))?;
        jinja.set_syntax(syntax);
        jinja.set_fuel(Some(FUEL));
        jinja.set_unknown_method_callback(unknown_method_callback);
        jinja.add_filter("tojson", to_json);
        jinja.add_filter("indent", indent);
        // As in Jinja2: templates ask so whether there are tools. For minijinja none is an empty list.
        jinja.add_test("iterable", |value: &Value| {
            !value.is_none() && value.try_iter().is_ok()
        });
        jinja.add_function("raise_exception", |words: String| -> Result<(), _> {
            Err(JinjaError::new(JinjaKind::InvalidOperation, words))
        });
        jinja.add_function("strftime_now", |format: String| date(&format));
        let source = without_generation_blocks(source);
        let jinja = with_stack(operation, LIMIT, move || {
            jinja.add_template_owned(NAME, source)?;
            Ok(Arc::new(jinja))
        })?;
        Ok(Self {
            jinja,
            stuck: AtomicBool::new(false),
            limit: LIMIT,
        })
    }

    pub(super) fn render(&self, operation: &'static str, context: Value) -> Result<String> {
        if self.stuck.load(Ordering::Relaxed) {
            return Err(too_slow(operation));
        }
        let jinja = self.jinja.clone();
        let rendered = with_stack(operation, self.limit, move || {
            let mut out = Bounded(Vec::new());
            let template = jinja.get_template(NAME)?;
            template.render_captured_to(context, &mut out)?;
            Ok(out.0)
        });
        if matches!(&rendered, Err(error) if error.message() == TOO_SLOW) {
            self.stuck.store(true, Ordering::Relaxed);
        }
        String::from_utf8(rendered?)
            .map_err(|_| unfit(operation, "the chat template's output is not UTF-8"))
    }
}

/// The date in a format of `strftime`.
pub(super) fn date(format: &str) -> String {
    let parts = DATE.iter();
    parts.fold(format.to_owned(), |text, (mark, value)| {
        text.replace(mark, value)
    })
}

/// The filter `indent` of Jinja2. Minijinja's own drops a break at the end.
fn indent(
    text: &str,
    width: Option<usize>,
    first: Option<bool>,
    blank: Option<bool>,
    options: Kwargs,
) -> Result<String, JinjaError> {
    let width = width.map_or_else(|| options.get("width"), |width| Ok(Some(width)))?;
    let flag =
        |given: Option<bool>, name| given.map_or_else(|| options.get(name), |is| Ok(Some(is)));
    let (first, blank) = (flag(first, "first")?, flag(blank, "blank")?);
    options.assert_all_used()?;
    let (first, blank) = (first.unwrap_or(false), blank.unwrap_or(false));
    let blanks = " ".repeat(width.unwrap_or(4).min(1024));
    let line = |(at, line): (usize, &str)| {
        let is_indented = if at == 0 {
            first
        } else {
            blank || !line.is_empty()
        };
        format!("{}{line}", if is_indented { blanks.as_str() } else { "" })
    };
    let lines: Vec<String> = text.split('\n').enumerate().map(line).collect();
    Ok(lines.join("\n"))
}

/// Runs work on a thread with a large stack, and waits at most `limit`. A step can take long where texts are long, and
/// a thread cannot be ended: one that takes longer is left behind, and ends when its fuel does.
fn with_stack<T: Send + 'static>(
    operation: &'static str,
    limit: Duration,
    work: impl FnOnce() -> Result<T, JinjaError> + Send + 'static,
) -> Result<T> {
    let (done, result) = mpsc::channel();
    thread::Builder::new()
        .name("chat-template".to_owned())
        .stack_size(STACK)
        .spawn(move || {
            let _ = done.send(work());
        })
        .map_err(|source| {
            worker_failed(
                operation,
                "the system starts no thread for the chat template",
            )
            .source_from(source)
        })?;
    match result.recv_timeout(limit) {
        Ok(done) => done.map_err(|error| failed(operation, &error)),
        Err(RecvTimeoutError::Timeout) => Err(too_slow(operation)),
        Err(RecvTimeoutError::Disconnected) => Err(unfit(
            operation,
            "the chat template made the renderer panic",
        )),
    }
}

/// Replaces `{% generation %}` blocks, which mark the text that a trainer learns from; a prompt is the same without
/// them.
fn without_generation_blocks(source: String) -> String {
    let mut source = source;
    for (mark, instead) in [("generation", "if true"), ("endgeneration", "endif")] {
        for (open, close) in [("{%", "%}"), ("{%-", "%}"), ("{%", "-%}"), ("{%-", "-%}")] {
            source = source.replace(
                &format!("{open} {mark} {close}"),
                &format!("{open} {instead} {close}"),
            );
        }
    }
    source
}

/// An output of bounded length.
struct Bounded(Vec<u8>);

impl io::Write for Bounded {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.0.len() + bytes.len() > MAX_OUTPUT {
            return Err(io::Error::other("more than 4 MiB"));
        }
        self.0.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
