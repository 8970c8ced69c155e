// X-Expected-Count and X-Selection-Digest: a request acts on exactly the hosts that the caller has seen, or on none.
import { createHash } from "node:crypto";
import { describe, expect, it } from "vitest";
import { type StartOptions, startApp, type TestApp } from "../support/app.ts";
import { bothEngines, rulesEngines } from "../support/engines.ts";
import { hostRow, makeTeam, makeUser } from "../support/make.ts";

/** The documented digest: SHA-256 over the ids in ascending order, decimal, separated by commas. */
const digestOf = (ids: readonly number[]): string =>
  createHash("sha256")
    .update([...ids].sort((a, b) => a - b).join(","))
    .digest("hex");
const seen = (ids: readonly number[]) => ({
  "x-expected-count": String(ids.length),
  "x-selection-digest": digestOf(ids),
});

const reasonOf = async (res: Response) =>
  ((await res.json()) as { errors: { name: string; reason: string }[] }).errors[0]!;

async function scene(options: StartOptions) {
  const t = await startApp(options);
  const team = await makeTeam(t, "Lab");
  // Ids of one, two and three digits: their numeric order is not that of their texts.
  await t.store.hosts.insertMany(Array.from({ length: 110 }, () => hostRow(t.clock.iso(), { platform: "darwin" })));
  const all = (await t.store.hosts.pick(["id"])).map(({ id }) => id);
  const left = () => t.store.hosts.count();
  const inLab = () => t.store.hosts.count({ op: "eq", column: "team_id", value: team.id });
  return { t, team, all, left, inLab };
}

