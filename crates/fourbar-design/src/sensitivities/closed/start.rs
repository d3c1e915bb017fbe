//! Adjoint of the assembled start of a mechanism with loops, and a test whether parameters keep its joints closed.

use super::super::Parameters;
use super::super::around::around;
use super::super::groups::Follows;
use super::super::state::{Varied, start_tangents};
use super::super::trees::Begin;
use super::motion::State;
use super::rows::{self, Moving, Pull, Weights};
use super::{BODY, Carried, DRAWN, Way, poses_back, velocities_back};
use fourbar::Error;
use fourbar::absolute::equations::Equations;
use fourbar::analysis::assembly::FLOOR;
use fourbar::random::Random;
use fourbar::schur::inverse_weights;
use fourbar::state::{Configuration, Wrench};
use fourbar_math::so3::tilde;
use nalgebra::DVector;

/// Number of parameters whose starts are differentiated forwards at once.
const AT_ONCE: usize = 16;
/// If the work of a parameter change on a self-stress is below this share of its terms, it is rounding.
const OPEN: f64 = 1e-6;
/// Joint gaps, for a change by the whole parameter, that are rounding errors, in characteristic lengths.
const ROUNDING: f64 = 1e-9;
/// Number of filter passes that isolate self-stresses.
const FILTERS: usize = 3;

/// Adds the covectors of the start to the data of the mechanism if it is drawn closed, otherwise to the parameters. `false` if neither is
/// possible.
pub fn gone_back(
    way: &Way<'_>,
    parameters: &Parameters<'_>,
    which: &[usize],
    begin: &Begin<'_>,
    carried: &mut [Carried],
) -> Result<bool, Error> {
    let (model, start) = (way.model, way.start);
    let drawn = Configuration::start(model);
    if model.start.is_empty() && model.hold.is_empty() && drawn.q == start.q && drawn.v == start.v {
        drawn_back(way, carried);
        return Ok(true);
    }
    if crate::operator::fits(model).is_err() {
        return Ok(false);
    }
    for (chunk, part) in which.chunks(AT_ONCE).enumerate() {
        let around = around(parameters, model, part)?;
        let mut varied = Varied::new(model, &around, start);
        let tangents = start_tangents(parameters, &mut varied, start, part, begin)?;
        for (k, x) in tangents.iter().enumerate() {
            for c in carried.iter_mut() {
                let along = |b: usize, l: &Pull| {
                    let at = 6 * (b - 1);
                    let three = |x: &DVector<f64>, at: usize| x.fixed_rows::<3>(at).into_owned();
                    l.r.dot(&three(&x.q, at)) + l.turn.dot(&three(&x.q, at + 3)) + l.v.dot(&three(&x.v, at)) + l.w.dot(&three(&x.v, at + 3))
                };
                c.by_parameter[chunk * AT_ONCE + k] += c.lambda.iter().enumerate().skip(1).map(|(b, l)| along(b, l)).sum::<f64>();
            }
        }
    }
    Ok(true)
}

/// Adjoint of the assembly of a start that is drawn closed. Its derivative is the smallest correction, in the metric of assembly, that
/// closes the gaps due to a change of the data.
fn drawn_back(way: &Way<'_>, carried: &mut [Carried]) {
    let Way { model, set, start, .. } = way;
    let mut e = Equations::of(model, set.clone(), start);
    e.p.inverse = inverse_weights(model, FLOOR);
    e.jacobian(&start.q);
    e.factor(1.0);
    let at = State::of(start);
    let n = model.bodies.len();
    let mut room = (vec![0.0; set.rows()], vec![Wrench::zero(); n], vec![Pull::default(); n]);
    for c in carried {
        let first = c.numbers.len() - rows::count(set);
        let (numbers, of_rows) = c.numbers.split_at_mut(first);
        velocities_back(&mut e, &at, &mut c.lambda, of_rows, &mut room);
        // Angular velocities are drawn in world axes: a rotation by assembly leaves their world components unchanged.
        let turned: Vec<_> = c.lambda.iter().zip(&at.v).map(|(l, v)| l.w.cross(&v.w)).collect();
        c.lambda.iter_mut().zip(&turned).for_each(|(l, t)| l.turn += t);
        poses_back(&mut e, &at, &mut c.lambda, of_rows, &mut room);
        for b in 1..n {
            let (l, A) = (&c.lambda[b], &at.q[b].A);
            let by_axes = A * tilde(&(l.turn - turned[b])) * 0.5;
            let place = 3 + BODY * (b - 1) + DRAWN;
            let all = l.r.iter().chain(by_axes.iter()).chain(l.v.iter()).chain(l.w.iter());
            numbers[place..].iter_mut().zip(all).for_each(|(n, x)| *n += x);
        }
    }
}

/// Whether no parameter opens a joint at some states, that is, whether the resulting changes of rows do no work on the `redundant`
/// self-stresses. Overwrites the factorisation.
pub fn stay_closed(e: &mut Equations<'_>, redundant: usize, states: &[&Configuration], follow: &[Follows], sizes: &[f64]) -> bool {
    let (model, mut random) = (e.model, Random(0x9e37_79b9_7f4a_7c15));
    let first = 3 + BODY * (model.bodies.len() - 1);
    states.iter().all(|s| {
        e.jacobian(&s.q);
        e.factor(1.0);
        // Random combinations, one more than there are independent self-stresses.
        (0..=redundant).all(|_| {
            e.p.x.iter_mut().for_each(|x| *x = random.number());
            // Multiplying by the compliance damps everything but self-stresses.
            for _ in 0..FILTERS {
                e.p.x.iter_mut().zip(&e.eps).for_each(|(x, eps)| *x *= eps);
                e.p.solve();
                let size = e.p.size().max(f64::MIN_POSITIVE);
                e.p.x.iter_mut().for_each(|x| *x /= size);
            }
            let mut by = vec![0.0; rows::count(&e.set)];
            let mut pulls = vec![Pull::default(); model.bodies.len()];
            let at = Moving { q: &s.q, v: &s.v, a: &[], x: &[] };
            rows::back(&e.set, &at, Weights { value: &e.p.x, ..Weights::default() }, 1.0, &mut pulls, &mut by);
            follow.iter().zip(sizes).all(|(f, size)| {
                let own = f.slopes.iter().filter(|(i, _)| *i >= first).map(|&(i, x)| by[i - first] * x);
                let (opened, all) = own.fold((0.0, 0.0), |(sum, all), x| (sum + x, all + x.abs()));
                opened.abs() <= OPEN * all || (opened * size).abs() <= ROUNDING * model.length
            })
        })
    })
}
