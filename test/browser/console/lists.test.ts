// Settings that are lists, changed in two browsers at the same time: neither loses what the other has saved.
import type { Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import type { AppConfig } from "../../../src/api/settings/app-config.ts";
import { makeUser, PASSWORD } from "../../support/accounts.ts";
import { findChromium } from "../../support/browser.ts";
import { ConsoleBrowser, rowsOf } from "../../support/console.ts";
import { makeTeam } from "../../support/make.ts";

const chromium = findChromium();

describe.skipIf(chromium === null)("lists that two administrators change", () => {
  let browser: ConsoleBrowser;
  let ada: Page;
  let ben: Page;

  beforeAll(async () => {
    browser = await ConsoleBrowser.start(chromium!);
    const { app: t } = browser;
    const { user } = await makeUser(t, "admin", { api_only: false });
    ada = await browser.open("/settings/roles");
    ben = await browser.open("/settings/roles", { as: { email: user.email, password: PASSWORD } });
  }, 600_000);
  afterEach(() => {
    browser.app.clock.advance(60_000);
  });
  afterAll(async () => {
    await browser?.finish();
    await browser?.close();
  });

  const config = async () => (await (await browser.app.get("/config")).json()) as AppConfig;
  /** Both see the page as it is before anybody changes something. */
  const bothOpen = async (path: string) => {
    for (const page of [ada, ben]) await page.goto(browser.url + path);
  };

  async function fillCalendar(page: Page, domain: string): Promise<void> {
    await page.getByRole("button", { name: "Add calendar" }).click();
    const dialog = page.getByRole("dialog", { name: "Add calendar" });
    await dialog.getByRole("textbox", { name: "Domain" }).fill(domain);
    const key = { client_email: `svc@${domain}`, private_key: "a private key" };
    await dialog.getByRole("textbox", { name: "Key of the service account" }).fill(JSON.stringify(key));
    await dialog.getByRole("button", { name: "Add calendar" }).click();
    await page.getByRole("alertdialog").waitFor();
  }
  const save = async (page: Page) => {
    await page.getByRole("alertdialog").getByRole("button", { name: "Save" }).click();
    await page.getByRole("alertdialog").waitFor({ state: "detached" });
  };
  const domains = async () => (await config()).integrations.calendar.map(({ domain }) => domain);

  it("have the entries of both, also if both have their dialogs open", async () => {
    await bothOpen("/settings/integrations?tab=calendars");
    await fillCalendar(ada, "ada.example.com");
    await fillCalendar(ben, "ben.example.com");
    await save(ada);
    await save(ben);
    expect(await domains()).toEqual(["ada.example.com", "ben.example.com"]);
    await expect.poll(() => rowsOf(ben, "Calendars")).toHaveLength(2);
    // Ada's page shows the list as it was: what she deletes is her own entry, and no other.
    await ada.getByRole("button", { name: "Delete: ada.example.com" }).click();
    await ada.getByRole("alertdialog").getByRole("button", { name: "Delete" }).click();
    await ada.getByText("ada.example.com is deleted.").waitFor();
    expect(await domains()).toEqual(["ben.example.com"]);
  });

  it("refuse the change of an entry that somebody else has removed, and say so", async () => {
    await bothOpen("/settings/integrations?tab=calendars");
    await ada.getByRole("button", { name: "Edit: ben.example.com" }).click();
    const dialog = ada.getByRole("dialog", { name: "Edit ben.example.com" });
    await dialog.getByRole("textbox", { name: "Domain" }).fill("other.example.com");
    await ben.getByRole("button", { name: "Delete: ben.example.com" }).click();
    await ben.getByRole("alertdialog").getByRole("button", { name: "Delete" }).click();
    await ben.getByText("ben.example.com is deleted.").waitFor();
    await dialog.getByRole("button", { name: "Save" }).click();
    await dialog.getByRole("alert").getByText("somebody else has changed or removed an entry").waitFor();
    expect(await domains()).toEqual([]);
  });

  it("have the lines of both, where each line is an entry", async () => {
    const tenant = (digit: number) => `${String(digit).repeat(8)}-2222-3333-4444-555555555555`;
    const fill = async (page: Page, line: string) => {
      await page.getByRole("textbox", { name: "Tenants whose users may enroll hosts" }).fill(line);
      await page.getByRole("button", { name: "Save" }).click();
      await page.getByRole("alertdialog").waitFor();
    };
    await bothOpen("/settings/device-management?tab=windows");
    await fill(ada, tenant(1));
    await fill(ben, tenant(2));
    await save(ada);
    await save(ben);
    expect((await config()).mdm.windows_directory_tenant_ids).toEqual([tenant(1), tenant(2)]);
  });

  it("have the enroll secrets of both", async () => {
    const stored = async () =>
      ((await (await browser.app.get("/spec/enroll_secret")).json()) as { spec: { secrets: { secret: string }[] } })
        .spec.secrets;
    const before = (await stored()).length;
    await bothOpen("/settings/enroll-secrets");
    for (const page of [ada, ben]) {
      await page.getByRole("button", { name: "Show secrets" }).click();
      await page.getByRole("button", { name: "Add secret" }).waitFor();
    }
    for (const page of [ada, ben]) {
      await page.getByRole("button", { name: "Add secret" }).click();
      await page.getByText("A secret is added.").waitFor();
    }
    expect(await stored()).toHaveLength(before + 2);
  });

  it("have the roles of a user that both have given", async () => {
    const { app: t } = browser;
    const teams = [await makeTeam(t, "Sales"), await makeTeam(t, "Support"), await makeTeam(t, "Office")];
    const { user } = await makeUser(t, { [teams[0]!.id]: "observer" }, { name: "Member" });
    await bothOpen(`/settings/users/${user.id}`);
    const give = async (page: Page, team: string) => {
      await page.getByRole("button", { name: "Edit" }).click();
      const dialog = page.getByRole("dialog", { name: "Edit Member" });
      await dialog.getByRole("combobox", { name: team }).selectOption("Maintainer");
      return dialog.getByRole("button", { name: "Save" });
    };
    const first = await give(ada, "Support");
    const second = await give(ben, "Office");
    for (const button of [first, second]) {
      await button.click();
      await button.waitFor({ state: "detached" });
    }
    const { user: after } = (await (await t.get(`/users/${user.id}`)).json()) as {
      user: { teams: { name: string; role: string }[] };
    };
    expect(after.teams.map(({ name, role }) => `${name}: ${role}`).sort()).toEqual([
      "Office: maintainer",
      "Sales: observer",
      "Support: maintainer",
    ]);
  });
});
