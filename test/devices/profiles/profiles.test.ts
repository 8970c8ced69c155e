// Configuration profiles: upload, lists, scope, status, resend, and how they reach hosts.
import { describe, expect, it } from "vitest";
import { applyEvents, eventsOfReport } from "../../../src/server/devices/profiles/host-rows.ts";
import { profileReconciler } from "../../../src/server/devices/profiles/part.ts";
import { reconcile } from "../../../src/server/devices/profiles/reconcile.ts";
import { runJob } from "../../../src/server/edge/jobs/start.ts";
import { setDeviceToken } from "../../../src/server/inventory/device-tokens/tokens.ts";
import { hours } from "../../../src/server/platform/core/clock.ts";
import { serviceContext } from "../../../src/server/platform/core/context.ts";
import { and, eq } from "../../../src/server/platform/store/query.ts";
import { startApp, type TestApp } from "../../support/app.ts";
import { turnOnAppleMdm } from "../../support/apple.ts";
import { bothEngines, type EngineName, rulesEngines } from "../../support/engines.ts";
import { makeLabel, makeTeam, makeUser } from "../../support/make.ts";
import { answerAll, base64, declaration, makeManagedMac, makeProfile, openCommands } from "../../support/profiles.ts";
import { countedStore } from "../../support/statements.ts";

type Json = Record<string, unknown>;
type Mac = Awaited<ReturnType<typeof makeManagedMac>>;
const json = async (res: Response | Promise<Response>) => (await (await res).json()) as Json;

async function start(engine: EngineName) {
  const t = await startApp({ engine });
  await turnOnAppleMdm(t);
  return { t };
}
const waiting = async (t: TestApp) => (await openCommands(t)).length;
const statusOn = async (t: TestApp, hostId: number) => {
  const { host } = (await json(t.get(`/hosts/${hostId}`))) as {
    host: { mdm: { profiles: { name: string; status: string; operation_type: string; detail: string }[] } };
  };
  return host.mdm.profiles.map(({ name, status, operation_type, detail }) => ({
    name,
    status,
    operation_type,
    detail,
  }));
};
const batch = (t: TestApp, contents: readonly (string | Json)[], query = "") =>
  t.post(`/configuration_profiles/batch${query}`, {
    configuration_profiles: contents.map((one, i) =>
      typeof one === "string" ? { profile: base64(one), display_name: `profile ${i}` } : one,
    ),
  });
const settingsOf = async (t: TestApp, status: string) =>
  ((await json(t.get(`/hosts?os_settings=${status}`))).hosts as { id: number }[]).map(({ id }) => id).sort();

