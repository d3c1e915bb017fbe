//! A free rigid body in six direction components: only its energy and three constraints are written down.

use fourbar_dae::{Integrator, Mechanics, Options, Problem, Scalar};
use std::sync::Arc;

fn dot<S: Scalar>(a: &[S], b: &[S]) -> S {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

fn cross<S: Scalar>(a: &[S], b: &[S]) -> [S; 3] {
    [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
}

/// First two axes of the body in q; the third is their cross product.
fn top<S: Scalar>(q: &[S], m: &mut Mechanics<S>) {
    let (u, v) = (&q[..3], &q[3..]);
    let w = cross(u, v);
    let rate = |a: &[S]| [a[0].rate(), a[1].rate(), a[2].rate()];
    let omega = [dot(&w, &rate(v)), dot(u, &rate(&w)), dot(v, &rate(u))];
    m.constraint("u unit", dot(u, u) - 1.0);
    m.constraint("v unit", dot(v, v) - 1.0);
    m.constraint("u normal to v", dot(u, v));
    let inertia = [1.0, 2.0, 3.0];
    for k in 0..3 {
        m.lagrangian(omega[k].sqr() * (0.5 * inertia[k]));
        m.output(format!("omega{}", k + 1), omega[k]);
    }
}

fn main() -> Result<(), fourbar_dae::Error> {
    let names = ["u1", "u2", "u3", "v1", "v2", "v3"];
    let problem = Arc::new(Problem::lagrangian(&names, |_, q, _, m| top(q, m))?);
    // Aligned with the frame, spinning about the middle axis with a small disturbance: omega = (0.1, 5, 0.1).
    let mut start = problem.start(0.0).hold("u1", 0, 1.0).hold("v2", 0, 1.0);
    for (name, rate) in [("u2", 0.1), ("u3", -5.0), ("v1", -0.1), ("v3", 0.1)] {
        start = start.hold(name, 1, rate);
    }
    let mut run = Integrator::new(&problem, &start.solve()?, Options::new(1e-14))?;
    let mut next = 0.0;
    println!("    t   omega1   omega2   omega3");
    run.run(10.0, |r| {
        while next <= r.t() {
            let omega: Vec<f64> = (0..3).filter_map(|k| r.output_at(next, k, 0).ok()).collect();
            if let [a, b, c] = omega[..] {
                println!("{next:5.1} {a:8.4} {b:8.4} {c:8.4}");
            }
            next += 0.5;
        }
    })?;
    println!("{} steps; the middle axis turns over again and again", run.work().steps);
    Ok(())
}
