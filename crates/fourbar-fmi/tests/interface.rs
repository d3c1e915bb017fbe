//! The functions of the standard, called as by an importer: the results are bit-identical to those of the engine.

mod common;

use common::{Importer, OnDisk, text_of};
use fourbar::simulation::Simulation;
use fourbar::study::Study;
use fourbar::trajectory::{Recorder, WantedColumns, columns};
use fourbar_fmi::border::*;
use fourbar_fmi::{Causality, description};
use fourbar_io::{ReadOptions, Variations, read_model};
use std::sync::Arc;

/// A simulation of the engine for comparison with a unit.
struct Beside {
    simulation: Simulation,
    recorder: Recorder,
}

impl Beside {
    fn new(name: &str, parameters: &[(&str, f64)]) -> Self {
        let loaded = read_model(text_of(name), &ReadOptions::default()).expect("a model");
        let file = Variations::new(&loaded, None, &[], false).expect("a model");
        let model = Arc::new(file.model(parameters).expect("a model"));
        let simulation = Simulation::new(&model, &Study::of(&model)).expect("it assembles");
        let recorder = Recorder::new(simulation.model(), WantedColumns::ALL);
        Self { simulation, recorder }
    }

    fn row(&mut self) -> Vec<f64> {
        let mut row = Vec::new();
        self.recorder.row(self.simulation.model(), self.simulation.instant(), &mut row);
        row
    }

    fn same(&mut self, unit: &OnDisk, one: &Importer) {
        let row = self.row();
        for (k, v) in unit.unit.variables.iter().enumerate() {
            if let Causality::Output(column) = v.causality {
                let x = one.get(k as u32);
                assert_eq!(x.to_bits(), row[column].to_bits(), "{} at {}: {x:e} and {:e}", v.name, row[0], row[column]);
            }
        }
    }
}

const H: f64 = 1.0 / 64.0;

#[test]
fn outputs_are_those_of_the_engine_to_the_bit() {
    for name in ["fourbar", "a04_bricard", "a05_flyball_governor", "dc_motor_slider_crank", "trebuchet", "bicycle"] {
        let unit = OnDisk::new(name);
        let one = Importer::begun(&unit);
        let mut beside = Beside::new(name, &[]);
        assert!(unit.unit.variables.len() > 20);
        beside.same(&unit, &one);
        for k in 0..24 {
            let t = f64::from(k) * H;
            assert_eq!(one.step(t, H), (Status::Ok, [false; 3], t + H), "{name}: {:?}", one.said());
            beside.simulation.advance(t + H).expect("it moves");
            beside.same(&unit, &one);
            assert_eq!(one.get(0), t + H);
        }
    }
}

#[test]
fn inputs_hold_from_step_to_step() {
    let unit = OnDisk::new("dc_motor_slider_crank");
    let one = Importer::begun(&unit);
    let mut beside = Beside::new("dc_motor_slider_crank", &[]);
    let voltage = unit.reference("voltage");
    let id = beside.simulation.input("voltage").expect("an input");
    assert_eq!(one.get(voltage), 12.0);
    for k in 0..32 {
        let (t, u) = (f64::from(k) * H, 10.0 * (0.7 * f64::from(k)).sin());
        assert_eq!(one.set(voltage, u), Status::Ok);
        beside.simulation.set_input(id, u).expect("allowed");
        assert_eq!(one.get(voltage), u);
        assert_eq!(one.step(t, H).0, Status::Ok);
        beside.simulation.advance(t + H).expect("it moves");
        beside.same(&unit, &one);
    }
    assert_eq!(one.set(voltage, 25.0), Status::Discard, "beyond the range");
    assert_eq!(one.set(voltage, f64::NAN), Status::Discard);
    assert!(one.get(voltage).abs() <= 10.0);
    assert!(
        one.said().iter().any(|(s, c, m)| *s == Status::Discard && c == "logStatusDiscard" && m.contains("U320") && m.contains("voltage"))
    );
    assert_eq!(one.step(0.5, H).0, Status::Ok, "nothing is lost");
}

