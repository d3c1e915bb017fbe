//! Keeps the rows of a run for its page. If a run is too long for the memory, its rows are thinned out evenly.

use fourbar::Trajectory;
use fourbar::trajectory::Column;

/// Largest number of values that are kept: half a gigabyte.
const NUMBERS: usize = 1 << 26;

/// Rows of a run.
#[derive(Clone, Debug)]
pub struct Gather {
    trajectory: Trajectory,
    stride: usize,
    seen: usize,
    /// The latest row, if it is not yet kept.
    last: Vec<f64>,
    most: usize,
}

impl Gather {
    /// For rows with the given columns.
    pub fn new(columns: &[Column]) -> Self {
        let most = (NUMBERS / columns.len().max(1)).max(1000);
        Self { trajectory: Trajectory::new(columns.to_vec()), stride: 1, seen: 0, last: Vec::new(), most }
    }

    /// Adds a row.
    pub fn row(&mut self, row: &[f64]) {
        self.last.clear();
        if self.seen.is_multiple_of(self.stride) {
            if self.trajectory.len() >= self.most {
                self.halve();
            }
            if self.seen.is_multiple_of(self.stride) {
                self.trajectory.push(row);
            }
        }
        if !self.seen.is_multiple_of(self.stride) {
            self.last.extend_from_slice(row);
        }
        self.seen += 1;
    }

    fn halve(&mut self) {
        for column in &mut self.trajectory.values {
            let mut k = 0;
            column.retain(|_| {
                k += 1;
                k % 2 == 1
            });
        }
        self.stride *= 2;
    }

    /// The rows, always including the last one.
    pub fn finish(mut self) -> Trajectory {
        if !self.last.is_empty() {
            self.trajectory.push(&self.last);
        }
        self.trajectory
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_run_is_thinned_out_evenly_and_keeps_its_ends() {
        let mut g = Gather {
            most: 1000,
            ..Gather::new(&[Column { name: "t".into(), unit: "s".into() }, Column { name: "x".into(), unit: "m".into() }])
        };
        for k in 0..12_346 {
            g.row(&[f64::from(k), -f64::from(k)]);
        }
        let t = g.finish();
        let times = t.column("t").expect("there");
        assert!(times.len() > 500 && times.len() <= 1001, "{}", times.len());
        assert_eq!((times[0], times[times.len() - 1]), (0.0, 12_345.0));
        assert!(times[..times.len() - 1].windows(2).all(|w| w[1] - w[0] == times[1]));
        assert!((0..t.len()).all(|k| t.values[1][k] == -t.values[0][k]));
    }
}
