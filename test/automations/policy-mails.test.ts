// Mails about hosts that newly fail policies: who gets them, how often, and how recipients unsubscribe.
import { describe, expect, it } from "vitest";
import { policyMails } from "../../src/server/automations/policy-mails/job.ts";
import { recordFailing } from "../../src/server/checks/policies/automations.ts";
import { runJob } from "../../src/server/edge/jobs/start.ts";
import { hours, minutes } from "../../src/server/platform/core/clock.ts";
import { eq } from "../../src/server/platform/store/query.ts";
import { type StartOptions, startApp, type TestApp } from "../support/app.ts";
import { bothEngines, rulesEngines } from "../support/engines.ts";
import { makeHost, makePolicy, makeResults, makeTeam, makeUser } from "../support/make.ts";
import { startReceiver } from "../support/receiver.ts";
import { withSecondServer } from "../support/second-server.ts";
import { mailOf, smtpSettings, startSmtp, useMail } from "../support/smtp.ts";
import { WebVisitor } from "../support/web.ts";

const start = (engine: StartOptions["engine"]) =>
  startApp({ engine, settings: { outbound_allow: "127.0.0.1,localhost" } });
type Policy = Awaited<ReturnType<typeof makePolicy>>;

const webhookSettings = (policies: readonly Policy[], mail: object) => ({
  webhook_settings: {
    failing_policies_webhook: { policy_ids: policies.map(({ id }) => id) },
    failing_policies_mail: { enable_failing_policies_mail: true, recipients: ["ann@example.com"], ...mail },
  },
});
async function configure(t: TestApp, path: string, policies: readonly Policy[], mail: object = {}): Promise<void> {
  const response = await t.patch(path, webhookSettings(policies, mail));
  expect(response.status, await response.clone().text()).toBe(200);
}

async function failing(t: TestApp, policy: Policy, count: number, more: object = {}) {
  const made: Awaited<ReturnType<typeof makeHost>>[] = [];
  for (let i = 0; i < count; i++) made.push(await makeHost(t, more));
  for (const { id } of made) await makeResults(t, id, { failing: [policy] });
  const pairs = made.map(({ id }) => ({ policy_id: policy.id, host_id: id }));
  await t.store.tx((tx) => recordFailing(tx, pairs, t.clock.iso()));
  return made;
}

const drained = (t: TestApp) => expect.poll(() => t.store.outbox.count(eq("state", "pending"))).toBe(0);
const sent = async (t: TestApp) => {
  await runJob(t.services, "policy_mails");
  await drained(t);
};
const linkIn = (raw: string): string => {
  const unfolded = raw.replace(/\r\n[ \t]/g, "");
  const [, url] = /^List-Unsubscribe:\s*<https?:\/\/[^/]+(\/mail\/unsubscribe\/[^>]+)>/m.exec(unfolded) ?? [];
  if (url === undefined) throw new Error(unfolded);
  return url;
};
const oneClick = (t: TestApp, path: string, type = "application/x-www-form-urlencoded") =>
  t.raw(path, { method: "POST", headers: { "content-type": type }, body: "List-Unsubscribe=One-Click" });

