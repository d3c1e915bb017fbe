//! Limits, contacts and friction that change simultaneously or impact alternately: solved together, with the same result in every
//! formulation.

use fourbar::events::Kind;
use fourbar::study::{self, Report, Study};
use fourbar::{Model, Trajectory};
use fourbar_testing::common::parse;

fn run_with(model: &Model, formulation: &str) -> (Report, Trajectory) {
    let mut rows = Trajectory::default();
    let study = Study { formulation: Some(formulation.into()), tol: Some(1e-8), ..Study::of(model) };
    let report = study::run(model, &study, &mut rows).unwrap_or_else(|f| panic!("{formulation}: {}", f.diagnostic));
    (report, rows)
}

fn last(rows: &Trajectory, column: &str) -> f64 {
    *rows.column(column).unwrap_or_else(|| panic!("{column}")).last().expect("rows")
}

/// Total energy plus losses at events minus work is constant.
fn balances(rows: &Trajectory, what: &str) {
    let column = |c: &str| rows.column(c).unwrap_or_else(|| panic!("{c}")).to_vec();
    let [total, lost, work] = ["energy.total", "energy.lost", "energy.work"].map(column);
    let size = total.iter().fold(1e-3_f64, |m, x| m.max(x.abs()));
    for k in 0..total.len() {
        let off = total[k] + lost[k] - work[k] - (total[0] + lost[0] - work[0]);
        assert!(off.abs() < 1e-5 * size, "{what}: row {k}: {off:.1e} J");
    }
}

/// Friction whose joint comes to rest at the instant at which the impact of another limit sets it in motion again.
const IMPACT_AT_A_REVERSAL: &str = "
fourbar: 1
gravity: [0, -9.81, 0]
bodies:
  b0: {mass: 1.6002, inertia: [0.0031115, 0.030215, 0.030265], at: [0.23687, -0.018797, 0], orientation: {axis: [0, 0, 1], angle: -0.079189}}
  b1: {mass: 1.8395, inertia: [0.0016698, 0.015798, 0.015848], at: [0.56929, 0.090743, 0], orientation: {axis: [0, 0, 1], angle: 0.93079}}
  b2: {mass: 1.4865, inertia: [0.0021626, 0.020726, 0.020776], at: [0.86112, 0.27479, 0], orientation: {axis: [0, 0, 1], angle: 0.27659}}
joints:
  j0: {type: prismatic, bodies: [ground, b0], at: [0.0, 0.0, 0], axis: [0.99687, -0.079106, 0], limits: {max: 0.099134, restitution: 0.8}}
  j1: {type: prismatic, bodies: [b0, b1], at: [0.47374, -0.037593, 0], axis: [0.5972, 0.80209, 0], limits: {min: -0.15985, restitution: 0}}
  j2: {type: revolute, bodies: [b1, b2], at: [0.66484, 0.21908, 0], axis: [0.32205, 0.081245, 0.94323], limits: {min: -0.49165, stiffness: 200, exponent: 1, damping: 5}}
forces:
  fj0: {type: friction, joint: j0, stick: true, preload: 0.335}
  dj1: {type: actuator, joint: j1, effort: '-0.885*j1.speed+-1.566*cos(4.439*t)'}
  dj2: {type: actuator, joint: j2, effort: '-0.993*j2.speed+2.360*cos(7.909*t)'}
  fj2: {type: friction, joint: j2, stick: true, preload: 2.162}
study: {t_end: 1.13, output_step: 0.01}
";

/// A limit and friction on one joint, which must not share its load.
const LIMIT_AND_FRICTION: &str = "
fourbar: 1
gravity: [0, -9.81, 0]
bodies:
  b0: {mass: 1.0514, inertia: [0.00051198, 0.0042198, 0.0042698], at: [0.10172, -0.037519, 0], orientation: {axis: [0, 0, 1], angle: -0.35337}}
  b1: {mass: 0.73278, inertia: [0.00038144, 0.0029144, 0.0029644], at: [0.29724, -0.12723, 0], orientation: {axis: [0, 0, 1], angle: -0.50779}}
  b2: {mass: 0.75234, inertia: [0.0011432, 0.010532, 0.010582], at: [0.53363, -0.32525, 0], orientation: {axis: [0, 0, 1], angle: -0.79655}}
