//! Whether a compiler of C++ stores a configuration of AMX whole. The build script of this crate asks it, and a test.

use std::{fs, io, path::Path, process::Command};

/// A configuration of AMX as ggml writes it. Some versions of GCC take only its first 8 bytes for used and store no others, so
/// that the argument does not occur in what they make of it.
const CONFIGURES: &str = r#"
#include <immintrin.h>
extern "C" void configure(unsigned char rows) {
    alignas(64) unsigned char config[64] = {1};
    config[48] = rows;
    _tile_loadconfig(config);
}
"#;

/// Whether the compiler that a command calls, with its flags, stores the whole configuration. What it compiles is written into the
/// folder.
///
/// # Errors
/// The file cannot be written, or the compiler cannot be called, or does not compile it, such as one that does not know AMX.
pub(super) fn stores_configuration(mut command: Command, folder: &Path) -> io::Result<bool> {
    let file = folder.join("configures.cpp");
    fs::write(&file, CONFIGURES)?;
    // The level of CMake's profile `Release`. With `-flto` among the flags, no instructions would be written.
    command.args(["-O3", "-mamx-tile", "-fno-lto", "-S", "-o", "-"]);
    let output = command.arg(&file).output()?;
    if !output.status.success() {
        let told = String::from_utf8_lossy(&output.stderr).into_owned();
        return Err(io::Error::other(told));
    }
    let assembly = String::from_utf8_lossy(&output.stdout);
    if !assembly.contains("ldtilecfg") {
        return Err(io::Error::other("what it made loads no configuration"));
    }
    // The argument comes in this register, and has to be read to be stored.
    Ok(assembly.contains("%dil") || assembly.contains("%edi"))
}
