//! What is linked, and where the compiler is told to trust us.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Context;

use crate::command::{Said, cargo, cargo_has};
use crate::study::{none, project};
use crate::{Finding, Run, Study};

pub(super) const STUDY: Study = Study {
    name: "supply",
    title: "Supply chain and unsafe code",
    about: "Every crate that is linked has a known source and licence, and no advisory of a \
            vulnerability or of unsound code but those that `deny.toml` names with the reason why they \
            do no harm here. `unsafe` stands in two files: the vector kernels, each block with its \
            reason, run under the address sanitizer; the tests have a third, which counts memory.",
    run,
    figures: none,
};

/// Where `unsafe` may stand.
const KERNELS: [&str; 2] = ["crates/gpfuse/src/math/simd.rs", "crates/gpfuse/src/math/wide.rs"];

/// Of tests alone: the allocator that counts what a reader takes.
const COUNTER: &str = "fuzz/checks/bound.rs";

/// How unsafe code begins.
const BEGINS: [&str; 4] = [
    concat!("unsafe", " {"),
    concat!("unsafe", " fn"),
    concat!("unsafe", " impl"),
    concat!("unsafe", " extern"),
];

/// A copy of the advisories to use where they cannot be fetched.
const COPY: &str = "GPFUSE_ADVISORY_DB";

/// The tests that go through the kernels on every instruction set.
const SANITIZED: [&str; 3] = ["collapsed", "golden", "gradient"];

/// The target that the sanitizer is there for.
const TARGET: &str = "x86_64-unknown-linux-gnu";

fn run(run: &Run) -> anyhow::Result<Vec<Finding>> {
    let mut out = vec![unsafe_blocks()?];
    if !run.short {
        out.extend([deny()?, audit()?, sanitizer()?]);
    }
    Ok(out)
}

/// Sources and licences.
fn deny() -> anyhow::Result<Finding> {
    let (claim, target) = ("`cargo deny`: licences and sources", "clean");
    if !cargo_has("deny") {
        return Ok(Finding::not_run(claim, target, "`make tools` makes it possible"));
    }
    let said = cargo(&["deny", "check", "bans", "licenses", "sources"], &[])?;
    // Crates of other systems are looked at too, and were not needed to build.
    if ["failed to download", "failed to fetch"].iter().any(|words| said.text.contains(words)) {
        return Ok(Finding::not_run(claim, target, "the crates cannot be fetched"));
    }
    Ok(Finding::new(claim, target, said.last(), said.good)
        .with("what is allowed is in `deny.toml`"))
}

/// Known vulnerabilities.
fn audit() -> anyhow::Result<Finding> {
    let claim = "`cargo audit`: known advisories";
    let target = "no vulnerability, nothing unsound, but for what `deny.toml` excuses";
    if !cargo_has("audit") {
        return Ok(Finding::not_run(claim, target, "`make tools` makes it possible"));
    }
    let copy = std::env::var(COPY).ok();
    let mut args = vec!["audit", "--deny", "unsound", "--deny", "yanked"];
    if let Some(copy) = &copy {
        args = vec!["audit", "--deny", "unsound", "--no-fetch", "--stale", "--db", copy];
    }
    let said = cargo(&args, &[])?;
    if said.text.contains("couldn't fetch advisory database") {
        let why = format!("the advisories cannot be fetched; `{COPY}` names the folder of a copy");
        return Ok(Finding::not_run(claim, target, why));
    }
    let loaded = loaded(&said.text);
    if loaded == 0 {
        return Ok(Finding::not_run(
            claim,
            target,
            format!("no advisory was read: {}", said.last()),
        ));
    }
    let excused = excused(&fs::read_to_string(project().join("deny.toml"))?);
    // There may be warnings, of crates below ours that nobody maintains.
    let found = match said.good {
        true => format!("none in {loaded} advisories, but for {} excused", excused.len()),
        false => said.last().to_string(),
    };
    let source =
        if copy.is_some() { "a copy of the advisories, or a part of them" } else { "RustSec" };
    Ok(Finding::new(claim, target, found, said.good)
        .with(format!("of {source}; excused: {}", excused.join("; "))))
}

/// How many advisories were read.
fn loaded(said: &str) -> usize {
    let line = said.lines().find_map(|line| line.trim().strip_prefix("Loaded "));
    line.and_then(|rest| rest.split(' ').next()?.parse().ok()).unwrap_or(0)
}

