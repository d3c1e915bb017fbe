//! glTF 2.0 and GLB: the triangles of the scene, transformed by its nodes. Buffers are in the file, in base64, or in separate files.

use super::{Flaw, MAX_BYTES, MAX_TRIANGLES, MAX_VERTICES, Mesh};
use crate::pack::from_base64;
use nalgebra::{Matrix4, Point3, Quaternion, Translation3, UnitQuaternion, Vector3, Vector4};
use serde_json::Value;

const GLB: &[u8] = b"glTF";
const JSON: u32 = 0x4e4f_534a;
const BINARY: u32 = 0x004e_4942;
const FLOAT: u64 = 5126;
/// Largest number of values in the JSON part: a parsed value takes far more memory than its text.
const MAX_VALUES: usize = 1_000_000;
/// Largest number of nodes, and largest depth.
const MAX_NODES: usize = 10_000;
const MAX_DEPTH: usize = 64;
/// Largest number of mesh parts, over all nodes.
const MAX_PARTS: usize = 100_000;

pub(super) fn parse(data: &[u8], beside: &dyn Fn(&str) -> Result<Vec<u8>, Flaw>) -> Result<Mesh, Flaw> {
    let (json, embedded) = if data.starts_with(GLB) { chunks(data)? } else { (data, None) };
    let root = json_of(json)?;
    if let Some(needed) = root["extensionsRequired"].as_array().and_then(|list| list.first()).and_then(Value::as_str) {
        return Err(Flaw::Kind(format!("it needs the extension {needed}")));
    }
    let mut buffers = Vec::new();
    let mut total = 0;
    for b in list(&root, "buffers") {
        let bytes = match (b["uri"].as_str(), embedded) {
            (Some(uri), _) if uri.starts_with("data:") => {
                uri.split_once(";base64,").and_then(|(_, code)| from_base64(code)).ok_or_else(|| Flaw::broken("a buffer is not base64"))?
            }
            (Some(uri), _) => beside(uri)?,
            (None, Some(bytes)) => bytes.to_vec(),
            (None, None) => return Err(Flaw::broken("a buffer has no bytes")),
        };
        total += bytes.len() as u64;
        if total > 2 * MAX_BYTES {
            return Err(Flaw::Large("its buffers are too large".into()));
        }
        buffers.push(bytes);
    }
    let mut scene = Scene { root: &root, buffers: &buffers, mesh: Mesh::default(), visited: 0, parts: 0 };
    let roots: Vec<usize> =
        root["scenes"][index(&root["scene"]).unwrap_or(0)]["nodes"].as_array().map_or(Vec::new(), |n| n.iter().filter_map(index).collect());
    if list(&root, "nodes").is_empty() {
        for k in 0..list(&root, "meshes").len() {
            scene.add(k, &Matrix4::identity())?;
        }
    }
    for node in roots {
        scene.node(node, &Matrix4::identity(), 0)?;
    }
    Ok(scene.mesh)
}

/// Names of the buffer files of a glTF text.
pub(super) fn buffer_files(data: &[u8]) -> Vec<String> {
    let root = json_of(data).unwrap_or_default();
    list(&root, "buffers").iter().filter_map(|b| b["uri"].as_str()).filter(|uri| !uri.starts_with("data:")).map(String::from).collect()
}

/// Parses JSON with a bounded use of memory: values are counted before parsing.
fn json_of(json: &[u8]) -> Result<Value, Flaw> {
    let (mut values, mut inside, mut escaped) = (0, false, false);
    for b in json {
        match b {
            _ if escaped => escaped = false,
            b'\\' if inside => escaped = true,
            b'"' => inside = !inside,
            b',' | b'[' | b'{' if !inside => values += 1,
            _ => {}
        }
    }
    if values > MAX_VALUES {
        return Err(Flaw::Large(format!("its JSON has more than {MAX_VALUES} values")));
    }
    serde_json::from_slice(json).map_err(|e| Flaw::broken(format!("its JSON is not understood: {e}")))
}

