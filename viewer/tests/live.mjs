// Checks of live pages: what a hand does in the scene, sliders, the file, and what must not happen.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readFile, writeFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { engine, modelText } from "./engine.mjs";

const live = (page, f, ...args) => page.evaluate(([name, list]) => window.live[name](...list), [f, args]);
const api = (page, f, ...args) => page.evaluate(([name, list]) => window.fourbar[name](...list), [f, args]);
export const ready = (page) => page.waitForFunction(() => window.live !== undefined, null, { timeout: 60000 });
const rotate = ([w, x, y, z], v) => {
  const t = [2 * (y * v[2] - z * v[1]), 2 * (z * v[0] - x * v[2]), 2 * (x * v[1] - y * v[0])];
  return [v[0] + w * t[0] + y * t[2] - z * t[1], v[1] + w * t[1] + z * t[0] - x * t[2], v[2] + w * t[2] + x * t[1] - y * t[0]];
};

/** The largest gap of the pins of a mechanism, from a row of the engine: two places that should be one. */
function gap(model, columns, row) {
  const at = (name, k) => row[columns.indexOf(name) + k];
  const place = (body, s) => {
    if (body === "ground") return s;
    const b = model.bodies.find((v) => v.name === body), r = [0, 1, 2].map((k) => at(`${body}.r.x`, k)), p = [0, 1, 2, 3].map((k) => at(`${body}.p.0`, k));
    return rotate(p, s.map((v, k) => v - (b.com ?? [0, 0, 0])[k])).map((v, k) => v + r[k]);
  };
  const pins = model.joints.filter((j) => ["revolute", "spherical", "universal"].includes(j.type));
  assert.ok(pins.length > 0);
  return Math.max(...pins.map((j) => { const a = place(j.bodies[0], j.base.at), b = place(j.bodies[1], j.moving.at); return Math.hypot(...a.map((v, k) => v - b[k])); }));
}
const model = (page) => page.evaluate(() => JSON.parse(document.getElementById("fourbar-data").textContent).model);

/** A crank dragged by the mouse turns, and all loops stay closed. */
export async function drags(page) {
  await ready(page);
  const m = await model(page), scene = await page.locator("canvas").boundingBox(), before = await live(page, "row");
  const from = await api(page, "screen", "crank", 0, [0.07, 0, 0]), centre = await api(page, "screen", "crank", 0, [0, 0, 0]);
  await page.mouse.move(scene.x + from.x, scene.y + from.y);
  await page.mouse.down();
  const { columns } = await live(page, "state"), angle = columns.indexOf("O.angle"), r = Math.hypot(from.x - centre.x, from.y - centre.y), a0 = Math.atan2(from.y - centre.y, from.x - centre.x);
  let worst = 0;
  for (let k = 1; k <= 80; k++) {
    const a = a0 - (2 * Math.PI * k) / 80;
    await page.mouse.move(scene.x + centre.x + r * Math.cos(a), scene.y + centre.y + r * Math.sin(a));
    await page.waitForTimeout(12);
    worst = Math.max(worst, gap(m, columns, await live(page, "row")));
  }
  await page.waitForTimeout(100);
  await page.mouse.up();
  const after = await live(page, "row");
  assert.ok(worst < 1e-10, `a loop is open by ${worst} m`);
  // A whole turn to the left, counted; everything else is back where it was: the branch was kept.
  assert.ok(Math.abs(after[angle] - before[angle] - 2 * Math.PI) < 0.05, `the crank turned by ${after[angle] - before[angle]}`);
  for (const body of ["coupler", "rocker"]) {
    const k = columns.indexOf(`${body}.r.x`);
    assert.ok(Math.hypot(...[0, 1, 2].map((c) => after[k + c] - before[k + c])) < 0.01, `${body} came back elsewhere`);
  }
  // What is drawn is what the engine holds.
  const drawn = await api(page, "bodyPose", "rocker"), k = columns.indexOf("rocker.r.x"), com = m.bodies.find((b) => b.name === "rocker").com;
  const seen = rotate(drawn.quaternion, com).map((v, c) => v + drawn.origin[c]);
  assert.ok(Math.hypot(...seen.map((v, c) => v - after[k + c])) < 1e-5, "the scene shows another pose");
  await page.keyboard.press("Space");
  await page.waitForTimeout(300);
  assert.ok(await api(page, "playing"), "the recording plays again");
}

/** A rocker pulled beyond its dead point stops there, and the page says so. */
export async function deadPoint(page) {
  await ready(page);
  for (let k = 0; k < 50; k++) { const a = 1.6 + 0.03 * k; await live(page, "drag", "rocker", [0.16, 0, 0], [0.2 + 0.16 * Math.cos(a), 0.16 * Math.sin(a), 0]); }
  const s = await live(page, "state");
  assert.match(s.status, /dead point/);
  assert.ok(s.warn);
  assert.ok((await api(page, "lit")).includes("rocker"));
}

/** A slider gives the bits of `--set`; letting it go writes the file; undo takes it back. */
export async function slides(page) {
  await ready(page);
  const slider = page.getByLabel("crank_length", { exact: true });
  await slider.fill("0.0731");
  await slider.dispatchEvent("change");
  await page.waitForTimeout(200);
  const s = await live(page, "state"), own = engine();
  assert.match(s.text, /crank_length: 73\.1 mm/);
  assert.equal(own.ask({ do: "load", text: await modelText("fourbar"), set: [["crank_length", "0.0731"]] }).ok, true);
  await page.waitForTimeout(600);
  assert.deepEqual(s.row, Array.from(own.row()), "the slider and the set parameter differ");
  await live(page, "undo");
  assert.match((await live(page, "state")).text, /crank_length: 80 mm/);
}

