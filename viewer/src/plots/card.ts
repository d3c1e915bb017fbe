// A plot on the page: its chart, its list of curves with values, the search for more columns, its exports.

import { DELTA, wantsLog, type Catalogue } from "../catalogue";
import { toCsv } from "../export/csv";
import { valueAt, type Column } from "../motion";
import { button, el, fileName, format, save } from "../ui";
import { drawChart, LIGHT_CURVES, svgText, svgToPng, type Chart, type ChartLook, type Curve } from "./chart";

const DASHES = ["", "5 3", "2 2", "8 3 2 3"];
const PRINT: ChartLook = { ink: "#1d2730", soft: "#5b6772", grid: "#e3e7eb", paper: "#ffffff", accent: "#e4572e", curves: LIGHT_CURVES };

/** What a card needs from the page around it. */
export interface Host {
  catalogue: Catalogue; labels: string[]; title: string;
  shown(result: number): boolean;
  look(): ChartLook;
  range(): [number, number];
  setRange(range: [number, number] | null): void;
  time(): number;
  jump(time: number): void;
  remove(card: Card): void;
}

export class Card {
  readonly root: HTMLElement;
  private chart: Chart | null = null;
  private curves: Curve[] = [];
  private readonly area = el("div", { class: "chart" });
  private readonly legend = el("div", { class: "legend" });
  private readonly finder = el("div", { class: "finder", hidden: true });
  private readonly logButton: HTMLButtonElement;
  private readonly tools: HTMLElement;
  private log: boolean;
  private hover: number | null = null;

  /** `over` names the column of the horizontal axis; null is time. */
  constructor(private readonly host: Host, public names: string[], public over: string | null = null) {
    this.log = wantsLog(names);
    this.logButton = button("log", "Logarithmic axis", () => this.setLog(!this.log));
    // Behind one button, so that names of curves have the width of the panel.
    this.tools = el("div", { class: "tools more", hidden: true }, this.logButton,
      button("SVG", "Save this plot as SVG", () => this.saveSvg()),
      button("PNG", "Save this plot as PNG", () => void this.savePng()),
      button("CSV", "Save these curves as CSV", () => this.saveCsv()));
    const always = el("div", { class: "tools" },
      button("", "Axis and files of this plot", () => this.toggleTools(), "more"),
      button("", "Add or remove curves", () => this.toggleFinder(), "add"),
      button("", "Remove this plot", () => this.host.remove(this), "close"));
    this.root = el("section", { class: "card" }, el("div", { class: "cardhead" }, this.legend, always), this.tools, this.finder, this.area);
    this.handleMouse();
  }

  setNames(names: string[]): void {
    const wasLog = wantsLog(this.names);
    this.names = names;
    if (wantsLog(names) !== wasLog) this.log = wantsLog(names);
    this.draw();
  }
  setLog(on: boolean): void { this.log = on; this.draw(); }
  setOver(name: string | null): void { this.over = name; this.draw(); }
  toggleTools(open = this.tools.hidden): void { this.tools.hidden = !open; }
  get isLog(): boolean { return this.log; }
  get curveCount(): number { return this.curves.length; }

  private collect(look: ChartLook): void {
    const colors = look.curves;
    this.curves = [];
    this.names.forEach((name, k) => {
      this.host.labels.forEach((label, r) => {
        const found = this.host.shown(r) ? this.host.catalogue.get(name, r) : undefined;
        if (!found) return;
        const many = this.host.labels.length > 1, zero = this.log ? 0 : this.host.catalogue.noise(name, r);
        const column = zero > 0 ? { name: found.name, unit: found.unit, t: found.t, y: found.y.map((v) => (Number.isNaN(v) ? v : 0)) } : found;
        this.curves.push({ ...(zero > 0 ? { zero } : {}), column, label: many ? `${name} (${label})` : name, color: colors[k % colors.length]!, dash: DASHES[(name.startsWith(DELTA) ? r - 1 : r) % DASHES.length]! });
      });
    });
  }

  private get unit(): string {
    const units = [...new Set(this.curves.map((c) => c.column.unit).filter((u) => u && u !== "1"))];
    return units.join(", ");
  }

