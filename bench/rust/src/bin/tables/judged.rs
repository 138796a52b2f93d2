//! A method beside the best of its rivals: single GPs and the programs of others.

use std::fmt::Write;

use gpfuse::metrics::{Difference, paired};
use gpfuse::model::Method;

use super::runs::{PEERS, Runs, gps, header, mean, shown, signed};

/// The methods that are judged: the default one and the best joint model.
const JUDGED: [Method; 2] = [Method::Pbhs, Method::Het];
/// A mean NLPD that is larger by so much is clearly worse.
const WORSE: f64 = 0.05;

/// What a method comes to in a set.
struct Judged {
    /// The best rival.
    rival: String,
    /// The mean scores over the splits that both have.
    mine: f64,
    theirs: f64,
    /// The method's score minus the rival's.
    difference: Difference,
}

impl Runs<'_> {
    /// A method beside the best of some rivals, none if they have no split in common: the rival
    /// from which the method is furthest behind, or least ahead, on the splits that both have.
    /// Where all have the same splits, it is the one with the best mean.
    fn judge(
        &self,
        method: &str,
        rivals: impl Iterator<Item = String>,
        set: &str,
        column: &str,
    ) -> Option<Judged> {
        let of = |rival: String| {
            let (mine, theirs) = self.pairs(method, &rival, set, column);
            let difference = paired(&mine, &theirs).ok()?;
            let [mine, theirs] = [mine, theirs].map(|scores| mean(scores.into_iter()));
            Some(Judged { rival, mine, theirs, difference })
        };
        rivals.filter_map(of).max_by(|a, b| a.difference.mean.total_cmp(&b.difference.mean))
    }

    /// The tables of the judged methods that have a line, and what they count to.
    pub(crate) fn judged(&self) -> String {
        let mut out = String::new();
        let methods = JUDGED.map(|m| m.to_string());
        let methods: Vec<&String> = methods.iter().filter(|m| self.methods.contains(m)).collect();
        for method in &methods {
            let _ = write!(out, "## {method} beside its best rival\n\n");
            out += &self.beside(method, "nlpd", &self.sets);
            let twins = self.with_twins();
            if !twins.is_empty() {
                out += "\nWithout the test rows that have a twin among the training rows:\n\n";
                out += &self.beside(method, "nlpd_no_twin", &twins);
            }
            out += "\n";
        }
        if !methods.is_empty() {
            let worse = format!("worse by more than {WORSE}");
            let columns = ["method", "sets", "best", &worse, "best CRPS", "RMSE / best gp"];
            out += &header(&[&columns[..], &["50 %", "80 %", "95 %"]].concat());
            methods.iter().for_each(|method| out += &self.counts(method));
            out += "\n";
        }
        out
    }

    /// A row for each set that the method and a rival have.
    fn beside(&self, method: &str, column: &str, sets: &[&str]) -> String {
        let difference = format!("{method} - best rival");
        let columns = ["set", "rows", "inputs", "twins", "splits", method, "best rival"];
        let mut out = header(&[&columns[..], &[&difference]].concat());
        for set in sets {
            let Some(found) = self.judge(method, rivals(), set, column) else { continue };
            let cells = [
                set.to_string(),
                shown(self.about(set, "rows"), 0),
                shown(self.about(set, "inputs"), 0),
                format!("{} %", shown(100.0 * self.about(set, "twins"), 0)),
                found.difference.rows.to_string(),
                shown(found.mine, 3),
                format!("{:.3} ({})", found.theirs, found.rival),
                signed(&found.difference),
            ];
            let _ = writeln!(out, "| {} |", cells.join(" | "));
        }
        out
    }

    /// On how many sets a method is best, and the rest of its row.
    fn counts(&self, method: &str) -> String {
        let against = |column: &str| -> Vec<Judged> {
            self.sets.iter().filter_map(|set| self.judge(method, rivals(), set, column)).collect()
        };
        let count = |all: &[Judged], is: fn(f64) -> bool| {
            format!("{} of {}", all.iter().filter(|j| is(j.difference.mean)).count(), all.len())
        };
        let (nlpd, crps) = (against("nlpd"), against("crps"));
        let errors = self.sets.iter().filter_map(|set| self.judge(method, gps(), set, "rmse"));
        let mut cells = vec![
            method.to_string(),
            nlpd.len().to_string(),
            count(&nlpd, |d| d < 0.0),
            count(&nlpd, |d| d > WORSE),
            count(&crps, |d| d < 0.0),
            shown(mean(errors.map(|j| j.mine / j.theirs)), 3),
        ];
        let columns = ["coverage50", "coverage80", "coverage95"];
        cells.extend(columns.map(|column| shown(self.coverage(method, column), 1)));
        format!("| {} |\n", cells.join(" | "))
    }
}

