//! The protocol between host and worker process: frames of a length (32 bits, little-endian) and that many bytes of
//! JSON.

use std::{
    collections::BTreeMap,
    io::{self, Read, Write},
    path::PathBuf,
};

use journeyman::{
    Error, Result,
    contract::{
        Embedding, EmbeddingSpace, GenerateRequest, Generation, ModelCapabilities, ScoreRequest,
        TokenScores,
    },
};
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use serde_json::Value;

use crate::{config::LlamaConfig, digest::FileHash, embedder::EmbedderConfig, stats::EngineStats};

/// The protocol version; both sides must have the same one.
pub(super) const VERSION: u32 = 10;
/// The name that a worker sends.
pub(super) const NAME: &str = "journeyman-llama-worker";
/// Maximum bytes of a frame; a larger one is refused unread.
pub(super) const MOST_BYTES: usize = 64 << 20;

pub(super) const LOAD_MODEL: &str = "IsolatedLlama::load";
pub(super) const LOAD_EMBEDDER: &str = "IsolatedEmbedder::load";

/// A message of the host. The first is `Load`.
#[derive(Debug, Serialize, Deserialize)]
pub(super) enum ToWorker {
    /// `known` is the model's file as an earlier worker found it.
    Load {
        load: Load,
        known: Option<FileHash>,
    },
    Ask {
        id: u64,
        ask: Ask,
    },
    Cancel {
        id: u64,
    },
}

/// A message of the worker. The first is `Hello`, the second `Loaded` or `Refused`.
#[derive(Debug, Serialize, Deserialize)]
pub(super) enum FromWorker {
    Hello { name: String, protocol: u32 },
    Loaded { loaded: Loaded, file: FileHash },
    Refused(Error),
    Token { id: u64, text: String },
    Answer { id: u64, answer: Result<Answer> },
}

/// The model that a worker loads.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) enum Load {
    Model(LlamaConfig),
    Embedder(EmbedderConfig),
}

impl Load {
    pub(super) fn operation(&self) -> &'static str {
        match self {
            Self::Model(_) => LOAD_MODEL,
            Self::Embedder(_) => LOAD_EMBEDDER,
        }
    }

    pub(super) fn max_waiting(&self) -> usize {
        let most = match self {
            Self::Model(config) => config.max_waiting,
            Self::Embedder(config) => config.max_waiting,
        };
        most as usize
    }

    /// The adapters that are loaded with the model; `None` for a kind of model without adapters.
    pub(super) fn adapters(&mut self) -> Option<&mut BTreeMap<String, PathBuf>> {
        match self {
            Self::Model(config) => Some(&mut config.adapters),
            Self::Embedder(_) => None,
        }
    }
}

/// A worker's report of the loaded model.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) enum Loaded {
    Model(ModelCapabilities),
    Embedder(EmbeddingSpace),
}

impl Loaded {
    /// A name that identifies the model.
    pub(super) fn name(&self) -> &str {
        match self {
            Self::Model(capabilities) => capabilities.model.as_str(),
            Self::Embedder(space) => &space.name,
        }
    }
}

/// A request to the model.
#[derive(Debug, Serialize, Deserialize)]
pub(super) enum Ask {
    Generate(Generate),
    Score(ScoreRequest),
    Embed { texts: Vec<String> },
    Count { text: String },
    CountPrompt(Generate),
    Truncate { text: String, tokens: usize },
    LoadAdapter { name: String, path: PathBuf },
    UnloadAdapter { name: String },
    SavePrefixes { folder: PathBuf },
    RestorePrefixes { folder: PathBuf },
    ForgetPrefixes,
    Stats,
}

/// An adapter's name and the file that it is loaded from; `None` where it is unloaded.
pub(super) type AdapterChange = (String, Option<PathBuf>);

impl Ask {
    pub(super) fn change(&self) -> Option<AdapterChange> {
        match self {
            Self::LoadAdapter { name, path } => Some((name.clone(), Some(path.clone()))),
            Self::UnloadAdapter { name } => Some((name.clone(), None)),
            _ => None,
        }
    }
}

/// The answer to a request.
#[derive(Debug, Serialize, Deserialize)]
pub(super) enum Answer {
    Generation(Generation),
    Scores(Vec<TokenScores>),
    Embeddings(Vec<Embedding>),
    Count { tokens: usize, estimated: bool },
    Text(String),
    Stats(EngineStats),
    Tokens(usize),
    Done,
}

/// A [`GenerateRequest`].
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Generate {
    /// The request as JSON: one whose schemas are nested too deeply to parse is then the request's fault, not the frame's.
    request: String,
    /// Whether it has a schema: one that is `null` reads as none.
    has_schema: bool,
    /// Whether tokens are streamed.
    pub(super) streamed: bool,
}