/** A value that cannot be built is said and marked; file, engine and the other sliders stay together, and a reset brings the slider back. */
export async function refuses(page) {
  await ready(page);
  const number = (name) => page.getByLabel(`${name}, number`), text = await modelText("fourbar");
  const together = async (length) => {
    const s = await live(page, "state");
    assert.equal(s.text, s.engineText, "the editor shows another file than the engine has");
    assert.match(s.text, new RegExp(`ground_length: ${length * 1000} mm`));
    assert.ok(Math.abs(s.parameters.ground_length - length) < 1e-12);
    return s;
  };
  await number("ground_length").fill("0.9");
  await number("ground_length").press("Enter");
  let s = await together(0.2);
  assert.match(s.status, /ground_length = 0\.9 cannot be built: .*keep ground_length = 0\.2/);
  assert.ok(s.warn);
  assert.equal(await number("ground_length").inputValue(), "0.9");
  assert.equal(await number("ground_length").getAttribute("aria-invalid"), "true");
  assert.equal(await page.getByLabel("ground_length", { exact: true }).getAttribute("max"), String(0.2 + 0.1), "the slider keeps its range");
  assert.deepEqual(s.complaints, [], "the file itself is good");
  await page.getByRole("button", { name: "Back to the start" }).click();
  await together(0.2);
  assert.equal(await number("ground_length").inputValue(), "0.2");
  assert.equal(await number("ground_length").getAttribute("aria-invalid"), null);
  // Another slider does not bring the refused value into the file.
  await number("ground_length").fill("0.9");
  await number("ground_length").press("Enter");
  await number("crank_length").fill("0.07");
  await number("crank_length").press("Enter");
  s = await together(0.2);
  assert.match(s.text, /crank_length: 70 mm/);
  assert.equal(await number("ground_length").inputValue(), "0.2");
  // A slider that is moved through valid values to an invalid one leaves the last valid one in the file.
  const range = page.getByLabel("ground_length", { exact: true });
  await range.fill("0.21");
  await range.evaluate((box) => { box.max = "0.9"; });
  await range.fill("0.9");
  await range.dispatchEvent("change");
  await together(0.21);
  await page.getByRole("button", { name: "Back to the start" }).click();
  assert.equal(await number("ground_length").inputValue(), "0.21");
  // While the file of the editor cannot be read the sliders wait; a reset gives the last good file back, and undo what was typed.
  await page.getByRole("tab", { name: "Edit" }).click();
  const area = page.getByRole("textbox", { name: "Mechanism file" });
  await area.fill(text.replace("mass: plate_mass", "mas: plate_mass"));
  await page.waitForFunction(() => window.live.state().complaints.length > 0);
  await page.getByRole("tab", { name: "Live" }).click();
  assert.ok(await range.isDisabled());
  await page.getByRole("button", { name: "Back to the start" }).click();
  await together(0.21);
  assert.ok(await range.isEnabled());
  await live(page, "undo");
  assert.match((await live(page, "state")).text, /mas: plate_mass/);
}

/** Units are shown next to the sliders of parameters. */
export async function units(page) {
  await ready(page);
  const label = (name) => page.locator(".slider span", { hasText: name }).textContent();
  assert.equal(await label("crank_length"), "crank_length m");
  assert.equal(await label("start"), "start rad");
}

/** A long study is computed in a worker while the page stays responsive; it can be stopped and run again. */
export async function heavy(page) {
  await ready(page);
  await page.getByRole("tab", { name: "Models" }).click();
  const heads = await page.locator(".gallery h2").allTextContents();
  assert.deepEqual(heads, ["First steps", "Heavy"]);
  await page.getByRole("button", { name: "Open contact_ball_heap" }).click();
  await page.waitForFunction(() => window.live.state().computing, null, { timeout: 20000 });
  await page.getByRole("tab", { name: "Live" }).click();
  // Frames continue: none takes as long as the study.
  const gaps = await page.evaluate(() => new Promise((done) => {
    const list = [];
    let last = performance.now();
    const frame = (now) => { list.push(performance.now() - last); last = performance.now(); if (list.length < 20) requestAnimationFrame(frame); else done(list); };
    requestAnimationFrame(frame);
  }));
  assert.ok(Math.max(...gaps) < 1500, `a frame took ${Math.max(...gaps)} ms`);
  await page.getByRole("button", { name: "Stop computing the motion" }).click();
  assert.equal((await live(page, "state")).computing, false);
  await page.getByRole("button", { name: "Compute the motion of the file" }).click();
  assert.equal((await live(page, "state")).computing, true);
  // Another model ends it, and its own motion comes.
  await page.getByRole("tab", { name: "Models" }).click();
  await page.getByRole("button", { name: "Open fourbar" }).click();
  await page.waitForFunction(() => window.fourbar.end() > 0.5 && !window.live.state().computing, null, { timeout: 30000 });
}

/** Mistakes are underlined and said in the words of the command line; the scene stays; hostile text stays text. */
export async function edits(page) {
  await ready(page);
  await page.getByRole("tab", { name: "Edit" }).click();
  const area = page.getByRole("textbox", { name: "Mechanism file" }), text = await area.inputValue();
  await area.fill(text.replace("mass: plate_mass", "mas: plate_mass"));
  await page.waitForFunction(() => window.live.state().complaints.length > 0);
  const s = await live(page, "state");
  assert.match(s.complaints.join(), /M012/);
  assert.match(s.complaints.join(), /unknown key `mas`/);
  assert.equal(await page.locator(".marks mark").first().textContent(), "mas");
  assert.equal((await api(page, "counts")).bodies, 3);
  const hostile = '<img src=x onerror="window.broken=1"><script>window.broken=1</script>';
  await area.fill(text.replace(/^title:.*$/m, `title: '${hostile}'`).replaceAll("rocker:", '"<b>rocker</b>":').replaceAll("rocker]", '"<b>rocker</b>"]'));
  await page.waitForTimeout(900);
  await area.fill(`${text}\n"${hostile}": 3`);
  await page.waitForTimeout(900);
  assert.equal(await page.evaluate(() => window.broken), undefined);
  assert.equal(await page.locator("img").count(), 0);
  assert.equal(await page.locator("script").count(), 3);
  await area.fill(text);
  await page.waitForTimeout(600);
  assert.deepEqual((await live(page, "state")).complaints.filter((c) => /error/.test(c)), []);
}

/** Dynamics runs, records, follows the hand, and needs no more memory after ten thousand frames. */
export async function moves(page) {
  await ready(page);
  const cdp = await page.context().newCDPSession(page), started = await page.evaluate(() => { window.live.ask({ do: "reset" }); return window.live.ask({ do: "start", gravity: true, motors: false }); });
  assert.ok(started.ok, JSON.stringify(started));
  // Memory of the engine, and of the script of the page after garbage collection.
  const advance = async (frames) => {
    const got = await page.evaluate((n) => {
      for (let k = 0; k < n; k++) { const r = window.live.ask({ do: "advance", by: 0.002 }); if (!r.ok) return { failed: r, k }; }
      return { engine: window.live.state().memory, row: window.live.row() };
    }, frames);
    assert.ok(!got.failed, JSON.stringify(got));
    assert.ok(got.row.every(Number.isFinite));
    await cdp.send("HeapProfiler.enable");
    for (let k = 0; k < 2; k++) await cdp.send("HeapProfiler.collectGarbage");
    return { engine: got.engine, heap: (await cdp.send("Runtime.getHeapUsage")).usedSize };
  };
  const early = await advance(1000), late = await advance(9000);
  assert.equal(early.engine, late.engine, "memory of the engine grows");
  // A tenth of a kilobyte that each frame left would be 900 kB.
  console.log(`        heap of the script ${early.heap} bytes after 1,000 frames, ${late.heap} after 10,000; engine ${late.engine}`);
  assert.ok(late.heap - early.heap < 500000, `memory of the script grows from ${early.heap} to ${late.heap} bytes`);
  await cdp.detach();
  await live(page, "reset");
  await page.getByRole("button", { name: /Dynamics from here/ }).click();
  await page.waitForTimeout(1200);
  const s = await live(page, "state");
  assert.ok(s.running && s.rows > 5, JSON.stringify({ running: s.running, rows: s.rows }));
  await page.getByRole("button", { name: /Dynamics from here/ }).click();
  assert.equal((await live(page, "state")).running, false);
  assert.ok((await api(page, "end")) > 0.1, "the recording can be scrubbed");
  await page.getByRole("button", { name: "Back to the start" }).click();
}

