// The playground: the shipped models to choose from, and a sheet to draw a linkage on.

import { button, el } from "../ui";
import type { Live, Shipped } from "./live";
import { Sketch } from "./sketch";

export function playground(live: Live, gallery: Shipped[]): void {
  const sketch = new Sketch((text) => live.open("sketch.yaml", text));
  const search = el("input", { type: "search", placeholder: "Search models", "aria-label": "Search models" }), list = el("div", { class: "gallery" });
  const refresh = () => {
    const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
    let group = "";
    // Groups, names and purposes are those of `fourbar examples`.
    list.replaceChildren(...gallery.filter((g) => words.every((w) => `${g.name} ${g.group ?? ""} ${g.title} ${g.purpose ?? ""}`.toLowerCase().includes(w))).flatMap((g) => {
      const b = button("", `Open ${g.name}`, () => live.open(`${g.name}.yaml`, g.text)), head = g.group && g.group !== group ? [el("h2", {}, g.group)] : [];
      group = g.group ?? "";
      b.append(g.name, el("small", {}, g.purpose ?? g.title));
      return [...head, b];
    }));
  };
  search.addEventListener("input", refresh);
  refresh();
  live.app.addTab("Models", el("div", { class: "trace" }, el("div", { class: "cardtools" }, button("Draw a linkage", "Draw a planar linkage with the mouse", () => sketch.open())), search, list), "Live");
  // The scene is rebuilt for every mechanism; the sheet lies over it.
  const place = () => live.app.scene.append(sketch.root);
  live.app.onShow.push(place);
  place();
  live.app.openTab("Models");
  Object.defineProperty(window, "sketch", { value: sketch, enumerable: false });
}
