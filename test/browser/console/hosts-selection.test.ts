// What is done with many hosts at once from the list of the console.
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { makeUser, PASSWORD } from "../../support/accounts.ts";
import { findChromium } from "../../support/browser.ts";
import { ConsoleBrowser, expectAccessible, listed } from "../../support/console.ts";
import { makeHost, makeTeam } from "../../support/make.ts";

const chromium = findChromium();
const EVIL = `<img src=x onerror=alert(1)>"'</script>`;

describe.skipIf(chromium === null)("selected hosts in the console", () => {
  let browser: ConsoleBrowser;
  let teamId: number;

  beforeAll(async () => {
    browser = await ConsoleBrowser.start(chromium!);
    const { app: t } = browser;
    teamId = (await makeTeam(t, EVIL)).id;
    for (let i = 0; i < 12; i++) await makeHost(t, { hostname: `old-${String(i).padStart(2, "0")}` });
    for (let i = 0; i < 60; i++) await makeHost(t, { hostname: `new-${String(i).padStart(2, "0")}` });
    await makeHost(t, { hostname: EVIL, platform: "ubuntu", team_id: teamId });
  }, 600_000);
  afterEach(() => browser.finish());
  afterAll(() => browser?.close());

  const hostNames = async () => (await browser.app.store.hosts.list()).map(({ display_name }) => display_name);

  it("are deleted after their number was typed, and not if they are others by then", async () => {
    const page = await browser.open("/hosts?query=old-");
    await listed(page, "12 hosts");
    await page.getByRole("checkbox", { name: "Select all on this page" }).check();
    await page.getByRole("region", { name: "Selection" }).getByRole("button", { name: "Delete" }).click();
    const dialog = page.getByRole("alertdialog", { name: "Delete 12 hosts" });
    await dialog.waitFor();
    expect(await dialog.getByRole("list", { name: "Hosts" }).textContent()).toContain("and 2 other hosts");
    await expectAccessible(page, "delete");
    const button = dialog.getByRole("button", { name: "Delete" });
    expect(await button.isDisabled()).toBe(true);
    const gone = (await browser.app.store.hosts.list()).find(({ hostname }) => hostname === "old-03")!;
    expect((await browser.app.delete(`/hosts/${gone.id}`)).status).toBe(200);
    await dialog.getByRole("textbox", { name: "Type 12 to confirm" }).fill("12");
    await button.click();
    await dialog
      .getByRole("alert")
      .getByText(/12 hosts.*11/)
      .waitFor();
    expect((await hostNames()).filter((name) => name.startsWith("old-"))).toHaveLength(11);
    await dialog.getByRole("button", { name: "Cancel" }).click();

    await page.getByRole("button", { name: "Clear", exact: true }).click();
    await listed(page, "11 hosts");
    await page.getByRole("checkbox", { name: "Select all on this page" }).check();
    await page.getByRole("region", { name: "Selection" }).getByRole("button", { name: "Delete" }).click();
    await page.getByRole("textbox", { name: "Type 11 to confirm" }).fill("11");
    await page.getByRole("alertdialog").getByRole("button", { name: "Delete" }).click();
    await page.getByRole("region", { name: "Notices" }).getByText("11 hosts are deleted.").waitFor();
    await listed(page, "No hosts match");
    expect(await page.getByRole("region", { name: "Selection" }).textContent()).toContain("0 selected");
    expect((await hostNames()).filter((name) => name.startsWith("old-"))).toEqual([]);
  });

  it("are moved to a team, all that match the filters", async () => {
    const page = await browser.open("/hosts?query=new-");
    await listed(page, "60 hosts");
    await page.getByRole("checkbox", { name: "Select all on this page" }).check();
    await page.getByRole("button", { name: "Select all 60 matching" }).click();
    await page.getByRole("region", { name: "Selection" }).getByRole("button", { name: "Transfer" }).click();
    await page.getByRole("dialog", { name: "Transfer 60 hosts to a team" }).waitFor();
    await expectAccessible(page, "transfer");
    const [request] = await Promise.all([
      page.waitForRequest("**/hosts/transfer/filter"),
      page.getByRole("option", { name: EVIL }).click(),
    ]);
    expect(await request.allHeaders()).toMatchObject({ "x-expected-count": "60" });
    await page.getByRole("region", { name: "Notices" }).getByText("60 hosts moved to").waitFor();
    const moved = (await browser.app.store.hosts.list()).filter(({ team_id }) => team_id === teamId);
    expect(moved).toHaveLength(61);
  });

  it("run a script of their team", async () => {
    const form = new FormData();
    form.set("team_id", String(teamId));
    form.set("script", new File(["echo 1"], "clean.sh"));
    expect((await browser.app.post("/scripts", form)).status).toBe(200);
    const page = await browser.open(`/hosts?team_id=${teamId}&query=${encodeURIComponent("<img")}`);
    await listed(page, "1 host");
    await page.getByRole("checkbox", { name: `Select ${EVIL}` }).check();
    await page.getByRole("region", { name: "Selection" }).getByRole("button", { name: "Run script" }).click();
    const dialog = page.getByRole("alertdialog", { name: `Run script on ${EVIL}` });
    await dialog.getByRole("combobox", { name: "Script" }).selectOption("clean.sh");
    await expectAccessible(page, "run script");
    await dialog.getByRole("button", { name: "Run" }).click();
    await page.getByRole("region", { name: "Notices" }).getByText("clean.sh: the run").waitFor();
    const { batch_executions } = (await (await browser.app.get(`/scripts/batch?team_id=${teamId}`)).json()) as {
      batch_executions: { script_name: string; targeted_host_count: number }[];
    };
    expect(batch_executions).toMatchObject([{ script_name: "clean.sh", targeted_host_count: 1 }]);
  });

  it("are only looked at by observers", async () => {
    const { user } = await makeUser(browser.app, "observer", { api_only: false });
    const page = await browser.open("/hosts?query=new-", { as: { email: user.email, password: PASSWORD } });
    await listed(page, "60 hosts");
    for (const name of ["Delete", "Transfer", "Run script"])
      expect(await page.getByRole("button", { name }).count(), name).toBe(0);
    expect(await page.getByRole("link", { name: "Add hosts" }).count()).toBe(0);
  });
});
