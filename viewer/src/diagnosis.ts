// What the program has to say about the mechanism, in words; times can be clicked, named things light up in the scene.

import type { Section } from "./data";
import { button, el, format } from "./ui";

export interface DiagnosisHost { jump(time: number): void; highlight(names: string[]): void }

export function diagnosisPanel(sections: Section[], host: DiagnosisHost): HTMLElement {
  const root = el("div", { class: "diagnosis" });
  if (!sections.length) root.append(el("p", { class: "hint" }, "This page has no diagnosis."));
  for (const s of sections) {
    root.append(el("h2", {}, s.title), el("ul", { class: "lines" }, ...s.lines.map((l) => {
      const names = l.names ?? [];
      const item = el("li", { class: `${l.level ?? "info"}${names.length ? " named" : ""}` }, l.text);
      if (l.time !== undefined) {
        const b = button(`t = ${format(l.time)} s`, "Jump to this time", () => host.jump(l.time!));
        b.classList.add("jump");
        item.append(b);
      }
      if (l.act) {
        const { text, run } = l.act, b = button(text, text, run);
        b.classList.add("jump");
        item.append(b);
      }
      if (names.length) {
        item.addEventListener("pointerenter", () => host.highlight(names));
        item.addEventListener("pointerleave", () => host.highlight([]));
      }
      return item;
    })));
  }
  return root;
}

export function warningCount(sections: Section[]): number {
  return sections.reduce((n, s) => n + s.lines.filter((l) => l.level === "warn").length, 0);
}
