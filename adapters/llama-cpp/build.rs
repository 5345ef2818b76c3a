//! Says whether llama.cpp is compiled for the usual instructions of x86-64 (AVX2 and what comes with it): nothing else was chosen.

use std::env;

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    for name in ["GGML_NATIVE", "GGML_AVX2", "SOURCE_DATE_EPOCH"] {
        println!("cargo:rerun-if-env-changed={name}");
    }
    println!("cargo:rustc-check-cfg=cfg(usual_instructions)");
    let flags = env::var("CARGO_ENCODED_RUSTFLAGS").unwrap_or_default();
    let by_variable = env::vars_os().any(|(name, _)| {
        let name = name.to_string_lossy();
        name.starts_with("GGML_") || name == "SOURCE_DATE_EPOCH"
    });
    let crosses = env::var_os("HOST") != env::var_os("TARGET");
    if !flags.contains("target-cpu=") && !by_variable && !crosses {
        println!("cargo:rustc-cfg=usual_instructions");
    }
}
