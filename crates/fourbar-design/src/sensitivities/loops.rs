//! Derivatives of the motion of a mechanism with loops, in natural coordinates: Taylor series of the motion and of its derivatives, which
//! share their matrices.
//!
//! The derivatives of the numbers in the equations come from equations recorded for neighbouring parameter values. Where numbers happen to
//! be equal, zero or one, recorded equations take a different form; so nothing is recorded at the actual values, but on lines through them
//! along which all parameters change at different rates. Results for the actual values are interpolated at the midpoint of a line.

use super::Parameters;
use super::state::Tangent;
use super::trees::{Begin, Sample};
use fourbar::Model;
use fourbar::formulation::natural::{System, choice};
use fourbar::state::{Configuration, Pose, Twist};
use fourbar::study::Study;
use fourbar_dae::{Integrator, Problem, Tangents};
use fourbar_math::{Dual, Scalar};
use nalgebra::{DVector, Matrix3, Vector3};
use pulp::{Arch, NullaryFnOnce};
use std::sync::Arc;

/// Positions on a line, in steps, and the fourth-order weights of the derivative and of the value at the midpoint.
const PLACES: [f64; COUNT] = [-2.0, -1.0, 1.0, 2.0];
const SLOPE: [f64; COUNT] = [1.0 / 12.0, -8.0 / 12.0, 8.0 / 12.0, -1.0 / 12.0];
const MIDDLE: [f64; COUNT] = [-1.0 / 6.0, 4.0 / 6.0, 4.0 / 6.0, -1.0 / 6.0];
const COUNT: usize = 4;
/// Step along a line as a share of each parameter.
const SHARE: f64 = 5e-4;
/// Maximum number of series steps; beyond it the next method is used.
const MOST_STEPS: usize = 5_000;

/// A mechanism at one position of a line.
struct Place {
    system: System,
    /// Operations on which poses depend, and workspace for their results.
    list: Vec<u32>,
    known: Vec<Dual>,
    numbers: Vec<f64>,
}

/// A pose and a velocity, or their derivatives.
#[derive(Clone, Copy)]
struct Moving {
    r: Vector3<f64>,
    A: Matrix3<f64>,
    v: Vector3<f64>,
    w: Vector3<f64>,
}

impl Moving {
    fn zero() -> Self {
        Self { r: Vector3::zeros(), A: Matrix3::zeros(), v: Vector3::zeros(), w: Vector3::zeros() }
    }

    fn add(&mut self, weight: f64, x: &Self) {
        self.r += x.r * weight;
        self.A += x.A * weight;
        self.v += x.v * weight;
        self.w += x.w * weight;
    }
}

impl Place {
    fn new(model: &Model, study: &Study, begin: &Begin<'_>) -> Option<(Self, Problem)> {
        let start = begin(model).ok()?;
        let system = System::new(model, &start, choice(&study.options).ok()?).ok()?;
        // The rotation of a thin rod about itself is not a coordinate; inputs would be additional variables.
        let whole = system.poses.iter().skip(1).all(|p| p.axes == 3);
        if !whole || system.singular_start || !system.carried.is_empty() {
            return None;
        }
        let problem = system.record().ok()?;
        let results: Vec<_> =
            system.poses.iter().flat_map(|p| p.pose.r.iter().chain(p.pose.A.iter()).copied().collect::<Vec<_>>()).collect();
        let list = system.tape.needed(results);
        let known = vec![Dual::of(0.0); system.tape.len()];
        Some((Self { list, known, numbers: problem.constants(), system }, problem))
    }

