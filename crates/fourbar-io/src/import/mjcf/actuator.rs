//! Actuators: each has an input and a force `gain(length, speed) * u + bias(length, speed)` along joints, fixed tendons or the axes of a
//! site.

use super::super::draft::*;
use super::super::xml::Element;
use super::Mjcf;
use super::defaults::Defaults;
use fourbar::Diagnostic;
use nalgebra::Vector3;

/// The element an actuator acts on.
enum Pull {
    /// Joints and their weights: the length is the weighted sum of coordinates.
    Joints(Vec<(usize, f64)>),
    /// A link, a point of it, and directions of force and torque in its axes.
    Site(usize, Vector3<f64>, Vector3<f64>, Vector3<f64>),
}

/// Force as a function of the input.
struct Law {
    /// Coefficients: constant, per length, per speed.
    gain: [f64; 3],
    bias: [f64; 3],
    dynamics: Dynamics,
}

enum Dynamics {
    None,
    /// The state is the integral of the input.
    Integrator,
    /// The state follows the input with this time constant.
    Filter(f64),
}

impl<'x> Mjcf<'_, '_, 'x> {
    pub(super) fn actuators(&mut self, e: Element<'x>) {
        for (n, a) in e.children().enumerate() {
            a.saw();
            self.actuator(a, n);
        }
    }

