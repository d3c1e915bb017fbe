//! Pages: their size and contents, and that no text of the file becomes markup.

use fourbar::model::Model;
use fourbar::spec::{BodySpec, JointSpec, ModelSpec, Orientation, PairKind, Placement, Shape};
use fourbar::study::{Study, run};
use fourbar::trajectory::{Trajectory, columns};
use fourbar_io::page::{MODEL, RunSummary, Shown, data, page, read_stored};
use fourbar_io::results::{CsvWriter, SUMMARY, TRAJECTORY, Table, write_json};
use fourbar_io::{ReadOptions, read_model};
use nalgebra::{Quaternion, UnitQuaternion, Vector3};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use std::path::{Path, PathBuf};

fn viewer() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../viewer")
}

/// A new folder for files of a test.
fn temporary(name: &str) -> PathBuf {
    let folder = std::env::temp_dir().join(format!("fourbar-{name}-{}", std::process::id()));
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).unwrap();
    folder
}

fn shown<'a>(label: &str, table: &'a Table, summary: &'a RunSummary) -> Shown<'a> {
    Shown { label: label.into(), table, summary }
}

/// A shipped model and a short run of it.
fn short_run(name: &str, rows: usize) -> (Model, Trajectory, RunSummary) {
    let text = fourbar_io::examples::example(name).expect("shipped").text;
    let model = read_model(text, &ReadOptions::default()).expect("readable").spec.build().expect("sound");
    let mut study = Study::of(&model);
    study.t_end = study.output_step * (rows - 1) as f64;
    let mut t = Trajectory::default();
    let report = run(&model, &study, &mut t).expect("runs");
    (model, t, RunSummary::from(&report))
}

/// Numbers of a packed array.
fn unpack(v: &Value) -> Vec<f64> {
    if let Some(list) = v.as_array() {
        return list.iter().map(|x| x.as_f64().unwrap()).collect();
    }
    let bytes = v["data"].as_str().map(decode).unwrap_or_default();
    match v["enc"].as_str().unwrap() {
        "linear" => {
            (0..v["count"].as_u64().unwrap()).map(|k| v["start"].as_f64().unwrap() + k as f64 * v["step"].as_f64().unwrap()).collect()
        }
        "f64" => bytes.chunks_exact(8).map(|b| f64::from_le_bytes(b.try_into().unwrap())).collect(),
        "f32" => bytes.chunks_exact(4).map(|b| f64::from(f32::from_le_bytes(b.try_into().unwrap()))).collect(),
        "u32" => bytes.chunks_exact(4).map(|b| f64::from(u32::from_le_bytes(b.try_into().unwrap()))).collect(),
        "i16" => {
            let list = |key: &str| {
                v[key].as_array().map_or(vec![v[key].as_f64().unwrap_or(0.0)], |a| a.iter().map(|x| x.as_f64().unwrap()).collect())
            };
            let (scale, offset) = (list("scale"), list("offset"));
            let q = bytes.chunks_exact(2).map(|b| i16::from_le_bytes(b.try_into().unwrap()));
            q.enumerate()
                .map(|(k, q)| if q == i16::MIN { f64::NAN } else { offset[k % offset.len()] + scale[k % scale.len()] * f64::from(q) })
                .collect()
        }
        other => panic!("packing {other}"),
    }
}

/// Decodes base64, independently of the writer.
fn decode(text: &str) -> Vec<u8> {
    let value = |c: u8| match c {
        b'A'..=b'Z' => c - b'A',
        b'a'..=b'z' => c - b'a' + 26,
        b'0'..=b'9' => c - b'0' + 52,
        b'+' => 62,
        _ => 63,
    };
    let mut out = Vec::new();
    for four in text.as_bytes().chunks(4) {
        let pad = four.iter().filter(|&&c| c == b'=').count();
        let bits = four.iter().fold(0_u32, |b, &c| b << 6 | if c == b'=' { 0 } else { u32::from(value(c)) });
        out.extend_from_slice(&bits.to_be_bytes()[1..4 - pad]);
    }
    out
}

