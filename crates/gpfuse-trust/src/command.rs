//! Other programs: run in the project's folder, with all that they say.

use std::process::{Command, Stdio};

use anyhow::Context;

use crate::study::project;

/// What a program said.
pub(crate) struct Said {
    /// Whether it ended well.
    pub(crate) good: bool,
    /// Standard output and error.
    pub(crate) text: String,
}

impl Said {
    /// Its last line that is not empty.
    pub(crate) fn last(&self) -> &str {
        self.text.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or("nothing").trim()
    }
}

/// Run `cargo` in the project's folder.
pub(crate) fn cargo(args: &[&str], environment: &[(&str, &str)]) -> anyhow::Result<Said> {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or("cargo".into()));
    command.args(args).current_dir(project()).stdin(Stdio::null());
    command.envs(environment.iter().copied());
    let out = command.output().with_context(|| format!("cargo {}", args.join(" ")))?;
    let text = [out.stdout, out.stderr].map(|part| String::from_utf8_lossy(&part).into_owned());
    Ok(Said { good: out.status.success(), text: text.concat() })
}

/// Whether cargo has a command beyond its own, such as `deny`.
pub(crate) fn cargo_has(name: &str) -> bool {
    cargo(&[name, "--version"], &[]).is_ok_and(|said| said.good)
}
