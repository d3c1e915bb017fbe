// Milliseconds to move and draw one frame, and bytes of the page: node tests/bench.mjs PAGE...
// Of a live page also milliseconds of a drag: the engine alone, and with the drawing of the page. In a headless browser the drawing is done in software, so the figure is an upper bound for any real graphics card.

import { stat } from "node:fs/promises";
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { chromium } from "playwright-core";

const browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium", args: ["--no-sandbox", "--disable-quic", "--use-gl=angle", "--use-angle=swiftshader", "--enable-unsafe-swiftshader"] });
for (const file of process.argv.slice(2)) {
  const page = await browser.newPage({ viewport: { width: 1280, height: 720 } }), before = Date.now();
  await page.goto(`${pathToFileURL(resolve(file)).href}#play=0`);
  await page.waitForFunction(() => window.fourbar, null, { timeout: 120000 });
  const load = Date.now() - before, { bodies, calls, triangles } = await page.evaluate(() => window.fourbar.counts());
  await page.evaluate(() => window.fourbar.bench(3));
  const ms = await page.evaluate(() => window.fourbar.bench(30));
  console.log(`${file.split("/").at(-1)}: ${bodies} bodies, ${(await stat(file)).size} bytes, loaded in ${load} ms, ${calls} draw calls, ${triangles} triangles, ${ms.toFixed(1)} ms a frame`);
  if (await page.evaluate(() => document.getElementById("fourbar-engine").textContent.length > 0)) {
    await page.waitForFunction(() => window.live, null, { timeout: 120000 });
    const ready = Date.now() - before;
    const drag = await page.evaluate(() => {
      const m = JSON.parse(document.getElementById("fourbar-data").textContent).model, { columns } = window.live.state();
      // The crank where there is one, otherwise the body with most joints, on a small circle, as a hand moves between two frames.
      const joined = (v) => m.joints.filter((j) => j.bodies?.includes(v.name)).length;
      const joint = m.joints.find((j) => j.name === m.drives?.[0]?.joint), b = joint && m.drives.length === 1 ? m.bodies.find((v) => v.name === joint.bodies[1]) : [...m.bodies].sort((x, y) => joined(y) - joined(x))[0];
      const at = m.joints.filter((j) => j.bodies?.includes(b.name)).map((j) => (j.bodies[0] === b.name ? j.base.at : j.moving.at)).at(-1);
      const first = window.fourbar.bodyPose(b.name), place = at.map((v, k) => first.origin[k] + v), r = 0.05 * m.length, times = [[], []];
      for (let k = 0; k < 240; k++) {
        const a = (2 * Math.PI * k) / 60, to = [place[0] + r * (Math.cos(a) - 1), place[1] + r * Math.sin(a), place[2]], begin = performance.now();
        if (k % 2) window.live.ask({ do: "drag", body: b.name, at, to }); else window.live.drag(b.name, at, to);
        times[k % 2].push(performance.now() - begin);
      }
      const median = (list) => list.slice(30).sort((x, y) => x - y)[Math.floor((list.length - 30) / 2)];
      return { body: b.name, whole: median(times[0]), engine: median(times[1]), columns: columns.length };
    });
    console.log(`  live after ${ready} ms; drag of ${drag.body}: engine ${drag.engine.toFixed(2)} ms, with drawing prepared ${drag.whole.toFixed(2)} ms`);
  }
  await page.close();
}
await browser.close();
