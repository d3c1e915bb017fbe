//! Dense kernels of one front: elimination, forward and backward substitution, and the products that fill a front.
//!
//! A front has `e` bodies to eliminate and `b` remaining ones, each with `B` coordinates. Its matrix is stored column by column, lower half
//! only: the panel holds the columns to eliminate over all rows, `C` the remaining block. The sizes of chains, ladders and trees (one body
//! eliminated, up to two remaining) are compiled with fixed dimensions.

use super::sweep::both;

/// Pivots at or below this multiple of the accumulated diagonal are zero up to rounding.
const ZERO_PIVOT: f64 = 8.0 * f64::EPSILON;

/// Bodies of a wide front whose columns are eliminated together before the following columns are updated.
const PANEL: usize = 4;
/// Fronts whose elimination takes at least this many multiply-adds are divided among threads; they take about 0.2 ms.
const LARGE: usize = 500_000;
/// Minimum work of one thread in an update of columns, in multiply-adds.
pub const GRAIN: usize = 60_000;

/// Whether the elimination of a front of `e + b` bodies is divided among threads.
pub fn divides<const B: usize>(e: usize, b: usize) -> bool {
    e > PANEL && flops::<B>(e, b)[0] >= LARGE
}

/// The panels of a front that is divided: the multiply-adds in each that are sequential, and those that can be divided.
pub fn panels<const B: usize>(e: usize, b: usize) -> impl Iterator<Item = (usize, usize)> {
    let (E, N) = (B * e, B * (e + b));
    (0..E).step_by(PANEL * B).map(move |first| {
        let end = (first + PANEL * B).min(E);
        let own = (first..end).map(|j| (end - j) * (N - j)).sum();
        (own, (end..N).map(|i| (end - first) * (N - i)).sum())
    })
}

/// Multiply-adds of the elimination, and the part of them that remains sequential when it is divided among as many threads as can be used.
pub fn flops<const B: usize>(e: usize, b: usize) -> [usize; 2] {
    let (E, N) = (B * e, B * (e + b));
    let all = (0..E).map(|j| (N - j) * (N - j + 1) / 2).sum();
    let path = panels::<B>(e, b).map(|(own, rest)| own + rest.min(GRAIN)).sum::<usize>();
    [all, path.min(all)]
}

/// `K_ee = L L^T`, `W = L^-1 K_eb`, `K_bb - W^T W`, in place; the diagonal of L is stored inverted. `scale` holds for every body the sums
/// of what was added to the diagonals of its translations and rotations. The pivot of a direction without inertia or constraint row is pure
/// rounding: it is replaced by the threshold, without off-diagonal entries, so that the direction stays at rest. Wide fronts are divided
/// among threads if `parallel`; every number results from the same operations in the same order.
pub fn eliminate<const B: usize>(e: usize, b: usize, panel: &mut [f64], C: &mut [f64], scale: &[[f64; 2]], parallel: bool) {
    match (e, b) {
        (1, 0) => run::<B>(1, 0, panel, C, scale),
        (1, 1) => run::<B>(1, 1, panel, C, scale),
        (1, 2) => run::<B>(1, 2, panel, C, scale),
        _ => general::<B>(e, b, panel, C, scale, parallel),
    }
}

/// A front of any size, processed in groups of bodies.
#[inline(never)]
fn general<const B: usize>(e: usize, b: usize, panel: &mut [f64], C: &mut [f64], scale: &[[f64; 2]], parallel: bool) {
    let (N, m) = (B * (e + b), B * b);
    for first in (0..e).step_by(PANEL) {
        let end = (first + PANEL).min(e);
        for k in first..end {
            let (head, tail) = panel[k * B * N..].split_at_mut(B * N);
            pivot::<B>(k, N, head, scale);
            update::<B>(&[head], N, (k + 1) * B, 0, N, &mut tail[..(end - k - 1) * B * N], false);
        }
        let (done, rest) = panel.split_at_mut(end * B * N);
        let done = &done[first * B * N..];
        // A panel has at most this many bodies.
        let heads: [&[f64]; PANEL] = std::array::from_fn(|k| &done[(k * B * N).min(done.len())..((k + 1) * B * N).min(done.len())]);
        let heads = &heads[..end - first];
        let rest = &mut rest[..(e - end) * B * N];
        if m > 0 {
            both(
                parallel,
                || update::<B>(heads, N, end * B, 0, N, rest, parallel),
                || update::<B>(heads, N, e * B, e * B, m, &mut C[..m * m], parallel),
            );
        } else {
            update::<B>(heads, N, end * B, 0, N, rest, parallel);
        }
    }
}

