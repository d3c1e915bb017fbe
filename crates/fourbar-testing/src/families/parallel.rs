//! Parallel robots: Stewart-like platforms, delta-like ones, the 3-RPS.

use super::sketch::{Sketch, V};
use fourbar::spec::PairKind;

fn corner(s: &mut Sketch, k: usize, of: usize, radius: f64, height: f64) -> V {
    let a = std::f64::consts::TAU * k as f64 / of as f64;
    V::new(a.cos(), a.sin(), 0.0) * radius + V::z() * height + s.draw.vector() * 0.06
}

/// A platform on three to six legs: rods, or cross, slide and ball.
pub fn stewart(s: &mut Sketch) {
    let legs = 3 + s.draw.below(4);
    let telescopic = s.draw.once_in(2);
    let feet: Vec<V> = (0..legs).map(|k| corner(s, 2 * k + k % 2, 2 * legs, 1.0, 0.0)).collect();
    let tips: Vec<V> = (0..legs).map(|k| corner(s, 2 * k + 1 - k % 2, 2 * legs, 0.5, 1.1)).collect();
    let top = s.body(&tips);
    for k in 0..legs {
        let (foot, tip) = (feet[k], tips[k]);
        if !telescopic {
            // Six rods would lock the platform.
            if k < 5 {
                s.rod([0, top], &foot, &tip);
            }
            continue;
        }
        let middle = (foot + tip) * 0.5;
        let [lower, upper] = [s.body(&[foot, middle]), s.body(&[middle, tip])];
        s.joint(PairKind::Universal, [0, lower], &foot, &V::x());
        let slide = s.joint(PairKind::Prismatic, [lower, upper], &middle, &(tip - foot));
        s.ball([upper, top], &tip);
        if k == 0 {
            s.driveable.push(slide);
        }
    }
}

/// Three arms with parallelograms of rods, or of links on crosses.
pub fn delta(s: &mut Sketch) {
    let arms: Vec<f64> = (0..3).map(|k| std::f64::consts::TAU * k as f64 / 3.0 + s.draw.between(-0.2, 0.2)).collect();
    let links = s.draw.once_in(2);
    let depth = s.draw.between(0.8, 1.1);
    let tip = |a: &f64| V::new(0.2 * a.cos(), 0.2 * a.sin(), -depth);
    let plate = s.body(&arms.iter().map(tip).collect::<Vec<_>>());
    for (k, a) in arms.iter().enumerate() {
        let out = V::new(a.cos(), a.sin(), 0.0);
        let axis = V::z().cross(&out);
        let foot = out * 0.4;
        let elbow = foot + out * s.draw.between(0.4, 0.6) - V::z() * s.draw.between(0.05, 0.3);
        let arm = s.body(&[foot, elbow]);
        let motor = s.hinge([0, arm], &foot, &axis);
        if k == 0 {
            s.driveable.push(motor);
        }
        for side in [-0.08, 0.08] {
            let (from, to) = (elbow + axis * side, tip(a) + axis * side);
            if links {
                let link = s.body(&[from, to]);
                s.joint(PairKind::Universal, [arm, link], &from, &axis);
                s.ball([link, plate], &to);
            } else {
                s.rod([arm, plate], &from, &to);
            }
        }
    }
}

pub fn three_rps(s: &mut Sketch) {
    let feet: Vec<V> = (0..3).map(|k| corner(s, k, 3, 1.0, 0.0)).collect();
    let tips: Vec<V> = (0..3).map(|k| corner(s, k, 3, 0.5, 1.2)).collect();
    let top = s.body(&tips);
    for k in 0..3 {
        let (foot, tip) = (feet[k], tips[k]);
        let middle = (foot + tip) * 0.5;
        let [lower, upper] = [s.body(&[foot, middle]), s.body(&[middle, tip])];
        let axis = V::z().cross(&foot);
        s.hinge([0, lower], &foot, &axis);
        let slide = s.joint(PairKind::Prismatic, [lower, upper], &middle, &(tip - foot));
        s.ball([upper, top], &tip);
        s.driveable.push(slide);
    }
}
