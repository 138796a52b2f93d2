//! A run as a line of the results.

use gpfuse::metrics::Scores;

/// The columns of the results; the first four say which run it was.
pub(crate) const COLUMNS: [&str; 26] = [
    "method",
    "set",
    "split",
    "seed",
    "rows",
    "inputs",
    "nlpd",
    "nlpd_se",
    "crps",
    "rmse",
    "coverage50",
    "coverage80",
    "coverage95",
    "rhat_max",
    "rhat_median",
    "ess_min",
    "divergences",
    "steps",
    "warnings",
    "coarse",
    "functions",
    "test_rows",
    "twins",
    "nlpd_no_twin",
    "seconds",
    "error",
];

/// A line, with empty cells for what is not known.
#[derive(Clone)]
pub(crate) struct Line([String; COLUMNS.len()]);

impl Line {
    /// The line of a run of which nothing is known yet.
    pub(crate) fn new(method: &str, set: &str, split: usize, seed: u64) -> Line {
        let mut line = Line(Default::default());
        line.put("method", method);
        line.put("set", set);
        line.put("split", split);
        line.put("seed", seed);
        line
    }

    /// From a file; none where a line was not written to its end.
    pub(crate) fn read(line: &str) -> Option<Line> {
        let cells: Vec<String> = line.split(',').map(String::from).collect();
        Some(Line(cells.try_into().ok()?))
    }

    /// As in a file.
    pub(crate) fn write(&self) -> String {
        self.0.join(",")
    }

    fn at(column: &str) -> usize {
        let at = COLUMNS.iter().position(|c| *c == column);
        at.unwrap_or_else(|| unreachable!("there is no column {column}"))
    }

    /// A cell.
    pub(crate) fn text(&self, column: &str) -> &str {
        &self.0[Line::at(column)]
    }

    /// A cell that holds a number.
    pub(crate) fn number(&self, column: &str) -> Option<f64> {
        self.text(column).parse().ok()
    }

    /// Whether both are of the same run.
    pub(crate) fn same_run(&self, other: &Line) -> bool {
        self.0[..4] == other.0[..4]
    }

    /// Fill a cell.
    pub(crate) fn put(&mut self, column: &str, value: impl ToString) {
        self.0[Line::at(column)] = value.to_string().replace([',', '\n', '"'], ";");
    }

    /// A number to five digits; what could not be computed stays empty.
    pub(crate) fn put_number(&mut self, column: &str, value: f64) {
        if !value.is_nan() {
            self.put(column, format!("{value:.5}"));
        }
    }

    /// Scores, divided by `scale`, the standard deviation of the training targets: in its units a
    /// density is `scale` times as large.
    pub(crate) fn put_scores(&mut self, scores: &Scores, scale: f64, twins: &[bool]) {
        self.put_number("nlpd", scores.nlpd.value - scale.ln());
        self.put_number("nlpd_se", scores.nlpd.se.unwrap_or(f64::NAN));
        self.put_number("crps", scores.crps.value / scale);
        self.put_number("rmse", scores.rmse.value / scale);
        for (column, share) in
            ["coverage50", "coverage80", "coverage95"].iter().zip(scores.coverage)
        {
            self.put_number(column, share.value);
        }
        let alone: Vec<f64> = scores
            .losses
            .iter()
            .zip(twins)
            .filter(|(_, twin)| !**twin)
            .map(|(l, _)| l[0])
            .collect();
        let (n, all) = (alone.len() as f64, twins.len() as f64);
        self.put("test_rows", twins.len());
        self.put_number("twins", 1.0 - n / all);
        self.put_number("nlpd_no_twin", alone.iter().sum::<f64>() / n - scale.ln());
    }

    /// NLPD in units in which the targets' standard deviation is `scale`.
    pub(crate) fn rescale(&mut self, scale: f64) {
        for column in ["nlpd", "nlpd_no_twin"] {
            if let Some(nlpd) = self.number(column) {
                self.put_number(column, nlpd + scale.ln());
            }
        }
    }
}
