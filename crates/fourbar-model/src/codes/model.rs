//! Pages of the diagnostic codes of reading a mechanism file.

use super::Page;

const fn page(code: &'static str, title: &'static str, text: &'static str) -> Page {
    Page { code, title, text }
}

pub(crate) const PAGES: &[Page] = &[
    page(
        "M001",
        "The file is not YAML",
        "Indentation, brackets or quotes do not match, so the file cannot be read any further.\n\n    joints:\n      pin: {type: revolute, bodies: [ground, crank\n\nHere two brackets are missing. Check the location in the message and the lines before it: an open bracket or quote is often detected only later. Tabs are not allowed for indentation; a value that contains `: `, ` #`, or a bracket must be quoted.",
    ),
    page(
        "M002",
        "The file is empty",
        "The file is empty or contains only comments. `fourbar new FILE` writes a commented four-bar to start from; `fourbar examples` lists the shipped models.",
    ),
    page(
        "M003",
        "The file is too large",
        "Mechanism files may have up to 16 MB, enough for tens of thousands of bodies. `--large` raises this limit to 200 MB, and also the limit on the number of values. Build still larger models with the library: fill a `ModelSpec` in a program.",
    ),
    page(
        "M004",
        "The file is not text",
        "The file contains bytes that are not UTF-8 text, such as a picture, an archive, or text in another encoding. Save it as plain text in UTF-8. Results, meshes and pages are not mechanism files.",
    ),
    page(
        "M005",
        "Nested too deeply",
        "Brackets or indented groups are nested more than 64 levels deep. A mechanism file needs fewer than ten levels; this is usually a damaged or generated file.",
    ),
    page(
        "M006",
        "Anchors and aliases",
        "YAML can name a value with `&name` and repeat it with `*name`. The name must be defined before it is used, may not contain itself, and all copies together may not exceed 100,000 values.\n\n    bodies:\n      left: &link {mass: 1, inertia: [0, 1, 1]}\n      right: *link\n\nAn expression that starts with `*` is read as an alias too: write the factor first.",
    ),
    page(
        "M007",
        "Too many values",
        "The file holds more than three million keys and values. `--large` raises this limit to forty million, and also the limit on the file size. Build still larger models with the library: fill a `ModelSpec` in a program.",
    ),
    page(
        "M008",
        "A key is given twice",
        "Two entries of one group have the same name, so one of them would be lost.\n\n    bodies:\n      rod: {mass: 1, inertia: 0}\n      rod: {mass: 2, inertia: 0}\n\nRename or remove one of them.",
    ),
    page(
        "M009",
        "YAML that mechanism files do not use",
        "Tags (`!name`), several documents in one file (`---`), and keys that are lists or groups have no meaning here. Remove them.",
    ),
    page(
        "M010",
        "The file cannot be read",
        "There is no file of this name, it is a folder or a device, or permission is denied. Check the name and the current folder.",
    ),
    page(
        "M011",
        "A value of the wrong kind",
        "There is a list instead of a number, a number instead of a group of keys, or nothing after the colon.\n\n    mass: [1, 2]        # must be a single value\n    axis: 1             # must be a list of 3\n\n`fourbar list` and the manual of the format describe the value of each key.",
    ),
    page(
        "M012",
        "Unknown key",
        "Nothing is ignored silently, so an unknown key is an error.\n\n    crank: {masss: 0.12}      # did you mean `mass`?\n\nThe message proposes the nearest known key, or lists the keys of this group. `fourbar list` prints all of them.",
    ),
    page(
        "M013",
        "A key is missing",
        "An element lacks a required key.\n\n    pin: {type: revolute, bodies: [ground, crank], at: [0, 0, 0]}      # lacks `axis`\n\nAdd the keys that the message names.",
    ),
    page(
        "M014",
        "Keys that exclude each other",
        "Two keys specify the same quantity in different ways: `frames` and `at`, `solid` and `mass`, `tension` and `stiffness`, `at` and `world`, or two forms of an orientation. Keep one of them.",
    ),
    page(
        "M015",
        "Unknown type",
        "The type of a joint, force, constraint, shape or solid, or the value of a key, is not one of the known words.\n\n    pin: {type: revolut, ...}      # did you mean `revolute`?\n\n`fourbar list` prints the types and their keys.",
    ),
    page(
        "M016",
        "Not a name",
        "Names start with a letter or `_` and continue with letters, digits, `_` and `-`. The words `t`, `ground`, `energy` and `error` are reserved, and `pi` may not be a parameter.",
    ),
    page(
        "M017",
        "A list of the wrong length",
        "Points and directions have 3 entries, quaternions 4, `bodies` 2, inertia 3 or 6. A single number as inertia can only be 0, for a point mass; for a ball repeat the value: `[J, J, J]`.",
    ),
    page(
        "M018",
        "Unknown version of the format",
        "Every file contains `fourbar: 1`, the version of the format. A file of a later version needs a newer program.",
    ),
    page(
        "M020",
        "An expression that cannot be parsed",
        "Expressions are made of numbers, names, `+ - * / ^`, comparisons, parentheses and functions.\n\n    length: 2*(L1 + L2         # a parenthesis is missing\n    angle: if(t < 1, 0, t)     # inside [ ] or { } quote it, because of the commas\n\nThe message shows where parsing stopped.",
    ),
    page(
        "M021",
        "Unknown name in an expression",
        "The name is not a parameter, nor something this expression may use. Parameters are defined under `parameters:`. The time `t` may appear in drives, constraints, forces, functions, states and outputs; `NAME.angle`, `NAME.distance`, `NAME.speed` of joints and `NAME.x`, `NAME.vx` of points in forces, states, outputs and events; `length`, `angle` and `rate` in the law of a spring only. A unit must follow a number: `1 mm`.",
    ),
    page(
        "M022",
        "Unknown function",
        "The functions are listed in the manual of the format: sin, cos, sqrt, min, max, if, smoothstep and others. Use `*` to multiply: `k*(a + b)`, not `k(a + b)`.",
    ),
    page(
        "M023",
        "Wrong number of arguments",
        "A function is called with too many or too few arguments, such as `atan2(y)` instead of `atan2(y, x)`.",
    ),
    page(
        "M024",
        "Division by zero",
        "With the values of the parameters a divisor is zero. Change a parameter, or guard the division: `if(d > 0, 1/d, 0)`; the branch that is not selected may divide by zero.",
    ),
    page(
        "M025",
        "Infinite or not a number",
        "A number is infinite, too large, or undefined, as in `.inf`, `1e999`, `sqrt(-1)` or `ln(0)`. Numbers of a mechanism are finite.",
    ),
    page(
        "M026",
        "An expression nested too deeply",
        "Parentheses, calls, signs or powers are nested more than 100 levels deep, or the expression needs more than 64 intermediate values. Define parts of the expression as parameters.",
    ),
    page("M027", "An expression that is too long", "Expressions may have 10,000 characters. Define parts of it as parameters."),
    page(
        "M030",
        "Unknown unit",
        "A word directly after a number is a unit: `40 mm`, `90 deg`, `2 kN/m`, `3 kg*m^2`. Upper and lower case differ (`mN` is not `MN`). To multiply by a parameter write `*`: `2*L`, not `2 L`.",
    ),
    page(
        "M031",
        "A quantity of the wrong dimension",
        "The unit does not have the dimension that the key requires.\n\n    mass: 40 mm         # a length where a mass is expected\n\nPlain numbers are in SI units and are accepted for any dimension. In a product with units every factor needs its unit: `0.5 kg*(40 mm)^2`, not `0.5*(40 mm)^2`, is a moment of inertia.",
    ),
    page(
        "M032",
        "Incompatible units",
        "Two quantities of different dimension are added or compared, or a function of dimensionless numbers is applied to a quantity: `40 mm + 2 kg`, `sin(40 mm)`.",
    ),
    page(
        "M033",
        "Circular definition of parameters",
        "Parameters may use each other in any order, but not circularly.\n\n    parameters: {a: 2*b, b: a/2}      # a -> b -> a\n\nGive one of them a value that does not depend on the others.",
    ),
    page(
        "M034",
        "No such parameter",
        "`--set name=value` changes a parameter of the file, but the file has no parameter of this name. The message proposes the nearest one.",
    ),
    page(
        "M040",
        "A path outside the folder of the model",
        "Mesh files must be in the folder of the model or below it, and their paths are relative, without `..`, drive letters or backslashes. Links to other locations are rejected too. A model that was sent to you thus cannot read other files.",
    ),
    page("M041", "A file is missing", "The mesh file is not there. Its path is relative to the folder of the model."),
    page(
        "M042",
        "Frames that do not belong to the joint",
        "`frames` gives one frame for each of the joint's two bodies, under their names.\n\n    pin: {type: revolute, bodies: [a, b], frames: {a: {at: [1, 0, 0], axis: [0, 0, 1]}, b: {at: [0, 0, 0], axis: [0, 0, 1]}}}",
    ),
    page("M043", "A body without mass", "Every body has a `mass` in kg, or a `solid` with density from which it is computed."),
    page(
        "M044",
        "A body without inertia",
        "Every body has an `inertia` about its centre of mass, in body axes: principal values `[xx, yy, zz]`, tensor entries `[xx, yy, zz, xy, xz, yz]`, `0` for a point mass; or a `solid` with density. A thin rod of mass m and length L along x has `[0, m*L^2/12, m*L^2/12]`.",
    ),
    page("M045", "A solid without mass", "Sizes, radius and density of a solid are positive, and a cylinder has two different ends."),
    page(
        "M060",
        "A name that is not made of points and vectors",
        "In a MechSpec file a point is an upper-case letter with optional digits (`A`, `C1`), a vector a lower-case letter with optional digits (`u`, `v2`), and a rigid part is named by its points and vectors in order: `DC1wv` has the points `D` and `C1` and the vectors `w` and `v`. The first is the point at the origin of its frame. Springs are named by their two points, particles by their point, collinear points by three: `C1vC`.",
    ),
    page(
        "M061",
        "Two parts share two points",
        "In a MechSpec file parts are joined by sharing points and vectors. Two shared points would define their distance twice, once in each part, and the two values may differ.\n\n    Rigids:\n      ABC: ...\n      ABD: ...      # shares A and B\n\nIn space share one point and a vector along the hinge. In the plane two pins make one rigid part: write it as one.",
    ),
    page(
        "M062",
        "No such point, vector or part",
        "A name in a MechSpec file does not refer to a point, vector or part of the mechanism, or it is not allowed here: the position and velocity of a fixed point cannot be set, and only points can be held at the start.",
    ),
    page(
        "M063",
        "A joint or actuator that cannot be built",
        "The given points and vectors do not define such a joint. A slide `C1vC` needs `C1` and `v` on one part and `C` on another. The angle of an actuator needs a hinge: two parts that share the point, and in space a vector along the hinge; where several parts meet, `Parts: [OA, AB]` selects two of them. Runs start at time zero, so `t0` must be 0 if anything depends on `t`.",
    ),
    page(
        "M064",
        "A position or velocity to be held is not given",
        "`fixedpositions` and `fixedvelocities` name coordinates that assembly must not change; their values must be given under `positions` and `velocities`.\n\n    positions: {A: [0, -2]}\n    fixedpositions: {Ax}",
    ),
    page(
        "M065",
        "The other format cannot express this",
        "`fourbar convert` writes a mechanism only if the other format can represent it. MechSpec joins parts by shared points and vectors: hinges, balls, welds, slides, cylindrical joints, points on lines and prescribed lengths. Gears, racks, screws, universal and planar joints, bare constraints, rolling, friction, bushings and forces that read joints exist only in the format of this program.",
    ),
    page("M099", "Too many problems", "Reading stopped after fifty problems. Fix the first ones; the rest often follows from them."),
    page("W050", "A parameter that nothing uses", "The parameter has no effect. Remove it, or check the spelling where it should be used."),
    page(
        "W051",
        "A name that is both a unit and a parameter",
        "After a number, `*` and `/` without spaces continue the unit, so in `2 m/s*h` the `h` is the hour, even if there is a parameter `h`. Put spaces around the operator to refer to the parameter, `2 m/s * h`, or rename it.",
    ),
    page(
        "W060",
        "A part without known positions",
        "The MechSpec file does not define the position of a part, neither by fixed points nor by `positions`. Assembly starts from the origin and closes the mechanism, but which of several assembly modes it finds is arbitrary. Give approximate positions of its points under `ProblemData`.",
    ),
    page(
        "W061",
        "Omitted in the other format",
        "`fourbar convert` wrote the mechanism, but the other format cannot represent some additional content: parameters become numbers, functions are written out, outputs, shapes and settings of the study are dropped, points may get other names.",
    ),
];