describe.each(bothEngines)("the hosts that a caller has seen, on %s", (engine) => {
  it("are counted with a digest that any client can compute", async () => {
    const { t, all } = await scene({ engine });
    const ask = async (query: string) => (await t.get(`/hosts/count?${query}`)).json();
    expect(await ask("digest=true")).toEqual({ count: 110, digest: digestOf(all) });
    expect(await ask("digest=false")).toEqual({ count: 110 });
    const some = all.slice(0, 12);
    await t.store.hosts.updateEach(some.map((id) => ({ id, platform: "ubuntu" })));
    expect(await ask("digest=1&where=platform%20%3D%20ubuntu")).toEqual({ count: 12, digest: digestOf(some) });
    expect(await ask("digest=1&query=nothing-has-this")).toEqual({ count: 0, digest: digestOf([]) });
    expect((await t.get("/hosts/count?digest=maybe")).status).toBe(400);
  });

  it("are deleted if they match, by ids and by filters", async () => {
    const { t, all, left } = await scene({ engine });
    const ids = all.slice(0, 20).reverse();
    expect((await t.request("POST", "/hosts/delete", { ids: [...ids, ids[0]] }, seen(ids))).status).toBe(200);
    expect(await left()).toBe(90);
    const rest = all.slice(20);
    const upper = { "x-selection-digest": digestOf(rest).toUpperCase() };
    expect((await t.request("POST", "/hosts/delete", { filters: {} }, upper)).status).toBe(200);
    expect(await left()).toBe(0);
  });

  it("are not changed if the selection has changed: in number, or only in its members", async () => {
    const { t, all, team, left, inLab } = await scene({ engine });
    const calls: [string, unknown][] = [
      ["/hosts/delete", { filters: { where: "platform = darwin" } }],
      ["/hosts/transfer/filter", { team_id: team.id, filters: { where: "platform = darwin" } }],
      ["/hosts/delete", { ids: all }],
      ["/hosts/transfer", { team_id: team.id, hosts: all }],
    ];
    const fewer = all.slice(1);
    for (const [path, body] of calls) {
      const res = await t.request("POST", path, body, seen(fewer));
      expect(res.status, path).toBe(409);
      expect(await reasonOf(res)).toEqual({
        name: "X-Expected-Count",
        reason: "the selection changed: expected 109 hosts, found 110",
      });
      const swapped = await t.request("POST", path, body, seen([...fewer, 999_999]));
      expect(swapped.status, path).toBe(409);
      const { name, reason } = await reasonOf(swapped);
      expect(name).toBe("X-Selection-Digest");
      expect(reason).toContain("expected 110 hosts, found 110 that are not the same");
      expect((await t.request("POST", path, body, { "x-expected-count": "109" })).status).toBe(409);
      expect((await t.request("POST", path, body, { "x-selection-digest": digestOf(fewer) })).status).toBe(409);
    }
    expect([await left(), await inLab()]).toEqual([110, 0]);
    expect(await t.store.activities.count({ op: "eq", column: "type", value: "deleted_host" })).toBe(0);
    expect((await t.request("POST", calls[1]![0], calls[1]![1], seen(all))).status).toBe(200);
    expect(await inLab()).toBe(110);
    expect((await t.request("POST", calls[3]![0], calls[3]![1], seen(all))).status, "they are there already").toBe(200);
  });

  if (!rulesEngines.includes(engine)) return;

  it("count as changed if one of them was deleted, or is not visible any more", async () => {
    const { t, all, team, left } = await scene({ engine });
    const [a, b, c] = all as [number, number, number];
    await t.store.hosts.updateEach([a, b].map((id) => ({ id, team_id: team.id })));
    const maintainer = await makeUser(t, { teams: [{ id: team.id, role: "maintainer" }] });
    const remove = (ids: number[], headers = seen(ids)) =>
      maintainer.request("POST", "/hosts/delete", { ids }, headers);
    expect((await reasonOf(await remove([a, b, c]))).reason).toContain("expected 3 hosts, found 2");
    await t.store.hosts.delete({ op: "eq", column: "id", value: b });
    const gone = await remove([a, b]);
    expect([gone.status, (await reasonOf(gone)).reason]).toEqual([
      409,
      "the selection changed: expected 2 hosts, found 1",
    ]);
    expect((await remove([a, b], seen([a]))).status, "a host that is not there is still an error").toBe(404);
    expect(await left()).toBe(109);
    expect((await remove([a])).status).toBe(200);
  });

  it("are one host if a request is about one", async () => {
    const { t, all } = await scene({ engine });
    const [a, b] = all as [number, number];
    await t.store.hosts.updateEach([{ id: a, platform: "ubuntu" }]);
    await t.store.managedAgents.insert({ id: a, agent_key_hash: "k", enrolled_at: t.clock.iso() });
    for (const [method, path] of [
      ["POST", `/hosts/${a}/lock`],
      ["POST", `/hosts/${a}/wipe`],
      ["POST", `/mdm/hosts/${a}/wipe`],
      ["DELETE", `/hosts/${a}`],
    ] as const) {
      for (const wrong of [[b], [a, b], []]) {
        const res = await t.request(method, path, undefined, seen(wrong));
        expect(res.status, `${method} ${path} ${wrong}`).toBe(409);
      }
      expect((await t.request(method, `${path.replace(String(a), "999999")}`, undefined, seen([a]))).status).toBe(404);
    }
    expect(await t.store.operations.count()).toBe(0);
    expect((await t.request("POST", `/hosts/${a}/lock`, undefined, seen([a]))).status).toBe(200);
    expect((await t.request("DELETE", `/hosts/${a}`, undefined, seen([a]))).status).toBe(200);
  });

  it("are refused in an invalid format, with the header's name", async () => {
    const { t, all, left } = await scene({ engine });
    for (const [name, value] of [
      ["X-Expected-Count", "-1"],
      ["X-Expected-Count", "1.0"],
      ["X-Expected-Count", "many"],
      ["X-Expected-Count", ""],
      ["X-Expected-Count", "9".repeat(40)],
      ["X-Selection-Digest", "abc"],
      ["X-Selection-Digest", "g".repeat(64)],
      ["X-Selection-Digest", `${digestOf(all)}00`],
    ] as const) {
      const headers = { ...seen(all), [name.toLowerCase()]: value };
      const res = await t.request("POST", "/hosts/delete", { filters: {} }, headers);
      expect(res.status, `${name}: ${value}`).toBe(400);
      expect((await reasonOf(res)).name).toBe(name);
      expect((await t.request("POST", `/hosts/${all[0]}/lock`, undefined, headers)).status).toBe(400);
    }
    expect(await left()).toBe(110);
  });

  it("are required if the server is configured so", async () => {
    const { t, all, team, left } = await scene({ engine, settings: { require_expected_count: true } });
    const [a, ...rest] = all as [number, ...number[]];
    const calls: [string, string, unknown, number[]][] = [
      ["POST", `/hosts/${a}/lock`, undefined, [a]],
      ["POST", `/hosts/${a}/wipe`, undefined, [a]],
      ["POST", "/hosts/transfer", { team_id: team.id, hosts: [a] }, [a]],
      ["POST", "/hosts/transfer/filter", { team_id: team.id, filters: {} }, all],
      ["DELETE", `/hosts/${a}`, undefined, [a]],
      ["POST", "/hosts/delete", { filters: {} }, rest],
      ["POST", "/hosts/delete", { ids: rest }, rest],
    ];
    for (const [method, path, body, ids] of calls) {
      const { "x-expected-count": count, "x-selection-digest": digest } = seen(ids);
      const none = await t.request(method, path, body);
      expect([none.status, (await reasonOf(none)).name], path).toEqual([428, "X-Expected-Count"]);
      const half = await t.request(method, path, body, { "x-expected-count": count });
      expect([half.status, (await reasonOf(half)).name], path).toEqual([428, "X-Selection-Digest"]);
      expect((await t.request(method, path, body, { "x-selection-digest": digest })).status).toBe(428);
    }
    expect(await left()).toBe(110);
    expect((await t.post(`/hosts/${a}/refetch`)).status, "what harms nothing asks nothing").toBe(200);
    expect((await t.request("POST", "/hosts/delete", { filters: {} }, seen(all))).status).toBe(200);
    expect(await left()).toBe(0);
  });

  it("can be limited to those on which the caller may act", async () => {
    const { t, all, team } = await scene({ engine });
    const other = await makeTeam(t, "Desk");
    const [a, b, c] = all as [number, number, number];
    await t.store.hosts.updateEach([
      { id: a, team_id: team.id },
      { id: b, team_id: team.id },
      { id: c, team_id: other.id },
    ]);
    const user = await makeUser(t, {
      teams: [
        { id: team.id, role: "maintainer" },
        { id: other.id, role: "technician" },
      ],
    });
    const ask = async (query: string) => (await user.get(`/hosts/count?digest=true&${query}`)).json();
    expect(await ask("")).toEqual({ count: 3, digest: digestOf([a, b, c]) });
    for (const may of ["delete", "lock"])
      expect(await ask(`may=${may}`)).toEqual({ count: 2, digest: digestOf([a, b]) });
    expect(await ask("may=transfer")).toEqual({ count: 3, digest: digestOf([a, b, c]) });
    expect((await user.get("/hosts?may=everything")).status).toBe(400);
    const { hosts } = (await (await user.get("/hosts?may=delete")).json()) as { hosts: { id: number }[] };
    expect(hosts.map(({ id }) => id)).toEqual([a, b]);
    expect((await user.request("POST", "/hosts/delete", { filters: {} }, seen([a, b]))).status).toBe(200);
  });
});

