//! Fuse models that you have: a table of their predictions, at rows that none was trained on, says
//! how much to trust each of them where.

use gpfuse::{Data, FitSettings, Method, Predictions, fit};

fn main() -> gpfuse::Result<()> {
    // Two models of one quantity: one is right on the left, the other on the right.
    let x: Vec<f64> = (0..120).map(|i| f64::from(i) / 20.0 - 3.0).collect();
    let noise = |i: usize| 0.1 * (12.9898 * i as f64).sin();
    let y: Vec<f64> = x.iter().enumerate().map(|(i, x)| x.sin() + noise(i)).collect();
    let predictions = |x: &[f64]| {
        let left = x.iter().map(|x| x.sin() + if *x > 0.0 { 0.8 } else { 0.0 }).collect();
        let right = x.iter().map(|x| x.sin() - if *x < 0.0 { 0.8 } else { 0.0 }).collect();
        Predictions::new(vec![left, right], vec![vec![0.2; x.len()]; 2])
    };
    let names = || vec!["left".to_string(), "right".into()];

    let stacking =
        Data::new(x.clone(), 1)?.with_target(y)?.with_experts(names(), predictions(&x)?)?;
    let settings = FitSettings { method: Method::Bhs, ..FitSettings::default() };
    let fused = fit(&stacking, &settings)?;

    let new = vec![-2.0, 0.0, 2.0];
    let new = Data::new(new.clone(), 1)?.with_experts(names(), predictions(&new)?)?;
    let prediction = fused.predict(&new)?;
    for (row, experts) in prediction.weights(0.9)?.iter().enumerate() {
        println!("at {}:", new.row(row)[0]);
        for (name, expert) in names().iter().zip(experts) {
            let weight = expert.weight;
            println!("  {name}: {:.2} ({:.2} to {:.2})", weight.mean, weight.low, weight.high);
        }
    }
    println!("means {:.2?}", prediction.mean()?);
    Ok(())
}
