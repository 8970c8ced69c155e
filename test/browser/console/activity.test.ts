// The page of activities in the console: its filters.
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { recordActivity } from "../../../src/server/platform/activities/record.ts";
import { serviceContext } from "../../../src/server/platform/core/context.ts";
import { makeUser, PASSWORD } from "../../support/accounts.ts";
import { findChromium } from "../../support/browser.ts";
import { ConsoleBrowser, expectAccessible, listed, rowsOf } from "../../support/console.ts";
import { makeHost, makeTeam } from "../../support/make.ts";

const chromium = findChromium();
const EVIL = `<img src=x onerror=alert(1)>"'</script>`;

describe.skipIf(chromium === null)("activities in the console", () => {
  let browser: ConsoleBrowser;

  beforeAll(async () => {
    browser = await ConsoleBrowser.start(chromium!);
    const { app: t } = browser;
    const sales = await makeTeam(t, "Sales");
    const host = await makeHost(t, { display_name: "ada-mac", hostname: "ada-mac", team_id: sales.id });
    const details = { host_id: host.id, host_display_name: "ada-mac" };
    const service = serviceContext(t.services);
    await recordActivity(service, "cleared_passcode", details, { hostId: host.id });
    await recordActivity(service, "created_label", { label_id: 1, label_name: EVIL });
    await recordActivity(service, "created_team", { team_id: sales.id, team_name: "Sales" });
    expect((await t.post("/labels", { name: "By the admin", query: "SELECT 1" })).status).toBe(200);
  }, 600_000);
  afterEach(() => browser.finish());
  afterAll(() => browser?.close());

  const sentencesOf = async (page: Awaited<ReturnType<ConsoleBrowser["open"]>>) =>
    (await rowsOf(page, "Activity")).map(([what]) => what);

  it("are filtered by team, host, type, user, time and text, and each filter can be removed", async () => {
    const page = await browser.open("/activity");
    await listed(page, /activities/);
    const add = async (filter: string, text: string) => {
      await page.getByRole("button", { name: "Add filter" }).click();
      await page.getByRole("combobox", { name: "Find: Add filter" }).fill(filter);
      await page.keyboard.press("Enter");
      const dialog = page.getByRole("dialog", { name: filter });
      await dialog.getByRole("combobox", { name: `Find: ${filter}` }).fill(text);
      await dialog.getByRole("option").first().getByText(text).waitFor();
      await page.keyboard.press("Enter");
      await dialog.waitFor({ state: "detached" });
    };
    const remove = async (chip: RegExp) => {
      await page.getByRole("list", { name: "Active filters" }).getByRole("button", { name: chip }).click();
    };

    await add("Team", "Sales");
    await listed(page, "2 activities");
    expect(await sentencesOf(page)).toEqual([expect.stringContaining("Sales"), expect.stringContaining("ada-mac")]);
    await page.getByRole("button", { name: "Team: Sales", exact: true }).waitFor();
    await expectAccessible(page, "activities of a team");
    await add("Type", "cleared passcode");
    await listed(page, "1 activity");
    await remove(/^Remove Type: cleared passcode/);
    await remove(/^Remove Team: Sales/);

    await add("Host", "ada-mac");
    await listed(page, "1 activity");
    await remove(/^Remove Host: ada-mac/);

    await add("User", "Admin");
    await listed(page, /activit/);
    expect((await sentencesOf(page)).every((sentence) => !sentence!.startsWith("svc"))).toBe(true);
    await remove(/^Remove User: /);

    await page.getByRole("button", { name: "Add filter" }).click();
    await page.getByRole("combobox", { name: "Find: Add filter" }).fill("Text in details");
    await page.keyboard.press("Enter");
    await page.getByRole("textbox", { name: "Text in details" }).fill("ONERROR=ALERT");
    await page.keyboard.press("Enter");
    await listed(page, "1 activity");
    expect((await sentencesOf(page))[0]).toContain(EVIL);
    expect(new URL(page.url()).searchParams.get("details")).toBe("ONERROR=ALERT");
    await page.getByRole("button", { name: "As command" }).click();
    await page.getByRole("dialog").getByText("svc activities list --details").waitFor();
    await page.keyboard.press("Escape");

    await page.goto(`${browser.url}/activity?start_created_at=2100-01-01`);
    await listed(page, /No activities match/);
    await page.getByRole("button", { name: "Add filter" }).click();
    await page.getByRole("combobox", { name: "Find: Add filter" }).fill("Before");
    await page.keyboard.press("Enter");
    await page.getByRole("dialog", { name: "Before" }).locator("input").fill("2100-02-01");
    await expectAccessible(page, "a day as filter");
  });

  it("are filtered by those who may not list users as well", async () => {
    browser.app.clock.advance(120_000);
    const { user } = await makeUser(browser.app, "observer", { api_only: false });
    const page = await browser.open("/activity", { as: { email: user.email, password: PASSWORD } });
    await listed(page, /activities/);
    await page.getByRole("button", { name: "Add filter" }).click();
    await page.getByRole("option", { name: "User (id)" }).waitFor();
    expect(await page.getByRole("option", { name: "User", exact: true }).count()).toBe(0);
  });
});
