//! A mechanism as a unit of co-simulation: variables by number, steps, saved states.

use fourbar::model::Model;
use fourbar::simulation::Simulation;
use fourbar::study::Study;
use fourbar::trajectory::{Recorder, WantedColumns, columns};
use fourbar_io::{Loaded, ReadOptions, read_model};
use serde_json::json;
use std::sync::Arc;

/// What a variable is.
#[derive(Clone, Debug, PartialEq)]
pub enum Variable {
    /// Time, s.
    Time,
    /// A parameter of the file with its value in SI units; set before the start.
    Parameter(String, f64),
    /// An input: name, unit, value at the start.
    Input(String, String, f64),
    /// A column of the results: name, unit, and its number.
    Output(String, String, usize),
}

/// The variables of a mechanism in the order of their value references, from zero: time, parameters, inputs, outputs.
pub fn variables(loaded: &Loaded, model: &Model) -> Vec<Variable> {
    let mut list = vec![Variable::Time];
    list.extend(loaded.parameters.iter().map(|(name, x)| Variable::Parameter(name.clone(), *x)));
    list.extend(model.inputs.iter().map(|i| Variable::Input(i.name.clone(), i.unit.to_string(), i.default)));
    let inputs: Vec<&str> = model.inputs.iter().map(|i| i.name.as_str()).collect();
    let outputs = columns(model).into_iter().enumerate().skip(1).filter(|(_, c)| !inputs.contains(&c.name.as_str()));
    list.extend(outputs.map(|(k, c)| Variable::Output(c.name, c.unit.to_string(), k)));
    list
}

/// A mechanism that is moved from outside.
pub struct Unit {
    text: String,
    variables: Vec<Variable>,
    /// Parameters that were given another value.
    set: Vec<(String, String)>,
    /// Values of inputs, by value reference.
    inputs: Vec<(usize, f64)>,
    running: Option<(Simulation, Recorder)>,
    row: Vec<f64>,
}

impl Unit {
    /// From the text of a mechanism file.
    pub fn new(text: String) -> Result<Self, String> {
        let mut unit = Self { text, variables: Vec::new(), set: Vec::new(), inputs: Vec::new(), running: None, row: Vec::new() };
        let (loaded, model) = unit.read()?;
        unit.variables = variables(&loaded, &model);
        unit.reset();
        Ok(unit)
    }

    fn read(&self) -> Result<(Loaded, Model), String> {
        let loaded =
            read_model(&self.text, &ReadOptions { set: &self.set, large: true, ..ReadOptions::default() }).map_err(|e| e.to_string())?;
        let model = loaded.spec.build().map_err(|e| e.to_string())?;
        Ok((loaded, model))
    }

    /// Back to the state before the start.
    pub fn reset(&mut self) {
        self.running = None;
        self.row.clear();
        self.set.clear();
        self.inputs = Vec::new();
        for (k, v) in self.variables.iter().enumerate() {
            if let Variable::Input(_, _, x) = v {
                self.inputs.push((k, *x));
            }
        }
    }

    /// Assembles the mechanism and computes the first instant.
    pub fn start(&mut self) -> Result<(), String> {
        let (_, model) = self.read()?;
        let model = Arc::new(model);
        let study = Study::of(&model);
        let mut simulation = Simulation::new(&model, &study).map_err(|d| d.to_string())?;
        for (k, x) in &self.inputs {
            let Some(Variable::Input(name, ..)) = self.variables.get(*k) else { continue };
            let id = simulation.input(name).map_err(|d| d.to_string())?;
            simulation.set_input(id, *x).map_err(|d| d.to_string())?;
        }
        let recorder = Recorder::new(simulation.model(), WantedColumns::ALL);
        self.running = Some((simulation, recorder));
        self.look();
        Ok(())
    }

    /// Takes the columns of the present.
    fn look(&mut self) {
        if let Some((simulation, recorder)) = &mut self.running {
            self.row.clear();
            let snapshot = simulation.snapshot();
            recorder.row(simulation.model(), snapshot.instant(), &mut self.row);
        }
    }

