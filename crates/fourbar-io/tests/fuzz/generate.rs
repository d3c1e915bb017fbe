//! Files generated from the grammar: mechanisms from the key tables of the reader, MechSpec files, and expressions.

use crate::random::Random;
use fourbar_io::{Expect, Table, keys};

const BODIES: &[&str] = &["ground", "a", "b", "c", "d"];
const JOINTS: &[&str] = &["j1", "j2", "j3", "j4"];
const POINTS: &[&str] = &["p1", "p2"];

/// Keys that exclude each other.
const EXCLUDES: &[(&str, &[&str])] = &[
    ("frames", &["at", "axis", "axes"]),
    ("tension", &["stiffness", "length", "damping"]),
    ("torque", &["stiffness", "angle", "damping", "on", "place"]),
    ("solid", &["mass", "inertia", "com"]),
    ("on", &["body", "place"]),
    ("place", &["body"]),
    ("bodies", &["from"]),
    ("distance", &["angle", "speed", "acceleration"]),
    ("angle", &["speed", "acceleration"]),
    ("speed", &["acceleration"]),
    ("points", &["file", "x", "y"]),
    ("slopes", &["ends"]),
    ("outside", &["ends"]),
    // Limits and sticking friction have numbers that must be consistent.
    ("limits", &["bodies", "from"]),
    ("static", &["joint"]),
    ("stribeck", &["joint"]),
    ("exponent", &["joint"]),
    ("max", &["min"]),
];

/// A generator of one file; careful ones respect the rules, so that the code behind the reader is reached.
struct Maker {
    careful: bool,
    /// Bodies of the current joint.
    bodies: [&'static str; 2],
}

impl Maker {
    /// A number, mostly a plain one.
    fn number(&self, r: &mut Random) -> String {
        match r.below(if self.careful { 1000 } else { 12 }) {
            0 => "0".into(),
            1 => r.pick(&["1", "-1", "2", "0.5"]).to_string(),
            2 => r.pick(&["L1", "2*L1", "L1^2/12", "pi/4", "-L1"]).to_string(),
            3 => r.pick(&["40 mm", "90 deg", "2 kN/m", "10 ms", "3 kg", "1 m", "5 N"]).to_string(),
            4 => r.pick(&["1e9", "1e-9", "1e200", "-1e-300", "nonsense", "1/(L1 - 0.3)"]).to_string(),
            _ => format!("{:.3}", 2.0 * r.number()),
        }
    }

    fn positive(&self, r: &mut Random) -> String {
        if !self.careful && r.chance(10) { self.number(r) } else { format!("{:.3}", 0.05 + r.number().abs()) }
    }

    fn list(&self, r: &mut Random, n: usize, mut make: impl FnMut(&mut Random) -> String) -> String {
        let n = if !self.careful && r.chance(40) { r.below(7) } else { n };
        let items: Vec<String> = (0..n).map(|_| make(r)).collect();
        format!("[{}]", items.join(", "))
    }

    fn vector(&self, r: &mut Random) -> String {
        self.list(r, 3, |r| self.number(r))
    }

    fn function(&self, r: &mut Random, key: &str) -> String {
        if self.careful {
            let own: &[&str] = match key {
                "tension" => &["5*(length - 0.3) + rate", "length^2"],
                "torque" => &["angle + 0.1*rate", "2*sin(angle)"],
                _ => &["t", "-2*p1.vx", "p2.x*p2.y", "3", "cos(5*t)"],
            };
            return format!("\"{}\"", r.pick(own));
        }
        format!("\"{}\"", expression(r, 2).replace("x", "t").replace("etp", "exp").replace("mat", "max").replace("tip.vt", "p1.vx"))
    }

    fn place(&self, r: &mut Random) -> String {
        let at = self.vector(r);
        match r.below(3) {
            0 => format!("{{body: {}}}", r.pick(BODIES)),
            _ => format!("{{body: {}, {}: {at}}}", r.pick(BODIES), r.pick(&["at", "world"])),
        }
    }

