//! `bash tests/figures.sh` calls this.

use std::{env, io, process::ExitCode};

use journeyman_tests::figures::{Wanted, groups, run};

fn main() -> ExitCode {
    let wanted = Wanted::parse(env::args().skip(1), env::var("JOURNEYMAN_OUT").ok());
    run(groups(), wanted, &mut io::stdout(), &mut io::stderr()).into()
}
