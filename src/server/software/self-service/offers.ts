// What self-service asks of the features by which teams offer titles: as packages, or as store apps.

import type { Context } from "../../platform/core/context.ts";
import { extensionPoint } from "../../platform/core/extensions.ts";
import type { ServerTx } from "../../platform/core/tables.ts";
import type { Predicate } from "../../platform/store/query.ts";
import type { TeamScope } from "../../settings/teams/access.ts";

interface InCategories {
  readonly id: number;
  readonly team_id: number | null;
  readonly categories: readonly string[];
}

/** One way in which teams offer titles. */
export interface TitleOffers {
  inCategories(store: ServerTx, where: Predicate): Promise<readonly InCategories[]>;
  /** In the caller's transaction. */
  setCategories(store: ServerTx, rows: readonly Pick<InCategories, "id" | "categories">[]): Promise<void>;
  /** Records that the title has another icon, in the caller's transaction. False: the team does not offer it so. */
  iconChanged(inside: Context, team: TeamScope, titleId: number): Promise<boolean>;
  /** The address of the store's icon; null: there is none. */
  storeIcon(store: ServerTx, teamId: number | null, titleId: number): Promise<string | null>;
}

export const titleOffers = extensionPoint<TitleOffers>("offers of titles");