joints:
  j0: {type: revolute, bodies: [ground, b0], at: [0.0, 0.0, 0], axis: [0, 0, 1], limits: {min: -0.26069, max: 0.59311, restitution: 0}}
  j1: {type: revolute, bodies: [b0, b1], at: [0.20344, -0.075038, 0], axis: [0, 0, 1], limits: {min: -0.4262, max: 0.15981, stiffness: 20000.0, exponent: 2, damping: 5}}
  j2: {type: revolute, bodies: [b1, b2], at: [0.39103, -0.17943, 0], axis: [0, 0, 1], limits: {max: 0.42282, stiffness: 20000.0, exponent: 1, damping: 5}}
  rod: {type: distance, bodies: [ground, b2], from: [0.99931, -0.75609, 0], to: [0.67623, -0.47106, 0], limits: {max: 0.45108, restitution: 0.5}}
forces:
  fj0: {type: friction, joint: j0, stick: true, preload: 1.043}
  dj1: {type: actuator, joint: j1, effort: '-0.909*j1.speed+-0.293*cos(6.874*t)'}
  dj2: {type: actuator, joint: j2, effort: '-0.410*j2.speed+2.955*cos(4.512*t)'}
  fj2: {type: friction, joint: j2, stick: true, preload: 1.914}
events:
  e1: {when: 'j0.angle-(0.1338)', direction: any, do: [{lock: j1}]}
  e2: {when: 't-0.644', after: e1, do: [{release: j1}]}
study: {t_end: 0.92, output_step: 0.01}
";

/// The reversal of one friction makes another one slide, whose joint then reverses the first one.
const THREE_FRICTIONS: &str = "
fourbar: 1
gravity: [0, -9.81, 0]
bodies:
  b0: {mass: 0.81374, inertia: [0.0019694, 0.018794, 0.018844], at: [0.14677, 0.21766, 0], orientation: {axis: [0, 0, 1], angle: 0.97752}}
  b1: {mass: 1.3287, inertia: [0.0010724, 0.0098238, 0.0098738], at: [0.43999, 0.41279, 0], orientation: {axis: [0, 0, 1], angle: -0.15271}}
  b2: {mass: 1.528, inertia: [0.0019507, 0.018607, 0.018657], at: [0.77403, 0.4241, 0], orientation: {axis: [0, 0, 1], angle: 0.17856}}
  b3: {mass: 0.9921, inertia: [0.0010956, 0.010056, 0.010106], at: [1.1094, 0.36705, 0], orientation: {axis: [0, 0, 1], angle: -0.55144}}
joints:
  j0: {type: revolute, bodies: [ground, b0], at: [0.0, 0.0, 0], axis: [0, 0, 1], limits: {max: 0.52264, restitution: 0.8}}
  j1: {type: revolute, bodies: [b0, b1], at: [0.29354, 0.43533, 0], axis: [0, 0, 1]}
  j2: {type: revolute, bodies: [b1, b2], at: [0.58644, 0.39025, 0], axis: [0, 0, 1]}
  j3: {type: prismatic, bodies: [b2, b3], at: [0.96162, 0.45796, 0], axis: [0.85177, -0.52392, 0], limits: {min: -0.1431, stiffness: 2000, exponent: 2, damping: 5}}
  rod: {type: distance, bodies: [ground, b3], from: [1.5492, 0.44462, 0], to: [1.2572, 0.27615, 0], limits: {min: 0.30444}}
