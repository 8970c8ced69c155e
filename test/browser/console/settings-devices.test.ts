// Device management in the settings of the console.
import { createPublicKey } from "node:crypto";
import { readFileSync } from "node:fs";
import type { Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { readRequest } from "../../../src/pki/request.ts";
import { days } from "../../../src/server/platform/core/clock.ts";
import { makeUser, PASSWORD } from "../../support/accounts.ts";
import { endSignUps, startAndroid } from "../../support/android.ts";
import { findChromium } from "../../support/browser.ts";
import { ConsoleBrowser, expectAccessible, rowsOf } from "../../support/console.ts";
import { startLicenseService } from "../../support/license-service.ts";
import { makeTeam } from "../../support/make.ts";
import { startPortal } from "../../support/portal.ts";
import { pushCertificateFor } from "../../support/push-certificate.ts";

const chromium = findChromium();
const HOSTILE = "<img src=x onerror=alert(1)>";

describe.skipIf(chromium === null)("device management in the settings of the console", () => {
  let browser: ConsoleBrowser;

  beforeAll(async () => {
    browser = await ConsoleBrowser.start(chromium!, { settings: { outbound_allow: ["127.0.0.1", "localhost"] } });
    await makeTeam(browser.app, HOSTILE);
  }, 600_000);
  afterEach(async () => {
    // The number of sign-ins from an address is limited.
    browser.app.clock.advance(5 * 60_000);
    await browser.finish();
  });
  afterAll(() => browser?.close());

  const mdm = async () => ((await (await browser.app.get("/config")).json()) as { mdm: Record<string, unknown> }).mdm;
  /** A page whose clock is that of the server. */
  const open = async (tab: string) => {
    const page = await browser.open(`/settings/device-management${tab === "" ? "" : `?tab=${tab}`}`);
    await page.clock.setFixedTime(browser.app.clock.now());
    return page;
  };
  const downloaded = async (page: Page, click: () => Promise<unknown>): Promise<string> => {
    const [download] = await Promise.all([page.waitForEvent("download"), click()]);
    return readFileSync(await download.path(), "utf8");
  };
  const file = (name: string, content: string | Buffer) => ({
    name,
    mimeType: "application/octet-stream",
    buffer: Buffer.from(content),
  });

  it("turns Apple devices on with a certificate for its request, warns before it ends, and turns them off", async () => {
    const page = await open("");
    await page.getByText("Apple devices cannot be managed yet").waitFor();
    await expectAccessible(page, "Apple without a certificate");
    await page.getByRole("button", { name: "Create request" }).click();
    const request = await downloaded(page, () =>
      page.getByRole("alertdialog").getByRole("button", { name: "Create" }).click(),
    );
    const der = Buffer.from(request.replace(/-----[A-Z ]+-----/g, ""), "base64");
    const until = browser.app.clock.now() + days(20);
    const certificate = await pushCertificateFor(readRequest(der).publicKey, browser.app.clock.now(), { until });

    await page.getByRole("button", { name: "Upload certificate" }).click();
    const dialog = page.getByRole("dialog", { name: "Upload certificate" });
    await dialog.getByLabel("Certificate").setInputFiles(file("push.pem", "no certificate"));
    await dialog.getByRole("button", { name: "Upload" }).click();
    await dialog.getByRole("alert").first().waitFor();
    await expectAccessible(page, "upload of a certificate");
    await dialog.getByLabel("Certificate").setInputFiles(file("push.pem", certificate));
    await dialog.getByRole("button", { name: "Upload" }).click();
    await dialog.waitFor({ state: "detached" });
    await page.getByText("APSP:7f1e").waitFor();
    expect(await page.getByText("expires soon").count()).toBe(2);
    expect((await rowsOf(page, "Certificates"))[0]![0]).toBe("push certificate");
    expect((await mdm()).enabled_and_configured).toBe(true);
    await expectAccessible(page, "Apple");

    await page.getByRole("button", { name: "Delete certificate" }).click();
    const confirm = page.getByRole("alertdialog", { name: "Delete the push certificate" });
    await confirm.getByRole("textbox", { name: "Type push certificate to confirm" }).fill("push certificate");
    await confirm.getByRole("button", { name: "Delete", exact: true }).click();
    await page.getByText("Apple devices cannot be managed yet").waitFor();
    expect((await mdm()).enabled_and_configured).toBe(false);
  });

  it("adds a token of the business portal, sets teams of new devices, renews and deletes it", async () => {
    const portal = await startPortal();
    Object.assign(browser.app.services.settings, { dep_url: portal.url });
    const page = await open("business-portal");
    await page.getByText("There are no tokens").waitFor();
    const pem = await downloaded(page, () => page.getByRole("button", { name: "Download public key" }).click());
    expect(createPublicKey(pem).type).toBe("public");
    await page.getByRole("button", { name: "Add token" }).click();
    const dialog = page.getByRole("dialog", { name: "Add token" });
    await dialog.getByLabel("Token").setInputFiles(file("token.p7m", HOSTILE));
    await dialog.getByRole("button", { name: "Add token" }).click();
    await dialog.getByRole("alert").first().waitFor();
    await expectAccessible(page, "token of the portal");
    await dialog.getByLabel("Token").setInputFiles(file("token.p7m", await portal.tokenFile(pem)));
    await dialog.getByRole("button", { name: "Add token" }).click();
    await expect.poll(() => rowsOf(page, "Business portal tokens")).toHaveLength(1);
    const row = async () => (await rowsOf(page, "Business portal tokens"))[0]!;
    expect((await row()).slice(0, 2)).toEqual(["Example Inc.", "admin@example.com"]);

    await page.getByRole("button", { name: "Teams: Example Inc." }).click();
    const teams = page.getByRole("dialog", { name: "Teams of new devices of Example Inc." });
    await teams.getByRole("combobox", { name: "Macs" }).selectOption(HOSTILE);
    await expectAccessible(page, "teams of new devices");
    await teams.getByRole("button", { name: "Save" }).click();
    await expect.poll(async () => (await row())[4]).toContain(`Macs: ${HOSTILE}`);

    await page.getByRole("button", { name: "Renew: Example Inc." }).click();
    const renewing = page.getByRole("dialog", { name: "Renew the token of Example Inc." });
    await renewing.getByLabel("Token").setInputFiles(file("token.p7m", await portal.tokenFile(pem)));
    await renewing.getByRole("button", { name: "Renew" }).click();
    await page.getByText("The token is renewed.").waitFor();
    await expectAccessible(page, "tokens of the portal");

    await page.getByRole("button", { name: "Delete: Example Inc." }).click();
    await page.getByRole("textbox", { name: "Type Example Inc. to confirm" }).fill("Example Inc.");
    await page.getByRole("alertdialog").getByRole("button", { name: "Delete", exact: true }).click();
    await page.getByText("There are no tokens").waitFor();
  });

  it("adds a token of app licenses, and gives it to teams", async () => {
    const service = await startLicenseService();
    Object.assign(browser.app.services.settings, service.settings);
    const page = await open("app-licenses");
    await page.getByRole("button", { name: "Add token" }).click();
    const dialog = page.getByRole("dialog", { name: "Add token" });
    await dialog.getByLabel("Token").setInputFiles(file("a.vpptoken", service.tokenFile()));
    await dialog.getByRole("button", { name: "Add token" }).click();
    await expect.poll(() => rowsOf(page, "App license tokens")).toHaveLength(1);
    const row = async () => (await rowsOf(page, "App license tokens"))[0]!;
    expect((await row()).slice(0, 3)).toEqual(["Main Street", "Example Ltd", "US"]);
    const choose = async (scope: string, team?: string) => {
      await page.getByRole("button", { name: "Teams: Main Street" }).click();
      const teams = page.getByRole("dialog", { name: "Teams of Main Street" });
      await teams.getByRole("combobox", { name: "The token licenses apps of" }).selectOption(scope);
      if (team !== undefined) await teams.getByRole("checkbox", { name: team }).check();
      await expectAccessible(page, "teams of the token");
      await teams.getByRole("button", { name: "Save" }).click();
      await teams.waitFor({ state: "detached" });
    };
    expect((await row())[5]).toBe("none");
    await choose("some", HOSTILE);
    await expect.poll(async () => (await row())[5]).toBe(HOSTILE);
    await choose("all");
    await expect.poll(async () => (await row())[5]).toBe("all");
    await choose("none");
    await expect.poll(async () => (await row())[5]).toBe("none");
    await expectAccessible(page, "app licenses");
    await page.getByRole("button", { name: "Delete: Main Street" }).click();
    await page.getByRole("textbox", { name: "Type Main Street to confirm" }).fill("Main Street");
    await page.getByRole("alertdialog").getByRole("button", { name: "Delete", exact: true }).click();
    await page.getByText("There are no tokens.").waitFor();
  });

  it("turns Windows on with its settings, of which the server refuses what does not fit", async () => {
    const page = await open("windows");
    await page.getByRole("checkbox", { name: "Hosts of another vendor's device management are moved here" }).check();
    await page.getByRole("button", { name: "Save", exact: true }).click();
    await page.getByText(/needs windows_enabled_and_configured/).waitFor();
    await page.getByRole("checkbox", { name: "Windows hosts are managed" }).check();
    await page.getByRole("combobox", { name: "Team of hosts that enroll so" }).selectOption(HOSTILE);
    await expectAccessible(page, "Windows");
    await page.getByRole("button", { name: "Save", exact: true }).click();
    await page.getByRole("alertdialog", { name: "Save Windows" }).waitFor();
    expect((await rowsOf(page, "Changes")).map(([key]) => key)).toEqual([
      "mdm.windows_enabled_and_configured",
      "mdm.windows_migration_enabled",
      "mdm.windows_automatic_enrollment.default_team",
    ]);
    await page.getByRole("alertdialog").getByRole("button", { name: "Save", exact: true }).click();
    await page.getByText("The settings are saved.").waitFor();
    expect(await mdm()).toMatchObject({
      windows_enabled_and_configured: true,
      windows_migration_enabled: true,
      windows_automatic_enrollment: { default_team: HOSTILE },
    });
  });

  it("says what Android needs of the server", async () => {
    const page = await open("android");
    await page.getByText("Android devices cannot be managed yet").waitFor();
    await expectAccessible(page, "Android");
    await page.getByRole("button", { name: "Turn on" }).click();
    await page
      .getByRole("region", { name: "Notices" })
      .getByText(/android_service_account/)
      .waitFor();
  });

  it("shows others only what they may read", async () => {
    const { user } = await makeUser(browser.app, "maintainer", { api_only: false });
    const page = await browser.open("/settings/device-management", { as: { email: user.email, password: PASSWORD } });
    await page.getByText("Server URL for Apple devices").waitFor();
    const tabs = await page.getByRole("tab").allTextContents();
    expect(tabs).toEqual(["Apple", "Windows", "End users"]);
    for (const tab of tabs) {
      await page.getByRole("tab", { name: tab }).click();
      await expectAccessible(page, tab);
      expect(await page.getByRole("tabpanel").getByRole("button").count(), tab).toBe(0);
    }
  });
});

describe.skipIf(chromium === null)("Android in the settings of the console", () => {
  it("is turned on when the sign-up has ended, and off after typing", async () => {
    const service = await startAndroid();
    const browser = await ConsoleBrowser.start(chromium!, { settings: service.settings });
    try {
      const { app: t } = browser;
      service.now = () => new Date(t.clock.now());
      const url = { server_settings: { server_url: "https://svc.example.com" } };
      expect((await t.patch("/config", url)).status).toBe(200);
      const page = await browser.open("/settings/device-management?tab=android");
      endSignUps(t, service);
      await page.getByRole("button", { name: "Turn on" }).click();
      await page.getByText("LC0test").waitFor();
      await expectAccessible(page, "Android that is on");
      await page.getByRole("button", { name: "Turn off" }).click();
      const confirm = page.getByRole("alertdialog", { name: "Turn off device management of Android" });
      await confirm.getByRole("textbox", { name: "Type Android to confirm" }).fill("Android");
      await confirm.getByRole("button", { name: "Turn off" }).click();
      await page.getByText("Android devices cannot be managed yet").waitFor();
      expect(service.enterprises.size).toBe(0);
      await browser.finish();
    } finally {
      await browser.close();
    }
  });
});