fn v3(v: &Value) -> Vector3<f64> {
    let x: Vec<f64> = v.as_array().unwrap().iter().map(|x| x.as_f64().unwrap()).collect();
    Vector3::new(x[0], x[1], x[2])
}

/// World position of a point of a body at a sample of the page.
fn place(page: &Value, body: &str, at: &Vector3<f64>, sample: usize) -> Vector3<f64> {
    let bodies = page["model"]["bodies"].as_array().unwrap();
    let Some(k) = bodies.iter().position(|b| b["name"] == body) else { return *at };
    let poses = &page["results"][0]["poses"];
    let (r, p) = (unpack(&poses["r"][k]), unpack(&poses["p"][k]));
    let (r, p) = (&r[3 * sample..3 * sample + 3], &p[4 * sample..4 * sample + 4]);
    let turn = UnitQuaternion::from_quaternion(Quaternion::new(p[0], p[1], p[2], p[3]));
    Vector3::new(r[0], r[1], r[2]) + turn * (at - v3(&bodies[k]["com"]))
}

#[test]
fn the_bundle_is_fresh() {
    let root = viewer();
    let mut files: Vec<String> =
        ["build.mjs", "package.json", "package-lock.json", "tsconfig.json", "vendor-licences/three.txt"].map(String::from).into();
    let mut folders = vec!["src".to_string()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(root.join(&folder)).unwrap() {
            let entry = entry.unwrap();
            let name = format!("{folder}/{}", entry.file_name().to_str().unwrap());
            if entry.file_type().unwrap().is_dir() { folders.push(name) } else { files.push(name) }
        }
    }
    files.sort();
    let mut hash = Sha256::new();
    for file in &files {
        let text = std::fs::read_to_string(root.join(file)).unwrap().replace("\r\n", "\n");
        hash.update(format!("{file}\n{text}"));
    }
    let hash: String = hash.finalize().iter().map(|b| format!("{b:02x}")).collect();
    let stated = std::fs::read_to_string(root.join("dist/sources.sha256")).unwrap();
    assert_eq!(stated.trim(), hash, "viewer/dist is stale: run `node build.mjs` in viewer/");
}

#[test]
fn text_of_the_file_never_becomes_markup() {
    let (mut model, t, mut summary) = short_run("fourbar", 11);
    let evil = "</script><script>alert(1)</script><!--";
    model.title = evil.into();
    summary.notes.push(fourbar_io::page::Note { code: "W000".into(), text: evil.into(), ..Default::default() });
    let table = Table::from(&t);
    let html = page(&model, None, &[shown(evil, &table, &summary)]).unwrap().html;
    let head = "<script type=\"application/json\" id=\"fourbar-data\">";
    let template = std::fs::read_to_string(viewer().join("dist/page.html")).unwrap();
    assert_eq!(template.matches("/*FOURBAR_DATA*/").count(), 1);
    let from = html.find(head).expect("the data block") + head.len();
    let to = from + html[from..].find("</script>").unwrap();
    assert!(!html[from..to].contains('<'));
    let data: Value = serde_json::from_str(&html[from..to]).expect("one JSON object");
    assert_eq!(data["model"]["title"], evil);
    assert_eq!(data["results"][0]["label"], evil);
    // Without the data the page equals the template.
    let template = template.replace("/*FOURBAR_ENGINE*/", "");
    assert_eq!(format!("{}/*FOURBAR_DATA*/{}", &html[..from], &html[to..]), template);
}