it("are in the API's description, as headers of requests that act on many hosts or operations, and of no others", async () => {
  const t: TestApp = await startApp();
  const { paths } = (await (await t.raw("/api/v1/svc/openapi.json")).json()) as {
    paths: Record<string, Record<string, { operationId: string; parameters: { name: string; in: string }[] }>>;
  };
  const others = ["Dry-Run", "Upload-Offset", "Repr-Digest", "X-Svc-Gitops-Override"];
  const takers = Object.values(paths)
    .flatMap((methods) => Object.values(methods))
    .filter(({ parameters }) => parameters.some((one) => one.in === "header" && !others.includes(one.name)));
  expect(takers.map(({ operationId }) => operationId).sort()).toEqual([
    "bulk-actions.labels",
    "bulk-actions.lock",
    "bulk-actions.refetch",
    "bulk-actions.unlock",
    "bulk-actions.wipe",
    "commands.run",
    "commands.run.alias1",
    "host-actions.lock",
    "host-actions.lock.alias1",
    "host-actions.wipe",
    "host-actions.wipe.alias1",
    "hosts.delete",
    "hosts.deleteMany",
    "hosts.transfer",
    "hosts.transferByFilter",
    "operations.cancel",
    "script-batches.create",
    "software-installs.installOnHosts",
    "software-installs.uninstallFromHosts",
  ]);
  for (const { parameters } of takers)
    expect(
      parameters.filter((one) => one.in === "header" && !others.includes(one.name)).map(({ name }) => name),
    ).toEqual(["X-Expected-Count", "X-Selection-Digest"]);
});
