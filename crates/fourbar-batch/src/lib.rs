//! Many variants of one mechanism advanced together, one in each lane of the processor's vector registers.
//!
//! Mechanisms of the same structure share a batch: the same bodies in the same tree, the same loops, drives on the same joints. All their
//! numbers may differ. Open trees and closed loops of revolute, prismatic and fixed joints are integrated in joint coordinates (`grcr`) by
//! an explicit method, with fixed steps or with adaptive steps in each lane; fully driven mechanisms use kinematics. The width of the
//! registers is detected at run time.
//!
//! The bits of a lane do not depend on the other lanes, so that results depend neither on the width of the registers nor on the
//! distribution of cases. They agree with those of an ordinary run up to rounding with fixed steps and in kinematics, and within the
//! tolerance with adaptive steps. A lane that needs special treatment (a dead point, a joint that cannot close, steps that become too
//! small, energy that does not balance) leaves the batch, and its mechanism has to be run by [`fourbar::study::run`]; the same applies to
//! unsupported mechanisms.
//!
//! ```
//! use fourbar::Trajectory;
//! use fourbar_batch::Ended;
//! use fourbar::mechanism::{Body, GROUND, Mechanism};
//! use fourbar::study::Study;
//!
//! let pendulum = |length: f64| {
//!     Mechanism::new()
//!         .gravity([0.0, 0.0, -9.81])
//!         .body("rod", Body::new().mass(1.0).inertia([1e-4, 0.1, 0.1]).at([length, 0.0, 0.0]))
//!         .revolute("pin", GROUND, "rod").at([0.0, 0.0, 0.0]).axis([0.0, 1.0, 0.0])
//!         .build()
//! };
//! let models = [0.4, 0.5, 0.6].map(|x| pendulum(x)).into_iter().collect::<Result<Vec<_>, _>>()?;
//! let studies: Vec<Study> =
//!     models.iter().map(|m| Study { formulation: Some("grcr".into()), t_end: 1.0, output_step: 0.1, ..Study::of(m) }).collect();
//! let mut runs = vec![Trajectory::default(); 3];
//! let cases: Vec<_> = models.iter().zip(&studies).collect();
//! let ended = fourbar_batch::run(&cases, &mut runs);
//! assert!(ended.iter().all(|e| matches!(e, Ended::Well { .. })));
//! // The longer one swings more slowly.
//! assert!(runs[2].column("pin.angle").map(|a| a[1]) < runs[0].column("pin.angle").map(|a| a[1]));
//! # Ok::<(), fourbar::Error>(())
//! ```

#![allow(non_snake_case)]
// Comparisons are negated so that a lane with NaN is lost as well.
#![allow(clippy::neg_cmp_op_on_partial_ord)]
#![cfg_attr(not(test), deny(clippy::disallowed_methods))]

mod between;
mod follow;
mod kernel;
mod motion;
mod passes;
mod prepare;
mod record;
mod waiting;

pub use passes::LANES;

use fourbar::model::Model;
use fourbar::study::{Observer, Study};
use motion::Lanes;
use prepare::{Prepared, prepare};

/// Result of a case.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ended {
    /// It reached its end.
    Well {
        /// Steps.
        steps: usize,
        /// Evaluations of the accelerations.
        evaluations: usize,
    },
    /// It has to be run separately, for this reason; rows already passed to its observer are invalid.
    Alone(String),
    /// Its observer stopped it.
    Stopped,
}

/// The reason why a mechanism with its study cannot share a batch, as far as it is known before assembly.
pub fn refusal(model: &Model, study: &Study) -> Option<String> {
    prepare::refusal(model, study)
}

/// Runs mechanisms together, each with its study; the rows of each go to the observer with the same index. Those that cannot share a batch
/// or drop out of it are not run here.
pub fn run<O: Observer>(cases: &[(&Model, &Study)], observers: &mut [O]) -> Vec<Ended> {
    let mut ended = vec![Ended::Alone("it has no observer".into()); cases.len()];
    let mut waiting: Vec<(usize, Prepared<'_>, &mut O)> = Vec::new();
    let mut lanes: Option<Lanes<'_, '_>> = None;
    let mut rest = cases.iter().zip(observers).enumerate();
    loop {
        // Free lanes are filled with cases of the same form; cases of other forms wait.
        while lanes.as_ref().is_none_or(|l| l.free().is_some()) {
            let Some((number, ((model, study), observer))) = rest.next() else { break };
            match prepare(model, study, observer.wants()) {
                Err(why) => ended[number] = Ended::Alone(why),
                Ok(ready) => {
                    let lanes = lanes.get_or_insert_with(|| Lanes::new(&ready));
                    match lanes.free().filter(|_| lanes.fits(&ready)) {
                        Some(lane) => lanes.enter(lane, number, ready, observer),
                        None => waiting.push((number, ready, observer)),
                    }
                }
            }
        }
        let Some(moving) = &mut lanes else { break };
        if moving.idle() {
            // All cases have been examined: those waiting have another form.
            let Some((_, first, _)) = waiting.first() else { break };
            let mut next = Lanes::new(first);
            let mut others = Vec::new();
            for (number, ready, observer) in waiting.drain(..) {
                match next.free().filter(|_| next.fits(&ready)) {
                    Some(lane) => next.enter(lane, number, ready, observer),
                    None => others.push((number, ready, observer)),
                }
            }
            waiting = others;
            lanes = Some(next);
            continue;
        }
        moving.advance(&mut |number, how| {
            ended[number] = match how {
                motion::Ended::Well([steps, evaluations]) => Ended::Well { steps, evaluations },
                motion::Ended::Alone(why) => Ended::Alone(why.into()),
                motion::Ended::Stopped => Ended::Stopped,
            }
        });
    }
    ended
}
