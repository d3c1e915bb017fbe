//! Export of the motion as pictures, films, scenes and tables, and of mechanisms as FMUs.

use crate::common;

use common::{command, folder, fourbar, json, whole};
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::Output;

fn good(output: &Output) {
    assert_eq!(output.status.code(), Some(0), "{}", whole(output));
}

fn exported(folder: &Path, model: &str, file: &str) -> Vec<u8> {
    good(&fourbar(folder, &["view", model, "--export", file, "--t-end", "0.5"]));
    std::fs::read(folder.join(file)).expect(file)
}

/// The codes of the diagnostics of a failing command.
fn codes(output: &Output) -> Vec<String> {
    assert_eq!(output.status.code(), Some(2), "{}", whole(output));
    json(output)["diagnostics"].as_array().expect("a list").iter().filter_map(|d| d["code"].as_str().map(String::from)).collect()
}

/// Columns of a CSV file by name.
fn table(bytes: &[u8]) -> (Vec<String>, Vec<Vec<f64>>) {
    let text = String::from_utf8(bytes.to_vec()).expect("text");
    let mut lines = text.lines();
    let names = lines.next().expect("names").split(',').map(String::from).collect();
    (names, lines.map(|l| l.split(',').map(|x| x.parse().expect("a number")).collect()).collect())
}

/// Size of a GIF, and positions, sizes and delays of its frames.
fn gif(bytes: &[u8]) -> ([u16; 2], Vec<[u16; 5]>) {
    let word = |at: usize| u16::from_le_bytes([bytes[at], bytes[at + 1]]);
    assert_eq!(&bytes[..6], b"GIF89a");
    let (mut at, mut delay, mut frames) = (13 + 3 * 256, 0, Vec::new());
    loop {
        let blocks = |mut at: usize| {
            while bytes[at] != 0 {
                at += 1 + usize::from(bytes[at]);
            }
            at + 1
        };
        match bytes[at] {
            0x21 => {
                if bytes[at + 1] == 0xf9 {
                    delay = word(at + 4);
                }
                at = blocks(at + 2);
            }
            0x2c => {
                frames.push([word(at + 1), word(at + 3), word(at + 5), word(at + 7), delay]);
                at = blocks(at + 11);
            }
            0x3b => break,
            other => panic!("block {other:x} at {at}"),
        }
    }
    assert_eq!(at + 1, bytes.len(), "nothing follows the end");
    ([word(6), word(8)], frames)
}

#[test]
fn a_gif_moves_inside_its_frame_for_as_long_as_the_motion() {
    let f = folder("export_gif");
    let bytes = exported(&f, "fourbar", "motion.gif");
    let (size, frames) = gif(&bytes);
    assert!(frames.len() > 20, "{} frames", frames.len());
    assert_eq!(frames[0][..4], [0, 0, size[0], size[1]]);
    for [x, y, w, h, _] in &frames {
        assert!(x + w <= size[0] && y + h <= size[1] && *w > 0 && *h > 0);
    }
    // Half a second is played in two, and the last frame has the average duration.
    let total: u32 = frames.iter().map(|f| u32::from(f[4])).sum();
    assert!((200..=215).contains(&total), "{total}");
    assert!(bytes.len() < 3_000_000, "{} bytes", bytes.len());
    assert_eq!(bytes, exported(&f, "fourbar", "again.gif"), "the same motion gives the same bytes");
    // A picture of this program may be replaced, others must not.
    good(&fourbar(&f, &["view", "fourbar", "--export", "motion.gif", "--t-end", "0.1"]));
    std::fs::write(f.join("mine.gif"), b"GIF89a of mine").expect("written");
    let refused = fourbar(&f, &["view", "fourbar", "--export", "mine.gif", "--json"]);
    assert_eq!(codes(&refused), ["U330"]);
}

#[test]
fn a_still_is_a_png_with_more_than_one_colour() {
    let f = folder("export_png");
    let bytes = exported(&f, "a04_bricard", "motion.png");
    assert_eq!(&bytes[..8], b"\x89PNG\r\n\x1a\n");
    let number = |at: usize| u32::from_be_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]]);
    assert!(number(16) > 200 && number(20) > 200, "{} x {}", number(16), number(20));
    // A blank picture would be far smaller.
    assert!(bytes.len() > 8_000, "{} bytes", bytes.len());
}