/// Subtracts the contributions of eliminated bodies, whose columns are `heads`, from the columns from `first` on, which are stored from row
/// `above` on.
fn update<const B: usize>(heads: &[&[f64]], N: usize, first: usize, above: usize, width: usize, columns: &mut [f64], parallel: bool) {
    let count = columns.len() / width;
    if parallel && count > 1 && count * (N - first) * heads.len() * B > 2 * GRAIN {
        let (left, right) = columns.split_at_mut(count / 2 * width);
        both(
            true,
            || update::<B>(heads, N, first, above, width, left, true),
            || update::<B>(heads, N, first + count / 2, above, width, right, true),
        );
        return;
    }
    for (l, target) in columns.chunks_exact_mut(width).enumerate() {
        let i = first + l;
        for head in heads {
            let a: [f64; B] = std::array::from_fn(|j| head[j * N + i]);
            rank_update(&a, head, N, i, &mut target[i - above..]);
        }
    }
}

/// Divides the columns of body `k` by the square roots of their pivots, one after the other.
#[inline(always)]
fn pivot<const B: usize>(k: usize, N: usize, head: &mut [f64], scale: &[[f64; 2]]) {
    let limit = scale[k].map(|s| ZERO_PIVOT * s);
    for j in 0..B {
        let c = k * B + j;
        let (col, rest) = head[j * N..].split_at_mut(N);
        let threshold = limit[usize::from(j >= 3)];
        let d = col[c];
        if d > threshold {
            let inv = 1.0 / d.sqrt();
            for x in &mut col[c + 1..N] {
                *x *= inv;
            }
            col[c] = inv;
        } else {
            // NaN counts as zero too: it appears in the right-hand side.
            col[c] = if threshold > 0.0 { 1.0 / threshold.sqrt() } else { 0.0 };
            col[c + 1..N].fill(0.0);
        }
        for l in 0..B - 1 - j {
            let i = c + 1 + l;
            let a = col[i];
            let target = &mut rest[l * N..l * N + N];
            for r in i..N {
                target[r] -= a * col[r];
            }
        }
    }
}

#[inline(always)]
fn run<const B: usize>(e: usize, b: usize, panel: &mut [f64], C: &mut [f64], scale: &[[f64; 2]]) {
    let (N, m) = (B * (e + b), B * b);
    for k in 0..e {
        let (head, tail) = panel[k * B * N..].split_at_mut(B * N);
        pivot::<B>(k, N, head, scale);
        for (l, target) in tail[..(e - k - 1) * B * N].chunks_exact_mut(N).enumerate() {
            let i = (k + 1) * B + l;
            let a: [f64; B] = std::array::from_fn(|j| head[j * N + i]);
            rank_update(&a, head, N, i, &mut target[i..]);
        }
        if m > 0 {
            for (l, target) in C[..m * m].chunks_exact_mut(m).enumerate() {
                let i = e * B + l;
                let a: [f64; B] = std::array::from_fn(|j| head[j * N + i]);
                rank_update(&a, head, N, i, &mut target[l..]);
            }
        }
    }
}

/// `target -= sum_j a_j column_j`, rows from `i` on.
#[inline(always)]
fn rank_update<const B: usize>(a: &[f64; B], head: &[f64], N: usize, i: usize, target: &mut [f64]) {
    let n = target.len();
    let columns: [&[f64]; B] = std::array::from_fn(|j| &head[j * N + i..j * N + i + n]);
    for r in 0..n {
        let mut x = target[r];
        for j in 0..B {
            x -= a[j] * columns[j][r];
        }
        target[r] = x;
    }
}

/// `y = L^-1 f_e` and `f_b - W^T y`, in place.
#[inline]
pub fn forward<const B: usize>(e: usize, b: usize, panel: &[f64], f: &mut [f64]) {
    match (e, b) {
        (1, 1) => forward_run::<B>(1, 1, panel, f),
        (1, 2) => forward_run::<B>(1, 2, panel, f),
        _ => forward_run::<B>(e, b, panel, f),
    }
}

