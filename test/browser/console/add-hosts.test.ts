// The page of the console on which hosts are added.
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { makeUser, PASSWORD } from "../../support/accounts.ts";
import { needAgentFile } from "../../support/agent-file.ts";
import { findChromium } from "../../support/browser.ts";
import { ConsoleBrowser, expectAccessible, rowsOf } from "../../support/console.ts";
import { makeTeam } from "../../support/make.ts";
import { agentCall } from "../../support/managed.ts";

const chromium = findChromium();
const EVIL = `<img src=x onerror=alert(1)>"'</script>`;

describe.skipIf(chromium === null)("adding hosts in the console", () => {
  let browser: ConsoleBrowser;
  let teamId: number;

  beforeAll(async () => {
    await needAgentFile();
    browser = await ConsoleBrowser.start(chromium!);
    teamId = (await makeTeam(browser.app, EVIL)).id;
    await makeTeam(browser.app, "Beta");
  }, 600_000);
  afterEach(() => browser.finish());
  afterAll(() => browser?.close());

  it("shows commands with a token of the team, and the hosts that enroll with it", async () => {
    const { app: t } = browser;
    const page = await browser.open("/hosts");
    await page.getByRole("link", { name: "Add hosts" }).first().click();
    await page.getByRole("heading", { level: 1, name: "Add hosts" }).waitFor();
    expect(await t.store.enrollTokens.count()).toBe(0);
    await page.getByRole("combobox", { name: "Team", exact: true }).selectOption(EVIL);
    await page.getByRole("combobox", { name: "Can be used for" }).selectOption("an hour");
    await page.getByRole("button", { name: "Show commands" }).click();
    const linux = page.getByRole("region", { name: "Linux, in a terminal" });
    const command = (await linux.locator("pre").textContent())!;
    expect(command).toContain(`curl -fsSL ${browser.url}/enroll/enroll.sh | sh`);
    expect(
      await page
        .getByRole("region", { name: /^Windows/ })
        .locator("pre")
        .textContent(),
    ).toContain("-Token");
    await expectAccessible(page, "add hosts");

    const [, token] = /--token ([\w-]+)/.exec(command)!;
    const host = { enroll_secret: token, hardware_uuid: "NEW-1", platform: "ubuntu", hostname: EVIL };
    expect((await agentCall(t, "/enroll", host)).status).toBe(200);
    await page.reload();
    await expect.poll(async () => (await rowsOf(page, "New hosts")).length).toBe(1);
    expect((await t.store.hosts.list())[0]!.team_id).toBe(teamId);
  });

  it("is offered to those who may read enroll secrets, for their teams", async () => {
    const { user: observer } = await makeUser(browser.app, "observer", { api_only: false });
    const looking = await browser.open("/hosts/new", { as: { email: observer.email, password: PASSWORD } });
    await looking.getByText("Your role does not allow it").waitFor();
    expect(await looking.getByRole("button", { name: "Show commands" }).count()).toBe(0);

    const { user } = await makeUser(browser.app, { [teamId]: "maintainer" }, { api_only: false });
    const page = await browser.open("/hosts/new", { as: { email: user.email, password: PASSWORD } });
    await page.getByRole("button", { name: "Show commands" }).click();
    await page.getByText("Copy the command now").waitFor();
    expect(await page.getByRole("combobox", { name: "Team", exact: true }).count()).toBe(0);
    const tokens = await browser.app.store.enrollTokens.list();
    expect(tokens.at(-1)!.team_id).toBe(teamId);
  });
});
