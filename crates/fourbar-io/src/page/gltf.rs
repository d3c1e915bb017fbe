//! The motion as a glTF animation: a scene with a node for each body, its shapes as triangles, its poses as key frames.

mod solid;

use super::motion::{Kept, Poses};
use crate::disk::MARK;
use crate::mesh;
use crate::pack::base64;
use crate::results::Table;
use fourbar::Diagnostic;
use fourbar::model::{BodyId, Model};
use fourbar::spec::Shape;
use nalgebra::{UnitQuaternion, Vector3};
use serde_json::{Value, json};
use solid::Solid;
use std::path::Path;

/// Largest number of key frames.
const KEYS: usize = 2000;
/// Colours of the bodies and of the ground; red, green, blue in linear light.
const COLOURS: [[f64; 3]; 6] =
    [[0.0, 0.168, 0.445], [0.665, 0.112, 0.0], [0.0, 0.342, 0.171], [0.604, 0.191, 0.386], [0.093, 0.456, 0.815], [0.791, 0.347, 0.0]];
const GREY: [f64; 3] = [0.32; 3];
/// Constants of the standard.
const FLOAT: u32 = 5126;
const UNSIGNED: u32 = 5125;
const VERTICES: u32 = 34962;
const INDICES: u32 = 34963;

/// Form of a glTF file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GltfFile {
    /// Text with embedded numbers: `.gltf`.
    Text,
    /// Binary: `.glb`.
    Binary,
}

/// All numbers in one block, with their descriptions.
#[derive(Default)]
struct Block {
    bytes: Vec<u8>,
    views: Vec<Value>,
    accessors: Vec<Value>,
}

impl Block {
    fn view(&mut self, bytes: &[u8], target: Option<u32>) -> usize {
        let mut view = json!({"buffer": 0, "byteOffset": self.bytes.len(), "byteLength": bytes.len()});
        if let Some(target) = target {
            view["target"] = json!(target);
        }
        self.bytes.extend(bytes);
        self.views.push(view);
        self.views.len() - 1
    }

    /// Adds floats in groups of the given size, with their smallest and largest values if `bounds`.
    fn floats(&mut self, values: &[f32], group: usize, bounds: bool, target: Option<u32>) -> usize {
        let bytes: Vec<u8> = values.iter().flat_map(|x| x.to_le_bytes()).collect();
        let view = self.view(&bytes, target);
        let kind = ["SCALAR", "VEC2", "VEC3", "VEC4"][group - 1];
        let mut accessor = json!({"bufferView": view, "componentType": FLOAT, "count": values.len() / group, "type": kind});
        if bounds {
            let of = |f: fn(f32, f32) -> f32, from: f32| {
                (0..group).map(|k| values.iter().skip(k).step_by(group).fold(from, |a, x| f(a, *x))).collect::<Vec<_>>()
            };
            accessor["min"] = json!(of(f32::min, f32::INFINITY));
            accessor["max"] = json!(of(f32::max, f32::NEG_INFINITY));
        }
        self.accessors.push(accessor);
        self.accessors.len() - 1
    }

    fn indices(&mut self, values: &[u32]) -> usize {
        let bytes: Vec<u8> = values.iter().flat_map(|x| x.to_le_bytes()).collect();
        let view = self.view(&bytes, Some(INDICES));
        self.accessors.push(json!({"bufferView": view, "componentType": UNSIGNED, "count": values.len(), "type": "SCALAR"}));
        self.accessors.len() - 1
    }
}

