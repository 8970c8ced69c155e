// What is done with many hosts at once in the console: labels, locks, wipes, installations, and the operations that wait.
import type { Locator, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { and, eq, oneOf } from "../../../src/server/platform/store/query.ts";
import { makeUser, PASSWORD } from "../../support/accounts.ts";
import { findChromium } from "../../support/browser.ts";
import { ConsoleBrowser, expectAccessible, listed, rowsOf, type SignIn } from "../../support/console.ts";
import { InputCount } from "../../support/input-count.ts";
import { tabTo } from "../../support/keyboard.ts";
import { makeHost, makeOperation, makeTeam } from "../../support/make.ts";
import { offerScript } from "../../support/setups.ts";

const chromium = findChromium();
const EVIL = `<img src=x onerror=alert(1)>"'</script>`;

/** A Linux host with an agent, which runs scripts. */
async function managed({ app: t }: ConsoleBrowser, hostname: string, team_id: number | null = null): Promise<number> {
  const { id } = await makeHost(t, { hostname, display_name: hostname, platform: "ubuntu", team_id });
  await t.store.managedAgents.insert({ id, agent_key_hash: `of ${id}`, enrolled_at: t.clock.iso() });
  return id;
}

async function press(page: Page, target: Locator, key = "Enter"): Promise<void> {
  await tabTo(page, target);
  await page.keyboard.press(key);
}

const selection = (page: Page) => page.getByRole("region", { name: "Selection" });
const notices = (page: Page) => page.getByRole("region", { name: "Notices" });

async function selectAll(page: Page, query: string, count: number): Promise<void> {
  await page.goto(new URL(`/hosts?query=${encodeURIComponent(query)}`, page.url()).href);
  await listed(page, `${count} host`);
  await page.getByRole("checkbox", { name: "Select all on this page" }).check();
  await selection(page).getByText(`${count} selected`).waitFor();
}

const open = async (page: Page, button: string, title: string, role: "alertdialog" | "dialog" = "alertdialog") => {
  await selection(page).getByRole("button", { name: button, exact: true }).click();
  const dialog = page.getByRole(role, { name: title });
  await dialog.waitFor();
  return dialog;
};

describe.skipIf(chromium === null)("many hosts in the console", () => {
  let browser: ConsoleBrowser;
  let teamId: number;

  beforeAll(async () => {
    browser = await ConsoleBrowser.start(chromium!);
    const { app: t } = browser;
    teamId = (await makeTeam(t, "Field")).id;
    for (let i = 0; i < 12; i++) await managed(browser, `van-${String(i).padStart(2, "0")}`);
    for (const name of ["Loaners", "Old", EVIL]) expect((await t.post("/labels", { name })).status).toBe(200);
    for (const name of ["box-1", "box-2", "box-3"]) await managed(browser, name);
    await makeHost(t, { hostname: "box-bare", display_name: "box-bare", platform: "ubuntu" });
    await makeHost(t, { hostname: EVIL, display_name: EVIL, platform: "chrome" });
  }, 600_000);
  afterEach(async () => {
    browser.app.clock.advance(120_000);
    await browser.finish();
  });
  afterAll(() => browser?.close());

  const idOf = async (name: string) => (await browser.app.store.hosts.first({ where: eq("display_name", name) }))!.id;
  const hostsWithLabel = async (name: string) => {
    const { store } = browser.app;
    const label = (await store.labels.first({ where: eq("name", name) }))!;
    const members = await store.labelMembers.list({ where: eq("label_id", label.id) });
    const hosts = await store.hosts.getMany(members.map(({ host_id }) => host_id));
    return hosts.map(({ display_name }) => display_name).sort();
  };
  const operationsOf = async (kind: string, ...names: string[]) => {
    const ids = await Promise.all(names.map(idOf));
    return browser.app.store.operations.list({ where: and(eq("kind", kind), oneOf("host_id", ids)) });
  };

  it("are found, filtered, selected and labelled with the keyboard alone", async () => {
    const page = await browser.open("/");
    const input = await InputCount.of(page);
    await page.getByRole("heading", { level: 1, name: "Dashboard" }).waitFor();
    await page.keyboard.press("Control+k");
    await page.getByRole("combobox", { name: "Search" }).waitFor();
    await page.keyboard.type("van-03");
    await page.getByRole("option", { name: /van-03/ }).waitFor();
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { level: 1, name: "van-03" }).waitFor();
    for (const key of ["g", "h"]) await page.keyboard.press(key);
    await listed(page, /\d+ hosts/);
    await tabTo(page, page.getByRole("searchbox", { name: "Search" }));
    await page.keyboard.type("van-");
    await listed(page, "12 hosts");
    await press(page, page.getByRole("button", { name: "Add filter" }));
    await page.getByRole("dialog", { name: "Add filter" }).waitFor();
    await page.keyboard.type("Status");
    await page.keyboard.press("Enter");
    await page.getByRole("dialog", { name: "Status" }).getByRole("option", { name: "enrolled" }).waitFor();
    await page.keyboard.type("enrolled within");
    await page.keyboard.press("Enter");
    await page.getByRole("list", { name: "Active filters" }).getByText("enrolled within a day").waitFor();
    await listed(page, "12 hosts");
    await press(page, page.getByRole("checkbox", { name: "Select all on this page" }), "Space");
    await selection(page).getByText("12 selected").waitFor();
    await press(page, selection(page).getByRole("button", { name: "Labels" }));
    const dialog = page.getByRole("alertdialog", { name: "Label 12 hosts" });
    await dialog.waitFor();
    expect(await dialog.getByRole("list", { name: "Hosts" }).textContent()).toContain("and 2 other hosts");
    expect(await dialog.getByRole("button", { name: "Save" }).isDisabled(), "no label is chosen").toBe(true);
    await press(page, dialog.getByRole("checkbox", { name: "Add Loaners" }), "Space");
    await press(page, dialog.getByRole("checkbox", { name: "Add Old" }), "Space");
    await press(page, dialog.getByRole("checkbox", { name: "Remove Old" }), "Space");
    expect(await dialog.getByRole("checkbox", { name: "Add Old" }).isChecked(), "either add or remove").toBe(false);
    await expect.poll(() => dialog.getByRole("button", { name: "Save" }).isEnabled()).toBe(true);
    await press(page, dialog.getByRole("button", { name: "Save" }));
    await notices(page).getByText("Labels are changed on 12 hosts.").waitFor();
    expect(await hostsWithLabel("Loaners")).toHaveLength(12);
    expect(await hostsWithLabel("Old")).toEqual([]);

    await press(page, notices(page).getByRole("link", { name: /^Task \d+$/ }));
    const details = page.getByRole("region", { name: "Details" });
    await details.getByRole("heading", { name: /label hosts/ }).waitFor();
    const hosts = await rowsOf(page, "Hosts of the task");
    expect(hosts).toHaveLength(12);
    expect(hosts[0]).toEqual(["van-00", "done", ""]);
    await expectAccessible(page, "a task");
    expect((await input.read()).clicks).toBe(0);
  });

  it("are locked after their number was typed; who is left out is said before; and it can be undone", async () => {
    const page = await browser.open("/hosts");
    await selectAll(page, "box-", 4);
    const dialog = await open(page, "Lock", "Lock 4 hosts");
    await dialog.getByText("1 host left out").waitFor();
    expect(await dialog.getByRole("list", { name: "Left out" }).textContent()).toBe(
      "the host has no managed agent, which runs scripts: box-bare",
    );
    expect(await dialog.getByRole("list", { name: "Hosts" }).getByRole("listitem").allTextContents()).toEqual([
      "box-1",
      "box-2",
      "box-3",
    ]);
    await expectAccessible(page, "lock");
    const confirm = dialog.getByRole("button", { name: "Lock" });
    expect(await confirm.isDisabled()).toBe(true);
    await dialog.getByRole("textbox", { name: "Type 4 to confirm" }).fill("4");
    await dialog.getByRole("textbox", { name: "Reason" }).fill(EVIL);
    const [request] = await Promise.all([page.waitForRequest("**/hosts/lock"), confirm.click()]);
    expect(await request.allHeaders()).toMatchObject({ "x-expected-count": "4" });
    await notices(page).getByText("3 hosts: locked as soon as online. 1 host left out.").waitFor();
    expect(await operationsOf("lock", "box-1", "box-2", "box-3")).toMatchObject([
      { state: "queued" },
      { state: "queued" },
      { state: "queued" },
    ]);
    const [activity] = await browser.app.store.activities.list({ where: eq("type", "locked_host") });
    expect(activity!.details).toMatchObject({ reason: EVIL });

    // One of them has begun meanwhile: that one cannot be undone.
    const [begun] = await operationsOf("lock", "box-2");
    const { store } = browser.app;
    await store.operations.update({ where: eq("id", begun!.id), set: { state: "sent", attempts: 1 } });
    await notices(page).getByRole("button", { name: "Undo" }).click();
    await notices(page).getByText("Cancelled on 2 hosts. It is too late for 1 host.").waitFor();
    const states = (await operationsOf("lock", "box-1", "box-2", "box-3")).map(({ state }) => state);
    expect(states).toEqual(["cancelled", "sent", "cancelled"]);
    expect(await store.hostActions.get(await idOf("box-1"))).toMatchObject({ pending: "" });
  });

  it("are not touched if they are others by now: what has changed is said, and one can go on", async () => {
    const page = await browser.open("/hosts");
    for (const name of ["gone-1", "gone-2", "gone-3"]) await managed(browser, name);
    await selectAll(page, "gone-", 3);
    const dialog = await open(page, "Wipe", "Wipe 3 hosts");
    await dialog.getByRole("textbox", { name: "Type 3 to confirm" }).fill("3");
    const confirm = dialog.getByRole("button", { name: "Wipe" });
    await expect.poll(() => confirm.isEnabled()).toBe(true);
    expect((await browser.app.delete(`/hosts/${await idOf("gone-2")}`)).status).toBe(200);
    await confirm.click();
    await dialog
      .getByRole("alert")
      .getByText(/3 hosts.*2/)
      .waitFor();
    await dialog.getByText("it was 3 hosts, and is 2 hosts now").waitFor();
    expect(await operationsOf("wipe", "gone-1", "gone-3")).toEqual([]);
    await dialog.getByRole("button", { name: "Continue with 2 hosts" }).click();
    const again = page.getByRole("alertdialog", { name: "Wipe 2 hosts" });
    await again.getByRole("textbox", { name: "Type 2 to confirm" }).fill("2");
    await again.getByRole("button", { name: "Wipe" }).click();
    await notices(page).getByText("2 hosts: erased as soon as online.").waitFor();
    expect(await operationsOf("wipe", "gone-1", "gone-3")).toHaveLength(2);
  });

  it("get software that their team offers, and send all details", async () => {
    const titleId = await offerScript(browser.app, "tool.sh");
    const page = await browser.open("/hosts");
    await selectAll(page, "van-0", 10);
    const dialog = await open(page, "Install", "Install software on 10 hosts");
    await dialog.getByRole("combobox", { name: "Software" }).fill("no such thing");
    await dialog.getByText("No software with this name is offered.").waitFor();
    await dialog.getByRole("combobox", { name: "Software" }).fill("tool");
    await expectAccessible(page, "install");
    await dialog.getByRole("option", { name: /tool/ }).click();
    await expect.poll(() => dialog.getByRole("button", { name: "Install" }).isEnabled()).toBe(true);
    await dialog.getByRole("button", { name: "Install" }).click();
    await notices(page)
      .getByText(/will be installed on 10 hosts when online/)
      .waitFor();
    expect(await browser.app.store.softwareInstallRuns.count(eq("title_id", titleId))).toBe(10);
    await notices(page).getByRole("button", { name: "Undo" }).click();
    await notices(page).getByText("Cancelled on 10 hosts.").waitFor();

    const uninstall = await open(page, "Uninstall", "Uninstall software from 10 hosts");
    await uninstall.getByRole("combobox", { name: "Software" }).fill("tool");
    await uninstall.getByRole("option", { name: /tool/ }).click();
    await uninstall.getByText(/no script that uninstalls it/).waitFor();
    expect(await uninstall.getByRole("button", { name: "Uninstall" }).isDisabled()).toBe(true);
    await uninstall.getByRole("button", { name: "Cancel" }).click();

    const { store } = browser.app;
    await store.hosts.update({ where: eq("platform", "ubuntu"), set: { refetch_requested: false } });
    const refetch = await open(page, "Refetch", "Refetch 10 hosts");
    await refetch.getByRole("button", { name: "Refetch" }).click();
    await notices(page).getByText("All details are requested from 10 hosts.").waitFor();
    expect(await store.hosts.count(and(eq("platform", "ubuntu"), eq("refetch_requested", true)))).toBe(10);
  });

  it("that cannot do it are named, with hostile names as text, and the button stays off", async () => {
    const page = await browser.open("/hosts");
    await selectAll(page, "<img", 1);
    const dialog = await open(page, "Unlock", `Unlock ${EVIL}`);
    await dialog.getByText("This is possible on none of these hosts.").waitFor();
    expect(await dialog.getByRole("list", { name: "Left out" }).textContent()).toContain(EVIL);
    expect(await dialog.getByRole("button", { name: "Unlock" }).isDisabled()).toBe(true);
    await expectAccessible(page, "unlock");
  });

  it("have buttons for what the role allows", async () => {
    const all = ["Refetch", "Labels", "Transfer", "Run script", "Install", "Uninstall", "Live query"];
    const dangerous = ["Lock", "Unlock", "Wipe", "Delete"];
    const expected: readonly (readonly [Parameters<typeof makeUser>[1], readonly string[]])[] = [
      ["admin", [...all, ...dangerous]],
      ["maintainer", [...all, ...dangerous]],
      ["technician", all],
      ["observer", ["Refetch", "Live query"]],
      [{ [teamId]: "maintainer" }, [...all, ...dangerous]],
    ];
    await managed(browser, "team-box", teamId);
    for (const [role, buttons] of expected) {
      browser.app.clock.advance(120_000);
      const { user } = await makeUser(browser.app, role, { api_only: false });
      const page = await browser.open("/hosts?query=team-box", { as: { email: user.email, password: PASSWORD } });
      await listed(page, "1 host");
      await page.getByRole("checkbox", { name: "Select team-box" }).check();
      const shown = await selection(page).getByRole("button").allTextContents();
      expect(shown, JSON.stringify(role)).toEqual([...buttons, "Clear"]);
      await page.setViewportSize({ width: 360, height: 800 });
      if (buttons.length > 3) {
        await selection(page).getByRole("button", { name: "More" }).click();
        await page.getByRole("menuitem", { name: buttons.at(-1)!, exact: true }).waitFor();
        expect(await page.getByRole("menuitem").allTextContents()).toEqual(buttons.slice(2));
        await page.keyboard.press("Escape");
      }
      await browser.finish();
    }
  });

  it("have operations that wait, of which one is cancelled with the keyboard alone", async () => {
    const { app: t } = browser;
    const hostId = await managed(browser, "queue-1");
    const me = (await t.store.users.first({}))!;
    const lock = await makeOperation(t, hostId, { kind: "lock", user_id: me.id });
    const sent = await makeOperation(t, hostId, { kind: "wipe", state: "sent", attempts: 1 });
    const page = await browser.open("/changes");
    const input = await InputCount.of(page);
    await press(page, page.getByRole("tab", { name: "Approvals" }), "ArrowRight");
    if ((await page.getByRole("tab", { name: "Operations", selected: true }).count()) === 0)
      await page.keyboard.press("Enter");
    await page.getByRole("tab", { name: "Operations", selected: true }).waitFor();
    await tabTo(page, page.getByRole("searchbox", { name: "Search" }));
    await page.keyboard.type("queue-1");
    await listed(page, "2 operations");
    expect(await rowsOf(page, "Operations")).toMatchObject(
      [
        ["Wipe", "Wipe", "queue-1", "running", "1", expect.anything(), "svc", /has started/],
        ["Lock", "Lock", "queue-1", "queued", "2", expect.anything(), me.name, "Cancel"],
      ].map((row) => row.map((cell) => (cell instanceof RegExp ? expect.stringMatching(cell) : cell))),
    );
    await expectAccessible(page, "operations");
    await press(page, page.getByRole("button", { name: "Cancel Lock on queue-1" }));
    const dialog = page.getByRole("alertdialog", { name: "Cancel Lock on queue-1" });
    await press(page, dialog.getByRole("button", { name: "Cancel operation" }));
    await notices(page).getByText("1 operation is cancelled.").waitFor();
    await listed(page, "1 operation");
    expect((await t.store.operations.get(lock.id))!.state).toBe("cancelled");
    expect((await t.store.operations.get(sent.id))!.state).toBe("sent");
    expect((await input.read()).clicks).toBe(0);
  });

  it("have operations that are cancelled together; those that have begun are left out", async () => {
    const { app: t } = browser;
    const hostId = await managed(browser, "queue-2");
    for (let i = 0; i < 3; i++) await makeOperation(t, hostId, { kind: "run_script" });
    await makeOperation(t, hostId, { kind: "lock", state: "sent", attempts: 1 });
    const page = await browser.open(`/changes?tab=operations&host_id=${hostId}`);
    await listed(page, "4 operations");
    await page.getByRole("checkbox", { name: "Select all on this page" }).check();
    await selection(page).getByRole("button", { name: "Cancel operations" }).click();
    const dialog = page.getByRole("alertdialog", { name: "Cancel 4 operations" });
    expect(await dialog.getByRole("list", { name: "Left out" }).textContent()).toContain("has started");
    await expectAccessible(page, "cancel operations");
    await dialog.getByRole("button", { name: "Cancel operations" }).click();
    await notices(page).getByText("3 operations are cancelled.").waitFor();
    await listed(page, "1 operation");
    const { user } = await makeUser(t, "observer", { api_only: false });
    const watching = await browser.open(`/changes?tab=operations&host_id=${hostId}`, {
      as: { email: user.email, password: PASSWORD },
    });
    await listed(watching, "1 operation");
    expect(await watching.getByRole("button", { name: /^Cancel/ }).count()).toBe(0);
    expect(await watching.getByRole("checkbox").count()).toBe(0);
  });
});