#[test]
fn joints_of_every_shipped_model_meet_where_the_page_draws_them() {
    for e in fourbar_io::examples::examples() {
        let loaded = read_model(e.text, &ReadOptions::default()).expect("readable");
        let model = loaded.spec.build().expect("sound");
        let start = fourbar::analysis::assembly::assemble(&model).expect("assembles").configuration;
        // One row: only the poses are needed here.
        let columns = columns(&model);
        let mut row = vec![0.0; columns.len()];
        for (b, q) in model.bodies.iter().zip(&start.q).skip(1) {
            let p = UnitQuaternion::from_matrix(&q.A).into_inner();
            for (key, x) in [("r.x", q.r.x), ("r.y", q.r.y), ("r.z", q.r.z), ("p.0", p.w), ("p.1", p.i), ("p.2", p.j), ("p.3", p.k)] {
                let k = columns.iter().position(|c| c.name == format!("{}.{key}", b.name)).unwrap();
                row[k] = x;
            }
        }
        let table = Table::from(&Trajectory { columns, values: row.into_iter().map(|x| vec![x]).collect() });
        let (page, _) = data(&model, None, &[shown(e.name, &table, &RunSummary::default())]).expect("a page");
        // Quaternions in 16 bits have an angular error of at most about 1e-4.
        let near = 1e-3 * model.length.max(model.bodies.iter().map(|b| b.com.norm()).fold(0.0, f64::max));
        for j in page["model"]["joints"].as_array().unwrap() {
            let meets = matches!(j["type"].as_str().unwrap(), "revolute" | "spherical" | "universal" | "fixed");
            let Some(bodies) = j["bodies"].as_array().filter(|_| meets) else { continue };
            let [a, b] = ["base", "moving"].map(|s| v3(&j[s]["at"]));
            let (a, b) = (place(&page, bodies[0].as_str().unwrap(), &a, 0), place(&page, bodies[1].as_str().unwrap(), &b, 0));
            assert!((a - b).norm() < near, "{}: {} is drawn at {a:?} and {b:?}", e.name, j["name"]);
        }
        for (name, p) in &model.points {
            let drawn = page["model"]["points"].as_array().unwrap().iter().find(|x| x["name"] == name.as_str()).unwrap();
            let there = place(&page, drawn["body"].as_str().unwrap(), &v3(&drawn["at"]), 0);
            assert!((there - start.q[p.body.index()].point(&p.s)).norm() < near, "{}: {name}", e.name);
        }
    }
}

/// A pin in a slot alone does not keep its bodies in the plane; the drawing is planar due to the other joints.
#[test]
fn a_scotch_yoke_is_drawn_in_its_plane() {
    let text = "fourbar: 1\nbodies:\n  disk: {mass: 0.2, inertia: [1e-4, 1e-4, 2e-4]}\n  yoke: {mass: 0.3, inertia: [1e-4, 1e-4, 1e-4], at: [0.03, 0, 0]}\njoints:\n  shaft: {type: revolute, bodies: [ground, disk], at: [0, 0, 0], axis: [0, 0, 1]}\n  guide: {type: prismatic, bodies: [ground, yoke], at: [0.12, 0, 0], axis: [1, 0, 0]}\n  pin: {type: point-on-line, bodies: [yoke, disk], at: [0.03, 0, 0], axis: [0, 1, 0]}\ndrives: {motor: {joint: shaft, speed: 6}}\nstudy: {t_end: 0.1, output_step: 0.05}\n";
    let drawn = |text: &str| {
        let model = read_model(text, &ReadOptions::default()).expect("readable").spec.build().expect("sound");
        let mut t = Trajectory::default();
        let report = run(&model, &Study::of(&model), &mut t).expect("runs");
        let (table, summary) = (Table::from(&t), RunSummary::from(&report));
        data(&model, None, &[shown("a", &table, &summary)]).expect("a page").0["model"]["planar_normal"].clone()
    };
    assert_eq!(drawn(text), json!([0.0, 0.0, 1.0]));
    // A yoke that may leave the plane is drawn as spatial.
    assert_eq!(
        drawn(
            &text
                .replace(
                    "guide: {type: prismatic, bodies: [ground, yoke], at: [0.12, 0, 0], axis: [1, 0, 0]}",
                    "guide: {type: revolute, bodies: [ground, yoke], at: [0.12, 0, 0], axis: [0, 1, 0]}"
                )
                .replace("drives: {motor: {joint: shaft, speed: 6}}\n", "")
        ),
        Value::Null
    );
}

