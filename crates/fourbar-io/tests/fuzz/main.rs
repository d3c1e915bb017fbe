//! Hostile input: files, MechSpec files, expressions and starts from seeded generators and from mutations of a stored corpus.
//!
//! Every input ends with a mechanism or with diagnostics: no panic, no hang, no disproportionate memory. A fixed number of cases runs with
//! the tests; `cargo xtask fuzz` runs more, with other seeds. A failing case is saved and reported with its seed. `harness.rs` applies the
//! same generators and checks to fuzzers that choose bytes.

mod generate;
mod harness;
mod large;
mod memory;
mod mutate;
mod random;

use fourbar::analysis::assembly::assemble;
use fourbar::expr::{Expr, Symbol};
use fourbar::spec::ModelSpec;
use fourbar_io::examples::examples;
use fourbar_io::{ReadOptions, read_model, render, write_mechspec, write_model};
use random::Random;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::Duration;

/// Number of cases of a test, unless set by `FOURBAR_FUZZ_CASES`.
const CASES: u64 = 400;
/// A case longer than this is considered hanging; valid ones end in milliseconds.
const PATIENCE: Duration = Duration::from_secs(60);
/// Largest memory of one case, in bytes: far above the need of files of some kilobytes.
const MEMORY: usize = 256 << 20;
/// Largest number of bodies for which a start is assembled.
const ASSEMBLED: usize = 12;

/// Texts of the corpus: the shipped models, MechSpec files, and cases that failed once.
fn corpus() -> Vec<String> {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    let mut list: Vec<String> = examples().map(|e| e.text.to_string()).filter(|t| t.len() < 20_000).collect();
    for folder in ["../../models/mechspec", "tests/data/fuzz"] {
        let mut files: Vec<PathBuf> = std::fs::read_dir(root.join(folder)).expect(folder).filter_map(|e| Some(e.ok()?.path())).collect();
        files.sort();
        list.extend(files.iter().filter_map(|p| std::fs::read_to_string(p).ok()));
    }
    list
}

fn setting(name: &str, default: u64) -> u64 {
    std::env::var(name).ok().and_then(|x| x.parse().ok()).unwrap_or(default)
}

/// A thread that runs cases one after the other.
struct Worker {
    cases: Sender<String>,
    results: Receiver<Result<(usize, Depth), String>>,
}

impl Worker {
    fn new(check: fn(&str) -> Depth) -> Self {
        let (cases, cases_to_do) = channel::<String>();
        let (send_result, results) = channel();
        let work = move || {
            for text in cases_to_do {
                memory::start();
                let outcome = catch_unwind(AssertUnwindSafe(|| check(&text)));
                let said = outcome.map(|depth| (memory::peak(), depth)).map_err(|p| {
                    let text = p.downcast_ref::<String>().cloned();
                    text.or_else(|| p.downcast_ref::<&str>().map(|s| s.to_string())).unwrap_or_else(|| "a panic".into())
                });
                if send_result.send(said).is_err() {
                    return;
                }
            }
        };
        // Excessive recursion overflows a small stack first.
        std::thread::Builder::new().stack_size(2 << 20).spawn(work).expect("a thread");
        Self { cases, results }
    }

    /// The depth reached by a case, or its failure: a panic, a hang or excessive memory.
    fn one(&self, text: &str) -> Result<Depth, String> {
        self.cases.send(text.to_string()).map_err(|_| "ended the thread".to_string())?;
        match self.results.recv_timeout(PATIENCE) {
            Ok(Ok((peak, depth))) if peak <= MEMORY => Ok(depth),
            Ok(Ok((peak, _))) => Err(format!("took {} MB", peak >> 20)),
            Ok(Err(panic)) => Err(format!("panicked: {panic}")),
            Err(RecvTimeoutError::Timeout) => Err("hangs".into()),
            Err(RecvTimeoutError::Disconnected) => Err("ended the thread".into()),
        }
    }
}

/// Saves and reports a failing case.
fn fail(name: &str, text: &str, problem: &str) -> ! {
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("fuzz-{name}.yaml"));
    std::fs::write(&path, text).expect("the failing case");
    panic!("{name}: {problem}\nsaved as {}", path.display());
}

/// Runs cases one after the other; a failing case is saved and reported with its seed.
///
/// The checks return the depth reached by a case. Of `rare` cases at least one must reach the end, so that later checks are tested.
fn run(name: &str, mut make: impl FnMut(&mut Random) -> String, check: fn(&str) -> Depth, rare: u64) {
    let (cases, first) = (setting("FOURBAR_FUZZ_CASES", CASES), setting("FOURBAR_FUZZ_SEED", 1));
    let worker = Worker::new(check);
    let mut depths = [0u64; 4];
    for k in 0..cases {
        let seed = first.wrapping_mul(1_000_003).wrapping_add(k);
        let text = make(&mut Random::new(seed));
        match worker.one(&text) {
            Ok(depth) => depths[depth as usize] += 1,
            Err(problem) => fail(&format!("{name}-{seed}"), &text, &problem),
        }
    }
    println!("{name}: {cases} cases, {depths:?} got to reading, building, assembling, the end");
    assert!(depths[3] * rare >= cases, "{name}: only {} of {cases} cases got to the end", depths[3]);
}

