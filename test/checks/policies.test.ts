// The endpoints of policies.
import { beforeEach, describe, expect, it } from "vitest";
import type { Policy } from "../../src/api/checks/policies.ts";
import { startApp, type TestApp } from "../support/app.ts";
import { rulesEngines } from "../support/engines.ts";
import { makeHost, makeLabel, makePolicy, makeResults, makeTeam, makeUser } from "../support/make.ts";
import { startReceiver } from "../support/receiver.ts";

const bodyOf = async <T = Record<string, unknown>>(reply: Promise<Response> | Response): Promise<T> =>
  (await (await reply).json()) as T;
const reasonsOf = async (res: Response) =>
  (await bodyOf<{ errors: { name: string; reason: string }[] }>(res)).errors.map(({ reason }) => reason).join("; ");
const SQL = "SELECT 1 FROM disk_encryption WHERE encrypted = 1;";

describe.each(rulesEngines)("policies on %s", (engine) => {
  let t: TestApp;
  beforeEach(async () => {
    t = await startApp({ engine });
  });
  const create = async (body: object = {}, at = "/global/policies") => {
    const res = await t.post(at, { name: "Encrypted", query: SQL, ...body });
    expect(res.status, await res.clone().text()).toBe(200);
    return (await bodyOf<{ policy: Policy }>(res)).policy;
  };
  const activities = async () => (await t.store.activities.list()).filter(({ type }) => type.includes("policy"));
  const refused = async (res: Response, status: number, reason: RegExp) => {
    expect(res.status, await res.clone().text()).toBe(status);
    expect(await reasonsOf(res)).toMatch(reason);
  };

  it("are created globally, with their author, and recorded in the feed", async () => {
    const policy = await create({ description: "d", resolution: "r", platform: "darwin, linux", critical: true });
    expect(policy).toEqual({
      error_host_count: 0,
      error_message: null,
      id: policy.id,
      name: "Encrypted",
      query: SQL,
      description: "d",
      resolution: "r",
      platform: "darwin,linux",
      critical: true,
      author_id: 1,
      author_name: "Ada Admin",
      author_email: "ada@example.com",
      team_id: null,
      calendar_events_enabled: false,
      conditional_access_enabled: false,
      continuous_automations_enabled: false,
      type: "dynamic",
      created_at: t.clock.iso(),
      updated_at: t.clock.iso(),
      passing_host_count: 0,
      failing_host_count: 0,
      unanswered_host_count: 0,
      host_count_updated_at: null,
    });
    expect(await bodyOf(t.get(`/global/policies/${policy.id}`))).toEqual({ policy });
    expect((await activities()).map(({ type, details }) => ({ type, details }))).toEqual([
      { type: "created_policy", details: { policy_id: policy.id, policy_name: "Encrypted", team_id: -1 } },
    ]);
  });

  it("count the hosts in scope without a result: by team, platform and labels", async () => {
    const team = await makeTeam(t);
    const [mac, ubuntu, , member] = [
      await makeHost(t, { platform: "darwin" }),
      await makeHost(t, { platform: "ubuntu" }),
      await makeHost(t, { platform: "rocky", platform_like: "rhel centos fedora" }),
      await makeHost(t, { platform: "darwin", team_id: team.id }),
    ];
    const label = await makeLabel(t, "some", [mac.id, ubuntu.id]);
    const [everywhere, linux, macs, none, own, labelled, outside] = [
      await makePolicy(t, { passing_host_count: 1, failing_host_count: 1 }),
      await makePolicy(t, { platform: "linux" }),
      await makePolicy(t, { platform: "darwin,windows", passing_host_count: 1 }),
      await makePolicy(t, { scope: "no_team" }),
      await makePolicy(t, { scope: "team", team_id: team.id }),
      await makePolicy(t, { passing_host_count: 1, failing_host_count: 1 }),
      await makePolicy(t),
    ];
    await t.store.policyLabels.insertMany([
      { policy_id: labelled.id, label_id: label.id },
      { policy_id: outside.id, label_id: label.id, excludes: true },
    ]);
    await makeResults(t, mac.id, { passing: [everywhere, macs, labelled] });
    // A host that has left the label keeps its result until its next one.
    await makeResults(t, member.id, { failing: [everywhere, labelled] });
    const listed = async (path: string) =>
      Object.fromEntries(
        (await bodyOf<{ policies: Policy[] }>(t.get(path))).policies.map((one) => [one.id, one.unanswered_host_count]),
      );
    expect(await listed("/global/policies")).toEqual({
      [everywhere.id]: 2,
      [linux.id]: 2,
      [macs.id]: 1,
      [labelled.id]: 1,
      [outside.id]: 2,
    });
    expect(await listed("/teams/0/policies")).toEqual({ [none.id]: 3 });
    expect(await listed(`/teams/${team.id}/policies?merge_inherited=true`)).toEqual({
      [everywhere.id]: 0,
      [linux.id]: 0,
      [macs.id]: 1,
      [own.id]: 1,
      [labelled.id]: 0,
      [outside.id]: 1,
    });
    expect(await bodyOf(t.get(`/policies/${labelled.id}`))).toMatchObject({ policy: { unanswered_host_count: 1 } });
    const changed = await bodyOf(t.patch(`/policies/${everywhere.id}`, { query: "SELECT 2;" }));
    expect(changed).toMatchObject({ policy: { passing_host_count: 0, unanswered_host_count: 4 } });
  });

  it("are available under the paths of every version", async () => {
    const team = await makeTeam(t);
    const { id } = await create();
    const own = await create({}, `/team/${team.id}/policies`);
    for (const version of ["v1", "latest", "2022-04"])
      for (const path of [
        "/policies",
        "/global/policies",
        `/policies/${id}`,
        `/global/policies/${id}`,
        "/policies/count",
        `/teams/${team.id}/policies`,
        `/team/${team.id}/policies`,
        `/teams/${team.id}/policies/${own.id}`,
        `/team/${team.id}/policies/${own.id}`,
        `/teams/${team.id}/policies/count`,
        `/team/${team.id}/policies/count`,
      ])
        expect((await t.get(`/api/${version}/svc${path}`)).status, `${version} ${path}`).toBe(200);
    expect((await t.patch(`/policies/${id}`, { description: "x" })).status).toBe(200);
    expect((await t.patch(`/team/${team.id}/policies/${own.id}`, { description: "x" })).status).not.toBe(200);
    expect(await bodyOf(t.post("/policies/delete", { ids: [id] }))).toEqual({ deleted: [id] });
    expect(await bodyOf(t.post(`/team/${team.id}/policies/delete`, { ids: [own.id] }))).toEqual({ deleted: [own.id] });
  });

  it("have unique names within their scope", async () => {
    const team = await makeTeam(t);
    await create();
    await create({}, `/teams/${team.id}/policies`);
    await create({}, "/teams/0/policies");
    for (const path of ["/global/policies", `/teams/${team.id}/policies`, "/teams/0/policies"])
      expect((await t.post(path, { name: " Encrypted ", query: SQL })).status, path).toBe(409);
    const other = await create({ name: "Other" });
    const res = await t.patch(`/global/policies/${other.id}`, { name: "Encrypted" });
    expect(res.status).toBe(409);
    expect((await bodyOf<{ message: string }>(res)).message).toBe("Resource Already Exists");
    expect((await t.store.policies.get(other.id))!.name).toBe("Other");
  });

  it.each([
    ["no name", { query: SQL }, /^policy payload verification: .*name/],
    ["a blank name", { name: "  ", query: SQL }, /^policy payload verification: .*name/],
    ["no query", { name: "x" }, /^policy payload verification: .*query/],
    ["a blank query", { name: "x", query: " " }, /^policy payload verification: .*query/],
    ["both query and query_id", { name: "x", query: SQL, query_id: 1 }, /^policy payload verification: .*query_id/],
    ["a bad platform", { name: "x", query: SQL, platform: "darwin,amiga" }, /^policy payload verification: .*platform/],
    [
      "both label lists",
      { name: "x", query: SQL, labels_include_any: ["a"], labels_exclude_any: ["b"] },
      /^policy payload verification: .*labels/,
    ],
    ["an unknown label", { name: "x", query: SQL, labels_include_any: ["nope"] }, /nope/],
    ["software on a global policy", { name: "x", query: SQL, software_title_id: 7 }, /software_title_id/],
    ["a script on a global policy", { name: "x", query: SQL, script_id: 7 }, /script_id/],
  ])("refuse %s with 400", async (_name, body, reason) => {
    await refused(await t.post("/global/policies", body), 400, reason);
    expect(await t.store.policies.count()).toBe(0);
    expect(await activities()).toEqual([]);
  });

  it("refuse software titles without a package and unknown scripts on a team", async () => {
    const team = await makeTeam(t);
    const at = `/teams/${team.id}/policies`;
    await refused(await t.post(at, { name: "x", query: SQL, software_title_id: 9999 }), 400, /software title 9999/);
    await refused(await t.post(at, { name: "x", query: SQL, script_id: 9999 }), 400, /script 9999/);
    // Null and 0 mean none.
    const { id } = await create({ software_title_id: 0, script_id: null }, at);
    expect((await t.patch(`${at}/${id}`, { software_title_id: null, script_id: 0 })).status).toBe(200);
  });

  it("copy name, query and description from a saved query", async () => {
    const now = t.clock.iso();
    const query = await t.store.queries.insert({
      created_at: now,
      updated_at: now,
      name: "Saved",
      query: "SELECT 2;",
      description: "of the query",
    });
    const policy = await create({ name: undefined, query: undefined, query_id: query.id, resolution: "r" });
    expect(policy).toMatchObject({ name: "Saved", query: "SELECT 2;", description: "of the query", resolution: "r" });
    expect((await t.post("/global/policies", { query_id: 9999 })).status).toBe(404);
  });

  it("are listed, searched, counted, ordered and paged", async () => {
    expect(await bodyOf(t.get("/global/policies"))).toEqual({});
    expect(await bodyOf(t.get("/policies/count"))).toEqual({ count: 0 });
    for (const name of ["b firewall", "a disk", "c Firewall"]) await create({ name });
    await create({ name: "of no team" }, "/teams/0/policies");
    const names = async (query: string) =>
      ((await bodyOf<{ policies?: Policy[] }>(t.get(`/global/policies?${query}`))).policies ?? []).map(
        ({ name }) => name,
      );
    expect(await names("")).toEqual(["b firewall", "a disk", "c Firewall"]);
    expect(await names("order_key=name")).toEqual(["a disk", "b firewall", "c Firewall"]);
    expect(await names("order_key=name&order_direction=desc&per_page=1&page=1")).toEqual(["b firewall"]);
    expect(await names("query=firewall")).toEqual(["b firewall", "c Firewall"]);
    expect(await names("page=5&per_page=10")).toEqual([]);
    expect(await bodyOf(t.get("/policies/count?query=FIREWALL"))).toEqual({ count: 2 });
    await refused(await t.get("/global/policies?order_key=password"), 400, /order_key/);
    await refused(await t.get("/global/policies?per_page=0"), 400, /invalid per_page value/);
    await refused(await t.get("/global/policies?page=-1"), 400, /negative page value/);
  });

  it("of a team are listed with those it inherits, separately or merged", async () => {
    const team = await makeTeam(t);
    const other = await makeTeam(t);
    const inherited = await create({ name: "inherited" });
    const own = await create({ name: "own" }, `/teams/${team.id}/policies`);
    await create({ name: "foreign" }, `/teams/${other.id}/policies`);
    const none = await create({ name: "of no team" }, "/teams/0/policies");
    expect(own.team_id).toBe(team.id);
    expect(none.team_id).toBe(0);
    type Lists = { policies: Policy[]; inherited_policies?: Policy[] };
    const lists = async (query = "", id: number = team.id) => {
      const reply = await bodyOf<Lists>(t.get(`/teams/${id}/policies${query}`));
      return [reply.policies.map(({ name }) => name), reply.inherited_policies?.map(({ name }) => name)];
    };
    expect(await lists()).toEqual([["own"], ["inherited"]]);
    expect(await lists("", 0)).toEqual([["of no team"], ["inherited"]]);
    expect(await lists("?merge_inherited=true&order_key=name")).toEqual([["inherited", "own"], undefined]);
    expect(await lists("?query=inh")).toEqual([[], ["inherited"]]);
    expect(await lists("?merge_inherited=true&query=inh")).toEqual([["inherited"], undefined]);
    expect(await lists("?inherited_per_page=1&inherited_page=1")).toEqual([["own"], []]);
    expect(await bodyOf(t.get(`/teams/${team.id}/policies/count`))).toEqual({ count: 1 });
    expect(await bodyOf(t.get(`/teams/${team.id}/policies/count?merge_inherited=true`))).toEqual({ count: 2 });
    expect((await t.get("/teams/9999/policies")).status).toBe(404);
    expect((await t.get(`/teams/${team.id}/policies/${inherited.id}`)).status).toBe(404);
    expect((await t.get(`/global/policies/${own.id}`)).status).toBe(404);
    const feed = (await activities()).map(({ details }) => details);
    expect(feed).toContainEqual({
      policy_id: own.id,
      policy_name: "own",
      team_id: team.id,
      team_name: team.name,
    });
    expect(feed).toContainEqual({ policy_id: none.id, policy_name: "of no team", team_id: 0 });
  });

  it("show a team its own hosts' counts of inherited policies", async () => {
    const team = await makeTeam(t);
    const policy = await makePolicy(t, { passing_host_count: 1, failing_host_count: 2 });
    const mine = await makeHost(t, { team_id: team.id });
    const others = [await makeHost(t), await makeHost(t)];
    await makeResults(t, mine.id, { failing: [policy] });
    await makeResults(t, others[0]!.id, { failing: [policy] });
    await makeResults(t, others[1]!.id, { passing: [policy] });
    const { inherited_policies: shown } = await bodyOf<{ inherited_policies: Policy[] }>(
      t.get(`/teams/${team.id}/policies`),
    );
    expect(shown).toMatchObject([{ passing_host_count: 0, failing_host_count: 1 }]);
    const { policies } = await bodyOf<{ policies: Policy[] }>(t.get("/global/policies"));
    expect(policies).toMatchObject([{ passing_host_count: 1, failing_host_count: 2 }]);
  });

  it("show team users only the counts of hosts that they may see, also of global policies", async () => {
    const [mine, foreign] = [await makeTeam(t), await makeTeam(t)];
    const [few, many] = [
      await makePolicy(t, { name: "few", passing_host_count: 3, failing_host_count: 0 }),
      await makePolicy(t, { name: "many", passing_host_count: 1, failing_host_count: 2 }),
    ];
    const own = await makeHost(t, { team_id: mine.id });
    await makeHost(t, { team_id: mine.id });
    const others = [await makeHost(t, { team_id: foreign.id }), await makeHost(t)];
    await makeResults(t, own.id, { passing: [many] });
    for (const { id } of others) await makeResults(t, id, { passing: [few], failing: [many] });
    const observer = await makeUser(t, { teams: [{ id: mine.id, role: "observer" }] });
    const onBoth = await makeUser(t, {
      teams: [
        { id: mine.id, role: "observer" },
        { id: foreign.id, role: "technician" },
      ],
    });
    const shown = (one: Policy) => [
      one.name,
      one.passing_host_count,
      one.failing_host_count,
      one.unanswered_host_count,
    ];
    const listed = async (user: Pick<TestApp, "get">, path: string) =>
      ((await bodyOf<{ policies?: Policy[] }>(user.get(path))).policies ?? []).map(shown);
    const ofMine = [
      ["few", 0, 0, 2],
      ["many", 1, 0, 1],
    ];
    expect(await listed(observer, "/global/policies")).toEqual(ofMine);
    expect(await listed(observer, "/policies")).toEqual(ofMine);
    expect(await listed(observer, `/teams/${mine.id}/policies?merge_inherited=true`)).toEqual(ofMine);
    const { inherited_policies: inherited } = await bodyOf<{ inherited_policies: Policy[] }>(
      observer.get(`/teams/${mine.id}/policies`),
    );
    expect(inherited.map(shown)).toEqual(ofMine);
    const { policy } = await bodyOf<{ policy: Policy }>(observer.get(`/global/policies/${many.id}`));
    expect(shown(policy)).toEqual(["many", 1, 0, 1]);
    expect(await listed(onBoth, "/global/policies")).toEqual([
      ["few", 1, 0, 2],
      ["many", 1, 1, 1],
    ]);
    expect(await listed(t, "/global/policies")).toEqual([
      ["few", 3, 0, 1],
      ["many", 1, 2, 1],
    ]);

    // The order does not disclose the counts over all hosts.
    const ordered = async (user: Pick<TestApp, "get">, more: string) =>
      (await listed(user, `/global/policies?order_key=passing_host_count&${more}`)).map(([name]) => name);
    expect(await ordered(observer, "order_direction=desc")).toEqual(["many", "few"]);
    expect(await ordered(t, "order_direction=desc")).toEqual(["few", "many"]);
    expect(await ordered(observer, "per_page=1&page=1")).toEqual(["many"]);
  });

  it("are changed field by field", async () => {
    const team = await makeTeam(t);
    const at = `/teams/${team.id}/policies`;
    const before = await create({ description: "d", platform: "linux" }, at);
    t.clock.advance(1000);
    const { policy } = await bodyOf<{ policy: Policy }>(
      t.patch(`${at}/${before.id}`, { name: "New", calendar_events_enabled: true, conditional_access_enabled: true }),
    );
    expect(policy).toEqual({
      ...before,
      name: "New",
      calendar_events_enabled: true,
      conditional_access_enabled: true,
      updated_at: t.clock.iso(),
    });
    expect((await activities()).at(-1)).toMatchObject({
      type: "edited_policy",
      details: { policy_id: before.id, policy_name: "New", team_id: team.id, team_name: team.name },
    });
    await refused(await t.patch(`${at}/${before.id}`, { name: "" }), 400, /^policy payload verification: /);
    await refused(await t.patch(`${at}/${before.id}`, { query: " " }), 400, /^policy payload verification: /);
    await refused(
      await t.patch(`/global/policies/${before.id}`, { name: "x" }),
      400,
      /does not belong to team\/global/,
    );
    expect((await t.patch("/global/policies/9999", { name: "x" })).status).toBe(404);
    expect((await t.store.policies.get(before.id))!.name).toBe("New");
  });

  it("can be limited by labels, which are returned with id and name", async () => {
    const [a, b] = [await makeLabel(t, "A"), await makeLabel(t, "B")];
    const policy = await create({ labels_include_any: ["B", "A", "A"] });
    const byName = (labels: { name: string }[] = []) => [...labels].sort((x, y) => (x.name < y.name ? -1 : 1));
    expect(byName(policy.labels_include_any)).toEqual([
      { id: a.id, name: "A" },
      { id: b.id, name: "B" },
    ]);
    expect(policy.labels_exclude_any).toBeUndefined();
    const patch = async (body: object) =>
      (await bodyOf<{ policy: Policy }>(t.patch(`/global/policies/${policy.id}`, body))).policy;
    const excluding = await patch({ labels_exclude_any: ["A"] });
    expect(excluding.labels_exclude_any).toEqual([{ id: a.id, name: "A" }]);
    expect(excluding.labels_include_any).toBeUndefined();
    expect((await patch({ name: "untouched labels" })).labels_exclude_any).toEqual([{ id: a.id, name: "A" }]);
    expect((await patch({ labels_exclude_any: [] })).labels_exclude_any).toBeUndefined();
    await refused(await t.patch(`/global/policies/${policy.id}`, { labels_include_any: ["nope"] }), 400, /nope/);
  });

  it("are deleted together or not at all", async () => {
    const team = await makeTeam(t);
    const [a, b] = [await create({ name: "a" }), await create({ name: "b" })];
    const own = await create({ name: "own" }, `/teams/${team.id}/policies`);
    const remove = (ids: number[], at = "/global/policies/delete") => t.post(at, { ids });
    expect(await bodyOf(remove([]))).toEqual({});
    expect((await remove([a.id, 9999])).status).toBe(404);
    expect((await remove([a.id, own.id])).status).toBe(403);
    expect((await remove([own.id, a.id], `/teams/${team.id}/policies/delete`)).status).toBe(403);
    expect((await remove([own.id], "/teams/0/policies/delete")).status).toBe(403);
    expect(await t.store.policies.count()).toBe(3);
    expect(await bodyOf(remove([b.id, a.id, a.id]))).toEqual({ deleted: [b.id, a.id] });
    expect(await bodyOf(remove([own.id], `/teams/${team.id}/policies/delete`))).toEqual({ deleted: [own.id] });
    const feed = (await activities()).filter(({ type }) => type === "deleted_policy").map(({ details }) => details);
    expect(feed).toEqual([
      { policy_id: b.id, policy_name: "b", team_id: -1 },
      { policy_id: a.id, policy_name: "a", team_id: -1 },
      { policy_id: own.id, policy_name: "own", team_id: team.id, team_name: team.name },
    ]);
    expect((await t.post("/global/policies/delete", {})).status).toBeGreaterThanOrEqual(400);
  });

  it("are removed from the webhook's list when they are deleted", async () => {
    const [a, b] = [await create({ name: "a" }), await create({ name: "b" })];
    const hook = {
      enable_failing_policies_webhook: true,
      destination_url: "https://hooks.example.com",
      host_batch_size: 5,
    };
    const set = await t.patch("/config", {
      webhook_settings: { failing_policies_webhook: { ...hook, policy_ids: [a.id, b.id] } },
    });
    expect(set.status).toBe(200);
    await t.post("/global/policies/delete", { ids: [a.id] });
    const { webhook_settings } = await bodyOf<{ webhook_settings: unknown }>(t.get("/config"));
    expect(webhook_settings).toMatchObject({ failing_policies_webhook: { ...hook, policy_ids: [b.id] } });
    await refused(
      await t.patch("/config", { webhook_settings: { failing_policies_webhook: { destination_url: "ftp://x" } } }),
      422,
      /http/,
    );
  });

  it("are deleted with their team, and kept without their author", async () => {
    const team = await makeTeam(t);
    const author = await makeUser(t, "maintainer");
    const res = await author.post("/global/policies", { name: "kept", query: SQL });
    const { policy } = await bodyOf<{ policy: Policy }>(res);
    await create({}, `/teams/${team.id}/policies`);
    await t.delete(`/teams/${team.id}`);
    await t.delete(`/users/${author.id}`);
    expect((await t.store.policies.list()).map(({ name }) => name)).toEqual(["kept"]);
    const { policy: shown } = await bodyOf<{ policy: Policy }>(t.get(`/global/policies/${policy.id}`));
    expect(shown).toMatchObject({ author_id: null, author_name: "", author_email: "" });
  });

  it("keep teams separate", async () => {
    const [mine, foreign] = [await makeTeam(t), await makeTeam(t)];
    const admin = await makeUser(t, { teams: [{ id: mine.id, role: "admin" }] });
    const theirs = await create({}, `/teams/${foreign.id}/policies`);
    const globally = await create({ name: "global" });
    const of = (path: string, method = "GET", body?: object) =>
      admin.request(method, path, body).then(({ status }) => status);
    expect(await of(`/teams/${foreign.id}/policies`)).toBe(404);
    expect(await of(`/teams/${foreign.id}/policies/${theirs.id}`)).toBe(404);
    expect(await of(`/teams/${mine.id}/policies/${theirs.id}`)).toBe(404);
    expect(await of(`/teams/${mine.id}/policies/${theirs.id}`, "PATCH", { name: "x" })).toBe(404);
    expect(await of(`/teams/${mine.id}/policies/delete`, "POST", { ids: [theirs.id] })).toBe(404);
    expect(await of(`/teams/${mine.id}/policies/${globally.id}`, "PATCH", { name: "x" })).toBe(400);
    expect(await of("/teams/0/policies")).toBe(403);
    expect(await of("/global/policies")).toBe(200);
    expect(await of(`/global/policies/${globally.id}`)).toBe(200);
    expect(await of("/global/policies", "POST", { name: "x", query: SQL })).toBe(403);
    expect(await of("/automations/reset", "POST", { policy_ids: [globally.id] })).toBe(403);
    expect(await of("/automations/reset", "POST", { policy_ids: [theirs.id] })).toBe(404);
    expect(await of("/automations/reset", "POST", { team_ids: [foreign.id] })).toBe(404);
    const gitops = await makeUser(t, { teams: [{ id: mine.id, role: "gitops" }] }, { api_only: true });
    expect((await gitops.get("/global/policies")).status).toBe(403);
    expect((await gitops.get(`/teams/${mine.id}/policies`)).status).toBe(200);
    expect(await t.store.policies.count()).toBe(2);
  });

  it("have no text service for descriptions", async () => {
    expect((await t.post("/autofill/policy", {})).status).toBe(400);
    expect((await t.post("/autofill/policy", { sql: " " })).status).toBe(400);
    const res = await t.post("/autofill/policy", { sql: SQL });
    expect(res.status).toBe(422);
    await t.patch("/config", { server_settings: { ai_features_disabled: true } });
    await refused(await t.post("/autofill/policy", { sql: SQL }), 400, /ai_features_disabled/);
  });
});

