//! From the author's statement to a checked model. Everything that is wrong is collected and said in one go.

use crate::codes::Page;
use crate::coordinate::{Angle, Coordinate};
use crate::diagnostic::{Diagnostic, nearest};
use crate::force::{Force, Law, StateLaw, Variable};
use crate::joint::{self, Frame, JointKind};
use crate::model::*;
use crate::rolling::{Rolling, RollingKind};
use crate::spec::*;
use crate::time::{Integral, TimeFunction};
use fourbar_math::so3;
use nalgebra::{Matrix3, Vector3};
use std::collections::HashMap;

/// Words that cannot be names of elements.
pub const RESERVED: [&str; 4] = ["t", "ground", "energy", "error"];

/// Numbers beyond this are mistakes: squares of them no longer fit.
const LARGEST: f64 = 1e100;

impl ModelSpec {
    /// Checks the mechanism and resolves its names.
    pub fn build(&self) -> Result<Model, Vec<Diagnostic>> {
        let mut b = Builder { spec: self, errors: Vec::new(), bodies: HashMap::new(), joints: HashMap::new(), points: HashMap::new() };
        let model = b.model();
        if b.errors.is_empty() { Ok(model) } else { Err(b.errors) }
    }
}

struct Builder<'a> {
    spec: &'a ModelSpec,
    errors: Vec<Diagnostic>,
    bodies: HashMap<&'a str, BodyId>,
    joints: HashMap<&'a str, usize>,
    points: HashMap<&'a str, usize>,
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
            points: Vec::new(),
            hold: Vec::new(),
            trace: spec.trace.clone(),
            study: spec.study.clone(),
            angles: Vec::new(),
            length: 1.0,
        };
        if spec.bodies.is_empty() {
            self.error(Diagnostic::new("M118", "the mechanism has no bodies").at("bodies").help("add at least one body under `bodies:`"));
        }
        for (name, body) in &spec.bodies {
            let body = self.body(name, body);
            model.bodies.push(body);
        }
        self.pairs(&mut model);
        model.length = characteristic_length(&model);
        self.couplings(&mut model);
        self.bare(&mut model);
        self.drives(&mut model);
        for (name, place) in &spec.points {
            if let Some(p) = self.place(&model, &format!("points.{name}"), place) {
                model.points.push((name.clone(), p));
            }
        }
        self.forces(&mut model);
        self.holds(&mut model);
        self.study(&model);
        model
    }

    fn names(&mut self) {
        let spec = self.spec;
        let mut seen: HashMap<&str, &str> = HashMap::new();
        let lists: [(&str, Vec<&String>); 6] = [
            ("bodies", spec.bodies.iter().map(|x| &x.0).collect()),
            ("joints", spec.joints.iter().map(|x| &x.0).collect()),
            ("constraints", spec.constraints.iter().map(|x| &x.0).collect()),
            ("drives", spec.drives.iter().map(|x| &x.0).collect()),
            ("forces", spec.forces.iter().map(|x| &x.0).collect()),
            ("points", spec.points.iter().map(|x| &x.0).collect()),
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
                            .help("names start with a letter or `_` and go on with letters, digits, `_` and `-`"),
                    );
                } else if RESERVED.contains(&name.as_str()) {
                    self.error(
                        Diagnostic::new("M101", format!("`{name}` is a reserved word"))
                            .at(&path)
                            .help(format!("choose another name; taken are {}", RESERVED.map(|r| format!("`{r}`")).join(", "))),
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
    }

    /// Reports numbers that are not finite or absurdly large.
    fn finite(&mut self, path: &str, x: &[f64]) -> bool {
        let bad = x.iter().find(|x| !x.is_finite() || x.abs() > LARGEST);
        if let Some(bad) = bad {
            let what = if bad.is_finite() { "too large to compute with" } else { "not a finite number" };
            self.error(Diagnostic::new("M104", format!("{bad} is {what}")).at(path).help("check the number or the expression"));
        }
        bad.is_none()
    }

    fn body(&mut self, name: &str, s: &BodySpec) -> Body {
        let at = |key: &str| format!("bodies.{name}.{key}");
        if self.finite(&at("mass"), &[s.mass]) && s.mass <= 0.0 {
            self.error(
                Diagnostic::new("M102", format!("body `{name}` has mass {} kg; a mass is positive", s.mass))
                    .at(at("mass"))
                    .name(name)
                    .help("give a positive mass; for a light part a small one"),
            );
        }
        for (key, x) in [("at", &s.at), ("com", &s.com), ("velocity", &s.velocity), ("omega", &s.omega)] {
            self.finite(&at(key), x);
        }
        let J_bar = self.inertia(name, &s.inertia);
        let A = self.orientation(&at("orientation"), &s.orientation);
        let com = v3(&s.com);
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
        // Rounding of the eigenvalues and of the author's printed digits.
        let slack = 1e-6 * e[2].abs();
        if e[0] < -1e-12 * e[2].abs() || e[2] < 0.0 {
            self.error(
                Diagnostic::new("M103", format!("body `{name}` has a negative principal inertia ({:.4e} kg m^2)", e[0]))
                    .at(path)
                    .name(name)
                    .help("principal values are positive, or zero for a point mass and about the axis of a thin rod"),
            );
        } else if e[2] > e[0] + e[1] + slack {
            self.error(
                Diagnostic::new(
                    "M103",
                    format!("body `{name}` cannot have principal inertias {:.4e}, {:.4e}, {:.4e}: no body has one larger than the sum of the other two", e[0], e[1], e[2]),
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
                // Three steps take six given digits to rounding.
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

    fn two_bodies(&mut self, path: &str, name: &str, bodies: &[String; 2]) -> Option<[BodyId; 2]> {
        let path = format!("{path}.bodies");
        let (a, b) = (self.find_body(&path, &bodies[0]), self.find_body(&path, &bodies[1]));
        let (a, b) = (a?, b?);
        if a == b {
            self.error(
                Diagnostic::new("M107", format!("joint `{name}` joins `{}` with itself", bodies[0]))
                    .at(path)
                    .name(name)
                    .help("a joint needs two different bodies, `bodies: [base, moving]`"),
            );
            return None;
        }
        Some([a, b])
    }

    fn pairs(&mut self, model: &mut Model) {
        let spec = self.spec;
        for (name, joint) in &spec.joints {
            let path = format!("joints.{name}");
            let made = match joint {
                JointSpec::Pair { kind, bodies, placement } => self.pair(model, &path, name, kind, bodies, placement),
                JointSpec::Distance { from, to, length } => self.distance(model, &path, name, from, to, *length),
                JointSpec::Angle { bodies, axes, angle } => self.constant_angle(model, &path, name, bodies, axes, *angle),
                JointSpec::Gear { .. } | JointSpec::Rack { .. } => None,
            };
            if let Some((kind, bodies, F, M)) = made {
                let memory = kind.has_angle().then_some(model.angles.len());
                if let Some(memory) = memory {
                    model.angles.push(CountedAngle { bodies, angle: Angle { ij: [0, 1], F: F.R, M: M.R, memory } });
                }
                self.joints.insert(name, model.joints.len());
                model.joints.push(Joint { name: name.clone(), kind, bodies, F, M, memory });
            }
        }
    }

    #[allow(clippy::type_complexity)]
    fn pair(
        &mut self,
        model: &Model,
        path: &str,
        name: &str,
        kind: &PairKind,
        bodies: &[String; 2],
        placement: &Placement,
    ) -> Option<(JointKind, [BodyId; 2], Frame, Frame)> {
        let ids = self.two_bodies(path, name, bodies)?;
        let kind = match *kind {
            PairKind::Revolute => JointKind::Revolute(joint::Revolute),
            PairKind::Prismatic => JointKind::Prismatic(joint::Prismatic),
            PairKind::Cylindrical => JointKind::Cylindrical(joint::Cylindrical),
            PairKind::Spherical => JointKind::Spherical(joint::Spherical),
            PairKind::Universal => JointKind::Universal(joint::Universal),
            PairKind::Planar => JointKind::Planar(joint::Planar),
            PairKind::Screw { lead } => {
                self.finite(&format!("{path}.lead"), &[lead]);
                JointKind::Screw(joint::Screw { lead })
            }
            PairKind::Fixed => JointKind::Fixed(joint::Fixed),
            PairKind::PointOnLine => JointKind::PointOnLine(joint::PointOnLine),
            PairKind::PointOnPlane => JointKind::PointOnPlane(joint::PointOnPlane),
        };
        let universal = matches!(kind, JointKind::Universal(_));
        let [bi, bj] = ids.map(|b| &model.bodies[b.index()]);
        let (F, M) = match placement {
            Placement::World { at, axis, axis_moving } => {
                let key = if axis_moving.is_some() { "axes" } else { "axis" };
                let axis_path = format!("{path}.{key}");
                if !self.finite(&format!("{path}.at"), at) {
                    return None;
                }
                let z = self.direction(&axis_path, axis)?;
                let z_m = match axis_moving {
                    Some(a) => self.direction(&axis_path, a)?,
                    None => z,
                };
                let on = |b: &Body, R: &Matrix3<f64>| Frame { s: b.A.transpose() * (v3(at) - b.r), R: b.A.transpose() * R };
                if universal {
                    self.crossed(&axis_path, name, &z, &z_m)?;
                    (on(bi, &so3::frame_from_z(&z)), on(bj, &so3::frame_from_z(&z_m)))
                } else {
                    let R = so3::frame_from_z(&z);
                    (on(bi, &R), on(bj, &R))
                }
            }
            Placement::Frames { base, moving } => {
                let frames = format!("{path}.frames");
                let paths = [format!("{frames}.{}", bodies[0]), format!("{frames}.{}", bodies[1])];
                if !(self.finite(&paths[0], &base.at) && self.finite(&paths[1], &moving.at)) {
                    return None;
                }
                let z_f = self.direction(&format!("{}.axis", paths[0]), &base.axis)?;
                let z_m = self.direction(&format!("{}.axis", paths[1]), &moving.axis)?;
                let mut R_f = so3::frame_from_z(&z_f);
                if let Some(x) = &base.x {
                    R_f = self.frame_with_x(&paths[0], &z_f, x)?;
                }
                let R_m = match &moving.x {
                    Some(x) => self.frame_with_x(&paths[1], &z_m, x)?,
                    // Zero as drawn: turn the drawn x of F by the shortest way onto the moving axis.
                    None => {
                        let x = bj.A.transpose() * bi.A * R_f.column(0);
                        let x = x - z_m * z_m.dot(&x);
                        if x.norm() > 1e-3 && !universal {
                            let x = x.normalize();
                            Matrix3::from_columns(&[x, z_m.cross(&x), z_m])
                        } else {
                            so3::frame_from_z(&z_m)
                        }
                    }
                };
                (Frame { s: v3(&base.at) - bi.com, R: R_f }, Frame { s: v3(&moving.at) - bj.com, R: R_m })
            }
        };
        Some((kind, ids, F, M))
    }

    fn crossed(&mut self, path: &str, name: &str, a: &Vector3<f64>, b: &Vector3<f64>) -> Option<()> {
        if a.cross(b).norm() < 1e-6 {
            self.error(
                Diagnostic::new("M115", format!("the two axes of universal joint `{name}` are parallel"))
                    .at(path)
                    .name(name)
                    .help("the arms of a cross are perpendicular: the first is fixed in the base, the second in the moving body"),
            );
            return None;
        }
        Some(())
    }

    fn frame_with_x(&mut self, path: &str, z: &Vector3<f64>, x: &V3) -> Option<Matrix3<f64>> {
        let x = self.direction(&format!("{path}.x"), x)?;
        let x = x - z * z.dot(&x);
        if x.norm() < 1e-6 {
            self.error(
                Diagnostic::new("M112", "the `x` direction is parallel to the axis")
                    .at(format!("{path}.x"))
                    .help("give a direction across the axis"),
            );
            return None;
        }
        let x = x.normalize();
        Some(Matrix3::from_columns(&[x, z.cross(&x), *z]))
    }

    #[allow(clippy::type_complexity)]
    fn distance(
        &mut self,
        model: &Model,
        path: &str,
        name: &str,
        from: &Place,
        to: &Place,
        length: Option<f64>,
    ) -> Option<(JointKind, [BodyId; 2], Frame, Frame)> {
        let a = self.place(model, &format!("{path}.from"), from);
        let b = self.place(model, &format!("{path}.to"), to);
        let (a, b) = (a?, b?);
        if a.body == b.body {
            self.error(
                Diagnostic::new("M107", format!("joint `{name}` joins `{}` with itself", from.body))
                    .at(path)
                    .name(name)
                    .help("the two points must be on different bodies"),
            );
            return None;
        }
        let world = |p: &PointOn| model.bodies[p.body.index()].r + model.bodies[p.body.index()].A * p.s;
        let drawn = (world(&b) - world(&a)).norm();
        let length = length.unwrap_or(drawn);
        if !self.finite(&format!("{path}.length"), &[length]) {
            return None;
        }
        if length < 0.0 {
            self.error(
                Diagnostic::new("M116", format!("the length of `{name}` is negative"))
                    .at(format!("{path}.length"))
                    .name(name)
                    .help("give a positive length, or leave it out to keep it as drawn"),
            );
            return None;
        }
        let F = Frame { s: a.s, R: Matrix3::identity() };
        let M = Frame { s: b.s, R: Matrix3::identity() };
        // A rod of length zero is a ball: its single row would have no gradient.
        let kind = if length < 1e-12 { JointKind::Spherical(joint::Spherical) } else { JointKind::Distance(joint::Distance { length }) };
        Some((kind, [a.body, b.body], F, M))
    }

    #[allow(clippy::type_complexity)]
    fn constant_angle(
        &mut self,
        model: &Model,
        path: &str,
        name: &str,
        bodies: &[String; 2],
        axes: &[At; 2],
        angle: Option<f64>,
    ) -> Option<(JointKind, [BodyId; 2], Frame, Frame)> {
        let ids = self.two_bodies(path, name, bodies)?;
        let key = format!("{path}.axes");
        let a = self.direction_on(model, &key, ids[0], &axes[0])?;
        let mut b = self.direction_on(model, &key, ids[1], &axes[1])?;
        let drawn = (model.bodies[ids[0].index()].A * a).angle(&(model.bodies[ids[1].index()].A * b));
        let mut angle = angle.unwrap_or(drawn);
        if !self.finite(&format!("{path}.angle"), &[angle]) {
            return None;
        }
        if !(0.0..=std::f64::consts::PI + 1e-12).contains(&angle) {
            self.error(
                Diagnostic::new("M116", format!("the angle of `{name}` is {angle:.4} rad"))
                    .at(format!("{path}.angle"))
                    .name(name)
                    .help("an angle between two directions lies between 0 and pi"),
            );
            return None;
        }
        // Near 0 and pi one row loses its gradient: parallel directions are two rows instead.
        if angle > std::f64::consts::PI - 1e-6 {
            b = -b;
            angle = 0.0;
        } else if angle < 1e-6 {
            angle = 0.0;
        }
        let frame = |a: &Vector3<f64>| Frame { s: Vector3::zeros(), R: so3::frame_from_z(a) };
        Some((JointKind::Angle(joint::ConstantAngle { angle }), ids, frame(&a), frame(&b)))
    }

    fn couplings(&mut self, model: &mut Model) {
        let spec = self.spec;
        for (name, joint) in &spec.joints {
            let path = format!("joints.{name}");
            let (kind, names, ratio, carrier) = match joint {
                JointSpec::Gear { joints, ratio, carrier } => ("gear", joints, *ratio, carrier.as_ref()),
                JointSpec::Rack { joints, radius } => ("rack", joints, *radius, None),
                _ => continue,
            };
            let key = if kind == "gear" { "ratio" } else { "radius" };
            if !self.finite(&format!("{path}.{key}"), &[ratio]) {
                continue;
            }
            if ratio == 0.0 {
                self.error(
                    Diagnostic::new("M116", format!("the {key} of `{name}` is zero"))
                        .at(format!("{path}.{key}"))
                        .name(name)
                        .help("a coupling of ratio zero moves nothing"),
                );
                continue;
            }
            let joints_path = format!("{path}.joints");
            let (a, b) = (self.find_joint(&joints_path, &names[0]), self.find_joint(&joints_path, &names[1]));
            let (Some(a), Some(b)) = (a, b) else { continue };
            if a == b {
                self.error(
                    Diagnostic::new("M107", format!("`{name}` couples joint `{}` with itself", names[0]))
                        .at(joints_path)
                        .name(name)
                        .help("give two different joints"),
                );
                continue;
            }
            let carrier = match carrier {
                Some(c) => match self.find_body(&format!("{path}.carrier"), c) {
                    Some(id) => Some(id),
                    None => continue,
                },
                None => None,
            };
            let want = |k: usize| {
                if kind == "rack" && k == 1 {
                    Some(JointCoordinate::Distance)
                } else if kind == "rack" {
                    Some(JointCoordinate::Angle)
                } else {
                    None
                }
            };
            let sides =
                [(a, want(0), 0), (b, want(1), 2)].map(|(j, want, slot)| self.side(model, &joints_path, name, j, want, carrier, slot));
            if let [Some(first), Some(second)] = sides {
                model.couplings.push(Coupling { name: name.clone(), kind, joints: [a, b], ratio, sides: [first, second] });
            }
        }
    }

    /// The coordinate of a joint as one side of a coupling, measured against the carrier where there is one.
    fn side(
        &mut self,
        model: &mut Model,
        path: &str,
        name: &str,
        j: usize,
        want: Option<JointCoordinate>,
        carrier: Option<BodyId>,
        slot: usize,
    ) -> Option<(JointCoordinate, [BodyId; 2], Coordinate)> {
        let joint = &model.joints[j];
        let which = want.unwrap_or(if joint.kind.has_angle() { JointCoordinate::Angle } else { JointCoordinate::Distance });
        let has = match which {
            JointCoordinate::Angle => joint.kind.has_angle(),
            JointCoordinate::Distance => joint.kind.has_distance(),
        };
        if !has {
            let word = if which == JointCoordinate::Angle { "angle" } else { "distance" };
            self.error(
                Diagnostic::new(
                    "M111",
                    format!("`{name}` cannot couple joint `{}`: a {} joint has no {word}", joint.name, joint.kind.name()),
                )
                .at(path)
                .names([name.to_string(), joint.name.clone()])
                .help("gears couple revolute, prismatic, cylindrical or screw joints; a rack couples a revolute with a prismatic one"),
            );
            return None;
        }
        let ij = [slot, slot + 1];
        let (mut bodies, mut F) = (joint.bodies, joint.F);
        let mut memory = joint.memory;
        if let Some(c) = carrier.filter(|&c| c != joint.bodies[0]) {
            if c == joint.bodies[1] {
                self.error(
                    Diagnostic::new("M111", format!("the carrier of `{name}` is the moving body of joint `{}`", joint.name))
                        .at(path)
                        .name(name)
                        .help("the carrier holds the axes of both wheels and is neither of them"),
                );
                return None;
            }
            // The frame of the base, carried over to the carrier as drawn.
            let (base, body) = (&model.bodies[bodies[0].index()], &model.bodies[c.index()]);
            F = Frame { s: body.A.transpose() * (base.r + base.A * F.s - body.r), R: body.A.transpose() * base.A * F.R };
            bodies = [c, bodies[1]];
            if which == JointCoordinate::Angle {
                memory = Some(model.angles.len());
                model.angles.push(CountedAngle { bodies, angle: Angle { ij: [0, 1], F: F.R, M: joint.M.R, memory: model.angles.len() } });
            }
        }
        let joint = &model.joints[j];
        let y = match which {
            JointCoordinate::Angle => Coordinate::Angle(Angle { ij, F: F.R, M: joint.M.R, memory: memory.unwrap_or(usize::MAX) }),
            JointCoordinate::Distance => Coordinate::Dp2 { ij, a_i: F.axis(2), s_i: F.s, s_j: joint.M.s },
        };
        Some((which, bodies, y))
    }

    fn bare(&mut self, model: &mut Model) {
        let spec = self.spec;
        for (name, c) in &spec.constraints {
            let path = format!("constraints.{name}");
            let points = |b: &mut Self, from: &Place, to: &Place| {
                let a = b.place(model, &format!("{path}.from"), from);
                let c = b.place(model, &format!("{path}.to"), to);
                a.zip(c)
            };
            let L = model.length;
            let made = match c {
                ConstraintSpec::Dp1 { axes, value } => {
                    let key = format!("{path}.axes");
                    let ids = [self.find_body(&key, &axes[0].body), self.find_body(&key, &axes[1].body)];
                    let [Some(i), Some(j)] = ids else { continue };
                    let a = self.direction_on(model, &key, i, &axes[0].at);
                    let b = self.direction_on(model, &key, j, &axes[1].at);
                    let (Some(a_i), Some(a_j)) = (a, b) else { continue };
                    ("dp1", [i, j], L, Coordinate::Dp1 { ij: [0, 1], a_i, a_j }, value)
                }
                ConstraintSpec::Dp2 { axis, from, to, value } => {
                    let Some((p, q)) = points(self, from, to) else { continue };
                    let Some(a_i) = self.direction_on(model, &format!("{path}.axis"), p.body, axis) else { continue };
                    ("dp2", [p.body, q.body], 1.0, Coordinate::Dp2 { ij: [0, 1], a_i, s_i: p.s, s_j: q.s }, value)
                }
                ConstraintSpec::D { from, to, value } => {
                    let Some((p, q)) = points(self, from, to) else { continue };
                    let start = value.time_derivatives(0.0)[0];
                    if !(self.finite(&format!("{path}.value"), &[start]) && start > 0.0) {
                        self.error(Diagnostic::new("M116", format!("the squared distance of `{name}` starts at {start}")).at(format!("{path}.value")).name(name).help("`value` of a `d` constraint is the squared distance and must be positive; points that coincide are a spherical joint"));
                        continue;
                    }
                    ("d", [p.body, q.body], 0.5 / start.sqrt(), Coordinate::D { ij: [0, 1], s_i: p.s, s_j: q.s }, value)
                }
                ConstraintSpec::KnifeEdge { .. } | ConstraintSpec::RollingSphere { .. } | ConstraintSpec::RollingDisk { .. } => {
                    if let Some(r) = self.rolling(model, &path, name, c) {
                        model.rolling.push(r);
                    }
                    continue;
                }
                ConstraintSpec::Cd { axis, from, to, value } => {
                    let Some((p, q)) = points(self, from, to) else { continue };
                    let Some(c) = self.direction(&format!("{path}.axis"), axis) else { continue };
                    ("cd", [p.body, q.body], 1.0, Coordinate::Cd { ij: [0, 1], c, s_i: p.s, s_j: q.s }, value)
                }
            };
            let (kind, bodies, scale, coordinate, value) = made;
            if bodies[0] == bodies[1] {
                self.error(
                    Diagnostic::new("M107", format!("constraint `{name}` joins `{}` with itself", model.body_name(bodies[0])))
                        .at(path)
                        .name(name)
                        .help("a constraint needs two different bodies"),
                );
                continue;
            }
            model.bare.push(Bare { name: name.clone(), kind, bodies, scale, coordinate, value: TimeFunction::Value(value.clone()) });
        }
    }

    fn rolling(&mut self, model: &Model, path: &str, name: &str, c: &ConstraintSpec) -> Option<RollingElement> {
        let up = PlaneSpec { at: [0.0; 3], normal: [0.0, 0.0, 1.0] };
        let (kind, on, plane, radius) = match c {
            ConstraintSpec::KnifeEdge { on, .. } => ("knife-edge", on, &up, 1.0),
            ConstraintSpec::RollingSphere { on, radius, plane } => ("rolling-sphere", on, plane, *radius),
            ConstraintSpec::RollingDisk { on, radius, plane, contact, .. } => {
                (if *contact { "rolling-disk" } else { "wheel" }, on, plane, *radius)
            }
            _ => return None,
        };
        let place = self.place(model, &format!("{path}.on"), on)?;
        if place.body == BodyId::GROUND {
            self.error(
                Diagnostic::new("M107", format!("`{name}` lets the ground roll on itself"))
                    .at(format!("{path}.on"))
                    .name(name)
                    .help("name the body that rolls"),
            );
            return None;
        }
        if !self.finite(&format!("{path}.radius"), &[radius]) {
            return None;
        }
        if radius <= 0.0 {
            self.error(
                Diagnostic::new("M116", format!("the radius of `{name}` is {radius}"))
                    .at(format!("{path}.radius"))
                    .name(name)
                    .help("give a positive radius"),
            );
            return None;
        }
        self.finite(&format!("{path}.at"), &plane.at);
        let n = self.direction(&format!("{path}.normal"), &plane.normal)?;
        let R = so3::frame_from_z(&n);
        let level = n.dot(&v3(&plane.at));
        let (kind_data, contact) = match c {
            ConstraintSpec::KnifeEdge { across, .. } => {
                let across = self.direction_on(model, &format!("{path}.across"), place.body, across)?;
                (RollingKind::KnifeEdge { across }, None)
            }
            ConstraintSpec::RollingDisk { axis, contact, .. } => {
                let axis = self.direction_on(model, &format!("{path}.axis"), place.body, axis)?;
                if (model.bodies[place.body.index()].A * axis).cross(&n).norm() < 1e-6 {
                    self.error(
                        Diagnostic::new("M115", format!("the disk `{name}` lies flat on its plane"))
                            .at(format!("{path}.axis"))
                            .name(name)
                            .help("the axis of a rolling disk is not the normal of the plane"),
                    );
                    return None;
                }
                let y = Coordinate::Touch { ij: [0, 1], n, s_j: place.s, e_j: axis, radius };
                (RollingKind::Disk { axis, radius }, contact.then_some((y, level)))
            }
            _ => {
                let y = Coordinate::Cd { ij: [0, 1], c: n, s_i: Vector3::zeros(), s_j: place.s };
                (RollingKind::Sphere { radius }, Some((y, level + radius)))
            }
        };
        let rolling = Rolling { slot: 1, s: place.s, n, t: [R.column(0).into(), R.column(1).into()], kind: kind_data };
        Some(RollingElement { name: name.to_string(), kind, body: place.body, rolling, contact })
    }

    fn drives(&mut self, model: &mut Model) {
        let spec = self.spec;
        for (name, d) in &spec.drives {
            let path = format!("drives.{name}");
            let Some(joint) = self.find_joint(&format!("{path}.joint"), &d.joint) else { continue };
            let j = &model.joints[joint];
            let coordinate = match d.quantity {
                DriveQuantity::Angle => JointCoordinate::Angle,
                DriveQuantity::Distance => JointCoordinate::Distance,
                DriveQuantity::Speed if j.kind.has_angle() => JointCoordinate::Angle,
                DriveQuantity::Speed => JointCoordinate::Distance,
            };
            if j.coordinate(coordinate).is_none() {
                let (angle, distance) = (j.kind.has_angle(), j.kind.has_distance());
                let help = match (angle, distance) {
                    (false, false) => {
                        format!("a {} joint has no coordinate to drive; use a bare constraint under `constraints:`", j.kind.name())
                    }
                    (true, false) => "use `angle:` or `speed:`".to_string(),
                    _ => "use `distance:` or `speed:`".to_string(),
                };
                let word = if d.quantity == DriveQuantity::Angle { "angle" } else { "distance" };
                self.error(
                    Diagnostic::new(
                        "M109",
                        format!("drive `{name}` prescribes the {word} of `{}`, a {} joint, which has none", j.name, j.kind.name()),
                    )
                    .at(&path)
                    .name(name)
                    .help(help),
                );
                continue;
            }
            if let Some(other) = model.drives.iter().find(|o| o.joint == joint && o.coordinate == coordinate) {
                self.error(
                    Diagnostic::new(
                        "M110",
                        format!("drives `{}` and `{name}` prescribe the same coordinate of joint `{}`", other.name, j.name),
                    )
                    .at(&path)
                    .names([other.name.clone(), name.clone(), j.name.clone()])
                    .help("remove one of them"),
                );
                continue;
            }
            let derivatives = d.value.time_derivatives(0.0);
            if derivatives.iter().any(|x| !x.is_finite()) {
                self.error(
                    Diagnostic::new("M104", format!("drive `{name}` is not smooth at t = 0: value and derivatives {derivatives:?}"))
                        .at(&path)
                        .name(name)
                        .help("give a function with two finite derivatives"),
                );
                continue;
            }
            let value = if d.quantity == DriveQuantity::Speed {
                TimeFunction::Integral(Integral::new(d.value.clone()))
            } else {
                TimeFunction::Value(d.value.clone())
            };
            model.drives.push(Drive { name: name.clone(), joint, coordinate, value });
        }
    }

    fn law(&mut self, model: &Model, path: &str, e: &StateExpr) -> Option<StateLaw> {
        let mut variables = Vec::new();
        for v in &e.variables {
            let coordinate = |b: &mut Self, name: &str, which: Option<JointCoordinate>| {
                let k = b.find_joint(path, name)?;
                let joint = &model.joints[k];
                let good = match which {
                    Some(w) => joint.coordinate(w).is_some(),
                    None => joint.coordinates().next().is_some(),
                };
                if !good {
                    b.error(
                        Diagnostic::new("M109", format!("joint `{name}` is {} and has no such coordinate", joint.kind.name()))
                            .at(path)
                            .name(name)
                            .help("revolute joints have `.angle`, prismatic ones `.distance`, both have `.speed`"),
                    );
                }
                good.then_some(k)
            };
            let point = |b: &mut Self, name: &str| {
                let found = b.points.get(name).copied();
                if found.is_none() {
                    let help = nearest(name, b.points.keys().copied())
                        .map_or("points are declared under `points:`".to_string(), |n| format!("did you mean `{n}`?"));
                    b.error(Diagnostic::new("M113", format!("there is no point `{name}`")).at(path).name(name).help(help));
                }
                found
            };
            variables.push(match v {
                StateVariable::Time => Variable::Time,
                StateVariable::Length => Variable::Length,
                StateVariable::Rate => Variable::Rate,
                StateVariable::JointAngle(n) => Variable::JointAngle(coordinate(self, n, Some(JointCoordinate::Angle))?),
                StateVariable::JointDistance(n) => Variable::JointDistance(coordinate(self, n, Some(JointCoordinate::Distance))?),
                StateVariable::JointSpeed(n) => Variable::JointSpeed(coordinate(self, n, None)?),
                StateVariable::PointPosition(n, k) => Variable::PointPosition(point(self, n)?, *k),
                StateVariable::PointVelocity(n, k) => Variable::PointVelocity(point(self, n)?, *k),
            });
        }
        Some(StateLaw { expr: e.expr.clone(), variables })
    }

    fn spring_law(&mut self, model: &Model, path: &str, law: &SpringLaw) -> Option<Law> {
        match law {
            SpringLaw::Linear { stiffness, rest, damping } => {
                if !self.finite(path, &[*stiffness, *rest, *damping]) {
                    return None;
                }
                for (key, x) in [("stiffness", *stiffness), ("damping", *damping)] {
                    if x < 0.0 {
                        self.error(
                            Diagnostic::new("M116", format!("{key} {x} is negative"))
                                .at(format!("{path}.{key}"))
                                .help("a negative value feeds energy in; write it as an expression if it is meant"),
                        );
                        return None;
                    }
                }
                Some(Law::Linear { stiffness: *stiffness, rest: *rest, damping: *damping })
            }
            SpringLaw::Expression(e) => self.law(model, path, e).map(Law::Expression),
        }
    }

    fn laws(&mut self, model: &Model, path: &str, e: &[StateExpr; 3]) -> Option<[StateLaw; 3]> {
        let [a, b, c] = [0, 1, 2].map(|k| self.law(model, path, &e[k]));
        Some([a?, b?, c?])
    }

    fn forces(&mut self, model: &mut Model) {
        let spec = self.spec;
        for (name, f) in &spec.forces {
            let path = format!("forces.{name}");
            if let Some(force) = self.force(model, &path, f) {
                model.forces.push((name.clone(), force));
            }
        }
    }

    fn force(&mut self, model: &Model, path: &str, f: &ForceSpec) -> Option<Force> {
        let between = |b: &mut Self, places: &[Place; 2]| {
            let key = format!("{path}.between");
            let [p, q] = [0, 1].map(|k| b.place(model, &key, &places[k]));
            let (p, q) = (p?, q?);
            if p.body == q.body {
                b.error(
                    Diagnostic::new("M107", format!("the two ends sit on the same body `{}`", places[0].body))
                        .at(key)
                        .help("connect two different bodies"),
                );
                return None;
            }
            Some([p, q])
        };
        match f {
            ForceSpec::Spring { between: places, law } => {
                let between = between(self, places);
                let law = self.spring_law(model, path, law);
                Some(Force::Spring { between: between?, law: law? })
            }
            ForceSpec::Torsion { joint, law } => {
                let key = format!("{path}.joint");
                let joint = self.find_joint(&key, joint)?;
                if !model.joints[joint].kind.has_angle() {
                    self.error(
                        Diagnostic::new(
                            "M109",
                            format!("joint `{}` is {} and has no angle", model.joints[joint].name, model.joints[joint].kind.name()),
                        )
                        .at(key)
                        .help("a torsion spring acts on the angle of a revolute, cylindrical, screw or planar joint"),
                    );
                    return None;
                }
                Some(Force::Torsion { joint, law: self.spring_law(model, path, law)? })
            }
            ForceSpec::Force { on, force, frame } => {
                let on = self.place(model, &format!("{path}.on"), on);
                let force = self.laws(model, &format!("{path}.force"), force);
                Some(Force::Point { on: on?, force: force?, frame: *frame })
            }
            ForceSpec::Torque { body, torque, frame } => {
                let body = self.find_body(&format!("{path}.body"), body);
                let torque = self.laws(model, &format!("{path}.torque"), torque);
                Some(Force::Torque { body: body?, torque: torque?, frame: *frame })
            }
            ForceSpec::Actuator { joint, effort } => {
                let key = format!("{path}.joint");
                let joint = self.find_joint(&key, joint)?;
                if model.joints[joint].coordinates().next().is_none() {
                    self.error(
                        Diagnostic::new(
                            "M109",
                            format!(
                                "joint `{}` is {} and has no coordinate to act on",
                                model.joints[joint].name,
                                model.joints[joint].kind.name()
                            ),
                        )
                        .at(key)
                        .help("an actuator acts on an angle or a distance"),
                    );
                    return None;
                }
                Some(Force::Actuator { joint, effort: self.law(model, &format!("{path}.effort"), effort)? })
            }
            ForceSpec::Bushing { between: places, frame, stiffness, damping } => {
                let ends = between(self, places)?;
                let R_i = self.orientation(&format!("{path}.frame"), frame);
                let good = self.finite(&format!("{path}.stiffness"), stiffness) & self.finite(&format!("{path}.damping"), damping);
                let [bi, bj] = ends.map(|p| &model.bodies[p.body.index()]);
                let R_j = bj.A.transpose() * bi.A * R_i;
                good.then_some(Force::Bushing { between: ends, R_i, R_j, stiffness: *stiffness, damping: *damping })
            }
            ForceSpec::Friction { joint, coulomb, viscous, radius, speed } => {
                let key = format!("{path}.joint");
                let joint = self.find_joint(&key, joint)?;
                if !self.finite(path, &[*coulomb, *viscous, *radius, *speed]) {
                    return None;
                }
                if model.joints[joint].coordinates().next().is_none() {
                    self.error(
                        Diagnostic::new(
                            "M109",
                            format!(
                                "joint `{}` is {} and has no coordinate for friction",
                                model.joints[joint].name,
                                model.joints[joint].kind.name()
                            ),
                        )
                        .at(key)
                        .help("friction acts on joints with an angle or a distance"),
                    );
                    return None;
                }
                for (word, x, positive) in
                    [("coulomb", *coulomb, false), ("viscous", *viscous, false), ("radius", *radius, false), ("speed", *speed, true)]
                {
                    if x < 0.0 || (positive && x == 0.0) {
                        self.error(
                            Diagnostic::new("M116", format!("{word} of a friction element is {x}"))
                                .at(format!("{path}.{word}"))
                                .help("friction coefficients are not negative, and the speed of regularisation is positive"),
                        );
                        return None;
                    }
                }
                Some(Force::Friction { joint, coulomb: *coulomb, viscous: *viscous, radius: *radius, speed: *speed })
            }
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
                    Diagnostic::new("M114", format!("`{key}` is {x}; it must be positive"))
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

/// Root mean square distance of joint points from the centres of mass they move; one metre where there is none.
fn characteristic_length(model: &Model) -> f64 {
    let points = model.joints.iter().flat_map(|j| [(j.bodies[0], j.F.s), (j.bodies[1], j.M.s)]);
    let (mut sum, mut count) = (0.0, 0);
    for (_, s) in points.filter(|(b, s)| *b != BodyId::GROUND && s.norm() > 1e-9) {
        sum += s.norm_squared();
        count += 1;
    }
    if count > 0 { (sum / count as f64).sqrt() } else { 1.0 }
}

macro_rules! page {
    ($code:literal, $title:literal, $text:literal) => {
        Page { code: $code, title: $title, text: $text }
    };
}

/// Pages of the codes that checking a mechanism can give.
pub(crate) const PAGES: &[Page] = &[
    page!(
        "M100",
        "A name is used twice",
        "Bodies, joints, constraints, drives, forces and points share one namespace, because results have columns such as `crank.r.x` and `pin.angle`. Rename one of the two elements."
    ),
    page!(
        "M101",
        "Not a name",
        "Names start with a letter or `_` and go on with letters, digits, `_` and `-`. The words `t`, `ground`, `energy` and `error` are taken: they are columns of the results, and `ground` is the world."
    ),
    page!(
        "M102",
        "A mass that is not positive",
        "Every body has a positive mass in kilograms. Check the sign and the unit (`120 g` is 0.12). For a part whose mass does not matter give a small one, such as a thousandth of its neighbours'."
    ),
    page!(
        "M103",
        "An impossible inertia",
        "Principal inertias of a real body are not negative, and none is larger than the sum of the other two (the triangle inequality). Common causes: inertia about the joint instead of the centre of mass, products of inertia with the wrong sign (the file wants the entries of the tensor), grams or millimetres. A thin rod along x has [0, J, J]; a point mass has `inertia: 0`."
    ),
    page!(
        "M104",
        "Not a finite number",
        "A number or the value of an expression is infinite, undefined or too large to compute with. Look for a division by zero, a root of a negative number, or a unit that is off by many orders."
    ),
    page!("M105", "An axis of length zero", "A direction needs a length; which one does not matter. Write for instance `axis: [0, 0, 1]`."),
    page!(
        "M106",
        "Unknown body",
        "The name is not declared under `bodies:`. The world is called `ground`. The message proposes the nearest known name."
    ),
    page!(
        "M107",
        "An element that joins a body with itself",
        "Joints, springs and couplings act between two different bodies (or joints). Usually one of the two names is a slip."
    ),
    page!(
        "M108",
        "Unknown joint",
        "Drives, gears, racks and joint forces name a joint that sits between two bodies. Gears and racks themselves are not joints in that sense."
    ),
    page!(
        "M109",
        "A joint without that coordinate",
        "Angles belong to revolute, cylindrical, screw and planar joints; distances to prismatic, cylindrical, screw and point-on-line joints. Spherical and universal joints have no single coordinate: drive them with bare constraints."
    ),
    page!(
        "M110",
        "Two drives on one coordinate",
        "A joint coordinate can be prescribed once. Remove one of the drives, or drive another joint."
    ),
    page!(
        "M111",
        "A coupling between joints that cannot be coupled",
        "A gear couples two coordinates (angle with angle, or an angle with a distance); a rack couples the angle of its first joint with the distance of its second. The carrier of a gear holds both axes and is none of the wheels."
    ),
    page!(
        "M112",
        "Not an orientation",
        "An orientation is one of: axis and angle, quaternion [w, x, y, z], rotation matrix with perpendicular unit rows, two world directions `x` and `y`, or `zxz` Euler angles."
    ),
    page!(
        "M113",
        "Unknown point, or nothing of that name to hold or trace",
        "`hold` takes names of joints and bodies, `trace` names of points and bodies; points are declared under `points:`."
    ),
    page!("M114", "A study that cannot run", "Times and tolerances of `study:` are positive; the analysis is `kinematics` or `dynamics`."),
    page!(
        "M115",
        "The arms of a cross are parallel",
        "A universal joint has two axes, `axes: [in base, in moving]`, perpendicular to each other."
    ),
    page!(
        "M116",
        "A number out of its range",
        "A length, angle, stiffness, damping or ratio lies outside what the element can have. The message says which."
    ),
    page!("M118", "No bodies", "A mechanism needs at least one body besides the ground."),
];
