// The setup of hosts on the page Controls.
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { makeUser, PASSWORD } from "../../support/accounts.ts";
import { turnOnAppleMdm } from "../../support/apple.ts";
import { findChromium } from "../../support/browser.ts";
import { ConsoleBrowser, expectAccessible } from "../../support/console.ts";
import { enter, tabTo } from "../../support/keyboard.ts";
import { makeTeam } from "../../support/make.ts";
import { offerScript } from "../../support/setups.ts";
import { xar } from "../../support/xar.ts";

const chromium = findChromium();
const PATH = "/controls?tab=setup-experience";

describe.skipIf(chromium === null)("the setup of hosts in the console", () => {
  let browser: ConsoleBrowser;
  let titles: { readonly id: number; readonly name: string }[];
  let team: { readonly id: number };

  beforeAll(async () => {
    browser = await ConsoleBrowser.start(chromium!);
    const { app: t } = browser;
    await turnOnAppleMdm(t);
    team = await makeTeam(t, "Engineering");
    const ids = [await offerScript(t, "first.sh", 0), await offerScript(t, "second.sh", 0)];
    titles = (await t.store.softwareTitles.getMany(ids)).map(({ id, name }) => ({ id, name }));
  }, 600_000);
  beforeEach(() => browser.app.clock.advance(120_000));
  afterEach(() => browser.finish());
  afterAll(() => browser?.close());

  const card = (page: Awaited<ReturnType<ConsoleBrowser["open"]>>, name: string) =>
    page.getByRole("region", { name, exact: true });
  const chosen = async () => {
    const reply = await browser.app.get("/setup_experience/software?platform=linux&team_id=0");
    const { software_titles } = (await reply.json()) as {
      software_titles: { id: number; software_package: { install_during_setup: boolean } }[];
    };
    return software_titles.filter(({ software_package }) => software_package.install_during_setup).map(({ id }) => id);
  };

  it("software is chosen and ordered with the keyboard alone", async () => {
    const page = await browser.open(PATH);
    const software = card(page, "Software");
    await tabTo(page, software.getByRole("combobox", { name: "Platform" }));
    await page.keyboard.type("Linux");
    await software.getByText("Nothing is installed during the setup.").waitFor();
    const [first, second] = titles;
    for (const { name } of titles) {
      await tabTo(page, software.getByRole("combobox", { name: "Add software" }));
      await page.keyboard.type(name);
      await page.keyboard.press("ArrowDown");
      await page.keyboard.press("Enter");
      await software.getByRole("link", { name }).waitFor();
    }
    await enter(page, software.getByRole("button", { name: `Move up ${second!.name}` }));
    await enter(page, software.getByRole("button", { name: "Save software" }));
    await expect.poll(chosen).toEqual([second!.id, first!.id]);
    await expectAccessible(page, "the setup of hosts");
    await software.getByRole("button", { name: `Remove ${first!.name}` }).click();
    await software.getByRole("button", { name: "Save software" }).click();
    await expect.poll(chosen).toEqual([second!.id]);
  });

  it("the script is added, shown and deleted", async () => {
    const page = await browser.open(PATH);
    const script = card(page, "Script");
    await script.getByRole("button", { name: "Add setup script" }).click();
    const dialog = page.getByRole("dialog", { name: "Add setup script" });
    await dialog.getByRole("textbox", { name: "Script" }).fill("echo ready");
    await expectAccessible(page, "the dialog of the setup script");
    await dialog.getByRole("button", { name: "Add setup script" }).click();
    await script.getByText("setup.sh").waitFor();
    await script.getByRole("button", { name: "Show script" }).click();
    await script.getByText("echo ready").waitFor();
    await script.getByRole("button", { name: "Delete script" }).click();
    await page
      .getByRole("alertdialog", { name: "Delete setup script" })
      .getByRole("button", { name: "Delete" })
      .click();
    await script.getByText("Hosts run no script").waitFor();
  });

  it("settings of a team are saved, with the server's refusal beside the field", async () => {
    const page = await browser.open(PATH);
    await page.getByRole("combobox", { name: "Setup of the hosts of" }).selectOption("Engineering");
    const settings = card(page, "Settings");
    await settings.getByRole("combobox", { name: "Local account of the end user" }).selectOption("Standard");
    await settings.getByRole("button", { name: "Save" }).click();
    await settings
      .getByRole("alert")
      .getByText(/enable_managed_local_account/)
      .waitFor();
    await settings.getByRole("checkbox", { name: "Macs get a managed local account" }).check();
    await settings.getByRole("button", { name: "Save" }).click();
    await page.getByRole("region", { name: "Notices" }).getByText("The settings of the setup are saved.").waitFor();
    expect((await browser.app.store.teams.get(team.id))!.settings.mdm).toMatchObject({
      macos_setup: { enable_managed_local_account: true, end_user_local_account_type: "standard" },
    });
  });

  it("a bootstrap package and a license agreement are uploaded and deleted, with refusals in the server's words", async () => {
    const page = await browser.open(`${PATH}&team_id=0`);
    const bootstrap = card(page, "Bootstrap package");
    const file = { mimeType: "application/octet-stream" };
    await bootstrap
      .getByLabel("Signed distribution package (.pkg)")
      .setInputFiles({ name: "setup.pkg", ...file, buffer: Buffer.from("no package") });
    await bootstrap.getByRole("button", { name: "Upload package" }).click();
    await bootstrap.getByRole("alert").first().waitFor();
    await expectAccessible(page, "a refused bootstrap package");
    await bootstrap
      .getByLabel("Signed distribution package (.pkg)")
      .setInputFiles({ name: "setup.pkg", ...file, buffer: xar() });
    await bootstrap.getByRole("button", { name: "Upload package" }).click();
    await bootstrap.getByText("setup.pkg").waitFor();
    await bootstrap.getByRole("link", { name: "0" }).first().waitFor();
    const download = page.waitForEvent("download");
    await bootstrap.getByRole("link", { name: "Download package" }).click();
    await download;
    await bootstrap.getByRole("button", { name: "Delete package" }).click();
    await page.getByRole("alertdialog", { name: "Delete setup.pkg" }).getByRole("button", { name: "Delete" }).click();
    await bootstrap.getByRole("button", { name: "Upload package" }).waitFor();

    const eula = card(page, "End user license agreement");
    await eula
      .getByLabel("License agreement (PDF)")
      .setInputFiles({ name: "terms.pdf", mimeType: "application/pdf", buffer: Buffer.from("%PDF-1.7\n%%EOF\n") });
    await eula.getByRole("button", { name: "Upload agreement" }).click();
    await eula.getByText("terms.pdf").waitFor();
    await eula.getByRole("button", { name: "Delete agreement" }).click();
    await page.getByRole("alertdialog", { name: "Delete terms.pdf" }).getByRole("button", { name: "Delete" }).click();
    await eula.getByRole("button", { name: "Upload agreement" }).waitFor();
  });

  it("the setup assistant profile begins with the default one, and is changed and deleted", async () => {
    const page = await browser.open(`${PATH}&team_id=0`);
    const assistant = card(page, "Setup assistant profile");
    await assistant.getByRole("button", { name: "Add setup assistant profile" }).click();
    const dialog = page.getByRole("dialog", { name: "Add setup assistant profile" });
    const profile = dialog.getByRole("textbox", { name: "Profile" });
    await profile.waitFor();
    await profile.fill("{ not json");
    await dialog.getByRole("button", { name: "Save" }).click();
    await dialog.getByText(/The profile is not JSON/).waitFor();
    await profile.fill('{"profile_name": "Ours", "is_mandatory": true}');
    await dialog.getByRole("button", { name: "Save" }).click();
    await assistant.getByText("Profile as JSON").waitFor();
    await assistant.getByRole("button", { name: "Edit setup assistant profile" }).waitFor();
    await expectAccessible(page, "a setup assistant profile");
    await assistant.getByRole("button", { name: "Delete setup assistant profile" }).click();
    await page
      .getByRole("alertdialog", { name: "Delete setup assistant profile" })
      .getByRole("button", { name: "Delete" })
      .click();
    await assistant.getByRole("button", { name: "Add setup assistant profile" }).waitFor();
  });

  it("is shown to nobody who may not read it", async () => {
    const { user } = await makeUser(browser.app, "observer", { api_only: false });
    const page = await browser.open("/controls", { as: { email: user.email, password: PASSWORD } });
    await page.getByRole("tab", { name: "Scripts" }).waitFor();
    expect(await page.getByRole("tab", { name: "Setup experience" }).count()).toBe(0);
  });
});
