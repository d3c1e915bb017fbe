//! Lists of numbers in checkpoints of implicit methods.

use crate::absolute::chart::Rate;
use crate::motion::numbers;
use crate::state::Pose;
use serde_json::Value;

/// The numbers of rates, stored consecutively.
pub(crate) fn flat<R: Rate>(x: &[R]) -> Vec<f64> {
    let mut out = Vec::with_capacity(R::SIZE * x.len());
    x.iter().for_each(|r| r.write(&mut out));
    out
}

/// Reads the result of [`flat`]; `None` if the number of values differs.
pub(crate) fn unflat<R: Rate>(v: &Value, out: &mut [R]) -> Option<()> {
    let x = numbers(v);
    (x.len() == R::SIZE * out.len()).then(|| out.iter_mut().zip(x.chunks_exact(R::SIZE)).for_each(|(o, x)| *o = R::read(x)))
}

/// The numbers of poses, positions before rotation matrices.
pub(crate) fn poses(q: &[Pose]) -> Vec<f64> {
    q.iter().flat_map(|q| q.r.iter().chain(q.A.iter()).copied()).collect()
}

/// Reads the result of [`poses`]; `None` if the number of values differs.
pub(crate) fn unflat_poses(v: &Value, out: &mut [Pose]) -> Option<()> {
    let x = numbers(v);
    (x.len() == 12 * out.len()).then(|| {
        for (q, x) in out.iter_mut().zip(x.chunks_exact(12)) {
            q.r.copy_from_slice(&x[..3]);
            q.A.copy_from_slice(&x[3..]);
        }
    })
}

/// Reads a list of as many numbers as `out` has.
pub(super) fn list(v: &Value, out: &mut [f64]) -> Option<()> {
    let x = numbers(v);
    (x.len() == out.len()).then(|| out.copy_from_slice(&x))
}
