//! Mass properties of the bodies: centre of mass and principal axes, as computed from numbers, solids or meshes.

use fourbar::diagnostic::number;
use fourbar::model::{Body, Model};
use nalgebra::{Matrix3, Vector3};
use serde_json::{Value, json};

/// Products of inertia below this share of the moments are rounding.
const TURNED: f64 = 1e-9;

/// Principal moments of inertia about the centre of mass, kg m^2, and their axes in the body frame, right-handed.
struct Principal {
    /// Moments: by size, or about the x, y and z axes of the body if these are the principal axes.
    moments: Vector3<f64>,
    /// Axes as columns.
    axes: Matrix3<f64>,
    /// Whether the axes are not those of the body frame.
    turned: bool,
}

/// Whether the principal axes of a body are not those of its frame.
pub fn is_turned(body: &Body) -> bool {
    let J = &body.J_bar;
    J[(0, 1)].abs().max(J[(0, 2)].abs()).max(J[(1, 2)].abs()) > TURNED * J.trace()
}

/// The principal moments and axes of a body.
fn principal(body: &Body) -> Principal {
    if !is_turned(body) {
        return Principal { moments: body.J_bar.diagonal(), axes: Matrix3::identity(), turned: false };
    }
    let eigen = body.J_bar.symmetric_eigen();
    let mut order = [0, 1, 2];
    order.sort_by(|a, b| eigen.eigenvalues[*a].total_cmp(&eigen.eigenvalues[*b]));
    // The largest component of each axis is positive, except where the third one follows from the others.
    let axis = |k: usize| {
        let e = eigen.eigenvectors.column(order[k]).into_owned();
        e * e[e.iamax()].signum()
    };
    let [x, y] = [axis(0), axis(1)];
    Principal {
        moments: Vector3::from_fn(|k, _| eigen.eigenvalues[order[k]].max(0.0)),
        axes: Matrix3::from_columns(&[x, y, x.cross(&y)]),
        turned: true,
    }
}

/// A sentence on the mass properties of a body.
pub fn sentence(body: &Body) -> String {
    let triple = |v: &Vector3<f64>| {
        // Components that are zero up to rounding, relative to the others.
        let shown = |x: f64| number(if x.abs() < 1e-9 * v.amax() { 0.0 } else { x });
        format!("({}, {}, {})", shown(v.x), shown(v.y), shown(v.z))
    };
    let head = format!("`{}`: {} kg, centre of mass at {} m in its frame", body.name, number(body.mass), triple(&body.com));
    if body.J_bar.amax() == 0.0 {
        return format!("{head}; a point mass");
    }
    let p = principal(body);
    let [a, b, c] = [0, 1, 2].map(|k| number(p.moments[k]));
    if !p.turned {
        return format!("{head}; principal moments {a}, {b}, {c} kg m^2 about its axes x, y, z");
    }
    let [x, y, z] = [0, 1, 2].map(|k| triple(&p.axes.column(k).into_owned()));
    format!("{head}; principal moments {a}, {b}, {c} kg m^2 about the axes {x}, {y}, {z}")
}

/// The mass properties of all moving bodies, for programs.
pub fn fields(model: &Model) -> Value {
    let three = |v: Vector3<f64>| [v.x, v.y, v.z];
    let one = |b: &Body| {
        let p = principal(b);
        let axes: Vec<[f64; 3]> = (0..3).map(|k| three(p.axes.column(k).into_owned())).collect();
        json!({"body": b.name, "mass": b.mass, "com": three(b.com), "principal_moments": three(p.moments), "principal_axes": axes})
    };
    model.bodies.iter().skip(1).map(one).collect()
}
