//! The list of shipped models: in groups, with descriptive names and a line of purpose for each.

/// A model in the list.
pub(super) struct Entry {
    /// File name without its ending.
    pub file: &'static str,
    /// Name in the list.
    pub name: &'static str,
    /// One line on what it shows or tests.
    pub purpose: &'static str,
}

const fn as_filed(file: &'static str, purpose: &'static str) -> Entry {
    Entry { file, name: file, purpose }
}

const fn named(file: &'static str, name: &'static str, purpose: &'static str) -> Entry {
    Entry { file, name, purpose }
}

/// Heading of the models that are in no group; they come last.
pub(super) const OTHERS: &str = "Further models";

/// The groups, in the order of the list.
pub(super) const GROUPS: &[(&str, &[Entry])] = &[
    (
        "First steps",
        &[
            as_filed("fourbar", "crank, coupler, rocker and the curve that a coupler point draws"),
            named("a01_simple_pendulum", "simple_pendulum", "a point mass on a bar; has a closed solution"),
            named("ra_double_pendulum", "double_pendulum", "two bars on hinges, chaotic later on"),
            named("ra_slider_crank", "spatial_slider_crank", "a crank that turns across the slide, with a ball and a universal joint"),
        ],
    ),
    (
        "Planar linkages",
        &[
            as_filed("hoeken", "an almost straight line at almost constant speed"),
            as_filed("peaucellier", "an exact straight line from a circle"),
            as_filed("pantograph", "copies a drawing three times as large"),
            as_filed("dwell_linkage", "a lever that rests while its motor turns"),
            as_filed("quick_return", "slow cut, fast return"),
            as_filed("watt_six_bar", "two loops, a curve that no four-bar draws"),
            named("dca_five_bar", "five_bar", "a pentagon let go, two freedoms"),
            named("grcr_five_bar", "five_bar_sliding", "three pins and two slides, where the choice of coordinates matters"),
            named("dca_double_loop", "double_loop", "two pentagons that share a body"),
            named("a02_n_fourbar_N2", "coupled_fourbars", "two four-bars side by side that pass a singular position"),
            named("a02_n_fourbar_N40", "coupled_fourbars_40", "forty of them"),
            as_filed("andrews", "seven bodies against a spring, in milliseconds"),
        ],
    ),
    (
        "Walking and lifting",
        &[
            as_filed("jansen_leg", "a leg of the strandbeest"),
            as_filed("jansen_pair", "two legs on one crank"),
            as_filed("klann", "a six-bar leg"),
            as_filed("scissor_lift", "three stages with 250 kg"),
            as_filed("screw_jack", "a screw that lifts a car"),
            as_filed("pumpjack", "motor, crank, walking beam, rod string"),
            as_filed("excavator_arm", "turntable and three hydraulic cylinders"),
        ],
    ),
    (
        "Engines, cams, gears and shafts",
        &[
            as_filed("slider_crank_engine", "four cylinders in line"),
            as_filed("radial_engine", "five cylinders on a master rod"),
            as_filed("cam_roller", "a cam from points lifts a roller"),
            as_filed("valve_train", "lift from a table, pushrod, rocker, spring"),
            as_filed("planetary_gear", "sun, planets, carrier"),
            as_filed("oldham_coupling", "joins shafts that are not in line"),
            as_filed("universal_joint_shaft", "a propeller shaft with two crosses"),
        ],
    ),
    (
        "Vehicles",
        &[
            as_filed("double_wishbone", "a wheel on two wishbones, with spring and tie rod"),
            as_filed("rack_and_pinion", "steering from the wheel to the road wheels"),
            as_filed("bicycle", "rolls without slipping and steers itself"),
        ],
    ),
    (
        "Robots and platforms",
        &[
            as_filed("delta_robot", "three motors, a plate that stays level"),
            as_filed("stewart_platform", "six legs, six freedoms"),
            as_filed("five_bar_robot", "a tool path, and the motors that follow it"),
            named("nc_closed_chain_robot", "robot_arm", "six axes with a parallelogram in the arm"),
        ],
    ),
    (
        "Motors, governors and controllers",
        &[
            as_filed("dc_motor_slider_crank", "a DC motor with its current as a state"),
            as_filed("pid_pendulum", "a PID controller written in the file"),
            as_filed("watt_governor", "balls that lift a sleeve with the speed"),
            named("a05_flyball_governor", "flyball_governor", "the same with a stiff spring"),
        ],
    ),
    (
        "Spatial linkages, most of which should not move by count",
        &[
            as_filed("fourbar_3d", "four hinges in a leaning plane"),
            named("a04_bricard", "bricard", "six hinges along the edges of a cube"),
            named("a04_bricard_thin", "bricard_thin", "the same with thin rods"),
            as_filed("bennett", "four skew hinges"),
            as_filed("sarrus", "hinges that guide a plate along a straight line"),
            named("nc_rscr", "rscr_linkage", "a hinge, a ball, a cylinder and a hinge"),
            named("ra_four_link", "spatial_four_link", "a rotor, a long link and a rocker"),
        ],
    ),
    (
        "Tops and free bodies",
        &[
            named("lie_heavy_top", "spinning_top", "a body that spins about a point"),
            named("nc_free_top", "tumbling_top", "turns over again and again about its middle axis"),
            named("lie_spherical_double_pendulum", "spherical_double_pendulum", "two boxes on ball joints, chaotic"),
            named("lie_closed_3bar", "ball_joint_triangle", "a loop of ball joints"),
            named("lie_two_floating_bodies", "floating_bodies", "two bodies in space; momentum is kept"),
            named("ra_single_pendulum", "driven_pendulum", "a bar whose angle is prescribed"),
        ],
    ),
    (
        "Ropes, rubber and friction",
        &[
            as_filed("rope_swing", "a rope that goes slack and taut again"),
            as_filed("stiff_beam", "a steel strip of fifty links"),
            as_filed("stiff_cable", "a steel rope of two hundred links"),
            as_filed("stiff_engine_mounts", "an engine on rubber mounts"),
            as_filed("stiff_friction", "dry friction in both hinges"),
            as_filed("stiff_light_pin", "a pin of a milligram between stiff bushings"),
        ],
    ),
    (
        "Stops, latches and contacts",
        &[
            named("event_trebuchet", "trebuchet", "throws a stone and lets it go at 45 degrees"),
            named("event_catapult", "catapult", "wound up, latched and fired"),
            named("event_ratchet", "ratchet", "two one-way joints hoist a load"),
            named("event_fourbar_stop", "fourbar_end_stop", "a rocker that hits its stop until it rests"),
            named("contact_gripper", "gripper", "two fingers hold a box by friction"),
            named("contact_cam_lift_off", "cam_lift_off", "a follower that leaves its cam at speed"),
            named("contact_geneva", "geneva_drive", "a pin that turns a slotted wheel step by step"),
            named("contact_escapement", "escapement", "a pendulum lets a wheel pass tooth by tooth, and is pushed on by it"),
            named("contact_walker", "walker", "Jansen's legs on the ground"),
            named("contact_ball_heap", "ball_heap", "two hundred balls fall into a tray"),
        ],
    ),
    (
        "For comparison with other codes and papers",
        &[
            named("a03_andrews_beta0_m0p0620", "andrews_benchmark", "Andrews' mechanism as the benchmark library states it"),
            named("ra_double_pendulum_exact_inertia", "double_pendulum_exact", "with inertias that are not rounded"),
            named("ra_single_pendulum_primitives", "driven_pendulum_primitives", "the pendulum in bare constraints"),
            named("ra_slider_crank_primitives", "spatial_slider_crank_primitives", "the slider-crank in bare constraints"),
            named("ra_four_link_primitives", "spatial_four_link_primitives", "the four-link in bare constraints"),
        ],
    ),
];

/// All entries.
pub(super) fn entries() -> impl Iterator<Item = &'static Entry> {
    GROUPS.iter().flat_map(|(_, entries)| entries.iter())
}
