// A Windows device, which speaks only the wire: it enrolls with SOAP, and is managed with SyncML.
import type { KeyObject } from "node:crypto";
import { parseName } from "../../src/pki/names.ts";
import { makeRequest } from "../../src/pki/request.ts";
import { newKey } from "../../src/pki/x509.ts";
import { readSection, writeSection } from "../../src/server/app-config/rows.ts";
import { mdm } from "../../src/server/app-config/sections/mdm.ts";
import { channels } from "../../src/server/core/channels.ts";
import { eq } from "../../src/server/store/query.ts";
import { type Envelope, readEnvelope, type SecurityToken, writeEnvelope } from "../../src/soap/envelope.ts";
import { faultIn } from "../../src/soap/fault.ts";
import { actions, requestTypes, tokenTypes, valueTypes } from "../../src/soap/names.ts";
import { find, parameterOf, readProvisioning } from "../../src/soap/provisioning.ts";
import { readTokenReply, writeTokenRequest } from "../../src/soap/token.ts";
import { alerts } from "../../src/syncml/codes.ts";
import { DIGEST, digestOf } from "../../src/syncml/digest.ts";
import { readSyncml } from "../../src/syncml/read.ts";
import { isContainer, isRequest, type SyncCommand, type SyncMessage, syncCommand } from "../../src/syncml/value.ts";
import { writeSyncml } from "../../src/syncml/write.ts";
import type { TestApp } from "./app.ts";
import { type ManagedAgent, makeManaged } from "./managed.ts";

export const MANAGEMENT = "/api/mdm/windows/management";

/** As the setting does. */
export async function turnOnWindowsMdm({ store, clock }: Pick<TestApp, "store" | "clock">, isOn = true): Promise<void> {
  const value = await readSection(store, mdm);
  await store.tx(async (tx) => {
    await writeSection(tx, mdm, { ...value, windows_enabled_and_configured: isOn }, clock.iso());
    await tx.notify(channels.config, mdm.name);
  });
}

export async function soapCall(
  t: Pick<TestApp, "raw">,
  path: string,
  { action, body, token }: { action: string; body: string; token?: SecurityToken },
): Promise<Envelope> {
  const text = writeEnvelope({ action, messageId: "urn:uuid:1", to: path, body, ...(token && { token }) });
  const response = await t.raw(path, {
    method: "POST",
    headers: { "content-type": "application/soap+xml; charset=utf-8" },
    body: text,
  });
  if (response.status !== 200) throw new Error(`${path} answered ${response.status}: ${await response.text()}`);
  return readEnvelope(new Uint8Array(await response.arrayBuffer()));
}

export const userToken = (text: string): SecurityToken => ({
  valueType: tokenTypes.user,
  text: Buffer.from(text).toString("base64"),
});

/** RSA keys take long to make: devices of different tests may share one. */
let shared: Promise<KeyObject> | undefined;
export const deviceKey = (): Promise<KeyObject> => {
  shared ??= newKey();
  return shared;
};

/** A certificate request as Windows writes it, with a subject that other software would not. */
export const requestFor = async (key: KeyObject): Promise<SecurityToken> => ({
  valueType: valueTypes.pkcs10,
  text: makeRequest(parseName("/CN=B1C43CD0-1624-5FBB-8E54-34CF17DFD3A1!00"), key)
    .toString("base64")
    .replace(/.{64}/g, "$&\r\n"),
});

export interface Facts {
  readonly DeviceID: string;
  readonly HWDevID: string;
  readonly [name: string]: string;
}

let devices = 0;
export function factsOf(more: Record<string, string> = {}): Facts {
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
  const asked = {
    requestType,
    request: request ?? (await requestFor(await deviceKey())),
    context: new Map(Object.entries(facts)),
  };
  const reply = await soapCall(t, "/api/mdm/windows/enroll", {
    action: actions.requestToken,
    body: writeTokenRequest(asked),
    ...(token && { token }),
  });
  const fault = faultIn(reply);
  return fault ? { fault, document: null } : { fault: null, document: readProvisioning(readTokenReply(reply.content)) };
}

