// A host that signs its requests is found by its key only with its signature, whichever endpoint takes the key.
import { describe, expect, it } from "vitest";
import type { AnyEndpoint } from "../../../src/api/endpoint.ts";
import { tokenHash } from "../../../src/server/platform/core/random.ts";
import { eq } from "../../../src/server/platform/store/query.ts";
import { protocolsOf } from "../../../src/server/protocols.ts";
import { routes } from "../../../src/server/routes.ts";
import { startApp, type TestApp } from "../../support/app.ts";
import { bothEngines } from "../../support/engines.ts";
import { askForIdentity, type HostIdentity, signedCall } from "../../support/host-identity.ts";
import { addSecret, makeManaged, SECRET } from "../../support/managed.ts";
import { enrollWindows, factsOf, requestToken, turnOnWindowsMdm, userToken } from "../../support/windows-device.ts";

/** What the endpoints of managed agents need besides the key, so that they get as far as the check of the key. */
const bodies: Readonly<Record<string, object>> = {
  "/agent/config": {},
  "/agent/device_token": { device_auth_token: "f81d4fae-7dec-11d0-a765-00a0c91e6bf6" },
  "/agent/scripts/request": { execution_id: "none" },
  "/agent/scripts/result": { execution_id: "none", exit_code: 0 },
  "/agent/software_install/details": { install_uuid: "none" },
  "/agent/software_install/package?alt=media": { installer_id: 1 },
  "/agent/software_install/result": { install_uuid: "none" },
  "/agent/disk_encryption_key": { encryption_key: "key" },
  "/agent/luks_data": { passphrase: "p", salt: "s", key_slot: 1 },
  "/agent/device_mapping": { email: "ann@example.com" },
  "/agent/setup_experience/init": {},
  "/agent/setup_experience/status": {},
};

interface Call {
  readonly method: string;
  readonly path: string;
  readonly body: object;
  /** In the header, or else in the body. */
  readonly inHeader: boolean;
}

const takesKey = ({ body }: AnyEndpoint) => "shape" in body && "agent_node_key" in (body.shape as object);
const takesHeader = ({ access, path }: AnyEndpoint) =>
  path.startsWith("/svcd/") || (typeof access === "object" && access.nodeKey === true);

function calls({ services }: TestApp): Call[] {
  const served = [...protocolsOf(services.settings).flatMap((protocol) => protocol.routes), ...routes];
  const endpoints = [...new Set(served.map(({ endpoint }) => endpoint))];
  const keyed = endpoints.filter(takesKey).map(({ method, path }): Call => {
    const known = Object.keys(bodies).find((one) => one.split("?")[0] === path);
    if (known === undefined) throw new Error(`${path} takes the key of an agent: add its body to this test`);
    return { method, path: known, body: bodies[known]!, inHeader: false };
  });
  const headers = endpoints.filter(takesHeader).map(
    ({ method, path }): Call => ({
      method,
      path: path.replace(":id", "1"),
      body: path.endsWith("/status") ? { operation_type: "install", status: "verified" } : {},
      inHeader: true,
    }),
  );
  expect(keyed).toHaveLength(Object.keys(bodies).length);
  expect(headers.map(({ method, path }) => `${method} ${path}`)).toEqual(
    expect.arrayContaining(["GET /certificates", "GET /certificates/1", "GET /svcd/certificates/1"]),
  );
  return [...keyed, ...headers];
}

async function newHost(t: TestApp, uuid: string, key: number, platform = "ubuntu") {
  const identity = (await askForIdentity(t, { secret: SECRET, subject: `/CN=${uuid}`, key }))!;
  const details = { hardware_uuid: uuid, hardware_serial: `S-${uuid}`, hostname: uuid, platform };
  const { status, json } = await signedCall(t, identity, "/enroll", {
    enroll_secret: SECRET,
    computer_name: uuid,
    hardware_model: "M",
    ...details,
  });
  expect(status, JSON.stringify(json)).toBe(200);
  const host = (await t.store.hosts.first({ where: eq("hardware_serial", `S-${uuid}`) }))!;
  return { identity, hostId: host.id, key: json.agent_node_key as string };
}