describe.skipIf(chromium === null)("many hosts whose wipe another user has to approve", () => {
  let browser: ConsoleBrowser;
  let mia: SignIn;

  beforeAll(async () => {
    browser = await ConsoleBrowser.start(chromium!, { settings: { require_approval: true } });
    const { user } = await makeUser(browser.app, "maintainer", { name: "Mia", api_only: false });
    mia = { email: user.email, password: PASSWORD };
    for (const name of ["old-1", "old-2", "old-3"]) await managed(browser, name);
    await makeHost(browser.app, { hostname: "old-chrome", display_name: "old-chrome", platform: "chrome" });
  }, 600_000);
  afterEach(() => browser.finish());
  afterAll(() => browser?.close());

  it("are wiped when a second person has approved it, with the keyboard alone", async () => {
    const page = await browser.open("/hosts", { as: mia });
    const input = await InputCount.of(page);
    await listed(page, "4 hosts");
    await press(page, page.getByRole("checkbox", { name: "Select all on this page" }), "Space");
    await press(page, selection(page).getByRole("button", { name: "Wipe" }));
    const dialog = page.getByRole("alertdialog", { name: "Wipe 4 hosts" });
    await dialog.getByText("Another user has to approve this first").waitFor();
    expect(await dialog.getByRole("list", { name: "Left out" }).textContent()).toContain("old-chrome");
    await expectAccessible(page, "wipe");
    await tabTo(page, dialog.getByRole("textbox", { name: "Type 4 to confirm" }));
    await page.keyboard.type("4");
    await tabTo(page, dialog.getByRole("textbox", { name: "Reason" }));
    await page.keyboard.type("office closed");
    await press(page, dialog.getByRole("button", { name: "Wipe" }));
    await notices(page).getByText("Another user has to approve it first.").waitFor();
    expect(await browser.app.store.operations.count()).toBe(0);

    const second = await browser.open("/hosts");
    const secondInput = await InputCount.of(second);
    await listed(second, "4 hosts");
    for (const key of ["g", "x"]) await second.keyboard.press(key);
    await second.getByRole("heading", { level: 1, name: "Changes" }).waitFor();
    await press(second, second.getByRole("button", { name: "Approve: Erase 4 hosts" }));
    const decision = second.getByRole("alertdialog", { name: "Approve: Erase 4 hosts" });
    await decision.getByText("office closed").waitFor();
    await tabTo(second, decision.getByRole("textbox", { name: "Type 4 to confirm" }));
    await second.keyboard.type("4");
    await press(second, decision.getByRole("button", { name: "Approve" }));
    await notices(second).getByText("It is approved").waitFor();
    expect(await browser.app.store.operations.count(eq("kind", "wipe"))).toBe(3);
    const wiped = await browser.app.store.activities.list({ where: eq("type", "wiped_host") });
    expect(wiped.map(({ actor_full_name, details }) => [actor_full_name, details?.reason])).toEqual(
      Array(3).fill(["Mia", "office closed"]),
    );
    for (const count of [input, secondInput]) expect((await count.read()).clicks).toBe(0);
  });
});

describe.skipIf(chromium === null)("many hosts on the free tier", () => {
  let browser: ConsoleBrowser;

  beforeAll(async () => {
    browser = await ConsoleBrowser.start(chromium!, { tier: "free", settings: { wipes_per_hour: 1 } });
    for (const name of ["free-1", "free-2"]) await managed(browser, name);
  }, 600_000);
  afterEach(() => browser.finish());
  afterAll(() => browser?.close());

  it("have no buttons of the other tier; a limit of the server is shown in its words", async () => {
    const page = await browser.open("/hosts");
    await listed(page, "2 hosts");
    await page.getByRole("checkbox", { name: "Select all on this page" }).check();
    const shown = await selection(page).getByRole("button").allTextContents();
    expect(shown).toEqual(["Refetch", "Labels", "Run script", "Live query", "Wipe", "Delete", "Clear"]);
    const dialog = await open(page, "Wipe", "Wipe 2 hosts");
    await dialog
      .getByRole("alert")
      .getByText(/2 at once/)
      .waitFor();
    expect(await dialog.getByRole("button", { name: "Wipe" }).isDisabled()).toBe(true);
  });
});