    /// Time at present, s.
    pub fn t(&self) -> f64 {
        self.running.as_ref().map_or(0.0, |(s, _)| s.t())
    }

    /// Moves on to a time.
    pub fn step(&mut self, t: f64) -> Result<(), String> {
        let (simulation, _) = self.running.as_mut().ok_or("the unit was not started")?;
        simulation.advance(t).map_err(|d| d.to_string())?;
        self.look();
        Ok(())
    }

    /// The value of a variable.
    pub fn get(&self, reference: usize) -> Result<f64, String> {
        match self.variables.get(reference) {
            Some(Variable::Time) => Ok(self.t()),
            Some(Variable::Parameter(name, x)) => {
                let set = self.set.iter().rev().find(|(n, _)| n == name).and_then(|(_, x)| x.parse().ok());
                Ok(set.unwrap_or(*x))
            }
            Some(Variable::Input(..)) => Ok(self.inputs.iter().find(|(k, _)| *k == reference).map_or(0.0, |(_, x)| *x)),
            Some(Variable::Output(.., column)) => Ok(self.row.get(*column).copied().unwrap_or(0.0)),
            None => Err(format!("there is no variable with the value reference {reference}")),
        }
    }

    /// Sets a parameter before the start, or an input.
    pub fn set(&mut self, reference: usize, x: f64) -> Result<(), String> {
        match self.variables.get(reference) {
            Some(Variable::Parameter(name, _)) if self.running.is_none() => {
                let name = name.clone();
                self.set.retain(|(n, _)| *n != name);
                self.set.push((name, format!("{x:?}")));
                Ok(())
            }
            Some(Variable::Parameter(name, _)) => Err(format!("the parameter `{name}` is fixed after the start")),
            Some(Variable::Input(name, ..)) => {
                if let Some((simulation, _)) = &mut self.running {
                    let id = simulation.input(name).map_err(|d| d.to_string())?;
                    simulation.set_input(id, x).map_err(|d| d.to_string())?;
                }
                self.inputs.retain(|(k, _)| *k != reference);
                self.inputs.push((reference, x));
                Ok(())
            }
            Some(Variable::Time | Variable::Output(..)) => Err(format!("the variable with the value reference {reference} cannot be set")),
            None => Err(format!("there is no variable with the value reference {reference}")),
        }
    }

    /// The whole state as a text.
    pub fn save(&self) -> String {
        let running = self.running.as_ref().map(|(s, r)| json!({"simulation": s.save(), "quaternions": r.memory().as_flattened()}));
        json!({"set": self.set, "inputs": self.inputs, "running": running}).to_string()
    }

    /// Goes back to a state that [`Unit::save`] gave.
    pub fn restore(&mut self, saved: &str) -> Result<(), String> {
        let broken = |what: &str| format!("the saved state is broken: {what}");
        let state: serde_json::Value = serde_json::from_str(saved).map_err(|e| broken(&e.to_string()))?;
        let set: Vec<(String, String)> = serde_json::from_value(state["set"].clone()).map_err(|e| broken(&e.to_string()))?;
        let inputs: Vec<(usize, f64)> = serde_json::from_value(state["inputs"].clone()).map_err(|e| broken(&e.to_string()))?;
        let other = set != self.set;
        (self.set, self.inputs) = (set, inputs);
        let running = &state["running"];
        if running.is_null() {
            self.running = None;
            self.row.clear();
            return Ok(());
        }
        if self.running.is_none() || other {
            self.start()?;
        }
        let text = running["simulation"].as_str().ok_or_else(|| broken("no simulation"))?;
        let last: Vec<f64> = serde_json::from_value(running["quaternions"].clone()).map_err(|e| broken(&e.to_string()))?;
        if let Some((simulation, recorder)) = &mut self.running {
            simulation.restore(text).map_err(|d| d.to_string())?;
            recorder.restore_from(&last).ok_or_else(|| broken("other bodies"))?;
        }
        self.look();
        Ok(())
    }
}
