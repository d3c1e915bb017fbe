//! A small picture of a run: keeps a thinned-out record of a few columns and draws the most informative of them.

use fourbar::model::{JointCoordinate, Model};
use fourbar::study::Analysis;
use fourbar::topology::Topology;
use fourbar::trajectory::Column;
use fourbar_io::plot::{TextPlot, text_plot};

/// Largest number of samples; beyond it, every second one is dropped.
const SAMPLES: usize = 4000;
/// Largest number of recorded columns.
const WATCHED: usize = 64;

/// A thinned-out record of a few columns.
#[derive(Clone, Debug, Default)]
pub struct Preview {
    columns: Vec<Column>,
    /// Indices of the recorded columns in the rows.
    places: Vec<usize>,
    /// Samples, column by column.
    data: Vec<Vec<f64>>,
    stride: usize,
    seen: usize,
}

impl Preview {
    /// Records the time, joint coordinates, points and centres of mass.
    pub fn new(model: &Model, columns: &[Column]) -> Self {
        let mut wanted = vec!["t".to_string()];
        for d in model.drives.iter().take(WATCHED) {
            wanted.push(format!("{}.{}", model.joints[d.joint].name, coordinate(d.coordinate)));
        }
        let points = model.trace.iter().chain(model.points.iter().map(|(name, _)| name)).take(8);
        wanted.extend(points.flat_map(|p| ["x", "y", "z"].map(|a| format!("{p}.{a}"))));
        wanted.extend(
            model.joints.iter().flat_map(|j| j.coordinates().map(|(key, _)| format!("{}.{key}", j.name)).collect::<Vec<_>>()).take(24),
        );
        wanted.extend(model.bodies.iter().skip(1).rev().take(4).flat_map(|b| ["x", "y", "z"].map(|a| format!("{}.r.{a}", b.name))));
        let mut places = Vec::new();
        for w in wanted {
            if let Some(k) = columns.iter().position(|c| c.name == w).filter(|k| !places.contains(k) && places.len() < WATCHED) {
                places.push(k);
            }
        }
        let data = vec![Vec::new(); places.len()];
        Self { columns: places.iter().map(|&k| columns[k].clone()).collect(), places, data, stride: 1, seen: 0 }
    }

    /// Adds a row.
    pub fn row(&mut self, row: &[f64]) {
        if self.seen.is_multiple_of(self.stride.max(1)) {
            if self.data.first().is_some_and(|d| d.len() >= SAMPLES) {
                for d in &mut self.data {
                    let mut k = 0;
                    d.retain(|_| {
                        k += 1;
                        k % 2 == 1
                    });
                }
                self.stride *= 2;
            }
            if self.seen.is_multiple_of(self.stride.max(1)) {
                for (d, &k) in self.data.iter_mut().zip(&self.places) {
                    d.push(row[k]);
                }
            }
        }
        self.seen += 1;
    }

    fn find(&self, name: &str) -> Option<usize> {
        self.columns.iter().position(|c| c.name == name)
    }

    fn extent(&self, k: usize) -> f64 {
        let (lo, hi) = self.data[k].iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(lo, hi), &x| (lo.min(x), hi.max(x)));
        if lo <= hi { hi - lo } else { 0.0 }
    }

    fn label(&self, k: usize) -> (&str, &str) {
        (&self.columns[k].name, &self.columns[k].unit)
    }

    /// The path of the first named point that moves, seen along the normal of the plane or in the plane of its largest extent.
    pub fn path(&self, model: &Model) -> Option<String> {
        let moves = |name: &&String| {
            let columns = ["x", "y", "z"].map(|a| self.find(&format!("{name}.{a}")));
            columns.iter().flatten().any(|k| self.extent(*k) > 1e-9 * model.length)
        };
        let point = model.trace.iter().chain(model.points.iter().map(|(name, _)| name)).find(moves)?;
        let axes = ["x", "y", "z"].map(|a| self.find(&format!("{point}.{a}")));
        let [Some(x), Some(y), Some(z)] = axes else { return None };
        let normal = match Topology::new(model).planar {
            Some(n) => n.iamax(),
            None => (0..3).min_by(|&i, &j| self.extent([x, y, z][i]).total_cmp(&self.extent([x, y, z][j])))?,
        };
        let (u, v) = match normal {
            0 => (y, z),
            1 => (x, z),
            _ => (x, y),
        };
        // A straight path is better shown over time.
        if self.extent(u).min(self.extent(v)) < 1e-3 * self.extent(u).max(self.extent(v)) {
            return None;
        }
        let plot = TextPlot { x: self.label(u), y: self.label(v), width: 48, height: 16, equal: true };
        Some(format!("path of `{point}`\n{}", text_plot(&plot, &self.data[u], &self.data[v])))
    }

    /// A moving coordinate over the angle of the drive or over time.
    pub fn history(&self, model: &Model, analysis: Analysis) -> Option<String> {
        let driven = model.drives.first().map(|d| format!("{}.{}", model.joints[d.joint].name, coordinate(d.coordinate)));
        let x = match (&driven, analysis) {
            (Some(name), Analysis::Kinematics) => self.find(name).filter(|&k| self.rises(k)).or_else(|| self.find("t"))?,
            _ => self.find("t")?,
        };
        let moves = |k: &usize| {
            *k != x && self.extent(*k) > 1e-9 && Some(&self.columns[*k].name) != driven.as_ref() && self.columns[*k].name != "t"
        };
        let mut joints =
            (0..self.columns.len()).filter(|k| self.columns[*k].name.ends_with(".angle") || self.columns[*k].name.ends_with(".distance"));
        // The last joint in the file is usually the output of the mechanism; in dynamics the first moving joint is shown.
        let y = match analysis {
            Analysis::Kinematics => joints.rfind(moves),
            Analysis::Dynamics => joints.find(moves),
        };
        let y = y.or_else(|| (0..self.columns.len()).filter(moves).max_by(|&i, &j| self.extent(i).total_cmp(&self.extent(j))))?;
        let plot = TextPlot { x: self.label(x), y: self.label(y), width: 64, height: 10, equal: false };
        Some(format!("`{}` over `{}`\n{}", self.columns[y].name, self.columns[x].name, text_plot(&plot, &self.data[x], &self.data[y])))
    }

    /// Whether a column is monotonic.
    fn rises(&self, k: usize) -> bool {
        let d = &self.data[k];
        d.len() > 1 && (d.windows(2).all(|w| w[1] > w[0]) || d.windows(2).all(|w| w[1] < w[0]))
    }
}

fn coordinate(which: JointCoordinate) -> &'static str {
    if which == JointCoordinate::Angle { "angle" } else { "distance" }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_run_is_thinned_out_evenly() {
        let mut p = Preview {
            columns: vec![Column { name: "t".into(), unit: "s".into() }],
            places: vec![0],
            data: vec![Vec::new()],
            stride: 1,
            seen: 0,
        };
        for k in 0..100_000 {
            p.row(&[f64::from(k)]);
        }
        assert!(p.data[0].len() <= SAMPLES && p.data[0].len() > SAMPLES / 4);
        let step = p.data[0][1] - p.data[0][0];
        assert!(p.data[0].windows(2).all(|w| w[1] - w[0] == step), "stride {step}");
    }
}
