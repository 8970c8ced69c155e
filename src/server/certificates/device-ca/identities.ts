// Issued identities, and the check of certificates that devices present.
import { hash, type KeyObject } from "node:crypto";
import { readSignedData, signerCertificate, verifySigned } from "../../../pki/signed-data.ts";
import { readCertificate } from "../../../pki/x509.ts";
import { channels } from "../../platform/core/channels.ts";
import { days, isoAt } from "../../platform/core/clock.ts";
import type { Context, Services } from "../../platform/core/context.ts";
import { measured } from "../../platform/core/http/strangers.ts";
import { startedPart } from "../../platform/core/running.ts";
import type { ServerTx } from "../../platform/core/tables.ts";
import { and, eq, isNull, lt, oneOf } from "../../platform/store/query.ts";
import type { RowOf } from "../../platform/store/table.ts";
import { deviceCa } from "./ca.ts";
import type { deviceIdentities } from "./tables.ts";

type IdentityRow = RowOf<typeof deviceIdentities>;

/** A verified identity. `certificate` is left out, because it is only needed to send it again. */
export interface Identity extends Omit<IdentityRow, "certificate"> {
  readonly publicKey: KeyObject;
}

/** Devices poll often, so a server remembers those that it has verified. */
const MAX_CACHED = 100_000;

interface IdentityCache {
  readonly byFingerprint: Map<string, Identity>;
  /** Look-ups in progress. A row that others have changed since is not remembered. */
  readonly lookups: Set<Lookup>;
  stop(): Promise<void>;
}

interface Lookup {
  readonly fingerprint: string;
  /** How many messages of changes have arrived since. */
  changes: number;
}

export const deviceIdentityCache = startedPart("device identities", startCache);

async function startCache({ store }: Services): Promise<IdentityCache> {
  const byFingerprint = new Map<string, Identity>();
  const lookups: IdentityCache["lookups"] = new Set();
  const forget = (fingerprint: string): void => {
    for (const lookup of lookups)
      if (fingerprint === ALL_IDENTITIES || fingerprint === lookup.fingerprint) lookup.changes++;
    if (fingerprint === ALL_IDENTITIES) byFingerprint.clear();
    else byFingerprint.delete(fingerprint);
  };
  return {
    byFingerprint,
    lookups,
    stop: await store.listen(channels.deviceIdentities, forget, () => forget(ALL_IDENTITIES)),
  };
}

/** The payload for a change of several identities. */
const ALL_IDENTITIES = "*";

type Deps = Pick<Services, "running" | "clock"> & { readonly store: ServerTx };

export const fingerprintOf = (der: Uint8Array): string => hash("sha256", der, "hex");

/** Null for a certificate that this server has not issued, that is not valid now, or that is revoked. */
export async function verifyIdentity(services: Deps, der: Buffer): Promise<Identity | null> {
  const fingerprint = fingerprintOf(der);
  const cache = services.running.find(deviceIdentityCache);
  const cached = cache?.byFingerprint.get(fingerprint);
  if (cached) return isValid(cached, services.clock.iso()) ? cached : null;
  return remembering(services, fingerprint, 0, () => read(services, fingerprint, der));
}

/**
 * Remembers the identity that `work` returns, unless others have changed it meanwhile. `own`: how many messages of
 * changes `work` sends itself.
 */
async function remembering(
  { running }: Pick<Deps, "running">,
  fingerprint: string,
  ownMessages: number,
  work: () => Promise<Identity | null>,
): Promise<Identity | null> {
  const cache = running.find(deviceIdentityCache);
  const lookup = { fingerprint, changes: 0 };
  cache?.lookups.add(lookup);
  try {
    const identity = await work();
    if (cache && identity && lookup.changes === ownMessages) {
      if (cache.byFingerprint.size >= MAX_CACHED) cache.byFingerprint.clear();
      cache.byFingerprint.set(fingerprint, identity);
    }
    return identity;
  } finally {
    cache?.lookups.delete(lookup);
  }
}

/** Runs a transaction that issues the identity, and returns it unless it was not issued. Its device uses it at once. */
export async function issuingIdentity(
  services: Deps,
  { fingerprint }: Pick<Identity, "fingerprint">,
  work: () => Promise<(IdentityRow & Pick<Identity, "publicKey">) | null>,
): Promise<void> {
  await remembering(services, fingerprint, 0, async () => {
    const issued = await work();
    if (!issued) return null;
    const { certificate: _, ...identity } = issued;
    return identity;
  });
}

