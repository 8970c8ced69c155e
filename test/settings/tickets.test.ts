import { describe, expect, it } from "vitest";
import type { Delivery } from "../../src/api/automations/webhooks.ts";
import { recordFailing } from "../../src/server/checks/policies/automations.ts";
import { runJob } from "../../src/server/edge/jobs/start.ts";
import { channels } from "../../src/server/platform/core/channels.ts";
import { minutes, seconds } from "../../src/server/platform/core/clock.ts";
import { enqueue } from "../../src/server/platform/outbox/service.ts";
import { eq } from "../../src/server/platform/store/query.ts";
import { destinationOfTracker } from "../../src/server/settings/tickets/destination.ts";
import { policyTicket } from "../../src/server/settings/tickets/texts.ts";
import { errorOf } from "../support/accounts.ts";
import { type StartOptions, startApp, type TestApp } from "../support/app.ts";
import { rulesEngines } from "../support/engines.ts";
import {
  makeHost,
  makeInventory,
  makePolicy,
  makeResults,
  makeSoftware,
  makeTeam,
  makeVulnerabilities,
} from "../support/make.ts";
import { type Answer, type ReceivedRequest, type Receiver, startReceiver } from "../support/receiver.ts";

const start = (engine: StartOptions["engine"], check = true) =>
  startApp({ engine, settings: { outbound_allow: "127.0.0.1", check_integrations: check } });
const until = (what: () => Promise<boolean>) => expect.poll(what).toBe(true);
const reply = (status: number, body: unknown): Answer => ({
  status,
  headers: { "content-type": "application/json" },
  body: JSON.stringify(body),
});
const basic = (user: string, password: string) => `Basic ${Buffer.from(`${user}:${password}`).toString("base64")}`;

interface Tracker extends Receiver {
  /** The created tickets, newest last. */
  readonly tickets: Record<string, unknown>[];
  /** The replies to the next requests instead, after the ticket was created (or not). */
  upset: { answer: Answer; isMade: boolean }[];
  /** The tracker's search does not find what was created. */
  isLate: boolean;
}

/** A tracker with the parts of Jira's REST API (version 2) that tickets need; `cloud` is without its older search. */
async function startA({ cloud = false, user = basic("bot@example.com", "t0ken") } = {}): Promise<Tracker> {
  const tickets: Record<string, unknown>[] = [];
  const answer = ({ method, path, headers, text }: ReceivedRequest): Answer => {
    if (headers.authorization !== user) return reply(401, { message: "who are you" });
    const url = new URL(path, "http://tracker");
    if (url.pathname === "/rest/api/2/myself") return reply(200, { accountId: "1" });
    if (url.pathname === "/rest/api/2/project/OPS") return reply(200, { key: "OPS", issueTypes: [{ name: "Task" }] });
    if (url.pathname === "/rest/api/2/project/BUGS") return reply(200, { key: "BUGS", issueTypes: [{ name: "Bug" }] });
    if (method === "POST" && url.pathname === "/rest/api/2/issue") {
      const { fields } = JSON.parse(text) as { fields: Record<string, unknown> };
      const next = tracker.upset.shift();
      const made = { id: String(10_000 + tickets.length), key: `OPS-${tickets.length + 1}` };
      if (next?.isMade !== false) tickets.push({ ...made, ...fields });
      return next?.answer ?? reply(201, { ...made, self: "x" });
    }
    if (url.pathname === (cloud ? "/rest/api/2/search/jql" : "/rest/api/2/search")) {
      const [, label] = /^project = "OPS" AND labels = "([^"]+)"$/.exec(url.searchParams.get("jql") ?? "") ?? [];
      const found = tracker.isLate ? [] : tickets.filter(({ labels }) => (labels as string[]).includes(label!));
      return reply(200, { issues: found.map(({ id, key }) => ({ id, key })) });
    }
    const one = tickets.find(({ id }) => url.pathname === `/rest/api/2/issue/${id}`);
    if (one) return reply(200, { id: one.id, key: one.key });
    return reply(cloud && url.pathname === "/rest/api/2/search" ? 410 : 404, { errorMessages: ["no"] });
  };
  const tracker: Tracker = Object.assign(await startReceiver({ answer }), { tickets, upset: [], isLate: false });
  return tracker;
}

