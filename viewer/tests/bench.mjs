// Milliseconds to move and draw one frame, and bytes of the page: node tests/bench.mjs PAGE...
// In a headless browser the drawing is done in software, so the figure is an upper bound for any real graphics card.

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
  await page.close();
}
await browser.close();