#[inline(always)]
fn forward_run<const B: usize>(e: usize, b: usize, panel: &[f64], f: &mut [f64]) {
    let N = B * (e + b);
    for k in 0..e {
        let head = &panel[k * B * N..(k + 1) * B * N];
        let (own, below) = f[k * B..N].split_at_mut(B);
        let mut y: [f64; B] = std::array::from_fn(|j| own[j]);
        for j in 0..B {
            let col = &head[j * N + k * B..j * N + k * B + B];
            y[j] *= col[j];
            for i in j + 1..B {
                y[i] -= y[j] * col[i];
            }
        }
        own.copy_from_slice(&y);
        rank_update(&y, head, N, (k + 1) * B, below);
    }
}

/// `x_e = L^-T (y - W x_b)`, in place.
#[inline]
pub fn backward<const B: usize>(e: usize, b: usize, panel: &[f64], f: &mut [f64]) {
    match (e, b) {
        (1, 1) => backward_run::<B>(1, 1, panel, f),
        (1, 2) => backward_run::<B>(1, 2, panel, f),
        _ => backward_run::<B>(e, b, panel, f),
    }
}

#[inline(always)]
fn backward_run<const B: usize>(e: usize, b: usize, panel: &[f64], f: &mut [f64]) {
    let N = B * (e + b);
    for k in (0..e).rev() {
        let head = &panel[k * B * N..(k + 1) * B * N];
        let (own, below) = f[k * B..N].split_at_mut(B);
        let columns: [&[f64]; B] = std::array::from_fn(|j| &head[j * N + (k + 1) * B..j * N + N]);
        // Sums over the rows below, for all columns at once: the chains of additions run in parallel.
        let mut t: [f64; B] = std::array::from_fn(|j| own[j]);
        for r in 0..N - (k + 1) * B {
            let x = below[r];
            for j in 0..B {
                t[j] -= columns[j][r] * x;
            }
        }
        for j in (0..B).rev() {
            let x = t[j] * head[j * N + k * B + j];
            t[j] = x;
            for i in 0..j {
                t[i] -= head[i * N + k * B + j] * x;
            }
        }
        own.copy_from_slice(&t);
    }
}

/// Destination of the blocks of a front: panel and remaining block with their sizes.
pub struct FrontMut<'a> {
    /// Bodies to eliminate.
    pub e: usize,
    /// Bodies that remain.
    pub b: usize,
    /// Columns to eliminate.
    pub panel: &'a mut [f64],
    /// The remaining block.
    pub C: &'a mut [f64],
}

