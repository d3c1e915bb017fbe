//! Parses expressions by precedence climbing, directly into a postfix program.
//!
//! Constant parts are computed immediately, which locates divisions by zero; an error inside an `if` branch that is never taken is ignored.
//! Recursion is limited by [`MAX_NESTING`], so no text exhausts the stack.
//!
//! Precedence, loosest first: comparisons, `+ -`, `* /`, signs, `^`. A sign before a power covers the power: `-2^2 = -4`.

use super::dimension::Kind;
use super::error::{ExprError, ExprErrorKind};
use super::function::{FUNCTIONS, Function, FunctionInfo, Units};
use super::lexer::{Lexer, Token, is_not_finite};
use super::{Dimension, Expr, MAX_NESTING, MAX_OPERATIONS, Names, Op, Symbol, Table};
use std::ops::Range;

/// A part of the program that leaves one value.
struct Operand {
    /// Where it starts in the program.
    start: usize,
    /// Its value, where constant.
    value: Option<f64>,
    kind: Kind,
    range: Range<usize>,
    /// The first error in its constants.
    fault: Option<ExprError>,
}

struct Parser<'a, 'n> {
    lexer: Lexer<'a>,
    token: Token,
    range: Range<usize>,
    names: &'n mut dyn Names,
    ops: Vec<Op>,
    tables: Vec<Table>,
    nesting: usize,
}

type Parsed = Result<Operand, ExprError>;

pub(super) fn parse(text: &str, names: &mut dyn Names) -> Result<(Expr, Kind), ExprError> {
    let whole = 0..text.len();
    if text.trim().is_empty() {
        return Lexer::error(ExprErrorKind::Empty, whole);
    }
    let mut p = Parser { lexer: Lexer::new(text), token: Token::End, range: 0..0, names, ops: Vec::new(), tables: Vec::new(), nesting: 0 };
    p.advance()?;
    let value = p.binary(0)?;
    if p.token != Token::End {
        return p.unexpected("an operator or the end");
    }
    match value.fault {
        Some(fault) => Err(fault),
        None => match Expr::from_ops(p.ops, p.tables) {
            Some(expr) => Ok((expr, value.kind)),
            None => Lexer::error(ExprErrorKind::TooDeep, whole),
        },
    }
}

/// How tightly a binary operator binds.
fn precedence(token: Token) -> Option<u8> {
    match token {
        Token::Compare(_) => Some(1),
        Token::Plus | Token::Minus => Some(2),
        Token::Star | Token::Slash => Some(3),
        Token::Caret => Some(5),
        _ => None,
    }
}

const SIGN: u8 = 4;

impl Parser<'_, '_> {
    fn advance(&mut self) -> Result<(), ExprError> {
        (self.token, self.range) = self.lexer.next()?;
        Ok(())
    }

    fn unexpected<T>(&self, expected: &'static str) -> Result<T, ExprError> {
        let found = self.lexer.text[self.range.clone()].to_string();
        Lexer::error(ExprErrorKind::Syntax { expected, found }, self.range.clone())
    }

    fn deeper<T>(&mut self, parse: impl FnOnce(&mut Self) -> Result<T, ExprError>) -> Result<T, ExprError> {
        if self.nesting >= MAX_NESTING {
            return Lexer::error(ExprErrorKind::TooDeep, self.range.clone());
        }
        self.nesting += 1;
        let result = parse(self);
        self.nesting -= 1;
        result
    }

    /// Operators that bind at least as tightly as `least`.
    fn binary(&mut self, least: u8) -> Parsed {
        let mut left = self.unary()?;
        while let Some(level) = precedence(self.token).filter(|level| *level >= least) {
            let token = self.token;
            self.advance()?;
            // A power is taken from the right, and its exponent may carry a sign.
            let right = match token {
                Token::Caret => self.deeper(|p| p.binary(SIGN))?,
                _ => self.binary(level + 1)?,
            };
            left = match token {
                Token::Caret => self.power(left, right)?,
                _ => self.arithmetic(token, left, right)?,
            };
        }
        Ok(left)
    }

    fn unary(&mut self) -> Parsed {
        let start = self.range.start;
        match self.token {
            Token::Plus => {
                self.advance()?;
                self.deeper(|p| p.binary(SIGN))
            }
            Token::Minus => {
                self.advance()?;
                let x = self.deeper(|p| p.binary(SIGN))?;
                let kind = x.kind;
                let range = start..x.range.end;
                Ok(self.emit(Op::Neg, vec![x], kind, range))
            }
            _ => self.primary(),
        }
    }

