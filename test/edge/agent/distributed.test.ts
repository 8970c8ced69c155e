import { beforeEach, describe, expect, test } from "vitest";
import { StoreUnavailable } from "../../../src/server/platform/store/store.ts";
import { startApp, type TestApp } from "../../support/app.ts";
import { bothEngines, rulesEngines } from "../../support/engines.ts";
import { enroll, makeSecret, type Send, SimulatedAgent, throughApp } from "./agents.ts";

const READ = "/api/v1/qengine/distributed/read";
const WRITE = "/api/v1/qengine/distributed/write";
const HOUR = 3_600_000;
const IDLE = { queries: {}, discovery: {} };

describe.each(bothEngines)("distributed queries on %s", (engine) => {
  let t: TestApp;
  let send: Send;
  beforeEach(async () => {
    t = await startApp({ engine, settings: { max_jitter_percent: 0 } });
    send = throughApp(t);
    await makeSecret(t);
  });
  const host = async () => (await t.store.hosts.list())[0]!;
  const shown = async () => {
    await t.agent.flush();
    // biome-ignore lint/suspicious/noExplicitAny: the body of any endpoint
    return ((await (await t.get(`/hosts/${(await host()).id}`)).json()) as any).host;
  };
  const labelsOf = async () => (await shown()).labels.map(({ name }: { name: string }) => name).sort();
  const labelId = async (name: string) => (await t.store.labels.list()).find((label) => label.name === name)!.id;
  const read = async (node_key: string) => (await send(READ, { node_key })).json;
  const write = async (node_key: string, queries: object, statuses: object = {}) => {
    const reply = await send(WRITE, { node_key, queries, statuses, messages: {}, stats: {} });
    expect(reply).toMatchObject({ status: 200, text: "{}" });
  };

  test.each([
    ["linux", "deb_packages|rpm_packages"],
    ["darwin", "apps"],
    ["windows", "programs"],
  ] as const)("a %s host reports its complete inventory, and is idle until it is due again", async (family, source) => {
    const agent = new SimulatedAgent(send, family);
    await agent.enroll();
    const work = await agent.read();
    const names = Object.keys(work.queries);
    for (const name of names) {
      expect(work.queries[name]).toBeTruthy();
      expect(work.discovery[name]).toBeTruthy();
    }
    expect(names).toContain("svc_detail_query_os_version");
    expect(names).toContain("svc_no_policies_wildcard");
    expect(names).toContain(`svc_label_query_${await labelId("All Hosts")}`);
    await agent.poll();

    const seen = await shown();
    expect(seen).toMatchObject({
      hostname: agent.machine.hostname,
      uuid: agent.machine.uuid,
      hardware_serial: agent.machine.serial,
      qengine_version: agent.machine.agentVersion,
      refetch_requested: false,
      detail_updated_at: t.clock.iso(),
      label_updated_at: t.clock.iso(),
      policy_updated_at: t.clock.iso(),
      software_updated_at: t.clock.iso(),
      distributed_interval: 10,
      config_tls_refresh: 60,
      logger_tls_period: 10,
      status: "online",
    });
    expect(seen.os_version).not.toBe("");
    expect(seen.memory).toBeGreaterThan(1e9);
    expect(seen.uptime).toBeGreaterThan(2e15);
    expect(seen.gigs_total_disk_space).toBeGreaterThan(10);
    expect(seen.users.length).toBeGreaterThan(0);
    expect(seen.software.length).toBeGreaterThan(50);
    expect(seen.software.some((item: { source: string }) => source.split("|").includes(item.source))).toBe(true);
    expect(await labelsOf()).toContain(family === "linux" ? "All Linux" : family === "darwin" ? "macOS" : "MS Windows");

    expect(await agent.read()).toEqual(IDLE);
    t.clock.advance(HOUR);
    expect(await agent.read()).toEqual(IDLE);
    t.clock.advance(1);
    expect(Object.keys((await agent.read()).queries).sort()).toEqual(
      expect.arrayContaining(["svc_detail_query_uptime", "svc_no_policies_wildcard"]),
    );
  });

  test("an inventory that changes the host causes no further reading of its row; a change by others does", async () => {
    const agent = new SimulatedAgent(send, "linux");
    await agent.enroll();
    await agent.poll();
    let reads = 0;
    const { list, getMany } = t.store.hosts;
    t.store.hosts.list = (...given) => {
      reads++;
      return list(...given);
    };
    t.store.hosts.getMany = (...given) => {
      reads++;
      return getMany(...given);
    };
    expect((await agent.read()).queries).toEqual({});
    expect(reads).toBe(0);
    t.store.hosts.list = list;
    t.store.hosts.getMany = getMany;
    await t.post(`/hosts/${(await host()).id}/refetch`);
    expect(Object.keys((await agent.read()).queries)).toContain("svc_detail_query_os_version");
  });

  test("an unchanged inventory does not write software, details or labels again", async () => {
    const agent = new SimulatedAgent(send, "linux");
    await agent.enroll();
    await agent.poll();
    const state = async () => ({
      software: await t.store.hostSoftware.pick(["id", "revision"]),
      versions: await t.store.software.max("revision"),
      details: await t.store.hostDetails.pick(["id", "revision"]),
      labels: await t.store.labelMembers.pick(["id", "revision"]),
    });
    const before = await state();
    const changedAt = t.clock.iso();
    t.clock.advance(HOUR + 1);
    await agent.poll();
    expect(await state()).toEqual(before);
    expect(await host()).toMatchObject({ detail_updated_at: t.clock.iso(), software_updated_at: changedAt });
  });

  test("software: missing items are removed from the host, and a failed source keeps its items", async () => {
    const key = await enroll(send);
    const deb = (...names: string[]) => names.map((name) => ({ name, version: "1.0", arch: "amd64" }));
    const npm = [{ name: "left-pad", version: "1.3.0", path: "/usr/lib/node_modules/left-pad" }];
    const software = async () =>
      (await shown()).software.map(({ name, source }: { name: string; source: string }) => `${source}:${name}`);

    await write(key, { svc_detail_query_software_deb: deb("curl", "zsh"), svc_detail_query_software_npm: npm });
    expect(await software()).toEqual(["deb_packages:curl", "npm_packages:left-pad", "deb_packages:zsh"]);
    await write(
      key,
      { svc_detail_query_software_deb: deb("curl"), svc_detail_query_software_npm: [] },
      { svc_detail_query_software_npm: 1 },
    );
    expect(await software()).toEqual(["deb_packages:curl", "npm_packages:left-pad"]);
    expect((await shown()).software[1].installed_paths).toEqual(["/usr/lib/node_modules/left-pad"]);
    await write(key, { svc_detail_query_software_npm: [] });
    expect(await software()).toEqual(["deb_packages:curl"]);
    expect(await t.store.softwareTitles.count()).toBe(3);
  });

  test("software: each host shows its own paths, wherever others have the same version", async () => {
    const npm = (paths: readonly string[]) => paths.map((path) => ({ name: "left-pad", version: "1.3.0", path }));
    const reported: Record<string, readonly string[]> = {
      ada: ["/home/ada/npm/left-pad"],
      bob: ["/home/bob/npm/left-pad"],
      none: [],
      system: ["/usr/lib/left-pad"],
      both: ["/home/bob/npm/left-pad", "/home/eve/npm/left-pad"],
    };
    const keys = new Map<string, string>();
    for (const [name, paths] of Object.entries(reported)) {
      const system_info = { hostname: name, uuid: name, hardware_serial: name };
      keys.set(name, await enroll(send, { host_identifier: name, host_details: { system_info } }));
      await write(keys.get(name)!, { svc_detail_query_software_npm: npm(paths.length === 0 ? [""] : paths) });
    }
    const pathsOf = async (name: string): Promise<string[]> => {
      await t.agent.flush();
      const found = (await t.store.hosts.list()).find(({ hostname }) => hostname === name)!;
      const software = async (path: string): Promise<unknown> => (await t.get(`/hosts/${found.id}${path}`)).json();
      const { host } = (await software("")) as { host: { software: { installed_paths: string[] }[] } };
      const [{ installed_paths }] = host.software as [{ installed_paths: string[] }];
      expect(await software("/software?query=left-pad")).toMatchObject({
        software: [{ installed_versions: [{ installed_paths }] }],
      });
      return installed_paths;
    };
    for (const [name, paths] of Object.entries(reported)) expect(await pathsOf(name), name).toEqual(paths);

    // What a failed source reported before is kept, even if others report another home folder.
    const python = [{ name: "six", version: "1", path: "/home/zoe/six" }];
    await write(
      keys.get("ada")!,
      { svc_detail_query_software_npm: [], svc_detail_query_software_python: python },
      { svc_detail_query_software_npm: 1 },
    );
    expect(await pathsOf("ada")).toEqual(reported.ada);
    await write(keys.get("ada")!, { svc_detail_query_software_npm: npm(["/home/zoe/npm/left-pad"]) });
    expect(await pathsOf("ada")).toEqual(["/home/zoe/npm/left-pad"]);
  });

  test("software_updated_at is the time of the last change, without results in another order and failed ones", async () => {
    const key = await enroll(send);
    const [curl, zsh] = ["curl", "zsh"].map((name) => ({ name, version: "1.0" }));
    const npm = { name: "left-pad", version: "1.3.0", path: "/usr/lib/node_modules/left-pad" };
    const updatedAfter = async (queries: object, statuses = {}) => {
      t.clock.advance(60_000);
      await write(key, queries, statuses);
      return Date.parse((await host()).software_updated_at ?? "") === t.clock.now();
    };
    expect(await updatedAfter({ svc_detail_query_software_deb: [curl, zsh] })).toBe(true);
    expect(await updatedAfter({ svc_detail_query_software_deb: [zsh, curl] })).toBe(false);
    expect(await updatedAfter({ svc_detail_query_software_deb: [] }, { svc_detail_query_software_deb: 1 })).toBe(false);
    expect(await updatedAfter({ svc_detail_query_software_npm: [npm] })).toBe(true);
    expect(await updatedAfter({ svc_detail_query_software_npm: [{ ...npm, path: "/opt/left-pad" }] })).toBe(true);
    expect(await updatedAfter({ svc_detail_query_software_deb: [zsh] })).toBe(true);
    expect(await updatedAfter({ svc_detail_query_uptime: [{ total_seconds: "60" }] })).toBe(false);
  });

  test("software that a job has deleted in the meantime is created again", async () => {
    const key = await enroll(send);
    const told = { svc_detail_query_software_deb: [{ name: "curl", version: "1.0" }] };
    await write(key, told);
    await t.store.hostSoftware.update({ where: { op: "all" }, set: { fingerprint: "" } });
    await t.store.software.delete({ op: "all" });
    await t.store.softwareTitles.delete({ op: "all" });
    await t.store.notify("svc_software", "");
    await expect
      .poll(async () => {
        await write(key, told);
        await t.store.hostSoftware.update({ where: { op: "all" }, set: { fingerprint: "" } });
        return (await shown()).software.length;
      })
      .toBe(1);
  });

  test("labels: a row adds the host, no row removes it, a failed result and an unknown label change nothing", async () => {
    const key = await enroll(send);
    const [linux, ubuntu] = [await labelId("All Linux"), await labelId("Ubuntu Linux")];
    const answers = (yes: object[] | string) => ({
      [`svc_label_query_${linux}`]: yes,
      [`svc_label_query_${ubuntu}`]: [{ 1: "1" }],
      svc_label_query_99999: [{ 1: "1" }],
      svc_label_query_x: [{ 1: "1" }],
    });
    await write(key, answers([{ 1: "1" }]));
    expect(await labelsOf()).toEqual(["All Hosts", "All Linux", "Ubuntu Linux"]);
    expect(await host()).toMatchObject({ label_updated_at: t.clock.iso(), detail_updated_at: null });
    await write(key, answers([]), { [`svc_label_query_${linux}`]: 1, [`svc_label_query_${ubuntu}`]: "0" });
    expect(await labelsOf()).toEqual(["All Hosts", "All Linux", "Ubuntu Linux"]);
    await write(key, answers(""));
    expect(await labelsOf()).toEqual(["All Hosts", "Ubuntu Linux"]);
  });

  test("while the store cannot write, results are refused, and accepted when they are sent again", async () => {
    const agent = new SimulatedAgent(send, "linux");
    await agent.enroll();
    const body = agent.answers(await agent.read());
    const { tx } = t.store;
    Object.assign(t.store, { tx: () => Promise.reject(new StoreUnavailable("disk full")) });
    const refused = await send(WRITE, body);
    Object.assign(t.store, { tx });
    expect(refused.status).toBe(503);
    expect(Object.keys(refused.json)).toEqual(["error"]);
    expect((await host()).detail_updated_at).toBeNull();
    expect((await send(WRITE, body)).text).toBe("{}");
    expect((await host()).detail_updated_at).toBe(t.clock.iso());
  });

  test("a deleted host's key becomes unknown immediately, and the host may enroll again", async () => {
    const key = await enroll(send);
    await read(key);
    expect((await t.delete(`/hosts/${(await host()).id}`)).status).toBe(200);
    await expect.poll(async () => (await read(key)).node_invalid).toBe(true);
    await enroll(send);
  });

  if (!rulesEngines.includes(engine)) return;

  test("a label is sent only to hosts of its platform", async () => {
    const key = await enroll(send);
    const names = Object.keys((await read(key)).queries);
    expect(names).toContain(`svc_label_query_${await labelId("Ubuntu Linux")}`);
    expect(names).not.toContain(`svc_label_query_${await labelId("macOS")}`);
    expect(names).not.toContain(`svc_label_query_${await labelId("iOS")}`);
  });

  test("refetch requests everything once; only results with details end it", async () => {
    const agent = new SimulatedAgent(send, "linux");
    await agent.enroll();
    await agent.poll();
    expect(await agent.read()).toEqual(IDLE);
    const { id } = await host();
    expect((await t.post(`/hosts/${id}/refetch`)).status).toBe(200);
    const asked = expect.objectContaining({ svc_detail_query_os_version: expect.any(String) });
    await expect.poll(async () => (await agent.read()).queries).toEqual(asked);

    await write(agent.key, { svc_distributed_query_7: [{ a: "1" }], svc_no_policies_wildcard: [{ 1: "1" }] });
    expect((await host()).refetch_requested).toBe(true);
    await agent.poll();
    expect((await host()).refetch_requested).toBe(false);
    expect(await agent.read()).toEqual(IDLE);
  });

  test("failed details count as results, and change nothing else", async () => {
    const key = await enroll(send);
    const before = await host();
    const names = ["os_version", "system_info", "uptime"].map((name) => `svc_detail_query_${name}`);
    await write(
      key,
      Object.fromEntries(names.map((name) => [name, ""])),
      Object.fromEntries(names.map((name) => [name, 1])),
    );
    const { hostname, platform, os_version, uuid } = before;
    expect(await host()).toMatchObject({
      hostname,
      platform,
      os_version,
      uuid,
      refetch_requested: false,
      detail_updated_at: t.clock.iso(),
    });
  });

  test("a host of unknown platform polls faster, and gets queries again once its platform is known", async () => {
    const key = await enroll(send, { host_details: undefined, platform_type: "0" });
    expect((await read(key)).accelerate).toBe(10);
    await write(key, {
      svc_detail_query_os_version: [{ name: "Ubuntu", version: "22.04", platform: "ubuntu" }],
      svc_detail_query_system_info: [{ hostname: "h1" }],
    });
    expect(await host()).toMatchObject({ platform: "ubuntu", refetch_requested: true });
    const again = await read(key);
    expect(again.accelerate).toBeUndefined();
    expect(Object.keys(again.queries)).toContain("svc_detail_query_software_deb");
    await write(key, { svc_detail_query_uptime: [{ total_seconds: "60" }] });
    expect((await host()).refetch_requested).toBe(false);
  });

  test("a host without a name polls faster, also while nothing is due", async () => {
    const key = await enroll(send, { host_details: { os_version: { platform: "ubuntu" } } });
    const names = Object.keys((await read(key)).queries);
    await write(
      key,
      Object.fromEntries(names.map((name) => [name, ""])),
      Object.fromEntries(names.map((name) => [name, 1])),
    );
    expect(await read(key)).toEqual({ ...IDLE, accelerate: 10 });
    await write(key, { svc_detail_query_system_info: [{ hostname: "h1" }] });
    expect(await read(key)).toEqual(IDLE);
  });

  test("additional queries are sent, and stored by name; results with other names are not", async () => {
    const queries = { kernel: "SELECT version FROM kernel_info;" };
    expect((await t.patch("/config", { features: { additional_queries: queries } })).status).toBe(200);
    const key = await enroll(send);
    await expect
      .poll(async () => (await read(key)).queries.svc_additional_query_kernel)
      .toBe("SELECT version FROM kernel_info;");
    await write(key, {
      svc_additional_query_kernel: [{ version: "6.1" }],
      svc_additional_query_other: [{ a: "1" }],
      svc_detail_query_uptime: [{ total_seconds: "60" }],
    });
    expect((await shown()).additional).toEqual({ kernel: [{ version: "6.1" }] });
  });

  test("more software and longer text than any real host has is truncated, not refused", async () => {
    const key = await enroll(send);
    const rows = Array.from({ length: 12_000 }, (_, i) => ({ name: `package-${i}`, version: "1" }));
    await write(key, {
      svc_detail_query_software_deb: rows,
      svc_detail_query_system_info: [{ hostname: "h".repeat(100_000), cpu_brand: "\u0000\ud800x" }],
    });
    expect((await t.store.hostSoftware.list())[0]!.software_ids).toHaveLength(10_000);
    expect((await host()).hostname.length).toBeLessThan(1_000);
  });
});
