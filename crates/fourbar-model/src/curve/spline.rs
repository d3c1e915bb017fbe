//! Cubic splines through points of a plane, parametrised by chord length, with two continuous derivatives.

use fourbar_math::Scalar;
use nalgebra::Vector2;

type P = Vector2<f64>;

/// A cubic `a + b x + c x^2 + d x^3` of a parameter that starts at zero.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Span {
    pub a: [P; 4],
    /// End of the parameter; infinite for the straight lines beyond the ends of an open curve, negative at the first end.
    pub end: f64,
}

impl Span {
    /// Position, first, second derivative with respect to the parameter.
    #[inline]
    pub fn at<S: Scalar>(&self, x: S) -> [Vector2<S>; 3] {
        let k = |n: usize, f: f64| Vector2::new(S::of(f * self.a[n].x), S::of(f * self.a[n].y));
        [
            ((k(3, 1.0) * x + k(2, 1.0)) * x + k(1, 1.0)) * x + k(0, 1.0),
            (k(3, 3.0) * x + k(2, 2.0)) * x + k(1, 1.0),
            k(3, 6.0) * x + k(2, 2.0),
        ]
    }

    /// Third derivative with respect to the parameter.
    pub fn third(&self) -> P {
        self.a[3] * 6.0
    }

    /// Control points of the part between two parameters: it lies inside their hull.
    pub fn hull(&self, x0: f64, x1: f64) -> [P; 4] {
        let (h, [p, v, _], [q, w, _]) = ((x1 - x0) / 3.0, self.at(x0), self.at(x1));
        [p, p + v * h, q - w * h, q]
    }
}

/// Spans through the points; a closed curve ends at its first point.
pub(super) fn through(points: &[P], closed: bool) -> Vec<Span> {
    let n = points.len();
    let spans = if closed { n } else { n - 1 };
    let next = |k: usize| (k + 1) % n;
    let h: Vec<f64> = (0..spans).map(|k| (points[next(k)] - points[k]).norm()).collect();
    let slope = |k: usize| (points[next(k)] - points[k]) / h[k];
    let m = if closed { periodic(&h, slope) } else { open(&h, slope) };
    (0..spans)
        .map(|k| {
            let (m0, m1) = (m[k], m[next(k)]);
            let b = slope(k) - (m0 * 2.0 + m1) * (h[k] / 6.0);
            Span { a: [points[k], b, m0 * 0.5, (m1 - m0) / (6.0 * h[k])], end: h[k] }
        })
        .collect()
}

/// Second derivatives at the points of a closed curve: the cyclic tridiagonal system by one correction of rank one.
fn periodic(h: &[f64], slope: impl Fn(usize) -> P) -> Vec<P> {
    let n = h.len();
    let before = |k: usize| (k + n - 1) % n;
    let lower: Vec<f64> = (0..n).map(|k| h[before(k)]).collect();
    let upper: Vec<f64> = h.to_vec();
    let mut diagonal: Vec<f64> = (0..n).map(|k| 2.0 * (lower[k] + upper[k])).collect();
    let right: Vec<P> = (0..n).map(|k| (slope(k) - slope(before(k))) * 6.0).collect();
    // The corners lower[0] and upper[n - 1] as gamma e0 + upper e(n-1) times its transpose.
    let gamma = -diagonal[0];
    let (corner_up, corner_low) = (lower[0], upper[n - 1]);
    diagonal[0] -= gamma;
    diagonal[n - 1] -= corner_up * corner_low / gamma;
    let mut u = vec![P::zeros(); n];
    u[0].x = gamma;
    u[n - 1].x = corner_low;
    let x = tridiagonal(&lower, &diagonal, &upper, right);
    let z = tridiagonal(&lower, &diagonal, &upper, u);
    let factor = (x[0] + x[n - 1] * (corner_up / gamma)) / (1.0 + z[0].x + z[n - 1].x * (corner_up / gamma));
    x.iter().zip(&z).map(|(x, z)| x - factor * z.x).collect()
}

/// Second derivatives at the points of an open curve; the first two and the last two spans are one cubic each, three points a parabola.
fn open(h: &[f64], slope: impl Fn(usize) -> P) -> Vec<P> {
    let spans = h.len();
    if spans == 1 {
        return vec![P::zeros(); 2];
    }
    let right = |k: usize| (slope(k) - slope(k - 1)) * 6.0;
    if spans == 2 {
        return vec![right(1) / (3.0 * (h[0] + h[1])); 3];
    }
    let inner = spans - 1;
    let (mut lower, mut diagonal, mut upper, mut r) = (vec![0.0; inner], vec![0.0; inner], vec![0.0; inner], Vec::with_capacity(inner));
    for k in 1..spans {
        (lower[k - 1], diagonal[k - 1], upper[k - 1]) = (h[k - 1], 2.0 * (h[k - 1] + h[k]), h[k]);
        r.push(right(k));
    }
    let (first, last) = (h[0] / h[1], h[spans - 1] / h[spans - 2]);
    diagonal[0] += h[0] * (1.0 + first);
    upper[0] -= h[0] * first;
    diagonal[inner - 1] += h[spans - 1] * (1.0 + last);
    lower[inner - 1] -= h[spans - 1] * last;
    let x = tridiagonal(&lower, &diagonal, &upper, r);
    let mut m = Vec::with_capacity(spans + 1);
    m.push(x[0] * (1.0 + first) - x[1] * first);
    m.extend(&x);
    m.push(x[inner - 1] * (1.0 + last) - x[inner - 2] * last);
    m
}

/// A tridiagonal system with a dominant diagonal; the first of `lower` and the last of `upper` are not read.
fn tridiagonal(lower: &[f64], diagonal: &[f64], upper: &[f64], mut r: Vec<P>) -> Vec<P> {
    let n = r.len();
    let mut up = vec![0.0; n];
    let mut d = diagonal[0];
    r[0] /= d;
    for k in 1..n {
        up[k - 1] = upper[k - 1] / d;
        d = diagonal[k] - lower[k] * up[k - 1];
        r[k] = (r[k] - r[k - 1] * lower[k]) / d;
    }
    for k in (0..n - 1).rev() {
        let next = r[k + 1];
        r[k] -= next * up[k];
    }
    r
}
