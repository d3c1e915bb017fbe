// The playground: the shipped models to choose from, and a sheet to draw a linkage on.

import { button, el } from "../ui";
import type { Live } from "./live";
import { Sketch } from "./sketch";

export function playground(live: Live, gallery: { name: string; title: string; text: string }[]): void {
  const sketch = new Sketch((text) => live.open("sketch.yaml", text));
  const search = el("input", { type: "search", placeholder: "Search models", "aria-label": "Search models" }), list = el("div", { class: "gallery" });
  const refresh = () => {
    const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
    list.replaceChildren(...gallery.filter((g) => words.every((w) => `${g.name} ${g.title}`.toLowerCase().includes(w))).map((g) => {
      const b = button("", `Open ${g.name}`, () => live.open(`${g.name}.yaml`, g.text));
      b.append(g.title || g.name, el("small", {}, g.name));
      return b;
    }));
  };
  search.addEventListener("input", refresh);
  refresh();
  live.app.addTab("Models", el("div", { class: "trace" }, el("div", { class: "cardtools" }, button("Draw a linkage", "Draw a planar linkage with the mouse", () => sketch.open())), search, list), "Live");
  // The scene is built anew for every mechanism; the sheet lies over it.
  const place = () => live.app.scene.append(sketch.root);
  live.app.onShow.push(place);
  place();
  live.app.openTab("Models");
  Object.defineProperty(window, "sketch", { value: sketch, enumerable: false });
}
