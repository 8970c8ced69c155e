// Every write is first sent with `Dry-Run: true` and then for real: the dry run leaves no trace, and its result is that
// of the real request.

import pg from "pg";
import { afterEach, expect, it } from "vitest";
import { allEndpoints } from "../../src/api/all.ts";
import { dryRunOf } from "../../src/api/dry-run.ts";
import { fullPath } from "../../src/api/paths.ts";
import { policyCounts } from "../../src/server/checks/policies/counts.ts";
import { policyActions } from "../../src/server/delivery/policy-actions/act.ts";
import { scriptBatchRuns } from "../../src/server/delivery/scripts/batches/carry-out.ts";
import { storeAppWorker } from "../../src/server/delivery/store-apps/worker.ts";
import { filevaultKeeper } from "../../src/server/devices/apple/filevault/enforce.ts";
import { hostNameKeeper } from "../../src/server/devices/apple/names/keep.ts";
import { profileReconciler } from "../../src/server/devices/profiles/part.ts";
import { allJobs } from "../../src/server/edge/jobs/all.ts";
import { isBusy, runDue } from "../../src/server/edge/jobs/schedule.ts";
import { criteriaWatch } from "../../src/server/inventory/labels/criteria-watch.ts";
import { channels } from "../../src/server/platform/core/channels.ts";
import { isoAt } from "../../src/server/platform/core/clock.ts";
import { backgroundIdle } from "../../src/server/platform/core/concurrency/background.ts";
import type { ServerStore, Tables } from "../../src/server/platform/core/tables.ts";
import { sealAll } from "../../src/server/platform/outbox/activities.ts";
import { softwareCounts } from "../../src/server/software/software/counts.ts";
import { vulnerabilityCounts } from "../../src/server/software/software/vulnerabilities/counts.ts";
import { tables } from "../../src/server/tables.ts";
import { startApp, type TestApp } from "../support/app.ts";
import { bothEngines } from "../support/engines.ts";
import { makeTeam, makeUser } from "../support/make.ts";
import { targets, type World } from "./walker-targets.ts";

const DRY = { "dry-run": "true" };

/** Every row of every table, every blob, and the configuration as it is cached. */
async function stateOf({ store, services, databaseUrl }: TestApp): Promise<Record<string, string>> {
  const state: Record<string, string> = {
    config: JSON.stringify(await services.config.current()),
    ...(databaseUrl === null ? await rowsOf(store) : await digestsIn(databaseUrl)),
  };
  // The sender attempts deliveries at any time; dry runs must neither add nor end one.
  state.outbox = JSON.stringify(
    await store.outbox.pick(["id", "state"], { order: [{ column: "id", direction: "asc" }] }),
  );
  const keys: string[] = [];
  for await (const key of services.blobs.list()) keys.push(key);
  state.blobs = keys.join();
  return state;
}

async function rowsOf(store: ServerStore): Promise<Record<string, string>> {
  const rows: Record<string, string> = {};
  for (const name of Object.keys(tables) as (keyof Tables)[])
    rows[name] = JSON.stringify(
      await (store[name] as ServerStore["hosts"]).list({ order: [{ column: "id", direction: "asc" }] }),
    );
  return rows;
}

/** One statement for all tables: two hundred, twice for each request, would take most of the time of this test. */
async function digestsIn(databaseUrl: string): Promise<Record<string, string>> {
  const digests = Object.entries(tables).map(
    ([key, { name }]) =>
      `SELECT '${key}' AS key, md5(string_agg(one::text, chr(10) ORDER BY id)) AS digest FROM "${name}" AS one`,
  );
  // A prepared statement, as a new session would have to learn all tables and plan for each.
  const { rows } = await (await clientOf(databaseUrl)).query<{ key: string; digest: string | null }>({
    name: "digests",
    text: digests.join(" UNION ALL "),
  });
  return Object.fromEntries(rows.map(({ key, digest }) => [key, digest ?? ""]));
}

const clients = new Map<string, pg.Client>();
afterEach(async () => {
  for (const client of clients.values()) await client.end();
  clients.clear();
});

async function clientOf(databaseUrl: string): Promise<pg.Client> {
  const known = clients.get(databaseUrl);
  if (known) return known;
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  clients.set(databaseUrl, client);
  return client;
}

