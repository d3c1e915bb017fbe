//! Expressions as text that parses back to the same program.

use super::{Comparison, Expr, FUNCTIONS, Op};
use std::fmt::Write;

/// Precedence of the outermost operator of a piece of text, as in the parser.
#[derive(Clone, Copy, PartialEq, PartialOrd)]
enum Level {
    Compare,
    Sum,
    Product,
    Sign,
    Power,
    Atom,
}

/// A finite number in the fewest digits that read back to the same bits.
pub fn number(x: f64) -> String {
    let text = format!("{x:?}");
    text.strip_suffix(".0").map_or_else(|| text.replace(".0e", "e"), str::to_string)
}

impl Expr {
    /// The expression as text; `name` gives the names of its variables.
    pub fn to_text(&self, mut name: impl FnMut(u32) -> String) -> String {
        let mut stack: Vec<(String, Level)> = Vec::new();
        let within = |(text, level): (String, Level), least: Level| if level < least { format!("({text})") } else { text };
        for op in &self.ops {
            let arguments = stack.split_off(stack.len().saturating_sub(op.takes()));
            let mut it = arguments.into_iter();
            let mut next = || it.next().unwrap_or_else(|| ("0".into(), Level::Atom));
            let mut infix = |sign: &str, left: Level, right: Level, level: Level| {
                let (a, b) = (within(next(), left), within(next(), right));
                (format!("{a}{sign}{b}"), level)
            };
            use Level::*;
            let made = match *op {
                Op::Constant(x) => (number(x), if x.is_sign_negative() { Sign } else { Atom }),
                Op::Variable(k) => (name(k), Atom),
                Op::Neg => (format!("-{}", within(next(), Power)), Sign),
                Op::Add => infix(" + ", Sum, Product, Sum),
                Op::Sub => infix(" - ", Sum, Product, Sum),
                Op::Mul => infix("*", Product, Sign, Product),
                Op::Div => infix("/", Product, Sign, Product),
                Op::Power(k) => (format!("{}^{k}", within(next(), Atom)), Power),
                Op::Compare(c) => {
                    let sign = match c {
                        Comparison::Less => " < ",
                        Comparison::LessEqual => " <= ",
                        Comparison::Greater => " > ",
                        Comparison::GreaterEqual => " >= ",
                        Comparison::Equal => " == ",
                        Comparison::NotEqual => " != ",
                    };
                    infix(sign, Compare, Sum, Compare)
                }
                Op::Call(f) => {
                    let called = FUNCTIONS.iter().find(|info| info.function == f).map_or("", |info| info.name);
                    let mut text = format!("{called}(");
                    for k in 0..f.arity() {
                        // Writing to a `String` cannot fail.
                        let _ = write!(text, "{}{}", if k > 0 { ", " } else { "" }, next().0);
                    }
                    (text + ")", Atom)
                }
                Op::Table(k) => {
                    let called = self.tables.get(k as usize).map_or("", |t| &*t.name);
                    (format!("{called}({})", next().0), Atom)
                }
            };
            stack.push(made);
        }
        stack.pop().map_or_else(|| "0".into(), |(text, _)| text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::expr::Symbol;

    fn parse(text: &str) -> Expr {
        let names = ["t", "length", "tip.vx", "x"];
        Expr::parse(text, &mut |n| names.iter().position(|k| *k == n).map(|k| Symbol::Variable(k as u32))).expect(text)
    }

    #[test]
    fn text_reads_back_to_the_same_program() {
        let names = ["t", "length", "tip.vx", "x"];
        for text in [
            "t",
            "-t",
            "-t^2",
            "(-t)^2",
            "2^t^x",
            "(2^t)^x",
            "t - (x - 1)",
            "t - x - 1",
            "t/(x*2)",
            "t/x*2",
            "-(t + x)*3",
            "2*-t",
            "t^-2",
            "t^0.5",
            "-2*t",
            "1e-7*t + 1.5e300",
            "min(t, x, 3, length)",
            "if(t < 1, sin(2*pi*t), max(x, -x))",
            "(t < 1)*(x >= 2) + (t != x)",
            "t - -x",
            "(t*x)^3",
            "-(-t)",
            "t*(x/length)",
            "log(t + 2) + mod(t, 0.3)",
            "-0.0*t",
            "(t == x) < length",
            "t^(x + 1)",
            "sqrt(t)^3",
        ] {
            let e = parse(text);
            let written = e.to_text(|k| names[k as usize].to_string());
            assert_eq!(parse(&written), e, "{text} became {written}");
        }
    }

    #[test]
    fn numbers_are_short_and_exact() {
        assert_eq!([1.0, 0.1, -2.5e-9, 1e22, 0.0].map(number), ["1", "0.1", "-2.5e-9", "1e22", "0"]);
    }
}
