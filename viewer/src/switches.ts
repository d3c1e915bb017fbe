// The tab that says what is shown: switches, points to trace, results.

import type { App } from "./app";
import { RESULT_COLORS } from "./scene/stage";
import { el } from "./ui";

export interface Switch { label: string; key: string; on: boolean; set(on: boolean): void; show?: ((on: boolean) => void)[] }

export function switchPanel(app: App): HTMLElement {
  const root = el("div", {});
  const list = el("div", { class: "switches" });
  for (const name of Object.keys(app.switches) as (keyof App["switches"])[]) {
    const w = app.switches[name];
    const box = el("input", { type: "checkbox", checked: w.on, onchange: () => app.toggle(name, box.checked) });
    w.show = [...(w.show ?? []), (on) => { box.checked = on; if (name === "traces") refresh(); }];
    list.append(el("label", {}, box, w.label, el("kbd", {}, w.key)));
  }
  const follow = el("select", { "aria-label": "Body to follow", onchange: () => app.stage.follow(follow.value === "" ? null : Number(follow.value)) },
    el("option", { value: "" }, "nothing"), ...app.page.model.bodies.slice(0, 500).map((b, i) => el("option", { value: String(i) }, b.name)));
  follow.value = app.page.model.view?.follow === undefined ? "" : String(Math.max(-1, app.page.model.bodies.findIndex((b) => b.name === app.page.model.view!.follow)));
  if (follow.selectedIndex < 0) follow.selectedIndex = 0;
  list.append(el("label", {}, "The camera follows ", follow));
  root.append(el("h2", {}, "In the scene"), list);

  if (app.motions.length > 1) {
    const results = el("div", { class: "switches" });
    app.motions.forEach((m, k) => {
      const box = el("input", { type: "checkbox", checked: true, onchange: () => app.showResult(k, box.checked) });
      app.onShown.push((result, on) => { if (result === k) box.checked = on; });
      const chip = el("span", { class: "chip" });
      chip.style.background = RESULT_COLORS[k % RESULT_COLORS.length]!;
      results.append(el("label", {}, box, chip, m.label));
    });
    root.append(el("h2", {}, "Results"), results);
  }

  const search = el("input", { type: "search", placeholder: "Search points, joints, bodies", "aria-label": "Search points to trace" });
  const points = el("div", { class: "list" });
  function refresh(): void {
    const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
    const found = app.tracers.filter((t) => words.every((w) => t.name.toLowerCase().includes(w)));
    points.replaceChildren(...found.slice(0, 120).map((t) => {
      const box = el("input", { type: "checkbox", checked: app.switches.traces.on && app.tracedNames.includes(t.name), onchange: () => {
        const now = app.switches.traces.on ? app.tracedNames : [];
        app.chooseTraces(box.checked ? [...now, t.name] : now.filter((n) => n !== t.name));
      } });
      return el("label", {}, box, el("span", {}, t.name), el("i", {}, t.body < 0 ? "ground" : app.page.model.bodies[t.body]!.name));
    }));
    if (found.length > 120) points.append(el("div", { class: "hint" }, `and ${found.length - 120} more: type another word`));
  }
  search.addEventListener("input", refresh);
  refresh();
  root.append(el("h2", {}, "Points to trace"), el("div", { class: "trace" }, search, points));
  return root;
}
