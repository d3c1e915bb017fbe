//! A number that counts operations on it: the work of a formula, independent of the time that a machine takes.

use fourbar_math::Scalar;
use num_traits::{One, Zero};
use std::cell::Cell;
use std::ops::{Add, AddAssign, Div, DivAssign, Mul, MulAssign, Neg, Sub, SubAssign};

thread_local! {
    static OPERATIONS: Cell<u64> = const { Cell::new(0) };
}

/// Additions, multiplications, divisions and functions since the last call.
pub fn counted() -> u64 {
    OPERATIONS.take()
}

fn count() {
    OPERATIONS.set(OPERATIONS.get() + 1);
}

/// The number.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Counted(pub f64);

macro_rules! binary {
    ($($name:ident $function:ident $assign:ident $assigning:ident $op:tt;)*) => {$(
        impl $name for Counted {
            type Output = Self;
            fn $function(self, o: Self) -> Self {
                count();
                Self(self.0 $op o.0)
            }
        }
        impl $name<f64> for Counted {
            type Output = Self;
            fn $function(self, o: f64) -> Self {
                count();
                Self(self.0 $op o)
            }
        }
        impl $assign for Counted {
            fn $assigning(&mut self, o: Self) {
                count();
                self.0 = self.0 $op o.0;
            }
        }
    )*};
}

binary! {
    Add add AddAssign add_assign +;
    Sub sub SubAssign sub_assign -;
    Mul mul MulAssign mul_assign *;
    Div div DivAssign div_assign /;
}

impl Neg for Counted {
    type Output = Self;
    fn neg(self) -> Self {
        Self(-self.0)
    }
}

impl Zero for Counted {
    fn zero() -> Self {
        Self(0.0)
    }
    fn is_zero(&self) -> bool {
        self.0 == 0.0
    }
}

impl One for Counted {
    fn one() -> Self {
        Self(1.0)
    }
}

fn function(x: f64) -> Counted {
    count();
    Counted(x)
}

impl Scalar for Counted {
    fn of(x: f64) -> Self {
        Self(x)
    }
    fn value(self) -> f64 {
        self.0
    }
    fn sqrt(self) -> Self {
        function(self.0.sqrt())
    }
    fn exp(self) -> Self {
        function(self.0.exp())
    }
    fn ln(self) -> Self {
        function(self.0.ln())
    }
    fn sin_cos(self) -> (Self, Self) {
        (function(self.0.sin()), function(self.0.cos()))
    }
    fn atan(self) -> Self {
        function(self.0.atan())
    }
    fn atan2(self, other: Self) -> Self {
        function(self.0.atan2(other.0))
    }
    fn pow(self, exponent: Self) -> Self {
        function(self.0.powf(exponent.0))
    }
    fn diff(self, p: u32) -> Self {
        if p == 0 { self } else { Self(0.0) }
    }
}
