//! The gallery: a page and a picture of every shipped model, and `docs/gallery.md` with all of them.

use crate::browser::{chromium, program, run, scratch};
use crate::root;
use serde_json::Value;
use std::fs::File;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// Size of a picture.
const SIZE: [u32; 2] = [480, 300];
/// Largest picture, in bytes, as they are stored with the sources.
const LARGEST: u64 = 60_000;
/// A model that runs longer is not in the gallery.
const PATIENCE: Duration = Duration::from_secs(120);
/// Planar mechanisms that are better shown from another direction than along their normal.
const VIEWS: [(&str, &str); 1] = [("oldham_coupling", "iso")];
/// Number of pictures side by side.
const ACROSS: usize = 3;

/// Renders all models, or those named.
pub fn write(only: &[String]) -> Result<(), String> {
    let (fourbar, browser) = (program()?, chromium()?);
    let (pages, pictures) = (scratch("gallery"), root().join("docs/gallery"));
    for folder in [&pages, &pictures] {
        std::fs::create_dir_all(folder).map_err(|e| format!("{}: {e}", folder.display()))?;
    }
    let examples = json(Command::new(&fourbar).args(["examples", "--json"]))?;
    let examples = examples["examples"].as_array().ok_or("the program lists no models")?;
    let mut failed = Vec::new();
    for e in examples {
        let name = e["file"].as_str().unwrap_or_default();
        if !(only.is_empty() || only.iter().any(|o| o == name)) {
            continue;
        }
        let page = pages.join(format!("{name}.html"));
        let made = json(Command::new(&fourbar).args(["view", name, "--no-open", "--json", "--output"]).arg(&page))
            .and_then(|told| picture(&browser, &page, &pictures.join(format!("{name}.png")), told["t_end"].as_f64().unwrap_or(0.0)));
        match made {
            Ok(bytes) => println!("{name}: {} kB", bytes / 1000),
            Err(why) => failed.push(format!("{name}: {why}")),
        }
    }
    let text = gallery(examples, &pictures);
    std::fs::write(root().join("docs/gallery.md"), text).map_err(|e| format!("docs/gallery.md: {e}"))?;
    println!("docs/gallery.md is written; the pages are in {}", pages.display());
    if failed.is_empty() { Ok(()) } else { Err(failed.join("\n")) }
}

/// The JSON output of a command. A run that ends early still has a page; its exit code is ignored here.
fn json(command: &mut Command) -> Result<Value, String> {
    let path = scratch("gallery").join("answer.json");
    let file = File::create(&path).map_err(|e| e.to_string())?;
    let mut child = command.stdout(file).stderr(Stdio::null()).spawn().map_err(|e| e.to_string())?;
    let start = Instant::now();
    while child.try_wait().map_err(|e| e.to_string())?.is_none() {
        if start.elapsed() > PATIENCE {
            let _ = child.kill().and_then(|()| child.wait());
            return Err(format!("it takes more than {} s", PATIENCE.as_secs()));
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    let text = std::fs::read_to_string(&path).map_err(|e| e.to_string())?;
    serde_json::from_str(&text).map_err(|e| format!("its answer is not JSON: {e}"))
}

/// Takes a picture of the scene only, at a third of the motion.
fn picture(browser: &Path, page: &Path, picture: &Path, t_end: f64) -> Result<u64, String> {
    if !page.exists() {
        return Err("there is no page".into());
    }
    let page = page.canonicalize().map_err(|e| e.to_string())?;
    let name = page.file_stem().and_then(|s| s.to_str()).unwrap_or_default();
    let view = VIEWS.iter().find(|(model, _)| *model == name).map_or(String::new(), |(_, view)| format!("&view={view}"));
    let mut shot = Command::new(browser);
    shot.args([
        "--headless",
        "--no-sandbox",
        "--use-gl=angle",
        "--use-angle=swiftshader",
        "--enable-unsafe-swiftshader",
        "--hide-scrollbars",
        "--virtual-time-budget=4000",
    ])
    .arg(format!("--window-size={},{}", SIZE[0], SIZE[1]))
    .arg(format!("--screenshot={}", picture.display()))
    .arg(format!("file://{}#t={}&plain=1&theme=light&show=traces{view}", page.display(), t_end / 3.0))
    .stdout(Stdio::null())
    .stderr(Stdio::null());
    run(&mut shot)?;
    let bytes = std::fs::metadata(picture).map_err(|e| e.to_string())?.len();
    if bytes > LARGEST { Err(format!("its picture has {bytes} bytes, more than {LARGEST}")) } else { Ok(bytes) }
}

fn gallery(examples: &[Value], pictures: &Path) -> String {
    let mut text = String::from(
        "# Gallery\n\nThe shipped models, each a third into its motion. `fourbar demo NAME` runs one and opens its page; `fourbar examples NAME`\n\
         prints its file. This page is made by `cargo xtask gallery`.\n\n",
    );
    text += &format!("|{}\n|{}\n", " |".repeat(ACROSS), "---|".repeat(ACROSS));
    let shown: Vec<&Value> =
        examples.iter().filter(|e| pictures.join(format!("{}.png", e["file"].as_str().unwrap_or_default())).exists()).collect();
    for row in shown.chunks(ACROSS) {
        let cells = row.iter().map(|e| {
            let [file, name, title] = ["file", "name", "title"].map(|key| e[key].as_str().unwrap_or_default().replace('|', "\\|"));
            format!(" ![{title}](gallery/{file}.png)<br>{title}<br>`{name}` |")
        });
        text += &format!("|{}{}\n", cells.collect::<String>(), " |".repeat(ACROSS - row.len()));
    }
    text
}