#[test]
fn parameters_and_inputs_of_the_start_make_another_mechanism() {
    let unit = OnDisk::new("dc_motor_slider_crank");
    let one = Importer::new(&unit, false);
    let length = unit.reference("crank_length");
    let follows = unit.reference("Ax");
    assert_eq!(one.set(length, 0.05), Status::Ok);
    assert_eq!(fmi3EnterInitializationMode(one.c, false, 0.0, 0.0, true, 1.0), Status::Ok);
    assert_eq!(one.set(unit.reference("voltage"), 24.0), Status::Ok);
    assert_eq!(one.set(unit.reference("inductance"), 0.004), Status::Ok);
    // Read in initialisation mode, then changed again.
    assert!((one.get(follows) - 0.05 * 0.5).abs() < 1e-15 || one.get(unit.reference("O.angle")).is_finite());
    assert_eq!(one.set(unit.reference("inductance"), 0.005), Status::Ok);
    assert_eq!(fmi3ExitInitializationMode(one.c), Status::Ok, "{:?}", one.said());
    assert!((one.get(follows) - 0.05 * 60f64.to_radians().cos()).abs() < 1e-15, "parameters follow others");
    assert_eq!(one.set(length, 0.06), Status::Discard, "too late");
    let mut beside = Beside::new("dc_motor_slider_crank", &[("crank_length", 0.05), ("inductance", 0.005)]);
    let id = beside.simulation.input("voltage").expect("an input");
    let model = Arc::clone(beside.simulation.model());
    let study = Study { inputs: vec![("voltage".into(), fourbar::inputs::Course::Value(24.0))], ..Study::of(&model) };
    beside.simulation = Simulation::new(&model, &study).expect("it assembles");
    assert_eq!(beside.simulation.input_value(id), 24.0);
    beside.same(&unit, &one);
    assert_eq!(one.step(0.0, 0.25).0, Status::Ok);
    beside.simulation.advance(0.25).expect("it moves");
    beside.same(&unit, &one);
}

#[test]
fn states_are_kept_restored_and_written_as_bytes() {
    for name in ["pid_pendulum", "dc_motor_slider_crank", "a04_bricard"] {
        let unit = OnDisk::new(name);
        let one = Importer::begun(&unit);
        let input = unit.unit.variables.iter().position(|v| matches!(v.causality, Causality::Input(_))).map(|k| k as u32);
        let change = |k: i32| {
            if let Some(r) = input {
                assert_eq!(one.set(r, 0.3 * f64::from(k % 5)), Status::Ok);
            }
        };
        let mut early = std::ptr::null_mut();
        assert_eq!(fmi3GetFMUState(one.c, &mut early), Status::Ok);
        for k in 0..8 {
            change(k);
            assert_eq!(one.step(f64::from(k) * H, H).0, Status::Ok);
        }
        let (mut kept, at) = (std::ptr::null_mut(), one.all(&unit));
        assert_eq!(fmi3GetFMUState(one.c, &mut kept), Status::Ok);
        let onwards = |from: i32| {
            (from..from + 8)
                .map(|k| {
                    change(k);
                    assert_eq!(one.step(f64::from(k) * H, H).0, Status::Ok, "{:?}", one.said());
                    one.all(&unit)
                })
                .collect::<Vec<_>>()
        };
        let first = onwards(8);
        // Restores the state and repeats the steps.
        assert_eq!(fmi3SetFMUState(one.c, kept), Status::Ok, "{:?}", one.said());
        assert_eq!(one.all(&unit), at);
        assert_eq!(onwards(8), first, "{name}");
        // Serialises the state and restores it in another instance.
        let mut size = 0;
        assert_eq!(fmi3SerializedFMUStateSize(one.c, kept, &mut size), Status::Ok);
        let mut bytes = vec![0u8; size];
        assert_eq!(fmi3SerializeFMUState(one.c, kept, bytes.as_mut_ptr(), size), Status::Ok);
        assert_eq!(fmi3SerializeFMUState(one.c, kept, bytes.as_mut_ptr(), size - 1), Status::Error, "too little room");
        let other = Importer::new(&unit, false);
        let mut read = std::ptr::null_mut();
        assert_eq!(fmi3DeserializeFMUState(other.c, bytes.as_ptr(), size, &mut read), Status::Ok);
        assert_eq!(fmi3SetFMUState(other.c, read), Status::Ok, "{:?}", other.said());
        assert_eq!(other.all(&unit), at);
        for k in 8..16 {
            if let Some(r) = input {
                assert_eq!(other.set(r, 0.3 * f64::from(k % 5)), Status::Ok);
            }
            assert_eq!(other.step(f64::from(k) * H, H).0, Status::Ok);
            assert_eq!(other.all(&unit), first[(k - 8) as usize], "{name} from bytes at {k}");
        }
        // The state before the first step can also be restored.
        assert_eq!(fmi3SetFMUState(other.c, early), Status::Ok);
        assert_eq!(other.get(0), 0.0);
        assert_eq!(other.step(0.0, H).0, Status::Ok);
        for (owner, state) in [(one.c, &mut early), (one.c, &mut kept), (other.c, &mut read)] {
            assert_eq!(fmi3FreeFMUState(owner, state), Status::Ok);
            assert!(state.is_null());
        }
        let mut none = std::ptr::null_mut();
        assert_eq!(fmi3DeserializeFMUState(other.c, bytes.as_ptr(), size / 2, &mut none), Status::Error, "cut bytes");
        assert!(none.is_null());
    }
}

