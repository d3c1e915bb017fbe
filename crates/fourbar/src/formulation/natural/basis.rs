//! The axes of a part from two of its points and vectors: known ones first, new ones where they are missing
//! [Pryce20, Eqs. (5)-(11)].

use super::builder::{Builder, Listed, W, snapped};
use super::rows::Class;
use fourbar_dae::Node;
use fourbar_math::Scalar;
use nalgebra::{Matrix3, Vector3};

type V = Vector3<f64>;

/// Axes of a group in the working frame: directions are combinations of `e` with the coefficients of `T^T`.
#[derive(Clone, Debug)]
pub(super) struct Axes {
    /// One to three directions; a thin rod has one.
    pub e: Vec<W>,
    /// Their local counterparts as columns, orthonormal.
    pub T: Matrix3<f64>,
}

impl Axes {
    /// The direction of a local vector. Coefficients that equal 0 or 1 up to rounding errors are made exact, so that they vanish from the
    /// equations.
    pub fn direction(&self, local: &V) -> W {
        let k = self.T.tr_mul(local);
        let size = local.norm();
        let mut out = W::zeros();
        for (e, k) in self.e.iter().zip(k.iter()) {
            let k = if k.abs() < 4e-15 * size {
                0.0
            } else if (k.abs() - 1.0).abs() < 4e-15 {
                k.signum()
            } else {
                *k
            };
            out += e * Node::of(k);
        }
        out
    }
}

/// A direction of a basis.
pub(super) struct Direction {
    local: V,
    value: W,
    /// Items that define it: a vector, or a point and the origin; `None` for a fresh vector.
    items: Option<Vec<usize>>,
    point: bool,
}

