// What five common tasks take in the console, in clicks, keys and typed words, from the dashboard on; docs/console.md has
// the figures.
import { readFileSync } from "node:fs";
import type { Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { eq } from "../../../src/server/platform/store/query.ts";
import { allowEnrollment } from "../../support/apple.ts";
import { enrolledDevice } from "../../support/apple-device.ts";
import { findChromium } from "../../support/browser.ts";
import { ConsoleBrowser, listed, rowsOf, textOf } from "../../support/console.ts";
import { InputCount } from "../../support/input-count.ts";
import { makeHost, makePolicy, makeResults } from "../../support/make.ts";
import { answerAll, makeManagedMac, makeProfile } from "../../support/profiles.ts";

const chromium = findChromium();
const MAX = 8;
const documentation = readFileSync(new URL("../../../docs/console.md", import.meta.url), "utf8");

describe.skipIf(chromium === null)("tasks in the console", () => {
  let browser: ConsoleBrowser;

  beforeAll(async () => {
    browser = await ConsoleBrowser.start(chromium!);
    const { app: t } = browser;
    await allowEnrollment(t);
    for (let i = 0; i < 12; i++) await makeHost(t, { hostname: `van-${i}`, platform: "ubuntu" });
    expect((await t.post("/labels", { name: "Loaners" })).status).toBe(200);
  }, 600_000);
  beforeEach(() => browser.app.clock.advance(120_000));
  afterEach(() => browser.finish());
  afterAll(() => browser?.close());

  /** Counts from the dashboard on. */
  const start = async () => {
    const page = await browser.open("/");
    await page.getByRole("heading", { level: 1, name: "Dashboard" }).waitFor();
    return { page, input: await InputCount.of(page) };
  };
  const open = (page: Page, name: string) =>
    page.getByRole("navigation", { name: "Main" }).getByRole("link", { name, exact: true }).click();
  /** Finds something by its name, and opens its page. */
  const find = async (page: Page, text: string, name: string) => {
    await page.keyboard.press("Control+k");
    await page.getByRole("combobox", { name: "Search" }).waitFor();
    await page.keyboard.type(text);
    await page.getByRole("option", { name, selected: true }).waitFor();
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { level: 1, name }).waitFor();
  };
  const notice = (page: Page, text: string) => page.getByRole("region", { name: "Notices" }).getByText(text).waitFor();

  /** Holds the count against the limit, and against the documentation. */
  const expectEffort = async (input: InputCount, task: string) => {
    const { total } = await input.read();
    expect(total).toBeLessThanOrEqual(MAX);
    const row = documentation.split("\n").find((line) => line.startsWith(`| ${task} |`));
    expect(row?.split("|")[2]?.trim(), `${task}, in docs/console.md`).toBe(String(total));
  };

  it("the host of a person is found, and the policies that it fails are seen", async () => {
    const { app: t } = browser;
    const host = await makeHost(t, { hostname: "ada-mac", display_name: "ada-mac", platform: "darwin" });
    await t.store.hostEmails.insert({ host_id: host.id, email: "ada@example.com", source: "custom" });
    const policy = await makePolicy(t, { name: "Firewall" });
    await makeResults(t, host.id, { failing: [policy] });
    const { page, input } = await start();
    await find(page, "ada@example.com", "ada-mac");
    await page.getByRole("tab", { name: "Policies" }).click();
    await expect
      .poll(() => rowsOf(page, "Policies"))
      .toMatchObject([["Firewall", "failing", expect.anything(), expect.anything()]]);
    await expectEffort(input, "Find the host of a person, see the policies that it fails");
  });

  it("twelve hosts are selected and labelled", async () => {
    const { page, input } = await start();
    await open(page, "Hosts");
    await listed(page, /^\d+ hosts/);
    const box = (name: string) => page.getByRole("checkbox", { name: `Select ${name}`, exact: true });
    const [first, last] = (await page.getByRole("rowheader", { name: /^van-/ }).allTextContents()).filter(
      (_, at) => at === 0 || at === 11,
    );
    await box(first!).click();
    await box(last!).click({ modifiers: ["Shift"] });
    const selection = page.getByRole("region", { name: "Selection" });
    await selection.getByText("12 selected").waitFor();
    await selection.getByRole("button", { name: "Labels" }).click();
    const dialog = page.getByRole("alertdialog", { name: "Label 12 hosts" });
    await dialog.getByRole("checkbox", { name: "Add Loaners" }).click();
    await dialog.getByRole("button", { name: "Save" }).click();
    await notice(page, "Labels are changed on 12 hosts.");
    await expectEffort(input, "Select 12 hosts and label them");
  });

  it("a profile is sent again to all hosts on which it has failed", async () => {
    const { app: t } = browser;
    for (const _ of [1, 2]) await makeManagedMac(t);
    const uuid = await makeProfile(t, { name: "VPN" });
    const states = async () =>
      (await t.store.hostProfiles.list({ where: eq("profile_uuid", uuid) })).map(({ status }) => status);
    await expect.poll(async () => (await states()).length).toBe(2);
    for (const _ of [1, 2]) await answerAll(t, "The payload is wrong.");
    await expect.poll(states).toEqual(["failed", "failed"]);
    const { page, input } = await start();
    await open(page, "Controls");
    await page.getByRole("button", { name: "Resend VPN" }).click();
    const dialog = page.getByRole("alertdialog", { name: "Resend VPN" });
    await dialog.getByText("It has failed on 2 hosts").waitFor();
    await dialog.getByRole("button", { name: "Resend" }).click();
    await notice(page, "VPN will be sent again");
    await expect.poll(states).not.toContain("failed");
    await expectEffort(input, "Send a profile again to all hosts on which it has failed");
  });

  it("the hosts that fail a policy are exported", async () => {
    const { app: t } = browser;
    const policy = await makePolicy(t, { name: "Disk encrypted" });
    for (const name of ["bea-mac", "cal-mac"]) {
      const host = await makeHost(t, { hostname: name, display_name: name, platform: "darwin" });
      await makeResults(t, host.id, { failing: [policy] });
    }
    await t.store.policies.update({ where: eq("id", policy.id), set: { failing_host_count: 2 } });
    const { page, input } = await start();
    await open(page, "Policies");
    await page
      .getByRole("row", { name: /Disk encrypted/ })
      .getByRole("link", { name: "2", exact: true })
      .click();
    await listed(page, "2 hosts");
    const download = page.waitForEvent("download");
    await page.getByRole("button", { name: "Export CSV" }).click();
    const lines = (await textOf(await download)).trim().split("\n");
    expect(lines).toHaveLength(3);
    for (const name of ["bea-mac", "cal-mac"]) expect(lines.some((line) => line.includes(name))).toBe(true);
    await expectEffort(input, "See which hosts fail a policy, export them as CSV");
  });

  it("a lost laptop is locked", async () => {
    const { app: t } = browser;
    const { id } = await enrolledDevice(t, { DeviceName: "lost-laptop" });
    const { page, input } = await start();
    await find(page, "lost", "lost-laptop");
    await page.getByRole("button", { name: "Actions" }).click();
    await page.getByRole("menuitem", { name: "Lock", exact: true }).click();
    const dialog = page.getByRole("alertdialog", { name: "Lock lost-laptop" });
    await dialog.getByRole("button", { name: "Lock" }).click();
    await page.getByRole("dialog", { name: "PIN of lost-laptop" }).waitFor();
    expect(await t.store.hostActions.get(id)).toMatchObject({ pending: "lock" });
    await expectEffort(input, "Lock a lost laptop");
  });
});
