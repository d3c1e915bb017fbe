//! Mass and inertia of solids of uniform density: the shapes of robot files, and closed meshes.
#![allow(non_snake_case)]

use crate::mesh::Mesh;
use nalgebra::{Matrix3, Vector3};
use std::collections::HashMap;
use std::f64::consts::PI;

/// Mass, centre of mass and inertia about the centre of mass, in the axes of a link.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Body {
    /// kg.
    pub mass: f64,
    /// Centre of mass.
    pub com: Vector3<f64>,
    /// Inertia tensor about the centre of mass.
    pub J: Matrix3<f64>,
}

impl Body {
    pub const NONE: Self =
        Self { mass: 0.0, com: Vector3::new(0.0, 0.0, 0.0), J: Matrix3::new(0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0) };

    /// The two bodies combined.
    pub fn with(&self, other: &Body) -> Self {
        let mass = self.mass + other.mass;
        if mass <= 0.0 {
            return Self { mass: 0.0, com: self.com, J: self.J + other.J };
        }
        // A body without mass does not change the centre at all.
        let com = match (self.mass == 0.0, other.mass == 0.0) {
            (_, true) => self.com,
            (true, _) => other.com,
            _ => (self.com * self.mass + other.com * other.mass) / mass,
        };
        let shifted = |b: &Body| {
            let d = b.com - com;
            b.J + (Matrix3::identity() * d.norm_squared() - d * d.transpose()) * b.mass
        };
        Self { mass, com, J: shifted(self) + shifted(other) }
    }
}

/// A solid centred at the origin; cylinders and capsules are along z.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Solid {
    /// Half lengths of the edges.
    Box(Vector3<f64>),
    /// Half axes.
    Ellipsoid(Vector3<f64>),
    /// Radius and half length.
    Cylinder(f64, f64),
    /// Radius and half length of the cylinder between the two half balls.
    Capsule(f64, f64),
}

impl Solid {
    /// Volume, m^3.
    pub fn volume(&self) -> f64 {
        match self {
            Self::Box(h) => 8.0 * h.x * h.y * h.z,
            Self::Ellipsoid(a) => 4.0 / 3.0 * PI * a.x * a.y * a.z,
            Self::Cylinder(r, h) => 2.0 * PI * r * r * h,
            Self::Capsule(r, h) => 2.0 * PI * r * r * h + 4.0 / 3.0 * PI * r.powi(3),
        }
    }

    /// The solid with a given mass, about its centre.
    pub fn body(&self, mass: f64) -> Body {
        let diagonal = |x: f64, y: f64, z: f64| Matrix3::from_diagonal(&Vector3::new(x, y, z));
        let J = match self {
            Self::Box(h) => {
                let s = h.component_mul(h) * (mass / 3.0);
                diagonal(s.y + s.z, s.x + s.z, s.x + s.y)
            }
            Self::Ellipsoid(a) => {
                let s = a.component_mul(a) * (mass / 5.0);
                diagonal(s.y + s.z, s.x + s.z, s.x + s.y)
            }
            Self::Cylinder(r, h) => {
                let across = mass * (3.0 * r * r + 4.0 * h * h) / 12.0;
                diagonal(across, across, 0.5 * mass * r * r)
            }
            Self::Capsule(r, h) => {
                let balls = mass * (4.0 / 3.0 * PI * r.powi(3)) / self.volume();
                let middle = mass - balls;
                let along = 0.5 * middle * r * r + 0.4 * balls * r * r;
                // The centre of a half ball is 3/8 of the radius from its plane.
                let across = middle * (3.0 * r * r + 4.0 * h * h) / 12.0 + balls * (0.4 * r * r + h * h + 0.75 * h * r);
                diagonal(across, across, along)
            }
        };
        Body { mass, com: Vector3::zeros(), J }
    }
}

/// Why the inertia of a mesh cannot be computed.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Leak {
    /// Edges that do not belong to two triangles in opposite directions.
    Open(usize),
    /// Its volume is not positive.
    Empty(f64),
}

impl std::fmt::Display for Leak {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Open(n) => write!(f, "it is not closed, {n} edges do not join two triangles that go round them in opposite directions"),
            Self::Empty(_) => f.write_str("it encloses no volume, or its triangles face inwards"),
        }
    }
}

/// Volume, centre and inertia of the solid bounded by a closed mesh, by the divergence theorem, for the density 1 kg/m^3.
///
/// Vertices are multiplied by `scale`, component by component; a mirroring scale reverses the orientation of the triangles.
pub(crate) fn of_mesh(mesh: &Mesh, scale: &Vector3<f64>) -> Result<Body, Leak> {
    let open = open_edges(mesh);
    if open > 0 {
        return Err(Leak::Open(open));
    }
    let vertex = |k: u32| Vector3::from(mesh.vertices[k as usize]).component_mul(scale);
    let side = if scale.product() < 0.0 { -1.0 } else { 1.0 };
    // Sums over tetrahedra from a vertex of the mesh, which keeps rounding small for solids far from the origin.
    let origin = mesh.triangles.first().map_or(Vector3::zeros(), |t| vertex(t[0]));
    let (mut volume, mut first, mut second) = (0.0f64, Vector3::zeros(), Matrix3::zeros());
    for t in &mesh.triangles {
        let [a, b, c] = t.map(|k| vertex(k) - origin);
        let six = side * a.dot(&b.cross(&c));
        volume += six / 6.0;
        let s = a + b + c;
        first += s * (six / 24.0);
        // Integral of x x^T over a tetrahedron with one corner at the origin.
        second += (a * a.transpose() + b * b.transpose() + c * c.transpose() + s * s.transpose()) * (six / 120.0);
    }
    if !(volume > 0.0 && volume.is_finite()) {
        return Err(Leak::Empty(volume));
    }
    let com = first / volume;
    let about = second - com * com.transpose() * volume;
    let J = Matrix3::identity() * about.trace() - about;
    Ok(Body { mass: volume, com: com + origin, J })
}

