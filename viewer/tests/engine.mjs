// The engine of live pages in node, and live pages made with it: what the tests need and the program is not there for.

import { readFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { gunzipSync } from "node:zlib";

const here = dirname(fileURLToPath(import.meta.url));
const packed = await readFile(join(here, "../dist/engine.wasm.gz")).catch(() => null);
export const hasEngine = packed !== null;
const module = packed ? new WebAssembly.Module(gunzipSync(packed)) : null;

/** A fresh engine: `ask` and `row`, as the page has them. */
export function engine() {
  const e = new WebAssembly.Instance(module, {}).exports;
  return {
    ask(request) {
      const bytes = new TextEncoder().encode(JSON.stringify(request)), at = e.fourbar_request(bytes.length);
      new Uint8Array(e.memory.buffer, at, bytes.length).set(bytes);
      const length = e.fourbar_answer();
      return JSON.parse(new TextDecoder().decode(new Uint8Array(e.memory.buffer, e.fourbar_reply(), length)));
    },
    row: () => new Float64Array(e.memory.buffer, e.fourbar_row(), e.fourbar_row_length()).slice(),
    imports: () => WebAssembly.Module.imports(module).length,
  };
}

export const modelText = (name) => readFile(join(here, "../../models", `${name}.yaml`), "utf8");

/** A live page of a shipped model, or of another text, as the program writes it; `given` may have values of parameters and settings of the study. */
export async function livePage(name, gallery = null, given = {}) {
  const text = given.text ?? (await modelText(name)), set = given.set ?? [], study = given.study ?? {}, e = engine(), loaded = e.ask({ do: "load", text, set, study });
  if (!loaded.ok) throw new Error(JSON.stringify(loaded));
  const data = { ...e.ask({ do: "run" }).page, live: { file: `${name}.yaml`, text, set, study } };
  if (gallery) data.live.gallery = await Promise.all(gallery.map(async (g) => { const [name, group] = Array.isArray(g) ? g : [g]; return { name, ...(group ? { group } : {}), title: name, text: await modelText(name) }; }));
  const page = await readFile(join(here, "../dist/page.html"), "utf8");
  return page.replace("/*FOURBAR_DATA*/", () => JSON.stringify(data).replaceAll("<", "\\u003c")).replace("/*FOURBAR_ENGINE*/", () => packed.toString("base64"))
    .replace("script-src ", "worker-src blob:; script-src 'wasm-unsafe-eval' ");
}
