//! Redundant sets in mechanical terms: the forces and torques that their members constrain more than once, whether the surplus rows are
//! consistent, and whether they are redundant in every pose.
//!
//! A surplus row is a self-stress: joint loads that balance each other on every body. In a single loop it is one wrench that passes through
//! every joint, so that the loop can be described as a whole.

use fourbar::analysis::redundancy::{Part, RedundantSet, excess};
use fourbar::constraint::{Constraint, Owner};
use fourbar::model::Model;
use fourbar::state::Pose;
use nalgebra::{DMatrix, Matrix3, Vector3};
use serde::Serialize;

/// A load below this share of the largest is zero.
const NONE: f64 = 1e-6;

/// Whether the surplus rows of a set are consistent.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case", tag = "is")]
pub enum Agreement {
    /// They prescribe the same.
    Consistent,
    /// They prescribe different positions: the remaining gap, metres (angles times the characteristic length).
    Conflicting {
        /// The gap.
        gap: f64,
    },
    /// They prescribe different velocities, m/s.
    ConflictingSpeeds {
        /// The difference.
        speed: f64,
    },
}

/// At which poses a set is redundant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum When {
    /// At every pose examined.
    Always,
    /// At the start and not elsewhere.
    OnlyHere,
    /// Partly: fewer rows are redundant elsewhere.
    MoreHere,
    /// The mechanism cannot move: there is only one pose.
    OnePose,
}

/// Loads that a joint carries in a self-stress.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Carried {
    /// The joint.
    pub joint: String,
    /// In words, at the position of the joint.
    pub words: Vec<String>,
}

/// A redundant set, explained.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Explained {
    /// Names of the members.
    pub names: Vec<String>,
    /// Number of surplus rows at the start.
    pub times: usize,
    /// Number of surplus rows at every pose examined.
    pub times_always: usize,
    /// Whether they form a single loop.
    pub single_loop: bool,
    /// Directions constrained more than once: for a single loop as a whole, otherwise empty.
    pub directions: Vec<String>,
    /// Loads of each joint.
    pub joints: Vec<Carried>,
    /// Whether the rows are consistent.
    pub agreement: Agreement,
    /// When the set is redundant.
    pub when: When,
}

/// Explains a set. `poses` are other poses of the motion; `Phi` and `nu` the right-hand sides of `all` at `q`, row by row.
pub fn explain(model: &Model, all: &[Constraint], set: &RedundantSet, q: &[Pose], poses: &[&[Pose]], Phi: &[f64], nu: &[f64]) -> Explained {
    // Names of constraints are unique except for contacts of rolling bodies, which have one row and no partner.
    let members: Vec<usize> = set.names.iter().filter_map(|n| all.iter().position(|c| c.name == *n)).collect();
    let part = Part::new(all, &members, q, model.length);
    let stresses = part.self_stresses();
    let elsewhere: Vec<usize> = poses.iter().map(|q| excess(all, &members, q, model.length)).collect();
    let least = elsewhere.iter().copied().min().unwrap_or(stresses.len());
    let when = match least {
        _ if poses.is_empty() => When::OnePose,
        n if n >= stresses.len() => When::Always,
        0 => When::OnlyHere,
        _ => When::MoreHere,
    };
    let mut joints = Vec::new();
    let mut through: Option<DMatrix<f64>> = None;
    let centre = centre(model, all, &members, q);
    for (c, constraint) in part.set.list.iter().enumerate() {
        let Owner::Joint(k) = constraint.owner else { continue };
        let j = &model.joints[k];
        let pose = &q[j.bodies[1].index()];
        let place = pose.point(&j.M.s);
        let (mut own, mut moved) = (DMatrix::zeros(6, stresses.len()), DMatrix::zeros(6, stresses.len()));
        for (n, lambda) in stresses.iter().enumerate() {
            let g = part.set.generalized(c, 1, q, &lambda[part.set.row_start[c]..part.set.row_start[c + 1]]);
            let force = -g.F;
            let torque = -(pose.A * g.T) - (pose.A * j.M.s).cross(&force);
            let about_centre = torque + (place - centre).cross(&force);
            for i in 0..3 {
                (own[(i, n)], own[(3 + i, n)]) = (force[i], torque[i] / model.length);
                (moved[(i, n)], moved[(3 + i, n)]) = (force[i], about_centre[i] / model.length);
            }
        }
        let words = words(&own, &place, model.length);
        if !words.is_empty() {
            joints.push(Carried { joint: j.name.clone(), words });
        }
        through.get_or_insert(moved);
    }
    let directions = match through {
        Some(w) if set.single_loop => words(&w, &centre, model.length),
        _ => Vec::new(),
    };
    let agreement = agreement(model, all, &members, &part, &stresses, Phi, nu);
    let times_always = if poses.is_empty() { set.times } else { least.min(set.times) };
    Explained {
        names: set.names.clone(),
        times: set.times,
        times_always,
        single_loop: set.single_loop,
        directions,
        joints,
        agreement,
        when,
    }
}

/// The rows are consistent if self-stresses do no work on their right-hand sides.
fn agreement(
    model: &Model,
    all: &[Constraint],
    members: &[usize],
    part: &Part,
    stresses: &[Vec<f64>],
    Phi: &[f64],
    nu: &[f64],
) -> Agreement {
    let mut starts = vec![0];
    for c in all {
        starts.push(starts[starts.len() - 1] + c.count());
    }
    let worst = |x: &[f64]| {
        let own: Vec<f64> = members.iter().flat_map(|&k| x[starts[k]..starts[k + 1]].iter().copied()).collect();
        stresses.iter().fold(0.0_f64, |w, z| {
            let size = z.iter().fold(0.0_f64, |s, z| s.max(z.abs())).max(f64::MIN_POSITIVE);
            w.max(z.iter().zip(&own).map(|(z, x)| z * x).sum::<f64>().abs() / size)
        })
    };
    let (gap, speed) = (worst(Phi), worst(nu));
    let rows = part.set.rows() as f64;
    if gap > 1e-7 * model.length * rows.sqrt() {
        Agreement::Conflicting { gap }
    } else if speed > 1e-7 * model.length * rows.sqrt() {
        Agreement::ConflictingSpeeds { speed }
    } else {
        Agreement::Consistent
    }
}

