// Policies as agents get them and report results (docs/protocols/agent.md, Distributed queries).

import { beforeEach, describe, expect, test } from "vitest";
import type { Policy } from "../../../src/api/checks/policies.ts";
import type { HostPolicy } from "../../../src/api/hosts/host.ts";
import { addCounts, policyCounts } from "../../../src/server/checks/policies/counts.ts";
import { existingPolicies, failingCounts } from "../../../src/server/checks/policies/results.ts";
import { runJob } from "../../../src/server/edge/jobs/start.ts";
import { withRunning } from "../../../src/server/platform/core/running.ts";
import { createCipher } from "../../../src/server/platform/store/cipher.ts";
import { openPostgres } from "../../../src/server/platform/store/postgres/open.ts";
import { createConfigReader } from "../../../src/server/settings/app-config/service.ts";
import { tables } from "../../../src/server/tables.ts";
import { startApp, type TestApp } from "../../support/app.ts";
import { bothEngines, rulesEngines } from "../../support/engines.ts";
import { makeLabel, makePolicy, makeTeam } from "../../support/make.ts";
import { startAgentSide } from "../../support/running.ts";
import { enroll, enrollment, makeSecret, type Send, SimulatedAgent, throughApp } from "./agents.ts";

const READ = "/api/v1/qengine/distributed/read";
const WRITE = "/api/v1/qengine/distributed/write";
const PREFIX = "svc_policy_query_";
const HOUR = 3_600_000;
const ROW = [{ "1": "1" }];

