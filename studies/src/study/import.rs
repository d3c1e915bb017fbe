//! Robots of other programs: for every file of a folder, what is converted and what is not, whether it closes, how it moves, and its
//! differences from the interpretation by the original program (`NAME.truth.json` beside `NAME.xml`).

use fourbar::Model;
use fourbar::analysis::{assembly, rank};
use fourbar::diagnostic::number;
use fourbar::state::Configuration;
use fourbar_io::{Loaded, ReadOptions, read_model_file_with};
use nalgebra::{Matrix3, Quaternion, UnitQuaternion, Vector3};
use serde_json::Value;
use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};
use std::time::Instant;

/// Larger differences are printed.
const CLOSE: f64 = 1e-9;

/// Reads all files below a folder.
pub fn run(arguments: &[String]) -> Result<(), String> {
    let (mut folders, mut meshes) = (Vec::new(), Vec::new());
    let mut rest = arguments.iter();
    while let Some(word) = rest.next() {
        match word.as_str() {
            "--mesh-path" => meshes.push(PathBuf::from(rest.next().ok_or("--mesh-path needs a folder")?)),
            _ => folders.push(PathBuf::from(word)),
        }
    }
    if folders.is_empty() {
        return Err("usage: cargo xtask study import FOLDER... [--mesh-path FOLDER]".into());
    }
    let mut files = Vec::new();
    folders.iter().for_each(|f| find(f, &mut files));
    files.sort();
    println!("| file | bodies | joints | freedoms | redundant | left out | truth | s |\n|---|---|---|---|---|---|---|---|");
    let (mut read, mut far) = (0, 0);
    let mut codes: BTreeMap<&str, usize> = BTreeMap::new();
    for file in &files {
        let name = file.strip_prefix(&folders[0]).unwrap_or(file).display().to_string();
        let clock = Instant::now();
        let options = ReadOptions { path: Some(file), mesh_path: &meshes, ..ReadOptions::default() };
        let loaded = match read_model_file_with(file, &options) {
            Ok(loaded) => loaded,
            Err(e) => {
                println!("| {name} | refused: {} | | | | | | |", e.cause().to_string().replace('|', "/"));
                continue;
            }
        };
        let model = match loaded.spec.build() {
            Ok(model) => model,
            Err(e) => {
                println!("| {name} | refused: {} | | | | | | |", e.cause());
                continue;
            }
        };
        read += 1;
        for w in &loaded.warnings {
            *codes.entry(w.code.0).or_default() += 1;
        }
        let assembled = assembly::assemble(&model);
        let start = assembled.as_ref().map_or_else(|_| Configuration::start(&model), |a| a.configuration.clone());
        let free = rank::mobility(&model, &start, false);
        let closes = assembled.as_ref().map_or_else(|d| format!(" ({})", d.code), |_| String::new());
        let truth = match compared(file, &loaded, &model) {
            None => String::new(),
            Some(list) if list.is_empty() && weighs_meshes_that_are_missing(&loaded) => "equal but for masses of missing meshes".into(),
            Some(list) if list.is_empty() => "equal".into(),
            Some(list) => {
                far += 1;
                let shown: Vec<String> = list.iter().take(3).map(|(what, x)| format!("{what} {}", number(*x))).collect();
                format!("{} ({})", shown.join(", "), list.len())
            }
        };
        println!(
            "| {name} | {} | {} | {}{closes} | {} | {} | {truth} | {:.2} |",
            model.bodies.len() - 1,
            model.joints.len() + model.couplings.len(),
            free.start.mobility(),
            free.start.redundant(),
            loaded.warnings.len(),
            clock.elapsed().as_secs_f64(),
        );
    }
    println!("\n{read} of {} files read; {far} differ from their truth", files.len());
    for (code, count) in codes {
        println!("{code}: {count}");
    }
    Ok(())
}

fn find(folder: &Path, files: &mut Vec<PathBuf>) {
    let Ok(entries) = std::fs::read_dir(folder) else { return };
    for path in entries.flatten().map(|e| e.path()) {
        let ending = path.extension().and_then(|e| e.to_str()).unwrap_or("");
        if path.is_dir() {
            find(&path, files);
        } else if matches!(ending, "xml" | "mjcf" | "urdf" | "sdf" | "asmt") {
            files.push(path);
        }
    }
}

/// A body of the reference, or several welded ones, in the world.
#[derive(Clone)]
struct Solid {
    mass: f64,
    com: Vector3<f64>,
    inertia: Matrix3<f64>,
}

impl Solid {
    fn with(&self, o: &Self) -> Self {
        let mass = self.mass + o.mass;
        if mass == 0.0 {
            return self.clone();
        }
        let com = (self.com * self.mass + o.com * o.mass) / mass;
        let about = |s: &Self| {
            let d = s.com - com;
            s.inertia + (Matrix3::identity() * d.norm_squared() - d * d.transpose()) * s.mass
        };
        Self { mass, com, inertia: about(self) + about(o) }
    }
}

/// Whether the reader has reported unknown masses of meshes.
fn weighs_meshes_that_are_missing(loaded: &Loaded) -> bool {
    loaded.warnings.iter().any(|w| w.code.0 == "W456" && w.message.contains("mass and inertia"))
}

fn vector(v: &Value) -> Vector3<f64> {
    Vector3::from_fn(|k, _| v[k].as_f64().unwrap_or(f64::NAN))
}

fn rotation(v: &Value) -> Matrix3<f64> {
    let q = |k: usize| v[k].as_f64().unwrap_or(f64::NAN);
    UnitQuaternion::new_normalize(Quaternion::new(q(0), q(1), q(2), q(3))).to_rotation_matrix().into_inner()
}

