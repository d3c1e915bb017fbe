//! Physical dimensions of quantities in expressions: powers of length, mass, time and electric current.
//!
//! Angles have no dimension, so `N*m/rad` is `N*m`. Plain numbers are SI everywhere, so only quantities
//! with a unit are checked: [`Kind`] distinguishes the three cases.

use std::fmt;

/// Powers of metre, kilogram, second and ampere.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
pub struct Dimension {
    /// Power of length.
    pub length: i8,
    /// Power of mass.
    pub mass: i8,
    /// Power of time.
    pub time: i8,
    /// Power of electric current.
    pub current: i8,
}

/// What is known about the dimension of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A bare number: fits anywhere, and scales a quantity without changing its dimension.
    Number,
    /// A parameter or variable without unit: its dimension, and that of its products, is unknown.
    Unknown,
    /// A quantity with a unit.
    Quantity(Dimension),
}

/// Named dimensions with their usual unit, for messages and tables.
const NAMES: &[(Dimension, &str, &str)] = &[
    (Dimension::NONE, "angle or number", "rad"),
    (Dimension::LENGTH, "length", "m"),
    (Dimension::MASS, "mass", "kg"),
    (Dimension::TIME, "time", "s"),
    (Dimension::AREA, "area", "m^2"),
    (Dimension::of(3, 0, 0), "volume", "m^3"),
    (Dimension::SPEED, "speed", "m/s"),
    (Dimension::ACCELERATION, "acceleration", "m/s^2"),
    (Dimension::RATE, "angular speed", "rad/s"),
    (Dimension::of(0, 0, -2), "angular acceleration", "rad/s^2"),
    (Dimension::FORCE, "force", "N"),
    (Dimension::TORQUE, "torque or energy", "N*m"),
    (Dimension::of(2, 1, -3), "power", "W"),
    (Dimension::of(-1, 1, -2), "pressure", "Pa"),
    (Dimension::INERTIA, "moment of inertia", "kg*m^2"),
    (Dimension::DENSITY, "density", "kg/m^3"),
    (Dimension::STIFFNESS, "stiffness", "N/m"),
    (Dimension::DAMPING, "damping", "N*s/m"),
    (Dimension::ROTARY_DAMPING, "rotary damping", "N*m*s/rad"),
    (Dimension::CURRENT, "electric current", "A"),
    (Dimension::VOLTAGE, "voltage", "V"),
    (Dimension::electric(2, 1, -3, -2), "electric resistance", "ohm"),
    (Dimension::electric(2, 1, -2, -2), "inductance", "H"),
    (Dimension::electric(-2, -1, 4, 2), "capacitance", "F"),
    (Dimension::electric(2, 1, -2, -1), "magnetic flux", "Wb"),
];

impl Dimension {
    /// Angles, ratios, plain numbers.
    pub const NONE: Self = Self::of(0, 0, 0);
    /// Metres.
    pub const LENGTH: Self = Self::of(1, 0, 0);
    /// Kilograms.
    pub const MASS: Self = Self::of(0, 1, 0);
    /// Seconds.
    pub const TIME: Self = Self::of(0, 0, 1);
    /// Metres per second.
    pub const SPEED: Self = Self::of(1, 0, -1);
    /// Metres per second squared.
    pub const ACCELERATION: Self = Self::of(1, 0, -2);
    /// Radians per second.
    pub const RATE: Self = Self::of(0, 0, -1);
    /// Newtons.
    pub const FORCE: Self = Self::of(1, 1, -2);
    /// Newton metres; also the stiffness of a torsion spring.
    pub const TORQUE: Self = Self::of(2, 1, -2);
    /// Kilogram square metres.
    pub const INERTIA: Self = Self::of(2, 1, 0);
    /// Kilograms per cubic metre.
    pub const DENSITY: Self = Self::of(-3, 1, 0);
    /// Newtons per metre.
    pub const STIFFNESS: Self = Self::of(0, 1, -2);
    /// Newton seconds per metre.
    pub const DAMPING: Self = Self::of(0, 1, -1);
    /// Newton metre seconds per radian.
    pub const ROTARY_DAMPING: Self = Self::of(2, 1, -1);
    /// Square metres.
    pub const AREA: Self = Self::of(2, 0, 0);

    /// Amperes.
    pub const CURRENT: Self = Self::electric(0, 0, 0, 1);
    /// Volts.
    pub const VOLTAGE: Self = Self::electric(2, 1, -3, -1);

