//! Invalid and hostile files: each gives its own code, without a panic or stack overflow.

use fourbar::Error;
use fourbar_io::{ReadOptions, read_model, read_model_file, render, starter};
use std::path::{Path, PathBuf};

fn errors(text: &str) -> Error {
    match read_model(text, &ReadOptions::default()) {
        Ok(_) => panic!("accepted: {}", &text[..text.len().min(200)]),
        Err(errors) => {
            // Painting must work for any content.
            assert!(render(&errors, "bad.yaml", true).len() < 100_000);
            errors
        }
    }
}

fn codes(text: &str) -> Vec<&'static str> {
    errors(text).iter().map(|e| e.code.0).collect()
}

/// A valid body followed by `rest`.
fn with(rest: &str) -> String {
    format!("fourbar: 1\nbodies:\n  a: {{mass: 1, inertia: [1, 1, 1]}}\n{rest}\n")
}

/// A file that is valid except for the keys of one body.
fn body(keys: &str) -> String {
    format!("fourbar: 1\nbodies:\n  a: {{{keys}}}\n")
}

fn temporary(name: &str) -> PathBuf {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::create_dir_all(&folder).unwrap();
    folder
}

fn file_codes(path: &Path) -> Vec<&'static str> {
    let errors = read_model_file(path, &[]).unwrap_err();
    let _ = render(&errors, "bad.yaml", false);
    errors.iter().map(|e| e.code.0).collect()
}

#[test]
fn each_mistake_has_its_code() {
    let mass = "mass: 1, inertia: 0";
    for (code, text) in [
        ("M001", "fourbar: 1\nbodies: {a: [1, 2\n".to_string()),
        ("M001", "fourbar: 1\n\tbodies: 2\n".into()),
        ("M002", String::new()),
        ("M002", "# only a comment\n\n".into()),
        ("M002", "---\n".into()),
        ("M006", with("gravity: *nowhere")),
        ("M006", "fourbar: 1\nbodies: &b {a: *b}\n".into()),
        ("M008", "fourbar: 1\nbodies:\n  a: {mass: 1, inertia: 0}\n  a: {mass: 1, inertia: 0}\n".into()),
        ("M009", with("title: !!python/object:os.system x")),
        ("M009", with("---\nfourbar: 1")),
        ("M009", with("? [1, 2]\n: 3")),
        ("M011", "just a text".into()),
        ("M011", body("mass: [1, 2], inertia: 0")),
        ("M011", body("mass: 1, inertia: 0, at: 3")),
        ("M011", "fourbar: 1\nbodies: [1]\n".into()),
        ("M011", "fourbar: 1\nbodies:\n".into()),
        ("M012", body("mass: 1, inertia: 0, colour: red")),
        ("M012", with("bodys: {}")),
        ("M013", "bodies: {}\n".into()),
        ("M013", with("joints: {j: {type: revolute, bodies: [ground, a], at: [0, 0, 0]}}")),
        ("M013", with("joints: {j: {bodies: [ground, a]}}")),
        ("M013", with("drives: {d: {joint: j}}")),
        ("M013", with("forces: {s: {type: spring, between: [{body: a}, {at: [0, 0, 0]}], stiffness: 1, length: 1}}")),
        ("M014", with("drives: {d: {joint: j, angle: t, speed: 1}}")),
        ("M014", body("mass: 1, solid: {type: sphere, radius: 1, density: 1}")),
        ("M014", body(&format!("{mass}, orientation: {{axis: [1, 0, 0]}}"))),
        ("M015", with("joints: {j: {type: revolut, bodies: [ground, a]}}")),
        ("M015", with("study: {analysis: magic}")),
        ("M016", with("points: {2nd: {body: a}}")),
        ("M016", with("points: {t: {body: a}}")),
        ("M017", body(&format!("{mass}, at: [1, 2]"))),
        ("M017", body("mass: 1, inertia: 5")),
        ("M018", "fourbar: 2\nbodies: {a: {mass: 1, inertia: 0}}\n".into()),
        ("M020", body("mass: 1 +, inertia: 0")),
        ("M021", body("mass: 2*q, inertia: 0")),
        ("M021", body("mass: 2*t, inertia: 0")),
        ("M022", body("mass: sine(1), inertia: 0")),
        ("M023", with("drives: {d: {joint: j, angle: sin()}}")),
        ("M024", format!("parameters: {{z: 1 - 1}}\n{}", body("mass: 1/z, inertia: 0"))),
        ("M025", body("mass: .nan, inertia: 0")),
        ("M025", body("mass: -.inf, inertia: 0")),
        ("M025", body("mass: inf, inertia: 0")),
        ("M025", body("mass: 1e999, inertia: 0")),
        ("M025", body("mass: sqrt(-1), inertia: 0")),
        ("M030", body("mass: 3 stone, inertia: 0")),
        ("M031", body("mass: 40 mm, inertia: 0")),
        ("M031", with("drives: {d: {joint: j, angle: 3 kg*t}}").replace("3 kg*t", "3 kg")),
        ("M032", body("mass: 1 kg + 2 s, inertia: 0")),
        ("M033", format!("parameters: {{a: 2*b, b: c, c: a + 1}}\n{}", body("mass: a, inertia: 0"))),
        ("M040", body(&format!("{mass}, shape: [{{type: mesh, file: ../secret.stl}}]"))),
        ("M040", body(&format!("{mass}, shape: [{{type: mesh, file: /etc/passwd}}]"))),
        ("M040", body(&format!("{mass}, shape: [{{type: mesh, file: 'c:\\secret.stl'}}]"))),
        ("M042", with("joints: {j: {type: spherical, bodies: [ground, a], frames: {a: {at: [0, 0, 0]}, x: {at: [0, 0, 0]}}}}")),
        ("M043", body("inertia: 0")),
        ("M044", body("mass: 1")),
        ("M045", body("solid: {type: sphere, radius: -1, density: 1}")),
    ] {
        assert_eq!(codes(&text), [code], "{text}");
    }
}

