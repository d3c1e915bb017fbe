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
      el("div", { class: "cardtools" }, this.undoButton, this.redoButton, button("Save file", "Save the mechanism file", () => host.save()), button("Share page", "Save this page with the current file, as one file to send", () => host.share())),
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

  /** Shows another file with a new history. */
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

/** A quoted value, as in JSON, without its quotes. */
const plain = (value: string): string => value.trim().replace(/^(["'])(.*)\1$/, "$2").trim();
/** A number and its unit. */
const QUANTITY = /^([-+]?[0-9.]+(?:[eE][-+]?[0-9]+)?)\s*([A-Za-z][A-Za-z0-9*/^]*)$/;
/** Units whose values read well after a slider has moved, in SI units. */
const SCALES: Record<string, number> = { mm: 1e-3, cm: 1e-2, deg: Math.PI / 180, g: 1e-3, ms: 1e-3 };
/** Units in files, as multiples of the SI units of sliders. */
const SI: Record<string, string> = {
  km: "m", dm: "m", cm: "m", mm: "m", um: "m", nm: "m", in: "m", ft: "m", g: "kg", mg: "kg", tonne: "kg", lb: "kg", oz: "kg", slug: "kg", ms: "s", us: "s", min: "s", h: "s",
  mrad: "rad", deg: "rad", turn: "rad", rev: "rad", rpm: "rad/s", Hz: "rad/s", kHz: "rad/s", mN: "N", kN: "N", MN: "N", lbf: "N", kgf: "N", Nm: "N*m", Nmm: "N*m", kNm: "N*m",
  mJ: "J", kJ: "J", kPa: "Pa", MPa: "Pa", GPa: "Pa", bar: "Pa", psi: "Pa", mW: "W", kW: "W", hp: "W",
};

/** The SI unit of a value that is written with a unit; empty if it is a bare number. */
export function unitOf(value: string): string {
  const unit = QUANTITY.exec(plain(value))?.[2];
  return unit ? (SI[unit] ?? unit.replace(/[A-Za-z]+/g, (part) => SI[part] ?? part)) : "";
}

/** A number in place of a written value: in the previous unit if that gives the same bits, otherwise in SI units. */
export function written(value: number, before: string): string {
  const unit = QUANTITY.exec(plain(before))?.[2] ?? "", scale = SCALES[unit], quote = /^["']/.exec(before.trim())?.[0] ?? "";
  const small = scale === undefined ? NaN : Number((value / scale).toPrecision(12));
  if (scale === undefined) return String(value);
  return `${quote}${small * scale === value ? `${small} ${unit}` : `${value} ${SI[unit]!}`}${quote}`;
}

/** Lines of a file end as those of a text field do. */
export const withLineFeeds = (text: string): string => text.replace(/\r\n?/g, "\n");
