// A Mac is one host, whatever makes it known first: the business portal, the query agent, the managed agent, or device
// management.
import { beforeAll, describe, expect, it } from "vitest";
import type { PlistDict } from "../../src/plist/value.ts";
import { stringIn } from "../../src/plist/value.ts";
import { wholeProfile } from "../../src/server/devices/apple/portal/assign.ts";
import { runJob } from "../../src/server/edge/jobs/start.ts";
import { eq } from "../../src/server/platform/store/query.ts";
import { enroll as enrollAgent, makeSecret, throughApp } from "../edge/agent/agents.ts";
import { startApp, type TestApp } from "../support/app.ts";
import { allowEnrollment } from "../support/apple.ts";
import { installProfile } from "../support/apple-device.ts";
import { amount, bothEngines, rulesEngines } from "../support/engines.ts";
import { type DeviceAuthority, deviceAuthority, machineInfo } from "../support/machine-info.ts";
import { makeTeam } from "../support/make.ts";
import { ManagedAgent } from "../support/managed.ts";
import { makeAbmToken, type Portal, startPortal } from "../support/portal.ts";

const UUID = "5F0C1E2A-77B1-4D4C-8C6B-3A3A1B0F9E11";
const SERIAL = "C02ONEHOST";

let apple: DeviceAuthority;
beforeAll(async () => {
  apple = await deviceAuthority();
});

interface Mac {
  readonly t: TestApp;
  readonly portal: Portal;
  /** How the query agent identifies itself. */
  readonly identifier: string;
}

type Step = "portal" | "query agent" | "managed agent" | "device";

async function start(engine: "lowdb" | "postgres", identifier: string): Promise<Mac> {
  const portal = await startPortal();
  const t = await startApp({ engine, settings: { apple_device_ca: apple.file, dep_url: portal.url } });
  await allowEnrollment(t);
  await makeAbmToken(t, portal.credentials);
  await makeSecret(t);
  return { t, portal, identifier };
}

const details = (uuid: string, serial: string) => ({
  os_version: { name: "macOS", version: "15.1", platform: "darwin", platform_like: "darwin" },
  osquery_info: { uuid, instance_id: "instance", version: "5.12.1" },
  system_info: { hostname: "mac.example", uuid, hardware_serial: serial, computer_name: "mac" },
});

const profile = async (t: TestApp, info: PlistDict): Promise<Buffer> => {
  const isAssigned = (await t.store.portalDevices.count(eq("serial", stringIn(info, "SERIAL")!))) > 0;
  if (!isAssigned) return Buffer.from(await (await t.get("/enrollment_profiles/manual")).arrayBuffer());
  const { pathname, search } = new URL(String((await wholeProfile(t.services, {})).url));
  const body = new Uint8Array(await apple.sign(info));
  return Buffer.from(await (await t.raw(`${pathname}${search}`, { method: "POST", body })).arrayBuffer());
};

async function enrollDevice({ t }: Mac) {
  const file = await profile(t, machineInfo(SERIAL, { UDID: UUID }));
  const device = await installProfile(t, file, { UDID: UUID, SerialNumber: SERIAL });
  expect((await device.authenticate()).status).toBe(200);
  expect((await device.tokenUpdate()).status).toBe(200);
  return device;
}

const steps: Record<Step, (mac: Mac) => Promise<unknown>> = {
  async portal({ t, portal }) {
    portal.devices = [{ serial_number: SERIAL, device_family: "Mac", model: "MacBook Pro" }];
    await runJob(t.services, "dep_sync");
  },
  "query agent": ({ t, identifier }) =>
    enrollAgent(throughApp(t), {
      host_identifier: identifier,
      platform_type: "21",
      // Agents write the UUID in their own way.
      host_details: details(UUID.toLowerCase(), SERIAL),
    }),
  "managed agent": ({ t, identifier }) =>
    new ManagedAgent(t, {
      hardware_uuid: UUID,
      hardware_serial: SERIAL,
      platform: "darwin",
      qengine_identifier: identifier,
    }).enroll("enroll-me-please"),
  device: enrollDevice,
};
const all = Object.keys(steps) as Step[];

const ordersOf = (of: readonly Step[]): Step[][] =>
  of.length === 0
    ? [[]]
    : of.flatMap((first) => ordersOf(of.filter((one) => one !== first)).map((rest) => [first, ...rest]));

async function hostsOf({ t }: Mac) {
  return (await t.store.hosts.list()).map(({ team_id, hardware_serial }) => ({ team_id, hardware_serial }));
}

