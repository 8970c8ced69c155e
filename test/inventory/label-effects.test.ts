// What names a label, and which hosts a label would have.
import { beforeEach, describe, expect, it } from "vitest";
import type { LabelPreview, LabelUses } from "../../src/api/hosts/label-effects.ts";
import { type Caller, startApp, type TestApp } from "../support/app.ts";
import { bothEngines, rulesEngines } from "../support/engines.ts";
import { type HostRow, makeHost, makeLabel, makeTeam, makeUser } from "../support/make.ts";

// biome-ignore lint/suspicious/noExplicitAny: the body of any endpoint
const replied = async (reply: Promise<Response>, status = 200): Promise<any> => {
  const response = await reply;
  const body = await response.json();
  expect(response.status, JSON.stringify(body)).toBe(status);
  return body;
};

describe.each(bothEngines)("GET /labels/:id/uses on %s", (engine) => {
  let t: TestApp;
  let team: number;
  let label: { readonly id: number; readonly name: string };
  beforeEach(async () => {
    t = await startApp({ engine });
    team = (await makeTeam(t, "Sales")).id;
    label = await makeLabel(t, "On loan");
  });
  const uses = (by: Caller = t): Promise<LabelUses> => replied(by.get(`/labels/${label.id}/uses`));
  const kindsOf = ({ uses: all }: LabelUses) => all.map(({ kind, name }) => `${kind} ${name}`);

  it("is empty for a label that nothing names, and 404 for one that does not exist", async () => {
    expect(await uses()).toEqual({ uses: [], count: 0, hidden_count: 0 });
    await replied(t.get("/labels/9999/uses"), 404);
  });

  it("lists policies, queries, packs, software, profiles, and selectors of labels and views", async () => {
    const any = { labels_include_any: [label.name] };
    await replied(t.post("/global/policies", { name: "Encrypted", query: "SELECT 1", ...any }));
    await replied(
      t.post(`/teams/${team}/policies`, { name: "Locked", query: "SELECT 1", labels_exclude_any: [label.name] }),
    );
    const { query } = await replied(t.post("/queries", { name: "Uptime", query: "SELECT 1", ...any }));
    const { pack } = await replied(t.post("/packs", { name: "Older", label_ids: [label.id] }));
    const now = t.clock.iso();
    const profile = await t.store.configurationProfiles.insert({
      uuid: "a-profile",
      team_id: team,
      platform: "darwin",
      kind: "profile",
      name: "Wi-Fi",
      identifier: "wifi",
      checksum: "0",
      created_at: now,
      updated_at: now,
      uploaded_at: now,
    });
    await t.store.profileLabels.insert({
      profile_id: profile.id,
      label_id: label.id,
      name: label.name,
      rule: "include_all",
    });
    await replied(
      t.post("/labels", { name: "Loaned Macs", criteria: { where: 'platform = darwin and label in ("On loan")' } }),
    );
    await replied(t.post("/labels", { name: "Others", criteria: { where: 'hostname = "label On loan"' } }));
    await replied(t.post("/views", { name: "By filter", page: "hosts", query: { label_id: String(label.id) } }));
    await replied(t.post("/views", { name: "Broken", page: "hosts", query: { where: "label = (" } }));
    await replied(
      t.post("/views", {
        name: "By selector",
        page: "hosts",
        shared: "team",
        team_id: team,
        query: { where: 'not label = "On loan"' },
      }),
    );
    const reply = await uses();
    expect(reply).toMatchObject({ count: 8, hidden_count: 0 });
    expect(
      reply.uses.map(({ kind, name, team_id, team_name, as, on_delete }) => [
        kind,
        name,
        team_id,
        team_name,
        as,
        on_delete,
      ]),
    ).toEqual([
      ["policy", "Encrypted", null, null, "include_any", "refused"],
      ["policy", "Locked", team, "Sales", "exclude_any", "refused"],
      ["query", "Uptime", null, null, "include_any", "refused"],
      ["pack", "Older", null, null, "target", "untargeted"],
      ["profile", "Wi-Fi", team, "Sales", "include_all", "stopped"],
      ["label", "Loaned Macs", null, null, "selector", "unmatched"],
      ["view", "By filter", null, null, "filter", "unmatched"],
      ["view", "By selector", team, "Sales", "selector", "unmatched"],
    ]);
    expect(
      reply.uses.filter(({ kind }) => kind === "query" || kind === "pack" || kind === "profile").map(({ id }) => id),
    ).toEqual([query.id, pack.id, "a-profile"]);
  });

  it("lists what the caller may see, and counts the rest", async () => {
    const other = (await makeTeam(t, "Research")).id;
    for (const [id, name] of [
      [team, "Ours"],
      [other, "Theirs"],
    ] as const)
      await replied(t.post(`/teams/${id}/policies`, { name, query: "SELECT 1", labels_include_any: [label.name] }));
    await replied(t.post("/views", { name: "Mine", page: "hosts", query: { label_id: String(label.id) } }));
    await replied(t.post("/packs", { name: "Older", label_ids: [label.id] }));
    const maintainer = await makeUser(t, { teams: [{ id: team, role: "maintainer" }] });
    const seen = await uses(maintainer);
    expect(kindsOf(seen)).toEqual(["policy Ours"]);
    expect(seen).toMatchObject({ count: 4, hidden_count: 3 });
    expect(JSON.stringify(seen)).not.toMatch(/Theirs|Mine|Older|Research/);
    const observer = await uses(await makeUser(t, "observer"));
    expect(kindsOf(observer)).toEqual(["policy Ours", "policy Theirs"]);
    expect(observer.hidden_count).toBe(2);
    await replied((await makeUser(t, "plan")).get(`/labels/${label.id}/uses`), 403);
  });
});

