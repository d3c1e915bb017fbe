// The checks on a page, each in terms of what a reader sees and does.

import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { exactDifference, fourBarPoses, HOSTILE } from "./samples.mjs";

const api = (page, f, ...args) => page.evaluate(([name, list]) => window.fourbar[name](...list), [f, args]);
const close = (a, b, tolerance, what) => a.forEach((v, k) => assert.ok(Math.abs(v - b[k]) <= tolerance, `${what}[${k}]: ${v}, expected ${b[k]} within ${tolerance}`));
const sameTurn = (a, b) => (a.reduce((s, v, k) => s + v * b[k], 0) < 0 ? a.map((v) => -v) : a);
const rotate = ([w, x, y, z], v) => {
  const t = [2 * (y * v[2] - z * v[1]), 2 * (z * v[0] - x * v[2]), 2 * (x * v[1] - y * v[0])];
  return [v[0] + w * t[0] + y * t[2] - z * t[1], v[1] + w * t[1] + z * t[0] - x * t[2], v[2] + w * t[2] + x * t[1] - y * t[0]];
};
/** Centre of mass from what the scene draws. */
const comOf = ({ origin, quaternion, com }) => rotate(quaternion, com).map((v, k) => v + origin[k]);

export async function loads(page) {
  const n = await api(page, "counts");
  assert.ok(n.bodies > 0 && n.triangles > 0, `nothing drawn: ${JSON.stringify(n)}`);
  assert.ok(await page.locator("header h1").isVisible());
  assert.ok(n.plots > 0, "no plot at the start");
}

export async function plays(page) {
  const name = await page.evaluate(() => JSON.parse(document.getElementById("fourbar-data").textContent).model.bodies.at(-1).name);
  await api(page, "setTime", await api(page, "start"));
  const before = await api(page, "bodyPose", name);
  await api(page, "play", true);
  if ((await api(page, "start")) === (await api(page, "end"))) return assert.equal(await api(page, "playing"), false, "nothing to play in a single pose");
  await page.waitForTimeout(700);
  assert.ok(await api(page, "playing"));
  assert.ok((await api(page, "time")) > (await api(page, "start")), "time stands still");
  await page.keyboard.press("Space");
  assert.equal(await api(page, "playing"), false);
  const after = await api(page, "bodyPose", name);
  assert.ok([...after.origin, ...after.quaternion].some((v, k) => v !== [...before.origin, ...before.quaternion][k]), `${name} did not move`);
}

export async function posesFromFormula(page) {
  // Positions have 16 bits over a stroke of half a metre, quaternions 16 bits; between samples the cubic adds less than that.
  for (const t of [0, 0.005, 0.3, 0.7525, 1.2341, 2]) {
    await api(page, "setTime", t);
    const want = fourBarPoses(t);
    for (const body of ["crank", "coupler", "rocker"]) {
      const seen = await api(page, "bodyPose", body);
      close(comOf(seen), want[body].r, 6e-5, `${body} at ${t}`);
      close(sameTurn(seen.quaternion, want[body].p), want[body].p, 6e-5, `${body} turned at ${t}`);
    }
  }
}

/** Decodes the data of the page by itself, without the viewer's code, and compares all bodies at some samples. */
export async function posesFromData(page) {
  const data = JSON.parse(await page.evaluate(() => document.getElementById("fourbar-data").textContent));
  for (const [r, result] of data.results.entries()) {
    const times = await api(page, "sampleTimes", r);
    const decode = (p) => {
      if (Array.isArray(p)) return p;
      const b = Buffer.from(p.data, "base64"), buffer = b.buffer.slice(b.byteOffset, b.byteOffset + b.byteLength);
      if (p.enc === "f32") return new Float32Array(buffer);
      if (p.enc === "f64") return new Float64Array(buffer);
      const scale = [p.scale].flat(), offset = [p.offset ?? 0].flat();
      return Array.from(new Int16Array(buffer), (v, k) => offset[k % offset.length] + scale[k % scale.length] * v);
    };
    const bodies = data.model.bodies.slice(0, 25).map((b, i) => ({ name: b.name, r: decode(result.poses.r[i]), p: decode(result.poses.p[i]) }));
    for (const k of [0, 1, Math.floor(times.length / 3), Math.floor(times.length / 2), times.length - 1].filter((k) => k < times.length)) {
      await api(page, "setTime", times[k]);
      for (const b of bodies) {
        const seen = await api(page, "bodyPose", b.name, r), want = Array.from(b.p.slice(4 * k, 4 * k + 4)), size = Math.max(1, ...b.r.slice(3 * k, 3 * k + 3).map(Math.abs));
        // The scene keeps single precision; the data carry quaternions that are of unit length only to their rounding.
        close(comOf(seen), Array.from(b.r.slice(3 * k, 3 * k + 3)), 1e-4 * size, `${b.name} of result ${r} at ${times[k]}`);
        close(sameTurn(seen.quaternion, want), want, 1e-4, `${b.name} of result ${r} turned at ${times[k]}`);
      }
    }
  }
}