/** A stand-in for Zendesk's ticketing API (version 2). */
async function startB({ user = basic("bot@example.com/token", "t0ken") } = {}): Promise<Tracker> {
  const tickets: Record<string, unknown>[] = [];
  const answer = ({ method, path, headers, text }: ReceivedRequest): Answer => {
    const url = new URL(path, "http://desk");
    const isKnown = headers.authorization === user;
    if (url.pathname === "/api/v2/users/me.json") return reply(200, { user: { id: isKnown ? 1 : null } });
    if (!isKnown) return reply(401, { error: "Couldn't authenticate you" });
    if (url.pathname === "/api/v2/groups/7.json") return reply(200, { group: { id: 7 } });
    if (method === "POST" && url.pathname === "/api/v2/tickets.json") {
      const { ticket } = JSON.parse(text) as { ticket: Record<string, unknown> };
      const next = tracker.upset.shift();
      const made = { id: 500 + tickets.length };
      if (next?.isMade !== false) tickets.push({ ...made, ...ticket });
      return next?.answer ?? reply(201, { ticket: made });
    }
    if (url.pathname === "/api/v2/tickets.json")
      return reply(200, {
        tickets: tickets
          .filter(({ external_id: id }) => id === url.searchParams.get("external_id"))
          .map(({ id, external_id }) => ({ id, external_id })),
      });
    const one = tickets.find(({ id }) => url.pathname === `/api/v2/tickets/${id}.json`);
    if (one) return reply(200, { ticket: { id: one.id } });
    return reply(404, { error: "RecordNotFound" });
  };
  const tracker: Tracker = Object.assign(await startReceiver({ answer }), { tickets, upset: [], isLate: false });
  return tracker;
}

const onA = (url: string, more: object = {}) => ({
  enable_software_vulnerabilities: false,
  enable_failing_policies: true,
  url,
  username: "bot@example.com",
  api_token: "t0ken",
  project_key: "OPS",
  ...more,
});
const onB = (url: string, more: object = {}) => ({
  enable_software_vulnerabilities: false,
  enable_failing_policies: true,
  url,
  email: "bot@example.com",
  api_token: "t0ken",
  group_id: 7,
  ...more,
});
const configure = (t: TestApp, ticketing_a: object[], ticketing_b: object[] = [], query = "") =>
  t.patch(`/config${query}`, { integrations: { ticketing_a, ticketing_b } });
async function turnOn(t: TestApp, policies: { id: number }[], a: object[], b: object[] = []): Promise<void> {
  const response = await configure(t, a, b);
  if (response.status !== 200) throw new Error(await response.text());
  const policy_ids = policies.map(({ id }) => id);
  await t.patch("/config", { webhook_settings: { failing_policies_webhook: { policy_ids } } });
}
async function failing(t: TestApp, policy: Awaited<ReturnType<typeof makePolicy>>, count: number, more: object = {}) {
  for (let i = 0; i < count; i++) {
    const { id } = await makeHost(t, more);
    await makeResults(t, id, { failing: [policy] });
    await t.store.tx((tx) => recordFailing(tx, [{ policy_id: policy.id, host_id: id }], t.clock.iso()));
  }
}
/** Advances the time to the next attempt. */
async function retry(t: TestApp, after = minutes(10)): Promise<void> {
  const [row] = await t.store.outbox.list();
  t.clock.advance(after);
  await t.store.notify(channels.outbox, "");
  await until(async () => {
    const now = await t.store.outbox.get(row!.id);
    return now?.state !== "pending" || now.last_attempt_at !== row!.last_attempt_at;
  });
}

