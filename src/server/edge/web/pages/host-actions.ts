// What users can do with a host on its page: fetch its details, lock, unlock and erase it, and end its management.
import type { Host } from "../../../../api/hosts/host.ts";
import { hostActionsApi } from "../../../../api/hosts/host-actions.ts";
import { selectionHeaders, selectionOf } from "../../../../api/hosts/selection.ts";
import { hostDetailsApi } from "../../../../api/inventory/host-details.ts";
import { hostsApi } from "../../../../api/inventory/hosts.ts";
import { type Context, isPremium } from "../../../platform/core/context.ts";
import { invalid, notFound } from "../../../platform/core/errors.ts";
import { isPhone, platformFamily } from "../../../platform/core/platforms.ts";
import { may } from "../../../platform/core/security/access.ts";
import { call } from "../call.ts";
import { type Html, html } from "../html.ts";
import type { Answer, Visit } from "../page.ts";
import { field, good } from "../parts.ts";

interface Action {
  readonly button: string;
  readonly text: string;
  /** Shown on the host's page afterwards. */
  readonly done: string;
  /** The user has to type the host's name. */
  readonly asksName?: true;
  readonly isOffered: (ctx: Context, host: Host) => boolean;
  /** Returns the PIN that the user needs, if there is one. */
  readonly run: (ctx: Context, id: string) => Promise<{ readonly unlock_pin?: string | undefined }>;
}

const isApple = ({ platform }: Host): boolean => platform === "darwin" || isPhone(platform);

function canAct({ user }: Context, host: Host): boolean {
  const { mdm, platform, platform_like } = host;
  const isManaged = isApple(host)
    ? mdm.connected_to_svc
    : ["linux", "windows"].includes(platformFamily(platform, platform_like)) && host.scripts_enabled !== false;
  const isOwn = mdm.enrollment_status !== "On (personal)";
  return isManaged && isOwn && mdm.pending_action === "" && may(user, "hosts:lock", host.team_id);
}

const actions: ReadonlyMap<string, Action> = new Map<string, Action>([
  [
    "refetch",
    {
      button: "Fetch details",
      text: "The host sends all its details when it next connects.",
      done: "The host will send its details within minutes if it is online.",
      isOffered: ({ user }, { team_id }) => may(user, "hosts:refetch", team_id),
      run: (ctx, id) => call(ctx, hostsApi.refetch, { params: { id } }),
    },
  ],
  [
    "lock",
    {
      button: "Lock",
      text: "The host locks itself as soon as it is online. A Mac is locked with a PIN, which is shown to you.",
      done: "The host will be locked when it is online.",
      isOffered: (ctx, host) => isPremium(ctx) && canAct(ctx, host) && host.mdm.device_status === "unlocked",
      run: (ctx, id) => call(ctx, hostActionsApi.lock, { params: { id }, query: { view_pin: true } }),
    },
  ],
  [
    "unlock",
    {
      button: "Unlock",
      text: "A Mac is unlocked with its PIN, which is shown to you. Other hosts are unlocked as soon as they are online.",
      done: "The host will be unlocked when it is online.",
      isOffered: (ctx, host) => isPremium(ctx) && canAct(ctx, host) && host.mdm.device_status === "locked",
      run: (ctx, id) => call(ctx, hostActionsApi.unlock, { params: { id } }),
    },
  ],
  [
    "clear_passcode",
    {
      button: "Clear passcode",
      text: "The device can be opened without a passcode until its user has set a new one.",
      done: "The passcode will be cleared when the device is online.",
      isOffered: (ctx, host) => isPremium(ctx) && canAct(ctx, host) && isPhone(host.platform),
      run: async (ctx, id) => {
        await call(ctx, hostActionsApi.clearPasscode, { params: { id } });
        return {};
      },
    },
  ],
  [
    "unenroll",
    {
      button: "Turn off device management",
      text: "The host loses its profiles. It has to be enrolled again by its user.",
      done: "Device management is turned off; for an Apple device, when it answers.",
      isOffered: ({ user }, { mdm, team_id }) =>
        mdm.connected_to_svc && !mdm.unenroll_pending && may(user, "mdm:unenroll", team_id),
      run: (ctx, id) => call(ctx, hostDetailsApi.unenrollByPatch, { params: { id } }),
    },
  ],
  [
    "wipe",
    {
      button: "Erase",
      text: "Everything on the host is deleted as soon as it is online. This cannot be undone.",
      done: "The host will be erased when it is online, or when another user has approved it.",
      asksName: true,
      isOffered: (ctx, host) => canAct(ctx, host) && host.mdm.device_status !== "wiped" && host.platform !== "windows",
      run: async (ctx, id) => {
        await call(ctx, hostActionsApi.wipe, { params: { id } });
        return {};
      },
    },
  ],
]);

/** A card with the actions that fit the host, its state, and the rights of the viewer. */
export function actionCard(visit: Visit, host: Host): Html | false {
  const offered = [...actions].filter(([, { isOffered }]) => isOffered(visit.ctx, host));
  return (
    offered.length > 0 &&
    html`<section class="card" aria-labelledby="actions"><h2 id="actions">Actions</h2>
${offered.map(
  ([name, { button, text, asksName }]) =>
    html`<details><summary>${button}</summary><p class="small">${text}</p>
<form method="post" action="/hosts/${host.id}/actions/${name}">${visit.csrf()}${asksName && field({ name: "name", label: `Type ${host.display_name} to confirm`, value: "", autocomplete: "off" })}<button class="${asksName ? "danger" : "plain"} little">${button}</button></form></details>`,
)}</section>`
  );
}

/** What was done last, for the host's page. */
export function actionDone(url: URL): Html | false {
  const done = actions.get(url.searchParams.get("done") ?? "");
  return done !== undefined && good(done.done);
}

export async function actOnHostPage({ ctx, params, form }: Visit): Promise<Answer> {
  const { id = "", action: name = "" } = params;
  const action = actions.get(name);
  if (!action) throw notFound("action", name);
  const { host } = await call(ctx, hostsApi.get, { params: { id }, query: { exclude_software: true } });
  if (action.asksName && form.get("name")?.trim() !== host.display_name)
    throw invalid("name", `this is not the name of the host: type ${host.display_name}`);
  // The user has seen the host.
  const { count, digest } = await selectionOf([host.id]);
  const headers = new Headers({ [selectionHeaders.count]: String(count), [selectionHeaders.digest]: digest });
  const { unlock_pin: pin } = await action.run({ ...ctx, headers }, id);
  const path = `/hosts/${host.id}`;
  if (pin === undefined) return { to: `${path}?done=${name}` };
  return {
    title: host.display_name,
    shape: "narrow",
    body: html`<h1>${host.display_name}</h1>${name === "lock" && good(action.done)}
<p>This PIN unlocks the Mac:</p><p><span class="token">${pin}</span></p><p><a href="${path}">Back to the host</a></p>`,
  };
}