describe.each(bothEngines)("mails about failing policies on %s", (engine) => {
  it("go to each recipient once, with the policies of the team and the hosts that newly fail them", async () => {
    const t = await start(engine);
    const smtp = await mailOf(t);
    const team = await makeTeam(t, "Workstations");
    const disk = await makePolicy(t, { name: "Disk is encrypted", team_id: team.id });
    const firewall = await makePolicy(t, { name: "Firewall is on", team_id: team.id });
    const ignored = await makePolicy(t, { name: "Nobody is told", team_id: team.id });
    const recipients = ["ann@example.com", "Bob@example.com"];
    await configure(t, `/teams/${team.id}`, [disk, firewall], { recipients, digest: "immediately" });
    const [first, recovered] = await failing(t, disk, 3, { team_id: team.id });
    await makeResults(t, recovered!.id, { passing: [disk] });
    await failing(t, firewall, 30, { team_id: team.id });
    await failing(t, ignored, 1, { team_id: team.id });
    await sent(t);

    expect(smtp.mails.map(({ rcpt }) => rcpt).sort()).toEqual([["Bob@example.com"], ["ann@example.com"]]);
    const mail = await smtp.mailTo("ann@example.com");
    expect(mail.subject).toBe("Hosts fail 2 policies of Workstations: Disk is encrypted, Firewall is on");
    expect(mail.text).toContain("Disk is encrypted (2 hosts): ");
    expect(mail.text).toContain(first!.hostname);
    expect(mail.text).not.toContain(recovered!.hostname);
    expect(mail.text).toMatch(/Firewall is on \(30 hosts\): .* and 10 more\. /);
    expect(mail.text).toContain(`/hosts?policy_id=${disk.id}&policy_response=failing&team_id=${team.id}`);
    expect(mail.text).not.toContain("Nobody is told");
    expect(mail.raw).toMatch(/^List-Unsubscribe-Post: List-Unsubscribe=One-Click/m);
    expect(await t.store.policyEvents.list()).toMatchObject([{ policy_id: ignored.id }]);
    t.clock.advance(hours(25));
    await sent(t);
    expect(smtp.mails).toHaveLength(2);
  });

  it("come from one of two servers, and nothing is lost if a server stops in between", async () => {
    const t = await start(engine);
    const smtp = await mailOf(t);
    const policy = await makePolicy(t);
    await configure(t, "/config", [policy], { digest: "immediately" });
    await failing(t, policy, 2);
    const random = new Proxy(t.services.random, {
      get: (target, name) => {
        if (name === "token") throw new Error("killed");
        return Reflect.get(target, name);
      },
    });
    const signal = new AbortController().signal;
    await expect(policyMails.run({ ...t.services, random }, signal)).rejects.toThrow("killed");
    expect(await t.store.policyEvents.count(eq("is_mailed", false))).toBe(2);
    expect(await t.store.outbox.count()).toBe(0);
    if (engine === "postgres")
      await withSecondServer(t, async (there) => {
        await Promise.all([policyMails.run(t.services, signal), policyMails.run(there.services, signal)]);
      });
    else await Promise.all([policyMails.run(t.services, signal), policyMails.run(t.services, signal)]);
    await drained(t);
    expect(smtp.mails).toHaveLength(1);
  });

  it("end with the signed link in each of them, until an administrator adds the address again", async () => {
    const t = await start(engine);
    const smtp = await mailOf(t);
    const team = await makeTeam(t, "Kiosks");
    const [own, global] = [await makePolicy(t, { team_id: team.id }), await makePolicy(t)];
    const recipients = ["ann@example.com", "bob@example.com"];
    await configure(t, `/teams/${team.id}`, [own], { recipients, digest: "immediately" });
    await configure(t, "/config", [global], { recipients, digest: "immediately" });
    await failing(t, own, 1, { team_id: team.id });
    await sent(t);
    const link = linkIn((await smtp.mailTo("ann@example.com")).raw);
    await smtp.mailTo("bob@example.com");

    // Opening the link changes nothing, because mail scanners do so.
    const visitor = new WebVisitor(t);
    const page = await visitor.get(link);
    expect([page.status, page.text]).toEqual([200, expect.stringContaining("ann@example.com")]);
    expect(await t.store.mailOptOuts.count()).toBe(0);
    for (const forged of [
      `${link.slice(0, -2)}AA`,
      link.replace(/unsubscribe\/./, "unsubscribe/x"),
      "/mail/unsubscribe/x",
    ])
      expect([forged, (await oneClick(t, forged)).status]).toEqual([forged, 404]);
    expect(await t.store.mailOptOuts.count()).toBe(0);

    for (const type of ["application/x-www-form-urlencoded", "multipart/form-data; boundary=b"])
      expect((await oneClick(t, link, type)).status).toBe(200);
    expect(await t.store.mailOptOuts.list()).toMatchObject([{ email: "ann@example.com", team_id: team.id }]);
    const recorded = await t.store.activities.list({ where: eq("type", "unsubscribed_from_policy_mails") });
    expect(recorded.map(({ details }) => details)).toEqual([
      { email: "ann@example.com", team_id: team.id, team_name: "Kiosks" },
    ]);

    // Other changes of the settings, and mails of others, are not concerned.
    const patched = await t.patch(`/teams/${team.id}`, { webhook_settings: { failing_policies_mail: { recipients } } });
    expect(patched.status).toBe(200);
    await failing(t, own, 1, { team_id: team.id });
    await failing(t, global, 1);
    await sent(t);
    expect(smtp.mails.slice(2).map(({ rcpt, subject }) => [rcpt[0], subject!.includes("Kiosks")])).toEqual(
      expect.arrayContaining([
        ["bob@example.com", true],
        ["ann@example.com", false],
        ["bob@example.com", false],
      ]),
    );
    expect(smtp.mails).toHaveLength(5);

    for (const list of [["bob@example.com"], ["bob@example.com", "Ann@example.com"]]) {
      const changed = { webhook_settings: { failing_policies_mail: { recipients: list } } };
      expect((await t.patch(`/teams/${team.id}`, changed)).status).toBe(200);
    }
    await failing(t, own, 1, { team_id: team.id });
    await sent(t);
    expect(
      smtp.mails
        .slice(5)
        .map(({ rcpt }) => rcpt[0]!)
        .sort(),
    ).toEqual(["Ann@example.com", "bob@example.com"]);
  });
});

