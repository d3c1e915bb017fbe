//! Coordinates by name, and the choice of independent ones.

use super::Evaluation;
use crate::coordinate::Coordinate;
use crate::diagnostic::{Diagnostic, nearest};
use crate::error::Error;
use crate::model::BodyId;
use crate::state::Wrench;
use fourbar_math::dense;
use nalgebra::{DMatrix, DVector, Vector3};

const XYZ: [&str; 3] = ["x", "y", "z"];

/// Singular values below this fraction of the largest count as zero in the selection of coordinates.
const DEPENDENT: f64 = 1e-8;

/// Coordinates of a mechanism with the rows that give their rates: `y' = C v`, `y'' = C a + bias`.
#[derive(Clone, Debug)]
pub struct Coordinates {
    /// Names, such as `pin.angle`.
    pub names: Vec<String>,
    /// One row each, in terms of the velocities of all moving bodies.
    pub rows: DMatrix<f64>,
    /// Second derivatives at zero acceleration.
    pub bias: DVector<f64>,
    /// Factor that makes a change of the coordinate a length: one, or the characteristic length for angles.
    pub scale: Vec<f64>,
}

/// A coordinate.
pub(super) struct Reading {
    /// Parts of the row by body.
    parts: Vec<(usize, Wrench)>,
    bias: f64,
    pub(super) angular: bool,
}

impl Reading {
    /// Adds a multiple of its row to a row of a matrix.
    pub(super) fn add_to(&self, factor: f64, out: &mut DMatrix<f64>, row: usize) {
        for (body, x) in self.parts.iter().filter(|(body, _)| *body != 0) {
            for (l, value) in x.F.iter().chain(x.T.iter()).enumerate() {
                out[(row, 6 * (body - 1) + l)] += factor * value;
            }
        }
    }
}