    fn actuator(&mut self, e: Element<'x>, n: usize) {
        let r = self.reading;
        let class = self.defaults.class_of(r, e, 0);
        let tags = Defaults::actuator_tags(e.tag());
        let get = |name: &str| self.defaults.attribute(e, class, &tags, name);
        let name = e.word("name").map_or_else(|| format!("{}{}", e.tag(), n + 1), String::from);
        let skip = |why: &str| {
            let d = Diagnostic::new("W450", format!("the actuator `{name}` is not converted: {why}")).name(&name);
            r.note(d.help("add a force and an input by hand"), e.spot());
            e.done();
        };
        if self.off.actuators {
            let d = Diagnostic::new("W457", format!("the actuator `{name}` is switched off and omitted")).name(&name);
            r.note(d, e.spot());
            return e.done();
        }
        let gear = get("gear").and_then(|a| r.numbers(a, 1, 6)).unwrap_or_else(|| vec![1.0]);
        let pull = if let Some(a) = get("joint").or_else(|| get("jointinparent")) {
            let Some(joint) = self.named_joint(a) else { return };
            if self.draft.joints[joint].turns().is_none() {
                return skip("its joint does not have exactly one coordinate");
            }
            Pull::Joints(vec![(joint, gear[0])])
        } else if let Some(a) = get("tendon") {
            let Some(tendon) = self.tendons.get(a.value).cloned() else { return skip("its tendon is not read") };
            if !self.affords(&tendon, e) {
                return;
            }
            Pull::Joints(tendon.terms.iter().map(|(j, c)| (*j, c * gear[0])).collect())
        } else if let Some(a) = get("site") {
            if get("refsite").is_some() {
                return skip("it acts between two sites");
            }
            let Some(site) = self.named_site(a) else { return };
            let mut g = gear.clone();
            g.resize(6, 0.0);
            let [f, t] = [0, 3].map(|k| site.pose.R * Vector3::new(g[k], g[k + 1], g[k + 2]));
            Pull::Site(site.link, site.pose.p, f, t)
        } else {
            return skip("it acts on neither a joint, a fixed tendon nor a site");
        };
        let Some(law) = self.law(e, class, &tags) else { return skip("its force law is not supported") };
        let on = |key: &str, range: &Option<Vec<f64>>| match get(key).map_or("auto", |a| a.value) {
            "true" => true,
            "false" => false,
            _ => self.compiler.autolimits && range.is_some(),
        };
        let pair = |key: &str| get(key).and_then(|a| r.numbers(a, 2, 2));
        let mut control = pair("ctrlrange");
        let forces = pair("forcerange");
        let inherit = r.number(get("inheritrange"), 0.0);
        if let (Pull::Joints(list), true, None) = (&pull, inherit > 0.0, &control)
            && let [(joint, _)] = list.as_slice()
        {
            control = self.draft.joints[*joint].limits.map(|[a, b]| {
                let (middle, half) = (0.5 * (a + b), 0.5 * (b - a) * inherit);
                vec![middle - half, middle + half]
            });
        }
        let limited = on("ctrllimited", &control) && !self.off.ranges;
        let range = control.filter(|_| limited).map(|x| [x[0], x[1]]).filter(|[a, b]| a < b);
        let unit = self.unit(&pull, &law);
        let i = self.draft.inputs.len();
        self.draft.inputs.push(Input { name: name.clone(), unit, default: 0.0, range, spot: e.spot() });
        let signal = match law.dynamics {
            Dynamics::None => format!("i{i}"),
            Dynamics::Integrator | Dynamics::Filter(_) => {
                let s = self.draft.states.len();
                let rate = match law.dynamics {
                    Dynamics::Filter(time) => format!("(i{i}-s{s})/({time:?})"),
                    _ => format!("i{i}"),
                };
                self.draft.states.push(State { name: format!("{name}_activation"), unit: "1", rate, spot: e.spot() });
                format!("s{s}")
            }
        };
        let sum = |letter: char, list: &[(usize, f64)]| {
            let terms: Vec<String> =
                list.iter().map(|(j, c)| if *c == 1.0 { format!("{letter}{j}") } else { format!("({c:?})*{letter}{j}") }).collect();
            if terms.is_empty() { "0".into() } else { format!("({})", terms.join("+")) }
        };
        let [length, speed] = match &pull {
            Pull::Joints(list) => [sum('q', list), sum('v', list)],
            // A single site has neither length nor speed.
            Pull::Site(..) => ["0".to_string(), "0".to_string()],
        };
        let affine = |x: &[f64; 3]| {
            let parts = [(x[0], None), (x[1], Some(&length)), (x[2], Some(&speed))];
            let terms: Vec<String> = parts
                .iter()
                .filter(|(c, what)| *c != 0.0 && what.is_none_or(|w| w != "0"))
                .map(|(c, what)| match what {
                    None => format!("({c:?})"),
                    Some(w) => format!("({c:?})*{w}"),
                })
                .collect();
            terms.join("+")
        };
        let (gain, bias) = (affine(&law.gain), affine(&law.bias));
        let pushed = match gain.as_str() {
            "" => String::new(),
            "(1.0)" => signal,
            g => format!("({g})*{signal}"),
        };
        let mut force = match (pushed.is_empty(), bias.is_empty()) {
            (true, true) => return skip("it exerts no force"),
            (false, true) => pushed,
            (true, false) => bias,
            (false, false) => format!("{pushed}+{bias}"),
        };
        if on("forcelimited", &forces)
            && let Some(x) = forces
        {
            force = format!("min(max({force}, {:?}), {:?})", x[0], x[1]);
        }
        match pull {
            Pull::Joints(list) => {
                for (joint, weight) in list.iter().filter(|(_, w)| *w != 0.0) {
                    let formula = if *weight == 1.0 { force.clone() } else { format!("({weight:?})*({force})") };
                    self.draft.efforts.push(Effort { name: name.clone(), acts: Acts::Joint(*joint, formula), spot: e.spot() });
                }
            }
            Pull::Site(link, at, f, t) => {
                let times = |v: &Vector3<f64>| [0, 1, 2].map(|k| if v[k] == 0.0 { "0".into() } else { format!("({:?})*({force})", v[k]) });
                let acts = Acts::Link(link, at.into(), times(&f), times(&t));
                self.draft.efforts.push(Effort { name: name.clone(), acts, spot: e.spot() });
            }
        }
    }

