// Windows devices of tests: those of the simulator, with an app instead of a socket.
import type { KeyObject } from "node:crypto";
import { newKey } from "../../src/pki/x509.ts";
import { channels } from "../../src/server/platform/core/channels.ts";
import { eq } from "../../src/server/platform/store/query.ts";
import { readSection, writeSection } from "../../src/server/settings/app-config/rows.ts";
import { mdm } from "../../src/server/settings/app-config/sections/mdm.ts";
import {
  type Account,
  soapCall as deviceSoapCall,
  type EnrollmentFacts,
  enrollmentIn,
  type Post,
  requestDocument,
  requestFor,
  userToken,
} from "../../src/simulator/windows/enrollment.ts";
import { type Exchange, type Sending, Sessions } from "../../src/simulator/windows/session.ts";
import type { Envelope, SecurityToken } from "../../src/soap/envelope.ts";
import { requestTypes } from "../../src/soap/names.ts";
import { type SyncCommand, syncCommand } from "../../src/syncml/value.ts";
import type { TestApp } from "./app.ts";
import { type ManagedAgent, makeManaged } from "./managed.ts";

export { type Account, type Exchange, userToken };
export const MANAGEMENT = "/api/mdm/windows/management";

/** Turns device management on or off, like the setting. */
export async function turnOnWindowsMdm({ store, clock }: Pick<TestApp, "store" | "clock">, isOn = true): Promise<void> {
  const value = await readSection(store, mdm);
  await store.tx(async (tx) => {
    await writeSection(tx, mdm, { ...value, windows_enabled_and_configured: isOn }, clock.iso());
    await tx.notify(channels.config, mdm.name);
  });
}

/** The messages of a device, to the app without a socket. */
const postTo =
  (t: Pick<TestApp, "raw">): Post =>
  async (path, type, body) => {
    const response = await t.raw(path, { method: "POST", headers: { "content-type": type }, body });
    return { status: response.status, body: Buffer.from(await response.arrayBuffer()) };
  };

export const soapCall = (
  t: Pick<TestApp, "raw">,
  path: string,
  call: { action: string; body: string; token?: SecurityToken },
): Promise<Envelope> => deviceSoapCall(postTo(t), path, call);

/** RSA keys take long to make: devices of different tests may share one. */
let shared: Promise<KeyObject> | undefined;
export const deviceKey = (): Promise<KeyObject> => {
  shared ??= newKey();
  return shared;
};

let devices = 0;
export function factsOf(more: Record<string, string> = {}): EnrollmentFacts {
  const number = ++devices;
  return {
    DeviceID: `DEVICE-${number}`,
    HWDevID: `HARDWARE-${number}`,
    DeviceName: `DESKTOP-${number}`,
    EnrollmentType: "Full",
    DeviceType: "CIMClient_Windows",
    OSVersion: "10.0.22631.4460",
    ...more,
  };
}

/** The reply to the request: a provisioning document, or a fault. */
export async function requestToken(
  t: Pick<TestApp, "raw">,
  token: SecurityToken | undefined,
  facts: Readonly<Record<string, string>>,
  request?: SecurityToken,
  requestType: string = requestTypes.issue,
) {
  const own = request ?? requestFor(await deviceKey());
  return requestDocument(postTo(t), "/api/mdm/windows/enroll", { token, facts, request: own, requestType });
}

/** An enrolled device of the agent's host. */
export async function enrollWindows(t: TestApp, token: SecurityToken, more: Record<string, string> = {}) {
  const facts = factsOf(more);
  const { document, fault } = await requestToken(t, token, facts);
  if (document === null) throw new Error(`not enrolled: ${JSON.stringify(fault)}`);
  const { account, certificate } = enrollmentIn(document, facts);
  const row = await t.store.windowsEnrollments.first({ where: eq("device_id", facts.DeviceID) });
  // Assigned, because its nonce changes: a copy would keep the first one.
  return Object.assign(windowsDevice(t, account), { facts, certificate, document, hostId: row!.host_id });
}

/** The sessions of a device that authenticates with digests. */
export function windowsDevice(t: Pick<TestApp, "raw">, account: Account) {
  const sessions = new Sessions({ deviceId: account.deviceId, account, url: MANAGEMENT }, postTo(t));
  return {
    post: (body: string) =>
      t.raw(MANAGEMENT, { method: "POST", headers: { "content-type": "application/vnd.syncml.dm+xml" }, body }),
    send: (commands: readonly SyncCommand[], given?: Sending) => sessions.send(commands, given),
    digest: (nonce: string) => sessions.digest(nonce),
    get nonce() {
      return sessions.nonce;
    },
    /** Begins a session. */
    start: (more?: readonly SyncCommand[], given?: Sending) => sessions.start(more, given),
  };
}

export const statusFor = (cmdRef: string, cmd: string, data: string, cmdId = cmdRef.slice(-4)): SyncCommand =>
  syncCommand("Status", `s${cmdId}`, { msgRef: "1", cmdRef, cmd, data });

export const headerStatus = statusFor("0", "SyncHdr", "200", "0");

export interface ManagedWindows {
  readonly agent: ManagedAgent;
  readonly device: Awaited<ReturnType<typeof enrollWindows>>;
  readonly hostId: number;
}

/** A host with an agent and an enrolled device, while device management is turned on. */
export async function managedWindows(t: TestApp, more: Record<string, string> = {}): Promise<ManagedWindows> {
  await turnOnWindowsMdm(t);
  const agent = await makeManaged(t, { platform: "windows", ...more });
  const device = await enrollWindows(t, userToken(agent.key));
  return { agent, device, hostId: device.hostId };
}
