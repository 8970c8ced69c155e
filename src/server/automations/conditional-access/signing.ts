// The key with which this identity provider signs: created when it is first needed, then never changed. All servers use
// the same.
import { createPrivateKey, randomBytes } from "node:crypto";
import { makeCa } from "../../../pki/issue.ts";
import { newKey, pem } from "../../../pki/x509.ts";
import { days, minutes } from "../../platform/core/clock.ts";
import { CachedValue } from "../../platform/core/concurrency/cached.ts";
import type { Services } from "../../platform/core/context.ts";
import { type PartServices, part } from "../../platform/core/running.ts";
import type { SigningKey } from "../../platform/saml/signed-answer.ts";
import { eq } from "../../platform/store/query.ts";

interface ServerKey extends SigningKey {
  readonly der: Buffer;
}

const ROW_NAME = "saml";
const LIFETIME = days(3650);
const SUBJECT = [
  { key: "CN", value: "svc conditional access" },
  { key: "O", value: "svc" },
];

const ownKey = part("key of the identity provider", (services) => new CachedValue(() => load(services)));

export const signingKey = ({ running }: Pick<Services, "running">): Promise<ServerKey> => running.of(ownKey).get();

async function load({ store, clock }: PartServices): Promise<ServerKey> {
  const where = eq("name", ROW_NAME);
  let row = await store.conditionalAccessKeys.first({ where });
  if (row === null) {
    const key = await newKey();
    const times = { from: clock.now() - minutes(10), until: clock.now() + LIFETIME };
    const newRow = {
      name: ROW_NAME,
      created_at: clock.iso(),
      certificate: makeCa(SUBJECT, key, randomBytes(16), times).toString("base64"),
      key: key.export({ type: "pkcs8", format: "pem" }) as string,
    };
    // If servers create a key at the same time, all use the first.
    [row = null] = await store.conditionalAccessKeys.upsert([newRow], { on: ["name"], set: [] });
  }
  const der = Buffer.from(row!.certificate, "base64");
  return { der, certificate: pem("CERTIFICATE", der), key: createPrivateKey(row!.key) };
}
