// The shortcuts of the console.
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { findChromium } from "../../support/browser.ts";
import { ConsoleBrowser, expectAccessible, listed, rowsOf } from "../../support/console.ts";
import { makeHost, makePolicy } from "../../support/make.ts";

const chromium = findChromium();

describe.skipIf(chromium === null)("the keyboard in the console", () => {
  let browser: ConsoleBrowser;

  beforeAll(async () => {
    browser = await ConsoleBrowser.start(chromium!);
    const { app: t } = browser;
    for (const name of ["ada-mac", "bea-mac", "cal-mac"]) await makeHost(t, { hostname: name, platform: "darwin" });
    await makePolicy(t, { name: "Disk" });
  }, 600_000);
  beforeEach(() => browser.app.clock.advance(120_000));
  afterEach(() => browser.finish());
  afterAll(() => browser?.close());

  it("lists the shortcuts, and opens each entry of the navigation", async () => {
    const page = await browser.open("/hosts");
    await listed(page, "3 hosts");
    await page.keyboard.press("?");
    const dialog = page.getByRole("dialog", { name: "Keyboard shortcuts" });
    await dialog.getByText("Go to Settings").waitFor();
    await dialog.getByText("Select up to the row").waitFor();
    await expectAccessible(page, "shortcuts");
    await page.keyboard.press("Escape");
    await dialog.waitFor({ state: "detached" });
    const letters = {
      d: "/",
      h: "/hosts",
      s: "/software",
      p: "/policies",
      q: "/queries",
      a: "/activity",
      x: "/changes",
    };
    for (const [letter, path] of Object.entries({ ...letters, t: "/settings" })) {
      await page.keyboard.press("g");
      await page.keyboard.press(letter);
      await page.waitForURL((url) => url.pathname === path || url.pathname.startsWith(`${path}/`));
    }
  });

  it("moves in a list, selects rows and ranges, and shows details beside it", async () => {
    const page = await browser.open("/hosts");
    await listed(page, "3 hosts");
    const selection = page.getByRole("region", { name: "Selection" });
    for (const key of ["j", "x"]) await page.keyboard.press(key);
    await selection.getByText("1 selected").waitFor();
    for (const key of ["j", "j", "Shift+X"]) await page.keyboard.press(key);
    await selection.getByText("3 selected").waitFor();
    // With the mouse, too.
    await page.getByRole("button", { name: "Clear", exact: true }).click();
    await page.getByRole("checkbox", { name: "Select cal-mac" }).click();
    await page.getByRole("checkbox", { name: "Select ada-mac" }).click({ modifiers: ["Shift"] });
    await selection.getByText("3 selected").waitFor();
    for (const key of ["k", "k", "o"]) await page.keyboard.press(key);
    const details = page.getByRole("region", { name: "Details" });
    await details.getByText("ada-mac").first().waitFor();
    await page.keyboard.press("]");
    await details.getByText("bea-mac").first().waitFor();
    await page.keyboard.press("[");
    await details.getByText("ada-mac").first().waitFor();
    await page.keyboard.press("Escape");
    await details.waitFor({ state: "detached" });
    await page.keyboard.press("j");
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { level: 1, name: "bea-mac" }).waitFor();
  });

  it("goes to the search and the selector, in which letters are letters", async () => {
    const page = await browser.open("/hosts");
    await listed(page, "3 hosts");
    await page.keyboard.press("f");
    const selector = page.getByRole("combobox", { name: "Selector" });
    await expect.poll(() => page.evaluate("document.activeElement.getAttribute('aria-label')")).toBe("Selector");
    await page.keyboard.type("gh?");
    expect(await selector.inputValue()).toBe("gh?");
    expect(await page.getByRole("dialog").count()).toBe(0);
    await page.getByRole("heading", { level: 1 }).click();
    await page.keyboard.press("/");
    await page.getByRole("dialog", { name: "Search" }).waitFor();
    await page.keyboard.type("gh/");
    expect(await page.getByRole("combobox", { name: "Search" }).inputValue()).toBe("gh/");
  });

  it("edits what a page shows", async () => {
    const page = await browser.open("/policies");
    await listed(page, "1 policy");
    expect((await rowsOf(page, "Policies"))[0]![0]).toBe("Disk");
    for (const key of ["j", "Enter"]) await page.keyboard.press(key);
    await page.getByRole("heading", { level: 1, name: "Disk" }).waitFor();
    await page.keyboard.press("e");
    const dialog = page.getByRole("dialog", { name: "Edit Disk" });
    await dialog.waitFor();
    await page.keyboard.press("Escape");
    // Nothing was typed, so nothing is asked.
    await dialog.waitFor({ state: "detached" });
  });

  it("has no shortcuts of letters for users who turned them off, and Ctrl+K still searches", async () => {
    const page = await browser.open("/hosts");
    await listed(page, "3 hosts");
    await page.keyboard.press("?");
    await page.getByRole("checkbox", { name: "Shortcuts of single letters" }).uncheck();
    await page.keyboard.press("Escape");
    for (const key of ["?", "j", "x", "/", "g", "s"]) await page.keyboard.press(key);
    expect(await page.getByRole("dialog").count()).toBe(0);
    await page.getByRole("region", { name: "Selection" }).getByText("0 selected").waitFor();
    expect(new URL(page.url()).pathname).toBe("/hosts");
    await page.keyboard.press("Control+k");
    await page.getByRole("dialog", { name: "Search" }).waitFor();
    await page.keyboard.press("Escape");
    await page.getByRole("button", { name: "Keyboard shortcuts" }).click();
    await page.getByRole("checkbox", { name: "Shortcuts of single letters" }).check();
    await page.keyboard.press("Escape");
    await page.keyboard.press("?");
    await page.getByRole("dialog", { name: "Keyboard shortcuts" }).waitFor();
  });
});
