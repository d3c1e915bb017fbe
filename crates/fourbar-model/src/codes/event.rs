//! Pages of the codes of events, limits and friction that sticks.

use super::Page;

const fn page(code: &'static str, title: &'static str, text: &'static str) -> Page {
    Page { code, title, text }
}

pub(crate) const PAGES: &[Page] = &[
    page(
        "M131",
        "Inconsistent coefficients of sticking friction",
        "With `stick: true` friction holds a joint up to `static` times its load and slides with `coulomb` times it. Static friction is at least sliding friction, so `static` must not be less than `coulomb`. `static` and `stribeck` have no effect on the smoothed law:\n\n    forces: {rub: {type: friction, joint: slide, coulomb: 0.4, static: 0.5, stick: true}}",
    ),
    page(
        "M132",
        "Invalid limits of a joint",
        "Limits bound a coordinate of a joint:\n\n    joints:\n      knee: {type: revolute, bodies: [thigh, shank], at: [0, 0, 0], axis: [0, 0, 1], limits: {min: 0 deg, max: 150 deg, restitution: 0.2}}\n\n`min` is less than `max`, `restitution` lies between 0 and 1, and joints with both an angle and a distance need `of: distance` to limit the distance. With `stiffness` a limit acts as a spring beyond its value, with `damping` or with `restitution` and the `speed` at which it applies. A distance joint takes one limit: `max` makes a rope, `min` keeps two points apart. A point-on-plane joint takes `min: 0` or `max: 0`. `speed_min: 0` makes a one-way joint.",
    ),
    page(
        "M133",
        "An event is not complete",
        "An event has an expression and actions that are executed where it crosses zero:\n\n    events:\n      let-go: {when: ball.vx - ball.vy, direction: rising, do: [{remove: sling}]}\n      landed: {when: ball.y, direction: falling, after: let-go, do: [{stop: true}]}\n\nThe expression reads time, inputs, states, coordinates of joints (`pin.angle`, `pin.speed`), and positions and velocities of points and of centres of mass (`tip.x`, `ball.vy`). `after` names another event.",
    ),
    page(
        "M134",
        "An action cannot be executed",
        "`enable`, `disable` and `remove` name a joint, a drive or a force; `lock` and `release` a joint with an angle or a distance; `set` an input or a state. Parameters are evaluated when the file is read and do not change. Joints with one-sided limits (ropes, points over planes) switch automatically, springs with a mass cannot be switched, and an input that defines the speed of a drive cannot jump: that would be an impact.",
    ),
    page(
        "S300",
        "A springy limit and a Taylor series",
        "The effort of a springy limit grows with a power of the depth. The formulation `natural` uses Taylor series, which do not exist for a non-integer power where the limit begins to act. Give the limit an integer `exponent`, use `ra` or `grcr`, or let `auto` choose.",
    ),
    page(
        "S301",
        "The start is beyond a limit",
        "The mechanism starts beyond a rigid limit. Draw it inside, set the start under `start:`, or correct the limit. Coordinates are zero in the drawn position, unless joint frames define them differently: `fourbar assemble` shows them. Bodies of a rigid contact may touch at the start but not overlap.",
    ),
    page(
        "S302",
        "Events without progress",
        "Events follow each other so fast that time does not advance, or trigger each other indefinitely at one instant, like a relay that switches at the value that it controls. Give the event a dead band (`rearm:`), smooth the quantity that it switches, or set `once`.",
    ),
    page(
        "S303",
        "A drive violates a rigid limit",
        "A drive prescribes a position of a joint that a rigid limit excludes. Keep the drive inside the limit, replace it by an actuator with an effort, or make the limit springy with `stiffness`. The same applies if drives move bodies of a rigid contact into each other.",
    ),
    page(
        "S304",
        "An event enables an element at an inconsistent position",
        "A joint that is enabled must be closed at that instant, and the value of a drive that is enabled must be the current position of its joint: positions do not jump. Velocities may; the energy lost is reported. Trigger the event where the joint closes, or drive by `acceleration:`, which starts from the current position.",
    ),
    page(
        "S305",
        "No consistent mode of friction and limits",
        "Rigid bodies with dry friction may have no consistent acceleration: a rod that is pushed over a rough floor can jam. Less friction, the smoothed law (without `stick`), or springy limits may help.",
    ),
    page(
        "S306",
        "Sticking on a load that is not unique",
        "Friction in proportion to the load of a joint needs that load. In an overconstrained mechanism loads are not unique, and a joint would stick at arbitrary times. `fourbar check` names the redundant constraints; remove one, or give a constant `preload` instead of `coulomb`.",
    ),
    page(
        "W303",
        "An expression switches back and forth indefinitely",
        "An expression with a condition, a `sign` or the like, or a discontinuous force, switched fifty times in a thousandth of the run: each piece leads back to the other one, as for a force opposing the sign of a speed that has become zero. From then on it is not treated as an event, and the integrator uses small steps. Sticking friction (`type: friction, stick: true`), a dead band, or a continuous law such as `tanh(x/x0)` is well defined and faster.",
    ),
    page(
        "W310",
        "A drive exceeds a limit",
        "During the study the drive moves its joint beyond a rigid limit. A run stops there with S303.",
    ),
    page(
        "W311",
        "A force on one body that ought to act on two",
        "A `force` or `torque` acts on one body only. This one depends on the motion of its body and of another body, like a contact between the two, but there is no reaction on the other body: a cam modelled this way lifts its follower without effort, and the effort of the cam's drive is zero. Use a contact under `contacts:`, a `spring` with a `tension:` expression, or a second force on the other body. Ignore the warning if the force is external and only reads the position of the other body.",
    ),
];