  draw(): void {
    this.collect(this.host.look());
    this.logButton.classList.toggle("on", this.log);
    const width = Math.max(200, this.area.clientWidth), height = Math.max(120, this.area.clientHeight);
    if (this.area.clientWidth === 0) return;
    this.chart = drawChart({ curves: this.curves, x: this.host.range(), log: this.log, width, height, look: this.host.look(), unit: this.unit, ...this.overColumn() });
    this.area.replaceChildren(this.chart.svg);
    this.legend.replaceChildren(...this.curves.map((c, i) => el("div", { class: "curve" }, this.swatch(c), el("span", { class: "name", title: c.label }, c.label), el("span", { class: "value", "data-curve": i }),
      c.zero !== undefined && el("span", { class: "hint floor" }, `below ${format(c.zero, 2)}${c.column.unit && c.column.unit !== "1" ? ` ${c.column.unit}` : ""}: drawn as zero`))));
    if (!this.curves.length) this.legend.replaceChildren(el("span", { class: "hint" }, "No curves yet: add columns with +"));
    this.cursor();
  }

  /** The column of the horizontal axis, of the first result that is shown. */
  private overColumn(): { over?: Column } {
    const r = this.host.labels.findIndex((_, k) => this.host.shown(k));
    const over = this.over === null || r < 0 ? undefined : this.host.catalogue.get(this.over, r);
    return over ? { over } : {};
  }

  private swatch(c: Curve): SVGSVGElement {
    const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg"), line = document.createElementNS("http://www.w3.org/2000/svg", "line");
    for (const [k, v] of Object.entries({ width: 18, height: 8, class: "swatch" })) svg.setAttribute(k, String(v));
    for (const [k, v] of Object.entries({ x1: 0, x2: 18, y1: 4, y2: 4, stroke: c.color, "stroke-width": 2.4, "stroke-dasharray": c.dash })) line.setAttribute(k, String(v));
    svg.append(line);
    return svg;
  }

  /** Follows the time of the animation, or the pointer while it is over the chart. */
  cursor(): void {
    if (!this.chart) return;
    const t = this.hover ?? this.host.time(), over = this.overColumn().over, x = this.chart.toX(over ? valueAt(over, t) : t), [a, b] = this.host.range();
    const inside = t >= a && t <= b;
    this.chart.cursor.setAttribute("visibility", inside && !over ? "visible" : "hidden");
    this.chart.cursor.setAttribute("x1", x.toFixed(1));
    this.chart.cursor.setAttribute("x2", x.toFixed(1));
    const values = this.legend.querySelectorAll(".value");
    this.curves.forEach((c, i) => {
      const y = valueAt(c.column, t), dot = this.chart!.dots[i]!, py = this.chart!.toY(y);
      const visible = inside && Number.isFinite(py);
      dot.setAttribute("visibility", visible ? "visible" : "hidden");
      if (visible) { dot.setAttribute("cx", x.toFixed(1)); dot.setAttribute("cy", py.toFixed(1)); }
      if (values[i]) values[i].textContent = `${format(y)}${c.column.unit && c.column.unit !== "1" ? ` ${c.column.unit}` : ""}`;
    });
  }

  readout(): { label: string; value: number }[] {
    return this.curves.map((c) => ({ label: c.label, value: valueAt(c.column, this.hover ?? this.host.time()) }));
  }

