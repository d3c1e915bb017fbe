//! The engine for comparison with a unit: reads lines `TIME [INPUT=VALUE ...]`, advances a simulation of a shipped model or file to each
//! time, and prints all columns exactly. Inputs of a line are set before the step to its time. Used by the Python tests.

use fourbar::simulation::Simulation;
use fourbar::study::Study;
use fourbar::trajectory::{Recorder, WantedColumns, columns};
use std::error::Error;
use std::io::{BufRead, Write};
use std::sync::Arc;

fn main() -> Result<(), Box<dyn Error>> {
    let name = std::env::args().nth(1).ok_or("usage: points FILE < points")?;
    let model = Arc::new(fourbar_io::load(&name)?);
    let mut simulation = Simulation::new(&model, &Study::of(&model))?;
    let mut recorder = Recorder::new(simulation.model(), WantedColumns::ALL);
    let mut out = std::io::BufWriter::new(std::io::stdout().lock());
    writeln!(out, "{}", columns(&model).iter().map(|c| c.name.as_str()).collect::<Vec<_>>().join(","))?;
    for line in std::io::stdin().lock().lines() {
        let line = line?;
        let mut words = line.split_whitespace();
        let t: f64 = words.next().ok_or("a line without a time")?.parse()?;
        for word in words {
            let (input, value) = word.split_once('=').ok_or("write INPUT=VALUE")?;
            let id = simulation.input(input)?;
            simulation.set_input(id, value.parse()?)?;
        }
        if t > simulation.t() {
            simulation.advance(t)?;
        }
        let mut row = Vec::new();
        recorder.row(simulation.model(), simulation.instant(), &mut row);
        writeln!(out, "{}", row.iter().map(|x| format!("{x:e}")).collect::<Vec<_>>().join(","))?;
    }
    Ok(())
}