#[test]
fn events_are_told_and_one_that_ends_the_motion_asks_to_terminate() {
    let unit = OnDisk::new("trebuchet");
    let one = Importer::new(&unit, true);
    one.begin();
    let (mut a, mut terminate, mut c, mut d, mut e, mut next) = (true, true, true, true, true, 0.0);
    assert_eq!(fmi3UpdateDiscreteStates(one.c, &mut a, &mut terminate, &mut c, &mut d, &mut e, &mut next), Status::Ok);
    assert!(!(a || terminate || c || d || e));
    assert_eq!(fmi3EnterStepMode(one.c), Status::Ok);
    let (mut k, mut with_events) = (0, 0);
    let ended = loop {
        let t = f64::from(k) * 0.0625;
        let (status, [events, terminate, early], last) = one.step(t, 0.0625);
        assert_eq!((status, early), (Status::Ok, false));
        with_events += i32::from(events);
        if terminate {
            break last;
        }
        if events {
            assert_eq!(fmi3EnterEventMode(one.c), Status::Ok);
            assert_eq!(fmi3UpdateDiscreteStates(one.c, &mut a, &mut terminate.clone(), &mut c, &mut d, &mut e, &mut next), Status::Ok);
            assert_eq!(fmi3EnterStepMode(one.c), Status::Ok);
        }
        k += 1;
        assert!(k < 200, "the ball lands");
    };
    let mut beside = Beside::new("trebuchet", &[]);
    beside.simulation.advance(20.0).expect("it moves");
    assert!(beside.simulation.ended() && (beside.simulation.t() - ended).abs() < 1e-8, "{ended}");
    assert!(with_events >= 2);
    for name in ["let-go", "landed"] {
        assert!(one.said().iter().any(|(_, c, m)| c == "logEvents" && m.starts_with(name)), "{name}: {:?}", one.said());
    }
    assert_eq!(fmi3Terminate(one.c), Status::Ok);
}

#[test]
fn a_later_start_shifts_the_time() {
    let unit = OnDisk::new("fourbar");
    let one = Importer::new(&unit, false);
    assert_eq!(fmi3EnterInitializationMode(one.c, false, 0.0, 16.0, false, 0.0), Status::Ok);
    assert_eq!(fmi3ExitInitializationMode(one.c), Status::Ok);
    assert_eq!(one.get(0), 16.0);
    assert_eq!(one.step(16.0, 0.25), (Status::Ok, [false; 3], 16.25));
    let mut beside = Beside::new("fourbar", &[]);
    beside.simulation.advance(0.25).expect("it moves");
    beside.same(&unit, &one);
}

#[test]
fn calls_out_of_order_are_errors_and_reset_leads_on() {
    let unit = OnDisk::new("pid_pendulum");
    let one = Importer::new(&unit, false);
    assert_eq!(one.step(0.0, H).0, Status::Error, "before initialization");
    assert_eq!(fmi3EnterInitializationMode(one.c, false, 0.0, 0.0, false, 0.0), Status::Error, "after an error");
    assert_eq!(fmi3Reset(one.c), Status::Ok);
    one.begin();
    assert_eq!(one.step(0.0, 0.5).0, Status::Ok);
    assert_eq!(one.step(0.25, H).0, Status::Error, "back in time");
    assert!(one.said().iter().any(|(s, _, m)| *s == Status::Error && m.contains("U505")));
    assert_eq!(fmi3Reset(one.c), Status::Ok);
    one.begin();
    assert_eq!(one.step(0.0, -H).0, Status::Error);
    assert_eq!(fmi3Reset(one.c), Status::Ok);
    one.begin();
    assert_eq!(one.set(unit.reference("O.angle"), 1.0), Status::Discard, "an output");
    assert_eq!(one.set(0, 1.0), Status::Discard, "the time");
    assert_eq!(one.set(99_999, 1.0), Status::Discard);
    let mut x = 0.0;
    assert_eq!(fmi3GetFloat64(one.c, &99_999, 1, &mut x, 1), Status::Discard);
    assert_eq!(fmi3GetFloat64(one.c, std::ptr::null(), 0, &mut x, 0), Status::Ok, "nothing asked for");
    assert_eq!(fmi3Terminate(one.c), Status::Ok);
    assert_eq!(one.step(0.0, H).0, Status::Error);
    assert_eq!(fmi3GetFloat64(std::ptr::null_mut(), &0, 1, &mut x, 1), Status::Error, "no instance");
    fmi3FreeInstance(std::ptr::null_mut());
    assert_eq!(fmi3GetFloat64(one.c, std::ptr::null(), 3, &mut x, 1), Status::Error, "a list is missing");
}

