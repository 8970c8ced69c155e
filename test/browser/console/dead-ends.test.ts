// Addresses and names that lead nowhere, unless the console cares for them.
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { findChromium } from "../../support/browser.ts";
import { ConsoleBrowser } from "../../support/console.ts";
import { makeHost } from "../../support/make.ts";

const chromium = findChromium();

describe.skipIf(chromium === null)("the console", () => {
  let browser: ConsoleBrowser;
  beforeAll(async () => {
    browser = await ConsoleBrowser.start(chromium!);
  }, 600_000);
  beforeEach(() => browser.app.clock.advance(120_000));
  afterEach(() => browser.finish());
  afterAll(() => browser?.close());

  it("says that there is no page at an address without the number of its object", async () => {
    const page = await browser.open("/");
    for (const path of ["/queries/live", "/queries/new", "/policies/new", "/hosts/abc", "/software/titles/x"]) {
      await page.goto(new URL(path, page.url()).href);
      await page.getByRole("heading", { level: 1, name: "This page does not exist" }).waitFor();
      expect(await page.getByText(`Nothing is at ${path}.`).count()).toBe(1);
    }
  });

  it("says where device management is turned on, instead of an error", async () => {
    const page = await browser.open("/controls");
    const link = page.getByRole("link", { name: "Turn it on" });
    await link.waitFor();
    expect(await page.getByRole("alert").count()).toBe(0);
    await link.click();
    await page.getByRole("heading", { level: 1, name: "Device management" }).waitFor();
  });

  it("makes no option of a host's name, and lets a name with spaces in a row be typed", async () => {
    const name = "--server-url=https://evil.example  x";
    const host = await makeHost(browser.app, { hostname: name, computer_name: "" });
    const page = await browser.open(`/hosts/${host.id}/details`);
    await page.getByRole("button", { name: "As command" }).click();
    const dialog = page.getByRole("dialog", { name: "As command" });
    expect(await dialog.getByRole("region", { name: "Command line" }).innerText()).toContain(
      `svc hosts get -- '${name}'`,
    );
    await page.keyboard.press("Escape");
    await page.getByRole("button", { name: "Actions" }).click();
    await page.getByRole("menuitem", { name: "Delete" }).click();
    const confirmation = page.getByRole("alertdialog");
    await confirmation.getByRole("textbox").fill("--server-url=https://evil.example x");
    expect(await confirmation.getByRole("button", { name: "Delete", exact: true }).isEnabled()).toBe(true);
  });
});
