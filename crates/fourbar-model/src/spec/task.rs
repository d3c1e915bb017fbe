//! Tasks of a mechanism: paths of its points over time, and the motors that produce them.

use super::{TableEnds, TableSpec, V3};
use crate::expr::{Dimension, Expr, Names, Outside, Symbol, Table};
use serde::{Deserialize, Serialize};

/// A path that a point follows, in world coordinates.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PathSpec {
    /// The point, by name.
    pub point: String,
    /// World coordinates as functions of time (variable 0); `None` leaves one free.
    pub coordinates: [Option<Expr>; 3],
    /// Instead of functions: points that the path goes through.
    pub through: Option<ThroughSpec>,
    /// Joints that keep their start coordinate, for mechanisms with more freedom than the path prescribes.
    pub keep: Vec<String>,
}

/// A smooth path through points, travelled from the first to the last with a speed profile.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ThroughSpec {
    /// The points, in the world.
    pub points: Vec<V3>,
    /// Whether it continues from the last point to the first.
    pub closed: bool,
    /// The speed profile.
    pub profile: Profile,
    /// When it starts, s.
    pub start: f64,
    /// How long it takes, s.
    pub duration: f64,
}

/// Motion along a path of unit length in unit time, from rest to rest.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Profile {
    /// `10 u^3 - 15 u^4 + 6 u^5`: minimum jerk; accelerations do not jump. Peak speed 1.875, peak acceleration 5.77.
    #[default]
    MinimumJerk,
    /// A third of the time with constant acceleration, a third with constant speed, a third with constant deceleration: accelerations
    /// jump. Peak speed 1.5, acceleration 4.5.
    Trapezoid,
    /// `u - sin(2 pi u)/(2 pi)`: accelerations do not jump. Peak speed 2, peak acceleration 6.28.
    Cycloid,
}

impl Profile {
    /// All profiles with their names in files.
    pub const ALL: [(&'static str, Profile); 3] =
        [("minimum-jerk", Self::MinimumJerk), ("trapezoid", Self::Trapezoid), ("cycloid", Self::Cycloid)];

    /// Its name in files.
    pub fn name(self) -> &'static str {
        Self::ALL.iter().find(|(_, p)| *p == self).map_or("", |(name, _)| name)
    }

    /// The fraction of the path travelled, as an expression of `t`.
    fn text(self, start: f64, end: f64) -> String {
        let u = format!("ramp(t, {start:?}, {end:?})");
        match self {
            Self::MinimumJerk => format!("smoothstep(t, {start:?}, {end:?})"),
            Self::Trapezoid => format!("if(3*{u} < 1, 2.25*{u}^2, if(3*{u} < 2, 1.5*{u} - 0.25, 1 - 2.25*(1 - {u})^2))"),
            Self::Cycloid => format!("{u} - sin(2*pi*{u})/(2*pi)"),
        }
    }
}

/// A motor on a joint.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct MotorSpec {
    /// The joint, by name.
    pub joint: String,
    /// Continuous effort at the joint: N m, or N.
    pub rated: Option<f64>,
    /// Largest effort at the joint: where motors share a load, none exceeds it.
    pub limit: Option<f64>,
    /// Inertia of its rotor about its own axis, kg m^2.
    pub inertia: f64,
    /// Angle of the rotor over the coordinate of the joint: rad/rad, or rad/m.
    pub ratio: f64,
    /// Efficiency of its gear.
    pub efficiency: f64,
    /// Weight of its effort where motors share a load: the sum of `(weight effort)^2` is minimised. Omitted: one over `rated`.
    pub weight: Option<f64>,
}

/// Three tables by name.
struct Axes<'a>(&'a [Table; 3]);

impl Names for Axes<'_> {
    fn symbol(&mut self, name: &str) -> Option<Symbol> {
        (name == "t").then_some(Symbol::Variable(0))
    }
    fn table(&mut self, name: &str) -> Option<Table> {
        self.0.iter().find(|t| &*t.name == name).cloned()
    }
}

impl ThroughSpec {
    /// The parameter at each point: the fraction of the total distance, including the closing segment.
    fn shares(&self) -> Option<(Vec<V3>, Vec<f64>)> {
        let mut points = self.points.clone();
        let first = *points.first()?;
        if self.closed && points.last() != Some(&first) {
            points.push(first);
        }
        let mut shares = vec![0.0];
        for w in points.windows(2) {
            let d2: f64 = (0..3).map(|i| (w[1][i] - w[0][i]).powi(2)).sum();
            shares.push(shares.last().copied().unwrap_or(0.0) + d2.sqrt());
        }
        let whole = shares.last().copied().filter(|x| *x > 0.0 && x.is_finite())?;
        shares.iter_mut().for_each(|x| *x /= whole);
        shares.windows(2).all(|w| w[1] > w[0]).then_some((points, shares))
    }