/** The diagnosis is that of `check`, modes can be shown, and a click shows values. */
export async function explains(page) {
  await ready(page);
  await live(page, "explain");
  await page.getByRole("tab", { name: "Diagnosis" }).click();
  const text = await page.locator(".diagnosis").textContent(), own = engine();
  own.ask({ do: "load", text: await modelText("fourbar") });
  const said = own.ask({ do: "check" });
  assert.ok(text.includes(said.headline.replaceAll("`", "")));
  for (const f of said.facts) assert.ok(text.includes(f.text.replace("; `--assembly-modes FILE.html` draws them", "").replaceAll("`", "")), f.text);
  assert.ok(!text.includes("--assembly-modes"), "options of the command line are of no use on a page");
  const before = await live(page, "row");
  await page.getByRole("button", { name: "show" }).nth(1).click();
  assert.notDeepEqual(await live(page, "row"), before, "the other way to assemble it");
  await live(page, "reset");
  await page.getByRole("tab", { name: "Live" }).click();
  const at = await api(page, "screen", "rocker"), scene = await page.locator("canvas").boundingBox();
  await page.mouse.click(scene.x + at.x, scene.y + at.y);
  assert.match(await page.locator(".values").textContent(), /rocker.*position.*m\/s/s);
}

/** The saved page is a live page. */
export async function shares(page, context, scratch) {
  await ready(page);
  await page.getByRole("tab", { name: "Edit" }).click();
  const download = page.waitForEvent("download");
  await page.getByRole("button", { name: /Save this page/ }).click();
  const file = `${scratch}/shared.html`;
  await (await download).saveAs(file);
  const other = await context.newPage(), errors = [];
  other.on("pageerror", (e) => errors.push(e.message));
  other.on("console", (m) => { if (m.type() === "error") errors.push(m.text()); });
  await other.goto(`file://${file}#play=0`);
  await other.waitForFunction(() => window.live !== undefined && window.live !== null, null, { timeout: 60000 });
  assert.equal((await live(other, "drag", "crank", [0.08, 0, 0], [0, 0.08, 0])).ok, true);
  assert.deepEqual(errors, []);
  await other.close();
  assert.ok((await readFile(file, "utf8")).includes("'wasm-unsafe-eval'"));
}

/** A linkage drawn with the mouse is a good file that moves. */
export async function sketches(page) {
  await ready(page);
  await page.getByRole("button", { name: "Draw a planar linkage with the mouse" }).click();
  const colour = (name) => page.getByRole("button", { name }).evaluate((b) => getComputedStyle(b).color);
  assert.notEqual(await colour(/^press at one end/), await colour("drag a pin"), "the tool in use looks like the others");
  const svg = page.locator(".sketch > svg"), box = await svg.boundingBox(), s = Math.min(box.width / 0.9, box.height / 0.6);
  const px = (x, y) => [box.x + box.width / 2 + (x - 0.1) * s, box.y + box.height / 2 - y * s];
  const bar = async (a, b) => { await page.mouse.move(...px(...a)); await page.mouse.down(); await page.mouse.move(...px(...b), { steps: 3 }); await page.mouse.up(); };
  const click = async (p) => page.mouse.click(...px(...p));
  const [O, A, B, C] = [[0, 0], [0.04, 0.07], [0.22, 0.15], [0.2, 0]];
  await bar(O, A);
  await bar(A, B);
  await bar(B, C);
  await page.getByRole("button", { name: "click a pin to fix it on the ground" }).click();
  await click(C);
  await page.getByRole("button", { name: "click a pin to drive its first bar" }).click();
  await click(O);
  await page.getByRole("button", { name: /trace that point of it/ }).click();
  await click([0.12, 0.15]);
  await page.getByRole("button", { name: "Write the file and assemble it" }).click();
  await page.waitForTimeout(500);
  const got = await live(page, "state"), own = engine(), loaded = own.ask({ do: "load", text: got.text });
  assert.equal(loaded.ok && loaded.assembled, true, got.text);
  assert.deepEqual(loaded.drives, ["motor_A"]);
  assert.match(own.ask({ do: "check" }).headline, /1 degree of freedom, and `motor_A` drives it/);
  await page.waitForFunction(() => window.fourbar.end() > 2, null, { timeout: 20000 });
  assert.equal((await api(page, "counts")).bodies, 3);
  await page.getByRole("tab", { name: "Models" }).click();
  await page.getByRole("button", { name: "Open stewart_platform" }).click();
  await page.waitForFunction(() => window.fourbar.counts().bodies > 10);
}

/** Without WebAssembly the recording plays. */
export async function withoutEngine(page) {
  await ready(page);
  assert.equal(await page.evaluate(() => window.live), null);
  await page.getByRole("tab", { name: "Diagnosis" }).click();
  assert.match(await page.locator(".diagnosis").textContent(), /plays its recording/);
  await api(page, "play", true);
  await page.waitForTimeout(500);
  assert.ok((await api(page, "time")) > 0);
}

