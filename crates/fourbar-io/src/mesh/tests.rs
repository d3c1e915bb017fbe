//! Small meshes of every kind, and broken ones.

use super::*;
use crate::pack::base64;
use serde_json::json;

fn alone(file: &str, data: &[u8]) -> Result<Mesh, Flaw> {
    parse(file, data, &|_| Err(Flaw::broken("nothing stands beside it")))
}

fn binary_stl(triangles: &[[[f32; 3]; 3]]) -> Vec<u8> {
    let mut out = b"solid but binary".to_vec();
    out.resize(80, b' ');
    out.extend((triangles.len() as u32).to_le_bytes());
    for t in triangles {
        out.extend([0; 12]);
        out.extend(t.iter().flatten().flat_map(|x| x.to_le_bytes()));
        out.extend([0; 2]);
    }
    out
}

/// Two triangles that make a square.
const SQUARE: [[[f32; 3]; 3]; 2] =
    [[[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [1.0, 1.0, 0.0]], [[0.0, 0.0, 0.0], [1.0, 1.0, 0.0], [0.0, 1.0, 0.0]]];

fn corners(m: &Mesh) -> Vec<[[f32; 3]; 3]> {
    m.triangles.iter().map(|t| t.map(|k| m.vertices[k as usize].map(|x| x as f32))).collect()
}

#[test]
fn stl_of_both_kinds_gives_the_same_square_with_shared_corners() {
    let mut text = String::from("solid square\n");
    for t in SQUARE {
        text += " facet normal 0 0 1\n  outer loop\n";
        for p in t {
            text += &format!("   vertex {} {} {:e}\n", p[0], p[1], p[2]);
        }
        text += "  endloop\n endfacet\n";
    }
    let text = alone("a.STL", text.as_bytes()).unwrap();
    let binary = alone("a.stl", &binary_stl(&SQUARE)).unwrap();
    assert_eq!(text, binary);
    assert_eq!(corners(&binary), SQUARE);
    assert_eq!(binary.vertices.len(), 4);
}

#[test]
fn obj_faces_become_fans() {
    let text = "# square\nv 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\nvn 0 0 1\nf 1//1 2//1 3//1 -1//1\n";
    assert_eq!(corners(&alone("a.obj", text.as_bytes()).unwrap()), SQUARE);
}

fn gltf(uri: Option<String>, node: serde_json::Value) -> serde_json::Value {
    json!({
        "asset": {"version": "2.0"}, "scene": 0, "scenes": [{"nodes": [0]}], "nodes": [{"children": [1]}, node],
        "meshes": [{"primitives": [{"attributes": {"POSITION": 0}, "indices": 1}]}],
        "accessors": [
            {"bufferView": 0, "componentType": 5126, "type": "VEC3", "count": 4},
            {"bufferView": 0, "byteOffset": 48, "componentType": 5123, "type": "SCALAR", "count": 6}
        ],
        "bufferViews": [{"buffer": 0, "byteLength": 60}],
        "buffers": [match uri { Some(uri) => json!({"uri": uri, "byteLength": 60}), None => json!({"byteLength": 60}) }]
    })
}

fn gltf_bytes() -> Vec<u8> {
    let points = [[0.0_f32, 0.0, 0.0], [1.0, 0.0, 0.0], [1.0, 1.0, 0.0], [0.0, 1.0, 0.0]];
    let mut data: Vec<u8> = points.iter().flatten().flat_map(|x| x.to_le_bytes()).collect();
    data.extend([0_u16, 1, 2, 0, 2, 3].iter().flat_map(|k| k.to_le_bytes()));
    data
}

#[test]
fn gltf_is_read_from_text_from_beside_and_from_glb_and_nodes_move_it() {
    let inline = gltf(Some(format!("data:application/octet-stream;base64,{}", base64(&gltf_bytes()))), json!({"mesh": 0}));
    assert_eq!(corners(&alone("a.gltf", inline.to_string().as_bytes()).unwrap()), SQUARE);

    // A quarter turn about z, twice as large, then moved along x: (1, 0, 0) goes to (5, 2, 0).
    let h = 0.5_f64.sqrt();
    let moved = gltf(Some("parts.bin".into()), json!({"mesh": 0, "translation": [5, 0, 0], "rotation": [0, 0, h, h], "scale": [2, 2, 2]}));
    let m = parse("sub/a.gltf", moved.to_string().as_bytes(), &|name| {
        if name == "parts.bin" { Ok(gltf_bytes()) } else { Err(Flaw::broken(name)) }
    })
    .unwrap();
    let far = corners(&m)[0][1];
    assert!((far[0] - 5.0).abs() < 1e-6 && (far[1] - 2.0).abs() < 1e-6 && far[2].abs() < 1e-6, "{far:?}");

    let mut json = gltf(None, json!({"mesh": 0})).to_string().into_bytes();
    json.resize(json.len().next_multiple_of(4), b' ');
    let mut glb = b"glTF\x02\0\0\0\0\0\0\0".to_vec();
    for (kind, body) in [(b"JSON", &json), (b"BIN\0", &gltf_bytes())] {
        glb.extend((body.len() as u32).to_le_bytes());
        glb.extend(kind);
        glb.extend(body);
    }
    assert_eq!(corners(&alone("a.glb", &glb).unwrap()), SQUARE);
    // Cut at any length it is rejected without harm.
    for n in 0..glb.len() {
        assert!(alone("a.glb", &glb[..n]).is_err(), "{n} bytes");
    }
}

#[test]
fn broken_and_hostile_files_are_refused() {
    let mut circle = gltf(None, json!({"children": [0]}));
    circle["buffers"] = json!([]);
    let mut beyond = gltf(Some(format!("data:;base64,{}", base64(&gltf_bytes()))), json!({"mesh": 0}));
    beyond["accessors"][1]["count"] = json!(u64::MAX);
    let mut wild = gltf(Some(format!("data:;base64,{}", base64(&gltf_bytes()))), json!({"mesh": 0}));
    wild["accessors"][0]["count"] = json!(1);
    let mut draco = gltf(None, json!({}));
    draco["extensionsRequired"] = json!(["KHR_draco_mesh_compression"]);
    let mut counted = binary_stl(&SQUARE);
    counted[80..84].copy_from_slice(&u32::MAX.to_le_bytes());
    counted[..5].copy_from_slice(b"other");
    let kind = |f: &Result<Mesh, Flaw>| match f {
        Err(Flaw::Kind(_)) => "kind",
        Err(Flaw::Broken(_)) => "broken",
        Err(Flaw::Large(_)) => "large",
        Err(Flaw::Other(_)) => "other",
        Ok(_) => "fine",
    };
    let cases: [(&str, Vec<u8>, &str); 13] = [
        ("a.step", Vec::new(), "kind"),
        ("a.stl", Vec::new(), "broken"),
        ("a.stl", counted, "broken"),
        ("a.stl", b"solid x\nfacet\nvertex 0 0 nan\nvertex 0 0 0\nvertex 1 0 0\nendfacet".to_vec(), "broken"),
        ("a.stl", b"solid x\nvertex 0 0 0\nendfacet".to_vec(), "broken"),
        ("a.obj", b"v 0 0 0\nf 1 2 3\n".to_vec(), "broken"),
        ("a.obj", b"v 0 0 0\nf 0 0 0\n".to_vec(), "broken"),
        ("a.obj", b"v 0 0 0\nf -9223372036854775808 1 1\n".to_vec(), "broken"),
        ("a.gltf", b"[[[[".to_vec(), "broken"),
        ("a.gltf", circle.to_string().into_bytes(), "large"),
        ("a.gltf", beyond.to_string().into_bytes(), "large"),
        ("a.gltf", wild.to_string().into_bytes(), "broken"),
        ("a.gltf", draco.to_string().into_bytes(), "kind"),
    ];
    for (k, (file, data, expected)) in cases.iter().enumerate() {
        let got = alone(file, data);
        assert_eq!(kind(&got), *expected, "case {k}: {got:?}");
    }
}

/// A few hundred kilobytes that would expand to gigabytes: every node draws the same mesh again.
#[test]
fn meshes_that_multiply_are_refused_before_they_are_made() {
    let vertices = 30_000;
    let bytes = vec![0_u8; 12 * vertices];
    let bomb = |nodes: usize, primitives: serde_json::Value, count: usize| {
        json!({
            "scenes": [{"nodes": (0..nodes).collect::<Vec<_>>()}], "nodes": vec![json!({"mesh": 0}); nodes],
            "meshes": [{"primitives": primitives}],
            "accessors": [
                {"bufferView": 0, "componentType": 5126, "type": "VEC3", "count": count},
                {"bufferView": 0, "componentType": 5121, "type": "SCALAR", "count": 3}
            ],
            "bufferViews": [{"buffer": 0, "byteLength": bytes.len()}],
            "buffers": [{"byteLength": bytes.len(), "uri": format!("data:application/octet-stream;base64,{}", base64(&bytes))}]
        })
    };
    let one = json!([{"attributes": {"POSITION": 0}, "indices": 1}]);
    let large = |value: serde_json::Value| matches!(alone("a.gltf", value.to_string().as_bytes()), Err(Flaw::Large(_)));
    let start = std::time::Instant::now();
    // Many nodes with one mesh, one mesh with many parts, and an accessor that declares more than the file has.
    assert!(large(bomb(9990, one.clone(), vertices)));
    assert!(large(bomb(1, json!(vec![one[0].clone(); 9990]), vertices)));
    assert!(large(bomb(1, one.clone(), usize::MAX)));
    // Parts without a surface also cost time.
    assert!(large(bomb(9990, json!(vec![json!({"mode": 0}); 100]), vertices)));
    // Parsed values take far more memory than their text.
    let values = format!("{{\"extras\": [{}0]}}", "0,".repeat(2_000_000));
    assert!(matches!(alone("a.gltf", values.as_bytes()), Err(Flaw::Large(_))));
    let points: String = (0..=MAX_VERTICES).map(|_| "v 0 0 0\n").collect();
    assert!(matches!(alone("a.obj", points.as_bytes()), Err(Flaw::Large(_))));
    assert!(start.elapsed().as_secs() < 20, "{:?}", start.elapsed());
    // A good one of the same form is read.
    let few = alone("a.gltf", bomb(3, one, 4).to_string().as_bytes()).unwrap();
    assert_eq!((few.vertices.len(), few.triangles.len()), (12, 3));
}
