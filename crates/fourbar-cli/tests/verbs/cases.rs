//! The cases: a verb, a hostile input file, and random options.

use crate::mutate;
use crate::random::Random;
use fourbar_io::examples::examples;
use fourbar_io::write_model;
use fourbar_testing::mechanism::{Recipe, mechanism};
use std::path::{Path, PathBuf};
use std::time::Duration;

const FORMULATIONS: &[&str] = &["auto", "ra", "rp", "reps", "so3xr3", "se3", "lie", "dca", "grcr", "natural"];
const INTEGRATORS: &[&str] = &[
    "gen-alpha",
    "radau",
    "bdf2",
    "backward-euler",
    "dopri5",
    "dop853",
    "rk4",
    "rkf45",
    "heun",
    "euler",
    "cg3",
    "cf4",
    "tableau",
    "taylor",
];
const OPTIONS: &[&str] = &[
    "rho=0.5",
    "rho=2",
    "index=2",
    "constraints=none",
    "constraints=baumgarte",
    "loops=cut",
    "tau=1e-3",
    "first-step=1e-4",
    "order=12",
    "alpha=1e4",
    "dependents=J1,J2",
    "coupling=rcr",
    "closed=velocities",
    "spaces=a:se3",
    "coordinates=file",
    "x=1",
];

/// The source material of cases.
pub struct Corpus {
    folder: PathBuf,
    /// Mechanism files.
    models: Vec<String>,
    /// A trajectory, its summary, and its mechanism.
    result: [String; 3],
    /// A stopped run: the mechanism file and the files of the folder.
    stopped: (PathBuf, Vec<(String, String)>),
}

/// A command line with its own files.
pub struct Case {
    pub verb: &'static str,
    pub words: Vec<String>,
    /// Folder of the results.
    pub out: PathBuf,
    /// The end of the run, if the command line gives it.
    pub t_end: Option<f64>,
}