/// Depth reached by a case.
#[derive(Clone, Copy)]
enum Depth {
    /// Rejected by the reader, or by the parser.
    Text,
    /// Rejected by the engine.
    Mechanism,
    /// Cannot be assembled, or is too large to be assembled.
    Start,
    /// Valid.
    End,
}

/// Processes a text as far as possible: diagnostics are painted, mechanisms are written, read back and assembled.
fn read(text: &str) -> Depth {
    match read_model(text, &ReadOptions::default()) {
        Err(errors) => {
            assert!(!errors.is_empty() && render(&errors, "case.yaml", true).len() < 200_000);
            Depth::Text
        }
        Ok(loaded) => {
            let built = loaded.spec.build();
            if let Err(errors) = &built {
                let placed: Vec<_> = errors.iter().take(100).map(|d| loaded.places.locate(d)).collect();
                assert!(!render(&placed, "case.yaml", false).is_empty());
                return Depth::Mechanism;
            }
            converts(&loaded.spec);
            start(&loaded.spec)
        }
    }
}

/// A valid mechanism can be written and read back unchanged, and in the other format unless it is rejected.
fn converts(spec: &ModelSpec) {
    let text = write_model(spec);
    let again = read_model(&text, &ReadOptions::default()).unwrap_or_else(|e| panic!("{e:#?}\n{text}"));
    // The other format has no choice of coordinates among points, unlike MechSpec.
    let said = ModelSpec { basis: Vec::new(), ..spec.clone() };
    assert!(again.spec == said, "another mechanism after writing and reading:\n{text}");
    if let Err(list) = write_mechspec(spec) {
        assert!(!list.is_empty());
    }
}

/// Assembly ends with a finite start or with a diagnostic.
fn start(spec: &ModelSpec) -> Depth {
    let Ok(model) = spec.build() else { return Depth::Mechanism };
    if model.bodies.len() > ASSEMBLED {
        return Depth::Start;
    }
    match assemble(&model) {
        Ok(a) => {
            let finite = a.configuration.q.iter().all(|q| q.r.iter().chain(q.A.iter()).all(|x| x.is_finite()));
            assert!(finite, "a start that is not finite");
            Depth::End
        }
        Err(d) => {
            assert!(!d.message.is_empty());
            Depth::Start
        }
    }
}

fn expression(text: &str) -> Depth {
    let names = ["t", "x", "tip.vx", "length"];
    let mut resolve = |n: &str| match names.iter().position(|k| *k == n) {
        Some(k) => Some(Symbol::Variable(k as u32)),
        None if n == "L1" => Some(Symbol::Value(2.5)),
        None => None,
    };
    let Ok(e) = Expr::parse(text, &mut resolve) else { return Depth::Text };
    e.eval(&[0.5, -1.0, 0.0, 1e9]);
    e.time_derivatives(0.25);
    let written = e.to_text(|k| names[k as usize].to_string());
    // Parentheses may take the text beyond the limits of the parser; otherwise it must be accepted.
    if let Ok(again) = Expr::parse(&written, &mut resolve) {
        assert_eq!(again, e, "{written}");
    } else {
        assert!(written.len() > 5_000 || written.matches('(').count() > 40, "{written}");
    }
    Depth::End
}

#[test]
fn mutated_files_are_read_or_refused() {
    let corpus = corpus();
    run("mutated", |r| mutate::text(r, &corpus), read, 20);
}