    fn primary(&mut self) -> Parsed {
        let range = self.range.clone();
        match self.token {
            Token::Number(x) => {
                self.advance()?;
                self.quantity(x, range)
            }
            Token::Open => {
                self.advance()?;
                let mut x = self.deeper(|p| p.binary(0))?;
                x.range = range.start..self.range.end;
                self.close()?;
                Ok(x)
            }
            Token::Word => self.word(range),
            _ => self.unexpected("a number, a name or a parenthesis"),
        }
    }

    fn close(&mut self) -> Result<(), ExprError> {
        if self.token != Token::Close {
            return self.unexpected("a closing parenthesis");
        }
        self.advance()
    }

    /// A number, perhaps with a unit: `2 kN/m`. The chain continues as long as unit names follow without spaces.
    fn quantity(&mut self, number: f64, mut range: Range<usize>) -> Parsed {
        if self.token != Token::Word {
            return Ok(self.constant(number, Kind::Number, range));
        }
        let (mut factor, mut dimension) = (1.0, Dimension::NONE);
        let mut sign = 1;
        loop {
            let name = &self.lexer.text[self.range.clone()];
            let Some((unit, d)) = self.names.unit(name) else {
                return Lexer::error(ExprErrorKind::UnknownUnit(name.to_string()), self.range.clone());
            };
            range.end = self.range.end;
            self.advance()?;
            let power = sign * self.unit_power(&mut range)?;
            factor *= unit.powi(i32::from(power));
            dimension = dimension.times(d.power(power));
            // Continue only if a unit name follows without spaces; otherwise the operator belongs to the expression.
            sign = match self.token {
                Token::Star => 1,
                Token::Slash => -1,
                _ => break,
            };
            let (operator, place) = (self.token, self.range.clone());
            self.advance()?;
            let tight = range.end == place.start && place.end == self.range.start;
            let called = self.lexer.text[self.range.end..].starts_with('(');
            let word = &self.lexer.text[self.range.clone()];
            if !(tight && !called && self.token == Token::Word && self.names.further_unit(word)) {
                self.lexer.jump(place.end);
                (self.token, self.range) = (operator, place);
                break;
            }
        }
        Ok(self.constant(number * factor, Kind::Quantity(dimension), range))
    }

    /// The integer power after a unit, `^2` or `^-1`; one if there is none.
    fn unit_power(&mut self, range: &mut Range<usize>) -> Result<i8, ExprError> {
        if self.token != Token::Caret {
            return Ok(1);
        }
        self.advance()?;
        let negative = self.token == Token::Minus;
        if negative {
            self.advance()?;
        }
        match self.token {
            Token::Number(n) if n.fract() == 0.0 && n <= 8.0 => {
                range.end = self.range.end;
                self.advance()?;
                Ok(if negative { -(n as i8) } else { n as i8 })
            }
            _ => self.unexpected("an integer power of a unit, at most 8,"),
        }
    }

    /// A name or a call.
    fn word(&mut self, word: Range<usize>) -> Parsed {
        let text = self.lexer.text;
        let after = text[word.end..].trim_start();
        // Names of tables may contain hyphens, like all names.
        for end in self.lexer.name_ends(&word) {
            if text[end..].trim_start().starts_with('(')
                && let Some(table) = self.names.table(&text[word.start..end])
            {
                self.lexer.jump(end);
                return self.read_table(table, word.start..end);
            }
        }
        if after.starts_with('(') {
            return self.call(word);
        }
        for end in self.lexer.name_ends(&word) {
            let Some(symbol) = self.names.symbol(&text[word.start..end]) else { continue };
            let range = word.start..end;
            self.lexer.jump(end);
            self.advance()?;
            return Ok(match symbol {
                Symbol::Value(x) => self.constant(x, Kind::Unknown, range),
                Symbol::Quantity(x, d) => self.constant(x, Kind::Quantity(d), range),
                Symbol::Variable(k) => {
                    self.ops.push(Op::Variable(k));
                    Operand { start: self.ops.len() - 1, value: None, kind: Kind::Unknown, range, fault: None }
                }
                Symbol::Function(f, kind) => self.inline(&f, kind, range)?,
            });
        }
        let name = &text[word.clone()];
        let value = match name {
            "pi" => std::f64::consts::PI,
            "e" => std::f64::consts::E,
            _ if is_not_finite(name) => return Lexer::error(ExprErrorKind::NotFinite, word),
            _ => return Lexer::error(ExprErrorKind::UnknownName(name.to_string()), word),
        };
        self.advance()?;
        Ok(self.constant(value, Kind::Number, word))
    }