/** Waits for everything that continues after a reply. */
async function settle({ services, store }: TestApp): Promise<void> {
  await backgroundIdle(services);
  await sealAll(services);
  await services.running.of(profileReconciler).run();
  await services.running.of(hostNameKeeper).run();
  await services.running.of(scriptBatchRuns).run();
  // What follows changes a little later.
  for (const part of [policyActions, storeAppWorker, criteriaWatch, filevaultKeeper])
    await services.running.of(part).run();
  for (const part of [policyCounts, softwareCounts, vulnerabilityCounts]) await services.running.of(part).flush();
  await expect.poll(async () => (await store.jobRuns.list()).filter(isBusy)).toEqual([]);
}

/** Keeps scheduled jobs from running, because their traces would look like those of a dry run. */
async function pauseSchedule({ store, clock, services }: TestApp): Promise<void> {
  for (const { name, every, period } of allJobs) {
    // A run that started even later counts as one of a clock that was set back since, and is repeated immediately.
    const last = isoAt(clock.now() + ((await period?.(services)) ?? every));
    const run = { name, started_at: last, finished_at: last, error: null };
    await store.jobRuns.upsert([run], { on: ["name"] });
  }
  const before = await store.jobRuns.list();
  await runDue(services, allJobs, new AbortController().signal);
  expect(await store.jobRuns.list()).toEqual(before);
}

const withoutUuid = (body: unknown): unknown =>
  typeof body === "object" && body !== null ? { ...body, uuid: undefined } : body;

it.each(bothEngines)(
  "leaves nothing behind, and ends as the real request does, on %s",
  { timeout: 300_000 },
  async (engine) => {
    const t = await startApp({ engine });
    await pauseSchedule(t);
    const world: World = { t, own: (await makeTeam(t)).id, other: (await makeTeam(t)).id };
    const maintainer = await makeUser(t, { teams: [{ id: world.own, role: "maintainer" }] });
    const heard: string[] = [];
    for (const channel of Object.values(channels)) await t.store.listen(channel, () => void heard.push(channel));
    const wrong: string[] = [];
    let compared = 0;

    for (const { endpoint } of allEndpoints) {
      const key = `${endpoint.method} ${endpoint.path}`;
      const target = targets[key];
      if (target === undefined || endpoint.method === "GET" || dryRunOf(endpoint) !== true) continue;
      // Who may do what is the same on both: there, a transaction that is rolled back is what matters.
      const isWhole = engine === "lowdb";
      for (const place of isWhole ? target.places : target.places.slice(0, 1))
        for (const caller of isWhole ? [maintainer, t] : [t]) {
          const { path, body } = await target.call(world, place);
          await settle(t);
          const where = `${key} (${place}) ${caller === t ? "admin" : "maintainer"}`;
          const attempt = async () => {
            const before = await stateOf(t);
            heard.length = 0;
            const dry = await caller.request(endpoint.method, path, body, DRY);
            const said = await dry.json().catch(() => null);
            const after = await stateOf(t);
            const traces = Object.keys(before).flatMap((name) =>
              before[name] === after[name] ? [] : [`${name} changed`],
            );
            if (heard.length > 0) traces.push(`messages on ${heard.join()}`);
            return { dry, said, traces };
          };
          let tried = await attempt();
          // What another request has started may have ended in between; a trace of the dry run would come again.
          if (tried.traces.length > 0) {
            await settle(t);
            tried = await attempt();
          }
          const { dry, said, traces } = tried;
          wrong.push(...traces.map((trace) => `${where}: ${trace}`));
          const real = await caller.request(endpoint.method, path, body);
          const does = await real.json().catch(() => null);
          compared++;
          if (dry.status !== real.status)
            wrong.push(`${where}: ${dry.status}, really ${real.status}: ${JSON.stringify(said)}`);
          else if (!real.ok) {
            if (JSON.stringify(withoutUuid(said)) !== JSON.stringify(withoutUuid(does)))
              wrong.push(`${where}: ${JSON.stringify(said)}, really ${JSON.stringify(does)}`);
          } else {
            if (dry.headers.get("dry-run") !== "true") wrong.push(`${where}: no header`);
            if (real.headers.get("dry-run") !== null) wrong.push(`${where}: the real reply has the header`);
            if (Object.keys(said ?? {}).join() !== Object.keys(does ?? {}).join())
              wrong.push(`${where}: ${JSON.stringify(said)}, really ${JSON.stringify(does)}`);
          }
        }
    }
    expect(wrong).toEqual([]);
    expect(compared).toBeGreaterThan(engine === "lowdb" ? 300 : 100);
  },
);

