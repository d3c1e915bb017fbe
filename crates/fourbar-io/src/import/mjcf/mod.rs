//! MJCF, the format of MuJoCo: a tree of bodies with joints inside them, classes of default values, includes, equalities that close
//! loops, actuators.

mod actuator;
mod body;
mod defaults;
mod equality;
mod geom;
pub(super) mod include;
mod rotation;
mod tendon;

use super::draft::*;
use super::meshes::Meshes;
use super::reading::{Reading, Spot};
use super::xml::Element;
use defaults::Defaults;
use fourbar::Diagnostic;
use nalgebra::{Matrix3, Vector3};
use std::cell::Cell;
use std::collections::{HashMap, HashSet};
use tendon::Tendon;

/// Settings of the compiler.
struct Compiler {
    /// Factor from angles in the file to radians.
    angle: f64,
    /// Axes of Euler angles; small letters are axes of the rotating frame.
    eulerseq: [char; 3],
    /// Whether a range implies a limit.
    autolimits: bool,
    /// Inertia from geoms: never, if there is no `inertial`, or always.
    from_geoms: FromGeoms,
    /// Groups of geoms that have mass.
    groups: [f64; 2],
    /// Smallest mass and inertia.
    bounds: [f64; 2],
    /// Whether impossible inertias are corrected.
    balance: bool,
    /// Total mass, if prescribed.
    total: Option<f64>,
    /// Folder of meshes.
    meshdir: String,
    /// Whether folders in names of meshes are removed.
    strippath: bool,
}

#[derive(Clone, Copy, PartialEq)]
enum FromGeoms {
    Never,
    Missing,
    Always,
}

/// A mesh of the assets.
struct MeshAsset {
    file: String,
    scale: Vector3<f64>,
    spot: Spot,
}

/// A site: its link and its pose there.
#[derive(Clone, Copy)]
struct Site {
    link: usize,
    pose: Pose,
}

/// Parts of the mechanism that are disabled by flags of the file.
#[derive(Clone, Copy, Debug, Default)]
struct Off {
    equalities: bool,
    limits: bool,
    friction: bool,
    springs: bool,
    dampers: bool,
    actuators: bool,
    ranges: bool,
}

/// State while a model is read.
struct Mjcf<'r, 'a, 'x> {
    reading: &'r Reading<'a>,
    meshes: Meshes,
    compiler: Compiler,
    defaults: Defaults<'x>,
    assets: HashMap<String, MeshAsset>,
    draft: Draft,
    bodies: Names<'x>,
    joints: Names<'x>,
    sites: HashMap<&'x str, Site>,
    /// Coordinate of each joint as drawn.
    reference: Vec<f64>,
    /// Whether geoms contribute to the mass of the current body.
    weighs: bool,
    tendons: HashMap<String, Tendon>,
    /// Links inserted between the joints of one body, which are not in the file.
    between: HashSet<usize>,
    /// Parts disabled by flags.
    off: Off,
    /// Number of terms in the forces of tendons so far.
    terms: Cell<usize>,
    /// Number of joints of the tree; those that close loops follow.
    tree: usize,
}

/// Reads the element tree of a file.
pub(super) fn read(reading: &Reading<'_>, root: Element<'_>) -> Draft {
    let compiler = compiler(reading, root);
    let defaults = Defaults::new(reading, root);
    let mut m = Mjcf {
        reading,
        meshes: Meshes::default(),
        compiler,
        defaults,
        assets: HashMap::new(),
        draft: Draft::new(root.word("model").unwrap_or("model")),
        bodies: Names::default(),
        joints: Names::default(),
        sites: HashMap::new(),
        reference: Vec::new(),
        weighs: false,
        tendons: HashMap::new(),
        between: HashSet::new(),
        off: Off::default(),
        terms: Cell::new(0),
        tree: 0,
    };
    m.options(root);
    root.all("asset").for_each(|a| m.assets(a));
    m.bodies.add(reading, "bodies", "world", 0, Spot::START);
    for w in root.all("worldbody") {
        w.ignore(&["name"]);
        let class = m.defaults.class_of(reading, w, 0);
        m.content(w, 0, &Pose::IDENTITY, class);
    }
    m.tree = m.draft.joints.len();
    if reading.good() {
        m.bounds();
        root.all("equality").for_each(|e| m.equalities(e));
        root.all("tendon").for_each(|e| m.read_tendons(e));
        root.all("actuator").for_each(|e| m.actuators(e));
        m.switch_off();
    }
    for tag in ["deformable", "extension"] {
        if let Some(e) = root.child(tag) {
            let help = "remove it from the file";
            reading.unsupported(&format!("`{tag}`"), help, e.spot());
        }
    }
    m.defaults.settle();
    m.meshes.say_missing(reading);
    m.draft
}

