//! Piecewise expressions: the valid piece of each operation, its distance from its ends, and the expression restricted to these pieces,
//! which continues smoothly beyond them.
//!
//! Conditions, absolute values, steps and similar operations switch. Between two switches an expression equals that of [`Expr::in_pieces`];
//! a piece ends where one of its guards reaches zero. Functions with continuous second derivatives, such as `smoothstep`, do not switch;
//! integration steps end where they begin and end ([`Expr::smooth_ends`]).

use super::function::Function;
use super::{Comparison, Expr, MAX_STACK, Op, Table};
use fourbar_math::Piecewise;
use smallvec::SmallVec;
use std::sync::Arc;

/// The valid piece of each switching operation, in the order of the program.
pub type Pieces = SmallVec<[i64; 4]>;

/// Values of guards: two for each switching operation, infinite if absent.
pub type Guards = SmallVec<[f64; 8]>;

impl Op {
    /// Whether it switches between pieces.
    fn switches(self, tables: &[Table]) -> bool {
        use Function::*;
        match self {
            Op::Compare(c) => !matches!(c, Comparison::Equal | Comparison::NotEqual),
            Op::Call(f) => matches!(f, Abs | Sign | Floor | Ceil | Min | Max | Mod | Step | Ramp),
            Op::Table(k) => tables.get(k as usize).is_some_and(|t| t.function.part(0.0).is_some()),
            _ => false,
        }
    }

    /// The piece that is valid for arguments `a`, numbered as in [`Op::guards`] and [`Op::in_piece`].
    fn switched(self, a: &[f64], tables: &[Table]) -> i64 {
        self.piece(a, tables).unwrap_or(0)
    }

    /// Dimensionless distance of the arguments from the two ends of piece `p`, positive inside.
    fn guards(self, p: i64, a: &[f64], tables: &[Table]) -> [f64; 2] {
        use Function::*;
        const FAR: f64 = f64::INFINITY;
        let apart = |x: f64, y: f64| (x - y) / (1.0 + x.abs() + y.abs());
        let whole = |x: f64, low: i64| [apart(x, low as f64), apart((low + 1) as f64, x)];
        match self {
            Op::Compare(c) => {
                let above = matches!(c, Comparison::Greater | Comparison::GreaterEqual) == (p == 1);
                [if above { apart(a[0], a[1]) } else { apart(a[1], a[0]) }, FAR]
            }
            Op::Call(Abs) => [apart(if p == 1 { a[0] } else { -a[0] }, 0.0), FAR],
            Op::Call(Sign) if p == 0 => [apart(0.0, a[0]), apart(a[0], 0.0)],
            Op::Call(Sign) => [apart(p as f64 * a[0], 0.0), FAR],
            Op::Call(Floor) => whole(a[0], p),
            Op::Call(Ceil) => whole(a[0], p - 1),
            Op::Call(Mod) => whole(a[0] / a[1], p),
            Op::Call(Min) => [if p == 1 { apart(a[1], a[0]) } else { apart(a[0], a[1]) }, FAR],
            Op::Call(Max | Step) => [if p == 1 { apart(a[0], a[1]) } else { apart(a[1], a[0]) }, FAR],
            Op::Call(Ramp) => between(p, a[0], [a[1], a[2]], apart),
            Op::Table(k) => tables.get(k as usize).map_or([FAR; 2], |t| between(p, a[0], t.function.range(), apart)),
            _ => [FAR; 2],
        }
    }

    /// The piece behind a guard of piece `p`.
    fn behind(self, p: i64, guard: usize) -> i64 {
        use Function::*;
        match self {
            Op::Call(Sign) if p == 0 => 1 - 2 * guard as i64,
            Op::Call(Sign) => -p,
            Op::Call(Floor | Ceil | Mod) => p - 1 + 2 * guard as i64,
            // Three in a row.
            Op::Call(Ramp) | Op::Table(_) => match p {
                1 => 2 * guard as i64,
                _ => 1,
            },
            _ => 1 - p,
        }
    }