export async function posesFromCsv(page, csv) {
  const rows = (await readFile(csv, "utf8")).split("\n").filter((l) => l && !l.startsWith("#")).map((l) => l.split(","));
  const head = rows.shift(), column = (name) => head.indexOf(name), names = head.filter((h) => h.endsWith(".r.x")).map((h) => h.slice(0, -4));
  assert.ok(names.length, "the CSV holds no body");
  const reach = Math.max(...names.flatMap((n) => ["x", "y", "z"].flatMap((a) => rows.map((r) => Math.abs(Number(r[column(`${n}.r.${a}`)]))))));
  for (const k of [0, Math.floor(rows.length / 4), Math.floor(rows.length / 2), rows.length - 1]) {
    const value = (name) => Number(rows[k][column(name)]);
    await api(page, "setTime", value("t"));
    for (const n of names.slice(0, 25)) {
      const seen = await api(page, "bodyPose", n), p = [0, 1, 2, 3].map((c) => value(`${n}.p.${c}`));
      // A thousandth of the mechanism: less than a pixel, and more than rounding and thinning-out of the page.
      close(comOf(seen), ["x", "y", "z"].map((a) => value(`${n}.r.${a}`)), 1e-3 * reach + 1e-9, `${n} at ${value("t")}`);
      close(sameTurn(seen.quaternion, p), p, 2e-3, `${n} turned at ${value("t")}`);
    }
  }
}

export async function anyPage(page) {
  await page.keyboard.press("End");
  assert.equal(await api(page, "time"), await api(page, "end"));
  await page.keyboard.press("t");
  await page.keyboard.press("r");
  const plots = await api(page, "plots");
  assert.ok(plots.some((p) => p.curves > 0), "no curve in any plot");
  assert.ok((await page.locator(".chart svg path").count()) > 0);
}

export async function scrub(page) {
  const slider = page.locator("footer input[type=range]"), box = await slider.boundingBox();
  await page.mouse.click(box.x + box.width / 2, box.y + box.height / 2);
  assert.ok(Math.abs((await api(page, "time")) - 1) < 0.02, "half way is one second");
  await page.locator("canvas").focus();
  await page.keyboard.press("Home");
  assert.equal(await api(page, "time"), 0);
  for (const [key, t] of [["ArrowRight", 0.005], ["ArrowRight", 0.01], ["ArrowLeft", 0.005], ["Shift+ArrowRight", 0.055], ["End", 2]]) {
    await page.keyboard.press(key);
    assert.ok(Math.abs((await api(page, "time")) - t) < 1e-9, `${key}: ${await api(page, "time")}, expected ${t}`);
  }
  await page.keyboard.press("Space");
  assert.ok(await api(page, "playing"), "playing starts again from the end");
  await page.keyboard.press("Space");
  await page.keyboard.press("?");
  assert.ok(await page.locator(".help").isVisible());
  await page.keyboard.press("Escape");
  assert.equal(await page.locator(".help").count(), 0);
  const speed = page.locator("footer select");
  const before = await speed.inputValue();
  await page.keyboard.press("ArrowUp");
  assert.ok(Number(await speed.inputValue()) > Number(before));
}

