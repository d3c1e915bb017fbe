//! Functions of time with exact first and second derivatives, for drives and rheonomic constraints.

use crate::expr::Expr;
use fourbar_math::{Piecewise, Scalar, Taylor};
use smallvec::SmallVec;
use std::sync::{Arc, Mutex};

/// A function of time.
#[derive(Clone, Debug)]
pub enum TimeFunction {
    /// An expression of time.
    Value(Expr),
    /// The integral of a speed or an acceleration: the position of a drive.
    Integral(Integral),
}

impl TimeFunction {
    /// Value, first and second derivative.
    pub fn at(&self, t: f64) -> [f64; 3] {
        match self {
            TimeFunction::Value(f) => f.time_derivatives(t),
            TimeFunction::Integral(f) => f.at(t),
        }
    }
}

impl TimeFunction {
    /// The expression that may switch: the value or, for an integral, the rate.
    pub fn expr(&self) -> &Expr {
        match self {
            TimeFunction::Value(f) => f,
            TimeFunction::Integral(f) => f.rate(),
        }
    }

    /// Values of the variables of this expression.
    pub fn variables(&self, t: f64, z: &[f64]) -> SmallVec<[f64; 4]> {
        match self {
            TimeFunction::Value(_) => SmallVec::from_slice(&[t]),
            TimeFunction::Integral(f) => std::iter::once(t).chain(f.inputs().iter().map(|k| z[*k])).collect(),
        }
    }

    /// The function with only some pieces of this expression; integrals need a start value.
    pub fn in_pieces(&self, pieces: &[i64]) -> Self {
        match self {
            TimeFunction::Value(f) => TimeFunction::Value(f.in_pieces(pieces)),
            TimeFunction::Integral(f) => TimeFunction::Integral(f.in_pieces(pieces)),
        }
    }
}

/// A time at which a function of time changes from one piece to another.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Seam {
    /// Last time before it.
    pub t: f64,
    /// Value, first and second derivative just before and just after.
    pub sides: [[f64; 3]; 2],
}

/// Largest numbers of samples of a piecewise function, and of seams found.
const LOOKS: usize = 2048;
const SEAMS: usize = 4096;

impl TimeFunction {
    /// Seams between zero and `t_end`, in order of time. Pieces shorter than 1/2048 of this interval are found if they begin or end at a
    /// number written in the expression.
    pub fn seams(&self, t_end: f64) -> Vec<Seam> {
        let expr = match self {
            TimeFunction::Value(f) => f,
            TimeFunction::Integral(f) => f.rate(),
        };
        let pieces = |t: f64| match self {
            TimeFunction::Value(f) => f.pieces_at(&[t]),
            TimeFunction::Integral(f) => f.pieces(t),
        };
        if !expr.has_pieces() {
            return Vec::new();
        }
        let mut times: Vec<f64> = (0..=LOOKS).map(|k| k as f64 / LOOKS as f64 * t_end).collect();
        times.extend(expr.constants().into_iter().filter(|c| *c > 0.0 && *c < t_end));
        times.sort_by(f64::total_cmp);
        let close = 1e-16 * t_end;
        let mut seams = Vec::new();
        let mut from = (0.0, pieces(0.0));
        for &end in &times {
            let at_end = pieces(end);
            while from.1 != at_end && seams.len() < SEAMS {
                // The first change between the two, to rounding of time.
                let (mut a, mut b) = (from.0, end);
                loop {
                    let middle = 0.5 * (a + b);
                    if b - a <= close || middle <= a || middle >= b {
                        break;
                    }
                    if pieces(middle) == from.1 {
                        a = middle;
                    } else {
                        b = middle;
                    }
                }
                // Evaluated slightly beside the seam, because a function may have special values at single points.
                let beside = (8.0 * close).max(4.0 * f64::EPSILON * b);
                seams.push(Seam { t: a, sides: [self.at((a - beside).max(0.0)), self.at(b + beside)] });
                from = (b, pieces(b));
                if b >= end {
                    break;
                }
            }
            from = (end, at_end);
        }
        seams
    }
}

/// A table that a function of time reads at an argument linear in time: the times at which its pieces change, where its third derivative
/// jumps, are known. Steps of high-order methods should end there.
#[derive(Clone, Debug)]
pub struct Knots {
    table: Arc<Piecewise>,
    /// The argument at time zero, and its rate.
    at: f64,
    speed: f64,
}

