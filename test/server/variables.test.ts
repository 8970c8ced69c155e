import { describe, expect, it } from "vitest";
import { everything } from "../../src/server/store/query.ts";
import { expandFor, maskSecrets } from "../../src/server/variables/use.ts";
import { errorOf } from "../support/accounts.ts";
import { startApp, type TestApp } from "../support/app.ts";
import { applied, change, refused as refusedApply, stateOf } from "../support/configuration.ts";
import { rulesEngines } from "../support/engines.ts";
import { makeHost, makeUser } from "../support/make.ts";

const put = (t: TestApp, path: string, body: object) => t.request("PUT", path, body);
const apply = (t: TestApp, secrets: object[], more: object = {}) =>
  put(t, "/spec/secret_variables", { secrets, ...more });
const status = async (response: Promise<Response>) => (await response).status;
async function refused(response: Promise<Response>) {
  const answer = await response;
  const { errors } = await errorOf(answer);
  return { status: answer.status, ...errors![0]! };
}

describe.each(rulesEngines)("custom variables on %s", (engine) => {
  it("are created and listed without their values, which are encrypted in the store", async () => {
    const t = await startApp({ engine });
    const made = await t.post("/custom_variables", { name: "API_TOKEN", value: "kept-secret-1" });
    expect(made.status, await made.clone().text()).toBe(200);
    expect(await made.json()).toEqual({ id: 1, name: "API_TOKEN" });
    await t.post("/custom_variables", { name: "AREA", value: "north" });
    const reply = await (await t.get("/custom_variables?per_page=1")).json();
    const at = t.clock.iso();
    expect(reply).toEqual({
      custom_variables: [{ id: 1, name: "API_TOKEN", created_at: at, updated_at: at }],
      meta: { has_next_results: true, has_previous_results: false },
      count: 2,
    });
    const after = await t.get("/custom_variables?order_key=name&after=API_TOKEN");
    expect(await after.json()).toMatchObject({ custom_variables: [{ name: "AREA" }] });
    expect(JSON.stringify(await (await t.get("/activities")).json())).not.toContain("kept-secret-1");
  });

  it("need a good name that is free, and a value", async () => {
    const t = await startApp({ engine });
    const post = (body: object) => refused(t.post("/custom_variables", body));
    await t.post("/custom_variables", { name: "TAKEN", value: "x" });
    expect(await post({ name: "TAKEN", value: "y" })).toMatchObject({ status: 409 });
    expect(await post({ name: "EMPTY", value: "" })).toMatchObject({ status: 422, name: "value" });
    expect(await post({ name: "NONE" })).toMatchObject({ status: 422, name: "value" });
    for (const name of ["", "a-b", "a b", "SVC_SECRET_X", "É", "X".repeat(256)])
      expect(await post({ name, value: "v" }), name).toMatchObject({ status: 422, name: "name" });
  });

  it("are created or changed together, with or without the prefix", async () => {
    const t = await startApp({ engine });
    await apply(t, [{ name: "A", value: "one" }]);
    t.clock.advance(1_000);
    const reply = await apply(t, [
      { name: "SVC_SECRET_A", value: "two" },
      { name: "B", value: "three" },
    ]);
    expect(reply.status).toBe(200);
    const rows = await t.store.customVariables.list();
    expect(rows.map(({ name, value, previous }) => ({ name, value, previous }))).toEqual([
      { name: "A", value: "two", previous: "one" },
      { name: "B", value: "three", previous: null },
    ]);
    t.clock.advance(1_000);
    expect(await status(apply(t, [{ name: "A", value: "two" }]))).toBe(200);
    expect((await t.store.customVariables.get(1))?.updated_at).toBe(rows[0]!.updated_at);
    const twice = [
      { name: "C", value: "1" },
      { name: "SVC_SECRET_C", value: "2" },
    ];
    expect(await refused(apply(t, twice))).toMatchObject({ status: 422, name: "secrets.1.name" });
    expect(await status(apply(t, [{ name: "D", value: "v" }], { dry_run: true }))).toBe(200);
    expect(await t.store.customVariables.count(everything)).toBe(2);
  });

  it("are deleted by id", async () => {
    const t = await startApp({ engine });
    await apply(t, [{ name: "A", value: "one" }]);
    expect(await status(t.delete("/custom_variables/1"))).toBe(200);
    expect(await status(t.delete("/custom_variables/1"))).toBe(404);
  });

  it("are put into texts for a host with its vitals, in one pass, and are reported where a value is missing", async () => {
    const t = await startApp({ engine });
    const [host, bare] = [await makeHost(t), await makeHost(t)];
    await apply(t, [{ name: "A", value: "$SVC_SECRET_B" }]);
    await t.post("/custom_host_vitals", { name: "Site" });
    await put(t, `/hosts/${host.id}/custom_host_vitals/1`, { value: "Berlin" });
    const text = `a=$SVC_SECRET_A b=\${SVC_HOST_VITAL_1} $HOME`;
    expect(await expandFor(t.store, host.id, text)).toEqual({ text: "a=$SVC_SECRET_B b=Berlin $HOME", missing: [] });
    expect(await expandFor(t.store, bare.id, text)).toMatchObject({ missing: ["$SVC_HOST_VITAL_1"] });
  });

  it("are masked in outputs of what was sent, also with the previous value", async () => {
    const t = await startApp({ engine });
    await apply(t, [
      { name: "LONG", value: "first-value" },
      { name: "PART", value: "value" },
      { name: "SHORT", value: "abc" },
      { name: "OTHER", value: "elsewhere" },
    ]);
    await apply(t, [{ name: "LONG", value: "second-value" }]);
    const sent = `echo $SVC_SECRET_LONG \${SVC_SECRET_PART} $SVC_SECRET_SHORT`;
    const output = "first-value second-value value abc elsewhere";
    expect(await maskSecrets(t.store, sent, output)).toBe(
      "$SVC_SECRET_LONG $SVC_SECRET_LONG $SVC_SECRET_PART abc elsewhere",
    );
  });
});