/** Phone, small window, desk; light and dark: nothing beyond the edge, no name cut. */
export async function sizes(page) {
  await ready(page);
  for (const [width, height] of [[390, 844], [800, 700], [1400, 900]]) for (const colorScheme of ["light", "dark"]) {
    await page.setViewportSize({ width, height });
    await page.emulateMedia({ colorScheme });
    await page.waitForTimeout(200);
    assert.equal(await page.evaluate(() => document.documentElement.dataset.theme), colorScheme, "the page follows the system");
    for (const tab of ["Live", "Plots", "Edit", "Diagnosis", "Show", "Export"]) {
      await page.getByRole("tab", { name: tab }).click();
      const over = await page.evaluate(() => {
        const cut = [...document.querySelectorAll(".curve .name")].filter((e) => e.scrollWidth > e.clientWidth + 1 && e.clientWidth > 0).map((e) => e.textContent);
        const nav = document.querySelector("nav").getBoundingClientRect(), heads = [...document.querySelectorAll("nav button, .tab:not([hidden]) :is(label, button, select, kbd)")].filter((b) => b.getBoundingClientRect().right > nav.right + 1).length;
        return { page: [document.documentElement.scrollWidth - innerWidth, document.documentElement.scrollHeight - innerHeight], cut, heads };
      });
      assert.ok(over.page.every((v) => v <= 0), `${tab} at ${width}: ${over.page}`);
      assert.deepEqual(over.cut, [], `names cut at ${width}`);
      assert.equal(over.heads, 0, `tabs or controls of ${tab} beyond the panel at ${width}`);
    }
    await page.getByRole("tab", { name: "Plots" }).click();
    for (const chart of await page.locator(".chart svg").all()) {
      const ticks = await chart.evaluate((svg) => {
        const texts = [...svg.querySelectorAll("text")], box = svg.getBoundingClientRect();
        return { y: texts.filter((t) => t.getAttribute("text-anchor") === "end" && t.textContent !== "").length, cut: texts.filter((t) => { const b = t.getBoundingClientRect(); return b.left < box.left - 1 || b.right > box.right + 1; }).map((t) => t.textContent) };
      });
      assert.ok(ticks.y >= 2, "an axis without a scale");
      assert.deepEqual(ticks.cut, []);
    }
  }
}

/** The first picture comes before the engine, within a second of the page's own processor time. */
export async function firstPicture(context, file) {
  const page = await context.newPage(), cdp = await context.newCDPSession(page);
  await cdp.send("Performance.enable", { timeDomain: "threadTicks" });
  await page.addInitScript("WebAssembly.compile = ((f) => (bytes) => { window.compiled = performance.now(); return f(bytes); })(WebAssembly.compile);");
  await page.addInitScript("window.linked = 0; WebGL2RenderingContext.prototype.linkProgram = ((f) => function (program) { window.linked++; return f.call(this, program); })(WebGL2RenderingContext.prototype.linkProgram);");
  await page.addInitScript("requestAnimationFrame(function f() { if (window.fourbar) { window.before = window.live === undefined; setTimeout(() => { window.pictured = true; }); } else requestAnimationFrame(f); });");
  await page.goto(`file://${file}#play=0`, { waitUntil: "commit" });
  await page.waitForFunction(() => window.pictured, null, { timeout: 60000, polling: 10 });
  const { metrics } = await cdp.send("Performance.getMetrics"), spent = metrics.find((m) => m.name === "TaskDuration").value;
  assert.ok(await page.evaluate(() => window.before), "the engine came first");
  assert.ok(spent < 0.6, `${spent} s of the processor until the first picture`);
  await ready(page);
  const { painted, compiled } = await page.evaluate(() => ({ painted: performance.getEntriesByName("first-contentful-paint")[0].startTime, compiled: window.compiled }));
  assert.ok(compiled > painted, `the engine was begun at ${compiled} ms, the first picture was seen at ${painted} ms`);
  // Another mechanism is drawn with the shaders that are there.
  const linked = await page.evaluate(() => window.linked);
  for (const length of ["0.0731", "0.0741"]) {
    await page.getByLabel("crank_length", { exact: true }).fill(length);
    await page.waitForFunction((x) => window.live.state().parameters.crank_length === Number(x), length);
    await page.waitForTimeout(300);
  }
  assert.equal(await page.evaluate(() => window.linked), linked, "shaders were compiled again");
  await page.close();
}

/** Contact forces are arrows where bodies touch, and only then. */
export async function pushes(page) {
  await ready(page);
  const names = (await model(page)).forces.filter((f) => f.spots?.length).map((f) => f.name), times = await api(page, "sampleTimes");
  assert.ok(names.length > 0);
  const seen = new Set();
  for (const t of times.filter((_, k) => k % Math.ceil(times.length / 60) === 0)) {
    await api(page, "setTime", t);
    const forces = await page.evaluate(([list, at]) => list.map((n) => window.fourbar.value(`${n}.normal`, at).at), [names, t]), most = Math.max(...forces);
    const { contacts } = await api(page, "counts"), touching = forces.filter((f) => f > 0).length;
    assert.ok(contacts <= touching, `${contacts} arrows for ${touching} contacts at ${t}`);
    if (touching === 0 || most > 0.2) seen.add(contacts > 0);
    if (touching === 0) assert.equal(contacts, 0);
  }
  assert.ok(seen.has(true), "no arrow at any time");
}

export async function withoutWebgl(page) {
  assert.match(await page.locator(".nogl").textContent(), /does not offer WebGL/);
  assert.ok((await page.locator(".chart svg path").count()) > 0, "plots are there");
  await api(page, "play", true);
  await page.waitForTimeout(400);
  assert.ok((await api(page, "time")) > 0);
}

/** Two weights on a rope that runs over two eyes of the ground. */
export const ROPE = `fourbar: 1
gravity: [0, -9.81, 0]
bodies:
  left: {mass: 1, inertia: [0.01, 0.01, 0.01], at: [-0.5, -1, 0]}
  right: {mass: 1.5, inertia: [0.01, 0.01, 0.01], at: [0.5, -0.8, 0]}
joints:
  a: {type: prismatic, bodies: [ground, left], at: [-0.5, -1, 0], axis: [0, 1, 0]}
  b: {type: prismatic, bodies: [ground, right], at: [0.5, -0.8, 0], axis: [0, 1, 0]}
forces:
  rope: {type: rope, between: [{body: left}, {body: right}], via: [{body: ground, at: [-0.2, 0, 0]}, {body: ground, at: [0.2, 0, 0]}], length: 2.2 m, stiffness: 500}
study: {t_end: 1, output_step: 10 ms}
`;
/** A rope is drawn, and found by the pointer, on its way over its eyes, and not straight between its ends. */
export async function ropes(page) {
  await ready(page);
  await api(page, "setTime", 0);
  // Half of the way from the left weight to its eye, and half of the straight line to the other weight.
  const at = (x, y) => api(page, "screen", "left", 0, [x, y, 0]), half = await at(0.15, 0.5), straight = await at(0.5, 0.1);
  assert.equal((await api(page, "pick", half.x, half.y))?.name, "rope");
  assert.notEqual((await api(page, "pick", straight.x, straight.y))?.name, "rope");
}

export const write = (file, text) => writeFile(file, text);

const DRIVEN = ["fourbar", "jansen_leg", "klann", "hoeken", "watt_six_bar", "slider_crank_engine", "quick_return", "pumpjack", "bennett", "dwell_linkage"];
export const DRAGGED = [...DRIVEN, "stewart_platform", "a04_bricard", "delta_robot", "excavator_arm", "scissor_lift", "pantograph", "peaucellier", "sarrus", "grcr_five_bar", "watt_governor"];