  // Click: go to that time. Drag: zoom into the span. Wheel: zoom about the pointer. Double click: everything again.
  private handleMouse(): void {
    let from: number | null = null, band: HTMLElement | null = null;
    const at = (e: MouseEvent) => e.clientX - this.area.getBoundingClientRect().left;
    const clamp = (t: number) => { const [a, b] = this.host.range(); return Math.min(b, Math.max(a, t)); };
    this.area.addEventListener("pointerdown", (e) => {
      if (!this.chart || e.button !== 0) return;
      from = at(e);
      this.area.setPointerCapture(e.pointerId);
    });
    this.area.addEventListener("pointermove", (e) => {
      if (!this.chart) return;
      this.hover = this.timeAt(e, clamp);
      if (from !== null && !this.chart.nearest && Math.abs(at(e) - from) > 4) {
        if (!band) this.area.append(band = el("div", { class: "band" }));
        band.style.left = `${Math.min(from, at(e))}px`;
        band.style.width = `${Math.abs(at(e) - from)}px`;
      }
      this.cursor();
    });
    const up = (e: PointerEvent) => {
      if (!this.chart || from === null) return;
      const a = clamp(this.chart.toTime(Math.min(from, at(e)))), b = clamp(this.chart.toTime(Math.max(from, at(e))));
      const dragged = !this.chart.nearest && Math.abs(at(e) - from) > 4, there = this.timeAt(e, clamp);
      from = null;
      band?.remove();
      band = null;
      if (dragged && b > a) this.host.setRange([a, b]);
      else if (!dragged) this.host.jump(there);
    };
    this.area.addEventListener("pointerup", up);
    this.area.addEventListener("pointercancel", () => { from = null; band?.remove(); band = null; });
    this.area.addEventListener("pointerleave", () => { this.hover = null; this.cursor(); });
    this.area.addEventListener("dblclick", () => this.host.setRange(null));
    this.area.addEventListener("wheel", (e) => {
      if (!this.chart || !(e.ctrlKey || e.shiftKey || e.altKey)) return;
      e.preventDefault();
      const [a, b] = this.host.range(), t = clamp(this.chart.toTime(at(e))), f = Math.exp((e.deltaY || e.deltaX) * 0.0015);
      this.host.setRange([t - (t - a) * f, t + (b - t) * f]);
    }, { passive: false });
  }

  private timeAt(e: MouseEvent, clamp: (t: number) => number): number {
    const box = this.area.getBoundingClientRect(), chart = this.chart!;
    return clamp(chart.nearest ? chart.nearest(e.clientX - box.left, e.clientY - box.top) : chart.toTime(e.clientX - box.left));
  }

  toggleFinder(open = this.finder.hidden): void {
    this.finder.hidden = !open;
    if (!open) { this.draw(); return; }
    const input = el("input", { type: "search", placeholder: "Search columns, e.g. crank r", "aria-label": "Search columns" });
    const list = el("div", { class: "list" });
    const refresh = () => {
      const found = this.host.catalogue.search(input.value), most = 150;
      list.replaceChildren(...found.slice(0, most).map((e) => el("label", {},
        el("input", { type: "checkbox", checked: this.names.includes(e.name), onchange: (ev: Event) => {
          const on = (ev.target as HTMLInputElement).checked;
          this.setNames(on ? [...this.names, e.name] : this.names.filter((n) => n !== e.name));
        } }), el("span", {}, e.name), el("i", {}, e.unit === "1" ? "" : e.unit))));
      if (found.length > most) list.append(el("div", { class: "hint" }, `and ${found.length - most} more: type another word`));
      if (!found.length) list.append(el("div", { class: "hint" }, "no column of that name"));
    };
    input.addEventListener("input", refresh);
    input.addEventListener("keydown", (e) => { if (e.key === "Escape") this.toggleFinder(false); });
    const known = [...new Set([...this.names, ...(this.over ? [this.over] : []), ...this.host.catalogue.shown()])];
    const over = el("select", { "aria-label": "Horizontal axis", onchange: () => this.setOver(over.value || null) },
      el("option", { value: "" }, "time"), ...known.map((n) => el("option", { value: n }, n)));
    over.value = this.over ?? "";
    this.finder.replaceChildren(input, list, el("label", { class: "over" }, "plotted over ", over));
    refresh();
    input.focus();
  }

  private printed(): SVGSVGElement {
    const rows = Math.ceil(this.curves.length / 2);
    const curves = this.curves.map((c) => ({ ...c, color: LIGHT_CURVES[this.host.look().curves.indexOf(c.color)] ?? c.color }));
    return drawChart({ curves, x: this.host.range(), log: this.log, width: 720, height: 360 + 16 * rows, look: PRINT, unit: this.unit, heading: this.host.title, legend: true, ...this.overColumn() }).svg;
  }
  private stem(end: string): string { return fileName(`${this.host.title}-${this.names.slice(0, 3).join("-")}`, end); }
  saveSvg(): void { save(this.stem(".svg"), new Blob([svgText(this.printed())], { type: "image/svg+xml" })); }
  async savePng(): Promise<void> { save(this.stem(".png"), await svgToPng(this.printed())); }
  saveCsv(): void { save(this.stem(".csv"), new Blob([toCsv(this.curves.map((c) => ({ name: c.label, column: c.column })))], { type: "text/csv" })); }
}
