//! Shapes as triangles with normals.

use fourbar::spec::Shape;
use nalgebra::Vector3;
use std::f64::consts::{PI, TAU};

type V = Vector3<f64>;

/// Corners of a circle, and rings of a ball from pole to pole.
const ROUND: usize = 24;
const RINGS: usize = 12;

/// Triangles.
#[derive(Clone, Debug, Default)]
pub(super) struct Solid {
    pub places: Vec<[f32; 3]>,
    pub normals: Vec<[f32; 3]>,
    pub triangles: Vec<[u32; 3]>,
}

fn single(v: &V) -> [f32; 3] {
    [v.x as f32, v.y as f32, v.z as f32]
}

/// Two directions perpendicular to an axis of unit length.
fn across(axis: &V) -> [V; 2] {
    let u = axis.cross(&if axis.x.abs() < 0.9 { V::x() } else { V::y() }).normalize();
    [u, axis.cross(&u)]
}

impl Solid {
    fn corner(&mut self, place: &V, normal: &V) -> u32 {
        self.places.push(single(place));
        self.normals.push(single(normal));
        self.places.len() as u32 - 1
    }

    /// A flat face with its corners in order.
    pub fn flat(&mut self, corners: &[V]) {
        let [a, b, c, ..] = corners else { return };
        let Some(normal) = (b - a).cross(&(c - a)).try_normalize(0.0) else { return };
        let first: Vec<u32> = corners.iter().map(|p| self.corner(p, &normal)).collect();
        self.triangles.extend((2..first.len()).map(|k| [first[0], first[k - 1], first[k]]));
    }

    pub fn move_by(&mut self, d: &V) {
        let d = single(d);
        self.places.iter_mut().for_each(|p| (0..3).for_each(|k| p[k] += d[k]));
    }

    /// A shape other than a mesh.
    pub fn shape(&mut self, shape: &Shape) {
        match shape {
            Shape::Box { size, at } => {
                let corner = |i: usize| {
                    let side = |bit: usize| if i >> bit & 1 == 1 { 0.5 } else { -0.5 };
                    V::from(*at) + V::new(side(0) * size[0], side(1) * size[1], side(2) * size[2])
                };
                for face in [[0, 2, 3, 1], [4, 5, 7, 6], [0, 1, 5, 4], [2, 6, 7, 3], [0, 4, 6, 2], [1, 3, 7, 5]] {
                    self.flat(&face.map(corner));
                }
            }
            Shape::Sphere { at, radius } => self.ball(&V::from(*at), *radius),
            Shape::Cylinder { from, to, radius } => self.tube(&V::from(*from), &V::from(*to), *radius, true),
            Shape::Rod { from, to, radius } => {
                let (a, b) = (V::from(*from), V::from(*to));
                self.tube(&a, &b, *radius, false);
                self.ball(&a, *radius);
                self.ball(&b, *radius);
            }
            Shape::Plate { points, thickness } => self.plate(&points.iter().map(|p| V::from(*p)).collect::<Vec<_>>(), *thickness),
            Shape::Mesh { .. } => {}
        }
    }

    fn tube(&mut self, a: &V, b: &V, radius: f64, closed: bool) {
        let Some(axis) = (b - a).try_normalize(0.0) else { return };
        let [u, v] = across(&axis);
        let ring = |k: usize| {
            let angle = TAU * k as f64 / ROUND as f64;
            u * angle.cos() + v * angle.sin()
        };
        for k in 0..ROUND {
            let [n, m] = [ring(k), ring(k + 1)];
            let corners = [(a, n), (a, m), (b, m), (b, n)].map(|(end, n)| self.corner(&(end + n * radius), &n));
            self.triangles.extend([[corners[0], corners[1], corners[2]], [corners[0], corners[2], corners[3]]]);
        }
        if closed {
            for (end, back) in [(a, true), (b, false)] {
                let mut face: Vec<V> = (0..ROUND).map(|k| end + ring(k) * radius).collect();
                if back {
                    face.reverse();
                }
                self.flat(&face);
            }
        }
    }

    fn ball(&mut self, at: &V, radius: f64) {
        let first = self.places.len() as u32;
        for i in 0..=RINGS {
            let polar = PI * i as f64 / RINGS as f64;
            for k in 0..=ROUND {
                let angle = TAU * k as f64 / ROUND as f64;
                let n = V::new(polar.sin() * angle.cos(), polar.sin() * angle.sin(), polar.cos());
                self.corner(&(at + n * radius), &n);
            }
        }
        let row = ROUND as u32 + 1;
        for i in 0..RINGS as u32 {
            for k in 0..ROUND as u32 {
                let at = first + i * row + k;
                self.triangles.extend([[at, at + row, at + row + 1], [at, at + row + 1, at + 1]]);
            }
        }
    }