fn text(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

impl Corpus {
    /// Small shipped models and random mechanisms; a finished run and a stopped one.
    pub fn new(folder: &Path) -> Self {
        let _ = std::fs::remove_dir_all(folder);
        std::fs::create_dir_all(folder).expect("a folder");
        let mut models: Vec<String> = examples().map(|e| e.text.to_string()).filter(|t| t.len() < 3_500).collect();
        models.extend((1..=30).map(|seed| write_model(&mechanism(&Recipe::of(seed), seed))));
        let path = |name: &str| folder.join(name).display().to_string();
        let done = fourbar_cli::exit_code_of(&["fourbar", "run", "fourbar", "--t-end", "0.05", "--out", &path("good")]);
        assert_eq!(done, 0, "the four-bar runs");
        let result = ["trajectory.csv", "summary.json", "model.yaml"].map(|n| text(&folder.join("good").join(n)));
        // Ctrl-C during a long run.
        let model = folder.join("pendulum.yaml");
        std::fs::write(&model, examples().find(|e| e.name == "ra_double_pendulum").expect("shipped").text).expect("writable");
        let interrupter = std::thread::spawn(|| {
            std::thread::sleep(Duration::from_millis(300));
            fourbar_cli::interrupt(true);
        });
        let words = ["fourbar", "run", &model.display().to_string(), "--t-end", "1e5", "--output-step", "0.01", "--out", &path("stopped")];
        let stopped = fourbar_cli::exit_code_of(&words);
        interrupter.join().expect("the thread ends");
        fourbar_cli::interrupt(false);
        assert_eq!(stopped, 130, "a run that is interrupted says so");
        let files = std::fs::read_dir(folder.join("stopped")).expect("the folder").flatten();
        // The trajectory may be long; its beginning is enough to be cut or rejected.
        let files = files.map(|e| (e.file_name().to_string_lossy().into_owned(), text(&e.path()))).collect();
        Self { folder: folder.into(), models, result, stopped: (model, files) }
    }

    /// Mostly slightly changed mechanisms, some with other numbers, some with other words.
    fn model(&self, r: &mut Random) -> String {
        match r.below(8) {
            0 => mutate::text(r, &self.models),
            1 => mutate::numbers(r, &self.models),
            2 => r.pick(&self.models).clone(),
            _ => (0..1 + r.below(3)).fold(r.pick(&self.models).clone(), |text, _| slightly(r, &text)),
        }
    }
}

/// Changes one of the numbers after the line with the version: to a value nearby, of opposite sign, or zero.
fn slightly(r: &mut Random, text: &str) -> String {
    let head = text.find("fourbar: 1").map_or(0, |at| at + 10);
    let bytes = text.as_bytes();
    let inside = |b: u8| b.is_ascii_alphanumeric() || b == b'.' || b == b'_';
    let starts: Vec<usize> = (head.max(1)..bytes.len()).filter(|&i| bytes[i].is_ascii_digit() && !inside(bytes[i - 1])).collect();
    if starts.is_empty() {
        return text.into();
    }
    let start = *r.pick(&starts);
    let end = bytes[start..].iter().position(|b| !(b.is_ascii_digit() || *b == b'.')).map_or(bytes.len(), |n| start + n);
    let Ok(old) = text[start..end].parse::<f64>() else { return text.into() };
    let new = match r.below(10) {
        0 => 0.0,
        1 => -old,
        2 => 10.0 * old,
        _ => old * (1.0 + 0.3 * r.number()),
    };
    format!("{}{new}{}", &text[..start], &text[end..])
}

/// A time with few digits.
fn time(r: &mut Random) -> f64 {
    let digits = 1 + r.below(4);
    let t = format!("{:.digits$}", 0.25 * (r.number() + 1.0)).parse().unwrap_or(0.1);
    if t > 0.0 { t } else { 0.1 }
}

impl Case {
    /// A case with one of several verbs, with newly written files.
    pub fn draw(r: &mut Random, corpus: &Corpus, verbs: &[&'static str]) -> Self {
        let verb = *r.pick(verbs);
        let folder = corpus.folder.join("case");
        let _ = std::fs::remove_dir_all(&folder);
        std::fs::create_dir_all(&folder).expect("a folder");
        let write = |name: &str, text: &str| {
            std::fs::write(folder.join(name), text).expect("writable");
            folder.join(name).display().to_string()
        };
        let path = |name: &str| folder.join(name).display().to_string();
        let mut words: Vec<String> = vec!["fourbar".into()];
        let mut t_end = None;
        match verb {
            "check" => words.extend(["check".into(), write("case.yaml", &corpus.model(r))]),
            "assemble" => words.extend(["assemble".into(), write("case.yaml", &corpus.model(r)), "-o".into(), path("start.json")]),
            "convert" => words.extend(["convert".into(), write("case.yaml", &corpus.model(r)), path("converted.yaml")]),
            "equilibrium" | "modes" | "linearize" => {
                words.extend([verb.into(), write("case.yaml", &corpus.model(r))]);
                analysis(r, verb, &mut words, &path);
            }
            "sweep" | "tolerance" | "optimize" => {
                words.extend([verb.into(), write("case.yaml", &corpus.model(r))]);
                study(r, verb, &mut words, &path);
            }
            "run" | "kinematics" => {
                words.extend([verb.into(), write("case.yaml", &corpus.model(r)), "--out".into(), path("out")]);
                t_end = Some(settings(r, &mut words));
            }
            "verify" => {
                words.extend(["verify".into(), write("case.yaml", &corpus.model(r)), "--patience".into(), "0.02".into()]);
                words.extend(["--t-end".into(), format!("{}", 0.1 * time(r)), "--threads".into(), "1".into()]);
                if r.chance(2) {
                    words.extend(["--formulations".into(), format!("{},{}", r.pick(&FORMULATIONS[1..]), r.pick(&FORMULATIONS[1..]))]);
                }
            }
            "view" => {
                words.extend(["view".into(), "--no-open".into(), "-o".into(), path("page.html")]);
                if r.chance(3) {
                    words.push(write("case.yaml", &corpus.model(r)));
                    settings(r, &mut words);
                } else {
                    for (name, text) in ["trajectory.csv", "summary.json", "model.yaml"].iter().zip(&corpus.result) {
                        write(name, &if r.chance(2) { text.clone() } else { mutate::text(r, std::slice::from_ref(text)) });
                    }
                    words.push(folder.display().to_string());
                }
            }
            "plot" => {
                let table = if r.chance(4) { corpus.result[0].clone() } else { mutate::text(r, &corpus.result[..1]) };
                words.extend(["plot".into(), write("table.csv", &table)]);
                for _ in 0..r.below(4) {
                    words.push((*r.pick(&["*", "P.x", "crank.*", "energy.total", "t", "error.*", "nothing", "\u{1b}[2J"])).into());
                }
                if r.chance(2) {
                    words.extend(["-o".into(), path(if r.chance(2) { "picture.svg" } else { "picture.png" })]);
                }
            }
            _ => {
                for (name, text) in &corpus.stopped.1 {
                    let hostile = name.contains("checkpoint") || r.chance(6);
                    write(name, &if hostile && !r.chance(8) { mutate::text(r, std::slice::from_ref(text)) } else { text.clone() });
                }
                words.extend(["run".into(), corpus.stopped.0.display().to_string(), "--resume".into(), folder.display().to_string()]);
                if r.chance(2) {
                    // Mostly a little after the checkpoint, sometimes before it.
                    let saved = corpus.stopped.1.iter().find(|(name, _)| name.contains("checkpoint"));
                    let saved =
                        saved.and_then(|(_, text)| serde_json::from_str::<serde_json::Value>(text).ok()?["t"].as_f64()).unwrap_or(0.0);
                    words.extend(["--t-end".into(), format!("{}", if r.chance(6) { 0.5 * saved } else { saved + time(r) })]);
                }
            }
        }
        if r.chance(6) {
            words.push("--json".into());
        }
        Self { verb, words, out: folder.join("out"), t_end }
    }
}

/// Random options of an analysis.
fn analysis(r: &mut Random, verb: &str, words: &mut Vec<String>, path: &dyn Fn(&str) -> String) {
    const RESTS: &[&str] = &["", "--kind any", "--kind stable", "--all --starts 3", "--along m=0..2", "--along L=0.1..0.3"];
    const STATES: &[&str] = &["", "--about start", "--about equilibrium", "--frozen", "--about start --frozen"];
    let t = time(r);
    let mut text = r.pick(if verb == "equilibrium" { RESTS } else { STATES }).to_string();
    match verb {
        "equilibrium" if r.chance(3) => text += &format!(" --at {t}"),
        "modes" if r.chance(5) => text = format!("--about {t}"),
        _ => {}
    }
    match verb {
        "equilibrium" if r.chance(4) && !text.contains("--all") => text += &format!(" -o {}", path("settled.yaml")),
        "modes" if r.chance(5) => text += " --against m=1..2 --points 3",
        "modes" if r.chance(5) => text += &format!(" -o {} --count 3", path("modes.html")),
        "linearize" if r.chance(3) => text += &format!(" --out {} --format {}", path("linear"), r.pick(&["json", "csv", "npz", "mat"])),
        _ => {}
    }
    words.extend(text.split_whitespace().map(String::from));
}

/// Random options of a study of many cases.
fn study(r: &mut Random, verb: &str, words: &mut Vec<String>, path: &dyn Fn(&str) -> String) {
    const MEASURES: &[&str] = &[
        "x=last(energy.total)",
        "x=range(energy.kinetic)",
        "x=max(abs(error.position))",
        "x=first(t,energy.kinetic>1)",
        "x=1/0",
        "x=rms(q",
    ];
    const SWEEPS: &[&str] = &["m=1..2:3", "L=0.1..0.3:2", "m=1,-2,0", "L=1e-9..1e9:4:log", "m=1..2", "t=1..2:2", "m=1..2kg:2"];
    const TOLERANCES: &[&str] = &["m=0.1", "L=uniform:0.2", "L=IT7", "m=sigma:1e9", "pin=clearance:1mm", "A=clearance:1um", "m=-1"];
    const BOUNDS: &[&str] = &["m=1..2", "L=0.1..0.3", "m=-5..5", "L=2..1", "m=1e-300..1e300"];
    let mut add = |text: &str| words.extend(text.split_whitespace().map(String::from));
    add(&format!("--t-end {} --threads {}", 0.2 * time(r), 1 + r.below(3)));
    let measure = *r.pick(MEASURES);
    match verb {
        "sweep" => {
            add(&format!("--vary {} --measure {measure}", r.pick(SWEEPS)));
            add(r.pick::<&str>(&["", "--sobol 3", "--lhs 2 --seed 7", "--vary L=0.2,0.3"]));
            if r.chance(2) {
                add(&format!("--out {}", path("sweep")));
                add(r.pick::<&str>(&["", "--trajectories *", "--shard 2/3", "--force"]));
            }
        }
        "tolerance" => {
            add(&format!("--tolerance {} --measure {measure} --samples {}", r.pick(TOLERANCES), r.below(5)));
            add(r.pick::<&str>(&["", "--keep last(energy.total)>0", "--keep 1", "--tolerance L=0.01"]));
        }
        _ => {
            let expression = measure.trim_start_matches("x=");
            let goal = r.pick(&["--minimize", "--maximize", "--fit"]);
            add(&format!(
                "--vary {} {goal} {} --evaluations {} --starts {}",
                r.pick(BOUNDS),
                if *goal == "--fit" { measure } else { expression },
                4 + r.below(20),
                1 + r.below(2)
            ));
            add(r.pick::<&str>(&["", "--keep last(energy.total)<1", "--method cma", "--method least-squares"]));
        }
    }
}

/// Random settings of a run; returns its end.
fn settings(r: &mut Random, words: &mut Vec<String>) -> f64 {
    let t_end = time(r);
    let mut add = |key: &str, value: String| words.extend([key.into(), value]);
    add("--t-end", format!("{t_end}"));
    if r.chance(2) {
        add("--output-step", format!("{}", (0.3 * time(r)).max(1e-3)));
    }
    add("--formulation", (*r.pick(FORMULATIONS)).into());
    if r.chance(6) {
        add("--integrator", (*r.pick(INTEGRATORS)).into());
    }
    if r.chance(3) {
        add("--tol", format!("1e-{}", 3 + r.below(9)));
    }
    if r.chance(6) {
        add("--step", format!("1e-{}", 2 + r.below(3)));
    }
    if r.chance(8) {
        add("--option", (*r.pick(OPTIONS)).into());
    }
    t_end
}