#[test]
fn several_errors_come_in_one_go() {
    let text = "fourbar: 1\nbodies:\n  a: {mass: 1 s, inertia: 0, colour: red}\n  b: {inertia: 0}\njoints:\n  j: {type: hinge, bodies: [a, b]}\n  k: {type: screw, bodies: [a, b], at: [0, 0], axis: [0, 0, 1], lead: 1/0}\n";
    assert_eq!(codes(text), ["M031", "M012", "M043", "M015", "M017", "M024"]);
}

#[test]
fn a_failed_parameter_is_reported_once() {
    let text = format!("parameters: {{a: 1 furlong, b: 2*a}}\n{}", body("mass: a, inertia: [b, b, b]"));
    assert_eq!(codes(&text), ["M030"]);
}

#[test]
fn nesting_is_limited() {
    let n = 1_000_000;
    assert_eq!(codes(&"[".repeat(n)), ["M005"]);
    assert_eq!(codes(&"{a: ".repeat(n)), ["M005"]);
    assert_eq!(codes(&format!("fourbar: 1\nbodies: {}", "[".repeat(n))), ["M005"]);
    assert_eq!(codes(&"- ".repeat(n)), ["M005"]);
    let block: String = (0..2000).map(|i| " ".repeat(i) + "a:\n").collect();
    assert_eq!(codes(&block), ["M005"]);
}

#[test]
fn expressions_are_limited() {
    let n = 200_000;
    assert_eq!(codes(&body(&format!("mass: {}1{}, inertia: 0", "(".repeat(n), ")".repeat(n)))), ["M026"]);
    assert_eq!(codes(&body(&format!("mass: {}1, inertia: 0", "1+".repeat(n)))), ["M027"]);
    assert_eq!(codes(&body(&format!("mass: {}, inertia: 0", "9".repeat(n)))), ["M025"]);
    assert_eq!(codes(&body(&format!("mass: {}, inertia: 0", "x".repeat(n)))), ["M021"]);
}

#[test]
fn aliases_cannot_explode() {
    let mut text = String::from("a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n");
    for i in 1..40 {
        let alias = format!("*a{}", i - 1);
        text += &format!("a{i}: &a{i} [{}]\n", vec![alias; 10].join(", "));
    }
    assert_eq!(codes(&text), ["M006"]);
    // Many anchors around one large list also copy it.
    let nested = format!("a: {}[{}]{}", (0..50).map(|i| format!("&n{i} [")).collect::<String>(), "1, ".repeat(100_000), "]".repeat(50));
    assert_eq!(codes(&nested), ["M006"]);
}

