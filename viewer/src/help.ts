// The list of keys.

import { button, el } from "./ui";

const KEYS: [string, string][] = [
  ["space", "play, pause"], ["t", "traces"], ["\u2190 \u2192", "one sample (with shift: ten)"], ["r", "reaction forces"], ["\u2191 \u2193", "faster, slower"], ["v", "velocities"],
  ["Home End", "start, end"], ["g", "ghost of the start"], ["l", "repeat"], ["n", "names"], ["f", "show everything"], ["#", "grid"],
  ["1 2 3 4", "front, right, top, iso"], ["p", "perspective"], ["m", "panel"], ["d", "light, dark"], ["a", "applied forces"],
];

export function showHelp(): void {
  if (document.querySelector(".help")) return;
  const close = () => { box.remove(); document.removeEventListener("keydown", onKey, true); };
  const onKey = (e: KeyboardEvent) => { if (e.key === "Escape" || e.key === "?") { e.preventDefault(); e.stopPropagation(); close(); } };
  const box = el("div", { class: "help", role: "dialog", "aria-modal": true, "aria-label": "Help", onclick: (e: Event) => { if (e.target === box) close(); } },
    el("div", {}, el("h2", {}, "Keys"), el("dl", {}, ...KEYS.flatMap(([k, what]) => [el("dt", {}, ...k.split(" ").flatMap((x, i) => [i ? " " : "", el("kbd", {}, x)])), el("dd", {}, what)])),
      el("p", { class: "hint" }, "Scene: drag to turn, drag with the right button or two fingers to move, wheel or pinch to zoom; point at a part to see its name. Plots: click to go to a time, drag to zoom, double-click for the whole time."),
      el("p", { class: "hint" }, "This page is one file: it can be mailed and works without a network. Positions are rounded to what is visible; the CSV file of the result has all digits."),
      button("Close", "Close (Escape)", close)));
  document.addEventListener("keydown", onKey, true);
  document.body.append(box);
}