describe.each(rulesEngines)("descriptions of policies by a text service on %s", (engine) => {
  const reply = (content: string) => ({
    body: JSON.stringify({ choices: [{ message: { role: "assistant", content } }] }),
  });
  const texts = { description: "Checks that the disk is encrypted.", resolution: "Turn on FileVault." };

  it("are what an OpenAI-compatible service answers", async () => {
    const service = await startReceiver({ answer: () => reply(JSON.stringify(texts)) });
    const settings = { text_service_url: `${service.url}/v1/`, text_service_key: "key-1", text_service_model: "m-1" };
    const t = await startApp({ engine, settings });
    const res = await t.post("/autofill/policy", { sql: SQL });
    expect([res.status, await res.json()]).toEqual([200, texts]);
    const [request] = service.received;
    expect([request!.method, request!.path]).toEqual(["POST", "/v1/chat/completions"]);
    expect(request!.headers.authorization).toBe("Bearer key-1");
    const { model, messages } = service.bodies()[0] as { model: string; messages: { role: string; content: string }[] };
    expect([model, messages.at(-1)]).toEqual(["m-1", { role: "user", content: SQL }]);
    service.answer = () => reply(`\`\`\`json\n${JSON.stringify(texts)}\n\`\`\``);
    expect((await t.post("/autofill/policy", { sql: SQL })).status).toBe(200);
  });

  it("are refused with the reason if the service fails, which reveals nothing of the key", async () => {
    const service = await startReceiver({ answer: () => ({ status: 401, body: "no" }) });
    const settings = { text_service_url: service.url, text_service_key: "key-1" };
    const t = await startApp({ engine, settings });
    for (const [answer, reason] of [
      [{ status: 401, body: "bad key-1" }, /status 401/],
      [{ body: "no JSON" }, /without a description/],
      [reply("I cannot."), /without a description/],
      [reply('{"description": "x"}'), /without a description/],
      ["reset", /cannot be reached/],
    ] as const) {
      service.answer = () => answer;
      const res = await t.post("/autofill/policy", { sql: SQL });
      const text = await res.text();
      expect([res.status, text]).toEqual([422, expect.stringMatching(reason)]);
      expect(text).not.toContain("key-1");
    }
  });
});

