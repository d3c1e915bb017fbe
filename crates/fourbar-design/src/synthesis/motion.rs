//! Motion generation: a four-bar whose coupler takes three given positions exactly. The three positions of a point of the moving plane lie
//! on a circle, whose centre is a fixed pin. Seen from the moving plane, a fixed point lies on a circle too, whose centre is a moving pin.

use super::{Complex, FourBar};
use fourbar::Diagnostic;

/// Which pins are given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Given {
    /// Fixed pins in the world.
    Fixed,
    /// Moving pins in the moving plane.
    Moving,
}

/// The centre of the circle through three points; `None` if they are collinear.
fn centre(p: [Complex; 3]) -> Option<Complex> {
    let (u, v) = (p[1] - p[0], p[2] - p[0]);
    let d = 2.0 * u.cross(v);
    let size = u.abs().max(v.abs());
    if d.abs() <= 1e-12 * size * size {
        return None;
    }
    let (uu, vv) = (u.square(), v.square());
    Some(p[0] + Complex::new(v.im * uu - u.im * vv, u.re * vv - v.re * uu).scaled(1.0 / d))
}

/// For each given pin, the fixed pin in the world and the moving pin in the moving plane.
pub fn dyads(positions: &[(Complex, f64); 3], given: Given, pins: &[Complex]) -> Result<Vec<(Complex, Complex)>, Diagnostic> {
    let world = |s: Complex, k: usize| positions[k].0 + Complex::at(positions[k].1) * s;
    let seen = |w: Complex, k: usize| Complex::at(-positions[k].1) * (w - positions[k].0);
    pins.iter()
        .map(|&pin| {
            let other = match given {
                Given::Moving => centre([0, 1, 2].map(|k| world(pin, k))).map(|fixed| (fixed, pin)),
                Given::Fixed => centre([0, 1, 2].map(|k| seen(pin, k))).map(|moving| (pin, moving)),
            };
            other.ok_or_else(|| {
                Diagnostic::new(
                    "S441",
                    format!("the pin at ({}, {}) moves along a straight line: its link would have no end", pin.re, pin.im),
                )
                .help("choose another pin, or guide this one by a slide")
            })
        })
        .collect()
}

/// The linkage with two pins given and the coupler point at the origin of the moving plane, the crank angles at the three positions, and
/// whether all positions lie on one branch.
pub fn motion(positions: &[(Complex, f64); 3], given: Given, pins: &[Complex; 2]) -> Result<(FourBar, [f64; 3], bool), Diagnostic> {
    let bad = positions.iter().any(|(p, a)| !(p.re.is_finite() && p.im.is_finite() && a.is_finite()));
    if bad || pins[0] == pins[1] {
        return Err(
            Diagnostic::new("U439", "three positions and two different pins are needed").help("give x, y and angle of each position")
        );
    }
    let found = dyads(positions, given, pins)?;
    let [(O1, a), (O2, b)] = [found[0], found[1]];
    let world = |s: Complex, k: usize| positions[k].0 + Complex::at(positions[k].1) * s;
    let side = |k: usize| {
        let A = world(a, k);
        if (O2 - A).cross(world(b, k) - A) >= 0.0 { 1.0 } else { -1.0 }
    };
    let linkage = FourBar {
        ground: [O1, O2],
        crank: (world(a, 0) - O1).abs(),
        coupler: (b - a).abs(),
        rocker: (world(b, 0) - O2).abs(),
        // The origin of the moving plane, along and across the coupler.
        point: (-a).over(b - a).scaled((b - a).abs()),
        mode: side(0),
    };
    let angles = [0, 1, 2].map(|k| (world(a, k) - O1).arg());
    Ok((linkage, angles, side(1) == side(0) && side(2) == side(0)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_positions_are_met_from_either_kind_of_pins() {
        let positions = [(Complex::new(0.0, 0.0), 0.1), (Complex::new(0.4, 0.3), 0.6), (Complex::new(0.9, 0.2), 1.3)];
        for (given, pins) in [
            (Given::Moving, [Complex::new(0.1, 0.2), Complex::new(0.5, -0.1)]),
            (Given::Fixed, [Complex::new(0.2, -0.8), Complex::new(1.1, -0.5)]),
        ] {
            let (l, angles, _) = motion(&positions, given, &pins).expect("there is one");
            let mut met = 0;
            for (k, (p, angle)) in positions.iter().enumerate() {
                for mode in [1.0, -1.0] {
                    let q = FourBar { mode, ..l.clone() }.position(angles[k]).expect("it closes there");
                    // The coupler rotates with the moving plane.
                    let turned = (q.B - q.A).over(Complex::at(*angle)).arg();
                    let first = FourBar { mode: l.mode, ..l.clone() }.position(angles[0]).expect("it closes");
                    let zero = (first.B - first.A).over(Complex::at(positions[0].1)).arg();
                    met += usize::from((q.P - *p).abs() < 1e-9 && (turned - zero).sin().abs() < 1e-9);
                }
            }
            assert_eq!(met, 3, "{given:?} {l:?}");
        }
    }

    #[test]
    fn a_pin_on_a_straight_line_is_named() {
        let positions = [(Complex::new(0.0, 0.0), 0.0), (Complex::new(1.0, 0.0), 0.0), (Complex::new(2.0, 0.0), 0.0)];
        let pins = [Complex::new(0.1, 0.2), Complex::new(0.5, -0.1)];
        assert_eq!(motion(&positions, Given::Moving, &pins).map_err(|d| d.code.0).err(), Some("S441"));
    }
}