#[test]
fn a_page_holds_the_motion_the_columns_and_the_diagnosis() {
    let (model, t, summary) = short_run("fourbar", 101);
    let table = Table::from(&t);
    let (page, warnings) = data(&model, None, &[shown("a", &table, &summary)]).unwrap();
    assert!(warnings.is_empty(), "{warnings:?}");
    let result = &page["results"][0];
    assert_eq!(unpack(&result["times"][0]), table.column("t").unwrap());
    let names: Vec<&str> = result["columns"].as_array().unwrap().iter().map(|c| c["name"].as_str().unwrap()).collect();
    assert_eq!(names.len() + 1 + 7 * model.moving(), table.names.len());
    for c in result["columns"].as_array().unwrap() {
        let full = table.column(c["name"].as_str().unwrap()).unwrap();
        for (x, y) in unpack(&c["data"]).iter().zip(full) {
            // Single precision.
            assert!((x - y).abs() <= 1e-7 * y.abs().max(1e-30), "{}", c["name"]);
        }
    }
    assert!(page["model"]["planar_normal"].is_array());
    let text = page["diagnosis"].to_string();
    for words in [
        "3 bodies, 4 joints",
        "planar",
        "loop of",
        "Mobility by count",
        "Mobility by rank: 1",
        "Redundant constraints",
        "Work of the integrator",
    ] {
        assert!(text.contains(words), "no `{words}` in {text}");
    }
    for joint in &model.joints {
        assert!(text.contains(&joint.name), "{}", joint.name);
    }
}

/// A chain of bodies with a synthetic motion.
fn chain(bodies: usize, rows: usize) -> (Model, Trajectory) {
    let mut spec = ModelSpec { title: "chain".into(), ..Default::default() };
    for k in 0..bodies {
        let x = k as f64;
        spec.bodies.push((format!("link{k}"), BodySpec { at: [x, 0.0, 0.0], com: [0.5, 0.0, 0.0], ..Default::default() }));
        let base = if k == 0 { "ground".to_string() } else { format!("link{}", k - 1) };
        let placement = Placement::World { at: [x, 0.0, 0.0], axis: [0.0, 0.0, 1.0], axis_moving: None };
        spec.joints.push((format!("pin{k}"), JointSpec::Pair { kind: PairKind::Revolute, bodies: [base, format!("link{k}")], placement }));
    }
    let model = spec.build().expect("sound");
    let columns = columns(&model);
    let mut trajectory = Trajectory::new(columns.clone());
    for i in 0..rows {
        let t = i as f64 * 1e-3;
        for (k, c) in columns.iter().enumerate() {
            let column = &mut trajectory.values[k];
            let k = k as f64;
            let angle = 0.7 * (2.0 * t + 0.1 * k).sin();
            column.push(match c.name.as_str() {
                "t" => t,
                n if n.ends_with(".p.0") => (0.5 * angle).cos(),
                n if n.ends_with(".p.3") => (0.5 * (0.7 * (2.0 * t + 0.1 * (k - 3.0)).sin())).sin(),
                n if n.contains(".p.") => 0.0,
                n if n.starts_with("error.") => 1e-12 * (1.0 + (50.0 * t).sin().abs()),
                // High-frequency noise: the worst case for thinning.
                _ => (k + 1.0) * (3.0 * t + k).sin() + (991.0 * t * (k + 1.0)).sin(),
            });
        }
    }
    (model, trajectory)
}