    /// A polygon with a thickness; it may be concave.
    fn plate(&mut self, points: &[V], thickness: f64) {
        let n = points.len();
        let sum: V = (0..n).map(|k| points[k].cross(&points[(k + 1) % n])).sum();
        let Some(normal) = sum.try_normalize(0.0).filter(|_| n >= 3) else { return };
        let half = normal * (0.5 * thickness);
        let [u, v] = across(&normal);
        let flat: Vec<[f64; 2]> = points.iter().map(|p| [u.dot(p), v.dot(p)]).collect();
        for [a, b, c] in ears(&flat) {
            self.flat(&[points[a] + half, points[b] + half, points[c] + half]);
            self.flat(&[points[c] - half, points[b] - half, points[a] - half]);
        }
        for k in 0..n {
            let (a, b) = (points[k], points[(k + 1) % n]);
            self.flat(&[a - half, b - half, b + half, a + half]);
        }
    }
}

/// Triangulates an anticlockwise polygon by cutting off ears.
fn ears(p: &[[f64; 2]]) -> Vec<[usize; 3]> {
    let mut left: Vec<usize> = (0..p.len()).collect();
    let mut out = Vec::new();
    let turn = |a: usize, b: usize, c: usize| (p[b][0] - p[a][0]) * (p[c][1] - p[a][1]) - (p[b][1] - p[a][1]) * (p[c][0] - p[a][0]);
    while left.len() > 3 {
        let n = left.len();
        let ear = (0..n).find(|&k| {
            let [a, b, c] = [left[(k + n - 1) % n], left[k], left[(k + 1) % n]];
            let inside = |q: usize| q != a && q != b && q != c && turn(a, b, q) >= 0.0 && turn(b, c, q) >= 0.0 && turn(c, a, q) >= 0.0;
            turn(a, b, c) > 0.0 && !left.iter().any(|q| inside(*q))
        });
        // A polygon that intersects itself may have no ear: any corner is cut off then.
        let k = ear.unwrap_or(0);
        out.push([left[(k + n - 1) % n], left[k], left[(k + 1) % n]]);
        left.remove(k);
    }
    if let [a, b, c] = left[..] {
        out.push([a, b, c]);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Volume by the divergence theorem: equals that of the shape for closed surfaces that face outwards.
    fn volume(s: &Solid) -> f64 {
        let v = |k: u32| V::from(s.places[k as usize].map(f64::from));
        s.triangles.iter().map(|t| v(t[0]).dot(&v(t[1]).cross(&v(t[2]))) / 6.0).sum()
    }

    fn of(shape: Shape) -> Solid {
        let mut s = Solid::default();
        s.shape(&shape);
        s
    }

    #[test]
    fn shapes_have_their_volume() {
        let cube = of(Shape::Box { size: [1.0, 2.0, 3.0], at: [0.3, 0.2, -0.1] });
        assert!((volume(&cube) - 6.0).abs() < 1e-5);
        let corners = 0.5 * ROUND as f64 * (TAU / ROUND as f64).sin();
        let tube = of(Shape::Cylinder { from: [0.1, 0.0, 0.0], to: [0.1, 2.0, 1.0], radius: 0.5 });
        assert!((volume(&tube) - corners * 0.25 * 5f64.sqrt()).abs() < 1e-5, "{}", volume(&tube));
        let ball = volume(&of(Shape::Sphere { at: [1.0, 2.0, 3.0], radius: 1.0 }));
        assert!(ball > 0.95 * 4.0 / 3.0 * PI && ball < 4.0 / 3.0 * PI, "{ball}");
        // An L of three unit squares, which has a concave corner.
        let points = [[0.0, 0.0], [2.0, 0.0], [2.0, 1.0], [1.0, 1.0], [1.0, 2.0], [0.0, 2.0]].map(|[x, y]| [x, y, 0.5]).to_vec();
        assert!((volume(&of(Shape::Plate { points: points.clone(), thickness: 0.2 })) - 0.6).abs() < 1e-6);
        let back = points.into_iter().rev().collect();
        assert!((volume(&of(Shape::Plate { points: back, thickness: 0.2 })) - 0.6).abs() < 1e-6, "either way round");
    }
}
