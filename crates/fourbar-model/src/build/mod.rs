//! Builds a checked model from the author's specification. All errors are collected and reported together.

mod auxiliary;
mod coil;
mod constraint;
mod contact;
mod curve;
mod event;
mod force;
mod joint;
mod output;
mod start;
mod task;

pub(crate) use force::Resolve;
pub use output::{table_name_taken, table_problem};

use crate::diagnostic::{Diagnostic, nearest, number};
use crate::error::Error;
use crate::model::*;
use crate::spec::*;
use fourbar_math::so3;
use nalgebra::{Matrix3, Vector3};
use std::collections::HashMap;

/// Words that cannot be names of elements.
pub const RESERVED: [&str; 4] = ["t", "ground", "energy", "error"];

/// Words reserved in expressions, so that inputs and states cannot have them as names.
const KNOWN_WORDS: [&str; 5] = ["length", "rate", "angle", "pi", "e"];

/// Larger numbers are errors: their squares would overflow.
const LARGEST: f64 = 1e100;

impl ModelSpec {
    /// Checks the mechanism and resolves its names.
    pub fn build(&self) -> Result<Model, Error> {
        let mut b = Builder {
            spec: self,
            errors: Vec::new(),
            bodies: HashMap::new(),
            joints: HashMap::new(),
            points: HashMap::new(),
            auxiliaries: HashMap::new(),
        };
        let model = b.model();
        Error::of(b.errors).map_or(Ok(model), Err)
    }
}

struct Builder<'a> {
    spec: &'a ModelSpec,
    errors: Vec<Diagnostic>,
    bodies: HashMap<&'a str, BodyId>,
    joints: HashMap<&'a str, usize>,
    points: HashMap<&'a str, usize>,
    /// Indices of inputs and states in the auxiliary values.
    auxiliaries: HashMap<&'a str, usize>,
}

fn v3(a: &V3) -> Vector3<f64> {
    Vector3::new(a[0], a[1], a[2])
}

impl<'a> Builder<'a> {
    fn error(&mut self, d: Diagnostic) {
        self.errors.push(d);
    }

    fn model(&mut self) -> Model {
        self.names();
        let spec = self.spec;
        let gravity = spec.gravity.unwrap_or_default();
        self.finite("gravity", &gravity);
        let mut model = Model {
            title: spec.title.clone(),
            gravity: v3(&gravity),
            gravity_given: spec.gravity.is_some(),
            bodies: vec![ground()],
            joints: Vec::new(),
            couplings: Vec::new(),
            bare: Vec::new(),
            rolling: Vec::new(),
            drives: Vec::new(),
            forces: Vec::new(),
            contacts: Vec::new(),
            coils: Vec::new(),
            points: Vec::new(),
            inputs: Vec::new(),
            states: Vec::new(),
            hold: Vec::new(),
            start: Vec::new(),
            settle: self.spec.settle,
            trace: spec.trace.clone(),
            plots: spec.plots.clone(),
            follow: spec.follow.clone(),
            study: spec.study.clone(),
            angles: Vec::new(),
            curves: Vec::new(),
            length: 1.0,
            outputs: Vec::new(),
            events: Vec::new(),
            limits: Vec::new(),
            basis: Vec::new(),
        };
        if spec.bodies.is_empty() {
            self.error(Diagnostic::new("M118", "the mechanism has no bodies").at("bodies").help("add at least one body under `bodies:`"));
        }
        for (name, body) in &spec.bodies {
            let body = self.body(name, body);
            model.bodies.push(body);
        }
        self.curves(&mut model);
        self.pairs(&mut model);
        model.length = characteristic_length(&model);
        self.couplings(&mut model);
        self.bare(&mut model);
        self.inputs(&mut model);
        self.drives(&mut model);
        for (name, place) in &spec.points {
            if let Some(p) = self.place(&model, &format!("points.{name}"), place) {
                model.points.push((name.clone(), p));
            }
        }
        for (name, list) in &spec.basis {
            let path = format!("bodies.{name}");
            for b in list {
                let place = Place { body: name.clone(), at: At::Body(b.at) };
                let Some(p) = self.place(&model, &path, &place) else { continue };
                let s = if b.vector { v3(&b.at).try_normalize(0.0).unwrap_or_else(Vector3::x) } else { p.s };
                model.basis.push(Basic { name: b.name.clone(), vector: b.vector, body: p.body, s });
            }
        }
        self.forces(&mut model);
        self.states(&mut model);
        self.coils(&mut model);
        self.contacts(&mut model);
        self.tables();
        self.outputs(&mut model);
        self.limits(&mut model);
        self.events(&mut model);
        self.holds(&mut model);
        self.starts(&mut model);
        self.study(&model);
        self.tasks(&model);
        model
    }

