// The page of a sweep without a browser: which colours its cases are drawn in, and what its axes say.
import { readFile } from "node:fs/promises";

/** An element that takes everything; a canvas of it notes what is drawn. */
function element(drawn, wide = 900) {
  const pen = new Proxy({ path: [] }, {
    get: (t, key) => {
      if (key === "beginPath") return () => { t.path = []; };
      if (key === "moveTo" || key === "lineTo") return (...at) => t.path.push(at);
      if (key === "arc") return (x, y) => t.path.push([x, y]);
      if (key === "stroke") return () => drawn.push({ kind: "line", style: t.strokeStyle, path: t.path });
      if (key === "fill") return () => drawn.push({ kind: "spot", style: t.fillStyle, path: t.path });
      if (key === "fillText") return (text, x, y, room) => drawn.push({ kind: "text", text, x, y, room });
      if (key === "measureText") return (text) => ({ width: 6 * text.length });
      return key in t ? t[key] : () => {};
    },
    set: (t, key, value) => { t[key] = value; return true; },
  });
  const own = { clientWidth: wide, style: {}, append() {}, prepend() {}, replaceChildren() {}, remove() {}, addEventListener() {}, setAttribute() {}, toggleAttribute() {}, querySelector: () => element(drawn, wide), querySelectorAll: () => [], getContext: () => pen, classList: { toggle() {}, add() {}, remove() {} } };
  return own;
}

/** Draws the page of some data and gives what was drawn. */
export async function draw(data, wide = 900) {
  const source = await readFile(new URL("../../crates/fourbar-io/src/page/sweep/page.js", import.meta.url), "utf8");
  const drawn = [];
  const texts = { "fourbar-data": JSON.stringify(data), "fourbar-live": "null" };
  const document = {
    documentElement: {}, body: element(drawn, wide),
    getElementById: (id) => (id in texts ? { textContent: texts[id] } : element(drawn, wide)),
    createElement: () => element(drawn, wide), addEventListener() {},
  };
  const window = { matchMedia: () => ({ matches: false, addEventListener() {} }), addEventListener() {}, devicePixelRatio: 1 };
  const style = () => ({ getPropertyValue: (name) => name });
  class Watch { observe() {} }
  new Function("document", "window", "getComputedStyle", "ResizeObserver", "requestAnimationFrame", "location", "navigator", source)(
    document, window, style, Watch, (f) => f(), { hash: "", href: "" }, {});
  return drawn;
}

/** Cases that failed have the colour of what is missing, and rounding is no range. Throws where they have not. */
export async function failedCases() {
  const n = 5, r = [40, 45, 50, 55, 60];
  const data = {
    kind: "sweep", title: "test", file: "test.yaml", cases: r.map((_, k) => k), status: r.map((_, k) => (k < 3 ? "ok" : "failed")), failures: r.map(() => ""), codes: r.map(() => ""), messages: r.map(() => ""), names: r.map(() => ""),
    columns: [{ name: "r", unit: "mm", role: "set" }, { name: "loss", unit: "W", role: "measure" }, { name: "same", unit: "m", role: "measure" }],
    values: [r, [3, 4, 5, null, null], [0.1, 0.1 + 1e-16, 0.1 - 1e-16, 0.1, 0.1]],
  };
  const drawn = await draw(data);
  const lines = drawn.filter((d) => d.kind === "line" && d.path.length >= 1 && /^rgb|--soft/.test(d.style));
  // Columns are side by side: a case begins at the first axis, at the height of its parameter.
  const of = (k) => lines.find((d) => d.path[0][0] === 70 && Math.abs(d.path[0][1] - (34 + (1 - k / (n - 1)) * (280 - 52))) < 1e-6);
  for (let k = 0; k < n; k++) {
    const style = of(k)?.style ?? "nothing";
    if (k < 3 ? !style.startsWith("rgb") : style !== "--soft") throw new Error(`case ${k} is drawn in ${style}`);
  }
  const texts = drawn.filter((d) => d.kind === "text").map((d) => d.text);
  if (!texts.includes("0.095") || !texts.includes("0.105")) throw new Error(`rounding has an axis of its own: ${texts.join(" ")}`);
}

/** On a phone the names of neighbouring axes do not run into each other, and ticks leave room for the name beside them. */
export async function namesApart() {
  const names = ["crank_length", "rocker_length", "coupler_length", "rise"], n = 4;
  const data = {
    kind: "sweep", title: "test", file: "test.yaml", cases: [0, 1, 2, 3], status: Array(n).fill("ok"), failures: Array(n).fill(""), codes: Array(n).fill(""), messages: Array(n).fill(""), names: Array(n).fill(""),
    columns: names.map((name, k) => ({ name, unit: "mm", role: k < 3 ? "set" : "measure" })), values: names.map((_, k) => [1, 2, 3, 4].map((v) => v * (k < 3 ? 10 : 1e-5))),
  };
  for (const wide of [310, 700, 1300]) {
    const drawn = await draw(data, wide), heads = drawn.filter((d) => d.kind === "text" && d.room !== undefined && d.text.endsWith("[mm]")).slice(0, names.length);
    if (heads.length !== names.length) throw new Error(`${heads.length} names at ${wide}`);
    const half = (d) => Math.min(6 * d.text.length, d.room) / 2;
    for (const a of heads) for (const b of heads) if (a.x < b.x && a.y === b.y && a.x + half(a) > b.x - half(b)) throw new Error(`${a.text} runs into ${b.text} at ${wide}`);
    for (const h of heads) if (h.x - half(h) < 0 || h.x + half(h) > wide) throw new Error(`${h.text} is cut off at ${wide}`);
    const long = drawn.filter((d) => d.kind === "text" && /e-/.test(d.text) && d.text.length > 6 && d.x < 62);
    if (long.length) throw new Error(`ticks reach into the name beside them: ${long.map((d) => d.text).join(" ")}`);
  }
}
