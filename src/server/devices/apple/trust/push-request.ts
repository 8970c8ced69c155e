// Requests for a push certificate. With a vendor's certificate, the request is signed as Apple's portal takes it;
// without one, it is a plain certificate request, which a vendor signs.
import { sign } from "node:crypto";
import type { NameField } from "../../../../pki/names.ts";
import { makeRequest } from "../../../../pki/request.ts";
import { newKey, pem } from "../../../../pki/x509.ts";
import { writePlist } from "../../../../plist/write.ts";
import type { Context } from "../../../platform/core/context.ts";
import { everything } from "../../../platform/store/query.ts";
import { type FileSigner, signers } from "./signers.ts";

/** Creates a key and the request for it, in base64. The key of an earlier request is forgotten. */
export async function requestPushCertificate(ctx: Context): Promise<string> {
  const { org_info } = await ctx.config.current();
  const key = await newKey();
  const subject: NameField[] = [
    { key: "CN", value: "svc push certificate" },
    ...(org_info.org_name === "" ? [] : [{ key: "O", value: org_info.org_name.slice(0, 64) }]),
    ...(ctx.user.email === "" ? [] : [{ key: "E", value: ctx.user.email }]),
  ];
  const request = makeRequest(subject, key);
  await ctx.store.tx(async (tx) => {
    await tx.applePushRequests.delete(everything);
    await tx.applePushRequests.insert({
      created_at: ctx.clock.iso(),
      key: key.export({ type: "pkcs8", format: "pem" }) as string,
    });
  });
  const vendor = ctx.running.find(signers)?.vendor ?? null;
  const file = vendor === null ? pem("CERTIFICATE REQUEST", request) : signedRequest(request, vendor);
  return Buffer.from(file).toString("base64");
}

/** The property list that Apple's portal takes: the request, its signature by the vendor, and the vendor's chain. */
const signedRequest = (request: Buffer, vendor: FileSigner): string =>
  writePlist({
    PushCertCertificateChain: vendor.pem.trim(),
    PushCertRequestCSR: request.toString("base64"),
    PushCertSignature: sign("sha256", request, vendor.key).toString("base64"),
  });