/// The bytes of the file, and warnings about missing meshes. Meshes are read from `folder`, the folder of the model.
pub fn animated_gltf(
    model: &Model,
    folder: Option<&Path>,
    table: &Table,
    label: &str,
    file: GltfFile,
) -> Result<(Vec<u8>, Vec<Diagnostic>), Diagnostic> {
    let poses = Poses::find(model, table, label)?;
    let times = table.column("t").unwrap_or(&[]);
    let (sound, _) = poses.sound_rows(table.rows().min(times.len()));
    if sound == 0 {
        return Err(Diagnostic::new("U013", format!("the result `{label}` has no rows, or no time"))
            .help("the run may have ended before its first output"));
    }
    // Key times must increase: of two rows at an event the later one is kept.
    let mut rows = Kept::at_most(sound, KEYS).rows;
    rows.dedup_by(|later, first| {
        let same = times[*later] as f32 <= times[*first] as f32;
        if same {
            *first = *later;
        }
        same
    });
    let mut block = Block::default();
    let (mut nodes, mut meshes, mut warnings) = (Vec::new(), Vec::new(), Vec::new());
    // In the format y points upwards.
    let up = (-model.gravity).try_normalize(1e-9).unwrap_or(Vector3::z());
    let turn = UnitQuaternion::rotation_between(&up, &Vector3::y())
        .unwrap_or_else(|| UnitQuaternion::from_axis_angle(&Vector3::x_axis(), std::f64::consts::PI));
    let q = turn.coords;
    nodes.push(json!({"name": "world", "rotation": [q.x, q.y, q.z, q.w], "children": (1..=model.bodies.len()).collect::<Vec<_>>()}));
    let keys: Vec<f32> = rows.iter().map(|&k| (times[k] - times[rows[0]]) as f32).collect();
    let input = block.floats(&keys, 1, true, None);
    let (mut samplers, mut channels) = (Vec::new(), Vec::new());
    for (k, b) in model.bodies.iter().enumerate() {
        let mut node = json!({"name": b.name});
        let solid = shown(model, BodyId(k as u32), folder, &mut warnings)?;
        if !solid.triangles.is_empty() {
            let material = if k == 0 { 0 } else { 1 + (k - 1) % COLOURS.len() };
            let attributes = json!({
                "POSITION": block.floats(solid.places.as_flattened(), 3, true, Some(VERTICES)),
                "NORMAL": block.floats(solid.normals.as_flattened(), 3, false, Some(VERTICES)),
            });
            let indices = block.indices(solid.triangles.as_flattened());
            node["mesh"] = json!(meshes.len());
            meshes.push(json!({"name": b.name, "primitives": [{"attributes": attributes, "indices": indices, "material": material}]}));
        }
        if k > 0 {
            let r: Vec<f32> = rows.iter().flat_map(|&row| poses.r(k - 1, row).map(|x| x as f32)).collect();
            let mut last = [0.0; 4];
            let p: Vec<f32> = rows
                .iter()
                .flat_map(|&row| {
                    let [w, x, y, z] = poses.p(k - 1, row);
                    let norm = (w * w + x * x + y * y + z * z).sqrt();
                    // Successive quaternions have the same sign, so that the interpolation takes the shorter way.
                    let side = if w * last[0] + x * last[1] + y * last[2] + z * last[3] < 0.0 { -1.0 } else { 1.0 };
                    last = [w, x, y, z].map(|v| side * v);
                    [x, y, z, w].map(|v| (side * v / norm) as f32)
                })
                .collect();
            node["translation"] = json!(r[..3]);
            node["rotation"] = json!(p[..4]);
            for (path, output) in [("translation", block.floats(&r, 3, false, None)), ("rotation", block.floats(&p, 4, false, None))] {
                channels.push(json!({"sampler": samplers.len(), "target": {"node": k + 1, "path": path}}));
                samplers.push(json!({"input": input, "interpolation": "LINEAR", "output": output}));
            }
        }
        nodes.push(node);
    }
    let material = |c: &[f64; 3]| json!({"pbrMetallicRoughness": {"baseColorFactor": [c[0], c[1], c[2], 1.0], "metallicFactor": 0.1, "roughnessFactor": 0.7}, "doubleSided": true});
    let mut scene = json!({
        "asset": {"version": "2.0", "generator": format!("{MARK} {}", env!("CARGO_PKG_VERSION"))},
        "scene": 0,
        "scenes": [{"name": model.title, "nodes": [0]}],
        "nodes": nodes,
        "materials": std::iter::once(&GREY).chain(&COLOURS).map(material).collect::<Vec<_>>(),
        "animations": [{"name": "motion", "samplers": samplers, "channels": channels}],
        "accessors": block.accessors,
        "bufferViews": block.views,
        "buffers": [{"byteLength": block.bytes.len()}],
    });
    if !meshes.is_empty() {
        scene["meshes"] = json!(meshes);
    }
    let bytes = match file {
        GltfFile::Text => {
            scene["buffers"][0]["uri"] = json!(format!("data:application/octet-stream;base64,{}", base64(&block.bytes)));
            scene.to_string().into_bytes()
        }
        GltfFile::Binary => binary(&scene, block.bytes),
    };
    Ok((bytes, warnings))
}

