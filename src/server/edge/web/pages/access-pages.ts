// Pages to which the users of hosts are sent that may not sign in to another service, and the button on the host's own
// page that lets one sign-in pass.
import { deviceApi } from "../../../../api/edge/device.ts";
import { call } from "../call.ts";
import { html } from "../html.ts";
import type { Answer, Visit } from "../page.ts";
import { alert } from "../parts.ts";

export const accessErrorPage = async (): Promise<Answer> => ({
  title: "You cannot sign in from this device",
  status: 403,
  shape: "narrow",
  body: html`<div class="card"><h1>You cannot sign in from this device</h1>
${alert("This device could not prove that your organization manages it.")}
<p>Go back to the service, and try again. If that does not help, ask the administrators of your organization.</p></div>`,
});

export const remediationPage = async (): Promise<Answer> => ({
  title: "This device fails policies",
  status: 403,
  shape: "narrow",
  body: html`<div class="card"><h1>This device fails policies</h1>
${alert("You cannot sign in before this device passes the policies of your organization.")}
<ol><li>Open the page of this device from the desktop app of your organization.</li>
<li>Each failing policy there shows how to fix it. When you have done so, choose Refetch.</li>
<li>Go back to the service, and sign in again.</li></ol></div>`,
});

export async function bypassOnDevice({ ctx, params }: Visit): Promise<Answer> {
  const token = params.token ?? "";
  await call(ctx, deviceApi.bypassConditionalAccess, { params: { token } });
  return { to: `/device/${encodeURIComponent(token)}?status=bypassed` };
}
