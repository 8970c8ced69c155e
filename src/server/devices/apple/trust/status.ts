import { appleChannelApi } from "../../../../api/devices/apple-channel.ts";
import type { AppleStatus } from "../../../../api/devices/apple-trust.ts";
import { days } from "../../../platform/core/clock.ts";
import type { Context } from "../../../platform/core/context.ts";
import { isSoon, listExpiring } from "../../expiry/service.ts";
import { countOtherServers, deviceServerUrl, deviceUrl, pushCertificateRow, viewCertificate } from "./service.ts";
import { signers } from "./signers.ts";

export async function getAppleStatus(ctx: Context): Promise<AppleStatus> {
  const row = await pushCertificateRow(ctx.store);
  const { mdm } = await ctx.config.current();
  const ownSigners = ctx.running.find(signers);
  const now = ctx.clock.now();
  const url = await deviceUrl(ctx, appleChannelApi.put.path);
  return {
    enabled: mdm.enabled_and_configured,
    push_certificate: row && { ...viewCertificate(row), topic: row.topic },
    request_pending: (await ctx.store.applePushRequests.count()) > 0,
    signs_requests: ownSigners?.vendor != null,
    signs_profiles: ownSigners?.profiles != null,
    server_url: (await deviceServerUrl(ctx))?.href ?? "",
    devices_to_enroll_again: url === null ? 0 : await countOtherServers(ctx.store, url),
    expiring: (await listExpiring(ctx)).map((expiring) => ({
      ...expiring,
      days_left: Math.floor((Date.parse(expiring.not_valid_after) - now) / days(1)),
      soon: isSoon(expiring, now),
    })),
  };
}