/** Those with one freedom. */
const SINGLE = [...DRIVEN, "a04_bricard", "scissor_lift", "peaucellier", "sarrus"];

/** A mechanism in the engine, with what a drag needs. */
async function held(name) {
  const e = engine(), d = e.ask({ do: "load", text: await modelText(name) });
  assert.ok(d.ok && d.assembled, name);
  const m = e.ask({ do: "still" }).page.model;
  const place = (row, b, s) => {
    const k = d.columns.indexOf(`${b.name}.r.x`), p = d.columns.indexOf(`${b.name}.p.0`);
    return rotate(Array.from(row.slice(p, p + 4)), s.map((v, i) => v - b.com[i])).map((v, i) => v + row[k + i]);
  };
  return { e, d, m, place };
}

/** A crank that is dragged along the motion of kinematics moves the mechanism with it, row by row: no branch is lost. */
export async function branches() {
  for (const name of DRIVEN) {
    const { e, d, m, place } = await held(name), { rows } = e.ask({ do: "rows", most: 400 });
    const joint = m.joints.find((j) => j.name === m.drives[0].joint), crank = m.bodies.find((b) => b.name === joint.bodies[1]) ?? m.bodies.find((b) => b.name === joint.bodies[0]);
    const ends = m.joints.filter((j) => j.bodies?.includes(crank.name)).map((j) => (j.bodies[0] === crank.name ? j.base.at : j.moving.at));
    const own = joint.bodies[1] === crank.name ? joint.moving.at : joint.base.at, far = (s) => Math.hypot(...s.map((v, i) => v - own[i]));
    const s = ends.sort((a, b) => far(b) - far(a))[0];
    for (const [k, row] of rows.entries()) {
      const r = e.ask({ do: "drag", body: crank.name, at: s, to: place(row, crank, s) }), now = e.row();
      assert.ok(r.ok && r.residual < 1e-10, `${name}, row ${k}: ${JSON.stringify(r)}`);
      for (const b of m.bodies) {
        const at = d.columns.indexOf(`${b.name}.r.x`), off = Math.hypot(...[0, 1, 2].map((c) => now[at + c] - row[at + c]));
        assert.ok(off < 1e-5 * m.length, `${name}, row ${k}: ${b.name} is ${off} m away`);
      }
    }
  }
}

/** How far the joints of a mechanism are open: places that should be one or lie on an axis, and axes that should be one direction. */
function opening(m, place, turn) {
  const cross = (a, b) => [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]], minus = (a, b) => a.map((v, k) => v - b[k]);
  let worst = 0;
  for (const j of m.joints) {
    const pin = ["revolute", "spherical", "universal", "fixed"].includes(j.type), slide = ["prismatic", "cylindrical", "screw"].includes(j.type);
    if (!pin && !slide) continue;
    const off = minus(place(j.bodies[1], j.moving.at), place(j.bodies[0], j.base.at)), axes = [j.base, j.moving].map((f, k) => f.axis && turn(j.bodies[k], f.axis));
    worst = Math.max(worst, Math.hypot(...(slide ? cross(axes[0], off) : off)));
    if ((slide || j.type === "revolute") && axes.every(Boolean)) worst = Math.max(worst, Math.hypot(...cross(...axes)));
  }
  return worst;
}

/** The largest distance between two of some points. */
const spread = (points) => Math.max(...points.flatMap((p, i) => points.slice(0, i).map((q) => Math.hypot(...p.map((v, k) => v - q[k])))), 0);

/** Numbers from -1 to 1, the same ones for the same seed. */
function numbers(seed) {
  return () => { seed = (seed * 1103515245 + 12345) % 2147483648; return seed / 1073741824 - 1; };
}

/** Opens a model of the gallery and returns what can be dragged: visible points of bodies, with the scale in pixels per metre. */
async function opened(page, name, clearance = 0.15) {
  await page.getByRole("tab", { name: "Models" }).click();
  await page.getByRole("button", { name: `Open ${name}`, exact: true }).click();
  const m = engine();
  assert.ok(m.ask({ do: "load", text: await modelText(name) }).assembled, name);
  const { model } = m.ask({ do: "still" }).page;
  const places = model.bodies.map((b) => {
    const joints = model.joints.filter((j) => j.bodies?.includes(b.name)).map((j) => (j.bodies[0] === b.name ? j.base.at : j.moving.at)), ends = [b.com, ...joints];
    // Not beside a pin on the ground, about which a part turns far for a small step of the hand.
    const fixed = model.joints.filter((j) => j.bodies?.includes(b.name) && j.bodies.includes("ground")).map((j) => (j.bodies[0] === b.name ? j.base.at : j.moving.at));
    const clear = (s) => fixed.every((f) => Math.hypot(...f.map((v, k) => v - s[k])) > clearance * model.length);
    return { body: b.name, at: ends.flatMap((p, i) => ends.slice(0, i + 1).map((q) => p.map((v, k) => 0.3 * v + 0.7 * q[k]))).filter(clear) };
  });
  // The scene is fitted again when the motion of the study arrives.
  await page.waitForFunction(() => window.fourbar.end() > window.fourbar.start() && !window.live.state().computing, null, { timeout: 30000 });
  const scene = await page.locator("canvas").boundingBox();
  const grips = await page.evaluate(([list, h, w, t]) => {
    window.fourbar.setTime(window.fourbar.start());
    return list.flatMap(({ body, at }) => at.slice(0, 6).flatMap((s) => {
      const p = window.fourbar.screen(body, 0, s);
      if (!(p.x > 20 && p.y > 20 && p.x < w - 20 && p.y < h - 20)) return [];
      const hit = window.fourbar.pick(p.x, p.y);
      if (hit?.kind !== "body" || hit.name !== body) return [];
      const metre = Math.max(...[0, 1, 2].map((c) => { const q = window.fourbar.screen(body, 0, s.map((v, k) => v + (k === c ? t : 0))); return Math.hypot(q.x - p.x, q.y - p.y) / t; }));
      return [{ body, at: s, x: p.x, y: p.y, metre }];
    }));
  }, [places, scene.height, scene.width, 0.01 * model.length]);
  assert.ok(grips.length > 0, `${name}: nothing can be taken`);
  const { columns, row } = await live(page, "state"), first = new Map(model.bodies.map((b) => [b.name, [columns.indexOf(`${b.name}.r.x`), columns.indexOf(`${b.name}.p.0`), b.com]]));
  const turn = (row) => (body, v) => (body === "ground" ? v : rotate(row.slice(first.get(body)[1], first.get(body)[1] + 4), v));
  const place = (row) => (body, s) => (body === "ground" ? s : turn(row)(body, s.map((v, k) => v - first.get(body)[2][k])).map((v, k) => v + row[first.get(body)[0] + k]));
  return {
    model, columns, grips, scene, extent: spread(model.bodies.flatMap((b) => places.find((p) => p.body === b.name).at.concat([b.com]).map((p) => place(row)(b.name, p)))),
    /** How far the joints are open in a row of the engine, and how far the bodies of two rows are apart, with their turns at the length of the mechanism. */
    open: (row) => opening(model, place(row), turn(row)),
    apart: (a, b) => Math.max(...model.bodies.flatMap(({ name, com }) => [com, com.map((v, k) => v + (k === 0 ? 0.3 * model.length : 0)), com.map((v, k) => v + (k === 1 ? 0.3 * model.length : 0))].map((s) => Math.hypot(...place(a)(name, s).map((v, k) => v - place(b)(name, s)[k]))))),
    /** How far the scene shows a body from where the engine has it. */
    shown: (row, drawn) => Math.max(...model.bodies.map(({ name }) => Math.hypot(...place(row)(name, [0, 0, 0]).map((v, k) => v - drawn[name][k])))),
  };
}

