// Rows of studies from the engine of pages, for the test that it is fresh: JSON in, JSON out.

import { engine } from "./engine.mjs";

let input = "";
for await (const chunk of process.stdin) input += chunk;
const { most, texts } = JSON.parse(input), out = texts.map((text) => {
  const e = engine(), loaded = e.ask({ do: "load", text });
  return loaded.ok ? e.ask({ do: "rows", most }) : loaded;
});
process.stdout.write(JSON.stringify(out));
