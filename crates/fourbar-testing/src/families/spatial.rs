//! Spatial loops: rings of any joints, the overconstrained linkages of Bennett and Sarrus, tables on parallel legs.

use super::sketch::{Sketch, V};
use fourbar::spec::PairKind;

/// One loop of joints by letters, with the ground as one of its links. Some of these have no degree of freedom.
pub fn ring(s: &mut Sketch, letters: &str) {
    let n = letters.len();
    let points: Vec<V> = (0..n)
        .map(|k| {
            let a = std::f64::consts::TAU * k as f64 / n as f64;
            V::new(a.cos(), a.sin(), 0.0) + s.draw.vector() * 0.35
        })
        .collect();
    let mut links = vec![0];
    for k in 1..n {
        links.push(s.body(&[points[k - 1], points[k]]));
    }
    for (k, letter) in letters.chars().enumerate() {
        let kind = match letter {
            'R' => PairKind::Revolute,
            'P' => PairKind::Prismatic,
            'C' => PairKind::Cylindrical,
            'U' => PairKind::Universal,
            'H' => PairKind::Screw { lead: s.draw.pick(&[-1.0, 1.0]) * s.draw.between(0.1, 1.0) * s.size },
            _ => PairKind::Spherical,
        };
        let axis = s.draw.unit();
        let (a, b) = (links[k], links[(k + 1) % n]);
        // The last joint is on the ground, as base or moving body.
        let bodies = if b == 0 { [0, a] } else { [a, b] };
        let name = s.joint(kind, bodies, &points[k], &axis);
        let freedoms: usize = letters.chars().map(freedoms).sum();
        if k == 0 && freedoms > 6 && kind == PairKind::Revolute {
            s.driveable.push(name);
        }
    }
}

fn freedoms(letter: char) -> usize {
    match letter {
        'R' | 'P' | 'H' => 1,
        'C' | 'U' => 2,
        _ => 3,
    }
}

/// A random ring of joints with one to three freedoms; with screws it is not drawn inexactly.
pub fn any_ring(s: &mut Sketch) {
    loop {
        let n = 3 + s.draw.below(5);
        let word: String = (0..n).map(|_| s.draw.pick(&['R', 'R', 'P', 'C', 'U', 'S', 'H'])).collect();
        let total: usize = word.chars().map(freedoms).sum();
        let turns = word.chars().map(|l| freedoms(l) - usize::from(l == 'P' || l == 'C')).sum::<usize>();
        let balls = word.chars().filter(|l| *l == 'S').count();
        if (7..=9).contains(&total) && turns >= 4 && balls <= 2 {
            s.may_be_rough = !word.contains('H');
            return ring(s, &word);
        }
    }
}

/// Bennett's linkage as a skew isogram: opposite edges are equal, each axis is normal to the edges at its corner.
pub fn bennett(s: &mut Sketch) {
    let (p, q) = (s.draw.between(0.5, 1.2), s.draw.between(0.5, 1.2));
    let (h, angle) = (s.draw.between(0.15, 0.5), s.draw.between(0.6, 1.3));
    let b = V::new(q * angle.cos(), q * angle.sin(), -h);
    let corners = [V::new(p, 0.0, h), b, V::new(-p, 0.0, h), V::new(-b.x, -b.y, -h)];
    let mut links = vec![0];
    for k in 1..4 {
        links.push(s.body(&[corners[k - 1], corners[k]]));
    }
    for k in 0..4 {
        let axis = (corners[(k + 1) % 4] - corners[k]).cross(&(corners[(k + 3) % 4] - corners[k]));
        let name = s.hinge([links[k], links[(k + 1) % 4]], &corners[k], &axis);
        if k == 0 {
            s.driveable.push(name);
        }
    }
}

/// Sarrus' straight-line guide: a plate on legs of two links, each with three parallel hinges.
pub fn sarrus(s: &mut Sketch) {
    let legs = 2 + s.draw.below(2);
    let height = s.draw.between(0.8, 1.4);
    let directions: Vec<f64> = (0..legs).map(|k| 1.7 * k as f64 + s.draw.between(-0.3, 0.3)).collect();
    let tips: Vec<V> = directions.iter().map(|a| V::new(0.4 * a.cos(), 0.4 * a.sin(), height)).collect();
    let plate = s.body(&tips);
    for (k, a) in directions.iter().enumerate() {
        let out = V::new(a.cos(), a.sin(), 0.0);
        let (foot, knee) = (out * 0.4, out * s.draw.between(0.8, 1.2) + V::z() * (0.5 * height));
        let axis = V::z().cross(&out);
        let [lower, upper] = [s.body(&[foot, knee]), s.body(&[knee, tips[k]])];
        let motor = s.hinge([0, lower], &foot, &axis);
        if k == 0 {
            s.driveable.push(motor);
        }
        s.hinge([lower, upper], &knee, &axis);
        s.hinge([upper, plate], &tips[k], &axis);
    }
}

/// A table on equal parallel legs: hinged in one plane, or on crosses and balls.
pub fn table(s: &mut Sketch) {
    let legs = 3 + s.draw.below(2);
    let lean = V::new(s.draw.between(-0.5, 0.5), s.draw.between(-0.5, 0.5), 1.0);
    let hinged = s.draw.once_in(2);
    let feet: Vec<V> = (0..legs)
        .map(|k| {
            let a = std::f64::consts::TAU * k as f64 / legs as f64;
            V::new(0.7 * a.cos(), 0.7 * a.sin(), 0.0) + s.draw.vector() * 0.1
        })
        .collect();
    let tips: Vec<V> = feet.iter().map(|f| f + lean).collect();
    let top = s.body(&tips);
    let across = V::y().cross(&lean).cross(&lean);
    for k in 0..legs {
        let leg = s.body(&[feet[k], tips[k]]);
        if hinged {
            s.hinge([0, leg], &feet[k], &across);
            s.hinge([leg, top], &tips[k], &across);
        } else {
            s.joint(PairKind::Universal, [0, leg], &feet[k], &V::x());
            s.ball([leg, top], &tips[k]);
        }
    }
}