    /// The value on piece `p`.
    fn on_piece(self, p: i64, a: &[f64], tables: &[Table]) -> f64 {
        use Function::*;
        match self {
            Op::Compare(_) | Op::Call(Sign | Floor | Ceil | Step) => p as f64,
            Op::Call(Abs) => {
                if p == 1 {
                    a[0]
                } else {
                    -a[0]
                }
            }
            Op::Call(Min | Max) => {
                if p == 1 {
                    a[0]
                } else {
                    a[1]
                }
            }
            Op::Call(Mod) => a[0] - a[1] * p as f64,
            Op::Call(Ramp) => match p {
                0 => 0.0,
                1 => (a[0] - a[1]) / (a[2] - a[1]),
                _ => 1.0,
            },
            _ => self.apply(a, &[], tables),
        }
    }

    /// Program of piece `p`, from the programs of its arguments.
    fn in_piece(self, p: i64, a: &mut [Vec<Op>], tables: &mut Vec<Table>) -> Vec<Op> {
        use Function::*;
        let mut take = |k: usize| std::mem::take(&mut a[k]);
        match self {
            Op::Call(Abs) => {
                let mut x = take(0);
                if p == 0 {
                    x.push(Op::Neg);
                }
                x
            }
            Op::Call(Min | Max) => take(if p == 1 { 0 } else { 1 }),
            Op::Call(Mod) => {
                let mut x = take(0);
                x.append(&mut take(1));
                x.extend([Op::Constant(p as f64), Op::Mul, Op::Sub]);
                x
            }
            Op::Call(Ramp) if p == 1 => {
                let (mut x, low, mut high) = (take(0), take(1), take(2));
                x.extend_from_slice(&low);
                x.push(Op::Sub);
                x.append(&mut high);
                x.extend(low);
                x.extend([Op::Sub, Op::Div]);
                x
            }
            Op::Call(Ramp) => vec![Op::Constant(if p == 0 { 0.0 } else { 1.0 })],
            Op::Table(k) => {
                let mut x = take(0);
                let part = tables.get(k as usize).and_then(|t| {
                    let function = Arc::new(only(&t.function, p)?);
                    Some(Table { name: format!("{} ({p})", t.name).into(), function, ..t.clone() })
                });
                let place = part.map_or(k, |t| {
                    tables.push(t);
                    tables.len() as u32 - 1
                });
                x.push(Op::Table(place));
                x
            }
            _ => vec![Op::Constant(p as f64)],
        }
    }
}

/// Guards of three pieces in a row: below, between and above two bounds.
fn between(p: i64, x: f64, [low, high]: [f64; 2], apart: impl Fn(f64, f64) -> f64) -> [f64; 2] {
    match p {
        0 => [apart(low, x), f64::INFINITY],
        1 => [apart(x, low), apart(high, x)],
        _ => [apart(x, high), f64::INFINITY],
    }
}

/// A piece is valid while its guards exceed minus this.
const ROUNDING: f64 = 1e-12;

impl Expr {
    /// Whether an operation in it switches between pieces; a high-order method must not step across such a switch.
    pub fn switches(&self) -> bool {
        self.ops.iter().any(|op| op.switches(&self.tables))
    }

    /// The pieces valid at variables `x`. If a guard of earlier pieces has reached zero, `left` gives those pieces and the guard: the piece
    /// behind it is taken, and others are kept while they are valid.
    pub fn pieces(&self, x: &[f64], left: Option<(&[i64], usize)>) -> Pieces {
        let mut list = Pieces::new();
        self.walk(x, |op, a, tables| {
            let k = list.len();
            let p = match left.and_then(|(old, guard)| Some((*old.get(k)?, guard))) {
                Some((p, guard)) if guard / 2 == k => op.behind(p, guard % 2),
                Some((p, _)) if op.guards(p, a, tables).iter().all(|g| *g >= -ROUNDING) => p,
                _ => op.switched(a, tables),
            };
            list.push(p);
            p
        });
        list
    }

    /// Guards of some pieces at variables `x`: two for each, positive inside; infinite in branches that are not taken.
    pub fn guards(&self, pieces: &[i64], x: &[f64], out: &mut Guards) {
        out.clear();
        let mut k = 0;
        let not_taken = self.walk(x, |op, a, tables| {
            let p = pieces.get(k).copied().unwrap_or(0);
            k += 1;
            out.extend(op.guards(p, a, tables));
            p
        });
        for (from, to) in not_taken {
            out[2 * from..2 * to].fill(f64::INFINITY);
        }
    }

