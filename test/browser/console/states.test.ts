// Every page of the console while the API is slow, fails, or is gone: each says so in words, and nothing is lost.
import type { Page, Route } from "playwright-core";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { type RouteName, routes } from "../../../src/console/routes.ts";
import { findChromium } from "../../support/browser.ts";
import { ConsoleBrowser, listed } from "../../support/console.ts";
import { makeHost, makeInventory, makePolicy, makeSoftware, makeVulnerabilities } from "../../support/make.ts";

const chromium = findChromium();
const API = "**/api/v1/svc/**";

/** An address for each route; the parameters are of what the test makes. */
const parameters: Readonly<Record<string, string>> = { section: "organization", tab: "details", cve: "CVE-2026-0001" };
const pathOf = (name: RouteName): string =>
  name === "settingsItem"
    ? "/settings/users/1"
    : routes[name].replace(/:(\w+)/g, (_, parameter: string) => parameters[parameter] ?? "1");
const paths = (Object.keys(routes) as RouteName[]).map(pathOf);

const busy = (route: Route) =>
  route.fulfill({
    status: 503,
    contentType: "application/json",
    body: JSON.stringify({
      message: "Busy",
      errors: [{ name: "base", reason: "the server is busy" }],
      uuid: "abc-1",
    }),
  });
const gone = (route: Route) => route.abort("connectionrefused");

/** Retries of a read, with their pauses. */
const RETRIES_MS = 6_000;

