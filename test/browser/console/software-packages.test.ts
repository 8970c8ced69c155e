// Packages in the console: uploaded, installed on a host, changed and deleted.
import { readFileSync } from "node:fs";
import type { Locator, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { eq } from "../../../src/server/platform/store/query.ts";
import { makeUser, PASSWORD } from "../../support/accounts.ts";
import { findChromium } from "../../support/browser.ts";
import { ConsoleBrowser, expectAccessible, listed, rowsOf } from "../../support/console.ts";
import { png } from "../../support/icons.ts";
import { makeLabel, makeTeam } from "../../support/make.ts";
import { type ManagedAgent, makeManaged } from "../../support/managed.ts";

const chromium = findChromium();
const EVIL = `<img src=x onerror=alert(1)>"'</script>`;
const SCRIPT = "#!/bin/sh\necho installed\n";

const fileOf = (name: string, content: string | Buffer = SCRIPT) => ({
  name,
  mimeType: "application/octet-stream",
  buffer: Buffer.from(content),
});

describe.skipIf(chromium === null)("packages in the console", () => {
  let browser: ConsoleBrowser;
  let agent: ManagedAgent;

  beforeAll(async () => {
    browser = await ConsoleBrowser.start(chromium!);
    agent = await makeManaged(browser.app);
    await makeLabel(browser.app, EVIL);
  }, 600_000);
  afterEach(async () => {
    await browser.finish();
    // One address may sign in a few times a minute.
    browser.app.clock.advance(120_000);
  });
  afterAll(() => browser?.close());

  const openAddDialog = async (path: string, as?: { email: string; password: string }): Promise<[Page, Locator]> => {
    const page = await browser.open(path, as === undefined ? {} : { as });
    await page.getByRole("button", { name: "Add software" }).click();
    const dialog = page.getByRole("dialog", { name: "Add software" });
    await dialog.getByLabel("File").waitFor();
    return [page, dialog];
  };
  const upload = async (name: string, fields: Record<string, string> = {}, content: string | Buffer = SCRIPT) => {
    const body = new FormData();
    for (const [field, value] of Object.entries(fields)) body.append(field, value);
    body.set("software", new File([new Uint8Array(Buffer.from(content))], name));
    const reply = await browser.app.post("/software/package", body);
    expect(reply.status, await reply.clone().text()).toBe(200);
    return ((await reply.json()) as { software_package: { title_id: number } }).software_package.title_id;
  };
  const installerOf = async (titleId: number) =>
    (await browser.app.store.softwareInstallers.first({ where: eq("title_id", titleId) }))!;
  const notice = (page: Page, text: string | RegExp) =>
    page.getByRole("region", { name: "Notices" }).getByText(text).waitFor();
  /** The agent carries out the next installation that waits. */
  const install = async (answer: object) => {
    const { json } = await agent.call("/config");
    const [install_uuid] = json.notifications.pending_software_installer_ids;
    expect((await agent.call("/software_install/details", { install_uuid })).status).toBe(200);
    const result = { install_uuid, pre_install_condition_output: null, post_install_script_exit_code: null };
    const reply = await agent.call("/software_install/result", {
      ...result,
      post_install_script_output: null,
      ...answer,
    });
    expect(reply.status).toBe(204);
  };

  it("are uploaded, installed on a host, and show the result with its output", async () => {
    const [page, dialog] = await openAddDialog("/software");
    await dialog.getByRole("combobox", { name: "Team" }).selectOption({ label: "No team" });
    // More than a piece.
    const content = `${SCRIPT}# ${"x".repeat(1_300_000)}\n`;
    await dialog.getByLabel("File").setInputFiles(fileOf("tool.sh", content));
    await dialog.getByRole("checkbox", { name: "Self-service" }).check();
    await dialog.getByRole("textbox", { name: "New category" }).fill(EVIL);
    await page.keyboard.press("Enter");
    await dialog.getByRole("combobox", { name: "Hosts" }).selectOption("labels_exclude_any");
    await dialog.getByRole("group", { name: "Labels" }).getByRole("checkbox", { name: EVIL }).check();
    await dialog.getByText("Scripts and query").click();
    await dialog.getByRole("textbox", { name: "Uninstall script" }).fill("#!/bin/sh\necho removed\n");
    await expectAccessible(page, "add a package");
    await dialog.getByRole("button", { name: "Add software" }).focus();
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { level: 1, name: "tool" }).waitFor();
    await notice(page, "tool.sh is added.");
    const { title_id, sha256, self_service, categories } = (await browser.app.store.softwareInstallers.list())[0]!;
    expect(new URL(page.url()).pathname).toBe(`/software/titles/${title_id}`);
    expect(self_service).toBe(true);
    expect(categories).toEqual([EVIL]);
    const card = page.getByRole("region", { name: "Package" });
    await card.getByText(sha256).waitFor();
    await card.getByText(`none of ${EVIL}`).waitFor();
    await expectAccessible(page, "a title with a package");

    await card.getByRole("button", { name: "Install", exact: true }).click();
    const choice = page.getByRole("dialog", { name: "Install tool" });
    await choice.getByRole("combobox", { name: "Host" }).fill("managed");
    await expectAccessible(page, "choose a host");
    await choice.getByRole("option", { name: /managed/ }).click();
    const { display_name } = await agent.host();
    const confirm = page.getByRole("alertdialog", { name: `Install tool on ${display_name}` });
    await confirm.getByRole("button", { name: "Install" }).click();
    // The host has not reported yet whether it has the label that is excluded.
    await confirm
      .getByRole("alert")
      .getByText(/labels of the package/)
      .waitFor();
    await browser.app.store.hosts.update({
      where: eq("id", (await agent.host()).id),
      set: { label_updated_at: browser.app.clock.iso() },
    });
    await confirm.getByRole("button", { name: "Install" }).click();
    await notice(page, `tool will be installed on ${display_name}.`);
    await page.getByRole("tab", { name: "Pending" }).click();
    await page.getByRole("table", { name: "Hosts" }).getByRole("link", { name: display_name }).waitFor();
    await card.getByRole("link", { name: "Waiting: 1 host" }).waitFor();

    await install({ install_script_exit_code: 0, install_script_output: `installed ${EVIL}` });
    await page.reload();
    await page.getByRole("tab", { name: "Installed" }).click();
    await page.getByRole("button", { name: `Show the result on ${display_name}` }).click();
    const result = page.getByRole("dialog", { name: `tool on ${display_name}` });
    await result.getByRole("region", { name: "Install script" }).getByText(`installed ${EVIL}`).waitFor();
    await result.getByText("(exit code 0)").waitFor();
    await expectAccessible(page, "a result");
    await page.keyboard.press("Escape");
    await card.getByRole("link", { name: "Installed: 1 host" }).click();
    await listed(page, "1 host");
    expect(await page.getByRole("list", { name: "Active filters" }).textContent()).toContain(
      "installed by this server",
    );
    await page.getByRole("link", { name: display_name }).click();
    await page.getByRole("tab", { name: "Software" }).click();
    await page.getByRole("button", { name: "Show the result of tool" }).click();
    await result.getByText(`installed ${EVIL}`).waitFor();
  });

  it("are uninstalled from a host", async () => {
    const titleId = await upload("gone.sh", { uninstall_script: "#!/bin/sh\necho removed\n" });
    const { id, display_name } = await agent.host();
    expect((await browser.app.post(`/hosts/${id}/software/${titleId}/install`)).status).toBe(202);
    await install({ install_script_exit_code: 0, install_script_output: "ok" });
    const page = await browser.open(`/software/titles/${titleId}?team_id=0`);
    await page.getByRole("button", { name: `Uninstall from ${display_name}` }).click();
    const dialog = page.getByRole("alertdialog", { name: `Uninstall gone from ${display_name}` });
    await dialog.getByRole("button", { name: "Uninstall" }).click();
    await notice(page, `gone will be removed from ${display_name}.`);
    await agent.runScript(1, "busy");
    await page.reload();
    await page.getByRole("tab", { name: "Failed" }).click();
    await page.getByRole("button", { name: `Show the result on ${display_name}` }).click();
    const result = page.getByRole("dialog", { name: `gone on ${display_name}` });
    await result.getByRole("region", { name: "Uninstall script" }).getByText("busy").waitFor();
  });

  it("can be stopped while they are uploaded; nothing stays of them", async () => {
    const [page, dialog] = await openAddDialog("/software?team_id=0");
    const before = await browser.app.store.uploads.count();
    await page.route("**/uploads/*", (route) => (route.request().method() === "PATCH" ? undefined : route.continue()));
    await dialog.getByLabel("File").setInputFiles(fileOf("slow.sh"));
    await dialog.getByRole("button", { name: "Add software" }).click();
    await dialog.getByRole("progressbar", { name: "Upload of slow.sh" }).waitFor();
    await expectAccessible(page, "an upload");
    await dialog.getByRole("button", { name: "Cancel upload" }).click();
    await dialog.getByRole("alert").getByText("The upload is cancelled.").waitFor();
    await expect.poll(() => browser.app.store.uploads.count()).toBe(before);
    await page.unroute("**/uploads/*");
    await dialog.getByRole("button", { name: "Add software" }).click();
    await page.getByRole("heading", { level: 1, name: "slow" }).waitFor();
  });

  it("are refused in the words of the server, beside the field", async () => {
    const [page, dialog] = await openAddDialog("/software?team_id=0");
    await dialog.getByLabel("File").setInputFiles(fileOf("bad.deb", "no package"));
    await dialog.getByRole("button", { name: "Add software" }).click();
    await dialog
      .getByRole("alert")
      .getByText(/Debian/)
      .waitFor();
    await dialog
      .getByLabel("File")
      .setInputFiles(fileOf("hello.exe", readFileSync("test/fixtures/packages/hello.exe")));
    await dialog.getByRole("button", { name: "Add software" }).click();
    await dialog
      .getByRole("alert")
      .getByText(/is required for packages of the type .exe/)
      .waitFor();
    await dialog.getByRole("textbox", { name: "Install script", exact: true }).fill("exit 0");
    await dialog.getByRole("textbox", { name: "Uninstall script" }).fill("exit 0");
    await dialog.getByRole("button", { name: "Close" }).click();
    await dialog.getByText("Closing discards what you have typed.").waitFor();
    await dialog.getByRole("button", { name: "Keep editing" }).click();
    await dialog.getByRole("button", { name: "Add software" }).click();
    await page.getByRole("heading", { level: 1, name: /hello/i }).waitFor();
  });

  it("are changed and replaced, and it is said what that means for hosts that wait", async () => {
    const titleId = await upload("edit.sh", { self_service: "true", categories: "Tools" });
    const { id } = await agent.host();
    expect((await browser.app.post(`/hosts/${id}/software/${titleId}/install`)).status).toBe(202);
    const page = await browser.open(`/software/titles/${titleId}?team_id=0`);
    const card = page.getByRole("region", { name: "Package" });
    await card.getByRole("button", { name: "Edit" }).click();
    const dialog = page.getByRole("dialog", { name: "Edit edit" });
    await dialog.getByRole("textbox", { name: "Name for users" }).fill(EVIL);
    await dialog.getByRole("checkbox", { name: "Tools" }).uncheck();
    expect(await dialog.getByText("waits for the package").count()).toBe(0);
    await dialog.getByText("Scripts and query").click();
    await dialog.getByRole("textbox", { name: "Pre-install query" }).fill("DELETE FROM x");
    await dialog.getByRole("textbox", { name: "Name for users" }).focus();
    await dialog
      .getByRole("alert")
      .getByText(/SELECT/)
      .waitFor();
    await dialog.getByRole("textbox", { name: "Pre-install query" }).fill("SELECT 1");
    await dialog.getByText("1 host waits for the package").waitFor();
    await expectAccessible(page, "edit a package");
    await dialog.getByRole("button", { name: "Save" }).click();
    await notice(page, "The package is saved.");
    await page.getByRole("heading", { level: 1, name: EVIL }).waitFor();
    expect(await installerOf(titleId)).toMatchObject({
      display_name: EVIL,
      categories: [],
      self_service: true,
      pre_install_query: "SELECT 1",
    });
    await card.getByText("no hosts").first().waitFor();
    expect(await browser.app.store.softwareInstallRuns.count(eq("status", "pending_install"))).toBe(0);

    const before = (await installerOf(titleId)).sha256;
    await card.getByRole("button", { name: "Add version" }).click();
    const version = page.getByRole("dialog", { name: "Add version of edit" });
    await version.getByLabel("File of the new version").setInputFiles(fileOf("edit.sh", `${SCRIPT}echo two\n`));
    await version.getByText("The counts of results start anew.").waitFor();
    await version.getByRole("button", { name: "Save" }).click();
    await version.waitFor({ state: "detached" });
    expect((await installerOf(titleId)).sha256).not.toBe(before);

    const [download] = await Promise.all([
      page.waitForEvent("download"),
      card.getByRole("button", { name: "Download" }).click(),
    ]);
    expect(readFileSync(await download.path(), "utf8")).toBe(`${SCRIPT}echo two\n`);
    expect(download.suggestedFilename()).toBe("edit.sh");
  });

  it("have an icon", async () => {
    const titleId = await upload("icon.sh");
    const page = await browser.open(`/software/titles/${titleId}?team_id=0`);
    await page.getByRole("button", { name: "Icon", exact: true }).click();
    const dialog = page.getByRole("dialog", { name: "Icon of icon" });
    await dialog.getByLabel("Image").setInputFiles({ name: "icon.png", mimeType: "image/png", buffer: png(64) });
    await dialog.getByRole("button", { name: "Save" }).click();
    await dialog
      .getByRole("alert")
      .getByText(/pixels/)
      .waitFor();
    await dialog.getByLabel("Image").setInputFiles({ name: "icon.png", mimeType: "image/png", buffer: png(128) });
    await dialog.getByRole("button", { name: "Save" }).click();
    await notice(page, "The icon is set.");
    const icon = page.locator("img.title-icon");
    await icon.waitFor();
    await expect
      .poll(() => icon.evaluate((image) => (image as unknown as { naturalWidth: number }).naturalWidth))
      .toBe(128);
    await page.getByRole("button", { name: "Icon", exact: true }).click();
    await dialog.getByRole("button", { name: "Remove the icon" }).click();
    await notice(page, "The icon is removed.");
    await icon.waitFor({ state: "detached" });
  });

  it("are installed by policies, which are made here, and not deleted before these", async () => {
    const deb = readFileSync("test/fixtures/packages/hello-xz.deb");
    const titleId = await upload("hello.deb", { automatic_install: "true" }, deb);
    const page = await browser.open(`/software/titles/${titleId}?team_id=0`);
    const card = page.getByRole("region", { name: "Package" });
    await card.getByRole("link", { name: /\[Install software\]/ }).waitFor();
    await card.getByRole("button", { name: "Make policy" }).click();
    const form = page.getByRole("dialog", { name: "Create policy" });
    await form.getByText("is installed on hosts that begin to fail the policy").waitFor();
    await form.getByText("deb_packages").first().waitFor();
    await form.getByRole("textbox", { name: "Name" }).fill(EVIL);
    await expectAccessible(page, "make a policy");
    await form.getByRole("button", { name: "Create policy" }).click();
    await card.getByRole("link", { name: EVIL }).waitFor();

    await card.getByRole("button", { name: "Delete" }).click();
    const dialog = page.getByRole("alertdialog", { name: "Delete hello.deb" });
    await expectAccessible(page, "delete a package");
    await dialog.getByRole("button", { name: "Delete" }).click();
    await dialog
      .getByRole("alert")
      .getByText(/installs the package: change it first/)
      .waitFor();
    await browser.app.store.policies.delete(eq("software_title_id", titleId));
    await dialog.getByRole("button", { name: "Delete" }).click();
    await notice(page, "hello.deb is deleted.");
    await page.getByRole("heading", { level: 1, name: "Software" }).waitFor();
    expect(await browser.app.store.softwareInstallers.count(eq("title_id", titleId))).toBe(0);
  });

  it("are of a team, which is chosen on the page of the title; the list shows what it offers", async () => {
    const team = await makeTeam(browser.app, EVIL);
    await upload("team.sh", { team_id: String(team.id), self_service: "true" });
    const page = await browser.open("/software");
    await page.getByRole("button", { name: "Add filter" }).click();
    await page.getByRole("option", { name: "Self-service" }).click();
    await page.getByRole("option", { name: "yes" }).click();
    await page.getByRole("link", { name: "team", exact: true }).click();
    await page.getByRole("region", { name: "Package" }).getByRole("combobox", { name: "Team" }).selectOption(EVIL);
    await page.getByRole("region", { name: "Package" }).getByText("team.sh").waitFor();
    await page.goto(`${browser.url}/software?team_id=${team.id}&available_for_install=true`);
    await listed(page, "1 title");
    expect((await rowsOf(page, "Software"))[0]!.join(" ")).toContain("self-service");
    await expectAccessible(page, "titles of a team");
  });

  it("are in categories of the team, which are created, renamed and deleted", async () => {
    const titleId = await upload("sorted.sh", { self_service: "true", categories: "Old" });
    const page = await browser.open("/software?team_id=0");
    await page.getByRole("button", { name: "Categories" }).click();
    const dialog = page.getByRole("dialog", { name: "Categories of No team" });
    await dialog.getByRole("textbox", { name: "New category" }).fill("old");
    await dialog.getByRole("button", { name: "Create category" }).click();
    await dialog.getByRole("alert").waitFor();
    await dialog.getByRole("textbox", { name: "New category" }).fill("Work");
    await page.keyboard.press("Enter");
    await dialog.getByRole("button", { name: "Delete Work" }).click();
    await notice(page, "Work is deleted.");
    await dialog.getByRole("button", { name: "Rename Old" }).click();
    await dialog.getByRole("textbox", { name: "New name of Old" }).fill("New");
    await expectAccessible(page, "categories");
    await dialog.getByRole("button", { name: "Rename", exact: true }).click();
    await dialog.getByRole("rowheader", { name: "New", exact: true }).waitFor();
    expect((await installerOf(titleId)).categories).toEqual(["New"]);
  });

  it("are shown to technicians without what these may not change, and not to observers", async () => {
    const titleId = await upload("roles.sh");
    const path = `/software/titles/${titleId}?team_id=0`;
    const technician = await makeUser(browser.app, "technician", { api_only: false });
    const page = await browser.open(path, { as: { email: technician.user.email, password: PASSWORD } });
    const card = page.getByRole("region", { name: "Package" });
    await card.getByRole("button", { name: "Install", exact: true }).waitFor();
    expect(await card.getByRole("button", { name: /^(Edit|Add version|Icon|Delete|Make policy)$/ }).count()).toBe(0);
    await page.goto(`${browser.url}/software`);
    await listed(page, /title/);
    expect(await page.getByRole("button", { name: "Add software" }).count()).toBe(0);
    const observer = await makeUser(browser.app, "observer", { api_only: false });
    const other = await browser.open("/software", { as: { email: observer.user.email, password: PASSWORD } });
    await listed(other, /title/);
    expect(await other.getByRole("button", { name: "Add software" }).count()).toBe(0);
    await other.getByRole("button", { name: "Add filter" }).click();
    expect(await other.getByRole("option", { name: "Available for install" }).count()).toBe(0);
  });

  it("are refused in GitOps mode before anything is uploaded", async () => {
    const { app: t } = browser;
    const gitops = { gitops_mode_enabled: true, repository_url: "https://git.example.com/config" };
    expect((await t.patch("/config", { gitops })).status).toBe(200);
    try {
      const before = await t.store.uploads.count();
      const [, dialog] = await openAddDialog("/software?team_id=0");
      await dialog.getByLabel("File").setInputFiles(fileOf("files.sh"));
      await dialog.getByRole("button", { name: "Add software" }).click();
      await dialog
        .getByRole("alert")
        .getByText(/configuration files determine/)
        .waitFor();
      expect(await t.store.uploads.count()).toBe(before);
    } finally {
      const off = JSON.stringify({ gitops: { gitops_mode_enabled: false } });
      await t.request("PATCH", "/config", off, {
        "content-type": "application/json",
        "x-svc-gitops-override": "test",
      });
    }
  });
});

describe.skipIf(chromium === null)("software in the console of the free tier", () => {
  it("offers nothing that needs another tier", async () => {
    const browser = await ConsoleBrowser.start(chromium!, { tier: "free" });
    try {
      const page = await browser.open("/software");
      await listed(page, /title/);
      expect(await page.getByRole("button", { name: "Add software" }).count()).toBe(0);
      expect(await page.getByRole("tab", { name: "Catalogue" }).count()).toBe(0);
      await page.getByRole("button", { name: "Add filter" }).click();
      expect(await page.getByRole("option", { name: "Self-service" }).count()).toBe(0);
      await browser.finish();
    } finally {
      await browser.close();
    }
  });
});
