//! `model devices` and `model info`, which load no model.

use std::path::Path;

use journeyman::Result;
use journeyman_llama_cpp::ModelInfo;
use serde_json::json;

use crate::{
    output::{Answer, error_json, table},
    progress::Progress,
};

pub(super) fn devices(backends: Option<&Path>) -> Result<Answer> {
    let devices = match backends {
        Some(folder) => journeyman_llama_cpp::load_backends(folder)?,
        None => journeyman_llama_cpp::devices()?,
    };
    let rows: Vec<Vec<String>> = devices
        .iter()
        .map(|device| {
            vec![
                device.name.clone(),
                device.kind.to_string(),
                device.backend.clone(),
                mebibytes(device.memory_total),
                mebibytes(device.memory_free),
                device.description.clone(),
            ]
        })
        .collect();
    Ok(Answer {
        json: json!({ "devices": devices }),
        text: table(
            &["NAME", "KIND", "BACKEND", "MEMORY", "FREE", "DESCRIPTION"],
            &rows,
        ),
        ..Answer::default()
    })
}

fn mebibytes(bytes: u64) -> String {
    format!("{} MiB", bytes >> 20)
}

pub(super) fn info(file: &Path) -> Result<Answer> {
    let progress = Progress::of("reading the whole file for its SHA-256");
    let info = ModelInfo::read(file)?;
    drop(progress);
    let types = info.tensor_types.iter().map(|(name, count)| {
        let share = *count as f64 / info.parameters.max(1) as f64;
        format!("{name} {:.1}%", 100.0 * share)
    });
    let types: Vec<String> = types.collect();
    let trained = info
        .trained_context
        .map(|tokens| format!("{tokens} tokens"));
    let loads = match &info.refused {
        None => "yes, by its header".to_owned(),
        Some(error) => format!("no: {}", error.message()),
    };
    let unknown = || "unknown".to_owned();
    let rows = [
        ("model", info.model.to_string()),
        ("architecture", info.architecture.clone()),
        ("parameters", info.parameters.to_string()),
        ("quantisation", info.quantisation.clone()),
        ("tensor types", types.join(", ")),
        ("trained context", trained.unwrap_or_else(unknown)),
        (
            "chat template",
            if info.chat_template { "yes" } else { "no" }.to_owned(),
        ),
        ("vocabulary", format!("{} tokens", info.vocabulary)),
        ("pooling", info.pooling.clone().unwrap_or_else(unknown)),
        ("file", format!("{} bytes", info.file_bytes)),
        ("sha256", info.sha256.clone()),
        ("writes text", loads),
    ];
    let rows = rows.map(|(name, value)| vec![name.to_owned(), value]);
    let json = json!({
        "model": info.model,
        "architecture": info.architecture,
        "parameters": info.parameters,
        "quantisation": info.quantisation,
        "tensor_types": info.tensor_types,
        "trained_context": info.trained_context,
        "chat_template": info.chat_template,
        "vocabulary": info.vocabulary,
        "pooling": info.pooling,
        "file_bytes": info.file_bytes,
        "sha256": info.sha256,
        "refused": info.refused.as_ref().map(error_json),
    });
    Ok(Answer {
        json,
        text: table(&[], &rows),
        ..Answer::default()
    })
}