export interface Exchange {
  readonly status: string;
  readonly message: SyncMessage;
  /** What the server asks for. */
  readonly commands: readonly SyncCommand[];
}

/** An enrolled device of the agent's host. */
export async function enrollWindows(t: TestApp, token: SecurityToken, more: Record<string, string> = {}) {
  const facts = factsOf(more);
  const { document, fault } = await requestToken(t, token, facts);
  if (document === null) throw new Error(`not enrolled: ${JSON.stringify(fault)}`);
  const [, account] = document.find(({ type }) => type === "APPLICATION")!.inner;
  const name = parameterOf(account!, "AAUTHNAME")!;
  const secret = parameterOf(account!, "AAUTHSECRET")!;
  const firstNonce = parameterOf(account!, "AAUTHDATA")!;
  const stored = find(document, "CertificateStore", "My", facts.EnrollmentType === "Device" ? "System" : "User")!;
  const certificate = Buffer.from(parameterOf(stored.inner[0]!, "EncodedCertificate")!, "base64");
  const row = await t.store.windowsEnrollments.first({ where: eq("device_id", facts.DeviceID) });
  return {
    ...windowsDevice(t, { deviceId: facts.DeviceID, name, secret, firstNonce }),
    facts,
    certificate,
    document,
    hostId: row!.host_id,
  };
}

export interface Account {
  readonly deviceId: string;
  readonly name: string;
  readonly secret: string;
  /** Base64. */
  readonly firstNonce: string;
}

/** The sessions of a device that authenticates with digests. */
export function windowsDevice(t: Pick<TestApp, "raw">, { deviceId, name, secret, firstNonce }: Account) {
  let session = 0;
  let number = 0;
  let nonce: string | null = firstNonce;
  const digest = (of: string) => ({
    format: "b64",
    type: DIGEST,
    data: digestOf(name, secret, Buffer.from(of, "base64")),
  });

  const post = (body: string) =>
    t.raw(MANAGEMENT, { method: "POST", headers: { "content-type": "application/vnd.syncml.dm+xml" }, body });

  /** One message, with these credentials. */
  async function send(
    commands: readonly SyncCommand[],
    {
      credentials = nonce === null ? null : digest(nonce),
      isFinal = true,
      source = deviceId,
      maxMsgSize = null as number | null,
    } = {},
  ): Promise<Exchange> {
    number++;
    const header = {
      sessionId: String(session),
      msgId: String(number),
      target: MANAGEMENT,
      source,
      credentials,
      maxMsgSize,
    };
    const response = await post(writeSyncml({ header, commands, isFinal }));
    if (response.status !== 200) throw new Error(`the server answered ${response.status}: ${await response.text()}`);
    const message = readSyncml(new Uint8Array(await response.arrayBuffer()));
    const [status] = message.commands;
    nonce = status!.challenge?.nextNonce ?? null;
    return {
      status: status!.data!,
      message,
      commands: message.commands.filter((one) => isRequest(one) || isContainer(one)),
    };
  }

  return {
    post,
    send,
    digest,
    get nonce() {
      return nonce;
    },
    /** Begins a session. */
    async start(more: readonly SyncCommand[] = [], options: Parameters<typeof send>[1] = {}): Promise<Exchange> {
      session++;
      number = 0;
      const commands = [
        syncCommand("Alert", "2", { data: alerts.clientStart }),
        syncCommand("Alert", "3", {
          data: alerts.clientEvent,
          items: [{ type: "com.microsoft/MDM/LoginStatus", data: "user" }],
        }),
        syncCommand("Replace", "4", { items: [{ source: "./DevInfo/DevId", data: deviceId }] }),
        ...more,
      ];
      const first = await send(commands, options);
      // Without a fresh nonce the server asks for it.
      return first.status === "407" && options.credentials === undefined ? send(commands, options) : first;
    },
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
