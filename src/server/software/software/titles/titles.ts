// Titles that are known although no host may have them: those of packages and apps that teams offer.

import type { SoftwareTitle, SoftwareTitleDetails } from "../../../../api/software/software.ts";
import type { Context } from "../../../platform/core/context.ts";
import { extensionPoint } from "../../../platform/core/extensions.ts";
import type { ServerTx } from "../../../platform/core/tables.ts";
import { titleKey } from "../inventory.ts";

/** Limits a list to titles that teams offer. */
export interface OfferFilter {
  readonly self_service: boolean;
  readonly packages_only: boolean;
  readonly hash_sha256?: string | undefined;
  readonly package_name?: string | undefined;
  readonly exclude_svc_maintained_apps: boolean;
}

type ShownExtras<T> = Partial<
  Pick<T, keyof T & ("icon_url" | "display_name" | "software_package" | "packages" | "app_store_app" | "hash_sha256")>
>;
export type ListedExtras = ShownExtras<SoftwareTitle>;
export type DetailedExtras = ShownExtras<SoftwareTitleDetails>;

/** What a feature adds to titles. Teams: 0 is hosts without a team, undefined all that the caller may see. */
export interface TitleExtras {
  /** Ids of titles of which the team offers something that passes the filter. */
  offered?(ctx: Context, teamId: number | undefined, filter: OfferFilter): Promise<readonly number[]>;
  /** By the title's id. */
  listed?(ctx: Context, teamId: number, titleIds: readonly number[]): Promise<ReadonlyMap<number, ListedExtras>>;
  detailed?(ctx: Context, teamId: number, titleId: number): Promise<DetailedExtras>;
}

export const titleExtras = extensionPoint<TitleExtras>("extras of titles");

export async function offeredTitles(
  ctx: Context,
  teamId: number | undefined,
  filter: OfferFilter,
): Promise<ReadonlySet<number>> {
  const lists = await Promise.all(
    ctx.extensions.of(titleExtras).map(async ({ offered }) => (await offered?.(ctx, teamId, filter)) ?? []),
  );
  return new Set(lists.flat());
}

/** Without a team, nothing is added: titles are the same for all teams, but what is offered is not. */
export async function listedExtras(
  ctx: Context,
  teamId: number | undefined,
  titleIds: readonly number[],
): Promise<(titleId: number) => ListedExtras> {
  if (teamId === undefined || titleIds.length === 0) return () => ({});
  const maps = await Promise.all(
    ctx.extensions.of(titleExtras).map(({ listed }) => listed?.(ctx, teamId, titleIds) ?? new Map()),
  );
  return (titleId) => Object.assign({}, ...maps.map((map) => map.get(titleId) ?? {}));
}

export async function detailedExtras(
  ctx: Context,
  teamId: number | undefined,
  titleId: number,
): Promise<DetailedExtras> {
  if (teamId === undefined) return {};
  const parts = await Promise.all(
    ctx.extensions.of(titleExtras).map(({ detailed }) => detailed?.(ctx, teamId, titleId) ?? {}),
  );
  return Object.assign({}, ...parts);
}

export interface TitleIdentity {
  readonly name: string;
  readonly source: string;
  readonly bundle_identifier?: string;
}

/** The id of the title that hosts report under the same identity. It is created if no host has reported it yet. */
export async function titleIdFor(
  store: Pick<ServerTx, "softwareTitles">,
  { name, source, bundle_identifier = "" }: TitleIdentity,
): Promise<number> {
  const title = { name, source, extension_for: "", bundle_identifier };
  const [row] = await store.softwareTitles.upsert([{ ...title, key: titleKey(title), named_by: "hosts" }], {
    on: ["key"],
    set: [],
    returning: ["id"],
  });
  return row!.id;
}
