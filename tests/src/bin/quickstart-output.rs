//! Reads what `examples/quickstart.sh --json` printed and says what is wrong with it. `tests/run.sh` calls this.

use std::{
    io::{self, Read, Write},
    process::ExitCode,
};

use journeyman_tests::quickstart::{faults, last_object};

fn main() -> io::Result<ExitCode> {
    let mut output = String::new();
    io::stdin().read_to_string(&mut output)?;
    let faults = match last_object(&output) {
        Ok(object) => faults(&object),
        Err(fault) => vec![fault],
    };
    for fault in &faults {
        writeln!(io::stderr(), "quickstart --json: {fault}")?;
    }
    Ok(if faults.is_empty() {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    })
}
