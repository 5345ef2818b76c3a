//! Says whether llama.cpp is compiled for the usual instructions of x86-64 (AVX2 and what comes with it): nothing else was chosen.
//! And whether it is compiled for AMX, of which Rust tells nothing here.

use std::env;

/// Values of `target-cpu` for which C compilers use AMX.
const AMX: [&str; 6] = [
    "native",
    "sapphirerapids",
    "emeraldrapids",
    "graniterapids",
    "graniterapids-d",
    "diamondrapids",
];

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    let names = [
        "GGML_NATIVE",
        "GGML_AVX2",
        "GGML_AMX_INT8",
        "SOURCE_DATE_EPOCH",
    ];
    for name in names {
        println!("cargo:rerun-if-env-changed={name}");
    }
    println!("cargo:rustc-check-cfg=cfg(usual_instructions)");
    println!("cargo:rustc-check-cfg=cfg(amx)");
    let flags = env::var("CARGO_ENCODED_RUSTFLAGS").unwrap_or_default();
    let processor = flags
        .split('\x1f')
        .find_map(|flag| flag.split("target-cpu=").nth(1));
    let by_name = processor.is_some_and(|name| AMX.contains(&name));
    if by_name || env::var("GGML_AMX_INT8").is_ok_and(|value| value == "ON") {
        println!("cargo:rustc-cfg=amx");
    }
    let by_variable = env::vars_os().any(|(name, _)| {
        let name = name.to_string_lossy();
        name.starts_with("GGML_") || name == "SOURCE_DATE_EPOCH"
    });
    let crosses = env::var_os("HOST") != env::var_os("TARGET");
    if !flags.contains("target-cpu=") && !by_variable && !crosses {
        println!("cargo:rustc-cfg=usual_instructions");
    }
}