/// The JSON and the bytes of a GLB file.
fn chunks(data: &[u8]) -> Result<(&[u8], Option<&[u8]>), Flaw> {
    let word = |at: usize| data.get(at..at + 4).and_then(|b| b.try_into().ok()).map(u32::from_le_bytes);
    let (mut json, mut binary, mut at) = (None, None, 12);
    while let (Some(length), Some(kind)) = (word(at), word(at + 4)) {
        let body = data.get(at + 8..).and_then(|rest| rest.get(..length as usize)).ok_or_else(|| Flaw::broken("it is cut off"))?;
        match kind {
            JSON => json = Some(body),
            BINARY => binary = Some(body),
            _ => {}
        }
        at += 8 + length as usize;
    }
    Ok((json.ok_or_else(|| Flaw::broken("it has no JSON part"))?, binary))
}

fn list<'a>(v: &'a Value, key: &str) -> &'a [Value] {
    v[key].as_array().map_or(&[], Vec::as_slice)
}

fn index(v: &Value) -> Option<usize> {
    v.as_u64().and_then(|k| usize::try_from(k).ok())
}

fn numbers<const N: usize>(v: &Value) -> Option<[f64; N]> {
    let list: Vec<f64> = v.as_array()?.iter().map(Value::as_f64).collect::<Option<_>>()?;
    list.try_into().ok()
}

struct Scene<'a> {
    root: &'a Value,
    buffers: &'a [Vec<u8>],
    mesh: Mesh,
    visited: usize,
    parts: usize,
}