describe.each(rulesEngines)("policy specs on %s", (engine) => {
  let t: TestApp;
  beforeEach(async () => {
    t = await startApp({ engine });
  });
  const apply = (...specs: object[]) => t.post("/spec/policies", { specs });
  const rows = () => t.store.policies.list();

  it("create and change by name within their scope", async () => {
    const team = await makeTeam(t, "Workstations");
    const label = await makeLabel(t, "A");
    const spec = { name: "p", query: SQL, description: "d", resolution: "r", platform: "linux", critical: true };
    const given = [
      { ...spec, labels_include_any: ["A"] },
      { ...spec, team: "workstations" },
      { ...spec, team: "No team" },
    ];
    const res = await apply(...given);
    expect(res.status, await res.clone().text()).toBe(200);
    expect(await res.json()).toEqual({});
    expect(
      (await rows()).map(({ scope, team_id, platform, critical }) => [scope, team_id, platform, critical]),
    ).toEqual([
      ["global", null, "linux", true],
      ["team", team.id, "linux", true],
      ["no_team", null, "linux", true],
    ]);
    expect((await t.store.policyLabels.list()).map(({ label_id }) => label_id)).toEqual([label.id]);
    const ids = (await rows()).map(({ id }) => id);
    // Omitted fields get their defaults; the platform is kept.
    expect((await apply({ name: "p", query: "SELECT 2;", platform: "darwin", software_title_id: null })).status).toBe(
      200,
    );
    expect((await rows()).map(({ id }) => id)).toEqual(ids);
    expect((await rows())[0]).toMatchObject({
      query: "SELECT 2;",
      description: "",
      critical: false,
      platform: "linux",
    });
    expect(await t.store.policyLabels.count()).toBe(0);
    const feed = (await t.store.activities.list()).filter(({ type }) => type === "applied_spec_policy");
    expect(feed).toHaveLength(2);
    expect(feed[0]!.details).toEqual({ policies: given });
  });

  it.each([
    ["a bad platform", { name: "b", query: SQL, platform: "amiga" }, 400],
    ["no query", { name: "b" }, 400],
    ["an unknown label", { name: "b", query: SQL, labels_exclude_any: ["nope"] }, 400],
    ["a name twice", { name: "a", query: SQL }, 400],
    ["an unknown team", { name: "b", query: SQL, team: "nowhere" }, 404],
  ])("store nothing if one has %s", async (_name, bad, status) => {
    expect((await apply({ name: "a", query: SQL }, bad)).status).toBe(status);
    expect(await rows()).toEqual([]);
  });

  it("require the right to write in their scope", async () => {
    const [mine, foreign] = [await makeTeam(t, "Mine"), await makeTeam(t, "Foreign")];
    const user = await makeUser(t, { teams: [{ id: mine.id, role: "gitops" }] }, { api_only: true });
    const status = async (team?: string) =>
      (await user.post("/spec/policies", { specs: [{ name: "p", query: SQL, ...(team ? { team } : {}) }] })).status;
    expect(await status("Mine")).toBe(200);
    expect(await status("Foreign")).toBe(404);
    expect(await status()).toBe(403);
    expect(await status("No team")).toBe(403);
    expect((await rows()).map(({ team_id }) => team_id)).toEqual([mine.id]);
    expect(foreign.id).toBeGreaterThan(0);
  });
});

