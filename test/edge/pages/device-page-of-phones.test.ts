// The page of an iPhone or iPad: its hardware UUID, and the identity certificate that only the device has.
import { once } from "node:events";
import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { toNodeHandler } from "h3/node";
import { describe, expect, it } from "vitest";
import { createApp } from "../../../src/server/app.ts";
import { eq } from "../../../src/server/platform/store/query.ts";
import { startApp, type TestApp } from "../../support/app.ts";
import { makePhone } from "../../support/apple.ts";
import { afterEveryTest } from "../../support/ends.ts";
import { rulesEngines } from "../../support/engines.ts";
import { makeHost } from "../../support/make.ts";

const UUID = "00008110-000A1D0C3E91801E";
const SERIAL = "0a1b2c3d4e5f";

/** Trusted proxies are known by their connections. */
async function listening(t: TestApp) {
  const app = createApp(t.services, { agent: t.agent, stop: async () => {} });
  const server = createServer(toNodeHandler(app) as RequestListener).listen(0, "127.0.0.1");
  await once(server, "listening");
  afterEveryTest(() => void server.close());
  const { port } = server.address() as AddressInfo;
  return (path: string, serial?: string) =>
    fetch(`http://127.0.0.1:${port}/api/v1/svc${path}`, {
      headers: serial === undefined ? {} : { "x-client-cert-serial": serial },
    });
}

async function makeIdentity(t: TestApp, serial: string, hostId: number): Promise<number> {
  const { id } = await t.store.deviceIdentities.insert({
    created_at: t.clock.iso(),
    serial,
    fingerprint: serial.padEnd(64, "0"),
    certificate: "",
    subject: "CN=device",
    not_valid_before: "2020-01-01T00:00:00.000Z",
    not_valid_after: "2049-01-01T00:00:00.000Z",
    purpose: "apple",
    platform: "ios",
    team_id: null,
    facts: {},
    hardware_serial: null,
    hardware_uuid: UUID,
    host_id: hostId,
    renews: null,
    revoked_at: null,
    transaction_key: null,
  });
  return id;
}

describe.each(rulesEngines)("the page of a phone on %s", (engine) => {
  it("is shown to the device: by its UUID and the serial number of its current certificate from a trusted proxy", async () => {
    const t = await startApp({ engine, settings: { trusted_proxies: "127.0.0.1" } });
    const host = await makeHost(t, { uuid: UUID, hardware_serial: "PHONE1" });
    await makePhone(t, host.id);
    const identity_id = await makeIdentity(t, SERIAL, host.id);
    await t.store.appleEnrollments.update({ where: eq("host_id", host.id), set: { identity_id } });
    await makeIdentity(t, "0f0f", host.id);
    const get = await listening(t);

    for (const uuid of [UUID, UUID.toLowerCase()]) {
      const shown = await get(`/device/${uuid}`, SERIAL);
      expect(shown.status, await shown.clone().text()).toBe(200);
      expect(((await shown.json()) as { host: { id: number } }).host.id).toBe(host.id);
    }
    for (const [what, path, serial] of [
      ["without a certificate", `/device/${UUID}`, undefined],
      ["an unknown certificate", `/device/${UUID}`, "0abc"],
      ["an earlier certificate of the device", `/device/${UUID}`, "0f0f"],
      ["another UUID", "/device/00008110-000A1D0C3E918000", SERIAL],
      ["the certificate alone", "/device/x", SERIAL],
    ] as const)
      expect((await get(path, serial)).status, what).toBe(401);
    await t.store.hosts.updateEach([{ id: host.id, platform: "darwin" }]);
    expect((await get(`/device/${UUID}`, SERIAL)).status, "a Mac has a token").toBe(401);
    await t.store.hosts.updateEach([{ id: host.id, platform: "ipados" }]);
    expect((await get(`/device/${UUID}`, SERIAL)).status).toBe(200);
    Object.assign(t.services.settings, { trusted_proxies: [] });
    expect((await get(`/device/${UUID}`, SERIAL)).status, "from anybody").toBe(401);
  });
});