#[test]
fn size_is_limited() {
    let large = "x".repeat(50 * 1024 * 1024);
    assert_eq!(codes(&large), ["M003"]);
    let path = temporary("large").join("large.yaml");
    std::fs::File::create(&path).unwrap().set_len(50 * 1024 * 1024).unwrap();
    assert_eq!(file_codes(&path), ["M003"]);
    std::fs::remove_file(&path).unwrap();
    assert_eq!(codes(&format!("a: [{}]", "1,".repeat(8_000_000))), ["M007"]);
    assert_eq!(codes(&"a: 1\n".repeat(3_000_000)).last(), Some(&"M007"));
}

#[test]
fn files_that_are_no_text_are_refused() {
    let folder = temporary("binary");
    let write = |name: &str, bytes: &[u8]| {
        let path = folder.join(name);
        std::fs::write(&path, bytes).unwrap();
        path
    };
    assert_eq!(file_codes(&write("a.yaml", &[0, 159, 146, 150, 255])), ["M004"]);
    assert_eq!(file_codes(&write("b.yaml", b"\x7fELF\x02\x01\x01\0\0\0\0")), ["M004"]);
    assert_eq!(file_codes(&write("c.yaml", &[0xff, 0xfe, b'f', 0, b'o', 0])), ["M004"]);
    assert_eq!(file_codes(&write("empty.yaml", b"")), ["M002"]);
    assert_eq!(file_codes(&folder), ["M010"]);
    assert_eq!(file_codes(&folder.join("none.yaml")), ["M010"]);
    let marked = [b"\xef\xbb\xbf".as_slice(), starter().as_bytes()].concat();
    assert!(read_model_file(&write("marked.yaml", &marked), &[]).is_ok());
}

#[test]
fn meshes_stay_in_the_folder() {
    let folder = temporary("mesh");
    let inside = folder.join("model");
    std::fs::create_dir_all(inside.join("parts")).unwrap();
    std::fs::write(folder.join("secret.stl"), "x").unwrap();
    std::fs::write(inside.join("parts/part.stl"), "x").unwrap();
    let read = |file: &str| {
        let path = inside.join("model.yaml");
        std::fs::write(&path, body(&format!("mass: 1, inertia: 0, shape: [{{type: mesh, file: {file}}}]"))).unwrap();
        read_model_file(&path, &[])
    };
    assert!(read("parts/part.stl").is_ok());
    let code = |file: &str| read(file).unwrap_err().code().0;
    assert_eq!(code("parts/../parts/part.stl"), "M040");
    assert_eq!(code("missing.stl"), "M041");
    assert_eq!(code("parts"), "M041");
    #[cfg(unix)]
    {
        let link = inside.join("link.stl");
        let _ = std::fs::remove_file(&link);
        std::os::unix::fs::symlink(folder.join("secret.stl"), &link).unwrap();
        assert_eq!(code("link.stl"), "M040");
    }
}

#[test]
fn many_problems_are_cut_off() {
    let bodies: String = (0..100_000).map(|i| format!("  b{i}: {{masss: 1}}\n")).collect();
    let errors = errors(&format!("fourbar: 1\nbodies:\n{bodies}"));
    assert!(errors.len() <= 51, "{}", errors.len());
    assert_eq!(errors.last().unwrap().code.0, "M099");
}

#[test]
fn long_parameter_chains_are_computed() {
    let n = 100_000;
    let chain: String = (0..n).map(|i| format!("  p{i}: p{} + 1\n", i + 1)).collect();
    let text = format!("fourbar: 1\nparameters:\n{chain}  p{n}: 1\nbodies: {{a: {{mass: p0, inertia: 0}}}}\n");
    let loaded = read_model(&text, &ReadOptions::default()).unwrap();
    assert_eq!(loaded.spec.bodies[0].1.mass, n as f64 + 1.0);
    let circle = text.replace(&format!("p{n}: 1\n"), &format!("p{n}: p0\n"));
    assert_eq!(codes(&circle), ["M033"]);
}

/// A valid file that uses most of the format.
const RICH: &str = "
fourbar: 1
title: Everything at once
parameters: {L: 0.4 m, k: 2 kN/m, w: 2*pi, half: L/2}
gravity: [0, 0, -9.81]
bodies:
  a: &a {mass: 0.5 kg, inertia: [1e-3, 2e-3, 2e-3], at: [half, 0, 0], orientation: {quaternion: [1, 0, 0, 0]}}
  b: {<<: *a, at: [L + half, 0, 0], shape: [{type: box, size: [L, 10 mm, 10 mm]}]}
  c:
    solid:
      - {type: cylinder, from: [0, 0, 0], to: [0, 0, L], radius: 1 cm, density: 7.85 g/cm^3}
      - {type: sphere, at: [0, 0, L], radius: 2 cm, density: 1000}
    at: [2*L, 0, 0]
    orientation: {zxz: [0, 0, 90 deg]}
