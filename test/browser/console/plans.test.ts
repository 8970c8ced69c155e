// Plans in the console: what a form would do to hosts, before it is saved.
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { makeTeam, makeUser, PASSWORD } from "../../support/accounts.ts";
import { findChromium } from "../../support/browser.ts";
import { ConsoleBrowser, expectAccessible, listed, rowsOf } from "../../support/console.ts";
import { makeHost } from "../../support/make.ts";

const chromium = findChromium();
const EVIL = `<img src=x onerror=alert(1)>"'</script>`;

describe.skipIf(chromium === null)("plans in the console", () => {
  let browser: ConsoleBrowser;
  let team: number;

  beforeAll(async () => {
    browser = await ConsoleBrowser.start(chromium!);
    const { app: t } = browser;
    team = await makeTeam(t, "Sales");
    await makeHost(t, { hostname: "ada-mac", platform: "darwin" });
    await makeHost(t, { hostname: EVIL, display_name: EVIL, platform: "darwin" });
    await makeHost(t, { hostname: "win-1", platform: "windows" });
    await t.post("/global/policies", { name: "Up", query: "SELECT 1", platform: "darwin" });
  }, 600_000);
  afterEach(() => browser.finish());
  afterAll(() => browser?.close());

  it("show the hosts of a policy before it is saved; the change is applied from there", async () => {
    const page = await browser.open("/policies");
    await listed(page, "1 policy");
    await page.getByRole("button", { name: "Create policy" }).click();
    const form = page.getByRole("dialog", { name: "Create policy" });
    await form.getByRole("textbox", { name: "Name" }).fill("New");
    await form.getByRole("textbox", { name: "Platforms" }).fill("darwin");
    await form.getByRole("textbox", { name: "SQL" }).click();
    await page.keyboard.type("SELECT 1 FROM users");
    await form.getByRole("button", { name: "Plan" }).click();
    const dialog = page.getByRole("dialog", { name: "Plan: New" });
    const change = dialog.getByRole("region", { name: 'policy "New"', exact: true });
    await change.getByText("2 hosts get it").waitFor();
    await change.getByText("1 host cannot have it: they have another platform").waitFor();
    expect(await change.getByRole("link").allTextContents()).toEqual([EVIL, "ada-mac", "win-1"]);
    await expectAccessible(page, "plan");
    await dialog.getByRole("button", { name: "As YAML" }).click();
    await dialog.getByRole("region", { name: "changes.yml" }).getByText("apiVersion: v1").waitFor();
    await dialog.getByRole("button", { name: "Apply" }).click();
    await page.getByRole("region", { name: "Notices" }).getByText("The plan for New is applied.").waitFor();
    await listed(page, "2 policies");
    expect(await browser.app.store.policies.count()).toBe(2);
  });

  it("are saved for later, collected, and applied on the page Changes by keyboard", async () => {
    browser.app.clock.advance(120_000);
    const { app: t } = browser;
    await t.post("/queries", { name: "Q", query: "SELECT 1" });
    const page = await browser.open("/policies");
    await page.getByRole("link", { name: "Up", exact: true }).click();
    await page.getByRole("button", { name: "Edit" }).click();
    const form = page.getByRole("dialog", { name: "Edit Up" });
    await form.getByRole("textbox", { name: "Description" }).fill(EVIL);
    await form.getByRole("button", { name: "Plan" }).click();
    const dialog = page.getByRole("dialog", { name: "Plan: Up" });
    expect(await rowsAfter(page, 'Fields of policy "Up"')).toEqual([["description", "", EVIL]]);
    await dialog.getByRole("button", { name: "Save for later" }).click();
    await page
      .getByRole("region", { name: "Notices" })
      .getByText(/It is kept as plan/)
      .waitFor();

    await page.goto(`${browser.url}/queries`);
    await page.getByRole("link", { name: "Q", exact: true }).click();
    await page.getByRole("button", { name: "Edit" }).click();
    const query = page.getByRole("dialog", { name: "Edit Q" });
    await query.getByRole("spinbutton", { name: "Runs every (seconds)" }).fill("60");
    await query.getByRole("button", { name: "Plan" }).click();
    const second = page.getByRole("dialog", { name: "Plan: Q" });
    await second.getByRole("combobox", { name: "Saved for later in" }).selectOption({ index: 1 });
    await second.getByRole("button", { name: "Save for later" }).click();
    await page
      .getByRole("region", { name: "Notices" })
      .getByText(/It is kept as plan/)
      .waitFor();

    await page.goto(`${browser.url}/changes?tab=plans`);
    await listed(page, "2 plans");
    expect((await rowsOf(page, "Plans"))[0]!.slice(0, 3)).toEqual(["Up", "pending", "2 changed"]);
    await expectAccessible(page, "plans");
    await page.getByRole("button", { name: "Up", exact: true }).focus();
    await page.keyboard.press("Enter");
    const saved = page.getByRole("dialog", { name: "Plan: Up" });
    await saved.getByRole("region", { name: 'query "Q"', exact: true }).waitFor();
    await expectAccessible(page, "saved plan");
    await saved.getByRole("button", { name: "Apply" }).press("Enter");
    await page.getByRole("alertdialog", { name: "Apply Up" }).getByRole("button", { name: "Apply" }).press("Enter");
    await page.getByRole("region", { name: "Notices" }).getByText("Up is applied.").waitFor();
    expect(await t.store.queries.list({})).toMatchObject([{ interval: 60 }]);
    await page.getByRole("button", { name: "Delete: Up" }).click();
    await page.getByRole("alertdialog", { name: "Delete Up" }).getByRole("button", { name: "Delete" }).click();
    await listed(page, "1 plan");
  });

  it("say in the server's words what it refuses, and why a change cannot be planned", async () => {
    browser.app.clock.advance(120_000);
    const { app: t } = browser;
    const maintainer = await makeUser(t, { [team]: "maintainer" }, { api_only: false });
    const page = await browser.open(`/policies?team_id=${team}`, {
      as: { email: maintainer.user.email, password: PASSWORD },
    });
    await page.getByRole("button", { name: "Create policy" }).click();
    const form = page.getByRole("dialog", { name: "Create policy" });
    await form.getByRole("textbox", { name: "Name" }).fill("Wrong");
    await form.getByRole("textbox", { name: "Platforms" }).fill("amiga");
    await form.getByRole("textbox", { name: "SQL" }).click();
    await page.keyboard.type("SELECT 1");
    await form.getByRole("button", { name: "Plan" }).click();
    const dialog = page.getByRole("dialog", { name: "Plan: Wrong" });
    await dialog
      .getByRole("alert")
      .getByText(/platform must be a comma-separated list/)
      .waitFor();
    expect(await dialog.getByRole("button", { name: "Apply" }).count()).toBe(0);
    await page.keyboard.press("Escape");
    await form.getByRole("textbox", { name: "Platforms" }).fill("darwin");
    await form.getByRole("button", { name: "Plan" }).click();
    await dialog.getByText("No hosts are affected.").waitFor();
    await dialog.getByRole("button", { name: "Apply" }).click();
    await page.getByRole("region", { name: "Notices" }).getByText("The plan for Wrong is applied.").waitFor();
    expect(await t.store.policies.count({ op: "eq", column: "team_id", value: team })).toBe(1);

    await page.getByRole("link", { name: "Wrong", exact: true }).click();
    await page.getByRole("button", { name: "Edit" }).click();
    const edit = page.getByRole("dialog", { name: "Edit Wrong" });
    await edit.getByRole("textbox", { name: "Name" }).fill("Right");
    await edit.getByRole("button", { name: "Plan" }).click();
    await edit
      .getByRole("alert")
      .getByText(/cannot give another name/)
      .waitFor();
  });

  it("show who gets and who loses a label", async () => {
    browser.app.clock.advance(120_000);
    const page = await browser.open("/labels");
    await page.getByRole("button", { name: "Create label" }).click();
    const form = page.getByRole("dialog", { name: "Create label" });
    await form.getByRole("textbox", { name: "Name" }).fill("Loaned");
    await form.getByRole("combobox", { name: "Kind" }).selectOption({ label: "Manual: hosts that are named" });
    await form.getByRole("textbox", { name: "Hosts" }).fill("ada-mac");
    await form.getByRole("button", { name: "Plan", exact: true }).click();
    const dialog = page.getByRole("dialog", { name: "Plan: Loaned" });
    await dialog.getByText("1 host gets it").waitFor();
    await dialog.getByRole("button", { name: "Apply" }).click();
    await page.getByRole("region", { name: "Notices" }).getByText("The plan for Loaned is applied.").waitFor();
    await page.getByRole("button", { name: "Edit Loaned" }).click();
    const edit = page.getByRole("dialog", { name: "Edit Loaned" });
    await edit.getByRole("textbox", { name: "Hosts" }).fill("win-1");
    await edit.getByRole("button", { name: "Plan", exact: true }).click();
    await dialog.getByText("1 host gets it").waitFor();
    await dialog.getByText("1 host loses it").waitFor();
  });

  const rowsAfter = async (page: Parameters<typeof rowsOf>[0], table: string) => {
    await page.getByRole("table", { name: table, exact: true }).waitFor();
    return rowsOf(page, table);
  };

  it("show what settings and teams change before they are saved, without secrets", async () => {
    browser.app.clock.advance(120_000);
    const { app: t } = browser;
    const page = await browser.open("/settings/mail");
    const main = page.getByRole("main");
    await main.getByRole("textbox", { name: "Sender address" }).fill("svc@example.com");
    await main.getByLabel("Password").fill("a-secret-of-mail-4711");
    await main.getByRole("button", { name: "Plan" }).click();
    const mail = page.getByRole("dialog", { name: "Plan: Mail" });
    const fields = mail.getByRole("table", { name: 'Fields of config "smtp_settings"' });
    await fields.getByText("svc@example.com").waitFor();
    await fields.getByText("(another secret)").waitFor();
    expect(await mail.textContent()).not.toContain("4711");
    await mail.getByRole("button", { name: "Apply" }).click();
    await page.getByText("The plan for Mail is applied.").waitFor();
    const { smtp_settings } = (await (await t.get("/config")).json()) as { smtp_settings: Record<string, unknown> };
    expect(smtp_settings).toMatchObject({ sender_address: "svc@example.com", password: "********" });
    const { plans } = (await (await t.get("/plans?state=applied")).json()) as { plans: { id: number }[] };
    for (const { id } of plans) expect(await (await t.get(`/plans/${id}`)).text()).not.toContain("4711");

    await page.goto(`${browser.url}/settings/teams`);
    await page.getByRole("button", { name: "Create team" }).click();
    const form = page.getByRole("dialog", { name: "Create team" });
    await form.getByRole("textbox", { name: "Name" }).fill("Office");
    await form.getByRole("button", { name: "Plan" }).click();
    const created = page.getByRole("dialog", { name: "Plan: Office" });
    await created.getByRole("heading", { name: 'Create team "Office"' }).waitFor();
    await created.getByRole("button", { name: "Apply" }).click();
    await page.getByRole("button", { name: "Delete: Office" }).click();
    await page.getByRole("alertdialog").getByRole("button", { name: "Plan" }).click();
    await created.getByRole("heading", { name: 'Delete team "Office"' }).waitFor();
    await created.getByRole("button", { name: "Apply" }).click();
    await page.getByRole("button", { name: "Delete: Office" }).waitFor({ state: "detached" });
    expect(await t.store.teams.first({ where: { op: "eq", column: "name", value: "Office" } })).toBeNull();

    // Names are not planned: to a plan, an object with another name is another object.
    await page.getByRole("button", { name: "Edit: Sales" }).click();
    const edit = page.getByRole("dialog", { name: "Edit Sales" });
    await edit.getByRole("textbox", { name: "Name" }).fill("Selling");
    await edit.getByRole("button", { name: "Plan" }).click();
    await edit.getByText("A plan cannot give another name.").waitFor();
  });
});