impl Builder<'_> {
    /// Number of directions that fix a part: two, one for a thin rod, none for a particle.
    pub fn rank_needed(&self, b: usize) -> usize {
        let part = &self.layout.parts[b];
        let alone = self.layout.parts_of[part.group].len() == 1;
        let L2 = self.model.length.powi(2);
        if !alone || part.mass <= 0.0 || self.reads_axes[b] {
            return 2;
        }
        let e = nalgebra::SymmetricEigen::new(part.pseudo);
        let top = e.eigenvalues.imax();
        let rest = (0..3).filter(|&k| k != top).map(|k| e.eigenvalues[k].abs()).fold(0.0, f64::max);
        let axis: V = e.eigenvectors.column(top).into();
        let points: Vec<V> = self.points_of(b).into_iter().map(|(_, loc)| loc).chain(self.attacked[b].iter().copied()).collect();
        let off = |loc: &V| (loc - part.com).cross(&axis).norm();
        let near = 1e-9 * self.model.length;
        if rest > 1e-12 * part.mass * L2 {
            return 2;
        }
        if e.eigenvalues[top] <= 1e-12 * part.mass * L2 {
            return if points.iter().all(|loc| (loc - part.com).norm() < near) { 0 } else { 2 };
        }
        let slides = !self.layout.slides_on[b].is_empty();
        if slides || !self.vectors_of(part.group).is_empty() {
            2
        } else if points.iter().all(|loc| off(loc) < near) {
            1
        } else {
            2
        }
    }

    /// Chooses two directions, brings in missing ones, and writes the rigidity equations of the basis.
    pub fn set_axes(&mut self, b: usize, listed: &mut Listed) {
        let g = self.layout.parts[b].group;
        let Some((origin, o_loc)) = self.origin[b] else { return };
        let rank = self.rank_needed(b);
        let origin_item = self.points_of(b).into_iter().find(|(k, loc)| self.items[*k] == Some(origin) && (loc - o_loc).norm() == 0.0);
        let origin_item = origin_item.map(|(k, _)| k);
        let mut basis: Vec<Direction> = Vec::new();
        while basis.len() < rank {
            let next = match self.known_direction(b, &basis, origin, &o_loc, origin_item) {
                Some(d) => d,
                None => self.new_direction(b, &basis, origin, &o_loc, origin_item, listed),
            };
            self.rigidity(b, &basis, &next, listed);
            basis.push(next);
        }
        self.axes[g] = Some(orthonormal(&basis));
        self.basis[g] = basis.into_iter().map(|d| d.items).collect();
        self.basis_part[g] = Some(b);
    }

    pub fn known_direction(&self, b: usize, basis: &[Direction], origin: W, o_loc: &V, o_item: Option<usize>) -> Option<Direction> {
        let g = self.layout.parts[b].group;
        let vectors = self.vectors_of(g).into_iter().filter_map(|(k, loc)| Some((loc, self.items[k]?, vec![k], false)));
        let points = self.points_of(b).into_iter().filter(|(k, _)| Some(*k) != o_item).filter_map(|(k, loc)| {
            let items = o_item.into_iter().chain([k]).collect();
            Some((loc - o_loc, self.items[k]? - origin, items, true))
        });
        let mut best: Option<(f64, Direction)> = None;
        for (local, value, items, point) in vectors.chain(points) {
            // A short arm would amplify errors.
            if point && local.norm() < 1e-3 * self.model.length {
                continue;
            }
            let sine = sine_to(&local, basis);
            // Constants first, then vectors, since they shorten the equations.
            let constant = value.iter().all(|x| x.constant().is_some());
            let score = sine
                * if constant {
                    1.3
                } else if point {
                    1.0
                } else {
                    1.1
                };
            if sine > 0.05 && best.as_ref().is_none_or(|(s, _)| score > *s) {
                best = Some((score, Direction { local, value, items: Some(items), point }));
            }
        }
        best.map(|(_, d)| d)
    }

    pub fn new_direction(
        &mut self,
        b: usize,
        basis: &[Direction],
        origin: W,
        o_loc: &V,
        o_item: Option<usize>,
        listed: &mut Listed,
    ) -> Direction {
        let g = self.layout.parts[b].group;
        let waiting = |places: &[(usize, V)], point: bool| {
            let unfinished = |p: usize| !self.done[p] && p != b;
            let waits = |p: usize| if point { unfinished(p) } else { p != g && self.layout.parts_of[p].iter().any(|&q| unfinished(q)) };
            places.iter().filter(|(p, _)| waits(*p)).count()
        };
        let vectors = self.vectors_of(g).into_iter().map(|(k, loc)| (k, loc, false));
        let points = self.points_of(b).into_iter().map(|(k, loc)| (k, loc - o_loc, true));
        let least = 1e-3 * self.model.length;
        let listed_in_file = self.file_items(b).into_iter().find_map(|(k, loc, point)| {
            let local = if point { loc - o_loc } else { loc };
            let fits = self.items[k].is_none() && (!point || local.norm() > least) && sine_to(&local, basis) > 0.05;
            fits.then_some(((0, !point, std::cmp::Reverse(k)), local))
        });
        let chosen = vectors
            .chain(points)
            .filter(|(k, local, point)| self.items[*k].is_none() && (!point || local.norm() > least) && sine_to(local, basis) > 0.3)
            .map(|(k, local, point)| ((waiting(&self.layout.items[k].on, point), !point, std::cmp::Reverse(k)), local))
            .max_by_key(|(key, _)| *key);
        let chosen = listed_in_file.or(chosen);
        if let Some(((_, vector, std::cmp::Reverse(k)), local)) = chosen {
            let name = self.layout.items[k].name.clone();
            if vector {
                let (x, v) = self.start_direction(g, &local);
                let w = self.vector(&name, &x, &v, 1.0, listed);
                self.equate(format!("{name} is a unit vector"), w.dot(&w) - Node::of(1.0), Class::Rigid, listed);
                self.items[k] = Some(w);
                return Direction { local, value: w, items: Some(vec![k]), point: false };
            }
            let (x, v) = self.start_point(b, &(local + o_loc));
            let w = self.vector(&name, &x, &v, self.model.length, listed);
            self.items[k] = Some(w);
            let items = o_item.into_iter().chain([k]).collect();
            return Direction { local, value: w - origin, items: Some(items), point: true };
        }
        let local = fresh_normal(basis, &(self.layout.parts[b].com - o_loc));
        let (x, v) = self.start_direction(g, &local);
        let name = format!("{}.{}", self.name_of(b), ["a", "b"][basis.len().min(1)]);
        let w = self.vector(&name, &x, &v, 1.0, listed);
        self.equate(format!("{name} is a unit vector"), w.dot(&w) - Node::of(1.0), Class::Rigid, listed);
        Direction { local, value: w, items: None, point: false }
    }

    /// Equations for the length of a new basis direction and its angles to the others, where these are not implied already.
    pub fn rigidity(&mut self, b: usize, basis: &[Direction], next: &Direction, listed: &mut Listed) {
        let part = self.name_of(b);
        let implied = |s: &Self, items: &[usize], hinge: Option<usize>| match items {
            [p, q] if s.layout.items[*p].point && s.layout.items[*q].point => {
                let key = |h| (*p.min(q), *p.max(q), h);
                match hinge {
                    Some(h) => s.implied.contains(&key(h)),
                    None => s.implied.iter().any(|(a, b, _)| (*a, *b) == (*p.min(q), *p.max(q))),
                }
            }
            _ => false,
        };
        if next.point {
            let items = next.items.clone().unwrap_or_default();
            let whole = items.len() == 2;
            if !(whole && (self.together(&items) || implied(self, &items, None))) {
                let value = next.value.dot(&next.value) - Node::of(next.local.norm_squared());
                self.equate(format!("{part} length {}", self.pair_name(&items)), value, Class::Rigid, listed);
            }
        }
        for other in basis {
            let value =
                next.value.dot(&other.value) - Node::of(snapped(next.local.dot(&other.local), next.local.norm() * other.local.norm()));
            if let (Some(a), Some(c)) = (&next.items, &other.items) {
                let both: Vec<usize> = a.iter().chain(c).copied().collect();
                let whole = (!next.point || a.len() == 2) && (!other.point || c.len() == 2);
                let hinge = |v: &[usize]| (v.len() == 1 && !self.layout.items[v[0]].point).then(|| v[0]);
                if whole
                    && (self.together(&both)
                        || implied(self, a, hinge(c).or(Some(usize::MAX)))
                        || implied(self, c, hinge(a).or(Some(usize::MAX))))
                {
                    continue;
                }
            }
            self.equate(format!("{part} angle"), value, Class::Rigid, listed);
        }
    }

    pub fn pair_name(&self, items: &[usize]) -> String {
        items.iter().map(|k| self.layout.items[*k].name.as_str()).collect::<Vec<_>>().join("-")
    }
}

