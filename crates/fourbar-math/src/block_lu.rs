//! Sparse LU factorisation of an unsymmetric matrix of small dense blocks with a symmetric pattern.
//!
//! Pivoting is restricted to the diagonal blocks; the caller's elimination order keeps them regular (a joint after all its bodies). Pattern
//! and order are fixed once; factoring and solving allocate nothing.

use crate::order::eliminate;
use nalgebra::ComplexField;
use std::sync::Arc;

/// Largest block that can be a pivot.
const LARGEST: usize = 12;

/// Storage of the blocks of a matrix and of its factors, and their elimination order.
#[derive(Clone, Debug)]
pub struct LuPattern {
    /// Size of each node, in elimination order.
    size: Vec<usize>,
    position: Vec<usize>,
    /// First row of each position in the caller's vector.
    caller_row: Vec<usize>,
    row: Vec<usize>,
    /// Start in `later` of each position.
    start: Vec<usize>,
    /// Later positions coupled with each position, ascending.
    later: Vec<u32>,
    /// Offset of each diagonal block.
    diagonal: Vec<usize>,
    /// Offsets of the blocks (later, k) and (k, later).
    lower: Vec<usize>,
    upper: Vec<usize>,
    /// For each position, for each ordered pair of its later nodes: offset of the block it updates.
    target_start: Vec<usize>,
    targets: Vec<usize>,
    values: usize,
    widest: usize,
}

/// A factorisation on a fixed pattern, of real or complex numbers.
#[derive(Clone, Debug)]
pub struct BlockLu<T = f64> {
    pattern: Arc<LuPattern>,
    /// Matrix before, factors after factorisation; diagonal blocks then contain inverses.
    a: Vec<T>,
    x: Vec<T>,
    scratch: Vec<T>,
}

impl LuPattern {
    /// Pattern for nodes of the given sizes; node `i` is eliminated after all of `before[i]`.
    pub fn new(sizes: &[usize], neighbours: &[Vec<u32>], before: &[Vec<u32>]) -> Self {
        let n = sizes.len();
        let (order, columns) = eliminate(sizes, neighbours, before);
        let mut position = vec![0; n];
        for (k, &node) in order.iter().enumerate() {
            position[node] = k;
        }
        let mut caller = vec![0; n + 1];
        for i in 0..n {
            caller[i + 1] = caller[i] + sizes[i];
        }
        let size: Vec<usize> = order.iter().map(|&i| sizes[i]).collect();
        let caller_row: Vec<usize> = order.iter().map(|&i| caller[i]).collect();
        let mut row = vec![0; n + 1];
        for k in 0..n {
            row[k + 1] = row[k] + size[k];
        }
        let (mut start, mut later, mut diagonal, mut lower, mut upper) = (vec![0], Vec::new(), Vec::new(), Vec::new(), Vec::new());
        let mut values = 0;
        for (k, column) in columns.iter().enumerate() {
            diagonal.push(values);
            values += size[k] * size[k];
            let mut list: Vec<u32> = column.iter().map(|&i| position[i as usize] as u32).collect();
            list.sort_unstable();
            for &i in &list {
                let m = size[i as usize] * size[k];
                lower.push(values);
                upper.push(values + m);
                values += 2 * m;
            }
            later.extend(list);
            start.push(later.len());
        }
        let widest =
            (0..n).map(|k| size[k] * later[start[k]..start[k + 1]].iter().map(|&i| size[i as usize]).max().unwrap_or(0)).max().unwrap_or(0);
        let mut lu = Self {
            values,
            widest: widest.max(LARGEST * LARGEST),
            size,
            position,
            caller_row,
            row,
            start,
            later,
            diagonal,
            lower,
            upper,
            target_start: vec![0],
            targets: Vec::new(),
        };
        for k in 0..n {
            let range = lu.start[k]..lu.start[k + 1];
            for i in range.clone() {
                for j in range.clone() {
                    let target = lu.locate(lu.later[i] as usize, lu.later[j] as usize);
                    lu.targets.push(target);
                }
            }
            lu.target_start.push(lu.targets.len());
        }
        lu
    }

