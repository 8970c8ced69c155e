// `fields` of the list of hosts, and hosts that have not answered a policy.
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { listedHostFields } from "../../src/api/hosts/host.ts";
import { startApp, type TestApp } from "../support/app.ts";
import { bothEngines } from "../support/engines.ts";
import { makeScene, type Scene } from "../support/hosts.ts";
import { makeLabel, makeUser } from "../support/make.ts";

interface Reply {
  readonly hosts: Record<string, unknown>[];
}

describe.each(bothEngines)("fields of lists of hosts on %s", (engine) => {
  let t: TestApp;
  let scene: Scene;
  beforeAll(async () => {
    t = await startApp({ engine, shared: true });
    scene = await makeScene(t);
  });
  afterAll(() => t.close());

  async function listed(query: string, path = "/hosts", caller: Pick<TestApp, "get"> = t) {
    const res = await caller.get(`${path}?${query}`);
    expect(res.status, `${query}: ${await res.clone().text()}`).toBe(200);
    return ((await res.json()) as Reply).hosts;
  }

  it("limit hosts to the named fields and the id, with the values of whole hosts", async () => {
    const whole = await listed(
      "order_key=hostname&populate_software=true&populate_users=true&populate_labels=true&populate_policies=true&device_mapping=true",
    );
    for (const name of listedHostFields) {
      const few = await listed(`order_key=hostname&fields=${name}`);
      const expected = whole.map((host) => ({
        id: host.id,
        ...(host[name] === undefined ? {} : { [name]: host[name] }),
      }));
      expect(few, name).toEqual(expected);
    }
    const columns = await listed("order_key=hostname&per_page=2&page=0&fields=hostname,%20status,team_name,issues,mdm");
    expect(columns).toEqual(
      whole
        .slice(0, 2)
        .map(({ id, hostname, status, team_name, issues, mdm }) => ({ id, hostname, status, team_name, issues, mdm })),
    );
  });

  it("name the labels of each host", async () => {
    const [mac] = await listed("query=mac&fields=labels");
    expect((mac!.labels as { name: string }[]).map(({ name }) => name)).toEqual(["On loan"]);
    expect(Object.keys(mac!).sort()).toEqual(["id", "labels"]);
  });

  it("are joined by what other parameters add", async () => {
    const [mac] = await listed("query=mac&fields=hostname&populate_labels=true&device_mapping=true");
    expect(Object.keys(mac!).sort()).toEqual(["device_mapping", "hostname", "id", "labels"]);
  });

  it("apply to the hosts of a label, to pages by cursor, and if they are blank to nothing", async () => {
    expect((await listed("fields=hostname", `/labels/${scene.labelId}/hosts`)).map((host) => host.hostname)).toEqual([
      "mac",
      "tux",
    ]);
    expect((await listed("fields=hostname&cursor=")).every((host) => Object.keys(host).length === 2)).toBe(true);
    expect(Object.keys((await listed("fields=%20"))[0]!).length).toBeGreaterThan(20);
  });

  it("are a 422 that names those that do not exist", async () => {
    for (const path of ["/hosts", `/labels/${scene.labelId}/hosts`]) {
      const res = await t.get(`${path}?fields=hostname,hostnam,batteries`);
      expect(res.status).toBe(422);
      expect(((await res.json()) as { errors: unknown }).errors).toEqual([
        { name: "fields", reason: "lists of hosts have no field hostnam, batteries; did you mean hostname?" },
      ]);
    }
  });

  it("policy_response=none lists those in the policy's platforms and labels that have no result", async () => {
    const { store } = t;
    const now = t.clock.iso();
    const server = scene.ids.get("server")!;
    const label = await makeLabel(t, "Asked", [scene.ids.get("win")!, server, scene.ids.get("bare")!]);
    const policy = { created_at: now, updated_at: now, query: "select 1", scope: "global" as const };
    const [windows, linux, labelled, excluded] = await store.policies.insertMany([
      { ...policy, name: "Windows only", platform: "windows", result_id: 911 },
      { ...policy, name: "Linux and Macs", platform: "linux,darwin", result_id: 912 },
      { ...policy, name: "Some labels", result_id: 913 },
      { ...policy, name: "Not these labels", result_id: 914 },
    ]);
    await store.policyLabels.insertMany([
      { policy_id: labelled!.id, label_id: label.id },
      { policy_id: excluded!.id, label_id: label.id, excludes: true },
    ]);
    await store.hostPolicies.upsert([{ id: server, passing: [911], failing: [913] }], { on: ["id"] });
    const unanswered = async (id: number) =>
      (await listed(`policy_id=${id}&policy_response=none&fields=hostname&order_key=hostname`)).map(
        (host) => host.hostname,
      );
    expect(await unanswered(windows!.id)).toEqual(["win"]);
    expect(await unanswered(linux!.id)).toEqual(["mac", "tux"]);
    expect(await unanswered(labelled!.id)).toEqual(["bare", "win"]);
    expect(await unanswered(excluded!.id)).toEqual(["mac", "tux"]);

    const { token } = await makeUser(t, { teams: [{ id: scene.teamId, role: "observer" }] });
    const observer = t.as(token);
    expect(await listed(`policy_id=${windows!.id}&policy_response=none`, "/hosts", observer)).toEqual([]);
    expect(await listed(`policy_id=${excluded!.id}&policy_response=none`, "/hosts", observer)).toHaveLength(2);
  });
});