impl FrontMut<'_> {
    /// Column `c` of block column `q` from the first row of block row `p` on; `p >= q`.
    #[inline(always)]
    fn column<const B: usize>(&mut self, p: usize, q: usize, c: usize) -> &mut [f64] {
        if q < self.e {
            let N = B * (self.e + self.b);
            let at = (q * B + c) * N + p * B;
            &mut self.panel[at..at + B]
        } else {
            let m = B * self.b;
            let at = ((q - self.e) * B + c) * m + (p - self.e) * B;
            &mut self.C[at..at + B]
        }
    }

    /// Adds `sum_k alpha_k J_p[k]^T J_q[k]` to block `(p, q)`, `p >= q`.
    #[inline(always)]
    pub fn add_product<const B: usize>(&mut self, p: usize, q: usize, alpha: &[f64], J_p: &[[f64; B]], J_q: &[[f64; B]]) {
        for c in 0..B {
            let mut sum = [0.0; B];
            for ((alpha, row), g) in alpha.iter().zip(J_p).zip(J_q) {
                let a = alpha * g[c];
                for r in 0..B {
                    sum[r] += a * row[r];
                }
            }
            let target = self.column::<B>(p, q, c);
            for r in 0..B {
                target[r] += sum[r];
            }
        }
    }

    /// Adds a coordinate block, column by column.
    #[inline(always)]
    pub fn add_block<const B: usize>(&mut self, p: usize, q: usize, block: &[[f64; B]; B]) {
        for c in 0..B {
            let target = self.column::<B>(p, q, c);
            for r in 0..B {
                target[r] += block[c][r];
            }
        }
    }

    /// Adds the remaining block of a child, at the places `slots` of its bodies in this front.
    #[inline(always)]
    pub fn add_child<const B: usize>(&mut self, slots: &[u32], C: &[f64]) {
        let m = B * slots.len();
        for (q, &sq) in slots.iter().enumerate() {
            for (p, &sp) in slots.iter().enumerate().skip(q) {
                for c in 0..B {
                    let at = (q * B + c) * m + p * B;
                    let target = self.column::<B>(sp as usize, sq as usize, c);
                    let source = &C[at..at + B];
                    for r in 0..B {
                        target[r] += source[r];
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;
    use nalgebra::{DMatrix, DVector};

    /// A front filled from a random positive definite matrix, eliminated and solved as part of the whole system.
    fn solves<const B: usize>(e: usize, b: usize) -> f64 {
        let (N, ne, m) = (B * (e + b), B * e, B * b);
        let mut random = Random(7 + (10 * e + b) as u64);
        let X = DMatrix::from_fn(N, N, |_, _| random.number());
        let K = &X * X.transpose() + DMatrix::identity(N, N);
        let f = DVector::from_fn(N, |_, _| random.number());
        let x = K.clone().cholesky().expect("definite").solve(&f);
        let mut panel: Vec<f64> = K.columns(0, ne).iter().copied().collect();
        let mut C: Vec<f64> = K.view((ne, ne), (m, m)).iter().copied().collect();
        let scale = vec![[1.0; 2]; e + b];
        eliminate::<B>(e, b, &mut panel, &mut C, &scale, false);
        let mut y: Vec<f64> = f.iter().copied().collect();
        forward::<B>(e, b, &panel, &mut y);
        // The rest of the system is solved densely.
        let lower = DMatrix::from_fn(m, m, |i, j| if i >= j { C[j * m + i] } else { C[i * m + j] });
        if m > 0 {
            let x_b = lower.cholesky().expect("definite").solve(&DVector::from_column_slice(&y[ne..]));
            y[ne..].copy_from_slice(x_b.as_slice());
        }
        backward::<B>(e, b, &panel, &mut y);
        (DVector::from_vec(y) - x).amax()
    }

    #[test]
    fn fronts_of_all_shapes_solve_their_system() {
        for (e, b) in [(1, 0), (1, 1), (1, 2), (1, 4), (2, 0), (2, 3), (4, 1), (5, 0), (9, 2), (4, 6)] {
            // Random matrices plus one: condition numbers of a few thousand.
            assert!(solves::<6>(e, b) < 1e-12 && solves::<7>(e, b) < 1e-12, "{e} {b}");
        }
    }

    /// Wide fronts give bitwise the same result however they are divided, and the same as with one body after the other.
    #[test]
    fn divided_fronts_are_the_same_to_the_bit() {
        for (e, b) in [(7, 5), (20, 13), (27, 0)] {
            let (N, ne, m) = (6 * (e + b), 6 * e, 6 * b);
            let mut random = Random(3 + e as u64);
            let X = DMatrix::from_fn(N, N, |_, _| random.number());
            let K = &X * X.transpose() + DMatrix::identity(N, N);
            let scale = vec![[1.0; 2]; e + b];
            let eliminated = |how: &dyn Fn(&mut [f64], &mut [f64])| {
                let mut panel: Vec<f64> = K.columns(0, ne).iter().copied().collect();
                let mut C: Vec<f64> = K.view((ne, ne), (m, m)).iter().copied().collect();
                how(&mut panel, &mut C);
                (panel, C)
            };
            let one = eliminated(&|p, c| run::<6>(e, b, p, c, &scale));
            for parallel in [false, true] {
                assert!(one == eliminated(&|p, c| eliminate::<6>(e, b, p, c, &scale, parallel)), "{e} + {b}, parallel {parallel}");
            }
        }
        assert!(divides::<6>(27, 27) && !divides::<6>(1, 2) && !divides::<6>(4, 4));
        let [all, path] = flops::<6>(27, 27);
        assert!(path < all / 3, "{path} of {all}");
    }

    #[test]
    fn a_direction_without_inertia_or_row_rests() {
        // A point mass: its rotational pivots contain only rounding.
        let mut panel = vec![0.0; 36];
        for k in 0..3 {
            panel[7 * k] = 2.0;
        }
        panel[7 * 3] = 1e-17;
        let mut f = vec![2.0, 4.0, 6.0, 1e-16, 0.0, 0.0];
        eliminate::<6>(1, 0, &mut panel, &mut [], &[[2.0, 1.0]], false);
        forward::<6>(1, 0, &panel, &mut f);
        backward::<6>(1, 0, &panel, &mut f);
        assert!((f[0] - 1.0).abs() < 1e-15 && (f[2] - 3.0).abs() < 1e-15);
        assert!(f[3].abs() < 0.1 && f[4] == 0.0 && f[5] == 0.0, "{f:?}");
    }
}
