//! Builds of this repository do not ask their compiler about AMX (`JOURNEYMAN_AMX_KEPT`), since a header mends what it drops.

#[path = "../../src/instructions/amx.rs"]
mod probe;

use std::{env, fs, path::Path, process::Command};

#[test]
fn the_header_of_this_repository_keeps_the_configuration_of_amx() {
    let compiler = env::var_os("CXX").unwrap_or_else(|| "c++".into());
    let folder = env::temp_dir().join(format!("journeyman-amx-{}", std::process::id()));
    fs::create_dir_all(&folder).unwrap();
    // Without the header some versions of GCC drop a part of it.
    match probe::stores_configuration(Command::new(&compiler), &folder) {
        Err(error) => println!("skipped: no compiler of C++ that knows AMX: {error}"),
        Ok(_) => {
            let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
            let mut command = Command::new(&compiler);
            command.arg("-include").arg(root.join(".cargo/amx.h"));
            assert!(probe::stores_configuration(command, &folder).unwrap());
        }
    }
    fs::remove_dir_all(&folder).unwrap();
}
