// Writes the sample pages into a folder, to look at: node tests/make-sample.mjs FOLDER

import { mkdir, stat } from "node:fs/promises";
import { join } from "node:path";
import { writePage } from "./pack.mjs";
import { bouncing, chain, cut, fifty, fourBar, hostile, still, zoo } from "./samples.mjs";

export async function makeSamples(folder) {
  await mkdir(folder, { recursive: true });
  const pages = { fourbar: fourBar(), compare: fourBar({ compare: true, title: "Four-bar linkage: ra and dca" }), modes: fourBar({ modes: true, title: "Four-bar linkage: both ways to assemble it" }), hostile: hostile(), zoo: zoo(), still: still(), bouncing: bouncing(), cut: cut(), chain: chain(1000, 240), fifty: fifty() };
  const out = {};
  for (const [name, data] of Object.entries(pages)) {
    const path = join(folder, `${name}.html`);
    await writePage(path, data);
    out[name] = { path, bytes: (await stat(path)).size, data };
  }
  return out;
}

if (process.argv[1]?.endsWith("make-sample.mjs")) {
  const made = await makeSamples(process.argv[2] ?? "out");
  for (const [name, { path, bytes }] of Object.entries(made)) console.log(`${name.padEnd(10)} ${String(bytes).padStart(9)} bytes  ${path}`);
}