    /// A value for a key, mostly of the right kind.
    fn value(&mut self, r: &mut Random, expect: &Expect, key: &str) -> String {
        if !self.careful && r.chance(60) {
            return r.pick(&["~", "[]", "{}", "[1, [2]]", "{a: 1}", "text", "1"]).to_string();
        }
        match expect {
            Expect::Number(_) => self.positive(r),
            Expect::Vector(_) if key == "size" => self.list(r, 3, |r| self.positive(r)),
            Expect::Vector(_) | Expect::Axis => self.vector(r),
            Expect::Four => self.list(r, 4, |r| self.number(r)),
            Expect::Six(..) => self.list(r, 6, |r| self.positive(r)),
            Expect::Matrix => "[[1, 0, 0], [0, 1, 0], [0, 0, 1]]".into(),
            Expect::PointList => self.list(r, 4, |r| self.vector(r)),
            Expect::CurvePoints if self.careful => "[[0, 0], [1, 0.2], [1.5, 1], [0.2, 1.4]]".into(),
            Expect::CurvePoints => match r.below(3) {
                0 => self.list(r, 4, |r| self.vector(r)),
                1 => self.list(r, 5, |r| self.list(r, 2, |r| self.number(r))),
                _ => "[[0, 0], [0, 0], [1, 2, 3]]".into(),
            },
            Expect::Plane => format!("{{normal: {}, x: {}}}", self.vector(r), self.vector(r)),
            Expect::Flag => r.pick(&["true", "false"]).to_string(),
            Expect::Inertia => match r.below(if self.careful { 2 } else { 4 }) {
                0 => "[0.5, 0.6, 0.7]".into(),
                1 => "[1, 1, 1, 0.1, 0, -0.1]".into(),
                2 => "0".into(),
                _ => self.vector(r),
            },
            Expect::TimeFunction(_) => format!("\"{}\"", *r.pick(&["t", "2*pi*t", "0.1*sin(3*t)", "1", "1 + t^2", "0.5"])),
            Expect::InputFunction(_) => format!("\"{}\"", *r.pick(&["t", "2*pi*t", "0.1*sin(3*t)", "1", "1 + t^2", "0.5"])),
            Expect::Range => "[-2, 2]".into(),
            Expect::StateFunction(_) => self.function(r, key),
            Expect::StateVector(_) => self.list(r, 3, |r| self.function(r, "")),
            Expect::Text => "\"a text: with # signs\"".into(),
            Expect::Version => "1".into(),
            Expect::Choice(words) => r.pick(words).to_string(),
            Expect::Name("body") if key == "follow" => "a".into(),
            Expect::Name("body") => r.pick(BODIES).to_string(),
            Expect::Name("joint") => r.pick(JOINTS).to_string(),
            Expect::Name("curve") => r.pick(&["q1", "q2"]).to_string(),
            Expect::Name(_) => r.pick(&["ra", "auto", "gen-alpha", "a"]).to_string(),
            Expect::TwoNames("body") => {
                let k = r.below(BODIES.len());
                self.bodies = [BODIES[k], BODIES[(k + 1 + r.below(4)) % BODIES.len()]];
                format!("[{}, {}]", self.bodies[0], self.bodies[1])
            }
            Expect::TwoNames(_) => {
                let k = r.below(JOINTS.len());
                format!("[{}, {}]", JOINTS[k], JOINTS[(k + 1) % JOINTS.len()])
            }
            Expect::Names(_) => self.list(r, 2, |r| r.pick(&["a", "b", "j1", "p1"]).to_string()),
            Expect::File if self.careful => "part.stl".into(),
            Expect::File => r.pick(&["part.stl", "../up.stl", "/etc/passwd", "a/b.obj"]).to_string(),
            // The point on a curve is on the moving body.
            Expect::Place if self.careful && key == "at" => self.vector(r),
            Expect::Place => self.place(r),
            Expect::Direction if !self.careful => self.place(r),
            Expect::Direction => self.vector(r),
            Expect::TwoDirections if self.careful => self.list(r, 2, |r| self.vector(r)),
            Expect::TwoPlaces | Expect::TwoDirections => self.list(r, 2, |r| self.place(r)),
            Expect::Places => self.list(r, 2, |r| self.place(r)),
            Expect::TwoAxes => self.list(r, 2, |r| self.vector(r)),
            Expect::Frames => {
                let frame = |r: &mut Random, body: &str| format!("{body}: {{at: {}, axis: {}}}", self.vector(r), self.vector(r));
                format!("{{{}, {}}}", frame(r, self.bodies[0]), frame(r, self.bodies[1]))
            }
            Expect::Orientation => match r.below(5) {
                0 => format!("{{axis: {}, angle: {}}}", self.vector(r), self.number(r)),
                1 => format!("{{quaternion: {}}}", self.list(r, 4, |r| self.number(r))),
                2 => format!("{{x: {}, y: {}}}", self.vector(r), self.vector(r)),
                3 => format!("{{zxz: {}}}", self.vector(r)),
                _ => "{matrix: [[0, -1, 0], [1, 0, 0], [0, 0, 1]]}".into(),
            },
            Expect::Shapes => "[{type: sphere, radius: 1}]".into(),
            Expect::Solid => "{type: box, size: [1, 2, 3], density: 1000}".into(),
            Expect::Options => "{rho: 0.8}".into(),
            Expect::Integrator => r
                .pick(
                    &["dopri5", "{tableau: {a: [[1/2]], b: [0, 1]}}", "{tableau: {a: [], b: []}}", "{tableau: {a: [[1]], b: [1]}}"]
                        [..if self.careful { 2 } else { 4 }],
                )
                .to_string(),
            Expect::NumberList => self.list(r, 3, |r| self.number(r)),
            Expect::NumberRows => "[[1/2], [0, 1]]".into(),
            Expect::Coordinates => {
                let name = *r.pick(if self.careful {
                    &["p1.x", "p1.vy", "p2.z"][..]
                } else {
                    &["p1.x", "j1.angle", "j2.speed", "j3.distance", "q.x"]
                });
                format!("{{{name}: {}}}", self.number(r))
            }
            Expect::Functions => {
                r.pick(&["{}", "{f1: 2*t, f2: f1^2}", "{f1: f2, f2: f1}", "{f1: sin(t)}"][..if self.careful { 2 } else { 4 }]).to_string()
            }
            Expect::Unit => r.pick(&["mm", "deg", "1/s", "N*m", "1"]).to_string(),
            Expect::Column => r.pick(&["1", "2", "lift"]).to_string(),
            Expect::Pairs => {
                let mut x = r.number();
                let points: Vec<String> = (0..5)
                    .map(|_| {
                        x += if self.careful { 0.1 + r.number().abs() } else { r.number() };
                        format!("[{x:.3}, {}]", self.number(r))
                    })
                    .collect();
                format!("[{}]", points.join(", "))
            }
            Expect::TwoNumbers => self.list(r, 2, |r| self.number(r)),
            Expect::Plots => r.pick(&["[p1]", "[j1.angle, [p1.x, p1.y]]", "[{x: p1.x, y: p1.y}]", "[{y: [a.r.x]}]"]).to_string(),
            Expect::Actions => r
                .pick(&["[{stop: true}]", "[{lock: j1}]", "[{remove: j2}, {set: {u1: 1}}]", "stop", "[{set: 1}]", "[{burn: j1}]"])
                .to_string(),
            Expect::Group(table) if table.section == "limits" => r
                .pick(&[
                    "{max: 0.5}",
                    "{min: -1, max: 1, restitution: 0.5}",
                    "{speed_min: 0}",
                    "{min: 0}",
                    "{max: 1, stiffness: 100}",
                    "{}",
                ])
                .to_string(),
            Expect::Points => self.list(r, 2, |r| self.vector(r)),
            Expect::SidePlane => format!("{{normal: {}}}", self.vector(r)),
            Expect::Friction => r.pick(&["0.3", "{coulomb: 0.2, static: 0.4}"]).to_string(),
            Expect::Sides => {
                let others = [
                    "{plane: {normal: [0, 0, 1]}}",
                    "{body: b, box: [1, 1, 1], inside: true}",
                    "{body: b, curve: q1}",
                    "{body: b, polygon: [[0, 0, 0], [1, 0, 0], [0, 1, 0]]}",
                    "{body: b, radius: 0.5}",
                ];
                format!("[{{body: a, radius: {}}}, {}]", self.positive(r), r.pick(&others[..if self.careful { 2 } else { 5 }]))
            }
            Expect::Group(_) | Expect::Section(_) | Expect::Parameters => "{}".into(),
        }
    }

