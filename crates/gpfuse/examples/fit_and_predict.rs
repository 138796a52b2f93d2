//! Fit a table and predict at new rows: `fit_and_predict TRAIN.csv NEW.csv`, with columns x and y.

use gpfuse::{Data, FitSettings, fit};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let table = |i| csv::Reader::from_path(std::env::args().nth(i).unwrap_or_default());
    let train: Vec<(f64, f64)> = table(1)?.deserialize().collect::<Result<_, _>>()?;
    let (x, y) = train.into_iter().unzip();
    let fitted = fit(&Data::new(x, 1)?.with_target(y)?, &FitSettings::default())?;
    let new = Data::new(table(2)?.deserialize().collect::<Result<_, _>>()?, 1)?;
    let at = fitted.predict(&new)?;
    let (means, ends) = (at.mean()?, at.quantiles(&[0.05, 0.95])?);
    means.iter().zip(ends).for_each(|(m, q)| println!("{m:.3}, 90 %: {:.3} to {:.3}", q[0], q[1]));
    Ok(())
}
