// Bundles the viewer into dist/page.html, one self-contained page with a place for the data, and notes the hash of its
// sources in dist/sources.sha256 so that a stale page is found without building. `node build.mjs` after `npm ci`.

import { createHash } from "node:crypto";
import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const here = dirname(fileURLToPath(import.meta.url));
const TOKEN = "/*FOURBAR_DATA*/", ENGINE = "/*FOURBAR_ENGINE*/";
const read = async (path) => (await readFile(join(here, path), "utf8")).replaceAll("\r\n", "\n");
const sha = (text, form) => createHash("sha256").update(text, "utf8").digest(form);

/** Everything the page is made from, sorted by path: the recipe is in DATA.md. */
async function sources() {
  const found = (await readdir(join(here, "src"), { recursive: true, withFileTypes: true }))
    .filter((f) => f.isFile())
    .map((f) => join(f.parentPath, f.name).slice(here.length + 1).replaceAll("\\", "/"));
  return [...found, "build.mjs", "package.json", "package-lock.json", "tsconfig.json", "vendor-licences/three.txt"].sort((a, b) => (a < b ? -1 : a > b ? 1 : 0));
}

const bundle = await build({
  entryPoints: [join(here, "src/main.ts")], bundle: true, minify: true, write: false, format: "iife", target: "es2022", charset: "utf8",
  legalComments: "none",
});
const licence = (await read("vendor-licences/three.txt")).trim();
const script = `/*! Contains three.js, under this licence:\n\n${licence}\n*/\n${bundle.outputFiles[0].text.trim()}\n`;
const style = `\n${(await read("src/style.css")).trim()}\n`;
if (/<\/script/i.test(script) || /<\/style/i.test(style)) throw new Error("a closing tag inside the bundle would end it early");
const policy = [
  "default-src 'none'", `script-src 'sha256-${sha(script, "base64")}'`, `style-src 'sha256-${sha(style, "base64")}'`,
  "img-src blob: data:", "media-src blob:", "base-uri 'none'", "form-action 'none'",
].join("; ");
const fill = { CSP: policy, STYLE: style, SCRIPT: script, TOKEN, ENGINE };
const page = (await read("src/page.html")).replace(/@(CSP|STYLE|SCRIPT|TOKEN|ENGINE)@/g, (_, key) => fill[key]);
for (const token of [TOKEN, ENGINE]) if (page.split(token).length !== 2) throw new Error(`the page must hold ${token} exactly once`);

await mkdir(join(here, "dist"), { recursive: true });
await writeFile(join(here, "dist/page.html"), page);
let all = "";
for (const path of await sources()) all += `${path}\n${await read(path)}`;
await writeFile(join(here, "dist/sources.sha256"), `${sha(all, "hex")}\n`);
console.log(`dist/page.html: ${Buffer.byteLength(page)} bytes; sources ${sha(all, "hex").slice(0, 12)}`);