describe.each(bothEngines)("policies of hosts on %s", (engine) => {
  let t: TestApp;
  let send: Send;
  beforeEach(async () => {
    t = await startApp({ engine, settings: { max_jitter_percent: 0 } });
    send = throughApp(t);
    await makeSecret(t);
  });
  const newHost = async (name: string, platform = "ubuntu", secret?: string) => {
    const base = enrollment().host_details;
    const key = await enroll(send, {
      ...(secret ? { enroll_secret: secret } : {}),
      host_identifier: name,
      host_details: {
        ...base,
        os_version: { ...base.os_version, platform },
        system_info: { ...base.system_info, hostname: name, uuid: name },
      },
    });
    const { id } = (await t.store.hosts.list()).find(({ identifier }) => identifier === name)!;
    // The host seems to have reported its inventory: otherwise everything would be requested with every poll.
    await t.store.hosts.updateEach([{ id, refetch_requested: false }]);
    await t.store.notify("svc_hosts", JSON.stringify([id]));
    return { id, key };
  };
  const asked = async (key: string): Promise<string[]> =>
    Object.keys((await send(READ, { node_key: key })).json.queries).filter((name) => /polic/.test(name));
  /** The host's result: rows, none, or null for a failed query. */
  const answer = async (key: string, told: Record<string, boolean | null>) => {
    const entries = Object.entries(told);
    const reply = await send(WRITE, {
      node_key: key,
      queries: Object.fromEntries(entries.map(([id, passes]) => [PREFIX + id, passes ? ROW : []])),
      statuses: Object.fromEntries(entries.map(([id, passes]) => [PREFIX + id, passes === null ? 1 : 0])),
      messages: {},
      stats: {},
    });
    expect(reply).toMatchObject({ status: 200, text: "{}" });
  };
  const policy = async (id: number): Promise<Policy> =>
    ((await (await t.get(`/global/policies/${id}`)).json()) as { policy: Policy }).policy;
  const counts = async (id: number) => {
    const row = (await t.store.policies.get(id))!;
    return [row.passing_host_count, row.failing_host_count];
  };
  /** Adds all recorded differences to the counts, which are behind for a moment otherwise. */
  const counted = async () => {
    while (await addCounts(t.store, t.services.clock.iso()));
  };
  const soon = (id: number, want: [number, number]) =>
    expect.poll(() => counts(id), { message: `policy ${id}: passing, failing` }).toEqual(want);
  const responses = async (hostId: number) => {
    const { host } = (await (await t.get(`/hosts/${hostId}`)).json()) as { host: { policies: HostPolicy[] } };
    return Object.fromEntries(host.policies.map(({ id, response }) => [id, response]));
  };
  const change = async (id: number, body: object) => {
    const res = await t.patch(`/global/policies/${id}`, body);
    expect(res.status, await res.clone().text()).toBe(200);
    return ((await res.json()) as { policy: Policy }).policy;
  };
  const automate = (...policy_ids: number[]) =>
    t.patch("/config", {
      webhook_settings: {
        failing_policies_webhook: {
          enable_failing_policies_webhook: true,
          destination_url: "https://hooks.example.com",
          policy_ids,
        },
      },
    });
  const events = async () =>
    (await t.store.policyEvents.list()).map(({ policy_id, host_id }) => `${policy_id}/${host_id}`).sort();

  test("are limited by labels; a host that leaves the labels loses the result", async () => {
    const [inside, outside] = [await newHost("inside"), await newHost("outside")];
    const label = await makeLabel(t, "some", [inside.id]);
    const any = await makePolicy(t);
    const none = await makePolicy(t);
    await t.store.policyLabels.insertMany([
      { policy_id: any.id, label_id: label.id },
      { policy_id: none.id, label_id: label.id, excludes: true },
    ]);
    await t.store.notify("svc_policies", "");
    expect(await asked(inside.key)).toEqual([PREFIX + any.id]);
    expect(await asked(outside.key)).toEqual([PREFIX + none.id]);
    await answer(inside.key, { [any.id]: false, [none.id]: false });
    await answer(outside.key, { [any.id]: false, [none.id]: true });
    expect(await responses(inside.id)).toEqual({ [any.id]: "fail" });
    expect(await responses(outside.id)).toEqual({ [none.id]: "pass" });
    await soon(any.id, [0, 1]);
    await soon(none.id, [1, 0]);

    await t.store.labelMembers.delete({ op: "all" });
    t.clock.advance(HOUR + 1);
    expect(await asked(inside.key)).toEqual([PREFIX + none.id]);
    await answer(inside.key, { [none.id]: true });
    await soon(any.id, [0, 0]);
    await soon(none.id, [2, 0]);
  });

  test("counts follow the results within a second; unchanged results are not written", async () => {
    const one = await makePolicy(t);
    const hosts = [await newHost("a"), await newHost("b"), await newHost("c")];
    for (const [i, { key }] of hosts.entries()) await answer(key, { [one.id]: i === 0 });
    await soon(one.id, [1, 2]);
    expect((await policy(one.id)).host_count_updated_at).toBe(t.clock.iso());
    const rows = await t.store.hostPolicies.list();
    t.clock.advance(HOUR + 1);
    for (const [i, { key }] of hosts.entries()) await answer(key, { [one.id]: i === 0 });
    expect(await t.store.hostPolicies.list()).toEqual(rows);
    expect(await t.store.policyCountChanges.count()).toBe(0);
    await answer(hosts[1]!.key, { [one.id]: true });
    await answer(hosts[0]!.key, { [one.id]: null });
    await soon(one.id, [1, 1]);
    expect(await responses(hosts[0]!.id)).toEqual({ [one.id]: "" });
    await t.delete(`/hosts/${hosts[1]!.id}`);
    await soon(one.id, [0, 1]);
    await t.post("/hosts/delete", { ids: [hosts[0]!.id, hosts[2]!.id] });
    await soon(one.id, [0, 0]);
    expect(await t.store.hostPolicies.count()).toBe(0);
  });

  test.each([
    ["query", { query: "SELECT 2;" }],
    ["platform", { platform: "linux" }],
  ])("changing the %s clears results and counts immediately", async (_name, body) => {
    const one = await makePolicy(t);
    const two = await makePolicy(t);
    const host = await newHost("h");
    await answer(host.key, { [one.id]: false, [two.id]: true });
    await soon(one.id, [0, 1]);
    expect((await change(one.id, { description: "no matter", query: one.query })).failing_host_count).toBe(1);
    const changed = await change(one.id, body);
    expect([changed.passing_host_count, changed.failing_host_count, changed.host_count_updated_at]).toEqual([
      0,
      0,
      null,
    ]);
    expect(await responses(host.id)).toEqual({ [one.id]: "", [two.id]: "pass" });
    expect(await failingCounts(existingPolicies(t.store), [await t.store.hostPolicies.get(host.id)])).toEqual([0]);
    await expect.poll(async () => (await t.store.hostPolicies.get(host.id))!.issues_count).toBe(0);
    await soon(two.id, [1, 0]);
    await answer(host.key, { [one.id]: true, [two.id]: true });
    await soon(one.id, [1, 0]);
  });

  test("a host that changes team loses only the old team's results", async () => {
    const [from, to] = [await makeTeam(t), await makeTeam(t)];
    const secret = await makeSecret(t, "from", from.id);
    const globally = await makePolicy(t);
    const old = await makePolicy(t, { scope: "team", team_id: from.id });
    const next = await makePolicy(t, { scope: "team", team_id: to.id });
    const host = await newHost("h", "ubuntu", secret);
    await answer(host.key, { [globally.id]: false, [old.id]: false, [next.id]: false });
    await soon(old.id, [0, 1]);
    expect(await counts(next.id)).toEqual([0, 0]);
    expect((await t.post("/hosts/transfer", { hosts: [host.id], team_id: to.id })).status).toBe(200);
    await soon(old.id, [0, 0]);
    await soon(globally.id, [0, 1]);
    expect(await responses(host.id)).toEqual({ [globally.id]: "fail", [next.id]: "" });
    // Results of the old team's policies are not accepted any more.
    await answer(host.key, { [old.id]: false });
    await soon(old.id, [0, 0]);
    // Back again, and enrolled again: it starts without results.
    expect((await t.post("/hosts/transfer", { hosts: [host.id], team_id: from.id })).status).toBe(200);
    const anew = await newHost("h", "ubuntu", secret);
    await soon(globally.id, [0, 0]);
    // The host does not wait for the end of its interval.
    expect((await asked(anew.key)).sort()).toEqual([PREFIX + globally.id, PREFIX + old.id].sort());
  });

  test("results of a team that is deleted while its policies run count for no policy", async () => {
    const team = await makeTeam(t);
    const secret = await makeSecret(t, "team", team.id);
    const globally = await makePolicy(t);
    const own = await makePolicy(t, { scope: "team", team_id: team.id });
    const hosts = [];
    for (let i = 0; i < 10; i++) hosts.push(await newHost(`h${i}`, "ubuntu", secret));
    for (const { key } of hosts.slice(0, 5)) await answer(key, { [globally.id]: true, [own.id]: false });
    await Promise.all([
      t.delete(`/teams/${team.id}`).then(({ status }) => expect(status).toBe(200)),
      ...hosts.map(({ key }) => answer(key, { [globally.id]: true, [own.id]: false })),
    ]);
    await soon(globally.id, [10, 0]);
    expect(await t.store.policies.count()).toBe(1);
    for (const { id } of hosts) expect(await responses(id)).toEqual({ [globally.id]: "pass" });
    await runJob(t.services, "policy_counts");
    expect(
      (await t.store.hostPolicies.list()).every(({ issues_count, failing }) => issues_count + failing.length === 0),
    ).toBe(true);
    expect(await counts(globally.id)).toEqual([10, 0]);
  });

  test("hosts that are transferred while they check in end with correct counts", async () => {
    const [a, b] = [await makeTeam(t), await makeTeam(t)];
    const secret = await makeSecret(t, "a", a.id);
    const globally = await makePolicy(t);
    const ofA = await makePolicy(t, { scope: "team", team_id: a.id });
    const ofB = await makePolicy(t, { scope: "team", team_id: b.id });
    const hosts = await Promise.all(Array.from({ length: 120 }, (_, i) => newHost(`m${i}`, "ubuntu", secret)));
    const ids = hosts.map(({ id }) => id);
    const all = (i: number) => ({ [globally.id]: i % 2 === 0, [ofA.id]: i % 3 === 0, [ofB.id]: false });
    const checkIn = () => Promise.all(hosts.map(({ key }, i) => answer(key, all(i))));
    await checkIn();
    await Promise.all([
      checkIn(),
      t.post("/hosts/transfer", { hosts: ids, team_id: b.id }).then(({ status }) => expect(status).toBe(200)),
      checkIn(),
    ]);
    await counted();
    const rows = await t.store.hostPolicies.list();
    const failingB = rows.filter(({ failing }) => failing.includes(ofB.result_id)).length;
    expect(await Promise.all([globally, ofA, ofB].map(({ id }) => counts(id)))).toEqual([
      [60, 60],
      [0, 0],
      [0, failingB],
    ]);
    const before = await Promise.all([globally, ofA, ofB].map(({ id }) => counts(id)));
    await runJob(t.services, "policy_counts");
    expect(await Promise.all([globally, ofA, ofB].map(({ id }) => counts(id)))).toEqual(before);
    await Promise.all([checkIn(), t.post("/hosts/delete", { ids })]);
    await counted();
    expect(await Promise.all([globally, ofB].map(({ id }) => counts(id)))).toEqual([
      [0, 0],
      [0, 0],
    ]);
  });

  test("a query that fails on half of the hosts has results of the other half", async () => {
    const one = await makePolicy(t);
    const hosts = await Promise.all(Array.from({ length: 20 }, (_, i) => newHost(`f${i}`)));
    await Promise.all(hosts.map(({ key }, i) => answer(key, { [one.id]: i % 2 === 0 ? null : i % 4 === 1 })));
    await soon(one.id, [5, 5]);
    expect(await responses(hosts[0]!.id)).toEqual({ [one.id]: "" });
  });

  test("newly failing hosts are stored for automations that are turned on, once each", async () => {
    const [told, untold] = [await makePolicy(t), await makePolicy(t)];
    const [a, b] = [await newHost("a"), await newHost("b")];
    await answer(a.key, { [told.id]: true, [untold.id]: false });
    await automate(told.id);
    await answer(a.key, { [told.id]: false, [untold.id]: false });
    await answer(b.key, { [told.id]: false, [untold.id]: false });
    await answer(b.key, { [told.id]: false, [untold.id]: false });
    expect(await events()).toEqual([`${told.id}/${a.id}`, `${told.id}/${b.id}`]);
    // A host that passes again before the notification needs none.
    await answer(a.key, { [told.id]: true, [untold.id]: false });
    expect(await events()).toEqual([`${told.id}/${b.id}`]);

    await t.store.policyEvents.delete({ op: "all" });
    await answer(b.key, { [told.id]: false, [untold.id]: false });
    expect(await events()).toEqual([]);
    expect((await t.post("/automations/reset", { policy_ids: [told.id, untold.id] })).status).toBe(200);
    expect(await events()).toEqual([`${told.id}/${b.id}`]);
    expect((await t.post("/automations/reset", { policy_ids: [told.id] })).status).toBe(200);
    expect(await t.store.policyEvents.count()).toBe(1);
    expect((await t.post("/automations/reset", {})).status).toBe(200);
    expect((await t.post("/automations/reset", { policy_ids: [9999] })).status).toBe(404);
    await t.delete(`/hosts/${b.id}`);
    expect(await events()).toEqual([]);
  });

  test("the automations of a team's policies are reset by team", async () => {
    const team = await makeTeam(t);
    const secret = await makeSecret(t, "team", team.id);
    const own = await makePolicy(t, { scope: "team", team_id: team.id });
    const host = await newHost("h", "ubuntu", secret);
    await answer(host.key, { [own.id]: false });
    const { settings } = (await t.store.teams.get(team.id))!;
    await t.store.teams.updateEach([
      {
        id: team.id,
        settings: {
          ...settings,
          webhook_settings: {
            failing_policies_webhook: {
              enable_failing_policies_webhook: true,
              destination_url: "https://hooks.example.com",
              policy_ids: [own.id],
              host_batch_size: 0,
            },
          },
        },
      },
    ]);
    expect((await t.post("/automations/reset", { team_ids: [team.id] })).status).toBe(200);
    expect(await events()).toEqual([`${own.id}/${host.id}`]);
    expect((await t.post("/automations/reset", { team_ids: [9999] })).status).toBe(404);
  });

  test("the hourly job corrects counts and removes outdated ids", async () => {
    const one = await makePolicy(t);
    const host = await newHost("h");
    await answer(host.key, { [one.id]: false });
    await soon(one.id, [0, 1]);
    await t.store.policies.update({ where: { op: "all" }, set: { passing_host_count: 70, failing_host_count: 0 } });
    const row = (await t.store.hostPolicies.get(host.id))!;
    await t.store.hostPolicies.updateEach([{ id: host.id, failing: [...row.failing, 77_000_000], issues_count: 2 }]);
    await runJob(t.services, "policy_counts");
    expect(await counts(one.id)).toEqual([0, 1]);
    expect(await t.store.hostPolicies.get(host.id)).toMatchObject({ failing: row.failing, issues_count: 1 });
  });

  test("recounting during check-ins counts nothing twice", async () => {
    const some = await Promise.all(Array.from({ length: 5 }, () => makePolicy(t)));
    const hosts = await Promise.all(Array.from({ length: 40 }, (_, i) => newHost(`r${i}`)));
    const checkIn = (turn: number) =>
      Promise.all(
        hosts.map(({ key }, i) =>
          answer(key, Object.fromEntries(some.map(({ id }, j) => [id, (i + j + turn) % 3 === 0]))),
        ),
      );
    for (let turn = 0; turn < 3; turn++) await Promise.all([checkIn(turn), runJob(t.services, "policy_counts")]);
    const rows = await t.store.hostPolicies.list();
    for (const { id, result_id } of some)
      await soon(id, [
        rows.filter(({ passing }) => passing.includes(result_id)).length,
        rows.filter(({ failing }) => failing.includes(result_id)).length,
      ]);
    expect(rows.every(({ passing, failing }) => passing.length + failing.length === some.length)).toBe(true);
  });

  test("differences that a stopped server left are counted at the next start", async () => {
    const one = await makePolicy(t);
    await t.store.policyCountChanges.insert({ changes: [[one.result_id, 3, 4]] });
    const next = withRunning(t.services);
    await next.running.start(next, policyCounts);
    await soon(one.id, [3, 4]);
    await next.running.stop();
    expect(await t.store.policyCountChanges.count()).toBe(0);
  });

  if (!rulesEngines.includes(engine)) return;

  test("are sent by team and platform when due, and not again for an hour", async () => {
    const team = await makeTeam(t);
    const secret = await makeSecret(t, "of-the-team", team.id);
    const everywhere = await makePolicy(t, { query: "SELECT 'everywhere';" });
    const linux = await makePolicy(t, { platform: "linux,windows" });
    await makePolicy(t, { platform: "darwin" });
    const own = await makePolicy(t, { scope: "team", team_id: team.id });
    const none = await makePolicy(t, { scope: "no_team" });
    const loose = await newHost("loose");
    const member = await newHost("member", "ubuntu", secret);
    const { queries } = (await send(READ, { node_key: loose.key })).json;
    expect(queries[PREFIX + everywhere.id]).toBe("SELECT 'everywhere';");
    expect((await asked(loose.key)).sort()).toEqual([everywhere, linux, none].map(({ id }) => PREFIX + id).sort());
    expect((await asked(member.key)).sort()).toEqual([everywhere, linux, own].map(({ id }) => PREFIX + id).sort());

    await answer(loose.key, { [everywhere.id]: true, [linux.id]: false, [none.id]: null });
    expect(await asked(loose.key)).toEqual([]);
    expect(await responses(loose.id)).toEqual({ [everywhere.id]: "pass", [linux.id]: "fail", [none.id]: "" });
    expect((await t.store.hosts.get(loose.id))!.policy_updated_at).toBe(t.clock.iso());
    t.clock.advance(HOUR + 1);
    expect((await asked(loose.key)).length).toBe(3);
  });

  test("a new or changed policy is sent with the next poll, alone; not again after a result", async () => {
    const first = await makePolicy(t);
    const host = await newHost("h");
    await answer(host.key, { [first.id]: true });
    expect(await asked(host.key)).toEqual([]);
    const updated = (await t.store.hosts.get(host.id))!.policy_updated_at;
    t.clock.advance(HOUR / 2);
    const create = async (body: object) => {
      const res = await t.post("/global/policies", { name: `p${Math.random()}`, query: "SELECT 3;", ...body });
      return ((await res.json()) as { policy: Policy }).policy;
    };
    await create({ platform: "windows" });
    expect(await asked(host.key)).toEqual([]);
    const next = await create({});
    expect(next.unanswered_host_count).toBe(1);
    const { queries } = (await send(READ, { node_key: host.key })).json;
    expect(Object.keys(queries).filter((name) => name.startsWith(PREFIX))).toEqual([PREFIX + next.id]);
    const told = Object.fromEntries(Object.keys(queries).map((name) => [name, ROW]));
    await send(WRITE, { node_key: host.key, queries: told, statuses: {} });
    expect(await responses(host.id)).toEqual({ [first.id]: "pass", [next.id]: "pass" });
    await soon(next.id, [1, 0]);
    expect((await policy(next.id)).unanswered_host_count).toBe(0);
    expect(await asked(host.key)).toEqual([]);
    // The others keep their interval.
    expect((await t.store.hosts.get(host.id))!.policy_updated_at).toBe(updated);

    await change(first.id, { query: "SELECT 4;" });
    expect(await asked(host.key)).toEqual([PREFIX + first.id]);
    await answer(host.key, { [first.id]: true });
    expect(await asked(host.key)).toEqual([]);
    const label = await makeLabel(t, "some", [host.id]);
    await change(next.id, { labels_include_any: [label.name] });
    expect(await asked(host.key)).toEqual([PREFIX + next.id]);
    await answer(host.key, { [next.id]: false });
    expect(await asked(host.key)).toEqual([]);
    await soon(next.id, [0, 1]);
  });

  test("are sent in amounts that an agent can handle", async () => {
    const long = `SELECT '${"x".repeat(60_000)}';`;
    for (let i = 0; i < 80; i++) await makePolicy(t, { query: long });
    const host = await newHost("h");
    const { text } = await send(READ, { node_key: host.key });
    expect(Buffer.byteLength(text)).toBeLessThan(6 * 1024 * 1024);
    expect((await asked(host.key)).length).toBeGreaterThan(50);
  });

  test("a host without policies only gets the wildcard", async () => {
    await makePolicy(t, { platform: "darwin" });
    const host = await newHost("h");
    expect(await asked(host.key)).toEqual(["svc_no_policies_wildcard"]);
    await send(WRITE, { node_key: host.key, queries: { svc_no_policies_wildcard: ROW }, statuses: {} });
    expect(await asked(host.key)).toEqual([]);
  });

  test("a result of the query before the change does not count for the changed query", async () => {
    const one = await makePolicy(t);
    const host = await newHost("h");
    expect(await asked(host.key)).toEqual([PREFIX + one.id]);
    await change(one.id, { query: "SELECT 2;" });
    await answer(host.key, { [one.id]: false });
    expect(await responses(host.id)).toEqual({ [one.id]: "" });
    t.clock.advance(HOUR + 1);
    await asked(host.key);
    await answer(host.key, { [one.id]: true });
    expect(await responses(host.id)).toEqual({ [one.id]: "pass" });
    await soon(one.id, [1, 0]);
  });

  test("handles invalid data", async () => {
    const one = await makePolicy(t);
    const host = await newHost("h");
    await answer(host.key, { [one.id]: true, 999999: false, 0: false });
    const bodies = [
      { queries: { [`${PREFIX}x`]: ROW, [PREFIX]: ROW, [`${PREFIX}-1`]: ROW, [`${PREFIX}1e3`]: ROW } },
      { queries: { [`${PREFIX}99999999999999999999`]: ROW, [`${PREFIX}1;DROP TABLE policies`]: ROW } },
      { queries: { [PREFIX + one.id]: ROW }, statuses: { [PREFIX + one.id]: { a: 1 } } },
      { queries: { [PREFIX + one.id]: 7 }, statuses: { [PREFIX + one.id]: "nonsense" } },
      { queries: null, statuses: { [PREFIX + one.id]: 1 } },
    ];
    for (const body of bodies) {
      const reply = await send(WRITE, { node_key: host.key, ...body });
      expect(reply.status, JSON.stringify(body)).toBeLessThan(500);
    }
    const [row] = await t.store.hostPolicies.list();
    const held = [...(row?.passing ?? []), ...(row?.failing ?? [])];
    expect(held.every((id) => id === one.result_id)).toBe(true);
    // Invalid rows count as an empty result.
    await send(WRITE, { node_key: host.key, queries: { [PREFIX + one.id]: "" }, statuses: { [PREFIX + one.id]: "0" } });
    expect(await responses(host.id)).toEqual({ [one.id]: "fail" });
    await soon(one.id, [0, 1]);
  });

  test("a simulated machine reports its real state", async () => {
    const yes = await makePolicy(t, { query: "SELECT 1 FROM os_version WHERE platform <> 'amiga';" });
    const no = await makePolicy(t, { query: "SELECT 1 FROM os_version WHERE platform = 'amiga';" });
    const broken = await makePolicy(t, { query: "SELECT * FROM no_such_table;" });
    const agent = new SimulatedAgent(send, "linux");
    await agent.enroll();
    await agent.poll();
    const [host] = await t.store.hosts.list();
    expect(await responses(host!.id)).toEqual({ [yes.id]: "pass", [no.id]: "fail", [broken.id]: "" });
    await soon(no.id, [0, 1]);
    const failing = (await (await t.get(`/hosts?policy_id=${no.id}&policy_response=failing`)).json()) as {
      hosts: { id: number; issues: { failing_policies_count: number } }[];
    };
    expect(failing.hosts.map(({ id, issues }) => [id, issues.failing_policies_count])).toEqual([[host!.id, 1]]);
  });
});

