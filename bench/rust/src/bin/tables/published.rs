//! NLL in raw units beside what others published on the same splits.

use std::fmt::Write;
use std::path::Path;

use gpfuse::metrics::paired;
use gpfuse::model::Method;
use gpfuse::scale::{Scaler, Scaling};
use gpfuse_bench::Outcome;
use gpfuse_bench::sets::Set;

use super::line::Line;
use super::runs::{Runs, header};

/// A published result.
struct Known {
    set: String,
    rows: String,
    inputs: String,
    method: String,
    nll: f64,
    /// As its source prints it, which may be not at all.
    spread: String,
    source: String,
}

/// The tables, with the published results in `results.csv` of the folder `data`.
pub(crate) fn markdown(data: &Path, lines: &[Line]) -> Outcome<String> {
    let path = data.join("results.csv");
    let text = std::fs::read_to_string(&path).map_err(|e| format!("{}: {e}", path.display()))?;
    let known: Vec<Known> = text
        .lines()
        .skip(1)
        .map(|line| Known::read(line).ok_or_else(|| format!("{}: {line}", path.display())))
        .collect::<Result<_, _>>()?;
    Ok(tables(&raw(data, lines)?, &known))
}

/// The lines with NLL in raw units, in which a density is smaller by the standard deviation of the
/// training targets.
fn raw(data: &Path, lines: &[Line]) -> Outcome<Vec<Line>> {
    let mut out = lines.to_vec();
    for name in Runs::new(lines).sets {
        let set = Set::read(data, name)?;
        for split in 0..set.splits() {
            let (train, _) = set.split(split)?;
            let target = train.y()?;
            let scaler = Scaler::fit(Scaling::Standard, train.x(), train.inputs().len(), target)?;
            let split = split.to_string();
            out.iter_mut()
                .filter(|line| line.text("set") == name && line.text("split") == split)
                .for_each(|line| line.rescale(scaler.target.scale));
        }
    }
    Ok(out)
}

impl Known {
    /// Set, rows, inputs, method, NLL, spread and, between quotation marks, the source.
    fn read(line: &str) -> Option<Known> {
        let cells: Vec<&str> = line.splitn(7, ',').collect();
        let [set, rows, inputs, method, nll, spread, source] = cells.try_into().ok()?;
        let [set, rows, inputs, method, spread] =
            [set, rows, inputs, method, spread].map(String::from);
        let (nll, source) = (nll.parse().ok()?, source.trim_matches('"').into());
        Some(Known { set, rows, inputs, method, nll, spread, source })
    }

    fn shown(&self) -> String {
        match self.spread.as_str() {
            "" => format!("{:.2}", self.nll),
            spread => format!("{:.2} ± {spread}", self.nll),
        }
    }
}

/// The default method beside all that is published, then all that was run here.
fn tables(raw: &[Line], known: &[Known]) -> String {
    let runs = Runs::new(raw);
    let (mut methods, mut sources): (Vec<&str>, Vec<&str>) = Default::default();
    for result in known {
        if !methods.contains(&result.method.as_str()) {
            methods.push(&result.method);
            sources.push(&result.source);
        }
    }
    let ours = Method::Pbhs.to_string();
    let columns = ["set", "rows", "inputs", "splits", &ours, "best published"];
    let mut out = header(&[&columns[..], &methods].concat());
    for set in &runs.sets {
        let of_set: Vec<&Known> = known.iter().filter(|result| result.set == *set).collect();
        let about = |cell: fn(&Known) -> &str| of_set.first().map_or("-", |known| cell(known));
        let best = of_set.iter().min_by(|a, b| a.nll.total_cmp(&b.nll));
        let mut cells = vec![
            set.to_string(),
            about(|known| &known.rows).into(),
            about(|known| &known.inputs).into(),
            runs.finished(&ours, set),
            runs.nll(&ours, set, "nlpd"),
            best.map_or("-".into(), |best| format!("{:.2} ({})", best.nll, best.method)),
        ];
        cells.extend(methods.iter().map(|method| {
            of_set.iter().find(|k| k.method == *method).map_or("-".into(), |k| k.shown())
        }));
        let _ = writeln!(out, "| {} |", cells.join(" | "));
    }
    let _ = writeln!(out, "\nThe published methods are from these sources:\n");
    for (method, source) in methods.iter().zip(sources) {
        let _ = writeln!(out, "- {method}: {source}");
    }
    out + "\nAll that was run here, also without the test rows that have a twin, with the same inputs, \
           among the\ntraining rows:\n\n"
        + &runs.run_here()
}

