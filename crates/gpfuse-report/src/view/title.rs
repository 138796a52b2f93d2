//! What the figures of a model are called.

use gpfuse::model::Method;

use super::View;

/// What people call a method.
pub(super) fn words(method: Method) -> &'static str {
    match method {
        Method::Bhs => "BHS",
        Method::Pbhs => "P-BHS",
        Method::Mogpe => "MoGPE",
        Method::Pogpe => "PoGPE",
        Method::Het => "het. GP",
        Method::Gp => "GP",
        rule => rule.name(),
    }
}

impl View {
    /// The same figures under titles that call the model by this name.
    pub fn called(mut self, name: &str) -> View {
        if let Some(plot) = &mut self.experts {
            plot.labels.title = format!("Experts of {name} and their weights");
        }
        if let Some(plot) = &mut self.draws {
            plot.labels.title = format!("Draws of the experts of {name}");
        }
        if let Some(plot) = &mut self.predictive {
            plot.labels.title = format!("Predictions of {name}");
            plot.methods.iter_mut().for_each(|band| band.name = name.into());
        }
        if let Some(plot) = &mut self.outcomes {
            plot.of = format!("Predictions of {name}");
        }
        if let Some(plot) = &mut self.calibration {
            plot.title = format!("Calibration of {name}");
        }
        if let Some(plot) = &mut self.chains {
            plot.title = format!("Chains of {name}");
        }
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::figure::{Calibration, Chains, Draws, Experts, Outcomes, Predictive};

    /// No figure keeps a title of its own.
    #[test]
    fn every_title_has_the_name() {
        let view = View {
            experts: Some(Experts::default()),
            draws: Some(Draws::default()),
            predictive: Some(Predictive::default()),
            outcomes: Some(Outcomes::default()),
            calibration: Some(Calibration::default()),
            chains: Some(Chains::default()),
            ..View::default()
        };
        let named = view.called("MoGPE, long");
        let titles = [
            named.experts.map(|p| p.labels.title),
            named.draws.map(|p| p.labels.title),
            named.predictive.map(|p| p.labels.title),
            named.outcomes.map(|p| p.of),
            named.calibration.map(|p| p.title),
            named.chains.map(|p| p.title),
        ];
        assert!(titles.iter().all(|t| t.as_deref().unwrap().contains("MoGPE, long")), "{titles:?}");
    }
}
