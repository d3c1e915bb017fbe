// Drives the page in Debian's chromium: node tests/run.mjs [PAGE[=TRAJECTORY.csv]...]
// Without arguments it makes its own pages. A page with a CSV is compared with it at the sample times. Needs `npm ci`.

import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { existsSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { chromium } from "playwright-core";
import { makeSamples } from "./make-sample.mjs";
import * as checks from "./checks.mjs";
import { hasEngine, livePage } from "./engine.mjs";
import * as live from "./live.mjs";
import { fourBarCsv } from "./samples.mjs";
import { failedCases, namesApart } from "./sweep.mjs";
import { units } from "./units.mjs";

const FLAGS = [
  "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync",
  "--use-gl=angle", "--use-angle=swiftshader", "--enable-unsafe-swiftshader",
];
const executable = [process.env.CHROMIUM, "/usr/bin/chromium", "/usr/bin/chromium-browser"].find((p) => p && existsSync(p));
if (!executable) {
  console.error("no chromium found: install Debian's chromium, or set CHROMIUM to its path");
  console.log("0 passed, 1 failed");
  process.exit(1);
}

let passed = 0, failed = 0;
const scratch = await mkdtemp(join(tmpdir(), "fourbar-viewer-"));
const context = await chromium.launchPersistentContext(join(scratch, "profile"), { executablePath: executable, headless: true, args: FLAGS, viewport: { width: 1280, height: 720 }, acceptDownloads: true, colorScheme: "light" });

/** Opens a page from its file, runs one check on it, and holds every complaint of the browser against it. */
async function check(name, file, test, hash = "play=0", expected = /^warning: .*GPU stall due to ReadPixels/, before = null) {
  // ONLY=words runs the checks whose names match.
  if (process.env.ONLY && !new RegExp(process.env.ONLY).test(name)) return;
  const page = await context.newPage(), complaints = [];
  if (before) await page.addInitScript(before);
  page.on("console", (m) => { if (m.type() === "error" || m.type() === "warning") complaints.push(`${m.type()}: ${m.text()}`); });
  page.on("pageerror", (e) => complaints.push(`error: ${e.message}`));
  page.on("dialog", (d) => { complaints.push(`dialog: ${d.message()}`); void d.dismiss(); });
  page.on("request", (r) => { if (!/^(file|blob|data):/.test(r.url())) complaints.push(`request: ${r.url()}`); });
  try {
    await page.goto(`${pathToFileURL(resolve(file)).href}#${hash}`);
    await page.waitForFunction(() => window.fourbar || document.querySelector(".failure, #picked"), null, { timeout: 60000 });
    const broken = await page.evaluate(() => document.querySelector(".failure")?.textContent);
    if (broken) throw new Error(broken);
    await test(page);
    // Drawing in software warns about its own speed when pixels are read back; that is no fault of the page.
    const real = complaints.filter((c) => !expected.test(c));
    if (real.length) throw new Error(real.join("; "));
    passed++;
    console.log(`ok      ${name}`);
  } catch (e) {
    failed++;
    console.log(`FAILED  ${name}: ${e.message}`);
  } finally {
    await page.close();
  }
}

try {
  const pages = process.argv.slice(2);
  for (const argument of pages) {
    const [file, csv] = argument.split("=");
    const name = file.split("/").at(-1);
    if (/^(sweep|history)\.html$/.test(name)) {
      await check(`${name}: a picked case moves in the page`, file, checks.cases);
      continue;
    }
    await check(`${name}: loads without complaint`, file, checks.loads);
    await check(`${name}: playing moves time`, file, checks.plays, "");
    await check(`${name}: bodies stand where the page's data say`, file, checks.posesFromData);
    if (csv) await check(`${name}: bodies stand where the CSV says`, file, (p) => checks.posesFromCsv(p, csv));
    await check(`${name}: plots, traces and keys`, file, checks.anyPage);
    if (name === "live.html") await check(`${name}: a dragged crank closes all loops`, file, live.drags);
    if (name === "playground.html") {
      await check(`${name}: a linkage is drawn`, file, live.sketches);
      await check(`${name}: dragged cranks stand as the command line assembles them`, file, (p) => live.assembled(p, scratch));
    }
  }
  if (!pages.length) {
    for (const [name, test] of [["sweep: cases that failed, and rounding", failedCases], ["sweep: names of axes on a phone", namesApart], ["numbers of axes, values of sliders, sketches, events", units]]) {
      try {
        await test();
        passed++;
        console.log(`ok      ${name}`);
      } catch (e) {
        failed++;
        console.log(`FAILED  ${name}: ${e.message}`);
      }
    }
    const made = await makeSamples(join(scratch, "pages")), four = made.fourbar.path;
    for (const [name, { path }] of Object.entries(made)) await check(`${name}: loads without complaint`, path, checks.loads);
    await check("playing moves time and bodies", four, checks.plays, "");
    await check("poses follow the formulas, at and between samples", four, checks.posesFromFormula);
    const csv = join(scratch, "trajectory.csv");
    await writeFile(csv, fourBarCsv());
    await check("poses follow a CSV", four, (p) => checks.posesFromCsv(p, csv));
    await check("poses follow the data: every shape and joint", made.zoo.path, checks.posesFromData);
    await check("one pose without motion is shown", made.still.path, checks.posesFromData);
    await check("scrubber, steps and keys", four, checks.scrub);
    await check("views, fit and hover", four, checks.hover);
    await check("traces are chosen, shown and hidden", four, checks.traces);
    await check("reactions, velocities, ghost and names", four, checks.arrows);
    await check("columns are found, plotted, read and removed", four, checks.plots);
    await check("plots zoom, jump and reset", four, checks.zoom);
    await check("diagnosis jumps and lights joints", four, checks.diagnosis);
    await check("plots are saved as SVG, PNG and CSV", four, checks.plotFiles);
    await check("the motion is saved as animated glTF", four, checks.gltf);
    await check("the film is saved as GIF", four, checks.gif);
    await check("the film is saved as WebM", four, checks.webm);
    await check("two results are compared", made.compare.path, checks.compare);
    await check("every result is in view", made.modes.path, checks.inView);
    await check("the grid does not cut through ghosts", made.modes.path, checks.grid);
    await check("a hostile title is a label", made.hostile.path, checks.hostile);
    await check("the policy refuses foreign script, style and network", four, checks.policy, "play=0", /Content Security Policy/);
    await check("a chain of 1,000 bodies plays", made.chain.path, checks.plays, "");
    await check("10 s of 50 bodies stay under 8 MB", made.fifty.path, () => checks.size(made.fifty.bytes));
    await check("light, dark and a phone held sideways", four, checks.layout);
    await check("events on the bar, in a table and in the motion", made.bouncing.path, checks.events);
    await check("what an event takes out is not drawn, and long names stay inside", made.cut.path, checks.cut);
    await check("plots over columns, noise drawn as zero, a followed body", made.zoo.path, checks.choices);
    await check("plots without WebGL", four, live.withoutWebgl, "play=0", /^warning: .*GPU/, "HTMLCanvasElement.prototype.getContext = ((f) => function (kind, ...rest) { return /webgl/.test(kind) ? null : f.call(this, kind, ...rest); })(HTMLCanvasElement.prototype.getContext);");
    if (hasEngine) {
      const file = join(scratch, "live.html"), play = join(scratch, "playground.html");
      await writeFile(file, await livePage("fourbar"));
      await writeFile(play, await livePage("fourbar", ["fourbar", "stewart_platform", "jansen_leg"]));
      await check("live: the first picture does not wait for the engine", file, () => live.firstPicture(context, file));
      const grip = join(scratch, "grip.html");
      await writeFile(grip, await livePage("contact_gripper"));
      await check("live: contact forces are arrows", grip, live.pushes);
      const shot = join(scratch, "shot.html");
      await writeFile(shot, await livePage("event_catapult"));
      await check("live: a followed arm is not a speck beside what it throws", shot, checks.thrown);
      const rope = join(scratch, "rope.html");
      await writeFile(rope, await livePage("fourbar", null, { text: live.ROPE }));
      await check("live: a rope runs over its eyes", rope, live.ropes);
      await check("live: a dragged crank closes all loops", file, live.drags);
      await check("live: ten cranks lead their mechanisms as kinematics does", file, live.branches);
      const twenty = join(scratch, "twenty.html");
      await writeFile(twenty, await livePage("fourbar", live.DRAGGED));
      await check("live: sixty dragged paths on twenty models", twenty, live.paths);
      await check("live: a dead point stops the hand", file, live.deadPoint);
      await check("live: sliders are set parameters", file, live.slides);
      await check("live: a value that cannot be built", file, live.refuses);
      await check("live: sliders have units", file, live.units);
      const given = join(scratch, "given.html"), comment = join(scratch, "comment.html"), ramp = join(scratch, "ramp.html"), cut = join(scratch, "cut.html");
      await writeFile(given, await livePage("fourbar", null, { set: [["crank_length", "60mm"]], study: { t_end: 0.5, output_step: 0.01 } }));
      await writeFile(comment, await livePage("fourbar", null, { text: live.COMMENTED.replaceAll("\n", "\r\n") }));
      await writeFile(ramp, await livePage("fourbar", null, { text: live.RAMP }));
      await writeFile(cut, await livePage("fourbar", null, { text: live.CUT }));
      await check("live: what the page was made with stays in force", given, (p) => live.given(p));
      await check("live: values are written where they stand", comment, live.places);
      await check("live: inputs stay, also in a shared page", ramp, (p) => live.inputs(p, context, scratch));
      await check("live: values of a part follow the time", file, live.follows);
      await check("live: let go from a recording and after a drag", file, live.letGo);
      await check("live: what events have changed stays changed", cut, live.changes);
      await check("live: a page shared with a mistake in the editor", file, (p) => live.sharesBad(p, context, scratch));
      const slow = join(scratch, "slow.html");
      await writeFile(slow, await livePage("fourbar", [["fourbar", "First steps"], ["contact_ball_heap", "Heavy"]]));
      await check("live: a long study does not hold up the page", slow, live.heavy);
      await check("live: the file is edited, hostile text stays text", file, live.edits);
      await check("live: dynamics, ten thousand frames", file, live.moves);
      await check("live: what check says, modes, values", file, live.explains);
      await check("live: the page saves itself", file, (p) => live.shares(p, context, scratch));
      await check("live: a linkage is drawn", play, live.sketches);
      await check("live: without WebAssembly the recording plays", file, live.withoutEngine, "play=0", /^warning: .*GPU/, "delete window.WebAssembly;");
      await check("live: at 390, 800 and 1400 pixels, light and dark", file, live.sizes);
    } else console.log("there is no engine: live pages are not tested; cargo xtask wasm builds it");
  }
} finally {
  await context.close();
  await rm(scratch, { recursive: true, force: true });
}
console.log(`${passed} passed, ${failed} failed`);
process.exit(failed || !passed ? 1 : 0);