    /// Offset of the block of two positions.
    fn locate(&self, i: usize, j: usize) -> usize {
        if i == j {
            return self.diagonal[i];
        }
        let k = i.min(j);
        let range = self.start[k]..self.start[k + 1];
        match self.later[range.clone()].binary_search(&(i.max(j) as u32)) {
            Ok(e) if i > j => self.lower[range.start + e],
            Ok(e) => self.upper[range.start + e],
            Err(_) => unreachable!("fill is closed under elimination"),
        }
    }

    /// Offset of the block of two coupled nodes, row-major: rows of `a`, columns of `b`.
    pub fn block(&self, a: usize, b: usize) -> usize {
        self.locate(self.position[a], self.position[b])
    }

    /// Number of values of a matrix on it.
    pub fn values(&self) -> usize {
        self.values
    }
}

impl<T: ComplexField<RealField = f64> + Copy> BlockLu<T> {
    /// A matrix on a pattern.
    pub fn new(pattern: &Arc<LuPattern>) -> Self {
        Self {
            a: vec![T::zero(); pattern.values],
            x: vec![T::zero(); pattern.row[pattern.size.len()]],
            scratch: vec![T::zero(); pattern.widest],
            pattern: pattern.clone(),
        }
    }

    /// Offset of the block of two coupled nodes, row-major: rows of `a`, columns of `b`.
    pub fn block(&self, a: usize, b: usize) -> usize {
        self.pattern.block(a, b)
    }

    /// Sets all values to zero and returns them for filling.
    pub fn clear(&mut self) -> &mut [T] {
        self.a.fill(T::zero());
        &mut self.a
    }

    /// The unfactored matrix as dense rows in the caller's order.
    pub fn dense(&self) -> Vec<Vec<T>> {
        let (total, p) = (self.x.len(), &self.pattern);
        let mut rows = vec![vec![T::zero(); total]; total];
        let mut put = |i: usize, j: usize, at: usize| {
            for r in 0..p.size[i] {
                for c in 0..p.size[j] {
                    rows[p.caller_row[i] + r][p.caller_row[j] + c] = self.a[at + r * p.size[j] + c];
                }
            }
        };
        for k in 0..p.size.len() {
            put(k, k, p.diagonal[k]);
            for e in p.start[k]..p.start[k + 1] {
                let i = p.later[e] as usize;
                put(i, k, p.lower[e]);
                put(k, i, p.upper[e]);
            }
        }
        rows
    }

    /// Factors in place; `false` if a diagonal block is singular.
    pub fn factor(&mut self) -> bool {
        let Self { pattern: p, a, scratch, .. } = self;
        for k in 0..p.size.len() {
            let m = p.size[k];
            let d = p.diagonal[k];
            if !invert(&mut a[d..d + m * m], m, scratch) {
                return false;
            }
            let range = p.start[k]..p.start[k + 1];
            let mut target = p.target_start[k];
            for i in range.clone() {
                let mi = p.size[p.later[i] as usize];
                // L = A_ik D^-1, in place.
                let (l, product) = (p.lower[i], &mut scratch[..mi * m]);
                product.fill(T::zero());
                subtract_product(&a[l..l + mi * m], &a[d..d + m * m], m, m, product);
                for (l, x) in a[l..l + mi * m].iter_mut().zip(product.iter_mut()) {
                    *x = -*x;
                    *l = *x;
                }
                for j in range.clone() {
                    let mj = p.size[p.later[j] as usize];
                    let (u, t) = (p.upper[j], p.targets[target]);
                    target += 1;
                    // Different blocks never overlap.
                    if let Ok([U, T]) = a.get_disjoint_mut([u..u + m * mj, t..t + mi * mj]) {
                        subtract_product(product, U, m, mj, T);
                    }
                }
            }
        }
        true
    }