    /// Inserts another expression in place of its name.
    fn inline(&mut self, f: &Expr, kind: Kind, range: Range<usize>) -> Parsed {
        if let Some(x) = f.constant_value() {
            return Ok(self.constant(x, kind, range));
        }
        let start = self.ops.len();
        if start + f.ops.len() > MAX_OPERATIONS {
            return Lexer::error(ExprErrorKind::TooMany, range);
        }
        let first = self.tables.len() as u32;
        self.tables.extend(f.tables.iter().cloned());
        self.ops.extend(f.ops.iter().map(|op| if let Op::Table(k) = op { Op::Table(first + k) } else { *op }));
        Ok(Operand { start, value: None, kind, range, fault: None })
    }

    /// A call of a table, whose name has been read.
    fn read_table(&mut self, table: Table, name: Range<usize>) -> Parsed {
        self.advance()?;
        self.advance()?;
        let arguments = self.arguments()?;
        let range = name.start..self.range.end;
        self.close()?;
        let [argument] = match <[Operand; 1]>::try_from(arguments) {
            Ok(one) => one,
            Err(given) => {
                let function = table.name.to_string();
                return Lexer::error(ExprErrorKind::Arguments { function, needed: (1, 1), given: given.len() }, range);
            }
        };
        if let (Kind::Quantity(given), Some(wanted)) = (argument.kind, table.x)
            && given != wanted
        {
            return Lexer::error(ExprErrorKind::WrongArgument(table.name.to_string(), wanted, given), argument.range);
        }
        let kind = table.y.map_or(Kind::Unknown, Kind::Quantity);
        self.tables.push(table);
        let op = Op::Table(self.tables.len() as u32 - 1);
        Ok(self.emit(op, vec![argument], kind, range))
    }

    fn call(&mut self, word: Range<usize>) -> Parsed {
        let name = &self.lexer.text[word.clone()];
        let Some(info) = FUNCTIONS.iter().find(|f| f.name == name) else {
            return Lexer::error(ExprErrorKind::UnknownFunction(name.to_string()), word);
        };
        self.advance()?;
        self.advance()?;
        let arguments = self.arguments()?;
        let range = word.start..self.range.end;
        self.close()?;
        let given = arguments.len();
        if given < info.arguments.0 || given > info.arguments.1 {
            let function = info.name.to_string();
            return Lexer::error(ExprErrorKind::Arguments { function, needed: info.arguments, given }, range);
        }
        let kind = call_kind(info, &arguments)?;
        Ok(self.apply(info.function, arguments, kind, range))
    }

    /// The arguments of a call, up to its closing parenthesis.
    fn arguments(&mut self) -> Result<Vec<Operand>, ExprError> {
        let mut arguments = Vec::new();
        if self.token != Token::Close {
            arguments.push(self.deeper(|p| p.binary(0))?);
            while self.token == Token::Comma {
                self.advance()?;
                arguments.push(self.deeper(|p| p.binary(0))?);
            }
        }
        if self.token != Token::Close {
            return self.unexpected("a comma or a closing parenthesis");
        }
        Ok(arguments)
    }

    /// Emits a call; functions of many arguments fold them from the right, two at a time.
    fn apply(&mut self, function: Function, mut arguments: Vec<Operand>, kind: Kind, range: Range<usize>) -> Operand {
        if function == Function::If
            && let Some(condition) = arguments[0].value.filter(|_| arguments[0].fault.is_none())
        {
            return self.choose(condition != 0.0, arguments, kind, range);
        }
        let arity = function.arity();
        while arguments.len() > arity {
            let last = arguments.split_off(arguments.len() - arity);
            let folded = self.emit(Op::Call(function), last, kind, range.clone());
            arguments.push(folded);
        }
        self.emit(Op::Call(function), arguments, kind, range)
    }

    /// Keeps the branch selected by a constant condition, and only its errors.
    fn choose(&mut self, first: bool, mut arguments: Vec<Operand>, kind: Kind, range: Range<usize>) -> Operand {
        let start = arguments[0].start;
        let (a, b) = (arguments[1].start, arguments[2].start);
        let mut chosen = arguments.swap_remove(if first { 1 } else { 2 });
        if first {
            self.ops.truncate(b);
            self.ops.drain(start..a);
        } else {
            self.ops.drain(start..b);
        }
        chosen.start = start;
        chosen.kind = kind;
        chosen.range = range;
        chosen
    }

