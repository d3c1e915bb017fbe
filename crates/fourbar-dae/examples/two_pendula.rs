//! Two pendula, the length of the second driven by the tension of the first: index 5, solved as written.

use fourbar_dae::{Equations, Integrator, Options, Problem, Scalar, diff};
use std::sync::Arc;

fn pendula<S: Scalar>(_t: S, x: &[S], eq: &mut Equations<S>) {
    let (g, length, c) = (9.81, 1.0, 0.1);
    let (x1, y1, tension, x2, y2, mu) = (x[0], x[1], x[2], x[3], x[4], x[5]);
    eq.equation("first, horizontal", diff(x1, 2) + x1 * tension);
    eq.equation("first, vertical", diff(y1, 2) + y1 * tension - g);
    eq.equation("first, length", x1.sqr() + y1.sqr() - length * length);
    eq.equation("second, horizontal", diff(x2, 2) + x2 * mu);
    eq.equation("second, vertical", diff(y2, 2) + y2 * mu - g);
    eq.equation("second, length", x2.sqr() + y2.sqr() - (tension * c + length).sqr());
}

fn main() -> Result<(), fourbar_dae::Error> {
    let names = ["x1", "y1", "tension", "x2", "y2", "mu"];
    let problem = Arc::new(Problem::record(&names, pendula)?);
    println!("{}", problem.structure());
    // Four values are given; all others, up to third derivatives of x1 and y1, follow from them.
    let start = problem.start(0.0).hold("x1", 0, 1.0).hold("y1", 1, 0.0).hold("x2", 0, 0.8).guess("y2", 0, 0.5).hold("x2", 1, 0.0);
    let mut run = Integrator::new(&problem, &start.solve()?, Options::new(1e-12))?;
    run.run_to(10.0)?;
    for name in names {
        println!("{name:8} = {:18.14}", run.value(name, 0)?);
    }
    println!("{} steps of order {}", run.work().steps, run.order());
    Ok(())
}
