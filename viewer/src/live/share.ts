// This page once more as a file: the same script, style, policy and engine, with other data.

import type { PageData } from "../data";
import type { LiveData } from "./live";

/** JSON for a block of the page: no text in it can end the block. */
const block = (value: unknown): string => JSON.stringify(value).replaceAll("<", "\\u003c");

export function sharedPage(page: PageData, live: LiveData): string {
  const text = (selector: string) => document.querySelector(selector)?.textContent ?? "";
  const policy = document.querySelector("meta[http-equiv]")?.getAttribute("content") ?? "";
  const { gallery: _, ...own } = live;
  return [
    "<!doctype html>", '<html lang="en">', "<head>", '<meta charset="utf-8">',
    `<meta http-equiv="Content-Security-Policy" content="${policy.replaceAll('"', "&quot;")}">`,
    '<meta name="viewport" content="width=device-width, initial-scale=1">', '<meta name="referrer" content="no-referrer">', "<title>Fourbar</title>",
    `<style>${text("style")}</style>`, "</head>", "<body>",
    "<noscript>This page shows a moving mechanism and needs JavaScript, which it contains; nothing is loaded from the network.</noscript>",
    '<div id="app"></div>', `<script type="application/json" id="fourbar-data">${block({ ...page, live: own })}</script>`,
    `<script type="application/octet-stream" id="fourbar-engine">${text("#fourbar-engine")}</script>`,
    `<script>${text("script:not([type])")}</script>`, "</body>", "</html>", "",
  ].join("\n");
}
