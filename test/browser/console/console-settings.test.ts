// What users set for the console, which the server stores.
import type { Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { findChromium } from "../../support/browser.ts";
import { ConsoleBrowser, expectAccessible, listed } from "../../support/console.ts";
import { makeHost } from "../../support/make.ts";

const chromium = findChromium();

describe.skipIf(chromium === null)("the settings of the console", () => {
  let browser: ConsoleBrowser;

  beforeAll(async () => {
    browser = await ConsoleBrowser.start(chromium!);
    await makeHost(browser.app, { hostname: "ada-mac", platform: "darwin" });
  }, 600_000);
  beforeEach(async () => {
    browser.app.clock.advance(120_000);
    const console = { columns: null, density: null, rows: null, theme: null, zone: null, times: null, keys: null };
    await browser.app.patch("/users/1", { settings: { console: { ...console, pinned: null } } });
  });
  afterEach(() => browser.finish());
  afterAll(() => browser?.close());

  const stored = async () => (await browser.app.store.users.get(1))!.settings?.console;
  const html = (page: Page, name: string) => page.locator("html").getAttribute(name);

  it("are the same in another browser, from its first byte", async () => {
    const page = await browser.open("/profile");
    const card = page.getByRole("region", { name: "Appearance and keyboard" });
    await card.getByRole("combobox", { name: "Theme" }).selectOption("Dark");
    await card.getByRole("combobox", { name: "Height of rows" }).selectOption("Compact");
    await card.getByRole("combobox", { name: "Rows per page" }).selectOption("100");
    await card.getByRole("combobox", { name: "Times" }).selectOption("Date and time");
    await card.getByRole("combobox", { name: "Time zone" }).selectOption("UTC");
    expect(await html(page, "data-theme")).toBe("dark");
    const all = { theme: "dark", density: "compact", rows: 100, times: "exact", zone: "utc", columns: {} };
    await expect.poll(stored).toEqual(all);
    const other = await browser.open("/hosts");
    const text = await (await other.request.get(`${browser.url}/hosts`)).text();
    expect(text).toContain('<html lang="en" data-theme="dark" data-density="compact">');
    await listed(other, "1 host");
    expect(await other.getByRole("combobox", { name: "Rows per page" }).inputValue()).toBe("100");
    expect(await other.getByRole("table", { name: "Hosts" }).locator("time").first().textContent()).toMatch(
      /^\d{1,2} \w+ \d{4},? \d\d:\d\d:\d\d UTC$/,
    );
    const colour = await other.evaluate("getComputedStyle(document.body).backgroundColor");
    expect(colour).toBe("rgb(17, 21, 28)");
    await expectAccessible(other, "dark and compact");
  });

  it("are stored before a page is loaded again at once", async () => {
    const page = await browser.open("/hosts");
    await listed(page, "1 host");
    await page.getByRole("combobox", { name: "Rows per page" }).selectOption("25");
    await page.goto(`${browser.url}/hosts`);
    await listed(page, "1 host");
    expect(await page.getByRole("combobox", { name: "Rows per page" }).inputValue()).toBe("25");
    await expect.poll(async () => (await stored())?.rows).toBe(25);
  });

  it("of two tabs do not overwrite each other", async () => {
    const one = await browser.open("/hosts");
    const two = await one.context().newPage();
    await two.goto(`${browser.url}/hosts`);
    for (const [page, column] of [
      [one, "UUID"],
      [two, "Serial number"],
    ] as const) {
      await listed(page, "1 host");
      await page.getByRole("button", { name: "Columns" }).click();
      await page.getByRole("checkbox", { name: column }).check();
      await page.keyboard.press("Escape");
      if (page === one) await expect.poll(async () => (await stored())?.columns?.hosts).toContain("uuid");
    }
    await one.getByRole("button", { name: "Theme" }).click();
    await one.getByRole("menuitemradio", { name: "Light" }).click();
    await expect.poll(async () => (await stored())?.theme).toBe("light");
    await expect.poll(async () => (await stored())?.columns?.hosts).toContain("serial");
    // The tabs of a browser know of each other's changes.
    expect((await stored())?.columns?.hosts).toContain("uuid");
    await expect.poll(() => html(two, "data-theme")).toBe("light");
  });

  it("that cannot be stored apply nevertheless; that is said once, and they are sent when the server is back", async () => {
    const page = await browser.open("/profile");
    await page.getByRole("combobox", { name: "Theme" }).waitFor();
    await page.clock.install();
    await page.route("**/api/v1/svc/users/1", (route) =>
      route.request().method() === "PATCH" ? route.abort("connectionrefused") : route.continue(),
    );
    const notices = page.getByRole("region", { name: "Notices" });
    await page.getByRole("combobox", { name: "Theme" }).selectOption("Dark");
    await page.clock.runFor(1_000);
    await notices.getByText(/Your settings are not stored yet/).waitFor();
    expect(await html(page, "data-theme")).toBe("dark");
    await page.getByRole("combobox", { name: "Height of rows" }).selectOption("Compact");
    await page.clock.runFor(1_000);
    expect(await notices.getByText(/Your settings are not stored yet/).count()).toBe(1);
    await page.unroute("**/api/v1/svc/users/1");
    await page.clock.runFor(11_000);
    await expect.poll(stored).toMatchObject({ theme: "dark", density: "compact" });
    browser.forgive(/ERR_CONNECTION_REFUSED/);
  });

  it("show more contrast, light and dark, also when the system asks for it", async () => {
    const page = await browser.open("/hosts", { contrast: "more" });
    await listed(page, "1 host");
    expect(await html(page, "data-theme")).toBe("contrast");
    await expectAccessible(page, "more contrast");
    await page.emulateMedia({ colorScheme: "dark" });
    expect(await page.evaluate("getComputedStyle(document.body).backgroundColor")).toBe("rgb(0, 0, 0)");
  });
});
