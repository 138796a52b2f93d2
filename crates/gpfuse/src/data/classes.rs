//! What experts say about a target that is a class: its probabilities.

use crate::{Error, Result};

/// No expert holds a class less probable than this, so that every score is a number.
const LEAST_PROBABILITY: f64 = 1e-15;
/// How far from one the probabilities of a row may sum, as numbers of single precision do; they are made to sum to one.
const SUM_WITHIN: f64 = 1e-4;

/// Log probabilities of each of C classes under K experts at n rows.
#[derive(Debug, Clone, PartialEq)]
pub struct Classes {
    names: Vec<String>,
    /// One column for each class of the first expert, then those of the next.
    log_p: Vec<Vec<f64>>,
}

impl Classes {
    /// From the names of the classes, in the order of the numbers that the target has for them (0, 1, ...), and
    /// probabilities: one column for each class of the first expert, then those of the next. A probability below
    /// 1e-15 counts as that.
    ///
    /// # Errors
    /// If there are fewer than two classes, the columns differ in length, or the probabilities of a row are none.
    pub fn new(names: Vec<String>, probabilities: &[Vec<f64>]) -> Result<Classes> {
        let (classes, rows) = (names.len(), probabilities.first().map_or(0, Vec::len));
        if let Some(c) = (1..classes).find(|c| names[..*c].contains(&names[*c])) {
            return Err(Error::Data(format!("two classes are called `{}`: rename one", names[c])));
        }
        let even = probabilities.iter().all(|column| column.len() == rows);
        if classes < 2 || rows == 0 || !even || !probabilities.len().is_multiple_of(classes) {
            return Err(Error::Shape {
                what: "probabilities of classes".into(),
                expected:
                    "two classes or more, and of each expert a column for each class, of one length"
                        .into(),
                found: format!("{classes} classes, {} columns", probabilities.len()),
            });
        }
        let mut log_p = vec![Vec::with_capacity(rows); probabilities.len()];
        for (k, own) in probabilities.chunks(classes).enumerate() {
            for row in 0..rows {
                let place = || format!("expert {}, row {}", k + 1, row + 1);
                if let Some(c) =
                    own.iter().position(|p| !(0.0..=1.0 + SUM_WITHIN).contains(&p[row]))
                {
                    let problem =
                        format!("the probability of class `{}` is {}", names[c], own[c][row]);
                    return Err(Error::Data(format!(
                        "{}: {problem}: it must lie between 0 and 1",
                        place()
                    )));
                }
                let sum: f64 = own.iter().map(|p| p[row]).sum();
                if (sum - 1.0).abs() > SUM_WITHIN {
                    let problem = format!("the probabilities of the classes sum to {sum}");
                    return Err(Error::Data(format!("{}: {problem}: they must sum to 1", place())));
                }
                for (c, p) in own.iter().enumerate() {
                    log_p[k * classes + c].push((p[row] / sum).ln());
                }
            }
        }
        Ok(Classes { names, log_p }.at_least(LEAST_PROBABILITY))
    }

    /// The same with every probability raised to `least` where it is below, and all made to sum to one again.
    pub(crate) fn at_least(&self, least: f64) -> Classes {
        let mut log_p = self.log_p.clone();
        for own in log_p.chunks_mut(self.names.len()) {
            for row in 0..self.rows() {
                let raised = |column: &Vec<f64>| column[row].exp().max(least);
                if own.iter().all(|column| column[row].exp() >= least) {
                    continue;
                }
                let total: f64 = own.iter().map(raised).sum();
                own.iter_mut().for_each(|column| column[row] = (raised(column) / total).ln());
            }
        }
        Classes { names: self.names.clone(), log_p }
    }

    /// The names of the classes.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// The log probabilities, class after class of the first expert, then those of the next.
    pub fn log_p(&self) -> &[Vec<f64>] {
        &self.log_p
    }

    /// The number of experts.
    pub fn experts(&self) -> usize {
        self.log_p.len() / self.names.len()
    }

    /// The number of rows.
    pub fn rows(&self) -> usize {
        self.log_p[0].len()
    }

    /// Those at the rows with these numbers, which must be there.
    pub(super) fn pick(&self, rows: &[usize]) -> Classes {
        let of = |v: &Vec<f64>| rows.iter().map(|r| v[*r]).collect();
        Classes { names: self.names.clone(), log_p: self.log_p.iter().map(of).collect() }
    }