impl Knots {
    /// The first time after `t` at which the piece changes.
    pub fn next(&self, t: f64) -> Option<f64> {
        // Rounding may put the time of a knot slightly before the knot: then the next knot is used.
        let little = 64.0 * f64::EPSILON * t.abs().max(f64::MIN_POSITIVE);
        let mut x = self.at + self.speed * t;
        for _ in 0..2 {
            x = self.table.next_seam(x, self.speed > 0.0)?;
            let time = (x - self.at) / self.speed;
            if time > t + little {
                return Some(time);
            }
        }
        None
    }
}

impl TimeFunction {
    /// The tables it reads at an argument linear in time.
    pub fn knots(&self) -> Vec<Knots> {
        let expr = match self {
            TimeFunction::Value(f) => f,
            TimeFunction::Integral(f) => f.rate(),
        };
        let mut list = Vec::new();
        for (table, argument) in expr.table_calls() {
            let [y0, y1, y2] = [0.0, 0.618_033_988_75, 2.7].map(|t| (t, argument.eval(&[Taylor::<3>::variable(t)])));
            let even = [&y1, &y2].iter().all(|(t, y)| {
                let size = y.c[0].abs().max(y0.1.c[0].abs()) + y.c[1].abs();
                y.c[2] == 0.0 && (y.c[0] - y0.1.c[0] - y0.1.c[1] * t).abs() <= 1e-14 * size
            });
            let (at, speed) = (y0.1.c[0], y0.1.c[1]);
            if even && speed != 0.0 && y0.1.c[2] == 0.0 && at.is_finite() {
                list.push(Knots { table: table.function, at, speed });
            }
        }
        list
    }
}

/// Interval between the knots at which the integral is stored, seconds.
const KNOT: f64 = 0.125;
/// Largest number of halvings between two knots: a jump takes some thirty, and a rate that is pure noise cannot be resolved.
const PANELS: usize = 2000;
/// Knots for which memory is reserved initially.
const ROOM: usize = 4096;

/// The running integral of a rate, or its double integral, from given values at a given time. Whole intervals are integrated once and
/// stored.
///
/// The rate may read inputs, which are constant or change at a constant rate between changes: a change starts another piece at the position
/// and speed reached. Clones share their pieces; [`Integral::own`] gives an independent copy.
#[derive(Clone, Debug)]
pub struct Integral {
    rate: Expr,
    /// Whether the rate is an acceleration.
    twice: bool,
    /// Inputs that the rate reads as its variables from 1 on, by their index in the model.
    inputs: Vec<usize>,
    /// Whether it continues from an assigned value, which may differ from the integral of its rate from time zero.
    placed: bool,
    course: Arc<Mutex<Vec<Piece>>>,
}

/// A time from which inputs are held.
#[derive(Clone, Debug)]
struct Piece {
    from: f64,
    /// Position and speed there.
    start: [f64; 2],
    /// Values and slopes of the inputs there.
    held: Vec<[f64; 2]>,
    /// Position and speed at knot `k + 1`, counted from the start of the piece.
    knots: Vec<[f64; 2]>,
}

/// The present piece and the previous one, for times inside the last step.
const PIECES: usize = 2;

impl Piece {
    fn new(from: f64, start: [f64; 2], held: Vec<[f64; 2]>) -> Self {
        Self { from, start, held, knots: Vec::with_capacity(ROOM) }
    }

    /// Time and inputs as the variables of the rate.
    fn variables<S: Scalar>(&self, t: S) -> SmallVec<[S; 8]> {
        let since = t - S::of(self.from);
        std::iter::once(t).chain(self.held.iter().map(|[value, slope]| S::of(*value) + since * S::of(*slope))).collect()
    }
}

impl Integral {
    /// The integral of `rate`, a function of time alone, from time zero.
    pub fn new(rate: Expr) -> Self {
        Self::of_inputs(rate, false, Vec::new(), Vec::new())
    }

    /// The integral from time zero of a speed, or of an acceleration (`twice`), that reads inputs with these values.
    pub fn of_inputs(rate: Expr, twice: bool, inputs: Vec<usize>, values: Vec<f64>) -> Self {
        let held = values.into_iter().map(|x| [x, 0.0]).collect();
        Self { rate, twice, inputs, placed: false, course: Arc::new(Mutex::new(vec![Piece::new(0.0, [0.0; 2], held)])) }
    }

    /// The integrand.
    pub fn rate(&self) -> &Expr {
        &self.rate
    }

