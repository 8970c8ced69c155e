import { beforeEach, describe, expect, test } from "vitest";
import { runJob } from "../../src/server/edge/jobs/start.ts";
import { ensureBuiltinLabels } from "../../src/server/hosts/labels/builtin.ts";
import { builtinLabels } from "../../src/server/hosts/labels/builtin-labels.ts";
import { tokenHash } from "../../src/server/platform/core/random.ts";
import { eq, oneOf } from "../../src/server/platform/store/query.ts";
import { type Caller, startApp, type TestApp } from "../support/app.ts";
import { bothEngines, rulesEngines } from "../support/engines.ts";
import { type HostRow, makeHost, makeLabel, makeTeam, makeUser } from "../support/make.ts";

describe.each(bothEngines)("built-in labels on %s", (engine) => {
  test("exist from the start, once, and are unchanged by another start", async () => {
    const t = await startApp({ engine });
    const before = await t.store.labels.list();
    expect(before.map(({ name }) => name)).toEqual(builtinLabels.map(({ name }) => name));
    t.clock.advance(1000);
    await Promise.all([ensureBuiltinLabels(t.services), ensureBuiltinLabels(t.services)]);
    expect(await t.store.labels.list()).toEqual(before);
  });

  test("a query of an older version is replaced, the label's id kept", async () => {
    const t = await startApp({ engine });
    const before = (await t.store.labels.first({ where: eq("name", "macOS") }))!;
    await t.store.labels.updateEach([{ id: before.id, query: "SELECT 2;" }]);
    await ensureBuiltinLabels(t.services);
    expect(await t.store.labels.get(before.id)).toMatchObject({ id: before.id, query: before.query });
  });
});

// biome-ignore lint/suspicious/noExplicitAny: the body of any endpoint
type Body = any;