/// Differences from the reference with their sizes; lengths in metres, inertias relative to the largest.
fn compared(file: &Path, loaded: &Loaded, model: &Model) -> Option<Vec<(String, f64)>> {
    let text = std::fs::read_to_string(file.with_extension("truth.json")).ok()?;
    let truth: Value = serde_json::from_str(&text).ok()?;
    let mut list: Vec<(String, f64)> = Vec::new();
    let mut far = |what: String, x: f64| {
        // NaN also counts as a difference.
        if x.is_nan() || x > CLOSE {
            list.push((what, x));
        }
    };
    let unweighed = weighs_meshes_that_are_missing(loaded);
    let bodies = truth["bodies"].as_object()?;
    let joints = truth["joints"].as_object()?;
    let moves: Vec<&str> = joints.values().filter_map(|j| j["body"].as_str()).collect();
    let parent = |name: &str| bodies.get(name).and_then(|b| b["parent"].as_str());
    // The body of which a body is part.
    let root = |name: &str| {
        let mut at = name.to_string();
        while at != "world" && !moves.contains(&at.as_str()) {
            at = parent(&at)?.to_string();
        }
        Some(at)
    };
    let mut solids: HashMap<String, Solid> = HashMap::new();
    for (name, b) in bodies {
        let axes = rotation(&b["quat"]) * rotation(&b["iquat"]);
        let inertia = axes * Matrix3::from_diagonal(&vector(&b["inertia"])) * axes.transpose();
        let solid = Solid { mass: b["mass"].as_f64().unwrap_or(f64::NAN), com: vector(&b["com"]), inertia };
        let at = root(name)?;
        let sum = solids.get(&at).map_or(solid.clone(), |s| s.with(&solid));
        solids.insert(at, sum);
    }
    solids.remove("world");
    for (name, solid) in &solids {
        let Some(b) = model.bodies.iter().find(|b| b.name == *name || b.name == format!("{name}_body")) else {
            far(format!("no body {name}"), f64::INFINITY);
            continue;
        };
        // If meshes with mass are missing, only positions can be compared.
        if !unweighed {
            far(format!("mass of {name}"), (b.mass - solid.mass).abs() / solid.mass);
            far(format!("centre of {name}"), (b.r - solid.com).amax());
            let inertia = b.A * b.J_bar * b.A.transpose();
            far(format!("inertia of {name}"), (inertia - solid.inertia).amax() / solid.inertia.amax());
        }
        let origin = b.r - b.A * b.com;
        far(format!("place of {name}"), (origin - vector(&bodies[name]["pos"])).amax());
        far(format!("axes of {name}"), (b.A - rotation(&bodies[name]["quat"])).amax());
    }
    for (name, j) in joints {
        if j["type"] == "free" {
            continue;
        }
        let body = j["body"].as_str()?;
        let names = [name.clone(), format!("{name}_joint"), format!("{body}_joint")];
        let Some(joint) = names.iter().find_map(|n| model.joints.iter().find(|j| j.name == *n)) else {
            far(format!("no joint {name}"), f64::INFINITY);
            continue;
        };
        let b = &model.bodies[joint.bodies[1].index()];
        far(format!("anchor of {name}"), (b.r + b.A * joint.M.s - vector(&j["anchor"])).amax());
        if j["type"] != "ball" {
            far(format!("axis of {name}"), (b.A * joint.M.axis(2) - vector(&j["axis"])).amax());
        }
        let limits = loaded.spec.limits.iter().find(|(n, _)| *n == joint.name).map(|(_, l)| [l.min, l.max].map(|x| x.unwrap_or(f64::NAN)));
        let listed = loaded.warnings.iter().any(|w| w.code.0 == "W452" && w.names.contains(&joint.name));
        match (j["limited"].as_bool() == Some(true), limits) {
            (true, Some(l)) => {
                let range = &j["range"];
                far(format!("limits of {name}"), (0..2).map(|k| (l[k] - range[k].as_f64().unwrap_or(f64::NAN)).abs()).fold(0.0, f64::max));
            }
            (false, None) => {}
            (true, None) if listed => {}
            _ => far(format!("whether {name} is limited"), f64::INFINITY),
        }
    }
    // Anchors of loops: positions of the point on both bodies, as drawn.
    let order: Vec<&String> = bodies.keys().collect();
    for e in truth["equality"].as_array().into_iter().flatten().filter(|e| e["type"] == "connect") {
        // Loops between sites have no anchors in their data, which are zero then.
        if e["data"].as_array().is_some_and(|d| d.iter().all(|x| x.as_f64() == Some(0.0))) {
            continue;
        }
        let name = |key: &str| e[key].as_u64().and_then(|k| order.get((k as usize).checked_sub(1)?).copied());
        let (Some(a), data) = (name("a"), &e["data"]) else { continue };
        let Some(body) = bodies.get(a) else { continue };
        let at = vector(&body["pos"]) + rotation(&body["quat"]) * vector(data);
        let nearest = model
            .joints
            .iter()
            .filter(|j| j.kind.name() == "spherical")
            .map(|j| {
                let b = &model.bodies[j.bodies[0].index()];
                (b.r + b.A * j.F.s - at).amax()
            })
            .fold(f64::INFINITY, f64::min);
        far(format!("loop at {a}"), nearest);
    }
    let gravity = vector(&truth["gravity"]);
    far("gravity".into(), (model.gravity - gravity).amax());
    Some(list)
}