describe("policies on two servers with one database", () => {
  let t: TestApp;
  let one: Send;
  let two: Send;
  beforeEach(async () => {
    t = await startApp({ engine: "postgres", settings: { max_jitter_percent: 0 } });
    one = throughApp(t);
    await makeSecret(t);
    const store = await openPostgres({
      tables,
      url: t.databaseUrl!,
      cipher: createCipher(Buffer.alloc(32, 7)),
      log: t.services.log,
      create: true,
      poolSize: 4,
    });
    // Only its agent side: the other server counts what it leaves uncounted.
    const { agent, stop } = await startAgentSide({ ...t.services, store, config: await createConfigReader(store) });
    two = async (path, body) => {
      const endpoint = path.replace("/api/v1/qengine/", "") as Parameters<typeof agent.replyTo>[0];
      const request = { body: Buffer.from(JSON.stringify(body)), authorization: undefined, address: "127.0.0.1" };
      const reply = await agent.replyTo(endpoint, request);
      return { status: reply.status, text: reply.body, json: JSON.parse(reply.body), headers: {} };
    };
    return async () => {
      await stop();
      await store.close();
    };
  });

  test("a change on one is sent by the other; counts are correct whichever receives the results", {
    timeout: 600_000,
  }, async () => {
    const keys: string[] = [];
    for (let i = 0; i < 30; i++) keys.push(await enroll(i % 2 ? one : two, { host_identifier: `host-${i}` }));
    const created = await t.post("/global/policies", { name: "p", query: "SELECT 'first';" });
    const { policy } = (await created.json()) as { policy: Policy };
    const name = PREFIX + policy.id;
    const asks = async (send: Send) => (await send(READ, { node_key: keys[0] })).json.queries[name];
    await expect.poll(() => asks(two)).toBe("SELECT 'first';");
    await t.patch(`/global/policies/${policy.id}`, { query: "SELECT 'second';" });
    await expect.poll(() => asks(two)).toBe("SELECT 'second';");
    const answers = (turn: number) =>
      Promise.all(
        keys.map((node_key, i) =>
          // Sequentially on both: each host's second result goes to the other server.
          ((i + turn) % 2 ? one : two)(WRITE, {
            node_key,
            queries: { [name]: (i + turn) % 3 === 0 ? ROW : [] },
            statuses: { [name]: 0 },
          }),
        ),
      );
    await answers(0);
    await answers(1);
    await expect
      .poll(async () => {
        const row = (await t.store.policies.get(policy.id))!;
        return [row.passing_host_count, row.failing_host_count];
      })
      .toEqual([10, 20]);
  });
});