    /// Poses and velocities of the moving bodies at given coordinates and rates.
    fn bodies(&mut self, t: f64, x: &[Dual]) -> Vec<Moving> {
        self.system.tape.eval(&self.list, Dual { c: [t, 1.0] }, x, &mut self.known);
        let vee = |M: Matrix3<f64>| Vector3::new(M[(2, 1)] - M[(1, 2)], M[(0, 2)] - M[(2, 0)], M[(1, 0)] - M[(0, 1)]) * 0.5;
        let Self { system, known, .. } = self;
        let moving = system.poses.iter().skip(1).map(|p| {
            let r = p.pose.r.map(|s| s.among(known));
            let A = p.pose.A.map(|s| s.among(known));
            let (A0, A1) = (A.map(|x| x.c[0]), A.map(|x| x.c[1]));
            let A = A0 * (Matrix3::identity() * 1.5 - A0.tr_mul(&A0) * 0.5);
            Moving { r: r.map(|x| x.c[0]), A, v: r.map(|x| x.c[1]), w: vee(A.tr_mul(&A1)) }
        });
        moving.collect()
    }
}

/// The mechanisms at the positions of a line.
struct Line {
    places: Vec<Place>,
}

impl Line {
    fn values<'a>(&'a self, of: impl Fn(&'a Place) -> &'a [f64] + 'a) -> impl Iterator<Item = [f64; COUNT]> + 'a {
        let lists: [&[f64]; COUNT] = std::array::from_fn(|k| of(&self.places[k]));
        (0..lists[0].len()).map(move |i| lists.map(|l| l[i]))
    }
}

/// The value at the midpoint of a line; exact to the bit if all values are equal.
fn middle(x: [f64; COUNT]) -> f64 {
    x[0] + MIDDLE.iter().zip(x).map(|(w, y)| w * (y - x[0])).sum::<f64>()
}

/// Difference of the derivatives along two lines; exactly zero if both have the same values.
fn more(x: [f64; COUNT], y: [f64; COUNT]) -> f64 {
    SLOPE.iter().zip(x.iter().zip(y)).map(|(w, (x, y))| w * (x - y)).sum()
}

/// The lines of a mechanism: one along which all parameters change, and one for each parameter along which it changes faster.
struct Lines {
    all: Line,
    own: Vec<Line>,
    /// Steps of the parameters on the common line, and the additional step on each parameter's line.
    steps: Vec<f64>,
    added: Vec<f64>,
    problem: Problem,
}

impl Lines {
    fn new(parameters: &Parameters<'_>, model: &Model, which: &[usize], study: &Study, begin: &Begin<'_>) -> Option<Self> {
        let added: Vec<f64> = which.iter().map(|&k| parameters.step(k, SHARE)).collect();
        // Incommensurable rates, so that values that are equal by chance do not remain equal.
        let steps: Vec<f64> =
            added.iter().enumerate().map(|(i, h)| h * (0.3 + 0.5 * (0.618_033_988_749_895 * (i + 1) as f64).fract())).collect();
        let mut first: Option<(Problem, Vec<bool>)> = None;
        let mut line = |extra: Option<usize>| -> Option<Line> {
            let step = |i: usize| steps[i] + if extra == Some(i) { added[i] } else { 0.0 };
            let along: Vec<(usize, f64)> = which.iter().enumerate().map(|(i, &k)| (k, step(i))).collect();
            let mut places = Vec::new();
            for at in PLACES {
                let (place, problem) = Place::new(&parameters.moved(&along, at, model)?, study, begin)?;
                let (like, active) = first.get_or_insert_with(|| (problem.clone(), place.system.active.clone()));
                if !problem.is_like(like) || place.system.active != *active {
                    return None;
                }
                places.push(place);
            }
            Some(Line { places })
        };
        let all = line(None)?;
        let own = (0..which.len()).map(|i| line(Some(i))).collect::<Option<Vec<Line>>>()?;
        let (like, _) = first?;
        let numbers: Vec<f64> = all.values(|p| &p.numbers).map(middle).collect();
        Some(Self { problem: like.with_constants(&numbers), all, own, steps, added })
    }

    /// Values and rates of the coordinates at the start, for each position of a line.
    fn starts(line: &Line) -> impl Iterator<Item = [[f64; COUNT]; 2]> + '_ {
        let count = line.places[0].system.tape.variables().len();
        (0..count).map(move |j| [0, 1].map(|s| std::array::from_fn(|k| line.places[k].system.tape.variables()[j][s])))
    }

