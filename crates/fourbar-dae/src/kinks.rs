//! Kinks: points where `if`, `abs`, `min`, `max` or a table changes its form. A step ends at a kink; the next one starts on the other side,
//! so that every expansion covers one smooth piece.

use crate::Error;
use crate::engine::Engine;
use crate::problem::Problem;
use crate::record::Kink;
use crate::roots::RootFinder;
use fourbar_math::elementary;

/// A kink crossed inside a step.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Crossing {
    pub kink: usize,
    pub tau: f64,
    rising: bool,
    /// Value of the switching expression there.
    level: f64,
}

#[derive(Debug, Clone)]
pub(crate) struct Kinks {
    /// Number of the first switching expression among the extra rows.
    first: usize,
    count: usize,
    /// Current piece of every table.
    piece: Vec<i64>,
    /// Level that was just crossed, and whether it was rising.
    crossed: Vec<Option<(f64, bool)>>,
    shifted: Vec<f64>,
    /// First crossing of every kink in the current step.
    found: Vec<Crossing>,
}

impl Kinks {
    pub fn new(problem: &Problem) -> Self {
        let count = problem.kinks.len();
        Self {
            first: problem.outputs.len() + problem.events.len(),
            count,
            piece: vec![0; count],
            crossed: vec![None; count],
            shifted: Vec::with_capacity(128),
            found: Vec::with_capacity(2 * count),
        }
    }

    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    pub fn len(&self) -> usize {
        self.count
    }

    /// Appends the current pieces and the levels just crossed to a list of numbers.
    pub fn save(&self, out: &mut Vec<f64>) {
        for k in 0..self.count {
            let (level, rising) = self.crossed[k].unwrap_or((0.0, false));
            let known = f64::from(u8::from(self.crossed[k].is_some()));
            out.extend([self.piece[k] as f64, known, level, f64::from(u8::from(rising))]);
        }
    }

    /// Restores what [`save`](Self::save) appended.
    pub fn restore(&mut self, next: &mut dyn FnMut() -> Result<f64, Error>) -> Result<(), Error> {
        for k in 0..self.count {
            self.piece[k] = next()? as i64;
            let (known, level, rising) = (next()?, next()?, next()?);
            self.crossed[k] = (known != 0.0).then_some((level, rising != 0.0));
        }
        Ok(())
    }

    fn set_piece(&mut self, k: usize, piece: i64, engine: &mut Engine) {
        self.piece[k] = piece;
        if let Kink::Table { table, param, .. } = &engine.problem.kinks[k] {
            let at = *param as usize;
            let (from, coefficients) = table.of_piece(piece);
            engine.taylor.params[at] = from;
            engine.taylor.params[at + 1..at + 5].copy_from_slice(coefficients);
        }
    }

    /// Sets every kink to the side that its expression has in the current expansion; true if something changed.
    pub fn settle(&mut self, engine: &mut Engine) -> bool {
        let mut changed = false;
        for k in 0..self.count {
            let a = engine.extra(self.first + k);
            let Some(&value) = a.first() else { continue };
            if !value.is_finite() {
                continue;
            }
            let later = a.iter().copied().find(|x| *x != 0.0).unwrap_or(0.0);
            match &engine.problem.kinks[k] {
                Kink::Sign { .. } => {
                    let side = if value == 0.0 { later >= 0.0 } else { value > 0.0 };
                    if value == 0.0 {
                        self.crossed[k] = Some((0.0, side));
                    }
                    changed |= side != engine.taylor.side[k];
                    engine.taylor.side[k] = side;
                }
                Kink::Table { table, param, .. } => {
                    let mut piece = table.piece(value);
                    // On a breakpoint, up to rounding, the direction of motion selects the piece.
                    let m = leading(&a[1..]);
                    let [left, right] = table.limits(piece);
                    let on = |level: Option<f64>| level.filter(|x| (value - x).abs() <= 1e-13 * table.width(piece).max(x.abs()));
                    let at = on(left).map(|x| (x, piece)).or(on(right).map(|x| (x, piece + 1)));
                    if let Some((level, behind)) = at {
                        let rising = a.get(1 + m).is_none_or(|x| *x >= 0.0);
                        self.crossed[k] = Some((level, rising));
                        piece = if rising { behind } else { behind - 1 };
                    }
                    // Before the first call no piece is set.
                    let unset = engine.taylor.params[*param as usize..*param as usize + 5] == [0.0; 5];
                    if unset || piece != self.piece[k] {
                        changed = changed || piece != self.piece[k] || unset && *table.of_piece(piece).1 != [0.0; 4];
                        self.set_piece(k, piece, engine);
                    }
                }
            }
        }
        changed
    }

