import { beforeEach, describe, expect, test } from "vitest";
import { labelCounts, memberCounts } from "../../../src/server/hosts/labels/counts.ts";
import { LABEL_PREFIX } from "../../../src/server/platform/agent-protocol/names.ts";
import { serviceContext } from "../../../src/server/platform/core/context.ts";
import { withRunning } from "../../../src/server/platform/core/running.ts";
import { createCipher } from "../../../src/server/platform/store/cipher.ts";
import { openPostgres } from "../../../src/server/platform/store/postgres/open.ts";
import { eq, everything } from "../../../src/server/platform/store/query.ts";
import { createConfigReader } from "../../../src/server/settings/app-config/service.ts";
import { tables } from "../../../src/server/tables.ts";
import { startApp, type TestApp } from "../../support/app.ts";
import { bothEngines } from "../../support/engines.ts";
import { makeTeam, makeUser } from "../../support/make.ts";
import { enroll, enrollment, makeSecret, type Send, throughApp } from "./agents.ts";

const HOUR = 3_600_000;

// biome-ignore lint/suspicious/noExplicitAny: the body of any endpoint
type Body = any;

const settings = { max_jitter_percent: 0 };
const nth = (n: number, platform = "ubuntu") => {
  const { host_details: details } = enrollment();
  return {
    host_identifier: `host-${n}`,
    host_details: {
      ...details,
      os_version: { ...details.os_version, platform },
      system_info: { ...details.system_info, uuid: `UUID-${n}`, hardware_serial: `S${n}`, hostname: `h${n}.example` },
      osquery_info: { ...details.osquery_info, uuid: `UUID-${n}`, instance_id: `instance-${n}` },
    },
  };
};
const create = async (t: TestApp, body: object): Promise<Body> =>
  ((await (await t.post("/labels", body)).json()) as Body).label;
const count = async (t: TestApp, id: number): Promise<number> =>
  ((await (await t.get(`/labels/${id}`)).json()) as Body).label.count;
const read = async (send: Send, node_key: string): Promise<Record<string, string>> =>
  (await send("/api/v1/qengine/distributed/read", { node_key })).json.queries;
const write = async (send: Send, node_key: string, queries: object, statuses: object = {}) => {
  const reply = await send("/api/v1/qengine/distributed/write", { node_key, queries, statuses });
  expect(reply).toMatchObject({ status: 200, text: "{}" });
};
const yes = [{ 1: "1" }];

