//! Dense LU factorisation with row exchanges, for any scalar.

use fourbar_math::Scalar;

/// A square matrix by rows, factored in place.
pub struct Lu<S: Scalar> {
    pub n: usize,
    pub a: Vec<S>,
    order: Vec<usize>,
    x: Vec<S>,
}

impl<S: Scalar> Lu<S> {
    pub fn new(n: usize) -> Self {
        Self { n, a: vec![S::zero(); n * n], order: (0..n).collect(), x: vec![S::zero(); n] }
    }

    pub fn clear(&mut self) {
        self.a.fill(S::zero());
    }

    pub fn at(&mut self, i: usize, j: usize) -> &mut S {
        &mut self.a[i * self.n + j]
    }

    /// Factors the matrix; false if a pivot vanishes.
    pub fn factor(&mut self) -> bool {
        let n = self.n;
        for (k, o) in self.order.iter_mut().enumerate() {
            *o = k;
        }
        for k in 0..n {
            let mut pivot = k;
            for i in k + 1..n {
                if self.a[i * n + k].value().abs() > self.a[pivot * n + k].value().abs() {
                    pivot = i;
                }
            }
            // NaN counts as zero.
            let size = self.a[pivot * n + k].value().abs();
            if size.is_nan() || size <= 1e-300 {
                return false;
            }
            if pivot != k {
                self.order.swap(pivot, k);
                let (upper, lower) = self.a.split_at_mut(pivot * n);
                upper[k * n..(k + 1) * n].swap_with_slice(&mut lower[..n]);
            }
            let (upper, lower) = self.a.split_at_mut((k + 1) * n);
            let head = &upper[k * n..];
            let inverse = S::one() / head[k];
            for row in lower.chunks_exact_mut(n) {
                let factor = row[k] * inverse;
                row[k] = factor;
                for (x, h) in row[k + 1..].iter_mut().zip(&head[k + 1..]) {
                    *x -= factor * *h;
                }
            }
        }
        true
    }

    /// Solves in place.
    pub fn solve(&mut self, b: &mut [S]) {
        let n = self.n;
        for (x, &o) in self.x.iter_mut().zip(&self.order) {
            *x = b[o];
        }
        for i in 1..n {
            let (done, rest) = self.x.split_at_mut(i);
            for (a, x) in self.a[i * n..i * n + i].iter().zip(done.iter()) {
                rest[0] -= *a * *x;
            }
        }
        for i in (0..n).rev() {
            let (rest, done) = self.x.split_at_mut(i + 1);
            for (a, x) in self.a[i * n + i + 1..(i + 1) * n].iter().zip(done.iter()) {
                rest[i] -= *a * *x;
            }
            rest[i] /= self.a[i * n + i];
        }
        b.copy_from_slice(&self.x);
    }
}
