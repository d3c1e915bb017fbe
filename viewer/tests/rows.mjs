// What the engine of pages answers, for the test that it is fresh: lists of requests in, the row after each and the rows of studies out.

import { engine } from "./engine.mjs";

let input = "";
for await (const chunk of process.stdin) input += chunk;
const out = JSON.parse(input).map((requests) => {
  const e = engine();
  return requests.map((request) => {
    const { ok, rows, diagnostics } = e.ask(request);
    // JSON of JavaScript has no negative zero.
    const exact = (row) => row.map((x) => (Object.is(x, -0) ? "-0" : x));
    return { ok, rows: (rows ?? [Array.from(e.row())]).map(exact), said: (diagnostics ?? []).map((d) => d.message).join("; ") };
  });
});
process.stdout.write(JSON.stringify(out));
