//! Pages of hints: files that are read as they stand, though something else was probably meant.

use super::Page;

const fn page(code: &'static str, title: &'static str, text: &'static str) -> Page {
    Page { code, title, text }
}

pub(crate) const PAGES: &[Page] = &[
    page(
        "U480",
        "A path and columns in one plot",
        "`plot --path NAME` draws the path of a point, one coordinate over the other with equal scales. Columns over time have another abscissa and other units; draw them in a plot of their own:\n\n  fourbar plot out/my --path tracer -o path.svg\n  fourbar plot out/my tracer.z motor.effort -o histories.svg",
    ),
    page(
        "U481",
        "There is no path of this name",
        "`plot --path NAME` needs the three coordinates of NAME: a point under `points:` of the mechanism file, or a body, whose centre of mass is taken. A run with `--columns` or `results:` may have left them out.",
    ),
    page(
        "U482",
        "The motion cannot be exported to this file",
        "`view --export FILE` writes the motion by the ending of the file: .svg and .gif move by themselves in browsers, slides and README files; .png is a still with later poses behind the first; .mp4 is a film, made by ffmpeg; .glb and .gltf are scenes with animation for 3D programs; .csv has position, velocity and effort of every joint, in the manner of joint states in ROS.\n\n  fourbar view my.yaml --export motion.gif",
    ),
    page(
        "U483",
        "A moving picture of several motions",
        "`view --export` draws one mechanism or result. Export each on its own, or leave `--export` out: the page lays several results of one mechanism over each other.",
    ),
    page(
        "U484",
        "The picture of the motion cannot be painted",
        "The motion has no extent that could be drawn, or the picture could not be packed. Write it as SVG (`--export motion.svg`) or look at it on the page.",
    ),
    page(
        "U485",
        "There is no ffmpeg, or it made no film",
        "`view --export motion.mp4` hands the frames to the program ffmpeg, which codes the film. Install it so that `ffmpeg -version` works, with the coder libx264; or export .gif or .svg, which need no other program.",
    ),
    page(
        "W480",
        "An angle that looks like degrees",
        "Numbers without a unit are SI, and angles are radians. A plain angle of several turns, or a multiple of 90 in a drive, is more likely meant in degrees:\n\n  motor: {joint: pin, angle: 360*t}        # 360 rad/s, 57 turns per second\n  motor: {joint: pin, angle: 360 deg*t}    # one turn per second\n  motor: {joint: pin, speed: 60 rpm}       # the same\n\nThe file is run as it is written. Where radians are meant, write `360 rad` and the warning goes away.",
    ),
    page(
        "W481",
        "A parameter set on the command line that nothing uses",
        "`--set` gave a parameter another value, but no expression of the file uses it, so that the result is the same. Check the spelling of the parameter where it should be used; `fourbar check FILE` lists all parameters that nothing uses (W050).",
    ),
];