    /// The state at a time from coordinates with their rates, and its derivatives with respect to each parameter.
    fn sample(&mut self, t: f64, x: &[[f64; 2]], d: &[Vec<[f64; 2]>], start: &Configuration) -> Sample {
        let count = self.own.len();
        // Derivatives along the line of all parameters.
        let along: Vec<[f64; 2]> =
            (0..x.len()).map(|j| [0, 1].map(|s| (0..count).map(|i| self.steps[i] * d[i][j][s]).sum::<f64>())).collect();
        let bodies = start.q.len() - 1;
        let mut coordinates = vec![Dual::of(0.0); x.len()];
        let mut state = vec![Moving::zero(); bodies];
        let mut common = Vec::new();
        for (k, at) in PLACES.iter().enumerate() {
            coordinates.iter_mut().zip(x).zip(&along).for_each(|((c, x), d)| *c = Dual { c: [x[0] + at * d[0], x[1] + at * d[1]] });
            let moving = self.all.places[k].bodies(t, &coordinates);
            state.iter_mut().zip(&moving).for_each(|(sum, m)| sum.add(MIDDLE[k], m));
            common.push(moving);
        }
        let mut tangents = Vec::new();
        for (i, line) in self.own.iter_mut().enumerate() {
            let h = self.added[i];
            let mut change = vec![Moving::zero(); bodies];
            for (k, (at, weight)) in PLACES.iter().zip(SLOPE).enumerate() {
                for (j, c) in coordinates.iter_mut().enumerate() {
                    *c = Dual { c: [0, 1].map(|s| x[j][s] + at * (along[j][s] + h * d[i][j][s])) };
                }
                let moving = line.places[k].bodies(t, &coordinates);
                for ((sum, m), c) in change.iter_mut().zip(&moving).zip(&common[k]) {
                    sum.add(weight / h, m);
                    sum.add(-weight / h, c);
                }
            }
            let none = || DVector::zeros(6 * bodies);
            let mut tangent = Tangent { q: none(), v: none() };
            for (b, (x, d)) in state.iter().zip(&change).enumerate() {
                // A' = A tilde(theta).
                let W = x.A.tr_mul(&d.A);
                let turn = Vector3::new(W.m32 - W.m23, W.m13 - W.m31, W.m21 - W.m12) * 0.5;
                for (part, x) in [(&mut tangent.q, [d.r, turn]), (&mut tangent.v, [d.v, d.w])] {
                    part.fixed_rows_mut::<3>(6 * b).copy_from(&x[0]);
                    part.fixed_rows_mut::<3>(6 * b + 3).copy_from(&x[1]);
                }
            }
            tangents.push(tangent);
        }
        let mut out = Configuration { t, ..start.clone() };
        for (b, x) in state.iter().enumerate() {
            out.q[b + 1] = Pose { r: x.r, A: x.A };
            out.v[b + 1] = Twist { v: x.v, w: x.w };
        }
        Sample { state: out, tangents }
    }
}

/// The motion at the output times with its derivatives; `None` if natural coordinates are not applicable, or the equations take a different
/// form for other values of the parameters.
pub(super) fn samples(
    parameters: &Parameters<'_>,
    model: &Model,
    which: &[usize],
    start: &Configuration,
    study: &Study,
    begin: &Begin<'_>,
) -> Option<Vec<Sample>> {
    // A parameter computed from others would not follow them if varied together with them: it is varied separately.
    let (alone, together): (Vec<usize>, Vec<usize>) = (0..which.len()).partition(|&i| parameters.computed[which[i]]);
    let groups = std::iter::once(together).chain(alone.into_iter().map(|i| vec![i])).filter(|g| !g.is_empty());
    let mut out: Option<Vec<Sample>> = None;
    for group in groups {
        let own: Vec<usize> = group.iter().map(|&i| which[i]).collect();
        let lines = Lines::new(parameters, model, &own, study, begin)?;
        let found = match own.len() {
            1 => along::<1>(lines, model, start, study),
            2 => along::<2>(lines, model, start, study),
            3 | 4 => along::<4>(lines, model, start, study),
            _ => along::<8>(lines, model, start, study),
        }?;
        let none = || Tangent { q: DVector::zeros(0), v: DVector::zeros(0) };
        let list = out.get_or_insert_with(|| {
            let empty = |s: &Sample| Sample { state: s.state.clone(), tangents: which.iter().map(|_| none()).collect() };
            found.iter().map(empty).collect()
        });
        for (sample, mut of_group) in list.iter_mut().zip(found) {
            for (&i, tangent) in group.iter().zip(of_group.tangents.drain(..)) {
                sample.tangents[i] = tangent;
            }
        }
    }
    out
}

