//! Claims that are tested by test binaries: these are run, and what they say becomes findings.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use anyhow::ensure;

use crate::command::cargo;
use crate::study::project;
use crate::{Finding, Run};

/// What is claimed, what is asked, and the tests of it: `binary test`, or the start of that.
pub(crate) struct Tested {
    pub(crate) claim: &'static str,
    pub(crate) target: &'static str,
    pub(crate) tests: &'static [&'static str],
}

impl Tested {
    /// Whether a test is one of the claim's.
    fn has(&self, name: &str) -> bool {
        self.tests.iter().any(|test| name.starts_with(test))
    }
}

/// A test binary: how it is called in [`Tested`], its crate, and its name.
pub(crate) type Binary = (&'static str, &'static str, &'static str);

/// Run the binaries and say what became of each claim. The short form only looks whether the tests are
/// there: they are run by `cargo test` themselves.
pub(crate) fn findings(
    all: &[Tested],
    binaries: &[Binary],
    run: &Run,
) -> anyhow::Result<Vec<Finding>> {
    if run.short {
        return Ok(vec![named(all, binaries)]);
    }
    let (mut out, mut results) = (Vec::new(), BTreeMap::new());
    for (prefix, _, test) in binaries {
        // All crates, so that none is built again with other features.
        let mut asked = vec!["test", "--release", "--workspace", "--exclude", "gpfuse-py"];
        asked.extend(["--test", test, "--", "--show-output"]);
        let said = cargo(&asked, &[])?;
        let found = read(prefix, &said.text);
        ensure!(!found.is_empty(), "`cargo test --test {test}` ran no test: {}", said.text);
        out.extend(ended(test, said.good, &found, all));
        results.extend(found);
    }
    out.extend(all.iter().flat_map(|one| judged(one, &results)));
    Ok(out)
}

/// A finding where a binary ended badly and no claim says so: it was killed on the way, and the
/// tests after that left no line, or a test failed that belongs to no claim.
fn ended(test: &str, good: bool, found: &BTreeMap<String, End>, all: &[Tested]) -> Option<Finding> {
    let failed: Vec<&str> =
        found.iter().filter(|(_, end)| **end == End::Failed).map(|(name, _)| &**name).collect();
    let told = failed.iter().any(|name| all.iter().any(|one| one.has(name)));
    (!good && !told).then(|| {
        let (claim, target) = (format!("The tests `{test}` run to their end"), "they all pass");
        let result = match failed.is_empty() {
            true => format!("ended after {} of them without a failure", found.len()),
            false => format!("failed: {}", failed.join(", ")),
        };
        Finding::new(claim, target, result, false)
    })
}

/// How a test ended.
#[derive(Debug, Clone, PartialEq)]
enum End {
    Passed,
    Failed,
    /// It could not be made here.
    Skipped(String),
}

/// The tests in what a test binary wrote, with a prefix to their names.
fn read(prefix: &str, text: &str) -> BTreeMap<String, End> {
    let mut out = BTreeMap::new();
    let mut shown = None;
    for line in text.lines() {
        if let Some((name, end)) = line.strip_prefix("test ").and_then(|l| l.rsplit_once(" ... ")) {
            let name = format!("{prefix}{name}");
            match end {
                // Where two binaries have a test of one name, both must pass.
                "ok" => drop(out.entry(name).or_insert(End::Passed)),
                "FAILED" => drop(out.insert(name, End::Failed)),
                _ => {}
            };
        } else if let Some(name) = line.strip_prefix("---- ") {
            let end = name.find(" std").unwrap_or(name.len());
            shown = Some(format!("{prefix}{}", &name[..end]));
        } else if let (Some(why), Some(name)) = (line.strip_prefix("skipped: "), &shown)
            && let Some(end) = out.get_mut(name).filter(|end| **end == End::Passed)
        {
            *end = End::Skipped(why.into());
        }
    }
    out
}

/// What became of a claim: one finding, and one more for each test that could not be made.
fn judged(one: &Tested, results: &BTreeMap<String, End>) -> Vec<Finding> {
    let ends: Vec<(&String, &End)> = results.iter().filter(|(name, _)| one.has(name)).collect();
    let missing = one.tests.iter().filter(|test| !results.keys().any(|n| n.starts_with(**test)));
    let missing: Vec<&str> = missing.copied().collect();
    let count = |wanted: &End| ends.iter().filter(|(_, end)| *end == wanted).count();
    let (passed, failed) = (count(&End::Passed), count(&End::Failed));
    let skipped = ends.len() - passed - failed;
    let names: Vec<&str> = ends
        .iter()
        .filter(|(_, end)| **end == End::Failed)
        .map(|(name, _)| name.as_str())
        .collect();
    let tests = if passed == 1 { "test" } else { "tests" };
    let mut result = format!("{passed} {tests} passed, {failed} failed, {skipped} skipped");
    if !names.is_empty() || !missing.is_empty() {
        result += &format!(": {}", [names, missing.clone()].concat().join(", "));
    }
    let mut out = Vec::new();
    if passed > 0 || failed > 0 || !missing.is_empty() {
        let met = failed == 0 && missing.is_empty();
        let note = "by the real program, or the library, in a temporary folder; no test of these can \
                    fail by chance, only on a machine too slow for its waits";
        out.push(Finding::new(one.claim, one.target, result, met).with(note));
    }
    for (name, end) in ends {
        if let End::Skipped(why) = end {
            let claim = format!("{}: {name}", one.claim);
            out.push(Finding::not_run(claim, one.target, why));
        }
    }
    out
}

/// That each claim has its tests, by name, in the sources.
fn named(all: &[Tested], binaries: &[Binary]) -> Finding {
    let mut sources = BTreeMap::new();
    for (prefix, package, test) in binaries {
        let folder = project().join("crates").join(package).join("tests");
        let mut text = flat(&folder.join(format!("{test}.rs")));
        for file in folder.join(test).read_dir().into_iter().flatten().flatten() {
            let stem = file.path().file_stem().unwrap_or_default().to_string_lossy().into_owned();
            text += &flat(&file.path()).replace("\nfn ", &format!("\nfn {stem}::"));
        }
        sources.insert(*prefix, text);
    }
    let known = |test: &&&str| {
        let has = |(prefix, text): (&&str, &String)| {
            let name = test.strip_prefix(prefix);
            name.is_some_and(|name| text.contains(&format!("#[test]\nfn {name}")))
        };
        sources.iter().any(has)
    };
    let tests: Vec<&str> = all.iter().flat_map(|one| one.tests).copied().collect();
    let unknown: Vec<&str> = tests.iter().filter(|test| !known(test)).copied().collect();
    let result = match unknown.is_empty() {
        true => format!("{} claims, {} names of tests, all known", all.len(), tests.len()),
        false => format!("unknown: {}", unknown.join(", ")),
    };
    let note = "the tests themselves are run by `cargo test`";
    let claim = "Every claim has its tests";
    Finding::new(claim, "no name unknown", result, unknown.is_empty()).with(note)
}

/// A source without indents: property tests have one. No text where there is no file.
fn flat(file: &Path) -> String {
    let text = fs::read_to_string(file).unwrap_or_default();
    text.lines().map(|line| format!("{}\n", line.trim_start())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "running 3 tests\ntest a::b ... ok\ntest c ... FAILED\ntest d ... ok\n\nsuccesses:\n\n\
                        ---- a::b stdout ----\nskipped: clock: no faketime\n\nsuccesses:\n    a::b\n";

    #[test]
    fn what_cargo_says_becomes_findings() {
        let found = read("x ", TEXT);
        assert_eq!(found["x a::b"], End::Skipped("clock: no faketime".into()));
        assert_eq!((&found["x c"], &found["x d"]), (&End::Failed, &End::Passed));
        let one = |tests| Tested { claim: "a", target: "b", tests };
        let outcomes = |tests| {
            let all = judged(&one(tests), &found);
            all.iter().map(|f| f.outcome).collect::<Vec<_>>()
        };
        use crate::Outcome::{Met, Missed, NotRun};
        assert_eq!(outcomes(&["x d"]), [Met]);
        assert_eq!(outcomes(&["x a::"]), [NotRun]);
        assert_eq!(outcomes(&["x d", "x a::"]), [Met, NotRun]);
        assert_eq!(outcomes(&["x c", "x d"]), [Missed]);
        assert_eq!(outcomes(&["x e"]), [Missed]);
        // A binary that was killed before it could name a failure.
        assert!(ended("x", false, &found, &[one(&["x c"])]).is_none(), "a failure is named");
        let other = ended("x", false, &found, &[one(&["x d"])]).unwrap();
        assert_eq!((other.outcome, other.result.as_str()), (Missed, "failed: x c"));
        let before = read("x ", "running 2 tests\ntest d ... ok\n");
        assert_eq!(ended("x", false, &before, &[]).map(|f| f.outcome), Some(Missed));
        assert!(ended("x", true, &before, &[]).is_none());
    }
}
