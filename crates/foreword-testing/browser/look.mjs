// Looks at a page in a real browser and prints what a person would notice, as JSON.
//
// node look.mjs NPM_FOLDER CHROMIUM PAGE [SCREENSHOT_FOLDER]

import { createRequire } from "node:module";
import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";

const [npm, executablePath, file, screenshots] = process.argv.slice(2);
const require = createRequire(join(resolve(npm), "node_modules", "x.js"));
const { chromium } = require("playwright-core");
const axe = readFileSync(require.resolve("axe-core/axe.min.js"), "utf8");
const address = pathToFileURL(resolve(file)).href;

// Playwright gives every launch a new, empty profile and removes it.
const browser = await chromium.launch({
  executablePath,
  args: [
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
  ],
});
const report = { console: [], requests: [], axe: {}, keyboard: {}, hover: {} };

async function open(options) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, ...options });
  const page = await context.newPage();
  page.on("console", (message) => report.console.push(`${message.type()}: ${message.text()}`));
  page.on("pageerror", (error) => report.console.push(`error: ${error.message}`));
  page.on("dialog", (dialog) => { report.console.push("a dialog opened"); dialog.dismiss(); });
  page.on("request", (request) => { if (request.url().split("#")[0] !== address) report.requests.push(request.url()); });
  const started = Date.now();
  await page.goto(address);
  report.milliseconds ??= Date.now() - started;
  return page;
}

// What the page holds, and that its style is in force.
const page = await open({ colorScheme: "light" });
report.document = await page.evaluate(() => {
  const count = (selector) => document.querySelectorAll(selector).length;
  const texts = [...document.querySelectorAll("pre")].map((pre) => {
    const copy = pre.cloneNode(true);
    copy.querySelectorAll(".tip").forEach((tip) => tip.remove());
    return copy.textContent;
  });
  const tiles = [...document.querySelectorAll(".tile")].map((tile) => {
    const { width, height } = tile.getBoundingClientRect();
    return Math.round(width * height);
  });
  return {
    title: document.title,
    active: count("script, img, iframe, object, embed, form, link, base, video, audio, svg") + count("[style], [onclick], [onerror], [onload]"),
    texts, tiles,
    hacked: window.hacked === true,
    positioned: tiles.length === 0 || getComputedStyle(document.querySelector(".tile")).position === "absolute",
    names: [...document.querySelectorAll("details h3, article h3")].map((heading) => heading.textContent),
    light: getComputedStyle(document.body).backgroundColor,
  };
});

// Accessibility, in both colour schemes and on a narrow screen.
for (const [name, colorScheme, width] of [["light", "light", 1280], ["dark", "dark", 1280], ["narrow", "light", 400]]) {
  await page.setViewportSize({ width, height: 900 });
  await page.emulateMedia({ colorScheme });
  await page.evaluate(axe);
  const found = await page.evaluate(() => axe.run({ resultTypes: ["violations"] }));
  report.axe[name] = found.violations.map(({ id, nodes }) => `${id}: ${nodes.slice(0, 3).map((node) => node.html.slice(0, 200)).join(" | ")}`);
  report.axe[`${name}Rules`] = found.passes.length;
  if (name === "dark") report.document.dark = await page.evaluate(() => getComputedStyle(document.body).backgroundColor);
  if (name === "narrow") report.document.overflow = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
  if (screenshots) {
    await page.screenshot({ path: join(screenshots, `${name}.png`) });
    await page.screenshot({ path: join(screenshots, `${name}-full.png`), fullPage: true });
  }
}

// The keyboard reaches everything; what has the focus is in view and marked.
await page.setViewportSize({ width: 1280, height: 900 });
await page.emulateMedia({ colorScheme: "light" });
const focused = () => page.evaluate(() => {
  const element = document.activeElement;
  if (element === document.body) return null;
  const { bottom, top } = element.getBoundingClientRect();
  const tile = element.closest(".tile");
  const tip = (tile ?? element).querySelector(":scope > .tip");
  return {
    kind: tile ? "tile" : element.className.split(" ")[0] || element.tagName.toLowerCase(),
    marked: getComputedStyle(element).outlineStyle !== "none",
    inView: bottom > 0 && top < innerHeight,
    tip: tip && getComputedStyle(tip).display !== "none" ? tip.textContent : null,
  };
});
const stops = [];
for (let presses = 0; presses < 400; presses++) {
  await page.keyboard.press("Tab");
  const now = await focused();
  if (!now) break;
  stops.push(now);
}
report.keyboard.stops = stops.length;
report.keyboard.kinds = [...new Set(stops.map((stop) => stop.kind))].sort();
report.keyboard.unmarked = stops.filter((stop) => !stop.marked).length;
report.keyboard.outOfView = stops.filter((stop) => !stop.inView).length;
report.keyboard.tips = stops.filter((stop) => ["stretch", "tile"].includes(stop.kind)).map((stop) => stop.tip);
const tile = page.locator(".tile a").first();
if (await tile.count()) {
  await tile.focus();
  report.keyboard.tile = await page.evaluate(() => document.activeElement.getAttribute("href"));
  await page.keyboard.press("Enter");
  const target = page.locator(`:target`);
  report.keyboard.jumped = await target.evaluate((element) => {
    const { top } = element.getBoundingClientRect();
    return `#${element.id}` === location.hash && top >= 0 && top < innerHeight;
  });
  report.keyboard.opened = await target.evaluate((element) => element.closest("details")?.open ?? true);
}
const summary = page.locator("summary").first();
if (await summary.count()) {
  const isOpen = () => summary.evaluate((element) => element.parentElement.open);
  const before = await isOpen();
  await summary.focus();
  await page.keyboard.press("Enter");
  report.keyboard.toggled = before !== (await isOpen());
  await page.keyboard.press("Enter");
}

// Sources show under the pointer.
const stretch = page.locator("details[open] .stretch").first();
if (await stretch.count()) {
  await stretch.scrollIntoViewIfNeeded();
  await stretch.hover({ position: { x: 4, y: 4 } });
  const tip = stretch.locator("> .tip");
  report.hover.tip = (await tip.isVisible()) ? await tip.textContent() : null;
}

// Without JavaScript the page is the same.
const plain = await open({ javaScriptEnabled: false });
report.withoutScripts = {
  text: await plain.locator("main").innerText(),
  tiles: await plain.locator(".tile").count(),
};
if (await plain.locator("details[open] .stretch").count()) {
  await plain.locator("details[open] .stretch").first().hover({ position: { x: 4, y: 4 } });
  report.withoutScripts.tip = await plain.locator("details[open] .stretch > .tip").first().isVisible();
}

await browser.close();
console.log(JSON.stringify(report));
