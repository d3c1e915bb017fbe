//! Functions of time with exact first and second derivatives, for drives and rheonomic constraints.

use crate::expr::Expr;
use fourbar_math::{Piecewise, Taylor};
use std::sync::{Arc, Mutex};

/// A function of time.
#[derive(Clone, Debug)]
pub enum TimeFunction {
    /// An expression of time.
    Value(Expr),
    /// The integral from zero of an expression of time: the position of a speed drive.
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

/// A time at which a function of time changes from one piece to another.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Seam {
    /// Last time before it.
    pub t: f64,
    /// Value, first and second derivative just before and just after.
    pub sides: [[f64; 3]; 2],
}

/// Times at which a function of pieces is looked at, and seams that are followed, at most.
const LOOKS: usize = 2048;
const SEAMS: usize = 4096;

impl TimeFunction {
    /// Seams between zero and `t_end`, in order of time. Pieces shorter than one part in 2,048 of that are found where they begin or
    /// end at a number that is written in the expression.
    pub fn seams(&self, t_end: f64) -> Vec<Seam> {
        let expr = match self {
            TimeFunction::Value(f) => f,
            TimeFunction::Integral(f) => f.rate(),
        };
        if !expr.has_pieces() {
            return Vec::new();
        }
        let mut times: Vec<f64> = (0..=LOOKS).map(|k| k as f64 / LOOKS as f64 * t_end).collect();
        times.extend(expr.constants().into_iter().filter(|c| *c > 0.0 && *c < t_end));
        times.sort_by(f64::total_cmp);
        let close = 1e-16 * t_end;
        let mut seams = Vec::new();
        let mut from = (0.0, expr.pieces(0.0));
        for &end in &times {
            let at_end = expr.pieces(end);
            while from.1 != at_end && seams.len() < SEAMS {
                // The first change between the two, to rounding of time.
                let (mut a, mut b) = (from.0, end);
                loop {
                    let middle = 0.5 * (a + b);
                    if b - a <= close || middle <= a || middle >= b {
                        break;
                    }
                    if expr.pieces(middle) == from.1 {
                        a = middle;
                    } else {
                        b = middle;
                    }
                }
                // A little beside it, because single points may have values of their own.
                let beside = (8.0 * close).max(4.0 * f64::EPSILON * b);
                seams.push(Seam { t: a, sides: [self.at((a - beside).max(0.0)), self.at(b + beside)] });
                from = (b, expr.pieces(b));
                if b >= end {
                    break;
                }
            }
            from = (end, at_end);
        }
        seams
    }
}

/// A table that a function of time reads at a place that moves evenly with time: the times are known at which it changes its pieces,
/// where its third derivative jumps. Methods of high order want their steps to end there.
#[derive(Clone, Debug)]
pub struct Knots {
    table: Arc<Piecewise>,
    /// Where it is read at time zero, and how fast that moves.
    at: f64,
    speed: f64,
}