#[test]
fn ten_seconds_at_a_kilohertz_of_fifty_bodies_stay_below_eight_megabytes() {
    let (model, t) = chain(50, 10_001);
    let table = Table::from(&t);
    let summary = RunSummary { formulation: "ra".into(), ..Default::default() };
    let html = page(&model, None, &[shown("a", &table, &summary)]).unwrap().html;
    println!("page of 50 bodies: {:.2} MB", html.len() as f64 / 1e6);
    assert!(html.len() < 8_000_000, "{} bytes", html.len());
    let (page, _) = data(&model, None, &[shown("a", &table, &summary)]).unwrap();
    let r = &page["results"][0];
    let t_poses = unpack(&r["times"][0]);
    assert!(t_poses.len() > 1000 && t_poses[t_poses.len() - 1] == 10.0);
    let drawn = unpack(&r["poses"]["r"][7]);
    let full = table.column("link7.r.y").unwrap();
    let range = full.iter().fold(0.0_f64, |s, x| s.max(x.abs())) * 2.0;
    for (k, t) in t_poses.iter().enumerate() {
        let row = (t * 1000.0).round() as usize;
        assert!((drawn[3 * k + 1] - full[row]).abs() < range / 60_000.0);
    }
    // Values dropped by thinning are within the bands.
    let column = r["columns"].as_array().unwrap().iter().find(|c| c["name"] == "link7.v.x").unwrap();
    let full = table.column("link7.v.x").unwrap();
    let top = full.iter().copied().fold(f64::MIN, f64::max);
    let shown = unpack(&column["hi"]).into_iter().fold(f64::MIN, f64::max);
    assert!((top - shown).abs() < range / 1000.0, "{top} {shown}");
}

#[test]
fn a_thousand_bodies_still_make_a_page() {
    let (model, t) = chain(1000, 301);
    let table = Table::from(&t);
    let summary = RunSummary { rows: Some([5000, 0]), ..Default::default() };
    let html = page(&model, None, &[shown("a", &table, &summary)]).unwrap().html;
    println!("page of 1000 bodies: {:.2} MB", html.len() as f64 / 1e6);
    assert!(html.len() < 20_000_000, "{} bytes", html.len());
    assert!(html.contains("columns are not on this page") && html.contains("Mobility by rank: 1000 "));
}

#[test]
fn results_are_compared_in_full_precision() {
    let (model, t, summary) = short_run("fourbar", 51);
    let mut other = t.clone();
    let at = t.find("crank.r.x").unwrap();
    for k in 0..t.len() {
        other.values[at][k] += 1e-11;
        // The opposite quaternion describes the same orientation and must give no difference.
        let p = t.find("crank.p.0").unwrap();
        (p..p + 4).for_each(|c| other.values[c][k] = -other.values[c][k]);
    }
    let (a, b) = (Table::from(&t), Table::from(&other));
    let (page, _) = data(&model, None, &[shown("ra", &a, &summary), shown("ra", &b, &summary)]).unwrap();
    assert_eq!(page["results"][1]["label"], "ra (2)");
    assert!(page["results"][0].get("difference").is_none());
    let column = |name: &str| {
        let list = page["results"][1]["difference"].as_array().unwrap();
        let c = list.iter().find(|c| c["name"] == name).unwrap_or_else(|| panic!("{name}"));
        let base = c["time"].as_u64().unwrap() as usize;
        let values = unpack(&c["data"]);
        assert_eq!(unpack(&page["results"][1]["times"][base]).len(), values.len());
        values
    };
    // Adding 1e-11 to numbers of order 0.1 rounds at about 1e-17.
    assert!(column("crank.r.x").iter().all(|d| (d - 1e-11).abs() < 1e-15));
    assert!(column("position").iter().all(|d| (d - 1e-11).abs() < 1e-15));
    assert!(column("rotation").iter().all(|d| *d < 1e-15));
    assert!(column("energy.total").iter().all(|d| *d == 0.0));
}

#[test]
fn what_a_page_cannot_do_without_is_asked_for() {
    let (model, t, summary) = short_run("fourbar", 11);
    let mut table = Table::from(&t);
    table.names[1] = "elsewhere.x".into();
    let code = |table: &Table, n: usize| data(&model, None, &vec![shown("a", table, &summary); n]).unwrap_err().code.0;
    assert_eq!(code(&table, 1), "U013");
    assert_eq!(code(&Table::from(&t), 0), "U013");
    assert_eq!(code(&Table::from(&t), 13), "U013");
    let empty = Table::from(&Trajectory::new(t.columns.clone()));
    assert_eq!(code(&empty, 1), "U013");
}

