//! Chat templates: rendering the Jinja templates of model files, within bounds.

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

use journeyman::{Error, Result};
use minijinja::{
    Environment, Error as JinjaError, ErrorKind as JinjaKind, Value, context, syntax::SyntaxConfig,
};
use minijinja_contrib::pycompat::unknown_method_callback;

use crate::{config::Template, convert::worker_failed};

const LOAD: &str = "LlamaCpp::load";
const NAME: &str = "chat";
/// Maximum length of a template, in bytes. The longest that come with models have about 30 KiB.
const MAX_SOURCE: usize = 64 * 1024;
/// Maximum length of a rendering without contents, in bytes.
const MAX_OUTPUT: usize = 4 * 1024 * 1024;
/// Maximum steps of a rendering. The templates of known families take up to 60 steps per message. A step takes at most
/// some microseconds where texts are short.
const FUEL: u64 = 200_000;
/// Maximum time of a rendering.
const LIMIT: Duration = Duration::from_secs(10);
const TOO_SLOW: &str = "the chat template takes longer than 10 s";
/// Stack size for compiling and rendering templates, in bytes. It holds the deepest nesting within the bounds above; a
/// hostile template would overflow an ordinary thread's stack and end the process.
const STACK: usize = 256 * 1024 * 1024;
/// Maximum length of a template's own message in an error, in characters.
const MAX_WORDS: usize = 200;
/// Placeholder of a message's content in a rendering.
const PLACEHOLDER: &str = "JOURNEYMAN-CONTENT-";
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

/// Well-known templates, by name.
const NAMED: [(&str, &str); 4] = [
    (
        "chatml",
        "{% for m in messages %}{{ '<|im_start|>' + m.role + '\\n' + m.content + '<|im_end|>\\n' }}{% endfor %}\
         {{ '<|im_start|>assistant\\n' }}",
    ),
    (
        "gemma",
        "{{ bos_token }}{% for m in messages %}{% if m.role == 'system' or m.role == 'tool' %}\
         {{ raise_exception('only user and assistant speak') }}{% endif %}\
         {{ '<start_of_turn>' + ('model' if m.role == 'assistant' else m.role) + '\\n' + m.content + \
         '<end_of_turn>\\n' }}{% endfor %}{{ '<start_of_turn>model\\n' }}",
    ),
    (
        "llama3",
        "{{ bos_token }}{% for m in messages %}{{ '<|start_header_id|>' + ('ipython' if m.role == 'tool' else m.role) + \
         '<|end_header_id|>\\n\\n' + m.content + '<|eot_id|>' }}{% endfor %}\
         {{ '<|start_header_id|>assistant<|end_header_id|>\\n\\n' }}",
    ),
    (
        "mistral",
        "{{ bos_token }}{% for m in messages %}{% if m.role == 'system' %}{{ '[SYSTEM_PROMPT]' + m.content + \
         '[/SYSTEM_PROMPT]' }}{% elif m.role == 'user' %}{{ '[INST]' + m.content + '[/INST]' }}\
         {% elif m.role == 'assistant' %}{{ m.content + eos_token }}{% else %}\
         {{ raise_exception('only system, user and assistant speak') }}{% endif %}{% endfor %}",
    ),
];

/// A compiled chat template.
pub(crate) struct ChatTemplate {
    jinja: Arc<Environment<'static>>,
    bos: String,
    eos: String,
    /// Whether a rendering took too long: then no second thread is left behind.
    stuck: AtomicBool,
    limit: Duration,
}

impl ChatTemplate {
    /// The template that the host chose: its own text, a named one or the file's; `None` without a template.
    pub(crate) fn choose(
        template: &Template,
        own: Option<String>,
        bos: String,
        eos: String,
    ) -> Result<Option<Self>> {
        let source = match template {
            Template::None => return Ok(None),
            Template::Jinja(source) => source.clone(),
            Template::Named(name) => {
                let known = NAMED.iter().find(|(known, _)| known == name);
                let (_, source) = known.ok_or_else(|| {
                    let names: Vec<&str> = NAMED.iter().map(|(name, _)| *name).collect();
                    Error::invalid(LOAD, "no chat template has this name").hint(format!(
                        "use one of {}, or give the template's text with Template::Jinja",
                        names.join(", ")
                    ))
                })?;
                (*source).to_owned()
            }
            Template::Auto => own.ok_or_else(|| {
                Error::unsupported(LOAD, "the file has no chat template").hint(
                    "load with Template::None where prompts are written in the model's own dialect, as for the bundled \
                     model, or with Template::Named, such as `chatml`, for a chat model",
                )
            })?,
        };
        Self::compile(source, bos, eos).map(Some)
    }