it("is refused before anything is done if the endpoint does not support it, or if the value is invalid", async () => {
  const t = await startApp();
  // A server counts all hosts at its start.
  await settle(t);
  const before = await stateOf(t);
  const refused = allEndpoints.filter(({ endpoint }) => typeof dryRunOf(endpoint) === "string");
  expect(refused.length).toBeGreaterThan(10);
  for (const { name, endpoint } of refused) {
    const path = fullPath(endpoint).replaceAll(/:[a-z_]+/g, "1");
    const res = await t.request(endpoint.method, path, endpoint.hasBody ? {} : undefined, DRY);
    const { errors } = (await res.json()) as { errors: { name: string; reason: string }[] };
    expect([name, res.status, errors[0]?.name]).toEqual([name, 400, "Dry-Run"]);
    expect(errors[0]?.reason).toContain("does not support dry runs");
  }
  const bad = await t.request("POST", "/labels", { name: "x" }, { "dry-run": "perhaps" });
  expect([bad.status, await bad.json()]).toMatchObject([400, { errors: [{ name: "Dry-Run" }] }]);
  for (const path of ["/api/v1/qengine/enroll", "/api/v1/svc/agent/enroll", "/api/v1/svcd/certificates/1/status"]) {
    const method = path.endsWith("status") ? "PUT" : "POST";
    const res = await t.raw(path, {
      method,
      headers: { ...DRY, "content-type": "application/json" },
      body: JSON.stringify({ enroll_secret: "x", host_identifier: "y", hardware_uuid: "z" }),
    });
    expect([path, res.status]).toEqual([path, 400]);
    expect(await res.text()).toContain("does not support dry runs");
  }
  expect(await stateOf(t)).toEqual(before);
});

it("creates no token, link or secret that could be mistaken for a real one", async () => {
  const t = await startApp();
  const tried = async (path: string, body: unknown) =>
    (await t.request("POST", path, body, DRY)).json() as Promise<Record<string, unknown>>;
  expect((await tried("/tokens", { name: "ci" })).token).toBe("********");
  expect((await tried("/invites", { name: "I", email: "i@example.com", global_role: "observer" })).link).toBe(
    "********",
  );
  const robot = {
    name: "R",
    email: "r@example.com",
    global_role: "gitops",
    api_only: true,
    password: "a-good-passw0rd!",
  };
  expect((await tried("/users/admin", robot)).token ?? "********").toBe("********");
  expect(await t.store.sessions.count()).toBe(1);
});

it("detects a name that is taken, and does not block others", async () => {
  const t = await startApp();
  const create = (headers?: Record<string, string>) => t.request("POST", "/teams", { name: "Sales" }, headers);
  expect((await create(DRY)).status).toBe(200);
  expect((await create(DRY)).status).toBe(200);
  expect((await create()).status).toBe(200);
  expect((await create(DRY)).status).toBe(409);
  // Reads ignore it, and the deprecated parameters are equivalent.
  expect((await t.get("/teams", DRY)).status).toBe(200);
  const res = await t.patch("/config?dry_run=true", { org_info: { org_name: "Other" } });
  expect([res.status, res.headers.get("dry-run")]).toEqual([200, "true"]);
  expect(((await (await t.get("/config")).json()) as { org_info: { org_name: string } }).org_info.org_name).toBe(
    "Test",
  );
});

it("names what it could not check, and sends no mail", async () => {
  const t = await startApp();
  const smtp = {
    enable_smtp: true,
    server: "mail.invalid",
    sender_address: "svc@example.com",
    authentication_type: "authtype_none",
  };
  expect((await t.patch("/config", { smtp_settings: smtp })).status).toBe(200);
  const invite = { name: "I", email: "i@example.com", global_role: "observer" };
  const res = await t.request("POST", "/invites", invite, DRY);
  expect([res.status, res.headers.get("dry-run-unchecked")]).toEqual([200, "whether the mail server accepts the mail"]);
  expect(await t.store.invites.count()).toBe(0);
});
