//! The folder of a calibration study survives what can happen to it, and says what it cannot mend.

use std::fs;
use std::path::Path;

use gpfuse::calibrate::{Settings, Simulation};

use super::*;

const RANKS: &str = Simulations::FILE;

fn simulations() -> Simulations {
    Simulations(["log likelihood", "mu_var", "a, b"].map(String::from).to_vec())
}

fn row(number: u64) -> Simulation {
    let (ranks, ess) = (vec![3, 99, 0], (number != 1).then_some(0.1 + number as f64));
    Simulation { number, ranks, ess, divergences: 2, seconds: 1.25, error: String::new() }
}

fn failed(number: u64) -> Simulation {
    let error = "sampling: \"no\", start".into();
    Simulation { number, seconds: 0.5, error, ..Simulation::default() }
}

fn open(folder: &Path, settings: &Settings) -> Result<Ledger<Simulations>, LedgerError> {
    Ledger::open(folder, simulations(), &Simulations::settings(settings, "1.2.3").unwrap())
}

fn refused(outcome: Result<Ledger<Simulations>, LedgerError>, parts: &[&str]) {
    let error = outcome.err().expect("an error").to_string();
    assert_eq!(error.lines().count(), 1, "{error}");
    assert!(!error.contains(char::is_control), "{error:?}");
    parts.iter().for_each(|part| assert!(error.contains(part), "{error}: no `{part}`"));
}

#[test]
fn rows_come_back_and_a_half_line_is_cut() {
    let folder = tempfile::tempdir().unwrap();
    let settings = Settings::default();
    let all = [row(4), failed(2), row(1)];
    let mut ledger = open(folder.path(), &settings).unwrap();
    refused(open(folder.path(), &settings), &["another gpfuse is at work"]);
    all.iter().for_each(|row| ledger.record(row.clone()).unwrap());
    drop(ledger);
    let path = folder.path().join(RANKS);
    let whole = fs::read(&path).unwrap();
    assert_eq!(open(folder.path(), &settings).unwrap().rows(), all);
    // Cut anywhere in the last line: that row is gone, the others stay and more can follow.
    let before = whole.len() - simulations().write(&all[2]).len();
    for length in before + 1..whole.len() {
        fs::write(&path, &whole[..length]).unwrap();
        let mut ledger = open(folder.path(), &settings).unwrap();
        assert!(ledger.was_cut());
        assert_eq!(ledger.rows(), &all[..2]);
        ledger.record(all[2].clone()).unwrap();
        drop(ledger);
        assert_eq!(fs::read(&path).unwrap(), whole);
    }
    // Within the header: all begins again.
    fs::write(&path, &whole[..5]).unwrap();
    assert_eq!(open(folder.path(), &settings).unwrap().rows(), []);
    assert_eq!(fs::read(&path).unwrap(), simulations().header());
}

#[test]
fn other_settings_and_bad_lines_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let mut settings = Settings::default();
    open(folder.path(), &settings).unwrap().record(row(7)).unwrap();
    let newer = Simulations::settings(&settings, "2.0.0").unwrap();
    let version = Ledger::open(folder.path(), simulations(), &newer);
    refused(version, &["results of gpfuse 1.2.3", "this is 2.0.0"]);
    // A study that is only read may be of another version, and not of other settings.
    Simulations::told(folder.path(), &settings).unwrap();
    settings.rows += 1;
    let words = ["study with other settings: `rows` is 20 there and 21 here"];
    refused(open(folder.path(), &settings), &words);
    assert!(
        Simulations::told(folder.path(), &settings).unwrap_err().to_string().contains(words[0])
    );
    settings.rows -= 1;
    // Threads change nothing, and are no part of the settings.
    settings.fit.sampler.threads += 1;
    let path = folder.path().join(RANKS);
    let good = fs::read_to_string(&path).unwrap();
    for (line, problem) in [
        ("1,,0,0.1,,3,4\n", "it has 7 cells, not 8"),
        ("1,,0,0.1,,3,4,x\n", "cell 8 is `x`, no whole number"),
        ("1,,0,0.1,,3,4,\u{1b}x\n", r"cell 8 is `\u{1b}x`, no whole number"),
        ("1,NaN,0,0.1,,3,4,5\n", "cell 2 is `NaN`, no number"),
        ("7,,0,0.1,,3,4,5\n", "second row of simulation 7"),
        ("\n", "it is empty"),
        ("1,,0,0.1,,3,4,5\rx\n", "it holds a line break"),
        ("1,,0,0.1,\"\n", "it holds a line break"),
    ] {
        // The last line may be cut short; one that others follow may not.
        fs::write(&path, format!("{good}{line}8,,0,0.1,,3,4,5\n")).unwrap();
        refused(open(folder.path(), &settings), &["ranks.csv`, line 3", problem]);
    }
    fs::write(&path, "a,b\n").unwrap();
    refused(open(folder.path(), &settings), &["line 1", "columns"]);
    fs::write(folder.path().join(SETTINGS), "version = '1.2.3'\n\"\\u001B\" = 1").unwrap();
    refused(open(folder.path(), &settings), &[r"`\u{1b}` is 1 there and not given here"]);
    fs::write(folder.path().join(SETTINGS), "\"\\u001B\" = 1\n\"\\u001B\" = 2").unwrap();
    refused(open(folder.path(), &settings), &["settings.toml`: cannot be understood"]);
    fs::write(folder.path().join(SETTINGS), "= no").unwrap();
    refused(open(folder.path(), &settings), &["settings.toml`: cannot be understood"]);
    fs::remove_file(folder.path().join(SETTINGS)).unwrap();
    refused(open(folder.path(), &settings), &["no `settings.toml`"]);
}
