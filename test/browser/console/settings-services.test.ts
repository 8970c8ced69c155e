// Mail, integrations, certificate authorities, webhooks and carves in the settings of the console.
import { readFileSync } from "node:fs";
import type { Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { makeUser, PASSWORD } from "../../support/accounts.ts";
import { findChromium } from "../../support/browser.ts";
import { ConsoleBrowser, expectAccessible, listed, rowsOf } from "../../support/console.ts";
import { makeCarve, makeHost } from "../../support/make.ts";
import { startReceiver } from "../../support/receiver.ts";
import { startSmtp } from "../../support/smtp.ts";

const chromium = findChromium();
const HOSTILE = "<img src=x onerror=alert(1)>";
const MASK = "********";

describe.skipIf(chromium === null)("services in the settings of the console", () => {
  let browser: ConsoleBrowser;

  beforeAll(async () => {
    const settings = { outbound_allow: ["127.0.0.1", "localhost"], check_integrations: true };
    browser = await ConsoleBrowser.start(chromium!, { settings });
  }, 600_000);
  afterEach(async () => {
    // The number of sign-ins from an address is limited.
    browser.app.clock.advance(5 * 60_000);
    await browser.finish();
  });
  afterAll(() => browser?.close());

  const config = async () => (await (await browser.app.get("/config")).json()) as Record<string, never>;
  const asObserver = async () => {
    const { user } = await makeUser(browser.app, "observer", { api_only: false });
    return { email: user.email, password: PASSWORD };
  };
  const confirm = async (page: Page, title: string, verb: string) => {
    const dialog = page.getByRole("alertdialog", { name: title });
    await dialog.getByRole("button", { name: verb, exact: true }).click();
    await dialog.waitFor({ state: "detached" });
  };

  it("try mail before it is saved, and save the password without ever showing it", async () => {
    const smtp = await startSmtp();
    const page = await browser.open("/settings/mail");
    const field = (name: string) => page.getByRole("textbox", { name, exact: true });
    await page.getByRole("checkbox", { name: "The server sends mail" }).check();
    await field("Mail server").fill("localhost");
    await field("Sender address").fill("no address");
    await page.getByRole("button", { name: "Save", exact: true }).click();
    await field("Sender address").and(page.locator("[aria-invalid]")).waitFor();
    await field("Sender address").fill("svc@example.com");
    await page.getByRole("spinbutton", { name: "Port" }).fill(String(smtp.port));
    await page.getByRole("checkbox", { name: "Connections are encrypted" }).uncheck();
    await page.getByRole("checkbox", { name: "STARTTLS" }).uncheck();
    await page.getByRole("button", { name: "Send test mail" }).click();
    const dialog = page.getByRole("dialog", { name: "Send test mail" });
    await dialog.getByRole("textbox", { name: "To" }).fill(HOSTILE);
    await dialog.getByRole("button", { name: "Send" }).click();
    await dialog.getByRole("alert").first().waitFor();
    await dialog.getByRole("textbox", { name: "To" }).fill("somebody@example.com");
    await expectAccessible(page, "test mail");
    await dialog.getByRole("button", { name: "Send" }).click();
    await page.getByText("accepted a mail to somebody@example.com").waitFor();
    expect(smtp.mails).toHaveLength(1);
    expect(await config()).toMatchObject({ smtp_settings: { enable_smtp: false } });

    await field("User name").fill("svc");
    await page.getByLabel("Password", { exact: true }).fill("a secret of mail");
    await page.getByRole("button", { name: "Save", exact: true }).click();
    await page.getByRole("alertdialog", { name: "Save Mail" }).waitFor();
    const changes = await rowsOf(page, "Changes");
    expect(changes).toContainEqual(["smtp_settings.password", "(empty)", "(another secret)"]);
    expect(await page.getByRole("alertdialog").textContent()).not.toContain("a secret of mail");
    await expectAccessible(page, "changes of mail");
    await confirm(page, "Save Mail", "Save");
    expect(await config()).toMatchObject({ smtp_settings: { enable_smtp: true, user_name: "svc", password: MASK } });
    await expect.poll(() => page.getByLabel("Password", { exact: true }).inputValue()).toBe(MASK);

    // The password is not given to another server.
    await field("Mail server").fill("other.example.com");
    await page.getByRole("button", { name: "Save", exact: true }).click();
    await page.getByText(/must be sent again/).waitFor();
    expect((await browser.app.patch("/config", { smtp_settings: { enable_smtp: false } })).status).toBe(200);
  });

  it("add, change and delete a tracker, which is contacted first", async () => {
    let isOpen = false;
    const tracker = await startReceiver({
      answer: ({ path }) => {
        const reply = (status: number, body: object) => ({
          status,
          headers: { "content-type": "application/json" },
          body: JSON.stringify(body),
        });
        if (!isOpen) return reply(401, {});
        return reply(
          200,
          path.includes("project") ? { key: "OPS", issueTypes: [{ name: "Task" }] } : { accountId: "1" },
        );
      },
    });
    const page = await browser.open("/settings/integrations");
    await page.getByText("There are no trackers.").waitFor();
    await expectAccessible(page, "integrations");
    await page.getByRole("button", { name: "Add tracker" }).click();
    const dialog = page.getByRole("dialog", { name: "Add tracker" });
    await dialog.getByRole("textbox", { name: "URL" }).fill(tracker.url);
    await dialog.getByRole("textbox", { name: "User name" }).fill(HOSTILE);
    await dialog.getByLabel("API token").fill("a secret of the tracker");
    await dialog.getByRole("textbox", { name: "Key of the project" }).fill("OPS");
    await dialog.getByRole("checkbox", { name: "Tickets for policies that hosts fail" }).check();
    await dialog.getByRole("button", { name: "Add tracker" }).click();
    await dialog.getByText(/the tracker answered 401/).waitFor();
    await expectAccessible(page, "tracker that refuses");
    isOpen = true;
    await dialog.getByRole("button", { name: "Add tracker" }).click();
    await page.getByRole("alertdialog", { name: "Save Ticket trackers" }).waitFor();
    expect(await rowsOf(page, "Changes")).toContainEqual([
      "integrations.ticketing_a.0.api_token",
      "(not set)",
      "(another secret)",
    ]);
    expect(await page.getByRole("alertdialog").textContent()).not.toContain("a secret of the tracker");
    await confirm(page, "Save Ticket trackers", "Save");
    await expect.poll(() => rowsOf(page, "Ticket trackers")).toHaveLength(1);
    expect((await rowsOf(page, "Ticket trackers"))[0]!.slice(0, 4)).toEqual([tracker.url, "OPS", HOSTILE, "policies"]);

    const name = `OPS at ${tracker.url}`;
    await page.getByRole("button", { name: `Edit: ${name}` }).click();
    const editing = page.getByRole("dialog", { name: `Edit ${name}` });
    expect(await editing.getByLabel("API token").inputValue()).toBe(MASK);
    await editing.getByRole("checkbox", { name: "Tickets for new vulnerabilities" }).check();
    await editing.getByRole("button", { name: "Save" }).click();
    await page.getByRole("alertdialog").waitFor();
    expect(await rowsOf(page, "Changes")).toEqual([
      ["integrations.ticketing_a.0.enable_software_vulnerabilities", "false", "true"],
    ]);
    await confirm(page, "Save Ticket trackers", "Save");
    const [entry] = await browser.app.store.configSections.list({
      where: { op: "eq", column: "section", value: "integrations" },
    });
    expect(JSON.stringify(entry)).toContain("a secret of the tracker");

    await page.getByRole("button", { name: `Delete: ${name}` }).click();
    await confirm(page, `Delete ${name}`, "Delete");
    await page.getByText("There are no trackers.").waitFor();
  });

  it("add a calendar whose key is masked, and YARA rules", async () => {
    const page = await browser.open("/settings/integrations?tab=calendars");
    await page.getByRole("button", { name: "Add calendar" }).click();
    const dialog = page.getByRole("dialog", { name: "Add calendar" });
    await dialog.getByRole("textbox", { name: "Domain" }).fill("example.com");
    await dialog.getByRole("textbox", { name: "Key of the service account" }).fill("{");
    await dialog.getByRole("button", { name: "Add calendar" }).click();
    await dialog.getByText("is not JSON").waitFor();
    const key = { client_email: "svc@example.iam.example.com", private_key: "a secret of the calendar" };
    await dialog.getByRole("textbox", { name: "Key of the service account" }).fill(JSON.stringify(key));
    await dialog.getByRole("button", { name: "Add calendar" }).click();
    await confirm(page, "Save Calendars", "Save");
    await expect.poll(() => rowsOf(page, "Calendars")).toHaveLength(1);
    await page.getByRole("button", { name: "Edit: example.com" }).click();
    const shown = page.getByRole("textbox", { name: "Key of the service account" });
    expect(JSON.parse(await shown.inputValue())).toEqual({ ...key, private_key: MASK });
    await page.keyboard.press("Escape");

    await page.goto(`${browser.url}/settings/agents`);
    await page.getByRole("button", { name: "Add rules" }).click();
    await page.getByRole("textbox", { name: "Name of the file" }).fill("eicar.yar");
    await page.getByRole("textbox", { name: "Rules" }).fill("rule eicar { condition: true }");
    await page.getByRole("dialog").getByRole("button", { name: "Add rules" }).click();
    await confirm(page, "Save YARA rules", "Save");
    await expect.poll(async () => (await rowsOf(page, "YARA rules"))[0]?.slice(0, 2)).toEqual(["eicar.yar", "30"]);
    await expectAccessible(page, "agents");
  });

  it("add a certificate authority of each kind's fields, change and delete it", async () => {
    const page = await browser.open("/settings/authorities");
    await page.getByText("issued by authorities of yours").waitFor();
    await page.getByRole("button", { name: "Add authority" }).click();
    const dialog = page.getByRole("dialog", { name: "Add authority" });
    await dialog.getByRole("combobox", { name: "Kind" }).selectOption({ label: "EST server" });
    await dialog.getByRole("checkbox", { name: "Hosts may request certificates" }).waitFor();
    await dialog.getByRole("combobox", { name: "Kind" }).selectOption({ label: "SCEP server" });
    await dialog.getByRole("textbox", { name: "Name" }).fill("not a name");
    await dialog.getByRole("textbox", { name: "URL" }).fill("http://127.0.0.1:9/scep");
    await dialog.getByLabel("Challenge").fill("a secret of the authority");
    await dialog.getByRole("checkbox", { name: "Save without contacting it" }).check();
    await dialog.getByRole("button", { name: "Add authority" }).click();
    await dialog.getByText(/only letters, numbers and underscores/).waitFor();
    await expectAccessible(page, "add authority");
    await dialog.getByRole("textbox", { name: "Name" }).fill("Campus");
    await dialog.getByRole("button", { name: "Add authority" }).click();
    await listed(page, "1 authority");
    expect((await rowsOf(page, "Certificate authorities"))[0]!.slice(0, 2)).toEqual(["Campus", "SCEP server"]);

    await page.getByRole("button", { name: "Edit: Campus" }).click();
    const editing = page.getByRole("dialog", { name: "Edit Campus" });
    expect(await editing.getByLabel("Challenge").inputValue()).toBe(MASK);
    await editing.getByRole("textbox", { name: "URL" }).fill("http://127.0.0.1:9/other");
    await editing.getByRole("checkbox", { name: "Save without contacting it" }).check();
    await editing.getByRole("button", { name: "Save", exact: true }).click();
    await editing.getByText(/challenge is required/).waitFor();
    await editing.getByLabel("Challenge").fill("another secret");
    await editing.getByRole("button", { name: "Save", exact: true }).click();
    await editing.waitFor({ state: "detached" });
    expect(await (await browser.app.get("/certificate_authorities/1")).json()).toMatchObject({
      url: "http://127.0.0.1:9/other",
      challenge: MASK,
    });

    await page.getByRole("button", { name: "Delete: Campus" }).click();
    await page.getByRole("textbox", { name: "Type Campus to confirm" }).fill("Campus");
    await confirm(page, "Delete Campus", "Delete");
    await page.getByText("issued by authorities of yours").waitFor();
  });

  it("send a sample, list it with its payload, send it again, and change what is sent along", async () => {
    let status = 500;
    const receiver = await startReceiver({ answer: () => ({ status }) });
    const page = await browser.open("/settings/webhooks");
    const send = async () => {
      await page.getByRole("button", { name: "Send sample" }).click();
      const dialog = page.getByRole("dialog", { name: "Send sample" });
      await dialog.getByRole("textbox", { name: "URL" }).fill(receiver.url);
      await dialog.getByRole("button", { name: "Send", exact: true }).click();
      return dialog;
    };
    const refused = await send();
    await refused.getByText(/did not accept it/).waitFor();
    await page.keyboard.press("Escape");
    status = 204;
    await send();
    await page.getByText(/accepted the sample \(204\)/).waitFor();
    await page.getByRole("tab", { name: "Deliveries" }).click();
    await listed(page, "2 deliveries");
    const [newest] = await rowsOf(page, "Deliveries");
    expect(newest!.slice(1, 5)).toEqual(["Sample", "Webhook", "delivered", receiver.url]);
    await page.getByRole("button", { name: `Show: delivery ${newest![0]}` }).click();
    const details = page.getByRole("region", { name: "Details" });
    await details.getByRole("heading", { name: `Delivery ${newest![0]}` }).waitFor();
    expect(JSON.parse((await details.locator("pre").textContent())!)).toBeTypeOf("object");
    await expectAccessible(page, "deliveries");
    const before = receiver.received.length;
    await page.getByRole("button", { name: `Send again: delivery ${newest![0]}` }).click();
    await page.getByText(`Delivery ${newest![0]} is sent again.`).waitFor();
    await receiver.got(before + 1);

    await page.getByRole("tab", { name: "Destinations" }).click();
    await listed(page, "1 destination");
    await page.getByRole("button", { name: `Headers: ${receiver.url}` }).click();
    const headers = page.getByRole("dialog", { name: `Headers for ${receiver.url}` });
    await headers.getByRole("textbox", { name: "Headers" }).fill("Host: other");
    await headers.getByRole("button", { name: "Save" }).click();
    await headers.getByRole("alert").first().waitFor();
    await headers.getByRole("textbox", { name: "Headers" }).fill("X-Key: a secret of the receiver");
    await expectAccessible(page, "headers");
    await headers.getByRole("button", { name: "Save" }).click();
    await headers.waitFor({ state: "detached" });
    expect((await rowsOf(page, "Destinations"))[0]!.slice(0, 2)).toEqual([receiver.url, "x-key"]);
    await page.getByRole("button", { name: `New signing secret: ${receiver.url}` }).click();
    await page.getByRole("alertdialog").getByRole("button", { name: "Create" }).click();
    const shown = page.getByRole("dialog", { name: `Signing secret for ${receiver.url}` });
    expect(await shown.locator("pre").textContent()).toMatch(/^whsec_/);
    await page.keyboard.press("Escape");
    await expectAccessible(page, "destinations");
  });

  it("list carves, and download those that are complete", async () => {
    const { app: t } = browser;
    const host = await makeHost(t, { hostname: "ada-mac" });
    await makeCarve(t, host.id, Buffer.from("all of the archive"), { name: "whole" });
    await makeCarve(t, host.id, Buffer.from("half of the archive"), { name: HOSTILE, stored: 2 });
    const page = await browser.open("/settings/carves");
    await listed(page, "2 carves");
    await expectAccessible(page, "carves");
    expect(await page.getByRole("button", { name: `Download: ${HOSTILE}` }).isDisabled()).toBe(true);
    await page.getByText("2 of 5 blocks").waitFor();
    const [download] = await Promise.all([
      page.waitForEvent("download"),
      page.getByRole("button", { name: "Download: whole" }).click(),
    ]);
    expect(readFileSync(await download.path(), "utf8")).toBe("all of the archive");
  });

  it("are not there for those who may not have them", async () => {
    const page = await browser.open("/settings/integrations", { as: await asObserver() });
    const sections = page.getByRole("navigation", { name: "Sections" });
    await sections.waitFor();
    for (const name of ["Mail", "Certificate authorities", "Carves"])
      expect(await sections.getByRole("link", { name, exact: true }).count(), name).toBe(0);
    await page.getByText("There are no trackers.").waitFor();
    for (const name of [/^Add/, /^Edit/, /^Delete/, /^Connect/]) {
      expect(await page.getByRole("main").getByRole("button", { name }).count()).toBe(0);
    }
    await page.goto(`${browser.url}/settings/webhooks`);
    await page.getByText("URL for activities", { exact: true }).waitFor();
    expect(await page.getByRole("tab").count()).toBe(0);
    for (const [id, action] of [
      ["mail", "config:read_secrets"],
      ["authorities", "ca:read"],
      ["carves", "carves:read"],
    ]) {
      await page.goto(`${browser.url}/settings/${id}`);
      await page.getByText(action!).waitFor();
    }
  });
});