    fn arithmetic(&mut self, token: Token, a: Operand, b: Operand) -> Parsed {
        let range = a.range.start..b.range.end;
        let (op, kind) = match token {
            Token::Star => (Op::Mul, a.kind.times(b.kind)),
            Token::Slash => (Op::Div, a.kind.times(b.kind.inverse())),
            Token::Compare(c) => {
                alike(&a, &b)?;
                (Op::Compare(c), Kind::Number)
            }
            Token::Minus => (Op::Sub, alike(&a, &b)?),
            _ => (Op::Add, alike(&a, &b)?),
        };
        Ok(self.emit(op, vec![a, b], kind, range))
    }

    fn power(&mut self, a: Operand, b: Operand) -> Parsed {
        let range = a.range.start..b.range.end;
        if let Kind::Quantity(d) = b.kind
            && d != Dimension::NONE
        {
            return Lexer::error(ExprErrorKind::NotPlain("the exponent of ^", d), b.range);
        }
        let kind = a.kind.power(b.value);
        match b.value {
            // Integer powers accept any base and have exact derivatives everywhere.
            Some(n) if n.fract() == 0.0 && n.abs() <= 64.0 && b.fault.is_none() => {
                self.ops.truncate(b.start);
                Ok(self.emit(Op::Power(n as i32), vec![a], kind, range))
            }
            _ => Ok(self.emit(Op::Call(Function::Pow), vec![a, b], kind, range)),
        }
    }

    fn constant(&mut self, x: f64, kind: Kind, range: Range<usize>) -> Operand {
        let fault = (!x.is_finite()).then(|| ExprError { kind: ExprErrorKind::NotFinite, range: range.clone() });
        self.ops.push(Op::Constant(x));
        Operand { start: self.ops.len() - 1, value: Some(x), kind, range, fault }
    }

    /// Appends an operation; computes it immediately if all operands are constant.
    fn emit(&mut self, op: Op, operands: Vec<Operand>, kind: Kind, range: Range<usize>) -> Operand {
        let start = operands.first().map_or(self.ops.len(), |o| o.start);
        let constant = operands.iter().all(|o| o.value.is_some());
        let zero_divisor = match op {
            Op::Div | Op::Call(Function::Mod) => operands.get(1).is_some_and(|o| o.value == Some(0.0)),
            Op::Power(n) => n < 0 && operands.first().is_some_and(|o| o.value == Some(0.0)),
            _ => false,
        };
        let mut fault = operands.into_iter().find_map(|o| o.fault);
        if fault.is_none() && zero_divisor {
            fault = Some(ExprError { kind: ExprErrorKind::DivisionByZero, range: range.clone() });
        }
        self.ops.push(op);
        let mut value = None;
        if constant {
            let mut x = if fault.is_none() { super::run::<f64, 4>(&self.ops[start..], &[], &self.tables) } else { 1.0 };
            if !x.is_finite() {
                fault = Some(ExprError { kind: ExprErrorKind::NotFinite, range: range.clone() });
                x = 1.0;
            }
            self.ops.truncate(start);
            self.ops.push(Op::Constant(x));
            value = Some(x);
        }
        Operand { start, value, kind, range, fault }
    }
}

/// The common dimension of two values that are added or compared.
fn alike(a: &Operand, b: &Operand) -> Result<Kind, ExprError> {
    match (a.kind.plus(b.kind), a.kind, b.kind) {
        (Some(kind), ..) => Ok(kind),
        (None, Kind::Quantity(x), Kind::Quantity(y)) => Lexer::error(ExprErrorKind::Mismatch(x, y), a.range.start..b.range.end),
        (None, ..) => Ok(Kind::Unknown),
    }
}

/// The dimension of a call's value.
fn call_kind(info: &'static FunctionInfo, arguments: &[Operand]) -> Result<Kind, ExprError> {
    let all_alike = |arguments: &[Operand]| -> Result<Kind, ExprError> {
        let mut kind = arguments[0].kind;
        for pair in arguments.windows(2) {
            alike(&pair[0], &pair[1])?;
            kind = kind.plus(pair[1].kind).unwrap_or(kind);
        }
        Ok(kind)
    };
    match info.units {
        Units::Plain => match arguments[0].kind {
            Kind::Quantity(d) if d != Dimension::NONE => Lexer::error(ExprErrorKind::NotPlain(info.name, d), arguments[0].range.clone()),
            _ => Ok(Kind::Number),
        },
        Units::Alike => all_alike(arguments),
        Units::Ratio => all_alike(arguments).map(|_| Kind::Number),
        Units::Root => Ok(arguments[0].kind.power(Some(0.5))),
        Units::Power => Ok(arguments[0].kind.power(arguments[1].value)),
        Units::Condition => all_alike(&arguments[1..]),
    }
}