/** Leads the mouse from place to place of the scene; after each the page draws a frame, and the engine and the scene are read. */
async function led(page, scene, way) {
  const out = [];
  for (const [x, y] of way) {
    await page.mouse.move(scene.x + x, scene.y + y);
    out.push(await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => setTimeout(() => {
      const { row, columns, warn } = window.live.state(), names = columns.filter((c) => c.endsWith(".p.0")).map((c) => c.slice(0, -4));
      done({ row, warn, drawn: Object.fromEntries(names.map((n) => [n, window.fourbar.bodyPose(n).origin])) });
    })))));
  }
  return out;
}

/** Where the crank of a driven mechanism takes it, in small steps from one row to the angle that the crank has in another. */
async function ledByCrank(name, from, to) {
  const { e, d, m, place } = await held(name), joint = m.joints.find((j) => j.name === m.drives[0].joint), crank = m.bodies.find((b) => b.name === joint.bodies[1]);
  assert.equal(joint.bodies[0], "ground");
  const angle = d.columns.indexOf(`${joint.name}.angle`), { axis } = joint.base;
  const ends = m.joints.filter((j) => j.bodies?.includes(crank.name) && j !== joint).map((j) => (j.bodies[0] === crank.name ? j.base.at : j.moving.at)), s = ends[0], start = place(e.row(), crank, s), first = e.row()[angle];
  const lead = (a) => {
    const half = 0.5 * (a - first), q = [Math.cos(half), ...axis.map((x) => x * Math.sin(half))], to = rotate(q, start.map((v, k) => v - joint.base.at[k])).map((v, k) => v + joint.base.at[k]);
    assert.ok(e.ask({ do: "drag", body: crank.name, at: s, to }).ok);
  };
  for (const [a, b] of [[first, from[angle]], [from[angle], to[angle]]]) for (let k = 1, n = Math.ceil(Math.abs(b - a) / 0.05); k <= n; k++) lead(a + ((b - a) * k) / n);
  return Array.from(e.row());
}

/**
 * Sixty paths of the mouse, drawn at random, on twenty mechanisms of the page: joints stay closed, nothing jumps, and with one freedom the way back
 * leads to the pose in which the way out began, so that no branch is lost. With more freedoms it may end in another pose: there closure and the lack of jumps count.
 */
export async function paths(page) {
  await ready(page);
  const seed = Number(process.env.SEED ?? 20261117), random = numbers(seed), told = { open: 0, back: 0, jump: 0, returned: 0, over: 0 }, since = Date.now();
  // Solids are drawn in software here, which takes most of the time: while a part is dragged they are omitted. Everything else runs as usual.
  await page.evaluate(() => {
    for (const f of ["drawElements", "drawArrays", "drawElementsInstanced", "drawArraysInstanced"]) {
      const own = WebGL2RenderingContext.prototype[f];
      WebGL2RenderingContext.prototype[f] = function (...list) { if (!window.undrawn) own.apply(this, list); };
    }
  });
  const drawing = (on) => page.evaluate((v) => { window.undrawn = v; }, !on);
  await page.setViewportSize({ width: 900, height: 500 });
  for (const name of DRAGGED) {
    await drawing(true);
    const o = await opened(page, name), size = o.model.length;
    await drawing(false);
    for (let path = 0; path < 3; path++) {
      const g = o.grips[Math.floor(0.5 * (random() + 1) * o.grips.length)], where = `${name}, ${g.body}, path ${path + 1}, seed ${seed}`;
      await live(page, "reset");
      await page.mouse.move(o.scene.x + g.x, o.scene.y + g.y);
      await drawing(true);
      await page.mouse.down();
      await drawing(false);
      const way = [[g.x, g.y]];
      for (let k = 0; k < 4; k++) way.push(way.at(-1).map((v) => v + 0.07 * size * g.metre * random()));
      // The first step brings what the recording has rounded into the hand; then out and back.
      const whole = [[g.x + 1, g.y], ...way, ...way.slice(0, -1).reverse()], got = await led(page, o.scene, whole), begin = got[1].row, last = got.at(-1).row;
      await page.mouse.up();
      for (let k = 1; k < got.length; k++) {
        const { row, drawn } = got[k], open = o.open(row), step = Math.hypot(...whole[k].map((v, c) => v - whole[k - 1][c])) / g.metre, jump = o.apart(row, got[k - 1].row) / (step + Math.sqrt(step * o.extent));
        assert.ok(open < 1e-10, `${where}, step ${k}: a joint is open by ${open}`);
        assert.ok(o.shown(row, drawn) < 1e-5 * size, `${where}, step ${k}: the scene shows another pose`);
        // At a dead point a part moves as the root of the step.
        assert.ok(jump < 12, `${where}, step ${k}: a body jumps, ${jump} times as far as the hand may move it`);
        told.open = Math.max(told.open, open);
        told.jump = Math.max(told.jump, jump);
      }
      assert.ok(got.some(({ row }) => o.apart(begin, row) > 1e-3 * size), `${where}: nothing moved`);
      if (!SINGLE.includes(name)) continue;
      let back = o.apart(begin, last) / size;
      if (back < 1e-5) told.returned++;
      else {
        // A crank may continue over a dead point of the part that is held: then it must be able to reach this pose from the start.
        assert.ok(DRIVEN.includes(name), `${where}: came back ${back} of the length away`);
        back = o.apart(await ledByCrank(name, begin, last), last) / size;
        assert.ok(back < 1e-5, `${where}: ${back} of the length away from where the crank leads`);
        told.over++;
      }
      told.back = Math.max(told.back, back);
    }
  }
  assert.ok(told.returned >= 30, `only ${told.returned} paths came back`);
  console.log(`        seed ${seed}: open ${told.open.toExponential(1)}, ${told.returned} ways back and ${told.over} over a dead point end within ${told.back.toExponential(1)}, largest step ${told.jump.toFixed(1)} of 12; ${Math.round((Date.now() - since) / 1000)} s`);
}