    /// A group of keys of a table: the required ones, some others, and occasionally a wrong one.
    fn group(&mut self, r: &mut Random, table: &Table) -> String {
        let mut entries: Vec<String> = table.kind.map(|k| format!("type: {k}")).into_iter().collect();
        let mut chosen: Vec<&str> = table.keys.iter().filter(|k| k.required).map(|k| k.name).collect();
        let first = r.below(table.keys.len().max(1));
        for k in 0..table.keys.len() {
            let name = table.keys[(first + k) % table.keys.len()].name;
            let clash =
                |a: &str, b: &str| EXCLUDES.iter().any(|(x, list)| (*x == a && list.contains(&b)) || (*x == b && list.contains(&a)));
            if !chosen.contains(&name) && (self.careful || r.chance(2)) && !(self.careful && chosen.iter().any(|c| clash(c, name))) {
                chosen.push(name);
            }
        }
        for key in table.keys.iter().filter(|k| chosen.contains(&k.name)) {
            if self.careful || !r.chance(50) {
                entries.push(format!("{}: {}", key.name, self.value(r, &key.expect, key.name)));
            }
        }
        if !self.careful && r.chance(50) {
            entries.push("wrong: 1".into());
        }
        format!("{{{}}}", entries.join(", "))
    }
}

/// An expression of some depth.
pub fn expression(r: &mut Random, depth: usize) -> String {
    if depth == 0 || r.chance(4) {
        return match r.below(6) {
            0 => "t".into(),
            1 => "x".into(),
            2 => "length".into(),
            3 => r.pick(&["L1", "pi", "e", "tip.vx"]).to_string(),
            _ => r.pick(&["0", "1", "2.5", "1e-3", "3", "1e300", "0.1"]).to_string(),
        };
    }
    let part = |r: &mut Random| expression(r, depth - 1);
    match r.below(9) {
        0 => format!("-{}", part(r)),
        1 => format!("({})", part(r)),
        2 => format!("{}({})", r.pick(&["sin", "cos", "sqrt", "exp", "ln", "abs", "tanh", "floor", "sign"]), part(r)),
        3 => format!("{}({}, {})", r.pick(&["atan2", "min", "max", "pow", "hypot", "mod", "step"]), part(r), part(r)),
        4 => format!("if({} {} {}, {}, {})", part(r), r.pick(&["<", ">=", "==", "!="]), part(r), part(r), part(r)),
        5 => format!("({})^{}", part(r), r.pick(&["2", "-1", "0.5", "t", "65", "(1+t)"])),
        _ => format!("({}) {} ({})", part(r), r.pick(&["+", "-", "*", "/", "**"]), part(r)),
    }
}

/// A whole mechanism file.
pub fn model(r: &mut Random) -> String {
    let tables = keys();
    let mut m = Maker { careful: !r.chance(3), bodies: ["ground", "a"] };
    let mut text = String::from("fourbar: 1\nparameters: {L1: 0.3}\n");
    if r.chance(2) {
        text += &format!("gravity: {}\n", m.vector(r));
    }
    let sections = [
        ("bodies", &BODIES[1..]),
        ("curves", &["q1", "q2"]),
        ("joints", JOINTS),
        ("constraints", &["c1", "c2"][..]),
        ("drives", &["m1"]),
        ("forces", &["f1", "f2"]),
        ("points", POINTS),
        ("tables", &["g1"]),
        ("outputs", &["o1"]),
        ("events", &["e1"]),
    ];
    for (section, names) in sections {
        let known: Vec<&&Table> = tables.iter().filter(|t| t.section == section).collect();
        // Constraints and drives make most mechanisms impossible, so they are rarer than other sections.
        if ["constraints", "drives", "tables"].contains(&section) && !r.chance(4) || section == "events" && (m.careful || !r.chance(2)) {
            continue;
        }
        text += &format!("{section}:\n");
        for name in names {
            let element = match section {
                "points" => m.place(r),
                "bodies" if !r.chance(4) => format!("{{mass: {}, inertia: [0.5, 0.6, 0.7], at: {}}}", m.positive(r), m.vector(r)),
                _ => {
                    let table = known[r.below(known.len())];
                    m.group(r, table)
                }
            };
            text += &format!("  {name}: {element}\n");
        }
    }
    if r.chance(3) {
        let rate = if m.careful { "u1 - s1".into() } else { expression(r, 2) };
        text += &format!(
            "inputs: {{u1: {{unit: N, default: 0.5, range: [-2, 2]}}}}\nstates: {{s1: {{rate: '{rate}', start: {}}}}}\n",
            m.number(r)
        );
    }
    // Contacts have many keys that exclude each other: careful files contain one that is valid.
    if r.chance(4) {
        let table = tables.iter().find(|t| t.section == "contacts");
        let contact = match table.filter(|_| !m.careful) {
            Some(table) => m.group(r, table),
            None => format!("{{between: {}, stiffness: 1e3, friction: 0.2}}", m.value(r, &Expect::Sides, "between")),
        };
        text += &format!("contacts:\n  k1: {contact}\n");
    }
    for key in ["functions", "hold", "start", "study", "view"] {
        if let Some(k) = tables.iter().find(|t| t.section.is_empty()).and_then(|t| t.keys.iter().find(|k| k.name == key))
            && r.chance(4)
        {
            let value = match k.expect {
                Expect::Group(table) => m.group(r, table),
                ref expect => m.value(r, expect, key),
            };
            text += &format!("{key}: {value}\n");
        }
    }
    text
}

/// A MechSpec file with few points and vectors, so that parts share them.
pub fn mechspec(r: &mut Random) -> String {
    let dimension = 2 + r.below(2);
    let m = Maker { careful: !r.chance(3), bodies: ["ground", "a"] };
    let items = ["O", "A", "B", "C", "C1", "D", "E", "u", "v", "w"];
    let mut text = format!("PhysicalParams: {{L: 1, m: 0.5}}\nDimension: {dimension}\nPartData:\n");
    let small = |r: &mut Random| if !m.careful && r.chance(6) { m.number(r).replace("L1", "L") } else { format!("{:.2}", r.number()) };
    let padded = |r: &mut Random| m.list(r, dimension, small);
    text += &format!("  Fixed: {{O: {}, w: {}}}\n  Rigids:\n", padded(r), padded(r));
    let mut used: Vec<&str> = Vec::new();
    for _ in 0..1 + r.below(4) {
        let mut names = vec![*r.pick(&items[..7])];
        for _ in 0..1 + r.below(3) {
            let name = *r.pick(&items);
            if !names.contains(&name) || (!m.careful && r.chance(10)) {
                names.push(name);
            }
        }
        used.extend(&names);
        let geom: Vec<String> = names[1..].iter().map(|_| padded(r)).collect();
        let inertia =
            r.pick(&["0.1", "0", "[1, 1, 1]", "m*L**2/12", "[1, 1, 1, 0, 0, 0]", "[[1, 0, 0], [0, 1, 0], [0, 0, 1]]"]).to_string();
        text += &format!(
            "    {}: {{Geom: [{}], Dyna: [{}, {}, {inertia}]}}\n",
            names.concat(),
            geom.join(", "),
            padded(r),
            m.positive(r).replace("L1", "L")
        );
    }
    if r.chance(2) {
        text += &format!("  Particles: {{{}: {}}}\n", r.pick(&items[..7]), m.positive(r).replace("L1", "L"));
    }
    if r.chance(2) {
        text += &format!("  Springs: {{{}{}: [10, 1, {}]}}\n", r.pick(&items[..7]), r.pick(&items[..7]), r.pick(&["0", "0.5", "-1", "m"]));
    }
    if r.chance(3) {
        text += &format!("  Collinears: {{{}{}{}}}\n", r.pick(&items[..7]), r.pick(&items[7..]), r.pick(&items[..7]));
    }
    let point = *r.pick(&items[..7]);
    text += match r.below(8) {
        0 => "AppliedForces: {Gravity: }\n".to_string(),
        1 => format!("AppliedForces: {{Forces: {{f: {{At: {point}, Force: [1, 't*{point}x']}}}}}}\n"),
        2 => format!("AppliedForces: {{Actuators: {{m: {{Angle: {point}, Value: t}}}}}}\n"),
        3 => format!("AppliedForces: {{Actuators: {{m: {{Length: O{point}, Value: 1 + t}}}}}}\n"),
        4 => format!("AppliedForces: {{Rayleigh: {{Points: {{{point}: 1}}, Lengths: {{AB: 2}}, Angles: {{O: 1}}}}}}\n"),
        _ => String::new(),
    }
    .as_str();
    if r.chance(2) {
        let mut positions = String::new();
        for name in items {
            // Only items of parts can be given positions.
            if (!m.careful && r.chance(2)) || (used.contains(&name) && name != "O" && name != "w") {
                positions += &format!("{name}: {}, ", padded(r));
            }
        }
        let held = *r.pick(if m.careful { &[""][..] } else { &["A", "Ax", "B, Ax", "u", "Cz"] });
        text += &format!(
            "ProblemData:\n  tend: 1\n  positions: {{{positions}}}\n  fixedpositions: {{{held}}}\n  velocities: {{{}}}\n",
            padded(r)
        );
    }
    text
}
