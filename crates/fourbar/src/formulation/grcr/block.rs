//! Updates of the matrix of a front, row-major with width `w`, its first variable in front.

use super::spatial::{Inertia, Six};

/// Trace of the angular block of the first variable.
pub fn trace_angular(H: &[f64], w: usize) -> f64 {
    (H[3 * w + 3] + H[4 * w + 4] + H[5 * w + 5]).abs()
}

/// Writes a rigid inertia into the first block.
#[inline]
pub fn put_inertia(I: &Inertia, H: &mut [f64], w: usize) {
    let h = &I.h;
    for k in 0..3 {
        H[k * w + k] = I.m;
        for j in 0..3 {
            H[(3 + k) * w + 3 + j] = I.J.0[[[0, 1, 2], [1, 3, 4], [2, 4, 5]][k][j]];
        }
    }
    // [m, -tilde(h); tilde(h), J]
    for (i, j, x) in [(0, 4, h.z), (0, 5, -h.y), (1, 3, -h.z), (1, 5, h.x), (2, 3, h.y), (2, 4, -h.x)] {
        H[i * w + j] = x;
        H[j * w + i] = x;
    }
}

/// `H -= k U U'`, exactly symmetric.
#[inline]
pub fn subtract_square(H: &mut [f64], U: &[f64], k: f64, w: usize) {
    match w {
        6 => subtract_square_of::<6>(H, U, k),
        12 => subtract_square_of::<12>(H, U, k),
        18 => subtract_square_of::<18>(H, U, k),
        _ => {
            for i in 0..w {
                let u = k * U[i];
                for j in 0..=i {
                    let x = H[i * w + j] - u * U[j];
                    H[i * w + j] = x;
                    H[j * w + i] = x;
                }
            }
        }
    }
}

fn subtract_square_of<const W: usize>(H: &mut [f64], U: &[f64], k: f64) {
    let H = &mut H[..W * W];
    let U = &U[..W];
    for i in 0..W {
        let u = k * U[i];
        for j in 0..=i {
            let x = H[i * W + j] - u * U[j];
            H[i * W + j] = x;
            H[j * W + i] = x;
        }
    }
}

/// `H -= a U U' + b (U G' + G U') - d G G'`, exactly symmetric.
#[inline]
pub fn subtract_pair(H: &mut [f64], U: &[f64], G: &[f64], a: f64, b: f64, d: f64, w: usize) {
    match w {
        6 => subtract_pair_of::<6>(H, U, G, a, b, d),
        12 => subtract_pair_of::<12>(H, U, G, a, b, d),
        18 => subtract_pair_of::<18>(H, U, G, a, b, d),
        _ => {
            for i in 0..w {
                let (u, g) = (a * U[i] + b * G[i], b * U[i] - d * G[i]);
                for j in 0..=i {
                    let x = H[i * w + j] - (u * U[j] + g * G[j]);
                    H[i * w + j] = x;
                    H[j * w + i] = x;
                }
            }
        }
    }
}

fn subtract_pair_of<const W: usize>(H: &mut [f64], U: &[f64], G: &[f64], a: f64, b: f64, d: f64) {
    let H = &mut H[..W * W];
    let (U, G) = (&U[..W], &G[..W]);
    for i in 0..W {
        let (u, g) = (a * U[i] + b * G[i], b * U[i] - d * G[i]);
        for j in 0..=i {
            let x = H[i * W + j] - (u * U[j] + g * G[j]);
            H[i * W + j] = x;
            H[j * W + i] = x;
        }
    }
}

/// Transfers the first variable to the parent's reference point: `a_k = X a_p` with `X = [1, -tilde(d); 0, 1]`.
pub fn shift(d: &nalgebra::Vector3<f64>, H: &mut [f64], f: &mut [f64], G: &mut [f64], w: usize, rows: usize, row: &mut [f64]) {
    let back = -d;
    for y in 0..rows {
        let g = &mut G[y * w..y * w + 6];
        Six::of(g).wrench_at(&back).put(g);
    }
    Six::of(f).wrench_at(&back).put(f);
    // Columns of the first variable's block row, then rows of its block column.
    for c in 0..w {
        for y in 0..6 {
            row[y] = H[y * w + c];
        }
        let moved = Six::of(row).wrench_at(&back);
        moved.put(row);
        for y in 0..6 {
            H[y * w + c] = row[y];
        }
    }
    for r in 0..w {
        let h = &mut H[r * w..r * w + 6];
        Six::of(h).wrench_at(&back).put(h);
    }
    for i in 0..6 {
        for j in 0..i {
            let x = 0.5 * (H[i * w + j] + H[j * w + i]);
            H[i * w + j] = x;
            H[j * w + i] = x;
        }
    }
}