    /// Runs the program with the pieces that `choose` selects for switching operations from their arguments. Returns the ranges of
    /// switching operations, numbered among themselves, in branches that are not taken.
    fn walk(&self, x: &[f64], mut choose: impl FnMut(Op, &[f64], &[Table]) -> i64) -> SmallVec<[(usize, usize); 2]> {
        let mut stack = [0.0; MAX_STACK];
        // Number of switching operations before each value.
        let mut starts = [0_usize; MAX_STACK];
        let (mut n, mut count) = (0, 0);
        let mut not_taken = SmallVec::new();
        for op in &self.ops {
            let takes = op.takes();
            n -= takes;
            let value = if op.switches(&self.tables) {
                let p = choose(*op, &stack[n..], &self.tables);
                let value = op.on_piece(p, &stack[n..], &self.tables);
                count += 1;
                value
            } else {
                if *op == Op::Call(Function::If) {
                    let holds = stack[n] != 0.0;
                    not_taken.push(if holds { (starts[n + 2], count) } else { (starts[n + 1], starts[n + 2]) });
                }
                op.apply(&stack[n..], x, &self.tables)
            };
            if takes == 0 {
                starts[n] = count;
            }
            stack[n] = value;
            n += 1;
        }
        not_taken
    }

    /// The expression restricted to some pieces, smooth at their ends and beyond. Roots and non-integer powers cannot be continued: beyond
    /// their piece the base is set to zero.
    pub fn in_pieces(&self, pieces: &[i64]) -> Expr {
        let mut tables = self.tables.to_vec();
        // Programs, and whether a piece was chosen in them.
        let mut stack: Vec<(Vec<Op>, bool)> = Vec::new();
        let mut k = 0;
        let constant = |part: &[Op]| if let [Op::Constant(c)] = part { Some(*c) } else { None };
        for op in &self.ops {
            let (mut a, chosen): (Vec<Vec<Op>>, Vec<bool>) = stack.split_off(stack.len() - op.takes()).into_iter().unzip();
            let next = if op.switches(&self.tables) {
                let p = pieces.get(k).copied().unwrap_or(0);
                k += 1;
                (op.in_piece(p, &mut a, &mut tables), true)
            } else if *op == Op::Call(Function::If)
                && let Some(c) = constant(&a[0])
            {
                (with_bases_kept(std::mem::take(&mut a[if c != 0.0 { 1 } else { 2 }])), true)
            } else {
                let known: Option<SmallVec<[f64; 3]>> = a.iter().map(|part| constant(part)).collect();
                let chosen = chosen.contains(&true);
                match known.filter(|k| !k.is_empty() && !matches!(op, Op::Table(_))) {
                    Some(known) => (vec![Op::Constant(op.apply::<f64>(&known, &[], &[]))], chosen),
                    None => {
                        let program = a.into_iter().flatten().chain([*op]).collect();
                        let kept = chosen && matches!(op, Op::Call(Function::Pow | Function::Sqrt));
                        (if kept { with_bases_kept(program) } else { program }, chosen)
                    }
                }
            };
            stack.push(next);
        }
        let ops = stack.pop().unwrap_or_default().0;
        // The deepest program of a piece is that of a ramp.
        Expr::from_ops(ops, tables).unwrap_or_else(|| self.clone())
    }
}

/// A program in which the base of roots and of constant non-integer powers is not below zero.
fn with_bases_kept(program: Vec<Op>) -> Vec<Op> {
    let kept = [Op::Constant(0.0), Op::Call(Function::Max)];
    let mut out: Vec<Op> = Vec::with_capacity(program.len());
    for op in program {
        let power = match (op, out.last()) {
            (Op::Call(Function::Pow), Some(Op::Constant(c))) if c.fract() != 0.0 => Some(*c),
            _ => None,
        };
        let base_ends = out.len() - usize::from(power.is_some());
        if (power.is_some() || op == Op::Call(Function::Sqrt)) && !out[..base_ends].ends_with(&kept) {
            out.splice(base_ends..base_ends, kept);
        }
        out.push(op);
    }
    out
}

/// One part of a table, before the first point, between the points, or beyond the last, continued by its first and last pieces.
fn only(f: &Piecewise, part: i64) -> Option<Piecewise> {
    let (x, pieces) = (f.breakpoints(), f.pieces());
    let n = pieces.len();
    let range = match part {
        0 => 0..1,
        1 => 1..n.checked_sub(1)?,
        _ => n.checked_sub(1)?..n,
    };
    Piecewise::from_pieces(x.get(range.start..=range.end)?, pieces.get(range)?, None)
}
