// Policies and queries in the console.
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { makeUser, PASSWORD } from "../../support/accounts.ts";
import { findChromium } from "../../support/browser.ts";
import { ConsoleBrowser, expectAccessible, listed, rowsOf } from "../../support/console.ts";
import { makeHost, makePolicy, makeResults } from "../../support/make.ts";

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

  it("a query is saved, copied and deleted", async () => {
    const page = await browser.open("/queries");
    await page.getByRole("button", { name: "Create query" }).click();
    const dialog = page.getByRole("dialog", { name: "Create query" });
    await dialog.getByRole("textbox", { name: "Name" }).fill(EVIL);
    await dialog.getByRole("textbox", { name: "SQL" }).click();
    await page.keyboard.type("SELECT * FROM uptime ");
    // Escape closes the list of completions, and then asks before what was typed is lost.
    for (const key of ["Escape", "Escape"]) await page.keyboard.press(key);
    await dialog.getByRole("button", { name: "Keep editing" }).click();
    await dialog.getByRole("spinbutton", { name: "Runs every (seconds)" }).fill("3600");
    await expectAccessible(page, "the dialog of a query");
    await dialog.getByRole("button", { name: "Create query" }).click();
    await listed(page, "1 query");
    expect((await rowsOf(page, "Queries"))[0]!.slice(0, 2)).toEqual([EVIL, "1 hour"]);
    await page.getByRole("link", { name: EVIL }).click();
    await page.getByText("No host has sent results yet.").waitFor();
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