    fn names(&mut self) {
        let spec = self.spec;
        let mut seen: HashMap<&str, &str> = HashMap::new();
        let lists: [(&str, Vec<&String>); 15] = [
            ("bodies", spec.bodies.iter().map(|x| &x.0).collect()),
            ("joints", spec.joints.iter().map(|x| &x.0).collect()),
            ("constraints", spec.constraints.iter().map(|x| &x.0).collect()),
            ("drives", spec.drives.iter().map(|x| &x.0).collect()),
            ("forces", spec.forces.iter().map(|x| &x.0).collect()),
            ("contacts", spec.contacts.iter().map(|x| &x.0).collect()),
            ("points", spec.points.iter().map(|x| &x.0).collect()),
            ("tables", spec.tables.iter().map(|x| &x.0).collect()),
            ("outputs", spec.outputs.iter().map(|x| &x.0).collect()),
            ("inputs", spec.inputs.iter().map(|x| &x.0).collect()),
            ("states", spec.states.iter().map(|x| &x.0).collect()),
            ("curves", spec.curves.iter().map(|x| &x.0).collect()),
            ("paths", spec.paths.iter().map(|x| &x.0).collect()),
            ("motors", spec.motors.iter().map(|x| &x.0).collect()),
            ("events", spec.events.iter().map(|x| &x.0).collect()),
        ];
        for (section, names) in lists {
            for name in names {
                let path = format!("{section}.{name}");
                let first = name.chars().next().unwrap_or('0');
                let good = (first.is_ascii_alphabetic() || first == '_')
                    && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '-');
                if !good {
                    self.error(
                        Diagnostic::new("M101", format!("`{name}` cannot be a name"))
                            .at(&path)
                            .help("names start with a letter or `_` and continue with letters, digits, `_` and `-`"),
                    );
                } else if matches!(section, "inputs" | "states") && KNOWN_WORDS.contains(&name.as_str()) {
                    let d = Diagnostic::new("M101", format!("`{name}` already has a meaning in expressions"));
                    self.error(d.at(&path).name(name).help("choose another name for the input or state"));
                } else if RESERVED.contains(&name.as_str()) {
                    self.error(
                        Diagnostic::new("M101", format!("`{name}` is a reserved word"))
                            .at(&path)
                            .help(format!("choose another name; these are reserved: {}", RESERVED.map(|r| format!("`{r}`")).join(", "))),
                    );
                }
                if let Some(other) = seen.insert(name, section) {
                    let message = if other == section {
                        format!("two elements under `{section}` are named `{name}`")
                    } else {
                        format!("the name `{name}` is used under `{other}` and again under `{section}`")
                    };
                    self.error(
                        Diagnostic::new("M100", message).at(path).name(name).help("names are shared by all sections: rename one of them"),
                    );
                }
            }
        }
        self.bodies.insert("ground", BodyId::GROUND);
        for (k, (name, _)) in spec.bodies.iter().enumerate() {
            self.bodies.entry(name).or_insert(BodyId(k as u32 + 1));
        }
        for (k, (name, _)) in spec.points.iter().enumerate() {
            self.points.entry(name).or_insert(k);
        }
        for (k, (name, _)) in spec.inputs.iter().enumerate() {
            self.auxiliaries.entry(name).or_insert(k);
        }
        for (k, (name, _)) in spec.states.iter().enumerate() {
            self.auxiliaries.entry(name).or_insert(2 * spec.inputs.len() + k);
        }
    }

    /// Reports numbers that are not finite or absurdly large.
    fn finite(&mut self, path: &str, x: &[f64]) -> bool {
        let bad = x.iter().find(|x| !x.is_finite() || x.abs() > LARGEST);
        if let Some(bad) = bad {
            let what = if bad.is_finite() { "too large to compute with" } else { "not a finite number" };
            self.error(Diagnostic::new("M104", format!("{} is {what}", number(*bad))).at(path).help("check the number or the expression"));
        }
        bad.is_none()
    }

    fn body(&mut self, name: &str, s: &BodySpec) -> Body {
        let at = |key: &str| format!("bodies.{name}.{key}");
        if self.finite(&at("mass"), &[s.mass]) && s.mass <= 0.0 {
            self.error(
                Diagnostic::new("M102", format!("body `{name}` has mass {} kg; a mass must be positive", s.mass))
                    .at(at("mass"))
                    .name(name)
                    .help("give a positive mass, a small one for a light part"),
            );
        }
        for (key, x) in [("at", &s.at), ("com", &s.com), ("velocity", &s.velocity), ("omega", &s.omega)] {
            self.finite(&at(key), x);
        }
        let J_bar = self.inertia(name, &s.inertia);
        let A = self.orientation(&at("orientation"), &s.orientation);
        let com = v3(&s.com);
        for shape in &s.shapes {
            if let Shape::Mesh { at: place, orientation, .. } = shape {
                self.finite(&at("shape"), place);
                self.orientation(&at("shape"), orientation);
            }
        }
        Body {
            name: name.to_string(),
            mass: s.mass,
            J_bar,
            com,
            r: v3(&s.at) + A * com,
            A,
            v: v3(&s.velocity),
            omega: v3(&s.omega),
            shapes: s.shapes.clone(),
        }
    }

    fn inertia(&mut self, name: &str, inertia: &Inertia) -> Matrix3<f64> {
        let path = format!("bodies.{name}.inertia");
        let J = match inertia {
            Inertia::Principal(p) => Matrix3::from_diagonal(&v3(p)),
            Inertia::Tensor([xx, yy, zz, xy, xz, yz]) => Matrix3::new(*xx, *xy, *xz, *xy, *yy, *yz, *xz, *yz, *zz),
            Inertia::Point => Matrix3::zeros(),
        };
        if !self.finite(&path, J.as_slice()) {
            return Matrix3::identity();
        }
        let mut e: Vec<f64> = J.symmetric_eigenvalues().iter().copied().collect();
        e.sort_by(f64::total_cmp);
        // Allows for rounding of the eigenvalues and of the digits in the file.
        let slack = 1e-6 * e[2].abs();
        if e[0] < -1e-12 * e[2].abs() || e[2] < 0.0 {
            self.error(
                Diagnostic::new("M103", format!("body `{name}` has a negative principal inertia ({} kg m^2)", number(e[0])))
                    .at(path)
                    .name(name)
                    .help("principal values must be positive, or zero for a point mass and about the axis of a thin rod"),
            );
        } else if e[2] > e[0] + e[1] + slack {
            self.error(
                Diagnostic::new(
                    "M103",
                    format!(
                        "body `{name}` cannot have principal inertias {}, {}, {}: no body has one larger than the sum of the other two",
                        number(e[0]),
                        number(e[1]),
                        number(e[2])
                    ),
                )
                .at(path)
                .name(name)
                .help("check the values: a thin rod along x has [0, J, J], a flat plate has the normal one equal to the sum"),
            );
        }
        J
    }

    fn orientation(&mut self, path: &str, o: &Orientation) -> Matrix3<f64> {
        let bad = |b: &mut Self, message: &str, help: &str| {
            b.error(Diagnostic::new("M112", message).at(path).help(help));
            Matrix3::identity()
        };
        match o {
            Orientation::World => Matrix3::identity(),
            Orientation::AxisAngle { axis, angle } => {
                if !self.finite(path, &[axis[0], axis[1], axis[2], *angle]) {
                    return Matrix3::identity();
                }
                match self.direction(&format!("{path}.axis"), axis) {
                    Some(e) => so3::exp(&(e * *angle)),
                    None => Matrix3::identity(),
                }
            }
            Orientation::Quaternion(p) => {
                if !self.finite(path, p) {
                    return Matrix3::identity();
                }
                if p.iter().map(|x| x * x).sum::<f64>() < 1e-20 {
                    return bad(self, "the quaternion is zero", "give [w, x, y, z], not all zero; it is normalised");
                }
                so3::from_quaternion(p)
            }
            Orientation::Matrix(rows) => {
                let A = Matrix3::from_fn(|i, j| rows[i][j]);
                if !self.finite(path, A.as_slice()) {
                    return Matrix3::identity();
                }
                if (A.transpose() * A - Matrix3::identity()).amax() > 1e-6 || A.determinant() < 0.0 {
                    return bad(
                        self,
                        "the matrix is not a rotation",
                        "its rows must be perpendicular unit vectors of a right-handed frame",
                    );
                }
                // Three steps improve six given digits to rounding accuracy.
                (0..3).fold(A, |A, _| so3::orthonormalise(&A))
            }
            Orientation::Axes { x, y } => {
                if !(self.finite(path, x) && self.finite(path, y)) {
                    return Matrix3::identity();
                }
                let z = v3(x).cross(&v3(y));
                if z.norm() < 1e-9 * v3(x).norm() * v3(y).norm() || z.norm() == 0.0 {
                    return bad(self, "the x and y directions are zero or parallel", "give two different directions");
                }
                let (x, z) = (v3(x).normalize(), z.normalize());
                Matrix3::from_columns(&[x, z.cross(&x), z])
            }
            Orientation::Zxz(eps) => {
                self.finite(path, eps);
                so3::from_zxz(eps)
            }
        }
    }

    fn direction(&mut self, path: &str, a: &V3) -> Option<Vector3<f64>> {
        if !self.finite(path, a) {
            return None;
        }
        let v = v3(a);
        if v.norm() < 1e-12 {
            self.error(
                Diagnostic::new("M105", "an axis of length zero has no direction")
                    .at(path)
                    .help("give a direction such as [0, 0, 1]; its length does not matter"),
            );
            return None;
        }
        Some(v.normalize())
    }

    fn find_body(&mut self, path: &str, name: &str) -> Option<BodyId> {
        if let Some(&id) = self.bodies.get(name) {
            return Some(id);
        }
        let near = nearest(name, self.bodies.keys().copied());
        let help =
            near.map_or("bodies are declared under `bodies:`; the world is `ground`".to_string(), |n| format!("did you mean `{n}`?"));
        self.error(Diagnostic::new("M106", format!("there is no body `{name}`")).at(path).name(name).help(help));
        None
    }

    fn find_joint(&mut self, path: &str, name: &str) -> Option<usize> {
        if let Some(&k) = self.joints.get(name) {
            return Some(k);
        }
        // For a joint that is declared but could not be built, the error was reported earlier.
        if !self.errors.is_empty() && self.spec.joints.iter().any(|(declared, _)| declared == name) {
            return None;
        }
        let near = nearest(name, self.joints.keys().copied());
        let help = near.map_or("joints between two bodies are declared under `joints:`".to_string(), |n| format!("did you mean `{n}`?"));
        self.error(Diagnostic::new("M108", format!("there is no joint `{name}`")).at(path).name(name).help(help));
        None
    }

    fn place(&mut self, model: &Model, path: &str, p: &Place) -> Option<PointOn> {
        let id = self.find_body(path, &p.body)?;
        let body = &model.bodies[id.index()];
        let s = match p.at {
            At::Body(s) => self.finite(path, &s).then(|| v3(&s) - body.com),
            At::World(x) => self.finite(path, &x).then(|| body.A.transpose() * (v3(&x) - body.r)),
        }?;
        Some(PointOn { body: id, s })
    }

    fn direction_on(&mut self, model: &Model, path: &str, body: BodyId, a: &At) -> Option<Vector3<f64>> {
        match a {
            At::Body(a) => self.direction(path, a),
            At::World(a) => self.direction(path, a).map(|a| model.bodies[body.index()].A.transpose() * a),
        }
    }

    fn holds(&mut self, model: &mut Model) {
        let spec = self.spec;
        for name in &spec.hold {
            if let Some(&k) = self.joints.get(name.as_str()) {
                model.hold.push(Hold::Joint(k));
            } else if let Some(&id) = self.bodies.get(name.as_str()) {
                if id != BodyId::GROUND {
                    model.hold.push(Hold::Body(id));
                }
            } else {
                let known = self.joints.keys().chain(self.bodies.keys()).copied();
                let help = nearest(name, known).map_or("name joints or bodies".to_string(), |n| format!("did you mean `{n}`?"));
                self.error(
                    Diagnostic::new("M113", format!("`hold` names `{name}`, which is neither a joint nor a body"))
                        .at("hold")
                        .name(name)
                        .help(help),
                );
            }
        }
        if let Some(name) = spec.follow.as_deref().filter(|name| !self.bodies.contains_key(name)) {
            let help = nearest(name, self.bodies.keys().copied()).map_or("name a body".to_string(), |n| format!("did you mean `{n}`?"));
            self.error(
                Diagnostic::new("M113", format!("`follow` names `{name}`, which is not a body")).at("view.follow").name(name).help(help),
            );
        }
        for name in &spec.trace {
            if !self.points.contains_key(name.as_str()) && !self.bodies.contains_key(name.as_str()) {
                let known = self.points.keys().chain(self.bodies.keys()).copied();
                let help = nearest(name, known).map_or("name points or bodies".to_string(), |n| format!("did you mean `{n}`?"));
                self.error(
                    Diagnostic::new("M113", format!("`trace` names `{name}`, which is neither a point nor a body"))
                        .at("view.trace")
                        .name(name)
                        .help(help),
                );
            }
        }
    }

    fn study(&mut self, _model: &Model) {
        let s = &self.spec.study;
        let positive = [("t_end", Some(s.t_end)), ("output_step", s.output_step), ("step", s.step), ("tol", s.tol)];
        for (key, x) in positive {
            if let Some(x) = x.filter(|x| !(x.is_finite() && *x > 0.0)) {
                self.error(
                    Diagnostic::new("M114", format!("`{key}` is {}; it must be positive", number(x)))
                        .at(format!("study.{key}"))
                        .help("times are in seconds"),
                );
            }
        }
        if let Some(a) = s.analysis.as_deref().filter(|a| !["kinematics", "dynamics"].contains(a)) {
            let help = nearest(a, ["kinematics", "dynamics"])
                .map_or("choose `kinematics` or `dynamics`".to_string(), |n| format!("did you mean `{n}`?"));
            self.error(Diagnostic::new("M114", format!("there is no analysis `{a}`")).at("study.analysis").help(help));
        }
        if let Some(d) = s.tableau.as_ref().and_then(|t| t.check().err()) {
            self.error(d);
        }
    }
}

fn ground() -> Body {
    Body {
        name: "ground".into(),
        mass: 0.0,
        J_bar: Matrix3::zeros(),
        com: Vector3::zeros(),
        r: Vector3::zeros(),
        A: Matrix3::identity(),
        v: Vector3::zeros(),
        omega: Vector3::zeros(),
        shapes: Vec::new(),
    }
}

/// Root mean square distance of joint points from the centres of mass of their bodies; one metre if there are none.
fn characteristic_length(model: &Model) -> f64 {
    let points = model.joints.iter().flat_map(|j| [(j.bodies[0], j.F.s), (j.bodies[1], j.M.s)]);
    let (mut sum, mut count) = (0.0, 0);
    for (_, s) in points.filter(|(b, s)| *b != BodyId::GROUND && s.norm() > 1e-9) {
        sum += s.norm_squared();
        count += 1;
    }
    if count > 0 { (sum / count as f64).sqrt() } else { 1.0 }
}