export async function hover(page) {
  await api(page, "setTime", 0.3);
  const at = await api(page, "screen", "coupler"), scene = await page.locator("canvas").boundingBox();
  assert.deepEqual(await api(page, "pick", at.x, at.y), { kind: "body", name: "coupler" });
  await page.mouse.move(scene.x + at.x + 40, scene.y + at.y + 40);
  await page.mouse.move(scene.x + at.x, scene.y + at.y);
  await page.waitForFunction(() => document.querySelector(".tip")?.textContent.includes("coupler") && !document.querySelector(".tip").hidden);
  await page.getByRole("button", { name: "View: top (3)" }).click();
  const edge = await api(page, "screen", "coupler");
  assert.ok(Math.abs(edge.y - at.y) > 1 || Math.abs(edge.x - at.x) > 1, "the view did not change");
  await page.getByRole("button", { name: "View: front (1)" }).click();
  const back = await api(page, "screen", "coupler");
  close([back.x, back.y], [at.x, at.y], 1, "front view");
  await page.mouse.move(scene.x + 300, scene.y + 300);
  await page.mouse.wheel(0, -600);
  await page.waitForTimeout(100);
  assert.notEqual((await api(page, "screen", "rocker")).x, undefined);
  await page.keyboard.press("f");
  close(Object.values(await api(page, "screen", "coupler")), Object.values(at), 1, "after fit");
}

export async function traces(page) {
  assert.deepEqual(await api(page, "traced"), ["tip"]);
  await page.keyboard.press("t");
  assert.deepEqual(await api(page, "traced"), []);
  await page.keyboard.press("t");
  assert.deepEqual(await api(page, "traced"), ["tip"]);
  await page.getByRole("tab", { name: "Show" }).click();
  await page.getByLabel("Search points to trace").fill("pin_c");
  await page.locator(".trace .list label", { hasText: "pin_c" }).click();
  assert.deepEqual((await api(page, "traced")).sort(), ["pin_c", "tip"]);
}

export async function arrows(page) {
  await api(page, "setTime", 0.3);
  assert.equal((await api(page, "counts")).reactions, 0);
  await page.keyboard.press("r");
  assert.equal((await api(page, "counts")).reactions, 4);
  const notes = await page.locator(".notes").textContent();
  assert.match(notes, /longest [\d.]+ N/);
  assert.match(notes, /not unique/);
  await page.keyboard.press("v");
  assert.match(await page.locator(".notes").textContent(), /velocity, longest [\d.]+ m\/s/);
  await page.keyboard.press("g");
  await page.keyboard.press("n");
  await page.waitForFunction(() => [...document.querySelectorAll(".label")].filter((e) => e.style.visibility === "visible").length === 7);
}

export async function plots(page) {
  const first = await api(page, "plots");
  assert.deepEqual(first.map((p) => p.names[0]), ["tip.x", "pin_a.angle", "motor.effort", "energy.kinetic", "pin_a.force"]);
  assert.deepEqual(first.map((p) => p.log), [false, false, false, false, false]);
  await api(page, "setTime", 0.5);
  assert.ok(Math.abs((await api(page, "plots"))[1].readout[0].value - Math.PI) < 1e-5, "the drive angle after half a turn");
  assert.match(await page.locator(".card").nth(1).locator(".value").first().textContent(), /^3\.142 rad$/);
  await page.getByTitle("Add an empty plot").click();
  await page.getByLabel("Search columns").fill("coupler r y");
  await page.locator(".finder .list label").first().click();
  await page.getByLabel("Search columns").fill("coupler a x");
  await page.locator(".finder .list label").first().click();
  const added = (await api(page, "plots")).at(-1);
  assert.deepEqual(added.names, ["coupler.r.y", "coupler.a.x"]);
  const want = fourBarPoses(0.5).coupler.r[1];
  assert.ok(Math.abs(added.readout[0].value - want) < 1e-5);
  assert.equal(await page.locator(".card").last().locator("svg path[fill-opacity]").count(), 1, "the band of extremes");
  await page.locator(".card").last().getByTitle("Axis and files of this plot").click();
  await page.locator(".card").last().getByTitle("Logarithmic axis").click();
  assert.equal((await api(page, "plots")).at(-1).log, true);
  await page.locator(".card").last().getByTitle("Remove this plot").click();
  assert.equal((await api(page, "counts")).plots, 5);
}

export async function zoom(page) {
  const chart = page.locator(".chart").first(), box = await chart.boundingBox();
  const x = (t) => box.x + 52 + (t / 2) * (box.width - 66);
  await page.mouse.click(x(1.5), box.y + 60);
  assert.ok(Math.abs((await api(page, "time")) - 1.5) < 0.02, "a click jumps");
  await page.mouse.move(x(0.5), box.y + 60);
  await page.mouse.down();
  await page.mouse.move(x(0.8), box.y + 60);
  await page.mouse.move(x(1), box.y + 60);
  await page.mouse.up();
  close(await api(page, "plotRange"), [0.5, 1], 0.02, "zoomed span");
  await chart.dblclick();
  close(await api(page, "plotRange"), [0, 2], 0, "whole span");
}