/// Text and numbers in one file; each part is padded to a multiple of four bytes.
fn binary(scene: &Value, mut numbers: Vec<u8>) -> Vec<u8> {
    let mut text = scene.to_string().into_bytes();
    text.resize(text.len().next_multiple_of(4), b' ');
    numbers.resize(numbers.len().next_multiple_of(4), 0);
    let length = (12 + 8 + text.len() + 8 + numbers.len()) as u32;
    let mut out = b"glTF\x02\0\0\0".to_vec();
    out.extend(length.to_le_bytes());
    for (kind, part) in [(b"JSON", text), (b"BIN\0", numbers)] {
        out.extend((part.len() as u32).to_le_bytes());
        out.extend(kind);
        out.extend(part);
    }
    out
}

/// The shapes of a body relative to its centre of mass; without shapes it is drawn from its joints.
fn shown(model: &Model, id: BodyId, folder: Option<&Path>, warnings: &mut Vec<Diagnostic>) -> Result<Solid, Diagnostic> {
    let b = &model.bodies[id.index()];
    let mut solid = Solid::default();
    for shape in &b.shapes {
        match (shape, folder) {
            (Shape::Mesh { file, scale, at, orientation }, Some(folder)) => {
                let read = mesh::read(folder, file).map_err(|d| d.at(format!("bodies.{}.shape", b.name)).name(&b.name))?;
                let turn = orientation.matrix().unwrap_or_else(nalgebra::Matrix3::identity);
                let place = |v: &[f64; 3]| Vector3::from(*at) + turn * (Vector3::from(*v) * *scale);
                for t in &read.triangles {
                    if let [Some(x), Some(y), Some(z)] = t.map(|k| read.vertices.get(k as usize).map(place)) {
                        solid.flat(&[x, y, z]);
                    }
                }
            }
            (Shape::Mesh { file, .. }, None) => {
                let message = format!("the mesh `{file}` of `{}` is not shown: the mechanism has no folder in which to find it", b.name);
                warnings
                    .push(Diagnostic::new("W080", message).name(&b.name).help("save the mechanism to a file in the folder of its meshes"));
            }
            (other, _) => solid.shape(other),
        }
    }
    solid.move_by(&-b.com);
    if solid.triangles.is_empty() && id != BodyId::GROUND {
        let radius = 0.012 * model.length;
        let ends = model.joints.iter().flat_map(|j| [(j.bodies[0], j.F.s), (j.bodies[1], j.M.s)]);
        let places: Vec<Vector3<f64>> = ends.filter(|(body, _)| *body == id).map(|(_, s)| s).collect();
        for s in &places {
            solid.shape(&Shape::Rod { from: [0.0; 3], to: (*s).into(), radius });
        }
        if places.is_empty() {
            solid.shape(&Shape::Sphere { at: [0.0; 3], radius: 2.0 * radius });
        }
    }
    Ok(solid)
}
