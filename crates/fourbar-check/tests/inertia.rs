//! Mass properties that `check` reports: centre of mass and principal axes.

use fourbar_check::report::{examine, fields, words};
use fourbar_testing::common::parse;
use nalgebra::{Matrix3, Rotation3, Vector3};
use serde_json::Value;

/// Numbers between -1 and 1.
struct Random(u64);

impl Random {
    fn number(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.0 >> 11) as f64 / (1u64 << 52) as f64 - 1.0
    }
}

fn checked(text: &str, folder: Option<&std::path::Path>) -> (Value, String) {
    let model = match folder {
        Some(f) => {
            let path = f.join("model.yaml");
            std::fs::write(&path, text).expect("a folder to write to");
            fourbar_io::load(&path).unwrap_or_else(|e| panic!("{e:?}"))
        }
        None => parse(text),
    };
    let found = examine(&model, &[]);
    // Lines may be wrapped anywhere.
    let text = words(&model, &found, true).split_whitespace().collect::<Vec<_>>().join(" ");
    (fields(&model, &found)["inertia"][0].clone(), text)
}

fn vector(v: &Value) -> Vector3<f64> {
    Vector3::from_fn(|k, _| v[k].as_f64().expect("a number"))
}

/// The tensor with the reported moments and axes; the axes are right-handed.
fn tensor(v: &Value) -> Matrix3<f64> {
    let axes = Matrix3::from_columns(&[0, 1, 2].map(|k| vector(&v["principal_axes"][k])));
    assert!((axes.determinant() - 1.0).abs() < 1e-12, "{axes}");
    axes * Matrix3::from_diagonal(&vector(&v["principal_moments"])) * axes.transpose()
}

fn drawn(random: &mut Random) -> (Vector3<f64>, Matrix3<f64>) {
    let moments = Vector3::from_fn(|_, _| 1.0 + 0.3 * random.number());
    let turn = Rotation3::from_scaled_axis(Vector3::from_fn(|_, _| 2.0 * random.number()));
    (moments, *turn.matrix())
}

#[test]
fn principal_axes_make_drawn_tensors_again() {
    let mut random = Random(41);
    for round in 0..50 {
        let (moments, turn) = drawn(&mut random);
        let wanted = turn * Matrix3::from_diagonal(&moments) * turn.transpose();
        let entries = [wanted[(0, 0)], wanted[(1, 1)], wanted[(2, 2)], wanted[(0, 1)], wanted[(0, 2)], wanted[(1, 2)]];
        let (v, text) = checked(&format!("{{fourbar: 1, bodies: {{b: {{mass: 2, inertia: {entries:?}, com: [0.1, 0, 0]}}}}}}"), None);
        assert!((tensor(&v) - wanted).amax() < 1e-12, "round {round}: {v}");
        let m = vector(&v["principal_moments"]);
        assert!(m.x <= m.y && m.y <= m.z, "round {round}: {m}");
        assert!(text.contains("`b`: 2 kg, centre of mass at (0.1, 0, 0) m") && text.contains("about the axes"), "{text}");
    }
}

/// A box of known size, drawn in a rotated frame, as a mesh: its principal axes are its edges.
#[test]
fn the_principal_frame_of_a_mesh_is_reported() {
    let folder = std::env::temp_dir().join(format!("fourbar-inertia-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a temporary folder");
    let mut random = Random(7);
    for round in 0..10 {
        let size = Vector3::from_fn(|k, _| 0.1 * (k + 1) as f64 * (1.0 + 0.2 * random.number()));
        let (_, turn) = drawn(&mut random);
        let centre = Vector3::from_fn(|_, _| random.number());
        let corner = |k: usize| {
            let sign = |bit: usize| if k & bit == 0 { -0.5 } else { 0.5 };
            centre + turn * Vector3::new(sign(1) * size.x, sign(2) * size.y, sign(4) * size.z)
        };
        let mut mesh: String = (0..8).map(corner).map(|p| format!("v {:?} {:?} {:?}\n", p.x, p.y, p.z)).collect();
        for f in [[1, 3, 4, 2], [5, 6, 8, 7], [1, 2, 6, 5], [3, 7, 8, 4], [1, 5, 7, 3], [2, 4, 8, 6]] {
            mesh += &format!("f {} {} {} {}\n", f[0], f[1], f[2], f[3]);
        }
        std::fs::write(folder.join("part.obj"), mesh).expect("a mesh");
        let text = "{fourbar: 1, bodies: {part: {solid: {type: mesh, file: part.obj, scale: 1, density: 1000}}}}";
        let (v, words) = checked(text, Some(&folder));
        let mass = 1000.0 * size.product();
        let square = size.component_mul(&size);
        let moments = Vector3::from_fn(|k, _| mass / 12.0 * (square.sum() - square[k]));
        let wanted = turn * Matrix3::from_diagonal(&moments) * turn.transpose();
        assert!((v["mass"].as_f64().expect("a mass") - mass).abs() < 1e-10 * mass, "round {round}: {v}");
        assert!((vector(&v["com"]) - centre).amax() < 1e-10, "round {round}: {v}");
        assert!((tensor(&v) - wanted).amax() < 1e-9 * wanted.amax(), "round {round}: {v}");
        assert!(words.contains("`part`") && words.contains("principal moments"), "{words}");
    }
    std::fs::remove_dir_all(&folder).expect("the folder is ours");
}