/// Small robots and assemblies in formats of other programs, with all features.
#[test]
fn mutated_robots_are_read_or_refused() {
    let corpus: Vec<String> = [
        "<mujoco><compiler angle='radian'/><default><default class='c'><joint damping='1'/></default></default><worldbody><body name='a' childclass='c' euler='1 2 3'><joint name='j' range='0 1' ref='0.3'/><geom type='capsule' fromto='0 0 0 1 0 0' size='0.1'/><body name='b' pos='1 0 0'><joint type='ball' name='k'/><geom type='box' size='1 1 1'/><site name='s' pos='0 0 1'/></body></body><body name='d' pos='2 0 0'><freejoint/><geom type='sphere' size='0.1'/></body></worldbody><equality><connect body1='b' body2='d' anchor='0 0 1'/></equality><actuator><position joint='j' kp='3' ctrlrange='-1 1'/><motor joint='j'/></actuator></mujoco>",
        "<robot name='r'><link name='a'/><link name='b'><inertial><origin xyz='0 0 1' rpy='0 1 0'/><mass value='1'/><inertia ixx='1' iyy='1' izz='1' ixy='0.1'/></inertial><visual><geometry><box size='1 1 1'/></geometry></visual></link><link name='c'><inertial><mass value='2'/><inertia ixx='1' iyy='1' izz='1'/></inertial></link><joint name='j' type='revolute'><origin xyz='1 0 0' rpy='0 0 1'/><parent link='a'/><child link='b'/><axis xyz='0 0 1'/><limit lower='-1' upper='1' effort='3' velocity='1'/><dynamics damping='0.1' friction='0.2'/></joint><joint name='k' type='prismatic'><parent link='b'/><child link='c'/><axis xyz='1 0 0'/><limit lower='0' upper='1' effort='3' velocity='1'/><mimic joint='j' multiplier='2' offset='0.5'/></joint><transmission name='t'><type>x</type><joint name='j'/><actuator name='m'/></transmission></robot>",
        "<sdf version='1.7'><world name='w'><gravity>0 0 -9</gravity><model name='m'><pose>0 0 1 0 0 0</pose><link name='a'><pose>0 0 0 0 0 1</pose><inertial><mass>2</mass><inertia><ixx>1</ixx><iyy>1</iyy><izz>1</izz></inertia></inertial></link><link name='b'><pose relative_to='a'>1 0 0 0 0 0</pose></link><joint name='j' type='revolute'><parent>world</parent><child>a</child><axis><xyz>0 0 1</xyz><limit><lower>-1</lower><upper>1</upper></limit></axis></joint><joint name='k' type='ball'><parent>a</parent><child>b</child></joint></model></world></sdf>",
        "OndselSolver\nAssembly\n\tName\n\t\tS\n\tRefPoints\n\t\tRefPoint\n\t\t\tPosition3D\n\t\t\t\t0 0 0\n\t\t\tMarkers\n\t\t\t\tMarker\n\t\t\t\t\tName\n\t\t\t\t\t\tm0\n\tParts\n\t\tPart\n\t\t\tName\n\t\t\t\tcrank\n\t\t\tPrincipalMassMarker\n\t\t\t\tMass\n\t\t\t\t\t1.5\n\t\t\t\tMomentOfInertias\n\t\t\t\t\t0.1 0.2 0.2\n\t\t\tRefPoints\n\t\t\t\tRefPoint\n\t\t\t\t\tMarkers\n\t\t\t\t\t\tMarker\n\t\t\t\t\t\t\tName\n\t\t\t\t\t\t\t\tm0\n\tConstraintSets\n\t\tJoints\n\t\t\tRevoluteJoint\n\t\t\t\tName\n\t\t\t\t\tmain\n\t\t\t\tMarkerI\n\t\t\t\t\t/S/m0\n\t\t\t\tMarkerJ\n\t\t\t\t\t/S/crank/m0\n\t\tMotions\n\t\t\tRotationalMotion\n\t\t\t\tName\n\t\t\t\t\tmotor\n\t\t\t\tMotionJoint\n\t\t\t\t\t/S/main\n\t\t\t\tRotationZ\n\t\t\t\t\t2.0d*pi*time\n\t\tLimits\n\t\t\tRotationLimit\n\t\t\t\tMarkerI\n\t\t\t\t\t/S/m0\n\t\t\t\tMarkerJ\n\t\t\t\t\t/S/crank/m0\n\t\t\t\tLimit\n\t\t\t\t\t30.0*pi/180.0\n\t\t\t\tType\n\t\t\t\t\t=<\n",
    ]
    .map(String::from)
    .into();
    for text in &corpus {
        read_model(text, &ReadOptions::default()).unwrap_or_else(|e| panic!("{e}"));
    }
    run("robots", |r| mutate::text(r, &corpus), read, 50);
}

#[test]
fn generated_files_are_read_or_refused() {
    run("generated", generate::model, read, 60);
}

#[test]
fn generated_mechspecs_are_read_or_refused() {
    run("mechspec", generate::mechspec, read, 50);
}

#[test]
fn generated_and_mutated_expressions_are_parsed_or_refused() {
    run("expression", disturbed_expression, expression, 4);
}

fn disturbed_expression(r: &mut Random) -> String {
    let text = generate::expression(r, 5);
    if r.chance(2) { mutate::bytes(r, &text) } else { text }
}

/// Valid mechanisms with disturbed numbers: most cannot be closed, but every assembly must end.
#[test]
fn disturbed_starts_are_assembled_or_refused() {
    let corpus: Vec<String> = corpus().into_iter().filter(|t| t.len() < 4_000).collect();
    run("start", |r| mutate::numbers(r, &corpus), read, 4);
}
