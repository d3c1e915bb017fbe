//! Function generation: a four-bar whose rocker has given angles at given angles of its crank, by Freudenstein's equation
//! `K1 cos th4 - K2 cos th2 + K3 = cos(th2 - th4)`, which is linear in `K1 = g/a`, `K2 = g/c`, `K3 = (a^2 - b^2 + c^2 + g^2)/(2 a c)`.

use super::{Complex, FourBar};
use fourbar::Diagnostic;
use nalgebra::{DMatrix, DVector};

/// A linkage for function generation.
#[derive(Clone, Debug, PartialEq)]
pub struct FunctionFit {
    /// The linkage, its coupler point at the crank pin; fixed pins on the x axis.
    pub linkage: FourBar,
    /// Freudenstein's ratios.
    pub K: [f64; 3],
    /// Errors of the rocker angles, radians; NaN if the linkage cannot reach the crank angle.
    pub misses: Vec<f64>,
    /// Crank angles for the linkage with positive link lengths.
    pub angles: Vec<f64>,
    /// Whether all pairs lie on one assembly mode.
    pub one_branch: bool,
}

/// Finds the linkage with a ground of a given length for pairs of crank and rocker angles against the ground, radians: exactly for three
/// pairs, by least squares of the equation for more.
pub fn function(pairs: &[[f64; 2]], ground: f64) -> Result<FunctionFit, Diagnostic> {
    if !(ground > 0.0 && ground.is_finite()) {
        let d = Diagnostic::new("U439", format!("the distance of the fixed pins is {ground} m, and must be positive"));
        return Err(d.help("give it in metres: `--ground 0.3`"));
    }
    if pairs.len() < 3 || pairs.iter().flatten().any(|x| !x.is_finite()) {
        return Err(Diagnostic::new("U439", format!("{} pairs of angles do not determine a linkage", pairs.len()))
            .help("give three pairs of crank and rocker angles, or more for the best fit"));
    }
    let M = DMatrix::from_fn(pairs.len(), 3, |k, c| match c {
        0 => pairs[k][1].cos(),
        1 => -pairs[k][0].cos(),
        _ => 1.0,
    });
    let rhs = DVector::from_fn(pairs.len(), |k, _| (pairs[k][0] - pairs[k][1]).cos());
    let none = |why: &str| {
        Diagnostic::new("S441", format!("no linkage has these pairs of angles: {why}"))
            .help("move the angles a little, or change where they are counted from")
    };
    let svd = M.svd(true, true);
    if svd.singular_values.min() < 1e-10 * svd.singular_values.max() {
        return Err(none("the equations depend on each other"));
    }
    let K = svd.solve(&rhs, 0.0).map_err(|_| none("the equations have no solution"))?;
    // Links of negative length point in the opposite direction.
    let (a, c) = (ground / K[0], ground / K[1]);
    let b2 = a * a + c * c + ground * ground - 2.0 * a * c * K[2];
    if !(a.is_finite() && c.is_finite() && b2 > 0.0) {
        return Err(none("the coupler would have no length"));
    }
    let b = b2.sqrt();
    let pins = [Complex::default(), Complex::new(ground, 0.0)];
    // The mode of each pair, from the pin positions at its angles; negative links become positive ones, rotated by half a turn.
    let side = |[th2, th4]: &[f64; 2]| {
        let A = Complex::at(*th2).scaled(a);
        let B = pins[1] + Complex::at(*th4).scaled(c);
        if (pins[1] - A).cross(B - A) >= 0.0 { 1.0 } else { -1.0 }
    };
    let mode = side(&pairs[0]);
    let linkage = FourBar { ground: pins, crank: a.abs(), coupler: b, rocker: c.abs(), point: Complex::default(), mode };
    let half = |x: f64| if x < 0.0 { std::f64::consts::PI } else { 0.0 };
    let miss = |p: &[f64; 2]| {
        let on = FourBar { mode: side(p), ..linkage.clone() };
        let Some(q) = on.position(p[0] + half(a)) else { return f64::NAN };
        let angle = (q.B - pins[1]).arg() - half(c) - p[1];
        angle.sin().atan2(angle.cos())
    };
    let misses = pairs.iter().map(miss).collect();
    let angles = pairs.iter().map(|p| p[0] + half(a)).collect();
    Ok(FunctionFit { angles, one_branch: pairs.iter().all(|p| side(p) == mode), linkage, K: [K[0], K[1], K[2]], misses })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_positions_are_met_exactly() {
        let pairs = [[40.0, 70.0], [45.0, 76.0], [50.0, 83.0]].map(|p: [f64; 2]| p.map(f64::to_radians));
        let f = function(&pairs, 1.0).expect("there is one");
        // Solved with 30 digits.
        for (x, y) in f.K.iter().zip([0.816480005933832, 1.2363930367395226, 1.5339048104377164]) {
            assert!((x - y).abs() < 1e-9, "{f:?}");
        }
        for (x, y) in
            [(f.linkage.crank, 1.2247697343871524), (f.linkage.coupler, 0.3394938561823698), (f.linkage.rocker, 0.8088042962754692)]
        {
            assert!((x - y).abs() < 1e-9, "{f:?}");
        }
        assert!(f.misses.iter().all(|m| m.abs() < 1e-7), "{f:?}");
    }

    #[test]
    fn pairs_of_a_known_linkage_give_it_back() {
        let l = FourBar {
            ground: [Complex::default(), Complex::new(2.0, 0.0)],
            crank: 0.5,
            coupler: 1.7,
            rocker: 1.1,
            point: Complex::default(),
            mode: -1.0,
        };
        let pairs: Vec<[f64; 2]> =
            (0..8).map(|k| 0.4 * k as f64).map(|a| [a, (l.position(a).expect("turns").B - l.ground[1]).arg()]).collect();
        let f = function(&pairs, 2.0).expect("there is one");
        assert!(
            (f.linkage.crank - 0.5).abs() < 1e-10 && (f.linkage.coupler - 1.7).abs() < 1e-10 && f.one_branch && f.linkage.mode == -1.0,
            "{f:?}"
        );
        assert!(f.misses.iter().all(|m| m.abs() < 1e-9), "{f:?}");
    }

    #[test]
    fn what_no_linkage_does_is_refused() {
        assert_eq!(function(&[[0.0, 1.0]; 2], 1.0).map_err(|d| d.code.0).err(), Some("U439"));
        assert_eq!(function(&[[0.3, 1.0]; 3], 1.0).map_err(|d| d.code.0).err(), Some("S441"));
    }
}