impl Generate {
    /// # Errors
    /// `Invalid` for a request that JSON cannot express.
    pub(super) fn of(request: &GenerateRequest) -> Result<Self> {
        Ok(Self {
            request: serde_json::to_string(request)
                .map_err(|error| unfit("the request cannot be written as JSON", &error))?,
            has_schema: request.json_schema.is_some(),
            streamed: request.sink.is_some(),
        })
    }

    /// # Errors
    /// `Invalid` for a request that cannot be read back.
    pub(super) fn request(&self) -> Result<GenerateRequest> {
        let mut request: GenerateRequest = serde_json::from_str(&self.request)
            .map_err(|error| unfit("the request cannot be read back from its JSON", &error))?;
        if self.has_schema {
            request.json_schema.get_or_insert(Value::Null);
        }
        Ok(request)
    }
}

fn unfit(message: &str, error: &serde_json::Error) -> Error {
    Error::invalid(crate::generate::GENERATE, message)
        .with("detail", error)
        .hint("change what `detail` names; where it names the recursion limit, nest the request's JSON Schemas less deeply")
}

/// The frame of a request.
///
/// # Errors
/// `Invalid`: it is too large, or has a path that is not UTF-8, which is the only part that JSON cannot express.
pub(super) fn request_frame(operation: &'static str, message: &ToWorker) -> Result<Vec<u8>> {
    match frame(message) {
        Ok(Some(frame)) => Ok(frame),
        Ok(None) => Err(
            Error::invalid(operation, "the request is too large for a worker process")
                .with("most_bytes", MOST_BYTES)
                .hint("send less text at once"),
        ),
        Err(_) => Err(Error::invalid(operation, "the path is not UTF-8")
            .hint("rename the file or its folders")),
    }
}

/// A frame with its length; `None` where it would be too long.
pub(super) fn frame(message: &impl Serialize) -> io::Result<Option<Vec<u8>>> {
    let mut bytes = vec![0; 4];
    serde_json::to_writer(&mut bytes, message)?;
    let length = bytes.len() - 4;
    if length > MOST_BYTES {
        return Ok(None);
    }
    bytes[..4].copy_from_slice(&(length as u32).to_le_bytes());
    Ok(Some(bytes))
}

/// Writes frames until no more come or the reader is gone.
pub(super) fn write_all(
    frames: &std::sync::mpsc::Receiver<Vec<u8>>,
    mut pipe: impl Write,
) -> io::Result<()> {
    while let Ok(frame) = frames.recv() {
        pipe.write_all(&frame)?;
        pipe.flush()?;
    }
    Ok(())
}

/// The result of reading a frame.
#[derive(Debug)]
pub(super) enum Received<T> {
    Message(T),
    /// A complete frame that is not a message; reading can go on.
    Unreadable(Vec<u8>),
    /// The other side has closed the pipe.
    End,
    /// Bytes that are not a frame; reading cannot go on.
    Garbage(&'static str),
}

/// Reads a frame. Memory is allocated for received bytes, not for the announced length.
pub(super) fn read<T: DeserializeOwned>(pipe: &mut impl Read) -> Received<T> {
    let mut length = [0; 4];
    loop {
        match pipe.read(&mut length[..1]) {
            Ok(1) => break,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            _ => return Received::End,
        }
    }
    if pipe.read_exact(&mut length[1..]).is_err() {
        return Received::Garbage("a frame that is cut off");
    }
    let length = u32::from_le_bytes(length) as usize;
    if length > MOST_BYTES {
        return Received::Garbage("a frame that is too long");
    }
    let mut bytes = Vec::new();
    match pipe.take(length as u64).read_to_end(&mut bytes) {
        Ok(have) if have == length => {}
        _ => return Received::Garbage("a frame that is cut off"),
    }
    match serde_json::from_slice(&bytes) {
        Ok(message) => Received::Message(message),
        Err(_) => Received::Unreadable(bytes),
    }
}

/// The request id of a frame that cannot be parsed as a whole.
pub(super) fn id_of(unreadable: &[u8]) -> Option<u64> {
    #[derive(Deserialize)]
    enum Named {
        Ask { id: u64 },
    }
    let Named::Ask { id } = serde_json::from_slice(unreadable).ok()?;
    Some(id)
}

#[cfg(test)]
mod tests {
    use journeyman::{ErrorKind, domain::Prompt};
    use serde_json::json;

    use super::*;

