// Small helpers for the page: elements, numbers, icons, saving a file.

type Child = Node | string | null | undefined | false;

/** Makes an element. Text always becomes a text node, never markup. */
export function el<K extends keyof HTMLElementTagNameMap>(tag: K, props: Record<string, unknown> = {}, ...children: Child[]): HTMLElementTagNameMap[K] {
  const e = document.createElement(tag);
  for (const [k, v] of Object.entries(props)) {
    if (v === undefined || v === null || v === false) continue;
    if (k === "class") e.className = String(v);
    else if (k.startsWith("on")) e.addEventListener(k.slice(2), v as EventListener);
    else if (k in e && typeof v !== "string") (e as unknown as Record<string, unknown>)[k] = v;
    else e.setAttribute(k, v === true ? "" : String(v));
  }
  for (const c of children) if (c) e.append(c);
  return e;
}

/** As many digits as mean something on a screen. */
export function format(x: number, digits = 4): string {
  if (Number.isNaN(x)) return "\u2013";
  if (x === 0) return "0";
  const a = Math.abs(x);
  if (a >= 1e5 || a < 1e-3) return x.toExponential(Math.max(0, digits - 2)).replace("e+", "e").replace("-", "\u2212").replace("e-", "e\u2212");
  return String(Number(x.toPrecision(digits))).replace("-", "\u2212");
}

const ICONS: Record<string, string> = {
  play: "M7 5l12 7-12 7z", pause: "M7 5h4v14H7zM13 5h4v14h-4z", first: "M6 5h2v14H6zM19 5v14L9 12z", last: "M16 5h2v14h-2zM5 5v14l10-7z",
  back: "M15 5v14l-9-7zM17 5h1.5v14H17z", next: "M9 5v14l9-7zM5.5 5H7v14H5.5z",
  loop: "M7 7h9V4l5 4.5-5 4.5v-3H7v4H5V9a2 2 0 0 1 2-2zM17 17H8v3l-5-4.5L8 11v3h9v-3h2v4a2 2 0 0 1-2 2z",
  panel: "M3 5h18v14H3zM5 7v10h8V7zM15 7v10h4V7z", theme: "M12 3a9 9 0 1 0 0 18 9 9 0 0 0 0-18zM12 5v14a7 7 0 0 1 0-14z",
  close: "M6.4 5L12 10.6 17.6 5 19 6.4 13.4 12 19 17.6 17.6 19 12 13.4 6.4 19 5 17.6 10.6 12 5 6.4z",
  add: "M11 5h2v6h6v2h-6v6h-2v-6H5v-2h6z", more: "M5 10h4v4H5zM10 10h4v4h-4zM15 10h4v4h-4z",
};

export function icon(name: string): SVGSVGElement {
  const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  svg.setAttribute("viewBox", "0 0 24 24");
  svg.setAttribute("aria-hidden", "true");
  const p = document.createElementNS("http://www.w3.org/2000/svg", "path");
  p.setAttribute("d", ICONS[name] ?? "");
  p.setAttribute("fill-rule", "evenodd");
  svg.append(p);
  return svg;
}

export function button(label: string, title: string, onclick: () => void, iconName?: string): HTMLButtonElement {
  return el("button", { type: "button", title, "aria-label": title, class: iconName ? "icon" : "", onclick }, iconName ? icon(iconName) : label);
}

/** Offers a file to the reader, and remembers it for the tests of the page. */
export const saved: { name: string; type: string; size: number; blob: Blob }[] = [];
export function save(name: string, blob: Blob): void {
  saved.push({ name, type: blob.type, size: blob.size, blob });
  const url = URL.createObjectURL(blob), a = el("a", { href: url, download: name });
  document.body.append(a);
  a.click();
  a.remove();
  setTimeout(() => URL.revokeObjectURL(url), 10000);
}

/** A file name made from a title. */
export function fileName(title: string, end: string): string {
  const stem = title.toLowerCase().replace(/[^a-z0-9]+/g, "-").replace(/^-+|-+$/g, "").slice(0, 60);
  return `${stem || "mechanism"}${end}`;
}