#[test]
fn joint_states_are_the_columns_of_the_run() {
    let f = folder("export_joints");
    good(&fourbar(&f, &["run", "fourbar", "--out", "out", "--t-end", "0.5"]));
    good(&fourbar(&f, &["view", "out", "--export", "joints.csv"]));
    let (names, rows) = table(&std::fs::read(f.join("joints.csv")).expect("written"));
    let (columns, run) = table(&std::fs::read(f.join("out/trajectory.csv")).expect("written"));
    assert_eq!(names[0], "time");
    assert_eq!(rows.len(), run.len());
    let at = |list: &[String], name: &str| list.iter().position(|n| n == name).unwrap_or_else(|| panic!("{name} of {list:?}"));
    for (mine, column) in
        [("time", "t"), ("O.position", "O.angle"), ("O.velocity", "O.speed"), ("O.effort", "motor.effort"), ("A.position", "A.angle")]
    {
        let (a, b) = (at(&names, mine), at(&columns, column));
        assert!(rows.iter().zip(&run).all(|(x, y)| x[a] == y[b]), "{mine}");
    }
    let passive = at(&names, "A.effort");
    assert!(rows.iter().all(|r| r[passive] == 0.0));
    // Without joints only the time is written, with a message.
    let alone = fourbar(&f, &["view", "rope_swing", "--export", "none.csv", "--t-end", "0.1"]);
    assert!(String::from_utf8_lossy(&alone.stdout).contains("no joint has a coordinate"), "{alone:?}");
    // A joint that turns and slides has two coordinates.
    let text = "fourbar: 1\nbodies: {a: {mass: 1, inertia: [1, 1, 1], omega: [0, 0, 2], velocity: [0, 0, 1]}}\njoints: {c: {type: cylindrical, bodies: [ground, a], at: [0, 0, 0], axis: [0, 0, 1]}}\nstudy: {t_end: 1}\n";
    std::fs::write(f.join("c.yaml"), text).expect("written");
    good(&fourbar(&f, &["view", "c.yaml", "--export", "c.csv"]));
    let (names, rows) = table(&std::fs::read(f.join("c.csv")).expect("written"));
    let last = rows.last().expect("rows");
    for (name, x) in [("c.angle.position", 2.0), ("c.angle.velocity", 2.0), ("c.distance.position", 1.0), ("c.distance.velocity", 1.0)] {
        assert!((last[at(&names, name)] - x).abs() < 1e-9, "{name}");
    }
}

/// The scene of a glTF file, and its binary data.
fn scene(bytes: &[u8]) -> (Value, Vec<u8>) {
    let length = |at: usize| u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]]) as usize;
    assert_eq!((&bytes[..4], length(4), length(8)), (&b"glTF"[..], 2, bytes.len()));
    let n = length(12);
    assert_eq!(&bytes[16..20], b"JSON");
    let scene = serde_json::from_slice(&bytes[20..20 + n]).expect("JSON");
    assert_eq!(&bytes[20 + n + 4..20 + n + 8], b"BIN\0");
    (scene, bytes[20 + n + 8..].to_vec())
}

/// The floats of an accessor.
fn floats(scene: &Value, numbers: &[u8], accessor: &Value) -> Vec<f32> {
    let a = &scene["accessors"][accessor.as_u64().expect("a number") as usize];
    let view = &scene["bufferViews"][a["bufferView"].as_u64().expect("a number") as usize];
    let of = |v: &Value| v.as_u64().expect("a number") as usize;
    let bytes = &numbers[of(&view["byteOffset"])..of(&view["byteOffset"]) + of(&view["byteLength"])];
    let list: Vec<f32> = bytes.chunks(4).map(|b| f32::from_le_bytes([b[0], b[1], b[2], b[3]])).collect();
    let group = match a["type"].as_str() {
        Some("SCALAR") => 1,
        Some("VEC3") => 3,
        Some("VEC4") => 4,
        other => panic!("{other:?}"),
    };
    assert_eq!(list.len(), group * of(&a["count"]));
    list
}

