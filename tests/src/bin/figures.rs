//! `bash tests/figures.sh` calls this.

use std::{
    env,
    io::{self, Write},
    process::ExitCode,
};

use journeyman_tests::{
    figures::{Wanted, groups, run},
    host::child::{self, ARGUMENT},
};

fn main() -> ExitCode {
    let mut arguments = env::args().skip(1);
    if arguments.next().as_deref() == Some(ARGUMENT) {
        return match child::run(arguments) {
            Ok(()) => ExitCode::SUCCESS,
            Err(error) => {
                let _ = writeln!(io::stderr(), "{error}");
                ExitCode::FAILURE
            }
        };
    }
    let wanted = Wanted::parse(env::args().skip(1), env::var("JOURNEYMAN_OUT").ok());
    run(groups(), wanted, &mut io::stdout(), &mut io::stderr()).into()
}