/// The advisories that do no harm here, each with its reason.
fn excused(deny: &str) -> Vec<String> {
    let quoted = |line: &str, key: &str| -> Option<String> {
        let (_, rest) = line.split_once(&format!("{key} = \""))?;
        Some(rest.split('"').next()?.to_owned())
    };
    let one = |line: &str| Some(format!("{}, {}", quoted(line, "id")?, quoted(line, "reason")?));
    deny.lines().filter_map(one).collect()
}

/// Blocks of `unsafe` by file. Clippy sees to it that each has its reason.
fn unsafe_blocks() -> anyhow::Result<Finding> {
    let (mut inside, mut tests, mut outside) = (0, 0, Vec::new());
    let allowed = KERNELS.map(|file| project().join(file));
    let folders = ["crates", "fuzz/checks", "fuzz/targets"].map(|name| project().join(name));
    for file in
        folders.iter().map(|folder| sources(folder)).collect::<anyhow::Result<Vec<_>>>()?.concat()
    {
        let text = fs::read_to_string(&file).with_context(|| file.display().to_string())?;
        let code = text.lines().map(|line| line.split("//").next().unwrap_or_default());
        let count = code.filter(|line| BEGINS.iter().any(|begins| line.contains(begins))).count();
        if allowed.contains(&file) {
            inside += count;
        } else if file == project().join(COUNTER) {
            tests += count;
        } else if count > 0 {
            outside.push(file.display().to_string());
        }
    }
    let result = match outside.first() {
        None => format!(
            "0 outside, {inside} blocks in {}; of tests {tests} in {COUNTER}",
            KERNELS.join(" and ")
        ),
        Some(first) => format!("{} files outside, such as `{first}`", outside.len()),
    };
    Ok(Finding::new(
        "`unsafe` stands in the vector kernels alone",
        "0 blocks outside",
        result,
        outside.is_empty(),
    )
    .with("all Rust sources are read; clippy refuses a block without its reason"))
}

/// All Rust sources below a folder.
fn sources(folder: &Path) -> anyhow::Result<Vec<PathBuf>> {
    let mut out = Vec::new();
    for entry in fs::read_dir(folder).with_context(|| folder.display().to_string())? {
        let path = entry?.path();
        if path.is_dir() {
            out.extend(sources(&path)?);
        } else if path.extension().is_some_and(|e| e == "rs") {
            out.push(path);
        }
    }
    Ok(out)
}

/// The tests of the kernels with every load and store checked.
fn sanitizer() -> anyhow::Result<Finding> {
    let (claim, target) = ("the vector kernels under the address sanitizer", "no report");
    if !cfg!(all(target_arch = "x86_64", target_os = "linux", target_env = "gnu")) {
        return Ok(Finding::not_run(claim, target, format!("only for {TARGET}")));
    }
    let environment = [
        // The sanitizer is in the stable compiler, behind a switch that is not.
        ("RUSTC_BOOTSTRAP", "1"),
        ("RUSTFLAGS", "-Zsanitizer=address"),
        ("CARGO_TARGET_DIR", "target/sanitizer"),
        ("ASAN_OPTIONS", "detect_leaks=0"),
    ];
    let mut args = vec!["test", "-p", "gpfuse", "--target", TARGET, "--lib"];
    SANITIZED.iter().for_each(|test| args.extend(["--test", test]));
    let said = cargo(&args, &environment)?;
    let tests = passed(&said);
    let result = match said.good {
        true => format!("{tests} tests, no report"),
        false => said.text.lines().find(|l| l.contains("ERROR")).unwrap_or(said.last()).to_string(),
    };
    Ok(Finding::new(claim, target, result, said.good && tests > 0).with(format!(
        "the library's own tests and those of {}, which go through all densities, gradients and \
             pools; {TARGET}",
        SANITIZED.join(", ")
    )))
}

/// How many tests passed.
fn passed(said: &Said) -> usize {
    let results = said.text.lines().filter_map(|line| line.strip_prefix("test result: ok. "));
    results.filter_map(|rest| rest.split(' ').next()?.parse::<usize>().ok()).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_audit_says_is_read() {
        let said =
            "    Fetching advisory database\n      Loaded 812 security advisories (from x)\n";
        assert_eq!((loaded(said), loaded("error: no repository")), (812, 0));
        let deny = "ignore = [\n    { id = \"R-1\", reason = \"not called\" },\n]\n";
        assert_eq!(excused(deny), ["R-1, not called"]);
    }
}
