// Disk encryption, updates, certificates and commands in the console.
import type { Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { makeUser, PASSWORD } from "../../support/accounts.ts";
import { allowEnrollment } from "../../support/apple.ts";
import { enrolledDevice } from "../../support/apple-device.ts";
import { findChromium } from "../../support/browser.ts";
import { ConsoleBrowser, expectAccessible, listed, rowsOf } from "../../support/console.ts";
import { makeTeam } from "../../support/make.ts";
import { turnOnWindowsMdm } from "../../support/windows-device.ts";

const chromium = findChromium();

const profileList = (type = "ProfileList") => `<?xml version="1.0" encoding="UTF-8"?>
<plist version="1.0"><dict><key>Command</key><dict><key>RequestType</key><string>${type}</string></dict></dict></plist>`;

describe.skipIf(chromium === null)("controls in the console", () => {
  let browser: ConsoleBrowser;
  let team: { readonly id: number };

  beforeAll(async () => {
    browser = await ConsoleBrowser.start(chromium!);
    await allowEnrollment(browser.app);
    await turnOnWindowsMdm(browser.app);
    team = await makeTeam(browser.app, "Workstations");
  }, 600_000);
  afterEach(() => browser.finish());
  afterAll(() => browser?.close());

  const notice = (page: Page, text: string) => page.getByRole("region", { name: "Notices" }).getByText(text).waitFor();
  const mdm = async () => {
    const reply = await browser.app.get(`/teams/${team.id}`);
    return ((await reply.json()) as { team: { mdm: Record<string, unknown> } }).team.mdm;
  };

  it("disk encryption is turned on for platforms of a team, after the changes were shown", async () => {
    const page = await browser.open(`/controls?tab=disk-encryption&team_id=${team.id}`);
    await page.getByRole("table", { name: "Disk encryption" }).waitFor();
    await page.getByRole("checkbox", { name: /^Macs turn on FileVault/ }).check();
    await expectAccessible(page, "disk encryption");
    await page.getByRole("button", { name: "Save", exact: true }).click();
    const dialog = page.getByRole("alertdialog", { name: "Save Disk encryption" });
    await dialog.getByRole("table", { name: "Changes" }).waitFor();
    expect(await rowsOf(page, "Changes")).toEqual([["macos_settings.enable_disk_encryption", "false", "true"]]);
    await dialog.getByText(`svc mdm disk-encryption enable --team ${team.id} --platform macos`).waitFor();
    await expectAccessible(page, "save disk encryption");
    await dialog.getByRole("button", { name: "Save" }).click();
    await notice(page, "The settings are saved.");
    expect(await mdm()).toMatchObject({ disk_encryption: { macos: true } });

    await page.getByRole("checkbox", { name: /PIN/ }).check();
    await page.getByRole("button", { name: "Save", exact: true }).click();
    await page.getByRole("alert").getByText("needs enable_disk_encryption").waitFor();
    await page.getByRole("table", { name: "Disk encryption" }).getByRole("link", { name: "Enforcing" }).click();
    await page.getByRole("heading", { level: 1, name: "Hosts" }).waitFor();
    await page.getByRole("button", { name: "Remove Disk encryption: enforcing" }).waitFor();
  });

  it("deadlines of updates are saved for a team and for hosts without one, and refused in the server's words", async () => {
    const page = await browser.open(`/controls?tab=os-updates&team_id=${team.id}`);
    const macs = page.getByRole("group", { name: "macOS" });
    await macs.getByRole("textbox", { name: "Minimum version" }).fill("15.2");
    await page.getByRole("button", { name: "Save", exact: true }).click();
    await macs.getByRole("alert").getByText("is required together with minimum_version").waitFor();
    await expectAccessible(page, "OS updates");
    await macs.getByRole("textbox", { name: "Deadline" }).fill("2026-12-31");
    await page.getByRole("group", { name: "Windows" }).getByRole("spinbutton", { name: "Deadline in days" }).fill("5");
    await page
      .getByRole("group", { name: "Windows" })
      .getByRole("spinbutton", { name: "Grace period in days" })
      .fill("2");
    await page.getByRole("button", { name: "Save", exact: true }).click();
    const dialog = page.getByRole("alertdialog", { name: "Save OS updates" });
    await dialog.getByRole("table", { name: "Changes" }).waitFor();
    expect(await rowsOf(page, "Changes")).toContainEqual(["mdm.macos_updates.minimum_version", "(empty)", "15.2"]);
    await dialog.getByRole("button", { name: "Save" }).click();
    await notice(page, "The settings are saved.");
    expect(await mdm()).toMatchObject({
      macos_updates: { minimum_version: "15.2", deadline: "2026-12-31" },
      windows_updates: { deadline_days: 5, grace_period_days: 2 },
    });

    await page.getByRole("combobox", { name: "OS updates of" }).selectOption({ label: "No team" });
    const phones = page.getByRole("group", { name: "iOS", exact: true });
    await phones.getByRole("textbox", { name: "Minimum version" }).fill("latest");
    await phones.getByRole("spinbutton", { name: "Days until the deadline" }).fill("14");
    await page.getByRole("button", { name: "Save", exact: true }).click();
    await dialog.getByText("svc config set").waitFor();
    await dialog.getByRole("button", { name: "Save" }).click();
    await notice(page, "The settings are saved.");
    expect(await (await browser.app.get("/config")).json()).toMatchObject({
      mdm: { ios_updates: { minimum_version: "latest", deadline_days: 14 } },
    });
  });

  it("certificates of Android hosts are added and deleted", async () => {
    const page = await browser.open(`/controls?tab=certificates&team_id=${team.id}`);
    await listed(page, "0 certificates");
    await page.getByRole("button", { name: "Add certificate" }).click();
    await page.getByRole("dialog", { name: "Add certificate" }).getByText("no authority with SCEP").waitFor();
    await page.keyboard.press("Escape");
    const ca = { name: "SCEP", url: "http://localhost:1/scep", challenge: "secret" };
    const created = await browser.app.post("/certificate_authorities?skip_check=true", { custom_scep_proxy: ca });
    expect(created.status, await created.text()).toBe(200);
    await page.reload();
    await page.getByRole("button", { name: "Add certificate" }).click();
    const dialog = page.getByRole("dialog", { name: "Add certificate" });
    await dialog.getByRole("textbox", { name: "Name", exact: true }).fill("Wi-Fi");
    await dialog.getByRole("textbox", { name: "Subject" }).fill("wrong");
    await dialog.getByRole("button", { name: "Add certificate" }).click();
    await dialog.getByRole("alert").first().waitFor();
    await expectAccessible(page, "add a certificate");
    await dialog.getByRole("textbox", { name: "Subject" }).fill("/CN=$SVC_VAR_HOST_HARDWARE_SERIAL");
    await dialog.getByRole("button", { name: "Add certificate" }).click();
    await listed(page, "1 certificate");
    expect((await rowsOf(page, "Certificates"))[0]!.slice(0, 3)).toEqual([
      "Wi-Fi",
      "SCEP",
      "/CN=$SVC_VAR_HOST_HARDWARE_SERIAL",
    ]);
    await expectAccessible(page, "certificates");
    await page.getByRole("button", { name: "Delete Wi-Fi" }).click();
    await page.getByRole("alertdialog", { name: "Delete Wi-Fi" }).getByRole("button", { name: "Delete" }).click();
    await listed(page, "0 certificates");
  });

  it("a command is checked, run on a host after its name was typed, and its answer shown", async () => {
    const { app: t } = browser;
    const { device, id } = await enrolledDevice(t, { DeviceName: "bea-mac" });
    const host = (await t.store.hosts.get(id))!;
    const answerAll = async () => {
      for (let command = await device.idle(); command; )
        command = await device.answer(command.uuid, "Acknowledged", { ProfileList: [] });
    };
    await answerAll();
    const page = await browser.open("/controls?tab=commands");
    await listed(page, /\d+ commands?/);
    await page.getByRole("button", { name: "Run command" }).click();
    const dialog = page.getByRole("dialog", { name: "Run command" });
    await dialog.getByRole("textbox", { name: "Hosts" }).fill(host.uuid);
    await dialog.getByRole("textbox", { name: "Command" }).fill("no property list");
    await dialog.getByRole("button", { name: "Continue" }).click();
    await dialog.getByRole("alert").first().waitFor();
    await expectAccessible(page, "run a command");
    await dialog.getByRole("textbox", { name: "Command" }).fill(profileList());
    await dialog.getByRole("button", { name: "Continue" }).click();
    const asking = page.getByRole("alertdialog", { name: `Run ProfileList on ${host.display_name}` });
    expect(await asking.getByRole("button", { name: "Run" }).isDisabled()).toBe(true);
    await asking.getByRole("textbox", { name: `Type ${host.display_name} to confirm` }).fill(host.display_name);
    await asking.getByRole("button", { name: "Run" }).click();
    await notice(page, "ProfileList is sent to 1 host.");
    await answerAll();
    await page.reload();
    await listed(page, /\d+ commands?/);
    await expectAccessible(page, "commands");
    const rows = await rowsOf(page, "Commands");
    expect(rows[0]!.slice(0, 4)).toEqual(["ProfileList", host.hostname, "", "Acknowledged"]);
    await page
      .getByRole("button", { name: /Show the answer to ProfileList/ })
      .first()
      .click();
    await page.getByRole("dialog", { name: "ProfileList" }).getByText("RequestType").waitFor();
    await expectAccessible(page, "the answer to a command");
  });

  it("observers read, and change nothing", async () => {
    browser.app.clock.advance(120_000);
    const { user } = await makeUser(browser.app, { [team.id]: "observer" }, { api_only: false });
    const page = await browser.open("/controls?tab=os-updates", { as: { email: user.email, password: PASSWORD } });
    await page.getByText("15.2").waitFor();
    expect(await page.getByRole("button", { name: "Save" }).count()).toBe(0);
    await page.getByRole("tab", { name: "Disk encryption" }).click();
    await page.getByRole("table", { name: "Disk encryption" }).waitFor();
    expect(await page.getByRole("button", { name: "Save" }).count()).toBe(0);
    await page.getByRole("tab", { name: "Commands" }).click();
    await listed(page, /\d+ commands?/);
    expect(await page.getByRole("button", { name: "Run command" }).count()).toBe(0);
  });
});

describe.skipIf(chromium === null)("controls in the console on the free tier", () => {
  let browser: ConsoleBrowser;

  beforeAll(async () => {
    browser = await ConsoleBrowser.start(chromium!, { tier: "free" });
    await allowEnrollment(browser.app);
  }, 600_000);
  afterEach(() => browser.finish());
  afterAll(() => browser?.close());

  it("have no labels, no replacing, and a sentence where premium tabs would be", async () => {
    const page = await browser.open("/controls");
    await listed(page, "0 profiles");
    await page.getByRole("button", { name: "Add profile" }).click();
    const dialog = page.getByRole("dialog", { name: "Add profile" });
    await dialog.waitFor();
    expect(await dialog.getByRole("group").count()).toBe(0);
    await page.keyboard.press("Escape");
    await page.getByRole("tab", { name: "Disk encryption" }).click();
    await page.getByText(/^Premium: /).waitFor();
    await page.getByRole("tab", { name: "OS updates" }).click();
    await page.getByText(/^Premium: deadlines/).waitFor();
  });
});