impl Scene<'_> {
    fn node(&mut self, k: usize, above: &Matrix4<f64>, depth: usize) -> Result<(), Flaw> {
        self.visited += 1;
        if self.visited > MAX_NODES || depth > MAX_DEPTH {
            return Err(Flaw::Large("it has too many nodes, or nodes in a circle".into()));
        }
        let node = list(self.root, "nodes").get(k).ok_or_else(|| Flaw::broken(format!("there is no node {k}")))?;
        let here = above * transform(node);
        if let Some(mesh) = index(&node["mesh"]) {
            self.add(mesh, &here)?;
        }
        for child in list(node, "children").iter().filter_map(index) {
            self.node(child, &here, depth + 1)?;
        }
        Ok(())
    }

    fn add(&mut self, k: usize, place: &Matrix4<f64>) -> Result<(), Flaw> {
        let mesh = list(self.root, "meshes").get(k).ok_or_else(|| Flaw::broken(format!("there is no mesh {k}")))?;
        for part in list(mesh, "primitives") {
            self.parts += 1;
            if self.parts > MAX_PARTS {
                return Err(Flaw::Large(format!("its nodes have more than {MAX_PARTS} parts together")));
            }
            match part["mode"].as_u64().unwrap_or(4) {
                4 => {}
                // Points and lines have no surface.
                0..=3 => continue,
                _ => return Err(Flaw::Kind("it holds strips or fans of triangles".into())),
            }
            // Counted before reading: many nodes may share one large mesh, or many parts one large list.
            let vertices = self.count(&part["attributes"]["POSITION"]);
            let corners = if part["indices"].is_null() { vertices } else { self.count(&part["indices"]) };
            if self.mesh.vertices.len().saturating_add(vertices) > MAX_VERTICES {
                return Err(Flaw::too_many_vertices());
            }
            if self.mesh.triangles.len().saturating_add(corners / 3) > MAX_TRIANGLES {
                return Err(Flaw::too_many());
            }
            let points = self.accessor(&part["attributes"]["POSITION"], "VEC3")?;
            let first = self.mesh.vertices.len() as u32;
            let corners: Vec<u32> = match &part["indices"] {
                Value::Null => (0..points.len() as u32 / 3).collect(),
                indices => self.accessor(indices, "SCALAR")?.into_iter().map(|x| x as u32).collect(),
            };
            let count = points.len() as u32 / 3;
            if corners.iter().any(|&c| c >= count) {
                return Err(Flaw::broken("a triangle refers to a missing vertex"));
            }
            self.mesh.vertices.extend(points.chunks_exact(3).map(|p| {
                let p = place.transform_point(&Point3::new(p[0], p[1], p[2]));
                [p.x, p.y, p.z]
            }));
            self.mesh.triangles.extend(corners.chunks_exact(3).map(|c| [first + c[0], first + c[1], first + c[2]]));
        }
        Ok(())
    }

    /// Number of elements that an accessor declares.
    fn count(&self, k: &Value) -> usize {
        let a = index(k).and_then(|k| list(self.root, "accessors").get(k));
        a.and_then(|a| index(&a["count"])).unwrap_or(0)
    }

    /// Numbers of an accessor, checked against the available bytes.
    fn accessor(&self, k: &Value, kind: &str) -> Result<Vec<f64>, Flaw> {
        let missing = || Flaw::broken("an accessor, its view or its buffer is missing");
        let a = index(k).and_then(|k| list(self.root, "accessors").get(k)).ok_or_else(missing)?;
        if !a["sparse"].is_null() {
            return Err(Flaw::Kind("it holds sparse accessors".into()));
        }
        let component = a["componentType"].as_u64().unwrap_or(0);
        let (size, fits) = match component {
            5121 => (1, kind == "SCALAR"),
            5123 => (2, kind == "SCALAR"),
            5125 => (4, kind == "SCALAR"),
            FLOAT => (4, kind == "VEC3"),
            _ => (0, false),
        };
        if !fits || a["type"].as_str() != Some(kind) {
            return Err(Flaw::Kind("its positions are not plain numbers, or its indices no integers".into()));
        }
        let view = index(&a["bufferView"]).and_then(|k| list(self.root, "bufferViews").get(k)).ok_or_else(missing)?;
        let buffer = index(&view["buffer"]).and_then(|k| self.buffers.get(k)).ok_or_else(missing)?;
        let width = if kind == "VEC3" { 3 } else { 1 };
        let stride = index(&view["byteStride"]).unwrap_or(0).max(width * size);
        let from = index(&view["byteOffset"]).unwrap_or(0).checked_add(index(&a["byteOffset"]).unwrap_or(0));
        let count = index(&a["count"]).unwrap_or(0);
        // The stride after the last element is not required.
        let end = count
            .checked_sub(1)
            .and_then(|n| n.checked_mul(stride))
            .and_then(|n| n.checked_add(width * size))
            .and_then(|n| n.checked_add(from?));
        let (Some(from), Some(end)) = (from, end) else { return Err(Flaw::broken("an accessor is empty or too long")) };
        if end > buffer.len() {
            return Err(Flaw::broken("an accessor reaches beyond its buffer"));
        }
        let mut out = Vec::with_capacity(count * width);
        for n in 0..count {
            for c in 0..width {
                let b = &buffer[from + n * stride + c * size..][..size];
                out.push(match (component, b) {
                    (FLOAT, [a, b, c, d]) => f64::from(f32::from_le_bytes([*a, *b, *c, *d])),
                    (_, [a, b, c, d]) => f64::from(u32::from_le_bytes([*a, *b, *c, *d])),
                    (_, [a, b]) => f64::from(u16::from_le_bytes([*a, *b])),
                    (_, b) => f64::from(b[0]),
                });
            }
        }
        Ok(out)
    }
}

/// The transformation of a node to its parent.
fn transform(node: &Value) -> Matrix4<f64> {
    if let Some(m) = numbers::<16>(&node["matrix"]) {
        return Matrix4::from_column_slice(&m);
    }
    let t = numbers::<3>(&node["translation"]).unwrap_or([0.0; 3]);
    let [x, y, z, w] = numbers::<4>(&node["rotation"]).unwrap_or([0.0, 0.0, 0.0, 1.0]);
    let s = numbers::<3>(&node["scale"]).unwrap_or([1.0; 3]);
    let turn = UnitQuaternion::from_quaternion(Quaternion::from(Vector4::new(x, y, z, w)));
    Translation3::from(Vector3::from(t)).to_homogeneous() * turn.to_homogeneous() * Matrix4::new_nonuniform_scaling(&Vector3::from(s))
}
