// The page of a sweep without a browser: which colours its cases are drawn in, and what its axes say.
import { readFile } from "node:fs/promises";

/** An element that takes everything; a canvas of it notes what is drawn. */
function element(drawn) {
  const pen = new Proxy({ path: [] }, {
    get: (t, key) => {
      if (key === "beginPath") return () => { t.path = []; };
      if (key === "moveTo" || key === "lineTo") return (...at) => t.path.push(at);
      if (key === "arc") return (x, y) => t.path.push([x, y]);
      if (key === "stroke") return () => drawn.push({ kind: "line", style: t.strokeStyle, path: t.path });
      if (key === "fill") return () => drawn.push({ kind: "spot", style: t.fillStyle, path: t.path });
      if (key === "fillText") return (text) => drawn.push({ kind: "text", text });
      return key in t ? t[key] : () => {};
    },
    set: (t, key, value) => { t[key] = value; return true; },
  });
  const own = { clientWidth: 900, style: {}, append() {}, prepend() {}, replaceChildren() {}, remove() {}, addEventListener() {}, setAttribute() {}, toggleAttribute() {}, querySelector: () => element(drawn), querySelectorAll: () => [], getContext: () => pen, classList: { toggle() {}, add() {}, remove() {} } };
  return own;
}

/** Draws the page of some data and gives what was drawn. */
export async function draw(data) {
  const source = await readFile(new URL("../../crates/fourbar-io/src/page/sweep/page.js", import.meta.url), "utf8");
  const drawn = [];
  const texts = { "fourbar-data": JSON.stringify(data), "fourbar-live": "null" };
  const document = {
    documentElement: {}, body: element(drawn),
    getElementById: (id) => (id in texts ? { textContent: texts[id] } : element(drawn)),
    createElement: () => element(drawn), addEventListener() {},
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
  // Columns stand side by side: a case begins at the first axis, at the height of its parameter.
  const of = (k) => lines.find((d) => d.path[0][0] === 70 && Math.abs(d.path[0][1] - (34 + (1 - k / (n - 1)) * (280 - 52))) < 1e-6);
  for (let k = 0; k < n; k++) {
    const style = of(k)?.style ?? "nothing";
    if (k < 3 ? !style.startsWith("rgb") : style !== "--soft") throw new Error(`case ${k} is drawn in ${style}`);
  }
  const texts = drawn.filter((d) => d.kind === "text").map((d) => d.text);
  if (!texts.includes("0.095") || !texts.includes("0.105")) throw new Error(`rounding has an axis of its own: ${texts.join(" ")}`);
}
