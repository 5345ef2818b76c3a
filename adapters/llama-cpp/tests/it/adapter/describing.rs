//! What a file tells without being loaded.

use journeyman::{ErrorKind, contract::LanguageModel};
use journeyman_llama_cpp::{DeviceKind, ModelInfo, devices};

use crate::support::{CONTROL, TestFile, Tiny};

#[test]
fn a_header_describes_the_model() {
    let tiny = Tiny {
        template: Some("{{ '<|im_start|>' }}"),
        ..Tiny::default()
    };
    let bytes = tiny.bytes();
    let file = TestFile::new("tiny.gguf", &bytes);
    let info = ModelInfo::read(&file.0).unwrap();
    let model = Tiny::default();
    assert_eq!(
        (info.architecture.as_str(), info.trained_context),
        ("llama", Some(1024))
    );
    assert_eq!((info.chat_template, info.pooling), (true, None));
    let vocabulary = 256 + 2 + CONTROL.len() as u64;
    assert_eq!(info.vocabulary, vocabulary);
    // Embedding, final norm; two layers of norms, attention with half as many keys and values, feed-forward.
    let layer = 2 * 32 + 2 * 32 * 32 + 2 * 32 * 16 + 3 * 32 * 64;
    assert_eq!(info.parameters, 32 * vocabulary + 32 + 2 * layer);
    assert_eq!(info.quantisation, "F32");
    assert_eq!(info.tensor_types.len(), 1);
    assert_eq!(info.file_bytes, bytes.len() as u64);
    assert_eq!(info.refused, None);
    let loaded = model.load();
    let file = TestFile::new("tiny.gguf", &model.bytes());
    let info = ModelInfo::read(&file.0).unwrap();
    assert_eq!(info.model, loaded.capabilities().model);
    assert!(!info.chat_template);
}

#[test]
fn what_cannot_write_is_described_too() {
    let mut bytes = Tiny::default().bytes();
    let at = bytes.windows(5).position(|word| word == b"llama").unwrap();
    bytes[at..at + 5].copy_from_slice(b"tbert");
    let file = TestFile::new("encoder.gguf", &bytes);
    let info = ModelInfo::read(&file.0).unwrap();
    assert_eq!(info.architecture, "tbert");
    assert_eq!(info.refused.unwrap().kind(), ErrorKind::Unsupported);
}

#[test]
fn a_header_cut_anywhere_is_corrupt() {
    let bytes = Tiny::default().bytes();
    // The last name in it, and what is told of that tensor.
    let last = b"ffn_down.weight";
    let at = bytes.windows(last.len()).rposition(|word| word == last);
    let end = at.unwrap() + last.len() + 4 + 2 * 8 + 4 + 8;
    for cut in (4..end).step_by(97).chain([end - 1]) {
        let file = TestFile::new("cut.gguf", &bytes[..cut]);
        let error = ModelInfo::read(&file.0).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Corrupt, "{cut}: {error}");
    }
    let file = TestFile::new("header.gguf", &bytes[..end]);
    ModelInfo::read(&file.0).unwrap();
}

#[test]
fn the_cpu_is_among_the_devices() {
    let devices = devices().unwrap();
    let cpu = devices
        .iter()
        .find(|device| device.kind == DeviceKind::Cpu)
        .unwrap();
    assert!(cpu.memory_total > 0, "{cpu:?}");
}
