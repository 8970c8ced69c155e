import { describe, expect, it } from "vitest";
import { automations } from "../../src/server/automations/webhooks/automations-job.ts";
import { recordFailing } from "../../src/server/checks/policies/automations.ts";
import { runJob } from "../../src/server/edge/jobs/start.ts";
import { channels } from "../../src/server/platform/core/channels.ts";
import { days, hours, isoAt, minutes } from "../../src/server/platform/core/clock.ts";
import { eq } from "../../src/server/platform/store/query.ts";
import { type Caller, type StartOptions, startApp, type TestApp } from "../support/app.ts";
import { rulesEngines } from "../support/engines.ts";
import {
  makeHost,
  makeInventory,
  makePolicy,
  makeResults,
  makeSession,
  makeSoftware,
  makeTeam,
  makeVulnerabilities,
} from "../support/make.ts";
import { startReceiver } from "../support/receiver.ts";

const start = (engine: StartOptions["engine"], tier?: "free") =>
  startApp({ engine, settings: { outbound_allow: "127.0.0.1" }, ...(tier ? { tier } : {}) });
const until = (what: () => Promise<boolean>) => expect.poll(what).toBe(true);
const drained = (t: TestApp) => until(async () => (await t.store.outbox.count(eq("state", "pending"))) === 0);
async function configure(t: Caller, webhook_settings: object): Promise<void> {
  const response = await t.patch("/config", { webhook_settings });
  if (response.status !== 200) throw new Error(await response.text());
}
type Policy = Awaited<ReturnType<typeof makePolicy>>;
const failingHook = (url: string, policies: Policy[], host_batch_size = 0) => ({
  failing_policies_webhook: {
    enable_failing_policies_webhook: true,
    destination_url: url,
    policy_ids: policies.map(({ id }) => id),
    host_batch_size,
  },
});
/** Makes the hosts newly fail the policy. */
async function failing(t: TestApp, policy: Policy, count: number, more: object = {}) {
  const hosts: Awaited<ReturnType<typeof makeHost>>[] = [];
  for (let i = 0; i < count; i++) hosts.push(await makeHost(t, more));
  for (const { id } of hosts) await makeResults(t, id, { failing: [policy] });
  await t.store.tx((tx) =>
    recordFailing(
      tx,
      hosts.map(({ id }) => ({ policy_id: policy.id, host_id: id })),
      t.clock.iso(),
    ),
  );
  return hosts;
}
const idsOf = (body: Record<string, unknown>) => (body.hosts as { id: number }[]).map(({ id }) => id);