    /// Whether the integrand is an acceleration, integrated twice.
    pub fn is_twice(&self) -> bool {
        self.twice
    }

    /// Inputs that the rate reads as its variables from 1 on.
    pub fn inputs(&self) -> &[usize] {
        &self.inputs
    }

    /// An independent copy, with its own pieces.
    pub fn own(&self) -> Self {
        let course = self.course.lock().map(|c| c.clone()).unwrap_or_default();
        Self { course: Arc::new(Mutex::new(course)), ..self.clone() }
    }

    /// The same with only some pieces of its rate, with an independent course that needs a start value.
    fn in_pieces(&self, pieces: &[i64]) -> Self {
        Self { rate: self.rate.in_pieces(pieces), placed: true, ..self.own() }
    }

    /// Whether it must be given a start value where pieces of its rate begin.
    pub fn is_placed(&self) -> bool {
        self.placed
    }

    /// From `t` on, the inputs have the values and slopes that `held` returns for their index.
    pub fn change(&self, t: f64, held: impl Fn(usize) -> [f64; 2]) {
        let [position, speed, _] = self.at(t);
        let Ok(mut course) = self.course.lock() else { return };
        let values = self.inputs.iter().map(|k| held(*k));
        let same = course.last().is_some_and(|p| p.from == t);
        if !same && course.len() == PIECES {
            course.rotate_left(1);
        }
        if let Some(last) = course.last_mut().filter(|_| same) {
            last.held.clear();
            last.held.extend(values);
            last.knots.clear();
        } else if let Some(last) = course.get_mut(PIECES - 1) {
            (last.from, last.start) = (t, [position, speed]);
            last.held.clear();
            last.held.extend(values);
            last.knots.clear();
        } else {
            let values = values.collect();
            course.push(Piece::new(t, [position, speed], values));
        }
    }

    /// Continues from another position and speed at `t`, with unchanged inputs.
    pub fn place(&self, t: f64, position: f64, speed: f64) {
        let Ok(mut course) = self.course.lock() else { return };
        if let Some(mut last) = course.pop() {
            (last.from, last.start) = (t, [position, speed]);
            last.knots.clear();
            course.clear();
            course.push(last);
        }
    }

    /// For a checkpoint: times, starts, and values and slopes of the inputs of all pieces.
    pub fn save(&self) -> Vec<f64> {
        let course = self.course.lock().map(|c| c.clone()).unwrap_or_default();
        course.iter().flat_map(|p| [p.from, p.start[0], p.start[1]].into_iter().chain(p.held.iter().flatten().copied())).collect()
    }

    /// Restores the result of [`Integral::save`]; `None` if its size does not fit.
    pub fn restore(&self, saved: &[f64]) -> Option<()> {
        let size = 3 + 2 * self.inputs.len();
        let pieces = saved.len() / size;
        if pieces == 0 || pieces > PIECES || saved.len() != pieces * size || !saved.iter().all(|x| x.is_finite()) {
            return None;
        }
        let piece = |x: &[f64]| Piece::new(x[0], [x[1], x[2]], x[3..].chunks_exact(2).map(|h| [h[0], h[1]]).collect());
        *self.course.lock().ok()? = saved.chunks_exact(size).map(piece).collect();
        Some(())
    }

    /// The valid pieces of the rate at `t`.
    fn pieces(&self, t: f64) -> u64 {
        match self.course.lock() {
            Ok(course) => self.rate.pieces_at(&piece_of(&course, t).variables(t)),
            Err(_) => 0,
        }
    }

    /// Value, first and second derivative.
    pub fn at(&self, t: f64) -> [f64; 3] {
        if !self.twice
            && !self.placed
            && let Some(c) = self.rate.constant_value()
        {
            return [c * t, c, 0.0];
        }
        let Ok(mut course) = self.course.lock() else { return [f64::NAN; 3] };
        let at = place_of(&course, t);
        let piece = &mut course[at];
        let rate = self.rate.eval(&piece.variables(Taylor::<3>::variable(t)));
        let (value, slope) = (rate.c[0], rate.c[1]);
        let since = t - piece.from;
        if !self.rate.uses(0) && piece.held.iter().all(|h| h[1] == 0.0) {
            let [position, speed] = piece.start;
            return match self.twice {
                false => [position + value * since, value, 0.0],
                true => [position + since * (speed + 0.5 * value * since), speed + value * since, value],
            };
        }
        let whole = (since / KNOT).floor().clamp(0.0, 1e7) as usize;
        while piece.knots.len() < whole {
            let k = piece.knots.len();
            let [a, b] = [k, k + 1].map(|k| piece.from + k as f64 * KNOT);
            let next = self.moved(piece, k, a, b);
            piece.knots.push(next);
        }
        let [position, speed] = self.moved(piece, whole, piece.from + whole as f64 * KNOT, t);
        if self.twice { [position, speed, value] } else { [position, value, slope] }
    }

