// Every page by every role, on both tiers and in GitOps mode: a page requests nothing that the API refuses to its user.
import type { Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { consolePaths } from "../../../src/console/routes.ts";
import { makeUser, PASSWORD } from "../../support/accounts.ts";
import { ADMIN } from "../../support/app.ts";
import { findChromium } from "../../support/browser.ts";
import { ConsoleBrowser, type SignIn } from "../../support/console.ts";
import { makeHost, makePolicy, makeTeam } from "../../support/make.ts";

const chromium = findChromium();

const globalRoles = ["admin", "maintainer", "observer"] as const;
const premiumRoles = ["observer_plus", "technician", "gitops"] as const;
const teamRoles = ["admin", "maintainer", "observer", "observer_plus", "technician"] as const;

/** Pages without parameters in their paths. */
const plainPaths = consolePaths.filter((path) => !path.includes(":"));

/** What each page that the user's navigation offers, and each of its tabs, was refused. */
async function refusals(page: Page, browser: ConsoleBrowser): Promise<string[]> {
  const refused: string[] = [];
  page.on("response", (reply) => {
    if ([401, 402, 403, 500].includes(reply.status())) refused.push(`${page.url()}: ${reply.status()} ${reply.url()}`);
  });
  const links = await page.getByRole("navigation", { name: "Main" }).getByRole("link").all();
  const hrefs = await Promise.all(links.map(async (link) => (await link.getAttribute("href"))!));
  for (const href of hrefs) {
    await page.goto(browser.url + href);
    await page.getByRole("heading", { level: 1 }).first().waitFor();
    await page.waitForLoadState("networkidle");
    for (const tab of await page.getByRole("tab").all()) {
      await tab.click();
      await expect.poll(() => page.getByText(/^Loading/).count()).toBe(0);
    }
  }
  return refused;
}

describe.skipIf(chromium === null).each(["premium", "free"] as const)(
  "the pages of the console, on the %s tier",
  (tier) => {
    let browser: ConsoleBrowser;
    const users = new Map<string, SignIn>([["global admin", ADMIN]]);

    beforeAll(async () => {
      browser = await ConsoleBrowser.start(chromium!, { tier });
      const { app: t } = browser;
      await makeHost(t, { hostname: "ada-mac", platform: "darwin" });
      await makePolicy(t, { name: "Disk" });
      const add = async (name: string, roles: Parameters<typeof makeUser>[1]) => {
        const { user } = await makeUser(t, roles, { api_only: roles === "gitops" });
        // The role is one of programs; a person may still have it.
        if (roles === "gitops")
          await t.store.users.update({ where: { op: "eq", column: "id", value: user.id }, set: { api_only: false } });
        users.set(name, { email: user.email, password: PASSWORD });
      };
      for (const role of globalRoles) await add(`global ${role}`, role);
      if (tier === "free") return;
      for (const role of premiumRoles) await add(`global ${role}`, role);
      const team = await makeTeam(t, "Engineering");
      await makeHost(t, { hostname: "team-mac", platform: "darwin", team_id: team.id });
      for (const role of teamRoles) await add(`team ${role}`, { [team.id]: role });
    }, 600_000);
    afterEach(() => browser.finish());
    afterAll(() => browser?.close());

    it("request nothing that is refused, whatever the user's role", { timeout: 900_000 }, async () => {
      for (const [name, user] of users) {
        // One address may sign in a few times a minute.
        browser.app.clock.advance(120_000);
        const page = await browser.open("/", { as: user });
        await page.getByRole("heading", { level: 1, name: "Dashboard" }).waitFor();
        expect(await refusals(page, browser), name).toEqual([]);
        await browser.finish();
      }
    });

    it("say what is missing to a user who opens an address that the role does not allow, and do not break", async () => {
      browser.app.clock.advance(120_000);
      const page = await browser.open("/", { as: users.get("global observer")! });
      for (const path of plainPaths) {
        await page.goto(browser.url + path);
        await page.getByRole("heading", { level: 1 }).first().waitFor();
        await page.waitForLoadState("networkidle");
        expect(await page.getByText("Something went wrong").count(), path).toBe(0);
      }
    });

    it("say that GitOps mode is on, and show the server's refusal of a change", async () => {
      const { app: t } = browser;
      const repository = "https://git.example.com/config";
      const on = await t.patch("/config", { gitops: { gitops_mode_enabled: true, repository_url: repository } });
      expect(on.status).toBe(tier === "free" ? 422 : 200);
      if (tier === "free") return;
      try {
        const page = await browser.open("/policies");
        await page.getByText("GitOps mode is on").waitFor();
        await page.getByRole("link", { name: repository }).waitFor();
        await page.getByRole("button", { name: "Create policy" }).click();
        await page.getByRole("textbox", { name: "Name" }).fill("No");
        await page.locator(".cm-content").click();
        await page.keyboard.type("SELECT 1 ");
        await page.getByRole("dialog").getByRole("button", { name: "Create policy" }).click();
        await page
          .getByRole("dialog")
          .getByRole("alert")
          .getByText(/GitOps/i)
          .first()
          .waitFor();
        // An exception of a kind: the banner says so, and the form works.
        expect((await t.patch("/config", { gitops: { exceptions: { labels: true } } })).status).toBe(200);
        await page.goto(`${browser.url}/labels`);
        await page.getByText("Labels may be changed here.").waitFor();
        await page.getByRole("button", { name: "Create label" }).click();
        await page.getByRole("textbox", { name: "Name" }).fill("By hand");
        await page.getByRole("textbox", { name: "SQL" }).fill("SELECT 1");
        await page.getByRole("dialog").getByRole("button", { name: "Create label" }).click();
        await page.getByRole("region", { name: "Notices" }).getByText("By hand is created.").waitFor();
      } finally {
        const off = { gitops: { gitops_mode_enabled: false, exceptions: { labels: false } } };
        await t.request("PATCH", "/config", JSON.stringify(off), {
          "content-type": "application/json",
          "x-svc-gitops-override": "test",
        });
      }
    });
  },
);