/** After its crank is dragged, a mechanism has the pose that `fourbar assemble` finds for that crank angle. */
export async function assembled(page, scratch) {
  await ready(page);
  const target = process.env.CARGO_TARGET_DIR ?? fileURLToPath(new URL("../../target", import.meta.url)), program = process.env.FOURBAR ?? `${target}/debug/fourbar`;
  for (const name of ["fourbar", "hoeken", "klann", "slider_crank_engine"]) {
    const o = await opened(page, name, 0.01), joint = o.model.joints.find((j) => j.name === o.model.drives[0].joint), pivot = joint.moving.at;
    const far = (g) => Math.hypot(...g.at.map((v, k) => v - pivot[k])), g = o.grips.filter((v) => v.body === joint.bodies[1]).sort((a, b) => far(b) - far(a))[0];
    assert.ok(g, `${name}: the crank cannot be taken`);
    const angle = o.columns.indexOf(`${joint.name}.angle`), centre = await api(page, "screen", g.body, 0, pivot);
    await page.mouse.move(o.scene.x + g.x, o.scene.y + g.y);
    await page.mouse.down();
    const arm = [g.x - centre.x, g.y - centre.y], turned = (a) => [centre.x + arm[0] * Math.cos(a) - arm[1] * Math.sin(a), centre.y + arm[0] * Math.sin(a) + arm[1] * Math.cos(a)];
    const { row } = (await led(page, o.scene, [0.07, 0.14, 0.21, 0.28, 0.35].map(turned))).at(-1);
    await page.mouse.up();
    assert.ok(Math.abs(row[angle]) > 0.1, `${name}: the crank has turned by ${row[angle]}`);
    const text = await modelText(name), file = `${scratch}/${name}.yaml`, poses = `${scratch}/${name}.json`, held = text.replace("angle: turn*t", `angle: ${row[angle]} + turn*t`);
    assert.notEqual(held, text);
    await writeFile(file, held);
    execFileSync(program, ["assemble", file, "--quiet", "--force", "--output", poses]);
    const said = JSON.parse(await readFile(poses, "utf8"));
    for (const b of o.model.bodies) {
      const k = o.columns.indexOf(`${b.name}.r.x`), p = o.columns.indexOf(`${b.name}.p.0`), off = Math.hypot(...[0, 1, 2].map((c) => row[k + c] - said[b.name].r[c]));
      const turn = 1 - Math.abs([0, 1, 2, 3].reduce((s, c) => s + row[p + c] * said[b.name].p[c], 0));
      assert.ok(off < 1e-8 * o.model.length && turn < 1e-12, `${name}: ${b.name} is ${off} m away from where the command line puts it`);
    }
  }
}

/** A pendulum whose parameter is named in comments, with a unit that is a parameter too. */
export const COMMENTED = `fourbar: 1
title: Länge
parameters:
  # L: length of the pendulum; try 0.5 m
  L: 300 mm   # L: long
  m: 2
gravity: [0, -9.81, 0]
bodies:
  bob: {mass: m, inertia: [0.01, 0.01, 0.01], com: [L, 0, 0]}
joints:
  O: {type: revolute, bodies: [ground, bob], at: [0, 0, 0], axis: [0, 0, 1]}
study: {t_end: 1, output_step: 10 ms}
`;
/** A torque that a state ramps up, with an input and a parameter. */
export const RAMP = `fourbar: 1
parameters: {J: 1}
inputs: {u: {default: 0, range: [-5, 5]}}
bodies:
  bob: {mass: 1, inertia: [J, J, J]}
joints:
  O: {type: revolute, bodies: [ground, bob], at: [0, 0, 0], axis: [0, 0, 1]}
forces: {act: {type: actuator, joint: O, effort: 's + u'}}
states: {s: {rate: '1', start: 0}}
study: {t_end: 1, output_step: 10 ms}
`;
/** A pendulum that loses its pin. */
export const CUT = `fourbar: 1
gravity: [0, -9.81, 0]
bodies:
  bob: {mass: 1, inertia: [0.01, 0.01, 0.01], com: [1, 0, 0]}
joints:
  O: {type: revolute, bodies: [ground, bob], at: [0, 0, 0], axis: [0, 0, 1]}
events:
  cut: {when: 't - 0.1', direction: rising, once: true, do: [{remove: O}]}
study: {t_end: 1, output_step: 10 ms}
`;
const number = (page, name) => page.getByLabel(`${name}, number`);
const settled = (page) => page.waitForFunction(() => !window.live.state().computing, null, { timeout: 30000 });
const column = (s, name) => s.row[s.columns.indexOf(name)];

/** Parameters and settings of the command line are in the file and in force. */
export async function given(page) {
  await ready(page);
  let s = await live(page, "state");
  assert.match(s.text, /crank_length: 60mm/);
  assert.equal(s.text, s.engineText);
  assert.ok(Math.abs(s.parameters.crank_length - 0.06) < 1e-15);
  // A value that cannot be built leaves the last good one, and no more.
  await number(page, "crank_length").fill("5");
  await number(page, "crank_length").press("Enter");
  s = await live(page, "state");
  assert.ok(Math.abs(s.parameters.crank_length - 0.06) < 1e-15, String(s.parameters.crank_length));
  assert.doesNotMatch(s.text, /NaN/);
  await page.getByRole("button", { name: "Back to the start" }).click();
  await number(page, "crank_length").fill("0.07");
  await number(page, "crank_length").press("Enter");
  await page.waitForTimeout(600);
  await settled(page);
  await page.waitForTimeout(300);
  assert.ok(Math.abs((await api(page, "end")) - 0.5) < 1e-9, "the end of the study");
  assert.match((await live(page, "state")).text, /crank_length: 70 mm/);
  // A box that is emptied has its number again.
  await number(page, "crank_length").fill("");
  await number(page, "crank_length").press("Enter");
  assert.equal(await number(page, "crank_length").inputValue(), "0.07");
}