describe("policies on the free tier", () => {
  it("refuse premium fields, except if files mark policies critical", async () => {
    const t = await startApp({ tier: "free" });
    const reason = async (body: object) => {
      const res = await t.post("/global/policies", { name: "p", query: SQL, ...body });
      expect(res.status).toBe(400);
      return reasonsOf(res);
    };
    expect(await reason({ critical: true })).toBe("option Critical requires a premium license");
    expect(await reason({ labels_include_any: ["A"] })).toBe("option LabelsIncludeAny requires a premium license");
    expect(await reason({ labels_exclude_any: ["A"] })).toBe("option LabelsExcludeAny requires a premium license");
    expect((await t.post("/global/policies", { name: "p", query: SQL, critical: false })).status).toBe(200);
    expect((await t.post("/spec/policies", { specs: [{ name: "q", query: SQL, critical: true }] })).status).toBe(200);
    expect((await t.store.policies.list()).map(({ critical }) => critical)).toEqual([false, false]);
    expect((await t.post("/automations/reset", { team_ids: [1] })).status).toBe(400);
    // Team paths are not refused.
    expect((await t.post("/teams/0/policies", { name: "p", query: SQL })).status).toBe(200);
    expect((await t.get("/teams/0/policies")).status).toBe(200);
  });
});