    /// Position and speed at `b`, from those at knot `k`, which is at `a`.
    fn moved(&self, piece: &Piece, k: usize, a: f64, b: f64) -> [f64; 2] {
        let [position, speed] = if k == 0 { piece.start } else { piece.knots[k - 1] };
        let rate = |s: f64| self.rate.eval(&piece.variables(s));
        if self.twice {
            [position + speed * (b - a) + integral(&|s| (b - s) * rate(s), a, b), speed + integral(&rate, a, b)]
        } else {
            [position + integral(&rate, a, b), 0.0]
        }
    }
}

/// The piece that is valid at `t`; the first one also for earlier times.
fn place_of(course: &[Piece], t: f64) -> usize {
    course.iter().rposition(|p| p.from <= t).unwrap_or(0)
}

fn piece_of(course: &[Piece], t: f64) -> &Piece {
    &course[place_of(course, t)]
}

fn integral(f: &impl Fn(f64) -> f64, a: f64, b: f64) -> f64 {
    let mut panels = PANELS;
    panel(f, a, b, 0, &mut panels)
}

/// Gauss-Legendre quadrature over one interval, halved until both halves agree with the whole or no `panels` are left.
fn panel(f: &impl Fn(f64) -> f64, a: f64, b: f64, depth: usize, panels: &mut usize) -> f64 {
    let middle = 0.5 * (a + b);
    let (whole, left, right) = (gauss(f, a, b), gauss(f, a, middle), gauss(f, middle, b));
    let size = whole.abs().max(left.abs() + right.abs());
    let gap = (whole - left - right).abs();
    // Halving does not remove NaN.
    if *panels == 0 || depth >= 24 || gap.is_nan() || gap <= 1e-15 * size + 1e-300 {
        return left + right;
    }
    *panels -= 1;
    panel(f, a, middle, depth + 1, panels) + panel(f, middle, b, depth + 1, panels)
}

