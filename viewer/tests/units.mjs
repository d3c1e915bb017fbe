// Parts of the page that need no browser: numbers of axes, values that sliders write, sketches, and what events leave of a mechanism.

import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { build } from "esbuild";

const source = (name) => fileURLToPath(new URL(`../src/${name}`, import.meta.url));

/** The modules of the page, compiled. */
async function modules() {
  const folder = await mkdtemp(join(tmpdir(), "fourbar-units-")), names = ["plots/axis", "live/editor", "live/sketch", "events"];
  try {
    await build({ entryPoints: names.map((n) => source(`${n}.ts`)), bundle: true, format: "esm", outdir: folder, outbase: source(""), logLevel: "silent", outExtension: { ".js": ".mjs" } });
    return Object.assign({}, ...(await Promise.all(names.map((n) => import(pathToFileURL(join(folder, `${n}.mjs`)).href)))));
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Numbers of an axis are distinct, and each is correct. */
function axes({ linearTicks }) {
  for (const [lo, hi] of [[0, 1.9e-4], [1.02e6, 1.12e6], [3.1e-4, 3.2e-4], [1e9, 1e9 + 1], [0, 5e-13], [-2e-9, 2e-9], [0, 1], [-7e5, 1e6], [0.0799, 0.0801], [99990, 100020]]) {
    for (const most of [2, 4, 8, 12]) {
      const ticks = linearTicks(lo, hi, most), step = ticks[1].at - ticks[0].at, texts = ticks.map((t) => t.text);
      assert.equal(new Set(texts).size, texts.length, `${texts} over ${lo} to ${hi}`);
      for (const t of ticks) assert.ok(Math.abs(Number(t.text.replaceAll("\u2212", "-")) - t.at) <= 0.02 * step, `${t.text} at ${t.at}, step ${step}`);
    }
  }
  assert.deepEqual(linearTicks(0, 1, 5).map((t) => t.text), ["0", "0.2", "0.4", "0.6", "0.8", "1"]);
  assert.deepEqual(linearTicks(0, 4e5, 2).map((t) => t.text), ["0", "2e5", "4e5"]);
}

/** The value that a slider writes reads back to the same bits, in the previous unit if possible. */
function values({ written, unitOf }) {
  const factor = { mm: 1e-3, cm: 1e-2, deg: Math.PI / 180, g: 1e-3, ms: 1e-3, m: 1, kg: 1, s: 1, rad: 1, "": 1 };
  let seed = 7, small = 0;
  const random = () => { seed = (seed * 1103515245 + 12345) % 2147483648; return seed / 2147483648; };
  for (const unit of ["mm", "cm", "deg", "g", "ms", ""]) for (let k = 0; k < 400; k++) {
    const value = Number((random() * 10).toFixed(4)), text = written(value, `80 ${unit}`.trim()), [, number, own] = /^(\S+) ?(.*)$/.exec(text);
    assert.equal(Number(number) * factor[own], value, `${value} was written as ${text}`);
    if (own === unit) small++;
  }
  assert.ok(small > 1000, `${small} of 2400 kept their unit`);
  assert.equal(written(0.0731, "80 mm"), "73.1 mm");
  assert.equal(written(0.25, '"300 mm"'), '"250 mm"');
  assert.equal(written(2.5, '"3"'), "2.5");
  assert.equal(written(120, "2 kN"), "120");
  assert.deepEqual(["300 mm", "2", "3 in", "5 N*m", "40 N/mm", "2 rpm", "'7 deg'"].map(unitOf), ["m", "", "m", "N*m", "N/m", "rad/s", "rad"]);
}

/** A short bar has the inertia of its length. */
function sketches({ fileOf }) {
  const { text } = fileOf({ joints: [{ x: 0, y: 0, ground: true, motor: false }, { x: 0.02, y: 0, ground: false, motor: false }], bars: [{ ends: [0, 1], tracer: null }] });
  const [, mass, inertia] = /mass: (\S+), inertia: \[([^,]+),/.exec(text), want = (Number(mass) * 0.02 ** 2) / 12;
  assert.ok(Math.abs(Number(inertia) / want - 1) < 1e-8, `${inertia} instead of ${want}`);
}

/** What events take out is absent from then on. */
function structure({ absent, changed }) {
  const events = [{ t: 0.1, name: "hit", kind: "impact" }, { t: 0.3, name: "cut", kind: "event", off: ["pin", "spring"] }, { t: 0.6, name: "catch", kind: "event", on: ["hook", "spring"] }];
  const at = (t) => [...absent(["hook"], events, t)].sort();
  assert.deepEqual([0, 0.2, 0.3, 0.5, 0.6].map(at), [["hook"], ["hook"], ["hook", "pin", "spring"], ["hook", "pin", "spring"], ["pin"]]);
  assert.deepEqual([0.2, 0.3, 0.7].map((t) => changed(events, t)?.name), [undefined, "cut", "catch"]);
}

export async function units() {
  const all = await modules();
  for (const test of [axes, values, sketches, structure]) test(all);
}
