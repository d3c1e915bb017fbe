//! Pages of hints: valid files that probably do not express the author's intention.

use super::Page;

const fn page(code: &'static str, title: &'static str, text: &'static str) -> Page {
    Page { code, title, text }
}

pub(crate) const PAGES: &[Page] = &[
    page(
        "U480",
        "A path and columns in one plot",
        "`plot --path NAME` draws the path of a point, one coordinate over the other with equal scales. Columns over time have another abscissa and other units; draw them in a separate plot:\n\n  fourbar plot out/my --path tracer -o path.svg\n  fourbar plot out/my tracer.z motor.effort -o histories.svg",
    ),
    page(
        "U481",
        "There is no path of this name",
        "`plot --path NAME` needs the three coordinates of NAME: a point under `points:` of the mechanism file, or a body, whose centre of mass is used. A run with `--columns` or `results:` may have omitted them.",
    ),
    page(
        "U482",
        "The motion cannot be exported to this file",
        "`view --export FILE` writes the motion in the format given by the extension: .svg and .gif are animated pictures for browsers, slides and README files; .png is a still picture with later poses behind the first; .mp4 is a video, encoded by ffmpeg; .glb and .gltf are animated scenes for 3D programs; .csv contains position, velocity and effort of every joint, like joint states in ROS.\n\n  fourbar view my.yaml --export motion.gif",
    ),
    page(
        "U483",
        "An export of several motions",
        "`view --export` draws one mechanism or result. Export each separately, or omit `--export`: the page overlays several results of one mechanism.",
    ),
    page(
        "U484",
        "The picture of the motion cannot be drawn",
        "The motion has no extent that could be drawn, or the picture could not be encoded. Write it as SVG (`--export motion.svg`) or view the page.",
    ),
    page(
        "U485",
        "ffmpeg is missing or failed",
        "`view --export motion.mp4` passes the frames to the program ffmpeg, which encodes the video. Install it so that `ffmpeg -version` works, with the encoder libx264; or export .gif or .svg, which need no other program.",
    ),
    page(
        "W480",
        "An angle that looks like degrees",
        "Numbers without a unit are SI, and angles are radians. A plain angle of several turns, or a multiple of 90 in a drive, is probably intended in degrees:\n\n  motor: {joint: pin, angle: 360*t}        # 360 rad/s, 57 turns per second\n  motor: {joint: pin, angle: 360 deg*t}    # one turn per second\n  motor: {joint: pin, speed: 60 rpm}       # the same\n\nThe file is run as written. If radians are intended, write `360 rad` to suppress the warning.",
    ),
    page(
        "W481",
        "A parameter set on the command line that nothing uses",
        "`--set` gave a parameter another value, but no expression of the file uses it, so that the result is the same. Check the spelling of the parameter where it should be used; `fourbar check FILE` lists all parameters that nothing uses (W050).",
    ),
];
