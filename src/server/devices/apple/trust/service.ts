// The push certificate: uploading it turns device management of Apple devices on, deleting it turns it off.
import { createPrivateKey, type KeyObject } from "node:crypto";
import type { ApnsCertificate, UploadedCertificate } from "../../../../api/devices/apple-trust.ts";
import { fingerprintOf } from "../../../certificates/device-ca/identities.ts";
import { recordActivity } from "../../../platform/activities/record.ts";
import { isoAt } from "../../../platform/core/clock.ts";
import { type Context, within } from "../../../platform/core/context.ts";
import { invalid, mdmOff, notThere } from "../../../platform/core/errors.ts";
import { serverUrl } from "../../../platform/core/http/links.ts";
import type { ServerTx } from "../../../platform/core/tables.ts";
import { and, eq, everything, not } from "../../../platform/store/query.ts";
import type { RowOf } from "../../../platform/store/table.ts";
import { isForDevices } from "../../../settings/app-config/sections/rules.ts";
import { setReturned } from "../../../settings/app-config/service.ts";
import { isReachable } from "../push/devices.ts";
import { BadPushCertificate, type PushCertificateFile, readPrivateKey, readPushCertificate } from "./rules.ts";
import type { applePushCertificates } from "./tables.ts";

type PushCertificateRow = RowOf<typeof applePushCertificates>;

/** Uploads and deletions wait for each other, and for other changes of the configuration. */
const LOCK = "config";

interface Upload {
  /** PEM. */
  readonly certificate: string;
  /** PEM; null: the key of the newest request. */
  readonly privateKey: string | null;
  /** Accepts another topic. */
  readonly force: boolean;
}

export async function uploadPushCertificate(ctx: Context, upload: Upload): Promise<UploadedCertificate> {
  const file = refusing(() => readPushCertificate(upload.certificate, ctx.clock.now()));
  const uploadedKey = upload.privateKey === null ? null : refusing(() => readPrivateKey(upload.privateKey!));
  if (uploadedKey !== null) checkKey(file, uploadedKey, "private_key");
  await checkServerUrl(ctx);
  return ctx.store.tx(
    async (tx) => {
      const inside = within(ctx, tx);
      const key = uploadedKey ?? (await requestedKey(tx, file));
      const before = await pushCertificateRow(tx);
      const others = await countOtherTopics(tx, file.topic);
      if (!upload.force) checkTopic(file, before, others);
      const row = rowOf(ctx, file, key);
      await tx.applePushCertificates.delete(everything);
      const stored = await tx.applePushCertificates.insert(row);
      await tx.applePushRequests.delete(everything);
      await setReturned(inside, { mdm: { enabled_and_configured: true } });
      const details = { topic: file.topic, not_valid_after: row.not_valid_after, serial_number: row.serial_number };
      await recordActivity(inside, before ? "renewed_apns_certificate" : "added_apns_certificate", details);
      return { ...viewCertificate(stored), topic: file.topic, devices_to_enroll_again: others };
    },
    { lock: LOCK },
  );
}

function refusing<T>(work: () => T): T {
  try {
    return work();
  } catch (error) {
    throw error instanceof BadPushCertificate ? invalid(error.field, error.message) : error;
  }
}

function checkKey({ parsed }: PushCertificateFile, key: KeyObject, field: "certificate" | "private_key"): void {
  if (parsed.checkPrivateKey(key)) return;
  throw invalid(
    field,
    field === "private_key"
      ? "is not the key of the certificate"
      : "is not for the key of the newest request: upload the certificate that was made from it, or its own key as private_key",
  );
}

/** The key of the newest request, which the certificate must be for. */
async function requestedKey(tx: ServerTx, file: PushCertificateFile): Promise<KeyObject> {
  const row = await tx.applePushRequests.first({});
  if (!row)
    throw invalid(
      "private_key",
      "is missing: no request waits for its certificate, so the certificate's key is needed",
    );
  const key = createPrivateKey(row.key);
  checkKey(file, key, "certificate");
  return key;
}

