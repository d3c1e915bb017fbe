//! Mechanisms of one plane, z = 0 of the sketch: four-bars, six-bars, geared five-bars, parallelograms, a robot.

use super::sketch::{Sketch, V};
use fourbar::spec::{JointSpec, PairKind};

pub fn four_bar(s: &mut Sketch) {
    four_bar_points(s);
}

/// A four-bar O-A-B-C: its points and bodies (crank, coupler, rocker).
fn four_bar_points(s: &mut Sketch) -> ([V; 4], [usize; 3]) {
    let o = V::zeros();
    let c = s.draw.near(1.2, 0.0, 0.2);
    let angle = s.draw.between(0.3, 2.6);
    let a = V::new(angle.cos(), angle.sin(), 0.0) * s.draw.between(0.25, 0.6);
    let b = s.draw.near(1.3, 0.8, 0.25);
    let (crank, coupler, rocker) = (s.body(&[o, a]), s.body(&[a, b]), s.body(&[c, b]));
    let motor = s.pin([0, crank], &o);
    s.driveable.push(motor);
    s.pin([crank, coupler], &a);
    s.pin([coupler, rocker], &b);
    // Sometimes without the twofold redundancy of a planar loop in space.
    if s.draw.once_in(3) {
        s.ball([rocker, 0], &c);
    } else {
        s.pin([rocker, 0], &c);
    }
    ([o, a, b, c], [crank, coupler, rocker])
}

pub fn slider_crank(s: &mut Sketch) {
    let o = V::zeros();
    let a = s.draw.near(0.15, 0.3, 0.12);
    let b = s.draw.near(1.3, 0.0, 0.15);
    let (crank, rod, piston) = (s.body(&[o, a]), s.body(&[a, b]), s.body(&[b]));
    let motor = s.pin([0, crank], &o);
    s.driveable.push(motor);
    s.pin([crank, rod], &a);
    s.pin([rod, piston], &b);
    let kind = s.draw.pick(&[PairKind::Prismatic, PairKind::Cylindrical]);
    s.joint(kind, [0, piston], &b, &V::x());
}

pub fn geared_five_bar(s: &mut Sketch) {
    let (o, e) = (V::zeros(), s.draw.near(1.0, 0.0, 0.1));
    let (a, b) = (s.draw.near(-0.1, 0.4, 0.15), s.draw.near(1.1, 0.4, 0.15));
    let p = s.draw.near(0.5, 1.1, 0.15);
    let [first, second] = [s.body(&[o, a]), s.body(&[e, b])];
    let [left, right] = [s.body(&[a, p]), s.body(&[b, p])];
    let motor = s.pin([0, first], &o);
    let other = s.pin([0, second], &e);
    s.pin([first, left], &a);
    s.pin([second, right], &b);
    s.pin([left, right], &p);
    let ratio = s.draw.pick(&[-1.0, 1.0, -0.5, 2.0, 1.7]);
    s.couple(JointSpec::Gear { joints: [motor.clone(), other], ratio, carrier: None });
    s.driveable.push(motor);
}

pub fn stephenson(s: &mut Sketch) {
    let (_, [_, coupler, _]) = four_bar_points(s);
    let (c, d, e) = (s.draw.near(0.7, 1.2, 0.15), s.draw.near(-0.2, 1.5, 0.2), s.draw.near(-0.5, 0.7, 0.2));
    let [link, last] = [s.body(&[c, d]), s.body(&[d, e])];
    s.pin([coupler, link], &c);
    s.pin([link, last], &d);
    s.pin([last, 0], &e);
}

pub fn watt(s: &mut Sketch) {
    let (_, [_, _, rocker]) = four_bar_points(s);
    let (c, d, e) = (s.draw.near(1.7, 0.6, 0.15), s.draw.near(2.5, 0.9, 0.2), s.draw.near(2.4, 0.0, 0.2));
    let [link, last] = [s.body(&[c, d]), s.body(&[d, e])];
    s.pin([rocker, link], &c);
    s.pin([link, last], &d);
    s.pin([last, 0], &e);
}

/// Equal cranks side by side with couplers between neighbours, or one coupler over all of them, which is redundant even in the
/// plane.
pub fn parallelograms(s: &mut Sketch) {
    let n = 2 + s.draw.below(3);
    let one = s.draw.once_in(3);
    let angle = s.draw.between(0.5, 2.6);
    let arm = V::new(angle.cos(), angle.sin(), 0.0) * s.draw.between(0.4, 0.8);
    let feet: Vec<V> = (0..n).map(|k| V::new(0.7 * k as f64, 0.0, 0.0)).collect();
    let cranks: Vec<usize> = feet.iter().map(|f| s.body(&[*f, f + arm])).collect();
    for (k, &crank) in cranks.iter().enumerate() {
        let motor = s.pin([0, crank], &feet[k]);
        if k == 0 {
            s.driveable.push(motor);
        }
    }
    if one {
        let coupler = s.body(&[feet[0] + arm, feet[n - 1] + arm]);
        for (k, &crank) in cranks.iter().enumerate() {
            s.pin([crank, coupler], &(feet[k] + arm));
        }
    } else {
        for k in 1..n {
            let coupler = s.body(&[feet[k - 1] + arm, feet[k] + arm]);
            s.pin([cranks[k - 1], coupler], &(feet[k - 1] + arm));
            s.pin([coupler, cranks[k]], &(feet[k] + arm));
        }
    }
}

pub fn three_rrr(s: &mut Sketch) {
    let corner = |k: usize, radius: f64| {
        let a = std::f64::consts::TAU * k as f64 / 3.0;
        V::new(a.cos(), a.sin(), 0.0) * radius
    };
    let tips: Vec<V> = (0..3).map(|k| corner(k, 0.4) + s.draw.near(0.0, 0.0, 0.05)).collect();
    let plate = s.body(&tips);
    for (k, tip) in tips.iter().enumerate() {
        let foot = corner(k, 1.3) + s.draw.near(0.0, 0.0, 0.1);
        let side = V::z().cross(&(tip - foot)) * s.draw.between(0.4, 0.8);
        let knee = (tip + foot) * 0.5 + side;
        let [upper, lower] = [s.body(&[foot, knee]), s.body(&[knee, *tip])];
        let motor = s.pin([0, upper], &foot);
        if k == 0 {
            s.driveable.push(motor);
        }
        s.pin([upper, lower], &knee);
        s.pin([lower, plate], tip);
    }
}

pub fn scotch_yoke(s: &mut Sketch) {
    let (o, a) = (V::zeros(), s.draw.near(0.3, 0.3, 0.1));
    let [crank, yoke] = [s.body(&[o, a]), s.body(&[a, V::new(0.9, 0.0, 0.0)])];
    let motor = s.pin([0, crank], &o);
    s.driveable.push(motor);
    s.joint(PairKind::Prismatic, [0, yoke], &V::new(0.9, 0.0, 0.0), &V::x());
    if s.draw.once_in(2) {
        s.joint(PairKind::PointOnLine, [yoke, crank], &a, &V::y());
    } else {
        let block = s.body(&[a]);
        s.pin([crank, block], &a);
        s.joint(PairKind::Prismatic, [yoke, block], &a, &V::y());
    }
}