forces:
  dj0: {type: actuator, joint: j0, effort: '-0.231*j0.speed+0.586*cos(4.000*t)'}
  dj1: {type: actuator, joint: j1, effort: '-0.442*j1.speed+-1.044*cos(7.478*t)'}
  fj1: {type: friction, joint: j1, stick: true, preload: 1.446}
  fj2: {type: friction, joint: j2, stick: true, preload: 2.384}
  fj3: {type: friction, joint: j3, stick: true, preload: 2.749}
study: {t_end: 1.44, output_step: 0.01}
";

/// Two stops and friction in a loop, with alternating impacts.
const STOPS_IN_TURNS: &str = "
fourbar: 1
gravity: [0, -9.81, 0]
bodies:
  b0: {mass: 0.76834, inertia: [0.00036759, 0.0027759, 0.0028259], at: [0.088617, -0.050942, 0], orientation: {axis: [0, 0, 1], angle: -0.52173}}
  b1: {mass: 0.81092, inertia: [0.0011589, 0.010689, 0.010739], at: [0.28993, -0.26459, 0], orientation: {axis: [0, 0, 1], angle: -0.96503}}
  b2: {mass: 0.38295, inertia: [0.00094392, 0.0085392, 0.0085892], at: [0.47816, -0.67307, 0], orientation: {axis: [0, 0, 1], angle: -1.2726}}
joints:
  j0: {type: revolute, bodies: [ground, b0], at: [0.0, 0.0, 0], axis: [0, 0, 1], limits: {min: -0.41512, max: 0.27487, restitution: 0.5}}
  j1: {type: revolute, bodies: [b0, b1], at: [0.17723, -0.10188, 0], axis: [0, 0, 1]}
  j2: {type: revolute, bodies: [b1, b2], at: [0.40262, -0.42729, 0], axis: [0, 0, 1], limits: {min: -0.25274, max: 0.15511, restitution: 0}}
  rod: {type: distance, bodies: [ground, b2], from: [0.94966, -1.0411, 0], to: [0.55369, -0.91885, 0]}
forces:
  dj1: {type: actuator, joint: j1, effort: '-0.598*j1.speed+2.411*cos(3.492*t)'}
  fj1: {type: friction, joint: j1, stick: true, preload: 1.887}
  dj2: {type: actuator, joint: j2, effort: '-0.460*j2.speed+1.562*cos(5.049*t)'}
  ee: {type: actuator, joint: j0, effort: u}
events:
  e1: {when: 'j2.angle-(-0.0372)', direction: any, do: [{set: {u: '-0.750-u'}}]}
study: {t_end: 1.06, output_step: 0.01}
inputs: {u: {default: 0}}
";

/// A stop and a rope, with alternating impacts.
const ROPE_AND_STOP: &str = "
fourbar: 1
gravity: [0, -9.81, 0]
bodies:
  b0: {mass: 0.80407, inertia: [0.00056728, 0.0047728, 0.0048228], at: [0.11864, 0.057954, 0], orientation: {axis: [0, 0, 1], angle: 0.45439}}
  b1: {mass: 0.70412, inertia: [0.00040443, 0.0031443, 0.0031943], at: [0.30366, 0.20845, 0], orientation: {axis: [0, 0, 1], angle: 0.94855}}
  b2: {mass: 1.2012, inertia: [0.0033119, 0.032219, 0.032269], at: [0.64427, 0.37183, 0], orientation: {axis: [0, 0, 1], angle: 0.2528}}
joints:
  j0: {type: revolute, bodies: [ground, b0], at: [0.0, 0.0, 0], axis: [0, 0, 1], limits: {min: -0.4728, restitution: 0}}
  j1: {type: revolute, bodies: [b0, b1], at: [0.23728, 0.11591, 0], axis: [0, 0, 1]}
  j2: {type: revolute, bodies: [b1, b2], at: [0.37004, 0.30099, 0], axis: [0, 0, 1], limits: {min: -0.43774, max: 0.4546, restitution: 0.5}}
  rod: {type: distance, bodies: [ground, b2], from: [1.3477, 0.62642, 0], to: [0.91849, 0.44267, 0], limits: {max: 0.47932, restitution: 0.5}}
