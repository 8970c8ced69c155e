// Policies and queries in the console.
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import type { Team } from "../../../src/api/settings/teams.ts";
import { recordActivity } from "../../../src/server/platform/activities/record.ts";
import { serviceContext } from "../../../src/server/platform/core/context.ts";
import { recordRuns } from "../../../src/server/platform/policy-runs/record.ts";
import { makeUser, PASSWORD } from "../../support/accounts.ts";
import { findChromium } from "../../support/browser.ts";
import { ConsoleBrowser, expectAccessible, listed, rowsOf } from "../../support/console.ts";
import { InputCount } from "../../support/input-count.ts";
import { enter, tabTo } from "../../support/keyboard.ts";
import { makeHost, makeLabel, makePolicy, makeResults, makeTeam } from "../../support/make.ts";

const chromium = findChromium();
const EVIL = `<img src=x onerror=alert(1)>"'</script>`;

describe.skipIf(chromium === null)("policies and queries in the console", () => {
  let browser: ConsoleBrowser;
  let observer: { readonly email: string; readonly password: string };

  beforeAll(async () => {
    browser = await ConsoleBrowser.start(chromium!);
    const { app: t } = browser;
    const host = await makeHost(t, { hostname: EVIL, platform: "ubuntu" });
    const policy = await makePolicy(t, { name: EVIL, description: EVIL, resolution: EVIL });
    await makeResults(t, host.id, { failing: [policy] });
    const { user } = await makeUser(t, "observer", { api_only: false });
    observer = { email: user.email, password: PASSWORD };
  }, 600_000);
  beforeEach(() => browser.app.clock.advance(120_000));
  afterEach(() => browser.finish());
  afterAll(() => browser?.close());

  it("a policy is made, changed and deleted, with the server's errors beside the fields", async () => {
    const page = await browser.open("/policies");
    await listed(page, "1 policy");
    await page.getByRole("button", { name: "Create policy" }).click();
    const dialog = page.getByRole("dialog", { name: "Create policy" });
    await page.locator(".cm-content").waitFor();
    await dialog.getByRole("textbox", { name: "SQL" }).click();
    await page.keyboard.type("SELECT 1 FROM uptime");
    await dialog.getByRole("button", { name: "Create policy" }).click();
    await dialog.getByRole("alert").first().waitFor();
    await expectAccessible(page, "the dialog of a policy, with an error");
    await dialog.getByRole("textbox", { name: "Name" }).fill("Up for a day");
    await dialog.getByRole("button", { name: "Create policy" }).click();
    await listed(page, "2 policies");
    const reply = await browser.app.get("/global/policies?query=Up");
    const { policies } = (await reply.json()) as { policies: { id: number; query: string }[] };
    expect(policies).toMatchObject([{ query: "SELECT 1 FROM uptime" }]);

    await page.getByRole("link", { name: "Up for a day" }).click();
    await page.getByRole("button", { name: "Edit" }).click();
    await page.getByRole("textbox", { name: "Description" }).fill("It runs.");
    await page.getByRole("button", { name: "Save" }).click();
    await page.getByRole("main").getByText("It runs.").waitFor();
    await page.getByRole("button", { name: "Delete" }).click();
    await page
      .getByRole("alertdialog", { name: "Delete Up for a day" })
      .getByRole("button", { name: "Delete" })
      .click();
    await listed(page, "1 policy");
    browser.forgive(/status of 4/);
  });

  it("a policy shows its hosts by their answer, and hostile names as text", async () => {
    const page = await browser.open("/policies");
    await listed(page, "1 policy");
    await expectAccessible(page, "policies");
    await page.getByRole("link", { name: EVIL }).click();
    await page.getByRole("heading", { level: 1, name: EVIL }).waitFor();
    await expect.poll(async () => (await rowsOf(page, "Hosts").catch(() => []))[0]?.[0]).toBe(EVIL);
    expect(await page.getByRole("main").locator("img").count()).toBe(0);
    await expectAccessible(page, "a policy");
    await page.getByRole("tab", { name: "Passing" }).click();
    await page.getByText("No host has answered this way.").waitFor();
  });

  it("a policy is made with the keyboard alone, and the hosts that fail it are seen", async () => {
    const { app: t } = browser;
    const page = await browser.open("/policies");
    await listed(page, "1 policy");
    const input = await InputCount.of(page);
    await enter(page, page.getByRole("button", { name: "Create policy" }));
    const dialog = page.getByRole("dialog", { name: "Create policy" });
    await tabTo(page, dialog.getByRole("textbox", { name: "Name" }));
    await page.keyboard.type("Firewall is on");
    await tabTo(page, dialog.getByRole("textbox", { name: "SQL" }));
    await page.keyboard.type("SELECT 1 FROM alf WHERE global_state >= 1 ");
    await tabTo(page, dialog.getByRole("textbox", { name: "Resolution" }));
    await page.keyboard.type("Turn it on.");
    await enter(page, dialog.getByRole("button", { name: "Create policy" }));
    await listed(page, "2 policies");
    const policy = (await t.store.policies.list()).find(({ name }) => name === "Firewall is on")!;
    const failing = await makeHost(t, { hostname: "ada-mac", platform: "darwin" });
    const passing = await makeHost(t, { hostname: "bea-mac", platform: "darwin" });
    await makeResults(t, failing.id, { failing: [policy] });
    await makeResults(t, passing.id, { passing: [policy] });
    await t.store.policies.update({
      where: { op: "eq", column: "id", value: policy.id },
      set: { failing_host_count: 1, passing_host_count: 1 },
    });

    await enter(page, page.getByRole("link", { name: "Firewall is on" }));
    await page.getByRole("heading", { level: 1, name: "Firewall is on" }).waitFor();
    const failed = page.getByRole("tab", { name: "Failing" });
    await tabTo(page, failed);
    await expect
      .poll(async () => (await rowsOf(page, "Hosts").catch(() => [])).map(([name]) => name))
      .toEqual(["ada-mac"]);
    await page.keyboard.press("ArrowRight");
    await expect
      .poll(async () => (await rowsOf(page, "Hosts").catch(() => [])).map(([name]) => name))
      .toEqual(["bea-mac"]);
    await page.keyboard.press("ArrowLeft");
    await enter(page, page.getByRole("link", { name: "ada-mac" }));
    await page.getByRole("heading", { level: 1, name: "ada-mac" }).waitFor();
    expect((await input.read()).clicks).toBe(0);
    await t.store.policies.delete({ op: "eq", column: "id", value: policy.id });
  });

  it("a policy of a team gets labels, a script to run and other automations", async () => {
    const { app: t } = browser;
    const team = await makeTeam(t, "Engineering");
    await makeLabel(t, "Loaned");
    const body = new FormData();
    body.set("team_id", String(team.id));
    body.set("script", new File(["echo fix"], "fix.sh"));
    const { script_id } = (await (await t.post("/scripts", body)).json()) as { script_id: number };
    const page = await browser.open(`/policies?team_id=${team.id}`);
    await page.getByRole("button", { name: "Create policy" }).click();
    const dialog = page.getByRole("dialog", { name: "Create policy" });
    await dialog.getByRole("textbox", { name: "Name" }).fill("Fixed");
    await page.locator(".cm-content").click();
    await page.keyboard.type("SELECT 1 FROM uptime ");
    await dialog.getByRole("combobox", { name: "Hosts" }).selectOption("Hosts with none of these labels");
    await dialog.getByRole("checkbox", { name: "Loaned" }).check();
    await dialog.getByRole("combobox", { name: "Run script" }).selectOption("fix.sh");
    await dialog.getByRole("checkbox", { name: "Create a calendar event for its user" }).check();
    await dialog.getByText("None of them is on in the settings").waitFor();
    await dialog.getByRole("checkbox", { name: "Send the webhook, tickets and mails" }).check();
    await dialog.getByRole("checkbox", { name: "At each failing answer, not only when it begins to fail" }).check();
    await expectAccessible(page, "the dialog of a team's policy");
    await dialog.getByRole("button", { name: "Create policy" }).click();
    await page.getByRole("link", { name: "Fixed" }).click();
    const about = page.getByRole("region", { name: "About" });
    await about.getByText("run fix.sh, calendar event").waitFor();
    await about.getByText(/none of.*Loaned/).waitFor();
    const policy = (await t.store.policies.list()).find(({ name }) => name === "Fixed")!;
    expect(policy).toMatchObject({ script_id, calendar_events_enabled: true, continuous_automations_enabled: true });

    const hookOf = async () => {
      const { team: saved } = (await (await t.get(`/teams/${team.id}`)).json()) as { team: Team };
      return saved.webhook_settings.failing_policies_webhook;
    };
    await expect.poll(async () => (await hookOf()).policy_ids).toEqual([policy.id]);
    const failing_policies_webhook = {
      enable_failing_policies_webhook: true,
      destination_url: "https://hooks.example.com/failing",
    };
    await t.patch(`/teams/${team.id}`, { webhook_settings: { failing_policies_webhook } });
    const { user } = await makeUser(t, { [team.id]: "maintainer" }, { api_only: false });
    const maintainer = await browser.open(`/policies/${policy.id}?of=${team.id}`, {
      as: { email: user.email, password: PASSWORD },
    });
    const shown = "webhook to https://hooks.example.com/failing";
    await maintainer.getByRole("region", { name: "About" }).getByText(shown).waitFor();
    await maintainer.getByRole("button", { name: "Edit" }).click();
    await maintainer.getByText(`It is reported. Now: ${shown}.`).waitFor();
    expect(await maintainer.getByRole("checkbox", { name: "Send the webhook, tickets and mails" }).count()).toBe(0);

    await page.reload();
    await about.getByText(shown).waitFor();
    await page.getByRole("button", { name: "Edit" }).click();
    const editing = page.getByRole("dialog", { name: "Edit Fixed" });
    const reported = editing.getByRole("checkbox", { name: "Send the webhook, tickets and mails" });
    await expect.poll(() => reported.isChecked()).toBe(true);
    await reported.uncheck();
    await expect.poll(() => editing.getByRole("combobox", { name: "Run script" }).inputValue()).toBe(String(script_id));
    await editing.getByRole("combobox", { name: "Run script" }).selectOption("nothing");
    await editing.getByRole("combobox", { name: "Hosts" }).selectOption("All hosts");
    await editing.getByRole("button", { name: "Save" }).click();
    await editing.waitFor({ state: "detached" });
    const reply = await t.get(`/teams/${team.id}/policies/${policy.id}`);
    const { policy: saved } = (await reply.json()) as { policy: object };
    expect(saved).not.toHaveProperty("run_script");
    expect(saved).toMatchObject({ calendar_events_enabled: true });
    expect(await hookOf()).toMatchObject({ ...failing_policies_webhook, policy_ids: [] });
    expect(saved).not.toHaveProperty("labels_exclude_any");
  });

  it("what automations of a policy did is on its page and on those of its hosts, and its results can be deleted", async () => {
    const { app: t } = browser;
    const policy = await makePolicy(t, { name: "Backup runs" });
    const host = await makeHost(t, { hostname: "cleo-mac" });
    await makeResults(t, host.id, { failing: [policy] });
    const ctx = serviceContext(t.services);
    const about = { policy_id: policy.id, policy_name: policy.name, error_response: "the destination answered 500" };
    const activityId = await recordActivity(ctx, "failed_automation_webhook", about);
    await recordRuns(ctx, { policyId: policy.id, hostIds: [host.id], activityId, isSuccess: false });
    const page = await browser.open(`/policies/${policy.id}?tab=runs`);
    await listed(page, "1 run");
    const [row] = await rowsOf(page, "Automation runs");
    expect(row!.join(" ")).toMatch(/cleo-mac.*failed to send the webhook.*error/);
    await expectAccessible(page, "the runs of a policy's automations");
    await page.getByRole("link", { name: "cleo-mac" }).click();
    await page.getByRole("heading", { level: 1, name: "cleo-mac" }).waitFor();
    await page.getByRole("cell", { name: /error webhook.*the destination answered 500/ }).waitFor();

    const last = await browser.open(`/policies/${policy.id}`);
    await last.getByRole("button", { name: "Reset results" }).click();
    await last.getByRole("alertdialog").getByRole("button", { name: "Reset results" }).click();
    await last.getByText("Backup runs: the results are deleted.").waitFor();
    expect((await t.store.policies.get(policy.id))!.result_id).not.toBe(policy.result_id);
    await t.store.policies.delete({ op: "eq", column: "id", value: policy.id });
  });

  it("a query is saved, copied and deleted", async () => {
    const page = await browser.open("/queries");
    await page.getByRole("button", { name: "Create query" }).click();
    const dialog = page.getByRole("dialog", { name: "Create query" });
    await dialog.getByRole("textbox", { name: "Name" }).fill(EVIL);
    await dialog.getByRole("textbox", { name: "SQL" }).click();
    await page.keyboard.type("SELECT * FROM upt");
    // Escape closes the list of completions, and then asks before what was typed is lost.
    await page.getByRole("listbox").first().waitFor();
    for (const key of ["Escape", "Escape"]) await page.keyboard.press(key);
    await dialog.getByRole("button", { name: "Keep editing" }).click();
    await dialog.getByRole("spinbutton", { name: "Runs every (seconds)" }).fill("3600");
    await dialog.getByRole("combobox", { name: "Hosts" }).selectOption("Hosts with any of these labels");
    await dialog.getByRole("checkbox", { name: "Loaned" }).check();
    await expectAccessible(page, "the dialog of a query");
    await dialog.getByRole("button", { name: "Create query" }).click();
    await listed(page, "1 query");
    expect((await rowsOf(page, "Queries"))[0]!.slice(0, 2)).toEqual([EVIL, "1 hour"]);
    await page.getByRole("link", { name: EVIL }).click();
    await page.getByText("No host has sent results yet.").waitFor();
    await page
      .getByRole("region", { name: "About" })
      .getByText(/any of.*Loaned/)
      .waitFor();
    await expectAccessible(page, "a query");
    await page.getByRole("button", { name: "Copy" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Create query" }).click();
    await page.goto(`${browser.url}/queries`);
    await listed(page, "2 queries");
    await page.getByRole("checkbox", { name: "Select all on this page" }).check();
    await page.getByRole("region", { name: "Selection" }).getByRole("button", { name: "Delete" }).click();
    await page.getByRole("alertdialog", { name: "Delete 2 queries" }).getByRole("button", { name: "Delete" }).click();
    await listed(page, "0 queries");
  });

  it("observers see both and change neither", async () => {
    const page = await browser.open("/policies", { as: observer });
    await listed(page, "1 policy");
    expect(await page.getByRole("button", { name: /Create|Delete/ }).count()).toBe(0);
    expect(await page.getByRole("checkbox").count()).toBe(0);
    await page.getByRole("link", { name: EVIL }).click();
    await page.getByRole("heading", { level: 1, name: EVIL }).waitFor();
    expect(await page.getByRole("button", { name: /Edit|Delete|Reset/ }).count()).toBe(0);
    await page.goto(`${browser.url}/queries`);
    await listed(page, "0 queries");
    expect(await page.getByRole("button", { name: /Create|Delete/ }).count()).toBe(0);
  });
});
