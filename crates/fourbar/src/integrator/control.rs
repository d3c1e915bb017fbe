//! The one loop over steps: until a time is passed, asking now and then whether to continue; and, for methods that try steps of a given
//! size, the loop over the tries of one step.

use crate::diagnostic::Diagnostic;
use crate::stop;

/// What moves through time in steps of its own.
pub trait Stepping {
    /// The end of the last step.
    fn time(&self) -> f64;
    /// One step towards `t` or beyond it; every step makes progress, or fails.
    fn step_towards(&mut self, t: f64) -> Result<(), Diagnostic>;
    /// Whether this is a step after which to ask whether to continue: the more often the longer a step takes, so that a run between two
    /// output times can be stopped too.
    fn asks(&self) -> bool;
}

/// Steps until `t` is passed; `false` where it was asked to stop.
pub fn advance<S: Stepping>(s: &mut S, t: f64, go_on: &mut dyn FnMut(f64) -> bool) -> Result<bool, Diagnostic> {
    while s.time() < t {
        s.step_towards(t)?;
        stop::check()?;
        if s.asks() && !go_on(s.time().min(t)) {
            return Ok(false);
        }
    }
    Ok(true)
}

/// After how many steps of a system of some size a run asks whether it may continue: often enough to stop in a tenth of a second.
pub fn asked_every(size: usize) -> usize {
    (1024 / size.max(1)).clamp(1, 64)
}

/// The first of some times in order ([`crate::Model::time_marks`]) behind `from`, or `target` where none lies before it.
pub fn next_end(ends: &[f64], from: f64, target: f64) -> f64 {
    ends.get(ends.partition_point(|t| *t <= from)).map_or(target, |t| t.min(target))
}

/// How long steps are.
#[derive(Clone, Debug)]
pub struct Pace {
    /// Step to try next, s.
    pub h: f64,
    /// The step where it is not chosen by the error.
    pub fixed: Option<f64>,
    /// Up to where steps may pass the times that are requested.
    pub ahead: f64,
    /// Smaller steps lead nowhere, s.
    pub smallest: f64,
    /// Times at which steps end, in order: [`crate::Model::time_marks`].
    pub ends: Vec<f64>,
}

impl Pace {
    /// The least step at a time: smaller ones lead nowhere, or are lost in its rounding.
    pub fn least(&self, t: f64) -> f64 {
        self.smallest.max(16.0 * f64::EPSILON * t.abs())
    }

    /// Where a step from a time towards `target` ends at the latest.
    pub fn end(&self, from: f64, target: f64) -> f64 {
        next_end(&self.ends, from + self.least(from), target)
    }

    /// A step where the error decides and `left` is left: a last step much shorter than those before it is avoided.
    pub fn evened(&self, left: f64) -> f64 {
        match left / self.h {
            x if x <= 1.0 + 1e-9 => left,
            x if x < 1.6 => 0.5 * left,
            _ => self.h,
        }
    }

    /// Fixed steps that were cut in trouble grow again from one time that is requested to the next.
    pub fn recover(&mut self) {
        if let Some(nominal) = self.fixed {
            self.h = (2.0 * self.h).min(nominal);
        }
    }
}

/// A step that was tried and not taken.
pub struct Refused<W> {
    /// The next try is smaller by this factor.
    pub factor: f64,
    /// Why.
    pub why: W,
    /// Whether the run ends where the next try would be smaller than any that leads somewhere.
    pub ends: bool,
}

/// A method that tries steps of a given size.
pub trait Tries {
    /// Why a step is not taken.
    type Why;
    /// How long steps are.
    fn pace(&self) -> &Pace;
    /// The same, to be changed.
    fn pace_mut(&mut self) -> &mut Pace;
    /// The end of the last step.
    fn time(&self) -> f64;
    /// The last step ended at this very time; only rounding says otherwise.
    fn arrive(&mut self, t: f64);
    /// Where the next step may end at the latest, at `end` or before.
    fn landing(&self, end: f64) -> f64 {
        end
    }
    /// A step where the error decides, `left` being left.
    fn fitted(&self, left: f64) -> f64;
    /// A fixed step of this size, or one that equals it to rounding.
    fn kept(&self, h: f64) -> f64 {
        h
    }
    /// Tries a step of size `h`, for the `tries`-th time, and takes it where it is good enough: with a fixed step, where it can be made.
    /// Where the error decides it sets the step to try next.
    fn attempt(&mut self, h: f64, tries: usize) -> Result<(), Refused<Self::Why>>;
    /// A step was taken, as it was wished for at first or a smaller one: what ends a run is found here.
    fn taken(&mut self, as_wished: bool) -> Result<(), Diagnostic>;
    /// The diagnostic where steps have become too small; `h` is the last one tried.
    fn too_small(&mut self, h: f64, why: Self::Why) -> Diagnostic;
    /// The diagnostic of a step that does not change the time.
    fn lost(&self, from: f64, h: f64) -> Diagnostic {
        Diagnostic::new("S230", format!("the step at t = {from:.6} s fails with h = {h:.2e} s: it is lost in the rounding of time"))
            .time(from)
            .help("choose a larger step or tolerance, or an earlier end")
    }
}

/// One step of a method that tries: a fixed one that lands on `t` or takes its part of the way there, or one that the error decides about.
pub fn step<M: Tries>(m: &mut M, t: f64) -> Result<(), Diagnostic> {
    match m.pace().fixed {
        Some(nominal) => fixed(m, t, nominal),
        None => adaptive(m, t),
    }
}

/// Tries steps of about `h` until one is taken; gives its size.
fn tried<M: Tries>(m: &mut M, mut h: f64) -> Result<f64, Diagnostic> {
    let mut tries = 0;
    loop {
        tries += 1;
        let Err(refused) = m.attempt(h, tries) else { return Ok(h) };
        let last = h;
        h *= refused.factor;
        if m.pace().fixed.is_none() {
            m.pace_mut().h = h;
        }
        if refused.ends && h < m.pace().least(m.time()) {
            return Err(m.too_small(last, refused.why));
        }
    }
}

fn fixed<M: Tries>(m: &mut M, t: f64, nominal: f64) -> Result<(), Diagnostic> {
    let from = m.time();
    let left = t - from;
    if left > 1e-9 * nominal {
        let n = (left / m.pace().h - 1e-6).ceil().max(1.0);
        let h = m.kept(left / n);
        let taken = tried(m, h)?;
        m.taken(taken >= h)?;
        if m.time() <= from {
            return Err(m.lost(from, taken));
        }
        if taken < 0.75 * h {
            m.pace_mut().h = taken;
        }
    }
    if (t - m.time()).abs() <= 1e-9 * nominal {
        m.arrive(t);
    }
    Ok(())
}

fn adaptive<M: Tries>(m: &mut M, t: f64) -> Result<(), Diagnostic> {
    let ahead = m.pace().ahead;
    let from = m.time();
    let target = m.pace().end(from, m.landing(if t > ahead { t } else { ahead }));
    let left = target - from;
    // A step of some last digits of the time would move nothing.
    if left <= 8.0 * f64::EPSILON * from.abs() {
        m.arrive(target);
        return Ok(());
    }
    let h = m.fitted(left);
    let taken = tried(m, h)?;
    if taken == left {
        m.arrive(target);
    }
    m.taken(taken == h)?;
    if m.time() <= from { Err(m.lost(from, taken)) } else { Ok(()) }
}
