//! Curves from points in one plane.

use super::{Builder, v3};
use crate::curve::{Curve, CurveError};
use crate::diagnostic::{Diagnostic, nearest, number};
use crate::model::{CurveOn, Model};
use crate::spec::{CurvePoints, CurveSpec, V3};
use fourbar_math::so3;
use nalgebra::{Matrix3, Vector2, Vector3};
use std::sync::Arc;

/// Points may deviate from their plane by this fraction of their extent, because a file has a limited number of digits.
const FLAT: f64 = 1e-6;

/// Points in a plane: its origin, its axes as columns, and their coordinates in it.
type Flat = (Vector3<f64>, Matrix3<f64>, Vec<Vector2<f64>>);

impl Builder<'_> {
    pub(super) fn curves(&mut self, model: &mut Model) {
        for (name, curve) in &self.spec.curves {
            if let Some(curve) = self.curve(name, curve) {
                model.curves.push(curve);
            }
        }
    }

    /// A curve by name. The error of a rejected curve was reported earlier.
    pub(super) fn find_curve<'m>(&mut self, model: &'m Model, path: &str, name: &str) -> Option<&'m CurveOn> {
        let found = model.curves.iter().find(|c| c.name == name);
        if found.is_none() && !self.spec.curves.iter().any(|c| c.0 == name) {
            let help = nearest(name, self.spec.curves.iter().map(|c| c.0.as_str()))
                .map_or("curves are declared under `curves:`".to_string(), |n| format!("did you mean `{n}`?"));
            self.error(Diagnostic::new("M640", format!("there is no curve `{name}`")).at(path).name(name).help(help));
        }
        found
    }

    fn curve(&mut self, name: &str, spec: &CurveSpec) -> Option<CurveOn> {
        let path = format!("curves.{name}.points");
        let (at, R, points) = match &spec.points {
            CurvePoints::Plane { points, at, normal, x } => {
                let plane = format!("curves.{name}.plane");
                let good = points.iter().all(|p| self.finite(&path, p)) && self.finite(&plane, at);
                let z = self.direction(&format!("{plane}.normal"), normal)?;
                // Omitted: x of the frame, or y if the normal is close to x.
                let x = x.unwrap_or(if z.x.abs() < 0.9 { [1.0, 0.0, 0.0] } else { [0.0, 1.0, 0.0] });
                let R = self.frame_with_x(&plane, &z, &x)?;
                good.then(|| (v3(at), R, points.iter().map(|p| Vector2::new(p[0], p[1])).collect::<Vec<_>>()))?
            }
            CurvePoints::Space(points) => {
                let good = points.iter().all(|p| self.finite(&path, p));
                good.then_some(())?;
                self.flatten(name, &path, points)?
            }
        };
        match Curve::new(points, spec.closed) {
            Ok(curve) => Some(CurveOn { name: name.to_string(), curve: Arc::new(curve), at, R }),
            Err(why) => {
                self.error(complaint(name, &why).at(path).name(name));
                None
            }
        }
    }

    /// The plane of points in space: their centroid, the best-fitting plane, and their coordinates in it.
    fn flatten(&mut self, name: &str, path: &str, points: &[V3]) -> Option<Flat> {
        if points.len() < 3 {
            self.error(complaint(name, &CurveError::TooFew { given: points.len() }).at(path).name(name));
            return None;
        }
        let points: Vec<Vector3<f64>> = points.iter().map(v3).collect();
        let middle = points.iter().sum::<Vector3<f64>>() / points.len() as f64;
        let spread = points.iter().fold(Matrix3::zeros(), |m, p| m + (p - middle) * (p - middle).transpose());
        let eigen = spread.symmetric_eigen();
        let mut order = [0, 1, 2];
        order.sort_by(|&a, &b| eigen.eigenvalues[a].total_cmp(&eigen.eigenvalues[b]));
        let size = points.iter().fold(0.0_f64, |m, p| m.max((p - middle).norm()));
        if eigen.eigenvalues[order[1]] <= (FLAT * size).powi(2) {
            self.error(
                Diagnostic::new("M643", format!("the points of curve `{name}` lie on one straight line, which does not define a plane"))
                    .at(path)
                    .name(name)
                    .help("give points of two numbers with a `plane`, or use a point-on-line joint"),
            );
            return None;
        }
        let mut z: Vector3<f64> = eigen.eigenvectors.column(order[0]).into();
        // Makes the normal independent of the sign of the eigenvector: its largest component is positive.
        z *= z[z.iamax()].signum();
        let far = points.iter().map(|p| z.dot(&(p - middle)).abs()).fold(0.0, f64::max);
        if far > FLAT * size {
            self.error(
                Diagnostic::new(
                    "M643",
                    format!("curve `{name}` is a spatial curve: its points leave their plane by up to {} m", number(far)),
                )
                .at(path)
                .name(name)
                .help("only planar curves are supported: give points in one plane"),
            );
            return None;
        }
        let R = so3::frame_from_z(&z);
        let flat = points.iter().map(|p| R.tr_mul(&(p - middle)).xy()).collect();
        Some((middle, R, flat))
    }
}

fn complaint(name: &str, why: &CurveError) -> Diagnostic {
    match why {
        CurveError::TooFew { given } => {
            Diagnostic::new("M641", format!("curve `{name}` has {given} points; a curve needs three or more")).help("give more points")
        }
        CurveError::Repeated(k) => Diagnostic::new("M642", format!("points {} and {} of curve `{name}` coincide", k + 1, k + 2))
            .help("remove one of them; a closed curve returns to its first point automatically"),
        CurveError::Cusp { point, at } => {
            let place = format!("[{:.6}, {:.6}]", at.x, at.y);
            Diagnostic::new("M644", format!("curve `{name}` comes to a point near {place}, after its point {}", point + 1))
                .help("the points turn too sharply there: give more points, evenly spread, along a smooth curve")
        }
        CurveError::Crosses { points: [a, b], at } => {
            let place = format!("[{:.6}, {:.6}]", at.x, at.y);
            Diagnostic::new("M644", format!("curve `{name}` crosses itself near {place}, after its points {} and {}", a + 1, b + 1))
                .help("the branch of a point on a curve that crosses itself is ambiguous: separate the branches")
        }
    }
}