describe.each(bothEngines)("a profile from upload to removal on %s", (engine) => {
  it("reaches the hosts of its team, is verified by their reports, and is removed with the profile", async () => {
    const { t } = await start(engine);
    const team = await makeTeam(t);
    const mac = await makeManagedMac(t, { team_id: team.id });
    const other = await makeManagedMac(t);
    const uuid = await makeProfile(t, { team_id: team.id, name: "Passcode" });
    expect(uuid[0]).toBe("d");
    await expect.poll(() => waiting(t)).toBe(1);
    expect(await openCommands(t)).toMatchObject([{ request_type: "DeclarativeManagement", host_id: mac.id }]);
    expect(await statusOn(t, mac.id)).toEqual([
      { name: "Passcode", status: "pending", operation_type: "install", detail: "" },
    ]);
    expect(await statusOn(t, other.id)).toEqual([]);
    expect(await json(t.get(`/configuration_profiles/${uuid}/status`))).toEqual({
      verified: 0,
      verifying: 0,
      failed: 0,
      pending: 1,
    });
    await answerAll(t);
    expect(await statusOn(t, mac.id)).toMatchObject([{ status: "verifying" }]);
    expect(await json(t.get(`/mdm/profiles/summary?team_id=${team.id}`))).toMatchObject({ verifying: 1, pending: 0 });

    const rows = await t.store.hostProfiles.list({ where: eq("host_id", mac.id) });
    const installed = rows.map(({ identifier }) => ({ identifier, installed_at: null }));
    await t.store.tx((store) =>
      applyEvents({ ...t.services, store }, eventsOfReport(rows, installed, t.clock.now())).then(() => {}),
    );
    expect(await settingsOf(t, "verified")).toEqual([mac.id]);
    expect(await json(t.get(`/hosts?profile_uuid=${uuid}&profile_status=verified`))).toMatchObject({
      hosts: [{ id: mac.id }],
    });

    expect((await t.delete(`/mdm/profiles/${uuid}`)).status).toBe(200);
    const { activities } = (await json(t.get("/activities"))) as { activities: { type: string }[] };
    expect(activities.map(({ type }) => type)).toContain("deleted_declaration_profile");
    await expect.poll(() => waiting(t)).toBe(1);
    expect(await statusOn(t, mac.id)).toMatchObject([{ status: "pending", operation_type: "remove" }]);
    await answerAll(t);
    expect(await statusOn(t, mac.id)).toEqual([]);
    expect(await settingsOf(t, "pending")).toEqual([]);
    expect((await t.get(`/mdm/profiles/${uuid}`)).status).toBe(404);
  });

  it("is found missing, outdated or out of place on single hosts, among profiles that are compared together", async () => {
    const { t } = await start(engine);
    const [team, other] = [await makeTeam(t), await makeTeam(t)];
    const macs = await Promise.all([1, 2, 3, 4].map(() => makeManagedMac(t, { team_id: team.id })));
    const uuids: string[] = [];
    for (let i = 0; i < 7; i++) uuids.push(await makeProfile(t, { team_id: team.id }));
    const [first, second, third, last] = macs as [Mac, Mac, Mac, Mac];
    const all = { where: eq("operation_type", "install") };
    const settled = async () => {
      await reconcile(t.services, {});
      await answerAll(t);
      return (await t.store.hostProfiles.list(all)).length;
    };
    expect(await settled()).toBe(28);
    const on = (mac: Mac, uuid: string) => and(eq("host_id", mac.id), eq("profile_uuid", uuid));
    await t.store.hostProfiles.delete(on(first, uuids[5]!));
    await t.store.hostProfiles.update({ where: on(second, uuids[1]!), set: { checksum: "earlier" } });
    // The number of rows is right, but one of them is on a host of another team.
    await t.store.hostProfiles.delete(on(third, uuids[3]!));
    await t.store.hosts.update({ where: eq("id", last.id), set: { team_id: other.id } });
    const stranger = await makeManagedMac(t, { team_id: other.id });
    await t.store.hostProfiles.update({ where: on(last, uuids[3]!), set: { host_id: stranger.id } });
    await t.store.hostMdm.update({ where: eq("id", first.id), set: { connected_to_svc: false } });
    const lone = await t.store.hostProfiles.list({ where: eq("host_id", second.id), limit: 1 });
    await t.store.hostProfiles.update({ where: eq("id", lone[0]!.id), set: { profile_uuid: "d-of-nobody" } });

    expect(await settled()).toBe(14);
    for (const mac of [second, third]) {
      const rows = await t.store.hostProfiles.list({
        where: and(eq("host_id", mac.id), eq("operation_type", "install")),
      });
      expect(rows.map(({ profile_uuid }) => profile_uuid).sort()).toEqual([...uuids].sort());
      expect(rows.filter(({ checksum }) => checksum === "earlier")).toEqual([]);
    }
    expect(await t.store.hostProfiles.count(eq("host_id", first.id)), "not managed any more").toBe(0);
  });

  it("is queued once by two servers, and a pass without differences asks by profile, not by host", async () => {
    const { t } = await start(engine);
    for (let i = 0; i < 30; i++) await makeManagedMac(t);
    for (let i = 0; i < 3; i++) await makeProfile(t);
    await Promise.all([reconcile(t.services, {}), reconcile(t.services, {}), reconcile(t.services, {})]);
    const pairs = await t.store.hostProfiles.list();
    expect(pairs.length).toBe(90);
    expect(pairs.filter(({ status }) => status !== "pending")).toEqual([]);
    // Declarations of one host that are queued together share a command; none is queued twice.
    const before = await t.store.operations.count();
    expect(new Set(pairs.map(({ command_uuid }) => command_uuid)).size).toBe(before);
    const { services, calls } = countedStore(t);
    await reconcile(services, {});
    expect(await calls()).toBeGreaterThan(5);
    expect(await calls()).toBeLessThan(20);
    expect(await t.store.operations.count()).toBe(before);
  });
});