/** Devices are enrolled with the topic, so another one is another device management to them. */
function checkTopic({ topic }: PushCertificateFile, before: PushCertificateRow | null, others: number): void {
  if (others === 0 && (before === null || before.topic === topic)) return;
  const was = before === null || before.topic === topic ? "another topic" : `the topic ${before.topic}`;
  const again = others === 1 ? "1 device is" : `${others} devices are`;
  throw invalid(
    "certificate",
    `is for the topic ${topic}, but ${again} enrolled and the server is set up with ${was}: renew the existing ` +
      "certificate in Apple's portal instead of creating a new one. With force=true it is accepted, and these devices must enroll again.",
  );
}

async function checkServerUrl(ctx: Context): Promise<void> {
  const url = await deviceServerUrl(ctx);
  if (url === null) throw invalid("server_url", "must be set first, in the server settings: devices connect to it");
  if (!isForDevices(url))
    throw invalid("server_url", `must start with https://, because Apple devices do not connect to ${url.origin}`);
}

/** The URL of this server for Apple devices; null if none is set. */
export async function deviceServerUrl(ctx: Pick<Context, "config" | "settings">): Promise<URL | null> {
  const text = (await ctx.config.current()).mdm.vendora_server_url || (await serverUrl(ctx));
  return URL.canParse(text) ? new URL(text) : null;
}

/** The URL of a path for Apple devices; null if the server's is not set. */
export async function deviceUrl(ctx: Pick<Context, "config" | "settings">, path: string): Promise<string | null> {
  const url = await deviceServerUrl(ctx);
  return url && `${url.href.replace(/\/+$/, "")}${path}`;
}

const rowOf = (ctx: Context, file: PushCertificateFile, key: KeyObject) => ({
  created_at: ctx.clock.iso(),
  certificate: file.pem,
  key: key.export({ type: "pkcs8", format: "pem" }) as string,
  fingerprint: fingerprintOf(file.parsed.raw),
  topic: file.topic,
  common_name: file.commonName,
  serial_number: file.serialNumber,
  issuer: file.issuer,
  not_valid_before: isoAt(Date.parse(file.parsed.validFrom)),
  not_valid_after: isoAt(Date.parse(file.parsed.validTo)),
});

export async function deletePushCertificate(ctx: Context): Promise<void> {
  await ctx.store.tx(
    async (tx) => {
      const inside = within(ctx, tx);
      const row = await pushCertificateRow(tx);
      if (!row) throw notThere("there is no push certificate");
      await tx.applePushCertificates.delete(everything);
      await tx.applePushRequests.delete(everything);
      await setReturned(inside, { mdm: { enabled_and_configured: false } });
      await recordActivity(inside, "deleted_apns_certificate", { topic: row.topic, serial_number: row.serial_number });
    },
    { lock: LOCK },
  );
}

export const pushCertificateRow = (store: ServerTx): Promise<PushCertificateRow | null> =>
  store.applePushCertificates.first({});

/** 400 while device management of Apple devices is turned off. */
export async function getPushCertificate({ store }: Context): Promise<ApnsCertificate> {
  const row = await pushCertificateRow(store);
  if (!row) throw mdmOff();
  return viewCertificate(row);
}

export const viewCertificate = ({
  common_name,
  serial_number,
  issuer,
  not_valid_after,
}: PushCertificateRow): ApnsCertificate => ({
  common_name,
  serial_number,
  issuer,
  renew_date: not_valid_after,
});

/** Devices that were enrolled with another push certificate: a new topic cannot reach them. */
const countOtherTopics = (store: ServerTx, topic: string): Promise<number> =>
  store.appleEnrollments.count(and(isReachable, not(eq("topic", topic))));

/** Devices that were enrolled with another URL of this server: they do not connect to this one. */
export const countOtherServers = (store: ServerTx, url: string): Promise<number> =>
  store.appleEnrollments.count(
    and(isReachable, eq("is_user", false), not(eq("server_url", "")), not(eq("server_url", url))),
  );