study: {t_end: 1.09, output_step: 0.01}
";

/// Events in their order, and final positions of the bodies.
type Outcome = (Vec<(String, Kind)>, Vec<f64>);

#[test]
fn what_happens_together_is_decided_together() {
    for (name, text) in [
        ("impact at a reversal", IMPACT_AT_A_REVERSAL),
        ("limit and friction", LIMIT_AND_FRICTION),
        ("three frictions", THREE_FRICTIONS),
        ("stops in turns", STOPS_IN_TURNS),
        ("rope and stop", ROPE_AND_STOP),
    ] {
        let model = parse(text);
        let mut first: Option<Outcome> = None;
        for f in ["lie", "grcr", "dca", "natural"] {
            let (report, rows) = run_with(&model, f);
            balances(&rows, &format!("{name}, {f}"));
            let told: Vec<_> = report.events.iter().map(|e| (e.name.clone(), e.kind)).collect();
            let places = model
                .bodies
                .iter()
                .skip(1)
                .flat_map(|b| [last(&rows, &format!("{}.r.x", b.name)), last(&rows, &format!("{}.r.y", b.name))]);
            let places: Vec<f64> = places.collect();
            if let Some((events, others)) = &first {
                assert_eq!(&told, events, "{name}, {f}");
                assert!(places.iter().zip(others).all(|(a, b)| (a - b).abs() < 2e-5), "{name}, {f}: {places:?} {others:?}");
            } else {
                first = Some((told, places));
            }
        }
    }
}

/// A one-way joint holds its position, even if it engages during a contact with friction: the cart moves as the integral of 2 cos(3 t)
/// until it would reverse, and rests until it is pushed again. Meanwhile a sliding ball starts to roll.
#[test]
fn one_way_joints_hold_where_they_are_beside_rough_contacts() {
    let model = parse(
        "
fourbar: 1
gravity: [0, -9.81, 0]
bodies:
  cart: {mass: 1, inertia: [0.01, 0.01, 0.01], at: [0, 2, 0]}
  ball: {mass: 1, inertia: [0.004, 0.004, 0.004], at: [0, 0.1, 0], velocity: [2.2, 0, 0]}
joints: {rail: {type: prismatic, bodies: [ground, cart], at: [0, 2, 0], axis: [1, 0, 0], limits: {speed_min: 0}}}
forces: {push: {type: actuator, joint: rail, effort: '2*cos(3*t)'}}
contacts: {floor: {between: [{body: ball, radius: 0.1}, {plane: {normal: [0, 1, 0]}}], friction: 0.05}}
study: {t_end: 2, output_step: 10 ms}",
    );
    let rolls = 2.0 * 2.2 / (7.0 * 0.05 * 9.81);
    let (held, free) = (std::f64::consts::PI / 3.0, std::f64::consts::PI / 2.0);
    let exact = |t: f64| {
        let pushed = if t > free { 2.0 / 9.0 * (-(3.0 * t).cos() + 3.0 * (t - free)) } else { 0.0 };
        2.0 / 9.0 * (1.0 - (3.0 * t.min(held)).cos()) + pushed
    };
    for f in ["lie", "grcr", "dca", "ra"] {
        let (report, rows) = run_with(&model, f);
        assert!(report.events.iter().any(|e| e.kind == Kind::Stick && (e.t - rolls).abs() < 1e-5), "{f}: {:?}", report.events);
        let (times, places) = (rows.column("t").expect("there"), rows.column("rail.distance").expect("there"));
        for (t, x) in times.iter().zip(places) {
            assert!((x - exact(*t)).abs() < 1e-5, "{f} at {t}: {x} instead of {}", exact(*t));
        }
    }
}

