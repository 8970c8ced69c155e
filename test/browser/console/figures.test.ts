// How quickly pages of the console are there and answer. Processor time of the browser's main thread is held against
// limits, because it stays the same on a busy machine; clock times are only printed.
import type { CDPSession, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { findChromium } from "../../support/browser.ts";
import { busyMs, ConsoleBrowser, listed, timeMainThread } from "../../support/console.ts";
import { makeHost, makeLabel, makePolicy } from "../../support/make.ts";

const chromium = findChromium();

/** Limits of a first visit and of one interaction, in milliseconds of the main thread. */
const VISIT_MS = 1_000;
const INTERACTION_MS = 200;
const LAYOUT_SHIFT = 0.05;

const paths = ["/", "/hosts", "/hosts/1", "/labels", "/software", "/policies", "/queries", "/activity"];
const furtherPaths = ["/changes", "/settings", "/profile"];

describe.skipIf(chromium === null)("the console's figures", () => {
  let browser: ConsoleBrowser;
  let page: Page;
  let session: CDPSession;

  beforeAll(async () => {
    browser = await ConsoleBrowser.start(chromium!);
    const { app } = browser;
    const hosts = [];
    for (let i = 0; i < 60; i++)
      hosts.push(await makeHost(app, { hostname: `host-${i}`, platform: i % 2 === 0 ? "ubuntu" : "darwin" }));
    for (let i = 0; i < 20; i++) {
      await makePolicy(app, { name: `Policy ${i}` });
      await makeLabel(app, `Label ${i}`, [hosts[i]!.id]);
    }
  }, 600_000);
  afterEach(() => browser.finish());
  afterAll(() => browser?.close());

  /** Opens a page as on a first visit of a signed-in user. */
  async function visit(path: string): Promise<void> {
    browser.app.clock.advance(120_000);
    page = await browser.open("/profile");
    session = await page.context().newCDPSession(page);
    await session.send("Network.setCacheDisabled", { cacheDisabled: true });
    await timeMainThread(session);
    await page.addInitScript(shiftScript);
    await page.goto(browser.url + path);
    await page.getByRole("main").getByRole("heading", { level: 1 }).waitFor();
    await settled();
  }

  /** Waits until the main thread has had nothing to do for a while. */
  async function settled(): Promise<void> {
    for (let before = -1, now = await busyMs(session); now - before > 3; before = now, now = await busyMs(session))
      await page.waitForTimeout(400);
  }

  /** The main thread's time for what one key or click starts. */
  async function costOf(interaction: () => Promise<unknown>): Promise<number> {
    const before = await busyMs(session);
    await interaction();
    await page.evaluate(nextPaint);
    return (await busyMs(session)) - before;
  }

  it.each([...paths, ...furtherPaths])(
    "shows %s without moving what is there, within the time of the main thread",
    async (path) => {
      await visit(path);
      const { paint, shift } = await page.evaluate<Figures>(readFigures);
      const busy = await busyMs(session);
      console.log(
        `${path}: painted after ${paint.toFixed(0)} ms, shift ${shift.toFixed(3)}, busy ${busy.toFixed(0)} ms`,
      );
      expect(shift, "layout shift").toBeLessThanOrEqual(LAYOUT_SHIFT);
      expect(busy, "milliseconds of the main thread").toBeLessThan(VISIT_MS);
    },
    120_000,
  );

  it("answers what is done in a list of 50 rows", async () => {
    await visit("/hosts");
    await listed(page, "60 hosts");
    const name = page.getByRole("columnheader", { name: "Name" }).getByRole("button");
    const interactions = {
      "sort by name": () => name.click(),
      "select all rows": () => page.getByRole("checkbox", { name: "Select all on this page" }).click(),
      "next row": () => page.keyboard.press("j"),
      "open the palette": () => page.keyboard.press("ControlOrMeta+k"),
      "type in the palette": () => page.keyboard.type("h"),
      "close the palette": () => page.keyboard.press("Escape"),
      "open the split view": () => page.keyboard.press("o"),
    };
    const costs: Record<string, number> = {};
    for (const [what, interaction] of Object.entries(interactions)) {
      costs[what] = Math.round(await costOf(interaction));
      await settled();
    }
    console.log(costs);
    for (const [what, cost] of Object.entries(costs)) expect(cost, what).toBeLessThan(INTERACTION_MS);
  }, 120_000);
});

interface Figures {
  readonly paint: number;
  readonly shift: number;
}

/** Sums up layout shifts that no interaction caused, from the start of the document. */
const shiftScript = `
  globalThis.layoutShift = 0;
  new PerformanceObserver((list) => {
    for (const entry of list.getEntries()) if (!entry.hadRecentInput) globalThis.layoutShift += entry.value;
  }).observe({ type: "layout-shift", buffered: true });
`;
const readFigures = `({
  paint: performance.getEntriesByName("first-contentful-paint")[0]?.startTime ?? 0,
  shift: globalThis.layoutShift,
})`;
const nextPaint = "new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)))";
