//! Builds inputs and states.

use super::Builder;
use crate::auxiliary::{Auxiliary, Input, lasting};
use crate::diagnostic::{Diagnostic, nearest, number};
use crate::model::*;
use crate::spec::*;
use crate::time::{Integral, TimeFunction};

/// Longest unit, in bytes.
const LONGEST_UNIT: usize = 40;

impl Builder<'_> {
    pub(super) fn inputs(&mut self, model: &mut Model) {
        let spec = self.spec;
        for (name, i) in &spec.inputs {
            let path = format!("inputs.{name}");
            let [low, high] = i.range;
            self.finite(&format!("{path}.default"), &[i.default]);
            if low.is_nan() || high.is_nan() || low > high {
                self.error(
                    Diagnostic::new("M600", format!("the range of input `{name}` goes from {} to {}", number(low), number(high)))
                        .at(format!("{path}.range"))
                        .name(name)
                        .help("give the smaller value first: `range: [-2, 2]`"),
                );
            } else if i.default < low || i.default > high {
                let message = format!("input `{name}` starts at {}, which is not in its range", number(i.default));
                let help = format!("give a `default` from {} to {}", number(low), number(high));
                self.error(Diagnostic::new("M600", message).at(format!("{path}.default")).name(name).help(help));
            }
            let unit = self.unit(&path, &i.unit);
            model.inputs.push(Input { name: name.clone(), unit, default: i.default, range: i.range });
        }
    }

    pub(super) fn states(&mut self, model: &mut Model) {
        let spec = self.spec;
        for (name, s) in &spec.states {
            let path = format!("states.{name}");
            self.finite(&format!("{path}.start"), &[s.start]);
            let unit = self.unit(&path, &s.unit);
            if let Some(v) = s.rate.variables.iter().find(|v| matches!(v, StateVariable::Length | StateVariable::Rate)) {
                let message = format!("the rate of state `{name}` reads `{v}`, which only springs have");
                let help = "name a joint or a point: `pin.angle`, `pin.speed`, `tip.x`";
                self.error(Diagnostic::new("M601", message).at(format!("{path}.rate")).name(name).help(help));
                continue;
            }
            if let Some(rate) = self.law(model, &format!("{path}.rate"), &s.rate) {
                model.states.push(Auxiliary { name: name.clone(), unit, rate, start: s.start });
            }
        }
    }

    fn unit(&mut self, path: &str, unit: &str) -> &'static str {
        let plain = |c: char| c.is_ascii_graphic() || matches!(c, 'µ' | '°' | 'Ω' | ' ');
        if unit.is_empty() || unit.len() > LONGEST_UNIT || !unit.chars().all(plain) {
            self.error(
                Diagnostic::new("M603", "this cannot be the unit of a column")
                    .at(format!("{path}.unit"))
                    .help("write it as in `N*m` or `1`"),
            );
            return "1";
        }
        lasting(unit)
    }

    /// The index of an input or a state.
    pub(super) fn find_auxiliary(&mut self, path: &str, name: &str) -> Option<usize> {
        if let Some(&k) = self.auxiliaries.get(name) {
            return Some(k);
        }
        let help = nearest(name, self.auxiliaries.keys().copied())
            .map_or("inputs and states are declared under `inputs:` and `states:`".to_string(), |n| format!("did you mean `{n}`?"));
        self.error(Diagnostic::new("M601", format!("there is no input or state `{name}`")).at(path).name(name).help(help));
        None
    }

    /// The value of a drive as a function of time; `None` if it reads a variable that is not allowed.
    pub(super) fn drive_value(&mut self, path: &str, d: &DriveSpec) -> Option<TimeFunction> {
        let twice = d.quantity == DriveQuantity::Acceleration;
        if d.inputs.is_empty() && !twice {
            return Some(match d.quantity {
                DriveQuantity::Speed => TimeFunction::Integral(Integral::new(d.value.clone())),
                _ => TimeFunction::Value(d.value.clone()),
            });
        }
        if !twice && d.quantity != DriveQuantity::Speed {
            let word = if d.quantity == DriveQuantity::Angle { "angle" } else { "distance" };
            self.error(
                Diagnostic::new("M602", format!("`{word}` of a drive may not read the input `{}`", d.inputs[0]))
                    .at(path)
                    .name(&d.inputs[0])
                    .help("a changed input would move it instantly: drive by `acceleration:`, or by `speed:` with inputs that stay"),
            );
            return None;
        }
        let mut places = Vec::new();
        for name in &d.inputs {
            let k = self.find_auxiliary(path, name)?;
            if k >= self.spec.inputs.len() {
                self.error(
                    Diagnostic::new("M602", format!("a drive may not read the state `{name}`"))
                        .at(path)
                        .name(name)
                        .help("drives read the time and inputs; let an actuator with a controller follow a state"),
                );
                return None;
            }
            places.push(k);
        }
        let values = places.iter().map(|k| self.spec.inputs[*k].1.default).collect();
        Some(TimeFunction::Integral(Integral::of_inputs(d.value.clone(), twice, places, values)))
    }
}