#[test]
fn what_does_not_belong_together_is_not_instantiated() {
    let unit = OnDisk::new("fourbar");
    let path = unit.folder.join("resources").display().to_string();
    let wrong = Importer::asked(&path, "another", false);
    assert!(wrong.c.is_null() && wrong.said()[0].2.contains("U502"));
    let nowhere = Importer::asked("/nowhere/at/all", &unit.unit.source.token, false);
    assert!(nowhere.c.is_null() && nowhere.said()[0].2.contains("U502"));
    std::fs::write(unit.folder.join("resources/model/model.yaml"), "fourbar: 1\nbodies: 7\n").expect("written");
    let broken = Importer::new(&unit, false);
    assert!(broken.c.is_null() && broken.said()[0].2.contains("[M"), "{:?}", broken.said());
}

#[test]
fn what_cannot_be_assembled_ends_initialization_with_its_diagnostic() {
    let unit = OnDisk::new("dc_motor_slider_crank");
    let one = Importer::new(&unit, false);
    assert_eq!(one.set(unit.reference("rod_length"), 0.01), Status::Ok);
    assert_eq!(fmi3EnterInitializationMode(one.c, false, 0.0, 0.0, false, 0.0), Status::Ok);
    assert_eq!(fmi3ExitInitializationMode(one.c), Status::Error);
    assert!(
        one.said().iter().any(|(s, _, m)| *s == Status::Error && m.starts_with("[") || m.contains("[M") || m.contains("[S")),
        "{:?}",
        one.said()
    );
    assert_eq!(fmi3Reset(one.c), Status::Ok);
    one.begin();
}

/// Calls in any order with any arguments return a status and never panic.
#[test]
fn random_calls_never_break_the_library() {
    let unit = OnDisk::new("pid_pendulum");
    let seed: u64 = 20_240_917;
    println!("seed {seed}");
    let mut x = seed;
    let mut draw = |n: u64| {
        x ^= x << 13;
        x ^= x >> 7;
        x ^= x << 17;
        x % n
    };
    for _ in 0..60 {
        let one = Importer::new(&unit, draw(2) == 0);
        let (mut t, mut state) = (0.0, std::ptr::null_mut());
        for _ in 0..40 {
            let value = [0.0, 1.0, -2.0, 0.5, 1e300, f64::NAN, f64::INFINITY, 1e-3][draw(8) as usize];
            let reference = draw(unit.unit.variables.len() as u64 + 2) as u32;
            let status = match draw(14) {
                0 | 1 => fmi3EnterInitializationMode(one.c, draw(4) == 0, value, 0.0, false, 0.0),
                2 | 3 => fmi3ExitInitializationMode(one.c),
                4 => fmi3EnterEventMode(one.c),
                5 => fmi3EnterStepMode(one.c),
                6 => fmi3Terminate(one.c),
                7 => {
                    t = 0.0;
                    fmi3Reset(one.c)
                }
                8 => fmi3GetFMUState(one.c, &mut state),
                9 => fmi3SetFMUState(one.c, state),
                10 => one.set(reference, value),
                11 => {
                    let mut y = 0.0;
                    fmi3GetFloat64(one.c, &reference, 1, &mut y, 1)
                }
                _ => {
                    let (status, _, last) = one.step(if draw(5) == 0 { value } else { t }, [H, 0.01, value][draw(3) as usize].min(0.1));
                    if status == Status::Ok {
                        t = last;
                    }
                    status
                }
            };
            assert_ne!(status, Status::Fatal, "seed {seed}: {:?}", one.said().last());
        }
        fmi3FreeFMUState(one.c, &mut state);
    }
}

#[test]
fn the_description_names_every_variable_once_with_its_unit() {
    let unit = OnDisk::new("dc_motor_slider_crank");
    let text = description(&unit.unit);
    for part in [
        "name=\"voltage\" valueReference=\"1\" causality=\"input\" variability=\"continuous\" unit=\"V\" min=\"-24.0\" max=\"24.0\" start=\"12.0\"",
        "name=\"crank_length\"",
        "<Unit name=\"V\"><BaseUnit kg=\"1\" m=\"2\" s=\"-3\" A=\"-1\"/></Unit>",
        "<Unit name=\"rad/s\"><BaseUnit s=\"-1\" rad=\"1\"/></Unit>",
        "stopTime=\"1.0\"",
        "stepSize=\"0.005\"",
        "canSerializeFMUState=\"true\"",
    ] {
        assert!(text.contains(part), "{part}\n{text}");
    }
    let mut names: Vec<&str> = unit.unit.variables.iter().map(|v| v.name.as_str()).collect();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), unit.unit.variables.len());
    let model = read_model(text_of("dc_motor_slider_crank"), &ReadOptions::default()).expect("a model").spec.build().expect("a model");
    // Time and the single input are separate variables.
    let outputs = unit.unit.variables.iter().filter(|v| matches!(v.causality, Causality::Output(_))).count();
    assert_eq!(outputs, columns(&model).len() - 2);
}
