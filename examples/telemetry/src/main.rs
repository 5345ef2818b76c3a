//! A host that sends its spans to an OpenTelemetry collector: `cargo run -p telemetry`.
//!
//! The host of `examples/host` learns from twelve tasks; then it adds a skill, upgrades it and takes it out of use. Its spans
//! go out by OTLP, as protobuf over plain http, to the collector that `OTEL_EXPORTER_OTLP_ENDPOINT` names (else
//! `http://localhost:4318`). Texts of prompts, answers and tools go with them only where
//! `OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT` asks for it. [`sending`] is what a host copies.
#![allow(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "it shows what happens"
)]

mod learning;
mod sending;
mod settings;

use std::{error::Error, process::ExitCode};

use sending::Sending;
use settings::Settings;
use tokio::runtime::Runtime;

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(fault) => {
            eprintln!("telemetry: {fault}");
            ExitCode::FAILURE
        }
    }
}

fn run() -> Result<(), Box<dyn Error>> {
    let settings = Settings::read(|name| std::env::var(name).ok())?;
    let runtime = Runtime::new()?;
    let sending = Sending::start(&settings, runtime.handle())?;
    let learned = runtime.block_on(learning::learn(settings.texts));
    // Also where learning failed: the spans say how.
    let sent = sending.finish();
    println!("{}", learned?);
    let (texts, sent) = (if settings.texts { "with" } else { "without" }, sent?);
    println!("sent {sent} spans {texts} texts to {}", settings.endpoint);
    Ok(())
}