/// All with which a method is compared.
fn rivals() -> impl Iterator<Item = String> {
    gps().chain(PEERS.map(String::from))
}

#[cfg(test)]
mod tests {
    use super::super::line::Line;
    use super::*;

    /// Scores on the splits 0, 1, ...; those that are NaN are missing.
    fn lines(method: &str, set: &str, column: &str, scores: &[f64]) -> Vec<Line> {
        let of = |(split, score): (usize, &f64)| {
            let mut line = Line::new(method, set, split, 0);
            line.put_number(column, *score);
            line
        };
        scores.iter().enumerate().map(of).collect()
    }

    #[test]
    fn the_best_rival_is_the_one_that_is_furthest_ahead_where_both_were_run() {
        let all = [
            lines("pbhs", "a", "nlpd", &[1.0, 2.0, 3.0, 9.0]),
            lines("gp-rbf", "a", "nlpd", &[2.0, 4.0, 6.0, f64::NAN]),
            // Its mean over two splits is the best of all, but pbhs is better on these.
            lines("sklearn-gp-matern", "a", "nlpd", &[1.5, 2.25]),
            // The best on its three splits, and so the best rival.
            lines("ngboost", "a", "nlpd", &[2.0, 1.5, 3.5]),
            lines("pbhs", "b", "nlpd", &[1.0, 1.0]),
            lines("gp-matern12", "b", "nlpd", &[0.5, 1.3]),
            // No rival: not counted.
            lines("pbhs", "c", "nlpd", &[1.0, 1.0]),
        ]
        .concat();
        let text = Runs::new(&all).judged();
        assert!(text.contains("| 3 | 2.000 | 2.333 (ngboost) | -0.333 ± 0.441 |"), "{text}");
        assert!(text.contains("| 2 | 1.000 | 0.900 (gp-matern12) | +0.100 ± 0.400 |"), "{text}");
        assert!(text.contains("| pbhs | 2 | 1 of 2 | 1 of 2 | 0 of 0 | - | - | - | - |"), "{text}");
        assert!(!text.contains("| c |") && !text.contains("het"), "{text}");
    }

    /// The rival with the best CRPS need not have the best NLPD; RMSE is relative to the GP with
    /// the best RMSE; a set with more test rows has more weight in the coverage only.
    #[test]
    fn other_scores_have_rivals_of_their_own() {
        let row = |method: &str, set: &str, scores: [f64; 3], inside: f64, test_rows: usize| {
            let mut line = Line::new(method, set, 0, 0);
            for (column, score) in ["nlpd", "crps", "rmse"].iter().zip(scores) {
                line.put_number(column, score);
            }
            line.put_number("coverage80", inside);
            line.put("test_rows", test_rows);
            line
        };
        let all = [
            row("het", "a", [1.0, 0.3, 1.0], 0.9, 10),
            row("gp-rbf", "a", [1.02, 0.5, 2.0], 0.0, 10),
            row("ngboost", "a", [3.0, 0.2, 0.5], 0.0, 10),
            row("het", "b", [1.0, 0.3, 3.0], 0.7, 30),
            row("gp-rbf", "b", [0.96, 0.4, 4.0], 0.0, 30),
            row("gp-matern32", "b", [2.0, 0.5, 2.0], 0.0, 30),
        ];
        let text = Runs::new(&all).judged();
        assert!(
            text.contains("| het | 2 | 1 of 2 | 0 of 2 | 1 of 2 | 1.000 | - | 75.0 | - |"),
            "{text}"
        );
    }
}
