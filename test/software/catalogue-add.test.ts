// Maintained apps as packages of teams: added, updated from the catalogue, and pinned.
import { createHash } from "node:crypto";
import { beforeEach, describe, expect, it } from "vitest";
import type { CatalogueApp } from "../../src/api/software/catalogue.ts";
import type { Package } from "../../src/api/software/packages.ts";
import { runJob } from "../../src/server/edge/jobs/start.ts";
import { eq } from "../../src/server/platform/store/query.ts";
import { startApp, type TestApp } from "../support/app.ts";
import { allowLocal, type Fake, newDir, startFake } from "../support/ca-fakes.ts";
import { catalogueVersion, writeCatalogue } from "../support/catalogue.ts";
import { bothEngines } from "../support/engines.ts";
import { makeLabel, makeTeam, makeUser } from "../support/make.ts";
import { reasonOf } from "../support/replies.ts";

describe.each(bothEngines)("maintained apps on %s", (engine) => {
  let dir: string;
  let t: TestApp;
  let team: number;
  let server: Fake;
  /** What the server of installers answers, by version. */
  let files: Record<string, Buffer>;
  beforeEach(async () => {
    dir = newDir();
    files = {
      "1.0": Buffer.from("installer 1.0"),
      "1.1": Buffer.from("installer 1.1"),
      "2.0": Buffer.from("installer 2.0"),
    };
    server = await startFake(({ url }) => {
      const body = files[url.pathname.split("/")[1]!];
      return body ? { status: 200, body } : { status: 404 };
    });
    publish("1.0");
    t = await startApp({ engine, settings: { catalogue_url: dir, outbound_allow: allowLocal.outbound_allow } });
    await runJob(t.services, "catalogue");
    team = (await makeTeam(t, "Macs")).id;
  });

  const version = (name: string, more: object = {}) =>
    catalogueVersion({
      version: name,
      queries: { exists: "SELECT 1 FROM apps WHERE name = 'One.app';" },
      installer_url: `${server.url}/${name}/One%20${name}.dmg`,
      sha256: createHash("sha256").update(files[name]!).digest("hex"),
      default_categories: ["Browsers"],
      ...more,
    });
  const publish = (...names: string[]) => publishWith(`#!/bin/sh\n# ${names[0]}`, ...names);
  const publishWith = (script: string, ...names: string[]) =>
    writeCatalogue(dir, [
      {
        slug: "one/darwin",
        name: "One",
        versions: names.map((name) => version(name)),
        refs: { in: script, out: "#!/bin/sh\nrm" },
      },
    ]);
  const follow = async () => {
    await runJob(t.services, "catalogue");
    await runJob(t.services, "catalogue_updates");
  };
  const appOf = async (query = ""): Promise<CatalogueApp | undefined> =>
    ((await (await t.get(`/software/svc_maintained_apps${query}`)).json()) as { svc_maintained_apps: CatalogueApp[] })
      .svc_maintained_apps[0];
  const add = async (more: object = {}) =>
    t.post("/software/svc_maintained_apps", { svc_maintained_app_id: (await appOf())!.id, team_id: team, ...more });
  const added = async (more: object = {}): Promise<number> => {
    const reply = await add(more);
    expect(reply.status, await reply.clone().text()).toBe(200);
    return ((await reply.json()) as { software_title_id: number }).software_title_id;
  };
  const packageOf = async (title: number): Promise<Package> => {
    const reply = await t.get(`/software/titles/${title}?team_id=${team}`);
    return ((await reply.json()) as { software_title: { software_package: Package } }).software_title.software_package;
  };
  const pin = (title: number, name: string) =>
    t.patch(`/software/titles/${title}/package`, { team_id: team, version: name });

  it("are added with the installer that the catalogue names, and its scripts", async () => {
    const title = await added({ self_service: true });
    expect(await packageOf(title)).toMatchObject({
      name: "One 1.0.dmg",
      version: "1.0",
      platform: "darwin",
      install_script: "#!/bin/sh\n# 1.0",
      uninstall_script: "#!/bin/sh\nrm",
      self_service: true,
      categories: ["Browsers"],
      svc_maintained_app_id: (await appOf())!.id,
      hash_sha256: createHash("sha256").update("installer 1.0").digest("hex"),
    });
    const media = await t.get(`/software/titles/${title}/package?team_id=${team}&alt=media`);
    expect(Buffer.from(await media.arrayBuffer()).toString()).toBe("installer 1.0");
    expect(await t.store.softwareTitles.get(title)).toMatchObject({ name: "One", source: "apps" });
    expect((await appOf(`?team_id=${team}`))!.software_title_id).toBe(title);
    expect(await appOf(`?team_id=${team}&available=true`)).toBeUndefined();
    expect((await appOf("?team_id=0&available=true"))!.software_title_id).toBeNull();
    expect((await t.get("/software/svc_maintained_apps?available=true")).status).toBe(400);
    const twice = await add();
    expect([twice.status, server.requests.length]).toEqual([409, 1]);
    // Another team gets the file that is there.
    expect((await add({ team_id: 0 })).status).toBe(200);
    expect(server.requests.length).toBe(1);
  });

  it("are limited by labels, run scripts of users, and are installed by a policy", async () => {
    const label = await makeLabel(t, "Testers");
    const title = await added({
      install_script: "#!/bin/sh\nown",
      post_install_script: "#!/bin/sh\nafter",
      labels_include_any: [label.name],
      automatic_install: true,
    });
    expect(await packageOf(title)).toMatchObject({
      install_script: "#!/bin/sh\nown",
      post_install_script: "#!/bin/sh\nafter",
      labels_include_any: [{ name: "Testers" }],
    });
    const recorded = await t.store.activities.list({ where: eq("type", "added_software") });
    expect(recorded).toMatchObject([{ details: { software_title: "One", software_package: "One 1.0.dmg" } }]);
    const policies = await t.store.policies.list({ where: eq("software_title_id", title) });
    expect(policies).toMatchObject([{ team_id: team, query: "SELECT 1 FROM apps WHERE name = 'One.app';" }]);
  });

  it("are refused if the installer is another one than the catalogue names, or is missing", async () => {
    files["1.0"] = Buffer.from("something else");
    const other = await add();
    expect([other.status, await reasonOf(other)]).toEqual([
      502,
      "the installer was not downloaded: the file of 127.0.0.1 has another SHA-256 digest",
    ]);
    delete files["1.0"];
    expect(await reasonOf(await add())).toBe("the installer was not downloaded: 127.0.0.1 answered with status 404");
    expect(await t.store.softwareInstallers.count()).toBe(0);
    expect((await t.post("/software/svc_maintained_apps", { svc_maintained_app_id: 99, team_id: team })).status).toBe(
      404,
    );
  });

  it("are not for users of other teams", async () => {
    const other = await makeTeam(t, "Others");
    const { token } = await makeUser(t, { teams: [{ id: other.id, role: "maintainer" }] });
    const id = (await appOf())!.id;
    const reply = await t.as(token).post("/software/svc_maintained_apps", { svc_maintained_app_id: id, team_id: team });
    expect(reply.status).toBe(403);
  });

  it("follow the catalogue, with its scripts but not with those of users", async () => {
    const title = await added();
    const own = await added({ team_id: 0, install_script: "#!/bin/sh\nown" });
    publish("1.1", "1.0");
    await follow();
    expect(await packageOf(title)).toMatchObject({
      version: "1.1",
      name: "One 1.1.dmg",
      install_script: "#!/bin/sh\n# 1.1",
    });
    const rows = await t.store.softwareInstallers.list({ where: eq("title_id", own) });
    expect(rows.map(({ version, install_script }) => [version, install_script])).toEqual([
      ["1.1", "#!/bin/sh\n# 1.1"],
      ["1.1", "#!/bin/sh\nown"],
    ]);
    const requests = server.requests.length;
    await follow();
    expect(server.requests.length).toBe(requests);
    // A version that cannot be downloaded changes nothing.
    publish("2.0", "1.1");
    delete files["2.0"];
    await follow();
    expect((await packageOf(title)).version).toBe("1.1");
  });

  it("stay at the version that they are pinned to", async () => {
    publish("1.1", "1.0");
    await follow();
    const title = await added();
    const pinned = await pin(title, "1.0");
    expect(((await pinned.json()) as { software_installer: Package }).software_installer).toMatchObject({
      version: "1.0",
      pinned_version: "1.0",
    });
    await follow();
    expect((await packageOf(title)).version).toBe("1.0");
    expect((await pin(title, "^1")).status).toBe(200);
    publish("2.0", "1.1", "1.0");
    await follow();
    expect(await packageOf(title)).toMatchObject({ version: "1.1", pinned_version: "^1" });
    expect((await pin(title, "")).status).toBe(200);
    expect((await packageOf(title)).version).toBe("2.0");
    const unknown = await pin(title, "3.0");
    expect([unknown.status, await reasonOf(unknown)]).toEqual([
      422,
      "the catalogue has no such version of One, but these: 2.0, 1.1, 1.0",
    ]);
    const both = await t.patch(`/software/titles/${title}/package`, {
      team_id: team,
      version: "1.0",
      self_service: true,
    });
    expect([both.status, await reasonOf(both)]).toEqual([422, "must be the only change, without self_service"]);
  });
});
