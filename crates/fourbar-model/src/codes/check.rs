//! Pages of the codes that `check` can give.

use super::Page;

const fn page(code: &'static str, title: &'static str, text: &'static str) -> Page {
    Page { code, title, text }
}

pub(crate) const PAGES: &[Page] = &[
    page(
        "U014",
        "Assembly modes cannot be written or chosen",
        "`fourbar check FILE --assembly-modes page.html` draws the ways to assemble a mechanism over each other, `--assembly-modes poses.json` writes their poses, and `--mode K` of `assemble`, `run`, `kinematics`, `verify` and `view` takes one of them. Only mechanisms with loops have several, they are looked for in mechanisms of up to 40 moving bodies, and a mechanism that cannot be assembled has none. Numbers go from 1, the drawn mode, to the number that `check` reports; a refused number is answered with the list. All assembly modes have the driven, held and start coordinates of the drawn one.",
    ),
    page(
        "W251",
        "A mass does not fit the size of its body",
        "The body is compared with the ball around its joints, points and shapes (and with its own radius of gyration where that is larger). More than 23,000 kg/m^3 in this ball is denser than any metal; less than 1e-4 kg/m^3 is thinner than a frame of wires.\n\n    pin: {mass: 2, ...}            # 2 kg in 5 mm: was `2 g` meant?\n    link: {at: [200, 0, 0], ...}   # 200 m: was `200 mm` meant?\n\nThe file runs all the same.",
    ),
    page(
        "W252",
        "An inertia does not fit the size of its body",
        "The radius of gyration, sqrt(J/m), is more than 8 times or less than a fortieth of the distance that the body's joints, points and shapes have from its centre of mass. A rod has 0.58 of half its length. Often the unit is wrong by a thousand or a million: inertia is in kg m^2, 1 kg mm^2 is 1e-6 kg m^2.\n\nA flywheel whose joints are all near its centre, or a small heavy part on a long light arm, may be meant so; a `shape` tells how large the body is.",
    ),
    page(
        "W253",
        "Gravity is doubtful",
        "The acceleration of gravity is neither zero nor between 0.1 and 30 m/s^2. Lengths are in metres: 9.81, not 9810.",
    ),
];