joints:
  pin: {type: revolute, bodies: [ground, a], at: [0, 0, 0], axis: [0, 1, 0]}
  knee: {type: revolute, bodies: [a, b], frames: {a: {at: [half, 0, 0], axis: [0, 1, 0]}, b: {at: [-half, 0, 0], axis: [0, 1, 0]}}}
  slide: {type: prismatic, bodies: [ground, c], at: [2*L, 0, 0], axis: [1, 0, 0]}
  cog: {type: gear, joints: [pin, knee], ratio: -2}
  rod: {type: distance, from: {body: b}, to: {body: c, at: [0, 0, L]}}
constraints:
  lift: {type: cd, axis: [0, 0, 1], from: {body: ground}, to: {body: c}, value: '0.01*smoothstep(t, 0, 1)'}
drives:
  motor: {joint: pin, angle: 'if(t < 1, w*t^2/2, w*(t - 0.5))'}
forces:
  s: {type: spring, between: [{body: b}, {body: ground, at: [0, 0, 1]}], stiffness: k, length: L, damping: 3}
  n: {type: spring, between: [{body: a}, {body: c}], tension: 10*length^2 + 2*rate}
  f: {type: force, on: {body: c, world: [2*L, 0, 0]}, force: [-3*tip.vx, 0, 10 N*sin(w*t)]}
  q: {type: torsion, joint: knee, stiffness: 5 N*m/rad, damping: 0.1}
  m: {type: actuator, joint: slide, effort: -20*slide.distance - 2*slide.speed}
points:
  tip: {body: b, at: [half, 0, 0]}
hold: [pin]
study: {analysis: dynamics, t_end: 2, output_step: 5 ms, options: {rho: 0.8}}
view: {trace: [tip]}
";

#[test]
fn random_mutations_never_panic() {
    let mut seed = 0x9e37_79b9_7f4a_7c15u64;
    let mut random = move |n: usize| {
        seed ^= seed << 13;
        seed ^= seed >> 7;
        seed ^= seed << 17;
        (seed % n as u64) as usize
    };
    let pieces = [
        "{", "}", "[", "]", ":", " ", "\n", "-", "*", "&a", "'", "\"", "1e9", "mm", "(", ")", ",", "#", "t", "é", "\t", "|", ">", "%", "!",
        "?", "\u{feff}", "/0", "nan", "\r",
    ];
    let good: [Vec<char>; 2] = [starter().chars().collect(), RICH.chars().collect()];
    assert!(read_model(RICH, &ReadOptions::default()).is_ok());
    let (mut accepted, mut refused) = (0, 0);
    for round in 0..4000 {
        let mut text = good[round % 2].clone();
        for _ in 0..1 + random(4) {
            let at = random(text.len());
            match random(4) {
                0 => drop(text.drain(at..(at + 1 + random(20)).min(text.len()))),
                1 => drop(text.splice(at..at, pieces[random(pieces.len())].chars())),
                2 => {
                    let from = random(text.len());
                    let piece: Vec<char> = text[from..(from + random(60)).min(text.len())].to_vec();
                    drop(text.splice(at..at, piece));
                }
                _ => text.truncate(at.max(1)),
            }
            if text.is_empty() {
                text.push('x');
            }
        }
        let text: String = text.into_iter().collect();
        match read_model(&text, &ReadOptions::default()) {
            Ok(loaded) => {
                accepted += 1;
                // Accepted files must also be built, or rejected with a location.
                if let Err(errors) = loaded.spec.build() {
                    let located: Vec<_> = errors.iter().map(|d| loaded.places.locate(d)).collect();
                    let _ = render(&located, "mutated.yaml", false);
                }
            }
            Err(errors) => {
                refused += 1;
                let painted = render(&errors, "mutated.yaml", false);
                assert!(!errors.is_empty() && painted.contains("error["));
            }
        }
    }
    // Both outcomes must occur for the test to be meaningful.
    assert!(accepted > 100 && refused > 1000, "{accepted} {refused}");
}
