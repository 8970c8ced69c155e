// The console on the screen of a phone.
import type { Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { findChromium } from "../../support/browser.ts";
import { axeFaults, ConsoleBrowser } from "../../support/console.ts";
import { tabTo } from "../../support/keyboard.ts";
import { settle } from "../../support/pictures/camera.ts";
import { picturePaths } from "../../support/pictures/views.ts";
import { fillWorld } from "../../support/pictures/world.ts";

const chromium = findChromium();
const phone = { viewport: { width: 360, height: 800 } };

/** What is wider than the screen, and tables that are cut off where nobody can scroll to them. */
const WIDE = `(() => {
  const { scrollWidth, clientWidth } = document.documentElement;
  const page = scrollWidth > clientWidth ? ["the page: " + scrollWidth + " pixels"] : [];
  const tables = [...document.querySelectorAll("table")].filter((table) => {
    const box = table.parentElement;
    return table.offsetWidth > box.clientWidth && !["auto", "scroll"].includes(getComputedStyle(box).overflowX);
  });
  return [...page, ...tables.map((table) => "table " + table.getAttribute("aria-label"))];
})()`;

describe.skipIf(chromium === null)("the console on a phone", () => {
  let browser: ConsoleBrowser;

  beforeAll(async () => {
    browser = await ConsoleBrowser.start(chromium!);
    await fillWorld(browser.app);
  }, 600_000);
  beforeEach(() => browser.app.clock.advance(120_000));
  afterEach(() => browser.finish());
  afterAll(() => browser?.close());

  const menu = (page: Page) => page.getByRole("dialog", { name: "Menu" });
  const opener = (page: Page) => page.getByRole("banner").getByRole("button", { name: "Menu" });

  it("has its navigation in a sheet, which keeps the focus and gives it back", async () => {
    const page = await browser.open("/hosts", phone);
    await page.getByRole("heading", { level: 1, name: "Hosts" }).waitFor();
    expect(await page.getByRole("navigation", { name: "Main" }).count()).toBe(0);
    await tabTo(page, opener(page));
    await page.keyboard.press("Enter");
    const links = menu(page).getByRole("navigation", { name: "Main" }).getByRole("link");
    await links.first().waitFor();
    expect(await links.allTextContents()).toEqual(
      expect.arrayContaining(["Dashboard", "Hosts", "Software", "Policies", "Queries", "Controls", "Settings"]),
    );
    for (const colorScheme of ["light", "dark"] as const) {
      await page.emulateMedia({ colorScheme });
      expect(await axeFaults(page), colorScheme).toEqual([]);
    }
    // Between the last and the first, the focus is on the browser itself.
    for (let presses = 0; presses < 30; presses++) {
      await page.keyboard.press("Tab");
      expect(await page.locator(":focus").count()).toBe(await menu(page).locator(":focus").count());
    }
    await page.keyboard.press("Escape");
    await menu(page).waitFor({ state: "detached" });
    expect(await opener(page).and(page.locator(":focus")).count()).toBe(1);

    await opener(page).click();
    await menu(page).getByRole("link", { name: "Policies" }).click();
    await menu(page).waitFor({ state: "detached" });
    await page.getByRole("heading", { level: 1, name: "Policies" }).waitFor();
    expect(await page.getByRole("main").and(page.locator(":focus")).count()).toBe(1);
    // The entry of the page that is shown closes it, too.
    await opener(page).click();
    await menu(page).getByRole("link", { name: "Policies" }).click();
    await menu(page).waitFor({ state: "detached" });

    await page.setViewportSize({ width: 1280, height: 800 });
    await page.getByRole("navigation", { name: "Main" }).waitFor();
    expect(await opener(page).count()).toBe(0);
  });

  it("has no page that is wider than the screen", { timeout: 600_000 }, async () => {
    const page = await browser.open("/settings", phone);
    const sections = page.getByRole("navigation", { name: "Sections" }).getByRole("link");
    await sections.first().waitFor();
    const addresses = await Promise.all((await sections.all()).map((link) => link.getAttribute("href")));
    const faults: string[] = [];
    const look = async (name: string) => {
      await settle(page);
      faults.push(...((await page.evaluate(WIDE)) as string[]).map((text) => `${name}: ${text}`));
    };
    for (const path of [...picturePaths, ...addresses.map(String)]) {
      await page.goto(new URL(path, browser.url).href);
      await look(path);
      for (const tab of (await page.getByRole("main").getByRole("tab").all()).slice(1)) {
        await tab.click();
        await look(`${path} ${await tab.textContent()}`);
      }
    }
    expect(faults).toEqual([]);
  });
});