impl Knots {
    /// The first time after `t` at which the piece changes.
    pub fn next(&self, t: f64) -> Option<f64> {
        // Rounding may put the time of a knot a little before the knot: then the one after it is meant.
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
    /// The tables it reads at a place that moves evenly with time.
    pub fn knots(&self) -> Vec<Knots> {
        let expr = match self {
            TimeFunction::Value(f) => f,
            TimeFunction::Integral(f) => f.rate(),
        };
        let mut list = Vec::new();
        for (table, argument) in expr.table_calls() {
            let [y0, y1, y2] = [0.0, 0.618_033_988_75, 3.141_592_653_59].map(|t| (t, argument.eval(&[Taylor::<3>::variable(t)])));
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

/// Distance of the knots at which the integral is remembered, seconds.
const KNOT: f64 = 0.125;
/// Halvings between two knots, at most: a jump takes some thirty, and nothing resolves a rate that is nothing but noise.
const PANELS: usize = 2000;

/// The running integral of a rate. Whole intervals are integrated once and remembered.
#[derive(Clone, Debug)]
pub struct Integral {
    rate: Expr,
    /// Integral up to knot `k + 1`, forwards.
    knots: Arc<Mutex<Vec<f64>>>,
}

impl Integral {
    /// The integral of `rate` from time zero.
    pub fn new(rate: Expr) -> Self {
        Self { rate, knots: Arc::new(Mutex::new(Vec::with_capacity(4096))) }
    }

    /// What is integrated.
    pub fn rate(&self) -> &Expr {
        &self.rate
    }

    /// Value, first and second derivative.
    pub fn at(&self, t: f64) -> [f64; 3] {
        let [rate, slope, _] = self.rate.time_derivatives(t);
        if let Some(c) = self.rate.constant_value() {
            return [c * t, c, 0.0];
        }
        let whole = (t / KNOT).floor().clamp(0.0, 1e7) as usize;
        let base = match self.knots.lock() {
            Ok(mut knots) => {
                while knots.len() < whole {
                    let k = knots.len();
                    let last = knots.last().copied().unwrap_or(0.0);
                    knots.push(last + self.integral(k as f64 * KNOT, (k + 1) as f64 * KNOT));
                }
                if whole == 0 { 0.0 } else { knots[whole - 1] }
            }
            Err(_) => f64::NAN,
        };
        [base + self.integral(whole as f64 * KNOT, t), rate, slope]
    }

    fn integral(&self, a: f64, b: f64) -> f64 {
        let mut panels = PANELS;
        self.panel(a, b, 0, &mut panels)
    }

    /// Gauss-Legendre over one interval, halved until both halves agree with the whole or no `panels` are left.
    fn panel(&self, a: f64, b: f64, depth: usize, panels: &mut usize) -> f64 {
        let middle = 0.5 * (a + b);
        let (whole, left, right) = (self.gauss(a, b), self.gauss(a, middle), self.gauss(middle, b));
        let size = whole.abs().max(left.abs() + right.abs());
        let gap = (whole - left - right).abs();
        // What is no number does not become one.
        if *panels == 0 || depth >= 24 || gap.is_nan() || gap <= 1e-15 * size + 1e-300 {
            return left + right;
        }
        *panels -= 1;
        self.panel(a, middle, depth + 1, panels) + self.panel(middle, b, depth + 1, panels)
    }

    fn gauss(&self, a: f64, b: f64) -> f64 {
        // Positive nodes and weights of the eight-point rule.
        const RULE: [(f64, f64); 4] = [
            (0.183_434_642_495_649_8, 0.362_683_783_378_362),
            (0.525_532_409_916_329, 0.313_706_645_877_887_27),
            (0.796_666_477_413_626_7, 0.222_381_034_453_374_48),
            (0.960_289_856_497_536_3, 0.101_228_536_290_376_26),
        ];
        let (middle, half) = (0.5 * (a + b), 0.5 * (b - a));
        let f = |t: f64| self.rate.eval(&[t]);
        half * RULE.iter().map(|(x, w)| w * (f(middle - half * x) + f(middle + half * x))).sum::<f64>()
    }
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
        // Tenths have no exact binary form: no knot is met twice, none is missed.
        let thousand = knots("lift(t/10 + 0.3)");
        let (mut t, mut count) = (0.0, 0);
        while let Some(next) = thousand[0].next(t).filter(|t| *t < 10_000.0) {
            assert!(next > t + 6.9, "{t} {next}");
            (t, count) = (next, count + 1);
        }
        assert_eq!(count, 750);
        // Where it does not move evenly nothing is known.
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

    /// Every halving is counted, so these end at once: halved to the last depth a single knot would take 16 million panels.
    #[test]
    fn rates_that_cannot_be_integrated_end() {
        let jump = Integral::new(Expr::time("if(t < 0.3, 1, 2)").expect("reads"));
        assert!((jump.at(1.0)[0] - 1.7).abs() < 1e-8, "{}", jump.at(1.0)[0]);
        let gone = Integral::new(Expr::time("sqrt(0.25 - t)").expect("reads"));
        assert!((gone.at(0.2)[0] - (0.125 - 0.05_f64.powf(1.5)) * 2.0 / 3.0).abs() < 1e-14 && gone.at(1.0)[0].is_nan());
        let noise = Integral::new(Expr::time("sin(1e15*t)").expect("reads"));
        assert!(noise.at(2.0)[0].abs() < 2.0);
    }
}