describe.each(rulesEngines)("custom host vitals on %s", (engine) => {
  const names = async (t: TestApp, query = "") => {
    const reply = (await (await t.get(`/custom_host_vitals${query}`)).json()) as {
      custom_host_vitals: { id: number; name: string }[];
      count: number;
    };
    expect(reply.count).toBe(reply.custom_host_vitals.length);
    return reply.custom_host_vitals.map(({ id, name }) => `${id} ${name}`);
  };

  it("have names that differ by more than case", async () => {
    const t = await startApp({ engine });
    const post = (name: string) => t.post("/custom_host_vitals", { name });
    expect(await (await post("Asset tag")).json()).toMatchObject({ custom_host_vital: { id: 1, name: "Asset tag" } });
    await post("Site");
    expect(await status(post("ASSET TAG"))).toBe(409);
    expect(await status(post(" "))).toBe(422);
    expect(await status(t.patch("/custom_host_vitals/2", { name: "asset Tag" }))).toBe(409);
    expect(await status(t.patch("/custom_host_vitals/1", { name: "Asset Tag" }))).toBe(200);
    expect(await names(t)).toEqual(["1 Asset Tag", "2 Site"]);
    expect(await names(t, "?query=sit")).toEqual(["2 Site"]);
    expect(await status(t.delete("/custom_host_vitals/2"))).toBe(200);
    expect(await status(t.delete("/custom_host_vitals/2"))).toBe(404);
  });

  it("are replaced together; those that stay keep the values of hosts", async () => {
    const t = await startApp({ engine });
    const { id } = await makeHost(t);
    const all = (list?: string[]) =>
      put(t, "/spec/custom_host_vitals", list ? { custom_host_vitals: list.map((name) => ({ name })) } : {});
    expect(await status(all(["Site", "Rack"]))).toBe(200);
    expect(await status(put(t, `/hosts/${id}/custom_host_vitals/1`, { value: "Berlin" }))).toBe(200);
    expect(await status(all(["SITE", "Desk"]))).toBe(200);
    expect(await names(t)).toEqual(["3 Desk", "1 SITE"]);
    expect(await t.store.hostVitalValues.list()).toMatchObject([{ host_id: id, vital_id: 1, value: "Berlin" }]);
    expect(await refused(all(["One", "one"]))).toMatchObject({ status: 422, name: "custom_host_vitals.1.name" });
    expect(await status(all())).toBe(200);
    expect(await names(t)).toEqual([]);
    expect(await t.store.hostVitalValues.list()).toEqual([]);
  });

  it("get a value on each host, which is an activity of the host", async () => {
    const t = await startApp({ engine });
    const { id } = await makeHost(t);
    await t.post("/custom_host_vitals", { name: "Site" });
    const path = `/hosts/${id}/custom_host_vitals/1`;
    for (const value of ["Berlin", "Berlin", ""]) expect(await status(put(t, path, { value }))).toBe(200);
    expect(await t.store.hostVitalValues.list()).toEqual([]);
    const { activities } = (await (await t.get(`/hosts/${id}/activities`)).json()) as {
      activities: { type: string; details: object }[];
    };
    const edited = activities.filter(({ type }) => type === "edited_custom_host_vital_value");
    expect(edited.map(({ details }) => details)).toEqual([
      expect.objectContaining({ custom_host_vital_id: 1, custom_host_vital_name: "Site" }),
      expect.objectContaining({ host_id: id }),
    ]);
    expect(await status(put(t, `/hosts/${id}/custom_host_vitals/9`, { value: "x" }))).toBe(404);
    expect(await status(put(t, "/hosts/999/custom_host_vitals/1", { value: "x" }))).toBe(404);
  });

  it("choose the hosts of labels, which follow them at once and keep them from being deleted", async () => {
    const t = await startApp({ engine });
    const [host, other] = [await makeHost(t), await makeHost(t)];
    await t.post("/custom_host_vitals", { name: "Site" });
    const value = (id: number, given: string) => put(t, `/hosts/${id}/custom_host_vitals/1`, { value: given });
    await value(host.id, "Berlin");
    const criteria = { vital: "custom_host_vital", custom_host_vital_id: 1, value: " Berlin " };
    const create = (name: string, given: object) => t.post("/labels", { name, criteria: given });
    const made = await create("Berlin", criteria);
    expect(made.status, await made.clone().text()).toBe(200);
    const { label } = (await made.json()) as { label: { id: number; count: number; criteria: object } };
    expect(label).toMatchObject({ count: 1, criteria: { ...criteria, value: "Berlin" } });
    const members = async () =>
      ((await (await t.get(`/labels/${label.id}/hosts`)).json()) as { hosts: { id: number }[] }).hosts.map(
        ({ id }) => id,
      );
    await value(other.id, "Berlin");
    await value(host.id, "Paris");
    expect(await members()).toEqual([other.id]);
    expect(await refused(t.delete("/custom_host_vitals/1"))).toMatchObject({
      status: 409,
      reason: expect.stringContaining('the label "Berlin"'),
    });
    const specs = [{ name: "Again", label_membership_type: "host_vitals", criteria }];
    expect(await status(t.post("/spec/labels", { specs }))).toBe(200);
    const wrong: [object, string][] = [
      [{ ...criteria, custom_host_vital_id: 9 }, "there is no custom host vital"],
      [{ vital: "custom_host_vital", value: "x" }, "custom_host_vital_id is required"],
      [{ ...criteria, vital: "end_user_idp_group" }, "custom_host_vital_id is required"],
      [{ ...criteria, value: " " }, "value must not be empty"],
      [{ where: "platform = darwin", custom_host_vital_id: 1 }, "give either"],
    ];
    for (const [given, reason] of wrong)
      expect(await refused(create("wrong", given)), reason).toMatchObject({
        status: 422,
        name: "criteria",
        reason: expect.stringContaining(reason),
      });
  });

  it("are a part of the configuration, without the values of hosts", async () => {
    const t = await startApp({ engine });
    const { id } = await makeHost(t);
    const apply = (action: "create" | "delete", ...names: string[]) =>
      applied(t, {
        changes: names.map((name) => change(action, "custom_host_vital", name, action === "create" ? {} : undefined)),
      });
    expect(await apply("create", "Site", "Rack")).toEqual({ create: 2, update: 0, delete: 0 });
    await put(t, `/hosts/${id}/custom_host_vitals/1`, { value: "Berlin" });
    const shown = async () =>
      (await stateOf(t)).things
        .filter(({ kind }) => kind === "custom_host_vital")
        .map(({ name, value }) => [name, value]);
    expect((await shown()).sort()).toEqual([
      ["Rack", {}],
      ["Site", {}],
    ]);
    expect(await apply("delete", "Rack")).toEqual({ create: 0, update: 0, delete: 1 });
    expect(await names(t)).toEqual(["1 Site"]);
    expect(await t.store.hostVitalValues.count()).toBe(1);
    const one = (name: string, value: object = {}) => [change("create", "custom_host_vital", name, value as never)];
    const [taken] = await refusedApply(t, 409, { changes: one("SITE") });
    expect(taken!.reason).toContain("already exists");
    await refusedApply(t, 422, { changes: one(" x ") });
    await refusedApply(t, 422, { changes: one("x", { more: 1 }) });
    const gitops = await makeUser(t, "observer");
    const denied = await gitops.post("/spec/apply", { changes: one("y"), skip_checks: true });
    expect(denied.status).toBe(403);
    expect(await names(t)).toEqual(["1 Site"]);
  });
});
