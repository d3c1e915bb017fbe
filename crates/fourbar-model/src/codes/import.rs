//! Pages of the diagnostic codes of reading and writing formats of other programs.

use super::Page;

const fn page(code: &'static str, title: &'static str, text: &'static str) -> Page {
    Page { code, title, text }
}

pub(crate) const PAGES: &[Page] = &[
    page(
        "M650",
        "XML that is not well-formed",
        "A robot file in MJCF, URDF or SDF is XML: every tag is closed, attributes are quoted, and `&` and `<` are written as `&amp;` and `&lt;` in texts. The message shows where parsing stopped.",
    ),
    page(
        "M651",
        "Invalid value of an attribute",
        "An attribute of a robot file does not contain the required numbers or words: too few or too many numbers, a word instead of a number, a number that is not finite, an axis of length zero, a negative mass. Numbers are separated by blanks, decimals are written with a point.",
    ),
    page(
        "M652",
        "XML beyond the limits",
        "The file is nested too deeply, has too many elements, or declares a document type. Document types can define entities that grow without bound, so they are rejected: write the values explicitly. `--large` raises the number of elements; no robot needs deeper nesting.",
    ),
    page(
        "M653",
        "An essential element is not supported",
        "The file uses an element that adds bodies, joints or couplings in a way that is not read here (`replicate`, `composite`, `attach` in MJCF, `include` in SDF, and others). Without it, the rest would be a different mechanism, so the file is rejected. Let the original program expand it (MuJoCo saves the expanded file with `mj_saveLastXML`), and read the result.",
    ),
    page(
        "M654",
        "A robot file with a missing entry",
        "An element lacks a required attribute or part: a joint without `parent` or `child`, a link without a name, a mesh without a file.",
    ),
    page(
        "M655",
        "A name that a robot file does not define",
        "A joint, closure, actuator or class refers to a link, joint, site, mesh or class that is not in the file. The message lists the available names.",
    ),
    page(
        "M656",
        "Two elements of the same name in a robot file",
        "Links, joints and other elements of one kind have different names, since others refer to them by name. Rename one of them.",
    ),
    page(
        "M657",
        "A file that cannot be included",
        "A robot file includes others by name. They must exist in the folder of the file or below it, be text, and not include each other circularly. The message names the file and the place that includes it.",
    ),
    page(
        "M658",
        "Links that do not form a tree",
        "In a URDF file every link but one is the child of exactly one joint, and `mimic` joints do not follow each other circularly. A loop of a mechanism is closed by an additional file (see M661), by a `<joint>` inside `<gazebo>`, or in SDF and MJCF by an additional joint or equality.",
    ),
    page(
        "M659",
        "XML of an unknown kind",
        "The root element of a robot file determines its format: `<mujoco>` for MJCF, `<robot>` for URDF, `<sdf>` for SDF. A xacro file is not a robot yet: expand it first, `xacro robot.xacro > robot.urdf`.",
    ),
    page(
        "M660",
        "An ASMT file that cannot be read",
        "ASMT is the format in which the assembly workbench of FreeCAD passes an assembly to its solver: lines indented by tabs, a name on one line and its values on the lines below. The message shows what was expected and what was found. A joint of an unsupported type is rejected as well, since without it the assembly would be a different one.",
    ),
    page(
        "M661",
        "A file of loop closures that does not match its robot",
        "An optional file `robot.yaml` next to `robot.urdf` closes loops:\n\n    closed_loop: [[frame_a, frame_b], [frame_c, frame_d]]\n    type: ['6d', '3d']\n    name_mot: [motor_joint_1, motor_joint_2]\n\nEach pair names two joints or links whose frames are welded (`6d`) or whose origins are joined by a ball (`3d`). `name_mot` lists the driven joints, which become inputs. The names must be those of joints or links of the robot.",
    ),
    page(
        "M662",
        "A solid given by a mesh that is not a solid",
        "Mass and inertia of `solid: {type: mesh, file: part.stl, scale: 0.001, density: 7850}` (a file in millimetres) are integrals over the volume that the mesh encloses. It must be closed (every edge is shared by two triangles with opposite orientation along it), and its triangles must face outwards. The message gives the number of open edges. Repair the mesh in its original program, or give `mass`, `inertia` and `com` as numbers.",
    ),
    page(
        "M669",
        "A list of bodies and constraints that cannot be read",
        "In JSON files with lists of `bodies` and `constraints` (the model files of simEngine3D) every body has an `id`, every constraint a `type` (DP1, DP2, D or CD), two bodies by their `id` or `ground`, its vectors in the axes of these bodies, and a function `f` of `t`. `docs/import.md` lists the keywords.",
    ),
    page(
        "U450",
        "A folder of meshes that does not exist",
        "`--mesh-path FOLDER` is searched for the meshes of robot files, in addition to the folder of the file: `package://NAME/PATH` is `FOLDER/NAME/PATH` or `FOLDER/PATH`. The folder must exist.",
    ),
    page(
        "W450",
        "Part of an imported file that is not converted",
        "The file contains something that has no meaning for mechanisms here (colours, contacts, sensors, solver settings), or that this program cannot represent. It is listed by element and attribute with its first location; everything else is converted. `docs/import.md` describes what is read of each format.",
    ),
    page(
        "W451",
        "Something that a robot file does not define",
        "URDF does not define whether the root link is fixed or moves freely, nor the magnitude of gravity. Here the root is fixed to the ground and gravity is 9.81 m/s^2 along -z. For a free root add a link `world` and a joint of type `floating` from it to the root.",
    ),
    page(
        "W452",
        "Limits of a joint that are not converted",
        "Limits of a hinge or slide become rigid limits without rebound, `limits: {min: ..., max: ...}`. They are omitted, and the joint moves freely, if the drawn mechanism violates them (many robots do at zero), if they leave no range, or if the joint has no single coordinate (a ball). If the limits are needed, start the mechanism elsewhere and add them to the converted file.",
    ),
    page(
        "W453",
        "A link without mass",
        "A link that moves relative to its neighbours has no mass in the file. Every body needs a mass, so it gets a millionth of the mass of the mechanism, which changes the motion in the sixth digit. Give the link a mass, or weld it.",
    ),
    page(
        "W454",
        "Names that have changed",
        "Here bodies, joints, points, forces and inputs share one set of names, made of letters, digits, `_` and `-`. A joint with the name of its body gets the suffix `_joint`, other characters become `_`. The message lists old and new names.",
    ),
    page(
        "W455",
        "Rotor inertia",
        "The file gives the inertia of a rotor behind a gear, reflected to the joint (`armature` in MJCF). It resists accelerations of the joint, and nothing else. For a hinge it becomes a wheel on the ground, `NAME_rotor`, whose angle a gear of ratio one keeps equal to that of the joint; for a slide, a mass that moves horizontally. This has exactly the kinetic energy of the rotor, in every formulation. The wheel has almost no mass, and its position is arbitrary. Rotors of ball joints and of free bodies are not converted, and the message states this: the mechanism then accelerates faster.",
    ),
    page(
        "W456",
        "A missing mesh",
        "A missing mesh that is only drawn is omitted from drawings. If mass and inertia of a body come from a mesh that is missing, not closed or of an unknown kind, the body lacks this contribution, and the message names it. `--mesh-path FOLDER` adds a folder of meshes.",
    ),
    page(
        "W457",
        "A constraint that is read as another type",
        "MuJoCo's equality constraints are soft; here they hold exactly. A joint between parts of one body constrains nothing and is omitted. A nonlinear coupling is omitted, and the message states this. Coupled coordinates are proportional here: if the file has an offset between them, the coordinate of the second joint is measured from there.",
    ),
    page(
        "W458",
        "Dry friction that is smoothed",
        "Constant dry friction of a joint is read as `-F*tanh(rate/0.01)`: it grows smoothly over 0.01 rad/s or m/s and does not stick. The force can be changed in the converted file.",
    ),
    page(
        "W459",
        "Something that the other format cannot express",
        "`fourbar convert` writes what the other format can express and lists the rest: joints, forces, drives and expressions that URDF or MJCF do not support. If a joint or force is missing, the written file is a different mechanism.",
    ),
];
