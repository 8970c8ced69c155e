// Asks a host to install and uninstall software that its team offers.

import { type HostRow, hostFor } from "../../hosts/hosts/access.ts";
import { operationLock } from "../../hosts/operations/queue.ts";
import { type Context, within } from "../../platform/core/context.ts";
import type { ApiError } from "../../platform/core/errors.ts";
import type { ServerTx } from "../../platform/core/tables.ts";
import {
  installOn,
  installRefusals,
  type StartedRun,
  type TitleRequest,
  uninstallFrom,
  uninstallRefusals,
  withPendingRun,
} from "./sets.ts";

export interface SoftwareRequest extends TitleRequest {
  readonly hostId: number;
}

/** 400 if the host cannot install it, or is about to. */
export const requestInstall = (ctx: Context, request: SoftwareRequest): Promise<StartedRun> =>
  onHost(ctx, request, installRefusals, installOn);

/** 400 if there is no way to uninstall it, the host does not have it, or is about to uninstall it. */
export const requestUninstall = (ctx: Context, request: SoftwareRequest): Promise<StartedRun> =>
  onHost(ctx, request, uninstallRefusals, uninstallFrom);

type Judge = (
  store: ServerTx,
  hosts: readonly HostRow[],
  request: TitleRequest,
) => Promise<ReadonlyMap<number, ApiError>>;
type Start = (
  inside: Context,
  hosts: readonly HostRow[],
  request: TitleRequest,
) => Promise<ReadonlyMap<number, StartedRun>>;

async function onHost(ctx: Context, request: SoftwareRequest, judge: Judge, start: Start): Promise<StartedRun> {
  const { hostId } = request;
  await hostFor(ctx, "software:install", hostId);
  return ctx.store.tx(async (store) => {
    const inside = within(ctx, store);
    const host = await hostFor(inside, "software:install", hostId);
    const refusal = (await judge(store, [host], request)).get(hostId);
    if (refusal) throw refusal;
    return (await start(inside, [host], request)).get(hostId)!;
  }, operationLock(hostId));
}

/** Whether the host is about to install or uninstall the title. */
export const hasPendingRun = async (store: ServerTx, hostId: number, titleId: number): Promise<boolean> =>
  (await withPendingRun(store, [hostId], titleId)).has(hostId);
