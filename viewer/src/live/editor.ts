// The file of the mechanism as text, with complaints underlined while it is typed, and its history.

import { button, el } from "../ui";
import type { Complaint } from "./engine";

export interface EditorHost {
  /** The text changed. */
  changed(text: string): void;
  save(): void;
  share(): void;
}

export class Editor {
  readonly root: HTMLElement;
  private readonly area = el("textarea", { class: "code", spellcheck: "false", autocapitalize: "off", autocomplete: "off", wrap: "off", "aria-label": "Mechanism file" });
  private readonly marks = el("pre", { class: "code marks", "aria-hidden": "true" });
  private readonly list = el("ul", { class: "lines complaints" });
  private readonly undoButton: HTMLButtonElement;
  private readonly redoButton: HTMLButtonElement;
  private past: string[] = [];
  private future: string[] = [];
  private last = "";
  private waiting = 0;

  constructor(private readonly host: EditorHost) {
    this.undoButton = button("Undo", "Undo the last change of the file", () => this.step(this.past, this.future));
    this.redoButton = button("Redo", "Do it again", () => this.step(this.future, this.past));
    this.root = el("div", { class: "editor" },
      el("div", { class: "cardtools" }, this.undoButton, this.redoButton, button("Save file", "Save the mechanism file", () => host.save()), button("Share page", "Save this page with the file as it is now, to be mailed", () => host.share())),
      el("div", { class: "sheet" }, this.marks, this.area), this.list);
    this.area.addEventListener("input", () => {
      this.paint([]);
      clearTimeout(this.waiting);
      this.waiting = window.setTimeout(() => this.commit(this.area.value), 250);
    });
    this.area.addEventListener("scroll", () => { this.marks.scrollTop = this.area.scrollTop; this.marks.scrollLeft = this.area.scrollLeft; });
    // The tab key moves on as everywhere; two blanks are what files are indented with.
    this.area.addEventListener("keydown", (e) => { if (e.key === "Escape") this.area.blur(); });
  }

  get text(): string { return this.area.value; }

  /** Shows another file; its history starts anew. */
  open(text: string): void {
    this.past = [];
    this.future = [];
    this.last = text;
    this.write(text);
  }

  /** A change from outside, such as a slider, that can be undone. */
  change(text: string): void {
    if (text === this.last) return;
    this.keep();
    this.last = text;
    this.write(text);
  }

  private write(text: string): void {
    const { scrollTop, scrollLeft } = this.area;
    this.area.value = text;
    this.area.scrollTop = scrollTop;
    this.area.scrollLeft = scrollLeft;
    this.paint([]);
    this.buttons();
  }
  private keep(): void {
    this.past.push(this.last);
    if (this.past.length > 500) this.past.shift();
    this.future = [];
  }
  private buttons(): void {
    this.undoButton.disabled = !this.past.length;
    this.redoButton.disabled = !this.future.length;
  }
  private commit(text: string): void {
    if (text === this.last) return;
    this.keep();
    this.last = text;
    this.buttons();
    this.host.changed(text);
  }
  undo(): void { this.step(this.past, this.future); }
  private step(from: string[], to: string[]): void {
    clearTimeout(this.waiting);
    const text = from.pop();
    if (text === undefined) return;
    to.push(this.last);
    this.last = text;
    this.write(text);
    this.host.changed(text);
  }

  /** Underlines what the engine complains about and lists it below. */
  complain(list: Complaint[]): void {
    this.paint(list);
    this.list.replaceChildren(...list.map((c) => {
      const item = el("li", { class: c.warning ? "info" : "warn" }, el("pre", {}, c.shown.trimEnd()));
      if (c.start !== undefined) {
        item.classList.add("named");
        item.addEventListener("click", () => { this.area.focus(); this.area.setSelectionRange(c.start!, c.end ?? c.start!); });
      }
      return item;
    }));
  }
  get complaints(): string[] { return [...this.list.children].map((c) => c.textContent ?? ""); }

  private paint(list: Complaint[]): void {
    const text = this.area.value, parts: (Node | string)[] = [];
    let at = 0;
    for (const c of list.filter((v) => v.start !== undefined).sort((a, b) => a.start! - b.start!)) {
      const start = Math.max(at, c.start!), end = Math.min(text.length, Math.max(start + 1, c.end ?? start + 1));
      if (start >= end) continue;
      parts.push(text.slice(at, start), el("mark", { class: c.warning ? "mild" : "bad" }, text.slice(start, end)));
      at = end;
    }
    parts.push(text.slice(at), "\n");
    this.marks.replaceChildren(...parts);
    this.marks.scrollTop = this.area.scrollTop;
    this.marks.scrollLeft = this.area.scrollLeft;
  }
}

/** Where the value of a parameter stands in a file: from, to. */
function valueOf(text: string, name: string): [number, number] | null {
  const section = /^parameters:/m.exec(text);
  if (!section) return null;
  const from = section.index, rest = text.slice(from + 11), next = /^[^\s#]/m.exec(rest.slice(1)), to = next ? from + 12 + next.index : text.length;
  const pattern = new RegExp(`((?:^|[{,\\s])["']?${name.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")}["']?\\s*:\\s*)("[^"\\n]*"|'[^'\\n]*'|[^,}#\\n]*[^,}#\\s])`);
  const part = text.slice(from, to), found = pattern.exec(part);
  if (!found) return null;
  const at = from + found.index + found[1]!.length;
  return [at, at + found[2]!.length];
}

/** Whether a parameter is a number of its own, not one that follows from others. */
export function isFree(text: string, name: string, all: Set<string>): boolean {
  const at = valueOf(text, name);
  if (!at) return false;
  return !(text.slice(...at).match(/[A-Za-z_][A-Za-z_0-9]*/g) ?? []).some((word) => all.has(word));
}

const SCALES: Record<string, number> = { mm: 1e-3, cm: 1e-2, deg: Math.PI / 180, g: 1e-3, ms: 1e-3 };
/** Units that stand in files, in SI units as sliders have them. */
const SI: Record<string, string> = { mm: "m", cm: "m", km: "m", um: "m", deg: "rad", g: "kg", t: "kg", ms: "s", us: "s", min: "s", h: "s", rpm: "rad/s", kN: "N", MN: "N", mN: "N", kPa: "Pa", MPa: "Pa", GPa: "Pa", kW: "W", kJ: "J", Hz: "1/s" };

/** The SI unit of a parameter whose value is written with a unit; empty where it is a bare number or follows from others. */
export function unitOf(text: string, name: string): string {
  const at = valueOf(text, name), value = at ? text.slice(...at).trim().replace(/^["']|["']$/g, "") : "";
  const written = Number.isNaN(Number(value)) ? /^[-+]?[0-9.]+(?:[eE][-+]?[0-9]+)?\s*([A-Za-z][A-Za-z0-9*/^]*)$/.exec(value)?.[1] : undefined;
  if (!written) return "";
  return SI[written] ?? written.replace(/[A-Za-z]+/g, (part) => SI[part] ?? part);
}

/** The text with another value of a parameter, in the unit that stood there; null where its place is not found. */
export function withParameter(text: string, name: string, value: number): string | null {
  const at = valueOf(text, name);
  if (!at) return null;
  const unit = /^[-+0-9.eE]+\s*(mm|cm|deg|g|ms)$/.exec(text.slice(...at))?.[1];
  const written = unit ? `${Number((value / SCALES[unit]!).toPrecision(12))} ${unit}` : String(value);
  return text.slice(0, at[0]) + written + text.slice(at[1]);
}