describe.each(bothEngines)("labels on %s", (engine) => {
  let t: TestApp;
  let hosts: HostRow[];
  beforeEach(async () => {
    t = await startApp({ engine });
    hosts = [];
    for (const name of ["a", "b", "c"])
      hosts.push(
        await makeHost(t, {
          hostname: `${name}.example.com`,
          hardware_serial: `SER-${name}`,
          uuid: `uuid-of-${name}`,
          platform: name === "c" ? "darwin" : "ubuntu",
          node_key_hash: tokenHash(`key-${name}`),
        }),
      );
  });
  const ids = () => hosts.map(({ id }) => id);
  const json = async (reply: Promise<Response>, status = 200): Promise<Body> => {
    const res = await reply;
    const body = await res.json();
    expect(res.status, JSON.stringify(body)).toBe(status);
    return body;
  };
  const create = async (body: object, by: Caller = t) => (await json(by.post("/labels", body))).label;
  const get = async (id: number, by: Caller = t) => (await json(by.get(`/labels/${id}`))).label;
  const hostsIn = async (id: number, by: Caller = t, query = "") =>
    (await json(by.get(`/labels/${id}/hosts${query}`))).hosts.map((host: { id: number }) => host.id);
  const refusedField = async (reply: Promise<Response>, status = 422) => (await json(reply, status)).errors[0].name;
  const builtin = async (name: string) => (await t.store.labels.first({ where: eq("name", name) }))!;

  test("the list is complete or paged, in order, with counts or without", async () => {
    const made = await create({ name: "zeta", host_ids: ids() });
    const all = (await json(t.get("/labels"))).labels;
    expect(all).toHaveLength(builtinLabels.length + 1);
    expect(all.at(-1)).toEqual({ ...made, host_ids: undefined });
    const uncounted = (await json(t.get("/labels?include_host_counts=false"))).labels.at(-1);
    expect(uncounted.count).toBe(0);
    expect(uncounted).not.toHaveProperty("host_count");
    const paged = (await json(t.get("/labels?page=0&per_page=2&order_key=name&order_direction=desc"))).labels;
    expect(paged.map(({ name }: Body) => name)).toEqual(["zeta", "macOS 14+ (Sonoma+)"]);
    expect(await refusedField(t.get("/labels?query=zeta"), 400)).toBe("query");
    expect(await refusedField(t.get("/labels?after=1&order_key=id"), 400)).toBe("after");
    expect(await refusedField(t.get("/labels?order_key=password"), 400)).toBe("order_key");
    expect(await refusedField(t.get("/labels?per_page=0"), 400)).toBe("per_page");
    const { labels: short } = await json(t.get("/labels/summary"));
    expect(short.at(-1)).toEqual({ id: made.id, name: "zeta", description: "", label_type: "regular", team_id: null });
    expect(short).toHaveLength(all.length);
  });

  test("hosts of a label have the filters and pages of the list of hosts", async () => {
    const { id } = await create({ name: "two", host_ids: ids().slice(0, 2) });
    expect(await hostsIn(id)).toEqual(ids().slice(0, 2));
    expect(await hostsIn(id, t, "?query=SER-b")).toEqual([hosts[1]!.id]);
    expect(await hostsIn(id, t, "?per_page=1&order_key=hostname&order_direction=desc")).toEqual([hosts[1]!.id]);
    expect(await hostsIn(id, t, `?order_key=id&after=${hosts[0]!.id}`)).toEqual([hosts[1]!.id]);
    expect(await hostsIn(id, t, "?mdm_enrollment_status=enrolled")).toEqual([]);
    expect(await hostsIn(999_999)).toEqual([]);
    const free = await startApp({ engine, tier: "free" });
    await json(free.get("/labels/1/hosts?team_id=1"), 402);
  });

  test("a host is added to manual labels and removed from them, all or none", async () => {
    const manual = await create({ name: "manual" });
    const other = await create({ name: "other" });
    await create({ name: "dynamic", query: "SELECT 1" });
    const path = `/hosts/${hosts[0]!.id}/labels`;
    expect(await json(t.post(path, { labels: ["manual", " manual ", "", "  ", "other"] }))).toEqual({});
    expect(await json(t.post(path, { labels: ["manual"] }))).toEqual({});
    expect([await hostsIn(manual.id), await hostsIn(other.id)]).toEqual([[hosts[0]!.id], [hosts[0]!.id]]);
    for (const body of [{}, { labels: null }, { labels: [] }, { labels: [" "] }]) {
      expect(await json(t.post(path, body))).toEqual({});
      expect(await json(t.delete(path, body))).toEqual({});
    }
    const wrong = await json(t.delete(path, { labels: ["manual", "dynamic", "no such", "All Hosts"] }), 400);
    expect(wrong.errors[0].reason).toContain('"dynamic", "no such", "All Hosts"');
    expect(wrong.errors[0].reason).not.toContain('"manual"');
    expect((await get(manual.id)).count).toBe(1);
    await json(t.delete(path, { labels: ["manual"] }));
    await json(t.delete(path, { labels: ["manual"] }));
    expect([(await get(manual.id)).count, (await get(other.id)).count]).toEqual([0, 1]);
    // Only actual changes are recorded.
    await json(t.post(path, { labels: ["other", "manual"] }));
    const told = await t.store.activities.list({ where: eq("type", "edited_host_labels") });
    expect(told.map(({ details }) => details)).toMatchObject([
      { added: ["manual", "other"], removed: [] },
      { added: [], removed: ["manual"] },
      { added: ["manual"], removed: [] },
    ]);
    await json(t.post("/hosts/999999/labels", { labels: ["manual"] }), 404);
    await json(t.post("/hosts/999999/labels", { labels: [] }), 404);
    expect(await refusedField(t.post(path, { labels: "manual" }))).toBe("labels");
    await json(t.request("POST", path), 400);
  });

  test("deleting a label deletes its memberships", async () => {
    const one = await create({ name: "one/two %2F", host_ids: ids() });
    const two = await create({ name: "2", host_ids: ids() });
    expect(await json(t.delete(`/labels/${encodeURIComponent(one.name)}`))).toEqual({});
    expect(await json(t.delete(`/labels/id/${two.id}`))).toEqual({});
    expect(await t.store.labelMembers.count()).toBe(0);
    for (const name of ["summary", "id", "7", "%"]) {
      await create({ name });
      expect(await json(t.delete(`/labels/${encodeURIComponent(name)}`)), name).toEqual({});
    }
    expect((await t.request("PUT", "/labels/summary")).status).toBe(405);
    expect((await t.get("/hosts/delete")).status).toBe(405);
    await json(t.get(`/labels/${one.id}`), 404);
    expect((await json(t.delete("/labels/one"), 404)).errors[0].reason).toMatch(/was not found in the datastore$/);
    await json(t.delete(`/labels/id/${two.id}`), 404);
  });

  test("hosts that match an expression become members immediately, and follow changes", async () => {
    const label = await create({ name: "ubuntu", criteria: { where: 'platform = ubuntu and not hostname ~ "b.ex"' } });
    expect(label).toMatchObject({
      label_membership_type: "host_vitals",
      criteria: { where: 'platform = ubuntu and not hostname ~ "b.ex"' },
      count: 1,
      query: "",
    });
    expect(await hostsIn(label.id)).toEqual([hosts[0]!.id]);
    await t.store.hosts.update({ where: oneOf("id", ids()), set: { platform: "ubuntu" } });
    const fresh = await makeHost(t, { platform: "darwin" });
    await runJob(t.services, "label_criteria");
    expect(await hostsIn(label.id)).toEqual([hosts[0]!.id, hosts[2]!.id]);
    expect((await get(label.id)).count).toBe(2);
    await t.store.hosts.update({ where: eq("id", hosts[0]!.id), set: { platform: "windows" } });
    await t.store.hosts.update({ where: eq("id", fresh.id), set: { platform: "ubuntu" } });
    await runJob(t.services, "label_criteria");
    expect(await hostsIn(label.id)).toEqual([hosts[2]!.id, fresh.id]);
    const before = await t.store.labelMembers.list();
    await runJob(t.services, "label_criteria");
    expect(await t.store.labelMembers.list()).toEqual(before);
    expect(await refusedField(t.patch(`/labels/${label.id}`, { hosts: ["SER-a"] }))).toBe("hosts");
    await json(t.post(`/hosts/${hosts[0]!.id}/labels`, { labels: ["ubuntu"] }), 400);
  });

  test("counts are correct after every kind of change", async () => {
    const { id } = await create({ name: "counted", host_ids: ids() });
    const team = await makeTeam(t);
    const inTeam = await makeUser(t, { teams: [{ id: team.id, role: "observer" }] });
    const counts = async () => [(await get(id)).count, (await get(id, inTeam)).count];
    expect(await counts()).toEqual([3, 0]);
    await json(t.post("/hosts/transfer", { team_id: team.id, hosts: [hosts[0]!.id] }));
    expect(await counts()).toEqual([3, 1]);
    await json(t.post(`/hosts/${hosts[0]!.id}/refetch`));
    expect(await counts()).toEqual([3, 1]);
    await json(t.delete(`/hosts/${hosts[0]!.id}`));
    expect(await counts()).toEqual([2, 0]);
    await json(t.delete(`/hosts/${hosts[1]!.id}/labels`, { labels: ["counted"] }));
    expect(await counts()).toEqual([1, 0]);
    await json(t.post("/hosts/transfer", { team_id: team.id, hosts: [hosts[2]!.id] }));
    expect(await counts()).toEqual([1, 1]);
    await json(t.delete(`/teams/${team.id}`));
    expect((await get(id)).count).toBe(1);
    const listed = (await json(t.get("/labels"))).labels.find((label: Body) => label.id === id);
    expect(listed).toMatchObject({ count: 1, host_count: 1 });
  });

  test("a count that is requested while members change is not outdated afterwards", async () => {
    const { id } = await create({ name: "busy" });
    for (let round = 0; round < 10; round++) {
      const add = round % 2 === 0;
      const change = t.patch(`/labels/${id}`, { host_ids: add ? ids() : [] });
      await Promise.all([change, t.get("/labels"), t.get("/labels"), t.get(`/labels/${id}`)]);
      expect((await get(id)).count).toBe(add ? 3 : 0);
    }
  });

  test("many hosts at once, most of them unknown", async () => {
    const body = { name: "many", host_ids: [...Array(100_000).keys()].map((n) => n + 1) };
    expect((await create(body)).count).toBe(3);
    const names = [...Array(50_000).keys()].map((n) => `serial-${n}`);
    expect((await create({ name: "named", hosts: [...names, "SER-c"] })).host_ids).toEqual([hosts[2]!.id]);
  });

  test("one of two concurrent requests for the same label gets an error that it exists", async () => {
    const replies = await Promise.all([1, 2, 3, 4].map(() => t.post("/labels", { name: "race", hosts: ["SER-a"] })));
    expect(replies.map(({ status }) => status).sort()).toEqual([200, 409, 409, 409]);
  });

  if (!rulesEngines.includes(engine)) return;

  test("a label with a query has every field, and no members yet", async () => {
    const label = await create({ name: " Dev  machines ", description: "d", query: "SELECT 1", platform: "ubuntu" });
    const me = (await t.store.users.list())[0]!;
    expect(label).toEqual({
      error_host_count: 0,
      error_message: null,
      id: expect.any(Number),
      created_at: t.clock.iso(),
      updated_at: t.clock.iso(),
      author_id: me.id,
      name: "Dev  machines",
      display_text: "Dev  machines",
      description: "d",
      query: "SELECT 1",
      platform: "ubuntu",
      label_type: "regular",
      label_membership_type: "dynamic",
      team_id: null,
      count: 0,
    });
    expect(await get(label.id)).toEqual(label);
  });

  test("hosts are given by serial number, uuid, hostname or node key; unknown ones are ignored", async () => {
    const label = await create({ name: "by name", hosts: ["SER-a", "uuid-of-b", "c.example.com", "nobody", "", " "] });
    expect(label).toMatchObject({ label_membership_type: "manual", count: 3, host_count: 3, host_ids: ids() });
    expect(label).not.toHaveProperty("criteria");
    const byKey = await create({ name: "by key", hosts: ["key-b", "SER-b"] });
    expect(byKey.host_ids).toEqual([hosts[1]!.id]);
    const byId = await create({ name: "by id", host_ids: [hosts[2]!.id, 999_999, hosts[2]!.id] });
    expect(byId).toMatchObject({ host_ids: [hosts[2]!.id], count: 1 });
    const none = await create({ name: "empty" });
    expect(none).toMatchObject({ label_membership_type: "manual", count: 0 });
    expect(none).not.toHaveProperty("host_ids");
    expect(none).not.toHaveProperty("host_count");
  });

  test("names are normalized, can be any Unicode, and are unique", async () => {
    const label = await create({ name: "Cafe\u0301 \u{1f5a5} серверы" });
    expect(label.name).toBe("Café 🖥 серверы");
    const again = await json(t.post("/labels", { name: "Café 🖥 серверы" }), 409);
    expect(again.message).toBe("Resource Already Exists");
    await create({ name: "café 🖥 серверы" });
  });

  test("an invalid label is refused, with the field, and nothing is stored", async () => {
    const before = await t.store.labels.count();
    const bad: [what: string, body: object, field: string][] = [
      ["without a name", {}, "name"],
      ["with a blank name", { name: " \t" }, "name"],
      ["with a name too long", { name: "x".repeat(256) }, "name"],
      ["with a control character in its name", { name: "a\u0000b" }, "name"],
      ["with a built-in label's name", { name: " All Hosts " }, "name"],
      ["with query and hosts", { name: "n", query: "SELECT 1", hosts: ["SER-a"] }, "hosts"],
      ["with query and host_ids", { name: "n", query: "SELECT 1", host_ids: [1] }, "host_ids"],
      ["with hosts and host_ids", { name: "n", hosts: [], host_ids: [] }, "hosts"],
      [
        "with query and criteria",
        { name: "n", query: "SELECT 1", criteria: { where: "platform = darwin" } },
        "criteria",
      ],
      ["with an unknown vital", { name: "n", criteria: { vital: "height", value: "2" } }, "criteria"],
      ["with a vital without value", { name: "n", criteria: { vital: "end_user_idp_group", value: " " } }, "criteria"],
      ["with empty criteria", { name: "n", criteria: {} }, "criteria"],
      [
        "with vital and where",
        { name: "n", criteria: { vital: "end_user_idp_group", value: "x", where: "y" } },
        "criteria",
      ],
      ["with an expression that is none", { name: "n", criteria: { where: "platfrm = darwin" } }, "criteria"],
      ["with an unknown platform", { name: "n", query: "SELECT 1", platform: "macos" }, "platform"],
      ["with host ids that are none", { name: "n", host_ids: ["x"] }, "host_ids.0"],
    ];
    for (const [what, body, field] of bad) expect(await refusedField(t.post("/labels", body)), what).toBe(field);
    const unknown = { name: "n", criteria: { wher: "x" } };
    expect(await refusedField(t.post("/labels", unknown), 400)).toBe("criteria.wher");
    expect(await t.store.labels.count()).toBe(before);
    expect(await t.store.labelMembers.count()).toBe(0);
  });

  test("the reason of an invalid expression contains the column and the most similar field", async () => {
    const body = await json(t.post("/labels", { name: "n", criteria: { where: "platfrm = darwin" } }), 422);
    expect(body.errors[0].reason).toMatch(/column 1.*platform/);
  });

  test("a change of name and description keeps the rest", async () => {
    const label = await create({ name: "one", query: "SELECT 1", platform: "darwin" });
    t.clock.advance(1000);
    for (const fixed of [{ query: "SELECT 2" }, { platform: "" }, { criteria: { where: "platform = linux" } }])
      expect(await refusedField(t.patch(`/labels/${label.id}`, { name: "no", ...fixed }), 400)).toBe(
        Object.keys(fixed)[0],
      );
    const changed = (await json(t.patch(`/labels/${label.id}`, { name: "two", description: "new" }))).label;
    const { display_text: _text, ...same } = label;
    expect(changed).toMatchObject({ ...same, name: "two", description: "new", updated_at: t.clock.iso() });
    expect((await json(t.patch(`/labels/${label.id}`, { description: "" }))).label).toMatchObject({
      name: "two",
      description: "",
    });
    expect((await json(t.patch(`/labels/${label.id}`, {}))).label.name).toBe("two");
    await create({ name: "other" });
    await json(t.patch(`/labels/${label.id}`, { name: "other" }), 409);
    expect(await refusedField(t.patch(`/labels/${label.id}`, { name: "macOS" }))).toBe("name");
    expect(await refusedField(t.patch(`/labels/${label.id}`, { name: " " }))).toBe("name");
    expect(await refusedField(t.patch(`/labels/${label.id}`, { hosts: [] }))).toBe("hosts");
    expect(await refusedField(t.patch(`/labels/${label.id}`, { host_ids: [1] }))).toBe("hosts");
    expect((await json(t.patch("/labels/999999", { name: "x" }), 404)).errors[0].reason).toBe(
      "label 999999 was not found in the datastore",
    );
  });

  test("hosts of a manual label are replaced; kept if absent, removed if empty", async () => {
    const { id } = await create({ name: "manual", host_ids: ids().slice(0, 2) });
    await json(t.patch(`/labels/${id}`, { description: "x" }));
    expect((await get(id)).host_ids).toEqual(ids().slice(0, 2));
    expect((await json(t.patch(`/labels/${id}`, { hosts: ["SER-b", "SER-c"] }))).label).toMatchObject({
      host_ids: ids().slice(1),
      count: 2,
    });
    expect(await refusedField(t.patch(`/labels/${id}`, { hosts: [], host_ids: [] }))).toBe("hosts");
    const emptied = (await json(t.patch(`/labels/${id}`, { host_ids: [] }))).label;
    expect(emptied.count).toBe(0);
    expect(await hostsIn(id)).toEqual([]);
  });

  test("built-in labels can be neither changed nor deleted", async () => {
    const { id, ...before } = await builtin("iOS");
    expect(await refusedField(t.patch(`/labels/${id}`, { description: "mine" }))).toBe("label_type");
    expect(await refusedField(t.patch(`/labels/${id}`, { host_ids: ids() }))).toBe("label_type");
    expect(await refusedField(t.delete(`/labels/id/${id}`))).toBe("label_type");
    expect(await refusedField(t.delete("/labels/iOS"))).toBe("name");
    expect(await refusedField(t.post(`/hosts/${hosts[0]!.id}/labels`, { labels: ["iOS"] }), 400)).toBe("labels");
    expect(await refusedField(t.post("/spec/labels", { specs: [{ name: "iOS", query: "SELECT 1" }] }))).toBe(
      "specs.0.name",
    );
    expect(await t.store.labels.get(id)).toMatchObject(before);
    expect(await t.store.labelMembers.count()).toBe(0);
  });

  test("a label that limits a policy or a query cannot be deleted: without it they would apply to every host", async () => {
    const { id } = await create({ name: "in use" });
    const now = { created_at: t.clock.iso(), updated_at: t.clock.iso() };
    const policy = await t.store.policies.insert({
      ...now,
      scope: "global",
      name: "P",
      query: "SELECT 1",
      result_id: 1,
    });
    await t.store.policyLabels.insert({ policy_id: policy.id, label_id: id });
    const query = await t.store.queries.insert({ ...now, name: "Q", query: "SELECT 1" });
    await t.store.queryLabels.insert({ query_id: query.id, label_id: id });
    const refusal = await json(t.delete(`/labels/id/${id}`), 422);
    expect(refusal.errors[0].reason).toMatch(/"in use".*foreign key.*policy "P".*query "Q"/);
    await json(t.delete("/labels/in%20use"), 422);
    await t.store.policies.delete(eq("id", policy.id));
    await json(t.delete("/labels/in%20use"), 422);
    await t.store.queries.delete(eq("id", query.id));
    await json(t.delete("/labels/in%20use"));
  });

  test("an expression may build on other labels", async () => {
    const base = await create({ name: "base", host_ids: ids().slice(0, 2) });
    const built = await create({ name: "built", criteria: { where: 'label in (base) and not serial = "SER-a"' } });
    expect(await hostsIn(built.id)).toEqual([hosts[1]!.id]);
    await json(t.patch(`/labels/${base.id}`, { host_ids: [] }));
    await runJob(t.services, "label_criteria");
    expect(await hostsIn(built.id)).toEqual([]);
  });

  test("criteria by a vital are stored; no host is known to match yet", async () => {
    const criteria = { vital: "end_user_idp_department", value: "Engineering" };
    const label = await create({ name: "engineers", criteria });
    expect(label).toMatchObject({ label_membership_type: "host_vitals", criteria, count: 0 });
    await runJob(t.services, "label_criteria");
    expect(await hostsIn(label.id)).toEqual([]);
  });

  test("team users see and set only members of their teams' hosts", async () => {
    const [own, other] = [await makeTeam(t), await makeTeam(t)];
    await t.store.hosts.updateEach([
      { id: hosts[0]!.id, team_id: own.id },
      { id: hosts[1]!.id, team_id: other.id },
    ]);
    const admin = await makeUser(t, { teams: [{ id: own.id, role: "admin" }] });
    const label = await create({ name: "mine", hosts: ["SER-a", "SER-b", "SER-c"] }, admin);
    expect(label).toMatchObject({ author_id: admin.id, host_ids: [hosts[0]!.id], count: 1 });
    await json(t.patch(`/labels/${label.id}`, { host_ids: ids() }));
    expect(await get(label.id, admin)).toMatchObject({ host_ids: [hosts[0]!.id], count: 1 });
    expect(await hostsIn(label.id, admin)).toEqual([hosts[0]!.id]);
    expect((await json(admin.get("/spec/labels/mine"))).specs.hosts).toEqual(["SER-a"]);
    // Emptied by a user who may label the hosts of one team only.
    expect((await json(admin.patch(`/labels/${label.id}`, { host_ids: [] }))).label.count).toBe(0);
    expect((await get(label.id)).host_ids).toEqual(ids().slice(1));
    await json(admin.post(`/hosts/${hosts[1]!.id}/labels`, { labels: ["mine"] }), 404);
    await json(admin.post(`/hosts/${hosts[0]!.id}/labels`, { labels: ["mine"] }));
    expect((await get(label.id, admin)).count).toBe(1);
    await json(admin.get(`/labels/${label.id}/hosts?team_id=${other.id}`), 403);
  });

  test("a team's admins and maintainers can change the labels of their teams' users, and no global ones, in every way", async () => {
    const [own, other] = [await makeTeam(t), await makeTeam(t)];
    const at = (id: number, role: "admin" | "maintainer" | "technician") => ({ id, role });
    const colleague = await makeUser(t, { teams: [at(own.id, "technician")] });
    const shared = await makeUser(t, { teams: [at(own.id, "technician"), at(other.id, "technician")] });
    const stranger = await makeUser(t, { teams: [at(other.id, "admin")] });
    const label = async (name: string, by: Caller) => create({ name, query: "SELECT 1" }, by);
    const kept = [await label("global", t), await label("strange", stranger), await label("shared", shared)];
    kept.push((await json(t.get(`/labels/${(await makeLabel(t, "nobody's")).id}`))).label);
    for (const role of ["admin", "maintainer"] as const) {
      const user = await makeUser(t, { teams: [at(own.id, role)] });
      for (const { id, name } of kept) {
        await json(user.patch(`/labels/${id}`, { description: "mine" }), 403);
        await json(user.delete(`/labels/id/${id}`), 403);
        await json(user.delete(`/labels/${encodeURIComponent(name)}`), 403);
        await json(user.post("/spec/labels", { specs: [{ name, query: "SELECT 2" }] }), 403);
      }
      const { id } = await label("a colleague's", colleague);
      await json(user.patch(`/labels/${id}`, { description: "ours" }));
      await json(user.post("/spec/labels", { specs: [{ name: "a colleague's", query: "SELECT 2" }] }));
      await json(user.delete(`/labels/id/${id}`));
    }
    const now = await t.store.labels.getMany(kept.map(({ id }) => id));
    expect(now.map(({ revision }) => revision)).toEqual(kept.map(() => 1));
  });

  test("technicians and gitops of a team change their own labels only; observers none", async () => {
    const team = await makeTeam(t);
    const foreign = await makeLabel(t, "foreign");
    for (const role of ["technician", "gitops"] as const) {
      const user = await makeUser(t, { teams: [{ id: team.id, role }] });
      const { id } = await create({ name: `by ${role}` }, user);
      await json(user.patch(`/labels/${id}`, { description: "mine" }));
      await json(user.patch(`/labels/${foreign.id}`, { description: "mine" }), 403);
      await json(user.delete(`/labels/id/${foreign.id}`), 403);
      await json(user.delete("/labels/foreign"), 403);
      const specs = [
        { name: `also by ${role}`, query: "SELECT 1" },
        { name: "foreign", query: "SELECT 2" },
      ];
      await json(user.post("/spec/labels", { specs }), 403);
      expect(await t.store.labels.count(eq("name", `also by ${role}`))).toBe(0);
      await json(user.delete(`/labels/id/${id}`));
    }
    const observer = await makeUser(t, "observer");
    await json(observer.post("/labels", { name: "x" }), 403);
    await json(observer.post(`/hosts/${hosts[0]!.id}/labels`, { labels: [] }), 403);
    await json(observer.get("/labels"));
  });

  describe("configuration", () => {
    const apply = (specs: object[], by: Caller = t) => by.post("/spec/labels", { specs });
    const spec = async (name: string) => (await json(t.get(`/spec/labels/${encodeURIComponent(name)}`))).specs;

    test("labels are created and read; applying the same changes nothing", async () => {
      await json(
        apply([
          { name: "q", query: "SELECT 1", platform: "darwin", description: "by query" },
          { name: "m", label_membership_type: "manual", hosts: ["SER-a", hosts[1]!.id, "nobody"] },
          { name: "e", label_membership_type: "manual", hosts: [] },
          { name: "v", label_membership_type: "host_vitals", criteria: { vital: "end_user_idp_group", value: "g" } },
          { name: "w", label_membership_type: "host_vitals", criteria: { where: "platform = darwin" } },
        ]),
      );
      expect(await spec("q")).toEqual({
        id: expect.any(Number),
        name: "q",
        description: "by query",
        query: "SELECT 1",
        platform: "darwin",
        label_type: "regular",
        label_membership_type: "dynamic",
      });
      expect((await spec("m")).hosts).toEqual(["SER-a", "SER-b"]);
      expect((await spec("e")).hosts).toEqual([]);
      expect((await spec("v")).criteria).toEqual({ vital: "end_user_idp_group", value: "g" });
      expect(await hostsIn((await spec("w")).id)).toEqual([hosts[2]!.id]);
      const { specs } = await json(t.get("/spec/labels"));
      expect(specs).toHaveLength(builtinLabels.length + 5);
      const before = [await t.store.labels.list(), await t.store.labelMembers.list()];
      t.clock.advance(1000);
      await json(apply(specs));
      expect([await t.store.labels.list(), await t.store.labelMembers.list()]).toEqual(before);
      await json(t.get("/spec/labels/nobody"), 404);
    });

    test("hosts that share a serial number are named differently", async () => {
      const twin = { hardware_serial: "TWIN" };
      const [x, y] = [await makeHost(t, { ...twin, uuid: "" }), await makeHost(t, { ...twin, uuid: "uuid-of-y" })];
      await create({ name: "x only", host_ids: [x.id] });
      await create({ name: "y only", host_ids: [y.id] });
      expect((await spec("x only")).hosts).toEqual([x.id]);
      expect((await spec("y only")).hosts).toEqual(["uuid-of-y"]);
    });

    test("a changed query empties the label; a changed description does not", async () => {
      const { id } = await create({ name: "q", query: "SELECT 1" });
      await t.store.labelMembers.insertMany(ids().map((host_id) => ({ host_id, label_id: id })));
      await json(apply([{ name: "q", query: "SELECT 1", description: "new" }]));
      expect(await hostsIn(id)).toEqual(ids());
      await json(apply([{ name: "q", query: "SELECT 2", description: "new" }]));
      expect(await get(id)).toMatchObject({ query: "SELECT 2", count: 0 });
      expect(await hostsIn(id)).toEqual([]);
    });

    test("the kind of a label can change", async () => {
      const { id } = await create({ name: "k", host_ids: ids() });
      await json(apply([{ name: "k", query: "SELECT 1" }]));
      expect(await get(id)).toMatchObject({ label_membership_type: "dynamic", count: 0 });
      await json(
        apply([{ name: "k", label_membership_type: "host_vitals", criteria: { where: "platform = darwin" } }]),
      );
      expect(await get(id)).toMatchObject({ label_membership_type: "host_vitals", query: "", count: 1 });
      await json(apply([{ name: "k", label_membership_type: "manual", hosts: ["SER-a"] }]));
      expect(await get(id)).toMatchObject({ host_ids: [hosts[0]!.id], count: 1 });
      expect(await get(id)).not.toHaveProperty("criteria");
    });

    test("without hosts a manual label keeps its members; with null or an empty list it loses them", async () => {
      const { id } = await create({ name: "m", host_ids: ids() });
      const manual = { name: "m", label_membership_type: "manual" };
      await json(apply([{ ...manual, description: "d" }]));
      expect((await get(id)).count).toBe(3);
      await json(apply([{ ...manual, hosts: ["SER-b"] }]));
      expect((await get(id)).host_ids).toEqual([hosts[1]!.id]);
      await json(apply([{ ...manual, hosts: null }]));
      expect((await get(id)).count).toBe(0);
    });

    const good = { name: "good", query: "SELECT 1" };
    test("invalid labels are refused, with the field, and nothing is stored", async () => {
      const wrong: [what: string, spec: object, field: string][] = [
        ["a dynamic label without a query", { name: "x" }, "specs.1.query"],
        ["a dynamic label with hosts", { name: "x", query: "SELECT 1", hosts: ["SER-a"] }, "specs.1.hosts"],
        ["a new manual label without hosts", { name: "x", label_membership_type: "manual" }, "specs.1.hosts"],
        [
          "a manual label with a query",
          { name: "x", label_membership_type: "manual", hosts: [], query: "SELECT 1" },
          "specs.1.query",
        ],
        [
          "a host_vitals label without criteria",
          { name: "x", label_membership_type: "host_vitals" },
          "specs.1.criteria",
        ],
        [
          "criteria on a dynamic label",
          { name: "x", query: "SELECT 1", criteria: { where: "platform = x" } },
          "specs.1.criteria",
        ],
        ["a reserved name", { name: "macOS", query: "SELECT 1" }, "specs.1.name"],
        ["a built-in that is none", { name: "x", query: "SELECT 1", label_type: "builtin" }, "specs.1.label_type"],
        ["the same name twice", { name: " good", query: "SELECT 1" }, "specs.1.name"],
        ["a blank name", { name: " ", query: "SELECT 1" }, "specs.1.name"],
        ["no name", { query: "SELECT 1" }, "specs.1.name"],
        ["an unknown platform", { name: "x", query: "SELECT 1", platform: "beos" }, "specs.1.platform"],
        [
          "an unknown type",
          { name: "x", query: "SELECT 1", label_membership_type: "magic" },
          "specs.1.label_membership_type",
        ],
        ["hosts that are none", { name: "x", label_membership_type: "manual", hosts: [{}] }, "specs.1.hosts.0"],
      ];
      for (const [what, bad, field] of wrong) expect(await refusedField(apply([good, bad])), what).toBe(field);
      expect(await t.store.labels.count(eq("label_type", "regular"))).toBe(0);
    });

    test("an empty list is not an error", async () => {
      expect(await json(apply([]))).toEqual({});
      expect(await refusedField(t.post("/spec/labels", {}))).toBe("specs");
    });
  });
});