describe.skipIf(chromium === null)("every page of the console", () => {
  let browser: ConsoleBrowser;

  beforeAll(async () => {
    browser = await ConsoleBrowser.start(chromium!);
    const { app: t } = browser;
    const host = await makeHost(t, { hostname: "ada-mac", platform: "darwin" });
    await makePolicy(t, { name: "Disk" });
    const software = await makeSoftware(t, "Firefox", "100.0");
    await makeInventory(t, host.id, [software]);
    await makeVulnerabilities(t, { software: software.id, cves: ["CVE-2026-0001"] });
    expect((await t.post("/queries", { name: "Up", query: "SELECT 1" })).status).toBe(200);
  }, 600_000);
  beforeEach(() => browser.app.clock.advance(120_000));
  afterEach(() => browser.finish());
  afterAll(() => browser?.close());

  /** Visits all pages, and reports those that are not as they should be together. */
  async function walk(page: Page, visit: (page: Page, path: string) => Promise<void>): Promise<void> {
    const faults: string[] = [];
    for (const path of new Set(paths)) {
      await visit(page, path).catch((error) => faults.push(`${path}: ${error}`));
      await page.unrouteAll({ behavior: "ignoreErrors" });
    }
    expect(faults).toEqual([]);
  }

  const head = (page: Page) => page.getByRole("heading", { level: 1 }).first().waitFor();

  it("has help, and says that it loads while the API is slow", { timeout: 300_000 }, async () => {
    const page = await browser.open("/welcome");
    await walk(page, async (_, path) => {
      const held: (() => void)[] = [];
      let isHolding = true;
      await page.route(API, async (route) => {
        if (isHolding) await new Promise<void>((resolve) => held.push(resolve));
        await route.continue().catch(() => undefined);
      });
      await page.goto(browser.url + path);
      await head(page);
      await page.getByRole("button", { name: "Help", exact: true }).waitFor();
      const main = page.getByRole("main");
      if (held.length > 0) expect(await main.textContent(), path).toMatch(/Loading|Counting|…/);
      isHolding = false;
      for (const release of held) release();
      await expect.poll(() => main.getByText(/^(Loading|Counting)/).count(), { message: path }).toBe(0);
      await page.unrouteAll({ behavior: "ignoreErrors" });
    });
  });

  it.each([
    ["fails", busy, "The server is busy."],
    ["is gone", gone, "The server does not respond."],
  ] as const)("says why there is nothing while the API %s", { timeout: 300_000 }, async (_, answer, words) => {
    const page = await browser.open("/welcome");
    await page.clock.install();
    await walk(page, async (_, path) => {
      let requests = 0;
      await page.route(API, async (route) => {
        requests++;
        await answer(route);
      });
      await page.goto(browser.url + path);
      await head(page);
      const alert = page.getByRole("main").getByRole("alert").filter({ hasText: words });
      await expect
        .poll(
          async () => {
            await page.clock.runFor(RETRIES_MS);
            return requests === 0 || (await alert.count()) > 0;
          },
          { message: path, timeout: 10_000 },
        )
        .toBe(true);
      expect(await page.getByText("Something went wrong").count(), path).toBe(0);
      if (answer === busy && requests > 0)
        expect(await alert.first().textContent(), path).toContain("Reference: abc-1");
      await page.unrouteAll({ behavior: "ignoreErrors" });
    });
    browser.forgive(/ERR_CONNECTION_REFUSED/);
  });

  it("keeps what was read while the server is gone, says from when it is, and reads it again", {
    timeout: 300_000,
  }, async () => {
    const page = await browser.open("/welcome");
    await page.clock.install();
    const lost = page.getByRole("region", { name: "Notices" }).getByText(/The server does not respond/);
    await walk(page, async (_, path) => {
      await page.goto(browser.url + path);
      await head(page);
      const main = page.getByRole("main");
      await expect.poll(() => main.getByText(/^(Loading|Counting)/).count(), { message: path }).toBe(0);
      const title = await page.getByRole("heading", { level: 1 }).first().textContent();
      let requests = 0;
      await page.route(API, async (route) => {
        requests++;
        await gone(route);
      });
      await page.clock.runFor(11_000);
      // Pages that are not read again by themselves have nothing to say.
      if (requests > 0)
        await expect
          .poll(
            async () => {
              await page.clock.runFor(RETRIES_MS);
              return lost.count();
            },
            { message: path, timeout: 10_000 },
          )
          .toBe(1);
      expect(await page.getByRole("heading", { level: 1 }).first().textContent(), path).toBe(title);
      await page.unrouteAll({ behavior: "ignoreErrors" });
      await expect
        .poll(
          async () => {
            await page.clock.runFor(11_000);
            return lost.count();
          },
          { message: path, timeout: 10_000 },
        )
        .toBe(0);
    });
    browser.forgive(/ERR_CONNECTION_REFUSED/);
  });

  it("says after ten seconds what it waits for, and stops and begins again when asked", async () => {
    const page = await browser.open("/welcome");
    await page.clock.install();
    const main = page.getByRole("main");
    for (const [path, what] of [
      ["/hosts", "hosts"],
      ["/policies/1", "policy"],
    ] as const) {
      await page.route(API, () => undefined);
      await page.goto(browser.url + path);
      await main.getByText(`Loading ${what}`).waitFor();
      await page.clock.runFor(9_000);
      expect(await main.getByRole("button", { name: "Cancel" }).count()).toBe(0);
      await page.clock.runFor(2_000);
      await main.getByText(`This page waits for the ${what}.`).waitFor();
      await main.getByRole("button", { name: "Cancel" }).click();
      await main.getByText(`Loading the ${what} was cancelled.`).waitFor();
      expect(await main.getByText(/^Loading (hosts|policy)$/).count()).toBe(0);
      await page.unrouteAll({ behavior: "ignoreErrors" });
      await main.getByRole("button", { name: "Load again" }).click();
      await main
        .getByText(what === "hosts" ? "ada-mac" : "SELECT")
        .first()
        .waitFor();
    }
  });

  it("says how many rows there are without each filter", async () => {
    const page = await browser.open(
      "/hosts?query=zzz&vulnerability=CVE-2026-0001&where=platform%20%3D%20%22windows%22",
    );
    await listed(page, "No hosts match");
    const main = page.getByRole("main");
    for (const name of ["Without “zzz”: 0 hosts", "Without Vulnerability: CVE-2026-0001: 0 hosts"])
      await main.getByRole("button", { name, exact: true }).waitFor();
    await main.getByRole("button", { name: "Without the selector: 0 hosts", exact: true }).click();
    await main.getByRole("button", { name: "Without “zzz”: 1 host", exact: true }).click();
    await listed(page, "1 host");
  });

  it("opens no page whose script cannot be loaded, and does once the server is back", async () => {
    const page = await browser.open("/hosts");
    await listed(page, "1 host");
    await page.route("**/*", gone);
    await page.getByRole("link", { name: "Policies", exact: true }).click();
    const alert = page.getByRole("alert").filter({ hasText: "The page could not be loaded" });
    await alert.waitFor();
    await alert.getByRole("button", { name: "Retry" }).click();
    await alert.waitFor();
    await page.unrouteAll({ behavior: "ignoreErrors" });
    await alert.getByRole("button", { name: "Retry" }).click();
    await listed(page, "1 policy");
    browser.forgive(/./);
  });
});
