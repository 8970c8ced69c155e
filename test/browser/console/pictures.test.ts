// What every page looks like, wide and narrow, light and dark: compared with what it looked like before, with
// SVC_PICTURES=update recorded, and with SVC_PICTURES=docs the pictures of the documentation are made; with
// SVC_PICTURES=update,docs both.
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { findChromium } from "../../support/browser.ts";
import { ConsoleBrowser } from "../../support/console.ts";
import { differences, readBaseline, variants, writeBaseline } from "../../support/pictures/baselines.ts";
import { boxesOf, Darkroom, picture, settle, type View } from "../../support/pictures/camera.ts";
import { docsPictures, picturePaths, widths, withoutExample } from "../../support/pictures/views.ts";
import { fillWorld } from "../../support/pictures/world.ts";

const chromium = findChromium();
const tasks = new Set((process.env.SVC_PICTURES ?? "compare").split(","));
const DOCS = "docs/pictures";
/** Where whole pictures are written, to be looked at. */
const TEMPORARY = "tmp/pictures";

describe.skipIf(chromium === null)("pictures of the console", () => {
  let browser: ConsoleBrowser;
  let page: Page;
  let darkroom: Darkroom;
  let fonts: string;
  const taken = new Map(variants.map(({ variant }) => [variant, new Map<string, View>()]));
  const faults: string[] = [];

  beforeAll(async () => {
    mkdirSync(TEMPORARY, { recursive: true });
    browser = await ConsoleBrowser.start(chromium!);
    await fillWorld(browser.app);
    page = await browser.open("/", { timezoneId: "UTC", locale: "en-US", reducedMotion: "reduce" });
    await page.clock.setFixedTime(browser.app.clock.now());
    const other = await page.context().newPage();
    darkroom = new Darkroom(other);
    fonts = await darkroom.fonts();
  }, 600_000);
  afterAll(async () => {
    if (tasks.has("update")) for (const { variant } of variants) writeBaseline(variant, fonts, taken.get(variant)!);
    await browser?.close();
  });

  /** Looks at what the page shows, in all ways. */
  async function take(name: string): Promise<void> {
    for (const { device, scheme, variant } of variants) {
      await page.emulateMedia({ colorScheme: scheme });
      await page.setViewportSize(widths[device]);
      await settle(page);
      const png = await picture(page);
      const view = { boxes: await boxesOf(page), ...(await darkroom.blocksOf(png)) };
      taken.get(variant)!.set(name, view);
      if (tasks.has("docs")) await keep(name, device, scheme);
      if (!tasks.has("compare")) continue;
      const faultsHere = differences(readBaseline(variant), name, view, fonts);
      if (faultsHere.length === 0) continue;
      const file = join(TEMPORARY, `${fileNameOf(name)}-${variant}.png`);
      writeFileSync(file, png);
      faults.push(...faultsHere.map((text) => `${name}, ${variant}: ${text} (${file})`));
    }
    await page.setViewportSize(widths.desk);
  }

  async function keep(name: string, device: string, scheme: string): Promise<void> {
    const png = await picture(page, { plain: true });
    writeFileSync(join(TEMPORARY, `${fileNameOf(name)}-${device}-${scheme}.png`), png);
    const shown = docsPictures.find((docs) => docs.view === name && docs.device === device && docs.scheme === scheme);
    if (shown === undefined) return;
    mkdirSync(DOCS, { recursive: true });
    writeFileSync(join(DOCS, `${shown.file}.webp`), await darkroom.compressed(png));
  }

  /** The page at a path, and each of its tabs. */
  async function visit(path: string): Promise<void> {
    await page.goto(browser.url + path);
    await settle(page);
    await take(path);
    const tabs = await page.getByRole("main").getByRole("tab").all();
    for (const tab of tabs.slice(1)) {
      const name = (await tab.textContent())!.trim();
      await tab.click();
      await take(`${path} ${name}`);
    }
  }

  const check = () => expect(faults.splice(0)).toEqual([]);

  it("know an example for each path", () => {
    expect(withoutExample).toEqual([]);
  });

  it.each(picturePaths)("show %s as it was", { timeout: 300_000 }, async (path) => {
    await visit(path);
    check();
  });

  it("show each section of the settings as it was", { timeout: 600_000 }, async () => {
    await page.goto(`${browser.url}/settings`);
    await settle(page);
    const links = await page.getByRole("navigation", { name: "Sections" }).getByRole("link").all();
    const paths = await Promise.all(
      links.map(async (link) => new URL((await link.getAttribute("href"))!, browser.url)),
    );
    for (const { pathname } of paths) await visit(pathname);
    check();
  });

  it("have no records of pages that are gone", () => {
    if (!tasks.has("compare")) return;
    for (const { variant } of variants) {
      const gone = Object.keys(readBaseline(variant).views).filter((name) => !taken.get(variant)!.has(name));
      expect(gone, variant).toEqual([]);
    }
  });
});

const fileNameOf = (name: string): string => name.replace(/[^A-Za-z0-9]+/g, "-").replace(/^-|-$/g, "") || "dashboard";