#[test]
fn poses_that_are_no_numbers_are_cut_off_with_a_warning() {
    let (model, t, summary) = short_run("fourbar", 21);
    let mut table = Table::from(&t);
    let k = table.names.iter().position(|n| n == "rocker.p.2").unwrap();
    table.columns[k][7] = f64::NAN;
    let (page, _) = data(&model, None, &[shown("a", &table, &summary)]).unwrap();
    assert_eq!(unpack(&page["results"][0]["times"][0]).len(), 7);
    assert!(page["diagnosis"].to_string().contains("W081"));
    table.columns[k][0] = f64::INFINITY;
    assert_eq!(data(&model, None, &[shown("a", &table, &summary)]).unwrap_err().code.0, "U013");
}

#[test]
fn meshes_come_from_the_folder_of_the_model_only() {
    let (mut model, t, summary) = short_run("fourbar", 11);
    let folder = temporary("page-mesh");
    let inside = folder.join("model");
    std::fs::create_dir_all(inside.join("parts")).unwrap();
    let obj = "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n";
    std::fs::write(inside.join("parts/a.obj"), obj).unwrap();
    std::fs::write(inside.join("broken.stl"), "solid nothing").unwrap();
    std::fs::write(folder.join("secret.obj"), obj).unwrap();
    let table = Table::from(&t);
    let mut make = |file: &str, folder: Option<&Path>| {
        model.bodies[1].shapes = vec![Shape::Mesh { file: file.into(), scale: 0.001, at: [0.0; 3], orientation: Orientation::World }];
        data(&model, folder, &[shown("a", &table, &summary)])
    };
    let (page, _) = make("parts/a.obj", Some(&inside)).unwrap();
    let mesh = &page["model"]["bodies"][0]["shapes"][0];
    assert_eq!(unpack(&mesh["triangles"]), [0.0, 1.0, 2.0]);
    assert!((unpack(&mesh["vertices"])[3] - 0.001).abs() < 1e-9);
    for (file, code) in [("../secret.obj", "M040"), ("parts/b.obj", "M041"), ("broken.stl", "M081"), ("parts", "M041")] {
        assert_eq!(make(file, Some(&inside)).unwrap_err().code.0, code, "{file}");
    }
    #[cfg(unix)]
    {
        std::os::unix::fs::symlink(folder.join("secret.obj"), inside.join("link.obj")).unwrap();
        assert_eq!(make("link.obj", Some(&inside)).unwrap_err().code.0, "M040");
    }
    let (page, warnings) = make("parts/a.obj", None).unwrap();
    assert_eq!(warnings[0].code.0, "W080");
    assert_eq!(page["model"]["bodies"][0]["shapes"], json!([]));
    std::fs::remove_dir_all(&folder).unwrap();
}

#[test]
fn a_result_folder_is_read_back_with_its_mechanism() {
    let (model, t, summary) = short_run("fourbar", 21);
    let folder = temporary("page-result");
    let text = fourbar_io::examples::example("fourbar").unwrap().text;
    let all: Vec<usize> = (0..t.columns.len()).collect();
    let mut csv = CsvWriter::create(&folder.join(TRAJECTORY), &t.columns, all).unwrap();
    (0..t.len()).for_each(|k| csv.row(&t.row(k)).unwrap());
    csv.flush().unwrap();
    assert_eq!(read_stored(&folder).unwrap_err().code.0, "U012");
    std::fs::write(folder.join(MODEL), text).unwrap();
    let units: serde_json::Map<String, Value> = t.columns.iter().map(|c| (c.name.clone(), json!(c.unit))).collect();
    let written = json!({
        "set": {"speed": "3"}, "units": units, "analysis": summary.analysis, "formulation": summary.formulation, "integrator": summary.integrator,
        "work": {"steps": 20.0}, "reactions_not_unique": [{"joint": "pin_a", "components": ["force.z"]}],
        "singular": [{"time": 0.5, "pivot": 1e-9, "joints": ["pin_a", "pin_b"]}],
        "diagnostics": [{"code": "W220", "message": "singular", "help": "look", "names": ["pin_a"], "time": 0.5}],
    });
    write_json(&folder.join(SUMMARY), &written).unwrap();
    for path in [folder.clone(), folder.join(TRAJECTORY)] {
        let stored = read_stored(&path).unwrap();
        assert_eq!(stored.table, Table::from(&t));
        assert_eq!(stored.set, [("speed".to_string(), "3".to_string())]);
        assert_eq!(stored.model, folder.join(MODEL));
        assert_eq!(
            (stored.summary.formulation.as_str(), stored.summary.work.as_slice()),
            (summary.formulation.as_str(), [("steps".to_string(), 20.0)].as_slice())
        );
        let (page, _) = data(&model, Some(&folder), &[shown(&stored.label, &stored.table, &stored.summary)]).unwrap();
        let lines: Vec<&Value> = page["diagnosis"].as_array().unwrap().iter().flat_map(|s| s["lines"].as_array().unwrap()).collect();
        assert!(lines.iter().any(|l| l["time"] == 0.5 && l["level"] == "warn" && l["names"][0] == "pin_a"), "{lines:?}");
        assert!(lines.iter().any(|l| l["text"] == "pin_a: force.z"), "{lines:?}");
    }
    std::fs::remove_dir_all(&folder).unwrap();
}

