//! Pages of the codes that reading and writing formats of other programs can give.

use super::Page;

const fn page(code: &'static str, title: &'static str, text: &'static str) -> Page {
    Page { code, title, text }
}

pub(crate) const PAGES: &[Page] = &[
    page(
        "M650",
        "XML that is not well-formed",
        "A robot file in MJCF, URDF or SDF is XML: every tag is closed, attributes stand in quotes, and `&` and `<` are written as `&amp;` and `&lt;` in texts. The message says where reading stopped.",
    ),
    page(
        "M651",
        "A value that is not what its attribute needs",
        "An attribute of a robot file holds something other than the numbers or words that it needs: too few or too many numbers, a word instead of a number, a number that is not finite, an axis of length zero, a negative mass. Numbers are separated by blanks, decimals are written with a point.",
    ),
    page(
        "M652",
        "XML beyond the limits",
        "The file is nested too deeply, has too many elements, or declares a document type. Document types can define entities that grow without bound, so they are refused: write the values out. `--large` raises the number of elements; no robot needs deeper nesting.",
    ),
    page(
        "M653",
        "Something the mechanism would need is not read",
        "The file uses an element that adds bodies, joints or couplings in a way that is not read here (`replicate`, `composite`, `attach` in MJCF, `include` in SDF, and others). Left out, the rest would be another mechanism, so the file is refused. Let the program that the file is written for expand it (MuJoCo saves the expanded file with `mj_saveLastXML`), and read the result.",
    ),
    page(
        "M654",
        "A robot file that lacks something",
        "An element lacks an attribute or a part that it needs: a joint without `parent` or `child`, a link without a name, a mesh without a file.",
    ),
    page(
        "M655",
        "A name that a robot file does not define",
        "A joint, closure, actuator or class refers to a link, joint, site, mesh or class that is not in the file. The message lists what there is.",
    ),
    page(
        "M656",
        "Two things of one name in a robot file",
        "Links, joints and other elements of one kind have different names, since others refer to them by name. Rename one of them.",
    ),
    page(
        "M657",
        "A file that cannot be included",
        "A robot file includes others by name. They must stand in the folder of the file or below it, exist, be texts, and not include each other in a ring. The message names the file and the place that includes it.",
    ),
    page(
        "M658",
        "Links that form no tree",
        "In a URDF file every link but one is the child of exactly one joint, and `mimic` joints do not follow each other in a ring. A loop of a mechanism is closed by a side file (see M661), by a `<joint>` inside `<gazebo>`, or in SDF and MJCF by a joint or equality of its own.",
    ),
    page(
        "M659",
        "XML of an unknown kind",
        "The root element of a robot file says what it is: `<mujoco>` for MJCF, `<robot>` for URDF, `<sdf>` for SDF. A xacro file is not a robot yet: expand it first, `xacro robot.xacro > robot.urdf`.",
    ),
    page(
        "M660",
        "An ASMT file that cannot be read",
        "ASMT is the format in which the assembly workbench of FreeCAD hands an assembly to its solver: lines indented by tabs, a name on one line and its values on the lines below. The message says what was expected and what stands there. A joint of a kind that is not read is refused as well, since the assembly would be a different one without it.",
    ),
    page(
        "M661",
        "A side file of closures that does not fit its robot",
        "Beside `robot.urdf` there may be `robot.yaml` that closes loops:\n\n    closed_loop: [[frame_a, frame_b], [frame_c, frame_d]]\n    type: ['6d', '3d']\n    name_mot: [motor_joint_1, motor_joint_2]\n\nEach pair names two joints or links whose frames are welded (`6d`) or whose origins are joined by a ball (`3d`). `name_mot` lists the driven joints, which become inputs. The names must be those of joints or links of the robot.",
    ),
    page(
        "M662",
        "A solid given by a mesh that is not a solid",
        "Mass and inertia of `solid: {type: mesh, file: part.stl, scale: 0.001, density: 7850}` (a file in millimetres) are integrals over the volume that the mesh encloses. It must be closed (every edge joins two triangles that go round it in opposite directions), and its triangles must face outwards. The message says how many edges are open. Repair the mesh in the program that it comes from, or give `mass`, `inertia` and `com` as numbers.",
    ),
    page(
        "M669",
        "A list of bodies and constraints that cannot be read",
        "In JSON files with lists of `bodies` and `constraints` (the model files of simEngine3D) every body has an `id`, every constraint a `type` (DP1, DP2, D or CD), two bodies by their `id` or `ground`, its vectors in the axes of these bodies, and a function `f` of `t`. `docs/import.md` lists the words.",
    ),
    page(
        "U450",
        "A folder of meshes that is not there",
        "`--mesh-path FOLDER` says where the meshes of robot files are looked for, besides the folder of the file: `package://NAME/PATH` is `FOLDER/NAME/PATH` or `FOLDER/PATH`. The folder must exist.",
    ),
    page(
        "W450",
        "Part of a foreign file that is not carried over",
        "The file says something that has no meaning for mechanisms here (colours, contacts, sensors, settings of solvers), or that this program cannot express. It is listed by element and attribute with the first place where it stands; everything else is carried over. `docs/import.md` says what is read of each format.",
    ),
    page(
        "W451",
        "Something that a robot file leaves open",
        "URDF does not say whether the root link stands on the ground or moves freely, nor how large gravity is. Here the ground holds the root and gravity is 9.81 m/s^2 along -z. For a free root add a link `world` and a joint of type `floating` from it to the root.",
    ),
    page(
        "W452",
        "Limits of a joint that are not carried over",
        "Limits of a hinge or slide become rigid limits without rebound, `limits: {min: ..., max: ...}`. They are left out, and the joint may move freely, where the mechanism as drawn lies outside of them (many robots do at zero), where they leave no room, and where the joint has no single coordinate (a ball). Start the mechanism elsewhere and write the limits into the converted file, where they matter.",
    ),
    page(
        "W453",
        "A link without mass",
        "A link that moves against its neighbours has no mass in the file. Every body here has one, so it gets a millionth of the mass of the mechanism, which changes its motion in the sixth digit. Give the link a mass, or weld it.",
    ),
    page(
        "W454",
        "Names that have changed",
        "Here bodies, joints, points, forces and inputs share one set of names, made of letters, digits, `_` and `-`. A joint with the name of its body gets `_joint` behind it, other characters become `_`. The message lists old and new names.",
    ),
    page(
        "W455",
        "Rotor inertia",
        "The file gives the inertia of a rotor behind a gear, reflected to the joint (`armature` in MJCF). It resists accelerations of the joint, and nothing else. For a hinge it becomes a wheel on the ground, `NAME_rotor`, whose angle a gear of ratio one keeps equal to that of the joint; for a slide, a mass that moves level. This has exactly the kinetic energy of the rotor, in every formulation. The wheel has almost no mass, and its position is arbitrary. Rotors of ball joints and of free bodies are not carried over, and the message says so: the mechanism then accelerates faster.",
    ),
    page(
        "W456",
        "A mesh that is not there",
        "A mesh that is only drawn is left out of drawings. Where mass and inertia of a body come from a mesh that is not there, not closed or of an unknown kind, the body lacks its share, and the message names it. `--mesh-path FOLDER` says where meshes are.",
    ),
    page(
        "W457",
        "A constraint that is read as something else",
        "MuJoCo's equality constraints give way a little; here they hold exactly. A joint between parts of one body constrains nothing and is left out. A coupling that is no straight line is left out, and the message says so. Coupled coordinates are proportional here: where the file has an offset between them, the coordinate of the second joint counts from there.",
    ),
    page(
        "W458",
        "Dry friction that is smoothed",
        "Constant dry friction of a joint is read as `-F*tanh(rate/0.01)`: it grows smoothly over 0.01 rad/s or m/s and never quite holds. The force can be changed in the converted file.",
    ),
    page(
        "W459",
        "Something that the other format cannot express",
        "`fourbar convert` writes what the other format can express and lists the rest: joints, forces, drives and expressions that URDF or MJCF do not know. The written file is another mechanism where a joint or force is missing.",
    ),
];