    fn law(&self, e: Element<'x>, class: usize, tags: &[&str]) -> Option<Law> {
        let r = self.reading;
        let get = |name: &str| self.defaults.attribute(e, class, tags, name);
        let numbers = |name: &str, without: [f64; 3]| {
            let mut x = get(name).and_then(|a| r.numbers(a, 1, 10)).unwrap_or_else(|| without.to_vec());
            x.resize(3, 0.0);
            [x[0], x[1], x[2]]
        };
        let position = |dynamics: Dynamics| {
            let (kp, kv) = (r.number(get("kp"), 1.0), r.number(get("kv"), 0.0));
            if let Some(a) = get("dampratio") {
                let d = Diagnostic::new("W450", "`dampratio` is not converted: it depends on the inertia of the whole mechanism");
                r.note(d.help("give `kv` instead"), a.spot);
            }
            Some(Law { gain: [kp, 0.0, 0.0], bias: [0.0, -kp, -kv], dynamics })
        };
        match e.tag() {
            "motor" => Some(Law { gain: [1.0, 0.0, 0.0], bias: [0.0; 3], dynamics: Dynamics::None }),
            "position" => {
                let time = r.number(get("timeconst"), 0.0);
                position(if time > 0.0 { Dynamics::Filter(time) } else { Dynamics::None })
            }
            "intvelocity" => position(Dynamics::Integrator),
            "velocity" => {
                let kv = r.number(get("kv"), 1.0);
                Some(Law { gain: [kv, 0.0, 0.0], bias: [0.0, 0.0, -kv], dynamics: Dynamics::None })
            }
            "damper" => {
                let kv = r.number(get("kv"), 1.0);
                Some(Law { gain: [0.0, 0.0, -kv], bias: [0.0; 3], dynamics: Dynamics::None })
            }
            "cylinder" => {
                let area = match get("diameter").and_then(|a| r.numbers(a, 1, 1)) {
                    Some(d) => std::f64::consts::FRAC_PI_4 * d[0] * d[0],
                    None => r.number(get("area"), 1.0),
                };
                let time = r.number(get("timeconst"), 1.0);
                Some(Law { gain: [area, 0.0, 0.0], bias: numbers("bias", [0.0; 3]), dynamics: Dynamics::Filter(time) })
            }
            "general" => {
                let mut gain = numbers("gainprm", [1.0, 0.0, 0.0]);
                match get("gaintype").map_or("fixed", |a| a.value) {
                    "fixed" => gain = [gain[0], 0.0, 0.0],
                    "affine" => {}
                    _ => return None,
                }
                let given = numbers("biasprm", [0.0; 3]);
                let bias = match get("biastype").map_or("none", |a| a.value) {
                    "none" => [0.0; 3],
                    "affine" => given,
                    _ => return None,
                };
                let time = numbers("dynprm", [1.0, 0.0, 0.0])[0];
                let dynamics = match get("dyntype").map_or("none", |a| a.value) {
                    "none" => Dynamics::None,
                    "integrator" => Dynamics::Integrator,
                    "filter" | "filterexact" if time > 0.0 => Dynamics::Filter(time),
                    _ => return None,
                };
                Some(Law { gain, bias, dynamics })
            }
            _ => None,
        }
    }

    /// The unit of an input: that of an effort, or of the coordinate or speed that a controller compares it with.
    fn unit(&self, pull: &Pull, law: &Law) -> &'static str {
        let Pull::Joints(list) = pull else { return "1" };
        let [(joint, weight)] = list.as_slice() else { return "1" };
        let turns = self.draft.joints[*joint].turns() == Some(true);
        let kind = if law.gain[0] == -law.bias[1] && law.bias[1] != 0.0 {
            ["m", "rad"]
        } else if law.gain[0] == -law.bias[2] && law.bias[2] != 0.0 {
            ["m/s", "rad/s"]
        } else if law.gain == [1.0, 0.0, 0.0] && *weight == 1.0 && matches!(law.dynamics, Dynamics::None) {
            ["N", "N*m"]
        } else {
            ["1", "1"]
        };
        kind[usize::from(turns)]
    }
}