fn gauss(f: &impl Fn(f64) -> f64, a: f64, b: f64) -> f64 {
    // Positive nodes and weights of the eight-point rule.
    const RULE: [(f64, f64); 4] = [
        (0.183_434_642_495_649_8, 0.362_683_783_378_362),
        (0.525_532_409_916_329, 0.313_706_645_877_887_27),
        (0.796_666_477_413_626_7, 0.222_381_034_453_374_48),
        (0.960_289_856_497_536_3, 0.101_228_536_290_376_26),
    ];
    let (middle, half) = (0.5 * (a + b), 0.5 * (b - a));
    half * RULE.iter().map(|(x, w)| w * (f(middle - half * x) + f(middle + half * x))).sum::<f64>()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::expr::{Names, Symbol, Table};
    use crate::spec::{TableEnds, TableSpec};

    /// The time and a table `lift` of four points that repeats every 4.
    struct Cam;
    impl Names for Cam {
        fn symbol(&mut self, name: &str) -> Option<Symbol> {
            (name == "t").then_some(Symbol::Variable(0))
        }
        fn table(&mut self, name: &str) -> Option<Table> {
            let points = vec![[0.0, 0.0], [1.0, 2.0], [3.0, 1.0], [4.0, 0.0]];
            let table = TableSpec { points, ends: TableEnds::Periodic, outside: None, x_dimension: None, y_dimension: None };
            (name == "lift").then(|| table.table("lift").expect("good points"))
        }
    }

    #[test]
    fn times_at_which_tables_change_their_pieces() {
        let knots = |text: &str| TimeFunction::Value(Expr::parse_quantity(text, &mut Cam).expect(text).0).knots();
        let all = |text: &str| {
            let knots = knots(text);
            let mut times = Vec::new();
            let mut t = 0.0;
            while let Some(next) = knots[0].next(t).filter(|t| *t < 3.0) {
                times.push((1e6 * next).round() / 1e6);
                t = next;
            }
            times
        };
        assert_eq!(all("lift(2*t)"), [0.5, 1.5, 2.0, 2.5]);
        assert_eq!(all("1 + sin(lift(1 - 2*t))"), [0.5, 1.0, 2.0, 2.5]);
        // Tenths have no exact binary form: no knot is visited twice, none is missed.
        let thousand = knots("lift(t/10 + 0.3)");
        let (mut t, mut count) = (0.0, 0);
        while let Some(next) = thousand[0].next(t).filter(|t| *t < 10_000.0) {
            assert!(next > t + 6.9, "{t} {next}");
            (t, count) = (next, count + 1);
        }
        assert_eq!(count, 750);
        // Knots are not determined for other arguments.
        assert!(knots("lift(t^2)").is_empty() && knots("lift(sin(t))").is_empty() && knots("lift(2)*t").is_empty());
    }

    #[test]
    fn the_integral_of_a_speed_is_its_angle() {
        let f = Integral::new(Expr::time("cos(3*t) + t^2").expect("reads"));
        for t in [0.0_f64, 0.05, 0.3, 1.0, 7.77, 2.0] {
            let exact = (3.0 * t).sin() / 3.0 + t * t * t / 3.0;
            // Eight-point panels are exact to rounding of the sum.
            assert!((f.at(t)[0] - exact).abs() < 1e-13 * (1.0 + exact.abs()), "{t}");
        }
    }

    /// Every halving is counted, so these end quickly: halved to the last depth, a single knot would take 16 million panels.
    #[test]
    fn rates_that_cannot_be_integrated_end() {
        let jump = Integral::new(Expr::time("if(t < 0.3, 1, 2)").expect("reads"));
        assert!((jump.at(1.0)[0] - 1.7).abs() < 1e-8, "{}", jump.at(1.0)[0]);
        let gone = Integral::new(Expr::time("sqrt(0.25 - t)").expect("reads"));
        assert!((gone.at(0.2)[0] - (0.125 - 0.05_f64.powf(1.5)) * 2.0 / 3.0).abs() < 1e-14 && gone.at(1.0)[0].is_nan());
        let noise = Integral::new(Expr::time("sin(1e15*t)").expect("reads"));
        assert!(noise.at(2.0)[0].abs() < 2.0);
    }

    /// An acceleration `u cos(t)` whose `u` changes at 0.7 and 1.3 and finally grows at a constant rate, against its closed form.
    #[test]
    fn an_acceleration_is_integrated_twice_through_changes_of_an_input() {
        let expr = Expr::parse("u*cos(t)", &mut |n| match n {
            "t" => Some(crate::expr::Symbol::Variable(0)),
            "u" => Some(crate::expr::Symbol::Variable(1)),
            _ => None,
        });
        let f = Integral::of_inputs(expr.expect("reads"), true, vec![0], vec![2.0]);
        let other = f.own();
        // Position and speed after a piece with `u = a + b (t - t0)`.
        let exact = |x: [f64; 2], a: f64, b: f64, t0: f64, t: f64| {
            let (s0, c0, s, c, d) = (t0.sin(), t0.cos(), t.sin(), t.cos(), t - t0);
            let speed = x[1] + a * (s - s0) + b * (d * s + c - c0);
            let position = x[0] + x[1] * d + a * (c0 - c - s0 * d) + b * (2.0 * (s - s0) - d * c - c0 * d);
            [position, speed]
        };
        let mut at = [0.0; 2];
        let mut from = 0.0;
        for (a, b, to) in [(2.0, 0.0, 0.7), (-1.0, 0.0, 1.3), (0.5, 3.0, 2.9)] {
            f.change(from, |_| [a, b]);
            for t in [from + 0.01, 0.5 * (from + to), to] {
                let [x, v] = exact(at, a, b, from, t);
                let found = f.at(t);
                assert!((found[0] - x).abs() < 1e-13 && (found[1] - v).abs() < 1e-13, "{t}: {found:?} {x} {v}");
                assert!((found[2] - (a + b * (t - from)) * t.cos()).abs() < 1e-14);
            }
            at = exact(at, a, b, from, to);
            from = to;
        }
        // The piece before the last is still present, and an independent copy is not affected.
        assert!((f.at(1.0)[2] + 1.0_f64.cos()).abs() < 1e-14 && (other.at(2.0)[2] - 2.0 * 2.0_f64.cos()).abs() < 1e-14);
        let again = other.own();
        again.restore(&f.save()).expect("fits");
        assert_eq!(again.at(2.2), f.at(2.2));
    }
}
