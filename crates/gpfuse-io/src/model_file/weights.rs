//! The weights of the chains, a variable of `sample_stats` over the chains alone; a file without
//! it has chains that count alike.

use gpfuse::infer::Draws;

use super::{Reader, var};
use crate::nc::{Data, Var};

const NAME: &str = "chain_weight";

pub(super) fn write(draws: &Draws) -> Option<Var> {
    draws.weights().map(|weights| var(NAME, &["chain"], Data::F64(weights.to_vec())))
}

pub(super) fn read(stats: &Reader<'_>, draws: Draws) -> Result<Draws, String> {
    if stats.data(NAME).is_err() {
        return Ok(draws);
    }
    let weights = stats.numbers(NAME)?;
    draws.weighted(weights).map_err(|e| format!("`sample_stats/{NAME}`: {e}"))
}

#[cfg(test)]
mod tests {
    use gpfuse::diagnose::Combine;
    use gpfuse::fit::BasisChoice;
    use gpfuse::infer::Settings;
    use gpfuse::{Data, FitSettings, Fitted, Method, fit};

    use crate::model_file::{load, save};

    /// Weights, how they came about and what they do to a prediction are the same to the bit; a
    /// fit without weights has none when it comes back.
    #[test]
    fn weights_come_back() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("m.nc");
        let x: Vec<f64> = (0..40).map(|i| 0.25 * f64::from(i)).collect();
        let y: Vec<f64> = x.iter().map(|x| (2.0 * x).sin() + 0.1 * (9.0 * x).cos()).collect();
        let rows = Data::new(x, 1).unwrap().with_target(y).unwrap();
        let short = Settings {
            warmup: Some(40),
            draws: Some(30),
            chains: 3,
            max_depth: 4,
            seed: 2,
            ..Settings::default()
        };
        for how in [Combine::Stack, Combine::Equal] {
            let settings = FitSettings {
                method: Method::Het,
                basis: BasisChoice::Rff,
                frequencies: 6,
                sampler: short.clone(),
                combine: how,
                ..FitSettings::default()
            };
            let fitted = fit(&rows, &settings).unwrap();
            let weighted = how == Combine::Stack;
            assert_eq!(fitted.draws.weights().is_some(), weighted);
            assert_eq!(fitted.diagnostics.combined.is_some(), weighted);
            save(&path, &fitted).unwrap();
            let back = load(&path).unwrap();
            assert_eq!(back.settings, fitted.settings);
            assert_eq!(back.draws.weights(), fitted.draws.weights());
            assert_eq!(back.diagnostics.combined, fitted.diagnostics.combined);
            let nlpd = |fitted: &Fitted| fitted.evaluate(&rows).unwrap().nlpd;
            let (a, b) = (nlpd(&back), nlpd(&fitted));
            // Parameters are stored on their natural scale, which costs their last bits.
            assert!((a.value - b.value).abs() < 1e-9, "{a:?}, {b:?}");
            if weighted {
                let equal = fitted.draws.clone().weighted(&[1.0; 3]).unwrap();
                let other = fitted.with_draws(equal);
                assert!((nlpd(&other).value - b.value).abs() > 1e-6, "weights change nothing");
            }
        }
    }
}
