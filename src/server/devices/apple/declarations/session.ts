// Answers the check-in message DeclarativeManagement: a device reads its declarations, and reports their status.

import type { Content } from "../../../../api/bodies.ts";
import { bytesIn, type PlistDict, stringIn } from "../../../../plist/value.ts";
import { inJson } from "../../../../text/json.ts";
import type { Context } from "../../../platform/core/context.ts";
import { badRequest, notThere } from "../../../platform/core/errors.ts";
import { expandSecrets } from "../../../settings/variables/use.ts";
import { plist } from "../channel/check-in.ts";
import type { AppleDeviceListener, AppleMessage, Enrollment } from "../channel/listeners.ts";
import { NotAllowed } from "../channel/wire.ts";
import { type DeclarationKind, type DeclarationSet, declarationsOf, noDeclarations, tokenOf } from "./set.ts";
import { takeReport } from "./status.ts";

const declarativeManagement: AppleMessage = async (ctx, message, device) => {
  if (device.state !== "enabled") throw new NotAllowed("the device has not sent its token yet");
  const endpoint = stringIn(message, "Endpoint");
  if (endpoint === null) throw badRequest("the message needs an Endpoint", "Endpoint");
  if (endpoint === "status") {
    const data = bytesIn(message, "Data");
    if (data === null) throw badRequest("the status needs Data", "Data");
    if (!isOfUser(message)) await takeReport(ctx, device.host_id, data);
    return plist("");
  }
  const set = isOfUser(message) ? noDeclarations : await declarationsOf(ctx, device.host_id);
  if (endpoint === "tokens") return json({ SyncTokens: await syncTokens(ctx, device, set) });
  if (endpoint === "declaration-items") return json(itemsOf(set));
  return json(await declarationAt(ctx, device.host_id, set, endpoint));
};

/** Everything is declared to the device itself: its users get nothing. */
const isOfUser = (message: PlistDict): boolean =>
  stringIn(message, "UserID") !== null || stringIn(message, "EnrollmentUserID") !== null;

const json = (value: object): Content => ({ type: "application/json", content: JSON.stringify(value) });

/** Devices compare the token only. The time is that of the last change of the host's profiles, in whole seconds. */
async function syncTokens({ store }: Context, { host_id, created_at }: Enrollment, set: DeclarationSet) {
  const changed = (await store.hostSettings.get(host_id))?.profiles_changed_at ?? created_at;
  return { DeclarationsToken: tokenOf(set), Timestamp: changed.replace(/\.\d+Z$/, "Z") };
}

const listNames: Readonly<Record<DeclarationKind, string>> = {
  activation: "Activations",
  asset: "Assets",
  configuration: "Configurations",
  management: "Management",
};
const kinds = Object.keys(listNames) as DeclarationKind[];

function itemsOf(set: DeclarationSet) {
  const lists = kinds.map((kind) => [
    listNames[kind],
    set.declarations
      .filter((declaration) => declaration.kind === kind)
      .map(({ identifier, token }) => ({ Identifier: identifier, ServerToken: token })),
  ]);
  return { DeclarationsToken: tokenOf(set), Declarations: Object.fromEntries(lists) as Record<string, unknown> };
}

/** Identifiers may contain slashes. */
async function declarationAt({ store }: Context, hostId: number, { declarations }: DeclarationSet, endpoint: string) {
  const declaration = declarations.find(({ kind, identifier }) => endpoint === `declaration/${kind}/${identifier}`);
  if (!declaration) throw notThere("the device has no such declaration");
  const { type: Type, identifier: Identifier, token: ServerToken, payload } = declaration;
  const sent = { text: JSON.stringify(payload), hostId, use: "profiles" } as const;
  const Payload = JSON.parse(await expandSecrets(store, sent, inJson)) as Record<string, unknown>;
  return { Type, Identifier, ServerToken, Payload };
}

export const declarationListener: AppleDeviceListener = { messages: { DeclarativeManagement: declarativeManagement } };
