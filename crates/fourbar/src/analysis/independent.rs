//! Joint coordinates that fix the pose of a mechanism: driven ones first, then those that describe the remaining freedoms.

use crate::analysis::rank::{self, FreeMotion, Mobility};
use crate::constraint::{Constraint, Owner, Rows};
use crate::coordinate::Coordinate;
use crate::model::{BodyId, JointCoordinate, Model};
use crate::state::{Configuration, Pose};
use nalgebra::DMatrix;
use serde::Serialize;
use smallvec::smallvec;

/// A coordinate of a joint.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Named {
    /// The joint.
    pub joint: String,
    /// `angle` or `distance`.
    pub what: &'static str,
    /// The drive that prescribes it, if any.
    pub drive: Option<String>,
}

/// A coordinate that can be swept.
#[derive(Clone, Debug)]
pub struct Swept {
    /// Its names.
    pub named: Named,
    /// Base and moving body.
    pub bodies: [BodyId; 2],
    /// The coordinate.
    pub y: Coordinate,
    /// The joint.
    pub joint: usize,
}

/// The coordinates to sweep: driven ones first, then others that describe the remaining freedoms; bodies without joints are omitted.
pub fn coordinates(model: &Model, at: &Configuration, free: &Mobility) -> Vec<Swept> {
    let motions = &free.generic.motions;
    let mut list: Vec<Swept> = Vec::new();
    let mut rows: Vec<Vec<f64>> = Vec::new();
    let mut offer = |joint: usize, which: JointCoordinate, drive: Option<String>| {
        let j = &model.joints[joint];
        let Some(y) = j.coordinate(which) else { return };
        let [a, b] = j.bodies.map(BodyId::index);
        let row = y.row(&at.q[a], &at.q[b]).parts;
        let scale = if which == JointCoordinate::Angle { model.length } else { 1.0 };
        let rates: Vec<f64> = motions.iter().map(|m| scale * (row[0].power(&m[a]) + row[1].power(&m[b]))).collect();
        // Only coordinates not already fixed by the previous ones.
        let mut with = rows.clone();
        with.push(rates);
        let A = DMatrix::from_fn(with.len(), motions.len(), |i, k| with[i][k]);
        if fourbar_math::dense::rank(&A, 1e-6).rank == with.len() {
            let what = if which == JointCoordinate::Angle { "angle" } else { "distance" };
            list.push(Swept { named: Named { joint: j.name.clone(), what, drive }, bodies: j.bodies, y, joint });
            rows = with;
        }
    };
    for d in &model.drives {
        offer(d.joint, d.coordinate, Some(d.name.clone()));
    }
    for FreeMotion { name, what } in rank::describe(model, &at.q, motions) {
        if let Some(k) = model.joints.iter().position(|j| j.name == name) {
            match what {
                "angle" => offer(k, JointCoordinate::Angle, None),
                "distance" => offer(k, JointCoordinate::Distance, None),
                _ => {}
            }
        }
    }
    list
}

/// Rows that keep swept coordinates at the values of a configuration.
pub fn held_rows<'s>(model: &Model, list: impl IntoIterator<Item = &'s Swept>, at: &Configuration) -> Vec<Constraint> {
    list.into_iter()
        .map(|s| {
            let scale = if s.named.what == "angle" { model.length } else { 1.0 };
            let [i, j] = s.bodies.map(|b| &at.q[b.index()]);
            Constraint {
                name: s.named.joint.clone(),
                owner: Owner::Hold(s.joint),
                bodies: smallvec![s.bodies[0], s.bodies[1]],
                rows: smallvec![Rows::one(scale, s.y.clone(), scale * s.y.value(i, j, &at.turns))],
                spare: None,
            }
        })
        .collect()
}

/// Largest translation, or rotation times the characteristic length, between two poses.
pub fn distance(model: &Model, a: &[Pose], b: &[Pose]) -> f64 {
    a.iter().zip(b).fold(0.0, |s, (a, b)| {
        let d = a.increment_to(b);
        f64::max(s, d.v.norm().max(model.length * d.w.norm()))
    })
}
