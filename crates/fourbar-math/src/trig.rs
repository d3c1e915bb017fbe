//! Sine and cosine of many angles at once, in a form that compilers turn into vector instructions.
//!
//! Reduction to a quarter turn in three parts of pi/2, then the two polynomials on `[-pi/4, pi/4]` (minimax coefficients as in common
//! mathematical libraries). The error is at most about one unit in the last place of 1.

/// Larger angles are evaluated by the library: the first part of pi/2 has 33 bits, so its multiples are exact up to 2^20.
const FAR: f64 = 1e6;
/// Adding it rounds to an integer, which is then in the last bits.
const ROUND: f64 = 6_755_399_441_055_744.0;
/// Three parts of pi/2; the first two have trailing zeros.
const PARTS: [f64; 3] = [1.570_796_326_734_125_6, 6.077_100_506_303_966e-11, 2.022_266_248_795_950_6e-21];
/// Coefficients of `(sin r - r)/r^3` and of `(cos r - 1 + r^2/2)/r^4` in powers of `r^2`, highest first.
const SINE: [f64; 6] = [
    1.589_690_995_211_55e-10,
    -2.505_076_025_340_686_3e-8,
    2.755_731_370_707_006_8e-6,
    -1.984_126_982_985_795e-4,
    8.333_333_333_322_49e-3,
    -1.666_666_666_666_663_2e-1,
];
const COSINE: [f64; 6] = [
    -1.135_964_755_778_819_5e-11,
    2.087_572_321_298_175e-9,
    -2.755_731_435_139_066_3e-7,
    2.480_158_728_947_673e-5,
    -1.388_888_888_887_411e-3,
    4.166_666_666_666_66e-2,
];

/// Sine and cosine of an angle of at most a million radians, without a branch.
#[inline(always)]
pub fn near(x: f64) -> [f64; 2] {
    let turned = x * std::f64::consts::FRAC_2_PI + ROUND;
    let quarter = turned.to_bits();
    let k = turned - ROUND;
    let r = ((x - k * PARTS[0]) - k * PARTS[1]) - k * PARTS[2];
    let z = r * r;
    let polynomial = |c: &[f64; 6]| ((((c[0] * z + c[1]) * z + c[2]) * z + c[3]) * z + c[4]) * z + c[5];
    let s = r + r * z * polynomial(&SINE);
    let c = 1.0 - (0.5 * z - z * z * polynomial(&COSINE));
    let (s, c) = if quarter & 1 == 0 { (s, c) } else { (c, s) };
    // Signs by quadrant: the second bit of the quarter, and of the next one.
    let signed = |x: f64, bits: u64| f64::from_bits(x.to_bits() ^ ((bits & 2) << 62));
    [signed(s, quarter), signed(c, quarter.wrapping_add(1))]
}

/// NaN counts as far.
#[inline(always)]
fn is_far(x: f64) -> bool {
    let inside = x.abs() < FAR;
    !inside
}

/// Sine and cosine of each angle.
pub fn sin_cos(angles: &[f64], out: &mut [[f64; 2]]) {
    let mut far = false;
    for (o, &x) in out.iter_mut().zip(angles) {
        *o = near(x);
        far |= is_far(x);
    }
    if far {
        for (o, x) in out.iter_mut().zip(angles).filter(|(_, x)| is_far(**x)) {
            *o = crate::elementary::sin_cos(*x).into();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::f64::consts::PI;

    /// The library is accurate to half a unit in the last place; one unit of 1 is 2.2e-16.
    #[test]
    fn it_is_the_librarys_sine_to_the_last_place() {
        let mut angles = vec![0.0, -0.0, 1e-300, 1e-9, PI, 0.25 * PI, 999_999.9, 1e6, -1e9, 1e22];
        let mut x = 0.1_f64;
        for _ in 0..200_000 {
            // Scales from 1e-6 to 1e6, both signs.
            x = (x * 997.123).fract();
            angles.push((2.0 * x - 1.0) * 10_f64.powf(12.0 * (x * 31.7).fract() - 6.0));
        }
        let mut out = vec![[0.0; 2]; angles.len()];
        sin_cos(&angles, &mut out);
        for (x, [s, c]) in angles.iter().zip(&out) {
            assert!((s - x.sin()).abs() <= 2.3e-16 && (c - x.cos()).abs() <= 2.3e-16, "{x}: {s} {c}");
            assert!(x.abs() > 1e-5 || (s - x).abs() <= 1e-10 * x.abs(), "{x}: {s}");
        }
        sin_cos(&[f64::NAN, f64::INFINITY], &mut out);
        assert!(out[0][0].is_nan() && out[1][1].is_nan());
    }
}
