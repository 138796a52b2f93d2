//! What somebody should know about a table before a model of it: columns that say nothing, targets of another
//! kind.

use super::Data;
use crate::experts::copies;
use crate::settings::Message;

/// A target of so few whole numbers is taken for counts or grades.
const FEW_VALUES: usize = 30;

/// The least share of rows that are copies of others.
const COPIES: f64 = 0.01;

/// Rows that each value has at least on average, where there are few.
const ROWS_A_VALUE: usize = 3;

impl Data {
    /// What somebody should know before a model of these rows, one line each.
    pub fn notes(&self) -> Vec<Message> {
        let d = self.inputs.len();
        let constant = (0..d).filter(|i| {
            let mut column = self.x.iter().skip(*i).step_by(d);
            let first = column.next();
            self.len() > 1 && column.all(|v| Some(v) == first)
        });
        let constant = constant.map(|i| {
            let (name, value) = (&self.inputs[i], self.x[i]);
            format!("input `{name}` is {value} in every row: nothing can be learned from it")
        });
        let index = self.inputs.iter().filter(|name| name.starts_with("Unnamed: "));
        let index = index.map(|name| {
            format!("input `{name}` has no name of its own, as the index that pandas writes: leave it out if it is one")
        });
        constant
            .chain(index)
            .chain(self.of_experts())
            .chain(self.of_target())
            .chain(self.of_copies())
            .map(Message::from)
            .collect()
    }

    /// Inputs that are called as what experts made elsewhere say.
    fn of_experts(&self) -> Option<String> {
        let has = |name: &String| self.inputs.contains(name);
        let pair = |name: &str| {
            let expert = name.strip_prefix("mean_")?;
            Some([name.to_string(), format!("sd_{expert}")]).filter(|pair| has(&pair[1]))
        };
        self.inputs.iter().find_map(|name| pair(name)).map(|[mean, sd]| {
            format!(
                "`{mean}` and `{sd}` are taken for inputs: experts made elsewhere, which say a mean and an sd, are \
                 weighed by `gpfuse stack`, and in Python by `fit(X, y, mean=..., std=...)`"
            )
        })
    }

    /// Rows that are there more than once.
    fn of_copies(&self) -> Option<String> {
        let y = self.y.as_ref().filter(|_| self.predictions().is_none())?;
        let (count, rows) = (copies(&self.x, self.inputs.len(), y), y.len());
        (count as f64 >= COPIES * rows as f64 && count > 1).then(|| {
            format!(
                "{count} of {rows} rows are copies of others, target included: if a join or the like made them, drop \
                 them (in pandas `drop_duplicates`): a GP takes them for measurements without noise"
            )
        })
    }

    /// A target that is a class, a count or a grade.
    fn of_target(&self) -> Option<String> {
        if self.predictions().is_some_and(|said| said.normal().is_none()) {
            // Its experts know what it is.
            return None;
        }
        let mut values = self.y.clone()?;
        values.sort_by(f64::total_cmp);
        values.dedup();
        let name = &self.target;
        let few = values.len() <= FEW_VALUES && values.len() * ROWS_A_VALUE <= self.len();
        match values[..] {
            [low, high] if few => Some(format!(
                "target `{name}` is either {low} or {high}: for two classes a classifier serves better (in \
                 Python `BHSClassifier`); here the mean says how often {high} occurs, and the density is one of all numbers"
            )),
            [low, .., high] if few && low >= 0.0 && values.iter().all(|v| v.fract() == 0.0) => {
                Some(format!(
                    "target `{name}` has {} values, whole numbers from {low} to {high}, as counts and \
                     grades: the density is one of all numbers, no narrower than the step between them",
                    values.len()
                ))
            }
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    fn notes(x: Vec<f64>, inputs: usize, y: Vec<f64>) -> Vec<String> {
        let data = Data::new(x, inputs).unwrap().with_target(y).unwrap();
        data.notes().iter().map(ToString::to_string).collect()
    }

    #[test]
    fn constant_inputs_classes_and_counts_are_pointed_out() {
        let x: Vec<f64> = (0..30).map(f64::from).collect();
        let real: Vec<f64> = x.iter().map(|x| x.sin()).collect();
        assert!(notes(x.clone(), 1, real.clone()).is_empty());
        let two = x.iter().flat_map(|x| [*x, 7.5]).collect();
        let found = notes(two, 2, real);
        assert_eq!(found.len(), 1);
        assert!(found[0].starts_with("input `x2` is 7.5 in every row"), "{found:?}");
        let of = |f: fn(&f64) -> f64| notes(x.clone(), 1, x.iter().map(f).collect());
        assert!(of(|x| x % 2.0)[0].starts_with("target `y` is either 0 or 1"));
        let count = of(|x| x % 7.0);
        assert!(count[0].contains("has 7 values, whole numbers from 0 to 6"), "{count:?}");
        // Whole numbers that hardly repeat, halves and numbers below 0 are targets like others.
        assert!(of(|x| x * x).is_empty());
        assert!(of(|x| x % 7.0 / 2.0).is_empty() && of(|x| x % 7.0 - 3.0).is_empty());
        let data = Data::new(x, 1).unwrap().named(vec!["Unnamed: 0".into()], "y").unwrap();
        assert!(data.notes()[0].to_string().contains("as the index that pandas writes"));
        let names = ["mean_p", "sd_p"].map(String::from).to_vec();
        let data = Data::new(vec![1.0, 2.0, 3.0, 5.0], 2).unwrap().named(names, "y").unwrap();
        assert!(
            data.notes()[0].to_string().starts_with("`mean_p` and `sd_p` are taken for inputs")
        );
        // A table that was written three times.
        let (x, y): (Vec<f64>, Vec<f64>) =
            (0..90).map(|i| f64::from(i / 3)).map(|x| (x, x.sin())).unzip();
        assert!(notes(x, 1, y)[0].starts_with("60 of 90 rows are copies of others"));
        // One row has no constant input.
        assert!(notes(vec![1.0], 1, vec![0.5]).is_empty());
    }
}
