// Writes page data as DATA.md asks, for the samples of the tests: packed arrays and the filled page.

import { readFile, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const here = dirname(fileURLToPath(import.meta.url));
const base64 = (typed) => Buffer.from(typed.buffer, typed.byteOffset, typed.byteLength).toString("base64");

export const f32 = (values) => ({ enc: "f32", data: base64(Float32Array.from(values)) });
export const f64 = (values) => ({ enc: "f64", data: base64(Float64Array.from(values)) });
export const u32 = (values) => ({ enc: "u32", data: base64(Uint32Array.from(values)) });
export const linear = (start, step, count) => ({ enc: "linear", start, step, count });

/** 16-bit numbers, each of `width` interleaved components with its own scale and offset. */
export function i16(values, width = 1) {
  const scale = [], offset = [];
  for (let c = 0; c < width; c++) {
    let lo = Infinity, hi = -Infinity;
    for (let k = c; k < values.length; k += width) {
      if (Number.isNaN(values[k])) continue;
      lo = Math.min(lo, values[k]);
      hi = Math.max(hi, values[k]);
    }
    offset.push(lo <= hi ? (lo + hi) / 2 : 0);
    scale.push(hi > lo ? (hi - lo) / 65534 : 1);
  }
  const raw = Int16Array.from(values, (v, k) => (Number.isNaN(v) ? -32768 : Math.round((v - offset[k % width]) / scale[k % width])));
  return { enc: "i16", scale, offset, data: base64(raw) };
}
export const quaternions = (values) => ({ enc: "i16", scale: 1 / 32767, data: base64(Int16Array.from(values, (v) => Math.round(v * 32767))) });

/** Fills the built page, as the program does. */
export async function writePage(path, data) {
  const page = await readFile(join(here, "../dist/page.html"), "utf8");
  const json = JSON.stringify(data).replaceAll("<", "\\u003c");
  await writeFile(path, page.split("/*FOURBAR_DATA*/").join(json));
}
