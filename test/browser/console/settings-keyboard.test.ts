// Tasks of administrators in the settings, with the keyboard alone: everything is found by its role and name.
import type { Locator, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { findChromium } from "../../support/browser.ts";
import { ConsoleBrowser, listed, rowsOf } from "../../support/console.ts";
import { InputCount } from "../../support/input-count.ts";
import { enter, tabTo } from "../../support/keyboard.ts";

const chromium = findChromium();

/** Replaces what is in a field. */
async function type(page: Page, field: Locator, text: string): Promise<void> {
  await tabTo(page, field);
  await page.keyboard.press("ControlOrMeta+A");
  await page.keyboard.type(text);
}

describe.skipIf(chromium === null)("the settings of the console by keyboard", () => {
  let browser: ConsoleBrowser;

  beforeAll(async () => {
    browser = await ConsoleBrowser.start(chromium!);
  }, 600_000);
  afterEach(() => browser.finish());
  afterAll(() => browser?.close());

  it("invite a user, from the dashboard on", async () => {
    const page = await browser.open("/");
    const input = await InputCount.of(page);
    await enter(page, page.getByRole("navigation", { name: "Main" }).getByRole("link", { name: "Settings" }));
    await enter(page, page.getByRole("navigation", { name: "Sections" }).getByRole("link", { name: "Users" }));
    await listed(page, "1 user");
    const opener = page.getByRole("main").getByRole("button", { name: "Invite user" });
    await enter(page, opener);
    const dialog = page.getByRole("dialog", { name: "Invite user" });
    await type(page, dialog.getByRole("textbox", { name: "Name" }), "Nora");
    await type(page, dialog.getByRole("textbox", { name: "Email" }), "nora@example.com");
    await tabTo(page, dialog.getByRole("combobox", { name: "Role" }));
    await page.keyboard.type("Maintainer");
    await enter(page, dialog.getByRole("button", { name: "Invite user" }));
    await page.getByRole("dialog", { name: "Link for nora@example.com" }).waitFor();
    await page.keyboard.press("Escape");
    await expect.poll(() => rowsOf(page, "Invites")).toHaveLength(1);
    expect((await rowsOf(page, "Invites"))[0]!.slice(0, 3)).toEqual(["Nora", "nora@example.com", "Maintainer"]);
    // The dialog returns the focus to the button that opened it.
    expect(await opener.first().and(page.locator(":focus")).count()).toBe(1);
    expect((await input.read()).clicks).toBe(0);
  });

  it("change a setting after its difference was shown", async () => {
    const page = await browser.open("/settings/organization");
    const input = await InputCount.of(page);
    const contact = async () =>
      ((await (await browser.app.get("/config")).json()) as { org_info: { contact_url: string } }).org_info.contact_url;
    const before = await contact();
    const main = page.getByRole("main");
    await type(page, main.getByRole("textbox", { name: "Contact URL" }), "https://help.example.com/");
    const save = main.getByRole("button", { name: "Save", exact: true }).first();
    await enter(page, save);
    const dialog = page.getByRole("alertdialog", { name: "Save Organization" });
    await dialog.waitFor();
    expect((await rowsOf(page, "Changes")).map(([key, , after]) => [key, after])).toEqual([
      ["org_info.contact_url", "https://help.example.com/"],
    ]);
    await page.keyboard.press("Escape");
    await dialog.waitFor({ state: "detached" });
    expect(await contact()).toBe(before);
    await enter(page, save);
    await enter(page, dialog.getByRole("button", { name: "Save", exact: true }));
    await page.getByText("The settings are saved.").waitFor();
    expect(await contact()).toBe("https://help.example.com/");
    expect((await input.read()).clicks).toBe(0);
  });

  it("move between the tabs of a section with arrows", async () => {
    const page = await browser.open("/settings/device-management");
    await tabTo(page, page.getByRole("tab", { name: "Apple" }));
    await page.keyboard.press("ArrowLeft");
    await page.getByRole("tabpanel", { name: "End users" }).waitFor();
    await page.keyboard.press("Home");
    await page.getByRole("tabpanel", { name: "Apple" }).waitFor();
  });
});
