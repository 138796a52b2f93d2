//! Tables with many inputs, all defaults: `tables DATA RESULTS [--methods het,pogpe,mogpe,bhs,pbhs,gp]
//! [--sets A,B] [--splits 0,1] [--seed N] [--summary] [--published]`.
//!
//! DATA is a folder of data sets (see `gpfuse_bench::sets`). Each method is fitted to the training
//! rows of each split with default settings and scored at its test rows, in units of the standard
//! deviation of the training targets. `gp` is the single exact GP with each kernel, and with the one
//! that leave-one-out on the training rows chooses. A run has all cores; its seconds are those of
//! fit, prediction and scores. Each finished run is a line of RESULTS, appended as it ends; runs that
//! it holds are not run again; a run that fails is a line with its error. At the end, or at once with
//! `--summary`, the comparison is printed in Markdown.
//!
//! With `--published`, DATA is a folder of sets whose splits are public, with `results.csv`, what
//! others published on them: then all of these sets and splits are the default, with the default
//! method only, and NLL in raw units is printed beside the published results.

mod judged;
mod line;
mod published;
mod run;
mod runs;
mod summary;

use std::fs::OpenOptions;
use std::io::Write;
use std::path::Path;

use gpfuse::kernel::Kernel;
use gpfuse::model::Method;
use gpfuse_bench::Outcome;
use gpfuse_bench::sets::{Set, twins};
use line::{COLUMNS, Line};
use run::Problem;

const SETS: &str = "yacht,servo,autompg,concreteslump,machine,autos,housing,forest,stock,pendulum,\
                    energy,concrete,airfoil,solar,wine";
const METHODS: &str = "het,pogpe,mogpe,bhs,pbhs,gp";
const SPLITS: &str = "0,1,2,3,4,5,6,7,8,9";
const PUBLISHED_SETS: &str = "boston,concrete,energy,yacht,wine-red";
const PUBLISHED_METHODS: &str = "pbhs";
const PUBLISHED_SPLITS: &str = "0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19";
const USAGE: &str = "usage: tables DATA RESULTS [--methods M,...] [--sets A,...] [--splits 0,...] \
                     [--seed N] [--summary] [--published]";

/// What is fitted: a method, or the single GPs (none).
type Contestant = Option<Method>;

struct Options {
    methods: Vec<Contestant>,
    sets: Vec<String>,
    splits: Vec<usize>,
    seed: u64,
    summary: bool,
    published: bool,
}

fn main() -> Outcome<()> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let [data, results, options @ ..] = args.as_slice() else { return Err(USAGE.into()) };
    let (data, results, options) = (Path::new(data), Path::new(results), Options::read(options)?);
    if !options.summary {
        run_all(data, results, &options)?;
    }
    let lines = read(results)?;
    let text = if options.published {
        published::markdown(data, &lines)?
    } else {
        summary::markdown(&lines)
    };
    print!("{text}");
    Ok(())
}

impl Options {
    fn read(args: &[String]) -> Outcome<Options> {
        let published = args.iter().any(|arg| arg == "--published");
        let (mut methods, mut sets, mut splits) = match published {
            true => (PUBLISHED_METHODS, PUBLISHED_SETS, PUBLISHED_SPLITS),
            false => (METHODS, SETS, SPLITS),
        };
        let (mut seed, mut summary) = ("0", false);
        let mut args = args.iter();
        while let Some(name) = args.next() {
            let place = match name.as_str() {
                "--summary" => {
                    summary = true;
                    continue;
                }
                "--published" => continue,
                "--methods" => &mut methods,
                "--sets" => &mut sets,
                "--splits" => &mut splits,
                "--seed" => &mut seed,
                _ => return Err(USAGE.into()),
            };
            *place = args.next().ok_or_else(|| format!("{name} wants a value; {USAGE}"))?;
        }
        let method = |name: &str| match name {
            "gp" => Ok(None),
            name => name.parse().map(Some),
        };
        Ok(Options {
            methods: methods.split(',').map(method).collect::<gpfuse::Result<_>>()?,
            sets: sets.split(',').map(String::from).collect(),
            splits: splits.split(',').map(str::parse).collect::<Result<_, _>>()?,
            seed: seed.parse()?,
            summary,
            published,
        })
    }
}

/// The lines of the results, none if there is no such file yet.
fn read(results: &Path) -> Outcome<Vec<Line>> {
    let text = if results.exists() { std::fs::read_to_string(results)? } else { String::new() };
    match text.lines().next() {
        Some(header) if header != COLUMNS.join(",") => {
            Err(format!("{}: its columns are others: choose a new file", results.display()).into())
        }
        _ => Ok(text.lines().skip(1).filter_map(Line::read).collect()),
    }
}

/// Run what the results do not hold: all of a split before the next, so that a run that is stopped
/// compares what it has.
fn run_all(data: &Path, results: &Path, options: &Options) -> Outcome<()> {
    let mut done = read(results)?;
    let sets: Vec<Set> =
        options.sets.iter().map(|name| Set::read(data, name)).collect::<Outcome<_>>()?;
    let mut file = OpenOptions::new().create(true).append(true).open(results)?;
    if file.metadata()?.len() == 0 {
        writeln!(file, "{}", COLUMNS.join(","))?;
    } else if !std::fs::read(results)?.ends_with(b"\n") {
        writeln!(file)?;
    }
    for split in &options.splits {
        for (name, set) in options.sets.iter().zip(&sets) {
            let (train, test) = set.split(*split)?;
            let twins = twins(&train, &test);
            let problem = Problem { train, test, twins, seed: options.seed };
            for method in &options.methods {
                let line = |method: &str| Line::new(method, name, *split, options.seed);
                let is_new = |line: &Line| !done.iter().any(|other| other.same_run(line));
                if names(*method).iter().all(|name| !is_new(&line(name))) {
                    continue;
                }
                let mut lines = match method {
                    Some(method) => vec![problem.fit(*method, line(method.name()))],
                    None => problem.fit_gps(line),
                };
                lines.retain(is_new);
                let text: String = lines.iter().map(|line| line.write() + "\n").collect();
                file.write_all(text.as_bytes())?;
                file.sync_data()?;
                eprint!("{text}");
                done.extend(lines);
            }
        }
    }
    Ok(())
}

/// The methods of the lines that a contestant gives.
fn names(contestant: Contestant) -> Vec<String> {
    match contestant {
        Some(method) => vec![method.to_string()],
        None => Kernel::ALL.into_iter().map(run::gp_name).chain([run::GP_LOO.into()]).collect(),
    }
}