/** Runs a transaction that binds the identity to a device, and remembers the outcome. */
export async function bindingIdentity(
  services: Deps,
  { fingerprint }: Pick<Identity, "fingerprint">,
  work: () => Promise<Identity | null>,
): Promise<void> {
  await remembering(services, fingerprint, 1, work);
}

/** The identity whose certificate has this serial number or SHA-256 fingerprint, in hex. */
export async function namedIdentity(services: Deps, name: string): Promise<Identity | null> {
  const text = name.toLowerCase();
  if (!/^[0-9a-f]{1,64}$/.test(text)) return null;
  const cached = services.running.find(deviceIdentityCache)?.byFingerprint.get(text);
  if (cached) return isValid(cached, services.clock.iso()) ? cached : null;
  const where = eq(text.length === FINGERPRINT_LENGTH ? "fingerprint" : "serial", text);
  const row = await services.store.deviceIdentities.first({ where });
  return row && verifyIdentity(services, Buffer.from(row.certificate, "base64"));
}

const FINGERPRINT_LENGTH = 64;

async function read(services: Deps, fingerprint: string, der: Buffer): Promise<Identity | null> {
  // A row exists only for what this CA has issued, so unknown certificates cost one lookup and no signature.
  const row = await identityByFingerprint(services, fingerprint);
  if (!row || !isValid(row, services.clock.iso())) return null;
  const { parsed } = readCertificate(der);
  const ca = await deviceCa(services);
  if (!parsed.verify(ca.certificate.parsed.publicKey) || parsed.ca) return null;
  if (!parsed.keyUsage?.includes(CLIENT_AUTH)) return null;
  const { certificate: _, ...fields } = row;
  return { ...fields, publicKey: parsed.publicKey };
}

/** Node's name for the extended key usages is `keyUsage`. */
const CLIENT_AUTH = "1.3.6.1.5.5.7.3.2";

const isValid = (
  { revoked_at, not_valid_before, not_valid_after }: Omit<IdentityRow, "certificate">,
  now: string,
): boolean => revoked_at === null && not_valid_before <= now && now <= not_valid_after;

/**
 * The valid identity with this serial number of its certificate, which a trusted proxy has verified. Null if there is
 * none.
 */
export async function identityBySerial(
  { store, clock }: Pick<Deps, "store" | "clock">,
  serial: string,
): Promise<Bindable | null> {
  const text = serial.replaceAll(":", "").trim().toLowerCase();
  if (!/^[0-9a-f]{1,40}$/.test(text)) return null;
  const row = await store.deviceIdentities.first({ where: eq("serial", text) });
  return row && isValid(row, clock.iso()) ? row : null;
}

/**
 * The identity that has signed exactly these bytes, by a detached signature with its certificate inside
 * (`Mdm-Signature`). Null if the signature is not correct or its certificate is not accepted.
 */
export async function identityOfSignature(
  services: Deps & Pick<Context, "cost">,
  signature: Buffer,
  body: Buffer,
): Promise<Identity | null> {
  const data = attempt(() => readSignedData(signature));
  const certificate = data && data.content === null ? attempt(() => signerCertificate(data)) : null;
  const identity = certificate && (await verifyIdentity(services, certificate));
  if (!data || !identity) return null;
  const verify = () => attempt(() => verifySigned(data, () => identity.publicKey, body));
  return measured(services, verify) && identity;
}

/** The certificate inside of a detached signature, which is not verified; null: there is none. */
export const signerOfDetached = (signature: Buffer): Buffer | null =>
  attempt(() => signerCertificate(readSignedData(signature)));

/** Whatever the bytes are, parsing and verifying them only fails. */
function attempt<T>(work: () => T): T | null {
  try {
    return work();
  } catch {
    return null;
  }
}

export const identityByFingerprint = ({ store }: { readonly store: ServerTx }, fingerprint: string) =>
  store.deviceIdentities.first({ where: eq("fingerprint", fingerprint) });