describe.each(rulesEngines)("tickets on %s", (engine) => {
  it("are created in a Jira-compatible tracker, one for a policy's newly failing hosts", async () => {
    const tracker = await startA();
    const t = await start(engine);
    const policy = await makePolicy(t, {
      name: "Disk is encrypted",
      description: "Disks must be.",
      resolution: "Turn it on.",
    });
    await turnOn(t, [policy], [onA(tracker.url)]);
    await failing(t, policy, 3, { display_name: "Laptop" });
    await runJob(t.services, "automations");
    await until(async () => (await t.store.outbox.count(eq("state", "delivered"))) === 1);
    const [ticket] = tracker.tickets;
    const [row] = await t.store.outbox.list();
    expect(ticket).toMatchObject({
      project: { key: "OPS" },
      issuetype: { name: "Task" },
      summary: 'Policy "Disk is encrypted" fails on 3 hosts',
      labels: [`svc-${row!.message_id}`],
    });
    expect(ticket!.description).toContain("Disks must be.");
    expect(ticket!.description).toContain("Resolution: Turn it on.");
    expect(String(ticket!.description).match(/- Laptop https:\/\/svc.example.com\/hosts\/\d+/g)).toHaveLength(3);
    expect(row!.result).toEqual({ ticket_id: "10000", ticket_key: "OPS-1" });
    const { deliveries } = (await (await t.get("/webhooks/deliveries?kind=ticket")).json()) as {
      deliveries: Delivery[];
    };
    expect(deliveries[0]!.result).toEqual(row!.result);
    const [entry] = await t.store.activities.list({ where: eq("type", "ran_automation_ticket") });
    expect(await t.store.policyRuns.count(eq("activity_id", entry!.id))).toBe(3);
    expect(entry).toMatchObject({
      svc_initiated: true,
      details: {
        policy_id: policy.id,
        policy_name: policy.name,
        type: "ticketing_a",
        ticket_id: "10000",
        ticket_key: "OPS-1",
      },
    });
    expect(await t.store.policyEvents.count()).toBe(0);
    expect(JSON.stringify(await t.store.outbox.list())).not.toContain("t0ken");
    // Tickets alone are an automation too, so there is something to reset.
    expect((await t.post("/automations/reset", { policy_ids: [policy.id] })).status).toBe(200);
    expect(await t.store.policyEvents.count()).toBe(3);
  });

  it("are created in a Zendesk-compatible help desk, and for a team with the entry that it turns on", async () => {
    const desk = await startB();
    const t = await start(engine);
    const team = await makeTeam(t);
    const policy = await makePolicy(t, { team_id: team.id, critical: true, name: "Firewall" });
    expect((await configure(t, [], [onB(desk.url, { enable_failing_policies: false })])).status).toBe(200);
    const own = { ticketing_b: [{ url: desk.url, group_id: 7, enable_failing_policies: true }] };
    const hook = { failing_policies_webhook: { policy_ids: [policy.id] } };
    expect((await t.patch(`/teams/${team.id}`, { integrations: own, webhook_settings: hook })).status).toBe(200);
    await failing(t, policy, 1, { team_id: team.id });
    await runJob(t.services, "automations");
    await until(async () => (await t.store.outbox.count(eq("state", "delivered"))) === 1);
    const [row] = await t.store.outbox.list();
    expect(desk.tickets).toEqual([
      {
        id: 500,
        subject: 'Critical policy "Firewall" fails on 1 host',
        comment: { body: expect.stringContaining(`1 host of team ${team.name} newly failed this policy:`) },
        group_id: 7,
        external_id: row!.message_id,
      },
    ]);
    expect(row).toMatchObject({ result: { ticket_id: "500" }, team_id: team.id });
  });

  it.each([
    ["Jira", () => startA(), true],
    ["Jira in the cloud", () => startA({ cloud: true }), true],
    ["Zendesk", () => startB(), false],
  ] as const)("are not created twice if the first attempt's outcome was unknown: %s", async (_, startTracker, isA) => {
    const tracker = await startTracker();
    const t = await start(engine);
    const policy = await makePolicy(t);
    await turnOn(t, [policy], isA ? [onA(tracker.url)] : [], isA ? [] : [onB(tracker.url)]);
    await failing(t, policy, 1);
    // Created, but without a reply; then not created at all.
    tracker.upset = [{ answer: "reset", isMade: true }];
    await runJob(t.services, "automations");
    await until(async () => (await t.store.outbox.list())[0]?.last_error !== null);
    expect(tracker.tickets).toHaveLength(1);
    await retry(t);
    expect(tracker.tickets).toHaveLength(1);
    expect((await t.store.outbox.list())[0]).toMatchObject({ state: "delivered", attempts: 2 });

    await t.store.outbox.delete({ op: "all" });
    await failing(t, policy, 1);
    tracker.upset = [
      { answer: { status: 503 }, isMade: false },
      { answer: { status: 200, body: "<html>" }, isMade: false },
    ];
    await runJob(t.services, "automations");
    await until(async () => (await t.store.outbox.list())[0]?.last_status === 503);
    await retry(t);
    expect((await t.store.outbox.list())[0]!.last_error).toContain("contains no ticket");
    await retry(t);
    expect(tracker.tickets).toHaveLength(2);
    const failed = await t.store.activities.list({ where: eq("type", "failed_automation_ticket") });
    expect(failed).toHaveLength(2);
    expect(JSON.stringify(failed)).not.toContain("t0ken");
  });

  it("are not created twice if the tracker's search lags", async () => {
    const tracker = await startA();
    const t = await start(engine);
    const policy = await makePolicy(t);
    await turnOn(t, [policy], [onA(tracker.url)]);
    await failing(t, policy, 1);
    tracker.upset = [{ answer: "reset", isMade: true }];
    tracker.isLate = true;
    await runJob(t.services, "automations");
    const row = async () => (await t.store.outbox.list())[0];
    await until(async () => (await row())?.last_error != null);
    await retry(t, seconds(30));
    await retry(t, minutes(2));
    expect(await row()).toMatchObject({ state: "pending", attempts: 3 });
    expect((await row())!.last_error).toContain("searched for");
    expect(tracker.tickets).toHaveLength(1);
    tracker.isLate = false;
    await retry(t, minutes(2));
    expect(await row()).toMatchObject({ state: "delivered", result: { ticket_id: "10000", ticket_key: "OPS-1" } });
    expect(tracker.tickets).toHaveLength(1);
    // After a refusal there is nothing to search for.
    await t.store.outbox.delete({ op: "all" });
    await failing(t, policy, 1);
    tracker.upset = [{ answer: { status: 429, headers: { "retry-after": "20" } }, isMade: false }];
    tracker.isLate = true;
    await runJob(t.services, "automations");
    await until(async () => (await row())?.last_status === 429);
    await retry(t, seconds(30));
    expect((await row())!.state).toBe("delivered");
    expect(tracker.tickets).toHaveLength(2);
  });

  it.each([
    ["Jira", () => startA(), true],
    ["Zendesk", () => startB(), false],
  ] as const)(
    "that exist are not created again by a replay, those that were deleted are: %s",
    async (_, startTracker, isA) => {
      const tracker = await startTracker();
      tracker.isLate = true;
      const t = await start(engine);
      const policy = await makePolicy(t);
      await turnOn(t, [policy], isA ? [onA(tracker.url)] : [], isA ? [] : [onB(tracker.url)]);
      await failing(t, policy, 1);
      await runJob(t.services, "automations");
      const row = async () => (await t.store.outbox.list())[0]!;
      await until(async () => (await row())?.state === "delivered");
      const { id, result } = await row();
      expect((await t.post(`/webhooks/deliveries/${id}/replay`, {})).status).toBe(200);
      await until(async () => (await row()).state === "delivered");
      expect((await row()).result).toEqual(result);
      expect(tracker.tickets).toHaveLength(1);
      const keys = () => tracker.received.map(({ headers }) => headers["idempotency-key"]).filter(Boolean);
      tracker.tickets.length = 0;
      expect((await t.post(`/webhooks/deliveries/${id}/replay`, {})).status).toBe(200);
      await until(async () => (await row()).state === "delivered");
      expect(tracker.tickets).toHaveLength(1);
      // With its old key the help desk would repeat its old reply.
      expect(new Set(keys()).size).toBe(2);
    },
  );

  it("whose creation was interrupted by a kill are searched for first", async () => {
    const tracker = await startA();
    const t = await start(engine);
    expect((await configure(t, [onA(tracker.url)])).status).toBe(200);
    const destination = `ticketing_a ${tracker.url} OPS`;
    // The row as a kill during the request leaves it.
    const row = await t.store.tx(async (tx) => {
      const made = await enqueue(tx, t.services, {
        kind: "ticket",
        event: "failing_policies",
        destination,
        url: tracker.url,
        payload: { summary: "s", description: "d" },
      });
      const result = { asked_at: t.clock.iso() };
      await tx.outbox.update({ where: eq("id", made.id), set: { attempts: 1, result } });
      tracker.tickets.push({ id: "9", key: "OPS-9", labels: [`svc-${made.message_id}`] });
      return made;
    });
    await until(async () => (await t.store.outbox.get(row.id))?.state === "delivered");
    expect((await t.store.outbox.get(row.id))?.result).toEqual({ ticket_id: "9", ticket_key: "OPS-9" });
    expect(tracker.tickets).toHaveLength(1);
  });

  it("wait while the integration is missing, and are created when it is back", async () => {
    const tracker = await startA();
    const t = await start(engine);
    const policy = await makePolicy(t);
    await turnOn(t, [policy], [onA(tracker.url)]);
    await failing(t, policy, 1);
    tracker.upset = [{ answer: { status: 500 }, isMade: false }];
    await runJob(t.services, "automations");
    await until(async () => (await t.store.outbox.list())[0]?.last_status === 500);
    await configure(t, []);
    await retry(t);
    expect((await t.store.outbox.list())[0]!.last_error).toBe("the integration is not configured any more");
    await configure(t, [onA(tracker.url)]);
    await retry(t);
    expect((await t.store.outbox.list())[0]!.state).toBe("delivered");
  });

  it("are created for vulnerabilities, one for each", async () => {
    const tracker = await startA();
    const t = await start(engine);
    const flags = { enable_failing_policies: false, enable_software_vulnerabilities: true };
    expect((await configure(t, [onA(tracker.url, flags)])).status).toBe(200);
    const bad = await makeSoftware(t, "Bad", "1.0");
    await makeInventory(t, (await makeHost(t)).id, [bad]);
    for (const cve of ["CVE-2026-0001", "CVE-2026-0002"])
      await t.store.softwareCves.insert({ software_id: bad.id, cve });
    await runJob(t.services, "vulnerabilities");
    await runJob(t.services, "vulnerabilities");
    await until(async () => (await t.store.outbox.count(eq("state", "delivered"))) === 2);
    expect(tracker.tickets.map(({ summary }) => summary)).toEqual([
      "Vulnerability CVE-2026-0001 found on 1 host",
      "Vulnerability CVE-2026-0002 found on 1 host",
    ]);
    const published = t.clock.iso();
    const known = { cvss_score: 9.8, epss_probability: 0.5, cisa_known_exploit: true, cve_published: published };
    const cve_description = "A flaw in [Bad].";
    await makeVulnerabilities(t, { software: bad.id, cves: ["CVE-2026-0003"], known: { ...known, cve_description } });
    await runJob(t.services, "vulnerabilities");
    await until(async () => tracker.tickets.length === 3);
    expect(JSON.stringify(tracker.tickets[2])).toContain("A flaw in (Bad).");
    expect(JSON.stringify(tracker.tickets[2])).toMatch(/CVSS score: 9\.8.*50\.0 %.*known to be exploited/);
  });

  it("are tested before an integration is saved; errors name the field", async () => {
    const [a, b] = [await startA(), await startB()];
    const gone = await startReceiver();
    await gone.stop();
    const web = await startReceiver({ answer: () => ({ body: "<html>welcome" }) });
    const t = await start(engine);
    const cases = [
      [[onA(a.url, { api_token: "wrong" })], [], "ticketing_a.0.api_token", /401/],
      [[onA(a.url, { project_key: "NOPE" })], [], "ticketing_a.0.project_key", /there is no project NOPE/],
      [[onA(a.url, { project_key: "BUGS" })], [], "ticketing_a.0.project_key", /no issue type Task/],
      [[onA(gone.url)], [], "ticketing_a.0.url", /refused the connection/],
      [[onA(web.url)], [], "ticketing_a.0.url", /no such API/],
      [[onA("http://169.254.169.254")], [], "ticketing_a.0.url", /Cannot send to 169.254.169.254/],
      [[], [onB(b.url, { email: "x@example.com" })], "ticketing_b.0.api_token", /not accepted/],
      [[], [onB(b.url, { group_id: 8 })], "ticketing_b.0.group_id", /there is no group 8/],
    ] as const;
    for (const [entriesA, entriesB, field, reason] of cases) {
      const response = await configure(t, [...entriesA], [...entriesB]);
      const { errors } = await errorOf(response);
      expect([response.status, errors?.map(({ name }) => name)]).toEqual([422, [`integrations.${field}`]]);
      expect(errors?.[0]?.reason).toMatch(reason);
    }
    expect((await t.services.config.current()).integrations.ticketing_a).toEqual([]);
    // A dry run tests like the real request. With force nothing is tested, nor is a tracker that was tested before.
    expect((await configure(t, [onA(gone.url)], [], "?dry_run=true")).status).toBe(422);
    expect((await configure(t, [onA(gone.url)], [], "?force=true")).status).toBe(200);
    expect((await configure(t, [onA(gone.url, { enable_failing_policies: false })])).status).toBe(200);
    expect((await t.patch("/config", { org_info: { org_name: "x" } })).status).toBe(200);
    const before = a.received.length;
    expect((await configure(t, [onA(a.url)])).status).toBe(200);
    expect(a.received.length - before).toBe(2);
  });
});

