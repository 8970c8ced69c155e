import { appleTrustApi } from "../../../../api/devices/apple-trust.ts";
import { olderApi } from "../../../../api/devices/older.ts";
import { type Route, route } from "../../../platform/core/http/route.ts";
import { requestPushCertificate } from "./push-request.ts";
import { deletePushCertificate, getPushCertificate, uploadPushCertificate } from "./service.ts";
import { getAppleStatus } from "./status.ts";

const latin1 = (bytes: Uint8Array): string => Buffer.from(bytes).toString("latin1");

export const appleTrustRoutes: readonly Route[] = [
  route(appleTrustApi.get, (_, ctx) => getPushCertificate(ctx)),
  route(appleTrustApi.status, (_, ctx) => getAppleStatus(ctx)),
  route(appleTrustApi.request, async (_, ctx) => ({ csr: await requestPushCertificate(ctx) })),
  route(olderApi.requestCsr, async (_, ctx) => ({ csr: await requestPushCertificate(ctx) })),
  route(appleTrustApi.upload, ({ body: { certificate, private_key: key, force } }, ctx) =>
    uploadPushCertificate(ctx, {
      certificate: latin1(certificate.bytes),
      privateKey: key ? latin1(key.bytes) : null,
      force,
    }),
  ),
  route(appleTrustApi.delete, async (_, ctx) => {
    await deletePushCertificate(ctx);
    return {};
  }),
];
