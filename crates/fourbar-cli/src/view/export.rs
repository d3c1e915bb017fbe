//! `fourbar view --export`: the motion as a picture, a film, a scene or a table of joints.

use super::Source;
use crate::args::ViewArgs;
use crate::reply::{Reply, Stop, exit_code};
use fourbar::Diagnostic;
use fourbar_io::disk::{Kind, PART, may_replace, unwritable, write_kind};
use fourbar_io::page::{Frames, GltfFile, Shown, animated_gif, animated_gltf, animated_svg, frames, joint_states, still_png};
use serde_json::json;
use std::io::{Read, Write};
use std::path::Path;
use std::process::{Command, Stdio};

/// Format, by the ending of the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Format {
    Svg,
    Gif,
    Png,
    Mp4,
    Gltf(GltfFile),
    JointStates,
}

impl Format {
    fn of(path: &Path) -> Option<Self> {
        let ending = path.extension()?.to_str()?.to_ascii_lowercase();
        Some(match ending.as_str() {
            "svg" => Self::Svg,
            "gif" => Self::Gif,
            "png" => Self::Png,
            "mp4" => Self::Mp4,
            "glb" => Self::Gltf(GltfFile::Binary),
            "gltf" => Self::Gltf(GltfFile::Text),
            "csv" => Self::JointStates,
            _ => return None,
        })
    }

    /// Tables and films do not contain the name of the program: they are replaced with `--force` only.
    fn kind(self) -> Kind {
        if matches!(self, Self::JointStates | Self::Mp4) { Kind::Other } else { Kind::Picture }
    }

    fn what(self) -> &'static str {
        match self {
            Self::Svg => "browsers and README files show it moving",
            Self::Gif => "it moves wherever pictures are shown",
            Self::Png => "the first pose, with later ones behind it",
            Self::Mp4 => "a video of the motion",
            Self::Gltf(_) => "a scene with animation, for Blender and other 3D programs",
            Self::JointStates => "position, velocity and effort of every joint",
        }
    }
}

fn unknown(picture: &Path) -> Diagnostic {
    let d = Diagnostic::new("U482", format!("the motion cannot be exported to `{}`", picture.display()));
    d.help("give a name that ends in .svg, .gif, .png, .mp4, .glb, .gltf or .csv (joint states)")
}

/// Checks whether the motion can be written to a file.
pub fn may_export(picture: &Path, args: &ViewArgs) -> Result<(), Diagnostic> {
    if args.inputs.len() > 1 {
        let d = Diagnostic::new("U483", format!("a moving picture shows one motion, not {}", args.inputs.len()));
        return Err(d.help("omit `--export` for a page that overlays several motions"));
    }
    let format = Format::of(picture).ok_or_else(|| unknown(picture))?;
    if format == Format::Mp4 {
        coder()?;
    }
    may_replace(picture, format.kind(), args.force)
}

/// Writes the motion.
pub fn export(picture: &Path, force: bool, source: &Source) -> Result<Reply, Stop> {
    let format = Format::of(picture).ok_or_else(|| unknown(picture))?;
    let (model, table, label) = (&source.input.model, &source.table, source.label.as_str());
    let shown = Shown { label: source.label.clone(), table, summary: &source.summary };
    let mut warnings = Vec::new();
    let stop = |d: Diagnostic| source.input.stop(&d);
    let bytes = match format {
        Format::Svg => animated_svg(model, &shown).map_err(stop)?.into_bytes(),
        Format::Gif => animated_gif(model, &shown).map_err(stop)?,
        Format::Png => still_png(model, &shown).map_err(stop)?,
        Format::Gltf(file) => {
            let (bytes, said) = animated_gltf(model, source.input.folder.as_deref(), table, label, file).map_err(stop)?;
            warnings = said;
            bytes
        }
        Format::JointStates => joint_states(model, table, label).map_err(stop)?,
        Format::Mp4 => film(picture, &frames(model, &shown).map_err(stop)?)?,
    };
    write_kind(picture, &bytes, format.kind(), force)?;
    let path = picture.display().to_string();
    let jointless = model.joints.iter().all(|j| j.coordinates().next().is_none());
    let what = if format == Format::JointStates && jointless { "only the times, because no joint has a coordinate" } else { format.what() };
    let said = format!("{path} ({:.0} kB) is written: {what}\n", bytes.len() as f64 / 1e3);
    let mut reply = Reply::new(said, json!({"written": path, "bytes": bytes.len()}));
    reply.notes = source.input.notes(source.problems.iter().chain(&warnings));
    reply.exit = exit_code(reply.notes.list.iter());
    Ok(reply)
}

/// The program that encodes films.
fn coder() -> Result<&'static str, Diagnostic> {
    let there = Command::new("ffmpeg").arg("-version").stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).status();
    if there.is_ok_and(|s| s.success()) {
        return Ok("ffmpeg");
    }
    let d = Diagnostic::new("U485", "writing .mp4 needs ffmpeg, which was not found");
    Err(d.help("install ffmpeg, or export .gif or .svg, which need no other program"))
}

/// Passes the frames to the encoder and returns the encoded film.
fn film(picture: &Path, frames: &Frames<'_>) -> Result<Vec<u8>, Diagnostic> {
    let failed =
        |why: String| Diagnostic::new("U485", format!("ffmpeg did not write the video: {why}")).help("export .gif or .svg instead");
    // The encoder cannot write this format to a pipe, as the index is at the start.
    let part = picture.with_extension(format!("{PART}.mp4"));
    let size = format!("{}x{}", frames.width, frames.height);
    let mut command = Command::new(coder()?);
    command.args([
        "-loglevel",
        "error",
        "-y",
        "-f",
        "rawvideo",
        "-pix_fmt",
        "rgb24",
        "-s",
        &size,
        "-r",
        &frames.rate.to_string(),
        "-i",
        "-",
    ]);
    command.args(["-an", "-c:v", "libx264", "-pix_fmt", "yuv420p", "-movflags", "+faststart"]).arg(&part);
    let mut child =
        command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().map_err(|e| failed(e.to_string()))?;
    let mut errors = child.stderr.take();
    // Its messages are read in parallel, so that it never blocks.
    let listener = std::thread::spawn(move || {
        let mut text = String::new();
        if let Some(e) = &mut errors {
            // Unreadable messages are ignored.
            let _ = e.take(10_000).read_to_string(&mut text);
        }
        text
    });
    let written = child.stdin.take().map_or(Ok(()), |mut pipe| frames.each(&mut |rgb| pipe.write_all(rgb)));
    let status = child.wait().map_err(|e| failed(e.to_string()))?;
    let said = listener.join().unwrap_or_default();
    let bytes = std::fs::read(&part);
    // Written to its final path in the same way as all files.
    let _ = std::fs::remove_file(&part);
    match (written, status.success()) {
        (Ok(()), true) => bytes.map_err(|e| unwritable(&part, &e)),
        (Err(e), true) => Err(failed(e.to_string())),
        _ => Err(failed(said.lines().last().unwrap_or("it gave no reason").to_string())),
    }
}