    /// Solves in place; `b` is in the caller's order.
    pub fn solve(&mut self, b: &mut [T]) {
        let Self { pattern: p, a, x, scratch } = self;
        let n = p.size.len();
        for k in 0..n {
            x[p.row[k]..p.row[k + 1]].copy_from_slice(&b[p.caller_row[k]..p.caller_row[k] + p.size[k]]);
        }
        for k in 0..n {
            let (m, row) = (p.size[k], p.row[k]);
            // Rows of later positions follow.
            let (first, rest) = x.split_at_mut(row + m);
            for e in p.start[k]..p.start[k + 1] {
                let i = p.later[e] as usize;
                let at = p.row[i] - row - m;
                take(&a[p.lower[e]..p.lower[e] + p.size[i] * m], &first[row..], &mut rest[at..at + p.size[i]]);
            }
        }
        for k in (0..n).rev() {
            let (m, row) = (p.size[k], p.row[k]);
            let (first, rest) = x.split_at_mut(row + m);
            let own = &mut first[row..];
            for e in p.start[k]..p.start[k + 1] {
                let i = p.later[e] as usize;
                let at = p.row[i] - row - m;
                take(&a[p.upper[e]..p.upper[e] + m * p.size[i]], &rest[at..at + p.size[i]], own);
            }
            let solved = &mut scratch[..m];
            solved.fill(T::zero());
            take(&a[p.diagonal[k]..p.diagonal[k] + m * m], own, solved);
            own.iter_mut().zip(solved.iter()).for_each(|(x, s)| *x = -*s);
        }
        for k in 0..n {
            b[p.caller_row[k]..p.caller_row[k] + p.size[k]].copy_from_slice(&x[p.row[k]..p.row[k + 1]]);
        }
    }
}

/// Calls a kernel with the row width as a constant for common widths: loops of known length are unrolled, and their sums stay in registers.
/// Other widths are passed as an argument.
macro_rules! by_width {
    ($width:expr, $fixed:ident, $any:ident, $($argument:expr),*) => {
        match $width {
            1 => $fixed::<T, 1>($($argument),*),
            2 => $fixed::<T, 2>($($argument),*),
            3 => $fixed::<T, 3>($($argument),*),
            4 => $fixed::<T, 4>($($argument),*),
            5 => $fixed::<T, 5>($($argument),*),
            6 => $fixed::<T, 6>($($argument),*),
            width => $any($($argument),*, width),
        }
    };
}

/// `y -= A x`, by rows.
#[inline]
fn take<T: ComplexField + Copy>(A: &[T], x: &[T], y: &mut [T]) {
    by_width!(x.len(), take_fixed, take_any, A, x, y);
}

fn take_fixed<T: ComplexField + Copy, const N: usize>(A: &[T], x: &[T], y: &mut [T]) {
    let [x] = x.as_chunks::<N>().0 else { return };
    for (y, line) in y.iter_mut().zip(A.as_chunks::<N>().0) {
        *y -= (0..N).fold(T::zero(), |s, k| s + line[k] * x[k]);
    }
}

fn take_any<T: ComplexField + Copy>(A: &[T], x: &[T], y: &mut [T], width: usize) {
    for (y, line) in y.iter_mut().zip(A.chunks_exact(width.max(1))) {
        *y -= line.iter().zip(x).fold(T::zero(), |s, (a, b)| s + *a * *b);
    }
}

/// `C -= A B` with rows of `m` and of `n` entries.
#[inline]
fn subtract_product<T: ComplexField + Copy>(A: &[T], B: &[T], m: usize, n: usize, C: &mut [T]) {
    by_width!(n, subtract_fixed, subtract_any, A, B, m, C);
}

fn subtract_fixed<T: ComplexField + Copy, const N: usize>(A: &[T], B: &[T], m: usize, C: &mut [T]) {
    for (line, out) in A.chunks_exact(m.max(1)).zip(C.as_chunks_mut::<N>().0) {
        let mut sum = *out;
        for (f, b) in line.iter().zip(B.as_chunks::<N>().0) {
            for k in 0..N {
                sum[k] -= *f * b[k];
            }
        }
        *out = sum;
    }
}

