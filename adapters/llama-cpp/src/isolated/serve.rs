//! The worker process: [`run_worker`] loads a model and answers requests.

use std::{
    collections::HashMap,
    fs::File,
    io::{self, Read, Write},
    pin::pin,
    process::ExitCode,
    sync::{
        Arc,
        mpsc::{self, Sender},
    },
    thread,
};

use futures::{
    FutureExt, StreamExt,
    channel::mpsc::{UnboundedReceiver, UnboundedSender, unbounded},
    executor::block_on,
    future::{AbortHandle, Abortable, Aborted, pending},
    stream::FuturesUnordered,
};
use journeyman::{
    Error, ErrorKind, Result,
    contract::{Embedder, LanguageModel, Scorer, TokenSink, Tokenizer},
};
use serde::Serialize;

use super::protocol::{
    self, Answer, Ask, FromWorker, Load, Loaded, NAME, Received, ToWorker, VERSION, frame,
};
use crate::{digest::FileHash, embedder::LlamaEmbedder, loaded::LlamaCpp};

/// The main function of `journeyman-llama-worker`: loads the model that the host names on standard input, answers on
/// standard output, and ends when standard input does. A host's own executable may call it as its first action, and be
/// named in [`IsolatedConfig::worker`](crate::IsolatedConfig::worker).
pub fn run_worker() -> ExitCode {
    match work() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            let _ = writeln!(io::stderr(), "{NAME}: {error}");
            ExitCode::FAILURE
        }
    }
}

fn work() -> io::Result<()> {
    let output = claim_output()?;
    let (frames, outbox) = mpsc::channel();
    let frames = Frames(frames);
    let writer = thread::Builder::new().spawn(move || protocol::write_all(&outbox, output))?;
    frames.say(&FromWorker::Hello {
        name: NAME.to_owned(),
        protocol: VERSION,
    });
    let mut input = io::stdin();
    let Received::Message(ToWorker::Load { load, known }) = protocol::read(&mut input) else {
        return Err(io::Error::other(
            "this program is started by a host that keeps a model in a process of its own",
        ));
    };
    let (said, inbox) = unbounded();
    thread::Builder::new().spawn(move || listen(&mut input, &said))?;
    let served = serve(load, known.as_ref(), inbox, &frames);
    drop(frames);
    writer
        .join()
        .unwrap_or_else(|_| Err(io::Error::other("the writing thread panicked")))?;
    served.map_err(io::Error::other)
}

/// Takes standard output as the pipe to the host and redirects it to standard error: text that a library prints must
/// not get between frames.
#[cfg(unix)]
fn claim_output() -> io::Result<File> {
    use std::os::fd::AsFd;
    let pipe = io::stdout().as_fd().try_clone_to_owned()?;
    rustix::stdio::dup2_stdout(io::stderr())?;
    Ok(File::from(pipe))
}

#[cfg(not(unix))]
fn claim_output() -> io::Result<io::Stdout> {
    Ok(io::stdout())
}

/// Passes on the host's messages. When they end, the host is gone, and this process ends too.
fn listen(input: &mut impl Read, said: &UnboundedSender<Received<ToWorker>>) {
    loop {
        let heard = protocol::read(input);
        if matches!(heard, Received::End | Received::Garbage(_)) {
            break;
        }
        if said.unbounded_send(heard).is_err() {
            return;
        }
    }
    end();
}

/// Ends the process immediately: llama.cpp may be in the middle of a batch, and its destructors must not run during
/// that.
fn end() {
    #[cfg(unix)]
    let _ = rustix::process::kill_process(rustix::process::getpid(), rustix::process::Signal::KILL);
    std::process::exit(1);
}

/// The sender of messages to the host.
#[derive(Clone)]
struct Frames(Sender<Vec<u8>>);

impl Frames {
    /// Sends a message; false where it is too long for a frame.
    fn say(&self, message: &impl Serialize) -> bool {
        let Ok(Some(frame)) = frame(message) else {
            return false;
        };
        // If nobody reads, the host is gone, and standard input ends.
        let _ = self.0.send(frame);
        true
    }

    fn answer(&self, operation: &'static str, id: u64, answer: Result<Answer>) {
        if !self.say(&FromWorker::Answer { id, answer }) {
            let error = Error::new(
                ErrorKind::Unavailable,
                operation,
                "the answer is too large for a worker process",
            )
            .with("most_bytes", protocol::MOST_BYTES)
            .hint("request less at once");
            let answer = Err(error);
            self.say(&FromWorker::Answer { id, answer });
        }
    }
}

/// A sink that sends a request's tokens to the host.
struct Stream {
    id: u64,
    frames: Frames,
}

impl TokenSink for Stream {
    fn token(&self, text: &str) {
        self.frames.say(&FromWorker::Token {
            id: self.id,
            text: text.to_owned(),
        });
    }
}

/// The model that this process serves.
#[derive(Clone)]
enum Served {
    Model(Arc<LlamaCpp>),
    Embedder(Arc<LlamaEmbedder>),
}

impl Served {
    fn load(load: Load, known: Option<&FileHash>) -> Result<Self> {
        Ok(match load {
            Load::Model(config) => Self::Model(LlamaCpp::load_known(config, known)?),
            Load::Embedder(config) => Self::Embedder(LlamaEmbedder::load_known(config, known)?),
        })
    }

