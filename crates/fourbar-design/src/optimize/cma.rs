//! Hansen's covariance matrix adaptation evolution strategy, for goals with kinks or with many failing samples.
//!
//! Variables are scaled to the unit box; samples outside it are evaluated at the nearest point of the box, with a penalty that grows with
//! the distance. Samples without a value rank behind all others. All random numbers are functions of the seed, so that a run can be
//! repeated.

use crate::sweep::Draw;
use nalgebra::{DMatrix, DVector};

/// Options of the strategy.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// Maximum number of generations.
    pub generations: usize,
    /// Number of samples in a generation; zero: `4 + 3 ln n`.
    pub population: usize,
    /// Initial standard deviation, in the unit box.
    pub sigma: f64,
    /// Seed.
    pub seed: u64,
    /// Relative spread of the values of a generation at which the search ends.
    pub fall: f64,
}

impl Default for Options {
    fn default() -> Self {
        Self { generations: 200, population: 0, sigma: 0.25, seed: 1, fall: 1e-11 }
    }
}

/// The best sample.
#[derive(Clone, Debug, PartialEq)]
pub struct Best {
    /// Its position in the unit box.
    pub u: Vec<f64>,
    /// Its value.
    pub value: f64,
    /// Number of samples evaluated.
    pub evaluations: usize,
    /// Number of generations.
    pub generations: usize,
}

/// Values of a generation of samples, `None` for a sample without a value; returning `None` ends the search.
pub type Values<'a> = dyn FnMut(&[Vec<f64>]) -> Option<Vec<Option<f64>>> + 'a;

