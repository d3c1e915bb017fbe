// What the page says of a mechanism: the findings of `check`, and the values of a part.

import type { Catalogue } from "../catalogue";
import type { Line, Section } from "../data";
import { valueAt, type Motion } from "../motion";
import { format } from "../ui";
import type { Reply } from "./engine";

/** A singular position that `check` has found. */
interface Singular { joint: string; what: string; value: number; names: string[] }

/** The findings of `check` as sections, and the times at which the motion passes singular positions; `mode` shows an assembly mode. */
export function explanation(reply: Reply, catalogue: Catalogue, mode: (number: number) => void): { sections: Section[]; times: number[] } {
  const sections: Section[] = [{ title: (reply["headline"] as string).replaceAll("`", ""), lines: [] }];
  for (const f of reply["facts"] as { label: string; text: string }[]) {
    // An option of the command line is of no use here: the page lists the modes itself.
    const text = f.text.replace("; `--assembly-modes FILE.html` draws them", "");
    if (f.label) sections.push({ title: f.label[0]!.toUpperCase() + f.label.slice(1), lines: [] });
    sections[sections.length - 1]!.lines.push({ text: text.replaceAll("`", "") });
  }
  const modes = reply["modes"] as string[];
  if (modes.length) sections.push({ title: "Assembly modes: click one to show it", lines: modes.map((text, number): Line => ({ text: text.replaceAll("`", ""), act: { text: "show", run: () => mode(number) } })) });
  const passed = passings(reply["events"] as Singular[], catalogue);
  if (passed.length) sections.push({ title: "Singular positions of this motion", lines: passed });
  const notes = (reply.diagnostics ?? []).map((d): Line => ({ text: `${d.message}${d.help ? `; ${d.help}` : ""} [${d.code}]`, level: "warn", names: d.names }));
  if (notes.length) sections.push({ title: "Warnings", lines: notes });
  return { sections, times: passed.map((e) => e.time!) };
}

/** When the motion passes singular positions. */
function passings(list: Singular[], catalogue: Catalogue): Line[] {
  const out: Line[] = [];
  for (const e of list) {
    const c = catalogue.get(`${e.joint}.${e.what}`, 0);
    if (!c || c.t.length < 3) continue;
    const turn = e.what === "angle" ? 2 * Math.PI : 0, off = (k: number) => { const d = c.y[k]! - e.value; return turn ? d - turn * Math.round(d / turn) : d; };
    for (let k = 0; k + 1 < c.t.length && out.length < 40; k++) {
      const a = off(k), b = off(k + 1);
      if (a === 0 || (a < 0) === (b < 0) || Math.abs(a - b) > 1) continue;
      const time = c.t[k]! + ((c.t[k + 1]! - c.t[k]!) * a) / (a - b);
      out.push({ text: `${e.joint} ${e.what} = ${format(valueAt(c, time))}: ${e.names.join(", ")}`, time, names: [e.joint, ...e.names] });
    }
  }
  return out;
}

/** Names and values of all columns of a part at a time, or now; `body` is its place where it is a body. */
export function valuesOf(m: Motion, body: number, name: string, time: number): [string, string][] {
  const columns = m.columns.filter((c) => c.name.startsWith(`${name}.`)), rows: [string, string][] = [], done = new Set<string>();
  if (body >= 0) rows.push(["position", m.pose(body, time).r.map((x) => format(x)).join(", ") + " m"]);
  for (const c of columns) {
    const part = c.name.slice(name.length + 1), stem = part.replace(/\.[xyz]$/, "");
    if (done.has(stem)) continue;
    done.add(stem);
    const all = stem === part ? [c] : ["x", "y", "z"].map((a) => columns.find((o) => o.name === `${name}.${stem}.${a}`)).filter((o) => o !== undefined);
    const numbers = all.map((o) => m.value(o, time)), size = numbers.length === 3 ? `  (${format(Math.hypot(...numbers))})` : "";
    rows.push([stem, `${numbers.map((x) => format(x)).join(", ")} ${c.unit === "1" ? "" : c.unit}${size}`]);
  }
  return rows;
}