    fn loaded(&self) -> FromWorker {
        let (loaded, file) = match self {
            Self::Model(model) => (Loaded::Model(model.capabilities().clone()), &model.file),
            Self::Embedder(model) => (Loaded::Embedder(model.space().clone()), &model.file),
        };
        FromWorker::Loaded {
            loaded,
            file: file.clone(),
        }
    }

    fn operation(&self) -> &'static str {
        match self {
            Self::Model(_) => "IsolatedLlama",
            Self::Embedder(_) => "IsolatedEmbedder",
        }
    }

    /// Waits until the model cannot go on, and returns the reason.
    async fn lost(&self) -> Error {
        match self {
            Self::Model(model) => model.worker.lost().await,
            Self::Embedder(_) => pending().await,
        }
    }
}

fn serve(
    load: Load,
    known: Option<&FileHash>,
    inbox: UnboundedReceiver<Received<ToWorker>>,
    frames: &Frames,
) -> Result<()> {
    match Served::load(load, known) {
        Ok(served) => {
            frames.say(&served.loaded());
            block_on(answer_all(served, inbox, frames))
        }
        Err(error) => {
            frames.say(&FromWorker::Refused(error));
            Ok(())
        }
    }
}

/// Answers all requests concurrently; the model queues them as in the host's process. If the model cannot go on, this
/// process ends, and the host starts another.
async fn answer_all(
    served: Served,
    inbox: UnboundedReceiver<Received<ToWorker>>,
    frames: &Frames,
) -> Result<()> {
    let operation = served.operation();
    let mut inbox = inbox.fuse();
    let mut running = FuturesUnordered::new();
    let mut lost = pin!(served.lost().fuse());
    let mut handles: HashMap<u64, AbortHandle> = HashMap::new();
    loop {
        // In this order: finished answers are sent even if the model cannot go on.
        futures::select_biased! {
            (id, done) = running.select_next_some() => {
                handles.remove(&id);
                let answer = match done {
                    Ok(answer) => answer,
                    Err(Aborted) => Err(Error::new(
                        ErrorKind::Cancelled,
                        operation,
                        "the future was dropped",
                    )),
                };
                frames.answer(operation, id, answer);
            }
            message = inbox.next() => match message {
                Some(Received::Message(ToWorker::Ask { id, ask })) => {
                    let (handle, registration) = AbortHandle::new_pair();
                    handles.insert(id, handle);
                    let work = answer(served.clone(), id, ask, frames.clone());
                    let work = Abortable::new(work, registration);
                    running.push(async move { (id, work.await) });
                }
                Some(Received::Message(ToWorker::Cancel { id })) => {
                    if let Some(handle) = handles.remove(&id) {
                        handle.abort();
                    }
                }
                // The fault of one request; the others go on.
                Some(Received::Unreadable(frame)) => {
                    if let Some(id) = protocol::id_of(&frame) {
                        frames.answer(operation, id, Err(unreadable(operation)));
                    }
                }
                // A process loads one model; for another one the host starts another worker.
                Some(_) => {}
                None => return Ok(()),
            },
            error = lost => return Err(error),
        }
    }
}

fn unreadable(operation: &'static str) -> Error {
    Error::invalid(operation, "the worker process cannot read the request")
        .hint("use the worker that was built with this host")
}

async fn answer(served: Served, id: u64, ask: Ask, frames: Frames) -> Result<Answer> {
    let operation = served.operation();
    let model = match (served, &ask) {
        (Served::Model(model), _) => model,
        (Served::Embedder(model), Ask::Embed { texts }) => {
            let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
            return model.embed(&texts).await.map(Answer::Embeddings);
        }
        (Served::Embedder(_), _) => return Err(unreadable(operation)),
    };
    Ok(match ask {
        Ask::Generate(request) => {
            let streamed = request.streamed;
            let mut request = request.request()?;
            if streamed {
                request.sink = Some(Arc::new(Stream { id, frames }));
            }
            Answer::Generation(model.generate(&request).await?)
        }
        Ask::Score(request) => Answer::Scores(model.score(&request).await?),
        Ask::Embed { .. } => return Err(unreadable(operation)),
        Ask::Count { text } => {
            let count = model.count(&text);
            Answer::Count {
                tokens: count.tokens,
                estimated: count.estimated,
            }
        }
        Ask::CountPrompt(request) => {
            let count = model.count_prompt(&request.request()?).await?;
            Answer::Count {
                tokens: count.tokens,
                estimated: count.estimated,
            }
        }
        Ask::Truncate { text, tokens } => Answer::Text(model.truncate(&text, tokens)),
        Ask::LoadAdapter { name, path } => {
            model.load_adapter(name, path).await?;
            Answer::Done
        }
        Ask::UnloadAdapter { name } => {
            model.unload_adapter(name).await?;
            Answer::Done
        }
        Ask::SavePrefixes { folder } => Answer::Tokens(model.save_prefixes(folder).await?),
        Ask::RestorePrefixes { folder } => Answer::Tokens(model.restore_prefixes(folder).await?),
        Ask::ForgetPrefixes => Answer::Tokens(model.forget_prefixes().await?),
        Ask::Stats => Answer::Stats(model.stats()),
    })
}