fn compiler(reading: &Reading<'_>, root: Element<'_>) -> Compiler {
    let mut c = Compiler {
        angle: 1f64.to_radians(),
        eulerseq: ['x', 'y', 'z'],
        autolimits: true,
        from_geoms: FromGeoms::Missing,
        groups: [0.0, 5.0],
        bounds: [0.0; 2],
        balance: false,
        total: None,
        meshdir: String::new(),
        strippath: false,
    };
    for e in root.all("compiler") {
        // Folder of textures, and settings that drop or merge elements for speed.
        e.ignore(&["texturedir", "discardvisual", "fusestatic", "usethread", "convexhull", "saveinertial", "alignfree"]);
        let truth = |name: &str, without: bool| e.word(name).map_or(without, |w| w == "true");
        if let Some(a) = e.get("angle") {
            c.angle = if a.value == "radian" { 1.0 } else { 1f64.to_radians() };
        }
        if let Some(a) = e.get("eulerseq") {
            let letters: Vec<char> = a.value.chars().collect();
            match letters.as_slice() {
                [x, y, z] if letters.iter().all(|l| "xyzXYZ".contains(*l)) => c.eulerseq = [*x, *y, *z],
                _ => {
                    let d = Diagnostic::new("M651", format!("`eulerseq` is `{}`", crate::tree::shorten(a.value)));
                    reading.problem(d.help("write three of x, y, z, X, Y, Z"), a.spot);
                }
            }
        }
        if let Some(a) = e.get("coordinate")
            && a.value != "local"
        {
            reading.unsupported("`coordinate=\"global\"`", "save the model with a recent version of MuJoCo", a.spot);
        }
        c.autolimits = truth("autolimits", c.autolimits);
        c.balance = truth("balanceinertia", c.balance);
        c.strippath = truth("strippath", c.strippath);
        match e.word("inertiafromgeom") {
            Some("true") => c.from_geoms = FromGeoms::Always,
            Some("false") => c.from_geoms = FromGeoms::Never,
            Some("auto") => c.from_geoms = FromGeoms::Missing,
            _ => {}
        }
        if let Some(x) = e.get("inertiagrouprange").and_then(|a| reading.numbers(a, 2, 2)) {
            c.groups = [x[0], x[1]];
        }
        c.bounds[0] = reading.number(e.get("boundmass"), c.bounds[0]);
        c.bounds[1] = reading.number(e.get("boundinertia"), c.bounds[1]);
        if let Some(x) = e.get("settotalmass").and_then(|a| reading.numbers(a, 1, 1)) {
            c.total = (x[0] > 0.0).then_some(x[0]);
        }
        for key in ["assetdir", "meshdir"] {
            if let Some(w) = e.word(key) {
                c.meshdir = w.into();
            }
        }
    }
    c
}

impl<'x> Mjcf<'_, '_, 'x> {
    fn options(&mut self, root: Element<'_>) {
        self.draft.gravity = Some([0.0, 0.0, -9.81]);
        for e in root.all("option") {
            // Solver settings do not apply to this solver.
            e.ignore(&[
                "timestep",
                "integrator",
                "solver",
                "cone",
                "jacobian",
                "iterations",
                "ls_iterations",
                "noslip_iterations",
                "ccd_iterations",
                "sdf_iterations",
                "sdf_initpoints",
                "tolerance",
                "ls_tolerance",
                "noslip_tolerance",
                "ccd_tolerance",
                "impratio",
                "o_margin",
                "o_solref",
                "o_solimp",
                "o_friction",
                "apirate",
            ]);
            if let Some(a) = e.get("gravity") {
                self.draft.gravity = Some(self.reading.vector(Some(a), Vector3::zeros()).into());
            }
            if let Some(f) = e.child("flag") {
                self.flags(f);
            }
        }
    }