    fn compile(source: String, bos: String, eos: String) -> Result<Self> {
        if source.len() > MAX_SOURCE {
            return Err(unfit(LOAD, "the chat template is longer than 64 KiB"));
        }
        let mut jinja: Environment<'static> = Environment::new();
        let syntax = SyntaxConfig::builder()
            .trim_blocks(true)
            .lstrip_blocks(true)
            .build()
            .map_err(|error| failed(LOAD, &error))?;
        jinja.set_syntax(syntax);
        jinja.set_fuel(Some(FUEL));
        jinja.set_unknown_method_callback(unknown_method_callback);
        jinja.add_function("raise_exception", |words: String| -> Result<(), _> {
            Err(JinjaError::new(JinjaKind::InvalidOperation, words))
        });
        jinja.add_function("strftime_now", |format: String| {
            DATE.iter()
                .fold(format, |text, (mark, value)| text.replace(mark, value))
        });
        let source = without_generation_blocks(source);
        let jinja = with_stack(LOAD, LIMIT, move || {
            jinja.add_template_owned(NAME, source)?;
            Ok(Arc::new(jinja))
        })?;
        let template = Self {
            jinja,
            bos,
            eos,
            stuck: AtomicBool::new(false),
            limit: LIMIT,
        };
        template.around(LOAD, &["user"])?;
        Ok(template)
    }

    /// The template's own text before each message's content, and after the last.
    ///
    /// # Errors
    /// `Unsupported` where the template does not accept these messages.
    pub(crate) fn around(&self, operation: &'static str, roles: &[&str]) -> Result<Vec<String>> {
        let rendered = self.render(operation, roles)?;
        let mut texts = Vec::with_capacity(roles.len() + 1);
        let mut rest = rendered.as_str();
        for index in 0..roles.len() {
            let (before, after) = rest
                .split_once(&placeholder(index))
                .filter(|(before, _)| !before.contains(PLACEHOLDER))
                .ok_or_else(|| {
                    unfit(
                        operation,
                        "the chat template drops, reorders or repeats a message",
                    )
                })?;
            texts.push(before.to_owned());
            rest = after;
        }
        if rest.contains(PLACEHOLDER) {
            return Err(unfit(operation, "the chat template repeats a message"));
        }
        texts.push(rest.to_owned());
        Ok(texts)
    }

    fn render(&self, operation: &'static str, roles: &[&str]) -> Result<String> {
        let messages = roles.iter().enumerate();
        let messages: Vec<Value> = messages
            .map(|(index, role)| context! { role => *role, content => placeholder(index) })
            .collect();
        let context = context! {
            messages,
            bos_token => self.bos.as_str(),
            eos_token => self.eos.as_str(),
            add_generation_prompt => true,
            tools => (),
            documents => (),
        };
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

fn too_slow(operation: &'static str) -> Error {
    Error::unsupported(operation, TOO_SLOW).hint(
        "load with another template: Template::Jinja, Template::Named or Template::None; another copy of the \
            model may have a faster one",
    )
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

fn placeholder(index: usize) -> String {
    format!("{PLACEHOLDER}{index}-END")
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

fn unfit(operation: &'static str, why: &'static str) -> Error {
    Error::unsupported(operation, why).hint(
        "put the system message first and let user and assistant take turns; or load with another template: \
         Template::Jinja, Template::Named or Template::None",
    )
}

fn failed(operation: &'static str, error: &JinjaError) -> Error {
    let why = match error.kind() {
        JinjaKind::SyntaxError => "the chat template is not valid Jinja",
        JinjaKind::OutOfFuel => "the chat template exceeds its limit of steps",
        JinjaKind::WriteFailure => "the chat template writes more than 4 MiB",
        _ => "the chat template refuses these messages",
    };
    let words = error.detail().unwrap_or_default().chars();
    let words: String = words
        .map(|c| if c.is_control() { ' ' } else { c })
        .take(MAX_WORDS)
        .collect();
    unfit(operation, why)
        .with("jinja", error.kind())
        .with("line", error.line().unwrap_or(0))
        .with("detail", words)
}

#[cfg(test)]
mod tests;
