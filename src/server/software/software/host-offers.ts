// What features add to the software of a host: what its team offers, and what was done with it there.

import type { HostSoftwareItem } from "../../../api/software/software.ts";
import type { HostRow } from "../../hosts/hosts/access.ts";
import { extensionPoint } from "../../platform/core/extensions.ts";
import type { ServerTx } from "../../platform/core/tables.ts";

export type OfferedHost = Pick<HostRow, "id" | "team_id" | "platform" | "platform_like" | "label_updated_at">;

/** One title, which the host may not have. */
export interface HostOffer {
  readonly title_id: number;
  /** Whether the host can install it now. */
  readonly isAvailable: boolean;
  readonly isSelfService: boolean;
  readonly shown: Pick<HostSoftwareItem, "status"> &
    Partial<Pick<HostSoftwareItem, "display_name" | "icon_url" | "software_package" | "app_store_app">>;
}

export type HostOffers = (store: ServerTx, host: OfferedHost) => Promise<readonly HostOffer[]>;

export const hostOffers = extensionPoint<HostOffers>("offers for a host");
