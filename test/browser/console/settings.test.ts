// Users, teams, tokens and the other settings in the console.
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { ADMIN } from "../../support/app.ts";
import { findChromium } from "../../support/browser.ts";
import { ConsoleBrowser, expectAccessible, listed, rowsOf, type SignIn } from "../../support/console.ts";
import { makeTeam } from "../../support/make.ts";

const chromium = findChromium();
const HOSTILE = "<img src=x onerror=alert(1)>";
const PASSWORD = "long-enough-password-1";

describe.skipIf(chromium === null)("the settings of the console", () => {
  let browser: ConsoleBrowser;
  const observer: SignIn = { email: "olga@example.com", password: PASSWORD };
  const teamAdmin: SignIn = { email: "tom@example.com", password: PASSWORD };

  beforeAll(async () => {
    browser = await ConsoleBrowser.start(chromium!);
    const { app: t } = browser;
    const team = await makeTeam(t, "Engineering");
    await makeTeam(t, HOSTILE);
    const create = async (user: object) =>
      expect(
        (await t.post("/users/admin", { password: PASSWORD, admin_forced_password_reset: false, ...user })).status,
      ).toBe(200);
    await create({ name: "Olga Observer", email: observer.email, global_role: "observer" });
    await create({ name: "Tom", email: teamAdmin.email, teams: [{ id: team.id, role: "admin" }] });
    await create({ name: HOSTILE, email: "hostile@example.com", teams: [{ id: team.id, role: "observer" }] });
  }, 600_000);
  afterEach(async () => {
    // The number of sign-ins from an address is limited.
    browser.app.clock.advance(5 * 60_000);
    await browser.finish();
  });
  afterAll(() => browser?.close());

  const userOf = (email: string) =>
    browser.app.store.users.first({ where: { op: "eq", column: "email", value: email } });

  it("list users with their roles, and open the first section without one in the path", async () => {
    const page = await browser.open("/settings/users?query=o");
    await listed(page, /users$/);
    expect(await page.getByRole("heading", { level: 1 }).textContent()).toBe("Users");
    await page.getByRole("navigation", { name: "Sections" }).getByRole("link", { name: "Users" }).waitFor();
    await page.getByRole("searchbox", { name: "Search" }).fill("hostile@");
    await listed(page, "1 user");
    const [row] = await rowsOf(page, "Users");
    expect(row!.slice(0, 4)).toEqual([HOSTILE, "hostile@example.com", "Observer of Engineering", "Password"]);
    await page.getByRole("navigation", { name: "Main" }).getByRole("link", { name: "Settings" }).click();
    await page.waitForURL("**/settings");
    await page.getByRole("navigation", { name: "Sections" }).waitFor();
    await page.goto(`${browser.url}/settings/nothing`);
    await page.getByRole("heading", { name: "This section does not exist" }).waitFor();
  });

  it("invite a user with roles on teams, show the link, and withdraw the invite", async () => {
    const page = await browser.open("/settings/users");
    await page.getByRole("button", { name: "Invite user" }).click();
    const dialog = page.getByRole("dialog", { name: "Invite user" });
    await dialog.getByRole("button", { name: "Invite user" }).click();
    await dialog.getByRole("alert").first().waitFor();
    await dialog.getByRole("textbox", { name: "Name" }).fill(HOSTILE);
    await dialog.getByRole("textbox", { name: "Email" }).fill("new@example.com");
    await dialog.getByRole("combobox", { name: "Role" }).selectOption("Roles on teams");
    await dialog.getByRole("combobox", { name: "Engineering" }).selectOption("Maintainer");
    await expectAccessible(page, "invite");
    await dialog.getByRole("button", { name: "Invite user" }).click();
    const link = page.getByRole("dialog", { name: "Link for new@example.com" });
    expect(await link.locator("pre").textContent()).toContain(`${browser.url}/login/invites/`);
    await page.keyboard.press("Escape");
    await expect.poll(() => rowsOf(page, "Invites")).toHaveLength(1);
    expect((await rowsOf(page, "Invites"))[0]!.slice(0, 3)).toEqual([
      HOSTILE,
      "new@example.com",
      "Maintainer of Engineering",
    ]);
    await expectAccessible(page, "users");
    await page.getByRole("button", { name: `Withdraw the invite of ${HOSTILE}` }).click();
    await page.getByRole("alertdialog").getByRole("button", { name: "Withdraw" }).click();
    await page.getByRole("table", { name: "Invites" }).waitFor({ state: "detached" });
    expect(await browser.app.store.invites.list()).toEqual([]);
  });

  it("change a user's name and role, require a new password, and delete a user after typing its name", async () => {
    const page = await browser.open("/settings/users");
    await page.getByRole("button", { name: `Edit: ${HOSTILE}` }).click();
    const dialog = page.getByRole("dialog", { name: `Edit ${HOSTILE}` });
    await dialog.getByRole("textbox", { name: "Email" }).fill(ADMIN.email);
    await dialog.getByRole("button", { name: "Save" }).click();
    await dialog.getByRole("alert").first().waitFor();
    await dialog.getByRole("textbox", { name: "Email" }).fill("hostile@example.com");
    await dialog.getByRole("textbox", { name: "Name" }).fill("Harmless");
    await dialog.getByRole("combobox", { name: "Role", exact: true }).selectOption("Technician");
    await dialog.getByRole("button", { name: "Save" }).click();
    await dialog.waitFor({ state: "detached" });
    expect(await userOf("hostile@example.com")).toMatchObject({ name: "Harmless", global_role: "technician" });

    await page.getByRole("button", { name: "Require new password: Harmless" }).click();
    await page.getByRole("alertdialog").getByRole("button", { name: "Require" }).click();
    await page
      .getByRole("row", { name: /Harmless/ })
      .getByText("new password required")
      .waitFor();
    expect(await userOf("hostile@example.com")).toMatchObject({ force_password_reset: true });

    await page.getByRole("button", { name: "Delete: Harmless" }).click();
    const confirm = page.getByRole("alertdialog", { name: "Delete Harmless" });
    expect(await confirm.getByRole("button", { name: "Delete" }).isDisabled()).toBe(true);
    await expectAccessible(page, "delete user");
    await confirm.getByRole("textbox", { name: "Type Harmless to confirm" }).fill("Harmless");
    await confirm.getByRole("button", { name: "Delete" }).click();
    await confirm.waitFor({ state: "detached" });
    expect(await userOf("hostile@example.com")).toBeNull();
    expect(await page.getByRole("button", { name: `Delete: ${ADMIN.name}` }).count()).toBe(0);
  });

  it("let the admin of a team see only its users, and observers no users at all", async () => {
    const page = await browser.open("/settings/users", { as: teamAdmin });
    await listed(page, /users?$/);
    expect((await rowsOf(page, "Users")).map(([name]) => name)).not.toContain("Olga Observer");
    expect(await page.getByRole("button", { name: "Invite user" }).count()).toBe(0);
    const denied = await browser.open("/settings/users", { as: observer });
    await denied.getByText("users:list").waitFor();
    expect(await denied.getByRole("table").count()).toBe(0);
    expect(await denied.getByRole("link", { name: "Users" }).count()).toBe(0);
  });

  it("list teams with their hosts, create and rename one, and delete it after typing its name", async () => {
    const page = await browser.open("/settings/teams");
    await listed(page, "2 teams");
    expect((await rowsOf(page, "Teams")).map(([name]) => name)).toContain(HOSTILE);
    await page.getByRole("button", { name: "Create team" }).click();
    const dialog = page.getByRole("dialog", { name: "Create team" });
    await dialog.getByRole("textbox", { name: "Name" }).fill("Engineering");
    await dialog.getByRole("button", { name: "Create team" }).click();
    await dialog.getByRole("alert").first().waitFor();
    await dialog.getByRole("textbox", { name: "Name" }).fill("Sales");
    await expectAccessible(page, "create team");
    await dialog.getByRole("button", { name: "Create team" }).click();
    await listed(page, "3 teams");
    await page.getByRole("button", { name: "Team: All teams" }).click();
    await page.getByRole("option", { name: "Sales" }).click();
    await page.waitForURL(/team_id=/);

    await page.getByRole("button", { name: "Edit: Sales" }).click();
    await page.getByRole("dialog").getByRole("textbox", { name: "Name" }).fill("Field sales");
    await page.getByRole("dialog").getByRole("button", { name: "Save" }).click();
    await page.getByRole("button", { name: "Team: Field sales" }).waitFor();
    await page.getByRole("button", { name: "Delete: Field sales" }).click();
    const confirm = page.getByRole("alertdialog", { name: "Delete Field sales" });
    await confirm.getByRole("textbox", { name: "Type Field sales to confirm" }).fill("Field sales");
    await confirm.getByRole("button", { name: "Delete" }).click();
    await listed(page, "2 teams");
    await page.getByRole("button", { name: "Team: All teams" }).waitFor();
    expect((await browser.app.store.teams.list()).map(({ name }) => name).sort()).toEqual([HOSTILE, "Engineering"]);
    await expectAccessible(page, "teams");
  });

  it("add and remove enroll secrets of a team and of hosts without a team", async () => {
    const page = await browser.open("/settings/teams");
    const secrets = async (teamId: number | null) =>
      (await browser.app.store.enrollSecrets.list()).filter(({ team_id }) => team_id === teamId);
    await page.getByRole("button", { name: "Enroll secrets: Engineering" }).click();
    const dialog = page.getByRole("dialog", { name: "Enroll secrets of Engineering" });
    await dialog.getByRole("button", { name: "Add secret" }).click();
    await expect.poll(() => rowsOf(page, "Enroll secrets")).toHaveLength(1);
    expect(await secrets(1)).toMatchObject([{ secret: (await rowsOf(page, "Enroll secrets"))[0]![0] }]);
    await expectAccessible(page, "secrets");
    await dialog.getByRole("button", { name: "Remove" }).click();
    await page.getByRole("alertdialog").getByRole("button", { name: "Remove" }).click();
    await dialog.getByText("no host can enroll").waitFor();
    expect(await secrets(1)).toEqual([]);

    await page.goto(`${browser.url}/settings/enroll-secrets`);
    await page.getByRole("button", { name: "Show secrets" }).click();
    const before = (await secrets(null)).length;
    await page.getByRole("button", { name: "Add secret" }).click();
    await expect.poll(() => rowsOf(page, "Enroll secrets")).toHaveLength(before + 1);
    expect(await secrets(null)).toHaveLength(before + 1);
  });

  it("create a token that is shown once and works, and delete it", async () => {
    const page = await browser.open("/settings/tokens", { permissions: ["clipboard-read", "clipboard-write"] });
    await page.getByText("Programs use the API with a token").waitFor();
    await page.getByRole("button", { name: "Create token" }).click();
    const dialog = page.getByRole("dialog", { name: "Create token" });
    await dialog.getByRole("textbox", { name: "Name" }).fill(HOSTILE);
    await dialog.getByRole("textbox", { name: "Only these endpoints" }).fill("GET /nothing");
    await dialog.getByRole("button", { name: "Create token" }).click();
    await dialog.getByRole("alert").first().waitFor();
    await dialog.getByRole("textbox", { name: "Only these endpoints" }).fill("GET /me\n");
    await expectAccessible(page, "create token");
    await dialog.getByRole("button", { name: "Create token" }).click();
    const shown = page.getByRole("dialog", { name: `Token ${HOSTILE}` });
    await shown.getByRole("button", { name: "Copy: Token" }).click();
    const token = await shown.locator("pre").textContent();
    const call = (path: string) =>
      fetch(`${browser.url}/api/v1/svc${path}`, { headers: { authorization: `Bearer ${token}` } });
    expect((await call("/me")).status).toBe(200);
    expect((await call("/hosts")).status).toBe(403);
    await page.keyboard.press("Escape");
    await listed(page, "1 token");
    expect((await rowsOf(page, "Tokens"))[0]!.slice(0, 2)).toEqual([HOSTILE, "GET /me"]);
    expect(await page.content()).not.toContain(token);
    await expectAccessible(page, "tokens");
    await page.getByRole("button", { name: `Delete: ${HOSTILE}` }).click();
    await page.getByRole("alertdialog").getByRole("button", { name: "Delete" }).click();
    await page.getByText("Programs use the API with a token").waitFor();
    expect((await call("/me")).status).toBe(401);
  });

  it("show observers teams without buttons, and no enroll secrets", async () => {
    const page = await browser.open("/settings/teams", { as: observer });
    await listed(page, "2 teams");
    const main = page.getByRole("main");
    for (const name of ["Create team", /^Edit/, /^Delete/, /^Enroll secrets/])
      expect(await main.getByRole("button", { name }).count()).toBe(0);
    await page.goto(`${browser.url}/settings/enroll-secrets`);
    await page.getByText("enroll_secrets:read").waitFor();
    await page.goto(`${browser.url}/settings`);
    await page.getByRole("heading", { level: 1, name: "Organization" }).waitFor();
  });

  it("show what a form changes, key by key, before they send only that", async () => {
    const page = await browser.open("/settings/organization");
    await page.getByRole("textbox", { name: "Contact URL" }).fill("not a url");
    await page.getByRole("button", { name: "Save", exact: true }).click();
    await page.getByRole("textbox", { name: "Contact URL" }).and(page.locator("[aria-invalid]")).waitFor();
    await page.getByRole("textbox", { name: "Contact URL" }).fill("https://help.example.com/");
    await page.getByRole("textbox", { name: "Name", exact: true }).fill(HOSTILE);
    await expectAccessible(page, "organization");
    // Another user changes something meanwhile: the form does not undo it.
    expect((await browser.app.patch("/config", { server_settings: { query_report_cap: 77 } })).status).toBe(200);
    await page.getByRole("button", { name: "Save", exact: true }).click();
    const dialog = page.getByRole("alertdialog", { name: "Save Organization" });
    await dialog.waitFor();
    expect((await rowsOf(page, "Changes")).map(([key, , after]) => [key, after])).toEqual([
      ["org_info.org_name", HOSTILE],
      ["org_info.contact_url", "https://help.example.com/"],
    ]);
    expect(await dialog.locator("pre").textContent()).toContain("org_info.contact_url=https://help.example.com/");
    await expectAccessible(page, "changes");
    await dialog.getByRole("button", { name: "Save", exact: true }).click();
    await page.getByRole("banner").getByText(HOSTILE).waitFor();
    expect(await (await browser.app.get("/config")).json()).toMatchObject({
      org_info: { org_name: HOSTILE, contact_url: "https://help.example.com/" },
      server_settings: { query_report_cap: 77 },
    });
    await page.getByRole("button", { name: "Save", exact: true }).click();
    await page.getByText("There are no changes to save.").waitFor();
  });

  it("change agent options as JSON, with the difference inside of them and the server's words about mistakes", async () => {
    const page = await browser.open("/settings/agents");
    const box = page.getByRole("textbox", { name: "Agent options" });
    const options = JSON.parse(await box.inputValue()) as { config: { options: Record<string, unknown> } };
    const save = async (text: string) => {
      await box.fill(text);
      await page.getByRole("button", { name: "Save", exact: true }).click();
    };
    await save("{");
    await page.getByText("is not JSON").waitFor();
    await save('{"config": {"optoins": {}}}');
    await page
      .getByText(/optoins/)
      .nth(1)
      .waitFor();
    options.config.options.logger_tls_period = 20;
    await save(JSON.stringify(options));
    await page.getByRole("alertdialog", { name: "Save Agents" }).waitFor();
    expect(await rowsOf(page, "Changes")).toEqual([["agent_options.config.options.logger_tls_period", "10", "20"]]);
    await page.getByRole("alertdialog").getByRole("button", { name: "Save", exact: true }).click();
    await page.getByText("The settings are saved.").waitFor();
    const config = (await (await browser.app.get("/config")).json()) as { agent_options: unknown };
    expect(config.agent_options).toEqual(options);
  });

  it("have the other sections too, all of which can be used with a screen reader", async () => {
    const page = await browser.open("/settings/organization");
    const links = page.getByRole("navigation", { name: "Sections" });
    for (const name of ["Sign-in", "Host expiry", "Activity expiry", "GitOps mode", "Webhooks", "License and health"]) {
      await links.getByRole("link", { name, exact: true }).click();
      await page.getByRole("heading", { level: 1, name }).waitFor();
      await page
        .getByText(/^Loading/)
        .first()
        .waitFor({ state: "detached" });
      await expectAccessible(page, name);
    }
  });

  it("show observers the settings without forms, and none that contain secrets", async () => {
    const page = await browser.open("/settings/organization", { as: observer });
    await page.getByText("Contact URL").waitFor();
    expect(await page.getByRole("main").getByRole("textbox").count()).toBe(0);
    await page.goto(`${browser.url}/settings/agents`);
    await page.getByText("Hosts report their software").waitFor();
    expect(await page.getByText("Agent options").count()).toBe(0);
    for (const [id, action] of [
      ["sign-in", "config:read_secrets"],
      ["jobs", "jobs:trigger"],
    ]) {
      await page.goto(`${browser.url}/settings/${id}`);
      await page.getByText(action!).waitFor();
    }
  });

  it("list jobs and run one", async () => {
    const page = await browser.open("/settings/jobs");
    await listed(page, /jobs$/);
    await expectAccessible(page, "jobs");
    const [name] = (await rowsOf(page, "Jobs"))[0]!;
    await page.getByRole("button", { name: `Run ${name}` }).click();
    await page.getByText(`The job ${name} is started.`).waitFor();
  });
});