/// Sine of the angle between a local vector and the span of the basis.
fn sine_to(local: &V, basis: &[Direction]) -> f64 {
    let size = local.norm();
    if size == 0.0 {
        return 0.0;
    }
    let mut rest = *local;
    let mut span: Vec<V> = Vec::new();
    for d in basis {
        let mut e = d.local;
        for s in &span {
            e -= s * s.dot(&e);
        }
        if let Some(e) = e.try_normalize(0.0) {
            rest -= e * e.dot(&rest);
            span.push(e);
        }
    }
    rest.norm() / size
}

/// A unit vector normal to the basis, in the direction of `wish` if possible.
fn fresh_normal(basis: &[Direction], wish: &V) -> V {
    let candidates = [*wish, V::x(), V::y(), V::z()];
    let best = candidates.iter().find(|c| c.norm() > 0.0 && sine_to(c, basis) > 0.5).copied().unwrap_or_else(V::x);
    let mut d = best;
    let mut span: Vec<V> = Vec::new();
    for b in basis {
        let mut e = b.local;
        span.iter().for_each(|s: &V| e -= s * s.dot(&e));
        if let Some(e) = e.try_normalize(0.0) {
            span.push(e);
        }
    }
    for _ in 0..2 {
        span.iter().for_each(|s| d -= s * s.dot(&d));
    }
    d.normalize()
}

/// Axes from a basis: `x = a/r11`, `y = (b - r12 x)/r22`, `z = x cross y` [Pryce20, Eqs. (5)-(11)].
fn orthonormal(basis: &[Direction]) -> Axes {
    let mut T = Matrix3::identity();
    let mut e: Vec<W> = Vec::new();
    if let Some(a) = basis.first() {
        let r11 = a.local.norm();
        let x = a.local / r11;
        T.set_column(0, &x);
        // Unit vectors are used without scaling.
        e.push(if (r11 - 1.0).abs() < 4e-15 { a.value } else { a.value * Node::of(1.0 / r11) });
        if let Some(b) = basis.get(1) {
            let r12 = snapped(b.local.dot(&x), b.local.norm());
            let y = b.local - x * r12;
            let r22 = y.norm();
            let y = y / r22;
            T.set_column(1, &y);
            T.set_column(2, &x.cross(&y));
            let rest = b.value - e[0] * Node::of(r12);
            e.push(if (r22 - 1.0).abs() < 4e-15 { rest } else { rest * Node::of(1.0 / r22) });
            e.push(e[0].cross(&e[1]));
        }
    }
    Axes { e, T }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn turned(local: V, point: bool) -> (Direction, Matrix3<f64>) {
        let Q = fourbar_math::so3::exp(&V::new(0.3, -0.7, 1.1));
        let value = (Q * local).map(Node::of);
        (Direction { local, value, items: None, point }, Q)
    }

    fn axes_are_right(a: V, b: V) {
        let ((first, Q), (second, _)) = (turned(a, true), turned(b, false));
        let axes = orthonormal(&[first, second]);
        for local in [V::x(), V::y(), V::z(), V::new(0.2, -1.0, 3.0)] {
            let d = axes.direction(&local).map(Scalar::value) - Q * local;
            assert!(d.norm() < 1e-14, "{local}: {d}");
        }
    }

    /// [Pryce20, Example 1]: OA of length 3 and OB of length 2 sqrt(2) at 45 degrees, so r11 = 3, r12 = r22 = 2; any signs of the
    /// coordinates of B, and either direction of A, describe frames.
    #[test]
    fn frames_from_two_points_follow_the_body() {
        for (x, y, a) in [(2.0, 2.0, 3.0), (-2.0, 2.0, 3.0), (2.0, -2.0, -3.0)] {
            axes_are_right(V::new(a, 0.0, 0.0), V::new(x, y, 0.0));
        }
    }

    /// [Pryce20, Example 2]: a 30-60-90 triangle with AB of length 2 and a vector along AC that is not of unit length:
    /// x = (B - A)/2, y = c - sqrt(3) (B - A)/2.
    #[test]
    fn frames_from_a_point_and_a_vector_follow_the_body() {
        axes_are_right(V::new(2.0, 0.0, 0.0), V::new(3f64.sqrt(), 1.0, 0.0));
        let ((ab, _), (c, _)) = (turned(V::new(2.0, 0.0, 0.0), true), turned(V::new(3f64.sqrt(), 1.0, 0.0), false));
        let expected = c.value - ab.value * Node::of(3f64.sqrt() / 2.0);
        let axes = orthonormal(&[ab, c]);
        assert!((axes.e[1].map(Scalar::value) - expected.map(Scalar::value)).norm() < 1e-14);
    }
}
