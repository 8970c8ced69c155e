// The page of a host in the console, the dashboard and the list of activities.
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { makeUser, PASSWORD } from "../../support/accounts.ts";
import { turnOnAppleMdm } from "../../support/apple.ts";
import { enrolledDevice } from "../../support/apple-device.ts";
import { findChromium } from "../../support/browser.ts";
import { ConsoleBrowser, expectAccessible, listed, rowsOf } from "../../support/console.ts";
import {
  makeHost,
  makeInventory,
  makeLabel,
  makePolicy,
  makeResults,
  makeSoftware,
  makeTeam,
} from "../../support/make.ts";

const chromium = findChromium();
const EVIL = `<img src=x onerror=alert(1)>"'</script>`;

describe.skipIf(chromium === null)("a host in the console", () => {
  let browser: ConsoleBrowser;
  let mac: { readonly id: number; readonly device: Awaited<ReturnType<typeof enrolledDevice>>["device"] };
  let plain: number;
  let observer: { readonly email: string; readonly password: string };

  beforeAll(async () => {
    browser = await ConsoleBrowser.start(chromium!);
    const { app: t } = browser;
    await turnOnAppleMdm(t);
    mac = await enrolledDevice(t, { DeviceName: "lab-mac" });
    const team = await makeTeam(t, EVIL);
    const host = await makeHost(
      t,
      { hostname: EVIL, platform: "ubuntu", os_version: EVIL, team_id: team.id },
      { seen: t.clock.iso() },
    );
    plain = host.id;
    await makeLabel(t, EVIL, [plain]);
    const [passing, failing] = [
      await makePolicy(t, { name: "Firewall" }),
      await makePolicy(t, { name: EVIL, resolution: EVIL }),
    ];
    await makeResults(t, plain, { passing: [passing], failing: [failing] });
    await makeInventory(t, plain, [await makeSoftware(t, EVIL, "1.2.3")]);
    const { user } = await makeUser(t, "observer", { api_only: false });
    observer = { email: user.email, password: PASSWORD };
  }, 600_000);
  afterEach(() => browser.finish());
  afterAll(() => browser?.close());

  const offered = async (page: Awaited<ReturnType<ConsoleBrowser["open"]>>) => {
    await page.getByRole("button", { name: "Actions" }).click();
    await page.getByRole("menu", { name: "Actions" }).waitFor();
    const items = await page.getByRole("menuitem").all();
    const names = await Promise.all(
      items.map(
        async (item) =>
          `${(await item.getAttribute("aria-disabled")) === "true" ? "-" : ""}${(await item.evaluate((element) => element.childNodes[0]?.textContent)) ?? ""}`,
      ),
    );
    await page.keyboard.press("Escape");
    return names;
  };

  it("shows hostile names as text in every tab", async () => {
    const page = await browser.open(`/hosts/${plain}`);
    await page.getByRole("heading", { level: 1, name: EVIL }).waitFor();
    for (const name of [
      "Policies",
      "Software",
      "Profiles",
      "Commands",
      "Scripts",
      "Reports",
      "Certificates",
      "Activity",
      "Details",
    ]) {
      await page.getByRole("tab", { name, exact: true }).click();
      await page.getByRole("tabpanel", { name, exact: true }).waitFor();
      expect(await page.getByRole("main").locator("img").count(), name).toBe(0);
    }
    await page.getByRole("tab", { name: "Policies" }).click();
    expect(await rowsOf(page, "Policies")).toEqual([
      [EVIL, "failing", "", EVIL],
      ["Firewall", "passing", "", ""],
    ]);
    await page.getByRole("tab", { name: "Software" }).click();
    await expect
      .poll(async () => (await rowsOf(page, "Software").catch(() => []))[0]?.slice(0, 2))
      .toEqual([EVIL, "1.2.3"]);
    expect(new URL(page.url()).pathname).toBe(`/hosts/${plain}/software`);
    await page.goBack();
    await page.getByRole("tabpanel", { name: "Policies" }).waitFor();
  });

  it("offers what can be done, with the reason for what cannot, to those who may", async () => {
    const page = await browser.open(`/hosts/${mac.id}`);
    await page.getByRole("heading", { level: 1, name: "lab-mac" }).waitFor();
    const everywhere = ["Refetch", "Run script", "Install software"];
    expect((await offered(page)).filter((name) => name !== "Live query")).toEqual([
      ...everywhere,
      "Lock",
      "-Unlock",
      "Wipe",
      "Turn off management",
      "Transfer",
      "Delete",
    ]);
    const seen = await browser.open(`/hosts/${mac.id}`, { as: observer });
    await seen.getByRole("heading", { level: 1, name: "lab-mac" }).waitFor();
    expect((await offered(seen)).filter((name) => name !== "Live query")).toEqual(["Refetch"]);
    expect(await seen.getByRole("tab", { name: "Scripts" }).count()).toBe(1);
  });

  it("is locked with a PIN that the user gets, and erased only after its name was typed", async () => {
    const page = await browser.open(`/hosts/${mac.id}`);
    await page.getByRole("button", { name: "Actions" }).click();
    await page.getByRole("menuitem", { name: "Lock", exact: true }).click();
    const lock = page.getByRole("alertdialog", { name: "Lock lab-mac" });
    await lock.getByRole("button", { name: "Lock" }).click();
    const pin = await page.getByRole("region", { name: "PIN that unlocks the Mac" }).locator("pre").textContent();
    expect((await mac.device.idle())!.command.PIN).toBe(pin);
    await page.keyboard.press("Escape");
    await page.getByRole("status").getByText("A lock is pending.").waitFor();

    const { id } = await enrolledDevice(browser.app, { DeviceName: "old-mac" }, { key: 1 });
    const other = await browser.open(`/hosts/${id}`);
    await other.getByRole("button", { name: "Actions" }).click();
    await other.getByRole("menuitem", { name: "Wipe" }).click();
    const wipe = other.getByRole("alertdialog", { name: /^Wipe/ });
    expect(await wipe.getByRole("button", { name: "Wipe" }).isDisabled()).toBe(true);
    await wipe.getByRole("textbox", { name: /^Type .* to confirm$/ }).fill("another");
    expect(await wipe.getByRole("button", { name: "Wipe" }).isDisabled()).toBe(true);
    await wipe.getByRole("textbox", { name: /^Type .* to confirm$/ }).fill("old-mac");
    await wipe.getByRole("button", { name: "Wipe" }).click();
    await other.getByRole("region", { name: "Notices" }).getByText("The host will be erased").waitFor();
    await other.getByRole("status").getByText("A wipe is pending.").waitFor();
    await other.getByRole("tab", { name: "Activity" }).click();
    const upcoming = other.getByRole("list", { name: "Upcoming activities" });
    await expect.poll(() => upcoming.getByRole("listitem").count()).toBe(1);
  });

  it("can be used with a screen reader in every tab, and with its menu and dialogs open", async () => {
    const page = await browser.open(`/hosts/${plain}`);
    await page.getByRole("heading", { level: 1, name: EVIL }).waitFor();
    for (const name of ["Details", "Policies", "Software", "Activity"]) {
      await page.getByRole("tab", { name, exact: true }).click();
      await page.getByRole("tabpanel", { name, exact: true }).waitFor();
      await expectAccessible(page, name);
    }
    await page.getByRole("button", { name: "Actions" }).click();
    await page.getByRole("menu").waitFor();
    await expectAccessible(page, "the menu of actions");
    await page.getByRole("menuitem", { name: "Delete" }).click();
    await page.getByRole("alertdialog").waitFor();
    await expectAccessible(page, "the dialog that deletes");
  });

  it("says that a host does not exist", async () => {
    const page = await browser.open("/hosts/999");
    await page
      .getByRole("alert")
      .getByText(/was not found/)
      .waitFor();
    await expectAccessible(page, "a missing host");
  });

  it("is counted on the dashboard, whose figures open the hosts", async () => {
    const page = await browser.open("/");
    await page.getByRole("img", { name: /^\d hosts: / }).waitFor();
    await page.getByRole("list", { name: "Latest activities" }).getByRole("listitem").first().waitFor();
    await expectAccessible(page, "the dashboard");
    await page.getByRole("table", { name: "Hosts by status" }).getByRole("link", { name: "Online" }).click();
    await listed(page, /hosts?$/);
    expect(new URL(page.url()).searchParams.get("status")).toBe("online");
  });

  it("is in the list of activities, with details, for global users only", async () => {
    const page = await browser.open("/activity");
    await listed(page, /activities$/);
    await page.getByRole("link", { name: "lab-mac" }).first().waitFor();
    await page
      .getByRole("button", { name: /^Details of/ })
      .first()
      .click();
    await page.getByRole("dialog").waitFor();
    await expectAccessible(page, "the details of an activity");
    await page.keyboard.press("Escape");
    await page.getByRole("button", { name: "Verify", exact: true }).click();
    await page
      .getByRole("dialog", { name: "Verify activities" })
      .getByText(/no activity was changed/)
      .waitFor();
  });
});
