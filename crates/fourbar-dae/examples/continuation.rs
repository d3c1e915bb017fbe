//! Arc-length continuation: the solution curve of Bratu's problem u'' + mu exp(u) = 0, u(0) = u(1) = 0, followed around its fold. The
//! parameter is a variable like the others; time is the length of the curve.

use fourbar_dae::{Direction, Equations, Integrator, Options, Problem, Scalar, diff};
use std::sync::Arc;

/// Interior points of the mesh.
const N: usize = 31;

fn bratu<S: Scalar>(_s: S, x: &[S], eq: &mut Equations<S>) {
    let h = 1.0 / (N + 1) as f64;
    let mu = x[N];
    let at = |i: usize| if i == 0 || i == N + 1 { S::of(0.0) } else { x[i - 1] };
    for i in 1..=N {
        let bend = (at(i - 1) - at(i) * 2.0 + at(i + 1)) / (h * h);
        eq.equation(format!("point {i}"), bend + mu * at(i).exp());
    }
    // Unit speed along the curve, in the middle value and the parameter.
    eq.equation("arc length", diff(x[N / 2], 1).sqr() + diff(mu, 1).sqr() - 1.0);
    eq.event("fold", diff(mu, 1), Direction::Any);
}

fn main() -> Result<(), fourbar_dae::Error> {
    let mut names: Vec<String> = (1..=N).map(|i| format!("u{i}")).collect();
    names.push("mu".into());
    let problem = Arc::new(Problem::record(&names, bratu)?);
    println!("index {}, {} degree of freedom", problem.structure().index(), problem.structure().degrees_of_freedom());
    // From the trivial solution, towards growing parameters.
    let start = problem.start(0.0).hold("mu", 0, 0.0).guess("mu", 1, 1.0).solve()?;
    let mut run = Integrator::new(&problem, &start, Options::new(1e-10))?;
    run.run(8.0, |r| {
        for event in r.events() {
            let mu = r.at(event.t, N, 0).unwrap_or(f64::NAN);
            let middle = r.at(event.t, N / 2, 0).unwrap_or(f64::NAN);
            println!("fold at mu = {mu:.9}, u(1/2) = {middle:.9} (without discretisation 3.513830719, 1.186842169)");
        }
    })?;
    println!("beyond it: mu = {:.6}, u(1/2) = {:.6}", run.value("mu", 0)?, run.value(&names[N / 2], 0)?);
    println!("{} steps", run.work().steps);
    Ok(())
}
