//! Statistics of samples, with their uncertainties.

/// Summary statistics of a measure.
#[derive(Clone, Debug, PartialEq)]
pub struct Summary {
    /// Number of samples.
    pub count: usize,
    /// Mean.
    pub mean: f64,
    /// Standard error of the mean for random samples; the Sobol sequence is more accurate.
    pub mean_error: f64,
    /// Standard deviation.
    pub sigma: f64,
    /// Its standard error, from the fourth moment.
    pub sigma_error: f64,
    /// Smallest and largest value.
    pub ends: [f64; 2],
    /// Quantiles at 0.135 %, 50 % and 99.865 %: the median and three standard deviations of a normal distribution.
    pub quantiles: [f64; 3],
}

/// The share of good samples, with its confidence interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Yield {
    /// Number of good samples.
    pub good: usize,
    /// Number of all samples.
    pub count: usize,
    /// Confidence interval of the true share at 95 % (Wilson's).
    pub interval: [f64; 2],
}

/// Wilson's interval for a share, with the given number of standard deviations.
pub fn wilson(good: usize, count: usize, z: f64) -> [f64; 2] {
    if count == 0 {
        return [0.0, 1.0];
    }
    let (n, p) = (count as f64, good as f64 / count as f64);
    let middle = (p + z * z / (2.0 * n)) / (1.0 + z * z / n);
    let half = z / (1.0 + z * z / n) * (p * (1.0 - p) / n + z * z / (4.0 * n * n)).sqrt();
    [(middle - half).max(0.0), (middle + half).min(1.0)]
}

impl Yield {
    /// The yield for a number of good samples.
    pub fn new(good: usize, count: usize) -> Self {
        Self { good, count, interval: wilson(good, count, 1.959_963_984_540_054) }
    }
}

/// Summary statistics of samples; `None` without any.
pub fn summary(samples: &[f64]) -> Option<Summary> {
    let n = samples.len();
    if n == 0 {
        return None;
    }
    let mean = samples.iter().sum::<f64>() / n as f64;
    let moment = |k: i32| samples.iter().map(|x| (x - mean).powi(k)).sum::<f64>() / n as f64;
    let (m2, m4) = (moment(2), moment(4));
    let variance = if n > 1 { m2 * n as f64 / (n - 1) as f64 } else { 0.0 };
    let sigma = variance.sqrt();
    let mut sorted = samples.to_vec();
    sorted.sort_by(f64::total_cmp);
    let quantile = |p: f64| {
        let at = p * (n - 1) as f64;
        let k = at as usize;
        let next = sorted[(k + 1).min(n - 1)];
        sorted[k] + (next - sorted[k]) * (at - k as f64)
    };
    let sigma_error = if sigma > 0.0 { ((m4 - m2 * m2).max(0.0) / n as f64).sqrt() / (2.0 * sigma) } else { 0.0 };
    Some(Summary {
        count: n,
        mean,
        mean_error: sigma / (n as f64).sqrt(),
        sigma,
        sigma_error,
        ends: [sorted[0], sorted[n - 1]],
        quantiles: [0.001_349_898_031_630_095, 0.5, 0.998_650_101_968_369_9].map(quantile),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sweep::Draw;

    #[test]
    fn wilson_covers_the_truth_as_often_as_it_says() {
        // 2000 experiments of 40 draws with a true share of 0.93.
        let draw = Draw::new(11);
        let covered = (0..2000u64)
            .filter(|e| {
                let good = (0..40u64).filter(|k| draw.unit(*e, *k) < 0.93).count();
                let [a, b] = Yield::new(good, 40).interval;
                (a..=b).contains(&0.93)
            })
            .count();
        assert!((1850..=1960).contains(&covered), "{covered}");
        // Tabulated: 8 of 10 gives 0.4902 to 0.9433.
        let [a, b] = Yield::new(8, 10).interval;
        assert!((a - 0.4902).abs() < 1e-4 && (b - 0.9433).abs() < 1e-4, "{a} {b}");
        assert_eq!(wilson(10, 10, 1.96)[1], 1.0);
    }

    #[test]
    fn moments_of_known_samples() {
        let s = summary(&[1.0, 2.0, 3.0, 4.0]).expect("samples");
        assert_eq!((s.mean, s.ends, s.quantiles[1]), (2.5, [1.0, 4.0], 2.5));
        assert!((s.sigma - (5.0_f64 / 3.0).sqrt()).abs() < 1e-15);
        assert_eq!(summary(&[]), None);
        assert_eq!(summary(&[7.0]).map(|s| s.sigma), Some(0.0));
    }
}