describe.each(bothEngines)("a server that starts on %s", (engine) => {
  it("delivers profiles that a server which was killed has stored, but not compared", async () => {
    const { t } = await start(engine);
    const mac = await makeManagedMac(t);
    const content = declaration();
    await t.store.tx(async (store) => {
      const at = t.clock.iso();
      const { id } = await store.configurationProfiles.insert({
        uuid: "d-of-a-killed-server",
        team_id: null,
        platform: "darwin",
        kind: "declaration",
        name: "Passcode",
        identifier: "com.example.passcode",
        checksum: "0".repeat(64),
        created_at: at,
        updated_at: at,
        uploaded_at: at,
      });
      await store.profileContents.insert({ id, content: base64(content) });
    });
    const started = await profileReconciler.start(t.services);
    await expect.poll(() => statusOn(t, mac.id)).toMatchObject([{ name: "Passcode", status: "pending" }]);
    await started.stop();
  });
});

describe.each(rulesEngines)("profiles on %s", (engine) => {
  it("are listed by team, shown, and downloaded with the headers of a file", async () => {
    const { t } = await start(engine);
    const team = await makeTeam(t);
    const content = declaration("com.example.wifi");
    const uuid = await makeProfile(t, { team_id: team.id, name: "Wi-Fi", content });
    await makeProfile(t, { name: "Everywhere else" });
    const listed = await json(t.get(`/mdm/profiles?team_id=${team.id}`));
    const shown = await json(t.get(`/configuration_profiles/${uuid}`));
    expect(listed).toEqual({
      profiles: [shown],
      meta: { has_next_results: false, has_previous_results: false },
    });
    expect(shown).toMatchObject({
      profile_uuid: uuid,
      team_id: team.id,
      name: "Wi-Fi",
      platform: "darwin",
      identifier: "com.example.wifi",
      uploaded_at: t.clock.iso(),
    });
    expect(await json(t.get("/mdm/profiles"))).toMatchObject({ profiles: [{ name: "Everywhere else", team_id: 0 }] });
    const file = await t.get(`/mdm/profiles/${uuid}?alt=media`);
    expect(await file.text()).toBe(content);
    expect([
      file.headers.get("content-type"),
      file.headers.get("content-length"),
      file.headers.get("content-disposition"),
      file.headers.get("x-content-type-options"),
    ]).toEqual([
      "application/octet-stream",
      String(content.length),
      'attachment; filename="2026-03-01 Wi-Fi.json"',
      "nosniff",
    ]);
  });

  it("are replaced as a whole: same identifier changes, the others are removed; a dry run changes nothing", async () => {
    const { t } = await start(engine);
    await batch(t, [declaration("a"), declaration("b")]);
    const before = await json(t.get("/mdm/profiles"));
    t.clock.advance(1000);
    expect((await batch(t, [declaration("b", { Echo: "new" }), declaration("c")], "?dry_run=true")).status).toBe(204);
    expect(await json(t.get("/mdm/profiles"))).toEqual(before);
    expect((await batch(t, [declaration("b", { Echo: "new" }), declaration("c")])).status).toBe(204);
    const { profiles } = (await json(t.get("/mdm/profiles"))) as { profiles: Json[] };
    const old = before.profiles as Json[];
    expect(profiles.map(({ identifier }) => identifier).sort()).toEqual(["b", "c"]);
    const b = profiles.find(({ identifier }) => identifier === "b")!;
    expect(b).toMatchObject({ profile_uuid: old[1]!.profile_uuid, created_at: old[1]!.created_at });
    expect(b.uploaded_at).not.toBe(old[1]!.uploaded_at);
    expect((await batch(t, [])).status).toBe(204);
    expect(await json(t.get("/mdm/profiles"))).toMatchObject({ profiles: [] });
    const { activities } = (await json(t.get("/activities"))) as { activities: { type: string }[] };
    expect(activities.filter(({ type }) => type === "edited_declaration_profile").length).toBe(3);
  });

  it("of unchanged content are left alone by a batch", async () => {
    const { t } = await start(engine);
    await makeManagedMac(t);
    const contents = [declaration("a"), declaration("b")];
    await batch(t, contents);
    await expect.poll(() => waiting(t)).toBeGreaterThan(0);
    await reconcile(t.services, {});
    const before = await json(t.get("/mdm/profiles"));
    const commands = await waiting(t);
    t.clock.advance(5000);
    await batch(t, contents);
    await reconcile(t.services, {});
    expect(await json(t.get("/mdm/profiles"))).toEqual(before);
    expect(await waiting(t)).toBe(commands);
  });

  it("may exchange their names in a batch", async () => {
    const { t } = await start(engine);
    const named = (identifier: string, display_name: string) => ({
      profile: base64(declaration(identifier)),
      display_name,
    });
    await batch(t, [named("a", "one"), named("b", "two")]);
    expect((await batch(t, [named("a", "two"), named("b", "one")])).status).toBe(204);
    const { profiles } = (await json(t.get("/mdm/profiles"))) as { profiles: Json[] };
    expect(profiles.map(({ identifier, name }) => [identifier, name])).toEqual([
      ["b", "one"],
      ["a", "two"],
    ]);
  });

  it.each([
    ["not base64", { profile: "%%%", display_name: "x" }, 422, "not base64"],
    ["an unknown format", { profile: base64("hello"), display_name: "x" }, 422, "not a profile of a known format"],
    ["an empty file", { profile: "", display_name: "x" }, 422, "empty"],
    ["no name", { profile: base64(declaration()) }, 422, "display_name is required"],
    [
      "another type",
      { profile: base64('{"Type":"com.apple.activation.simple","Identifier":"a","Payload":{}}'), display_name: "x" },
      422,
      "com.apple.configuration.",
    ],
    [
      "no identifier",
      { profile: base64('{"Type":"com.apple.configuration.x","Payload":{}}'), display_name: "x" },
      422,
      "Identifier",
    ],
    [
      "no payload",
      { profile: base64('{"Type":"com.apple.configuration.x","Identifier":"a"}'), display_name: "x" },
      422,
      "Payload",
    ],
    ["an identifier of the server", { profile: base64(declaration("svc.cfg.1")), display_name: "x" }, 422, "reserved"],
    ["broken JSON", { profile: base64('{"Type":'), display_name: "x" }, 422, "not valid JSON"],
    [
      "updates",
      {
        profile: base64(
          '{"Type":"com.apple.configuration.softwareupdate.enforcement.Specific ","Identifier":"a","Payload":{}}',
        ),
        display_name: "x",
      },
      422,
      "settings of updates",
    ],
    [
      "an unknown variable",
      { profile: base64(declaration("a", { Echo: "$SVC_VAR_NOTHING" })), display_name: "x" },
      422,
      "$SVC_VAR_NOTHING is not a variable",
    ],
    [
      "an undefined secret",
      { profile: base64(declaration("a", { Echo: "$SVC_SECRET_X" })), display_name: "x" },
      422,
      "$SVC_SECRET_X is not defined",
    ],
    [
      "an unknown label",
      { profile: base64(declaration()), display_name: "x", labels_include_any: ["nothing"] },
      400,
      "unknown labels",
    ],
    [
      "a very large file",
      { profile: base64(declaration("a", { Echo: "x".repeat(1_600_000) })), display_name: "x" },
      422,
      "larger",
    ],
  ] as const)("with %s are refused with the reason", async (_what, item, status, text) => {
    const { t } = await start(engine);
    const res = await batch(t, [item]);
    expect([res.status, await res.text()]).toEqual([status, expect.stringContaining(text)]);
    expect(await t.store.configurationProfiles.count()).toBe(0);
  });

  it("are refused with the place of the entry and its field", async () => {
    const { t } = await start(engine);
    await makeLabel(t, "one");
    const good = { profile: base64(declaration("a")), display_name: "good" };
    const other = { profile: base64(declaration("b")), display_name: "other" };
    for (const [bad, field] of [
      [{ profile: other.profile }, ".display_name"],
      [{ ...other, profile: base64("no profile") }, ""],
      [{ ...other, display_name: "good" }, ""],
      [{ ...other, activation: base64("{}") }, ".activation"],
      [{ ...other, labels_include_any: ["missing"] }, ".labels_include_any"],
      [{ ...other, labels_include_any: ["one"], labels_include_all: ["one"] }, ".labels_include_any"],
    ] as const)
      for (const list of ["configuration_profiles", "profiles"]) {
        const res = await t.post("/configuration_profiles/batch", { [list]: [good, bad] });
        const { errors } = (await json(res)) as { errors: { name: string }[] };
        // A label that does not exist is a 400 everywhere.
        const status = "labels_include_any" in bad && !("labels_include_all" in bad) ? 400 : 422;
        expect([res.status, errors.map(({ name }) => name)]).toEqual([status, [`${list}.1${field}`]]);
      }
    expect(await t.store.configurationProfiles.count()).toBe(0);
  });

  it("are refused twice in a list, with two include lists, and while management is turned off", async () => {
    const { t } = await start(engine);
    await makeLabel(t, "one");
    for (const [contents, text] of [
      [[declaration("a"), declaration("a")], "occurs more than once"],
      [
        [
          { profile: base64(declaration("a")), display_name: "x" },
          { profile: base64(declaration("b")), display_name: "x" },
        ],
        "occurs more than once",
      ],
      [
        [
          {
            profile: base64(declaration("a")),
            display_name: "x",
            labels_include_all: ["one"],
            labels_include_any: ["one"],
          },
        ],
        "only one of",
      ],
      [
        [
          {
            profile: base64(declaration("a")),
            display_name: "x",
            labels_include_all: ["one"],
            labels_exclude_any: ["one"],
          },
        ],
        "included and excluded",
      ],
    ] as const) {
      const res = await batch(t, contents);
      expect([res.status, await res.text()]).toEqual([422, expect.stringContaining(text)]);
    }
    const unknown = await batch(t, [{ profile: base64(declaration("a")), label: "one" }]);
    expect([unknown.status, await unknown.text()]).toEqual([
      400,
      expect.stringContaining('"configuration_profiles.0.label"'),
    ]);
    const both = await batch(t, [], "?team_id=0&team_name=Lab");
    expect([both.status, await both.text()]).toEqual([
      422,
      expect.stringContaining("only one of team_id and team_name"),
    ]);
    const off = await startApp({ engine });
    expect((await batch(off, [declaration()])).status).toBe(400);
    expect((await off.get("/mdm/profiles")).status).toBe(400);
    expect(await json(off.get("/mdm/profiles/summary"))).toEqual({ verified: 0, verifying: 0, failed: 0, pending: 0 });
    expect((await batch(off, [])).status).toBe(204);
  });

  it("are written by gitops, read by technicians, and hidden from observers, who see their status on hosts", async () => {
    const { t } = await start(engine);
    const team = await makeTeam(t);
    const mac = await makeManagedMac(t, { team_id: team.id });
    const uuid = await makeProfile(t, { team_id: team.id, name: "VPN" });
    await reconcile(t.services, {});
    const as = async (role: "observer" | "gitops" | "technician" | "maintainer") =>
      t.as((await makeUser(t, { teams: [{ id: team.id, role }] }, { api_only: role === "gitops" })).token);
    const observer = await as("observer");
    expect((await observer.get(`/mdm/profiles/${uuid}`)).status).toBe(403);
    expect((await observer.get(`/mdm/profiles?team_id=${team.id}`)).status).toBe(403);
    expect(await json(observer.get(`/hosts/${mac.id}`))).toMatchObject({
      host: { mdm: { profiles: [{ name: "VPN" }] } },
    });
    const body = { configuration_profiles: [] };
    const technician = await as("technician");
    expect((await technician.get(`/mdm/profiles/${uuid}`)).status).toBe(200);
    expect((await technician.delete(`/mdm/profiles/${uuid}`)).status).toBe(403);
    expect((await technician.post(`/mdm/profiles/batch?team_id=${team.id}`, body)).status).toBe(403);
    const gitops = await as("gitops");
    expect((await gitops.post(`/mdm/profiles/batch?team_id=0`, body)).status).toBe(403);
    expect((await gitops.post(`/mdm/profiles/batch?team_name=${encodeURIComponent(team.name)}`, body)).status).toBe(
      204,
    );
    expect(await t.store.configurationProfiles.count()).toBe(0);
  });

  it("go to hosts with their labels, follow changes of labels, and stay where they are after a label was deleted", async () => {
    const { t } = await start(engine);
    const [any, all, none] = [await makeLabel(t, "any"), await makeLabel(t, "all"), await makeLabel(t, "none")];
    const macs = [await makeManagedMac(t), await makeManagedMac(t), await makeManagedMac(t)];
    const join = (label: { id: number }, ...at: number[]) =>
      t.store.labelMembers.insertMany(at.map((i) => ({ label_id: label.id, host_id: macs[i]!.id })));
    await join(any, 0, 1);
    await join(all, 0);
    await join(none, 1);
    const item = (name: string, labels: Json) => ({
      profile: base64(declaration(name)),
      display_name: name,
      ...labels,
    });
    const items = [
      item("any", { labels_include_any: ["any", "all"] }),
      item("all", { labels_include_all: ["any", "all"] }),
      item("none", { labels_exclude_any: ["none"] }),
      item("both", { labels_include_any: ["any"], labels_exclude_any: ["none"] }),
    ];
    expect((await batch(t, items)).status).toBe(204);
    await reconcile(t.services, {});
    const names = async (at: number) => (await statusOn(t, macs[at]!.id)).map(({ name }) => name).sort();
    expect(await names(0)).toEqual(["all", "any", "both", "none"]);
    expect(await names(1)).toEqual(["any"]);
    expect(await names(2)).toEqual(["none"]);
    await t.store.labelMembers.delete(eq("label_id", none.id));
    await reconcile(t.services, {});
    expect(await names(1)).toEqual(["any", "both", "none"]);
    expect((await t.delete(`/labels/id/${any.id}`)).status).toBe(200);
    await join(all, 2);
    await reconcile(t.services, {});
    expect(await names(0)).toEqual(["all", "any", "both", "none"]);
    expect(await names(2)).toEqual(["none"]);
    expect(await json(t.get("/mdm/profiles"))).toMatchObject({
      profiles: [
        {
          name: "all",
          labels_include_all: [
            { name: "any", broken: true },
            { name: "all", id: all.id },
          ],
        },
        { name: "any" },
        { name: "both" },
        { name: "none", labels_exclude_any: [{ name: "none", id: none.id }] },
      ],
    });
  });

  it("follow hosts to their teams, and are forgotten on hosts that are not managed any more", async () => {
    const { t } = await start(engine);
    const team = await makeTeam(t);
    const mac = await makeManagedMac(t);
    await makeProfile(t, { name: "here", content: declaration("same") });
    await makeProfile(t, { name: "gone" });
    await makeProfile(t, { name: "there", team_id: team.id, content: declaration("same") });
    await reconcile(t.services, {});
    await answerAll(t);
    expect((await t.post("/hosts/transfer", { team_id: team.id, hosts: [mac.id] })).status).toBe(200);
    await expect
      .poll(async () => (await statusOn(t, mac.id)).map(({ name, operation_type }) => [name, operation_type]).sort())
      .toEqual([
        // The old profile with the same identifier is not removed: that would remove the new one.
        ["gone", "remove"],
        ["there", "install"],
      ]);
    expect((await t.delete(`/hosts/${mac.id}/mdm`)).status).toBe(204);
    expect(await t.store.hostProfiles.count()).toBe(0);
    expect(await t.store.hostSettings.get(mac.id)).toMatchObject({ status: null });
    await runJob(t.services, "profiles");
    expect(await t.store.hostProfiles.count()).toBe(0);
  });

  it("get the host's values in place of variables, and fail without sending where a host has none", async () => {
    const { t } = await start(engine);
    const mac = await makeManagedMac(t, { hardware_serial: 'C02"X', uuid: "u-1" });
    const bare = await makeManagedMac(t, { hardware_serial: "" });
    const content = declaration("a", { Serial: "$SVC_VAR_HOST_HARDWARE_SERIAL", Host: `\${SVC_VAR_HOST_UUID}` });
    await makeProfile(t, { name: "values", content });
    await reconcile(t.services, {});
    expect((await openCommands(t)).map(({ host_id }) => host_id)).toEqual([mac.id]);
    expect(await statusOn(t, bare.id)).toMatchObject([
      { status: "failed", detail: expect.stringContaining("$SVC_VAR_HOST_HARDWARE_SERIAL") },
    ]);
    await t.store.hosts.update({ where: eq("id", bare.id), set: { hardware_serial: "C03" } });
    await runJob(t.services, "profiles");
    expect((await openCommands(t)).map(({ host_id }) => host_id)).toEqual([mac.id, bare.id]);
    expect(await statusOn(t, bare.id)).toMatchObject([{ status: "pending", detail: "" }]);
  });

  it("are sent again when a user asks, to one host or to all on which they failed", async () => {
    const { t } = await start(engine);
    const macs = [await makeManagedMac(t), await makeManagedMac(t)];
    const uuid = await makeProfile(t, { name: "VPN" });
    await reconcile(t.services, {});
    const resend = (id: number, which = uuid) => t.post(`/hosts/${id}/configuration_profiles/${which}/resend`);
    expect((await resend(macs[0]!.id)).status).toBe(409);
    for (const _ of [1, 2]) {
      await answerAll(t, "the device refuses it");
      await reconcile(t.services, {});
    }
    expect(await statusOn(t, macs[0]!.id)).toMatchObject([{ status: "failed", detail: "the device refuses it" }]);
    expect(await json(t.get("/mdm/profiles/summary"))).toMatchObject({ failed: 2 });
    expect((await resend(macs[0]!.id)).status).toBe(202);
    await expect.poll(() => waiting(t)).toBe(1);
    expect(await statusOn(t, macs[0]!.id)).toMatchObject([{ status: "pending", detail: "" }]);
    const all = { profile_uuid: uuid, filters: { profile_status: "failed" } };
    expect((await t.post("/configuration_profiles/resend/batch", all)).status).toBe(202);
    await expect.poll(() => waiting(t)).toBe(2);
    expect((await resend(macs[0]!.id, "dnothing")).status).toBe(404);
    const token = "c2f1a5f4-6b0e-4c55-9d0a-0c7a3f4f9a11";
    await setDeviceToken(serviceContext(t.services), macs[1]!.id, token);
    const byOwner = (which: string) => t.as(null).post(`/device/${token}/configuration_profiles/${which}/resend`);
    expect((await byOwner(uuid)).status).toBe(409);
    expect((await byOwner("dnothing")).status).toBe(404);
    const { activities } = (await json(t.get("/activities"))) as { activities: { type: string; details: Json }[] };
    expect(activities.find(({ type }) => type === "resent_configuration_profile")!.details).toMatchObject({
      host_id: macs[0]!.id,
      profile_name: "VPN",
    });
    expect(activities.find(({ type }) => type === "resent_configuration_profile_batch")!.details).toEqual({
      profile_name: "VPN",
      host_count: 1,
    });
  });

  it("list their hosts with the reason of a failure, and count hosts by status in the list", async () => {
    const { t } = await start(engine);
    const team = await makeTeam(t);
    const macs = [
      await makeManagedMac(t, { team_id: team.id, hostname: "ada-mac", display_name: "ada-mac" }),
      await makeManagedMac(t, { team_id: team.id, hostname: "bea-mac", display_name: "bea-mac" }),
    ];
    const uuid = await makeProfile(t, { team_id: team.id, name: "VPN" });
    await makeProfile(t, { name: "Other" });
    await reconcile(t.services, {});
    const counts = async (query: string) =>
      ((await json(t.get(`/mdm/profiles?${query}`))).profiles as { name: string; host_counts?: object }[]).map(
        ({ name, host_counts }) => [name, host_counts],
      );
    const none = { verified: 0, verifying: 0, failed: 0, pending: 0 };
    expect(await counts(`team_id=${team.id}`)).toEqual([["VPN", undefined]]);
    expect(await counts(`team_id=${team.id}&populate_host_counts=true`)).toEqual([["VPN", { ...none, pending: 2 }]]);
    expect(await counts("populate_host_counts=true")).toEqual([["Other", none]]);
    for (const _ of [1, 2]) {
      await answerAll(t, "the device refuses it");
      await reconcile(t.services, {});
    }
    await t.post(`/hosts/${macs[1]!.id}/configuration_profiles/${uuid}/resend`);
    expect(await counts(`team_id=${team.id}&populate_host_counts=true`)).toEqual([
      ["VPN", { ...none, pending: 1, failed: 1 }],
    ]);

    const hosts = async (query = "", as: Pick<TestApp, "get"> = t) =>
      (await json(as.get(`/configuration_profiles/${uuid}/hosts${query}`))).hosts;
    const failed = {
      id: macs[0]!.id,
      display_name: "ada-mac",
      hostname: "ada-mac",
      team_id: team.id,
      status: "failed",
      operation_type: "install",
      detail: "the device refuses it",
    };
    expect(await hosts("?status=failed")).toEqual([failed]);
    expect(await hosts("?status=pending")).toMatchObject([{ display_name: "bea-mac", detail: "" }]);
    expect(await hosts("?order_key=display_name&order_direction=desc&per_page=1")).toMatchObject([
      { display_name: "bea-mac" },
    ]);
    expect(await hosts("?order_key=status&order_direction=asc")).toHaveLength(2);
    expect(await hosts("?query=ADA")).toEqual([failed]);
    expect((await t.get("/configuration_profiles/dnothing/hosts")).status).toBe(404);

    const asTeam = async (teamId: number, role: "technician" | "observer") =>
      t.as((await makeUser(t, { teams: [{ id: teamId, role }] })).token);
    expect(await hosts("?status=failed", await asTeam(team.id, "technician"))).toEqual([failed]);
    const path = `/configuration_profiles/${uuid}/hosts`;
    expect((await (await asTeam(team.id, "observer")).get(path)).status).toBe(403);
    const elsewhere = await makeTeam(t);
    expect((await (await asTeam(elsewhere.id, "technician")).get(path)).status).toBe(404);
    // What a host that was moved still has to remove is not shown to those who do not see the host.
    await t.post("/hosts/transfer", { team_id: elsewhere.id, hosts: [macs[0]!.id] });
    await reconcile(t.services, {});
    expect(await hosts("?status=failed", await asTeam(team.id, "technician"))).toEqual([]);
  });

  it("that a host has lost are sent once more after an hour, and then have failed", async () => {
    const { t } = await start(engine);
    const mac = await makeManagedMac(t);
    await makeProfile(t);
    await reconcile(t.services, {});
    const report = async () => {
      await answerAll(t);
      t.clock.advance(hours(2));
      await t.store.tx(async (store) => {
        const rows = await store.hostProfiles.list({ where: eq("host_id", mac.id) });
        await applyEvents({ ...t.services, store }, eventsOfReport(rows, [], t.clock.now()));
      });
      await reconcile(t.services, {});
      return (await statusOn(t, mac.id))[0]!.status;
    };
    expect(await report()).toBe("pending");
    expect(await report()).toBe("failed");
    expect(await settingsOf(t, "failed")).toEqual([mac.id]);
  });

  it("are shown as those of the host", async () => {
    const { t } = await start(engine);
    const mac = await makeManagedMac(t);
    const uuid = await makeProfile(t, { name: "VPN", content: declaration("com.example.vpn") });
    await reconcile(t.services, {});
    expect(await json(t.get(`/hosts/${mac.id}/configuration_profiles`))).toMatchObject({
      host_id: mac.id,
      profiles: [{ profile_uuid: uuid, team_id: 0, name: "VPN", identifier: "com.example.vpn" }],
    });
  });
});

it("profiles with labels need a premium license", async () => {
  const t = await startApp({ tier: "free" });
  await turnOnAppleMdm(t);
  await makeLabel(t, "one");
  const item = { profile: base64(declaration()), display_name: "x" };
  expect((await batch(t, [{ ...item, labels_include_any: ["one"] }])).status).toBe(402);
  expect((await batch(t, [item], "?team_id=1")).status).toBe(402);
  expect((await batch(t, [item])).status).toBe(204);
});