/// Blocks with and without restitution, which tip while they slide: they rock to rest, and energy is never created.
#[test]
fn blocks_rock_to_rest_with_any_friction() {
    for (b, h, angle, friction, restitution) in [
        (0.121315, 0.341674, 0.145945_f64, 0.5, 0.5),
        (0.146285, 0.417756, 0.173996, 0.8, 0.0),
        (0.130509, 0.366936, 0.200035, 1.5, 0.2),
        (0.107659, 0.250578, 0.136413, 0.5, 0.0),
    ] {
        let (s, c) = angle.sin_cos();
        let (x, y) = (c * b - s * h, s * b + c * h);
        let model = parse(&format!(
            "
fourbar: 1
gravity: [0, -9.81, 0]
bodies: {{b: {{mass: 1, inertia: [0.1, 0.1, {:?}], at: [{x:?}, {y:?}, 0], orientation: {{axis: [0, 0, 1], angle: {angle:?}}}}}}}
joints: {{flat: {{type: planar, bodies: [ground, b], at: [0, 0, 0], axis: [0, 0, 1]}}}}
contacts:
  floor: {{between: [{{body: b, corners: [[-{b:?}, -{h:?}, 0], [{b:?}, -{h:?}, 0]]}}, {{plane: {{normal: [0, 1, 0]}}}}], friction: {friction:?}, restitution: {restitution:?}}}
study: {{t_end: 3, output_step: 0.02}}",
            (b * b + h * h) / 3.0
        ));
        for f in ["grcr", "lie"] {
            let (_, rows) = run_with(&model, f);
            let what = format!("{f}, {b} by {h}, friction {friction}, restitution {restitution}");
            balances(&rows, &what);
            assert!((last(&rows, "b.r.y") - h).abs() < 1e-6, "{what}: {}", last(&rows, "b.r.y"));
            assert!(last(&rows, "energy.kinetic") < 1e-9, "{what}");
        }
    }
}

/// A piece of a law that begins within rounding of the start is not a jump.
#[test]
fn a_corner_at_the_start_is_no_jump() {
    let model = parse(
        "
fourbar: 1
bodies: {b: {mass: 1, inertia: [0.01, 0.01, 0.01], at: [0, 0.05, 0]}}
joints: {s: {type: prismatic, bodies: [ground, b], at: [0, 0.05, 0], axis: [0, 1, 0]}}
points: {f: {body: b}}
forces:
  hold: {type: force, body: b, force: [0, 'max(0, 1e6*(0.05 + 0.01*(1 - cos(12*t)) - f.y) - 500*(f.vy - 0.12*sin(12*t)))', 0]}
  spring: {type: spring, between: [{body: b}, {body: ground, at: [0, 0.15, 0]}], stiffness: 20 kN/m, length: 0.13}
study: {t_end: 0.05, output_step: 5 ms}",
    );
    for f in ["lie", "grcr", "natural", "ra"] {
        assert!(run_with(&model, f).0.events.is_empty(), "{f}");
    }
}

/// The angle at the end of a disk that a torque turns against friction that sticks, by short steps.
fn dragged(inertia: f64, bound: f64, torque: impl Fn(f64) -> f64, end: f64) -> f64 {
    let h = 1e-5;
    let (mut angle, mut speed) = (0.0_f64, 0.0_f64);
    for k in 0..(end / h).round() as usize {
        let torque = torque((k as f64 + 0.5) * h);
        let direction = if speed == 0.0 { torque.signum() } else { speed.signum() };
        if speed == 0.0 && torque.abs() <= bound {
            continue;
        }
        let next = speed + h * (torque - direction * bound) / inertia;
        let next = if next * direction < 0.0 { 0.0 } else { next };
        angle += 0.5 * h * (speed + next);
        speed = next;
    }
    angle
}