describe.each(bothEngines)("labels evaluated by agents on %s", (engine) => {
  let t: TestApp;
  let send: Send;
  beforeEach(async () => {
    t = await startApp({ engine, settings });
    send = throughApp(t);
    await makeSecret(t);
  });
  const members = async (id: number) =>
    ((await (await t.get(`/labels/${id}/hosts`)).json()) as Body).hosts.map((host: Body) => host.hardware_serial);

  test("only labels with a query are sent, to hosts of their platforms", async () => {
    const platforms = { ubuntu: "ubuntu", linux: "linux", darwin: "darwin", every: "" };
    const ids: Record<string, number> = {};
    for (const [name, platform] of Object.entries(platforms))
      ids[name] = (await create(t, { name, platform, query: `SELECT '${name}'` })).id;
    const manual = await create(t, { name: "manual", hosts: ["S1"] });
    const criteria = await create(t, { name: "criteria", criteria: { where: "platform = ubuntu" } });
    const key = await enroll(send, nth(1));
    const asked = await read(send, key);
    expect(asked[`${LABEL_PREFIX}${ids.ubuntu}`]).toBe("SELECT 'ubuntu'");
    expect(asked[`${LABEL_PREFIX}${ids.linux}`]).toBe("SELECT 'linux'");
    expect(asked[`${LABEL_PREFIX}${ids.every}`]).toBe("SELECT 'every'");
    for (const id of [ids.darwin, manual.id, criteria.id]) expect(asked).not.toHaveProperty(`${LABEL_PREFIX}${id}`);
    // Results of queries that were not sent are ignored.
    await write(send, key, { [`${LABEL_PREFIX}${manual.id}`]: yes, [`${LABEL_PREFIX}${criteria.id}`]: yes });
    expect([await members(manual.id), await members(criteria.id)]).toEqual([[], []]);
  });

  test("a query that fails on half the hosts keeps their memberships", async () => {
    const { id } = await create(t, { name: "half", query: "SELECT 1 FROM not_everywhere" });
    const keys: string[] = [];
    for (let n = 0; n < 6; n++) keys.push(await enroll(send, nth(n)));
    const name = `${LABEL_PREFIX}${id}`;
    for (const [n, key] of keys.entries()) await write(send, key, { [name]: n < 4 ? yes : [] }, { [name]: 0 });
    expect(await members(id)).toEqual(["S0", "S1", "S2", "S3"]);
    t.clock.advance(HOUR);
    // The odd ones fail; the even ones now report the opposite.
    for (const [n, key] of keys.entries()) {
      expect(await read(send, key)).toHaveProperty(name);
      if (n % 2 === 1) await write(send, key, { [name]: n === 1 ? yes : "" }, { [name]: 1 });
      else await write(send, key, { [name]: n < 4 ? [] : yes }, { [name]: 0 });
    }
    expect(await members(id)).toEqual(["S1", "S3", "S4"]);
    expect(await count(t, id)).toBe(3);
    // A failure is a result too: the query is not sent with every poll (nor is everything requested from these hosts).
    await t.store.hosts.update({ where: everything, set: { refetch_requested: false } });
    for (const key of keys) expect(await read(send, key)).not.toHaveProperty(name);
  });

  test("counts are correct after the result, and of All Hosts after the enrollment", async () => {
    const allHosts = (await t.store.labels.first({ where: eq("name", "All Hosts") }))!.id;
    const { id } = await create(t, { name: "counted", query: "SELECT 1" });
    for (let n = 0; n < 3; n++) {
      expect(await count(t, allHosts)).toBe(n);
      const key = await enroll(send, nth(n));
      expect(await count(t, allHosts)).toBe(n + 1);
      await write(send, key, { [`${LABEL_PREFIX}${id}`]: yes });
      expect(await count(t, id)).toBe(n + 1);
    }
    const again = await enroll(send, nth(0));
    expect(await count(t, allHosts)).toBe(3);
    await write(send, again, { [`${LABEL_PREFIX}${id}`]: [] });
    expect(await count(t, id)).toBe(2);
  });

  test("the SQL of a team user's label is sent only to hosts of that user's teams, and members follow", async () => {
    const [own, other] = [await makeTeam(t), await makeTeam(t)];
    await makeSecret(t, "own", own.id);
    await makeSecret(t, "other", other.id);
    const who = await makeUser(t, { teams: [{ id: own.id, role: "technician" }] });
    const { label } = (await (await who.post("/labels", { name: "theirs", query: "SELECT 1" })).json()) as Body;
    expect(Object.keys(label)).not.toContain("asked_teams");
    const specs = [{ name: "by spec", query: "SELECT 2", label_membership_type: "dynamic" }];
    expect((await who.post("/spec/labels", { specs })).status).toBe(200);
    const bySpec = (await t.store.labels.first({ where: eq("name", "by spec") }))!;
    const all = await create(t, { name: "everywhere", query: "SELECT 3" });

    const [inside, outside, nowhere] = [
      await enroll(send, { ...nth(0), enroll_secret: "own" }),
      await enroll(send, { ...nth(1), enroll_secret: "other" }),
      await enroll(send, nth(2)),
    ];
    const names = [label.id, bySpec.id].map((id) => `${LABEL_PREFIX}${id}`);
    const asked = async (key: string) => Object.keys(await read(send, key)).filter((name) => names.includes(name));
    expect(await asked(inside)).toEqual(names);
    for (const key of [outside, nowhere]) {
      expect(await asked(key)).toEqual([]);
      expect(await read(send, key)).toHaveProperty(`${LABEL_PREFIX}${all.id}`);
    }
    // Results of queries that were not sent are ignored.
    for (const key of [inside, outside, nowhere]) await write(send, key, { [names[0]!]: yes });
    expect(await members(label.id)).toEqual(["S0"]);

    const { id } = (await t.store.hosts.first({ where: eq("hardware_serial", "S0") }))!;
    expect((await t.post("/hosts/transfer", { team_id: other.id, hosts: [id] })).status).toBe(200);
    t.clock.advance(HOUR);
    expect(await asked(inside)).toEqual([]);
    await write(send, inside, { [`${LABEL_PREFIX}${all.id}`]: yes });
    expect(await members(label.id)).toEqual([]);

    // A user who may write all labels takes over the SQL.
    expect((await t.post("/spec/labels", { specs: [{ ...specs[0], query: "SELECT 4" }] })).status).toBe(200);
    t.clock.advance(HOUR);
    expect(await asked(outside)).toEqual([names[1]]);
  });

  test("a host is counted in the team that it enrolls into, and no longer after it enrolls into another", async () => {
    await t.close();
    t = await startApp({ engine, settings: { global_reenroll: "move" } });
    send = throughApp(t);
    await makeSecret(t);
    const [one, two] = [await makeTeam(t), await makeTeam(t)];
    await makeSecret(t, "for-one", one.id);
    await makeSecret(t, "for-two", two.id);
    const users = [
      await makeUser(t, { teams: [{ id: one.id, role: "observer" }] }),
      await makeUser(t, { teams: [{ id: two.id, role: "observer" }] }),
    ];
    const allHosts = (await t.store.labels.first({ where: eq("name", "All Hosts") }))!.id;
    const counts = async () =>
      Promise.all(
        users.map(async (user) => ((await (await user.get(`/labels/${allHosts}`)).json()) as Body).label.count),
      );
    expect(await counts()).toEqual([0, 0]);
    await enroll(send, { ...nth(0), enroll_secret: "for-one" });
    expect(await counts()).toEqual([1, 0]);
    await enroll(send, { ...nth(1), enroll_secret: "for-two" });
    expect(await counts()).toEqual([1, 1]);
    await enroll(send, nth(0));
    expect(await counts()).toEqual([0, 1]);
  });

  test("a query that is changed by configuration empties the label until hosts report results of the new one", async () => {
    const { id } = await create(t, { name: "q", query: "SELECT 1" });
    const name = `${LABEL_PREFIX}${id}`;
    const keys = [await enroll(send, nth(0)), await enroll(send, nth(1))];
    for (const key of keys) await write(send, key, { [name]: yes });
    expect(await count(t, id)).toBe(2);
    expect((await t.post("/spec/labels", { specs: [{ name: "q", query: "SELECT 2" }] })).status).toBe(200);
    expect(await count(t, id)).toBe(0);
    t.clock.advance(HOUR);
    expect((await read(send, keys[0]!))[name]).toBe("SELECT 2");
    await write(send, keys[0]!, { [name]: yes });
    expect(await members(id)).toEqual(["S0"]);
  });

  test("a deleted label is not sent any more, and a late result is ignored", async () => {
    const { id } = await create(t, { name: "gone", query: "SELECT 1" });
    const key = await enroll(send, nth(0));
    expect(await read(send, key)).toHaveProperty(`${LABEL_PREFIX}${id}`);
    expect((await t.delete("/labels/gone")).status).toBe(200);
    await write(send, key, { [`${LABEL_PREFIX}${id}`]: yes });
    expect(await t.store.labelMembers.count(eq("label_id", id))).toBe(0);
    t.clock.advance(HOUR);
    expect(await read(send, key)).not.toHaveProperty(`${LABEL_PREFIX}${id}`);
  });
});

test("the counts of a second server follow the results that the first one receives", async () => {
  const t = await startApp({ engine: "postgres", settings });
  const send = throughApp(t);
  await makeSecret(t);
  const store = await openPostgres({
    tables,
    url: t.databaseUrl!,
    cipher: createCipher(Buffer.alloc(32, 7)),
    log: t.services.log,
    create: true,
    poolSize: 2,
  });
  const services = withRunning({ ...t.services, store, config: await createConfigReader(store) });
  await services.running.start(services, memberCounts);
  try {
    const { id } = await create(t, { name: "shared", query: "SELECT 1" });
    const there = async () => (await labelCounts(serviceContext(services))).get(id) ?? 0;
    const key = await enroll(send, nth(0));
    expect(await there()).toBe(0);
    await write(send, key, { [`${LABEL_PREFIX}${id}`]: yes });
    await expect.poll(there).toBe(1);
    await t.delete(`/hosts/${(await t.store.hosts.list())[0]!.id}`);
    await expect.poll(there).toBe(0);
  } finally {
    await services.running.stop();
    await store.close();
  }
});
