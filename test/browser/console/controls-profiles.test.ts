// Configuration profiles in the console.
import type { Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import type { PlistDict } from "../../../src/plist/value.ts";
import { eq } from "../../../src/server/platform/store/query.ts";
import { makeUser, PASSWORD } from "../../support/accounts.ts";
import { allowEnrollment } from "../../support/apple.ts";
import { enrolledDevice } from "../../support/apple-device.ts";
import { findChromium } from "../../support/browser.ts";
import { ConsoleBrowser, expectAccessible, listed, rowsOf } from "../../support/console.ts";
import { InputCount } from "../../support/input-count.ts";
import { enter, tabTo } from "../../support/keyboard.ts";
import { makeLabel, makeTeam } from "../../support/make.ts";
import { answerAll, declaration, makeManagedMac, makeProfile, mobileconfig } from "../../support/profiles.ts";

const chromium = findChromium();
const EVIL = `<img src=x onerror=alert(1)>"'</script>`;

const file = (content: string, name = "wifi.mobileconfig") => ({
  name,
  mimeType: "application/octet-stream",
  buffer: Buffer.from(content),
});

describe.skipIf(chromium === null)("profiles in the console", () => {
  let browser: ConsoleBrowser;

  beforeAll(async () => {
    browser = await ConsoleBrowser.start(chromium!);
    await allowEnrollment(browser.app);
  }, 600_000);
  afterEach(() => browser.finish());
  afterAll(() => browser?.close());

  const notice = (page: Page, text: string) => page.getByRole("region", { name: "Notices" }).getByText(text).waitFor();
  const signIn = async (roles: Parameters<typeof makeUser>[1]) => {
    const { user } = await makeUser(browser.app, roles, { api_only: false });
    return { email: user.email, password: PASSWORD };
  };

  it("by keyboard alone: a profile is uploaded, fails on one host, and is sent again", async () => {
    const { app: t } = browser;
    const { device, id } = await enrolledDevice(t, { DeviceName: "ada-mac" });
    const name = (await t.store.hosts.get(id))!.display_name;
    /** The device answers all commands; those that install profiles in this way. */
    const answerWith = async (status: "Error" | "Acknowledged") => {
      const fields: PlistDict =
        status === "Error" ? { ErrorChain: [{ LocalizedDescription: "The Wi-Fi payload is wrong." }] } : {};
      for (let command = await device.idle(); command; )
        command = await (command.type === "InstallProfile"
          ? device.answer(command.uuid, status, fields)
          : device.answer(command.uuid, "Acknowledged"));
      const [row] = await t.store.hostProfiles.list({ where: eq("host_id", id) });
      return row?.status;
    };

    const page = await browser.open("/controls?team_id=0");
    const input = await InputCount.of(page);
    await listed(page, "0 profiles");
    await enter(page, page.getByRole("button", { name: "Add profile" }));
    const dialog = page.getByRole("dialog", { name: "Add profile" });
    // Waits from here on: the browser needs a moment until it hands choosers over.
    const chooser = page.waitForEvent("filechooser");
    await tabTo(page, dialog.getByLabel("File"));
    await page.keyboard.press("Enter");
    await (await chooser).setFiles(file(mobileconfig("com.example.wifi", "", "Office Wi-Fi")));
    await enter(page, dialog.getByRole("button", { name: "Add profile" }));
    await listed(page, "1 profile");

    await expect.poll(() => answerWith("Error"), { timeout: 20_000 }).toBe("failed");
    await page.reload();
    await listed(page, "1 profile");
    expect((await rowsOf(page, "Profiles"))[0]!.slice(0, 6)).toEqual(["Office Wi-Fi", "Apple", "1", "0", "0", "0"]);
    await enter(page, page.getByRole("link", { name: "Office Wi-Fi, failed: 1" }));
    await page.getByRole("heading", { level: 1, name: "Office Wi-Fi" }).waitFor();
    await listed(page, "1 host");
    const [row] = await rowsOf(page, "Hosts");
    expect(row!.slice(0, 2)).toEqual([name, "failed"]);
    expect(row![2]).toContain("The Wi-Fi payload is wrong.");
    await expectAccessible(page, "the page of a profile");

    await enter(page, page.getByRole("button", { name: `Resend to ${name}` }));
    await notice(page, `Office Wi-Fi will be sent to ${name} again.`);
    await listed(page, "No hosts match");
    await expect.poll(() => answerWith("Acknowledged"), { timeout: 20_000 }).toBe("verifying");
    await enter(page, page.getByRole("button", { name: "Remove State: failed" }));
    await listed(page, "1 host");
    expect((await rowsOf(page, "Hosts"))[0]!.slice(0, 2)).toEqual([name, "verifying"]);
    expect((await input.read()).clicks).toBe(0);
  });

  it("those that failed on several hosts are sent again from the list, and the states lead to the hosts", async () => {
    const { app: t } = browser;
    const team = await makeTeam(t, "Resending");
    for (const _ of [1, 2]) await makeManagedMac(t, { team_id: team.id });
    const uuid = await makeProfile(t, { team_id: team.id, name: "VPN" });
    await expect.poll(() => t.store.hostProfiles.count(eq("profile_uuid", uuid))).toBe(2);
    for (const _ of [1, 2]) await answerAll(t, EVIL);
    const failed = async () =>
      (await t.store.hostProfiles.list({ where: eq("profile_uuid", uuid) })).filter(
        ({ status }) => status === "failed",
      );
    await expect.poll(async () => (await failed()).length).toBe(2);
    const page = await browser.open(`/controls?team_id=${team.id}`);
    await listed(page, "1 profile");
    await expectAccessible(page, "profiles");
    await page.getByRole("button", { name: "Resend VPN" }).click();
    const dialog = page.getByRole("alertdialog", { name: "Resend VPN" });
    await dialog.getByText("It has failed on 2 hosts").waitFor();
    await expectAccessible(page, "resend a profile");
    await dialog.getByRole("button", { name: "Resend" }).click();
    await notice(page, "VPN will be sent again");
    await expect.poll(failed).toEqual([]);
    const states = page.getByRole("list", { name: "Hosts by the state of their settings" });
    await states.getByRole("link", { name: /^pending: / }).click();
    await page.getByRole("heading", { level: 1, name: "Hosts" }).waitFor();
    expect(page.url()).toContain("os_settings=pending");
  });

  it("a file that is none is refused in the server's words, and labels limit the hosts", async () => {
    const { app: t } = browser;
    const team = await makeTeam(t, "Labels");
    await makeLabel(t, EVIL);
    await makeLabel(t, "Loaned");
    const page = await browser.open(`/controls?team_id=${team.id}`);
    await page.getByRole("button", { name: "Add profile" }).click();
    const dialog = page.getByRole("dialog", { name: "Add profile" });
    await dialog.getByLabel("File").setInputFiles(file("neither", "wrong.mobileconfig"));
    await dialog.getByRole("button", { name: "Add profile" }).click();
    await dialog.getByRole("alert").first().waitFor();
    await dialog.getByRole("combobox", { name: "Hosts" }).selectOption({ label: "Hosts with any of these labels" });
    await dialog.getByRole("group", { name: "Labels", exact: true }).getByRole("checkbox", { name: EVIL }).check();
    await dialog
      .getByRole("group", { name: /^Except/ })
      .getByRole("checkbox", { name: "Loaned" })
      .check();
    await expectAccessible(page, "add a profile");
    await dialog.getByLabel("File").setInputFiles(file(declaration("com.example.one"), "one.json"));
    await dialog.getByRole("button", { name: "Add profile" }).click();
    await listed(page, "1 profile");
    expect((await rowsOf(page, "Profiles"))[0]).toContain(`any of ${EVIL}; none of Loaned`);

    await page.getByRole("link", { name: "one", exact: true }).click();
    await page.getByRole("button", { name: "Edit labels" }).click();
    const labels = page.getByRole("dialog", { name: "Labels of one" });
    await labels.getByRole("combobox", { name: "Hosts" }).selectOption({ label: "All hosts" });
    await labels
      .getByRole("group", { name: /^Except/ })
      .getByRole("checkbox", { name: "Loaned" })
      .uncheck();
    await labels.getByRole("button", { name: "Save" }).click();
    await labels.waitFor({ state: "detached" });
    await page.getByText("all hosts of the team").waitFor();
    expect(await t.store.profileLabels.count()).toBe(0);
  });

  it("is replaced after its differences were shown, and deleted after it was said how many hosts lose it", async () => {
    const { app: t } = browser;
    const team = await makeTeam(t, "Replacing");
    await makeManagedMac(t, { team_id: team.id });
    const content = (text: string) =>
      `${JSON.stringify(JSON.parse(declaration("com.example.r", { Echo: text })), null, 1)}`;
    const uuid = await makeProfile(t, { team_id: team.id, name: "Echo", content: content("old") });
    await expect.poll(() => t.store.hostProfiles.count(eq("profile_uuid", uuid))).toBe(1);
    const page = await browser.open(`/controls/profiles/${uuid}?team_id=${team.id}`);
    await page.getByRole("heading", { level: 1, name: "Echo" }).waitFor();
    await page.getByRole("button", { name: "Replace" }).click();
    const dialog = page.getByRole("dialog", { name: "Replace Echo" });
    await dialog.getByLabel("File").setInputFiles(file(content(EVIL), "echo.json"));
    await dialog.getByRole("deletion").getByText("old").waitFor();
    await dialog.getByRole("insertion").getByText("onerror=alert").waitFor();
    await dialog.getByText("it is sent to 1 host again").waitFor();
    await expectAccessible(page, "replace a profile");
    await dialog.getByRole("button", { name: "Replace" }).click();
    await notice(page, "Echo is replaced.");
    await page.getByRole("tab", { name: "Content" }).click();
    await page.getByRole("main").locator("pre").getByText("onerror=alert").waitFor();
    expect(await page.getByRole("main").locator("img").count()).toBe(0);
    await expectAccessible(page, "the content of a profile");

    await page.getByRole("button", { name: "Delete" }).click();
    const deleting = page.getByRole("alertdialog", { name: "Delete Echo" });
    await deleting.getByText("It is removed from 1 host").waitFor();
    await deleting.getByRole("button", { name: "Delete" }).click();
    await page.getByRole("heading", { level: 1, name: "Controls" }).waitFor();
    await listed(page, "0 profiles");
    expect(await t.store.configurationProfiles.count(eq("uuid", uuid))).toBe(0);
  });

  it("are sent again, but not changed by technicians; observers have the other tabs", async () => {
    const { app: t } = browser;
    browser.app.clock.advance(120_000);
    const team = await makeTeam(t, "Roles");
    const uuid = await makeProfile(t, { team_id: team.id, name: "Read" });
    const technician = await browser.open(`/controls?team_id=${team.id}`, {
      as: await signIn({ [team.id]: "technician" }),
    });
    await listed(technician, "1 profile");
    expect(await technician.getByRole("button", { name: /^(Add|Delete)/ }).count()).toBe(0);
    await technician.getByRole("link", { name: "Read" }).click();
    await technician.getByRole("heading", { level: 1, name: "Read" }).waitFor();
    expect(await technician.getByRole("button", { name: /^(Edit|Replace|Delete)/ }).count()).toBe(0);

    const observer = await browser.open("/", { as: await signIn({ [team.id]: "observer" }) });
    await observer.getByRole("navigation", { name: "Main" }).getByRole("link", { name: "Controls" }).click();
    await observer.getByRole("tab", { name: "Commands" }).waitFor();
    expect(await observer.getByRole("tab", { name: "Profiles" }).count()).toBe(0);
    await observer.goto(`${browser.url}/controls/profiles/${uuid}`);
    await observer.getByRole("alert").waitFor();
  });
});
