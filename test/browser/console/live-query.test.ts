// Live queries in the console.
import type { Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { makeUser, PASSWORD } from "../../support/accounts.ts";
import { findChromium } from "../../support/browser.ts";
import { ConsoleBrowser, expectAccessible, rowsOf, textOf } from "../../support/console.ts";
import { InputCount } from "../../support/input-count.ts";
import { enter, tabTo } from "../../support/keyboard.ts";
import { type LiveHost, makeLiveHost } from "../../support/live.ts";
import { makeLabel } from "../../support/make.ts";

const chromium = findChromium();
const EVIL = `<img src=x onerror=alert(1)>"'</script>`;

const csvOf = (text: string) => `"${text.replaceAll('"', '""')}"`;

describe.skipIf(chromium === null)("live queries in the console", () => {
  let browser: ConsoleBrowser;
  let ada: LiveHost;
  let bob: LiveHost;
  let observer: { readonly email: string; readonly password: string };

  beforeAll(async () => {
    browser = await ConsoleBrowser.start(chromium!);
    const { app: t } = browser;
    ada = await makeLiveHost(t, { hostname: EVIL, platform: "darwin" });
    bob = await makeLiveHost(t, { hostname: "bob-pc", platform: "windows" });
    await makeLiveHost(t, { hostname: "away", platform: "windows" }, { online: false });
    await makeLabel(t, `Loaned ${EVIL}`, [ada.id]);
    for (const [name, observer_can_run] of [
      ["For all", true],
      ["For admins", false],
    ] as const)
      expect((await t.post("/queries", { name, query: "SELECT 7", observer_can_run })).status).toBe(200);
    const { user } = await makeUser(t, "observer", { api_only: false });
    observer = { email: user.email, password: PASSWORD };
  }, 600_000);
  afterEach(() => browser.finish());
  afterAll(() => browser?.close());

  const count = (page: Page, text: string | RegExp) =>
    expect
      .poll(() => page.getByRole("main").getByRole("status").first().textContent(), { timeout: 10_000 })
      .toMatch(text);
  const write = async (page: Page, sql: string) => {
    await page.locator(".cm-content").waitFor();
    await page.getByRole("textbox", { name: "SQL" }).fill(sql);
  };

  it("rows arrive while others are awaited, are grouped, survive a reload, and end with Cancel query", async () => {
    const page = await browser.open("/queries/live/new?where=id+%3E+0");
    await count(page, "3 hosts selected");
    await write(page, "SELECT name, version FROM apps");
    await page.getByRole("button", { name: "Run", exact: true }).click();
    await page.waitForURL(/\/queries\/live\/\d+$/);
    await ada.serve({
      rows: [
        { name: EVIL, version: "1" },
        { name: "Mail", version: "2" },
        { name: "Mail", version: "3" },
      ],
    });
    await count(page, "3 rows from 1 host, more may arrive");
    expect((await rowsOf(page, "Results"))[0]).toEqual([EVIL, EVIL, "1"]);
    await expect
      .poll(() => page.getByRole("img", { name: /^3 hosts: / }).getAttribute("aria-label"))
      .toBe("3 hosts: 1 answered with rows, 0 answered without rows, 0 error, 1 offline, 1 waiting");
    await page.getByLabel("Group by").selectOption("name");
    expect(await rowsOf(page, "Results by name")).toEqual([
      ["Mail", "2", "1"],
      [EVIL, "1", "1"],
    ]);
    await expectAccessible(page, "groups");
    await page.reload();
    await page.getByRole("table", { name: "Results by name" }).waitFor();
    await page.getByLabel("Group by").selectOption("");
    await count(page, "3 rows from 1 host, more may arrive");
    await expectAccessible(page, "results");
    await page.getByRole("button", { name: "Cancel query" }).click();
    await count(page, /^3 rows from 1 host$/);
    await page.getByRole("main").getByText("cancelled", { exact: true }).waitFor();
    expect(await page.getByRole("button", { name: "Cancel query" }).count()).toBe(0);
    await expect
      .poll(() => page.getByRole("img", { name: /^3 hosts: / }).getAttribute("aria-label"))
      .toMatch(/0 waiting, [12] cancelled/);

    const download = page.waitForEvent("download");
    await page.getByRole("button", { name: "Export CSV" }).click();
    const lines = (await textOf(await download)).split("\r\n");
    expect(lines[0]).toBe("host_id,host_name,name,version");
    expect(lines[2]).toContain(",Mail,2");

    await page.getByRole("button", { name: "Save as query" }).click();
    const dialog = page.getByRole("dialog", { name: "Create query" });
    await dialog.getByRole("textbox", { name: "Name" }).fill("Apps");
    await dialog.getByRole("button", { name: "Create query" }).click();
    await dialog.waitFor({ state: "detached" });
    const reply = await browser.app.get("/queries?query=Apps");
    expect(await reply.json()).toMatchObject({ queries: [{ query: "SELECT name, version FROM apps" }] });
  });

  it("targets are chosen and counted, and errors of hosts are listed", async () => {
    const page = await browser.open("/queries/live/new");
    await count(page, "3 hosts selected, 2 online");
    await expectAccessible(page, "a new live query");
    await page.getByRole("radio", { name: "Hosts, labels and teams that you choose" }).check();
    await count(page, "0 hosts selected");
    await page.getByRole("button", { name: "Add label" }).click();
    await expectAccessible(page, "labels");
    await page.getByRole("option", { name: `Loaned ${EVIL}` }).click();
    await count(page, "1 host selected, 1 online");
    await page.getByRole("combobox", { name: "Add host" }).fill("bob");
    await page.getByRole("option", { name: /bob-pc/ }).click();
    await count(page, "2 hosts selected, 2 online");
    await expectAccessible(page, "chosen targets");
    await page.getByRole("button", { name: `Remove Label: Loaned ${EVIL}` }).click();
    await count(page, "1 host selected, 1 online");
    await page.getByRole("radio", { name: "Hosts that a selector matches" }).check();
    await page.getByRole("combobox", { name: "Selector" }).fill('platform = "windows"');
    await count(page, "2 hosts selected");
    await page.getByRole("button", { name: "As command" }).click();
    expect(await page.getByRole("region", { name: "Command line" }).locator("pre").textContent()).toBe(
      `svc query '' --where 'platform = "windows"'`,
    );
    await expectAccessible(page, "as command");
    await page.keyboard.press("Escape");
    await page.getByRole("button", { name: "Run", exact: true }).click();
    await page.getByRole("alert").getByText(/query/).waitFor();
    await write(page, "SELECT absent FROM apps");
    await page.getByRole("button", { name: "Run", exact: true }).click();
    await page.waitForURL(/\/queries\/live\/\d+$/);
    await bob.serve({ status: 1, message: `no such column: ${EVIL}` });
    await page.getByRole("main").getByText("No host has returned rows.").waitFor();
    expect((await rowsOf(page, "Errors"))[0]).toEqual(["bob-pc", `no such column: ${EVIL}`]);
    await page.getByRole("link", { name: "Run again" }).click();
    await expect.poll(() => page.getByRole("textbox", { name: "SQL" }).textContent()).toBe("SELECT absent FROM apps");
    expect(await page.getByRole("main").locator("img").count()).toBe(0);
  });

  it("with the keyboard alone a query is written, runs on a selector's hosts, and its rows are exported", async () => {
    const page = await browser.open("/");
    const input = await InputCount.of(page);
    await page.getByRole("heading", { level: 1, name: "Dashboard" }).waitFor();
    for (const key of ["g", "q"]) await page.keyboard.press(key);
    await enter(page, page.getByRole("main").getByRole("link", { name: "Live query" }));
    await count(page, "3 hosts selected, 2 online");
    await tabTo(page, page.getByRole("textbox", { name: "SQL" }));
    await page.keyboard.type("SELECT 1 AS one;");
    // Tab leaves the editor.
    await page.keyboard.press("Tab");
    expect(await page.getByRole("button", { name: "Choose a saved query" }).and(page.locator(":focus")).count()).toBe(
      1,
    );
    await tabTo(page, page.getByRole("radio", { name: "All hosts" }));
    await page.keyboard.press("ArrowDown");
    await tabTo(page, page.getByRole("combobox", { name: "Selector" }));
    await page.keyboard.type('hostname = "bob-pc"');
    await count(page, "1 host selected");
    await enter(page, page.getByRole("button", { name: "Run", exact: true }));
    await page.waitForURL(/\/queries\/live\/\d+$/);
    await bob.serve({ rows: [{ one: "1" }, { one: EVIL }] });
    await count(page, /^2 rows from 1 host$/);
    const download = page.waitForEvent("download");
    await enter(page, page.getByRole("button", { name: "Export CSV" }));
    const lines = (await textOf(await download)).trimEnd().split("\r\n");
    expect(lines).toEqual(["host_id,host_name,one", `${bob.id},bob-pc,1`, `${bob.id},bob-pc,${csvOf(EVIL)}`]);
    expect((await input.read()).clicks).toBe(0);
  });

  it("observers run queries that are saved for them, and no other SQL", async () => {
    const page = await browser.open("/queries/live/new", { as: observer });
    await page.getByText("Your role may run queries that are saved for observers.").waitFor();
    expect(await page.getByRole("textbox", { name: "SQL" }).count()).toBe(0);
    await page.getByRole("button", { name: "Choose a saved query" }).click();
    await page.getByRole("option").first().waitFor();
    expect(await page.getByRole("option").allTextContents()).toEqual(["For all"]);
    await expectAccessible(page, "saved queries");
    await page.getByRole("option", { name: "For all" }).click();
    await count(page, "3 hosts selected, 2 online");
    expect(await page.getByRole("button", { name: "New SQL instead" }).count()).toBe(0);
    await page.getByRole("button", { name: "Run", exact: true }).click();
    await page.waitForURL(/\/queries\/live\/\d+$/);
    for (const host of [ada, bob]) await host.serve({ rows: [{ seven: "7" }] });
    await count(page, /^2 rows from 2 hosts$/);
    expect(await page.getByRole("button", { name: "Save as query" }).count()).toBe(0);
  });
});