    /// From the three powers of mechanics.
    pub const fn of(length: i8, mass: i8, time: i8) -> Self {
        Self::electric(length, mass, time, 0)
    }

    /// From all four powers.
    pub const fn electric(length: i8, mass: i8, time: i8, current: i8) -> Self {
        Self { length, mass, time, current }
    }

    /// The product of two dimensions; powers saturate.
    pub fn times(self, o: Self) -> Self {
        Self::electric(
            self.length.saturating_add(o.length),
            self.mass.saturating_add(o.mass),
            self.time.saturating_add(o.time),
            self.current.saturating_add(o.current),
        )
    }

    /// An integer power of a dimension; powers saturate.
    pub fn power(self, n: i8) -> Self {
        Self::electric(
            self.length.saturating_mul(n),
            self.mass.saturating_mul(n),
            self.time.saturating_mul(n),
            self.current.saturating_mul(n),
        )
    }

    /// The square root, if the powers are even.
    pub fn root(self) -> Option<Self> {
        let even = [self.length, self.mass, self.time, self.current].iter().all(|p| p % 2 == 0);
        even.then(|| Self::electric(self.length / 2, self.mass / 2, self.time / 2, self.current / 2))
    }

    /// Its name with the article: "a length", "an angle or number".
    pub fn a(self) -> String {
        let name = self.to_string();
        let article = if name.starts_with(['a', 'e', 'i', 'o', 'u']) { "an" } else { "a" };
        format!("{article} {name}")
    }

    /// Its usual unit, such as `N/m`, or the unit in base units, such as `kg*m^2/s`.
    pub fn unit(self) -> String {
        if let Some((_, _, unit)) = NAMES.iter().find(|(d, ..)| *d == self) {
            return unit.to_string();
        }
        let part = |name: &str, p: i8| if p == 1 { name.to_string() } else { format!("{name}^{p}") };
        let powers = [("kg", self.mass), ("m", self.length), ("s", self.time), ("A", self.current)];
        let above: Vec<String> = powers.iter().filter(|(_, p)| *p > 0).map(|(n, p)| part(n, *p)).collect();
        let below: String = powers.iter().filter(|(_, p)| *p < 0).map(|(n, p)| format!("/{}", part(n, p.saturating_neg()))).collect();
        if above.is_empty() { format!("1{below}") } else { above.join("*") + &below }
    }
}

impl fmt::Display for Dimension {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match NAMES.iter().find(|(d, ..)| d == self) {
            Some((_, name, _)) => f.write_str(name),
            None => write!(f, "quantity in {}", self.unit()),
        }
    }
}

impl Kind {
    /// Dimension of a product.
    pub(super) fn times(self, o: Self) -> Self {
        match (self, o) {
            (Kind::Unknown, _) | (_, Kind::Unknown) => Kind::Unknown,
            (Kind::Number, other) | (other, Kind::Number) => other,
            (Kind::Quantity(a), Kind::Quantity(b)) => Kind::Quantity(a.times(b)),
        }
    }

    /// Dimension of one over the value.
    pub(super) fn inverse(self) -> Self {
        match self {
            Kind::Quantity(d) => Kind::Quantity(d.power(-1)),
            other => other,
        }
    }

    /// Dimension of a sum; `None` if the two cannot be added.
    pub(super) fn plus(self, o: Self) -> Option<Self> {
        match (self, o) {
            (Kind::Quantity(a), Kind::Quantity(b)) => (a == b).then_some(self),
            (Kind::Quantity(_), _) => Some(self),
            (_, Kind::Quantity(_)) => Some(o),
            (Kind::Number, Kind::Number) => Some(Kind::Number),
            _ => Some(Kind::Unknown),
        }
    }

    /// Dimension of a power whose exponent is the constant `n`, or unknown if it is not constant.
    pub(super) fn power(self, n: Option<f64>) -> Self {
        match (self, n) {
            (Kind::Quantity(d), Some(n)) if n.fract() == 0.0 && n.abs() <= 8.0 => Kind::Quantity(d.power(n as i8)),
            (Kind::Quantity(d), Some(0.5)) => d.root().map_or(Kind::Unknown, Kind::Quantity),
            (Kind::Quantity(_), _) => Kind::Unknown,
            (other, _) => other,
        }
    }
}
