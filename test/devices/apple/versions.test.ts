// Minimum versions of Apple devices against the vendor's list of versions.
import { describe, expect, it } from "vitest";
import { runJob } from "../../../src/server/edge/jobs/start.ts";
import { days } from "../../../src/server/platform/core/clock.ts";
import { startApp, type TestApp } from "../../support/app.ts";
import { turnOnAppleMdm } from "../../support/apple.ts";
import { bothEngines, rulesEngines } from "../../support/engines.ts";
import { makeTeam } from "../../support/make.ts";
import { startVersionList } from "../../support/version-list.ts";

const updates = (minimum_version: string) => ({ minimum_version, deadline: "2027-01-01" });
interface Refusal {
  readonly errors?: readonly { readonly name: string; readonly reason: string }[];
}
/** The fields that are refused, with their reasons. */
async function refusals(t: TestApp, mdm: object, path = "/config"): Promise<[string, string][]> {
  const response = await t.patch(path, { mdm });
  const { errors = [] } = (await response.json()) as Refusal;
  expect(response.status).toBe(errors.length === 0 ? 200 : 422);
  return errors.map(({ name, reason }) => [name, reason]);
}

async function started(engine: (typeof bothEngines)[number], isRead = true) {
  const service = await startVersionList();
  const t = await startApp({ engine, settings: service.settings });
  await turnOnAppleMdm(t);
  if (isRead) await runJob(t.services, "apple_versions");
  return { t, service };
}

describe.each(bothEngines)("a minimum version on %s", (engine) => {
  it("has to be one that the vendor offers for the platform, for hosts with and without a team", async () => {
    const { t } = await started(engine);
    const team = await makeTeam(t);
    for (const path of ["/config", `/teams/${team.id}`]) {
      expect(await refusals(t, { macos_updates: updates("15.9") }, path)).toEqual([
        ["mdm.macos_updates.minimum_version", expect.stringMatching(/15\.9.*15\.2, 15\.1, 14\.7\.2.*apple_versions/)],
      ]);
      expect(await refusals(t, { ios_updates: updates("17.7.3") }, path)).toEqual([
        ["mdm.ios_updates.minimum_version", expect.stringMatching(/\(18\.2\)/)],
      ]);
      expect(await refusals(t, { ipados_updates: updates("2.2") }, path)).toHaveLength(1);
      expect(
        await refusals(t, {
          macos_updates: updates("14.7.2"),
          ios_updates: updates("18.2.0"),
          ipados_updates: updates("17.7.3"),
        }),
      ).toEqual([]);
    }
  });

  it("is refused in configuration files, which change nothing then", async () => {
    const { t } = await started(engine);
    const specs = [{ name: "Macs", mdm: { macos_updates: updates("15.9") } }];
    const response = await t.post("/spec/teams", { specs });
    expect(response.status).toBe(422);
    expect(await t.store.teams.count()).toBe(0);
  });
});