#[test]
fn a_scene_moves_as_the_run_does() {
    let f = folder("export_gltf");
    good(&fourbar(&f, &["run", "fourbar", "--out", "out", "--t-end", "0.5"]));
    good(&fourbar(&f, &["view", "out", "--export", "motion.glb"]));
    let (scene_of, numbers) = scene(&std::fs::read(f.join("motion.glb")).expect("written"));
    let (columns, run) = table(&std::fs::read(f.join("out/trajectory.csv")).expect("written"));
    let nodes = scene_of["nodes"].as_array().expect("nodes");
    // The root, the ground and three bodies.
    assert_eq!(nodes.len(), 5);
    let animation = &scene_of["animations"][0];
    let channels = animation["channels"].as_array().expect("channels");
    assert_eq!(channels.len(), 6);
    for c in channels {
        let name = nodes[c["target"]["node"].as_u64().expect("a node") as usize]["name"].as_str().expect("a name");
        let sampler = &animation["samplers"][c["sampler"].as_u64().expect("a sampler") as usize];
        let times = floats(&scene_of, &numbers, &sampler["input"]);
        assert!(times.windows(2).all(|t| t[0] < t[1]) && times.len() == run.len());
        let values = floats(&scene_of, &numbers, &sampler["output"]);
        let keys: &[&str] = if c["target"]["path"] == "translation" { &["r.x", "r.y", "r.z"] } else { &["p.1", "p.2", "p.3", "p.0"] };
        for (k, key) in keys.iter().enumerate() {
            let column = columns.iter().position(|n| *n == format!("{name}.{key}")).expect("a column");
            for (row, y) in run.iter().enumerate() {
                let x = f64::from(values[row * keys.len() + k]);
                assert!((x - y[column]).abs() < 1e-6, "{name}.{key} in row {row}: {x} {}", y[column]);
            }
        }
    }
    for mesh in scene_of["meshes"].as_array().expect("meshes") {
        let attributes = &mesh["primitives"][0]["attributes"];
        let normals = floats(&scene_of, &numbers, &attributes["NORMAL"]);
        assert!(normals.chunks(3).all(|n| (n.iter().map(|x| x * x).sum::<f32>() - 1.0).abs() < 1e-5));
        assert_eq!(floats(&scene_of, &numbers, &attributes["POSITION"]).len(), normals.len());
    }
    good(&fourbar(&f, &["view", "out", "--export", "motion.gltf"]));
    let text: Value = serde_json::from_slice(&std::fs::read(f.join("motion.gltf")).expect("written")).expect("JSON");
    assert!(text["buffers"][0]["uri"].as_str().is_some_and(|u| u.starts_with("data:application/octet-stream;base64,")));
    assert_eq!(text["nodes"], scene_of["nodes"]);
}

#[test]
fn films_need_ffmpeg_and_say_so() {
    let f = folder("export_film");
    std::fs::create_dir_all(f.join("bin")).expect("made");
    let film = |name: &str| {
        command(&f, &["view", "fourbar", "--export", name, "--t-end", "0.5", "--json"])
            .env("PATH", f.join("bin"))
            .output()
            .expect("it runs")
    };
    assert_eq!(codes(&film("motion.mp4")), ["U485"]);
    assert!(!f.join("motion.mp4").exists());
    assert_eq!(codes(&film("motion.avi")), ["U482"]);
    // A substitute program with this name that records its input: number and size of the frames.
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let script = "#!/bin/sh\n[ \"$1\" = -version ] && exit 0\nfor last; do :; done\necho \"$@\" > arguments\n/bin/cat > \"$last\"\n";
        let path = f.join("bin/ffmpeg");
        std::fs::write(&path, script).expect("written");
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).expect("set");
        good(&film("motion.mp4"));
        let arguments = std::fs::read_to_string(f.join("arguments")).expect("written");
        let words: Vec<&str> = arguments.split_whitespace().collect();
        let size = words[words.iter().position(|w| *w == "-s").expect("a size") + 1];
        let (w, h) = size.split_once('x').expect("a size");
        let (w, h): (u64, u64) = (w.parse().expect("width"), h.parse().expect("height"));
        assert!(w % 2 == 0 && h % 2 == 0);
        // Two seconds at thirty frames per second.
        assert_eq!(std::fs::metadata(f.join("motion.mp4")).expect("written").len(), 60 * 3 * w * h);
        std::fs::write(&path, "#!/bin/sh\n[ \"$1\" = -version ] && exit 0\necho no coder >&2\nexit 1\n").expect("written");
        let refused = film("other.mp4");
        assert_eq!(codes(&refused), ["U485"]);
        assert!(whole(&refused).contains("no coder"));
    }
}

