//! The comparison in Markdown.

use std::fmt::Write;

use gpfuse::metrics::Difference;

use super::line::Line;
use super::run::GP_LOO;
use super::runs::{Runs, mean, shown, signed};

/// The default method and het beside their best rivals, NLPD by set, the same without twins, and a
/// line for each method.
pub(crate) fn markdown(lines: &[Line]) -> String {
    let runs = Runs::new(lines);
    let twins = runs.with_twins();
    let mut out = runs.judged();
    let _ = write!(out, "## All methods\n\n{}", runs.by_set("nlpd", &runs.sets));
    if !twins.is_empty() {
        out += "\nWithout the test rows that have a twin, with the same inputs, among the training \
                rows:\n\n";
        out += &runs.by_set("nlpd_no_twin", &twins);
    }
    out + "\n" + &runs.by_method()
}

impl Runs<'_> {
    /// How many splits the methods have: a number, or the fewest and the most.
    fn splits(&self, set: &str, column: &str) -> String {
        let counts = || self.methods.iter().map(|m| self.scores(m, set, column).len());
        match (counts().min().unwrap_or(0), counts().max().unwrap_or(0)) {
            (few, most) if few == most => most.to_string(),
            (few, most) => format!("{few} to {most}"),
        }
    }

    /// The table of a score: a row for each set, the means of the methods over splits.
    fn by_set(&self, column: &str, sets: &[&str]) -> String {
        let methods = self.methods.join(" | ");
        let mut out = format!(
            "| set | rows | inputs | twins | splits | {methods} | best gp | het - best gp |\n\
             |{}\n",
            " --- |".repeat(self.methods.len() + 7)
        );
        for set in sets {
            let best = self.best_gp(set, column);
            let difference = best.as_ref().and_then(|gp| self.difference("het", gp, set, column));
            let difference = difference.as_ref().map_or("-".into(), signed);
            let mut cells = vec![
                set.to_string(),
                shown(self.about(set, "rows"), 0),
                shown(self.about(set, "inputs"), 0),
                format!("{} %", shown(100.0 * self.about(set, "twins"), 0)),
                self.splits(set, column),
            ];
            cells.extend(self.methods.iter().map(|m| shown(self.mean(m, set, column), 3)));
            cells.push(best.map_or("-".into(), |gp| {
                format!("{:.3} ({})", self.mean(&gp, set, column), gp.trim_start_matches("gp-"))
            }));
            cells.push(difference);
            let _ = writeln!(out, "| {} |", cells.join(" | "));
        }
        out
    }

    /// A row for each method: means over sets, warnings, time, coverage of all test rows.
    fn by_method(&self) -> String {
        let mut out = "| method | runs | failed | without warnings | coarse | better than best gp | \
                       surely | surely worse | better than gp-loo | NLPD | CRPS | RMSE | 50 % | 80 % | \
                       95 % | seconds |\n"
            .to_string();
        let _ = writeln!(out, "|{}", " --- |".repeat(16));
        for method in &self.methods {
            let lines = self.of(method);
            let share = |column: &str, is: fn(f64) -> bool| {
                let each = lines.iter().filter_map(|line| line.number(column));
                match mean(each.map(|v| f64::from(is(v)))) {
                    share if share.is_nan() => "-".into(),
                    share => format!("{:.0} %", 100.0 * share),
                }
            };
            let failed = lines.iter().filter(|line| line.number("nlpd").is_none()).count();
            let mut cells = vec![method.clone(), lines.len().to_string(), failed.to_string()];
            cells.push(share("warnings", |count| count == 0.0));
            cells.push(share("coarse", |coarse| coarse > 0.0));
            cells.extend(self.against_gps(method));
            for column in ["nlpd", "crps", "rmse"] {
                let means = self.sets.iter().map(|set| self.mean(method, set, column));
                cells.push(shown(mean(means.filter(|v| !v.is_nan())), 3));
            }
            for column in ["coverage50", "coverage80", "coverage95"] {
                cells.push(shown(self.coverage(method, column), 1));
            }
            cells.push(shown(mean(lines.iter().filter_map(|line| line.number("seconds"))), 1));
            let _ = writeln!(out, "| {} |", cells.join(" | "));
        }
        out
    }

    /// On how many sets a method is better than the best single GP, on how many by more than two
    /// standard errors and on how many worse by as much, and on how many better than the GP of
    /// leave-one-out.
    fn against_gps(&self, method: &str) -> [String; 4] {
        if method.starts_with("gp-") {
            return std::array::from_fn(|_| "-".into());
        }
        let against = |other: &dyn Fn(&str) -> Option<String>| -> Vec<Difference> {
            let of = |set: &&str| self.difference(method, &other(set)?, set, "nlpd");
            self.sets.iter().filter_map(of).collect()
        };
        let count = |all: &[Difference], is: &dyn Fn(&Difference) -> bool| {
            format!("{} of {}", all.iter().filter(|d| is(d)).count(), all.len())
        };
        let best = against(&|set| self.best_gp(set, "nlpd"));
        let chosen = against(&|_| Some(GP_LOO.into()));
        let (better, two) =
            (|d: &Difference| d.mean < 0.0, |d: &Difference| d.se.map(|se| 2.0 * se));
        [
            count(&best, &better),
            count(&best, &|d| two(d).is_some_and(|two| d.mean < -two)),
            count(&best, &|d| two(d).is_some_and(|two| d.mean > two)),
            count(&chosen, &better),
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(method: &str, split: usize, nlpd: f64, inside: f64, test_rows: usize) -> Line {
        let mut line = Line::new(method, "made-up", split, 0);
        line.put("nlpd", nlpd);
        line.put("coverage50", inside);
        line.put("test_rows", test_rows);
        line
    }

    /// The best GP is the best by its mean, the difference is over the splits that both have, and
    /// large test sets count for more.
    #[test]
    fn methods_are_compared_on_the_splits_that_they_share() {
        let mut lines = vec![
            line("gp-rbf", 0, 1.0, 0.5, 10),
            line("gp-rbf", 1, 4.0, 0.5, 10),
            line("gp-matern12", 0, 2.0, 0.5, 10),
            line("gp-matern12", 1, 2.0, 0.5, 10),
            line("het", 0, 1.0, 0.2, 10),
            line("het", 1, 2.5, 0.6, 30),
            line("het", 2, 9.0, 0.5, 0),
        ];
        let text = markdown(&lines);
        assert!(
            text.contains("| 2 to 3 | 4.167 | 2.500 | 2.000 | 2.000 (matern12) | -0.250 ± 0.750 |")
        );
        assert!(
            text.contains("| het | 3 | 0 | - | - | 1 of 1 | 0 of 1 | 0 of 1 | 0 of 0 | 4.167 |")
        );
        assert!(text.contains("| - | - | 50.0 | - | - | - |"));
        assert!(!text.contains("twin,"));
        // Seeds are averaged before splits are compared.
        lines.push(line("het", 0, 3.0, 0.2, 10));
        assert!(markdown(&lines).contains("| +0.250 ± 0.250 |"));
    }
}