describe.each(rulesEngines)("the list of versions on %s", (engine) => {
  it("decides about changes only: what is set stays, although the vendor does not offer it any more", async () => {
    const { t, service } = await started(engine);
    expect(await refusals(t, { macos_updates: updates("15.1") })).toEqual([]);
    service.list.AssetSets = {};
    await runJob(t.services, "apple_versions");
    expect(await refusals(t, { macos_updates: { ...updates("15.1"), deadline: "2027-05-01" } })).toEqual([]);
    expect(await refusals(t, { macos_updates: { minimum_version: "", deadline: "" } })).toEqual([]);
    expect(await refusals(t, { macos_updates: updates("15.1") })).toHaveLength(1);
  });

  it("does not contain versions that have ended", async () => {
    const { t, service } = await started(engine);
    service.list.AssetSets.macOS![0] = { ...service.list.AssetSets.macOS![0]!, ExpirationDate: "2020-01-01" };
    await runJob(t.services, "apple_versions");
    expect(await refusals(t, { macos_updates: updates("15.1") })).toHaveLength(1);
  });

  it("decides nothing if it was never read, or long ago", async () => {
    const { t } = await started(engine, false);
    expect(await refusals(t, { macos_updates: updates("15.9") })).toEqual([]);
    await runJob(t.services, "apple_versions");
    expect(await refusals(t, { macos_updates: updates("15.8") })).toHaveLength(1);
    t.clock.advance(days(3));
    expect(await refusals(t, { macos_updates: updates("15.8") })).toEqual([]);
  });

  it("stays as it was if the vendor cannot be asked, or answers with something else", async () => {
    const { t, service } = await started(engine);
    const before = await t.store.appleVersionLists.list();
    service.status = 503;
    await runJob(t.services, "apple_versions");
    service.status = 200;
    for (const list of [{}, { PublicAssetSets: [] }, { PublicAssetSets: { macOS: [{ ProductVersion: "x" }] } }]) {
      service.list = list as unknown as typeof service.list;
      await runJob(t.services, "apple_versions");
    }
    await service.close();
    await runJob(t.services, "apple_versions");
    expect(await t.store.appleVersionLists.list()).toEqual(before);
  });

  it("is not asked for while device management of Apple devices is off", async () => {
    const service = await startVersionList();
    const t = await startApp({ engine, settings: service.settings });
    await runJob(t.services, "apple_versions");
    expect(service.requests).toHaveLength(0);
  });
});

describe.each(rulesEngines)("the newest version as a setting on %s", (engine) => {
  it.each<[object, string[]]>([
    [{ minimum_version: "latest" }, ["mdm.ios_updates.deadline_days"]],
    [{ minimum_version: "latest", deadline_days: 366 }, ["mdm.ios_updates.deadline_days"]],
    [{ minimum_version: "latest", deadline_days: -1 }, ["mdm.ios_updates.deadline_days"]],
    [{ minimum_version: "latest", deadline_days: 3, deadline: "2027-01-01" }, ["mdm.ios_updates.deadline"]],
    [{ minimum_version: "17.1", deadline: "2027-01-01", deadline_days: 3 }, ["mdm.ios_updates.deadline_days"]],
    [{ deadline_days: 3 }, ["mdm.ios_updates.deadline_days"]],
    [{ minimum_version: "latest", deadline_days: 0 }, []],
  ])("%j is refused for %j", async (ios_updates, fields) => {
    const t = await startApp({ engine });
    await turnOnAppleMdm(t);
    const team = await makeTeam(t);
    for (const path of ["/config", `/teams/${team.id}`])
      expect((await refusals(t, { ios_updates }, path)).map(([name]) => name)).toEqual(fields);
  });

  it("replaces the day, and is replaced by it", async () => {
    const t = await startApp({ engine });
    await turnOnAppleMdm(t);
    const stored = async () =>
      ((await (await t.get("/config")).json()) as { mdm: { macos_updates: object } }).mdm.macos_updates;
    expect(await refusals(t, { macos_updates: updates("15.1") })).toEqual([]);
    expect(await refusals(t, { macos_updates: { minimum_version: "latest", deadline_days: 14 } })).toEqual([]);
    const latest = { minimum_version: "latest", deadline: "", deadline_days: 14, update_new_hosts: true };
    expect(await stored()).toEqual(latest);
    expect(await refusals(t, { macos_updates: updates("15.1") })).toEqual([]);
    expect(await stored()).toEqual({ ...latest, ...updates("15.1"), deadline_days: null });
  });

  it("is an activity, and so is another number of days", async () => {
    const t = await startApp({ engine });
    await turnOnAppleMdm(t);
    for (const deadline_days of [14, 7])
      await refusals(t, { macos_updates: { minimum_version: "latest", deadline_days } });
    const { activities } = (await (await t.get("/activities")).json()) as {
      activities: { type: string; details: { deadline_days?: number; minimum_version: string } }[];
    };
    const edited = activities.filter(({ type }) => type === "edited_macos_min_version");
    expect(edited.map(({ details }) => [details.minimum_version, details.deadline_days])).toEqual([
      ["latest", 14],
      ["latest", 7],
    ]);
  });
});