    /// The first kink crossed in (0, end].
    pub fn first(&mut self, engine: &Engine, finder: &mut RootFinder, end: f64) -> Result<Option<Crossing>, Error> {
        self.found.clear();
        for k in 0..self.count {
            let a = engine.extra(self.first + k);
            if a.is_empty() {
                continue;
            }
            let levels: [Option<f64>; 2] = match &engine.problem.kinks[k] {
                Kink::Sign { .. } => [Some(0.0), None],
                Kink::Table { table, .. } => table.limits(self.piece[k]),
            };
            for level in levels.into_iter().flatten() {
                let crossed = self.crossed[k].filter(|c| c.0 == level);
                self.shifted.clear();
                match crossed {
                    // The zero at the start is known: divide it out, with its multiplicity (a start at rest), and check that the motion
                    // leaves it towards the new side.
                    Some((_, rising)) => {
                        let m = leading(&a[1..]);
                        self.shifted.extend_from_slice(&a[1 + m..]);
                        let away = self.shifted.first().copied().unwrap_or(0.0);
                        if away * if rising { 1.0 } else { -1.0 } < 0.0 {
                            return Err(Error::Sliding { t: engine.taylor.t, kink: engine.problem.kink_name(k) });
                        }
                    }
                    None => {
                        self.shifted.extend_from_slice(a);
                        self.shifted[0] -= level;
                    }
                }
                finder.find(&self.shifted, end);
                if let Some(root) = finder.found.iter().find(|r| r.direction != 0) {
                    self.found.push(Crossing { kink: k, tau: root.tau, rising: root.direction > 0, level });
                }
            }
        }
        let first = self.found.iter().copied().min_by(|a, b| a.tau.total_cmp(&b.tau));
        self.crossed.fill(None);
        Ok(first)
    }

    /// Integration reverses direction at kinks just passed: restore the previous side.
    pub fn turn_round(&mut self, engine: &mut Engine) {
        for k in 0..self.count {
            let Some((level, rising)) = self.crossed[k] else { continue };
            self.crossed[k] = Some((level, !rising));
            match &engine.problem.kinks[k] {
                Kink::Sign { .. } => engine.taylor.side[k] = !rising,
                Kink::Table { .. } => {
                    let piece = if rising { self.piece[k] - 1 } else { self.piece[k] + 1 };
                    self.set_piece(k, piece, engine);
                }
            }
        }
    }

    /// Changes to the other side of a kink, and of all others crossed at the same place, since rounding decides on which side of them the
    /// step ends. Returns the number of kinks passed.
    pub fn pass(&mut self, first: Crossing, engine: &mut Engine) -> usize {
        let mut passed = 0;
        for n in 0..self.found.len() {
            let crossing = self.found[n];
            if crossing.tau - first.tau > 1e-10 * first.tau.max(1e-3) {
                continue;
            }
            let k = crossing.kink;
            passed += 1;
            self.crossed[k] = Some((crossing.level, crossing.rising));
            match &engine.problem.kinks[k] {
                Kink::Sign { .. } => engine.taylor.side[k] = crossing.rising,
                Kink::Table { .. } => {
                    let piece = if crossing.rising { self.piece[k] + 1 } else { self.piece[k] - 1 };
                    self.set_piece(k, piece, engine);
                }
            }
        }
        passed
    }
}

/// The index of the first coefficient that exceeds rounding relative to the others, scaled to a distance at which the last coefficients are
/// about as large as those in the middle.
fn leading(a: &[f64]) -> usize {
    let last = a.len().saturating_sub(1);
    let middle = last / 2;
    let ratio = match (a.get(middle), a.get(last)) {
        (Some(m), Some(l)) if last > middle && *m != 0.0 && *l != 0.0 => elementary::powf((m / l).abs(), 1.0 / (last - middle) as f64),
        _ => 1.0,
    };
    let radius = if ratio.is_finite() { ratio.clamp(1e-9, 1.0) } else { 1.0 };
    let powers = || std::iter::successors(Some(1.0), move |p| Some(p * radius));
    let size = a.iter().zip(powers()).fold(0.0f64, |m, (x, p)| m.max((x * p).abs()));
    a.iter().zip(powers()).position(|(x, p)| (x * p).abs() > 1e-12 * size).unwrap_or(0)
}