/** All steps in this order, a transfer to a team in between, then all of them once more. */
async function walk(mac: Mac, order: readonly Step[], transferAfter: number) {
  const { t } = mac;
  let team_id: number | null = null;
  for (const [i, step] of order.entries()) {
    await steps[step](mac);
    expect(await hostsOf(mac), `after ${step}`).toEqual([{ team_id, hardware_serial: SERIAL }]);
    if (i !== transferAfter) continue;
    team_id = (await makeTeam(t, "Macs")).id;
    const [host] = await t.store.hosts.list();
    await t.post("/hosts/transfer", { team_id, hosts: [host!.id] });
  }
  for (const step of order) {
    await steps[step](mac);
    expect(await hostsOf(mac), `after ${step} again`).toEqual([{ team_id, hardware_serial: SERIAL }]);
  }
  const [host] = await t.store.hosts.list();
  expect(await t.store.hostMdm.get(host!.id)).toMatchObject({ connected_to_svc: true });
  expect([host!.node_key_hash !== null, await t.store.managedAgents.count()]).toEqual([true, 1]);
  expect(await t.store.portalDevices.first({})).toMatchObject({ host_id: host!.id });
  expect(await t.store.appleEnrollments.first({})).toMatchObject({ host_id: host!.id });
}

describe.each(rulesEngines)("a Mac on %s", (engine) => {
  const orders = ordersOf(all).flatMap((order, i) =>
    i % amount(3, 1) === 0 ? [{ order, title: order.join(", "), transferAfter: i % 4 }] : [],
  );
  for (const identifier of [UUID, "instance-7"])
    it.each(orders)(
      `is one host, identified as ${identifier}, in the order $title`,
      async ({ order, transferAfter }) => {
        await walk(await start(engine, identifier), order, transferAfter);
      },
    );

  it("stays one host when it leaves device management, and the portal, and enrolls again", async () => {
    const mac = await start(engine, "instance-7");
    const { t, portal } = mac;
    for (const step of all) await steps[step](mac);
    portal.devices = [];
    portal.changes.push({ serial_number: SERIAL, device_family: "Mac", op_type: "deleted", op_date: t.clock.iso() });
    await runJob(t.services, "dep_sync");
    await t.store.appleEnrollments.update({ where: eq("is_user", false), set: { state: "removed" } });
    for (const step of ["query agent", "managed agent"] as const) await steps[step](mac);
    expect(await hostsOf(mac)).toHaveLength(1);
    await t.store.portalDevices.delete(eq("serial", SERIAL));
    await steps.device(mac);
    expect(await hostsOf(mac)).toHaveLength(1);
  });
});

describe.each(bothEngines)("a Mac of the business portal on %s", (engine) => {
  it("is not taken to another team by an agent's secret, and no second host appears", async () => {
    const mac = await start(engine, UUID);
    const { t } = mac;
    const team = await makeTeam(t, "Others");
    await makeSecret(t, "secret-of-others", team.id);
    await steps.portal(mac);
    const send = throughApp(t);
    const host_details = details(UUID, SERIAL);
    await expect(
      enrollAgent(send, { enroll_secret: "secret-of-others", host_identifier: UUID, host_details }),
    ).rejects.toThrow("belongs to another team");
    expect(await hostsOf(mac)).toEqual([{ team_id: null, hardware_serial: SERIAL }]);
  });

  it("is another host than a machine that only claims its serial number", async () => {
    const mac = await start(engine, UUID);
    const { t } = mac;
    for (const step of ["portal", "device"] as const) await steps[step](mac);
    await enrollAgent(throughApp(t), { host_identifier: "other", host_details: details("ANOTHER-UUID", SERIAL) });
    expect(await hostsOf(mac)).toHaveLength(2);
  });

  it("stays pending, whatever its agent reports, until it enrolls; and becomes pending again when it leaves", async () => {
    const mac = await start(engine, UUID);
    const { t } = mac;
    await steps.portal(mac);
    const node_key = await steps["query agent"](mac);
    const send = throughApp(t);
    const report = async (mdm: Record<string, string>) => {
      const queries = { svc_detail_query_mdm_darwin: [mdm] };
      const written = { node_key, queries, statuses: {}, messages: {}, stats: {} };
      expect((await send("/api/v1/qengine/distributed/write", written)).status).toBe(200);
    };
    const [host] = await t.store.hosts.list();
    const row = async () => (await t.store.hostMdm.get(host!.id))!;
    const status = async () => (await row()).enrollment_status;
    await report({ enrolled: "false", installed_from_dep: "false", server_url: "" });
    expect(await row()).toMatchObject({ enrollment_status: "Pending", installed_from_dep: true });
    const device = await enrollDevice(mac);
    expect(await status()).toBe("On (automatic)");
    const { solution_id } = await row();
    const server_url = "https://svc.example.com/mdm/vendora/mdm";
    await report({ enrolled: "true", installed_from_dep: "true", server_url, payload_identifier: "com.svc.mdm" });
    expect(await row(), "the agent reports the same product").toMatchObject({ solution_id });
    expect((await device.checkIn("CheckOut")).status).toBe(200);
    expect(await status()).toBe("Pending");
  });
});
