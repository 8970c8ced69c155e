// The device CA: created when it is first needed, then never changed.
import { createPrivateKey, type KeyObject, randomBytes } from "node:crypto";
import { makeCa } from "../../../pki/issue.ts";
import { type Certificate, newKey, readCertificate } from "../../../pki/x509.ts";
import { days, isoAt, minutes } from "../../platform/core/clock.ts";
import { CachedValue } from "../../platform/core/concurrency/cached.ts";
import type { Services } from "../../platform/core/context.ts";
import { type PartServices, part } from "../../platform/core/running.ts";
import type { ServerTx } from "../../platform/core/tables.ts";

const LOCK = "device-ca";
const LIFETIME = days(3650);
const SUBJECT = [
  { key: "CN", value: "svc device CA" },
  { key: "O", value: "svc" },
];

export interface DeviceCa {
  readonly certificate: Certificate;
  readonly key: KeyObject;
}

const ownCa = part("device CA", (services) => new CachedValue(() => load(services)));

export const deviceCa = ({ running }: Pick<Services, "running">): Promise<DeviceCa> => running.of(ownCa).get();

/** The certificate's end, or null if no CA has been needed yet. */
export async function deviceCaUntil({ store }: { readonly store: ServerTx }): Promise<string | null> {
  const ca = await stored(store);
  return ca && isoAt(Date.parse(ca.certificate.parsed.validTo));
}

async function stored(store: ServerTx): Promise<DeviceCa | null> {
  const row = await store.deviceCas.first({});
  if (!row) return null;
  return { certificate: readCertificate(Buffer.from(row.certificate, "base64")), key: createPrivateKey(row.key) };
}

async function load({ store, clock }: PartServices): Promise<DeviceCa> {
  const existing = await stored(store);
  if (existing) return existing;
  const key = await newKey();
  const times = { from: clock.now() - minutes(10), until: clock.now() + LIFETIME };
  const certificate = makeCa(SUBJECT, key, randomBytes(16), times);
  // If servers create a CA at the same time, all use the first.
  return store.tx(
    async (tx) => {
      const first = await stored(tx);
      if (first) return first;
      await tx.deviceCas.insert({
        created_at: clock.iso(),
        certificate: certificate.toString("base64"),
        key: key.export({ type: "pkcs8", format: "pem" }) as string,
      });
      return { certificate: readCertificate(certificate), key };
    },
    { lock: LOCK },
  );
}
