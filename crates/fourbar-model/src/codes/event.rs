//! Pages of the codes of events, limits and friction that sticks.

use super::Page;

const fn page(code: &'static str, title: &'static str, text: &'static str) -> Page {
    Page { code, title, text }
}

pub(crate) const PAGES: &[Page] = &[
    page(
        "M131",
        "Friction that sticks has numbers that do not fit",
        "With `stick: true` a joint is held up to `static` times its load and slides with `coulomb` times it. What holds is at least as strong as what slides, so `static` is not less than `coulomb`. `static` and `stribeck` have no effect on the smoothed law:\n\n    forces: {rub: {type: friction, joint: slide, coulomb: 0.4, static: 0.5, stick: true}}",
    ),
    page(
        "M132",
        "The limits of a joint do not fit",
        "Limits bound a coordinate of a joint:\n\n    joints:\n      knee: {type: revolute, bodies: [thigh, shank], at: [0, 0, 0], axis: [0, 0, 1], limits: {min: 0 deg, max: 150 deg, restitution: 0.2}}\n\nThe least value comes first, `restitution` lies between 0 and 1, and joints that have both an angle and a distance say `of: distance` where the distance is meant. With `stiffness` a limit is a spring beyond it, with `damping` or with `restitution` and the `speed` at which it holds. A distance joint takes one limit: `max` makes a rope, `min` keeps two points apart. A point-on-plane joint takes `min: 0` or `max: 0`. `speed_min: 0` makes a one-way joint.",
    ),
    page(
        "M133",
        "An event is not complete",
        "An event has an expression and what is done where it has a zero:\n\n    events:\n      let-go: {when: ball.vx - ball.vy, direction: rising, do: [{remove: sling}]}\n      landed: {when: ball.y, direction: falling, after: let-go, do: [{stop: true}]}\n\nThe expression reads time, inputs, states, coordinates of joints (`pin.angle`, `pin.speed`), and positions and velocities of points and of centres of mass (`tip.x`, `ball.vy`). `after` names another event.",
    ),
    page(
        "M134",
        "An action cannot be done",
        "`enable`, `disable` and `remove` name a joint, a drive or a force; `lock` and `release` a joint with an angle or a distance; `set` an input or a state. Parameters are numbers that the file is read with and do not change. Joints that have limits of their own (ropes, points over planes) act by themselves, springs with a mass cannot be switched, and an input that gives a drive its speed cannot jump: that would be an impact.",
    ),
    page(
        "S300",
        "A springy limit and a Taylor series",
        "The effort of a springy limit grows with a power of the depth. Natural coordinates follow a Taylor series, which a power that is not whole does not have where the limit begins to act. Give the limit a whole `exponent`, use `ra` or `grcr`, or leave the choice to `auto`.",
    ),
    page(
        "S301",
        "The start is beyond a limit",
        "A rigid limit may be touched, not passed, and the mechanism starts beyond one. Draw it inside, say where it starts under `start:`, or correct the limit. Coordinates are zero as drawn, unless joint frames say otherwise: `fourbar assemble` shows them. Bodies of a rigid contact may touch at the start but not overlap.",
    ),
    page(
        "S302",
        "Events without progress",
        "Events follow each other so fast that time does not go on, or cause each other without end in one instant: a relay that switches at the very value that it controls does this. Give the event a dead band (`rearm:`), smooth what it switches, or let it happen `once`.",
    ),
    page(
        "S303",
        "A drive leads through a rigid limit",
        "A drive prescribes where a joint is, and a rigid limit says where it may not be. Both cannot hold. Keep the drive inside the limit, drive by an actuator with an effort, which can give way, or make the limit springy with `stiffness`. The same holds for bodies of a rigid contact that drives lead into each other.",
    ),
    page(
        "S304",
        "An event enables something that does not fit",
        "A joint that is put in must be closed at that instant, and a drive that is switched on must want its joint where it stands: positions do not jump. Velocities may; the energy that is lost is reported. Let the event happen where the joint closes, or drive by `acceleration:`, which goes on from where the joint is.",
    ),
    page(
        "S305",
        "No mode fits friction and limits",
        "Rigid bodies with dry friction may have no acceleration that fits: a rod that is pushed over a rough floor can jam. Less friction, the smoothed law (without `stick`), or springy limits may pass.",
    ),
    page(
        "S306",
        "Sticking on a load that is not unique",
        "Friction in proportion to the load of a joint needs that load. In an over-constrained mechanism loads are not unique, and a joint would stick at arbitrary times. `fourbar check` names what is redundant; take a constraint out, or give a constant `preload` instead of `coulomb`.",
    ),
    page(
        "W303",
        "Something switches back and forth without end",
        "An expression with a condition, a `sign` or the like, or a force that begins to act at once, switched fifty times in a thousandth of the run: whatever piece it takes leads back to the other one, as a force against the sign of a speed does once the speed is zero. It is no longer taken as an event from there on, and the method follows it with small steps. Friction that sticks (`type: friction, stick: true`), a dead band, or a law without a jump such as `tanh(x/x0)` says what is meant, and is quicker.",
    ),
    page(
        "W310",
        "A drive passes a limit",
        "Over the time of the study the drive leads its joint through a rigid limit of it. A run stops there with S303.",
    ),
    page(
        "W311",
        "A force on one body that ought to act on two",
        "A `force` or `torque` acts on one body alone. This one follows the motion of its body and of another body, as a contact between the two would, and nothing acts on the other body in return: a cam made that way lifts its follower without any effort, and the effort of the cam's drive is zero. A contact under `contacts:`, a `spring` with a `tension:` of its own, or a second force on the other body says what is meant. Where the force comes from outside and only looks at the other body, all is well.",
    ),
];