/// Edges with different numbers of triangles in the two directions. Coincident vertices count as one; they are compared in single
/// precision, so that parts placed edge to edge by nodes of a file count as joined.
fn open_edges(mesh: &Mesh) -> usize {
    let mut places: HashMap<[u32; 3], u32> = HashMap::with_capacity(mesh.vertices.len());
    let same: Vec<u32> = mesh
        .vertices
        .iter()
        .map(|v| {
            let next = places.len() as u32;
            *places.entry(v.map(|x| (x as f32 + 0.0).to_bits())).or_insert(next)
        })
        .collect();
    let mut edges: HashMap<[u32; 2], i32> = HashMap::with_capacity(3 * mesh.triangles.len());
    for t in &mesh.triangles {
        let t = t.map(|k| same[k as usize]);
        for [a, b] in [[t[0], t[1]], [t[1], t[2]], [t[2], t[0]]].into_iter().filter(|[a, b]| a != b) {
            *edges.entry([a.min(b), a.max(b)]).or_default() += if a < b { 1 } else { -1 };
        }
    }
    edges.values().filter(|n| **n != 0).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cube(from: [f64; 3], size: [f64; 3]) -> Mesh {
        let corner = |k: usize| [0, 1, 2].map(|i| from[i] + if k >> i & 1 == 1 { size[i] } else { 0.0 });
        let quads = [[0, 2, 3, 1], [4, 5, 7, 6], [0, 1, 5, 4], [2, 6, 7, 3], [0, 4, 6, 2], [1, 3, 7, 5]];
        let triangles = quads.iter().flat_map(|q| [[q[0], q[1], q[2]], [q[0], q[2], q[3]]]).collect();
        Mesh { vertices: (0..8).map(corner).collect(), triangles }
    }

    #[test]
    fn a_cube_of_triangles_weighs_what_a_box_weighs() {
        let mesh = cube([1.0, -2.0, 3.0], [2.0, 4.0, 6.0]);
        for scale in [Vector3::new(1.0, 1.0, 1.0), Vector3::new(0.5, -2.0, 0.1)] {
            let body = of_mesh(&mesh, &scale).expect("closed");
            let half = Vector3::new(1.0, 2.0, 3.0).component_mul(&scale.abs());
            let solid = Solid::Box(half);
            let exact = solid.body(solid.volume());
            assert!((body.mass - exact.mass).abs() < 1e-13 * exact.mass);
            assert!((body.com - Vector3::new(2.0, 0.0, 6.0).component_mul(&scale)).norm() < 1e-12);
            assert!((body.J - exact.J).amax() < 1e-11 * exact.J.amax(), "{} {}", body.J, exact.J);
        }
    }

    #[test]
    fn a_mesh_with_a_hole_or_turned_inside_out_is_refused() {
        let mut mesh = cube([0.0; 3], [1.0; 3]);
        mesh.triangles.pop();
        assert_eq!(of_mesh(&mesh, &Vector3::repeat(1.0)), Err(Leak::Open(3)));
        let mut mesh = cube([0.0; 3], [1.0; 3]);
        mesh.triangles.iter_mut().for_each(|t| t.swap(0, 1));
        assert!(matches!(of_mesh(&mesh, &Vector3::repeat(1.0)), Err(Leak::Empty(v)) if v < 0.0));
    }

    #[test]
    fn a_capsule_is_a_cylinder_with_two_half_balls() {
        // Slices along z give the second moments independently of the formulas of cylinder and ball.
        let (r, h) = (0.3, 0.7);
        let n = 200_000;
        let (mut m, mut zz, mut rr) = (0.0, 0.0, 0.0);
        for k in 0..n {
            let z = -(h + r) + 2.0 * (h + r) * (f64::from(k) + 0.5) / f64::from(n);
            let beyond = (z.abs() - h).max(0.0);
            let area = PI * (r * r - beyond * beyond);
            m += area;
            zz += area * z * z;
            rr += area * (r * r - beyond * beyond) / 4.0;
        }
        let b = Solid::Capsule(r, h).body(1.0);
        assert!((b.J[(0, 0)] - (zz + rr) / m).abs() < 1e-8, "{} {}", b.J[(0, 0)], (zz + rr) / m);
        assert!((b.J[(2, 2)] - 2.0 * rr / m).abs() < 1e-8);
        let step = 2.0 * (h + r) / f64::from(n);
        assert!((Solid::Capsule(r, h).volume() - m * step).abs() < 1e-8);
    }
}