    fn check(bytes: &[u8], expect: &str) {
        match read::<ToWorker>(&mut &*bytes) {
            Received::Garbage(what) => assert_eq!(what, expect),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn frames_come_back_and_garbage_is_told() {
        let bytes = frame(&ToWorker::Cancel { id: 7 }).unwrap().unwrap();
        let mut pipe = &*[bytes.clone(), bytes.clone()].concat();
        for _ in 0..2 {
            let got = read::<ToWorker>(&mut pipe);
            assert!(matches!(got, Received::Message(ToWorker::Cancel { id: 7 })));
        }
        assert!(matches!(read::<ToWorker>(&mut pipe), Received::End));
        check(&bytes[..3], "a frame that is cut off");
        check(&bytes[..bytes.len() - 1], "a frame that is cut off");
        check(b"hello, world", "a frame that is too long");
    }

    #[test]
    fn a_frame_that_is_no_message_hides_none_behind_it() {
        let ask = br#"{"Ask":{"id":7,"ask":{"Generate":{"sampling":null}}}}"#;
        let next = frame(&ToWorker::Cancel { id: 8 }).unwrap().unwrap();
        for (bytes, id) in [(&b"{}"[..], None), (b"\xff\xfe", None), (ask, Some(7))] {
            let mut pipe = (bytes.len() as u32).to_le_bytes().to_vec();
            pipe.extend_from_slice(bytes);
            pipe.extend_from_slice(&next);
            let mut pipe = &*pipe;
            match read::<ToWorker>(&mut pipe) {
                Received::Unreadable(got) => assert_eq!(id_of(&got), id),
                other => panic!("{other:?}"),
            }
            let got = read::<ToWorker>(&mut pipe);
            assert!(matches!(got, Received::Message(ToWorker::Cancel { id: 8 })));
        }
    }

    #[test]
    fn a_schema_of_null_stays_a_schema() {
        for schema in [None, Some(Value::Null), Some(json!({ "type": "object" }))] {
            let mut request = GenerateRequest::greedy(Prompt::default(), 1);
            request.json_schema = schema.clone();
            let bytes = serde_json::to_vec(&Generate::of(&request).unwrap()).unwrap();
            let sent: Generate = serde_json::from_slice(&bytes).unwrap();
            assert_eq!(sent.request().unwrap().json_schema, schema);
        }
    }

    #[test]
    fn a_request_that_cannot_be_read_back_says_why() {
        let mut deep = json!(true);
        for _ in 0..500 {
            deep = json!({ "not": deep });
        }
        let mut nested = GenerateRequest::greedy(Prompt::default(), 1);
        nested.json_schema = Some(deep);
        let mut no_number = GenerateRequest::greedy(Prompt::default(), 1);
        no_number.sampling.temperature = f32::NAN;
        for (request, expect) in [(nested, "recursion limit"), (no_number, "expected f32")] {
            let error = Generate::of(&request).unwrap().request().unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Invalid);
            let detail = error.fact("detail").unwrap();
            assert!(detail.contains(expect), "{detail}");
        }
    }

    #[test]
    fn an_interrupted_read_is_no_end() {
        struct Interrupted<'a>(&'a [u8], bool);
        impl Read for Interrupted<'_> {
            fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
                self.1 = !self.1;
                match self.1 {
                    true => Err(io::ErrorKind::Interrupted.into()),
                    false => self.0.read(buffer),
                }
            }
        }
        let bytes = frame(&ToWorker::Cancel { id: 7 }).unwrap().unwrap();
        let mut pipe = Interrupted(&bytes, false);
        let got = read::<ToWorker>(&mut pipe);
        assert!(matches!(got, Received::Message(ToWorker::Cancel { id: 7 })));
        assert!(matches!(read::<ToWorker>(&mut pipe), Received::End));
    }

    #[test]
    fn numbers_come_back_to_the_bit() {
        let logprobs = [-0.1_f32, -1.0e-7, -16_777_216.0, -3.402_823_5e38, -0.0];
        let scores = [-0.1_f64, -1.0 / 3.0, -5e-324, -700.123_456_789_012_3];
        let text = "a\u{0}\u{1f600}";
        let answer = Generation::of_tokens("m", text, vec![1, -1], vec![0; 5], logprobs.to_vec());
        let said = FromWorker::Answer {
            id: 1,
            answer: Ok(Answer::Generation(answer)),
        };
        let bytes = frame(&said).unwrap().unwrap();
        let Received::Message(FromWorker::Answer {
            answer: Ok(Answer::Generation(got)),
            ..
        }) = read(&mut &*bytes)
        else {
            panic!("another message");
        };
        assert_eq!(got.text, text);
        let bits = |numbers: &[f32]| numbers.iter().map(|n| n.to_bits()).collect::<Vec<_>>();
        assert_eq!(bits(&got.logprobs), bits(&logprobs));
        let text = serde_json::to_vec(&scores).unwrap();
        let back: [f64; 4] = serde_json::from_slice(&text).unwrap();
        assert_eq!(back.map(f64::to_bits), scores.map(f64::to_bits));
    }
}