/// `view: {plots, follow}` is passed through reader, writer and page; an unknown column is a warning.
#[test]
fn plots_and_the_followed_body_of_a_file_reach_the_page() {
    let file = "fourbar: 1\nbodies:\n  bob: {mass: 1, inertia: [1, 1, 1], com: [1, 0, 0]}\njoints:\n  pin: {type: revolute, bodies: [ground, bob], at: [0, 0, 0], axis: [0, 0, 1]}\npoints:\n  tip: {body: bob, at: [2, 0, 0]}\nview: {trace: [tip], plots: [pin.angle, [tip.x, tip.y], {x: tip.x, y: tip.y}, {y: [nothing.x]}], follow: bob}\n";
    let read = |text: &str| fourbar_io::read_model(text, &fourbar_io::ReadOptions::default()).unwrap().spec;
    let spec = read(file);
    assert_eq!(spec.plots.len(), 4);
    assert_eq!(spec.plots[2], fourbar::spec::PlotSpec { y: vec!["tip.y".into()], x: Some("tip.x".into()) });
    assert_eq!(spec.follow.as_deref(), Some("bob"));
    let again = read(&fourbar_io::write_model(&spec));
    assert_eq!((&again.plots, &again.follow, &again.trace), (&spec.plots, &spec.follow, &spec.trace));
    let model = spec.build().unwrap();
    let mut rows = fourbar::Trajectory::default();
    fourbar::study::run(&model, &fourbar::study::Study::of(&model), &mut rows).unwrap();
    let (table, summary) = (fourbar_io::results::Table::from(&rows), fourbar_io::page::RunSummary::default());
    let shown = [fourbar_io::page::Shown { label: "a".into(), table: &table, summary: &summary }];
    let (data, warnings) = fourbar_io::page::data(&model, None, &shown).unwrap();
    assert_eq!(data["model"]["view"]["plots"][2], serde_json::json!({"x": "tip.x", "y": ["tip.y"]}));
    assert_eq!(data["model"]["view"]["follow"], "bob");
    assert_eq!(warnings.iter().map(|w| (w.code.0, w.names[0].as_str())).collect::<Vec<_>>(), [("W470", "nothing.x")]);
    for (bad, code) in [
        ("follow: nobody", "M113"),
        ("plots: [[]]", "M017"),
        ("plots: [{x: tip.x}]", "M013"),
        ("plots: [{z: tip.x}]", "M012"),
        ("plots: 3", "M011"),
    ] {
        let text =
            file.replace("follow: bob", "").replace("plots: [pin.angle, [tip.x, tip.y], {x: tip.x, y: tip.y}, {y: [nothing.x]}], ", bad);
        let found = match fourbar_io::read_model(&text, &fourbar_io::ReadOptions::default()) {
            Err(e) => e.code().0,
            Ok(l) => l.spec.build().unwrap_err().code().0,
        };
        assert_eq!(found, code, "{bad}");
    }
}