export async function diagnosis(page) {
  await page.getByRole("tab", { name: "Diagnosis" }).click();
  assert.equal(await page.locator("nav .count").textContent(), "2");
  assert.equal(await page.locator(".lines li").count(), 5);
  await page.getByRole("button", { name: "Jump to this time" }).click();
  assert.equal(await api(page, "time"), 0.75);
  await page.locator(".lines li", { hasText: "say nothing new" }).hover();
  assert.deepEqual(await api(page, "lit"), ["pin_a", "pin_b", "pin_c", "pin_d"]);
  await page.locator("nav").hover();
  assert.deepEqual(await api(page, "lit"), []);
  await api(page, "setTime", 0);
  await page.locator("footer .mark").click();
  assert.equal(await api(page, "time"), 0.75);
}

/** Clicks, waits for the file, and returns what was saved. */
async function savedBy(page, act) {
  const before = (await api(page, "saved")).length, download = page.waitForEvent("download");
  await act();
  await download;
  const all = await api(page, "saved");
  assert.equal(all.length, before + 1);
  return { ...all.at(-1), bytes: Buffer.from(await api(page, "savedBytes", before)) };
}

export async function plotFiles(page) {
  const card = page.locator(".card").nth(1);
  await card.getByTitle("Axis and files of this plot").click();
  const svg = await savedBy(page, () => card.getByTitle("Save this plot as SVG").click());
  const text = svg.bytes.toString("utf8");
  assert.match(text, /^<\?xml/);
  assert.match(text, /pin_a\.angle/);
  assert.match(text, /<path d="M/);
  const parsed = await page.evaluate((s) => new DOMParser().parseFromString(s, "image/svg+xml").documentElement.nodeName, text);
  assert.equal(parsed, "svg");
  const png = await savedBy(page, () => card.getByTitle("Save this plot as PNG").click());
  assert.equal(png.bytes.subarray(1, 4).toString(), "PNG");
  assert.equal(png.bytes.readUInt32BE(16), 1440);
  const csv = await savedBy(page, () => card.getByTitle("Save these curves as CSV").click());
  const lines = csv.bytes.toString("utf8").trim().split("\n");
  assert.equal(lines[0], "t,pin_a.angle");
  assert.equal(lines.length, 402);
  assert.ok(Math.abs(Number(lines[101].split(",")[1]) - Math.PI) < 1e-5);
  await page.getByRole("tab", { name: "Export" }).click();
  const all = await savedBy(page, () => page.getByTitle("Save every column of this page").click());
  assert.ok(all.bytes.toString("utf8").split("\n")[0].split(",").includes("coupler.r.y"));
  const picture = await savedBy(page, () => page.getByTitle("Save the scene as PNG").click());
  assert.ok(picture.size > 5000, "an empty picture");
}

export async function gltf(page) {
  await page.getByRole("tab", { name: "Export" }).click();
  const { bytes } = await savedBy(page, () => page.getByTitle("Save bodies and motion as binary glTF").click());
  assert.equal(bytes.subarray(0, 4).toString(), "glTF");
  assert.equal(bytes.readUInt32LE(8), bytes.length);
  const length = bytes.readUInt32LE(12), json = JSON.parse(bytes.subarray(20, 20 + length).toString("utf8")), body = bytes.subarray(28 + length);
  assert.equal(json.buffers[0].byteLength <= body.length, true);
  const node = json.nodes.findIndex((n) => n.name === "coupler"), animation = json.animations[0];
  const channel = animation.channels.find((c) => c.target.node === node && c.target.path === "translation"), sampler = animation.samplers[channel.sampler];
  const read = (k) => { const a = json.accessors[k], v = json.bufferViews[a.bufferView]; return new Float32Array(body.buffer.slice(body.byteOffset + v.byteOffset, body.byteOffset + v.byteOffset + v.byteLength)); };
  const t = read(sampler.input), move = read(sampler.output);
  assert.equal(move.length, 3 * t.length);
  const k = 100, pose = fourBarPoses(t[k]).coupler, origin = pose.r.map((v, c) => v - rotate(pose.p, [0.21, 0, 0])[c]);
  close(Array.from(move.slice(3 * k, 3 * k + 3)), origin, 1e-4, "coupler in the file");
  assert.ok(json.meshes.length >= 4 && json.accessors.every((a) => a.count > 0));
}

export async function gif(page) {
  const { bytes } = await savedBy(page, () => api(page, "gif", 0.6));
  assert.equal(bytes.subarray(0, 6).toString(), "GIF89a");
  assert.equal(bytes.at(-1), 0x3b);
  // The browser's own decoder is the judge of the compression.
  const seen = await page.evaluate(async (data) => {
    const decoder = new ImageDecoder({ data: new Uint8Array(data), type: "image/gif" });
    await decoder.tracks.ready;
    const frames = decoder.tracks.selectedTrack.frameCount, colors = [];
    for (const frameIndex of [0, frames - 1]) {
      const { image } = await decoder.decode({ frameIndex }), canvas = new OffscreenCanvas(image.displayWidth, image.displayHeight), pen = canvas.getContext("2d");
      pen.drawImage(image, 0, 0);
      const px = pen.getImageData(0, 0, canvas.width, canvas.height).data;
      let sum = 0;
      for (let k = 0; k < px.length; k++) sum = (sum * 31 + px[k]) % 1000003;
      colors.push({ corner: Array.from(px.slice(0, 3)), sum });
    }
    return { frames, colors };
  }, [...bytes]);
  assert.equal(seen.frames, 12);
  assert.notEqual(seen.colors[0].sum, seen.colors[1].sum, "all frames alike");
  close(seen.colors[0].corner, [0xfb, 0xfb, 0xf9], 24, "paper");
}

export async function webm(page) {
  const { bytes } = await savedBy(page, () => api(page, "webm", 1));
  assert.equal(bytes.readUInt32BE(0), 0x1a45dfa3);
  assert.ok(bytes.length > 5000, `only ${bytes.length} bytes`);
}

export async function compare(page) {
  assert.equal((await api(page, "counts")).results, 2);
  await api(page, "setTime", 0.6);
  for (const [r, slip] of [[0, 0], [1, 0.15]]) {
    close(comOf(await api(page, "bodyPose", "crank", r)), fourBarPoses(0.6, slip).crank.r, 6e-5, `crank of result ${r}`);
  }
  const plots = await api(page, "plots");
  assert.deepEqual(plots[0].names, ["\u0394 position", "\u0394 rotation"]);
  assert.equal(plots[0].log, true);
  const difference = await api(page, "value", "\u0394 crank.r.x", 1, 1);
  assert.equal(difference.exact, true);
  assert.ok(Math.abs(difference.at - exactDifference(1)) < 1e-15, "the difference must not come from rounded poses");
  const rounded = await api(page, "value", "\u0394 coupler.r.y", 0.6, 1), want = fourBarPoses(0.6, 0.15).coupler.r[1] - fourBarPoses(0.6).coupler.r[1];
  assert.equal(rounded.exact, false);
  assert.ok(Math.abs(rounded.at - want) < 2e-5);
  await page.getByRole("tab", { name: "Show" }).click();
  await page.getByLabel("dca").uncheck();
  assert.equal(await api(page, "visible", 1), false);
  assert.equal((await api(page, "plots"))[0].curves, 0);
  await page.getByLabel("dca").check();
  assert.equal((await api(page, "plots"))[0].curves, 2);
}

/** The first look shows every result, wherever it goes. */
export async function inView(page) {
  const size = await page.locator(".scene").boundingBox();
  for (let t = 0; t < 1; t += 0.1) {
    await api(page, "setTime", t);
    for (const r of [0, 1]) {
      const at = await api(page, "screen", "rocker", r, [0.3, 0, 0]);
      assert.ok(at && at.x > 0 && at.y > 0 && at.x < size.width && at.y < size.height, `end of the rocker of result ${r} at t = ${t}: ${JSON.stringify(at)}`);
    }
  }
}

export async function hostile(page) {
  assert.equal(await page.locator("header h1").textContent(), HOSTILE);
  assert.ok((await page.title()).startsWith(HOSTILE));
  assert.ok((await page.locator("header .sub").textContent()).includes(HOSTILE));
  await page.getByRole("tab", { name: "Diagnosis" }).click();
  assert.ok((await page.locator(".lines").first().textContent()).includes(`</script>${HOSTILE}`));
  const svg = await savedBy(page, () => page.locator(".card").nth(1).getByTitle("Save this plot as SVG").evaluate((b) => b.click()));
  assert.ok(!svg.bytes.toString("utf8").includes(HOSTILE), "markup in the saved plot");
  assert.equal(await page.locator("script").count(), 3, "no script but the page's own three");
  assert.equal(await page.locator("img").count(), 0);
}

export async function policy(page) {
  const refused = await page.evaluate(async () => {
    const seen = [];
    document.addEventListener("securitypolicyviolation", (e) => seen.push(e.effectiveDirective));
    const script = document.createElement("script");
    script.textContent = "window.broken = true";
    document.body.append(script);
    const style = document.createElement("style");
    style.textContent = "body { display: none }";
    document.head.append(style);
    await fetch("https://example.org/").catch(() => null);
    await new Promise((done) => setTimeout(done, 200));
    return { seen, broken: window.broken === true, hidden: getComputedStyle(document.body).display === "none" };
  });
  assert.deepEqual({ broken: refused.broken, hidden: refused.hidden }, { broken: false, hidden: false });
  for (const d of ["script-src-elem", "style-src-elem", "connect-src"]) assert.ok(refused.seen.includes(d), `${d} not refused: ${refused.seen}`);
}

export function size(bytes) {
  assert.ok(bytes < 8e6, `${bytes} bytes`);
}

export async function layout(page) {
  const theme = () => page.evaluate(() => document.documentElement.dataset.theme);
  assert.equal(await theme(), "light");
  await page.keyboard.press("d");
  assert.equal(await theme(), "dark");
  for (const [width, height] of [[1280, 720], [844, 390], [390, 844]]) {
    await page.setViewportSize({ width, height });
    await page.waitForTimeout(150);
    const over = await page.evaluate(() => [document.documentElement.scrollWidth - innerWidth, document.documentElement.scrollHeight - innerHeight]);
    assert.ok(over.every((v) => v <= 0), `the page is larger than ${width} x ${height}: ${over}`);
    for (const part of ["header", ".scene", "aside", "footer"]) {
      const box = await page.locator(part).boundingBox();
      assert.ok(box && box.x >= 0 && box.y >= 0 && box.x + box.width <= width + 1 && box.y + box.height <= height + 1, `${part} does not fit ${width} x ${height}`);
    }
    await barFits(page);
  }
}

/** The parts of the bar below the scene do not overlap, and the time is in its place. */
async function barFits(page) {
  const parts = await page.locator("footer > *").all(), boxes = (await Promise.all(parts.map((p) => p.boundingBox()))).filter(Boolean).sort((a, b) => a.x - b.x);
  for (let k = 1; k < boxes.length; k++) assert.ok(boxes[k - 1].x + boxes[k - 1].width <= boxes[k].x + 1, `parts of the bar overlap at ${JSON.stringify(page.viewportSize())}`);
  const over = await page.locator("footer .clock").evaluate((e) => e.scrollWidth - e.clientWidth);
  assert.ok(over <= 1, `the time is wider than its place by ${over} at ${JSON.stringify(page.viewportSize())}`);
}

/** A pin that an event has taken out is neither drawn nor picked; names, legends and titles stay inside of their pictures. */
export async function cut(page) {
  const pin = async () => (await api(page, "pick", ...Object.values(await page.evaluate(() => window.fourbar.screen("bob", 0, [-window.fourbar.bodyPose("bob").origin[0], 0, 0])))))?.kind;
  await api(page, "setTime", 0.0125);
  assert.match(await pin(), /revolute|joint/);
  for (const t of [0.0375, 0.05]) { await api(page, "setTime", t); assert.equal(await pin(), undefined, `at ${t}`); }
  await api(page, "setTime", 0.005);
  assert.match(await pin(), /revolute|joint/);
  await page.keyboard.press("n");
  await page.waitForTimeout(200);
  const scene = await page.locator("canvas").boundingBox();
  for (const label of await page.locator(".scene .label, .scene .labels > *").all()) {
    if ((await label.evaluate((e) => getComputedStyle(e).visibility)) === "hidden") continue;
    const box = await label.boundingBox();
    assert.ok(box.x >= scene.x - 1 && (box.x + box.width <= scene.x + scene.width + 1 || box.width > scene.width), `a name from ${box.x} to ${box.x + box.width}`);
  }
  const card = page.locator(".card").first();
  await card.getByTitle("Axis and files of this plot").click();
  const svg = (await savedBy(page, () => card.getByTitle("Save this plot as SVG").click())).bytes.toString("utf8");
  const over = await page.evaluate((text) => {
    const host = document.createElement("div");
    host.innerHTML = text.replace(/^<\?xml[^>]*>/, "");
    document.body.append(host);
    const drawing = host.querySelector("svg"), box = drawing.getBoundingClientRect(), texts = [...drawing.querySelectorAll("text")].map((t) => t.getBoundingClientRect());
    const out = texts.filter((t) => t.left < box.left - 1 || t.right > box.right + 1).length;
    const met = texts.filter((a, i) => texts.some((b, k) => k > i && a.left < b.right - 2 && b.left < a.right - 2 && a.top < b.bottom - 5 && b.top < a.bottom - 5)).length;
    host.remove();
    return { out, met };
  }, svg);
  assert.deepEqual(over, { out: 0, met: 0 }, "texts that are cut off, or lie over each other");
  // A short motion has a time of many digits.
  await page.setViewportSize({ width: 390, height: 844 });
  await api(page, "setTime", 0.05);
  await page.waitForTimeout(150);
  await barFits(page);
}

/** What the author of a file may choose for a page. */
export async function choices(page) {
  const at = async (name) => (await api(page, "screen", name));
  // The camera keeps a followed body where it is on the screen.
  await api(page, "setTime", 0);
  await api(page, "follow", "b_gear");
  await page.waitForTimeout(100);
  const first = await at("b_gear");
  for (const t of [0.4, 1.1, 2.3]) {
    await api(page, "setTime", t);
    const now = await at("b_gear");
    close([now.x, now.y], [first.x, first.y], 1.5, `followed at ${t}`);
  }
  await api(page, "follow", null);
  // One column over another: the axis is not time, and a click goes to the nearest sample.
  await page.getByTitle("Add or remove curves").first().click();
  await page.getByLabel("Search columns").fill("b_gear r x");
  await page.locator(".finder .list label").first().click();
  await page.getByLabel("Horizontal axis").selectOption({ index: 1 });
  assert.notEqual((await api(page, "plots"))[0].over, null);
  assert.match(await page.locator(".chart svg").first().textContent(), /over /);
}

/** Events are marks on the time bar and rows of a table; both jump; motion has its kink there and not before. */
export async function events(page) {
  const { results: [{ events: list, times: [t] }] } = JSON.parse(await page.evaluate(() => document.getElementById("fourbar-data").textContent));
  const marks = page.locator(".mark.event");
  // The last impacts are too close to be distinguished on the bar.
  const count = await marks.count();
  assert.ok(count >= 5 && count < list.length, `${count} marks`);
  await page.getByRole("tab", { name: "Diagnosis" }).click();
  const rows = page.locator(".events tbody tr");
  assert.equal(await rows.count(), list.length);
  assert.match(await page.locator(".events .hint").first().textContent(), new RegExp(`${list.length} events, .* J lost`));
  await rows.nth(1).getByRole("button").click();
  close([await api(page, "time")], [list[1].t], 1e-9, "the time jumped to");
  await rows.nth(1).hover();
  assert.ok((await api(page, "lit")).includes("guide"));
  await marks.first().click();
  close([await api(page, "time")], [list[0].t], 1e-9, "the time of the mark");
  // Between samples the ball follows its parabola: nowhere below the floor, not even beside an impact.
  for (const at of [list[0].t - 0.02, list[0].t - 0.004, list[0].t, list[0].t + 0.004, list[0].t + 0.02, t[t.length - 1]]) {
    await api(page, "setTime", at);
    const { origin: [, , z] } = await api(page, "bodyPose", "ball"), s = at - list[0].t, v = list[0].speed[1];
    const want = at === t[t.length - 1] ? 0 : s < 0 ? 0.5 - 0.5 * 9.81 * at * at : v * s - 0.5 * 9.81 * s * s;
    close([z], [want], 4e-4, `height at ${at}`);
  }
}

/** The page of many cases: axes select, a click picks, and the picked case moves, with its own values. */
export async function cases(page) {
  const data = JSON.parse(await page.evaluate(() => document.getElementById("fourbar-data").textContent)), find = (role) => data.columns.findIndex((c) => c.role === role);
  const canvas = page.locator("#scatter canvas"), box = await canvas.boundingBox();
  // The first point of the plot, found as a reader would: by moving over it until the page shows a case.
  let there = null;
  for (let x = 56; x < box.width && !there; x += 8) for (let y = 6; y < box.height && !there; y += 10) {
    await page.mouse.move(box.x + x, box.y + y);
    if (await page.locator("#scatter .tip").isVisible()) there = { x, y };
  }
  assert.ok(there, "no case under the pointer");
  await canvas.click({ position: there });
  const words = await page.locator("#picked").textContent(), number = Number(/\d+/.exec(words)[0]), i = data.cases.indexOf(number);
  assert.ok(i >= 0, words);
  await page.locator("#move").click();
  const frame = await (await page.locator("#moving iframe").elementHandle()).contentFrame();
  await frame.waitForFunction(() => window.live && window.fourbar.end() > window.fourbar.start() && window.fourbar.playing(), null, { timeout: 60000 });
  const k = find("set"), wanted = data.values[k][i] * { mm: 1e-3 }[data.columns[k].unit];
  const slider = frame.getByLabel(data.columns[k].name, { exact: true });
  close([Number(await slider.inputValue())], [wanted], 1e-12, "the value of the case");
  // Cases between two values of an axis are kept.
  const parallel = page.locator("#parallel canvas"), area = await parallel.boundingBox();
  await parallel.scrollIntoViewIfNeeded();
  const from = await parallel.boundingBox();
  await page.mouse.move(from.x + 70, from.y + area.height - 20);
  await page.mouse.down();
  await page.mouse.move(from.x + 70, from.y + area.height - 70, { steps: 3 });
  await page.mouse.up();
  assert.match(await page.locator("#detail .hint").first().textContent(), new RegExp(`^[0-9]+ of ${data.cases.length} lie between`));
}

/** The colour of every pixel of the scene, as the reader sees it. */
async function pixels(page) {
  const data = (await page.locator(".scene canvas").first().screenshot({ type: "png" })).toString("base64");
  return page.evaluate(async (data) => {
    const image = new Image();
    image.src = `data:image/png;base64,${data}`;
    await image.decode();
    const canvas = Object.assign(document.createElement("canvas"), { width: image.width, height: image.height }), g = canvas.getContext("2d");
    g.drawImage(image, 0, 0);
    return Array.from(g.getImageData(0, 0, image.width, image.height).data);
  }, data);
}

/** Edges of ghosts are blended with what lies behind them; elsewhere lines of the grid shine through translucent bodies at most as much as the paper does. */
export async function grid(page) {
  await page.waitForTimeout(300);
  const shown = await pixels(page);
  await page.keyboard.press("#");
  await page.waitForTimeout(300);
  const hidden = await pixels(page);
  assert.equal(shown.length, hidden.length);
  let crimson = 0, cut = 0, lines = 0;
  for (let k = 0; k < shown.length; k += 4) {
    const far = Math.max(...[0, 1, 2].map((c) => Math.abs(shown[k + c] - hidden[k + c])));
    if (far > 3) lines++;
    // The crimson of the second result over paper.
    if (hidden[k] - hidden[k + 1] < 60) continue;
    crimson++;
    if (far > 40) cut++;
  }
  assert.ok(crimson > 500 && lines > 500, `${crimson} pixels of ghosts, ${lines} of the grid`);
  assert.ok(cut < 0.015 * crimson, `${cut} of ${crimson} pixels of ghosts are cut by the grid`);
}

/** Who follows the arm of a catapult sees the arm, not the whole way of the stone that it throws. */
export async function thrown(page) {
  const size = async () => {
    const [a, b] = [await api(page, "screen", "arm", 0, [-0.5, 0, 0]), await api(page, "screen", "arm", 0, [0.5, 0, 0])];
    return Math.hypot(a.x - b.x, a.y - b.y);
  };
  const far = await size();
  await api(page, "follow", "arm");
  const near = await size();
  assert.ok(near > 100 && near > 4 * far, `the arm is ${near} pixels long, ${far} without following`);
  await api(page, "follow", null);
}