    /// Reads the flags that disable parts of the mechanism; flags for the solver do not apply to this one.
    fn flags(&mut self, f: Element<'_>) {
        f.ignore(&[
            "contact",
            "warmstart",
            "filterparent",
            "refsafe",
            "sensor",
            "midphase",
            "eulerdamp",
            "autoreset",
            "nativeccd",
            "multiccd",
            "island",
            "sleep",
            "energy",
            "fwdinv",
            "invdiscrete",
        ]);
        let disabled = |name: &str| f.word(name) == Some("disable");
        if disabled("gravity") {
            self.draft.gravity = Some([0.0; 3]);
        }
        let (all, passive) = (disabled("constraint"), disabled("passive"));
        let now = Off {
            equalities: disabled("equality") || all,
            limits: disabled("limit") || all,
            friction: disabled("frictionloss") || all,
            springs: disabled("spring") || passive,
            dampers: disabled("damper") || passive,
            actuators: disabled("actuation"),
            ranges: disabled("clampctrl"),
        };
        let off = &mut self.off;
        off.equalities |= now.equalities;
        off.limits |= now.limits;
        off.friction |= now.friction;
        off.springs |= now.springs;
        off.dampers |= now.dampers;
        off.actuators |= now.actuators;
        off.ranges |= now.ranges;
    }

    fn assets(&mut self, e: Element<'x>) {
        for mesh in e.all("mesh") {
            let class = self.defaults.class_of(self.reading, mesh, 0);
            let attribute = |name: &str| self.defaults.attribute(mesh, class, &["mesh"], name);
            let Some(file) = attribute("file") else {
                let d = Diagnostic::new("M653", "a mesh without a file is not read, and may be part of the mechanism");
                self.reading.problem(d.help("write its vertices to a file"), mesh.spot());
                continue;
            };
            let plain = file.value.replace('\\', "/");
            let stem = plain.rsplit('/').next().unwrap_or(&plain).rsplit_once('.').map_or(plain.as_str(), |(s, _)| s).to_string();
            let name = mesh.word("name").map_or(stem, String::from);
            let scale = self.reading.vector(attribute("scale"), Vector3::repeat(1.0));
            let path = if self.compiler.strippath { plain.rsplit('/').next().unwrap_or(&plain).to_string() } else { plain };
            if self.assets.insert(name.clone(), MeshAsset { file: path, scale, spot: mesh.spot() }).is_some() {
                let d = Diagnostic::new("M656", format!("two meshes are named `{name}`")).name(&name);
                self.reading.problem(d.help("rename one of them"), mesh.spot());
            }
        }
        for m in e.all("model") {
            self.reading.unsupported("a `model` among the assets", "read the model by itself", m.spot());
        }
    }

    /// Removes disabled effects from joints, after other elements have used the values.
    fn switch_off(&mut self) {
        let off = self.off;
        for j in &mut self.draft.joints {
            let p = &mut j.passive;
            j.limits = j.limits.filter(|_| !off.limits);
            p.stiffness = if off.springs { 0.0 } else { p.stiffness };
            p.damping = if off.dampers { 0.0 } else { p.damping };
            p.dry = if off.friction { 0.0 } else { p.dry };
        }
    }

    /// Applies the bounds of mass and inertia given in the compiler settings.
    fn bounds(&mut self) {
        let Compiler { bounds: [mass, inertia], balance, total, .. } = self.compiler;
        for (k, link) in self.draft.links.iter_mut().enumerate().skip(1) {
            if self.between.contains(&k) {
                continue;
            }
            let b = &mut link.body;
            b.mass = b.mass.max(mass);
            if inertia > 0.0 || balance {
                let eigen = b.J.symmetric_eigen();
                let mut e = eigen.eigenvalues.map(|x| x.max(inertia));
                if balance && (e.x + e.y < e.z || e.x + e.z < e.y || e.y + e.z < e.x) {
                    e = Vector3::repeat(e.mean());
                }
                b.J = eigen.eigenvectors * Matrix3::from_diagonal(&e) * eigen.eigenvectors.transpose();
            }
        }
        if let Some(total) = total {
            let now: f64 = self.draft.links.iter().map(|l| l.body.mass).sum();
            if now > 0.0 {
                for link in &mut self.draft.links {
                    link.body.mass *= total / now;
                    link.body.J *= total / now;
                }
            }
        }
    }
}
