// Apps of the catalogue and of stores in the console.
import type { Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { eq } from "../../../src/server/platform/store/query.ts";
import { turnOnAppleMdm } from "../../support/apple.ts";
import { findChromium } from "../../support/browser.ts";
import { makeDownloadableApp } from "../../support/catalogue.ts";
import { ConsoleBrowser, expectAccessible, listed, rowsOf } from "../../support/console.ts";
import { addVppToken, startLicenseService } from "../../support/license-service.ts";
import { makeTeam } from "../../support/make.ts";

const chromium = findChromium();

describe.skipIf(chromium === null)("apps in the console", () => {
  let browser: ConsoleBrowser;
  let team: number;

  beforeAll(async () => {
    const service = await startLicenseService();
    browser = await ConsoleBrowser.start(chromium!, { settings: service.settings });
    const { app: t } = browser;
    team = (await makeTeam(t, "Macs")).id;
    await makeDownloadableApp(t);
    await turnOnAppleMdm(t);
    await addVppToken(t, service);
  }, 600_000);
  afterEach(() => browser.finish());
  afterAll(() => browser?.close());

  const notice = (page: Page, text: string) => page.getByRole("region", { name: "Notices" }).getByText(text).waitFor();

  it("of the catalogue are listed, and added to a team", async () => {
    const page = await browser.open("/software?tab=catalogue");
    await listed(page, "1 app");
    expect((await rowsOf(page, "Catalogue"))[0]!.slice(0, 3)).toEqual(["Mozilla Firefox", "macOS", "1.0"]);
    await expectAccessible(page, "the catalogue");
    await page.getByRole("button", { name: "Add Mozilla Firefox for macOS" }).click();
    const dialog = page.getByRole("dialog", { name: "Add Mozilla Firefox" });
    await dialog.getByRole("combobox", { name: "Team" }).selectOption("Macs");
    await dialog.getByRole("checkbox", { name: "Install automatically" }).check();
    await expectAccessible(page, "add an app of the catalogue");
    await dialog.getByRole("button", { name: "Add software" }).click();
    await page.getByRole("heading", { level: 1, name: "Mozilla Firefox" }).waitFor();
    const card = page.getByRole("region", { name: "Package" });
    await card.getByText("the newest version").waitFor();
    await card.getByRole("link", { name: /\[Install software\]/ }).waitFor();

    await card.getByRole("button", { name: "Edit" }).click();
    const edit = page.getByRole("dialog", { name: "Edit Mozilla Firefox" });
    await edit.getByRole("checkbox", { name: "Update automatically" }).check();
    await edit.getByRole("button", { name: "Save" }).click();
    await card.getByRole("link", { name: /\[Patch\]/ }).waitFor();
    await card.getByRole("button", { name: "Pin version" }).click();
    const pin = page.getByRole("dialog", { name: /^Pin version of/ });
    await pin.getByRole("textbox", { name: "Version" }).fill("9.9");
    await pin.getByRole("button", { name: "Save" }).click();
    await pin.getByRole("alert").waitFor();
    await pin.getByRole("textbox", { name: "Version" }).fill("1.0");
    await pin.getByRole("button", { name: "Save" }).click();
    await card.getByText("stays at 1.0").waitFor();

    await page.goto(`${browser.url}/software?tab=catalogue&team_id=${team}`);
    await listed(page, "1 app");
    await page.getByRole("link", { name: "Mozilla Firefox: added" }).click();
    await page.getByRole("heading", { level: 1, name: "Mozilla Firefox" }).waitFor();
  });

  it("of the App Store are added with a license, and changed", async () => {
    browser.app.clock.advance(120_000);
    const page = await browser.open(`/software?team_id=${team}`);
    await page.getByRole("button", { name: "Add software" }).click();
    const dialog = page.getByRole("dialog", { name: "Add software" });
    await dialog.getByRole("tab", { name: "App Store app" }).click();
    await dialog.getByRole("combobox", { name: "Find: App Store" }).fill("pag");
    await expectAccessible(page, "choose an app");
    await dialog.getByRole("option", { name: /Pages iOS/ }).click();
    await dialog.getByRole("checkbox", { name: "Self-service" }).check();
    await dialog.getByRole("textbox", { name: "Configuration" }).fill("nonsense");
    await dialog.getByRole("button", { name: "Add software" }).click();
    await dialog
      .getByRole("alert")
      .getByText(/property list/)
      .waitFor();
    await dialog.getByRole("textbox", { name: "Configuration" }).fill("");
    await dialog.getByRole("button", { name: "Add software" }).click();
    await page.getByRole("heading", { level: 1, name: "Pages" }).waitFor();
    const card = page.getByRole("region", { name: "App Store app" });
    await expectAccessible(page, "a title with an app");

    await card.getByRole("button", { name: "Edit" }).click();
    const edit = page.getByRole("dialog", { name: "Edit Pages" });
    await edit.getByRole("checkbox", { name: "Update automatically" }).check();
    await edit.getByRole("textbox", { name: "From" }).fill("22:00");
    await edit.getByRole("textbox", { name: "Until" }).fill("04:30");
    await edit.getByRole("textbox", { name: "Name for users" }).fill("Text");
    await expectAccessible(page, "edit an app");
    await edit.getByRole("button", { name: "Save" }).click();
    await notice(page, "The app is saved.");
    await card.getByText("between 22:00 and 04:30").waitFor();
    await card.getByRole("button", { name: "Delete" }).click();
    await page.getByRole("alertdialog", { name: "Delete Pages" }).getByRole("button", { name: "Delete" }).click();
    await notice(page, "Pages is deleted.");
    expect(await browser.app.store.storeApps.count(eq("team_id", team))).toBe(0);
  });

  it("say why there are none", async () => {
    browser.app.clock.advance(120_000);
    expect((await browser.app.patch("/vpp_tokens/1/teams", { team_ids: [0] })).status).toBe(200);
    const page = await browser.open(`/software?team_id=${team}`);
    await page.getByRole("button", { name: "Add software" }).click();
    const dialog = page.getByRole("dialog", { name: "Add software" });
    await dialog.getByRole("tab", { name: "App Store app" }).click();
    await dialog
      .getByRole("alert")
      .getByText(/no token of the license program/)
      .waitFor();
    await dialog.getByRole("tab", { name: "Android app" }).click();
    await dialog.getByRole("textbox", { name: "Name of the package" }).fill("com.example.app");
    await dialog.getByRole("button", { name: "Add software" }).click();
    await dialog.getByRole("alert").first().waitFor();
  });
});