const prefixes = (path: string) =>
  path.startsWith("/agent/")
    ? [["/api/v1/svc", path] as const, ["/api/svc/orbit", path.slice("/agent".length)] as const]
    : [[path.startsWith("/svcd/") ? "/api" : "/api/v1/svc", path] as const];

async function sent(t: TestApp, { method, path, body, inHeader }: Call, key: string, identity: HostIdentity | null) {
  const statuses: number[] = [];
  for (const [prefix, below] of prefixes(path)) {
    const authorization = inHeader ? { authorization: `Node key ${key}` } : {};
    const whole = inHeader ? body : { ...body, agent_node_key: key };
    const unsigned = { changed: () => ({}) };
    const { status } = await signedCall(t, identity ?? someone!, below, whole, {
      ...authorization,
      ...(identity === null ? unsigned : {}),
      prefix,
      method,
    });
    statuses.push(status);
  }
  return statuses;
}
let someone: HostIdentity | null = null;

describe.each(bothEngines)("a key of a host that signs its requests on %s", (engine) => {
  it("opens nothing without the host's signature", async () => {
    const t = await startApp({ engine });
    await addSecret(t);
    const mine = await newHost(t, "AAAA-1", 0);
    const other = await newHost(t, "AAAA-2", 1);
    someone = other.identity;
    // The key of its query engine is not signed where queries are answered, but opens nothing else either.
    await t.store.hosts.update({ where: eq("id", mine.hostId), set: { node_key_hash: tokenHash("query-key") } });
    const plain = await makeManaged(t);
    for (const call of calls(t)) {
      const what = `${call.method} ${call.path}`;
      const is401 = expect.arrayContaining([401]);
      for (const key of call.inHeader ? [mine.key, "query-key"] : [mine.key]) {
        for (const identity of [null, other.identity])
          expect(
            new Set(await sent(t, call, key, identity)),
            `${what}, signed by ${identity ? "another" : "nobody"}`,
          ).toEqual(new Set([401]));
        expect(await sent(t, call, key, mine.identity), `${what}, signed`).not.toEqual(is401);
      }
      expect(await sent(t, call, plain.key, null), `${what}, of a host without identity`).not.toEqual(is401);
    }
  });

  it("does not enroll a Windows device: a token does, which only a signed request gets, for one device", async () => {
    const t = await startApp({ engine });
    await addSecret(t);
    await turnOnWindowsMdm(t);
    const host = await newHost(t, "AAAA-1", 0, "windows");
    const refused = await requestToken(t, userToken(host.key), factsOf());
    expect([refused.document, JSON.stringify(refused.fault)]).toEqual([
      null,
      expect.stringContaining("InvalidSecurity"),
    ]);
    const config = async () => (await signedCall(t, host.identity, "/config", { agent_node_key: host.key })).json;
    const { notifications } = await config();
    expect(notifications).toMatchObject({ windows_mdm_enrollment_token: expect.any(String) });
    const token = userToken(notifications.windows_mdm_enrollment_token);
    const device = await enrollWindows(t, token);
    expect(device.hostId).toBe(host.hostId);
    expect((await requestToken(t, token, factsOf())).document, "another device").toBeNull();
    expect((await config()).notifications).toEqual({});
    const late = await newHost(t, "AAAA-2", 1, "windows");
    const { json } = await signedCall(t, late.identity, "/config", { agent_node_key: late.key });
    t.clock.advance(11 * 60_000);
    const expired = userToken(json.notifications.windows_mdm_enrollment_token);
    expect((await requestToken(t, expired, factsOf())).document, "too late").toBeNull();
  });
});