fn subtract_any<T: ComplexField + Copy>(A: &[T], B: &[T], m: usize, C: &mut [T], width: usize) {
    for (line, out) in A.chunks_exact(m.max(1)).zip(C.chunks_exact_mut(width.max(1))) {
        for (f, b) in line.iter().zip(B.chunks_exact(width.max(1))) {
            for (o, b) in out.iter_mut().zip(b) {
                *o -= *f * *b;
            }
        }
    }
}

/// Inverse of a small matrix in place by Gauss-Jordan with row pivoting.
fn invert<T: ComplexField<RealField = f64> + Copy>(a: &mut [T], m: usize, scratch: &mut [T]) -> bool {
    // Loops of known length are unrolled.
    match m {
        6 => invert_any(a, 6, scratch),
        5 => invert_any(a, 5, scratch),
        3 => invert_any(a, 3, scratch),
        _ => invert_any(a, m, scratch),
    }
}

#[inline(always)]
fn invert_any<T: ComplexField<RealField = f64> + Copy>(a: &mut [T], m: usize, scratch: &mut [T]) -> bool {
    let a = &mut a[..m * m];
    let inverse = &mut scratch[..m * m];
    inverse.fill(T::zero());
    for i in 0..m {
        inverse[i * m + i] = T::one();
    }
    let top = a.iter().fold(0.0_f64, |s, x| s.max(x.norm1()));
    for c in 0..m {
        let Some(p) = (c..m).max_by(|&i, &j| a[i * m + c].norm1().total_cmp(&a[j * m + c].norm1())) else { return false };
        let pivot = a[p * m + c];
        if pivot.norm1().is_nan() || pivot.norm1() <= 1e-300 + 1e-16 * f64::EPSILON * top {
            return false;
        }
        for k in 0..m {
            a.swap(c * m + k, p * m + k);
            inverse.swap(c * m + k, p * m + k);
        }
        let s = T::one() / pivot;
        for k in 0..m {
            a[c * m + k] *= s;
            inverse[c * m + k] *= s;
        }
        for r in (0..m).filter(|&r| r != c) {
            let f = a[r * m + c];
            if f != T::zero() {
                for k in 0..m {
                    let (x, y) = (a[c * m + k], inverse[c * m + k]);
                    a[r * m + k] -= f * x;
                    inverse[r * m + k] -= f * y;
                }
            }
        }
    }
    a.copy_from_slice(inverse);
    true
}

#[cfg(test)]
mod tests {
    use super::*;
    use nalgebra::{Complex, DMatrix, DVector};

