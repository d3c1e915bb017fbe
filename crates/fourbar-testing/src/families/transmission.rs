//! Screws, racks, gear trains and planetary sets, some with a linkage driven by them.

use super::sketch::{Sketch, V};
use fourbar::spec::{JointSpec, PairKind};

/// A screw that lifts a nut, with or without a linkage driven by the nut.
pub fn screw(s: &mut Sketch) {
    let lead = s.draw.pick(&[-1.0, 1.0]) * s.draw.between(0.05, 1.0) * s.size;
    let foot = V::zeros();
    let high = V::z() * s.draw.between(0.4, 0.8);
    let [spindle, nut] = [s.body(&[foot, high]), s.body(&[high])];
    let motor = s.hinge([0, spindle], &foot, &V::z());
    s.driveable.push(motor);
    s.may_be_rough = false;
    s.joint(PairKind::Screw { lead }, [spindle, nut], &high, &V::z());
    let knee = s.draw.near(0.8, 0.0, 0.1) + high * 0.4;
    if s.draw.once_in(2) {
        let axis = V::z();
        s.joint(PairKind::Prismatic, [0, nut], &high, &axis);
    } else {
        // The nut is kept from turning by a link and a lever.
        let end = V::new(0.8, 0.0, 0.0);
        let [link, lever] = [s.body(&[high, knee]), s.body(&[knee, end])];
        s.hinge([nut, link], &high, &V::y());
        s.hinge([link, lever], &knee, &V::y());
        s.hinge([0, lever], &end, &V::y());
    }
}

/// A pinion on a rack, on which a pendulum may hang.
pub fn rack(s: &mut Sketch) {
    let radius = s.draw.between(0.2, 0.6);
    let centre = V::new(0.0, radius, 0.0);
    let [pinion, bar] = [s.body(&[centre, V::zeros()]), s.body(&[V::zeros(), V::new(1.0, 0.0, 0.0)])];
    let hinge = s.pin([0, pinion], &centre);
    let slide = s.joint(PairKind::Prismatic, [0, bar], &V::zeros(), &V::x());
    let radius = s.draw.pick(&[-1.0, 1.0]) * radius * s.size;
    s.couple(JointSpec::Rack { joints: [hinge.clone(), slide.clone()], radius });
    let driven = s.draw.pick(&[&hinge, &slide]).clone();
    s.driveable.push(driven);
    if s.draw.once_in(2) {
        let (at, axis) = (V::new(1.0, 0.0, 0.0), s.draw.unit());
        let bob = s.body(&[at, at + V::new(0.0, -0.6, 0.0)]);
        s.hinge([bar, bob], &at, &axis);
    }
    if s.draw.once_in(3) {
        let arm = s.body(&[centre, centre + V::new(-0.5, 0.2, 0.1)]);
        s.ball([pinion, arm], &(centre + V::new(-0.2, 0.1, 0.0)));
    }
}

/// Wheels side by side, axes parallel or not, with an eccentric load.
pub fn gears(s: &mut Sketch) {
    let n = 2 + s.draw.below(3);
    let mut last: Option<String> = None;
    for k in 0..n {
        let at = V::new(0.6 * k as f64, s.draw.between(-0.2, 0.2), 0.0);
        let axis = if s.draw.once_in(3) { s.draw.unit() } else { V::z() };
        let wheel = s.body(&[at, at + V::x() * 0.3]);
        let bearing = s.hinge([0, wheel], &at, &axis);
        if let Some(last) = last.replace(bearing.clone()) {
            let ratio = s.draw.pick(&[-1.0, 1.0]) * s.draw.between(0.4, 2.5);
            s.couple(JointSpec::Gear { joints: [last, bearing], ratio, carrier: None });
        } else {
            s.driveable.push(bearing);
        }
    }
}

/// Sun, carrier and planets in a fixed ring; without the ring a second freedom remains. Several planets make it redundant.
pub fn planetary(s: &mut Sketch) {
    let planets = 1 + s.draw.below(3);
    let ratio = s.draw.between(0.3, 0.7);
    let (sun_radius, planet_radius) = (ratio, 1.0 - ratio);
    let ring = !s.draw.once_in(4);
    let centre = V::zeros();
    let [sun, carrier] = [s.body(&[centre, V::x() * sun_radius]), s.body(&[centre, V::x()])];
    let below = V::z() * -0.2;
    let carrier_bearing = s.hinge([0, carrier], &below, &V::z());
    let sun_on_carrier = s.hinge([carrier, sun], &centre, &V::z());
    s.driveable.push(carrier_bearing.clone());
    let turn = s.draw.between(0.0, 6.0);
    for k in 0..planets {
        let a = turn + std::f64::consts::TAU * k as f64 / planets as f64;
        let at = V::new(a.cos(), a.sin(), 0.0);
        let planet = s.body(&[at, at * (1.0 + planet_radius)]);
        let pin = s.hinge([carrier, planet], &at, &V::z());
        s.couple(JointSpec::Gear { joints: [sun_on_carrier.clone(), pin.clone()], ratio: -sun_radius / planet_radius, carrier: None });
        if ring {
            let ratio = -(sun_radius + 2.0 * planet_radius) / planet_radius;
            s.couple(JointSpec::Gear { joints: [carrier_bearing.clone(), pin], ratio, carrier: None });
        }
    }
}