describe.each(rulesEngines)("a tracker on %s", (engine) => {
  it("may have a URL of the maximum length", async () => {
    const t = await start(engine, false);
    const entry = onA(`https://127.0.0.1:9/${"é".repeat(2000)}`);
    expect((await configure(t, [entry])).status).toBe(200);
    const tracker = { type: "ticketing_a", entry } as const;
    const destination = destinationOfTracker(tracker);
    const row = await t.store.tx((tx) =>
      enqueue(tx, t.services, { kind: "ticket", event: "failing_policies", destination, url: entry.url, payload: {} }),
    );
    await until(async () => (await t.store.outbox.get(row.id))?.last_error !== null);
    expect((await t.store.outbox.get(row.id))?.last_error).toMatch(/127.0.0.1/);
  });
});

describe("texts of tickets", () => {
  it("have no markup that comes from a host", () => {
    const host = { display_name: "[pay here|https://evil] {panel} !pixel.png!\n<b>x</b>", url: "https://svc" };
    const policy = { name: "p", description: "", resolution: "", critical: false };
    expect(policyTicket(policy, [host], null).description).toMatch(
      /- \(pay here https:\/\/evil\) \(panel\) pixel.png \(b\)x\(\/b\) https:\/\/svc$/,
    );
  });

  it("fit into a tracker's fields, however many hosts there are and however long their names", () => {
    const hosts = Array.from({ length: 5_000 }, (_, i) => ({
      display_name: `${"n".repeat(300)}\n${i}`,
      url: `https://svc.example.com/hosts/${i}`,
    }));
    const policy = { name: "p\n".repeat(200), description: "d".repeat(60_000), resolution: "r", critical: false };
    const { summary, description } = policyTicket(policy, hosts, null);
    expect(summary.length).toBeLessThanOrEqual(250);
    expect(summary).not.toContain("\n");
    expect(description.length).toBeLessThan(32_767);
    expect(description).toMatch(/and \d+ more$/);
  });
});
