//! Units of quantity strings: name, factor to SI, dimension.

use fourbar::expr::{Dimension, Expr, Kind, Names, Symbol};
use std::f64::consts::PI;

/// A unit.
#[derive(Clone, Copy, Debug)]
pub struct Unit {
    /// Symbol.
    pub name: &'static str,
    /// Value in SI.
    pub factor: f64,
    /// Dimension.
    pub dimension: Dimension,
}

const fn u(name: &'static str, factor: f64, dimension: Dimension) -> Unit {
    Unit { name, factor, dimension }
}

const POWER: Dimension = Dimension::of(2, 1, -3);
const PRESSURE: Dimension = Dimension::of(-1, 1, -2);
const RESISTANCE: Dimension = Dimension::electric(2, 1, -3, -2);
const INDUCTANCE: Dimension = Dimension::electric(2, 1, -2, -2);
const CAPACITANCE: Dimension = Dimension::electric(-2, -1, 4, 2);
/// Newtons per pound-force: 0.45359237 kg times the standard gravity 9.80665 m/s^2, both exact by definition.
const LBF: f64 = 4.4482216152605;

/// All units; compounds such as `kN/m` or `kg*m^2` are formed from them.
pub const UNITS: &[Unit] = &[
    u("m", 1.0, Dimension::LENGTH),
    u("km", 1e3, Dimension::LENGTH),
    u("dm", 1e-1, Dimension::LENGTH),
    u("cm", 1e-2, Dimension::LENGTH),
    u("mm", 1e-3, Dimension::LENGTH),
    u("um", 1e-6, Dimension::LENGTH),
    u("µm", 1e-6, Dimension::LENGTH),
    u("nm", 1e-9, Dimension::LENGTH),
    u("in", 0.0254, Dimension::LENGTH),
    u("ft", 0.3048, Dimension::LENGTH),
    u("kg", 1.0, Dimension::MASS),
    u("g", 1e-3, Dimension::MASS),
    u("mg", 1e-6, Dimension::MASS),
    u("tonne", 1e3, Dimension::MASS),
    u("lb", 0.45359237, Dimension::MASS),
    u("oz", 0.028349523125, Dimension::MASS),
    u("slug", LBF / 0.3048, Dimension::MASS),
    u("s", 1.0, Dimension::TIME),
    u("ms", 1e-3, Dimension::TIME),
    u("us", 1e-6, Dimension::TIME),
    u("µs", 1e-6, Dimension::TIME),
    u("min", 60.0, Dimension::TIME),
    u("h", 3600.0, Dimension::TIME),
    u("rad", 1.0, Dimension::NONE),
    u("mrad", 1e-3, Dimension::NONE),
    u("deg", PI / 180.0, Dimension::NONE),
    u("°", PI / 180.0, Dimension::NONE),
    u("turn", 2.0 * PI, Dimension::NONE),
    u("rev", 2.0 * PI, Dimension::NONE),
    u("rpm", PI / 30.0, Dimension::RATE),
    u("Hz", 2.0 * PI, Dimension::RATE),
    u("kHz", 2e3 * PI, Dimension::RATE),
    u("N", 1.0, Dimension::FORCE),
    u("mN", 1e-3, Dimension::FORCE),
    u("kN", 1e3, Dimension::FORCE),
    u("MN", 1e6, Dimension::FORCE),
    u("lbf", LBF, Dimension::FORCE),
    u("kgf", 9.80665, Dimension::FORCE),
    u("Nm", 1.0, Dimension::TORQUE),
    u("Nmm", 1e-3, Dimension::TORQUE),
    u("kNm", 1e3, Dimension::TORQUE),
    u("J", 1.0, Dimension::TORQUE),
    u("mJ", 1e-3, Dimension::TORQUE),
    u("kJ", 1e3, Dimension::TORQUE),
    u("W", 1.0, POWER),
    u("mW", 1e-3, POWER),
    u("kW", 1e3, POWER),
    u("Pa", 1.0, PRESSURE),
    u("kPa", 1e3, PRESSURE),
    u("MPa", 1e6, PRESSURE),
    u("GPa", 1e9, PRESSURE),
    u("bar", 1e5, PRESSURE),
    u("psi", LBF / (0.0254 * 0.0254), PRESSURE),
    u("A", 1.0, Dimension::CURRENT),
    u("mA", 1e-3, Dimension::CURRENT),
    u("V", 1.0, Dimension::VOLTAGE),
    u("mV", 1e-3, Dimension::VOLTAGE),
    u("kV", 1e3, Dimension::VOLTAGE),
    u("ohm", 1.0, RESISTANCE),
    u("kohm", 1e3, RESISTANCE),
    u("H", 1.0, INDUCTANCE),
    u("mH", 1e-3, INDUCTANCE),
    u("uH", 1e-6, INDUCTANCE),
    u("F", 1.0, CAPACITANCE),
    u("uF", 1e-6, CAPACITANCE),
    u("Wb", 1.0, Dimension::electric(2, 1, -2, -1)),
];

/// Factor and dimension of a unit.
pub(crate) fn unit(name: &str) -> Option<(f64, Dimension)> {
    // The micro sign and the Greek letter mu look alike.
    let name = match name {
        "μm" => "µm",
        "μs" => "µs",
        _ => name,
    };
    UNITS.iter().find(|u| u.name == name).map(|u| (u.factor, u.dimension))
}

/// Names are those of units only.
struct Units;

impl Names for Units {
    fn symbol(&mut self, _name: &str) -> Option<Symbol> {
        None
    }
    fn unit(&mut self, name: &str) -> Option<(f64, Dimension)> {
        unit(name)
    }
}

/// A number with or without a unit, in SI, and its dimension where it has a unit.
pub(crate) fn quantity(text: &str) -> Option<(f64, Option<Dimension>)> {
    let (expr, kind) = Expr::parse_quantity(text, &mut Units).ok()?;
    let dimension = match kind {
        Kind::Quantity(d) => Some(d),
        _ => None,
    };
    Some((expr.constant_value()?, dimension))
}

/// The dimension of an SI unit; `None` if it is not a unit or not an SI unit.
pub fn dimension_of(unit: &str) -> Option<Dimension> {
    if unit == "1" {
        return Some(Dimension::NONE);
    }
    let (factor, dimension) = quantity(&format!("1 {unit}"))?;
    dimension.filter(|_| (factor - 1.0).abs() < 1e-15)
}