/** A slider replaces its value in place, in a file with comments and Windows line ends. */
export async function places(page) {
  await ready(page);
  assert.deepEqual(await page.locator(".slider input[type=range]").evaluateAll((list) => list.map((i) => i.dataset.name)), ["L", "m"]);
  await number(page, "L").fill("0.25");
  await number(page, "L").press("Enter");
  assert.equal((await live(page, "state")).text, COMMENTED.replace("300 mm", "250 mm"));
  // Arrow keys belong to the slider.
  const time = await api(page, "time");
  await page.getByLabel("L", { exact: true }).focus();
  await page.keyboard.press("ArrowRight");
  assert.equal(await api(page, "time"), time);
  await page.getByRole("tab", { name: "Edit" }).click();
  await page.getByTitle("Save the mechanism file").click();
  const saved = await page.evaluate(async () => new TextDecoder().decode(Uint8Array.from(await window.fourbar.savedBytes(window.fourbar.saved().length - 1))));
  assert.match(saved, /\r\n {2}# L: length of the pendulum; try 0\.5 m\r\n/);
  assert.doesNotMatch(saved.replaceAll("\r\n", ""), /[\r\n]/);
}

/** An input keeps its value when a parameter moves, and in a shared page. */
export async function inputs(page, context, scratch) {
  await ready(page);
  await number(page, "u").fill("3");
  await number(page, "u").press("Enter");
  await number(page, "J").fill("2");
  await number(page, "J").press("Enter");
  assert.equal(await number(page, "u").inputValue(), "3", "after another parameter has moved");
  assert.equal(column(await live(page, "state"), "u"), 3);
  await page.waitForTimeout(600);
  await settled(page);
  await page.waitForTimeout(300);
  const { at } = await api(page, "value", "O.speed", 1);
  assert.ok(Math.abs(at - (3 + 0.5) / 2) < 1e-3, `the speed at the end is ${at}`);
  const other = await shared(page, context, scratch, "inputs.html");
  assert.equal(await number(other, "u").inputValue(), "3", "in the shared page");
  assert.equal(column(await live(other, "state"), "u"), 3);
  await other.close();
}
/** The page that Share page saves, opened. */
async function shared(page, context, scratch, name) {
  await page.getByRole("tab", { name: "Edit" }).click();
  const before = (await api(page, "saved")).length;
  await page.getByRole("button", { name: /Save this page/ }).click();
  await page.waitForFunction((n) => window.fourbar.saved().length > n, before, { timeout: 30000 });
  const bytes = await page.evaluate((n) => window.fourbar.savedBytes(n), before), file = `${scratch}/${name}`;
  await writeFile(file, Buffer.from(bytes));
  const other = await context.newPage();
  await other.goto(`file://${file}#play=0`);
  await ready(other);
  return other;
}

/** Values of a part that was clicked are those of the time that is shown. */
export async function follows(page) {
  await ready(page);
  const scene = await page.locator("canvas").boundingBox(), at = await api(page, "screen", "rocker");
  await page.mouse.click(scene.x + at.x, scene.y + at.y);
  await page.waitForTimeout(200);
  const read = () => page.locator(".values").textContent();
  await api(page, "setTime", 0.1);
  await page.waitForTimeout(300);
  const first = await read();
  await api(page, "setTime", 0.6);
  await page.waitForTimeout(300);
  assert.notEqual(await read(), first, "the values are those of another time");
}

/** Let go starts from what is shown: at a time of the recording, and after a drag, where the motor begins. */
export async function letGo(page) {
  await ready(page);
  for (let k = 1; k <= 20; k++) { const a = Math.PI / 3 + (k / 20) * (Math.PI / 2); await live(page, "drag", "crank", [0.08, 0, 0], [0.08 * Math.cos(a), 0.08 * Math.sin(a), 0]); }
  const before = column(await live(page, "state"), "O.angle");
  await page.getByRole("button", { name: "Advance by one frame" }).click();
  const s = await live(page, "state"), moved = column(s, "O.angle") - before;
  assert.ok(Math.abs(moved - (2 * Math.PI) / 60) < 1e-6, `the crank has moved by ${moved}`);
  assert.ok(Math.abs(column(s, "t") - 1 / 60) < 1e-9);
  await live(page, "reset");
  await api(page, "setTime", 0.5);
  await page.getByRole("button", { name: "Advance by one frame" }).click();
  const later = await live(page, "state");
  assert.ok(Math.abs(column(later, "t") - 0.5 - 1 / 60) < 1e-9, "the time goes on");
  assert.ok(Math.abs(column(later, "O.angle") - 2 * Math.PI * (0.5 + 1 / 60)) < 1e-5, `${column(later, "O.angle")}`);
}

/** What an event has taken out is not put in by a hand or a switch. */
export async function changes(page) {
  await ready(page);
  await api(page, "setTime", 0);
  await page.getByRole("button", { name: "Dynamics from here: drag to pull by a spring" }).click();
  await page.waitForFunction(() => window.live.state().row[0] > 0.2, null, { timeout: 30000 });
  await page.getByLabel("gravity").click();
  const s = await live(page, "state");
  assert.ok(!s.running && s.warn);
  assert.match(s.status, /event cut has changed the mechanism/);
  assert.ok(await page.getByLabel("gravity").isChecked(), "the switch is as it was");
  // It can continue without its pin; a start from a time after the event is refused, one from an earlier time is not.
  const go = page.getByRole("button", { name: "Dynamics from here: drag to pull by a spring" });
  await go.click();
  await page.waitForFunction((t) => window.live.state().row[0] > t + 0.1, s.row[0], { timeout: 30000 });
  assert.equal(column(await live(page, "state"), "O.force.y"), 0);
  await go.click();
  await live(page, "reset");
  await page.waitForTimeout(300);
  await api(page, "setTime", 0.5);
  await go.click();
  await page.waitForTimeout(200);
  assert.match((await live(page, "state")).status, /Event cut has changed the mechanism by that time/);
  await api(page, "setTime", 0.05);
  await page.getByRole("button", { name: "Advance by one frame" }).click();
  assert.ok(Math.abs(column(await live(page, "state"), "t") - 0.05 - 1 / 60) < 1e-9);
}

/** A page that is shared while the editor has a mistake opens with the last good file. */
export async function sharesBad(page, context, scratch) {
  await ready(page);
  await page.getByRole("tab", { name: "Edit" }).click();
  const area = page.getByRole("textbox", { name: "Mechanism file" }), good = await area.inputValue();
  await area.fill(good.replace("mass: plate_mass", "mas: plate_mass"));
  await page.waitForTimeout(500);
  const other = await shared(page, context, scratch, "bad.html");
  assert.equal((await live(other, "state")).text, good);
  assert.match((await live(other, "state")).status, /Drag a part/);
  assert.match((await live(page, "state")).status, /last valid file/);
  await other.close();
}