    /// The targets as numbers of classes.
    ///
    /// # Errors
    /// If one is not.
    pub(crate) fn targets(&self, y: &[f64]) -> Result<Vec<usize>> {
        let classes = self.names.len();
        let known = |y: f64| y >= 0.0 && y < classes as f64 && y.fract() == 0.0;
        match y.iter().position(|y| !known(*y)) {
            Some(row) => Err(Error::Data(format!(
                "row {}: the target is {}: it must be the number of a class, from 0 to {}",
                row + 1,
                y[row],
                classes - 1
            ))),
            None => Ok(y.iter().map(|y| *y as usize).collect()),
        }
    }

    /// The columns class after class, in each expert after expert.
    pub(crate) fn by_class(&self) -> Vec<Vec<f64>> {
        let all = self.names.len();
        (0..all).flat_map(|c| self.log_p.iter().skip(c).step_by(all).cloned()).collect()
    }

    /// The same with the class of each row's target in the place of the first, and the first in its place.
    pub(crate) fn by_class_from(&self, targets: &[usize]) -> Vec<Vec<f64>> {
        let (mut all, experts) = (self.by_class(), self.experts());
        for (row, class) in targets.iter().enumerate().filter(|(_, class)| **class > 0) {
            for k in 0..experts {
                let (first, own) = (all[k][row], all[class * experts + k][row]);
                (all[k][row], all[class * experts + k][row]) = (own, first);
            }
        }
        all
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    fn names() -> Vec<String> {
        ["a", "b", "c"].map(String::from).to_vec()
    }

    #[test]
    fn probabilities_are_checked_when_they_are_made() {
        let wrong = |p: &[f64], words: &str| {
            let columns: Vec<Vec<f64>> = p.iter().map(|p| vec![0.2, *p]).collect();
            let right = [vec![0.2, 0.5], vec![0.2, 0.5], vec![0.6, 0.0]];
            let mut all = right.to_vec();
            all.extend(columns);
            all[5][0] = 0.6;
            let found = Classes::new(names(), &all).unwrap_err().to_string();
            assert!(found.contains(words), "{found}");
        };
        wrong(&[0.5, 0.4, 0.05], "expert 2, row 2: the probabilities of the classes sum to 0.95");
        wrong(&[1.5, -0.5, 0.0], "expert 2, row 2: the probability of class `a` is 1.5");
        wrong(
            &[0.5, -0.5, 1.0],
            "the probability of class `b` is -0.5: it must lie between 0 and 1",
        );
        wrong(&[0.5, 0.5, f64::NAN], "the probability of class `c` is NaN");
        for (names, columns) in [
            (vec!["a".to_string()], vec![vec![1.0]]),
            (names(), vec![vec![0.5], vec![0.5], vec![]]),
            (names(), vec![vec![0.5]; 2]),
        ] {
            assert!(
                Classes::new(names, &columns)
                    .unwrap_err()
                    .to_string()
                    .contains("two classes or more")
            );
        }
        let twice = vec!["a".to_string(); 2];
        assert!(
            Classes::new(twice, &[vec![0.5], vec![0.5]])
                .unwrap_err()
                .to_string()
                .contains("called `a`")
        );
    }

    #[test]
    fn zeros_are_raised_and_targets_come_first() {
        let columns = [vec![0.0, 0.1], vec![0.25, 0.2], vec![0.75, 0.7]];
        let made = Classes::new(names(), &columns).unwrap();
        let p: Vec<f64> = made.log_p().iter().map(|v| v[0].exp()).collect();
        assert!((p.iter().sum::<f64>() - 1.0).abs() < 1e-15);
        assert!((p[0] / LEAST_PROBABILITY - 1.0).abs() < 1e-12 && (p[1] - 0.25).abs() < 1e-12);
        let raised = made.at_least(0.15);
        let p: Vec<f64> = raised.log_p().iter().map(|v| v[1].exp()).collect();
        assert!((p[0] - 0.15 / 1.05).abs() < 1e-12 && (p[2] - 0.7 / 1.05).abs() < 1e-12);
        let from = made.by_class_from(&[2, 1]);
        assert_eq!([from[0][0], from[2][0]], [made.log_p()[2][0], made.log_p()[0][0]]);
        assert_eq!([from[0][1], from[1][1]], [made.log_p()[1][1], made.log_p()[0][1]]);
        assert_eq!(made.targets(&[0.0, 2.0]).unwrap(), [0, 2]);
        for y in [3.0, -1.0, 0.5] {
            let found = made.targets(&[0.0, y]).unwrap_err().to_string();
            assert!(found.contains(&format!("row 2: the target is {y}")), "{found}");
        }
    }
}
