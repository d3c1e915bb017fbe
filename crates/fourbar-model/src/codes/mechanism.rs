//! Pages of the diagnostic codes of checking a mechanism.

use super::Page;

macro_rules! page {
    ($code:literal, $title:literal, $text:literal) => {
        Page { code: $code, title: $title, text: $text }
    };
}

/// Pages of the codes that checking a mechanism can give.
pub(crate) const PAGES: &[Page] = &[
    page!(
        "M100",
        "A name is used twice",
        "Bodies, joints, curves, constraints, drives, forces and points share one namespace, because results have columns such as `crank.r.x` and `pin.angle`. Rename one of the two elements."
    ),
    page!(
        "M101",
        "Not a name",
        "Names start with a letter or `_` and continue with letters, digits, `_` and `-`. The words `t`, `ground`, `energy` and `error` are reserved: they are columns of the results, and `ground` is the world."
    ),
    page!(
        "M102",
        "A mass that is not positive",
        "Every body has a positive mass in kilograms. Check the sign and the unit (`120 g` is 0.12). For a part of negligible mass give a small one, such as a thousandth of its neighbours'."
    ),
    page!(
        "M103",
        "An impossible inertia",
        "Principal inertias of a real body are not negative, and none is larger than the sum of the other two (the triangle inequality). Common causes: inertia about the joint instead of the centre of mass, products of inertia with the wrong sign (the file contains the entries of the tensor), grams or millimetres. A thin rod along x has [0, J, J]; a point mass has `inertia: 0`."
    ),
    page!(
        "M104",
        "Not a finite number",
        "A number or the value of an expression is infinite, undefined or too large to compute with. Look for a division by zero, a root of a negative number, or a unit that is wrong by many orders of magnitude."
    ),
    page!(
        "M105",
        "An axis of length zero",
        "A direction must have a nonzero length; its magnitude has no effect. Write for instance `axis: [0, 0, 1]`."
    ),
    page!(
        "M106",
        "Unknown body",
        "The name is not declared under `bodies:`. The world is called `ground`. The message proposes the nearest known name."
    ),
    page!(
        "M107",
        "An element that connects a body to itself",
        "Joints, springs and couplings act between two different bodies (or joints). Usually one of the two names is a mistake."
    ),
    page!(
        "M108",
        "Unknown joint",
        "Drives, gears, racks and joint forces refer to a joint between two bodies. Gears and racks themselves are not such joints."
    ),
    page!(
        "M109",
        "A joint without that coordinate",
        "Angles belong to revolute, cylindrical, screw and planar joints; distances to prismatic, cylindrical, screw, point-on-line and point-on-curve joints. Spherical and universal joints have no single coordinate: drive them with bare constraints."
    ),
    page!(
        "M110",
        "Two drives on one coordinate",
        "A joint coordinate can be prescribed once. Remove one of the drives, or drive another joint."
    ),
    page!(
        "M111",
        "A coupling between joints that cannot be coupled",
        "A gear couples two coordinates (angle with angle, or an angle with a distance); a rack couples the angle of its first joint with the distance of its second. The carrier of a gear supports both axes and is neither of the wheels."
    ),
    page!(
        "M112",
        "Not an orientation",
        "An orientation is one of: axis and angle, quaternion [w, x, y, z], rotation matrix with perpendicular unit rows, two world directions `x` and `y`, or `zxz` Euler angles."
    ),
    page!(
        "M113",
        "Unknown point, or unknown name to hold or trace",
        "`hold` takes names of joints and bodies, `trace` names of points and bodies, `follow` the name of a body; points are declared under `points:`."
    ),
    page!("M114", "A study that cannot run", "Times and tolerances of `study:` are positive; the analysis is `kinematics` or `dynamics`."),
    page!(
        "M115",
        "Two directions are parallel but must not be",
        "A universal joint has two axes, `axes: [in base, in moving]`, perpendicular to each other. The axis of a rolling disk must not be the normal of its plane: the disk would lie flat and could not roll. The axis of a disk is given on its body, so three numbers are in the frame of the body."
    ),
    page!(
        "M116",
        "A number out of its range",
        "A length, angle, stiffness, damping or ratio lies outside the range that the element allows. The message states which."
    ),
    page!(
        "M117",
        "A Runge-Kutta tableau that cannot be used",
        "A user-defined method is explicit and given as a Butcher tableau: `b` has a weight for each stage, `a` a row for each stage (or from the second stage on) whose entries on and above the diagonal are zero or omitted, `c` the sums of these rows (optional). `estimate` has the weights of the embedded result for adaptive steps. The classical method:\n\n  study:\n    integrator:\n      tableau:\n        a: [[1/2], [0, 1/2], [0, 0, 1]]\n        b: [1/6, 1/3, 1/3, 1/6]\n        c: [0, 1/2, 1/2, 1]\n    step: 1 ms\n\nThe order follows from the order conditions of rooted trees and is reported after the run; a method whose weights do not add up to one has no order."
    ),
    page!("M118", "No bodies", "A mechanism needs at least one body besides the ground."),
    page!(
        "M600",
        "An input out of its range",
        "An input has a `default` inside its `range`, which is written with the smaller value first:\n\n  inputs: {torque: {unit: N*m, default: 0, range: [-2, 2]}}\n\nWithout a `range` every finite value is allowed."
    ),
    page!(
        "M601",
        "There is no such input or state",
        "Expressions of forces, actuators and rates may name inputs (section `inputs:`) and states (section `states:`). The rate of a state reads the time, joints, points, inputs and states; `length`, `angle` and `rate` alone belong to springs."
    ),
    page!(
        "M602",
        "A drive that may not read an input or a state",
        "A drive by `speed:` or `acceleration:` may read the time and inputs. An `angle:` or a `distance:` may not: the part would have to jump whenever the input changes. Drives may not read states; use an actuator instead."
    ),
    page!(
        "M603",
        "Not a plain SI unit",
        "`unit:` of an input or a state is an SI unit without a factor, such as `N*m`, `rad`, `A` or `V`, because results are in SI units; plain numbers have `1`. Values may be given in any unit of the same dimension."
    ),
    page!(
        "M640",
        "No such curve",
        "A joint refers to a curve that is not declared under `curves:`.\n\n    curves:\n      track: {points: [[0, 0], [1, 0.2], [2, 0]]}\n    joints:\n      bead: {type: point-on-curve, bodies: [ground, ball], curve: track, at: [0, 0, 0]}"
    ),
    page!(
        "M641",
        "Too few points for a curve",
        "A curve is a smooth line through three or more points. Between two points there is a straight line: use a point-on-line joint."
    ),
    page!(
        "M642",
        "Points of a curve coincide",
        "Two consecutive points are the same, so the curve has no direction between them. Remove one of them. A closed curve returns to its first point automatically: do not repeat it at the end."
    ),
    page!(
        "M643",
        "A spatial curve",
        "Curves are planar. Give points of two numbers, which lie in the `plane` of the curve, or points of three numbers that lie in one plane to six digits. A curve that leaves its plane is rejected; so are points of three numbers on one straight line, which do not define a plane."
    ),
    page!(
        "M644",
        "A curve with a corner or a crossing",
        "The smooth line through the points has a cusp, or it crosses itself. At a corner a point would have to stop; at a crossing its branch would be ambiguous. Distribute the points evenly along a smooth curve, with more of them where the curvature is high, and keep branches apart."
    ),
    page!(
        "M645",
        "A follower that does not fit its curve",
        "The point stays at the radius of the follower from the curve. If the radius of curvature on its side is smaller than the radius of the follower, or the follower would touch another part of the curve, its centre has no smooth path: a cam for it would be undercut. The message gives the place and the radius of curvature. Choose a smaller follower, the other side of the curve, or a curve of lower curvature."
    ),
    page!(
        "M646",
        "The side of a follower is ambiguous",
        "A follower with a radius runs on the left or on the right of its curve in the direction of its points, seen against the normal of the plane. Without `side` it is the side on which the follower is drawn; here it is drawn on the curve itself. Write `side: left` or `side: right`. A closed curve with anticlockwise points has its outside on the right."
    ),
];