interface Device {
  readonly host_id: number;
  /** Empty if the device does not report one. */
  readonly hardware_serial: string;
  readonly hardware_uuid: string;
}

type Hardware = Pick<Device, "hardware_serial" | "hardware_uuid">;

/** Whether the identity is for this device, or for none yet. Agents write UUIDs in lower case, devices in upper case. */
export const isOfDevice = (
  identity: Pick<IdentityRow, "hardware_serial" | "hardware_uuid">,
  device: Hardware,
): boolean => {
  const isSame = (proved: string | null, reported: string) =>
    proved === null || proved.toLowerCase() === reported.toLowerCase();
  return (
    isSame(identity.hardware_serial, device.hardware_serial) && isSame(identity.hardware_uuid, device.hardware_uuid)
  );
};

type Bindable = Omit<IdentityRow, "certificate">;

/**
 * Records which device uses the identity. False if it is another device's, or if its challenge was for another one.
 * Call this in a transaction.
 */
export async function bindIdentity(
  { store }: { readonly store: ServerTx },
  identity: Bindable,
  device: Device,
): Promise<boolean> {
  return (await boundIdentity({ store }, identity, device)) !== null;
}

/** Binds the identity, and returns it as it is stored now, or null. */
export async function boundIdentity<I extends Bindable>(
  { store }: { readonly store: ServerTx },
  identity: I,
  device: Device,
): Promise<I | null> {
  const bound = await bind(store, identity, device);
  if (bound) return bound;
  // What was remembered may be outdated.
  const now = await store.deviceIdentities.get(identity.id);
  if (now === null || now.revision === identity.revision) return null;
  const { certificate: _, ...fields } = now;
  return bind(store, { ...identity, ...fields }, device);
}

async function bind<I extends Bindable>(store: ServerTx, row: I, device: Device): Promise<I | null> {
  if ((row.host_id !== null && row.host_id !== device.host_id) || !isOfDevice(row, device)) return null;
  const { id, revision, fingerprint, hardware_serial: serial, hardware_uuid: uuid } = row;
  const set = {
    host_id: device.host_id,
    hardware_serial: serial ?? (device.hardware_serial || null),
    hardware_uuid: uuid ?? (device.hardware_uuid || null),
  };
  // If two devices present the same identity at the same time, one gets it.
  const bound = await store.deviceIdentities.update({ where: and(eq("id", id), eq("revision", revision)), set });
  if (bound === 0) return null;
  await store.notify(channels.deviceIdentities, fingerprint);
  return { ...row, ...set, revision: revision + 1 };
}

/** The device turned out to be another host. Call this in a transaction. */
export async function moveIdentity(
  store: ServerTx,
  id: number,
  host: { readonly id: number; readonly team_id: number | null },
): Promise<void> {
  await store.deviceIdentities.update({ where: eq("id", id), set: { host_id: host.id, team_id: host.team_id } });
  await store.notify(channels.deviceIdentities, ALL_IDENTITIES);
}

/** Devices can no longer use these identities. Call this in a transaction. */
export async function revokeIdentities(
  { store, clock }: Pick<Deps, "store" | "clock">,
  ids: readonly number[],
): Promise<void> {
  await store.deviceIdentities.update({
    where: and(oneOf("id", ids), isNull("revoked_at")),
    set: { revoked_at: clock.iso() },
  });
  await store.notify(channels.deviceIdentities, ALL_IDENTITIES);
}

/** Deletes identities that no device has used, for which somebody has asked again. In the caller's transaction. */
export async function dropUnusedIdentities(
  store: Pick<ServerTx, "deviceIdentities" | "notify">,
  { purpose, hardware_uuid }: { readonly purpose: string; readonly hardware_uuid: string },
): Promise<void> {
  const dropped = await store.deviceIdentities.delete(
    and(eq("purpose", purpose), eq("hardware_uuid", hardware_uuid), isNull("host_id"), isNull("hardware_serial")),
  );
  if (dropped > 0) await store.notify(channels.deviceIdentities, ALL_IDENTITIES);
}

/** Certificates that have ended long ago say nothing any more. */
export async function removeOldIdentities({ store, clock }: Pick<Services, "store" | "clock">): Promise<void> {
  await store.deviceIdentities.delete(lt("not_valid_after", isoAt(clock.now() - days(90))));
}
