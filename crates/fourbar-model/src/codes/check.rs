//! Pages of the diagnostic codes of `check`.

use super::Page;

const fn page(code: &'static str, title: &'static str, text: &'static str) -> Page {
    Page { code, title, text }
}

pub(crate) const PAGES: &[Page] = &[
    page(
        "U014",
        "Assembly modes cannot be written or chosen",
        "`fourbar check FILE --assembly-modes page.html` draws the ways to assemble a mechanism over each other, `--assembly-modes poses.json` writes their poses, and `--mode K` of `assemble`, `run`, `kinematics`, `verify` and `view` selects one of them. Only mechanisms with loops have several. They are searched for in mechanisms of up to 40 moving bodies; a mechanism that cannot be assembled has none. Modes are numbered from 1, the drawn mode; for an invalid number the message lists the modes. All assembly modes have the driven, held and start coordinates of the drawn one.",
    ),
    page(
        "W251",
        "A mass does not fit the size of its body",
        "The mass is compared with the ball that encloses the body's joints, points and shapes (or with its radius of gyration if that is larger). More than 23,000 kg/m^3 in this ball is denser than any metal; less than 1e-4 kg/m^3 is lighter than a wire frame.\n\n    pin: {mass: 2, ...}            # 2 kg in 5 mm: was `2 g` meant?\n    link: {at: [200, 0, 0], ...}   # 200 m: was `200 mm` meant?\n\nThe file is run nevertheless.",
    ),
    page(
        "W252",
        "An inertia does not fit the size of its body",
        "The radius of gyration, sqrt(J/m), is more than 8 times or less than a fortieth of the distance of the body's joints, points and shapes from its centre of mass. For a rod it is 0.58 of half its length. Often the unit is wrong by a factor of a thousand or a million: inertia is in kg m^2, 1 kg mm^2 is 1e-6 kg m^2.\n\nA flywheel whose joints are all near its centre, or a small heavy part on a long light arm, may be intended; a `shape` defines the size of the body.",
    ),
    page(
        "W253",
        "Gravity is doubtful",
        "The acceleration of gravity is neither zero nor between 0.1 and 30 m/s^2. Lengths are in metres: 9.81, not 9810.",
    ),
];
