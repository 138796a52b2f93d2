//! One transition of the chains' sampler with nothing adapted, for tests of the sampler itself.
//!
//! A chain that adapts is no Markov chain, and what it leaves unchanged cannot be asked. A transition
//! has a step size and a scale per parameter that do not depend on where it is, so that it must
//! leave its density unchanged exactly, whatever these are.

use nuts_rs::{
    Chain, CpuMath, DiagNutsSettings, Settings as NutsRsSettings, StepSizeAdaptMethod, Storable,
};
use rand_chacha::ChaCha8Rng;

use super::chain::{Length, common, stat};
use super::target::{Answer, Target};
use super::{Density, DensityError, Stat};
use crate::error::within;
use crate::{Error, Result};

/// The transition of NUTS or HMC with a fixed step size and a fixed diagonal mass matrix.
#[derive(Debug, Clone)]
pub struct Transition {
    nuts: DiagNutsSettings,
    length: Length,
    /// One per parameter; none where all are 1.
    scales: Option<Vec<f64>>,
}

/// A density that answers the first question about it, which the mass matrix alone looks at, with
/// the gradient from which nuts-rs makes the scales that were asked for: it starts from the
/// scale `1 / sqrt |g|` for a gradient `g`, and would else depend on the starting point.
struct Scaled<'a, D> {
    density: &'a mut D,
    scales: Option<&'a [f64]>,
    asked: bool,
}

impl<D: Density> Answer for Scaled<'_, D> {
    fn dimension(&self) -> usize {
        self.density.dim()
    }

    fn answer(&mut self, q: &[f64], grad: &mut [f64]) -> std::result::Result<f64, DensityError> {
        if self.asked {
            return self.density.logp(q, grad);
        }
        self.asked = true;
        match self.scales {
            Some(scales) => grad.iter_mut().zip(scales).for_each(|(g, s)| *g = (s * s).recip()),
            None => grad.fill(1.0),
        }
        Ok(0.0)
    }
}

impl Transition {
    /// NUTS: trajectories of at most `2^max_depth - 1` leapfrog steps.
    pub fn nuts(step_size: f64, max_depth: usize) -> Result<Transition> {
        Transition::new(step_size, max_depth, false)
    }

    /// HMC: trajectories of exactly `2^depth - 1` leapfrog steps.
    pub fn hmc(step_size: f64, depth: usize) -> Result<Transition> {
        Transition::new(step_size, depth, true)
    }

    fn new(step_size: f64, max_depth: usize, fixed: bool) -> Result<Transition> {
        within("depth", max_depth, 1, 20)?;
        if !(step_size > 0.0 && step_size.is_finite()) {
            return Err(Error::setting("step_size", format!("{step_size} must be positive")));
        }
        let length = Length { warmup: 0, max_depth, fixed };
        let mut nuts = common(DiagNutsSettings::default(), length);
        let steps = &mut nuts.adapt_options.step_size_settings;
        steps.adapt_options.method = StepSizeAdaptMethod::Fixed(step_size);
        steps.jitter = None;
        Ok(Transition { nuts, length, scales: None })
    }

    /// The same with a scale for each parameter, by which its step is multiplied.
    ///
    /// # Errors
    /// If one is not between 1e-9 and 1e9, beyond which nuts-rs would change it.
    pub fn scaled(self, scales: Vec<f64>) -> Result<Transition> {
        if let Some(i) = scales.iter().position(|s| !(1e-9..=1e9).contains(s)) {
            let problem = format!("{} of parameter {}: use 1e-9 to 1e9", scales[i], i + 1);
            return Err(Error::setting("scales", problem));
        }
        Ok(Transition { scales: Some(scales), ..self })
    }

    /// One transition from `q`.
    ///
    /// # Errors
    /// If `q` or the scales do not have the density's dimension, if the density is not finite
    /// at `q`, if its gradient has a zero there, or if it gives up.
    pub fn step<D: Density>(
        &self,
        density: &mut D,
        q: &[f64],
        rng: &mut ChaCha8Rng,
    ) -> Result<(Vec<f64>, Stat)> {
        let dim = density.dim();
        if let Some(scales) = self.scales.as_ref().filter(|scales| scales.len() != dim) {
            return Err(Error::Shape {
                what: "scales".into(),
                expected: format!("{dim}, one per parameter"),
                found: scales.len().to_string(),
            });
        }
        let answers = Scaled { density, scales: self.scales.as_deref(), asked: false };
        self.drawn(Target(Box::new(answers)), q, rng)
            .map_err(|e| Error::Sampling(format!("{e:#}").into()))
    }