impl Runs<'_> {
    /// The mean over splits with its standard error.
    fn nll(&self, method: &str, set: &str, column: &str) -> String {
        let scores: Vec<f64> = self.scores(method, set, column).into_values().collect();
        match paired(&scores, &vec![0.0; scores.len()]) {
            Ok(found) => match found.se {
                Some(se) => format!("{:.2} ± {se:.2}", found.mean),
                None => format!("{:.2}", found.mean),
            },
            Err(_) => "-".into(),
        }
    }

    /// How many splits have a score, and how many runs have none.
    fn finished(&self, method: &str, set: &str) -> String {
        let lines = self.of(method);
        let of_set = lines.iter().filter(|line| line.text("set") == set);
        let splits = self.scores(method, set, "nlpd").len();
        match of_set.filter(|line| line.number("nlpd").is_none()).count() {
            0 => splits.to_string(),
            failed => format!("{splits}, {failed} failed"),
        }
    }

    /// NLL of each method, and the same without twins where there are any.
    fn run_here(&self) -> String {
        let methods: Vec<&str> = self.methods.iter().map(String::as_str).collect();
        let mut out = header(&[&["set", "twins"][..], &methods].concat());
        for set in &self.sets {
            let twins = self.about(set, "twins");
            let mut row = |name: String, column: &str| {
                let each = methods.iter().map(|method| self.nll(method, set, column));
                let cells: Vec<String> =
                    [name, format!("{:.0} %", 100.0 * twins)].into_iter().chain(each).collect();
                let _ = writeln!(out, "| {} |", cells.join(" | "));
            };
            row(set.to_string(), "nlpd");
            if twins > 0.0 {
                row(format!("{set}, without twins"), "nlpd_no_twin");
            }
        }
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(split: usize, nlpd: Option<f64>) -> Line {
        let mut line = Line::new("pbhs", "made-up", split, 0);
        match nlpd {
            Some(nlpd) => {
                line.put("nlpd", nlpd);
                line.put("nlpd_no_twin", nlpd + 1.0);
                line.put("twins", 0.25);
            }
            None => line.put("error", "no"),
        }
        line
    }

    #[test]
    fn means_over_splits_stand_beside_what_is_published() {
        let known = [
            "made-up,10,2,dropout,1.50,0.25,\"A, Table 1\"",
            "made-up,10,2,ensembles,0.75,,\"B, Table 2\"",
            "other,9,1,dropout,0.10,0.01,\"A, Table 1\"",
        ];
        let known = known.map(|line| Known::read(line).unwrap());
        let lines = [line(0, Some(1.0)), line(1, Some(2.0)), line(2, None)];
        let text = tables(&lines, &known);
        assert!(
            text.contains(
                "| made-up | 10 | 2 | 2, 1 failed | 1.50 ± 0.50 | 0.75 (ensembles) | 1.50 ± 0.25 | 0.75 |"
            ),
            "{text}"
        );
        assert!(text.contains("- ensembles: B, Table 2\n"), "{text}");
        assert!(text.contains("| made-up, without twins | 25 % | 2.50 ± 0.50 |"), "{text}");
        assert!(!text.contains("other"), "{text}");
    }

    /// The targets of the training rows are 10 and 30: their standard deviation is 10.
    #[test]
    fn raw_units_come_from_the_training_rows_of_the_split() {
        let folder = std::env::temp_dir().join(format!("gpfuse-published-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        std::fs::write(folder.join("made-up.csv"), "x1,y\n1,10\n2,30\n3,70\n").unwrap();
        std::fs::write(folder.join("made-up.splits.csv"), "0,1\n0,1\n0,0\n1,0\n").unwrap();
        let found = raw(&folder, &[line(0, Some(-1.0)), line(1, Some(-1.0)), line(0, None)]);
        std::fs::remove_dir_all(&folder).unwrap();
        let found = found.unwrap();
        let near = |cell: Option<f64>, value: f64| (cell.unwrap() - value).abs() < 1e-5;
        assert!(near(found[0].number("nlpd"), 10_f64.ln() - 1.0));
        assert!(near(found[0].number("nlpd_no_twin"), 10_f64.ln()));
        assert!(near(found[1].number("nlpd"), 20_f64.ln() - 1.0));
        assert_eq!(found[2].number("nlpd"), None);
    }
}