/// Searches for the minimum in the unit box. `values` computes a whole generation at once, with `None` for a sample without a value; it may
/// end the search by returning `None`.
pub fn minimize(start: &[f64], options: &Options, values: &mut Values<'_>) -> Option<Best> {
    let n = start.len();
    let nf = n as f64;
    let population = if options.population > 0 { options.population.max(4) } else { 4 + (3.0 * nf.ln()) as usize };
    let mu = population / 2;
    let raw: Vec<f64> = (0..mu).map(|k| (mu as f64 + 0.5).ln() - ((k + 1) as f64).ln()).collect();
    let total: f64 = raw.iter().sum();
    let w: Vec<f64> = raw.iter().map(|x| x / total).collect();
    let mu_eff = 1.0 / w.iter().map(|x| x * x).sum::<f64>();
    let c_sigma = (mu_eff + 2.0) / (nf + mu_eff + 5.0);
    let d_sigma = 1.0 + 2.0 * (((mu_eff - 1.0) / (nf + 1.0)).sqrt() - 1.0).max(0.0) + c_sigma;
    let c_c = (4.0 + mu_eff / nf) / (nf + 4.0 + 2.0 * mu_eff / nf);
    let c_1 = 2.0 / ((nf + 1.3).powi(2) + mu_eff);
    let c_mu = (1.0 - c_1).min(2.0 * (mu_eff - 2.0 + 1.0 / mu_eff) / ((nf + 2.0).powi(2) + mu_eff));
    let chi = nf.sqrt() * (1.0 - 1.0 / (4.0 * nf) + 1.0 / (21.0 * nf * nf));
    let draw = Draw::new(options.seed ^ 0xc3a5_c85c_97cb_3127);
    let (mut mean, mut sigma) = (DVector::from_column_slice(start), options.sigma);
    let mut C = DMatrix::<f64>::identity(n, n);
    let (mut p_sigma, mut p_c) = (DVector::zeros(n), DVector::zeros(n));
    let mut best: Option<(f64, Vec<f64>)> = None;
    let (mut evaluations, mut generation, mut quiet) = (0, 0, 0);
    while generation < options.generations {
        let eigen = C.clone().symmetric_eigen();
        let root = eigen.eigenvalues.map(|e| e.max(1e-20).sqrt());
        let mut steps = Vec::with_capacity(population);
        let mut samples = Vec::with_capacity(population);
        let mut beyond = Vec::with_capacity(population);
        for k in 0..population {
            let case = (generation * population + k) as u64;
            let z = DVector::from_fn(n, |i, _| draw.normal(case, i as u64));
            let y = &eigen.eigenvectors * z.component_mul(&root);
            let x = &mean + sigma * &y;
            let inside: Vec<f64> = x.iter().map(|v| v.clamp(0.0, 1.0)).collect();
            beyond.push(x.iter().zip(&inside).map(|(a, b)| (a - b).powi(2)).sum::<f64>());
            samples.push(inside);
            steps.push(y);
        }
        let Some(found) = values(&samples) else { break };
        evaluations += population;
        generation += 1;
        for (u, v) in samples.iter().zip(&found) {
            if let Some(v) = v.filter(|v| v.is_finite())
                && best.as_ref().is_none_or(|b| v < b.0)
            {
                best = Some((v, u.clone()));
            }
        }
        // The penalty for the distance from the box is scaled by the spread of the values.
        let known: Vec<f64> = found.iter().flatten().copied().filter(|v| v.is_finite()).collect();
        let spread = known.iter().copied().fold(f64::NEG_INFINITY, f64::max) - known.iter().copied().fold(f64::INFINITY, f64::min);
        let weight = if spread.is_finite() { spread.max(1e-12) } else { 1.0 };
        let cost = |k: usize| found[k].filter(|v| v.is_finite()).map_or(f64::INFINITY, |v| v + 10.0 * weight * beyond[k]);
        let mut order: Vec<usize> = (0..population).collect();
        // Of equal ones the first counts, so that the order is deterministic.
        order.sort_by(|&a, &b| cost(a).total_cmp(&cost(b)).then(a.cmp(&b)));
        if !cost(order[0]).is_finite() {
            // No sample has a value: reduce the spread.
            sigma *= 0.7;
            if sigma < 1e-6 {
                break;
            }
            continue;
        }
        let y_w: DVector<f64> = (0..mu).map(|k| w[k] * &steps[order[k]]).sum();
        mean += sigma * &y_w;
        let inverse = &eigen.eigenvectors * DMatrix::from_diagonal(&root.map(|r| 1.0 / r)) * eigen.eigenvectors.transpose();
        p_sigma = (1.0 - c_sigma) * p_sigma + (c_sigma * (2.0 - c_sigma) * mu_eff).sqrt() * (inverse * &y_w);
        let norm = p_sigma.norm();
        let settled = (1.0 - (1.0 - c_sigma).powi(2 * generation as i32)).sqrt();
        let h = if norm / settled < (1.4 + 2.0 / (nf + 1.0)) * chi { 1.0 } else { 0.0 };
        p_c = (1.0 - c_c) * p_c + h * (c_c * (2.0 - c_c) * mu_eff).sqrt() * &y_w;
        let rank: DMatrix<f64> = (0..mu).map(|k| w[k] * &steps[order[k]] * steps[order[k]].transpose()).sum();
        C = (1.0 - c_1 - c_mu + (1.0 - h) * c_1 * c_c * (2.0 - c_c)) * C + c_1 * &p_c * p_c.transpose() + c_mu * rank;
        C = 0.5 * (&C + C.transpose());
        sigma *= ((c_sigma / d_sigma) * (norm / chi - 1.0)).exp().clamp(0.2, 5.0);
        let size = known.iter().fold(0.0_f64, |s, v| s.max(v.abs()));
        quiet = if spread <= options.fall * size.max(1e-300) { quiet + 1 } else { 0 };
        if quiet >= 5 || sigma * root.max() < 1e-11 || sigma > 1e6 {
            break;
        }
    }
    best.map(|(value, u)| Best { u, value, evaluations, generations: generation })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(f: impl Fn(&[f64]) -> Option<f64>) -> impl FnMut(&[Vec<f64>]) -> Option<Vec<Option<f64>>> {
        move |samples| Some(samples.iter().map(|u| f(u)).collect())
    }

    #[test]
    fn a_narrow_valley_with_a_kink() {
        // Minimum at (0.3, 0.6), with a kink along the valley.
        let f = |u: &[f64]| Some((u[0] + u[1] - 0.9).abs() * 10.0 + (u[0] - u[1] + 0.3).powi(2));
        let best = minimize(&[0.5, 0.5], &Options { generations: 400, ..Default::default() }, &mut all(f)).expect("found");
        assert!(best.value < 1e-8 && (best.u[0] - 0.3).abs() < 1e-4, "{best:?}");
    }

    #[test]
    fn an_ill_conditioned_bowl_and_a_bound() {
        let f = |u: &[f64]| Some(u.iter().enumerate().map(|(k, x)| 10f64.powi(k as i32) * (x - 0.1 * k as f64 - 0.2).powi(2)).sum());
        let best = minimize(&[0.9; 5], &Options { generations: 400, ..Default::default() }, &mut all(f)).expect("found");
        assert!(best.value < 1e-10, "{best:?}");
        // The minimum is on the edge of the box.
        let f = |u: &[f64]| Some(u[0] + (u[1] - 0.4).powi(2));
        let best = minimize(&[0.5; 2], &Options { generations: 300, ..Default::default() }, &mut all(f)).expect("found");
        assert!(best.value < 1e-6 && best.u[0] < 1e-6, "{best:?}");
    }

    #[test]
    fn samples_that_fail_are_passed_by() {
        // Half of the box has no value; the minimum is next to it.
        let f = |u: &[f64]| (u[0] > 0.5).then(|| (u[0] - 0.5) + (u[1] - 0.5).powi(2));
        let best = minimize(&[0.9, 0.1], &Options { generations: 300, ..Default::default() }, &mut all(f)).expect("found");
        assert!(best.value < 1e-4, "{best:?}");
        assert!(minimize(&[0.5; 2], &Options::default(), &mut all(|_| None)).is_none());
    }

    #[test]
    fn a_seed_repeats_a_run() {
        let f = |u: &[f64]| Some((u[0] - 0.3).powi(2) + (u[1] * u[2] - 0.2).powi(2));
        let run = |seed| minimize(&[0.5; 3], &Options { generations: 30, seed, ..Default::default() }, &mut all(f));
        assert_eq!(run(4), run(4));
        assert_ne!(run(4), run(5));
    }
}