    fn drawn(
        &self,
        target: Target<'_>,
        q: &[f64],
        rng: &mut ChaCha8Rng,
    ) -> anyhow::Result<(Vec<f64>, Stat)> {
        let mut chain = self.nuts.new_chain(0, CpuMath::new(target), rng)?;
        chain.set_position(q)?;
        let (position, _, mut stats, progress) = chain.expanded_draw()?;
        let dims = (&*chain.math()).into();
        let stat = stat(stats.get_all(&dims), progress.step_size, self.length);
        Ok((position.into_vec(), stat))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::{Purpose, stream};

    /// `log p = sum cos(w_i q_i) / w_i - |q|^2 / 2` of no famous name, which remembers where it
    /// was asked.
    #[derive(Clone, Default)]
    struct Wavy {
        asked: Vec<Vec<f64>>,
    }

    const WAVES: [f64; 3] = [1.0, 2.0, 0.3];

    impl Density for Wavy {
        fn dim(&self) -> usize {
            WAVES.len()
        }

        fn logp(&mut self, q: &[f64], grad: &mut [f64]) -> std::result::Result<f64, DensityError> {
            self.asked.push(q.to_vec());
            let mut sum = 0.0;
            for i in 0..q.len() {
                sum += (WAVES[i] * q[i]).cos() / WAVES[i] - 0.5 * q[i] * q[i];
                grad[i] = -(WAVES[i] * q[i]).sin() - q[i];
            }
            Ok(sum)
        }
    }

    /// The points of a leapfrog trajectory with step size `eps` and the given scales: in
    /// coordinates `q / s`, whose mass matrix is 1. Going back is a step of `-eps`.
    fn leapfrog(q: &[f64], p: &[f64], eps: f64, scales: &[f64]) -> (Vec<f64>, Vec<f64>) {
        let force = |q: &[f64]| {
            let mut grad = vec![0.0; q.len()];
            Wavy::default().logp(q, &mut grad).unwrap();
            grad
        };
        let kick = |p: &[f64], q: &[f64]| -> Vec<f64> {
            let g = force(q);
            (0..q.len()).map(|i| p[i] + 0.5 * eps * scales[i] * g[i]).collect()
        };
        let half = kick(p, q);
        let next: Vec<f64> = (0..q.len()).map(|i| q[i] + eps * scales[i] * half[i]).collect();
        let end = kick(&half, &next);
        (next, end)
    }

    /// From any start, the points where the density is asked are those of the leapfrog integrator
    /// with the step size and scales of the transition: the mass matrix is the same everywhere.
    #[test]
    fn the_mass_matrix_does_not_depend_on_the_start() {
        let starts = [[0.3, -2.0, 5.0], [100.0, 1e-3, -7.0], [1e-6, 1e-6, 1e-6]];
        let cases = [vec![1.0; 3], vec![0.1, 2.0, 5.0]];
        for (number, start) in starts.iter().enumerate() {
            for scales in &cases {
                let eps = 0.2;
                let transition = Transition::hmc(eps, 3).unwrap().scaled(scales.clone()).unwrap();
                let mut rng = stream(1, Purpose::Chain, number as u64);
                let mut density = Wavy::default();
                let (end, stat) = transition.step(&mut density, start, &mut rng).unwrap();
                assert_eq!((stat.steps, stat.step_size, stat.saturated), (7, eps, false));
                let asked = density.asked;
                assert_eq!(asked.len(), 1 + 7);
                assert_eq!(asked[0], start);
                assert!(asked.contains(&end));
                // The first step reveals the momentum; all that comes after follows from it.
                let mut grad = vec![0.0; 3];
                Wavy::default().logp(start, &mut grad).unwrap();
                let momentum = |i: usize, eps: f64| {
                    (asked[1][i] - start[i]) / (eps * scales[i]) - 0.5 * eps * scales[i] * grad[i]
                };
                let p: Vec<f64> = (0..3).map(|i| momentum(i, eps)).collect();
                let mut sides = [(start.to_vec(), p.clone()), (start.to_vec(), p)];
                for point in &asked[1..] {
                    let near = |q: &[f64]| {
                        let size = |i: usize| 1e-9 * (1.0 + point[i].abs() + start[i].abs());
                        (0..3).all(|i| (q[i] - point[i]).abs() < size(i))
                    };
                    let ahead = [eps, -eps];
                    let next = [0, 1].map(|s| leapfrog(&sides[s].0, &sides[s].1, ahead[s], scales));
                    let side = [0, 1].into_iter().find(|s| near(&next[*s].0));
                    let side = side.unwrap_or_else(|| panic!("{point:?} is on no side"));
                    sides[side] = next[side].clone();
                }
            }
        }
    }

    #[test]
    fn bad_settings_are_refused() {
        assert!(Transition::nuts(0.0, 3).is_err() && Transition::nuts(f64::NAN, 3).is_err());
        assert!(Transition::hmc(0.1, 0).is_err());
        assert!(Transition::nuts(0.1, 3).unwrap().scaled(vec![0.0]).is_err());
        let short = Transition::nuts(0.1, 3).unwrap().scaled(vec![1.0]).unwrap();
        let mut rng = stream(1, Purpose::Chain, 0);
        assert!(short.step(&mut Wavy::default(), &[0.0; 3], &mut rng).is_err());
    }
}