impl Evaluation<'_> {
    /// Coordinates by name. Available are `JOINT.angle` and `JOINT.distance`, `POINT.x`, `.y`, `.z`, and for bodies `BODY.r.x` and
    /// `BODY.turn.x` (with `y` and `z`): position of the centre of mass, and rotation about a world axis, for which only the rate is
    /// defined.
    pub fn coordinates<N: AsRef<str>>(&self, names: &[N]) -> Result<Coordinates, Error> {
        self.fits_dense()?;
        let mut readings = Vec::with_capacity(names.len());
        for name in names {
            readings.push(self.reading(name.as_ref())?);
        }
        Ok(self.gathered(names.iter().map(|n| n.as_ref().to_string()).collect(), &readings))
    }

    fn gathered(&self, names: Vec<String>, readings: &[Reading]) -> Coordinates {
        let mut rows = DMatrix::zeros(readings.len(), self.columns());
        for (k, r) in readings.iter().enumerate() {
            r.add_to(1.0, &mut rows, k);
        }
        let scale = readings.iter().map(|r| if r.angular { self.model.length } else { 1.0 }).collect();
        Coordinates { names, rows, bias: DVector::from_iterator(readings.len(), readings.iter().map(|r| r.bias)), scale }
    }

    /// Names of coordinates that describe all free motions, as many as there are free motions: joint coordinates where possible, those
    /// relative to ground first, then coordinates of bodies.
    ///
    /// ```
    /// # use fourbar::evaluate::Evaluation;
    /// let model = fourbar_io::load("ra_double_pendulum")?;
    /// let state = fourbar::analysis::assembly::assemble(&model)?.configuration;
    /// let names = Evaluation::new(&model, &state)?.independent()?;
    /// assert_eq!(names.len(), 2);
    /// assert!(names.iter().all(|n| n.ends_with(".angle")), "{names:?}");
    /// # Ok::<(), fourbar::Error>(())
    /// ```
    pub fn independent(&self) -> Result<Vec<String>, Error> {
        let free = self.free_motions()?;
        let mut names = Vec::new();
        let mut weights = Vec::new();
        for j in &self.model.joints {
            let grounded = j.bodies.contains(&BodyId::GROUND);
            for (key, _) in j.coordinates() {
                names.push(format!("{}.{key}", j.name));
                weights.push(if grounded { 4.0 } else { 1.0 });
            }
        }
        let joints = names.len();
        for b in self.model.bodies.iter().skip(1) {
            for what in ["r", "turn"] {
                names.extend(XYZ.map(|a| format!("{}.{what}.{a}", b.name)));
                weights.extend([1e-3; 3]);
            }
        }
        let c = self.coordinates(&names)?;
        let mut rates = (&c.rows * free).transpose();
        for (k, mut column) in rates.column_iter_mut().enumerate() {
            column *= weights[k] * c.scale[k];
        }
        let mut chosen = dense::independent_columns(&rates, 1e-7);
        // Joint coordinates first, in the order of the file.
        chosen.sort_by_key(|&k| (k >= joints, k));
        Ok(chosen.into_iter().map(|k| names[k].clone()).collect())
    }

    /// Second derivative of a coordinate at these accelerations, for example of `pin.angle`.
    pub fn joint_acceleration(&self, coordinate: &str) -> Result<f64, Error> {
        let r = self.reading(coordinate)?;
        Ok(r.bias + r.parts.iter().map(|(b, x)| x.power(&self.now.a[*b])).sum::<f64>())
    }

    /// First derivative of a coordinate, for example of `pin.angle`.
    pub fn joint_speed(&self, coordinate: &str) -> Result<f64, Error> {
        let r = self.reading(coordinate)?;
        Ok(r.parts.iter().map(|(b, x)| x.power(&self.now.v[*b])).sum::<f64>())
    }

    pub(super) fn reading(&self, name: &str) -> Result<Reading, Error> {
        self.of_joint(name).or_else(|| self.of_point(name)).or_else(|| self.of_body(name)).ok_or_else(|| self.unknown(name).into())
    }

    fn of_pair(&self, bodies: [BodyId; 2], y: &Coordinate) -> Reading {
        let [i, j] = bodies.map(BodyId::index);
        let (q, v) = (&self.now.q, &self.now.v);
        let parts = y.row(&q[i], &q[j]).parts;
        Reading {
            parts: vec![(i, parts[0]), (j, parts[1])],
            bias: y.bias(&q[i], &q[j], &v[i], &v[j]),
            angular: matches!(y, Coordinate::Angle(_)),
        }
    }

    fn of_joint(&self, name: &str) -> Option<Reading> {
        let (element, what) = name.rsplit_once('.')?;
        let j = self.model.joints.iter().find(|j| j.name == element)?;
        let y = j.coordinates().find(|(key, _)| *key == what)?.1;
        Some(self.of_pair(j.bodies, &y))
    }

    fn of_point(&self, name: &str) -> Option<Reading> {
        let (element, axis) = name.rsplit_once('.')?;
        let (_, on) = self.model.points.iter().find(|(n, _)| n == element)?;
        let k = XYZ.iter().position(|a| *a == axis)?;
        let y = Coordinate::Cd { ij: [0, 1], c: unit(k), s_i: Vector3::zeros(), s_j: on.s };
        Some(self.of_pair([BodyId::GROUND, on.body], &y))
    }

    fn of_body(&self, name: &str) -> Option<Reading> {
        let (rest, axis) = name.rsplit_once('.')?;
        let (element, what) = rest.rsplit_once('.')?;
        let body = self.model.bodies.iter().skip(1).position(|b| b.name == element)? + 1;
        let e = unit(XYZ.iter().position(|a| *a == axis)?);
        // The world components of the angular acceleration, from those in body axes.
        let part = match what {
            "r" => Wrench { F: e, T: Vector3::zeros() },
            "turn" => Wrench { F: Vector3::zeros(), T: self.now.q[body].A.tr_mul(&e) },
            _ => return None,
        };
        Some(Reading { parts: vec![(body, part)], bias: 0.0, angular: what == "turn" })
    }

    fn unknown(&self, name: &str) -> Diagnostic {
        let m = self.model;
        let joints = m.joints.iter().flat_map(|j| j.coordinates().map(|(key, _)| format!("{}.{key}", j.name)));
        let points = m.points.iter().flat_map(|(n, _)| XYZ.map(|a| format!("{n}.{a}")));
        let known: Vec<String> = joints.chain(points).collect();
        let help = match nearest(name, known.iter().map(String::as_str)) {
            Some(near) => format!("did you mean `{near}`?"),
            None => "coordinates are `JOINT.angle`, `JOINT.distance`, `POINT.x`, `BODY.r.x` and `BODY.turn.x`".to_string(),
        };
        Diagnostic::new("U314", format!("there is no coordinate `{name}`")).name(name).help(help)
    }
}

impl Coordinates {
    /// `N (C N)^-1`: free motions in which one coordinate has unit rate and the others are constant.
    pub(super) fn motions(&self, free: &DMatrix<f64>) -> Result<DMatrix<f64>, Error> {
        let few = |message: String| {
            Diagnostic::new("U336", message).names(self.names.clone()).help("`independent` proposes coordinates that describe them all")
        };
        if self.names.len() != free.ncols() {
            let message = format!("{} coordinates are named, but the mechanism has {} free motions", self.names.len(), free.ncols());
            return Err(few(message).into());
        }
        let mut CN = &self.rows * free;
        for (mut row, s) in CN.row_iter_mut().zip(&self.scale) {
            row *= *s;
        }
        let inverse = dense::rank(&CN, DEPENDENT).rank == free.ncols();
        let inverse = inverse.then(|| CN.try_inverse()).flatten();
        let Some(mut inverse) = inverse else {
            return Err(few("the coordinates do not describe all free motions at this state".into()).into());
        };
        for (mut column, s) in inverse.column_iter_mut().zip(&self.scale) {
            column *= *s;
        }
        Ok(free * inverse)
    }
}

fn unit(k: usize) -> Vector3<f64> {
    let mut e = Vector3::zeros();
    e[k] = 1.0;
    e
}