/// Propagates the derivatives along a step, with the widest vector registers available; results are the same to the bit for all.
struct Follow<'a, const N: usize>(&'a mut Tangents<N>, &'a Integrator);

impl<const N: usize> NullaryFnOnce for Follow<'_, N> {
    type Output = ();
    #[inline(always)]
    fn call(self) {
        self.0.follow(self.1);
    }
}

fn along<const N: usize>(mut lines: Lines, model: &Model, start: &Configuration, study: &Study) -> Option<Vec<Sample>> {
    let count = lines.own.len();
    let first: Vec<[[f64; COUNT]; 2]> = Lines::starts(&lines.all).collect();
    let problem = Arc::new(lines.problem.clone());
    let system = &lines.all.places[0].system;
    let options = system.options(model, study).ok()?;
    let state = system.state(&problem, start.t, first.iter().map(|x| x.map(middle)));
    let numbers = system.numbers();
    let mut motion = Integrator::new(&problem, &state, options).ok()?;
    let changes = |i: usize| -> Vec<f64> {
        let pairs = lines.own[i].values(|p| &p.numbers).zip(lines.all.values(|p| &p.numbers));
        pairs.map(|(x, y)| more(x, y) / lines.added[i]).collect()
    };
    let mut chunks: Vec<Tangents<N>> = Vec::new();
    for from in (0..count).step_by(N) {
        let own: Vec<Vec<f64>> = (from..count.min(from + N)).map(changes).collect();
        let mut tangents = Tangents::new(&motion, &own)?;
        for lane in 0..own.len() {
            let i = from + lane;
            for ((&j, x), y) in numbers.iter().zip(Lines::starts(&lines.own[i])).zip(&first) {
                for s in 0..2 {
                    tangents.set(&motion, j, s == 1, lane, more(x[s], y[s]) / lines.added[i]);
                }
            }
        }
        chunks.push(tangents);
    }
    let arch = Arch::new();
    let mut list = Vec::new();
    let mut steps = 0;
    for t in study.output_times() {
        while motion.t() < t || steps == 0 {
            motion.step(study.t_end.max(t)).ok()?;
            chunks.iter_mut().for_each(|c| arch.dispatch(Follow(c, &motion)));
            steps += 1;
            if steps > MOST_STEPS {
                return None;
            }
        }
        let x: Vec<[f64; 2]> = numbers.iter().map(|&j| value(&motion, j, t)).collect::<Option<_>>()?;
        let mut d = vec![vec![[0.0; 2]; x.len()]; count];
        for (c, chunk) in chunks.iter().enumerate() {
            for (place, &j) in numbers.iter().enumerate() {
                let [value, rate] = chunk.at(&motion, j, t);
                for (lane, own) in d[c * N..].iter_mut().take(N).enumerate() {
                    own[place] = [value[lane], rate[lane]];
                }
            }
        }
        if d.iter().flatten().flatten().any(|x| !x.is_finite()) {
            return None;
        }
        list.push(lines.sample(t, &x, &d, start));
    }
    Some(list)
}

/// A coordinate and its rate at a time in the last step.
fn value(motion: &Integrator, j: usize, t: f64) -> Option<[f64; 2]> {
    let (series, scale) = motion.coefficients(j).ok()?;
    let tau = (t - motion.interval().0) / scale;
    let (mut x, mut rate) = (0.0, 0.0);
    for c in series.iter().rev() {
        rate = rate * tau + x;
        x = x * tau + c;
    }
    Some([x, rate / scale])
}