    #[test]
    fn it_solves_an_unsymmetric_saddle_system_like_a_dense_lu() {
        // Four bodies in a chain, three joints of 3, 5 and 1 rows after their bodies, coupling between bodies 0 and 3.
        let sizes = [6, 6, 6, 6, 3, 5, 1];
        let edges = [(0, 4), (1, 4), (1, 5), (2, 5), (2, 6), (3, 6), (0, 3)];
        let mut neighbours = vec![Vec::new(); 7];
        for &(a, b) in &edges {
            neighbours[a].push(b as u32);
            neighbours[b].push(a as u32);
        }
        let before = vec![vec![], vec![], vec![], vec![], vec![0, 1], vec![1, 2], vec![2, 3]];
        let starts: Vec<usize> = sizes
            .iter()
            .scan(0, |s, m| {
                let r = *s;
                *s += m;
                Some(r)
            })
            .collect();
        let total = 33;
        let mut seed = 3u64;
        let mut random = || {
            seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (seed >> 11) as f64 / (1u64 << 52) as f64 - 1.0
        };
        let mut A = DMatrix::<f64>::zeros(total, total);
        let pattern = Arc::new(LuPattern::new(&sizes, &neighbours, &before));
        let mut lu = BlockLu::<f64>::new(&pattern);
        let mut turned = BlockLu::<Complex<f64>>::new(&pattern);
        let mut pairs: Vec<(usize, usize)> = edges.iter().flat_map(|&(a, b)| [(a, b), (b, a)]).collect();
        pairs.extend((0..4).map(|i| (i, i)));
        for &(i, j) in &pairs {
            for r in 0..sizes[i] {
                for c in 0..sizes[j] {
                    A[(starts[i] + r, starts[j] + c)] = random() + if i == j && r == c { 4.0 } else { 0.0 };
                }
            }
        }
        let places: Vec<usize> = pairs.iter().map(|&(i, j)| lu.block(i, j)).collect();
        let a = lu.clear();
        for (&(i, j), &at) in pairs.iter().zip(&places) {
            for r in 0..sizes[i] {
                for c in 0..sizes[j] {
                    a[at + r * sizes[j] + c] = A[(starts[i] + r, starts[j] + c)];
                }
            }
        }
        assert!(lu.factor());
        let b = DVector::from_fn(total, |_, _| random());
        let mut x = b.as_slice().to_vec();
        lu.solve(&mut x);
        let exact = A.clone().lu().solve(&b).expect("regular");
        assert!((DVector::from_vec(x) - exact).amax() < 1e-11);
        // As above, with complex numbers: every entry is rotated by a different angle.
        let turn = |i: usize, j: usize| Complex::from_polar(1.0, 0.3 * ((7 * i + 3 * j) % 11) as f64);
        let Z = DMatrix::from_fn(total, total, |i, j| turn(i, j) * A[(i, j)]);
        let a = turned.clear();
        for (&(i, j), &at) in pairs.iter().zip(&places) {
            for r in 0..sizes[i] {
                for c in 0..sizes[j] {
                    a[at + r * sizes[j] + c] = Z[(starts[i] + r, starts[j] + c)];
                }
            }
        }
        assert!(turned.factor());
        let b = DVector::from_fn(total, |i, _| Complex::new(b[i], b[total - 1 - i]));
        let mut x = b.as_slice().to_vec();
        turned.solve(&mut x);
        let exact = Z.lu().solve(&b).expect("regular");
        assert!((DVector::from_vec(x) - exact).iter().all(|x| x.norm() < 1e-11));
    }

    #[test]
    fn blocks_of_every_width_solve_like_a_dense_lu() {
        let mut seed = 11u64;
        let mut random = || {
            seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (seed >> 11) as f64 / (1u64 << 52) as f64 - 1.0
        };
        for case in 0..30 {
            // A ring of blocks of one to nine rows.
            let sizes: Vec<usize> = (0..6).map(|_| 1 + (4.5 * (random() + 1.0)) as usize % 9).collect();
            let n = sizes.len();
            let starts: Vec<usize> = (0..n).map(|k| sizes[..k].iter().sum()).collect();
            let total: usize = sizes.iter().sum();
            let neighbours: Vec<Vec<u32>> = (0..n).map(|k| vec![((k + 1) % n) as u32, ((k + n - 1) % n) as u32]).collect();
            let pattern = Arc::new(LuPattern::new(&sizes, &neighbours, &vec![Vec::new(); n]));
            let (mut lu, mut A) = (BlockLu::<f64>::new(&pattern), DMatrix::<f64>::zeros(total, total));
            lu.clear();
            for (i, j) in (0..n).flat_map(|i| [(i, i), (i, (i + 1) % n), ((i + 1) % n, i)]) {
                let at = lu.block(i, j);
                for (r, c) in (0..sizes[i]).flat_map(|r| (0..sizes[j]).map(move |c| (r, c))) {
                    let x = random() + if i == j && r == c { 20.0 } else { 0.0 };
                    A[(starts[i] + r, starts[j] + c)] = x;
                    lu.a[at + r * sizes[j] + c] = x;
                }
            }
            let b = DVector::from_fn(total, |_, _| random());
            let mut x = b.as_slice().to_vec();
            assert!(lu.factor());
            lu.solve(&mut x);
            assert!((&A * DVector::from_vec(x) - b).amax() < 1e-13, "case {case}, blocks of {sizes:?}");
        }
    }

    #[test]
    fn a_singular_pivot_is_reported() {
        let mut lu = BlockLu::<f64>::new(&Arc::new(LuPattern::new(&[2], &[vec![]], &[])));
        lu.clear()[0] = 1.0;
        assert!(!lu.factor());
    }
}