describe.each(rulesEngines)("mails about failing policies on %s", (engine) => {
  it("are collected for an hour or a day", async () => {
    const t = await start(engine);
    const smtp = await mailOf(t);
    const policy = await makePolicy(t, { name: "Screen lock" });
    for (const [digest, period] of [
      ["hourly", hours(1)],
      ["daily", hours(24)],
    ] as const) {
      t.clock.advance(hours(48));
      await configure(t, "/config", [policy], { digest });
      const before = smtp.mails.length;
      await failing(t, policy, 1);
      await sent(t);
      expect(smtp.mails).toHaveLength(before + 1);
      await failing(t, policy, 2);
      t.clock.advance(period - minutes(1));
      await sent(t);
      expect([digest, smtp.mails.length]).toEqual([digest, before + 1]);
      await failing(t, policy, 1);
      t.clock.advance(minutes(1));
      await sent(t);
      expect(smtp.mails).toHaveLength(before + 2);
      expect(smtp.mails.at(-1)!.text).toContain("Screen lock (3 hosts)");
    }
  });

  it("are independent of the webhook for the same policies", async () => {
    const receiver = await startReceiver();
    const t = await start(engine);
    const smtp = await mailOf(t);
    const policy = await makePolicy(t);
    await configure(t, "/config", [policy], { digest: "immediately" });
    const hook = { enable_failing_policies_webhook: true, destination_url: receiver.url, host_batch_size: 0 };
    expect((await t.patch("/config", { webhook_settings: { failing_policies_webhook: hook } })).status).toBe(200);
    for (const jobs of [
      ["policy_mails", "automations"],
      ["automations", "policy_mails"],
    ]) {
      const before = smtp.mails.length;
      await failing(t, policy, 2);
      // A second run of the same job finds nothing.
      for (const job of [jobs[0]!, jobs[0]!, jobs[1]!, jobs[1]!]) await runJob(t.services, job);
      await drained(t);
      expect([jobs, receiver.bodies().length, smtp.mails.length]).toEqual([jobs, before + 1, before + 1]);
      expect(await t.store.policyEvents.count()).toBe(0);
    }
    // Without mails, nothing waits for them.
    await failing(t, policy, 1);
    await runJob(t.services, "automations");
    const off = { failing_policies_mail: { enable_failing_policies_mail: false } };
    expect((await t.patch("/config", { webhook_settings: off })).status).toBe(200);
    await runJob(t.services, "policy_mails");
    expect(await t.store.policyEvents.count()).toBe(0);
  });

  it("wait for the mail server, and are recognized if they are sent again", async () => {
    const t = await start(engine);
    const first = await mailOf(t);
    const policy = await makePolicy(t, { name: "<b>Bold</b>" });
    await configure(t, "/config", [policy], { digest: "immediately" });
    await failing(t, policy, 1, { hostname: "evil\r\nBcc: x@example.com https://evil.example.com" });
    await first.close();
    await runJob(t.services, "policy_mails");
    await expect.poll(async () => (await t.store.outbox.list())[0]?.attempts).toBe(1);
    const smtp = await startSmtp();
    await useMail(t, smtp.port);
    const [row] = await t.store.outbox.list();
    expect((await t.post(`/webhooks/deliveries/${row!.id}/replay`)).status).toBe(200);
    const mail = await smtp.mailTo("ann@example.com");
    expect(mail.messageId).toContain(row!.message_id);
    expect(mail.html).toContain("&lt;b&gt;Bold&lt;/b&gt;");
    expect(mail.text).not.toContain("https://evil");
    expect(mail.raw).not.toMatch(/^Bcc:/m);
    await drained(t);
    const listed = (await (await t.get("/webhooks/deliveries?kind=mail")).json()) as { deliveries: object[] };
    expect(listed.deliveries).toMatchObject([{ kind: "mail", state: "delivered", url: "mailto:ann@example.com" }]);
  });

  it("are refused without a mail server, without recipients, and with addresses that are none", async () => {
    const t = await start(engine);
    const team = await makeTeam(t, "Lab");
    const at = "webhook_settings.failing_policies_mail";
    const fieldsOf = async (path: string, mail: object) => {
      const response = await t.patch(path, webhookSettings([], mail));
      const { errors } = (await response.json()) as { errors: { name: string; reason: string }[] };
      return [response.status, ...errors.map(({ name }) => name)];
    };
    for (const path of ["/config", `/teams/${team.id}`, "/teams/0"]) {
      expect(await fieldsOf(path, {}), path).toEqual([422, `${at}.enable_failing_policies_mail`]);
      expect((await t.get("/config")).status).toBe(200);
    }
    await mailOf(t);
    for (const path of ["/config", `/teams/${team.id}`, "/teams/0"]) {
      expect(await fieldsOf(path, { recipients: [] }), path).toEqual([422, `${at}.recipients`]);
      expect(await fieldsOf(path, { recipients: ["a@example.com", "no address", "A@example.com"] }), path).toEqual([
        422,
        `${at}.recipients.1`,
        `${at}.recipients.2`,
      ]);
      const many = Array.from({ length: 51 }, (_, i) => `user-${i}@example.com`);
      expect(await fieldsOf(path, { recipients: many }), path).toEqual([422, `${at}.recipients`]);
      expect((await fieldsOf(path, { digest: "weekly" }))[1], path).toBe(`${at}.digest`);
      await configure(t, path, []);
    }
    // The mail server cannot be turned off while it is needed.
    const off = await t.patch("/config", { smtp_settings: { enable_smtp: false } });
    expect([off.status, await off.json()]).toMatchObject([422, { errors: [{ name: "smtp_settings.enable_smtp" }] }]);
    expect(smtpSettings(1).enable_smtp).toBe(true);
  });

  it("are set by those who may change the team", async () => {
    const t = await start(engine);
    await mailOf(t);
    const [own, other] = [await makeTeam(t, "Own"), await makeTeam(t, "Other")];
    const admin = await makeUser(t, { teams: [{ id: own.id, role: "admin" }] });
    const observer = await makeUser(t, { teams: [{ id: own.id, role: "observer" }] });
    const body = webhookSettings([], {});
    expect((await admin.patch(`/teams/${own.id}`, body)).status).toBe(200);
    expect((await admin.patch(`/teams/${other.id}`, body)).status).not.toBe(200);
    expect((await admin.patch("/config", body)).status).toBe(403);
    expect((await observer.patch(`/teams/${own.id}`, body)).status).toBe(403);
  });
});