/// Middle of the joints of a set.
fn centre(model: &Model, all: &[Constraint], members: &[usize], q: &[Pose]) -> Vector3<f64> {
    let places: Vec<Vector3<f64>> = members
        .iter()
        .filter_map(|&k| match all[k].owner {
            Owner::Joint(k) => Some(q[model.joints[k].bodies[1].index()].point(&model.joints[k].M.s)),
            _ => None,
        })
        .collect();
    places.iter().sum::<Vector3<f64>>() / places.len().max(1) as f64
}

/// A space of wrenches (columns: force, torque / L about `place`) in words: forces first, then pure torques.
fn words(w: &DMatrix<f64>, place: &Vector3<f64>, L: f64) -> Vec<String> {
    let top = w.amax();
    if top == 0.0 {
        return Vec::new();
    }
    // Directions of the forces, strongest first, and the torque that accompanies a unit of each.
    let (forces, sizes) = span(&w.rows(0, 3).into_owned(), top);
    let mut left = w.clone();
    let mut lines = Vec::new();
    for (d, s) in forces.iter().zip(&sizes) {
        // The combination of the wrenches with a force along `d` only.
        let c = w.rows(0, 3).tr_mul(d) / *s;
        let combined = w * &c;
        lines.push(Vector3::new(combined[3], combined[4], combined[5]) * (L / *s));
        left -= &combined * c.transpose();
    }
    // The remainder consists of pure torques.
    let (turning, _) = span(&left.rows(3, 3).into_owned(), top);
    let mut out = Vec::new();
    match forces.as_slice() {
        [] => {}
        [d] => {
            let d = oriented(*d);
            // The torque that accompanies the force: apart from the pure torques, a shift of its line of action, and a twist about it.
            let mut rest = lines[0] * d.dot(&forces[0]).signum();
            for t in &turning {
                rest -= t * t.dot(&rest);
            }
            let twist = d.dot(&rest);
            let arm = d.cross(&(rest - d * twist));
            let along = format!("force along {}", direction(&d));
            if rest.norm() < 1e-6 * L {
                out.push(along);
            } else {
                let point = place + arm;
                let with = if twist.abs() > 1e-6 * L { format!(", with {} N m per N about it", short(twist)) } else { String::new() };
                out.push(format!("{along} through ({}, {}, {}){with}", short(point.x), short(point.y), short(point.z)));
            }
        }
        several => out.push(format!("forces along {}", space(several))),
    }
    match turning.as_slice() {
        [] => {}
        [d] => out.push(format!("torque about {}", direction(&oriented(*d)))),
        several => out.push(format!("torques about {}", space(several))),
    }
    out
}

/// Orthonormal directions spanned by the columns of a 3 x n matrix, with their magnitudes, largest first.
fn span(w: &DMatrix<f64>, top: f64) -> (Vec<Vector3<f64>>, Vec<f64>) {
    let P = Matrix3::from_iterator((w * w.transpose()).iter().copied()).symmetric_eigen();
    let mut order = [0, 1, 2];
    order.sort_by(|&a, &b| P.eigenvalues[b].total_cmp(&P.eigenvalues[a]));
    let kept = order.into_iter().map(|k| (P.eigenvectors.column(k).into_owned(), P.eigenvalues[k].max(0.0).sqrt()));
    kept.filter(|(_, s)| *s > NONE * top).unzip()
}

/// The direction with the sign that makes its first nonzero component positive.
fn oriented(d: Vector3<f64>) -> Vector3<f64> {
    let first = d.iter().copied().find(|x| x.abs() > 1e-6).unwrap_or(1.0);
    d * first.signum()
}

/// `x`, or `(0.6, 0.8, 0)`.
pub fn direction(d: &Vector3<f64>) -> String {
    for (k, name) in ["x", "y", "z"].into_iter().enumerate() {
        if (d[k].abs() - 1.0).abs() < 1e-9 {
            return name.into();
        }
    }
    format!("({}, {}, {})", short(d.x), short(d.y), short(d.z))
}

/// Directions of a plane or of all space.
fn space(basis: &[Vector3<f64>]) -> String {
    if basis.len() >= 3 {
        return "x, y and z".into();
    }
    let P = basis.iter().fold(Matrix3::zeros(), |P, d| P + d * d.transpose());
    let axes: Vec<&str> =
        ["x", "y", "z"].into_iter().enumerate().filter(|(k, _)| (P[(*k, *k)] - 1.0).abs() < 1e-9).map(|(_, n)| n).collect();
    if axes.len() == 2 {
        return axes.join(" and ");
    }
    format!("every axis across {}", direction(&oriented(basis[0].cross(&basis[1]).normalize())))
}

/// Up to four digits.
pub fn short(x: f64) -> String {
    if x.abs() < 5e-7 {
        return "0".into();
    }
    if !(1e-3..1e5).contains(&x.abs()) {
        return format!("{x:.2e}");
    }
    let text = format!("{x:.4}");
    text.trim_end_matches('0').trim_end_matches('.').into()
}
