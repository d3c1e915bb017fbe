//! Checks of a path, and forward simulation with the computed efforts.

use super::{Chosen, Inverse};
use fourbar::diagnostic::number;
use fourbar::expr::Expr;
use fourbar::inputs::{Between, Course};
use fourbar::study::{Analysis, Study, run};
use fourbar::trajectory::Trajectory;
use fourbar::{Diagnostic, Error};

/// An instant at which the acceleration of a path jumps.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Jump {
    /// Time, s.
    pub t: f64,
    /// Size of the jump, m/s^2.
    pub size: f64,
}

impl Jump {
    pub(super) fn warning(&self, c: &Chosen) -> Diagnostic {
        let message = format!(
            "the acceleration of the path `{}` jumps by {} m/s^2 at t = {} s, and efforts with it",
            c.path,
            number(self.size),
            number(self.t)
        );
        Diagnostic::new("W420", message).time(self.t).name(&c.path).help("take `profile: minimum-jerk`, or `smoothstep` in expressions")
    }
}

/// The first jump of the acceleration of a path.
pub(super) fn jumps(c: &Chosen, t_end: f64, step: f64) -> Option<Jump> {
    let found = c.functions.iter().flatten().filter(|e| e.has_pieces()).filter_map(|e| jump(e, t_end, step));
    found.min_by(|a, b| a.t.total_cmp(&b.t))
}

fn jump(e: &Expr, t_end: f64, step: f64) -> Option<Jump> {
    let count = ((t_end / step.max(1e-6 * t_end)) * 4.0).ceil().clamp(16.0, 1e6) as usize;
    let time = |k: usize| t_end * k as f64 / count as f64;
    let largest = (0..=count).map(|k| e.time_derivatives(time(k))[2].abs()).fold(0.0, f64::max);
    for k in 0..count {
        let (mut a, mut b) = (time(k), time(k + 1));
        let piece = e.pieces_at(&[a]);
        if piece == e.pieces_at(&[b]) {
            continue;
        }
        for _ in 0..50 {
            let middle = 0.5 * (a + b);
            if e.pieces_at(&[middle]) == piece { a = middle } else { b = middle }
        }
        let size = (e.time_derivatives(b)[2] - e.time_derivatives(a)[2]).abs();
        if size > 1e-3 * largest {
            return Some(Jump { t: b, size });
        }
    }
    None
}

/// Simulates the mechanism with the computed efforts, interpolated linearly between the rows. Returns the motion, and the largest deviation
/// of a body position, m, with its time.
pub fn forward(found: &Inverse, study: &Study) -> Result<(Trajectory, f64, f64), Error> {
    let times = found.run.column("t").unwrap_or(&[]).to_vec();
    let mut study = Study { analysis: Some(Analysis::Dynamics), mode: None, ..study.clone() };
    study.inputs = found
        .motors
        .iter()
        .enumerate()
        .map(|(k, m)| Ok((format!("{}_effort", m.name), Course::table(times.clone(), found.of(k, "effort").to_vec(), Between::Linear)?)))
        .collect::<Result<_, Diagnostic>>()?;
    let mut model = found.model.clone();
    place_at_start(found, &mut model);
    let mut moved = Trajectory::default();
    run(&model, &study, &mut moved)?;
    let (mut worst, mut when) = (0.0_f64, 0.0);
    for b in model.bodies.iter().skip(1) {
        for axis in ["x", "y", "z"] {
            let name = format!("{}.r.{axis}", b.name);
            let (Some(x), Some(y)) = (moved.column(&name), found.run.column(&name)) else { continue };
            for (k, (x, y)) in x.iter().zip(y).enumerate() {
                if (x - y).abs() > worst {
                    worst = (x - y).abs();
                    when = times[k];
                }
            }
        }
    }
    Ok((moved, worst, when))
}

/// Sets the start of the forward simulation to that of the path, including velocities.
fn place_at_start(found: &Inverse, model: &mut fourbar::Model) {
    for b in model.bodies.iter_mut().skip(1) {
        let first = |key: &str| found.run.column(&format!("{}.{key}", b.name)).and_then(|c| c.first().copied()).unwrap_or(0.0);
        let vector = |key: &str| nalgebra::Vector3::new(first(&format!("{key}.x")), first(&format!("{key}.y")), first(&format!("{key}.z")));
        let A = fourbar_math::so3::from_quaternion(&[first("p.0"), first("p.1"), first("p.2"), first("p.3")]);
        b.v = vector("v");
        b.omega = vector("omega");
        b.r = vector("r");
        b.A = A;
    }
}
