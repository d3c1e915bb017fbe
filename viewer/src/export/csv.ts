// Columns as comma-separated values, on the time base of the first.

import { valueAt, type Column } from "../motion";

export function toCsv(columns: { name: string; column: Column }[]): string {
  const first = columns[0]?.column;
  if (!first) return "t\n";
  // Quotes and a leading sign of a formula are made harmless: the names come from a file.
  const cell = (s: string) => { const safe = /^[=+\-@\t\r]/.test(s) ? `'${s}` : s; return /[",\n\r]/.test(safe) ? `"${safe.replace(/"/g, '""')}"` : safe; };
  const lines = [["t", ...columns.map((c) => cell(c.name))].join(",")];
  for (let k = 0; k < first.t.length; k++) {
    const t = first.t[k]!;
    lines.push([t, ...columns.map(({ column: c }) => { const y = c.t === first.t ? c.y[k]! : valueAt(c, t); return Number.isNaN(y) ? "" : Number(y.toPrecision(9)); })].join(","));
  }
  return `${lines.join("\n")}\n`;
}