/// A torque that exceeds friction only briefly causes a slip each time, however long the rest between.
#[test]
fn short_slips_between_long_rests_are_met() {
    for [mean, amplitude, pace] in
        [[0.3, 0.31, 20.0], [0.3, 0.4, 20.0], [0.0, 0.61, 20.0], [0.5, 0.2, 50.0], [0.45, 0.17, 31.0], [0.1, 0.52, 12.3]]
    {
        let model = parse(&format!(
            "
fourbar: 1
gravity: [0, 0, -9.81]
bodies: {{disk: {{mass: 1, inertia: [0.02, 0.02, 0.02]}}}}
joints: {{pin: {{type: revolute, bodies: [ground, disk], at: [0, 0, 0], axis: [0, 0, 1]}}}}
forces:
  motor: {{type: actuator, joint: pin, effort: '{mean} + {amplitude}*sin({pace}*t)'}}
  brake: {{type: friction, joint: pin, stick: true, preload: 0.6}}
study: {{t_end: 3, output_step: 0.01}}"
        ));
        let wanted = dragged(0.02, 0.6, |t| mean + amplitude * (pace * t).sin(), 3.0);
        for f in ["auto", "lie", "grcr", "dca", "natural"] {
            let mut rows = Trajectory::default();
            let study = Study { formulation: Some(f.into()), ..Study::of(&model) };
            study::run(&model, &study, &mut rows).unwrap_or_else(|e| panic!("{f}: {}", e.diagnostic));
            let found = last(&rows, "pin.angle");
            assert!(
                (found - wanted).abs() < 0.01 * wanted.abs() + 1e-5,
                "{mean} + {amplitude} sin({pace} t), {f}: {found} instead of {wanted}"
            );
        }
    }
}

/// Friction at three places of one motion stays within its bound at each, with and without gravity.
#[test]
fn shared_friction_stays_within_its_bounds() {
    let text = |gravity: &str| {
        format!(
            "
fourbar: 1
gravity: {gravity}
bodies:
  a: {{mass: 1, inertia: [0.01, 0.01, 0.01]}}
  b: {{mass: 1, inertia: [0.01, 0.01, 0.01], at: [0.3, 0, 0]}}
  c: {{mass: 1, inertia: [0.01, 0.01, 0.01], at: [0.6, 0, 0]}}
joints:
  jc: {{type: revolute, bodies: [ground, c], at: [0.6, 0, 0], axis: [0, 0, 1]}}
  ja: {{type: revolute, bodies: [ground, a], at: [0, 0, 0], axis: [0, 0, 1]}}
  jb: {{type: revolute, bodies: [ground, b], at: [0.3, 0, 0], axis: [0, 0, 1]}}
  g: {{type: gear, joints: [ja, jb], ratio: -1}}
  g2: {{type: gear, joints: [ja, jc], ratio: -2}}
forces:
  m: {{type: actuator, joint: ja, effort: '1.5*cos(3*t)'}}
  fa: {{type: friction, joint: ja, stick: true, preload: 0.9}}
  fb: {{type: friction, joint: jb, stick: true, preload: 0.2}}
  fc: {{type: friction, joint: jc, stick: true, preload: 0.1}}
study: {{t_end: 4, output_step: 0.05}}"
        )
    };
    let mut ends = Vec::new();
    for gravity in ["[0, 0, 0]", "[0, 0, -9.81]"] {
        let model = parse(&text(gravity));
        for f in ["lie", "grcr", "dca", "natural"] {
            let (_, rows) = run_with(&model, f);
            for (column, bound) in [("fa.effort", 0.9), ("fb.effort", 0.2), ("fc.effort", 0.1)] {
                let most = rows.column(column).expect("a column").iter().fold(0.0_f64, |m, x| m.max(x.abs()));
                assert!(most <= bound * (1.0 + 1e-6), "gravity {gravity}, {f}: {column} {most}");
            }
            ends.push(last(&rows, "ja.angle"));
        }
    }
    assert!(ends.iter().all(|x| (x - ends[0]).abs() < 1e-5), "{ends:?}");
}