describe.each(rulesEngines)("automations on %s", (engine) => {
  it("report hosts that newly fail a policy, once, in batches", async () => {
    const receiver = await startReceiver();
    const t = await start(engine);
    const policy = await makePolicy(t, { name: "Disk is encrypted", critical: true });
    const other = await makePolicy(t);
    await configure(t, failingHook(receiver.url, [policy], 2));
    const hosts = await failing(t, policy, 5);
    await failing(t, other, 1);
    const [, , moved] = hosts;
    await makeResults(t, moved!.id, { passing: [policy] });
    await runJob(t.services, "automations");
    await receiver.got(2);
    await drained(t);
    const bodies = receiver.bodies();
    const told = hosts.filter((host) => host !== moved).map(({ id }) => id);
    expect(bodies.map(idsOf)).toEqual([told.slice(0, 2), told.slice(2)]);
    expect(bodies[0]).toMatchObject({
      timestamp: t.clock.iso(),
      policy: { id: policy.id, name: "Disk is encrypted", critical: true, team_id: null, query: "SELECT 1;" },
    });
    const [first] = bodies[0]!.hosts as object[];
    expect(first).toEqual({
      id: hosts[0]!.id,
      hostname: hosts[0]!.hostname,
      display_name: hosts[0]!.display_name,
      url: `https://svc.example.com/hosts/${hosts[0]!.id}`,
    });
    expect(await t.store.policyEvents.count()).toBe(0);
    const entries = await t.store.activities.list({ where: eq("type", "ran_automation_webhook") });
    expect(entries.map(({ details, svc_initiated }) => [details, svc_initiated])).toEqual(
      Array(2).fill([{ policy_id: policy.id, policy_name: policy.name, status_code: 200 }, true]),
    );
    const runs = (await (
      await t.get(`/policies/${policy.id}/automation_activities?order_key=created_at&order_direction=asc`)
    ).json()) as {
      activities: { host_id: number; status: string }[];
    };
    expect(runs.activities.map(({ host_id }) => host_id)).toEqual(told);
    t.clock.advance(hours(24));
    await runJob(t.services, "automations");
    expect(await t.store.outbox.count()).toBe(2);
    // After a reset, hosts that fail count as newly failing.
    expect((await t.post("/automations/reset", { policy_ids: [policy.id] })).status).toBe(200);
    await runJob(t.services, "automations");
    await receiver.got(4);
    expect(receiver.bodies().slice(2).flatMap(idsOf).sort()).toEqual([...told].sort());
  });

  it("send all hosts in one request if the batch size is 0, and report failures", async () => {
    const receiver = await startReceiver({ answer: () => ({ status: 500, body: "inner" }) });
    const t = await start(engine);
    const policy = await makePolicy(t);
    await configure(t, failingHook(receiver.url, [policy]));
    await failing(t, policy, 30);
    await runJob(t.services, "automations");
    await receiver.got(1);
    expect(idsOf(receiver.bodies()[0]!)).toHaveLength(30);
    const failed = () => t.store.activities.list({ where: eq("type", "failed_automation_webhook") });
    await until(async () => (await failed()).length === 1);
    expect((await failed())[0]!.details).toEqual({
      policy_id: policy.id,
      policy_name: policy.name,
      status_code: 500,
      error_response: "the destination answered 500",
    });
    const runs = await t.get(`/policies/${policy.id}/automation_activities?status=error`);
    expect(await runs.json(), "a row for each host").toMatchObject({ count: 30 });
    t.clock.advance(minutes(1));
    await t.store.notify(channels.outbox, "");
    await until(async () => (await t.store.outbox.list())[0]?.attempts === 2);
    receiver.answer = () => ({});
    t.clock.advance(minutes(10));
    await until(async () => {
      await t.store.notify(channels.outbox, "");
      return (await t.store.activities.count(eq("type", "ran_automation_webhook"))) === 1;
    });
    expect(await failed()).toHaveLength(1);
  });

  it("use a team's own settings for its policies, and never another team's", async () => {
    const [global, mine, none] = [await startReceiver(), await startReceiver(), await startReceiver()];
    const t = await start(engine);
    const team = await makeTeam(t);
    const foreign = await makeTeam(t);
    const policies = {
      global: await makePolicy(t),
      mine: await makePolicy(t, { team_id: team.id }),
      none: await makePolicy(t, { scope: "no_team" }),
      foreign: await makePolicy(t, { team_id: foreign.id }),
    };
    const all = Object.values(policies);
    await configure(t, failingHook(global.url, all));
    expect((await t.patch(`/teams/${team.id}`, { webhook_settings: failingHook(mine.url, all) })).status).toBe(200);
    expect((await t.patch("/teams/0", { webhook_settings: failingHook(none.url, all) })).status).toBe(200);
    for (const policy of all) await failing(t, policy, 1, { team_id: policy.team_id });
    await runJob(t.services, "automations");
    await Promise.all([global.got(1), mine.got(1), none.got(1)]);
    await drained(t);
    const told = [global, mine, none].map((one) => one.bodies().map(({ policy }) => (policy as { id: number }).id));
    expect(told).toEqual([[policies.global.id], [policies.mine.id], [policies.none.id]]);
    // Without a receiver, the events do not wait forever.
    expect(await t.store.policyEvents.count()).toBe(0);
  });

  it("keep hosts for later if the webhook's URL cannot be used, and after a failure in the middle", async () => {
    const receiver = await startReceiver();
    const t = await start(engine);
    const policy = await makePolicy(t);
    await configure(t, failingHook(receiver.url, [policy]));
    await failing(t, policy, 3);
    // A failure between the two writes: neither is stored, as if the server were killed.
    const broken = {
      ...t.services,
      random: {
        ...t.services.random,
        token: () => {
          throw new Error("fell");
        },
      },
    };
    await expect(automations.run(broken, new AbortController().signal)).rejects.toThrow("fell");
    expect([await t.store.policyEvents.count(), await t.store.outbox.count()]).toEqual([3, 0]);
    await runJob(t.services, "automations");
    await receiver.got(1);
    expect(await t.store.policyEvents.count()).toBe(0);
  });

  it("report if enough hosts are offline, globally and for a team, but not twice within the interval", async () => {
    const [all, one] = [await startReceiver(), await startReceiver()];
    const t = await start(engine);
    const team = await makeTeam(t);
    const seen = (n: number) => ({ seen: isoAt(t.clock.now() - days(n)) });
    const silent = await makeHost(t, { team_id: team.id }, seen(4));
    await makeHost(t, { team_id: team.id }, seen(2));
    await makeHost(t, {}, seen(1));
    const old = await makeHost(t, { created_at: isoAt(t.clock.now() - days(9)) });
    const hook = (destination_url: string, host_percentage: number, days_count = 3) => ({
      host_status_webhook: { enable_host_status_webhook: true, destination_url, host_percentage, days_count },
    });
    await configure(t, hook(all.url, 51));
    expect((await t.patch(`/teams/${team.id}`, { webhook_settings: hook(one.url, 50) })).status).toBe(200);
    await runJob(t.services, "automations");
    await one.got(1);
    await drained(t);
    expect(one.bodies()[0]).toEqual({
      text: `50% of the hosts of team ${team.name} (1 of 2) have not checked in for 3 days.`,
      data: { unseen_hosts: 1, total_hosts: 2, days_unseen: 3, host_ids: [silent.id], team_id: team.id },
    });
    expect(all.received).toHaveLength(0);
    await configure(t, hook(all.url, 50));
    await runJob(t.services, "automations");
    await runJob(t.services, "automations");
    await all.got(1);
    await drained(t);
    expect(all.bodies()).toEqual([
      {
        text: "50% of your hosts (2 of 4) have not checked in for 3 days.",
        data: { unseen_hosts: 2, total_hosts: 4, days_unseen: 3, host_ids: [silent.id, old.id] },
      },
    ]);
    expect(one.received).toHaveLength(1);
    // If unchanged, it is reported again a day later; after a change, immediately.
    t.clock.advance(hours(24));
    await t.store.hostSeen.update({ where: { op: "all" }, set: { seen_time: t.clock.iso() } });
    await t.store.hostSeen.update({ where: eq("id", silent.id), set: { seen_time: isoAt(t.clock.now() - days(5)) } });
    await runJob(t.services, "automations");
    await Promise.all([all.got(2), one.got(2)]);
  });

  it("report each vulnerability once, with its hosts", async () => {
    const receiver = await startReceiver();
    const t = await start(engine);
    const bad = await makeSoftware(t, "Bad", "1.0");
    const good = await makeSoftware(t, "Good", "1.0");
    await t.store.software.update({ where: eq("id", good.id), set: { usual_path: "/usr/good" } });
    const hosts = [await makeHost(t), await makeHost(t), await makeHost(t)];
    await makeInventory(t, hosts[0]!.id, [{ ...bad, paths: ["/a", "/b"] }, good]);
    await makeInventory(t, hosts[1]!.id, [good]);
    await makeInventory(t, hosts[2]!.id, [{ ...bad, paths: ["/c"] }]);
    await t.store.softwareCves.insert({ software_id: bad.id, cve: "CVE-2026-0001" });
    await runJob(t.services, "vulnerabilities");
    expect(await t.store.outbox.count()).toBe(0);
    t.clock.advance(days(10));
    await t.store.softwareCves.insert({ software_id: good.id, cve: "CVE-2026-0002" });
    const hook = { enable_vulnerabilities_webhook: true, destination_url: receiver.url, host_batch_size: 1 };
    t.clock.advance(days(21));
    const [admin] = await t.store.users.list();
    await configure(t.as(await makeSession(t, admin!.id)), { vulnerabilities_webhook: hook });
    await runJob(t.services, "vulnerabilities");
    await receiver.got(2);
    await drained(t);
    // The first one is older than 30 days by now.
    const told = receiver.bodies().map(({ vulnerability }) => vulnerability as Record<string, unknown>);
    expect(told.map(({ cve, hosts_affected }) => [cve, hosts_affected])).toEqual([
      ["CVE-2026-0002", [expect.objectContaining({ id: hosts[0]!.id, software_installed_paths: ["/usr/good"] })]],
      ["CVE-2026-0002", [expect.objectContaining({ id: hosts[1]!.id })]],
    ]);
    await t.store.softwareCves.insert({ software_id: bad.id, cve: "CVE-2026-0003" });
    await runJob(t.services, "vulnerabilities");
    await runJob(t.services, "vulnerabilities");
    await receiver.got(4);
    await drained(t);
    expect(receiver.bodies()[2]).toEqual({
      timestamp: t.clock.iso(),
      vulnerability: {
        cve: "CVE-2026-0003",
        details_link: "https://nvd.nist.gov/vuln/detail/CVE-2026-0003",
        epss_probability: null,
        cvss_score: null,
        cisa_known_exploit: null,
        cve_published: null,
        hosts_affected: [
          {
            id: hosts[0]!.id,
            hostname: hosts[0]!.hostname,
            display_name: hosts[0]!.display_name,
            url: `https://svc.example.com/hosts/${hosts[0]!.id}`,
            software_installed_paths: ["/a", "/b"],
          },
        ],
      },
    });
    expect(receiver.received).toHaveLength(4);
  });

  it("report vulnerabilities with what is known about them, but not those published long ago", async () => {
    const receiver = await startReceiver();
    const t = await start(engine);
    const bad = await makeSoftware(t, "Bad", "1.0");
    const macos = await t.store.osVersions.insert({ name: "macOS", version: "15.1", platform: "darwin" });
    const host = await makeHost(t, { os_version_id: macos.id });
    await makeInventory(t, host.id, [bad]);
    const known = { cvss_score: 9.8, epss_probability: 0.5, cisa_known_exploit: true };
    const published = (ago: number) => ({ ...known, cve_published: isoAt(t.clock.now() - days(ago)) });
    await makeVulnerabilities(t, { software: bad.id, cves: ["CVE-2020-0001"], known: published(31) });
    await makeVulnerabilities(t, { os: macos.id, cves: ["CVE-2026-0001"], known: published(29) });
    const hook = { enable_vulnerabilities_webhook: true, destination_url: receiver.url, host_batch_size: 0 };
    await configure(t, { vulnerabilities_webhook: hook });
    await runJob(t.services, "vulnerabilities");
    await runJob(t.services, "vulnerabilities");
    await receiver.got(1);
    await drained(t);
    expect(receiver.bodies().map(({ vulnerability }) => vulnerability)).toEqual([
      {
        cve: "CVE-2026-0001",
        details_link: "https://nvd.nist.gov/vuln/detail/CVE-2026-0001",
        ...published(29),
        hosts_affected: [expect.objectContaining({ id: host.id, software_installed_paths: [] })],
      },
    ]);
  });

  it("omit the premium fields of a vulnerability on the free tier", async () => {
    const receiver = await startReceiver();
    const t = await start(engine, "free");
    const bad = await makeSoftware(t, "Bad", "1.0");
    await makeInventory(t, (await makeHost(t)).id, [bad]);
    await t.store.softwareCves.insert({ software_id: bad.id, cve: "CVE-2026-0001" });
    const hook = { enable_vulnerabilities_webhook: true, destination_url: receiver.url, host_batch_size: 0 };
    await configure(t, { vulnerabilities_webhook: hook });
    await runJob(t.services, "vulnerabilities");
    await receiver.got(1);
    expect(Object.keys(receiver.bodies()[0]!.vulnerability as object)).toEqual([
      "cve",
      "details_link",
      "hosts_affected",
    ]);
  });

  it("run at the interval of webhook_settings.interval", async () => {
    const t = await start(engine);
    await runJob(t.services, "automations");
    expect(await automations.period?.(t.services)).toBe(hours(24));
    await configure(t, { interval: "90m" });
    expect(await automations.period?.(t.services)).toBe(minutes(90));
    await configure(t, { interval: "24h0m0s" });
    expect(await automations.period?.(t.services)).toBe(hours(24));
    // Vulnerabilities are reported hourly, whatever the interval is.
    const { jobs } = (await (await t.get("/jobs")).json()) as { jobs: { name: string; every_seconds: number }[] };
    const every = Object.fromEntries(jobs.map(({ name, every_seconds }) => [name, every_seconds]));
    expect([every.automations, every.vulnerabilities]).toEqual([86_400, 3_600]);
  });
});
