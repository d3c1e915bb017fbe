//! A mechanism as a unit of co-simulation: parameters, inputs, steps, saved states, and its description.

use fourbar_fmi::{Unit, Variable, description, variables};
use fourbar_io::{ReadOptions, read_model};

/// A cart that an input pushes: `x = force / (2 mass) t^2`.
const CART: &str = "fourbar: 1\nparameters: {load: 2 kg}\ngravity: [0, 0, 0]\nbodies:\n  cart: {mass: load, inertia: [1, 1, 1]}\njoints:\n  rail: {type: prismatic, bodies: [ground, cart], at: [0, 0, 0], axis: [1, 0, 0]}\ninputs:\n  push: {unit: N, default: 0, range: [-10, 10]}\nforces:\n  motor: {type: actuator, joint: rail, effort: push}\n";

fn references() -> (usize, usize, usize) {
    let loaded = read_model(CART, &ReadOptions::default()).expect("a good file");
    let model = loaded.spec.build().expect("a good mechanism");
    let list = variables(&loaded, &model);
    let find = |test: &dyn Fn(&Variable) -> bool| list.iter().position(test).expect("there");
    (
        find(&|v| matches!(v, Variable::Parameter(n, _) if n == "load")),
        find(&|v| matches!(v, Variable::Input(n, ..) if n == "push")),
        find(&|v| matches!(v, Variable::Output(n, ..) if n == "rail.distance")),
    )
}

#[test]
fn an_input_pushes_the_mechanism_and_a_parameter_changes_it() {
    let (load, push, distance) = references();
    for mass in [2.0, 5.0] {
        let mut unit = Unit::new(CART.into()).expect("a unit");
        unit.set(load, mass).expect("before the start");
        unit.set(push, 3.0).expect("in its range");
        unit.start().expect("assembled");
        unit.step(0.5).expect("moves");
        assert!((unit.get(distance).expect("there") - 0.5 * 3.0 / mass * 0.25).abs() < 1e-9);
        assert_eq!(unit.get(0).expect("time"), 0.5);
        assert!(unit.set(load, 1.0).is_err(), "parameters are fixed after the start");
        assert!(unit.set(push, 11.0).is_err(), "out of its range");
        assert!(unit.set(distance, 0.0).is_err() && unit.get(10_000).is_err());
    }
}

#[test]
fn a_unit_goes_back_to_a_saved_state_and_repeats_itself() {
    let (_, push, distance) = references();
    let mut unit = Unit::new(CART.into()).expect("a unit");
    unit.set(push, 1.0).expect("in its range");
    unit.start().expect("assembled");
    unit.step(0.3).expect("moves");
    let saved = unit.save();
    unit.set(push, -2.0).expect("in its range");
    unit.step(0.8).expect("moves");
    let first = unit.get(distance).expect("there");
    unit.restore(&saved).expect("back");
    assert_eq!(unit.get(0).expect("time"), 0.3);
    assert_eq!(unit.get(push).expect("there"), 1.0);
    unit.set(push, -2.0).expect("in its range");
    unit.step(0.8).expect("moves");
    assert_eq!(unit.get(distance).expect("there"), first);
    // Into another unit, as bytes of a file.
    let mut other = Unit::new(CART.into()).expect("a unit");
    other.restore(&saved).expect("back");
    other.set(push, -2.0).expect("in its range");
    other.step(0.8).expect("moves");
    assert!((other.get(distance).expect("there") - first).abs() < 1e-12);
    assert!(other.restore("no state").is_err());
}

#[test]
fn the_description_lists_every_variable_once() {
    let loaded = read_model(CART, &ReadOptions::default()).expect("a good file");
    let model = loaded.spec.build().expect("a good mechanism");
    let text = description(&loaded, &model, "a <cart>");
    assert!(text.contains("modelName=\"a &lt;cart&gt;\""));
    let count = variables(&loaded, &model).len();
    assert_eq!(text.matches("<Float64 ").count(), count);
    for k in 0..count {
        assert!(text.contains(&format!("valueReference=\"{k}\"")));
    }
    assert!(text.contains("name=\"push\"") && text.contains("unit=\"N\""));
}