/// Names of the entries of a zip archive.
fn entries(bytes: &[u8]) -> Vec<String> {
    let places = (0..bytes.len() - 46).filter(|k| &bytes[*k..*k + 6] == b"PK\x01\x02\x14\x00");
    places
        .map(|k| {
            let n = usize::from(u16::from_le_bytes([bytes[k + 28], bytes[k + 29]]));
            String::from_utf8_lossy(&bytes[k + 46..k + 46 + n]).into_owned()
        })
        .collect()
}

#[test]
fn units_are_written_with_their_library_and_refused_without() {
    let f = folder("export_fmu");
    std::fs::write(f.join("curve.csv"), "0,0\n1,1\n2,0\n").expect("written");
    good(&fourbar(&f, &["fmu", "dc_motor_slider_crank", "-o", "motor.fmu"]));
    let bytes = std::fs::read(f.join("motor.fmu")).expect("written");
    let names = entries(&bytes);
    for name in ["modelDescription.xml", "resources/fourbar.json", "resources/model/dc_motor_slider_crank.yaml"] {
        assert!(names.iter().any(|n| n == name), "{names:?}");
    }
    assert!(names.iter().any(|n| n.starts_with("binaries/")), "{names:?}");
    assert_eq!(codes(&fourbar(&f, &["fmu", "dc_motor_slider_crank", "-o", "motor.fmu", "--json"])), ["U004"]);
    assert_eq!(codes(&fourbar(&f, &["fmu", "fourbar", "--columns", "nothing.*", "--json"])), ["U005"]);
    assert_eq!(codes(&fourbar(&f, &["fmu", "pid_pendulum", "--input", "target=9", "--json"])), ["U320"]);
    // A file that is not a library, a missing one, and a command without its library.
    assert_eq!(codes(&fourbar(&f, &["fmu", "fourbar", "--library", "curve.csv", "--json"])), ["U501"]);
    assert_eq!(codes(&fourbar(&f, &["fmu", "fourbar", "--library", "no.so", "--json"])), ["U500"]);
    let alone: PathBuf = f.join(format!("alone{}", std::env::consts::EXE_SUFFIX));
    std::fs::copy(env!("CARGO_BIN_EXE_fourbar"), &alone).expect("copied");
    let refused = std::process::Command::new(&alone).args(["fmu", "fourbar", "--json"]).current_dir(&f).output().expect("it runs");
    assert_eq!(codes(&refused), ["U500"]);
    assert!(!f.join("fourbar.fmu").exists());
}

#[test]
fn files_of_other_programs_become_units_too() {
    let f = folder("export_fmu_robot");
    let text = "<robot name='r'><link name='a'/><link name='b'><inertial><origin xyz='0.5 0 0'/><mass value='1'/><inertia ixx='0.1' iyy='0.1' izz='0.1'/></inertial><visual><geometry><mesh filename='no.stl'/></geometry></visual></link><joint name='j' type='revolute'><parent link='a'/><child link='b'/><axis xyz='0 1 0'/><limit lower='-1' upper='1' effort='3' velocity='1'/></joint></robot>";
    std::fs::write(f.join("robot.urdf"), text).expect("written");
    good(&fourbar(&f, &["fmu", "robot.urdf"]));
    let names = entries(&std::fs::read(f.join("robot.fmu")).expect("written"));
    assert!(names.iter().any(|n| n == "resources/model/model.yaml"), "{names:?}");
}
