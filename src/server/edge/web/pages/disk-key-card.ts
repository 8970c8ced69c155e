// The part of a host's own page about the recovery key of its disk.
import { type DeviceHost, deviceApi } from "../../../../api/edge/device.ts";
import { type EncryptionRequest, offeredTo } from "../../../hosts/disk-encryption/requests.ts";
import { isPremium } from "../../../platform/core/context.ts";
import { call } from "../call.ts";
import { type Html, html } from "../html.ts";
import type { Answer, Visit } from "../page.ts";

const offers: Readonly<Record<EncryptionRequest, { readonly text: string; readonly button: string }>> = {
  rotate: {
    text: "Your organization keeps a key with which it can unlock the disk of this Mac if you forget your password. If somebody else may have seen the key, replace it.",
    button: "Replace the recovery key",
  },
  escrow: {
    text: "Your organization keeps a key with which it can unlock the disk of this device. You are asked for your passphrase to create it.",
    button: "Store a recovery key",
  },
};

/** Null unless the organization manages the encryption of the disk, and the host can do what is asked. */
export async function diskKeyCard({ ctx, params, csrf }: Visit, host: DeviceHost): Promise<Html | null> {
  const encryption = host.mdm.os_settings?.disk_encryption;
  if (!encryption || encryption.status === null || !isPremium(ctx)) return null;
  const request = await offeredTo(ctx, host);
  if (request === null) return null;
  const { text, button } = offers[request];
  const path = `/device/${encodeURIComponent(params.token ?? "")}/disk-key`;
  return html`<section class="card" aria-labelledby="disk"><h2 id="disk">Disk encryption</h2>
${encryption.status === "action_required" && html`<p><strong>Your organization has no valid key of this disk.</strong> ${encryption.detail}</p>`}
<p>${text}</p>
<form method="post" action="${path}/${request}">${csrf()}<button class="plain">${button}</button></form></section>`;
}

const asking =
  (endpoint: typeof deviceApi.rotateEncryptionKey | typeof deviceApi.triggerEscrow) =>
  async ({ ctx, params }: Visit): Promise<Answer> => {
    const token = params.token ?? "";
    await call(ctx, endpoint, { params: { token } });
    return { to: `/device/${encodeURIComponent(token)}?status=key` };
  };

export const rotateDiskKey = asking(deviceApi.rotateEncryptionKey);
export const escrowDiskKey = asking(deviceApi.triggerEscrow);
