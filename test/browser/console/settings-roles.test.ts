// Every section of the settings by every role, on both tiers and in GitOps mode: a user sees the sections, and in each of
// them the buttons, whose endpoints the API allows it.
import type { Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { allows, allowsSomewhere, type Role } from "../../../src/api/access.ts";
import { invitesApi } from "../../../src/api/accounts/invites.ts";
import { tokensApi } from "../../../src/api/accounts/tokens.ts";
import { usersApi } from "../../../src/api/accounts/users.ts";
import { conditionalAccessApi } from "../../../src/api/automations/conditional-access.ts";
import { webhooksApi } from "../../../src/api/automations/webhooks.ts";
import { caApi } from "../../../src/api/certificates/ca.ts";
import { carvesApi } from "../../../src/api/checks/carves.ts";
import { vppApi } from "../../../src/api/delivery/vpp.ts";
import { abmApi } from "../../../src/api/devices/abm.ts";
import { androidApi } from "../../../src/api/devices/android.ts";
import { appleTrustApi } from "../../../src/api/devices/apple-trust.ts";
import { reportsApi } from "../../../src/api/edge/reports.ts";
import type { AnyEndpoint } from "../../../src/api/endpoint.ts";
import { directoryApi } from "../../../src/api/hosts/directory.ts";
import { jobsApi } from "../../../src/api/platform/jobs.ts";
import { appConfigApi } from "../../../src/api/settings/app-config.ts";
import { enrollSecretsApi } from "../../../src/api/settings/enroll-secrets.ts";
import { mailApi } from "../../../src/api/settings/mail.ts";
import { teamsApi } from "../../../src/api/settings/teams.ts";
import { versionApi } from "../../../src/api/settings/version.ts";
import { makeUser, PASSWORD } from "../../support/accounts.ts";
import { ADMIN, type Caller } from "../../support/app.ts";
import { findChromium } from "../../support/browser.ts";
import { ConsoleBrowser, type SignIn } from "../../support/console.ts";
import { makeTeam } from "../../support/make.ts";

const chromium = findChromium();

type Tier = "premium" | "free";

interface Offer {
  readonly endpoint: AnyEndpoint;
  /** The button is about this team. Absent: about the organization, or about any team on which the role suffices. */
  readonly isOfTeam?: true;
  /** The setting that it changes. */
  readonly setting?: string;
  /** A body that the endpoint has to accept from the user, in a dry run. */
  readonly trial?: object;
}

interface SectionRule {
  readonly name: string;
  /** What the section shows: it is there for those who may read one of these. */
  readonly reads: readonly AnyEndpoint[];
  /** The settings that the section shows, of which the API returns some only to some roles. */
  readonly settings?: readonly string[];
  readonly buttons: Readonly<Record<string, Offer>>;
}

const of = (endpoint: AnyEndpoint): Offer => ({ endpoint });
const ofTeam = (endpoint: AnyEndpoint): Offer => ({ endpoint, isOfTeam: true });
const ofSetting = (setting: string): Offer => ({ endpoint: appConfigApi.modify, setting });

/** A section that is a form with settings, of which the trial changes some. */
const form = (name: string, trial: object, buttons: SectionRule["buttons"] = {}): SectionRule => ({
  name,
  reads: [appConfigApi.get],
  settings: Object.keys(trial),
  buttons: {
    Save: { endpoint: appConfigApi.modify, trial },
    Plan: { endpoint: appConfigApi.modify, trial },
    ...buttons,
  },
});

/** By the ids of the sections, in their order. */
const rules: Readonly<Record<string, SectionRule>> = {
  organization: form("Organization", { org_info: { org_name: "Another" } }),
  "sign-in": form("Sign-in", { sso_settings: { idp_name: "Another" } }),
  users: {
    name: "Users",
    reads: [usersApi.list],
    buttons: {
      "Create user": of(usersApi.create),
      "Invite user": of(invitesApi.create),
      "Edit: Member": ofTeam(usersApi.create),
      "Require new password: Member": ofTeam(usersApi.requirePasswordReset),
      "Delete: Member": ofTeam(usersApi.delete),
      "Withdraw the invite of Guest": of(invitesApi.delete),
      "Export CSV": of(reportsApi.users),
    },
  },
  roles: { name: "Roles", reads: [usersApi.me], buttons: {} },
  teams: {
    name: "Teams",
    reads: [teamsApi.list],
    buttons: {
      "Create team": of(teamsApi.create),
      "Edit: Engineering": ofTeam(teamsApi.modify),
      "Enroll secrets: Engineering": ofTeam(enrollSecretsApi.getTeam),
      "Delete: Engineering": of(teamsApi.delete),
    },
  },
  "enroll-secrets": {
    name: "Enroll secrets",
    reads: [enrollSecretsApi.getGlobal],
    buttons: { "Show secrets": of(enrollSecretsApi.getGlobal) },
  },
  tokens: { name: "Tokens", reads: [tokensApi.list], buttons: { "Create token": of(tokensApi.create) } },
  agents: form("Agents", { features: { enable_host_users: false } }, { "Add rules": ofSetting("yara_rules") }),
  "device-management": form(
    "Device management",
    { mdm: { windows_directory_client_ids: ["11111111-2222-3333-4444-555555555555"] } },
    {
      "Create request": of(appleTrustApi.request),
      "Upload certificate": of(appleTrustApi.upload),
      "Turn on": of(androidApi.signUp),
      "Download public key": of(abmApi.add),
      // Both tokens have a button of this name.
      "Add token": of(vppApi.add),
    },
  ),
  mail: form("Mail", { smtp_settings: { domain: "another.example.com" } }, { "Send test mail": of(mailApi.testMail) }),
  integrations: form(
    "Integrations",
    { integrations: { certificates_idp_client_ids: ["another"] } },
    {
      "Add tracker": of(appConfigApi.modify),
      "Add help desk": of(appConfigApi.modify),
      "Add calendar": of(appConfigApi.modify),
      "Download signing certificate": of(conditionalAccessApi.signingCert),
      "Download profile for Macs": of(conditionalAccessApi.profile),
      Connect: of(conditionalAccessApi.connect),
      "Connect directory": of(directoryApi.setCredentials),
    },
  ),
  authorities: {
    name: "Certificate authorities",
    reads: [caApi.list],
    buttons: { "Add authority": of(caApi.create) },
  },
  "host-expiry": form("Host expiry", { host_expiry_settings: { host_expiry_window: 31 } }),
  "activity-expiry": form("Activity expiry", { activity_expiry_settings: { activity_expiry_window: 31 } }),
  "gitops-mode": form("GitOps mode", { gitops: { repository_url: "https://git.example.com/another" } }),
  webhooks: form("Webhooks", { webhook_settings: { interval: "23h" } }, { "Send sample": of(webhooksApi.test) }),
  carves: { name: "Carves", reads: [carvesApi.list], buttons: {} },
  jobs: { name: "Jobs", reads: [jobsApi.list], buttons: { "Run session_cleanup": of(jobsApi.trigger) } },
  license: { name: "License and health", reads: [versionApi.get], buttons: {} },
};

/** Buttons that show what is there in another way. */
const neutral = /^(Help|As command|Add filter|Columns|Views|Previous page|Next page|Save as view|Clear .*)$/;
/** Rows like others of their list. */
const repeated = /^(Run (?!session_cleanup$)|(Edit|Require new password|Delete): (?!Member$|Engineering$))/;

interface Person {
  readonly signIn: SignIn;
  readonly caller: Caller;
  readonly roles: { readonly global_role: Role | null; readonly teams: readonly { id: number; role: Role }[] };
}

function mayCall({ roles }: Person, { endpoint, isOfTeam }: Offer, tier: Tier, teamId: number): boolean {
  const { access } = endpoint;
  if (endpoint.tier === "premium" && tier === "free") return false;
  if (typeof access === "string") return true;
  if (access.scope === "global") return allows(roles, access.action, null);
  return isOfTeam ? allows(roles, access.action, teamId) : allowsSomewhere(roles, access.action);
}

/** Shows another section without loading the page again. */
const go = (page: Page, path: string) =>
  page.evaluate((to) => {
    const { history } = globalThis as unknown as {
      history: { pushState(data: null, unused: string, url: string): void };
    };
    history.pushState(null, "", to);
  }, path);

async function settled(page: Page, heading: string): Promise<void> {
  const main = page.getByRole("main");
  await main.getByRole("heading", { level: 1, name: heading, exact: true }).waitFor();
  await expect.poll(() => main.getByText(/^Loading/).count()).toBe(0);
}

/** The buttons of what is shown, and of all its tabs. */
async function offered(page: Page, heading: string): Promise<string[]> {
  const main = page.getByRole("main");
  const names = new Set<string>();
  const read = async () => {
    await settled(page, heading);
    const texts = await main
      .locator("button:not(.sort):not([role=tab])")
      .evaluateAll((buttons) =>
        buttons.map((button) => button.getAttribute("aria-label") ?? button.textContent?.trim() ?? ""),
      );
    for (const text of texts) if (!neutral.test(text) && !repeated.test(text)) names.add(text);
  };
  await read();
  for (const tab of (await main.getByRole("tab").all()).slice(1)) {
    await tab.click();
    await read();
  }
  return [...names].sort();
}

const linesOf = (sections: Readonly<Record<string, readonly string[]>>): string[] =>
  Object.entries(sections).map(([name, buttons]) => `${name}: ${buttons.join(", ")}`);

describe.skipIf(chromium === null).each(["premium", "free"] as const)(
  "the settings by role, on the %s tier",
  (tier) => {
    let browser: ConsoleBrowser;
    let teamId = 0;
    const people = new Map<string, Person>();

    beforeAll(async () => {
      browser = await ConsoleBrowser.start(chromium!, { tier });
      const { app: t } = browser;
      people.set("global admin", { signIn: ADMIN, caller: t, roles: { global_role: "admin", teams: [] } });
      const add = async (name: string, roles: Role | Record<number, Role>) => {
        const person = await makeUser(t, roles, { name });
        const { user } = person;
        // Programs get a token; people sign in.
        await t.store.users.update({ where: { op: "eq", column: "id", value: user.id }, set: { api_only: false } });
        people.set(name, {
          signIn: { email: user.email, password: PASSWORD },
          caller: person,
          roles: { global_role: user.global_role, teams: user.teams },
        });
      };
      for (const role of ["maintainer", "observer"] as const) await add(`global ${role}`, role);
      const invite = { name: "Guest", email: "guest@example.com", global_role: "observer" };
      expect((await t.post("/invites", invite)).status).toBe(200);
      if (tier === "free") {
        await makeUser(t, "observer", { name: "Member", api_only: false });
        return;
      }
      for (const role of ["observer_plus", "technician", "gitops"] as const) await add(`global ${role}`, role);
      teamId = (await makeTeam(t, "Engineering")).id;
      await makeUser(t, { [teamId]: "observer" }, { name: "Member", api_only: false });
      for (const role of ["admin", "maintainer", "observer", "observer_plus", "technician"] as const)
        await add(`team ${role}`, { [teamId]: role });
    }, 600_000);
    afterEach(() => browser.finish());
    afterAll(() => browser?.close());

    async function isAllowed(person: Person, offer: Offer, config: object): Promise<boolean> {
      if (!mayCall(person, offer, tier, teamId)) return false;
      if (offer.setting !== undefined && !(offer.setting in config)) return false;
      if (offer.trial === undefined) return true;
      const { status } = await person.caller.request("PATCH", "/config", JSON.stringify(offer.trial), {
        "content-type": "application/json",
        "dry-run": "true",
      });
      return status === 200;
    }

    /** The buttons by the sections that the user may read anything of. */
    async function expectedOf(person: Person, config: object): Promise<Record<string, readonly string[]>> {
      const expected: Record<string, readonly string[]> = {};
      for (const { name, reads, settings = [], buttons } of Object.values(rules)) {
        // Teams exist on the premium tier only, and the section says so.
        const isShown = reads.some((endpoint) => mayCall(person, of({ ...endpoint, tier: "free" }), tier, teamId));
        const hasSettings = settings.length === 0 || settings.some((setting) => setting in config);
        if (!isShown || !hasSettings) continue;
        const names: string[] = [];
        for (const [button, offer] of Object.entries(buttons))
          if (await isAllowed(person, offer, config)) names.push(button);
        expected[name] = names.sort();
      }
      return expected;
    }

    async function walk(page: Page): Promise<Record<string, readonly string[]>> {
      await go(page, "/settings/roles");
      await settled(page, "Roles");
      const links = page.getByRole("navigation", { name: "Sections" }).getByRole("link");
      const names = await links.allTextContents();
      const shown: Record<string, readonly string[]> = {};
      for (const name of names) {
        await page.getByRole("navigation", { name: "Sections" }).getByRole("link", { name, exact: true }).click();
        shown[name] = await offered(page, name);
        const main = page.getByRole("main");
        expect(await main.getByText("Something went wrong").count(), name).toBe(0);
        if (tier === "premium") expect(await main.getByText(/^Premium: /).count(), `${name} needs a license`).toBe(0);
      }
      return shown;
    }

    it("show each user what the API allows it, and request nothing that is refused", { timeout: 600_000 }, async () => {
      for (const [name, person] of people) {
        // One address may sign in a few times a minute.
        browser.app.clock.advance(120_000);
        const page = await browser.open("/profile", { as: person.signIn });
        const refused: string[] = [];
        page.on("response", (reply) => {
          if ([401, 402, 403, 500].includes(reply.status())) refused.push(`${reply.status()} ${reply.url()}`);
        });
        const config = (await (await person.caller.get("/config")).json()) as object;
        const expected = await expectedOf(person, config);
        expect(linesOf(await walk(page)), name).toEqual(linesOf(expected));
        expect(refused, name).toEqual([]);
        for (const [id, section] of Object.entries(rules))
          if (!(section.name in expected)) {
            await go(page, `/settings/${id}`);
            await page.getByRole("main").getByText("Your role does not allow this").waitFor();
          }
        await browser.finish();
      }
    });

    it.runIf(tier === "premium")(
      "offer the same in GitOps mode, and show what the server says to changes",
      async () => {
        const { app: t } = browser;
        const gitops = { gitops_mode_enabled: true, repository_url: "https://git.example.com/config" };
        expect((await t.patch("/config", { gitops })).status).toBe(200);
        try {
          browser.app.clock.advance(120_000);
          const person = people.get("global admin")!;
          const page = await browser.open("/profile");
          const everything = (await (await t.get("/config")).json()) as object;
          const sections = await walk(page);
          expect(Object.keys(sections)).toEqual(Object.keys(await expectedOf(person, everything)));
          for (const button of ["Organization: Save", "Teams: Create team", "Certificate authorities: Add authority"]) {
            const [section = "", name = ""] = button.split(": ");
            expect(sections[section], section).toContain(name);
          }
          const refusedAs = (kind: string) =>
            page.getByText(`the configuration files determine ${kind}, so a change here`).first().waitFor();
          const main = page.getByRole("main");
          await go(page, "/settings/organization");
          await main.getByRole("textbox", { name: "Name", exact: true }).fill("Another");
          await main.getByRole("button", { name: "Save" }).click();
          await refusedAs("the configuration");
          await go(page, "/settings/teams");
          await main.getByRole("button", { name: "Create team" }).click();
          const dialog = page.getByRole("dialog", { name: "Create team" });
          await dialog.getByRole("textbox", { name: "Name" }).fill("Other");
          await dialog.getByRole("button", { name: "Create team" }).click();
          await refusedAs("teams");
          await dialog.getByRole("button", { name: "Cancel" }).click();
          const addSecret = async () => {
            await go(page, "/settings/enroll-secrets");
            await main.getByRole("button", { name: "Show secrets" }).click();
            await main.getByRole("button", { name: "Add secret" }).click();
          };
          await addSecret();
          await refusedAs("enroll secrets");
          // People change by hand what is excepted.
          expect((await t.patch("/config", { gitops: { exceptions: { secrets: true } } })).status).toBe(200);
          await go(page, "/settings/roles");
          await addSecret();
          await page.getByText("A secret is added.").waitFor();
        } finally {
          const off = { gitops_mode_enabled: false, exceptions: { secrets: false } };
          expect((await t.patch("/config", { gitops: off })).status).toBe(200);
        }
      },
    );
  },
);
