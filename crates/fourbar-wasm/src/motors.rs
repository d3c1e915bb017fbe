//! Motors that continue from a pose not reached by their functions of time.

use fourbar::expr::{Expr, Kind, Symbol};
use fourbar::force::eval::{Plain, coordinate_of};
use fourbar::model::{Drive, JointCoordinate, Model};
use fourbar::state::Configuration;
use fourbar::time::TimeFunction;

/// Tolerance for the agreement of a pose with its drives, in rad or characteristic lengths: rounding and interpolation of a page.
const NEAR: f64 = 1e-3;

/// Position and speed of the coordinate of a drive.
fn coordinate(model: &Model, drive: &Drive, at: &Configuration) -> (f64, f64) {
    let x = Plain { t: at.t, q: &at.q, v: &at.v, turns: &at.turns, loads: &[], z: &at.z };
    coordinate_of(model, drive.joint, Some(drive.coordinate), &x)
}

/// Whether all drives agree with their functions of time; drives by acceleration continue from any position.
pub fn led(model: &Model, at: &Configuration) -> bool {
    model.drives.iter().all(|d| {
        if matches!(&d.value, TimeFunction::Integral(i) if i.is_twice()) {
            return true;
        }
        let off = coordinate(model, d, at).0 - d.value.at(at.t)[0];
        match d.coordinate {
            JointCoordinate::Angle => (off - std::f64::consts::TAU * (off / std::f64::consts::TAU).round()).abs() <= NEAR,
            _ => off.abs() <= NEAR * model.length,
        }
    })
}

/// Makes this state, at time zero, the drawn one of the mechanism, with drives that begin there.
pub fn begin_at(model: &mut Model, at: &Configuration) {
    for (b, (q, v)) in model.bodies.iter_mut().zip(at.q.iter().zip(&at.v)).skip(1) {
        (b.r, b.A, b.v, b.omega) = (q.r, q.A, v.v, q.A * v.w);
    }
    model.hold.clear();
    model.start.clear();
    for k in 0..model.drives.len() {
        let (position, speed) = coordinate(model, &model.drives[k], at);
        let shifted = match &model.drives[k].value {
            TimeFunction::Value(law) => shifted(law, position),
            TimeFunction::Integral(i) => match i.rate().constant_value().filter(|_| !i.is_twice()) {
                Some(rate) => Some(Expr::line(position, rate)),
                None => {
                    i.place(0.0, position, speed);
                    None
                }
            },
        };
        if let Some(law) = shifted {
            model.drives[k].value = TimeFunction::Value(law);
        }
    }
}

/// A function of time shifted to begin with a given value.
fn shifted(law: &Expr, start: f64) -> Option<Expr> {
    let by = start - law.time_derivatives(0.0)[0];
    Expr::parse("law + by", &mut |name| match name {
        "law" => Some(Symbol::Function(law.clone(), Kind::Unknown)),
        "by" => Some(Symbol::Value(by)),
        _ => None,
    })
    .ok()
}