describe.each(rulesEngines)("POST /labels/preview on %s", (engine) => {
  let t: TestApp;
  let hosts: HostRow[];
  beforeEach(async () => {
    t = await startApp({ engine });
    hosts = [];
    for (const name of ["ada-mac", "bea-mac", "cy-linux"])
      hosts.push(
        await makeHost(t, {
          hostname: name,
          computer_name: name,
          display_name: name,
          hardware_serial: `SER-${name}`,
          platform: name.endsWith("mac") ? "darwin" : "ubuntu",
        }),
      );
  });
  const preview = (body: object, by: Caller = t): Promise<LabelPreview> => replied(by.post("/labels/preview", body));
  const names = (sample: LabelPreview["gained"]) => sample?.hosts.map(({ display_name }) => display_name);

  it("counts the hosts of a selector, and changes nothing", async () => {
    const before = await t.store.labels.count();
    const activities = await t.store.activities.count();
    const reply = await preview({ criteria: { where: "platform = darwin" } });
    expect(reply).toMatchObject({ hosts_count: 2, asked_hosts_count: null, lost: { count: 0, hosts: [] } });
    expect(names(reply.gained)).toEqual(["ada-mac", "bea-mac"]);
    expect(await t.store.labels.count()).toBe(before);
    expect(await t.store.activities.count()).toBe(activities);
  });

  it("says which hosts an existing label would gain and lose", async () => {
    const { id } = await makeLabel(t, "Macs", [hosts[1]!.id, hosts[2]!.id]);
    const reply = await preview({ label_id: id, criteria: { where: "platform = darwin" } });
    expect([reply.hosts_count, names(reply.gained), names(reply.lost)]).toEqual([2, ["ada-mac"], ["cy-linux"]]);
    const kept = await preview({ label_id: id });
    expect([kept.hosts_count, kept.gained?.count, kept.lost?.count]).toEqual([2, 0, 0]);
    const emptied = await preview({ label_id: id, hosts: [] });
    expect([emptied.hosts_count, emptied.lost?.count]).toEqual([0, 2]);
    await replied(t.post("/labels/preview", { label_id: 9999, hosts: [] }), 404);
  });

  it("compares named hosts, and names those that are unknown", async () => {
    const { id } = await makeLabel(t, "Loans", [hosts[1]!.id]);
    const reply = await preview({ label_id: id, hosts: ["SER-ada-mac", "nobody", "nothing"] });
    expect([reply.hosts_count, names(reply.gained), names(reply.lost)]).toEqual([1, ["ada-mac"], ["bea-mac"]]);
    expect(reply.unknown_hosts).toEqual({ count: 2, names: ["nobody", "nothing"] });
    const byId = await preview({ host_ids: [hosts[0]!.id, 9999] });
    expect([byId.hosts_count, byId.unknown_hosts]).toEqual([1, { count: 1, names: ["9999"] }]);
  });

  it("lists the first ten of many hosts", async () => {
    for (let n = 0; n < 12; n++)
      await makeHost(t, { display_name: `m${String(n).padStart(2, "0")}`, platform: "windows" });
    const reply = await preview({ criteria: { where: "platform = windows" } });
    expect([reply.hosts_count, reply.gained?.count]).toEqual([12, 12]);
    expect(names(reply.gained)).toEqual(Array.from({ length: 10 }, (_, n) => `m${String(n).padStart(2, "0")}`));
  });

  it("does not guess what only agents can answer", async () => {
    const unknown = { hosts_count: null, gained: null, lost: null };
    expect(await preview({ query: "SELECT 1", platform: "darwin" })).toMatchObject({
      ...unknown,
      asked_hosts_count: 2,
    });
    expect(await preview({ query: "SELECT 1", platform: "linux" })).toMatchObject({ ...unknown, asked_hosts_count: 1 });
    const { label } = await replied(t.post("/labels", { name: "By SQL", query: "SELECT 1" }));
    await t.store.labelMembers.insert({ label_id: label.id, host_id: hosts[0]!.id });
    expect(await preview({ label_id: label.id, query: "SELECT 2" })).toMatchObject({
      ...unknown,
      asked_hosts_count: 3,
    });
    const same = await preview({ label_id: label.id, query: "SELECT 1" });
    expect(same).toMatchObject({ hosts_count: 1, gained: { count: 0 }, lost: { count: 0 }, asked_hosts_count: null });
  });

  it("refuses what creation refuses", async () => {
    for (const [body, field] of [
      [{ criteria: { where: "platfor = darwin" } }, "criteria"],
      [{ criteria: { vital: "colour", value: "red" } }, "criteria"],
      [{ query: "SELECT 1", hosts: ["a"] }, "hosts"],
      [{ query: "SELEC 1" }, "query"],
      [{ query: "SELECT 1", platform: "amiga" }, "platform"],
    ] as const)
      expect((await replied(t.post("/labels/preview", body), 422)).errors[0].name).toBe(field);
  });

  it("counts only hosts that the caller may see, and takes only hosts that the caller may change", async () => {
    const team = await makeTeam(t, "Sales");
    const teamHost = await makeHost(t, {
      display_name: "dan-mac",
      hardware_serial: "SER-dan",
      platform: "darwin",
      team_id: team.id,
    });
    const maintainer = await makeUser(t, { teams: [{ id: team.id, role: "maintainer" }] });
    const reply = await preview({ criteria: { where: "platform = darwin" } }, maintainer);
    expect([reply.hosts_count, names(reply.gained)]).toEqual([1, ["dan-mac"]]);
    const { id } = await makeLabel(t, "Loans", [hosts[0]!.id, teamHost.id]);
    const named = await preview({ label_id: id, hosts: ["SER-ada-mac"] }, maintainer);
    expect([named.hosts_count, named.gained?.count, names(named.lost), named.unknown_hosts.count]).toEqual([
      0,
      0,
      ["dan-mac"],
      1,
    ]);
    await replied((await makeUser(t, "observer")).post("/labels/preview", { hosts: [] }), 403);
  });
});