    /// The path as functions of time, or the reason for which there are none.
    pub fn coordinates(&self) -> Result<[Expr; 3], String> {
        if !(self.duration > 0.0 && self.duration.is_finite() && self.start.is_finite()) {
            return Err("its duration is not positive".into());
        }
        let least = if self.closed { 3 } else { 2 };
        if self.points.len() < least {
            return Err(format!("it passes through fewer than {least} points"));
        }
        let (points, shares) = self.shares().ok_or("two consecutive points coincide")?;
        let mut tables = Vec::with_capacity(3);
        for (i, name) in ["path_x", "path_y", "path_z"].iter().enumerate() {
            let mut pairs: Vec<[f64; 2]> = points.iter().zip(&shares).map(|(p, s)| [*s, p[i]]).collect();
            if let [a, b] = pairs.as_slice() {
                pairs = vec![*a, [0.5 * (a[0] + b[0]), 0.5 * (a[1] + b[1])], *b];
            }
            let ends = if self.closed { TableEnds::Periodic } else { TableEnds::Natural };
            let outside = (!self.closed).then_some(Outside::Hold);
            let spec = TableSpec { ends, outside, ..TableSpec::new(pairs) };
            tables.push(spec.table(name).map_err(|_| "no smooth curve passes through its points".to_string())?);
        }
        let tables: [Table; 3] = tables.try_into().map_err(|_| "no smooth curve passes through its points".to_string())?;
        let share = self.profile.text(self.start, self.start + self.duration);
        let of =
            |name: &str| Expr::parse_quantity(&format!("{name}({share})"), &mut Axes(&tables)).map(|(e, _)| e).map_err(|e| e.to_string());
        Ok([of("path_x")?, of("path_y")?, of("path_z")?])
    }
}

impl PathSpec {
    /// The prescribed coordinates as functions of time, or the reason for which there are none.
    pub fn functions(&self) -> Result<[Option<Expr>; 3], String> {
        match &self.through {
            Some(through) => through.coordinates().map(|c| c.map(Some)),
            None if self.coordinates.iter().all(Option::is_none) => Err("it prescribes nothing".into()),
            None => Ok(self.coordinates.clone()),
        }
    }
}

impl MotorSpec {
    /// A motor on a joint with default properties.
    pub fn new(joint: impl Into<String>) -> Self {
        Self { joint: joint.into(), rated: None, limit: None, inertia: 0.0, ratio: 1.0, efficiency: 1.0, weight: None }
    }

    /// Inertia of the rotor reflected to the joint: kg m^2, or kg.
    pub fn reflected(&self) -> f64 {
        self.inertia * self.ratio * self.ratio
    }

    /// Dimension of its efforts on a joint with an angle, or with a distance.
    pub fn dimension(angle: bool) -> Dimension {
        if angle { Dimension::TORQUE } else { Dimension::FORCE }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn through(profile: Profile, closed: bool) -> ThroughSpec {
        let points = vec![[0.0, 0.0, 0.0], [1.0, 0.0, 0.5], [1.0, 1.0, 1.0], [0.0, 1.0, 0.5]];
        ThroughSpec { points, closed, profile, start: 0.5, duration: 2.0 }
    }

    #[test]
    fn profiles_have_the_peaks_of_their_closed_forms() {
        for (profile, speed, acceleration) in
            [(Profile::MinimumJerk, 1.875, 5.773_502_69), (Profile::Trapezoid, 1.5, 4.5), (Profile::Cycloid, 2.0, std::f64::consts::TAU)]
        {
            let e = Expr::time(&profile.text(0.0, 1.0)).expect("an expression");
            let (mut v, mut a) = (0.0_f64, 0.0_f64);
            for k in 1..20_000 {
                let d = e.time_derivatives(k as f64 / 20_000.0);
                v = v.max(d[1]);
                a = a.max(d[2]);
            }
            assert!((v - speed).abs() < 1e-6 && (a - acceleration).abs() < 1e-5, "{profile:?}: {v} {a}");
            assert!(e.time_derivatives(0.0)[0].abs() < 1e-15 && (e.time_derivatives(1.0)[0] - 1.0).abs() < 1e-15);
            assert!((e.time_derivatives(0.5)[0] - 0.5).abs() < 1e-15);
        }
    }

    #[test]
    fn a_path_goes_through_its_points_from_rest_to_rest() {
        for (_, profile) in Profile::ALL {
            let s = through(profile, false);
            let path = s.coordinates().expect("a path");
            for (i, e) in path.iter().enumerate() {
                assert!((e.time_derivatives(0.5)[0] - s.points[0][i]).abs() < 1e-14);
                assert!((e.time_derivatives(2.5)[0] - s.points[3][i]).abs() < 1e-14);
                assert!((e.time_derivatives(3.5)[0] - s.points[3][i]).abs() < 1e-14);
                assert!(e.time_derivatives(0.5001)[1].abs() < 2e-3);
            }
            // Equal distances between the points: at half of the path lies the middle of the second side.
            let y = path[1].time_derivatives(1.5)[0];
            assert!((y - 0.5).abs() < 1e-12, "{y}");
        }
    }

    #[test]
    fn a_closed_path_comes_back() {
        let s = through(Profile::MinimumJerk, true);
        let path = s.coordinates().expect("a path");
        for (i, e) in path.iter().enumerate() {
            assert!((e.time_derivatives(2.5)[0] - s.points[0][i]).abs() < 1e-14);
        }
    }

    #[test]
    fn paths_that_lead_nowhere_say_why() {
        let mut s = through(Profile::Cycloid, false);
        s.points.truncate(1);
        assert!(s.coordinates().is_err_and(|e| e.contains("fewer than 2")));
        s.points = vec![[1.0; 3], [1.0; 3], [2.0; 3]];
        assert!(s.coordinates().is_err_and(|e| e.contains("coincide")));
        s.duration = 0.0;
        assert!(s.coordinates().is_err_and(|e| e.contains("duration")));
    }
}
