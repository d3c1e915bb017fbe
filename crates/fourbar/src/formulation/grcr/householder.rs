//! Householder reflections on short lists of rows: afterwards only the last row contains the column.

/// Reflection that turns `e` into `(0, .., 0, sigma)`: `v` replaces `e`, and `(sigma, beta)` is returned; the reflection is
/// `1 - beta v v^T`.
#[inline]
pub fn reflection(e: &mut [f64]) -> (f64, f64) {
    let last = e.len() - 1;
    let rest: f64 = e[..last].iter().map(|x| x * x).sum();
    if rest == 0.0 {
        let sigma = e[last];
        e[last] = 0.0;
        return (sigma, 0.0);
    }
    let norm = (rest + e[last] * e[last]).sqrt();
    let sigma = if e[last] > 0.0 { -norm } else { norm };
    e[last] -= sigma;
    let size = rest + e[last] * e[last];
    (sigma, 2.0 / size)
}

/// Applies a reflection to a matrix with `v.len()` rows of `stride`, of which `width` columns are used.
#[inline]
pub fn reflect_rows(v: &[f64], beta: f64, m: &mut [f64], stride: usize, width: usize) {
    if beta == 0.0 {
        return;
    }
    // Six columns at a time, along the rows.
    let whole = width - width % 6;
    for c in (0..whole).step_by(6) {
        let mut k = [0.0; 6];
        for (v, row) in v.iter().zip(m.chunks(stride)) {
            k.iter_mut().zip(&row[c..c + 6]).for_each(|(k, x)| *k += v * x);
        }
        for (v, row) in v.iter().zip(m.chunks_mut(stride)) {
            let v = beta * v;
            row[c..c + 6].iter_mut().zip(&k).for_each(|(x, k)| *x -= v * k);
        }
    }
    for c in whole..width {
        let k = beta * v.iter().enumerate().map(|(r, v)| v * m[r * stride + c]).sum::<f64>();
        for (r, v) in v.iter().enumerate() {
            m[r * stride + c] -= k * v;
        }
    }
}

/// Applies a reflection to a vector; it is its own inverse.
#[inline]
pub fn reflect(v: &[f64], beta: f64, x: &mut [f64]) {
    if beta != 0.0 {
        let k = beta * v.iter().zip(x.iter()).map(|(v, x)| v * x).sum::<f64>();
        x.iter_mut().zip(v).for_each(|(x, v)| *x -= k * v);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reflection_gathers_the_column_in_the_last_row() {
        let e = [0.3, -1.2, 0.5, 0.7];
        let mut v = e;
        let (sigma, beta) = reflection(&mut v);
        let mut x = e;
        reflect(&v, beta, &mut x);
        assert!(x[..3].iter().all(|x| x.abs() < 1e-15) && (x[3] - sigma).abs() < 1e-15);
        let mut m: Vec<f64> = e.iter().flat_map(|x| [*x, 2.0 * x]).collect();
        reflect_rows(&v, beta, &mut m, 2, 2);
        assert!((m[6] - sigma).abs() < 1e-15 && (m[7] - 2.0 * sigma).abs() < 1e-15 && m[..6].iter().all(|x| x.abs() < 1e-15));
        // More than six columns: whole groups, then single ones.
        let mut m: Vec<f64> = e.iter().flat_map(|x| (1..=9).map(move |k| f64::from(k) * x)).collect();
        reflect_rows(&v, beta, &mut m, 9, 8);
        assert!(m.chunks(9).take(3).all(|row| row[..8].iter().all(|x| x.abs() < 1e-14)));
        assert!((0..8).all(|k| (m[27 + k] - (k + 1) as f64 * sigma).abs() < 1e-14) && m[35] == 9.0 * e[3]);
    }
}
